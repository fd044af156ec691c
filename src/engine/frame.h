/* frame.h - a frame of a run in memory, and the levels of its stack.
 *
 * A frame changes; whoever changed it marks it dirty; run_record() renews the image of all dirty
 * frames and writes the difference. Between two records the structs may be ahead of the image by pure
 * work only.
 */
#ifndef PAWL_FRAME_H
#define PAWL_FRAME_H

#include "image.h"
#include "json_build.h"
#include "result.h"
#include "run.h"
#include "run_trace.h"
#include "wait.h"

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
    int32_t count;    /* turns of the node's loop; when its branch began, as control.c has it */
    struct Injected
        *injected; /* its graph is that of a node that the workflow does not have; owned */
    struct Fetched
        *fetched; /* its graph is of a test that was read when its task began; the run's */
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
    bool awaits;     /* somebody else evaluates an expression for it, and wakes it then */
    bool taken;      /* what came of its node was known already */
    bool failure_kept; /* what it is parked on is in the history: the run had failed with it */
    bool thaw;         /* its work may be frozen, by an earlier process */
    Step *step;        /* work under way */
    Param *params;     /* of the task that is about to begin, resolved; NULL: not yet */
    uv_timer_t *timer;
    uint64_t batch; /* that its last record is in */
    int64_t since;  /* when it came to its node, for people */
};

static inline Level *frame_top(const Frame *f) {
    return &f->levels[f->nlevels - 1];
}
Frame *frame_new(Run *run, Frame *parent, uint32_t branch);
void frame_free(Frame *f);
void frame_join_moving(Frame *f); /* among those that are not at rest */
void frame_leave_moving(Frame *f);
void frame_mark(Frame *f); /* dirty: to be in the next record */

/* Consumes the wait; marks the frame. */
static inline void frame_set_wait(Frame *f, Json wait) {
    json_put(&f->wait, wait);
    f->waits =
        json_kind(wait) == JSON_NULL ? WAIT_NOTHING : wait_kind(wait); /* as after most steps */
    frame_mark(f);
}

void frame_drop_params(Frame *f);

void frame_index_remove(Frame *f); /* once it is not counted any more */
void frame_index_clear(Run *run);

Level *level_push(Frame *f, const Graph *graph, Json state, bool keeps_writes);
void level_pop(Frame *f);
/* What a level has now, to go back to: level_settle() does so unless ok, and gives ok back. */
typedef struct LevelKept {
    Json state, writes;
} LevelKept;

static inline LevelKept level_keep(const Level *l) {
    return (LevelKept){json_ref(l->state), json_ref(l->writes)};
}

static inline bool level_settle(Level *l, LevelKept kept, bool ok) {
    json_unref(ok ? kept.state : l->state);
    json_unref(ok ? kept.writes : l->writes);
    if (!ok) {
        l->state = kept.state;
        l->writes = kept.writes;
    }
    return ok;
}

void level_begin_node(Level *l); /* no attempts, turns and deadline of the node before */
/* The same for a node that is tried again after an error: a loop goes on with its turn, unless it had used up all. */
void level_begin_again(Level *l, Json error);
uint32_t frame_shown_level(const Frame *f); /* the one that people see as its state */

/* Whether a value that a run is to have (`what`, for the sentence) is within its limit. O(1). */
bool value_fits(const Engine *e, Json value, const char *what, Error *err);
/* The same of what is added to what the run has on record already, which is within one of the store's. */
bool value_fits_beside(const Run *run, Json value, Error *err);
/* The same of a level's state and writes, instead of those that were kept. */
bool level_fits(const Run *run, const Level *l, LevelKept kept, Error *err);
/* Whether an update without reducers fits in any case. */
bool level_has_room(const Run *run, const Level *l, Json update);
Json frame_work_key(const Frame *f);
/* The span of the execution that begins, or is under way, on top of the frame: the same where another process goes
 * on with it after this one has died, another for each attempt and for each answer that it got. False: the run belongs to no trace. */
bool frame_span(const Frame *f, TraceContext *out);
/* Makes .error of the parts; consumes details. */
Json fail_error(const Frame *f, const Node *node, const char *kind, const Error *err, Json details);

#endif
