/* run_reading.h - the rows of runs that only need the store: on another thread, in any process. Private to
 * api/. */
#ifndef PAWL_RUN_READING_H
#define PAWL_RUN_READING_H

#include "operation.h"

typedef Json ReadCall(Store *store, Json args, Error *err);

ReadCall stored_runs, stored_run, stored_history, stored_checkpoint, stored_interrupts,
    stored_state, stored_variables, stored_search, stored_definition, stored_diff, stored_compare,
    stored_logs, ask_cancel, import_run, prune_runs, delete_run, draw_run;

extern const char *const draw_words[];

extern const OperationArg run_state_args[], run_variables_args[], run_search_args[],
    run_compare_args[], run_logs_args[];

/* Answers with a run as the store has it now. */
void run_answer_stored(Host *host, const char *thread, Reply reply);

/* Arguments that many rows have. */
enum { PAGE_MAX = 10000 };
#define LIMIT_ARG(n) \
    { "limit", ARG_INT, .about = "at most so many; left out, " n, .min = 1, .max = PAGE_MAX }
#define THREAD_ARG \
    { "thread", ARG_TEXT, .about = "the run: its name, or its number", .required = true }
#define CHECKPOINT_ARG(name, otherwise)                                                   \
    {                                                                                     \
        name, ARG_INT, .about = "one of its checkpoints; left out, " otherwise, .min = 1, \
                       .max = ARG_COUNTING                                                \
    }

#endif
