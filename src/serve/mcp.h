/* mcp.h - the Model Context Protocol: what a client can be asked, as tools, resources and prompts for assistants.
 *
 *     Mcp *mcp = mcp_new(&options);
 *     McpPeer *peer = mcp_peer_new(mcp, &host);             somebody who stays: a process on stdio, a session over HTTP
 *     McpCall *call = mcp_receive(mcp, &from, message);     for each message of theirs
 *     mcp_call_drop(call);                                  nobody waits for its answer any more
 *     mcp_peer_free(peer);
 *     mcp_free(mcp);
 *
 * This is the protocol without a transport; mcp_stdio.h and mcp_http.h are those. The parts:
 *
 *     mcp_rpc.h        messages of JSON-RPC
 *     mcp.c            the methods, one table; calls and peers
 *     mcp_tools.h      the tools, one table of rows (mcp_tool_rows.c) that point into the table of operations (operation.h)
 *     mcp_views.h      a run, and where a debugger stands in one, as an assistant wants to see them
 *     mcp_wait.h       waiting for a run to stand still, bounded
 *     mcp_shrink.h     answers fit into a context window
 *     mcp_resources.h  runs, workflows and documents by URI; mcp_watch.h says when they change
 *     mcp_prompts.h    prompts
 *     mcp_tasks.h      long calls as tasks
 *
 * Two eras of the protocol are spoken at the same time, and what a message says decides (mcp_era()). Up to 2025-11-25 a peer
 * begins with `initialize`, which says its version and what it can do. Since 2026-07-28 every request says both in its
 * `_meta`, and stands alone; its results have a `resultType`.
 *
 * A tool asks for operations through the client, so it makes no difference where a run is: in this process, in another one,
 * on a server. What a tool was asked for wrongly, or what cannot be done, is a result of the tool with a sentence that an
 * assistant can act on; only what is no call of a tool is an error of the protocol.
 *
 * Nothing hangs. Whatever waits has a bound, and is answered then with how things stand. A call that is dropped, or cancelled,
 * ends its waiting, and nothing else: what it began goes on.
 *
 * All on the loop's thread.
 */
#ifndef PAWL_MCP_H
#define PAWL_MCP_H

#include "asker.h"
#include "client.h"
#include "windows.h"

typedef struct Mcp Mcp;
typedef struct McpPeer McpPeer;
typedef struct McpCall McpCall;

/* Groups of tools, which a profile names. */
enum { MCP_WORKFLOWS = 1, MCP_RUNS = 2, MCP_DEBUGGING = 4, MCP_ALL_GROUPS = 7 };

/* The groups of a profile, "runs,debugging"; 0 with a sentence that names those that there are. */
unsigned mcp_profile(const char *names, Error *err);

typedef struct McpOptions {
    uv_loop_t *loop;
    Client *client;   /* borrowed, as are these */
    Windows *windows; /* of the debug sessions */
    /* Whether somebody may ask for that; NULL: whoever has the scope of the operation. */
    bool (*allows)(void *ctx, const Asker *who, const Operation *op, Json args, Error *err);
    void *ctx;
    const SafeRoot *
        root; /* that files of workflows have to be in; NULL: anywhere. Where the client has no host */
    unsigned groups; /* of tools; 0: all */
} McpOptions;

Mcp *mcp_new(const McpOptions *options);
/* Whoever waits is told that it ends. */
void mcp_close(Mcp *m);
/* After mcp_close(). The loop has to run until what is under way has come back; accepts NULL. */
void mcp_free(Mcp *m);

/* ---- who stays ---- */

typedef struct McpPeerHost {
    /* A message that belongs to no request: a list has changed, a resource has. Consumes it. */
    void (*tell)(void *ctx, Json message);
    void *ctx;
} McpPeerHost;

McpPeer *mcp_peer_new(Mcp *m, const McpPeerHost *host);
void mcp_peer_free(McpPeer *peer); /* its calls are dropped; accepts NULL */
/* Whether it has said `initialize`. */
bool mcp_peer_has_begun(const McpPeer *peer);
/* Whether everything that it has asked for is answered, but for what lasts: subscriptions and tasks. */
bool mcp_peer_rests(const McpPeer *peer);
/* Whether it hears what it is told just now: one that does not costs nothing. At first it does. */
void mcp_peer_listens(McpPeer *peer, bool listens);

/* ---- messages ---- */

/* Where what belongs to one request goes. Neither is called after mcp_call_drop(); note() never after answer(). */
typedef struct McpOutlet {
    void (*note)(void *ctx, Json message); /* progress and the like; consumes it */
    /* The answer, exactly one, maybe before mcp_receive() returns. status: that HTTP gives it. Consumes it. */
    void (*answer)(void *ctx, Json message, int status);
    void *ctx;
} McpOutlet;

typedef struct McpFrom {
    McpPeer *peer;   /* NULL: whoever sent it does not stay */
    Asker asker;     /* copied */
    unsigned groups; /* of the tools that it wants; 0: all that there are */
    bool modern;     /* its transport says that it is of the new era */
    McpOutlet outlet;
} McpFrom;

typedef enum McpEra { MCP_LEGACY, MCP_MODERN } McpEra;

/* The era of a message, by what is in it. */
McpEra mcp_era(Json message);
/* Whether there is such a version, of either era. */
bool mcp_version_is_known(const char *version);

/* Does what a message asks for. The call, when it is a request that is not answered yet; NULL otherwise. A notification, or what
 * is no message but has no id, is not answered unless it is rubbish: then the answer has no id. Consumes the message. */
McpCall *mcp_receive(Mcp *m, const McpFrom *from, Json message);
/* Nobody waits for it any more: nothing is told. It is not to be used any more. */
void mcp_call_drop(McpCall *call);

#endif
