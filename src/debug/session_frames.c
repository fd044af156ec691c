/* session_frames.c - frames for people: what they are doing, where, and since when; and changes that wait for one
 * to go on: variables, config, further nodes. */
#include "session_inside.h"

#include "inspect.h"
#include "json_build.h"
#include "json_path.h"
#include "wait.h"

/* Behind the last node of what a node holds, as between two turns of a loop. */
static bool is_behind(const Frame *f) {
    uint32_t depth = frame_depth(f);
    return depth > 1 && !frame_node(f, depth - 1);
}

const Node *session_node(const Frame *f) {
    return frame_node(f, frame_depth(f) - (is_behind(f) ? 2 : 1));
}

/* ---- in a sentence ---- */

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
    const Node *node = session_node(f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!strcmp(rows[i].status, status)) {
            buf_adds(out, rows[i].words);
            if (node) buf_printf(out, "%s `%s`", is_behind(f) ? " the end of" : "", node->name);
            return;
        }
    }
    describe_children(f, out);
}

/* ---- finding ---- */

Frame *session_frame(Session *s, int64_t id, Error *err) {
    if (!id) s->selected = session_selected(s);
    id = id ? id : s->selected;
    Frame *f = run_frame(s->run, id);
    if (!f) {
        bool was = id > 0 && id <= run_last_frame_id(s->run);
        error_set(err, ERR_NOT_FOUND, was ? "Frame %lld has ended." : "There is no frame %lld.",
                  (long long)id);
        error_fact_int(err, "frame", id);
    }
    return f;
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
        session_tell(
            s, OBJECT(KEY("event", "changed"), KEY("frame", s->selected), KEY("what", "selected")));
    }
}

Frame *session_paused(Session *s, int64_t id, Error *err) {
    Frame *f = session_frame(s, id, err);
    if (f && frame_is_parked(f) && run_settled(s->run)) {
        error_set(err, ERR_WRONG_STATE, "The run is %s, and nobody holds it.", run_status(s->run));
        error_fact(err, "thread", run_thread(s->run));
        error_fact_int(err, "parked", frame_id(f));
        return NULL;
    }
    if (f && !strcmp(frame_status(f), "failed") && run_settled(s->run)) {
        return session_revive(s, f, err) ? f : NULL;
    }
    if (!f || frame_is_parked(f)) return f;
    Buf what = BUF_INIT;
    session_describe(f, &what);
    bool settled = run_settled(s->run);
    error_set(err, settled ? ERR_ENDED : ERR_WRONG_STATE, "Frame %lld is not paused: it %s.%s%s%s",
              (long long)frame_id(f), what.data, settled ? " The run is " : "",
              settled ? run_status(s->run) : "", settled ? "." : "");
    error_fact_int(err, "frame", frame_id(f));
    buf_clear(&what);
    return NULL;
}

/* ---- as JSON ---- */

static Json with_place(Json out, const Node *node) {
    return node ? OBJECT_ADD(out, KEY("node", json_ref(node->name_json)),
                             KEY("kind", node->kind->name), KEY("file", node->file),
                             KEY("line", json_int(node->line)), KEY("column", json_int(node->col)))
                : out;
}

/* With what the task sees in it, where the frame stands at it; given. */
static Json title_of(const Frame *f, const Node *node) {
    const Task *task = node ? node->task : NULL;
    if (!task || json_kind(task->title) != JSON_STRING) return json_none();
    if (node != frame_node(f, frame_depth(f) - 1)) return json_ref(task->title);
    Json vars = frame_sees(f), title = frame_title(f, node, vars);
    json_unref(vars);
    return title;
}

static Json text_of(const Task *task, Json text) {
    return task && json_kind(text) == JSON_STRING ? json_ref(text) : json_none();
}

/* Where a frame stands. */
static Json with_where(Json out, const Frame *f) {
    const Node *node = session_node(f);
    const Task *task = node ? node->task : NULL;
    return OBJECT_ADD(with_place(out, node),
                      KEY("index", node && node->index >= 0 ? json_int(node->index) : json_none()),
                      KEY("id", text_of(task, task ? task->id : json_none())),
                      KEY("title", title_of(f, node)),
                      KEY("cleanup", task && task->cleanup ? json_bool(true) : json_none()),
                      KEY("edited", frame_is_edited(f) ? json_bool(true) : json_none()));
}

static Json name_of(const Frame *f) {
    char name[40];
    frame_name(f, name, sizeof name);
    return json_string_c(name);
}

Json session_pause_json(Json out, const char *position, Json info) {
    Json key, value;
    out = OBJECT_ADD(out, KEY("position", position));
    for (size_t pos = 0; json_object_next(info, &pos, &key, &value);) {
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

/* What an element of a map has given back, which is in no state yet; borrowed, JSON_NONE: it is none, or not at
 * its end. */
static Json given_back(const Frame *f) {
    Json wait = wait_unpaused(frame_waits(f));
    return wait_is(wait, WAIT_ENDED) ? json_array_get(wait, 1) : json_none();
}

/* What a frame asks: an interrupt without a prompt, or without options, has a null there. */
static Json with_question(Json out, const char *id, Json wait) {
    const char *const names[] = {id, "reason", "prompt", "options"};
    for (size_t i = 0; i < 4; i++) {
        Json part = json_array_get(wait, WAIT_ID + i);
        bool there = !json_is_none(part) && json_kind(part) != JSON_NULL;
        out = there ? json_object_with(out, names[i], json_ref(part)) : out;
    }
    return out;
}

/* The frame's own levels, then those that it was made in. */
static Json stack_json(const Frame *f) {
    Json out = json_array();
    for (; f; f = frame_parent(f)) {
        for (uint32_t i = frame_depth(f); i; i--) {
            const Graph *graph = frame_graph(f, i - 1);
            Json level = with_place(OBJECT(KEY("depth", json_int(i))), frame_node(f, i - 1));
            out = json_array_push(out,
                                  OBJECT_ADD(level, KEY("workflow", graph->name ? graph->name : ""),
                                             KEY("frame", frame_id(f))));
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
                      KEY("parent", parent ? json_int(frame_id(parent)) : json_none()),
                      KEY("name", name_of(f)), KEY("status", status_of(f)));
    out = with_where(out, f);
    out = OBJECT_ADD(out, KEY("depth", json_int(frame_depth(f))),
                     KEY("since", frame_since(f) ? json_time(frame_since(f)) : json_none()),
                     KEY("made_by", maker ? json_ref(maker->name_json) : json_none()));
    Json wait = frame_waits(f);
    const FrameStop *fs = session_stop_of(f);
    if (fs && fs->step && !frame_is_parked(f)) {
        out = OBJECT_ADD(out, KEY("stepping", step_names[fs->step]));
    }
    if (frame_is_parked(f)) {
        out = with_pause(out, f);
    } else if (wait_is(wait, WAIT_INTERRUPT)) {
        out = OBJECT_ADD(out, KEY("interrupt", with_question(json_object(), "id", wait)));
    } else if (!strcmp(status_of(f), "failed")) {
        out = OBJECT_ADD(out, KEY("error", json_ref(run_error(s->run))));
    } else if (stack && !strcmp(frame_status(f), "joining")) {
        enum { LISTED_MAX = 100 };
        Json children = json_array();
        for (const Frame *at = run_next_frame(s->run, f);
             at && json_array_len(children) < LISTED_MAX; at = run_next_frame(s->run, at)) {
            if (frame_parent(at) == f) children = json_array_push(children, json_int(frame_id(at)));
        }
        out = OBJECT_ADD(out, KEY("waits_for", children));
    }
    const Node *join;
    if (!strcmp(frame_status(f), "joining") && frame_joins_at(f, &join)) {
        out = OBJECT_ADD(out, KEY("joins_at", with_place(json_object(), join)));
    }
    return OBJECT_ADD(out, KEY("result", stack ? json_ref(given_back(f)) : json_none()),
                      KEY("pending", count(session_pending(f))),
                      KEY("injected", count(session_injected(s, f))),
                      KEY("stack", stack ? stack_json(f) : json_none()));
}

/* ---- events ---- */

Json session_paused_event(const Frame *f, int64_t checkpoint) {
    Json out =
        OBJECT(KEY("event", "paused"), KEY("frame", frame_id(f)), KEY("frame_name", name_of(f)));
    out = with_pause(with_where(out, f), f);
    bool none = json_is_none(json_object_get_c(out, "breakpoints"));
    Json result = given_back(f);
    bool small = !json_is_none(result) && json_size(result) <= INSPECT_WHOLE;
    return OBJECT_ADD(out, KEY("breakpoints", none ? json_array() : json_none()),
                      KEY("result", small ? json_ref(result) : json_none()),
                      KEY("depth", json_int(frame_depth(f))), KEY("checkpoint", checkpoint));
}

Json session_passed_event(const Session *s, const Event *e) {
    Json name = json_string_c(e->node);
    const Flow *flow = run_flow(s->run);
    const Node *node = NULL;
    for (size_t i = 0; i < flow->ngraphs && !node; i++) node = graph_node(flow->graphs[i], name);
    json_unref(name);
    Json out =
        OBJECT(KEY("event", "paused"), KEY("frame", e->frame), KEY("frame_name", e->frame_name));
    out = session_pause_json(with_place(out, node), e->status, e->data);
    return OBJECT_ADD(out, KEY("depth", json_int(e->depth)), KEY("checkpoint", e->checkpoint));
}

Json session_waiting_event(const Frame *f) {
    Json wait = frame_waits(f);
    Json out = with_where(OBJECT(KEY("event", "waiting"), KEY("frame", frame_id(f))), f);
    out = OBJECT_ADD(out, KEY("frame_name", name_of(f)));
    return wait_is(wait, WAIT_INTERRUPT) ? with_question(out, "interrupt", wait) : out;
}

/* ---- changes: variables ---- */

static void tell_changed(Session *s, const Frame *f, const char *what) {
    session_tell(s, OBJECT(KEY("event", "changed"), KEY("frame", frame_id(f)), KEY("what", what)));
}

/* [[id, path, value], [id, path], ...]: the list that a pause has. Borrowed; JSON_NONE: none. */
static Json pending_of(const Frame *f) {
    Json list = json_object_get_c(frame_pause(f), "pending");
    bool valid = json_kind(list) == JSON_ARRAY;
    for (size_t i = 0; valid && i < json_array_len(list); i++) {
        valid = json_kind(json_array_get(json_array_get(list, i), 1)) == JSON_ARRAY;
    }
    return valid ? list : json_none();
}

static void set_pending(Session *s, Frame *f, Json list) {
    Json info = json_ref(frame_pause(f));
    frame_set_pause(f, json_object_with(info, "pending", list));
    session_record(s);
    tell_changed(s, f, "variables");
}

/* What is at a path now, if it is neither large nor made of parts: beside what it becomes. */
static Json stands_at(Json state, Json path) {
    enum { SHOWN = 1000 }; /* bytes of a text */
    Json value = json_path_get(state, path, NULL);
    JsonKind kind = json_kind(value);
    bool shown = kind != JSON_NULL && kind != JSON_OBJECT && kind != JSON_ARRAY &&
                 (kind != JSON_STRING || json_string_len(value) <= SHOWN);
    if (shown) return value;
    json_unref(value);
    return json_none();
}

Json session_pending(const Frame *f) {
    Json list = pending_of(f), out = json_array();
    Json state = json_array_len(list) ? frame_sees(f) : json_none();
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json one = json_array_get(list, i);
        out = json_array_push(out, OBJECT(KEY("id", json_ref(json_array_get(one, 0))),
                                          KEY("path", json_ref(json_array_get(one, 1))),
                                          KEY("value", json_ref(json_array_get(one, 2))),
                                          KEY("before", stands_at(state, json_array_get(one, 1)))));
    }
    json_unref(state);
    return out;
}

static bool may_change(Json path, Error *err) {
    return json_array_len(path) > 0 ||
           error_set(err, ERR_USAGE, "Say what to change: a path such as .name or .items[0].");
}

bool session_set(Session *s, Frame *f, Json path, Json value, Error *err) {
    enum { PENDING_MAX = 1000 };
    if (!may_change(path, err)) return false;
    if (frame_graph(f, frame_depth(f) - 1)->scoped &&
        json_string_is(json_array_get(path, 0), "tasks")) {
        return error_set(err, ERR_USAGE,
                         "`tasks` is what the engine says of the tasks: it cannot be changed.");
    }
    if (json_array_len(pending_of(f)) >= PENDING_MAX) {
        return error_set(err, ERR_USAGE, "At most %d changes can wait in one frame.", PENDING_MAX);
    }
    Json parts[] = {json_int(session_next_number(s, "next_change")), json_ref(path),
                    json_ref(value)};
    Json change = json_array_from(parts, json_is_none(value) ? 2 : 3);
    Json list = pending_of(f), before = json_ref(frame_pause(f));
    list = json_array_push(json_is_none(list) ? json_array() : json_ref(list), change);
    frame_set_pause(f, json_object_with(json_ref(before), "pending", json_ref(list)));
    Error why = ERROR_INIT;
    Json state = frame_will_see(f, &why);
    bool ok =
        !json_is_none(state) || error_set(err, ERR_USAGE, "That cannot be changed: %s.", why.msg);
    json_unref(state);
    if (ok) {
        session_number(s, "next_change");
        set_pending(s, f, list);
        json_unref(before);
    } else {
        frame_set_pause(f, before);
        json_unref(list);
    }
    return ok;
}

bool session_revoke(Session *s, Frame *f, int64_t id) {
    Json list = pending_of(f), kept = json_array();
    size_t n = json_array_len(list);
    for (size_t i = 0; i < n; i++) {
        Json one = json_array_get(list, i);
        if (id && image_int(one, 0) != id) kept = json_array_push(kept, json_ref(one));
    }
    bool any = json_array_len(kept) < n;
    if (any) {
        set_pending(s, f, kept);
    } else {
        json_unref(kept);
    }
    return any || !id;
}

/* ---- changes: further nodes ---- */

static bool inject(Session *s, Frame *f, const Injection *injection, Error *err) {
    if (!frame_inject(f, injection, err)) return false;
    session_number(s, "next_injection");
    session_see_flows(s);
    session_record(s);
    return true;
}

Json session_inject(Session *s, Frame *f, InjectWhere where, Json name, Json node, Error *err) {
    Injection injection = {session_next_number(s, "next_injection"), where, name, node};
    if (!inject(s, f, &injection, err)) return json_none();
    tell_changed(s, f, "injected");
    Json all = frame_injections(f);
    Json last = json_ref(json_array_get(all, json_array_len(all) - 1));
    json_unref(all);
    return last;
}

Json session_injected(const Session *s, const Frame *f) {
    Json out = json_array();
    for (const Frame *at = f ? f : run_next_frame(s->run, NULL); at;
         at = f ? NULL : run_next_frame(s->run, at)) {
        Json all = frame_injections(at);
        for (size_t i = 0; i < json_array_len(all); i++) {
            Json one = json_array_get(all, i);
            if (!json_string_is(json_object_get_c(one, "where"), "instead")) {
                one = OBJECT_ADD(json_ref(one), KEY("frame", frame_id(at)));
                out = json_array_push(out, one);
            }
        }
        json_unref(all);
    }
    return out;
}

bool session_uninject(Session *s, int64_t id) {
    for (Frame *f = run_next_frame(s->run, NULL); f; f = run_next_frame(s->run, f)) {
        if (frame_drop_injection(f, id)) {
            session_record(s);
            tell_changed(s, f, "injected");
            return true;
        }
    }
    return false;
}

/* ---- changes: config ---- */

/* The node that is to run instead; *id is its injection. JSON_NONE: the one of the file does. */
static Json edited(const Frame *f, int64_t *id) {
    Json all = frame_injections(f), found = json_none();
    *id = 0;
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json one = json_array_get(all, i);
        if (json_string_is(json_object_get_c(one, "where"), "instead")) {
            found = json_ref(json_object_get_c(one, "node"));
            *id = json_object_get_c(one, "id").i;
        }
    }
    json_unref(all);
    return found;
}

Json session_config(const Frame *f) {
    int64_t id;
    const Node *node = frame_node(f, frame_depth(f) - 1);
    Json own = edited(f, &id);
    return json_is_none(own) && node ? json_ref(node->source) : own;
}

bool session_config_set(Session *s, Frame *f, Json path, Json value, Error *err) {
    int64_t id;
    if (!may_change(path, err)) return false;
    Json old = edited(f, &id), source = session_config(f);
    json_unref(old);
    if (json_kind(source) != JSON_OBJECT) {
        json_unref(source);
        return error_set(err, ERR_WRONG_STATE,
                         "Frame %lld stands at no node whose config can be edited.",
                         (long long)frame_id(f));
    }
    Json node = json_path_set(source, path, json_ref(value), err);
    if (json_is_none(node)) return false;
    Injection injection = {session_next_number(s, "next_injection"), INJECT_INSTEAD, json_null(),
                           node};
    bool ok = inject(s, f, &injection, err);
    json_unref(node);
    if (ok && id) frame_drop_injection(f, id);
    if (ok) {
        session_record(s);
        tell_changed(s, f, "config");
    }
    return ok;
}

bool session_config_reset(Session *s, Frame *f, Error *err) {
    int64_t id;
    json_unref(edited(f, &id));
    if (!id) return error_set(err, ERR_USAGE, "The config of this node was not edited.");
    frame_drop_injection(f, id);
    session_record(s);
    tell_changed(s, f, "config");
    return true;
}
