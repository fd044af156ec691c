/* journal.c - two batches and a thread.
 *
 *     loop:    fills `filling`; flush: when the thread is idle, swaps it with `writing`, wakes it
 *     thread:  commits `writing` under the store's lock, says so through uv_async
 *     loop:    tells the host, which flushes again when more has come meanwhile
 *
 * `busy` is the hand-over: only the loop sets it, only the thread clears it, both under `mutex`;
 * `writing` belongs to the thread while it is set. */
#include "journal.h"

#include "mem.h"

enum { OVERFULL = 32 << 20 }; /* bytes that wait before the engine is held back */

struct Journal {
    JournalHost host;
    uv_thread_t thread;
    uv_mutex_t mutex, store_lock;
    uv_cond_t wake, idle;
    uv_async_t done;
    StoreBatch batches[2], *filling, *writing;
    uint64_t number; /* of the batch being filled */
    bool busy, quit; /* under mutex */
    bool under_way;  /* the loop's view of busy: until it has told the host */
    bool failed, closing;
    Error err;
};

/* ---- the thread ---- */

static bool wait_for_batch(Journal *j) {
    uv_mutex_lock(&j->mutex);
    while (!j->busy && !j->quit) {
        uv_cond_wait(&j->wake, &j->mutex);
    }
    bool go = j->busy;
    uv_mutex_unlock(&j->mutex);
    return go;
}

static void work(void *arg) {
    Journal *j = arg;
    while (wait_for_batch(j)) {
        Error err = ERROR_INIT;
        journal_lock(j);
        store_commit(j->host.store, j->writing, &err);
        journal_unlock(j);
        uv_mutex_lock(&j->mutex);
        j->err = err;
        j->busy = false;
        uv_cond_signal(&j->idle);
        uv_mutex_unlock(&j->mutex);
        uv_async_send(&j->done);
    }
}

/* ---- the loop's side ---- */

static void on_closed(uv_handle_t *handle) {
    Journal *j = handle->data;
    uv_cond_destroy(&j->wake);
    uv_cond_destroy(&j->idle);
    uv_mutex_destroy(&j->mutex);
    uv_mutex_destroy(&j->store_lock);
    store_batch_clear(&j->batches[0]);
    store_batch_clear(&j->batches[1]);
    mem_free(j);
}

static void on_done(uv_async_t *handle) {
    Journal *j = handle->data;
    uv_mutex_lock(&j->mutex);
    bool finished = j->under_way && !j->busy;
    Error err = j->err;
    uv_mutex_unlock(&j->mutex);
    if (!finished || j->closing) {
        return;
    }
    j->under_way = false;
    j->failed = err.code != ERR_NONE;
    store_batch_reset(j->writing);
    uv_unref((uv_handle_t *)&j->done);
    j->host.committed(j->host.ctx, j->number - 1, j->failed ? &err : NULL);
}

Journal *journal_new(const JournalHost *host, Error *err) {
    Journal *j = mem_zalloc(sizeof *j);
    j->host = *host;
    j->filling = &j->batches[0];
    j->writing = &j->batches[1];
    j->number = 1;
    uv_mutex_init(&j->mutex);
    uv_mutex_init(&j->store_lock);
    uv_cond_init(&j->wake);
    uv_cond_init(&j->idle);
    uv_async_init(host->loop, &j->done, on_done);
    j->done.data = j;
    uv_unref((uv_handle_t *)&j->done);
    int e = uv_thread_create(&j->thread, work, j);
    if (e) {
        error_set(err, ERR_IO, "The thread that writes to the store cannot be started: %s.",
                  uv_strerror(e));
        uv_close((uv_handle_t *)&j->done, on_closed);
        return NULL;
    }
    return j;
}

void journal_close(Journal *j) {
    j->closing = true;
    uv_mutex_lock(&j->mutex);
    j->quit = true;
    uv_cond_signal(&j->wake);
    uv_mutex_unlock(&j->mutex);
    uv_thread_join(&j->thread);
    uv_close((uv_handle_t *)&j->done, on_closed);
}

StoreBatch *journal_batch(Journal *j) {
    return j->filling;
}

uint64_t journal_number(const Journal *j) {
    return j->number;
}

void journal_flush(Journal *j) {
    if (!journal_ready(j) || !j->filling->count) {
        return;
    }
    StoreBatch *full = j->filling;
    j->filling = j->writing;
    j->number++;
    j->under_way = true;
    uv_ref((uv_handle_t *)&j->done);
    uv_mutex_lock(&j->mutex);
    j->writing = full;
    j->busy = true;
    uv_cond_signal(&j->wake);
    uv_mutex_unlock(&j->mutex);
}

static void wait_until_idle(Journal *j) {
    uv_mutex_lock(&j->mutex);
    while (j->busy) {
        uv_cond_wait(&j->idle, &j->mutex);
    }
    uv_mutex_unlock(&j->mutex);
}

bool journal_sync(Journal *j) {
    while (!j->failed && (j->under_way || j->filling->count)) {
        journal_flush(j);
        wait_until_idle(j);
        on_done(&j->done);
    }
    return !j->failed;
}

bool journal_ready(const Journal *j) {
    return !j->under_way && !j->failed && !j->closing;
}

bool journal_overfull(const Journal *j, size_t records) {
    return j->filling->bytes.len > OVERFULL || j->filling->count > records;
}

void journal_lock(Journal *j) {
    uv_mutex_lock(&j->store_lock);
}

bool journal_trylock(Journal *j) {
    return uv_mutex_trylock(&j->store_lock) == 0;
}

void journal_unlock(Journal *j) {
    uv_mutex_unlock(&j->store_lock);
}
