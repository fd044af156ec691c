#include "json_heap.h"

#include "json.h"
#include "mem.h"

/* One load and one add: this is on the path of every allocation. */
static _Thread_local size_t live_bytes __attribute__((tls_model("initial-exec")));

/* What malloc takes for itself with each block, rounding included: about this. Without it many
 * small values would count for half of what they cost. */
enum { OVERHEAD = 16 };

size_t json_heap_bytes(void) {
    return live_bytes;
}

void json_heap_move(size_t bytes) {
    live_bytes += bytes;
}

void *json_heap_alloc(size_t size) {
    live_bytes += size + OVERHEAD;
    return mem_alloc(size);
}

void *json_heap_realloc(void *p, size_t old_size, size_t size) {
    live_bytes += size - old_size;
    return mem_realloc(p, size);
}

void json_heap_free(void *p, size_t size) {
    live_bytes -= size + OVERHEAD;
    mem_free(p);
}
