#include "kind.h"

#include <string.h>

/* Of check_http_json. */
static const ParamInfo assertion_fields[] = {
    {.name = "name", .type = PARAM_TEXT, .required = true, .help = "what it is called, once"},
    {.name = "query", .type = PARAM_TEXT, .required = true, .help = "jq over the answer"},
    {.name = "exists",
     .type = PARAM_BOOL,
     .help = "whether the query is to give something, instead of an operator"},
    {.name = "operator",
     .type = PARAM_ENUM,
     .words = "eq neq gt gte lt lte contains not_contains",
     .help = "how what the query gives is to compare with `value`"},
    {.name = "value", .type = PARAM_VALUE, .help = "what it is compared with"},
    {.name = "allowMissing",
     .type = PARAM_BOOL,
     .help = "whether it holds when the query gives nothing, or fails; unless given, it waits, or "
             "fails with failOnCheckMiss"},
};

/* Of check_http_metrics. */
static const ParamInfo metric_assertion_fields[] = {
    {.name = "name", .type = PARAM_TEXT, .required = true, .help = "what it is called, once"},
    {.name = "metric", .type = PARAM_TEXT, .required = true, .help = "the name of the metric"},
    {.name = "labels",
     .type = PARAM_OBJECT,
     .texts = true,
     .fallback = "{}",
     .help = "labels that select exactly one of its series; it may have others besides"},
    {.name = "mode",
     .type = PARAM_ENUM,
     .words = "value delta",
     .fallback = "\"value\"",
     .help = "the value itself, or by how much it has changed since the first answer"},
    {.name = "operator",
     .type = PARAM_ENUM,
     .required = true,
     .words = "eq neq gt gte lt lte",
     .help = "how it is to compare with `value`"},
    {.name = "value",
     .type = PARAM_VALUE,
     .fallback = "0",
     .help = "the number that it is compared with"},
    {.name = "missingMetric",
     .type = PARAM_ENUM,
     .words = "wait fail pass",
     .help = "instead of the task's own"},
    {.name = "missingSeries",
     .type = PARAM_ENUM,
     .words = "wait fail pass",
     .help = "instead of the task's own"},
};

/* ID_params, for each kind. */
/* clang-format off */
#define KIND(id, ...) static const ParamInfo id##_params[] = {
#define PARAM(index, called, means, ...) \
    {.name = called, .type = PARAM_##means, .help = __VA_ARGS__},
#define END };
#include "kind_rows.h"
/* clang-format on */

#define INSIDE(param) .inside = (param) + 1
#define COMPUTES(x)
#define STEERS(x)
#define READS(x)
#define CALLS
#define WORKS(x) .leaves = true,
#define WAITS    .leaves = true,
#define KIND(is, of, called, does, ...)                                 \
    [KIND_##is] = {.id = KIND_##is,                                     \
                   .name = called,                                      \
                   .params = is##_params,                               \
                   .nparams = sizeof is##_params / sizeof *is##_params, \
                   .dialect = DIALECT_##of,                             \
                   .help = __VA_ARGS__,                                 \
                   does},
#define PARAM(...)
#define END

const Kind kinds[KIND_COUNT] = {
#include "kind_rows.h"
};

const Kind *kind_find(DialectId dialect, const char *name) {
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (kinds[i].dialect == dialect && strcmp(kinds[i].name, name) == 0) return &kinds[i];
    }
    return NULL;
}
