/* debug_control.c - the session itself, and frames that stop and go. */
#include "session_calls.h"

#include "mem.h"

#include <inttypes.h>
#include <string.h>

/* ---- the session ---- */

Json debug_session(Session *session, Json args, Error *err) {
    (void)args;
    (void)err;
    return session_json(session);
}

Json debug_configure(Session *session, Json args, Error *err) {
    return session_configure(session, args, err) ? session_json(session) : json_none();
}

Json debug_extend(Session *session, Json args, Error *err) {
    (void)err;
    session_extend(session, args_number(args, "seconds", 0));
    return session_json(session);
}

Json debug_detach(Session *session, Json args, Error *err) {
    (void)args;
    (void)err;
    session_detach(session);
    return json_object();
}

Json debug_abort(Session *session, Json args, Error *err) {
    (void)args;
    return session_abort(session, err) ? json_object() : json_none();
}

/* ---- going on ---- */

static Json resumed(bool ok, int64_t frame) {
    return ok ? debug_answer_with("resumed", json_array_push(json_array(), json_int(frame)))
              : json_none();
}

static bool pauses_all(const Session *session) {
    Json facts = session_json(session);
    bool all = json_truthy(json_object_get_c(facts, "pause_all_on_breakpoint"));
    json_unref(facts);
    return all;
}

/* What the run does instead: the selected frame speaks for it, or the first. */
static void say_nothing_is_paused(Session *session, Error *err) {
    const Run *run = session_run(session);
    const Frame *f = run_settled(run) ? NULL : run_frame(run, session_selected(session));
    f = f || run_settled(run) ? f : run_next_frame(run, NULL);
    if (!f) {
        error_set(err, ERR_USAGE, "No frame is paused: the run is %s.", run_status(run));
        return;
    }
    Buf doing = BUF_INIT;
    session_describe(f, &doing);
    error_set(err, ERR_USAGE, "No frame is paused: frame %" PRId64 " %s.", frame_id(f),
              doing.data ? doing.data : "goes on");
    buf_clear(&doing);
}

static Json continue_all(Session *session, Error *err) {
    Error why = ERROR_INIT;
    Json frames = session_continue_all(session, &why);
    if (json_array_len(frames) == 0) {
        json_unref(frames);
        if (why.code != ERR_NONE && err) {
            *err = why;
        } else {
            say_nothing_is_paused(session, err);
        }
        return json_none();
    }
    return debug_answer_with("resumed", frames);
}

Json debug_continue(Session *session, Json args, Error *err) {
    if (args_all_frames(args) || (!args_has(args, "frame") && pauses_all(session))) {
        return continue_all(session, err);
    }
    Frame *f = args_paused(session, args, err);
    int64_t id = f ? frame_id(f) : 0;
    return resumed(f && session_continue(session, f, err), id);
}

Json debug_pause(Session *session, Json args, Error *err) {
    if (args_frame_id(args) == 0) {
        return session_pause(session, NULL);
    }
    Frame *f = args_frame(session, args, err);
    return f ? session_pause(session, f) : json_none();
}

const char *const debug_step_words[] = {"over", "into", "out", NULL};
static const StepKind step_kinds[] = {STEP_OVER, STEP_INTO, STEP_OUT};

Json debug_step(Session *session, Json args, Error *err) {
    StepKind kind = step_kinds[args_word(args, "kind", debug_step_words, 0)];
    Frame *f = args_paused(session, args, err);
    int64_t id = f ? frame_id(f) : 0;
    return resumed(f && session_step(session, f, kind, err), id);
}

/* A frame that a run has failed in is not paused, but comes to life again with what is done to
 * it there: the session sees to that. */
static Frame *stopped_frame(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    return !f || strcmp(frame_status(f), "failed") == 0 ? f : args_paused(session, args, err);
}

Json debug_skip(Session *session, Json args, Error *err) {
    Frame *f = stopped_frame(session, args, err);
    int64_t id = f ? frame_id(f) : 0;
    return resumed(f && session_skip(session, f, json_object_get_c(args, "output"), err), id);
}

Json debug_retry(Session *session, Json args, Error *err) {
    Frame *f = stopped_frame(session, args, err);
    int64_t id = f ? frame_id(f) : 0;
    return resumed(f && session_retry(session, f, err), id);
}

/* ---- elsewhere ---- */

Json debug_back(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    return f ? session_back(session, f, args_int(args, "count", 1), err) : json_none();
}

Json debug_reverse(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    return f ? session_reverse(session, f, err) : json_none();
}

static Json go_to_node(Session *session, Json args, Error *err) {
    Json out = json_none();
    Frame *f = stopped_frame(session, args, err);
    int64_t id = f ? frame_id(f) : 0;
    char *node = args_text(args, "node");
    if (f && session_goto(session, f, node, err)) {
        out = json_object_with(json_object(), "frame", json_int(id));
        out = json_object_with(out, "node", json_string_c(node));
    }
    mem_free(node);
    return out;
}

/* A checkpoint is one of the whole run: there is no frame to choose. */
Json debug_goto(Session *session, Json args, Error *err) {
    if (args_has(args, "node")) {
        return go_to_node(session, args, err);
    }
    if (args_has(args, "frame")) {
        error_set(
            err, ERR_USAGE,
            "`goto` takes `frame` only with `node`: to a checkpoint the whole run goes back.");
        return json_none();
    }
    return session_go_to(session, args_int(args, "checkpoint", 0), err);
}

/* ---- answers ---- */

/* The interrupt of a frame among all that are open; borrowed from them, JSON_NONE: it has none. */
static Json interrupt_of(Json all, int64_t frame) {
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json one = json_array_get(all, i);
        if (args_frame_id(one) == frame) {
            return json_object_get_c(one, "id");
        }
    }
    return json_none();
}

static void say_frame_asks_nothing(Session *session, int64_t id, Error *err) {
    const Frame *f = session_frame(session, id, err);
    if (f) {
        Buf doing = BUF_INIT;
        session_describe(f, &doing);
        error_set(err, ERR_USAGE, "Frame %" PRId64 " does not wait for an answer: it %s.", id,
                  doing.data ? doing.data : "goes on");
        buf_clear(&doing);
    }
}

/* "i3 (`ask_a`), i4 (`ask_b`)" */
static void list_interrupts(Json all, Buf *out) {
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json id = json_object_get_c(json_array_get(all, i), "id");
        Json node = json_object_get_c(json_array_get(all, i), "node");
        buf_printf(out, "%s%.*s (`%.*s`)", i ? ", " : "", (int)json_string_len(id),
                   json_string_data(&id), (int)json_string_len(node), json_string_data(&node));
    }
}

static void say_which(Json all, Error *err) {
    size_t n = json_array_len(all);
    if (n == 0) {
        error_set(err, ERR_USAGE, "Nothing waits for an answer.");
    } else {
        Buf open = BUF_INIT;
        list_interrupts(all, &open);
        error_set(err, ERR_ANSWER, "%zu frames wait for an answer: %s.", n, open.data);
        error_fact(err, "interrupts", open.data);
        buf_clear(&open);
    }
}

/* The one that is named; of the frame that is named; of the selected frame; the only one.
 * Borrowed. */
static Json chosen_interrupt(Session *session, Json args, Json all, Error *err) {
    int64_t frame = args_frame_id(args);
    Json id = json_object_get_c(args, "interrupt");
    if (!json_is_none(id)) {
        return id;
    }
    id = interrupt_of(all, frame ? frame : session_selected(session));
    if (json_is_none(id) && frame) {
        say_frame_asks_nothing(session, frame, err);
    } else if (json_is_none(id) && json_array_len(all) == 1) {
        id = json_object_get_c(json_array_get(all, 0), "id");
    } else if (json_is_none(id)) {
        say_which(all, err);
    }
    return id;
}

static bool answer(Session *session, Json args, Json id, Error *err) {
    char *interrupt = mem_strndup(json_string_data(&id), json_string_len(id));
    char *decision = args_text(args, "decision");
    RunResume resume = {
        .interrupt = interrupt, .decision = decision, .value = json_object_get_c(args, "value")};
    bool ok = session_answer(session, &resume, err);
    mem_free(interrupt);
    mem_free(decision);
    return ok;
}

Json debug_answer(Session *session, Json args, Error *err) {
    Json out = json_none(), all = run_interrupts(session_run(session));
    Json id = chosen_interrupt(session, args, all, err);
    if (json_kind(id) == JSON_STRING && answer(session, args, id, err)) {
        out = debug_answer_with("answered", json_ref(id));
    }
    json_unref(all);
    return out;
}
