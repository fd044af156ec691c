/* host_run.c - a held run: its session, the windows at it, and when it may go. */
#include "host_inside.h"

#include "json_build.h"
#include "mem.h"

enum { TOUCH_MS = 10000 };

/* ---- the session ---- */

/* What is recorded is taken whether anybody debugs or not. */
static void take_recorded(HostRun *r) {
    if (r->recording && !run_has_hooks(r->run)) {
        run_set_hooks(r->run, &recording_hooks, r->recording);
    }
}

bool host_has_window(const HostRun *r) {
    for (const Subscription *s = r->watchers; s; s = subscription_after(s)) {
        if (subscription_attaches(s)) {
            return true;
        }
    }
    return false;
}

/* A session may not be freed from inside what it tells: the sweep does. The run may go on before that. */
static void on_session_event(void *ctx, Json event) {
    HostRun *r = ctx;
    r->session_told = true;
    subscription_session_event(r, event);
    if (session_event_ends(event)) {
        r->session_over = true;
        take_recorded(r);
        host_sweep_soon(r);
    }
    json_unref(event);
}

static void on_touch(uv_timer_t *timer) {
    HostRun *r = timer->data;
    if (r->session && !host_has_window(r)) {
        session_touch(r->session);
        r->awaits_window = false; /* it has had its time */
        host_run_hold(r);
    }
}

static void free_timer(uv_handle_t *handle) {
    mem_free(handle);
}

static void drop_session(HostRun *r) {
    if (r->session) {
        session_free(r->session);
        r->session = NULL;
        r->session_over = false;
        uv_close((uv_handle_t *)r->touching, free_timer);
        r->touching = NULL;
    }
}

static Session *make_session(HostRun *r, const HostDebug *debug, Error *err) {
    SessionOptions options = {.event = on_session_event,
                              .ctx = r,
                              .pause_on_start = debug->pause_on_start,
                              .view_only = debug->view_only,
                              .pause_all = debug->pause_all,
                              .breakpoints = debug->breakpoints,
                              .recording = r->recording};
    r->session_told = false;
    if (r->recording) { /* the session takes from it now */
        run_set_hooks(r->run, NULL, NULL);
    }
    r->session = session_attach(r->run, &options, err);
    take_recorded(r); /* unless the session does */
    if (r->session) {
        r->touching = mem_zalloc(sizeof *r->touching);
        uv_timer_init(r->host->options.loop, r->touching);
        r->touching->data = r;
        uv_timer_start(r->touching, on_touch, TOUCH_MS, TOUCH_MS);
        uv_unref((uv_handle_t *)r->touching);
    }
    return r->session;
}

bool host_run_begin(HostRun *r, const HostDebug *debug, Error *err) {
    take_recorded(r);
    r->awaits_window = debug->awaits_window;
    return !debug->wanted || make_session(r, debug, err) != NULL;
}

Session *host_session_with(HostRun *r, const HostDebug *debug, Error *err) {
    if (r->session_over) { /* one that has just ended is not for those who come now */
        drop_session(r);
        take_recorded(r);
    }
    return r->session ? r->session : make_session(r, debug, err);
}

Session *host_session(HostRun *r, Error *err) {
    return host_session_with(r, &(HostDebug){0}, err);
}

void host_leave_session(HostRun *r) {
    drop_session(r);
    take_recorded(r);
    host_run_hold(r);
}

Session *host_has_session(const HostRun *r) {
    return r->session_over ? NULL : r->session;
}

/* Nobody is told again that all stand still when others come or go. */
void host_run_hold(HostRun *r) {
    bool window = host_has_window(r);
    r->awaits_window = r->awaits_window && !window;
    bool wanted = r->session && !r->session_over && (window || r->awaits_window);
    if (!run_settled(r->run) && run_is_held(r->run) != wanted) {
        run_hold(r->run, wanted);
    }
}

/* ---- looking ---- */

static Json pause_json(const Frame *f) {
    const Node *node = frame_node(f, frame_depth(f) - 1);
    Json out = OBJECT(KEY("frame", frame_id(f)), KEY("node", node ? node->name : NULL));
    return session_pause_json(out, hook_positions[frame_position(f)], frame_pause(f));
}

Json host_pauses(const HostRun *r) {
    Json out = json_array();
    for (Frame *f = run_next_frame(r->run, NULL); f; f = run_next_frame(r->run, f)) {
        if (frame_is_parked(f)) {
            out = json_array_push(out, pause_json(f));
        }
    }
    return out;
}

/* ---- the end ---- */

bool host_rests(const HostRun *r) {
    for (Frame *f = run_next_frame(r->run, NULL); f; f = run_next_frame(r->run, f)) {
        if (!frame_is_at_rest(f)) {
            return false;
        }
    }
    return true;
}

void host_drop(HostRun *r) {
    r->dropped = true;
    host_sweep_soon(r);
}

bool host_run_is_done(HostRun *r) {
    if (r->session_over) {
        drop_session(r);
        take_recorded(r);
    }
    if (r->rehold) {
        r->rehold = false;
        subscription_purge(r->watchers);
        host_run_hold(r);
    }
    return run_settled(r->run) && r->told_settled && !r->keeper &&
           (r->dropped || !host_has_window(r));
}

void host_run_free(HostRun *r) {
    subscription_run_gone(r);
    host_forget(r);
    drop_session(r);
    if (r->recording) {
        run_set_hooks(r->run, NULL, NULL);
    }
    run_free(r->run);
    recording_free(r->recording);
    mem_free(r);
}
