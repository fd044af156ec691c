#include "mcp_wait.h"

#include "mem.h"

#include <string.h>

enum { LOOK_MS = 100, LOOK_MAX_MS = 2000 };

struct McpWait {
    McpCall *call;
    char *thread;
    bool session;
    Json frames;
    McpThen then;
    ClientEvents *events;
    uv_timer_t timer;
    uint64_t pause; /* until it looks again by itself */
    bool looking;   /* a look is under way */
    bool again;     /* something has happened since */
    bool telling;   /* from inside of client_events() */
    bool over;
    bool events_over; /* nothing more is told */
};

/* ---- the end ---- */

static void on_closed(uv_handle_t *handle) {
    McpWait *w = handle->data;
    json_unref(w->frames);
    mem_free(w->thread);
    mem_free(w);
}

static void end_events(McpWait *w) {
    ClientEvents *events = w->events;
    w->events = NULL;
    client_events_end(events);
}

/* Its memory goes with its timer, so that whoever is inside of it comes out. */
static void finish(McpWait *w) {
    if (w->over) return;
    w->over = true;
    end_events(w);
    uv_close((uv_handle_t *)&w->timer, on_closed);
}

void mcp_wait_end(McpWait *w) {
    if (!w || w->over) return;
    McpCall *c = w->call;
    finish(w);
    mcp_release(c);
}

static void tell(McpWait *w, Json look, const Error *err) {
    McpCall *c = w->call;
    McpThen then = w->then;
    Error why = ERROR_INIT;
    if (err) why = *err;
    c->wait = NULL;
    finish(w);
    then(c, look, err ? &why : NULL);
    mcp_release(c);
}

/* ---- looking ---- */

static bool is_let_go(const McpWait *w, Json frame) {
    Json id = json_object_get_c(frame, "frame");
    size_t n = json_array_len(w->frames);
    for (size_t i = 0; i < n; i++) {
        if (json_equal(json_array_get(w->frames, i), id)) return true;
    }
    return false;
}

static bool run_stands(Json run) {
    Json status = json_object_get_c(run, "status");
    return !json_string_is(status, "running") && !json_string_is(status, "pending");
}

static bool session_stands(const McpWait *w, Json overview) {
    Json session = json_object_get_c(overview, "session");
    Json frames = json_object_get_c(overview, "frames");
    if (!json_string_is(json_object_get_c(session, "status"), "running")) return true;
    for (size_t i = 0, n = json_array_len(frames); i < n; i++) {
        Json frame = json_array_get(frames, i);
        if (json_string_is(json_object_get_c(frame, "status"), "paused") && is_let_go(w, frame)) {
            return true;
        }
    }
    return false;
}

static void look(McpWait *w);

static void on_time(uv_timer_t *timer) {
    look(timer->data);
}

/* Nobody has the run any more, so there is no session of it. */
static bool is_gone(const McpWait *w, const Error *err) {
    return w->session && (err->code == ERR_NOT_HELD || err->code == ERR_WRONG_STATE);
}

static void on_look(McpCall *c, Json answer, const Error *err) {
    McpWait *w = c->wait;
    if (!w) {
        json_unref(answer);
        return;
    }
    uint64_t now = uv_now(c->mcp->options.loop);
    w->looking = false;
    if (err) {
        tell(w, json_none(), is_gone(w, err) ? NULL : err);
    } else if ((w->session ? session_stands(w, answer) : run_stands(answer)) || now >= c->until) {
        tell(w, answer, NULL);
    } else {
        json_unref(answer);
        bool again = w->again;
        uint64_t left = c->until - now, pause = again ? 0 : w->pause < left ? w->pause : left;
        w->again = false;
        if (!again && w->pause < LOOK_MAX_MS) w->pause *= 2;
        uv_timer_start(&w->timer, on_time, pause, 0);
    }
}

static void look(McpWait *w) {
    if (w->over) return;
    if (w->looking) {
        w->again = true;
        return;
    }
    w->looking = true;
    uv_timer_stop(&w->timer);
    mcp_ask(w->call, w->session ? "overview" : "run_get", OBJECT(KEY("thread", w->thread)),
            on_look);
}

/* ---- what happens ---- */

static void tell_progress(McpCall *c, const char *word, Json event) {
    const char *node = json_object_text(event, "node"), *status = json_object_text(event, "status");
    Buf line = BUF_INIT;
    if (!node) return;
    if (!strcmp(word, "retry")) {
        status = "is tried again";
    } else if (!strcmp(word, "node")) {
        status = "begins";
    }
    buf_printf(&line, "%s: %s", node, status ? status : word);
    mcp_progress(c, line.data);
    buf_clear(&line);
}

/* Levels of what is told as a log. */
static void tell_log(McpCall *c, const char *word, Json event) {
    const char *node = json_object_text(event, "node"), *text = json_object_text(event, "text");
    const char *message = json_object_text(event, "message"),
               *status = json_object_text(event, "status");
    bool failed = status && !strcmp(status, "failed");
    if (!strcmp(word, "log") && text) {
        mcp_log(c, "info", node, json_string_c(text));
    } else if (!strcmp(word, "warning") && message) {
        mcp_log(c, "warning", node, json_string_c(message));
    } else if (!strcmp(word, "step") && node) {
        mcp_log(c, failed ? "error" : "debug", node,
                json_string_fmt("%s %s", node, status ? status : ""));
    }
}

static void on_event(void *ctx, Json event) {
    static const char *const waking[] = {"settled", "interrupt", "paused", "dropped"};
    McpWait *w = ctx;
    const char *word = json_object_text(event, "event");
    bool wakes = false;
    for (size_t i = 0; word && i < sizeof waking / sizeof *waking; i++) {
        wakes |= !strcmp(word, waking[i]);
    }
    if (!w->over && word) {
        tell_log(w->call, word, event);
        if (wakes) {
            w->again = true;
            if (!w->looking) uv_timer_start(&w->timer, on_time, 0, 0);
        } else if (strcmp(word, "log") != 0) {
            tell_progress(w->call, word, event);
        }
    }
    json_unref(event);
}

/* It is looked at all the same. */
static void on_over(void *ctx, const Error *why) {
    McpWait *w = ctx;
    (void)why;
    w->events_over = true;
    if (!w->telling && !w->over) end_events(w);
}

static void listen_to(McpWait *w) {
    McpCall *c = w->call;
    Json types = ARRAY(json_string_c("step"), json_string_c("settled"), json_string_c("interrupt"),
                       json_string_c("paused"), json_string_c("warning"), json_string_c("retry"),
                       json_string_c("node"));
    if (c->level >= 0) types = json_array_push(types, json_string_c("log"));
    w->telling = true;
    ClientEvents *events =
        client_events(c->mcp->options.client, OBJECT(KEY("thread", w->thread), KEY("types", types)),
                      &(ClientListener){on_event, on_over, w});
    w->telling = false;
    w->events = events;
    if (w->over || w->events_over) end_events(w);
}

void mcp_wait(McpCall *c, const McpWaitFor *what) {
    McpWait *w = mem_zalloc(sizeof *w);
    *w = (McpWait){.call = c,
                   .thread = mem_strdup(what->thread),
                   .session = what->session,
                   .frames = what->frames,
                   .then = what->then,
                   .pause = LOOK_MS};
    uv_timer_init(c->mcp->options.loop, &w->timer);
    w->timer.data = w;
    mcp_hold(c);
    mcp_wait_end(c->wait);
    c->wait = w;
    listen_to(w);
    look(w);
}
