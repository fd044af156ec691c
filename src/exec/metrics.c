#include "metrics.h"

#include "ascii.h"
#include "json_build.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { SHOWN_MAX = 60 }; /* bytes of a line in a sentence */

typedef struct Reader {
    const char *start, *at, *end; /* of the line */
    int line;
    size_t series;
    Json all, types;
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
    while (r->at < r->end && is_blank(*r->at)) r->at++;
}

static bool take(Reader *r, char c) {
    bool there = r->at < r->end && *r->at == c;
    r->at += there;
    return there;
}

/* JSON_NONE when there is none. */
static Json read_name(Reader *r) {
    const char *from = r->at;
    while (r->at < r->end && (ascii_is_letter(*r->at) || *r->at == '_' || *r->at == ':' ||
                              (r->at > from && ascii_is_digit(*r->at)))) {
        r->at++;
    }
    return r->at > from ? json_string(from, (size_t)(r->at - from)) : json_none();
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

static bool read_label(Reader *r, Json *labels) {
    Buf text = BUF_INIT;
    Json name = read_name(r);
    bool fine = json_is_none(name)
                    ? wrong(r, "a label without a name")
                    : json_is_none(json_object_get(*labels, name)) || wrong(r, "a label twice");
    if (fine) skip_blanks(r);
    fine = fine && (take(r, '=') || wrong(r, "a label without ="));
    if (fine) skip_blanks(r);
    fine = fine && read_quoted(r, &text);
    if (fine) {
        Json value = json_string(text.data ? text.data : "", text.len);
        *labels = json_object_set(*labels, json_ref(name), value);
    }
    json_unref(name);
    buf_clear(&text);
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

/* A number is not the text of a literal: 1e3 is 1000. */
static Json value_of(const char *text, size_t len) {
    static const struct {
        const char *word, *value;
    } words[] = {{"nan", "NaN"},       {"+nan", "NaN"},       {"-nan", "NaN"},
                 {"inf", "+Inf"},      {"+inf", "+Inf"},      {"-inf", "-Inf"},
                 {"infinity", "+Inf"}, {"+infinity", "+Inf"}, {"-infinity", "-Inf"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = words[i].word;
        if (strlen(word) == len && !strncasecmp(text, word, len)) {
            return json_string_c(words[i].value);
        }
    }
    Json j = json_number_parse(text, len);
    if (json_is_none(j) || json_tag(j) == JSON_TAG_INT) return j;
    double d = json_to_double(j);
    json_unref(j);
    return isfinite(d) ? json_number(d) : json_none();
}

static bool read_value(Reader *r, const char *what, Json *out) {
    size_t len = 0;
    while (r->at + len < r->end && !is_blank(r->at[len])) len++;
    *out = len ? value_of(r->at, len) : json_none();
    if (json_is_none(*out)) return wrong(r, what);
    r->at += len;
    skip_blanks(r);
    return true;
}

static bool at_end(const Reader *r) {
    return r->at == r->end || *r->at == '#';
}

/* ---- lines ---- */

/* # TYPE name word */
static void read_comment(Reader *r) {
    r->at++;
    skip_blanks(r);
    if (r->end - r->at < 5 || memcmp(r->at, "TYPE", 4) != 0 || !is_blank(r->at[4])) return;
    r->at += 5;
    skip_blanks(r);
    Json name = read_name(r), word = json_none();
    skip_blanks(r);
    const char *from = r->at;
    while (r->at < r->end && ascii_is_letter(*r->at)) r->at++;
    if (r->at > from) word = json_string(from, (size_t)(r->at - from));
    if (!json_is_none(name) && !json_is_none(word)) {
        if (r->series++ < METRICS_SERIES_MAX) {
            r->types = json_object_set(r->types, json_ref(name), json_ref(word));
        }
    }
    json_unref(name);
    json_unref(word);
}

/* name{labels} value timestamp */
static bool read_line(Reader *r) {
    skip_blanks(r);
    if (at_end(r)) {
        if (r->at < r->end) read_comment(r);
        return true;
    }
    if (r->series++ == METRICS_SERIES_MAX) {
        return too_many(r, "series before it", METRICS_SERIES_MAX);
    }
    Json name = read_name(r), labels = json_object(), value = json_none(), time = json_none();
    bool fine = !json_is_none(name) || wrong(r, "no name of a metric");
    if (fine) skip_blanks(r);
    fine = fine && (!take(r, '{') || read_labels(r, &labels));
    if (fine) skip_blanks(r);
    fine = fine && read_value(r, "no value that is a number", &value) &&
           (at_end(r) || (read_value(r, "a timestamp that is no number", &time) &&
                          (at_end(r) || wrong(r, "something after the timestamp"))));
    Json sample = OBJECT(KEY("labels", labels), KEY("value", value), KEY("timestamp", time));
    if (fine) {
        Json list = json_object_lift(&r->all, name);
        list = json_array_push(json_is_none(list) ? json_array() : list, json_ref(sample));
        r->all = json_object_set(r->all, json_ref(name), list);
    }
    json_unref(sample);
    json_unref(name);
    return fine;
}

void metrics_clear(Metrics *metrics) {
    json_unref(metrics->all);
    json_unref(metrics->types);
    *metrics = (Metrics){json_none(), json_none()};
}

bool metrics_parse(const char *text, size_t len, Metrics *out, Error *err) {
    Reader r = {.all = json_object(), .types = json_object(), .err = err};
    const char *end = text + len;
    for (const char *at = text; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        r.start = r.at = at;
        r.end = newline ? newline : end;
        r.line++;
        if (!read_line(&r)) {
            json_unref(r.all);
            json_unref(r.types);
            *out = (Metrics){json_none(), json_none()};
            return false;
        }
        at = r.end + 1;
    }
    *out = (Metrics){r.all, r.types};
    return true;
}

/* ---- finding ---- */

static bool is_type(const Metrics *metrics, Json name, const char *word) {
    return json_string_is(json_object_get(metrics->types, name), word);
}

/* The name without an end; JSON_NONE: it has another. Given. */
static Json without(Json name, const char *end) {
    size_t len = json_string_len(name), n = strlen(end);
    bool ends = len > n && !memcmp(json_string_data(&name) + len - n, end, n);
    return ends ? json_string(json_string_data(&name), len - n) : json_none();
}

/* The samples of OpenMetrics have `_total` behind the name of their counter. */
static bool is_counter(const Metrics *metrics, Json name) {
    if (is_type(metrics, name, "counter")) return true;
    Json family = without(name, "_total");
    bool counter = !json_is_none(family) && is_type(metrics, family, "counter");
    json_unref(family);
    return counter;
}

static bool has_labels(Json series, Json labels) {
    Json own = json_object_get_c(series, "labels"), key, value;
    for (size_t pos = 0; json_object_next(labels, &pos, &key, &value);) {
        Json there = json_object_get(own, key);
        if (json_is_none(there) || !json_equal(there, value)) return false;
    }
    return true;
}

static double number_of(Json value) {
    return json_kind(value) == JSON_NUMBER ? json_to_double(value)
           : json_string_is(value, "NaN")  ? NAN
           : json_string_is(value, "-Inf") ? -INFINITY
                                           : INFINITY;
}

MetricsFind metrics_find(const Metrics *metrics, Json metric, Json labels, MetricValue *out) {
    bool sums = is_type(metrics, metric, "histogram") || is_type(metrics, metric, "summary");
    Json name =
        sums ? json_string_fmt("%.*s_sum", (int)json_string_len(metric), json_string_data(&metric))
             : json_ref(metric);
    Json list = json_object_get(metrics->all, name);
    size_t n = json_is_none(list) ? 0 : json_array_len(list), found = 0;
    for (size_t i = 0; i < n && found < 2; i++) {
        Json series = json_array_get(list, i);
        if (!has_labels(series, labels)) continue;
        found++;
        out->number = number_of(json_object_get_c(series, "value"));
    }
    out->is_counter = is_counter(metrics, name);
    json_unref(name);
    return !n           ? METRICS_NO_METRIC
           : found == 1 ? METRICS_FOUND
           : found      ? METRICS_MANY
                        : METRICS_NO_SERIES;
}
