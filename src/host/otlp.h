/* otlp.h - sends spans to a collector: OTLP over HTTP, in JSON.
 *
 *     Otlp *otlp = otlp_new(&options, &err);
 *     otlp_span(otlp, text, len);                 a span as JSON, whenever one has ended
 *     otlp_close(otlp, closed, ctx);              sends what is left, for OTLP_CLOSE_MS at most
 *
 * Spans wait in memory, as text, until there are OTLP_BATCH of them or OTLP_WAIT_MS are over; then they go out in one
 * POST to URL/v1/traces. One request is under way at a time. A collector that cannot be reached or answers 429, 502, 503
 * or 504 is asked again, after a pause that doubles (or for as long as Retry-After says), OTLP_TRIES times in all; anything
 * else that is no success loses the batch. Whoever adds a span never waits: where OTLP_QUEUE bytes are waiting, the span is
 * dropped. What was lost is counted, and said once.
 *
 * All on the loop's thread. Nothing here keeps the loop alive but a request that is under way, and otlp_close().
 */
#ifndef PAWL_OTLP_H
#define PAWL_OTLP_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

enum {
    OTLP_BATCH = 256,        /* spans */
    OTLP_QUEUE = 16 << 20,   /* bytes of spans that wait */
    OTLP_WAIT_MS = 1000,     /* that the first one of a batch waits for others */
    OTLP_TIMEOUT_MS = 10000, /* of a request */
    OTLP_TRIES = 6,
    OTLP_PAUSE_MS = 500, /* before the second try; then twice that, and so on */
    OTLP_PAUSE_MAX_MS = 60000,
    OTLP_CLOSE_MS = 5000,
    OTLP_HEADERS_MAX = 32,
};

typedef struct Otlp Otlp;

typedef struct OtlpOptions {
    uv_loop_t *loop;
    const char *url; /* of the collector, "http://127.0.0.1:4318" */
    const char *
        headers; /* "name=value,name=value", percent-encoded, as $OTEL_EXPORTER_OTLP_HEADERS; NULL: none */
    const char *service; /* service.name; NULL: "pawl" */
    const char *version; /* of this program */
    /* A sentence for the log, when spans are lost for the first time, and in the end how many were. */
    void (*say)(void *ctx, const char *sentence);
    void *ctx;
} OtlpOptions;

typedef struct OtlpCounts {
    uint64_t sent, lost; /* spans */
    uint64_t requests;
} OtlpCounts;

/* NULL on error: no URL of http or https, headers that are none. All of the options is copied, but for the loop and ctx. */
Otlp *otlp_new(const OtlpOptions *options, Error *err);
/* A span, as OTLP has it in JSON; copied. */
void otlp_span(Otlp *o, const char *json, size_t len);
OtlpCounts otlp_counts(const Otlp *o);
/* Tries to send what is left. closed() is told once, from the loop, and it is freed then; NULL: nobody is. */
void otlp_close(Otlp *o, void (*closed)(void *ctx), void *ctx);

#endif
