#include "fields.h"

#include "json_print.h"
#include "mem.h"

Json field_get(Json object, const char *key) {
    return json_object_get_c(object, key);
}

bool field_is_text(Json v) {
    return json_kind(v) == JSON_STRING;
}

bool field_has_text(Json object, const char *key) {
    Json v = field_get(object, key);
    return field_is_text(v) && json_string_len(v) > 0;
}

const char *field_string(Json object, const char *key) {
    const char *text = json_object_text(object, key);
    return text ? text : "";
}

int64_t field_number(Json object, const char *key, int64_t otherwise) {
    Json v = field_get(object, key);
    return json_tag(v) == JSON_TAG_INT ? v.i : otherwise;
}

double field_seconds(Json object, const char *key) {
    Json v = field_get(object, key);
    return json_kind(v) == JSON_NUMBER ? json_to_double(v) : -1;
}

char *field_shown(Json v) {
    return field_is_text(v) || json_is_none(v) ? mem_strdup(json_string_data(&v)) : json_to_text(v);
}

const char *field_word(Json word, const char *const table[][2]) {
    size_t i = 0;
    while (table[i][0] && !json_string_is(word, table[i][0])) i++;
    return table[i][1];
}
