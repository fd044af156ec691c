/* Hooks: frames that a debugger parks, and lets go. */
#include "engine_host.h"

#include "hooks.h"

typedef struct Parking {
    const char *before, *after, *on_error; /* names of nodes; NULL: none */
    Buf seen;
    int64_t frame;
    bool once;
} Parking;

static HookVerdict at(void *ctx, const HookPlace *place, Json *info) {
    Parking *p = ctx;
    const char *const names[] = {
        [HOOK_BEFORE] = p->before, [HOOK_AFTER] = p->after, [HOOK_ON_ERROR] = p->on_error};
    const char *name = names[place->position];
    assert_int_equal(json_is_none(place->error), place->position != HOOK_ON_ERROR);
    buf_printf(&p->seen, "%s %s\n", hook_positions[place->position], place->node->name);
    bool park = name && !strcmp(name, place->node->name) && !p->once;
    p->once = p->once || park;
    p->frame = park ? frame_id(place->frame) : p->frame;
    if (park) {
        *info = json_object_with(json_object(), "reason", json_string_c("test"));
    }
    return park ? HOOK_PARK : HOOK_GO;
}

static void frame_seen(void *ctx, Frame *f) {
    (void)ctx;
    (void)f;
}

static const RunHooks hooks = {.at = at, .frame_new = frame_seen, .frame_end = frame_seen};

static void let_go(Run *run, const Parking *p, LetGoHow how) {
    LetGo go = {.how = how, .output = json_none(), .info = json_none()};
    assert_true(frame_let_go(run_frame(run, p->frame), &go, NULL));
}

#define NODES                                          \
    "nodes:\n  - {name: a, jq: '{a: 1}'}\n"            \
    "  - {name: b, shell: 'echo x >> b', output: b}\n" \
    "  - {name: c, jq: '{c: 1}'}\n"

static Run *run_parked(const char *yaml, Parking *p) {
    Run *run = host_start(yaml, "t", NULL);
    run_set_hooks(run, &hooks, p);
    run_hold(run, true);
    for (int i = 0; i < 100; i++) {
        uv_run(&host.loop, UV_RUN_NOWAIT);
        usleep(2000);
    }
    return run;
}

static void hooks_see_each_node_before_and_after(void **state) {
    (void)state;
    Parking p = {.before = NULL};
    Run *run = run_parked(NODES, &p);
    host_go();
    expect_run(run, "completed", NULL);
    assert_string_equal(p.seen.data, "before a\nafter a\nbefore b\nafter b\nbefore c\nafter c\n");
    buf_clear(&p.seen);
}

static void a_frame_parked_before_its_node_waits_there(void **state) {
    (void)state;
    Parking p = {.before = "b"};
    Run *run = run_parked(NODES, &p);
    assert_false(run_settled(run));
    assert_int_equal(lines_of("b"), 0);
    Json frames = run_frames(run, 1);
    expect_json(json_object_get_c(json_array_get(frames, 0), "status"), "\"paused\"");
    json_unref(frames);
    let_go(run, &p, LET_GO);
    host_go();
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("b"), 1);
    buf_clear(&p.seen);
    expect_sound_store();
}

/* The process ended between making the run and its first pause: nothing had begun. */
static void a_run_that_is_held_for_a_debugger_is_before_its_node_from_the_start(void **state) {
    (void)state;
    const char *const firsts[] = {"shell: 'echo x >> a'", "sleep: 1h"};
    for (size_t i = 0; i < 2; i++) {
        char yaml[80], thread[8];
        snprintf(yaml, sizeof yaml, "nodes: [{name: a, %s}]\n", firsts[i]);
        snprintf(thread, sizeof thread, "t%zu", i);
        Flow *flow = host_flow(yaml);
        RunStart start = {.thread = thread, .input = json_none(), .held = true};
        assert_non_null(engine_start_now(host.engine, flow, &start, &host.err));
        flow_unref(flow);
        host_fresh();
        Run *run = engine_open_now(host.engine, thread, json_none(), &host.err);
        assert_non_null(run);
        assert_string_equal(hook_positions[frame_position(run_frame(run, 1))], "before");
        assert_int_equal(lines_of("a"), 0);
        host_fresh();
    }
}

static void a_frame_parked_after_its_node_has_done_it_once(void **state) {
    (void)state;
    Parking p = {.after = "b"};
    Run *run = run_parked(NODES, &p);
    assert_false(run_settled(run));
    assert_int_equal(lines_of("b"), 1);
    let_go(run, &p, LET_GO);
    host_go();
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("b"), 1);
    buf_clear(&p.seen);
}

static void a_frame_parked_on_its_error_can_try_again(void **state) {
    (void)state;
    Parking p = {.on_error = "b"};
    Run *run = run_parked("nodes: [{name: b, shell: 'echo x >> b; [ -e fixed ]'}]\n", &p);
    assert_false(run_settled(run));
    assert_int_equal(lines_of("b"), 1);
    host_file("fixed", "");
    let_go(run, &p, LET_RETRY);
    host_go();
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("b"), 2);
    buf_clear(&p.seen);
}

static void a_parked_branch_does_not_hold_the_others(void **state) {
    (void)state;
    Parking p = {.before = "a"};
    Run *run = run_parked("nodes:\n  - {name: a, jq: '{a: 1}'}\n"
                          "  - {name: b, shell: 'echo x >> b', output: b}\n"
                          "  - {name: j, jq: '{b: 0}'}\n"
                          "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
                          "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n",
                          &p);
    assert_false(run_settled(run));
    assert_int_equal(lines_of("b"), 1);
    let_go(run, &p, LET_GO);
    host_go();
    expect_run(run, "completed", "{\"a\": 1, \"b\": 0}");
    buf_clear(&p.seen);
}

static HookVerdict at_elements(void *ctx, const HookPlace *place, Json *info) {
    (void)ctx;
    *info = json_none();
    bool fresh = !place->looked && !place->again;
    bool park = fresh && place->position == HOOK_BEFORE && strstr(place->node->name, "[]");
    return park ? HOOK_PARK : HOOK_GO;
}

static const RunHooks element_hooks = {
    .at = at_elements, .frame_new = frame_seen, .frame_end = frame_seen};

/* Elements begin as others end, so frames come and go while they are looked for. */
static void frames_are_found_by_their_numbers_while_they_come_and_go(void **state) {
    (void)state;
    enum { ALL = 400, LIMIT = 300 };
    Run *run = host_start("nodes:\n  - {name: m, map: {over: '[range(400)]', limit: 300}, "
                          "do: {jq: '$item'}}\n",
                          "t", NULL);
    run_set_hooks(run, &element_hooks, NULL);
    run_hold(run, true);
    for (int i = 0; i < 20; i++) uv_run(&host.loop, UV_RUN_NOWAIT);
    assert_int_equal(run_frame_count(run), LIMIT + 1);
    uint32_t seed = 1;
    for (size_t ended = 0; ended < ALL;) {
        seed = seed * 1664525 + 1013904223;
        int64_t id = 2 + (int64_t)(seed >> 8) % run_last_frame_id(run);
        Frame *f = run_frame(run, id);
        assert_true(!f || frame_id(f) == id);
        if (!f || !frame_is_parked(f)) continue;
        assert_true(frame_let_go(
            f, &(LetGo){.how = LET_GO, .output = json_none(), .info = json_none()}, NULL));
        while (run_frame(run, id)) uv_run(&host.loop, UV_RUN_NOWAIT);
        ended++;
    }
    assert_null(run_frame(run, run_last_frame_id(run) + 1));
    host_go();
    expect_run(run, "completed", NULL);
}

static size_t moving(const Run *run) {
    size_t n = 0;
    for (const Frame *f = run_next_moving(run, NULL); f; f = run_next_moving(run, f)) {
        assert_false(frame_is_at_rest(f));
        n++;
    }
    return n;
}

static void each_frame_is_found_by_its_number_in_any_order(const Run *run, int64_t first,
                                                           int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        int64_t id = first + i * 7 % n;
        assert_int_equal(frame_id(run_frame(run, id)), id);
    }
    assert_null(run_frame(run, first + n));
    assert_null(run_frame(run, 0));
}

static void frames_that_move_are_told_from_those_that_rest(void **state) {
    (void)state;
    enum { N = 30 };
    Run *run = host_start("nodes:\n  - {name: m, map: {over: '[range(30)]', limit: 30}, "
                          "do: {jq: $item}, output: m}\n  - {name: ok, approval: {prompt: ok}}\n",
                          "t", NULL);
    assert_int_equal(moving(run), 1);
    run_set_hooks(run, &element_hooks, NULL);
    run_hold(run, true);
    host_go();
    assert_int_equal(moving(run), 0);
    assert_int_equal(run_parked_count(run), N);
    each_frame_is_found_by_its_number_in_any_order(run, 2, N);
    for (int64_t i = 0; i < N; i++) { /* from both ends */
        Parking p = {.frame = i % 2 ? 1 + N - i / 2 : 2 + i / 2};
        let_go(run, &p, LET_GO);
        assert_int_equal(run_parked_count(run), N - 1 - i);
        assert_int_equal(moving(run), 1);
        host_go();
        assert_int_equal(moving(run), 0);
        assert_null(run_frame(run, p.frame));
    }
    assert_int_equal(run_waiting_count(run), 1);
    assert_true(run_answer(
        run, &(RunResume){.decision = "yes", .value = json_none(), .set = json_none()}, NULL));
    host_go();
    expect_run(run, "completed", NULL);
    assert_int_equal(run_waiting_count(run), 0);
}

/* How many steps a run is ahead of the one that is told. */
static void note_ahead(Host *h, const Event *event) {
    int64_t *most = h->data, ahead = run_step(event->run) - event->step;
    *most = event->type == EVENT_STEP && ahead > *most ? ahead : *most;
}

static void a_run_that_is_watched_is_not_far_ahead_of_what_is_told(void **state) {
    (void)state;
    int64_t most = 0;
    host.on_event = note_ahead;
    host.data = &most;
    Run *run = host_start("config: {recursion_limit: 100000}\n"
                          "nodes:\n"
                          "  - {name: a, jq: '{n: (.n + 1)}', goto: [{if: '.n < 20000', to: a}, "
                          "{to: __end__}]}\n",
                          "t", NULL);
    Parking p = {.before = NULL};
    run_set_hooks(run, &hooks, &p);
    run_hold(run, true);
    host_go();
    expect_run(run, "completed", "{\"n\": 20000}");
    assert_in_range(most, 1, 1000); /* a batch that is being committed, and the one after it */
    buf_clear(&p.seen);
}

/* Before the loop hears of any commit. */
static void record_when_completed(uv_prepare_t *prepare) {
    Run *run = prepare->data;
    if (!strcmp(run_status(run), "completed")) {
        assert_false(run_settled(run));
        run_record_debug(run);
        uv_prepare_stop(prepare);
    }
}

static void a_debugger_that_comes_while_a_run_settles_is_too_late_and_breaks_nothing(void **state) {
    (void)state;
    uv_prepare_t prepare;
    Run *run = host_start(NODES, "t", NULL);
    uv_prepare_init(&host.loop, &prepare);
    prepare.data = run;
    uv_prepare_start(&prepare, record_when_completed);
    while (!run_settled(run)) uv_run(&host.loop, UV_RUN_ONCE);
    assert_false(uv_is_active((uv_handle_t *)&prepare));
    uv_close((uv_handle_t *)&prepare, NULL);
    host_go();
    expect_run(run, "completed", NULL);
    assert_true(engine_wait_durable(host.engine)); /* it takes more */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(hooks_see_each_node_before_and_after),
        TEST_ALL(a_frame_parked_before_its_node_waits_there),
        TEST_ALL(a_frame_parked_after_its_node_has_done_it_once),
        TEST(a_run_that_is_held_for_a_debugger_is_before_its_node_from_the_start),
        TEST(a_frame_parked_on_its_error_can_try_again),
        TEST(a_parked_branch_does_not_hold_the_others),
        TEST(frames_are_found_by_their_numbers_while_they_come_and_go),
        TEST(frames_that_move_are_told_from_those_that_rest),
        TEST_LASTING(a_debugger_that_comes_while_a_run_settles_is_too_late_and_breaks_nothing),
        TEST_LASTING(a_run_that_is_watched_is_not_far_ahead_of_what_is_told),
    };
    return RUN_TESTS(tests);
}
