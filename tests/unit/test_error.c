#include "error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void setting_an_error_returns_false_and_keeps_the_place(void **state) {
    (void)state;
    Error err;
    assert_false(error_set_at(&err, ERR_SYNTAX, 3, 7, "%s is wrong.", "this"));
    assert_int_equal(err.code, ERR_SYNTAX);
    assert_int_equal(err.line, 3);
    assert_int_equal(err.col, 7);
    assert_string_equal(err.msg, "this is wrong.");
    assert_false(error_set(&err, ERR_IO, "gone"));
    assert_int_equal(err.line, 0);
    assert_false(error_set(NULL, ERR_IO, "nobody asked"));
}

static void a_message_that_is_too_long_is_cut_between_characters(void **state) {
    (void)state;
    char text[ERROR_MSG_MAX * 2 + 1];
    for (size_t shift = 0; shift < 3; shift++) {
        memset(text, 'x', shift);
        for (size_t i = shift; i + 3 < sizeof text; i += 3) {
            memcpy(text + i, "\u2606", 4);
        }
        Error err;
        error_set(&err, ERR_DATA, "%s", text);
        size_t len = strlen(err.msg);
        assert_true(len < ERROR_MSG_MAX);
        assert_string_equal(err.msg + len - 3, "...");
        assert_int_equal((len - 3 - shift) % 3, 0);
    }
}

static void context_is_put_before_the_message(void **state) {
    (void)state;
    Error err;
    error_set_at(&err, ERR_IO, 1, 2, "no such file");
    error_wrap(&err, "while reading %s", "a.yaml");
    assert_string_equal(err.msg, "while reading a.yaml: no such file");
    assert_int_equal(err.col, 2);
    error_wrap(NULL, "nothing");
    for (int i = 0; i < 100; i++) {
        error_wrap(&err, "again and again");
    }
    assert_true(strlen(err.msg) < ERROR_MSG_MAX);
}

static void every_code_has_a_name(void **state) {
    (void)state;
    for (int code = ERR_NONE; code <= ERR_RAISED; code++) {
        assert_true(strlen(error_code_name((ErrorCode)code)) > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setting_an_error_returns_false_and_keeps_the_place),
        cmocka_unit_test(a_message_that_is_too_long_is_cut_between_characters),
        cmocka_unit_test(context_is_put_before_the_message),
        cmocka_unit_test(every_code_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
