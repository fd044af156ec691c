/* server_inside.h - what the files of the server share.
 *
 * Reading order: server.c (who has come, and for what), rest.c (an operation by its route), events.c and log_follower.c (Server-Sent Events),
 * websocket.c, mcp_http.c (assistants), windows.h (sessions that are debugged over REST), page.h, auth.c, problem.c, event_name.h,
 * openapi.c, schemas.h, metrics.c.
 */
#ifndef PAWL_SERVER_INSIDE_H
#define PAWL_SERVER_INSIDE_H

#include "asker.h"
#include "event_name.h"
#include "json_build.h"
#include "route.h"
#include "server.h"
#include "subscription.h"
#include "tokens.h"
#include "web_server.h"
#include "windows.h"

/* What a run is called that is begun with an Idempotency-Key: this, and so many digits of a hash of it. */
#define KEY_NAME "key-"
enum { KEY_DIGITS = 32 };

enum {
    BODY_MAX = 8 << 20,
    BODY_MAX_IMPORT = 16, /* times that */
    CONNECTIONS_MAX = 16384,
    CONNECTIONS_EACH_MAX = 1024,
    RUNS_MAX = 10000,
    RATE = 2000,
    GRACE_MS = 10000,
    STATUS_CLASSES = 6,
};

typedef struct Exchange Exchange;
typedef struct EventStream EventStream;
typedef struct LogFollower LogFollower;
typedef struct Talk Talk;
typedef struct Orphans Orphans;
typedef struct Rates Rates;
typedef struct McpHttp McpHttp;

struct Server {
    ServerOptions options; /* with what was left open filled in */
    char **hosts;
    WebServer *web;
    TokenSet *tokens; /* NULL: none are needed */
    Rates *rates;
    size_t runs_counted, runs_begun; /* under way when they were counted; let in since then */
    uint64_t runs_full; /* when they were counted and there was no room, on the loop's clock */
    Windows *windows;
    Orphans *orphans;
    McpHttp *mcp;
    Exchange *exchanges;  /* under way */
    EventStream *streams; /* open */
    LogFollower *logs;    /* the same */
    Talk *talks;          /* the same, over WebSockets */
    uint64_t last_request;
    int64_t started; /* ms since 1970 */
    uint64_t answered[STATUS_CLASSES];
    uint64_t events_sent;
    double lag_ms; /* of the loop, at its last look */
    uv_timer_t *look;
    uint64_t looked;
    int64_t changes_asked,
        changes_seen; /* ms since 1970: what changed before that was looked at (events.c) */
    uint64_t
        ready_at; /* when it was last looked whether the store can be read, on the loop's clock */
    char *ready_why;                    /* why not; NULL: it can */
    bool ready_asked;                   /* it is being looked at */
    HostJob trim;                       /* gives memory back to the system */
    bool trimming;                      /* it is at work */
    size_t resident;                    /* bytes, the fewest that were seen */
    unsigned memory_looks, memory_wait; /* seconds from one look to the next; until it */
    size_t pending;                     /* questions of its own that are not answered yet */
    bool closing;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

/* A request that is being answered. */
struct Exchange {
    Server *server;
    Exchange *prev, *next;
    WebRequest *request; /* NULL: whoever asked has gone */
    bool windowed;       /* it has a window (windows.h), until it is done */
    Asker asker;
    char id[24];
    uint64_t began; /* uv_hrtime() */
    RouteMatch match;
    char *thread;               /* that it is about; NULL: none */
    Json args;                  /* of the operation */
    bool asked;                 /* somebody is at it, and will answer or free it */
    bool asks_ready;            /* waits to hear whether the store can be read */
    bool starts;                /* a run was let in for it */
    bool created;               /* its answer is of something new */
    const struct OwnRoute *own; /* a route of the server's own; NULL: it is none */
    struct Post *post;          /* a message of an assistant (mcp_http.c); NULL: it is none */
    char session[40];           /* Mcp-Session-Id of the answer; "" without one */
    char key[65];               /* of Idempotency-Key; "" without one */
    char etag[32];              /* "" where the answer may change */
};

/* ---- server.c ---- */

void server_let_go(Server *s); /* frees it once it is closed and nothing is under way any more */
void exchange_free(Exchange *x);
/* Answers and frees. Consumes the value; text: printed already, its bytes are taken. */
void exchange_answer(Exchange *x, int status, Json value);
void exchange_answer_text(Exchange *x, int status, Buf *text);
/* Begins an answer that goes on, as Server-Sent Events, and frees. */
WebStream *exchange_stream(Exchange *x, const WebStreamHost *host);
void exchange_fail(Exchange *x, const Error *err);
/* With a status of its own instead of the one that follows from the code. */
void exchange_refuse(Exchange *x, int status, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void exchange_note(Exchange *x,
                   int status); /* it is answered otherwise: for the log and the counts */
void server_log(Server *s, ServerLevel level, const char *message,
                Json fields); /* consumes fields */

/* ---- auth.c ---- */

/* The path without /api/v1 or /api; NULL: it is none of the API's. */
const char *api_path(const char *target);

/* Whether the request comes from where it may; answers it otherwise. */
bool auth_check_place(Exchange *x);
/* Who asks; answers with 401 otherwise. */
bool auth_find(Exchange *x);
/* May the asker do that? Answers with 403 otherwise, or says it in *err. */
bool auth_allows(Server *s, const Asker *asker, const Operation *op, Json args, Error *err);
/* Whether as many runs are under way as may be. What waits, is paused or has settled is not under way, and whoever resumes or
 * debugs a run that is there is not held up. */
bool auth_has_room(Server *s, const Operation *op, Error *err);
/* Whether the token counts that somebody came with: it may have been revoked, or have expired, since. */
bool auth_still(const Server *s, const Asker *asker);
/* Of the number of requests; answers with 429 otherwise. */
bool auth_check_rate(Exchange *x);
/* The same of whoever has this key: the name of a token, or an address. */
bool auth_takes_another(Server *s, const char *key);
void rates_free(Rates *rates);

void auth_sign_in(Exchange *x);
void auth_sign_out(Exchange *x);

/* ---- problem.c ---- */

int problem_status(const Error *err);
Json problem_json(const Error *err, int status); /* with the way out that HTTP has */

/* ---- rest.c ---- */

void rest_head(Exchange *x);    /* the route is known: the length of its body */
void rest_request(Exchange *x); /* the body is there */
void rest_gone(Exchange *x);

/* ---- orphans.c ---- */

Orphans *orphans_new(Server *s);
/* The store has failed: what was tried counts no more, and is tried again after a while. */
void orphans_store_failed(Orphans *o);
void orphans_free(Orphans *o);

/* ---- events.c ---- */

void events_request(Exchange *x);
/* Whether who begins or resumes a run wants to hear what it does, or who reads its logs what it prints from now on, in place of
 * the answer alone (Accept). */
bool events_are_wanted(const Exchange *x, const Operation *op);
/* The answer, as the first event (`answer`), and what the run does from its first turn on; which of it, the header Pawl-Listen
 * says, as the query of GET .../events does. again: it was begun before, and all of it is told. Consumes the answer; false,
 * and not consumed, when that is nothing. */
bool events_follow(Exchange *x, Json answer, bool again);
/* Whether that header is one; before the run is begun. */
bool events_listen_is_fine(const Exchange *x, Error *err);
void event_stream_end(EventStream *stream);
void events_close(Server *s); /* they end so that clients see that more was to come */
void events_look(
    Server *
        s); /* every second: whether runs go on whose streams rest, and who has heard nothing for long */

/* ---- log_follower.c ---- */

void logs_request(Exchange *x); /* its arguments are checked */
void logs_close(Server *s);

/* ---- websocket.c ---- */

bool talk_is_wanted(const Exchange *x);
void talk_begin(Exchange *x);
void talks_look(Server *s); /* every second: whether their tokens still count */

/* ---- openapi.c, metrics.c ---- */

/* Runs that the process has in memory, and those of them that go on by themselves. */
size_t server_runs(const Server *s, size_t *moving);
void metrics_text(const Server *s, Buf *out);
Json server_json(const Server *s, const Asker *asker);

#endif
