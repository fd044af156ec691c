/* host_job.c - work on the store, on other threads.
 *
 * What was recorded before a job was asked for is made durable first, unless it needs no store; then a thread of
 * libuv's does it. A job
 * that reads takes a handle from the shelf, or opens one; a job that writes opens one of its own, so that it
 * keeps nobody from committing for longer than a transaction of its takes. A store in memory has no second
 * handle that writes: there the engine's writer does it, or the loop when there is no engine.
 *
 * Of reads that compute for long few are under way at a time: they would take all of the threads.
 *
 * The ticket is libuv's until the loop has seen the job's end; the job is its owner's from done() on. When the
 * host goes, jobs that were not begun are taken back, those that read are interrupted, the others are waited for,
 * and the tickets are left to the loop. */
#include "host_inside.h"

#include "json_binary.h"
#include "json_print.h"
#include "mem.h"
#include "storage.h"

#include <string.h>

enum { HANDLES = 4 };

typedef struct Ticket {
    StorageJob storage; /* where the engine's writer does it */
    uv_work_t work;
    Host *host; /* NULL: the host is gone, and the job was told */
    HostJob *job;
    struct Ticket *prev, *next;
    Store *source;  /* in memory: what to open a handle of */
    size_t heap;    /* bytes of what the job has made */
    bool finished;  /* under the mutex */
    Store *reading; /* under the mutex: the handle, while the job only reads; NULL: none */
} Ticket;

struct Readers {
    uv_mutex_t mutex;
    uv_cond_t ended;
    Store *handles[HANDLES];
    size_t n;
    Ticket *first; /* under way; the loop's */
};

/* ---- on a thread ---- */

static Store *take_handle(Ticket *t) {
    static const StoreMode modes[] = {STORE_READ, STORE_EXISTING, STORE_CREATE};
    Readers *r = t->host->readers;
    Store *store = NULL;
    if (t->job->need == HOST_READS) {
        uv_mutex_lock(&r->mutex);
        store = r->n ? r->handles[--r->n] : NULL;
        uv_mutex_unlock(&r->mutex);
    }
    return store       ? store
           : t->source ? store_reader(t->source, &t->job->err)
                       : store_open(t->host->url, modes[t->job->need], &t->job->err);
}

static void put_handle(Ticket *t, Store *store) {
    Readers *r = t->host->readers;
    uv_mutex_lock(&r->mutex);
    if (t->job->need == HOST_READS && r->n < HANDLES) {
        r->handles[r->n++] = store;
        store = NULL;
    }
    uv_mutex_unlock(&r->mutex);
    store_close(store);
}

static void set_reading(Ticket *t, Store *store) {
    Readers *r = t->host->readers;
    uv_mutex_lock(&r->mutex);
    t->reading = store;
    uv_mutex_unlock(&r->mutex);
}

/* What is left in the job is the loop's: so are its bytes. */
static void on_thread(uv_work_t *work) {
    Ticket *t = work->data;
    Readers *r = t->host->readers;
    size_t before = json_heap_bytes();
    Store *store = t->job->need == HOST_NO_STORE ? NULL : take_handle(t);
    set_reading(t, t->job->need == HOST_READS ? store : NULL);
    if (store || t->job->need == HOST_NO_STORE) t->job->work(t->job, store);
    set_reading(t, NULL);
    if (store) put_handle(t, store);
    t->heap = json_heap_bytes() - before;
    json_heap_move(-t->heap);
    uv_mutex_lock(&r->mutex);
    t->finished = true;
    uv_cond_broadcast(&r->ended);
    uv_mutex_unlock(&r->mutex);
}

/* ---- on the loop ---- */

static void tell(Ticket *t) {
    Readers *r = t->host->readers;
    *(t->prev ? &t->prev->next : &r->first) = t->next;
    if (t->next) t->next->prev = t->prev;
    t->host = NULL;
    json_heap_move(t->heap);
    t->job->done(t->job);
}

static void on_done(uv_work_t *work, int status) {
    Ticket *t = work->data;
    (void)status;
    if (t->host) tell(t);
    mem_free(t);
}

static void on_written(StorageJob *job) {
    Ticket *t = (Ticket *)job;
    if (t->job->err.code == ERR_NONE) t->job->err = job->err;
    tell(t);
    mem_free(t);
}

static void write_it(StorageJob *job, Store *store) {
    Ticket *t = (Ticket *)job;
    t->job->work(t->job, store);
}

static Readers *readers_of(Host *h) {
    if (!h->readers) {
        h->readers = mem_zalloc(sizeof *h->readers);
        uv_mutex_init(&h->readers->mutex);
        uv_cond_init(&h->readers->ended);
    }
    return h->readers;
}

static void on_durable(void *ctx, const Error *err) {
    Ticket *t = ctx;
    Host *h = t->host;
    HostJob *job = t->job;
    bool memory = (!h->url || !store_url_is_durable(h->url)) && job->need != HOST_NO_STORE;
    bool writes = memory && job->need != HOST_READS;
    /* A store that cannot be written any more can still be read: what is in it is what there is. */
    if (err && err->code == ERR_IO && job->need == HOST_READS && !memory) err = NULL;
    t->source = memory && !err ? host_store(h, HOST_CREATES, &job->err) : NULL;
    if (err || (memory && !t->source)) {
        job->err = err ? *err : job->err;
        tell(t);
        mem_free(t);
    } else if (writes && h->engine) {
        t->storage = (StorageJob){.work = write_it, .done = on_written};
        storage_write(engine_storage(h->engine), &t->storage);
    } else if (writes) {
        job->work(job, t->source);
        tell(t);
        mem_free(t);
    } else {
        t->work.data = t;
        uv_queue_work(h->options.loop, &t->work, on_thread, on_done);
    }
}

void host_ask(Host *h, HostJob *job) {
    Readers *r = readers_of(h);
    Error ending = ERROR_INIT;
    Ticket *t = mem_zalloc(sizeof *t);
    *t = (Ticket){.host = h, .job = job, .next = r->first};
    if (r->first) r->first->prev = t;
    r->first = t;
    if (h->ending) {
        error_set(&ending, ERR_BUSY, "The host has ended.");
        on_durable(t, &ending);
    } else if (job->need == HOST_NO_STORE) {
        on_durable(t, NULL);
    } else if (job->thread && job->need == HOST_READS && !host_expects(h, job->thread)) {
        /* Of a run that is not held here nothing is left to be written. */
        const HostRun *run = host_find(h, job->thread);
        if (run) {
            run_when_durable(host_run(run), on_durable, t);
        } else {
            on_durable(t, NULL);
        }
    } else {
        host_when_durable(h, on_durable, t);
    }
}

static void end_slow_reads(Host *h);

size_t host_jobs(const Host *h) {
    size_t n = 0;
    for (const Ticket *t = h->readers ? h->readers->first : NULL; t; t = t->next) n++;
    return n;
}

void host_jobs_end(Host *h) {
    Readers *r = h->readers;
    end_slow_reads(h);
    while (r && r->first) {
        Ticket *t = r->first;
        bool begun = uv_cancel((uv_req_t *)&t->work) != 0;
        if (!begun) error_set(&t->job->err, ERR_BUSY, "The host has ended.");
        uv_mutex_lock(&r->mutex);
        if (t->reading) store_interrupt(t->reading);
        while (begun && !t->finished) uv_cond_wait(&r->ended, &r->mutex);
        uv_mutex_unlock(&r->mutex);
        tell(t);
    }
    for (size_t i = 0; r && i < r->n; i++) store_close(r->handles[i]);
    if (r) {
        uv_cond_destroy(&r->ended);
        uv_mutex_destroy(&r->mutex);
        mem_free(r);
        h->readers = NULL;
    }
}

/* ---- questions ---- */

typedef struct Read {
    HostJob job;
    HostRead how;
    Buf args; /* encoded: no thread has a part of what another has */
    Json answer;
    Buf text;
    Host *host; /* NULL: it is not counted among those that are slow and under way */
    struct Read *next;
} Read;

enum { SLOW_READS = 2, SLOW_WAITING = 64 };

static void read_answer(HostJob *job, Store *store) {
    Read *r = (Read *)job;
    Json args = json_decode(r->args.data, r->args.len, &(size_t){0}, &job->err);
    r->answer = json_is_none(args) ? args : r->how.read(store, args, &job->err);
    json_unref(args);
    if (r->how.text && !json_is_none(r->answer)) {
        json_print(r->answer, &(JsonPrintOptions){0}, &r->text);
        json_clear(&r->answer);
    }
}

static void ask_slow(Host *h, Read *r) {
    h->nslow++;
    r->host = h;
    host_ask(h, &r->job);
}

static Read *take_slow_read(Host *h) {
    Read *r = h->slow_reads;
    h->slow_reads = r->next;
    h->nslow_reads--;
    return r;
}

static void give_answer(HostJob *job) {
    Read *r = (Read *)job;
    Host *h = r->host;
    if (h) h->nslow--;
    if (h && h->slow_reads && !h->ending) ask_slow(h, take_slow_read(h));
    if (r->text.len) {
        r->how.text(r->how.ctx, &r->text);
    } else {
        bool ok = !json_is_none(r->answer);
        r->how.done(r->how.ctx, r->answer, ok ? NULL : &job->err);
    }
    buf_clear(&r->text);
    buf_clear(&r->args);
    mem_free(r);
}

void host_read_for(Host *h, const HostRead *how, Json args) {
    Read *r = mem_zalloc(sizeof *r);
    *r = (Read){
        .job = {.need = how->need, .thread = how->thread, .work = read_answer, .done = give_answer},
        .how = *how,
        .answer = json_none()};
    json_encode(args, &r->args);
    json_unref(args);
    if (!how->slow) {
        host_ask(h, &r->job);
    } else if (h->nslow < SLOW_READS) {
        ask_slow(h, r);
    } else if (h->nslow_reads < SLOW_WAITING && !h->ending) {
        Read **last = &h->slow_reads;
        while (*last) last = &(*last)->next;
        *last = r;
        h->nslow_reads++;
    } else {
        error_set(&r->job.err, ERR_LIMIT,
                  "%d questions about the past that take long wait already; try again later.",
                  SLOW_WAITING);
        error_fact(&r->job.err, "limited", "evaluations");
        give_answer(&r->job);
    }
}

static void end_slow_reads(Host *h) {
    while (h->slow_reads) {
        Read *r = take_slow_read(h);
        error_set(&r->job.err, ERR_BUSY, "The host has ended.");
        give_answer(&r->job);
    }
}

void host_read(Host *h, HostReader read, Json args, HostAnswer done, void *ctx) {
    host_read_for(h, &(HostRead){.read = read, .done = done, .ctx = ctx}, args);
}
