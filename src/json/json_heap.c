#include "json_heap.h"

#include "json.h"
#include "json_breath.h"
#include "mem.h"

#include <string.h>

_Thread_local JsonBreath json_breath __attribute__((tls_model("initial-exec")));

void json_breathe_copy(char *to, const char *from, size_t len) {
    for (size_t at = 0, n; at < len; at += n) {
        n = len - at < JSON_BREATH_BYTES ? len - at : JSON_BREATH_BYTES;
        memcpy(to + at, from + at, n);
        if (json_breath.fn && at + n < len) json_breath.fn(json_breath.ctx);
    }
}

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
