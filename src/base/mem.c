#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *check(void *p, size_t size) {
    if (!p) {
        fprintf(stderr, "pawl: out of memory (asked for %zu bytes)\n", size);
        abort();
    }
    return p;
}

void *mem_alloc(size_t size) {
    return check(malloc(size ? size : 1), size);
}

void *mem_zalloc(size_t size) {
    return check(calloc(1, size ? size : 1), size);
}

void *mem_realloc(void *p, size_t size) {
    return check(realloc(p, size ? size : 1), size);
}

char *mem_strndup(const char *s, size_t len) {
    char *copy = mem_alloc(len + 1);
    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *mem_strdup(const char *s) {
    return s ? mem_strndup(s, strlen(s)) : NULL;
}

void mem_free(void *p) {
    free(p);
}

void *mem_grow(void *items, size_t len, size_t *cap, size_t item_size) {
    if (len < *cap) return items;
    *cap = *cap ? *cap * 2 : 16;
    return mem_realloc(items, *cap * item_size);
}
