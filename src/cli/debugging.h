/* debugging.h - the debugger's side of a run that a command drives.
 *
 * Every run of a durable store can be attached to from elsewhere (attach.h) for as long as its process
 * has it; without a socket, for whatever reason, it runs all the same. The session is made when somebody
 * attaches, or at the start when the command line asks for one. It is shared: those who are attached and
 * who is *present*, at a prompt of this process, are told the same and may do the same.
 *
 * While somebody is attached or present the run is held; when they have gone it settles as soon as all its
 * frames are paused, and the session stays with it. The idle limit of a session is for those who are
 * there: with nobody it does not run.
 *
 *     debugging_begin() right after the run was started, before the loop runs;
 *     debugging_turn() after each turn of the loop, at least while nobody is present;
 *     debugging_end() before the run goes, and so before the engine.
 */
#ifndef PAWL_DEBUGGING_H
#define PAWL_DEBUGGING_H

#include "attach.h"
#include "recording.h"

typedef struct DebuggingPlan {
    bool debug;          /* a session from the start */
    bool present;        /* of somebody here, until debugging_leave() */
    bool pause_on_start; /* of it, and so are these: as in SessionOptions */
    bool view_only;
    int pause_all;
    Json breakpoints;     /* array of specs, or JSON_NONE; borrowed */
    Recording *recording; /* results to take instead of doing the work; NULL: none. Borrowed */
    void (*event)(void *ctx, Json event); /* of the session; borrows the event */
    void *ctx;
} DebuggingPlan;

typedef struct Debugging {
    DebuggingPlan plan;
    Run *run; /* NULL: not begun */
    uv_loop_t *loop;
    AttachServer *server;
    Session *session;
    uv_timer_t *touching; /* while there is a session */
    bool present;         /* somebody is, in this process */
    bool over;            /* the session is, and is to be freed */
    bool begun;           /* the session was, for somebody who is about to be connected */
} Debugging;

/* False when the session that was asked for cannot be made. */
bool debugging_begin(Debugging *d, const DebuggingPlan *plan, Run *run, uv_loop_t *loop,
                     Error *err);
void debugging_turn(Debugging *d);
/* Whoever is attached is left, the session stays with the run. Accepts one that was not begun. */
void debugging_end(Debugging *d);

/* Of who is present: as debug_call(), for the session that there is now. Consumes args. */
Json debugging_call(Debugging *d, const char *operation, Json args, Error *err);
/* Nobody is present any more: the run is held for those who are attached, if there are any. */
void debugging_leave(Debugging *d);

/* Why breakpoints of the session are at no node, a sentence each; given, an array. */
Json debugging_doubts(const Debugging *d);

/* [{frame, node, reason, position, breakpoints, ...}] of the frames that are paused, given. */
Json debugging_pauses(const Run *run);

#endif
