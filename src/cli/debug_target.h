/* debug_target.h - the sessions that a console can talk to: one of this process, or one of the process that
 * has the run (attach.h).
 */
#ifndef PAWL_DEBUG_TARGET_H
#define PAWL_DEBUG_TARGET_H

#include "debugging.h"
#include "target.h"

/* Told what happens; event is consumed. It may be in the middle of target_call() then: it only notes the
 * event, and looks at it when the call has returned. */
typedef struct TargetHost {
    void (*event)(void *ctx, Json event);
    void (*closed)(void *ctx); /* the other process has gone, or let go of us */
    void *ctx;
} TargetHost;

/* For who is present in this process (debugging.h); borrowed. */
Target target_to_debugging(Debugging *debugging);
/* False on error: of attach_connect(). */
bool target_to_run(Target *target, uv_loop_t *loop, Store *store, int64_t run,
                   const TargetHost *host, Error *err);

#endif
