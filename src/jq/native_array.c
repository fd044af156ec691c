/* Natives on arrays: sorting and what follows from it, searching, reshaping, folding. */
#include "native.h"

#include "json_breath.h"
#include "json_path.h"
#include "mem.h"
#include "utf8.h"

/* ---- sorting ---- */

/* A value and what it is ordered by; both are borrowed from the arrays they came from. */
typedef struct Sortable {
    Json key, value;
} Sortable;

typedef struct Sorting {
    JqRun *run;
    Sortable *items, *spare;
    size_t n;
} Sorting;

/* Merges the sorted runs [0, middle) and [middle, end) of `from` into `to`. */
static bool merge_runs(JqRun *run, const Sortable *from, size_t middle, size_t end, Sortable *to) {
    size_t left = 0, right = middle;
    while (left < middle && right < end) {
        int order;
        if (!jq_compare(run, from[left].key, from[right].key, &order)) return false;
        *to++ = order <= 0 ? from[left++] : from[right++];
        json_breathe();
    }
    memcpy(to, from + left, (middle - left) * sizeof(*to));
    memcpy(to + (middle - left), from + right, (end - right) * sizeof(*to));
    return true;
}

static bool is_sorted(const Sorting *s, bool *sorted) {
    int order = 0;
    for (size_t i = 1; i < s->n && order <= 0; i++) {
        if (!jq_compare(s->run, s->items[i - 1].key, s->items[i].key, &order)) return false;
        json_breathe();
    }
    *sorted = order <= 0;
    return true;
}

/* Stable merge sort, from runs of one upward. Often everything is in order already, which is cheap to
 * find out. False when the run failed. */
static bool merge_sort(Sorting *s) {
    bool sorted;
    if (!is_sorted(s, &sorted)) return false;
    for (size_t width = 1; !sorted && width < s->n; width *= 2) {
        for (size_t at = 0; at < s->n; at += 2 * width) {
            size_t end = s->n - at < 2 * width ? s->n - at : 2 * width;
            size_t middle = end < width ? end : width;
            if (!jq_charge(s->run, end) ||
                !merge_runs(s->run, s->items + at, middle, end, s->spare + at)) {
                return false;
            }
        }
        Sortable *merged = s->spare;
        s->spare = s->items;
        s->items = merged;
    }
    return true;
}

static void sorting_end(Sorting *s) {
    mem_free(s->items);
    mem_free(s->spare);
}

/* To sort values by keys, which may be the values themselves. False when the run failed. */
static bool sorting_begin(Sorting *s, JqRun *run, Json values, Json keys, bool wrapped) {
    *s = (Sorting){.run = run, .n = json_array_len(values)};
    if (!jq_charge(run, s->n) || !native_afford(run, 4 * s->n * sizeof(*s->items))) return false;
    s->items = mem_alloc((s->n + 1) * sizeof(*s->items));
    s->spare = mem_alloc((s->n + 1) * sizeof(*s->items));
    Json at, value, key;
    Walk over_values = {.of = values}, over_keys = {.of = keys};
    bool single = wrapped;
    for (size_t i = 0; native_walk_next(&over_values, &at, &value); i++) {
        native_walk_next(&over_keys, &at, &key);
        s->items[i] = (Sortable){key, value};
        json_breathe();
        single = single && json_tag(key) == JSON_TAG_ARRAY && json_array_len(key) == 1;
    }
    /* Keys come as arrays of one or more outputs; when all have one the arrays are not needed. */
    for (size_t i = 0; single && i < s->n; i++) {
        s->items[i].key = json_array_get(s->items[i].key, 0);
        json_breathe();
    }
    return true;
}

/* Sets *same when item i has the key of the item before it. */
static bool same_key(Sorting *s, size_t i, bool *same) {
    int order = 1;
    *same = false;
    json_breathe();
    if (i > 0 && !jq_compare(s->run, s->items[i - 1].key, s->items[i].key, &order)) return false;
    *same = order == 0;
    return true;
}

static Json sorted_values(Sorting *s) {
    Json result = json_array();
    for (size_t i = 0; i < s->n; i++) {
        result = json_array_push(result, json_ref(s->items[i].value));
        json_breathe();
    }
    return result;
}

static Json unique_values(Sorting *s) {
    Json result = json_array();
    for (size_t i = 0; i < s->n; i++) {
        bool same;
        if (!same_key(s, i, &same)) {
            json_unref(result);
            return json_none();
        }
        result = same ? result : json_array_push(result, json_ref(s->items[i].value));
    }
    return result;
}

static Json grouped_values(Sorting *s) {
    Json result = json_array(), group = json_none();
    for (size_t i = 0; i < s->n; i++) {
        bool same;
        if (!same_key(s, i, &same)) {
            json_unref(result);
            json_unref(group);
            return json_none();
        }
        if (!same && i > 0) result = json_array_push(result, json_take(&group));
        group = same ? group : json_array();
        group = json_array_push(group, json_ref(s->items[i].value));
    }
    return s->n ? json_array_push(result, group) : result;
}

typedef Json (*SortedFn)(Sorting *s);

static Json sorted_by(JqRun *run, Json values, Json keys, bool wrapped, SortedFn fn) {
    Sorting s;
    bool sorted = sorting_begin(&s, run, values, keys, wrapped) && merge_sort(&s);
    Json result = sorted ? fn(&s) : json_none();
    sorting_end(&s);
    return result;
}

Json native_sorted(JqRun *run, Json array) {
    return sorted_by(run, array, array, false, sorted_values);
}

static Json sort_self(JqRun *run, Json *args, SortedFn fn) {
    return json_tag(args[0]) == JSON_TAG_ARRAY
               ? sorted_by(run, args[0], args[0], false, fn)
               : native_fail_type(run, args[0], "cannot be sorted, as it is not an array");
}

static Json sort_keyed(JqRun *run, Json *args, SortedFn fn) {
    bool keyed = json_tag(args[0]) == JSON_TAG_ARRAY && json_tag(args[1]) == JSON_TAG_ARRAY &&
                 json_array_len(args[0]) == json_array_len(args[1]);
    return keyed ? sorted_by(run, args[0], args[1], true, fn)
                 : native_fail_types(run, args[0], args[1],
                                     "cannot be sorted, as they are not both arrays");
}

NATIVE(array_sort, sort_self(run, args, sorted_values))
NATIVE(array_unique, sort_self(run, args, unique_values))
NATIVE(array_sort_by, sort_keyed(run, args, sorted_values))
NATIVE(array_group_by, sort_keyed(run, args, grouped_values))
NATIVE(array_unique_by, sort_keyed(run, args, unique_values))

/* ---- the least and the greatest ---- */

/* Of equals the first is the least and the last the greatest. */
static Json extreme(JqRun *run, Json values, Json keys, bool least) {
    if (json_tag(values) != JSON_TAG_ARRAY || json_tag(keys) != JSON_TAG_ARRAY) {
        return native_fail_types(run, values, keys, "cannot be iterated over");
    }
    if (json_array_len(values) != json_array_len(keys)) {
        return native_fail_types(run, values, keys, "have wrong length");
    }
    Json at, key, best_key = json_none();
    size_t best = 0, i = 0;
    Walk w = {.of = keys};
    for (; native_walk_next(&w, &at, &key); i++) {
        int order = least ? -1 : 1;
        if (!jq_charge(run, 1) || (i > 0 && !jq_compare(run, key, best_key, &order))) {
            return json_none();
        }
        if ((order < 0) == least) {
            best = i;
            best_key = key;
        }
    }
    return i ? json_ref(json_array_get(values, best)) : json_null();
}

NATIVE(array_min, extreme(run, args[0], args[0], true))
NATIVE(array_max, extreme(run, args[0], args[0], false))
NATIVE(array_min_by, extreme(run, args[0], args[1], true))
NATIVE(array_max_by, extreme(run, args[0], args[1], false))

/* ---- folding ---- */

static Json array_add(JqRun *run, Json *args) {
    Json key, value, sum = json_null();
    Walk w;
    if (!native_walk(run, args[0], &w)) return json_none();
    for (size_t n = 0; !json_is_none(sum) && native_walk_next(&w, &key, &value); n++) {
        if (!jq_charge(run, 1) || (n % 64 == 0 && !jq_room(run, 64 * 1024))) {
            json_clear(&sum);
            break;
        }
        sum = jq_add(run, sum, json_ref(value));
    }
    return sum;
}

/* Whether some value is truthy (or falsy). */
static Json some(JqRun *run, Json v, bool truthy, bool result) {
    Json key, value;
    Walk w;
    if (!native_walk(run, v, &w)) return json_none();
    for (size_t n = 1; native_walk_next(&w, &key, &value); n++) {
        if (json_truthy(value) == truthy) return json_bool(result);
        if (n % 8 == 0 && !jq_charge(run, 1)) return json_none();
    }
    return json_bool(!result);
}

NATIVE(array_any, some(run, args[0], true, true))
NATIVE(array_all, some(run, args[0], false, false))

/* ---- reshaping ---- */

static Json reverse_string(JqRun *run, const Json *s) {
    Text text = native_text(s);
    if (!native_afford(run, 2 * text.len)) return json_none();
    Buf out = BUF_INIT;
    char *to = buf_reserve(&out, text.len) + text.len;
    for (const char *p = text.data, *end = p + text.len; p < end;) {
        int32_t cp;
        size_t n = utf8_decode(p, end, &cp);
        memcpy(to -= n, p, n);
        p += n;
        json_breathe();
    }
    Json result = json_string_valid(to, text.len);
    buf_clear(&out);
    return result;
}

static Json array_reverse(JqRun *run, Json *args) {
    Json v = args[0];
    if (json_tag(v) == JSON_TAG_ARRAY) {
        size_t n = json_array_len(v);
        if (!native_afford(run, (uint64_t)n * 16)) return json_none();
        Json result = json_array();
        while (n) {
            result = json_array_push(result, json_ref(json_array_get(v, --n)));
            json_breathe();
        }
        return result;
    }
    if (json_kind(v) == JSON_STRING) return reverse_string(run, &args[0]);
    bool empty = json_tag(v) == JSON_TAG_NULL ||
                 (json_tag(v) == JSON_TAG_OBJECT && json_object_len(v) == 0) ||
                 (json_kind(v) == JSON_NUMBER && json_to_double(v) == 0);
    if (empty) return json_array();
    if (json_tag(v) == JSON_TAG_TRUE || json_tag(v) == JSON_TAG_FALSE) {
        return native_fail_type(run, v, "has no length");
    }
    Error err = ERROR_INIT;
    json_unref(json_index(v, json_int(0), &err));
    return jq_fail_error(run, &err);
}

typedef struct Flattening {
    JqRun *run;
    Json result;
    Walk *open;
    size_t depth, cap;
    double levels; /* how many levels to take away; what never becomes 0 takes away all */
} Flattening;

static void flatten_into(Flattening *f, Json v) {
    f->open = mem_grow(f->open, f->depth, &f->cap, sizeof(*f->open));
    f->open[f->depth++] = (Walk){.of = v};
}

static Json flatten(JqRun *run, Json v, double levels) {
    Flattening f = {.run = run, .levels = levels};
    Walk w;
    if (!native_walk(run, v, &w)) return json_none();
    f.result = json_array();
    flatten_into(&f, v);
    for (uint64_t n = 0; f.depth; n++) {
        if (!jq_charge(run, 1) || (n % 256 == 0 && !jq_room(run, 256 * 16))) {
            json_clear(&f.result);
            break;
        }
        Json key, value;
        if (!native_walk_next(&f.open[f.depth - 1], &key, &value)) {
            f.depth--;
        } else if (json_tag(value) == JSON_TAG_ARRAY && f.levels - (double)(f.depth - 1) != 0) {
            flatten_into(&f, value);
        } else {
            f.result = json_array_push(f.result, json_ref(value));
        }
    }
    mem_free(f.open);
    return f.result;
}

NATIVE(array_flatten, flatten(run, args[0], -1))

static Json array_flatten_levels(JqRun *run, Json *args) {
    if (json_kind(args[1]) < JSON_NUMBER ||
        (json_kind(args[1]) == JSON_NUMBER && !(json_to_double(args[1]) >= 0))) {
        return jq_fail(run, "flatten depth must not be negative");
    }
    if (json_kind(args[1]) != JSON_NUMBER) {
        return jq_subtract(run, json_take(&args[1]), json_int(1));
    }
    return flatten(run, args[0], json_to_double(args[1]));
}

/* The longest row's length. False when a row is not one. */
static bool widest(JqRun *run, Json rows, size_t *width) {
    Json key, row;
    Walk w;
    *width = 0;
    if (!native_walk(run, rows, &w)) return false;
    while (native_walk_next(&w, &key, &row)) {
        if (json_tag(row) == JSON_TAG_ARRAY) {
            *width = json_array_len(row) > *width ? json_array_len(row) : *width;
        } else if (json_tag(row) != JSON_TAG_NULL) {
            Error err = ERROR_INIT;
            json_unref(json_index(row, json_int(0), &err));
            jq_fail_error(run, &err);
            return false;
        }
    }
    return true;
}

static Json array_transpose(JqRun *run, Json *args) {
    size_t width;
    if (!widest(run, args[0], &width)) return json_none();
    size_t rows =
        json_tag(args[0]) == JSON_TAG_ARRAY ? json_array_len(args[0]) : json_object_len(args[0]);
    Json result = json_array(), key, row;
    for (size_t i = 0; i < width; i++) {
        if (!jq_charge(run, rows) || !jq_room(run, (uint64_t)rows * 16)) {
            json_unref(result);
            return json_none();
        }
        Json column = json_array();
        Walk w = {.of = args[0]};
        while (native_walk_next(&w, &key, &row)) {
            Json cell = json_tag(row) == JSON_TAG_ARRAY ? json_array_get(row, i) : json_null();
            column = json_array_push(column, json_is_none(cell) ? json_null() : json_ref(cell));
            json_breathe();
        }
        result = json_array_push(result, column);
    }
    return result;
}

/* ---- searching ---- */

static Json array_bsearch(JqRun *run, Json *args) {
    if (json_tag(args[0]) != JSON_TAG_ARRAY) {
        return native_fail_type(run, args[0], "cannot be searched from");
    }
    size_t from = 0, to = json_array_len(args[0]);
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order;
        if (!jq_charge(run, 1) ||
            !jq_compare(run, args[1], json_array_get(args[0], middle), &order)) {
            return json_none();
        }
        if (order == 0) return json_int((int64_t)middle);
        from = order > 0 ? middle + 1 : from;
        to = order < 0 ? middle : to;
    }
    return json_int(-1 - (int64_t)from);
}

/* Which of the hits where something was found are wanted. */
typedef enum Wanted { WANT_ALL, WANT_FIRST, WANT_LAST } Wanted;

typedef struct Hits {
    Wanted want;
    Json found; /* an array for WANT_ALL, otherwise one place or null */
    bool done;
} Hits;

static Hits hits_of(Wanted want) {
    return (Hits){.want = want, .found = want == WANT_ALL ? json_array() : json_null()};
}

static void hit_add(Hits *p, size_t at) {
    Json place = json_int((int64_t)at);
    p->found = p->want == WANT_ALL ? json_array_push(p->found, place) : place;
    p->done = p->want == WANT_FIRST;
}

static Json search_text(JqRun *run, const Json *s, const Json *part, Wanted want) {
    Text text = native_text(s), needle = native_text(part);
    Hits hits = hits_of(want);
    const char *counted = text.data, *end = text.data + text.len, *hit = text.data;
    size_t at = 0;
    bool paid = jq_charge(run, text.len / 128);
    while (paid && !hits.done && (hit = native_find(hit, end, needle))) {
        at += native_length(counted, (size_t)(hit - counted));
        counted = hit++;
        hit_add(&hits, at);
        paid = jq_charge(run, 1 + needle.len / 16);
    }
    if (!paid) json_clear(&hits.found);
    return hits.found;
}

/* For each end of the part, how much of its beginning stands before that end: where it stands in vain up to there, the
 * search goes on with so much of it (Knuth, Morris, Pratt). NULL when the run failed. */
static uint32_t *borders_of(JqRun *run, Json part, size_t m) {
    if (!native_afford(run, m * sizeof(uint32_t))) return NULL;
    uint32_t *borders = mem_zalloc(m * sizeof *borders);
    for (size_t i = 1, k = 0; i < m; i++) {
        bool same = false;
        for (;;) {
            if (!jq_charge(run, 1) ||
                !jq_equal(run, json_array_get(part, i), json_array_get(part, k), &same)) {
                mem_free(borders);
                return NULL;
            }
            if (same || !k) break;
            k = borders[k - 1];
        }
        k += same;
        borders[i] = (uint32_t)k;
    }
    return borders;
}

static Json search_array(JqRun *run, Json in, Json part, Wanted want) {
    Hits hits = hits_of(want);
    size_t m = json_array_len(part), k = 0; /* so much of the part stands before where we are */
    if (!m || m > json_array_len(in)) return hits.found;
    uint32_t *borders = borders_of(run, part, m);
    Json key, value;
    Walk w = {.of = in};
    bool ok = borders;
    while (ok && !hits.done && native_walk_next(&w, &key, &value)) {
        bool same = false;
        for (;;) {
            ok = jq_charge(run, 1) && jq_equal(run, value, json_array_get(part, k), &same);
            if (!ok || same || !k) break;
            k = borders[k - 1];
        }
        k += ok && same;
        if (k == m) {
            hit_add(&hits, (size_t)key.i + 1 - m);
            k = borders[m - 1];
        }
    }
    mem_free(borders);
    if (!ok) json_clear(&hits.found);
    return hits.found;
}

static Json search(JqRun *run, Json *args, Wanted want) {
    if (json_tag(args[0]) == JSON_TAG_ARRAY && json_tag(args[1]) == JSON_TAG_ARRAY) {
        return search_array(run, args[0], args[1], want);
    }
    if (json_tag(args[0]) == JSON_TAG_ARRAY) {
        Json part = json_array_push(json_array(), json_ref(args[1]));
        Json result = search_array(run, args[0], part, want);
        json_unref(part);
        return result;
    }
    if (json_kind(args[0]) == JSON_STRING && json_kind(args[1]) == JSON_STRING) {
        return search_text(run, &args[0], &args[1], want);
    }
    /* .[i] for what is neither array nor string; then the first or last of that. */
    Error err = ERROR_INIT;
    Json found = json_index(args[0], args[1], &err);
    if (!json_is_none(found) && want != WANT_ALL) {
        Json one = json_index(found, json_int(want == WANT_FIRST ? 0 : -1), &err);
        json_unref(found);
        found = one;
    }
    return json_is_none(found) ? jq_fail_error(run, &err) : found;
}

Json jq_places(JqRun *run, Json in, Json part) {
    return search_array(run, in, part, WANT_ALL);
}

NATIVE(array_indices, search(run, args, WANT_ALL))
NATIVE(array_index, search(run, args, WANT_FIRST))
NATIVE(array_rindex, search(run, args, WANT_LAST))

static Json string_indices(JqRun *run, Json *args) {
    if (json_kind(args[0]) != JSON_STRING) {
        return native_fail_type(run, args[0], "cannot be searched, as it is not a string");
    }
    if (json_kind(args[1]) != JSON_STRING) return native_fail_type(run, args[1], "is not a string");
    return search_text(run, &args[0], &args[1], WANT_ALL);
}

const JqNative jq_natives_array[] = {
    {"add", 0, JQ_PURE, array_add},
    {"any", 0, JQ_PURE, array_any},
    {"all", 0, JQ_PURE, array_all},
    {"sort", 0, JQ_PURE, array_sort},
    {"unique", 0, JQ_PURE, array_unique},
    {"_sort_by", 1, JQ_PURE, array_sort_by},
    {"_group_by", 1, JQ_PURE, array_group_by},
    {"_unique_by", 1, JQ_PURE, array_unique_by},
    {"min", 0, JQ_PURE, array_min},
    {"max", 0, JQ_PURE, array_max},
    {"_min_by", 1, JQ_PURE, array_min_by},
    {"_max_by", 1, JQ_PURE, array_max_by},
    {"reverse", 0, JQ_PURE, array_reverse},
    {"flatten", 0, JQ_PURE, array_flatten},
    {"flatten", 1, JQ_PURE, array_flatten_levels},
    {"transpose", 0, JQ_PURE, array_transpose},
    {"bsearch", 1, JQ_PURE, array_bsearch},
    {"indices", 1, JQ_PURE, array_indices},
    {"index", 1, JQ_PURE, array_index},
    {"rindex", 1, JQ_PURE, array_rindex},
    {"_string_indices", 1, JQ_PURE, string_indices},
    {0},
};
