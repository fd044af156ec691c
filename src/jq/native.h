/* native.h - what the natives share among themselves. Internal to the native_*.c files.
 *
 * Everything here borrows its arguments unless it says otherwise.
 */
#ifndef PAWL_NATIVE_H
#define PAWL_NATIVE_H

#include "jq_native.h"

/* "<kind> (<excerpt>) <what>" and "<a> and <b> <what>", as jq words them. */
Json native_fail_type(JqRun *run, Json bad, const char *what);
Json native_fail_types(JqRun *run, Json a, Json b, const char *what);

/* Pays for touching `bytes` bytes and asks for room for as many. Cheap for small amounts. */
bool native_afford(JqRun *run, uint64_t bytes);

/* The largest text that this run may make. */
size_t native_text_max(JqRun *run);

/* The result of arithmetic: an integer only strictly inside +-2^53, where every integer is a double
 * of its own, so that what was rounded still compares as a double. */
static inline Json native_number(double d) {
    return d == 9007199254740992.0 || d == -9007199254740992.0 ? json_double(d) : json_number(d);
}

/* A native function that is one expression over `run` and `args`. */
#define NATIVE(name, expression)               \
    static Json name(JqRun *run, Json *args) { \
        (void)run, (void)args;                 \
        return expression;                     \
    }

/* The bytes of a string, borrowed from *s, which must stay where it is. */
typedef struct Text {
    const char *data;
    size_t len;
} Text;

static inline Text native_text(const Json *s) {
    return (Text){json_string_data(s), json_string_len(*s)};
}

/* Where `needle` first occurs in [from, end), or NULL. An empty needle occurs nowhere. */
const char *native_find(const char *from, const char *end, Text needle);

/* Characters of a text that may be long. */
size_t native_length(const char *text, size_t len);

/* The values of an array in jq's order, given; JSON_NONE when the run failed. */
Json native_sorted(JqRun *run, Json array);

/* The parts of s between occurrences of sep, as jq's split/1; both are strings. */
Json native_split(JqRun *run, const Json *s, const Json *sep);

/* Walks the values of an array or an object, as .[] does. Start with native_walk(). */
typedef struct Walk {
    Json of; /* borrowed */
    size_t pos, left;
    const Json *at;
} Walk;

/* False, after jq_fail(), when `of` is neither array nor object. */
bool native_walk(JqRun *run, Json of, Walk *w);
/* What comes next, borrowed. The key of an array's value is its index. False at the end. */
bool native_walk_next(Walk *w, Json *key, Json *value);

#endif
