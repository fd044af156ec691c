/* native_match.c - what the prelude's regular-expression functions do with matches. */
#include "native.h"

#include "json_breath.h"
#include "utf8.h"

#include <string.h>

/* The pattern and its flags from what match, test and capture accept: "re", ["re"], ["re",
 * "flags"]. */
static Json regex_args(JqRun *run, Json *args) {
    Json given = args[1];
    JsonKind kind = json_kind(given);
    if (kind == JSON_STRING) {
        return json_array_push(json_array_push(json_array(), json_ref(given)), json_null());
    }
    if (kind == JSON_ARRAY && json_array_len(given) > 0) return json_ref(given);
    return jq_fail(run, "%s not a string or array", json_kind_name(kind));
}

/* {name: text} of a match's named groups. */
static Json captures(JqRun *run, Json *args) {
    (void)run;
    Json groups = json_object_get_c(args[0], "captures"), result = json_object();
    for (size_t i = 0; i < json_array_len(groups); i++) {
        Json group = json_array_get(groups, i), name = json_object_get_c(group, "name");
        if (json_kind(name) == JSON_STRING) {
            result = json_object_set(result, json_ref(name),
                                     json_ref(json_object_get_c(group, "string")));
        }
    }
    return result;
}

/* Walks along a string by character offsets that never go back, so that all of them together cost
 * one pass. */
typedef struct Along {
    Text text;
    size_t chars, bytes;
} Along;

static size_t along_to(Along *a, size_t chars) {
    if (chars > a->chars) {
        a->bytes += utf8_offset(a->text.data + a->bytes, a->text.len - a->bytes, chars - a->chars);
        a->chars = chars;
    }
    return a->bytes;
}

typedef struct Extent {
    size_t from, to; /* in bytes */
} Extent;

static Extent extent_of(Along *a, Json match) {
    size_t offset = (size_t)json_to_double(json_object_get_c(match, "offset"));
    size_t length = (size_t)json_to_double(json_object_get_c(match, "length"));
    Extent e;
    e.from = along_to(a, offset);
    e.to = along_to(a, offset + length);
    return e;
}

/* The pieces of the input between the matches. */
static Json split_at(JqRun *run, Json *args) {
    Along a = {.text = native_text(&args[0])};
    if (!native_afford(run, a.text.len)) return json_none();
    Json pieces = json_array();
    size_t from = 0;
    for (size_t i = 0; i < json_array_len(args[1]); i++) {
        Extent e = extent_of(&a, json_array_get(args[1], i));
        pieces = json_array_push(pieces, json_string_valid(a.text.data + from, e.from - from));
        from = e.to;
        json_breathe();
    }
    return json_array_push(pieces, json_string_valid(a.text.data + from, a.text.len - from));
}

/* Adds `gap` and then `piece` to result number i. */
static bool append_to(JqRun *run, Json *results, size_t i, Json gap, Json piece) {
    Json sum = i < json_array_len(*results) ? json_array_lift(results, i) : json_null();
    sum = jq_add(run, json_is_none(sum) ? json_null() : sum, json_ref(gap));
    if (!json_is_none(sum)) sum = jq_add(run, sum, json_ref(piece));
    if (json_is_none(sum)) return false;
    *results = json_array_set(*results, i, sum);
    return true;
}

static bool append_all(JqRun *run, Json *results, Json gap, Json pieces) {
    bool ok = true;
    for (size_t i = 0; ok && i < json_array_len(pieces); i++) {
        ok = append_to(run, results, i, gap, json_array_get(pieces, i));
    }
    return ok;
}

/* sub: matches, and for each of them the texts that may replace it. The first results take the
 * first texts, the second ones the second, and so on; without any the input stays as it is. */
static Json substitute(JqRun *run, Json *args) {
    Along a = {.text = native_text(&args[0])};
    Json results = json_array();
    size_t from = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < json_array_len(args[1]); i++) {
        Extent e = extent_of(&a, json_array_get(args[1], i));
        Json gap = json_string_valid(a.text.data + from, e.from - from);
        ok = append_all(run, &results, gap, json_array_get(args[2], i));
        json_unref(gap);
        from = e.to;
        json_breathe();
    }
    Json rest = json_string_valid(a.text.data + from, a.text.len - from);
    if (ok && json_array_len(results) == 0) {
        results = json_array_push(results, json_ref(args[0]));
    } else {
        for (size_t i = 0; ok && i < json_array_len(results); i++) {
            ok = append_to(run, &results, i, rest, json_null());
        }
    }
    json_unref(rest);
    if (!ok) {
        json_unref(results);
        return json_none();
    }
    return results;
}

const JqNative jq_natives_match[] = {
    {"_regex_args", 1, JQ_PURE, regex_args},
    {"_captures", 0, JQ_PURE, captures},
    {"_split_at", 1, JQ_PURE, split_at},
    {"_substitute", 2, JQ_PURE, substitute},
    {0},
};
