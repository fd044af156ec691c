/* json_build.h - an object as one expression, so that it looks in C as it looks on the wire.
 *
 *     Json event = OBJECT(KEY("event", "paused"), KEY("frame", frame_id(f)), KEY("error", error));
 *     event = OBJECT_ADD(event, KEY("line", line));
 *
 * KEY() takes a Json (consumed), a string of C, an int64_t or another 64-bit integer, a bool or a double.
 * A value of another type does not compile, and neither does a plain int, which might be meant as a number
 * or as a truth: json_int() and json_bool() say which. `a == b` is an int in C.
 *
 * ARRAY(a, b) is the same for an array, of Json alone.
 *
 * A key whose value is JSON_NONE, or a NULL string, is left out: what there is nothing to say of is not
 * there, and nothing has to be null. Values are made in order; each argument is evaluated once.
 */
#ifndef PAWL_JSON_BUILD_H
#define PAWL_JSON_BUILD_H

#include "json.h"

typedef struct JsonKey {
    const char *key;
    Json value;
} JsonKey;

#define KEY(key, value) \
    { (key), json_from_(value) }
#define OBJECT(...) OBJECT_ADD(json_object(), __VA_ARGS__)
#define OBJECT_ADD(object, ...)                                \
    json_object_add_((object), (const JsonKey[]){__VA_ARGS__}, \
                     sizeof((const JsonKey[]){__VA_ARGS__}) / sizeof(JsonKey))
#define ARRAY(...) \
    json_array_from((Json[]){__VA_ARGS__}, sizeof((Json[]){__VA_ARGS__}) / sizeof(Json))

/* Sets all keys of another object, in a new one where `into` is JSON_NONE. Consumes into, borrows from. */
Json json_object_merge(Json into, Json from);

/* Milliseconds since 1970 as the interface has times: "2026-11-16T04:35:57.123Z". */
Json json_time(int64_t ms);
bool json_time_ms(Json time, int64_t *ms); /* and back; false when it is no such text */

/* Sets all keys whose value is there, consuming all of it. */
Json json_object_add_(Json object, const JsonKey *keys, size_t n);

/* JSON_NONE for NULL. */
Json json_from_text_(const char *text);

static inline Json json_from_json_(Json value) {
    return value;
}

static inline Json json_from_uint_(uint64_t value) {
    return value <= INT64_MAX ? json_int((int64_t)value) : json_double((double)value);
}

#define json_from_(value) \
    _Generic((value),                          \
             Json: json_from_json_,            \
             char *: json_from_text_,          \
             const char *: json_from_text_,    \
             long: json_int,                   \
             long long: json_int,              \
             unsigned long: json_from_uint_,   \
             unsigned long long: json_from_uint_, \
             _Bool: json_bool,                 \
             double: json_double)(value)

#endif
