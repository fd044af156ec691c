/* dap.h - the door for editors: a debug adapter, which speaks the Debug Adapter Protocol and debugs runs.
 *
 *     DapServer *server = dap_new(&options);
 *     dap_talk(server, in, out);                     a conversation over standard input and output
 *     int port = dap_listen(server, "127.0.0.1:0", &err);      or any number of them over TCP
 *     ... uv_run() ...                               options.rests(): nobody is left
 *     dap_free(server, done, ctx);
 *
 * An editor starts a run of a workflow (`launch`), or comes to one that is there (`attach`): in this process, in the one
 * that holds it, on a server, or in the record of one that has ended. The adapter asks all of them in the same way, through a
 * client (client.h), and knows no more of a run than the operations of its debug session tell (session_api.h). What it adds
 * is the protocol: its words, its numbers, its order. How those of ours and of the protocol go together:
 *
 *     source                a file of the workflow; a line belongs to the innermost node around it
 *     thread                a frame; its number is the thread's
 *     stack frame           a level of the frame, then the levels that it was made in, then the run
 *     scope                 what the node of a level sees, and for the innermost also its config, its error, the outputs
 *                           of nodes before it, the history
 *     breakpoint            one of the session. The numbers that the client knows are the adapter's own: they stay when a run is
 *                           begun anew, or when the client sets the same one again
 *     variablesReference,   a handle (dap_handles.h): good while the frame that it is about stands still
 *     frameId
 *
 * A *conversation* is one client from `initialize` to the end of its stream. Requests are done one after the other, in the
 * order in which they came; only those that end something (`cancel`, `disconnect`, `terminate`) do not wait for their turn.
 * Every request gets exactly one response. What happens meanwhile is told between requests, never before the response that
 * explains it. When the client goes, politely or not, the run is left as `pawl debug` leaves it: paused in its store,
 * with what was going on in this process stopped; who listens at TCP lets it go on until it stops by itself.
 *
 * The files, in reading order:
 *
 *     dap_wire.h        messages over a stream
 *     dap_handles.h     numbers for what a client may look into
 *     dap_sources.h     the files of a workflow, their nodes and places, in the client's words
 *     dap_inside.h      a conversation, for the files that make it up:
 *     dap.c             its life, and the listener
 *     dap_requests.c    the table of requests: one place for their order, their arguments, success and errors
 *     dap_session.c     launch, attach, restart, disconnect, terminate
 *     dap_events.c      what the debug session tells, in the client's words
 *     dap_threads.c     threads, stacks, scopes
 *     dap_variables.c   values: looking, setting, evaluating, completing
 *     dap_breakpoints.c breakpoints of all kinds
 *     dap_running.c     going on, and going elsewhere
 *
 * TCP is for this machine alone: other addresses are refused, and so is a process of another user.
 */
#ifndef PAWL_DAP_H
#define PAWL_DAP_H

#include "client.h"
#include "flow.h"

enum { DAP_CONVERSATIONS = 64 }; /* at a time, over TCP */

typedef struct DapServer DapServer;

/* Where runs are to be found, as a client asked for it; NULL: as this process was told. */
typedef struct DapPlace {
    const char *store, *server; /* URLs */
    const Graph
        *flow; /* that a run is to be started of, whose config may name a store; NULL: none is */
} DapPlace;

typedef struct DapOptions {
    uv_loop_t *loop;
    const char *folder; /* of this process, absolute; copied */
    /* The client for a place, lent until dap_free() is done. NULL with a sentence. */
    Client *(*open)(void *ctx, const DapPlace *place, Error *err);
    void (*begun)(void *ctx,
                  Client *place); /* a run is open there, so that place has a store; or NULL */
    void (*rests)(void *ctx); /* no conversation is left, and nothing that one has left behind */
    bool stays; /* runs that are under way when a client goes away go on in this process */
    const SafeRoot *root;     /* that workflows have to be in; NULL: anywhere. Borrowed */
    const char *const *kinds; /* folders of kinds; borrowed */
    size_t nkinds;
    void *ctx;
} DapOptions;

DapServer *dap_new(const DapOptions *options);
/* Ends all conversations; done() is called from the loop when their runs are left. Afterwards the loop closes what is still
 * open. Once. */
void dap_free(DapServer *server, void (*done)(void *ctx), void *ctx);

/* Takes the streams (dap_wire.h). */
void dap_talk(DapServer *server, uv_stream_t *in, uv_stream_t *out);

/* HOST:PORT of this machine, port 0 being any. The port; 0 on error. */
int dap_listen(DapServer *server, const char *address, Error *err);

#endif
