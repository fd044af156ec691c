/* dap_events.c - what the debug session tells, in the client's words.
 *
 * One stop is told once. By default all frames stop when one does, and the client is told of the one that was first
 * (`allThreadsStopped`): from then on it thinks that everything stands still, and what else comes to stand is no news but a
 * reason to look again (`invalidated`). With non_stop each frame is told of by itself.
 *
 * A frame that goes on because the client asked for it is no news either: dap_expect() notes which. Where somebody else
 * let it go (another window of the session, a command in the client's console) the client is told `continued`. */
#include "dap_inside.h"

#include "mem.h"

#include <stdio.h>

/* ---- stops ---- */

static const char *text_of(Json object, const char *key) {
    return json_object_text(object, key);
}

/* The word of the protocol for why a frame has stopped. */
static const char *reason_of(const Dap *dap, Json event, BreakKind kind) {
    static const char *const words[][2] = {{"initial", "entry"},
                                           {"step", "step"},
                                           {"user_pause", "pause"},
                                           {"exception", "exception"}};
    static const char *const of_kind[DAP_BREAK_KINDS] = {[DAP_SOURCE] = "breakpoint",
                                                         [DAP_FUNCTION] = "function breakpoint",
                                                         [DAP_DATA] = "data breakpoint",
                                                         [DAP_EXCEPTION] = "exception"};
    const char *reason = text_of(event, "reason");
    if (dap->stop_reason) return dap->stop_reason;
    if (reason && !strcmp(reason, "breakpoint")) return of_kind[kind];
    for (size_t i = 0; reason && i < sizeof words / sizeof *words; i++) {
        if (!strcmp(reason, words[i][0])) return words[i][1];
    }
    return reason ? reason : "pause";
}

/* "Paused after `build`: .tag changed" */
static Json description_of(Json event, const char *reason) {
    const char *node = text_of(event, "node"), *position = text_of(event, "position");
    static const char *const places[][2] = {
        {"before", "before"}, {"after", "after"}, {"on_error", "at an error in"}, {"during", "in"}};
    const char *place = "at";
    for (size_t i = 0; position && i < sizeof places / sizeof *places; i++) {
        if (!strcmp(position, places[i][0])) place = places[i][1];
    }
    Buf text = BUF_INIT;
    buf_adds(&text, !strcmp(reason, "entry") ? "Paused at the start" : "Paused");
    if (node) buf_printf(&text, ", %s `%s`", place, node);
    Json out = json_string(text.data, text.len);
    buf_clear(&text);
    return out;
}

/* What is said of it at length: an error, a change. */
static Json words_of(Json event) {
    Json error = json_object_get_c(event, "error"), change = json_object_get_c(event, "change");
    const char *message = text_of(error, "message"), *kind = text_of(error, "kind");
    if (message) return json_string_fmt("%s: %s", kind ? kind : "error", message);
    if (json_kind(change) != JSON_OBJECT) return json_none();
    char *before = json_to_text(json_object_get_c(change, "old"));
    char *after = json_to_text(json_object_get_c(change, "new"));
    Json path = json_object_get_c(change, "path");
    Buf text = BUF_INIT;
    json_path_text(path, SIZE_MAX, &text);
    Json was = json_object_get_c(change, "old"), is = json_object_get_c(change, "new");
    buf_printf(&text, ": %.200s → %.200s", json_is_none(was) ? "nothing" : before,
               json_is_none(is) ? "nothing" : after);
    Json out = json_string(text.data, text.len);
    buf_clear(&text);
    mem_free(before);
    mem_free(after);
    return out;
}

static void tell_stop(Dap *dap, int64_t thread, Json event) {
    BreakKind kind = DAP_SOURCE;
    Json ids = dap_break_ids(dap, json_object_get_c(event, "breakpoints"), &kind);
    const char *reason = reason_of(dap, event, kind);
    Json description = description_of(event, reason);
    dap->stopped = true;
    dap->focus = thread;
    dap->stop_reason = NULL;
    json_clear(&dap->wanted_node);
    dap_tell(dap, "stopped",
             OBJECT(KEY("reason", reason), KEY("description", description), KEY("threadId", thread),
                    KEY("text", words_of(event)),
                    KEY("allThreadsStopped", json_bool(!dap->non_stop)),
                    KEY("hitBreakpointIds", ids)));
}

static void invalidate(Dap *dap, const char *area, int64_t thread) {
    if (dap->client.invalidated) {
        dap_tell(dap, "invalidated",
                 OBJECT(KEY("areas", ARRAY(json_string_c(area))),
                        KEY("threadId", thread ? json_int(thread) : json_none())));
    }
}

static void tell_continued(Dap *dap, int64_t thread) {
    dap_tell(
        dap, "continued",
        OBJECT(KEY("threadId", thread), KEY("allThreadsContinued", json_bool(!dap->non_stop))));
}

/* A person was asked, and nobody else went on: the client was told a stop, and now something goes on. */
static void end_waiting(Dap *dap) {
    if (!dap->asks) return;
    dap->asks = false;
    dap_goes(dap, HANDLES_ALL);
    tell_continued(dap, dap->focus);
}

static void on_paused(Dap *dap, Json event) {
    int64_t id = dap_int(event, "frame", 0);
    DapThread *thread = dap_thread_add(dap, id, json_object_get_c(event, "frame_name"));
    bool initial = json_string_is(json_object_get_c(event, "reason"), "initial");
    thread->paused = true;
    if (dap->begins && initial) { /* the client did not ask to see it */
        dap->begins = false;
        thread->paused = false;
        thread->ours = true;
        dap_order(dap, "continue", OBJECT(KEY("frame", "all"), KEY("anew", json_bool(true))));
        return;
    }
    end_waiting(dap);
    dap->moving = false;
    if (!dap->non_stop && dap->stopped) {
        invalidate(dap, "stacks", id);
        return;
    }
    Json node = json_object_get_c(event, "node");
    bool other = json_kind(dap->wanted_node) == JSON_STRING && json_kind(node) == JSON_STRING &&
                 !json_string_equal(node, dap->wanted_node);
    if (!other) tell_stop(dap, id, event);
}

/* Where a frame goes on. */
static void on_resumed(Dap *dap, Json event) {
    int64_t id = dap_int(event, "frame", 0);
    DapThread *thread = dap_thread(dap, id);
    bool ours = thread && thread->ours, was_stopped = dap->stopped;
    dap->post_mortem = false;
    if (thread) thread->paused = thread->ours = false;
    if (ours) return;
    dap->asks = false;
    dap_goes(dap, dap->non_stop ? id : HANDLES_ALL);
    if (was_stopped || dap->non_stop) {
        dap_tell(
            dap, "continued",
            OBJECT(KEY("threadId", id), KEY("allThreadsContinued", json_bool(!dap->non_stop))));
    }
}

/* Of those that stand: the one that was told of last, or the first. 0: none that we know of. */
static int64_t standing(const Dap *dap, Json paused) {
    int64_t first = 0;
    for (size_t i = 0; i < json_array_len(paused); i++) {
        int64_t id = (int64_t)json_to_double(json_array_get(paused, i));
        const DapThread *thread = dap_thread((Dap *)dap, id);
        if (!thread || !thread->paused) continue;
        if (id == dap->focus) return id;
        first = first ? first : id;
    }
    return first;
}

/* Nothing goes on by itself any more. Where a frame stopped that has been told; but a step may have led to where a frame
 * waits for others that stand, or for a person. */
static void on_stopped(Dap *dap, Json event) {
    if (dap->stopped && !dap->non_stop) return;
    int64_t id = standing(dap, json_object_get_c(event, "paused"));
    Json waiting = json_object_get_c(event, "waiting");
    bool asked = json_array_len(waiting) > 0;
    if (dap->moving && id) return; /* where that stands is told next */
    if (dap->non_stop && (id || !asked)) return;
    if (id) {
        Json none = json_object();
        dap->stop_reason = "step";
        tell_stop(dap, id, none);
        json_unref(none);
    } else if (asked) {
        int64_t first = (int64_t)json_to_double(json_array_get(waiting, 0));
        dap->stopped = dap->asks = true;
        dap->focus = first;
        dap_tell(dap, "stopped",
                 OBJECT(KEY("reason", "approval"), KEY("description", "Waits for an answer"),
                        KEY("threadId", first), KEY("allThreadsStopped", json_bool(true))));
    }
}

/* ---- text ---- */

/* With the place of a node, where its name says which. Consumes the body. */
static void tell_output(Dap *dap, Json body, Json event) {
    Json node = json_object_get_c(event, "node");
    const SourceNode *at =
        json_kind(node) == JSON_STRING ? sources_alone(dap->sources, node) : NULL;
    if (at) {
        body = OBJECT_ADD(
            body,
            KEY("source",
                sources_json(dap->sources, sources_file(dap->sources, at->file), dap->client.uris)),
            KEY("line", json_int(at->line - dap->client.lines_at_0)));
    }
    dap_tell(dap, "output", body);
}

static void on_output(Dap *dap, Json event) {
    const char *stream = text_of(event, "stream");
    bool err = stream && !strcmp(stream, "stderr");
    end_waiting(dap);
    tell_output(dap,
                OBJECT(KEY("category", err ? "stderr" : "stdout"),
                       KEY("output", json_ref(json_object_get_c(event, "text")))),
                event);
}

/* A line of ours about a node. */
static void tell_line(Dap *dap, const char *category, Json event, const char *words, Json text) {
    const char *node = text_of(event, "node");
    Buf line = BUF_INIT;
    if (node) buf_printf(&line, "%s: ", node);
    buf_adds(&line, words);
    if (json_kind(text) == JSON_STRING)
        buf_add(&line, json_string_data(&text), json_string_len(text));
    buf_addc(&line, '\n');
    tell_output(dap,
                OBJECT(KEY("category", category), KEY("output", json_string(line.data, line.len))),
                event);
    buf_clear(&line);
}

static void on_log(Dap *dap, Json event) {
    tell_line(dap, "console", event, "", json_object_get_c(event, "message"));
}

static void on_warning(Dap *dap, Json event) {
    tell_line(dap, "important", event, "", json_object_get_c(event, "message"));
}

static void on_retry(Dap *dap, Json event) {
    Json message = json_object_get_c(json_object_get_c(event, "error"), "message");
    tell_line(dap, "console", event, "is tried again: ", message);
}

/* How to answer is said where it can be typed. */
static void on_waiting(Dap *dap, Json event) {
    Json prompt = json_object_get_c(event, "prompt"), options = json_object_get_c(event, "options");
    tell_line(dap, "important", event, "waits for an answer. ", prompt);
    for (size_t i = 0; json_kind(options) == JSON_ARRAY && i < json_array_len(options); i++) {
        Json option = json_array_get(options, i);
        if (json_kind(option) == JSON_STRING) {
            dap_say(dap, "important", "  answer %s", json_string_data(&option));
        }
    }
    if (json_kind(options) != JSON_ARRAY) dap_say(dap, "important", "  answer JSON");
}

/* ---- frames, breakpoints, changes ---- */

static void on_frame(Dap *dap, Json event) {
    int64_t id = dap_int(event, "frame", 0);
    bool created = json_string_is(json_object_get_c(event, "status"), "created");
    end_waiting(dap);
    if (created) {
        dap_thread_add(dap, id, json_object_get_c(event, "name"));
    } else {
        dap_thread_remove(dap, id);
        handles_drop(&dap->handles, id);
    }
    dap_tell(dap, "thread",
             OBJECT(KEY("reason", created ? "started" : "exited"), KEY("threadId", id)));
}

static void on_changed(Dap *dap, Json event) {
    Json what = json_object_get_c(event, "what");
    int64_t id = dap_int(event, "frame", 0);
    if (json_string_is(what, "variables") || json_string_is(what, "config")) {
        invalidate(dap, "variables", id);
    }
}

/* ---- the end ---- */

static void on_settled(Dap *dap, Json event) {
    const char *status = text_of(event, "status");
    const char *message = text_of(json_object_get_c(event, "error"), "message");
    const char *lost = text_of(event, "store_error");
    if (dap->post_mortem) { /* somebody went to where it has ended */
        dap->moving = false;
        dap_tell_standing(dap);
        return;
    }
    bool completed = status && !strcmp(status, "completed");
    bool ended =
        completed || (status && (!strcmp(status, "failed") || !strcmp(status, "cancelled")));
    dap->settled_code = ended ? !completed : 0;
    if (lost) dap_say(dap, "stderr", "%s", lost);
    if (message && ended && !completed) {
        dap_say(dap, "stderr", "The run %s: %s", status, message);
    } else if (status) {
        dap_say(dap, "console", ended ? "The run %s%s." : "The run stays %s%s.",
                ended && !strcmp(status, "cancelled") ? "was " : "", status);
    }
    dap_end(dap, ended ? !completed : -1);
}

static void on_session(Dap *dap, Json event) {
    const char *status = text_of(event, "status");
    bool over = status && (!strcmp(status, "detached") || !strcmp(status, "expired"));
    if (over && !dap->lets_go) {
        dap_say(dap, "important",
                !strcmp(status, "detached")
                    ? "Somebody has detached the debugger: the run goes on without it."
                    : "Nobody has done anything for too long: the session is over.");
    }
    if (over) dap_end(dap, -1);
}

/* ---- the table ---- */

static const struct EventRow {
    const char *event;
    void (*look)(Dap *dap, Json event);
} rows[] = {
    {"paused", on_paused},
    {"resumed", on_resumed},
    {"stopped", on_stopped},
    {"output", on_output},
    {"log", on_log},
    {"warning", on_warning},
    {"retry", on_retry},
    {"waiting", on_waiting},
    {"frame", on_frame},
    {"changed", on_changed},
    {"settled", on_settled},
    {"session", on_session},
    {"breakpoint", dap_break_event},
};

static void look_at(Dap *dap, Json event) {
    Json name = json_object_get_c(event, "event");
    for (size_t i = 0; i < sizeof rows / sizeof *rows && dap->phase == DAP_GOING; i++) {
        if (json_string_is(name, rows[i].event)) {
            rows[i].look(dap, event);
            return;
        }
    }
}

void dap_look(Dap *dap) {
    Json told = json_take(&dap->told);
    dap->told = json_array();
    for (size_t i = 0; i < json_array_len(told); i++) look_at(dap, json_array_get(told, i));
    json_unref(told);
    dap_hold(dap);
}

void dap_hold(Dap *dap) {
    bool much = json_array_len(dap->told) > DAP_TOLD_MAX ||
                (dap->wire && wire_waiting(dap->wire) > DAP_EVENTS_HIGH);
    if (much != dap->held && dap->events) {
        dap->held = much;
        client_events_hold(dap->events, much);
    }
}

void dap_on_event(void *ctx, Json event) {
    Dap *dap = ctx;
    dap->told = json_array_push(dap->told, event);
    if (json_array_len(dap->told) > DAP_TOLD_MAX) dap_hold(dap);
    dap_pump(dap);
}

void dap_on_over(void *ctx, const Error *why) {
    Dap *dap = ctx;
    dap->closed = true;
    if (dap->phase == DAP_OPEN || dap->phase == DAP_GOING) {
        if (why) {
            dap_say(dap, "important", "%s", why->msg);
        } else if (dap->settled_code < 0) {
            dap_say(dap, "important", "The process that had the run has gone, or let go of us.");
        }
        dap_end(dap, -1);
    }
}

/* ---- what the client thinks ---- */

void dap_goes(Dap *dap, int64_t thread) {
    dap->stopped = false;
    handles_drop(&dap->handles, thread);
}

void dap_expect(Dap *dap, Json answer) {
    Json list = json_object_get_c(answer, "resumed");
    dap->asks = dap->post_mortem = false;
    for (size_t i = 0; i < json_array_len(list); i++) {
        int64_t id = (int64_t)json_to_double(json_array_get(list, i));
        DapThread *thread = dap_thread(dap, id);
        if (thread) {
            thread->ours = true;
            thread->paused = false;
        }
        if (dap->non_stop) dap_goes(dap, id);
    }
    if (!dap->non_stop) dap_goes(dap, HANDLES_ALL);
}

/* ---- moved ---- */

/* The client hears of the threads that are there now, and of those that are not. */
static void on_moved_frames(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    Json before = json_object();
    for (size_t i = 0; i < dap->nthreads; i++) {
        Json key = json_string_fmt("%lld", (long long)dap->threads[i].id);
        before = json_object_set(before, key, json_int(dap->threads[i].id));
    }
    dap_threads_take(dap, answer);
    json_unref(answer);
    Json started = json_array(), key, id;
    for (size_t i = 0; i < dap->nthreads; i++) {
        key = json_string_fmt("%lld", (long long)dap->threads[i].id);
        bool known = !json_is_none(json_object_get(before, key));
        before = json_object_remove(before, key);
        json_unref(key);
        if (!known) started = json_array_push(started, json_int(dap->threads[i].id));
    }
    bool implied = json_is_none(call->kept); /* otherwise it was a command of the console */
    bool pumping = dap->pumping;
    dap->pumping = true; /* where it stands is told last */
    dap_answer(call, json_take(&call->kept));
    if (!implied) tell_continued(dap, dap->focus);
    for (size_t pos = 0; json_object_next(before, &pos, &key, &id);) {
        dap_tell(dap, "thread", OBJECT(KEY("reason", "exited"), KEY("threadId", json_ref(id))));
    }
    for (size_t i = 0; i < json_array_len(started); i++) {
        dap_tell(dap, "thread",
                 OBJECT(KEY("reason", "started"),
                        KEY("threadId", json_ref(json_array_get(started, i)))));
    }
    json_unref(before);
    json_unref(started);
    dap->pumping = pumping;
    dap_pump(dap);
}

void dap_moved(DapCall *call, Json answer, const char *reason) {
    Dap *dap = call->dap;
    dap_goes(dap, HANDLES_ALL);
    dap->stop_reason = reason;
    dap->moving = true;
    dap->post_mortem = !json_is_none(json_object_get_c(answer, "ended"));
    dap->settled_code = -1;
    dap_ask(call, "frames", OBJECT(KEY("limit", json_int(DAP_PAGE_MAX))), on_moved_frames);
}

void dap_tell_again(Dap *dap, int64_t thread, const char *reason) {
    Json none = json_object();
    dap->stop_reason = reason;
    tell_stop(dap, thread, none);
    json_unref(none);
}

/* What was noted before is told now, by dap_pump(); what had ended long ago is told here. */
void dap_tell_standing(Dap *dap) {
    if (!dap->post_mortem) return;
    const DapThread *thread = dap->nthreads ? &dap->threads[0] : NULL;
    dap->stopped = true;
    dap->focus = thread ? thread->id : 1;
    dap_tell(
        dap, "stopped",
        OBJECT(KEY("reason", dap->failed ? "exception" : "pause"),
               KEY("description", dap->failed ? "The run has failed here" : "The run has ended"),
               KEY("threadId", dap->focus), KEY("allThreadsStopped", json_bool(true))));
}
