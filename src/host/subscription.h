/* subscription.h - what happens to runs, told in order to whoever wants to know.
 *
 *     Subscription *s = host_subscribe(host, &spec, &err);
 *     while (subscription_next(s, &event)) ...         from spec.ready(), or at any other time
 *     subscription_end(s);
 *
 * Everything that a checkpoint can tell is told from checkpoints: such an event has a `cursor`, a number that is
 * good in any process at any time. Whoever subscribes with `from` is told what came after it, first from the
 * store and then as it happens, each event once and in order. What is in no checkpoint (a node began, output,
 * progress, what a debugger does) is told live only and has no cursor.
 *
 *     {"event": "step", "cursor", "run", "thread", "at", "checkpoint", "step", "frame", "frame_name", "depth",
 *      "node", "status", "update"?, "state"?}                     a checkpoint; the two with `values`
 *     {"event": "interrupt", "cursor", ..., "id", "reason", "prompt", "options", "state"?}
 *     start, node, log, retry, warning, paused, resumed           as engine.h says, live
 *     {"event": "settled", ..., "status", "checkpoint", "interrupts", "paused", "error"?, "state"?, "store_error"?,
 *      "over"? (failed for good), "answered"?, "recorded"? (of a replay)}     the last one of a run; of one that
 *                                                                 nobody holds, how it stands and no more
 *
 * A window (`attach`) is told what the debug session tells instead (api/session_api.h), and keeps the run
 * from settling.
 *
 * Every subscription has a queue of its own of SUBSCRIPTION_MAX events. One that does not read is let go:
 * its last event is {"event": "dropped", "cursor"}, with which it can come back. It costs the others
 * nothing, and runs that nobody watches pay nothing for those that are.
 */
#ifndef PAWL_SUBSCRIPTION_H
#define PAWL_SUBSCRIPTION_H

#include "host.h"

typedef struct Subscription Subscription;

enum {
    SUBSCRIPTION_MAX = 4096,
    SUBSCRIPTION_WINDOWS = 16
}; /* events that wait; windows of one session */

typedef struct SubscriptionSpec {
    const char *thread; /* NULL: every run that this host holds, live only */
    HostRun *run;       /* or one that is in hand; NULL: by its name */
    unsigned types;     /* 1u << EVENT_..., ORed; 0: all */
    int64_t from; /* told what came after this cursor, 0: all of it; -1: what happens from now on */
    bool values;  /* with update and state */
    bool attach;  /* a window */
    const HostDebug
        *debug; /* of a window: the session that it makes, when there is none yet; or NULL */
    void (*ready)(void *ctx, Subscription *s); /* the queue is not empty any more, or it is over */
    void *ctx;
} SubscriptionSpec;

/* NULL on error: there is no such run. */
Subscription *host_subscribe(Host *host, const SubscriptionSpec *spec, Error *err);
/* The next event, given; false when there is none now. */
bool subscription_next(Subscription *s, Json *event);
bool subscription_is_over(
    const Subscription *s);             /* nothing more will come; the queue may hold a rest */
void subscription_end(Subscription *s); /* accepts NULL */
int64_t subscription_number(const Subscription *s);

/* Mask of the types that are named: ["step", "log"]. False with a sentence. */
bool subscription_types(Json names, unsigned *types, Error *err);

/* ---- for host/ ---- */

void subscription_event(HostRun *run, const Event *event);
void subscription_session_event(HostRun *run, Json event); /* borrows it */
void subscription_run_gone(HostRun *run);                  /* nothing more will come of it */

#endif
