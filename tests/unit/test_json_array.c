/* Arrays against a plain C array, with old versions held while new ones are made. */
#include "json_test.h"
#include "json_tree.h"

enum { MODEL_MAX = 6000, VERSIONS = 6 };

typedef struct Model {
    int64_t items[MODEL_MAX];
    size_t n;
} Model;

typedef struct Version {
    Json array;
    Model model;
} Version;

static uint64_t random_state = 88172645463325252u;

static size_t random_below(size_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return n ? (size_t)(random_state % n) : 0;
}

static Json number_or_text(int64_t i) {
    return i % 5 ? json_int(i) : json_string_fmt("the number %020lld", (long long)i);
}

static bool holds(Json j, int64_t i) {
    Json want = number_or_text(i);
    bool same = json_equal(j, want);
    json_unref(want);
    return same;
}

static size_t checked_count(const JsonNode *t, uint8_t level) {
    assert_int_equal(t->h.level, level);
    assert_true(t->h.n <= JSON_FANOUT);
    if (level == 0) {
        return t->h.n;
    }
    size_t count = 0;
    uint64_t bytes = sizeof *t;
    for (size_t k = 0; k < t->h.n; k++) {
        size_t below = checked_count(t->in.kids[k], level - 1);
        assert_true(below > 0);
        count += below;
        bytes += t->in.kids[k]->bytes;
        assert_int_equal(t->in.ends[k], count);
        assert_true(t->in.kids[k]->h.depth <= t->h.depth);
    }
    assert_int_equal(t->bytes, bytes);
    assert_int_equal(t->in.count, count);
    return count;
}

static void check(const Version *v) {
    const JsonNode *t = (const JsonNode *)v->array.heap;
    assert_int_equal(json_array_len(v->array), v->model.n);
    assert_int_equal(checked_count(t, t->h.level), v->model.n);
    size_t n, i;
    const Json *run;
    for (i = 0; (run = json_array_run(v->array, i, &n)), n; i += n) {
        for (size_t k = 0; k < n; k++) {
            assert_true(holds(run[k], v->model.items[i + k]));
        }
    }
    assert_int_equal(i, v->model.n);
}

static void model_splice(Model *m, size_t from, size_t to, const int64_t *items, size_t n) {
    memmove(m->items + from + n, m->items + to, (m->n - to) * sizeof *items);
    memcpy(m->items + from, items, n * sizeof *items);
    m->n += n - (to - from);
}

static Json made_of(int64_t *items, size_t n) {
    Json a = json_array();
    for (size_t i = 0; i < n; i++) {
        items[i] = (int64_t)random_below(1000000);
        a = json_array_push(a, number_or_text(items[i]));
    }
    return a;
}

static void push_some(Version *v) {
    for (size_t n = random_below(50); n && v->model.n < MODEL_MAX - 1; n--) {
        int64_t i = (int64_t)random_below(1000000);
        v->array = json_array_push(v->array, number_or_text(i));
        v->model.items[v->model.n++] = i;
    }
}

static void set_one(Version *v) {
    if (v->model.n) {
        size_t at = random_below(v->model.n);
        v->model.items[at] = 77;
        v->array = json_array_set(v->array, at, json_int(77));
    }
}

static void lift_and_put_back(Version *v) {
    if (v->model.n) {
        size_t at = random_below(v->model.n);
        Json item = json_array_lift(&v->array, at);
        assert_true(holds(item, v->model.items[at]));
        assert_int_equal(json_tag(json_array_get(v->array, at)), JSON_TAG_NULL);
        v->array = json_array_set(v->array, at, item);
    }
}

static void splice_some(Version *v) {
    int64_t items[200];
    size_t n = random_below(3) ? random_below(4) : random_below(200);
    size_t from = random_below(v->model.n + 1);
    size_t to = from + random_below(random_below(3) ? 3 : 300);
    to = to > v->model.n ? v->model.n : to;
    if (v->model.n + n < MODEL_MAX) {
        v->array = json_array_splice(v->array, from, to, made_of(items, n));
        model_splice(&v->model, from, to, items, n);
    }
}

static void slice_some(Version *v) {
    size_t from = random_below(v->model.n / 8 + 1);
    size_t to = v->model.n - random_below(v->model.n / 8 + 1);
    v->array = json_array_slice(v->array, from, to);
    to = to < from ? from : to;
    memmove(v->model.items, v->model.items + from, (to - from) * sizeof *v->model.items);
    v->model.n = to - from;
}

static void double_up(Version *v) {
    if (v->model.n * 2 < MODEL_MAX) {
        v->array = json_array_concat(json_ref(v->array), v->array);
        memcpy(v->model.items + v->model.n, v->model.items, v->model.n * sizeof(int64_t));
        v->model.n *= 2;
    }
}

static void (*const edits[])(Version *) = {
    push_some,   push_some,   set_one,    set_one,   lift_and_put_back,
    splice_some, splice_some, slice_some, double_up,
};

static void random_edits_match_a_plain_array_and_old_versions_stay(void **state) {
    (void)state;
    Version *versions = calloc(VERSIONS, sizeof *versions);
    for (size_t i = 0; i < VERSIONS; i++) {
        versions[i].array = json_array();
    }
    for (int round = 0; round < 1500; round++) {
        Version *v = &versions[random_below(VERSIONS)], *from = &versions[random_below(VERSIONS)];
        if (random_below(4) == 0 && v != from) {
            json_unref(v->array);
            *v = *from;
            json_ref(v->array);
        }
        edits[random_below(sizeof edits / sizeof *edits)](v);
        check(v);
        check(from);
    }
    for (size_t i = 0; i < VERSIONS; i++) {
        check(&versions[i]);
        json_unref(versions[i].array);
    }
    free(versions);
    assert_int_equal(json_heap_bytes(), 0);
}

static Json counted(size_t n) {
    Json *items = malloc((n + 1) * sizeof *items);
    for (size_t i = 0; i < n; i++) {
        items[i] = json_int((int64_t)i);
    }
    Json a = json_array_from(items, n);
    free(items);
    return a;
}

static void bulk_build_of_any_length_reads_back(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 31, 32, 33, 1023, 1024, 1025, 40000};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        Json a = counted(lengths[k]);
        assert_int_equal(json_array_len(a), lengths[k]);
        for (size_t i = 0; i < lengths[k]; i++) {
            assert_int_equal(json_array_get(a, i).i, i);
        }
        assert_true(json_is_none(json_array_get(a, lengths[k])));
        json_unref(a);
    }
}

static void set_far_past_the_end_fills_with_nulls_in_little_memory(void **state) {
    (void)state;
    Json a = json_array_set(json_array(), JSON_LEN_MAX - 1, json_int(1));
    assert_int_equal(json_array_len(a), JSON_LEN_MAX);
    assert_true(json_heap_bytes() < 200000);
    assert_int_equal(json_tag(json_array_get(a, 123456789)), JSON_TAG_NULL);
    assert_int_equal(json_array_get(a, JSON_LEN_MAX - 1).i, 1);
    a = json_array_set(a, 5, json_int(2));
    assert_int_equal(json_array_get(a, 5).i, 2);
    assert_int_equal(json_tag(json_array_get(a, 37)), JSON_TAG_NULL);
    json_unref(a);
    assert_int_equal(json_heap_bytes(), 0);
}

static void unshared_array_is_changed_in_place(void **state) {
    (void)state;
    Json a = counted(100000);
    size_t bytes = json_heap_bytes();
    const Json *place = json_array_run(a, 500, &(size_t){0});
    a = json_array_set(a, 500, json_int(-1));
    assert_ptr_equal(place, json_array_run(a, 500, &(size_t){0}));
    assert_int_equal(json_heap_bytes(), bytes);
    json_unref(a);
}

static void shared_array_copies_only_the_way_to_the_change(void **state) {
    (void)state;
    Json a = counted(100000), b = json_ref(a);
    size_t bytes = json_heap_bytes();
    b = json_array_set(b, 500, json_int(-1));
    assert_true(json_heap_bytes() - bytes < 3000);
    assert_int_equal(json_array_get(a, 500).i, 500);
    assert_int_equal(json_array_get(b, 500).i, -1);
    json_unref(a);
    json_unref(b);
}

static void shared_parts_are_found_from_both_ends(void **state) {
    (void)state;
    Json a = counted(100000), b = json_array_splice(json_ref(a), 50000, 50001, counted(3));
    const JsonNode *ta = (const JsonNode *)a.heap, *tb = (const JsonNode *)b.heap;
    assert_in_range(node_shared(ta, 0, tb, 0), 50000 - 64, 50000);
    assert_in_range(node_shared_before(ta, 100000, tb, 100002), 49999 - 64, 49999);
    assert_int_equal(node_shared(ta, 0, ta, 0), 100000);
    assert_int_equal(node_shared(ta, 0, ta, 1), 0);
    json_unref(a);
    json_unref(b);
}

static void many_inserts_in_the_middle_keep_the_tree_low(void **state) {
    (void)state;
    Json a = counted(1000);
    for (int i = 0; i < 20000; i++) {
        size_t at = random_below(json_array_len(a) + 1);
        a = json_array_splice(a, at, at, counted(1));
    }
    assert_int_equal(json_array_len(a), 21000);
    assert_true(a.heap->level <= 4);
    json_unref(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(random_edits_match_a_plain_array_and_old_versions_stay),
        JSON_TEST(bulk_build_of_any_length_reads_back),
        JSON_TEST(set_far_past_the_end_fills_with_nulls_in_little_memory),
        JSON_TEST(unshared_array_is_changed_in_place),
        JSON_TEST(shared_array_copies_only_the_way_to_the_change),
        JSON_TEST(shared_parts_are_found_from_both_ends),
        JSON_TEST(many_inserts_in_the_middle_keep_the_tree_low),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
