/* remote.c - a connection to a process that holds runs (serve/socket.h has what is said on it).
 *
 * Calls are sent at once and answered by their number, each within CLIENT_CALL_MS; a connection that breaks fails
 * those that are left and ends its subscriptions. One that never greeted has taken no call: it does not hold the run any
 * more (`not_held`), as when it was killed and a child of it that becomes a command had its descriptors a moment
 * longer. A Remote is freed when it has been closed and nobody is being told anything. */
#include "client_inside.h"

#include "host_socket.h"
#include "json_build.h"
#include "json_error.h"
#include "lines.h"
#include "mem.h"

#include <unistd.h>

typedef struct Call {
    struct Call *next;
    int64_t id;
    uint64_t deadline;
    ClientAnswer done;
    void *ctx;
} Call;

typedef struct Listening {
    struct Listening *next;
    int64_t subscription;
    ClientListener listener;
} Listening;

struct Remote {
    Client *client;
    Remote *next;
    int64_t pid, last_id;
    Lines *lines; /* NULL: closed */
    uv_timer_t timer;
    Call *calls; /* oldest first */
    Listening *listening;
    Error why; /* it was refused */
    bool greeted;
};

int64_t remote_pid(const Remote *r) {
    return r->pid;
}

Remote *remote_next(const Remote *r) {
    return r->next;
}

/* ---- the end ---- */

static void on_timer_closed(uv_handle_t *handle) {
    mem_free(handle->data);
}

/* Everybody is told; the memory goes with the timer. */
static void end(Remote *r, const Error *why) {
    Remote **at = &r->client->remotes;
    while (*at && *at != r) at = &(*at)->next;
    if (*at) *at = r->next;
    r->lines = NULL;
    while (r->calls) {
        Call *call = r->calls;
        r->calls = call->next;
        call->done(call->ctx, json_none(), why);
        mem_free(call);
    }
    while (r->listening) {
        Listening *l = r->listening;
        r->listening = l->next;
        l->listener.over(l->listener.ctx, why);
        mem_free(l);
    }
    uv_close((uv_handle_t *)&r->timer, on_timer_closed);
}

void remote_free(Remote *r) {
    Error gone = ERROR_INIT;
    error_set(&gone, ERR_CANCELLED, "The connection was closed.");
    lines_leave(r->lines);
    end(r, &gone);
}

static void on_closed(void *ctx, const Error *err) {
    Remote *r = ctx;
    Error gone = ERROR_INIT;
    (void)err;
    if (r->why.code != ERR_NONE) {
        gone = r->why;
    } else {
        error_set(&gone, r->greeted ? ERR_IO : ERR_NOT_HELD,
                  "The process that had the run has gone.");
    }
    error_fact_int(&gone, "pid", r->pid);
    end(r, &gone);
}

/* ---- what comes in ---- */

static void take_answer(Remote *r, int64_t id, Json line) {
    Call **at = &r->calls;
    while (*at && (*at)->id != id) at = &(*at)->next;
    Call *call = *at;
    if (!call) {
        return; /* it came too late */
    }
    *at = call->next;
    Json answer = json_object_get_c(line, "answer");
    Error err = ERROR_INIT;
    if (json_is_none(answer)) error_from_json(json_object_get_c(line, "error"), &err);
    call->done(call->ctx, json_ref(answer), json_is_none(answer) ? &err : NULL);
    mem_free(call);
}

static void take_event(Remote *r, int64_t subscription, Json line) {
    Listening **at = &r->listening;
    while (*at && (*at)->subscription != subscription) at = &(*at)->next;
    Listening *l = *at;
    if (l && json_truthy(json_object_get_c(line, "over"))) {
        *at = l->next;
        l->listener.over(l->listener.ctx, NULL);
        mem_free(l);
    } else if (l) {
        l->listener.event(l->listener.ctx,
                          json_object_remove(json_ref(line), json_string_c("subscription")));
    }
}

static void on_time(uv_timer_t *timer);

/* What was asked before the process had greeted has its full time from now on. A process of another version of this
 * program may answer what we did not ask. */
static void take_hello(Remote *r, Json hello) {
    Json protocol = json_object_get_c(hello, "protocol");
    r->greeted = json_tag(protocol) == JSON_TAG_INT && protocol.i == HOST_SOCKET_PROTOCOL;
    if (!r->greeted) {
        error_set(&r->why, ERR_DATA,
                  "Process %lld, which has the run, is of another version of this program, and "
                  "the two do not understand each other.",
                  (long long)r->pid);
        lines_finish(r->lines);
        return;
    }
    for (Call *call = r->calls; call; call = call->next) {
        call->deadline = uv_now(r->client->loop) + CLIENT_CALL_MS;
    }
    if (r->calls) uv_timer_start(&r->timer, on_time, CLIENT_CALL_MS, 0);
}

static void on_value(void *ctx, Json line) {
    Remote *r = ctx;
    bool object = json_kind(line) == JSON_OBJECT;
    Json id = object ? json_object_get_c(line, "request_id") : json_none();
    Json subscription = object ? json_object_get_c(line, "subscription") : json_none();
    if (json_tag(id) == JSON_TAG_INT) {
        take_answer(r, id.i, line);
    } else if (json_tag(subscription) == JSON_TAG_INT) {
        take_event(r, subscription.i, line);
    } else if (object && !r->greeted && !json_is_none(json_object_get_c(line, "error"))) {
        error_from_json(json_object_get_c(line, "error"), &r->why);
    } else if (object && !json_is_none(json_object_get_c(line, "hello"))) {
        take_hello(r, json_object_get_c(line, "hello"));
    }
    json_unref(line);
}

/* ---- time ---- */

static void on_time(uv_timer_t *timer) {
    Remote *r = timer->data;
    uint64_t now = uv_now(r->client->loop);
    while (r->lines && r->calls && r->calls->deadline <= now) {
        Call *call = r->calls;
        Error late = ERROR_INIT;
        r->calls = call->next;
        error_set(&late, r->greeted ? ERR_LIMIT : ERR_BUSY,
                  "The process that has the run has not answered within %d seconds.",
                  (r->greeted ? CLIENT_CALL_MS : CLIENT_HELLO_MS) / 1000);
        error_fact_int(&late, "pid", r->pid);
        call->done(call->ctx, json_none(), &late);
        mem_free(call);
    }
    if (r->lines && r->calls) uv_timer_start(&r->timer, on_time, r->calls->deadline - now, 0);
}

/* ---- what goes out ---- */

void remote_call(Remote *r, const char *operation, Json args, ClientAnswer done, void *ctx) {
    remote_call_for(r, &(ClientCall){operation, args, NULL, done, ctx});
}

void remote_call_for(Remote *r, const ClientCall *asked) {
    Error err = ERROR_INIT;
    Json line = OBJECT(KEY("request_id", ++r->last_id), KEY("call", asked->operation),
                       KEY("args", asked->args), KEY("by", asked->by));
    bool sent = r->lines && lines_send(r->lines, line, &err);
    json_unref(line);
    if (!sent) {
        asked->done(asked->ctx, json_none(), &err);
        return;
    }
    Call *call = mem_zalloc(sizeof *call), **at = &r->calls;
    uv_update_time(r->client->loop);
    *call = (Call){.id = r->last_id, .done = asked->done, .ctx = asked->ctx};
    call->deadline =
        uv_now(r->client->loop) + (uint64_t)(r->greeted ? CLIENT_CALL_MS : CLIENT_HELLO_MS);
    while (*at) at = &(*at)->next;
    *at = call;
    if (r->calls == call) {
        uv_timer_start(&r->timer, on_time, call->deadline - uv_now(r->client->loop), 0);
    }
}

void remote_listen(Remote *r, int64_t subscription, const ClientListener *listener) {
    Listening *l = mem_zalloc(sizeof *l);
    *l = (Listening){r->listening, subscription, *listener};
    r->listening = l;
}

static void ignore(void *ctx, Json answer, const Error *err) {
    (void)ctx;
    (void)err;
    json_unref(answer);
}

void remote_unlisten(Remote *r, int64_t subscription) {
    for (Listening **at = &r->listening; *at; at = &(*at)->next) {
        if ((*at)->subscription == subscription) {
            Listening *l = *at;
            *at = l->next;
            mem_free(l);
            remote_call(r, "unsubscribe", OBJECT(KEY("subscription", subscription)), ignore, NULL);
            return;
        }
    }
}

/* ---- the beginning ---- */

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static int connect_to(Client *c, int64_t pid) {
    SocketPlace place;
    int why = 0;
    const char *folder =
        host_store(c->host, HOST_READS, NULL) ? host_store_folder(c->host, NULL) : NULL;
    if (!folder || !socket_place_open(&place, folder, pid, NULL)) return -1;
    int fd = host_socket_connect(&place, &why, NULL);
    socket_place_close(&place);
    if (fd >= 0 && !host_socket_trusts(fd, true)) {
        close(fd);
        return -1;
    }
    return fd;
}

Remote *remote_open(Client *c, int64_t pid) {
    for (Remote *r = c->remotes; r; r = r->next) {
        if (r->pid == pid) return r;
    }
    int fd = pid == getpid() ? -1 : connect_to(c, pid);
    if (fd < 0) return NULL;
    uv_pipe_t *pipe = mem_zalloc(sizeof *pipe);
    uv_pipe_init(c->loop, pipe, 0);
    if (uv_pipe_open(pipe, fd) < 0) {
        close(fd);
        uv_close((uv_handle_t *)pipe, free_handle);
        return NULL;
    }
    host_ignore_sigpipe();
    Remote *r = mem_zalloc(sizeof *r);
    *r = (Remote){.client = c, .next = c->remotes, .pid = pid};
    c->remotes = r;
    uv_timer_init(c->loop, &r->timer);
    r->timer.data = r;
    LinesHost host = {.value = on_value, .closed = on_closed, .ctx = r};
    r->lines = lines_new((uv_stream_t *)pipe, &host);
    return r;
}
