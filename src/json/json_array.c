#include "json.h"
#include "json_tree.h"

static const JsonNode *tree(Json a) {
    return (const JsonNode *)heap_of(a, JSON_TAG_ARRAY);
}

/* The tree to build on; consumes a. */
static JsonNode *own_tree(Json a) {
    if (json_tag(a) == JSON_TAG_ARRAY) return (JsonNode *)a.heap;
    json_unref(a);
    return node_leaf(0);
}

static Json array_over(JsonNode *t) {
    Json a = {.head_ = JSON_TAG_ARRAY};
    a.heap = &t->h;
    return a;
}

Json json_array(void) {
    enum { FIRST_CAP = 4 }; /* what is made empty is about to be pushed to */
    return array_over(node_leaf(FIRST_CAP));
}

Json json_array_from(Json *items, size_t n) {
    return array_over(node_from(items, n));
}

size_t json_array_len(Json a) {
    return node_count(tree(a));
}

Json json_array_get(Json a, size_t i) {
    const JsonNode *t = tree(a);
    return i < node_count(t) ? node_get(t, i) : json_none();
}

const Json *json_array_run(Json a, size_t i, size_t *n) {
    return node_run(tree(a), i, n);
}

Json json_array_push(Json a, Json v) {
    return array_over(node_push(own_tree(a), v));
}

Json json_array_set(Json a, size_t i, Json v) {
    JsonNode *t = own_tree(a);
    size_t len = node_count(t);
    if (i < len) return array_over(node_set(t, i, v));
    if (i > len) t = node_concat(t, node_nulls(i - len));
    return array_over(node_push(t, v));
}

Json json_array_concat(Json a, Json b) {
    return array_over(node_concat(own_tree(a), own_tree(b)));
}

Json json_array_slice(Json a, size_t from, size_t to) {
    size_t len = json_array_len(a);
    to = to < len ? to : len;
    from = from < to ? from : to;
    return array_over(node_slice(own_tree(a), from, to));
}

Json json_array_splice(Json a, size_t from, size_t to, Json b) {
    size_t len = json_array_len(a);
    from = from < len ? from : len;
    to = to < from ? from : to;
    Json tail = to < len ? json_array_slice(json_ref(a), to, len) : json_array_from(NULL, 0);
    Json head = json_array_slice(a, 0, from);
    return json_array_concat(json_array_concat(head, b), tail);
}

Json json_array_lift(Json *a, size_t i) {
    if (i >= json_array_len(*a)) return json_none();
    JsonNode *t = (JsonNode *)a->heap;
    Json v = node_lift(&t, i);
    *a = array_over(t);
    return v;
}
