/* lib_engine.c - a host with its loop, and the runs that programs have of it. */
#define _GNU_SOURCE /* environ */
#include "lib_inside.h"

#include "exec.h"
#include "mem.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LOOK_AGAIN_MS = 100
}; /* a watcher that a callback has just made is seen in the turn after it */

/* ---- runs ---- */

static void list_add(PawlRun **list, PawlRun *r) {
    r->list = list;
    r->prev = NULL;
    r->next = *list;
    if (r->next) r->next->prev = r;
    *list = r;
}

static void list_remove(PawlRun *r) {
    *(r->prev ? &r->prev->next : r->list) = r->next;
    if (r->next) r->next->prev = r->prev;
}

static void list_move(PawlRun *r, PawlRun **list) {
    list_remove(r);
    list_add(list, r);
}

PawlRun *engine_find_run(const Run *run) {
    HostRun *held = run_owner(run);
    return held ? host_keeper(held) : NULL;
}

PawlRun *engine_add_run(PawlEngine *e, HostRun *held, PawlFlow *flow, void *data) {
    PawlRun *r = mem_zalloc(sizeof *r);
    *r = (PawlRun){.engine = e, .held = held, .run = host_run(held), .data = data};
    r->flow = flow_hold(flow);
    host_keep(held, r);
    list_add(run_settled(r->run) ? &e->kept : &e->under_way, r);
    return r;
}

/* What the host had for us of it goes with the host's own. */
static void free_run(PawlRun *r) {
    PawlEngine *e = r->engine;
    list_remove(r);
    pawl_flow_free(r->flow);
    json_unref(r->store_error);
    if (r->wish) {
        e->wishes[r->wish - 1] = NULL;
        engine_count_token(e, false);
    }
    mem_free(r);
}

void engine_sweep(PawlEngine *e) {
    while (e->leaving && !e->inside) {
        host_keep(e->leaving->held, NULL);
        free_run(e->leaving);
    }
}

/* A run that nobody has goes when nothing happens in it any more; not from inside a function of the program. */
static void dismiss(PawlRun *r) {
    if (r->freed && !r->debug && r->list == &r->engine->kept) list_move(r, &r->engine->leaving);
}

void engine_goes_on(PawlRun *r) {
    if (r->list == &r->engine->kept && !run_settled(r->run)) list_move(r, &r->engine->under_way);
}

static void settled(PawlRun *r) {
    const Error *failure = run_store_error(r->run);
    if (failure && r->engine->store_error.code == ERR_NONE) r->engine->store_error = *failure;
    if (r->list == &r->engine->under_way) {
        list_move(r, &r->engine->kept);
        dismiss(r);
    }
}

void engine_left_by_debugger(PawlRun *r) {
    dismiss(r);
    engine_sweep(r->engine);
}

void engine_let_go(PawlRun *r) {
    r->freed = true;
    dismiss(r);
    engine_sweep(r->engine);
}

/* Whether some run goes on without its debugger. */
static bool some_go_on(const PawlEngine *e) {
    for (const PawlRun *r = e->under_way; r; r = r->next) {
        if (!debug_rests(r)) return true;
    }
    return false;
}

/* Whether there is anything to run the loop for. */
static bool has_more(const PawlEngine *e) {
    return e->calls || (e->debuggers ? debug_has_events(e) || some_go_on(e) : e->under_way != NULL);
}

/* ---- wishes ---- */

void engine_wish(PawlRun *r) {
    PawlEngine *e = r->engine;
    if (!r->wish && !run_settled(r->run)) {
        e->wishes = mem_grow(e->wishes, e->nwishes, &e->wishes_cap, sizeof *e->wishes);
        e->wishes[e->nwishes++] = r;
        r->wish = e->nwishes;
        engine_count_token(e, true); /* under a debugger nothing else may keep the loop alive */
    }
    mailbox_ring(e->box);
}

static void grant(PawlRun *r) {
    bool cancel = r->wants_cancel;
    r->wants_cancel = r->wants_stop = false;
    r->wish = 0;
    engine_count_token(r->engine, false);
    if (cancel) {
        run_cancel(r->run);
    } else {
        run_stop(r->run);
    }
}

/* Ending a run may call functions of the program, which may have more of them. */
void engine_grant_wishes(PawlEngine *e) {
    for (size_t i = 0; i < e->nwishes; i++) {
        if (e->wishes[i]) grant(e->wishes[i]);
    }
    e->nwishes = 0;
}

/* The loop is kept alive by tokens that somebody will finish, and by wishes. */
void engine_count_token(PawlEngine *e, bool more) {
    size_t before = e->tokens;
    e->tokens = more ? before + 1 : before - 1;
    if (!before) {
        uv_ref((uv_handle_t *)e->box->async);
    } else if (!e->tokens) {
        uv_unref((uv_handle_t *)e->box->async);
    }
}

/* ---- events ---- */

static PawlEvent event_of(const Event *event, PawlRun *run) {
    return (PawlEvent){
        .type = (PawlEventType)event->type,
        .run = run,
        .at = event->at,
        .checkpoint = event->checkpoint,
        .step = event->step,
        .frame = event->frame,
        .frame_name = event->frame_name ? event->frame_name : "",
        .node = event->node ? event->node : "",
        .status = event->status ? event->status : "",
        .depth = event->depth,
        .update = value_of(event->update),
        .state = value_of(event->state),
        .data = value_of(event->data),
    };
}

static void on_event(void *ctx, HostRun *held, const Event *event) {
    _Static_assert((int)PAWL_EVENT_SETTLED == (int)EVENT_SETTLED, "events have the same numbers");
    PawlEngine *e = ctx;
    PawlRun *run = host_keeper(held);
    bool debugs = event->type > EVENT_SETTLED; /* those come through the debug session */
    if (run && !debugs && e->options.on_event) {
        PawlEvent out = event_of(event, run);
        e->inside++;
        e->listening++;
        e->options.on_event(e->options.ctx, &out);
        e->listening--;
        e->inside--;
    }
    if (run && event->type == EVENT_SETTLED && run_settled(run->run)) settled(run);
}

/* ---- life ---- */

static bool open_loop(PawlEngine *e, Error *err) {
    e->loop = e->options.loop;
    if (e->loop) return true;
    e->loop = mem_zalloc(sizeof *e->loop);
    int code = uv_loop_init(e->loop);
    if (code) {
        mem_free(e->loop);
        e->loop = NULL;
        return error_set(err, ERR_IO, "The event loop cannot be made: %s.", uv_strerror(code));
    }
    e->owns_loop = true;
    return true;
}

/* A copy: the program may change its own at any time, and from any thread. */
static char **copy_environment(void) {
    size_t n = 0;
    while (environ[n]) n++;
    char **copy = mem_zalloc((n + 1) * sizeof *copy);
    for (size_t i = 0; i < n; i++) copy[i] = mem_strdup(environ[i]);
    return copy;
}

static void free_environment(char **environment) {
    for (size_t i = 0; environment && environment[i]; i++) mem_free(environment[i]);
    mem_free(environment);
}

/* The store is made here and now: a program wants to know that it has one. */
static bool open_host(PawlEngine *e, const char *store, Error *err) {
    const PawlLimits *limits = &e->options.limits;
    char folder[PATH_MAX];
    bool listens = e->options.on_event != NULL;
    memcpy(e->work, exec_work, sizeof e->work);
    e->work[KIND_CALLBACK] = &lib_call_now;
    e->work[KIND_CALLBACK_LATER] = &lib_call_later;
    HostOptions options = {
        .loop = e->loop,
        .store = store,
        .folder = getcwd(folder, sizeof folder),
        .environment = e->environment = copy_environment(),
        .work = e->work,
        .budget = {.steps = limits->steps, .memory = limits->memory, .depth = limits->depth},
        .max_state = e->options.max_state,
        .on_event = on_event,
        .events = listens ? ~0u : 0,
        .values = listens,
        .ctx = e,
    };
    e->host = host_new(&options);
    e->engine = host_engine(e->host, HOST_CREATES, err);
    return e->engine != NULL;
}

static void free_timer(uv_handle_t *handle) {
    mem_free(handle);
}

static bool open_alarm(PawlEngine *e, Error *err) {
    uv_timer_t *alarm = mem_zalloc(sizeof *alarm);
    int code = uv_timer_init(e->loop, alarm);
    if (code) {
        mem_free(alarm);
        return error_set(err, ERR_IO, "The event loop has no timer: %s.", uv_strerror(code));
    }
    e->alarm = alarm;
    return true;
}

PawlEngine *pawl_engine_open(const char *store, const PawlEngineOptions *options, PawlError *err) {
    Error error = ERROR_INIT;
    PawlEngine *e = mem_zalloc(sizeof *e);
    e->options = options ? *options : (PawlEngineOptions){0};
    bool ok = open_loop(e, &error) && open_alarm(e, &error) &&
              (e->box = mailbox_new(e->loop, e, &error)) && open_host(e, store, &error);
    e->has_store = store != NULL;
    lib_give_error(err, &error);
    if (!ok) {
        pawl_engine_close(e);
        return NULL;
    }
    return e;
}

static void close_loop(PawlEngine *e) {
    if (e->owns_loop) {
        uv_run(e->loop, UV_RUN_DEFAULT);
        uv_loop_close(e->loop);
        mem_free(e->loop);
    }
}

void pawl_engine_close(PawlEngine *e) {
    if (!e) return;
    if (e->inside) {
        fprintf(stderr, "libpawl: pawl_engine_close() was called from inside a function that the "
                        "engine called.\n");
        abort();
    }
    while (e->calls) { /* what was asked for is answered */
        uv_run(e->loop, UV_RUN_ONCE);
    }
    while (e->debuggers) debug_let_go(e->debuggers);
    host_free(e->host);
    PawlRun **const lists[] = {&e->under_way, &e->kept, &e->leaving};
    for (size_t i = 0; i < 3; i++) {
        while (*lists[i]) free_run(*lists[i]);
    }
    if (e->box) mailbox_close(e->box);
    if (e->alarm) uv_close((uv_handle_t *)e->alarm, free_timer);
    close_loop(e);
    free_environment(e->environment);
    mem_free(e->wishes);
    mem_free(e);
}

bool engine_has_store(const PawlEngine *e, PawlError *err) {
    Error error = ERROR_INIT;
    if (!e->has_store) {
        error_set(&error, ERR_USAGE,
                  "This engine has no store, so nothing of its runs is kept: give "
                  "pawl_engine_open() one, such as \"sqlite:runs.db\".");
    }
    return lib_give_error(err, &error);
}

/* ---- running ---- */

static void on_alarm(uv_timer_t *timer) {
    (void)timer; /* it has ended the wait, which is all it is for */
}

static void turn(PawlEngine *e, int timeout_ms) {
    if (timeout_ms == 0) {
        uv_run(e->loop, UV_RUN_NOWAIT);
        uv_run(e->loop, UV_RUN_NOWAIT); /* so that watchers made just now are among the fds */
        return;
    }
    if (timeout_ms > 0) uv_timer_start(e->alarm, on_alarm, (uint64_t)timeout_ms, 0);
    uv_run(e->loop, UV_RUN_ONCE);
    uv_timer_stop(e->alarm);
}

bool pawl_engine_turn(PawlEngine *e, int timeout_ms) {
    bool more = has_more(e);
    turn(e, more ? timeout_ms : 0);
    more = has_more(e);
    engine_sweep(e);
    return more;
}

bool pawl_engine_run(PawlEngine *e, PawlError *err) {
    while (has_more(e) && uv_loop_alive(e->loop)) uv_run(e->loop, UV_RUN_ONCE);
    if (e->leaving) {
        engine_sweep(e);
        uv_run(e->loop, UV_RUN_NOWAIT); /* in which the host frees them */
    }
    return lib_give_error(err, &e->store_error);
}

int pawl_engine_fd(const PawlEngine *e) {
    return uv_backend_fd(e->loop);
}

int pawl_engine_timeout(const PawlEngine *e) {
    int ms = uv_backend_timeout(e->loop);
    return e->under_way && (ms < 0 || ms > LOOK_AGAIN_MS) ? LOOK_AGAIN_MS : ms;
}
