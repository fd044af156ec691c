#include "json_index.h"

#include "json_heap.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum { LEVELS = 7 }; /* 6 of five bits and one of two; below are entries of one and the same hash */

struct JsonIndex {
    uint32_t refs;
    uint32_t used; /* which of the 32 slots of a level are there; unused below the last level */
    uint32_t kids; /* which of those are children */
    uint32_t n;    /* slots in use */
    uint32_t cap;
    uint64_t slots[];
};

static uint32_t slot_bit(uint64_t entry, int level) {
    uint32_t hash = (uint32_t)(entry >> 32);
    return 1u << ((uint32_t)(hash << (5 * level)) >> 27);
}

static uint32_t count_bits(uint32_t x) {
    x -= (x >> 1) & 0x55555555u;
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    x = (x + (x >> 4)) & 0x0F0F0F0Fu;
    return (x * 0x01010101u) >> 24;
}

static uint32_t slot_of(const JsonIndex *t, uint32_t bit) {
    return count_bits(t->used & (bit - 1));
}

static JsonIndex *child(uint64_t slot) {
    return (JsonIndex *)(uintptr_t)slot;
}

static uint64_t as_slot(const JsonIndex *t) {
    return (uint64_t)(uintptr_t)t;
}

static size_t node_size(uint32_t cap) {
    return sizeof(JsonIndex) + cap * sizeof(uint64_t);
}

static JsonIndex *node_new(uint32_t cap) {
    JsonIndex *t = json_heap_alloc(node_size(cap));
    *t = (JsonIndex){.refs = 1, .cap = cap};
    return t;
}

JsonIndex *index_ref(JsonIndex *t) {
    if (t) t->refs++;
    return t;
}

/* Runs over the slots that hold children. */
#define FOR_EACH_KID(t, slot)                                                                  \
    for (uint32_t rest_ = (t)->kids, slot; rest_ && (slot = slot_of(t, rest_ & -rest_), true); \
         rest_ &= rest_ - 1)

void index_unref(JsonIndex *t) {
    if (!t || --t->refs > 0) return;
    FOR_EACH_KID(t, i) {
        index_unref(child(t->slots[i]));
    }
    json_heap_free(t, node_size(t->cap));
}

static JsonIndex *node_copy(JsonIndex *t, uint32_t cap) {
    JsonIndex *copy = node_new(cap);
    copy->used = t->used;
    copy->kids = t->kids;
    copy->n = t->n;
    memcpy(copy->slots, t->slots, t->n * sizeof *t->slots);
    FOR_EACH_KID(t, i) {
        child(t->slots[i])->refs++;
    }
    t->refs--;
    return copy;
}

static JsonIndex *node_own(JsonIndex *t) {
    return t->refs == 1 ? t : node_copy(t, t->n);
}

static JsonIndex *node_own_with_room(JsonIndex *t) {
    if (t->refs > 1) return node_copy(t, t->n + 1);
    if (t->n == t->cap) {
        uint32_t cap = t->n < 4 ? t->n + 1 : t->n + t->n / 4 + 1;
        t = json_heap_realloc(t, node_size(t->cap), node_size(cap));
        t->cap = cap;
    }
    return t;
}

static JsonIndex *insert_slot(JsonIndex *t, uint32_t at, uint64_t slot) {
    t = node_own_with_room(t);
    memmove(t->slots + at + 1, t->slots + at, (t->n - at) * sizeof *t->slots);
    t->slots[at] = slot;
    t->n++;
    return t;
}

static JsonIndex *remove_slot(JsonIndex *t, uint32_t at) {
    t = node_own(t);
    t->n--;
    memmove(t->slots + at, t->slots + at + 1, (t->n - at) * sizeof *t->slots);
    return t;
}

static JsonIndex *add_at(JsonIndex *t, uint64_t entry, int level) {
    if (level == LEVELS) return insert_slot(t, t->n, entry);
    uint32_t bit = slot_bit(entry, level), at = slot_of(t, bit);
    if (!(t->used & bit)) {
        t = insert_slot(t, at, entry);
        t->used |= bit;
        return t;
    }
    t = node_own(t);
    if (!(t->kids & bit)) {
        t->slots[at] = as_slot(add_at(node_new(2), t->slots[at], level + 1));
        t->kids |= bit;
    }
    t->slots[at] = as_slot(add_at(child(t->slots[at]), entry, level + 1));
    return t;
}

JsonIndex *index_add(JsonIndex *t, uint64_t entry) {
    return add_at(t ? t : node_new(4), entry, 0);
}

static JsonIndex *remove_at(JsonIndex *t, uint64_t entry, int level) {
    if (level == LEVELS) {
        for (uint32_t i = 0; i < t->n; i++) {
            if (t->slots[i] == entry) return remove_slot(t, i);
        }
        assert(!"the entry is in the index");
        return t;
    }
    uint32_t bit = slot_bit(entry, level), at = slot_of(t, bit);
    assert(t->used & bit);
    if (t->kids & bit) {
        t = node_own(t);
        t->slots[at] = as_slot(remove_at(child(t->slots[at]), entry, level + 1));
        /* A child that is left with one entry gives it to its parent, so that the trie does not stay
         * deep. */
        JsonIndex *kid = child(t->slots[at]);
        if (kid->n == 1 && kid->kids == 0) {
            t->slots[at] = kid->slots[0];
            t->kids &= ~bit;
            index_unref(kid);
        }
        return t;
    }
    assert(t->slots[at] == entry);
    t = remove_slot(t, at);
    t->used &= ~bit;
    return t;
}

JsonIndex *index_remove(JsonIndex *t, uint64_t entry) {
    return remove_at(t, entry, 0);
}

size_t index_find(const JsonIndex *t, uint32_t hash, const uint64_t **entries) {
    uint64_t probe = index_entry(hash, 0);
    if (!t) return 0;
    for (int level = 0; level < LEVELS; level++) {
        uint32_t bit = slot_bit(probe, level);
        if (!(t->used & bit)) return 0;
        const uint64_t *slot = &t->slots[slot_of(t, bit)];
        if (!(t->kids & bit)) {
            *entries = slot;
            return *slot >> 32 == hash;
        }
        t = child(*slot);
    }
    *entries = t->slots;
    return t->n;
}

/* Ascending entries of one node lie slot after slot, since levels take bits from the top. */
static JsonIndex *build_at(const uint64_t *entries, size_t n, int level) {
    JsonIndex *t = node_new(level == LEVELS ? (uint32_t)n : 32 < n ? 32 : (uint32_t)n);
    if (level == LEVELS) {
        memcpy(t->slots, entries, n * sizeof *entries);
        t->n = (uint32_t)n;
        return t;
    }
    for (size_t i = 0, run; i < n; i += run) {
        uint32_t bit = slot_bit(entries[i], level);
        for (run = 1; i + run < n && slot_bit(entries[i + run], level) == bit; run++) {}
        t->used |= bit;
        t->kids |= run > 1 ? bit : 0;
        t->slots[t->n++] = run > 1 ? as_slot(build_at(entries + i, run, level + 1)) : entries[i];
    }
    return t;
}

JsonIndex *index_build(const uint64_t *entries, size_t n) {
    return n ? build_at(entries, n, 0) : NULL;
}
