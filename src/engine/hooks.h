/* hooks.h - where a debugger looks into a run, and what it can do there.
 *
 * A run without hooks pays one branch a step. With hooks, at() is called wherever a frame comes to a
 * node, has finished one, or fails; its verdict decides whether the frame goes on or is *parked*. A
 * parked frame is data: its wait is ["pause", inner, info, ...], inner being what it waits for when it is
 * let go and info whatever the hook says about the pause. It is on record, costs nothing, and survives
 * the process. frame_let_go() lets it go, in one of several ways; what info.pending says is changed in
 * what the node sees first: [[id, path, value], ...], or [id, path] for what is to go.
 *
 * Clocks: while a frame is parked, its deadlines, those of the frames it was made by and that of the
 * run stand still, and so does the time that it slept or waited for its next attempt.
 *
 * While a run is *held* it does not settle because its frames are parked or wait for a person. Not
 * held, it settles as "paused" ("interrupted" when somebody has to answer) and may leave memory.
 *
 * All on the loop's thread. None of these may be called from at(), frame_new() or frame_end().
 */
#ifndef PAWL_HOOKS_H
#define PAWL_HOOKS_H

#include "engine.h"
#include "storage.h"

typedef struct Frame Frame;

typedef enum HookVerdict {
    HOOK_GO,   /* nothing here */
    HOOK_PARK, /* the frame waits for frame_let_go() */
    HOOK_TAKE, /* BEFORE: the node does not run; *info is what came of it:
                    {"status": "completed", "result": value}  as if it had given that back
                    {"status": "completed", "update": {...}}  through the reducers, whatever its `output`
                    {"status": "failed", "error": {...}}      it fails with that, and no attempt is left
                    {"status": "skipped"}
                    all maybe with "set": changes as of HOOK_CHANGE that are made first; and
                    of a task with "outputs": {}, and "tasks": {id: {...}} that is said of others */
    HOOK_CHANGE, /* BEFORE and AFTER: *info is [[[name], value], [[name]], {...}, ...]: what is set and
                    what goes in all that the frame sees, and in a graph objects that go through the
                    reducers as the result of a node does; then at() is asked once more (changed) */
    HOOK_GOTO, /* BEFORE and AFTER: *info is the name of another node of the graph that the frame is in, or
                    of one around it, which it stands before now. Where there is none: HOOK_GO */
} HookVerdict;

typedef enum HookPosition {
    HOOK_BEFORE,   /* the node is next */
    HOOK_AFTER,    /* it is done, and what it gave back is in the state; its edges come next */
    HOOK_ON_ERROR, /* it failed; retries and error edges come next */
    HOOK_DURING,   /* its work is under way: only frame_park() parks there */
    HOOK_POSITIONS,
} HookPosition;

extern const char
    *const hook_positions[HOOK_POSITIONS]; /* "before", "after", "on_error", "during" */

typedef struct HookPlace {
    Run *run;
    Frame *frame;
    const Node *node;
    HookPosition position;
    bool again;  /* BEFORE: the frame was let go here before; what was injected has run meanwhile */
    bool looked; /* BEFORE: the same, and it is not to be parked: the node is done now, or taken */
    bool changed; /* HOOK_CHANGE was the verdict here, and that is done */
    bool caught;  /* ON_ERROR: a retry or an error edge, or a task around it, takes the error */
    Json error;   /* ON_ERROR: borrowed */
} HookPlace;

/* Any of the functions may be NULL: then nothing is done there. */
typedef struct RunHooks {
    /* With HOOK_PARK *info may be set to what is said of the pause, an object; given. */
    HookVerdict (*at)(void *ctx, const HookPlace *place, Json *info);
    /* Whether at() would let a frame pass a node, both before and after it, without looking at anything:
     * it is not called then. Hot. */
    bool (*passes)(void *ctx, const Frame *frame, const Node *node);
    void (*frame_new)(void *ctx, Frame *frame); /* it has its parent, but no levels yet */
    void (*frame_end)(void *ctx, Frame *frame); /* the last time that it is seen; frees its data */
    /* An event of the run, once it is durable. */
    void (*event)(void *ctx, const Event *event);
    unsigned events; /* which ones are wanted: 1u << EVENT_..., ORed */
} RunHooks;

/* hooks is borrowed; NULL takes them away. frame_new() is called for the frames that there are, and
 * frame_end() when the hooks go, or the run is freed with them. */
void run_set_hooks(Run *run, const RunHooks *hooks, void *ctx);
/* How often it has come to rest (EVENT_STOPPED has the number); 0 while it is not at rest. */
int64_t run_rest(const Run *run);
bool run_has_hooks(const Run *run);
void run_hold(Run *run, bool held); /* tells again that it has stopped, if it has */
bool run_is_held(const Run *run);

/* A JSON value that is kept with the run, in every checkpoint from the next on: the debugger's own.
 * JSON null: there is none. Consumes it. When the run goes back, it keeps the one it has now. */
void run_set_debug(Run *run, Json value);
Json run_debug(const Run *run); /* borrowed; JSON null when there is none */
/* A checkpoint for it alone, when nothing else is about to be recorded. */
void run_record_debug(Run *run);

/* ---- frames ---- */

Frame *run_frame(const Run *run, int64_t id); /* NULL: no such frame, or it has ended */
Frame *run_next_frame(const Run *run, const Frame *after); /* NULL: the first, or none follows */
/* The same of those that are not at rest, in the order in which they began to move: what it costs to go
 * through them does not grow with the frames that are paused. */
Frame *run_next_moving(const Run *run, const Frame *after);
size_t run_frame_count(const Run *run);
size_t run_parked_count(const Run *run);
size_t run_waiting_count(const Run *run);  /* for a person */
int64_t run_last_frame_id(const Run *run); /* highest number given so far */

int64_t frame_id(const Frame *f);
Run *frame_run(const Frame *f);
const Frame *frame_parent(const Frame *f);
void frame_name(const Frame *f, char *out, size_t size); /* "main", "concurrent[0]", ... */
void **frame_data(Frame *f);                             /* a slot for the hooks */
const char *frame_status(
    const Frame *f); /* "ready", "working", "paused", "waiting", "joining", ... */
bool frame_is_parked(const Frame *f);
/* Nothing can come of it by itself: it is parked, waits for a person or for its branches, or ended. */
bool frame_is_at_rest(const Frame *f);
Json frame_pause(const Frame *f); /* info of a parked frame, borrowed; JSON_NONE: it is not */
HookPosition frame_position(const Frame *f); /* of a parked frame */
Json frame_waits(const Frame *f);            /* as in the image (image.h), borrowed */
int64_t frame_since(const Frame *f); /* when it came to its node, or was parked: ms since 1970 */

/* Where the branches of an edge that a frame waits for meet, in *node; NULL: at the end. False: it waits for none. */
bool frame_joins_at(const Frame *f, const Node **node);

/* Levels: 0 is the lowest, frame_depth()-1 the one that runs. */
uint32_t frame_depth(const Frame *f);
const Node *frame_node(const Frame *f, uint32_t level); /* NULL: past the last */
const Graph *frame_graph(const Frame *f, uint32_t level);
/* The level that holds one: a branch goes on in the graph of the frame that made it. False: none does. */
typedef struct FrameLevel {
    const Frame *frame;
    uint32_t level;
} FrameLevel;
bool frame_level_around(FrameLevel *at);
/* Appends what the node is called from outside: "use/make" is `make` in the workflow or the kind that `use` uses. */
void frame_add_path(const Frame *f, Buf *out);
Json frame_sees(const Frame *f); /* what a node of the level that runs sees; given */
Json frame_sees_at(const Frame *f, uint32_t level); /* the same of a level */
int32_t frame_attempt(const Frame *f);              /* failed attempts at the node so far */
/* Values of the node's variables (node->vars), in that order; borrowed by out, which has room for
 * FRAME_VARS_MAX. */
enum { FRAME_VARS_MAX = 2 * FLOW_DEPTH_MAX };
const Json *frame_variables(const Frame *f, const Node *node, Json *out);
/* The config of the node that a frame stands at, as it would be if it began now on a state (what it
 * sees, changed or not): an object by parameter. JSON_NONE on error. Given. */
Json frame_config(Frame *f, Json state, Error *err);
/* The title of a task that a frame stands at, with the placeholders filled in from what it sees (`vars`, changed or not);
 * as it is written where that cannot be. JSON_NONE: it has none. Given. */
Json frame_title(const Frame *f, const Node *node, Json vars);

/* ---- tasks, for those who read images ---- */

/* What is in sight in a scope of its own: the variables around it, the defaults of its graph and its own.
 * Consumes view. */
Json scope_over(Json view, Json own, Json defaults);

/* ---- stopping and letting go ---- */

typedef enum ParkResult {
    PARKED_NOW,   /* it is parked */
    PARKED_LATER, /* its work cannot be frozen: the hook has to stop it at its next place */
    PARKED_NEVER, /* it waits for a person or for its branches: there is nothing to stop */
} ParkResult;

/* Stops a frame wherever it is: work that can be is frozen, sleeps and back-offs stand still. Consumes
 * info. */
ParkResult frame_park(Frame *f, Json info);
/* Changes what is said of the pause; recorded with the next record. Consumes info. */
void frame_set_pause(Frame *f, Json info);

typedef enum LetGoHow {
    LET_GO,    /* as if it had not been parked; after an error, that takes its course */
    LET_SKIP,  /* the node is passed over: BEFORE, DURING, ON_ERROR */
    LET_RETRY, /* ON_ERROR: the node runs again, with all its attempts; DURING: from its beginning */
    LET_END, /* a branch or an element of a map ends here: what it has written counts, the rest of it is not done */
    LET_GOTO, /* the frame stands before another node of the graph it is in, still parked */
} LetGoHow;

typedef struct LetGo {
    LetGoHow how;
    Json output;      /* SKIP: what it gives back instead; JSON_NONE: nothing */
    const char *word; /* for EVENT_RESUMED: what the person did; NULL: "continue" */
    bool
        anew; /* GO: a frame that stands before its node comes to it once more: the hooks are asked again */
    const char *node; /* GOTO: its name */
    Json info;        /* GOTO: what is said of the new pause. Borrowed as the others are */
} LetGo;

/* False, and nothing happens, when it is not parked, or not so that this can be done. */
bool frame_let_go(Frame *f, const LetGo *go, Error *err);

/* What a frame sees, with what is pending; given. JSON_NONE on error. */
Json frame_will_see(const Frame *f, Error *err);

/* ---- nodes that the workflow does not have ---- */

typedef enum InjectWhere { INJECT_BEFORE, INJECT_INSTEAD, INJECT_AFTER } InjectWhere;

typedef struct Injection {
    int64_t id;
    InjectWhere where; /* of the node that the frame stands at */
    Json name;         /* of the node; NULL-kind: the one it has, or "injected" */
    Json node;         /* as it would stand in the file: an object */
} Injection;

/* The node runs when the frame goes on. It is loaded and checked here; sub-workflows are found beside
 * the workflow's file. When it fails, and nobody stops it there, what comes after it goes on. */
bool frame_inject(Frame *f, const Injection *injection, Error *err);
/* [{id, where, name, node}] that have not begun; given. */
Json frame_injections(const Frame *f);
/* The workflow that holds it, for those who look at its nodes; it lives as long as the run. NULL: there is
 * none that has not begun. */
const Flow *frame_injection_flow(const Frame *f, int64_t id);
/* Any that there were, and tests that were read when their task began; NULL past the last. */
const Flow *run_injected_flow(const Run *run, size_t i);
bool frame_drop_injection(Frame *f, int64_t id); /* false: there is none that has not begun */
/* The id of the injection that the node a frame stands at is of; 0: it is the workflow's own. */
int64_t frame_injected(const Frame *f);
/* It is of one that was put before or after another: its errors lead nowhere, and do not cost the run. */
bool frame_is_added(const Frame *f);
/* The config of the node that a frame stands at was edited for this execution: another version of it is to
 * run, or runs, instead, and stands where it does in its file. */
bool frame_is_edited(const Frame *f);

/* ---- other ways on ---- */

/* A run from the store that nothing happens to yet, with its lease, whatever became of it: frames that
 * would go on by themselves are parked (info says why), those that wait or have ended stay as they are.
 * NULL on error. Consumes info. */
Request *engine_open(Engine *engine, const char *thread, Json info, RunReady ready, void *ctx);
Run *engine_open_now(Engine *engine, const char *thread, Json info, Error *err);

/* Takes the lease of a run in memory again, which it gave back when it settled: one that is to go on
 * needs it. ready is told the run, later. */
Request *run_take(Run *run, RunReady ready, void *ctx);

bool run_is_taken(const Run *run); /* it has its lease */
/* Gives the lease of a run back that was taken and has not gone on after all. */
void run_give_back(Run *run);
/* It was cancelled, and cleans up: nothing parks it any more, and what was parked goes on. */
bool run_is_cancelling(const Run *run);
/* Somebody wanted it to end: it was cancelled, or stopped. */
bool run_is_called_off(const Run *run);

/* A checkpoint of a run, for run_rewind(): read from the store, on any thread. Given; JSON_NONE on error. */
typedef struct RewindTo {
    int64_t run;
    const char *thread;
    int64_t seq;
} RewindTo;
Json rewind_read(Store *store, const RewindTo *to, Error *err);

/* Goes back to a checkpoint of the run's own history, in place: work that is under way is ended, what
 * came after stays in the history, and every frame that could go on is parked. Consumes info. What frames
 * have recorded since the checkpoint need not be durable. Blocks only to take the lease of a run that has
 * settled: run_take() does that before. */
bool run_rewind(Run *run, Json there, Json info, Error *err);

/* A failed run that was opened is alive again (its lease as for run_rewind()): the frame that failed is parked on its error, as if it had
 * been stopped there. Consumes info. False when it has not failed, or cannot go on. */
bool run_reopen(Run *run, Json info, Error *err);

/* A new thread (NULL: a name is made) in which one node runs, on what it saw in another: that which the
 * step at checkpoint seq ended. Nothing else of it runs, and with the node the run ends. NULL on error. */
typedef struct RunReplay {
    const char *thread;
    int64_t seq;
    const char *new_thread;
    Json
        input; /* {name: value} that the node sees instead of what it saw; JSON_NONE: nothing is changed */
    Json
        config; /* {key: value} of the node as it is written, null for one that goes; JSON_NONE: as it was */
    const char *by; /* who asks for it, as of run_set_by() */
} RunReplay;
Request *engine_replay(Engine *engine, const RunReplay *replay, RunReady ready, void *ctx);
Run *engine_replay_now(Engine *engine, const RunReplay *replay, Error *err);

/* Answers an interrupt of a run that is in memory. value, decision and interrupt as in RunResume. */
bool run_answer(Run *run, const RunResume *answer, Error *err);

/* Tells when all that was recorded so far is durable, at once when it is; or that the store failed. For
 * those who then read it (engine_reader()), or tell of it. */
void engine_when_durable(Engine *engine, void (*fn)(void *ctx, const Error *err), void *ctx);
/* The same for what was recorded of this run, but for what its nodes print. */
void run_when_durable(Run *run, void (*fn)(void *ctx, const Error *err), void *ctx);
/* The same for all, and blocks for as long as the commits take: only where the answer cannot come later. False
 * when the store failed. */
bool engine_wait_durable(Engine *engine);
int64_t run_durable_checkpoint(const Run *run); /* its head, as far as that is durable */
/* A handle for short reads on the loop's thread: sees what is durable, does not wait for commits. NULL
 * on error; there has to be a store. */
Store *engine_reader(Engine *engine, Error *err);
/* For longer ones, and for what is to be written beside runs: jobs on its threads. NULL: no store. */
Storage *engine_storage(Engine *engine);
/* The handle that the engine was given, for what needs no disk (store_url() and the like). NULL: none */
Store *engine_store(const Engine *engine);
uv_loop_t *engine_loop(const Engine *engine);
int64_t engine_time(const Engine *engine); /* its clock: ms since 1970 */
Engine *run_engine(const Run *run);
const Flow *run_flow(const Run *run);

/* Queues an event of the debugger's own (EVENT_DEBUG) behind what is recorded now. Consumes data. */
void run_tell(Run *run, const Frame *frame, Json data);

#endif
