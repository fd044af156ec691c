/* json_heap.h - the one door to the heap for json/, which keeps count per thread. Internal to
 * json/. */
#ifndef PAWL_JSON_HEAP_H
#define PAWL_JSON_HEAP_H

#include <stddef.h>

void *json_heap_alloc(size_t size);
void *json_heap_realloc(void *p, size_t old_size, size_t size);
void json_heap_free(void *p, size_t size);

#endif
