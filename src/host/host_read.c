/* host_read.c - reading the store on other threads.
 *
 * A job takes a handle that reads from the shelf, or opens one, on its own thread; the answer that it makes
 * belongs to no thread until the loop has it. What was recorded before the job was asked for is made durable
 * first. A store in memory has one handle, and is read on the loop. */
#include "host_inside.h"

#include "json_binary.h"
#include "mem.h"

#include <string.h>

enum { HANDLES = 4 };

struct Readers {
    uv_mutex_t mutex;
    Store *handles[HANDLES];
    size_t n;
    size_t jobs; /* under way */
};

typedef struct Job {
    uv_work_t work;
    Host *host;
    HostReader read;
    Json args, answer;
    Error err;
    HostAnswer done;
    void *ctx;
} Job;

static Readers *readers_of(Host *h) {
    if (!h->readers) {
        h->readers = mem_zalloc(sizeof *h->readers);
        uv_mutex_init(&h->readers->mutex);
    }
    return h->readers;
}

void readers_free(Readers *readers) {
    if (readers) {
        for (size_t i = 0; i < readers->n; i++) {
            store_close(readers->handles[i]);
        }
        uv_mutex_destroy(&readers->mutex);
        mem_free(readers);
    }
}

static Store *take_handle(Job *j) {
    Readers *r = j->host->readers;
    uv_mutex_lock(&r->mutex);
    Store *store = r->n ? r->handles[--r->n] : NULL;
    uv_mutex_unlock(&r->mutex);
    return store ? store : store_open(j->host->url, STORE_READ, &j->err);
}

static void put_handle(Job *j, Store *store) {
    Readers *r = j->host->readers;
    uv_mutex_lock(&r->mutex);
    if (store && r->n < HANDLES) {
        r->handles[r->n++] = store;
        store = NULL;
    }
    uv_mutex_unlock(&r->mutex);
    store_close(store);
}

static void on_thread(uv_work_t *work) {
    Job *j = work->data;
    Store *store = take_handle(j);
    if (store) {
        j->answer = j->read(store, j->args, &j->err);
        put_handle(j, store);
    }
}

static void finish(Job *j) {
    bool ok = !json_is_none(j->answer);
    json_unref(j->args);
    j->done(j->ctx, j->answer, ok ? NULL : &j->err);
    mem_free(j);
}

static void on_done(uv_work_t *work, int status) {
    Job *j = work->data;
    (void)status;
    j->host->readers->jobs--;
    finish(j);
}

static void on_durable(void *ctx, const Error *err) {
    Job *j = ctx;
    Host *h = j->host;
    if (err) {
        j->err = *err;
        finish(j);
        return;
    }
    if (!strncmp(h->url, "memory:", strlen("memory:"))) {
        Store *store = h->engine ? host_reader(h, &j->err) : host_store(h, HOST_CREATES, &j->err);
        j->answer = store ? j->read(store, j->args, &j->err) : json_none();
        finish(j);
        return;
    }
    readers_of(h)->jobs++;
    j->work.data = j;
    uv_queue_work(h->options.loop, &j->work, on_thread, on_done);
}

void host_read(Host *h, HostReader read, Json args, HostAnswer done, void *ctx) {
    Job *j = mem_zalloc(sizeof *j);
    Buf bytes = BUF_INIT;
    json_encode(args, &bytes); /* a copy that no other thread has a part of */
    json_unref(args);
    args = json_decode(bytes.data, bytes.len, &(size_t){0}, NULL);
    buf_clear(&bytes);
    *j = (Job){.host = h, .read = read, .args = args, .done = done, .ctx = ctx};
    host_when_durable(h, on_durable, j);
}
