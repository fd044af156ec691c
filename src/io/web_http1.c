/* HTTP/1.1 on a connection: requests one at a time and in order, with what a request, its body and its answer have to
 * do with whether the connection goes on.
 *
 * An answer may come while the body is still to be read (401, 413). A short rest of it is passed over; otherwise, and
 * where the client waits for "100 Continue", the connection ends with the answer. */
#include "web_inside.h"

#include "mem.h"

#include <stdio.h>

enum { HALF_OPEN_MS = 2000 };

static uint64_t now_of(const Connection *c) {
    return uv_now(c->server->loop);
}

/* Whoever says no more may still listen, for a moment. */
static uint64_t answer_due(const Connection *c) {
    return c->silent ? now_of(c) + HALF_OPEN_MS : 0;
}

/* ---- heads of answers ---- */

static void put_number(Buf *out, size_t n) {
    char digits[24], *p = digits + sizeof digits;
    do *--p = (char)('0' + n % 10);
    while (n /= 10);
    buf_add(out, p, (size_t)(digits + sizeof digits - p));
}

static void put_field(Buf *out, const char *name, const char *value) {
    buf_adds(out, name);
    buf_add(out, ": ", 2);
    buf_adds(out, value);
    buf_add(out, "\r\n", 2);
}

/* The first line and all headers but those about the length. */
static Buf *put_head(Connection *c, const WebAnswer *answer) {
    WebServer *s = c->server;
    Buf *out = &s->text;
    buf_reset(out);
    buf_adds(out, "HTTP/1.1 ");
    put_number(out, (size_t)answer->status);
    buf_addc(out, ' ');
    buf_adds(out, http_status_text(answer->status));
    buf_adds(out, "\r\n");
    put_field(out, "Date", server_date(s));
    if (answer->type) put_field(out, "Content-Type", answer->type);
    for (const WebField *f = answer->fields; f && f->name; f++) put_field(out, f->name, f->value);
    if (c->as.h1.ends) put_field(out, "Connection", "close");
    return out;
}

static void send_head(Connection *c, Buf *out) {
    buf_add(out, "\r\n", 2);
    queue_add(c->server, &c->out, out->data, out->len);
    connection_busy(c);
}

/* ---- the end of a request ---- */

static void wait_for_head(Connection *c) {
    Http1 *h = &c->as.h1;
    h->phase = H1_HEAD;
    h->scan = (Http1Scan){0};
    h->began = 0;
    h->blank = false;
    connection_due(c, now_of(c) + c->server->limits.idle_ms);
}

/* Refuses what came: the request, if there is one, is gone. */
static void refuse(Connection *c, Http1Problem problem) {
    Http1 *h = &c->as.h1;
    WebRequest *r = h->request;
    Buf body = BUF_INIT, *out;
    c->server->counts.refused++;
    h->ends = true;
    h->request = NULL;
    if (r) request_gone(r);
    if (c->closed) return;
    http_problem(&body, &problem);
    out = put_head(c, &(WebAnswer){problem.status, "application/problem+json", NULL});
    buf_adds(out, "Content-Length: ");
    put_number(out, body.len);
    buf_add(out, "\r\n", 2);
    send_head(c, out);
    queue_add(c->server, &c->out, body.data, body.len);
    buf_clear(&body);
    connection_due(c, 0);
    connection_end(c);
}

/* Before the head of an answer: what becomes of the connection, and of a body that is still to come. */
static void decide(Connection *c, const WebAnswer *answer) {
    Http1 *h = &c->as.h1;
    h->headless = strcmp(h->request->method, "HEAD") == 0 || http_is_bodiless(answer->status);
    if (h->phase == H1_BODY) {
        bool skips = !h->chunked && !h->expects && h->left <= SKIP_MAX;
        h->ends = h->ends || !skips;
        h->phase = skips ? H1_SKIP : H1_WAIT;
    }
    if (c->server->closing) h->ends = true;
}

/* The answer is complete. */
static void finish(Connection *c) {
    Http1 *h = &c->as.h1;
    WebRequest *r = h->request;
    h->request = NULL;
    h->more = c->in.len > 0;
    web_request_free(r);
    if (h->ends) {
        connection_due(c, 0);
        connection_end(c);
    } else if (h->phase == H1_WAIT) {
        wait_for_head(c);
    } else {
        connection_due(c, now_of(c) + c->server->limits.body_ms);
    }
    connection_busy(c);
}

/* ---- answers ---- */

static void h1_answer(WebRequest *r, const WebAnswer *answer, Body body) {
    Connection *c = r->connection;
    Http1 *h = &c->as.h1;
    Buf *out;
    decide(c, answer);
    out = put_head(c, answer);
    if (!http_is_bodiless(answer->status)) {
        buf_adds(out, "Content-Length: ");
        put_number(out, body.len);
        buf_add(out, "\r\n", 2);
    }
    send_head(c, out);
    if (h->headless) {
        mem_free(body.owned);
    } else {
        queue_body(c->server, &c->out, body);
    }
    finish(c);
}

static void h1_begin(WebRequest *r, const WebAnswer *answer) {
    Connection *c = r->connection;
    Http1 *h = &c->as.h1;
    Buf *out;
    h->pieces = r->version == 11;
    h->ends = h->ends || !h->pieces;
    decide(c, answer);
    out = put_head(c, answer);
    if (h->pieces && !http_is_bodiless(answer->status)) {
        put_field(out, "Transfer-Encoding", "chunked");
    }
    send_head(c, out);
    if (h->phase == H1_WAIT) connection_due(c, answer_due(c));
}

static void h1_write(WebRequest *r, const char *bytes, size_t len) {
    Connection *c = r->connection;
    WebServer *s = c->server;
    if (c->failed || c->as.h1.headless) return;
    if (connection_waiting(c) + len > s->limits.waiting) {
        connection_fail(c);
        return;
    }
    if (c->as.h1.pieces) {
        char size[24];
        queue_add(s, &c->out, size, (size_t)snprintf(size, sizeof size, "%zx\r\n", len));
        queue_add(s, &c->out, bytes, len);
        queue_add(s, &c->out, "\r\n", 2);
    } else {
        queue_add(s, &c->out, bytes, len);
    }
    c->drains = true;
    connection_busy(c);
}

static void h1_end(WebRequest *r) {
    Connection *c = r->connection;
    if (c->as.h1.pieces && !c->as.h1.headless) queue_add(c->server, &c->out, "0\r\n\r\n", 5);
    c->drains = false;
    finish(c);
}

static void h1_cut(WebRequest *r) {
    Connection *c = r->connection;
    c->as.h1.ends = true;
    c->drains = false;
    finish(c);
}

static size_t h1_waiting(const WebRequest *r) {
    return connection_waiting(r->connection);
}

const Answering http1_answering = {
    .answer = h1_answer,
    .begin = h1_begin,
    .write = h1_write,
    .end = h1_end,
    .cut = h1_cut,
    .waiting = h1_waiting,
};

/* ---- requests ---- */

/* All of it is there. */
static void tell_request(Connection *c) {
    WebServer *s = c->server;
    c->as.h1.phase = H1_WAIT;
    connection_due(c, answer_due(c));
    s->options.request(s->options.ctx, c->as.h1.request);
}

/* A body has to go on coming, and not too slowly on the whole. */
static void body_due(Connection *c) {
    Http1 *h = &c->as.h1;
    uint64_t ms = c->server->limits.body_ms, got = h->request ? h->request->body.len : 0;
    uint64_t piece = now_of(c) + ms, all = h->began + ms + got * 1000 / LEAST_RATE;
    connection_due(c, piece < all ? piece : all);
}

/* The texts of the head move to memory of the request's own. */
static WebRequest *request_of_head(Connection *c, const char *bytes, size_t len,
                                   const Http1Head *head) {
    WebRequest *r = web_request_new(c, &http1_answering, 10 + head->minor);
    char *text = r->head = mem_strndup(bytes, len);
    r->fields = mem_alloc((head->nfields + 1) * sizeof *r->fields);
    for (size_t i = 0; i < head->nfields; i++) {
        const Http1Field *f = &head->fields[i];
        text[f->name.at + f->name.len] = text[f->value.at + f->value.len] = '\0';
        request_add_field(r, text + f->name.at, text + f->value.at);
    }
    text[head->method.at + head->method.len] = text[head->target.at + head->target.len] = '\0';
    r->method = text + head->method.at;
    r->target = text + head->target.at;
    return r;
}

/* A head was read. What becomes of its body is known when head() has spoken. */
static void begin_request(Connection *c, const char *bytes, size_t len, const Http1Head *head) {
    WebServer *s = c->server;
    Http1 *h = &c->as.h1;
    bool body = head->chunked || head->length > 0;
    h->request = request_of_head(c, bytes, len, head);
    h->phase = body ? H1_BODY : H1_WAIT;
    h->chunked = head->chunked;
    h->left = head->length;
    h->chunks = (Http1Chunks){0};
    h->expects = head->expects && body;
    h->headless = h->pieces = false;
    h->served++;
    h->ends = head->ends || (s->limits.requests_each && h->served >= s->limits.requests_each);
    h->began = now_of(c);
    connection_due(c, 0);
    request_tell_head(h->request);
    if (c->closed || c->protocol != &http1_protocol || !h->request || h->request->stream.begun) {
        return;
    }
    if (!body) {
        tell_request(c);
        return;
    }
    if (!h->chunked && h->left > h->request->body_max) {
        refuse(c, (Http1Problem){413, "The body is longer than is taken here."});
        return;
    }
    if (h->expects) {
        static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
        queue_add(s, &c->out, go_on, sizeof go_on - 1);
        connection_busy(c);
        h->expects = false;
    }
    body_due(c);
}

/* Adds to the body, or passes it over. */
static bool take_body(Connection *c, const char *bytes, size_t len) {
    Http1 *h = &c->as.h1;
    int status = h->phase == H1_SKIP ? 0 : request_add_body(h->request, bytes, len);
    if (status == 413) {
        refuse(c, (Http1Problem){413, "The body is longer than is taken here."});
    } else if (status) {
        refuse(c, (Http1Problem){status, "The server holds as many bodies as it can; try again."});
    }
    return !status;
}

/* Some of the body came. Whether all of it is there. */
static bool read_body(Connection *c, const char **at, const char *end) {
    Http1 *h = &c->as.h1;
    const char *data;
    size_t len;
    Http1Step step;
    if (!h->chunked) {
        len = (size_t)(end - *at) < h->left ? (size_t)(end - *at) : (size_t)h->left;
        if (!take_body(c, *at, len)) return false;
        *at += len;
        h->left -= len;
        return h->left == 0;
    }
    while ((step = http1_chunks_next(&h->chunks, at, end, &data, &len)) == HTTP1_DATA) {
        if (!take_body(c, data, len)) return false;
    }
    if (step == HTTP1_BAD) refuse(c, (Http1Problem){400, "A chunk of the body is not right."});
    return step == HTTP1_END;
}

/* Looks for a head at *at. Whether there was one. */
static bool read_head(Connection *c, const char **at, const char *end) {
    Http1 *h = &c->as.h1;
    WebServer *s = c->server;
    Http1Problem bad;
    Http1Head *head = &s->head;
    size_t len;
    if (!h->blank && !h->scan.at && **at == '\r') {
        if (end - *at < 2) return false;
        h->blank = (*at)[1] == '\n';
        *at += h->blank ? 2 : 0;
        return h->blank;
    }
    if (!h->began) {
        h->began = now_of(c);
        connection_due(c, h->began + s->limits.header_ms);
    }
    len = http1_head_end(&h->scan, *at, (size_t)(end - *at), s->limits.header, &bad);
    if (bad.status || (len && !http1_head_parse(*at, len, head, &bad))) {
        refuse(c, bad);
        return false;
    }
    if (!len) return false;
    begin_request(c, *at, len, head);
    *at += len;
    return true;
}

static size_t h1_take(Connection *c, char *bytes, size_t len) {
    Http1 *h = &c->as.h1;
    const char *at = bytes, *end = bytes + len;
    size_t began = h->served;
    bool more = false;
    while (at < end && !c->closed && c->protocol == &http1_protocol) {
        if (c->ending) return len;
        if (h->phase == H1_HEAD) {
            if (h->served - began >= REQUESTS_A_TURN) {
                more = true;
                connection_busy(c);
                break;
            }
            if (!read_head(c, &at, end)) break;
        } else if (h->phase == H1_BODY) {
            if (read_body(c, &at, end)) {
                tell_request(c);
            } else if (!c->ending && !c->closed) {
                body_due(c);
            }
        } else if (h->phase == H1_SKIP) {
            if (read_body(c, &at, end)) {
                h->phase = H1_WAIT;
                connection_due(c, 0);
                if (!h->request) wait_for_head(c);
            }
        } else {
            break;
        }
    }
    if (c->protocol == &http1_protocol) h->more = more;
    return c->ending ? len : (size_t)(at - bytes);
}

/* A request is under way, or the next one has to wait for its turn: then little is read ahead. */
static size_t h1_room(const Connection *c) {
    const Http1 *h = &c->as.h1;
    bool ahead = h->phase == H1_WAIT || (h->phase == H1_HEAD && !h->scan.at && c->in.len);
    return !ahead ? READ_MAX : c->in.len < AHEAD_MAX ? AHEAD_MAX : 0;
}

/* The other side has said all. What is complete of it is answered, for as long as that takes little time; a stream has nobody
 * who listens any more. */
static void h1_ended(Connection *c) {
    Http1 *h = &c->as.h1;
    if (h->request && h->request->stream.begun) {
        connection_close(c);
    } else if (h->request && h->phase == H1_WAIT) {
        h->ends = h->ends || !c->in.len;
        connection_due(c, answer_due(c));
    }
}

/* Ends the connection when nothing is left that is complete. */
static void h1_flush(Connection *c) {
    Http1 *h = &c->as.h1;
    WebRequest *r = h->request;
    if (!c->silent || h->more || c->ending || (r && h->phase == H1_WAIT)) return;
    h->request = NULL;
    if (r) request_gone(r); /* the rest of its body never comes */
    if (!c->closed) connection_end(c);
}

static void h1_late(Connection *c) {
    Http1 *h = &c->as.h1;
    if (c->silent || c->ending || (h->phase == H1_HEAD && !h->began)) {
        connection_close(c);
    } else if (h->phase == H1_HEAD) {
        refuse(c, (Http1Problem){408, "The headers took too long to come."});
    } else if (h->phase == H1_BODY) {
        refuse(c, (Http1Problem){408, "The body took too long to come."});
    } else {
        connection_close(c);
    }
}

static void h1_drained(Connection *c) {
    WebRequest *r = c->as.h1.request;
    if (r && r->stream.begun && r->stream.host.drained) r->stream.host.drained(r->stream.host.ctx);
}

/* A stream has bounds of its own. */
static bool h1_paced(const Connection *c) {
    const WebRequest *r = c->as.h1.request;
    return !r || !r->stream.begun;
}

/* A stream ends as if its host had ended it, but the host has to be told. */
static void h1_stop(Connection *c) {
    Http1 *h = &c->as.h1;
    WebRequest *r = h->request;
    if (c->ending) return;
    h->ends = true;
    if (r && r->stream.begun) {
        WebStreamHost host = r->stream.host;
        h1_end(r);
        if (host.gone) host.gone(host.ctx);
    } else if (!r && h->phase == H1_HEAD && !h->began) {
        if (connection_waiting(c)) {
            connection_end(c);
        } else {
            connection_close(c);
        }
    }
}

static void h1_gone(Connection *c) {
    WebRequest *r = c->as.h1.request;
    c->as.h1.request = NULL;
    if (r) request_gone(r);
}

const Protocol http1_protocol = {
    .take = h1_take,
    .room = h1_room,
    .ended = h1_ended,
    .late = h1_late,
    .flush = h1_flush,
    .drained = h1_drained,
    .paced = h1_paced,
    .stop = h1_stop,
    .gone = h1_gone,
};

void connection_http1(Connection *c) {
    c->protocol = &http1_protocol;
    c->as.h1 = (Http1){0};
    wait_for_head(c);
}

/* ---- another protocol ---- */

void http1_upgrade(WebRequest *r, const char *accept, const char *protocol) {
    Connection *c = r->connection;
    WebField fields[] = {{"Upgrade", "websocket"},
                         {"Connection", "Upgrade"},
                         {"Sec-WebSocket-Accept", accept},
                         {protocol ? "Sec-WebSocket-Protocol" : NULL, protocol},
                         {NULL, NULL}};
    WebAnswer answer = {101, NULL, fields};
    http_check_answer(&answer);
    c->as.h1.ends = false;
    send_head(c, put_head(c, &answer));
    c->as.h1.request = NULL;
    web_request_free(r);
}
