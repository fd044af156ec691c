/* Hooks: frames that a debugger parks, and lets go. */
#include "engine_host.h"

#include "hooks.h"

typedef struct Parking {
    const char *before, *after, *on_error; /* names of nodes; NULL: none */
    Buf seen;
    int64_t frame;
    bool once;
} Parking;

static HookVerdict parked(Parking *p, const char *where, const char *name, const HookPlace *place) {
    buf_printf(&p->seen, "%s %s\n", where, place->node->name);
    bool park = name && !strcmp(name, place->node->name) && !p->once;
    p->once = p->once || park;
    p->frame = park ? place->frame : p->frame;
    return park ? HOOK_PARK : HOOK_GO;
}

static HookVerdict before(void *ctx, const HookPlace *place) {
    Parking *p = ctx;
    return parked(p, "before", p->before, place);
}

static HookVerdict after(void *ctx, const HookPlace *place) {
    Parking *p = ctx;
    return parked(p, "after", p->after, place);
}

static HookVerdict on_error(void *ctx, const HookPlace *place) {
    Parking *p = ctx;
    assert_false(json_is_none(place->error));
    return parked(p, "error", p->on_error, place);
}

static EngineHooks hooks_of(Parking *p) {
    return (EngineHooks){before, after, on_error, p};
}

#define NODES                                          \
    "nodes:\n  - {name: a, jq: '{a: 1}'}\n"            \
    "  - {name: b, shell: 'echo x >> b', output: b}\n" \
    "  - {name: c, jq: '{c: 1}'}\n"

static Run *run_parked(const char *yaml, const EngineHooks *hooks) {
    engine_set_hooks(host.engine, hooks);
    Run *run = host_start(yaml, "t", NULL);
    for (int i = 0; i < 100; i++) {
        uv_run(&host.loop, UV_RUN_NOWAIT);
        usleep(2000);
    }
    return run;
}

static void hooks_see_each_node_before_and_after(void **state) {
    (void)state;
    Parking p = {.before = NULL};
    EngineHooks hooks = hooks_of(&p);
    Run *run = run_parked(NODES, &hooks);
    host_go();
    expect_run(run, "completed", NULL);
    assert_string_equal(p.seen.data, "before a\nafter a\nbefore b\nafter b\nbefore c\nafter c\n");
    buf_clear(&p.seen);
}

static void a_frame_parked_before_its_node_waits_there(void **state) {
    (void)state;
    Parking p = {.before = "b"};
    EngineHooks hooks = hooks_of(&p);
    Run *run = run_parked(NODES, &hooks);
    assert_false(run_settled(run));
    assert_int_equal(lines_of("b"), 0);
    Json frames = run_frames(run, 1);
    expect_json(json_object_get_c(json_array_get(frames, 0), "status"), "\"paused\"");
    json_unref(frames);
    engine_unpark(run, p.frame);
    host_go();
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("b"), 1);
    buf_clear(&p.seen);
    expect_sound_store();
}

static void a_frame_parked_after_its_node_has_done_it_once(void **state) {
    (void)state;
    Parking p = {.after = "b"};
    EngineHooks hooks = hooks_of(&p);
    Run *run = run_parked(NODES, &hooks);
    assert_false(run_settled(run));
    assert_int_equal(lines_of("b"), 1);
    engine_unpark(run, p.frame);
    host_go();
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("b"), 1);
    buf_clear(&p.seen);
}

static void a_frame_parked_on_its_error_tries_again(void **state) {
    (void)state;
    Parking p = {.on_error = "b"};
    EngineHooks hooks = hooks_of(&p);
    Run *run = run_parked("nodes: [{name: b, shell: 'echo x >> b; [ -e fixed ]'}]\n", &hooks);
    assert_false(run_settled(run));
    assert_int_equal(lines_of("b"), 1);
    host_file("fixed", "");
    engine_unpark(run, p.frame);
    host_go();
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("b"), 2);
    buf_clear(&p.seen);
}

static void a_parked_branch_does_not_hold_the_others(void **state) {
    (void)state;
    Parking p = {.before = "a"};
    EngineHooks hooks = hooks_of(&p);
    Run *run = run_parked("nodes:\n  - {name: a, jq: '{a: 1}'}\n"
                          "  - {name: b, shell: 'echo x >> b', output: b}\n"
                          "  - {name: j, jq: '{b: 0}'}\n"
                          "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
                          "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n",
                          &hooks);
    assert_false(run_settled(run));
    assert_int_equal(lines_of("b"), 1);
    engine_unpark(run, p.frame);
    host_go();
    expect_run(run, "completed", "{\"a\": 1, \"b\": 0}");
    buf_clear(&p.seen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(hooks_see_each_node_before_and_after),
        TEST_ALL(a_frame_parked_before_its_node_waits_there),
        TEST_ALL(a_frame_parked_after_its_node_has_done_it_once),
        TEST(a_frame_parked_on_its_error_tries_again),
        TEST(a_parked_branch_does_not_hold_the_others),
    };
    return RUN_TESTS(tests);
}
