#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json.h"
#include "mem.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static Json number(const char *text) {
    return json_number_parse(text, strlen(text));
}

static void assert_prints(Json j, const char *expected) {
    Buf b = BUF_INIT;
    json_number_print(j, &b);
    assert_string_equal(b.data, expected);
    buf_clear(&b);
}

typedef struct Case {
    const char *text;
    uint8_t tag;
    const char *printed;
} Case;

static void run_cases(const Case *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        Json j = number(cases[i].text);
        assert_int_equal(json_tag(j), cases[i].tag);
        assert_prints(j, cases[i].printed);
        json_unref(j);
    }
}

#define RUN(cases) run_cases(cases, sizeof cases / sizeof *cases)

static void integers_that_fit_64_bits_are_integers(void **state) {
    (void)state;
    static const Case cases[] = {
        {"0", JSON_TAG_INT, "0"},
        {"-1", JSON_TAG_INT, "-1"},
        {"+5", JSON_TAG_INT, "5"},
        {"007", JSON_TAG_INT, "7"},
        {"5.", JSON_TAG_INT, "5"},
        {"9007199254740993", JSON_TAG_INT, "9007199254740993"},
        {"9223372036854775807", JSON_TAG_INT, "9223372036854775807"},
        {"-9223372036854775808", JSON_TAG_INT, "-9223372036854775808"},
        {"1e+0", JSON_TAG_INT, "1"},
        {"1.10e2", JSON_TAG_INT, "110"},
        {"0000000000000000000000000000001", JSON_TAG_INT, "1"},
    };
    RUN(cases);
    assert_true(number("-9223372036854775808").i == INT64_MIN);
}

static void negative_zero_stays_negative(void **state) {
    (void)state;
    Json j = number("-0");
    assert_int_equal(json_tag(j), JSON_TAG_DOUBLE);
    assert_true(signbit(j.d));
    assert_prints(j, "-0");
}

static void decimals_that_doubles_print_alike_are_doubles(void **state) {
    (void)state;
    static const Case cases[] = {
        {"0.1", JSON_TAG_DOUBLE, "0.1"},
        {".5", JSON_TAG_DOUBLE, "0.5"},
        {"-2.5", JSON_TAG_DOUBLE, "-2.5"},
        {"0.0001", JSON_TAG_DOUBLE, "0.0001"},
        {"123456789.012345", JSON_TAG_DOUBLE, "123456789.012345"},
        {"125e-2", JSON_TAG_DOUBLE, "1.25"},
        {"000.25", JSON_TAG_DOUBLE, "0.25"},
    };
    RUN(cases);
    assert_true(number("0.1").d == 0.1);
    assert_true(number("-123456789.012345").d == -123456789.012345);
}

static void other_literals_keep_their_canonical_text(void **state) {
    (void)state;
    static const Case cases[] = {
        {"1.000", JSON_TAG_SHORT_DECIMAL, "1.000"},
        {"100e-2", JSON_TAG_SHORT_DECIMAL, "1.00"},
        {"0.0", JSON_TAG_SHORT_DECIMAL, "0.0"},
        {"-0.00", JSON_TAG_SHORT_DECIMAL, "-0.00"},
        {"0e10", JSON_TAG_SHORT_DECIMAL, "0E+10"},
        {"1e2", JSON_TAG_SHORT_DECIMAL, "1E+2"},
        {"1.e5", JSON_TAG_SHORT_DECIMAL, "1E+5"},
        {"0.00001", JSON_TAG_SHORT_DECIMAL, "0.00001"},
        {"0.000001", JSON_TAG_SHORT_DECIMAL, "0.000001"},
        {"0.0000001", JSON_TAG_SHORT_DECIMAL, "1E-7"},
        {"0.00000123", JSON_TAG_SHORT_DECIMAL, "0.00000123"},
        {"0.000000123", JSON_TAG_SHORT_DECIMAL, "1.23E-7"},
        {"1e1000", JSON_TAG_SHORT_DECIMAL, "1E+1000"},
        {"-1E+1000", JSON_TAG_SHORT_DECIMAL, "-1E+1000"},
        {"9223372036854775808", JSON_TAG_DECIMAL, "9223372036854775808"},
        {"12345678901234567890123", JSON_TAG_DECIMAL, "12345678901234567890123"},
        {"0.12345678901234567890", JSON_TAG_DECIMAL, "0.12345678901234567890"},
        {"0.30000000000000004", JSON_TAG_DECIMAL, "0.30000000000000004"},
        {"9999999999E999999990", JSON_TAG_DECIMAL, "9.999999999E+999999999"},
        {"0.000000001E-999999990", JSON_TAG_SHORT_DECIMAL, "1E-999999999"},
        {"12345678901234567890e5", JSON_TAG_DECIMAL, "1.2345678901234567890E+24"},
    };
    RUN(cases);
}

static void thirteen_characters_of_text_are_held_in_the_value(void **state) {
    (void)state;
    static const Case cases[] = {
        {"1.00000000000", JSON_TAG_SHORT_DECIMAL, "1.00000000000"},
        {"1.000000000000", JSON_TAG_DECIMAL, "1.000000000000"},
    };
    RUN(cases);
    Json j = number("1.0");
    for (size_t i = json_short_len(j); i < JSON_SHORT_MAX; i++) {
        assert_int_equal(json_short_text(&j)[i], 0);
    }
}

static void exponents_out_of_range_become_infinity_or_zero(void **state) {
    (void)state;
    assert_true(number("1e1000000000").d == INFINITY);
    assert_true(number("-1E9999999999999999999999").d == -INFINITY);
    assert_prints(number("1e1000000000"), "1.7976931348623157e+308");
    assert_prints(number("1e-9999999999999"), "0");
    assert_prints(number("-1e-9999999999999"), "-0");
    Json zero = number("0e99999999999999999999");
    assert_true(json_to_double(zero) == 0);
    json_unref(zero);
}

static void nan_and_infinity_are_words_in_any_case(void **state) {
    (void)state;
    static const char *const nans[] = {"nan", "NaN", "-NaN", "+nan", "NAN"};
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++) {
        assert_true(isnan(number(nans[i]).d));
    }
    assert_true(number("Infinity").d == INFINITY);
    assert_true(number("-infinity").d == -INFINITY);
    assert_true(number("inf").d == INFINITY);
}

static void what_is_not_a_number_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"",    "-",     "+",    ".",     "-.",  "e5",    ".e5",
                                        "1e",  "1e+",   "1 ",   " 1",    "1-2", "1.2.3", "0x10",
                                        "--1", "1e1e1", "nan1", "infin", "1_0", "NaN10"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(json_is_none(number(texts[i])));
    }
    assert_true(json_is_none(json_number_parse("1\0002", 3)));
}

static void doubles_print_as_jq_prints_them(void **state) {
    (void)state;
    static const struct {
        double d;
        const char *printed;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {3, "3"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e15, "1000000000000000"},
        {1e16, "1e+16"},
        {1.5e16, "15000000000000000"},
        {1.5e17, "1.5e+17"},
        {123456789e10, "1234567890000000000"},
        {1e17, "1e+17"},
        {123e20, "1.23e+22"},
        {13911860366432392.0, "13911860366432392"},
        {12345678901234567890.0, "12345678901234567000"},
        {0.0001, "0.0001"},
        {0.00001, "1e-05"},
        {0.000001234, "1.234e-06"},
        {1.5e300, "1.5e+300"},
        {5e-324, "5e-324"},
        {0x1p-44, "5.684341886080802e-14"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {INFINITY, "1.7976931348623157e+308"},
        {-INFINITY, "-1.7976931348623157e+308"},
        {NAN, "null"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_prints(json_double(cases[i].d), cases[i].printed);
    }
}

static uint64_t next_random(uint64_t *x) {
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

static void any_double_reads_back_from_its_text(void **state) {
    (void)state;
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&x);
        double d;
        memcpy(&d, &bits, 8);
        if (!isfinite(d)) {
            continue;
        }
        Buf b = BUF_INIT;
        json_number_print(json_double(d), &b);
        Json back = json_number_parse(b.data, b.len);
        assert_true(json_to_double(back) == d);
        assert_true(strtod(b.data, NULL) == d);
        json_unref(back);
        buf_clear(&b);
    }
}

static void canonical_text_reads_back_as_itself(void **state) {
    (void)state;
    uint64_t x = 42;
    for (int i = 0; i < 20000; i++) {
        char text[80];
        size_t n = 0;
        size_t digits = 1 + next_random(&x) % 30, point = next_random(&x) % (digits + 1);
        for (size_t k = 0; k < digits; k++) {
            if (k == point && k) {
                text[n++] = '.';
            }
            text[n++] = (char)('0' + next_random(&x) % 10);
        }
        n += (size_t)snprintf(text + n, 20, "e%d", (int)(next_random(&x) % 60) - 30);
        Json j = json_number_parse(text, n);
        Buf b = BUF_INIT;
        json_number_print(j, &b);
        Json again = json_number_parse(b.data, b.len);
        assert_int_equal(json_tag(again), json_tag(j));
        assert_prints(again, b.data);
        assert_true(json_to_double(j) == strtod(text, NULL));
        json_unref(j);
        json_unref(again);
        buf_clear(&b);
    }
}

static int compare(const char *a, const char *b) {
    Json x = number(a), y = number(b);
    int order = json_number_compare(x, y);
    assert_int_equal(json_number_compare(y, x), -order);
    json_unref(x);
    json_unref(y);
    return order;
}

static void integers_and_literals_compare_exactly(void **state) {
    (void)state;
    assert_int_equal(compare("13911860366432393", "13911860366432392"), 1);
    assert_int_equal(compare("1", "1.000"), 0);
    assert_int_equal(compare("100e-2", "1.0"), 0);
    assert_int_equal(compare("-1", "1.0"), -1);
    assert_int_equal(compare("0.0", "-0.00"), 0);
    assert_int_equal(compare("0", "-0.00"), 0);
    assert_int_equal(compare("1e2", "100"), 0);
    assert_int_equal(compare("1e2", "99"), 1);
    assert_int_equal(compare("1E+1000", "1E+999"), 1);
    assert_int_equal(compare("-1E+1000", "-1E+999"), -1);
    assert_int_equal(compare("1E-1000", "0.0"), 1);
    assert_int_equal(
        compare("10000000000000000000000000000001", "10000000000000000000000000000000"), 1);
    assert_int_equal(compare("0.12345678901234567890123456789", "0.12345678901234567890123456788"),
                     1);
    assert_int_equal(compare("9223372036854775807", "9223372036854775808"), -1);
}

static void what_arithmetic_made_compares_as_doubles(void **state) {
    (void)state;
    Json exact = number("10000000000000000000000000000001"), rounded = json_double(1e31);
    assert_int_equal(json_number_compare(exact, rounded), 0);
    assert_int_equal(json_number_compare(json_int(1), json_double(1.5)), -1);
    json_unref(exact);
}

static void nan_is_below_everything_even_itself(void **state) {
    (void)state;
    Json nan = json_double(NAN);
    assert_int_equal(json_number_compare(nan, json_double(-INFINITY)), -1);
    assert_int_equal(json_number_compare(json_int(0), nan), 1);
    assert_int_equal(json_number_compare(nan, nan), -1);
}

static void assert_negates(const char *text, const char *negated, const char *magnitude) {
    Json j = number(text), n = json_number_negate(j), m = json_number_abs(j);
    assert_prints(n, negated);
    assert_prints(m, magnitude);
    json_unref(j);
    json_unref(n);
    json_unref(m);
}

static void negating_keeps_every_digit(void **state) {
    (void)state;
    assert_negates("5", "-5", "5");
    assert_negates("-5", "5", "5");
    assert_negates("-2.5", "2.5", "2.5");
    assert_negates("1.000", "-1.000", "1.000");
    assert_negates("-1E+1000", "1E+1000", "1E+1000");
    assert_negates("-0.12345678901234567890123456789", "0.12345678901234567890123456789",
                   "0.12345678901234567890123456789");
    assert_negates("-9223372036854775808", "9223372036854775808", "9223372036854775808");
    assert_negates("9223372036854775808", "-9223372036854775808", "9223372036854775808");
    assert_negates("-9223372036854775807", "9223372036854775807", "9223372036854775807");
}

static void negating_the_largest_magnitude_gives_an_integer_again(void **state) {
    (void)state;
    Json big = number("9223372036854775808"), j = json_number_negate(big);
    assert_int_equal(json_tag(j), JSON_TAG_INT);
    assert_true(j.i == INT64_MIN);
    json_unref(big);
}

static void literals_give_their_double_when_asked(void **state) {
    (void)state;
    Json j = number("0.30000000000000004");
    assert_true(json_to_double(j) == 0.30000000000000004);
    json_unref(j);
    assert_true(json_to_double(number("1E+1000")) == INFINITY);
    assert_true(json_to_double(number("1.50")) == 1.5);
    assert_true(json_to_double(number("-1E-7")) == -1e-7);
    assert_true(json_to_double(number("1E+300")) == 1e300);
}

static void a_literal_of_a_million_digits_is_kept(void **state) {
    (void)state;
    size_t n = 1000000;
    char *text = mem_alloc(n + 1);
    memset(text, '7', n);
    text[n] = '\0';
    Json j = json_number_parse(text, n);
    assert_prints(j, text);
    assert_int_equal(json_number_compare(j, j), 0);
    json_unref(j);
    mem_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_that_fit_64_bits_are_integers),
        cmocka_unit_test(negative_zero_stays_negative),
        cmocka_unit_test(decimals_that_doubles_print_alike_are_doubles),
        cmocka_unit_test(other_literals_keep_their_canonical_text),
        cmocka_unit_test(thirteen_characters_of_text_are_held_in_the_value),
        cmocka_unit_test(exponents_out_of_range_become_infinity_or_zero),
        cmocka_unit_test(nan_and_infinity_are_words_in_any_case),
        cmocka_unit_test(what_is_not_a_number_is_refused),
        cmocka_unit_test(doubles_print_as_jq_prints_them),
        cmocka_unit_test(any_double_reads_back_from_its_text),
        cmocka_unit_test(canonical_text_reads_back_as_itself),
        cmocka_unit_test(integers_and_literals_compare_exactly),
        cmocka_unit_test(what_arithmetic_made_compares_as_doubles),
        cmocka_unit_test(nan_is_below_everything_even_itself),
        cmocka_unit_test(negating_keeps_every_digit),
        cmocka_unit_test(negating_the_largest_magnitude_gives_an_integer_again),
        cmocka_unit_test(literals_give_their_double_when_asked),
        cmocka_unit_test(a_literal_of_a_million_digits_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
