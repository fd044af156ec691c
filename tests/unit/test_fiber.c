/* The promises of fiber.h: giving way, going on, ending, many at once. */
#include "fiber.h"
#include "json_test.h"

#include <string.h>

typedef struct Counter {
    Fiber *fiber;
    int upto, at;
    bool stop;
} Counter;

static void count(void *ctx) {
    Counter *c = ctx;
    for (int i = 0; i < c->upto && !c->stop; i++) {
        volatile char used[4096]; /* some of the stack stays in use while it has given way */
        memset((char *)used, i, sizeof used);
        c->at = i + 1;
        fiber_give_way(c->fiber);
        if (used[100] != (char)i) c->at = -1;
    }
}

static void fibers_go_on_where_they_gave_way(void **state) {
    (void)state;
    Counter c = {.upto = 5};
    c.fiber = fiber_new(count, &c);
    for (int i = 1; i <= 5; i++) {
        assert_false(fiber_resume(c.fiber));
        assert_int_equal(c.at, i);
    }
    assert_true(fiber_resume(c.fiber));
    fiber_free(c.fiber);
}

static void fibers_that_are_told_to_end_do(void **state) {
    (void)state;
    Counter c = {.upto = 1000000};
    c.fiber = fiber_new(count, &c);
    assert_false(fiber_resume(c.fiber));
    c.stop = true;
    assert_true(fiber_resume(c.fiber));
    fiber_free(c.fiber);
}

static void fibers_that_never_began_can_be_freed(void **state) {
    (void)state;
    Counter c = {.upto = 1};
    fiber_free(fiber_new(count, &c));
    fiber_free(NULL);
}

static void many_fibers_take_turns(void **state) {
    (void)state;
    enum { N = 50 };
    Counter all[N];
    for (int i = 0; i < N; i++) {
        all[i] = (Counter){.upto = i};
        all[i].fiber = fiber_new(count, &all[i]);
    }
    for (int left = N, round = 1; left; round++) {
        left = 0;
        for (int i = 0; i < N; i++) {
            if (!all[i].fiber) continue;
            if (fiber_resume(all[i].fiber)) {
                fiber_free(all[i].fiber);
                all[i].fiber = NULL;
                assert_int_equal(round, i + 1);
            } else {
                left++;
            }
        }
    }
}

/* Recursion that needs most of the stack. */
static int deep(int n) {
    volatile char used[1024];
    used[0] = (char)n;
    return n ? deep(n - 1) + (used[0] == (char)n) : 0;
}

static void go_deep(void *ctx) {
    *(int *)ctx = deep(300);
}

static void fibers_have_a_stack_to_work_on(void **state) {
    (void)state;
    int depth = 0;
    Fiber *f = fiber_new(go_deep, &depth);
    assert_true(fiber_resume(f));
    assert_int_equal(depth, 300);
    fiber_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(fibers_go_on_where_they_gave_way),     JSON_TEST(fibers_that_are_told_to_end_do),
        JSON_TEST(fibers_that_never_began_can_be_freed), JSON_TEST(many_fibers_take_turns),
        JSON_TEST(fibers_have_a_stack_to_work_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
