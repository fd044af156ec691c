/* Objects against a plain C list of keys and values, with old versions held. */
#include "json_build.h"
#include "json_index.h"
#include "json_test.h"
#include "json_tree.h"

enum { KEYS = 400, VERSIONS = 5 };

typedef struct Entry {
    int key, value;
} Entry;

typedef struct Version {
    Json object;
    Entry entries[KEYS];
    size_t n;
    int key_limit; /* keys in use are below: small and large objects are both wanted */
} Version;

static uint64_t random_state = 2463534242u;

static size_t random_below(size_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % n);
}

static Json key_of(int key) {
    return json_string_fmt(key % 3 ? "k%d" : "a key that is rather long %d", key);
}

static size_t model_find(const Version *v, int key) {
    size_t i = 0;
    while (i < v->n && v->entries[i].key != key) {
        i++;
    }
    return i;
}

static void model_set(Version *v, int key, int value) {
    size_t i = model_find(v, key);
    v->n += i == v->n;
    v->entries[i] = (Entry){key, value};
}

static void model_remove(Version *v, int key) {
    size_t i = model_find(v, key);
    if (i < v->n) {
        v->n--;
        memmove(v->entries + i, v->entries + i + 1, (v->n - i) * sizeof *v->entries);
    }
}

static void check(const Version *v) {
    Json key, value;
    size_t pos = 0;
    assert_int_equal(json_object_len(v->object), v->n);
    assert_int_equal(object_is_big(v->object), v->n > JSON_SMALL_OBJECT);
    for (size_t i = 0; i < v->n; i++) {
        assert_true(json_object_next(v->object, &pos, &key, &value));
        Json want = key_of(v->entries[i].key);
        assert_true(json_string_equal(key, want));
        assert_int_equal(value.i, v->entries[i].value);
        assert_int_equal(json_object_get(v->object, want).i, v->entries[i].value);
        json_unref(want);
    }
    assert_false(json_object_next(v->object, &pos, &key, &value));
}

static void set_one(Version *v) {
    int key = (int)random_below((size_t)v->key_limit), value = (int)random_below(1000);
    v->object = json_object_set(v->object, key_of(key), json_int(value));
    model_set(v, key, value);
}

static void remove_one(Version *v) {
    int key = (int)random_below((size_t)v->key_limit);
    Json k = key_of(key);
    v->object = json_object_remove(v->object, k);
    json_unref(k);
    model_remove(v, key);
    assert_true(json_is_none(json_object_get_c(v->object, "absent")));
}

static void lift_and_put_back(Version *v) {
    int key = (int)random_below((size_t)v->key_limit);
    Json k = key_of(key), value = json_object_lift(&v->object, k);
    size_t i = model_find(v, key);
    assert_int_equal(json_is_none(value), i == v->n);
    if (i < v->n) {
        assert_int_equal(value.i, v->entries[i].value);
        assert_int_equal(json_tag(json_object_get(v->object, k)), JSON_TAG_NULL);
        v->object = json_object_set(v->object, json_ref(k), value);
    }
    json_unref(k);
}

static void rebuild_in_bulk(Version *v) {
    Json pairs[4 * KEYS];
    size_t n = random_below((size_t)v->key_limit * 2);
    v->n = 0;
    for (size_t i = 0; i < n; i++) {
        int key = (int)random_below((size_t)v->key_limit), value = (int)random_below(1000);
        pairs[2 * i] = key_of(key);
        pairs[2 * i + 1] = json_int(value);
        model_set(v, key, value);
    }
    json_unref(v->object);
    v->object = json_object_from(pairs, n);
}

static void random_edit(Version *v) {
    size_t n = random_below(30), what = random_below(40);
    for (size_t i = 0; i < n; i++) {
        what < 18 ? set_one(v) : what < 34 ? remove_one(v) : lift_and_put_back(v);
    }
    if (what == 39) {
        rebuild_in_bulk(v);
    }
}

static void random_edits_match_a_plain_list_and_old_versions_stay(void **state) {
    (void)state;
    static const int limits[VERSIONS] = {12, 20, 40, 100, KEYS};
    Version *versions = calloc(VERSIONS, sizeof *versions);
    for (size_t i = 0; i < VERSIONS; i++) {
        versions[i].object = json_object();
        versions[i].key_limit = limits[i];
    }
    for (int round = 0; round < 4000; round++) {
        Version *v = &versions[random_below(VERSIONS)], *from = &versions[random_below(VERSIONS)];
        if (random_below(4) == 0 && v->key_limit > from->key_limit) {
            int limit = v->key_limit;
            json_unref(v->object);
            *v = *from;
            v->key_limit = limit;
            json_ref(v->object);
        }
        random_edit(v);
        check(v);
        check(from);
    }
    for (size_t i = 0; i < VERSIONS; i++) {
        json_unref(versions[i].object);
    }
    free(versions);
}

static Json numbered(int n) {
    Json o = json_object();
    for (int i = 0; i < n; i++) {
        o = json_object_set(o, json_string_fmt("key %d", i), json_int(i));
    }
    return o;
}

static void every_key_of_a_large_object_is_found(void **state) {
    (void)state;
    Json o = numbered(200000); /* enough for dozens of pairs of equal 32-bit hashes */
    for (int i = 0; i < 200000; i++) {
        Json k = json_string_fmt("key %d", i);
        assert_int_equal(json_object_get(o, k).i, i);
    }
    for (int i = 0; i < 200000; i += 2) {
        o = json_object_remove(o, json_string_fmt("key %d", i));
    }
    assert_int_equal(json_object_len(o), 100000);
    for (int i = 0; i < 200000; i++) {
        Json v = json_object_get(o, json_string_fmt("key %d", i));
        assert_true(i % 2 ? v.i == i : json_is_none(v));
    }
    json_unref(o);
}

static void repeated_key_keeps_first_place_and_last_value(void **state) {
    (void)state;
    for (int n = 3; n <= 300; n += 99) {
        Json pairs[602];
        for (int i = 0; i < n; i++) {
            pairs[2 * i] = key_of(i);
            pairs[2 * i + 1] = json_int(i);
        }
        pairs[2 * n] = key_of(0);
        pairs[2 * n + 1] = json_int(-1);
        Json o = json_object_from(pairs, (size_t)n + 1), key, value;
        size_t pos = 0;
        assert_int_equal(json_object_len(o), n);
        assert_true(json_object_next(o, &pos, &key, &value));
        assert_int_equal(value.i, -1);
        json_unref(o);
    }
}

static void one_key_repeated_many_times_is_one_key(void **state) {
    (void)state;
    Json pairs[2000];
    for (int i = 0; i < 1000; i++) {
        pairs[2 * i] = json_string_c("the same long key");
        pairs[2 * i + 1] = json_int(i);
    }
    Json o = json_object_from(pairs, 1000);
    assert_int_equal(json_object_len(o), 1);
    assert_false(object_is_big(o));
    assert_int_equal(json_object_get_c(o, "the same long key").i, 999);
    json_unref(o);
}

static void removed_and_set_again_moves_to_the_end(void **state) {
    (void)state;
    for (int n = 4; n <= 64; n *= 4) {
        Json o = json_object_remove(numbered(n), json_string_c("key 1"));
        o = json_object_set(o, json_string_c("key 1"), json_null());
        Json keys = json_object_keys(o, false);
        assert_true(json_string_is(json_array_get(keys, 1), "key 2"));
        assert_true(json_string_is(json_array_get(keys, (size_t)n - 1), "key 1"));
        json_unref(keys);
        json_unref(o);
    }
}

static void sorted_keys_are_in_byte_order(void **state) {
    (void)state;
    Json o = numbered(500), keys = json_object_keys(o, true);
    assert_int_equal(json_array_len(keys), 500);
    for (size_t i = 1; i < 500; i++) {
        assert_int_equal(json_string_compare(json_array_get(keys, i - 1), json_array_get(keys, i)),
                         -1);
    }
    json_unref(keys);
    json_unref(o);
}

static void shared_large_object_copies_only_the_way_to_the_change(void **state) {
    (void)state;
    Json o = numbered(10000);
    size_t bytes = json_heap_bytes();
    Json changed = json_object_set(json_ref(o), json_string_c("key 77"), json_int(-1));
    assert_true(json_heap_bytes() - bytes < 3000);
    assert_int_equal(json_object_get_c(o, "key 77").i, 77);
    assert_int_equal(json_object_get_c(changed, "key 77").i, -1);
    json_unref(changed);
    changed = json_object_set(json_ref(o), json_string_c("new"), json_int(-1));
    assert_true(json_heap_bytes() - bytes < 4000);
    assert_true(json_is_none(json_object_get_c(o, "new")));
    json_unref(changed);
    json_unref(o);
}

static void objects_are_equal_whatever_the_order_and_the_holes(void **state) {
    (void)state;
    Json a = numbered(100), b = json_object(), extra = json_string_c("extra");
    for (int i = 99; i >= 0; i--) {
        b = json_object_set(b, json_string_fmt("key %d", i), json_int(i));
    }
    assert_true(json_equal(a, b));
    a = json_object_set(a, extra, json_int(1));
    assert_false(json_equal(a, b));
    a = json_object_remove(a, extra);
    assert_true(json_equal(a, b));
    assert_true(json_equal(b, a));
    assert_int_equal(json_compare(a, b), 0);
    json_unref(a);
    json_unref(b);
}

static void entries_of_one_hash_are_kept_apart(void **state) {
    (void)state;
    JsonIndex *t = NULL, *old = NULL;
    const uint64_t *found;
    for (uint32_t i = 0; i < 50; i++) {
        t = index_add(t, index_entry(0xABCDEF01, i));
        t = index_add(t, index_entry(0xABCDEF00, i + 100));
    }
    assert_int_equal(index_find(t, 0xABCDEF01, &found), 50);
    assert_int_equal(index_find(t, 0xABCDEF02, &found), 0);
    old = index_ref(t);
    for (uint32_t i = 0; i < 50; i++) {
        t = index_remove(t, index_entry(0xABCDEF01, i));
    }
    assert_int_equal(index_find(t, 0xABCDEF01, &found), 0);
    assert_int_equal(index_find(t, 0xABCDEF00, &found), 50);
    assert_int_equal(index_find(old, 0xABCDEF01, &found), 50);
    index_unref(t);
    index_unref(old);
}

static void object_is_built_in_one_expression_without_what_is_not_there(void **state) {
    (void)state;
    int64_t frame = 3;
    const char *name = "main", *nothing = NULL;
    bool yes = true;
    Json o = OBJECT(KEY("event", "paused"), KEY("frame", frame), KEY("name", name),
                    KEY("error", json_none()), KEY("line", nothing), KEY("again", yes),
                    KEY("took", 0.5), KEY("size", sizeof(char)), KEY("path", json_array()));
    o = OBJECT_ADD(o, KEY("frame", INT64_C(4)));
    expect_gives(o, "{\"event\":\"paused\",\"frame\":4,\"name\":\"main\",\"again\":true,"
                    "\"took\":0.5,\"size\":1,\"path\":[]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(random_edits_match_a_plain_list_and_old_versions_stay),
        JSON_TEST(every_key_of_a_large_object_is_found),
        JSON_TEST(repeated_key_keeps_first_place_and_last_value),
        JSON_TEST(one_key_repeated_many_times_is_one_key),
        JSON_TEST(removed_and_set_again_moves_to_the_end),
        JSON_TEST(sorted_keys_are_in_byte_order),
        JSON_TEST(shared_large_object_copies_only_the_way_to_the_change),
        JSON_TEST(objects_are_equal_whatever_the_order_and_the_holes),
        JSON_TEST(object_is_built_in_one_expression_without_what_is_not_there),
        JSON_TEST(entries_of_one_hash_are_kept_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
