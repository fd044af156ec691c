/* Where two runs part: by what each frame did, whatever the order. */
#include "divergence.h"
#include "engine_host.h"
#include "json_binary.h"
#include "stored_flow.h"
#include "sweep.h"

/* A run of a file under a thread's name; the file may differ from run to run. */
static void play(const char *thread, const char *yaml, const char *input) {
    host_start(yaml, thread, input);
    host_go();
    host_fresh();
}

typedef struct End {
    const char *thread;
    int64_t seq; /* 0: the head */
} End;

static Json find(End a, End b) {
    DivergenceSide sides[2];
    Flow *flows[2];
    const End *ends[] = {&a, &b};
    for (size_t i = 0; i < 2; i++) {
        RunRow row = {0};
        assert_true(store_find(host.store, ends[i]->thread, &row, &host.err));
        flows[i] = stored_flow(host.store, &row, json_none(), &host.err);
        assert_non_null(flows[i]);
        int64_t seq = ends[i]->seq ? ends[i]->seq : row.head;
        sides[i] = (DivergenceSide){row.run, seq, flows[i]};
        run_row_clear(&row);
    }
    Json found = divergence_find(host.store, &sides[0], &sides[1], &host.err);
    if (json_is_none(found)) fail_msg("%s", host.err.msg);
    flow_unref(flows[0]);
    flow_unref(flows[1]);
    return found;
}

static void expect_parting(const char *a, const char *b, const char *want) {
    expect_gives(find((End){a, 0}, (End){b, 0}), want);
}

#define TWO(b) "nodes: [{name: a, jq: '{x: 1}'}, {name: b, jq: '" b "'}, {name: c, jq: '{z: 1}'}]\n"

static void a_run_is_the_same_as_itself_and_as_another_like_it(void **state) {
    (void)state;
    play("t", TWO("{y: .x}"), NULL);
    play("u", TWO("{y: .x}"), NULL);
    expect_parting("t", "t", "{\"same\": true, \"steps\": 3}");
    expect_parting("t", "u", "{\"same\": true, \"steps\": 3}");
}

static void runs_part_where_a_node_gives_something_else(void **state) {
    (void)state;
    play("t", TWO("{y: 1, k: 1}"), NULL);
    play("u", TWO("{y: 2, l: 2}"), NULL);
    expect_parting(
        "t", "u",
        "{\"same\": false, \"steps\": 1, \"frame\": \"main\","
        "\"a\": {\"checkpoint\": 3, \"node\": \"b\", \"status\": \"completed\", \"step\": 2},"
        "\"b\": {\"checkpoint\": 3, \"node\": \"b\", \"status\": \"completed\", \"step\": 2},"
        "\"diff\": {\"added\": [{\"path\": [\"l\"], \"new\": 2}],"
        "\"removed\": [{\"path\": [\"k\"], \"old\": 1}],"
        "\"changed\": [{\"path\": [\"y\"], \"old\": 1, \"new\": 2}]}}");
}

static void expect_nodes(Json found, int steps, const char *frame, const char *a, const char *b) {
    Json x = json_object_get_c(found, "a"), y = json_object_get_c(found, "b");
    expect_json(json_object_get_c(found, "same"), "false");
    assert_int_equal(json_object_get_c(found, "steps").i, steps);
    assert_true(json_string_is(json_object_get_c(found, "frame"), frame));
    assert_int_equal(json_is_none(x), !a);
    assert_int_equal(json_is_none(y), !b);
    if (a) assert_true(json_string_is(json_object_get_c(x, "node"), a));
    if (b) assert_true(json_string_is(json_object_get_c(y, "node"), b));
    json_unref(found);
}

static void runs_part_where_another_way_is_taken(void **state) {
    (void)state;
    static const char *const yaml =
        "nodes: [{name: a, jq: '{}'}, {name: b, jq: '{}'}, {name: c, jq: '{}'}]\n"
        "edges:\n  - {from: __start__, to: a}\n"
        "  - {from: a, to: %s}\n  - {from: [b, c], to: __end__}\n";
    char text[400];
    snprintf(text, sizeof text, yaml, "b, when: 'true'}\n  - {from: a, to: c");
    play("t", text, NULL);
    snprintf(text, sizeof text, yaml, "b, when: 'false'}\n  - {from: a, to: c");
    play("u", text, NULL);
    expect_nodes(find((End){"t", 0}, (End){"u", 0}), 1, "main", "b", "c");
}

static void runs_part_where_one_fails(void **state) {
    (void)state;
    play("t", TWO("{}"), NULL);
    play("u", TWO("error(\"no\")"), NULL);
    Json found = find((End){"t", 0}, (End){"u", 0});
    assert_true(
        json_string_is(json_object_get_c(json_object_get_c(found, "b"), "status"), "failed"));
    expect_nodes(found, 1, "main", "b", "b");
}

static void a_run_that_ends_early_has_no_step_there(void **state) {
    (void)state;
    play("t", TWO("{}"), NULL);
    expect_nodes(find((End){"t", 3}, (End){"t", 0}), 2, "main", NULL, "c");
    expect_nodes(find((End){"t", 0}, (End){"t", 3}), 2, "main", "c", NULL);
}

static void runs_that_begin_differently_part_at_once(void **state) {
    (void)state;
    play("t", TWO("{}"), "{\"in\": 1}");
    play("u", TWO("{}"), "{\"in\": 2}");
    expect_parting("t", "u",
                   "{\"same\": false, \"steps\": 0, \"frame\": \"main\","
                   "\"a\": {\"checkpoint\": 1, \"status\": \"started\", \"step\": 0},"
                   "\"b\": {\"checkpoint\": 1, \"status\": \"started\", \"step\": 0},"
                   "\"diff\": {\"added\": [], \"removed\": [],"
                   "\"changed\": [{\"path\": [\"in\"], \"old\": 1, \"new\": 2}]}}");
}

/* ---- branches ---- */

/* a waits until b is on record, or b for a: the order of their checkpoints is the other one. */
#define RACE(first, second, b)                                                       \
    "nodes:\n  - {name: s, jq: '{s: 1}'}\n"                                          \
    "  - {name: a, shell: '" first "', output: a}\n  - {name: a2, jq: '{a2: .s}'}\n" \
    "  - {name: b, shell: '" second "', output: b}\n  - {name: b2, jq: '" b "'}\n"   \
    "  - {name: j, jq: '{j: 1}'}\n"                                                  \
    "edges:\n  - {from: __start__, to: s}\n  - {from: s, to: [a, b], fan_in: j}\n"   \
    "  - {from: a, to: a2}\n  - {from: b, to: b2}\n  - {from: [a2, b2], to: j}\n"    \
    "  - {from: j, to: __end__}\n"
#define WAITS "while [ ! -e go ]; do sleep 0.02; done"

static const char *first_one;

static void let_the_other_go(Host *h, const Event *e) {
    (void)h;
    if (e->type == EVENT_STEP && e->node && !strcmp(e->node, first_one)) host_file("go", "");
}

static void the_order_of_branches_does_not_count(void **state) {
    (void)state;
    host.on_event = let_the_other_go;
    first_one = "a";
    play("t", RACE("true", WAITS, "{b2: 1}"), NULL);
    unlink("go");
    first_one = "b";
    play("u", RACE(WAITS, "true", "{b2: 1}"), NULL);
    host.on_event = NULL;
    char *t = host_history("t"), *u = host_history("u");
    assert_string_not_equal(t, u);
    mem_free(t);
    mem_free(u);
    expect_parting("t", "u", "{\"same\": true, \"steps\": 6}");
}

static void what_a_branch_leaves_is_compared(void **state) {
    (void)state;
    play("t", RACE("true", "true", "{b2: 1}"), NULL);
    play("u", RACE("true", "true", "{b2: 2}"), NULL);
    Json found = find((End){"t", 0}, (End){"u", 0});
    Json changed = json_object_get_c(json_object_get_c(found, "diff"), "changed");
    expect_json(changed, "[{\"path\": [\"b2\"], \"old\": 1, \"new\": 2}]");
    Json steps = json_ref(json_object_get_c(found, "steps"));
    expect_nodes(found, (int)steps.i, "main/s[1]", "b2", "b2");
}

static void elements_are_compared_by_their_place(void **state) {
    (void)state;
    static const char *const yaml =
        "nodes: [{name: m, map: {over: '[1, 2, 3]', as: x}, do: {jq: '%s'}}]\n";
    char text[200];
    snprintf(text, sizeof text, yaml, "$x");
    play("t", text, NULL);
    snprintf(text, sizeof text, yaml, "if $x == 2 then 9 else $x end");
    play("u", text, NULL);
    Json found = find((End){"t", 0}, (End){"u", 0});
    expect_json(json_object_get_c(json_object_get_c(found, "diff"), "changed"),
                "[{\"path\": [], \"old\": 2, \"new\": 9}]");
    expect_nodes(found, 1, "main/m[1]", "m[]", "m[]");
}

static void sub_workflows_are_gone_into(void **state) {
    (void)state;
    host_file("one.yaml", "nodes: [{name: p, jq: '{p: 1}'}, {name: q, jq: '{q: 1}'}]\n");
    host_file("two.yaml", "nodes: [{name: p, jq: '{p: 1}'}, {name: q, jq: '{q: 2}'}]\n");
    play("t", "nodes: [{name: a, jq: '{}'}, {name: w, workflow: one.yaml}]\n", NULL);
    play("u", "nodes: [{name: a, jq: '{}'}, {name: w, workflow: two.yaml}]\n", NULL);
    expect_nodes(find((End){"t", 0}, (End){"u", 0}), 2, "main", "q", "q");
}

/* ---- lines of one run, and threads from others ---- */

static void two_lines_of_a_run_part_after_their_fork(void **state) {
    (void)state;
    play("t", TWO("{y: (.x + 1)}"), NULL);
    Json set = parse("[[[\"x\"], 5]]");
    host_resume(&(RunResume){.thread = "t", .seq = 2, .set = set});
    json_unref(set);
    host_fresh();
    Json found = find((End){"t", 4}, (End){"t", 0});
    expect_json(
        json_object_get_c(json_object_get_c(found, "diff"), "changed"),
        "[{\"path\": [\"x\"], \"old\": 1, \"new\": 5}, {\"path\": [\"y\"], \"old\": 2, \"new\": 6}]");
    expect_nodes(found, 1, "main", "b", "b");
}

static void a_fork_that_does_the_same_is_the_same(void **state) {
    (void)state;
    play("t", TWO("{y: (.x + 1)}"), NULL);
    host_resume(&(RunResume){.thread = "t", .seq = 2});
    host_fresh();
    expect_gives(find((End){"t", 4}, (End){"t", 0}), "{\"same\": true, \"steps\": 3}");
}

static void a_thread_from_another_is_compared_from_where_it_began(void **state) {
    (void)state;
    RunRow row = {0};
    play("t", TWO("{y: (.x + 1)}"), NULL);
    assert_true(engine_fork_now(host.engine, "t", 2, "u", &row, &host.err));
    run_row_clear(&row);
    host_fresh();
    host_resume(&(RunResume){.thread = "u"});
    host_fresh();
    expect_parting("t", "u", "{\"same\": true, \"steps\": 2}");
    expect_parting("u", "t", "{\"same\": true, \"steps\": 2}");
    assert_true(engine_fork_now(host.engine, "t", 3, "v", &row, &host.err));
    run_row_clear(&row);
    host_fresh();
    expect_nodes(find((End){"t", 0}, (End){"v", 0}), 0, "main", "c", NULL);
    Json found = find((End){"t", 2}, (End){"v", 0}); /* it had ended before the other begins */
    assert_true(json_is_none(json_object_get_c(found, "a")));
    expect_json(json_object_get_c(found, "same"), "false");
    json_unref(found);
}

/* ---- the tasks dialect ---- */

#define TASKS(value)                                                                                     \
    "config: {n: 1}\ntasks:\n  - {name: run_shell, id: a, config: {command: 'echo ::set-output o " value \
    "'}}\n  - name: run_tasks_concurrent\n    config:\n      tasks:\n"                                   \
    "        - {name: run_shell, id: p, config: {command: 'true'}}\n"                                    \
    "        - {name: run_shell, id: q, config: {command: 'true'}}\n"

static void tasks_are_compared_by_what_they_change(void **state) {
    (void)state;
    play("t", TASKS("1"), NULL);
    play("u", TASKS("1"), NULL);
    play("v", TASKS("2"), NULL);
    Json found = find((End){"t", 0}, (End){"u", 0});
    expect_json(json_object_get_c(found, "same"), "true");
    json_unref(found);
    expect_nodes(find((End){"t", 0}, (End){"v", 0}), 0, "main", "a", "a");
}

/* ---- damage, and length ---- */

static void a_line_that_cannot_be_read_is_an_error(void **state) {
    (void)state;
    play("t", TWO("{}"), NULL);
    RunRow row = {0};
    assert_true(store_find(host.store, "t", &row, &host.err));
    Flow *flow = stored_flow(host.store, &row, json_none(), &host.err);
    DivergenceSide good = {row.run, row.head, flow}, bad = {row.run, 99, flow};
    expect_gives(divergence_find(host.store, &good, &bad, &host.err), "(none)");
    expect_contains(host.err.msg, "99");
    expect_gives(divergence_find(host.store, &bad, &good, NULL), "(none)");
    flow_unref(flow);
    run_row_clear(&row);
}

static void long_runs_are_compared_in_one_pass(void **state) {
    (void)state;
    int turns = sweep_of(20000, 2000);
    char yaml[512], same[64];
    snprintf(
        yaml, sizeof yaml,
        "config: {recursion_limit: 100000}\nstate: {n: 0, l: {default: [], reduce: append}}\n"
        "nodes: [{name: a, jq: '{n: (.n + 1), l: .n}'}]\n"
        "edges: [{from: __start__, to: a}, {from: a, to: a, when: '.n < %d'}, {from: a, to: __end__}]\n",
        turns);
    snprintf(same, sizeof same, "{\"same\": true, \"steps\": %d}", turns);
    play("t", yaml, NULL);
    play("u", yaml, NULL);
    uint64_t begin = uv_hrtime();
    expect_parting("t", "u", same);
    print_message("# %d steps in %d ms\n", turns, (int)((uv_hrtime() - begin) / 1000000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_ALL(a_run_is_the_same_as_itself_and_as_another_like_it),
        TEST(runs_part_where_a_node_gives_something_else),
        TEST(runs_part_where_another_way_is_taken),
        TEST(runs_part_where_one_fails),
        TEST(a_run_that_ends_early_has_no_step_there),
        TEST(runs_that_begin_differently_part_at_once),
        TEST(the_order_of_branches_does_not_count),
        TEST(what_a_branch_leaves_is_compared),
        TEST(elements_are_compared_by_their_place),
        TEST(sub_workflows_are_gone_into),
        TEST_ALL(two_lines_of_a_run_part_after_their_fork),
        TEST(a_fork_that_does_the_same_is_the_same),
        TEST(a_thread_from_another_is_compared_from_where_it_began),
        TEST(tasks_are_compared_by_what_they_change),
        TEST(a_line_that_cannot_be_read_is_an_error),
        TEST(long_runs_are_compared_in_one_pass),
    };
    return RUN_TESTS(tests);
}
