/* The work of a jq node: the first output of its expression. Every edge of a workflow that is all
 * expressions passes here, so there is nothing in it that the evaluation itself does not need. */
#include "exec.h"

static void exec_jq_start(Step *step) {
    Error err;
    error_clear(&err);
    uint64_t timeout = (uint64_t)step_timeout_ms(step) * 1000000, start = timeout ? uv_hrtime() : 0;
    Json result = step_eval(step, step_param(step, JQ_EXPR)->expr, &err);
    if (!json_is_none(result)) {
        step_succeed(step, result);
    } else if (timeout && err.code == ERR_LIMIT && uv_hrtime() - start >= timeout) {
        exec_fail_late(step);
    } else {
        exec_fail_with(step, "jq", &err);
    }
}

const NodeWork exec_jq = {.pure = true, .start = exec_jq_start};
