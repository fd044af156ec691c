/* server_events.c - what happens to a run on a server, as Server-Sent Events.
 *
 * A stream is a request whose answer does not end. The data of each message is the event itself, as subscription.h has it
 * (the header Pawl-Client asks for that); its id is where to go on when the connection breaks:
 *
 *     told        the run settled, or the session ended: that was all
 *     broken      the stream waits a little, connects again with the last id, and goes on telling
 *     away        for too long, or refused: the listener is told why
 *
 * A run that settles says so in its last event; the server keeps the stream open for what may come, and whoever listens
 * here has heard all there is. So `settled` is always among the types that are asked for.
 *
 * A run that is to begin is a stream, too (server_events_begin()): its first message is the answer of the operation, and
 * what the run does follows on the same connection, so nothing is missed between the two. Whoever asks for the events of
 * that run from inside of the answer gets this stream; when nobody does it is ended. */
#include "server_link.h"

#include "json_build.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "route.h"
#include "sse.h"

#include <limits.h>
#include <string.h>

enum { PROBLEM_MAX = 1 << 20 };

struct ServerEvents {
    ServerLink *link;
    ServerEvents *prev, *next;
    ClientListener listener;
    Json args;   /* of run_events, without these two */
    Json types;  /* that were asked for; JSON_NONE: all */
    Json from;   /* until the first id came */
    char *last;  /* id; NULL: none came yet */
    bool attach; /* told as a debugger */
    HttpRequest *request;
    SseReader reader;
    Buf body;          /* of an answer that is no stream */
    uv_timer_t *timer; /* silence, or the wait before the next try */
    uint64_t lost;     /* when the connection broke, in the time of the loop; 0: it stands */
    int tries;
    bool opened;       /* it has stood once */
    bool streaming;    /* what comes on this connection is the stream */
    bool session_over; /* and that was told */
    bool settled;
    bool over, ended; /* the listener was told so; nobody listens any more */
    int busy;         /* in what the listener is told */
    /* A run that is to begin, until its answer has come. */
    ClientAnswer done;
    void *ctx;
    bool unclaimed; /* it has come, and nobody has asked for the events yet */
};

static void connect_again(ServerEvents *v);

/* ---- life ---- */

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static void events_free(ServerEvents *v) {
    if (v->prev) v->prev->next = v->next;
    if (v->next) v->next->prev = v->prev;
    if (v->link->streams == v) v->link->streams = v->next;
    http_cancel(v->request);
    uv_close((uv_handle_t *)v->timer, free_handle);
    json_unref(v->args);
    json_unref(v->types);
    json_unref(v->from);
    mem_free(v->last);
    sse_clear(&v->reader);
    buf_clear(&v->body);
    mem_free(v);
}

/* What the listener is told may end the stream, which is seen when it has returned. */
static bool still_there(ServerEvents *v) {
    if (--v->busy || !v->ended) return !v->ended;
    events_free(v);
    return false;
}

static void tell_over(ServerEvents *v, const Error *why) {
    v->over = true;
    uv_timer_stop(v->timer);
    http_cancel(v->request);
    v->request = NULL;
    v->busy++;
    v->listener.over(v->listener.ctx, why && why->code != ERR_NONE ? why : NULL);
    still_there(v);
}

void server_events_end(ServerEvents *v) {
    if (!v) return;
    v->ended = true;
    if (!v->busy) events_free(v);
}

/* ---- what is told ---- */

static bool is_event(Json event, const char *name) {
    return json_string_is(json_object_get_c(event, "event"), name);
}

/* `settled` is asked for in any case. */
static bool is_wanted(const ServerEvents *v, Json event) {
    bool wanted = json_is_none(v->types) || v->attach || !is_event(event, "settled");
    for (size_t i = 0; !wanted && i < json_array_len(v->types); i++) {
        wanted = json_string_is(json_array_get(v->types, i), "settled");
    }
    return wanted;
}

/* The answer of what began the run. */
static bool take_begun(ServerEvents *v, const SseMessage *message) {
    Error err = ERROR_INIT;
    ClientAnswer done = v->done;
    Json answer = server_body_read(v->link, 200, message->data, message->len, &err);
    Json thread = json_is_none(answer) ? answer : json_object_get_c(answer, "thread");
    v->done = NULL;
    v->unclaimed = true;
    Json head = json_is_none(answer) ? answer : json_object_get_c(answer, "checkpoint");
    v->args = OBJECT_ADD(v->args, KEY("thread", json_ref(thread)));
    v->from = json_int(json_tag(head) == JSON_TAG_INT ? 2 * head.i : 0);
    done(v->ctx, answer, json_is_none(answer) ? &err : NULL);
    v->ended = v->ended || v->unclaimed;
    return !v->ended;
}

/* False: nothing more is read of this connection. */
static bool on_message(void *ctx, const SseMessage *message) {
    ServerEvents *v = ctx;
    if (v->done) return take_begun(v, message);
    Json event = json_parse(message->data, message->len, NULL, NULL);
    if (message->id[0] && (!v->last || strcmp(v->last, message->id) != 0)) {
        mem_free(v->last);
        v->last = mem_strdup(message->id);
    }
    if (json_kind(event) != JSON_OBJECT) {
        json_unref(event);
        return true;
    }
    bool settled = is_event(event, "settled");
    if (is_event(event, "session")) {
        v->session_over = !json_string_is(json_object_get_c(event, "status"), "attached");
    }
    v->settled = settled && !v->attach && !json_is_none(json_object_get_c(v->args, "thread"));
    if (!is_event(event, "dropped") && is_wanted(v, event)) {
        v->listener.event(v->listener.ctx, event);
    } else {
        json_unref(event);
    }
    return !v->ended && !v->settled;
}

static void on_silence(uv_timer_t *timer);

static bool on_body(void *ctx, int status, const char *bytes, size_t len) {
    ServerEvents *v = ctx;
    server_link_wake(v->link);
    v->streaming = v->streaming || (status == 200 && !v->body.len && len && bytes[0] != '{');
    if (!v->streaming) {
        if (v->body.len < PROBLEM_MAX) buf_add(&v->body, bytes, len);
        return true;
    }
    v->lost = 0;
    v->tries = 0;
    v->opened = v->link->reached = true;
    uv_timer_start(v->timer, on_silence, LINK_SILENCE_MS, 0);
    v->busy++;
    bool goes_on = sse_feed(&v->reader, bytes, len);
    if (!still_there(v)) return false;
    if (v->settled) {
        tell_over(v, NULL);
        return false;
    }
    return goes_on; /* a message without end: connecting again will do no better, but may */
}

/* ---- the connection ---- */

/* Why the stream is over for good. */
static void give_up(ServerEvents *v, const Error *why) {
    Error away = *why;
    if (v->lost) {
        error_wrap(&away, "The server %s has been away for %d seconds", v->link->url,
                   LINK_AWAY_MS / 1000);
    }
    tell_over(v, &away);
}

static void on_again(uv_timer_t *timer) {
    server_link_wake(((ServerEvents *)timer->data)->link);
    connect_again(timer->data);
}

static void try_again(ServerEvents *v, const Error *why) {
    uint64_t now = uv_now(v->link->loop);
    bool first = !v->lost;
    if (first) v->lost = now ? now : 1;
    if (!first && now - v->lost > LINK_AWAY_MS) {
        give_up(v, why);
        return;
    }
    uv_timer_start(v->timer, on_again, server_link_pause(++v->tries), 0);
}

static void fail_begun(ServerEvents *v, const Error *err) {
    ClientAnswer done = v->done;
    void *ctx = v->ctx;
    events_free(v);
    done(ctx, json_none(), err);
}

/* What was begun has no answer, or one that is no stream: a server of another version. */
static void begun_otherwise(ServerEvents *v, const HttpAnswer *answer) {
    Error err = ERROR_INIT;
    ClientAnswer done = v->done;
    void *ctx = v->ctx;
    bool answered = answer->end == HTTP_ANSWERED;
    Json value = answered && v->body.len
                     ? server_body_read(v->link, answer->status, v->body.data, v->body.len, &err)
                     : server_answer_read(v->link, answer, &err);
    v->link->reached |= answered;
    events_free(v);
    done(ctx, value, json_is_none(value) ? &err : NULL);
}

static void on_end(void *ctx, const HttpAnswer *answer) {
    ServerEvents *v = ctx;
    Error err = ERROR_INIT;
    bool answered = answer->end == HTTP_ANSWERED;
    bool was_stream = answered && answer->status == 200 && (v->streaming || !v->body.len);
    v->request = NULL;
    server_link_wake(v->link);
    uv_timer_stop(v->timer);
    if (v->done) {
        begun_otherwise(v, answer);
        return;
    }
    if (answered && answer->status == 204) {
        if (v->attach) {
            error_set(&err, ERR_NOT_HELD,
                      "The debug session ended while the server could not be reached.");
        }
        tell_over(v, &err);
        return;
    }
    if (was_stream && v->session_over) {
        tell_over(v, NULL);
        return;
    }
    if (was_stream) {
        error_set(&err, ERR_IO, "The server ended the stream of events.");
        error_fact(&err, "server", v->link->url);
    } else if (answered) {
        server_body_read(v->link, answer->status, v->body.data, v->body.len, &err);
    } else {
        server_answer_read(v->link, answer, &err);
    }
    bool away = was_stream || !answered || server_status_is_away(answer->status);
    bool secure = answer->end != HTTP_INSECURE_PEER && answer->end != HTTP_REFUSED &&
                  answer->end != HTTP_FORBIDDEN;
    if (away && secure && (v->opened || v->link->reached)) {
        try_again(v, &err);
    } else {
        tell_over(v, &err);
    }
}

static void on_silence(uv_timer_t *timer) {
    ServerEvents *v = timer->data;
    Error err = ERROR_INIT;
    server_link_wake(v->link);
    http_cancel(v->request);
    v->request = NULL;
    if (v->done) {
        error_set(&err, ERR_LIMIT, "The server has not answered within %d seconds.",
                  CLIENT_CALL_MS / 1000);
        fail_begun(v, &err);
        return;
    }
    error_set(&err, ERR_IO, "The server said nothing for %d seconds.", LINK_SILENCE_MS / 1000);
    try_again(v, &err);
}

static Json asked_types(const ServerEvents *v) {
    bool all = json_is_none(v->types) || !json_array_len(v->types);
    return all ? json_none() : json_array_push(json_ref(v->types), json_string_c("settled"));
}

static void connect_again(ServerEvents *v) {
    Error err = ERROR_INIT;
    RouteRequest route = {.body = json_none()};
    HttpHeader headers[] = {
        {"Accept", "text/event-stream"}, {"Pawl-Client", "1"}, {"Last-Event-ID", v->last}};
    Json args = OBJECT_ADD(json_ref(v->args), KEY("types", asked_types(v)),
                           KEY("from", v->last ? json_none() : json_ref(v->from)));
    bool ok = route_request(operation_find("run_events", NULL), args, &route);
    SseHost host = v->reader.host;
    json_unref(args);
    sse_clear(&v->reader);
    v->reader.host = host;
    buf_reset(&v->body);
    v->streaming = false;
    if (!ok) error_set(&err, ERR_USAGE, "The events of this run cannot be asked for.");
    HttpOptions options = {.url = route.target.data,
                           .headers = headers,
                           .nheaders = v->last ? 3 : 2,
                           .timeout_ms = INT_MAX,
                           .max_response = SIZE_MAX,
                           .on_body = on_body,
                           .on_end = on_end,
                           .ctx = v};
    v->request = ok ? server_link_send(v->link, &options, &err) : NULL;
    buf_clear(&route.target);
    json_unref(route.body);
    if (v->request) {
        uv_timer_start(v->timer, on_silence, LINK_SILENCE_MS, 0);
    } else {
        tell_over(v, &err);
    }
}

/* ---- who listens ---- */

static ServerEvents *events_new(ServerLink *link) {
    ServerEvents *v = mem_zalloc(sizeof *v);
    *v = (ServerEvents){.link = link,
                        .next = link->streams,
                        .args = json_none(),
                        .types = json_none(),
                        .from = json_none()};
    v->reader.host = (SseHost){on_message, v};
    if (v->next) v->next->prev = v;
    link->streams = v;
    v->timer = mem_zalloc(sizeof *v->timer);
    uv_timer_init(link->loop, v->timer);
    v->timer->data = v;
    return v;
}

/* The stream that came with the answer that is being told. */
static ServerEvents *begun_stream(const ServerLink *link, Json args) {
    Json thread = json_object_get_c(args, "thread");
    bool from_now = json_is_none(json_object_get_c(args, "from")) &&
                    !json_truthy(json_object_get_c(args, "attach"));
    for (ServerEvents *v = link->streams; from_now && v; v = v->next) {
        if (v->unclaimed && json_equal(json_object_get_c(v->args, "thread"), thread)) return v;
    }
    return NULL;
}

/* Told why there is nothing to tell, but not before whoever asks has the stream. */
static void on_refused(uv_timer_t *timer) {
    ServerEvents *v = timer->data;
    Error err = ERROR_INIT;
    server_link_wake(v->link);
    if (v->link->broken.code != ERR_NONE) {
        err = v->link->broken;
    } else {
        operation_check(operation_find("run_events", NULL), v->args, &err);
    }
    tell_over(v, &err);
}

ServerEvents *server_events_new(ServerLink *link, Json args, const ClientListener *listener) {
    ServerEvents *v = begun_stream(link, args);
    if (v) {
        v->listener = *listener;
        v->unclaimed = false;
        json_unref(args);
        return v;
    }
    v = events_new(link);
    v->listener = *listener;
    v->args = args;
    if (link->broken.code != ERR_NONE ||
        !operation_check(operation_find("run_events", NULL), args, NULL)) {
        uv_timer_start(v->timer, on_refused, 0, 0);
        return v;
    }
    v->attach = json_truthy(json_object_get_c(args, "attach"));
    v->types = json_ref(json_object_get_c(args, "types"));
    v->from = json_ref(json_object_get_c(args, "from"));
    v->args = json_object_remove(v->args, json_string_c("types"));
    v->args = json_object_remove(v->args, json_string_c("from"));
    v->busy++; /* a refusal is not told before the caller has the stream */
    connect_again(v);
    v->busy--;
    return v;
}

/* What is listened for, as a query: the server reads it as that of the stream. */
static void add_query(Json listen, Buf *out) {
    RouteRequest route = {.body = json_none()};
    Json args = OBJECT_ADD(json_ref(listen), KEY("thread", "-"));
    if (route_request(operation_find("run_events", NULL), args, &route)) {
        const char *query = strchr(route.target.data, '?');
        buf_adds(out, query ? query + 1 : "");
    }
    buf_addc(out, '\0');
    buf_clear(&route.target);
    json_unref(args);
}

void server_events_begin(ServerLink *link, const ServerBegin *begin) {
    Error err = ERROR_INIT;
    Buf body = BUF_INIT, query = BUF_INIT;
    ServerEvents *v = events_new(link);
    v->done = begin->done;
    v->ctx = begin->ctx;
    v->args = json_object_remove(json_ref(begin->listen), json_string_c("types"));
    v->types = json_ref(json_object_get_c(begin->listen, "types"));
    Json listen = OBJECT_ADD(json_ref(v->args), KEY("types", asked_types(v)));
    add_query(listen, &query);
    json_unref(listen);
    json_print(begin->body, &(JsonPrintOptions){0}, &body);
    HttpHeader headers[] = {
        {"Accept", "text/event-stream"}, {"Pawl-Client", "1"}, {"Pawl-Listen", query.data}};
    HttpOptions options = {.method = "POST",
                           .url = begin->target,
                           .headers = headers,
                           .nheaders = 3,
                           .body = body.data,
                           .body_len = body.len,
                           .timeout_ms = INT_MAX,
                           .max_response = SIZE_MAX,
                           .on_body = on_body,
                           .on_end = on_end,
                           .ctx = v};
    v->request = server_link_send(link, &options, &err);
    if (v->request) {
        uv_timer_start(v->timer, on_silence, CLIENT_CALL_MS, 0);
    } else {
        fail_begun(v, &err);
    }
    buf_clear(&body);
    buf_clear(&query);
}

void server_events_close(ServerLink *link, const Error *why) {
    while (link->streams) {
        if (link->streams->done) {
            fail_begun(link->streams, why);
        } else {
            events_free(link->streams);
        }
    }
}
