/* host_work.c - computing that takes longer than a turn of the loop, in pieces.
 *
 * One work after the other goes on, in the order in which they came: what is under way holds values, so they would hold those of
 * all of them at once. The idle handle is active while there is one, which keeps the loop from sleeping. */
#include "host_inside.h"

#include "mem.h"

enum { PIECE_NS = 2000000, WORKS_MAX = 8 };

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static HostWork *take_first(Host *h) {
    HostWork *work = h->works;
    h->works = work->next;
    h->nworks--;
    if (!h->works && h->worker) uv_idle_stop(h->worker);
    return work;
}

static void on_turn(uv_idle_t *worker) {
    Host *h = worker->data;
    if (h->works->go_on(h->works, uv_hrtime() + PIECE_NS)) {
        HostWork *work = take_first(h);
        work->done(work, NULL);
    }
}

void host_work(Host *h, HostWork *work) {
    Error err = ERROR_INIT;
    if (work->go_on(work, uv_hrtime() + PIECE_NS)) {
        work->done(work, NULL);
        return;
    }
    if (h->nworks == WORKS_MAX || h->ending) {
        error_set(&err, ERR_LIMIT, "%d evaluations that take long are under way; try again later.",
                  WORKS_MAX);
        error_fact(&err, "limited", "evaluations");
        work->done(work, &err);
        return;
    }
    if (!h->worker) {
        h->worker = mem_zalloc(sizeof *h->worker);
        uv_idle_init(h->options.loop, h->worker);
        h->worker->data = h;
    }
    HostWork **last = &h->works;
    while (*last) last = &(*last)->next;
    *last = work;
    work->next = NULL;
    h->nworks++;
    uv_idle_start(h->worker, on_turn);
}

void host_works_end(Host *h) {
    Error err = ERROR_INIT;
    error_set(&err, ERR_BUSY, "The host has ended.");
    while (h->works) {
        HostWork *work = take_first(h);
        work->done(work, &err);
    }
    if (h->worker) uv_close((uv_handle_t *)h->worker, free_handle);
    h->worker = NULL;
}
