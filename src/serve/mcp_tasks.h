/* mcp_tasks.h - calls of tools that take their time, as tasks: whoever asked gets a handle, and comes back for the answer.
 *
 * Of the new era it is ours to decide: a call that waits for a run becomes a task when it has not been answered after
 * MCP_TASK_AFTER_MS, where whoever asks has said that it can take that (the extension io.modelcontextprotocol/tasks). Of
 * 2025-11-25 the client asks for it (`task` beside the arguments).
 *
 * A task waits longer than a call does, and is kept for an hour. It is of this process alone: what is durable is the run. Who
 * has its number and the same token may ask for it. To cancel a task ends its waiting, not the run.
 */
#ifndef PAWL_MCP_TASKS_H
#define PAWL_MCP_TASKS_H

#include "mcp_inside.h"

enum {
    MCP_TASK_AFTER_MS = 2000,
    MCP_TASK_PATIENCE_MS = 3000000, /* 50 minutes */
    MCP_TASK_TTL_MS = 3600000,
    MCP_TASKS_MAX = 1000,
};

McpTasks *mcp_tasks_new(Mcp *m);
void mcp_tasks_free(McpTasks *tasks); /* accepts NULL */

/* The call becomes one, and is answered with it; it stays a call when there are too many. */
void mcp_task_begin(McpCall *c);
/* The same for one that the client asked for: task is what it said, borrowed. */
void mcp_task_begin_asked(McpCall *c, Json task);
/* Its result, or its error (JSON_NONE: the other). Consumes both. */
void mcp_task_done(McpTask *t, Json result, Json error);

/* Those of these ids that whoever asks has, an array; given. */
Json mcp_tasks_known(const McpCall *c, Json ids);

/* ---- methods ---- */

void mcp_tasks_get(McpCall *c, Json params);
void mcp_tasks_cancel(McpCall *c, Json params);
void mcp_tasks_update(McpCall *c, Json params);
void mcp_tasks_result(McpCall *c, Json params);
void mcp_tasks_list(McpCall *c, Json params);

#endif
