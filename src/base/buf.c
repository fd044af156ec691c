#include "buf.h"

#include "mem.h"

#include <stdio.h>

char *buf_reserve(Buf *b, size_t extra) {
    size_t need = b->len + extra + 1;
    if (need > b->cap) {
        size_t cap = b->cap < 32 ? 64 : b->cap * 2;
        b->cap = cap < need ? need : cap;
        b->data = mem_realloc(b->data, b->cap);
    }
    return b->data + b->len;
}

void buf_clear(Buf *b) {
    mem_free(b->data);
    *b = (Buf)BUF_INIT;
}

char *buf_detach(Buf *b) {
    char *data = b->data ? b->data : mem_strndup("", 0);
    *b = (Buf)BUF_INIT;
    return data;
}

void buf_vprintf(Buf *b, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n > 0) {
        vsnprintf(buf_reserve(b, (size_t)n), (size_t)n + 1, fmt, again);
        buf_advance(b, (size_t)n);
    }
    va_end(again);
}

void buf_printf(Buf *b, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    buf_vprintf(b, fmt, args);
    va_end(args);
}
