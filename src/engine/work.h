/* work.h - steps: one attempt at a node whose work is done in exec/. */
#ifndef PAWL_WORK_H
#define PAWL_WORK_H

#include "evaluator.h"
#include "frame.h"
#include "kind_bounds.h"
#include "log.h"
#include "long_text.h"
#include "mask.h"
#include "step.h"

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
    Json instead;        /* of the failure that may come; JSON_NONE: it is one */
    MaskStream *masks;   /* of its streams, LOG_STREAMS; NULL: the run has no secrets, or it said
                          nothing */
    StepLog *log;        /* NULL: it has printed nothing */
    bool tells_progress; /* what it logs now says how far it is: */
    double percent;
    /* of pure work, and of an evaluation that is no work of a node (frame_eval()) */
    uint64_t deadline;      /* as uv_hrtime() counts; while it is frozen, what is left; 0: none */
    JqRun *eval;            /* that goes on in a later turn; NULL: none does */
    ForeignEval *foreign;   /* the same of one in another language */
    ForeignEval *for_eval;  /* it is no attempt at a node, but the evaluation of that */
    Replay *replay;         /* the same of what evaluates several; of work outside that begins */
    LongText *texts;        /* what it is given of large values; NULL: nothing */
    bool crowded;           /* there is no room for what it is given: */
    uint64_t wanted, given; /* it needs so many bytes; it has them */
    bool unstarted;         /* of work outside: it begins, and may have to begin anew */
    int fail_at;            /* where the error is that looks for somebody to take it: FailAt */
    const NodeWork *
        place_of; /* of a slice that puts the result of ended work into the state: whose place it is */
    size_t edge;             /* whose condition that is */
    void (*go_on)(Frame *f); /* in that turn; NULL: what its wait says */
    bool sliced;             /* there is such a turn to come: the frame is ready */
};

typedef struct Sliced {
    const Expr *expr;
    Json input;
    const Json *vars;
    size_t edge; /* as of Step */
    void (*again)(Frame *f);
} Sliced;

/* Whether whoever runs the workflow lets such nodes run. */
static inline bool work_is_allowed(const Frame *f, const Node *node, Error *err) {
    const Bounds *bounds = &f->run->engine->options.bounds;
    return !bounds->kinds || kind_is_allowed(bounds, node->kind, node->name, err);
}

/* NULL: nobody works at nodes of its kind. */
static inline const NodeWork *work_of(const Frame *f, const Node *node) {
    return f->run->engine->work[node->kind->id];
}

/* What the frame waits for while the node works: its place, its memo, no answers. JSON_NONE with *err
 * set when the memo cannot be made. */
Json work_wait(Frame *f, const Node *node, Error *err);
/* The node that the frame stands at is worked at outside, and the wait has the place of that. */
bool work_goes_outside(const Frame *f, Json wait);
Json work_again(const Frame *f, Json wait); /* a new attempt, with its memo and answers; given */
bool frame_asks_for_work(const Frame *f);   /* the node asked in the middle of its work */
/* The wait of an asking frame once it is answered; given. Consumes the answer. */
Json work_answered(Json wait, Json answer);

void work_begin_pure(Frame *f, const Node *node);
/* The evaluation of an expression that stands between nodes or decides how one begins: in slices, when the
 * frame has a turn. Where that is over: JSON_NONE with *err not set and frame_goes_on(), and the frame
 * is ready; `again` is called in its next turn, and has to come to the same evaluation. */
Json frame_eval_slice(Frame *f, const Sliced *what, Error *err);
static inline bool frame_goes_on(const Frame *f) {
    return f->step && f->step->sliced;
}
/* The same of what evaluates several expressions, and changes nothing before all of them are: between the two calls. The second
 * says whether they are; where the turn was over first, `again` is called in the frame's next one and has to do the
 * same. fresh is {0}, and says in the end whether the node's time was over. */
void frame_replay_begin(Frame *f, Replay *fresh);
bool frame_replay_end(Frame *f, Replay *fresh, void (*again)(Frame *f));
/* For evaluator_set_foreign(), with the run. */
extern const EvaluatorForeign work_foreign;
bool work_has_room(const Frame *f);      /* for what the work is given, if that is known */
void work_start(Frame *f);               /* after the commit */
bool work_freeze(Frame *f, bool frozen); /* false: it cannot be; sliced: its clock */
bool work_deliver(Frame *f); /* what ended while the frame was parked; false: nothing did */
void work_cancel(Frame *f);  /* nobody waits for it any more */
void work_drop(Frame *f);    /* the engine ends */
void work_drop_orphans(Run *run);
/* What earlier processes left of the run's attempts is ended and forgotten, but for those of frames that
 * are to keep it; NULL: all are. */
void work_sweep(Run *run, bool (*keeps)(const Frame *f));
void work_free_data(Engine *e);
char *run_folder_path(const Run *run, const char *folder); /* given */

#endif
