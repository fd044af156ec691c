/* supervisor.h - the process beside a child that process.h speaks of.
 *
 * supervise() is what a fork of us becomes. It lives on its own: no memory is allocated, no lock is
 * taken, nothing of ours but the task is read, so it does not matter which threads we had. It never
 * returns. The child is ended by nobody else, so its number cannot have passed to a stranger.
 *
 * It takes its orders as signals, from us and from whoever attaches to the place, and tells us in
 * messages (one a packet, the first byte says which) what we want to know while we are there. None
 * of them is waited for: a message that finds no room is dropped.
 */
#ifndef PAWL_SUPERVISOR_H
#define PAWL_SUPERVISOR_H

#include "process.h"

#include <signal.h>
#include <sys/resource.h>

/* The files of a place. */
#define PLACE_LOCK       "lock"
#define PLACE_STATUS     "status"
#define PLACE_STATUS_NEW "status.new"
extern const char *const place_streams[2]; /* "out", "err" */

/* Real-time signals, because they are queued in order. */
#define SUPERVISOR_END    (SIGRTMIN + 3)
#define SUPERVISOR_FREEZE (SIGRTMIN + 4)
#define SUPERVISOR_THAW   (SIGRTMIN + 5)

enum {
    MESSAGE_OUT = 1,      /* with bytes of standard output */
    MESSAGE_ERR = 2,      /* with bytes of standard error */
    MESSAGE_PID = 'p',    /* with the child's pid_t: it runs */
    MESSAGE_STATUS = 's', /* with the text of PLACE/status */

    MESSAGE_MAX = 65536, /* bytes after the first */
    STATUS_MAX = 256,    /* bytes of PLACE/status, and of PLACE/lock */

    GRACE_MS = 2000, /* between SIGTERM and SIGKILL, by default */
};

typedef struct SupervisorTask {
    const ProcessOptions *options;
    int place;                        /* the folder, open */
    int lock;                         /* PLACE/lock, locked */
    int report;                       /* where messages go: a socket that keeps packets apart */
    const struct rlimit *descriptors; /* the limit for it and the child; NULL: ours */
} SupervisorTask;

/* Called in a new fork with all signals blocked. */
_Noreturn void supervise(const SupervisorTask *task);

#endif
