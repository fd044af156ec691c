/* lifecycle.h - which changes of status there are, as tables.
 *
 * A change that is not a row is refused: the caller says what it wanted, and nothing changes.
 */
#ifndef PAWL_LIFECYCLE_H
#define PAWL_LIFECYCLE_H

#include <stdbool.h>

typedef enum RunStatus {
    RUN_RUNNING,
    RUN_INTERRUPTED, /* waits for a person */
    RUN_PAUSED,      /* a debugger stopped it */
    RUN_STOPPED,     /* was let go of in the middle; goes on where it was */
    RUN_COMPLETED,
    RUN_FAILED,
    RUN_CANCELLED,
} RunStatus;

typedef enum RunChange {
    RUN_WAITS,
    RUN_PAUSES,
    RUN_STOPS,
    RUN_COMPLETES,
    RUN_FAILS,
    RUN_IS_CANCELLED,
    RUN_RESUMES,
    RUN_IS_MOVED, /* put elsewhere by hand (update --as-node, a fork from an earlier checkpoint) */
} RunChange;

typedef enum FrameStatus {
    FRAME_READY,    /* can take a step */
    FRAME_STARTING, /* its work begins once the record is durable */
    FRAME_WORKING,  /* work outside is under way */
    FRAME_TIMED,    /* sleeps, or waits for its next attempt */
    FRAME_WAITING,  /* for a person */
    FRAME_HOLDING,  /* for its branches */
    FRAME_PARKED,   /* by a debugger */
    FRAME_FAILED,   /* and so did the run */
    FRAME_DONE,
    FRAME_STATUS_COUNT,
} FrameStatus;

extern const char *const run_status_names[];
extern const char *const frame_status_names[];

/* Changes *status by the table; false, and no change, when there is no such row. */
bool run_status_change(RunStatus *status, RunChange change);
bool frame_status_change(FrameStatus *status, FrameStatus to);

/* -1 when it is none of the names. */
int run_status_find(const char *name);

#endif
