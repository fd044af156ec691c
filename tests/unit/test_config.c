/* The config of a task when it begins: placeholders, configVars, types. */
#include "config.h"
#include "flow_fixture.h"

enum { PARAMS_MAX = 20 };

static Json first_output(void *ctx, const Expr *query, Json vars, Error *err) {
    Json out = json_none();
    (void)ctx;
    JqRun *run = jq_run_new(query->program, NULL);
    jq_run_start(run, json_ref(vars), NULL);
    JqStatus status = jq_run_next(run, &out);
    if (status == JQ_FAILED) {
        *err = *jq_run_error(run);
    }
    jq_run_free(run);
    return status == JQ_OUTPUT ? out : json_none();
}

/* A test of one task (YAML, in flow style), resolved. */
typedef struct Fixture {
    Flow *flow;
    const Node *node;
    Json vars;
    ConfigSource source;
    Param params[PARAMS_MAX];
    bool fine;
    Error err;
} Fixture;

static void resolve(Fixture *f, const char *task, const char *vars) {
    Buf text = BUF_INIT;
    buf_printf(&text, "tasks:\n- %s\n", task);
    *f = (Fixture){.err = ERROR_INIT};
    f->flow = load(text.data);
    f->node = &f->flow->main->nodes[0];
    f->vars = parse(vars);
    f->source = (ConfigSource){f->vars, first_output, NULL};
    f->fine = config_resolve(f->node, &f->source, f->params, &f->err);
    buf_clear(&text);
}

static void clear(Fixture *f) {
    if (f->fine) {
        config_clear(f->node, f->params);
    }
    json_unref(f->vars);
    flow_unref(f->flow);
}

static void expect_param(const char *task, const char *vars, int param, const char *want) {
    Fixture f;
    resolve(&f, task, vars);
    if (!f.fine) {
        print_message("%s: %s\n", task, f.err.msg);
    }
    assert_true(f.fine);
    assert_false(f.params[param].open);
    expect_json(f.params[param].value, want);
    clear(&f);
}

static void expect_refused(const char *task, const char *vars, const char *want) {
    Fixture f;
    resolve(&f, task, vars);
    assert_false(f.fine);
    assert_string_equal(f.err.msg, want);
    for (size_t i = 0; i < f.node->kind->nparams; i++) {
        assert_true(json_is_none(f.params[i].value));
    }
    clear(&f);
}

#define SHELL(text) "{name: run_shell, config: {command: " text "}}"

static void expect_text(const char *task, const char *vars, const char *want) {
    expect_param(task, vars, RUN_SHELL_COMMAND, want);
}

/* ---- placeholders ---- */

static void names_become_variables(void **state) {
    (void)state;
    expect_text(SHELL("'a ${x} b'"), "{\"x\":\"one\"}", "\"a one b\"");
    expect_text(SHELL("'${x}${y}'"), "{\"x\":\"one\",\"y\":2}", "\"one2\"");
    expect_text(SHELL("'v: ${x}'"), "{\"x\":{\"a\":[1,null]}}", "\"v: {\\\"a\\\":[1,null]}\"");
    expect_text(SHELL("'v: ${x}'"), "{\"x\":null}", "\"v: null\"");
    expect_text(SHELL("'v: ${a.b.c}'"), "{\"a\":{\"b\":{\"c\":7}}}", "\"v: 7\"");
    expect_text(SHELL("'v: ${a.b}'"), "{\"a.b\":1,\"a\":{\"b\":2}}", "\"v: 1\"");
    expect_text(SHELL("'v: ${a.1}'"), "{\"a\":[5,6]}", "\"v: 6\"");
    expect_text(SHELL("'v: ${a-b}'"), "{\"a-b\":6}", "\"v: 6\"");
}

static void what_is_no_variable_stays(void **state) {
    (void)state;
    expect_text(SHELL("'a ${x} b'"), "{}", "\"a ${x} b\"");
    expect_text(SHELL("'${x}'"), "{}", "\"${x}\"");
    expect_text(SHELL("'${a.b}'"), "{\"a\":{}}", "\"${a.b}\"");
    expect_text(SHELL("'${a.b}'"), "{\"a\":3}", "\"${a.b}\"");
    expect_text(SHELL("'${HOME:-/x} ${} ${ x } $x ${x $'"), "{\"x\":1}",
                "\"${HOME:-/x} ${} ${ x } $x ${x $\"");
    expect_text(SHELL("'${a.} ${.a} ${a..b}'"), "{\"a\":1}", "\"${a.} ${.a} ${a..b}\"");
}

static void a_doubled_dollar_is_left_alone(void **state) {
    (void)state;
    expect_text(SHELL("'a $${x} ${x}'"), "{\"x\":1}", "\"a ${x} 1\"");
    expect_text(SHELL("'$${{.x}}'"), "{\"x\":1}", "\"${{.x}}\"");
    expect_text(SHELL("'$$ $$x $'"), "{}", "\"$$ $$x $\"");
}

static void queries_become_what_they_give(void **state) {
    (void)state;
    expect_text(SHELL("'n: ${{.x + 1}}'"), "{\"x\":1}", "\"n: 2\"");
    expect_text(SHELL("'n: ${{ tasks.a.outputs.b }}'"),
                "{\"tasks\":{\"a\":{\"outputs\":{\"b\":\"t\"}}}}", "\"n: t\"");
    expect_text(SHELL("'${{.x}}-${{.x}}-${{.y}}'"), "{\"x\":1,\"y\":2}", "\"1-1-2\"");
    expect_text(SHELL("'x ${{{a: {b: 1}}}} y'"), "{}", "\"x {\\\"a\\\":{\\\"b\\\":1}} y\"");
    expect_text(SHELL("'x ${{\"}}\\(\"{\" + \"}}\")\"}} y'"), "{}", "\"x }}{}} y\"");
    expect_text(SHELL("'x ${{empty}} y'"), "{}", "\"x ${{empty}} y\"");
    expect_text(SHELL("'x ${{.none}} y'"), "{}", "\"x null y\"");
}

static void a_query_that_fails_names_its_field(void **state) {
    (void)state;
    expect_refused(SHELL("'x ${{.x + {}}}'"), "{\"x\":1}",
                   "`command`: number (1) and object ({}) cannot be added");
}

static void what_was_put_in_is_not_looked_at_again(void **state) {
    (void)state;
    expect_text(SHELL("'x ${x}'"), "{\"x\":\"${y} ${{1}}\",\"y\":1}", "\"x ${y} ${{1}}\"");
}

static void one_placeholder_is_the_value_itself(void **state) {
    (void)state;
    static const char matrix[] = "{name: run_task_matrix, config: {matrixVar: v, matrixValues: "
                                 "'${list}', task: {name: sleep, config: {duration: '${list}'}}}}";
    expect_param(matrix, "{\"list\":[1,{\"a\":2}]}", MATRIX_VALUES, "[1,{\"a\":2}]");
    expect_param("{name: check_http_json, config: {url: x, body: '${{.a}}'}}", "{\"a\":[1]}",
                 CHECK_BODY, "[1]");
    expect_param("{name: check_http_json, config: {url: x, body: {a: ['${n}', {b: '<${n}>'}], "
                 "'${n}': 1}}}",
                 "{\"n\":5}", CHECK_BODY, "{\"a\":[5,{\"b\":\"<5>\"}],\"${n}\":1}");
    expect_text(SHELL("'${n}'"), "{\"n\":5}", "\"5\"");
    expect_text(SHELL("'${n}'"), "{\"n\":[true]}", "\"[true]\"");
}

static void tasks_inside_have_their_own_turn(void **state) {
    (void)state;
    Fixture f;
    resolve(&f,
            "{name: run_tasks, config: {newVariableScope: '${s}', tasks: [{name: sleep, config: "
            "{duration: '${d}'}}]}}",
            "{\"s\":true,\"d\":1}");
    assert_true(f.fine);
    assert_int_equal(f.params[RUN_TASKS_SCOPE].number, 1);
    assert_ptr_equal(f.params[RUN_TASKS_TASKS].graph, f.node->params[RUN_TASKS_TASKS].graph);
    expect_json(f.params[RUN_TASKS_TASKS].value,
                "[{\"name\":\"sleep\",\"config\":{\"duration\":\"${d}\"}}]");
    clear(&f);
}

static void placeholders_have_a_limit(void **state) {
    (void)state;
    expect_refused(SHELL("'${{\"x\" * 40000000}} ${{\"y\" * 40000000}}'"), "{}",
                   "`command`: What is put in place of placeholders is longer than 64 MB; that is "
                   "the limit.");
    expect_refused(SHELL("'${{[\"x\" * 70000000]}}'"), "{}",
                   "`command` is longer than 64 MB; that is the limit.");
}

static void titles_are_text_with_placeholders(void **state) {
    (void)state;
    Fixture f;
    Buf out = BUF_INIT;
    resolve(&f, "{name: sleep, title: 'wait ${n} of ${{.m + 1}}', config: {duration: 0}}",
            "{\"n\":[1],\"m\":2}");
    assert_true(config_text(f.node, f.node->task->title, &f.source, &out, &f.err));
    assert_string_equal(out.data, "wait [1] of 3");
    buf_reset(&out);
    clear(&f);
    resolve(&f, "{name: sleep, title: '${{.m | error}}', config: {duration: 0}}", "{\"m\":\"no\"}");
    assert_false(config_text(f.node, f.node->task->title, &f.source, &out, &f.err));
    assert_string_equal(f.err.msg, "no");
    buf_clear(&out);
    clear(&f);
}

/* ---- configVars ---- */

static void config_vars_take_the_place_of_fields(void **state) {
    (void)state;
    expect_param("{name: sleep, config: {duration: 1s}, configVars: {duration: pause}}",
                 "{\"pause\":\"2s\"}", TASK_SLEEP_FOR, "\"2s\"");
    expect_param("{name: sleep, config: {duration: 1s}, configVars: {duration: pause}}", "{}",
                 TASK_SLEEP_FOR, "\"1s\"");
    expect_param("{name: sleep, config: {duration: 1s}, configVars: {duration: empty}}", "{}",
                 TASK_SLEEP_FOR, "\"1s\"");
    expect_param("{name: sleep, config: {duration: 1s}, configVars: {duration: '.pause'}}",
                 "{\"pause\":null}", TASK_SLEEP_FOR, "\"1s\"");
    expect_param("{name: sleep, config: {duration: '${bad}'}, configVars: {duration: pause}}",
                 "{\"bad\":[],\"pause\":1}", TASK_SLEEP_FOR, "1");
    expect_param("{name: run_shell, config: {command: ls}, configVars: {shell: '.s'}}", "{}",
                 RUN_SHELL_SHELL, "\"bash\"");
    expect_param("{name: run_shell, configVars: {command: '.s'}}", "{\"s\":\"a ${s}\"}",
                 RUN_SHELL_COMMAND, "\"a ${s}\"");
}

static void config_vars_are_checked(void **state) {
    (void)state;
    expect_refused("{name: sleep, configVars: {duration: pause}}", "{}",
                   "`duration` is missing: its query in configVars gives nothing.");
    expect_refused("{name: sleep, configVars: {duration: pause}}", "{\"pause\":\"long\"}",
                   "`duration` must be a length of time such as 250ms, 90s or 1h30m, not `long`.");
    expect_refused("{name: sleep, configVars: {duration: '.a.b'}}", "{\"a\":1}",
                   "`duration` in configVars: Cannot index number with string (\"b\")");
}

/* ---- types ---- */

static void text_that_reads_as_a_type_is_taken_for_it(void **state) {
    (void)state;
    static const char concurrent[] =
        "{name: run_tasks_concurrent, config: {successThreshold: '${n}', stopOnThreshold: '${b}', "
        "tasks: [{name: sleep, config: {duration: 0}}]}}";
    Fixture f;
    resolve(&f, concurrent, "{\"n\":\"3\",\"b\":\"false\"}");
    assert_true(f.fine);
    assert_int_equal(f.params[CONCURRENT_SUCCESSES].number, 3);
    assert_int_equal(f.params[CONCURRENT_STOP].number, 0);
    clear(&f);
    expect_refused(concurrent, "{\"n\":\"three\",\"b\":true}",
                   "`successThreshold` must be a whole number from 0 to 1000000000.");
    expect_refused(concurrent, "{\"n\":1,\"b\":\"no\"}",
                   "`stopOnThreshold` must be true or false.");
    expect_refused(concurrent, "{\"n\":1.5,\"b\":true}",
                   "`successThreshold` must be a whole number from 0 to 1000000000.");
    expect_param("{name: run_command, config: {command: '${c}'}}", "{\"c\":\"[\\\"ls\\\", 1]\"}",
                 RUN_COMMAND_COMMAND, "[\"ls\",\"1\"]");
    expect_param("{name: run_command, config: {command: [echo, '${a}', '${b}']}}",
                 "{\"a\":1.5,\"b\":{\"x\":1}}", RUN_COMMAND_COMMAND,
                 "[\"echo\",\"1.5\",\"{\\\"x\\\":1}\"]");
    expect_param("{name: check_http_json, config: {url: x, headers: '${h}'}}",
                 "{\"h\":\"{\\\"A\\\": \\\"b\\\"}\"}", CHECK_HEADERS, "{\"A\":\"b\"}");
    expect_param("{name: check_http_json, config: {url: x, expectStatuses: '${s}'}}",
                 "{\"s\":\"[200,404]\"}", CHECK_STATUSES, "[200,404]");
    expect_param("{name: check_http_json, config: {url: x, expectStatuses: ['${s}']}}",
                 "{\"s\":204}", CHECK_STATUSES, "[204]");
    expect_param("{name: check_http_json, config: {url: x, body: '${s}'}}", "{\"s\":\"5\"}",
                 CHECK_BODY, "\"5\"");
}

static void every_type_is_checked_when_the_task_begins(void **state) {
    (void)state;
    expect_refused("{name: run_command, config: {command: '${c}'}}", "{\"c\":\"ls\"}",
                   "`command` must be a list of words.");
    expect_refused("{name: check_http_json, config: {url: x, headers: '${h}'}}", "{\"h\":[]}",
                   "`headers` must be a map (`key: value`).");
    expect_refused("{name: check_http_json, config: {url: x, method: '${h}'}}", "{\"h\":\"get\"}",
                   "`method` must be one of: GET POST PUT PATCH DELETE HEAD OPTIONS.");
    expect_refused("{name: check_http_json, config: {url: x, maxResponseSize: '${h}'}}",
                   "{\"h\":\"big\"}",
                   "`maxResponseSize` must be a size in bytes such as 4096, 64K or 1M.");
    expect_refused("{name: check_http_json, config: {url: x, expectStatuses: '${h}'}}",
                   "{\"h\":42}",
                   "`expectStatuses` must be an HTTP status, or a list of them, from 100 to 599.");
    expect_refused("{name: check_http_json, config: {url: '${h}'}}", "{\"h\":null}",
                   "`url` must be a text.");
    expect_refused("{name: check_http_json, config: {url: x, assertions: [{query: .a, value: 1}, "
                   "{query: .b, operator: '${op}', value: 1}]}}",
                   "{\"op\":\"like\"}",
                   "`assertions`, item 2: `operator` must be one of: eq neq gt gte lt lte contains "
                   "not_contains.");
    expect_refused("{name: check_http_json, config: {url: x, assertions: [{query: '.a${n}', value: "
                   "1, exist: true}]}}",
                   "{\"n\":1}",
                   "`assertions`, item 1: `exist` is no key of it; did you mean `exists`?");
}

static void assertions_may_have_placeholders(void **state) {
    (void)state;
    expect_param("{name: check_http_json, config: {url: x, assertions: [{query: '.a${n}', value: "
                 "'${n}', allowMissing: '${b}'}]}}",
                 "{\"n\":1,\"b\":\"true\"}", CHECK_ASSERTIONS,
                 "[{\"query\":\".a1\",\"value\":1,\"allowMissing\":true}]");
    expect_param("{name: check_http_json, config: {url: x, assertions: '${list}'}}",
                 "{\"list\":[{\"query\":\".a\",\"value\":null}]}", CHECK_ASSERTIONS,
                 "[{\"query\":\".a\",\"value\":null,\"allowMissing\":false}]");
}

static void numbers_that_arithmetic_gives_are_whole(void **state) {
    (void)state;
    Fixture f;
    resolve(&f,
            "{name: run_task_options, config: {task: {name: sleep, config: {duration: 0}}}, "
            "configVars: {maxRetryCount: .n / 2}}",
            "{\"n\":6}");
    assert_true(f.fine);
    assert_int_equal(f.params[OPTIONS_MAX_RETRIES].number, 3);
    expect_json(f.params[OPTIONS_MAX_RETRIES].value, "3");
    clear(&f);
}

/* One row of a kind, by itself. */
static void param_read_sets_value_and_number(void **state) {
    (void)state;
    const ParamInfo *poll = &kinds[KIND_CHECK_HTTP_JSON].params[CHECK_POLL];
    const ParamInfo *method = &kinds[KIND_CHECK_HTTP_JSON].params[CHECK_METHOD];
    Param out = {0};
    Error err = ERROR_INIT;
    Json value = json_string_c("1500ms");
    assert_true(param_read(poll, value, false, &out, &err));
    assert_int_equal(out.number, 1500);
    expect_json(out.value, "\"1500ms\"");
    json_clear(&out.value);
    json_unref(value);
    value = json_string_c("PUT");
    assert_true(param_read(method, value, false, &out, &err));
    assert_int_equal(out.number, 2);
    json_clear(&out.value);
    json_unref(value);
    assert_false(param_read(method, json_int(1), true, &out, &err));
    assert_false(param_read(method, json_int(1), true, &out, NULL));
}

static void without_leniency_text_is_text(void **state) {
    (void)state;
    const ParamInfo *count = &kinds[KIND_RUN_TASKS_CONCURRENT].params[CONCURRENT_SUCCESSES];
    Param out = {0};
    Json three = json_string_c("3");
    assert_false(param_read(count, three, false, &out, NULL));
    assert_true(param_read(count, three, true, &out, NULL));
    assert_int_equal(out.number, 3);
    json_unref(three);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(names_become_variables),
        JSON_TEST(what_is_no_variable_stays),
        JSON_TEST(a_doubled_dollar_is_left_alone),
        JSON_TEST(queries_become_what_they_give),
        JSON_TEST(a_query_that_fails_names_its_field),
        JSON_TEST(what_was_put_in_is_not_looked_at_again),
        JSON_TEST(one_placeholder_is_the_value_itself),
        JSON_TEST(tasks_inside_have_their_own_turn),
        JSON_TEST(placeholders_have_a_limit),
        JSON_TEST(titles_are_text_with_placeholders),
        JSON_TEST(config_vars_take_the_place_of_fields),
        JSON_TEST(config_vars_are_checked),
        JSON_TEST(text_that_reads_as_a_type_is_taken_for_it),
        JSON_TEST(every_type_is_checked_when_the_task_begins),
        JSON_TEST(assertions_may_have_placeholders),
        JSON_TEST(numbers_that_arithmetic_gives_are_whole),
        JSON_TEST(param_read_sets_value_and_number),
        JSON_TEST(without_leniency_text_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
