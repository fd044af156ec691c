/* Turns: work that takes long gives the loop back, and goes on where it was. */
#include "engine_host.h"

#include "hooks.h"

#define LONG_JQ  "jq: '{a: (reduce range(1000000) as $i (0; . + 1))}'"
#define LONG_LUA "lua: 'local n = 0 for i = 1, 10000000 do n = n + 1 end return {a = n}'"

/* Turns of the loop until the run has settled. */
static int turns_of(Run *run) {
    int turns = 0;
    for (; !run_settled(run); turns++) uv_run(&host.loop, UV_RUN_NOWAIT);
    return turns;
}

static bool is_working(Run *run) {
    Json frames = run_frames(run, 1);
    bool works = json_string_is(json_object_get_c(json_array_get(frames, 0), "status"), "working");
    json_unref(frames);
    return works;
}

/* The host keeps the events of one run at a time. */
static Run *start_quietly(const char *yaml, const char *thread) {
    Run *run = host_start(yaml, thread, NULL);
    run_listen(run, 0, false);
    return run;
}

/* Starts it, and turns the loop until a node is in the midst of it. */
static Run *start_long(const char *yaml, const char *thread) {
    Run *run = start_quietly(yaml, thread);
    while (!is_working(run)) {
        assert_false(run_settled(run));
        uv_run(&host.loop, UV_RUN_NOWAIT);
    }
    return run;
}

static const char *const long_nodes[] = {"nodes: [{name: long, " LONG_JQ "}]\n",
                                         "nodes: [{name: long, " LONG_LUA "}]\n"};
static const char *const long_results[] = {"{\"a\": 1000000}", "{\"a\": 10000000}"};

static void a_node_that_computes_leaves_the_loop_to_others(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char name[2][24];
        snprintf(name[0], sizeof name[0], "a%zu", i);
        snprintf(name[1], sizeof name[1], "b%zu", i);
        Run *slow = start_long(long_nodes[i], name[0]);
        Run *quick =
            start_quietly("nodes: [{name: a, jq: '{n: 1}'}, {name: b, shell: 'true'}]\n", name[1]);
        int turns = turns_of(slow);
        assert_true(turns > 2);
        host_settle(quick);
        expect_run(slow, "completed", long_results[i]);
    }
}

/* Each is in the midst of its own: machines and interpreters are not shared. */
static void branches_and_runs_that_compute_do_not_meet(void **state) {
    (void)state;
    static const char branches[] =
        "state: {out: {default: [], reduce: append}}\n"
        "nodes:\n"
        "  - name: all\n"
        "    map: {over: '[1, 2, 3]', as: x}\n"
        "    do: {jq: '[$x, reduce range(300000) as $i (0; . + $x)]'}\n"
        "    output: out\n"
        "  - name: more\n"
        "    map: {over: '[1, 2, 3]', as: x}\n"
        "    do: {lua: 'local n = 0 for i = 1, 2000000 do n = n + x end return {x, n}'}\n"
        "    output: out\n";
    Run *runs[3];
    for (int i = 0; i < 3; i++) {
        char name[24];
        snprintf(name, sizeof name, "r%d", i);
        runs[i] = start_quietly(branches, name);
    }
    for (int i = 0; i < 3; i++) {
        for (; !run_settled(runs[i]);) uv_run(&host.loop, UV_RUN_NOWAIT);
        expect_run(runs[i], "completed",
                   "{\"out\": [[1,300000],[2,600000],[3,900000],"
                   "[1,2000000],[2,4000000],[3,6000000]]}");
    }
}

/* Expressions that are no node's work. */
static void what_decides_where_it_goes_is_sliced_too(void **state) {
    (void)state;
    static const char *const texts[] = {
        "state: {n: 0}\nnodes:\n  - {name: a, jq: '{n: (.n + 1)}'}\n  - {name: b, jq: '{b: true}'}\n"
        "edges:\n  - {from: __start__, to: a}\n"
        "  - {from: a, to: __end__, when: 'last(range(1000000)) < 0'}\n"
        "  - {from: a, to: a, when: 'last(range(1000000)) > 0 and .n < 2'}\n"
        "  - {from: a, to: b}\n  - {from: b, to: __end__}\n",
        "state: {n: 0}\nnodes:\n"
        "  - {name: w, while: 'last(range(1000000)) > 0 and .n < 2', do: [{name: in, jq: '{n: (.n + 1)}'}]}\n"
        "  - {name: b, jq: '{b: true}'}\n",
        "state: {n: 0}\nnodes:\n"
        "  - {name: m, map: {over: '[last(range(1000000)), 2] | map(2)', as: x}, do: {jq: $x}, output: all}\n"
        "  - {name: b, jq: '{n: .all[0], b: true, all: null} | del(.all)'}\n"
        "  - {name: c, jq: '{all: 0}'}\n",
        "state: {n: 0}\nnodes:\n"
        "  - {name: s, workflow: sub.yaml, input: '{n: (last(range(1000000)) | 1)}'}\n"
        "  - {name: b, jq: '{b: true}'}\n",
    };
    static const char *const ends[] = {
        "{\"n\": 2, \"b\": true}",
        "{\"n\": 2, \"b\": true}",
        "{\"n\": 2, \"all\": 0, \"b\": true}",
        "{\"n\": 2, \"b\": true}",
    };
    host_file("sub.yaml", "nodes: [{name: in, jq: '{n: (.n + 1)}'}]\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char name[24];
        snprintf(name, sizeof name, "t%zu", i);
        Run *run = start_long(texts[i], name);
        assert_true(turns_of(run) > 0);
        expect_run(run, "completed", ends[i]);
    }
    Run *asks = start_long("nodes: [{name: q, approval: '\\(last(range(1000000)))?'}]\n", "q");
    turns_of(asks);
    expect_run(asks, "interrupted", NULL);
}

static void what_is_in_the_midst_of_its_work_can_be_ended(void **state) {
    (void)state;
    static const char *const forever[] = {
        "nodes: [{name: a, jq: 'last(range(1000000000)) | {}'}]\n",
        "nodes: [{name: a, lua: 'while true do end'}]\n",
        "nodes: [{name: a, jq: '{}'}, {name: b, jq: '{}'}]\n"
        "edges: [{from: a, to: b, when: 'last(range(1000000000)) | true'}]\n",
        "nodes: [{name: a, while: 'last(range(1000000000)) | true', do: [{name: b, jq: '{}'}]}]\n",
    };
    for (size_t i = 0; i < 2 * sizeof forever / sizeof *forever; i++) {
        char name[24];
        snprintf(name, sizeof name, "t%zu", i);
        Run *run = start_long(forever[i / 2], name);
        (i % 2 ? run_cancel : run_stop)(run);
        host_settle(run);
        expect_run(run, i % 2 ? "cancelled" : "stopped", NULL);
    }
    start_long(forever[0], "left"); /* the engine ends meanwhile */
    host_fresh();
    Run *run = start_long(forever[1], "left too");
    assert_false(run_settled(run));
}

static void a_node_that_was_in_the_midst_is_done_again_by_the_next_process(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        host_fresh();
        char name[24];
        snprintf(name, sizeof name, "t%zu", i);
        start_long(long_nodes[i], name);
        host_fresh();
        expect_run(host_resume(&(RunResume){.thread = name}), "completed", long_results[i]);
    }
    expect_sound_store();
}

/* ---- a debugger ---- */

static HookVerdict at(void *ctx, const HookPlace *place, Json *info) {
    (void)ctx;
    (void)place;
    *info = json_none();
    return HOOK_GO;
}

static const RunHooks hooks = {.at = at};

static void a_debugger_stops_it_in_the_midst_and_lets_it_go_on(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char name[24];
        snprintf(name, sizeof name, "t%zu", i);
        Run *run = start_quietly(long_nodes[i], name);
        run_set_hooks(run, &hooks, NULL);
        run_hold(run, true);
        while (!is_working(run)) uv_run(&host.loop, UV_RUN_NOWAIT);
        Frame *f = run_frame(run, 1);
        assert_int_equal(frame_park(f, json_object()), PARKED_NOW);
        assert_int_equal(frame_position(f), HOOK_DURING);
        host_turn(30);
        assert_true(frame_is_parked(f));
        LetGo go = {.how = LET_GO, .output = json_none(), .info = json_none()};
        assert_true(frame_let_go(f, &go, NULL));
        run_hold(run, false);
        turns_of(run);
        expect_run(run, "completed", long_results[i]);
    }
}

/* It was stopped when its process died. */
static void a_pause_in_the_midst_outlives_the_process(void **state) {
    (void)state;
    Run *run = host_start(long_nodes[0], "t", NULL);
    run_set_hooks(run, &hooks, NULL);
    run_hold(run, true);
    while (!is_working(run)) uv_run(&host.loop, UV_RUN_NOWAIT);
    assert_int_equal(frame_park(run_frame(run, 1), json_object()), PARKED_NOW);
    assert_true(engine_wait_durable(host.engine));
    host_fresh();
    run = engine_open_now(host.engine, "t", json_object(), &host.err);
    assert_non_null(run);
    Frame *f = run_frame(run, 1);
    assert_true(frame_is_parked(f));
    LetGo go = {.how = LET_GO, .output = json_none(), .info = json_none()};
    assert_true(frame_let_go(f, &go, NULL));
    run_hold(run, false);
    turns_of(run);
    expect_run(run, "completed", long_results[0]);
}

/* While it stands still, so does its time. */
static void a_timeout_stands_still_while_it_is_stopped(void **state) {
    (void)state;
    Run *run = host_start("nodes: [{name: a, jq: 'last(range(1e12) | tostring | length)', "
                          "timeout: 150ms}]\n",
                          "t", NULL);
    run_set_hooks(run, &hooks, NULL);
    run_hold(run, true);
    while (!is_working(run) && !run_settled(run)) uv_run(&host.loop, UV_RUN_NOWAIT);
    if (!run_settled(run)) { /* else the machine had other things to do for that long */
        assert_int_equal(frame_park(run_frame(run, 1), json_object()), PARKED_NOW);
        host_turn(300);
        LetGo go = {.how = LET_GO, .output = json_none(), .info = json_none()};
        assert_true(frame_let_go(run_frame(run, 1), &go, NULL));
        assert_true(is_working(run));
    }
    run_hold(run, false);
    turns_of(run);
    expect_failed(run, "timeout", "It took longer than its timeout of 0.15 s");
}

/* ---- the clock ---- */

static void time_goes_on_within_a_turn(void **state) {
    (void)state;
    Run *run =
        host_run("nodes:\n  - {name: a, jq: 'reduce range(300000) as $i (0; . + 1) | {t: now}'}\n"
                 "  - {name: b, sleep: 50ms}\n  - {name: c, jq: '{u: now}'}\n",
                 NULL);
    expect_run(run, "completed", NULL);
    double began = json_to_double(json_object_get_c(run_state(run), "t"));
    assert_true(json_to_double(json_object_get_c(run_state(run), "u")) - began >= 0.048);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_ALL(a_node_that_computes_leaves_the_loop_to_others),
        TEST(branches_and_runs_that_compute_do_not_meet),
        TEST_ALL(what_decides_where_it_goes_is_sliced_too),
        TEST_LASTING(what_is_in_the_midst_of_its_work_can_be_ended),
        TEST_LASTING(a_node_that_was_in_the_midst_is_done_again_by_the_next_process),
        TEST(a_debugger_stops_it_in_the_midst_and_lets_it_go_on),
        TEST_LASTING(a_pause_in_the_midst_outlives_the_process),
        TEST(a_timeout_stands_still_while_it_is_stopped),
        TEST(time_goes_on_within_a_turn),
    };
    return RUN_TESTS(tests);
}
