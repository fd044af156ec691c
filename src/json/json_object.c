/* Objects: a leaf of pairs while there are few keys, entries and an index beyond.
 *
 * Entries of a large object are in order of insertion. Removing leaves a hole (JSON_NONE as the
 * key), so that the places of the others, which the index holds, stay what they are; when there
 * are half as many holes as entries, everything is rebuilt without them.
 */
#include "json.h"
#include "json_breath.h"
#include "json_index.h"
#include "json_tree.h"

#include <assert.h>
#include <stdlib.h>

enum { NOT_FOUND = -1 };

static const JsonNode *leaf_of(Json o) {
    assert(!object_is_big(o));
    return (const JsonNode *)heap_of(o, JSON_TAG_OBJECT);
}

static JsonBigObject *big_of(Json o) {
    assert(object_is_big(o));
    return (JsonBigObject *)o.heap;
}

/* The leaf to build on; consumes o. */
static JsonNode *own_leaf(Json o) {
    assert(!object_is_big(o));
    if (json_tag(o) == JSON_TAG_OBJECT) return (JsonNode *)o.heap;
    json_unref(o);
    return node_leaf(0);
}

static Json object_over(JsonHeap *heap) {
    Json o = {.head_ = JSON_TAG_OBJECT};
    o.heap = heap;
    return o;
}

const JsonNode *object_entries(Json o) {
    return object_is_big(o) ? big_of(o)->entries : leaf_of(o);
}

Json json_object(void) {
    enum { FIRST_CAP = 8 }; /* four keys: what is made empty is about to be set */
    return object_over(&node_leaf(FIRST_CAP)->h);
}

size_t json_object_len(Json o) {
    return object_is_big(o) ? big_of(o)->live : leaf_of(o)->h.n / 2u;
}

/* ---- finding ---- */

static int find_short(const JsonNode *t, Json key) {
    for (int i = 0; i < t->h.n; i += 2) {
        if (json_identical(t->items[i], key)) return i;
    }
    return NOT_FOUND;
}

static int find_long(const JsonNode *t, Json key) {
    for (int i = 0; i < t->h.n; i += 2) {
        if (json_tag(t->items[i]) == JSON_TAG_STRING && json_string_equal(t->items[i], key)) {
            return i;
        }
    }
    return NOT_FOUND;
}

static int find_pair(const JsonNode *t, Json key) {
    return json_tag(key) == JSON_TAG_SHORT_STRING ? find_short(t, key) : find_long(t, key);
}

static int64_t find_entry(const JsonBigObject *o, Json key) {
    const uint64_t *found;
    size_t n = index_find(o->index, json_string_hash(key), &found);
    for (size_t i = 0; i < n; i++) {
        uint32_t place = index_place(found[i]);
        if (json_string_equal(node_get(o->entries, 2 * (size_t)place), key)) return place;
    }
    return NOT_FOUND;
}

static Json get_from_big(const JsonBigObject *o, Json key) {
    int64_t place = find_entry(o, key);
    return place == NOT_FOUND ? json_none() : node_get(o->entries, 2 * (size_t)place + 1);
}

Json json_object_get(Json o, Json key) {
    if (object_is_big(o)) return get_from_big(big_of(o), key);
    const JsonNode *t = leaf_of(o);
    int i = find_pair(t, key);
    return i == NOT_FOUND ? json_none() : t->items[i + 1];
}

/* Makes no string to look for a long key among a few. */
static Json get_among(const JsonNode *t, const char *key, size_t len) {
    for (int i = 0; i < t->h.n; i += 2) {
        const Json *k = &t->items[i];
        if (json_string_len(*k) == len && memcmp(json_string_data(k), key, len) == 0) {
            return t->items[i + 1];
        }
    }
    return json_none();
}

Json json_object_get_c(Json o, const char *key) {
    size_t len = strlen(key);
    if (len > JSON_SHORT_MAX && !object_is_big(o)) return get_among(leaf_of(o), key, len);
    Json k = json_string(key, len), v = json_object_get(o, k);
    json_unref(k);
    return v;
}

const char *json_object_text(Json o, const char *key) {
    Json k = json_string_c(key);
    const Json *found = NULL;
    size_t n;
    if (json_kind(o) == JSON_OBJECT) {
        bool big = object_is_big(o);
        int64_t i = big ? 2 * find_entry(big_of(o), k) : find_pair(leaf_of(o), k);
        found = i < 0 ? NULL : node_run(object_entries(o), (size_t)i + 1, &n);
    }
    json_unref(k);
    return found && json_kind(*found) == JSON_STRING ? json_string_data(found) : NULL;
}

/* ---- building in bulk ---- */

/* A bit out of 64 for a key, so that most keys are known to be new without looking for them. */
static uint64_t key_mark(Json key) {
    uint64_t word = key.word_ ^ key.head_;
    if (json_tag(key) == JSON_TAG_STRING) {
        const JsonStr *s = (const JsonStr *)key.heap;
        memcpy(&word, s->data + s->len - 8, sizeof word);
        word ^= s->len;
    }
    return UINT64_C(1) << ((word * 0x9E3779B97F4A7C15u) >> 58);
}

static void replace_in_pairs(Json *pairs, size_t i, Json key, Json value) {
    json_unref(key);
    json_unref(pairs[i + 1]);
    pairs[i + 1] = value;
}

static bool same_key_before(const Json *pairs, size_t n, Json key, size_t *at) {
    for (size_t i = 0; i < n; i += 2) {
        if (json_string_equal(pairs[i], key)) {
            *at = i;
            return true;
        }
    }
    return false;
}

/* Moves the pairs together over repeated keys; gives how many values are left. */
static size_t drop_repeated(Json *pairs, size_t n) {
    uint64_t seen = 0;
    size_t kept = 0, at;
    for (size_t i = 0; i < n; i += 2) {
        uint64_t mark = key_mark(pairs[i]);
        if ((seen & mark) && same_key_before(pairs, kept, pairs[i], &at)) {
            replace_in_pairs(pairs, at, pairs[i], pairs[i + 1]);
            continue;
        }
        seen |= mark;
        pairs[kept] = pairs[i];
        pairs[kept + 1] = pairs[i + 1];
        kept += 2;
    }
    return kept;
}

/* One pass of a radix sort, stable: by the byte of the hash at `shift`. */
static void sort_pass(const uint64_t *from, uint64_t *to, size_t n, int shift) {
    size_t starts[257] = {0};
    for (size_t i = 0; i < n; i++) starts[(from[i] >> shift & 0xFF) + 1]++;
    for (size_t k = 1; k < 256; k++) starts[k] += starts[k - 1];
    for (size_t i = 0; i < n; i++) to[starts[from[i] >> shift & 0xFF]++] = from[i];
}

/* Whether one of the entries has the key of entry e; if so its value is replaced and e is a
 * hole. */
static bool merge_repeated(const uint64_t *entries, size_t n, uint64_t e, Json *pairs) {
    size_t at = 2 * (size_t)index_place(e);
    for (size_t i = 0; i < n; i++) {
        size_t first = 2 * (size_t)index_place(entries[i]);
        if (json_string_equal(pairs[first], pairs[at])) {
            replace_in_pairs(pairs, first, pairs[at], pairs[at + 1]);
            pairs[at] = pairs[at + 1] = json_none();
            return true;
        }
    }
    return false;
}

/* Equal keys have equal hashes, so in sorted entries they are neighbours, the first set coming
 * first. */
static size_t drop_repeated_entries(uint64_t *entries, size_t n, Json *pairs) {
    size_t kept = 0, group = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept > group && entries[i] >> 32 != entries[group] >> 32) group = kept;
        if (!merge_repeated(entries + group, kept - group, entries[i], pairs)) {
            entries[kept++] = entries[i];
        }
    }
    return kept;
}

static Json big_from(Json *pairs, size_t n) {
    size_t size = 2 * n * sizeof(uint64_t);
    uint64_t *entries = json_heap_alloc(size);
    for (size_t i = 0; i < n; i++) {
        entries[i] = index_entry(json_string_hash(pairs[2 * i]), (uint32_t)i);
    }
    uint64_t *spare = entries + n;
    sort_pass(entries, spare, n, 32);
    sort_pass(spare, entries, n, 40);
    sort_pass(entries, spare, n, 48);
    sort_pass(spare, entries, n, 56);
    size_t live = drop_repeated_entries(entries, n, pairs);
    JsonBigObject *o = json_heap_alloc(sizeof *o);
    *o = (JsonBigObject){.h = {.refs = 1, .level = JSON_BIG_LEVEL}};
    o->live = (uint32_t)live;
    o->dead = (uint32_t)(n - live);
    o->entries = node_from(pairs, 2 * n);
    o->h.depth = o->entries->h.depth;
    o->index = index_build(entries, live);
    json_heap_free(entries, size);
    return object_over(&o->h);
}

/* ---- owning and rebuilding ---- */

static JsonBigObject *big_own(JsonBigObject *o) {
    if (o->h.refs == 1) return o;
    JsonBigObject *copy = json_heap_alloc(sizeof *copy);
    *copy = *o;
    copy->h.refs = 1;
    node_ref(copy->entries);
    index_ref(copy->index);
    o->h.refs--;
    return copy;
}

/* Without holes, and as a leaf if there are few keys. Consumes o. */
static Json rebuilt(Json o) {
    size_t n = json_object_len(o), size = 2 * n * sizeof(Json), pos = 0;
    Json *pairs = json_heap_alloc(size);
    for (size_t i = 0; i < n; i++) {
        json_object_next(o, &pos, &pairs[2 * i], &pairs[2 * i + 1]);
        json_ref(pairs[2 * i]);
        json_ref(pairs[2 * i + 1]);
    }
    json_unref(o);
    bool small = n <= JSON_SMALL_OBJECT;
    o = small ? object_over(&node_from(pairs, 2 * n)->h) : big_from(pairs, n);
    json_heap_free(pairs, size);
    return o;
}

static Json without_many_holes(JsonBigObject *o) {
    Json j = object_over(&o->h);
    bool many = o->live <= JSON_SMALL_OBJECT || o->dead > o->live / 2;
    return many ? rebuilt(j) : j;
}

Json json_object_from(Json *pairs, size_t n) {
    if (n <= JSON_SMALL_OBJECT) {
        return object_over(&node_from(pairs, drop_repeated(pairs, 2 * n))->h);
    }
    return without_many_holes(big_of(big_from(pairs, n)));
}

/* ---- setting ---- */

static Json set_in_big(JsonBigObject *o, Json key, Json value) {
    int64_t place = find_entry(o, key);
    o = big_own(o);
    if (place != NOT_FOUND) {
        json_unref(key);
        o->entries = node_set(o->entries, 2 * (size_t)place + 1, value);
    } else {
        place = o->live + o->dead;
        o->index = index_add(o->index, index_entry(json_string_hash(key), (uint32_t)place));
        o->entries = node_push_pair(o->entries, key, value);
        o->live++;
    }
    o->h.depth = o->entries->h.depth;
    return object_over(&o->h);
}

/* A leaf that is full, and one more key. */
static Json outgrow(JsonNode *t, Json key, Json value) {
    Json pairs[JSON_FANOUT + 2];
    for (size_t i = 0; i < t->h.n; i++) pairs[i] = json_ref(t->items[i]);
    pairs[t->h.n] = key;
    pairs[t->h.n + 1] = value;
    size_t n = t->h.n / 2u + 1;
    node_unref(t);
    return big_from(pairs, n);
}

static Json set_in_leaf(JsonNode *t, Json key, Json value) {
    int i = find_pair(t, key);
    if (i != NOT_FOUND) {
        json_unref(key);
        t = leaf_own(t);
        json_unref(leaf_swap(t, (size_t)i + 1, value));
        return object_over(&t->h);
    }
    if (t->h.n == 2 * JSON_SMALL_OBJECT) return outgrow(t, key, value);
    return object_over(&node_push_pair(t, key, value)->h);
}

Json json_object_set(Json o, Json key, Json value) {
    assert(json_kind(key) == JSON_STRING);
    return object_is_big(o) ? set_in_big(big_of(o), key, value)
                            : set_in_leaf(own_leaf(o), key, value);
}

Json json_object_lift(Json *o, Json key) {
    bool big = object_is_big(*o);
    int64_t i = big ? find_entry(big_of(*o), key) : find_pair(leaf_of(*o), key);
    if (i == NOT_FOUND) return json_none();
    if (big) {
        JsonBigObject *b = big_own(big_of(*o));
        *o = object_over(&b->h);
        Json value = node_lift(&b->entries, 2 * (size_t)i + 1);
        b->h.depth = b->entries->h.depth;
        return value;
    }
    JsonNode *t = leaf_own(own_leaf(*o));
    *o = object_over(&t->h);
    return leaf_swap(t, (size_t)i + 1, json_null());
}

/* ---- removing ---- */

Json json_object_remove(Json o, Json key) {
    if (object_is_big(o)) {
        int64_t found = find_entry(big_of(o), key);
        if (found == NOT_FOUND) return o;
        size_t place = (size_t)found;
        JsonBigObject *big = big_own(big_of(o));
        big->index = index_remove(big->index, index_entry(json_string_hash(key), (uint32_t)place));
        big->entries = node_set(big->entries, 2 * place + 1, json_none());
        big->entries = node_set(big->entries, 2 * place, json_none());
        big->live--;
        big->dead++;
        return without_many_holes(big);
    }
    int i = find_pair(leaf_of(o), key);
    return i == NOT_FOUND ? o : object_over(&leaf_remove(own_leaf(o), (size_t)i, 2)->h);
}

/* ---- walking ---- */

bool json_object_next(Json o, size_t *pos, Json *key, Json *value) {
    const JsonNode *entries = object_entries(o);
    const Json *pair;
    size_t n;
    do {
        pair = node_run(entries, *pos, &n);
        *pos += 2;
        if (!n) return false;
    } while (json_is_none(pair[0]));
    *key = pair[0];
    *value = pair[1];
    return true;
}

static int by_text(const void *a, const void *b) {
    json_breathe();
    return json_string_compare(*(const Json *)a, *(const Json *)b);
}

Json json_object_keys(Json o, bool sorted) {
    size_t n = json_object_len(o), size = n * sizeof(Json), pos = 0;
    Json at_hand[JSON_SMALL_OBJECT], value;
    Json *keys = n <= JSON_SMALL_OBJECT ? at_hand : json_heap_alloc(size);
    for (size_t i = 0; i < n; i++) {
        json_object_next(o, &pos, &keys[i], &value);
        json_ref(keys[i]);
    }
    if (sorted) qsort(keys, n, sizeof *keys, by_text);
    Json list = json_array_from(keys, n);
    if (keys != at_hand) json_heap_free(keys, size);
    return list;
}

Json json_object_with(Json o, const char *key, Json value) {
    return json_object_set(o, json_string_c(key), value);
}
