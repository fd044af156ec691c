/* server.c - who has come, and for what.
 *
 * A request is an Exchange from when its headers are there until it is answered. First it is looked whether it may be asked at
 * all (auth.c); then it goes to a route of the table (rest.c), to one of the few that are the server's own, or to the page
 * (page.h). */
#include "server_inside.h"

#include "json_parse.h"
#include "json_print.h"
#include "mcp_http.h"
#include "mem.h"
#include "page.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum {
    LOOK_MS = 1000,
    READY_MS = 1000,
    MEMORY_LOOKS = 5,
    MEMORY_LOOKS_MAX = 80,
    MEMORY_SPARE = 64 << 20 /* bytes */
};

/* ---- answers ---- */

void server_log(Server *s, ServerLevel level, const char *message, Json fields) {
    const ServerLog *log = &s->options.log;
    if (log->write && level <= log->level) log->write(log->ctx, level, message, fields);
    json_unref(fields);
}

void server_let_go(Server *s) {
    if (s->web || s->exchanges || s->pending) return;
    mem_free(s->ready_why);
    mem_free(s);
}

void exchange_free(Exchange *x) {
    Server *s = x->server;
    if (x->request) web_request_set_data(x->request, NULL);
    if (x->prev) x->prev->next = x->next;
    if (x->next) x->next->prev = x->prev;
    if (s->exchanges == x) s->exchanges = x->next;
    json_unref(x->args);
    mem_free(x->thread);
    mem_free(x);
    if (!s->web) server_let_go(s);
}

/* The log line and the counts of a request. What was asked for is in it without the query, which may hold what somebody
 * typed. */
void exchange_note(Exchange *x, int status) {
    Server *s = x->server;
    ServerLevel level = status >= 500 ? LEVEL_ERROR : LEVEL_INFO;
    int class = status / 100;
    s->answered[class < STATUS_CLASSES ? class : STATUS_CLASSES - 1]++;
    if (!s->options.log.write || level > s->options.log.level) return;
    const char *target = web_target(x->request);
    size_t path = strcspn(target, "?");
    enum { PATH_SHOWN = 400 };
    server_log(s, level, "request",
               OBJECT(KEY("request", (const char *)x->id), KEY("method", web_method(x->request)),
                      KEY("path", json_string(target, path > PATH_SHOWN ? PATH_SHOWN : path)),
                      KEY("status", json_int(status)),
                      KEY("ms", (double)(uv_hrtime() - x->began) / 1e6),
                      KEY("token", x->asker.name[0] ? (const char *)x->asker.name : NULL),
                      KEY("peer", web_peer(x->request))));
}

/* Takes the text's bytes; frees the exchange. */
static void respond(Exchange *x, int status, const char *type, Buf *text) {
    char location[400] = "";
    WebField fields[10];
    size_t n = 0;
    fields[n++] = (WebField){"X-Request-Id", x->id};
    fields[n++] = (WebField){"X-Content-Type-Options", "nosniff"};
    fields[n++] = (WebField){"Cache-Control", x->etag[0] ? "private, max-age=0" : "no-store"};
    if (x->etag[0]) fields[n++] = (WebField){"ETag", x->etag};
    if (x->session[0]) fields[n++] = (WebField){"Mcp-Session-Id", x->session};
    if (status == 401) fields[n++] = (WebField){"WWW-Authenticate", "Bearer"};
    if (status == 429) fields[n++] = (WebField){"Retry-After", "1"};
    if (status == 405 && x->match.allowed[0]) {
        fields[n++] = (WebField){"Allow", x->match.allowed};
    }
    if (status == 201 && x->thread) {
        size_t at = (size_t)snprintf(location, sizeof location, "/api/v1/runs/");
        for (const char *c = x->thread; *c && at + 4 < sizeof location; c++) {
            bool plain =
                strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~", *c) !=
                NULL;
            at += (size_t)snprintf(location + at, sizeof location - at, plain ? "%c" : "%%%02X",
                                   (unsigned char)*c);
        }
        fields[n++] = (WebField){"Location", location};
    }
    fields[n] = (WebField){NULL, NULL};
    bool empty = status == 204 || status == 304 || !text->len;
    WebAnswer answer = {.status = status, .type = empty ? NULL : type, .fields = fields};
    WebRequest *r = x->request;
    exchange_note(x, status);
    web_request_set_data(r, NULL);
    if (status == 204 || status == 304) buf_reset(text);
    web_answer(r, &answer, text);
    x->request = NULL;
    exchange_free(x);
}

void exchange_answer_text(Exchange *x, int status, Buf *text) {
    if (text->len) buf_addc(text, '\n');
    respond(x, status, "application/json", text);
}

void exchange_answer(Exchange *x, int status, Json value) {
    Buf text = BUF_INIT;
    if (!json_is_none(value)) json_print(value, &(JsonPrintOptions){0}, &text);
    json_unref(value);
    exchange_answer_text(x, status, &text);
    buf_clear(&text);
}

WebStream *exchange_stream(Exchange *x, const WebStreamHost *host) {
    static const WebField fields[] = {
        {"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}, {NULL, NULL}};
    WebAnswer answer = {.status = 200, .type = "text/event-stream", .fields = fields};
    WebRequest *r = x->request;
    exchange_note(x, 200);
    web_request_set_data(r, NULL);
    WebStream *out = web_stream(r, &answer, host);
    exchange_free(x);
    return out;
}

static void send_problem(Exchange *x, int status, Json problem) {
    Buf text = BUF_INIT;
    json_print(problem, &(JsonPrintOptions){0}, &text);
    buf_addc(&text, '\n');
    json_unref(problem);
    respond(x, status, "application/problem+json", &text);
    buf_clear(&text);
}

void exchange_fail(Exchange *x, const Error *err) {
    int status = problem_status(err);
    if (status >= 500) {
        server_log(x->server, LEVEL_ERROR, "failed",
                   OBJECT(KEY("request", (const char *)x->id), KEY("error", err->msg)));
    }
    send_problem(x, status, problem_json(err, status));
}

void exchange_refuse(Exchange *x, int status, const char *code, const char *fmt, ...) {
    Error err = ERROR_INIT;
    va_list args;
    va_start(args, fmt);
    error_vset_at(&err, ERR_USAGE, 0, 0, fmt, args);
    va_end(args);
    send_problem(x, status, OBJECT_ADD(problem_json(&err, status), KEY("code", code)));
}

/* ---- routes of the server's own ---- */

static void answer_text(Exchange *x, const char *type, Buf *text) {
    respond(x, 200, type, text);
    buf_clear(text);
}

static void health(Exchange *x) {
    exchange_answer(x, 200, OBJECT(KEY("status", "ok")));
}

/* Ready for requests: the store can be read. Anybody may ask that, so it is looked at once a second at most, and those who ask
 * meanwhile hear what was found. */
static void say_ready(Exchange *x) {
    const Server *s = x->server;
    if (!x->request) {
        exchange_free(x);
    } else if (s->ready_why || s->closing) {
        exchange_refuse(x, 503, "not_ready", "%s",
                        s->ready_why ? s->ready_why : "The server is stopping.");
    } else {
        exchange_answer(x, 200, OBJECT(KEY("status", "ready")));
    }
}

static void on_store(void *ctx, Json answer, const Error *err) {
    Server *s = ctx;
    json_unref(answer);
    mem_free(s->ready_why);
    s->ready_why = err ? mem_strdup(err->msg) : NULL;
    s->ready_at = uv_now(s->options.loop);
    s->ready_asked = false;
    s->pending++; /* the last that is answered does not free it */
    for (Exchange *x = s->exchanges, *next; x; x = next) {
        next = x->next;
        if (x->asks_ready) say_ready(x);
    }
    s->pending -= 2;
    server_let_go(s);
}

static void ready(Exchange *x) {
    Server *s = x->server;
    if (s->ready_at && uv_now(s->options.loop) < s->ready_at + READY_MS) {
        say_ready(x);
        return;
    }
    x->asks_ready = true;
    if (s->ready_asked) return;
    s->ready_asked = true;
    s->pending++;
    operation_call(client_host(s->options.client), "runs", OBJECT(KEY("limit", json_int(1))),
                   (Reply){.give = on_store, .ctx = s});
}

static void metrics(Exchange *x) {
    Buf text = BUF_INIT;
    metrics_text(x->server, &text);
    answer_text(x, "text/plain; version=0.0.4; charset=utf-8", &text);
}

static void openapi(Exchange *x) {
    exchange_answer(x, 200, server_openapi());
}

static void about(Exchange *x) {
    exchange_answer(x, 200, server_json(x->server, &x->asker));
}

static void talk(Exchange *x) {
    if (talk_is_wanted(x)) {
        talk_begin(x);
    } else {
        exchange_refuse(x, 426, "upgrade", "This is a WebSocket: connect to it as one.");
    }
}

/* api: the path is behind /api/v1. open: whoever reaches the port may ask. body: it is told with its body. Each needs the
 * scope `read` unless it is open; what a message of an assistant asks for is looked at by its operation. */
static const struct OwnRoute {
    const char *method, *path;
    bool api, open, body;
    void (*answer)(Exchange *x);
    const char *methods; /* of the path; NULL: this one */
} own_routes[] = {
    {"GET", "/healthz", false, true, false, health, NULL},
    {"GET", "/readyz", false, true, false, ready, NULL},
    {"GET", "/metrics", false, false, false, metrics, NULL},
    {"GET", "/openapi.json", true, false, false, openapi, NULL},
    {"GET", "/server", true, false, false, about, NULL},
    {"GET", "/ws", true, false, false, talk, NULL},
    {"POST", "/sign-in", true, true, true, auth_sign_in, NULL},
    {"POST", "/sign-out", true, true, false, auth_sign_out, NULL},
    {"POST", "/mcp", false, false, true, mcp_http_post, "POST, GET, DELETE"},
    {"GET", "/mcp", false, false, false, mcp_http_listen, "POST, GET, DELETE"},
    {"DELETE", "/mcp", false, false, false, mcp_http_leave, "POST, GET, DELETE"},
};

/* known: the methods that the path takes, NULL: there is no such path. */
static const struct OwnRoute *find_own(const char *method, const char *path, size_t len, bool api,
                                       const char **known) {
    *known = NULL;
    for (size_t i = 0; i < sizeof own_routes / sizeof *own_routes; i++) {
        const struct OwnRoute *r = &own_routes[i];
        if (r->api != api || strlen(r->path) != len || memcmp(r->path, path, len) != 0) continue;
        *known = r->methods ? r->methods : r->method;
        if (!strcmp(r->method, method)) return r;
    }
    return NULL;
}

/* ---- who has come ---- */

/* HEAD is GET without the body, which the connection leaves out. */
static const char *method_of(const Exchange *x) {
    const char *method = web_method(x->request);
    return !strcmp(method, "HEAD") ? "GET" : method;
}

static void options(Exchange *x, const char *allowed) {
    Buf none = BUF_INIT;
    WebField fields[] = {{"Allow", allowed}, {NULL, NULL}};
    WebRequest *r = x->request;
    exchange_note(x, 204);
    web_request_set_data(r, NULL);
    web_answer(r, &(WebAnswer){.status = 204, .fields = fields}, &none);
    x->request = NULL;
    exchange_free(x);
}

/* A path that no operation has with this method. */
static void no_route(Exchange *x, const char *path, size_t len) {
    if (x->match.allowed[0] && !strcmp(method_of(x), "OPTIONS")) {
        options(x, x->match.allowed);
    } else if (x->match.allowed[0]) {
        exchange_refuse(x, 405, "method", "There is nothing to %s at this path; it takes %s.",
                        web_method(x->request), x->match.allowed);
    } else {
        exchange_refuse(x, 404, "not_found",
                        "There is nothing at `%.*s`; GET /api/v1/openapi.json lists what there is.",
                        len > 100 ? 100 : (int)len, path);
    }
}

/* The part of the path that names a run, of /debug/ID. */
static bool is_debug(const char *path, size_t len) {
    return len > 7 && !strncmp(path, "/debug/", 7) && !memchr(path + 7, '/', len - 7);
}

static void begin_debug_talk(Exchange *x, const char *path, size_t len) {
    RouteMatch match = route_find("GET", path, len);
    Error err = ERROR_INIT;
    Json args = match.route ? route_args(&match, NULL, json_none(), &err) : json_none();
    Json thread = json_is_none(args) ? args : json_object_get_c(args, "thread");
    if (json_kind(thread) != JSON_STRING) {
        exchange_fail(x, &err);
    } else if (x->asker.scope < SCOPE_DEBUG) {
        exchange_refuse(x, 403, "forbidden", "Debugging needs a token with the scope `debug`.");
    } else {
        x->thread = thread_of_id(client_host(x->server->options.client), json_string_data(&thread),
                                 json_string_len(thread));
        x->args = json_ref(thread); /* as it was called */
        talk_begin(x);
    }
    json_unref(args);
}

/* What needs no body. It may be answered, and gone, when this returns. */
static void answer_own(Exchange *x, const struct OwnRoute *own) {
    x->asked = true;
    own->answer(x);
}

/* The first step: whether it may be asked, and which route it is. */
static void on_head(void *ctx, WebRequest *r) {
    Server *s = ctx;
    Exchange *x = mem_zalloc(sizeof *x);
    *x = (Exchange){
        .server = s, .next = s->exchanges, .request = r, .args = json_none(), .began = uv_hrtime()};
    if (x->next) x->next->prev = x;
    s->exchanges = x;
    snprintf(x->id, sizeof x->id, "%llx-%llu", (long long)(s->started & 0xffffffff),
             (unsigned long long)++s->last_request);
    web_request_set_data(r, x);
    if (!auth_check_place(x)) return;

    const char *target = web_target(r), *path = api_path(target);
    const char *known;
    bool api = path != NULL;
    path = api ? path : target;
    size_t len = strcspn(path, "?");
    const struct OwnRoute *own = x->own = find_own(method_of(x), path, len, api, &known);
    if (own && own->open) {
        if (!own->body) answer_own(x, own);
        return;
    }
    bool debug = is_debug(path, len) && talk_is_wanted(x);
    if (!api && !own && !debug) {
        if (known) snprintf(x->match.allowed, sizeof x->match.allowed, "%s", known);
        if (known || !page_answer(x, path, len)) no_route(x, path, len);
        return;
    }
    if (!auth_find(x) || !auth_check_rate(x)) return;
    if (s->closing) {
        exchange_refuse(x, 503, "stopping", "The server is stopping.");
    } else if (debug) {
        begin_debug_talk(x, path, len);
    } else if (own && own->body) {
        web_body_max(r, s->options.max_body);
    } else if (own) {
        answer_own(x, own);
    } else {
        x->match = route_find(method_of(x), path, len);
        if (known && !x->match.route) {
            snprintf(x->match.allowed, sizeof x->match.allowed, "%s", known);
        }
        if (x->match.route) {
            rest_head(x);
        } else {
            no_route(x, path, len);
        }
    }
}

static void on_request(void *ctx, WebRequest *r) {
    Exchange *x = web_request_data(r);
    (void)ctx;
    if (x->asked) return; /* its answer is on the way */
    x->asked = true;
    if (x->match.route) {
        Error err = ERROR_INIT;
        if (auth_has_room(x->server, route_operation(x->match.route), &err)) {
            x->starts = !strcmp(route_operation(x->match.route)->name, "run_start");
            rest_request(x);
        } else {
            exchange_refuse(x, 429, "too_many", "%s", err.msg);
        }
        return;
    }
    if (!x->own || !x->own->body)
        return; /* it is being answered, as /readyz is from another thread */
    if (x->own->open && !auth_check_rate(x)) return;
    x->own->answer(x);
}

/* What is still under way for it comes to nothing. */
static void on_gone(void *ctx, WebRequest *r) {
    Exchange *x = web_request_data(r);
    (void)ctx;
    if (!x) return;
    if (x->post) {
        mcp_http_gone(x);
    } else if (!x->asked) {
        x->request = NULL;
        exchange_free(x);
    } else {
        rest_gone(x);
    }
}

/* ---- life ---- */

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

/* ---- memory ---- */

/* What was freed stays with the process, for it may be wanted again: after one answer of a gigabyte that is a gigabyte. So
 * while much more is resident than was at least, what is free goes back to the system, from another thread: in a few
 * seconds, and later again and again, more and more seldom, since that may still have been in use. */
static void give_back(HostJob *job, Store *store) {
    (void)job, (void)store;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

static void on_given_back(HostJob *job) {
    Server *s = (Server *)((char *)job - offsetof(Server, trim));
    s->pending--;
    s->trimming = false;
    if (!s->web) server_let_go(s);
}

static void look_at_memory(Server *s) {
    size_t now = 0;
    if (s->trimming || s->closing || (s->memory_wait && --s->memory_wait)) return;
    uv_resident_set_memory(&now);
    if (now < s->resident) s->resident = now;
    bool much = now > s->resident + s->resident / 2 + MEMORY_SPARE;
    s->memory_looks = !much                                ? MEMORY_LOOKS
                      : s->memory_looks < MEMORY_LOOKS_MAX ? 2 * s->memory_looks
                                                           : MEMORY_LOOKS_MAX;
    s->memory_wait = s->memory_looks;
    if (much) {
        s->trimming = true;
        s->pending++;
        s->trim = (HostJob){.need = HOST_NO_STORE, .work = give_back, .done = on_given_back};
        host_ask(client_host(s->options.client), &s->trim);
    }
}

static void on_look(uv_timer_t *timer) {
    Server *s = timer->data;
    uint64_t now = uv_hrtime() / 1000000;
    s->lag_ms = s->looked && now > s->looked + LOOK_MS ? (double)(now - s->looked - LOOK_MS) : 0;
    s->looked = now;
    events_look(s);
    talks_look(s);
    mcp_http_look(s->mcp);
    look_at_memory(s);
}

/* As when the disk is full. Requests open it anew; runs go on once it can be written again. */
static void on_store_failed(void *ctx, const Error *err) {
    Server *s = ctx;
    server_log(s, LEVEL_ERROR, "the store takes no more; runs go on when it does again",
               OBJECT(KEY("error", err->msg)));
    orphans_store_failed(s->orphans);
}

Server *server_new(const ServerOptions *options, Error *err) {
    Server *s = mem_zalloc(sizeof *s);
    uv_timeval64_t now;
    Host *host = client_host(options->client);
    uv_gettimeofday(&now);
    s->options = *options;
#define FILL(name, usual) s->options.name = s->options.name ? s->options.name : (usual)
    FILL(max_body, BODY_MAX);
    FILL(max_connections, CONNECTIONS_MAX);
    FILL(max_connections_each, CONNECTIONS_EACH_MAX);
    FILL(max_runs, RUNS_MAX);
    FILL(rate, RATE);
#undef FILL
    s->started = now.tv_sec * 1000 + now.tv_usec / 1000;
    WebServerOptions web = {.loop = options->loop,
                            .tls_cert = options->tls_cert,
                            .tls_key = options->tls_key,
                            .local = !options->auth,
                            .limits = {.connections = s->options.max_connections,
                                       .connections_each = s->options.max_connections_each,
                                       .trusts_local = true,
                                       .message = s->options.max_body},
                            .head = on_head,
                            .request = on_request,
                            .gone = on_gone,
                            .ctx = s};
    const char *folder = NULL;
    bool ok = host_store(host, HOST_CREATES, err) && (folder = host_store_folder(host, err));
    s->web = ok ? web_server_new(&web, err) : NULL;
    if (!s->web) {
        mem_free(s);
        return NULL;
    }
    size_t n = 0;
    while (options->hosts && options->hosts[n]) n++;
    if (n) {
        s->hosts = mem_zalloc((n + 1) * sizeof *s->hosts);
        for (size_t i = 0; i < n; i++) s->hosts[i] = mem_strdup(options->hosts[i]);
    }
    if (options->auth) s->tokens = token_set_new(folder);
    s->windows = windows_new(options->loop, options->client);
    s->orphans = orphans_new(s);
    s->mcp = mcp_http_new(s);
    host_recover(host, on_store_failed, s);
    s->look = mem_zalloc(sizeof *s->look);
    uv_timer_init(options->loop, s->look);
    s->look->data = s;
    uv_resident_set_memory(&s->resident);
    uv_timer_start(s->look, on_look, LOOK_MS, LOOK_MS);
    uv_unref((uv_handle_t *)s->look);
    return s;
}

/* Whoever asks may do everything here, so nobody else may reach it. */
static void explain_address(Error *err) {
    if (!err || err->code != ERR_FORBIDDEN) return;
    const Error said = *err;
    err->code = ERR_USAGE;
    snprintf(err->msg, sizeof err->msg,
             "%.*s, and no token is needed: anybody could run commands here.",
             (int)strlen(said.msg) - 1, said.msg);
}

int server_listen(Server *s, const char *address, Error *err) {
    int port = web_server_listen(s->web, address, err);
    if (!port) explain_address(err);
    return port;
}

bool server_listen_fd(Server *s, int fd, Error *err) {
    bool listens = web_server_listen_fd(s->web, fd, err);
    if (!listens) explain_address(err);
    return listens;
}

bool server_renew_tls(Server *s, Error *err) {
    return web_server_renew_tls(s->web, err);
}

static void on_web_closed(void *ctx) {
    Server *s = ctx;
    void (*closed)(void *) = s->closed;
    void *closed_ctx = s->closed_ctx;
    for (char **h = s->hosts; h && *h; h++) mem_free(*h);
    mem_free(s->hosts);
    while (s->streams) event_stream_end(s->streams);
    mcp_http_free(s->mcp);
    for (Exchange *x = s->exchanges; x; x = x->next) x->request = NULL;
    windows_free(s->windows);
    host_recover(client_host(s->options.client), NULL, NULL);
    orphans_free(s->orphans);
    token_set_free(s->tokens);
    rates_free(s->rates);
    uv_close((uv_handle_t *)s->look, free_handle);
    s->web = NULL;
    server_let_go(s);
    closed(closed_ctx);
}

void server_close(Server *s, void (*closed)(void *ctx), void *ctx) {
    s->closing = true;
    s->closed = closed;
    s->closed_ctx = ctx;
    events_close(s);
    logs_close(s);
    mcp_http_close(s->mcp);
    web_server_close(s->web, GRACE_MS, on_web_closed, s);
}
