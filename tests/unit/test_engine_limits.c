/* How large a state, a result and all of a run may be. Values share their parts: what these workflows make is
 * small in memory, and stands for more than anybody could write. */
#include "engine_host.h"
#include "sweep.h"

/* An expression for a value that stands for so many megabytes, about, and takes hardly any. */
#define MB_100 "(reduce range(21) as $i (1; [., .]))"

static void with_limit(uint64_t max_state) {
    host_down();
    host.max_state = max_state;
    host_up();
}

static void an_error_of_size_says_how_large_and_how_large_it_may_be(void **state) {
    (void)state;
    with_limit(1 << 20);
    Run *run =
        host_run("nodes: [{name: a, jq: '{x: (reduce range(40) as $i (1; [., .]))}'}]\n", NULL);
    expect_failed(run, "limit", "The result is too large: about ");
    assert_int_equal(run_error_int(run, "limit"), 1 << 20);
    assert_true(run_error_int(run, "size") > INT64_C(1) << 40);
}

static void an_input_that_is_too_large_is_refused(void **state) {
    (void)state;
    with_limit(1 << 20);
    Flow *flow = host_flow("nodes: [{name: a, jq: '{}'}]\n");
    Json input = json_object_with(json_object(), "x", json_int(1));
    for (int i = 0; i < 35; i++) {
        Json x = json_ref(input);
        input = json_object_with(json_object_with(json_object(), "a", x), "b", input);
    }
    error_clear(&host.err);
    assert_null(engine_start_now(host.engine, flow, &(RunStart){.input = input}, &host.err));
    assert_int_equal(host.err.code, ERR_LIMIT);
    expect_contains(host.err.msg, "The input is too large");
    json_unref(input);
    flow_unref(flow);
}

/* A sub-workflow adds to a list what it wrote, however large the list has become by that. */
static void what_a_sub_workflow_adds_counts(void **state) {
    (void)state;
    with_limit(1 << 20);
    host_file("sub.yaml", "state: {log: {default: [], reduce: append}}\n"
                          "nodes: [{name: i, jq: '{log: [\"x\" * 300000]}'}]\n");
    Run *run = host_run("state: {log: {default: [], reduce: append}}\n"
                        "nodes: [{name: s, workflow: sub.yaml, input: '{}', goto: s}]\n",
                        NULL);
    expect_failed(run, "limit", "The state is too large: about 1 MB");
    assert_string_equal(run_error_text(run, "node"), "s");
}

static void what_branches_join_counts(void **state) {
    (void)state;
    with_limit(1 << 20);
    Run *run = host_run("state: {log: {default: [], reduce: append}}\n"
                        "nodes:\n"
                        "  - {name: a, jq: '{}'}\n"
                        "  - {name: b, jq: '{log: [\"x\" * 700000]}'}\n"
                        "  - {name: c, jq: '{log: [\"y\" * 700000]}'}\n"
                        "  - {name: d, jq: '{}'}\n"
                        "edges:\n"
                        "  - {from: __start__, to: a}\n"
                        "  - {from: a, to: [b, c]}\n"
                        "  - {from: [b, c], to: d}\n"
                        "  - {from: d, to: __end__}\n",
                        NULL);
    expect_failed(run, "limit", "The state is too large");
}

static void what_a_map_goes_over_counts(void **state) {
    (void)state;
    with_limit(1 << 20);
    Run *run = host_run("nodes: [{name: a, map: '[1, (reduce range(40) as $i (1; [., .]))]', "
                        "do: {jq: '1'}}]\n",
                        NULL);
    expect_failed(run, "map", "The value is too large");
}

static void what_a_person_sets_counts(void **state) {
    (void)state;
    with_limit(1 << 20);
    host_run("nodes: [{name: a, approval: {prompt: Go?}}]\n", NULL);
    Json value = json_int(1);
    for (int i = 0; i < 40; i++)
        value = json_array_push(json_array_push(json_array(), json_ref(value)), value);
    Json set = json_array_push(
        json_array(), json_array_push(json_array_push(json_array(), parse("[\"x\"]")), value));
    int64_t seq = 0;
    error_clear(&host.err);
    assert_false(
        engine_update_now(host.engine, &(RunUpdate){.thread = "t", .set = set}, &seq, &host.err));
    assert_int_equal(host.err.code, ERR_LIMIT);
    expect_contains(host.err.msg, "The state is too large");
    json_unref(set);
}

/* Each of them is within its limit; what the map keeps until all have ended is not. */
static void results_that_wait_for_others_count_together(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: a, jq: '{x: " MB_100 "}'}\n"
                        "  - {name: m, map: '[range(20)]', limit: 1, do: {jq: '.x'}}\n",
                        NULL);
    expect_failed(run, "limit", "All of the run is too large");
    expect_sound_store();
}

/* The states of branches are one until each has changed its own; then they are written one by one. */
static void what_cannot_be_recorded_is_not_and_the_run_stops_where_its_record_ends(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: a, jq: '{x: " MB_100 "}'}\n"
                        "  - {name: b, jq: '{p: 1}'}\n"
                        "  - {name: c, jq: '{q: 1}'}\n"
                        "  - {name: d, jq: '{r: 1}'}\n"
                        "  - {name: e, jq: '{s: 1}'}\n"
                        "  - {name: f, jq: '{t: 1}'}\n"
                        "  - {name: b2, approval: {prompt: Go?}}\n"
                        "  - {name: c2, approval: {prompt: Go?}}\n"
                        "  - {name: d2, approval: {prompt: Go?}}\n"
                        "  - {name: e2, approval: {prompt: Go?}}\n"
                        "  - {name: f2, approval: {prompt: Go?}}\n"
                        "edges:\n"
                        "  - {from: __start__, to: a}\n"
                        "  - {from: a, to: [b, c, d, e, f]}\n"
                        "  - {from: b, to: b2}\n  - {from: c, to: c2}\n  - {from: d, to: d2}\n"
                        "  - {from: e, to: e2}\n  - {from: f, to: f2}\n"
                        "  - {from: [b2, c2, d2, e2, f2], to: __end__}\n",
                        NULL);
    expect_run(run, "stopped", NULL);
    assert_non_null(run_store_error(run));
    assert_int_equal(run_store_error(run)->code, ERR_LIMIT);
    expect_contains(run_store_error(run)->msg, "too large to be recorded");
    int64_t head = run_checkpoint(run);
    expect_sound_store();
    RunRow row;
    assert_true(store_find(host.store, "t", &row, &host.err));
    assert_string_equal(row.status, "stopped");
    assert_int_equal(row.head, head);
    assert_int_equal(row.last, head);
    run_row_clear(&row);
    run = host_resume(&(RunResume){.thread = "t"}); /* and comes to the same */
    expect_run(run, "stopped", NULL);
}

/* Where most items of a long list change, each with its path, the changes would outweigh the list. */
static void a_patch_is_never_heavier_than_what_it_changes(void **state) {
    (void)state;
    host_run("nodes:\n"
             "  - {name: a, jq: '{x: [range(100000)]}'}\n"
             "  - {name: b, jq: '{x: [.x[] | if . % 2 == 0 then . else -. end]}'}\n",
             NULL);
    Checkpoint c;
    RunRow row;
    assert_true(store_find(host.store, "t", &row, &host.err));
    for (int64_t seq = 1; seq <= row.last; seq++) {
        assert_true(store_checkpoint(host.store, row.run, seq, &c, &host.err));
        assert_true(c.patch_len < 700000);
    }
    run_row_clear(&row);
    expect_sound_store();
}

/* One at a time here: each says when it begins and when it ends. */
static void what_commands_are_given_together_is_bounded(void **state) {
    (void)state;
    host_down();
    host.max_given = 1 << 20;
    host_up();
    Run *run =
        host_run("nodes:\n"
                 "  - name: m\n"
                 "    map: {over: '[range(6)]', as: x}\n"
                 "    do: {stdin: '\"x\" * 600000',\n"
                 "         shell: 'echo + >> log; cat | wc -c; sleep 0.05; echo - >> log'}\n",
                 NULL);
    assert_string_equal(run_status(run), "completed");
    FILE *log = fopen("log", "r");
    int under_way = 0, seen = 0;
    assert_non_null(log);
    for (int c; (c = fgetc(log)) != EOF;) {
        under_way += (c == '+') - (c == '-');
        seen += c == '+';
        assert_in_range(under_way, 0, 1);
    }
    fclose(log);
    assert_int_equal(seen, 6);
    host.max_given = 0;
}

/* Hundreds of megabytes go through a store: the sanitizers see that of one. */
#if SANITIZED
#define TEST_LARGE(f) ON(f, "sqlite")
#else
#define TEST_LARGE(f) TEST_ALL(f)
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_error_of_size_says_how_large_and_how_large_it_may_be),
        TEST(an_input_that_is_too_large_is_refused),
        TEST(what_a_sub_workflow_adds_counts),
        TEST(what_branches_join_counts),
        TEST(what_a_map_goes_over_counts),
        TEST(what_a_person_sets_counts),
        TEST_LARGE(results_that_wait_for_others_count_together),
        TEST_LARGE(what_cannot_be_recorded_is_not_and_the_run_stops_where_its_record_ends),
        TEST(a_patch_is_never_heavier_than_what_it_changes),
        TEST(what_commands_are_given_together_is_bounded),
    };
    return RUN_TESTS(tests);
}
