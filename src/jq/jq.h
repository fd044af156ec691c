/* jq.h - the jq language: compile an expression once, run it as often as you like.
 *
 *   JqProgram *p = jq_compile(text, len, NULL, &err);       // microseconds
 *   JqRun *run = jq_run_new(p, NULL);                       // reusable machine
 *   jq_run_start(run, json_ref(input), NULL);
 *   while (jq_run_next(run, &out) == JQ_OUTPUT) { ...; json_unref(out); }
 *   jq_run_free(run); jq_program_free(p);
 *
 * The language is jq 1.8's core. Left out, each with an error that says so: modules (import,
 * include), input/inputs and what belongs to them, halt. $ENV and env give the map that the host
 * filled, which is empty by default.
 *
 * A program is immutable and may be used by many runs, one thread at a time. A run is one machine
 * with its own stacks; it never recurses in C, so its depth is bounded by its budget and not by the
 * thread's stack. Outputs come one at a time, and a run may be dropped or restarted between them.
 *
 * Budgets: going over one ends the evaluation with ERR_LIMIT; an expression cannot catch that. The
 * run is as good as new after jq_run_start().
 */
#ifndef PAWL_JQ_H
#define PAWL_JQ_H

#include "error.h"
#include "json.h"

#include <stdatomic.h>

typedef struct JqProgram JqProgram;
typedef struct JqRun JqRun;

/* ---- compiling ---- */

typedef struct JqOptions {
    const char *const *vars; /* names of the variables ($name) that the host gives, without the $ */
    size_t nvars;
    int line, col;    /* where the text starts in the file it came from; 0 means 1 */
    const char *file; /* for $__loc__; NULL: "<top-level>" */
    /* The last of the variables is an object of which only fields may be taken, each by a name that is written
     * there ($name.field): jq_program_fields() says which. */
    bool fields_only;
    bool exact; /* integers are of any size, and a quotient that comes out even is one */
} JqOptions;

/* NULL on error; err has line and column in the file and a sentence. */
JqProgram *jq_compile(const char *text, size_t len, const JqOptions *options, Error *err);
void jq_program_free(JqProgram *p); /* accepts NULL */

/* What an expression depends on besides its input. */
typedef enum JqEffects {
    JQ_PURE = 0,
    JQ_USES_CLOCK = 1, /* now, localtime, ...: not the same on replay */
    JQ_USES_LOG = 2,   /* debug, stderr */
    JQ_USES_ENV = 4,   /* $ENV, env */
} JqEffects;

unsigned jq_program_effects(const JqProgram *p); /* JqEffects, ORed */
/* The fields of JqOptions.fields_only: an array of strings, each once; JSON_NONE when there are none. Borrowed. */
Json jq_program_fields(const JqProgram *p);

/* What could stand at a cursor (byte offset into text), best first: an array of
 * {"text", "kind": "field" | "function" | "variable" | "keyword" | "format", "from", "detail"},
 * where `from` is the offset that the text replaces from. Works on unfinished expressions; input
 * (may be JSON_NONE) supplies field names. */
Json jq_complete(const char *text, size_t len, size_t cursor, const JqOptions *options, Json input);

/* All functions, as "name/arity" strings. */
Json jq_builtins(void);

/* ---- running ---- */

typedef struct JqBudget {
    uint64_t steps; /* 0: JQ_DEFAULT_STEPS */
    size_t memory;  /* bytes of values and stacks that the run may add; 0: JQ_DEFAULT_MEMORY */
    size_t depth;   /* calls inside calls; 0: JQ_DEFAULT_DEPTH */
    uint64_t slice; /* steps after which jq_run_next() returns JQ_PAUSED; 0: never */
} JqBudget;

#define JQ_NO_LIMIT       UINT64_MAX
#define JQ_DEFAULT_STEPS  50000000ull
#define JQ_DEFAULT_MEMORY ((size_t)256 << 20)
#define JQ_DEFAULT_DEPTH  ((size_t)1000000)

/* What surrounds a run. All may be zero. Borrowed for the life of the run. */
typedef struct JqHost {
    JqBudget budget;
    Json env;                  /* object for $ENV; JSON_NONE: {} */
    const atomic_bool *cancel; /* set by anybody to end the evaluation soon, with ERR_CANCELLED */
    /* debug and stderr: kind is "debug" or "stderr"; value is borrowed. NULL: dropped. */
    void (*log)(void *ctx, const char *kind, Json value);
    double (*now)(void *ctx); /* seconds since 1970; NULL: the system's clock */
    void *ctx;
} JqHost;

typedef enum JqStatus {
    JQ_OUTPUT, /* *out is the caller's */
    JQ_DONE,   /* no more outputs */
    JQ_FAILED, /* jq_run_error() says why; there are no more outputs */
    JQ_PAUSED, /* the slice is used up; call again */
} JqStatus;

JqRun *jq_run_new(const JqProgram *p, const JqHost *host);
void jq_run_free(JqRun *run); /* accepts NULL */

/* Begins an evaluation; whatever was under way is dropped. Consumes input; vars has one value for
 * each name in JqOptions.vars, borrowed. */
void jq_run_start(JqRun *run, Json input, const Json *vars);
JqStatus jq_run_next(JqRun *run, Json *out);
/* Ends the evaluation and lets go of every value it holds, for callers that want no more outputs;
 * the machine can be started again. */
void jq_run_stop(JqRun *run);

/* After JQ_FAILED. The message is what jq would print; line and col are where in the file. */
const Error *jq_run_error(const JqRun *run);
/* The value that error(v) raised, borrowed; JSON_NONE when the run ended for another reason. */
Json jq_run_raised(const JqRun *run);
uint64_t jq_run_steps(const JqRun *run); /* used since jq_run_start() */

/* Compile, run, take the first output; for one-off evaluations. JSON_NONE on error, and also, with
 * err->code ERR_NONE, when there is no output. Borrows input. */
Json jq_eval(const char *text, Json input, const JqHost *host, Error *err);

#endif
