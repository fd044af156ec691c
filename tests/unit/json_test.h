/* json_test.h - what tests that handle JSON share.
 *
 *     Json j = parse("{\"a\": 1}");              the test fails where it is not JSON
 *     expect_json(j, "{\"a\":1}");               the same value, keys in the same order
 *     expect_gives(json_int(1), "1");            the same, of a value that is given away
 *     expect_json(json_none(), "(none)");
 *
 * JSON_TEST(f) is a test after which no byte of JSON may be left.
 */
#ifndef PAWL_TESTS_JSON_TEST_H
#define PAWL_TESTS_JSON_TEST_H

#include "json_parse.h"
#include "json_print.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST_UNUSED __attribute__((unused))

TEST_UNUSED static Json parse(const char *text) {
    Error err = ERROR_INIT;
    Json j = json_parse(text, strlen(text), NULL, &err);
    if (json_is_none(j)) fail_msg("%s: %s", text, err.msg);
    return j;
}

/* The text as Pawl prints it; give it to free(). */
TEST_UNUSED static char *printed(const char *text) {
    Json j = parse(text);
    char *out = json_to_text(j);
    json_unref(j);
    return out;
}

TEST_UNUSED static void expect_json(Json value, const char *want) {
    bool none = json_is_none(value) || strcmp(want, "(none)") == 0;
    char *got = json_is_none(value) ? strdup("(none)") : json_to_text(value);
    char *wanted = none ? strdup(want) : printed(want);
    assert_string_equal(got, wanted);
    free(got);
    free(wanted);
}

TEST_UNUSED static void expect_gives(Json value, const char *want) {
    expect_json(value, want);
    json_unref(value);
}

TEST_UNUSED static void expect_contains(const char *text, const char *part) {
    bool found = text && strstr(text, part);
    if (!found) fail_msg("`%s` is not in: %s", part, text ? text : "(nothing)");
}

TEST_UNUSED static int no_bytes_left(void **state) {
    (void)state;
    return json_heap_bytes() == 0 ? 0 : -1;
}

#define JSON_TEST(f) cmocka_unit_test_teardown(f, no_bytes_left)

#endif
