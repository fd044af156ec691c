#include "lifecycle.h"

#include <stddef.h>
#include <string.h>

const char *const run_status_names[] = {
    [RUN_RUNNING] = "running",     [RUN_INTERRUPTED] = "interrupted", [RUN_PAUSED] = "paused",
    [RUN_STOPPED] = "stopped",     [RUN_COMPLETED] = "completed",     [RUN_FAILED] = "failed",
    [RUN_CANCELLED] = "cancelled",
};

const char *const frame_status_names[] = {
    [FRAME_READY] = "ready",    [FRAME_STARTING] = "starting", [FRAME_WORKING] = "working",
    [FRAME_TIMED] = "sleeping", [FRAME_WAITING] = "waiting",   [FRAME_HOLDING] = "joining",
    [FRAME_PARKED] = "paused",  [FRAME_FAILED] = "failed",     [FRAME_DONE] = "done",
};

typedef struct RunRule {
    RunStatus from;
    RunChange change;
    RunStatus to;
} RunRule;

static const RunRule run_rules[] = {
    {RUN_RUNNING, RUN_WAITS, RUN_INTERRUPTED},
    {RUN_RUNNING, RUN_PAUSES, RUN_PAUSED},
    {RUN_RUNNING, RUN_STOPS, RUN_STOPPED},
    {RUN_RUNNING, RUN_COMPLETES, RUN_COMPLETED},
    {RUN_RUNNING, RUN_FAILS, RUN_FAILED},
    {RUN_RUNNING, RUN_IS_CANCELLED, RUN_CANCELLED},
    {RUN_RUNNING, RUN_RESUMES, RUN_RUNNING}, /* its process died */
    {RUN_RUNNING, RUN_IS_MOVED, RUN_STOPPED},
    {RUN_INTERRUPTED, RUN_RESUMES, RUN_RUNNING},
    {RUN_INTERRUPTED, RUN_IS_CANCELLED, RUN_CANCELLED},
    {RUN_INTERRUPTED, RUN_IS_MOVED, RUN_STOPPED},
    {RUN_PAUSED, RUN_RESUMES, RUN_RUNNING},
    {RUN_PAUSED, RUN_IS_CANCELLED, RUN_CANCELLED},
    {RUN_PAUSED, RUN_IS_MOVED, RUN_STOPPED},
    {RUN_STOPPED, RUN_RESUMES, RUN_RUNNING},
    {RUN_STOPPED, RUN_IS_CANCELLED, RUN_CANCELLED},
    {RUN_STOPPED, RUN_IS_MOVED, RUN_STOPPED},
    {RUN_FAILED, RUN_RESUMES, RUN_RUNNING},
    {RUN_FAILED, RUN_IS_CANCELLED, RUN_CANCELLED},
    {RUN_FAILED, RUN_IS_MOVED, RUN_STOPPED},
    {RUN_COMPLETED, RUN_IS_MOVED, RUN_STOPPED},
    {RUN_CANCELLED, RUN_IS_MOVED, RUN_STOPPED},
};

#define TO(status) (1u << (status))

/* Where a frame can come to from any place it may fail at: its error may be taken by a retry, or by an
 * edge to whatever there is. */
#define TO_ANY_PLACE                                                              \
    (TO(FRAME_READY) | TO(FRAME_STARTING) | TO(FRAME_TIMED) | TO(FRAME_WAITING) | \
     TO(FRAME_HOLDING) | TO(FRAME_PARKED) | TO(FRAME_FAILED) | TO(FRAME_DONE))

static const unsigned frame_rules[FRAME_STATUS_COUNT] = {
    [FRAME_READY] = TO_ANY_PLACE,
    [FRAME_STARTING] = TO_ANY_PLACE | TO(FRAME_WORKING),
    [FRAME_WORKING] = TO_ANY_PLACE,
    [FRAME_TIMED] = TO_ANY_PLACE,
    [FRAME_WAITING] = TO_ANY_PLACE,
    [FRAME_HOLDING] = TO_ANY_PLACE,
    [FRAME_PARKED] = TO_ANY_PLACE,
    [FRAME_FAILED] = TO(FRAME_READY) | TO(FRAME_STARTING) | TO(FRAME_TIMED) | TO(FRAME_DONE),
    /* moved back by hand, or taken up again by a debugger */
    [FRAME_DONE] = TO_ANY_PLACE & ~TO(FRAME_FAILED),
};

bool run_status_change(RunStatus *status, RunChange change) {
    for (size_t i = 0; i < sizeof run_rules / sizeof run_rules[0]; i++) {
        if (run_rules[i].from == *status && run_rules[i].change == change) {
            *status = run_rules[i].to;
            return true;
        }
    }
    return false;
}

bool frame_status_change(FrameStatus *status, FrameStatus to) {
    if (!(frame_rules[*status] & TO(to))) return false;
    *status = to;
    return true;
}

int run_status_find(const char *name) {
    for (int i = 0; i <= RUN_CANCELLED; i++) {
        if (!strcmp(run_status_names[i], name)) return i;
    }
    return -1;
}
