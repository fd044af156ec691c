#include "json.h"

#include "json_breath.h"
#include "json_index.h"
#include "json_tree.h"
#include "mem.h"
#include "utf8.h"

#include <assert.h>
#include <sys/random.h>
#include <time.h>

/* ---- kinds ---- */

const uint8_t json_kind_of_tag_[] = {
    [JSON_TAG_NONE] = JSON_NONE,
    [JSON_TAG_NULL] = JSON_NULL,
    [JSON_TAG_FALSE] = JSON_FALSE,
    [JSON_TAG_TRUE] = JSON_TRUE,
    [JSON_TAG_INT] = JSON_NUMBER,
    [JSON_TAG_DOUBLE] = JSON_NUMBER,
    [JSON_TAG_SHORT_DECIMAL] = JSON_NUMBER,
    [JSON_TAG_SHORT_STRING] = JSON_STRING,
    [JSON_TAG_DECIMAL] = JSON_NUMBER,
    [JSON_TAG_STRING] = JSON_STRING,
    [JSON_TAG_ARRAY] = JSON_ARRAY,
    [JSON_TAG_OBJECT] = JSON_OBJECT,
};

static const char *const kind_names[] = {
    [JSON_NONE] = "nothing", [JSON_NULL] = "null",     [JSON_FALSE] = "boolean",
    [JSON_TRUE] = "boolean", [JSON_NUMBER] = "number", [JSON_STRING] = "string",
    [JSON_ARRAY] = "array",  [JSON_OBJECT] = "object",
};

const char *json_kind_name(JsonKind kind) {
    return kind_names[kind];
}

/* ---- life ---- */

static size_t string_size(size_t cap) {
    return offsetof(JsonStr, data) + cap;
}

static bool is_big(const JsonHeap *heap) {
    return heap->level == JSON_BIG_LEVEL;
}

static void free_container(JsonHeap *heap) {
    JsonNode *t = (JsonNode *)heap;
    size_t leaf = offsetof(JsonNode, items) + t->cap * sizeof(Json);
    json_heap_free(t, is_big(heap) ? sizeof(JsonBigObject) : heap->level ? sizeof *t : leaf);
}

/* Gives up one reference. The answer is what died with it, if that holds references of its own. */
static JsonHeap *drop_item(Json j) {
    if (!json_on_heap(j) || --j.heap->refs > 0) return NULL;
    if (json_tag(j) < JSON_TAG_ARRAY) {
        json_heap_free(j.heap, string_size(((JsonStr *)j.heap)->cap));
        return NULL;
    }
    return j.heap;
}

static JsonHeap *drop_node(JsonNode *t) {
    return --t->h.refs > 0 ? NULL : &t->h;
}

/* A dying container gives up its references one by one. The place of the first then holds the link
 * to the container that this one was found in: freeing needs no memory and no stack of its own,
 * however deep the value is. */
static JsonHeap *drop_first(JsonHeap *heap, JsonHeap *link) {
    if (is_big(heap)) {
        JsonBigObject *o = (JsonBigObject *)heap;
        JsonNode *entries = o->entries;
        index_unref(o->index);
        o->entries = (JsonNode *)link;
        return drop_node(entries);
    }
    JsonNode *t = (JsonNode *)heap;
    if (heap->level) {
        JsonNode *kid = t->in.kids[0];
        t->in.kids[0] = (JsonNode *)link;
        return drop_node(kid);
    }
    Json first = t->items[0];
    t->items[0].heap = link;
    return drop_item(first);
}

/* Gives up references from the end until one of them was the last to something with more in it. */
static JsonHeap *drop_rest(JsonHeap *heap) {
    JsonNode *t = (JsonNode *)heap;
    JsonHeap *found = NULL;
    while (!is_big(heap) && heap->n > 1 && !found) {
        heap->n--;
        found = heap->level ? drop_node(t->in.kids[heap->n]) : drop_item(t->items[heap->n]);
    }
    return found;
}

/* Where the release of a large value was left: what is to die next, and what it was found in. */
typedef struct Dying {
    JsonHeap *heap, *above;
} Dying;

enum {
    RELEASE_SLICE = 10000, /* containers that die at a stretch: about half a millisecond */
    DYING_MAX = 256,
};

static _Thread_local bool releases_slices;
static _Thread_local Dying dying[DYING_MAX];
static _Thread_local size_t ndying;

/* Whether it is through; otherwise *at is where. */
static bool release_some(Dying *at, size_t most) {
    JsonHeap *heap = at->heap, *above = at->above;
    for (; most; most--) {
        while (heap && (heap->n || is_big(heap))) {
            JsonHeap *below = drop_first(heap, above);
            above = heap;
            heap = below;
        }
        if (heap) free_container(heap);
        if (!above) return true;
        heap = drop_rest(above);
        if (!heap) {
            JsonHeap *done = above;
            JsonNode *t = (JsonNode *)done;
            above = is_big(done)  ? (JsonHeap *)((JsonBigObject *)done)->entries
                    : done->level ? (JsonHeap *)t->in.kids[0]
                                  : t->items[0].heap;
            free_container(done);
        }
    }
    *at = (Dying){heap, above};
    return false;
}

/* A leaf that holds no other container to its end, as most do; otherwise the rest of it is for release_some(). */
static bool release_leaf(JsonNode *t) {
    for (; t->h.n; t->h.n--) {
        Json j = t->items[t->h.n - 1];
        if (json_tag(j) >= JSON_TAG_ARRAY && j.heap->refs == 1) return false;
        drop_item(j);
    }
    free_container(&t->h);
    return true;
}

static void release_container(JsonHeap *heap) {
    if (!heap->level && release_leaf((JsonNode *)heap)) return;
    Dying at = {heap, NULL};
    while (!release_some(&at, RELEASE_SLICE)) {
        if (releases_slices && ndying < DYING_MAX) {
            dying[ndying++] = at;
            return;
        }
    }
}

void json_release_slices(bool on) {
    releases_slices = on;
}

bool json_release_more(void) {
    if (ndying && release_some(&dying[ndying - 1], RELEASE_SLICE)) ndying--;
    return ndying > 0;
}

void json_release_(JsonHeap *heap, uint8_t tag) {
    if (tag < JSON_TAG_ARRAY) {
        json_heap_free(heap, string_size(((JsonStr *)heap)->cap));
    } else {
        release_container(heap);
    }
}

/* ---- strings ---- */

static uint64_t load(const char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static uint32_t load_half(const char *p) {
    uint32_t half;
    memcpy(&half, p, sizeof half);
    return half;
}

/* Fewer than 8 bytes as a number, without touching what follows them. Loads may overlap. */
static uint64_t load_part(const char *p, size_t n) {
    if (n >= 4) return load_half(p) | (uint64_t)load_half(p + n - 4) << (8 * (n - 4));
    if (n == 0) return 0;
    const unsigned char *u = (const unsigned char *)p;
    return u[0] | (uint64_t)u[n / 2] << (8 * (n / 2)) | (uint64_t)u[n - 1] << (8 * (n - 1));
}

/* Put together in registers: a value written byte by byte stalls whoever reads it as two words. */
static Json short_string(const char *s, size_t len) {
    uint64_t low = len >= 8 ? load(s) : load_part(s, len);
    uint64_t high = len > 8 ? load(s + len - 8) >> (8 * (16 - len)) : 0;
    Json j = {.head_ = JSON_TAG_SHORT_STRING | len << 8 | low << 16};
    j.word_ = low >> 48 | high << 16;
    return j;
}

static Json heap_string(size_t len, size_t cap) {
    assert(len <= JSON_STRING_MAX);
    JsonStr *str = json_heap_alloc(string_size(cap));
    str->h = (JsonHeap){.refs = 1};
    str->hash = 0;
    str->len = (uint32_t)len;
    str->cap = (uint32_t)cap;
    str->data[len] = '\0';
    Json j = {.head_ = JSON_TAG_STRING};
    j.heap = &str->h;
    return j;
}

Json json_string_valid(const char *s, size_t len) {
    if (len <= JSON_SHORT_MAX) return short_string(s, len);
    Json j = heap_string(len, len + 1);
    if (len < JSON_BREATH_BYTES) {
        memcpy(((JsonStr *)j.heap)->data, s, len);
    } else {
        json_breathe_copy(((JsonStr *)j.heap)->data, s, len);
    }
    return j;
}

Json json_string(const char *s, size_t len) {
    if (utf8_valid_prefix(s, len) == len) return json_string_valid(s, len);
    Buf repaired = BUF_INIT;
    utf8_repair(&repaired, s, len);
    Json j = json_string_valid(repaired.data, repaired.len);
    buf_clear(&repaired);
    return j;
}

Json json_string_c(const char *s) {
    return json_string(s, strlen(s));
}

Json json_string_buf(Buf *b) {
    Json j = json_string_valid(b->data, b->len);
    buf_reset(b);
    return j;
}

Json json_string_fmt(const char *fmt, ...) {
    Buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    Json j = json_string(text.data ? text.data : "", text.len);
    buf_clear(&text);
    return j;
}

static Json string_append_in_place(Json s, const char *tail, size_t len) {
    JsonStr *str = (JsonStr *)s.heap;
    size_t whole = str->len + len;
    assert(whole <= JSON_STRING_MAX);
    if (whole + 1 > str->cap) {
        size_t cap = whole + whole / 2 + 1;
        cap = cap > JSON_STRING_MAX + 1u ? JSON_STRING_MAX + 1u : cap;
        str = json_heap_realloc(str, string_size(str->cap), string_size(cap));
        str->cap = (uint32_t)cap;
        s.heap = &str->h;
    }
    memcpy(str->data + str->len, tail, len);
    str->len = (uint32_t)whole;
    str->data[whole] = '\0';
    str->hash = 0;
    return s;
}

Json json_string_append(Json s, const char *tail, size_t len) {
    if (json_kind(s) != JSON_STRING) {
        json_clear(&s);
        s = json_string_valid("", 0);
    }
    size_t old = json_string_len(s), whole = old + len;
    if (len == 0) return s;
    if (whole <= JSON_SHORT_MAX) {
        char joined[JSON_SHORT_MAX];
        memcpy(joined, json_string_data(&s), old);
        memcpy(joined + old, tail, len);
        return json_string_valid(joined, whole);
    }
    if (json_tag(s) == JSON_TAG_STRING && s.heap->refs == 1) {
        return string_append_in_place(s, tail, len);
    }
    Json joined = heap_string(whole, whole + whole / 2 + 1);
    json_breathe_copy(((JsonStr *)joined.heap)->data, json_string_data(&s), old);
    json_breathe_copy(((JsonStr *)joined.heap)->data + old, tail, len);
    json_unref(s);
    return joined;
}

int json_string_compare(Json a, Json b) {
    size_t na = json_string_len(a), nb = json_string_len(b);
    int order = memcmp(json_string_data(&a), json_string_data(&b), na < nb ? na : nb);
    return order ? (order < 0 ? -1 : 1) : (na > nb) - (na < nb);
}

/* Short strings are kept in one form only, so a short one equals nothing but its own bits. */
bool json_string_equal(Json a, Json b) {
    if (json_identical(a, b)) return true;
    if (json_tag(a) != JSON_TAG_STRING || json_tag(b) != JSON_TAG_STRING) return false;
    const JsonStr *x = (const JsonStr *)a.heap, *y = (const JsonStr *)b.heap;
    return x->len == y->len && (x->hash == y->hash || !x->hash || !y->hash) &&
           memcmp(x->data, y->data, x->len) == 0;
}

bool json_string_is(Json s, const char *literal) {
    size_t len = strlen(literal);
    return json_kind(s) == JSON_STRING && json_string_len(s) == len &&
           memcmp(json_string_data(&s), literal, len) == 0;
}

/* ---- hash ---- */

static uint64_t hash_seed[2];

/* Before main, so that threads need not agree on who seeds. Where the kernel has no randomness the
 * seed is only hard to guess, which is better than not to start. */
__attribute__((constructor)) static void seed_hash(void) {
    if (getrandom(hash_seed, sizeof hash_seed, GRND_NONBLOCK) != (ssize_t)sizeof hash_seed) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        hash_seed[0] = (uint64_t)now.tv_nsec * 0x9E3779B97F4A7C15u;
        hash_seed[1] = (uint64_t)(uintptr_t)&now ^ (uint64_t)now.tv_sec << 32;
    }
    hash_seed[1] |= 1;
}

__extension__ typedef unsigned __int128 Wide;

/* Both halves of the product, so that every bit of either side reaches the result. */
static uint64_t fold(uint64_t a, uint64_t b) {
    Wide product = (Wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t finish(uint64_t h) {
    uint32_t hash = (uint32_t)(h ^ h >> 32);
    return hash ? hash : 1;
}

/* Only strings too long to be short ones come here, so the last words may overlap what went before
 * instead of being cut to size. */
static uint32_t hash_bytes(const char *s, size_t len) {
    const char *end = s + len;
    uint64_t h = hash_seed[0] ^ len;
    for (; end - s > 16; s += 16) h = fold(load(s) ^ hash_seed[1], load(s + 8) ^ h);
    h = fold(load(len < 16 ? s : end - 16) ^ hash_seed[1], load(end - 8) ^ h);
    return finish(fold(h, hash_seed[1]));
}

uint32_t json_string_hash(Json s) {
    if (json_tag(s) == JSON_TAG_SHORT_STRING) {
        return finish(fold(fold(s.head_ ^ hash_seed[1], s.word_ ^ hash_seed[0]), hash_seed[1]));
    }
    if (json_tag(s) != JSON_TAG_STRING) {
        return 1; /* finds nothing: no key is equal to it */
    }
    JsonStr *str = (JsonStr *)s.heap;
    if (!str->hash) str->hash = hash_bytes(str->data, str->len);
    return str->hash;
}

/* ---- size ---- */

uint64_t json_heap_size_(Json j) {
    if (json_tag(j) < JSON_TAG_ARRAY) return string_size(((const JsonStr *)j.heap)->len);
    if (json_tag(j) == JSON_TAG_OBJECT && object_is_big(j)) {
        const JsonBigObject *o = (const JsonBigObject *)j.heap;
        enum { INDEX_BYTES_PER_ENTRY = 12 };
        return sizeof *o + o->entries->bytes + (uint64_t)o->live * INDEX_BYTES_PER_ENTRY;
    }
    return ((const JsonNode *)j.heap)->bytes;
}

/* ---- equality and order ---- */

/* A pair of containers that is being compared. Both are borrowed. */
typedef struct Frame {
    Json a, b;
    Json keys;               /* sorted, of two objects that are being ordered; else JSON_NONE */
    const JsonNode *ta, *tb; /* the items, or the entries of objects */
    const Json *run_a, *run_b;
    size_t at, left; /* place in ta; items left in the runs */
} Frame;

enum { FRAMES_AT_HAND = 8 };

typedef struct Walk {
    Frame *frames;
    size_t n, cap;
    size_t max_level; /* SIZE_MAX: no limit */
    bool ordered;     /* the sign of the result matters, not only whether it is 0 */
    bool too_deep;
    uint64_t work; /* what may still be done; an end that comes from its lack is told by 0 */
    Frame at_hand[FRAMES_AT_HAND];
} Walk;

/* Whether a value of this depth at this level stays within the limit, so that it need not be walked
 * when both sides hold it. */
static bool fits(const Walk *w, const JsonHeap *heap, size_t level) {
    return w->max_level == SIZE_MAX ||
           (heap->depth < UINT16_MAX && level + heap->depth <= w->max_level + 1);
}

static const JsonNode *tree_of(Json j) {
    return json_tag(j) == JSON_TAG_ARRAY ? (const JsonNode *)j.heap : object_entries(j);
}

static Frame *push_frame(Walk *w, Json a, Json b) {
    if (w->n == w->cap) {
        bool first = w->frames == w->at_hand;
        w->frames = mem_realloc(first ? NULL : w->frames, 2 * w->cap * sizeof *w->frames);
        if (first) memcpy(w->frames, w->at_hand, sizeof w->at_hand);
        w->cap *= 2;
    }
    Frame *f = &w->frames[w->n++];
    *f = (Frame){.a = a, .b = b, .ta = tree_of(a), .tb = tree_of(b)};
    return f;
}

static void spend(Walk *w, uint64_t units) {
    w->work = w->work > units ? w->work - units : 0;
}

static int compare_key_lists(Json a, Json b) {
    size_t na = json_array_len(a), nb = json_array_len(b), n = na < nb ? na : nb;
    for (size_t i = 0; i < n; i++) {
        int order = json_string_compare(json_array_get(a, i), json_array_get(b, i));
        if (order) return order;
    }
    return (na > nb) - (na < nb);
}

static int open_containers(Walk *w, Json a, Json b) {
    size_t level = w->n;
    if (level > w->max_level) {
        w->too_deep = true;
        return 1;
    }
    if (a.heap == b.heap && fits(w, a.heap, level)) return 0;
    bool array = json_tag(a) == JSON_TAG_ARRAY;
    if (w->ordered && !array) {
        spend(w, 4 + json_object_len(a) + json_object_len(b));
        Json keys_a = json_object_keys(a, true), keys_b = json_object_keys(b, true);
        int order = compare_key_lists(keys_a, keys_b);
        json_unref(keys_b);
        if (order) {
            json_unref(keys_a);
            return order;
        }
        push_frame(w, a, b)->keys = keys_a;
        return 0;
    }
    if (!w->ordered && (array ? json_array_len(a) != json_array_len(b)
                              : json_object_len(a) != json_object_len(b))) {
        return 1;
    }
    push_frame(w, a, b);
    return 0;
}

static int meet_strings(Walk *w, Json a, Json b) {
    enum { BYTES_PER_UNIT = 256 };
    if (json_identical(a, b)) return 0;
    if (json_tag(a) == JSON_TAG_STRING && json_tag(b) == JSON_TAG_STRING) {
        size_t na = json_string_len(a), nb = json_string_len(b);
        spend(w, w->ordered || na == nb ? (na < nb ? na : nb) / BYTES_PER_UNIT : 0);
    }
    return w->ordered ? json_string_compare(a, b) : !json_string_equal(a, b);
}

/* 0 when they are equal as far as it is known; containers are left on the stack. */
static int meet(Walk *w, Json a, Json b) {
    JsonKind kind = json_kind(a), other = json_kind(b);
    if (kind != other) return kind < other ? -1 : 1;
    switch (kind) {
    case JSON_NUMBER:
        return json_tag(a) == JSON_TAG_INT && json_tag(b) == JSON_TAG_INT
                   ? (a.i > b.i) - (a.i < b.i)
                   : json_number_compare(a, b);
    case JSON_STRING: return meet_strings(w, a, b);
    case JSON_ARRAY:
    case JSON_OBJECT: return open_containers(w, a, b);
    default: return 0;
    }
}

static void skip_shared(const Walk *w, Frame *f) {
    if (fits(w, f->a.heap, w->n - 1) || fits(w, f->b.heap, w->n - 1)) {
        f->at += node_shared(f->ta, f->at, f->tb, f->at);
    }
}

typedef enum Step { STEP_PAIR, STEP_END, STEP_DIFFERS } Step;

static Step next_in_arrays(const Walk *w, Frame *f, Json *x, Json *y, int *result) {
    if (f->left == 0) {
        size_t na, nb;
        skip_shared(w, f);
        f->run_a = node_run(f->ta, f->at, &na);
        f->run_b = node_run(f->tb, f->at, &nb);
        f->left = na < nb ? na : nb;
    }
    if (f->left == 0) {
        size_t na = node_count(f->ta), nb = node_count(f->tb);
        *result = (na > nb) - (na < nb);
        return *result ? STEP_DIFFERS : STEP_END;
    }
    *x = *f->run_a++;
    *y = *f->run_b++;
    f->at++;
    f->left--;
    return STEP_PAIR;
}

static Step next_by_keys(Frame *f, Json *x, Json *y) {
    Json key = json_array_get(f->keys, f->at++);
    if (json_is_none(key)) return STEP_END;
    *x = json_object_get(f->a, key);
    *y = json_object_get(f->b, key);
    return STEP_PAIR;
}

static Step next_in_objects(const Walk *w, Frame *f, Json *x, Json *y, int *result) {
    Json key = json_none();
    while (json_is_none(key)) {
        if (f->left == 0) {
            skip_shared(w, f);
            f->run_a = node_run(f->ta, f->at, &f->left);
        }
        if (f->left == 0) return STEP_END;
        key = f->run_a[0];
        *x = f->run_a[1];
        /* The value of b is at the same place if the objects were made alike. */
        bool alike = f->at < node_count(f->tb) && json_identical(node_get(f->tb, f->at), key);
        *y = json_is_none(key) ? key
             : alike           ? node_get(f->tb, f->at + 1)
                               : json_object_get(f->b, key);
        f->run_a += 2;
        f->left -= 2;
        f->at += 2;
    }
    *result = 1;
    return json_is_none(*y) ? STEP_DIFFERS : STEP_PAIR;
}

static void walk_init(Walk *w, size_t max_level, bool ordered) {
    w->frames = w->at_hand;
    w->n = 0;
    w->cap = FRAMES_AT_HAND;
    w->max_level = max_level;
    w->ordered = ordered;
    w->too_deep = false;
    w->work = UINT64_MAX;
}

static int walk(Walk *w, Json a, Json b) {
    int result = meet(w, a, b);
    while (w->n && !result && w->work) {
        Json x, y;
        Frame *f = &w->frames[w->n - 1];
        spend(w, 1);
        json_breathe();
        Step step = !json_is_none(f->keys)             ? next_by_keys(f, &x, &y)
                    : json_tag(f->a) == JSON_TAG_ARRAY ? next_in_arrays(w, f, &x, &y, &result)
                                                       : next_in_objects(w, f, &x, &y, &result);
        if (step == STEP_PAIR) {
            result = meet(w, x, y);
        } else if (step == STEP_END) {
            json_clear(&w->frames[--w->n].keys);
            result = 0;
        }
    }
    while (w->n) json_clear(&w->frames[--w->n].keys);
    if (w->frames != w->at_hand) mem_free(w->frames);
    return result;
}

bool json_equal(Json a, Json b) {
    Walk w;
    walk_init(&w, SIZE_MAX, false);
    return walk(&w, a, b) == 0;
}

int json_compare(Json a, Json b) {
    Walk w;
    walk_init(&w, SIZE_MAX, true);
    return walk(&w, a, b);
}

/* False when that takes more than may be done, or more levels. */
static bool order_within(Json a, Json b, int max_depth, bool ordered, uint64_t *work, int *order) {
    Walk w;
    walk_init(&w, (size_t)max_depth, ordered);
    w.work = *work;
    *order = walk(&w, a, b);
    *work = w.work;
    return !w.too_deep && w.work;
}

bool json_equal_working(Json a, Json b, int max_depth, uint64_t *work, bool *result) {
    int order;
    bool known = order_within(a, b, max_depth, false, work, &order);
    if (known) *result = order == 0;
    return known;
}

bool json_compare_working(Json a, Json b, int max_depth, uint64_t *work, int *result) {
    int order;
    bool known = order_within(a, b, max_depth, true, work, &order);
    if (known) *result = order;
    return known;
}
