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

/* The secrets of an expression that uses some. Copied; without it expressions see "***" for each. What such an
 * expression says when it fails may hold a part of one, so it is not passed on. */
typedef struct EvaluatorSecrets {
    /* {NAME: value}; JSON_NONE with *err set. Given. */
    Json (*values)(void *ctx, const Expr *expr, Error *err);
    void (*made)(void *ctx, Json value); /* what the expression gave */
    void *ctx;
} EvaluatorSecrets;
void evaluator_set_secrets(Evaluator *m, const EvaluatorSecrets *secrets);

/* An expression of another language (Foreign in flow.h) is evaluated by somebody else: begun, and looked at again
 * later. So it needs a place where an evaluation may go on later, a slice or a Replay; anywhere else it fails. */
typedef struct ForeignEval ForeignEval;

typedef struct EvaluatorForeign {
    /* Begins it; foreign_done() is to follow, at once or later. Borrows input and vars. */
    void (*begin)(void *ctx, ForeignEval *eval, Json input, const Json *vars);
    void (*drop)(void *ctx, ForeignEval *eval); /* nobody wants it any more; it is not done */
    void *ctx;
} EvaluatorForeign;

struct ForeignEval {
    const Expr *expr;
    void *who; /* waits for it: of Slicing and Replay */
    bool done;
    Json value; /* JSON_NONE: err has why */
    Error err;
    void *work; /* for who evaluates it */
    EvaluatorForeign by;
};
void evaluator_set_foreign(Evaluator *m, const EvaluatorForeign *foreign);
void foreign_done(ForeignEval *eval, Json value, const Error *err); /* consumes value */
void foreign_free(ForeignEval *eval);                               /* accepts NULL */

/* Evaluations end, with ERR_LIMIT, soon after this time of uv_hrtime(); 0: never. */
void evaluator_set_deadline(Evaluator *m, uint64_t nanoseconds);
uint64_t evaluator_deadline(const Evaluator *m);
/* How long a query of the tasks dialect may work, in all of its slices; 10 s unless told. One that is over then has
 * failed as if it had raised an error, and that is its limit instead of a number of steps, unless the host has set one.
 * Where it cannot be sliced it also has JQ_DEFAULT_STEPS: nobody else goes on meanwhile. */
void evaluator_set_query_time(Evaluator *m, uint64_t nanoseconds);

/* The first output of an expression, given. JSON_NONE with *err set when it fails or has none: the
 * error's line and column are in the expression's file. Borrows input and vars. */
Json evaluator_run(Evaluator *m, const Expr *expr, Json input, const Json *vars, Error *err);

/* The same in slices. *under_way is NULL when it begins; when the turn is over it is the machine, and the
 * answer is JSON_NONE with *err not set: call again with it to go on, or free it (jq_run_free()). Then input
 * and vars are not looked at. Once it has ended it is NULL again. deadline: as above, for this one. err is not NULL. */
typedef struct Slicing {
    JqRun **under_way;
    uint64_t deadline;
    ForeignEval **
        foreign; /* the same as under_way of one in another language; NULL: there is no such here */
    void *who;   /* of that */
} Slicing;
Json evaluator_slice(Evaluator *m, const Expr *expr, Json input, const Json *vars,
                     const Slicing *slicing, Error *err);

/* Something that is done as a whole and evaluates several expressions: where the turn is over in the midst of one, all of
 * it ends with an error and is_later, leaves everything as it was, and is done anew in a later turn. Evaluations
 * that took long are not made again then: what came of them is kept, by their order, so that has to be the same. */
typedef struct Replay {
    bool is_later;
    bool is_late; /* the deadline has passed */
    uint64_t deadline;
    JqRun *under_way;
    ForeignEval *foreign; /* the same of one in another language */
    void *who;            /* of that */
    size_t at, next;      /* evaluations of this time; of those that are kept, the next one */
    size_t under_way_at;
    uint64_t worked; /* nanoseconds, of a query that is under way */
    struct Evaluated *kept;
    size_t n, cap;
} Replay;

/* Until it is ended, evaluator_run(), evaluator_query() and evaluator_reduce() are part of it. One at a time. */
void evaluator_begin(Evaluator *m, Replay *r);
void evaluator_end(Evaluator *m);
void replay_clear(Replay *r);
/* As if the turn were over: the rest of it fails. */
void evaluator_set_later(Evaluator *m, Error *err);
/* Whether one is under way that goes on later. */
bool evaluator_is_later(const Evaluator *m);

/* The same of any machine, whose budget has slices, within so many milliseconds; consumes input. No output, and what
 * fails, gives JSON_NONE; *err is set when it fails. */
Json evaluator_first(JqRun *run, Json input, const Json *vars, uint64_t ms, Error *err);

/* The same, but an expression that has no output gives JSON_NONE without an error. */
Json evaluator_query(Evaluator *m, const Expr *expr, Json input, Error *err);

/* The machine of a reducer that is not an expression of the file: see reduce.c. */
Json evaluator_reduce(Evaluator *m, Reduce reduce, bool join, Json old_value, Json new_value,
                      Error *err);

#endif
