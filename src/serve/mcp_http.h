/* mcp_http.h - the Model Context Protocol over HTTP ("streamable HTTP"): /mcp of a server.
 *
 *     McpHttp *door = mcp_http_new(server);
 *     mcp_http_post(exchange);          each message of a client; likewise mcp_http_listen() and mcp_http_leave()
 *     mcp_http_look(door);              every second
 *     mcp_http_close(door);             whoever waits is told that it ends
 *     mcp_http_free(door);
 *
 * A message is the body of a POST. Its answer is a JSON document, or, when something is told before it or when it takes long,
 * a stream of events that ends with it. Whoever closes that connection ends the waiting, and nothing else: a run goes on.
 *
 * Both eras are spoken here (mcp.h). Since 2026-07-28 a request stands alone: what is in it is also in its headers, and has to be
 * the same there. Before that `initialize` begins a session, whose name comes with every later message (Mcp-Session-Id); GET
 * opens a stream of what belongs to no request, DELETE ends the session. A session is of the token that began it. It ends by
 * itself when nobody used it for MCP_SESSION_IDLE_S, or when its token counts no more; the one that was used longest ago makes
 * room when there are MCP_SESSIONS_MAX.
 *
 * `/mcp?profile=runs,debugging` is a door with these groups of tools alone, and `/mcp?read_only=true` one that changes nothing,
 * whatever the token may.
 *
 * Who may ask, from where and how often is looked at before (auth.c). All on the loop's thread.
 */
#ifndef PAWL_MCP_HTTP_H
#define PAWL_MCP_HTTP_H

#include "server_inside.h"

enum {
    MCP_SESSIONS_MAX = 4096,
    MCP_SESSION_IDLE_S = 1800,
    MCP_HTTP_CALLS_MAX = 4096, /* under way */
};

McpHttp *mcp_http_new(Server *s);
void mcp_http_look(McpHttp *h);
void mcp_http_close(McpHttp *h);
/* After mcp_http_close(), and after the streams are gone; accepts NULL. */
void mcp_http_free(McpHttp *h);

/* The three methods of /mcp, of the server's table of routes. Each answers the exchange, at once or later. */
void mcp_http_post(Exchange *x);
void mcp_http_listen(Exchange *x);
void mcp_http_leave(Exchange *x);

/* Whoever sent it has gone before there was an answer. Frees the exchange. */
void mcp_http_gone(Exchange *x);

size_t mcp_http_sessions(const McpHttp *h);

#endif
