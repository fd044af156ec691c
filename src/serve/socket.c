/* One listener and a list of clients. Who is refused is told why, on a connection that finishes by itself. A
 * call that is under way when its client goes is answered to nobody. Events are taken from a subscription's
 * queue while little waits to be written, and again when it has been. */
#include "socket.h"

#include "event_name.h"
#include "host_socket.h"
#include "json_build.h"
#include "json_error.h"
#include "json_print.h"
#include "lines.h"
#include "mem.h"
#include "operation.h"
#include "subscription.h"

#include <string.h>
#include <unistd.h>

enum { BACKLOG = 64, WRITE_HIGH = 1 << 20 };

typedef struct Client Client;

typedef struct Call {
    Client *client; /* NULL: it has gone */
    struct Call *next;
    Json id;
    char *by; /* who asks, where the client says; NULL */
} Call;

typedef struct Stream {
    Client *client;
    struct Stream *next;
    Subscription *subscription;
    bool names; /* for a server, which tells others */
} Stream;

struct Client {
    SocketServer *server;
    Client *next;
    Lines *lines;
    Call *calls;
    Stream *streams;
    uint64_t since; /* when it came, by the loop's clock */
    bool has_called;
};

struct SocketServer {
    Host *host;
    SocketPlace place;
    uv_pipe_t listener;
    Client *clients; /* the latest first */
    size_t nclients;
    uint64_t silent_ms;
    uv_timer_t *silence; /* until the time of one that has called nothing is over */
};

/* ---- what is sent ---- */

/* Consumes the line. */
static bool send_line(Lines *lines, Json line, Error *err) {
    bool sent = lines_send(lines, line, err);
    json_unref(line);
    return sent;
}

static void send_error(Lines *lines, Json id, const Error *err) {
    send_line(lines, OBJECT(KEY("request_id", json_ref(id)), KEY("error", error_json(err))), NULL);
}

static void too_long(Lines *lines, Json id) {
    Error err = ERROR_INIT;
    if (lines_is_open(lines)) {
        error_set(&err, ERR_LIMIT,
                  "The answer is longer than the %d MB that can be sent; ask for a part of it.",
                  LINES_MAX >> 20);
        send_error(lines, id, &err);
    }
}

/* An answer may be longer than a line: then that is the answer. */
static void send_answer(Lines *lines, Json id, Json answer) {
    if (!send_line(lines, OBJECT(KEY("request_id", json_ref(id)), KEY("answer", answer)), NULL)) {
        too_long(lines, id);
    }
}

/* The same for one that another thread has printed. */
static void send_text(Lines *lines, Json id, Buf *answer) {
    Buf head = BUF_INIT;
    buf_adds(&head, json_is_none(id) ? "{" : "{\"request_id\":");
    if (!json_is_none(id)) {
        json_print(id, &(JsonPrintOptions){0}, &head);
        buf_addc(&head, ',');
    }
    buf_adds(&head, "\"answer\":");
    buf_addc(answer, '}');
    if (!lines_send_text(lines, head.data, answer, NULL)) too_long(lines, id);
    buf_clear(&head);
}

/* ---- events ---- */

static void stream_free(Stream *stream) {
    Stream **at = &stream->client->streams;
    while (*at != stream) at = &(*at)->next;
    *at = stream->next;
    subscription_end(stream->subscription);
    mem_free(stream);
}

/* A value that is longer than a line is told without what makes it so. */
static void send_event(Client *c, int64_t number, Json event) {
    Error err = ERROR_INIT;
    Json what = json_ref(json_object_get_c(event, "event"));
    bool sent = send_line(c->lines, OBJECT_ADD(event, KEY("subscription", number)), &err);
    if (!sent && lines_is_open(c->lines)) {
        send_line(c->lines,
                  OBJECT(KEY("subscription", number), KEY("event", "warning"),
                         KEY("message",
                             json_string_fmt("An event (%.*s) is too long to be sent.",
                                             (int)json_string_len(what), json_string_data(&what)))),
                  NULL);
    }
    json_unref(what);
}

static void pump(Stream *stream) {
    Client *c = stream->client;
    int64_t number = subscription_number(stream->subscription);
    Json event;
    while (lines_is_open(c->lines) && lines_waiting(c->lines) < WRITE_HIGH &&
           subscription_next(stream->subscription, &event)) {
        if (stream->names) event = event_told(c->server->host, event, event_name(event));
        send_event(c, number, event);
    }
    if (subscription_is_over(stream->subscription) && lines_waiting(c->lines) < WRITE_HIGH) {
        send_line(c->lines, OBJECT(KEY("subscription", number), KEY("over", json_bool(true))),
                  NULL);
        stream_free(stream);
    }
}

static void on_ready(void *ctx, Subscription *s) {
    Stream *stream = ctx;
    (void)s;
    if (stream->subscription) { /* otherwise the answer is still to go out */
        pump(stream);
    }
}

static void on_drained(void *ctx) {
    Client *c = ctx;
    for (Stream *s = c->streams, *next; s; s = next) {
        next = s->next;
        pump(s);
    }
}

/* The answer goes out before the first event. */
static bool subscribe(Client *c, Json id, Json args, Error *err) {
    Json thread = json_object_get_c(args, "thread");
    Stream *stream = mem_zalloc(sizeof *stream);
    SubscriptionSpec spec = {.thread = json_kind(thread) == JSON_STRING ? json_string_data(&thread)
                                                                        : NULL,
                             .ready = on_ready,
                             .ctx = stream};
    *stream = (Stream){.client = c};
    bool ok = subscription_asked(args, &spec, err);
    stream->names = spec.names;
    stream->subscription = ok ? host_subscribe(c->server->host, &spec, err) : NULL;
    if (!stream->subscription) {
        mem_free(stream);
        return false;
    }
    stream->next = c->streams;
    c->streams = stream;
    send_answer(
        c->lines, id,
        OBJECT(KEY("subscription", subscription_number(stream->subscription)),
               KEY("since", spec.thread ? json_none()
                                        : json_time(subscription_since(stream->subscription)))));
    pump(stream);
    return true;
}

static void unsubscribe(Client *c, Json id, Json args) {
    Json number = json_object_get_c(args, "subscription");
    for (Stream *s = c->streams; s; s = s->next) {
        if (json_tag(number) == JSON_TAG_INT && subscription_number(s->subscription) == number.i) {
            stream_free(s);
            break;
        }
    }
    send_answer(c->lines, id, json_object());
}

/* ---- calls ---- */

/* Whether somebody still waits for it. */
static bool call_leaves(Call *call) {
    Call **at = call->client ? &call->client->calls : NULL;
    while (at && *at != call) at = &(*at)->next;
    if (at) *at = call->next;
    return at != NULL;
}

static void call_free(Call *call) {
    json_unref(call->id);
    mem_free(call->by);
    mem_free(call);
}

static void on_reply(void *ctx, Json answer, const Error *err) {
    Call *call = ctx;
    if (!call_leaves(call)) {
        json_unref(answer);
    } else if (err) {
        send_error(call->client->lines, call->id, err);
    } else {
        send_answer(call->client->lines, call->id, answer);
    }
    call_free(call);
}

static void on_text(void *ctx, Buf *text) {
    Call *call = ctx;
    if (call_leaves(call)) send_text(call->client->lines, call->id, text);
    call_free(call);
}

/* An operation that belongs to a run is done here only for runs that are here: another process has those that
 * are not, or nobody, and whoever asks may be the one to take them. */
static bool is_here(const Host *host, const Operation *op, Json args, Error *err) {
    Json thread = json_object_get_c(args, "thread");
    bool of_run = operation_is_of_run(op) || op->stream;
    if (!of_run || json_kind(thread) != JSON_STRING || host_find(host, json_string_data(&thread)) ||
        !strcmp(op->name, "run_start")) {
        return true;
    }
    error_set(err, ERR_NOT_HELD, "This process does not have the run `%s`.",
              json_string_data(&thread));
    error_fact(err, "thread", json_string_data(&thread));
    return false;
}

static bool do_call(Client *c, Json id, Json line, Error *err) {
    Json name = json_object_get_c(line, "call"), given = json_object_get_c(line, "args");
    if (json_kind(name) != JSON_STRING) {
        return error_set(
            err, ERR_USAGE,
            "A call is {\"request_id\": NUMBER, \"call\": OPERATION, \"args\": {...}}; this line "
            "names no operation.");
    }
    if (!json_is_none(given) && json_kind(given) != JSON_OBJECT) {
        return error_set(err, ERR_USAGE, "The `args` of a call are an object.");
    }
    Json args = json_is_none(given) ? json_object() : json_ref(given);
    if (json_string_is(name, "unsubscribe")) {
        unsubscribe(c, id, args);
        json_unref(args);
        return true;
    }
    const Operation *op = operation_find(json_string_data(&name), err);
    c->has_called = c->has_called || op;
    bool here = op && is_here(c->server->host, op, args, err);
    if (here && op->stream) {
        bool ok = subscribe(c, id, args, err);
        json_unref(args);
        return ok;
    }
    if (!here) {
        json_unref(args);
        return false;
    }
    Call *call = mem_zalloc(sizeof *call);
    *call = (Call){.client = c,
                   .next = c->calls,
                   .id = json_ref(id),
                   .by = mem_strdup(json_object_text(line, "by"))};
    c->calls = call;
    operation_call(c->server->host, op->name, args, (Reply){on_reply, call, on_text, call->by});
    return true;
}

static void on_value(void *ctx, Json line) {
    Client *c = ctx;
    Error err = ERROR_INIT;
    bool object = json_kind(line) == JSON_OBJECT;
    Json id = object ? json_object_get_c(line, "request_id") : json_none();
    if (!object) error_set(&err, ERR_USAGE, "A call is an object, {\"call\": OPERATION, ...}.");
    if (!object || !do_call(c, id, line, &err)) send_error(c->lines, id, &err);
    json_unref(line);
}

static void on_rubbish(void *ctx, const Error *err) {
    Client *c = ctx;
    send_error(c->lines, json_none(), err);
}

/* ---- clients ---- */

static void client_free(Client *c) {
    SocketServer *s = c->server;
    for (Call *call = c->calls; call; call = call->next) call->client = NULL;
    while (c->streams) stream_free(c->streams);
    Client **at = &s->clients;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    s->nclients--;
    mem_free(c);
}

static void on_closed(void *ctx, const Error *err) {
    (void)err;
    client_free(ctx);
}

static void refuse(Client *c, ErrorCode code, const char *sentence) {
    Error err = ERROR_INIT;
    error_set(&err, code, "%s", sentence);
    send_error(c->lines, json_none(), &err);
    lines_leave(c->lines);
    client_free(c);
}

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

/* ---- those that say nothing ---- */

static Client *longest_silent(SocketServer *s) {
    Client *found = NULL;
    for (Client *c = s->clients; c; c = c->next) found = c->has_called ? found : c;
    return found;
}

static void watch_silence(SocketServer *s);

static void on_silence(uv_timer_t *timer) {
    SocketServer *s = timer->data;
    uint64_t now = uv_now(host_loop(s->host));
    for (Client *c; (c = longest_silent(s)) && now - c->since >= s->silent_ms;) {
        refuse(c, ERR_CANCELLED, "Nothing was asked for on this connection for too long.");
    }
    watch_silence(s);
}

/* The timer runs while there is such a client. */
static void watch_silence(SocketServer *s) {
    const Client *c = longest_silent(s);
    if (c && !uv_is_active((uv_handle_t *)s->silence)) {
        uint64_t over = c->since + s->silent_ms, now = uv_now(host_loop(s->host));
        uv_timer_start(s->silence, on_silence, over > now ? over - now : 0, 0);
    }
}

void socket_set_silence(SocketServer *s, int64_t ms) {
    s->silent_ms = (uint64_t)ms;
}

/* ---- who comes ---- */

/* Who has called nothing yet makes way, the longest first. */
static bool make_room(SocketServer *s, const Client *c) {
    if (s->nclients <= SOCKET_CLIENTS) return true;
    Client *silent = longest_silent(s);
    if (silent == c) return false;
    refuse(silent, ERR_BUSY,
           "Another process came, and nothing was asked for on this connection yet.");
    return true;
}

static void on_connection(uv_stream_t *listener, int status) {
    SocketServer *s = listener->data;
    uv_os_fd_t fd;
    if (status < 0) return;
    uv_pipe_t *pipe = mem_zalloc(sizeof *pipe);
    uv_pipe_init(host_loop(s->host), pipe, 0);
    if (uv_accept(listener, (uv_stream_t *)pipe) != 0) {
        uv_close((uv_handle_t *)pipe, free_handle);
        return;
    }
    bool trusted = uv_fileno((uv_handle_t *)pipe, &fd) == 0 && host_socket_trusts(fd, false);
    Client *c = mem_zalloc(sizeof *c);
    *c = (Client){.server = s, .next = s->clients, .since = uv_now(host_loop(s->host))};
    s->clients = c;
    s->nclients++;
    LinesHost host = {.value = on_value,
                      .rubbish = on_rubbish,
                      .closed = on_closed,
                      .drained = on_drained,
                      .ctx = c};
    c->lines = lines_new((uv_stream_t *)pipe, &host);
    if (!trusted) {
        refuse(c, ERR_USAGE, "Only the user of this process, or root, may ask it for anything.");
    } else if (!make_room(s, c)) {
        refuse(c, ERR_BUSY, "Too many processes are connected to this one; end one of them first.");
    } else {
        Json hello =
            OBJECT(KEY("pid", json_int(getpid())), KEY("protocol", json_int(HOST_SOCKET_PROTOCOL)));
        send_line(c->lines, OBJECT(KEY("hello", hello)), NULL);
        watch_silence(s);
    }
}

/* ---- life ---- */

static void on_listener_closed(uv_handle_t *handle) {
    mem_free(handle->data);
}

static bool start_listening(SocketServer *s, Error *err) {
    Store *store = host_store(s->host, HOST_WRITES, err);
    if (!store || !store_is_durable(store)) {
        return store && error_set(err, ERR_USAGE,
                                  "The store is in memory, so no other process can find it.");
    }
    const char *folder = host_store_folder(s->host, err);
    if (!folder || !socket_place_open(&s->place, folder, getpid(), err)) return false;
    socket_place_tidy(&s->place);
    int fd = host_socket_listen(&s->place, err);
    int status = fd < 0 ? 0 : uv_pipe_open(&s->listener, fd);
    if (fd >= 0 && status < 0) {
        close(fd);
    } else if (fd >= 0) {
        status = uv_listen((uv_stream_t *)&s->listener, BACKLOG, on_connection);
    }
    uv_unref((uv_handle_t *)&s->listener);
    return fd >= 0 &&
           (status == 0 ||
            error_set(err, ERR_IO, "The socket for other processes cannot be listened at: %s.",
                      uv_strerror(status)));
}

SocketServer *socket_listen(Host *host, Error *err) {
    SocketServer *s = mem_zalloc(sizeof *s);
    *s = (SocketServer){.host = host,
                        .place = {.folder = -1},
                        .silent_ms = SOCKET_SILENT_MS,
                        .silence = mem_zalloc(sizeof *s->silence)};
    host_ignore_sigpipe();
    uv_timer_init(host_loop(host), s->silence);
    uv_unref((uv_handle_t *)s->silence);
    s->silence->data = s;
    uv_pipe_init(host_loop(host), &s->listener, 0);
    s->listener.data = s;
    if (!start_listening(s, err)) {
        socket_close(s);
        return NULL;
    }
    return s;
}

void socket_close(SocketServer *s) {
    if (!s) return;
    if (s->place.folder >= 0) {
        socket_place_remove(&s->place);
        socket_place_close(&s->place);
    }
    while (s->clients) {
        lines_leave(s->clients->lines);
        client_free(s->clients);
    }
    uv_close((uv_handle_t *)s->silence, free_handle);
    uv_close((uv_handle_t *)&s->listener, on_listener_closed);
}
