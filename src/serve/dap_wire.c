/* A Wire has one or two streams and a timer that bounds wire_finish(). It is in one of three phases, in this order:
 * open; finishing (no reading, the queue drains); closing (all handles are). The memory goes with the last of them. */
#include "dap_wire.h"

#include "ascii.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"

#include <strings.h>

enum { PIECE = 1 << 16, KEPT = 1 << 20 };

typedef enum Phase { PHASE_OPEN, PHASE_FINISHING, PHASE_CLOSING } Phase;

struct Wire {
    WireHost host;
    uv_stream_t *in, *out; /* maybe the same */
    uv_timer_t timer;
    Phase phase;
    int handles; /* that are not closed yet */
    bool told;   /* nothing is to be told any more */
    Error why;   /* for closed() */
    WireReader reader;
    char *piece;
};

/* ---- framing ---- */

/* One line of a header, without its end. */
static bool read_line(const char *line, size_t len, size_t *length, bool *seen, Error *err) {
    static const char content_length[] = "Content-Length:", content_type[] = "Content-Type:";
    enum { NAME = sizeof content_length - 1, DIGITS_MAX = 12 };
    if (len >= sizeof content_type - 1 &&
        !strncasecmp(line, content_type, sizeof content_type - 1)) {
        return true;
    }
    if (len < NAME || strncasecmp(line, content_length, NAME) != 0) {
        return error_set(
            err, ERR_SYNTAX,
            "A message begins with `Content-Length: N` and an empty line; this does not.");
    }
    const char *at = line + NAME, *end = line + len;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
    size_t number = 0;
    bool digits = at < end && end - at <= DIGITS_MAX;
    for (; digits && at < end; at++) {
        digits = ascii_is_digit(*at);
        number = 10 * number + (size_t)(*at - '0');
    }
    if (!digits || *seen) {
        return error_set(err, ERR_SYNTAX, "`Content-Length` is one number of bytes, given once.");
    }
    if (number > WIRE_MAX) {
        return error_set(err, ERR_LIMIT,
                         "A message of %zu bytes is longer than the %d MB that one may have.",
                         number, WIRE_MAX >> 20);
    }
    *seen = true;
    *length = number;
    return true;
}

/* From `from` on: the bytes of a whole header, the empty line included. 0: it is not whole yet, or is none (err). A line
 * ends in \r\n; a bare \n is understood too. */
static size_t read_header(WireReader *r, size_t from, Error *err) {
    const char *begin = r->bytes.data + from, *end = r->bytes.data + r->bytes.len;
    bool seen = false;
    size_t length = 0;
    for (const char *line = begin, *stop; (stop = memchr(line, '\n', (size_t)(end - line)));
         line = stop + 1) {
        size_t len = (size_t)(stop - line);
        len -= len && line[len - 1] == '\r';
        if (!len) {
            if (!seen) {
                error_set(err, ERR_SYNTAX, "A message has no `Content-Length`.");
                return 0;
            }
            r->body = length;
            return (size_t)(stop + 1 - begin);
        }
        if (!read_line(line, len, &length, &seen, err)) return 0;
    }
    if (end - begin > WIRE_HEADER_MAX) {
        error_set(err, ERR_LIMIT, "A header is longer than %d bytes.", WIRE_HEADER_MAX);
    }
    return 0;
}

static void read_body(WireReader *r, size_t from, const WireHost *host) {
    JsonParseOptions options = {
        .max_bytes = WIRE_HEAP_MAX, .max_depth = WIRE_DEPTH_MAX, .strict = true};
    Error err = ERROR_INIT;
    Json message = json_parse(r->bytes.data + from, r->body, &options, &err);
    if (!json_is_none(message)) {
        host->message(host->ctx, message);
    } else {
        error_wrap(&err, "A message is not JSON");
        host->rubbish(host->ctx, &err);
    }
}

void wire_reader_feed(WireReader *r, const char *bytes, size_t len, const WireHost *host) {
    size_t from = 0;
    Error err = ERROR_INIT;
    if (r->stopped) return;
    buf_add(&r->bytes, bytes, len);
    while (!r->stopped && from < r->bytes.len) {
        size_t header = r->in_body ? 0 : read_header(r, from, &err);
        if (err.code != ERR_NONE) {
            r->stopped = true;
            host->broken(host->ctx, &err);
            break;
        }
        r->in_body = r->in_body || header;
        from += header;
        if (!r->in_body || r->bytes.len - from < r->body) break;
        r->in_body = false;
        read_body(r, from, host);
        from += r->body;
    }
    if (from) {
        memmove(r->bytes.data, r->bytes.data + from, r->bytes.len - from);
        r->bytes.len -= from;
    }
    if (r->stopped || (r->bytes.len == 0 && r->bytes.cap > KEPT)) buf_clear(&r->bytes);
}

void wire_reader_clear(WireReader *r) {
    buf_clear(&r->bytes);
}

/* ---- closing ---- */

static void on_handle_closed(uv_handle_t *handle) {
    Wire *w = handle->data;
    if (--w->handles > 0) return;
    if (!w->told) w->host.closed(w->host.ctx, &w->why);
    wire_reader_clear(&w->reader);
    mem_free(w->piece);
    if (w->out != w->in) mem_free(w->out);
    mem_free(w->in);
    mem_free(w);
}

static void close_now(Wire *w) {
    if (w->phase != PHASE_CLOSING) {
        w->phase = PHASE_CLOSING;
        w->reader.stopped = true;
        uv_close((uv_handle_t *)&w->timer, on_handle_closed);
        uv_close((uv_handle_t *)w->in, on_handle_closed);
        if (w->out != w->in) uv_close((uv_handle_t *)w->out, on_handle_closed);
    }
}

static void drop(Wire *w, int status, const char *sentence) {
    if (w->phase == PHASE_OPEN && sentence) {
        error_set(&w->why, ERR_LIMIT, "%s", sentence);
    } else if (w->phase == PHASE_OPEN && status != UV_EOF) {
        error_set(&w->why, ERR_IO, "The connection broke: %s.", uv_strerror(status));
    }
    close_now(w);
}

static void close_when_written(Wire *w) {
    if (w->phase == PHASE_FINISHING && uv_stream_get_write_queue_size(w->out) == 0) close_now(w);
}

static void on_late(uv_timer_t *timer) {
    close_now(timer->data);
}

void wire_finish(Wire *w) {
    w->reader.stopped = true;
    if (w->phase == PHASE_OPEN) {
        w->phase = PHASE_FINISHING;
        uv_read_stop(w->in);
        uv_update_time(w->timer.loop);
        uv_timer_start(&w->timer, on_late, WIRE_FINISH_MS, 0);
    }
    close_when_written(w);
}

void wire_close(Wire *w) {
    if (w) {
        w->told = true;
        close_now(w);
    }
}

/* ---- reading ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out) {
    Wire *w = handle->data;
    (void)suggested;
    *out = uv_buf_init(w->piece, PIECE);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    Wire *w = stream->data;
    if (n > 0) {
        wire_reader_feed(&w->reader, buf->base, (size_t)n, &w->host);
    } else if (n < 0) {
        drop(w, (int)n, NULL);
    }
}

/* ---- writing ---- */

typedef struct Write {
    uv_write_t request;
    Wire *wire;
    Buf bytes;
} Write;

static void on_written(uv_write_t *request, int status) {
    Write *write = request->data;
    Wire *w = write->wire;
    buf_clear(&write->bytes);
    mem_free(write);
    if (status < 0) drop(w, status, NULL);
    close_when_written(w);
    if (w->phase == PHASE_OPEN && w->host.drained && !wire_waiting(w)) w->host.drained(w->host.ctx);
}

/* From `from` on; what the stream does not take at once is queued. */
static void write_out(Wire *w, Buf *bytes, size_t from) {
    uv_buf_t all = uv_buf_init(bytes->data + from, (unsigned)(bytes->len - from));
    int sent = wire_waiting(w) ? 0 : uv_try_write(w->out, &all, 1);
    if (sent == (int)all.len) return;
    if (sent < 0 && sent != UV_EAGAIN) {
        drop(w, sent, NULL);
        return;
    }
    Write *write = mem_zalloc(sizeof *write);
    write->wire = w;
    write->bytes = *bytes;
    *bytes = (Buf)BUF_INIT;
    write->request.data = write;
    size_t done = sent > 0 ? (size_t)sent : 0;
    uv_buf_t rest = uv_buf_init(all.base + done, (unsigned)(all.len - done));
    int status = uv_write(&write->request, w->out, &rest, 1, on_written);
    if (status < 0) {
        drop(w, status, NULL);
        buf_clear(&write->bytes);
        mem_free(write);
    }
}

/* The header stands right before the text, in room that was left for it. */
static bool print_message(Json message, Buf *bytes, size_t *from) {
    enum { HEAD_ROOM = 40 };
    JsonPrintOptions options = {.max_bytes = WIRE_MAX + HEAD_ROOM};
    char head[HEAD_ROOM];
    memset(buf_reserve(bytes, HEAD_ROOM), ' ', HEAD_ROOM);
    buf_advance(bytes, HEAD_ROOM);
    bool fits = json_print(message, &options, bytes);
    int len = snprintf(head, sizeof head, "Content-Length: %zu\r\n\r\n", bytes->len - HEAD_ROOM);
    *from = HEAD_ROOM - (size_t)len;
    memcpy(bytes->data + *from, head, (size_t)len);
    return fits;
}

bool wire_send(Wire *w, Json message) {
    Buf bytes = BUF_INIT;
    size_t from;
    bool open = w->phase == PHASE_OPEN, fits = true;
    if (open && wire_waiting(w) > WIRE_QUEUE_MAX) {
        drop(w, 0, "The client does not read what it is sent; it was dropped.");
        open = false;
    }
    if (open) {
        fits = print_message(message, &bytes, &from);
        if (fits) write_out(w, &bytes, from);
    }
    buf_clear(&bytes);
    json_unref(message);
    return fits;
}

/* ---- life ---- */

Wire *wire_new(uv_stream_t *in, uv_stream_t *out, const WireHost *host) {
    Wire *w = mem_zalloc(sizeof *w);
    *w = (Wire){.host = *host,
                .in = in,
                .out = out,
                .piece = mem_alloc(PIECE),
                .handles = out == in ? 2 : 3};
    in->data = out->data = w;
    uv_timer_init(in->loop, &w->timer);
    w->timer.data = w;
    int status = uv_read_start(in, on_alloc, on_read);
    if (status < 0) drop(w, status, NULL);
    return w;
}

bool wire_is_open(const Wire *w) {
    return w->phase == PHASE_OPEN;
}

size_t wire_waiting(const Wire *w) {
    return w->phase == PHASE_OPEN ? uv_stream_get_write_queue_size(w->out) : 0;
}
