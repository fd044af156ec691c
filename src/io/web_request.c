/* What a handler sees, whoever it came by: HTTP/1.1 or HTTP/2. */
#include "web_inside.h"

#include "json_build.h"
#include "json_print.h"
#include "mem.h"
#include "utf8.h"

#include <stdio.h>
#include <stdlib.h>

static const struct Status {
    int status;
    const char *text;
} statuses[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

const char *http_status_text(int status) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].status == status) return statuses[i].text;
    }
    return "Unknown";
}

bool http_is_bodiless(int status) {
    return status < 200 || status == 204 || status == 304;
}

/* The words of the codes of Error, which the doors use too. */
static const char *code_of(int status) {
    switch (status) {
    case 408:
    case 413:
    case 414:
    case 429:
    case 431: return error_code_name(ERR_LIMIT);
    case 503: return error_code_name(ERR_BUSY);
    default: return error_code_name(ERR_SYNTAX);
    }
}

void http_problem(Buf *out, const Http1Problem *problem) {
    Json document = OBJECT(KEY("type", "about:blank"), KEY("status", (int64_t)problem->status),
                           KEY("title", http_status_text(problem->status)),
                           KEY("code", code_of(problem->status)), KEY("detail", problem->why));
    json_print(document, NULL, out);
    json_unref(document);
}

static void check_text(const char *text, const char *what) {
    for (const char *p = text; *p; p++) {
        if (((unsigned char)*p < 32 && *p != '\t') || *p == 127) {
            fprintf(stderr, "pawl: bug: a %s that is to be sent has a control character\n", what);
            abort();
        }
    }
}

void http_check_answer(const WebAnswer *answer) {
    if (answer->type) check_text(answer->type, "type");
    for (const WebField *f = answer->fields; f && f->name; f++) {
        if (!http_is_token(f->name, strlen(f->name))) {
            fprintf(stderr, "pawl: bug: a header that is to be sent has no proper name\n");
            abort();
        }
        check_text(f->value, "header");
    }
}

/* ---- its life ---- */

WebRequest *web_request_new(Connection *c, const Answering *answering, int version) {
    WebRequest *r = mem_zalloc(sizeof *r);
    r->connection = c;
    r->answering = answering;
    r->version = version;
    r->body_max = c->server->limits.body;
    c->server->counts.requests_now++;
    return r;
}

static const char *keep_text(WebRequest *r, const char *bytes, size_t len) {
    RequestText *text = mem_alloc(sizeof *text + len + 1);
    memcpy(text->text, bytes, len);
    text->text[len] = '\0';
    text->next = r->texts;
    r->texts = text;
    return text->text;
}

void request_add_field(WebRequest *r, const char *name, const char *value) {
    size_t len = strlen(value);
    if (utf8_valid_prefix(value, len) != len) {
        Buf mended = BUF_INIT;
        utf8_repair(&mended, value, len);
        value = keep_text(r, mended.data, mended.len);
        buf_clear(&mended);
    }
    r->fields[r->nfields++] = (WebField){name, value};
}

void request_tell_head(WebRequest *r) {
    WebServer *s = r->connection->server;
    s->counts.requests++;
    r->told = true;
    if (s->options.head) s->options.head(s->options.ctx, r);
}

int request_add_body(WebRequest *r, const char *bytes, size_t len) {
    WebServer *s = r->connection->server;
    if (len > r->body_max - r->body.len) return 413;
    if (len > s->limits.bodies - s->held) return 503;
    s->held += len;
    buf_add(&r->body, bytes, len);
    return 0;
}

void web_request_free(WebRequest *r) {
    WebServer *s = r->connection->server;
    s->held -= r->body.len + r->taken;
    s->counts.requests_now--;
    if (r->stream.begun) s->counts.streams--;
    while (r->texts) {
        RequestText *next = r->texts->next;
        mem_free(r->texts);
        r->texts = next;
    }
    buf_clear(&r->body);
    mem_free(r->fields);
    mem_free(r->head);
    mem_free(r);
}

void request_gone(WebRequest *r) {
    WebServer *s = r->connection->server;
    if (r->stream.begun) {
        if (r->stream.host.gone) r->stream.host.gone(r->stream.host.ctx);
    } else if (r->told && s->options.gone) {
        s->options.gone(s->options.ctx, r);
    }
    web_request_free(r);
}

/* ---- what it says ---- */

const char *web_method(const WebRequest *r) {
    return r->method;
}

const char *web_target(const WebRequest *r) {
    return r->target;
}

/* Several of one name become one with the first look, so that what was lent stays. Cookies have a sign of their own. */
static const char *join_fields(WebRequest *r, size_t first) {
    WebField *f = &r->fields[first];
    size_t len = strlen(f->name);
    const char *between = http_same(f->name, len, "cookie") ? "; " : ", ";
    Buf joined = BUF_INIT;
    size_t kept = first + 1;
    buf_adds(&joined, f->value);
    for (size_t i = first + 1; i < r->nfields; i++) {
        if (http_same(r->fields[i].name, strlen(r->fields[i].name), f->name)) {
            buf_adds(&joined, between);
            buf_adds(&joined, r->fields[i].value);
        } else {
            r->fields[kept++] = r->fields[i];
        }
    }
    if (kept < r->nfields) f->value = keep_text(r, joined.data, joined.len);
    r->nfields = kept;
    buf_clear(&joined);
    return f->value;
}

const char *web_header(const WebRequest *r, const char *name) {
    size_t len = strlen(name), found = r->nfields, n = 0;
    for (size_t i = 0; i < r->nfields; i++) {
        if (http_same(name, len, r->fields[i].name) && n++ == 0) found = i;
    }
    return n == 0 ? NULL : n == 1 ? r->fields[found].value : join_fields((WebRequest *)r, found);
}

const char *web_body(const WebRequest *r, size_t *len) {
    *len = r->body.len;
    return r->body.data ? r->body.data : "";
}

void web_take_body(WebRequest *r, Buf *out) {
    r->taken = r->body.len; /* it counts as held until the request has its answer */
    *out = r->body;
    r->body = (Buf)BUF_INIT;
}

const char *web_peer(const WebRequest *r) {
    return connection_peer(r->connection);
}

bool web_is_tls(const WebRequest *r) {
    return r->connection->tls != NULL;
}

int web_version(const WebRequest *r) {
    return r->version;
}

void web_body_max(WebRequest *r, size_t bytes) {
    r->body_max = bytes;
}

void web_request_set_data(WebRequest *r, void *data) {
    r->data = data;
}

void *web_request_data(const WebRequest *r) {
    return r->data;
}

/* ---- its answer ---- */

void web_answer(WebRequest *r, const WebAnswer *answer, Buf *body) {
    Body taken = {0};
    http_check_answer(answer);
    if (body && body->len) {
        taken.len = body->len;
        taken.bytes = taken.owned = buf_detach(body);
    }
    r->answering->answer(r, answer, taken);
}

void web_answer_static(WebRequest *r, const WebAnswer *answer, const void *body, size_t len) {
    http_check_answer(answer);
    r->answering->answer(r, answer, (Body){.bytes = body, .len = len});
}

static WebRequest *request_of(const WebStream *stream) {
    return LINKED(WebRequest, stream, stream);
}

WebStream *web_stream(WebRequest *r, const WebAnswer *answer, const WebStreamHost *host) {
    http_check_answer(answer);
    r->stream = (WebStream){.host = *host, .begun = true};
    r->connection->server->counts.streams++;
    r->answering->begin(r, answer);
    return &r->stream;
}

void web_stream_write(WebStream *stream, const char *bytes, size_t len) {
    WebRequest *r = request_of(stream);
    if (len) r->answering->write(r, bytes, len);
}

size_t web_stream_waiting(const WebStream *stream) {
    WebRequest *r = request_of(stream);
    return r->answering->waiting(r);
}

void web_stream_end(WebStream *stream) {
    WebRequest *r = request_of(stream);
    r->answering->end(r);
}

void web_stream_break(WebStream *stream) {
    WebRequest *r = request_of(stream);
    r->answering->cut(r);
}
