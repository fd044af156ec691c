/* mcp_http.c - messages that come as requests of HTTP, and what is told to whoever sent them.
 *
 * A Post is a message that is not answered yet. At first it has its exchange; when something is told before the answer, or the
 * answer takes longer than STREAM_MS, it has a stream instead. A McpSession is a client of the old era, with its McpPeer and, while
 * it listens, a stream of its own. */
#include "mcp_http.h"

#include "json_parse.h"
#include "json_print.h"
#include "mcp.h"
#include "mcp_headers.h"
#include "mcp_rpc.h"
#include "mem.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    DEPTH_MAX = 512,
    STREAM_MS = 2000,
    QUIET_MS = 15000,
    ID_BYTES = 16,
    NOTES_MAX = 1 << 20, /* bytes that wait to be taken: no more is told then, but the answer */
};

typedef struct Post Post;
typedef struct McpSession McpSession;

struct McpHttp {
    Server *server;
    Mcp *mcp;
    Post *posts;
    size_t nposts;
    McpSession *sessions;
    size_t nsessions;
};

struct Post {
    McpHttp *door;
    Post *prev, *next;
    Exchange *exchange; /* NULL: there is a stream, or nobody any more */
    WebStream *out;
    McpCall *call;       /* NULL: it is being received, or is answered */
    McpSession *session; /* NULL: it is of none */
    Asker asker;
    bool streams; /* whoever asks takes a stream */
    bool receiving, answered;
    uint64_t began, written; /* on the loop's clock */
};

struct McpSession {
    McpHttp *door;
    McpSession *prev, *next;
    char id[2 * ID_BYTES + 1];
    Asker asker;
    McpPeer *peer;
    WebStream *out; /* that it listens on; NULL: it does not */
    uint64_t used, written;
};

static uint64_t now_of(const McpHttp *h) {
    return uv_now(h->server->options.loop);
}

/* ---- streams ---- */

static void write_message(WebStream *out, Json message) {
    Buf text = BUF_INIT;
    buf_adds(&text, "event: message\ndata: ");
    json_print(message, &(JsonPrintOptions){0}, &text);
    buf_adds(&text, "\n\n");
    web_stream_write(out, text.data, text.len);
    buf_clear(&text);
}

/* ---- messages under way ---- */

static void post_free(Post *p) {
    McpHttp *h = p->door;
    if (p->prev) p->prev->next = p->next;
    if (p->next) p->next->prev = p->prev;
    if (h->posts == p) h->posts = p->next;
    h->nposts--;
    mem_free(p);
}

/* Nobody hears the answer any more. */
static void drop(Post *p) {
    if (p->call) mcp_call_drop(p->call);
    post_free(p);
}

static void on_stream_gone(void *ctx) {
    Post *p = ctx;
    p->out = NULL;
    drop(p);
}

static void begin_stream(Post *p) {
    Exchange *x = p->exchange;
    x->post = NULL;
    p->exchange = NULL;
    p->out = exchange_stream(x, &(WebStreamHost){.gone = on_stream_gone, .ctx = p});
    p->written = now_of(p->door);
}

static void on_note(void *ctx, Json message) {
    Post *p = ctx;
    if (p->streams && !p->out) begin_stream(p);
    if (p->out && web_stream_waiting(p->out) < NOTES_MAX) {
        write_message(p->out, message);
        p->written = now_of(p->door);
    }
    json_unref(message);
}

/* A message without an answer, and one whose answer was called off, are answered with 202. */
static void on_answer(void *ctx, Json message, int status) {
    Post *p = ctx;
    WebStream *out = p->out;
    p->answered = true;
    if (p->exchange) {
        Exchange *x = p->exchange;
        x->post = NULL;
        exchange_answer(x, json_is_none(message) ? 202 : status, message);
    } else if (out) {
        p->out = NULL;
        if (!json_is_none(message)) write_message(out, message);
        json_unref(message);
        web_stream_end(out);
    }
    if (!p->receiving) post_free(p);
}

/* ---- refusing ---- */

/* An error of the protocol that is of no call. */
static void refuse(Exchange *x, int status, Json id, int code, const char *sentence, Json data) {
    exchange_answer(x, status, rpc_error(id, code, sentence, data));
}

static void refuse_message(Exchange *x, int status, int code, const char *sentence) {
    refuse(x, status, json_none(), code, sentence, json_none());
}

/* ---- sessions ---- */

static void end_listening(McpSession *s) {
    WebStream *out = s->out;
    s->out = NULL;
    if (out) web_stream_end(out);
}

static void end_session(McpSession *s) {
    McpHttp *h = s->door;
    end_listening(s);
    for (Post *p = h->posts, *next; p; p = next) {
        next = p->next;
        if (p->session != s) continue;
        if (p->exchange) {
            Exchange *x = p->exchange;
            x->post = NULL;
            refuse_message(x, 404, RPC_INVALID_REQUEST, "The session has ended.");
        } else if (p->out) {
            web_stream_end(p->out);
        }
        drop(p);
    }
    mcp_peer_free(s->peer);
    if (s->prev) s->prev->next = s->next;
    if (s->next) s->next->prev = s->prev;
    if (h->sessions == s) h->sessions = s->next;
    h->nsessions--;
    mem_free(s);
}

static void on_tell(void *ctx, Json message) {
    McpSession *s = ctx;
    if (s->out && web_stream_waiting(s->out) < NOTES_MAX) {
        write_message(s->out, message);
        s->written = now_of(s->door);
    }
    json_unref(message);
}

static bool is_at_work(const McpSession *s) {
    return s->out || !mcp_peer_rests(s->peer);
}

/* The one that was used longest ago, and that does nothing, goes; one of the same token rather than another's. */
static bool make_room(McpHttp *h, const Asker *asker) {
    McpSession *oldest[2] = {NULL, NULL};
    if (h->nsessions < MCP_SESSIONS_MAX) return true;
    for (McpSession *s = h->sessions; s; s = s->next) {
        bool own = !strcmp(s->asker.id, asker->id);
        if (is_at_work(s) || (oldest[own] && s->used >= oldest[own]->used)) continue;
        oldest[own] = s;
    }
    McpSession *goes = oldest[1] ? oldest[1] : oldest[0];
    if (goes) end_session(goes);
    return goes != NULL;
}

static McpSession *begin_session(McpHttp *h, const Asker *asker) {
    unsigned char bytes[ID_BYTES];
    if (!make_room(h, asker) || RAND_bytes(bytes, sizeof bytes) != 1) return NULL;
    McpSession *s = mem_zalloc(sizeof *s);
    *s = (McpSession){.door = h, .next = h->sessions, .asker = *asker, .used = now_of(h)};
    for (int i = 0; i < ID_BYTES; i++) snprintf(s->id + 2 * i, 3, "%02x", bytes[i]);
    s->peer = mcp_peer_new(h->mcp, &(McpPeerHost){.tell = on_tell, .ctx = s});
    mcp_peer_listens(s->peer, false);
    if (s->next) s->next->prev = s;
    h->sessions = s;
    h->nsessions++;
    return s;
}

/* The session that a request names, of whoever asks. NULL after it was answered. */
static McpSession *session_of(Exchange *x) {
    const char *id = web_header(x->request, "mcp-session-id");
    McpSession *s = x->server->mcp->sessions;
    while (id && s && (strcmp(s->id, id) != 0 || strcmp(s->asker.id, x->asker.id) != 0)) {
        s = s->next;
    }
    if (!id) {
        refuse_message(x, 400, RPC_INVALID_REQUEST,
                       "Mcp-Session-Id is missing: the first message is `initialize`, and its "
                       "answer has one; since 2026-07-28 each request says its version in "
                       "params._meta instead.");
        return NULL;
    }
    if (s) {
        s->used = now_of(s->door);
    } else {
        refuse_message(x, 404, RPC_INVALID_REQUEST,
                       "There is no such session (any more): begin a new one with `initialize`.");
    }
    return s;
}

size_t mcp_http_sessions(const McpHttp *h) {
    return h->nsessions;
}

/* ---- what is asked for in the query ---- */

static bool is_one_of(const char *value, size_t len, const char *word, const char *digit) {
    return (len == strlen(word) && !strncmp(value, word, len)) || (len == 1 && *value == *digit);
}

/* ?profile=runs,debugging&read_only=true. False after the exchange was answered. */
static bool read_query(Exchange *x, unsigned *groups) {
    const char *query = strchr(web_target(x->request), '?');
    Error err = ERROR_INIT;
    *groups = 0;
    for (const char *at = query ? query + 1 : ""; *at && !err.code;) {
        size_t len = strcspn(at, "&"), name = strcspn(at, "=&");
        const char *value = at + name + (at[name] == '=');
        size_t value_len = (size_t)(at + len - value);
        char text[100];
        if (name == 7 && !strncmp(at, "profile", 7)) {
            snprintf(text, sizeof text, "%.*s", (int)(value_len < 99 ? value_len : 99), value);
            *groups |= mcp_profile(text, &err);
        } else if (name == 9 && !strncmp(at, "read_only", 9)) {
            if (!value_len || is_one_of(value, value_len, "true", "1")) {
                x->asker.scope = SCOPE_READ;
            } else if (!is_one_of(value, value_len, "false", "0")) {
                error_set(&err, ERR_USAGE, "`read_only` of /mcp is true or false, not `%.*s`.",
                          value_len > 40 ? 40 : (int)value_len, value);
            }
        } else {
            error_set(&err, ERR_USAGE, "/mcp takes `profile` and `read_only`; `%.*s` is neither.",
                      name > 40 ? 40 : (int)name, at);
        }
        at += len + (at[len] == '&');
    }
    if (err.code) refuse_message(x, 400, RPC_INVALID_REQUEST, err.msg);
    return !err.code;
}

/* ---- POST ---- */

/* Whether a header names a type, or all of them. */
static bool accepts(const Exchange *x, const char *type) {
    const char *accept = web_header(x->request, "accept");
    size_t len = strlen(type), group = strcspn(type, "/") + 1;
    for (const char *at = accept ? accept : "*/*"; *at;) {
        at += strspn(at, " \t,");
        size_t n = strcspn(at, ";, \t");
        bool is = (n == len && !strncasecmp(at, type, len)) || (n == 3 && !strncmp(at, "*/*", 3)) ||
                  (n == group + 1 && !strncasecmp(at, type, group) && at[group] == '*');
        if (is) return true;
        at += strcspn(at, ",");
    }
    return false;
}

static bool is_json(const Exchange *x) {
    const char *type = web_header(x->request, "content-type");
    size_t len = type ? strcspn(type, "; \t") : 0;
    return len == 16 && !strncasecmp(type, "application/json", len);
}

/* JSON_NONE after the exchange was answered. */
static Json read_message(Exchange *x) {
    size_t len = 0;
    const char *body = web_body(x->request, &len);
    Error err = ERROR_INIT;
    if (!is_json(x)) {
        refuse_message(x, 415, RPC_INVALID_REQUEST,
                       "A message is sent as Content-Type: application/json.");
        return json_none();
    }
    if (!accepts(x, "application/json") && !accepts(x, "text/event-stream")) {
        refuse_message(x, 406, RPC_INVALID_REQUEST,
                       "Answers are application/json or text/event-stream; Accept has neither.");
        return json_none();
    }
    Json message =
        json_parse(body, len,
                   &(JsonParseOptions){
                       .max_depth = DEPTH_MAX, .max_bytes = 32 * len + (1 << 20), .strict = true},
                   &err);
    if (json_is_none(message)) refuse_message(x, 400, RPC_PARSE_ERROR, err.msg);
    return message;
}

static void receive(Exchange *x, McpSession *session, bool modern, unsigned groups, Json message) {
    McpHttp *h = x->server->mcp;
    Post *p = mem_zalloc(sizeof *p);
    *p = (Post){.door = h,
                .next = h->posts,
                .exchange = x,
                .session = session,
                .asker = x->asker,
                .streams = accepts(x, "text/event-stream"),
                .receiving = true,
                .began = now_of(h)};
    if (p->next) p->next->prev = p;
    h->posts = p;
    h->nposts++;
    x->post = p;
    McpFrom from = {.peer = session ? session->peer : NULL,
                    .asker = x->asker,
                    .groups = groups,
                    .modern = modern,
                    .outlet = {.note = on_note, .answer = on_answer, .ctx = p}};
    McpCall *call = mcp_receive(h->mcp, &from, message);
    p->receiving = false;
    if (p->answered) {
        post_free(p);
    } else if (call) {
        p->call = call;
    } else { /* it needs no answer */
        on_answer(p, json_none(), 202);
    }
}

/* The old era: a session, which `initialize` begins. */
static void receive_of_session(Exchange *x, unsigned groups, Json message) {
    const char *version = web_header(x->request, "mcp-protocol-version");
    bool begins = json_kind(message) == JSON_OBJECT &&
                  json_string_is(json_object_get_c(message, "method"), "initialize");
    if (!begins && version && !mcp_version_is_known(version)) {
        refuse_message(x, 400, RPC_INVALID_REQUEST,
                       "MCP-Protocol-Version names a version that is not spoken here.");
        json_unref(message);
        return;
    }
    McpSession *s = begins ? begin_session(x->server->mcp, &x->asker) : session_of(x);
    if (!s && begins) {
        refuse_message(x, 503, RPC_INTERNAL, "There are too many sessions; try again later.");
    }
    if (!s) {
        json_unref(message);
        return;
    }
    if (begins) snprintf(x->session, sizeof x->session, "%s", s->id);
    receive(x, s, false, groups, message);
    if (begins && !mcp_peer_has_begun(s->peer)) end_session(s);
}

void mcp_http_post(Exchange *x) {
    McpHttp *h = x->server->mcp;
    unsigned groups;
    McpHeaders headers = {.version = web_header(x->request, "mcp-protocol-version"),
                          .method = web_header(x->request, "mcp-method"),
                          .name = web_header(x->request, "mcp-name")};
    if (!read_query(x, &groups)) return;
    Json message = read_message(x);
    if (json_is_none(message)) return;
    Error err = ERROR_INIT;
    bool modern = mcp_headers_are_modern(&headers) || mcp_era(message) == MCP_MODERN;
    if (h->nposts >= MCP_HTTP_CALLS_MAX) {
        refuse(x, 503, rpc_id(message), RPC_INTERNAL,
               "Too many requests are not answered yet; try again later.", json_none());
    } else if (!modern) {
        receive_of_session(x, groups, json_ref(message));
    } else if (!mcp_headers_match(&headers, message, &err)) {
        refuse(x, 400, rpc_id(message), RPC_HEADER_MISMATCH, err.msg, json_none());
    } else {
        receive(x, NULL, true, groups, json_ref(message));
    }
    json_unref(message);
}

void mcp_http_gone(Exchange *x) {
    Post *p = x->post;
    x->post = NULL;
    x->request = NULL;
    exchange_free(x);
    p->exchange = NULL;
    drop(p);
}

/* ---- GET, DELETE ---- */

/* Both are of the old era alone. */
static bool has_session(Exchange *x) {
    if (web_header(x->request, "mcp-session-id")) return true;
    snprintf(x->match.allowed, sizeof x->match.allowed, "POST");
    refuse_message(x, 405, RPC_INVALID_REQUEST,
                   "Messages are sent with POST; GET and DELETE are of sessions (Mcp-Session-Id).");
    return false;
}

static void on_listener_gone(void *ctx) {
    McpSession *s = ctx;
    s->out = NULL;
    mcp_peer_listens(s->peer, false);
}

/* Whoever comes again has lost the stream before. */
void mcp_http_listen(Exchange *x) {
    if (!has_session(x)) return;
    McpSession *s = session_of(x);
    if (!s) return;
    if (!accepts(x, "text/event-stream")) {
        refuse_message(x, 406, RPC_INVALID_REQUEST, "This is a stream: text/event-stream.");
        return;
    }
    end_listening(s);
    s->out = exchange_stream(x, &(WebStreamHost){.gone = on_listener_gone, .ctx = s});
    s->written = now_of(s->door);
    web_stream_write(s->out, ":\n\n", 3);
    mcp_peer_listens(s->peer, true);
}

void mcp_http_leave(Exchange *x) {
    if (!has_session(x)) return;
    McpSession *s = session_of(x);
    if (!s) return;
    end_session(s);
    exchange_answer(x, 204, json_none());
}

/* ---- every second ---- */

/* A client, and what is between, sees that somebody is there. */
static void keep_alive(McpHttp *h, WebStream *out, uint64_t *written) {
    if (now_of(h) - *written < QUIET_MS) return;
    web_stream_write(out, ":\n\n", 3);
    *written = now_of(h);
}

static void look_at_post(Post *p) {
    McpHttp *h = p->door;
    if (!auth_still(h->server, &p->asker)) {
        if (p->out) web_stream_end(p->out);
        p->out = NULL;
        if (p->exchange) {
            Exchange *x = p->exchange;
            x->post = NULL;
            refuse_message(x, 401, RPC_INVALID_REQUEST, "The token counts no more.");
        }
        drop(p);
    } else if (p->out) {
        keep_alive(h, p->out, &p->written);
    } else if (p->streams && now_of(h) - p->began >= STREAM_MS) {
        begin_stream(p);
    }
}

void mcp_http_look(McpHttp *h) {
    for (Post *p = h->posts, *next; p; p = next) {
        next = p->next;
        look_at_post(p);
    }
    for (McpSession *s = h->sessions, *next; s; s = next) {
        next = s->next;
        bool idle = now_of(h) - s->used > MCP_SESSION_IDLE_S * 1000ULL && !is_at_work(s);
        if (idle || !auth_still(h->server, &s->asker)) {
            end_session(s);
        } else if (s->out) {
            keep_alive(h, s->out, &s->written);
        }
    }
}

/* ---- life ---- */

static bool allows(void *ctx, const Asker *who, const Operation *op, Json args, Error *err) {
    return auth_allows(ctx, who, op, args, err);
}

McpHttp *mcp_http_new(Server *s) {
    McpHttp *h = mem_zalloc(sizeof *h);
    h->server = s;
    h->mcp = mcp_new(&(McpOptions){.loop = s->options.loop,
                                   .client = s->options.client,
                                   .windows = s->windows,
                                   .allows = allows,
                                   .ctx = s});
    return h;
}

void mcp_http_close(McpHttp *h) {
    mcp_close(h->mcp);
    while (h->sessions) end_session(h->sessions);
}

void mcp_http_free(McpHttp *h) {
    if (!h) return;
    while (h->sessions) end_session(h->sessions);
    while (h->posts) {
        Post *p = h->posts;
        if (p->exchange) {
            mcp_http_gone(p->exchange);
        } else {
            drop(p);
        }
    }
    mcp_free(h->mcp);
    mem_free(h);
}
