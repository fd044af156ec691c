/* runs.h - a run in memory: the structs behind engine.h, for the files of this folder.
 *
 * Reading order: this header; frame.c (one step of a frame), record.c and copies.c (a checkpoint),
 * control.c (the kinds that steer), work.c (the kinds that work), fail.c (errors and time), engine.c
 * (turns, commits, settling), load.c (from the store), resume.c (starting, answers, going on), byhand.c
 * (changes without running).
 *
 * The life of a step, in the words of the functions:
 *
 *     engine_turn -> frame_advance -> control_begin | work_begin
 *         pure:     -> frame_finish -> frame_land -> run_record -> (ready again)
 *         not pure: -> ... commit ... -> work_start -> ... loop ... -> frame_finish -> ...
 *         error:    -> frame_fail -> retry | error edge | the run fails
 *
 * A frame changes; whoever changed it marks it dirty; run_record() renews the image of all dirty
 * frames and writes the difference. Between two records the structs may be ahead of the image by pure
 * work only.
 */
#ifndef PAWL_ENGINE_RUN_H
#define PAWL_ENGINE_RUN_H

#include "engine.h"
#include "hooks.h"
#include "image.h"
#include "journal.h"
#include "json_build.h"
#include "lifecycle.h"
#include "machines.h"
#include "result.h"
#include "store_chain.h"
#include "wait.h"

typedef struct Frame Frame;

typedef struct Level Level;

struct Level {
    const Graph *graph;
    const Node *node; /* next or under way; NULL past the last */
    Json state;       /* of a scoped graph: JSON_NONE where it is that of the level below */
    Json writes;      /* reduce.h; JSON_NONE: nobody takes it over. Of a scoped graph: what the task
                         under way remembers, then how it ended (tasks.c) */
    int64_t steps;    /* nodes finished, for the recursion limit */
    int64_t deadline; /* of the node, when the engine itself keeps its time; 0: none */
    int32_t attempt;  /* failed attempts at the node */
    int32_t count;    /* turns of the node's loop */
    struct Injected
        *injected; /* its graph is that of a node that the workflow does not have; owned */
};

struct Frame {
    Run *run;
    Frame *parent;
    Frame *prev, *next; /* all frames of the run, oldest first */
    Frame *moving_prev,
        *moving_next;  /* those that are not at rest, the one that began last at the end */
    Frame *queue_next; /* in the run's queue of ready frames */
    Frame *dirty_next;
    int64_t id;
    Json key; /* the id as the image has it */
    uint32_t branch;
    FrameStatus status;
    bool queued, dirty, gone;
    bool is_branch;  /* of a parallel edge; then it ends at join (NULL: at the end) */
    bool is_element; /* of a map */
    bool is_task;    /* a child of a task: it does the one at `branch` */
    bool
        is_cleanup; /* runs the cleanup list of a test that was ended from outside; branch: its graph */
    const Node *join;
    Level *levels;
    uint32_t nlevels, levels_cap;
    uint32_t nrecorded; /* levels in its last record; 0: look there */
    uint32_t children;  /* frames that it holds for */
    Json result;        /* of an element that ended, for its map */
    Json set;           /* {variable: value} that its task has set so far; JSON_NONE: none */
    Json wait;          /* as in the image */
    WaitKind waits;     /* the kind of it */
    Json vars;          /* values of the variables of maps around it, outermost first; an array */
    struct Injected *injections; /* that have not begun, in order; owned */
    void *data;                  /* of the hooks */
    uint32_t held;   /* frames that are parked, of it and those below it: its clocks stand still */
    int64_t held_at; /* since when they do, or were brought up to date; 0: they run */
    bool skipped;    /* what it does now is passed over */
    bool taken;      /* what came of its node was known already */
    bool failure_kept; /* what it is parked on is in the history: the run had failed with it */
    bool thaw;         /* its work may be frozen, by an earlier process */
    Step *step;        /* work under way */
    Param *params;     /* of the task that is about to begin, resolved; NULL: not yet */
    uv_timer_t *timer;
    uint64_t batch; /* that its last record is in */
    int64_t since;  /* when it came to its node, for people */
};

/* The one node that is to run: that of a frame, at a depth, after so many steps. */
typedef struct RunOnly {
    int64_t frame; /* 0: all of it runs */
    uint32_t depth;
    int64_t step;
} RunOnly;

/* Lists of runs that an engine keeps. What happens in a turn or at a commit costs what it does to the runs
 * that it concerns: nobody looks at those that rest. */
typedef enum RunsThat {
    RUNS_ALL,      /* oldest first */
    RUNS_DUE,      /* are to have a turn, in this order */
    RUNS_AHEAD,    /* are watched, and wait until what they have recorded is handed over */
    RUNS_UNSAVED,  /* have a head or a status that is to be written */
    RUNS_SETTLING, /* settle once their last batch is durable */
    RUNS_LISTS
} RunsThat;

typedef struct RunLink {
    Run *prev, *next;
    bool in;
} RunLink;

typedef struct RunQueue {
    Run *first, *last;
} RunQueue;

/* The frames of a run by their numbers (run_frame()); without items: nobody has asked yet. */
typedef struct FrameIndex {
    struct IndexedFrame {
        int64_t id;
        Frame *frame; /* NULL: it has ended */
    } * items;
    size_t n, cap;
} FrameIndex;

struct Run {
    Engine *engine;
    RunLink links[RUNS_LISTS];
    Flow *flow;
    Machines *machines;
    RunRow row;
    RunStatus status;
    Json error;
    Json image; /* as last recorded; JSON_NONE without a store */
    ChainWeight weight;
    int64_t head, last, step;
    int64_t handed_last;               /* the newest that went to the store */
    int64_t handed_head, durable_head; /* that went to the store last, and before that */
    uint64_t handed_batch;             /* durable: so is handed_head */
    int64_t next_frame, deadline;
    Json mode;
    Json definition;   /* key of the one it was reloaded with; null: that of the row */
    Json folder;       /* that it was started in */
    char *folder_path; /* the same, as C has it */
    char *own_folder;  /* for its work, while it has not ended; NULL: not asked for */
    Frame *first_frame, *last_frame;
    Frame *first_moving, *last_moving;
    FrameIndex index;
    Frame *ready, *ready_tail;
    Frame *dirty, *dirty_tail;
    size_t nframes;
    size_t active;     /* frames that will go on by themselves: starting, working, timed */
    size_t waiting;    /* frames that wait for a person */
    Step *orphans;     /* steps that nobody waits for any more, and that have not ended */
    uv_timer_t *timer; /* of the deadline */
    const RunHooks *hooks;
    void *hooks_ctx;
    Json debug;   /* the debugger's own; null: none */
    Json by_hand; /* what a person changes with the record that comes next, as HOOK_CHANGE has it */
    bool by_hand_after; /* after the node that it is of */
    RunOnly only;
    size_t parked;            /* frames that are */
    bool is_held;             /* does not settle while somebody may let it go on */
    bool rested;              /* that no frame goes on was told */
    int64_t rests;            /* how often it was */
    bool fresh;               /* it was started here, and had no turn yet */
    uint64_t turn;            /* that it went on in last */
    FlowNumbers next_numbers; /* for what is injected */
    Flow **flows;             /* that were: events may name their nodes */
    size_t nflows, flows_cap;
    bool halting; /* stops, fails or is cancelled: no new steps */
    bool settled;
    uint64_t settle_batch; /* durable: it has settled */
    StoreBatch *batch;     /* instead of the journal's, for what is written at once */
    Error store_error;
    bool leased;
};

static inline bool run_settling(const Run *run) {
    return run->links[RUNS_SETTLING].in;
}

/* What watches a run; NULL: nobody does, and that is all it costs. bench/ builds an engine without even
 * that, to say how much. */
static inline const RunHooks *run_hooks(const Run *run) {
#ifdef PAWL_NO_HOOKS
    (void)run;
    return NULL;
#else
    return run->hooks;
#endif
}

struct Step {
    Step *prev, *next; /* among the orphans of its run */
    Run *run;
    Frame *frame; /* NULL: nobody waits for it any more */
    const Node *node;
    const NodeWork *work;
    Json state;
    Param *params; /* of a task: resolved; owned */
    char *place;
    void *data;
    bool finished;
    bool held_back; /* it has ended while its frame was parked */
    /* of a pure step, read when start() returns; of one that is held back */
    Json result, error;
    Json instead; /* of the failure that may come; JSON_NONE: it is one */
};

typedef struct QueuedEvent {
    Event event;
    char *frame_name;
    uint64_t batch;
} QueuedEvent;

typedef struct QueuedForget {
    const NodeWork *work;
    char *place;
    uint64_t batch;
} QueuedForget;

struct Engine {
    EngineOptions options;
    const NodeWork *work[KIND_COUNT];
    void *kind_data[KIND_COUNT];
    Journal *journal; /* NULL without a store */
    RunQueue runs[RUNS_LISTS];
    uv_idle_t *idle;
    uv_timer_t *asked; /* looks whether somebody asked for a cancellation */
    bool idle_active;
    bool heard; /* somebody may have asked, and not every run was looked at */
    /* what waits for a batch to be durable, in order */
    QueuedEvent *events;
    size_t nevents, events_cap;
    Frame **starts; /* frames whose work begins once their batch is durable; NULL: not any more */
    size_t nstarts, starts_cap;
    QueuedForget *forgets; /* handles of work that has ended */
    size_t nforgets, forgets_cap;
    uint64_t turn;     /* its number */
    int64_t turn_time; /* of the turn under way; 0: none is */
    char *folder;      /* of the store, once it was asked for */
    size_t working;    /* heavy steps that are under way */
    uint64_t durable;  /* batches up to this one are */
    bool delivering;
    Buf patch, result, snapshot; /* encoded, used again for each record */
    Error broken;                /* the store failed: nothing more can be recorded */
};

/* ---- engine.c ---- */

int64_t engine_now(const Engine *e);
/* Whether a run may begin or go on: not when the store failed, for nothing of it could be recorded. */
bool engine_may_begin(const Engine *e, Error *err);
uint64_t engine_batch(const Engine *e); /* number of the batch being filled */
uint64_t engine_last_batch(const Engine *e);
void run_set_deadline(Run *run);                  /* its timer follows from run->deadline */
const char *engine_folder(Engine *e, Error *err); /* of the store; NULL on error */
void engine_drop_start(Engine *e, Frame *f);      /* its work is not to begin after all */
void run_enter(Run *run, RunsThat list);          /* at its end; nothing when it is there already */
void run_leave(Run *run, RunsThat list);
void run_kick(Run *run);    /* something of it may be ready: see to it in the next turn */
void run_unsaved(Run *run); /* its head or status are to be written */
void run_set_held(Run *run, bool held);
Run *run_new(Engine *e, Flow *flow);
void run_halt(Run *run); /* ends all work; settles when it has ended */
void run_settle_if_done(Run *run);
uv_timer_t *timer_new(uv_loop_t *loop, void *data);
void timer_free(uv_timer_t *timer); /* accepts NULL */

/* ---- event.c ---- */

bool run_wants(const Run *run, EventType type);
/* Queues an event; consumes its JSON values. */
void engine_tell(Run *run, const Frame *frame, Event event);
void engine_deliver(Engine *e, uint64_t durable);     /* those of batches up to this one */
void engine_drop_events(Engine *e, uint64_t durable); /* those of later ones */
void engine_clear_events(Engine *e);
void frame_name(const Frame *f, char *out, size_t size);

/* ---- resume.c ---- */

void run_schedule_all(Run *run);
void run_fork_line(Run *run); /* work that is to be done gets other places */
void run_tell_start(Run *run, bool resumed);

/* ---- load.c ---- */

typedef struct Loading {
    const char *thread;
    int64_t seq; /* 0: the head */
    Flow *reload;
} Loading;

/* A run from the store, with its lease; nothing in it is scheduled. NULL on error. */
Run *load_run(Engine *e, const Loading *loading, Error *err);
bool run_is_forked(const Run *run); /* it was loaded from elsewhere than its head */
/* The same run as it was at another checkpoint; what it was doing is ended. Nothing in it is scheduled.
 * After an error it is as it was, though what it was doing may have been ended. */
bool load_again(Run *run, int64_t seq, Error *err);

/* The rows' own (wait.h). */
bool fit_work(Frame *f, Error *err);
bool fit_sleep(Frame *f, Error *err);
bool fit_interrupt(Frame *f, Error *err);
bool fit_map(Frame *f, Error *err);
bool fit_tasks(Frame *f, Error *err);
bool fit_join(Frame *f, Error *err);
bool fit_pause(Frame *f, Error *err);

/* Sets values in a level of a frame: an array of [path, value]. */
bool level_set(Frame *f, uint32_t level, Json set, Error *err);
uint32_t frame_shown_level(const Frame *f); /* the one that people see as its state */

/* ---- record.c ---- */

void frame_mark(Frame *f); /* dirty: to be in the next record */
/* Writes a checkpoint of all dirty frames, with what came of the node, which may be NULL. Consumes result;
 * without result.at it is of the frame's top level. */
void run_record_result(Run *run, Frame *f, const Node *node, const char *status, StepResult result);
void run_record(Run *run, Frame *f, const Node *node, const char *status, Json update);
/* The same, and then the frame goes on as its wait says, unless it has ended. */
void frame_record_result(Frame *f, const Node *node, const char *status, StepResult result);
void frame_record(Frame *f, const Node *node, const char *status, Json update);
Json frame_image(const Frame *f);
Json run_image_head(const Run *run);

/* ---- copies.c ---- */

/* What puts heavy values that changes would write to where they belong, from where the image before them
 * has them: a patch to begin with, given; JSON_NONE when there are none. */
Json copies_for(const Run *run, Json before, Json changes);

/* ---- frame.c ---- */

static inline Level *frame_top(const Frame *f) {
    return &f->levels[f->nlevels - 1];
}

Frame *frame_new(Run *run, Frame *parent, uint32_t branch);
void frame_remove(Frame *f); /* takes it out of the run; freed with the next record */
void frame_free(Frame *f);
Level *level_push(Frame *f, const Graph *graph, Json state, bool keeps_writes);
void level_pop(Frame *f);
/* What a level has now, to go back to: level_settle() does so unless ok, and gives ok back. */
typedef struct LevelKept {
    Json state, writes;
} LevelKept;
LevelKept level_keep(const Level *l);
bool level_settle(Level *l, LevelKept kept, bool ok);
void frame_set_wait(Frame *f, Json wait); /* consumes it; marks the frame */
void frame_set_status(Frame *f, FrameStatus status);
void frame_unqueue(Frame *f);
void frame_schedule(Frame *f); /* status, queue and timer follow from wait */
void frame_set_timer(Frame *f);
void frame_start_when_durable(Frame *f);
bool frame_leaves_engine(const Frame *f, const Node *node); /* its node is no pure work */
void frame_advance(Frame *f);
void frame_tell_node(Frame *f, const Node *node); /* EVENT_NODE */
/* The node is done with this result; consumes it. */
void frame_finish(Frame *f, Json result);
/* Puts an object into the state of the running level, through the reducers. False, and nothing has changed,
 * when it does not fit. */
bool frame_merge(Frame *f, Json update, Error *err);
/* The same when the state has it already; update is for those who listen. */
void frame_finished(Frame *f, Json update);
void level_begin_node(Level *l); /* no attempts, turns and deadline of the node before */
/* Chooses the edge and goes there. False after frame_fail(). */
bool frame_go_on(Frame *f);
/* The frame comes to a node (NULL: the end of its level). passed: its interrupt is behind it. */
void frame_land(Frame *f, const Node *node, bool passed);
void frame_arrive(Frame *f, bool passed);
void frame_go_on_after(Frame *f);    /* the same from a node that was done before, with a record */
void frame_go_on_finished(Frame *f); /* the same, and a debugger has looked */
void frame_go_on_ended(Frame *f);    /* the same, of an element */
/* Consumes prompt, options and rest: what follows them in the wait (an array), or JSON_NONE. */
void frame_interrupt(Frame *f, const char *reason, Json prompt, Json options, Json rest);
void frame_count_step(Frame *f);
void frame_drop_params(Frame *f);
/* Passes over the node; output JSON_NONE: it gives back nothing. Borrows it. */
void frame_skip(Frame *f, Json output);
void frame_end_element(Frame *f); /* of a map: with f->result */
void frame_take_edge(Frame *f, const Edge *edge);
const Json *frame_vars(const Frame *f, const Node *node, Json *copy);
Json frame_work_key(const Frame *f);
Json frame_eval(Frame *f, const Expr *expr, Json input, Error *err);

/* ---- frames.c ---- */

void frame_index_add(Frame *f);    /* the newest; nothing while there is no index */
void frame_index_remove(Frame *f); /* once it is not counted any more */
void frame_index_clear(Run *run);

/* ---- park.c ---- */

/* The hooks before a node; true when the frame does not begin it now. */
bool park_before(Frame *f);
/* After one: true when the frame is parked there, which is recorded. Consumes result when it is. */
bool park_after(Frame *f, const Node *node, const char *word, StepResult result);
/* On an error; true when it is parked. The frame goes on with the error as fail.c does. Borrows error. */
bool park_on_error(Frame *f, Json error, int at, bool caught);
/* The two parts of it, for the error of the node at any level; *info, given, is what is said of the
 * pause; the frame then stands at that level. */
bool park_asks(Frame *f, uint32_t level, Json error, bool caught, Json *info);
typedef struct Failing {
    Json error;
    int at;     /* FailAt */
    Json given; /* JSON_NONE: the error takes its course */
} Failing;
void park_failing(Frame *f, const Failing *failing, Json info);
/* Parks it where it stands, with a record and an event; or without them. Consume inner and info. */
void frame_park_at(Frame *f, HookPosition position, Json inner, Json info);
void frame_park_as(Frame *f, HookPosition position, Json inner, Json info);
bool run_does(const Frame *f);          /* a run of one node: whether this is it */
void frame_hold(Frame *f, bool parked); /* its clocks, and those of the frames around it */
/* What a frame that was loaded, and would go on by itself, is parked as; the others stay. looked: the
 * hooks are not asked again. Borrows info. */
void run_park_all(Run *run, Json info, bool looked);
Json change_set(Json state, Json changes, Error *err); /* consumes state */
bool frame_change(Frame *f, Json changes, Error *err);
extern const RunHooks only_hooks;

/* ---- inject.c ---- */

typedef struct Injected Injected;

/* Begins the next one that is to run before the frame's node or, unless that asks a person first, instead of
 * it; or after it. False: there is none. */
bool inject_before(Frame *f, bool asks);
bool inject_waits_before(const Frame *f); /* one is to run before the frame's node */
bool inject_after(Frame *f);
const Node *inject_stand_in(const Frame *f); /* runs instead of the frame's own; NULL: none */
/* The node at the top runs instead of the one below: with it that one is done, in one record. */
bool inject_stands_in(const Frame *f);
/* One that stands in, and has not begun, waits again: the frame stands before the node itself. */
void inject_take_back(Frame *f);
/* The top level is one, and is past its last node; result is what that came to. Consumes it. */
void inject_done(Frame *f, StepResult result);
void inject_drop_level(Frame *f); /* those that wait for the node of the top level are of no use */
void inject_drop_all(Frame *f);
void injected_free(Run *run, Injected *injected);                /* accepts NULL */
Json injected_image(const Injected *injected);                   /* given */
Injected *injected_load(const Frame *f, Json image, Error *err); /* its levels so far are there */
const Graph *injected_graph(const Injected *injected);
InjectWhere injected_where(const Injected *injected);
Json injections_image(const Frame *f); /* given: an array */
bool injections_load(Frame *f, Json image, Error *err);

/* ---- control.c ---- */

void control_level_done(Frame *f);      /* the top level is past its last node */
void join_branches(Frame *f);           /* all of them have ended */
void map_done(Frame *f);                /* all of its elements have */
void control_child_ended(Frame *child); /* hands over what it has to its parent */
Json graph_initial_state(const Graph *g, Json input);
void frame_fork(Frame *f, const Edge *edge);
void element_init(Frame *f); /* variables of an element of a map */
void start_clock(Frame *f, int64_t timeout_ms);
/* The top level ends, and the one below it shares its state: that goes on there, and what was written
 * belongs to it. False when that cannot be reduced. */
bool level_leave_shared(Frame *f, Error *err);

/* ---- tasks.c, containers.c (tasks.h has what they share) ---- */

void task_begin(Frame *f);                /* the node that the frame stands at */
void task_finish(Frame *f, Json outputs); /* it is done; consumes them */
void task_skip(Frame *f, Json outputs);   /* passed over; borrows them */
void task_failed(Frame *f, Json error);   /* borrows it */
bool task_error_is_read(const Frame *f);  /* a task around it makes something of a failure */
void task_late(Frame *f, uint32_t level, Json error); /* the task of a level had its time */
/* It has ended: what comes next. False when the run has ended with it. */
bool task_go_on(Frame *f);
void task_level_done(Frame *f);    /* past the last one of a list */
void task_children_done(Frame *f); /* a container may have its result */
void task_child_ended(Frame *child);
bool task_children_decided(const Frame *f); /* it needs no more of them */
void task_result_so_far(Frame *f, TaskResult result);
/* The tasks of a frame's levels from here on are ended. Tests among them still have to clean up: that
 * becomes a child of heir. */
void task_abandon(Frame *f, uint32_t level, Frame *heir);
void task_cleaned(Frame *f); /* those children are done: it goes on with what it wanted */
/* Begins a test: the variables that its configVars give, then its first task. */
void test_begin(Frame *f);
/* Ends what a run is doing and lets its cleanupTasks run; false when there are none, or they have
 * begun. error is JSON_NONE when it was cancelled. Borrows it. */
bool test_abort(Run *run, Json error);
bool test_cleans_up(const Run *run);
void test_is_cancelled(Run *run);  /* that is what comes of it, once its cleanup list is done */
bool test_is_over(const Run *run); /* its cleanupTasks have begun: there is no way back in */
bool task_resolve(Frame *f, Error *err); /* f->params */
Json task_title(const Frame *f);         /* given */

/* ---- work.c ---- */

bool work_is_pure(const Engine *e, const Node *node);
bool work_exists(const Engine *e, const Node *node);
bool work_is_heavy(const Frame *f);
void work_begin_pure(Frame *f, const Node *node);
bool work_keeps_time(const Engine *e, const Node *node);
/* What the frame waits for while the node works: its place, its memo, no answers. JSON_NONE with *err
 * set when the memo cannot be made. */
Json work_wait(Frame *f, const Node *node, Error *err);
bool work_has_memo(const Engine *e, const Node *node);
/* A part of what a frame waits for that works, will, or asks meanwhile; borrowed; JSON_NONE when it
 * has none. */
Json work_part(Json wait, WorkPart part);
Json work_with_answers(Json wait, Json answers); /* consumes both */
Json work_with_key(Json wait, Json key);         /* consumes both */
/* The node that the frame stands at is worked at outside, and the wait has the place of that. */
bool work_goes_outside(const Frame *f, Json wait);
Json work_again(const Frame *f, Json wait); /* a new attempt, with its memo and answers; given */
bool frame_asks_for_work(const Frame *f);   /* the node asked in the middle of its work */
Json work_answered(Json wait,
                   Json answer); /* the wait of an asking frame once it is answered; given */
void work_start(Frame *f);       /* after the commit */
bool work_freeze(Frame *f, bool frozen); /* false: it cannot be */
bool work_deliver(Frame *f); /* what ended while the frame was parked; false: nothing did */
void work_cancel(Frame *f);  /* nobody waits for it any more */
void work_drop(Frame *f);    /* the engine ends */
void work_drop_orphans(Run *run);
void work_free_data(Engine *e);
/* What earlier processes left of the run's attempts is ended and forgotten, but for those of frames that
 * are to keep it. */
void work_sweep(Run *run, bool (*keeps)(const Frame *f));
char *run_folder_path(const Run *run, const char *folder); /* given */

/* ---- fail.c ---- */

/* Makes .error of the parts; consumes details. */
Json fail_error(const Frame *f, const Node *node, const char *kind, const Error *err, Json details);
typedef enum FailAt {
    FAIL_NODE,  /* the node that the frame stands at */
    FAIL_AFTER, /* the node was done: what comes after it failed, and it has no say */
    FAIL_JOIN,  /* the same, and its branches are still to be joined */
    FAIL_LEVEL, /* the graph as a whole: none of its nodes has a say */
    FAIL_GIVES, /* it is forgiven: the node gives back something else */
} FailAt;

/* Something failed in a frame; consumes error. The frame may be gone afterwards. */
void frame_fail(Frame *f, Json error, FailAt at);
void frame_fail_with(Frame *f, const char *kind, const Error *err);
/* An error that is none: the node goes on with the result, once whoever watches has seen it. Consumes
 * both. */
void frame_forgive(Frame *f, Json error, Json result);
void run_fail(Run *run, Frame *f, const Node *node, Json error); /* its frames stay as they are */
void frame_failing(Frame *f); /* its wait says with what: nobody stops it any more */
void frame_timer_fired(Frame *f);
void run_renew_clocks(Run *run);             /* what had no time left has it all again */
void frame_unwind(Frame *f, uint32_t level); /* ends all that runs above a level of a frame */

#endif
