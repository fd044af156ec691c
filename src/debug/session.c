/* session.c - life of a session, what is kept of it, what is told. */
#include "session_inside.h"

#include "json_build.h"
#include "json_parse.h"
#include "json_print.h"
#include "json_shape.h"
#include "mem.h"
#include "wait.h"

#include <math.h>
#include <stdlib.h>

/* ---- what is kept ---- */

void session_keep(Session *s, const char *area, int64_t id, Json value) {
    Json key = json_string_c(area);
    if (id) {
        Json name = image_key(id), inner = json_object_lift(&s->value, key);
        value = json_is_none(value) ? json_object_remove(inner, name)
                                    : json_object_set(inner, json_ref(name), value);
        json_unref(name);
    }
    s->value = json_is_none(value) ? json_object_remove(s->value, key)
                                   : json_object_set(s->value, json_ref(key), value);
    json_unref(key);
    if (!s->quiet) run_set_debug(s->run, json_ref(s->value));
}

int64_t session_next_number(const Session *s, const char *area) {
    Json last = json_object_get_c(s->value, area);
    return (json_tag(last) == JSON_TAG_INT ? last.i : 0) + 1;
}

int64_t session_number(Session *s, const char *area) {
    int64_t next = session_next_number(s, area);
    session_keep(s, area, 0, json_int(next));
    return next;
}

void session_record(Session *s) {
    if (!s->quiet) {
        run_record_debug(s->run);
        s->unsure = true;
    }
}

void session_sync(Session *s) {
    if (s->unsure) {
        s->unsure = false;
        engine_wait_durable(run_engine(s->run));
    }
}

/* ---- what is told ---- */

Json session_pause_info(const Session *s, const char *reason) {
    return OBJECT(KEY("reason", reason), KEY("at", engine_time(run_engine(s->run))));
}

bool session_event_ends(Json event) {
    Json status = json_object_get_c(event, "status");
    return json_string_is(json_object_get_c(event, "event"), "session") &&
           (json_string_is(status, "detached") || json_string_is(status, "expired"));
}

void session_tell(Session *s, Json event) {
    if (s->options.event) {
        s->options.event(s->options.ctx, event);
    } else {
        json_unref(event);
    }
}

static Json about(const Event *e, const char *name) {
    return OBJECT(KEY("event", name), KEY("frame", e->frame ? json_int(e->frame) : json_none()),
                  KEY("node", e->node[0] ? e->node : NULL));
}

static Json tell_plain(Session *s, const Event *e) {
    (void)s;
    const char *name = e->type == EVENT_LOG ? "output" : event_names[e->type];
    return json_object_merge(about(e, name), e->data);
}

static Json tell_step(Session *s, const Event *e) {
    (void)s;
    return OBJECT_ADD(about(e, "step"), KEY("status", e->status), KEY("checkpoint", e->checkpoint));
}

static Json breakpoint_event(const Session *s, const char *change, const Breakpoint *b) {
    return OBJECT(KEY("event", "breakpoint"), KEY("change", change),
                  KEY("breakpoint", breakpoints_json(s->breakpoints, b)));
}

/* Told later: whoever listens may free the session, and a pause may still have to be told. */
void session_drop_once(Session *s, Json ids) {
    for (size_t i = 0; i < json_array_len(ids); i++) {
        const Breakpoint *b = breakpoints_find(s->breakpoints, image_int(ids, i));
        if (b && b->once) {
            run_tell(s->run, NULL, breakpoint_event(s, "deleted", b));
            breakpoints_remove(s->breakpoints, b->id);
        }
    }
}

static Json tell_paused(Session *s, const Event *e) {
    Frame *f = run_frame(s->run, e->frame);
    Json info = f ? frame_pause(f) : json_none();
    const Node *node = f ? session_node(f) : NULL;
    bool still = json_kind(info) == JSON_OBJECT && json_kind(e->data) == JSON_OBJECT &&
                 !strcmp(node ? node->name : "", e->node) &&
                 json_equal(json_object_get_c(info, "at"), json_object_get_c(e->data, "at"));
    if (!still) { /* somebody was quicker than the store */
        return session_passed_event(s, e);
    }
    session_paused_at(f, e->checkpoint);
    Json out = session_paused_event(f, e->checkpoint);
    session_drop_once(s, json_object_get_c(frame_pause(f), "breakpoints"));
    if (s->stopping) session_stop_others(s);
    return out;
}

static Json tell_waiting(Session *s, const Event *e) {
    const Frame *f = run_frame(s->run, e->frame);
    return f ? session_waiting_event(f) : json_object_merge(about(e, "waiting"), e->data);
}

/* The first of them: nobody looks further than the last one. */
static Json frames_that(const Session *s, bool parked) {
    enum { LISTED_MAX = 1000 };
    size_t n = parked ? run_parked_count(s->run) : run_waiting_count(s->run);
    const Frame *f = run_next_frame(s->run, NULL);
    Json out = json_array();
    for (n = n < LISTED_MAX ? n : LISTED_MAX; n && f; f = run_next_frame(s->run, f)) {
        if (parked ? frame_is_parked(f) : wait_is(frame_waits(f), WAIT_INTERRUPT)) {
            out = json_array_push(out, json_int(frame_id(f)));
            n--;
        }
    }
    return out;
}

/* JSON_NONE when there is nobody to go on. */
static Json stopped_event(const Session *s) {
    Json paused = frames_that(s, true), waiting = frames_that(s, false);
    if (!json_array_len(paused) && !json_array_len(waiting)) {
        json_unref(paused);
        json_unref(waiting);
        return json_none();
    }
    return OBJECT(KEY("event", "stopped"), KEY("paused", paused), KEY("waiting", waiting));
}

/* By now somebody may have let one go: then it is not true any more. */
static Json tell_stopped(Session *s, const Event *e) {
    bool still = json_tag(e->data) == JSON_TAG_INT && e->data.i == run_rest(s->run);
    return still ? stopped_event(s) : json_none();
}

Json session_settled_event(const Session *s, const char *status, int64_t checkpoint) {
    return OBJECT(KEY("event", "settled"), KEY("status", status), KEY("checkpoint", checkpoint),
                  KEY("error", json_ref(run_error(s->run))));
}

static Json tell_settled(Session *s, const Event *e) {
    Json passing = passing_is_on(s->passing) ? passing_json(s->passing) : json_none();
    return OBJECT_ADD(session_settled_event(s, e->status, e->checkpoint), KEY("while", passing));
}

static const struct TellRow {
    EventType type;
    Json (*tell)(Session *s, const Event *e);
    bool steps; /* only when they are asked for: they cost something each */
} tell_rows[] = {
    {EVENT_NODE, tell_plain, true},       {EVENT_STEP, tell_step, true},
    {EVENT_LOG, tell_plain, false},       {EVENT_INTERRUPT, tell_waiting, false},
    {EVENT_RETRY, tell_plain, false},     {EVENT_WARNING, tell_plain, false},
    {EVENT_PAUSED, tell_paused, false},   {EVENT_RESUMED, tell_plain, false},
    {EVENT_DEBUG, tell_plain, false},     {EVENT_STOPPED, tell_stopped, false},
    {EVENT_SETTLED, tell_settled, false},
};

/* Whoever listens may free the session: nothing of it is touched after that. */
static void on_event(void *ctx, const Event *e) {
    Session *s = ctx;
    for (size_t i = 0; i < sizeof tell_rows / sizeof *tell_rows; i++) {
        if (tell_rows[i].type == e->type) {
            Json event = tell_rows[i].tell(s, e);
            if (!json_is_none(event)) session_tell(s, event);
            return;
        }
    }
}

static unsigned wanted_events(bool steps) {
    unsigned mask = 0;
    for (size_t i = 0; i < sizeof tell_rows / sizeof *tell_rows; i++) {
        mask |= steps || !tell_rows[i].steps ? 1u << tell_rows[i].type : 0;
    }
    return mask;
}

/* ---- the idle limit ---- */

static void on_idle(uv_timer_t *timer) {
    Session *s = timer->data;
    double idle = (double)(engine_time(run_engine(s->run)) - s->touched) / 1000;
    if (!s->idle_limit || s->end) return;
    if (idle < s->idle_limit) {
        uv_timer_start(timer, on_idle, (uint64_t)ceil((s->idle_limit - idle) * 1000), 0);
        return;
    }
    bool resumes = s->auto_resume;
    if (!resumes) {
        s->end = "expired";
        run_hold(s->run, false);
    }
    session_tell(s, OBJECT(KEY("event", "session"), KEY("status", "expired")));
    if (resumes) {
        session_detach(s); /* whoever hears of that may free it */
    }
}

static void watch_idle(Session *s) {
    if (s->idle_limit && !s->end) {
        uv_timer_start(s->idle, on_idle, (uint64_t)ceil(s->idle_limit * 1000), 0);
        uv_unref((uv_handle_t *)s->idle);
    } else {
        uv_timer_stop(s->idle);
    }
}

/* Once a second is often enough for that: the timer looks how long it has been. */
void session_touch(Session *s) {
    s->unsure = false;
    s->touched = engine_time(run_engine(s->run));
}

void session_extend(Session *s, double seconds) {
    if (seconds > 0) s->idle_limit = seconds;
    session_touch(s);
    watch_idle(s);
}

/* ---- options ---- */

/* Only what makes nothing run: who opens a run, maybe one that somebody else made, wants to look. The idle
 * limit and going on after it are asked for by whoever attaches. */
static void keep_options(Session *s) {
    session_keep(s, "options", 0,
                 OBJECT(KEY("pause_all_on_breakpoint", s->pause_all),
                        KEY("breakpoints", s->stops_at[0] ? json_none() : json_bool(false)),
                        KEY("exceptions", s->stops_at[1] ? json_none() : json_bool(false))));
}

static void read_flag(Json options, const char *name, bool *out) {
    JsonKind kind = json_kind(json_object_get_c(options, name));
    *out = kind == JSON_TRUE || (kind != JSON_FALSE && *out);
}

/* What stays with the session. */
static void read_kept(Session *s, Json options) {
    read_flag(options, "pause_all_on_breakpoint", &s->pause_all);
    read_flag(options, "breakpoints", &s->stops_at[0]);
    read_flag(options, "exceptions", &s->stops_at[1]);
}

void session_configure(Session *s, Json options) {
    Json limit = json_object_get_c(options, "idle_limit");
    double seconds = json_kind(limit) == JSON_NUMBER ? json_to_double(limit) : -1;
    bool kept[] = {s->pause_all, s->stops_at[0], s->stops_at[1]};
    read_kept(s, options);
    read_flag(options, "auto_resume", &s->auto_resume);
    read_flag(options, "steps", &s->steps);
    s->idle_limit = seconds >= 0 && seconds <= 1e9 ? seconds : s->idle_limit;
    s->hooks.events = wanted_events(s->steps);
    watch_idle(s);
    if (kept[0] != s->pause_all || kept[1] != s->stops_at[0] || kept[2] != s->stops_at[1]) {
        keep_options(s);
        session_record(s);
    }
}

/* ---- breakpoints ---- */

/* As text: thousands of them are in every snapshot of the run, and a string is copied as a
 * whole. */
Json session_pack(const Breakpoint *b) {
    Json stored = breakpoint_stored(b);
    char *text = json_to_text(stored);
    Json packed = json_string_c(text);
    json_unref(stored);
    mem_free(text);
    return packed;
}

static void adopt_break(Session *s, Breakpoint *b, const char *change) {
    Frame *f = b->type == BREAK_STATE ? run_next_frame(s->run, NULL) : NULL;
    breakpoints_add(s->breakpoints, b);
    session_keep(s, "breakpoints", b->id, session_pack(b));
    for (; f; f = run_next_frame(s->run, f)) session_see(s, f);
    session_record(s);
    session_tell(s, breakpoint_event(s, change, b));
}

bool session_check_breakpoints(Json specs, const Flow *flow, Error *err) {
    for (size_t i = 0; json_kind(specs) == JSON_ARRAY && i < json_array_len(specs); i++) {
        Breakpoint *b = breakpoint_new(1, json_array_get(specs, i), flow, err);
        if (!b) {
            char around[64];
            snprintf(around, sizeof around, "debug.breakpoints[%zu]", i);
            return error_field_inside(err, around);
        }
        breakpoint_free(b);
    }
    return true;
}

Breakpoint *session_break(Session *s, Json spec, Error *err) {
    int64_t id = session_next_number(s, "next_breakpoint");
    Breakpoint *b = breakpoint_new(id, spec, run_flow(s->run), err);
    if (b) {
        session_number(s, "next_breakpoint");
        adopt_break(s, b, "set");
    }
    return b;
}

Breakpoint *session_change_break(Session *s, int64_t id, Json fields, Error *err) {
    const Breakpoint *old = breakpoints_find(s->breakpoints, id);
    if (!old) {
        error_set(err, ERR_NOT_FOUND, "There is no breakpoint %lld.", (long long)id);
        return NULL;
    }
    Json stored = breakpoint_stored(old), spec = breakpoint_merge(stored, fields);
    Breakpoint *b = breakpoint_new(id, spec, run_flow(s->run), err);
    json_unref(stored);
    json_unref(spec);
    if (b) {
        breakpoints_remove(s->breakpoints, id);
        adopt_break(s, b, "changed");
    }
    return b;
}

bool session_delete_break(Session *s, int64_t id) {
    const Breakpoint *b = breakpoints_find(s->breakpoints, id);
    if (!b) return false;
    Json event = breakpoint_event(s, "deleted", b);
    breakpoints_remove(s->breakpoints, id);
    session_keep(s, "breakpoints", id, json_none());
    session_record(s);
    session_tell(s, event);
    return true;
}

void session_enable_break(Session *s, Breakpoint *b, bool enabled) {
    if (b->enabled != enabled) {
        Json fields = OBJECT(KEY("enabled", enabled));
        session_change_break(s, b->id, fields, NULL);
        json_unref(fields);
    }
}

/* ---- watches ---- */

bool session_may_evaluate(const char *what, const char *expression, Error *err) {
    enum { EXPRESSION_MAX = 10000 };
    Error bad = ERROR_INIT;
    size_t len = strlen(expression);
    if (!len || len > EXPRESSION_MAX) {
        return error_set(err, ERR_USAGE, "%s is a jq expression of 1 to %d bytes.", what,
                         EXPRESSION_MAX);
    }
    JqProgram *program = jq_compile(expression, len, NULL, &bad);
    bool variable = bad.code != ERR_NONE && strstr(bad.msg, "$"), sound = program != NULL;
    jq_program_free(program);
    if (!sound) secrets_explain(&bad);
    variable = variable && !strstr(bad.msg, "$secrets");
    /* one of a map's may be in sight where it is looked at */
    return sound || variable ||
           error_set_at(err, bad.code, bad.line, bad.col, "At column %d of the expression: %s",
                        bad.col, bad.msg);
}

int64_t session_watch(Session *s, const char *expression, Error *err) {
    if (!session_may_evaluate("A watch", expression, err)) return 0;
    int64_t id = session_number(s, "next_watch");
    session_keep(s, "watches", id, json_string_c(expression));
    session_record(s);
    return id;
}

bool session_unwatch(Session *s, int64_t id) {
    Json watches = session_watches(s), key = image_key(id);
    bool there = !json_is_none(json_object_get(watches, key));
    json_unref(key);
    if (there) {
        session_keep(s, "watches", id, json_none());
        session_record(s);
    }
    return there;
}

Json session_watches(const Session *s) {
    return json_object_get_c(s->value, "watches");
}

/* ---- life ---- */

/* One that does not compile any more (the workflow was reloaded) is left out. */
static void load_breakpoints(Session *s) {
    Json all = json_object_get_c(s->value, "breakpoints"), key, spec;
    for (size_t pos = 0; json_object_next(all, &pos, &key, &spec);) {
        int64_t id = frame_number(key);
        Json fields = json_parse(json_string_data(&spec), json_string_len(spec), NULL, NULL);
        Breakpoint *b =
            json_is_none(fields) ? NULL : breakpoint_new(id, fields, run_flow(s->run), NULL);
        json_unref(fields);
        if (b) breakpoints_add(s->breakpoints, b);
    }
}

int64_t session_first_parked(const Run *run) {
    for (const Frame *f = run_next_frame(run, NULL); f; f = run_next_frame(run, f)) {
        if (frame_is_parked(f)) return frame_id(f);
    }
    return 1;
}

/* What a run carries of its session; anything else is not one, and a new one begins. */
static const char session_shape[] =
    "{id: text, created: int(0..), breakpoints: {*: text}, watches: {*: text}, "
    "frames: {*: {step: [int(0..100), int(0..1000000)], more?: int(0..)}}, "
    "options?: {pause_all_on_breakpoint?: bool, ...}, selected?: int(0..), "
    "next_breakpoint?: int(0..2000000000), next_watch?: int(0..2000000000), ...}";

static bool is_session(Json stored) {
    Shape *shape = shape_compile(session_shape, NULL, NULL);
    bool is = shape_check(shape, stored, NULL);
    shape_free(shape);
    return is;
}

void session_see_flows(Session *s) {
    for (const Flow *flow; (flow = run_injected_flow(s->run, s->nflows)); s->nflows++) {
        breakpoints_add_flow(s->breakpoints, flow);
    }
}

static Session *session_new(Run *run, const SessionOptions *options) {
    Session *s = mem_zalloc(sizeof *s);
    Json stored = run_debug(run);
    int64_t now = engine_time(run_engine(run));
    s->run = run;
    s->options = *options;
    s->initial = options->pause_on_start;
    s->gone_on = true;
    s->value = is_session(stored)
                   ? json_ref(stored)
                   : OBJECT(KEY("id", json_string_fmt("debug-%lld-%lld", (long long)run_number(run),
                                                      (long long)now)),
                            KEY("created", now), KEY("breakpoints", json_object()),
                            KEY("watches", json_object()), KEY("frames", json_object()));
    s->hooks = session_hooks;
    s->hooks.event = on_event;
    s->hooks.events = wanted_events(false);
    s->breakpoints = breakpoints_new(run_flow(run));
    s->idle = mem_zalloc(sizeof *s->idle);
    uv_timer_init(engine_loop(run_engine(run)), s->idle);
    s->idle->data = s;
    session_see_flows(s);
    Json selected = json_object_get_c(s->value, "selected");
    s->pause_all = true;
    s->idle_limit = SESSION_IDLE_LIMIT;
    s->stops_at[0] = s->stops_at[1] = true;
    read_kept(s, json_object_get_c(s->value, "options"));
    s->pause_all = options->pause_all ? options->pause_all > 0 : s->pause_all;
    s->selected = json_tag(selected) == JSON_TAG_INT ? selected.i : 0;
    load_breakpoints(s);
    return s;
}

/* to: as session_tell_paused() has it; JSON_NONE: all are told. */
static void tell_parked(Session *s, Json to) {
    for (Frame *f = run_next_frame(s->run, NULL); f; f = run_next_frame(s->run, f)) {
        if (frame_is_parked(f)) {
            run_tell(s->run, f,
                     OBJECT_ADD(session_paused_event(f, run_checkpoint(s->run)),
                                KEY("reattached", json_bool(true)), KEY("to", to)));
        }
    }
}

void session_tell_paused(Session *s, int64_t to) {
    tell_parked(s, json_int(to));
    Json stopped = run_rest(s->run) ? stopped_event(s) : json_none();
    if (!json_is_none(stopped)) {
        run_tell(s->run, NULL, json_object_with(stopped, "to", json_int(to)));
    }
}

Session *session_attach(Run *run, const SessionOptions *options, Error *err) {
    if (run_has_hooks(run)) {
        error_set(err, ERR_USAGE, "Thread `%s` is being debugged already.", run_thread(run));
        return NULL;
    }
    Session *s = session_new(run, options);
    run_set_hooks(run, &s->hooks, s);
    keep_options(s);
    Json specs = options->breakpoints;
    bool set = true;
    for (size_t i = 0; set && i < json_array_len(specs); i++) {
        set = session_break(s, json_array_get(specs, i), err);
    }
    if (!set) {
        s->quiet = true;
        run_set_debug(run, json_null());
        session_free(s);
        return NULL;
    }
    s->options.breakpoints = json_none();
    Frame *selected = s->selected ? run_frame(run, s->selected) : NULL;
    s->selected = selected && frame_is_parked(selected) ? s->selected : session_first_parked(run);
    session_extend(s, 0);
    run_tell(run, NULL, OBJECT(KEY("event", "session"), KEY("status", "attached")));
    tell_parked(s, json_none());
    if (!run_settled(run)) { /* held now: that tells that it has stopped, if it has */
        run_hold(run, true);
        session_record(s);
    }
    return s;
}

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

void session_free(Session *s) {
    if (!s) return;
    s->leaving = true;
    if (!session_is_detached(s)) {
        run_set_hooks(s->run, NULL, NULL);
        if (!run_settled(s->run)) run_hold(s->run, false);
    }
    session_forget_replays(s);
    session_forget_telling(s);
    uv_close((uv_handle_t *)s->idle, free_handle);
    breakpoints_free(s->breakpoints);
    json_unref(s->value);
    passing_unref(s->passing);
    mem_free(s->others);
    mem_free(s);
}

void session_detach(Session *s) {
    if (s->quiet) return;
    s->quiet = true;
    s->end = "detached";
    bool settled = run_settled(s->run); /* then nobody may write it: it has been let go of */
    run_set_debug(s->run, json_null());
    if (!settled) json_unref(session_go_all(s, (SessionGo){.how = LET_GO}, NULL));
    run_set_hooks(s->run, NULL, NULL);
    if (!settled && !run_settled(s->run)) {
        run_record_debug(s->run);
        run_hold(s->run, false);
    }
    watch_idle(s);
    session_tell(s, OBJECT(KEY("event", "session"), KEY("status", "detached")));
}

bool session_abort(Session *s, Error *err) {
    if (run_settled(s->run)) {
        return error_set(err, ERR_ENDED, "The run is %s: there is nothing to cancel.",
                         run_status(s->run));
    }
    s->quiet = true;
    s->end = "aborted";
    run_set_debug(s->run, json_null());
    run_cancel(s->run);
    if (!strcmp(run_status(s->run), "cancelled")) session_tell_ended(s);
    session_tell(s, OBJECT(KEY("event", "session"), KEY("status", "aborted")));
    return true;
}

bool session_is_detached(const Session *s) {
    return s->end && !strcmp(s->end, "detached");
}

bool session_is_over(const Session *s) {
    return s->end || run_settled(s->run);
}

Run *session_run(const Session *s) {
    return s->run;
}

Breakpoints *session_breakpoints(const Session *s) {
    return s->breakpoints;
}

/* ---- as a whole ---- */

Json session_id(const Session *s) {
    return json_ref(json_object_get_c(s->value, "id"));
}

Json session_json(const Session *s) {
    const Flow *flow = run_flow(s->run);
    double idle = (double)(engine_time(run_engine(s->run)) - s->touched) / 1000;
    bool over = session_is_over(s), expires = s->idle_limit && !over;
    const char *status = over                            ? "ended"
                         : run_next_moving(s->run, NULL) ? "running"
                         : run_parked_count(s->run)      ? "paused"
                         : run_waiting_count(s->run)     ? "waiting"
                                                         : "running";
    Json left = expires ? json_double(fmax(0, floor(s->idle_limit - idle))) : json_none();
    Json created = json_object_get_c(s->value, "created");
    return OBJECT(
        KEY("id", session_id(s)), KEY("run", run_number(s->run)), KEY("thread", run_thread(s->run)),
        KEY("workflow", flow->name), KEY("file", flow->path), KEY("dialect", flow->dialect),
        KEY("run_status", run_status(s->run)), KEY("status", status),
        KEY("frame", s->selected ? json_int(s->selected) : json_none()),
        KEY("paused", (int64_t)run_parked_count(s->run)),
        KEY("pause_all_on_breakpoint", s->pause_all), KEY("auto_resume", s->auto_resume),
        KEY("idle_limit", json_double(s->idle_limit)), KEY("expires_in", left),
        KEY("checkpoint", run_checkpoint(s->run)),
        KEY("created", json_tag(created) == JSON_TAG_INT ? json_time(created.i) : json_none()),
        KEY("touched", json_time(s->touched)), KEY("breakpoints", s->stops_at[0]),
        KEY("exceptions", s->stops_at[1]), KEY("error", json_ref(run_error(s->run))));
}
