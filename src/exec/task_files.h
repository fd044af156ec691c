/* task_files.h - the files that the script of a task may write, and where what it wrote is kept.
 *
 *     PAWL_SUMMARY, ASSERTOOR_SUMMARY          a file: the summary of the task, if it is not empty in the end
 *     PAWL_RESULT_DIR, ASSERTOOR_RESULT_DIR    a folder: its files are results of the task
 *     PAWL_TEST_RESULT, ASSERTOOR_TEST_RESULT  a file that the tasks of a run have in common: the result of the test
 *
 *     task_files_give(command, &err)           makes them, before the command starts
 *     task_files_keep(step, done, ctx)         when it has ended, however
 *
 * They are in the folder of the run (step_run_folder()), the same when a task starts a second time after a crash:
 *
 *     run-N/test-result.md
 *     run-N/task-KEY/summary, run-N/task-KEY/results/
 *
 * What is kept goes with the run's record (step_results_folder()), without secrets; the files themselves go.
 *
 *     results-N/test-result.md     as it was when the last task ended
 *     results-N/KEY/node           the name of the task
 *     results-N/KEY/summary        if it wrote one
 *     results-N/KEY/files/...      if it wrote any: regular files and folders, nothing else
 *
 * What is beyond the limits is left out, and the log says so. A script may leave any number of files, so all that costs more
 * than a few calls of the system is done on another thread (engine/errand.h).
 */
#ifndef PAWL_TASK_FILES_H
#define PAWL_TASK_FILES_H

#include "exec_command.h"

enum {
    TASK_FILES_TEXT_MAX = 4 << 20, /* bytes of a summary, and of the result of a test */
    TASK_FILES_MAX = 10000,        /* files of a task */
    TASK_FILES_DEPTH_MAX = 32,     /* folders in folders */
    TASK_FILES_BYTES_MAX = 256 << 20,
};

/* False when they cannot be made. */
bool task_files_give(StepCommand *command, Error *err);

typedef struct TaskKeeping TaskKeeping;
/* NULL: it is done already, which is usual. Otherwise done() comes later, and the step waits for it. */
TaskKeeping *task_files_keep(Step *step, void (*done)(void *ctx), void *ctx);
/* Of a step that goes before that: done() does not come, and nothing is said. Accepts NULL. */
void task_files_drop(TaskKeeping *keeping);

/* The folder of the task's own files, a whole path, given; NULL: there is none. */
char *task_files_folder(Step *step, Error *err);

#endif
