/* session_inside.h - a session in memory: for the files that make it up.
 *
 * Reading order: session.c (life, what is kept, what is told), session_stops.c (where frames stop, and how
 * they go on), session_passing.c (stops that are passed over while an expression holds), session_frames.c (frames for people, and changes that wait), session_travel.c (back,
 * differences, one node again: what is asked of the record, which travel.c reads on other threads).
 *
 * `value` is the session as the run keeps it (session.h has the layout): whoever changes something that
 * is to survive changes it there, with session_keep(), and the next record of the run has it. */
#ifndef PAWL_SESSION_INSIDE_H
#define PAWL_SESSION_INSIDE_H

#include "image_read.h"
#include "recording.h"
#include "session.h"

/* What a session knows of a frame: frame_data(). */
typedef struct FrameStop {
    Passing *passing; /* what it was let go with; NULL: it stops where something stops it */
    StepKind step;
    uint32_t depth;  /* at which the step began */
    int64_t more;    /* steps of the kind that follow it */
    bool asked;      /* to stop at its next node */
    bool handed;     /* its step went to the frames that it made */
    bool told;       /* that it is there */
    int64_t because; /* the frame that stopped, and this one with it; 0: a person asked */
    Json before,
        now; /* what its node saw at the pause before the last, and at the last; JSON_NONE */
    int64_t before_seq, now_seq; /* and their checkpoints */
    /* What state breakpoints compare with, by level, the lowest first: {number of the breakpoint: [whether a
     * step of the level made it so, value]}, without a value where there is none. */
    Json *seen;
    size_t nseen, seen_cap;
} FrameStop;

struct Session {
    Run *run;
    SessionOptions options;
    RunHooks hooks;
    Breakpoints *breakpoints;
    size_t nflows; /* further workflows of the run that breakpoints know: run_injected_flow() */
    Json value;
    bool pause_all, auto_resume, steps;
    bool stops_at[2];  /* breakpoints, and those for errors: otherwise they are as if disabled */
    double idle_limit; /* seconds; 0: none */
    int64_t touched;   /* when somebody last did something */
    uv_timer_t *idle;
    int64_t selected;
    int64_t was_selected; /* when a person last let frames go */
    bool gone_on;         /* none has stopped by itself since then */
    bool chosen;          /* by a person */
    bool initial;         /* stop at the first node */
    bool stopping;        /* the other frames were asked to stop with one: */
    int64_t *others;      /* these */
    size_t nothers, others_cap;
    bool unsure;             /* what was changed may not be durable yet */
    struct Telling *telling; /* that it went back, once that is durable */
    bool leaving;            /* frames are let go of, and do not end */
    bool quiet;              /* nothing stops any more: detached, or the run is being cancelled */
    const char *end;         /* how it ended: "detached", "aborted", "expired"; NULL: it has not */
    struct Replaying *replays; /* that have not settled */
    Passing *passing;          /* that was asked for last; NULL: the last time without */
};

extern const RunHooks session_hooks;

/* ---- session.c ---- */

/* Sets what is at a path of the value (JSON_NONE: takes it away); consumes it. The path is of words. */
void session_keep(Session *s, const char *area, int64_t id, Json value); /* id 0: the area itself */
/* The next number of a kind. What may be refused looks at it first, and takes it when it is not. */
int64_t session_next_number(const Session *s, const char *area);
int64_t session_number(Session *s, const char *area); /* takes it */
/* Those of the breakpoints that are there for once have done what they were for. */
void session_drop_once(Session *s, Json ids);
/* What was changed is to be on record, and nothing else is about to be. */
void session_record(Session *s);
void session_see_flows(Session *s); /* nodes that the run has got by now can have breakpoints */
int64_t session_first_parked(const Run *run);                  /* 1 when there is none */
Json session_pack(const Breakpoint *b);                        /* as the value has it; given */
Json session_pause_info(const Session *s, const char *reason); /* of a pause now */
Json session_settled_event(const Session *s, const char *status, int64_t checkpoint);

/* Whether a text is an expression; one may use variables that are in sight elsewhere only. what: begins the
 * sentence. */
bool session_may_evaluate(const char *what, const char *expression, Error *err);

/* ---- session_passing.c ---- */

Passing *passing_ref(Passing *p); /* accepts NULL */
bool passing_is_on(const Passing *p);
void passing_end(Passing *p, const char *why); /* unless it is over already */
/* Whether a stop at a node is passed over, for what the node sees. False: it is over. vars: of the node. */
bool passing_passes(Passing *p, const Node *node, Json state, const Json *vars);
Json passing_json(const Passing *p); /* WHILE; given */

/* ---- session_stops.c ---- */

FrameStop *session_stop_of(const Frame *f);
void session_tell_ended(Session *s);    /* all frames, with the run */
void session_see(Session *s, Frame *f); /* what state breakpoints compare with from now on */
/* Those that were asked to stop, and do something that can be stopped at once. */
void session_stop_others(Session *s);
/* The pause is there: what the node sees is kept. */
void session_paused_at(Frame *f, int64_t checkpoint);
bool session_may_run(const Session *s, Error *err);
bool session_revive(Session *s, Frame *f, Error *err); /* of a run that has failed there */

/* ---- session_frames.c ---- */

/* Where a frame is: its node, or the one that holds those that it is behind; NULL: at its end. */
const Node *session_node(const Frame *f);
Json session_paused_event(const Frame *f, int64_t checkpoint);
Json session_passed_event(const Session *s, const Event *e); /* of a pause that is over */
Json session_waiting_event(const Frame *f);

/* ---- session_travel.c ---- */

void session_forget_replays(Session *s); /* nobody is there to be told */
void session_forget_telling(Session *s);

#endif
