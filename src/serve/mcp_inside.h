/* mcp_inside.h - what the parts of the Model Context Protocol share: a call under way, and how it asks for operations. */
#ifndef PAWL_MCP_INSIDE_H
#define PAWL_MCP_INSIDE_H

#include "json_build.h"
#include "mcp.h"
#include "mcp_rpc.h"

typedef struct McpTool McpTool;
typedef struct McpToolSet McpToolSet;
typedef struct McpTask McpTask;
typedef struct McpTasks McpTasks;
typedef struct McpWait McpWait;
typedef struct McpWatch McpWatch;

enum {
    MCP_PATIENCE_MS = 30000, /* a tool that waits, unless it is told otherwise, */
    MCP_PATIENCE_MAX_S = 600,
    MCP_CALLS_MAX = 256,    /* under way of one peer */
    MCP_ANSWER_MAX = 25000, /* bytes of what a tool, or a resource, answers */
};

struct Mcp {
    McpOptions options;
    McpToolSet *tools;
    McpPeer *peers;
    McpCall *calls; /* under way */
    McpTasks *tasks;
    McpWatch *watch;
    bool closing, freed;
};

struct McpPeer {
    Mcp *mcp;
    McpPeer *prev, *next;
    McpPeerHost host;
    const char *version; /* that it speaks, of the old era; NULL: it has not said `initialize` */
    char name[64];       /* what its program calls itself; "" */
    bool ready;          /* it has said that it has heard the answer */
    bool listens;
    int level;       /* of what it wants to hear of logs (mcp_level()); -1: nothing */
    Json subscribed; /* {uri: true} */
};

struct McpCall {
    Mcp *mcp;
    McpCall *prev, *next;
    McpPeer *peer;
    McpOutlet outlet;
    McpEra era;
    Asker asker;
    unsigned groups;
    Json id;
    const char *method; /* of its row */
    Json meta;          /* JSON_NONE: none */
    bool answered;      /* or dropped, or cancelled: nothing is told any more */
    unsigned holds;     /* it is not freed while somebody is at it: operations under way, waits */
    int level;          /* as of a peer */
    bool tasks;         /* whoever asks can take a task instead of an answer */

    /* Of a call of a tool. */
    const McpTool *tool;
    Json args;           /* that the tool let pass */
    uint64_t until;      /* it waits until then, on the loop's clock */
    uv_timer_t *timer;   /* of tasks, and of what is never answered; NULL: there is none */
    McpWait *wait;       /* under way */
    McpTask *task;       /* that it has become; NULL: none */
    double progress;     /* that was told */
    uint64_t progressed; /* when */

    /* What its functions keep between two answers. */
    char *thread;
    Json view;
    void (*then)(McpCall *c, Json answer, const Error *err);
    void (*shown)(McpCall *c,
                  Json view); /* what becomes of a view, consumed; NULL: it is a tool's answer */
    unsigned tries;

    /* Of subscriptions/listen. */
    Json filter; /* JSON_NONE: it is none */
};

/* ---- answers ---- */

/* A result: what the era asks for is added. Consumes it. */
void mcp_answer(McpCall *c, Json result);
/* The same for one that may be kept for so long; mine: it is of whoever asked, and not of everybody. */
void mcp_answer_lasting(McpCall *c, Json result, int64_t ttl_ms, bool mine);
/* A first answer of a call that goes on: whoever asks gets nothing more from it. Consumes it. */
void mcp_answer_first(McpCall *c, Json result);
/* An error of the protocol; data: JSON_NONE for none, consumed. */
void mcp_refuse(McpCall *c, int code, Json data, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Something that belongs to the request. Consumes params. */
void mcp_note(McpCall *c, const char *method, Json params);

/* Of a text or number that may not be there. */
const char *mcp_text(Json params, const char *key);

/* ---- what functions of calls use ---- */

void mcp_hold(McpCall *c);
void mcp_release(McpCall *c); /* it may be gone afterwards */

/* Told once, with the answer given or with err. Not when the call was answered or dropped meanwhile. */
typedef void (*McpThen)(McpCall *c, Json answer, const Error *err);

/* Asks for an operation as whoever calls, maybe answered before it returns. A session that is to be changed gets a window
 * first. Consumes args. */
void mcp_ask(McpCall *c, const char *operation, Json args, McpThen then);

/* Takes a run for a debugger, which nobody has in hand. */
void mcp_open(McpCall *c, const char *thread, McpThen then);

/* Tells how far it is, where whoever asks wants to know. */
void mcp_progress(McpCall *c, const char *message);
/* A line of a log, of a level that is one of mcp_levels. */
void mcp_log(McpCall *c, const char *level, const char *of, Json data);

extern const char *const mcp_levels[]; /* "debug", ... "emergency"; NULL at their end */
int mcp_level(const char *name);       /* -1: there is none */

/* Whether somebody with this scope may ask for operations of the other. */
bool mcp_may(const McpCall *c, OperationScope scope);

#endif
