/* subscription.h - what happens to runs, told in order to whoever wants to know.
 *
 *     Subscription *s = host_subscribe(host, &spec, &err);
 *     while (subscription_next(s, &event)) ...         from spec.ready(), or at any other time
 *     subscription_end(s);
 *
 * Everything that a checkpoint can tell is told from checkpoints: such an event has a `cursor`, a number that is
 * good in any process at any time. Whoever subscribes with `from` is told what came after it, first from the
 * store and then as it happens, each event once and in order, and the same event either way (recorded.h). What is
 * in no checkpoint (a node began, output, progress, what a debugger does) is told live only and has no cursor;
 * while a subscription is behind, such events wait for it, up to a limit.
 *
 *     {"event": "step", "cursor", "run", "thread", "at", "checkpoint", "step", "frame", "frame_name", "depth",
 *      "node"?, "status", "update"?, "state"?}                    a checkpoint; the last two with `values`: what the
 *                                                                 node gave back, and what the frame sees then (of
 *                                                                 one that has ended: the frame around it)
 *     {"event": "interrupt", "cursor", ..., "id", "reason", "prompt", "options", "state"?}
 *     start, node, log, retry, warning, paused, resumed           as engine.h says, live
 *     {"event": "settled", ..., "status", "checkpoint", "interrupts", "paused"?, "error"?, "state"?, "store_error"?,
 *      "over"? (failed for good), "answered"?, "recorded"? (of a replay)}     the last one of a run; of one that
 *                                                                 nobody holds, how it stands
 *
 * A subscription to all runs is told of those that this host holds. There is no order between different runs
 * in a store, so a place in the record of all is the cursor of each run that was heard of: whoever wants to
 * come back keeps those, and when it first came, {"since": time, "runs": {number: cursor}}. It is then told what
 * the store has beyond that, run by run, also of runs that other processes hold, and then what happens.
 *
 * A window (`attach`) is told what the debug session tells instead (api/session_api.h), and keeps the run
 * from settling. Others are told of a session what concerns the run, with `session`, its id.
 *
 * Every subscription has a queue of its own of SUBSCRIPTION_MAX events. One that does not read is let go:
 * its last event is {"event": "dropped", "cursor"}, with which it can come back (one to all runs: with those
 * that it keeps). It costs the others nothing, and runs that nobody watches pay nothing for those that are.
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
    const char *thread; /* NULL: every run that this host holds */
    HostRun *run;       /* or one that is in hand; NULL: by its name */
    unsigned types;     /* 1u << EVENT_..., ORed; 0: all */
    int64_t from; /* told what came after this cursor, 0: all of it; -1: what happens from now on */
    Json runs;    /* of all, instead of `from` when `from` is 0: {number: cursor}, and */
    int64_t since; /* of other runs what was recorded at this time, in ms since 1970, or later */
    bool values;   /* with update and state */
    bool errors;   /* `step` of an execution that failed with `error`; told live only */
    bool attach;   /* a window */
    bool
        names; /* of a window: each event with `run`, `thread`, `session` and `at`, as others have it */
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
/* The event that was taken last came from the record, and more of that may follow: told run by run, not in the order in which it
 * happened. */
bool subscription_is_behind(const Subscription *s);
int64_t subscription_number(const Subscription *s);
int64_t subscription_since(const Subscription *s); /* of all: when it first came, ms since 1970 */

/* What the arguments of `run_events` ask for (api/run_operations.c), borrowed; false with a sentence. */
bool subscription_asked(Json args, SubscriptionSpec *out, Error *err);

/* ---- for host/ ---- */

void subscription_event(HostRun *run, const Event *event);
void subscription_session_event(HostRun *run, Json event); /* borrows it */
void subscription_run_gone(HostRun *run);                  /* nothing more will come of it */

#endif
