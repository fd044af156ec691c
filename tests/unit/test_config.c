/* The config of a task when it begins: configVars, types; and titles. */
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

/* ---- titles ---- */

static void expect_title(const char *title, const char *vars, const char *want) {
    Fixture f;
    Buf task = BUF_INIT, out = BUF_INIT;
    buf_printf(&task, "{name: sleep, title: '%s', config: {duration: 0}}", title);
    resolve(&f, task.data, vars);
    config_text(f.node, f.node->task->title, &f.source, &out);
    assert_string_equal(out.data ? out.data : "", want);
    buf_clear(&task);
    buf_clear(&out);
    clear(&f);
}

static void titles_have_names_and_queries(void **state) {
    (void)state;
    expect_title("a ${x} b", "{\"x\":\"one\"}", "a one b");
    expect_title("${x}${y}", "{\"x\":\"one\",\"y\":2}", "one2");
    expect_title("v: ${a.b}", "{\"a.b\":1,\"a\":{\"b\":2}}", "v: 1");
    expect_title("v: ${a.b}", "{\"a\":{\"b\":2}}", "v: ${a.b}");
    expect_title("${HOME:-/x} ${} ${ x } $x ${x $", "{\"x\":1}", "${HOME:-/x} ${} ${ x } $x ${x $");
    expect_title("wait ${n} of ${{.m + 1}}", "{\"n\":[1,2],\"m\":2}", "wait [1 2] of 3");
    expect_title("${{x}} ${{ x }}-${{y}}", "{\"x\":1,\"y\":2}", "1 1-2");
    expect_title("x ${{| {b: 1, a: {c: []}}}} y", "{}", "x map[a:map[c:[]] b:1] y");
    expect_title("${{| empty}} ${{none}}", "{}", "? <nil>");
    expect_title("$${x} $$ ${{x", "{\"x\":1}", "$1 $$ ${{x");
    expect_title("${{| error(\"no\")}}", "{}", "no");
    expect_title("${x}", "{\"x\":\"${y} ${{1}}\",\"y\":1}", "${y} ${{1}}");
}

static void p3_doubles_in_titles_are_the_shortest(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"1e21", "1e+21"},
        {"3.0", "3"},
        {"1234567.0", "1.234567e+06"},
        {"123456.0", "123456"},
        {"1e6", "1e+06"},
        {"1.5", "1.5"},
        {"1234567.5", "1.2345675e+06"},
        {"0.0001", "0.0001"},
        {"0.00001", "1e-05"},
        {"-2.50", "-2.5"},
        {"1000000", "1000000"},
        {"100000000000000000000 * 10", "1000000000000000000000"},
        {"0.1 + 0.2", "0.30000000000000004"},
        {"infinite", "+Inf"},
        {"-infinite", "-Inf"},
        {"nan", "NaN"},
        {"[1.0, 1e-7]", "[1 1e-07]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Buf title = BUF_INIT;
        buf_printf(&title, "${{| %s}}", rows[i][0]);
        expect_title(title.data, "{}", rows[i][1]);
        buf_clear(&title);
    }
    expect_title("${x}", "{\"x\":3.0}", "3");
}

static void nothing_is_put_into_configs(void **state) {
    (void)state;
    expect_param("{name: run_shell, config: {command: 'a ${x} ${{.x}} $${x} ${{'}}", "{\"x\":1}",
                 RUN_SHELL_COMMAND, "\"a ${x} ${{.x}} $${x} ${{\"");
}

/* ---- configVars ---- */

static void config_vars_take_the_place_of_fields(void **state) {
    (void)state;
    expect_param("{name: sleep, config: {duration: 1s}, configVars: {duration: pause}}",
                 "{\"pause\":\"2s\"}", TASK_SLEEP_FOR, "\"2s\"");
    expect_param("{name: sleep, config: {duration: 1s}, configVars: {duration: pause}}", "{}",
                 TASK_SLEEP_FOR, "\"1s\"");
    expect_param("{name: sleep, config: {duration: 1s}, configVars: {duration: '| empty'}}", "{}",
                 TASK_SLEEP_FOR, "\"1s\"");
    expect_param("{name: sleep, config: {duration: 1s}, configVars: {duration: '.pause'}}",
                 "{\"pause\":null}", TASK_SLEEP_FOR, "\"1s\"");
    expect_param("{name: run_command, config: {command: [a]}, configVars: {command: none}}", "{}",
                 RUN_COMMAND_COMMAND, "[]");
    expect_param("{name: check_http_json, config: {url: x, headers: {A: a, B: b}}, configVars: "
                 "{headers: h}}",
                 "{\"h\":{\"B\":\"c\"}}", CHECK_HEADERS, "{\"A\":\"a\",\"B\":\"c\"}");
    expect_param("{name: check_http_json, config: {url: x, headers: {A: a}}, configVars: {headers: "
                 "h}}",
                 "{}", CHECK_HEADERS, "{}");
    expect_param("{name: check_http_json, config: {url: x}, configVars: {body: '| error(1)'}}",
                 "{}", CHECK_BODY, "{}");
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

static void q5_a_double_is_decimal_text_in_a_field(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"1e18 * 1e18", "1000000000000000000000000000000000000"},
        {"1e21", "1000000000000000000000"},
        {"1.23456789", "1.234568"},
        {"-1.5", "-1.5"},
        {"1e-7", "0"},
        {"3.0", "3"},
        {"100.0", "100"},
        {"7 / 2", "3.5"},
        {"9007199254740993.0", "9007199254740992"},
        {"1.5e300 * 1", "15"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Buf task = BUF_INIT, want = BUF_INIT;
        buf_printf(&task, "{name: run_shell, configVars: {command: '| %s'}}", rows[i][0]);
        buf_printf(&want, "\"%s\"", rows[i][1]);
        for (int zeros = 0; strstr(rows[i][0], "e300") && zeros < 299; zeros++) {
            want.len--;
            buf_adds(&want, "0\"");
        }
        expect_param(task.data, "{}", RUN_SHELL_COMMAND, want.data);
        buf_clear(&task);
        buf_clear(&want);
    }
    expect_param("{name: check_http_json, config: {url: x}, configVars: {body: n}}", "{\"n\":2.50}",
                 CHECK_BODY, "\"2.5\"");
    expect_param("{name: check_http_json, config: {url: x}, configVars: {body: '| [.n]'}}",
                 "{\"n\":2.5}", CHECK_BODY, "[2.5]");
}

static void q5_integer_fields_refuse_doubles(void **state) {
    (void)state;
    static const char options[] =
        "{name: run_task_options, config: {task: {name: sleep, config: {duration: 0}}}, "
        "configVars: {maxRetryCount: n}}";
    expect_refused(
        options, "{\"n\":2.0}",
        "`maxRetryCount` must be an integer, and its query in configVars gives the double 2.0.");
    expect_refused(options, "{\"n\":2.5}",
                   "`maxRetryCount` must be a whole number from 0 to 1000000000.");
    expect_param(options, "{\"n\":2}", OPTIONS_MAX_RETRIES, "2");
    expect_refused(
        "{name: check_http_json, config: {url: x}, configVars: {expectStatus: n}}", "{\"n\":200.0}",
        "`expectStatus` must be an integer, and its query in configVars gives the double 200.0.");
    expect_param("{name: sleep, configVars: {duration: n}}", "{\"n\":0.5}", TASK_SLEEP_FOR, "0.5");
}

static void q5_a_big_integer_that_is_kept_is_text(void **state) {
    (void)state;
    expect_param("{name: run_shell, configVars: {command: '| 1000000000000000000 * 1000'}}", "{}",
                 RUN_SHELL_COMMAND, "\"1000000000000000000000\"");
    expect_param("{name: check_http_json, config: {url: x}, "
                 "configVars: {body: '| [{a: (1000000000000000000 * 1000)}, 5]'}}",
                 "{}", CHECK_BODY, "[{\"a\":\"1000000000000000000000\"},5]");
    expect_param("{name: run_task_matrix, config: {task: {name: sleep, config: {duration: 0}}}, "
                 "configVars: {matrixValues: '| [9223372036854775807, 9223372036854775807 + 1]'}}",
                 "{}", MATRIX_VALUES, "[9223372036854775807,\"9223372036854775808\"]");
}

static void e4_null_in_a_list_of_texts_is_an_empty_one(void **state) {
    (void)state;
    expect_param("{name: run_command, configVars: {command: '| [\"echo\", null]'}}", "{}",
                 RUN_COMMAND_COMMAND, "[\"echo\",\"\"]");
    expect_param("{name: run_command, config: {command: [echo, ~, '~', null]}}", "{}",
                 RUN_COMMAND_COMMAND, "[\"echo\",\"\",\"~\",\"\"]");
}

/* ---- types ---- */

static void text_that_reads_as_a_type_is_taken_for_it(void **state) {
    (void)state;
    static const char concurrent[] =
        "{name: run_tasks_concurrent, configVars: {successThreshold: n, stopOnThreshold: b}, "
        "config: {tasks: [{name: sleep, config: {duration: 0}}]}}";
    Fixture f;
    resolve(&f, concurrent, "{\"n\":\"3\",\"b\":\"false\"}");
    assert_true(f.fine);
    assert_int_equal(f.params[CONCURRENT_SUCCESSES].number, 3);
    assert_int_equal(f.params[CONCURRENT_STOP].number, 0);
    clear(&f);
    expect_refused(concurrent, "{\"n\":\"three\",\"b\":true}",
                   "`successThreshold` must be a whole number from 0 to 1000000000.");
    expect_refused(concurrent, "{\"n\":1,\"b\":\"maybe\"}",
                   "`stopOnThreshold` must be true or false.");
    expect_refused(concurrent, "{\"n\":1.5,\"b\":true}",
                   "`successThreshold` must be a whole number from 0 to 1000000000.");
    expect_param("{name: run_command, configVars: {command: c}}", "{\"c\":\"[\\\"ls\\\", 1]\"}",
                 RUN_COMMAND_COMMAND, "[\"ls\",\"1\"]");
    expect_param("{name: run_command, configVars: {command: '| [\"echo\", .a]'}}", "{\"a\":1.5}",
                 RUN_COMMAND_COMMAND, "[\"echo\",\"1.5\"]");
    expect_param("{name: check_http_json, config: {url: x}, configVars: {headers: h}}",
                 "{\"h\":\"{\\\"A\\\": \\\"b\\\"}\"}", CHECK_HEADERS, "{\"A\":\"b\"}");
    expect_param("{name: check_http_json, config: {url: x}, configVars: {expectStatuses: s}}",
                 "{\"s\":\"[200,404]\"}", CHECK_STATUSES, "[200,404]");
    expect_param("{name: check_http_json, config: {url: x}, configVars: {body: s}}",
                 "{\"s\":\"5\"}", CHECK_BODY, "\"5\"");
}

static void every_type_is_checked_when_the_task_begins(void **state) {
    (void)state;
    expect_refused("{name: run_command, configVars: {command: c}}", "{\"c\":\"ls\"}",
                   "`command` must be a list of words.");
    expect_refused("{name: check_http_json, config: {url: x}, configVars: {headers: h}}",
                   "{\"h\":[]}", "`headers` must be a map (`key: value`).");
    expect_refused("{name: check_http_json, config: {url: x}, configVars: {method: h}}",
                   "{\"h\":\"get\"}",
                   "`method` must be one of: GET POST PUT PATCH DELETE HEAD OPTIONS.");
    expect_refused("{name: check_http_json, config: {url: x}, configVars: {maxResponseSize: h}}",
                   "{\"h\":\"big\"}",
                   "`maxResponseSize` must be a size in bytes such as 4096, 64KB or 1MiB.");
    expect_refused("{name: check_http_json, config: {url: x}, configVars: {expectStatuses: h}}",
                   "{\"h\":42}",
                   "`expectStatuses` must be an HTTP status, or a list of them, from 100 to 599.");
    expect_refused("{name: check_http_json, configVars: {url: h}}", "{\"h\":{}}",
                   "`url` must be a text.");
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
        JSON_TEST(titles_have_names_and_queries),
        JSON_TEST(p3_doubles_in_titles_are_the_shortest),
        JSON_TEST(nothing_is_put_into_configs),
        JSON_TEST(q5_a_double_is_decimal_text_in_a_field),
        JSON_TEST(q5_integer_fields_refuse_doubles),
        JSON_TEST(q5_a_big_integer_that_is_kept_is_text),
        JSON_TEST(e4_null_in_a_list_of_texts_is_an_empty_one),
        JSON_TEST(config_vars_take_the_place_of_fields),
        JSON_TEST(config_vars_are_checked),
        JSON_TEST(text_that_reads_as_a_type_is_taken_for_it),
        JSON_TEST(every_type_is_checked_when_the_task_begins),
        JSON_TEST(numbers_that_arithmetic_gives_are_whole),
        JSON_TEST(param_read_sets_value_and_number),
        JSON_TEST(without_leniency_text_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
