/* worker_notes.h - which workers there are, for whoever comes after the process that started them.
 *
 * A worker is killed when its starter dies; what it started lives on, as its group. So each worker has a file
 * in the folder of the store while it is there, `worker-PID-START`, and a process that goes on with runs of
 * another first ends the groups whose starter is gone (worker_notes_sweep()).
 *
 *     PID START STARTER START NAMESPACE BOOT      of the worker and of its starter; START as proc_stat() has it
 *
 * The files are ours, but code that runs as the same user can write to them: nothing in them is believed that the
 * kernel does not confirm. A note of another machine, another start of it, or another namespace of processes
 * means nothing here.
 *
 * Any thread may call.
 */
#ifndef PAWL_WORKER_NOTES_H
#define PAWL_WORKER_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WORKER_BOOT_MAX = 40 };

typedef struct WorkerNote {
    pid_t pid, starter;
    uint64_t start, starter_start;
    uint64_t space;             /* of the numbers of processes */
    char boot[WORKER_BOOT_MAX]; /* of the machine */
} WorkerNote;

/* What the text of a file says; false when it says nothing that can be. */
bool worker_note_parse(const char *text, size_t len, WorkerNote *out);

/* Leaves a note of a worker that was just started by this process; its path, to be taken back and freed by
 * worker_note_remove(). NULL: none could be left. */
char *worker_note(const char *folder, pid_t pid);
void worker_note_remove(char *path); /* accepts NULL */

/* Kills what is left of workers whose starter has died, and removes the notes of them. */
void worker_notes_sweep(const char *folder);

#endif
