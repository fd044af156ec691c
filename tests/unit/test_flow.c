/* Workflows that load: what the engine sees of them. */

#include "flow_fixture.h"
#include "json_duration.h"
#include <unistd.h>

static const Node *node(const Flow *flow, const char *name) {
    return node_of(flow->main, name);
}

/* The edges of a node as "b c|d join e": targets, parted by a bar from the next edge. */
static void expect_edges(const Graph *g, Edges edges, const char *want) {
    Buf got = BUF_INIT;
    buf_adds(&got, "");
    for (size_t i = 0; i < edges.n; i++) {
        const Edge *e = &edges.items[i];
        buf_adds(&got, i ? "|" : "");
        for (size_t k = 0; k < e->ntargets; k++) {
            buf_printf(&got, "%s%s", k ? " " : "",
                       e->targets[k] == NODE_END ? "END" : g->nodes[e->targets[k]].name);
        }
        if (e->when) {
            buf_printf(&got, " if %s", e->when->text);
        }
        if (e->parallel) {
            buf_printf(&got, " join %s", e->join == NODE_END ? "END" : g->nodes[e->join].name);
        }
    }
    assert_string_equal(got.len ? got.data : "", want);
    buf_clear(&got);
}

static void expect_out(const Flow *flow, const char *name, const char *want) {
    expect_edges(flow->main, node(flow, name)->edges, want);
}

static Json eval(const Expr *expr, const char *input, const char *vars) {
    Error err = ERROR_INIT;
    Json values[8] = {{0}}, out = json_none();
    Json list = json_parse(vars, strlen(vars), NULL, &err);
    for (size_t i = 0; i < json_array_len(list); i++) {
        values[i] = json_array_get(list, i);
    }
    JqRun *run = jq_run_new(expr->program, NULL);
    jq_run_start(run, json_parse(input, strlen(input), NULL, &err), values);
    assert_int_equal(jq_run_next(run, &out), JQ_OUTPUT);
    jq_run_free(run);
    json_unref(list);
    return out;
}

static void expect_eval(const Expr *expr, const char *input, const char *vars, const char *want) {
    assert_non_null(expr);
    Json got = eval(expr, input, vars);
    expect_json(got, want);
    json_unref(got);
}

/* ---- names, state, config ---- */

static void a_workflow_is_called_after_its_file_unless_named(void **state) {
    (void)state;
    Flow *flow =
        load_files((const File[]){{"some/where/review.yaml", "nodes: [{name: a, jq: .}]"}, {0}});
    assert_string_equal(flow->name, "review");
    assert_string_equal(flow->path, "some/where/review.yaml");
    assert_string_equal(flow->dialect, "graph");
    flow_unref(flow);
    flow = load("name: other\nnodes: [{name: a, jq: .}]");
    assert_string_equal(flow->name, "other");
    flow_unref(flow);
}

static void json_is_read_too(void **state) {
    (void)state;
    Flow *flow = load("{\"nodes\": [\n\t{\"name\": \"a\", \"jq\": \".x\"}\n]}\n");
    assert_int_equal(node(flow, "a")->line, 2);
    assert_int_equal(node(flow, "a")->col, 2);
    flow_unref(flow);
}

static const StateKey *key(const Flow *flow, const char *name) {
    Json k = json_string_c(name);
    const StateKey *found = graph_key(flow->main, k);
    json_unref(k);
    return found;
}

static void state_has_defaults_and_reducers(void **state) {
    (void)state;
    Flow *flow = load("state:\n"
                      "  n: 5\n"
                      "  log: {default: [], reduce: append}\n"
                      "  sum: {reduce: '$old + $new'}\n"
                      "  plain: {default: {default: 1, other: 2}}\n"
                      "  none: null\n"
                      "nodes: [{name: a, jq: .}]\n");
    expect_json(key(flow, "n")->initial, "5");
    assert_int_equal(key(flow, "n")->reduce, REDUCE_REPLACE);
    expect_json(key(flow, "log")->initial, "[]");
    assert_int_equal(key(flow, "log")->reduce, REDUCE_APPEND);
    assert_int_equal(key(flow, "log")->line, 3);
    assert_int_equal(key(flow, "log")->col, 3);
    assert_true(json_is_none(key(flow, "sum")->initial));
    assert_int_equal(key(flow, "sum")->reduce, REDUCE_EXPR);
    expect_eval(key(flow, "sum")->expr, "{}", "[1,2]", "3");
    expect_json(key(flow, "plain")->initial, "{\"default\":1,\"other\":2}");
    expect_json(key(flow, "none")->initial, "null");
    assert_null(key(flow, "absent"));
    flow_unref(flow);
}

static void scalars_are_those_of_the_core_schema(void **state) {
    (void)state;
    Flow *flow = load("state:\n"
                      "  v: [1, -2, +3, 007, 0x1F, 0o17, 1.5, .5, 1e3, true, FALSE, null, ~, '1', "
                      "\"true\", yes, 0x, 1.2.3, 1:20, !!str 5]\n"
                      "  b: |\n    12\n"
                      "nodes: [{name: a, jq: .}]\n");
    expect_json(key(flow, "v")->initial,
                "[1,-2,3,7,31,15,1.5,0.5,1E+3,true,false,null,null,\"1\",\"true\",\"yes\",\"0x\","
                "\"1.2.3\",\"1:20\",\"5\"]");
    expect_json(key(flow, "b")->initial, "\"12\\n\"");
    flow_unref(flow);
}

static void aliases_stand_for_what_they_name(void **state) {
    (void)state;
    Flow *flow = load("state: {a: &x [1, 2], b: *x}\nnodes: [{name: a, jq: .}]\n");
    expect_json(key(flow, "b")->initial, "[1,2]");
    flow_unref(flow);
}

static void config_is_in_the_main_graph(void **state) {
    (void)state;
    Flow *flow =
        load("config: {checkpointer: file, checkpoint_dir: ./c, checkpoint: t@4,\n"
             "  recursion_limit: 25, timeout: 2h, interrupt_before: b, interrupt_after: '*'}\n"
             "nodes: [{name: a, jq: .}, {name: b, jq: .}]\n");
    const Graph *g = flow->main;
    assert_string_equal(g->checkpointer, "file");
    assert_string_equal(g->checkpoint_dir, "./c");
    assert_string_equal(g->checkpoint, "t@4");
    assert_int_equal(g->recursion_limit, 25);
    assert_int_equal(g->timeout_ms, 7200000);
    assert_true(flow->has_interrupts);
    assert_false(node(flow, "a")->interrupt_before);
    assert_true(node(flow, "b")->interrupt_before);
    assert_true(node(flow, "a")->interrupt_after && node(flow, "b")->interrupt_after);
    assert_false(flow_needs_checkpointer(flow, NULL));
    flow_unref(flow);
}

static void a_config_that_says_nothing_leaves_the_defaults(void **state) {
    (void)state;
    Flow *flow = load("config:\nstate:\nnodes: [{name: a, jq: .}]\n");
    assert_int_equal(flow->main->recursion_limit, FLOW_RECURSION_LIMIT);
    assert_int_equal(flow->main->timeout_ms, 0);
    assert_null(flow->main->checkpointer);
    assert_false(flow->has_interrupts);
    flow_unref(flow);
}

/* ---- nodes ---- */

static void a_node_has_what_the_file_says(void **state) {
    (void)state;
    Flow *flow = load("nodes:\n"
                      "  - name: build\n"
                      "    title: Builds it\n"
                      "    shell: make -j2\n"
                      "    env: {TARGET: .target, N: 5}\n"
                      "    cwd: out/\\(.target)\n"
                      "    stdin: {a: [1]}\n"
                      "    parse: json\n"
                      "    output: build\n"
                      "    timeout: 1h30m\n"
                      "    interrupt: [before, after]\n"
                      "    retry: {attempts: 4, delay: 500ms, factor: 1.5, max: 1m, if: .error}\n"
                      "\n"
                      "  # the end\n"
                      "  - {name: b, sleep: 250ms, retry: 2}\n");
    const Node *n = node(flow, "build");
    assert_int_equal(n->kind->id, KIND_SHELL);
    expect_json(n->params[SHELL_COMMAND].value, "\"make -j2\"");
    assert_int_equal(n->params[SHELL_COMMAND].line, 4);
    assert_int_equal(n->params[SHELL_COMMAND].col, 12);
    assert_int_equal(n->params[SHELL_ENV].nfields, 2);
    expect_json(n->params[SHELL_ENV].fields[0].name, "\"TARGET\"");
    expect_eval(n->params[SHELL_ENV].fields[0].expr, "{\"target\":\"x\"}", "[]", "\"x\"");
    expect_eval(n->params[SHELL_ENV].fields[1].expr, "{}", "[]", "5");
    expect_eval(n->params[SHELL_CWD].expr, "{\"target\":\"x\"}", "[]", "\"out/x\"");
    expect_eval(n->params[SHELL_STDIN].expr, "{}", "[]", "{\"a\":[1]}");
    assert_int_equal(n->params[SHELL_PARSE].number, 0);
    assert_int_equal(n->params[SHELL_MAX_OUTPUT].number, 1 << 20);
    expect_json(n->output, "\"build\"");
    assert_int_equal(n->timeout_ms, 5400000);
    assert_true(n->interrupt_before && n->interrupt_after);
    assert_int_equal(n->retry.attempts, 4);
    assert_int_equal(n->retry.delay_ms, 500);
    assert_int_equal(n->retry.max_ms, 60000);
    assert_true(n->retry.factor == 1.5);
    assert_string_equal(n->retry.when->text, ".error");
    assert_int_equal(n->line, 2);
    assert_int_equal(n->col, 5);
    assert_int_equal(n->end_line, 12);
    assert_string_equal(n->file, "f");
    expect_json(json_object_get_c(n->source, "title"), "\"Builds it\"");
    n = node(flow, "b");
    assert_int_equal(n->params[SLEEP_FOR].number, 250);
    assert_int_equal(n->retry.attempts, 2);
    assert_int_equal(n->retry.delay_ms, 1000);
    assert_int_equal(n->retry.max_ms, 30000);
    flow_unref(flow);
}

static void a_node_that_says_little_gets_the_defaults(void **state) {
    (void)state;
    Flow *flow = load("nodes: [{name: a, shell: 'true'}]");
    const Node *n = node(flow, "a");
    assert_true(json_is_none(n->params[SHELL_ENV].value));
    assert_int_equal(n->params[SHELL_PARSE].number, -1);
    assert_true(json_is_none(n->output));
    assert_int_equal(n->timeout_ms, 0);
    assert_int_equal(n->retry.attempts, 1);
    assert_int_equal(n->nvars, 0);
    flow_unref(flow);
}

static void a_kind_can_be_said_in_three_ways(void **state) {
    (void)state;
    Flow *flow = load("nodes:\n"
                      "  - {name: a, approval: 'Go?'}\n"
                      "  - {name: b, approval: {prompt: 'Go?', options: [x, 1]}}\n"
                      "  - {name: c, uses: approval, with: {prompt: 'Go?'}}\n"
                      "  - {name: d, shell: {shell: make, parse: json}}\n"
                      "  - {name: e, run: return 1, language: lua}\n"
                      "  - {name: f, run: ls, language: shell, cwd: /tmp}\n"
                      "  - {name: g, jq: {a: 1}}\n"
                      "  - {name: h, shell: true}\n");
    expect_json(node(flow, "a")->params[APPROVAL_OPTIONS].value, "[]");
    expect_json(node(flow, "b")->params[APPROVAL_OPTIONS].value, "[\"x\",\"1\"]");
    for (const char *name = "abc"; *name; name++) {
        char word[] = {*name, 0};
        expect_eval(node(flow, word)->params[APPROVAL_PROMPT].expr, "{}", "[]", "\"Go?\"");
    }
    expect_json(node(flow, "d")->params[SHELL_COMMAND].value, "\"make\"");
    assert_int_equal(node(flow, "d")->params[SHELL_PARSE].number, 0);
    assert_int_equal(node(flow, "e")->kind->id, KIND_LUA);
    assert_int_equal(node(flow, "f")->kind->id, KIND_SHELL);
    assert_non_null(node(flow, "f")->params[SHELL_CWD].expr);
    expect_eval(node(flow, "g")->params[JQ_EXPR].expr, "{}", "[]", "{\"a\":1}");
    expect_json(node(flow, "h")->params[SHELL_COMMAND].value, "\"true\"");
    flow_unref(flow);
}

static void a_map_has_a_body_that_sees_its_variables(void **state) {
    (void)state;
    Flow *flow = load("nodes:\n"
                      "  - name: m\n"
                      "    map: {over: .files, as: file}\n"
                      "    do:\n"
                      "      map: $file.parts\n"
                      "      do: {jq: '[$file, $item, $index]'}\n");
    const Node *m = node(flow, "m"), *inner = m->params[MAP_DO].node;
    expect_json(m->output, "\"m\"");
    assert_int_equal(m->nvars, 0);
    assert_int_equal(m->params[MAP_LIMIT].number, 16);
    assert_int_equal(inner->index, -1);
    assert_string_equal(inner->name, "m[]");
    assert_true(json_is_none(inner->output));
    assert_int_equal(inner->nvars, 2);
    assert_string_equal(inner->vars[0], "file");
    assert_string_equal(inner->vars[1], "index");
    const Node *innermost = inner->params[MAP_DO].node;
    assert_string_equal(innermost->name, "m[][]");
    assert_int_equal(innermost->nvars, 4);
    assert_string_equal(innermost->vars[2], "item");
    expect_eval(innermost->params[JQ_EXPR].expr, "{}", "[\"f\", 1, \"i\", 2]", "[\"f\",\"i\",2]");
    flow_unref(flow);
}

static Flow *load_inside(const File *files, const FlowAround *around, FlowProblems *problems) {
    FlowReader reader = {.read = serve, .ctx = (void *)(uintptr_t)files};
    return flow_load_inside(files[0].path, &reader, around, problems);
}

static void a_flow_inside_another_sees_the_variables_there(void **state) {
    (void)state;
    char name[] = "x";
    const char *const vars[] = {name, "index"};
    const FlowAround around = {.first = {7, 8}, .vars = vars, .nvars = 2};
    const File files[] = {{"f", "nodes: [{name: a, jq: '{x: $x, index: $index}'}, "
                                "{name: b, workflow: sub, output: b}]"},
                          {"sub", "nodes: [{name: c, jq: '{c: 1}'}]"},
                          {0}};
    FlowProblems problems = {0};
    Flow *flow = load_inside(files, &around, &problems);
    name[0] = 'y';
    assert_non_null(flow);
    assert_int_equal(flow->first_expr, 7);
    assert_int_equal(flow->first_node, 8);
    assert_int_equal(flow->main->nodes[0].nvars, 2);
    assert_string_equal(flow->main->nodes[0].vars[0], "x");
    assert_string_equal(flow->main->nodes[0].vars[1], "index");
    const Graph *sub = flow->main->nodes[1].params[WORKFLOW_FILE].graph;
    assert_int_equal(sub->nodes[0].nvars, 0);
    flow_unref(flow);
    flow_problems_clear(&problems);
}

static void a_flow_inside_maps_is_as_deep_as_they_are(void **state) {
    (void)state;
    const char *vars[2 * FLOW_DEPTH_MAX];
    for (size_t i = 0; i < 2 * FLOW_DEPTH_MAX; i++) vars[i] = i % 2 ? "index" : "x";
    const File files[] = {{"f", "nodes: [{name: a, map: '[1]', do: {jq: $x}}]"}, {0}};
    FlowAround around = {.vars = vars, .nvars = (size_t)2 * (FLOW_DEPTH_MAX - 2)};
    FlowProblems problems = {0};
    expect_problems(load_inside(files, &around, &problems), &problems, "");
    around.nvars += 2;
    expect_problems(
        load_inside(files, &around, &problems), &problems,
        "1:35: Nodes in nodes and workflows in workflows are nested more than 100 levels deep.\n");
}

static void a_loop_has_a_graph_with_the_keys_around_it(void **state) {
    (void)state;
    Flow *flow = load("state: {log: {default: [], reduce: append}}\n"
                      "nodes:\n"
                      "  - name: loop\n"
                      "    while: .n < 3\n"
                      "    body:\n"
                      "      - {name: x, jq: ., goto: [{if: .skip, to: __end__}]}\n"
                      "      - {name: y, jq: .}\n");
    const Node *loop = node(flow, "loop");
    const Graph *body = loop->params[WHILE_DO].graph;
    assert_int_equal(loop->params[WHILE_MAX].number, 100);
    assert_int_equal(body->nnodes, 2);
    assert_int_equal(body->id, 1);
    assert_ptr_equal(flow->graphs[1], body);
    Json log = json_string_c("log");
    assert_int_equal(graph_key(body, log)->reduce, REDUCE_APPEND);
    json_unref(log);
    expect_edges(body, body->start, "x");
    expect_edges(body, body->nodes[0].edges, "END if .skip|y");
    expect_edges(body, body->nodes[1].edges, "END");
    flow_unref(flow);
}

static void templates_are_text_with_expressions_in_it(void **state) {
    (void)state;
    static const struct {
        const char *yaml, *want;
    } cases[] = {
        {"'plain'", "\"plain\""},
        {"'say \"hi\" \\ \\n'", "\"say \\\"hi\\\" \\\\ \\\\n\""},
        {"'a \\(.x) b \\(.y | length)'", "\"a 1 b 2\""},
        {"'\\(\"in \\(.x) ) string\")!'", "\"in 1 ) string!\""},
        {"|\n    \\((.x + 1) * 2 # )\n    )", "\"4\\n\""},
        {"|\n    two\n    lines \\(.x)\n", "\"two\\nlines 1\\n\""},
        {"\"tab\\t\\u0001\\\\(.x)\"", "\"tab\\t\\u00011\""},
        {"5", "\"5\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf text = BUF_INIT;
        buf_printf(&text, "nodes:\n- name: a\n  approval: %s", cases[i].yaml);
        Flow *flow = load(text.data);
        expect_eval(node(flow, "a")->params[APPROVAL_PROMPT].expr, "{\"x\":1,\"y\":[1,2]}", "[]",
                    cases[i].want);
        flow_unref(flow);
        buf_clear(&text);
    }
}

static void an_error_at_run_time_has_its_place_in_the_file(void **state) {
    (void)state;
    Flow *flow = load("nodes:\n"
                      "  - name: a\n"
                      "    jq: |\n"
                      "      .x\n"
                      "        | error(\"no\")\n"
                      "  - {name: b, jq: \"\\\"é\\\" | error\"}\n"
                      "  - name: c\n"
                      "    approval: say \"hi\" \\(error)\n");
    static const struct {
        const char *name;
        int line, col;
    } cases[] = {{"a", 5, 11}, {"b", 6, 28}, {"c", 8, 26}};
    for (size_t i = 0; i < 3; i++) {
        const Expr *expr = node(flow, cases[i].name)->params[0].expr;
        JqRun *run = jq_run_new(expr->program, NULL);
        Json out;
        int line = 0, col = 0;
        jq_run_start(run, json_null(), NULL);
        assert_int_equal(jq_run_next(run, &out), JQ_FAILED);
        expr_place(expr, jq_run_error(run), &line, &col);
        assert_int_equal(line, cases[i].line);
        assert_int_equal(col, cases[i].col);
        jq_run_free(run);
    }
    flow_unref(flow);
}

/* ---- edges ---- */

static void nodes_without_edges_run_in_order(void **state) {
    (void)state;
    Flow *flow = load("nodes: [{name: a, jq: .}, {name: b, jq: .}]");
    expect_edges(flow->main, flow->main->start, "a");
    expect_out(flow, "a", "b");
    expect_out(flow, "b", "END");
    flow_unref(flow);
}

static void goto_comes_before_the_order(void **state) {
    (void)state;
    Flow *flow = load("nodes:\n"
                      "  - {name: a, jq: ., goto: [{if: .x, to: c}]}\n"
                      "  - {name: b, jq: ., goto: [{if: .x, to: a}, {to: c}]}\n"
                      "  - {name: c, jq: ., goto: __end__}\n");
    expect_out(flow, "a", "c if .x|b");
    expect_out(flow, "b", "a if .x|c");
    expect_out(flow, "c", "END");
    flow_unref(flow);
}

static void goto_comes_before_edges(void **state) {
    (void)state;
    Flow *flow = load("nodes: [{name: a, jq: ., goto: {if: .x, to: a}}, {name: b, jq: .}]\n"
                      "edges: [{from: a, to: b}, {from: b, to: __end__}]\n");
    expect_edges(flow->main, flow->main->start, "a");
    expect_out(flow, "a", "a if .x|b");
    flow_unref(flow);
}

static void edges_are_tried_in_order(void **state) {
    (void)state;
    Flow *flow = load("nodes: [{name: a, jq: .}, {name: b, jq: .}, {name: c, jq: .}]\n"
                      "edges:\n"
                      "  - {from: __start__, to: b, when: .fast}\n"
                      "  - {from: __start__, to: a}\n"
                      "  - {from: [a, b], to: c, when: .x}\n"
                      "  - {from: [a, b], to: __end__}\n"
                      "  - {from: a, to: c, on: error, when: .error.kind == \"timeout\"}\n"
                      "  - {from: c, to: __end__}\n");
    expect_edges(flow->main, flow->main->start, "b if .fast|a");
    expect_out(flow, "a", "c if .x|END");
    expect_out(flow, "b", "c if .x|END");
    expect_edges(flow->main, node(flow, "a")->error_edges, "c if .error.kind == \"timeout\"");
    assert_int_equal(node(flow, "a")->edges.items[0].line, 5);
    assert_int_equal(node(flow, "a")->edges.items[0].col, 5);
    flow_unref(flow);
}

#define FIVE                                                                                     \
    "nodes: [{name: a, jq: .}, {name: b, jq: .}, {name: c, jq: .}, {name: d, jq: .}, {name: e, " \
    "jq: .}]\nedges:\n"

static void parallel_branches_join_where_all_ways_meet(void **state) {
    (void)state;
    static const struct {
        const char *edges, *want;
    } cases[] = {
        {"- {from: a, to: [b, c]}\n- {from: [b, c], to: d}\n- {from: d, to: e}\n- {from: e, to: "
         "__end__}\n",
         "b c join d"},
        /* one of the branches may go another way, which meets later */
        {"- {from: a, to: [b, c]}\n- {from: b, to: d, when: .x}\n- {from: [b, c, d], to: e}\n- "
         "{from: e, to: __end__}\n",
         "b c join e"},
        /* or not at all */
        {"- {from: a, to: [b, c]}\n- {from: b, to: __end__, when: .x}\n- {from: [b, c], to: d}\n- "
         "{from: d, to: e}\n- {from: e, to: __end__}\n",
         "b c join END"},
        /* a loop back to where they came from */
        {"- {from: a, to: e, when: .done}\n- {from: a, to: [b, c]}\n- {from: [b, c], to: d}\n- "
         "{from: d, to: a}\n- {from: e, to: __end__}\n",
         "e if .done|b c join d"},
        /* one branch is the join itself */
        {"- {from: a, to: [b, c]}\n- {from: b, to: c}\n- {from: c, to: [d, e]}\n- {from: [d, e], "
         "to: __end__}\n",
         "b c join c"},
        /* the same written edge by edge */
        {"- {from: a, to: b, parallel: true}\n- {from: a, to: c, parallel: true}\n- {from: [b, c], "
         "to: d}\n- {from: d, to: e}\n- {from: e, to: __end__}\n",
         "b c join d"},
        /* what fails goes its own way */
        {"- {from: a, to: [b, c]}\n- {from: [b, c], to: d}\n- {from: b, to: e, on: error}\n- {from: "
         "[d, e], to: __end__}\n",
         "b c join d"},
        /* one branch alone joins after itself */
        {"- {from: a, to: b, parallel: true}\n- {from: b, to: c}\n- {from: c, to: [d, e]}\n- "
         "{from: [d, e], to: __end__}\n",
         "b join c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf text = BUF_INIT;
        buf_printf(&text, FIVE "%s", cases[i].edges);
        Flow *flow = load(text.data);
        expect_out(flow, "a", cases[i].want);
        flow_unref(flow);
        buf_clear(&text);
    }
}

static void fan_in_says_where_branches_join(void **state) {
    (void)state;
    Flow *flow = load(FIVE "- {from: a, to: [b, c], fan_in: e}\n"
                           "- {from: c, to: d}\n"
                           "- {from: e, to: __end__}\n");
    expect_out(flow, "a", "b c join e");
    expect_out(flow, "b", "e");
    expect_out(flow, "c", "d");
    expect_out(flow, "d", "e");
    flow_unref(flow);
}

static void inner_branches_join_before_outer_ones(void **state) {
    (void)state;
    Flow *flow = load("nodes: [{name: a, jq: .}, {name: b, jq: .}, {name: c, jq: .}, {name: d, jq: "
                      ".}, {name: e, jq: .}, {name: j, jq: .}, {name: k, jq: .}]\n"
                      "edges:\n"
                      "- {from: a, to: [b, c], fan_in: k}\n"
                      "- {from: b, to: [d, e], fan_in: j}\n"
                      "- {from: k, to: __end__}\n");
    expect_out(flow, "b", "d e join j");
    expect_out(flow, "d", "j");
    expect_out(flow, "j", "k");
    expect_out(flow, "c", "k");
    flow_unref(flow);
}

static void a_node_can_say_that_branches_join_there(void **state) {
    (void)state;
    Flow *flow =
        load("nodes: [{name: a, jq: .}, {name: b, jq: .}, {name: c, jq: .}, {name: d, jq: "
             ".}, {name: e, jq: ., fan_in: true}]\nedges:\n"
             "- {from: a, to: [b, c]}\n- {from: [b, c], to: d}\n- {from: d, to: e}\n- {from: "
             "e, to: __end__}\n");
    expect_out(flow, "a", "b c join e");
    flow_unref(flow);
}

static void thousands_of_nodes_load_quickly(void **state) {
    (void)state;
    Buf text = BUF_INIT;
    enum { N = 8000 };
    buf_adds(&text, "nodes:\n");
    for (int i = 0; i < N; i++) {
        buf_printf(&text, "- {name: n%d, jq: .}\n", i);
    }
    buf_adds(&text, "edges:\n");
    for (int i = 0; i + 3 < N; i += 3) {
        buf_printf(&text, "- {from: n%d, to: [n%d, n%d]}\n", i, i + 1, i + 2);
        buf_printf(&text, "- {from: [n%d, n%d], to: n%d}\n", i + 1, i + 2, i + 3);
    }
    buf_printf(&text, "- {from: n%d, to: n%d}\n- {from: n%d, to: __end__}\n", N - 2, N - 1, N - 1);
    Flow *flow = load(text.data);
    expect_out(flow, "n0", "n1 n2 join n3");
    expect_out(flow, "n3000", "n3001 n3002 join n3003");
    flow_unref(flow);
    buf_clear(&text);
}

/* ---- workflows in workflows ---- */

static void a_workflow_in_a_workflow_is_a_graph(void **state) {
    (void)state;
    static const File files[] = {
        {"a/main.yaml", "nodes: [{name: x, workflow: ./sub/one.yaml, input: '{n}'},\n"
                        " {name: y, workflow: sub/../sub/one.yaml}]"},
        {"a/sub/one.yaml", "config: {interrupt_after: z, recursion_limit: 7}\n"
                           "nodes: [{name: z, workflow: ../two.yaml}]"},
        {"a/two.yaml", "nodes: [{name: end, jq: .}]"},
        {0},
    };
    Flow *flow = load_files(files);
    const Graph *one = node(flow, "x")->params[WORKFLOW_FILE].graph;
    assert_int_equal(flow->ngraphs, 3);
    assert_ptr_equal(node(flow, "y")->params[WORKFLOW_FILE].graph, one);
    assert_string_equal(one->name, "one");
    assert_string_equal(one->file, "a/sub/one.yaml");
    assert_int_equal(one->recursion_limit, 7);
    assert_true(one->nodes[0].interrupt_after);
    assert_true(flow->has_interrupts);
    assert_string_equal(one->nodes[0].params[WORKFLOW_FILE].graph->name, "two");
    flow_unref(flow);
}

static void a_flow_comes_back_from_its_definition(void **state) {
    (void)state;
    static const File files[] = {
        {"./dir/main.yaml",
         "\xEF\xBB\xBFnodes: [{name: x, workflow: sub.yaml}, {name: y, while: .a, "
         "do: [{name: i, jq: .b}]}]"},
        {"dir/sub.yaml", "nodes: [{name: z, jq: .x}]"},
        {0},
    };
    FlowProblems problems = {0};
    Flow *flow = load_files(files);
    Json definition = flow_definition(flow);
    expect_json(json_object_get_c(definition, "main"), "\"./dir/main.yaml\"");
    Flow *again = flow_load_definition(definition, &problems);
    assert_non_null(again);
    assert_int_equal(again->ngraphs, flow->ngraphs);
    assert_int_equal(again->nexprs, flow->nexprs);
    for (size_t i = 0; i < flow->ngraphs; i++) {
        assert_string_equal(flow->graphs[i]->name, again->graphs[i]->name);
    }
    assert_int_equal(node(flow, "y")->params[WHILE_CONDITION].expr->id,
                     node(again, "y")->params[WHILE_CONDITION].expr->id);
    Json same = flow_definition(again);
    assert_true(json_equal(same, definition));
    json_unref(same);
    json_unref(definition);
    flow_unref(flow);
    flow_unref(again);
    assert_null(flow_load_definition(json_null(), &problems));
    assert_int_equal(problems.errors, 1);
    flow_problems_clear(&problems);
}

static void a_held_flow_stays(void **state) {
    (void)state;
    Flow *flow = load("nodes: [{name: a, jq: .}]");
    assert_ptr_equal(flow_ref(flow), flow);
    flow_unref(flow);
    assert_string_equal(flow->main->nodes[0].name, "a");
    flow_unref(flow);
    flow_unref(NULL);
}

static void files_come_from_the_file_system(void **state) {
    (void)state;
    char path[] = "/tmp/pawl_test_flow_XXXXXX";
    int fd = mkstemp(path);
    static const char text[] = "nodes: [{name: a, jq: .}]\n";
    FlowProblems problems = {0};
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    Flow *flow = flow_load(path, NULL, &problems);
    assert_non_null(flow);
    flow_unref(flow);
    /* 100 MB that take no room: refused by its size. */
    assert_int_equal(ftruncate(fd, 100 << 20), 0);
    assert_null(flow_load(path, NULL, &problems));
    assert_string_equal(problems.items[0].msg,
                        "The file is larger than 16 MB, the limit for a workflow.");
    assert_int_equal(problems.items[0].line, 1);
    flow_problems_clear(&problems);
    close(fd);
    unlink(path);
    assert_null(flow_load(path, NULL, &problems));
    assert_string_equal(problems.items[0].msg,
                        "The file cannot be opened: No such file or directory.");
    assert_int_equal(problems.items[0].line, 0);
    flow_problems_clear(&problems);
}

/* ---- durations ---- */

static void durations_are_as_people_write_them(void **state) {
    (void)state;
    static const struct {
        const char *json;
        int64_t ms;
    } cases[] = {
        {"\"1h30m\"", 5400000},
        {"\"250ms\"", 250},
        {"\"2 days\"", 172800000},
        {"90", 90000},
        {"0.5", 500},
        {"\"90\"", 90000},
        {"\"1.5h\"", 5400000},
        {"\"1 h 30 min\"", 5400000},
        {"0", 0},
        {"\"3 seconds\"", 3000},
        {"\"\"", -1},
        {"\"soon\"", -1},
        {"\"5 parsecs\"", -1},
        {"\"-5s\"", -1},
        {"-5", -1},
        {"\"1h30\"", -1},
        {"null", -1},
        {"[]", -1},
        {"1e300", -1},
        {"\"999999999999999999999d\"", -1},
        {"nan", -1},
        {"\"5S\"", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Json value = json_parse(cases[i].json, strlen(cases[i].json), NULL, NULL);
        int64_t ms = -1;
        assert_int_equal(json_duration(value, &ms), cases[i].ms >= 0);
        assert_int_equal(ms, cases[i].ms);
        json_unref(value);
    }
}

/* ---- drawings and the schema ---- */

static void expect_drawing(const Flow *flow, const char *format, const char *want) {
    Buf out = BUF_INIT;
    assert_true(flow_draw(flow, format, &out));
    assert_string_equal(out.data, want);
    buf_clear(&out);
}

#define DRAWN                                               \
    "name: a \"b\"\n"                                       \
    "nodes: [{name: end, jq: .}, {name: b, approval: x}]\n" \
    "edges:\n"                                              \
    "- {from: end, to: b, when: '.x == \"<y>\"'}\n"         \
    "- {from: end, to: [b, __end__]}\n"                     \
    "- {from: end, to: __end__, on: error}\n"               \
    "- {from: b, to: __end__}\n"

static void drawings_escape_what_they_show(void **state) {
    (void)state;
    Flow *flow = load(DRAWN);
    expect_drawing(flow, "dot",
                   "digraph \"a \\\"b\\\"\" {\n"
                   "  node [shape=box];\n"
                   "  \"__start__\" [shape=circle, label=start];\n"
                   "  \"__end__\" [shape=doublecircle, label=end];\n"
                   "  \"end\" [shape=box, label=\"end\\njq\"];\n"
                   "  \"b\" [shape=diamond, label=\"b\\napproval\"];\n"
                   "  \"__start__\" -> \"end\";\n"
                   "  \"end\" -> \"b\" [label=\".x == \\\"<y>\\\"\"];\n"
                   "  \"end\" -> \"b\" [style=bold];\n"
                   "  \"end\" -> \"__end__\" [style=bold];\n"
                   "  \"end\" -> \"__end__\" [label=\"error\", style=dashed];\n"
                   "  \"b\" -> \"__end__\";\n"
                   "}\n");
    expect_drawing(flow, "mermaid",
                   "flowchart TD\n"
                   "  start((start))\n"
                   "  n0[\"end<br/>jq\"]\n"
                   "  n1{\"b<br/>approval\"}\n"
                   "  finish(((end)))\n"
                   "  start --> n0\n"
                   "  n0 -->|\".x == #34;#60;y#62;#34;\"| n1\n"
                   "  n0 ==> n1\n"
                   "  n0 ==> finish\n"
                   "  n0 -.->|\"error\"| finish\n"
                   "  n1 --> finish\n");
    flow_unref(flow);
}

#define LOOPS                                                        \
    "name: l\n"                                                      \
    "nodes:\n"                                                       \
    "- name: w\n"                                                    \
    "  while: .x\n"                                                  \
    "  do:\n"                                                        \
    "  - {name: w, jq: ., goto: [{if: .y, to: __end__}, {to: m}]}\n" \
    "  - {name: m, map: {over: .a}, do: {map: {over: $item}, do: {shell: x}}}\n"

static void drawings_show_what_is_inside_loops_and_maps(void **state) {
    (void)state;
    Flow *flow = load(LOOPS);
    expect_drawing(flow, "dot",
                   "digraph \"l\" {\n"
                   "  node [shape=box];\n"
                   "  \"__start__\" [shape=circle, label=start];\n"
                   "  \"__end__\" [shape=doublecircle, label=end];\n"
                   "  subgraph cluster_0 {\n"
                   "    label=\"\";\n"
                   "    \"w\" [shape=folder, label=\"w\\nwhile\"];\n"
                   "    \"w/w\" [shape=box, label=\"w\\njq\"];\n"
                   "    subgraph cluster_2 {\n"
                   "      label=\"\";\n"
                   "      \"w/m\" [shape=folder, label=\"m\\nmap\"];\n"
                   "      subgraph cluster_3 {\n"
                   "        label=\"\";\n"
                   "        \"w/m/m[]\" [shape=folder, label=\"m[]\\nmap\"];\n"
                   "        \"w/m/m[]/m[][]\" [shape=box, label=\"m[][]\\nshell\"];\n"
                   "      }\n"
                   "    }\n"
                   "  }\n"
                   "  \"w/m/m[]\" -> \"w/m/m[]/m[][]\" [style=bold];\n"
                   "  \"w/m\" -> \"w/m/m[]\" [style=bold];\n"
                   "  \"w\" -> \"w/w\";\n"
                   "  \"w/w\" -> \"w\" [label=\".y\"];\n"
                   "  \"w/w\" -> \"w/m\";\n"
                   "  \"w/m\" -> \"w\";\n"
                   "  \"__start__\" -> \"w\";\n"
                   "  \"w\" -> \"__end__\";\n"
                   "}\n");
    expect_drawing(flow, "mermaid",
                   "flowchart TD\n"
                   "  start((start))\n"
                   "  subgraph g0 [\" \"]\n"
                   "    n0[[\"w<br/>while\"]]\n"
                   "    n1[\"w<br/>jq\"]\n"
                   "    subgraph g2 [\" \"]\n"
                   "      n2[[\"m<br/>map\"]]\n"
                   "      subgraph g3 [\" \"]\n"
                   "        n3[[\"m[]<br/>map\"]]\n"
                   "        n4[\"m[][]<br/>shell\"]\n"
                   "      end\n"
                   "    end\n"
                   "  end\n"
                   "  finish(((end)))\n"
                   "  n3 ==> n4\n"
                   "  n2 ==> n3\n"
                   "  n0 --> n1\n"
                   "  n1 -->|\".y\"| n0\n"
                   "  n1 --> n2\n"
                   "  n2 --> n0\n"
                   "  start --> n0\n"
                   "  n0 --> finish\n");
    Buf out = BUF_INIT;
    assert_true(flow_draw(flow, "json", &out));
    Json got = json_parse(out.data, out.len, NULL, NULL);
    expect_json(
        got,
        "{\"name\":\"l\",\"dialect\":\"graph\",\"file\":\"f\",\"state\":{},"
        "\"nodes\":[{\"name\":\"w\",\"kind\":\"while\",\"line\":3,\"col\":3,"
        "\"do\":{\"nodes\":[{\"name\":\"w\",\"kind\":\"jq\",\"line\":6,\"col\":5},"
        "{\"name\":\"m\",\"kind\":\"map\",\"line\":7,\"col\":5,"
        "\"do\":{\"name\":\"m[]\",\"kind\":\"map\",\"line\":7,\"col\":36,"
        "\"do\":{\"name\":\"m[][]\",\"kind\":\"shell\",\"line\":7,\"col\":61}}}],"
        "\"edges\":[{\"from\":\"__start__\",\"to\":\"w\"},"
        "{\"from\":\"w\",\"to\":\"__end__\",\"when\":\".y\"},"
        "{\"from\":\"w\",\"to\":\"m\"},{\"from\":\"m\",\"to\":\"__end__\"}]}}],"
        "\"edges\":[{\"from\":\"__start__\",\"to\":\"w\"},{\"from\":\"w\",\"to\":\"__end__\"}]}");
    json_unref(got);
    buf_clear(&out);
    flow_unref(flow);
}

static void interrupts_reach_nodes_inside_loops(void **state) {
    (void)state;
    Flow *flow = load(
        "config: {checkpointer: sqlite, interrupt_before: in, interrupt_after: '*'}\n"
        "nodes:\n"
        "- {name: w, while: .x, do: [{name: in, jq: .}, {name: v, while: .y, do: [{name: in, jq: .}]}]}\n"
        "- {name: m, map: {over: .a}, do: {while: .z, do: [{name: in, jq: .}]}}\n");
    const Graph *w = node(flow, "w")->params[WHILE_DO].graph;
    const Graph *v = w->nodes[1].params[WHILE_DO].graph;
    const Graph *m = node_body(node(flow, "m"))->params[WHILE_DO].graph;
    const Node *in[] = {&w->nodes[0], &v->nodes[0], &m->nodes[0]};
    for (size_t i = 0; i < 3; i++) assert_true(in[i]->interrupt_before && in[i]->interrupt_after);
    assert_false(node(flow, "w")->interrupt_before || w->nodes[1].interrupt_before);
    assert_true(node(flow, "w")->interrupt_after && w->nodes[1].interrupt_after);
    flow_unref(flow);
}

static void a_drawing_as_json_has_places_and_joins(void **state) {
    (void)state;
    Flow *flow = load(DRAWN);
    Buf out = BUF_INIT;
    assert_true(flow_draw(flow, "json", &out));
    Json got = json_parse(out.data, out.len, NULL, NULL);
    expect_json(
        got,
        "{\"name\":\"a \\\"b\\\"\",\"dialect\":\"graph\",\"file\":\"f\",\"state\":{},\"nodes\":["
        "{\"name\":\"end\",\"kind\":\"jq\",\"line\":2,\"col\":9},"
        "{\"name\":\"b\",\"kind\":\"approval\",\"line\":2,\"col\":29}],\"edges\":["
        "{\"from\":\"__start__\",\"to\":\"end\"},"
        "{\"from\":\"end\",\"to\":\"b\",\"when\":\".x == \\\"<y>\\\"\"},"
        "{\"from\":\"end\",\"to\":\"b\",\"parallel\":true,\"join\":\"__end__\"},"
        "{\"from\":\"end\",\"to\":\"__end__\",\"parallel\":true,\"join\":\"__end__\"},"
        "{\"from\":\"end\",\"to\":\"__end__\",\"on\":\"error\"},"
        "{\"from\":\"b\",\"to\":\"__end__\"}]}");
    json_unref(got);
    assert_false(flow_draw(flow, "png", &out));
    buf_clear(&out);
    flow_unref(flow);
}

static Json at(Json j, const char *path) {
    while (*path) {
        size_t len = strcspn(path, "/");
        Json name = json_string(path, len);
        j = json_object_get(j, name);
        json_unref(name);
        path += len + (path[len] == '/');
    }
    return j;
}

static void the_schema_has_every_kind_and_parameter(void **state) {
    (void)state;
    Json schema = flow_schema("graph");
    for (size_t i = 0; i < KIND_COUNT; i++) {
        char path[100];
        if (kinds[i].dialect != DIALECT_GRAPH || kinds[i].hidden) {
            continue;
        }
        snprintf(path, sizeof path, "$defs/node/properties/%s/description", kinds[i].name);
        assert_true(json_string_is(at(schema, path), kinds[i].help));
        for (size_t k = 0; k < kinds[i].nparams; k++) {
            snprintf(path, sizeof path, "$defs/node/properties/%s", kinds[i].params[k].name);
            assert_int_equal(json_kind(at(schema, path)), JSON_OBJECT);
        }
    }
    expect_json(at(schema, "required"), "[\"nodes\"]");
    expect_json(at(schema, "additionalProperties"), "false");
    assert_true(json_is_none(at(schema, "$defs/body/properties/name")));
    assert_true(json_is_none(flow_schema("nothing")));
    json_unref(schema);
}

static void kinds_are_found_by_name(void **state) {
    (void)state;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        assert_int_equal(kinds[i].id, i);
        const Kind *found = kind_find(kinds[i].dialect, kinds[i].name);
        /* that of The Edge Agent is shown as what it is, and taken by its files alone */
        assert_int_equal(found->id, i == KIND_EDGE_AGENT ? KIND_PYTHON : i);
    }
    assert_null(kind_find(DIALECT_GRAPH, "agent"));
    assert_int_equal(kind_find(DIALECT_GRAPH, "sleep")->id, KIND_SLEEP);
    assert_int_equal(kind_find(DIALECT_TASKS, "sleep")->id, KIND_TASK_SLEEP);
}

/* ---- code ---- */

static void expect_code(const Flow *flow, const char *name, KindId kind, const char *want) {
    const Node *n = node(flow, name);
    assert_int_equal(n->kind->id, kind);
    assert_true(json_string_is(n->params[PYTHON_CODE].value, want));
}

static void run_is_a_node_of_its_language(void **state) {
    (void)state;
    Flow *flow = load("nodes:\n"
                      "  - {name: a, run: return 1}\n"
                      "  - {name: b, run: return 2, language: python}\n"
                      "  - {name: c, run: return 3, language: javascript}\n"
                      "  - {name: d, python: return 4, env: {A: .a}, memory: 64M}\n"
                      "  - {name: e, javascript: return 5}\n"
                      "  - {name: f, uses: python, with: {python: return 6}}\n");
    expect_code(flow, "a", KIND_PYTHON, "return 1");
    expect_code(flow, "b", KIND_PYTHON, "return 2");
    expect_code(flow, "c", KIND_JAVASCRIPT, "return 3");
    expect_code(flow, "d", KIND_PYTHON, "return 4");
    expect_code(flow, "e", KIND_JAVASCRIPT, "return 5");
    expect_code(flow, "f", KIND_PYTHON, "return 6");
    assert_int_equal(node(flow, "d")->params[PYTHON_MEMORY].number, 64 << 20);
    assert_int_equal(node(flow, "d")->params[PYTHON_ENV].nfields, 1);
    assert_int_equal(node(flow, "a")->params[PYTHON_MEMORY].number, 1 << 30);
    flow_unref(flow);
}

static void code_may_be_in_a_file(void **state) {
    (void)state;
    static const char *const texts[] = {
        "nodes: [{name: a, python: {file: x.py, function: f}}]",
        "nodes: [{name: a, run: {file: x.py, function: f}}]",
        "nodes: [{name: a, run: {file: x.py}, language: javascript, function: f}]",
        "nodes: [{name: a, uses: javascript, with: {file: x.py, function: f}}]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Flow *flow = load(texts[i]);
        expect_json(node(flow, "a")->params[PYTHON_CODE].value, "(none)");
        expect_json(node(flow, "a")->params[PYTHON_FILE].value, "\"x.py\"");
        expect_json(node(flow, "a")->params[PYTHON_FUNCTION].value, "\"f\"");
        flow_unref(flow);
    }
}

static void defaults_are_of_every_type(void **state) {
    (void)state;
    Flow *flow = load("nodes: [{name: a, action: hello}, {name: h, http: 'http://x/'},\n"
                      "  {name: i, http: {url: 'http://x/', expect: 204, redirects: 0, insecure: "
                      "true}},\n"
                      "  {name: j, http: {url: 'http://x/', expect: [200, 404]}}]\n");
    const Param *action = node(flow, "a")->params, *http = node(flow, "h")->params;
    assert_int_equal(action[ACTION_STREAM].number, 1);
    assert_int_equal(action[ACTION_FORMAT].number, 0);
    assert_int_equal(action[ACTION_MODE].number, -1);
    assert_int_equal(action[ACTION_MAX_TOKENS].number, 4096);
    assert_int_equal(action[ACTION_BACKOFF].number, 1000);
    assert_int_equal(http[HTTP_PARSE].number, 2);
    assert_int_equal(http[HTTP_REDIRECTS].number, 5);
    assert_int_equal(http[HTTP_INSECURE].number, 0);
    expect_json(http[HTTP_EXPECT].value, "(none)");
    expect_json(node(flow, "i")->params[HTTP_EXPECT].value, "[204]");
    assert_int_equal(node(flow, "i")->params[HTTP_REDIRECTS].number, 0);
    assert_int_equal(node(flow, "i")->params[HTTP_INSECURE].number, 1);
    expect_json(node(flow, "j")->params[HTTP_EXPECT].value, "[200,404]");
    flow_unref(flow);
}

static void a_parameter_may_see_more_variables(void **state) {
    (void)state;
    Flow *flow = load("nodes:\n"
                      "  - {name: a, action: hello, confirm: '{said: $response, to: $prompt, n}'}\n"
                      "  - name: m\n"
                      "    map: {over: .l}\n"
                      "    do: {action: hi, confirm: '[$item, $index, $prompt, $response]'}\n");
    expect_eval(node(flow, "a")->params[ACTION_CONFIRM].expr, "{\"n\":1}", "[\"p\",\"r\"]",
                "{\"said\":\"r\",\"to\":\"p\",\"n\":1}");
    expect_eval(node(flow, "m")->params[MAP_DO].node->params[ACTION_CONFIRM].expr, "{}",
                "[5,0,\"p\",\"r\"]", "[5,0,\"p\",\"r\"]");
    flow_unref(flow);
}

static void hidden_kinds_can_be_written(void **state) {
    (void)state;
    Flow *flow = load("nodes: [{name: a, callback: f}, {name: b, uses: callback_later,\n"
                      "  with: {callback_later: g}}]\n");
    assert_int_equal(node(flow, "a")->kind->id, KIND_CALLBACK);
    expect_json(node(flow, "a")->params[CALLBACK_NAME].value, "\"f\"");
    assert_int_equal(node(flow, "b")->kind->id, KIND_CALLBACK_LATER);
    flow_unref(flow);
}

/* ---- YAML as people write it ---- */

static const char as_published[] =
    "config:\n"
    "  checkpoint_dir: ./checkpoints  # File-based\n"
    "  # OR\n"
    "  checkpointer: memory           # In-memory (for testing)\n"
    "  interrupt_before: [approval_node]\n"
    "\n"
    "nodes:\n"
    "  - name: prepare\n"
    "    run: return {\"data\": \"prepared\"}\n"
    "\n"
    "  - name: approval_node\n"
    "    run: return {\"approved\": state.get(\"approved\", False)}\n"
    "\n"
    "  - name: finalize\n"
    "    run: return {\"result\": \"done\"}\n"
    "\n"
    "edges:\n"
    "  - from: __start__\n"
    "    to: prepare\n"
    "  - from: prepare\n"
    "    to: approval_node\n"
    "  - from: approval_node\n"
    "    to: finalize\n"
    "  - from: finalize\n"
    "    to: __end__\n";

static Flow *load_published(void) {
    return load_with(as_published, "4:3: warning: `checkpointer: memory` is not used: there is a "
                                   "`checkpoint_dir`, where files are kept.\n");
}

static void code_with_colons_need_not_be_quoted(void **state) {
    (void)state;
    Flow *flow = load_published();
    expect_code(flow, "prepare", KIND_PYTHON, "return {\"data\": \"prepared\"}");
    expect_code(flow, "approval_node", KIND_PYTHON,
                "return {\"approved\": state.get(\"approved\", False)}");
    expect_code(flow, "finalize", KIND_PYTHON, "return {\"result\": \"done\"}");
    assert_true(node(flow, "approval_node")->interrupt_before);
    assert_int_equal(node(flow, "finalize")->params[0].line, 15);
    assert_int_equal(node(flow, "finalize")->params[0].col, 10);
    expect_out(flow, "finalize", "END");
    flow_unref(flow);
}

static void a_checkpoint_dir_counts_more_than_memory(void **state) {
    (void)state;
    Flow *flow = load_published();
    assert_string_equal(flow->main->checkpoint_dir, "./checkpoints");
    assert_string_equal(flow->main->checkpointer, "file");
    assert_false(flow_needs_checkpointer(flow, NULL));
    flow_unref(flow);
}

static void only_code_in_block_maps_is_mended(void **state) {
    (void)state;
    Flow *flow = load("name: 'run: a: b'\n"
                      "description: |\n"
                      "  run: not: this\n"
                      "state: {x: \"run: a: b\", l: [\n"
                      "  run: 1, jq: 2 ], y: 'it''s',\n"
                      "  text: \"first\n"
                      "  run: c: d\"}\n"
                      "nodes:\n"
                      "- name: a\n"
                      "  shell: >-\n"
                      "    run: one\n"
                      "    jq: x: y\n"
                      "- name: b\n"
                      "  run: return {\"é\": 1, \"b\": 2}   # it is: this\n"
                      "- name: c\n"
                      "  jq: '{a: 1}'\n"
                      "- lua: return {x = \"a: b\"}\n"
                      "  name: d\n"
                      "- name: e\n"
                      "  python: return {\"a\": 1,\n"
                      "    \"b\":2}\n"
                      "- name: f\n"
                      "  run: return {\"it's\": 1}\n");
    assert_string_equal(flow->name, "run: a: b");
    expect_json(key(flow, "x")->initial, "\"run: a: b\"");
    expect_json(key(flow, "l")->initial, "[{\"run\":1},{\"jq\":2}]");
    expect_json(key(flow, "text")->initial, "\"first run: c: d\"");
    expect_json(node(flow, "a")->params[0].value, "\"run: one jq: x: y\"");
    expect_code(flow, "b", KIND_PYTHON, "return {\"é\": 1, \"b\": 2}");
    expect_code(flow, "d", KIND_LUA, "return {x = \"a: b\"}");
    expect_code(flow, "e", KIND_PYTHON, "return {\"a\": 1, \"b\":2}");
    expect_code(flow, "f", KIND_PYTHON, "return {\"it's\": 1}");
    flow_unref(flow);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(a_workflow_is_called_after_its_file_unless_named),
        JSON_TEST(json_is_read_too),
        JSON_TEST(state_has_defaults_and_reducers),
        JSON_TEST(scalars_are_those_of_the_core_schema),
        JSON_TEST(aliases_stand_for_what_they_name),
        JSON_TEST(config_is_in_the_main_graph),
        JSON_TEST(a_config_that_says_nothing_leaves_the_defaults),
        JSON_TEST(a_node_has_what_the_file_says),
        JSON_TEST(a_node_that_says_little_gets_the_defaults),
        JSON_TEST(a_kind_can_be_said_in_three_ways),
        JSON_TEST(a_map_has_a_body_that_sees_its_variables),
        JSON_TEST(a_flow_inside_another_sees_the_variables_there),
        JSON_TEST(a_flow_inside_maps_is_as_deep_as_they_are),
        JSON_TEST(a_loop_has_a_graph_with_the_keys_around_it),
        JSON_TEST(templates_are_text_with_expressions_in_it),
        JSON_TEST(an_error_at_run_time_has_its_place_in_the_file),
        JSON_TEST(nodes_without_edges_run_in_order),
        JSON_TEST(goto_comes_before_the_order),
        JSON_TEST(goto_comes_before_edges),
        JSON_TEST(edges_are_tried_in_order),
        JSON_TEST(parallel_branches_join_where_all_ways_meet),
        JSON_TEST(fan_in_says_where_branches_join),
        JSON_TEST(inner_branches_join_before_outer_ones),
        JSON_TEST(a_node_can_say_that_branches_join_there),
        JSON_TEST(thousands_of_nodes_load_quickly),
        JSON_TEST(a_workflow_in_a_workflow_is_a_graph),
        JSON_TEST(a_flow_comes_back_from_its_definition),
        JSON_TEST(a_held_flow_stays),
        JSON_TEST(files_come_from_the_file_system),
        JSON_TEST(durations_are_as_people_write_them),
        JSON_TEST(drawings_escape_what_they_show),
        JSON_TEST(drawings_show_what_is_inside_loops_and_maps),
        JSON_TEST(interrupts_reach_nodes_inside_loops),
        JSON_TEST(a_drawing_as_json_has_places_and_joins),
        JSON_TEST(the_schema_has_every_kind_and_parameter),
        JSON_TEST(kinds_are_found_by_name),
        JSON_TEST(run_is_a_node_of_its_language),
        JSON_TEST(code_may_be_in_a_file),
        JSON_TEST(defaults_are_of_every_type),
        JSON_TEST(a_parameter_may_see_more_variables),
        JSON_TEST(hidden_kinds_can_be_written),
        JSON_TEST(code_with_colons_need_not_be_quoted),
        JSON_TEST(a_checkpoint_dir_counts_more_than_memory),
        JSON_TEST(only_code_in_block_maps_is_mended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
