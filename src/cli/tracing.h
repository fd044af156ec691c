/* tracing.h - the spans of the runs that a command holds, on their way to a collector (host/spans.h, host/otlp.h).
 *
 *     Tracing t;
 *     if (!tracing_begin(&t, &options, &err)) ...       with no collector it does nothing, and is true
 *     ...
 *     tracing_end(&t);                                  before the client goes; the loop has to run after that, and does
 *                                                       so for some seconds where the collector is slow
 *
 * The collector is what --otlp says, or else $OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or $OTEL_EXPORTER_OTLP_ENDPOINT, unless
 * $OTEL_SDK_DISABLED is true or $OTEL_TRACES_EXPORTER is none. $OTEL_EXPORTER_OTLP_HEADERS and $OTEL_SERVICE_NAME count in
 * either case.
 */
#ifndef PAWL_TRACING_H
#define PAWL_TRACING_H

#include "command.h"
#include "spans.h"

#define OTLP_ROW(type, field)                                                           \
    {                                                                                   \
        "otlp", 0, "URL",                                                               \
            "send spans of runs and nodes to this collector, as http://127.0.0.1:4318 " \
            "($OTEL_EXPORTER_OTLP_ENDPOINT unless told, or else nowhere)",              \
            TAKES(OPTION_TEXT, type, field)                                             \
    }

typedef struct Tracing {
    Otlp *otlp; /* NULL: there is no collector */
    Spans *spans;
} Tracing;

typedef struct TracingOptions {
    uv_loop_t *loop;
    Host *host;
    const char *url; /* of --otlp; NULL: it was not given */
    void (*say)(void *ctx, const char *sentence);
    void *ctx; /* good until the loop has run */
} TracingOptions;

/* False: --otlp, or the headers that go with it, are wrong. Where the environment alone is, it says so and goes on. */
bool tracing_begin(Tracing *t, const TracingOptions *options, Error *err);
void tracing_end(Tracing *t);

/* The trace that this process was started in, $TRACEPARENT and $TRACESTATE; both NULL: none. Says what is wrong with them. */
void tracing_inherited(const char **parent, const char **state,
                       void (*say)(void *ctx, const char *sentence), void *ctx);

#endif
