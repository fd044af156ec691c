/* recorded.c - events from checkpoints.
 *
 * The images around a checkpoint say what the engine knew when it was made, so a walk carries the image along:
 * each checkpoint changes that of its parent, which nearly always is the one before. */
#include "recorded.h"

#include "choice.h"
#include "host.h"
#include "json_build.h"
#include "lineage.h"
#include "mem.h"
#include "result.h"
#include "store_chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_EVENTS = 500, PAGE_BYTES = 16 << 20, RUNS_MAX = 16384 };

Json event_json(int64_t run, const char *thread, const Event *e, bool values) {
    bool recorded = e->checkpoint && (e->type == EVENT_STEP || e->type == EVENT_INTERRUPT);
    Json out = OBJECT(
        KEY("event", event_names[e->type]),
        KEY("cursor", recorded ? json_int(cursor_of(e->type, e->checkpoint)) : json_none()),
        KEY("run", run), KEY("thread", thread), KEY("at", json_time(e->at)),
        KEY("checkpoint", e->checkpoint ? json_int(e->checkpoint) : json_none()),
        KEY("step", json_int(e->step)), KEY("frame", e->frame ? json_int(e->frame) : json_none()),
        KEY("frame_name", e->frame_name && e->frame_name[0] ? e->frame_name : NULL),
        KEY("depth", e->depth ? json_int(e->depth) : json_none()),
        KEY("node", e->node && e->node[0] ? e->node : NULL), KEY("status", e->status));
    Json key, value;
    for (size_t pos = 0; json_object_next(e->data, &pos, &key, &value);) {
        if (json_kind(value) != JSON_NULL) {
            out = json_object_set(out, json_ref(key), json_ref(value));
        }
    }
    return values ? OBJECT_ADD(out, KEY("update", json_ref(e->update)),
                               KEY("state", json_ref(e->state)), KEY("edges", json_ref(e->edges)))
                  : out;
}

/* ---- one checkpoint after the other ---- */

typedef struct Walk {
    Store *store;
    unsigned types;
    bool values;
    Json events;
    size_t n;       /* checkpoints on the page */
    uint64_t bytes; /* of values */
    bool full;

    RunRow row;
    int64_t cursor; /* events up to this one have been told */
    int64_t at;     /* the last checkpoint; 0: none */
    Json image;     /* of it; JSON_NONE: it is damaged */
    FlowAt flow;
} Walk;

static void push(Walk *w, const Event *e) {
    bool wanted = !w->types || w->types >> e->type & 1;
    if (wanted && cursor_of(e->type, e->checkpoint) > w->cursor) {
        Json event = event_json(w->row.run, w->row.thread, e, w->values);
        w->bytes += json_size(event);
        w->events = json_array_push(w->events, event);
    }
}

/* The events of a checkpoint, between the images around it. */
static void push_events(Walk *w, const Checkpoint *c, Json before, Json after) {
    char name[FRAME_NAME_SIZE] = "";
    StepResult result = {0};
    bool gone = !image_depth(after, c->frame);
    Json in = gone ? before : after; /* the image that has the frame */
    int64_t parent = image_parent(in, c->frame), seen = gone && parent ? parent : c->frame;
    bool of_task = wait_is(image_wait(in, parent), WAIT_TASKS);
    const Flow *flow = w->values || of_task ? flow_at(&w->flow, after) : NULL;
    Event e = {.type = EVENT_STEP,
               .at = c->at,
               .checkpoint = c->seq,
               .step = c->step,
               .frame = c->frame,
               .node = c->node,
               .status = c->status,
               .frame_name = name,
               .depth = gone ? 1 : (int)image_depth(after, c->frame)};
    if (json_is_none(after)) {
        e.depth = 0;
    } else {
        image_frame_name(flow, in, c->frame, name, sizeof name);
    }
    if (w->values) {
        result_read(c, before, after, &result);
        e.update = result.update;
        e.edges = flow ? choices_told(flow, before, after, result.edges) : json_none();
        e.state = flow ? lineage_state(flow, after, seen)
                       : json_ref(image_seen(after, image_top(after, seen)));
    }
    push(w, &e);
    Json wait = image_wait(after, c->frame), reason = json_array_get(wait, WAIT_REASON);
    if (!strcmp(c->status, "interrupted") && wait_is(wait, WAIT_INTERRUPT) &&
        json_kind(reason) == JSON_STRING) {
        e.type = EVENT_INTERRUPT;
        e.status = json_string_data(&reason);
        e.update = json_none();
        json_clear(&e.edges);
        e.data = OBJECT(KEY("id", json_ref(json_array_get(wait, WAIT_ID))),
                        KEY("reason", json_ref(reason)),
                        KEY("prompt", json_ref(json_array_get(wait, WAIT_PROMPT))),
                        KEY("options", json_ref(json_array_get(wait, WAIT_OPTIONS))));
        push(w, &e);
        json_unref(e.data);
    }
    json_unref(e.state);
    json_unref(e.edges);
    result_clear(&result);
}

static bool walk_on(void *ctx, const Checkpoint *c) {
    Walk *w = ctx;
    if (c->parent != w->at) {
        json_unref(w->image);
        w->image =
            c->parent ? chain_image(w->store, w->row.run, c->parent, NULL, NULL) : json_null();
    }
    Json before = w->image;
    w->image = json_is_none(before) ? json_none() : chain_next(before, c);
    push_events(w, c, before, w->image);
    json_unref(before);
    w->at = c->seq;
    w->cursor = cursor_of(EVENT_INTERRUPT, c->seq);
    w->full = ++w->n >= PAGE_EVENTS || w->bytes >= PAGE_BYTES;
    return !w->full;
}

static bool walk_past(void *ctx, int64_t seq, const Error *err) {
    Walk *w = ctx;
    (void)err;
    w->cursor = cursor_of(EVENT_INTERRUPT, seq);
    return true;
}

/* The cursor behind the last checkpoint that is older; those that were pruned are. */
static int64_t cursor_before(Walk *w, int64_t since) {
    int64_t low = 1, high = w->row.last + 1;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        Checkpoint c;
        bool later = store_checkpoint(w->store, w->row.run, mid, &c, NULL) && c.at >= since;
        *(later ? &high : &low) = later ? mid : mid + 1;
    }
    return cursor_of(EVENT_INTERRUPT, low - 1);
}

/* How a run stands that no process has. */
static Json settled_json(Walk *w) {
    Json image =
        w->row.head ? chain_image(w->store, w->row.run, w->row.head, NULL, NULL) : json_none();
    bool known = !json_is_none(image);
    Json error = known ? image_error(image) : json_none();
    Json out = OBJECT(KEY("event", "settled"), KEY("run", w->row.run), KEY("thread", w->row.thread),
                      KEY("at", json_time(w->row.updated)),
                      KEY("checkpoint", w->row.head ? json_int(w->row.head) : json_none()),
                      KEY("status", !strcmp(w->row.status, "running") ? "stopped" : w->row.status),
                      KEY("interrupts", known ? image_interrupts(image) : json_none()),
                      KEY("error", json_kind(error) == JSON_OBJECT ? json_ref(error) : json_none()),
                      KEY("over", known && image_is_over(image) ? json_bool(true) : json_none()),
                      KEY("state", known && w->values ? image_state(image) : json_none()));
    json_unref(error);
    json_unref(image);
    return out;
}

/* What a run has to tell, as far as the page goes. */
static bool walk_run(Walk *w, Json run, Error *err) {
    Json thread = json_object_get_c(run, "thread"), number = json_object_get_c(run, "run");
    Json cursor = json_object_get_c(run, "cursor"), since = json_object_get_c(run, "since");
    if (!store_find(w->store, json_string_data(&thread), &w->row, err)) return false;
    if (json_tag(number) == JSON_TAG_INT && number.i != w->row.run) return true;
    w->cursor = json_tag(cursor) == JSON_TAG_INT  ? cursor.i
                : json_tag(since) == JSON_TAG_INT ? cursor_before(w, since.i)
                                                  : 0;
    w->image = json_null();
    w->flow = (FlowAt){.store = w->store, .row = &w->row};
    bool held = store_is_leased(w->store, w->row.run);
    int64_t from = w->cursor / 2 + w->cursor % 2;
    bool ok = store_history(w->store, w->row.run, from ? from : 1, walk_on, walk_past, w, err);
    if (ok && !w->full && !held && (!w->types || w->types >> EVENT_SETTLED & 1)) {
        w->events = json_array_push(w->events, settled_json(w));
    }
    return ok;
}

static void leave_run(Walk *w) {
    flow_at_clear(&w->flow);
    run_row_clear(&w->row);
    json_clear(&w->image);
    w->at = 0;
}

Json recorded_page(Store *store, Json args, Error *err) {
    Json runs = json_object_get_c(args, "runs");
    Walk w = {.store = store,
              .events = json_array(),
              .values = json_truthy(json_object_get_c(args, "values")),
              .types = (unsigned)json_object_get_c(args, "types").i};
    size_t read = 0, n = json_array_len(runs);
    bool ok = true;
    while (ok && !w.full && read < n) {
        leave_run(&w);
        Error why = ERROR_INIT;
        ok = walk_run(&w, json_array_get(runs, read), &why);
        if (!ok && n > 1) { /* one of many that is gone, or damaged, has nothing to tell */
            ok = true;
        } else if (!ok && err) {
            *err = why;
        }
        read += !w.full;
    }
    Json cursor = w.full ? json_int(w.cursor) : json_none();
    leave_run(&w);
    if (!ok) {
        json_unref(w.events);
        return json_none();
    }
    return OBJECT(KEY("events", w.events), KEY("read", (int64_t)read), KEY("cursor", cursor));
}

/* ---- which runs ---- */

typedef struct Found {
    int64_t run, cursor; /* -1: not told of yet */
    char *thread;
} Found;

typedef struct Search {
    int64_t since, after;
    Json told;
    Found *found; /* room for twice as many as are wanted */
    size_t n;
} Search;

static int by_number(const void *a, const void *b) {
    int64_t x = ((const Found *)a)->run, y = ((const Found *)b)->run;
    return (x > y) - (x < y);
}

static void keep_first(Search *s) {
    qsort(s->found, s->n, sizeof *s->found, by_number);
    while (s->n > RUNS_MAX) mem_free(s->found[--s->n].thread);
}

static bool look_at_run(void *ctx, const RunRow *row) {
    Search *s = ctx;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)row->run);
    Json told = json_object_get_c(s->told, number);
    int64_t cursor = json_tag(told) == JSON_TAG_INT ? told.i : -1;
    if (row->updated < s->since) return false;
    if (row->run > s->after && row->last && cursor < cursor_of(EVENT_INTERRUPT, row->last)) {
        char *thread = mem_strndup(row->thread, strlen(row->thread));
        s->found[s->n++] = (Found){row->run, cursor, thread};
        if (s->n == 2 * RUNS_MAX) keep_first(s);
    }
    return true;
}

Json recorded_runs(Store *store, Json args, Error *err) {
    Search s = {.since = json_object_get_c(args, "since").i,
                .after = json_object_get_c(args, "after").i,
                .told = json_object_get_c(args, "runs"),
                .found = mem_alloc(2 * RUNS_MAX * sizeof *s.found)};
    bool ok = store_runs(store, look_at_run, &s, err);
    Json out = json_array();
    keep_first(&s);
    for (size_t i = 0; i < s.n; i++) {
        const Found *f = &s.found[i];
        Json run = OBJECT(KEY("thread", f->thread), KEY("run", f->run),
                          KEY("cursor", f->cursor < 0 ? json_none() : json_int(f->cursor)),
                          KEY("since", s.since));
        out = json_array_push(out, run);
        mem_free(f->thread);
    }
    mem_free(s.found);
    if (!ok) json_clear(&out);
    return out;
}
