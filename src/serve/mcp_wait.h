/* mcp_wait.h - waits on behalf of a call until a run stands still, or until the time of the call is over.
 *
 *     mcp_wait(call, &(McpWaitFor){.thread = "t", .then = show});
 *
 * A run stands still when it does not run any more: it has ended, asks a person, is paused or was stopped. A debug session
 * does when no frame of it goes on by itself, or when one of the frames that were let go has paused again.
 *
 * What happens to the run meanwhile is told as progress, and its output as lines of a log, to whoever wants that. Events wake
 * the wait; it also looks by itself now and then, because a run that another process has may have stood still before its events
 * could be heard. So nothing is missed, and nothing depends on the order in which another process answers.
 */
#ifndef PAWL_MCP_WAIT_H
#define PAWL_MCP_WAIT_H

#include "mcp_inside.h"

typedef struct McpWaitFor {
    const char *thread;
    bool session; /* of the debug session, and not of the run */
    Json frames;  /* numbers of the frames that were let go, an array; JSON_NONE: any. Consumed */
    /* Told once, maybe before the call returns; with the last look at it (RUN, or the answer of `overview`; JSON_NONE: the
     * session is over), or with why there is none. */
    McpThen then;
} McpWaitFor;

void mcp_wait(McpCall *c, const McpWaitFor *what);

/* Nothing is told any more; accepts NULL. */
void mcp_wait_end(McpWait *w);

#endif
