/* What a run does to a graph on one path: order, edges, loops, sub-workflows, maps, limits, events. */
#include "engine_host.h"
#include "sweep.h"

#include <inttypes.h>

/* ---- sequences and edges ---- */

static void nodes_without_edges_run_in_list_order(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: a, jq: '{path: [\"a\"]}'}\n"
                        "  - {name: b, jq: '{path: (.path + [\"b\"])}'}\n"
                        "  - {name: c, jq: '{path: (.path + [\"c\"])}'}\n",
                        NULL);
    expect_run(run, "completed", "{\"path\": [\"a\", \"b\", \"c\"]}");
    assert_int_equal(run_step(run), 3);
}

static void edges_lead_not_the_list(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: a, jq: '{path: (.path + [\"a\"])}'}\n"
                        "  - {name: b, jq: '{path: (.path + [\"b\"])}'}\n"
                        "edges:\n"
                        "  - {from: __start__, to: b}\n"
                        "  - {from: b, to: a}\n"
                        "  - {from: a, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"path\": [\"b\", \"a\"]}");
}

#define THREE_WAYS                           \
    "nodes:\n"                               \
    "  - {name: a, jq: '{}'}\n"              \
    "  - {name: x, jq: '{at: \"x\"}'}\n"     \
    "  - {name: y, jq: '{at: \"y\"}'}\n"     \
    "  - {name: z, jq: '{at: \"z\"}'}\n"     \
    "edges:\n"                               \
    "  - {from: __start__, to: a}\n"         \
    "  - {from: a, to: x, when: '.n > 2'}\n" \
    "  - {from: a, to: y, when: '.n > 1'}\n" \
    "  - {from: a, to: z, when: '.n > 0'}\n" \
    "  - {from: x, to: __end__}\n"           \
    "  - {from: y, to: __end__}\n"           \
    "  - {from: z, to: __end__}\n"

static void the_first_edge_that_holds_is_taken(void **state) {
    (void)state;
    expect_run(host_run(THREE_WAYS, "{\"n\": 3}"), "completed", "{\"n\": 3, \"at\": \"x\"}");
    host.settled = 0;
    host.checkpoint = 0;
    Run *run = host_start(THREE_WAYS, "u", "{\"n\": 2}");
    host_go();
    expect_run(run, "completed", "{\"n\": 2, \"at\": \"y\"}");
}

static void no_edge_that_holds_is_an_error_that_names_the_node(void **state) {
    (void)state;
    Run *run = host_run(THREE_WAYS, "{\"n\": 0}");
    expect_failed(run, "edge", "None of the edges from `a` holds");
    assert_string_equal(run_error_text(run, "node"), "a");
    assert_int_equal(run_error_int(run, "line"), 2);
}

static void a_condition_that_fails_names_its_line_and_column(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: a, jq: '{n: \"x\"}'}\n"
                        "  - {name: b, jq: '{}'}\n"
                        "edges:\n"
                        "  - {from: __start__, to: a}\n"
                        "  - {from: a, to: b, when: '.n - 1 > 0'}\n"
                        "  - {from: b, to: __end__}\n",
                        NULL);
    expect_failed(run, "edge", "cannot be subtracted");
    assert_string_equal(run_error_text(run, "file"), "w1.yaml");
    assert_int_equal(run_error_int(run, "line"), 6);
    assert_in_range(run_error_int(run, "column"), 31, 40);
}

static void an_expression_that_fails_names_its_line_and_column(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: a\n"
                        "    jq: |\n"
                        "      {x: 1,\n"
                        "       y: (\"a\" - 1)}\n",
                        NULL);
    expect_failed(run, "jq", "cannot be subtracted");
    assert_int_equal(run_error_int(run, "line"), 5);
    assert_in_range(run_error_int(run, "column"), 8, 20);
}

static void goto_leads_on(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: a, jq: '{p: (.p + \"a\")}', goto: c}\n"
                        "  - {name: b, jq: '{p: (.p + \"b\")}', goto: __end__}\n"
                        "  - name: c\n"
                        "    jq: '{p: (.p + \"c\")}'\n"
                        "    goto: [{if: '.p == \"ac\"', to: b}, {to: __end__}]\n",
                        NULL);
    expect_run(run, "completed", "{\"p\": \"acb\"}");
}

static void defaults_stand_under_the_input(void **state) {
    (void)state;
    Run *run = host_run("state: {a: 1, b: {default: [], reduce: append}, c: {reduce: add}}\n"
                        "nodes:\n"
                        "  - {name: n, jq: '{seen: [.a, .b, .c]}'}\n",
                        "{\"b\": [7]}");
    expect_run(run, "completed", "{\"a\": 1, \"b\": [7], \"seen\": [1, [7], null]}");
}

static void input_that_is_no_object_is_refused(void **state) {
    (void)state;
    Flow *flow = host_flow("nodes: [{name: a, jq: '{}'}]\n");
    RunStart start = {.input = json_int(1)};
    assert_null(engine_start_now(host.engine, flow, &start, &host.err));
    expect_contains(host.err.msg, "is a number");
    start.input = json_array();
    assert_null(engine_start_now(host.engine, flow, &start, &host.err));
    expect_contains(host.err.msg, "is an array");
    json_unref(start.input);
    flow_unref(flow);
}

static void a_result_that_is_no_object_needs_an_output(void **state) {
    (void)state;
    expect_failed(host_run("nodes: [{name: a, jq: '[1]'}]\n", NULL), "result",
                  "say `output: NAME`");
}

static void an_output_takes_any_value(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: a, jq: '[1]', output: x}\n"
                        "  - {name: b, jq: 'null', output: y}\n  - {name: c, jq: 'null'}\n",
                        NULL);
    expect_run(run, "completed", "{\"x\": [1], \"y\": null}");
}

static void a_run_without_a_store_records_nothing_and_completes(void **state) {
    (void)state;
    Flow *flow = host_flow("nodes: [{name: a, jq: '{x: 1}'}]\n");
    Engine *e = engine_new(&(EngineOptions){.loop = &host.loop, .work = exec_work}, &host.err);
    Run *run = engine_start_now(e, flow, &(RunStart){.thread = NULL}, &host.err);
    flow_unref(flow);
    uv_run(&host.loop, UV_RUN_DEFAULT);
    expect_run(run, "completed", "{\"x\": 1}");
    assert_null(engine_resume_now(e, &(RunResume){.thread = "t"}, &host.err));
    expect_contains(host.err.msg, "no store");
    engine_free(e);
}

static void a_run_has_the_folder_and_the_environment_that_it_is_given(void **state) {
    (void)state;
    static const char *const wants[] = {
        "{\"a\": {\"stdout\": \"/usr given unset\", \"exit_code\": 0}}",
        "{\"a\": {\"stdout\": \"/etc given unset\", \"exit_code\": 0}}",
    };
    char word[] = "WORD=given", path[] = "PATH=/usr/bin:/bin", *environment[] = {word, path, NULL};
    Flow *flow =
        host_flow("nodes: [{name: a, shell: 'echo $PWD $WORD ${OURS-unset}', output: a}]\n");
    EngineOptions options = {.loop = &host.loop,
                             .store = host.store,
                             .work = exec_work,
                             .folder = "/usr",
                             .environment = environment};
    Engine *e = engine_new(&options, &host.err);
    setenv("OURS", "ours", 1);
    for (int i = 0; i < 2; i++) {
        RunStart start = {.folder = i ? "/etc" : NULL};
        Run *run = engine_start_now(e, flow, &start, &host.err);
        uv_run(&host.loop, UV_RUN_DEFAULT);
        expect_run(run, "completed", wants[i]);
    }
    unsetenv("OURS");
    flow_unref(flow);
    engine_free(e);
}

/* Appends the thread of each run that settles. */
static void note_settled(void *ctx, const Event *event) {
    if (event->type == EVENT_SETTLED) {
        buf_printf(ctx, "%s ", run_thread(event->run));
    }
}

static void a_run_with_much_to_do_does_not_hold_up_another(void **state) {
    static const char *const threads[] = {"long", "short", "shorter"};
    static const int64_t rounds[] = {20000, 300, 3};
    Run *runs[3];
    Buf order = BUF_INIT;
    EngineOptions options = {
        .loop = &host.loop, .work = exec_work, .on_event = note_settled, .ctx = &order};
    Engine *e = engine_new(&options, &host.err);
    Flow *flow = host_flow("config: {recursion_limit: 100000}\n"
                           "nodes:\n"
                           "  - {name: a, jq: '{n: (.n - 1)}', goto: [{if: '.n > 0', to: a}, "
                           "{to: __end__}]}\n");
    (void)state;
    for (int i = 0; i < 3; i++) {
        Json input = json_object_with(json_object(), "n", json_int(rounds[i]));
        runs[i] =
            engine_start_now(e, flow, &(RunStart){.thread = threads[i], .input = input}, NULL);
        json_unref(input);
    }
    flow_unref(flow);
    uv_run(&host.loop, UV_RUN_DEFAULT);
    for (int i = 0; i < 3; i++) {
        expect_run(runs[i], "completed", "{\"n\": 0}");
    }
    assert_string_equal(order.data, "shorter short long ");
    buf_clear(&order);
    engine_free(e);
}

static void without_a_store_there_is_nothing_to_fork_or_change(void **state) {
    (void)state;
    RunRow row = {0};
    int64_t seq;
    Engine *e = engine_new(&(EngineOptions){.loop = &host.loop, .work = exec_work}, &host.err);
    assert_false(engine_update_now(e, &(RunUpdate){.thread = "t"}, &seq, &host.err));
    assert_false(engine_cancel_now(e, "t", &(Run *){NULL}, &host.err));
    assert_false(engine_fork_now(e, "t", 0, "u", &row, &host.err));
    expect_contains(host.err.msg, "no store");
    engine_free(e);
}

/* ---- loops ---- */

static void a_cycle_runs_until_its_edge_lets_it_out(void **state) {
    (void)state;
    Run *run = host_run("state: {n: 0}\n"
                        "nodes:\n"
                        "  - {name: a, jq: '{n: (.n + 1)}'}\n"
                        "  - {name: b, jq: '{}'}\n"
                        "edges:\n"
                        "  - {from: __start__, to: a}\n"
                        "  - {from: a, to: b}\n"
                        "  - {from: b, to: a, when: '.n < 400'}\n"
                        "  - {from: b, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"n\": 400}");
}

static void a_cycle_without_a_way_out_is_stopped_and_its_nodes_named(void **state) {
    (void)state;
    Run *run = host_run("config: {recursion_limit: 50}\n"
                        "nodes:\n"
                        "  - {name: first, jq: '{n: 0}'}\n"
                        "  - {name: ping, jq: '{n: (.n + 1)}'}\n"
                        "  - {name: pong, jq: '{}', goto: ping}\n",
                        NULL);
    expect_failed(run, "recursion", "More than 50 steps (recursion_limit)");
    expect_contains(run_error_text(run, "message"), "`ping`");
    expect_contains(run_error_text(run, "message"), "`pong`");
    assert_null(strstr(run_error_text(run, "message"), "`first`"));
    assert_int_equal(run_step(run), 50);
}

static void exactly_the_recursion_limit_is_allowed(void **state) {
    (void)state;
    Run *run = host_run("config: {recursion_limit: 3}\n"
                        "nodes: [{name: a, jq: '{}'}, {name: b, jq: '{}'}, {name: c, jq: '{}'}]\n",
                        NULL);
    expect_run(run, "completed", "{}");
}

static void a_loop_whose_condition_is_false_at_first_does_nothing(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: l, while: '.n > 0', do: [{name: a, jq: '{ran: true}'}]}\n"
                        "  - {name: z, jq: '{after: true}'}\n",
                        "{\"n\": 0}");
    expect_run(run, "completed", "{\"n\": 0, \"after\": true}");
}

#define COUNT_TO(n, max)                       \
    "nodes:\n"                                 \
    "  - name: l\n"                            \
    "    while: '.n < " n "'\n"                \
    "    max_iterations: " max "\n"            \
    "    do:\n"                                \
    "      - {name: a, jq: '{n: (.n + 1)}'}\n" \
    "      - {name: b, jq: '{log: (.log + [.n])}'}\n"

static void a_loop_runs_while_its_condition_holds(void **state) {
    (void)state;
    expect_run(host_run(COUNT_TO("3", "3"), "{\"n\": 0}"), "completed",
               "{\"n\": 3, \"log\": [1, 2, 3]}");
}

static void a_loop_that_would_go_on_after_max_iterations_fails(void **state) {
    (void)state;
    Run *run = host_run(COUNT_TO("4", "3"), "{\"n\": 0}");
    expect_failed(run, "recursion", "still holds after 3 rounds");
    assert_string_equal(run_error_text(run, "node"), "l");
}

static void a_loop_may_stop_at_max_iterations(void **state) {
    (void)state;
    Run *run = host_run(COUNT_TO("4", "3\n    at_limit: stop"), "{\"n\": 0}");
    expect_run(run, "completed", "{\"n\": 3, \"log\": [1, 2, 3]}");
}

static void an_error_edge_takes_a_loop_that_does_not_end(void **state) {
    (void)state;
    Run *run = host_run(
        "nodes:\n"
        "  - {name: l, while: 'true', max_iterations: 2, do: [{name: a, jq: '{n: (.n + 1)}'}]}\n"
        "  - {name: z, jq: '{kind: .error.kind}'}\n"
        "edges:\n  - {from: l, to: __end__}\n  - {from: l, to: z, on: error}\n"
        "  - {from: z, to: __end__}\n",
        NULL);
    assert_string_equal(run_status(run), "completed");
    expect_json(json_object_get_c(run_state(run), "kind"), "\"recursion\"");
    expect_json(json_object_get_c(run_state(run), "n"), "2");
}

static void a_loop_that_failed_has_all_its_rounds_again(void **state) {
    (void)state;
    Run *run = host_start(COUNT_TO("5", "3"), "t", "{\"n\": 0}");
    host_settle(run);
    assert_string_equal(run_status(run), "failed");
    host_fresh();
    run = engine_resume_now(host.engine, &(RunResume){.thread = "t"}, &host.err);
    assert_non_null(run);
    host_settle(run);
    expect_run(run, "completed", "{\"n\": 5, \"log\": [1, 2, 3, 4, 5]}");
}

static void a_loop_in_a_map_gives_what_its_nodes_have_written(void **state) {
    (void)state;
    Run *run = host_run("state: {log: {default: [], reduce: append}}\n"
                        "nodes:\n"
                        "  - name: m\n"
                        "    map: {over: '[1, 2, 0]', as: x}\n"
                        "    do:\n"
                        "      while: '(.n // 0) < $x'\n"
                        "      do:\n"
                        "        - {name: a, jq: '{n: (.n + 1)}'}\n"
                        "        - {name: b, jq: '{log: [.n]}'}\n",
                        NULL);
    expect_run(run, "completed",
               "{\"log\": [], \"m\": [{\"n\": 1, \"log\": [1]}, {\"n\": 2, \"log\": [1, 2]}, {}]}");
}

static void loops_nest_and_count_anew_each_time(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: outer\n"
                        "    while: '.i < 3'\n"
                        "    max_iterations: 3\n"
                        "    do:\n"
                        "      - {name: a, jq: '{i: (.i + 1), j: 0}'}\n"
                        "      - name: inner\n"
                        "        while: '.j < 4'\n"
                        "        max_iterations: 4\n"
                        "        do: [{name: b, jq: '{j: (.j + 1), n: (.n + 1)}'}]\n",
                        "{\"i\": 0}");
    expect_run(run, "completed", "{\"i\": 3, \"j\": 4, \"n\": 12}");
}

static void the_rounds_of_a_loop_come_on_top_of_the_recursion_limit(void **state) {
    (void)state;
    Run *run =
        host_run("config: {recursion_limit: 3}\n"
                 "nodes:\n"
                 "  - name: l\n"
                 "    while: '.i < 50'\n"
                 "    max_iterations: 50\n"
                 "    do:\n"
                 "      - {name: a, jq: '{i: (.i + 1), j: 0}'}\n"
                 "      - name: inner\n"
                 "        while: '.j < 7'\n"
                 "        max_iterations: 7\n"
                 "        do: [{name: b, jq: '{j: (.j + 1), n: (.n + 1)}'}, {name: c, jq: '{}'}]\n"
                 "  - {name: z, jq: '{after: true}'}\n",
                 "{\"i\": 0}");
    expect_run(run, "completed", "{\"i\": 50, \"j\": 7, \"n\": 350, \"after\": true}");
}

static void a_cycle_with_a_loop_in_it_ends_at_the_recursion_limit(void **state) {
    (void)state;
    Run *run =
        host_run("config: {recursion_limit: 20}\n"
                 "nodes:\n"
                 "  - {name: l, while: '.n % 3 != 0', do: [{name: a, jq: '{n: (.n + 1)}'}]}\n"
                 "  - {name: b, jq: '{n: (.n + 1)}'}\n"
                 "edges:\n  - {from: l, to: b}\n  - {from: b, to: l}\n",
                 "{\"n\": 0}");
    expect_failed(run, "recursion", "recursion_limit");
}

static void a_loop_with_a_command_in_it_runs_it_each_round(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: l\n"
                        "    while: '.n < 3'\n"
                        "    do:\n"
                        "      - {name: a, shell: echo x >> ran}\n"
                        "      - {name: b, jq: '{n: (.n + 1)}'}\n",
                        "{\"n\": 0}");
    expect_run(run, "completed", "{\"n\": 3, \"stdout\": \"\", \"exit_code\": 0}");
    assert_int_equal(lines_of("ran"), 3);
}

static void a_loop_whose_condition_fails_fails(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: l, while: '.n - 1', do: [{name: a, jq: '{}'}]}\n",
                        "{\"n\": \"x\"}");
    expect_failed(run, "jq", "cannot be subtracted");
    assert_string_equal(run_error_text(run, "node"), "l");
    assert_int_equal(run_error_int(run, "line"), 2);
}

/* ---- sub-workflows ---- */

#define SUB               \
    "state: {base: 10}\n" \
    "nodes:\n"            \
    "  - {name: s, jq: '{sum: (.base + .x)}'}\n"

static void a_sub_workflow_gets_the_state_and_gives_back_what_it_changed(void **state) {
    (void)state;
    host_file("sub.yaml", SUB);
    Run *run = host_run("nodes: [{name: w, workflow: sub.yaml}]\n", "{\"x\": 1, \"other\": true}");
    expect_run(run, "completed", "{\"x\": 1, \"other\": true, \"sum\": 11}");
}

static void the_input_of_a_sub_workflow_is_all_it_sees(void **state) {
    (void)state;
    host_file("sub.yaml", "nodes: [{name: s, jq: '{seen: .}'}]\n");
    Run *run = host_run("nodes: [{name: w, workflow: sub.yaml, input: '{y: .x}', output: r}]\n",
                        "{\"x\": 1}");
    expect_run(run, "completed", "{\"x\": 1, \"r\": {\"seen\": {\"y\": 1}}}");
}

static void input_of_a_sub_workflow_that_is_no_object_is_an_error(void **state) {
    (void)state;
    host_file("sub.yaml", SUB);
    Run *run = host_run("nodes: [{name: w, workflow: sub.yaml, input: '[1]'}]\n", NULL);
    expect_failed(run, "input", "is an array");
}

static void sub_workflows_nest_three_deep(void **state) {
    (void)state;
    host_file("one.yaml",
              "nodes: [{name: n1, workflow: two.yaml}, {name: m1, jq: '{p: (.p + 1)}'}]\n");
    host_file("two.yaml", "nodes: [{name: n2, workflow: three.yaml, output: deep}]\n");
    host_file("three.yaml", "nodes: [{name: n3, jq: '{q: (.p * 100)}'}]\n");
    Run *run = host_run("nodes: [{name: n0, workflow: one.yaml}]\n", "{\"p\": 2}");
    expect_run(run, "completed", "{\"p\": 3, \"deep\": {\"q\": 200}}");
    assert_int_equal(run_step(run), 5);
}

static void the_recursion_limit_of_a_sub_workflow_is_its_own(void **state) {
    (void)state;
    host_file("sub.yaml", "config: {recursion_limit: 5}\nnodes: [{name: s, jq: '{}', goto: s}]\n");
    Run *run = host_run("nodes: [{name: w, workflow: sub.yaml}]\n", NULL);
    expect_failed(run, "recursion", "More than 5 steps");
    assert_string_equal(run_error_text(run, "node"), "s");
    assert_string_equal(run_error_text(run, "file"), "sub.yaml");
}

/* ---- maps ---- */

static void a_map_gives_its_results_in_order(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: m\n"
                        "    map: {over: .xs, as: x, limit: 2}\n"
                        "    do: {jq: '{v: ($x * $x), at: $index, base: .base}'}\n",
                        "{\"xs\": [3, 1, 2], \"base\": 7}");
    expect_run(run, "completed",
               "{\"xs\": [3, 1, 2], \"base\": 7, \"m\": [{\"v\": 9, \"at\": 0, \"base\": 7},"
               "{\"v\": 1, \"at\": 1, \"base\": 7}, {\"v\": 4, \"at\": 2, \"base\": 7}]}");
}

static void results_of_a_map_are_in_order_whenever_they_come(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: m\n"
                        "    map: {over: '[0.3, 0, 0.1]', as: s, limit: 3}\n"
                        "    do: {shell: 'sleep $S; echo $S', env: {S: $s}}\n"
                        "  - {name: r, jq: '{r: [.m[].stdout]}'}\n"
                        "  - {name: d, jq: '{m: 0}'}\n",
                        NULL);
    expect_run(run, "completed", "{\"m\": 0, \"r\": [\"0.3\", \"0\", \"0.1\"]}");
}

static size_t most_frames;

static void count_frames(Host *h, const Event *e) {
    (void)h;
    Json frames = run_frames(e->run, 100000);
    size_t n = json_array_len(frames);
    most_frames = n > most_frames ? n : most_frames;
    json_unref(frames);
}

static void the_limit_of_a_map_bounds_its_frames(void **state) {
    (void)state;
    most_frames = 0;
    host.on_event = count_frames;
    Run *run = host_run("nodes:\n"
                        "  - name: m\n"
                        "    map: {over: '[range(20)]', limit: 3}\n"
                        "    do: {shell: 'true'}\n"
                        "  - {name: n, jq: '{m: (.m | length)}'}\n",
                        NULL);
    expect_run(run, "completed", "{\"m\": 20}");
    assert_int_equal(most_frames, 4);
}

static void a_map_over_nothing_gives_nothing(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: m, map: {over: '[]'}, do: {jq: '1'}, output: out}\n",
                        NULL);
    expect_run(run, "completed", "{\"out\": []}");
}

static void a_map_over_what_is_no_array_is_an_error(void **state) {
    (void)state;
    Run *run = host_run("nodes: [{name: m, map: {over: .o}, do: {jq: '1'}}]\n", "{\"o\": {}}");
    expect_failed(run, "map", "`over` is to give an array; it gives an object.");
}

static void a_map_in_a_map_sees_the_variables_of_both(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: m\n"
                        "    map: {over: '[1, 2]', as: x}\n"
                        "    do:\n"
                        "      map: {over: '[10, 20 * $x]', as: y}\n"
                        "      do: {jq: '[$x, $y, $index]'}\n",
                        NULL);
    expect_run(run, "completed", "{\"m\": [[[1, 10, 0], [1, 20, 1]], [[2, 10, 0], [2, 40, 1]]]}");
}

static void maps_nest_as_deep_as_a_file_can_say(void **state) {
    (void)state;
    Buf yaml = BUF_INIT;
    buf_adds(&yaml, "nodes:\n  - name: m\n    map: {over: '[1]', as: v0}\n    do:\n");
    for (int i = 1; i < 40; i++) {
        buf_printf(&yaml, "%*smap: {over: '[$v%d + 1]', as: v%d}\n%*sdo:\n", 4 + i * 2, "", i - 1,
                   i, 4 + i * 2, "");
    }
    buf_printf(&yaml, "%*sjq: '$v0 + $v39'\n", 4 + 40 * 2, "");
    buf_adds(&yaml, "  - {name: f, jq: '{m: (.m | flatten)}'}\n");
    FlowProblems problems = {0};
    Flow *flow = flow_load(host_file("deep.yaml", yaml.data), NULL, &problems);
    flow_problems_clear(&problems);
    buf_clear(&yaml);
    if (!flow) return; /* refusing them at load is as good */
    Run *run = engine_start_now(host.engine, flow, &(RunStart){.thread = "t"}, &host.err);
    flow_unref(flow);
    host_go();
    expect_run(run, "completed", "{\"m\": [41]}");
}

static void a_map_over_100000_elements_has_few_frames(void **state) {
    (void)state;
    int64_t n = sweep_of(100000, 10000);
    char yaml[512], want[128];
    snprintf(yaml, sizeof yaml,
             "nodes:\n"
             "  - {name: m, map: {over: '[range(%" PRId64
             ")]', as: x, limit: 4}, do: {jq: '$x * 2'}}\n"
             "  - {name: n, jq: '{m: (.m | [length, .[0], .[-1], add])}'}\n",
             n);
    snprintf(want, sizeof want, "{\"m\": [%" PRId64 ", 0, %" PRId64 ", %" PRId64 "]}", n,
             2 * (n - 1), n * (n - 1));
    most_frames = 0;
    host.on_event = count_frames;
    expect_run(host_run(yaml, NULL), "completed", want);
    assert_in_range(most_frames, 2, 5);
}

static bool add_bytes(void *ctx, const Checkpoint *c) {
    *(size_t *)ctx += c->patch_len + c->snapshot_len;
    return true;
}

/* About 1 MB of state, of which branches and elements change little. */
static void branches_and_elements_do_not_store_the_state_again(void **state) {
    (void)state;
    size_t bytes = 0;
    Run *run =
        host_run("nodes:\n"
                 "  - {name: big, jq: '{big: [range(50000) | \"text \\(.)\"]}'}\n"
                 "  - {name: m, map: {over: '[range(50)]', as: x, limit: 20}, do: {jq: $x}}\n"
                 "  - {name: a, jq: '{a: 1}'}\n  - {name: a2, jq: '{a: 2}'}\n"
                 "  - {name: b, jq: '{b: 1}'}\n  - {name: b2, jq: '{b: 2}'}\n"
                 "  - {name: l, while: '(.n // 0) < 5', do: [{name: i, jq: '{n: (.n + 1)}'}]}\n"
                 "edges:\n  - {from: big, to: m}\n  - {from: m, to: [a, b, l], fan_in: __end__}\n"
                 "  - {from: a, to: a2}\n  - {from: b, to: b2}\n  - {from: a2, to: __end__}\n"
                 "  - {from: b2, to: __end__}\n  - {from: l, to: __end__}\n",
                 NULL);
    expect_run(run, "completed", NULL);
    assert_true(store_history(host.store, run_number(run), 1, add_bytes, NULL, &bytes, &host.err));
    assert_in_range(bytes, 500000, 2500000);
}

static void loops_and_sub_workflows_do_not_store_the_state_again(void **state) {
    (void)state;
    size_t bytes = 0;
    host_file("sub.yaml", "nodes: [{name: s, jq: '{s: 1}'}]\n");
    Run *run = host_run("nodes:\n"
                        "  - {name: big, jq: '{big: [range(50000) | \"text \\(.)\"]}'}\n"
                        "  - {name: l, while: '(.n // 0) < 5', do: [{name: w, workflow: sub.yaml,"
                        " input: '{}'}, {name: i, jq: '{n: (.n + 1)}'}]}\n",
                        NULL);
    expect_run(run, "completed", NULL);
    assert_true(store_history(host.store, run_number(run), 1, add_bytes, NULL, &bytes, &host.err));
    assert_in_range(bytes, 500000, 1500000);
}

static void a_map_of_a_sub_workflow_gives_what_each_changed(void **state) {
    (void)state;
    host_file("sub.yaml", SUB);
    Run *run = host_run("nodes:\n"
                        "  - name: m\n"
                        "    map: {over: '[1, 2, 3]', as: v, limit: 2}\n"
                        "    do: {workflow: sub.yaml, input: '{x: $v}'}\n",
                        NULL);
    expect_run(run, "completed", "{\"m\": [{\"sum\": 11}, {\"sum\": 12}, {\"sum\": 13}]}");
}

static void variables_of_a_map_do_not_leak_into_a_sub_workflow(void **state) {
    (void)state;
    host_file("sub.yaml", "nodes:\n"
                          "  - {name: i, map: {over: .ys, as: y}, do: {jq: '[$y, $index]'}}\n");
    Run *run = host_run("nodes:\n"
                        "  - name: m\n"
                        "    map: {over: '[5, 6]', as: x}\n"
                        "    do: {workflow: sub.yaml, input: '{ys: [$x, $x + 10]}'}\n",
                        NULL);
    expect_run(run, "completed",
               "{\"m\": [{\"i\": [[5, 0], [15, 1]]}, {\"i\": [[6, 0], [16, 1]]}]}");
}

static void elements_of_a_map_do_not_write_the_state(void **state) {
    (void)state;
    Run *run = host_run("nodes: [{name: m, map: {over: '[1, 2]'}, do: {jq: '{x: $item}'}}]\n",
                        "{\"x\": 0}");
    expect_run(run, "completed", "{\"x\": 0, \"m\": [{\"x\": 1}, {\"x\": 2}]}");
}

/* ---- limits ---- */

static void a_result_that_is_too_large_is_an_error(void **state) {
    (void)state;
    Run *run =
        host_run("nodes: [{name: a, jq: '{x: (reduce range(60) as $i (1; [., .]))}'}]\n", NULL);
    expect_failed(run, "limit", "The result is too large");
    expect_run(run, "failed", "{}");
}

static void a_state_that_grows_too_large_is_an_error(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: a, jq: '{x: [.x, .x]}', goto: a}\n",
                        "{\"x\": [1, 2, 3]}");
    expect_failed(run, "limit", "too large");
}

static void the_limit_of_a_state_can_be_set(void **state) {
    (void)state;
    host_down();
    host.max_state = 1 << 20;
    host_up();
    Run *run = host_run("state: {log: {default: [], reduce: append}}\n"
                        "nodes:\n"
                        "  - {name: a, jq: '{log: [\"x\" * 5000]}', goto: a}\n",
                        NULL);
    expect_failed(run, "limit", "The state is too large: about 1 MB");
}

/* ---- events ---- */

static void events_come_in_order_with_their_checkpoints(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, jq: '{x: 1}'}\n  - {name: b, shell: 'echo hi'}\n"
             "  - {name: c, jq: '{x: 2}'}\n",
             NULL);
    assert_string_equal(host_log(), "start\nstep started\nnode a\nstep a completed\nnode b\nlog b\n"
                                    "step b completed\nnode c\nstep c completed\n"
                                    "settled completed\n");
}

static int64_t seen_steps;
static Store *second;

static void read_checkpoint(Host *h, const Event *e) {
    Checkpoint c;
    if (e->type != EVENT_STEP && e->type != EVENT_INTERRUPT) return;
    seen_steps++;
    if (!store_checkpoint(second, run_number(e->run), e->checkpoint, &c, &h->err))
        fail_msg("%s", h->err.msg);
    assert_string_equal(c.node, e->node);
    if (e->type == EVENT_STEP) assert_string_equal(c.status, e->status);
    assert_int_equal(c.step, e->step);
    assert_int_equal(c.frame, e->frame);
}

static void what_is_told_can_be_read_by_others(void **state) {
    (void)state;
    seen_steps = 0;
    second = store_open(host.url, STORE_READ, &host.err);
    assert_non_null(second);
    host.on_event = read_checkpoint;
    host_run("nodes:\n  - {name: a, jq: '{x: 1}'}\n  - {name: b, shell: 'true'}\n"
             "  - {name: c, jq: '{x: 2}'}\n  - {name: d, approval: {prompt: ok}}\n",
             NULL);
    store_close(second);
    assert_int_equal(seen_steps, 6);
}

static void note_update(Host *h, const Event *e) {
    (void)h;
    if (e->type != EVENT_STEP || strcmp(e->node, "b")) return;
    expect_json(e->update, "{\"y\": 2}");
    expect_json(e->state, "{\"x\": 1, \"y\": 2}");
    seen_steps++;
}

static void steps_carry_what_the_node_gave_and_the_state_after_it(void **state) {
    (void)state;
    seen_steps = 0;
    host.on_event = note_update;
    host_run("nodes:\n  - {name: a, jq: '{x: 1}'}\n  - {name: b, jq: '{y: 2}'}\n"
             "  - {name: c, jq: '{x: 3}'}\n",
             NULL);
    assert_int_equal(seen_steps, 1);
}

static void let_go_when_heard(Host *h, const Event *e) {
    (void)h;
    if (e->type == EVENT_LOG) host_file("heard", "");
}

static void output_of_a_command_is_told_while_it_runs(void **state) {
    (void)state;
    host.on_event = let_go_when_heard;
    Run *run = host_run(
        "nodes: [{name: a, shell: 'echo hi; until [ -e heard ]; do sleep 0.02; done'}]\n", NULL);
    expect_run(run, "completed", NULL);
}

static void free_when_settled(Host *h, const Event *e) {
    (void)h;
    if (e->type == EVENT_SETTLED) run_free(e->run);
}

static void a_run_may_be_freed_when_it_says_that_it_has_settled(void **state) {
    (void)state;
    host.on_event = free_when_settled;
    host_start("nodes: [{name: a, jq: '{}'}, {name: b, shell: 'true'}]\n", "t", NULL);
    host_go();
    assert_int_equal(host.settled, 1);
}

static void a_thousand_pure_steps_are_told_in_order(void **state) {
    (void)state;
    Run *run = host_run("config: {recursion_limit: 5000}\nstate: {n: 0}\n"
                        "nodes: [{name: a, jq: '{n: (.n + 1)}'}]\n"
                        "edges:\n  - {from: __start__, to: a}\n"
                        "  - {from: a, to: a, when: '.n < 3000'}\n  - {from: a, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"n\": 3000}");
    assert_int_equal(count_of(host_log(), "step a completed"), 3000);
    expect_sound_store();
}

static void several_runs_share_an_engine(void **state) {
    (void)state;
    Flow *flow = host_flow("nodes: [{name: a, shell: 'true'}, {name: b, jq: '{y: .x}'}]\n");
    Engine *e = engine_new(
        &(EngineOptions){.loop = &host.loop, .store = host.store, .work = exec_work}, &host.err);
    Run *runs[10];
    for (int i = 0; i < 10; i++) {
        Json input = json_object_set(json_object(), json_string_c("x"), json_int(i));
        runs[i] = engine_start_now(e, flow, &(RunStart){.input = input}, &host.err);
        assert_non_null(runs[i]);
        json_unref(input);
    }
    flow_unref(flow);
    host_go();
    for (int i = 0; i < 10; i++) {
        expect_run(runs[i], "completed", NULL);
        assert_int_equal(json_object_get_c(run_state(runs[i]), "y").i, i);
    }
    engine_free(e);
}

static void a_thread_that_is_there_is_not_started_again(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{}'}]\n", NULL);
    Flow *flow = host_flow("nodes: [{name: a, jq: '{}'}]\n");
    assert_null(engine_start_now(host.engine, flow, &(RunStart){.thread = "t"}, &host.err));
    expect_contains(host.err.msg, "`t`");
    flow_unref(flow);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nodes_without_edges_run_in_list_order),
        TEST(edges_lead_not_the_list),
        TEST(the_first_edge_that_holds_is_taken),
        TEST(no_edge_that_holds_is_an_error_that_names_the_node),
        TEST(a_condition_that_fails_names_its_line_and_column),
        TEST(an_expression_that_fails_names_its_line_and_column),
        TEST(goto_leads_on),
        TEST(defaults_stand_under_the_input),
        TEST(input_that_is_no_object_is_refused),
        TEST(a_result_that_is_no_object_needs_an_output),
        TEST(an_output_takes_any_value),
        TEST(a_run_without_a_store_records_nothing_and_completes),
        TEST(a_run_has_the_folder_and_the_environment_that_it_is_given),
        TEST(a_run_with_much_to_do_does_not_hold_up_another),
        TEST(without_a_store_there_is_nothing_to_fork_or_change),
        TEST(a_cycle_runs_until_its_edge_lets_it_out),
        TEST(a_cycle_without_a_way_out_is_stopped_and_its_nodes_named),
        TEST(exactly_the_recursion_limit_is_allowed),
        TEST(a_loop_whose_condition_is_false_at_first_does_nothing),
        TEST(a_loop_runs_while_its_condition_holds),
        TEST(a_loop_that_would_go_on_after_max_iterations_fails),
        TEST(a_loop_may_stop_at_max_iterations),
        TEST(an_error_edge_takes_a_loop_that_does_not_end),
        TEST_LASTING(a_loop_that_failed_has_all_its_rounds_again),
        TEST_ALL(a_loop_in_a_map_gives_what_its_nodes_have_written),
        TEST(loops_nest_and_count_anew_each_time),
        TEST(the_rounds_of_a_loop_come_on_top_of_the_recursion_limit),
        TEST(a_cycle_with_a_loop_in_it_ends_at_the_recursion_limit),
        TEST_ALL(a_loop_with_a_command_in_it_runs_it_each_round),
        TEST(a_loop_whose_condition_fails_fails),
        TEST(a_sub_workflow_gets_the_state_and_gives_back_what_it_changed),
        TEST(the_input_of_a_sub_workflow_is_all_it_sees),
        TEST(input_of_a_sub_workflow_that_is_no_object_is_an_error),
        TEST(sub_workflows_nest_three_deep),
        TEST(the_recursion_limit_of_a_sub_workflow_is_its_own),
        TEST(a_map_gives_its_results_in_order),
        TEST(results_of_a_map_are_in_order_whenever_they_come),
        TEST_ALL(the_limit_of_a_map_bounds_its_frames),
        TEST(a_map_over_nothing_gives_nothing),
        TEST(a_map_over_what_is_no_array_is_an_error),
        TEST(a_map_in_a_map_sees_the_variables_of_both),
        TEST(maps_nest_as_deep_as_a_file_can_say),
        ON(a_map_over_100000_elements_has_few_frames, "sqlite"),
        TEST_ALL(branches_and_elements_do_not_store_the_state_again),
        TEST_ALL(loops_and_sub_workflows_do_not_store_the_state_again),
        TEST(a_map_of_a_sub_workflow_gives_what_each_changed),
        TEST(variables_of_a_map_do_not_leak_into_a_sub_workflow),
        TEST(elements_of_a_map_do_not_write_the_state),
        TEST(a_result_that_is_too_large_is_an_error),
        TEST(a_state_that_grows_too_large_is_an_error),
        TEST(the_limit_of_a_state_can_be_set),
        TEST_ALL(events_come_in_order_with_their_checkpoints),
        TEST_LASTING(what_is_told_can_be_read_by_others),
        TEST(steps_carry_what_the_node_gave_and_the_state_after_it),
        TEST_ALL(output_of_a_command_is_told_while_it_runs),
        TEST_ALL(a_run_may_be_freed_when_it_says_that_it_has_settled),
        TEST_ALL(a_thousand_pure_steps_are_told_in_order),
        TEST_ALL(several_runs_share_an_engine),
        TEST_ALL(a_thread_that_is_there_is_not_started_again),
    };
    return RUN_TESTS(tests);
}
