#include "metric_assertion.h"

#include "json_print.h"

#include <math.h>

/* ---- life ---- */

enum { RESET_FAIL, RESET_REBASELINE, RESET_IGNORE };

static Verdict missing_verdict(Json own, Json otherwise) {
    Json word = json_is_none(own) ? otherwise : own;
    return json_string_is(word, "fail")   ? VERDICT_FAILS
           : json_string_is(word, "pass") ? VERDICT_HOLDS
                                          : VERDICT_WAITS;
}

static bool is_text(Json value) {
    return json_kind(value) == JSON_STRING && json_string_len(value) > 0;
}

/* Of a file a label may be a number: its text is meant. */
static Json texts_of(Json labels) {
    Json texts = json_object(), key, value;
    bool given = json_kind(labels) == JSON_OBJECT;
    for (size_t pos = 0; given && json_object_next(labels, &pos, &key, &value);) {
        Json text = json_ref(value);
        if (json_kind(value) != JSON_STRING) {
            Buf printed = BUF_INIT;
            json_print(value, NULL, &printed);
            json_put(&text, json_string(printed.data, printed.len));
            buf_clear(&printed);
        }
        texts = json_object_set(texts, json_ref(key), text);
    }
    return texts;
}

bool metric_assertion_init(MetricAssertion *m, Json object, const MetricDefaults *defaults,
                           Error *err) {
    *m = (MetricAssertion){0};
    Json name = json_object_get_c(object, "name"), metric = json_object_get_c(object, "metric");
    Json value = json_object_get_c(object, "value");
    if (!is_text(name)) return error_set(err, ERR_USAGE, "An assertion has no `name`.");
    m->name = json_ref(name);
    m->metric = json_ref(metric);
    m->labels = texts_of(json_object_get_c(object, "labels"));
    m->op = number_operator(json_object_get_c(object, "operator"));
    m->delta = json_string_is(json_object_get_c(object, "mode"), "delta");
    Json wanted = json_kind(value) == JSON_STRING /* in quotes */
                      ? json_number_parse(json_string_data(&value), json_string_len(value))
                      : json_ref(value);
    bool is_number = json_is_none(value) || json_kind(wanted) == JSON_NUMBER;
    m->wanted = json_kind(wanted) == JSON_NUMBER ? json_to_double(wanted) : 0;
    json_unref(wanted);
    m->missing_metric =
        missing_verdict(json_object_get_c(object, "missingMetric"), defaults->missing_metric);
    m->missing_series =
        missing_verdict(json_object_get_c(object, "missingSeries"), defaults->missing_series);
    m->on_reset = json_string_is(defaults->on_reset, "rebaseline") ? RESET_REBASELINE
                  : json_string_is(defaults->on_reset, "ignore")   ? RESET_IGNORE
                                                                   : RESET_FAIL;
    bool fine = !is_text(metric) ? error_set(err, ERR_USAGE, "it has no `metric`.")
                : !is_number     ? error_set(err, ERR_USAGE, "its `value` is no number.")
                : !m->op         ? error_set(err, ERR_USAGE,
                                             "it has no `operator`: one of eq, neq, gt, gte, lt and lte.")
                                 : true;
    if (!fine) {
        error_wrap(err, "The assertion %.*s", (int)json_string_len(name), json_string_data(&name));
        metric_assertion_clear(m);
    }
    return fine;
}

void metric_assertion_clear(MetricAssertion *m) {
    json_unref(m->name);
    json_unref(m->metric);
    json_unref(m->labels);
    *m = (MetricAssertion){0};
}

void metric_found_clear(MetricFound *found) {
    outcome_clear(&found->outcome);
    json_unref(found->delta);
    found->delta = json_none();
}

/* ---- deciding ---- */

static void begin(const MetricAssertion *m, MetricFound *found, Verdict verdict) {
    outcome_begin(&found->outcome, m->name, verdict);
}

static void add_series(const MetricAssertion *m, Buf *why) {
    buf_add(why, json_string_data(&m->metric), json_string_len(m->metric));
    if (json_object_len(m->labels)) json_print(m->labels, NULL, why);
}

static void decide_missing(const MetricAssertion *m, MetricFound *found, Verdict verdict,
                           const char *what) {
    if (verdict == VERDICT_HOLDS) return;
    begin(m, found, verdict);
    buf_printf(&found->outcome.why, "there is no %s ", what);
    add_series(m, &found->outcome.why);
    buf_adds(&found->outcome.why, ".");
}

static void compare(const MetricAssertion *m, MetricFound *found, double value) {
    if (number_holds(m->op, value, m->wanted)) return;
    begin(m, found, VERDICT_FAILS);
    Buf *why = &found->outcome.why;
    add_series(m, why);
    buf_printf(why, " %s %.17g, and it is wanted %s %.17g.", m->delta ? "has changed by" : "is",
               value, operator_words(m->op), m->wanted);
}

/* The first value is the baseline, and so is one after a reset, where that is wanted. */
static void decide_delta(MetricAssertion *m, MetricFound *found, const MetricValue *value) {
    bool reset = m->has_baseline && value->is_counter && value->number < m->baseline;
    if (!m->has_baseline || (reset && m->on_reset == RESET_REBASELINE)) {
        begin(m, found, VERDICT_WAITS);
        buf_printf(&found->outcome.why, "%.17g is what it is compared with from now on.",
                   value->number);
        m->baseline = value->number;
        m->has_baseline = true;
        return;
    }
    double delta = value->number - m->baseline;
    found->delta = json_number(delta);
    if (reset && m->on_reset == RESET_FAIL) {
        begin(m, found, VERDICT_FAILS);
        add_series(m, &found->outcome.why);
        buf_printf(&found->outcome.why,
                   " is a counter and has gone back from %.17g to %.17g: it was reset.",
                   m->baseline, value->number);
        return;
    }
    compare(m, found, delta);
}

void metric_assertion_decide(MetricAssertion *m, const Metrics *metrics, MetricFound *found) {
    MetricValue value;
    *found =
        (MetricFound){.outcome = {.value = json_none(), .why = BUF_INIT}, .delta = json_none()};
    MetricsFind end = metrics_find(metrics, m->metric, m->labels, &value);
    if (end == METRICS_NO_METRIC) {
        decide_missing(m, found, m->missing_metric, "metric");
    } else if (end == METRICS_NO_SERIES) {
        decide_missing(m, found, m->missing_series, "series");
    } else if (end == METRICS_MANY) {
        found->outcome.is_error = true;
        begin(m, found, VERDICT_FAILS);
        buf_adds(&found->outcome.why, "more than one series is ");
        add_series(m, &found->outcome.why);
        buf_adds(&found->outcome.why, "; `labels` have to select one.");
    } else if (!isfinite(value.number)) {
        begin(m, found, VERDICT_FAILS);
        add_series(m, &found->outcome.why);
        buf_adds(&found->outcome.why, " is no finite number.");
    } else {
        found->outcome.value = json_number(value.number);
        if (m->delta) {
            decide_delta(m, found, &value);
        } else {
            compare(m, found, value.number);
        }
    }
}
