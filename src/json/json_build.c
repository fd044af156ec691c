#include "json_build.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

Json json_from_text_(const char *text) {
    return text ? json_string_c(text) : json_none();
}

Json json_object_add_(Json object, const JsonKey *keys, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!json_is_none(keys[i].value)) {
            object = json_object_with(object, keys[i].key, keys[i].value);
        }
    }
    return object;
}

Json json_object_merge(Json into, Json from) {
    Json key, value;
    into = json_is_none(into) ? json_object() : into;
    for (size_t pos = 0; json_object_next(from, &pos, &key, &value);) {
        into = json_object_set(into, json_ref(key), json_ref(value));
    }
    return into;
}

Json json_time(int64_t ms) {
    time_t seconds = (time_t)(ms / 1000 - (ms % 1000 < 0));
    int part = (int)((ms % 1000 + 1000) % 1000);
    char text[64];
    struct tm tm;
    if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm)) {
        return json_none();
    }
    return json_string_fmt("%s.%03dZ", text, part);
}

bool json_time_ms(Json time, int64_t *ms) {
    struct tm tm = {0};
    int part = 0, end = 0;
    const char *text = json_kind(time) == JSON_STRING ? json_string_data(&time) : "";
    int date = sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                      &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &end);
    if (date != 6) return false;
    text += end;
    if (*text == '.' && (sscanf(text, ".%3d%n", &part, &end) != 1 || end != 4)) return false;
    text += *text == '.' ? end : 0;
    if (strcmp(text, "Z") != 0) return false;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    *ms = (int64_t)timegm(&tm) * 1000 + part;
    return true;
}
