/* Paths by jq's rules. See json_path.h.
 *
 * Going down to a change, each child is moved out of its parent, so that a child that nobody else
 * holds stays unshared and is changed in place; on the way up each is put back. The parents on the
 * way are kept in an array of our own: paths may have ten thousand steps.
 */
#include "json_path.h"

#include "json_breath.h"
#include "json_build.h"
#include "json_print.h"
#include "mem.h"
#include "utf8.h"

#include <math.h>
#include <stdlib.h>

static Json fail(Error *err, const char *text) {
    error_set(err, ERR_RAISED, "%s", text);
    return json_none();
}

static const char *kind_of(Json j) {
    return json_kind_name(json_kind(j));
}

static Json cannot_index(Json j, Json key, Error *err) {
    char text[JSON_DESCRIBE_MAX];
    error_set(err, ERR_RAISED, "Cannot index %s with %s", kind_of(j), json_describe(key, text));
    return json_none();
}

static bool is_kind(Json j, JsonKind kind) {
    return json_kind(j) == kind;
}

/* ---- numbers as places ---- */

/* Truncated, and clipped far outside any array. NaN is for the caller to look for. */
static int64_t as_index(Json number) {
    double d = json_to_double(number);
    return d < INT32_MIN ? INT32_MIN : d > INT32_MAX ? INT32_MAX : (int64_t)d;
}

static bool is_nan(Json number) {
    return json_tag(number) != JSON_TAG_INT && isnan(json_to_double(number));
}

/* Where the number points in an array of len items, counted from the end if negative; negative when
 * that is before the start. */
static int64_t place_in(Json number, size_t len) {
    int64_t i = as_index(number);
    return i < 0 ? i + (int64_t)len : i;
}

/* ---- slices ---- */

static double slice_bound(Json bound, double if_absent, double len) {
    double d = is_kind(bound, JSON_NULL) ? if_absent : json_to_double(bound);
    d = isnan(d) ? if_absent : d < 0 ? d + len : d;
    return d < 0 ? 0 : d > len ? len : d;
}

static bool is_bound(Json j) {
    return is_kind(j, JSON_NULL) || is_kind(j, JSON_NUMBER);
}

bool json_slice_bounds(Json from, Json to, size_t len, size_t *start, size_t *end, Error *err) {
    if (!is_bound(from) || !is_bound(to)) {
        return error_set(err, ERR_RAISED, "Array/string slice indices must be integers");
    }
    *start = (size_t)slice_bound(from, 0, (double)len);
    *end = (size_t)ceil(slice_bound(to, (double)len, (double)len));
    *end = *end < *start ? *start : *end;
    return true;
}

/* Of an array or a string, whose characters are counted. */
static Json slice_of(Json j, Json from, Json to, Error *err) {
    bool array = is_kind(j, JSON_ARRAY);
    const char *data = array ? NULL : json_string_data(&j);
    size_t len = array ? 0 : json_string_len(j), start = 0, end = 0;
    if (!json_slice_bounds(from, to, array ? json_array_len(j) : utf8_length(data, len), &start,
                           &end, err)) {
        return json_none();
    }
    if (array) return json_array_slice(json_ref(j), start, end);
    size_t first = utf8_offset(data, len, start);
    size_t count = utf8_offset(data + first, len - first, end - start);
    return json_string_valid(data + first, count);
}

Json json_slice_key(Json from, Json to) {
    return OBJECT(KEY("start", json_ref(from)), KEY("end", json_ref(to)));
}

Json json_slice(Json j, Json from, Json to, Error *err) {
    switch (json_kind(j)) {
    case JSON_NULL: return json_null();
    case JSON_ARRAY:
    case JSON_STRING: return slice_of(j, from, to, err);
    default: break;
    }
    Json key = json_slice_key(from, to);
    cannot_index(j, key, err);
    json_unref(key);
    return json_none();
}

static bool key_bounds(Json key, size_t len, size_t *start, size_t *end, Error *err) {
    Json from = json_object_get_c(key, "start"), to = json_object_get_c(key, "end");
    return json_slice_bounds(from, to, len, start, end, err);
}

/* ---- reading one step ---- */

static Json places_of(Json a, Json part) {
    size_t len = json_array_len(a), n = json_array_len(part);
    Json places = json_array();
    for (size_t i = 0; n && i + n <= len; i++) {
        size_t k = 0;
        while (k < n && json_equal(json_array_get(a, i + k), json_array_get(part, k))) k++;
        if (k == n) places = json_array_push(places, json_int((int64_t)i));
    }
    return places;
}

Json json_index(Json j, Json key, Error *err) {
    JsonKind kind = json_kind(j);
    if (kind == JSON_OBJECT && is_kind(key, JSON_STRING)) {
        Json value = json_object_get(j, key);
        return json_is_none(value) ? json_null() : json_ref(value);
    }
    if (kind == JSON_ARRAY) {
        int64_t i;
        Json item;
        switch (json_kind(key)) {
        case JSON_NUMBER:
            i = is_nan(key) ? -1 : place_in(key, json_array_len(j));
            item = i < 0 ? json_none() : json_array_get(j, (size_t)i);
            return json_is_none(item) ? json_null() : json_ref(item);
        case JSON_OBJECT:
            return slice_of(j, json_object_get_c(key, "start"), json_object_get_c(key, "end"), err);
        case JSON_ARRAY: return places_of(j, key);
        default: return cannot_index(j, key, err);
        }
    }
    if (kind == JSON_NULL &&
        (is_kind(key, JSON_STRING) || is_kind(key, JSON_NUMBER) || is_kind(key, JSON_OBJECT))) {
        return json_null();
    }
    if (kind == JSON_STRING && is_kind(key, JSON_OBJECT)) {
        return slice_of(j, json_object_get_c(key, "start"), json_object_get_c(key, "end"), err);
    }
    return cannot_index(j, key, err);
}

bool json_has(Json j, Json key, bool *result, Error *err) {
    if (is_kind(j, JSON_NULL)) {
        *result = false;
    } else if (is_kind(j, JSON_OBJECT) && is_kind(key, JSON_STRING)) {
        *result = !json_is_none(json_object_get(j, key));
    } else if (is_kind(j, JSON_ARRAY) && is_kind(key, JSON_NUMBER)) {
        int64_t i = is_nan(key) ? -1 : as_index(key);
        *result = i >= 0 && (size_t)i < json_array_len(j);
    } else {
        return error_set(err, ERR_RAISED, "Cannot check whether %s has a %s key", kind_of(j),
                         kind_of(key));
    }
    return true;
}

/* ---- changing one step ---- */

/* The place to set in an array of len items. */
static bool settable_place(Json number, size_t len, size_t *place, Error *err) {
    if (is_nan(number)) return error_set(err, ERR_RAISED, "Cannot set array element at NaN index");
    int64_t i = place_in(number, len);
    if (i < 0) return error_set(err, ERR_RAISED, "Out of bounds negative array index");
    if (i > JSON_LEN_MAX) return error_set(err, ERR_RAISED, "Array index too large");
    *place = (size_t)i;
    return true;
}

static Json drop_both(Json a, Json b) {
    json_unref(a);
    json_unref(b);
    return json_none();
}

static Json set_slice(Json a, Json key, Json v, Error *err) {
    size_t start, end;
    if (!key_bounds(key, json_array_len(a), &start, &end, err)) return drop_both(a, v);
    if (!is_kind(v, JSON_ARRAY)) {
        fail(err, "A slice of an array can only be assigned another array");
        return drop_both(a, v);
    }
    if (json_array_len(a) - (end - start) + json_array_len(v) > JSON_LEN_MAX) {
        fail(err, "Array would have too many elements");
        return drop_both(a, v);
    }
    return json_array_splice(a, start, end, v);
}

static Json cannot_update(Json j, Json key, Error *err) {
    if (is_kind(j, JSON_STRING) && is_kind(key, JSON_OBJECT)) {
        return fail(err, "Cannot update string slices");
    }
    error_set(err, ERR_RAISED, "Cannot update field at %s index of %s", kind_of(key), kind_of(j));
    return json_none();
}

Json json_index_set(Json j, Json key, Json v, Error *err) {
    JsonKind step = json_kind(key);
    bool null = is_kind(j, JSON_NULL);
    if (step == JSON_STRING && (null || is_kind(j, JSON_OBJECT))) {
        return json_object_set(null ? json_object() : j, json_ref(key), v);
    }
    if (step == JSON_NUMBER && (null || is_kind(j, JSON_ARRAY))) {
        Json a = null ? json_array() : j;
        size_t i;
        return settable_place(key, json_array_len(a), &i, err) ? json_array_set(a, i, v)
                                                               : drop_both(a, v);
    }
    if (step == JSON_OBJECT && (null || is_kind(j, JSON_ARRAY))) {
        return set_slice(null ? json_array() : j, key, v, err);
    }
    cannot_update(j, key, err);
    return drop_both(j, v);
}

/* ---- whole paths ---- */

static bool check_path(Json path, Error *err) {
    if (!is_kind(path, JSON_ARRAY)) {
        return error_set(err, ERR_RAISED, "Path must be specified as an array");
    }
    if (json_array_len(path) > JSON_DEPTH_MAX) return error_set(err, ERR_RAISED, "Path too deep");
    return true;
}

Json json_path_get(Json j, Json path, Error *err) {
    if (!check_path(path, err)) return json_none();
    Json at = json_ref(j);
    for (size_t i = 0, n = json_array_len(path); i < n && !json_is_none(at); i++) {
        Json next = json_index(at, json_array_get(path, i), err);
        json_unref(at);
        at = next;
    }
    return at;
}

/* Moves *j's child out, to be changed and put back with json_index_set(). Fails where reading the
 * child would, and where putting it back surely would. A slice is read, not moved. */
static bool move_out(Json *j, Json key, Json *child, Error *err) {
    JsonKind kind = json_kind(*j), step = json_kind(key);
    if (step == JSON_STRING && (kind == JSON_OBJECT || kind == JSON_NULL)) {
        *child = is_kind(*j, JSON_OBJECT) ? json_object_lift(j, key) : json_null();
        if (json_is_none(*child)) *child = json_null();
        return true;
    }
    if (step == JSON_NUMBER && (kind == JSON_ARRAY || kind == JSON_NULL)) {
        size_t i, len = kind == JSON_ARRAY ? json_array_len(*j) : 0;
        bool there = settable_place(key, len, &i, err);
        *child = !there ? json_none() : i < len ? json_array_lift(j, i) : json_null();
        return there;
    }
    *child = json_index(*j, key, err);
    if (!json_is_none(*child) && step == JSON_ARRAY) {
        json_clear(child);
        cannot_update(*j, key, err);
    }
    return !json_is_none(*child);
}

enum { PARENTS_AT_HAND = 16 };

/* Takes the value apart along the path, so that parents[i] lacks the child at step i, and puts it together
 * again with v at the end. */
Json json_path_set(Json j, Json path, Json v, Error *err) {
    if (!check_path(path, err)) return drop_both(j, v);
    Json at_hand[PARENTS_AT_HAND], child;
    size_t n = json_array_len(path), depth = 0;
    Json *parents = n <= PARENTS_AT_HAND ? at_hand : mem_alloc(n * sizeof *parents);
    for (; depth < n && move_out(&j, json_array_get(path, depth), &child, err); depth++) {
        parents[depth] = j;
        j = child;
    }
    json_unref(j);
    if (depth < n) json_clear(&v);
    while (depth > 0 && !json_is_none(v)) {
        depth--;
        v = json_index_set(parents[depth], json_array_get(path, depth), v, err);
    }
    while (depth > 0) json_unref(parents[--depth]);
    if (parents != at_hand) mem_free(parents);
    return v;
}

static bool has_slice(Json path) {
    for (size_t i = 0, n = json_array_len(path); i < n; i++) {
        if (is_kind(json_array_get(path, i), JSON_OBJECT)) return true;
    }
    return false;
}

Json json_path_lift(Json *j, Json path, Error *err) {
    Json value = json_path_get(*j, path, err);
    bool held_elsewhere = !json_on_heap(value) || value.heap->refs > 2; /* than by *j and by us */
    if (held_elsewhere || has_slice(path)) return value;
    *j = json_path_set(*j, path, json_null(), err);
    if (json_is_none(*j)) { /* a place that can be read but not written, such as .[[1]] */
        json_unref(value);
        return json_none();
    }
    return value;
}

/* ---- deleting ---- */

typedef struct Range {
    size_t from, to;
} Range;

static int by_start(const void *a, const void *b) {
    const Range *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static bool range_of(Json key, size_t len, Range *r, Error *err) {
    if (is_kind(key, JSON_OBJECT)) return key_bounds(key, len, &r->from, &r->to, err);
    if (!is_kind(key, JSON_NUMBER)) {
        return error_set(err, ERR_RAISED, "Cannot delete %s element of array", kind_of(key));
    }
    int64_t i = is_nan(key) ? -1 : place_in(key, len);
    bool there = i >= 0 && (size_t)i < len;
    *r = there ? (Range){(size_t)i, (size_t)i + 1} : (Range){0, 0};
    return true;
}

/* Sorted and without overlaps; gives how many are left. */
static size_t merge_ranges(Range *ranges, size_t n) {
    size_t kept = 0;
    qsort(ranges, n, sizeof *ranges, by_start);
    for (size_t i = 0; i < n; i++) {
        if (ranges[i].from == ranges[i].to) continue;
        if (kept && ranges[i].from <= ranges[kept - 1].to) {
            Range *last = &ranges[kept - 1];
            last->to = ranges[i].to > last->to ? ranges[i].to : last->to;
        } else {
            ranges[kept++] = ranges[i];
        }
    }
    return kept;
}

static Json remove_ranges(Json a, const Range *ranges, size_t n) {
    enum { CUT_COSTS_AS_ITEMS = 64 };
    if (n <= 1 || n <= json_array_len(a) / CUT_COSTS_AS_ITEMS) {
        while (n > 0) {
            n--;
            a = json_array_splice(a, ranges[n].from, ranges[n].to, json_array_from(NULL, 0));
        }
        return a;
    }
    /* One pass over the array instead of one cut a range. */
    Json kept = json_array();
    for (size_t at = 0, i = 0, len = json_array_len(a); at < len; at++) {
        json_breathe();
        while (i < n && ranges[i].to <= at) i++;
        if (i == n || at < ranges[i].from) {
            kept = json_array_push(kept, json_ref(json_array_get(a, at)));
        }
    }
    json_unref(a);
    return kept;
}

/* Deletes children of j, all named as they were before the first is gone. Consumes j. */
static Json delete_children(Json j, Json keys, Error *err) {
    if (is_kind(j, JSON_NULL) || json_array_len(keys) == 0) return j;
    if (is_kind(j, JSON_ARRAY)) {
        size_t n = json_array_len(keys), len = json_array_len(j);
        Range *ranges = mem_alloc(n * sizeof *ranges);
        bool ok = true;
        for (size_t i = 0; i < n && ok; i++) {
            json_breathe();
            ok = range_of(json_array_get(keys, i), len, &ranges[i], err);
        }
        if (ok) {
            j = remove_ranges(j, ranges, merge_ranges(ranges, n));
        } else {
            json_clear(&j);
        }
        mem_free(ranges);
        return j;
    }
    if (!is_kind(j, JSON_OBJECT)) {
        error_set(err, ERR_RAISED, "Cannot delete fields from %s", kind_of(j));
        json_clear(&j);
    }
    for (size_t i = 0, n = json_array_len(keys); i < n && !json_is_none(j); i++) {
        Json key = json_array_get(keys, i);
        json_breathe();
        if (is_kind(key, JSON_STRING)) {
            j = json_object_remove(j, key);
        } else {
            error_set(err, ERR_RAISED, "Cannot delete %s field of object", kind_of(key));
            json_clear(&j);
        }
    }
    return j;
}

/* A value from which the paths [at, end), that all lead into it, are still to be deleted. */
typedef struct Pruning {
    Json value;
    Json doomed;    /* keys of children to delete once the rest is done */
    Json child_key; /* borrowed: of the child that is being pruned */
    size_t at, end;
} Pruning;

typedef struct Pruner {
    Json *paths; /* sorted: those with a common beginning are neighbours, the shortest first */
    Pruning *stack;
    size_t depth, cap;
    Error *err;
} Pruner;

static void prune_begin(Pruner *p, Json value, size_t at, size_t end) {
    p->stack = mem_grow(p->stack, p->depth, &p->cap, sizeof *p->stack);
    p->stack[p->depth++] = (Pruning){.value = value, .doomed = json_array(), .at = at, .end = end};
}

/* Goes on with the next group of paths that take the same step. */
static bool prune_group(Pruner *p) {
    Pruning *top = &p->stack[p->depth - 1];
    size_t step = p->depth - 1, from = top->at, end = from + 1;
    Json path = p->paths[from], key = json_array_get(path, step);
    while (end < top->end && json_equal(key, json_array_get(p->paths[end], step))) end++;
    top->at = end;
    if (json_array_len(path) == step + 1) {
        top->doomed = json_array_push(top->doomed, json_ref(key));
        return true;
    }
    Json child = json_index(top->value, key, p->err);
    bool absent = is_kind(child, JSON_NULL), failed = json_is_none(child);
    json_unref(child);
    if (absent || failed) return absent;
    if (!move_out(&top->value, key, &child, p->err)) return false;
    top->child_key = key;
    prune_begin(p, child, from, end);
    return true;
}

/* All paths into the top value are done: it goes back to where it came from. */
static bool prune_end(Pruner *p, Json *result) {
    Pruning done = p->stack[--p->depth];
    Json value = delete_children(done.value, done.doomed, p->err);
    json_unref(done.doomed);
    if (json_is_none(value)) return false;
    if (p->depth == 0) {
        *result = value;
        return true;
    }
    Pruning *parent = &p->stack[p->depth - 1];
    parent->value = json_index_set(parent->value, parent->child_key, value, p->err);
    return !json_is_none(parent->value);
}

static Json prune(Pruner *p, Json j, size_t n) {
    Json result = json_none();
    prune_begin(p, j, 0, n);
    bool ok = true;
    while (ok && p->depth) {
        Pruning *top = &p->stack[p->depth - 1];
        json_breathe();
        ok = top->at < top->end ? prune_group(p) : prune_end(p, &result);
    }
    while (p->depth) {
        p->depth--;
        json_unref(p->stack[p->depth].value);
        json_unref(p->stack[p->depth].doomed);
    }
    mem_free(p->stack);
    return ok ? result : json_none();
}

static int by_order(const void *a, const void *b) {
    return json_compare(*(const Json *)a, *(const Json *)b);
}

static bool check_paths(Json paths, Error *err) {
    if (!is_kind(paths, JSON_ARRAY)) {
        return error_set(err, ERR_RAISED, "Paths must be specified as an array");
    }
    for (size_t i = 0, n = json_array_len(paths); i < n; i++) {
        Json path = json_array_get(paths, i);
        json_breathe();
        if (!is_kind(path, JSON_ARRAY)) {
            return error_set(err, ERR_RAISED, "Path must be specified as array, not %s",
                             kind_of(path));
        }
        if (!check_path(path, err)) return false;
    }
    return true;
}

Json json_path_delete(Json j, Json paths, Error *err) {
    if (!check_paths(paths, err)) {
        json_unref(j);
        return json_none();
    }
    size_t n = json_array_len(paths);
    Json *sorted = mem_alloc(n * sizeof *sorted);
    for (size_t i = 0; i < n; i++) sorted[i] = json_array_get(paths, i);
    qsort(sorted, n, sizeof *sorted, by_order);
    if (n && json_array_len(sorted[0]) == 0) {
        json_unref(j);
        j = json_null();
    } else if (n) {
        j = prune(&(Pruner){.paths = sorted, .err = err}, j, n);
    }
    mem_free(sorted);
    return j;
}

/* ---- as text ---- */

/* A key that needs no quotes. */
static bool is_identifier(Json key) {
    size_t len = json_string_len(key);
    const char *text = json_string_data(&key);
    for (size_t i = 0; i < len; i++) {
        bool letter = ((text[i] | 32) >= 'a' && (text[i] | 32) <= 'z') || text[i] == '_';
        if (!letter && !(i > 0 && text[i] >= '0' && text[i] <= '9')) return false;
    }
    return len > 0;
}

void json_path_text(Json path, size_t steps, Buf *out) {
    size_t len = json_kind(path) == JSON_ARRAY ? json_array_len(path) : 0;
    for (size_t i = 0; i < len && i < steps; i++) {
        Json step = json_array_get(path, i);
        bool key = json_kind(step) == JSON_STRING;
        buf_adds(out, key ? "." : i == 0 ? ".[" : "[");
        if (key && is_identifier(step)) {
            buf_add(out, json_string_data(&step), json_string_len(step));
        } else {
            json_print(step, NULL, out);
        }
        buf_adds(out, key ? "" : "]");
    }
    buf_adds(out, len && steps ? "" : ".");
}
