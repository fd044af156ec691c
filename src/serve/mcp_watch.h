/* mcp_watch.h - tells those who want to know that a resource, or the list of them, has changed.
 *
 * It looks at the runs that changed last, and now and then at the workflows that have names: every second while somebody
 * has asked for the changes of a resource, every three while somebody only wants to hear of the list, and never while nobody
 * does. So it is the same for runs of this process, of others and of a server.
 */
#ifndef PAWL_MCP_WATCH_H
#define PAWL_MCP_WATCH_H

#include "mcp_inside.h"

McpWatch *mcp_watch_new(Mcp *m);
void mcp_watch_free(McpWatch *w); /* accepts NULL */

/* Somebody has come, or gone, or wants something else. Accepts NULL. */
void mcp_watch_wake(McpWatch *w);

/* To one subscriptions/listen: a notification with its number. Consumes params. */
void mcp_watch_note(McpCall *c, const char *method, Json params);

#endif
