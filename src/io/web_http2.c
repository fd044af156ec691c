/* HTTP/2 on a connection, by nghttp2, which holds the protocol: it reads bytes and tells frames, and gives the bytes
 * to be written when it is asked (h2_flush()). It refuses malformed requests, floods of frames that want an answer,
 * and streams that are opened and reset at a rate (its limit: 1000, then 33 a second).
 *
 * Each stream is an Exchange, from its first header until nghttp2 closes it. The request may be over earlier: its
 * answer waits in the exchange for the windows of the client. An exchange has a time of its own: for headers, for the
 * body, or for the client to take something. The time of the connection is the earliest of them. */
#include "web_inside.h"

#include "ascii.h"
#include "mem.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>

enum {
    STREAMS_MAX = 128, /* at once, of one connection */
    WINDOW = 1 << 20,  /* of all bodies that come on a connection */
    FILL_MAX = 64 << 10,
    PACE_MAX = 2, /* as that of a connection */
    FIELDS_SENT_MAX = 32,
};

typedef struct Exchange {
    Link link;
    Connection *connection;
    WebRequest *request; /* NULL: not told, or answered */
    int32_t id;
    size_t header_bytes;
    Buf text; /* names and values that came, each with a NUL */
    size_t nfields;
    Queue out;
    uint64_t began, due;
    uint64_t pace_due; /* when the client is too slow with the answer */
    Http1Problem bad;
    bool all_came; /* the client has said all */
    bool all_put;  /* no more is added to `out` */
    bool answered; /* all of the answer was sent */
    bool headless, drains;
} Exchange;

struct Http2 {
    nghttp2_session *session;
    Link exchanges;
};

static uint64_t now_of(const Connection *c) {
    return uv_now(c->server->loop);
}

static void exchange_due(Exchange *e, uint64_t at) {
    Connection *c = e->connection;
    e->due = at;
    if (at && (!c->due || at < c->due)) connection_due(c, at);
}

static void body_due(Exchange *e) {
    uint64_t ms = e->connection->server->limits.body_ms, now = now_of(e->connection);
    uint64_t all = e->began + ms + e->request->body.len * 1000 / LEAST_RATE;
    exchange_due(e, now + ms < all ? now + ms : all);
}

/* Those that have something to send share the least rate of a connection. */
static size_t count_waiting(const Connection *c) {
    const Http2 *h = c->as.h2;
    size_t n = 0;
    for (const Link *l = h->exchanges.next; l != &h->exchanges; l = l->next) {
        n += LINKED(const Exchange, l, link)->out.bytes > 0;
    }
    return n ? n : 1;
}

/* The client has taken some. An answer has to be taken at a least rate, as that of a connection (web_connection.c). */
static void write_due(Exchange *e, size_t taken) {
    Connection *c = e->connection;
    uint64_t ms = c->server->limits.write_ms, now = now_of(c), silent = now + ms;
    if (!e->pace_due || !e->all_put) e->pace_due = now + ms;
    if (taken) e->pace_due += taken * count_waiting(c) * 1000 / LEAST_RATE;
    if (e->pace_due > now + PACE_MAX * ms) e->pace_due = now + PACE_MAX * ms;
    exchange_due(e, !e->out.bytes ? 0 : e->pace_due < silent ? e->pace_due : silent);
}

/* ---- answers ---- */

/* Names are in small letters here; those that speak of a connection have no meaning. */
static const char *small_letters(Buf *text, const char *name) {
    size_t at = text->len;
    for (const char *p = name; *p; p++) buf_addc(text, ascii_lower(*p));
    buf_addc(text, '\0');
    return text->data + at;
}

static nghttp2_nv nv_of(const char *name, const char *value) {
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), 0};
}

static ssize_t on_wanted(nghttp2_session *session, int32_t id, uint8_t *to, size_t len,
                         uint32_t *flags, nghttp2_data_source *source, void *ctx) {
    Exchange *e = source->ptr;
    Connection *c = ctx;
    size_t done = 0;
    (void)session, (void)id;
    while (done < len && e->out.bytes) {
        const Piece *piece = e->out.first;
        size_t n = piece->len < len - done ? piece->len : len - done;
        memcpy(to + done, piece->bytes, n);
        queue_drop(c->server, &e->out, n);
        done += n;
    }
    if (e->all_put && !e->out.bytes) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (!done) {
        return NGHTTP2_ERR_DEFERRED;
    }
    write_due(e, done);
    if (e->drains && !e->out.bytes) c->drains = true;
    return (ssize_t)done;
}

/* length: of the body, or SIZE_MAX for one that goes on. */
static void submit(Exchange *e, const WebAnswer *answer, size_t length) {
    Connection *c = e->connection;
    Buf text = BUF_INIT;
    char status[16], digits[24];
    nghttp2_nv nv[FIELDS_SENT_MAX + 4];
    size_t n = 0, room = 0;
    nghttp2_data_provider provider = {.source.ptr = e, .read_callback = on_wanted};
    bool bodiless = http_is_bodiless(answer->status);
    snprintf(status, sizeof status, "%d", answer->status);
    nv[n++] = nv_of(":status", status);
    nv[n++] = nv_of("date", server_date(c->server));
    if (answer->type) nv[n++] = nv_of("content-type", answer->type);
    if (length != SIZE_MAX && !bodiless) {
        snprintf(digits, sizeof digits, "%zu", length);
        nv[n++] = nv_of("content-length", digits);
    }
    for (const WebField *f = answer->fields; f && f->name; f++) room += strlen(f->name) + 1;
    buf_reserve(&text, room);
    for (const WebField *f = answer->fields; f && f->name && n < FIELDS_SENT_MAX + 4; f++) {
        nv[n++] = nv_of(small_letters(&text, f->name), f->value);
    }
    bool empty = bodiless || e->headless || (e->all_put && !e->out.bytes);
    nghttp2_submit_response(c->as.h2->session, e->id, nv, n, empty ? NULL : &provider);
    if (empty) queue_clear(c->server, &e->out);
    buf_clear(&text);
    write_due(e, 0);
    connection_busy(c);
}

static Exchange *exchange_of(const WebRequest *r) {
    return r->exchange;
}

static void let_go(Exchange *e) {
    WebRequest *r = e->request;
    e->request = NULL;
    web_request_free(r);
}

static void h2_answer(WebRequest *r, const WebAnswer *answer, Body body) {
    Exchange *e = exchange_of(r);
    size_t length = body.len;
    e->headless = strcmp(r->method, "HEAD") == 0;
    e->all_put = true;
    queue_body(r->connection->server, &e->out, body);
    let_go(e);
    submit(e, answer, length);
}

static void h2_begin(WebRequest *r, const WebAnswer *answer) {
    Exchange *e = exchange_of(r);
    e->headless = strcmp(r->method, "HEAD") == 0 || http_is_bodiless(answer->status);
    submit(e, answer, SIZE_MAX);
}

static void h2_write(WebRequest *r, const char *bytes, size_t len) {
    Exchange *e = exchange_of(r);
    Connection *c = r->connection;
    WebServer *s = c->server;
    if (e->headless || e->bad.status) return;
    if (e->out.bytes + len > s->limits.waiting) {
        e->bad.status = 503;
        nghttp2_submit_rst_stream(c->as.h2->session, NGHTTP2_FLAG_NONE, e->id, NGHTTP2_CANCEL);
    } else {
        if (!e->out.bytes) exchange_due(e, now_of(c) + s->limits.write_ms);
        queue_add(s, &e->out, bytes, len);
        e->drains = true;
        nghttp2_session_resume_data(c->as.h2->session, e->id);
    }
    connection_busy(c);
}

static void h2_end(WebRequest *r) {
    Exchange *e = exchange_of(r);
    Connection *c = r->connection;
    e->all_put = true;
    e->drains = false;
    nghttp2_session_resume_data(c->as.h2->session, e->id);
    let_go(e);
    connection_busy(c);
}

static void h2_cut(WebRequest *r) {
    Exchange *e = exchange_of(r);
    Connection *c = r->connection;
    e->drains = false;
    let_go(e);
    nghttp2_submit_rst_stream(c->as.h2->session, NGHTTP2_FLAG_NONE, e->id, NGHTTP2_INTERNAL_ERROR);
    connection_busy(c);
}

static size_t h2_waiting(const WebRequest *r) {
    return exchange_of(r)->out.bytes + connection_waiting(r->connection);
}

const Answering http2_answering = {
    .answer = h2_answer,
    .begin = h2_begin,
    .write = h2_write,
    .end = h2_end,
    .cut = h2_cut,
    .waiting = h2_waiting,
};

static void refuse(Exchange *e, Http1Problem problem) {
    Connection *c = e->connection;
    WebRequest *r = e->request;
    Buf body = BUF_INIT;
    c->server->counts.refused++;
    e->request = NULL;
    e->bad = problem;
    if (r) request_gone(r);
    http_problem(&body, &problem);
    queue_add(c->server, &e->out, body.data, body.len);
    e->all_put = true;
    submit(e, &(WebAnswer){problem.status, "application/problem+json", NULL}, body.len);
    buf_clear(&body);
}

/* ---- requests ---- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *ctx) {
    Connection *c = ctx;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    Exchange *e = mem_zalloc(sizeof *e);
    e->connection = c;
    e->id = frame->hd.stream_id;
    e->began = now_of(c);
    if (links_empty(&c->as.h2->exchanges)) connection_due(c, 0);
    link_add(&c->as.h2->exchanges, &e->link);
    exchange_due(e, e->began + c->server->limits.header_ms);
    nghttp2_session_set_stream_user_data(session, e->id, e);
    return 0;
}

/* What is behind a body is checked by nghttp2 and has no use here. */
static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t nname, const uint8_t *value, size_t nvalue, uint8_t flags, void *ctx) {
    Connection *c = ctx;
    Exchange *e = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)flags;
    if (!e || e->all_put || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    e->header_bytes += nname + nvalue + 32;
    if (e->header_bytes > c->server->limits.header || e->nfields == HTTP1_FIELDS_MAX) {
        e->bad = (Http1Problem){431, "The headers are longer than this server takes."};
        return 0;
    }
    buf_add(&e->text, (const char *)name, nname);
    buf_addc(&e->text, '\0');
    buf_add(&e->text, (const char *)value, nvalue);
    buf_addc(&e->text, '\0');
    e->nfields++;
    return 0;
}

/* The same grammar as in HTTP/1.1 for what the handlers see. */
static Http1Problem check_request(const WebRequest *r) {
    Buf line = BUF_INIT;
    Http1Head head = {0};
    Http1Problem bad = {0};
    const char *host = web_header(r, "host");
    if (!r->method || !r->target || !host) {
        return (Http1Problem){400, "The request has no method, no path or no host."};
    }
    buf_printf(&line, "%s %s HTTP/1.1\r\nHost: %s\r\n\r\n", r->method, r->target, host);
    http1_head_parse(line.data, line.len, &head, &bad);
    buf_clear(&line);
    return bad;
}

/* The texts become the request's own. */
static WebRequest *request_of_texts(Exchange *e) {
    WebRequest *r = web_request_new(e->connection, &http2_answering, 20);
    const char *p = r->head = buf_detach(&e->text), *authority = NULL;
    r->exchange = e;
    r->fields = mem_alloc((e->nfields + 1) * sizeof *r->fields);
    for (size_t i = 0; i < e->nfields; i++) {
        const char *name = p, *value = p + strlen(p) + 1;
        p = value + strlen(value) + 1;
        if (strcmp(name, ":method") == 0) {
            r->method = value;
        } else if (strcmp(name, ":path") == 0) {
            r->target = value;
        } else if (strcmp(name, ":authority") == 0) {
            authority = value;
        } else if (*name != ':') {
            request_add_field(r, name, value);
        }
    }
    const char *host = web_header(r, "host");
    if (authority && host && strcmp(authority, host) != 0) {
        e->bad = (Http1Problem){400, "The Host is another than that of the request."};
    } else if (authority && !host) {
        request_add_field(r, "host", authority);
    }
    return r;
}

static void tell_request(Exchange *e) {
    WebServer *s = e->connection->server;
    exchange_due(e, 0);
    s->options.request(s->options.ctx, e->request);
}

static void headers_came(Exchange *e, bool all) {
    WebServer *s = e->connection->server;
    if (e->bad.status) {
        refuse(e, e->bad);
        return;
    }
    WebRequest *r = e->request = request_of_texts(e);
    Http1Problem bad = e->bad.status ? e->bad : check_request(r);
    const char *length = web_header(r, "content-length");
    if (bad.status) {
        refuse(e, bad);
        return;
    }
    exchange_due(e, 0);
    request_tell_head(r);
    if (!e->request || e->request->stream.begun) return;
    if (all) {
        tell_request(e);
    } else if (length && strtoull(length, NULL, 10) > r->body_max) {
        refuse(e, (Http1Problem){413, "The body is longer than is taken here."});
    } else {
        e->began = uv_now(s->loop);
        body_due(e);
    }
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *ctx) {
    Exchange *e = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    bool headers = frame->hd.type == NGHTTP2_HEADERS;
    (void)ctx;
    if (!e || (!headers && frame->hd.type != NGHTTP2_DATA)) return 0;
    bool all = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    e->all_came = e->all_came || all;
    if (headers && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        headers_came(e, all);
    } else if (all && e->request && !e->request->stream.begun) {
        tell_request(e);
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
                   size_t len, void *ctx) {
    Exchange *e = nghttp2_session_get_stream_user_data(session, id);
    int status;
    (void)flags, (void)ctx;
    if (!e || !e->request || e->request->stream.begun) return 0;
    status = request_add_body(e->request, (const char *)bytes, len);
    if (!status) {
        body_due(e);
    } else {
        refuse(e, (Http1Problem){status,
                                 status == 413
                                     ? "The body is longer than is taken here."
                                     : "The server holds as many bodies as it can; try again."});
    }
    return 0;
}

/* The answer is complete, but not the request. Its rest is thrown away; a client that goes on with it is stopped, but
 * not at once: curl takes that for a failure of the answer. */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *ctx) {
    Exchange *e = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)ctx;
    if (e && !e->all_came && frame->hd.flags & NGHTTP2_FLAG_END_STREAM &&
        (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA)) {
        e->answered = true;
        exchange_due(e, now_of(e->connection) + LINGER_MS);
    }
    return 0;
}

static void exchange_free(Exchange *e) {
    Connection *c = e->connection;
    WebRequest *r = e->request;
    e->request = NULL;
    link_remove(&e->link);
    if (r) request_gone(r);
    queue_clear(c->server, &e->out);
    buf_clear(&e->text);
    mem_free(e);
}

static int on_stream_closed(nghttp2_session *session, int32_t id, uint32_t code, void *ctx) {
    Connection *c = ctx;
    Exchange *e = nghttp2_session_get_stream_user_data(session, id);
    (void)code;
    if (e) exchange_free(e);
    if (!c->closed && links_empty(&c->as.h2->exchanges)) {
        connection_due(c, now_of(c) + c->server->limits.idle_ms);
    }
    return 0;
}

/* ---- the connection ---- */

/* nghttp2 has said or heard that it is over. */
static void look_over(Connection *c) {
    nghttp2_session *session = c->as.h2->session;
    if (!nghttp2_session_want_read(session) && !nghttp2_session_want_write(session)) {
        connection_due(c, 0);
        connection_end(c);
    }
}

static size_t h2_take(Connection *c, char *bytes, size_t len) {
    if (c->ending || !len) return len;
    ssize_t n = nghttp2_session_mem_recv(c->as.h2->session, (uint8_t *)bytes, len);
    if (n < 0) {
        c->server->counts.refused++;
        connection_fail(c);
    } else {
        connection_busy(c);
    }
    return len;
}

static void h2_flush(Connection *c) {
    const uint8_t *bytes;
    ssize_t n = 0;
    if (c->ending) return;
    while (c->out.bytes < FILL_MAX &&
           (n = nghttp2_session_mem_send(c->as.h2->session, &bytes)) > 0) {
        queue_add(c->server, &c->out, (const char *)bytes, (size_t)n);
    }
    if (n < 0) {
        connection_close(c);
    } else {
        look_over(c);
    }
}

static size_t h2_room(const Connection *c) {
    (void)c;
    return READ_MAX;
}

static void h2_ended(Connection *c) {
    connection_close(c);
}

/* The exchanges whose time has come are reset; the request, or the stream, is gone with that. */
static void h2_late(Connection *c) {
    Http2 *h = c->as.h2;
    uint64_t now = now_of(c), next = 0;
    for (Link *l = h->exchanges.next; l != &h->exchanges; l = l->next) {
        Exchange *e = LINKED(Exchange, l, link);
        if (e->due && e->due <= now) {
            e->due = 0;
            nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, e->id,
                                      e->answered ? NGHTTP2_NO_ERROR : NGHTTP2_CANCEL);
        } else if (e->due && (!next || e->due < next)) {
            next = e->due;
        }
    }
    if (links_empty(&h->exchanges)) nghttp2_session_terminate_session(h->session, NGHTTP2_NO_ERROR);
    connection_due(c, next);
    connection_busy(c);
}

static void h2_drained(Connection *c) {
    Http2 *h = c->as.h2;
    for (Link *l = h->exchanges.next; l != &h->exchanges; l = l->next) {
        Exchange *e = LINKED(Exchange, l, link);
        WebRequest *r = e->request;
        if (!e->drains || e->out.bytes || !r) continue;
        e->drains = false;
        if (r->stream.host.drained) r->stream.host.drained(r->stream.host.ctx);
    }
}

static void h2_stop(Connection *c) {
    Http2 *h = c->as.h2;
    nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(h->session), NGHTTP2_NO_ERROR,
                          NULL, 0);
    for (Link *l = h->exchanges.next; l != &h->exchanges; l = l->next) {
        WebRequest *r = LINKED(Exchange, l, link)->request;
        if (!r || !r->stream.begun) continue;
        WebStreamHost host = r->stream.host;
        h2_end(r);
        if (host.gone) host.gone(host.ctx);
    }
    connection_busy(c);
}

static void h2_gone(Connection *c) {
    Http2 *h = c->as.h2;
    while (!links_empty(&h->exchanges)) exchange_free(LINKED(Exchange, h->exchanges.next, link));
    nghttp2_session_del(h->session);
    mem_free(h);
}

const Protocol http2_protocol = {
    .take = h2_take,
    .room = h2_room,
    .ended = h2_ended,
    .late = h2_late,
    .flush = h2_flush,
    .drained = h2_drained,
    .stop = h2_stop,
    .gone = h2_gone,
};

void connection_http2(Connection *c) {
    WebServer *s = c->server;
    nghttp2_session_callbacks *callbacks;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)s->limits.header},
    };
    Http2 *h = mem_zalloc(sizeof *h);
    links_init(&h->exchanges);
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_closed);
    nghttp2_session_server_new(&h->session, callbacks, c);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings, 2);
    nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0, WINDOW);
    c->as.h2 = h;
    c->protocol = &http2_protocol;
    connection_due(c, now_of(c) + s->limits.idle_ms);
    connection_busy(c);
}
