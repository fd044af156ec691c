#include "event.h"

#include "image_read.h"
#include "mem.h"
#include "task_status.h"

const char *const event_names[EVENT_COUNT] = {
#define X(id, name) [EVENT_##id] = #name,
    EVENTS(X)
#undef X
};

bool run_wants(const Run *run, EventType type) {
    return (run->engine->options.on_event && run->listens >> type & 1) ||
           (run->hooks && run->hooks->events >> type & 1);
}

void run_listen(Run *run, unsigned events, bool values) {
    run->listens = events;
    run->values = values;
}

void run_set_owner(Run *run, void *owner) {
    run->owner = owner;
}

void *run_owner(const Run *run) {
    return run->owner;
}

void frame_name(const Frame *f, char *out, size_t size) {
    WaitKind made_by = !f->parent      ? WAIT_NOTHING
                       : f->is_cleanup ? WAIT_CLEANING
                       : f->is_branch  ? WAIT_JOIN
                                       : WAIT_TASKS;
    frame_name_by(made_by, f->parent ? frame_top(f->parent)->node : NULL, f->branch, out, size);
}

static void clear_event(QueuedEvent *q) {
    mem_free(q->frame_name);
    json_unref(q->event.update);
    json_unref(q->event.state);
    json_unref(q->event.edges);
    json_unref(q->event.error);
    json_unref(q->event.data);
}

void engine_tell(Run *run, const Frame *f, Event event) {
    char name[40] = "";
    if (f && run_wants(run, event.type)) {
        frame_name(f, name, sizeof name);
        event.frame = f->id;
        event.depth = (int)f->nlevels;
    }
    engine_tell_of(run, name, event);
}

void engine_tell_of(Run *run, const char *name, Event event) {
    Engine *e = run->engine;
    if (!run_wants(run, event.type)) {
        clear_event(&(QueuedEvent){.event = event});
        return;
    }
    event.run = run;
    event.at = event.at ? event.at : engine_time(e);
    event.checkpoint = run->head;
    event.step = run->step;
    e->events = mem_grow(e->events, e->nevents, &e->events_cap, sizeof *e->events);
    /* A run settles once everything is durable: that itself waits for nothing more. Other events wait
     * for what was recorded before them. */
    uint64_t batch = event.type == EVENT_SETTLED ? e->durable : engine_last_batch(e);
    e->events[e->nevents++] = (QueuedEvent){event, mem_strdup(name), batch};
}

/* The id of its execution; JSON_NONE: the run belongs to no trace. */
static Json span_of(const Frame *f) {
    TraceContext span;
    char text[2 * TRACE_SPAN + 1];
    if (!frame_span(f, &span)) return json_none();
    trace_hex(span.span, TRACE_SPAN, text);
    return json_string_c(text);
}

static void tell_node(Frame *f, const Node *node, Json span) {
    bool titled = node->task && !json_is_none(node->task->title);
    Json data = OBJECT(
        KEY("kind", node->kind->name), KEY("attempt", json_int(frame_top(f)->attempt + 1)),
        KEY("title", titled ? task_title(f) : json_none()),
        KEY("parent_frame", f->parent ? json_int(f->parent->id) : json_none()), KEY("span", span));
    engine_tell(f->run, f, (Event){.type = EVENT_NODE, .node = node->name, .data = data});
}

void frame_tell_node(Frame *f, const Node *node) {
    if (run_wants(f->run, EVENT_NODE)) tell_node(f, node, span_of(f));
}

void frame_tell_skipped(Frame *f, const Node *node) {
    if (run_wants(f->run, EVENT_NODE)) tell_node(f, node, json_none());
}

void engine_clear_events(Engine *e) {
    while (e->nevents) clear_event(&e->events[--e->nevents]);
}

void engine_drop_events(Engine *e, uint64_t durable) {
    size_t kept = 0;
    for (size_t i = 0; i < e->nevents; i++) {
        if (e->events[i].batch <= durable) {
            e->events[kept++] = e->events[i];
        } else {
            clear_event(&e->events[i]);
        }
    }
    e->nevents = kept;
}

/* They may be in the middle of being delivered: nobody is told, and they go in their turn. */
void engine_forget_events(Run *run) {
    Engine *e = run->engine;
    for (size_t i = 0; i < e->nevents; i++) {
        if (e->events[i].event.run == run) e->events[i].event.run = NULL;
    }
}

/* To whoever listens to the run, then to its hooks, which the first may have taken away. */
static void deliver(Engine *e, const Event *event) {
    const RunHooks *hooks = event->run->hooks;
    if (e->options.on_event && event->run->listens >> event->type & 1) {
        e->options.on_event(e->options.ctx, event);
    }
    if (hooks && event->run->hooks == hooks && hooks->events >> event->type & 1) {
        hooks->event(event->run->hooks_ctx, event);
    }
}

/* A listener may make new events; those wait for their own turn. */
void engine_deliver(Engine *e, uint64_t durable) {
    size_t n = 0;
    while (n < e->nevents && e->events[n].batch <= durable) n++;
    if (!n || e->delivering) return;
    e->delivering = true;
    for (size_t i = 0; i < n; i++) {
        QueuedEvent q = e->events[i];
        q.event.frame_name = q.frame_name;
        if (q.event.run) { /* it has not been freed meanwhile */
            deliver(e, &q.event);
        }
        clear_event(&q);
    }
    e->nevents -= n;
    memmove(e->events, e->events + n, e->nevents * sizeof *e->events);
    e->delivering = false;
}
