#include "exec.h"

#include "exec_command.h"
#include "exec_kinds.h"
#include "places.h"

#define PLACES .forget = place_forget, .sweep = places_sweep

#define COMMAND                                                                          \
    .heavy = true, .keeps_time = true, .cancel = command_stop, .freeze = command_freeze, \
    .drop = command_drop, PLACES

#define SCRIPT                                                                              \
    .start = exec_script_start, .cancel = exec_script_cancel, .freeze = exec_script_freeze, \
    .drop = exec_script_drop

const NodeWork exec_work[] = {
    {KIND_JQ, .pure = true, .start = exec_jq_start},
    {KIND_LUA, .pure = true, .start = exec_lua_start, .free_data = exec_lua_free},
    {KIND_SHELL, COMMAND, .start = exec_shell_start},
    {KIND_PYTHON, SCRIPT, .free_data = exec_script_free},
    {KIND_JAVASCRIPT, SCRIPT},
    {KIND_HTTP, .start = exec_http_start, .cancel = exec_http_cancel, .drop = exec_http_drop,
     .free_data = exec_http_free},
    {KIND_ACTION, .prepare = exec_action_prepare, .start = exec_action_start,
     .cancel = exec_action_cancel, .drop = exec_action_drop, PLACES},
    {KIND_RUN_SHELL, COMMAND, .start = exec_run_shell_start},
    {KIND_RUN_COMMAND, COMMAND, .start = exec_run_command_start},
    {KIND_RUN_JAVASCRIPT, SCRIPT},
    {KIND_CHECK_HTTP_JSON, .start = exec_check_start, .cancel = exec_check_cancel,
     .drop = exec_check_drop},
    {KIND_CHECK_HTTP_METRICS, .start = exec_check_start, .cancel = exec_check_cancel,
     .drop = exec_check_drop},
    {KIND_SCRIPT, COMMAND, .start = exec_pipeline_start},
    {KIND_DOCKER, .start = exec_refused_start},
    {KIND_AGENT, .start = exec_refused_start},
    {KIND_MERGE, .start = exec_refused_start},
    {KIND_TRIGGER, .start = exec_refused_start},
    {.start = NULL},
};

void exec_fail_with(Step *step, const char *otherwise, const Error *err) {
    const char *kind = err->code == ERR_LIMIT       ? "limit"
                       : err->code == ERR_CANCELLED ? "cancelled"
                                                    : otherwise;
    step_fail_with(step, kind, err);
}
