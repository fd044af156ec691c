/* Pipelines: what the engine sees of them, what is said when they are wrong, how they are drawn, and
 * the schemas. */
#include "flow_fixture.h"
#include "kind_schema.h"

/* "__start__ > a; a > b if x; a ! c": every edge, those after a failure with a `!`. */
static void add_edges(Buf *out, const Graph *g, const char *from, Edges edges, char sign) {
    for (size_t i = 0; i < edges.n; i++) {
        int target = edges.items[i].targets[0];
        buf_printf(out, "%s%s %c %s", out->len ? "; " : "", from, sign,
                   target == NODE_END ? "END" : g->nodes[target].name);
        if (edges.items[i].when) {
            buf_printf(out, " if %s", edges.items[i].when->text);
        }
    }
}

static void expect_edges(const Graph *g, const char *want) {
    Buf got = BUF_INIT;
    add_edges(&got, g, "START", g->start, '>');
    for (size_t i = 0; i < g->nnodes; i++) {
        add_edges(&got, g, g->nodes[i].name, g->nodes[i].edges, '>');
        add_edges(&got, g, g->nodes[i].name, g->nodes[i].error_edges, '!');
    }
    assert_string_equal(got.data, want);
    buf_clear(&got);
}

#define SCRIPT(id) "- {id: " id ", type: script, config: {command: 'true'}"

/* ---- steps ---- */

static void steps_become_nodes_in_order(void **state) {
    (void)state;
    Flow *flow = load("name: suite\n"
                      "description: all of it\n"
                      "timeout: 1h\n"
                      "steps:\n"
                      "  - id: lint\n"
                      "    name: Lint it\n"
                      "    type: script\n"
                      "    config: {command: make lint}\n"
                      "    timeout: 300\n"
                      "    continue_in_context: true\n"
                      "\n"
                      "  - {id: test, type: script, config: {command: make test}, timeout: 5m}\n");
    const Node *lint = &flow->main->nodes[0], *test = &flow->main->nodes[1];
    assert_string_equal(flow->name, "suite");
    assert_string_equal(flow->dialect, "pipeline");
    assert_int_equal(flow->main->timeout_ms, 3600000);
    assert_int_equal(flow->main->nnodes, 2);
    assert_string_equal(lint->name, "lint");
    assert_int_equal(lint->kind->id, KIND_SCRIPT);
    assert_int_equal(lint->timeout_ms, 300000);
    assert_int_equal(test->timeout_ms, 300000);
    expect_json(lint->params[STEP_ID].value, "\"lint\"");
    expect_json(lint->params[STEP_ON_FAILURE].value, "\"stop\"");
    assert_int_equal(lint->params[STEP_CONTINUES].number, 1);
    assert_int_equal(test->params[STEP_CONTINUES].number, 0);
    expect_json(lint->params[SCRIPT_COMMAND].value, "\"make lint\"");
    expect_edges(flow->main, "START > lint; lint > test; test > END");
    flow_unref(flow);
}

static void nodes_know_their_place_and_source(void **state) {
    (void)state;
    Flow *flow =
        load("steps:\n"
             "  - id: a\n"
             "    type: script\n"
             "    config:\n"
             "      command: |\n"
             "        one\n"
             "        two\n"
             "\n"
             "  - {id: b, type: script, config: {command: x}, on_success: 'merge:main'}\n");
    const Node *a = &flow->main->nodes[0], *merge = &flow->main->nodes[2];
    assert_string_equal(a->file, "f");
    assert_int_equal(a->line, 2);
    assert_int_equal(a->col, 5);
    assert_int_equal(a->end_line, 7);
    assert_int_equal(a->index, 0);
    assert_ptr_equal(a->graph, flow->main);
    assert_int_equal(a->retry.attempts, 1);
    expect_json(a->source,
                "{\"id\":\"a\",\"type\":\"script\",\"config\":{\"command\":\"one\\ntwo\\n\"}}");
    assert_int_equal(merge->line, 9);
    assert_int_equal(merge->index, 2);
    flow_unref(flow);
}

static void the_state_is_a_map_of_steps_that_results_are_merged_into(void **state) {
    (void)state;
    Flow *flow = load("steps: [{id: a, type: script, config: {command: x}}]");
    Json name = json_string_c("steps");
    const StateKey *key = graph_key(flow->main, name);
    json_unref(name);
    assert_non_null(key);
    expect_json(key->initial, "{}");
    assert_int_equal(key->reduce, REDUCE_MERGE);
    flow_unref(flow);
}

static void a_step_without_an_id_is_called_after_its_name(void **state) {
    (void)state;
    static const char *const want[] = {
        "unit-tests-fast",  "unit-tests-fast-3", "unit-tests-fast-2", "step-4", "x",
        "unit-tests-fast-4"};
    Flow *flow = load("steps:\n"
                      "- {name: 'Unit  tests (fast!)', type: script, config: {command: x}}\n"
                      "- {name: 'unit tests FAST', type: script, config: {command: x}}\n"
                      "- {id: unit-tests-fast-2, type: script, config: {command: x}}\n"
                      "- {name: '测试', type: script, config: {command: x}}\n"
                      "- {id: x, name: y, type: script, config: {command: x}}\n"
                      "- {name: 'unit tests fast', type: script, config: {command: x}}\n");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_string_equal(flow->main->nodes[i].name, want[i]);
        Json name = json_string_c(want[i]);
        assert_ptr_equal(graph_node(flow->main, name), &flow->main->nodes[i]);
        json_unref(name);
    }
    flow_unref(flow);
}

static void containers_and_agents_have_their_own_config(void **state) {
    (void)state;
    Flow *flow =
        load("steps:\n"
             "- {id: u, type: docker, config: {image: 'python:3.12', command: pytest -v}}\n"
             "- {id: f, type: agent, config: {agent: fixer, prompt: Fix it}}\n");
    const Node *unit = &flow->main->nodes[0], *fix = &flow->main->nodes[1];
    assert_int_equal(unit->kind->id, KIND_DOCKER);
    expect_json(unit->params[DOCKER_IMAGE].value, "\"python:3.12\"");
    expect_json(unit->params[DOCKER_COMMAND].value, "\"pytest -v\"");
    assert_int_equal(fix->kind->id, KIND_AGENT);
    expect_json(fix->params[AGENT_NAME].value, "\"fixer\"");
    expect_json(fix->params[AGENT_PROMPT].value, "\"Fix it\"");
    flow_unref(flow);
}

static void labels_are_a_map_or_a_list_and_are_kept(void **state) {
    (void)state;
    Flow *flow =
        load("steps:\n" SCRIPT("a") ", requires: {arch: arm64, has: 'gpio,camera'}}\n" SCRIPT(
            "b") ", requires: [gpio, 7]}\n" SCRIPT("c") "}\n");
    expect_json(flow->main->nodes[0].requires, "{\"arch\":\"arm64\",\"has\":\"gpio,camera\"}");
    expect_json(flow->main->nodes[1].requires, "[\"gpio\",7]");
    expect_json(flow->main->nodes[2].requires, "(none)");
    flow_unref(flow);
}

/* ---- endings ---- */

static void stop_ends_the_run_well_and_later_steps_are_warned_of(void **state) {
    (void)state;
    Flow *flow =
        load_with("steps:\n" SCRIPT("a") ", on_success: stop}\n" SCRIPT("b") "}\n" SCRIPT(
                      "c") ", on_success: next}\n",
                  "2:64: warning: No step after `a` is ever reached: the run ends there.\n");
    expect_edges(flow->main, "START > a; a > END; b > c; c > END");
    flow_unref(flow);
}

static void a_merge_is_a_hidden_node_that_leads_to_the_next_step(void **state) {
    (void)state;
    Flow *flow = load("steps:\n" SCRIPT("a") ", on_success: 'merge:release/2'}\n" SCRIPT(
        "b") ", on_success: 'merge:main'}\n" SCRIPT("b.merge") "}\n");
    const Node *first = &flow->main->nodes[3];
    assert_int_equal(flow->main->nnodes, 5);
    assert_int_equal(first->kind->id, KIND_MERGE);
    expect_json(first->params[MERGE_BRANCH].value, "\"release/2\"");
    expect_edges(flow->main, "START > a; a > a.merge; b > b.merge-2; b.merge > END; a.merge > b; "
                             "b.merge-2 > b.merge");
    flow_unref(flow);
}

static void a_trigger_is_a_hidden_node_after_a_failure(void **state) {
    (void)state;
    Flow *flow =
        load("steps:\n" SCRIPT("a") ", on_failure: 'trigger:card-12'}\n" SCRIPT("b") "}\n");
    const Node *trigger = &flow->main->nodes[2];
    assert_int_equal(trigger->kind->id, KIND_TRIGGER);
    expect_json(trigger->params[TRIGGER_CARD].value, "\"card-12\"");
    expect_edges(flow->main, "START > a; a > b; a ! a.trigger; b > END; a.trigger > END");
    flow_unref(flow);
}

static void a_failure_that_goes_on_parts_from_a_success_that_does_not(void **state) {
    (void)state;
    Flow *flow = load("steps:\n" SCRIPT("a") ", on_failure: next}\n" SCRIPT(
        "b") ", on_success: stop, on_failure: next}\n" SCRIPT("c") "}\n");
    expect_edges(flow->main, "START > a; a > b; "
                             "b > c if .steps[\"b\"].status == \"failed\"; b > END; c > END");
    flow_unref(flow);
}

/* ---- triggers ---- */

static void triggers_are_checked_and_kept(void **state) {
    (void)state;
    Flow *flow = load("steps: [{id: a, type: script, config: {command: x}}]\n"
                      "triggers:\n"
                      "- {type: push, config: {branches: [main, 'release/*']}}\n"
                      "- {type: card_complete, on_pass: merge, on_fail: reject}\n");
    expect_json(flow->main->schedule,
                "[{\"type\":\"push\",\"config\":{\"branches\":[\"main\",\"release/*\"]}},"
                "{\"type\":\"card_complete\",\"on_pass\":\"merge\",\"on_fail\":\"reject\"}]");
    flow_unref(flow);
    expect("steps: [{id: a, type: script, config: {command: x}}]\n"
           "triggers:\n"
           "- {type: pusch}\n"
           "- {type: push, config: {branch: main}}\n"
           "- {type: card_complete, on_pass: merged, on_fail: [x], when: 1}\n"
           "- {type: card_complete, config: {branches: [x]}}\n"
           "- {}\n"
           "- push\n",
           "3:10: There is no trigger `pusch`; there are push and card_complete; did you "
           "mean `push`?\n"
           "4:25: `branch` is no key of the `config` of a push trigger; did you mean "
           "`branches`?\n"
           "5:34: `on_pass` must be merge or nothing.\n"
           "5:51: `on_fail` must be fail, reject or nothing.\n"
           "5:56: `when` is no key of a trigger.\n"
           "6:34: `branches` is no key of the `config` of a card_complete trigger.\n"
           "7:3: A trigger needs `type`: push or card_complete.\n"
           "8:3: A trigger (`{type: push}`) must be a map (`key: value`).\n");
    expect("steps: [{id: a, type: script, config: {command: x}}]\ntriggers: push\n",
           "2:11: The triggers must be a list (`- {type: push}`).\n");
}

/* ---- problems ---- */

static void everything_that_is_wrong_is_said_at_once(void **state) {
    (void)state;
    expect(
        "steps:\n"
        "- {id: a b, type: scirpt, config: {command: x}}\n"
        "- {type: script, config: {comand: x}, on_failur: stop}\n"
        "- {id: c, config: 3, type: docker, timeout: soon}\n"
        "- {id: c, type: merge}\n"
        "- {id: d, type: script, config: {command: x}, on_success: mrege:main}\n"
        "- {id: e, type: script, config: {command: [x]}, on_failure: 'trigger:'}\n"
        "- {id: f, type: script, requires: gpio, continue_in_context: perhaps}\n"
        "- {id: g, name: [x], on_failure: [x]}\n"
        "- nothing\n"
        "titel: x\n",
        "2:8: The id of a step is made of letters, digits, `_`, `.` and `-`, up to 200 of them; `a "
        "b` is not.\n"
        "2:19: `type` must be script, docker or agent, not `scirpt`; did you mean `script`?\n"
        "3:3: A step needs a `name`, or an `id`.\n"
        "3:26: `command` is missing in `config`, which a script step needs: the command, for /bin/sh.\n"
        "3:27: `comand` is no key of the `config` of a script step; did you mean `command`?\n"
        "3:39: `on_failur` is no key of a step; did you mean `on_failure`?\n"
        "4:19: `config` must be a map (`key: value`).\n"
        "4:45: `timeout` must be a length of time such as 250ms, 90s or 1h30m, not `soon`.\n"
        "5:8: There is another step with the id `c`, in line 4; ids must be unique in their list.\n"
        "5:17: `type` must be script, docker or agent, not `merge`.\n"
        "6:59: `on_success` must be next, stop or merge:BRANCH, not `mrege:main`; did you mean "
        "`merge`?\n"
        "7:43: `command` must be a text.\n"
        "7:62: `on_failure` must be next, stop or trigger:CARD, not `trigger:`.\n"
        "8:3: `command` is missing in `config`, which a script step needs: the command, for /bin/sh.\n"
        "8:35: `requires` names labels of a runner: a map (`{arch: arm64}`) or a list (`[gpio, "
        "camera]`).\n"
        "8:62: `continue_in_context` must be true or false.\n"
        "9:3: A step needs `type`: script, docker or agent.\n"
        "9:17: `name` must be a text.\n"
        "9:34: `on_failure` must be a text.\n"
        "10:3: A step must be a map (`key: value`).\n"
        "11:1: `titel` is no key of a pipeline.\n");
}

static void a_pipeline_has_steps(void **state) {
    (void)state;
    expect("steps: []", "1:8: There are no steps; a pipeline has at least one.\n");
    expect("steps:\n", "1:6: There are no steps; a pipeline has at least one.\n");
    expect("steps: {a: b}", "1:8: The steps must be a list (`- name: ...`).\n");
    expect("steps: [x]", "1:9: A step must be a map (`key: value`).\n");
}

static void a_long_pipeline_is_no_loop(void **state) {
    (void)state;
    Buf text = BUF_INIT;
    buf_adds(&text, "steps:\n");
    for (int i = 0; i < 3000; i++) {
        buf_adds(&text, "- {name: same, type: script, config: {command: x}}\n");
    }
    Flow *flow = load(text.data);
    assert_int_equal(flow->main->nnodes, 3000);
    assert_string_equal(flow->main->nodes[2999].name, "same-3000");
    assert_true(flow->main->recursion_limit > 3000);
    flow_unref(flow);
    buf_clear(&text);
}

/* ---- drawings ---- */

static void expect_drawing(const char *text, const char *format, const char *want) {
    Flow *flow = load(text);
    Buf out = BUF_INIT;
    assert_true(flow_draw(flow, format, &out));
    assert_string_equal(out.data, want);
    buf_clear(&out);
    flow_unref(flow);
}

#define DRAWN                                                                                   \
    "name: ci\nsteps:\n" SCRIPT("a") ", name: 'Say \"a\"', on_success: 'merge:main'}\n" SCRIPT( \
        "b") ", on_failure: 'trigger:card-1'}\n"                                                \
             "triggers: [{type: push}]\n"

static void a_pipeline_is_drawn_with_what_its_endings_do(void **state) {
    (void)state;
    expect_drawing(DRAWN, "dot",
                   "digraph \"ci\" {\n"
                   "  node [shape=box];\n"
                   "  \"__start__\" [shape=circle, label=start];\n"
                   "  \"__end__\" [shape=doublecircle, label=end];\n"
                   "  \"a\" [shape=box, label=\"a\\nscript\"];\n"
                   "  \"b\" [shape=box, label=\"b\\nscript\"];\n"
                   "  \"a.merge\" [shape=box, label=\"a.merge\\nmerge\"];\n"
                   "  \"b.trigger\" [shape=box, label=\"b.trigger\\ntrigger\"];\n"
                   "  \"__start__\" -> \"a\";\n"
                   "  \"a\" -> \"a.merge\";\n"
                   "  \"b\" -> \"__end__\";\n"
                   "  \"b\" -> \"b.trigger\" [label=\"error\", style=dashed];\n"
                   "  \"a.merge\" -> \"b\";\n"
                   "  \"b.trigger\" -> \"__end__\";\n"
                   "}\n");
    expect_drawing(DRAWN, "mermaid",
                   "flowchart TD\n"
                   "  start((start))\n"
                   "  n0[\"a<br/>script\"]\n"
                   "  n1[\"b<br/>script\"]\n"
                   "  n2[\"a.merge<br/>merge\"]\n"
                   "  n3[\"b.trigger<br/>trigger\"]\n"
                   "  finish(((end)))\n"
                   "  start --> n0\n"
                   "  n0 --> n2\n"
                   "  n1 --> finish\n"
                   "  n1 -.->|\"error\"| n3\n"
                   "  n2 --> n1\n"
                   "  n3 --> finish\n");
}

static void a_drawing_as_json_has_titles_and_triggers(void **state) {
    (void)state;
    Flow *flow = load(DRAWN);
    Buf out = BUF_INIT;
    assert_true(flow_draw(flow, "json", &out));
    Json got = json_parse(out.data, out.len, NULL, NULL);
    expect_json(json_array_get(json_object_get_c(got, "nodes"), 0),
                "{\"name\":\"a\",\"kind\":\"script\",\"title\":\"Say \\\"a\\\"\",\"line\":3,"
                "\"col\":3}");
    expect_json(json_object_get_c(got, "triggers"), "[{\"type\":\"push\"}]");
    expect_json(json_object_get_c(got, "schedule"), "(none)");
    json_unref(got);
    buf_clear(&out);
    flow_unref(flow);
}

#define STARTS_NOTHING \
    "1:1: warning: `schedule` starts nothing here: it is kept for whoever starts tests by the clock.\n"
#define TEST_FILE                                                                      \
    "id: t\nname: t\n"                                                                 \
    "tasks:\n"                                                                         \
    "- name: run_tasks_concurrent\n"                                                   \
    "  id: both\n"                                                                     \
    "  config:\n"                                                                      \
    "    tasks:\n"                                                                     \
    "    - {name: sleep, id: one, title: 'One \"1\"', config: {duration: 1s}}\n"       \
    "    - {name: run_tasks, id: two, config: {tasks: [{name: sleep, id: in, config: " \
    "{duration: 1s}}]}}\n"                                                             \
    "- name: run_task_background\n"                                                    \
    "  id: watch\n"                                                                    \
    "  config:\n"                                                                      \
    "    foregroundTask: {name: sleep, id: fore, config: {duration: 1s}}\n"            \
    "    backgroundTask: {name: sleep, id: back, config: {duration: 1s}}\n"            \
    "cleanupTasks:\n"                                                                  \
    "- {name: sleep, id: down, config: {duration: 1s}}\n"

static void tasks_are_drawn_inside_the_tasks_that_hold_them(void **state) {
    (void)state;
    expect_drawing(TEST_FILE, "dot",
                   "digraph \"t\" {\n"
                   "  node [shape=box];\n"
                   "  \"__start__\" [shape=circle, label=start];\n"
                   "  \"__end__\" [shape=doublecircle, label=end];\n"
                   "  subgraph cluster_0 {\n"
                   "    label=\"\";\n"
                   "    t0 [shape=box, label=\"both\\nrun_tasks_concurrent\"];\n"
                   "    t1 [shape=box, label=\"One \\\"1\\\"\\nsleep\"];\n"
                   "    subgraph cluster_2 {\n"
                   "      label=\"\";\n"
                   "      t2 [shape=box, label=\"two\\nrun_tasks\"];\n"
                   "      t3 [shape=box, label=\"in\\nsleep\"];\n"
                   "    }\n"
                   "  }\n"
                   "  subgraph cluster_4 {\n"
                   "    label=\"\";\n"
                   "    t4 [shape=box, label=\"watch\\nrun_task_background\"];\n"
                   "    t5 [shape=box, label=\"fore\\nsleep\"];\n"
                   "    t6 [shape=box, label=\"back\\nsleep\"];\n"
                   "  }\n"
                   "  subgraph cluster_7 {\n"
                   "    label=\"cleanup\"; style=dashed;\n"
                   "    t8 [shape=box, label=\"down\\nsleep\"];\n"
                   "  }\n"
                   "  \"__start__\" -> t0;\n"
                   "  t0 -> t1 [style=bold];\n"
                   "  t0 -> t2 [style=bold];\n"
                   "  t2 -> t3;\n"
                   "  t0 -> t4;\n"
                   "  t4 -> t5 [label=\"foregroundTask\", style=bold];\n"
                   "  t4 -> t6 [label=\"backgroundTask\", style=bold];\n"
                   "  t4 -> t8 [label=\"always\", style=dashed];\n"
                   "  t8 -> \"__end__\";\n"
                   "}\n");
    expect_drawing(TEST_FILE, "mermaid",
                   "flowchart TD\n"
                   "  start((start))\n"
                   "  subgraph g0 [\" \"]\n"
                   "    n0[\"both<br/>run_tasks_concurrent\"]\n"
                   "    n1[\"One #34;1#34;<br/>sleep\"]\n"
                   "    subgraph g2 [\" \"]\n"
                   "      n2[\"two<br/>run_tasks\"]\n"
                   "      n3[\"in<br/>sleep\"]\n"
                   "    end\n"
                   "  end\n"
                   "  subgraph g4 [\" \"]\n"
                   "    n4[\"watch<br/>run_task_background\"]\n"
                   "    n5[\"fore<br/>sleep\"]\n"
                   "    n6[\"back<br/>sleep\"]\n"
                   "  end\n"
                   "  subgraph g7 [\"cleanup\"]\n"
                   "    n8[\"down<br/>sleep\"]\n"
                   "  end\n"
                   "  start --> n0\n"
                   "  n0 ==> n1\n"
                   "  n0 ==> n2\n"
                   "  n2 --> n3\n"
                   "  n0 --> n4\n"
                   "  n4 ==>|\"foregroundTask\"| n5\n"
                   "  n4 ==>|\"backgroundTask\"| n6\n"
                   "  n4 -.->|\"always\"| n8\n"
                   "  n8 --> finish\n"
                   "  finish(((end)))\n");
}

static Json at(Json j, const char *path) {
    while (*path) {
        size_t len = strcspn(path, "/");
        Json name = json_string(path, len);
        bool list = json_kind(j) == JSON_ARRAY;
        j = list ? json_array_get(j, (size_t)atoi(path)) : json_object_get(j, name);
        json_unref(name);
        path += len + (path[len] == '/');
    }
    return j;
}

static void tasks_as_json_are_nested_and_cleanup_is_marked(void **state) {
    (void)state;
    Flow *flow = load_with("schedule: {startup: true}\n" TEST_FILE, STARTS_NOTHING);
    Buf out = BUF_INIT;
    assert_true(flow_draw(flow, "json", &out));
    Json got = json_parse(out.data, out.len, NULL, NULL);
    expect_json(at(got, "nodes/0/name"), "\"both\"");
    expect_json(at(got, "nodes/0/tasks/0/title"), "\"One \\\"1\\\"\"");
    expect_json(at(got, "nodes/0/tasks/1/tasks/0/name"), "\"in\"");
    expect_json(at(got, "nodes/1/backgroundTask/0/name"), "\"back\"");
    expect_json(at(got, "cleanup/0/cleanup"), "true");
    expect_json(at(got, "nodes/0/cleanup"), "(none)");
    expect_json(at(got, "schedule"), "{\"startup\":true}");
    expect_json(at(got, "edges"), "[{\"from\":\"__start__\",\"to\":\"both\"},"
                                  "{\"from\":\"both\",\"to\":\"watch\"},"
                                  "{\"from\":\"watch\",\"to\":\"__end__\"}]");
    json_unref(got);
    buf_clear(&out);
    flow_unref(flow);
}

/* ---- schemas ---- */

static void the_schemas_have_every_kind_and_its_config(void **state) {
    (void)state;
    static const char *const dialects[] = {"graph", "tasks", "pipeline"};
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (i == KIND_EDGE_AGENT) continue; /* it has the name of another */
        Json schema = flow_schema(dialects[kinds[i].dialect]);
        char path[100];
        bool graph = kinds[i].dialect == DIALECT_GRAPH;
        size_t from = kinds[i].dialect == DIALECT_PIPELINE ? STEP_CONTINUES + 1 : 0;
        snprintf(path, sizeof path, graph ? "$defs/node/properties/%s" : "$defs/config_%s",
                 kinds[i].name);
        assert_int_equal(json_kind(at(schema, path)), kinds[i].hidden ? JSON_NONE : JSON_OBJECT);
        for (size_t k = from; k < kinds[i].nparams && !kinds[i].hidden && !graph; k++) {
            snprintf(path, sizeof path, "$defs/config_%s/properties/%s/description", kinds[i].name,
                     kinds[i].params[k].name);
            assert_true(json_string_is(at(schema, path), kinds[i].params[k].help));
        }
        json_unref(schema);
    }
}

static void the_schema_of_pipelines_says_what_a_step_takes(void **state) {
    (void)state;
    Json schema = flow_schema("pipeline");
    expect_json(at(schema, "required"), "[\"steps\"]");
    expect_json(at(schema, "$defs/step/properties/type/enum"), "[\"script\",\"docker\",\"agent\"]");
    expect_json(at(schema, "$defs/step/allOf/1/then/properties/config/$ref"),
                "\"#/$defs/config_docker\"");
    expect_json(at(schema, "$defs/config_docker/required"), "[\"image\",\"command\"]");
    expect_json(at(schema, "$defs/config_script/additionalProperties"), "false");
    json_unref(schema);
}

static void a_kind_has_a_schema_that_stands_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        Json schema = kind_schema(&kinds[i]);
        char *text = json_to_text(schema);
        assert_null(strstr(text, "$ref"));
        expect_json(at(schema, "type"), "\"object\"");
        free(text);
        json_unref(schema);
    }
    Json check = kind_schema(&kinds[KIND_CHECK_HTTP_JSON]);
    expect_json(at(check, "required"), "[\"url\"]");
    expect_json(at(check, "properties/pollInterval/default"), "\"10s\"");
    expect_json(at(check, "properties/pollInterval/x-type"), "\"duration\"");
    expect_json(at(check, "properties/assertions/items/required"), "[\"name\",\"query\"]");
    expect_json(at(check, "properties/assertions/items/properties/operator/enum"),
                "[\"eq\",\"neq\",\"gt\",\"gte\",\"lt\",\"lte\",\"contains\",\"not_contains\"]");
    json_unref(check);
    Json script = kind_schema(&kinds[KIND_SCRIPT]);
    expect_json(at(script, "required"), "[\"command\"]");
    expect_json(at(script, "properties/on_failure"), "(none)");
    json_unref(script);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(steps_become_nodes_in_order),
        JSON_TEST(nodes_know_their_place_and_source),
        JSON_TEST(the_state_is_a_map_of_steps_that_results_are_merged_into),
        JSON_TEST(a_step_without_an_id_is_called_after_its_name),
        JSON_TEST(containers_and_agents_have_their_own_config),
        JSON_TEST(labels_are_a_map_or_a_list_and_are_kept),
        JSON_TEST(stop_ends_the_run_well_and_later_steps_are_warned_of),
        JSON_TEST(a_merge_is_a_hidden_node_that_leads_to_the_next_step),
        JSON_TEST(a_trigger_is_a_hidden_node_after_a_failure),
        JSON_TEST(a_failure_that_goes_on_parts_from_a_success_that_does_not),
        JSON_TEST(triggers_are_checked_and_kept),
        JSON_TEST(everything_that_is_wrong_is_said_at_once),
        JSON_TEST(a_pipeline_has_steps),
        JSON_TEST(a_long_pipeline_is_no_loop),
        JSON_TEST(a_pipeline_is_drawn_with_what_its_endings_do),
        JSON_TEST(a_drawing_as_json_has_titles_and_triggers),
        JSON_TEST(tasks_are_drawn_inside_the_tasks_that_hold_them),
        JSON_TEST(tasks_as_json_are_nested_and_cleanup_is_marked),
        JSON_TEST(the_schemas_have_every_kind_and_its_config),
        JSON_TEST(the_schema_of_pipelines_says_what_a_step_takes),
        JSON_TEST(a_kind_has_a_schema_that_stands_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
