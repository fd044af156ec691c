/* The work of a jq node: the first output of its expression. Every edge of a workflow that is all
 * expressions passes here, so there is nothing in it that the evaluation itself does not need. */
#include "exec.h"

static void exec_jq_go_on(Step *step) {
    Error err;
    Json result;
    error_clear(&err);
    if (!step_eval_slice(step, step_param(step, JQ_EXPR)->expr, &result, &err)) return;
    if (!json_is_none(result)) {
        step_succeed(step, result);
    } else if (err.code == ERR_LIMIT && step_deadline(step) && uv_hrtime() >= step_deadline(step)) {
        exec_fail_late(step);
    } else {
        exec_fail_with(step, "jq", &err);
    }
}

const NodeWork exec_jq = {.pure = true, .start = exec_jq_go_on, .go_on = exec_jq_go_on};
