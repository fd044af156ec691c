/* mcp_prompts.h - prompts: what a person may ask an assistant for with one click, with the facts that it needs already in it.
 *
 *     debug_failed_run       {thread?}          finds out why a run failed, and mends it
 *     write_workflow         {goal, dialect?}   writes a workflow, checks it, and tries it
 *     review_state_change    {thread, from?, to?}   what the last step, or what is between two checkpoints, changed
 */
#ifndef PAWL_MCP_PROMPTS_H
#define PAWL_MCP_PROMPTS_H

#include "mcp_inside.h"

bool mcp_prompt_is_known(const char *name);

extern const char *const mcp_prompt_dialects[]; /* NULL at their end */

/* ---- methods ---- */

void mcp_prompts_list(McpCall *c, Json params);
void mcp_prompts_get(McpCall *c, Json params);

#endif
