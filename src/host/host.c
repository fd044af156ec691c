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
    while (h->first) {
        host_run_free(h->first);
    }
    while (h->all) {
        subscription_end(h->all);
    }
    engine_free(h->engine);
    readers_free(h->readers);
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
    HostRun *r = run_owner(event->run);
    (void)ctx;
    if (r) {
        subscription_event(r, event);
    }
}

Engine *host_engine(Host *h, HostNeed need, Error *err) {
    if (h->engine) {
        return h->engine;
    }
    Store *store = host_store(h, need, err);
    if (store && store_is_durable(store)) {
        host_store_folder(h, NULL);
    }
    EngineOptions options = {.loop = h->options.loop,
                             .store = store,
                             .folder = h->folder,
                             .environment = h->options.environment,
                             .work = exec_work,
                             .on_event = on_event,
                             .ctx = h,
                             .want_updates = true};
    h->engine = store ? engine_new(&options, err) : NULL;
    return h->engine;
}

void host_when_durable(Host *h, void (*done)(void *ctx, const Error *err), void *ctx) {
    if (h->engine) {
        engine_when_durable(h->engine, done, ctx);
    } else {
        done(ctx, NULL);
    }
}

Store *host_reader(Host *h, Error *err) {
    return h->engine ? engine_reader(h->engine, err) : host_store(h, HOST_READS, err);
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

static void enter_table(Host *h, HostRun *r) {
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
    *(r->prev ? &r->prev->next : &h->first) = r->next;
    *(r->next ? &r->next->prev : &h->last) = r->prev;
    h->nruns--;
}

HostRun *host_adopt(Host *h, Run *run) {
    HostRun *r = host_run_new(h, run);
    subscription_listen(r);
    return r;
}

/* A run that has just come into memory becomes a held one, or goes again when its session cannot be made. */
static void take(Host *h, Run *run, const HostDebug *debug, Recording *recording, HostReady ready,
                 void *ctx, Error *err) {
    HostRun *r = run ? host_run_new(h, run) : NULL;
    if (!r) {
        recording_free(recording);
        ready(ctx, NULL, err);
        return;
    }
    r->recording = recording;
    if (!host_run_begin(r, debug, err)) {
        run_stop(run);
        host_run_free(r);
        ready(ctx, NULL, err);
        return;
    }
    ready(ctx, r, NULL);
    subscription_listen(r);
    host_run_hold(r); /* a session holds the run, but maybe no window has come */
}

void host_start(Host *h, const HostStart *start, HostReady ready, void *ctx) {
    Error err = ERROR_INIT;
    Engine *engine = host_engine(h, HOST_CREATES, &err);
    Run *run = engine ? engine_start_now(engine, start->flow, &start->run, &err) : NULL;
    take(h, run, &start->debug, start->recording, ready, ctx, &err);
}

void host_resume(Host *h, const RunResume *resume, HostReady ready, void *ctx) {
    Error err = ERROR_INIT;
    Engine *engine = host_engine(h, HOST_WRITES, &err);
    Run *run = engine ? engine_resume_now(engine, resume, &err) : NULL;
    take(h, run, &(HostDebug){0}, NULL, ready, ctx, &err);
}

void host_open(Host *h, const char *thread, const HostDebug *debug, HostReady ready, void *ctx) {
    Error err = ERROR_INIT;
    HostRun *held = host_find(h, thread);
    if (held) {
        ready(ctx, held, NULL);
        return;
    }
    Engine *engine = host_engine(h, HOST_WRITES, &err);
    Json info = OBJECT(KEY("reason", "user_pause"), KEY("breakpoints", json_array()),
                       KEY("at", engine ? engine_time(engine) : INT64_C(0)));
    Run *run = engine ? engine_open_now(engine, thread, json_ref(info), &err) : NULL;
    json_unref(info);
    take(h, run, debug, NULL, ready, ctx, &err);
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
    h->sweeping = false;
    for (HostRun *r = h->first, *next; r; r = next) {
        next = r->next;
        if (host_run_is_done(r)) {
            host_run_free(r);
        }
    }
}

void host_sweep_soon(Host *h) {
    if (!h->sweeping) {
        h->sweeping = true;
        uv_idle_start(h->sweep, on_sweep);
    }
}
