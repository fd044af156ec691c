/* evaluator.h - a jq machine for each expression of a flow, made when it is first needed.
 *
 * The machines are used again, so an evaluation allocates nothing but its values. One thread.
 *
 * The evaluator's clock is looked at every so many steps of an evaluation, and after one that took more than
 * a few. One that may be sliced stops where the turn is over, and goes on when it is asked for again; the
 * others go on to their end.
 */
#ifndef PAWL_EVALUATOR_H
#define PAWL_EVALUATOR_H

#include "flow.h"

typedef struct Evaluator Evaluator;

/* Borrows the flow; host is copied. */
Evaluator *evaluator_new(const Flow *flow, const JqHost *host);
void evaluator_free(Evaluator *m); /* accepts NULL */

/* A flow whose expressions are numbered behind those that are there already; and its machines go before
 * it does. */
void evaluator_add(Evaluator *m, const Flow *flow);
void evaluator_remove(Evaluator *m, const Flow *flow);

/* Looks at the time, and says whether the turn is over. Copied; without one there are no turns. */
typedef struct EvaluatorClock {
    bool (*look)(void *ctx);
    void *ctx;
} EvaluatorClock;
void evaluator_set_clock(Evaluator *m, const EvaluatorClock *clock);

/* Evaluations end, with ERR_LIMIT, soon after this time of uv_hrtime(); 0: never. */
void evaluator_set_deadline(Evaluator *m, uint64_t nanoseconds);

/* The first output of an expression, given. JSON_NONE with *err set when it fails or has none: the
 * error's line and column are in the expression's file. Borrows input and vars. */
Json evaluator_run(Evaluator *m, const Expr *expr, Json input, const Json *vars, Error *err);

/* The same in slices. *under_way is NULL when it begins; when the turn is over it is the machine, and the
 * answer is JSON_NONE with *err not set: call again with it to go on, or free it (jq_run_free()). Then input
 * and vars are not looked at. Once it has ended it is NULL again. deadline: as above, for this one. */
typedef struct Slicing {
    JqRun **under_way;
    uint64_t deadline;
} Slicing;
Json evaluator_slice(Evaluator *m, const Expr *expr, Json input, const Json *vars,
                     const Slicing *slicing, Error *err);

/* The same of any machine; consumes input. No output, and what fails, gives JSON_NONE; *err is set when it
 * fails. */
Json evaluator_first(JqRun *run, Json input, const Json *vars, Error *err);

/* The same, but an expression that has no output gives JSON_NONE without an error. */
Json evaluator_query(Evaluator *m, const Expr *expr, Json input, Error *err);

/* The machine of a reducer that is not an expression of the file: see reduce.c. */
Json evaluator_reduce(Evaluator *m, Reduce reduce, bool join, Json old_value, Json new_value,
                      Error *err);

#endif
