/* json_tree.h - the counted tree under arrays and large objects. Internal to json/.
 *
 * A JsonNode is a leaf of up to JSON_FANOUT values or an inner node of up to JSON_FANOUT
 * children that all have one level less. A small array *is* one leaf; a larger one is a tree
 * whose nodes know how many values and how many bytes are below them. Nodes are counted, so two
 * versions of a value share all nodes but those on the way to what differs.
 *
 * Nodes may be less than full anywhere (joining and cutting leave such seams), but two
 * neighbours that fit into one are merged where they meet, so the height stays O(log n).
 *
 * Recursion goes by level, at most about a dozen deep whatever the data.
 */
#ifndef PAWL_JSON_TREE_H
#define PAWL_JSON_TREE_H

#include "json.h"
#include "json_heap.h"

enum { JSON_FANOUT = 32 };

typedef struct JsonNode {
    JsonHeap h;          /* h.level is 0 in a leaf; h.n counts the values or children in use */
    uint64_t bytes : 56; /* as json_size(); saturates */
    uint64_t cap : 8;    /* values a leaf has room for */
    union {
        Json items[JSON_FANOUT]; /* leaf: only the first cap of them are allocated */
        struct {
            size_t count;             /* values below */
            size_t ends[JSON_FANOUT]; /* values in children 0..i */
            struct JsonNode *kids[JSON_FANOUT];
        } in;
    };
} JsonNode;

JsonNode *node_leaf(size_t cap);            /* empty, one reference */
JsonNode *node_from(Json *items, size_t n); /* moves the items; n may be 0 */
JsonNode *node_nulls(size_t n);             /* n nulls in O(log n) memory */
void node_unref(JsonNode *t);
const Json *node_run(const JsonNode *t, size_t i, size_t *n); /* see json_array_run() */
JsonNode *node_set(JsonNode *t, size_t i, Json v);            /* consumes t and v; i in range */
Json node_lift(JsonNode **t, size_t i);                       /* see json_array_lift() */
JsonNode *node_push(JsonNode *t, Json v);                     /* consumes both */
JsonNode *node_push_pair(JsonNode *t, Json key, Json v);      /* of a tree of pairs; consumes all */
JsonNode *node_concat(JsonNode *a, JsonNode *b);              /* consumes both */
JsonNode *node_slice(JsonNode *t, size_t from, size_t to);    /* consumes t; from <= to <= count */

/* How many values from a[i] and b[j] on are in nodes that both trees share: O(log n) for any
 * length. What follows may still be equal. node_shared_before() looks backwards from just before
 * i and j. */
size_t node_shared(const JsonNode *a, size_t i, const JsonNode *b, size_t j);
size_t node_shared_before(const JsonNode *a, size_t i, const JsonNode *b, size_t j);

/* Edits of one leaf, for small objects. A leaf that is shared is copied. */
JsonNode *leaf_own(JsonNode *t);
Json leaf_swap(JsonNode *t, size_t i, Json v); /* t is unshared; consumes v, gives what was there */
JsonNode *leaf_remove(JsonNode *t, size_t i, size_t n); /* consumes t */

static inline JsonNode *node_ref(JsonNode *t) {
    t->h.refs++;
    return t;
}

static inline size_t node_count(const JsonNode *t) {
    return t->h.level ? t->in.count : t->h.n;
}

/* The child that holds value *i; *i becomes the place in it. A child of level l - 1 holds at most
 * 32^l values, so the search starts at the answer when the children before it are full. */
static inline size_t node_child(const JsonNode *t, size_t *i) {
    size_t k = t->h.level <= 12 ? *i >> (5 * t->h.level) : 0;
    while (t->in.ends[k] <= *i) k++;
    *i -= k ? t->in.ends[k - 1] : 0;
    return k;
}

/* Borrowed; i must be in range. */
static inline Json node_get(const JsonNode *t, size_t i) {
    while (t->h.level) t = t->in.kids[node_child(t, &i)];
    return t->items[i];
}

/* An object with more than JSON_SMALL_OBJECT keys: entries in order of insertion (key, value,
 * key, value ...; a removed entry has JSON_NONE as its key until the tree is rebuilt) and an
 * index from the key's hash to its place. A smaller object is a leaf of pairs, searched in line. */
enum { JSON_SMALL_OBJECT = JSON_FANOUT / 2, JSON_BIG_LEVEL = 0xFF };

typedef struct JsonBigObject {
    JsonHeap h;    /* h.level is JSON_BIG_LEVEL, which tells it from a leaf */
    uint32_t live; /* entries in use */
    uint32_t dead; /* removed entries still in the tree */
    JsonNode *entries;
    struct JsonIndex *index;
} JsonBigObject;

/* What a reader finds in a value that is neither: a leaf without values. Nobody refers to it. */
extern const JsonNode node_nothing;

/* The tree or leaf of an array, the leaf or large object of an object; that of nothing where the value is
 * not of the type that was asked for. For readers. */
static inline const JsonHeap *heap_of(Json j, uint8_t tag) {
    return json_tag(j) == tag ? j.heap : &node_nothing.h;
}

static inline bool object_is_big(Json o) {
    return heap_of(o, JSON_TAG_OBJECT)->level == JSON_BIG_LEVEL;
}

/* The tree of (key, value) entries of any object. */
const JsonNode *object_entries(Json o);

#endif
