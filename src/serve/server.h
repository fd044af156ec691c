/* server.h - a host with doors for others: REST, events and WebSockets over HTTP, made from the table of operations.
 *
 *     Server *server = server_new(&options, &err);
 *     int port = server_listen(server, "127.0.0.1:7295", &err);
 *     server_close(server, closed, ctx);                          in the end
 *
 * Under /api/v1 (and /api, which is the same):
 *
 *     every operation by its route (api/route.h)     answers as the row says; errors as problem documents (RFC 9457) with
 *                                                    `code`, `detail` and the facts of the error; the status follows the code
 *     GET .../events                                 Server-Sent Events; `id:` is a cursor, so Last-Event-ID goes on from there
 *     /ws, /debug/{thread} with Upgrade              the operations over a WebSocket (socket.h has the like for processes)
 *     /openapi.json, /server                         what there is to ask, and who answers
 *
 * /mcp is the Model Context Protocol, for assistants (mcp_http.h).
 *
 * Beside it: /healthz and /readyz for whoever keeps the process running, and /metrics for Prometheus.
 *
 * Who may ask: without `auth` everybody who reaches the port, which is for loopback addresses alone; with it whoever has a token
 * (host/tokens.h) whose scope holds that of the row. A token comes in the Authorization header, or in the cookie that
 * POST /api/v1/sign-in sets; never in a URL. Names of hosts and origins of pages are checked in either case, and so is
 * what browsers say of the site that asks (Sec-Fetch-Site), so that no page of another site can ask on behalf of the person
 * who looks at it, not with a GET either. A link to a page outside of /api may be followed from anywhere.
 *
 * Over REST a debug session needs nobody who stays connected: the server is its window from the first change that is asked of
 * it until nobody asked for five minutes. Then the run settles as paused, and the next one who asks takes it up again.
 *
 * All on the loop's thread.
 */
#ifndef PAWL_SERVER_H
#define PAWL_SERVER_H

#include "client.h"
#include "operation.h"

typedef struct Server Server;

typedef enum ServerLevel { LEVEL_ERROR, LEVEL_WARN, LEVEL_INFO, LEVEL_DEBUG } ServerLevel;

/* A line of the log; the last field has no name. */
typedef struct ServerLog {
    /* fields: an object, borrowed: {request, method, path, status, ms, token?, peer, ...}. */
    void (*write)(void *ctx, ServerLevel level, const char *message, Json fields);
    void *ctx;
    ServerLevel level; /* what is less than that is not written */
} ServerLog;

typedef struct ServerOptions {
    uv_loop_t *loop;
    Client *client;    /* of this process; its host has the store open. Borrowed */
    bool auth;         /* a token is needed */
    bool allow_inline; /* scope `run` may send workflows, not only name them */
    const char *tls_cert, *tls_key;
    const char *const *
        hosts; /* further names that the server goes by, "pawl.example.org"; NULL at the end; copied */
    size_t max_body;        /* bytes; 0: 8 MB. run_import: sixteen times that */
    size_t max_connections; /* 0: 16384 */
    size_t
        max_connections_each; /* of one address that is not this machine's; 0: 1024. See WebLimits */
    size_t max_runs;          /* under way here; starting more is refused. 0: 10000 */
    unsigned rate;            /* requests a second of one asker; 0: 2000 */
    ServerLog log;
} ServerOptions;

/* NULL on error. */
Server *server_new(const ServerOptions *options, Error *err);

/* "127.0.0.1:7295". The port; 0 on error: ERR_BUSY when it is taken, ERR_USAGE for an address that others can reach while no
 * token is needed. */
int server_listen(Server *s, const char *address, Error *err);
/* A socket that listens already, by the same rule; taken, also on error. */
bool server_listen_fd(Server *s, int fd, Error *err);

/* Reads the certificate and its key anew, for connections from now on. False with a sentence: the old ones are kept, or there is
 * no TLS. */
bool server_renew_tls(Server *s, Error *err);

/* Nobody is let in any more; who has asked is answered, and streams are ended. closed() is told once, from the loop; the server
 * is freed then. Before the client is. */
void server_close(Server *s, void (*closed)(void *ctx), void *ctx);

/* The OpenAPI document (3.1), given. */
Json server_openapi(void);

#endif
