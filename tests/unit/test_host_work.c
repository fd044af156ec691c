/* host_work.c: what takes longer than a turn goes on in pieces, one after the other, and few at a time. */
#include "host_world.h"

enum { AT_ONCE = 8 };

typedef struct Counted {
    HostWork work; /* first */
    int left, pieces, done, place;
    Error err;
} Counted;

static int ended;

static bool go_on(HostWork *work, uint64_t until) {
    Counted *c = (Counted *)work;
    assert_true(until > uv_hrtime());
    c->pieces++;
    return --c->left <= 0;
}

static void on_done(HostWork *work, const Error *err) {
    Counted *c = (Counted *)work;
    c->done++;
    c->place = ++ended;
    if (err) c->err = *err;
}

static void begin(World *w, Counted *c, int pieces) {
    *c = (Counted){.work = {.go_on = go_on, .done = on_done}, .left = pieces};
    host_work(w->host, &c->work);
}

static void what_is_quick_is_done_at_once(void **state) {
    World w;
    Counted c;
    (void)state;
    world_up(&w, "memory");
    begin(&w, &c, 1);
    assert_int_equal(c.pieces, 1);
    assert_int_equal(c.done, 1);
    assert_int_equal(c.err.code, 0);
    world_down(&w);
}

static void what_takes_long_goes_on_in_order_and_few_at_a_time(void **state) {
    World w;
    Counted some[AT_ONCE], more;
    (void)state;
    world_up(&w, "memory");
    ended = 0;
    for (int i = 0; i < AT_ONCE; i++) {
        begin(&w, &some[i], 3);
        assert_int_equal(some[i].done, 0);
    }
    begin(&w, &more, 2);
    assert_int_equal(more.done, 1);
    assert_int_equal(more.err.code, ERR_LIMIT);
    begin(&w, &more, 1); /* it needs no place */
    assert_int_equal(more.err.code, 0);
    ended = 0;
    while (ended < AT_ONCE) uv_run(&w.loop, UV_RUN_ONCE);
    for (int i = 0; i < AT_ONCE; i++) {
        assert_int_equal(some[i].pieces, 3);
        assert_int_equal(some[i].done, 1);
        assert_int_equal(some[i].place, i + 1);
        assert_int_equal(some[i].err.code, 0);
    }
    begin(&w, &more, 2);
    while (!more.done) uv_run(&w.loop, UV_RUN_ONCE);
    assert_int_equal(more.err.code, 0);
    world_down(&w);
}

static void what_is_under_way_is_told_when_the_host_goes(void **state) {
    World w;
    Counted two[2];
    (void)state;
    world_up(&w, "memory");
    for (int i = 0; i < 2; i++) begin(&w, &two[i], 1000000);
    world_down(&w);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(two[i].done, 1);
        assert_int_equal(two[i].err.code, ERR_BUSY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_quick_is_done_at_once),
        cmocka_unit_test(what_takes_long_goes_on_in_order_and_few_at_a_time),
        cmocka_unit_test(what_is_under_way_is_told_when_the_host_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
