/* debugging.h - the debugger's side of a run that a command drives.
 *
 * Every run of a durable store can be attached to from elsewhere (attach.h) for as long as its process
 * has it; without a socket, for whatever reason, it runs all the same. The session is made when somebody
 * attaches, or at the start when the command line asks for one. While somebody is attached the run is
 * held; when they have gone it settles as soon as all its frames are paused, and the session stays with
 * it. The idle limit of a session is for those who are attached: with nobody there it does not run.
 *
 *     debugging_begin() right after the run was started, before the loop runs;
 *     debugging_turn() after each turn of the loop; debugging_end() before the engine goes.
 */
#ifndef PAWL_DEBUGGING_H
#define PAWL_DEBUGGING_H

#include "attach.h"
#include "recording.h"

typedef struct DebuggingPlan {
    bool debug;           /* a session from the start */
    bool pause_on_start;  /* of it */
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
    bool over;            /* the session is, and is to be freed */
    bool begun;           /* the session was, for somebody who is about to be connected */
} Debugging;

/* False when the session that was asked for cannot be made. */
bool debugging_begin(Debugging *d, const DebuggingPlan *plan, Run *run, uv_loop_t *loop,
                     Error *err);
void debugging_turn(Debugging *d);
void debugging_end(Debugging *d);

/* Why breakpoints of the session are at no node, a sentence each; given, an array. */
Json debugging_doubts(const Debugging *d);

/* [{frame, node, reason, position, breakpoints, ...}] of the frames that are paused, given. */
Json debugging_pauses(const Run *run);

#endif
