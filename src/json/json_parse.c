/* How it works.
 *
 * The input is one run of bytes, [pos, end): the caller's own text in json_parse(), a buffer that
 * drops what is used up in a JsonParser. A token is looked for in the whole run; when the run ends
 * inside it, pos stays at its start and `scanned` remembers how far it was looked at, so that every
 * byte is looked at once however the text was cut into pieces.
 *
 * Trees: finished values lie on one stack, `values`; a frame says where the open container's values
 * start. A closing bracket moves them in bulk into the container, which takes their place. The
 * value last finished may still turn out to be a key, an element or one value too many: `have_next`
 * says that it is there and no separator has come yet. That is jq's way of reading, and its
 * messages follow from it.
 *
 * Events: the same tokens, but only the path to the place is kept.
 *
 * Errors are static texts ("faults"); what line and column they are at is counted only then.
 */
#include "json_parse.h"

#include "ascii.h"
#include "json_breath.h"
#include "mem.h"
#include "utf8.h"

#include <stddef.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    RS = 0x1E, /* starts a document in seq mode */
    SMALL_VALUES = 64,
    SMALL_FRAMES = 16,
    CHECK_EVERY = 1024, /* values in one container */
};

typedef enum Step {
    STEP_GO,
    STEP_VALUE,
    STEP_MORE,
    STEP_END,
    STEP_FAULT,
} Step;

/* What the last token was, in event mode. */
typedef enum LastSeen { LAST_NONE, LAST_OPEN, LAST_COLON, LAST_COMMA, LAST_VALUE } LastSeen;

typedef struct Frame {
    size_t start; /* of its values on the stack */
    bool object;
} Frame;

/* What a string holds besides plain ASCII. */
enum { HOLDS_ESCAPE = 1, HOLDS_CONTROL = 2, HOLDS_HIGH = 4 };

struct JsonParser {
    JsonParseOptions options;

    const char *pos, *end; /* what is not used up */
    const char *origin;    /* where line and column are known */
    int line;
    size_t column;
    size_t scanned;   /* bytes of the unfinished token that were looked at */
    unsigned holds;   /* of the unfinished string so far */
    bool last;        /* nothing follows end */
    bool started;     /* past the byte order mark */
    bool finished;    /* nothing more will come out */
    bool awaiting_rs; /* in seq mode, skipping to the next document */
    bool resyncing;   /* ... because of a fault that was told */
    /* Passing over a document that went over a limit: its brackets that are still open, and whether
     * we are in a string of it (and behind a backslash) or in a number or name. */
    size_t skip_open;
    bool skip_string, skip_escape, skip_literal;
    bool at_eof; /* the fault was noticed at the end of the input */
    bool at_rs;  /* the fault was noticed because a document starts */
    bool have_next;
    ErrorCode code;
    const char *fault;

    Json *values;
    size_t count, capacity;
    Frame *frames;
    size_t depth, frame_capacity;

    LastSeen last_seen;
    Json path, next, queued;
    Json result;

    size_t heap_base; /* json_heap_bytes() without this document */
    size_t held;      /* by this document between calls */
    Buf input;
    Buf scratch;
    /* From here on not cleared by init. */
    Frame small_frames[SMALL_FRAMES];
    Json small_values[SMALL_VALUES];
};

/* ---- life ---- */

static void parser_init(JsonParser *p, const JsonParseOptions *options) {
    memset(p, 0, offsetof(JsonParser, small_frames));
    if (options) p->options = *options;
    if (p->options.max_depth <= 0) p->options.max_depth = JSON_DEPTH_MAX;
    p->pos = p->end = p->origin = "";
    p->line = 1;
    p->values = p->small_values;
    p->capacity = SMALL_VALUES;
    p->frames = p->small_frames;
    p->frame_capacity = SMALL_FRAMES;
    p->awaiting_rs = p->options.seq;
    if (p->options.events) p->path = json_array();
}

static void drop_document(JsonParser *p) {
    while (p->count > 0) json_unref(p->values[--p->count]);
    p->depth = 0;
    p->have_next = false;
    p->scanned = 0;
    p->holds = 0;
    p->last_seen = LAST_NONE;
    json_clear(&p->next);
    json_clear(&p->queued);
    json_clear(&p->result);
    if (p->options.events) {
        json_unref(p->path);
        p->path = json_array();
    }
}

static void parser_clear(JsonParser *p) {
    drop_document(p);
    json_clear(&p->path);
    if (p->values != p->small_values) mem_free(p->values);
    if (p->frames != p->small_frames) mem_free(p->frames);
    buf_clear(&p->input);
    buf_clear(&p->scratch);
}

JsonParser *json_parser_new(const JsonParseOptions *options) {
    JsonParser *p = mem_alloc(sizeof *p);
    parser_init(p, options);
    return p;
}

void json_parser_free(JsonParser *p) {
    if (p) {
        parser_clear(p);
        mem_free(p);
    }
}

/* ---- input ---- */

static void count_lines(JsonParser *p) {
    const char *line_start = NULL, *s = p->origin;
    while (s < p->pos && (s = memchr(s, '\n', (size_t)(p->pos - s)))) {
        p->line++;
        line_start = ++s;
    }
    p->column =
        line_start ? (size_t)(p->pos - line_start) : p->column + (size_t)(p->pos - p->origin);
    p->origin = p->pos;
}

char *json_parser_reserve(JsonParser *p, size_t want) {
    size_t used = 0;
    if (p->input.data) {
        count_lines(p);
        used = (size_t)(p->pos - p->input.data);
    }
    size_t left = p->input.len - used;
    if (used && used >= left) { /* moved to the front once it is the smaller part: linear */
        memmove(p->input.data, p->pos, left);
        p->input.len = left;
        used = 0;
    }
    char *room = buf_reserve(&p->input, want);
    p->pos = p->origin = p->input.data + used;
    p->end = p->input.data + p->input.len;
    return room;
}

void json_parser_commit(JsonParser *p, size_t len, bool last) {
    buf_advance(&p->input, len);
    p->end += len;
    p->last = last;
}

/* ---- faults and limits ---- */

static Step fail(JsonParser *p, const char *fault) {
    p->fault = fault;
    p->code = ERR_SYNTAX;
    return STEP_FAULT;
}

static const char too_deep[] = "Exceeds depth limit for parsing";

bool json_parse_too_deep(const Error *err) {
    return strstr(err->msg, too_deep) != NULL;
}

static Step fail_over_limit(JsonParser *p) {
    p->fault = "Exceeds size limit for parsing";
    p->code = ERR_LIMIT;
    return STEP_FAULT;
}

static bool over_limit(const JsonParser *p) {
    size_t limit = p->options.max_bytes;
    return limit && json_heap_bytes() - p->heap_base + p->count * sizeof(Json) > limit;
}

static void *grow(void *items, void *small, size_t *capacity, size_t size) {
    size_t old = *capacity;
    *capacity = old * 2;
    if (items != small) return mem_realloc(items, *capacity * size);
    return memcpy(mem_alloc(*capacity * size), small, old * size);
}

/* Word by word: a value that was just made in two halves is slow to read back as a whole. */
static inline __attribute__((always_inline)) void push(JsonParser *p, Json v) {
    if (__builtin_expect(p->count == p->capacity, 0)) {
        p->values = grow(p->values, p->small_values, &p->capacity, sizeof(Json));
    }
    Json *slot = &p->values[p->count++];
    slot->head_ = v.head_;
    slot->word_ = v.word_;
}

static Step push_frame(JsonParser *p, bool object) {
    if (p->depth >= (size_t)p->options.max_depth) return fail(p, too_deep);
    if (p->depth == p->frame_capacity) {
        p->frames = grow(p->frames, p->small_frames, &p->frame_capacity, sizeof(Frame));
    }
    p->frames[p->depth++] = (Frame){p->count, object};
    return STEP_GO;
}

/* ---- trees ---- */

static bool in_array(const JsonParser *p) {
    return p->depth > 0 && !p->frames[p->depth - 1].object;
}

static bool in_object(const JsonParser *p) {
    return p->depth > 0 && p->frames[p->depth - 1].object;
}

static size_t pending(const JsonParser *p) {
    return p->count - p->frames[p->depth - 1].start;
}

static inline __attribute__((always_inline)) Step tree_value(JsonParser *p, Json v) {
    if (__builtin_expect(p->have_next, 0)) {
        json_unref(v);
        return fail(p, "Expected separator between values");
    }
    if (p->depth == 0) {
        p->result = v;
        return STEP_VALUE;
    }
    push(p, v);
    p->have_next = true;
    return p->count % CHECK_EVERY == 0 && over_limit(p) ? fail_over_limit(p) : STEP_GO;
}

/* The container takes the place of its values. */
static Step tree_close(JsonParser *p, Json container) {
    p->depth--;
    if (p->depth == 0) {
        p->count = 0;
        p->have_next = false;
        p->result = container;
        return STEP_VALUE;
    }
    push(p, container);
    p->have_next = true;
    return over_limit(p) ? fail_over_limit(p) : STEP_GO;
}

static const char *object_fault(const JsonParser *p) {
    if (p->depth == 0) return "Unmatched '}'";
    bool key_given = in_object(p) && pending(p) % 2 == (p->have_next ? 0 : 1);
    if (p->have_next) return key_given ? NULL : "Objects must consist of key:value pairs";
    if (!in_object(p) || key_given) return "Unmatched '}'";
    return pending(p) == 0 ? NULL : "Expected another key-value pair";
}

static Step tree_structure(JsonParser *p, char c) {
    const char *fault = NULL;
    size_t n;
    switch (c) {
    case '[':
    case '{':
        return p->have_next ? fail(p, "Expected separator between values")
                            : push_frame(p, c == '{');
    case ':':
        fault = !p->have_next                          ? "Expected string key before ':'"
                : !in_object(p) || pending(p) % 2 == 0 ? "':' not as part of an object"
                : json_kind(p->values[p->count - 1]) != JSON_STRING ? "Object keys must be strings"
                                                                    : NULL;
        break;
    case ',':
        fault = !p->have_next                         ? "Expected value before ','"
                : in_object(p) && pending(p) % 2 == 1 ? "Objects must consist of key:value pairs"
                                                      : NULL;
        break;
    case ']':
        if (!in_array(p)) return fail(p, "Unmatched ']'");
        n = pending(p);
        if (n > 0 && !p->have_next) return fail(p, "Expected another array element");
        p->count -= n;
        return tree_close(p, json_array_from(p->values + p->count, n));
    default:
        fault = object_fault(p);
        if (fault) return fail(p, fault);
        n = pending(p);
        p->count -= n;
        return tree_close(p, json_object_from(p->values + p->count, n / 2));
    }
    p->have_next = p->have_next && fault;
    return fault ? fail(p, fault) : STEP_GO;
}

/* ---- events ---- */

/* Consumes leaf, which is JSON_NONE in a closing event. */
static Json make_event(JsonParser *p, Json leaf) {
    Json items[2] = {json_ref(p->path), leaf};
    return json_array_from(items, json_is_none(leaf) ? 1 : 2);
}

static Step give(JsonParser *p, Json event) {
    p->result = event;
    return STEP_VALUE;
}

static Step event_value(JsonParser *p, Json v) {
    if (p->last_seen == LAST_VALUE) {
        json_unref(v);
        return fail(p, "Expected separator between values");
    }
    if (p->depth == 0) return give(p, make_event(p, v));
    p->last_seen = LAST_VALUE;
    p->next = v;
    return STEP_GO;
}

static const char *event_open_fault(const JsonParser *p, char c) {
    if (p->last_seen == LAST_VALUE) return "Expected a separator between values";
    if (!in_object(p) || p->last_seen == LAST_COLON) return NULL;
    if (p->last_seen == LAST_COMMA) {
        return c == '[' ? "Expected string key after ',' in object, not '['"
                        : "Expected string key after ',' in object, not '{'";
    }
    return c == '[' ? "Expected string key after '{', not '['"
                    : "Expected string key after '{', not '{'";
}

static Json last_step(const JsonParser *p) {
    return json_array_get(p->path, p->depth - 1);
}

static bool key_known(const JsonParser *p) {
    return json_kind(last_step(p)) == JSON_STRING;
}

static Step event_comma(JsonParser *p) {
    if (p->last_seen != LAST_VALUE) return fail(p, "Expected value before ','");
    if (in_object(p) && !key_known(p)) return fail(p, "Objects must consist of key:value pairs");
    bool leaf = !json_is_none(p->next);
    if (leaf) p->result = make_event(p, json_take(&p->next));
    p->path = json_array_set(p->path, p->depth - 1,
                             in_object(p) ? json_null() : json_int(last_step(p).i + 1));
    p->last_seen = LAST_COMMA;
    return leaf ? STEP_VALUE : STEP_GO;
}

/* An empty container is a leaf; another one closes with the path of its last child. */
static Step event_close(JsonParser *p, Json empty) {
    bool is_leaf = p->last_seen == LAST_OPEN, leaf_inside = !json_is_none(p->next);
    if (leaf_inside) p->result = make_event(p, json_take(&p->next));
    Json closing = is_leaf ? json_none() : make_event(p, json_none());
    p->path = json_array_slice(p->path, 0, --p->depth);
    p->last_seen = p->depth ? LAST_VALUE : LAST_NONE;
    if (is_leaf) return give(p, make_event(p, empty));
    json_unref(empty);
    if (leaf_inside) {
        p->queued = closing;
        return STEP_VALUE;
    }
    return give(p, closing);
}

static const char *event_object_fault(const JsonParser *p) {
    bool lonely = !json_is_none(p->next) && p->depth > 0 && in_object(p) && !key_known(p);
    return p->depth == 0                ? "Unmatched '}' at the top-level"
           : p->last_seen == LAST_COMMA ? "Expected another key:value pair"
           : in_array(p)                ? "Unmatched '}' in the middle of an array"
           : p->last_seen == LAST_COLON ? "Missing value in key:value pair"
           : lonely                     ? "Objects must consist of key:value pairs"
                                        : NULL;
}

static Step event_structure(JsonParser *p, char c) {
    const char *fault = NULL;
    switch (c) {
    case '[':
    case '{':
        fault = event_open_fault(p, c);
        if (fault) return fail(p, fault);
        p->path = json_array_push(p->path, c == '[' ? json_int(0) : json_null());
        p->last_seen = LAST_OPEN;
        return push_frame(p, c == '{');
    case ':':
        fault = !in_object(p)                       ? "':' not as part of an object"
                : json_is_none(p->next)             ? "Expected string key before ':'"
                : json_kind(p->next) != JSON_STRING ? "Object keys must be strings"
                : key_known(p)                      ? "':' should follow a key"
                                                    : NULL;
        if (fault) return fail(p, fault);
        p->path = json_array_set(p->path, p->depth - 1, json_take(&p->next));
        p->last_seen = LAST_COLON;
        return STEP_GO;
    case ',': return event_comma(p);
    case ']':
        fault = p->depth == 0                ? "Unmatched ']' at the top-level"
                : p->last_seen == LAST_COMMA ? "Expected another array element"
                : in_object(p)               ? "Unmatched ']' in the middle of an object"
                                             : NULL;
        return fault ? fail(p, fault) : event_close(p, json_array());
    default:
        fault = event_object_fault(p);
        return fault ? fail(p, fault) : event_close(p, json_object());
    }
}

/* ---- tokens ---- */

typedef enum Class { LITERAL, SPACE, STRUCTURE, QUOTE } Class;

static const uint8_t class_of[256] = {
    [' '] = SPACE,     ['\t'] = SPACE,    ['\n'] = SPACE,    ['\r'] = SPACE,
    ['['] = STRUCTURE, [']'] = STRUCTURE, ['{'] = STRUCTURE, ['}'] = STRUCTURE,
    [','] = STRUCTURE, [':'] = STRUCTURE, ['"'] = QUOTE,
};

static Class class_at(const char *s) {
    return (Class)class_of[(unsigned char)*s];
}

static inline __attribute__((always_inline)) Step take_value(JsonParser *p, Json v) {
    return p->options.events ? event_value(p, v) : tree_value(p, v);
}

/* ---- strings ---- */

/* Bits for 16 bytes: where a string may stop being plain, and where it is not ASCII. */
typedef struct Block {
    unsigned stops, high;
} Block;

enum { BLOCK = 16 };

#ifdef __SSE2__
static Block look_at_block(const char *s) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)s);
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v);
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i escape = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    __m128i stops = _mm_or_si128(control, _mm_or_si128(quote, escape));
    return (Block){(unsigned)_mm_movemask_epi8(stops), (unsigned)_mm_movemask_epi8(v)};
}
#else
static Block look_at_block(const char *s) {
    Block b = {0, 0};
    for (int i = 0; i < BLOCK; i++) {
        unsigned char c = (unsigned char)s[i];
        b.stops |= (unsigned)(c == '"' || c == '\\' || c < 0x20) << i;
        b.high |= (unsigned)(c >> 7) << i;
    }
    return b;
}
#endif

/* Skips what is neither quote, backslash nor control character. */
static const char *skip_plain(const char *s, const char *end, unsigned *holds) {
    while (end - s >= BLOCK) {
        Block b = look_at_block(s);
        unsigned before = b.stops ? (b.stops & -b.stops) - 1 : ~0u;
        *holds |= b.high & before ? HOLDS_HIGH : 0;
        if (b.stops) return s + __builtin_ctz(b.stops);
        s += BLOCK;
    }
    for (; s < end && *s != '"' && *s != '\\' && (unsigned char)*s >= 0x20; s++) {
        *holds |= (unsigned char)*s >= 0x80 ? HOLDS_HIGH : 0;
    }
    return s;
}

/* The closing quote of the string that starts with `text` (or, in seq mode, the RS that cuts it
 * off); NULL when it is not there yet. */
static const char *find_close(JsonParser *p, const char *text) {
    const char *s = text + p->scanned;
    for (;;) {
        s = skip_plain(s, p->end, &p->holds);
        if (s < p->end && *s == '"') return s;
        if (s >= p->end || (*s == '\\' && p->end - s < 2)) {
            p->scanned = (size_t)(s - text);
            return NULL;
        }
        if (*s == RS && p->options.seq) return s;
        p->holds |= *s == '\\' ? HOLDS_ESCAPE : HOLDS_CONTROL;
        /* What is escaped is skipped unseen, but an RS always counts. */
        s += *s == '\\' && !(p->options.seq && s[1] == RS) ? 2 : 1;
    }
}

static int32_t read_hex4(const char *s) {
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = ascii_hex(s[i]);
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* The low half that must follow a high one; -1 when something else does. */
static int32_t read_low_surrogate(const char *s, const char *end) {
    if (end - s < 6 || s[0] != '\\' || s[1] != 'u') return -1;
    int32_t unit = read_hex4(s + 2);
    return unit >= 0xDC00 && unit <= 0xDFFF ? unit : -1;
}

/* s is behind the backslash. */
static const char *decode_escape(const char **s, const char *end, bool strict, Buf *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = *(*s)++;
    if (c == 'u') {
        /* Half a pair becomes U+FFFD, where that is allowed. */
        if (end - *s < 4) return "Invalid \\uXXXX escape";
        int32_t cp = read_hex4(*s);
        if (cp < 0) return "Invalid characters in \\uXXXX escape";
        *s += 4;
        int32_t low = cp >= 0xD800 && cp <= 0xDBFF ? read_low_surrogate(*s, end) : -1;
        if (low >= 0) {
            cp = 0x10000 + ((cp - 0xD800) << 10 | (low - 0xDC00));
            *s += 6;
        } else if (strict && cp >= 0xD800 && cp <= 0xDFFF) {
            return "Invalid \\uXXXX escape: half a surrogate pair";
        }
        char *room = buf_reserve(out, 4);
        buf_advance(out, utf8_encode(cp, room));
        return NULL;
    }
    const char *found = c ? strchr(from, c) : NULL;
    if (!found) return "Invalid escape";
    buf_addc(out, to[found - from]);
    return NULL;
}

static const char *decode_string(const char *s, const char *end, bool strict, Buf *out) {
    const char *fault = NULL;
    buf_reset(out);
    while (s < end && !fault) {
        unsigned holds = 0;
        const char *plain_end = skip_plain(s, end, &holds);
        if (holds) {
            utf8_repair(out, s, (size_t)(plain_end - s));
        } else {
            buf_add(out, s, (size_t)(plain_end - s));
        }
        s = plain_end;
        if (s < end && *s != '\\') {
            return "Invalid string: control characters from U+0000 through U+001F must be escaped";
        }
        if (s < end) {
            s++;
            fault = decode_escape(&s, end, strict, out);
        }
    }
    return fault;
}

/* A string of ASCII. A short one is put together from words where they can be read. */
static Json plain_string(const JsonParser *p, const char *s, size_t len) {
    if (len > JSON_SHORT_MAX || p->end - s < JSON_SHORT_ROOM) return json_string_valid(s, len);
    uint64_t front, back;
    memcpy(&front, s, 8);
    memcpy(&back, s + 6, 8);
    uint64_t in_front = len < 6 ? ~(~0ull << 8 * len) : 0xFFFFFFFFFFFFull;
    uint64_t in_back = len <= 6 ? 0 : ~0ull >> 8 * (JSON_SHORT_ROOM - len);
    Json j = {.head_ = (front & in_front) << 16 | (uint64_t)len << 8 | JSON_TAG_SHORT_STRING};
    j.word_ = back & in_back;
    return j;
}

static bool too_long(const JsonParser *p, size_t len) {
    return len > JSON_STRING_MAX || (p->options.max_bytes && len > p->options.max_bytes);
}

static Step fail_truncated(JsonParser *p, const char *fault) {
    p->at_rs = true;
    return fail(p, fault);
}

static Step take_string(JsonParser *p) {
    const char *text = p->pos + 1;
    const char *close = find_close(p, text);
    if (!close) return too_long(p, p->scanned) ? fail_over_limit(p) : STEP_MORE;
    unsigned holds = p->holds;
    p->scanned = 0;
    p->holds = 0;
    p->pos = close + 1;
    if (*close == RS) return fail_truncated(p, "Truncated value");
    size_t len = (size_t)(close - text);
    if (len > JSON_SHORT_MAX && (too_long(p, len) || over_limit(p))) return fail_over_limit(p);
    if (!holds) return take_value(p, plain_string(p, text, len));
    bool strict = p->options.strict;
    if (strict && holds & HOLDS_HIGH && utf8_valid_prefix(text, len) != len) {
        return fail(p, "Invalid string: bytes that are no UTF-8");
    }
    if (holds == HOLDS_HIGH) return take_value(p, json_string(text, len));
    const char *fault = decode_string(text, text + len, strict, &p->scratch);
    if (fault) return fail(p, fault);
    return take_value(p, json_string_valid(p->scratch.data ? p->scratch.data : "", p->scratch.len));
}

/* ---- literals ---- */

static const char *read_digits(const char *s, const char *end, uint64_t *value) {
    for (; s < end && ascii_is_digit(*s); s++) *value = *value * 10 + (uint64_t)(*s - '0');
    return s;
}

/* The usual numbers: integers of up to 18 digits and decimals of up to 15 that doubles hold as
 * written. The others take the long way. Both give where the number ends, or NULL. */
static const char *usual_fraction(const char *start, const char *point, const char *end,
                                  uint64_t value, double *d) {
    static const double scale[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *s = read_digits(point + 1, end - point > 17 ? point + 17 : end, &value);
    if (s >= end || s - start > 16 || s - point < 2 || s[-1] == '0' || class_at(s) == LITERAL) {
        return NULL;
    }
    *d = (double)value / scale[s - point - 1];
    return *d >= 1e-4 ? s : NULL;
}

static const char *usual_number(const char *start, const char *end, Json *out) {
    bool negative = *start == '-';
    uint64_t value = 0;
    double d = 0;
    start += negative;
    const char *s = read_digits(start, end - start > 19 ? start + 19 : end, &value);
    if (s == start || s >= end || s - start > 18) return NULL;
    if (class_at(s) != LITERAL) {
        *out = json_int(negative ? -(int64_t)value : (int64_t)value);
        return negative && value == 0 ? NULL : s;
    }
    s = *s == '.' ? usual_fraction(start, s, end, value, &d) : NULL;
    *out = json_double(negative ? -d : d);
    return s;
}

/* As RFC 8259 has numbers. */
static bool is_standard_number(const char *s, const char *end) {
    uint64_t ignored = 0;
    s += s < end && *s == '-';
    const char *whole = s;
    s = read_digits(s, end, &ignored);
    bool ok = s > whole && (*whole != '0' || s == whole + 1);
    if (ok && s < end && *s == '.') {
        const char *fraction = ++s;
        s = read_digits(s, end, &ignored);
        ok = s > fraction;
    }
    if (ok && s < end && (*s == 'e' || *s == 'E')) {
        s++;
        s += s < end && (*s == '+' || *s == '-');
        const char *exponent = s;
        s = read_digits(s, end, &ignored);
        ok = s > exponent;
    }
    return ok && s == end;
}

static bool begins_with_zero(const char *s, const char *end) {
    s += *s == '-';
    return end - s > 1 && *s == '0' && ascii_is_digit(s[1]);
}

static const char *literal_value(const char *s, size_t len, bool strict, Json *out) {
    bool spells_null = s[0] == 'n' && len > 1 && s[1] == 'u';
    if (s[0] == 't' || s[0] == 'f' || spells_null) {
        const char *word = s[0] == 't' ? "true" : s[0] == 'f' ? "false" : "null";
        *out = spells_null ? json_null() : json_bool(s[0] == 't');
        return len == strlen(word) && memcmp(s, word, len) == 0 ? NULL : "Invalid literal";
    }
    if (s[0] == '\'') return "Invalid string literal; expected \", but got '";
    *out = strict && !is_standard_number(s, s + len) ? json_none() : json_number_parse(s, len);
    return json_is_none(*out) ? "Invalid numeric literal" : NULL;
}

/* A fault in a literal is noticed at what follows it. */
static Step notice_behind(JsonParser *p, Step step) {
    if (step == STEP_FAULT) {
        p->at_eof = p->pos >= p->end;
        p->pos += p->pos < p->end;
    }
    return step;
}

static Step finish_literal(JsonParser *p, Json v) {
    /* jq loses a value at the top when a separator that has no business there follows. */
    bool lost = p->depth == 0 && p->pos < p->end && class_at(p->pos) == STRUCTURE &&
                *p->pos != '[' && *p->pos != '{';
    if (lost) {
        json_unref(v);
        return STEP_GO;
    }
    if (p->options.seq && p->pos >= p->end && p->depth == 0 && json_kind(v) == JSON_NUMBER) {
        json_unref(v);
        return notice_behind(p, fail(p, "Potentially truncated top-level numeric value"));
    }
    return notice_behind(p, take_value(p, v));
}

static Step take_any_literal(JsonParser *p) {
    const char *start = p->pos, *end = p->pos + p->scanned;
    while (end < p->end && class_at(end) == LITERAL && !(*end == RS && p->options.seq)) end++;
    if (end == p->end && !p->last) {
        p->scanned = (size_t)(end - start);
        return too_long(p, p->scanned) ? fail_over_limit(p) : STEP_MORE;
    }
    p->scanned = 0;
    p->pos = end;
    if (too_long(p, (size_t)(end - start))) return fail_over_limit(p);
    Json v;
    const char *fault = literal_value(start, (size_t)(end - start), p->options.strict, &v);
    if (end < p->end && *end == RS) {
        /* A document starts right behind the literal, so nobody knows whether it was whole. */
        bool number_at_top = !fault && p->depth == 0 && json_kind(v) == JSON_NUMBER;
        if (!fault) json_unref(v);
        p->pos++;
        return fail_truncated(p, number_at_top ? "Potentially truncated top-level numeric value"
                                               : "Truncated value");
    }
    return fault ? notice_behind(p, fail(p, fault)) : finish_literal(p, v);
}

static Step take_literal(JsonParser *p) {
    if (*p->pos == RS && p->options.seq) {
        p->pos++;
        return p->depth > 0 ? fail_truncated(p, "Truncated value") : STEP_GO;
    }
    Json v;
    bool unusual = p->scanned || (p->options.strict && begins_with_zero(p->pos, p->end));
    const char *end = unusual ? NULL : usual_number(p->pos, p->end, &v);
    if (!end) return take_any_literal(p);
    p->pos = end;
    return finish_literal(p, v);
}

/* ---- the loop ---- */

static Step take_tokens(JsonParser *p) {
    for (;;) {
        static const char blanks[] = "        ";
        const char *s = p->pos, *end = p->end;
        while (s < end && class_at(s) == SPACE) {
            s++;
            while (end - s >= 8 && memcmp(s, blanks, 8) == 0) s += 8;
        }
        p->pos = s;
        json_breathe();
        if (p->pos >= p->end) return STEP_MORE;
        Class class = class_at(p->pos);
        Step step = class == QUOTE       ? take_string(p)
                    : class != STRUCTURE ? take_literal(p)
                    : p->options.events  ? event_structure(p, *p->pos++)
                                         : tree_structure(p, *p->pos++);
        if (step != STEP_GO) return step;
    }
}

static Step fail_at_eof(JsonParser *p, const char *fault) {
    p->pos = p->end;
    p->at_eof = true;
    return fail(p, fault);
}

static Step take_end(JsonParser *p) {
    if (p->awaiting_rs) {
        return p->resyncing ? STEP_END : fail_at_eof(p, "Unfinished abandoned text");
    }
    if (p->pos < p->end) return fail_at_eof(p, "Unfinished string");
    return p->depth > 0 ? fail_at_eof(p, "Unfinished JSON term") : STEP_END;
}

static const char malformed_mark[] = "Malformed BOM";

static Step skip_byte_order_mark(JsonParser *p) {
    static const char mark[] = "\xEF\xBB\xBF";
    size_t n = 0;
    while (n < 3 && p->pos + n < p->end && p->pos[n] == mark[n]) n++;
    if (n > 0 && n < 3) return p->pos + n < p->end || p->last ? fail(p, malformed_mark) : STEP_MORE;
    p->started = p->pos < p->end;
    p->pos += n;
    p->origin = p->pos;
    return STEP_GO;
}

static bool is_skipping(const JsonParser *p) {
    return p->skip_open || p->skip_string || p->skip_literal;
}

static void skip_byte(JsonParser *p, char c) {
    if (p->skip_string) {
        p->skip_string = c != '"' || p->skip_escape;
        p->skip_escape = c == '\\' && !p->skip_escape;
        return;
    }
    p->skip_literal = p->skip_literal && !strchr(" \t\r\n,:[]{}\"", c);
    if (c == '"') {
        p->skip_string = true;
    } else if (c == '[' || c == '{') {
        p->skip_open++;
    } else if ((c == ']' || c == '}') && p->skip_open) {
        p->skip_open--;
    }
}

static Step take_step(JsonParser *p) {
    if (!json_is_none(p->queued)) return give(p, json_take(&p->queued));
    if (p->finished) return STEP_END;
    Step step = p->started ? STEP_GO : skip_byte_order_mark(p);
    if (step == STEP_GO && p->awaiting_rs) {
        size_t left = (size_t)(p->end - p->pos);
        const char *rs = left ? memchr(p->pos, RS, left) : NULL;
        p->pos = rs ? rs + 1 : p->end;
        p->awaiting_rs = !rs;
        step = rs ? STEP_GO : STEP_MORE;
    }
    if (step == STEP_GO && is_skipping(p)) {
        /* Passes over the rest of a document that went over a limit, up to where it ends. */
        while (p->pos < p->end && is_skipping(p)) skip_byte(p, *p->pos++);
        step = !is_skipping(p) ? STEP_GO : p->last ? STEP_END : STEP_MORE;
    }
    if (step == STEP_GO) step = take_tokens(p);
    return step == STEP_MORE && p->last ? take_end(p) : step;
}

static void report(JsonParser *p, Error *err) {
    count_lines(p);
    int column = (int)p->column;
    if (p->fault == malformed_mark) {
        error_set_at(err, p->code, p->line, column, "%s", p->fault);
        return;
    }
    bool resync = p->options.seq && !p->at_rs && !p->at_eof;
    error_set_at(err, p->code, p->line, column, "%s%s at line %d, column %d%s", p->fault,
                 p->at_eof ? " at EOF" : "", p->line, column, resync ? " (need RS to resync)" : "");
}

/* When all that is wrong with a document is that it is too large, we can find its end. Inside a
 * token pos is still at the token's start. */
static bool start_skipping(JsonParser *p) {
    bool too_large = p->fault == too_deep || p->code == ERR_LIMIT;
    if (!too_large || p->options.seq) return false;
    bool inside = p->scanned > 0;
    p->skip_open = p->depth + (p->fault == too_deep);
    p->skip_string = inside && *p->pos == '"';
    p->skip_literal = inside && !p->skip_string;
    p->skip_escape = false;
    p->pos += p->skip_string;
    return true;
}

JsonParseStatus json_parser_next(JsonParser *p, Json *out, Error *err) {
    size_t limited = p->options.max_bytes;
    p->heap_base = limited ? json_heap_bytes() - p->held : 0;
    Step step = take_step(p);
    p->held = limited && step == STEP_MORE ? json_heap_bytes() - p->heap_base : 0;
    *out = json_take(&p->result);
    switch (step) {
    case STEP_VALUE: return JSON_PARSE_VALUE;
    case STEP_MORE: return JSON_PARSE_MORE;
    case STEP_FAULT:
        report(p, err);
        if (p->options.events && p->options.event_errors) *out = json_ref(p->path);
        /* In seq mode the next document starts afresh, and after one that went over a limit there may be
         * others too; otherwise this is the end. */
        bool goes_on = start_skipping(p);
        p->scanned = 0;
        p->holds = 0;
        drop_document(p);
        p->finished = !goes_on && (!p->options.seq || p->at_eof || p->fault == malformed_mark);
        p->awaiting_rs = p->resyncing = p->options.seq && !p->at_rs;
        p->at_rs = p->at_eof = false;
        return JSON_PARSE_ERROR;
    default: p->finished = true; return JSON_PARSE_END;
    }
}

/* ---- one document ---- */

static Json only_value(JsonParser *p, Error *err) {
    Json value, extra;
    JsonParseStatus status = json_parser_next(p, &value, err);
    if (status == JSON_PARSE_END) error_set(err, ERR_SYNTAX, "Expected JSON value");
    if (status != JSON_PARSE_VALUE) return json_none();
    status = json_parser_next(p, &extra, err);
    if (status == JSON_PARSE_END) return value;
    if (status == JSON_PARSE_VALUE) {
        error_set(err, ERR_SYNTAX, "Unexpected extra JSON values");
        json_unref(extra);
    }
    json_unref(value);
    return json_none();
}

Json json_parse(const char *text, size_t len, const JsonParseOptions *options, Error *err) {
    JsonParser p;
    parser_init(&p, options);
    p.pos = p.origin = len ? text : "";
    p.end = p.pos + len;
    p.last = true;
    Json value = only_value(&p, err);
    parser_clear(&p);
    return value;
}
