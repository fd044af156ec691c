#include "metrics.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { SHOWN_MAX = 60 }; /* bytes of a line in a sentence */

typedef struct Reader {
    const char *start, *at, *end; /* of the line */
    int line;
    size_t series;
    Json all;
    Error *err;
} Reader;

static bool wrong(Reader *r, const char *what) {
    size_t len = (size_t)(r->end - r->start);
    return error_set_at(r->err, ERR_SYNTAX, r->line, (int)(r->at - r->start) + 1,
                        "Line %d of the metrics has %s: %.*s%s", r->line, what,
                        (int)(len < SHOWN_MAX ? len : SHOWN_MAX), r->start,
                        len < SHOWN_MAX ? "" : "...");
}

static bool too_many(Reader *r, const char *what, int most) {
    return error_set_at(r->err, ERR_LIMIT, r->line, 1,
                        "Line %d of the metrics has more than %d %s, which is the most that is "
                        "read. Ask for fewer.",
                        r->line, most, what);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(Reader *r) {
    while (r->at < r->end && is_blank(*r->at)) {
        r->at++;
    }
}

static bool take(Reader *r, char c) {
    bool there = r->at < r->end && *r->at == c;
    r->at += there;
    return there;
}

static bool is_name_char(char c, bool first) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
           (!first && c >= '0' && c <= '9');
}

/* JSON_NONE when there is none. */
static Json read_name(Reader *r) {
    const char *from = r->at;
    while (r->at < r->end && is_name_char(*r->at, r->at == from)) {
        r->at++;
    }
    return r->at > from ? json_string(from, (size_t)(r->at - from)) : json_none();
}

static size_t word_len(const Reader *r) {
    size_t len = 0;
    while (r->at + len < r->end && !is_blank(r->at[len])) {
        len++;
    }
    return len;
}

/* ---- labels ---- */

static bool read_escape(Reader *r, Buf *out) {
    static const char escapes[] = "\\\\\"\"n\n"; /* letter, then what it stands for */
    for (const char *e = escapes; *e && r->at < r->end; e += 2) {
        if (*e == *r->at) {
            buf_addc(out, e[1]);
            r->at++;
            return true;
        }
    }
    return wrong(r, "an escape other than \\\\, \\\" and \\n");
}

static bool read_quoted(Reader *r, Buf *out) {
    if (!take(r, '"')) return wrong(r, "a label without a value in quotes");
    while (r->at < r->end && *r->at != '"') {
        if (take(r, '\\')) {
            if (!read_escape(r, out)) return false;
        } else {
            buf_addc(out, *r->at++);
        }
    }
    return take(r, '"') || wrong(r, "a label whose value does not end");
}

static bool read_label_value(Reader *r, Json name, Json *labels) {
    Buf text = BUF_INIT;
    skip_blanks(r);
    bool fine = take(r, '=') || wrong(r, "a label without =");
    if (fine) skip_blanks(r);
    fine = fine && read_quoted(r, &text);
    if (fine) {
        Json value = json_string(text.data ? text.data : "", text.len);
        *labels = json_object_set(*labels, json_ref(name), value);
    }
    buf_clear(&text);
    return fine;
}

static bool read_label(Reader *r, Json *labels) {
    Json name = read_name(r);
    bool fine = json_is_none(name)                              ? wrong(r, "a label without a name")
                : !json_is_none(json_object_get(*labels, name)) ? wrong(r, "a label twice")
                                                                : read_label_value(r, name, labels);
    json_unref(name);
    return fine;
}

static bool read_labels(Reader *r, Json *labels) {
    for (int n = 0;; n++) {
        skip_blanks(r);
        if (take(r, '}')) return true;
        if (n == METRICS_LABELS_MAX) return too_many(r, "labels", METRICS_LABELS_MAX);
        if (!read_label(r, labels)) return false;
        skip_blanks(r);
        bool more = take(r, ',');
        if (!more && !(r->at < r->end && *r->at == '}')) {
            return wrong(r, "labels that are not parted by commas or do not end");
        }
    }
}

/* ---- values ---- */

static bool is_word(const char *text, size_t len, const char *word) {
    return strlen(word) == len && strncasecmp(text, word, len) == 0;
}

/* Not the text of a literal: 1e3 is 1000. */
static Json read_number(const char *text, size_t len) {
    Json j = json_number_parse(text, len);
    if (json_is_none(j) || json_tag(j) == JSON_TAG_INT) return j;
    double d = json_to_double(j);
    json_unref(j);
    return isfinite(d) ? json_number(d) : json_none();
}

static Json value_of(const char *text, size_t len) {
    static const struct {
        const char *word, *value;
    } words[] = {{"nan", "NaN"},       {"+nan", "NaN"},       {"-nan", "NaN"},
                 {"inf", "+Inf"},      {"+inf", "+Inf"},      {"-inf", "-Inf"},
                 {"infinity", "+Inf"}, {"+infinity", "+Inf"}, {"-infinity", "-Inf"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (is_word(text, len, words[i].word)) return json_string_c(words[i].value);
    }
    return read_number(text, len);
}

static bool read_value(Reader *r, const char *what, Json *out) {
    size_t len = word_len(r);
    *out = len ? value_of(r->at, len) : json_none();
    if (json_is_none(*out)) return wrong(r, what);
    r->at += len;
    skip_blanks(r);
    return true;
}

static bool read_timestamp(Reader *r, Json *sample) {
    Json time = json_none();
    if (r->at == r->end || *r->at == '#') return true;
    if (!read_value(r, "a timestamp that is no number", &time)) return false;
    *sample = json_object_with(*sample, "timestamp", time);
    return r->at == r->end || *r->at == '#' || wrong(r, "something after the timestamp");
}

static bool read_rest(Reader *r, Json *sample) {
    Json value = json_none();
    skip_blanks(r);
    if (!read_value(r, "no value that is a number", &value)) return false;
    *sample = json_object_with(*sample, "value", value);
    return read_timestamp(r, sample);
}

/* ---- lines ---- */

static void add_sample(Reader *r, Json name, Json sample) {
    Json list = json_object_lift(&r->all, name);
    if (json_is_none(list)) list = json_array();
    r->all = json_object_set(r->all, json_ref(name), json_array_push(list, sample));
}

static bool read_sample(Reader *r, Json name) {
    Json labels = json_object();
    skip_blanks(r);
    bool fine = !take(r, '{') || read_labels(r, &labels);
    Json sample = json_object_with(json_object(), "labels", labels);
    if (fine && read_rest(r, &sample)) {
        add_sample(r, name, sample);
        return true;
    }
    json_unref(sample);
    return false;
}

static bool read_line(Reader *r) {
    skip_blanks(r);
    if (r->at == r->end || *r->at == '#') return true;
    if (r->series++ == METRICS_SERIES_MAX)
        return too_many(r, "series before it", METRICS_SERIES_MAX);
    Json name = read_name(r);
    bool fine = json_is_none(name) ? wrong(r, "no name of a metric") : read_sample(r, name);
    json_unref(name);
    return fine;
}

Json metrics_parse(const char *text, size_t len, Error *err) {
    Reader r = {.all = json_object(), .err = err};
    const char *end = text + len;
    for (const char *at = text; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        r.start = r.at = at;
        r.end = newline ? newline : end;
        r.line++;
        if (!read_line(&r)) {
            json_unref(r.all);
            return json_none();
        }
        at = r.end + 1;
    }
    return r.all;
}
