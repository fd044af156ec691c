/* session_control.c - stopping frames and letting them go. */
#include "session_inside.h"

#include "mem.h"

/* ---- letting go ---- */

/* The frame is not asked to stop any more, and nothing is chosen that has gone on. */
static void before_going(Session *s, Frame *f, StepKind step) {
    FrameStop *fs = session_stop_of(f);
    session_clear_step(s, f);
    fs->asked = false;
    fs->because = 0;
    s->stopping = false;
    s->chosen = s->chosen && s->selected != frame_id(f);
    s->was_selected = s->selected;
    s->gone_on = true;
    if (step) {
        Json parts[] = {json_int(step), json_int(frame_depth(f))};
        fs->step = step;
        fs->depth = frame_depth(f);
        session_keep(s, "frames", frame_id(f),
                     json_object_with(json_object(), "step", json_array_from(parts, 2)));
    }
}

/* A failed run that is looked at afterwards comes to life with the first thing that is done to
 * it. */
bool session_revive(Session *s, Frame *f, Error *err) {
    if (strcmp(frame_status(f), "failed") != 0) {
        return true;
    }
    Json error = run_error(s->run);
    Json info = session_pause_info("exception", engine_time(run_engine(s->run)));
    info = json_is_none(error) ? info : json_object_with(info, "error", json_ref(error));
    return run_reopen(s->run, info, err);
}

bool session_may_run(const Session *s, Error *err) {
    return !s->options.view_only ||
           error_set(
               err, ERR_USAGE,
               "This is an export: it can be looked at and gone back in, but its commands are "
               "not run here.");
}

static bool let_go(Session *s, Frame *f, StepKind step, LetGo *go, Error *err) {
    int64_t id = frame_id(f);
    FrameStop saved = *session_stop_of(f);
    if (!session_may_run(s, err) || !session_revive(s, f, err)) {
        return false;
    }
    before_going(s, f, step);
    bool ok = frame_let_go(f, go, err);
    f = run_frame(s->run, id);
    if (ok && f && session_stop_of(f)) {
        session_see(s, f); /* what a person changed is no step that changed it */
    } else if (!ok) {
        session_stop_of(f)->step = saved.step;
    }
    return ok;
}

bool session_continue(Session *s, Frame *f, Error *err) {
    LetGo go = {.how = LET_GO, .output = json_none(), .info = json_none(), .word = "continue"};
    return let_go(s, f, STEP_NONE, &go, err);
}

bool session_step(Session *s, Frame *f, StepKind kind, Error *err) {
    static const char *const words[] = {
        [STEP_OVER] = "step over", [STEP_INTO] = "step into", [STEP_OUT] = "step out"};
    LetGo go = {.how = LET_GO, .output = json_none(), .info = json_none(), .word = words[kind]};
    return let_go(s, f, kind, &go, err);
}

bool session_skip(Session *s, Frame *f, Json output, Error *err) {
    LetGo go = {.how = LET_SKIP, .output = output, .info = json_none(), .word = "skip"};
    return let_go(s, f, STEP_NONE, &go, err);
}

bool session_retry(Session *s, Frame *f, Error *err) {
    LetGo go = {.how = LET_RETRY, .output = json_none(), .info = json_none(), .word = "retry"};
    return let_go(s, f, STEP_NONE, &go, err);
}

/* It stays paused there, with what is pending. */
bool session_goto(Session *s, Frame *f, const char *node, Error *err) {
    if (!session_revive(s, f, err)) {
        return false;
    }
    Json pending =
        json_is_none(frame_pause(f)) ? json_none() : json_object_get_c(frame_pause(f), "pending");
    Json info = session_pause_info("step", engine_time(run_engine(s->run)));
    if (!json_is_none(pending)) {
        info = json_object_with(info, "pending", json_ref(pending));
    }
    LetGo go = {.how = LET_GOTO, .output = json_none(), .node = node, .info = info, .word = "goto"};
    bool ok = frame_let_go(f, &go, err);
    json_unref(info);
    s->unsure = s->unsure || ok;
    return ok;
}

Json session_continue_all(Session *s, Error *err) {
    Json out = json_array();
    size_t n = 0;
    int64_t *ids = mem_alloc((run_frame_count(s->run) + 1) * sizeof *ids);
    for (const Frame *f = run_next_frame(s->run, NULL); f; f = run_next_frame(s->run, f)) {
        if (frame_is_parked(f)) {
            ids[n++] = frame_id(f);
        }
    }
    for (size_t i = 0; i < n; i++) {
        Frame *f = run_frame(s->run, ids[i]);
        if (f && frame_is_parked(f) && session_continue(s, f, err)) {
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
    Json info = session_pause_info("user_pause", engine_time(run_engine(s->run)));
    bool was = frame_is_parked(f);
    ParkResult result = frame_park(f, info);
    if (result == PARKED_NOW && !was) {
        out->now = json_array_push(out->now, json_int(frame_id(f)));
        session_clear_step(s, f);
    }
    fs->asked = result == PARKED_LATER || (result == PARKED_NEVER && alone);
    if (fs->asked) {
        out->later = json_array_push(out->later, json_int(frame_id(f)));
    }
    fs->because = 0;
}

Json session_pause(Session *s, Frame *f) {
    Paused all = {json_array(), json_array()};
    if (f) {
        pause_one(s, f, true, &all);
    }
    for (Frame *at = f ? NULL : run_next_frame(s->run, NULL), *next; at; at = next) {
        next = run_next_frame(s->run, at);
        pause_one(s, at, false, &all);
    }
    Json out = json_object_with(json_object(), "paused", all.now);
    return json_object_with(out, "later", all.later);
}

/* ---- answering ---- */

bool session_answer(Session *s, const RunResume *answer, Error *err) {
    if (run_settled(s->run)) {
        return error_set(err, ERR_USAGE, "The run is %s: nothing waits for an answer.",
                         run_status(s->run));
    }
    return session_may_run(s, err) && run_answer(s->run, answer, err);
}
