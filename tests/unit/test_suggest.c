#include "suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static const char *best(const char *word) {
    static const char *const names[] = {"eval",       "help",       "version",
                                        "completion", "map_values", "tonumber"};
    Suggestion s = suggestion_for(word, strlen(word));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        suggestion_offer(&s, names[i]);
    }
    return s.best;
}

static void a_slip_of_the_fingers_is_recognised(void **state) {
    (void)state;
    assert_string_equal(best("evla"), "eval");
    assert_string_equal(best("tonumbr"), "tonumber");
    assert_string_equal(best("mapvalues"), "map_values");
}

static void the_beginning_of_a_name_is_enough(void **state) {
    (void)state;
    assert_string_equal(best("vers"), "version");
    assert_string_equal(best("comp"), "completion");
}

static void nothing_is_offered_for_something_else(void **state) {
    (void)state;
    assert_null(best("nosuch"));
    assert_null(best("x"));
    assert_null(best("a-word-that-is-much-longer-than-any-name-there-is"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_of_the_fingers_is_recognised),
        cmocka_unit_test(the_beginning_of_a_name_is_enough),
        cmocka_unit_test(nothing_is_offered_for_something_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
