/* Parallel branches: what they see, where they join, and what they may contain. */
#include "engine_host.h"

#define FORK(a, b)                                                                              \
    "nodes:\n  - {name: a, " a "}\n  - {name: b, " b "}\n  - {name: j, jq: '{joined: true}'}\n" \
    "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"                                    \
    "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n"

static void branches_start_with_the_same_state_and_do_not_see_each_other(void **state) {
    (void)state;
    Run *run = host_run(FORK("jq: '{a: (.b // 0), sa: .x}'", "jq: '{b: (.a // 0), sb: .x}'"),
                        "{\"x\": 1}");
    expect_run(run, "completed",
               "{\"x\": 1, \"a\": 0, \"sa\": 1, \"b\": 0, \"sb\": 1, \"joined\": true}");
}

static void branches_run_at_the_same_time(void **state) {
    (void)state;
    uint64_t before = uv_hrtime();
    Run *run = host_run(FORK("shell: 'touch a1; while [ ! -e b1 ]; do sleep 0.02; done'",
                             "shell: 'touch b1; while [ ! -e a1 ]; do sleep 0.02; done'"),
                        NULL);
    expect_run(run, "completed", NULL);
    assert_true(uv_hrtime() - before < 20000000000u);
}

static void the_join_waits_for_the_slowest(void **state) {
    (void)state;
    Run *run = host_run(
        "nodes:\n"
        "  - {name: a, shell: 'until [ -s order ]; do sleep 0.02; done; echo a >> order'}\n"
        "  - {name: b, shell: 'echo b >> order'}\n"
        "  - {name: j, shell: 'echo j >> order; tr -d \"\\n\" < order', output: r}\n"
        "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
        "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n",
        NULL);
    expect_run(run, "completed", NULL);
    expect_json(json_object_get_c(json_object_get_c(run_state(run), "r"), "stdout"), "\"baj\"");
}

static void a_branch_does_not_wait_for_another_between_its_steps(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: slow, shell: 'while [ ! -e go ]; do sleep 0.02; done'}\n"
                        "  - {name: p, jq: '{p: 1}'}\n"
                        "  - {name: q, shell: 'touch go'}\n"
                        "  - {name: j, jq: '{}'}\n"
                        "edges:\n  - {from: __start__, to: [slow, p], fan_in: j}\n"
                        "  - {from: p, to: q}\n  - {from: [slow, q], to: j}\n"
                        "  - {from: j, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", NULL);
}

static void a_branch_may_lead_straight_to_the_join(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: s, jq: '{}'}\n  - {name: a, jq: '{a: 1}'}\n"
                        "  - {name: j, jq: '{j: 1}'}\n"
                        "edges:\n  - {from: __start__, to: s}\n"
                        "  - {from: s, to: [j, a], fan_in: j}\n  - {from: a, to: j}\n"
                        "  - {from: j, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"a\": 1, \"j\": 1}");
}

static void branches_may_join_at_the_end(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: a, jq: '{a: 1}'}\n  - {name: b, jq: '{b: 1}'}\n"
                        "  - {name: c, jq: '{c: 1}'}\n"
                        "edges:\n  - {from: __start__, to: [a, b]}\n"
                        "  - {from: a, to: __end__}\n  - {from: b, to: c}\n"
                        "  - {from: c, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"a\": 1, \"b\": 1, \"c\": 1}");
    assert_int_equal(host.settled, 1);
}

static void the_join_is_found_where_the_file_does_not_say_it(void **state) {
    (void)state;
    Run *run = host_run("state: {n: {default: 0, reduce: add}}\n"
                        "nodes:\n  - {name: a, jq: '{a: 1}'}\n  - {name: b, jq: '{b: 1}'}\n"
                        "  - {name: j, jq: '{n: 1}'}\n"
                        "edges:\n  - {from: __start__, to: [a, b]}\n"
                        "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"n\": 1, \"a\": 1, \"b\": 1}");
}

#define NESTED                                                            \
    "nodes:\n  - {name: s, jq: '{s: 1}'}\n  - {name: p, jq: '{p: .s}'}\n" \
    "  - {name: q, jq: '{q: .s}'}\n  - {name: i, jq: '{i: (.p + .q)}'}\n" \
    "  - {name: o, jq: '{o: .s}'}\n  - {name: j, jq: '{j: .i}'}\n"        \
    "edges:\n  - {from: __start__, to: [s, o], fan_in: j}\n"              \
    "  - {from: s, to: [p, q], fan_in: i}\n  - {from: [p, q], to: i}\n"   \
    "  - {from: [i, o], to: j}\n  - {from: j, to: __end__}\n"

static void a_fork_in_a_fork_joins_inside_first(void **state) {
    (void)state;
    expect_run(host_run(NESTED, NULL), "completed",
               "{\"s\": 1, \"p\": 1, \"q\": 1, \"i\": 2, \"o\": null, \"j\": 2}");
}

static void a_fork_inside_a_sub_workflow_inside_a_branch(void **state) {
    (void)state;
    host_file("sub.yaml", NESTED);
    Run *run = host_run("nodes:\n  - {name: w, workflow: sub.yaml, output: w}\n"
                        "  - {name: v, workflow: sub.yaml, output: v}\n"
                        "  - {name: k, jq: '{r: (.w.j + .v.j), w: 0, v: 0}'}\n"
                        "edges:\n  - {from: __start__, to: [w, v], fan_in: k}\n"
                        "  - {from: [w, v], to: k}\n  - {from: k, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"w\": 0, \"v\": 0, \"r\": 4}");
}

static void branches_end_at_the_end_of_the_sub_workflow_they_are_in(void **state) {
    (void)state;
    host_file("sub.yaml", "nodes:\n  - {name: a, jq: '{a: 1}'}\n  - {name: b, jq: '{b: 1}'}\n"
                          "edges:\n  - {from: __start__, to: [a, b]}\n"
                          "  - {from: [a, b], to: __end__}\n");
    Run *run = host_run("nodes: [{name: w, workflow: sub.yaml}, {name: z, jq: '{z: 1}'}]\n", NULL);
    expect_run(run, "completed", "{\"a\": 1, \"b\": 1, \"z\": 1}");
}

static void a_loop_around_a_fork_forks_each_time(void **state) {
    (void)state;
    Run *run = host_run("state: {n: 0, log: {default: [], reduce: append}}\n"
                        "nodes:\n  - {name: s, jq: '{n: (.n + 1)}'}\n"
                        "  - {name: a, jq: '{log: \"a\\(.n)\"}'}\n"
                        "  - {name: b, jq: '{log: \"b\\(.n)\"}'}\n  - {name: j, jq: '{}'}\n"
                        "edges:\n  - {from: __start__, to: s}\n"
                        "  - {from: s, to: [a, b], fan_in: j}\n  - {from: [a, b], to: j}\n"
                        "  - {from: j, to: s, when: '.n < 3'}\n  - {from: j, to: __end__}\n",
                        NULL);
    expect_run(run, "completed",
               "{\"n\": 3, \"log\": [\"a1\", \"b1\", \"a2\", \"b2\", \"a3\", \"b3\"]}");
}

static void a_loop_around_a_fork_is_stopped_at_the_recursion_limit(void **state) {
    (void)state;
    Run *run = host_run("config: {recursion_limit: 30}\n"
                        "nodes:\n  - {name: s, jq: '{}'}\n  - {name: a, jq: '{}'}\n"
                        "  - {name: b, jq: '{}'}\n  - {name: j, jq: '{}'}\n"
                        "edges:\n  - {from: __start__, to: s}\n"
                        "  - {from: s, to: [a, b], fan_in: j}\n  - {from: [a, b], to: j}\n"
                        "  - {from: j, to: s}\n",
                        NULL);
    expect_failed(run, "recursion", "More than 30 steps");
}

static void a_branch_that_loops_is_stopped_at_the_recursion_limit(void **state) {
    (void)state;
    Run *run = host_run("config: {recursion_limit: 30}\n"
                        "nodes:\n  - {name: a, jq: '{}'}\n  - {name: b, jq: '{}'}\n"
                        "  - {name: j, jq: '{}'}\n"
                        "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
                        "  - {from: a, to: a, when: 'true'}\n  - {from: a, to: j}\n"
                        "  - {from: b, to: j}\n  - {from: j, to: __end__}\n",
                        NULL);
    expect_failed(run, "recursion", "`a`");
}

static void a_loop_in_a_branch_hands_over_what_it_wrote(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: l, while: '.n < 3', do: [{name: i, jq: '{n: (.n + 1)}'}]}\n"
                        "  - {name: b, shell: 'true', output: b}\n  - {name: j, jq: '{b: 0}'}\n"
                        "edges:\n  - {from: __start__, to: [l, b], fan_in: j}\n"
                        "  - {from: [l, b], to: j}\n  - {from: j, to: __end__}\n",
                        "{\"n\": 0}");
    expect_run(run, "completed", "{\"n\": 3, \"b\": 0}");
}

static void a_map_in_a_branch_and_a_branch_after_a_map(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: m, map: {over: '[1, 2, 3]', as: x, limit: 1}, do: {jq: '$x'}}\n"
                        "  - {name: b, jq: '{b: 1}'}\n  - {name: j, jq: '{s: (.m | add)}'}\n"
                        "edges:\n  - {from: __start__, to: [m, b], fan_in: j}\n"
                        "  - {from: [m, b], to: j}\n  - {from: j, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"m\": [1, 2, 3], \"b\": 1, \"s\": 6}");
}

/* Both branches write x. */
#define CONFLICT                                                                                  \
    "nodes:\n  - {name: f, jq: '{}'}\n  - {name: a, jq: '{x: 1}'}\n  - {name: b, jq: '{x: 2}'}\n" \
    "  - {name: j, jq: '{joined: true}'}\n  - {name: z, jq: '{got: .error.node}'}\n"

static void branches_that_cannot_be_joined_fail_where_they_join(void **state) {
    (void)state;
    Run *run = host_run(CONFLICT "edges:\n  - {from: f, to: [a, b], fan_in: j}\n"
                                 "  - {from: f, to: z, on: error}\n  - {from: z, to: __end__}\n"
                                 "  - {from: j, to: __end__}\n",
                        NULL);
    expect_failed(run, "join", "x");
    assert_string_equal(run_error_text(run, "node"), "j");
}

static void the_error_edge_of_a_join_takes_what_cannot_be_joined(void **state) {
    (void)state;
    Run *run = host_run(CONFLICT "edges:\n  - {from: f, to: [a, b], fan_in: j}\n"
                                 "  - {from: j, to: z, on: error}\n  - {from: z, to: __end__}\n"
                                 "  - {from: j, to: __end__}\n",
                        NULL);
    assert_string_equal(run_status(run), "completed");
    expect_json(json_object_get_c(run_state(run), "got"), "\"j\"");
    assert_true(json_is_none(json_object_get_c(run_state(run), "x")));
}

static void a_thousand_branches_join(void **state) {
    (void)state;
    Buf yaml = BUF_INIT;
    buf_adds(&yaml, "state: {sum: {default: 0, reduce: add}}\nnodes:\n  - {name: j, jq: '{}'}\n");
    for (int i = 0; i < 1000; i++) buf_printf(&yaml, "  - {name: n%d, jq: '{sum: %d}'}\n", i, i);
    buf_adds(&yaml, "edges:\n  - {from: j, to: __end__}\n  - {from: __start__, fan_in: j, to: [n0");
    for (int i = 1; i < 1000; i++) buf_printf(&yaml, ", n%d", i);
    buf_adds(&yaml, "]}\n");
    for (int i = 0; i < 1000; i++) buf_printf(&yaml, "  - {from: n%d, to: j}\n", i);
    Run *run = host_run(yaml.data, NULL);
    buf_clear(&yaml);
    expect_run(run, "completed", "{\"sum\": 499500}");
    expect_sound_store();
}

static void every_branch_of_a_parallel_edge_runs_even_when_it_is_only_one(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: s, jq: '{}'}\n  - {name: a, jq: '{a: 1}'}\n"
                        "  - {name: b, jq: '{b: 1}'}\n  - {name: j, fan_in: true, jq: '{j: 1}'}\n"
                        "edges:\n  - {from: __start__, to: s}\n"
                        "  - {from: s, to: a, parallel: true}\n"
                        "  - {from: s, to: b, parallel: true}\n"
                        "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"a\": 1, \"b\": 1, \"j\": 1}");
}

static void a_failure_in_one_branch_ends_the_commands_of_the_others(void **state) {
    (void)state;
    Run *run = host_run(FORK("shell: 'echo $$ > pid; exec sleep 60'",
                             "shell: 'while [ ! -s pid ]; do sleep 0.02; done; exit 3'"),
                        NULL);
    expect_failed(run, "exit", "code 3");
    assert_string_equal(run_error_text(run, "node"), "b");
    assert_int_not_equal(system("kill -0 $(cat pid) 2> /dev/null"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(branches_start_with_the_same_state_and_do_not_see_each_other),
        TEST_ALL(branches_run_at_the_same_time),
        TEST(the_join_waits_for_the_slowest),
        TEST(a_branch_does_not_wait_for_another_between_its_steps),
        TEST(a_branch_may_lead_straight_to_the_join),
        TEST_ALL(branches_may_join_at_the_end),
        TEST(the_join_is_found_where_the_file_does_not_say_it),
        TEST(a_fork_in_a_fork_joins_inside_first),
        TEST(a_fork_inside_a_sub_workflow_inside_a_branch),
        TEST(branches_end_at_the_end_of_the_sub_workflow_they_are_in),
        TEST(a_loop_around_a_fork_forks_each_time),
        TEST(a_loop_around_a_fork_is_stopped_at_the_recursion_limit),
        TEST(a_branch_that_loops_is_stopped_at_the_recursion_limit),
        TEST(a_loop_in_a_branch_hands_over_what_it_wrote),
        TEST(a_map_in_a_branch_and_a_branch_after_a_map),
        TEST(branches_that_cannot_be_joined_fail_where_they_join),
        TEST_ALL(the_error_edge_of_a_join_takes_what_cannot_be_joined),
        TEST_ALL(a_thousand_branches_join),
        TEST(every_branch_of_a_parallel_edge_runs_even_when_it_is_only_one),
        TEST(a_failure_in_one_branch_ends_the_commands_of_the_others),
    };
    return RUN_TESTS(tests);
}
