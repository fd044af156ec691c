/* log_follower.c - what the nodes of a run print, as Server-Sent Events: GET /runs/{thread}/logs?follow.
 *
 *     event: log
 *     id: 7
 *     data: {"n": 7, "node": "build", "stream": "stdout", "text": "...", "run": 17, "thread": "t", ...}
 *
 * `id` is the number of a piece in the log of the run, so whoever comes back with it (Last-Event-ID) gets every piece once, over
 * restarts too. Only what the store has is told, in pages of `run_logs`. When a page was the last there is, the store is asked
 * again after a while, soon where something was printed lately. The stream ends with the run; to come back to one that has
 * ended, and of which all was told, is answered with 204. */
#include "server_inside.h"

#include "json_print.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    SOON_MS = 100,
    LATER_MS = 1000,
    SOON_LOOKS = 30,
    HELD_BACK = 1 << 20, /* when so many bytes wait, nothing more is read until they are sent */
    QUIET_MS = 15000,
};

struct LogFollower {
    Server *server;
    LogFollower *prev, *next;
    Exchange *exchange; /* until the headers are sent */
    WebStream *out;     /* NULL: whoever listened has gone */
    Json args;          /* of run_logs */
    Asker asker;
    uv_timer_t *timer;
    uint64_t written; /* when, on the loop's clock */
    unsigned looks;   /* since something was printed */
    bool comes_back;  /* all before `from` was told */
    bool asking, held, over;
};

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static void follower_free(LogFollower *l) {
    if (l->prev) l->prev->next = l->next;
    if (l->next) l->next->prev = l->prev;
    if (l->server->logs == l) l->server->logs = l->next;
    uv_close((uv_handle_t *)l->timer, free_handle);
    json_unref(l->args);
    mem_free(l);
}

static void end_following(LogFollower *l, bool cut) {
    WebStream *out = l->out;
    l->out = NULL;
    l->over = true;
    uv_timer_stop(l->timer);
    if (out) (cut ? web_stream_break : web_stream_end)(out);
    if (!l->asking) follower_free(l);
}

static void on_gone(void *ctx) {
    LogFollower *l = ctx;
    l->out = NULL;
    end_following(l, false);
}

static void write_event(LogFollower *l, const char *name, Json id, Json data) {
    Buf text = BUF_INIT;
    buf_printf(&text, "event: %s\n", name);
    if (json_tag(id) == JSON_TAG_INT) buf_printf(&text, "id: %lld\n", (long long)id.i);
    buf_adds(&text, "data: ");
    json_print(data, &(JsonPrintOptions){0}, &text);
    buf_adds(&text, "\n\n");
    web_stream_write(l->out, text.data, text.len);
    buf_clear(&text);
    json_unref(data);
    l->written = uv_now(l->server->options.loop);
    l->server->events_sent++;
}

/* ---- reading ---- */

static void ask(LogFollower *l);

static void on_timer(uv_timer_t *timer) {
    LogFollower *l = timer->data;
    uint64_t now = uv_now(l->server->options.loop);
    if (!auth_still(l->server, &l->asker)) {
        end_following(l, false);
        return;
    }
    if (now - l->written >= QUIET_MS) {
        web_stream_write(l->out, ":\n\n", 3);
        l->written = now;
    }
    ask(l);
}

static void on_drained(void *ctx) {
    LogFollower *l = ctx;
    if (!l->held) return;
    l->held = false;
    ask(l);
}

static bool has_ended(Json run) {
    static const char *const ends[] = {"completed", "failed", "cancelled"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (json_string_is(json_object_get_c(run, "status"), ends[i])) return true;
    }
    return false;
}

/* The pieces of a page. */
static void tell_page(LogFollower *l, Json page) {
    Json run = json_object_get_c(page, "run"), list = json_object_get_c(page, "logs");
    Json number = json_object_get_c(run, "run"), thread = json_object_get_c(run, "thread");
    Json dropped = json_object_get_c(page, "dropped");
    size_t n = json_array_len(list);
    if (!json_is_none(dropped)) {
        write_event(l, "dropped", json_none(), OBJECT(KEY("bytes", json_ref(dropped))));
    }
    for (size_t i = 0; i < n; i++) {
        Json piece = json_array_get(list, i);
        write_event(l, "log", json_object_get_c(piece, "n"),
                    OBJECT_ADD(json_ref(piece), KEY("run", json_ref(number)),
                               KEY("thread", json_ref(thread))));
    }
    l->looks = n ? 0 : l->looks + 1;
}

/* The headers; false: there is nothing to tell, or nobody to tell it to. */
static bool begin(LogFollower *l, Json page, const Error *err) {
    Exchange *x = l->exchange;
    l->exchange = NULL;
    bool nothing = l->comes_back && !err && has_ended(json_object_get_c(page, "run")) &&
                   !json_array_len(json_object_get_c(page, "logs"));
    if (!x->request) {
        exchange_free(x);
    } else if (err) {
        exchange_fail(x, err);
    } else if (nothing) {
        exchange_answer(x, 204, json_none());
    } else {
        bool head = !strcmp(web_method(x->request), "HEAD");
        l->out =
            exchange_stream(x, &(WebStreamHost){.drained = on_drained, .gone = on_gone, .ctx = l});
        if (!head) web_stream_write(l->out, ":\n\n", 3);
        return !head;
    }
    return false;
}

/* What a page comes to, while the server is there. */
static void take_page(LogFollower *l, Json page, const Error *err) {
    bool closing = l->server->closing;
    if (l->over || (l->exchange && !begin(l, page, err))) {
        end_following(l, closing);
    } else if (err) {
        write_event(l, "problem", json_none(), problem_json(err, problem_status(err)));
        end_following(l, closing);
    } else {
        bool more = json_truthy(json_object_get_c(page, "more"));
        l->args = OBJECT_ADD(json_object_remove(l->args, json_string_c("last")),
                             KEY("from", json_ref(json_object_get_c(page, "next"))));
        tell_page(l, page);
        if (!more && has_ended(json_object_get_c(page, "run"))) {
            end_following(l, false);
        } else if (!more) {
            uv_timer_start(l->timer, on_timer, l->looks < SOON_LOOKS ? SOON_MS : LATER_MS, 0);
        } else if (web_stream_waiting(l->out) > HELD_BACK) {
            l->held = true;
        } else {
            ask(l);
        }
    }
}

static void on_page(void *ctx, Json page, const Error *err) {
    LogFollower *l = ctx;
    Server *s = l->server;
    l->asking = false;
    if (s->web) {
        take_page(l, page, err);
    } else {
        Exchange *x = l->exchange;
        follower_free(l);
        if (x) exchange_free(x);
    }
    json_unref(page);
    s->pending--;
    if (!s->web) server_let_go(s);
}

static void ask(LogFollower *l) {
    l->asking = true;
    l->server->pending++;
    operation_call(client_host(l->server->options.client), "run_logs", json_ref(l->args),
                   (Reply){.give = on_page, .ctx = l});
}

/* ---- a request ---- */

void logs_request(Exchange *x) {
    Server *s = x->server;
    const char *last = web_header(x->request, "last-event-id");
    char *end = NULL;
    long long n = last && last[0] >= '0' && last[0] <= '9' ? strtoll(last, &end, 10) : -1;
    if (last && last[0] && (n < 0 || *end || n >= INT64_MAX / 4)) {
        Error err = ERROR_INIT;
        error_set(&err, ERR_USAGE, "`%.*s` is the id of no event of this stream.", 60, last);
        error_fact(&err, "field", "Last-Event-ID");
        exchange_fail(x, &err);
        return;
    }
    LogFollower *l = mem_zalloc(sizeof *l);
    *l = (LogFollower){.server = s,
                       .next = s->logs,
                       .exchange = x,
                       .args = json_ref(x->args),
                       .asker = x->asker,
                       .timer = mem_zalloc(sizeof *l->timer),
                       .comes_back = n >= 0};
    if (l->next) l->next->prev = l;
    s->logs = l;
    uv_timer_init(s->options.loop, l->timer);
    l->timer->data = l;
    if (n >= 0) {
        l->args = OBJECT_ADD(json_object_remove(l->args, json_string_c("last")),
                             KEY("from", json_int(n + 1)));
    }
    ask(l);
}

void logs_close(Server *s) {
    for (LogFollower *l = s->logs, *next; l; l = next) {
        next = l->next;
        if (!l->exchange) end_following(l, true);
    }
}
