#include "errand.h"

#include "buf.h"
#include "folders.h"
#include "mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

struct Errands {
    uv_loop_t *loop;
    Errand *first, *last; /* the first is under way */
    bool left, telling;
};

Errands *errands_new(uv_loop_t *loop) {
    Errands *errands = mem_zalloc(sizeof *errands);
    errands->loop = loop;
    return errands;
}

void errands_leave(Errands *errands, bool abandon) {
    if (!errands) return;
    Errand *waiting = errands->first ? errands->first->next : NULL; /* the first has a thread */
    errands->left = true;
    for (Errand *e = waiting; abandon && e; e = e->next) e->abandoned = true;
    if (!errands->first && !errands->telling) mem_free(errands);
}

/* ---- one by one ---- */

static void begin_first(Errands *errands);

static void on_thread(uv_work_t *job) {
    Errand *errand = job->data;
    if (!errand->abandoned) errand->work(errand);
}

static void on_done(uv_work_t *job, int status) {
    Errand *errand = job->data;
    Errands *errands = errand->errands;
    (void)status; /* nobody cancels one */
    errands->first = errand->next;
    if (!errands->first) errands->last = NULL;
    begin_first(errands);
    errands->telling = true;
    if (errand->done) {
        errand->done(errand);
    } else {
        mem_free(errand);
    }
    errands->telling = false;
    if (errands->left && !errands->first) mem_free(errands);
}

static void begin_first(Errands *errands) {
    Errand *errand = errands->first;
    if (!errand) return;
    errand->job.data = errand;
    uv_queue_work(errands->loop, &errand->job, on_thread,
                  on_done); /* fails for want of a function alone */
}

void errands_add(Errands *errands, Errand *errand) {
    errand->errands = errands;
    errand->next = NULL;
    errand->abandoned = false;
    if (errands->last) {
        errands->last->next = errand;
        errands->last = errand;
    } else {
        errands->first = errands->last = errand;
        begin_first(errands);
    }
}

/* ---- folders ---- */

typedef struct Discard {
    Errand errand; /* first */
    char *path;
} Discard;

static void remove_it(Errand *errand) {
    folder_remove(((Discard *)errand)->path);
}

static void on_removed(Errand *errand) {
    mem_free(((Discard *)errand)->path);
    mem_free(errand);
}

bool errands_discard(Errands *errands, const char *path, const char *as) {
    Buf away = BUF_INIT;
    buf_printf(&away, "%s.gone-%ld-%" PRIx64, as, (long)getpid(), uv_hrtime());
    if (rename(path, away.data) != 0) {
        buf_clear(&away);
        return false;
    }
    Discard *discard = mem_zalloc(sizeof *discard);
    discard->errand = (Errand){.work = remove_it, .done = on_removed};
    discard->path = buf_detach(&away);
    errands_add(errands, &discard->errand);
    return true;
}
