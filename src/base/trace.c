#include "trace.h"

#include "ascii.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* "VV-" and so on: where the parts of a traceparent begin. */
enum { AT_TRACE = 3, AT_SPAN = 36, AT_FLAGS = 53, LENGTH = TRACE_TEXT - 1 };

void trace_hex(const uint8_t *id, size_t n, char *text) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        *text++ = digits[id[i] >> 4];
        *text++ = digits[id[i] & 15];
    }
    *text = '\0';
}

static bool is_lower_hex(char c) {
    return ascii_is_digit(c) || (c >= 'a' && c <= 'f');
}

bool trace_unhex(const char *text, size_t n, uint8_t *id) {
    for (size_t i = 0; i < 2 * n; i++) {
        if (!is_lower_hex(text[i])) return false;
    }
    for (size_t i = 0; i < n; i++) {
        id[i] = (uint8_t)(ascii_hex(text[2 * i]) << 4 | ascii_hex(text[2 * i + 1]));
    }
    return true;
}

static bool is_zero(const uint8_t *id, size_t n) {
    while (n && !id[n - 1]) n--;
    return !n;
}

bool trace_parse(const char *text, size_t len, TraceContext *out) {
    TraceContext t;
    uint8_t version;
    if (len < LENGTH || len > TRACE_FORWARD_MAX) return false;
    if (!trace_unhex(text, 1, &version) || version == 0xff) return false;
    if (version == 0 ? len != LENGTH : len > LENGTH && text[LENGTH] != '-') return false;
    if (text[AT_TRACE - 1] != '-' || text[AT_SPAN - 1] != '-' || text[AT_FLAGS - 1] != '-' ||
        !trace_unhex(text + AT_TRACE, TRACE_ID, t.trace) ||
        !trace_unhex(text + AT_SPAN, TRACE_SPAN, t.span) ||
        !trace_unhex(text + AT_FLAGS, 1, &t.flags)) {
        return false;
    }
    if (is_zero(t.trace, TRACE_ID) || is_zero(t.span, TRACE_SPAN)) return false;
    t.flags &= TRACE_SAMPLED; /* what others mean, nobody here knows */
    *out = t;
    return true;
}

void trace_print(const TraceContext *t, char text[TRACE_TEXT]) {
    memcpy(text, "00-", AT_TRACE);
    trace_hex(t->trace, TRACE_ID, text + AT_TRACE);
    text[AT_SPAN - 1] = '-';
    trace_hex(t->span, TRACE_SPAN, text + AT_SPAN);
    text[AT_FLAGS - 1] = '-';
    trace_hex(&t->flags, 1, text + AT_FLAGS);
}

bool trace_state_fits(const char *text, size_t len) {
    if (!len || len > TRACE_STATE_MAX) return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < ' ' || text[i] > '~') return false;
    }
    return true;
}

static void fill(uint8_t *id, size_t n) {
    do {
        if (getrandom(id, n, 0) != (ssize_t)n) abort(); /* so few bytes come at once or never */
    } while (is_zero(id, n));
}

void trace_new(TraceContext *out) {
    fill(out->trace, TRACE_ID);
    fill(out->span, TRACE_SPAN);
    out->flags = TRACE_SAMPLED;
}

/* The finalizer of splitmix64: every bit of what goes in changes half of those that come out. */
static uint64_t mixed(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t number_of(const uint8_t *bytes) {
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) n = n << 8 | bytes[i];
    return n;
}

void trace_child(const TraceContext *parent, const uint64_t *parts, size_t n, TraceContext *out) {
    uint64_t h = mixed(number_of(parent->trace));
    h = mixed(h ^ number_of(parent->trace + 8));
    h = mixed(h ^ number_of(parent->span));
    for (size_t i = 0; i < n; i++) h = mixed(h ^ parts[i]);
    if (!h) h = 1;
    *out = *parent;
    for (int i = TRACE_SPAN - 1; i >= 0; i--, h >>= 8) out->span[i] = (uint8_t)h;
}
