/* names.c - tables of names: open addressing, filled once. */
#include "loader.h"

static Json name_at(const NameTable *t, size_t i) {
    return *(const Json *)(const void *)(t->names + i * t->stride);
}

static uint32_t *slot_for(const NameTable *t, Json name) {
    size_t at = json_string_hash(name) & (t->nslots - 1);
    while (t->slots[at] && !json_string_equal(name_at(t, t->slots[at] - 1), name)) {
        at = (at + 1) & (t->nslots - 1);
    }
    return &t->slots[at];
}

void name_table_fill(NameTable *t, Arena *arena, const Json *first, size_t stride, size_t n) {
    t->names = (const char *)first;
    t->stride = stride;
    t->n = n;
    for (t->nslots = 4; t->nslots < 2 * n; t->nslots *= 2) {}
    t->slots = arena_alloc(arena, t->nslots * sizeof *t->slots);
    for (size_t i = 0; i < n; i++) {
        uint32_t *slot = slot_for(t, name_at(t, i));
        if (!*slot) *slot = (uint32_t)i + 1;
    }
}

int name_table_find(const NameTable *t, Json name) {
    if (!t->nslots || json_kind(name) != JSON_STRING) return -1;
    return (int)*slot_for(t, name) - 1;
}
