/* session_stops.c - where frames stop: breakpoints, steps, and being asked to.
 *
 * at() is called for every node of every frame, before and after it. Most of the time nothing is at
 * the node, nothing is asked of the frame, and it returns after looking at a few lists that are
 * empty. */
#include "session_inside.h"

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

static void keep_hits(Session *s, const Breakpoint *b) {
    session_keep(s, "breakpoints", b->id, session_pack(b));
}

static void log_hit(Stop *stop, Breakpoint *b) {
    Json event = json_object_with(json_object(), "event", json_string_c("log"));
    event = json_object_with(event, "breakpoint", json_int(b->id));
    event = json_object_with(event, "message",
                             breakpoint_text(b, stop->place, stop_state(stop), stop->vars));
    run_tell(stop->session->run, stop->place->frame, event);
}

static void pause_hit(Stop *stop, Breakpoint *b) {
    stop->ids = json_is_none(stop->ids) ? json_array() : stop->ids;
    stop->ids = json_array_push(stop->ids, json_int(b->id));
    if (b->once) { /* it goes when the pause is told, and is gone for whoever comes after us */
        b->enabled = false;
        session_keep(stop->session, "breakpoints", b->id, json_none());
    }
}

static void tell_hit(Stop *stop, const Breakpoint *b) {
    Json event = json_object_with(session_event_new("breakpoint"), "change", json_string_c("hit"));
    Json hit = json_object_with(json_object(), "id", json_int(b->id));
    hit = json_object_with(hit, "hit_count", json_int(b->hits));
    run_tell(stop->session->run, stop->place->frame, json_object_with(event, "breakpoint", hit));
}

/* A level of a frame, on the way outwards. */
typedef struct Around {
    const Frame *frame;
    uint32_t level;
} Around;

/* The level that holds this one; a branch goes on in the graph of the frame that made it. */
static bool go_out(Around *at) {
    const Graph *graph = frame_graph(at->frame, at->level);
    do {
        if (at->level) {
            at->level--;
        } else if (frame_parent(at->frame)) {
            at->frame = frame_parent(at->frame);
            at->level = frame_depth(at->frame) - 1;
        } else {
            return false;
        }
    } while (frame_graph(at->frame, at->level) == graph);
    return true;
}

static bool names_around(const Around *inner, const Around *outer, const char *word) {
    const Node *node = frame_node(outer->frame, outer->level);
    const char *workflow = frame_graph(inner->frame, inner->level)->name;
    return (node && (!strcmp(node->name, word) || !fnmatch(word, node->name, 0))) ||
           (workflow && !fnmatch(word, workflow, 0));
}

/* PATH/NAME is about this use of a workflow, and not about another one of the same file. */
static bool is_inside(const Stop *stop, const Breakpoint *b) {
    if (!b->has_path) {
        return true;
    }
    Json name = json_object_get_c(b->spec, "node");
    Around at = {stop->place->frame, frame_depth(stop->place->frame) - 1};
    char *path = mem_strndup(json_string_data(&name), json_string_len(name));
    bool fits = true;
    for (char *slash; fits && (slash = strrchr(path, '/'));) {
        *slash = '\0';
        const char *word = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
        Around inner = at;
        fits = go_out(&at) && names_around(&inner, &at, word);
    }
    mem_free(path);
    return fits;
}

static bool try_one(Stop *stop, Breakpoint *b) {
    bool pauses = false;
    Json state = stop_state(stop);
    if (!breakpoint_hit(b, stop->place, state, stop->vars, &pauses)) {
        return false;
    }
    keep_hits(stop->session, b);
    if (pauses) {
        tell_hit(stop, b);
    }
    if (pauses && b->log) {
        log_hit(stop, b);
    } else if (pauses) {
        pause_hit(stop, b);
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

static Json seen_key(const Breakpoint *b) {
    return json_string_fmt("%lld", (long long)b->id);
}

static Json boxed(Json value) {
    return json_is_none(value) ? json_array() : json_array_push(json_array(), value);
}

static Json unboxed(Json box) {
    bool there = json_kind(box) == JSON_ARRAY && json_array_len(box);
    return there ? json_array_get(box, 0) : json_none();
}

static void see(FrameStop *fs, const Breakpoint *b, Json value) {
    fs->seen = json_is_none(fs->seen) ? json_object() : fs->seen;
    fs->seen = json_object_set(fs->seen, seen_key(b), boxed(value));
}

void session_see(Session *s, Frame *f) {
    PointList list = breakpoints_on_state(s->breakpoints);
    FrameStop *fs = session_stop_of(f);
    if (!list.n || !fs || !frame_depth(f)) {
        return;
    }
    Json state = frame_sees(f);
    for (size_t i = 0; i < list.n; i++) {
        see(fs, list.items[i], breakpoint_value(list.items[i], state));
    }
    json_unref(state);
}

/* What was not there has no field. */
static Json change_of(const Breakpoint *b, Json old_value, Json new_value) {
    Json out = json_object_with(json_object(), "path", json_ref(b->state_path));
    if (!json_is_none(old_value)) {
        out = json_object_with(out, "old", json_ref(old_value));
    }
    return json_is_none(new_value) ? out : json_object_with(out, "new", json_ref(new_value));
}

static void try_state(Stop *stop, Breakpoint *b) {
    Json key = seen_key(b);
    Json box =
        json_is_none(stop->frame->seen) ? json_none() : json_object_get(stop->frame->seen, key);
    Json seen = json_ref(unboxed(box)), now = breakpoint_value(b, stop_state(stop));
    json_unref(key);
    if (json_is_none(box) || !json_identical(seen, now)) {
        see(stop->frame, b, json_ref(now));
    }
    bool hit = b->enabled && !json_is_none(box) && breakpoint_changed(b, seen, now);
    if (hit && try_one(stop, b) && json_is_none(stop->change)) {
        stop->change = change_of(b, seen, now);
    }
    json_unref(seen);
    json_unref(now);
}

static void try_states(Stop *stop, PointList list) {
    for (size_t i = 0; i < list.n; i++) {
        try_state(stop, list.items[i]);
    }
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

void session_clear_step(Session *s, Frame *f) {
    FrameStop *fs = session_stop_of(f);
    if (fs->step) {
        fs->step = STEP_NONE;
        session_keep(s, "frames", frame_id(f), json_none());
    }
    fs->handed = false;
}

static void keep_step(Session *s, int64_t frame, const FrameStop *fs) {
    Json parts[] = {json_int(fs->step), json_int(fs->depth)};
    Json step = json_object_with(json_object(), "step", json_array_from(parts, 2));
    session_keep(s, "frames", frame, step);
}

static void load_step(Session *s, Frame *f, FrameStop *fs) {
    Json frames = json_object_get_c(s->value, "frames");
    Json key = json_string_fmt("%lld", (long long)frame_id(f));
    Json own = json_kind(frames) == JSON_OBJECT ? json_object_get(frames, key) : json_none();
    Json step = json_kind(own) == JSON_OBJECT ? json_object_get_c(own, "step") : json_none();
    json_unref(key);
    if (json_kind(step) == JSON_ARRAY && frame_depth(f)) {
        int64_t kind = image_int(step, 0);
        fs->step = kind > STEP_NONE && kind < STEP_KINDS ? (StepKind)kind : STEP_NONE;
        fs->depth = (uint32_t)image_int(step, 1);
    }
}

/* The frame that made it goes on with its step: it stops where it goes on itself. */
static void hand_up(Session *s, const FrameStop *fs, const Frame *parent) {
    FrameStop *up = parent ? session_stop_of(parent) : NULL;
    if (up && fs->step && (!up->step || up->handed)) {
        up->handed = false;
        up->step = STEP_OVER;
        up->depth = frame_depth(parent);
        keep_step(s, frame_id(parent), up);
    }
}

/* ---- the decision ---- */

static const char *reason_of(const Stop *stop) {
    const FrameStop *fs = stop->frame;
    const HookPlace *place = stop->place;
    bool before = place->position == HOOK_BEFORE;
    if (!json_is_none(stop->ids)) {
        return place->position == HOOK_ON_ERROR ? "exception" : "breakpoint";
    }
    if (place->position == HOOK_ON_ERROR && frame_is_added(place->frame)) {
        return "exception";
    }
    if (before && stop->session->initial) {
        return "initial";
    }
    if (before && step_ends(fs, frame_depth(place->frame))) {
        return "step";
    }
    return before && fs->asked ? "user_pause" : NULL;
}

static Json info_of(Stop *stop, const char *reason) {
    Json info = session_pause_info(reason, engine_time(run_engine(stop->session->run)));
    const HookPlace *place = stop->place;
    if (!json_is_none(stop->ids)) {
        info = json_object_with(info, "breakpoints", json_take(&stop->ids));
    }
    if (place->position == HOOK_ON_ERROR) {
        info = json_object_with(info, "error", json_ref(place->error));
    }
    if (!json_is_none(stop->change)) {
        info = json_object_with(info, "change", json_take(&stop->change));
    }
    if (stop->frame->because && !strcmp(reason, "user_pause")) {
        info = json_object_with(info, "because", json_int(stop->frame->because));
    }
    return info;
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
        if (f != stopped) {
            ask_one(s, f, session_stop_of(f), frame_id(stopped));
        }
    }
}

static void stop_one(Session *s, Frame *f) {
    FrameStop *fs = session_stop_of(f);
    if (fs->asked && !frame_is_parked(f)) {
        Json info = session_pause_info("user_pause", engine_time(run_engine(s->run)));
        if (fs->because) {
            info = json_object_with(info, "because", json_int(fs->because));
        }
        fs->asked = frame_park(f, info) == PARKED_LATER;
    }
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void session_stop_others(Session *s) {
    if (s->nothers) {
        qsort(s->others, s->nothers, sizeof *s->others, by_number);
    }
    for (size_t i = 0; i < s->nothers; i++) {
        Frame *f = run_frame(s->run, s->others[i]);
        if (f) {
            stop_one(s, f);
        }
    }
    s->nothers = 0;
    s->stopping = false;
}

/* Of those that stop before a person lets one go again: the one that was selected then, or the first of
 * them, whatever order they come in. */
static bool is_selected_next(const Session *s, const Frame *f) {
    const Frame *selected = run_frame(s->run, s->selected);
    if (!selected || !frame_is_parked(selected)) {
        return true;
    }
    bool first = s->selected != s->was_selected && frame_id(f) < s->selected;
    return !s->chosen && (s->gone_on || frame_id(f) == s->was_selected || first);
}

static void select_stopped(Session *s, const Frame *f) {
    s->selected = frame_id(f);
    s->chosen = false;
    s->gone_on = false;
    session_keep(s, "selected", 0, json_int(s->selected));
}

static void stop_here(Stop *stop, const char *reason, Json *info) {
    Session *s = stop->session;
    Frame *f = stop->place->frame;
    bool alone = !strcmp(reason, "user_pause") || !strcmp(reason, "initial");
    *info = info_of(stop, reason);
    s->initial = false;
    stop->frame->asked = false;
    session_clear_step(s, f);
    if (!(alone && stop->frame->because) && is_selected_next(s, f)) {
        select_stopped(s, f);
    }
    if (s->pause_all && !alone && !s->stopping) {
        ask_others(s, f);
    }
    stop->frame->because = 0;
}

static void tell_frame(Session *s, Frame *f, const char *status) {
    char name[40];
    frame_name(f, name, sizeof name);
    Json event = json_object_with(session_event_new("frame"), "name", json_string_c(name));
    const Frame *parent = frame_parent(f);
    event = parent ? json_object_with(event, "parent", json_int(frame_id(parent))) : event;
    run_tell(s->run, f, json_object_with(event, "status", json_string_c(status)));
}

void session_tell_ended(Session *s) {
    for (Frame *f = run_next_frame(s->run, NULL); f; f = run_next_frame(s->run, f)) {
        tell_frame(s, f, "completed");
    }
}

/* What has changed since the last node is no step's doing: branches were joined. Only a value that
 * has come about by that stops the frame. */
static void see_joined(Stop *stop, PointList list) {
    for (size_t i = 0; i < list.n; i++) {
        Breakpoint *b = list.items[i];
        if (json_is_none(b->state_equals)) {
            see(stop->frame, b, breakpoint_value(b, stop_state(stop)));
        } else {
            try_state(stop, b);
        }
    }
}

static void look_for_breakpoints(Stop *stop) {
    const Breakpoints *breakpoints = stop->session->breakpoints;
    if (stop->place->position == HOOK_BEFORE) {
        see_joined(stop, breakpoints_on_state(breakpoints));
    }
    try_list(stop, breakpoints_of_node(breakpoints, stop->place->node));
    try_list(stop, breakpoints_anywhere(breakpoints));
    if (stop->place->position == HOOK_AFTER) {
        try_states(stop, breakpoints_on_state(breakpoints));
    }
    if (stop->place->position == HOOK_ON_ERROR) {
        try_list(stop, breakpoints_on_error(breakpoints));
    }
}

static HookVerdict decide(Session *s, const HookPlace *place, FrameStop *fs, Json *info) {
    Json values[FRAME_VARS_MAX]; /* not set to anything: it is large, and mostly not needed */
    Stop stop = {.session = s, .place = place, .frame = fs, .values = values};
    if (!place->again) {
        look_for_breakpoints(&stop);
    }
    const char *reason = reason_of(&stop);
    if (reason) {
        stop_here(&stop, reason, info);
    }
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
           breakpoints_pass(s->breakpoints, node);
}

static HookVerdict look(Session *s, const HookPlace *place, Json *info) {
    FrameStop *fs = session_stop_of(place->frame);
    if (s->quiet) {
        return HOOK_GO;
    }
    if (!fs->told) {
        fs->told = true;
        tell_frame(s, place->frame, "created");
    }
    return place->looked ? HOOK_GO : decide(s, place, fs, info);
}

/* What was recorded holds whether the frame stops here or not: the changes are there when it does, and
 * results are taken when it goes on. */
static HookVerdict at(void *ctx, const HookPlace *place, Json *info) {
    Session *s = ctx;
    Recording *r = s->options.recording;
    HookVerdict verdict = r ? recording_come_to(r, place, info) : HOOK_GO;
    verdict = verdict == HOOK_GO ? look(s, place, info) : verdict;
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
        fs->told = true;
        load_step(s, f, fs);
        session_see(s, f);
        return;
    }
    if (up) {
        fs->seen = json_ref(up->seen);
    }
    if (up && s->stopping) {
        ask_one(s, f, fs, s->selected);
    }
    if (up && up->step == STEP_INTO) {
        fs->step = STEP_INTO;
        up->handed = true;
        keep_step(s, frame_id(f), fs);
    }
}

static void on_frame_end(void *ctx, Frame *f) {
    Session *s = ctx;
    FrameStop *fs = session_stop_of(f);
    const Frame *parent = frame_parent(f);
    if (!fs) {
        return;
    }
    if (!s->leaving && !s->quiet) {
        hand_up(s, fs, parent);
        session_clear_step(s, f);
    }
    if (!s->leaving) {
        tell_frame(s, f, "completed");
    }
    json_unref(fs->before);
    json_unref(fs->now);
    json_unref(fs->seen);
    mem_free(fs);
    *frame_data(f) = NULL;
}

void session_paused_at(Session *s, Frame *f, int64_t checkpoint) {
    FrameStop *fs = session_stop_of(f);
    (void)s;
    json_unref(fs->before);
    fs->before = fs->now;
    fs->before_seq = fs->now_seq;
    fs->now = frame_sees(f);
    fs->now_seq = checkpoint;
}

const RunHooks session_hooks = {
    .at = at, .passes = passes, .frame_new = on_frame_new, .frame_end = on_frame_end};
