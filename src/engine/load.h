/* load.h - runs from the store: an image becomes frames. */
#ifndef PAWL_LOAD_H
#define PAWL_LOAD_H

#include "frame.h"

/* The run that a request has loaded, with its lease; nothing in it is scheduled. NULL with q->job.err
 * set. */
Run *request_build(Request *q);
/* The current batch makes the run, which is told as ready once that is committed, or discarded. key: of
 * its definition; NULL: that of its flow. Its thread is q->new_thread. */
void request_make(Request *q, Run *run, const char *workflow, const char *key);
/* The first checkpoint of a thread that is made from another: all of the image that was loaded. */
void batch_copied_image(Request *q, int64_t run, int64_t step, ChainWeight *weight);
/* Drives a request to its end, waiting for the disk, and runs no loop. The run that it was told. */
Run *request_now(Request *q, const Now *now);
/* Whether all functions that its nodes call are in this program. */
bool run_has_functions(const Run *run, Error *err);
bool run_is_forked(const Run *run); /* it was loaded from elsewhere than its head */
/* The same run as it was at another checkpoint (rewind_read()); what it was doing is ended. Nothing in it is scheduled.
 * After an error it is as it was, though what it was doing may have been ended. */
bool load_again(Run *run, Json there, Error *err);

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

#endif
