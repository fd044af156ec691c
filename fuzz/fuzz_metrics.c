/* fuzz_metrics - the text of a Prometheus endpoint made of the input.
 *
 * Reading never crashes and leaves nothing behind. What is read is an object of lists of series, each with
 * labels that are texts and a value that is a number or one of three words; each can be found by its name, and by its labels
 * unless another has them, too. What is not says in which line.
 */
#include "json_print.h"
#include "metrics.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static void check_labels(Json labels) {
    Json name, value;
    CHECK(json_kind(labels) == JSON_OBJECT && json_object_len(labels) <= METRICS_LABELS_MAX);
    for (size_t pos = 0; json_object_next(labels, &pos, &name, &value);) {
        CHECK(json_string_len(name) > 0 && json_kind(value) == JSON_STRING);
    }
}

static void check_value(Json value) {
    CHECK(json_kind(value) == JSON_NUMBER || json_string_is(value, "NaN") ||
          json_string_is(value, "+Inf") || json_string_is(value, "-Inf"));
}

static void check_series(Json series) {
    CHECK(json_kind(series) == JSON_OBJECT);
    check_labels(json_object_get_c(series, "labels"));
    check_value(json_object_get_c(series, "value"));
}

/* With all of its labels: it is found, or others have them, too. */
static void check_found(const Metrics *metrics, Json name, Json series) {
    MetricValue value;
    Json type = json_object_get(metrics->types, name);
    bool sums = json_string_is(type, "histogram") || json_string_is(type, "summary");
    MetricsFind end = metrics_find(metrics, name, json_object_get_c(series, "labels"), &value);
    CHECK(sums || end == METRICS_FOUND || end == METRICS_MANY);
}

static void check_all(const Metrics *metrics) {
    enum { LOOKED_UP = 100 };
    Json all = metrics->all, name, list, type;
    for (size_t pos = 0; json_object_next(metrics->types, &pos, &name, &type);) {
        CHECK(json_string_len(name) > 0 && json_string_len(type) > 0);
    }
    CHECK(json_kind(all) == JSON_OBJECT);
    for (size_t pos = 0; json_object_next(all, &pos, &name, &list);) {
        CHECK(json_string_len(name) > 0 && json_array_len(list) > 0);
        for (size_t i = 0; i < json_array_len(list); i++) {
            check_series(json_array_get(list, i));
            if (i < LOOKED_UP) check_found(metrics, name, json_array_get(list, i));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    Error err = ERROR_INIT;
    Metrics metrics;
    if (!metrics_parse((const char *)data, size, &metrics, &err)) {
        CHECK(err.code != ERR_NONE && err.line > 0 && err.col > 0 && err.msg[0]);
    } else {
        CHECK(err.code == ERR_NONE);
        check_all(&metrics);
        metrics_clear(&metrics);
    }
    CHECK(json_heap_bytes() == before);
    return 0;
}
