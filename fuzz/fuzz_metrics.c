/* fuzz_metrics - the text of a Prometheus endpoint made of the input.
 *
 * Reading never crashes and leaves nothing behind. What is read is an object of lists of series, each with
 * labels that are texts and a value that is a number or one of three words; what is not says in which line.
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

static void check_all(Json all) {
    Json name, list;
    CHECK(json_kind(all) == JSON_OBJECT);
    for (size_t pos = 0; json_object_next(all, &pos, &name, &list);) {
        CHECK(json_string_len(name) > 0 && json_array_len(list) > 0);
        for (size_t i = 0; i < json_array_len(list); i++) {
            check_series(json_array_get(list, i));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    Error err = ERROR_INIT;
    Json all = metrics_parse((const char *)data, size, &err);
    if (json_is_none(all)) {
        CHECK(err.code != ERR_NONE && err.line > 0 && err.col > 0 && err.msg[0]);
    } else {
        CHECK(err.code == ERR_NONE);
        check_all(all);
    }
    json_unref(all);
    CHECK(json_heap_bytes() == before);
    return 0;
}
