#include "kind_inputs.h"

#include "json_parse.h"
#include "json_print.h"
#include "problems.h"
#include "suggest.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- where in a value ---- */

/* A chain from a part of the value to the input. */
typedef struct Part {
    const struct Part *up;
    Json key; /* JSON_NONE: an element */
    size_t index;
} Part;

static void add_path(Buf *out, const Part *part) {
    if (part->up) add_path(out, part->up);
    if (json_is_none(part->key)) {
        buf_printf(out, "[%zu]", part->index);
    } else {
        buf_printf(out, "%s%s", part->up ? "." : "",
                   shown(json_string_data(&part->key), json_string_len(part->key)));
    }
}

/* "`servers[2].port` must be ..., not 7." */
static bool refuse(Error *err, const Part *part, Json value, const char *must) {
    Buf path = BUF_INIT;
    char text[JSON_DESCRIBE_MAX];
    add_path(&path, part);
    error_set(err, ERR_DATA, "`%s` must %s; it is %s", path.data, must, json_excerpt(value, text));
    buf_clear(&path);
    return false;
}

/* ---- words of a schema ---- */

static bool is_whole(Json value) {
    if (json_kind(value) != JSON_NUMBER) return false;
    double number = json_to_double(value);
    return json_tag(value) == JSON_TAG_INT || (isfinite(number) && floor(number) == number);
}

static bool is_type(Json value, Json type) {
    static const struct {
        const char *name;
        JsonKind kind, also;
    } types[] = {
        {"null", JSON_NULL, JSON_NULL},       {"boolean", JSON_TRUE, JSON_FALSE},
        {"number", JSON_NUMBER, JSON_NUMBER}, {"string", JSON_STRING, JSON_STRING},
        {"array", JSON_ARRAY, JSON_ARRAY},    {"object", JSON_OBJECT, JSON_OBJECT},
    };
    if (json_string_is(type, "integer")) return is_whole(value);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (json_string_is(type, types[i].name)) {
            return json_kind(value) == types[i].kind || json_kind(value) == types[i].also;
        }
    }
    return false;
}

static bool is_one_of(Json value, Json types) {
    if (json_kind(types) == JSON_STRING) return is_type(value, types);
    for (size_t i = 0; i < json_array_len(types); i++) {
        if (is_type(value, json_array_get(types, i))) return true;
    }
    return false;
}

bool schema_allows_only(Json schema, const char *type) {
    Json types = json_object_get_c(schema, "type");
    return json_string_is(types, type) ||
           (json_array_len(types) == 1 && json_string_is(json_array_get(types, 0), type));
}

bool schema_allows(Json schema, const char *type) {
    Json types = json_object_get_c(schema, "type");
    bool found = json_string_is(types, type);
    for (size_t i = 0; !found && i < json_array_len(types); i++) {
        found = json_string_is(json_array_get(types, i), type);
    }
    return found;
}

bool schema_takes(Json schema, Json value) {
    Json types = json_object_get_c(schema, "type");
    return json_is_none(types) || is_one_of(value, types);
}

/* "a string", "an integer or null". */
static void add_types(Buf *out, Json types) {
    bool list = json_kind(types) == JSON_ARRAY;
    size_t n = list ? json_array_len(types) : 1;
    for (size_t i = 0; i < n; i++) {
        Json type = list ? json_array_get(types, i) : types;
        const char *name = json_string_data(&type);
        bool null = json_string_is(type, "null");
        buf_printf(out, "%s%s%s",
                   !i          ? ""
                   : i + 1 < n ? ", "
                               : " or ",
                   null                   ? ""
                   : strchr("aio", *name) ? "an "
                                          : "a ",
                   name);
    }
}

static bool fits_type(Json schema, Json value, const Part *part, Error *err) {
    Json types = json_object_get_c(schema, "type");
    if (schema_takes(schema, value)) return true;
    Buf must = BUF_INIT;
    buf_adds(&must, "be ");
    add_types(&must, types);
    refuse(err, part, value, must.data);
    buf_clear(&must);
    return false;
}

static bool fits_enum(Json schema, Json value, const Part *part, Error *err) {
    enum { SHOWN_MAX = 200 };
    Json words = json_object_get_c(schema, "enum");
    if (json_is_none(words)) return true;
    Buf must = BUF_INIT;
    buf_adds(&must, "be one of ");
    for (size_t i = 0; i < json_array_len(words); i++) {
        if (json_equal(json_array_get(words, i), value)) {
            buf_clear(&must);
            return true;
        }
        char text[JSON_DESCRIBE_MAX];
        if (must.len < SHOWN_MAX) {
            buf_printf(&must, "%s%s", i ? ", " : "", json_excerpt(json_array_get(words, i), text));
        }
    }
    refuse(err, part, value, must.data);
    buf_clear(&must);
    return false;
}

/* What a bound is about, in the order of their names below. */
static bool fits_bounds(Json schema, Json value, const Part *part, Error *err) {
    static const struct {
        JsonKind kind;
        const char *least, *most, *what;
    } bounds[] = {
        {JSON_NUMBER, "minimum", "maximum", ""},
        {JSON_STRING, "minLength", "maxLength", " characters long"},
        {JSON_ARRAY, "minItems", "maxItems", " elements long"},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        if (json_kind(value) != bounds[i].kind) continue;
        Json size =
            bounds[i].kind == JSON_NUMBER ? value
            : bounds[i].kind == JSON_ARRAY
                ? json_int((int64_t)json_array_len(value))
                : json_int((int64_t)utf8_length(json_string_data(&value), json_string_len(value)));
        Json least = json_object_get_c(schema, bounds[i].least);
        Json most = json_object_get_c(schema, bounds[i].most);
        bool low = !json_is_none(least) && json_number_compare(size, least) < 0;
        bool high = !json_is_none(most) && json_number_compare(size, most) > 0;
        if (!low && !high) continue;
        Buf must = BUF_INIT;
        buf_printf(&must, "be at %s ", low ? "least" : "most");
        json_number_print(low ? least : most, &must);
        buf_adds(&must, bounds[i].what);
        refuse(err, part, value, must.data);
        buf_clear(&must);
        return false;
    }
    return true;
}

/* ---- whole values ---- */

/* What is no key of the part, or no input where there is no part. A short name lives in its Json: the nearest is
 * copied. */
static bool refuse_key(Error *err, const Part *part, Json key, Json declared) {
    Suggestion nearest = suggestion_for(json_string_data(&key), json_string_len(key));
    char best[100];
    Json name, ignored;
    for (size_t pos = 0; json_object_next(declared, &pos, &name, &ignored);) {
        const char *text = json_string_data(&name);
        suggestion_offer(&nearest, text);
        if (nearest.best == text) {
            snprintf(best, sizeof best, "%s", text);
            nearest.best = best;
        }
    }
    Buf where = BUF_INIT;
    if (part) {
        buf_adds(&where, "no key of `");
        add_path(&where, part);
        buf_addc(&where, '`');
    }
    error_set(err, ERR_DATA, "`%s` is %s%s%s%s",
              shown(json_string_data(&key), json_string_len(key)), part ? where.data : "no input",
              nearest.best ? "; did you mean `" : "", nearest.best ? nearest.best : "",
              nearest.best ? "`?" : "");
    buf_clear(&where);
    return false;
}

/* As deep as the schema, which is as deep as a file may be. */
static bool fits(Json schema, Json value, const Part *part, Error *err) {
    if (!fits_type(schema, value, part, err) || !fits_enum(schema, value, part, err) ||
        !fits_bounds(schema, value, part, err)) {
        return false;
    }
    Json items = json_object_get_c(schema, "items"), key, inner;
    for (size_t i = 0; !json_is_none(items) && i < json_array_len(value); i++) {
        Part at = {part, json_none(), i};
        if (!fits(items, json_array_get(value, i), &at, err)) return false;
    }
    if (json_kind(value) != JSON_OBJECT) return true;
    Json declared = json_object_get_c(schema, "properties");
    bool closed = json_kind(json_object_get_c(schema, "additionalProperties")) == JSON_FALSE;
    for (size_t pos = 0; json_object_next(value, &pos, &key, &inner);) {
        Json own = json_object_get(declared, key);
        Part at = {part, key, 0};
        if (json_is_none(own) && closed) return refuse_key(err, part, key, declared);
        if (!json_is_none(own) && !fits(own, inner, &at, err)) return false;
    }
    Json required = json_object_get_c(schema, "required");
    for (size_t i = 0; i < json_array_len(required); i++) {
        Part at = {part, json_array_get(required, i), 0};
        if (json_is_none(json_object_get(value, at.key))) {
            Buf path = BUF_INIT;
            add_path(&path, &at);
            error_set(err, ERR_DATA, "`%s` is missing", path.data);
            buf_clear(&path);
            return false;
        }
    }
    return true;
}

/* ---- inputs ---- */

Json input_schema(const OutsideKind *kind, Json name) {
    return json_object_get(json_object_get_c(kind->inputs, "properties"), name);
}

bool inputs_take_others(const OutsideKind *kind) {
    return json_kind(json_object_get_c(kind->inputs, "additionalProperties")) == JSON_TRUE;
}

bool input_fits(const OutsideKind *kind, Json name, Json value, Error *err) {
    Json schema = input_schema(kind, name);
    return json_is_none(schema) || fits(schema, value, &(Part){NULL, name, 0}, err);
}

/* A text where the input is none, but reads as one that it may be. */
static Json read_text(Json schema, Json value) {
    Json types = json_object_get_c(schema, "type"), parsed = json_none();
    if (json_kind(value) == JSON_STRING && !json_is_none(types) && !is_one_of(value, types)) {
        parsed = json_parse(json_string_data(&value), json_string_len(value), NULL, NULL);
    }
    if (!json_is_none(parsed) && is_one_of(parsed, types)) return parsed;
    json_unref(parsed);
    return json_ref(value);
}

static bool fill(const OutsideKind *kind, Json *inputs, bool lenient, Error *err) {
    Json declared = json_object_get_c(kind->inputs, "properties"), name, schema, value;
    for (size_t pos = 0; json_object_next(declared, &pos, &name, &schema);) {
        value = json_object_get(*inputs, name);
        Json otherwise = json_object_get_c(schema, "default");
        if (json_is_none(value) && !json_is_none(otherwise)) {
            *inputs = json_object_set(*inputs, json_ref(name), json_ref(otherwise));
        } else if (lenient && json_kind(value) == JSON_STRING) {
            *inputs = json_object_set(*inputs, json_ref(name), read_text(schema, value));
        }
    }
    for (size_t pos = 0; json_object_next(*inputs, &pos, &name, &value);) {
        if (json_is_none(input_schema(kind, name)) && !inputs_take_others(kind)) {
            return refuse_key(err, NULL, name, declared);
        }
        if (!input_fits(kind, name, value, err)) return false;
    }
    Json required = json_object_get_c(kind->inputs, "required");
    for (size_t i = 0; i < json_array_len(required); i++) {
        name = json_array_get(required, i);
        if (json_is_none(json_object_get(*inputs, name))) {
            return error_set(err, ERR_DATA, "`%s` is missing",
                             shown(json_string_data(&name), json_string_len(name)));
        }
    }
    return true;
}

Json inputs_fill(const OutsideKind *kind, Json given, bool lenient, Error *err) {
    Error why = ERROR_INIT;
    Json inputs = json_ref(given);
    if (fill(kind, &inputs, lenient, &why)) return inputs;
    json_unref(inputs);
    bool asks = why.msg[0] && why.msg[strlen(why.msg) - 1] == '?';
    error_set(err, ERR_DATA, "The inputs of the kind `%s` (%s:%d): %s%s", kind->name, kind->file,
              kind->line, why.msg, asks ? "" : ".");
    return json_none();
}
