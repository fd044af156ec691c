#include "run_trace.h"

#include "image.h"
#include "json_build.h"
#include "mem.h"

#include <string.h>

/* In the image: [own context, span of whoever started it, tracestate]. */
enum { TRACE_OWN, TRACE_PARENT, TRACE_STATE };

static bool is_text(const char *text) {
    return text && *text;
}

bool run_trace_valid(const RunStart *start, Error *err) {
    TraceContext t;
    const char *parent = start->traceparent, *state = start->tracestate;
    if (is_text(parent) && !trace_parse(parent, strlen(parent), &t)) {
        return error_set(err, ERR_USAGE,
                         "`traceparent` is not one of W3C Trace Context: 00-TRACE-SPAN-FLAGS, with "
                         "32, 16 and 2 digits, in lower case, as "
                         "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.");
    }
    if (is_text(state) && !is_text(parent)) {
        return error_set(err, ERR_USAGE, "`tracestate` says nothing without a `traceparent`.");
    }
    if (is_text(state) && !trace_state_fits(state, strlen(state))) {
        return error_set(err, ERR_USAGE,
                         "`tracestate` is longer than %d bytes, or holds something else than "
                         "printable ASCII.",
                         TRACE_STATE_MAX);
    }
    return true;
}

static RunTrace *trace_of(Run *run) {
    if (!run->trace) run->trace = mem_zalloc(sizeof *run->trace);
    return run->trace;
}

/* A random span in the trace of `parent`. */
static void new_span_under(RunTrace *t, const TraceContext *parent) {
    trace_new(&t->own);
    memcpy(t->own.trace, parent->trace, TRACE_ID);
    t->own.flags = parent->flags;
    memcpy(t->parent, parent->span, TRACE_SPAN);
    t->has_parent = true;
}

void run_trace_begin(Run *run, const RunStart *start) {
    TraceContext parent;
    if (is_text(start->traceparent)) {
        trace_parse(start->traceparent, strlen(start->traceparent), &parent);
        new_span_under(trace_of(run), &parent);
        if (is_text(start->tracestate)) run->trace->state = mem_strdup(start->tracestate);
    } else if (run->engine->options.traces) {
        trace_new(&trace_of(run)->own);
    }
}

void run_trace_resume(Run *run) {
    if (!run->trace && run->engine->options.traces) trace_new(&trace_of(run)->own);
    bool died =
        !run->row.status || !strcmp(run->row.status, "running"); /* its work may be found again */
    if (run->trace && !died) run->trace->leg = run->loaded;
}

void run_trace_free(Run *run) {
    if (run->trace) {
        mem_free(run->trace->state);
        json_unref(run->trace->image);
    }
    mem_free(run->trace);
    run->trace = NULL;
}

static Json hex_of(const uint8_t *span) {
    char text[2 * TRACE_SPAN + 1];
    trace_hex(span, TRACE_SPAN, text);
    return json_string_c(text);
}

static Json image_of(const RunTrace *t) {
    char own[TRACE_TEXT];
    trace_print(&t->own, own);
    return ARRAY([TRACE_OWN] = json_string_c(own),
                 [TRACE_PARENT] = t->has_parent ? hex_of(t->parent) : json_null(),
                 [TRACE_STATE] = t->state ? json_string_c(t->state) : json_null());
}

Json run_trace_image(const Run *run) {
    RunTrace *t = run->trace;
    if (json_is_none(t->image)) t->image = image_of(t);
    return json_ref(t->image);
}

static bool read_image(Json value, RunTrace *t) {
    Json own = json_array_get(value, TRACE_OWN), parent = json_array_get(value, TRACE_PARENT),
         state = json_array_get(value, TRACE_STATE);
    *t = (RunTrace){0};
    if (json_kind(own) != JSON_STRING ||
        !trace_parse(json_string_data(&own), json_string_len(own), &t->own)) {
        return false;
    }
    t->has_parent = json_kind(parent) == JSON_STRING && json_string_len(parent) == 2 * TRACE_SPAN &&
                    trace_unhex(json_string_data(&parent), TRACE_SPAN, t->parent);
    if (json_kind(state) == JSON_STRING &&
        trace_state_fits(json_string_data(&state), json_string_len(state))) {
        t->state = mem_strndup(json_string_data(&state), json_string_len(state));
    }
    return true;
}

/* An earlier checkpoint than the first with a trace has none: the run keeps what it has. */
void run_trace_load(Run *run, Json value) {
    RunTrace t;
    if (json_kind(value) != JSON_ARRAY || !read_image(value, &t)) return;
    run_trace_free(run);
    *trace_of(run) = t;
}

Json run_trace_told(const Run *run) {
    const RunTrace *t = run->trace;
    char own[TRACE_TEXT];
    if (!t) return json_none();
    trace_print(&t->own, own);
    return OBJECT(KEY("traceparent", own), KEY("tracestate", t->state),
                  KEY("parent", t->has_parent ? hex_of(t->parent) : json_none()));
}
