/* client.h - asks for operations where the run is: in this process, in the one that holds it, or on a server.
 *
 *     Client *client = client_new(&options);
 *     Json run = client_ask(client, "run_get", args, &err);            from the program's own flow
 *     client_call(client, "run_start", args, on_answer, ctx);          or from anywhere, answered later
 *     ClientEvents *events = client_events(client, args, &listener);   what happens to a run
 *     client_free(client);
 *
 * Operations are those of the one table (api/operation.h). One that belongs to a run goes to the process that holds
 * that run, over its socket (serve/socket.h), and is done here when nobody does: then this process holds it. A
 * caller cannot tell the difference, but for client_is_elsewhere().
 *
 * With a `server` every operation goes there, over HTTP (server_link.h), and this process opens no store. A connection that
 * breaks is made again, and a stream of events goes on where it was.
 *
 * All on the loop's thread. Nothing here runs the loop but client_ask(), which is for programs that have nothing
 * else to do, from their own flow and never from a callback.
 */
#ifndef PAWL_CLIENT_H
#define PAWL_CLIENT_H

#include "bounds.h"
#include "error.h"
#include "json.h"

#include <uv.h>

typedef struct Client Client;
struct Host;

enum { CLIENT_HELLO_MS = 5000, CLIENT_CALL_MS = 30000 };

typedef struct ClientOptions {
    uv_loop_t *loop;
    const char *store;        /* URL */
    const char *folder;       /* that runs are started in, absolute */
    char *const *environment; /* these are as in HostOptions */
    Json names;
    Bounds bounds;
    const char *secrets, *key_file, *workflows;
    /* The URL of a server, "https://pawl.example.org"; what is above counts for nothing then. NULL: none. Copied, as are
     * these. */
    const char *server;
    const char *token;   /* NULL: none */
    const char *ca_file; /* certificates that are trusted instead of the system's; NULL: those */
    bool plain;          /* the token may go to another machine over plain http */
} ClientOptions;

Client *client_new(const ClientOptions *options);
void client_free(Client *client); /* the loop has to run until it is done; accepts NULL */

/* The host of this process: for doors that others come in by. NULL with a server. */
struct Host *client_host(Client *client);

/* Answers exactly once, maybe before the call returns; the answer is given. Consumes args. */
typedef void (*ClientAnswer)(void *ctx, Json answer, const Error *err);
void client_call(Client *client, const char *operation, Json args, ClientAnswer done, void *ctx);

/* The same for somebody else, as a door knows them: Reply.by. */
typedef struct ClientCall {
    const char *operation;
    Json args;      /* consumed */
    const char *by; /* NULL: nobody said; copied */
    ClientAnswer done;
    void *ctx;
} ClientCall;
void client_call_for(Client *client, const ClientCall *call);

/* The same for `run_start` and `run_resume` by somebody who listens: client_events() from inside of done(), with these
 * arguments (without `thread`), misses nothing of what the run does. Consumes args and listen. */
void client_begin(Client *c, const char *operation, Json args, Json listen, ClientAnswer done,
                  void *ctx);

/* Runs the loop until the answer is there; JSON_NONE on error. Consumes args. */
Json client_ask(Client *client, const char *operation, Json args, Error *err);

/* Whether another process holds the run, as far as was seen by the last call for it. With a server: always. */
bool client_is_elsewhere(Client *client, const char *thread);

/* ---- events ---- */

typedef struct ClientEvents ClientEvents;

typedef struct ClientListener {
    void (*event)(void *ctx, Json event); /* consumes it */
    void (*over)(void *ctx,
                 const Error *why); /* the last that is told; why is NULL when it just ended */
    void *ctx;
} ClientListener;

/* args as of `run_events`. Told from the loop, or before the call returns; in any case it is the caller's until
 * client_events_end(). Consumes args. */
ClientEvents *client_events(Client *client, Json args, const ClientListener *listener);
void client_events_end(ClientEvents *events); /* nothing is told any more; accepts NULL */
/* hold: whoever listens can take no more, until it is called with false: what happens here waits, up to SUBSCRIPTION_MAX events;
 * what another process or a server tells is told all the same. From inside of what is told, too. Accepts NULL. */
void client_events_hold(ClientEvents *events, bool hold);
/* As subscription_is_behind(); never of what another process tells. */
bool client_events_is_behind(const ClientEvents *events);

#endif
