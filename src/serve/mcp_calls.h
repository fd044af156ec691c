/* mcp_calls.h - the tools that ask for more than one operation, or for another than their row could say. Each is the `call` of a
 * row (mcp_tools.h). */
#ifndef PAWL_MCP_CALLS_H
#define PAWL_MCP_CALLS_H

#include "mcp_inside.h"

/* ---- workflows ---- */

void call_check_workflow(McpCall *c);
void call_draw_workflow(McpCall *c);
void call_explain_kind(McpCall *c);
void call_read_docs(McpCall *c);

/* ---- runs ---- */

void call_start_run(McpCall *c);
void call_get_run(McpCall *c);
void call_wait_for_run(McpCall *c);
void call_read_logs(McpCall *c);
void call_read_history(McpCall *c);
void call_read_state(McpCall *c);
void call_resume_run(McpCall *c);

/* ---- debugging ---- */

void call_debug_start(McpCall *c);
void call_debug_where(McpCall *c);
void call_debug_back(McpCall *c);
void call_debug_set(McpCall *c);
void call_debug_breakpoint_set(McpCall *c);
void call_debug_end(McpCall *c);

#endif
