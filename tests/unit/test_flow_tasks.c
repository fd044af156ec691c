/* Tests (files with `tasks`): what the engine sees of them, and what is wrong with them. */
#include "config.h"
#include "flow_fixture.h"

#include <time.h>

#define KINDS                                                                                   \
    "run_tasks, run_tasks_concurrent, run_task_matrix, run_task_background, run_task_options, " \
    "run_external_tasks, run_shell, run_command, run_javascript, sleep, check_http_json and "   \
    "check_http_metrics"

static void expect_names(const Graph *g, const char *want) {
    Buf got = BUF_INIT;
    for (size_t i = 0; i < g->nnodes; i++) {
        buf_printf(&got, "%s%s", i ? " " : "", g->nodes[i].name);
        assert_ptr_equal(node_of(g, g->nodes[i].name), &g->nodes[i]);
        assert_int_equal(g->nodes[i].index, i);
        assert_int_equal(g->nodes[i].edges.n, 0);
    }
    assert_string_equal(got.data, want);
    buf_clear(&got);
}

static void expect_eval(const Expr *expr, const char *input, const char *want) {
    Json out = json_none();
    assert_non_null(expr);
    JqRun *run = jq_run_new(expr->program, NULL);
    jq_run_start(run, json_parse(input, strlen(input), NULL, NULL), NULL);
    assert_int_equal(jq_run_next(run, &out), JQ_OUTPUT);
    expect_json(out, want);
    json_unref(out);
    jq_run_free(run);
}

/* ---- the test ---- */

static void a_test_is_a_graph_of_its_tasks(void **state) {
    (void)state;
    static const char text[] =
        "id: check-finality\n"
        "name: Check finality\n"
        "description: whether it is final\n"
        "timeout: 30m\n"
        "config: {validators: 4, wait: {max: 2}}\n"
        "configVars: {target: tasks.setup.outputs.epoch}\n"
        "schedule: {startup: true, cron: ['0 */6 * * *', '@daily'], skipQueue: false}\n"
        "tasks:\n"
        "- {name: sleep, id: setup, config: {duration: 1s}}\n"
        "- {name: run_shell, config: {command: ls}}\n"
        "cleanupTasks:\n"
        "- {name: run_shell, config: {command: ./down.sh}}\n";
    Flow *flow =
        load_files_with((const File[]){{"f", text}, {0}},
                        "7:1: warning: `schedule` starts nothing here: it is kept for whoever "
                        "starts tests by the clock.\n");
    const Graph *g = flow->main;
    assert_string_equal(flow->dialect, "tasks");
    assert_string_equal(flow->name, "Check finality");
    assert_int_equal(g->timeout_ms, 30 * 60 * 1000);
    assert_true(g->scoped);
    assert_false(g->cleanup);
    expect_names(g, "setup run_shell");
    expect_json(g->defaults, "{\"validators\":4,\"wait\":{\"max\":2}}");
    assert_int_equal(g->nkeys, 2);
    expect_json(g->keys[1].name, "\"wait\"");
    expect_json(g->keys[1].initial, "{\"max\":2}");
    assert_int_equal(g->keys[1].reduce, REDUCE_REPLACE);
    assert_int_equal(g->nvars, 1);
    expect_json(g->vars[0].name, "\"target\"");
    expect_eval(g->vars[0].query, "{\"tasks\":{\"setup\":{\"outputs\":{\"epoch\":7}}}}", "7");
    expect_json(g->schedule,
                "{\"startup\":true,\"cron\":[\"0 */6 * * *\",\"@daily\"],\"skipQueue\":false}");
    assert_non_null(g->after);
    assert_true(g->after->cleanup && g->after->scoped);
    expect_names(g->after, "run_shell");
    assert_int_equal(flow->ngraphs, 2);
    assert_true(g->recursion_limit > 1000000000);
    flow_unref(flow);
}

static void f1_a_test_that_says_little_gets_the_defaults(void **state) {
    (void)state;
    Flow *flow = load_files((const File[]){
        {"some/where/quick.yaml", "tasks: [{name: sleep, config: {duration: 0}}]"}, {0}});
    assert_string_equal(flow->name, "quick");
    assert_int_equal(flow->main->timeout_ms, 0);
    expect_json(flow->main->defaults, "{}");
    assert_int_equal(flow->main->nkeys, 0);
    assert_int_equal(flow->main->nvars, 0);
    assert_null(flow->main->after);
    expect_json(flow->main->schedule, "(none)");
    flow_unref(flow);
    flow = load("id: some-id\nconfig:\nconfigVars:\nschedule:\ncleanupTasks: []\n"
                "tasks: [{name: sleep, config: {duration: 0}}]");
    assert_string_equal(flow->name, "some-id");
    assert_null(flow->main->after);
    flow_unref(flow);
}

static void tests_are_checked_in_shape(void **state) {
    (void)state;
    static const Case cases[] = {
        {"tasks: []\n", "1:8: There are no tasks here; there must be at least one.\n"},
        {"tasks:\n", "1:6: There are no tasks here; there must be at least one.\n"},
        {"tasks: {}\n", "1:8: The tasks must be a list (`- name: ...`).\n"},
        {"tasks: [x]\n", "1:9: A task must be a map (`key: value`).\n"},
        {"task: []\ntasks: [{name: sleep, config: {duration: 0}}]\ncleanup: []\nnodez: 1\n",
         "1:1: warning: `task` is no key of a test and is ignored; did you mean `tasks`?\n"
         "3:1: warning: `cleanup` is no key of a test and is ignored; did you mean `cleanupTasks`?\n"
         "4:1: warning: `nodez` is no key of a test and is ignored.\n"},
        {"name: [x]\nid: {}\ntimeout: soon\nconfig: 3\nconfigVars: [a]\nschedule: now\n"
         "cleanupTasks: {name: sleep}\n"
         "tasks: [{name: sleep, config: {duration: 0}}]\n",
         "1:7: `name` must be a text.\n"
         "2:5: `id` must be a text.\n"
         "3:10: `timeout` must be a length of time such as 250ms, 90s or 1h30m, not `soon`.\n"
         "4:9: `config` must be a map (`key: value`).\n"
         "5:13: `configVars` must be a map (`key: value`).\n"
         "6:11: `schedule` must be a map (`key: value`).\n"
         "7:15: The tasks must be a list (`- name: ...`).\n"},
        {"schedule: {startup: often, cron: [hourly, '* * * * *', {}], skipqueue: true}\n"
         "tasks: [{name: sleep, config: {duration: 0}}]\n",
         "1:1: warning: `schedule` starts nothing here: it is kept for whoever starts tests by the "
         "clock.\n"
         "1:21: `startup` must be true or false.\n"
         "1:35: `hourly` is no schedule: it has the five fields minute, hour, day, month and "
         "weekday (`0 */6 * * *`).\n"
         "1:56: `cron` must be a name, or a list of names.\n"
         "1:61: warning: `skipqueue` is no key of `schedule` and is ignored; did you mean "
         "`skipQueue`?\n"},
        {"configVars: {a: '.b ++ 1'}\ntasks: [{name: sleep, config: {duration: 0}}]\n",
         "1:22: Unexpected '+'.\n"},
    };
    RUN(cases);
}

/* ---- keys that nobody reads, and words ---- */

static void f9_keys_that_nobody_reads_are_said_once(void **state) {
    (void)state;
    static const char text[] = "disable: true\n"
                               "tasks:\n"
                               "- {name: sleep, tilte: x, config: {duration: 0, foo: 1}}\n"
                               "- {name: sleep, tilte: y, config: {duration: 0, foo: 1}}\n"
                               "- {name: sleep, config: {duration: 0}, configVars: {bar: a}}\n"
                               "- {name: run_shell, config: {command: ls, foo: 1}}\n";
    expect(text,
           "1:1: warning: `disable` is no key of a test and is ignored.\n"
           "3:17: warning: `tilte` is no key of a task and is ignored; did you mean `title`?\n"
           "3:49: warning: `foo` is no key of the config of a sleep task and is ignored.\n"
           "5:53: warning: `bar` is no key of the config of a sleep task and is ignored.\n"
           "6:43: warning: `foo` is no key of the config of a run_shell task and is ignored.\n");
    Json texts = json_object_with(json_object(), "f", json_string_c(text));
    FlowFiles files = {texts, "There is no such file."};
    FlowReader reader = flow_files_reader(&files);
    reader.strict = true;
    FlowProblems problems = {0};
    assert_null(flow_load("f", &reader, &problems));
    assert_int_equal(problems.errors, 7);
    assert_string_equal(problems.items[1].msg,
                        "`tilte` is no key of a task; did you mean `title`?");
    flow_problems_clear(&problems);
    json_unref(texts);
}

static void f10_old_keys_have_their_sentence(void **state) {
    (void)state;
    static const Case cases[] = {
        {"tasks:\n- name: run_tasks\n  config:\n    stopChildOnResult: true\n"
         "    tasks: [{name: sleep, config: {duration: 0}}]\n",
         "4:5: warning: `stopChildOnResult` is an old key of the config of a run_tasks task and is "
         "ignored; remove it.\n"},
        {"tasks:\n- name: run_tasks_concurrent\n  config:\n    succeedTaskCount: 1\n"
         "    tasks: [{name: sleep, config: {duration: 0}}]\n"
         "  configVars: {failTaskCount: n, failOnUndecided: n}\n",
         "4:5: warning: `succeedTaskCount` is an old key of the config of a run_tasks_concurrent "
         "task and is ignored; `successThreshold` has taken its place.\n"
         "6:16: warning: `failTaskCount` is an old key of the config of a run_tasks_concurrent task "
         "and is ignored; `failureThreshold` has taken its place.\n"
         "6:34: warning: `failOnUndecided` is an old key of the config of a run_tasks_concurrent "
         "task and is ignored; remove it.\n"},
        {"version: 1.0.0\ntags: [a, b]\ntasks: [{name: sleep, config: {duration: 0}}]\n", ""},
    };
    RUN(cases);
}

static void f4_words_are_read_as_in_go(void **state) {
    (void)state;
    static const struct {
        const char *word, *means;
    } rows[] = {
        {"0x10", "16"},
        {"0X1F", "31"},
        {"-0x10", "-16"},
        {"0o20", "16"},
        {"020", "16"},
        {"-020", "-16"},
        {"089", "89"},
        {"0b10000", "16"},
        {"1_000", "1000"},
        {"1_000.5", "1000.5"},
        {"+7", "7"},
        {"0", "0"},
        {"0.5", "0.5"},
        {".5", "0.5"},
        {"1e3", "1000"},
        {"0xffffffffffffffff", "18446744073709551615"},
        {"0xffffffffffffffff0", "\"0xffffffffffffffff0\""},
        {"-0x8000000000000000", "-9223372036854775808"},
        {"-0x8000000000000001", "\"-0x8000000000000001\""},
        {"-9223372036854775808", "-9223372036854775808"},
        {"1e400", "\"1e400\""},
        {"-1.5e400", "\"-1.5e400\""},
        {"0x", "\"0x\""},
        {"0xg", "\"0xg\""},
        {"0b12", "\"0b12\""},
        {"_1", "\"_1\""},
        {"1_a", "\"1_a\""},
        {"yes", "\"yes\""},
        {"on", "\"on\""},
        {"true", "true"},
        {"~", "null"},
        {"2024-01-01", "\"2024-01-01T00:00:00Z\""},
        {"2024-01-01 10:20:30", "\"2024-01-01T10:20:30Z\""},
        {"2024-13-01", "\"2024-13-01\""},
        {"'0x10'", "\"0x10\""},
        {"1.2.3", "\"1.2.3\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Buf text = BUF_INIT, want = BUF_INIT;
        buf_printf(&text, "config: {a: %s}\ntasks: [{name: sleep, config: {duration: 0}}]\n",
                   rows[i].word);
        buf_printf(&want, "{\"a\":%s}", rows[i].means);
        Flow *flow = load(text.data);
        expect_json(flow->main->defaults, want.data);
        flow_unref(flow);
        buf_clear(&text);
        buf_clear(&want);
    }
}

static void e4_fields_are_read_by_their_types(void **state) {
    (void)state;
    Flow *flow =
        load("tasks:\n- name: run_shell\n  config: {command: 0x12, shellArgs: [1e3, 020], "
             "shell: }\n- {name: run_tasks, config: {continueOnFailure: yes, invertResult: "
             "off,\n    tasks: [{name: sleep, config: {duration: 1500us}}]}}\n");
    const Param *shell = flow->main->nodes[0].params, *list = flow->main->nodes[1].params;
    expect_json(shell[RUN_SHELL_COMMAND].value, "\"0x12\"");
    expect_json(shell[RUN_SHELL_ARGS].value, "[\"1e3\",\"020\"]");
    expect_json(shell[RUN_SHELL_SHELL].value, "\"bash\"");
    expect_json(list[RUN_TASKS_CONTINUE].value, "true");
    expect_json(list[RUN_TASKS_INVERT].value, "false");
    assert_int_equal(list[RUN_TASKS_TASKS].graph->nodes[0].params[TASK_SLEEP_FOR].number, 2);
    flow_unref(flow);
}

static void f9_maps_are_merged(void **state) {
    (void)state;
    Flow *flow = load("config:\n"
                      "  a: &a {x: 1, y: 2}\n"
                      "  b: &b {y: 3, z: 4}\n"
                      "  c: {<<: *a, y: 5}\n"
                      "  d: {y: 6, <<: [*a, *b]}\n"
                      "  e: {'<<': *a}\n"
                      "tasks:\n"
                      "- &t {name: sleep, config: {duration: 1s}}\n"
                      "- {<<: *t, id: again}\n");
    expect_json(json_object_get_c(flow->main->defaults, "c"), "{\"y\":5,\"x\":1}");
    expect_json(json_object_get_c(flow->main->defaults, "d"), "{\"y\":6,\"x\":1,\"z\":4}");
    expect_json(json_object_get_c(flow->main->defaults, "e"), "{\"<<\":{\"x\":1,\"y\":2}}");
    expect_names(flow->main, "sleep again");
    assert_int_equal(flow->main->nodes[1].params[TASK_SLEEP_FOR].number, 1000);
    flow_unref(flow);
    static const Case cases[] = {
        {"config: {<<: 1}\ntasks: [{name: sleep, config: {duration: 0}}]\n",
         "1:14: `<<` must be a map, or a list of maps.\n"},
        {"config: {a: 1, a: 2}\ntasks: [{name: sleep, config: {duration: 0}}]\n",
         "1:16: `a` is here a second time; the first is in line 1.\n"},
    };
    RUN(cases);
}

static void tests_inside_are_read_as_before(void **state) {
    (void)state;
    Flow *flow = load_files(
        (const File[]){{"f", "tasks: [{name: run_external_tasks, config: {testFile: g.yaml}}]\n"},
                       {"g.yaml", "config: {a: yes, b: Off, c: 'on', d: 1, d: 2}\n"
                                  "tasks: [{name: sleep, config: {duration: 0}}]\n"},
                       {0}});
    expect_json(flow->main->nodes[0].params[EXTERNAL_FILE].graph->defaults,
                "{\"a\":true,\"b\":false,\"c\":\"on\",\"d\":2}");
    flow_unref(flow);
}

/* ---- names ---- */

static void tasks_are_called_by_their_ids_or_kinds(void **state) {
    (void)state;
    Flow *flow = load("tasks:\n"
                      "- {name: sleep, config: {duration: 0}}\n"
                      "- {name: sleep, config: {duration: 0}}\n"
                      "- {name: sleep, id: sleep-3, config: {duration: 0}}\n"
                      "- {name: run_shell, config: {command: ls}}\n"
                      "- {name: sleep, config: {duration: 0}}\n"
                      "- {name: sleep, id: run_shell-2, config: {duration: 0}}\n"
                      "- {name: run_shell, config: {command: ls}}\n"
                      "- {name: run_command, config: {command: [ls]}}\n"
                      "- {name: run_shell, id: run_command, config: {command: ls}}\n");
    expect_names(flow->main, "sleep sleep-2 sleep-3 run_shell sleep-4 run_shell-2 run_shell-3 "
                             "run_command-2 run_command");
    expect_json(flow->main->nodes[2].task->id, "\"sleep-3\"");
    expect_json(flow->main->nodes[1].task->id, "(none)");
    flow_unref(flow);
}

static void ids_are_any_text(void **state) {
    (void)state;
    static const Case cases[] = {
        {"tasks:\n- {name: sleep, id: a, config: {duration: 0}}\n"
         "- {name: sleep, id: a, config: {duration: 0}}\n",
         "3:21: warning: There is another task with the id `a`, in line 2; `tasks` has the one that "
         "began last.\n"},
        {"tasks: [{name: sleep, id: [a], config: {duration: 0}}]\n",
         "1:27: `id` must be a text.\n"},
    };
    RUN(cases);
    Flow *flow = load("tasks:\n- {name: sleep, id: a, config: {duration: 0}}\n"
                      "- name: run_tasks\n"
                      "  config: {tasks: [{name: sleep, id: a, config: {duration: 0}}]}\n"
                      "- {name: sleep, id: a b, config: {duration: 0}}\n"
                      "- {name: sleep, id: '', config: {duration: 0}}\n"
                      "- {name: sleep, id: , config: {duration: 0}}\n"
                      "- {name: sleep, id: __end__, config: {duration: 0}}\n");
    expect_names(flow->main, "a run_tasks a_b sleep sleep-2 -_end__");
    expect_json(flow->main->nodes[2].task->id, "\"a b\"");
    expect_json(flow->main->nodes[3].task->id, "(none)");
    expect_json(flow->main->nodes[5].task->id, "\"__end__\"");
    flow_unref(flow);
}

static void e1_kinds_are_those_that_there_are(void **state) {
    (void)state;
    static const Case cases[] = {
        {"tasks: [{name: run_shel, config: {command: ls}}]\n",
         "1:16: There is no kind of task `run_shel`; the kinds are " KINDS
         "; did you mean `run_shell`?\n"},
        {"tasks: [{name: jq, config: {}}]\n",
         "1:16: There is no kind of task `jq`; the kinds are " KINDS ".\n"},
        {"tasks: [{config: {}}]\n",
         "1:9: A task needs a name, which says what it does: one of " KINDS ".\n"},
        {"tasks: [{name: [sleep]}]\n", "1:16: `name` must be a text.\n"},
    };
    RUN(cases);
}

static void e1_an_unknown_kind_inside_is_an_error_for_who_asks(void **state) {
    (void)state;
    static const char text[] = "tasks:\n- name: run_tasks\n  config: {tasks: [{name: slep}]}\n";
    Json texts = json_object_with(json_object(), "f", json_string_c(text));
    FlowFiles files = {texts, "There is no such file."};
    for (int i = 0; i < 3; i++) {
        FlowReader reader = flow_files_reader(&files);
        FlowProblems problems = {0};
        reader.strict = i == 1;
        reader.whole = i == 2;
        Flow *flow = flow_load("f", &reader, &problems);
        assert_int_equal(problems.n, 1);
        assert_int_equal(problems.errors, i > 0);
        assert_int_equal(flow == NULL, i > 0);
        if (flow) {
            const Graph *held = flow->main->nodes[0].params[RUN_TASKS_TASKS].graph;
            assert_int_equal(held->nnodes, 0);
            assert_string_equal(held->lacks, "slep");
        }
        flow_unref(flow);
        flow_problems_clear(&problems);
    }
    json_unref(texts);
}

/* ---- the envelope ---- */

static void a_task_has_what_the_file_says(void **state) {
    (void)state;
    Flow *flow = load("tasks:\n"
                      "- name: run_shell\n"
                      "  id: setup\n"
                      "  title: Start ${validators}\n"
                      "  timeout: 2m\n"
                      "  if: .validators > 0\n"
                      "  config:\n"
                      "    command: echo\n"
                      "    shellArgs: [-x, 1.10]\n"
                      "    envVars: {A: validators, B: '.b', C: '| 3'}\n"
                      "  configVars: {shell: tasks.pick.outputs.shell}\n");
    const Node *n = node_of(flow->main, "setup");
    assert_int_equal(n->kind->id, KIND_RUN_SHELL);
    assert_int_equal(n->timeout_ms, 120000);
    assert_int_equal(n->line, 2);
    assert_int_equal(n->end_line, 11);
    expect_json(n->task->title, "\"Start ${validators}\"");
    expect_eval(n->task->when, "{\"validators\":1}", "true");
    assert_int_equal(n->task->nvars, 1);
    assert_int_equal(n->task->vars[0].param, RUN_SHELL_SHELL);
    assert_false(n->task->cleanup);
    expect_json(n->params[RUN_SHELL_COMMAND].value, "\"echo\"");
    expect_json(n->params[RUN_SHELL_SHELL].value, "\"bash\"");
    expect_json(n->params[RUN_SHELL_ARGS].value, "[\"-x\",\"1.10\"]");
    assert_int_equal(n->params[RUN_SHELL_ENV].nfields, 3);
    expect_json(n->params[RUN_SHELL_ENV].fields[0].name, "\"A\"");
    expect_eval(n->params[RUN_SHELL_ENV].fields[0].expr, "{\"validators\":4}", "4");
    expect_eval(n->params[RUN_SHELL_ENV].fields[1].expr, "{\"b\":5}", "5");
    expect_eval(n->params[RUN_SHELL_ENV].fields[2].expr, "{}", "3");
    expect_json(json_object_get_c(n->source, "id"), "\"setup\"");
    flow_unref(flow);
}

static void envelopes_are_checked(void **state) {
    (void)state;
    static const Case cases[] = {
        {"tasks:\n- name: sleep\n  titel: x\n  confg: {}\n  config: {duration: 0}\n",
         "3:3: warning: `titel` is no key of a task and is ignored; did you mean `title`?\n"
         "4:3: warning: `confg` is no key of a task and is ignored; did you mean `config`?\n"},
        {"tasks:\n- name: sleep\n  title: [x]\n  timeout: 5 parsecs\n  config: []\n  configVars: 1\n",
         "2:9: `duration` is missing in `config`, which a sleep task needs: how long.\n"
         "3:10: `title` must be a text.\n"
         "4:12: `timeout` must be a length of time such as 250ms, 90s or 1h30m, not `5 parsecs`.\n"
         "5:11: `config` must be a map (`key: value`).\n"
         "6:15: `configVars` must be a map (`key: value`).\n"},
        {"tasks:\n- name: sleep\n  config: {durations: 0}\n",
         "3:11: `duration` is missing in `config`, which a sleep task needs: how long.\n"
         "3:12: warning: `durations` is no key of the config of a sleep task and is ignored; did "
         "you mean `duration`?\n"},
        {"tasks: [{name: sleep}]\n",
         "1:16: `duration` is missing in `config`, which a sleep task needs: how long.\n"},
        {"tasks:\n- name: sleep\n  config: {duration: 0}\n  if: validators >> 3\n",
         "4:19: Unexpected '>'.\n"},
        {"tasks:\n- name: sleep\n  config: {duration: 0}\n  if: ' '\n",
         "4:8: There is no query here.\n"},
        {"tasks:\n- name: sleep\n  config: {duration: 0}\n  if: nope(1)\n",
         "4:11: Unexpected '('; expected end of the expression.\n"},
    };
    RUN(cases);
}

static void config_vars_name_parameters(void **state) {
    (void)state;
    static const Case cases[] = {
        {"tasks:\n- name: sleep\n  configVars: {duraton: a}\n",
         "2:9: `duration` is missing in `config`, which a sleep task needs: how long.\n"
         "3:16: warning: `duraton` is no key of the config of a sleep task and is ignored; did you "
         "mean `duration`?\n"},
        {"tasks:\n- name: run_tasks\n  configVars: {tasks: a}\n",
         "2:9: `tasks` is missing in `config`, which a run_tasks task needs: run one after the "
         "other.\n"
         "3:16: `tasks` cannot come from a query, since it holds tasks; give it in `config`.\n"},
        {"tasks:\n- name: run_shell\n  config: {command: ls}\n  configVars: {envVars: a}\n",
         "4:16: `envVars` cannot come from a query, since it holds queries itself; give it in "
         "`config`.\n"},
        {"tasks:\n- name: sleep\n  configVars:\n    duration: |\n      tasks.a |\n      .b..\n",
         "6:9: Unexpected '..'; expected end of the expression.\n"},
    };
    RUN(cases);
    Flow *flow = load("tasks: [{name: sleep, configVars: {duration: pause}}]");
    expect_json(flow->main->nodes[0].params[TASK_SLEEP_FOR].value, "(none)");
    flow_unref(flow);
}

/* ---- queries ---- */

static void queries_may_lack_their_leading_dot(void **state) {
    (void)state;
    static const char *const lack[] = {"tasks.setup.outputs.epoch",
                                       "validators > 0",
                                       " validators",
                                       "| .a + 1",
                                       "true",
                                       "\"x\"",
                                       "[1]",
                                       "(.a)",
                                       "5",
                                       "range(3)"};
    static const char *const have[] = {".a", " .a", ".", "..", "", " "};
    for (size_t i = 0; i < sizeof lack / sizeof *lack; i++) {
        assert_int_equal(query_dot(lack[i], strlen(lack[i])), strspn(lack[i], " "));
    }
    for (size_t i = 0; i < sizeof have / sizeof *have; i++) {
        assert_true(query_dot(have[i], strlen(have[i])) == SIZE_MAX);
    }
    static const Case cases[] = {
        {"tasks: [{name: sleep, if: (.a), config: {duration: 0}}]\n",
         "1:27: Unexpected '('; expected end of the expression. A query begins with a dot, which "
         "it gets where it lacks one; for an expression write `| EXPRESSION`.\n"},
        {"tasks: [{name: sleep, if: true, config: {duration: 0}}]\n",
         "1:27: warning: This is `.true`, since a query begins with a dot; for the value itself "
         "write `| true`.\n"},
        {"tasks: [{name: sleep, if: [a], config: {duration: 0}}]\n", "1:27: A query is a text.\n"},
        {"tasks: [{name: sleep, if: '| nope(1)', config: {duration: 0}}]\n",
         "1:30: warning: nope/1 is not defined. The query gives `{}`.\n"},
    };
    RUN(cases);
}

/* Where an error at run time is in the file. */
static void expect_place(const Expr *expr, const char *input, int line, int col) {
    Json out;
    int got_line, got_col;
    JqRun *run = jq_run_new(expr->program, NULL);
    jq_run_start(run, json_parse(input, strlen(input), NULL, NULL), NULL);
    assert_int_equal(jq_run_next(run, &out), JQ_FAILED);
    expr_place(expr, jq_run_error(run), &got_line, &got_col);
    assert_int_equal(got_line, line);
    assert_int_equal(got_col, col);
    jq_run_free(run);
}

static void an_error_in_a_query_has_its_place(void **state) {
    (void)state;
    Flow *flow = load("tasks:\n"
                      "- name: run_shell\n"
                      "  if: a.b | .c + {}\n"
                      "  title: |\n"
                      "    one\n"
                      "    two ${{ a.b | .c + {} }}\n"
                      "  config: {command: ls}\n");
    const Task *t = flow->main->nodes[0].task;
    expect_place(t->when, "{\"a\":{\"b\":{\"c\":1}}}", 3, 16);
    expect_place(t->when, "{\"a\":1}", 3, 8);
    expect_place(t->placeholders[0].query, "{\"a\":{\"b\":{\"c\":1}}}", 6, 22);
    assert_int_equal(t->placeholders[0].query->line, 6);
    flow_unref(flow);
}

/* ---- tasks in tasks ---- */

static void tasks_hold_tasks(void **state) {
    (void)state;
    Flow *flow = load("tasks:\n"
                      "- name: run_tasks_concurrent\n"
                      "  config:\n"
                      "    failureThreshold: 2\n"
                      "    tasks:\n"
                      "    - {name: sleep, id: inner, config: {duration: 1}}\n"
                      "    - name: run_task_background\n"
                      "      config:\n"
                      "        foregroundTask: {name: sleep, id: front, config: {duration: 2}}\n"
                      "        backgroundTask: {name: sleep, id: back, config: {duration: 3}}\n"
                      "        onBackgroundComplete: failOrIgnore\n"
                      "- name: run_task_matrix\n"
                      "  config: {matrixVar: v, matrixValues: [1, a], runConcurrent: true,\n"
                      "    task: {name: sleep, config: {duration: 0}}}\n");
    const Node *outer = node_of(flow->main, "run_tasks_concurrent");
    const Graph *tasks = outer->params[CONCURRENT_TASKS].graph;
    assert_true(tasks->scoped);
    expect_names(tasks, "inner run_task_background");
    assert_int_equal(outer->params[CONCURRENT_SCOPE].number, 1);
    assert_int_equal(outer->params[CONCURRENT_FAILURES].number, 2);
    assert_int_equal(outer->params[CONCURRENT_STOP].number, 1);
    assert_int_equal(outer->params[CONCURRENT_IGNORE].number, 0);
    const Node *background = node_of(tasks, "run_task_background");
    expect_names(background->params[BACKGROUND_FOREGROUND].graph, "front");
    expect_names(background->params[BACKGROUND_BACKGROUND].graph, "back");
    expect_json(background->params[BACKGROUND_ON_COMPLETE].value, "\"failOrIgnore\"");
    const Node *matrix = node_of(flow->main, "run_task_matrix");
    expect_json(matrix->params[MATRIX_VALUES].value, "[1,\"a\"]");
    expect_json(json_object_get_c(node_of(tasks, "inner")->source, "id"), "\"inner\"");
    expect_json(json_object_get_c(background->params[BACKGROUND_BACKGROUND].value, "id"),
                "\"back\"");
    assert_int_equal(flow->ngraphs, 5);
    flow_unref(flow);
}

static void cleanup_is_cleanup_all_the_way_down(void **state) {
    (void)state;
    Flow *flow = load("tasks: [{name: sleep, config: {duration: 0}}]\n"
                      "cleanupTasks:\n"
                      "- name: run_tasks\n"
                      "  config:\n"
                      "    tasks:\n"
                      "    - name: run_task_options\n"
                      "      config: {task: {name: sleep, config: {duration: 0}}}\n");
    const Graph *g = flow->main->after;
    for (int depth = 0; depth < 3; depth++) {
        assert_true(g->cleanup);
        assert_true(g->nodes[0].task->cleanup);
        g = g->nodes[0].params[0].graph;
    }
    assert_null(g);
    assert_false(flow->main->nodes[0].task->cleanup);
    flow_unref(flow);
}

static void tasks_in_tasks_are_checked(void **state) {
    (void)state;
    static const Case cases[] = {
        {"tasks:\n- name: run_tasks\n  config:\n    tasks:\n    - {name: slep}\n",
         "5:14: warning: There is no kind of task `slep`, so that the task that holds it fails if it "
         "starts; did you mean `sleep`?\n"},
        {"tasks:\n- name: run_task_background\n  config:\n    foregroundTask: {name: slep}\n"
         "    backgroundTask: {name: sleep}\n",
         "4:28: warning: There is no kind of task `slep`, so that the task that holds it fails if it "
         "starts; did you mean `sleep`?\n"
         "5:28: `duration` is missing in `config`, which a sleep task needs: how long.\n"},
        {"tasks:\n- name: run_tasks\n  config: {tasks: []}\n",
         "3:19: There are no tasks here; there must be at least one.\n"},
        {"tasks:\n- name: run_task_options\n  config: {task: [{name: sleep}]}\n",
         "3:18: A task must be a map (`key: value`).\n"},
        {"tasks:\n- name: run_task_options\n  config:\n    retryOnFailure: true\n"
         "    task: {name: sleep, config: {duration: 0}}\n",
         "4:5: warning: `retryOnFailure` does nothing without `maxRetryCount`: the task is run "
         "again 0 times.\n"},
        {"tasks:\n- name: run_task_options\n  config:\n    retryOnFailure: true\n"
         "    maxRetryCount: 3\n    task: {name: sleep, config: {duration: 0}}\n",
         ""},
        {"tasks:\n- name: run_task_matrix\n  config:\n    matrixVar: v\n    matrixValues: 5\n"
         "    task: {name: sleep, config: {duration: 0}}\n",
         "5:19: `matrixValues` must be a list.\n"},
        {"tasks:\n- name: run_tasks_concurrent\n  config:\n    successThreshold: -1\n"
         "    stopOnThreshold: 1\n    tasks: [{name: sleep, config: {duration: never}}]\n",
         "4:23: `successThreshold` must be a whole number from 0 to 1000000000.\n"
         "5:22: `stopOnThreshold` must be true or false.\n"
         "6:46: `duration` must be a length of time such as 250ms, 90s or 1h30m, not `never`.\n"},
        {"tasks: [{name: run_command, config: {command: []}}]\n",
         "1:47: `command` is empty; it is a program and its arguments.\n"},
        {"tasks: [{name: run_command, config: {command: [ls, [x]]}}]\n",
         "1:52: `command` must be a list of words.\n"},
        {"tasks: [{name: run_shell, config: {command: [ls]}}]\n",
         "1:45: `command` must be a text.\n"},
    };
    RUN(cases);
}

static void other_tests_are_part_of_a_test(void **state) {
    (void)state;
    Flow *flow = load_files((const File[]){
        {"a/main.yaml", "tasks:\n- name: run_external_tasks\n"
                        "  config: {testFile: ../b/other.yaml, testConfig: {n: '${n}'},\n"
                        "    testConfigVars: {m: tasks.x.outputs.m}}\n"},
        {"b/other.yaml", "config: {n: 1}\ntasks: [{name: sleep, config: {duration: 0}}]\n"
                         "cleanupTasks: [{name: sleep, config: {duration: 0}}]\n"},
        {0}});
    const Node *n = &flow->main->nodes[0];
    const Graph *other = n->params[EXTERNAL_FILE].graph;
    expect_json(other->defaults, "{\"n\":1}");
    assert_string_equal(other->name, "other");
    assert_non_null(other->after);
    expect_json(n->params[EXTERNAL_CONFIG_VARS].fields[0].name, "\"m\"");
    flow_unref(flow);
}

static void only_files_of_one_dialect_go_into_each_other(void **state) {
    (void)state;
    static const char external[] =
        "tasks: [{name: run_external_tasks, config: {testFile: g.yaml}}]\n";
    static const char graph[] = "nodes: [{name: a, jq: .}]\n";
    expect_files((const File[]){{"f", external}, {"g.yaml", graph}, {0}},
                 "1:55: `g.yaml` is of the graph dialect (it has `nodes`) and cannot be part of a "
                 "file of the tasks dialect (`tasks`): only files of the same dialect go into each "
                 "other.\n");
    expect_files((const File[]){{"f", "nodes: [{name: a, workflow: t.yaml}]\n"},
                                {"t.yaml", "tasks: [{name: sleep, config: {duration: 0}}]\n"},
                                {0}},
                 "1:29: `t.yaml` is of the tasks dialect (it has `tasks`) and cannot be part of a "
                 "file of the graph dialect (`nodes`): only files of the same dialect go into each "
                 "other.\n");
    expect_files((const File[]){{"f", "nodes: [{name: a, workflow: t.yaml}]\n"},
                                {"t.yaml", "steps: [{type: script, config: {command: ls}}]\n"},
                                {0}},
                 "1:29: `t.yaml` is of the pipeline dialect (it has `steps`) and cannot be part of "
                 "a file of the graph dialect (`nodes`): only files of the same dialect go into "
                 "each other.\n");
    expect_files((const File[]){{"f", external}, {0}},
                 "1:55: warning: There is no file `g.yaml` now. It is looked for again when the "
                 "task begins.\n");
    expect_files(
        (const File[]){{"f", "tasks: [{name: run_external_tasks, config: {testFile: f}}]\n"}, {0}},
        "1:55: The workflow includes itself: f -> f.\n");
}

/* ---- checks over HTTP ---- */

static void assertions_have_their_fields(void **state) {
    (void)state;
    Flow *flow = load("tasks:\n"
                      "- name: check_http_json\n"
                      "  config:\n"
                      "    url: http://127.0.0.1/\n"
                      "    headers: {A: b}\n"
                      "    expectStatuses: [200, 503]\n"
                      "    maxResponseSize: 1K\n"
                      "    assertions:\n"
                      "    - {name: synced, query: .synced, operator: eq, value: true}\n"
                      "    - {name: n, query: .n, operator: gte, value: 3, allowMissing: true}\n"
                      "    - {name: x, query: .data.x, exists: false}\n");
    const Param *params = flow->main->nodes[0].params;
    expect_json(
        params[CHECK_ASSERTIONS].value,
        "[{\"name\":\"synced\",\"query\":\".synced\",\"operator\":\"eq\",\"value\":true},"
        "{\"name\":\"n\",\"query\":\".n\",\"operator\":\"gte\",\"value\":3,\"allowMissing\":true},"
        "{\"name\":\"x\",\"query\":\".data.x\",\"exists\":false}]");
    expect_json(params[CHECK_STATUSES].value, "[200,503]");
    expect_json(params[CHECK_HEADERS].value, "{\"A\":\"b\"}");
    assert_int_equal(params[CHECK_METHOD].number, 0);
    assert_int_equal(params[CHECK_POLL].number, 10000);
    assert_int_equal(params[CHECK_REQUEST_TIMEOUT].number, 5000);
    assert_int_equal(params[CHECK_MAX_RESPONSE].number, 1000);
    flow_unref(flow);
}

static void assertions_are_checked(void **state) {
    (void)state;
    static const Case cases[] = {
        {"tasks:\n- name: check_http_json\n  config:\n    url: x\n    assertions:\n"
         "    - {qery: .x, operator: eq, value: 1}\n",
         "6:7: `assertions`, item 1: `name` is missing: what it is called, once.\n"
         "6:8: warning: `qery` is no key of an item of `assertions` and is ignored; did you mean "
         "`query`?\n"},
        {"tasks:\n- name: check_http_json\n  config:\n    url: x\n    assertions:\n"
         "    - {name: a, query: .a, exists: true, description: x}\n"
         "    - {name: b, query: .b, exists: true, description: x}\n",
         "6:42: warning: `description` is no key of an item of `assertions` and is ignored.\n"},
        {"tasks:\n- name: check_http_metrics\n  config:\n    url: x\n    assertions:\n"
         "    - {name: a, metric: m, operator: eq, label: {}}\n",
         "6:42: warning: `label` is no key of an item of `assertions` and is ignored; did you mean "
         "`labels`?\n"},
        {"tasks:\n- name: check_http_json\n  config:\n    url: x\n    assertions:\n"
         "    - {name: a, operator: eq, value: 1}\n",
         "6:7: `assertions`, item 1: `query` is missing: jq over the answer.\n"},
        {"tasks:\n- name: check_http_json\n  config:\n    url: x\n    assertions:\n"
         "    - {name: a, query: .a, operator: eq, value: 1}\n"
         "    - {name: x, query: .x, operator: is, value: 1}\n",
         "7:38: `assertions`, item 2: `operator` must be one of: eq neq gt gte lt lte contains "
         "not_contains.\n"},
        {"tasks:\n- name: check_http_metrics\n  config:\n    url: x\n    assertions: [x]\n",
         "5:18: `assertions`, item 1: it must be a map (`key: value`).\n"},
        {"tasks:\n- name: check_http_metrics\n  config:\n    url: x\n    assertions: {}\n",
         "5:17: `assertions` must be a list of maps.\n"},
        {"tasks:\n- name: check_http_json\n  config:\n    url: x\n    assertions:\n"
         "    - {name: a, query: '.a[', operator: eq, value: 1}\n"
         "    - {name: b, query: .a, exists: true, value: 1}\n"
         "    - {name: c, query: .a}\n    - {name: c, query: .a, operator: eq, value: ~}\n",
         "6:28: Unexpected end of the expression.\n"
         "7:28: `exists` asks whether there is a value, `value` which; an assertion asks one.\n"
         "8:7: This assertion says nothing: give it `exists`, or an `operator` and a `value`.\n"
         "9:14: Two assertions are called `c`; each needs a name of its own.\n"
         "9:28: This assertion has an `operator` and no `value` to compare with; whether there is one "
         "is asked with `exists`.\n"},
        {"tasks:\n- name: check_http_metrics\n  config: {url: x, assertions: []}\n",
         "3:32: `assertions` is empty; it needs one or more.\n"},
        {"tasks:\n- name: check_http_json\n  config:\n    url: x\n    method: HEAD\n"
         "    expectStatus: 200\n    expectStatuses: 200\n"
         "    assertions: [{name: a, query: ., exists: true}]\n",
         "5:13: An answer to HEAD has no body, so that there is nothing to assert: take the assertions "
         "out, or use GET.\n"
         "7:5: There are both `expectStatus` and `expectStatuses`: take one of them out.\n"},
        {"tasks:\n- name: check_http_json\n  config:\n    url: x\n    headers: [x]\n"
         "    expectStatuses: [200, 600]\n    expectStatus: 0\n",
         "5:14: `headers` must be a map (`key: value`).\n"
         "6:5: There are both `expectStatus` and `expectStatuses`: take one of them out.\n"
         "6:27: `expectStatuses` must be an HTTP status, or a list of them, from 100 to 599.\n"
         "7:19: `expectStatus` must be a whole number from 1 to 1000000000.\n"},
    };
    RUN(cases);
}

/* ---- placeholders ---- */

static void e3_placeholders_are_for_titles(void **state) {
    (void)state;
    Flow *flow = load("tasks:\n"
                      "- name: run_shell\n"
                      "  title: '${{tasks.a.title}} of ${n} ${{ .b }} ${{tasks.a.title}}'\n"
                      "  config: {command: '${{ +* }} ${x} ${{'}\n");
    const Node *shell = &flow->main->nodes[0];
    expect_json(shell->params[RUN_SHELL_COMMAND].value, "\"${{ +* }} ${x} ${{\"");
    assert_int_equal(shell->task->nplaceholders, 2);
    flow_unref(flow);
    static const Case cases[] = {
        {"tasks:\n- name: run_shell\n  title: x ${{a +* 1}}\n  config: {command: ls}\n",
         "3:18: warning: Unexpected '*'.\n"},
        {"tasks:\n- name: run_shell\n  title: 'x ${{ $${{} ${HOME:-x}'\n  config: {command: ls}\n",
         ""},
    };
    RUN(cases);
}

/* ---- size ---- */

/* Of the processor: what else the machine does is not counted. */
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How long n tasks take to load. */
static double loading(int n) {
    Buf text = BUF_INIT;
    char last[32];
    buf_adds(&text, "tasks:\n- name: run_tasks_concurrent\n  config:\n    tasks:\n");
    for (int i = 0; i < n; i++) {
        buf_adds(&text, "    - {name: sleep, config: {duration: 0}}\n");
    }
    double start = seconds();
    Flow *flow = load(text.data);
    double took = seconds() - start;
    const Graph *g = flow->main->nodes[0].params[0].graph;
    snprintf(last, sizeof last, "sleep-%d", n);
    assert_int_equal(g->nnodes, n);
    assert_string_equal(g->nodes[n - 1].name, last);
    flow_unref(flow);
    buf_clear(&text);
    return took;
}

/* Twenty times as many would take 400 times as long if each were looked at for each. */
static void the_cost_of_loading_follows_the_number_of_tasks(void **state) {
    (void)state;
    double few = loading(500), many = loading(10000);
    print_message("500 tasks: %.3f s, 10000 tasks: %.3f s\n", few, many);
    assert_true(many < 100 * few);
}

static void deep_tasks_are_refused(void **state) {
    (void)state;
    Buf text = BUF_INIT;
    buf_adds(&text, "tasks: [");
    for (int i = 0; i < 120; i++) {
        buf_adds(&text, "{name: run_task_options, config: {task: ");
    }
    buf_adds(&text, "{name: sleep, config: {duration: 0}}");
    for (int i = 0; i < 120; i++) {
        buf_adds(&text, "}}");
    }
    buf_adds(&text, "]");
    expect(text.data,
           "1:4009: Tasks in tasks and tests in tests are nested more than 100 levels deep.\n");
    buf_clear(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(a_test_is_a_graph_of_its_tasks),
        JSON_TEST(f1_a_test_that_says_little_gets_the_defaults),
        JSON_TEST(tests_are_checked_in_shape),
        JSON_TEST(tasks_are_called_by_their_ids_or_kinds),
        JSON_TEST(ids_are_any_text),
        JSON_TEST(f9_keys_that_nobody_reads_are_said_once),
        JSON_TEST(f10_old_keys_have_their_sentence),
        JSON_TEST(f4_words_are_read_as_in_go),
        JSON_TEST(e4_fields_are_read_by_their_types),
        JSON_TEST(f9_maps_are_merged),
        JSON_TEST(tests_inside_are_read_as_before),
        JSON_TEST(e1_kinds_are_those_that_there_are),
        JSON_TEST(e1_an_unknown_kind_inside_is_an_error_for_who_asks),
        JSON_TEST(a_task_has_what_the_file_says),
        JSON_TEST(envelopes_are_checked),
        JSON_TEST(config_vars_name_parameters),
        JSON_TEST(queries_may_lack_their_leading_dot),
        JSON_TEST(an_error_in_a_query_has_its_place),
        JSON_TEST(tasks_hold_tasks),
        JSON_TEST(cleanup_is_cleanup_all_the_way_down),
        JSON_TEST(tasks_in_tasks_are_checked),
        JSON_TEST(other_tests_are_part_of_a_test),
        JSON_TEST(only_files_of_one_dialect_go_into_each_other),
        JSON_TEST(assertions_have_their_fields),
        JSON_TEST(assertions_are_checked),
        JSON_TEST(e3_placeholders_are_for_titles),
        JSON_TEST(the_cost_of_loading_follows_the_number_of_tasks),
        JSON_TEST(deep_tasks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
