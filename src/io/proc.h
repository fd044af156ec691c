/* proc.h - what the kernel says about other processes.
 *
 * A number of a process stands for that process only as long as it lives: it may be another's a moment
 * later. What is done to a process is therefore done through a descriptor (a pidfd), and what is read about
 * it counts only if it lives still. Numbers up to 1 are nobody's here.
 */
#ifndef PAWL_PROC_H
#define PAWL_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct ProcStat {
    pid_t parent, group, session;
    char state;     /* 'R', 'S', 'Z', ... */
    bool ending;    /* it is a zombie, or about to be one */
    uint64_t start; /* in ticks since the machine's start: with the number, it names the process */
    uint64_t resident; /* bytes, shared ones too */
} ProcStat;

/* False when there is no such process. */
bool proc_stat(pid_t pid, ProcStat *out);
/* Now, as `start` counts. */
uint64_t proc_ticks(void);

/* Whether it runs as who we are. */
bool proc_is_ours(pid_t pid);

/* A signal to the process that has this number and started then; false when that is nobody, or may not be
 * signalled. */
bool proc_signal(pid_t pid, uint64_t start, int signal_number);

/* Calls fn for all processes that there are. */
void proc_each(void (*fn)(void *ctx, pid_t pid, const ProcStat *stat), void *ctx);

/* Kills what is left of a group whose leader had this number, and did not start before then: the leader may be
 * gone. */
void proc_kill_group(pid_t leader, uint64_t since);

/* Bytes of memory that count as the process's own: anonymous and shared memory, that in swap too; of what it
 * shares with others, its part. Pages of files do not: the kernel can write them back. */
uint64_t proc_memory(pid_t pid);

#endif
