/* The counted tree. See json_tree.h for its shape.
 *
 * Every function that changes a node takes a reference to it and gives one back: the same node,
 * changed in place, when that reference was the only one, else a copy whose children gained a
 * reference. Owning goes from the root down, so a node is edited in place only when it is
 * unshared all the way.
 *
 * `bytes` and `depth` are kept by differences. A sum that has saturated cannot be subtracted
 * from, so it is added up again from the at most 32 children. depth is never lowered by a
 * removal: it may be too high, which costs a walk where one could have been skipped, and never
 * too low.
 */
#include "json_tree.h"

#include <assert.h>
#include <string.h>

#define BYTES_MAX ((UINT64_C(1) << 56) - 1)

enum { DEPTH_SATURATED = UINT16_MAX };

/* ---- making nodes ---- */

static size_t leaf_size(size_t cap) {
    return offsetof(JsonNode, items) + cap * sizeof(Json);
}

JsonNode *node_leaf(size_t cap) {
    JsonNode *t = json_heap_alloc(leaf_size(cap));
    t->h = (JsonHeap){.refs = 1, .depth = 1};
    t->bytes = leaf_size(0);
    t->cap = cap;
    return t;
}

const JsonNode node_nothing = {.h = {.refs = 1, .depth = 1}, .bytes = offsetof(JsonNode, items)};

enum { LEVELS_MAX = 24 };

static JsonNode *inner_new(uint8_t level) {
    assert(level < LEVELS_MAX);
    JsonNode *t = json_heap_alloc(sizeof *t);
    t->h = (JsonHeap){.refs = 1, .level = level};
    t->bytes = sizeof *t;
    t->cap = 0;
    t->in.count = 0;
    return t;
}

void node_unref(JsonNode *t) {
    if (t && --t->h.refs == 0) json_release_(&t->h, JSON_TAG_ARRAY);
}

/* The memory of a node whose values or children have been moved elsewhere. */
static void free_shell(JsonNode *t) {
    json_heap_free(t, t->h.level ? sizeof *t : leaf_size(t->cap));
}

/* ---- keeping the sums ---- */

static uint64_t value_bytes(Json v) {
    return json_on_heap(v) ? json_size(v) : sizeof v;
}

static uint64_t add_bytes(uint64_t a, uint64_t b) {
    return a + b > BYTES_MAX ? BYTES_MAX : a + b;
}

static void raise_depth(JsonNode *t, uint16_t depth) {
    if (depth > t->h.depth) t->h.depth = depth;
}

/* Of a container that holds v, which is on the heap. */
static uint16_t depth_around(Json v) {
    uint16_t below = v.heap->depth;
    return below < DEPTH_SATURATED ? below + 1 : below;
}

static void leaf_count_in(JsonNode *t, Json v) {
    t->bytes = add_bytes(t->bytes, value_bytes(v));
    if (json_on_heap(v)) raise_depth(t, depth_around(v));
}

/* v is no longer among the items. */
static void leaf_count_out(JsonNode *t, Json v) {
    if (t->bytes == BYTES_MAX) {
        t->bytes = leaf_size(0);
        for (size_t i = 0; i < t->h.n; i++) leaf_count_in(t, t->items[i]);
    } else {
        t->bytes -= value_bytes(v);
    }
}

static void inner_recount(JsonNode *t) {
    t->bytes = sizeof *t;
    t->in.count = 0;
    for (size_t k = 0; k < t->h.n; k++) {
        t->in.count += node_count(t->in.kids[k]);
        t->in.ends[k] = t->in.count;
        t->bytes = add_bytes(t->bytes, t->in.kids[k]->bytes);
        raise_depth(t, t->in.kids[k]->h.depth);
    }
}

static void inner_kid_resized(JsonNode *t, size_t k, uint64_t before) {
    const JsonNode *kid = t->in.kids[k];
    if (t->bytes == BYTES_MAX || before == BYTES_MAX) {
        inner_recount(t);
    } else {
        t->bytes = add_bytes(t->bytes - before, kid->bytes);
        raise_depth(t, kid->h.depth);
    }
}

static void inner_add(JsonNode *t, JsonNode *kid) {
    size_t k = t->h.n++;
    t->in.kids[k] = kid;
    t->in.count += node_count(kid);
    t->in.ends[k] = t->in.count;
    t->bytes = add_bytes(t->bytes, kid->bytes);
    raise_depth(t, kid->h.depth);
}

static JsonNode *inner_over(JsonNode *kid) {
    JsonNode *t = inner_new(kid->h.level + 1);
    inner_add(t, kid);
    return t;
}

static JsonNode *inner_over_two(JsonNode *a, JsonNode *b) {
    JsonNode *t = inner_over(a);
    inner_add(t, b);
    return t;
}

/* ---- owning ---- */

static JsonNode *leaf_copy(JsonNode *t, size_t cap) {
    JsonNode *copy = node_leaf(cap);
    copy->h.depth = t->h.depth;
    copy->h.n = t->h.n;
    copy->bytes = t->bytes;
    for (size_t i = 0; i < t->h.n; i++) copy->items[i] = json_ref(t->items[i]);
    t->h.refs--;
    return copy;
}

static JsonNode *inner_copy(JsonNode *t) {
    JsonNode *copy = json_heap_alloc(sizeof *t);
    copy->h = t->h;
    copy->h.refs = 1;
    copy->bytes = t->bytes;
    copy->cap = 0;
    copy->in.count = t->in.count;
    memcpy(copy->in.ends, t->in.ends, t->h.n * sizeof *t->in.ends);
    for (size_t k = 0; k < t->h.n; k++) copy->in.kids[k] = node_ref(t->in.kids[k]);
    t->h.refs--;
    return copy;
}

JsonNode *leaf_own(JsonNode *t) {
    return t->h.refs == 1 ? t : leaf_copy(t, t->h.n);
}

static JsonNode *node_own(JsonNode *t) {
    return t->h.refs == 1 ? t : t->h.level ? inner_copy(t) : leaf_copy(t, t->h.n);
}

static size_t grown_cap(size_t need) {
    size_t cap = need <= 4 ? 4 : need <= 8 ? 8 : need <= 16 ? 16 : JSON_FANOUT;
    assert(need <= JSON_FANOUT);
    return cap;
}

static JsonNode *leaf_with_room(JsonNode *t, size_t extra) {
    size_t need = t->h.n + extra;
    if (t->h.refs > 1) return leaf_copy(t, grown_cap(need));
    if (need > t->cap) {
        size_t cap = grown_cap(need);
        t = json_heap_realloc(t, leaf_size(t->cap), leaf_size(cap));
        t->cap = cap;
    }
    return t;
}

/* ---- one value ---- */

const Json *node_run(const JsonNode *t, size_t i, size_t *n) {
    if (i >= node_count(t)) {
        *n = 0;
        return NULL;
    }
    while (t->h.level) t = t->in.kids[node_child(t, &i)];
    *n = t->h.n - i;
    return t->items + i;
}

Json leaf_swap(JsonNode *t, size_t i, Json v) {
    Json old = t->items[i];
    t->items[i] = json_none();
    leaf_count_out(t, old);
    t->items[i] = v;
    leaf_count_in(t, v);
    return old;
}

static JsonNode *swap_below(JsonNode *t, size_t i, Json v, Json *old) {
    t = node_own(t);
    if (t->h.level == 0) {
        *old = leaf_swap(t, i, v);
        return t;
    }
    size_t k = node_child(t, &i);
    uint64_t before = t->in.kids[k]->bytes;
    t->in.kids[k] = swap_below(t->in.kids[k], i, v, old);
    inner_kid_resized(t, k, before);
    return t;
}

JsonNode *node_set(JsonNode *t, size_t i, Json v) {
    Json old;
    t = swap_below(t, i, v, &old);
    json_unref(old);
    return t;
}

Json node_lift(JsonNode **t, size_t i) {
    Json old;
    *t = swap_below(*t, i, json_null(), &old);
    return old;
}

JsonNode *leaf_remove(JsonNode *t, size_t i, size_t n) {
    t = leaf_own(t);
    Json gone[JSON_FANOUT];
    memcpy(gone, t->items + i, n * sizeof *gone);
    t->h.n -= n;
    memmove(t->items + i, t->items + i + n, (t->h.n - i) * sizeof *gone);
    for (size_t k = 0; k < n; k++) {
        leaf_count_out(t, gone[k]);
        json_unref(gone[k]);
    }
    return t;
}

/* ---- pushing ---- */

static inline void leaf_add_one(JsonNode *t, Json v) {
    t->items[t->h.n++] = v;
    leaf_count_in(t, v);
}

/* Sums in registers: this is the inner loop of building. A value's size is below 2^57, so that
 * 32 of them cannot wrap around. */
static void leaf_add(JsonNode *t, const Json *items, size_t n) {
    uint64_t bytes = t->bytes + n * sizeof *items;
    memcpy(t->items + t->h.n, items, n * sizeof *items);
    for (size_t i = 0; i < n; i++) {
        if (json_on_heap(items[i])) {
            bytes += json_size(items[i]) - sizeof *items;
            raise_depth(t, depth_around(items[i]));
        }
    }
    t->bytes = bytes < BYTES_MAX ? bytes : BYTES_MAX;
    t->h.n += n;
}

/* Adds the items (one, or a pair that must stay in one leaf) at the end of t; when t is full they
 * go into *spill, a new node of the same level. */
static JsonNode *push_below(JsonNode *t, const Json *items, size_t n, JsonNode **spill) {
    if (t->h.level == 0) {
        bool full = t->h.n + n > JSON_FANOUT;
        JsonNode *to = full ? (*spill = node_leaf(JSON_FANOUT)) : (t = leaf_with_room(t, n));
        leaf_add(to, items, n);
        return t;
    }
    t = node_own(t);
    size_t last = t->h.n - 1u;
    uint64_t before = t->in.kids[last]->bytes;
    JsonNode *more = NULL;
    t->in.kids[last] = push_below(t->in.kids[last], items, n, &more);
    if (more && t->h.n == JSON_FANOUT) {
        *spill = inner_over(more);
    } else if (more) {
        inner_add(t, more);
    } else {
        t->in.count += n;
        t->in.ends[last] += n;
        inner_kid_resized(t, last, before);
    }
    return t;
}

/* The common case without recursion: nothing on the right edge is shared and its leaf has room.
 * The values come in registers and leave as words: an array of them would stall on its way to
 * memory. */
static inline bool push_in_place(JsonNode *t, Json first, Json second, size_t n) {
    JsonNode *edge[LEVELS_MAX];
    size_t height = 0;
    for (; t->h.level; t = t->in.kids[t->h.n - 1]) {
        if (t->h.refs > 1 || t->bytes > BYTES_MAX / 2) return false;
        edge[height++] = t;
    }
    if (t->h.refs > 1 || t->h.n + n > t->cap) return false;
    uint64_t before = t->bytes;
    leaf_add_one(t, first);
    if (n > 1) leaf_add_one(t, second);
    for (size_t i = 0; i < height; i++) {
        edge[i]->in.count += n;
        edge[i]->in.ends[edge[i]->h.n - 1] += n;
        edge[i]->bytes = add_bytes(edge[i]->bytes, t->bytes - before);
        raise_depth(edge[i], t->h.depth);
    }
    return true;
}

static JsonNode *push_items(JsonNode *t, const Json *items, size_t n) {
    JsonNode *spill = NULL;
    t = push_below(t, items, n, &spill);
    return spill ? inner_over_two(t, spill) : t;
}

JsonNode *node_push(JsonNode *t, Json v) {
    return push_in_place(t, v, v, 1) ? t : push_items(t, &v, 1);
}

JsonNode *node_push_pair(JsonNode *t, Json key, Json v) {
    return push_in_place(t, key, v, 2) ? t : push_items(t, (Json[]){key, v}, 2);
}

/* ---- building ---- */

static JsonNode *leaf_from(const Json *items, size_t n) {
    JsonNode *t = node_leaf(n);
    if (n) leaf_add(t, items, n);
    return t;
}

JsonNode *node_from(Json *items, size_t n) {
    if (n <= JSON_FANOUT) return leaf_from(items, n);
    size_t width = (n + JSON_FANOUT - 1) / JSON_FANOUT, row_size = width * sizeof(JsonNode *);
    JsonNode **row = json_heap_alloc(row_size);
    for (size_t k = 0; k < width; k++) {
        size_t from = k * JSON_FANOUT, left = n - from;
        row[k] = leaf_from(items + from, left < JSON_FANOUT ? left : JSON_FANOUT);
    }
    while (width > 1) {
        /* Parents over the row of nodes, in the same memory. */
        size_t parents = 0;
        for (size_t i = 0; i < width; i++) {
            if (i % JSON_FANOUT == 0) {
                row[parents++] = inner_over(row[i]);
            } else {
                inner_add(row[parents - 1], row[i]);
            }
        }
        width = parents;
    }
    JsonNode *root = row[0];
    json_heap_free(row, row_size);
    return root;
}

static JsonNode *null_leaf(size_t n) {
    JsonNode *t = node_leaf(n);
    for (size_t i = 0; i < n; i++) leaf_add_one(t, json_null());
    return t;
}

/* Full nodes of nulls of rising level, each made of 32 references to the one before; the digits
 * of n in base 32 say how many of each are needed. */
JsonNode *node_nulls(size_t n) {
    JsonNode *all = null_leaf(n % JSON_FANOUT), *full = null_leaf(JSON_FANOUT);
    for (n /= JSON_FANOUT; n; n /= JSON_FANOUT) {
        for (size_t k = n % JSON_FANOUT; k; k--) all = node_concat(node_ref(full), all);
        JsonNode *next = inner_over(full);
        for (size_t k = 1; k < JSON_FANOUT; k++) inner_add(next, node_ref(full));
        full = next;
    }
    node_unref(full);
    return all;
}

/* ---- joining ---- */

static JsonNode *join(JsonNode *a, JsonNode *b, JsonNode **spill);

static void inner_take_all(JsonNode *a, JsonNode *b) {
    bool copied = b->h.refs > 1;
    for (size_t k = 0; k < b->h.n; k++) {
        inner_add(a, copied ? node_ref(b->in.kids[k]) : b->in.kids[k]);
    }
    copied ? node_unref(b) : free_shell(b);
}

/* Two nodes of one level that fit into one. */
static JsonNode *merge(JsonNode *a, JsonNode *b) {
    if (a->h.level == 0) {
        a = leaf_with_room(a, b->h.n);
        bool copied = b->h.refs > 1;
        for (size_t i = 0; i < b->h.n; i++) {
            leaf_add_one(a, copied ? json_ref(b->items[i]) : b->items[i]);
        }
        copied ? node_unref(b) : free_shell(b);
    } else {
        a = node_own(a);
        inner_take_all(a, b);
    }
    return a;
}

static JsonNode *join_under_last(JsonNode *a, JsonNode *b, JsonNode **spill) {
    a = node_own(a);
    size_t last = a->h.n - 1u;
    JsonNode *more = NULL, **kid = &a->in.kids[last];
    size_t count = node_count(*kid);
    uint64_t before = (*kid)->bytes;
    *kid = join(*kid, b, &more);
    a->in.count += node_count(*kid) - count; /* may be less: seams move to the other side */
    a->in.ends[last] = a->in.count;
    inner_kid_resized(a, last, before);
    if (more && a->h.n == JSON_FANOUT) {
        *spill = inner_over(more);
    } else if (more) {
        inner_add(a, more);
    }
    return a;
}

static JsonNode *join_under_first(JsonNode *a, JsonNode *b, JsonNode **spill) {
    b = node_own(b);
    JsonNode *more = NULL, *first = join(a, b->in.kids[0], &more);
    bool splits = more && b->h.n == JSON_FANOUT;
    b->in.kids[0] = splits ? more : first;
    if (more && !splits) {
        memmove(b->in.kids + 2, b->in.kids + 1, (b->h.n - 1u) * sizeof *b->in.kids);
        b->in.kids[1] = more;
        b->h.n++;
    }
    inner_recount(b);
    if (splits) {
        *spill = b;
        return inner_over(first);
    }
    return b;
}

/* Two inner nodes that do not fit into one: what meets in the middle is joined, so that seams do
 * not pile up small nodes. */
static JsonNode *join_seam(JsonNode *a, JsonNode *b, JsonNode **spill) {
    a = node_own(a);
    b = node_own(b);
    JsonNode **left = &a->in.kids[a->h.n - 1], *more = NULL;
    *left = join(*left, b->in.kids[0], &more);
    if (more) {
        b->in.kids[0] = more;
    } else {
        b->h.n--;
        memmove(b->in.kids, b->in.kids + 1, b->h.n * sizeof *b->in.kids);
    }
    inner_recount(a);
    inner_recount(b);
    if (a->h.n + b->h.n <= JSON_FANOUT) {
        inner_take_all(a, b);
    } else {
        *spill = b;
    }
    return a;
}

/* a then b, as one node of the higher level of the two, or as two of it: the second in *spill. */
static JsonNode *join(JsonNode *a, JsonNode *b, JsonNode **spill) {
    if (a->h.level > b->h.level) return join_under_last(a, b, spill);
    if (a->h.level < b->h.level) return join_under_first(a, b, spill);
    if (a->h.n + b->h.n <= JSON_FANOUT) return merge(a, b);
    bool tight =
        a->h.level == 0 ||
        (a->h.level == 1 && a->in.kids[a->h.n - 1]->h.n + b->in.kids[0]->h.n > JSON_FANOUT);
    if (!tight) return join_seam(a, b, spill);
    *spill = b;
    return a;
}

static JsonNode *rebuild(JsonNode *t) {
    size_t count = node_count(t), n, size = count * sizeof(Json);
    Json *items = json_heap_alloc(size);
    for (size_t i = 0; i < count; i += n) {
        const Json *run = node_run(t, i, &n);
        for (size_t k = 0; k < n; k++) items[i + k] = json_ref(run[k]);
    }
    node_unref(t);
    t = node_from(items, count);
    json_heap_free(items, size);
    return t;
}

JsonNode *node_concat(JsonNode *a, JsonNode *b) {
    assert(node_count(a) + node_count(b) < SIZE_MAX / 64);
    if (node_count(a) == 0 || node_count(b) == 0) {
        bool first = node_count(a) > 0;
        node_unref(first ? b : a);
        return first ? a : b;
    }
    JsonNode *spill = NULL;
    a = join(a, b, &spill);
    a = spill ? inner_over_two(a, spill) : a;
    bool sparse = a->h.level > 3 && a->in.count >> (3 * a->h.level) == 0;
    return sparse ? rebuild(a) : a;
}

/* ---- cutting ---- */

static JsonNode *leaf_cut(JsonNode *t, size_t from, size_t to) {
    if (t->h.refs > 1) {
        JsonNode *part = node_leaf(to - from);
        for (size_t i = from; i < to; i++) leaf_add_one(part, json_ref(t->items[i]));
        node_unref(t);
        return part;
    }
    t = leaf_remove(t, to, t->h.n - to);
    return leaf_remove(t, 0, from);
}

/* Keeps [from, to), which is not empty, without changing the level. */
static JsonNode *cut(JsonNode *t, size_t from, size_t to) {
    if (from == 0 && to == node_count(t)) return t;
    if (t->h.level == 0) return leaf_cut(t, from, to);
    t = node_own(t);
    size_t end = to - 1, first = node_child(t, &from), last = node_child(t, &end);
    for (size_t k = 0; k < t->h.n; k++) {
        if (k < first || k > last) node_unref(t->in.kids[k]);
    }
    t->h.n = (uint8_t)(last - first + 1);
    memmove(t->in.kids, t->in.kids + first, t->h.n * sizeof *t->in.kids);
    size_t n = t->h.n, first_count = node_count(t->in.kids[0]);
    t->in.kids[n - 1] = cut(t->in.kids[n - 1], n == 1 ? from : 0, end + 1);
    if (n > 1) t->in.kids[0] = cut(t->in.kids[0], from, first_count);
    inner_recount(t);
    return t;
}

/* A node's child instead of it. */
static JsonNode *only_kid(JsonNode *t, size_t k) {
    JsonNode *kid = node_ref(t->in.kids[k]);
    node_unref(t);
    return kid;
}

JsonNode *node_slice(JsonNode *t, size_t from, size_t to) {
    if (from == to) {
        node_unref(t);
        return node_leaf(0);
    }
    while (t->h.level) { /* to where it is all below one node, or two meet */
        size_t first = from, end = to - 1, k = node_child(t, &first);
        if (node_child(t, &end) != k) break;
        t = only_kid(t, k);
        from = first;
        to = end + 1;
    }
    t = cut(t, from, to);
    while (t->h.level && t->h.n == 1) t = only_kid(t, 0);
    return t;
}

/* ---- what two trees share ---- */

/* The way from the root to value i: by level, the node and the place in it. */
typedef struct Way {
    const JsonNode *nodes[LEVELS_MAX];
    size_t places[LEVELS_MAX];
    size_t kids[LEVELS_MAX]; /* which child of the node above this one is */
    int top;
} Way;

static void way_to(Way *w, const JsonNode *t, size_t i) {
    assert(t->h.level < LEVELS_MAX);
    w->top = t->h.level;
    w->kids[w->top] = 0;
    for (int level = w->top;; level--) {
        w->nodes[level] = t;
        w->places[level] = i;
        if (level == 0) return;
        w->kids[level - 1] = node_child(t, &i);
        t = t->in.kids[w->kids[level - 1]];
    }
}

/* The highest level at which both ways go through one node at one place; -1 when there is none. */
static int shared_level(const Way *a, const Way *b) {
    int level = a->top < b->top ? a->top : b->top;
    while (level >= 0 &&
           (a->nodes[level] != b->nodes[level] || a->places[level] != b->places[level])) {
        level--;
    }
    return level;
}

/* Counts the siblings that follow (step 1) or precede (step -1) a shared node and are shared
 * too. */
static size_t shared_siblings(const Way *a, const Way *b, int level, int step) {
    size_t total = 0;
    if (level >= a->top || level >= b->top) return 0;
    const JsonNode *pa = a->nodes[level + 1], *pb = b->nodes[level + 1];
    size_t i = a->kids[level] + (size_t)step, j = b->kids[level] + (size_t)step;
    for (; i < pa->h.n && j < pb->h.n && pa->in.kids[i] == pb->in.kids[j]; i += (size_t)step) {
        total += pa->in.ends[i] - (i ? pa->in.ends[i - 1] : 0);
        j += (size_t)step;
    }
    return total;
}

size_t node_shared(const JsonNode *a, size_t i, const JsonNode *b, size_t j) {
    size_t total = 0, count_a = node_count(a), count_b = node_count(b);
    while (i + total < count_a && j + total < count_b) {
        Way wa, wb;
        way_to(&wa, a, i + total);
        way_to(&wb, b, j + total);
        int level = shared_level(&wa, &wb);
        if (level < 0) break;
        total += node_count(wa.nodes[level]) - wa.places[level];
        total += shared_siblings(&wa, &wb, level, 1);
    }
    return total;
}

size_t node_shared_before(const JsonNode *a, size_t i, const JsonNode *b, size_t j) {
    size_t total = 0;
    while (total < i && total < j) {
        Way wa, wb;
        way_to(&wa, a, i - total - 1);
        way_to(&wb, b, j - total - 1);
        int level = shared_level(&wa, &wb);
        if (level < 0) break;
        total += wa.places[level] + 1;
        total += shared_siblings(&wa, &wb, level, -1);
    }
    return total;
}
