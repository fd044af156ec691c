/* json.h - the JSON value.
 *
 * A Json is a 16-byte plain value: pass it, store it, compare its tag. null, booleans, integers,
 * doubles, short strings (up to 13 bytes) and short decimal literals live inside it; longer
 * strings, arrays and objects are on the heap behind a reference count.
 *
 * Values never change under a holder. A builder (json_array_push, json_object_set, ...) consumes
 * its arguments and returns the result; when nobody else holds the value it is changed in place,
 * otherwise the few nodes on the way to the change are copied: O(log n), never O(n). A reader
 * (json_array_get, json_object_get, ...) borrows its arguments, and what it returns is borrowed
 * from the container: json_ref() it to keep it.
 *
 * Ownership in two rules:
 *   - every function that takes a Json borrows it unless its comment says "consumes";
 *   - every function that returns a Json gives it to the caller unless its comment says "borrowed".
 *
 * A tag is never trusted. A reader of a value of another type finds nothing there (an empty string, an
 * array or object without items, the number 0), and a builder begins with an empty one, in every build:
 * a value from outside that is not what it should be costs an answer, not a pointer.
 *
 * JSON_NONE is not a JSON value. It is what a look-up returns when there is nothing there, and the
 * zero of the type; releasing it does nothing.
 *
 * Numbers are exact 64-bit integers where they are integers, doubles otherwise. A literal that
 * neither form prints back as it was written (1.000, 1E+1000, 40 digits) keeps its text until
 * arithmetic touches it.
 *
 * Objects keep the order in which keys were first set. Strings are always valid UTF-8 and may hold
 * NULs.
 *
 * A value belongs to one thread. The heap it uses is counted for that thread: see
 * json_heap_bytes().
 */
#ifndef PAWL_JSON_H
#define PAWL_JSON_H

#include "buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a value is, in jq's sort order. */
typedef enum JsonKind {
    JSON_NONE,
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
} JsonKind;

/* How a value is held. From JSON_TAG_HEAP on, `heap` is a counted reference. */
enum {
    JSON_TAG_NONE,
    JSON_TAG_NULL,
    JSON_TAG_FALSE,
    JSON_TAG_TRUE,
    JSON_TAG_INT,
    JSON_TAG_DOUBLE,
    JSON_TAG_SHORT_DECIMAL, /* text of a literal, in the value */
    JSON_TAG_SHORT_STRING,
    JSON_TAG_HEAP,
    JSON_TAG_DECIMAL = JSON_TAG_HEAP, /* text of a literal, on the heap */
    JSON_TAG_STRING,
    JSON_TAG_ARRAY,
    JSON_TAG_OBJECT,
};

enum {
    JSON_SHORT_ROOM = 14, /* bytes of a text in the value itself */
    JSON_SHORT_MAX =
        13, /* longest string held there: a NUL follows it, as it follows every string */
    JSON_DEPTH_MAX = 10000,    /* nesting that parsing, printing, comparing and paths go down to */
    JSON_LEN_MAX = 0x1FFFFFFF, /* longest array that an index can ask for, as in jq */
    JSON_STRING_MAX =
        0x7FFFFFFE, /* bytes in a string; longer ones are refused before they are made */
};

/* First fields of everything on the heap. */
typedef struct JsonHeap {
    uint32_t refs;
    uint16_t depth; /* at least the nesting below, itself included; 65535 means "or more" */
    uint8_t level;  /* of a node: height above the leaves (see json_tree.h) */
    uint8_t n;      /* of a node: values or children in use */
} JsonHeap;

/* The tag is the low byte of the first word. A short text's length is the byte above it, and the
 * text itself fills the bytes from JSON_SHORT_AT on, unused ones zero. Only whole words are ever
 * written, so that a value just stored can be loaded again without the processor waiting. */
typedef struct Json {
    uint64_t head_;
    union {
        int64_t i;
        double d;
        JsonHeap *heap;
        uint64_t word_;
    };
} Json;

enum { JSON_SHORT_AT = 2 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "short texts lie across both words in order");
_Static_assert(sizeof(Json) == 16, "a Json is two machine words");

static inline uint8_t json_tag(Json j) {
    return (uint8_t)j.head_;
}

static inline size_t json_short_len(Json j) {
    return (uint8_t)(j.head_ >> 8);
}

static inline const char *json_short_text(const Json *j) {
    return (const char *)j + JSON_SHORT_AT;
}

/* ---- life ---- */

uint64_t json_heap_size_(Json j);                /* of json_size() */
void json_release_(JsonHeap *heap, uint8_t tag); /* the last reference has gone; iterative */

/* A large value that nobody holds any more takes as long to free as it took to make. While this is on, in this
 * thread, a part of it is freed at once and the rest waits: for json_release_more(), which frees another part
 * and says whether there is more, or for its turn when too much waits. Its bytes count until then. */
void json_release_slices(bool on);
bool json_release_more(void);

static inline bool json_on_heap(Json j) {
    return json_tag(j) >= JSON_TAG_HEAP;
}

static inline Json json_ref(Json j) {
    if (json_on_heap(j)) j.heap->refs++;
    return j;
}

static inline void json_unref(Json j) {
    if (json_on_heap(j) && --j.heap->refs == 0) json_release_(j.heap, json_tag(j));
}

/* Releases *slot and leaves JSON_NONE in it. */
static inline void json_clear(Json *slot) {
    Json old = *slot;
    *slot = (Json){0};
    json_unref(old);
}

/* Releases *slot and moves the value into it. */
static inline void json_put(Json *slot, Json value) {
    Json old = *slot;
    *slot = value;
    json_unref(old);
}

/* Moves the value out of *slot and leaves JSON_NONE in it. */
static inline Json json_take(Json *slot) {
    Json j = *slot;
    *slot = (Json){0};
    return j;
}

/* Nobody else holds it, so a builder will work in place. */
static inline bool json_unshared(Json j) {
    return !json_on_heap(j) || j.heap->refs == 1;
}

/* Bytes of heap that values of this thread occupy now. A budget is a difference of two readings. */
size_t json_heap_bytes(void);
/* Values that one thread hands to another whole: the one takes bytes off its count (a negative number
 * of them, as a size_t), the other adds them to its own. */
void json_heap_move(size_t bytes);

/* ---- kinds ---- */

extern const uint8_t json_kind_of_tag_[];

static inline JsonKind json_kind(Json j) {
    return (JsonKind)json_kind_of_tag_[json_tag(j)];
}

/* "null", "boolean", "number", "string", "array", "object". */
const char *json_kind_name(JsonKind kind);

static inline bool json_is_none(Json j) {
    return json_tag(j) == JSON_TAG_NONE;
}

/* Neither false nor null (nor JSON_NONE). */
static inline bool json_truthy(Json j) {
    return json_tag(j) > JSON_TAG_FALSE;
}

static inline Json json_none(void) {
    return (Json){0};
}

static inline Json json_null(void) {
    return (Json){.head_ = JSON_TAG_NULL};
}

static inline Json json_bool(bool b) {
    return (Json){.head_ = b ? JSON_TAG_TRUE : JSON_TAG_FALSE};
}

/* The very same value: the same bits or the same heap object. Cheaper than equal, and narrower. */
static inline bool json_identical(Json a, Json b) {
    return a.head_ == b.head_ && a.word_ == b.word_;
}

/* ---- numbers ---- */

static inline Json json_int(int64_t i) {
    Json j = {.head_ = JSON_TAG_INT};
    j.i = i;
    return j;
}

/* As a double, whatever its value. */
static inline Json json_double(double d) {
    Json j = {.head_ = JSON_TAG_DOUBLE};
    j.d = d;
    return j;
}

/* The result of arithmetic: an integer when it is one that doubles hold exactly (|d| <= 2^53). */
static inline Json json_number(double d) {
    if (d >= -9007199254740992.0 && d <= 9007199254740992.0) {
        int64_t i = (int64_t)d;
        if ((double)i == d && (i != 0 || !__builtin_signbit(d))) return json_int(i);
    }
    return json_double(d);
}

/* A number from its JSON text, which must be a JSON number (leading + and missing digits around the
 * point are accepted as jq does: "+5", ".5", "5."), "nan" or "infinity" in any case with an
 * optional sign. JSON_NONE when it is not one. */
Json json_number_parse(const char *text, size_t len);

double json_decimal_double_(Json j);

/* The value as a double. */
static inline double json_to_double(Json j) {
    return json_tag(j) == JSON_TAG_INT      ? (double)j.i
           : json_tag(j) == JSON_TAG_DOUBLE ? j.d
                                            : json_decimal_double_(j);
}

/* -j and |j| without loss of digits; j must be a number. */
Json json_number_negate(Json j);
Json json_number_abs(Json j);

/* Orders two numbers: literals and integers exactly, anything that arithmetic made as doubles.
 * NaN is below every number, itself included. */
int json_number_compare(Json a, Json b);

/* Appends the number as JSON text: NaN as null, infinities as the largest double. */
void json_number_print(Json j, Buf *out);

/* ---- strings ---- */

/* Bad UTF-8 is replaced by U+FFFD. */
Json json_string(const char *s, size_t len);
Json json_string_c(const char *s);
/* The caller vouches that s is valid UTF-8. */
Json json_string_valid(const char *s, size_t len);
Json json_string_buf(Buf *b); /* valid UTF-8; empties b, keeping its memory for reuse */
Json json_string_fmt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

typedef struct JsonStr {
    JsonHeap h;
    uint32_t hash; /* 0: not known yet */
    uint32_t len;
    uint32_t cap; /* bytes that data can hold, the final NUL included */
    char data[];  /* NUL-terminated */
} JsonStr;

static inline size_t json_string_len(Json s) {
    return json_tag(s) == JSON_TAG_SHORT_STRING ? json_short_len(s)
           : json_tag(s) == JSON_TAG_STRING     ? ((const JsonStr *)s.heap)->len
                                                : 0;
}

/* The bytes, borrowed from *s: a short string's are in *s itself, so *s must stay where it is. A NUL
 * follows them; a string of users may hold others, so its length is json_string_len(). */
static inline const char *json_string_data(const Json *s) {
    return json_tag(*s) == JSON_TAG_SHORT_STRING ? json_short_text(s)
           : json_tag(*s) == JSON_TAG_STRING     ? ((const JsonStr *)s->heap)->data
                                                 : "";
}

/* Consumes s; in place, with room to grow, when unshared. tail must be valid UTF-8. */
Json json_string_append(Json s, const char *tail, size_t len);

/* Orders by bytes, which is also by code point. */
int json_string_compare(Json a, Json b);
bool json_string_equal(Json a, Json b);
bool json_string_is(Json s, const char *literal); /* false when s is not a string */

/* ---- arrays ---- */

Json json_array(void);
/* Moves n values out of items (which the caller still owns as memory). */
Json json_array_from(Json *items, size_t n);
size_t json_array_len(Json a);
Json json_array_get(Json a, size_t i);         /* borrowed; JSON_NONE past the end */
Json json_array_push(Json a, Json v);          /* consumes both */
Json json_array_set(Json a, size_t i, Json v); /* consumes both; fills with null up to i */
/* Consumes both. Shares nodes of both, so that doubling is cheap in memory: whoever lets users add
 * arrays refuses lengths past JSON_LEN_MAX first. */
Json json_array_concat(Json a, Json b);
Json json_array_slice(Json a, size_t from, size_t to); /* consumes a; bounds are clipped */
/* Replaces items [from, to) by those of b; consumes both. */
Json json_array_splice(Json a, size_t from, size_t to, Json b);
/* Moves item i out of *a, leaving null there, so that it can be changed in place and put back. Only
 * copies what is shared. JSON_NONE past the end. */
Json json_array_lift(Json *a, size_t i);
/* The longest contiguous run of items that starts at i: borrowed; *n is 0 at the end. The way to
 * walk an array: for (i = 0; (run = json_array_run(a, i, &n)), n; i += n) ... */
const Json *json_array_run(Json a, size_t i, size_t *n);

/* ---- objects ---- */

Json json_object(void);
/* Moves 2n values (key, value, key, value ...) out of pairs. A repeated key keeps its first place
 * and its last value. */
Json json_object_from(Json *pairs, size_t n);
size_t json_object_len(Json o);
Json json_object_get(Json o, Json key);          /* borrowed; JSON_NONE when absent */
Json json_object_get_c(Json o, const char *key); /* the same, for a C string */
/* The text of a string in o, lent as long as o is held and not changed. NULL: no string is there, or o is
 * no object. */
const char *json_object_text(Json o, const char *key);
Json json_object_set(Json o, Json key, Json value); /* consumes all three; key is a string */
Json json_object_with(Json o, const char *key, Json value); /* the same, for a C string */
Json json_object_remove(Json o, Json key);                  /* consumes o */
/* Moves the value of a key out of *o, leaving null there; JSON_NONE when the key is absent. */
Json json_object_lift(Json *o, Json key);
/* Walks in order: start with *pos = 0; false at the end. key and value are borrowed. */
bool json_object_next(Json o, size_t *pos, Json *key, Json *value);
/* The keys as an array, sorted by code point or in order of insertion. */
Json json_object_keys(Json o, bool sorted);

/* ---- whole values ---- */

/* Approximate bytes of the sub-tree, shared parts counted each time, without walking it.
 * Saturates. */
static inline uint64_t json_size(Json j) {
    return sizeof j + (json_on_heap(j) ? json_heap_size_(j) : 0);
}

/* Equal as jq's == sees it. Not recursive; any depth; what is shared is skipped. */
bool json_equal(Json a, Json b);

/* jq's total order: -1, 0, 1. Any depth. */
int json_compare(Json a, Json b);

/* The same, but false (and *result untouched) when either is nested deeper than max_depth levels where
 * they still agree, or when the work needs more than *work units (about one for each pair of values, and
 * for each 256 bytes of text), which is counted down and then 0. Values that hold the same parts many
 * times can be small and still take forever. */
bool json_equal_working(Json a, Json b, int max_depth, uint64_t *work, bool *result);
bool json_compare_working(Json a, Json b, int max_depth, uint64_t *work, int *result);

/* Hash of a string, never 0; keyed for this process so that nobody can aim collisions at us. */
uint32_t json_string_hash(Json s);

#endif
