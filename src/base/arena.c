#include "arena.h"

#include "mem.h"

#include <stdint.h>
#include <string.h>

typedef struct Chunk {
    struct Chunk *next;
    size_t size;
} Chunk;

struct Arena {
    Chunk *chunks;
    char *at;
    char *end;
};

enum { FIRST_CHUNK = 2048, LAST_CHUNK = 65536, ALIGN = 16 };

Arena *arena_new(void) {
    return mem_zalloc(sizeof(Arena));
}

void arena_free(Arena *a) {
    if (!a) return;
    for (Chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        mem_free(c);
    }
    mem_free(a);
}

static void add_chunk(Arena *a, size_t need) {
    size_t size = a->chunks ? a->chunks->size * 2 : FIRST_CHUNK;
    if (size > LAST_CHUNK) size = LAST_CHUNK;
    if (size < need) size = need;
    Chunk *c = mem_zalloc(sizeof(Chunk) + size);
    c->next = a->chunks;
    c->size = size;
    a->chunks = c;
    a->at = (char *)(c + 1);
    a->end = a->at + size;
}

void *arena_alloc(Arena *a, size_t size) {
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if ((size_t)(a->end - a->at) < size) add_chunk(a, size);
    void *p = a->at;
    a->at += size;
    return p;
}

char *arena_strndup(Arena *a, const char *s, size_t len) {
    char *copy = arena_alloc(a, len + 1);
    memcpy(copy, s, len);
    return copy;
}
