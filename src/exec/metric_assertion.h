/* metric_assertion.h - what is to hold of a metric: its value, or by how much it has changed.
 *
 *     MetricAssertion m;
 *     metric_assertion_init(&m, object, defaults, &err)    an object of the fields that kind.c names
 *     metric_assertion_decide(&m, metrics, &found)         for each answer, in order
 *     metric_assertion_clear(&m)
 *
 * `metric` and `labels` have to select exactly one series: labels that it has besides do not matter. The value of a
 * histogram or a summary is its sum. A metric or a series that is missing makes it wait, fail or hold, as missingMetric and
 * missingSeries say; a value that is not finite makes it fail. In the mode `delta` the first value is the baseline, and
 * waits; what is compared is the difference from it. A counter that is below its baseline was reset: it fails, or makes a
 * new baseline, or goes on, as resetBehavior says.
 */
#ifndef PAWL_METRIC_ASSERTION_H
#define PAWL_METRIC_ASSERTION_H

#include "assertion.h"
#include "metrics.h"

/* The parameters of the task that its assertions go by. */
typedef struct MetricDefaults {
    Json missing_metric, missing_series; /* words */
    Json on_reset;
} MetricDefaults;

typedef struct MetricAssertion {
    Json name, metric, labels; /* labels: an object of strings */
    const struct AssertionOperator *op;
    double wanted;
    bool delta;
    Verdict missing_metric, missing_series;
    int on_reset;
    double baseline;
    bool has_baseline;
} MetricAssertion;

/* What was found of one. */
typedef struct MetricFound {
    Outcome outcome; /* its value is the metric's */
    Json delta;      /* JSON_NONE: none was computed */
} MetricFound;

void metric_found_clear(MetricFound *found);

bool metric_assertion_init(MetricAssertion *m, Json object, const MetricDefaults *defaults,
                           Error *err);
void metric_assertion_clear(MetricAssertion *m);
/* *found is given. */
void metric_assertion_decide(MetricAssertion *m, const Metrics *metrics, MetricFound *found);

#endif
