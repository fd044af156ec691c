#include "requests.h"

#include "image.h"
#include "json_binary.h"
#include "mem.h"
#include "run.h"

#include <stdio.h>
#include <unistd.h>

/* ---- waiting for batches ---- */

Waiter *waiters_add(Waiters *list, uint64_t batch, void (*fn)(void *ctx, const Error *err),
                    void *ctx) {
    Waiter *w = mem_alloc(sizeof *w);
    *w = (Waiter){NULL, list, batch, fn, ctx};
    list->end = list->first ? list->end : &list->first;
    *list->end = w;
    list->end = &w->next;
    return w;
}

void waiter_tell(Waiter *w, const Error *err) {
    Waiter **at = &w->list->first;
    while (*at != w) at = &(*at)->next;
    *at = w->next;
    w->list->end = w->list->end == &w->next ? at : w->list->end;
    w->fn(w->ctx, err);
    mem_free(w);
}

/* Whoever is told may ask for more, which goes behind. */
void waiters_tell(Waiters *list, uint64_t durable, const Error *err) {
    while (list->first && (err || list->first->batch <= durable)) waiter_tell(list->first, err);
}

/* ---- reading ---- */

bool loaded_read(Store *store, Loaded *l, bool definition, Error *err) {
    Checkpoint c;
    if (!l->seq) {
        error_set(err, ERR_ENDED,
                  "Thread `%s` never began: its process died before the first checkpoint.",
                  l->row.thread);
        error_fact(err, "thread", l->row.thread);
        return error_fact_int(err, "checkpoints", 0);
    }
    if (!store_checkpoint(store, l->row.run, l->seq, &c, err)) return false;
    l->step = c.step;
    l->at = c.at;
    l->image = image_load(store, &l->row, l->seq, &l->weight, err);
    if (json_is_none(l->image)) return false;
    if (definition) {
        Json key = json_array_get(json_array_get(l->image, IMAGE_RUN), IMAGE_DEFINITION);
        bool own = json_kind(key) == JSON_STRING;
        l->definition =
            store_definition(store, own ? json_string_data(&key) : l->row.definition, err);
    }
    return !definition || !json_is_none(l->definition);
}

/* ---- life ---- */

Request *request_new(Engine *e, const char *thread, int64_t seq) {
    Request *q = mem_zalloc(sizeof *q);
    q->engine = e;
    q->thread = mem_strdup(thread);
    q->seq = seq;
    q->info = q->resume.value = q->resume.set = q->update.set = json_none();
    q->loaded = (Loaded){.image = json_none(), .definition = json_none()};
    return q;
}

Request *request_for(Request *q, RunReady ready, RunChanged changed, void *ctx) {
    q->ready = ready;
    q->changed = changed;
    q->ctx = ctx;
    return q;
}

static void request_free(Request *q) {
    run_row_clear(&q->loaded.row);
    json_unref(q->loaded.image);
    json_unref(q->loaded.definition);
    run_row_clear(&q->made);
    flow_unref(q->reload);
    buf_clear(&q->reload_text);
    json_unref(q->info);
    json_unref(q->input);
    json_unref(q->config);
    json_unref(q->resume.value);
    json_unref(q->resume.set);
    json_unref(q->update.set);
    mem_free((char *)q->resume.interrupt);
    mem_free((char *)q->resume.decision);
    mem_free((char *)q->update.as_node);
    mem_free(q->reload_key);
    mem_free(q->node);
    mem_free(q->thread);
    mem_free(q->new_thread);
    mem_free(q->by);
    mem_free(q);
}

void request_tell(Request *q, Run *run, const RunRow *row) {
    const Error *err = q->job.err.code == ERR_NONE ? NULL : &q->job.err;
    if (q->ready) {
        q->ready(q->ctx, err ? NULL : run, err);
    } else {
        q->changed(q->ctx, err ? NULL : row, err);
    }
    request_free(q);
}

void request_fail(Request *q) {
    if (q->leased) request_release(q->engine, q->loaded.row.run);
    request_tell(q, NULL, NULL);
}

/* ---- steps that are jobs ---- */

static void next_step(StorageJob *job) {
    Request *q = (Request *)job;
    if (job->abandoned) { /* the engine goes, and the store is ours again */
        error_set(&job->err, ERR_BUSY, "The engine has ended.");
        if (q->leased) store_release(q->engine->options.store, q->loaded.row.run);
        request_tell(q, NULL, NULL);
        return;
    }
    q->then(q);
}

/* The end of a node's execution: what led to it is wanted. */
static bool find_step(Request *q, Store *store, Error *err) {
    Checkpoint c;
    if (!store_checkpoint(store, q->loaded.row.run, q->seq, &c, err)) return false;
    q->frame = c.frame;
    q->node = mem_strdup(c.node);
    q->loaded.seq = c.parent;
    return (c.parent && c.node[0]) ||
           error_set(err, ERR_USAGE, "Checkpoint %lld is not the end of a node's execution.",
                     (long long)q->seq);
}

/* The row is read again once the lease is ours: the process that had it may just have gone on. */
static void read_run(StorageJob *job, Store *store) {
    Request *q = (Request *)job;
    Loaded *l = &q->loaded;
    run_row_clear(&l->row);
    if (!store_find(store, q->thread, &l->row, &job->err)) return;
    l->seq = q->seq ? q->seq : l->row.head;
    if (!q->replays || find_step(q, store, &job->err)) {
        loaded_read(store, l, !q->reload && !q->no_definition, &job->err);
    }
}

static void lease_run(StorageJob *job, Store *store) {
    Request *q = (Request *)job;
    RunRow *row = &q->loaded.row;
    if (!store_find(store, q->thread, row, &job->err)) return;
    if (store_holds(store, row->run)) {
        char holder[32];
        snprintf(holder, sizeof holder, "pid %d", (int)getpid());
        error_set(&job->err, ERR_BUSY, "Thread `%s` is being run by %s.", row->thread, holder);
        error_fact(&job->err, "thread", row->thread);
        error_fact(&job->err, "holder", holder);
        return;
    }
    q->leased = store_lease(store, row->run, &job->err);
    if (q->leased && q->reload) {
        q->reload_key = store_define_encoded(store, &q->reload_text, &job->err);
    }
}

/* False when there is nothing to ask; then that is told. */
static bool may_ask(Request *q, RequestStep then) {
    Engine *e = q->engine;
    if (!e->storage) {
        error_set(&q->job.err, ERR_USAGE, "There is no store, so there are no runs to go on with.");
    }
    if (e->storage && engine_may_begin(e, &q->job.err)) return true;
    request_later(q, then);
    return false;
}

static void ask_reader(Request *q) {
    q->job.work = read_run;
    q->job.done = next_step;
    storage_read(q->engine->storage, &q->job);
}

static void on_leased(StorageJob *job) {
    if (job->err.code != ERR_NONE || job->abandoned) {
        next_step(job);
    } else {
        ask_reader((Request *)job);
    }
}

void request_load(Request *q, RequestStep then) {
    if (!may_ask(q, then)) return;
    if (q->reload) {
        Json definition = flow_definition(q->reload);
        json_encode(definition, &q->reload_text);
        json_unref(definition);
    }
    q->then = then;
    q->job.work = lease_run;
    q->job.done = on_leased;
    storage_write(q->engine->storage, &q->job);
}

void request_read(Request *q, RequestStep then) {
    if (may_ask(q, then)) {
        q->then = then;
        ask_reader(q);
    }
}

/* ---- steps that wait for a batch ---- */

static void on_durable(void *ctx, const Error *err) {
    Request *q = ctx;
    q->waiter = NULL;
    if (err && q->job.err.code == ERR_NONE) q->job.err = *err;
    q->then(q);
}

void request_create(Request *q, StoreCreate *c, RequestStep then) {
    Engine *e = q->engine;
    c->stand_in = --e->stand_in;
    store_batch_create(storage_batch(e->storage), c);
    *(e->making ? &e->making_last->makes : &e->making) = q;
    e->making_last = q;
    q->then = then;
    q->waiter = waiters_add(&e->makers, storage_number(e->storage), on_durable, q);
    engine_set_idle(e, true);
}

void request_durable(Request *q, RequestStep then) {
    Engine *e = q->engine;
    q->then = then;
    q->waiter = waiters_add(&e->waiters, engine_unsaved_batch(e), on_durable, q);
    engine_set_idle(e, true);
}

void request_later(Request *q, RequestStep then) {
    q->then = then;
    if (q->engine->storage) {
        q->waiter = waiters_add(&q->engine->makers, 0, on_durable, q);
        engine_set_idle(q->engine, true);
    } else {
        then(q);
    }
}

/* A run that is made has its number from now on. */
static void take_row(Request *q, RunRow row) {
    Run *run = q->run;
    Engine *e = q->engine;
    if (!run) {
        q->made = row;
        return;
    }
    run_row_clear(&run->row);
    run->row = row;
    run->leased = !run->release_batch;
    if (e->defined != run->flow) {
        flow_unref(e->defined);
        mem_free(e->defined_key);
        e->defined = flow_ref(run->flow);
        e->defined_key = mem_strdup(row.definition);
    }
}

void requests_made(Engine *e, StoreBatch *batch, const Error *err) {
    for (size_t i = 0; err ? e->making != NULL : i < batch->nmade; i++) {
        Request *q = e->making;
        RunRow row;
        e->making = q->makes;
        if (err) {
            q->job.err = *err;
        } else if (store_batch_made(e->options.store, batch, i, &row, &q->job.err)) {
            take_row(q, row);
        }
    }
}

/* ---- leases ---- */

typedef struct Release {
    StorageJob job;
    int64_t run;
} Release;

static void release(StorageJob *job, Store *store) {
    store_release(store, ((Release *)job)->run);
}

static void released(StorageJob *job) {
    mem_free(job);
}

void request_release(Engine *e, int64_t run) {
    if (!e->storage) { /* the engine goes, and the store is ours again */
        store_release(e->options.store, run);
        return;
    }
    Release *r = mem_zalloc(sizeof *r);
    r->job.work = release;
    r->job.done = released;
    r->run = run;
    storage_write(e->storage, &r->job);
}

/* ---- at once ---- */

static void now_told(Now *now, const Error *err) {
    now->told = true;
    now->failed = err != NULL;
    if (err && now->err) *now->err = *err;
}

void now_ready(void *ctx, Run *run, const Error *err) {
    Now *now = ctx;
    now->run = run;
    now_told(now, err);
}

void now_changed(void *ctx, const RunRow *row, const Error *err) {
    Now *now = ctx;
    if (row) run_row_copy(&now->row, row);
    now_told(now, err);
}
