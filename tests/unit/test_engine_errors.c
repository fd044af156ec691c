/* Errors of nodes and what takes them: attempts, error edges, outer nodes; and time. */
#include "engine_host.h"

/* ---- attempts ---- */

/* A command that fails until it has run N times. */
#define FLAKY(n) "shell: 'echo x >> ran; [ $(wc -l < ran) -ge " n " ]'"

static void a_node_is_tried_again_until_it_succeeds(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: a, " FLAKY("3") ", retry: {attempts: 5, delay: 1ms}}\n",
                        NULL);
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("ran"), 3);
    assert_int_equal(count_of(host_log(), "retry a"), 2);
}

static void attempts_are_counted_with_the_first(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: a, " FLAKY("9") ", retry: {attempts: 3, delay: 1ms}}\n",
                        NULL);
    expect_failed(run, "exit", "code 1");
    assert_int_equal(lines_of("ran"), 3);
    assert_int_equal(count_of(host_log(), "node a"), 3);
}

static void attempts_start_anew_when_the_node_is_come_to_again(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: a, shell: 'echo x >> ran; [ $(($(wc -l < ran) % 3)) = 0 ]',"
                        " retry: {attempts: 3, delay: 0}}\n"
                        "  - {name: b, jq: '{n: (.n + 1)}'}\n"
                        "edges:\n  - {from: __start__, to: a}\n  - {from: a, to: b}\n"
                        "  - {from: b, to: a, when: '.n < 3'}\n  - {from: b, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("ran"), 9);
}

static Json delays;

static void note_delay(Host *h, const Event *e) {
    (void)h;
    if (e->type != EVENT_RETRY) return;
    delays = json_array_push(delays, json_ref(json_object_get_c(e->data, "delay")));
}

static void delays_grow_by_the_factor_up_to_the_most(void **state) {
    (void)state;
    hold_clock();
    delays = json_array();
    host.on_event = note_delay;
    Run *run = host_start("nodes:\n"
                          "  - name: a\n"
                          "    jq: 'error(\"no\")'\n"
                          "    retry: {attempts: 6, delay: 1s, factor: 3, max: 10s}\n",
                          "t", NULL);
    for (int i = 0; i < 100 && !run_settled(run); i++) move_clock(500);
    expect_failed(run, "jq", "no");
    expect_json(delays, "[1, 3, 9, 10, 10]");
    json_unref(delays);
}

static void an_attempt_waits_for_the_engines_clock(void **state) {
    (void)state;
    Run *run = host_start_held("nodes:\n"
                               "  - {name: a, " FLAKY("2") ", retry: {attempts: 2, delay: 1h}}\n",
                               NULL);
    while (!strstr(host_log(), "retry a")) uv_run(&host.loop, UV_RUN_ONCE);
    move_clock(3599999);
    assert_int_equal(lines_of("ran"), 1);
    move_clock(1);
    host_go();
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("ran"), 2);
}

static void a_retry_is_told_with_its_error_and_attempt(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: a, jq: 'error(\"no\")', retry: {attempts: 2, delay: 0}}\n",
                        NULL);
    expect_failed(run, "jq", "no");
    assert_string_equal(host_log(),
                        "start\nstep started\nnode a\nstep a retrying\nretry a\nnode a\n"
                        "step a failed\nsettled failed\n");
}

static void retry_if_sees_the_error_and_the_state(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: a\n"
                        "    shell: 'echo x >> ran; exit $(wc -l < ran)'\n"
                        "    retry: {attempts: 9, delay: 0, if: '.error.exit_code < .most'}\n",
                        "{\"most\": 3}");
    expect_failed(run, "exit", "code 3");
    assert_int_equal(lines_of("ran"), 3);
}

static void a_retry_if_that_fails_does_not_hold(void **state) {
    (void)state;
    Run *run =
        host_run("nodes:\n"
                 "  - {name: a, " FLAKY("9") ", retry: {attempts: 9, delay: 0, if: '.a - 1'}}\n",
                 "{\"a\": \"x\"}");
    expect_failed(run, "exit", "code 1");
    assert_int_equal(lines_of("ran"), 1);
}

/* ---- error edges ---- */

static void an_error_edge_is_taken_and_the_error_is_in_the_state(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: a, shell: 'echo oh >&2; exit 4'}\n"
                        "  - {name: b, jq: '{ok: true}'}\n"
                        "  - {name: c, jq: '{saw: [.error.kind, .error.exit_code, .error.node,"
                        " .error.line, .error.stderr], error: null}'}\n"
                        "edges:\n  - {from: __start__, to: a}\n  - {from: a, to: b}\n"
                        "  - {from: a, to: c, on: error}\n"
                        "  - {from: b, to: __end__}\n  - {from: c, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"error\": null, \"saw\": [\"exit\", 4, \"a\", 2, \"oh\"]}");
    expect_contains(host_log(), "step a failed\n");
}

static void error_edges_have_conditions_over_the_error(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: a, shell: 'exit 4'}\n"
                        "  - {name: b, jq: '{at: \"b\", error: null}'}\n"
                        "  - {name: c, jq: '{at: \"c\", error: null}'}\n"
                        "edges:\n  - {from: __start__, to: a}\n  - {from: a, to: __end__}\n"
                        "  - {from: a, to: b, on: error, when: '.error.kind == \"timeout\"'}\n"
                        "  - {from: a, to: c, on: error, when: '.error.exit_code == 4'}\n"
                        "  - {from: b, to: __end__}\n  - {from: c, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"error\": null, \"at\": \"c\"}");
}

static void an_error_inside_a_map_names_the_element(void **state) {
    (void)state;
    host_file("sub.yaml", "nodes: [{name: s, shell: 'exit $N', env: {N: .n}}]\n");
    Run *run = host_run("nodes:\n  - name: m\n    map: {over: '[0, 0, 3]', as: n}\n"
                        "    do: {workflow: sub.yaml, input: '{$n}'}\n    output: m\n"
                        "  - {name: c, jq: '{error: null, at: .error.element}'}\n"
                        "edges:\n  - {from: __start__, to: m}\n  - {from: m, to: __end__}\n"
                        "  - {from: m, to: c, on: error}\n  - {from: c, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"error\": null, \"at\": 2}");
}

static void attempts_come_before_the_error_edge(void **state) {
    (void)state;
    Run *run =
        host_run("nodes:\n  - {name: a, " FLAKY(
                     "9") ", retry: {attempts: 3, delay: 0}}\n"
                          "  - {name: c, jq: '{error: null}'}\n"
                          "edges:\n  - {from: __start__, to: a}\n  - {from: a, to: __end__}\n"
                          "  - {from: a, to: c, on: error}\n  - {from: c, to: __end__}\n",
                 NULL);
    expect_run(run, "completed", "{\"error\": null}");
    assert_int_equal(lines_of("ran"), 3);
}

static void an_error_edge_may_lead_to_the_end(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: a, jq: 'error(\"x\")'}\n"
                        "edges:\n  - {from: __start__, to: a}\n  - {from: a, to: __end__}\n"
                        "  - {from: a, to: __end__, on: error}\n",
                        NULL);
    expect_run(run, "completed", NULL);
    expect_json(json_object_get_c(json_object_get_c(run_state(run), "error"), "message"), "\"x\"");
}

static void an_error_edge_in_a_branch_leads_to_the_join(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: a, shell: 'exit 1'}\n  - {name: b, shell: 'exit 1'}\n"
                        "  - {name: j, jq: '{e: .error.node, error: null}'}\n"
                        "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
                        "  - {from: [a, b], to: j}\n  - {from: [a, b], to: j, on: error}\n"
                        "  - {from: j, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"error\": null, \"e\": \"b\"}");
}

/* The listener stops what would never end. */
static void stop_after_1000(Host *h, const Event *e) {
    if (e->checkpoint > 1000) {
        h->on_event = NULL;
        run_cancel(e->run);
    }
}

static void a_cycle_over_error_edges_is_stopped_at_the_recursion_limit(void **state) {
    (void)state;
    host.on_event = stop_after_1000;
    Run *run = host_run("config: {recursion_limit: 20}\n"
                        "nodes:\n  - {name: a, jq: 'error(\"x\")'}\n"
                        "edges:\n  - {from: __start__, to: a}\n  - {from: a, to: __end__}\n"
                        "  - {from: a, to: a, on: error}\n",
                        NULL);
    expect_failed(run, "recursion", "More than 20 steps");
}

static void an_error_edge_of_a_map_may_lead_to_branches(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: m, map: {over: '[1, 2]'}, do: {shell: 'exit 1'}}\n"
                        "  - {name: p, jq: '{p: 1}'}\n  - {name: q, jq: '{q: 1}'}\n"
                        "  - {name: j, jq: '{error: null}'}\n"
                        "edges:\n  - {from: __start__, to: m}\n  - {from: m, to: __end__}\n"
                        "  - {from: m, to: [p, q], on: error, fan_in: j}\n"
                        "  - {from: [p, q], to: j}\n  - {from: j, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"error\": null, \"p\": 1, \"q\": 1}");
}

static void a_condition_that_fails_is_not_the_nodes_error(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: a, " FLAKY(
                            "1") ", retry: {attempts: 3, delay: 0}}\n"
                                 "  - {name: c, jq: '{}'}\n"
                                 "edges:\n  - {from: __start__, to: a}\n"
                                 "  - {from: a, to: c, when: 'error(\"bad\")'}\n"
                                 "  - {from: a, to: c, on: error}\n  - {from: c, to: __end__}\n",
                        NULL);
    expect_failed(run, "edge", "bad");
    assert_int_equal(lines_of("ran"), 1);
}

/* ---- outer nodes ---- */

static void an_error_inside_a_sub_workflow_is_retried_by_the_outer_node(void **state) {
    (void)state;
    host_file("sub.yaml",
              "nodes: [{name: first, shell: 'echo x >> first'}, {name: s, " FLAKY("3") "}]\n");
    Run *run = host_run("nodes:\n"
                        "  - {name: w, workflow: sub.yaml, retry: {attempts: 3, delay: 0}}\n",
                        NULL);
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("ran"), 3);
    assert_int_equal(lines_of("first"), 3);
}

static void the_inner_node_has_its_attempts_first(void **state) {
    (void)state;
    host_file("sub.yaml", "nodes: [{name: s, " FLAKY("9") ", retry: {attempts: 2, delay: 0}}]\n");
    Run *run = host_run("nodes:\n"
                        "  - {name: w, workflow: sub.yaml, retry: {attempts: 3, delay: 0}}\n",
                        NULL);
    expect_failed(run, "exit", "code 1");
    assert_int_equal(lines_of("ran"), 6);
    assert_string_equal(run_error_text(run, "node"), "s");
    assert_string_equal(run_error_text(run, "file"), "sub.yaml");
}

static void the_error_edge_of_the_outer_node_takes_an_error_inside(void **state) {
    (void)state;
    host_file("two.yaml", "nodes: [{name: w2, workflow: sub.yaml}]\n");
    host_file("sub.yaml", "nodes: [{name: s, jq: '{x: 1}'}, {name: f, jq: 'error(\"no\")'}]\n");
    Run *run = host_run("nodes:\n  - {name: w, workflow: two.yaml}\n"
                        "  - {name: c, jq: '{at: .error.node, error: null}'}\n"
                        "edges:\n  - {from: __start__, to: w}\n  - {from: w, to: __end__}\n"
                        "  - {from: w, to: c, on: error}\n  - {from: c, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"error\": null, \"at\": \"f\"}");
}

static void an_error_in_a_branch_inside_a_sub_workflow_is_taken_outside(void **state) {
    (void)state;
    host_file("sub.yaml",
              "nodes:\n  - {name: p, shell: 'echo $$ > pid; exec sleep 60'}\n"
              "  - {name: q, shell: 'while [ ! -s pid ]; do sleep 0.02; done; exit 3'}\n"
              "  - {name: i, jq: '{}'}\n"
              "edges:\n  - {from: __start__, to: [p, q], fan_in: i}\n"
              "  - {from: [p, q], to: i}\n  - {from: i, to: __end__}\n");
    Run *run = host_run("nodes:\n  - {name: w, workflow: sub.yaml}\n"
                        "  - {name: c, jq: '{at: .error.node, error: null}'}\n"
                        "edges:\n  - {from: __start__, to: w}\n  - {from: w, to: __end__}\n"
                        "  - {from: w, to: c, on: error}\n  - {from: c, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"error\": null, \"at\": \"q\"}");
    assert_int_not_equal(system("kill -0 $(cat pid) 2> /dev/null"), 0);
}

static void an_error_in_one_element_fails_the_map(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: m\n"
                        "    map: {over: '[0, 0, 5, 0]', as: x, limit: 2}\n"
                        "    do: {shell: 'exit $X', env: {X: $x}}\n",
                        NULL);
    expect_failed(run, "exit", "code 5");
}

static void a_map_is_tried_again_as_a_whole(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: m\n"
                        "    map: {over: '[1, 2, 3]', as: x, limit: 1}\n"
                        "    do: {shell: 'echo $X >> ran; [ $X != 3 ] || [ $(wc -l < ran) -gt 3 ]',"
                        " env: {X: $x}}\n"
                        "    retry: {attempts: 2, delay: 0}\n"
                        "  - {name: n, jq: '{m: (.m | length)}'}\n",
                        NULL);
    expect_run(run, "completed", "{\"m\": 3}");
    assert_int_equal(lines_of("ran"), 6);
}

static void an_element_of_a_map_is_tried_again_alone(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: m\n"
                        "    map: {over: '[1, 2, 3]', as: x, limit: 1}\n"
                        "    do: {shell: 'echo $X >> ran; [ $X != 3 ] || [ $(wc -l < ran) -gt 3 ]',"
                        " env: {X: $x}, retry: {attempts: 2, delay: 0}}\n"
                        "  - {name: n, jq: '{m: (.m | length)}'}\n",
                        NULL);
    expect_run(run, "completed", "{\"m\": 3}");
    assert_int_equal(lines_of("ran"), 4);
}

static void an_error_inside_a_loop_is_retried_by_the_loop(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: l\n"
                        "    while: '.n < 2'\n"
                        "    retry: {attempts: 5, delay: 0}\n"
                        "    do: [{name: s, " FLAKY("3") "}, {name: i, jq: '{n: (.n + 1)}'}]\n",
                        "{\"n\": 0}");
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("ran"), 4);
}

static void the_start_of_a_sub_workflow_that_cannot_be_chosen_is_taken_outside(void **state) {
    (void)state;
    host_file("sub.yaml", "nodes: [{name: s, jq: '{}'}]\n"
                          "edges:\n  - {from: __start__, to: s, when: .never}\n"
                          "  - {from: s, to: __end__}\n");
    Run *run = host_run("nodes:\n  - {name: w, workflow: sub.yaml}\n"
                        "  - {name: c, jq: '{e: .error.kind, error: null}'}\n"
                        "edges:\n  - {from: __start__, to: w}\n  - {from: w, to: __end__}\n"
                        "  - {from: w, to: c, on: error}\n  - {from: c, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"error\": null, \"e\": \"edge\"}");
}

static void a_start_that_cannot_be_chosen_fails_and_can_be_resumed(void **state) {
    (void)state;
    Run *run = host_run("nodes: [{name: s, jq: '{ran: 1}'}]\n"
                        "edges:\n  - {from: __start__, to: s, when: .ok}\n"
                        "  - {from: s, to: __end__}\n",
                        NULL);
    expect_failed(run, "edge", "None of the edges from `__start__` holds");
    host_fresh();
    Json set = parse("[[[\"ok\"], true]]");
    run = host_resume(&(RunResume){.thread = "t", .set = set});
    json_unref(set);
    expect_run(run, "completed", "{\"ok\": true, \"ran\": 1}");
}

static void a_command_that_cannot_be_started_is_an_error_of_its_node(void **state) {
    (void)state;
    Run *run = host_run("nodes: [{name: a, shell: 'true', cwd: /nowhere/at/all,"
                        " retry: {attempts: 3, delay: 0}}]\n",
                        NULL);
    expect_failed(run, "spawn", "/nowhere/at/all");
    assert_int_equal(count_of(host_log(), "retry a"), 2);
}

static void a_command_whose_environment_fails_is_an_error_of_its_node(void **state) {
    (void)state;
    Run *run = host_run("nodes: [{name: a, shell: 'true', env: {X: '.a - 1'}},"
                        " {name: b, jq: '{}'}]\n",
                        "{\"a\": \"x\"}");
    expect_run(run, "failed", NULL);
    assert_string_equal(run_error_text(run, "node"), "a");
    expect_contains(run_error_text(run, "message"), "cannot be subtracted");
}

/* ---- time ---- */

static void a_command_that_takes_too_long_is_ended(void **state) {
    (void)state;
    Run *run = host_run("nodes: [{name: a, shell: 'exec sleep 60', timeout: 100ms}]\n", NULL);
    expect_failed(run, "timeout", "timeout");
}

static void a_sub_workflow_that_takes_too_long_is_ended(void **state) {
    (void)state;
    host_file("sub.yaml", "nodes: [{name: s, shell: 'echo $$ > pid; exec sleep 60'}]\n");
    Run *run = host_run("nodes: [{name: w, workflow: sub.yaml, timeout: 300ms}]\n", NULL);
    expect_failed(run, "timeout", "0.3 s");
    assert_string_equal(run_error_text(run, "node"), "w");
    assert_int_not_equal(system("[ -s pid ] && kill -0 $(cat pid) 2> /dev/null"), 0);
}

static void a_sub_workflow_has_its_own_timeout(void **state) {
    (void)state;
    host_file("sub.yaml", "config: {timeout: 200ms}\nnodes: [{name: s, shell: 'exec sleep 60'}]\n");
    Run *run = host_run("nodes: [{name: w, workflow: sub.yaml}]\n", NULL);
    expect_failed(run, "timeout", "0.2 s");
}

static void a_map_that_takes_too_long_is_ended(void **state) {
    (void)state;
    Run *run =
        host_start_held("nodes:\n"
                        "  - {name: m, map: {over: '[1, 2, 3]'}, do: {sleep: 1h}, timeout: 30m}\n"
                        "  - {name: c, jq: '{e: .error.kind, error: null}'}\n"
                        "edges:\n  - {from: __start__, to: m}\n  - {from: m, to: __end__}\n"
                        "  - {from: m, to: c, on: error}\n  - {from: c, to: __end__}\n",
                        NULL);
    move_clock(1799999);
    assert_false(run_settled(run));
    move_clock(1);
    host_go();
    expect_run(run, "completed", "{\"error\": null, \"e\": \"timeout\"}");
}

static void a_timeout_ends_with_its_node(void **state) {
    (void)state;
    Run *run = host_start_held("nodes:\n"
                               "  - {name: m, map: {over: '[1]'}, do: {sleep: 1s}, timeout: 30m}\n"
                               "  - {name: s, sleep: 2h}\n",
                               NULL);
    move_clock(1000);
    move_clock(7199999);
    assert_false(run_settled(run));
    move_clock(1);
    host_go();
    expect_run(run, "completed", NULL);
}

static void sleep_waits_for_the_engines_clock(void **state) {
    (void)state;
    Run *run = host_start_held("nodes: [{name: a, sleep: 90}, {name: b, jq: '{x: 1}'}]\n", NULL);
    move_clock(89999);
    assert_false(run_settled(run));
    move_clock(1);
    host_go();
    expect_run(run, "completed", "{\"x\": 1}");
}

static void a_run_that_takes_too_long_fails(void **state) {
    (void)state;
    Run *run = host_start_held("config: {timeout: 1h}\nnodes: [{name: a, sleep: 2h}]\n", NULL);
    move_clock(3599999);
    assert_false(run_settled(run));
    move_clock(1);
    assert_true(run_settled(run));
    expect_failed(run, "timeout", "The run took longer than its timeout of 3600 s");
}

static void the_timeout_of_a_run_is_by_the_engines_clock(void **state) {
    (void)state;
    hold_clock();
    Run *run = host_run("config: {timeout: 100ms}\nnodes: [{name: a, shell: 'sleep 0.4'}]\n", NULL);
    expect_run(run, "completed", NULL);
}

#define ASK_BESIDE_A_SLEEP                                            \
    "nodes:\n  - {name: s, sleep: 2h}\n"                              \
    "  - {name: q, approval: {prompt: ok}, timeout: 1h}\n"            \
    "  - {name: c, jq: '{e: .error.kind, error: null}'}\n"            \
    "  - {name: j, jq: '{}'}\n"                                       \
    "edges:\n  - {from: __start__, to: [s, q], fan_in: j}\n"          \
    "  - {from: [s, q, c], to: j}\n  - {from: q, to: c, on: error}\n" \
    "  - {from: j, to: __end__}\n"

static void an_approval_that_takes_too_long_takes_its_error_edge(void **state) {
    (void)state;
    Run *run = host_start_held(ASK_BESIDE_A_SLEEP, NULL);
    move_clock(3599999);
    assert_int_equal(open_interrupts(run), 1);
    move_clock(1);
    assert_int_equal(open_interrupts(run), 0);
    move_clock(3600000);
    host_go();
    expect_run(run, "completed", "{\"error\": null, \"e\": \"timeout\"}");
}

static void a_run_that_waits_for_an_approval_with_a_timeout_settles_at_once(void **state) {
    (void)state;
    uint64_t before = uv_hrtime();
    Run *run = host_run("nodes: [{name: q, approval: {prompt: ok}, timeout: 1m}]\n", NULL);
    expect_run(run, "interrupted", NULL);
    assert_true(uv_hrtime() - before < 30000000000u); /* the loop has nothing left to wait for */
}

static void a_settled_run_is_left_alone_when_a_timeout_passes(void **state) {
    (void)state;
    Run *run = host_start_held("nodes: [{name: q, approval: {prompt: ok}, timeout: 1h}]\n", NULL);
    host_settle(run);
    move_clock(3600001);
    expect_run(run, "interrupted", NULL);
    assert_int_equal(open_interrupts(run), 1);
    assert_null(run_store_error(run));
}

/* A pause stops the clocks: the node has the time left that it had. */
static void waiting_for_a_person_does_not_use_up_the_time_of_the_outer_node(void **state) {
    (void)state;
    hold_clock();
    host_file("sub.yaml",
              "nodes: [{name: q, approval: {prompt: ok}}, {name: s, shell: 'echo x'}]\n");
    Run *run = host_start("nodes: [{name: w, workflow: sub.yaml, timeout: 10m}]\n", "t", NULL);
    host_settle(run);
    host_fresh();
    host.clock += 86400000;
    run = engine_resume_now(host.engine, &(RunResume){.thread = "t", .decision = "yes"}, &host.err);
    assert_non_null(run);
    host_settle(run);
    expect_run(run, "completed", NULL);
}

static void a_late_loop_waits_for_its_next_attempt(void **state) {
    (void)state;
    Run *run = host_start("config: {recursion_limit: 100000000}\n"
                          "nodes:\n"
                          "  - name: l\n"
                          "    while: '.slow'\n"
                          "    max_iterations: 100000000\n"
                          "    timeout: 50ms\n"
                          "    retry: {attempts: 2, delay: 1h}\n"
                          "    do: [{name: a, jq: '{n: (.n + 1)}'}]\n",
                          "t", "{\"slow\": true}");
    while (!strstr(host_log(), "retry l")) uv_run(&host.loop, UV_RUN_ONCE);
    size_t told = count_of(host_log(), "node l");
    for (int i = 0; i < 20; i++) uv_run(&host.loop, UV_RUN_NOWAIT);
    Json frames = run_frames(run, 1);
    expect_json(json_object_get_c(json_array_get(frames, 0), "status"), "\"sleeping\"");
    json_unref(frames);
    assert_int_equal(count_of(host_log(), "node l"), told);
}

static void a_late_loop_starts_the_command_of_its_error_edge_once(void **state) {
    (void)state;
    Run *run = host_run("config: {recursion_limit: 100000000}\n"
                        "nodes:\n"
                        "  - name: l\n"
                        "    while: 'true'\n"
                        "    max_iterations: 100000000\n"
                        "    timeout: 50ms\n"
                        "    do: [{name: a, jq: '{n: (.n + 1)}'}]\n"
                        "  - {name: s, shell: 'echo x >> ran'}\n"
                        "edges:\n  - {from: __start__, to: l}\n  - {from: l, to: __end__}\n"
                        "  - {from: l, to: s, on: error}\n  - {from: s, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("ran"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_ALL(a_node_is_tried_again_until_it_succeeds),
        TEST_ALL(attempts_are_counted_with_the_first),
        TEST(attempts_start_anew_when_the_node_is_come_to_again),
        TEST(delays_grow_by_the_factor_up_to_the_most),
        TEST_ALL(an_attempt_waits_for_the_engines_clock),
        TEST(a_retry_is_told_with_its_error_and_attempt),
        TEST(retry_if_sees_the_error_and_the_state),
        TEST(a_retry_if_that_fails_does_not_hold),
        TEST(an_error_edge_is_taken_and_the_error_is_in_the_state),
        TEST(error_edges_have_conditions_over_the_error),
        TEST(an_error_inside_a_map_names_the_element),
        TEST(attempts_come_before_the_error_edge),
        TEST(an_error_edge_may_lead_to_the_end),
        TEST(an_error_edge_in_a_branch_leads_to_the_join),
        TEST(a_cycle_over_error_edges_is_stopped_at_the_recursion_limit),
        TEST(an_error_edge_of_a_map_may_lead_to_branches),
        TEST(a_condition_that_fails_is_not_the_nodes_error),
        TEST(an_error_inside_a_sub_workflow_is_retried_by_the_outer_node),
        TEST(the_inner_node_has_its_attempts_first),
        TEST(the_error_edge_of_the_outer_node_takes_an_error_inside),
        TEST_ALL(an_error_in_a_branch_inside_a_sub_workflow_is_taken_outside),
        TEST(an_error_in_one_element_fails_the_map),
        TEST_ALL(a_map_is_tried_again_as_a_whole),
        TEST(an_element_of_a_map_is_tried_again_alone),
        TEST(an_error_inside_a_loop_is_retried_by_the_loop),
        TEST(the_start_of_a_sub_workflow_that_cannot_be_chosen_is_taken_outside),
        TEST_ALL(a_start_that_cannot_be_chosen_fails_and_can_be_resumed),
        TEST(a_command_that_cannot_be_started_is_an_error_of_its_node),
        TEST(a_command_whose_environment_fails_is_an_error_of_its_node),
        TEST(a_command_that_takes_too_long_is_ended),
        TEST(a_sub_workflow_that_takes_too_long_is_ended),
        TEST(a_sub_workflow_has_its_own_timeout),
        TEST(a_map_that_takes_too_long_is_ended),
        TEST(a_timeout_ends_with_its_node),
        TEST(sleep_waits_for_the_engines_clock),
        TEST(a_run_that_takes_too_long_fails),
        TEST(the_timeout_of_a_run_is_by_the_engines_clock),
        TEST(an_approval_that_takes_too_long_takes_its_error_edge),
        TEST(a_run_that_waits_for_an_approval_with_a_timeout_settles_at_once),
        TEST(a_settled_run_is_left_alone_when_a_timeout_passes),
        TEST(waiting_for_a_person_does_not_use_up_the_time_of_the_outer_node),
        TEST(a_late_loop_waits_for_its_next_attempt),
        TEST(a_late_loop_starts_the_command_of_its_error_edge_once),
    };
    return RUN_TESTS(tests);
}
