/* session_stops.c - where frames stop: breakpoints, steps, and being asked to; and how they go on.
 *
 * at() is called for every node of every frame, before and after it. Most of the time nothing is at
 * the node, nothing is asked of the frame, and it returns after looking at a few lists that are
 * empty. */
#include "session_inside.h"

#include "ascii.h"
#include "json_build.h"
#include "mem.h"

#include <fnmatch.h>
#include <stdlib.h>

/* What stops a frame at one place, as it is being found out. */
typedef struct Stop {
    Session *session;
    const HookPlace *place;
    FrameStop *frame;
    Json state;       /* what the node sees, once it was needed; JSON_NONE */
    Json *values;     /* room for vars */
    const Json *vars; /* of the node, once they were needed */
    Json ids;         /* of the breakpoints that stop it; JSON_NONE: none does */
    Json change;      /* {path, old, new}, of the first state breakpoint that does; JSON_NONE */
    size_t asked;     /* breakpoints with expressions */
    uint64_t began;   /* of uv_hrtime(): the second of them */
} Stop;

FrameStop *session_stop_of(const Frame *f) {
    return *frame_data((Frame *)f);
}

static Json stop_state(Stop *stop) {
    if (json_is_none(stop->state)) {
        stop->state = frame_sees(stop->place->frame);
        stop->vars = frame_variables(stop->place->frame, stop->place->node, stop->values);
    }
    return stop->state;
}

/* ---- what happens at a hit ---- */

/* PATH/NAME is about this use of a workflow, and not about another one of the same file. */
static bool is_inside(const Stop *stop, const Breakpoint *b) {
    if (!b->has_path) return true;
    Json name = json_object_get_c(b->spec, "node");
    FrameLevel at = {stop->place->frame, frame_depth(stop->place->frame) - 1};
    char *path = mem_strndup(json_string_data(&name), json_string_len(name));
    bool fits = true;
    for (char *slash; fits && (slash = strrchr(path, '/'));) {
        *slash = '\0';
        const char *word = text_after_last(path, '/');
        const char *workflow = frame_graph(at.frame, at.level)->name;
        fits = frame_level_around(&at);
        const Node *node = fits ? frame_node(at.frame, at.level) : NULL;
        fits = fits && ((node && (!strcmp(node->name, word) || !fnmatch(word, node->name, 0))) ||
                        (workflow && !fnmatch(word, workflow, 0)));
    }
    mem_free(path);
    return fits;
}

/* Each expression has a limit of its own; there may be thousands of them at one place, and nobody else goes on meanwhile. */
static bool has_time(Stop *stop, Breakpoint *b) {
    if (!b->condition && !b->error && !b->log) return true;
    if (stop->asked++ == 0) return true;
    uint64_t now = uv_hrtime();
    if (stop->asked == 2) stop->began = now;
    if (now - stop->began < (uint64_t)BREAK_ALL_MS * 1000000) return true;
    json_put(
        &b->message,
        json_string_fmt(
            "It was not asked at `%.100s`: the expressions of other breakpoints there took %d ms, which is the "
            "limit of all together.",
            stop->place->node->name, BREAK_ALL_MS));
    return false;
}

static bool try_one(Stop *stop, Breakpoint *b) {
    Run *run = stop->session->run;
    Frame *f = stop->place->frame;
    bool pauses = false;
    if (!stop->session->stops_at[b->type == BREAK_EXCEPTION] || !has_time(stop, b)) return false;
    Json state = stop_state(stop);
    if (!breakpoint_hit(b, stop->place, state, stop->vars, &pauses)) return false;
    session_keep(stop->session, "breakpoints", b->id, session_pack(b));
    if (pauses) {
        run_tell(run, f,
                 OBJECT(KEY("event", "breakpoint"), KEY("change", "hit"),
                        KEY("breakpoint", OBJECT(KEY("id", b->id), KEY("hit_count", b->hits)))));
    }
    if (pauses && b->log) {
        run_tell(run, f,
                 OBJECT(KEY("event", "log"), KEY("breakpoint", b->id),
                        KEY("message", breakpoint_text(b, stop->place, state, stop->vars))));
    } else if (pauses) {
        stop->ids = json_array_push(stop->ids, json_int(b->id));
        if (b->once) { /* it goes when the pause is told, and is gone for whoever comes after us */
            b->enabled = false;
            session_keep(stop->session, "breakpoints", b->id, json_none());
        }
    }
    return pauses && !b->log;
}

static void try_list(Stop *stop, PointList list) {
    for (size_t i = 0; i < list.n; i++) {
        Breakpoint *b = list.items[i];
        if (b->enabled && b->position == stop->place->position && b->type != BREAK_STATE &&
            is_inside(stop, b)) {
            try_one(stop, b);
        }
    }
}

/* ---- state breakpoints ---- */

/* A workflow inside another has a state of its own: a value is compared with what its own level saw before,
 * never with what the level inside did. What that level was told of is not told again where it only comes out. */

static void see_levels(FrameStop *fs, size_t n) {
    while (fs->nseen > n) json_unref(fs->seen[--fs->nseen]);
    while (fs->nseen < n) {
        fs->seen = mem_grow(fs->seen, fs->nseen, &fs->seen_cap, sizeof *fs->seen);
        fs->seen[fs->nseen++] = json_object();
    }
}

/* [made, value] of a level; borrowed, JSON_NONE: nothing was seen there. */
static Json seen_by(const FrameStop *fs, size_t level, const Breakpoint *b) {
    if (level >= fs->nseen) return json_none();
    Json key = image_key(b->id), box = json_object_get(fs->seen[level], key);
    json_unref(key);
    return box;
}

/* Consumes the value. */
static void see(FrameStop *fs, size_t level, const Breakpoint *b, bool made, Json value) {
    Json box = json_is_none(value) ? ARRAY(json_bool(made)) : ARRAY(json_bool(made), value);
    fs->seen[level] = json_object_set(fs->seen[level], image_key(b->id), box);
}

void session_see(Session *s, Frame *f) {
    PointList list = breakpoints_on_state(s->breakpoints);
    FrameStop *fs = session_stop_of(f);
    if (!list.n || !fs || !frame_depth(f)) return;
    see_levels(fs, frame_depth(f));
    for (uint32_t level = 0; level < frame_depth(f); level++) {
        Json state = frame_sees_at(f, level);
        for (size_t i = 0; i < list.n; i++) {
            bool made =
                json_kind(json_array_get(seen_by(fs, level, list.items[i]), 0)) == JSON_TRUE;
            see(fs, level, list.items[i], made, breakpoint_value(list.items[i], state));
        }
        json_unref(state);
    }
}

/* What has changed since the last node of the level (before one) is no step's doing: branches were joined.
 * Only a value that has come about by that stops the frame. */
static void try_state(Stop *stop, Breakpoint *b) {
    FrameStop *fs = stop->frame;
    size_t level = frame_depth(stop->place->frame) - 1;
    Json box = json_ref(seen_by(fs, level, b)), seen = json_array_get(box, 1);
    Json inner = seen_by(fs, level + 1, b), now = breakpoint_value(b, stop_state(stop));
    bool known = !json_is_none(box), after = stop->place->position == HOOK_AFTER;
    bool changed = known && breakpoint_changed(b, seen, now);
    bool told = json_kind(json_array_get(inner, 0)) == JSON_TRUE &&
                !breakpoint_changed(b, json_array_get(inner, 1), now);
    bool made = changed || json_kind(json_array_get(box, 0)) == JSON_TRUE;
    if (!known || !json_identical(seen, now)) see(fs, level, b, made, json_ref(now));
    bool hit = b->enabled && changed && !told && (after || !json_is_none(b->state_equals));
    if (hit && try_one(stop, b) && json_is_none(stop->change)) {
        stop->change = OBJECT(KEY("path", json_ref(b->state_path)), KEY("old", json_ref(seen)),
                              KEY("new", json_ref(now)));
    }
    json_unref(box);
    json_unref(now);
}

static void try_states(Stop *stop) {
    PointList list = breakpoints_on_state(stop->session->breakpoints);
    size_t depth = frame_depth(stop->place->frame);
    if (!list.n) return;
    if (stop->frame->nseen < depth) see_levels(stop->frame, depth);
    for (size_t i = 0; i < list.n; i++) try_state(stop, list.items[i]);
    see_levels(stop->frame, depth);
}

/* ---- steps ---- */

const char *const step_names[STEP_KINDS] = {
    [STEP_NONE] = "", [STEP_OVER] = "over", [STEP_INTO] = "into", [STEP_OUT] = "out"};

static bool step_ends(const FrameStop *fs, uint32_t depth) {
    switch (fs->step) {
    case STEP_INTO: return !fs->handed;
    case STEP_OVER: return depth <= fs->depth;
    case STEP_OUT: return depth < fs->depth;
    default: return false;
    }
}

static void clear_step(Session *s, Frame *f) {
    FrameStop *fs = session_stop_of(f);
    if (fs->step) {
        fs->step = STEP_NONE;
        fs->more = 0;
        session_keep(s, "frames", frame_id(f), json_none());
    }
    fs->handed = false;
}

static void keep_step(Session *s, int64_t frame, const FrameStop *fs) {
    session_keep(s, "frames", frame,
                 OBJECT(KEY("step", ARRAY(json_int(fs->step), json_int(fs->depth))),
                        KEY("more", fs->more ? json_int(fs->more) : json_none())));
}

/* ---- the decision ---- */

static const char *reason_of(const Stop *stop) {
    const FrameStop *fs = stop->frame;
    const HookPlace *place = stop->place;
    bool before = place->position == HOOK_BEFORE;
    if (!json_is_none(stop->ids)) {
        return place->position == HOOK_ON_ERROR ? "exception" : "breakpoint";
    }
    if (place->position == HOOK_ON_ERROR && frame_is_added(place->frame)) return "exception";
    if (before && stop->session->initial) return "initial";
    if (before && step_ends(fs, frame_depth(place->frame))) return "step";
    return before && fs->asked ? "user_pause" : NULL;
}

static void ask_one(Session *s, const Frame *f, FrameStop *fs, int64_t because) {
    fs->asked = true;
    fs->because = because;
    s->others = mem_grow(s->others, s->nothers, &s->others_cap, sizeof *s->others);
    s->others[s->nothers++] = frame_id(f);
}

/* Every other frame is to stop at its next place; those that can be stopped where they are, once
 * the pause is told. */
static void ask_others(Session *s, const Frame *stopped) {
    s->stopping = true;
    s->nothers = 0;
    for (Frame *f = run_next_moving(s->run, NULL); f; f = run_next_moving(s->run, f)) {
        if (f != stopped) ask_one(s, f, session_stop_of(f), frame_id(stopped));
    }
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void session_stop_others(Session *s) {
    if (s->nothers) qsort(s->others, s->nothers, sizeof *s->others, by_number);
    for (size_t i = 0; i < s->nothers; i++) {
        Frame *f = run_frame(s->run, s->others[i]);
        FrameStop *fs = f ? session_stop_of(f) : NULL;
        if (fs && fs->asked && !frame_is_parked(f)) {
            Json info = session_pause_info(s, "user_pause");
            Json because = fs->because ? json_int(fs->because) : json_none();
            fs->asked = frame_park(f, OBJECT_ADD(info, KEY("because", because))) == PARKED_LATER;
        }
    }
    s->nothers = 0;
    s->stopping = false;
}

/* Of those that stop before a person lets one go again: the one that was selected then, or the first of
 * them, whatever order they come in. */
static bool is_selected_next(const Session *s, const Frame *f) {
    const Frame *selected = run_frame(s->run, s->selected);
    if (!selected || !frame_is_parked(selected)) return true;
    bool first = s->selected != s->was_selected && frame_id(f) < s->selected;
    return !s->chosen && (s->gone_on || frame_id(f) == s->was_selected || first);
}

static void select_stopped(Session *s, const Frame *f) {
    if (is_selected_next(s, f)) {
        s->selected = frame_id(f);
        s->chosen = false;
        s->gone_on = false;
        session_keep(s, "selected", 0, json_int(s->selected));
    }
}

static void stop_here(Stop *stop, const char *reason, Json *info) {
    Session *s = stop->session;
    Frame *f = stop->place->frame;
    bool alone = !strcmp(reason, "user_pause") || !strcmp(reason, "initial");
    bool failed = stop->place->position == HOOK_ON_ERROR;
    bool because = stop->frame->because && !strcmp(reason, "user_pause");
    *info = OBJECT_ADD(session_pause_info(s, reason), KEY("breakpoints", json_take(&stop->ids)),
                       KEY("error", failed ? json_ref(stop->place->error) : json_none()),
                       KEY("change", json_take(&stop->change)),
                       KEY("because", because ? json_int(stop->frame->because) : json_none()));
    if (stop->frame->passing && !because) { /* it stays here, whatever the others would do */
        passing_end(stop->frame->passing, "pause");
        *info = OBJECT_ADD(*info, KEY("while", passing_json(stop->frame->passing)));
    }
    s->initial = false;
    stop->frame->asked = false;
    clear_step(s, f);
    if (!alone || !stop->frame->because) select_stopped(s, f);
    if (s->pause_all && !alone && !s->stopping) ask_others(s, f);
    stop->frame->because = 0;
}

static void tell_frame(Session *s, Frame *f, const char *status) {
    char name[40];
    frame_name(f, name, sizeof name);
    const Frame *parent = frame_parent(f);
    run_tell(s->run, f,
             OBJECT(KEY("event", "frame"), KEY("name", &name[0]),
                    KEY("parent", parent ? json_int(frame_id(parent)) : json_none()),
                    KEY("status", status)));
}

void session_tell_ended(Session *s) {
    for (Frame *f = run_next_frame(s->run, NULL); f; f = run_next_frame(s->run, f)) {
        tell_frame(s, f, "completed");
    }
}

static void look_for_breakpoints(Stop *stop) {
    const Breakpoints *breakpoints = stop->session->breakpoints;
    if (stop->place->position == HOOK_BEFORE) try_states(stop);
    try_list(stop, breakpoints_of_node(breakpoints, stop->place->node));
    try_list(stop, breakpoints_anywhere(breakpoints));
    if (stop->place->position == HOOK_AFTER) try_states(stop);
    if (stop->place->position == HOOK_ON_ERROR) try_list(stop, breakpoints_on_error(breakpoints));
}

/* A breakpoint that would stop the frame is passed over, as somebody asked. One that is there for once has been of use
 * then. */
static bool passes_over(Stop *stop) {
    Session *s = stop->session;
    Passing *p = stop->frame->passing;
    if (!passing_is_on(p) || json_is_none(stop->ids) || stop->frame->asked ||
        !passing_passes(p, stop->place->node, stop_state(stop), stop->vars)) {
        return false;
    }
    session_drop_once(s, stop->ids);
    return true;
}

static HookVerdict decide(Session *s, const HookPlace *place, FrameStop *fs, Json *info) {
    Json values[FRAME_VARS_MAX]; /* not set to anything: it is large, and mostly not needed */
    Stop stop = {.session = s, .place = place, .frame = fs, .values = values};
    if (!place->again) look_for_breakpoints(&stop);
    const char *reason = reason_of(&stop);
    if (reason && !strcmp(reason, "step") && fs->more && !fs->asked) { /* the next one begins */
        fs->more--;
        fs->depth = frame_depth(place->frame);
        fs->handed = false;
        keep_step(s, frame_id(place->frame), fs);
        reason = NULL;
    }
    if (reason && passes_over(&stop)) reason = NULL;
    if (reason) stop_here(&stop, reason, info);
    json_unref(stop.state);
    json_unref(stop.ids);
    json_unref(stop.change);
    return reason ? HOOK_PARK : HOOK_GO;
}

/* Nothing is asked for here, as at nearly every step. */
static bool passes(void *ctx, const Frame *f, const Node *node) {
    const Session *s = ctx;
    const FrameStop *fs = session_stop_of(f);
    return fs->told && !fs->asked && !fs->step && !s->initial && !s->options.recording &&
           breakpoints_pass(s->breakpoints, node) && !run_injected_flow(s->run, s->nflows);
}

/* What was recorded holds whether the frame stops here or not: the changes are there when it does, and
 * results are taken when it goes on. */
static HookVerdict at(void *ctx, const HookPlace *place, Json *info) {
    Session *s = ctx;
    Recording *r = s->options.recording;
    FrameStop *fs = session_stop_of(place->frame);
    HookVerdict verdict = r ? recording_come_to(r, place, info) : HOOK_GO;
    if (verdict == HOOK_GO && !s->quiet) {
        session_see_flows(s);
        if (!fs->told) {
            fs->told = true;
            tell_frame(s, place->frame, "created");
        }
        bool passes_all = place->looked || run_is_cancelling(s->run);
        verdict = passes_all ? HOOK_GO : decide(s, place, fs, info);
    }
    return r && verdict == HOOK_GO ? recording_take(r, place, info) : verdict;
}

/* ---- frames that come and go ---- */

static void on_frame_new(void *ctx, Frame *f) {
    Session *s = ctx;
    FrameStop *fs = mem_zalloc(sizeof *fs);
    const Frame *parent = frame_parent(f);
    FrameStop *up = parent ? session_stop_of(parent) : NULL;
    *frame_data(f) = fs;
    if (frame_depth(f)) { /* it was there before us */
        Json key = image_key(frame_id(f));
        Json kept = json_object_get(json_object_get_c(s->value, "frames"), key);
        Json step = json_object_get_c(kept, "step"), more = json_object_get_c(kept, "more");
        int64_t kind = image_int(step, 0);
        json_unref(key);
        fs->told = true;
        fs->step = kind > STEP_NONE && kind < STEP_KINDS ? (StepKind)kind : STEP_NONE;
        fs->depth = (uint32_t)image_int(step, 1);
        fs->more = fs->step && json_tag(more) == JSON_TAG_INT ? more.i : 0;
        session_see(s, f);
        return;
    }
    if (up && up->nseen) {
        see_levels(fs, 1);
        json_put(&fs->seen[0], json_ref(up->seen[up->nseen - 1]));
    }
    fs->passing = up ? passing_ref(up->passing) : NULL;
    if (up && s->stopping) ask_one(s, f, fs, s->selected);
    if (up && up->step == STEP_INTO) {
        fs->step = STEP_INTO;
        fs->more = up->more;
        up->handed = true;
        keep_step(s, frame_id(f), fs);
    }
}

static void set_passing(FrameStop *fs, Passing *passing) {
    passing_ref(passing);
    passing_unref(fs->passing);
    fs->passing = passing;
}

static void on_frame_end(void *ctx, Frame *f) {
    Session *s = ctx;
    FrameStop *fs = session_stop_of(f);
    const Frame *parent = frame_parent(f);
    if (!fs) return;
    if (!s->leaving && !s->quiet) {
        FrameStop *up = parent ? session_stop_of(parent) : NULL;
        if (up && fs->step && (!up->step || up->handed)) {
            /* the frame that made it goes on with its step: it stops where it goes on itself */
            up->handed = false;
            up->step = STEP_OVER;
            up->depth = frame_depth(parent);
            up->more = fs->more;
            keep_step(s, frame_id(parent), up);
        }
        clear_step(s, f);
        if (up && !passing_is_on(up->passing)) set_passing(up, fs->passing);
    }
    if (!s->leaving) tell_frame(s, f, "completed");
    passing_unref(fs->passing);
    json_unref(fs->before);
    json_unref(fs->now);
    see_levels(fs, 0);
    mem_free(fs->seen);
    mem_free(fs);
    *frame_data(f) = NULL;
}

void session_paused_at(Frame *f, int64_t checkpoint) {
    FrameStop *fs = session_stop_of(f);
    json_put(&fs->before, fs->now);
    fs->before_seq = fs->now_seq;
    fs->now = frame_sees(f);
    fs->now_seq = checkpoint;
}

const RunHooks session_hooks = {
    .at = at, .passes = passes, .frame_new = on_frame_new, .frame_end = on_frame_end};

/* ---- letting go ---- */

/* A failed run that is looked at afterwards comes to life with the first thing that is done to
 * it. */
bool session_revive(Session *s, Frame *f, Error *err) {
    if (strcmp(frame_status(f), "failed") != 0) return true;
    Json error = run_error(s->run);
    Json info = session_pause_info(s, "exception");
    return run_reopen(s->run, OBJECT_ADD(info, KEY("error", json_ref(error))), err);
}

bool session_may_run(const Session *s, Error *err) {
    return !s->options.view_only ||
           error_set(
               err, ERR_USAGE,
               "This is an export: it can be looked at and gone back in, but its commands are "
               "not run here.");
}

bool session_go(Session *s, Frame *f, SessionGo go, Error *err) {
    static const char *const words[] = {[STEP_NONE] = "continue",
                                        [STEP_OVER] = "step over",
                                        [STEP_INTO] = "step into",
                                        [STEP_OUT] = "step out"};
    LetGo let = {.how = go.how, .output = go.output, .anew = go.anew};
    let.word = go.how == LET_SKIP    ? "skip"
               : go.how == LET_RETRY ? "retry"
               : go.how == LET_END   ? "end"
                                     : words[go.step];
    int64_t id = frame_id(f);
    FrameStop *fs = session_stop_of(f), saved = *fs;
    if (!session_may_run(s, err) || !session_revive(s, f, err)) return false;
    if (go.how == LET_SKIP && json_string_is(json_object_get_c(frame_pause(f), "reason"), "step")) {
        go.step = STEP_OVER; /* who steps goes on to do so */
    }
    /* the frame is not asked to stop any more, and nothing is chosen that has gone on */
    clear_step(s, f);
    fs->asked = false;
    fs->because = 0;
    s->stopping = false;
    s->chosen = s->chosen && s->selected != id;
    s->was_selected = s->selected;
    s->gone_on = true;
    set_passing(fs, go.passing);
    passing_ref(go.passing);
    passing_unref(s->passing);
    s->passing = go.passing;
    if (go.step) {
        fs->step = go.step;
        fs->depth = frame_depth(f);
        fs->more = go.count > 1 ? go.count - 1 : 0;
        keep_step(s, id, fs);
    }
    bool ok = frame_let_go(f, &let, err);
    f = run_frame(s->run, id);
    if (ok && f && session_stop_of(f)) {
        session_see(s, f); /* what a person changed is no step that changed it */
    } else if (!ok) {
        session_stop_of(f)->step = saved.step;
        session_stop_of(f)->more = saved.more;
    }
    return ok;
}

/* It stays paused there, with what is pending. */
bool session_goto(Session *s, Frame *f, const char *node, Error *err) {
    if (!session_revive(s, f, err)) return false;
    Json pending = json_object_get_c(frame_pause(f), "pending");
    Json info = OBJECT_ADD(session_pause_info(s, "step"), KEY("pending", json_ref(pending)));
    LetGo go = {.how = LET_GOTO, .node = node, .info = info, .word = "goto"};
    bool ok = frame_let_go(f, &go, err);
    json_unref(info);
    s->unsure = s->unsure || ok;
    return ok;
}

Json session_go_all(Session *s, SessionGo go, Error *err) {
    Json out = json_array();
    size_t n = 0;
    int64_t *ids = mem_alloc((run_frame_count(s->run) + 1) * sizeof *ids);
    for (Frame *f = run_next_frame(s->run, NULL); f; f = run_next_frame(s->run, f)) {
        if (frame_is_parked(f)) ids[n++] = frame_id(f);
        clear_step(
            s, f); /* also that of a branch which has ended: it was handed to the frame around */
        session_stop_of(f)->asked = false; /* one that was on its way to a stop goes on as well */
        session_stop_of(f)->because = 0;
        set_passing(session_stop_of(f), go.passing);
    }
    for (size_t i = 0; i < n; i++) {
        Frame *f = run_frame(s->run, ids[i]);
        if (f && frame_is_parked(f) && session_go(s, f, go, err)) {
            out = json_array_push(out, json_int(ids[i]));
        }
    }
    mem_free(ids);
    return out;
}

/* ---- stopping ---- */

typedef struct Paused {
    Json now, later;
} Paused;

/* One that waits for a person or for its branches stops where it goes on, if it was meant
 * itself. */
static void pause_one(Session *s, Frame *f, bool alone, Paused *out) {
    FrameStop *fs = session_stop_of(f);
    Json info = session_pause_info(s, "user_pause");
    bool was = frame_is_parked(f);
    ParkResult result = frame_park(f, info);
    if (result == PARKED_NOW && !was) {
        out->now = json_array_push(out->now, json_int(frame_id(f)));
        clear_step(s, f);
    }
    fs->asked = result == PARKED_LATER || (result == PARKED_NEVER && alone);
    if (fs->asked) out->later = json_array_push(out->later, json_int(frame_id(f)));
    fs->because = 0;
}

/* One that stands still stays selected. Else it is the first of those that stop, unless the one that was
 * selected before does, too. */
static void select_paused(Session *s, Json paused) {
    const Frame *selected = run_frame(s->run, s->selected);
    s->gone_on = s->gone_on && !(selected && frame_is_parked(selected));
    if (!s->gone_on || !json_array_len(paused)) return;
    for (size_t i = 0; i < json_array_len(paused); i++) {
        select_stopped(s, run_frame(s->run, image_int(paused, i)));
    }
    session_record(s);
}

Json session_pause(Session *s, Frame *f) {
    Paused all = {json_array(), json_array()};
    if (f) pause_one(s, f, true, &all);
    for (Frame *at = f ? NULL : run_next_frame(s->run, NULL), *next; at; at = next) {
        next = run_next_frame(s->run, at);
        pause_one(s, at, false, &all);
    }
    select_paused(s, all.now);
    return OBJECT(KEY("paused", all.now), KEY("later", all.later));
}

/* ---- answering ---- */

bool session_answer(Session *s, const RunResume *answer, Error *err) {
    if (run_settled(s->run)) {
        return error_set(err, ERR_USAGE, "The run is %s: nothing waits for an answer.",
                         run_status(s->run));
    }
    return session_may_run(s, err) && run_answer(s->run, answer, err);
}
