/* web_inside.h - what the files of the HTTP server share. web_server.h is for everybody else.
 *
 * In reading order: web_server.c (listeners, limits, the end), web_connection.c (bytes in and out, times),
 * web_request.c (what a handler sees), then what speaks on a connection: web_http1.c with web_http1_parse.c,
 * web_http2.c, web_socket.c with web_frames.c; and web_tls.c in between.
 *
 * A Connection reads into the one buffer of the server and gives the bytes to its Protocol, which says how many
 * of them it used; the rest is kept. So a connection that rests has no buffer. What a protocol writes is queued, and
 * goes out in one call at the end of the turn, or after the bytes that asked for it.
 *
 * Connections stand in up to three lists: all of them, those that have something to do at the end of the turn (`busy`),
 * and a slot of the wheel of times. Each has one time at which it is looked at: the earlier of `due` (which its
 * protocol sets: nothing came) and `write_due` (nothing was taken, or too little). A time that moves to later is just
 * written; the connection is put into its new slot when the old one comes round.
 *
 * Whatever is called may close a connection: close_connection() ends it at once, and its memory stays until the loop
 * has closed its handle. So a protocol looks at `closed` after each call to a handler.
 */
#ifndef PAWL_WEB_INSIDE_H
#define PAWL_WEB_INSIDE_H

#include "web_http1_parse.h"
#include "web_server.h"

#include <netinet/in.h>
#include <sys/un.h>

enum {
    READ_MAX = 64 << 10,   /* bytes that are read at once */
    AHEAD_MAX = 16 << 10,  /* bytes of further requests that are kept while one is under way */
    UNTAKEN_MAX = 1 << 20, /* bytes that wait to be written before no more is read */
    PIECE_SIZE = 4096,     /* of the queue */
    PIECES_SPARE = 64,     /* that are kept for the next answers */
    SKIP_MAX = 64 << 10,   /* bytes of a body that nobody wants, to keep the connection */
    REQUESTS_A_TURN = 64,  /* of one connection */
    LEAST_RATE = 16 << 10, /* bytes a second, of a body that comes and of an answer that goes */
    LINGER_MS = 2000,      /* for the other side to see why it is closed */
    WHEEL_SLOTS = 1024,
    WHEEL_TICK = 64, /* ms */
};

typedef struct Connection Connection;
typedef struct Tls Tls;
typedef struct Http2 Http2;

/* ---- lists ---- */

typedef struct Link {
    struct Link *next, *prev;
} Link;

#define LINKED(type, link, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void links_init(Link *list) {
    list->next = list->prev = list;
}

static inline bool links_empty(const Link *list) {
    return list->next == list;
}

static inline void link_add(Link *list, Link *link) {
    link->next = list;
    link->prev = list->prev;
    list->prev->next = link;
    list->prev = link;
}

/* Also one that is in no list. */
static inline void link_remove(Link *link) {
    if (!link->next) return;
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link->next = link->prev = NULL;
}

/* Takes all that are in the one to the end of the other. */
static inline void links_move(Link *to, Link *from) {
    if (links_empty(from)) return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    links_init(from);
}

/* ---- what waits to be written ---- */

/* Bytes that are somebody's, or behind the struct: then `room` of them are free. */
typedef struct Piece {
    struct Piece *next;
    const char *bytes;
    size_t len, room;
    char *owned;
    bool small; /* its bytes are behind it */
} Piece;

typedef struct Queue {
    Piece *first, *last;
    size_t bytes;
} Queue;

/* A body on its way into a queue. owned: memory to be freed with it, or NULL for bytes that stay. */
typedef struct Body {
    const char *bytes;
    size_t len;
    char *owned;
} Body;

void queue_add(WebServer *s, Queue *q, const char *bytes, size_t len);
void queue_body(WebServer *s, Queue *q, Body body); /* takes it */
void queue_drop(WebServer *s, Queue *q, size_t len);
void queue_clear(WebServer *s, Queue *q);

/* ---- a connection ---- */

/* Who speaks on a connection. */
typedef struct Protocol {
    /* Bytes came; gives how many were used. They may be changed. */
    size_t (*take)(Connection *c, char *bytes, size_t len);
    size_t (*room)(const Connection *c); /* bytes to be read now; 0: none */
    void (*ended)(Connection *c);        /* the other side says no more */
    void (*late)(Connection *c);         /* `due` has come */
    void (*flush)(Connection *c);   /* the end of the turn: whatever is to be queued; or NULL */
    void (*drained)(Connection *c); /* all has been written */
    /* Whether what waits to be written is an answer, which has to be taken at a least rate; or NULL: it is not. */
    bool (*paced)(const Connection *c);
    void (*stop)(Connection *c); /* the server closes: end what can be ended */
    void (*gone)(Connection *c); /* the connection is over: tell whoever has to know, and free */
} Protocol;

typedef enum Http1Phase {
    H1_HEAD, /* a request, or the rest of its head, is to come */
    H1_BODY,
    H1_SKIP, /* a body that nobody wants, after an answer */
    H1_WAIT, /* the request was told and is not answered in full */
} Http1Phase;

typedef struct Http1 {
    WebRequest *request; /* NULL: none is under way, or its head is not complete */
    Http1Scan scan;
    Http1Chunks chunks;
    uint64_t left;  /* bytes of the body */
    uint64_t began; /* when the first byte of the head or of the body came; 0: none came */
    uint8_t phase;
    bool blank;    /* an empty line before the request was passed over */
    bool chunked;  /* the body is */
    bool expects;  /* 100 Continue was not said */
    bool ends;     /* the connection ends with this answer */
    bool headless; /* the answer is to HEAD or has no body by its status */
    bool pieces;   /* the answer is sent in chunks */
    bool more;     /* what was read ahead is still to be looked at */
    size_t served;
} Http1;

struct Connection {
    WebServer *server;
    const Protocol *protocol;
    Tls *tls; /* NULL: none */
    Link all, busy, slot;
    uint64_t due, write_due, scheduled; /* 0: never */
    Buf in;                             /* bytes that were read and not used */
    Queue out;                          /* before encryption, if there is any */
    uv_write_t *write;                  /* under way */
    size_t writing;                     /* bytes of it */
    uint64_t sent, taken;               /* bytes before it; of all, when they were counted last */
    uint64_t taken_at, pace_due; /* when the client last took something; when it is too slow */
    char *peer;                  /* NULL: nobody asked */
    struct Address *address;     /* NULL: not counted */
    bool reading;
    bool taking;  /* inside its protocol's take() */
    bool ending;  /* to be closed when all is written */
    bool ended;   /* TLS has said so */
    bool lingers; /* we have said all; whatever comes is thrown away */
    bool silent;  /* the other side has said all */
    bool closed;
    bool failed; /* to be closed at the end of the turn */
    bool drains; /* somebody is to be told when all is written */
    union {
        Http1 h1;
        Http2 *h2;
        WebSocket *socket;
    } as;
    union {
        uv_handle_t any;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } handle;
};

extern const Protocol http1_protocol, http2_protocol, socket_protocol;

/* Begins to speak on a handle that was accepted; TLS first when there is any. */
void connection_begin(Connection *c);
void connection_http1(Connection *c); /* sets the protocol and its first time */
void connection_http2(Connection *c);

/* At the end of the turn: read on in what is there, and write. */
void connection_busy(Connection *c);
/* Now; may close it. */
void connection_flush(Connection *c);
/* Bytes came, decrypted. */
void connection_take(Connection *c, char *bytes, size_t len);
/* When nothing more came: 0: never. */
void connection_due(Connection *c, uint64_t at);
/* Bytes that were not sent. */
size_t connection_waiting(const Connection *c);
/* Writes what waits, then says no more and waits a moment for the other side to do the same. */
void connection_end(Connection *c);
/* At the end of the turn it is closed: for where the caller does not expect to be told that it has gone. */
void connection_fail(Connection *c);
void connection_close(Connection *c);
/* The other side says no more. */
void connection_silent(Connection *c);
const char *connection_peer(Connection *c);

/* The end of a turn, for all connections that have something to do. */
void connections_flush(WebServer *s);
void wheel_init(WebServer *s);

/* ---- TLS ---- */

typedef struct TlsContext TlsContext; /* a certificate and a key; counted, as connections use it */

TlsContext *tls_context_new(const char *cert, const char *key, Error *err);
void tls_context_free(TlsContext *context);
Tls *tls_new(TlsContext *context, Connection *c);
void tls_free(Tls *tls);
Queue *tls_wire(Tls *tls); /* encrypted bytes */
/* Bytes came from the network: decrypts them into connection_take(). */
void tls_take(Connection *c, const char *bytes, size_t len);
/* Encrypts some of what waits. */
void tls_encrypt(Connection *c);
void tls_end(Tls *tls); /* says that no more comes */

/* ---- the server ---- */

typedef struct Address {
    struct Address *next;
    uint8_t bytes[16]; /* of IPv6 the first 8 count */
    size_t connections;
} Address;

enum { ADDRESS_SLOTS = 1024 };

struct WebServer {
    uv_loop_t *loop;
    WebServerOptions options;
    WebLimits limits;
    char *cert, *key;
    TlsContext *tls;
    struct Listener *listeners;
    Link all, busy;
    size_t open; /* connections whose handle is not closed */
    Link slots[WHEEL_SLOTS];
    uint64_t wheel_at,
        wheel_next; /* slots up to there are done; when the timer goes off, 0: it does not */
    uv_timer_t wheel, grace;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_idle_t idle;
    int handles; /* of the server itself and its listeners, that are not closed */
    Address *addresses[ADDRESS_SLOTS];
    Piece *spare;
    size_t nspare;
    size_t held; /* bytes of bodies */
    WebCounts counts;
    Http1Head head; /* of the request that is being read */
    Buf text;       /* where heads are put together */
    char date[32];
    uint64_t date_at; /* when it was printed, on the loop's clock */
    bool closing, down;
    void (*closed)(void *ctx);
    void *closed_ctx;
    char input[READ_MAX], plain[16 << 10];
};

void server_forget_address(Connection *c);
/* Ends a server that closes when nothing is left of it. */
void server_look(WebServer *s);
const char *server_date(WebServer *s);

/* ---- a request ---- */

/* How an answer is given: HTTP/1.1 or HTTP/2. */
typedef struct Answering {
    void (*answer)(WebRequest *r, const WebAnswer *answer, Body body);
    void (*begin)(WebRequest *r, const WebAnswer *answer);
    void (*write)(WebRequest *r, const char *bytes, size_t len);
    void (*end)(WebRequest *r);
    void (*cut)(WebRequest *r); /* ends it without an end that the client could take for one */
    size_t (*waiting)(const WebRequest *r);
} Answering;

extern const Answering http1_answering, http2_answering;

/* Text that belongs to a request: values that were joined or mended. */
typedef struct RequestText {
    struct RequestText *next;
    char text[];
} RequestText;

struct WebStream {
    WebStreamHost host;
    bool begun, drains;
};

struct WebRequest {
    Connection *connection;
    const Answering *answering;
    WebStream stream;
    const char *method, *target;
    WebField *fields;
    size_t nfields;
    char *head; /* the bytes that they are in */
    RequestText *texts;
    Buf body;
    size_t taken; /* bytes of it that web_take_body() gave away */
    size_t body_max;
    int version;
    bool told;      /* head() has seen it */
    void *exchange; /* of HTTP/2 */
    void *data;
};

/* Takes head, in which the texts are. */
WebRequest *web_request_new(Connection *c, const Answering *answering, int version);
/* Adds a header; name and value are the request's. Not UTF-8: a mended copy. */
void request_add_field(WebRequest *r, const char *name, const char *value);
/* Tells head(); whether the request still waits for its body, or its answer. */
void request_tell_head(WebRequest *r);
/* Adds to its body. 0, or the status of the refusal when that is too much. */
int request_add_body(WebRequest *r, const char *bytes, size_t len);
/* Tells whoever has it that the client has gone, and frees it. */
void request_gone(WebRequest *r);
void web_request_free(WebRequest *r);

/* "Not Found" */
const char *http_status_text(int status);
/* Whether an answer of this status has no body. */
bool http_is_bodiless(int status);
/* A refusal by the server itself, as a problem document (RFC 9457). */
void http_problem(Buf *out, const Http1Problem *problem);
/* Ends the program when a header that is to be sent could be read as two. */
void http_check_answer(const WebAnswer *answer);

/* In web_http1.c, for web_socket.c: queues the 101 and lets the request go. */
void http1_upgrade(WebRequest *r, const char *accept, const char *protocol);

#endif
