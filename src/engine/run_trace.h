/* run_trace.h - the trace that a run belongs to.
 *
 * A run that was started with a traceparent, or by an engine that traces (EngineOptions.traces), has a span of its own in
 * that trace. It is a part of the image, so every process that goes on with the run knows it; runs without one have
 * nothing there and pay nothing. The engine gives the context to whoever does the work (step_trace()) and names the span of
 * each execution in its events; what becomes of that, it does not know.
 */
#ifndef PAWL_RUN_TRACE_H
#define PAWL_RUN_TRACE_H

#include "run.h"
#include "trace.h"

struct RunTrace {
    TraceContext own;
    uint8_t parent[TRACE_SPAN];
    bool has_parent;
    char *state; /* tracestate; NULL: none */
    Json image;  /* all of this, as it is on record */
    int64_t
        leg; /* what sets the ids of executions apart from those before the run had settled; not on record */
};

/* Of a run that is started: what came with it. False with *err set where that is none. */
bool run_trace_valid(const RunStart *start, Error *err);
void run_trace_begin(Run *run, const RunStart *start);
/* Of one that goes on: a new trace where the engine traces and there is none. */
void run_trace_resume(Run *run);
void run_trace_free(Run *run);

/* As the image has it; given. A copy of a run has the span of the one that it was made from: what it does is below that.
 * What is no trace in an image that was read counts as none. */
Json run_trace_image(const Run *run);
void run_trace_load(Run *run, Json value);

/* For EVENT_START: {traceparent (of the run itself), tracestate?, parent?}; JSON_NONE: none. Given. */
Json run_trace_told(const Run *run);

#endif
