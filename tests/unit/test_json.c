/* Values: kinds, strings, order, equality, sizes, and letting go of them. */
#include "json.h"
#include "json_test.h"

static bool equal_within(Json a, Json b, int max_depth, bool *result) {
    return json_equal_working(a, b, max_depth, &(uint64_t){UINT64_MAX}, result);
}

static bool compare_within(Json a, Json b, int max_depth, int *result) {
    return json_compare_working(a, b, max_depth, &(uint64_t){UINT64_MAX}, result);
}

static Json nested(int wraps) {
    Json j = json_array();
    for (int i = 0; i < wraps; i++) {
        j = json_array_push(json_array(), j);
    }
    return j;
}

static Json nested_object(int wraps) {
    Json j = json_object();
    for (int i = 0; i < wraps; i++) {
        j = json_object_set(json_object(), json_string_c("a"), j);
    }
    return j;
}

static Json ints(int n) {
    Json a = json_array();
    for (int i = 0; i < n; i++) {
        a = json_array_push(a, json_int(i));
    }
    return a;
}

static void string_is_short_up_to_thirteen_bytes_and_always_ends_in_a_nul(void **state) {
    (void)state;
    Json fits = json_string_c("1234567890123"), longer = json_string_c("12345678901234");
    assert_int_equal(json_tag(fits), JSON_TAG_SHORT_STRING);
    assert_int_equal(json_tag(longer), JSON_TAG_STRING);
    assert_int_equal(json_string_len(fits), 13);
    assert_int_equal(json_string_len(longer), 14);
    assert_string_equal(json_string_data(&fits), "1234567890123");
    assert_string_equal(json_string_data(&longer), "12345678901234");
    json_unref(longer);
}

static void short_strings_with_the_same_bytes_are_identical(void **state) {
    (void)state;
    Json grown = json_string_append(json_string_c("ab"), "cd", 2);
    assert_true(json_identical(grown, json_string_c("abcd")));
    assert_false(json_identical(json_string("a", 1), json_string("a\0", 2)));
}

static void bad_utf8_becomes_replacement_characters(void **state) {
    (void)state;
    Json s = json_string("a\xff"
                         "b",
                         3);
    assert_true(json_string_is(s, "a\xEF\xBF\xBD"
                                  "b"));
    json_unref(s);
}

static void append_grows_in_place_and_leaves_other_holders_alone(void **state) {
    (void)state;
    Json s = json_string_c("a string on the heap");
    Json held = json_ref(s);
    s = json_string_append(s, ", longer", 8);
    assert_true(json_string_is(held, "a string on the heap"));
    assert_true(json_string_is(s, "a string on the heap, longer"));
    JsonHeap *before = s.heap;
    s = json_string_append(s, "!", 1);
    assert_ptr_equal(before, s.heap);
    assert_true(json_string_is(s, "a string on the heap, longer!"));
    json_unref(s);
    json_unref(held);
}

static void append_does_not_keep_the_old_hash(void **state) {
    (void)state;
    Json a = json_string_c("a string on the heap");
    json_string_hash(a);
    a = json_string_append(a, "!", 1);
    Json b = json_string_c("a string on the heap!");
    json_string_hash(b);
    assert_true(json_string_equal(a, b));
    assert_int_equal(json_string_hash(a), json_string_hash(b));
    json_unref(a);
    json_unref(b);
}

static void formatted_string_may_be_of_any_length(void **state) {
    (void)state;
    Json s = json_string_fmt("%0*d", 1000, 7);
    assert_int_equal(json_string_len(s), 1000);
    assert_int_equal(json_string_data(&s)[999], '7');
    json_unref(s);
    assert_true(json_string_is(json_string_fmt("%d-%s", 4, "x"), "4-x"));
}

static void strings_order_by_bytes_with_nuls_inside(void **state) {
    (void)state;
    assert_int_equal(json_string_compare(json_string("a", 1), json_string("a\0", 2)), -1);
    assert_int_equal(json_string_compare(json_string_c("b"), json_string_c("ab")), 1);
    Json tall = json_string_c("\xF0\x9F\x98\x80 and more text"), low = json_string_c("z");
    assert_int_equal(json_string_compare(low, tall), -1);
    json_unref(tall);
}

static void hashes_spread_over_all_bits(void **state) {
    (void)state;
    uint32_t ones = 0, zeros = 0;
    for (int i = 0; i < 200; i++) {
        Json s = json_string_fmt(i % 2 ? "k%d" : "a long key number %d", i);
        uint32_t h = json_string_hash(s);
        assert_int_not_equal(h, 0);
        ones |= h;
        zeros |= ~h;
        json_unref(s);
    }
    assert_int_equal(ones, UINT32_MAX);
    assert_int_equal(zeros, UINT32_MAX);
}

static void kinds_order_as_in_jq(void **state) {
    (void)state;
    Json ordered[] = {
        json_null(), json_bool(false),  json_bool(true),    json_int(-1), json_double(0.5),
        json_int(7), json_string_c(""), json_string_c("a"), json_array(), json_object(),
    };
    size_t n = sizeof ordered / sizeof *ordered;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(json_compare(ordered[i], ordered[k]), (i > k) - (i < k));
            assert_int_equal(json_equal(ordered[i], ordered[k]), i == k);
        }
    }
    json_unref(ordered[n - 1]);
    json_unref(ordered[n - 2]);
}

static void arrays_order_item_by_item_then_by_length(void **state) {
    (void)state;
    Json a = ints(100), b = json_array_set(ints(100), 60, json_int(99)), c = ints(101);
    assert_int_equal(json_compare(a, b), -1);
    assert_int_equal(json_compare(b, c), 1);
    assert_int_equal(json_compare(a, c), -1);
    json_unref(a);
    json_unref(b);
    json_unref(c);
}

static Json object2(const char *k1, int v1, const char *k2, int v2) {
    Json o = json_object_set(json_object(), json_string_c(k1), json_int(v1));
    return json_object_set(o, json_string_c(k2), json_int(v2));
}

static void objects_order_by_keys_then_by_values(void **state) {
    (void)state;
    Json a = object2("b", 1, "a", 9), b = object2("a", 9, "b", 2), c = object2("a", 0, "c", 0);
    Json same = object2("a", 9, "b", 1);
    assert_int_equal(json_compare(a, b), -1);
    assert_int_equal(json_compare(b, c), -1);
    assert_int_equal(json_compare(a, same), 0);
    assert_true(json_equal(a, same));
    assert_false(json_equal(a, b));
    assert_false(json_equal(a, c));
    json_unref(a);
    json_unref(b);
    json_unref(c);
    json_unref(same);
}

static void nan_equals_nothing_but_is_sorted(void **state) {
    (void)state;
    Json nan = json_double(__builtin_nan(""));
    assert_false(json_equal(nan, nan));
    assert_int_equal(json_compare(nan, json_int(-5)), -1);
}

static void check_depth_limit(Json (*make)(int)) {
    Json ok = make(10000), ok2 = make(10000), deep = make(10001), deep2 = make(10001);
    bool equal = false;
    int order = 5;
    assert_true(equal_within(ok, ok2, JSON_DEPTH_MAX, &equal));
    assert_true(equal);
    assert_true(compare_within(ok, ok2, JSON_DEPTH_MAX, &order));
    assert_int_equal(order, 0);
    assert_true(equal_within(ok, ok, JSON_DEPTH_MAX, &equal));
    order = 5;
    assert_false(equal_within(deep, deep2, JSON_DEPTH_MAX, &equal));
    assert_false(equal_within(deep, deep, JSON_DEPTH_MAX, &equal));
    assert_false(compare_within(deep, deep, JSON_DEPTH_MAX, &order));
    assert_false(compare_within(deep, deep2, JSON_DEPTH_MAX, &order));
    assert_int_equal(order, 5);
    assert_true(json_equal(deep, deep2));
    json_unref(ok);
    json_unref(ok2);
    json_unref(deep);
    json_unref(deep2);
}

static void values_deeper_than_the_limit_do_not_compare(void **state) {
    (void)state;
    check_depth_limit(nested);
    check_depth_limit(nested_object);
}

static void difference_above_the_limit_is_found_in_deep_values(void **state) {
    (void)state;
    Json a = json_array_push(json_array_push(json_array(), json_int(1)), nested(20000));
    Json b = json_array_push(json_array_push(json_array(), json_int(2)), nested(20000));
    bool equal = true;
    assert_true(equal_within(a, b, JSON_DEPTH_MAX, &equal));
    assert_false(equal);
    json_unref(a);
    json_unref(b);
}

static void five_million_deep_value_is_freed_and_compared(void **state) {
    (void)state;
    Json a = nested(5000000);
    Json b = json_array_push(json_array(), json_ref(a));
    assert_false(json_equal(a, b));
    json_unref(a);
    json_unref(b);
    assert_int_equal(json_heap_bytes(), 0);
}

static void deep_mix_of_arrays_and_objects_is_freed(void **state) {
    (void)state;
    Json j = json_null();
    for (int i = 0; i < 100000; i++) {
        Json wrapped = json_array_push(ints(i % 70), j);
        j = json_object_set(json_object(), json_string_c("a key that is long"), wrapped);
        if (i % 1000 == 0) {
            for (int k = 0; k < 40; k++) {
                j = json_object_set(j, json_string_fmt("key %d", k), ints(k));
            }
        }
    }
    json_unref(j);
    assert_int_equal(json_heap_bytes(), 0);
}

/* What was built deep and wide is freed in parts, whatever is freed in between. */
static void large_values_are_freed_in_slices(void **state) {
    (void)state;
    size_t before = json_heap_bytes(), parts = 0;
    Json deep = json_null(), wide = json_array(), small = ints(10);
    for (int i = 0; i < 50000; i++) {
        deep = json_object_set(json_object(), json_string_c("a key that is long"), deep);
        wide = json_array_push(wide, json_array_push(json_array(), ints(i % 70)));
    }
    json_release_slices(true);
    json_unref(deep);
    json_unref(wide);
    json_unref(small);
    assert_true(json_heap_bytes() > before);
    while (json_release_more()) parts++;
    json_release_slices(false);
    assert_true(parts > 5);
    assert_int_equal(json_heap_bytes(), before);
}

static void size_follows_what_is_below(void **state) {
    (void)state;
    Json a = ints(1000);
    uint64_t plain = json_size(a);
    assert_in_range(plain, 16000, 24000);
    a = json_array_set(a, 500, json_string_fmt("%0*d", 5000, 1));
    assert_in_range(json_size(a), plain + 5000, plain + 5100);
    a = json_array_set(a, 500, json_int(500));
    assert_int_equal(json_size(a), plain);
    json_unref(a);
}

static void size_of_shared_doubling_saturates_and_recovers(void **state) {
    (void)state;
    Json j = ints(10);
    for (int i = 0; i < 80; i++) {
        Json twice = json_array_push(json_array(), json_ref(j));
        j = json_array_push(twice, j);
    }
    assert_true(json_size(j) >= (UINT64_C(1) << 56) - 1);
    j = json_array_set(j, 0, json_null());
    assert_true(json_size(j) >= (UINT64_C(1) << 56) - 1);
    j = json_array_set(j, 1, json_null());
    assert_true(json_size(j) < 1000);
    json_unref(j);
}

static void heap_bytes_return_to_where_they_were(void **state) {
    (void)state;
    size_t before = json_heap_bytes();
    Json a = ints(100000);
    assert_true(json_heap_bytes() > before + 1600000);
    json_unref(a);
    assert_int_equal(json_heap_bytes(), before);
}

/* One value of every kind and of every way to hold one. */
enum { EVERY_KIND = 14 };

static void every_kind(Json *out) {
    Json keys = json_object();
    for (int i = 0; i < 40; i++) {
        keys = json_object_set(keys, json_string_fmt("key %d", i), json_int(i));
    }
    Json all[EVERY_KIND] = {
        json_none(),
        json_null(),
        json_bool(false),
        json_bool(true),
        json_int(INT64_C(0x4142434445464748)),
        json_double(1.5),
        json_number_parse("1.000", 5),
        json_number_parse("1234567890123456789012345678901234567890", 40),
        json_string_c("short"),
        json_string_c("a string that is on the heap"),
        ints(3),
        ints(3000),
        json_object_with(json_object(), "a", json_int(1)),
        keys,
    };
    memcpy(out, all, sizeof all);
}

static void reader_of_another_type_finds_nothing(void **state) {
    (void)state;
    Json all[EVERY_KIND], key, value, name = json_string_c("a"),
                                      longer = json_string_c("longer than 13");
    every_kind(all);
    for (int i = 0; i < EVERY_KIND; i++) {
        Json j = all[i];
        JsonKind kind = json_kind(j);
        size_t n = 1, pos = 0;
        if (kind != JSON_STRING) {
            assert_int_equal(json_string_len(j), 0);
            assert_string_equal(json_string_data(&j), "");
            assert_false(json_string_is(j, ""));
            assert_false(json_string_equal(j, name));
            assert_true(json_string_hash(j) != 0);
            assert_true(json_string_compare(j, name) < 0);
        }
        if (kind != JSON_ARRAY) {
            assert_int_equal(json_array_len(j), 0);
            assert_true(json_is_none(json_array_get(j, 0)));
            json_array_run(j, 0, &n);
            assert_int_equal(n, 0);
            assert_true(json_is_none(json_array_lift(&j, 0)));
        }
        if (kind != JSON_OBJECT) {
            assert_int_equal(json_object_len(j), 0);
            assert_true(json_is_none(json_object_get(j, name)));
            assert_true(json_is_none(json_object_get(j, longer)));
            assert_true(json_is_none(json_object_get_c(j, "a")));
            assert_false(json_object_next(j, &pos, &key, &value));
            assert_true(json_is_none(json_object_lift(&j, name)));
            Json keys = json_object_keys(j, true);
            assert_int_equal(json_array_len(keys), 0);
            json_unref(keys);
        }
        if (kind != JSON_NUMBER) {
            assert_true(json_to_double(j) == 0);
        }
    }
    for (int o = 0; o < EVERY_KIND; o++) {
        for (int k = 0; k < EVERY_KIND; k++) {
            bool there = json_kind(all[k]) == JSON_STRING && json_kind(all[o]) == JSON_OBJECT;
            assert_true(there || json_is_none(json_object_get(all[o], all[k])));
        }
    }
    for (int i = 0; i < EVERY_KIND; i++) {
        json_unref(all[i]);
    }
    json_unref(longer);
}

static void builder_on_another_type_begins_with_an_empty_one(void **state) {
    (void)state;
    Json all[EVERY_KIND];
    every_kind(all);
    for (int i = 0; i < EVERY_KIND; i++) {
        JsonKind kind = json_kind(all[i]);
        if (kind != JSON_STRING) {
            expect_gives(json_string_append(json_ref(all[i]), "ab", 2), "\"ab\"");
            expect_gives(json_string_append(json_ref(all[i]), "abcdefghijklmnop", 16),
                         "\"abcdefghijklmnop\"");
        }
        if (kind != JSON_ARRAY) {
            expect_gives(json_array_push(json_ref(all[i]), json_int(1)), "[1]");
            expect_gives(json_array_set(json_ref(all[i]), 1, json_int(1)), "[null,1]");
            expect_gives(json_array_slice(json_ref(all[i]), 0, 5), "[]");
            expect_gives(json_array_splice(json_ref(all[i]), 1, 2, ints(2)), "[0,1]");
            expect_gives(json_array_concat(ints(1), json_ref(all[i])), "[0]");
        }
        if (kind != JSON_OBJECT) {
            expect_gives(json_object_with(json_ref(all[i]), "a", json_int(1)), "{\"a\":1}");
        }
        json_unref(all[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(string_is_short_up_to_thirteen_bytes_and_always_ends_in_a_nul),
        JSON_TEST(short_strings_with_the_same_bytes_are_identical),
        JSON_TEST(bad_utf8_becomes_replacement_characters),
        JSON_TEST(append_grows_in_place_and_leaves_other_holders_alone),
        JSON_TEST(append_does_not_keep_the_old_hash),
        JSON_TEST(formatted_string_may_be_of_any_length),
        JSON_TEST(strings_order_by_bytes_with_nuls_inside),
        JSON_TEST(hashes_spread_over_all_bits),
        JSON_TEST(kinds_order_as_in_jq),
        JSON_TEST(arrays_order_item_by_item_then_by_length),
        JSON_TEST(objects_order_by_keys_then_by_values),
        JSON_TEST(nan_equals_nothing_but_is_sorted),
        JSON_TEST(values_deeper_than_the_limit_do_not_compare),
        JSON_TEST(difference_above_the_limit_is_found_in_deep_values),
        JSON_TEST(five_million_deep_value_is_freed_and_compared),
        JSON_TEST(deep_mix_of_arrays_and_objects_is_freed),
        JSON_TEST(size_follows_what_is_below),
        JSON_TEST(size_of_shared_doubling_saturates_and_recovers),
        JSON_TEST(heap_bytes_return_to_where_they_were),
        JSON_TEST(large_values_are_freed_in_slices),
        JSON_TEST(reader_of_another_type_finds_nothing),
        JSON_TEST(builder_on_another_type_begins_with_an_empty_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
