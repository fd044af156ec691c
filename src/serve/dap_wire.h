/* dap_wire.h - messages of the Debug Adapter Protocol over a stream: JSON behind a header that says how long it is.
 *
 *     Content-Length: 119\r\n
 *     \r\n
 *     {"seq": 1, "type": "request", ...}
 *
 *     Wire *wire = wire_new(in, out, &host);       reads from now on; host.message() for each
 *     wire_send(wire, message);
 *     wire_finish(wire);                           what was sent is still written, then host.closed()
 *
 * What comes is held to the letter: a header is `Content-Length`, once, and perhaps `Content-Type`. Whatever else it
 * begins with (the request of a browser, above all) ends the connection: host.broken() says why, once, and
 * nothing more is read. A message that is no JSON is told to host.rubbish(), and the next one is read as if nothing
 * had been. Both sides are bounded: a message has WIRE_MAX bytes at most, and whoever does not read is dropped when
 * more than WIRE_QUEUE_MAX bytes wait for it.
 *
 * Each message goes out at once, in one write: clients wait for every one of them. TCP streams must not be delayed
 * either (uv_tcp_nodelay()).
 *
 * host.closed() is the last that is told, always from the loop and never from inside a call of ours; after it the Wire is
 * gone. Everything on the loop's thread. The process ignores SIGPIPE.
 */
#ifndef PAWL_DAP_WIRE_H
#define PAWL_DAP_WIRE_H

#include "error.h"
#include "json.h"

#include <uv.h>

enum {
    WIRE_MAX = 64 << 20,       /* bytes of a message */
    WIRE_HEADER_MAX = 4 << 10, /* bytes of a header */
    WIRE_HEAP_MAX = 1 << 29,   /* bytes that the value of a message may take */
    WIRE_DEPTH_MAX = 1000,     /* nesting of a message */
    WIRE_QUEUE_MAX = 64 << 20, /* bytes that may wait before more is added */
    WIRE_FINISH_MS = 2000,     /* for the rest to be written by wire_finish() */
};

typedef struct Wire Wire;

typedef struct WireHost {
    void (*message)(void *ctx, Json message);     /* consumes it */
    void (*rubbish)(void *ctx, const Error *err); /* a message that is no JSON */
    void (*broken)(void *ctx, const Error *err);  /* no message follows; finish or close it */
    void (*closed)(void *ctx, const Error *err);  /* ERR_NONE: the other side ended it */
    void (*drained)(void *ctx); /* everything that was sent has been written; or NULL */
    void *ctx;
} WireHost;

/* Takes the streams, which are open, of one loop, and were made with mem_alloc(); both may be the same one. */
Wire *wire_new(uv_stream_t *in, uv_stream_t *out, const WireHost *host);

/* Consumes the message. One that is too long is not sent: false, and the wire stays open. */
bool wire_send(Wire *w, Json message);
size_t wire_waiting(const Wire *w); /* bytes that were sent and are not written yet */
bool wire_is_open(const Wire *w);

/* Nothing is read any more; what was sent is still written, for at most WIRE_FINISH_MS; then closed() is told. */
void wire_finish(Wire *w);
/* At once, and nothing is told any more. Accepts NULL. */
void wire_close(Wire *w);

/* ---- the framing alone ---- */

/* What was read and is not a whole message yet. Zero is a good start. */
typedef struct WireReader {
    Buf bytes;
    size_t body;  /* bytes of the message that the header promised */
    bool in_body; /* the header was read */
    bool stopped; /* by a header that is none, or by a host that wants no more */
} WireReader;

/* Takes the bytes in; host->message(), host->rubbish() and host->broken() for what is whole now. */
void wire_reader_feed(WireReader *r, const char *bytes, size_t len, const WireHost *host);
void wire_reader_clear(WireReader *r);

#endif
