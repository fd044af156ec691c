/* sse.h - reads Server-Sent Events from bytes as they come.
 *
 *     SseReader reader = {.host = {.event = on_event, .ctx = ctx}};
 *     bool ok = sse_feed(&reader, bytes, len);       on_event() for each message that is complete
 *     sse_clear(&reader);
 *
 * What a message is says the HTML standard: lines of `field: value` up to an empty line, ended by LF, CR or CRLF; several
 * `data` lines are one text with line feeds between them; a line that begins with a colon is a comment. A message without
 * data is none. An `id` counts from its message on, also for those that have none; one with a NUL in it does not count.
 * `retry`, and what is no field, is passed over. What the connection ends in the middle of is no message.
 *
 * A message may have SSE_MAX bytes. After a longer one sse_feed() gives false, and nothing more is read.
 */
#ifndef PAWL_SSE_H
#define PAWL_SSE_H

#include "buf.h"

#include <stdbool.h>
#include <stddef.h>

enum { SSE_MAX = 256 << 20 };

typedef struct SseMessage {
    const char *event; /* "message" where none was said */
    const char *id;    /* the last that was said; "" before */
    const char *data;
    size_t len; /* of the data */
} SseMessage;

typedef struct SseHost {
    /* All that it is given is lent. False: nothing more is read. */
    bool (*event)(void *ctx, const SseMessage *message);
    void *ctx;
} SseHost;

typedef struct SseReader {
    SseHost host;
    size_t max; /* bytes of a message; 0: SSE_MAX */
    Buf line, data, event, id, next_id;
    bool has_data, has_next_id;
    bool after_return; /* a line feed that comes next belongs to the end of the line before */
    bool begun;        /* a byte order mark has no place any more */
    bool ended;
} SseReader;

bool sse_feed(SseReader *reader, const char *bytes, size_t len);
void sse_clear(SseReader *reader);

#endif
