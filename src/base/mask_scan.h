/* mask_scan.h - how a text is looked through for secrets (mask.h), without a C library: the supervisor does so, too.
 *
 * A table is a list of patterns, sorted by their first four bytes. A text is looked through from front to back: where
 * the four bytes at a place are those of a pattern (a bit in `firsts` says whether they may be), the patterns that
 * begin so are compared. A match covers its bytes; a place is decided once no pattern that begins there can go on
 * behind the end of what is known.
 */
#ifndef PAWL_MASK_SCAN_H
#define PAWL_MASK_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MASK_TEXT "***"

enum {
    MASK_FIRST = 4, /* bytes that a pattern is found by */
    MASK_HASH_BITS = 16,
    MASK_FIRSTS = 1 << (MASK_HASH_BITS - 3),
    MASK_WRAPPED = 3, /* a pattern takes at most so many times its bytes in a text */
};

typedef struct MaskPattern {
    uint32_t first;
    uint32_t at, len; /* in the bytes of all */
    uint32_t wraps;   /* 1: base64; there may be line breaks in it */
} MaskPattern;

typedef struct MaskTable {
    const MaskPattern *patterns;
    size_t n;
    const char *bytes;
    const uint8_t *firsts; /* MASK_FIRSTS */
} MaskTable;

/* A table as it is told to another process: this, the patterns, their bytes. */
typedef struct MaskHead {
    uint32_t n, longest;
} MaskHead;

static inline uint32_t mask_first(const char *bytes) {
    return (uint32_t)(unsigned char)bytes[0] | (uint32_t)(unsigned char)bytes[1] << 8 |
           (uint32_t)(unsigned char)bytes[2] << 16 | (uint32_t)(unsigned char)bytes[3] << 24;
}

static inline uint32_t mask_hash(uint32_t first) {
    return first * 0x9E3779B1u >> (32 - MASK_HASH_BITS);
}

static inline void mask_note_first(uint8_t *firsts, uint32_t first) {
    uint32_t bit = mask_hash(first);
    firsts[bit >> 3] = (uint8_t)(firsts[bit >> 3] | 1u << (bit & 7));
}

/* ---- one place ---- */

typedef enum MaskFound { MASK_NOT, MASK_MAYBE, MASK_FOUND } MaskFound;

/* Whether the text begins with the pattern; *len is how much of the text it then takes. MAYBE: the text ends first.
 * Lines of base64 may be parted as they are, or as a string of JSON has it (\n), and be indented or quoted (>). */
static inline MaskFound mask_compare(const char *bytes, const MaskPattern *p, const char *text,
                                     size_t n, size_t *len) {
    size_t at = 0, i = 0;
    bool parted = false;
    while (i < p->len && at < n) {
        char c = text[at];
        if (c == bytes[p->at + i]) {
            i++;
            at++;
            parted = false;
            continue;
        }
        if (!p->wraps || !i || at >= MASK_WRAPPED * (size_t)p->len) return MASK_NOT;
        if (c == '\\') {
            if (at + 1 == n) break;
            if (text[at + 1] != 'n' && text[at + 1] != 'r') return MASK_NOT;
            at++;
        } else if (!(c == '\n' && text[at - 1] != '\n') && !(c == '\r' && text[at - 1] != '\r') &&
                   !(parted && (c == ' ' || c == '\t' || c == '>'))) {
            return MASK_NOT;
        }
        at++;
        parted = true;
    }
    *len = at;
    return i == p->len ? MASK_FOUND : MASK_MAYBE;
}

/* What begins where MASK_FIRST bytes are known: the longest match is in *len, and MAYBE there is a longer one. */
static inline MaskFound mask_look_at(const MaskTable *t, const char *text, size_t n, size_t *len) {
    uint32_t first = mask_first(text);
    bool maybe = false;
    size_t low = 0, high = t->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->patterns[middle].first < first) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *len = 0;
    for (; low < t->n && t->patterns[low].first == first; low++) {
        size_t one = 0;
        MaskFound found = mask_compare(t->bytes, &t->patterns[low], text, n, &one);
        if (found == MASK_FOUND && one > *len) *len = one;
        maybe = maybe || found == MASK_MAYBE;
    }
    return maybe ? MASK_MAYBE : *len ? MASK_FOUND : MASK_NOT;
}

/* The same where fewer are known: whether a pattern may begin there. */
static inline bool mask_may_begin(const MaskTable *t, const char *text, size_t n) {
    for (size_t i = 0; i < t->n; i++) {
        const char *bytes = t->bytes + t->patterns[i].at;
        size_t k = 0;
        while (k < n && bytes[k] == text[k]) k++;
        if (k == n) return true;
    }
    return false;
}

/* ---- a text ---- */

/* A text that is looked through, and where that has come to. */
typedef struct MaskScan {
    const char *text;
    size_t len, at;
    size_t covered; /* up to here bytes belong to a secret */
    size_t passed;  /* bytes up to here are out, or hidden */
    bool hiding;    /* the byte before did belong to one */
    bool found;
    void (*emit)(void *ctx, const char *bytes, size_t len);
    void *ctx;
} MaskScan;

/* What was passed goes out. */
static inline void mask_pass(MaskScan *s, size_t to) {
    while (s->passed < to) {
        if (s->passed < s->covered) {
            if (!s->hiding) s->emit(s->ctx, MASK_TEXT, sizeof MASK_TEXT - 1);
            s->hiding = true;
            s->passed = s->covered < to ? s->covered : to;
        } else {
            s->emit(s->ctx, s->text + s->passed, to - s->passed);
            s->passed = to;
            s->hiding = false;
        }
    }
}

/* Stops where more has to be known; with `last` there is no more. */
static inline void mask_scan(const MaskTable *t, MaskScan *s, bool last) {
    while (s->at + MASK_FIRST <= s->len) {
        uint32_t bit = mask_hash(mask_first(s->text + s->at));
        if (t->firsts[bit >> 3] >> (bit & 7) & 1) {
            size_t len = 0;
            MaskFound found = mask_look_at(t, s->text + s->at, s->len - s->at, &len);
            if (found == MASK_MAYBE && !last) break;
            if (len && s->at + len > s->covered) {
                mask_pass(s, s->at); /* with what was covered so far */
                s->covered = s->at + len;
                s->found = true;
            }
        }
        s->at++;
    }
    while (s->at < s->len && s->at + MASK_FIRST > s->len &&
           (last || !mask_may_begin(t, s->text + s->at, s->len - s->at))) {
        s->at++;
    }
    mask_pass(s, s->at);
}

#endif
