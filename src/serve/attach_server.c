/* One listener, at most one client. Who else comes is told why not, on a connection that finishes by
 * itself. The server's memory goes when its listener is closed; the client's Lines live as long as they
 * need to write what is left, and know nothing of the server then. */
#include "attach.h"

#include "attach_socket.h"
#include "hooks.h"
#include "lines.h"
#include "mem.h"

#include <string.h>
#include <unistd.h>

enum { BACKLOG = 8 };

struct AttachServer {
    AttachHost host;
    Run *run;
    SocketPlace place;
    uv_pipe_t listener;
    Lines *client; /* NULL: none */
    Json held;     /* events from before its hello; JSON_NONE: it has been said */
    bool calling;  /* inside debug_call() */
    bool over;     /* its session is: the client is to go after the answer */
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

/* ---- clients that come and go ---- */

static void tell_connected(AttachServer *s, bool connected) {
    if (s->host.connected) {
        s->host.connected(s->host.ctx, connected);
    }
}

static void forget_client(AttachServer *s) {
    s->client = NULL;
    s->over = false;
    json_clear(&s->held);
    tell_connected(s, false);
}

static void on_closed(void *ctx, const Error *err) {
    (void)err;
    forget_client(ctx);
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

static Json call_session(AttachServer *s, const char *operation, Json args, Error *err) {
    Session *session = s->host.session(s->host.ctx, err);
    if (!session) {
        return json_none();
    }
    s->calling = true;
    Json answer = debug_call(session, operation, json_ref(args), err);
    s->calling = false;
    return answer;
}

static void do_call(AttachServer *s, Json line) {
    Error err = ERROR_INIT;
    char *operation = NULL;
    Json id, args, answer = json_none();
    if (read_call(line, &id, &operation, &args, &err)) {
        answer = call_session(s, operation, args, &err);
    }
    if (json_is_none(answer)) {
        say_error(s->client, id, &err);
    } else {
        say_answer(s->client, id, answer);
    }
    mem_free(operation);
}

static void on_value(void *ctx, Json line) {
    AttachServer *s = ctx;
    do_call(s, line);
    json_unref(line);
    if (s->over) {
        lines_finish(s->client);
    }
}

static void on_rubbish(void *ctx, const Error *err) {
    AttachServer *s = ctx;
    say_error(s->client, json_null(), err);
}

/* ---- events ---- */

static bool ends_session(Json event) {
    Json status = json_object_get_c(event, "status");
    return json_string_is(json_object_get_c(event, "event"), "session") &&
           (json_string_is(status, "detached") || json_string_is(status, "expired"));
}

/* A value that is longer than a line is told without what makes it so. */
static void say_event(AttachServer *s, Json event) {
    Error err = ERROR_INIT;
    if (!lines_send(s->client, event, &err) && lines_is_open(s->client)) {
        Json what = json_object_get_c(event, "event");
        Json line = with(json_object(), "event", json_string_c("warning"));
        Json message = json_string_fmt("An event (%.*s) is too long to be sent.",
                                       (int)json_string_len(what), json_string_data(&what));
        say(s->client, with(line, "message", message), NULL);
    }
}

void attach_event(AttachServer *s, Json event) {
    if (!s || !s->client || json_kind(event) != JSON_OBJECT ||
        json_kind(json_object_get_c(event, "event")) != JSON_STRING) {
        return;
    }
    if (!json_is_none(s->held)) {
        s->held = json_array_push(s->held, json_ref(event));
        return;
    }
    say_event(s, event);
    s->over = s->over || ends_session(event);
    if (s->over && !s->calling) {
        lines_finish(s->client);
    }
}

static void release_held(AttachServer *s) {
    Json held = json_take(&s->held);
    for (size_t i = 0; i < json_array_len(held); i++) {
        attach_event(s, json_array_get(held, i));
    }
    json_unref(held);
}

/* ---- coming ---- */

static void refuse(Lines *lines, ErrorCode code, const char *sentence) {
    Error err = ERROR_INIT;
    error_set(&err, code, "%s", sentence);
    say_error(lines, json_none(), &err);
    lines_leave(lines);
}

static void welcome(AttachServer *s, Lines *lines) {
    Error err = ERROR_INIT;
    s->client = lines;
    s->held = json_array();
    if (!s->host.session(s->host.ctx, &err)) {
        s->client = NULL;
        json_clear(&s->held);
        refuse(lines, err.code ? err.code : ERR_USAGE, err.msg);
        return;
    }
    tell_connected(s, true);
    say(lines, hello_of(s), NULL);
    release_held(s);
}

static bool is_trusted(const uv_pipe_t *pipe) {
    uv_os_fd_t fd;
    return uv_fileno((const uv_handle_t *)pipe, &fd) == 0 && attach_socket_trusts(fd, false);
}

static void admit(AttachServer *s, uv_pipe_t *pipe) {
    LinesHost host = {on_value, on_rubbish, on_closed, s};
    bool trusted = is_trusted(pipe);
    Lines *lines = lines_new((uv_stream_t *)pipe, &host);
    if (!trusted) {
        refuse(lines, ERR_USAGE, "Only the user who runs this run, or root, may debug it.");
    } else if (s->client) {
        refuse(lines, ERR_BUSY,
               "Another debugger is attached to this run; leave that one first (`quit` keeps the "
               "session).");
    } else {
        welcome(s, lines);
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
    engine_lock(engine);
    const char *folder = store_folder(store, err);
    bool opened = folder && socket_place_open(&s->place, folder, run_number(s->run), err);
    engine_unlock(engine);
    return opened;
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
    return s && s->client;
}

void attach_close(AttachServer *s) {
    if (!s) {
        return;
    }
    socket_place_remove(&s->place);
    socket_place_close(&s->place);
    lines_leave(s->client);
    json_clear(&s->held);
    uv_close((uv_handle_t *)&s->listener, on_listener_closed);
}
