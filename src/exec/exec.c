#include "exec.h"

#include "exec_kinds.h"

const NodeWork exec_work[] = {
    {.kind = KIND_JQ, .pure = true, .start = exec_jq_start},
    {.kind = KIND_LUA, .pure = true, .start = exec_lua_start, .free_data = exec_lua_free},
    {.kind = KIND_SHELL,
     .start = exec_shell_start,
     .cancel = exec_shell_cancel,
     .drop = exec_shell_drop},
    {.start = NULL},
};

void exec_fail_with(Step *step, const char *otherwise, const Error *err) {
    const char *kind = err->code == ERR_LIMIT       ? "limit"
                       : err->code == ERR_CANCELLED ? "cancelled"
                                                    : otherwise;
    step_fail_with(step, kind, err);
}
