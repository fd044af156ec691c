/* worker_memory.h - how much memory workers have, with all that they started.
 *
 * A worker leads a session. Whatever is in it counts, also what shares memory or whose parent is gone
 * (proc_memory()), and memory that is in files without a name and not mapped (memory_files.h). Looking at all processes takes a moment, so it is done by another thread, and less often the
 * longer it takes.
 */
#ifndef PAWL_WORKER_MEMORY_H
#define PAWL_WORKER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct WorkerMemory {
    pid_t leader;
    uint64_t enough; /* bytes that matter: below, any number up to this will do for an answer */
    uint64_t others; /* of all but the leader; of an earlier look, until all are looked at */
    uint64_t files;  /* in files without a name, mapped or not; the same */
    uint64_t bytes;  /* in all */
} WorkerMemory;

/* Sets `bytes` of n of them; with all, looks at what they started, too, and sets `others`. */
void worker_memory_look(WorkerMemory *items, size_t n, bool all);

#endif
