/* schedule.h - when a frame goes on: its status follows from what it waits for. */
#ifndef PAWL_SCHEDULE_H
#define PAWL_SCHEDULE_H

#include "frame.h"

void frame_set_status(Frame *f, FrameStatus status);
void frame_schedule(Frame *f); /* status, queue and timer follow from wait */
void run_settle_if_done(Run *run);
void engine_drop_start(Engine *e, Frame *f); /* its work is not to begin after all */
void run_stop_timers(Run *run);
void frame_unqueue(Frame *f);
/* Before the others that are ready: it has begun already, and what it holds is let go of when it has ended. */
void frame_queue_first(Frame *f);
void frame_start_when_durable(Frame *f);
void frame_remove(Frame *f); /* takes it out of the run; freed with the next record */

void frame_set_timer(Frame *f);
void start_clock(Frame *f, int64_t timeout_ms);
void run_set_deadline(Run *run); /* its timer follows from run->deadline */
void run_renew_clocks(Run *run); /* what had no time left has it all again */

/* Writes a checkpoint (record.h), and then the frame goes on as its wait says, unless it has ended. */
void frame_record(Frame *f, const Node *node, const char *status, Json update);
void frame_record_result(Frame *f, const Node *node, const char *status, StepResult result);

#endif
