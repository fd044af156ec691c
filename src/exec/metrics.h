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
 * one. Values that JSON does not have are the texts "+Inf", "-Inf" and "NaN". Comments, HELP and TYPE
 * among them, are skipped, and so are exemplars.
 */
#ifndef PAWL_METRICS_H
#define PAWL_METRICS_H

#include "error.h"
#include "json.h"

enum {
    METRICS_SERIES_MAX = 200000, /* lines with a value */
    METRICS_LABELS_MAX = 100,    /* of one line */
};

/* An object, given. JSON_NONE when the text is not of this format, or has more than the limits: *err has
 * the line. */
Json metrics_parse(const char *text, size_t len, Error *err);

#endif
