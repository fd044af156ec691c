#include "json_print.h"

#include "json_tree.h"
#include "mem.h"
#include "utf8.h"

#include <stdint.h>
#include <stdio.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define SGR(code) "\x1b[" code "m"

const JsonColors json_default_colors = {
    .null = SGR("0;90"),
    .false_ = SGR("0;39"),
    .true_ = SGR("0;39"),
    .number = SGR("0;39"),
    .string = SGR("0;32"),
    .array = SGR("1;39"),
    .object = SGR("1;39"),
    .key = SGR("34;1"),
};

static const char color_end[] = SGR("0");

enum {
    BLOCK = 16,
    PIECE = 4096,       /* of a string, between two looks at the limits */
    FLUSH_AT = 1 << 15, /* bytes gathered before they go to a sink */
    SMALL_FRAMES = 24,
};

/* An open container and how far it is printed. */
typedef struct Frame {
    Json container;  /* borrowed */
    Json keys;       /* sorted; JSON_NONE when printing in order */
    size_t pos;      /* in the tree of the container behind the run, or in keys */
    const Json *run; /* of items or of pairs, at the next one */
    size_t run_left;
    bool begun;
} Frame;

typedef struct Printer {
    JsonPrintOptions options;
    Buf *out;
    size_t start;     /* out->len at the beginning */
    size_t watermark; /* out->len from which settle() has something to do */
    size_t flushed;   /* bytes that went to the sink */
    JsonSink sink;
    void *ctx;
    bool plain; /* neither colors nor white space */
    /* In parts: out->len where this one ends, and what is left of the string value that it ends in. */
    size_t part_end;
    const char *rest;
    size_t rest_len;
    bool stopped;
    Frame *frames;
    size_t depth, capacity;
    Frame small[SMALL_FRAMES];
} Printer;

/* ---- text ---- */

static char *room_for(Printer *p, size_t n) {
    Buf *b = p->out;
    return b->cap - b->len > n ? b->data + b->len : buf_reserve(b, n);
}

static void put(Printer *p, const char *s, size_t n) {
    memcpy(room_for(p, n), s, n);
    p->out->len += n;
}

static void put_c(Printer *p, char c) {
    *room_for(p, 1) = c;
    p->out->len++;
}

static void put_s(Printer *p, const char *s) {
    put(p, s, strlen(s));
}

static void flush(Printer *p) {
    p->flushed += p->out->len;
    p->stopped |= !p->sink(p->ctx, p->out->data, p->out->len);
    p->out->len = 0;
}

static void settle(Printer *p) {
    size_t printed = p->flushed + p->out->len - p->start;
    if (p->options.max_bytes && printed > p->options.max_bytes) {
        p->stopped = true;
    } else if (p->sink && p->out->len >= FLUSH_AT) {
        flush(p);
    }
}

static void settle_if_due(Printer *p) {
    if (__builtin_expect(p->out->len >= p->watermark, 0)) settle(p);
}

/* ---- strings ---- */

/* Copies n <= 16 bytes of s to w, where 16 fit; gives the bits of those that must be escaped. */
#ifdef __SSE2__
static unsigned escape_bits(__m128i v, bool ascii) {
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v);
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    __m128i del = _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7F));
    __m128i any = _mm_or_si128(_mm_or_si128(control, quote), _mm_or_si128(slash, del));
    unsigned high = ascii ? (unsigned)_mm_movemask_epi8(v) : 0;
    return (unsigned)_mm_movemask_epi8(any) | high;
}

static unsigned copy_block(char *w, const char *s, size_t n, bool ascii) {
    char padded[BLOCK];
    if (n < BLOCK) {
        memset(padded, ' ', BLOCK);
        memcpy(padded, s, n);
        s = padded;
    }
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)s);
    _mm_storeu_si128((__m128i *)(void *)w, v);
    return escape_bits(v, ascii);
}
#else
static unsigned copy_block(char *w, const char *s, size_t n, bool ascii) {
    unsigned bits = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)(w[i] = s[i]);
        bool special = c < 0x20 || c == '"' || c == '\\' || c == 0x7F || (ascii && c >= 0x80);
        bits |= (unsigned)special << i;
    }
    return bits;
}
#endif

static char *put_unit(char *w, unsigned unit) {
    static const char hex[] = "0123456789abcdef";
    memcpy(w, "\\u", 2);
    for (int i = 0; i < 4; i++) w[2 + i] = hex[unit >> (12 - 4 * i) & 0xF];
    return w + 6;
}

/* Escapes the character at *s and moves past it. */
static char *put_escape(char *w, const char **s, const char *end) {
    static const char letters[128] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                      ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
    unsigned char c = (unsigned char)**s;
    if (c < 0x80 && letters[c]) {
        *w++ = '\\';
        *w++ = letters[c];
        ++*s;
        return w;
    }
    int32_t cp;
    *s += utf8_decode(*s, end, &cp);
    cp = cp < 0 ? UTF8_REPLACEMENT : cp;
    if (cp < 0x10000) return put_unit(w, (unsigned)cp);
    unsigned rest = (unsigned)cp - 0x10000;
    return put_unit(put_unit(w, 0xD800 | rest >> 10), 0xDC00 | (rest & 0x3FF));
}

/* At most PIECE bytes of a string that has len, without cutting a character. */
static size_t piece_of(const char *s, size_t len) {
    if (len <= PIECE) return len;
    size_t n = PIECE;
    while (n > PIECE - 4 && utf8_is_inside(s[n])) n--;
    return n;
}

static void put_piece(Buf *out, const char *s, size_t n, bool ascii) {
    char *start = buf_reserve(out, 6 * n + BLOCK), *w = start;
    for (const char *end = s + n; s < end;) {
        size_t some = end - s < BLOCK ? (size_t)(end - s) : BLOCK;
        unsigned bits = copy_block(w, s, some, ascii);
        size_t plain = bits ? (size_t)__builtin_ctz(bits) : some;
        w += plain;
        s += plain;
        if (bits) w = put_escape(w, &s, end);
    }
    out->len += (size_t)(w - start);
}

static void put_any_string(Printer *p, const char *s, size_t len) {
    put_c(p, '"');
    while (len > 0 && !p->stopped) {
        size_t n = piece_of(s, len);
        put_piece(p->out, s, n, p->options.ascii);
        s += n;
        len -= n;
        settle_if_due(p);
    }
    put_c(p, '"');
}

/* As much of the rest as the part has room for, and a piece at least. */
static void put_rest(Printer *p) {
    do {
        size_t n = piece_of(p->rest, p->rest_len);
        put_piece(p->out, p->rest, n, p->options.ascii);
        p->rest += n;
        p->rest_len -= n;
        settle_if_due(p);
    } while (p->rest_len && p->out->len < p->part_end && !p->stopped);
    if (!p->rest_len) put_c(p, '"');
}

enum { SHORT_ROOM = BLOCK + 2 };

/* A string that is in the value itself is one block: most keys and many strings go this way. Gives the end of what was
 * written to w, where SHORT_ROOM bytes fit; NULL: it is another string, or has something to escape. */
#ifdef __SSE2__
static inline char *write_short(char *w, const Json *s, bool ascii) {
    __m128i whole = _mm_loadu_si128((const __m128i *)(const void *)s);
    __m128i text = _mm_srli_si128(whole, JSON_SHORT_AT);
    size_t len = json_short_len(*s);
    if (json_tag(*s) != JSON_TAG_SHORT_STRING) return NULL;
    if (escape_bits(text, ascii) & ((1u << len) - 1)) return NULL;
    w[0] = '"';
    _mm_storeu_si128((__m128i *)(void *)(w + 1), text);
    w[1 + len] = '"';
    return w + len + 2;
}
#else
static char *write_short(char *w, const Json *s, bool ascii) {
    (void)w, (void)s, (void)ascii;
    return NULL;
}
#endif

static void put_string(Printer *p, const Json *s) {
    char *end = write_short(room_for(p, SHORT_ROOM), s, p->options.ascii);
    if (end) {
        p->out->len = (size_t)(end - p->out->data);
    } else {
        put_any_string(p, json_string_data(s), json_string_len(*s));
    }
}

/* One that is long may end in a later part. */
static void put_string_value(Printer *p, const Json *s) {
    size_t len = json_string_len(*s);
    if (!p->part_end || len <= PIECE || p->options.colors) {
        put_string(p, s);
        return;
    }
    put_c(p, '"');
    p->rest = json_string_data(s);
    p->rest_len = len;
    put_rest(p);
}

/* ---- values ---- */

static const char *color_of(const JsonColors *c, Json j) {
    switch (json_kind(j)) {
    case JSON_FALSE: return c->false_;
    case JSON_TRUE: return c->true_;
    case JSON_NUMBER: return c->number;
    case JSON_STRING: return c->string;
    case JSON_ARRAY: return c->array;
    case JSON_OBJECT: return c->object;
    default: return c->null;
    }
}

static void put_color(Printer *p, Json j) {
    if (p->options.colors) put_s(p, color_of(p->options.colors, j));
}

static void end_color(Printer *p) {
    if (p->options.colors) put(p, color_end, sizeof color_end - 1);
}

/* A new line indented for what is at this depth. */
static void put_break(Printer *p, size_t depth) {
    if (p->options.indent == 0) return;
    size_t n = p->options.indent < 0 ? depth : depth * (size_t)p->options.indent;
    char *w = room_for(p, n + 1);
    w[0] = '\n';
    memset(w + 1, p->options.indent < 0 ? '\t' : ' ', n);
    p->out->len += n + 1;
}

static void open_container(Printer *p, Json j) {
    bool object = json_tag(j) == JSON_TAG_OBJECT;
    if ((object ? json_object_len(j) : json_array_len(j)) == 0) {
        put(p, object ? "{}" : "[]", 2);
        end_color(p);
        return;
    }
    put_c(p, object ? '{' : '[');
    if (p->depth == p->capacity) {
        Frame *old = p->frames;
        p->capacity *= 2;
        p->frames = mem_realloc(old == p->small ? NULL : old, p->capacity * sizeof(Frame));
        if (old == p->small) memcpy(p->frames, old, sizeof p->small);
    }
    bool sorted = p->options.sort_keys && json_tag(j) == JSON_TAG_OBJECT;
    p->frames[p->depth++] = (Frame){
        .container = j,
        .keys = sorted ? json_object_keys(j, true) : json_none(),
    };
}

static void put_number(Printer *p, Json j) {
    if (json_tag(j) == JSON_TAG_DECIMAL) {
        /* A literal may have any number of digits. */
        const JsonStr *text = (const JsonStr *)j.heap;
        for (size_t at = 0; at < text->len && !p->stopped; at += PIECE) {
            put(p, text->data + at, text->len - at < PIECE ? text->len - at : PIECE);
            settle_if_due(p);
        }
    } else {
        json_number_print(j, p->out);
    }
}

static void put_value(Printer *p, const Json *j) {
    if (p->plain && p->depth <= JSON_DEPTH_MAX && json_tag(*j) == JSON_TAG_SHORT_STRING) {
        put_string(p, j);
        settle_if_due(p);
        return;
    }
    put_color(p, *j);
    if (__builtin_expect(p->depth > JSON_DEPTH_MAX, 0)) {
        put_s(p, "<skipped: too deep>");
        end_color(p);
    } else if (json_tag(*j) >= JSON_TAG_ARRAY) {
        open_container(p, *j);
    } else {
        switch (json_kind(*j)) {
        case JSON_FALSE: put(p, "false", 5); break;
        case JSON_TRUE: put(p, "true", 4); break;
        case JSON_NUMBER: put_number(p, *j); break;
        case JSON_STRING: put_string_value(p, j); break;
        default: put(p, "null", 4); break;
        }
        end_color(p);
    }
    settle_if_due(p);
}

/* ---- containers ---- */

static void put_separator(Printer *p, Frame *f) {
    if (f->begun) {
        put_color(p, f->container);
        put_c(p, ',');
    }
    f->begun = true;
    if (p->plain) return;
    end_color(p);
    put_break(p, p->depth);
}

/* What most keys are printed as, in one go: ,"key": */
static bool put_plain_key(Printer *p, Frame *f, const Json *key) {
    char *w = room_for(p, SHORT_ROOM + 2);
    *w = ',';
    w = write_short(w + f->begun, key, p->options.ascii);
    if (!w) return false;
    *w++ = ':';
    p->out->len = (size_t)(w - p->out->data);
    f->begun = true;
    return true;
}

static void put_key(Printer *p, Frame *f, const Json *key) {
    if (p->plain && put_plain_key(p, f, key)) return;
    put_separator(p, f);
    if (p->options.colors) put_s(p, p->options.colors->key);
    put_string(p, key);
    end_color(p);
    put_color(p, f->container);
    put_c(p, ':');
    end_color(p);
    if (p->options.indent) put_c(p, ' ');
}

static void close_container(Printer *p) {
    Frame *f = &p->frames[--p->depth];
    put_break(p, p->depth);
    put_color(p, f->container);
    put_c(p, json_tag(f->container) == JSON_TAG_OBJECT ? '}' : ']');
    end_color(p);
    json_unref(f->keys);
    settle_if_due(p);
}

/* The next n values of the container's tree, in one place; NULL at its end. */
static const Json *next_of(Frame *f, const JsonNode *tree, size_t n) {
    if (f->run_left == 0) {
        f->run = node_run(tree, f->pos, &f->run_left);
        f->pos += f->run_left;
        if (f->run_left == 0) return NULL;
    }
    const Json *at = f->run;
    f->run_left -= n;
    f->run += n;
    return at;
}

/* The same of an object: a pair. Where a key was removed there is none. */
static const Json *next_pair(Frame *f) {
    const Json *pair;
    do {
        pair = next_of(f, object_entries(f->container), 2);
    } while (pair && json_is_none(pair[0]));
    return pair;
}

static void put_next_sorted(Printer *p, Frame *f) {
    Json key = json_array_get(f->keys, f->pos++);
    if (json_is_none(key)) {
        close_container(p);
        return;
    }
    put_key(p, f, &key);
    Json value = json_object_get(f->container, key);
    put_value(p, &value);
}

/* The next item or field of the innermost container, or its end. */
static void put_next(Printer *p) {
    Frame *f = &p->frames[p->depth - 1];
    bool array = json_tag(f->container) == JSON_TAG_ARRAY;
    if (!json_is_none(f->keys)) {
        put_next_sorted(p, f);
        return;
    }
    const Json *next = array ? next_of(f, (const JsonNode *)f->container.heap, 1) : next_pair(f);
    if (!next) {
        close_container(p);
        return;
    }
    if (array) {
        put_separator(p, f);
    } else {
        put_key(p, f, next++);
    }
    put_value(p, next);
}

/* ---- whole values ---- */

static void printer_init(Printer *p, const JsonPrintOptions *options, Buf *out) {
    memset(p, 0, offsetof(Printer, small));
    if (options) p->options = *options;
    p->out = out;
    p->start = out->len;
    p->frames = p->small;
    p->capacity = SMALL_FRAMES;
    p->watermark = p->options.max_bytes ? 0 : SIZE_MAX;
    p->plain = !p->options.colors && !p->options.indent;
}

static void print_end(Printer *p) {
    for (size_t i = 0; i < p->depth; i++) json_unref(p->frames[i].keys);
    if (p->frames != p->small) mem_free(p->frames);
    buf_advance(p->out, 0);
}

static void print_all(Printer *p, Json j) {
    put_value(p, &j);
    while (p->depth > 0 && !p->stopped) put_next(p);
    print_end(p);
}

struct JsonPrinting {
    Printer printer;
    Json value;
    bool begun;
};

JsonPrinting *json_printing_new(Json j, const JsonPrintOptions *options, Buf *out) {
    JsonPrinting *p = mem_zalloc(sizeof *p);
    printer_init(&p->printer, options, out);
    p->value = j;
    return p;
}

bool json_printing_more(JsonPrinting *printing, size_t bytes) {
    Printer *p = &printing->printer;
    p->part_end = p->out->len + bytes;
    if (!printing->begun) {
        put_value(p, &printing->value);
    } else if (p->rest_len && !p->stopped) {
        put_rest(p);
    }
    printing->begun = true;
    while (p->depth > 0 && !p->stopped && p->out->len < p->part_end) put_next(p);
    return p->stopped || (p->depth == 0 && !p->rest_len);
}

bool json_printing_free(JsonPrinting *printing) {
    Printer *p = &printing->printer;
    bool whole = printing->begun && p->depth == 0 && !p->rest_len && !p->stopped;
    print_end(p);
    mem_free(printing);
    return whole;
}

bool json_print(Json j, const JsonPrintOptions *options, Buf *out) {
    Printer p;
    printer_init(&p, options, out);
    print_all(&p, j);
    return !p.stopped;
}

bool json_print_to(Json j, const JsonPrintOptions *options, JsonSink sink, void *ctx) {
    Printer p;
    Buf gathered = BUF_INIT;
    printer_init(&p, options, &gathered);
    p.sink = sink;
    p.ctx = ctx;
    p.watermark = p.options.max_bytes ? 0 : FLUSH_AT;
    print_all(&p, j);
    if (gathered.len > 0 && !p.stopped) flush(&p);
    buf_clear(&gathered);
    return !p.stopped;
}

char *json_to_text(Json j) {
    Buf b = BUF_INIT;
    json_print(j, NULL, &b);
    return buf_detach(&b);
}

void json_print_string(const char *s, size_t len, bool ascii, Buf *out) {
    buf_addc(out, '"');
    while (len > 0) {
        size_t n = piece_of(s, len);
        put_piece(out, s, n, ascii);
        s += n;
        len -= n;
    }
    buf_addc(out, '"');
}

/* ---- for messages ---- */

enum { EXCERPT_MAX = 29 }; /* bytes, what marks the cut included */

const char *json_excerpt(Json j, char *out) {
    JsonPrintOptions options = {.max_bytes = EXCERPT_MAX};
    Buf b = BUF_INIT;
    json_print(j, &options, &b);
    if (b.len <= EXCERPT_MAX) {
        memcpy(out, b.data, b.len + 1);
    } else {
        const char *text = b.data;
        static const char marks[] = {[JSON_STRING] = '"', [JSON_ARRAY] = ']', [JSON_OBJECT] = '}'};
        char mark = marks[json_kind(j)];
        size_t n = EXCERPT_MAX - 3 - (mark ? 1 : 0);
        while (n > 0 && utf8_is_inside(text[n])) n--;
        memcpy(out, text, n);
        memcpy(out + n, "...", 3);
        out[n + 3] = mark;
        out[n + 4] = '\0';
    }
    buf_clear(&b);
    return out;
}

const char *json_describe(Json j, char *out) {
    char excerpt[JSON_DESCRIBE_MAX];
    snprintf(out, JSON_DESCRIBE_MAX, "%s (%s)", json_kind_name(json_kind(j)),
             json_excerpt(j, excerpt));
    return out;
}
