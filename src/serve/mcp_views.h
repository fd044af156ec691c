/* mcp_views.h - a run, and where a debugger stands in one, as an assistant wants to see them: in one answer, with what can be
 * done next.
 *
 * A view is put together from several operations, and answers the call of a tool. `view` of the call holds what it begins with:
 * fields that the tool adds.
 *
 *     a run        {thread, run, workflow, status, checkpoint, error?, interrupts?, paused?, state, recent: ["13 upload failed"],
 *                   log?: what the node that failed printed last, hint?}
 *     a session    {thread, status, stopped?: the frame, frames: [the others], source?, sees?: what the node sees, pending?,
 *                   breakpoints, watches?, hint?}
 */
#ifndef PAWL_MCP_VIEWS_H
#define PAWL_MCP_VIEWS_H

#include "mcp_inside.h"

/* As the store has it. */
void mcp_view_run(McpCall *c, const char *thread);

/* Where its session stands; a run that has none, or whose session is over, is shown as a run. */
void mcp_view_session(McpCall *c, const char *thread);

/* {thread, text, ...} of the answer of `run_logs`, borrowed; lines have the names of their nodes, unless all are of one. latest:
 * what does not fit is cut from the beginning; otherwise from the end, and `next` is where to go on. */
Json mcp_view_logs(Json page, bool latest, size_t bytes);

#endif
