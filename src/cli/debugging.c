#include "debugging.h"

#include "mem.h"
#include "output.h"
#include "pauses.h"

enum { TOUCH_MS = 10000 };

/* ---- the session ---- */

/* What is recorded is taken whether anybody debugs or not. */
static void take_recorded(Debugging *d) {
    if (d->plan.recording && !run_has_hooks(d->run)) {
        run_set_hooks(d->run, &recording_hooks, d->plan.recording);
    }
}

/* It may not be freed from inside what it tells: the next turn does. The run may go on before that. */
static void on_session_event(void *ctx, Json event) {
    Debugging *d = ctx;
    attach_event(d->server, event);
    if (json_is_none(json_object_get_c(event, "to"))) { /* that is for who has just come */
        d->plan.event(d->plan.ctx, event);
    }
    d->over = d->over || session_event_ends(event);
    if (d->over) {
        take_recorded(d);
    }
    json_unref(event);
}

static bool somebody_is_there(const Debugging *d) {
    return d->present || attach_is_connected(d->server);
}

static void on_touch(uv_timer_t *timer) {
    Debugging *d = timer->data;
    if (d->session && !somebody_is_there(d)) {
        session_touch(d->session);
    }
}

static void free_timer(uv_handle_t *handle) {
    mem_free(handle);
}

static void start_touching(Debugging *d) {
    d->touching = mem_alloc(sizeof *d->touching);
    uv_timer_init(d->loop, d->touching);
    d->touching->data = d;
    uv_timer_start(d->touching, on_touch, TOUCH_MS, TOUCH_MS);
    uv_unref((uv_handle_t *)d->touching);
}

/* Nobody is told again that all stand still when others come or go. */
static void hold(Debugging *d) {
    bool wanted = d->session && !d->over && somebody_is_there(d);
    if (!run_settled(d->run) && run_is_held(d->run) != wanted) {
        run_hold(d->run, wanted);
    }
}

static Session *attach_session(Debugging *d, SessionOptions options, Error *err) {
    options.event = on_session_event;
    options.ctx = d;
    options.recording = d->plan.recording;
    if (options.recording) { /* the session takes from it now */
        run_set_hooks(d->run, NULL, NULL);
    }
    d->session = session_attach(d->run, &options, err);
    take_recorded(d); /* unless it does */
    if (d->session) {
        hold(d); /* a session holds it, but maybe nobody waits here */
        start_touching(d);
    }
    return d->session;
}

static Session *on_asked_session(void *ctx, Error *err) {
    Debugging *d = ctx;
    debugging_turn(d); /* one that has just ended is not for those who come now */
    d->begun = !d->session;
    return d->session ? d->session : attach_session(d, (SessionOptions){0}, err);
}

static void on_greeted(void *ctx, int64_t client) {
    Debugging *d = ctx;
    if (!d->begun) {
        session_tell_paused(d->session, client);
    }
}

static void on_connected(void *ctx, bool connected) {
    (void)connected;
    hold(ctx);
}

static void free_session(Debugging *d) {
    session_free(d->session);
    d->session = NULL;
    d->over = false;
    uv_close((uv_handle_t *)d->touching, free_timer);
    d->touching = NULL;
}

/* ---- life ---- */

static bool start_session(Debugging *d, Error *err) {
    SessionOptions options = {.pause_on_start = d->plan.pause_on_start,
                              .view_only = d->plan.view_only,
                              .pause_all = d->plan.pause_all,
                              .breakpoints = d->plan.breakpoints};
    if (!d->plan.debug) {
        take_recorded(d);
        return true;
    }
    return attach_session(d, options, err) != NULL;
}

bool debugging_begin(Debugging *d, const DebuggingPlan *plan, Run *run, uv_loop_t *loop,
                     Error *err) {
    AttachHost host = {loop, on_asked_session, on_greeted, on_connected, d};
    *d = (Debugging){.plan = *plan, .run = run, .loop = loop, .present = plan->present};
    if (!start_session(d, err)) {
        return false;
    }
    d->server = attach_listen(run, &host, NULL);
    return true;
}

void debugging_turn(Debugging *d) {
    if (d->over) {
        free_session(d);
        take_recorded(d);
    }
}

void debugging_end(Debugging *d) {
    if (!d->run) {
        return;
    }
    attach_close(d->server);
    d->server = NULL;
    if (d->session) {
        free_session(d);
    }
    if (d->plan.recording) {
        run_set_hooks(d->run, NULL, NULL);
    }
    d->run = NULL;
}

/* ---- who is present ---- */

Json debugging_call(Debugging *d, const char *operation, Json args, Error *err) {
    if (!d->session) {
        json_unref(args);
        error_set(err, ERR_USAGE, "The debug session is over.");
        return json_none();
    }
    return debug_call(d->session, operation, args, err);
}

void debugging_leave(Debugging *d) {
    d->present = false;
    if (d->run) {
        hold(d);
    }
}

/* ---- looking ---- */

Json debugging_doubts(const Debugging *d) {
    const Breakpoints *points = d->session ? session_breakpoints(d->session) : NULL;
    Json out = json_array();
    for (size_t i = 0; points && i < breakpoints_count(points); i++) {
        const Breakpoint *b = breakpoints_at(points, i);
        if (!b->verified && json_kind(b->message) == JSON_STRING) {
            out = json_array_push(out, json_ref(b->message));
        }
    }
    return out;
}

static Json pause_of(const Frame *f) {
    const Node *node = frame_node(f, frame_depth(f) - 1);
    Json out = output_set(json_object(), "frame", json_int(frame_id(f)));
    out = output_set(out, "node", output_text(node ? node->name : NULL));
    out = output_set(out, "position", json_string_c(hook_positions[frame_position(f)]));
    return pause_fields(out, frame_pause(f));
}

Json debugging_pauses(const Run *run) {
    Json out = json_array();
    for (Frame *f = run_next_frame(run, NULL); f; f = run_next_frame(run, f)) {
        if (frame_is_parked(f)) {
            out = json_array_push(out, pause_of(f));
        }
    }
    return out;
}
