#include "utf8.h"

/* How a lead byte continues: length of the sequence and the range its second byte must be in.
 * The narrow ranges keep out overlong forms, surrogates and what lies past U+10FFFF. */
typedef struct Lead {
    uint8_t len, lo, hi;
} Lead;

static Lead lead_of(unsigned char c) {
    if (c < 0x80) return (Lead){1, 0, 0};
    if (c < 0xC2 || c > 0xF4) return (Lead){0, 0, 0};
    if (c < 0xE0) return (Lead){2, 0x80, 0xBF};
    if (c < 0xF0) return (Lead){3, c == 0xE0 ? 0xA0 : 0x80, c == 0xED ? 0x9F : 0xBF};
    return (Lead){4, c == 0xF0 ? 0x90 : 0x80, c == 0xF4 ? 0x8F : 0xBF};
}

size_t utf8_decode(const char *s, const char *end, int32_t *cp) {
    static const uint8_t mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const unsigned char *p = (const unsigned char *)s;
    size_t room = (size_t)(end - s);
    Lead lead = lead_of(p[0]);
    *cp = -1;
    if (lead.len == 0) return 1;
    int32_t value = p[0] & mask[lead.len];
    for (size_t i = 1; i < lead.len; i++) {
        unsigned char lo = i == 1 ? lead.lo : 0x80, hi = i == 1 ? lead.hi : 0xBF;
        if (i >= room || p[i] < lo || p[i] > hi) return i;
        value = (value << 6) | (p[i] & 0x3F);
    }
    *cp = value;
    return lead.len;
}

size_t utf8_encode(int32_t cp, char *out) {
    if (cp < 0 || cp > UTF8_MAX || (cp >= 0xD800 && cp <= 0xDFFF)) cp = UTF8_REPLACEMENT;
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | (cp >> 6));
        out[1] = (char)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | (cp >> 12));
        out[1] = (char)(0x80 | ((cp >> 6) & 0x3F));
        out[2] = (char)(0x80 | (cp & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | (cp >> 18));
    out[1] = (char)(0x80 | ((cp >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((cp >> 6) & 0x3F));
    out[3] = (char)(0x80 | (cp & 0x3F));
    return 4;
}

static bool ascii8(const char *s) {
    uint64_t word;
    memcpy(&word, s, 8);
    return (word & 0x8080808080808080ull) == 0;
}

/* The same of 1 to 7 bytes, which most keys end in. Loads overlap. */
static bool ascii_rest(const char *s, size_t n) {
    if (n < 4) return !((s[0] | s[n / 2] | s[n - 1]) & 0x80);
    uint32_t first, last;
    memcpy(&first, s, 4);
    memcpy(&last, s + n - 4, 4);
    return ((first | last) & 0x80808080u) == 0;
}

size_t utf8_valid_prefix(const char *s, size_t len) {
    const char *p = s, *end = s + len;
    while (p < end) {
        size_t left = (size_t)(end - p), n = left < 8 ? left : 8;
        if (n < 8 ? !ascii_rest(p, n) : !ascii8(p)) {
            int32_t cp;
            n = utf8_decode(p, end, &cp);
            if (cp < 0) break;
        }
        p += n;
    }
    return (size_t)(p - s);
}

void utf8_repair(Buf *b, const char *s, size_t len) {
    const char *end = s + len;
    while (s < end) {
        size_t good = utf8_valid_prefix(s, (size_t)(end - s));
        buf_add(b, s, good);
        s += good;
        if (s < end) {
            int32_t cp;
            s += utf8_decode(s, end, &cp);
            buf_add(b, "\xEF\xBF\xBD", 3);
        }
    }
}

size_t utf8_length(const char *s, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++) n += !utf8_is_inside(s[i]);
    return n;
}

size_t utf8_offset(const char *s, size_t len, size_t n) {
    size_t i = 0;
    while (i < len && n > 0) {
        n--;
        do {
            i++;
        } while (i < len && utf8_is_inside(s[i]));
    }
    return i;
}

size_t utf8_unfinished(const char *s, size_t len) {
    for (size_t back = 1; back < UTF8_BYTES_MAX && back <= len; back++) {
        const char *at = s + len - back;
        int32_t cp;
        if (utf8_is_inside(*at)) continue;
        bool plausible = utf8_decode(at, s + len, &cp) == back;
        return plausible && lead_of((unsigned char)*at).len > back ? back : 0;
    }
    return 0;
}

void utf8_pieces_add(Utf8Pieces *pieces, const char *piece, size_t len, Buf *out) {
    size_t from = out->len;
    buf_add(out, pieces->pending, pieces->npending);
    buf_add(out, piece, len);
    pieces->npending = out->len > from ? utf8_unfinished(out->data + from, out->len - from) : 0;
    if (pieces->npending) {
        memcpy(pieces->pending, out->data + out->len - pieces->npending, pieces->npending);
        out->len -= pieces->npending;
        out->data[out->len] = '\0';
    }
}

void utf8_pieces_end(Utf8Pieces *pieces, Buf *out) {
    buf_add(out, pieces->pending, pieces->npending);
    pieces->npending = 0;
}

bool utf8_is_space(int32_t cp) {
    return (cp >= 0x09 && cp <= 0x0D) || cp == 0x20 || cp == 0x85 || cp == 0xA0 || cp == 0x1680 ||
           (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 || cp == 0x202F ||
           cp == 0x205F || cp == 0x3000;
}
