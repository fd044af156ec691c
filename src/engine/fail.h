/* fail.h - errors of nodes, and time that is up. */
#ifndef PAWL_FAIL_H
#define PAWL_FAIL_H

#include "frame.h"

typedef enum FailAt {
    FAIL_NODE,  /* the node that the frame stands at */
    FAIL_AFTER, /* the node was done: what comes after it failed, and it has no say */
    FAIL_JOIN,  /* the same, and its branches are still to be joined */
    FAIL_LEVEL, /* the graph as a whole: none of its nodes has a say */
    FAIL_GIVES, /* it is forgiven: the node gives back something else */
} FailAt;

/* Something failed in a frame; consumes error. The frame may be gone afterwards. */
void frame_fail(Frame *f, Json error, FailAt at);
void frame_fail_with(Frame *f, const char *kind, const Error *err);
void frame_fail_late(Frame *f); /* of the node that it stands at: its time is over */
/* What the node contained has failed, which whoever watches has seen: the node fails with it. Borrows error. */
void fail_inside(Frame *f, Json error);
/* Whether somebody outwards of the node at a level makes something of its failure. */
bool fail_is_caught(Frame *f, uint32_t level, Json error);
/* An error that is none: the node goes on with the result, once whoever watches has seen it. Consumes
 * both. */
void frame_forgive(Frame *f, Json error, Json result);
/* Nobody takes it: the frame has failed where it stands, and with it the run. after: its node was done;
 * before: what it waits for again when it is tried again, or null; consumed. */
void frame_fail_here(Frame *f, Json error, bool after, Json before);
void run_fail(Run *run, Frame *f, const Node *node, Json error); /* its frames stay as they are */
void run_halt(Run *run);                     /* ends all work; settles when it has ended */
void frame_failing(Frame *f);                /* its wait says with what: nobody stops it any more */
void frame_unwind(Frame *f, uint32_t level); /* ends all that runs above a level of a frame */
/* Their time is up: callbacks of timers. */
void fail_frame_late(uv_timer_t *timer);
void fail_run_late(uv_timer_t *timer);
void frame_timer_fired(Frame *f);

#endif
