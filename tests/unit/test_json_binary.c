#include "json_binary.h"
#include "json_test.h"
#include "mem.h"

#include <math.h>

static void assert_encodes(Json j, const char *bytes, size_t len) {
    Buf b = BUF_INIT;
    size_t used = 0;
    json_encode(j, &b);
    assert_int_equal(b.len, len);
    assert_memory_equal(b.data, bytes, len);
    Json back = json_decode(b.data, b.len, &used, NULL);
    assert_int_equal(used, len);
    assert_int_equal(json_tag(back), json_tag(j));
    json_unref(back);
    buf_clear(&b);
    json_unref(j);
}

#define ENCODES(j, bytes) assert_encodes(j, bytes, sizeof bytes - 1)

static void the_layout_is_the_one_described(void **state) {
    (void)state;
    ENCODES(json_null(), "\x00");
    ENCODES(json_bool(false), "\x01");
    ENCODES(json_bool(true), "\x02");
    ENCODES(json_int(0), "\x80");
    ENCODES(json_int(127), "\xff");
    ENCODES(json_int(128), "\x03\x80\x02");
    ENCODES(json_int(-1), "\x03\x01");
    ENCODES(json_int(INT64_MIN), "\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    ENCODES(json_double(0.5), "\x04\x00\x00\x00\x00\x00\x00\xe0\x3f");
    ENCODES(parse("1.0"), "\x05\x03"
                          "1.0");
    ENCODES(parse("\"abc\""), "\x23"
                              "abc");
    ENCODES(parse("\"0123456789abcdef0123456789abcdef\""), "\x06\x20"
                                                           "0123456789abcdef0123456789abcdef");
    ENCODES(json_array(), "\x40");
    ENCODES(parse("[1,[2]]"), "\x42\x81\x41\x82");
    ENCODES(json_object(), "\x50");
    ENCODES(parse("{\"b\":1,\"a\":null}"), "\x52\x21"
                                           "b\x81\x21"
                                           "a\x00");
    ENCODES(parse("[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]"),
            "\x07\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80");
}

static void assert_round_trip(Json j) {
    Buf b = BUF_INIT;
    size_t used = 0;
    json_encode(j, &b);
    buf_adds(&b, "tail");
    Error err = ERROR_INIT;
    Json back = json_decode(b.data, b.len, &used, &err);
    assert_int_equal(used, b.len - 4);
    char *before = json_to_text(j), *after = json_to_text(back);
    assert_string_equal(before, after);
    mem_free(before);
    mem_free(after);
    json_unref(back);
    buf_clear(&b);
}

static void values_come_back_with_keys_in_order(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"z\":1,\"a\":[1.000,1e1000,-0,0.1,12345678901234567890123],\"m\":{\"\":\"\"}}",
        "[\"\\u0000\",\"\xe2\x82\xac\",\"0123456789012345678901234567890123456789\"]",
        "[[[[[[]]]]],{\"a\":{\"b\":{\"c\":[null,true,false]}}}]",
        "[9223372036854775807,-9223372036854775808,-129,300,65536]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Json j = parse(texts[i]);
        assert_round_trip(j);
        json_unref(j);
    }
}

static void double_bits_survive(void **state) {
    (void)state;
    double values[] = {NAN, INFINITY, -INFINITY, -0.0, 5e-324, 3.0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        Buf b = BUF_INIT;
        json_encode(json_double(values[i]), &b);
        Json back = json_decode(b.data, b.len, NULL, NULL);
        assert_int_equal(json_tag(back), JSON_TAG_DOUBLE);
        assert_memory_equal(&back.d, &values[i], 8);
        buf_clear(&b);
    }
}

static uint64_t next_random(uint64_t *x) {
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return *x >> 33;
}

static Json random_value(uint64_t *x, int depth) {
    switch (next_random(x) % (depth > 0 ? 7 : 5)) {
    case 0: return json_null();
    case 1: return json_bool(next_random(x) & 1);
    case 2: return json_int((int64_t)(next_random(x) << 33 >> next_random(x) % 64));
    case 3: return json_double((double)next_random(x) / 1000);
    case 4:
        return json_string_fmt("%.*s", (int)(next_random(x) % 40),
                               "a string that is as long as the dice say");
    default: break;
    }
    bool object = next_random(x) & 1;
    Json j = object ? json_object() : json_array();
    for (uint64_t n = next_random(x) % 40; n > 0; n--) {
        Json v = random_value(x, depth - 1);
        j = object ? json_object_set(j, json_string_fmt("k%u", (unsigned)next_random(x) % 99), v)
                   : json_array_push(j, v);
    }
    return j;
}

static void random_values_come_back(void **state) {
    (void)state;
    uint64_t x = 7;
    for (int i = 0; i < 300; i++) {
        Json j = random_value(&x, 3);
        assert_round_trip(j);
        json_unref(j);
    }
}

static void values_nested_deeper_than_text_may_be_come_back(void **state) {
    (void)state;
    Json j = json_array();
    for (int i = 0; i < 900000; i++) {
        j = json_array_push(json_array(), j);
    }
    Buf b = BUF_INIT;
    json_encode(j, &b);
    Json back = json_decode(b.data, b.len, NULL, NULL);
    assert_true(json_equal(j, back));
    json_unref(j);
    json_unref(back);
    buf_clear(&b);
}

static void assert_damaged(const char *bytes, size_t len, const char *message) {
    Error err = ERROR_INIT;
    size_t before = json_heap_bytes();
    assert_true(json_is_none(json_decode(bytes, len, NULL, &err)));
    assert_int_equal(err.code, ERR_DATA);
    assert_string_equal(err.msg, message);
    assert_int_equal(json_heap_bytes(), before);
}

#define DAMAGED(bytes, at, what) \
    assert_damaged(bytes, sizeof bytes - 1, "The binary value is damaged at byte " at ": " what ".")

static void damage_is_named(void **state) {
    (void)state;
    DAMAGED("", "0", "it is cut off");
    DAMAGED("\x03", "1", "it is cut off");
    DAMAGED("\x04\x00\x00", "1", "it is cut off");
    DAMAGED("\x25"
            "ab",
            "1", "it is cut off");
    DAMAGED("\x42\x81", "1", "it is cut off");
    DAMAGED("\x51\x21"
            "a",
            "3", "it is cut off");
    DAMAGED("\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "11", "it is cut off");
    DAMAGED("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "11", "it is cut off");
    DAMAGED("\x06\xff\xff\xff\xff\x0f", "6", "it is cut off");
    DAMAGED("\x03\x80\x00", "3", "a number is not in its short form");
    DAMAGED("\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "11",
            "a number is not in its short form");
    DAMAGED("\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "11", "a number is too long");
    DAMAGED("\x22\xc3\x28", "3", "a string is not UTF-8");
    DAMAGED("\x05\x01"
            "1",
            "3", "a number literal is not one");
    DAMAGED("\x05\x03"
            "1e5",
            "5", "a number literal is not one");
    DAMAGED("\x05\x03nan", "5", "a number literal is not one");
    DAMAGED("\x51\x81\x81", "2", "a key is not a string");
    DAMAGED("\x52\x21"
            "a\x81\x21"
            "a\x82",
            "7", "a key is there twice");
    DAMAGED("\x51\x40\x81", "2", "a key is not a string");
    DAMAGED("\x09", "1", "there is no such kind of value");
    DAMAGED("\x1f", "1", "there is no such kind of value");
    DAMAGED("\x60", "1", "there is no such kind of value");
}

static void too_deep_a_nesting_is_damage(void **state) {
    (void)state;
    size_t n = 1000002;
    char *bytes = mem_alloc(n);
    memset(bytes, 0x41, n);
    assert_damaged(bytes, n, "The binary value is damaged at byte 1000001: it is nested too deep.");
    mem_free(bytes);
}

static void flipped_and_missing_bytes_do_no_harm(void **state) {
    (void)state;
    Json j = parse("{\"a\":[1,-2,3.5,1.000,\"long enough for the heap\",null],\"b\":{\"c\":[[]]}}");
    Buf b = BUF_INIT;
    json_encode(j, &b);
    json_unref(j);
    size_t before = json_heap_bytes();
    for (size_t i = 0; i < b.len; i++) {
        json_unref(json_decode(b.data, i, NULL, NULL));
        for (int bit = 0; bit < 8; bit++) {
            b.data[i] = (char)(b.data[i] ^ 1 << bit);
            json_unref(json_decode(b.data, b.len, NULL, NULL));
            b.data[i] = (char)(b.data[i] ^ 1 << bit);
        }
    }
    assert_int_equal(json_heap_bytes(), before);
    buf_clear(&b);
}

/* A byte can stand for an array, so what the bytes make is counted while it is made. */
static void a_value_that_takes_more_than_allowed_is_refused_while_it_is_read(void **state) {
    (void)state;
    enum { N = 1 << 20, MAX = 1 << 20 };
    static const unsigned char tags[] = {0x80, 0x40, 0x50, 0x00};
    Buf b = BUF_INIT;
    for (size_t i = 0; i < sizeof tags; i++) {
        Error err = ERROR_INIT;
        size_t used = 0, before = json_heap_bytes();
        buf_reset(&b);
        buf_add(&b, "\x07\x80\x80\x40", 4); /* an array of 2^20 */
        for (int k = 0; k < N; k++) buf_addc(&b, (char)tags[i]);
        buf_addc(&b, 0);
        assert_true(json_is_none(json_decode_within(b.data, b.len, MAX, &used, &err)));
        assert_int_equal(err.code, ERR_LIMIT);
        assert_string_equal(err.msg, "The binary value takes more than 1 MB.");
        assert_true(used < N / 4);
        assert_int_equal(json_heap_bytes(), before);
    }
    Json j = parse("[1,[2,{\"a\":\"a string that is longer\"}],{}]");
    buf_reset(&b);
    json_encode(j, &b);
    Json back = json_decode_within(b.data, b.len, json_size(j), NULL, NULL);
    assert_true(json_equal(back, j));
    assert_true(json_is_none(json_decode_within(b.data, b.len, json_size(j) - 1, NULL, NULL)));
    json_unref(back);
    json_unref(j);
    buf_clear(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_is_the_one_described),
        cmocka_unit_test(values_come_back_with_keys_in_order),
        cmocka_unit_test(double_bits_survive),
        cmocka_unit_test(random_values_come_back),
        cmocka_unit_test(values_nested_deeper_than_text_may_be_come_back),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(too_deep_a_nesting_is_damage),
        cmocka_unit_test(flipped_and_missing_bytes_do_no_harm),
        cmocka_unit_test(a_value_that_takes_more_than_allowed_is_refused_while_it_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
