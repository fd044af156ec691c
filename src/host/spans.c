/* spans.c - from events to spans.
 *
 * A run that goes on here is a TracedRun, with the span of this *leg* of it: from a start or a resume until it settles. The
 * spans that are open in it are on a list, oldest first, so that one is always behind those around it; and in a table by
 * run and frame, the youngest first, so that the first that is found is the innermost. */
#include "spans.h"

#include "json_build.h"
#include "json_print.h"
#include "mem.h"
#include "subscription.h"
#include "trace.h"

#include <string.h>

enum { SLOTS = 4096, NAME_MAX_ = 256, MESSAGE_MAX = 4096 };

/* As OTLP numbers them. */
enum { KIND_OF_INSIDE = 1, KIND_OF_SERVER = 2, KIND_OF_CLIENT = 3 };
enum { CODE_UNSET, CODE_OK, CODE_ERROR };

typedef struct TracedRun TracedRun;
typedef struct Span Span;

struct Span {
    Span *next_in_slot;
    Span *prev, *next; /* of its run */
    TracedRun *run;
    Span *around; /* NULL: the run's */
    size_t inside;
    int64_t frame;
    int depth;
    uint8_t id[TRACE_SPAN], parent[TRACE_SPAN];
    int kind;       /* KIND_OF_... */
    int64_t start;  /* ms since 1970 */
    Json name;      /* a string */
    Buf attributes; /* {key, value}, ... */
    Buf events;     /* the same of the span's events */
    int nevents;
    int64_t paused;   /* since when; 0: it is not */
    bool paused_done; /* its work had been done then */
};

struct TracedRun {
    TracedRun *next_in_slot;
    int64_t number;
    TraceContext own; /* of the run */
    Buf attributes;   /* that all of its spans have */
    Span leg;
    bool resumed, asked; /* asked: a node of it stopped for a person */
    Json state;          /* tracestate, or JSON_NONE */
    Span *first, *last;
};

/* The frame around one, as it was last heard of: one that is forgotten counts as that of the run. */
typedef struct FrameAt {
    int64_t run, frame, parent;
} FrameAt;

struct Spans {
    Host *host;
    Otlp *otlp;
    Subscription *subscription;
    TracedRun *runs[SLOTS];
    Span *slots[SLOTS];
    FrameAt frames[SLOTS];
    size_t open;
};

/* ---- values ---- */

/* Spans are written as text at once: nobody reads them here. Attributes are appended with a comma between them. */
static void add_key(Buf *out, const char *key, const char *type) {
    if (out->len) buf_addc(out, ',');
    buf_adds(out, "{\"key\":\"");
    buf_adds(out, key);
    buf_adds(out, "\",\"value\":{\"");
    buf_adds(out, type);
    buf_adds(out, "\":");
}

static void add_digits(Buf *out, int64_t n) {
    char digits[24], *at = digits + sizeof digits;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    do *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0) *--at = '-';
    buf_add(out, at, (size_t)(digits + sizeof digits - at));
}

/* The beginning of a text, cut where a character ends. */
static void add_string(Buf *out, Json text, size_t most) {
    size_t len = json_string_len(text);
    const char *bytes = json_string_data(&text);
    if (len > most) {
        for (len = most; len && ((unsigned char)bytes[len] & 0xC0) == 0x80;) len--;
    }
    json_print_string(bytes, len, false, out);
}

/* Nothing where it is no text. */
static void add_text(Buf *out, const char *key, Json text) {
    if (json_kind(text) != JSON_STRING) return;
    add_key(out, key, "stringValue");
    add_string(out, text, MESSAGE_MAX);
    buf_adds(out, "}}");
}

/* A 64-bit number is a string in the JSON of protobuf. */
static void add_int(Buf *out, const char *key, Json n) {
    if (json_tag(n) != JSON_TAG_INT) return;
    add_key(out, key, "intValue");
    buf_addc(out, '"');
    add_digits(out, n.i);
    buf_adds(out, "\"}}");
}

static void add_true(Buf *out, const char *key) {
    add_key(out, key, "boolValue");
    buf_adds(out, "true}}");
}

static void add_all(Buf *out, const Buf *text) {
    buf_add(out, text->data, text->len);
}

static Json field(Json event, const char *name) {
    return json_object_get_c(event, name);
}

static int64_t int_field(Json event, const char *name) {
    Json v = field(event, name);
    return json_tag(v) == JSON_TAG_INT ? v.i : 0;
}

static bool is(Json value, const char *word) {
    return json_string_is(value, word);
}

static int64_t at_of(Json event) {
    int64_t at = 0;
    json_time_ms(field(event, "at"), &at);
    return at;
}

static void add_time(Buf *out, const char *key, int64_t ms) {
    buf_addc(out, '"');
    buf_adds(out, key);
    buf_adds(out, "\":\"");
    add_digits(out, ms);
    buf_adds(out, "000000\"");
}

static void add_id(Buf *out, const char *key, const uint8_t *id, size_t n) {
    char text[2 * TRACE_ID + 1];
    trace_hex(id, n, text);
    buf_addc(out, '"');
    buf_adds(out, key);
    buf_adds(out, "\":\"");
    buf_add(out, text, 2 * n);
    buf_adds(out, "\",");
}

/* Given; JSON_NONE: it is no text. */
static Json text_or_none(Json text) {
    return json_kind(text) == JSON_STRING ? json_ref(text) : json_none();
}

/* ---- tables ---- */

static size_t slot_of(int64_t run, int64_t frame) {
    uint64_t h = (uint64_t)run * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)frame;
    return (size_t)(h * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (SLOTS - 1);
}

static TracedRun **run_slot(Spans *s, int64_t number) {
    TracedRun **at = &s->runs[slot_of(number, 0)];
    while (*at && (*at)->number != number) at = &(*at)->next_in_slot;
    return at;
}

/* The innermost that is open in a frame, of those below a depth. */
static Span *innermost(const Spans *s, const TracedRun *run, int64_t frame, int below) {
    Span *span = s->slots[slot_of(run->number, frame)];
    while (span && (span->run != run || span->frame != frame || span->depth >= below)) {
        span = span->next_in_slot;
    }
    return span;
}

static int64_t frame_around(const Spans *s, const TracedRun *run, int64_t frame) {
    const FrameAt *at = &s->frames[slot_of(run->number, frame)];
    return at->run == run->number && at->frame == frame ? at->parent : 0;
}

/* That a node which begins is in; NULL: in none but the run's. A frame is younger than the one around it. */
static Span *around(const Spans *s, const TracedRun *run, int64_t frame, int depth) {
    Span *found = innermost(s, run, frame, depth);
    for (int64_t at = frame, next; !found && (next = frame_around(s, run, at)) > 0 && next < at;
         at = next) {
        found = innermost(s, run, next, INT32_MAX);
    }
    return found;
}

/* ---- a span goes out ---- */

typedef struct Ending {
    int64_t at;
    Json status, error; /* borrowed; JSON_NONE: none */
    bool failed;
} Ending;

/* attributes: their text; it is cleared. */
static void note(Span *span, int64_t at, const char *name, Buf *attributes) {
    if (span->nevents++ < SPANS_EVENTS) {
        buf_adds(&span->events, span->events.len ? ",{" : "{");
        add_time(&span->events, "timeUnixNano", at);
        buf_adds(&span->events, ",\"name\":\"");
        buf_adds(&span->events, name);
        buf_adds(&span->events, "\",\"attributes\":[");
        add_all(&span->events, attributes);
        buf_adds(&span->events, "]}");
    }
    buf_clear(attributes);
}

static void note_error(Span *span, int64_t at, Json error) {
    Buf about = BUF_INIT;
    add_text(&about, "exception.type", field(error, "kind"));
    add_text(&about, "exception.message", field(error, "message"));
    note(span, at, "exception", &about);
}

/* The span ends with it: its texts are not what they were. */
static void put(Spans *s, Span *span, const Ending *end) {
    const TracedRun *run = span->run;
    static const uint8_t none[TRACE_SPAN] = {0};
    int64_t at = span->paused && span->paused_done ? span->paused : end->at;
    bool error = json_kind(end->error) == JSON_OBJECT;
    Buf out = BUF_INIT, *about = &span->attributes;
    if (error) note_error(span, end->at, end->error);
    buf_addc(&out, '{');
    add_id(&out, "traceId", run->own.trace, TRACE_ID);
    add_id(&out, "spanId", span->id, TRACE_SPAN);
    if (memcmp(span->parent, none, TRACE_SPAN) != 0) {
        add_id(&out, "parentSpanId", span->parent, TRACE_SPAN);
    }
    if (json_kind(run->state) == JSON_STRING) {
        buf_adds(&out, "\"traceState\":");
        add_string(&out, run->state, TRACE_STATE_MAX);
        buf_addc(&out, ',');
    }
    buf_adds(&out, "\"name\":");
    add_string(&out, span->name, NAME_MAX_);
    buf_adds(&out, ",\"kind\":");
    add_digits(&out, span->kind);
    buf_addc(&out, ',');
    add_time(&out, "startTimeUnixNano", span->start);
    buf_addc(&out, ',');
    add_time(&out, "endTimeUnixNano", at > span->start ? at : span->start);
    add_text(about, "pawl.status", end->status);
    if (error) add_text(about, "error.type", field(end->error, "kind"));
    buf_adds(&out, ",\"attributes\":[");
    add_all(&out, &run->attributes);
    if (about->len) buf_addc(&out, ',');
    add_all(&out, about);
    buf_adds(&out, "],\"events\":[");
    add_all(&out, &span->events);
    buf_adds(&out, "],\"status\":{\"code\":");
    add_digits(&out, end->failed ? CODE_ERROR : CODE_UNSET);
    if (error && json_kind(field(end->error, "message")) == JSON_STRING) {
        buf_adds(&out, ",\"message\":");
        add_string(&out, field(end->error, "message"), MESSAGE_MAX);
    }
    buf_adds(&out, "}}");
    otlp_span(s->otlp, out.data, out.len);
    buf_clear(&out);
}

static void clear(Span *span) {
    json_unref(span->name);
    buf_clear(&span->attributes);
    buf_clear(&span->events);
}

static void end_one(Spans *s, Span *span, const Ending *end) {
    Span **at = &s->slots[slot_of(span->run->number, span->frame)];
    while (*at != span) at = &(*at)->next_in_slot;
    *at = span->next_in_slot;
    *(span->prev ? &span->prev->next : &span->run->first) = span->next;
    *(span->next ? &span->next->prev : &span->run->last) = span->prev;
    if (span->around) span->around->inside--;
    s->open--;
    put(s, span, end);
    clear(span);
    mem_free(span);
}

static bool is_within(const Span *span, const Span *whole) {
    while (span && span != whole) span = span->around;
    return span;
}

/* What is still open inside of it was ended with it. */
static void end_span(Spans *s, Span *span, const Ending *end) {
    Json cancelled = json_string_c("cancelled");
    Ending inside = {.at = end->at, .status = cancelled};
    for (Span *at = span->run->last, *prev; span->inside && at != span; at = prev) {
        prev = at->prev;
        if (is_within(at, span)) end_one(s, at, &inside);
    }
    end_one(s, span, end);
    json_unref(cancelled);
}

static void end_leg(Spans *s, TracedRun *run, const Ending *end) {
    Json cancelled = json_string_c("cancelled");
    Ending inside = {.at = end->at, .status = end->failed ? cancelled : end->status};
    while (run->last) end_one(s, run->last, &inside);
    json_unref(cancelled);
    put(s, &run->leg, end);
    *run_slot(s, run->number) = run->next_in_slot;
    clear(&run->leg);
    json_unref(run->state);
    buf_clear(&run->attributes);
    mem_free(run);
}

/* ---- events ---- */

static void on_start(Spans *s, TracedRun *before, Json event) {
    Json trace = field(event, "trace"), parent = field(trace, "parent");
    Json own = json_kind(trace) == JSON_OBJECT ? field(trace, "traceparent") : json_none();
    TraceContext context;
    if (before) end_leg(s, before, &(Ending){.at = at_of(event)});
    if (json_kind(own) != JSON_STRING ||
        !trace_parse(json_string_data(&own), json_string_len(own), &context) ||
        !(context.flags & TRACE_SAMPLED)) {
        return;
    }
    TracedRun *run = mem_zalloc(sizeof *run);
    Span *leg = &run->leg;
    *run = (TracedRun){.number = int_field(event, "run"), .own = context};
    run->resumed = json_truthy(field(event, "resumed"));
    run->state = text_or_none(field(trace, "tracestate"));
    *leg = (Span){.run = run, .start = at_of(event), .kind = KIND_OF_INSIDE};
    leg->name = text_or_none(field(event, "workflow"));
    if (json_is_none(leg->name)) leg->name = json_string_c("run");
    add_int(&run->attributes, "pawl.run", field(event, "run"));
    add_text(&run->attributes, "pawl.thread", field(event, "thread"));
    add_text(&leg->attributes, "pawl.workflow", leg->name);
    if (run->resumed) {
        const uint64_t parts[] = {UINT64_MAX, (uint64_t)run->number,
                                  (uint64_t)int_field(event, "checkpoint"), (uint64_t)leg->start};
        TraceContext span;
        trace_child(&context, parts, 4, &span);
        memcpy(leg->id, span.span, TRACE_SPAN);
        memcpy(leg->parent, context.span, TRACE_SPAN);
        add_true(&leg->attributes, "pawl.resumed");
    } else {
        memcpy(leg->id, context.span, TRACE_SPAN);
        if (json_kind(parent) == JSON_STRING && json_string_len(parent) == 2 * TRACE_SPAN &&
            trace_unhex(json_string_data(&parent), TRACE_SPAN, leg->parent)) {
            leg->kind = KIND_OF_SERVER;
        }
    }
    TracedRun **slot = &s->runs[slot_of(run->number, 0)];
    run->next_in_slot = *slot;
    *slot = run;
}

static bool asks_others(Json kind) {
    return is(kind, "http") || is(kind, "action") || is(kind, "check");
}

static void on_node(Spans *s, TracedRun *run, Json event) {
    int64_t frame = int_field(event, "frame"), parent = int_field(event, "parent_frame");
    int depth = (int)int_field(event, "depth");
    Json id = field(event, "span"), kind = field(event, "kind");
    uint8_t own[TRACE_SPAN];
    if (json_kind(id) != JSON_STRING || json_string_len(id) != 2 * TRACE_SPAN ||
        !trace_unhex(json_string_data(&id), TRACE_SPAN, own)) {
        return;
    }
    s->frames[slot_of(run->number, frame)] = (FrameAt){run->number, frame, parent};
    Json over = json_string_c("ended");
    for (Span *old; (old = innermost(s, run, frame, INT32_MAX)) && old->depth >= depth;) {
        if (!memcmp(old->id, own, TRACE_SPAN)) { /* it is told again */
            json_unref(over);
            return;
        }
        end_span(s, old, &(Ending){.at = at_of(event), .status = over});
    }
    json_unref(over);
    if (s->open >= SPANS_OPEN) return;
    Span *span = mem_zalloc(sizeof *span);
    *span = (Span){.run = run, .frame = frame, .depth = depth, .start = at_of(event)};
    memcpy(span->id, own, TRACE_SPAN);
    span->around = around(s, run, frame, depth);
    memcpy(span->parent, span->around ? span->around->id : run->leg.id, TRACE_SPAN);
    if (span->around) span->around->inside++;
    span->kind = asks_others(kind) ? KIND_OF_CLIENT : KIND_OF_INSIDE;
    span->name = text_or_none(field(event, "node"));
    if (json_is_none(span->name)) span->name = json_string_c("node");
    add_text(&span->attributes, "pawl.node", span->name);
    add_text(&span->attributes, "pawl.kind", kind);
    add_int(&span->attributes, "pawl.attempt", field(event, "attempt"));
    add_int(&span->attributes, "pawl.frame", field(event, "frame"));
    add_text(&span->attributes, "pawl.frame_name", field(event, "frame_name"));
    span->prev = run->last;
    *(run->last ? &run->last->next : &run->first) = span;
    run->last = span;
    Span **slot = &s->slots[slot_of(run->number, frame)];
    span->next_in_slot = *slot;
    *slot = span;
    s->open++;
}

/* A node that began before this leg of the run, in another process maybe, and has ended in it. */
static void put_continued(Spans *s, TracedRun *run, Json event, const Ending *end) {
    const uint64_t parts[] = {UINT64_MAX - 1, (uint64_t)run->number,
                              (uint64_t)int_field(event, "checkpoint")};
    TraceContext span;
    trace_child(&run->own, parts, 3, &span);
    Span one = {.run = run,
                .start = run->asked ? end->at : run->leg.start,
                .kind = KIND_OF_INSIDE,
                .name = text_or_none(field(event, "node"))};
    memcpy(one.id, span.span, TRACE_SPAN);
    memcpy(one.parent, run->leg.id, TRACE_SPAN);
    add_text(&one.attributes, "pawl.node", one.name);
    add_int(&one.attributes, "pawl.frame", field(event, "frame"));
    add_true(&one.attributes, "pawl.continued");
    put(s, &one, end);
    clear(&one);
}

/* Of the records of a frame, these end an execution of the node that they name. */
static void on_step(Spans *s, TracedRun *run, Json event) {
    Json status = field(event, "status"), error = field(event, "error"),
         node = field(event, "node");
    bool failed = is(status, "failed") || is(status, "timeout") ||
                  (is(status, "retrying") && json_kind(error) == JSON_OBJECT);
    bool done = is(status, "completed") || is(status, "skipped");
    if (!(failed || done) || json_kind(node) != JSON_STRING) return;
    Ending end = {.at = at_of(event), .status = status, .error = error, .failed = failed};
    Span *span = innermost(s, run, int_field(event, "frame"), INT32_MAX);
    while (span && !json_equal(span->name, node)) {
        span = innermost(s, run, int_field(event, "frame"), span->depth);
    }
    if (span) {
        end_span(s, span, &end);
    } else if ((run->resumed || run->asked) && !is(status, "skipped")) {
        put_continued(s, run, event, &end);
    }
}

/* Of a frame that has no node under way it is an event of the run. */
static Span *noted(Spans *s, TracedRun *run, Json event) {
    Span *span = innermost(s, run, int_field(event, "frame"), INT32_MAX);
    return span ? span : &run->leg;
}

static Buf where(Json event) {
    Buf out = BUF_INIT;
    add_text(&out, "pawl.node", field(event, "node"));
    add_int(&out, "pawl.frame", field(event, "frame"));
    return out;
}

/* The work has ended: what comes of the answer is another span. What is asked may be from the state, and stays here. */
static void on_interrupt(Spans *s, TracedRun *run, Json event) {
    Span *span = noted(s, run, event);
    Buf about = where(event);
    add_text(&about, "pawl.reason", field(event, "reason"));
    add_text(&about, "pawl.interrupt", field(event, "id"));
    Json status = json_string_c("interrupted");
    run->asked = true;
    note(span, at_of(event), "interrupted", &about);
    if (span != &run->leg && json_equal(span->name, field(event, "node"))) {
        end_span(s, span, &(Ending){.at = at_of(event), .status = status});
    }
    json_unref(status);
}

static void on_paused(Spans *s, TracedRun *run, Json event) {
    Span *span = noted(s, run, event);
    Json position = field(event, "position");
    position = json_is_none(position) ? field(event, "status") : position;
    Buf about = where(event);
    add_text(&about, "pawl.position", position);
    note(span, at_of(event), "paused", &about);
    if (span != &run->leg && !span->paused) {
        span->paused = at_of(event);
        span->paused_done = is(position, "after") || is(position, "error");
    }
}

/* What was done when it was paused ends then; what was not goes on. */
static void on_resumed(Spans *s, TracedRun *run, Json event) {
    Span *span = noted(s, run, event);
    Buf about = where(event);
    add_text(&about, "pawl.how", field(event, "how"));
    note(span, at_of(event), "resumed", &about);
    if (!span->paused_done) span->paused = 0;
}

static void on_settled(Spans *s, TracedRun *run, Json event) {
    Json status = field(event, "status");
    int64_t at = at_of(event);
    end_leg(s, run,
            &(Ending){.at = at ? at : run->leg.start,
                      .status = status,
                      .error = field(event, "error"),
                      .failed = is(status, "failed")});
}

static const struct Row {
    const char *event;
    void (*take)(Spans *s, TracedRun *run, Json event);
    EventType type;
} rows[] = {
    {"node", on_node, EVENT_NODE},
    {"step", on_step, EVENT_STEP},
    {"interrupt", on_interrupt, EVENT_INTERRUPT},
    {"paused", on_paused, EVENT_PAUSED},
    {"resumed", on_resumed, EVENT_RESUMED},
    {"settled", on_settled, EVENT_SETTLED},
};
enum { NROWS = sizeof rows / sizeof *rows };

static void take(Spans *s, Json event) {
    Json name = field(event, "event");
    TracedRun *run = *run_slot(s, int_field(event, "run"));
    if (is(name, "start")) {
        on_start(s, run, event);
        return;
    }
    for (size_t i = 0; run && i < NROWS; i++) {
        if (is(name, rows[i].event)) {
            rows[i].take(s, run, event);
            return;
        }
    }
}

/* ---- life ---- */

static void ready(void *ctx, Subscription *subscription) {
    Json event;
    while (subscription_next(subscription, &event)) {
        take(ctx, event);
        json_unref(event);
    }
}

Spans *spans_new(Host *host, Otlp *otlp, Error *err) {
    Spans *s = mem_zalloc(sizeof *s);
    unsigned types = 1u << EVENT_START;
    for (size_t i = 0; i < NROWS; i++) types |= 1u << rows[i].type;
    s->host = host;
    s->otlp = otlp;
    s->subscription = host_subscribe(host,
                                     &(SubscriptionSpec){.types = types,
                                                         .from = -1,
                                                         .runs = json_none(),
                                                         .errors = true,
                                                         .ready = ready,
                                                         .ctx = s},
                                     err);
    if (!s->subscription) {
        mem_free(s);
        return NULL;
    }
    host_trace(host);
    return s;
}

void spans_free(Spans *s) {
    if (!s) return;
    uv_timeval64_t now;
    uv_gettimeofday(&now);
    Json stopped = json_string_c("stopped");
    Ending end = {.at = now.tv_sec * 1000 + now.tv_usec / 1000, .status = stopped};
    subscription_end(s->subscription);
    for (size_t i = 0; i < SLOTS; i++) {
        while (s->runs[i]) end_leg(s, s->runs[i], &end);
    }
    json_unref(stopped);
    mem_free(s);
}
