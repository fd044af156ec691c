/* load.h - runs from the store: an image becomes frames. */
#ifndef PAWL_LOAD_H
#define PAWL_LOAD_H

#include "frame.h"

typedef struct Loading {
    const char *thread;
    int64_t seq; /* 0: the head */
    Flow *reload;
} Loading;
/* A run from the store, with its lease; nothing in it is scheduled. NULL on error. */
Run *load_run(Engine *e, const Loading *loading, Error *err);
bool run_is_forked(const Run *run); /* it was loaded from elsewhere than its head */
/* The same run as it was at another checkpoint; what it was doing is ended. Nothing in it is scheduled.
 * After an error it is as it was, though what it was doing may have been ended. */
bool load_again(Run *run, int64_t seq, Error *err);

/* ---- resume.c ---- */

void run_schedule_all(Run *run);
void run_fork_line(Run *run); /* work that is to be done gets other places */
void run_tell_start(Run *run, bool resumed);

/* ---- the rows' own (wait.h) ---- */

bool fit_work(Frame *f, Error *err);
bool fit_sleep(Frame *f, Error *err);
bool fit_interrupt(Frame *f, Error *err);
bool fit_map(Frame *f, Error *err);
bool fit_tasks(Frame *f, Error *err);
bool fit_join(Frame *f, Error *err);
bool fit_pause(Frame *f, Error *err);

#endif
