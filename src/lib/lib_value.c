/* lib_value.c - values as programs see them: json.h with other names, and safe for any kind. */
#include "lib_inside.h"

#include "json_diff.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A builder was given what it cannot build on. */
static void expect(Json j, JsonKind kind, const char *function) {
    if (json_kind(j) != kind) {
        JsonKind found = json_kind(j);
        fprintf(stderr, "libpawl: %s() was given %s instead of an %s.\n", function,
                found == JSON_NONE ? "nothing" : json_kind_name(found), json_kind_name(kind));
        abort();
    }
}

/* ---- life and kinds ---- */

PawlValue pawl_value_ref(PawlValue v) {
    return value_of(json_ref(json_of(v)));
}

void pawl_value_unref(PawlValue v) {
    json_unref(json_of(v));
}

PawlKind pawl_value_kind(PawlValue v) {
    static const PawlKind kind_of[] = {
        [JSON_NONE] = PAWL_NONE,   [JSON_NULL] = PAWL_NULL,     [JSON_FALSE] = PAWL_BOOL,
        [JSON_TRUE] = PAWL_BOOL,   [JSON_NUMBER] = PAWL_NUMBER, [JSON_STRING] = PAWL_STRING,
        [JSON_ARRAY] = PAWL_ARRAY, [JSON_OBJECT] = PAWL_OBJECT,
    };
    return kind_of[json_kind(json_of(v))];
}

bool pawl_value_truthy(PawlValue v) {
    return json_truthy(json_of(v));
}

/* ---- numbers ---- */

static int64_t cut(double d) {
    if (isnan(d)) return 0;
    return d >= 0x1p63 ? INT64_MAX : d <= -0x1p63 ? INT64_MIN : (int64_t)d;
}

int64_t pawl_value_int(PawlValue v, int64_t otherwise) {
    Json j = json_of(v);
    if (json_tag(j) == JSON_TAG_INT) return j.i;
    return json_kind(j) == JSON_NUMBER ? cut(json_to_double(j)) : otherwise;
}

double pawl_value_double(PawlValue v, double otherwise) {
    Json j = json_of(v);
    return json_kind(j) == JSON_NUMBER ? json_to_double(j) : otherwise;
}

PawlValue pawl_null(void) {
    return value_of(json_null());
}

PawlValue pawl_bool(bool b) {
    return value_of(json_bool(b));
}

PawlValue pawl_int(int64_t i) {
    return value_of(json_int(i));
}

PawlValue pawl_double(double d) {
    return value_of(json_number(d));
}

/* ---- strings ---- */

PawlValue pawl_string(const char *text) {
    return value_of(json_string_c(text));
}

PawlValue pawl_string_len(const char *text, size_t len) {
    return value_of(json_string(text, len));
}

const char *pawl_value_text(const PawlValue *v, size_t *len) {
    Json j = json_of(*v);
    if (json_kind(j) != JSON_STRING) {
        *len = 0;
        return NULL;
    }
    *len = json_string_len(j);
    /* A short string's bytes are in the caller's value, where ours are too. */
    return json_tag(j) == JSON_TAG_SHORT_STRING ? (const char *)v + JSON_SHORT_AT
                                                : json_string_data(&j);
}

size_t pawl_value_copy_text(PawlValue v, char *out, size_t size) {
    size_t len;
    const char *text = pawl_value_text(&v, &len);
    size_t kept = len < size ? len : size ? size - 1 : 0;
    if (kept) memcpy(out, text, kept);
    if (size) out[kept] = '\0';
    return len;
}

bool pawl_value_is(PawlValue v, const char *text) {
    return json_string_is(json_of(v), text);
}

/* ---- arrays ---- */

PawlValue pawl_array(void) {
    return value_of(json_array());
}

size_t pawl_array_len(PawlValue a) {
    Json j = json_of(a);
    return json_array_len(j);
}

PawlValue pawl_array_get(PawlValue a, size_t i) {
    Json j = json_of(a);
    return value_of(json_array_get(j, i));
}

/* What is not there is null inside an array or an object. */
static Json inner(PawlValue v) {
    Json j = json_of(v);
    return json_is_none(j) ? json_null() : j;
}

PawlValue pawl_array_push(PawlValue a, PawlValue v) {
    expect(json_of(a), JSON_ARRAY, "pawl_array_push");
    return value_of(json_array_push(json_of(a), inner(v)));
}

PawlValue pawl_array_set(PawlValue a, size_t i, PawlValue v) {
    expect(json_of(a), JSON_ARRAY, "pawl_array_set");
    if (i >= JSON_LEN_MAX) {
        fprintf(stderr, "libpawl: pawl_array_set() was given an index that no array has.\n");
        abort();
    }
    return value_of(json_array_set(json_of(a), i, inner(v)));
}

/* ---- objects ---- */

PawlValue pawl_object(void) {
    return value_of(json_object());
}

size_t pawl_object_len(PawlValue o) {
    Json j = json_of(o);
    return json_object_len(j);
}

PawlValue pawl_object_get(PawlValue o, const char *key) {
    Json j = json_of(o);
    return value_of(json_object_get_c(j, key));
}

PawlValue pawl_object_set(PawlValue o, const char *key, PawlValue v) {
    expect(json_of(o), JSON_OBJECT, "pawl_object_set");
    return value_of(json_object_set(json_of(o), json_string_c(key), inner(v)));
}

PawlValue pawl_object_remove(PawlValue o, const char *key) {
    expect(json_of(o), JSON_OBJECT, "pawl_object_remove");
    Json name = json_string_c(key);
    Json rest = json_object_remove(json_of(o), name);
    json_unref(name);
    return value_of(rest);
}

bool pawl_object_next(PawlValue o, size_t *pos, PawlValue *key, PawlValue *value) {
    Json j = json_of(o), k, v;
    if (json_kind(j) != JSON_OBJECT || !json_object_next(j, pos, &k, &v)) return false;
    *key = value_of(k);
    *value = value_of(v);
    return true;
}

/* ---- whole values ---- */

bool pawl_value_equal(PawlValue a, PawlValue b) {
    Json x = json_of(a), y = json_of(b);
    return json_is_none(x) || json_is_none(y) ? json_is_none(x) && json_is_none(y)
                                              : json_equal(x, y);
}

PawlValue pawl_value_diff(PawlValue a, PawlValue b) {
    return value_of(json_changes_report(inner(a), inner(b)));
}

/* ---- text ---- */

PawlValue pawl_value_parse(const char *text, size_t len, PawlError *err) {
    Error error = ERROR_INIT;
    Json j = json_parse(text, len, NULL, &error);
    lib_give_error(err, &error);
    return value_of(j);
}

char *pawl_value_print(PawlValue v, int indent) {
    Json j = json_of(v);
    Buf text = BUF_INIT;
    buf_reserve(&text, 1)[0] = '\0';
    if (!json_is_none(j)) {
        json_print(j, &(JsonPrintOptions){.indent = indent > 0 ? indent : 0}, &text);
    }
    return buf_detach(&text);
}

void pawl_text_free(char *text) {
    mem_free(text);
}
