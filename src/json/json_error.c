#include "json_error.h"

#include "json_build.h"
#include "json_parse.h"

#include <stdio.h>

Json error_json(const Error *err) {
    Json out = OBJECT(KEY("code", error_code_name(err->code)), KEY("message", err->msg),
                      KEY("line", err->line > 0 ? json_int(err->line) : json_none()),
                      KEY("column", err->col > 0 ? json_int(err->col) : json_none()));
    char text[ERROR_FACTS_MAX + 2];
    int len = snprintf(text, sizeof text, "{%s}", err->facts);
    Json facts = json_parse(text, (size_t)len, NULL, NULL), key, value;
    for (size_t pos = 0; !json_is_none(facts) && json_object_next(facts, &pos, &key, &value);) {
        out = json_object_set(out, json_ref(key), json_ref(value));
    }
    json_unref(facts);
    return out;
}

static bool is_int(Json value) {
    return json_tag(value) == JSON_TAG_INT;
}

bool error_from_json(Json value, Error *err) {
    if (json_kind(value) != JSON_OBJECT) {
        return error_set(err, ERR_DATA, "An error came back that says nothing.");
    }
    Json code = json_object_get_c(value, "code"), message = json_object_get_c(value, "message");
    Json line = json_object_get_c(value, "line"), col = json_object_get_c(value, "column");
    bool text = json_kind(message) == JSON_STRING;
    ErrorCode known =
        json_kind(code) == JSON_STRING ? error_code_find(json_string_data(&code)) : ERR_NONE;
    error_set_at(err, known == ERR_NONE ? ERR_DATA : known, is_int(line) ? (int)line.i : 0,
                 is_int(col) ? (int)col.i : 0, "%.*s", text ? (int)json_string_len(message) : 0,
                 text ? json_string_data(&message) : "");
    Json key, fact;
    for (size_t pos = 0; json_object_next(value, &pos, &key, &fact);) {
        static const char *const own[] = {"code", "message", "line", "column"};
        bool is_own = false;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
            is_own = is_own || json_string_is(key, own[i]);
        }
        if (!is_own && json_kind(fact) == JSON_STRING) {
            error_fact(err, json_string_data(&key), json_string_data(&fact));
        } else if (!is_own && json_kind(fact) == JSON_TRUE) {
            error_fact_true(err, json_string_data(&key));
        } else if (!is_own && is_int(fact)) {
            error_fact_int(err, json_string_data(&key), fact.i);
        }
    }
    return false;
}
