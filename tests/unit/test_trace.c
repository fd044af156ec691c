#include "trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"
#define GOOD  "00-" TRACE "-" SPAN "-01"

static bool parses(const char *text) {
    TraceContext t;
    return trace_parse(text, strlen(text), &t);
}

static void what_is_printed_is_what_was_parsed(void **state) {
    (void)state;
    TraceContext t;
    char text[TRACE_TEXT];
    assert_true(trace_parse(GOOD, strlen(GOOD), &t));
    assert_int_equal(t.trace[0], 0x4b);
    assert_int_equal(t.span[7], 0xb7);
    assert_int_equal(t.flags, TRACE_SAMPLED);
    trace_print(&t, text);
    assert_string_equal(text, GOOD);
    assert_true(trace_parse("00-" TRACE "-" SPAN "-00", 55, &t));
    assert_int_equal(t.flags, 0);
}

static void flags_that_nobody_knows_are_not_passed_on(void **state) {
    (void)state;
    TraceContext t;
    char text[TRACE_TEXT];
    assert_true(trace_parse("00-" TRACE "-" SPAN "-ff", 55, &t));
    trace_print(&t, text);
    assert_string_equal(text, GOOD);
}

static void anything_else_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "00",
        "00-" TRACE "-" SPAN,
        "00-" TRACE "-" SPAN "-0",
        "00-" TRACE "-" SPAN "-1 ",
        "00-" TRACE "-" SPAN "-01 ",
        " 00-" TRACE "-" SPAN "-01",
        "00-" TRACE "-" SPAN "-01-more",
        "00_" TRACE "-" SPAN "-01",
        "00-" TRACE "_" SPAN "-01",
        "00-" TRACE "-" SPAN "_01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
        "00-" TRACE "-00F067AA0BA902B7-01",
        "00-00000000000000000000000000000000-" SPAN "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-" TRACE "-" SPAN "-0g",
        "ff-" TRACE "-" SPAN "-01",
        "0g-" TRACE "-" SPAN "-01",
        "01-" TRACE "-" SPAN "-01.more",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parses(bad[i])) fail_msg("%s was taken", bad[i]);
    }
    TraceContext t;
    assert_false(trace_parse("00-" TRACE "-" SPAN "-01\0", 56, &t));
}

static void a_later_version_is_read_as_far_as_this_one_goes(void **state) {
    (void)state;
    char text[TRACE_TEXT], long_one[TRACE_FORWARD_MAX + 2];
    TraceContext t;
    assert_true(trace_parse("01-" TRACE "-" SPAN "-01-more", 60, &t));
    trace_print(&t, text);
    assert_string_equal(text, GOOD);
    assert_true(parses("cc-" TRACE "-" SPAN "-01"));
    memset(long_one, '-', sizeof long_one);
    memcpy(long_one, "01-" TRACE "-" SPAN "-01", 55);
    assert_true(trace_parse(long_one, TRACE_FORWARD_MAX, &t));
    assert_false(trace_parse(long_one, TRACE_FORWARD_MAX + 1, &t));
}

static void ids_of_children_follow_from_their_parts(void **state) {
    (void)state;
    TraceContext t, a, b;
    assert_true(trace_parse(GOOD, 55, &t));
    const uint64_t parts[] = {1, 2, 3}, others[] = {1, 3, 2};
    trace_child(&t, parts, 3, &a);
    trace_child(&t, parts, 3, &b);
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_equal(a.trace, t.trace, TRACE_ID);
    assert_memory_not_equal(a.span, t.span, TRACE_SPAN);
    trace_child(&t, others, 3, &b);
    assert_memory_not_equal(a.span, b.span, TRACE_SPAN);
    trace_child(&t, parts, 2, &b);
    assert_memory_not_equal(a.span, b.span, TRACE_SPAN);
    trace_child(&a, parts, 3, &b);
    assert_memory_not_equal(a.span, b.span, TRACE_SPAN);
}

/* Frames, depths and records of a run are small numbers that lie close together. */
static void children_of_neighbours_do_not_meet(void **state) {
    (void)state;
    enum { N = 40 };
    static uint8_t seen[N * N * N][TRACE_SPAN];
    TraceContext t, child;
    size_t n = 0;
    trace_new(&t);
    for (uint64_t i = 0; i < (uint64_t)N * N * N; i++) {
        const uint64_t parts[] = {i % N, i / N % N, i / N / N};
        trace_child(&t, parts, 3, &child);
        memcpy(seen[n++], child.span, TRACE_SPAN);
    }
    static uint32_t slots[1 << 17];
    for (size_t i = 0; i < n; i++) {
        uint32_t h;
        memcpy(&h, seen[i], sizeof h);
        for (h &= (1 << 17) - 1; slots[h]; h = (h + 1) & ((1 << 17) - 1)) {
            assert_memory_not_equal(seen[slots[h] - 1], seen[i], TRACE_SPAN);
        }
        slots[h] = (uint32_t)i + 1;
    }
}

static void new_traces_are_good_and_differ(void **state) {
    (void)state;
    TraceContext a, b;
    char text[TRACE_TEXT];
    trace_new(&a);
    trace_new(&b);
    assert_memory_not_equal(a.trace, b.trace, TRACE_ID);
    trace_print(&a, text);
    assert_true(parses(text));
}

static void a_tracestate_is_printable_and_short(void **state) {
    (void)state;
    char text[TRACE_STATE_MAX + 1];
    memset(text, 'a', sizeof text);
    assert_true(trace_state_fits("v=1, w@x=2", 10));
    assert_true(trace_state_fits(text, TRACE_STATE_MAX));
    assert_false(trace_state_fits(text, TRACE_STATE_MAX + 1));
    assert_false(trace_state_fits("", 0));
    assert_false(trace_state_fits("v=1\r\nx: y", 9));
    assert_false(trace_state_fits("v=\xc3\xa4", 4));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_is_what_was_parsed),
        cmocka_unit_test(flags_that_nobody_knows_are_not_passed_on),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(a_later_version_is_read_as_far_as_this_one_goes),
        cmocka_unit_test(ids_of_children_follow_from_their_parts),
        cmocka_unit_test(children_of_neighbours_do_not_meet),
        cmocka_unit_test(new_traces_are_good_and_differ),
        cmocka_unit_test(a_tracestate_is_printable_and_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
