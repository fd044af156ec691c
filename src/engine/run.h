/* run.h - a run and the engine in memory: the structs behind engine.h, for the files of this folder.
 *
 * Reading order: this header and frame.h; schedule.c (when a frame goes on), advance.c (one step of a frame),
 * record.c and copies.c (a checkpoint), control.c and containers.c (the kinds that steer; steer.h), work.c
 * (the kinds that work), fail.c (errors and time), engine.c (turns, commits, settling), load.c (from the
 * store), resume.c (starting, answers, going on), edit.c (changes without running), hooks.c, park.c, inject.c
 * and rewind.c (what a debugger does). ARCHITECTURE.md says who may call whom.
 *
 * The life of a step, in the words of the functions:
 *
 *     engine_turn -> frame_advance -> begin of steer.h | work_begin
 *         pure:     -> frame_finish -> frame_land -> run_record -> (ready again)
 *         not pure: -> ... commit ... -> work_start -> ... loop ... -> frame_finish -> ...
 *         error:    -> frame_fail -> retry | error edge | the run fails
 */
#ifndef PAWL_RUN_H
#define PAWL_RUN_H

#include "engine.h"
#include "errand.h"
#include "evaluator.h"
#include "hooks.h"
#include "lifecycle.h"
#include "requests.h"
#include "store_chain.h"

typedef struct Frame Frame;
typedef struct RunSecrets RunSecrets;
typedef struct RunTrace RunTrace;

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
    Evaluator *evaluator;
    RunSecrets *secrets; /* NULL: none was needed so far */
    bool secrets_shown;  /* run_secrets_show() */
    RunRow row;
    RunStatus status;
    Json error;
    Json image; /* as last recorded; JSON_NONE without a store */
    ChainWeight weight;
    int64_t head, last, step;
    int64_t loaded;      /* the newest when it came from the store; 0: it was started here */
    int64_t handed_last; /* the newest that went to the store */
    int64_t handed_head, durable_head; /* that went to the store last, and before that */
    uint64_t handed_batch;             /* durable: so is handed_head */
    int64_t next_frame, deadline;
    RunTrace *trace; /* NULL: it belongs to none */
    Json mode;
    Json definition;   /* key of the one it was reloaded with; null: that of the row */
    Json folder;       /* that it was started in */
    char *folder_path; /* the same, as C has it */
    char *own_folder;  /* for its work, while it has not ended; NULL: not asked for */
    char *results;     /* the folder for what is kept of it; the same */
    Frame *first_frame, *last_frame;
    Frame *first_moving, *last_moving;
    FrameIndex index;
    Frame *ready, *ready_tail;
    Frame *dirty, *dirty_tail;
    size_t nframes;
    size_t active;     /* frames that will go on by themselves: starting, working, timed */
    size_t evaluating; /* frames whose expressions somebody else evaluates: the same */
    size_t waiting;    /* frames that wait for a person */
    Step *orphans;     /* steps that nobody waits for any more, and that have not ended */
    uv_timer_t *timer; /* of the deadline */
    const RunHooks *hooks;
    void *hooks_ctx;
    Json debug;   /* the debugger's own; null: none */
    Json by_hand; /* what a person changes with the record that comes next, as HOOK_CHANGE has it */
    bool by_hand_after; /* after the node that it is of */
    Json starter;       /* who started it (RunStart.by); JSON_NONE: nobody said */
    Json by;      /* who asks for what is recorded now (run_set_by()); JSON_NONE: nobody said */
    bool by_told; /* something was recorded with it */
    bool by_once; /* it is said with one record more */
    struct Choice *choices; /* of edges, since its last record (choice.h) */
    size_t nchoices, choices_cap;
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
    struct Fetched **fetched; /* tests that it has read so far (fetched.h) */
    size_t nfetched, fetched_cap;
    Json fetched_image; /* as the head has them; JSON_NONE: not made yet */
    bool halting;       /* stops, fails or is cancelled: no new steps */
    bool cancelling;    /* it was cancelled and cleans up: nothing is parked any more */
    bool unrecorded;    /* it came to more than a store takes: store_error says so */
    bool settled;
    uint64_t settle_batch; /* durable: it has settled */
    unsigned listens;      /* events that reach on_event */
    bool values;           /* with update and state */
    void *owner;           /* of whoever made the engine */
    Error store_error;
    bool leased;
    uint64_t release_batch; /* that gives its lease back; 0: none does */
    Request *take;          /* its lease is being taken again */
    bool changing;          /* it is changed by hand, and does not run */
    bool asleep;            /* it has no turn until somebody is told of it */
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
    Errands *errands; /* what has the disk to wait for */
    Errands *endings; /* and what has processes to wait for */
    const NodeWork *work[KIND_COUNT];
    void *kind_data[KIND_COUNT];
    Storage *storage; /* NULL without a store */
    RunQueue runs[RUNS_LISTS];
    uv_idle_t *idle;
    uv_timer_t *asked; /* looks whether somebody asked for a cancellation */
    struct Poll *poll; /* while it does */
    bool idle_active;
    /* what waits for a batch to be durable, in order */
    QueuedEvent *events;
    size_t nevents, events_cap;
    Frame **starts; /* frames whose work begins once their batch is durable; NULL: not any more */
    size_t nstarts, starts_cap;
    QueuedForget *forgets; /* handles of work that has ended */
    size_t nforgets, forgets_cap;
    uint64_t turn;     /* its number */
    int64_t turn_time; /* of the turn under way, as it was looked at last; 0: none is */
    uint64_t turn_began, turn_until; /* of it, as uv_hrtime() counts */
    int64_t turn_first;              /* turn_time when it began */
    int unlooked;                    /* steps since the clock was looked at */
    bool turn_over;                  /* when it was, the turn had had its time */
    char *folder;                    /* of the store, once it was asked for */
    Step *beginning;                 /* whose start() is called; NULL: none is, or it has ended */
    Step *ended;                     /* whose result is put into the state */
    size_t working;                  /* heavy steps that are under way */
    uint64_t given;                  /* bytes that steps under way were given */
    uint64_t durable;                /* batches up to this one are */
    uint64_t begun, steps;           /* runs, steps that were recorded; ever */
    bool delivering;
    void (*on_turn)(uv_idle_t *idle);         /* engine.c has it */
    void (*on_frame_late)(uv_timer_t *timer); /* of a frame, of a run: fail.c has them */
    void (*on_run_late)(uv_timer_t *timer);
    Buf patch, result, snapshot; /* encoded, used again for each record */
    StoreBatch log;              /* output that is in no batch yet (log.h) */
    uv_timer_t *log_timer;       /* how long it waits for one; NULL: nobody has printed anything */
    bool log_due;                /* it has waited long enough */
    Error broken;                /* the store failed: nothing more can be recorded */
    bool breaking;               /* and that was not told yet */
    int waiting;                 /* somebody waits for a commit: what depends on it is told later */
    Waiters makers;              /* who wait for their run to be made: told before its events */
    Waiters waiters;             /* who wait for what was recorded: told behind its events */
    Request *making, *making_last; /* in the order of the batch */
    int64_t stand_in;              /* the last that was given */
    Flow *defined;                 /* whose definition is in the store, by this key */
    char *defined_key;
};

/* ---- engine.c ---- */

/* Whether a run may begin or go on: not when the store failed, for nothing of it could be recorded. */
bool engine_may_begin(const Engine *e, Error *err);
uint64_t engine_batch(const Engine *e);           /* number of the batch being filled */
uint64_t engine_last_batch(const Engine *e);      /* the newest with something in it */
uint64_t engine_unsaved_batch(const Engine *e);   /* that has the last of what is recorded so far */
const char *engine_folder(Engine *e, Error *err); /* of the store; NULL on error */
void run_enter(Run *run, RunsThat list);          /* at its end; nothing when it is there already */
void run_leave(Run *run, RunsThat list);
/* Looks at the clock: what begins now does so with the time as it is. Whether the turn has had its time; so
 * it has outside of turns. */
bool engine_look(Engine *e);
void engine_set_idle(Engine *e, bool active); /* whether it has a turn in each one of the loop */
void run_kick(Run *run); /* something of it may be ready: see to it in the next turn */
void run_set_held(Run *run, bool held);
Run *run_new(Engine *e, Flow *flow);
uv_timer_t *timer_new(uv_loop_t *loop, void *data);
void timer_free(uv_timer_t *timer);    /* accepts NULL */
void handle_free(uv_handle_t *handle); /* for uv_close() */

#endif
