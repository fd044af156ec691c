/* Reducers: what two writes of one key come to, on one path and wherever the two can meet. */
#include "engine_host.h"

typedef struct Case {
    const char *declared;       /* the key `k` of the state */
    const char *first, *second; /* what the nodes give back for it, in jq */
    const char *want;
} Case;

static const Case cases[] = {
    {"{default: [0], reduce: append}", "[1]", "[2, 3]", "[0, 1, 2, 3]"},
    {"{reduce: append}", "1", "{}", "[1, {}]"},
    {"{default: 5, reduce: append}", "[[1]]", "null", "[5, [1], null]"},
    {"{default: 10, reduce: add}", "1", "2", "13"},
    {"{reduce: add}", "\"a\"", "\"b\"", "\"ab\""},
    {"{default: {a: 0}, reduce: add}", "{b: 1}", "{a: 2}", "{\"a\": 2, \"b\": 1}"},
    {"{default: {a: {x: 1}}, reduce: merge}", "{a: {y: 2}}", "{a: {x: 3}, b: 4}",
     "{\"a\": {\"x\": 3, \"y\": 2}, \"b\": 4}"},
    {"{reduce: merge}", "{a: {y: 2}}", "{a: {x: 3}}", "{\"a\": {\"y\": 2, \"x\": 3}}"},
    {"{default: [1], reduce: union}", "[2, 1, 2]", "[3, 2]", "[1, 2, 3]"},
    {"{reduce: union}", "[1]", "1", "[1]"},
    {"{default: 7, reduce: '[$old, $new] | max'}", "3", "9", "9"},
    {"{default: 2, reduce: '$old * $new'}", "5", "7", "70"},
    {"{default: \"\", reduce: '$old + \"<\" + $new + \">\"'}", "\"a\"", "\"b\"", "\"<a><b>\""},
    {"{default: 1, reduce: '$old * 10 + $new + .base'}", "2", "3", "167"},
};

enum { NCASES = sizeof cases / sizeof cases[0] };

/* Each template has the declaration and the two writes in this order. */
static void run_cases(const char *template) {
    for (size_t i = 0; i < NCASES; i++) {
        Buf yaml = BUF_INIT;
        char thread[32];
        snprintf(thread, sizeof thread, "t%zu", i);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
        buf_printf(&yaml, template, cases[i].declared, cases[i].first, cases[i].second);
#pragma GCC diagnostic pop
        host.settled = 0;
        host.checkpoint = 0;
        Run *run = host_start(yaml.data, thread, "{\"base\": 4}");
        host_go();
        buf_clear(&yaml);
        expect_run(run, "completed", NULL);
        print_message("# %s\n", cases[i].declared);
        expect_json(json_object_get_c(run_state(run), "k"), cases[i].want);
    }
}

static void writes_one_after_the_other(void **state) {
    (void)state;
    run_cases("state: {k: %s}\n"
              "nodes:\n  - {name: a, jq: '{k: %s}'}\n  - {name: b, jq: '{k: %s}'}\n");
}

static void writes_in_two_branches(void **state) {
    (void)state;
    run_cases("state: {k: %s}\n"
              "nodes:\n  - {name: a, jq: '{k: %s}'}\n  - {name: b, jq: '{k: %s}'}\n"
              "  - {name: j, jq: '{}'}\n"
              "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
              "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n");
}

static void writes_in_one_branch(void **state) {
    (void)state;
    run_cases("state: {k: %s}\n"
              "nodes:\n  - {name: a, jq: '{k: %s}'}\n  - {name: b, jq: '{k: %s}'}\n"
              "  - {name: o, jq: '{}'}\n  - {name: j, jq: '{}'}\n"
              "edges:\n  - {from: __start__, to: [a, o], fan_in: j}\n  - {from: a, to: b}\n"
              "  - {from: [b, o], to: j}\n  - {from: j, to: __end__}\n");
}

static void writes_in_nested_branches(void **state) {
    (void)state;
    run_cases("state: {k: %s}\n"
              "nodes:\n  - {name: s, jq: '{}'}\n  - {name: a, jq: '{k: %s}'}\n"
              "  - {name: b, jq: '{k: %s}'}\n  - {name: i, jq: '{}'}\n"
              "  - {name: o, jq: '{}'}\n  - {name: j, jq: '{}'}\n"
              "edges:\n  - {from: __start__, to: [s, o], fan_in: j}\n"
              "  - {from: s, to: [a, b], fan_in: i}\n  - {from: [a, b], to: i}\n"
              "  - {from: [i, o], to: j}\n  - {from: j, to: __end__}\n");
}

static void one_write_in_a_branch_of_a_branch_and_one_beside(void **state) {
    (void)state;
    run_cases("state: {k: %s}\n"
              "nodes:\n  - {name: s, jq: '{}'}\n  - {name: a, jq: '{k: %s}'}\n"
              "  - {name: b, jq: '{k: %s}'}\n  - {name: p, jq: '{}'}\n  - {name: i, jq: '{}'}\n"
              "  - {name: j, jq: '{}'}\n"
              "edges:\n  - {from: __start__, to: [s, b], fan_in: j}\n"
              "  - {from: s, to: [a, p], fan_in: i}\n  - {from: [a, p], to: i}\n"
              "  - {from: [i, b], to: j}\n  - {from: j, to: __end__}\n");
}

static void writes_in_the_turns_of_a_loop(void **state) {
    (void)state;
    run_cases("state: {k: %s, n: 0}\n"
              "nodes:\n"
              "  - name: l\n"
              "    while: '.n < 2'\n"
              "    do:\n"
              "      - {name: w, jq: 'if .n == 0 then {k: %s} else {k: %s} end'}\n"
              "      - {name: i, jq: '{n: (.n + 1)}'}\n");
}

static void writes_in_a_loop_in_a_branch(void **state) {
    (void)state;
    run_cases("state: {k: %s, n: 0}\n"
              "nodes:\n"
              "  - name: l\n"
              "    while: '.n < 2'\n"
              "    do:\n"
              "      - {name: w, jq: 'if .n == 0 then {k: %s} else {k: %s} end'}\n"
              "      - {name: i, jq: '{n: (.n + 1)}'}\n"
              "  - {name: o, jq: '{}'}\n  - {name: j, jq: '{}'}\n"
              "edges:\n  - {from: __start__, to: [l, o], fan_in: j}\n"
              "  - {from: [l, o], to: j}\n  - {from: j, to: __end__}\n");
}

static void writes_by_sub_workflows_in_branches(void **state) {
    (void)state;
    host_file("give.yaml", "nodes: [{name: g, jq: '{k: .give}'}]\n");
    run_cases("state: {k: %s}\n"
              "nodes:\n  - {name: a, workflow: give.yaml, input: '{give: (%s)}'}\n"
              "  - {name: b, workflow: give.yaml, input: '{give: (%s)}'}\n"
              "  - {name: j, jq: '{}'}\n"
              "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
              "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n");
}

static void writes_in_branches_inside_a_sub_workflow(void **state) {
    (void)state;
    for (size_t i = 0; i < NCASES; i++) {
        Buf sub = BUF_INIT;
        char thread[32];
        snprintf(thread, sizeof thread, "t%zu", i);
        buf_printf(&sub,
                   "state: {k: %s}\n"
                   "nodes:\n  - {name: a, jq: '{k: %s}'}\n  - {name: b, jq: '{k: %s}'}\n"
                   "  - {name: j, jq: '{}'}\n"
                   "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
                   "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n",
                   cases[i].declared, cases[i].first, cases[i].second);
        host_file("sub.yaml", sub.data);
        buf_clear(&sub);
        host.settled = 0;
        host.checkpoint = 0;
        Run *run = host_start("nodes: [{name: w, workflow: sub.yaml, output: r}]\n", thread,
                              "{\"base\": 4}");
        host_go();
        expect_run(run, "completed", NULL);
        expect_json(json_object_get_c(json_object_get_c(run_state(run), "r"), "k"), cases[i].want);
    }
}

static void writes_of_a_map_and_a_node_in_branches(void **state) {
    (void)state;
    Run *run = host_run("state: {k: {default: [], reduce: append}}\n"
                        "nodes:\n"
                        "  - {name: m, map: {over: '[1, 2]', as: x}, do: {jq: '$x'}, output: k}\n"
                        "  - {name: b, jq: '{k: [3]}'}\n"
                        "  - {name: j, jq: '{}'}\n"
                        "edges:\n  - {from: __start__, to: [m, b], fan_in: j}\n"
                        "  - {from: [m, b], to: j}\n  - {from: j, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"k\": [1, 2, 3]}");
}

static void branches_join_in_their_order_not_in_time(void **state) {
    (void)state;
    Run *run = host_run("state: {k: {default: [], reduce: append}}\n"
                        "nodes:\n"
                        "  - {name: slow, shell: 'sleep 0.3; echo [1]', parse: json, output: k}\n"
                        "  - {name: fast, jq: '{k: [2]}'}\n"
                        "  - {name: mid, shell: 'sleep 0.1; echo [3]', parse: json, output: k}\n"
                        "  - {name: j, jq: '{}'}\n"
                        "edges:\n  - {from: __start__, to: [slow, fast, mid], fan_in: j}\n"
                        "  - {from: [slow, fast, mid], to: j}\n  - {from: j, to: __end__}\n",
                        NULL);
    expect_run(run, "completed", "{\"k\": [1, 2, 3]}");
}

#define FORK(a, b)                                                                  \
    "nodes:\n  - {name: a, " a "}\n  - {name: b, " b "}\n  - {name: j, jq: '{}'}\n" \
    "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"                        \
    "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n"

static void two_branches_that_write_one_key_are_an_error_that_names_both(void **state) {
    (void)state;
    Run *run = host_run(FORK("jq: '{x: 1}'", "jq: '{x: 2}'"), "{\"x\": 0}");
    expect_failed(run, "join", "Nodes `a` and `b` wrote `x` in parallel branches");
    expect_run(run, "failed", "{\"x\": 0}");
}

static void the_same_value_in_two_branches_is_a_conflict_too(void **state) {
    (void)state;
    expect_failed(host_run(FORK("jq: '{x: 1}'", "jq: '{x: 1}'"), NULL), "join", "`a` and `b`");
}

static void a_conflict_names_the_nodes_inside(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: s, jq: '{}'}\n  - {name: p, jq: '{y: 1}'}\n"
                        "  - {name: q, jq: '{x: 1}'}\n  - {name: i, jq: '{}'}\n"
                        "  - name: l\n"
                        "    while: '.x | not'\n"
                        "    do: [{name: r, jq: '{x: 2}'}]\n"
                        "  - {name: j, jq: '{}'}\n"
                        "edges:\n  - {from: __start__, to: [s, l], fan_in: j}\n"
                        "  - {from: s, to: [p, q], fan_in: i}\n  - {from: [p, q], to: i}\n"
                        "  - {from: [i, l], to: j}\n  - {from: j, to: __end__}\n",
                        NULL);
    expect_failed(run, "join", "Nodes `q` and `r` wrote `x`");
}

static void commands_without_output_do_not_fight(void **state) {
    (void)state;
    Run *run = host_run(FORK("shell: 'echo 1'", "shell: 'echo 2'"), NULL);
    expect_run(run, "completed", "{\"stdout\": \"2\", \"exit_code\": 0}");
}

static void commands_with_one_output_do(void **state) {
    (void)state;
    Run *run = host_run(FORK("shell: 'echo 1', output: r", "shell: 'echo 2', output: r"), NULL);
    expect_failed(run, "join", "Nodes `a` and `b` wrote `r`");
}

static void a_key_written_by_one_branch_is_taken_over(void **state) {
    (void)state;
    Run *run = host_run(FORK("jq: '{x: 1}'", "jq: '{y: 2}'"), "{\"x\": 0, \"y\": 0}");
    expect_run(run, "completed", "{\"x\": 1, \"y\": 2}");
}

static void a_reducer_that_fails_names_its_key(void **state) {
    (void)state;
    Run *run = host_run("state: {k: {default: {}, reduce: add}}\n"
                        "nodes: [{name: a, jq: '{k: 1}'}]\n",
                        NULL);
    expect_failed(run, "reduce", "the reducer of `k`");
    expect_run(run, "failed", "{\"k\": {}}");
}

static void a_reducer_that_fails_at_the_join_leaves_the_state_as_it_was(void **state) {
    (void)state;
    Run *run = host_run("state: {k: {default: {}, reduce: 'if $new == 2 then error(\"no\") else"
                        " $new end'}, l: 0}\n" FORK("jq: '{l: 5, k: 1}'",
                                                    "jq: '{k: (if .k == {} then 3 else 2 end)}'"),
                        NULL);
    expect_run(run, "completed", "{\"k\": 3, \"l\": 5}");
    host.settled = 0;
    host.checkpoint = 0;
    run = host_start("state: {k: {default: 1, reduce: 'if $old == 2 then error(\"no\") else $new"
                     " end'}, l: 0}\n" FORK("jq: '{l: 5, k: 2}'", "jq: '{k: 3}'"),
                     "u", NULL);
    host_go();
    expect_failed(run, "join", "no");
    expect_run(run, "failed", "{\"k\": 1, \"l\": 0}");
}

static void null_written_in_a_branch_is_written(void **state) {
    (void)state;
    Run *run = host_run(FORK("jq: '{x: null}'", "jq: '{}'"), "{\"x\": 1}");
    expect_run(run, "completed", "{\"x\": null}");
}

static void a_thousand_appends_in_two_branches_keep_their_order(void **state) {
    (void)state;
    Run *run =
        host_run("config: {recursion_limit: 5000}\n"
                 "state: {k: {default: [], reduce: append}}\n"
                 "nodes:\n"
                 "  - {name: a, jq: '{k: [.n], n: (.n + 1)}'}\n"
                 "  - {name: b, jq: '{k: [.m], m: (.m + 1)}'}\n"
                 "  - {name: j, jq: '{k: [], ok: (.k == [range(0; 1000), range(0; 1000)])}'}\n"
                 "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
                 "  - {from: a, to: a, when: '.n < 1000'}\n  - {from: a, to: j}\n"
                 "  - {from: b, to: b, when: '.m < 1000'}\n  - {from: b, to: j}\n"
                 "  - {from: j, to: __end__}\n",
                 "{\"n\": 0, \"m\": 0}");
    expect_run(run, "completed", NULL);
    expect_json(json_object_get_c(run_state(run), "ok"), "true");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(writes_one_after_the_other),
        TEST(writes_in_two_branches),
        TEST(writes_in_one_branch),
        TEST(writes_in_nested_branches),
        TEST(one_write_in_a_branch_of_a_branch_and_one_beside),
        TEST(writes_in_the_turns_of_a_loop),
        TEST(writes_in_a_loop_in_a_branch),
        TEST(writes_by_sub_workflows_in_branches),
        TEST(writes_in_branches_inside_a_sub_workflow),
        TEST(writes_of_a_map_and_a_node_in_branches),
        TEST(branches_join_in_their_order_not_in_time),
        TEST(two_branches_that_write_one_key_are_an_error_that_names_both),
        TEST(the_same_value_in_two_branches_is_a_conflict_too),
        TEST(a_conflict_names_the_nodes_inside),
        TEST(commands_without_output_do_not_fight),
        TEST(commands_with_one_output_do),
        TEST(a_key_written_by_one_branch_is_taken_over),
        TEST(a_reducer_that_fails_names_its_key),
        TEST(a_reducer_that_fails_at_the_join_leaves_the_state_as_it_was),
        TEST(null_written_in_a_branch_is_written),
        TEST(a_thousand_appends_in_two_branches_keep_their_order),
    };
    return RUN_TESTS(tests);
}
