/* mem.h - memory that is always there.
 *
 * Running out of memory aborts with a sentence on stderr: the engine is durable, so a crash is a
 * restart. User input never gets that far, because everything that grows with it has a budget.
 */
#ifndef PAWL_MEM_H
#define PAWL_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_zalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_realloc(void *p, size_t size) __attribute__((returns_nonnull));
char *mem_strndup(const char *s, size_t len) __attribute__((malloc, returns_nonnull));
char *mem_strdup(const char *s); /* NULL for NULL */
void mem_free(void *p);

/* Makes room for one more element of a growing array: doubles *cap when len has reached it. */
void *mem_grow(void *items, size_t len, size_t *cap, size_t item_size);

#endif
