/* step.h - one attempt at a node, as those see it who do the node's work.
 *
 * The work of a kind is a row (NodeWork) that the engine is given when it is made. To do a node the
 * engine makes a Step and calls start(). Pure work finishes inside start(); other work returns and
 * calls step_succeed() or step_fail() later, on the loop's thread, exactly once.
 *
 * Work that is not pure is started only after the record that leads to it is durable, and may be
 * started a second time for the same step when the process died in between: step_place() is then the
 * same, so that the work can find what the first start left there (process.h does).
 *
 * cancel() asks the work to end early. It still finishes with step_fail(); the engine ignores the
 * words then.
 */
#ifndef PAWL_STEP_H
#define PAWL_STEP_H

#include "flow.h"

#include <uv.h>

typedef struct Step Step;

typedef struct NodeWork {
    KindId kind;
    bool pure; /* finishes inside start() and touches nothing outside */
    void (*start)(Step *step);
    void (*cancel)(Step *step); /* NULL for pure work */
    /* The engine ends while the step is under way: frees what the work holds and leaves what it
     * started to be found again. Nothing of the step is called after it. NULL for pure work. */
    void (*drop)(Step *step);
    void (*free_data)(
        void *data); /* of step_kind_data(), when the engine ends; NULL: none is kept */
} NodeWork;

const Node *step_node(const Step *step);
const Param *step_param(const Step *step, int index); /* of node->params */
Json step_state(const Step *step);                    /* borrowed; what the node sees */
Json step_var(const Step *step, size_t index);        /* of node->vars; borrowed */
uv_loop_t *step_loop(const Step *step);
/* The folder that the run was started in: commands run there, and relative paths begin there. */
const char *step_folder(const Step *step);
int64_t step_timeout_ms(
    const Step *step); /* of the node; 0: none. Work that is not pure keeps it */

/* Evaluates an expression of the node on the state, with the variables in scope, within the run's
 * budget. The first output, given; when it fails, or has no output, JSON_NONE with *err set. */
Json step_eval(Step *step, const Expr *expr, Error *err);
/* What a template comes to, as text: strings as they are, the rest as JSON. */
bool step_text(Step *step, const Expr *expr, Buf *out, Error *err);

/* A folder that is this attempt's own and the same after a crash. It is not made. The engine removes
 * it (process_forget) once the result is durable. NULL, with *err set, when the store has none. */
const char *step_place(Step *step, Error *err);

/* For the work's own use between start() and the end. */
void step_set_data(Step *step, void *data);
void *step_data(const Step *step);

/* A slot that the kind's work may keep something in for as long as the engine lives, such as an
 * interpreter; NULL at first, given to free_data() in the end. The same for every step of the kind. */
void **step_kind_data(Step *step, KindId kind);

/* A line or a piece of the node's log; stream is "stdout", "stderr" or "log". */
void step_log(Step *step, const char *stream, const char *bytes, size_t len);

/* Ends the step. Both consume their JSON. kind is a short word ("exit", "timeout", "jq", "lua",
 * "spawn", "limit", "cancelled") that retry.if and error edges see as .error.kind; details (an object
 * or JSON_NONE) adds fields to .error. */
void step_succeed(Step *step, Json result);
void step_fail(Step *step, const char *kind, Json details, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for an error that names its place in the file. */
void step_fail_with(Step *step, const char *kind, const Error *err);

#endif
