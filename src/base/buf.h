/* buf.h - a growing run of bytes.
 *
 * A Buf is a plain value; start it with BUF_INIT, end it with buf_clear() or take its memory with
 * buf_detach(). The bytes may hold NULs; after any buf_ call that adds, data[len] is '\0', so a
 * buffer of text can be printed as a C string. data is NULL while nothing was ever added.
 */
#ifndef PAWL_BUF_H
#define PAWL_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct Buf {
    char *data;
    size_t len;
    size_t cap; /* bytes that data can hold, the final NUL included */
} Buf;

#define BUF_INIT \
    { NULL, 0, 0 }

/* Room for `extra` more bytes (and the NUL); returns where they go. Write, then buf_advance(). */
char *buf_reserve(Buf *b, size_t extra);
void buf_clear(Buf *b);
char *buf_detach(Buf *b); /* gives the memory to the caller (mem_free); the buffer is empty again */
void buf_printf(Buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(Buf *b, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

static inline void buf_reset(Buf *b) {
    b->len = 0;
}

static inline void buf_advance(Buf *b, size_t n) {
    b->len += n;
    b->data[b->len] = '\0';
}

static inline void buf_add(Buf *b, const char *s, size_t n) {
    if (n) {
        memcpy(b->cap - b->len > n ? b->data + b->len : buf_reserve(b, n), s, n);
        buf_advance(b, n);
    }
}

static inline void buf_addc(Buf *b, char c) {
    buf_add(b, &c, 1);
}

static inline void buf_adds(Buf *b, const char *s) {
    buf_add(b, s, strlen(s));
}

#endif
