/* mcp_stdio.h - the Model Context Protocol over two descriptors: a message a line, as a client has it that started us.
 *
 *     McpStdio *door = mcp_stdio_new(mcp, &options, &err);
 *     ... the loop runs until over() is told
 *     mcp_stdio_free(door);
 *
 * Both eras come over the same lines. What is no JSON is answered with a parse error and costs nothing else; a line may be
 * MCP_LINE_MAX bytes long. When the other side closes its end, what it has asked for is still answered, and then it is over; when
 * nobody reads the answers any more, it is over at once. Nothing but messages is ever written.
 *
 * The descriptors may be pipes, sockets, a terminal or files. All on the loop's thread.
 */
#ifndef PAWL_MCP_STDIO_H
#define PAWL_MCP_STDIO_H

#include "mcp.h"

enum { MCP_LINE_MAX = 8 << 20, MCP_WAITING_MAX = 64 << 20 };

typedef struct McpStdio McpStdio;

typedef struct McpStdioOptions {
    uv_loop_t *loop;
    int in, out; /* taken, also on error */
    Asker asker;
    void (*over)(void *ctx); /* told once */
    void *ctx;
} McpStdioOptions;

/* NULL on error: they cannot be read or written. */
McpStdio *mcp_stdio_new(Mcp *m, const McpStdioOptions *options, Error *err);

/* Nothing is read or written any more. Before the Mcp is freed, and the loop has to run; accepts NULL. */
void mcp_stdio_free(McpStdio *door);

#endif
