/* What a node of the tree means: look-ups, values by the core schema, places of characters. */
#include "yaml.h"

#include <math.h>
#include <string.h>

/* ---- look-ups ---- */

bool yaml_is(const YamlNode *node, const char *word) {
    return node && node->kind == YAML_SCALAR && node->len == strlen(word) &&
           memcmp(node->text, word, node->len) == 0;
}

const YamlPair *yaml_pair(const YamlNode *map, const char *key) {
    if (!map || map->kind != YAML_MAP) {
        return NULL;
    }
    for (size_t i = 0; i < map->n; i++) {
        if (yaml_is(map->pairs[i].key, key)) {
            return &map->pairs[i];
        }
    }
    return NULL;
}

const YamlNode *yaml_get(const YamlNode *map, const char *key) {
    const YamlPair *pair = yaml_pair(map, key);
    return pair ? pair->value : NULL;
}

/* ---- values ---- */

typedef struct Word {
    const char *text;
    enum { WORD_NULL, WORD_FALSE, WORD_TRUE, WORD_INF, WORD_MINUS_INF, WORD_NAN } means;
} Word;

static const Word words[] = {
    {"", WORD_NULL},           {"~", WORD_NULL},          {"null", WORD_NULL},
    {"Null", WORD_NULL},       {"NULL", WORD_NULL},       {"true", WORD_TRUE},
    {"True", WORD_TRUE},       {"TRUE", WORD_TRUE},       {"false", WORD_FALSE},
    {"False", WORD_FALSE},     {"FALSE", WORD_FALSE},     {".inf", WORD_INF},
    {".Inf", WORD_INF},        {".INF", WORD_INF},        {"+.inf", WORD_INF},
    {"+.Inf", WORD_INF},       {"+.INF", WORD_INF},       {"-.inf", WORD_MINUS_INF},
    {"-.Inf", WORD_MINUS_INF}, {"-.INF", WORD_MINUS_INF}, {".nan", WORD_NAN},
    {".NaN", WORD_NAN},        {".NAN", WORD_NAN},
};

static const Word *find_word(const YamlNode *node) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (yaml_is(node, words[i].text)) {
            return &words[i];
        }
    }
    return NULL;
}

static Json word_value(const Word *word) {
    switch (word->means) {
    case WORD_FALSE: return json_bool(false);
    case WORD_TRUE: return json_bool(true);
    case WORD_INF: return json_double(INFINITY);
    case WORD_MINUS_INF: return json_double(-INFINITY);
    case WORD_NAN: return json_double(NAN);
    default: return json_null();
    }
}

bool yaml_is_null(const YamlNode *node) {
    const Word *word = node->kind == YAML_SCALAR && !node->is_text ? find_word(node) : NULL;
    return word && word->means == WORD_NULL;
}

static size_t digits(const char *s) {
    return strspn(s, "0123456789");
}

/* 0x1F and 0o17; past 64 bits it is a double, as for decimals. JSON_NONE when it is none. */
static Json radix_value(const char *s, size_t len) {
    unsigned base = len > 2 && s[0] == '0' ? (s[1] == 'x' ? 16 : s[1] == 'o' ? 8 : 0) : 0;
    const char *all = base == 16 ? "0123456789abcdefABCDEF" : "01234567";
    if (!base || strspn(s + 2, all) != len - 2) {
        return json_none();
    }
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

static bool is_decimal(const char *s, size_t len) {
    const char *p = s + (*s == '-' || *s == '+');
    size_t before = digits(p), after = 0;
    p += before;
    if (*p == '.') {
        p++;
        after = digits(p);
        p += after;
    }
    if (before + after == 0) {
        return false;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '-' || *p == '+';
        size_t exponent = digits(p);
        p += exponent;
        if (exponent == 0) {
            return false;
        }
    }
    return p == s + len;
}

/* JSON has no leading zeros and no plus. */
static Json decimal_value(const char *s, size_t len) {
    bool minus = *s == '-';
    size_t skip = *s == '-' || *s == '+';
    while (skip + 1 < len && s[skip] == '0' && s[skip + 1] >= '0' && s[skip + 1] <= '9') {
        skip++;
    }
    Json value = json_number_parse(s + skip, len - skip);
    if (minus && !json_is_none(value)) {
        Json negated = json_number_negate(value);
        json_unref(value);
        return negated;
    }
    return value;
}

static Json scalar_value(const YamlNode *node) {
    const Word *word = node->is_text ? NULL : find_word(node);
    Json value = json_none();
    if (word) {
        return word_value(word);
    }
    if (!node->is_text && memchr(node->text, '\0', node->len) == NULL) {
        value = is_decimal(node->text, node->len) ? decimal_value(node->text, node->len)
                                                  : radix_value(node->text, node->len);
    }
    return json_is_none(value) ? json_string_valid(node->text, node->len) : value;
}

/* Recursion is bounded by the depth that yaml_parse() allows. */
Json yaml_json(const YamlNode *node) {
    if (node->kind == YAML_SCALAR) {
        return scalar_value(node);
    }
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

static bool is_white(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_inside(char c) {
    return ((unsigned char)c & 0xC0) == 0x80; /* of a character of several bytes */
}

static size_t count_units(const char *s, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        n += !is_white(s[i]) && !is_inside(s[i]);
    }
    return n;
}

/* Bytes of the escape at s, and whether it stands for white space. */
static size_t escape_length(const char *s, size_t left, bool *white) {
    static const char lengths[] = {['x'] = 4, ['u'] = 6, ['U'] = 10};
    char c = left > 1 ? s[1] : 0;
    *white = memchr(" tnr\t\n\r", c, 7) != NULL && c;
    size_t len = c == 'x' || c == 'u' || c == 'U' ? (size_t)lengths[(int)c] : 2;
    if (len > 2 && len <= left) {
        unsigned long value = 0;
        for (size_t i = 2; i < len; i++) {
            value = value * 16 + (unsigned long)((s[i] & 15) + (s[i] > '9' ? 9 : 0));
        }
        *white = value < 128 && is_white((char)value);
    }
    return len < left ? len : left;
}

/* Bytes of the unit at s. */
static size_t unit_length(const YamlNode *node, const char *s, size_t left, bool *white) {
    *white = is_white(*s);
    if (node->style == YAML_DOUBLE_QUOTED && *s == '\\') {
        return escape_length(s, left, white);
    }
    if (node->style == YAML_SINGLE_QUOTED && *s == '\'') {
        return left > 1 ? 2 : 1;
    }
    size_t len = 1;
    while (len < left && is_inside(s[len])) {
        len++;
    }
    return len;
}

static size_t skip_units(const YamlNode *node, size_t at, size_t units, bool to_next) {
    const YamlFile *file = node->spot.file;
    bool white;
    while (at < node->spot.end) {
        size_t len = unit_length(node, file->text + at, node->spot.end - at, &white);
        if (units == 0 && (!to_next || !white)) {
            break;
        }
        units -= !white;
        at += len;
    }
    return at;
}

size_t yaml_place(const YamlNode *scalar, size_t offset) {
    if (offset > scalar->len) {
        offset = scalar->len;
    }
    size_t units = count_units(scalar->text, offset);
    bool at_unit = offset < scalar->len && !is_white(scalar->text[offset]);
    return skip_units(scalar, scalar->spot.at, units, at_unit || offset == 0);
}
