/* step.h - one attempt at a node, as those see it who do the node's work.
 *
 * The work of a kind is a row (NodeWork) that the engine is given when it is made. To do a node the
 * engine makes a Step and calls start(). Work returns and calls step_succeed() or step_fail() later, on
 * the loop's thread, exactly once; pure work calls it inside start().
 *
 * Pure work that takes long is *sliced*: where the turn is over (step_turn_end()) it returns without an
 * end, and go_on() is called in a later turn, with another Step of the same data: a pointer to a Step is good
 * until start() or go_on() returns. Nothing of it is on record meanwhile, and it is done again after a crash.
 *
 * Work that is not pure is started only after the record that leads to it is durable, and may be
 * started a second time for the same step when the process died in between. What it has under way outside
 * of this process has a *handle*, step_place(): the same in both starts, so that the work finds it again.
 * To the engine that is a name that it keeps on record; what it stands for (a folder, a container, a
 * request to somebody) is the work's own business, and so is to end it, freeze it, and forget it.
 *
 * A result of a task is an object of outputs, which are added to those set before, or null.
 *
 * cancel() asks the work to end early. It still finishes with step_fail(); the engine ignores the
 * words then.
 */
#ifndef PAWL_STEP_H
#define PAWL_STEP_H

#include "bounds.h"
#include "flow.h"
#include "mask.h"
#include "trace.h"

#include <uv.h>

typedef struct Step Step;
typedef struct Errand Errand;
typedef struct Errands Errands;

/* What is left of the attempts of a run, but for those that are wanted, is to be ended and forgotten. */
typedef struct WorkSweep {
    const char *folder; /* that of step_place() */
    int64_t run;
    /* key: the handle is FOLDER/RUN-KEY. */
    bool (*wants)(void *ctx, const char *key);
    void *ctx;
    Errands *endings; /* for what waits for processes to end (errand.h) */
} WorkSweep;

typedef struct NodeWork {
    bool pure;       /* finishes inside start() or go_on() and touches nothing outside */
    bool keeps_time; /* ends itself when step_timeout_ms() is over; otherwise the engine cancels it
                        then. Pure work keeps it, too */
    bool heavy;      /* only so many run at once: it costs a process */
    void (*start)(Step *step);
    void (*go_on)(Step *step); /* of pure work that is sliced; NULL: it ends inside start() */
    /* What is to be on record before start(): its *memo*, the same in every start() of the node until
     * it ends, whatever happens in between. Given; JSON_NONE with *err set fails the node. NULL: none
     * is kept. */
    Json (*prepare)(Step *step, Error *err);
    void (*cancel)(Step *step); /* NULL for pure work, which is dropped */
    /* Stands still, with its time, until it is let go on; cancel() may come in between. NULL: it
     * cannot, and a debugger stops it when it has ended. */
    void (*freeze)(Step *step, bool frozen);
    /* The engine ends while the step is under way: frees what the work holds and leaves what it
     * started to be found again. Nothing of the step is called after it. Of pure work: the same, whoever
     * ends it; NULL where it holds nothing. */
    void (*drop)(Step *step);
    /* Of the kind that evaluates expressions in Jinja (Foreign in flow.h); NULL: it does not. The step has the input as
     * its state and ends with step_evaluated(), inside or later; drop() before that ends it. result: the
     * variable of that name; JSON_NONE: there is none. */
    void (*evaluate)(Step *step, const Expr *expr, Json result);
    /* Of work that has handles; both NULL otherwise. What a handle stands for is of no more use: its result
     * is on record, or nobody wants it. One that was never used is fine. */
    void (*forget)(const char *place);
    void (*sweep)(const WorkSweep *sweep); /* kinds that name the same function are swept at once */
    void (*free_data)(
        void *data); /* of step_kind_data(), when the engine ends; NULL: none is kept */
} NodeWork;

const Node *step_node(const Step *step);
/* Of node->params; of a task, as it is after placeholders and configVars. */
const Param *step_param(const Step *step, int index);
Json step_state(const Step *step);             /* borrowed; what the node sees */
Json step_var(const Step *step, size_t index); /* of node->vars; borrowed */
uv_loop_t *step_loop(const Step *step);
const char *step_thread(const Step *step); /* of the run */
/* The folder that the run was started in: commands run there, and relative paths begin there. */
const char *step_folder(const Step *step);
/* A text that runs have in common if they go by the same definition and, where those who start runs are told apart
 * (base/bounds.h), were started by the same; and no others. One that nobody knows who started has a text of its own, and so
 * has a node that a debugger has put in or edited. Given. */
Json step_realm(const Step *step);
/* The environment of what the run starts: "NAME=value" and a NULL at the end. */
const char *const *step_environment(const Step *step);
/* The trace context of this attempt, for whatever it asks or starts. False: the run belongs to no trace.
 * *state: tracestate, borrowed; NULL: none. */
bool step_trace(const Step *step, TraceContext *out, const char **state);
/* What the run may reach. */
const Bounds *step_bounds(const Step *step);
/* The graphs around the node, innermost first; NULL behind the last. */
const Graph *step_graph(const Step *step, size_t i);
int64_t step_timeout_ms(const Step *step); /* of the node; 0: none */
/* When that is over for pure work, as uv_hrtime() counts, and when the turn is; 0: never. */
uint64_t step_deadline(const Step *step);
uint64_t step_turn_end(const Step *step);
/* Work that took long, and was not evaluated by step_eval() or the like, says so: the engine looks at the
 * clock. */
void step_took_long(Step *step);
bool step_is_interactive(const Step *step); /* the run's mode */

/* Evaluates an expression of the node on the state, with the variables in scope, within the run's
 * budget. The first output, given; when it fails, or has no output, JSON_NONE with *err set. */
Json step_eval(Step *step, const Expr *expr, Error *err);
/* The same for pure work, in slices: false where the turn is over; call it again in go_on(). Otherwise *out
 * is what came of it. */
bool step_eval_slice(Step *step, const Expr *expr, Json *out, Error *err);
/* The same for a query of the tasks dialect: one that has no output gives JSON_NONE without an error. */
Json step_query(Step *step, const Expr *query, Error *err);
/* The same for a parameter whose row names further variables: their values, in that order. Borrows. */
Json step_eval_with(Step *step, const Expr *expr, const Json *more, size_t n, Error *err);
/* What a template comes to, as text: strings as they are, the rest as JSON. */
bool step_text(Step *step, const Expr *expr, Buf *out, Error *err);

/* The same of what may be so large that printing it would hold the loop: then it is in a file (unnamed_file.h), which is
 * written in slices. Where the turn is over first start() is called anew, as with an expression that takes long. */
typedef struct StepText {
    Buf text;
    bool is_file; /* it is in the file instead, which is the caller's to close */
    int file;
    size_t len;
} StepText;
bool step_long_text(Step *step, const Expr *expr, StepText *out, Error *err);
void step_text_clear(StepText *text);

/* In start(): so many bytes are kept for as long as the step is under way. Values that are evaluated are counted without
 * it. False, with *err set: others hold so much that this one has to wait. start() frees what it has and fails the step
 * with that error, as with any; it is called anew when there is room. */
bool step_reserve(Step *step, uint64_t bytes, Error *err);

/* The handle of what this attempt has under way: a path in the store's folder where nothing is made, its
 * own and the same after a crash. The engine has it forgotten once the result is durable. NULL, with *err
 * set, when the store has no folder. */
const char *step_place(Step *step, Error *err);

/* For the work's own use between start() and the end. */
void step_set_data(Step *step, void *data);
void *step_data(const Step *step);

/* A slot that the kind's work may keep something in for as long as the engine lives, such as an
 * interpreter; NULL at first, given to free_data() in the end. The same for every step of the kind. */
void **step_kind_data(Step *step, KindId kind);

/* A line or a piece of what the work prints, for the run's log and for whoever listens; stream is "stdout", "stderr"
 * or "log". */
void step_log(Step *step, const char *stream, const char *bytes, size_t len);
/* So much output waits for the disk that whoever can had better read more of it later. */
bool step_log_is_behind(const Step *step);
/* What follows in the stream is not what came next: so many bytes were left out, which is said there; 0: it is a
 * part that was read before. */
void step_log_cut(Step *step, const char *stream, uint64_t left_out);

/* ---- secrets ----
 *
 * Everything that work gives to the engine is masked there: logs, results, variables, questions, errors. Work has to
 * do so itself only before it cuts something off, for a part of a secret is not found any more. */

bool step_has_secrets(const Step *step);
/* What another process needs to hide them (mask_write()); nothing where there are none. */
void step_write_mask(Step *step, Buf *out);
/* The same for another thread: given; NULL where there are none. */
Mask *step_copy_mask(Step *step);
/* Appends the text to out, with the run's secrets hidden; cut: MASK_CUT_... (base/mask.h). False, and nothing is
 * appended, when there is none in it. */
bool step_mask(Step *step, const char *text, size_t len, unsigned cut, Buf *out);

/* ---- asking ---- */

/* What prepare() gave; borrowed; JSON_NONE when there is no prepare(). */
Json step_memo(const Step *step);

/* The answers that the node got so far, oldest first: an array, borrowed. */
Json step_answers(const Step *step);

/* Stops for a person: the run waits, maybe for days and in another process, for an answer to the
 * prompt, one of the options when there are any (an array of strings, or JSON_NONE). This step is over
 * with it; once there is an answer, a new one starts for the node, with the same place and memo and
 * one more answer. reason is a short word: "interrupt", "action". Consumes prompt and options. */
void step_ask(Step *step, const char *reason, Json prompt, Json options);

/* As if a person had been asked and had answered this: it is on record before the node starts again.
 * Consumes it. */
void step_answer(Step *step, Json answer);

/* Whether anybody may still start again with this place: false once the run has ended or went another
 * way, so that whatever waits there for an answer can be let go. */
bool step_place_wanted(Step *step, const char *place);

/* ---- tasks ---- */

typedef enum TaskResult {
    TASK_NONE,
    TASK_SUCCESS,
    TASK_FAILURE,
} TaskResult;

/* Sets a variable in the scope that the task runs in, and an output of it (tasks.ID.outputs). At once;
 * on record with the next record of the run. Consume value. Nothing in the other dialects, and nothing
 * for the variable `tasks`, which is the engine's own. */
void step_set_var(Step *step, Json name, Json value);
void step_set_output(Step *step, Json name, Json value);

/* How far the task is, of 100, in a few words of its own (tasks.ID.progress and progressMessage); in the same way. */
void step_set_progress(Step *step, double percent, const char *message);
/* The same, and a line of the log, which says of itself that it is one. */
void step_log_progress(Step *step, double percent, const char *message);

/* The result as it is so far, of a task that goes on (continueOnPass): containers count it. */
void step_set_result(Step *step, TaskResult result);

/* A folder that is the run's own and is there until it has ended: made if missing. NULL, with *err
 * set, when the store has none. */
const char *step_run_folder(Step *step, Error *err);

/* A folder that may hold any number of files, in the same file system as that one, goes: at once to whoever asks for it by its
 * name, and later from the disk. False, with errno: it is where it was. */
bool step_discard(Step *step, const char *path);

/* What takes the disk long is done on another thread (errand.h), one after the other for all runs. */
void step_errand(Step *step, Errand *errand);

/* The same for what is kept of the run: it goes with the record of the run. Its name only, nothing is made. */
const char *step_results_folder(Step *step, Error *err);

/* Should the step fail now, that is no failure of the node: it goes on with this result. A debugger sees
 * the error all the same. Consumes it. */
void step_forgive(Step *step, Json result);

/* The end of an evaluation: JSON_NONE with *err set, or a value, which it consumes. */
void step_evaluated(Step *step, Json value, const Error *err);
/* The folder of step_place(); NULL: there is none. */
const char *step_store_folder(Step *step);

/* Ends the step. Both consume their JSON. kind is a short word ("exit", "timeout", "jq", "lua",
 * "spawn", "limit", "cancelled") that retry.if and error edges see as .error.kind; details (an object
 * or JSON_NONE) adds fields to .error. */
void step_succeed(Step *step, Json result);
void step_fail(Step *step, const char *kind, Json details, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Of a kind that reads what it contains: the node goes on with the tasks of that flow, which is a test. Takes it over. */
void step_enter(Step *step, Flow *flow);

/* The same for an error that names its place in the file. */
void step_fail_with(Step *step, const char *kind, const Error *err);

#endif
