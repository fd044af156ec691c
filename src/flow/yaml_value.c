/* What a node of the tree means: look-ups, values by the core schema, places of characters. */
#include "yaml.h"

#include "ascii.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- look-ups ---- */

bool yaml_is(const YamlNode *node, const char *word) {
    return node && node->kind == YAML_SCALAR && node->len == strlen(word) &&
           memcmp(node->text, word, node->len) == 0;
}

const YamlPair *yaml_pair(const YamlNode *map, const char *key) {
    if (!map || map->kind != YAML_MAP) return NULL;
    for (size_t i = 0; i < map->n; i++) {
        if (yaml_is(map->pairs[i].key, key)) return &map->pairs[i];
    }
    return NULL;
}

const YamlNode *yaml_get(const YamlNode *map, const char *key) {
    const YamlPair *pair = yaml_pair(map, key);
    return pair ? pair->value : NULL;
}

/* ---- values ---- */

/* The words that mean a value. */
enum { WORD_NULL, WORD_FALSE, WORD_TRUE, WORD_INF, WORD_MINUS_INF, WORD_NAN, WORD_NONE };

static const char *const words[][WORD_NONE] = {
    [WORD_NULL] = {"", "~", "null", "Null", "NULL"},
    [WORD_FALSE] = {"false", "False", "FALSE"},
    [WORD_TRUE] = {"true", "True", "TRUE"},
    [WORD_INF] = {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"},
    [WORD_MINUS_INF] = {"-.inf", "-.Inf", "-.INF"},
    [WORD_NAN] = {".nan", ".NaN", ".NAN"},
};

static int word_meaning(const YamlNode *node) {
    for (int means = 0; means < WORD_NONE && !node->is_text; means++) {
        for (int i = 0; i < WORD_NONE && words[means][i]; i++) {
            if (yaml_is(node, words[means][i])) return means;
        }
    }
    return WORD_NONE;
}

bool yaml_is_null(const YamlNode *node) {
    return word_meaning(node) == WORD_NULL;
}

/* 0x1F and 0o17; past 64 bits it is a double, as for decimals. JSON_NONE when it is none. */
static Json radix_value(const char *s, size_t len) {
    unsigned base = len > 2 && s[0] == '0' ? (s[1] == 'x' ? 16 : s[1] == 'o' ? 8 : 0) : 0;
    const char *all = base == 16 ? "0123456789abcdefABCDEF" : "01234567";
    if (!base || strspn(s + 2, all) != len - 2) return json_none();
    double value = 0;
    int64_t exact = 0;
    bool fits = true;
    for (const char *p = s + 2; *p; p++) {
        unsigned digit = *p <= '9' ? (unsigned)(*p - '0') : ((unsigned)*p | 32) - 'a' + 10;
        value = value * base + digit;
        fits = fits && !__builtin_mul_overflow(exact, (int64_t)base, &exact) &&
               !__builtin_add_overflow(exact, (int64_t)digit, &exact);
    }
    return fits ? json_int(exact) : json_double(value);
}

static size_t skip_digits(const char **p) {
    size_t n = strspn(*p, "0123456789");
    *p += n;
    return n;
}

/* JSON has no leading zeros and no plus. JSON_NONE when it is no number. */
static Json decimal_value(const char *s, size_t len) {
    const char *p = s + (*s == '-' || *s == '+'), *number = p;
    size_t ndigits = skip_digits(&p);
    if (*p == '.') {
        p++;
        ndigits += skip_digits(&p);
    }
    if (ndigits == 0) return json_none();
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '-' || p[1] == '+' ? 2 : 1;
        if (skip_digits(&p) == 0) return json_none();
    }
    if (p != s + len) return json_none();
    while (number[0] == '0' && ascii_is_digit(number[1])) number++;
    Json value = json_number_parse(number, (size_t)(p - number));
    if (*s == '-' && !json_is_none(value)) {
        Json negated = json_number_negate(value);
        json_unref(value);
        return negated;
    }
    return value;
}

/* ---- numbers and times of tests ---- */

/* A whole number of any base that fits into 64 bits, without its underscores: JSON_NONE when it is none.
 * *whole: it is one, but does not fit. */
static Json whole_value(const char *s, bool *whole) {
    bool minus = *s == '-';
    const char *p = s + (*s == '-' || *s == '+'), *digits = "0123456789";
    unsigned base = 10;
    if (p[0] == '0' && p[1]) {
        char mark = ascii_lower(p[1]);
        base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
        digits = base == 16 ? "0123456789abcdefABCDEF" : base == 8 ? "01234567" : "01";
        p += mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1;
    }
    *whole = *p && p[strspn(p, digits)] == '\0';
    if (!*whole) return json_none();
    uint64_t value = 0;
    bool fits = true;
    for (; *p; p++) {
        unsigned digit = *p <= '9' ? (unsigned)(*p - '0') : ((unsigned)*p | 32) - 'a' + 10;
        fits = fits && !__builtin_mul_overflow(value, (uint64_t)base, &value) &&
               !__builtin_add_overflow(value, (uint64_t)digit, &value);
    }
    if (!fits || (minus && value > (uint64_t)INT64_MAX + 1)) return json_none();
    if (minus) return json_int((int64_t)(0 - value));
    if (value <= INT64_MAX) return json_int((int64_t)value);
    char text[24];
    int len = snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return json_number_parse(text, (size_t)len);
}

/* 2024-01-01 and 2024-01-01 10:00:00, which are times: as RFC 3339 writes them. JSON_NONE when it is none. */
static Json time_value(const char *s, size_t len) {
    static const char shape[] = "dddd-dd-ddTdd:dd:dd";
    char text[32];
    if (len != 10 && len != sizeof shape - 1) return json_none();
    for (size_t i = 0; i < len; i++) {
        bool fits = shape[i] == 'd'   ? ascii_is_digit(s[i])
                    : shape[i] == 'T' ? s[i] == ' ' || s[i] == 'T' || s[i] == 't'
                                      : s[i] == shape[i];
        if (!fits) return json_none();
    }
    int month = (s[5] - '0') * 10 + s[6] - '0', day = (s[8] - '0') * 10 + s[9] - '0';
    if (month < 1 || month > 12 || day < 1 || day > 31) return json_none();
    int n = snprintf(text, sizeof text, "%.10sT%sZ", s, len == 10 ? "00:00:00" : s + 11);
    return json_string(text, (size_t)n);
}

/* JSON_NONE: it is a text. */
static Json test_value(const char *s, size_t len) {
    if (!ascii_is_digit(*s) && *s != '-' && *s != '+' && *s != '.') return json_none();
    Buf plain = BUF_INIT;
    for (size_t i = 0; i < len; i++) {
        if (s[i] != '_') buf_addc(&plain, s[i]);
    }
    bool whole;
    Json value = whole_value(plain.data, &whole);
    if (json_is_none(value)) {
        value = decimal_value(plain.data, plain.len);
        bool power = !json_is_none(value) && strpbrk(plain.data, "eE"); /* 1e3 is 1000 */
        if (!json_is_none(value) && isinf(json_to_double(value))) {
            json_clear(&value);
        } else if (power) {
            json_put(&value, json_number(json_to_double(value)));
        }
    }
    if (json_is_none(value)) value = time_value(s, len);
    buf_clear(&plain);
    return value;
}

bool yaml_is_switch(const YamlNode *node, bool with_short, bool *on) {
    static const char *const words_of[][2] = {{"no", "yes"}, {"No", "Yes"}, {"NO", "YES"},
                                              {"off", "on"}, {"Off", "On"}, {"OFF", "ON"},
                                              {"n", "y"},    {"N", "Y"}};
    enum { SHORT = 2 }; /* of them, the last ones */
    size_t n = sizeof words_of / sizeof *words_of - (with_short ? 0 : SHORT);
    for (size_t i = 0; i < 2 * n; i++) {
        *on = i % 2;
        if (yaml_is(node, words_of[i / 2][i % 2])) return true;
    }
    return false;
}

static Json scalar_value(const YamlNode *node) {
    bool on;
    switch (word_meaning(node)) {
    case WORD_NULL: return json_null();
    case WORD_FALSE: return json_bool(false);
    case WORD_TRUE: return json_bool(true);
    case WORD_INF: return json_double(INFINITY);
    case WORD_MINUS_INF: return json_double(-INFINITY);
    case WORD_NAN: return json_double(NAN);
    default: break;
    }
    Json value = json_none();
    YamlSchema schema = node->spot.file->schema;
    bool plain = !node->is_text && !memchr(node->text, '\0', node->len);
    if (plain && schema == YAML_TESTS_INSIDE && yaml_is_switch(node, false, &on))
        return json_bool(on);
    if (plain && schema != YAML_CORE) {
        value = test_value(node->text, node->len);
    } else if (plain) {
        value = decimal_value(node->text, node->len);
        value = json_is_none(value) ? radix_value(node->text, node->len) : value;
    }
    return json_is_none(value) ? json_string_valid(node->text, node->len) : value;
}

/* Recursion is bounded by the depth that yaml_parse() allows. */
Json yaml_json(const YamlNode *node) {
    if (node->kind == YAML_SCALAR) return scalar_value(node);
    Json value = node->kind == YAML_LIST ? json_array() : json_object();
    for (size_t i = 0; i < node->n; i++) {
        if (node->kind == YAML_LIST) {
            value = json_array_push(value, yaml_json(node->items[i]));
        } else {
            const YamlNode *key = node->pairs[i].key;
            value = json_object_set(value, json_string_valid(key->text, key->len),
                                    yaml_json(node->pairs[i].value));
        }
    }
    return value;
}

/* ---- places ----
 *
 * White space is what folding and indentation change; everything else stands in the file in the same
 * order as in the text, one unit (a character, or an escape for it) for each character. So the way
 * from the text to the file is to count what is not white. */

/* Bytes of the escape at s, and whether it stands for white space. */
static size_t escape_length(const char *s, size_t left, bool *white) {
    char c = left > 1 ? s[1] : 0;
    size_t len = c == 'x' ? 4 : c == 'u' ? 6 : c == 'U' ? 10 : 2;
    *white = c && memchr(" tnr\t\n\r", c, 7) != NULL;
    if (len > 2 && len <= left) {
        unsigned long value = 0;
        for (size_t i = 2; i < len; i++) {
            value = value * 16 + (unsigned long)((s[i] & 15) + (s[i] > '9' ? 9 : 0));
        }
        *white = value < 128 && ascii_is_white((char)value);
    }
    return len < left ? len : left;
}

/* Bytes of the unit at s. */
static size_t unit_length(const YamlNode *node, const char *s, size_t left, bool *white) {
    *white = ascii_is_white(*s);
    if (node->style == YAML_DOUBLE_QUOTED && *s == '\\') return escape_length(s, left, white);
    if (node->style == YAML_SINGLE_QUOTED && *s == '\'') return left > 1 ? 2 : 1;
    size_t len = 1;
    while (len < left && utf8_is_inside(s[len])) len++;
    return len;
}

size_t yaml_place(const YamlNode *scalar, size_t offset) {
    const char *text = scalar->text, *file = scalar->spot.file->text;
    size_t units = 0, at = scalar->spot.at, end = scalar->spot.end, len;
    offset = offset < scalar->len ? offset : scalar->len;
    for (size_t i = 0; i < offset; i++) {
        units += !ascii_is_white(text[i]) && !utf8_is_inside(text[i]);
    }
    bool to_unit = offset == 0 || (offset < scalar->len && !ascii_is_white(text[offset])), white;
    for (; at < end; at += len) {
        len = unit_length(scalar, file + at, end - at, &white);
        if (units == 0 && (!to_unit || !white)) break;
        units -= !white;
    }
    return at;
}
