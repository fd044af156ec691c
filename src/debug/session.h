/* session.h - a debug session: what a person attaches to a run to control its frames.
 *
 *     Session *s = session_attach(run, &options, &err);       a new one, or the one the run has
 *     session_break(s, spec, &err), session_go(s, f, (SessionGo){.how = LET_GO}, &err), ...
 *     uv_run(loop, ...);                                      options.event tells what happens
 *     session_free(s);                                        it stays in the store; or session_detach()
 *
 * At most one session a run. What it is (breakpoints, watches, how frames are stepped, what is pending)
 * is a JSON value that the run carries in its image, so it is as durable as the run: a pause that was
 * told is on record, with everything that was pending before it.
 *
 *     session = {id, created, touched, options: {...}, selected, next_breakpoint, breakpoints: {id: JSON text},
 *                next_watch, watches: {id: expression}, next_change, next_injection,
 *                frames: {id: {step: [mode, depth, injected], last: checkpoint of its last pause}}}
 *     info of a pause (hooks.h) = {reason, position, breakpoints, at, error?, change?, because?,
 *                pending: [[id, path, value?], ...]}
 *
 * Stepping. Each frame has at most one step under way: *over* ends before the next node of the same frame
 * at the same or a lesser depth; *into* before the next node of the frame or of a frame that it makes
 * (all of them then stop at their first node); *out* before the next node at a lesser depth. When a frame
 * ends, its step goes to the frame that made it, which stops where it goes on. A breakpoint that stops a
 * frame ends its step.
 *
 * Stopping all. With pause_all_on_breakpoint every other frame is stopped as soon as one is: at once
 * where it sleeps, waits for an attempt or does work that can be frozen, otherwise before its next node.
 *
 * The selected frame is one that paused last: of several that stop after frames were let go, the one that
 * was selected before, or else the one with the lowest number; unless a person chose one that is still
 * paused.
 *
 * Errors are finished sentences for the person at the prompt. Values are borrowed unless it says so;
 * answers are given.
 */
#ifndef PAWL_SESSION_H
#define PAWL_SESSION_H

#include "breakpoints.h"
#include "hooks.h"

typedef struct Session Session;
struct Recording;

enum { SESSION_IDLE_LIMIT = 3600 }; /* seconds, unless told */

typedef struct SessionOptions {
    /* What happens, as session_api.h lists it; consumes the event. NULL: nobody listens. */
    void (*event)(void *ctx, Json event);
    void *ctx;
    bool pause_on_start; /* of a run that has just begun: before its first node */
    Json breakpoints;    /* array of specs to set first, or JSON_NONE */
    int pause_all;  /* pause_all_on_breakpoint: 0: as it is (on in a new session), 1: on, -1: off */
    bool view_only; /* nothing of the run may be done: it is somebody else's, from an export */
    struct Recording
        *recording; /* results to take instead of doing the work; NULL: none. Borrowed */
} SessionOptions;

/* ---- life ---- */

/* The run's own session goes on when it has one, and the frames that are paused are told. ERR_USAGE when a
 * session of this process has it. */
Session *session_attach(Run *run, const SessionOptions *options, Error *err);
/* Whether breakpoints can be set in runs of that workflow, before there is one. specs: an array or JSON_NONE, borrowed. */
bool session_check_breakpoints(Json specs, const Flow *flow, Error *err);
/* Lets go of it and leaves it with the run: paused frames stay paused. Accepts NULL. */
void session_free(Session *s);
/* Ends it: all frames go on, nothing stops them any more. The session is to be freed then. */
void session_detach(Session *s);
/* Cancels the run; cleanup tasks run; nothing pauses any more. False: it has ended already. */
bool session_abort(Session *s, Error *err);
bool session_is_over(const Session *s); /* detached, aborted, or the run has settled */
bool session_is_detached(const Session *s);

Run *session_run(const Session *s);
Json session_id(const Session *s); /* text; given */
Breakpoints *session_breakpoints(const Session *s);
Json session_json(const Session *s); /* as session_api.h says of `session` */

/* What was changed since session_touch() is durable when this returns: before a change is answered for.
 * session_call() does it. */
void session_sync(Session *s);

/* Somebody did something: the idle limit begins anew. session_call() does it. */
void session_touch(Session *s);
void session_configure(Session *s,
                       Json options); /* object of what changes; checked by its operation */
void session_extend(Session *s, double seconds); /* 0: the limit again from now on */

/* Tells each paused frame again, as `reattached`, and that all stand still if they do: somebody has come
 * who knows nothing yet. The events have that number as `to`: whoever passes them on sees whom they are
 * for. */
void session_tell_paused(Session *s, int64_t to);
/* An event of one's own, to whoever listens. Consumes it. */
void session_tell(Session *s, Json event);
/* Whether an event says that the session is over: it was detached, or has expired. */
bool session_event_ends(Json event);

/* ---- breakpoints and watches ---- */

Breakpoint *session_break(Session *s, Json spec, Error *err);
Breakpoint *session_change_break(Session *s, int64_t id, Json fields, Error *err);
bool session_delete_break(Session *s, int64_t id);
void session_enable_break(Session *s, Breakpoint *b, bool enabled);

int64_t session_watch(Session *s, const char *expression, Error *err); /* 0 on error */
bool session_unwatch(Session *s, int64_t id);
Json session_watches(const Session *s); /* {id: expression}; borrowed */

/* ---- frames ---- */

/* The frame of that number, or the selected one for 0. NULL with a sentence: there is none, it has ended. */
Frame *session_frame(Session *s, int64_t id, Error *err);
int64_t session_selected(const Session *s); /* 0: none */
void session_select(Session *s, Frame *f);
/* The same, and it must be paused: otherwise the sentence says what it is doing. */
Frame *session_paused(Session *s, int64_t id, Error *err);
/* What a frame is doing, as part of a sentence: "is running `build`", "waits for an answer at ...". */
void session_describe(const Frame *f, Buf *out);
Json session_frame_json(const Session *s, const Frame *f, bool stack); /* FRAME */
/* `out` with what is said of a pause: its position (NULL: not known) and the pause's info, but for what is
 * pending. Consumes out. */
Json session_pause_json(Json out, const char *position, Json info);

/* ---- control; each false with a sentence ---- */

typedef enum StepKind { STEP_NONE, STEP_OVER, STEP_INTO, STEP_OUT, STEP_KINDS } StepKind;
extern const char *const step_names[STEP_KINDS];

/* Stops that are passed over as long as an expression over what the node there sees holds, at most so many of them (0:
 * SESSION_PASSING_LIMIT). It is bounded as conditions are (breakpoint.h). NULL with a sentence. Given: session_go() takes its own reference. */
enum { SESSION_PASSING_LIMIT = 1000 };
typedef struct Passing Passing;
Passing *session_passing_new(const Session *s, const char *expression, int64_t limit, Error *err);
void passing_unref(Passing *passing); /* accepts NULL */

/* A frame goes on: to the next breakpoint (LET_GO; or as far as its step), past its node (LET_SKIP, with that
 * output or none), with its node again (LET_RETRY), or no further (LET_END). */
typedef struct SessionGo {
    LetGoHow how;
    StepKind step;
    int64_t count; /* of steps, one after the other; 0: one */
    Json output;
    Passing *passing; /* with LET_GO; NULL: nothing is passed over */
    bool
        anew; /* with LET_GO: a breakpoint at the node that the frame stands before counts, if it was set meanwhile */
} SessionGo;
bool session_go(Session *s, Frame *f, SessionGo go, Error *err);
/* Numbers of the frames that go on; *err: why the last of the others does not. */
Json session_go_all(Session *s, SessionGo go, Error *err);
/* {paused, later} of a frame, or of all for NULL. */
Json session_pause(Session *s, Frame *f);
bool session_goto(Session *s, Frame *f, const char *node, Error *err);
bool session_answer(Session *s, const RunResume *answer, Error *err);

/* ---- the past ----
 *
 * What is in the record is read by readers of the store (travel.h), on other threads. Here are the questions for
 * them, of the state in which the run is when they are made (given; JSON_NONE with a sentence), and what is done with
 * the answers. What was recorded has to be durable before a question is answered, not before it is asked. */

/* For travel_state(); fields as it has them. */
Json session_ask_state(Session *s, Json fields, Error *err);
/* For travel_back(), travel_reverse() and travel_to(): by `count` steps of a frame; to the last place where a
 * breakpoint would have stopped it; to a checkpoint. */
Json session_ask_back(Session *s, Frame *f, int64_t count, Error *err);
/* The same to before the node of a level, 1 being the outermost: as it was when the frame came to it last. */
Json session_ask_level(Session *s, Frame *f, int64_t depth, Error *err);
Json session_ask_reverse(Session *s, Frame *f, Error *err);
Json session_ask_checkpoint(Session *s, int64_t checkpoint, Error *err);
/* And there: {checkpoint, frame, node, ended?, from}; of travel_reverse() also {breakpoints, after?}. JSON_NONE on
 * error. Blocks for the lease of a run that has settled, unless it was taken before (run_take()). */
Json session_go_to(Session *s, Json place, Error *err);
Json session_reverse(Session *s, Json place, Error *err);

typedef enum DiffSince { DIFF_PAUSE, DIFF_NODE, DIFF_START } DiffSince;
/* For travel_changes(). null: there is nothing to read, and session_diff_pauses() has the answer. */
Json session_ask_changes(Session *s, Frame *f, DiffSince since, Error *err);
/* The edges from the node that the frame is at: {frame, node?, edges}; and that as a question for the last that
 * it, or a frame around it, took (travel_choice()): null where there is no record to ask. */
Json session_edges(Frame *f);
Json session_ask_choice(Session *s, Frame *f, Error *err);
/* For travel_written(): who wrote last what a level of the frame sees at a path. depth 0: the innermost. */
Json session_ask_written(Session *s, Frame *f, int64_t depth, Json path, Error *err);
/* For travel_ended(): adds the frames that have ended to an answer, which is consumed. */
Json session_ask_ended(Session *s, Json answer, int64_t limit, Error *err);
Json session_diff_pauses(Frame *f, Error *err);

/* For travel_step(). f NULL: none is selected. */
Json session_ask_replay(Session *s, Frame *f, Json fields, Error *err);
/* A new run of the node that `step` ended, on the input that it had, or with some of that changed: {thread, run}, told
 * once, or an error. How it ended is told by `replayed` when it has settled. */
typedef struct SessionReplay {
    const char *thread; /* NULL: a name is made */
    Json input, config; /* as RunReplay has them (hooks.h) */
    const char *by;     /* who asks for it, as of run_set_by() */
} SessionReplay;
typedef void (*SessionReplayed)(void *ctx, Json answer, const Error *err);
void session_replay(Session *s, Json step, const SessionReplay *replay, SessionReplayed done,
                    void *ctx);
Json session_replay_now(Session *s, Json step, const SessionReplay *replay, Error *err);

/* ---- changing ---- */

/* value JSON_NONE: removed. path: array of steps. */
bool session_set(Session *s, Frame *f, Json path, Json value, Error *err);
Json session_pending(const Frame *f);                  /* [{id, path, value?, before?}] */
bool session_revoke(Session *s, Frame *f, int64_t id); /* 0: all; false: no such change */

bool session_config_set(Session *s, Frame *f, Json path, Json value, Error *err);
bool session_config_reset(Session *s, Frame *f, Error *err);
/* As written, with what was edited. Given. */
Json session_config(const Frame *f);

/* node: an object as in the file. {id, where, name, node} or JSON_NONE. */
Json session_inject(Session *s, Frame *f, InjectWhere where, Json name, Json node, Error *err);
Json session_injected(const Session *s, const Frame *f); /* of a frame, or of all for NULL */
bool session_uninject(Session *s, int64_t id);

#endif
