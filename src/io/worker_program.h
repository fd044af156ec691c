/* worker_program.h - the languages of workers, and what a worker has loaded.
 *
 * A worker of one program is of no use to another. A program is a language, whose code it is (its realm and
 * home), a file of it in the state that it has now, and where the language wants that at the start, the memory
 * it may use. One without a file runs code that it is sent.
 */
#ifndef PAWL_WORKER_PROGRAM_H
#define PAWL_WORKER_PROGRAM_H

#include "workers.h"

typedef struct WorkerInterpreter {
    const char *name;
    const char *variable, *program; /* how it is found */
    const char *options[3];         /* the last is followed by `boot` */
    const char *boot;               /* takes the runtime from the socket */
    const char *runtime;
    const size_t *runtime_len;
    uint64_t data_slack; /* bytes that the interpreter itself takes and never uses */
    bool heap_is_fixed;  /* when it is started: a worker serves one size of memory */
} WorkerInterpreter;

extern const WorkerInterpreter worker_interpreters[WORKER_LANGUAGES];

typedef struct WorkerProgram {
    WorkerLanguage language;
    char *realm;
    char *home;    /* NULL: none */
    char *file;    /* the same */
    uint64_t heap; /* 0: any */
    uint64_t device, inode, size;
    int64_t changed; /* nanoseconds */
} WorkerProgram;

/* The options' program as it is now. False when there is no such file. */
bool worker_program_init(WorkerProgram *program, const WorkerOptions *options, uint64_t memory,
                         Error *err);
WorkerProgram worker_program_copy(const WorkerProgram *program);
void worker_program_clear(WorkerProgram *program);

bool worker_program_same(const WorkerProgram *a, const WorkerProgram *b);
/* The same, but perhaps another state of the file. */
bool worker_program_same_file(const WorkerProgram *a, const WorkerProgram *b);

#endif
