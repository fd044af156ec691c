/* mcp_stdio.c - two handles that may each be a stream of libuv or a file. A file is read piece by piece, and written at once. */
#include "mcp_stdio.h"

#include "json_parse.h"
#include "json_print.h"
#include "lines.h"
#include "mcp_rpc.h"
#include "mem.h"

#include <errno.h>
#include <unistd.h>

enum { PIECE = 1 << 16, DEPTH_MAX = 512 };

struct McpStdio {
    Mcp *mcp;
    McpStdioOptions options;
    uv_loop_t *loop; /* of its options */
    McpPeer *peer;
    uv_stream_t *in, *out; /* NULL: it is a file */
    uv_fs_t reading;
    LineReader lines;
    unsigned
        users; /* streams that are not closed, a piece that is on its way, and whoever made it: the last frees it */
    char piece[PIECE];
    bool ended;  /* the other side says no more */
    bool broken; /* nobody reads any more */
    bool over, freed;
};

/* ---- writing ---- */

typedef struct Write {
    uv_write_t request;
    McpStdio *door;
    Buf text;
} Write;

static void look_whether_over(McpStdio *d);

static void break_off(McpStdio *d) {
    d->broken = true;
    look_whether_over(d);
}

static void on_written(uv_write_t *request, int status) {
    Write *w = request->data;
    McpStdio *d = w->door;
    buf_clear(&w->text);
    mem_free(w);
    if (d->freed) return;
    if (status < 0) d->broken = true;
    look_whether_over(d);
}

static void write_file(McpStdio *d, const Buf *text) {
    for (size_t done = 0; done < text->len;) {
        ssize_t n = write(d->options.out, text->data + done, text->len - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            break_off(d);
            return;
        }
        done += (size_t)n;
    }
}

/* Consumes the message. */
static void say(McpStdio *d, Json message) {
    Buf text = BUF_INIT;
    json_print(message, &(JsonPrintOptions){0}, &text);
    buf_addc(&text, '\n');
    json_unref(message);
    if (d->broken || d->freed) {
        buf_clear(&text);
    } else if (!d->out) {
        write_file(d, &text);
        buf_clear(&text);
    } else {
        Write *w = mem_zalloc(sizeof *w);
        *w = (Write){.door = d, .text = text};
        w->request.data = w;
        uv_buf_t bytes = uv_buf_init(text.data, (unsigned)text.len);
        if (uv_write(&w->request, d->out, &bytes, 1, on_written) < 0) {
            buf_clear(&w->text);
            mem_free(w);
            break_off(d);
        } else if (uv_stream_get_write_queue_size(d->out) > MCP_WAITING_MAX) {
            break_off(d);
        }
    }
}

/* ---- messages ---- */

static void on_note(void *ctx, Json message) {
    say(ctx, message);
}

static void on_answer(void *ctx, Json message, int status) {
    McpStdio *d = ctx;
    (void)status;
    if (!json_is_none(message)) say(d, message);
    look_whether_over(d);
}

static void on_value(void *ctx, Json message) {
    McpStdio *d = ctx;
    McpFrom from = {.peer = d->peer,
                    .asker = d->options.asker,
                    .outlet = {.note = on_note, .answer = on_answer, .ctx = d}};
    mcp_receive(d->mcp, &from, message);
}

static void on_rubbish(void *ctx, const Error *err) {
    say(ctx, rpc_error(json_none(), RPC_PARSE_ERROR, err->msg, json_none()));
}

static void take(McpStdio *d, const char *bytes, size_t len) {
    LinesHost host = {.value = on_value, .rubbish = on_rubbish, .ctx = d};
    line_reader_feed(&d->lines, bytes, len, &host);
}

/* ---- reading ---- */

/* A last line may have no end. */
static void on_end(McpStdio *d) {
    if (d->ended) return;
    if (d->lines.bytes.len) take(d, "\n", 1);
    d->ended = true;
    look_whether_over(d);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out) {
    McpStdio *d = handle->data;
    (void)suggested;
    *out = uv_buf_init(d->piece, PIECE);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    McpStdio *d = stream->data;
    if (n > 0) {
        take(d, buf->base, (size_t)n);
    } else if (n < 0) {
        uv_read_stop(stream);
        on_end(d);
    }
}

static void let_go(McpStdio *d) {
    if (--d->users) return;
    line_reader_clear(&d->lines);
    mem_free(d);
}

static void read_file(McpStdio *d);

static void on_piece(uv_fs_t *reading) {
    McpStdio *d = reading->data;
    ssize_t n = reading->result;
    uv_fs_req_cleanup(reading);
    if (!d->freed && n > 0) {
        take(d, d->piece, (size_t)n);
        if (!d->over && !d->freed) read_file(d);
    } else if (!d->freed) {
        on_end(d);
    }
    let_go(d);
}

static void read_file(McpStdio *d) {
    uv_buf_t piece = uv_buf_init(d->piece, PIECE);
    d->reading.data = d;
    if (uv_fs_read(d->loop, &d->reading, d->options.in, &piece, 1, -1, on_piece) == 0) {
        d->users++;
    } else {
        on_end(d);
    }
}

/* ---- life ---- */

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static void on_closed(uv_handle_t *handle) {
    let_go(handle->data);
    mem_free(handle);
}

/* Subscriptions last as long as somebody is there; everything else that was asked for has an end. */
static void look_whether_over(McpStdio *d) {
    bool done = d->broken || (d->ended && mcp_peer_rests(d->peer) &&
                              (!d->out || !uv_stream_get_write_queue_size(d->out)));
    if (!done || d->over) return;
    d->over = true;
    d->options.over(d->options.ctx);
}

/* A stream for a descriptor; *file: it is one that is read and written as it is. NULL with a sentence. */
static uv_stream_t *stream_of(McpStdio *d, int fd, bool reads, bool *file, Error *err) {
    uv_handle_type type = uv_guess_handle(fd);
    int status = UV_EINVAL;
    uv_stream_t *out = NULL;
    *file = type == UV_FILE || type == UV_UNKNOWN_HANDLE;
    if (*file) return NULL;
    if (type == UV_TTY) {
        uv_tty_t *tty = mem_zalloc(sizeof *tty);
        out = (uv_stream_t *)tty;
        status = uv_tty_init(d->loop, tty, fd, reads);
    } else if (type == UV_TCP) {
        uv_tcp_t *tcp = mem_zalloc(sizeof *tcp);
        out = (uv_stream_t *)tcp;
        uv_tcp_init(d->loop, tcp);
        status = uv_tcp_open(tcp, fd);
    } else if (type == UV_NAMED_PIPE) {
        uv_pipe_t *pipe = mem_zalloc(sizeof *pipe);
        out = (uv_stream_t *)pipe;
        uv_pipe_init(d->loop, pipe, 0);
        status = uv_pipe_open(pipe, fd);
    }
    if (out && status == 0) {
        out->data = d;
        d->users++;
        return out;
    }
    error_set(err, ERR_IO, "Standard %s cannot be used: %s.", reads ? "input" : "output",
              uv_strerror(status));
    if (out && type != UV_TTY) {
        uv_close((uv_handle_t *)out, free_handle);
    } else {
        mem_free(out);
    }
    return NULL;
}

static void on_peer(void *ctx, Json message) {
    say(ctx, message);
}

static void close_stream(uv_stream_t *stream) {
    if (stream) uv_close((uv_handle_t *)stream, on_closed);
}

McpStdio *mcp_stdio_new(Mcp *m, const McpStdioOptions *options, Error *err) {
    McpStdio *d = mem_zalloc(sizeof *d);
    bool in_file = false, out_file = false;
    *d = (McpStdio){.mcp = m,
                    .options = *options,
                    .loop = options->loop,
                    .users = 1,
                    .lines = {.max = MCP_LINE_MAX, .depth = DEPTH_MAX, .strict = true}};
    d->in = stream_of(d, options->in, true, &in_file, err);
    d->out = d->in || in_file ? stream_of(d, options->out, false, &out_file, err) : NULL;
    if ((!d->in && !in_file) || (!d->out && !out_file)) {
        d->freed = true;
        close_stream(d->in);
        let_go(d);
        return NULL;
    }
    d->peer = mcp_peer_new(m, &(McpPeerHost){.tell = on_peer, .ctx = d});
    if (d->in) {
        uv_read_start(d->in, on_alloc, on_read);
    } else {
        read_file(d);
    }
    return d;
}

void mcp_stdio_free(McpStdio *d) {
    if (!d) return;
    mcp_peer_free(d->peer);
    d->freed = true;
    close_stream(d->in);
    close_stream(d->out);
    let_go(d);
}
