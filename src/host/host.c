#include "host_inside.h"

#include "exec.h"
#include "json_build.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text) {
    return text ? mem_strndup(text, strlen(text)) : NULL;
}

Host *host_new(const HostOptions *options) {
    Host *h = mem_zalloc(sizeof *h);
    h->options = *options;
    h->url = copy(options->store);
    h->folder = copy(options->folder);
    h->sweep = mem_zalloc(sizeof *h->sweep);
    uv_idle_init(options->loop, h->sweep);
    h->sweep->data = h;
    return h;
}

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

void host_free(Host *h) {
    if (!h) {
        return;
    }
    h->ending = true;
    while (h->first) {
        host_run_free(h->first);
    }
    while (h->all) {
        subscription_end(h->all);
    }
    engine_free(h->engine);
    h->engine = NULL;
    host_jobs_end(h);
    store_close(h->store);
    uv_close((uv_handle_t *)h->sweep, free_handle);
    mem_free(h->by_name);
    mem_free(h->by_number);
    mem_free(h->work_folder);
    mem_free(h->url);
    mem_free(h->folder);
    mem_free(h);
}

uv_loop_t *host_loop(const Host *h) {
    return h->options.loop;
}

void *host_ctx(const Host *h) {
    return h->options.ctx;
}

const char *host_folder(const Host *h) {
    return h->folder;
}

/* ---- the store and the engine ---- */

const char *host_store_url(const Host *h) {
    return h->store ? store_url(h->store) : h->url;
}

Store *host_store(Host *h, HostNeed need, Error *err) {
    static const StoreMode modes[] = {STORE_EXISTING, STORE_EXISTING, STORE_CREATE};
    if (h->store && (h->opened >= need || h->engine)) {
        return h->store;
    }
    if (!h->url) {
        error_set(err, ERR_USAGE, "There is no store, so nothing of any run is kept.");
        return NULL;
    }
    Error why = ERROR_INIT;
    Store *store = store_open(h->url, modes[need], &why);
    if (!store && need == HOST_READS) { /* to look, it need not be writable */
        store = store_open(h->url, STORE_READ, &why);
    }
    if (!store) {
        if (err) {
            *err = why;
        }
        return NULL;
    }
    store_close(h->store);
    h->store = store;
    h->opened = need;
    return store;
}

const char *host_store_folder(Host *h, Error *err) {
    if (!h->work_folder && h->store) { /* before the engine has the store for itself */
        h->work_folder = copy(store_folder(h->store, err));
    }
    return h->work_folder;
}

static void on_event(void *ctx, const Event *event) {
    Host *h = ctx;
    HostRun *r = run_owner(event->run);
    if (r && h->options.on_event) {
        h->options.on_event(h->options.ctx, r, event);
    }
    if (r) {
        subscription_event(r, event);
    }
}

Engine *host_engine(Host *h, HostNeed need, Error *err) {
    if (h->ending) {
        error_set(err, ERR_BUSY, "The host has ended.");
        return NULL;
    }
    if (h->engine) {
        return h->engine;
    }
    Store *store = h->url ? host_store(h, need, err) : NULL;
    if (store && store_is_durable(store)) {
        host_store_folder(h, NULL);
    }
    EngineOptions options = {.loop = h->options.loop,
                             .store = store,
                             .folder = h->folder,
                             .environment = h->options.environment,
                             .work = h->options.work ? h->options.work : exec_work,
                             .budget = h->options.budget,
                             .max_state = h->options.max_state,
                             .on_event = on_event,
                             .ctx = h,
                             .want_updates = true};
    h->engine = store || !h->url ? engine_new(&options, err) : NULL;
    return h->engine;
}

void host_when_durable(Host *h, void (*done)(void *ctx, const Error *err), void *ctx) {
    if (h->engine) {
        engine_when_durable(h->engine, done, ctx);
    } else {
        done(ctx, NULL);
    }
}

/* ---- runs ---- */

/* Held runs are found by their names and by their numbers: a chain for each. */
static size_t slot_of(const Host *h, uint64_t hash) {
    return (size_t)(hash * 0x9E3779B97F4A7C15u >> 32) & (h->slots - 1);
}

static uint64_t name_hash(const char *name) {
    uint64_t hash = 5381;
    for (; *name; name++) {
        hash = hash * 33 + (unsigned char)*name;
    }
    return hash;
}

/* Without a store runs have no numbers and no names of their own: nobody looks for them. */
static void enter_table(Host *h, HostRun *r) {
    if (!h->url) {
        return;
    }

    size_t name = slot_of(h, name_hash(run_thread(r->run)));
    size_t number = slot_of(h, (uint64_t)run_number(r->run));
    r->same_name = h->by_name[name];
    h->by_name[name] = r;
    r->same_number = h->by_number[number];
    h->by_number[number] = r;
}

static void grow_table(Host *h) {
    h->slots = h->slots ? 2 * h->slots : 64;
    mem_free(h->by_name);
    mem_free(h->by_number);
    h->by_name = mem_zalloc(h->slots * sizeof(HostRun *));
    h->by_number = mem_zalloc(h->slots * sizeof(HostRun *));
    for (HostRun *r = h->first; r; r = r->next) {
        enter_table(h, r);
    }
}

HostRun *host_run_new(Host *h, Run *run) {
    HostRun *r = mem_zalloc(sizeof *r);
    *r = (HostRun){.host = h, .run = run, .prev = h->last, .told_settled = run_settled(run)};
    *(h->last ? &h->last->next : &h->first) = r;
    h->last = r;
    run_set_owner(run, r);
    if (++h->nruns > h->slots) {
        grow_table(h);
    } else {
        enter_table(h, r);
    }
    return r;
}

void host_forget(HostRun *r) {
    Host *h = r->host;
    if (h->url) {
        HostRun **name = &h->by_name[slot_of(h, name_hash(run_thread(r->run)))];
        HostRun **number = &h->by_number[slot_of(h, (uint64_t)run_number(r->run))];
        while (*name != r) {
            name = &(*name)->same_name;
        }
        while (*number != r) {
            number = &(*number)->same_number;
        }
        *name = r->same_name;
        *number = r->same_number;
    }
    *(r->prev ? &r->prev->next : &h->first) = r->next;
    *(r->next ? &r->next->prev : &h->last) = r->prev;
    for (HostRun **at = &h->to_sweep; r->to_sweep && *at; at = &(*at)->next_swept) {
        if (*at == r) {
            *at = r->next_swept;
            break;
        }
    }
    h->nruns--;
}

HostRun *host_adopt(Host *h, Run *run) {
    HostRun *r = host_run_new(h, run);
    subscription_listen(r);
    return r;
}

/* A run on its way into memory: the engine has been asked for it. */
struct Coming {
    Coming *next;
    Host *host;
    char *thread; /* as it was asked for; NULL: it gets a name */
    HostDebug debug;
    Recording *recording;
    HostReady ready;
    void *ctx;
    Awaiting *awaiting, **last;
};

/* Who wants something of it that has to wait until then. */
struct Awaiting {
    Awaiting *next;
    void (*then)(void *ctx);
    void *ctx;
};

static Coming *coming_new(Host *h, const char *thread, HostReady ready, void *ctx) {
    Coming *c = mem_zalloc(sizeof *c);
    *c = (Coming){.next = h->coming, .host = h, .thread = copy(thread), .ready = ready, .ctx = ctx};
    c->last = &c->awaiting;
    h->coming = c;
    return c;
}

static Coming *find_coming(const Host *h, const char *thread) {
    Coming *c = h->coming;
    while (c && (!c->thread || strcmp(c->thread, thread) != 0)) {
        c = c->next;
    }
    return c;
}

bool host_await(Host *h, const char *thread, void (*then)(void *ctx), void *ctx) {
    Coming *c = find_coming(h, thread);
    if (c) {
        Awaiting *w = mem_alloc(sizeof *w);
        *w = (Awaiting){.then = then, .ctx = ctx};
        *c->last = w;
        c->last = &w->next;
    }
    return c != NULL;
}

/* It becomes a held run, or goes again when its session cannot be made. */
static HostRun *take(Coming *c, Run *run, Error *err) {
    HostRun *r = host_run_new(c->host, run);
    r->recording = c->recording;
    c->recording = NULL;
    if (host_run_begin(r, &c->debug, err)) {
        return r;
    }
    run_stop(run);
    host_run_free(r);
    return NULL;
}

/* What the engine made of it. */
static void on_come(void *ctx, Run *run, const Error *failed) {
    Coming *c = ctx, **at = &c->host->coming;
    Error err = failed ? *failed : (Error)ERROR_INIT;
    while (*at != c) {
        at = &(*at)->next;
    }
    *at = c->next;
    HostRun *r = run ? take(c, run, &err) : NULL;
    c->ready(c->ctx, r, r ? NULL : &err);
    if (r) {
        subscription_listen(r);
        host_run_hold(r); /* a session holds the run, but maybe no window has come */
    }
    for (Awaiting *w = c->awaiting, *next; w; w = next) {
        next = w->next;
        w->then(w->ctx);
        mem_free(w);
    }
    recording_free(c->recording);
    json_unref(c->debug.breakpoints);
    mem_free(c->thread);
    mem_free(c);
}

/* Who debugs it, and what was recorded, is there before its first step. */
void host_start(Host *h, const HostStart *start, HostReady ready, void *ctx) {
    Error err = ERROR_INIT;
    RunStart run = start->run;
    Engine *engine = host_engine(h, HOST_CREATES, &err);
    Coming *c = coming_new(h, run.thread, ready, ctx);
    c->recording = start->recording;
    c->debug = start->debug;
    json_ref(c->debug.breakpoints);
    run.held = start->debug.wanted || start->recording;
    if (engine) {
        engine_start(engine, start->flow, &run, on_come, c);
    } else {
        on_come(c, NULL, &err);
    }
}

void host_resume(Host *h, const RunResume *resume, HostReady ready, void *ctx) {
    Error err = ERROR_INIT;
    Engine *engine = host_engine(h, HOST_WRITES, &err);
    Coming *c = coming_new(h, resume->thread, ready, ctx);
    if (engine) {
        engine_resume(engine, resume, on_come, c);
    } else {
        on_come(c, NULL, &err);
    }
}

void host_open(Host *h, const char *thread, const HostDebug *debug, HostReady ready, void *ctx) {
    Error err = ERROR_INIT;
    HostRun *held = host_find(h, thread);
    if (held && (!run_settled(held->run) || host_has_window(held))) {
        ready(ctx, held, NULL);
        return;
    }
    Engine *engine = host_engine(h, HOST_WRITES, &err);
    Coming *c = coming_new(h, thread, ready, ctx);
    c->debug = *debug;
    json_ref(c->debug.breakpoints);
    if (engine) {
        engine_open(engine, thread,
                    OBJECT(KEY("reason", "user_pause"), KEY("breakpoints", json_array()),
                           KEY("at", engine_time(engine))),
                    on_come, c);
    } else {
        on_come(c, NULL, &err);
    }
}

HostRun *host_find(const Host *h, const char *thread) {
    char *end;
    HostRun *r = h->slots ? h->by_name[slot_of(h, name_hash(thread))] : NULL;
    while (r && strcmp(run_thread(r->run), thread) != 0) {
        r = r->same_name;
    }
    long long number = r || !h->slots ? 0 : strtoll(thread, &end, 10);
    if (number > 0 && !*end) {
        r = h->by_number[slot_of(h, (uint64_t)number)];
        while (r && run_number(r->run) != number) {
            r = r->same_number;
        }
    }
    return r;
}

HostRun *host_next(const Host *h, const HostRun *after) {
    return after ? after->next : h->first;
}

void host_abandon(HostRun *r) {
    host_run_free(r);
}

void host_keep(HostRun *r, void *keeper) {
    r->keeper = keeper;
    if (!keeper) {
        host_sweep_soon(r);
    }
}

void *host_keeper(const HostRun *r) {
    return r->keeper;
}

Run *host_run(const HostRun *r) {
    return r->run;
}

Host *host_of(const HostRun *r) {
    return r->host;
}

const Recording *host_recording(const HostRun *r) {
    return r->recording;
}

/* ---- what is to be freed ---- */

static void on_sweep(uv_idle_t *idle) {
    Host *h = idle->data;
    uv_idle_stop(idle);
    while (h->to_sweep) {
        HostRun *r = h->to_sweep;
        h->to_sweep = r->next_swept;
        r->to_sweep = false;
        if (host_run_is_done(r)) {
            host_run_free(r);
        }
    }
}

void host_sweep_soon(HostRun *r) {
    Host *h = r->host;
    if (!r->to_sweep) {
        r->to_sweep = true;
        r->next_swept = h->to_sweep;
        h->to_sweep = r;
        uv_idle_start(h->sweep, on_sweep);
    }
}
