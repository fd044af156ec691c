/* The promises of the public header, pawl.h. (tests/install.py links it as a user would.) */
#include "pawl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

typedef struct Lines {
    char text[256];
    int count, stop_after;
} Lines;

static bool collect(void *ctx, const char *text, size_t len) {
    Lines *l = ctx;
    assert_int_equal(strlen(text), len);
    strncat(l->text, text, sizeof l->text - strlen(l->text) - 2);
    strcat(l->text, ";");
    return ++l->count != l->stop_after;
}

static bool eval(const char *expression, const char *json, const PawlLimits *limits, Lines *l,
                 PawlError *err) {
    PawlExpr *expr = pawl_expr_compile(expression, err);
    assert_non_null(expr);
    bool ok = pawl_expr_eval(expr, json, strlen(json), limits, collect, l, err);
    pawl_expr_free(expr);
    return ok;
}

static void outputs_are_handed_over_one_by_one_as_text(void **state) {
    (void)state;
    Lines l = {0};
    PawlError err;
    assert_true(eval(".a[], {b: 1.50}", "{\"a\": [1, \"x\", null]}", NULL, &l, &err));
    assert_string_equal(l.text, "1;\"x\";null;{\"b\":1.50};");
}

static void returning_false_ends_the_evaluation_without_an_error(void **state) {
    (void)state;
    Lines l = {.stop_after = 2};
    PawlError err;
    assert_true(eval("repeat(1)", "null", NULL, &l, &err));
    assert_int_equal(l.count, 2);
}

static void an_expression_that_does_not_compile_says_where(void **state) {
    (void)state;
    PawlError err;
    assert_null(pawl_expr_compile("1 |\n  nosuchname", &err));
    assert_int_equal(err.code, PAWL_SYNTAX);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.col, 3);
    assert_non_null(strstr(err.message, "nosuchname/0 is not defined"));
    assert_null(pawl_expr_compile("]", NULL));
}

static void input_that_is_not_json_is_an_error(void **state) {
    (void)state;
    Lines l = {0};
    PawlError err;
    assert_false(eval(".", "[1,", NULL, &l, &err));
    assert_int_equal(err.code, PAWL_SYNTAX);
    assert_int_equal(l.count, 0);
}

static void what_an_expression_raises_comes_after_its_outputs(void **state) {
    (void)state;
    Lines l = {0};
    PawlError err;
    assert_false(eval("1, error(\"no\")", "null", NULL, &l, &err));
    assert_string_equal(l.text, "1;");
    assert_int_equal(err.code, PAWL_RAISED);
    assert_string_equal(err.message, "no");
}

static void limits_end_an_evaluation(void **state) {
    (void)state;
    static const PawlLimits limits[] = {{.steps = 10000}, {.memory = 1 << 20}, {.depth = 100}};
    static const char *const greedy[] = {"def f: f; f", "[range(1e9)]", "def f: 1 + f; f"};
    for (size_t i = 0; i < 3; i++) {
        Lines l = {0};
        PawlError err;
        assert_false(eval(greedy[i], "null", &limits[i], &l, &err));
        assert_int_equal(err.code, PAWL_LIMIT);
    }
}

static void an_expression_can_be_used_again(void **state) {
    (void)state;
    PawlExpr *expr = pawl_expr_compile(".n * 2", NULL);
    for (int i = 0; i < 3; i++) {
        char json[32], expected[32];
        Lines l = {0};
        snprintf(json, sizeof json, "{\"n\": %d}", i);
        snprintf(expected, sizeof expected, "%d;", 2 * i);
        assert_true(pawl_expr_eval(expr, json, strlen(json), NULL, collect, &l, NULL));
        assert_string_equal(l.text, expected);
    }
    pawl_expr_free(expr);
    pawl_expr_free(NULL);
}

static void the_version_is_that_of_the_build(void **state) {
    (void)state;
    int major, minor, patch;
    assert_int_equal(sscanf(pawl_version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_handed_over_one_by_one_as_text),
        cmocka_unit_test(returning_false_ends_the_evaluation_without_an_error),
        cmocka_unit_test(an_expression_that_does_not_compile_says_where),
        cmocka_unit_test(input_that_is_not_json_is_an_error),
        cmocka_unit_test(what_an_expression_raises_comes_after_its_outputs),
        cmocka_unit_test(limits_end_an_evaluation),
        cmocka_unit_test(an_expression_can_be_used_again),
        cmocka_unit_test(the_version_is_that_of_the_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
