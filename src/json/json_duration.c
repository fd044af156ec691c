#include "json_duration.h"

#include "ascii.h"

#include <string.h>

typedef struct Unit {
    const char *name;
    double times;
} Unit;

static const Unit time_units[] = {
    {"ms", 1},           {"millisecond", 1}, {"milliseconds", 1},
    {"s", 1000},         {"sec", 1000},      {"secs", 1000},
    {"second", 1000},    {"seconds", 1000},  {"m", 60000},
    {"min", 60000},      {"mins", 60000},    {"minute", 60000},
    {"minutes", 60000},  {"h", 3600000},     {"hour", 3600000},
    {"hours", 3600000},  {"d", 86400000},    {"day", 86400000},
    {"days", 86400000},  {"us", 1e-3},       {"\xc2\xb5s", 1e-3},
    {"\xce\xbcs", 1e-3}, {"ns", 1e-6},       {NULL, 0}, /* both signs for micro, in UTF-8 */
};

static const Unit size_units[] = {
    {"", 1},        {"b", 1},         {"k", 1024},         {"kb", 1024},
    {"m", 1048576}, {"mb", 1048576},  {"g", 1073741824},   {"gb", 1073741824},
    {"kib", 1024},  {"mib", 1048576}, {"gib", 1073741824}, {NULL, 0},
};

static const Unit decimal_units[] = {
    {"", 1},    {"b", 1},    {"k", 1e3},    {"kb", 1e3},      {"m", 1e6},          {"mb", 1e6},
    {"g", 1e9}, {"gb", 1e9}, {"kib", 1024}, {"mib", 1048576}, {"gib", 1073741824}, {NULL, 0},
};

/* 100 years and 1 TB: past these a number is a mistake. */
static const double time_max = 100.0 * 366 * 86400000;
static const double size_max = 1099511627776.0;

typedef struct Scan {
    const char *pos, *end;
} Scan;

static void skip_spaces(Scan *s) {
    while (s->pos < s->end && *s->pos == ' ') s->pos++;
}

static bool scan_number(Scan *s, double *value) {
    bool any = false;
    double scale = 1;
    for (*value = 0; s->pos < s->end && ascii_is_digit(*s->pos); s->pos++, any = true) {
        *value = *value * 10 + (*s->pos - '0');
    }
    if (s->pos < s->end && *s->pos == '.') {
        for (s->pos++; s->pos < s->end && ascii_is_digit(*s->pos); s->pos++, any = true) {
            scale /= 10;
            *value += (*s->pos - '0') * scale;
        }
    }
    return any;
}

static bool is_of_word(char c) {
    return ascii_is_letter(c) || (unsigned char)c >= 0x80;
}

static const Unit *scan_unit(Scan *s, const Unit *units, bool any_case) {
    char word[16] = "";
    for (size_t len = 0; s->pos < s->end && is_of_word(*s->pos); s->pos++) {
        if (len + 1 == sizeof word) return NULL;
        word[len++] = any_case ? ascii_lower(*s->pos) : *s->pos;
    }
    while (units->name && strcmp(units->name, word) != 0) units++;
    return units->name ? units : NULL;
}

static bool rounded(double value, double max, int64_t *out) {
    if (!(value >= 0 && value <= max)) return false;
    *out = (int64_t)(value + 0.5);
    return true;
}

/* "1h30m", "2 days": each number with its unit. A number alone is seconds. */
static bool scan_duration(Scan *s, int64_t *ms) {
    double total = 0, value;
    int parts = 0;
    for (skip_spaces(s); s->pos < s->end; skip_spaces(s), parts++) {
        if (!scan_number(s, &value)) return false;
        skip_spaces(s);
        if (s->pos == s->end && parts == 0) return rounded(value * 1000, time_max, ms);
        const Unit *unit = scan_unit(s, time_units, false);
        if (!unit) return false;
        total += value * unit->times;
    }
    return parts > 0 && rounded(total, time_max, ms);
}

bool json_duration(Json value, int64_t *ms) {
    if (json_kind(value) == JSON_NUMBER) return rounded(json_to_double(value) * 1000, time_max, ms);
    if (json_kind(value) != JSON_STRING) return false;
    const char *text = json_string_data(&value);
    return scan_duration(&(Scan){text, text + json_string_len(value)}, ms);
}

bool json_byte_count(Json value, bool decimal, int64_t *bytes) {
    double number;
    if (json_kind(value) == JSON_NUMBER) return rounded(json_to_double(value), size_max, bytes);
    if (json_kind(value) != JSON_STRING) return false;
    const char *text = json_string_data(&value);
    Scan s = {text, text + json_string_len(value)};
    skip_spaces(&s);
    if (!scan_number(&s, &number)) return false;
    skip_spaces(&s);
    const Unit *unit = scan_unit(&s, decimal ? decimal_units : size_units, true);
    return unit && s.pos == s.end && rounded(number * unit->times, size_max, bytes);
}
