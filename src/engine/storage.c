/* storage.c - two queues, their threads, and what they have done.
 *
 *     loop:      asks: puts a job at the end of a queue, wakes a thread
 *     thread:    takes the first job, works on it, puts it to `finished`, rings
 *     loop:      takes the finished jobs and tells them
 *
 * A batch that is flushed is a job of the writer's like any other (`commit`): so jobs and batches are
 * done in the order in which they were asked for. `writing` is the writer's while that job is under
 * way, `filling` always the loop's. The queues are guarded by `mutex`; a job is the thread's from when
 * it is taken until it is among the finished. */
#include "storage.h"

#include "json_binary.h"
#include "mem.h"
#include "store_chain.h"

#include <assert.h>
#include <string.h>

enum {
    OVERFULL = 32 << 20, /* bytes that wait before the engine is held back, */
    OVERFULL_LARGE =
        512 << 20, /* and of values that the writer encodes: most of them their run has too */
    TELLING_NS = 2000000, /* so long jobs are told in one turn of the loop */
};

/* A checkpoint that the writer encodes, and where in its batch it belongs. */
typedef struct Large {
    size_t at;
    Checkpoint c; /* its texts are owned */
    Json patch, image;
} Large;

typedef struct Larges {
    Large *items;
    size_t n, cap;
    uint64_t size; /* json_size() of them all */
} Larges;

typedef struct Jobs {
    StorageJob *first, *last;
    size_t n;
} Jobs;

/* A thread that reads. store and job are under the mutex: what it does can be ended (store_interrupt()). */
typedef struct ReaderThread {
    Storage *storage;
    uv_thread_t thread;
    Store *store; /* while a job is under way; NULL: none is */
    StorageJob *job;
    bool interrupted;
} ReaderThread;

struct Storage {
    StorageHost host;
    uv_mutex_t mutex;
    uv_cond_t to_write, to_read, ended;
    uv_async_t ring;
    Jobs writes, reads, finished; /* under mutex, like the four that follow */
    int resting;                  /* readers that wait for a job */
    bool quit;
    uv_thread_t writer;
    ReaderThread readers[STORAGE_READERS];
    int nreaders;
    Store *reader;  /* the loop's */
    size_t pending; /* jobs that were not told yet */
    StorageJob commit;
    StoreBatch batches[2], *filling, *writing;
    Larges large[2]; /* of the batches, in order */
    uint64_t number; /* of the batch being filled */
    bool under_way;  /* a batch is committed, or was and has not been told */
    bool failed, closing;
};

static void jobs_add(Jobs *jobs, StorageJob *job) {
    job->prev = jobs->last;
    job->next = NULL;
    *(jobs->last ? &jobs->last->next : &jobs->first) = job;
    jobs->last = job;
    jobs->n++;
}

static void jobs_remove(Jobs *jobs, StorageJob *job) {
    *(job->prev ? &job->prev->next : &jobs->first) = job->next;
    *(job->next ? &job->next->prev : &jobs->last) = job->prev;
    jobs->n--;
}

/* ---- the threads ---- */

/* NULL: the storage closes. The writer does first what it was asked for. */
static StorageJob *take(Storage *s, Jobs *queue, uv_cond_t *more) {
    uv_mutex_lock(&s->mutex);
    while (!queue->first && !s->quit) {
        s->resting += queue == &s->reads;
        uv_cond_wait(more, &s->mutex);
        s->resting -= queue == &s->reads;
    }
    StorageJob *job = s->quit && queue == &s->reads ? NULL : queue->first;
    if (job) jobs_remove(queue, job);
    uv_mutex_unlock(&s->mutex);
    return job;
}

static void finish(Storage *s, StorageJob *job) {
    uv_mutex_lock(&s->mutex);
    job->finished = true;
    jobs_add(&s->finished, job);
    uv_cond_broadcast(&s->ended);
    uv_mutex_unlock(&s->mutex);
    uv_async_send(&s->ring);
}

/* What is left in the job is the loop's: so are its bytes. */
static void work(StorageJob *job, Store *store) {
    size_t before = json_heap_bytes();
    job->work(job, store);
    job->heap = json_heap_bytes() - before;
    json_heap_move(-job->heap);
}

static void write_jobs(void *arg) {
    Storage *s = arg;
    for (StorageJob *job; (job = take(s, &s->writes, &s->to_write));) {
        work(job, s->host.store);
        finish(s, job);
    }
}

/* Says what a reader is at, NULL: nothing; gives whether what it was at was interrupted. */
static bool reader_at(ReaderThread *r, Store *store, StorageJob *job) {
    uv_mutex_lock(&r->storage->mutex);
    bool interrupted = r->interrupted;
    r->store = store;
    r->job = job;
    r->interrupted = false;
    uv_mutex_unlock(&r->storage->mutex);
    return interrupted;
}

/* A handle that could not be opened is tried again for the next job; so is one that was interrupted. */
static void read_jobs(void *arg) {
    ReaderThread *r = arg;
    Storage *s = r->storage;
    Store *store = NULL;
    for (StorageJob *job; (job = take(s, &s->reads, &s->to_read));) {
        store = store ? store : store_reader(s->host.store, &job->err);
        if (store) {
            reader_at(r, store, job);
            work(job, store);
            if (reader_at(r, NULL, NULL)) {
                store_close(store);
                store = NULL;
            }
        }
        finish(s, job);
    }
    store_close(store);
}

/* Ends what the readers do: all of it, or one job. Under the mutex. */
static void interrupt(Storage *s, const StorageJob *only) {
    for (int i = 0; i < s->nreaders; i++) {
        ReaderThread *r = &s->readers[i];
        if (r->store && (!only || r->job == only)) {
            r->interrupted = true;
            store_interrupt(r->store);
        }
    }
}

/* ---- the loop's side: jobs ---- */

static void count_pending(Storage *s, bool more) {
    s->pending += more ? 1 : (size_t)-1;
    if (s->pending == (more ? 1 : 0)) (more ? uv_ref : uv_unref)((uv_handle_t *)&s->ring);
}

static void ask(Storage *s, StorageJob *job, Jobs *queue, uv_cond_t *more) {
    job->storage = s;
    job->finished = false;
    count_pending(s, true);
    uv_mutex_lock(&s->mutex);
    jobs_add(queue, job);
    uv_cond_signal(more);
    uv_mutex_unlock(&s->mutex);
}

/* The job has left the queue of the finished. */
static void tell(Storage *s, StorageJob *job) {
    json_heap_move(job->heap);
    job->heap = 0;
    job->storage = NULL;
    count_pending(s, false);
    job->done(job);
}

static StorageJob *next_finished(Storage *s) {
    uv_mutex_lock(&s->mutex);
    StorageJob *job = s->finished.first;
    if (job) jobs_remove(&s->finished, job);
    uv_mutex_unlock(&s->mutex);
    return job;
}

/* Telling may take long, as it builds runs: other callbacks of the loop get their turn in between. */
static void on_ring(uv_async_t *ring) {
    Storage *s = ring->data;
    uint64_t until = uv_hrtime() + TELLING_NS;
    for (StorageJob *job; !s->closing && (job = next_finished(s));) {
        tell(s, job);
        if (uv_hrtime() > until) {
            uv_async_send(ring);
            return;
        }
    }
}

void storage_write(Storage *s, StorageJob *job) {
    ask(s, job, &s->writes, &s->to_write);
}

/* Threads are made as they are needed: most programs need none. */
void storage_read(Storage *s, StorageJob *job) {
    uv_mutex_lock(&s->mutex);
    size_t waiting = s->reads.n;
    bool more = s->resting < (int)waiting + 1 && s->nreaders < STORAGE_READERS;
    uv_mutex_unlock(&s->mutex);
    ReaderThread *r = more ? &s->readers[s->nreaders] : NULL;
    if (r) r->storage = s;
    if (r && uv_thread_create(&r->thread, read_jobs, r) == 0) s->nreaders++;
    if (!s->nreaders || waiting >= STORAGE_READS) {
        error_set(&job->err, ERR_BUSY, "The store is asked for too much at once; try again.");
        ask(s, job, &s->finished, &s->ended);
        job->finished = true;
        uv_async_send(&s->ring);
        return;
    }
    ask(s, job, &s->reads, &s->to_read);
}

static bool is_in(const Jobs *jobs, const StorageJob *job) {
    const StorageJob *at = jobs->first;
    while (at && at != job) at = at->next;
    return at != NULL;
}

void storage_abandon(StorageJob *job) {
    Storage *s = job->storage;
    job->abandoned = true;
    uv_mutex_lock(&s->mutex);
    Jobs *queue = is_in(&s->reads, job) ? &s->reads : is_in(&s->writes, job) ? &s->writes : NULL;
    if (queue) {
        jobs_remove(queue, job);
        job->finished = true;
        jobs_add(&s->finished, job);
    } else {
        interrupt(s, job);
    }
    uv_mutex_unlock(&s->mutex);
    if (queue) {
        error_set(&job->err, ERR_BUSY, "Nobody waits for this any more.");
        uv_async_send(&s->ring);
    }
}

void storage_finish(StorageJob *job) {
    Storage *s = job->storage;
    uv_mutex_lock(&s->mutex);
    while (!job->finished) uv_cond_wait(&s->ended, &s->mutex);
    jobs_remove(&s->finished, job);
    uv_mutex_unlock(&s->mutex);
    tell(s, job);
}

Store *storage_reader(Storage *s, Error *err) {
    if (!s->reader) s->reader = store_reader(s->host.store, err);
    return s->reader;
}

/* ---- batches ---- */

static Larges *large_of(Storage *s, const StoreBatch *batch) {
    return &s->large[batch - s->batches];
}

void storage_put_large(Storage *s, const Checkpoint *c, Json patch, Json image) {
    Larges *all = large_of(s, s->filling);
    all->items = mem_grow(all->items, all->n, &all->cap, sizeof *all->items);
    Large *l = &all->items[all->n++];
    *l = (Large){s->filling->bytes.len, *c, json_ref(patch), json_ref(image)};
    l->c.node = mem_strdup(c->node);
    l->c.status = mem_strdup(c->status);
    if (c->result) {
        char *result = mem_alloc(c->result_len + 1);
        memcpy(result, c->result, c->result_len);
        l->c.result = result;
    }
    all->size += json_size(patch) + json_size(image);
    s->filling->count++;
}

/* On the loop: the values are its own. */
static void drop_large(Larges *all) {
    for (size_t i = 0; i < all->n; i++) {
        Large *l = &all->items[i];
        mem_free((char *)l->c.node);
        mem_free((char *)l->c.status);
        mem_free((char *)l->c.result);
        json_unref(l->patch);
        json_unref(l->image);
    }
    all->n = 0;
    all->size = 0;
}

/* On the writer's thread: puts the checkpoints that were left out to their places. */
static void encode_large(StoreBatch *batch, const Larges *all) {
    Buf rest = batch->bytes, patch = BUF_INIT, image = BUF_INIT;
    size_t done = 0;
    batch->bytes = (Buf)BUF_INIT;
    for (size_t i = 0; i < all->n; i++) {
        Checkpoint c = all->items[i].c;
        buf_add(&batch->bytes, rest.data + done, all->items[i].at - done);
        done = all->items[i].at;
        buf_reset(&patch);
        json_encode(all->items[i].patch, &patch);
        c.patch = patch.data;
        c.patch_len = patch.len;
        if (!json_is_none(all->items[i].image)) {
            buf_reset(&image);
            json_encode(all->items[i].image, &image);
            c.snapshot = image.data;
            c.snapshot_len = image.len;
        }
        checkpoint_fit(&c);
        batch->count--;
        store_batch_checkpoint(batch, &c);
    }
    buf_add(&batch->bytes, rest.data + done, rest.len - done);
    buf_clear(&rest);
    buf_clear(&patch);
    buf_clear(&image);
}

static void commit_batch(StorageJob *job, Store *store) {
    Storage *s = job->storage;
    const Larges *large = large_of(s, s->writing);
    if (large->n) encode_large(s->writing, large);
    store_commit(store, s->writing, &job->err);
    if (large->n) { /* so much is seldom needed again */
        StoreBatch *b = s->writing;
        buf_clear(&b->bytes);
    }
}

static void on_committed(StorageJob *job) {
    Storage *s = (Storage *)((char *)job - offsetof(Storage, commit));
    Error err = job->err;
    s->under_way = false;
    json_release_slices(true); /* the rest is for the host's next turn */
    drop_large(large_of(s, s->writing));
    json_release_slices(false);
    s->failed = err.code != ERR_NONE;
    if (!s->closing) {
        s->host.committed(s->host.ctx, s->number - 1, s->writing, s->failed ? &err : NULL);
    }
    /* the host may have flushed: then this is the other one */
    if (!s->under_way) store_batch_reset(s->writing);
}

StoreBatch *storage_batch(Storage *s) {
    return s->filling;
}

uint64_t storage_number(const Storage *s) {
    return s->number;
}

bool storage_ready(const Storage *s) {
    return !s->under_way && !s->failed && !s->closing;
}

void storage_flush(Storage *s) {
    if (!storage_ready(s) || !s->filling->count) return;
    StoreBatch *full = s->filling;
    s->filling = s->writing;
    s->writing = full;
    store_batch_reset(s->filling);
    s->number++;
    s->under_way = true;
    error_clear(&s->commit.err);
    storage_write(s, &s->commit);
}

void storage_wait(Storage *s) {
    if (s->under_way) storage_finish(&s->commit);
}

bool storage_overfull(const Storage *s) {
    return s->filling->bytes.len > OVERFULL ||
           s->large[s->filling - s->batches].size > OVERFULL_LARGE;
}

/* ---- life ---- */

static void on_closed(uv_handle_t *handle) {
    Storage *s = handle->data;
    uv_cond_destroy(&s->to_write);
    uv_cond_destroy(&s->to_read);
    uv_cond_destroy(&s->ended);
    uv_mutex_destroy(&s->mutex);
    for (int i = 0; i < 2; i++) {
        store_batch_clear(&s->batches[i]);
        drop_large(&s->large[i]);
        mem_free(s->large[i].items);
    }
    mem_free(s);
}

Storage *storage_new(const StorageHost *host, Error *err) {
    Storage *s = mem_zalloc(sizeof *s);
    s->host = *host;
    s->filling = &s->batches[0];
    s->writing = &s->batches[1];
    s->filling->before = s->writing;
    s->writing->before = s->filling;
    s->commit = (StorageJob){.work = commit_batch, .done = on_committed};
    s->number = 1;
    uv_mutex_init(&s->mutex);
    uv_cond_init(&s->to_write);
    uv_cond_init(&s->to_read);
    uv_cond_init(&s->ended);
    uv_async_init(host->loop, &s->ring, on_ring);
    s->ring.data = s;
    uv_unref((uv_handle_t *)&s->ring);
    int e = uv_thread_create(&s->writer, write_jobs, s);
    if (e) {
        error_set(err, ERR_IO, "The thread that writes to the store cannot be started: %s.",
                  uv_strerror(e));
        uv_close((uv_handle_t *)&s->ring, on_closed);
        return NULL;
    }
    return s;
}

void storage_close(Storage *s) {
    s->closing = true;
    uv_mutex_lock(&s->mutex);
    s->quit = true;
    interrupt(s, NULL);
    uv_cond_broadcast(&s->to_write);
    uv_cond_broadcast(&s->to_read);
    uv_mutex_unlock(&s->mutex);
    uv_thread_join(&s->writer);
    for (int i = 0; i < s->nreaders; i++) uv_thread_join(&s->readers[i].thread);
    while (s->reads.first) storage_abandon(s->reads.first);
    for (StorageJob *job; (job = next_finished(s));) {
        job->abandoned = true;
        tell(s, job);
    }
    assert(!s->pending && !s->writes.first);
    store_close(s->reader);
    uv_close((uv_handle_t *)&s->ring, on_closed);
}
