/* The tables of life cycles: what is not a row is refused and changes nothing. */
#include "lifecycle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect_change(RunStatus from, RunChange change, int to) {
    RunStatus status = from;
    assert_int_equal(run_status_change(&status, change), to >= 0);
    assert_int_equal(status, to >= 0 ? (RunStatus)to : from);
}

static void a_running_run_may_end_in_any_way(void **state) {
    (void)state;
    expect_change(RUN_RUNNING, RUN_WAITS, RUN_INTERRUPTED);
    expect_change(RUN_RUNNING, RUN_STOPS, RUN_STOPPED);
    expect_change(RUN_RUNNING, RUN_COMPLETES, RUN_COMPLETED);
    expect_change(RUN_RUNNING, RUN_FAILS, RUN_FAILED);
    expect_change(RUN_RUNNING, RUN_IS_CANCELLED, RUN_CANCELLED);
    expect_change(RUN_RUNNING, RUN_RESUMES, RUN_RUNNING);
}

static void what_has_ended_stays_so_until_it_is_moved(void **state) {
    (void)state;
    for (int change = RUN_WAITS; change <= RUN_RESUMES; change++) {
        expect_change(RUN_COMPLETED, (RunChange)change, -1);
        expect_change(RUN_CANCELLED, (RunChange)change, -1);
    }
    expect_change(RUN_COMPLETED, RUN_IS_MOVED, RUN_STOPPED);
    expect_change(RUN_CANCELLED, RUN_IS_MOVED, RUN_STOPPED);
}

static void what_waits_goes_on_or_is_cancelled(void **state) {
    (void)state;
    static const RunStatus waiting[] = {RUN_INTERRUPTED, RUN_STOPPED, RUN_FAILED};
    for (size_t i = 0; i < 3; i++) {
        expect_change(waiting[i], RUN_RESUMES, RUN_RUNNING);
        expect_change(waiting[i], RUN_IS_CANCELLED, RUN_CANCELLED);
        expect_change(waiting[i], RUN_IS_MOVED, RUN_STOPPED);
        expect_change(waiting[i], RUN_COMPLETES, -1);
        expect_change(waiting[i], RUN_STOPS, -1);
    }
}

static void names_are_found_and_others_are_not(void **state) {
    (void)state;
    for (int i = RUN_RUNNING; i <= RUN_CANCELLED; i++)
        assert_int_equal(run_status_find(run_status_names[i]), i);
    assert_int_equal(run_status_find("asleep"), -1);
    assert_int_equal(run_status_find(""), -1);
}

static void every_frame_status_has_a_name_and_a_way_to_the_end(void **state) {
    (void)state;
    for (int i = 0; i < FRAME_STATUS_COUNT; i++) {
        FrameStatus status = (FrameStatus)i;
        assert_non_null(frame_status_names[i]);
        if (i == FRAME_DONE) continue;
        assert_true(frame_status_change(&status, FRAME_DONE));
        assert_int_equal(status, FRAME_DONE);
    }
}

static void a_frame_that_is_done_does_not_work(void **state) {
    (void)state;
    FrameStatus status = FRAME_DONE;
    assert_false(frame_status_change(&status, FRAME_WORKING));
    assert_false(frame_status_change(&status, FRAME_FAILED));
    assert_int_equal(status, FRAME_DONE);
    assert_true(frame_status_change(&status, FRAME_READY));
}

static void work_begins_only_after_it_was_to_be_started(void **state) {
    (void)state;
    for (int i = 0; i < FRAME_STATUS_COUNT; i++) {
        FrameStatus status = (FrameStatus)i;
        assert_int_equal(frame_status_change(&status, FRAME_WORKING), i == FRAME_STARTING);
    }
}

/* An error edge may lead to branches from wherever the error found the frame. */
static void branches_may_follow_from_any_status_that_an_error_is_taken_in(void **state) {
    (void)state;
    static const FrameStatus from[] = {FRAME_READY, FRAME_STARTING, FRAME_WORKING,
                                       FRAME_TIMED, FRAME_WAITING,  FRAME_HOLDING};
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        FrameStatus status = from[i];
        assert_true(frame_status_change(&status, FRAME_HOLDING));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_running_run_may_end_in_any_way),
        cmocka_unit_test(what_has_ended_stays_so_until_it_is_moved),
        cmocka_unit_test(what_waits_goes_on_or_is_cancelled),
        cmocka_unit_test(names_are_found_and_others_are_not),
        cmocka_unit_test(every_frame_status_has_a_name_and_a_way_to_the_end),
        cmocka_unit_test(a_frame_that_is_done_does_not_work),
        cmocka_unit_test(work_begins_only_after_it_was_to_be_started),
        cmocka_unit_test(branches_may_follow_from_any_status_that_an_error_is_taken_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
