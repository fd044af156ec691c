#include "mask.h"

#include "mask_scan.h"
#include "mem.h"

#include <stdint.h>

enum {
    TAIL_MIN = 16, /* of base64: one this long is also found from its fifth character on */
};

struct Mask {
    MaskPattern *patterns;
    size_t n, cap;
    Buf bytes; /* of all of them */
    uint8_t firsts[MASK_FIRSTS];
};

Mask *mask_new(void) {
    return mem_zalloc(sizeof(Mask));
}

void mask_free(Mask *m) {
    if (!m) return;
    if (m->bytes.data) explicit_bzero(m->bytes.data, m->bytes.cap);
    buf_clear(&m->bytes);
    mem_free(m->patterns);
    mem_free(m);
}

Mask *mask_copy(const Mask *m) {
    Mask *copy = mem_alloc(sizeof *copy);
    *copy = *m;
    copy->patterns = mem_alloc((m->n ? m->n : 1) * sizeof *copy->patterns);
    if (m->n) memcpy(copy->patterns, m->patterns, m->n * sizeof *copy->patterns);
    copy->cap = m->n ? m->n : 1;
    copy->bytes = (Buf)BUF_INIT;
    buf_add(&copy->bytes, m->bytes.data, m->bytes.len);
    return copy;
}

/* ---- the ways to write a secret ---- */

/* Bytes that are moved to make room for more are wiped where they were. */
static uint32_t keep_bytes(Mask *m, const char *bytes, size_t len) {
    size_t at = m->bytes.len;
    if (m->bytes.cap - at <= len) {
        Buf larger = BUF_INIT;
        buf_reserve(&larger, 2 * (at + len));
        buf_add(&larger, m->bytes.data, at);
        if (m->bytes.data) explicit_bzero(m->bytes.data, m->bytes.cap);
        buf_clear(&m->bytes);
        m->bytes = larger;
    }
    buf_add(&m->bytes, bytes, len);
    return (uint32_t)at;
}

static void add_pattern(Mask *m, const char *bytes, size_t len, bool wraps) {
    if (len < MASK_FIRST) return;
    MaskPattern new = {.first = mask_first(bytes), .len = (uint32_t)len, .wraps = wraps};
    size_t at = 0;
    for (; at < m->n && m->patterns[at].first <= new.first; at++) {
        const MaskPattern *p = &m->patterns[at];
        if (p->len == len && p->wraps == new.wraps && !memcmp(m->bytes.data + p->at, bytes, len)) {
            return;
        }
    }
    new.at = keep_bytes(m, bytes, len);
    m->patterns = mem_grow(m->patterns, m->n, &m->cap, sizeof *m->patterns);
    memmove(m->patterns + at + 1, m->patterns + at, (m->n - at) * sizeof *m->patterns);
    m->patterns[at] = new;
    m->n++;
    mask_note_first(m->firsts, new.first);
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
    if (text.len >= TAIL_MIN) add_pattern(m, text.data + MASK_FIRST, text.len - MASK_FIRST, true);
    explicit_bzero(text.data, text.len);
    buf_clear(&text);
}

static bool is_plain(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && strchr("-_.~", c));
}

/* Each byte that is no letter, no digit, none of -_.~ and not in `also`; with NULL, each. */
static void add_url(Mask *m, const char *value, size_t len, const char *also, const char *format) {
    Buf text = BUF_INIT;
    for (size_t i = 0; i < len; i++) {
        char c = value[i];
        if (also && (is_plain(c) || (c && strchr(also, c)))) {
            buf_addc(&text, c == ' ' ? '+' : c);
        } else {
            buf_printf(&text, format, (unsigned)(unsigned char)c);
        }
    }
    add_buf(m, &text);
    buf_clear(&text);
}

/* One character of UTF-8 as \uXXXX, or two of those; how many bytes it had. */
static size_t add_escaped(Buf *text, const char *s, size_t left, bool upper) {
    unsigned char c = (unsigned char)*s;
    size_t n = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    uint32_t cp = n == 4 ? c & 0x07u : n == 3 ? c & 0x0Fu : c & 0x1Fu;
    n = n < left ? n : left;
    for (size_t i = 1; i < n; i++) cp = cp << 6 | ((unsigned char)s[i] & 0x3Fu);
    if (cp > 0xFFFF) {
        cp -= 0x10000;
        buf_printf(text, upper ? "\\u%04X\\u%04X" : "\\u%04x\\u%04x", 0xD800u | cp >> 10,
                   0xDC00u | (cp & 0x3FFu));
    } else {
        buf_printf(text, upper ? "\\u%04X" : "\\u%04x", cp);
    }
    return n;
}

/* How a string is escaped. */
enum {
    ESCAPE_QUOTES = 1,  /* JSON and C; repr() of Python chooses the other quotes */
    ESCAPE_ASCII = 2,   /* what is not ASCII */
    ESCAPE_SLASH = 4,   /* PHP */
    ESCAPE_HTML = 8,    /* Go */
    ESCAPE_UPPER = 16,  /* hexadecimal digits of Java and C# */
    ESCAPE_SINGLE = 32, /* repr() where both quotes are in it */
    ESCAPE_WAYS = 64,
};

static void add_escapes(const char *value, size_t len, unsigned how, Buf *text) {
    static const char from[] = "\\\n\r\t\b\f", to[] = "\\nrtbf";
    for (size_t i = 0; i < len;) {
        char c = value[i];
        const char *escape = c ? strchr(from, c) : NULL;
        if (escape) {
            buf_addc(text, '\\');
            buf_addc(text, to[escape - from]);
            i++;
        } else if ((c == '"' && how & ESCAPE_QUOTES) || (c == '/' && how & ESCAPE_SLASH) ||
                   (c == '\'' && how & ESCAPE_SINGLE)) {
            buf_addc(text, '\\');
            buf_addc(text, value[i++]);
        } else if ((unsigned char)c < 0x20 || c == 0x7F ||
                   (how & ESCAPE_HTML && c && strchr("<>&", c))) {
            buf_printf(text, how & ESCAPE_UPPER ? "\\u%04X" : "\\u%04x", (unsigned)value[i++]);
        } else if (how & ESCAPE_ASCII && (unsigned char)c >= 0x80) {
            i += add_escaped(text, value + i, len - i, how & ESCAPE_UPPER);
        } else {
            buf_addc(text, value[i++]);
        }
    }
}

/* Escaped in each way, and once more as a string of JSON in which the first is. */
static void add_strings(Mask *m, const char *value, size_t len) {
    Buf text = BUF_INIT, again = BUF_INIT;
    for (unsigned how = 0; how < ESCAPE_WAYS; how++) {
        add_escapes(value, len, how, &text);
        add_escapes(text.data, text.len, ESCAPE_QUOTES, &again);
        add_buf(m, &again);
        add_buf(m, &text);
    }
    buf_clear(&text);
    buf_clear(&again);
}

/* Where a text is quoted for a shell, or stands in HTML, some characters are replaced. */
typedef struct Replaced {
    char c;
    const char *by;
} Replaced;

static const Replaced quoted_single[] = {{'\'', "'\\''"}, {0}};
static const Replaced quoted_python[] = {{'\'', "'\"'\"'"}, {0}}; /* shlex.quote() */
static const Replaced quoted_html[] = {{'&', "&amp;"},  {'<', "&lt;"},   {'>', "&gt;"},
                                       {'"', "&quot;"}, {'\'', "&#39;"}, {0}};
static const Replaced quoted_python_html[] = {{'&', "&amp;"},  {'<', "&lt;"},    {'>', "&gt;"},
                                              {'"', "&quot;"}, {'\'', "&#x27;"}, {0}};
static const Replaced quoted_go_html[] = {{'&', "&amp;"}, {'<', "&lt;"},   {'>', "&gt;"},
                                          {'"', "&#34;"}, {'\'', "&#39;"}, {0}};
static const Replaced *const replaced[] = {quoted_single, quoted_python, quoted_html,
                                           quoted_python_html, quoted_go_html};

static void add_replaced(Mask *m, const char *value, size_t len) {
    Buf text = BUF_INIT;
    for (size_t k = 0; k < sizeof replaced / sizeof *replaced; k++) {
        for (size_t i = 0; i < len; i++) {
            const Replaced *r = replaced[k];
            while (r->c && r->c != value[i]) r++;
            if (r->c) {
                buf_adds(&text, r->by);
            } else {
                buf_addc(&text, value[i]);
            }
        }
        add_buf(m, &text);
    }
    /* bash: printf %q, set -x */
    for (size_t i = 0; i < len; i++) {
        char c = value[i];
        bool plain = is_plain(c) || (unsigned char)c >= 0x80 || (c && strchr("@%+=:,/", c));
        if (!plain) buf_addc(&text, '\\');
        buf_addc(&text, c);
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
        add_url(m, value, len, *also, "%%25%02X"); /* a URL inside of a URL */
        add_url(m, value, len, *also, "%%25%02x");
    }
    for (const char *const *digits_of =
             (const char *const[]){"%%%02X", "%%%02x", "%02X", "%02x", NULL};
         *digits_of; digits_of++) {
        add_url(m, value, len, NULL, *digits_of);
    }
    add_strings(m, value, len);
    add_replaced(m, value, len);
}

/* ---- looking ---- */

static MaskTable table_of(const Mask *m) {
    return (MaskTable){m->patterns, m->n, m->bytes.data, m->firsts};
}

static void emit(void *ctx, const char *bytes, size_t len) {
    buf_add(ctx, bytes, len);
}

/* ---- whole texts ---- */

/* How many bytes at the beginning are the end of a pattern. */
static size_t end_of_one(const Mask *m, const char *text, size_t len) {
    size_t most = 0;
    for (size_t i = 0; i < m->n; i++) {
        const MaskPattern *p = &m->patterns[i];
        size_t n = len < p->len - 1 ? len : p->len - 1;
        for (; n > most && n >= MASK_MIN; n--) {
            if (!memcmp(text, m->bytes.data + p->at + p->len - n, n)) most = n;
        }
    }
    return most;
}

bool mask_text(const Mask *m, const char *text, size_t len, unsigned cut, Buf *out) {
    size_t before = out->len;
    MaskTable table = table_of(m);
    MaskScan s = {.text = text, .len = len, .emit = emit, .ctx = out};
    if (cut & MASK_CUT_FRONT) s.covered = end_of_one(m, text, len);
    s.found = s.covered > 0;
    for (bool last = !(cut & MASK_CUT_BACK);; last = true) {
        mask_scan(&table, &s, last);
        if (s.at == len) break;
        if (len - s.at >= MASK_MIN) { /* the beginning of one, at the end of the text */
            s.covered = s.at = len;
            s.found = true;
            mask_pass(&s, len);
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

static void go_on(const Mask *m, MaskStream *stream, MaskScan *s, bool last) {
    MaskTable table = table_of(m);
    s->covered = stream->covered;
    s->hiding = stream->hiding;
    mask_scan(&table, s, last);
    stream->covered = s->covered > s->at ? s->covered - s->at : 0;
    stream->hiding = s->hiding;
}

void mask_feed(const Mask *m, MaskStream *stream, const char *bytes, size_t len, Buf *out) {
    bool joined = stream->held.len > 0;
    if (joined) buf_add(&stream->held, bytes, len);
    MaskScan s = {.text = joined ? stream->held.data : bytes,
                  .len = joined ? stream->held.len : len,
                  .emit = emit,
                  .ctx = out};
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
    MaskScan s = {.text = stream->held.data, .len = stream->held.len, .emit = emit, .ctx = out};
    go_on(m, stream, &s, true);
    mask_stream_clear(stream);
}

void mask_stream_clear(MaskStream *stream) {
    if (stream->held.data) explicit_bzero(stream->held.data, stream->held.cap);
    buf_clear(&stream->held);
    *stream = (MaskStream){.held = BUF_INIT};
}

/* ---- for another process ---- */

void mask_write(const Mask *m, Buf *out) {
    MaskHead head = {.n = (uint32_t)m->n};
    for (size_t i = 0; i < m->n; i++) {
        if (m->patterns[i].len > head.longest) head.longest = m->patterns[i].len;
    }
    buf_add(out, (const char *)&head, sizeof head);
    buf_add(out, (const char *)m->patterns, m->n * sizeof *m->patterns);
    buf_add(out, m->bytes.data, m->bytes.len);
}
