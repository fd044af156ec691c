/* worker_spawn.h - the process of a worker: started, bounded, looked at, reaped.
 *
 * What is said to it and what it says is workers.c's. One process is one WorkerProcess, a plain
 * value; its number stays its own until worker_reap() says that it is over.
 */
#ifndef PAWL_WORKER_SPAWN_H
#define PAWL_WORKER_SPAWN_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WORKER_FD = 3 }; /* where the worker finds its socket */

typedef struct WorkerProcess {
    pid_t pid;
    int channel;    /* our end of the socket */
    int streams[2]; /* its stdout and stderr */
    int pidfd;      /* readable once it has ended; -1 where the kernel has none */
    char *note;     /* of it (worker_notes.h), until it is reaped; NULL: none */
} WorkerProcess;

/* The whole path of an interpreter: what the variable of that name in the environment says, or the
 * first `name` in its PATH. False with a sentence in *err. The path goes to out[PATH_MAX]. */
bool worker_find(const char *const *env, const char *variable, const char *name, char *out,
                 Error *err);

/* Starts argv (argv[0] is a whole path) as the leader of a session of its own, with /dev/null as
 * its input. It is killed when this thread ends. If it cannot be executed, {"spawn":ERRNO} and a
 * newline come out of the channel. Our ends of all descriptors do not block and are closed on exec.
 * notes: the folder that a note of it is left in; NULL: none is. */
bool worker_spawn(const char *const *argv, const char *const *env, const char *notes,
                  WorkerProcess *out, Error *err);

/* Bytes of data that it, and whatever it forks, may have from now on. */
void worker_limit_data(const WorkerProcess *p, uint64_t bytes);

void worker_signal(const WorkerProcess *p, int signal_number); /* to its group */
/* True once it has ended: its group is killed then, and *status is as from waitpid(). With wait,
 * waits for that. */
bool worker_reap(WorkerProcess *p, bool wait, int *status);

#endif
