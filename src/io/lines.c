/* Lines has two handles: the stream and a timer that bounds lines_finish(). It is in one of three
 * phases, in this order: open; finishing (no reading, the queue drains); closing
 * (both handles are). The memory goes with the second of them. */
#include "lines.h"

#include "json_parse.h"
#include "json_print.h"
#include "mem.h"

#include <string.h>

enum { PIECE = 1 << 16, KEPT = 1 << 20 };

typedef enum Phase { PHASE_OPEN, PHASE_FINISHING, PHASE_CLOSING } Phase;

struct Lines {
    LinesHost host;
    uv_stream_t *stream;
    uv_timer_t timer;
    Phase phase;
    int handles; /* that are not closed yet */
    bool told;   /* nothing is to be told any more */
    Error why;   /* for closed() */
    LineReader reader;
    char *piece;
};

/* ---- framing ---- */

static void tell_rubbish(const LinesHost *host, const Error *err) {
    if (host->rubbish) host->rubbish(host->ctx, err);
}

static void tell_too_long(const LineReader *r, const LinesHost *host) {
    Error err = ERROR_INIT;
    error_set(&err, ERR_LIMIT, "A line is longer than the %zu bytes that one may have.", r->max);
    tell_rubbish(host, &err);
}

static void end_line(LineReader *r, const LinesHost *host, size_t from, size_t to) {
    JsonParseOptions options = {
        .max_bytes = LINES_HEAP_MAX, .max_depth = r->depth, .strict = r->strict};
    Error err = ERROR_INIT;
    char *line = r->bytes.data + from;
    size_t len = to - from;
    bool skipped = r->skipping;
    r->skipping = false;
    line[len] = '\0'; /* where its newline was */
    if (skipped || strspn(line, " \t\r") >= len) return;
    if (len > r->max) {
        tell_too_long(r, host);
        return;
    }
    Json value = json_parse(line, len, &options, &err);
    if (!json_is_none(value)) {
        host->value(host->ctx, value);
    } else {
        error_wrap(&err, "A line is not JSON");
        tell_rubbish(host, &err);
    }
}

void line_reader_feed(LineReader *r, const char *bytes, size_t len, const LinesHost *host) {
    size_t from = 0;
    r->max = r->max ? r->max : LINES_MAX;
    buf_add(&r->bytes, bytes, len);
    while (!r->stopped && r->scanned < r->bytes.len) {
        char *at = r->bytes.data + r->scanned;
        char *end = memchr(at, '\n', r->bytes.len - r->scanned);
        if (!end) break;
        size_t to = (size_t)(end - r->bytes.data);
        r->scanned = to + 1;
        end_line(r, host, from, to);
        from = to + 1;
    }
    if (from) {
        memmove(r->bytes.data, r->bytes.data + from, r->bytes.len - from);
        r->bytes.len -= from;
    }
    if (!r->skipping && r->bytes.len > r->max) {
        r->skipping = true;
        tell_too_long(r, host);
    }
    if (r->skipping) buf_reset(&r->bytes);
    if (r->bytes.len == 0 && r->bytes.cap > KEPT) buf_clear(&r->bytes);
    r->scanned = r->bytes.len;
}

void line_reader_clear(LineReader *r) {
    buf_clear(&r->bytes);
}

/* ---- closing ---- */

static void on_handle_closed(uv_handle_t *handle) {
    Lines *l = handle->data;
    if (--l->handles > 0) return;
    if (!l->told && l->host.closed) l->host.closed(l->host.ctx, &l->why);
    line_reader_clear(&l->reader);
    mem_free(l->piece);
    mem_free(l->stream);
    mem_free(l);
}

static void close_now(Lines *l) {
    if (l->phase != PHASE_CLOSING) {
        l->phase = PHASE_CLOSING;
        l->reader.stopped = true;
        uv_close((uv_handle_t *)&l->timer, on_handle_closed);
        uv_close((uv_handle_t *)l->stream, on_handle_closed);
    }
}

static void drop(Lines *l, int status, const char *sentence) {
    if (l->phase == PHASE_OPEN && sentence) {
        error_set(&l->why, ERR_LIMIT, "%s", sentence);
    } else if (l->phase == PHASE_OPEN && status != UV_EOF) {
        error_set(&l->why, ERR_IO, "The connection broke: %s.", uv_strerror(status));
    }
    close_now(l);
}

static void close_when_written(Lines *l) {
    if (l->phase == PHASE_FINISHING && uv_stream_get_write_queue_size(l->stream) == 0) close_now(l);
}

static void on_late(uv_timer_t *timer) {
    close_now(timer->data);
}

void lines_finish(Lines *l) {
    l->reader.stopped = true;
    if (l->phase == PHASE_OPEN) {
        l->phase = PHASE_FINISHING;
        uv_read_stop(l->stream);
        uv_update_time(l->timer.loop);
        uv_timer_start(&l->timer, on_late, LINES_FINISH_MS, 0);
    }
    close_when_written(l);
}

void lines_leave(Lines *l) {
    if (l) {
        l->told = true;
        lines_finish(l);
    }
}

void lines_close(Lines *l) {
    if (l) {
        l->told = true;
        close_now(l);
    }
}

/* ---- reading ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out) {
    Lines *l = handle->data;
    (void)suggested;
    *out = uv_buf_init(l->piece, PIECE);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    Lines *l = stream->data;
    if (n > 0) {
        line_reader_feed(&l->reader, buf->base, (size_t)n, &l->host);
    } else if (n < 0) {
        drop(l, (int)n, NULL);
    }
}

/* ---- writing ---- */

typedef struct Write {
    uv_write_t request;
    Lines *lines;
    char *head;
    Buf bytes;
} Write;

static void write_free(Write *w) {
    mem_free(w->head);
    buf_clear(&w->bytes);
    mem_free(w);
}

static void on_written(uv_write_t *request, int status) {
    Write *w = request->data;
    Lines *l = w->lines;
    write_free(w);
    if (status < 0) drop(l, status, NULL);
    close_when_written(l);
    if (l->phase == PHASE_OPEN && l->host.drained && !lines_waiting(l)) {
        l->host.drained(l->host.ctx);
    }
}

static bool may_send(Lines *l, Error *err) {
    if (l->phase != PHASE_OPEN) return error_set(err, ERR_IO, "The connection is closed.");
    if (uv_stream_get_write_queue_size(l->stream) > LINES_QUEUE_MAX) {
        drop(l, 0, "The other side does not read what it is sent; it was dropped.");
        return error_set(err, ERR_LIMIT, "%s", l->why.msg);
    }
    return true;
}

static bool too_long(Error *err) {
    return error_set(err, ERR_LIMIT, "That is longer than the %d bytes that a line may have.",
                     LINES_MAX);
}

bool lines_send_text(Lines *l, const char *head, Buf *rest, Error *err) {
    size_t len = strlen(head);
    int status = 0;
    bool fits = len + rest->len <= LINES_MAX, may = may_send(l, err);
    if (may && fits) {
        Write *w = mem_zalloc(sizeof *w);
        buf_addc(rest, '\n');
        *w = (Write){.lines = l, .head = mem_strndup(head, len), .bytes = *rest};
        *rest = (Buf)BUF_INIT;
        w->request.data = w;
        uv_buf_t out[] = {uv_buf_init(w->head, (unsigned)len),
                          uv_buf_init(w->bytes.data, (unsigned)w->bytes.len)};
        status = uv_write(&w->request, l->stream, out, 2, on_written);
        if (status == 0) return true;
        drop(l, status, NULL);
        write_free(w);
    }
    buf_clear(rest);
    return !may   ? false
           : fits ? error_set(err, ERR_IO, "The connection broke: %s.", uv_strerror(status))
                  : too_long(err);
}

bool lines_send(Lines *l, Json value, Error *err) {
    JsonPrintOptions options = {.max_bytes = LINES_MAX};
    Buf text = BUF_INIT;
    if (!may_send(l, err)) return false;
    if (!json_print(value, &options, &text)) {
        buf_clear(&text);
        return too_long(err);
    }
    return lines_send_text(l, "", &text, err);
}

/* ---- life ---- */

Lines *lines_new(uv_stream_t *stream, const LinesHost *host) {
    Lines *l = mem_zalloc(sizeof *l);
    l->host = *host;
    l->stream = stream;
    l->piece = mem_alloc(PIECE);
    l->handles = 2;
    stream->data = l;
    uv_timer_init(stream->loop, &l->timer);
    l->timer.data = l;
    int status = uv_read_start(stream, on_alloc, on_read);
    if (status < 0) drop(l, status, NULL);
    return l;
}

bool lines_is_open(const Lines *l) {
    return l->phase == PHASE_OPEN;
}

size_t lines_waiting(const Lines *l) {
    return l->phase == PHASE_OPEN ? uv_stream_get_write_queue_size(l->stream) : 0;
}
