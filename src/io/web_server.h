/* web_server.h - an HTTP server on the loop: requests, answers that go on and on, WebSockets. Knows nothing of
 * workflows.
 *
 *     WebServer *server = web_server_new(&options, &err);
 *     web_server_listen(server, "127.0.0.1:7295", &err);       or web_server_listen_fd()
 *     web_server_close(server, grace_ms, closed, ctx);
 *
 * HTTP/1.1 and, with TLS, HTTP/2; every connection has TCP_NODELAY. Everything is called, and calls back, on the loop's
 * thread. A request is told in up to three steps:
 *
 *     head      Its headers are there. The handler may answer at once (401, 404, 413, ...), say how long the body may be
 *               (web_body_max()), accept the request as a WebSocket, or do nothing: then the body is read, and
 *     request   is told when all of the body is there, in this turn of the loop or in a later one. The handler answers
 *               exactly once, at any time: web_answer() or web_stream().
 *     gone      The client has gone or took too long, or its body was refused. The handler drops the request. This comes
 *               only for a request that head() has seen and that has no answer; a stream has a `gone` of its own.
 *
 * What a WebRequest lends (path, headers, body) is valid until the request is answered or gone. A WebStream is the same
 * exchange after its headers were sent, and ends with web_stream_end() or `gone`. A WebSocket ends with `closed`. The
 * callbacks of streams and WebSockets never come from inside a call that writes to them.
 *
 * A client that half-closes its connection is answered what it asked completely before. It is gone then: at once for a stream,
 * after two seconds for a request that waits for its answer.
 *
 * A client may be hostile. Requests that two servers could read in two ways are refused and their connection is
 * closed: both lengths, a length twice or with anything but digits, a transfer coding that is not exactly
 * "chunked", bad chunks, bare line ends in headers, white space before a colon, no or more than one Host. A target is a path:
 * "*" and whole URLs are refused. Each limit below has an answer (400, 408, 413, 414, 429, 431, 501, 503) and an end.
 * What the server refuses by itself is answered with a problem document (RFC 9457) with `status`, `code` and `detail`.
 * Writing is bounded too: a stream tells how much waits (web_stream_waiting()), and a client that takes nothing for
 * `write_ms`, or an answer at a trickle, is gone.
 *
 * Header names are case-blind; values are UTF-8 (other bytes are mended) without the white space around them. A header value
 * that is sent may not hold control characters: such a byte is a bug of the caller and ends the program (it is never text
 * from outside).
 */
#ifndef PAWL_WEB_SERVER_H
#define PAWL_WEB_SERVER_H

#include "buf.h"
#include "error.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

typedef struct WebServer WebServer;
typedef struct WebRequest WebRequest;
typedef struct WebStream WebStream;
typedef struct WebSocket WebSocket;

/* Zero is the default that stands beside each. */
typedef struct WebLimits {
    size_t connections;      /* 16384; who comes after those gets 503 and is closed */
    size_t connections_each; /* of one address, or one /64 of IPv6; 0: as `connections` */
    bool trusts_local; /* connections_each does not hold for this machine, where a proxy may be */
    size_t header;     /* bytes of all headers and the first line: 32 KB */
    size_t body;       /* bytes of a body, unless web_body_max() says otherwise: 1 MB */
    size_t bodies;  /* bytes of all bodies that are held at once: 512 MB; who needs more gets 503 */
    size_t message; /* bytes of a message on a WebSocket: 16 MB */
    size_t
        waiting; /* bytes that may wait to be written on a stream or WebSocket before it is gone: 64 MB */
    uint64_t header_ms; /* for all headers to come: 10 s */
    uint64_t
        body_ms; /* between two pieces of a body: 30 s; and 16 KB a second at least, on the whole */
    uint64_t idle_ms; /* a connection without a request: 75 s */
    uint64_t
        write_ms; /* nothing was taken although something waits: 30 s; of answers 16 KB a second at least, on the whole */
    uint64_t
        ping_ms; /* WebSockets are pinged, and gone when nothing comes back for twice that: 30 s */
    size_t requests_each; /* requests of one connection, then it is closed: no limit */
} WebLimits;

typedef struct WebServerOptions {
    uv_loop_t *loop;
    const char *tls_cert, *tls_key; /* PEM files; NULL: no TLS */
    bool
        local; /* it listens only where nobody but this machine reaches it; ERR_FORBIDDEN otherwise */
    WebLimits limits;
    void (*head)(void *ctx, WebRequest *r); /* NULL: nothing is done at that time */
    void (*request)(void *ctx, WebRequest *r);
    void (*gone)(void *ctx, WebRequest *r); /* web_request_data() says what it was about */
    void *ctx;
} WebServerOptions;

/* NULL on error: a certificate that cannot be read, a key that does not fit. Files are read now. TLS is spoken on TCP only,
 * not on a socket of the file system. SIGPIPE is ignored from here on, unless the program handles it. */
WebServer *web_server_new(const WebServerOptions *options, Error *err);

/* "127.0.0.1:7295", "[::1]:7295", "localhost:0", ":7295" (all addresses). ERR_BUSY when the port is taken. Returns the port,
 * which is of use for port 0; 0 on error. */
int web_server_listen(WebServer *s, const char *address, Error *err);
/* A listening socket that somebody made for us (systemd); taken, also on error. */
bool web_server_listen_fd(WebServer *s, int fd, Error *err);

/* Reads the certificate anew, for connections from now on. False with a sentence: the old one is kept. */
bool web_server_renew_tls(WebServer *s, Error *err);

/* Nobody is accepted any more, connections without a request are closed, those with one are told "Connection: close" and
 * have grace_ms to come to their end. WebSockets are closed with 1001. Streams are ended, and their hosts are told `gone`
 * from inside this call. Then closed() is told from the loop, and the server is freed. */
void web_server_close(WebServer *s, uint64_t grace_ms, void (*closed)(void *ctx), void *ctx);

/* What it has done since it began, and what is there now; for metrics. */
typedef struct WebCounts {
    uint64_t accepted, refused, requests, bytes_in, bytes_out;
    size_t connections, requests_now, streams, sockets;
    size_t waiting; /* bytes that were not sent yet, of all connections */
} WebCounts;
WebCounts web_server_counts(const WebServer *s);

/* ---- a request ---- */

const char *web_method(const WebRequest *r); /* "GET"; letters only, at most 20 */
const char *web_target(
    const WebRequest *r); /* as it came: "/runs/a%20b?state=true"; begins with '/' */
const char *web_header(const WebRequest *r,
                       const char *name); /* NULL: there is none. Twice: joined by ", " */
const char *web_body(const WebRequest *r, size_t *len);
/* Takes the body: web_body() has none any more. */
void web_take_body(WebRequest *r, Buf *out);
const char *web_peer(
    const WebRequest *r); /* "127.0.0.1", "::1"; "" of a socket of the file system */
bool web_is_tls(const WebRequest *r);
int web_version(const WebRequest *r); /* 10, 11, 20 */

void web_body_max(WebRequest *r, size_t bytes); /* in head(): instead of the limit */
/* Whatever the handler wants to find again in gone(). NULL at first. */
void web_request_set_data(WebRequest *r, void *data);
void *web_request_data(const WebRequest *r);

typedef struct WebField {
    const char *name, *value;
} WebField;

typedef struct WebAnswer {
    int status;
    const char *type;       /* Content-Type; NULL: none */
    const WebField *fields; /* further headers; the last has no name. NULL: none */
} WebAnswer;

/* Takes the bytes out of the buffer. NULL: an empty body. Content-Length, Date and, where the connection is to end, Connection
 * are added. The answer to a HEAD has no body, but its length. */
void web_answer(WebRequest *r, const WebAnswer *answer, Buf *body);
/* The same for bytes that live as long as the server: the parts of a page. */
void web_answer_static(WebRequest *r, const WebAnswer *answer, const void *body, size_t len);

/* ---- an answer that goes on ---- */

typedef struct WebStreamHost {
    void (*drained)(void *ctx); /* everything that was written has been sent; or NULL */
    void (*gone)(void *ctx);    /* the client has gone; the stream is not to be used any more */
    void *ctx;
} WebStreamHost;

/* Sends the headers at once. The request is not to be used any more, but what it lends lives on with the stream. */
WebStream *web_stream(WebRequest *r, const WebAnswer *answer, const WebStreamHost *host);
void web_stream_write(WebStream *s, const char *bytes, size_t len); /* copied */
size_t web_stream_waiting(const WebStream *s); /* bytes that were not sent yet */
void web_stream_end(WebStream *s);
/* Ends it so that the client sees that more was to come. */
void web_stream_break(WebStream *s);

/* ---- WebSockets (RFC 6455) ---- */

typedef struct WebSocketHost {
    void (*message)(void *ctx, const char *bytes, size_t len,
                    bool text); /* a whole one; text is UTF-8 */
    void (*drained)(void *ctx); /* or NULL */
    /* The server closes: the socket is closed when all has been said, and at the end of grace_ms. NULL: at once. */
    void (*stop)(void *ctx);
    void (*closed)(void *ctx); /* the last that is told, also after web_socket_close() */
    void *ctx;
} WebSocketHost;

/* Whether the request asks for one. */
bool web_wants_socket(const WebRequest *r);
/* In head() or request(): answers with 101. protocol: one that the client offered, or NULL. NULL, after the request was
 * answered with 400 or 426, when what it asks for cannot be. */
WebSocket *web_socket_accept(WebRequest *r, const char *protocol, const WebSocketHost *host);
void web_socket_send(WebSocket *s, const char *text, size_t len);
size_t web_socket_waiting(const WebSocket *s);
void web_socket_close(WebSocket *s, int code, const char *reason); /* closed() comes later */

#endif
