/* server_link.c - operations of a server, each a request by its route. */
#include "server_link.h"

#include "json_build.h"
#include "json_print.h"
#include "mem.h"
#include "route.h"
#include "url.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define API      "/api/v1"
#define LOOPBACK "127.0.0.0/8,::1"

struct ServerCall {
    ServerLink *link;
    ServerCall *prev, *next;
    const Operation *op;
    RouteRequest route;
    Buf body;             /* printed */
    HttpRequest *request; /* NULL: it waits to be made again */
    uv_timer_t *timer;
    uint64_t began;
    int tries;
    ClientAnswer done;
    void *ctx;
};

/* ---- the address ---- */

/* The host of a URL that is known to have one: without a port. */
static size_t host_of(const char *url, const char **host) {
    const char *at = strstr(url, "://") + 3;
    size_t len = strcspn(at, "/");
    *host = at;
    if (*at == '[') return strcspn(at, "]") + (at[strcspn(at, "]")] == ']');
    const char *colon = memchr(at, ':', len);
    return colon ? (size_t)(colon - at) : len;
}

/* localhost is this machine's for libcurl, whatever somebody says of that name. */
static bool is_loopback(const char *url) {
    const char *host;
    size_t len = host_of(url, &host);
    return (len == 9 && !strncasecmp(host, "localhost", 9)) ||
           (len == 5 && !memcmp(host, "[::1]", 5)) ||
           (len > 4 && !memcmp(host, "127.", 4) && strspn(host, "0123456789.") >= len);
}

/* The URL as it is used; NULL with a sentence. */
static char *address_of(const char *given, Error *err) {
    size_t from, len = strlen(given);
    const char *host;
    if (strncasecmp(given, "http://", 7) != 0 && strncasecmp(given, "https://", 8) != 0) {
        error_set(err, ERR_USAGE,
                  "`%.200s` is no address of a server: it begins with http:// or https://, as "
                  "http://127.0.0.1:7295.",
                  given);
        return NULL;
    }
    if (url_secret(given, len, &from)) {
        error_set(err, ERR_USAGE,
                  "The address of a server has no user and no password in it; it is asked with a "
                  "token.");
        return NULL;
    }
    if (given[strcspn(given, "?# ")] || !host_of(given, &host)) {
        error_set(err, ERR_USAGE,
                  "`%.200s` is no address of a server: it has a host and maybe a port and a path, "
                  "as https://pawl.example.org.",
                  given);
        return NULL;
    }
    while (len && given[len - 1] == '/') len--;
    return mem_strndup(given, len);
}

static void on_wake(uv_async_t *async) {
    (void)async;
}

void server_link_wake(ServerLink *link) {
    uv_async_send(link->wake);
}

ServerLink *server_link_new(const ClientOptions *options) {
    ServerLink *link = mem_zalloc(sizeof *link);
    link->loop = options->loop;
    link->wake = mem_zalloc(sizeof *link->wake);
    uv_async_init(link->loop, link->wake, on_wake);
    uv_unref((uv_handle_t *)link->wake);
    link->url = address_of(options->server, &link->broken);
    if (!link->url) return link;
    bool plain = !strncasecmp(link->url, "http://", 7), near = is_loopback(link->url);
    if (options->token && plain && !near && !options->plain) {
        error_set(&link->broken, ERR_USAGE,
                  "The token is not sent to %s: whoever is on the way could read it, since that is "
                  "plain http.",
                  link->url);
        error_fact(&link->broken, "server", link->url);
        error_fact(&link->broken, "plain", link->url);
        return link;
    }
    if (plain && near) link->nets = net_policy_parse(LOOPBACK, NULL);
    if (options->token) {
        Buf line = BUF_INIT;
        buf_printf(&line, "Bearer %s", options->token);
        link->authorization = buf_detach(&line);
    }
    link->ca_file = mem_strdup(options->ca_file);
    link->http = http_client_new(link->loop, &link->broken);
    return link;
}

/* ---- requests ---- */

HttpRequest *server_link_send(ServerLink *link, HttpOptions *options, Error *err) {
    enum { HEADERS = 8 };
    HttpHeader headers[HEADERS];
    const NetPolicy *nets = link->nets;
    size_t n = 0;
    Buf url = BUF_INIT;
    assert(options->nheaders + 2 <= HEADERS);
    for (size_t i = 0; i < options->nheaders; i++) headers[n++] = options->headers[i];
    if (options->body) headers[n++] = (HttpHeader){"Content-Type", "application/json"};
    if (link->authorization) headers[n++] = (HttpHeader){"Authorization", link->authorization};
    buf_printf(&url, "%s" API "%s", link->url, options->url);
    options->url = url.data;
    options->headers = headers;
    options->nheaders = n;
    options->ca_file = link->ca_file;
    options->nets = nets ? &nets : NULL;
    options->nnets = nets != NULL;
    HttpRequest *request = http_start(link->http, options, err);
    buf_clear(&url);
    return request;
}

uint64_t server_link_pause(int tries) {
    uint64_t ms = LINK_AGAIN_MS;
    while (tries-- > 1 && ms < LINK_AGAIN_MAX_MS) ms *= 2;
    return ms < LINK_AGAIN_MAX_MS ? ms : LINK_AGAIN_MAX_MS;
}

/* ---- calls ---- */

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static void call_free(ServerCall *call) {
    if (call->prev) call->prev->next = call->next;
    if (call->next) call->next->prev = call->prev;
    if (call->link->calls == call) call->link->calls = call->next;
    if (call->timer) uv_close((uv_handle_t *)call->timer, free_handle);
    buf_clear(&call->route.target);
    json_unref(call->route.body);
    buf_clear(&call->body);
    mem_free(call);
}

static void give(ServerCall *call, Json answer, const Error *err) {
    ClientAnswer done = call->done;
    void *ctx = call->ctx;
    call_free(call);
    done(ctx, answer, json_is_none(answer) ? err : NULL);
}

static void send_call(ServerCall *call);

static void on_again(uv_timer_t *timer) {
    send_call(timer->data);
}

/* Whether it is worth another try, and safe. */
static bool may_try_again(const ServerCall *call, const HttpAnswer *answer) {
    uint64_t gone = uv_now(call->link->loop) - call->began;
    bool broke = answer->end == HTTP_UNREACHED && call->op->idempotent;
    bool too_many = answer->end == HTTP_ANSWERED && answer->status == 429;
    return (server_is_away(answer) || broke) && (call->link->reached || too_many) &&
           gone < LINK_AWAY_MS;
}

static void on_end(void *ctx, const HttpAnswer *answer) {
    ServerCall *call = ctx;
    Error err = ERROR_INIT;
    call->request = NULL;
    server_link_wake(call->link);
    if (may_try_again(call, answer)) {
        if (!call->timer) {
            call->timer = mem_zalloc(sizeof *call->timer);
            uv_timer_init(call->link->loop, call->timer);
            call->timer->data = call;
        }
        uv_timer_start(call->timer, on_again, server_link_pause(++call->tries), 0);
        return;
    }
    call->link->reached |= answer->end == HTTP_ANSWERED;
    Json value = server_answer_read(call->link, answer, &err);
    give(call, value, &err);
}

static void send_call(ServerCall *call) {
    Error err = ERROR_INIT;
    bool of_run = operation_is_of_run(call->op);
    HttpOptions options = {.method = call->route.method,
                           .url = call->route.target.data,
                           .body = call->body.data,
                           .body_len = call->body.len,
                           .timeout_ms = of_run ? CLIENT_CALL_MS : LINK_LONG_MS,
                           .max_response = LINK_ANSWER_MAX,
                           .on_end = on_end,
                           .ctx = call};
    call->request = server_link_send(call->link, &options, &err);
    if (!call->request) give(call, json_none(), &err);
}

/* Why it cannot be asked; the row may have a better reason than the path. */
static bool no_route(const Operation *op, Error *err) {
    if (!op->route) return error_set(err, ERR_USAGE, "`%s` cannot be asked of a server.", op->name);
    return error_set(err, ERR_USAGE, "`%s` needs what stands in its path: %s.", op->name,
                     op->route);
}

void server_link_call(ServerLink *link, const char *operation, Json args, Json listen,
                      ClientAnswer done, void *ctx) {
    Error err = ERROR_INIT;
    const Operation *op = operation_find(operation, &err);
    RouteRequest route = {.body = json_none()};
    args = json_is_none(args) ? json_object() : args;
    bool ok = op && operation_check(op, args, &err);
    if (ok && link->broken.code != ERR_NONE) {
        err = link->broken;
        ok = false;
    }
    if (ok && op->stream) {
        ok = error_set(&err, ERR_USAGE,
                       "`%s` tells events, so it is subscribed to instead of called.", operation);
    }
    ok = ok && (route_request(op, args, &route) || no_route(op, &err));
    json_unref(args);
    uv_update_time(link->loop);
    if (ok && !json_is_none(listen)) {
        server_events_begin(link, &(ServerBegin){route.target.data, route.body, listen, done, ctx});
    } else if (ok) {
        ServerCall *call = mem_zalloc(sizeof *call);
        *call = (ServerCall){.link = link,
                             .next = link->calls,
                             .op = op,
                             .route = route,
                             .began = uv_now(link->loop),
                             .done = done,
                             .ctx = ctx};
        if (call->next) call->next->prev = call;
        link->calls = call;
        if (!json_is_none(route.body)) json_print(route.body, &(JsonPrintOptions){0}, &call->body);
        send_call(call);
        json_unref(listen);
        return;
    }
    buf_clear(&route.target);
    json_unref(route.body);
    json_unref(listen);
    if (!ok) done(ctx, json_none(), &err);
}

/* ---- the end ---- */

void server_link_free(ServerLink *link) {
    Error gone = ERROR_INIT;
    if (!link) return;
    error_set(&gone, ERR_CANCELLED, "The connection was closed.");
    while (link->calls) {
        http_cancel(link->calls->request);
        give(link->calls, json_none(), &gone);
    }
    server_events_close(link, &gone);
    http_client_free(link->http);
    uv_close((uv_handle_t *)link->wake, free_handle);
    net_policy_free(link->nets);
    if (link->authorization) explicit_bzero(link->authorization, strlen(link->authorization));
    mem_free(link->authorization);
    mem_free(link->ca_file);
    mem_free(link->url);
    mem_free(link);
}
