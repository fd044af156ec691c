/* debug_door.h - the way to a debug session, wherever it is: in this process, or in the one that has the
 * run (attach.h).
 *
 * Both take the operations of debug_api.h. What happens is told to the host, which may be in the middle of
 * door_call() then: a host only notes it, and looks at it when the call has returned. A door is called from
 * the program's own flow, never from a callback of the loop, since a call may run the loop.
 */
#ifndef PAWL_DEBUG_DOOR_H
#define PAWL_DEBUG_DOOR_H

#include "debugging.h"

/* Behind the door: its rows are in debug_door.c, and tests have one of their own. */
typedef struct DoorWay {
    Json (*call)(void *self, const char *operation, Json args, Error *err); /* consumes args */
    void (*close)(void *self); /* the session stays with its run */
    bool remote;               /* another process has the run */
} DoorWay;

typedef struct Door {
    const DoorWay *way; /* NULL: closed */
    void *self;
} Door;

/* Told what happens; event is consumed. */
typedef struct DoorHost {
    void (*event)(void *ctx, Json event);
    void (*closed)(void *ctx); /* the other process has gone, or let go of us */
    void *ctx;
} DoorHost;

/* For who is present in this process (debugging.h); borrowed. */
Door door_to_debugging(Debugging *debugging);
/* False on error: of attach_connect(). */
bool door_to_run(Door *door, uv_loop_t *loop, Store *store, int64_t run, const DoorHost *host,
                 Error *err);

/* The answer, given; JSON_NONE on error. Consumes args. */
Json door_call(Door *door, const char *operation, Json args, Error *err);
/* The same for an operation that takes nothing. */
Json door_ask(Door *door, const char *operation, Error *err);

bool door_is_remote(const Door *door);
void door_close(Door *door); /* accepts one that is closed */

#endif
