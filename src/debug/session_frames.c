/* session_frames.c - frames for people: what they are doing, where, and since when. */
#include "session_inside.h"

#include "json_build.h"
#include "json_print.h"
#include "wait.h"

#include <stdio.h>

/* Behind the last node of what a node holds, as between two turns of a loop. */
static bool is_behind(const Frame *f) {
    uint32_t depth = frame_depth(f);
    return depth > 1 && !frame_node(f, depth - 1);
}

const Node *session_node(const Frame *f) {
    return frame_node(f, frame_depth(f) - (is_behind(f) ? 2 : 1));
}

/* ---- in a sentence ---- */

static void describe_at(const Frame *f, const char *words, Buf *out) {
    const Node *node = session_node(f);
    buf_printf(out, "%s", words);
    if (node) {
        buf_printf(out, "%s `%s`", is_behind(f) ? " the end of" : "", node->name);
    }
}

static void describe_children(const Frame *f, Buf *out) {
    enum { NAMED_MAX = 5 };
    const Run *run = frame_run(f);
    Buf names = BUF_INIT;
    int n = 0;
    for (const Frame *at = run_next_frame(run, f); at; at = run_next_frame(run, at)) {
        if (frame_parent(at) == f && n++ < NAMED_MAX) {
            buf_printf(&names, "%s %lld", n > 1 ? "," : "", (long long)frame_id(at));
        }
    }
    buf_printf(out, "waits for its branch%s, frame%s%s%s", n == 1 ? "" : "es", n == 1 ? "" : "s",
               names.data ? names.data : "", n > NAMED_MAX ? " and others" : "");
    buf_clear(&names);
}

/* A test that has cleaned up is left as it was then, about to do what follows. */
static const char *status_of(const Frame *f) {
    const Run *run = frame_run(f);
    return run_settled(run) && run_is_over(run) ? "done" : frame_status(f);
}

void session_describe(const Frame *f, Buf *out) {
    static const struct {
        const char *status, *words;
    } rows[] = {
        {"ready", "is about to do"},
        {"starting", "is about to start"},
        {"working", "is doing"},
        {"sleeping", "is waiting in"},
        {"waiting", "waits for an answer at"},
        {"paused", "is paused at"},
        {"failed", "has failed at"},
        {"done", "has ended"},
    };
    const char *status = status_of(f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!strcmp(rows[i].status, status)) {
            describe_at(f, rows[i].words, out);
            return;
        }
    }
    describe_children(f, out);
}

/* ---- finding ---- */

static Frame *missing(const Session *s, int64_t id, Error *err) {
    bool was = id > 0 && id <= run_last_frame_id(s->run);
    error_set(err, ERR_NOT_FOUND, was ? "Frame %lld has ended." : "There is no frame %lld.",
              (long long)id);
    error_fact_int(err, "frame", id);
    return NULL;
}

Frame *session_frame(Session *s, int64_t id, Error *err) {
    if (!id) {
        s->selected = session_selected(s);
    }
    Frame *f = run_frame(s->run, id ? id : s->selected);
    return f ? f : missing(s, id ? id : s->selected, err);
}

int64_t session_selected(const Session *s) {
    return run_frame(s->run, s->selected) ? s->selected : session_first_parked(s->run);
}

void session_select(Session *s, Frame *f) {
    bool other = s->selected != frame_id(f);
    s->selected = frame_id(f);
    s->chosen = true;
    session_keep(s, "selected", 0, json_int(s->selected));
    if (other) {
        session_record(s);
        Json event = json_object_with(session_event_new("changed"), "frame", json_int(s->selected));
        session_tell(s, json_object_with(event, "what", json_string_c("selected")));
    }
}

Frame *session_paused(Session *s, int64_t id, Error *err) {
    Frame *f = session_frame(s, id, err);
    if (f && frame_is_parked(f) && run_settled(s->run)) {
        error_set(err, ERR_USAGE, "The run is %s, and nobody holds it.", run_status(s->run));
        error_fact(err, "thread", run_thread(s->run));
        error_fact_int(err, "parked", frame_id(f));
        return NULL;
    }
    if (f && !strcmp(frame_status(f), "failed") && run_settled(s->run)) {
        return session_revive(s, f, err) ? f : NULL;
    }
    if (!f || frame_is_parked(f)) {
        return f;
    }
    Buf what = BUF_INIT;
    session_describe(f, &what);
    bool settled = run_settled(s->run);
    error_set(err, settled ? ERR_ENDED : ERR_USAGE, "Frame %lld is not paused: it %s.%s%s%s",
              (long long)frame_id(f), what.data, settled ? " The run is " : "",
              settled ? run_status(s->run) : "", settled ? "." : "");
    error_fact_int(err, "frame", frame_id(f));
    buf_clear(&what);
    return NULL;
}

/* ---- as JSON ---- */

static Json with_place(Json out, const Node *node) {
    return !node
               ? out
               : OBJECT_ADD(out, KEY("node", json_ref(node->name_json)),
                            KEY("kind", node->kind->name), KEY("file", node->file),
                            KEY("line", json_int(node->line)), KEY("column", json_int(node->col)));
}

/* Where a frame stands. */
static Json with_where(Json out, const Frame *f) {
    out = with_place(out, session_node(f));
    return frame_is_edited(f) ? json_object_with(out, "edited", json_bool(true)) : out;
}

static Json with_name(Json out, const char *key, const Frame *f) {
    char name[40];
    frame_name(f, name, sizeof name);
    return json_object_with(out, key, json_string_c(name));
}

Json session_pause_json(Json out, const char *position, Json info) {
    Json key, value;
    out = OBJECT_ADD(out, KEY("position", position));
    for (size_t pos = 0;
         json_kind(info) == JSON_OBJECT && json_object_next(info, &pos, &key, &value);) {
        bool time = json_string_is(key, "at") && json_tag(value) == JSON_TAG_INT;
        if (!json_string_is(key, "pending") && json_kind(value) != JSON_NULL) {
            out = json_object_set(out, json_ref(key), time ? json_time(value.i) : json_ref(value));
        }
    }
    return out;
}

static Json with_pause(Json out, const Frame *f) {
    HookPosition position = is_behind(f) ? HOOK_DURING : frame_position(f);
    return session_pause_json(out, hook_positions[position], frame_pause(f));
}

/* What is asked: an interrupt without a prompt, or without options, has a null there. */
static Json with_question(Json out, const char *id, Json wait) {
    const char *const names[] = {id, "reason", "prompt", "options"};
    for (size_t i = 0; i < 4; i++) {
        Json part = json_array_get(wait, WAIT_ID + i);
        bool there = !json_is_none(part) && json_kind(part) != JSON_NULL;
        out = there ? json_object_with(out, names[i], json_ref(part)) : out;
    }
    return out;
}

static Json children_json(const Frame *f) {
    enum { LISTED_MAX = 100 };
    Json out = json_array();
    const Run *run = frame_run(f);
    for (const Frame *at = run_next_frame(run, f); at && json_array_len(out) < LISTED_MAX;
         at = run_next_frame(run, at)) {
        if (frame_parent(at) == f) {
            out = json_array_push(out, json_int(frame_id(at)));
        }
    }
    return out;
}

static Json with_waits(Json out, const Frame *f, bool full) {
    Json wait = frame_waits(f);
    if (wait_is(wait, WAIT_INTERRUPT)) {
        return json_object_with(out, "interrupt", with_question(json_object(), "id", wait));
    }
    bool holds = !strcmp(frame_status(f), "joining");
    return holds && full ? json_object_with(out, "waits_for", children_json(f)) : out;
}

static Json level_json(const Frame *f, uint32_t level) {
    Json out = json_object_with(json_object(), "depth", json_int(level + 1));
    out = with_place(out, frame_node(f, level));
    const Graph *graph = frame_graph(f, level);
    return json_object_with(out, "workflow", json_string_c(graph->name ? graph->name : ""));
}

/* The frame's own levels, then those that it was made in. */
static Json stack_json(const Frame *f) {
    Json out = json_array();
    for (; f; f = frame_parent(f)) {
        for (uint32_t i = frame_depth(f); i; i--) {
            Json level = json_object_with(level_json(f, i - 1), "frame", json_int(frame_id(f)));
            out = json_array_push(out, level);
        }
    }
    return out;
}

static size_t count(Json list) {
    size_t n = json_array_len(list);
    json_unref(list);
    return n;
}

Json session_frame_json(const Session *s, const Frame *f, bool stack) {
    const Frame *parent = frame_parent(f);
    const Node *maker = parent ? session_node(parent) : NULL;
    Json out = OBJECT(KEY("frame", frame_id(f)),
                      KEY("parent", parent ? json_int(frame_id(parent)) : json_none()));
    out = with_name(out, "name", f);
    out = with_where(OBJECT_ADD(out, KEY("status", status_of(f))), f);
    out = OBJECT_ADD(out, KEY("depth", json_int(frame_depth(f))),
                     KEY("since", frame_since(f) ? json_time(frame_since(f)) : json_none()),
                     KEY("made_by", maker ? json_ref(maker->name_json) : json_none()));
    out = frame_is_parked(f) ? with_pause(out, f) : with_waits(out, f, stack);
    out = OBJECT_ADD(out, KEY("pending", count(session_pending(f))),
                     KEY("injected", count(session_injected(s, f))));
    return stack ? json_object_with(out, "stack", stack_json(f)) : out;
}

/* ---- events ---- */

Json session_paused_event(const Session *s, const Frame *f, int64_t checkpoint) {
    Json out = json_object_with(session_event_new("paused"), "frame", json_int(frame_id(f)));
    (void)s;
    out = with_name(out, "frame_name", f);
    out = with_pause(with_where(out, f), f);
    if (json_is_none(json_object_get_c(out, "breakpoints"))) {
        out = json_object_with(out, "breakpoints", json_array());
    }
    out = json_object_with(out, "depth", json_int(frame_depth(f)));
    return json_object_with(out, "checkpoint", json_int(checkpoint));
}

Json session_passed_event(const Session *s, const Event *e) {
    Json out = json_object_with(session_event_new("paused"), "frame", json_int(e->frame));
    Json name = json_string_c(e->node);
    const Flow *flow = run_flow(s->run);
    const Node *node = NULL;
    for (size_t i = 0; i < flow->ngraphs && !node; i++) {
        node = graph_node(flow->graphs[i], name);
    }
    json_unref(name);
    out = json_object_with(out, "frame_name", json_string_c(e->frame_name));
    out = with_place(out, node);
    out = session_pause_json(out, e->status, e->data);
    out = json_object_with(out, "depth", json_int(e->depth));
    return json_object_with(out, "checkpoint", json_int(e->checkpoint));
}

Json session_waiting_event(const Frame *f) {
    Json wait = frame_waits(f);
    Json out = json_object_with(session_event_new("waiting"), "frame", json_int(frame_id(f)));
    out = with_name(with_where(out, f), "frame_name", f);
    return wait_is(wait, WAIT_INTERRUPT) ? with_question(out, "interrupt", wait) : out;
}
