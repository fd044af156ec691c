/* metrics.h - what a Prometheus endpoint shows, as JSON.
 *
 *     http_requests_total{code="200"} 1027 1395066363000
 *
 * becomes
 *
 *     {"http_requests_total": [{"labels": {"code": "200"}, "value": 1027, "timestamp": 1395066363000}]}
 *
 * Names and series are in the order of the text. The lines of a histogram or a summary have names of
 * their own (x_bucket, x_sum, x_count) and stand under them. A timestamp is there when the line has
 * one. Values that JSON does not have are the texts "+Inf", "-Inf" and "NaN". Comments, HELP among them, are skipped, and so
 * are exemplars. What TYPE says of a name is kept beside that.
 */
#ifndef PAWL_METRICS_H
#define PAWL_METRICS_H

#include "error.h"
#include "json.h"

enum {
    METRICS_SERIES_MAX = 200000, /* lines with a value */
    METRICS_LABELS_MAX = 100,    /* of one line */
};

typedef struct Metrics {
    Json all;   /* an object, as above */
    Json types; /* name -> "counter", "gauge", "histogram", "summary" or another word */
} Metrics;

/* False when the text is not of this format, or has more than the limits: *err has the line. */
bool metrics_parse(const char *text, size_t len, Metrics *out, Error *err);
void metrics_clear(Metrics *metrics);

typedef enum MetricsFind {
    METRICS_FOUND,
    METRICS_NO_METRIC,
    METRICS_NO_SERIES, /* there is the metric, but not with these labels */
    METRICS_MANY,      /* more than one series has these labels */
} MetricsFind;

typedef struct MetricValue {
    double number;
    bool is_counter;
} MetricValue;

/* The series of a metric that has these labels, whatever others it has besides: an object of strings. Of a histogram or a
 * summary its sum is meant. */
MetricsFind metrics_find(const Metrics *metrics, Json metric, Json labels, MetricValue *out);

#endif
