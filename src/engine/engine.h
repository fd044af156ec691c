/* engine.h - runs of workflows.
 *
 *     Engine *engine = engine_new(&options, &err);            one for a loop and a store
 *     engine_start(engine, flow, &start, ready, ctx);         or engine_resume()
 *     uv_run(loop, UV_RUN_DEFAULT);                           until it settles: on_event says so
 *     engine_free(engine);
 *
 * Nothing on the loop waits for the disk. What needs the store to begin is a request: it copies what it
 * is given, and whoever asked is told exactly once, on the loop, never before the request returns
 * (unless there is no store to ask); the Request that it returns is the engine's own. Each has a form
 * that ends in _now, for callers that must have their answer at once: it blocks for as long as the disk
 * takes, and runs no loop meanwhile.
 *
 * A run settles when nothing in it can go on by itself: it is completed, failed or cancelled, or
 * every frame that is left waits for an answer (interrupted) or for a debugger (paused). Then its lease is released and the
 * process may exit; any process can go on with it later.
 *
 * Everything a run is lives in its image, a JSON value (image.h): frames, their stacks of levels,
 * the state of each level, what each frame waits for. A checkpoint is the difference of two images.
 * The engine works on structs; after each step of a frame it renews that frame's part of the image,
 * and the difference goes into the batch of this turn. Events, and the start of work outside, wait
 * until the batch that leads to them is durable; pure steps do not wait.
 *
 * All on the loop's thread. Values handed to callbacks are borrowed.
 */
#ifndef PAWL_ENGINE_H
#define PAWL_ENGINE_H

#include "bounds.h"
#include "flow.h"
#include "step.h"
#include "store.h"

#include <uv.h>

typedef struct Engine Engine;
typedef struct Run Run;
typedef struct Request Request;

/* ---- what happens, told to whoever made the engine ---- */

/* clang-format off */
#define EVENTS(X)                                                                                        \
    X(START, start)         /* the run begins or goes on; data: {"workflow", "resumed": bool,           \
                               "trace"? (of one that has: {"traceparent", "tracestate"?, "parent"?})} */ \
    X(NODE, node)           /* a node begins in a frame, or is a task that is skipped there; data:      \
                               {"kind", "attempt", "title"?, "span"? (its id, unless it is skipped)} */ \
    X(LOG, log)             /* output of a node; data: {"stream", "text", "execution"? and "offset"? (of \
                               what is recorded: where), "progress"? and "percent"? of a line that      \
                               says how far it is} */                                                   \
    X(STEP, step)           /* a checkpoint was made: node, frame, status, update (what the node gave   \
                               back), state */                                                          \
    X(INTERRUPT, interrupt) /* a frame stopped for a person; data: {"id", "reason", "prompt",           \
                               "options"} */                                                            \
    X(RETRY, retry)         /* an attempt failed and another follows; data: {"error", "attempt" (that   \
                               failed), "attempts", "delay" (seconds)} */                               \
    X(WARNING, warning)     /* data: {"message"} */                                                     \
    X(SETTLED, settled)     /* the last one of a run: status */                                         \
    X(PAUSED, paused)       /* a debugger stopped a frame; status: where (hooks.h), data: what it says  \
                               of it */                                                                 \
    X(RESUMED, resumed)     /* and let it go; data: {"how"} */                                          \
    X(DEBUG, debug)         /* of a debugger; data: its own */                                          \
    X(STOPPED, stopped)     /* a run that is held: no frame goes on by itself any more */
/* clang-format on */

typedef enum EventType {
#define X(id, name) EVENT_##id,
    EVENTS(X)
#undef X
        EVENT_COUNT,
} EventType;

typedef struct Event {
    EventType type;
    Run *run;
    int64_t at;         /* milliseconds since 1970 */
    int64_t checkpoint; /* the one it belongs to; 0: none */
    int64_t step, frame;
    const char *frame_name; /* "main", "parallel[0]", "map[3]" */
    const char *node;       /* "" when there is none */
    const char *status;     /* STEP: of the checkpoint; SETTLED: of the run */
    int depth;              /* of the frame's stack; 1: not nested */
    Json update, state;     /* STEP; INTERRUPT has state */
    Json error;             /* STEP, of an execution that failed */
    Json edges;             /* STEP, with them: that were chosen (choices_tell()) */
    Json data;
} Event;

extern const char *const event_names[EVENT_COUNT]; /* "start", "node", "log", ... */

/* ---- engines ---- */

/* Where the values of secrets are. */
typedef struct SecretSource {
    /* Appends the value. False: there is none; with *err set (ERR_SECRET), it cannot be had. On the loop: a few
     * small files at most. NULL: there are no secrets. */
    bool (*find)(void *ctx, const char *name, Buf *value, Error *err);
    void *ctx;
} SecretSource;

#define ENGINE_STATE_MAX ((uint64_t)256 << 20) /* bytes of a state, unless told otherwise */

typedef struct EngineOptions {
    uv_loop_t *loop;
    /* NULL: nothing is recorded. The engine's own until engine_free(): whoever else reads does so
     * through engine_reader() or engine_storage() (hooks.h). */
    Store *store;
    const NodeWork *const
        *work; /* KIND_COUNT of them, by KindId; NULL: such nodes cannot be done */
    void (*on_event)(void *ctx, const Event *event); /* NULL: nobody listens, which is cheaper */
    /* The store takes no more: all runs have settled where their records end (run_store_error()), and whatever the
     * engine is asked for fails with this. NULL: nobody is told. */
    void (*on_broken)(void *ctx, const Error *err);
    void *ctx;
    bool want_updates;         /* STEP events carry update and state */
    int64_t (*now)(void *ctx); /* milliseconds since 1970; NULL: the system's clock */
    /* What runs have from the process that runs them; borrowed. The engine and what works for it look at
     * neither by themselves. */
    const char *folder;       /* a whole path: where runs are started; NULL: not known, and "." */
    char *const *environment; /* "NAME=value"..., NULL: of commands and workers, whoever started the
                                 run; it is not recorded. NULL: they have none */
    Bounds bounds;            /* what runs may reach */
    SecretSource secrets;     /* for $secrets */
    uint64_t max_state;       /* bytes of a state as json_size() counts; 0: 256 MB. At most
                                 STORE_IMAGE_MAX */
    uint64_t
        max_given; /* bytes that all work under way was given, besides the state: more of it waits; 0: 256 MB */
    bool traces;       /* a run that belongs to no trace begins one (run_trace.h) */
    JqBudget budget;   /* of each evaluation; zero: jq.h's defaults */
    uint64_t query_ms; /* that a query of the tasks dialect may work; 0: 10 s */
} EngineOptions;

Engine *engine_new(const EngineOptions *options, Error *err);
/* Waits for what is being committed; runs that have not settled stay resumable. The loop has to run
 * once more to close its handles. Not from a callback of the engine. Accepts NULL. */
void engine_free(Engine *engine);

/* What it has done since it began, and what is queued now. */
typedef struct EngineCounts {
    uint64_t runs;    /* that began or went on */
    uint64_t steps;   /* that were recorded */
    uint64_t commits; /* of the store */
    size_t working;   /* heavy steps that are under way */
    size_t due;       /* runs that wait for their turn */
    size_t starting;  /* steps that wait for the store, or for room, before they begin */
    size_t telling;   /* events that wait for the store before they are told */
    size_t unsaved;   /* batches that are not durable yet */
} EngineCounts;
EngineCounts engine_counts(const Engine *engine);

/* After the clock of options.now was moved by hand: looks again at everything that waits for a
 * time. */
void engine_wake(Engine *engine);

/* ---- starting and going on ---- */

/* The run, or why there is none. */
typedef void (*RunReady)(void *ctx, Run *run, const Error *err);
/* The row of a run that was changed or made, or why not. */
typedef void (*RunChanged)(void *ctx, const RunRow *row, const Error *err);

typedef struct RunStart {
    const char *thread; /* NULL: a name is made */
    Json input;         /* an object, or JSON_NONE; merged over the defaults of the state */
    const char *mode;   /* "autonomous" or "interactive"; NULL: as the workflow says */
    const char *folder; /* where its commands run and its paths begin; NULL: the engine's */
    bool held;          /* it has no turn before ready() was told: for debuggers */
    /* The W3C trace context of whoever starts it, as it came (base/trace.h); NULL: it has none. */
    const char *traceparent, *tracestate;
    const char *by; /* who asks for it, as of run_set_by(), and so are those below */
} RunStart;

/* Making the run, its first checkpoint and the pure steps that follow are one commit, which it shares
 * with whatever else happens meanwhile. */
Request *engine_start(Engine *engine, Flow *flow, const RunStart *start, RunReady ready, void *ctx);
Run *engine_start_now(Engine *engine, Flow *flow, const RunStart *start, Error *err);

typedef struct RunResume {
    const char *thread;    /* or the number of a run */
    int64_t seq;           /* 0: from the head; otherwise a fork from that checkpoint */
    const char *interrupt; /* id of the interrupt that is answered; NULL: the only one */
    Json value;            /* the answer; JSON_NONE: none */
    const char *decision;  /* one of the options of an approval; NULL: none */
    Json set;              /* array of [path, value] to set in the state first; JSON_NONE: none */
    Flow *reload; /* take this definition instead of the stored one; NULL: the stored one */
    const char *by;
} RunResume;

/* Errors, each with its own sentence: no such thread; no such checkpoint; damaged; busy; nothing to
 * go on with (completed, cancelled); an answer is needed, or several and no id; unknown id or
 * option. */
Request *engine_resume(Engine *engine, const RunResume *resume, RunReady ready, void *ctx);
Run *engine_resume_now(Engine *engine, const RunResume *resume, Error *err);

/* Writes a checkpoint by hand: sets values in the state of the root frame's current level; with
 * as_node the run stands after that node, as if it had given them back. Does not run anything.
 * *seq, and the head of the row, is the new checkpoint. */
typedef struct RunUpdate {
    const char *thread;
    int64_t seq; /* 0: the head */
    Json set;    /* array of [path, value] */
    const char *as_node;
    const char *by;
} RunUpdate;
Request *engine_update(Engine *engine, const RunUpdate *update, RunChanged changed, void *ctx);
bool engine_update_now(Engine *engine, const RunUpdate *update, int64_t *seq, Error *err);

/* A new thread (NULL: a name is made) that begins as a copy of another at a checkpoint (0: its head).
 * Runs nothing. */
typedef struct RunFork {
    const char *thread;
    int64_t seq;
    const char *new_thread;
    const char *by;
} RunFork;
Request *engine_fork(Engine *engine, const RunFork *fork, RunChanged changed, void *ctx);
bool engine_fork_now(Engine *engine, const char *thread, int64_t seq, const char *new_thread,
                     RunRow *out, Error *err);

/* Frees a run that has settled; engine_free() does it for those that are left. Accepts NULL. */
void run_free(Run *run);

/* Ends work that is under way and settles as cancelled; the cleanupTasks of a test run first. */
void run_cancel(Run *run);
/* The same without them: those that run are ended, too. */
void run_cancel_at_once(Run *run);
/* Ends work that is under way and settles as "stopped": the run is resumable as after a crash, the
 * nodes that were under way start again. What Ctrl-C does. */
void run_stop(Run *run);

/* The same for a run that no process has; ERR_BUSY otherwise (then engine_ask_cancel_now()). A test whose
 * cleanupTasks have not run goes on with those: *cleaning, and what ready() is told, is that run, to be
 * waited for; NULL otherwise. */
typedef struct RunCancel {
    const char *thread;
    const char *by;
    bool at_once; /* no cleanupTasks run */
} RunCancel;
Request *engine_cancel(Engine *engine, const RunCancel *how, RunReady ready, void *ctx);
bool engine_cancel_now(Engine *engine, const char *thread, Run **cleaning, Error *err);

/* Asks whatever process has the run to cancel it. There has to be a store. */
bool engine_ask_cancel_now(Engine *engine, const char *thread, Error *err);

/* Which events of a run reach on_event: 1u << EVENT_..., ORed; all of them unless told. values: STEP and
 * INTERRUPT carry update and state; as want_updates says unless told. */
void run_listen(Run *run, unsigned events, bool values);

/* Who asks for what is done with the run until the next call of this, as a door knows them: it is in the checkpoints
 * that this makes (StepResult.by). NULL: nobody said. Copied. What starts, resumes and changes runs has a `by` of its own. */
void run_set_by(Run *run, const char *by);
/* That is done. Where nothing was recorded of it, who asked is said with what is recorded next. */
void run_leave_by(Run *run);

/* A slot for whoever made the engine. */
void run_set_owner(Run *run, void *owner);
void *run_owner(const Run *run);

/* ---- looking ---- */

const char *run_thread(const Run *run);
int64_t run_number(const Run *run);
int64_t run_checkpoint(const Run *run); /* the head */
int64_t run_step(const Run *run);
/* "running", "interrupted", "paused", "completed", "failed", "cancelled", "stopped" */
const char *run_status(const Run *run);
bool run_settled(const Run *run);
/* It failed in a way that a resume cannot mend: a test whose cleanupTasks have run. Going back to an
 * earlier checkpoint can. */
bool run_is_over(const Run *run);
Json run_state(const Run *run); /* borrowed: of the root frame's lowest level */
/* It failed at a node that somebody had answered: a resume with a value answers it otherwise. */
bool run_was_answered(const Run *run);
/* {kind, message, node, file, line, column, ...}; JSON_NONE when it has not failed. Borrowed. */
Json run_error(const Run *run);
/* The error of the store that ended the run, when that was it; NULL otherwise. */
const Error *run_store_error(const Run *run);

/* [{id, node, frame, prompt, options, reason}], given. */
Json run_interrupts(const Run *run);
/* [{frame, parent, name, status, node, depth, since, waits}], given: for progress. Only the first
 * `max` frames. */
Json run_frames(const Run *run, size_t max);

/* ---- images, for those who read the store without running (image.h has the layout) ---- */

Json image_state(Json image);      /* given: the state people see: the root frame's lowest level */
Json image_interrupts(Json image); /* as run_interrupts() */
Json image_error(Json image);      /* given; JSON_NONE when there is none */
bool image_is_over(Json image);    /* as run_is_over() */
bool image_is_paused(Json image);  /* a debugger has stopped a frame of it */
Json image_folder(Json image);     /* given: the folder that the run was started in, a string */
/* Names of the keys of the state that a checkpoint's patch touched, in any frame: an array of
 * strings. changed.h has those that it changed. */
Json image_changed_keys(Json patch);
Json checkpoint_changed_keys(const Checkpoint *c); /* the same of one as it is in the store */

#endif
