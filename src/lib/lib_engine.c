/* lib_engine.c - an engine with its store and its loop, and the table of its runs. */
#define _GNU_SOURCE /* environ */
#include "lib_inside.h"

#include "exec.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    FIRST_BUCKETS = 64,
    LOOKS = 8,           /* runs looked at each time one comes, in search of those to free */
    LOOK_AGAIN_MS = 100, /* a watcher that a callback has just made is seen in the turn after it */
};

/* ---- the table of runs ---- */

static size_t bucket_of(const PawlEngine *e, const Run *run) {
    uint64_t bits = (uint64_t)(uintptr_t)run * 0x9E3779B97F4A7C15u;
    return (size_t)(bits >> 32) & (e->buckets - 1);
}

static void enter(PawlEngine *e, PawlRun *r) {
    PawlRun **bucket = &e->table[bucket_of(e, r->run)];
    r->same = *bucket;
    *bucket = r;
}

static void grow_table(PawlEngine *e) {
    PawlRun **old = e->table;
    size_t n = e->buckets;
    e->buckets = n ? 2 * n : FIRST_BUCKETS;
    e->table = mem_zalloc(e->buckets * sizeof *e->table);
    for (size_t i = 0; i < n; i++) {
        for (PawlRun *r = old[i], *next; r; r = next) {
            next = r->same;
            enter(e, r);
        }
    }
    mem_free(old);
}

PawlRun *engine_find_run(PawlEngine *e, const Run *run) {
    if (e->recent && e->recent->run == run) {
        return e->recent;
    }
    PawlRun *r = e->buckets ? e->table[bucket_of(e, run)] : NULL;
    while (r && r->run != run) {
        r = r->same;
    }
    return e->recent = r;
}

static void leave(PawlEngine *e, PawlRun *r) {
    PawlRun **at = &e->table[bucket_of(e, r->run)];
    while (*at != r) {
        at = &(*at)->same;
    }
    *at = r->same;
    e->recent = e->recent == r ? NULL : e->recent;
    e->nruns--;
}

/* ---- the lists of runs ---- */

static void list_add(RunList *list, PawlRun *r) {
    r->list = list;
    r->next = NULL;
    r->prev = list->last;
    *(r->prev ? &r->prev->next : &list->first) = r;
    list->last = r;
}

static void list_remove(PawlRun *r) {
    *(r->prev ? &r->prev->next : &r->list->first) = r->next;
    *(r->next ? &r->next->prev : &r->list->last) = r->prev;
}

static void list_move(PawlRun *r, RunList *to) {
    list_remove(r);
    list_add(to, r);
}

PawlRun *engine_add_run(PawlEngine *e, Run *run, PawlFlow *flow, void *data) {
    PawlRun *r = mem_zalloc(sizeof *r);
    *r = (PawlRun){.engine = e, .run = run, .flow = flow_hold(flow), .data = data};
    if (e->nruns >= e->buckets) {
        grow_table(e);
    }
    list_add(&e->under_way, r);
    e->nruns++;
    enter(e, r);
    return r;
}

/* Freeing what is under way calls functions of the program, which may have a last wish. */
static void free_run(PawlRun *r) {
    PawlEngine *e = r->engine;
    r->freed = true;
    debug_run_gone(r);
    leave(e, r);
    list_remove(r);
    run_free(r->run);
    pawl_flow_free(r->flow);
    json_unref(r->store_error);
    if (r->wish) {
        e->wishes[r->wish - 1] = NULL;
        engine_count_token(e, false);
    }
    mem_free(r);
}

/* It has settled, and nobody has it. */
static void dismiss(PawlRun *r) {
    if (r->engine->inside) {
        list_move(r, &r->engine->leaving);
    } else {
        free_run(r);
    }
}

/* False when it goes on. */
static bool move_if_settled(PawlRun *r) {
    PawlEngine *e = r->engine;
    if (!run_settled(r->run)) {
        return false;
    }
    if (run_store_error(r->run) && e->store_error.code == ERR_NONE) {
        e->store_error = *run_store_error(r->run);
    }
    if (r->freed && !r->debug) {
        dismiss(r);
    } else {
        list_move(r, &e->kept);
    }
    return true;
}

/* Those that go on are behind the others then, so that all have their turn. */
static void look_at(PawlEngine *e, size_t n) {
    for (; n && e->under_way.first; n--) {
        if (!move_if_settled(e->under_way.first)) {
            list_move(e->under_way.first, &e->under_way);
        }
    }
}

void engine_sweep(PawlEngine *e) {
    look_at(e, LOOKS);
    while (e->leaving.first && !e->inside) {
        free_run(e->leaving.first);
    }
}

void engine_goes_on(PawlRun *r) {
    if (r->list == &r->engine->kept && !run_settled(r->run)) {
        list_move(r, &r->engine->under_way);
    }
}

void engine_left_by_debugger(PawlRun *r) {
    if (r->freed && !r->debug && r->list == &r->engine->kept) {
        dismiss(r);
    }
}

void engine_let_go(PawlRun *r) {
    PawlEngine *e = r->engine;
    if (r->freed) {
        return;
    }
    r->freed = true;
    if (r->list == &e->kept) {
        engine_left_by_debugger(r);
    } else {
        move_if_settled(r);
    }
    engine_sweep(e);
}

/* A run that goes on stays the first one, so each is passed over once. */
static bool unsettled(PawlEngine *e) {
    while (e->under_way.first && move_if_settled(e->under_way.first)) {}
    return e->under_way.first != NULL;
}

/* Whether some run goes on without its debugger. */
static bool some_go_on(PawlEngine *e) {
    PawlRun *r = e->under_way.first;
    while (r) {
        if (move_if_settled(r)) {
            r = e->under_way.first; /* it may be gone, and others with it */
        } else if (debug_rests(r)) {
            r = r->next;
        } else {
            return true;
        }
    }
    return false;
}

/* Whether there is anything to run the loop for. */
static bool has_more(PawlEngine *e) {
    bool more = unsettled(e);
    return e->debuggers ? debug_has_events(e) || some_go_on(e) : more;
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
        if (e->wishes[i]) {
            grant(e->wishes[i]);
        }
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

static void on_event(void *ctx, const Event *event) {
    _Static_assert((int)PAWL_EVENT_SETTLED == (int)EVENT_SETTLED, "events have the same numbers");
    PawlEngine *e = ctx;
    bool debugs = event->type > EVENT_SETTLED; /* those come through the debug session */
    PawlRun *run = debugs ? NULL : engine_find_run(e, event->run);
    if (run) {
        PawlEvent out = event_of(event, run);
        e->inside++;
        e->listening++;
        e->options.on_event(e->options.ctx, &out);
        e->listening--;
        e->inside--;
    }
}

/* ---- life ---- */

static bool open_loop(PawlEngine *e, Error *err) {
    e->loop = e->options.loop;
    if (e->loop) {
        return true;
    }
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

static bool open_store(PawlEngine *e, const char *url, Error *err) {
    e->store = url ? store_open(url, STORE_CREATE, err) : NULL;
    return e->store || !url;
}

/* A copy: the program may change its own at any time, and from any thread. */
static char **copy_environment(void) {
    size_t n = 0;
    while (environ[n]) n++;
    char **copy = mem_zalloc((n + 1) * sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        copy[i] = mem_strndup(environ[i], strlen(environ[i]));
    }
    return copy;
}

static void free_environment(char **environment) {
    for (size_t i = 0; environment && environment[i]; i++) {
        mem_free(environment[i]);
    }
    mem_free(environment);
}

static bool open_engine(PawlEngine *e, Error *err) {
    const PawlLimits *limits = &e->options.limits;
    memcpy(e->work, exec_work, sizeof e->work);
    e->work[KIND_CALLBACK] = &lib_call_now;
    e->work[KIND_CALLBACK_LATER] = &lib_call_later;
    EngineOptions options = {
        .loop = e->loop,
        .store = e->store,
        .work = e->work,
        .on_event = e->options.on_event ? on_event : NULL,
        .ctx = e,
        .want_updates = e->options.on_event != NULL,
        .max_state = e->options.max_state,
        .environment = e->environment = copy_environment(),
        .budget = {.steps = limits->steps, .memory = limits->memory, .depth = limits->depth},
    };
    return (e->engine = engine_new(&options, err)) != NULL;
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
              (e->box = mailbox_new(e->loop, e, &error)) && open_store(e, store, &error) &&
              open_engine(e, &error);
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

static PawlRun *any_run(const PawlEngine *e) {
    return e->under_way.first ? e->under_way.first
           : e->kept.first    ? e->kept.first
                              : e->leaving.first;
}

void pawl_engine_close(PawlEngine *e) {
    if (!e) {
        return;
    }
    if (e->inside) {
        fprintf(stderr, "libpawl: pawl_engine_close() was called from inside a function that the "
                        "engine called.\n");
        abort();
    }
    for (PawlRun *r; (r = any_run(e));) {
        free_run(r);
    }
    engine_free(e->engine);
    if (e->box) {
        mailbox_close(e->box);
    }
    if (e->alarm) {
        uv_close((uv_handle_t *)e->alarm, free_timer);
    }
    close_loop(e);
    store_close(e->store);
    free_environment(e->environment);
    mem_free(e->table);
    mem_free(e->wishes);
    mem_free(e);
}

bool engine_has_store(const PawlEngine *e, PawlError *err) {
    Error error = ERROR_INIT;
    if (!e->store) {
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
    if (timeout_ms > 0) {
        uv_timer_start(e->alarm, on_alarm, (uint64_t)timeout_ms, 0);
    }
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
    while (has_more(e) && uv_loop_alive(e->loop)) {
        uv_run(e->loop, UV_RUN_ONCE);
    }
    engine_sweep(e);
    return lib_give_error(err, &e->store_error);
}

int pawl_engine_fd(const PawlEngine *e) {
    return uv_backend_fd(e->loop);
}

int pawl_engine_timeout(const PawlEngine *e) {
    int ms = uv_backend_timeout(e->loop);
    return unsettled((PawlEngine *)e) && (ms < 0 || ms > LOOK_AGAIN_MS) ? LOOK_AGAIN_MS : ms;
}
