/* target.h - the debug session that a console talks to, wherever it is.
 *
 * Whoever opens the console makes the target; the console only calls it. A call takes the operations of a
 * session and their arguments, and may run the loop: it is made from the program's own flow, never from a
 * callback. What happens meanwhile is told to the console by console_event().
 */
#ifndef PAWL_TARGET_H
#define PAWL_TARGET_H

#include "error.h"
#include "json.h"

#include <stdbool.h>

typedef struct Target {
    Json (*call)(void *self, const char *operation, Json args, Error *err); /* NULL: closed */
    void (*close)(void *self); /* the session stays with its run */
    void *self;
    bool remote; /* another process has the run */
} Target;

/* The answer, given; JSON_NONE on error. args may be JSON_NONE, and are consumed. */
Json target_call(Target *target, const char *operation, Json args, Error *err);
void target_close(Target *target); /* accepts one that is closed */

#endif
