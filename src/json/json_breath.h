/* json_breath.h - long work on large values lets others have the thread.
 *
 * Functions that walk over whole values call json_breathe() for each thing they come to. Whoever calls them on a fiber
 * (base/fiber.h) says what is done every some thousand times; without that it is a branch. Of this thread.
 */
#ifndef PAWL_JSON_BREATH_H
#define PAWL_JSON_BREATH_H

#include <stddef.h>

enum { JSON_BREATH = 2048, JSON_BREATH_BYTES = 1 << 20 };

typedef struct JsonBreath {
    void (*fn)(void *ctx); /* NULL: nothing is done */
    void *ctx;
    unsigned n;
} JsonBreath;

extern _Thread_local JsonBreath json_breath __attribute__((tls_model("initial-exec")));

static inline void json_breathe(void) {
    if (json_breath.fn && ++json_breath.n % JSON_BREATH == 0) json_breath.fn(json_breath.ctx);
}

/* A memcpy() of any length. */
void json_breathe_copy(char *to, const char *from, size_t len);

#endif
