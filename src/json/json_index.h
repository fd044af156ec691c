/* json_index.h - from a key's hash to its place in a large object. Internal to json/.
 *
 * A persistent trie over the 32 bits of the hash, five bits a level from the top. A slot holds
 * either a child or an entry: hash in the upper half, place in the lower. Entries whose hashes
 * are the same in all bits share a node below the last level. The index never looks at keys: the
 * caller compares those of the few entries that index_find() offers.
 *
 * Nodes are counted and copied when shared, edited in place when not. NULL is the empty index.
 */
#ifndef PAWL_JSON_INDEX_H
#define PAWL_JSON_INDEX_H

#include <stddef.h>
#include <stdint.h>

typedef struct JsonIndex JsonIndex;

static inline uint64_t index_entry(uint32_t hash, uint32_t place) {
    return (uint64_t)hash << 32 | place;
}

static inline uint32_t index_place(uint64_t entry) {
    return (uint32_t)entry;
}

/* From entries in ascending order. */
JsonIndex *index_build(const uint64_t *entries, size_t n);
JsonIndex *index_ref(JsonIndex *t);
void index_unref(JsonIndex *t);
/* Entries with just this hash: how many, and *entries where they are (borrowed). */
size_t index_find(const JsonIndex *t, uint32_t hash, const uint64_t **entries);
JsonIndex *index_add(JsonIndex *t, uint64_t entry);    /* consumes t */
JsonIndex *index_remove(JsonIndex *t, uint64_t entry); /* consumes t; the entry must be there */

#endif
