#include "schemas.h"

#include "json_build.h"
#include "json_shape.h"
#include "things.h"

#include <string.h>

/* References lead to $defs of the shape's own document: here they lead to where all of them are. Consumes it. */
static Json moved(Json schema, const char *refs) {
    Json out = schema, key, value;
    if (json_kind(schema) == JSON_ARRAY) {
        out = json_array();
        for (size_t i = 0; i < json_array_len(schema); i++) {
            out = json_array_push(out, moved(json_ref(json_array_get(schema, i)), refs));
        }
        json_unref(schema);
    } else if (json_kind(schema) == JSON_OBJECT) {
        out = json_object();
        for (size_t pos = 0; json_object_next(schema, &pos, &key, &value);) {
            const char *text = json_kind(value) == JSON_STRING ? json_string_data(&value) : "";
            bool ref = json_string_is(key, "$ref") && !strncmp(text, "#/$defs/", 8);
            Json now = ref ? json_string_fmt("%s%s", refs, text + 8) : moved(json_ref(value), refs);
            out = json_object_set(out, json_ref(key), now);
        }
        json_unref(schema);
    }
    return out;
}

Json schema_of_shape(const char *text, const char *refs, Json *defs) {
    Shape *shape = shape_compile(text, thing_shapes, NULL);
    if (!shape) return json_object();
    Json schema = shape_schema(shape), key, value;
    Json named = json_object_get_c(schema, "$defs");
    for (size_t pos = 0;
         json_kind(named) == JSON_OBJECT && json_object_next(named, &pos, &key, &value);) {
        if (json_is_none(json_object_get(*defs, key))) {
            *defs = json_object_set(*defs, json_ref(key), moved(json_ref(value), refs));
        }
    }
    schema = json_object_remove(schema, json_string_c("$defs"));
    schema = json_object_remove(schema, json_string_c("$schema"));
    shape_free(shape);
    return moved(schema, refs);
}

static Json type_json(const char *type) {
    return OBJECT(KEY("type", type));
}

static Json any_of(Json a, Json b) {
    return OBJECT(KEY("anyOf", ARRAY(a, b)));
}

Json schema_of_arg(const OperationArg *a, const char *refs, Json *defs) {
    Json out;
    bool bounded = a->min || a->max;
    switch (a->type) {
    case ARG_INT: out = type_json("integer"); break;
    case ARG_NUMBER: out = type_json("number"); break;
    case ARG_BOOL: out = type_json("boolean"); break;
    case ARG_TEXT: out = type_json("string"); break;
    case ARG_FRAME: out = OBJECT_ADD(type_json("integer"), KEY("minimum", json_int(1))); break;
    case ARG_FRAMES:
        out =
            any_of(OBJECT_ADD(type_json("integer"), KEY("minimum", json_int(1))),
                   OBJECT_ADD(type_json("string"),
                              KEY("enum", ARRAY(json_string_c("all"), json_string_c("selected")))));
        break;
    case ARG_PATH:
        out = any_of(type_json("string"),
                     OBJECT_ADD(type_json("array"),
                                KEY("items", any_of(type_json("string"), type_json("integer")))));
        break;
    case ARG_ARRAY:
        out = a->shape ? schema_of_shape(a->shape, refs, defs)
                       : OBJECT_ADD(type_json("array"), KEY("items", json_object()));
        break;
    case ARG_OBJECT:
        out = a->shape ? schema_of_shape(a->shape, refs, defs) : type_json("object");
        break;
    default: out = json_object(); break;
    }
    if (a->words) {
        Json words = json_array();
        for (const char *const *w = a->words; *w; w++) {
            words = json_array_push(words, json_string_c(*w));
        }
        out = OBJECT_ADD(out, KEY("enum", words));
    }
    if (bounded) {
        out = OBJECT_ADD(out, KEY("minimum", a->min),
                         KEY("maximum", a->max == ARG_COUNTING ? json_none() : json_int(a->max)));
    }
    if (a->nullable) out = any_of(out, type_json("null"));
    return OBJECT_ADD(out, KEY("description", a->about));
}
