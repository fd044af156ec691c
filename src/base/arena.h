/* arena.h - memory with one named life.
 *
 * Everything allocated from an arena is released together by arena_free(); nothing is released
 * before. Used for what lives as long as its owner: a program's syntax and code, a request, a turn.
 * What outlives its arena is a JSON value or has a _free of its own. Memory is zeroed.
 */
#ifndef PAWL_ARENA_H
#define PAWL_ARENA_H

#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_new(void);
void arena_free(Arena *a); /* accepts NULL */
void *arena_alloc(Arena *a, size_t size) __attribute__((malloc, returns_nonnull));
char *arena_strndup(Arena *a, const char *s, size_t len);

#endif
