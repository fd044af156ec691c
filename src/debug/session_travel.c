/* session_travel.c - back in the history, differences, one node again: what a session asks of the record
 * (travel.h), and what it does with the answer. */
#include "session_inside.h"

#include "choice.h"
#include "inspect.h"
#include "json_build.h"
#include "mem.h"
#include "travel.h"

enum { DIFF_LIMIT = 1000 };

/* ---- questions ---- */

/* The state at which it is asked: what happens until there is an answer does not change it. */
static Json question_of(const Session *s, bool flow, Error *err) {
    const Flow *f = run_flow(s->run);
    bool recorded = s->options.recording != NULL;
    if (!engine_store(run_engine(s->run))) {
        error_set(err, ERR_USAGE, "The run has no store, so it has no history.");
        return json_none();
    }
    Json of = OBJECT(
        KEY("run", run_number(s->run)), KEY("thread", run_thread(s->run)),
        KEY("head", run_checkpoint(s->run)),
        KEY("definition", flow || recorded || f->has_tasks ? flow_definition(f) : json_none()));
    Json recording = recorded ? OBJECT(KEY("live_from", recording_live_from(s->options.recording)))
                              : json_none();
    return OBJECT(KEY("of", of), KEY("recording", recording));
}

static Json with_fields(Json question, Json fields) {
    Json key, value;
    for (size_t pos = 0; !json_is_none(question) && json_object_next(fields, &pos, &key, &value);) {
        question = json_object_set(question, json_ref(key), json_ref(value));
    }
    json_unref(fields);
    return question;
}

Json session_ask_state(Session *s, Json fields, Error *err) {
    return with_fields(question_of(s, false, err),
                       OBJECT_ADD(json_ref(fields), KEY("selected", session_selected(s))));
}

Json session_ask_back(Session *s, Frame *f, int64_t count, Error *err) {
    HookPosition at = frame_is_parked(f) ? frame_position(f) : HOOK_BEFORE;
    bool midst = at == HOOK_ON_ERROR || at == HOOK_DURING;
    return with_fields(
        question_of(s, false, err),
        OBJECT(KEY("frame", frame_id(f)), KEY("count", count), KEY("midst", json_bool(midst))));
}

/* At the innermost one it is a step back, if the node has begun. */
Json session_ask_level(Session *s, Frame *f, int64_t depth, Error *err) {
    int64_t levels = frame_depth(f);
    const Node *node = depth <= levels ? frame_node(f, (uint32_t)depth - 1) : NULL;
    if (!node) {
        error_set(err, ERR_USAGE, "Frame %lld stands at no node at level %lld of %lld.",
                  (long long)frame_id(f), (long long)depth, (long long)levels);
        return json_none();
    }
    if (depth == levels) return session_ask_back(s, f, 1, err);
    return with_fields(question_of(s, false, err),
                       OBJECT(KEY("frame", frame_id(f)), KEY("depth", depth),
                              KEY("node", json_ref(node->name_json))));
}

Json session_ask_checkpoint(Session *s, int64_t checkpoint, Error *err) {
    return with_fields(question_of(s, false, err),
                       OBJECT(KEY("frame", s->selected), KEY("checkpoint", checkpoint)));
}

Json session_ask_reverse(Session *s, Frame *f, Error *err) {
    Json specs = json_array();
    for (size_t i = 0; i < breakpoints_count(s->breakpoints); i++) {
        const Breakpoint *b = breakpoints_at(s->breakpoints, i);
        specs = json_array_push(specs, OBJECT_ADD(breakpoint_stored(b), KEY("id", b->id)));
    }
    return with_fields(
        question_of(s, true, err),
        OBJECT(KEY("frame", s->pause_all ? 0 : frame_id(f)), KEY("breakpoints", specs)));
}

/* Its number and those of the frames that it came from; given. */
static Json frame_line(const Frame *f) {
    Json frames = json_array();
    for (; f; f = frame_parent(f)) frames = json_array_push(frames, json_int(frame_id(f)));
    return frames;
}

Json session_ask_changes(Session *s, Frame *f, DiffSince since, Error *err) {
    const FrameStop *fs = session_stop_of(f);
    if (since == DIFF_PAUSE && fs && !json_is_none(fs->before)) return json_null();
    Json question = question_of(s, false, err);
    Json now = json_is_none(question) || since == DIFF_NODE ? json_none() : frame_will_see(f, err);
    if (json_is_none(question) || (since != DIFF_NODE && json_is_none(now))) {
        json_unref(question);
        return json_none();
    }
    return with_fields(question, OBJECT(KEY("since", (int64_t)since), KEY("frames", frame_line(f)),
                                        KEY("now", now)));
}

Json session_edges(Frame *f) {
    const Node *node = session_node(f);
    const Graph *graph = node ? node->graph : frame_graph(f, frame_depth(f) - 1);
    return OBJECT(KEY("frame", frame_id(f)), KEY("node", node ? node->name : NULL),
                  KEY("edges", edges_of(graph, node)));
}

Json session_ask_choice(Session *s, Frame *f, Error *err) {
    if (!engine_store(run_engine(s->run))) return json_null();
    return with_fields(question_of(s, true, err),
                       OBJECT(KEY("frames", frame_line(f)), KEY("answer", session_edges(f))));
}

Json session_ask_written(Session *s, Frame *f, int64_t depth, Json path, Error *err) {
    return with_fields(question_of(s, true, err),
                       OBJECT(KEY("frame", frame_id(f)),
                              KEY("level", json_int((depth ? depth : frame_depth(f)) - 1)),
                              KEY("path", json_ref(path))));
}

Json session_ask_ended(Session *s, Json answer, int64_t limit, Error *err) {
    return with_fields(question_of(s, false, err),
                       OBJECT(KEY("answer", answer), KEY("limit", limit)));
}

Json session_diff_pauses(Frame *f, Error *err) {
    const FrameStop *fs = session_stop_of(f);
    Json now = frame_will_see(f, err);
    Json out =
        json_is_none(now) ? json_none() : travel_diff(fs->before, now, fs->before_seq, fs->now_seq);
    json_unref(now);
    return out;
}

/* ---- going back ---- */

/* The new line has to be on record before anybody is told that the run stands there. */
typedef struct Telling {
    Session *session; /* NULL: it has gone, or went elsewhere */
} Telling;

/* Somebody else may wait for it to stop or to end. */
static void on_rewound(void *ctx, const Error *err) {
    Telling *t = ctx;
    Session *s = t->session;
    mem_free(t);
    if (s) s->telling = NULL;
    if (!s || err) return;
    Frame *f = run_frame(s->run, s->selected);
    int64_t checkpoint = run_checkpoint(s->run);
    if (f && frame_is_parked(f)) {
        session_paused_at(f, checkpoint);
        session_tell(s, session_paused_event(f, checkpoint));
    } else if (run_settled(s->run)) {
        session_tell(s, session_settled_event(s, run_status(s->run), checkpoint));
    }
}

void session_forget_telling(Session *s) {
    if (s->telling) {
        s->telling->session = NULL;
        s->telling = NULL;
    }
}

/* Where the frames are: {frame: [node, depth, position]}; given. */
static Json standing(const Run *run) {
    enum { LOOKED_AT = 1000 };
    Json out = json_object();
    size_t n = 0;
    for (const Frame *f = run_next_frame(run, NULL); f && n++ < LOOKED_AT;
         f = run_next_frame(run, f)) {
        const Node *node = session_node(f);
        Json at = ARRAY(node ? json_ref(node->name_json) : json_null(), json_int(frame_depth(f)),
                        json_int(frame_is_parked(f) ? (int64_t)frame_position(f) : -1));
        out = json_object_set(out, image_key(frame_id(f)), at);
    }
    return out;
}

static bool is_around(const Frame *f, int64_t id) {
    while (f && frame_id(f) != id) f = frame_parent(f);
    return f != NULL;
}

/* Numbers of the frames that are elsewhere now, or gone, or there again: of those that the selected one is not
 * in. Consumes both. */
static Json frames_moved(Json before, Json after, const Frame *selected) {
    Json sides[] = {before, after}, out = json_array(), key, at;
    for (size_t i = 0; i < 2; i++) {
        for (size_t pos = 0; json_object_next(sides[i], &pos, &key, &at);) {
            Json other = json_object_get(sides[!i], key);
            bool moved = json_is_none(other) || (!i && !json_equal(at, other));
            if (moved && !is_around(selected, frame_number(key))) {
                out = json_array_push(out, json_int(frame_number(key)));
            }
        }
    }
    json_unref(before);
    json_unref(after);
    return out;
}

/* The steps that frames were doing are over with the line that they were on. Consumes info. */
static Json rewind_to(Session *s, Json place, Json info, Error *err) {
    bool quiet = s->quiet;
    Json there = json_object_get_c(place, "there"), seq = json_object_get_c(place, "checkpoint");
    Json counts = json_object_get_c(place, "counts"), frame = json_object_get_c(place, "frame");
    s->quiet = false; /* after `abort` the session begins anew, and is on record again */
    session_keep(s, "frames", 0, json_object());
    s->leaving = true;
    Json before = standing(s->run);
    bool ok = run_rewind(s->run, there, info, err);
    s->leaving = false;
    if (!ok) {
        json_unref(before);
        s->quiet = quiet;
        if (quiet) run_set_debug(s->run, json_null());
        return json_none();
    }
    if (s->options.recording && !json_is_none(counts)) {
        recording_go_back(s->options.recording, counts);
    }
    s->end = NULL;
    session_extend(s, 0); /* the idle limit of one that had ended was not looked at */
    const Frame *f = run_frame(s->run, frame.i);
    for (; f && !frame_is_parked(f); f = frame_parent(f)) {}
    s->selected = f ? frame_id(f) : session_first_parked(s->run);
    s->chosen = false;
    session_keep(s, "selected", 0, json_int(s->selected));
    s->unsure = true;
    session_forget_telling(s);
    s->telling = mem_alloc(sizeof *s->telling);
    s->telling->session = s;
    engine_when_durable(run_engine(s->run), on_rewound, s->telling);
    f = run_frame(s->run, s->selected);
    const Node *node = f ? session_node(f) : NULL;
    return OBJECT(KEY("checkpoint", run_checkpoint(s->run)), KEY("frame", s->selected),
                  KEY("node", node ? json_ref(node->name_json) : json_none()),
                  KEY("ended", run_settled(s->run) ? run_status(s->run) : NULL),
                  KEY("from", json_ref(seq)),
                  KEY("others", frames_moved(before, standing(s->run), f)));
}

Json session_go_to(Session *s, Json place, Error *err) {
    return rewind_to(s, place, session_pause_info(s, "step"), err);
}

Json session_reverse(Session *s, Json place, Error *err) {
    Json hit = json_object_get_c(place, "hit"), after = json_object_get_c(place, "ended");
    bool ended = !json_is_none(after);
    /* frames that stand elsewhere than at the breakpoint stopped with the one that was there */
    Json because = ended ? json_object_get_c(after, "frame") : json_none();
    Json info = session_pause_info(s, ended                ? "user_pause"
                                      : !json_is_none(hit) ? "breakpoint"
                                                           : "step");
    info = OBJECT_ADD(info, KEY("because", json_ref(because)),
                      KEY("breakpoints", ended ? json_none() : json_ref(hit)));
    Json out = rewind_to(s, place, info, err);
    return json_is_none(out)
               ? out
               : OBJECT_ADD(out,
                            KEY("breakpoints", json_is_none(hit) ? json_array() : json_ref(hit)),
                            KEY("after", json_ref(after)));
}

/* ---- one node again ---- */

/* What is to be told when the new run has settled; freed with its root frame, which may be earlier. */
typedef struct Replaying {
    struct Replaying *next; /* of the session */
    Session *session;       /* NULL: it is gone */
    int64_t seq, frame;
    Json recorded; /* what came of it then; JSON_NONE */
    SessionReplayed done;
    void *ctx;
} Replaying;

static void replaying_free(Replaying *r) {
    Replaying **at = r->session ? &r->session->replays : NULL;
    while (at && *at != r) at = &(*at)->next;
    if (at) *at = r->next;
    json_unref(r->recorded);
    mem_free(r);
}

static void free_replay(void *ctx, Frame *f) {
    enum { ROOT = 1 };
    if (frame_id(f) == ROOT) replaying_free(ctx);
}

static void on_replayed(void *ctx, const Event *e) {
    Replaying *r = ctx;
    Session *s = r->session;
    const Frame *f = run_frame(e->run, r->frame);
    const Node *node = f ? frame_node(f, frame_depth(f) - 1) : NULL;
    Json now = f && !json_is_none(r->recorded) ? frame_sees(f) : json_none();
    Json diff = json_is_none(now) ? now : inspect_diff(r->recorded, now, DIFF_LIMIT);
    Json event = OBJECT(
        KEY("event", "replayed"), KEY("thread", run_thread(e->run)), KEY("run", run_number(e->run)),
        KEY("status", e->status), KEY("node", node ? json_ref(node->name_json) : json_none()),
        KEY("checkpoint", r->seq), KEY("error", json_ref(run_error(e->run))), KEY("diff", diff));
    json_unref(now);
    run_set_hooks(e->run, NULL, NULL); /* r is gone */
    if (s) {
        session_tell(s, event);
    } else {
        json_unref(event);
    }
}

static const RunHooks replay_hooks = {
    .frame_end = free_replay, .event = on_replayed, .events = 1u << EVENT_SETTLED};

void session_forget_replays(Session *s) {
    for (Replaying *r = s->replays; r; r = r->next) r->session = NULL;
    s->replays = NULL;
}

/* Before the run that it is of has begun. */
static Replaying *replaying_new(Session *s, Json step) {
    Json frame = json_object_get_c(step, "frame"), seq = json_object_get_c(step, "checkpoint");
    Replaying *r = mem_zalloc(sizeof *r);
    *r = (Replaying){.next = s->replays,
                     .session = s,
                     .seq = seq.i,
                     .frame = frame.i,
                     .recorded = json_ref(json_object_get_c(step, "recorded"))};
    s->replays = r;
    return r;
}

static Json begun(Replaying *r, Run *run) {
    run_set_hooks(run, &replay_hooks, r);
    return OBJECT(KEY("thread", run_thread(run)), KEY("run", run_number(run)));
}

static void on_begun(void *ctx, Run *run, const Error *err) {
    Replaying *r = ctx;
    SessionReplayed done = r->done;
    void *asker = r->ctx;
    if (run) {
        done(asker, begun(r, run), NULL);
    } else {
        replaying_free(r);
        done(asker, json_none(), err);
    }
}

Json session_ask_replay(Session *s, Frame *f, Json fields, Error *err) {
    if (!session_may_run(s, err)) return json_none();
    return with_fields(
        question_of(s, false, err),
        OBJECT_ADD(json_ref(fields), KEY("frame", f ? json_int(frame_id(f)) : json_none())));
}

static RunReplay asked_for(const Session *s, const Replaying *r, const SessionReplay *replay) {
    return (RunReplay){run_thread(s->run), r->seq,         replay->thread,
                       replay->input,      replay->config, replay->by};
}

void session_replay(Session *s, Json step, const SessionReplay *replay, SessionReplayed done,
                    void *ctx) {
    Replaying *r = replaying_new(s, step);
    RunReplay asked = asked_for(s, r, replay);
    r->done = done;
    r->ctx = ctx;
    engine_replay(run_engine(s->run), &asked, on_begun, r);
}

Json session_replay_now(Session *s, Json step, const SessionReplay *replay, Error *err) {
    Replaying *r = replaying_new(s, step);
    RunReplay asked = asked_for(s, r, replay);
    Run *run = engine_replay_now(run_engine(s->run), &asked, err);
    if (!run) {
        replaying_free(r);
        return json_none();
    }
    return begun(r, run);
}
