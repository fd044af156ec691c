/* The byte layout, format 1.
 *
 * A value is one tag byte, then what the tag asks for. Numbers in the layout are varints: LEB128,
 * seven bits a byte, the low ones first, as few bytes as possible.
 *
 *   00            null
 *   01            false
 *   02            true
 *   03 varint     integer, zigzag: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
 *   04 8 bytes    double, IEEE 754, little-endian
 *   05 varint n   number literal: n bytes of its canonical text
 *   06 varint n   string: n bytes of UTF-8
 *   07 varint n   array: n values
 *   08 varint n   object: n pairs, each a string (the key) and a value, in the order of the keys
 *   20+n          string of n bytes, n < 32
 *   40+n          array of n values, n < 16
 *   50+n          object of n pairs, n < 16
 *   80+n          integer n, n < 128
 *
 * Other tags are errors. The writer always takes the shortest form. A value takes at least one
 * byte, so a count that is larger than the bytes left is damage, found before anything is allocated
 * for it. Both directions walk with a stack of their own.
 */
#include "json_binary.h"

#include "mem.h"
#include "utf8.h"

enum {
    TAG_NULL,
    TAG_FALSE,
    TAG_TRUE,
    TAG_INT,
    TAG_DOUBLE,
    TAG_DECIMAL,
    TAG_STRING,
    TAG_ARRAY,
    TAG_OBJECT,
    TAG_SHORT_STRING = 0x20,
    TAG_SHORT_ARRAY = 0x40,
    TAG_SHORT_OBJECT = 0x50,
    TAG_SMALL_INT = 0x80,
};

enum {
    SHORT_STRINGS = 32,
    SHORT_COUNTS = 16,
    SMALL_INTS = 128,
    VARINT_MAX = 10,        /* bytes */
    DECODE_DEPTH = 1000000, /* values built in memory may be nested deeper than text may */
};

/* ---- writing ---- */

static void put_varint(Buf *out, uint64_t v) {
    char bytes[VARINT_MAX];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7) bytes[n++] = (char)(v | 0x80);
    bytes[n++] = (char)v;
    buf_add(out, bytes, n);
}

static void put_tag(Buf *out, int tag) {
    buf_addc(out, (char)tag);
}

/* A length or count: folded into the short tag when it is below `below`. */
static void put_head(Buf *out, int short_tag, int tag, uint64_t n, uint64_t below) {
    if (n < below) {
        put_tag(out, short_tag + (int)n);
    } else {
        put_tag(out, tag);
        put_varint(out, n);
    }
}

static void put_string(Buf *out, const Json *s) {
    size_t len = json_string_len(*s);
    put_head(out, TAG_SHORT_STRING, TAG_STRING, len, SHORT_STRINGS);
    buf_add(out, json_string_data(s), len);
}

static void put_number(Buf *out, Json j) {
    if (json_tag(j) == JSON_TAG_INT && j.i >= 0 && j.i < SMALL_INTS) {
        put_tag(out, TAG_SMALL_INT + (int)j.i);
    } else if (json_tag(j) == JSON_TAG_INT) {
        put_tag(out, TAG_INT);
        put_varint(out, (uint64_t)j.i << 1 ^ (j.i < 0 ? ~0ull : 0));
    } else if (json_tag(j) == JSON_TAG_DOUBLE) {
        uint64_t bits;
        char bytes[8];
        memcpy(&bits, &j.d, 8);
        for (int i = 0; i < 8; i++) bytes[i] = (char)(bits >> 8 * i);
        put_tag(out, TAG_DOUBLE);
        buf_add(out, bytes, 8);
    } else {
        Buf text = BUF_INIT;
        json_number_print(j, &text);
        put_tag(out, TAG_DECIMAL);
        put_varint(out, text.len);
        buf_add(out, text.data, text.len);
        buf_clear(&text);
    }
}

typedef struct Walk {
    Json container; /* borrowed */
    size_t pos;
} Walk;

typedef struct Writer {
    Buf *out;
    Walk *walks;
    size_t depth, capacity;
} Writer;

static void open_container(Writer *w, Json j) {
    if (json_tag(j) == JSON_TAG_ARRAY) {
        put_head(w->out, TAG_SHORT_ARRAY, TAG_ARRAY, json_array_len(j), SHORT_COUNTS);
    } else {
        put_head(w->out, TAG_SHORT_OBJECT, TAG_OBJECT, json_object_len(j), SHORT_COUNTS);
    }
    w->walks = mem_grow(w->walks, w->depth, &w->capacity, sizeof(Walk));
    w->walks[w->depth++] = (Walk){j, 0};
}

static void put_value(Writer *w, const Json *j) {
    switch (json_kind(*j)) {
    case JSON_FALSE: put_tag(w->out, TAG_FALSE); break;
    case JSON_TRUE: put_tag(w->out, TAG_TRUE); break;
    case JSON_NUMBER: put_number(w->out, *j); break;
    case JSON_STRING: put_string(w->out, j); break;
    case JSON_ARRAY:
    case JSON_OBJECT: open_container(w, *j); break;
    default: put_tag(w->out, TAG_NULL); break;
    }
}

void json_encode(Json j, Buf *out) {
    Writer w = {.out = out};
    put_value(&w, &j);
    while (w.depth > 0) {
        Walk *walk = &w.walks[w.depth - 1];
        Json key, value;
        if (json_tag(walk->container) == JSON_TAG_ARRAY) {
            size_t n;
            const Json *run = json_array_run(walk->container, walk->pos++, &n);
            value = n ? *run : json_none();
        } else if (json_object_next(walk->container, &walk->pos, &key, &value)) {
            put_string(w.out, &key);
        } else {
            value = json_none();
        }
        if (json_is_none(value)) {
            w.depth--;
        } else {
            put_value(&w, &value);
        }
    }
    mem_free(w.walks);
}

/* ---- reading ---- */

typedef struct Frame {
    size_t start; /* of its values on the stack */
    size_t left;  /* values to come, keys included */
    bool object;
    uint64_t bytes; /* of the reader, before its values */
} Frame;

typedef struct Reader {
    const unsigned char *start, *pos, *end;
    Json *values;
    size_t count, capacity;
    Frame *frames;
    size_t depth, frame_capacity;
    uint64_t bytes; /* json_size() of the values, and what they may have at most */
    uint64_t max;
    const char *damage; /* NULL where it is too large */
} Reader;

static bool damaged(Reader *r, const char *what) {
    r->damage = what;
    return false;
}

static size_t bytes_left(const Reader *r) {
    return (size_t)(r->end - r->pos);
}

static bool get_varint(Reader *r, uint64_t *v) {
    *v = 0;
    for (int i = 0; i < VARINT_MAX; i++) {
        if (r->pos == r->end) return damaged(r, "it is cut off");
        unsigned char c = *r->pos++;
        *v |= (uint64_t)(c & 0x7F) << 7 * i;
        if (c < 0x80) {
            bool padded = i > 0 && c == 0, too_large = i == VARINT_MAX - 1 && c > 1;
            return !padded && !too_large ? true : damaged(r, "a number is not in its short form");
        }
    }
    return damaged(r, "a number is too long");
}

/* A length of bytes that are there, then the bytes. */
static const char *get_bytes(Reader *r, uint64_t n) {
    if (n > bytes_left(r)) {
        damaged(r, "it is cut off");
        return NULL;
    }
    const char *bytes = (const char *)r->pos;
    r->pos += n;
    return bytes;
}

static bool get_string(Reader *r, uint64_t n, Json *out) {
    const char *bytes = get_bytes(r, n);
    if (!bytes) return false;
    if (n > JSON_STRING_MAX) return damaged(r, "a string is too long");
    if (utf8_valid_prefix(bytes, n) != n) return damaged(r, "a string is not UTF-8");
    *out = json_string_valid(bytes, n);
    return true;
}

static bool prints_as(Json j, const char *text, size_t len) {
    Buf b = BUF_INIT;
    json_number_print(j, &b);
    bool same = b.len == len && memcmp(b.data, text, len) == 0;
    buf_clear(&b);
    return same;
}

/* Only what the writer writes: a canonical literal that is neither an integer nor a double. */
static bool get_decimal(Reader *r, Json *out) {
    uint64_t n;
    const char *text = get_varint(r, &n) ? get_bytes(r, n) : NULL;
    if (!text) return false;
    Json j = json_number_parse(text, n);
    bool decimal = json_tag(j) == JSON_TAG_DECIMAL || json_tag(j) == JSON_TAG_SHORT_DECIMAL;
    if (!decimal || !prints_as(j, text, n)) {
        json_unref(j);
        return damaged(r, "a number literal is not one");
    }
    *out = j;
    return true;
}

static bool open_frame(Reader *r, bool object, uint64_t n) {
    if (n > bytes_left(r) / (object ? 2 : 1)) return damaged(r, "it is cut off");
    if (r->depth == DECODE_DEPTH) return damaged(r, "it is nested too deep");
    r->frames = mem_grow(r->frames, r->depth, &r->frame_capacity, sizeof(Frame));
    r->frames[r->depth++] = (Frame){r->count, object ? 2 * (size_t)n : (size_t)n, object, r->bytes};
    return true;
}

static bool get_value(Reader *r, Json *out) {
    *out = json_none();
    if (r->pos == r->end) return damaged(r, "it is cut off");
    unsigned char tag = *r->pos++;
    if (tag >= TAG_SMALL_INT) {
        *out = json_int(tag - TAG_SMALL_INT);
        return true;
    }
    if (tag >= TAG_SHORT_STRING && tag < TAG_SHORT_STRING + SHORT_STRINGS) {
        return get_string(r, tag - TAG_SHORT_STRING, out);
    }
    if (tag >= TAG_SHORT_ARRAY && tag < TAG_SHORT_OBJECT + SHORT_COUNTS) {
        return open_frame(r, tag >= TAG_SHORT_OBJECT, tag % SHORT_COUNTS);
    }
    /* *out stays JSON_NONE when a container was opened. */
    uint64_t n = 0, bits = 0;
    bool counted = tag == TAG_INT || (tag >= TAG_STRING && tag <= TAG_OBJECT);
    if (counted && !get_varint(r, &n)) return false;
    switch (tag) {
    case TAG_NULL: *out = json_null(); return true;
    case TAG_FALSE: *out = json_bool(false); return true;
    case TAG_TRUE: *out = json_bool(true); return true;
    case TAG_INT: *out = json_int((int64_t)(n >> 1 ^ (n & 1 ? ~0ull : 0))); return true;
    case TAG_DECIMAL: return get_decimal(r, out);
    case TAG_STRING: return get_string(r, n, out);
    case TAG_ARRAY:
    case TAG_OBJECT: return open_frame(r, tag == TAG_OBJECT, n);
    case TAG_DOUBLE: break;
    default: return damaged(r, "there is no such kind of value");
    }
    const unsigned char *bytes = (const unsigned char *)get_bytes(r, 8);
    for (int i = 0; bytes && i < 8; i++) bits |= (uint64_t)bytes[i] << 8 * i;
    double d;
    memcpy(&d, &bits, 8);
    *out = bytes ? json_double(d) : json_none();
    return bytes != NULL;
}

static bool add_value(Reader *r, Json v) {
    Frame *f = r->depth ? &r->frames[r->depth - 1] : NULL;
    r->values = mem_grow(r->values, r->count, &r->capacity, sizeof(Json));
    r->values[r->count++] = v;
    r->bytes += json_size(v);
    if (r->bytes > r->max) return damaged(r, NULL);
    if (f && f->object && f->left % 2 == 0 && json_kind(v) != JSON_STRING) {
        return damaged(r, "a key is not a string");
    }
    if (f) f->left--;
    return true;
}

/* Makes containers of what is complete, from the inside out. */
static bool close_frames(Reader *r) {
    while (r->depth > 0 && r->frames[r->depth - 1].left == 0) {
        Frame f = r->frames[--r->depth];
        size_t n = r->count - f.start;
        Json *first = n ? r->values + f.start : NULL;
        Json made = f.object ? json_object_from(first, n / 2) : json_array_from(first, n);
        r->count = f.start;
        r->bytes = f.bytes;
        bool distinct = !f.object || json_object_len(made) == n / 2;
        if (!add_value(r, made)) return false;
        if (!distinct) return damaged(r, "a key is there twice");
    }
    return true;
}

Json json_decode_within(const void *data, size_t len, uint64_t max, size_t *used, Error *err) {
    const unsigned char *bytes = len ? data : (const void *)"";
    Reader r = {.start = bytes, .pos = bytes, .end = bytes + len, .max = max};
    Json result = json_none(), v;
    bool fine;
    do {
        fine = get_value(&r, &v) && (json_is_none(v) || add_value(&r, v)) && close_frames(&r);
    } while (fine && r.depth > 0);
    if (fine) {
        result = r.values[--r.count];
    } else if (r.damage) {
        error_set(err, ERR_DATA, "The binary value is damaged at byte %zu: %s.",
                  (size_t)(r.pos - r.start), r.damage);
    } else {
        error_set(err, ERR_LIMIT, "The binary value takes more than %llu MB.",
                  (unsigned long long)(max >> 20));
    }
    while (r.count > 0) json_unref(r.values[--r.count]);
    if (used) *used = (size_t)(r.pos - r.start);
    mem_free(r.values);
    mem_free(r.frames);
    return result;
}

Json json_decode(const void *data, size_t len, size_t *used, Error *err) {
    return json_decode_within(data, len, UINT64_MAX, used, err);
}
