/* One listener and a list of clients. Who is refused is told why, on a connection that finishes by itself.
 * The server's memory goes when its listener is closed; the Lines of clients live as long as they need to
 * write what is left, and know nothing of the server then. A client is taken off the list by the loop alone
 * (on_closed()), so the list may be walked while lines are sent. */
#include "attach.h"

#include "attach_socket.h"
#include "hooks.h"
#include "lines.h"
#include "mem.h"

#include <stdio.h>
#include <unistd.h>

enum { BACKLOG = 8 };

typedef struct Client Client;

struct Client {
    AttachServer *server;
    Client *next;
    int64_t number;
    Lines *lines;
    Json held; /* events from before its hello; JSON_NONE: it has been said */
    bool over; /* its session is: it is to go after the answer that it waits for */
};

struct AttachServer {
    AttachHost host;
    Run *run;
    SocketPlace place;
    uv_pipe_t listener;
    Client *clients; /* the last that came first */
    int64_t last_number;
    const Client *calling; /* whose call is under way; NULL: nobody's */
};

/* ---- what is said ---- */

static Json with(Json object, const char *key, Json value) {
    return json_object_with(object, key, value);
}

static Json error_json(const Error *err) {
    Json out = with(json_object(), "code", json_string_c(error_code_name(err->code)));
    out = with(out, "message", json_string_c(err->msg));
    if (err->line > 0) {
        out = with(out, "line", json_int(err->line));
    }
    return err->col > 0 ? with(out, "column", json_int(err->col)) : out;
}

/* Consumes the line. */
static bool say(Lines *lines, Json line, Error *err) {
    bool sent = lines_send(lines, line, err);
    json_unref(line);
    return sent;
}

static void say_error(Lines *lines, Json id, const Error *err) {
    Json line = json_is_none(id) ? json_object() : with(json_object(), "request_id", json_ref(id));
    say(lines, with(line, "error", error_json(err)), NULL);
}

/* An answer may be longer than a line: then that is the answer. */
static void say_answer(Lines *lines, Json id, Json answer) {
    Error err = ERROR_INIT;
    Json line = with(json_object(), "request_id", json_ref(id));
    if (!say(lines, with(line, "answer", answer), &err) && lines_is_open(lines)) {
        error_set(&err, ERR_LIMIT,
                  "The answer is longer than the %d MB that can be sent; ask for a part of it.",
                  LINES_MAX >> 20);
        say_error(lines, id, &err);
    }
}

static Json hello_of(const AttachServer *s) {
    Json hello = with(json_object(), "run", json_int(run_number(s->run)));
    hello = with(hello, "thread", json_string_c(run_thread(s->run)));
    hello = with(hello, "pid", json_int(getpid()));
    return with(json_object(), "hello", hello);
}

/* ---- clients that go ---- */

static int client_count(const AttachServer *s) {
    int n = 0;
    for (const Client *c = s->clients; c; c = c->next) {
        n++;
    }
    return n;
}

static void tell_connected(AttachServer *s, bool connected) {
    if (s->host.connected) {
        s->host.connected(s->host.ctx, connected);
    }
}

static void client_free(Client *c) {
    json_unref(c->held);
    mem_free(c);
}

static void take_off(Client *c) {
    Client **at = &c->server->clients;
    while (*at != c) {
        at = &(*at)->next;
    }
    *at = c->next;
}

static void on_closed(void *ctx, const Error *err) {
    Client *c = ctx;
    AttachServer *s = c->server;
    (void)err;
    take_off(c);
    client_free(c);
    if (!s->clients) {
        tell_connected(s, false);
    }
}

/* ---- calls ---- */

static bool read_call(Json line, Json *id, char **operation, Json *args, Error *err) {
    Json call = json_kind(line) == JSON_OBJECT ? json_object_get_c(line, "call") : json_none();
    bool object = json_kind(line) == JSON_OBJECT;
    Json given = object ? json_object_get_c(line, "request_id") : json_none();
    *id = json_is_none(given) ? json_null() : given;
    *args = object ? json_object_get_c(line, "args") : json_none();
    if (json_kind(call) != JSON_STRING) {
        return error_set(
            err, ERR_USAGE,
            "A call is {\"request_id\": NUMBER, \"call\": OPERATION, \"args\": {...}}; this "
            "line names no operation.");
    }
    if (!json_is_none(*args) && json_kind(*args) != JSON_OBJECT) {
        return error_set(err, ERR_USAGE, "The `args` of a call are an object.");
    }
    *operation = mem_strndup(json_string_data(&call), json_string_len(call));
    return true;
}

static Json call_session(Client *c, const char *operation, Json args, Error *err) {
    AttachServer *s = c->server;
    Session *session = s->host.session(s->host.ctx, err);
    if (!session) {
        return json_none();
    }
    s->calling = c;
    Json answer = debug_call(session, operation, json_ref(args), err);
    s->calling = NULL;
    return answer;
}

static void do_call(Client *c, Json line) {
    Error err = ERROR_INIT;
    char *operation = NULL;
    Json id, args, answer = json_none();
    if (read_call(line, &id, &operation, &args, &err)) {
        answer = call_session(c, operation, args, &err);
    }
    if (json_is_none(answer)) {
        say_error(c->lines, id, &err);
    } else {
        say_answer(c->lines, id, answer);
    }
    mem_free(operation);
}

static void on_value(void *ctx, Json line) {
    Client *c = ctx;
    do_call(c, line);
    json_unref(line);
    if (c->over) {
        lines_finish(c->lines);
    }
}

static void on_rubbish(void *ctx, const Error *err) {
    Client *c = ctx;
    say_error(c->lines, json_null(), err);
}

/* ---- events ---- */

/* A value that is longer than a line is told without what makes it so. */
static void say_event(Client *c, Json event) {
    Error err = ERROR_INIT;
    if (!lines_send(c->lines, event, &err) && lines_is_open(c->lines)) {
        Json what = json_object_get_c(event, "event");
        Json line = with(json_object(), "event", json_string_c("warning"));
        Json message = json_string_fmt("An event (%.*s) is too long to be sent.",
                                       (int)json_string_len(what), json_string_data(&what));
        say(c->lines, with(line, "message", message), NULL);
    }
}

static void tell_client(Client *c, Json event) {
    if (!json_is_none(c->held)) {
        c->held = json_array_push(c->held, json_ref(event));
        return;
    }
    say_event(c, event);
    c->over = c->over || session_event_ends(event);
    if (c->over && c != c->server->calling) {
        lines_finish(c->lines);
    }
}

static void tell_one(AttachServer *s, int64_t number, Json event) {
    Client *c = s->clients;
    while (c && c->number != number) {
        c = c->next;
    }
    if (c) {
        Json line = json_object_remove(json_ref(event), json_string_c("to"));
        tell_client(c, line);
        json_unref(line);
    }
}

void attach_event(AttachServer *s, Json event) {
    if (!s || json_kind(event) != JSON_OBJECT ||
        json_kind(json_object_get_c(event, "event")) != JSON_STRING) {
        return;
    }
    Json to = json_object_get_c(event, "to");
    if (json_tag(to) == JSON_TAG_INT) {
        tell_one(s, to.i, event);
        return;
    }
    for (Client *c = s->clients; c; c = c->next) {
        tell_client(c, event);
    }
}

static void release_held(Client *c) {
    Json held = json_take(&c->held);
    for (size_t i = 0; i < json_array_len(held); i++) {
        tell_client(c, json_array_get(held, i));
    }
    json_unref(held);
}

/* ---- clients that come ---- */

/* On a connection that nobody listens to any more. */
static void refuse(Lines *lines, ErrorCode code, const char *sentence) {
    Error err = ERROR_INIT;
    error_set(&err, code, "%s", sentence);
    say_error(lines, json_none(), &err);
    lines_leave(lines);
}

static void turn_away(Client *c, ErrorCode code, const char *sentence) {
    take_off(c);
    refuse(c->lines, code, sentence);
    client_free(c);
}

static void greet(Client *c) {
    AttachServer *s = c->server;
    bool first = !c->next;
    say(c->lines, hello_of(s), NULL);
    release_held(c);
    if (s->host.greeted) {
        s->host.greeted(s->host.ctx, c->number);
    }
    if (first) {
        tell_connected(s, true);
    }
}

static void welcome(Client *c) {
    AttachServer *s = c->server;
    Error err = ERROR_INIT;
    char full[128];
    if (client_count(s) > ATTACH_CLIENTS) {
        snprintf(full, sizeof full,
                 "%d debuggers are attached to this run, and more than that cannot be; leave one "
                 "of them first.",
                 ATTACH_CLIENTS);
        turn_away(c, ERR_BUSY, full);
    } else if (s->host.session(s->host.ctx, &err)) {
        greet(c);
    } else {
        turn_away(c, err.code ? err.code : ERR_USAGE, err.msg);
    }
}

/* On the list at once: what happens while its session is made is told to it too. */
static Client *client_new(AttachServer *s, uv_pipe_t *pipe) {
    Client *c = mem_zalloc(sizeof *c);
    LinesHost host = {on_value, on_rubbish, on_closed, c};
    *c = (Client){.server = s, .next = s->clients, .number = ++s->last_number};
    c->held = json_array();
    c->lines = lines_new((uv_stream_t *)pipe, &host);
    s->clients = c;
    return c;
}

static bool is_trusted(const uv_pipe_t *pipe) {
    uv_os_fd_t fd;
    return uv_fileno((const uv_handle_t *)pipe, &fd) == 0 && attach_socket_trusts(fd, false);
}

static void admit(AttachServer *s, uv_pipe_t *pipe) {
    bool trusted = is_trusted(pipe);
    Client *c = client_new(s, pipe);
    if (trusted) {
        welcome(c);
    } else {
        turn_away(c, ERR_USAGE, "Only the user who runs this run, or root, may debug it.");
    }
}

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static void on_connection(uv_stream_t *listener, int status) {
    AttachServer *s = listener->data;
    if (status < 0) {
        return;
    }
    uv_pipe_t *pipe = mem_zalloc(sizeof *pipe);
    uv_pipe_init(s->host.loop, pipe, 0);
    if (uv_accept(listener, (uv_stream_t *)pipe) == 0) {
        admit(s, pipe);
    } else {
        uv_close((uv_handle_t *)pipe, free_handle);
    }
}

/* ---- life ---- */

static void on_listener_closed(uv_handle_t *handle) {
    mem_free(handle->data);
}

static bool open_place(AttachServer *s, Error *err) {
    Engine *engine = run_engine(s->run);
    Store *store = engine_store(engine);
    if (!store || !store_is_durable(store)) {
        return error_set(err, ERR_USAGE,
                         "The run is kept in memory, so no other process can find it.");
    }
    const char *folder = store_folder(store, err);
    return folder && socket_place_open(&s->place, folder, run_number(s->run), err);
}

static bool start_listening(AttachServer *s, Error *err) {
    int fd = attach_socket_listen(&s->place, err);
    if (fd < 0) {
        return false;
    }
    int status = uv_pipe_open(&s->listener, fd);
    if (status < 0) {
        close(fd);
    } else {
        status = uv_listen((uv_stream_t *)&s->listener, BACKLOG, on_connection);
    }
    uv_unref((uv_handle_t *)&s->listener);
    return status == 0 ||
           error_set(err, ERR_IO, "The socket for debuggers cannot be listened at: %s.",
                     uv_strerror(status));
}

AttachServer *attach_listen(Run *run, const AttachHost *host, Error *err) {
    AttachServer *s = mem_zalloc(sizeof *s);
    s->host = *host;
    s->run = run;
    if (!open_place(s, err)) {
        mem_free(s);
        return NULL;
    }
    attach_ignore_sigpipe();
    uv_pipe_init(host->loop, &s->listener, 0);
    s->listener.data = s;
    if (!start_listening(s, err)) {
        attach_close(s);
        return NULL;
    }
    return s;
}

bool attach_forget(Store *store, int64_t run, Error *err) {
    SocketPlace place;
    const char *folder = store_folder(store, err);
    if (!folder || !socket_place_open(&place, folder, run, err)) {
        return false;
    }
    bool vacated = socket_place_vacate(&place, err);
    socket_place_close(&place);
    return vacated;
}

bool attach_is_connected(const AttachServer *s) {
    return s && s->clients;
}

static void leave_all(AttachServer *s) {
    for (Client *c = s->clients, *next; c; c = next) {
        next = c->next;
        lines_leave(c->lines);
        client_free(c);
    }
    s->clients = NULL;
}

void attach_close(AttachServer *s) {
    if (!s) {
        return;
    }
    socket_place_remove(&s->place);
    socket_place_close(&s->place);
    leave_all(s);
    uv_close((uv_handle_t *)&s->listener, on_listener_closed);
}
