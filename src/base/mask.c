/* A mask is a list of patterns, sorted by their first four bytes. A text is looked through from front to back: where
 * the four bytes at a place are those of a pattern (a bit in `firsts` says whether they may be), the patterns that
 * begin so are compared. A match covers its bytes; a place is decided once no pattern that begins there can go on
 * behind the end of what is known. */
#include "mask.h"

#include "mem.h"

#include <stdint.h>
#include <stdlib.h>

enum {
    FIRST = 4, /* bytes that a pattern is found by */
    HASH_BITS = 16,
    TAIL_MIN = 16, /* of base64: one this long is also found from its fifth character on */
};

typedef struct Pattern {
    uint32_t first;
    char *bytes;
    size_t len;
    bool wraps; /* base64: there may be line breaks in it */
} Pattern;

struct Mask {
    Pattern *patterns;
    size_t n, cap;
    uint8_t firsts[1 << (HASH_BITS - 3)];
};

static uint32_t first_of(const char *bytes) {
    uint32_t first;
    memcpy(&first, bytes, FIRST);
    return first;
}

static uint32_t hash(uint32_t first) {
    return first * 0x9E3779B1u >> (32 - HASH_BITS);
}

Mask *mask_new(void) {
    return mem_zalloc(sizeof(Mask));
}

void mask_free(Mask *m) {
    if (!m) return;
    for (size_t i = 0; i < m->n; i++) {
        explicit_bzero(m->patterns[i].bytes, m->patterns[i].len);
        mem_free(m->patterns[i].bytes);
    }
    mem_free(m->patterns);
    mem_free(m);
}

/* ---- the ways to write a secret ---- */

static void add_pattern(Mask *m, const char *bytes, size_t len, bool wraps) {
    if (len < FIRST) return;
    Pattern new = {.first = first_of(bytes), .len = len, .wraps = wraps};
    size_t at = 0;
    for (; at < m->n && m->patterns[at].first <= new.first; at++) {
        const Pattern *p = &m->patterns[at];
        if (p->len == len && p->wraps == wraps && !memcmp(p->bytes, bytes, len)) return;
    }
    new.bytes = mem_strndup(bytes, len);
    m->patterns = mem_grow(m->patterns, m->n, &m->cap, sizeof *m->patterns);
    memmove(m->patterns + at + 1, m->patterns + at, (m->n - at) * sizeof *m->patterns);
    m->patterns[at] = new;
    m->n++;
    uint32_t bit = hash(new.first);
    m->firsts[bit >> 3] = (uint8_t)(m->firsts[bit >> 3] | 1u << (bit & 7));
}

static void add_buf(Mask *m, Buf *text) {
    add_pattern(m, text->data, text->len, false);
    if (text->data) explicit_bzero(text->data, text->len);
    buf_reset(text);
}

/* The characters that depend on the value alone, when it stands behind `before` bytes of a text (0 to 2 count)
 * that is encoded. */
static void add_base64(Mask *m, const char *value, size_t len, size_t before, const char *digits) {
    Buf text = BUF_INIT;
    size_t first = (8 * before + 5) / 6, end = 8 * (before + len) / 6;
    for (size_t i = first; i < end; i++) {
        unsigned digit = 0;
        for (size_t bit = 6 * i; bit < 6 * i + 6; bit++) {
            size_t at = bit - 8 * before;
            digit = digit << 1 | ((unsigned char)value[at >> 3] >> (7 - (at & 7)) & 1u);
        }
        buf_addc(&text, digits[digit]);
    }
    add_pattern(m, text.data, text.len, true);
    /* A line may end within the first four, by which a pattern is found. */
    if (text.len >= TAIL_MIN) add_pattern(m, text.data + FIRST, text.len - FIRST, true);
    explicit_bzero(text.data, text.len);
    buf_clear(&text);
}

static bool is_plain(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && strchr("-_.~", c));
}

/* also: characters that stay as they are besides letters, digits and -_.~ */
static void add_url(Mask *m, const char *value, size_t len, const char *also, const char *format) {
    Buf text = BUF_INIT;
    for (size_t i = 0; i < len; i++) {
        char c = value[i];
        if (is_plain(c) || (c && strchr(also, c))) {
            buf_addc(&text, c == ' ' ? '+' : c);
        } else {
            buf_printf(&text, format, (unsigned)(unsigned char)c);
        }
    }
    add_buf(m, &text);
    buf_clear(&text);
}

/* One character of UTF-8 as \uXXXX, or two of those; how many bytes it had. */
static size_t add_escaped(Buf *text, const char *s, size_t left) {
    unsigned char c = (unsigned char)*s;
    size_t n = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    uint32_t cp = n == 4 ? c & 0x07u : n == 3 ? c & 0x0Fu : c & 0x1Fu;
    n = n < left ? n : left;
    for (size_t i = 1; i < n; i++) cp = cp << 6 | ((unsigned char)s[i] & 0x3Fu);
    if (cp > 0xFFFF) {
        cp -= 0x10000;
        buf_printf(text, "\\u%04x\\u%04x", 0xD800u | cp >> 10, 0xDC00u | (cp & 0x3FFu));
    } else {
        buf_printf(text, "\\u%04x", cp);
    }
    return n;
}

static void add_json(Mask *m, const char *value, size_t len, bool ascii) {
    static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";
    Buf text = BUF_INIT;
    for (size_t i = 0; i < len;) {
        const char *escape = value[i] ? strchr(from, value[i]) : NULL;
        if (escape) {
            buf_addc(&text, '\\');
            buf_addc(&text, to[escape - from]);
            i++;
        } else if ((unsigned char)value[i] < 0x20 || value[i] == 0x7F) {
            buf_printf(&text, "\\u%04x", (unsigned)value[i++]);
        } else if (ascii && (unsigned char)value[i] >= 0x80) {
            i += add_escaped(&text, value + i, len - i);
        } else {
            buf_addc(&text, value[i++]);
        }
    }
    add_buf(m, &text);
    buf_clear(&text);
}

static void add_lines(Mask *m, const char *value, size_t len) {
    for (const char *at = value, *end = value + len; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        size_t line = (size_t)(stop - at);
        line -= line && at[line - 1] == '\r';
        if (line >= MASK_LINE_MIN) add_pattern(m, at, line, false);
        at = stop + (stop < end);
    }
}

void mask_add(Mask *m, const char *value, size_t len) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    if (len < MASK_MIN) return;
    add_pattern(m, value, len, false);
    add_lines(m, value, len);
    for (size_t before = 0; before < 3; before++) {
        char alphabet[65];
        memcpy(alphabet, digits, 62);
        for (const char *last = "+/\0-_\0"; *last; last += 3) {
            memcpy(alphabet + 62, last, 3);
            add_base64(m, value, len, before, alphabet);
        }
    }
    /* jq's @uri and Go; Python's quote(); JavaScript's encodeURIComponent(); forms. */
    for (const char *const *also = (const char *const[]){"", "/", "!'()*", " ", " *", NULL}; *also;
         also++) {
        add_url(m, value, len, *also, "%%%02X");
        add_url(m, value, len, *also, "%%%02x");
    }
    add_json(m, value, len, false);
    add_json(m, value, len, true);
}

/* ---- looking ---- */

typedef enum Found { FOUND_NOT, FOUND_MAYBE, FOUND } Found;

/* Whether the text begins with the pattern; *len is how much of the text it then takes. MAYBE: the text ends first. */
static Found compare(const Pattern *p, const char *text, size_t n, size_t *len) {
    if (!p->wraps) {
        size_t known = n < p->len ? n : p->len;
        if (memcmp(text, p->bytes, known) != 0) return FOUND_NOT;
        *len = p->len;
        return known == p->len ? FOUND : FOUND_MAYBE;
    }
    size_t at = 0, i = 0;
    for (; i < p->len && at < n; at++) {
        bool lf = text[at] == '\n' && at && text[at - 1] != '\n';
        bool cr = text[at] == '\r' && at && text[at - 1] != '\r' && text[at - 1] != '\n';
        if (text[at] == p->bytes[i]) {
            i++;
        } else if (!lf && !cr) {
            return FOUND_NOT;
        }
    }
    *len = at;
    return i == p->len ? FOUND : FOUND_MAYBE;
}

/* The first pattern that begins with these bytes, or would stand behind those. */
static size_t lower(const Mask *m, uint32_t first) {
    size_t low = 0, high = m->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->patterns[middle].first < first) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* What begins at a place where FIRST bytes are known: the longest match is in *len, and MAYBE there is a longer one. */
static Found look_at(const Mask *m, const char *text, size_t n, size_t *len) {
    uint32_t first = first_of(text);
    bool maybe = false;
    *len = 0;
    for (size_t i = lower(m, first); i < m->n && m->patterns[i].first == first; i++) {
        size_t one = 0;
        Found found = compare(&m->patterns[i], text, n, &one);
        if (found == FOUND && one > *len) *len = one;
        maybe = maybe || found == FOUND_MAYBE;
    }
    return maybe ? FOUND_MAYBE : *len ? FOUND : FOUND_NOT;
}

/* The same where fewer are known: whether a pattern may begin there. */
static bool may_begin(const Mask *m, const char *text, size_t n) {
    for (size_t i = 0; i < m->n; i++) {
        if (!memcmp(m->patterns[i].bytes, text, n)) return true;
    }
    return false;
}

/* A text that is looked through, and where that has come to. */
typedef struct Scan {
    const char *text;
    size_t len, at;
    size_t covered; /* up to here bytes belong to a secret */
    size_t passed;  /* bytes up to here are in out, or hidden */
    bool hiding;    /* the byte before did belong to one */
    bool found;
    Buf *out;
} Scan;

/* What was passed goes out. */
static void pass(Scan *s, size_t to) {
    while (s->passed < to) {
        if (s->passed < s->covered) {
            if (!s->hiding) buf_adds(s->out, MASK_TEXT);
            s->hiding = true;
            s->passed = s->covered < to ? s->covered : to;
        } else {
            buf_add(s->out, s->text + s->passed, to - s->passed);
            s->passed = to;
            s->hiding = false;
        }
    }
}

/* Stops where more has to be known; with `last` there is no more. */
static void scan(const Mask *m, Scan *s, bool last) {
    while (s->at + FIRST <= s->len) {
        uint32_t bit = hash(first_of(s->text + s->at));
        if (m->firsts[bit >> 3] >> (bit & 7) & 1) {
            size_t len = 0;
            Found found = look_at(m, s->text + s->at, s->len - s->at, &len);
            if (found == FOUND_MAYBE && !last) break;
            if (len && s->at + len > s->covered) {
                pass(s, s->at); /* with what was covered so far */
                s->covered = s->at + len;
                s->found = true;
            }
        }
        s->at++;
    }
    while (s->at < s->len && s->at + FIRST > s->len &&
           (last || !may_begin(m, s->text + s->at, s->len - s->at))) {
        s->at++;
    }
    pass(s, s->at);
}

/* ---- whole texts ---- */

/* How many bytes at the beginning are the end of a pattern. */
static size_t end_of_one(const Mask *m, const char *text, size_t len) {
    size_t most = 0;
    for (size_t i = 0; i < m->n; i++) {
        const Pattern *p = &m->patterns[i];
        size_t n = len < p->len - 1 ? len : p->len - 1;
        for (; n > most && n >= MASK_MIN; n--) {
            if (!memcmp(text, p->bytes + p->len - n, n)) most = n;
        }
    }
    return most;
}

bool mask_text(const Mask *m, const char *text, size_t len, unsigned cut, Buf *out) {
    size_t before = out->len;
    Scan s = {.text = text, .len = len, .out = out};
    if (cut & MASK_CUT_FRONT) s.covered = end_of_one(m, text, len);
    s.found = s.covered > 0;
    for (bool last = !(cut & MASK_CUT_BACK);; last = true) {
        scan(m, &s, last);
        if (s.at == len) break;
        if (len - s.at >= MASK_MIN) { /* the beginning of one, at the end of the text */
            s.covered = s.at = len;
            s.found = true;
            pass(&s, len);
            break;
        }
    }
    if (!s.found) {
        out->len = before;
        if (out->data) out->data[before] = '\0';
    }
    return s.found;
}

/* ---- streams ---- */

static void go_on(const Mask *m, MaskStream *stream, Scan *s, bool last) {
    s->covered = stream->covered;
    s->hiding = stream->hiding;
    scan(m, s, last);
    stream->covered = s->covered > s->at ? s->covered - s->at : 0;
    stream->hiding = s->hiding;
}

void mask_feed(const Mask *m, MaskStream *stream, const char *bytes, size_t len, Buf *out) {
    bool joined = stream->held.len > 0;
    if (joined) buf_add(&stream->held, bytes, len);
    Scan s = {.text = joined ? stream->held.data : bytes,
              .len = joined ? stream->held.len : len,
              .out = out};
    go_on(m, stream, &s, false);
    size_t rest = s.len - s.at;
    if (joined) {
        memmove(stream->held.data, stream->held.data + s.at, rest);
        stream->held.len = rest;
    } else {
        buf_add(&stream->held, bytes + s.at, rest);
    }
}

void mask_end(const Mask *m, MaskStream *stream, Buf *out) {
    Scan s = {.text = stream->held.data, .len = stream->held.len, .out = out};
    go_on(m, stream, &s, true);
    mask_stream_clear(stream);
}

void mask_stream_clear(MaskStream *stream) {
    if (stream->held.data) explicit_bzero(stream->held.data, stream->held.cap);
    buf_clear(&stream->held);
    *stream = (MaskStream){.held = BUF_INIT};
}
