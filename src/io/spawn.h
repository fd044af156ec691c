/* spawn.h - starts the supervisor, or a worker through it, at a cost that does not depend on how much
 * memory we have.
 *
 * fork() copies the tables of all our pages: 200 ms at 2 GB. Here the new process borrows our memory
 * (vfork) for the few calls until it is the supervisor's program. The program is in our own image, as
 * bytes: nothing has to be installed or found, also when we are a library in somebody else's program. It
 * is executed from a file without a name: sealed memory, or where that is forbidden, a file in the
 * place's folder.
 *
 * Any thread may call. Errors are in errno.
 */
#ifndef PAWL_SPAWN_H
#define PAWL_SPAWN_H

#include "process.h"

#include <sys/types.h>

enum { SPAWN_FDS = 5 };

typedef struct SpawnTask {
    const ProcessOptions *options; /* place: for a file without a name; NULL: /tmp */
    bool worker;                   /* is not supervised, and killed when this thread ends */
    int fds[SPAWN_FDS];            /* what becomes FD_FIRST and on of supervisor.h; -1: none */
} SpawnTask;

/* Its number, a child of ours; 0: none. The descriptors stay the caller's. */
pid_t spawn(const SpawnTask *task);

/* A file without a name, holding these bytes; -1: none. `folder` as above. */
int spawn_file(const char *folder, const char *bytes, size_t len);

#endif
