/* Differences between two values. See json_diff.h.
 *
 * The work is a stack of differences that may be there: a path and what each side has there. Visiting a
 * place either reports it or, when both sides have containers of one kind, puts those children
 * on the stack that are not the same heap object. Whole runs of shared children are stepped over
 * in the trees (node_shared), so a change in a large container is found in O(log n).
 *
 * In a patch, an array's splice comes before the changes inside its items, whose paths therefore
 * count as in b. New keys of an object go to its end, so the keys of b fall in two: those at its
 * front that come in the order of a stay where they are; all that follow are removed, if a has
 * them, and set again.
 */
#include "json_diff.h"

#include "json_build.h"
#include "json_tree.h"
#include "mem.h"
#include "utf8.h"

#include <string.h>

/* ---- sameness to the last detail ---- */

static bool is_container(Json j) {
    return json_tag(j) >= JSON_TAG_ARRAY;
}

/* Decides for anything but two containers of one kind, which may be the same or not. */
static bool same_scalar(Json a, Json b) {
    if (json_tag(a) != json_tag(b) || !json_on_heap(a) || is_container(a)) {
        return json_identical(a, b);
    }
    const JsonStr *x = (const JsonStr *)a.heap, *y = (const JsonStr *)b.heap;
    return x == y || (x->len == y->len && memcmp(x->data, y->data, x->len) == 0);
}

static size_t len_of(Json j) {
    return json_tag(j) == JSON_TAG_ARRAY ? json_array_len(j) : json_object_len(j);
}

/* Two containers of one kind and length that are being compared. */
typedef struct Twins {
    Json a, b;
    size_t pos_a, pos_b;
} Twins;

typedef struct TwinStack {
    Twins *items;
    size_t n, cap;
} TwinStack;

/* Whether they are the same as far as it shows without looking inside; containers wait on the
 * stack. */
static bool meet(TwinStack *s, Json a, Json b) {
    if (same_scalar(a, b)) return true;
    if (json_tag(a) != json_tag(b) || !is_container(a) || len_of(a) != len_of(b)) return false;
    s->items = mem_grow(s->items, s->n, &s->cap, sizeof *s->items);
    s->items[s->n++] = (Twins){a, b, 0, 0};
    return true;
}

/* Each pair of parts that is looked at is one less *left; when none is, they are not the same. */
static bool same(Json a, Json b, size_t *left) {
    TwinStack s = {NULL, 0, 0};
    bool alike = meet(&s, a, b);
    while (alike && s.n) {
        alike = *left > 0 && (*left)--;
        if (!alike) break;
        Twins *top = &s.items[s.n - 1];
        Json key_a, key_b, x, y;
        bool more;
        if (json_tag(top->a) == JSON_TAG_ARRAY) {
            x = json_array_get(top->a, top->pos_a++);
            y = json_array_get(top->b, top->pos_b++);
            more = !json_is_none(x);
        } else {
            more = json_object_next(top->a, &top->pos_a, &key_a, &x) &&
                   json_object_next(top->b, &top->pos_b, &key_b, &y);
            alike = !more || json_string_equal(key_a, key_b);
        }
        if (!more) {
            s.n--;
        } else if (alike) {
            alike = meet(&s, x, y);
        }
    }
    mem_free(s.items);
    return alike;
}

/* ---- the walk ---- */

/* A place that may differ. JSON_NONE on a side means that it has nothing there. */
typedef struct Difference {
    Json path; /* owned */
    Json a, b; /* borrowed from the values that are compared */
} Difference;

typedef struct Walk {
    Difference *differences;
    size_t n, cap;
    Json patch;      /* being made; JSON_NONE when changes are told to fn */
    JsonChangeFn fn; /* for people: items are matched by place, the order of keys is all one */
    void *ctx;
    bool stopped;
    size_t left; /* differences that may still be looked into */
} Walk;

static bool makes_patch(const Walk *w) {
    return !w->fn;
}

static void add_difference(Walk *w, const Difference *at, Json step, Json a, Json b) {
    Json path = json_array_push(json_ref(at->path), json_ref(step));
    w->differences = mem_grow(w->differences, w->n, &w->cap, sizeof *w->differences);
    w->differences[w->n++] = (Difference){path, a, b};
}

static void add_if_unlike(Walk *w, const Difference *at, Json step, Json a, Json b) {
    if (!same_scalar(a, b)) add_difference(w, at, step, a, b);
}

static void emit(Walk *w, Json *change, size_t n) {
    w->patch = json_array_push(w->patch, json_array_from(change, n));
}

/* ---- arrays ---- */

typedef struct Arrays {
    const JsonNode *a, *b;
    size_t na, nb;
} Arrays;

/* Items of both sides that lie side by side in memory, n of them. */
typedef struct Runs {
    const Json *a, *b;
    size_t n;
} Runs;

static Runs runs_at(const JsonNode *a, size_t i, const JsonNode *b, size_t j) {
    size_t na, nb;
    Runs r = {node_run(a, i, &na), node_run(b, j, &nb), 0};
    r.n = na < nb ? na : nb;
    return r;
}

/* Items that begin at one address are in one leaf; the leaves that follow may be shared as well. */
static size_t skip_shared(const JsonNode *a, size_t i, const JsonNode *b, size_t j, Runs *runs) {
    size_t skipped = 0;
    *runs = runs_at(a, i, b, j);
    if (runs->n && runs->a == runs->b) {
        skipped = node_shared(a, i, b, j);
        *runs = runs_at(a, i + skipped, b, j + skipped);
    }
    return skipped;
}

/* Pairs up n items from a[i] and b[j] on. */
static void match_items(Walk *w, const Difference *at, const Arrays *v, size_t i, size_t j,
                        size_t n) {
    size_t k = 0;
    while (k < n) {
        Runs r;
        k += skip_shared(v->a, i + k, v->b, j + k, &r);
        for (size_t x = 0; x < r.n && k < n; x++, k++) {
            add_if_unlike(w, at, json_int((int64_t)(j + k)), r.a[x], r.b[x]);
        }
    }
}

static size_t common_prefix(const Arrays *v, size_t *left) {
    size_t k = 0;
    for (;;) {
        Runs r;
        k += skip_shared(v->a, k, v->b, k, &r);
        for (size_t x = 0; x < r.n; x++, k++) {
            if (!json_identical(r.a[x], r.b[x]) && !same(r.a[x], r.b[x], left)) return k;
        }
        if (!r.n) return k;
    }
}

static size_t common_suffix(const Arrays *v, size_t limit, size_t *left) {
    size_t k = 0;
    while (k < limit) {
        size_t i = v->na - k - 1, j = v->nb - k - 1;
        Runs r = runs_at(v->a, i, v->b, j);
        if (r.a == r.b) {
            k += node_shared_before(v->a, i + 1, v->b, j + 1);
        } else if (same(*r.a, *r.b, left)) {
            k++;
        } else {
            break;
        }
    }
    return k < limit ? k : limit;
}

/* How many of n items from a[i] and b[j] on are not the very same; more than `most`: so many. */
static size_t count_unlike(const Arrays *v, size_t i, size_t j, size_t n, size_t most) {
    size_t k = 0, unlike = 0;
    while (k < n && unlike <= most) {
        Runs r;
        k += skip_shared(v->a, i + k, v->b, j + k, &r);
        for (size_t x = 0; x < r.n && k < n; x++, k++) unlike += !same_scalar(r.a[x], r.b[x]);
    }
    return unlike;
}

/* Whether at least half of them are the very same: then the others are taken for changed items and not for
 * new ones. */
static bool mostly_same(const Walk *w, const Arrays *v, size_t i, size_t j, size_t n) {
    size_t most = n / 2 < w->left ? n / 2 : w->left;
    return n > 0 && count_unlike(v, i, j, n, most) <= most;
}

/* Items [from, to) of a become [from, end) of b. */
static void emit_splice(Walk *w, const Difference *at, size_t from, size_t to, size_t end) {
    if (from < to || from < end) {
        Json items = json_array_slice(json_ref(at->b), from, end);
        emit(w, (Json[]){json_ref(at->path), json_int((int64_t)from), json_int((int64_t)to), items},
             4);
    }
}

/* What is left between a common beginning and a common end. */
static void match_middle(Walk *w, const Difference *at, const Arrays *v, size_t from,
                         size_t suffix) {
    size_t end_a = v->na - suffix, end_b = v->nb - suffix;
    size_t n = (end_a < end_b ? end_a : end_b) - from;
    if (mostly_same(w, v, from, from, n)) {
        emit_splice(w, at, from + n, end_a, end_b);
        match_items(w, at, v, from, from, n);
    } else if (mostly_same(w, v, end_a - n, end_b - n, n)) {
        emit_splice(w, at, from, end_a - n, end_b - n);
        match_items(w, at, v, end_a - n, end_b - n, n);
    } else {
        emit_splice(w, at, from, end_a, end_b);
    }
}

static void put_whole(Walk *w, const Difference *at) {
    emit(w, (Json[]){json_ref(at->path), json_ref(at->b)}, json_is_none(at->b) ? 1 : 2);
}

static void visit_arrays(Walk *w, const Difference *at) {
    Arrays v = {(const JsonNode *)at->a.heap, (const JsonNode *)at->b.heap, 0, 0};
    v.na = node_count(v.a);
    v.nb = node_count(v.b);
    size_t n = v.na < v.nb ? v.na : v.nb;
    if (v.na != v.nb && makes_patch(w)) {
        size_t prefix = common_prefix(&v, &w->left);
        size_t suffix = common_suffix(&v, n - prefix, &w->left);
        match_middle(w, at, &v, prefix, suffix);
        return;
    }
    if (makes_patch(w) && w->left < n && count_unlike(&v, 0, 0, n, w->left) > w->left) {
        put_whole(w, at);
        return;
    }
    match_items(w, at, &v, 0, 0, n);
    for (size_t i = n; i < v.na || i < v.nb; i++) { /* those that only one side has */
        add_difference(w, at, json_int((int64_t)i), json_array_get(at->a, i),
                       json_array_get(at->b, i));
    }
}

/* ---- objects ---- */

/* Walks two trees of entries side by side, past what they share. */
typedef struct Entries {
    const JsonNode *a, *b;
    size_t at, left;
    Runs runs;
} Entries;

static bool next_entries(Entries *e, const Json **pair_a, const Json **pair_b) {
    if (e->left == 0) {
        e->at += skip_shared(e->a, e->at, e->b, e->at, &e->runs);
        e->left = e->runs.n;
    }
    if (e->left == 0) return false;
    *pair_a = e->runs.a;
    *pair_b = e->runs.b;
    e->runs.a += 2;
    e->runs.b += 2;
    e->at += 2;
    e->left -= 2;
    return true;
}

/* Whether b came from a by changing values, removing keys and adding some: then entries at the same
 * place have the same key, but for those that are holes in b. */
static bool entries_match(const Difference *at) {
    Entries e = {.a = object_entries(at->a), .b = object_entries(at->b)};
    const Json *x, *y;
    if (node_count(e.a) > node_count(e.b)) return false;
    while (next_entries(&e, &x, &y)) {
        bool hole = json_is_none(*y), both = !hole && !json_is_none(*x);
        if (!hole && !(both && json_string_equal(*x, *y))) return false;
    }
    return true;
}

static void add_entries_from(Walk *w, const Difference *at, size_t pos) {
    Json key, value;
    while (json_object_next(at->b, &pos, &key, &value)) {
        Json before = makes_patch(w) ? json_none() : json_object_get(at->a, key);
        add_if_unlike(w, at, key, before, value);
    }
}

static void visit_matching_entries(Walk *w, const Difference *at) {
    Entries e = {.a = object_entries(at->a), .b = object_entries(at->b)};
    const Json *x, *y;
    while (next_entries(&e, &x, &y)) {
        /* For people a key that was removed and set again is still there, with another value or the
         * same. */
        if (!json_is_none(*y)) {
            add_if_unlike(w, at, *x, x[1], y[1]);
        } else if (!json_is_none(*x) &&
                   (makes_patch(w) || json_is_none(json_object_get(at->b, *x)))) {
            add_difference(w, at, *x, x[1], json_none());
        }
    }
    add_entries_from(w, at, node_count(e.a));
}

/* How many keys at the front of b come in the order of a. */
static size_t count_staying(Json a, Json b) {
    size_t pos_a = 0, pos_b = 0, n = 0;
    Json key, value, other;
    for (; json_object_next(b, &pos_b, &key, &value) && !json_is_none(json_object_get(a, key));
         n++) {
        bool follows = false;
        while (!follows && json_object_next(a, &pos_a, &other, &value)) {
            follows = json_string_equal(other, key);
        }
        if (!follows) break;
    }
    return n;
}

static void visit_objects_in_order(Walk *w, const Difference *at) {
    size_t staying = count_staying(at->a, at->b), pos_a = 0, pos_b = 0;
    Json key_a, key_b = json_none(), x, y = json_none();
    bool more = staying > 0 && json_object_next(at->b, &pos_b, &key_b, &y);
    while (json_object_next(at->a, &pos_a, &key_a, &x)) {
        if (!more || !json_string_equal(key_a, key_b)) {
            add_difference(w, at, key_a, x, json_none());
            continue;
        }
        add_if_unlike(w, at, key_a, x, y);
        if (--staying == 0) {
            more = false;
        } else {
            json_object_next(at->b, &pos_b, &key_b, &y);
        }
    }
    add_entries_from(w, at, pos_b);
}

static void visit_objects_by_key(Walk *w, const Difference *at) {
    Json key, value;
    for (size_t pos = 0; json_object_next(at->a, &pos, &key, &value);) {
        add_if_unlike(w, at, key, value, json_object_get(at->b, key));
    }
    for (size_t pos = 0; json_object_next(at->b, &pos, &key, &value);) {
        if (json_is_none(json_object_get(at->a, key))) {
            add_difference(w, at, key, json_none(), value);
        }
    }
}

/* More of their values are not the very same than may be looked into. */
static bool differ_too_much(const Walk *w, const Difference *at) {
    Entries e = {.a = object_entries(at->a), .b = object_entries(at->b)};
    const Json *x, *y;
    size_t unlike = 0;
    if (json_object_len(at->b) <= w->left && json_object_len(at->a) <= w->left) return false;
    while (unlike <= w->left && next_entries(&e, &x, &y)) unlike += !same_scalar(x[1], y[1]);
    return unlike > w->left;
}

/* ---- all of it ---- */

static void visit(Walk *w, const Difference *at) {
    uint8_t tag = json_tag(at->a);
    bool alike = tag == json_tag(at->b);
    if (same_scalar(at->a, at->b)) return;
    w->left -= w->left > 0;
    if (makes_patch(w) && alike && is_container(at->a) &&
        (!w->left || (tag == JSON_TAG_OBJECT && differ_too_much(w, at)))) {
        put_whole(w, at);
    } else if (alike && tag == JSON_TAG_ARRAY) {
        visit_arrays(w, at);
    } else if (alike && tag == JSON_TAG_OBJECT && entries_match(at)) {
        visit_matching_entries(w, at);
    } else if (alike && tag == JSON_TAG_OBJECT && makes_patch(w)) {
        visit_objects_in_order(w, at);
    } else if (alike && tag == JSON_TAG_OBJECT) {
        visit_objects_by_key(w, at);
    } else if (makes_patch(w)) {
        put_whole(w, at);
    } else if (!json_equal(at->a, at->b)) {
        w->stopped = !w->fn(w->ctx, at->path, at->a, at->b);
    }
}

static void walk(Walk *w, Json a, Json b) {
    w->differences = mem_grow(NULL, 0, &w->cap, sizeof *w->differences);
    w->differences[w->n++] = (Difference){json_array(), a, b};
    while (w->n) {
        Difference at = w->differences[--w->n];
        size_t before = w->n;
        if (!w->stopped) {
            visit(w, &at);
            /* Its children were added in order, and the stack gives the last one first. */
            for (size_t i = before, k = w->n; i + 1 < k; i++) {
                Difference swap = w->differences[i];
                w->differences[i] = w->differences[--k];
                w->differences[k] = swap;
            }
        }
        json_unref(at.path);
    }
    mem_free(w->differences);
}

Json json_diff_within(Json a, Json b, size_t most) {
    Walk w = {.patch = json_array(), .left = most};
    walk(&w, a, b);
    return w.patch;
}

Json json_diff(Json a, Json b) {
    return json_diff_within(a, b, SIZE_MAX);
}

void json_changes(Json a, Json b, JsonChangeFn fn, void *ctx) {
    Walk w = {.fn = fn, .ctx = ctx, .left = SIZE_MAX};
    walk(&w, a, b);
}

static bool never_told(void *ctx, Json path, Json old_value, Json new_value) {
    (void)ctx, (void)path, (void)old_value, (void)new_value;
    return true;
}

void json_changed_members(Json a, Json b, JsonMemberFn fn, void *ctx) {
    Walk w = {.fn = never_told, .left = SIZE_MAX};
    if (json_kind(a) != JSON_OBJECT || json_kind(b) != JSON_OBJECT) return;
    Difference at = {json_array(), a, b};
    visit(&w, &at);
    json_unref(at.path);
    for (size_t i = 0; i < w.n; i++) {
        fn(ctx, json_array_get(w.differences[i].path, 0), w.differences[i].a, w.differences[i].b);
        json_unref(w.differences[i].path);
    }
    mem_free(w.differences);
}

typedef struct Report {
    Json added, removed, changed;
} Report;

static bool add_to_report(void *ctx, Json path, Json old_value, Json new_value) {
    Report *r = ctx;
    Json *list = json_is_none(old_value)   ? &r->added
                 : json_is_none(new_value) ? &r->removed
                                           : &r->changed;
    *list =
        json_array_push(*list, OBJECT(KEY("path", json_ref(path)), KEY("old", json_ref(old_value)),
                                      KEY("new", json_ref(new_value))));
    return true;
}

Json json_changes_report(Json a, Json b) {
    Report r = {json_array(), json_array(), json_array()};
    json_changes(a, b, add_to_report, &r);
    return OBJECT(KEY("added", r.added), KEY("removed", r.removed), KEY("changed", r.changed));
}

Json json_string_apart(Json s, Json other) {
    enum { BEFORE = 20 };
    const char *a = json_string_data(&s), *b = json_string_data(&other);
    size_t n = json_string_len(s), m = json_string_len(other), at = 0;
    while (at < n && at < m && a[at] == b[at]) at++;
    if (at <= 2 * BEFORE) return json_ref(s);
    at -= BEFORE;
    while (at && utf8_is_inside(a[at])) at--;
    return json_string_append(json_string_c("..."), a + at, n - at);
}

/* ---- applying ---- */

typedef enum Edit { EDIT_NONE, EDIT_WHOLE, EDIT_SET, EDIT_REMOVE, EDIT_SPLICE } Edit;

typedef struct Change {
    size_t n;                   /* of its parts */
    Json path, value, from, to; /* borrowed */
} Change;

static Json child_of(Json j, Json step) {
    if (json_tag(j) == JSON_TAG_OBJECT && json_kind(step) == JSON_STRING) {
        return json_object_get(j, step);
    }
    if (json_tag(j) == JSON_TAG_ARRAY && json_tag(step) == JSON_TAG_INT && step.i >= 0) {
        return json_array_get(j, (size_t)step.i);
    }
    return json_none();
}

/* Borrowed: what is n steps down the path. */
static Json look_up(Json j, Json path, size_t n) {
    for (size_t i = 0; i < n && !json_is_none(j); i++) j = child_of(j, json_array_get(path, i));
    return j;
}

static Json put_child_back(Json j, Json step, Json child) {
    return json_tag(j) == JSON_TAG_OBJECT ? json_object_set(j, json_ref(step), child)
                                          : json_array_set(j, (size_t)step.i, child);
}

/* Whether the change fits, and what it then does, `depth` steps down. A copy is a value that is looked up
 * before anything moves. */
static Edit edit_for(Json a, Change *c, size_t *depth) {
    size_t steps = json_array_len(c->path);
    *depth = steps;
    if (c->n == 4) {
        Json target = look_up(a, c->path, steps);
        bool fits = json_tag(target) == JSON_TAG_ARRAY && json_tag(c->value) == JSON_TAG_ARRAY &&
                    json_tag(c->from) == JSON_TAG_INT && json_tag(c->to) == JSON_TAG_INT &&
                    c->from.i >= 0 && c->from.i <= c->to.i &&
                    (uint64_t)c->to.i <= json_array_len(target);
        return fits ? EDIT_SPLICE : EDIT_NONE;
    }
    if (c->n == 3) {
        bool copy = json_string_is(c->from, "copy") && json_tag(c->value) == JSON_TAG_ARRAY;
        c->value = copy ? look_up(a, c->value, json_array_len(c->value)) : json_none();
        if (json_is_none(c->value)) return EDIT_NONE;
    }
    if (steps == 0) return c->n == 2 ? EDIT_WHOLE : EDIT_NONE;
    *depth = steps - 1;
    Json parent = look_up(a, c->path, *depth), step = json_array_get(c->path, *depth);
    bool there = !json_is_none(parent) && !json_is_none(child_of(parent, step));
    bool object = json_tag(parent) == JSON_TAG_OBJECT && json_kind(step) == JSON_STRING;
    return c->n == 1 ? (object && there ? EDIT_REMOVE : EDIT_NONE)
                     : (object || there ? EDIT_SET : EDIT_NONE);
}

/* Changes what is `depth` steps down; the way must be there. Parents are moved out of each other, so that
 * what nobody else holds is changed in place. */
static Json edit_at(Json a, const Change *c, size_t depth, Edit edit) {
    Json *parents = mem_alloc(depth * sizeof *parents);
    Json value = json_ref(c->value), step = json_array_get(c->path, depth);
    for (size_t i = 0; i < depth; i++) {
        Json way = json_array_get(c->path, i);
        parents[i] = a;
        a = json_tag(a) == JSON_TAG_OBJECT ? json_object_lift(&parents[i], way)
                                           : json_array_lift(&parents[i], (size_t)way.i);
    }
    switch (edit) {
    case EDIT_SET: a = put_child_back(a, step, value); break;
    case EDIT_SPLICE: a = json_array_splice(a, (size_t)c->from.i, (size_t)c->to.i, value); break;
    case EDIT_REMOVE:
        json_unref(value);
        a = json_object_remove(a, step);
        break;
    default: json_unref(a); a = value;
    }
    for (size_t i = depth; i > 0; i--) {
        a = put_child_back(parents[i - 1], json_array_get(c->path, i - 1), a);
    }
    mem_free(parents);
    return a;
}

static Json apply(Json a, Json change, size_t number, Error *err) {
    size_t n = json_tag(change) == JSON_TAG_ARRAY ? json_array_len(change) : 0, depth;
    bool readable = n >= 1 && n <= 4 && json_tag(json_array_get(change, 0)) == JSON_TAG_ARRAY;
    Edit edit = EDIT_NONE;
    Change c = {.n = n};
    if (readable) {
        c.path = json_array_get(change, 0);
        c.value = json_array_get(change, n - 1);
        c.from = json_array_get(change, 1);
        c.to = json_array_get(change, 2);
        edit = edit_for(a, &c, &depth);
    }
    if (edit) return edit_at(a, &c, depth, edit);
    error_set(err, ERR_DATA,
              readable ? "Change %zu of the patch does not fit the value."
                       : "Change %zu of the patch is not a change.",
              number + 1);
    json_unref(a);
    return json_none();
}

Json json_patch(Json a, Json patch, Error *err) {
    if (json_tag(patch) != JSON_TAG_ARRAY) {
        error_set(err, ERR_DATA, "A patch must be an array of changes, not %s.",
                  json_kind_name(json_kind(patch)));
        json_unref(a);
        return json_none();
    }
    for (size_t i = 0, n = json_array_len(patch); i < n && !json_is_none(a); i++) {
        a = apply(a, json_array_get(patch, i), i, err);
    }
    return a;
}
