/* mcp_resources.h - runs, workflows and documents as resources, with a URI each.
 *
 *     pawl://runs/{thread}                        where it is, what it asks, its error: JSON
 *     pawl://runs/{thread}/state{?path,checkpoint}
 *     pawl://runs/{thread}/logs{?node}            the last lines, text
 *     pawl://runs/{thread}/history                the last checkpoints
 *     pawl://workflows/{name}                     its YAML
 *     pawl://docs/{page}                          Markdown
 *
 * Names are percent-encoded. What is large is cut (mcp_shrink.h), but for documents. The list has the documents, the workflows
 * that have names, and the runs, the one that changed last first, page by page.
 */
#ifndef PAWL_MCP_RESOURCES_H
#define PAWL_MCP_RESOURCES_H

#include "mcp_inside.h"

/* What a URI leads to. */
typedef struct McpUri {
    const struct McpResource *resource; /* a row of the table in mcp_resources.c; NULL: nothing */
    char *name;                         /* the thread, the workflow or the page; given */
    Json query;                         /* an object of texts; given */
} McpUri;

McpUri mcp_uri_read(const char *uri);
void mcp_uri_clear(McpUri *uri);
/* Whether it is of a run, and of this one. */
bool mcp_uri_is_of_run(const McpUri *uri, const char *thread);

/* ---- methods ---- */

void mcp_resources_list(McpCall *c, Json params);
void mcp_resources_templates(McpCall *c, Json params);
void mcp_resources_read(McpCall *c, Json params);
void mcp_resources_subscribe(McpCall *c, Json params);
void mcp_resources_unsubscribe(McpCall *c, Json params);
void mcp_resources_listen(McpCall *c, Json params);
/* Also of the arguments of prompts. */
void mcp_resources_complete(McpCall *c, Json params);

/* A block of content that holds a text resource, for prompts. Consumes the text. */
Json mcp_embedded(const char *uri, const char *type, Json text);

#endif
