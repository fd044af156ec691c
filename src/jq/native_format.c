/* The @formats. Each takes any value, or says which it takes, and gives a string. */
#include "native.h"

#include "ascii.h"
#include "json_breath.h"
#include "json_print.h"
#include "utf8.h"

#include <math.h>

/* ---- escapes ---- */

/* What a byte becomes. NUL becomes \0 in every format that escapes. */
typedef struct Escape {
    char byte;
    const char *text;
} Escape;

static const Escape csv_escapes[] = {{'"', "\"\""}, {'\0', NULL}};
static const Escape sh_escapes[] = {{'\'', "'\\''"}, {'\0', NULL}};
static const Escape tsv_escapes[] = {
    {'\t', "\\t"}, {'\r', "\\r"}, {'\n', "\\n"}, {'\\', "\\\\"}, {'\0', NULL},
};
static const Escape html_escapes[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'\'', "&apos;"}, {'"', "&quot;"}, {'\0', NULL},
};

static void add_escaped(Buf *out, Text s, const Escape *escapes) {
    size_t plain = 0;
    for (size_t i = 0; i < s.len; i++) {
        const Escape *e = escapes;
        json_breathe();
        while (e->text && e->byte != s.data[i]) e++;
        const char *escaped = e->text ? e->text : s.data[i] ? NULL : "\\0";
        if (escaped) {
            buf_add(out, s.data + plain, i - plain);
            buf_adds(out, escaped);
            plain = i + 1;
        }
    }
    buf_add(out, s.data + plain, s.len - plain);
}

/* ---- from text to text ---- */

/* Writes the result, or returns what is wrong with the text. */
typedef const char *(*Recode)(Text s, Buf *out);

/* Turns a into text, recodes it and gives the result. `growth` is how many times longer it may get.
 * Consumes a. */
static Json recode(JqRun *run, Json a, Recode fn, unsigned growth) {
    Buf out = BUF_INIT;
    Json result = json_none();
    Json s = jq_to_string(run, a);
    if (json_is_none(s)) return s;
    Text text = native_text(&s);
    if ((uint64_t)text.len * growth > JSON_STRING_MAX) {
        jq_fail(run, "String result too long");
    } else if (native_afford(run, (uint64_t)text.len * growth * 2)) {
        buf_reserve(&out, text.len);
        const char *problem = fn(text, &out);
        result = problem ? native_fail_type(run, s, problem) : json_string(out.data, out.len);
    }
    buf_clear(&out);
    json_unref(s);
    return result;
}

static const char *to_html(Text s, Buf *out) {
    add_escaped(out, s, html_escapes);
    return NULL;
}

static const char *to_uri(Text s, Buf *out) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        json_breathe();
        if (ascii_is_letter((char)c) || ascii_is_digit((char)c) || (c && strchr("-._~", c))) {
            buf_addc(out, (char)c);
        } else {
            buf_add(out, (char[]){'%', digits[c >> 4], digits[c & 15]}, 3);
        }
    }
    return NULL;
}

static const char *from_uri(Text s, Buf *out) {
    static const char problem[] = "is not a valid uri encoding";
    for (size_t i = 0; i < s.len; i++) {
        json_breathe();
        if (s.data[i] != '%') {
            buf_addc(out, s.data[i]);
            continue;
        }
        int high = i + 1 < s.len ? ascii_hex(s.data[i + 1]) : -1;
        int low = i + 2 < s.len ? ascii_hex(s.data[i + 2]) : -1;
        int byte = high < 0 || low < 0 ? -1 : high * 16 + low;
        if (byte < 0) return problem;
        buf_addc(out, (char)byte);
        i += 2;
    }
    return utf8_valid_prefix(out->data, out->len) == out->len ? NULL : problem;
}

/* ---- base 64 and base 32 ---- */

/* An encoding of groups of bytes in groups of characters, `bits` bits each. */
typedef struct Base {
    const char *alphabet;
    unsigned bits, bytes, chars; /* bytes * 8 == chars * bits */
    const char *invalid, *trailing;
} Base;

static const Base base64 = {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                            6,
                            3,
                            4,
                            "is not valid base64 data",
                            "trailing base64 byte found"};
static const Base base32 = {"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5, 5, 8, "is not valid base32 data",
                            "trailing base32 byte found"};

static const char *encode(Text s, Buf *out, const Base *base) {
    for (size_t i = 0; i < s.len; i += base->bytes) {
        uint64_t group = 0;
        json_breathe();
        size_t n = s.len - i < base->bytes ? s.len - i : base->bytes;
        for (size_t k = 0; k < base->bytes; k++) {
            group = group << 8 | (k < n ? (unsigned char)s.data[i + k] : 0);
        }
        size_t used = (n * 8 + base->bits - 1) / base->bits;
        for (size_t k = 0; k < base->chars; k++) {
            unsigned shift = (unsigned)(base->chars - 1 - k) * base->bits;
            uint64_t digit = group >> shift & ((1u << base->bits) - 1);
            buf_addc(out, k < used ? base->alphabet[digit] : '=');
        }
    }
    return NULL;
}

/* What is left in the bit buffer at the end is padding; a digit on its own is not a byte. */
static const char *decode(Text s, Buf *out, const Base *base) {
    uint64_t group = 0;
    unsigned held = 0; /* bits of group that are not written yet */
    for (size_t i = 0; i < s.len && s.data[i] != '='; i++) {
        json_breathe();
        const char *digit = s.data[i] ? strchr(base->alphabet, s.data[i]) : NULL;
        if (!digit) return base->invalid;
        group = group << base->bits | (uint64_t)(digit - base->alphabet);
        held += base->bits;
        if (held >= 8) {
            held -= 8;
            buf_addc(out, (char)(unsigned char)(group >> held));
        }
    }
    return held >= base->bits ? base->trailing : NULL;
}

static const char *to_base64(Text s, Buf *out) {
    return encode(s, out, &base64);
}

static const char *from_base64(Text s, Buf *out) {
    return decode(s, out, &base64);
}

static const char *to_base32(Text s, Buf *out) {
    return encode(s, out, &base32);
}

static const char *from_base32(Text s, Buf *out) {
    return decode(s, out, &base32);
}

/* ---- rows ---- */

/* How the values of an array become a line. */
typedef struct Row {
    const char *separator, *quote;
    const Escape *escapes;
    bool blanks; /* null and NaN are empty */
    const char *not_a_value;
} Row;

static const Row csv_row = {",", "\"", csv_escapes, true, "is not valid in a csv row"};
static const Row tsv_row = {"\t", "", tsv_escapes, true, "is not valid in a csv row"};
static const Row sh_row = {" ", "'", sh_escapes, false, "can not be escaped for shell"};

static bool add_cell(JqRun *run, const Row *row, const Json *v, Buf *out) {
    if (json_tag(*v) == JSON_TAG_ARRAY || json_tag(*v) == JSON_TAG_OBJECT) {
        native_fail_type(run, *v, row->not_a_value);
        return false;
    }
    bool blank = row->blanks && (json_tag(*v) == JSON_TAG_NULL ||
                                 (json_kind(*v) == JSON_NUMBER && isnan(json_to_double(*v))));
    if (json_kind(*v) == JSON_STRING) {
        buf_adds(out, row->quote);
        add_escaped(out, native_text(v), row->escapes);
        buf_adds(out, row->quote);
    } else if (!blank) {
        json_print(*v, NULL, out);
    }
    return true;
}

static bool add_row(JqRun *run, const Row *row, Json array, Buf *out) {
    Json key, value;
    Walk w = {.of = array};
    for (size_t i = 0; native_walk_next(&w, &key, &value); i++) {
        buf_adds(out, i ? row->separator : "");
        if (!jq_charge(run, 1) || !add_cell(run, row, &value, out)) return false;
        if (out->len > native_text_max(run)) {
            jq_fail(run, "String result too long");
            return false;
        }
    }
    return true;
}

/* Consumes the array. */
static Json format_row(JqRun *run, const Row *row, Json array) {
    Buf out = BUF_INIT;
    Json result = json_none();
    if (native_afford(run, json_size(array)) && add_row(run, row, array, &out) &&
        native_afford(run, out.len)) {
        result = json_string_valid(out.data ? out.data : "", out.len);
    }
    buf_clear(&out);
    json_unref(array);
    return result;
}

static Json format_table_row(JqRun *run, const Row *row, Json a, const char *problem) {
    if (json_tag(a) != JSON_TAG_ARRAY) {
        native_fail_type(run, a, problem);
        json_unref(a);
        return json_none();
    }
    return format_row(run, row, a);
}

/* A format that is one expression over `run` and `a`, which it consumes. */
#define FORMAT(name, expression)           \
    static Json name(JqRun *run, Json a) { \
        return expression;                 \
    }

FORMAT(format_csv, format_table_row(run, &csv_row, a, "cannot be csv-formatted, only array"))
FORMAT(format_tsv, format_table_row(run, &tsv_row, a, "cannot be tsv-formatted, only array"))
FORMAT(format_sh, format_row(run, &sh_row,
                             json_tag(a) == JSON_TAG_ARRAY ? a : json_array_push(json_array(), a)))

/* ---- the table ---- */

FORMAT(format_html, recode(run, a, to_html, 6))
FORMAT(format_uri, recode(run, a, to_uri, 3))
FORMAT(format_urid, recode(run, a, from_uri, 1))
FORMAT(format_base64, recode(run, a, to_base64, 2))
/* Bytes that are not UTF-8 become U+FFFD, which is three times as long. */
FORMAT(format_base64d, recode(run, a, from_base64, 3))
FORMAT(format_base32, recode(run, a, to_base32, 2))
FORMAT(format_base32d, recode(run, a, from_base32, 3))

static const struct {
    const char *name;
    JqFormatFn fn;
} formats[] = {
    {"text", jq_to_string},      {"json", jq_to_json},      {"csv", format_csv},
    {"tsv", format_tsv},         {"html", format_html},     {"uri", format_uri},
    {"urid", format_urid},       {"sh", format_sh},         {"base64", format_base64},
    {"base64d", format_base64d}, {"base32", format_base32}, {"base32d", format_base32d},
};

enum { FORMATS = sizeof(formats) / sizeof(*formats) };

JqFormatFn jq_format_find(const char *name, size_t len) {
    for (size_t i = 0; i < FORMATS; i++) {
        if (strlen(formats[i].name) == len && memcmp(formats[i].name, name, len) == 0) {
            return formats[i].fn;
        }
    }
    return NULL;
}

const char *jq_format_name(size_t i) {
    return i < FORMATS ? formats[i].name : NULL;
}

static Json format_by_name(JqRun *run, Json *args) {
    if (json_kind(args[1]) != JSON_STRING) {
        return native_fail_type(run, args[1], "is not a valid format");
    }
    Text name = native_text(&args[1]);
    JqFormatFn fn = jq_format_find(name.data, name.len);
    if (!fn) {
        int shown = name.len < 256 ? (int)name.len : 256;
        return jq_fail(run, "%.*s is not a valid format", shown, name.data);
    }
    return fn(run, json_take(&args[0]));
}

const JqNative jq_natives_format[] = {
    {"format", 1, JQ_PURE, format_by_name},
    {0},
};
