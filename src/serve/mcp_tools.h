/* mcp_tools.h - the tools: one table of rows, most of which only point into the table of operations.
 *
 * A row says what a tool is called, when to use it, which operation it asks for and which of its arguments it takes: their
 * types, bounds and meanings are the operation's. What is its own stands in the row: arguments that the operation does not
 * have, defaults, and what follows the answer: a tool that lets a run go on waits until it stands still (mcp_wait.h) and
 * answers with a view of it (mcp_views.h). A tool that needs more has a function (mcp_calls.c).
 *
 * Everything that an assistant sees of a tool is made from its row: the schemas of what it takes and gives, its annotations,
 * its description. Arguments are checked by it, so that a sentence about what is wrong speaks of the tool.
 *
 * An answer is an object (`structuredContent`), and the same as text; together they are at most MCP_ANSWER_MAX bytes, and
 * `cut` says what was left out and which call reads on (mcp_shrink.h).
 */
#ifndef PAWL_MCP_TOOLS_H
#define PAWL_MCP_TOOLS_H

#include "mcp_inside.h"

typedef enum ToolThen {
    THEN_ANSWER,  /* what the operation answers is the answer */
    THEN_RUN,     /* the run stands still, and is shown */
    THEN_SESSION, /* the same of its debug session */
} ToolThen;

struct McpTool {
    const char *name, *title;
    const char *about;       /* what it does and when to use it */
    unsigned group;          /* MCP_RUNS, ... */
    OperationScope scope;    /* who may call it: that of the operations that it asks for */
    bool changes;            /* something outside of itself */
    bool destroys;           /* something that cannot be had again */
    bool again;              /* calling it twice is calling it once */
    bool reaches;            /* what it begins may reach anything: commands, the network */
    const char *operation;   /* NULL: its function asks for what it needs */
    const char *takes;       /* names of the operation's arguments, parted by blanks; NULL: none */
    const OperationArg *own; /* others, and those that are said otherwise here; NULL: none */
    const char *defaults; /* JSON of arguments that are meant when they are left out; NULL: none */
    const char *answer;   /* the shape of what it gives (json_shape.h) */
    ToolThen then;
    const char *big,
        *reader; /* the field that holds users' values, and the tool that reads on in it by `path`; or NULL */
    void (*call)(
        McpCall *c); /* its function; NULL: the operation is all. The arguments are c->args */
};

extern const McpTool mcp_tools[]; /* the last has no name */

McpToolSet *mcp_tools_new(void);
void mcp_tools_free(McpToolSet *set);

/* ---- methods ---- */

void mcp_tools_list(McpCall *c, Json params);
void mcp_tools_call(McpCall *c, Json params);

/* ---- for functions of tools ---- */

/* Asks for the tool's operation with these arguments, and goes on as its row says. Consumes args. */
void mcp_tool_ask(McpCall *c, const char *operation, Json args);
/* What follows the answer of an operation that let a run go on; answer: its thread, and the frames that it resumed; borrowed. */
void mcp_tool_wait(McpCall *c, Json answer);

/* The answer of a tool, an object that is cut where it is too large. Consumes it. */
void mcp_tool_done(McpCall *c, Json answer);
/* It could not be done: the sentence, and what could be done instead. */
void mcp_tool_fail(McpCall *c, const Error *err);
void mcp_tool_end(McpCall *c, const char *sentence);

/* The value as text of JSON that is at most so many bytes, cut in the same way. Given. */
Json mcp_fitted(Json value, size_t bytes);

#endif
