/* lines.h - JSON values over a stream of libuv, one a line, in both directions.
 *
 *     Lines *l = lines_new(stream, &host);      reads from now on; host.value() for each line
 *     lines_send(l, value, &err);
 *     lines_leave(l);                           or lines_finish(l), lines_close(l)
 *
 * Both sides are bounded. A line may be LINES_MAX bytes long: of a longer one nothing is kept, and
 * host.rubbish() is told once. What is no JSON is told to host.rubbish() too, and the next line is
 * read as if nothing had been. Empty lines are passed over. When more than LINES_QUEUE_MAX bytes
 * wait because the other side does not read, it is dropped.
 *
 * host.closed() is the last that is told, always from the loop and never from inside a call of ours,
 * so whoever sends may go on until then; sending to a stream that is closed does nothing. After it,
 * and after lines_leave() or lines_close(), the Lines is not to be used any more: its memory goes when
 * the loop has closed its handles.
 *
 * host.value() and host.rubbish() may send, finish and close. All on the loop's thread. The process
 * ignores SIGPIPE.
 */
#ifndef PAWL_LINES_H
#define PAWL_LINES_H

#include "error.h"
#include "json.h"

#include <uv.h>

enum {
    LINES_MAX = 64 << 20,       /* bytes in a line, its end not counted */
    LINES_QUEUE_MAX = 64 << 20, /* bytes that may wait before more is added */
    LINES_HEAP_MAX = 1 << 29,   /* bytes that the value of a line may take */
    LINES_FINISH_MS = 2000,     /* for the rest to be written by lines_finish() */
};

typedef struct Lines Lines;

typedef struct LinesHost {
    void (*value)(void *ctx, Json value);         /* consumes it */
    void (*rubbish)(void *ctx, const Error *err); /* a line that is no value, and why; or NULL */
    void (*closed)(void *ctx, const Error *err);  /* ERR_NONE: the other side ended it; or NULL */
    void (*drained)(void *ctx); /* everything that was sent has been written; or NULL */
    void *ctx;
} LinesHost;

/* Takes the stream, which is open and was made with mem_alloc(). */
Lines *lines_new(uv_stream_t *stream, const LinesHost *host);

/* Borrows the value. False when it is longer than a line may be, of which nothing is sent, or when
 * the stream is closed or has just been dropped (lines_is_open() says so). */
bool lines_send(Lines *l, Json value, Error *err);
/* The same for a line that is text already, in two parts; takes the bytes of the second, also on error. */
bool lines_send_text(Lines *l, const char *head, Buf *rest, Error *err);
bool lines_is_open(const Lines *l);
size_t lines_waiting(const Lines *l); /* bytes that were sent and are not written yet */

/* Ends it from our side: nothing is read any more, what was sent is still written, for at most
 * LINES_FINISH_MS, which keeps the loop alive, and then closed() is told. */
void lines_finish(Lines *l);
/* The same, but nothing is told any more, closed() neither. Accepts NULL. */
void lines_leave(Lines *l);
/* At once, and nothing is told any more. Accepts NULL. */
void lines_close(Lines *l);

/* ---- the framing alone ---- */

/* What was read and is not a whole line yet. Zero is a good start. */
typedef struct LineReader {
    Buf bytes;
    size_t scanned; /* no end of a line before here */
    size_t max;     /* bytes in a line; 0: LINES_MAX */
    int depth;      /* levels of a value; 0: as JSON has them */
    bool strict;    /* JSON to the letter of its standard */
    bool skipping;  /* inside a line that is too long */
    bool stopped;   /* by a host that wants no more */
} LineReader;

/* Takes the bytes in; host->value() and host->rubbish() for each line that is whole now. */
void line_reader_feed(LineReader *r, const char *bytes, size_t len, const LinesHost *host);
void line_reader_clear(LineReader *r);

#endif
