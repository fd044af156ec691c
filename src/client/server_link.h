/* server_link.h - a client's way to a server (`pawl serve`): operations by their routes, events as Server-Sent Events.
 *
 * server_link.c has the calls, server_answer.c what an answer says, server_events.c the streams.
 *
 * A call is one request. It is checked by its row before it leaves, and what it comes to is the answer of the operation, or
 * its error, rebuilt from the problem document with its facts. A request that the server has not begun to do (no connection
 * came about, too many requests, the server is stopping) is made again for a while, once the server has been reached before;
 * so is one whose connection broke where asking twice is asking once. A server that was never reached is an error at once.
 *
 * A stream that breaks is taken up again from the last event that was told (Last-Event-ID), so nothing is told twice, and
 * nothing that is in the record is missed. It gives up after LINK_AWAY_MS without the server.
 *
 * A token goes to the server that it is for, and nowhere else: redirects are not followed, and over plain http it goes to
 * addresses of this machine alone, unless told otherwise. No proxy is used on the way to those.
 */
#ifndef PAWL_SERVER_LINK_H
#define PAWL_SERVER_LINK_H

#include "client.h"
#include "http.h"
#include "net_policy.h"

enum {
    LINK_AWAY_MS = 60000,  /* a server may be away so long */
    LINK_LONG_MS = 600000, /* for the answer of what is not of a run: a check of the store */
    LINK_SILENCE_MS =
        50000, /* a stream that says nothing for so long has broken: the server says something every 15 s */
    LINK_AGAIN_MS = 100,      /* the first wait; each is twice as long as the one before, */
    LINK_AGAIN_MAX_MS = 2000, /* up to this */
    LINK_ANSWER_MAX = 1 << 30,
};

typedef struct ServerLink ServerLink;
typedef struct ServerCall ServerCall;
typedef struct ServerEvents ServerEvents;

struct ServerLink {
    uv_loop_t *loop;
    HttpClient *http;
    char *url; /* without a slash at its end; NULL: `broken` says why */
    char *authorization, *ca_file;
    NetPolicy *nets; /* of an address of this machine; NULL: any */
    bool reached;    /* the server has answered before */
    Error broken;
    uv_async_t *wake;  /* server_link_wake() */
    ServerCall *calls; /* under way */
    ServerEvents *streams;
};

/* ---- server_link.c ---- */

ServerLink *server_link_new(const ClientOptions *options);
/* Calls that are under way are answered with an error first; accepts NULL. */
void server_link_free(ServerLink *link);

/* Consumes args, and listen. listen: JSON_NONE, or the arguments of `run_events` of whoever is going to listen to the run that
 * this begins. */
void server_link_call(ServerLink *link, const char *operation, Json args, Json listen,
                      ClientAnswer done, void *ctx);

/* What every request has. NULL on error. */
HttpRequest *server_link_send(ServerLink *link, HttpOptions *options, Error *err);

/* Something is about to be told. libcurl may be driven by a timer, and after its timers uv_run() waits for descriptors once
 * more: whoever runs the loop until something was told would wait for nothing. */
void server_link_wake(ServerLink *link);

/* How long the next try has to wait, after so many. */
uint64_t server_link_pause(int tries);

/* ---- server_answer.c ---- */

/* The value of an answer, given; JSON_NONE with its error. */
Json server_answer_read(const ServerLink *link, const HttpAnswer *answer, Error *err);
/* The same for a body that was kept elsewhere. */
Json server_body_read(const ServerLink *link, int status, const char *body, size_t len, Error *err);
/* Nothing was done, and may be done a little later. */
bool server_is_away(const HttpAnswer *answer);
bool server_status_is_away(int status);

/* ---- server_events.c ---- */

ServerEvents *server_events_new(ServerLink *link, Json args, const ClientListener *listener);
void server_events_end(ServerEvents *events); /* nothing is told any more; accepts NULL */

/* Of a run that is to begin: the answer comes first, and server_events_new() in it gives what follows. */
typedef struct ServerBegin {
    const char *target;
    Json body, listen; /* an object, and arguments of run_events; borrowed */
    ClientAnswer done;
    void *ctx;
} ServerBegin;
void server_events_begin(ServerLink *link, const ServerBegin *begin);
void server_events_close(ServerLink *link, const Error *why); /* all of them */

#endif
