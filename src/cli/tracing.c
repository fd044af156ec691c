#include "tracing.h"

#include "trace.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *from_environment(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool environment_says(const char *name, const char *word) {
    const char *value = from_environment(name);
    return value && !strcasecmp(value, word);
}

static const char *collector_of_environment(void) {
    if (environment_says("OTEL_SDK_DISABLED", "true") ||
        environment_says("OTEL_TRACES_EXPORTER", "none")) {
        return NULL;
    }
    const char *traces = from_environment("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    return traces ? traces : from_environment("OTEL_EXPORTER_OTLP_ENDPOINT");
}

bool tracing_begin(Tracing *t, const TracingOptions *options, Error *err) {
    Error why = ERROR_INIT;
    const char *url = options->url ? options->url : collector_of_environment();
    *t = (Tracing){0};
    if (!url) return true;
    OtlpOptions how = {.loop = options->loop,
                       .url = url,
                       .headers = from_environment("OTEL_EXPORTER_OTLP_HEADERS"),
                       .service = from_environment("OTEL_SERVICE_NAME"),
                       .version = PAWL_VERSION,
                       .say = options->say,
                       .ctx = options->ctx};
    t->otlp = otlp_new(&how, &why);
    if (t->otlp) t->spans = spans_new(options->host, t->otlp, &why);
    if (t->spans) return true;
    tracing_end(t);
    if (!options->url) {
        error_wrap(&why, "No spans are sent, for the environment names no collector");
        options->say(options->ctx, why.msg);
        return true;
    }
    *err = why;
    return false;
}

void tracing_end(Tracing *t) {
    spans_free(t->spans);
    if (t->otlp) otlp_close(t->otlp, NULL, NULL);
    *t = (Tracing){0};
}

void tracing_inherited(const char **parent, const char **state,
                       void (*say)(void *ctx, const char *sentence), void *ctx) {
    TraceContext t;
    *parent = from_environment("TRACEPARENT");
    *state = from_environment("TRACESTATE");
    if (*parent && !trace_parse(*parent, strlen(*parent), &t)) {
        say(ctx, "$TRACEPARENT is not one of W3C Trace Context (00-TRACE-SPAN-FLAGS), and is "
                 "ignored.");
        *parent = NULL;
    }
    if (!*parent || (*state && !trace_state_fits(*state, strlen(*state)))) *state = NULL;
}
