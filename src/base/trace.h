/* trace.h - W3C trace contexts: which trace something belongs to, and under which span.
 *
 *     TraceContext t;
 *     if (trace_parse(header, strlen(header), &t)) ...      "00-4bf92f35...-00f067aa...-01"
 *     trace_child(&t, parts, 3, &own);                      the same trace, a span of its own
 *     char text[TRACE_TEXT];
 *     trace_print(&own, text);
 *
 * A context is a plain value. A trace has an id of 16 bytes, a span one of 8; neither is all zeros. `tracestate` is what
 * the tools of others add to a context: it is passed on as it came (trace_state_fits()).
 *
 * Ids of children are derived: the same parts under the same parent give the same id, in any process. So whoever sends a
 * span's id, and whoever reports the span, need not have talked about it.
 */
#ifndef PAWL_TRACE_H
#define PAWL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TRACE_ID = 16,
    TRACE_SPAN = 8,
    TRACE_TEXT = 56,        /* bytes of a traceparent, with the NUL */
    TRACE_STATE_MAX = 512,  /* bytes of a tracestate */
    TRACE_SAMPLED = 1,      /* of flags: somebody records it */
    TRACE_FORWARD_MAX = 512 /* bytes of a traceparent of a later version */
};

typedef struct TraceContext {
    uint8_t trace[TRACE_ID];
    uint8_t span[TRACE_SPAN];
    uint8_t flags;
} TraceContext;

/* A traceparent, to the letter: lower case, no blanks, no ids of zeros. One of a later version is read as far as this one
 * goes, as the specification has it. */
bool trace_parse(const char *text, size_t len, TraceContext *out);
void trace_print(const TraceContext *t, char text[TRACE_TEXT]);
/* Whether a tracestate may be passed on: printable ASCII, not too long, not empty. */
bool trace_state_fits(const char *text, size_t len);

/* A new trace, with a span: random, sampled. */
void trace_new(TraceContext *out);
/* The span that the parts name, under another. */
void trace_child(const TraceContext *parent, const uint64_t *parts, size_t n, TraceContext *out);

/* The bytes of an id as lower case letters, and back; text has 2 * n letters and a NUL. */
void trace_hex(const uint8_t *id, size_t n, char *text);
bool trace_unhex(const char *text, size_t n, uint8_t *id);

#endif
