#include "steer.h"

#define TALLY .so_far = tally_so_far, .why = tally_why, .counted = tally_counted

const Steering steerings[KIND_COUNT] = {
    [KIND_APPROVAL] = {approval_begin},
    [KIND_WORKFLOW] = {workflow_begin, .level_done = workflow_done},
    [KIND_WHILE] = {while_begin, .level_done = while_turn_done},
    [KIND_MAP] = {map_begin},
    [KIND_RUN_TASKS] = {list_begin, .list_done = run_tasks_done},
    [KIND_RUN_TASKS_CONCURRENT] = {concurrent_begin, TALLY},
    [KIND_RUN_TASK_MATRIX] = {matrix_begin, .list_done = matrix_done, TALLY},
    [KIND_RUN_TASK_BACKGROUND] = {background_begin, .so_far = background_so_far,
                                  .why = background_why},
    [KIND_RUN_TASK_OPTIONS] = {list_begin, .list_done = options_done},
    [KIND_RUN_EXTERNAL_TASKS] = {external_begin, .list_done = external_done},
};
