/* rest.c - an operation by its route: a request becomes arguments, the answer becomes a response.
 *
 * What only reads the store is done on another thread and printed there. What belongs to a run goes where that run is
 * (client.h). What changes a debug session needs a window, which the server is (windows.c). */
#include "server_inside.h"

#include "json_error.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "trace.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 512, PARSED_HERE = 64 << 10 /* bytes of a body */ };

void rest_head(Exchange *x) {
    const Operation *op = route_operation(x->match.route);
    size_t max = x->server->options.max_body ? x->server->options.max_body : BODY_MAX;
    web_body_max(x->request, !strcmp(op->name, "run_import") ? max * BODY_MAX_IMPORT : max);
}

void rest_gone(Exchange *x) {
    x->request = NULL;
}

/* ---- answers ---- */

/* What is told of the same checkpoint is the same, and some things seldom change: whoever has them need not get them again. */
static void set_etag(Exchange *x, const Buf *text) {
    unsigned char hash[EVP_MAX_MD_SIZE];
    const Operation *op = route_operation(x->match.route);
    if (json_is_none(x->args) || op->scope != SCOPE_READ ||
        (!op->lasting && json_is_none(json_object_get_c(x->args, "checkpoint"))) || !text->len) {
        return;
    }
    EVP_Digest(text->data, text->len, hash, NULL, EVP_sha256(), NULL);
    snprintf(x->etag, sizeof x->etag, "\"%02x%02x%02x%02x%02x%02x%02x%02x\"", hash[0], hash[1],
             hash[2], hash[3], hash[4], hash[5], hash[6], hash[7]);
}

static bool is_known(const Exchange *x) {
    const char *has = x->etag[0] ? web_header(x->request, "if-none-match") : NULL;
    return has && strstr(has, x->etag);
}

/* Consumes the answer. */
static void give(Exchange *x, Json answer) {
    const Operation *op = route_operation(x->match.route);
    bool starts = !strcmp(op->name, "run_start"), opens = !strcmp(op->name, "run_open");
    if (starts || opens) {
        const char *thread = json_object_text(answer, "thread");
        x->created = starts;
        if (thread) {
            mem_free(x->thread);
            x->thread = mem_strdup(thread);
        }
        bool listens = events_are_wanted(x, op); /* and lets the run rest where it is paused */
        bool debugs = !json_is_none(json_object_get_c(x->args, "debug"));
        if (thread && (opens || (debugs && !listens))) windows_keep(x->server->windows, thread);
    }
    if (events_are_wanted(x, op) && events_follow(x, answer, false)) return;
    Buf text = BUF_INIT;
    json_print(answer, &(JsonPrintOptions){0}, &text);
    json_unref(answer);
    set_etag(x, &text);
    exchange_answer_text(x, is_known(x) ? 304 : x->created ? 201 : 200, &text);
    buf_clear(&text);
}

/* A run that was begun with this key, or under this name, is there already: that is the answer. */
static void on_again(void *ctx, Json run, const Error *err) {
    Exchange *x = ctx;
    if (!x->request) {
        json_unref(run);
        exchange_free(x);
    } else if (err) {
        exchange_fail(x, err);
    } else if (!events_are_wanted(x, route_operation(x->match.route)) ||
               !events_follow(x, run, true)) {
        exchange_answer(x, 200, run);
    }
}

static void on_reply(void *ctx, Json answer, const Error *err) {
    Exchange *x = ctx;
    if (x->windowed && !x->server->closing)
        windows_done(x->server->windows, x->thread, !err && x->request);
    if (!x->request) {
        json_unref(answer);
        exchange_free(x);
    } else if (err && err->code == ERR_EXISTS && x->key[0]) {
        operation_call(client_host(x->server->options.client), "run_get",
                       OBJECT(KEY("thread", json_ref(json_object_get_c(x->args, "thread")))),
                       (Reply){.give = on_again, .ctx = x});
    } else if (err) {
        exchange_fail(x, err);
    } else {
        give(x, answer);
    }
}

static void on_text(void *ctx, Buf *text) {
    Exchange *x = ctx;
    if (!x->request) {
        exchange_free(x);
        return;
    }
    set_etag(x, text);
    exchange_answer_text(x, is_known(x) ? 304 : 200, text);
}

/* ---- asking ---- */

static void call(Exchange *x) {
    const Operation *op = route_operation(x->match.route);
    Client *client = x->server->options.client;
    const char *by = x->asker.name[0] ? x->asker.name : NULL;
    if (op->read || op->make || !operation_is_of_run(op)) {
        operation_call(
            client_host(client), op->name, json_ref(x->args),
            (Reply){.give = on_reply, .ctx = x, .text = op->read ? on_text : NULL, .by = by});
    } else {
        client_call_for(client, &(ClientCall){op->name, json_ref(x->args), by, on_reply, x});
    }
}

static void on_window(void *ctx, const Error *err) {
    Exchange *x = ctx;
    if (err || !x->request) {
        x->windowed = !err;
        on_reply(x, json_none(), err);
    } else {
        x->windowed = true;
        call(x);
    }
}

/* The same key is the same run, also when the server died between the two: it is in the name of the thread. */
static void name_by_key(Exchange *x) {
    const char *key = web_header(x->request, "idempotency-key");
    unsigned char hash[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    if (!key || !key[0] || !json_is_none(json_object_get_c(x->args, "thread"))) {
        EVP_MD_CTX_free(
            ctx); /* a name of its own is the key already: who asks again hears that it exists */
        return;
    }
    EVP_DigestInit_ex(ctx, EVP_sha256(), NULL);
    EVP_DigestUpdate(ctx, x->asker.name, strlen(x->asker.name) + 1);
    EVP_DigestUpdate(ctx, key, strlen(key));
    EVP_DigestFinal_ex(ctx, hash, NULL);
    EVP_MD_CTX_free(ctx);
    for (int i = 0; i < KEY_DIGITS / 2; i++) snprintf(x->key + 2 * i, 3, "%02x", hash[i]);
    x->args = json_object_with(x->args, "thread", json_string_fmt(KEY_NAME "%s", x->key));
}

/* The trace that whoever asks is in, unless the arguments name one. A header that is none is as good as not there. */
static void take_trace(Exchange *x) {
    const char *parent = web_header(x->request, "traceparent"),
               *state = web_header(x->request, "tracestate");
    TraceContext t;
    if (!parent || !json_is_none(json_object_get_c(x->args, "traceparent"))) return;
    if (!trace_parse(parent, strlen(parent), &t)) {
        server_log(x->server, LEVEL_WARN,
                   "the header traceparent is none of W3C Trace Context, and is ignored",
                   OBJECT(KEY("request", x->id),
                          KEY("traceparent", json_string(parent, strnlen(parent, 64)))));
        return;
    }
    x->args = json_object_with(x->args, "traceparent", json_string_c(parent));
    if (state && trace_state_fits(state, strlen(state))) {
        x->args = json_object_with(x->args, "tracestate", json_string_c(state));
    }
}

static bool has_json(const WebRequest *r) {
    const char *type = web_header(r, "content-type");
    size_t len = type ? strcspn(type, "; \t") : 0;
    return (len == 16 && !strncasecmp(type, "application/json", len)) ||
           (len > 5 && !strncasecmp(type + len - 5, "+json", 5));
}

/* A body that takes long to parse is parsed on another thread. */
typedef struct Reading {
    HostJob job;
    Exchange *x;
    Buf text;
    Json body;
} Reading;

static void parse(HostJob *job, Store *store) {
    Reading *r = (Reading *)job;
    (void)store;
    JsonParseOptions bounds = {
        .max_depth = DEPTH_MAX, .max_bytes = 32 * r->text.len + (1 << 20), .strict = true};
    r->body = json_parse(r->text.data, r->text.len, &bounds, &job->err);
}

static void ask(Exchange *x, Json body);

static void on_parsed(HostJob *job) {
    Reading *r = (Reading *)job;
    Exchange *x = r->x;
    bool fine = !json_is_none(r->body);
    if (!x->request) {
        json_unref(r->body);
        exchange_free(x);
    } else if (fine) {
        ask(x, r->body);
    } else {
        if (job->err.code != ERR_BUSY) {
            if (json_parse_too_deep(&job->err)) job->err.code = ERR_LIMIT;
            error_wrap(&job->err,
                       job->err.code == ERR_LIMIT ? "The body is too much" : "The body is no JSON");
            error_fact(&job->err, "field", "body");
        }
        exchange_fail(x, &job->err);
    }
    buf_clear(&r->text);
    mem_free(r);
}

void rest_request(Exchange *x) {
    size_t len = 0;
    web_body(x->request, &len);
    if (!len) {
        ask(x, json_none());
        return;
    }
    if (!has_json(x->request)) {
        exchange_refuse(x, 415, "not_json", "A body is sent as Content-Type: application/json.");
        return;
    }
    Reading *r = mem_zalloc(sizeof *r);
    *r = (Reading){.job = {.need = HOST_NO_STORE, .work = parse, .done = on_parsed},
                   .x = x,
                   .body = json_none()};
    web_take_body(x->request, &r->text);
    if (len > PARSED_HERE) {
        host_ask(client_host(x->server->options.client), &r->job);
    } else {
        parse(&r->job, NULL);
        on_parsed(&r->job);
    }
}

/* What is called a thread may be the id of a debug session. */
static void find_thread(Exchange *x) {
    Json said = json_object_get_c(x->args, "thread");
    if (json_kind(said) != JSON_STRING) return;
    x->thread = thread_of_id(client_host(x->server->options.client), json_string_data(&said),
                             json_string_len(said));
    if (strcmp(x->thread, json_string_data(&said)) != 0) {
        x->args = json_object_with(x->args, "thread", json_string_c(x->thread));
    }
}

/* Whether who reads logs wants to hear what comes later, too: by Accept, or by `follow` in the query. */
static bool follows_logs(Exchange *x, const Operation *op, bool *follows, Error *err) {
    static const char *const words[] = {"", "true", "1", "false", "0"};
    bool logs = !strcmp(op->name, "run_logs");
    Json said = logs ? json_object_get_c(x->args, "follow") : json_none();
    *follows = logs && events_are_wanted(x, op);
    if (json_is_none(said)) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!json_string_is(said, words[i])) continue;
        *follows = i < 3;
        x->args = json_object_remove(x->args, json_string_c("follow"));
        return true;
    }
    error_set(err, ERR_USAGE, "`follow` of `run_logs` must be true or false.");
    return error_fact(err, "field", "follow");
}

/* The body was read, JSON_NONE: there is none. Consumes it. */
static void ask(Exchange *x, Json body) {
    const Operation *op = route_operation(x->match.route);
    const char *query = strchr(web_target(x->request), '?');
    Error err = ERROR_INIT;
    x->args = route_args(&x->match, query ? query + 1 : NULL, body, &err);
    json_unref(body);
    if (json_is_none(x->args)) {
        exchange_fail(x, &err);
        return;
    }
    x->starts = false; /* it is counted by what lets it in */
    if (!auth_allows(x->server, &x->asker, op, x->args, &err)) {
        exchange_fail(x, &err);
        return;
    }
    x->starts = !strcmp(op->name, "run_start");
    find_thread(x);
    if (x->thread) windows_touch(x->server->windows, x->thread);
    if (!strcmp(op->name, "run_start")) {
        name_by_key(x);
        take_trace(x);
    }
    bool follows = false;
    if (!follows_logs(x, op, &follows, &err) || !operation_check(op, x->args, &err) ||
        (!follows && events_are_wanted(x, op) &&
         !events_listen_is_fine(x, &err))) { /* before a run is taken for it */
        exchange_fail(x, &err);
    } else if (op->stream) {
        events_request(x);
    } else if (follows) {
        logs_request(x);
    } else if (operation_is_of_run(op) && op->scope == SCOPE_DEBUG && x->thread &&
               strcmp(op->name, "run_open") != 0) {
        windows_want(x->server->windows, x->thread, on_window, x);
    } else {
        call(x);
    }
}
