/* fuzz_values.h - mutations of JSON documents, for fuzz targets whose input is one.
 *
 * One of bytes is hardly ever JSON, and hardly ever of the shape that is looked at. So a value of a valid
 * document is taken out, put instead of another, or changed for one of another type, field by field; all
 * else stays as it was.
 */
#ifndef PAWL_FUZZ_VALUES_H
#define PAWL_FUZZ_VALUES_H

#include "buf.h"
#include "json.h"
#include "json_parse.h"
#include "json_print.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_DEPTH_MAX = 200, FUZZ_DOCUMENT_MAX = 4 << 20 };

static uint32_t dice_state;

static inline uint32_t dice(uint32_t sides) {
    dice_state = dice_state * 1664525u + 1013904223u;
    return (dice_state >> 8) % sides;
}

static inline Json read_document(const uint8_t *data, size_t size) {
    JsonParseOptions options = {.max_bytes = FUZZ_DOCUMENT_MAX, .max_depth = FUZZ_DEPTH_MAX};
    return json_parse((const char *)data, size, &options, NULL);
}

static inline size_t count_values(Json j) {
    size_t n = 1;
    Json key, value;
    for (size_t i = 0; json_kind(j) == JSON_ARRAY && i < json_array_len(j); i++) {
        n += count_values(json_array_get(j, i));
    }
    for (size_t pos = 0; json_kind(j) == JSON_OBJECT && json_object_next(j, &pos, &key, &value);) {
        n += count_values(value);
    }
    return n;
}

/* The nth value of a document, in the order in which it is written; borrowed. */
static inline Json nth_value(Json j, size_t *n) {
    Json key, value, found = json_none();
    if ((*n)-- == 0) return j;
    for (size_t i = 0; json_kind(j) == JSON_ARRAY && i < json_array_len(j); i++) {
        found = nth_value(json_array_get(j, i), n);
        if (!json_is_none(found)) return found;
    }
    for (size_t pos = 0; json_kind(j) == JSON_OBJECT && json_object_next(j, &pos, &key, &value);) {
        found = nth_value(value, n);
        if (!json_is_none(found)) return found;
    }
    return found;
}

static inline Json any_value_of(Json document) {
    size_t n = dice((uint32_t)count_values(document));
    return json_ref(nth_value(document, &n));
}

/* A value of each type, and some that are at the edge of what is allowed; then `words` of the target's own, which
 * may be none. */
static inline Json strange_value(const char *const *words) {
    static const char *const texts[] = {
        "null",   "true",    "false",      "0",
        "1",      "-1",      "2",          "9223372036854775807",
        "0.5",    "1e300",   "\"\"",       "\"1\"",
        "\"..\"", "[]",      "{}",         "-9223372036854775808",
        "[[]]",   "[0]",     "{\"a\":1}",  "\"\\u0000\"",
        "\"a\"",  "[\"a\"]", "4294967296",
    };
    size_t own = 0, n = sizeof texts / sizeof *texts;
    while (words && words[own]) own++;
    size_t which = dice((uint32_t)(n + own));
    const char *text = which < n ? texts[which] : words[which - n];
    return json_parse(text, strlen(text), NULL, NULL);
}

/* What is to stand there instead; JSON_NONE: nothing. Borrows both. */
static inline Json changed_value(Json document, Json j, const char *const *words) {
    static const int64_t by[] = {1, -1, 2, 1000, -100000, INT64_C(1) << 40, -(INT64_C(1) << 62)};
    uint32_t how = dice(8);
    if (how == 0) return json_none();
    if (how < 3) return any_value_of(document);
    if (json_tag(j) == JSON_TAG_INT && how < 6) {
        return json_int((int64_t)((uint64_t)j.i + (uint64_t)by[dice(sizeof by / sizeof *by)]));
    }
    if (json_kind(j) == JSON_ARRAY && how < 5) {
        return json_array_push(json_ref(j),
                               how == 3 ? strange_value(words) : any_value_of(document));
    }
    if (json_kind(j) == JSON_OBJECT && how < 5) {
        Json key = how == 3 ? strange_value(words) : any_value_of(document);
        if (json_kind(key) == JSON_STRING) {
            return json_object_set(json_ref(j), key, any_value_of(document));
        }
        json_unref(key);
    }
    return strange_value(words);
}

/* The document with its nth value changed; consumes j. */
static inline Json change_nth_value(Json document, Json j, size_t *n, const char *const *words) {
    Json key, value, all = json_ref(j);
    size_t len = json_kind(j) == JSON_ARRAY ? json_array_len(j) : 0;
    if ((*n)-- == 0) {
        Json out = changed_value(document, j, words);
        json_unref(j);
        json_unref(all);
        return out;
    }
    for (size_t i = 0; i < len && *n != SIZE_MAX; i++) {
        Json out = change_nth_value(document, json_ref(json_array_get(all, i)), n, words);
        j = json_is_none(out) ? json_array_splice(j, i, i + 1, json_array())
                              : json_array_set(j, i, out);
    }
    for (size_t pos = 0; json_kind(all) == JSON_OBJECT && *n != SIZE_MAX &&
                         json_object_next(all, &pos, &key, &value);) {
        Json out = change_nth_value(document, json_ref(value), n, words);
        j = json_is_none(out) ? json_object_remove(j, key) : json_object_set(j, json_ref(key), out);
    }
    json_unref(all);
    return j;
}

/* Consumes the document; null where nothing is left of it. */
static inline Json change_value(Json document, const char *const *words) {
    size_t n = dice((uint32_t)count_values(document));
    Json whole = json_ref(document);
    Json out = change_nth_value(whole, document, &n, words);
    json_unref(whole);
    return json_is_none(out) ? json_null() : out;
}

/* The body of LLVMFuzzerCustomMutator(): up to three changes by `change`, which consumes a document and gives
 * another. */
static inline size_t mutate_document(uint8_t *data, size_t size, size_t max, unsigned seed,
                                     Json (*change)(Json document)) {
    Buf text = BUF_INIT;
    dice_state = seed;
    Json document = read_document(data, size);
    if (!json_is_none(document)) {
        for (uint32_t i = 0, n = 1 + dice(3); i < n; i++) document = change(document);
        json_print(document, NULL, &text);
    }
    if (text.len && text.len <= max) {
        memcpy(data, text.data, text.len);
        size = text.len;
    }
    buf_clear(&text);
    json_unref(document);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

#endif
