/* A connection and at most one call that waits for its answer. Lines from the other side are told
 * apart by their first word: "hello" once, "request_id" an answer, "event" an event, "error" alone a refusal. */
#include "attach.h"

#include "attach_socket.h"
#include "lines.h"
#include "mem.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { STARTING_MS = 500, STARTING_POLL_MS = 20 };

struct Attach {
    uv_loop_t *loop;
    Lines *lines; /* NULL: the other side has gone */
    void (*event)(void *ctx, Json event);
    void (*closed)(void *ctx);
    void *ctx;
    uv_timer_t timer;
    Json hello;  /* JSON_NONE: not yet */
    Json answer; /* the line that answers; JSON_NONE: not yet */
    Error refusal;
    int64_t calls, waiting; /* waiting: id of the call under way; 0: none */
    bool late, telling, connected;
};

/* ---- errors that come as JSON ---- */

static int int_in(Json object, const char *key) {
    Json n = json_object_get_c(object, key);
    return json_tag(n) == JSON_TAG_INT && n.i > 0 && n.i < INT_MAX ? (int)n.i : 0;
}

static ErrorCode code_in(Json error) {
    Json name = json_object_get_c(error, "code");
    for (int code = ERR_SYNTAX; code <= ERR_RAISED; code++) {
        if (json_string_is(name, error_code_name((ErrorCode)code))) {
            return (ErrorCode)code;
        }
    }
    return ERR_DATA;
}

static void read_error(Json error, Error *err) {
    bool object = json_kind(error) == JSON_OBJECT;
    Json message = object ? json_object_get_c(error, "message") : json_none();
    if (json_kind(message) != JSON_STRING) {
        error_set(err, ERR_DATA, "The process that has the run gave an error without a sentence.");
        return;
    }
    error_set_at(err, code_in(error), int_in(error, "line"), int_in(error, "column"), "%.*s",
                 (int)json_string_len(message), json_string_data(&message));
}

/* ---- what comes ---- */

static void take_answer(Attach *a, Json line) {
    Json id = json_object_get_c(line, "request_id");
    if (a->waiting && json_tag(id) == JSON_TAG_INT && id.i == a->waiting) {
        json_clear(&a->answer);
        a->answer = json_ref(line);
    }
}

static void take_event(Attach *a, Json line) {
    a->telling = true;
    a->event(a->ctx, json_ref(line));
    a->telling = false;
}

static void take_hello(Attach *a, Json line) {
    Json hello = json_object_get_c(line, "hello");
    if (json_is_none(a->hello) && json_kind(hello) == JSON_OBJECT) {
        a->hello = json_ref(hello);
    }
}

static void take_refusal(Attach *a, Json line) {
    if (json_is_none(a->hello)) {
        read_error(json_object_get_c(line, "error"), &a->refusal);
    }
}

static const struct Incoming {
    const char *key;
    void (*take)(Attach *a, Json line);
} incoming[] = {
    {"request_id", take_answer}, {"event", take_event}, {"hello", take_hello},
    {"error", take_refusal},     {NULL, NULL},
};

static void on_value(void *ctx, Json line) {
    Attach *a = ctx;
    const struct Incoming *row = incoming;
    while (row->key && json_kind(line) == JSON_OBJECT &&
           json_is_none(json_object_get_c(line, row->key))) {
        row++;
    }
    if (row->key && json_kind(line) == JSON_OBJECT) {
        row->take(a, line);
    }
    json_unref(line);
}

static void on_closed(void *ctx, const Error *err) {
    Attach *a = ctx;
    (void)err;
    a->lines = NULL;
    if (a->connected && a->closed) {
        a->telling = true;
        a->closed(a->ctx);
        a->telling = false;
    }
}

/* ---- waiting ---- */

static void on_late(uv_timer_t *timer) {
    Attach *a = timer->data;
    a->late = true;
}

/* Turns of the loop until *slot is there, the other side has gone, or it is too late. */
static bool wait_for(Attach *a, const Json *slot, uint64_t ms) {
    a->late = false;
    uv_update_time(a->loop);
    uv_timer_start(&a->timer, on_late, ms, 0);
    while (json_is_none(*slot) && a->lines && !a->late) {
        uv_run(a->loop, UV_RUN_ONCE);
    }
    uv_timer_stop(&a->timer);
    return !json_is_none(*slot);
}

/* ---- connecting ---- */

static bool nobody_listens(int why) {
    return why == ENOENT || why == ECONNREFUSED;
}

/* A process that has just taken the run needs a moment until it listens. */
static int connect_to(const SocketPlace *place, Store *store, int64_t run, Error *err) {
    int why, fd = attach_socket_connect(place, &why, err);
    for (int waited = 0;
         fd < 0 && nobody_listens(why) && waited < STARTING_MS && store_is_leased(store, run);
         waited += STARTING_POLL_MS) {
        uv_sleep(STARTING_POLL_MS);
        fd = attach_socket_connect(place, &why, err);
    }
    if (fd >= 0 || !nobody_listens(why)) {
        return fd;
    }
    if (store_is_leased(store, run)) {
        error_set(err, ERR_BUSY,
                  "Another process has run %lld and does not listen for debuggers; wait until it "
                  "has ended, or stop it.",
                  (long long)run);
    } else {
        error_set(err, ERR_USAGE, "No process has run %lld now, so there is none to attach to.",
                  (long long)run);
    }
    return -1;
}

static int open_connection(Store *store, int64_t run, Error *err) {
    const char *folder = store_folder(store, err);
    SocketPlace place;
    if (!folder || !socket_place_open(&place, folder, run, err)) {
        return -1;
    }
    int fd = connect_to(&place, store, run, err);
    socket_place_close(&place);
    if (fd >= 0 && !attach_socket_trusts(fd, true)) {
        error_set(err, ERR_USAGE, "The socket of run %lld belongs to another user.",
                  (long long)run);
        close(fd);
        return -1;
    }
    return fd;
}

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static bool start_lines(Attach *a, int fd, Error *err) {
    LinesHost host = {on_value, NULL, on_closed, a};
    uv_pipe_t *pipe = mem_zalloc(sizeof *pipe);
    uv_pipe_init(a->loop, pipe, 0);
    int status = uv_pipe_open(pipe, fd);
    if (status < 0) {
        close(fd);
        uv_close((uv_handle_t *)pipe, free_handle);
        return error_set(err, ERR_IO, "The connection cannot be used: %s.", uv_strerror(status));
    }
    a->lines = lines_new((uv_stream_t *)pipe, &host);
    return true;
}

static bool be_greeted(Attach *a, Error *err) {
    if (wait_for(a, &a->hello, ATTACH_HELLO_MS)) {
        return true;
    }
    if (a->refusal.code) {
        *err = a->refusal;
        return false;
    }
    return error_set(err, ERR_BUSY,
                     a->late ? "The process that has the run does not answer; it may "
                               "be busy with a long computation."
                             : "The process that has the run hung up; it may have "
                               "ended just now.");
}

Attach *attach_connect(uv_loop_t *loop, Store *store, int64_t run,
                       void (*event)(void *ctx, Json event), void (*closed)(void *ctx), void *ctx,
                       Error *err) {
    Error own = ERROR_INIT;
    err = err ? err : &own;
    int fd = open_connection(store, run, err);
    if (fd < 0) {
        return NULL;
    }
    Attach *a = mem_zalloc(sizeof *a);
    *a = (Attach){.loop = loop, .event = event, .closed = closed, .ctx = ctx};
    attach_ignore_sigpipe();
    uv_timer_init(loop, &a->timer);
    a->timer.data = a;
    if (!start_lines(a, fd, err) || !be_greeted(a, err)) {
        attach_leave(a);
        return NULL;
    }
    a->connected = true;
    return a;
}

bool attach_is_open(const Attach *a) {
    return a->lines && lines_is_open(a->lines);
}

Json attach_peer(const Attach *a) {
    return a->hello;
}

static void on_timer_closed(uv_handle_t *handle) {
    Attach *a = handle->data;
    json_unref(a->hello);
    json_unref(a->answer);
    mem_free(a);
}

void attach_leave(Attach *a) {
    if (a) {
        lines_leave(a->lines);
        a->lines = NULL;
        uv_close((uv_handle_t *)&a->timer, on_timer_closed);
    }
}

/* ---- calls ---- */

static bool send_call(Attach *a, const char *operation, Json args, Error *err) {
    Json line = json_object_with(json_object(), "request_id", json_int(++a->calls));
    line = json_object_with(line, "call", json_string_c(operation));
    line = json_is_none(args) ? line : json_object_with(line, "args", args);
    bool sent = a->lines && lines_send(a->lines, line, err);
    json_unref(line);
    return sent || (a->lines && lines_is_open(a->lines)
                        ? false
                        : error_set(err, ERR_IO, "The process that had the run has gone."));
}

static Json read_answer(Attach *a, Error *err) {
    Json line = json_take(&a->answer);
    Json answer = json_ref(json_object_get_c(line, "answer"));
    if (json_is_none(answer)) {
        read_error(json_object_get_c(line, "error"), err);
    }
    json_unref(line);
    return answer;
}

Json attach_call(Attach *a, const char *operation, Json args, Error *err) {
    if (a->telling || a->waiting) { /* the loop is running already */
        json_unref(args);
        error_set(err, ERR_USAGE, "`%s` cannot be called while an event is being told.", operation);
        return json_none();
    }
    if (!send_call(a, operation, args, err)) {
        return json_none();
    }
    a->waiting = a->calls;
    bool answered = wait_for(a, &a->answer, ATTACH_CALL_MS);
    a->waiting = 0;
    if (answered) {
        return read_answer(a, err);
    }
    error_set(err, a->late ? ERR_LIMIT : ERR_IO,
              a->late ? "The process that has the run has not answered `%s` within %d seconds."
                      : "The process that had the run has gone: `%s` was not answered.",
              operation, ATTACH_CALL_MS / 1000);
    return json_none();
}
