/* spans.h - what happens to the runs of a host, as spans of their traces.
 *
 *     Spans *spans = spans_new(host, otlp, &err);       before the first run; host_trace() is a part of it
 *     spans_free(spans);                                what is open then is told as it stands; before the host goes
 *
 * It is a subscription to all runs, and nothing in the engine knows of it. Of each run it makes
 *
 *     a span from when the run starts to when it settles: the run's own, whose id is on record with it, below the span of
 *       whoever started it. Each time that it goes on after that, another one, below the first: a run that waits for days
 *       has no span for that time;
 *     a span for each execution of a node, each attempt, below that of the node around it. Its id is in the event that tells
 *       of its beginning, and was given to what the node asks and starts.
 *
 * A span has names, numbers, times, how it ended and the message of its error, which is masked as the logs are: never a
 * state, an input or a result. A pause, in a debugger or for an answer, is an event of the span.
 *
 * Runs of a trace that its beginner does not sample are left out. At most SPANS_OPEN are open at once; executions beyond
 * that have none.
 */
#ifndef PAWL_SPANS_H
#define PAWL_SPANS_H

#include "host.h"
#include "otlp.h"

enum { SPANS_OPEN = 65536, SPANS_EVENTS = 64 }; /* open; events of one */

typedef struct Spans Spans;

/* The exporter is borrowed. NULL on error. */
Spans *spans_new(Host *host, Otlp *otlp, Error *err);
void spans_free(Spans *s); /* accepts NULL */

#endif
