/* client.c - where an operation goes.
 *
 *     any, with a server                  there
 *     an operation of no run              here
 *     of a run that this process holds    here
 *     of any other                        to the process that the run's row names as its owner, when that answers; it
 *                                         says not_held when it does not hold the run (any more)
 *     otherwise                           here, when nobody has the lease
 *
 * A process that has just taken a run needs a moment until it listens, and one that is about to end may let go of
 * it between two looks: the way is looked for again, a few times. */
#include "client_inside.h"

#include "json_build.h"
#include "mem.h"
#include "operation.h"
#include "subscription.h"

#include <assert.h>
#include <string.h>

enum { TRIES = 40, TRY_AGAIN_MS = 50 };

Client *client_new(const ClientOptions *options) {
    Client *c = mem_zalloc(sizeof *c);
    HostOptions host = {.loop = options->loop,
                        .store = options->store,
                        .folder = options->folder,
                        .environment = options->environment,
                        .names = options->names,
                        .bounds = options->bounds,
                        .secrets = options->secrets,
                        .key_file = options->key_file,
                        .workflows = options->workflows};
    c->loop = options->loop;
    if (options->server) {
        c->link = server_link_new(options);
    } else {
        c->host = host_new(&host);
    }
    return c;
}

Host *client_host(Client *c) {
    return c->host;
}

/* ---- the way ---- */

/* An operation on its way: for an answer, or for a stream of events. */
typedef struct Errand {
    Client *client;
    struct Errand *next; /* of those that wait */
    char *operation;
    char *thread; /* NULL: of no run */
    char *by;     /* NULL: nobody said */
    Json args;
    ClientAnswer done;
    void *ctx;
    ClientEvents *events; /* a stream; NULL: an answer */
    uv_timer_t *timer;
    int tries;
    int64_t pid;       /* it was sent there; 0: it was not */
    int64_t passed_by; /* the process that the row named, and that does not have the run */
} Errand;

struct ClientEvents {
    Client *client;
    ClientListener listener;
    bool on_its_way;            /* an errand will come back to it */
    bool ended;                 /* nobody listens any more */
    bool busy;                  /* several events are being told */
    bool held;                  /* client_events_hold() */
    Subscription *subscription; /* here; NULL: it is elsewhere, or over */
    int64_t pid, number;        /* there; 0: it is not */
    ServerEvents *stream;       /* of a server; NULL: there is none */
};

static void free_timer(uv_handle_t *handle) {
    mem_free(handle);
}

static Errand *errand_new(Client *c, const char *operation, Json args) {
    Errand *e = mem_zalloc(sizeof *e);
    *e = (Errand){.client = c, .args = json_is_none(args) ? json_object() : args};
    e->operation = mem_strndup(operation, strlen(operation));
    return e;
}

static void errand_free(Errand *e) {
    if (e->timer) uv_close((uv_handle_t *)e->timer, free_timer);
    mem_free(e->operation);
    mem_free(e->thread);
    mem_free(e->by);
    json_unref(e->args);
    mem_free(e);
}

/* ---- events ---- */

/* Whoever made it ends it. */
static void events_over(ClientEvents *v, const Error *why) {
    if (v->ended) {
        mem_free(v);
    } else {
        v->listener.over(v->listener.ctx, why);
    }
}

static void on_ready(void *ctx, Subscription *s) {
    ClientEvents *v = ctx;
    Json event;
    if (v->on_its_way || v->ended) {
        return; /* it is looked at when it has arrived */
    }
    v->busy = true;
    while (!v->ended && !v->held && subscription_next(s, &event)) {
        v->listener.event(v->listener.ctx, event);
    }
    v->busy = false;
    if (v->ended) { /* by what was told: it was left for us to free */
        client_events_end(v);
        return;
    }
    if (!v->held && subscription_is_over(s)) {
        v->subscription = NULL;
        subscription_end(s);
        events_over(v, NULL);
    }
}

static void subscribe_here(Errand *e) {
    Error err = ERROR_INIT;
    ClientEvents *v = e->events;
    SubscriptionSpec spec = {.thread = e->thread, .ready = on_ready, .ctx = v};
    bool ok = !v->ended && subscription_asked(e->args, &spec, &err);
    v->subscription = ok ? host_subscribe(e->client->host, &spec, &err) : NULL;
    errand_free(e);
    v->on_its_way = false;
    if (v->subscription) {
        on_ready(v, v->subscription);
    } else {
        events_over(v, &err);
    }
}

static void on_remote_event(void *ctx, Json event) {
    ClientEvents *v = ctx;
    v->listener.event(v->listener.ctx, event);
}

static void on_remote_over(void *ctx, const Error *why) {
    ClientEvents *v = ctx;
    v->number = 0;
    events_over(v, why);
}

static Remote *find_remote(const Client *c, int64_t pid) {
    Remote *r = c->remotes;
    while (r && remote_pid(r) != pid) r = remote_next(r);
    return r;
}

static void listen_there(Errand *e, Json answer) {
    ClientEvents *v = e->events;
    Json number = json_object_get_c(answer, "subscription");
    Remote *remote = find_remote(e->client, e->pid);
    v->on_its_way = false;
    if (!remote || json_tag(number) != JSON_TAG_INT) {
        events_over(v, NULL);
    } else if (v->ended) {
        remote_listen(remote, number.i, &(ClientListener){on_remote_event, on_remote_over, v});
        remote_unlisten(remote, number.i);
        mem_free(v);
    } else {
        v->pid = e->pid;
        v->number = number.i;
        remote_listen(remote, number.i, &(ClientListener){on_remote_event, on_remote_over, v});
    }
    json_unref(answer);
    errand_free(e);
}

/* ---- the way ---- */

static void fail(Errand *e, const Error *err) {
    ClientAnswer done = e->done;
    void *ctx = e->ctx;
    ClientEvents *v = e->events;
    errand_free(e);
    if (v) {
        v->on_its_way = false;
        events_over(v, err);
    } else {
        done(ctx, json_none(), err);
    }
}

static void on_answer(void *ctx, Json answer, const Error *err) {
    Errand *e = ctx;
    ClientAnswer done = e->done;
    void *asker = e->ctx;
    errand_free(e);
    done(asker, answer, err);
}

static void go_here(Errand *e) {
    if (e->events) {
        subscribe_here(e);
    } else {
        operation_call(e->client->host, e->operation, json_take(&e->args),
                       (Reply){.give = on_answer, .ctx = e, .by = e->by});
    }
}

static void find_way(Errand *e);

static void wait_no_more(Errand *e) {
    Errand **at = &e->client->waiting;
    while (*at != e) at = &(*at)->next;
    *at = e->next;
}

static void on_again(uv_timer_t *timer) {
    wait_no_more(timer->data);
    find_way(timer->data);
}

static void try_again(Errand *e) {
    e->next = e->client->waiting;
    e->client->waiting = e;
    if (!e->timer) {
        e->timer = mem_zalloc(sizeof *e->timer);
        uv_timer_init(e->client->loop, e->timer);
        e->timer->data = e;
    }
    uv_timer_start(e->timer, on_again, TRY_AGAIN_MS, 0);
}

static void on_remote_answer(void *ctx, Json answer, const Error *err) {
    Errand *e = ctx;
    if (err && err->code == ERR_NOT_HELD && e->tries++ < TRIES) {
        e->passed_by = e->pid;
        find_way(e);
    } else if (err) {
        fail(e, err);
    } else if (e->events) {
        listen_there(e, answer);
    } else {
        on_answer(e, answer, NULL);
    }
}

/* {leased, owner, pid}: who has the run, from its row. On a thread that reads. */
static Json read_holder(Store *store, Json args, Error *err) {
    Json thread = json_object_get_c(args, "thread");
    RunRow row = {0};
    long long pid = 0;
    if (!store_find(store, json_string_data(&thread), &row, err)) return json_none();
    if (row.owner) sscanf(row.owner, "pid %lld", &pid);
    Json out = OBJECT(KEY("leased", store_is_leased(store, row.run)), KEY("owner", row.owner),
                      KEY("pid", pid ? json_int(pid) : json_none()));
    run_row_clear(&row);
    return out;
}

static void fail_ended(Errand *e) {
    Error ended = ERROR_INIT;
    error_set(&ended, ERR_CANCELLED, "Whoever asked for it has ended.");
    fail(e, &ended);
}

static void on_holder(void *ctx, Json holder, const Error *err) {
    Errand *e = ctx;
    if (err) {
        fail(e, err);
        return;
    }
    if (e->client->ending) {
        json_unref(holder);
        fail_ended(e);
        return;
    }
    Json pid = json_object_get_c(holder, "pid"), owner = json_object_get_c(holder, "owner");
    bool leased = json_truthy(json_object_get_c(holder, "leased"));
    bool other = json_tag(pid) == JSON_TAG_INT && pid.i != e->passed_by;
    Remote *remote = other ? remote_open(e->client, pid.i) : NULL;
    e->pid = remote ? pid.i : 0;
    if (remote) {
        remote_call_for(remote,
                        &(ClientCall){e->operation, json_ref(e->args), e->by, on_remote_answer, e});
    } else if (!leased) {
        go_here(e);
    } else if (e->tries++ < TRIES) { /* it has not begun to listen, or has just let go of the run */
        e->passed_by = 0;
        try_again(e);
    } else {
        Error busy = ERROR_INIT;
        const char *who =
            json_kind(owner) == JSON_STRING ? json_string_data(&owner) : "another process";
        error_set(&busy, ERR_BUSY, "Thread `%s` is being run by %s, which does not answer.",
                  e->thread, who);
        error_fact(&busy, "thread", e->thread);
        error_fact(&busy, "holder", who);
        fail(e, &busy);
    }
    json_unref(holder);
}

static void on_come(void *ctx) {
    find_way(ctx);
}

static void find_way(Errand *e) {
    Host *host = e->client->host;
    if (e->client->ending) {
        fail_ended(e);
    } else if (!e->thread || host_find(host, e->thread)) {
        go_here(e);
    } else if (!host_await(host, e->thread, on_come, e)) {
        host_read(e->client->host, read_holder, OBJECT(KEY("thread", e->thread)), on_holder, e);
    }
}

static char *thread_in(Json args) {
    Json thread = json_object_get_c(args, "thread");
    return json_kind(thread) == JSON_STRING
               ? mem_strndup(json_string_data(&thread), json_string_len(thread))
               : NULL;
}

/* A run that is to begin is of nobody yet. */
static bool goes_to_run(const char *operation) {
    const Operation *op = operation_find(operation, NULL);
    return op && operation_is_of_run(op) && strcmp(operation, "run_start") != 0;
}

void client_call_for(Client *c, const ClientCall *call) {
    if (c->link) {
        server_link_call(c->link, call->operation, call->args, json_none(), call->done, call->ctx);
        return;
    }
    Errand *e = errand_new(c, call->operation, call->args);
    e->done = call->done;
    e->ctx = call->ctx;
    e->by = mem_strdup(call->by);
    e->thread = goes_to_run(call->operation) ? thread_in(e->args) : NULL;
    find_way(e);
}

void client_call(Client *c, const char *operation, Json args, ClientAnswer done, void *ctx) {
    client_call_for(c, &(ClientCall){operation, args, NULL, done, ctx});
}

void client_begin(Client *c, const char *operation, Json args, Json listen, ClientAnswer done,
                  void *ctx) {
    if (c->link) {
        server_link_call(c->link, operation, args, listen, done, ctx);
    } else { /* it is answered before the run has its first turn */
        json_unref(listen);
        client_call(c, operation, args, done, ctx);
    }
}

ClientEvents *client_events(Client *c, Json args, const ClientListener *listener) {
    ClientEvents *v = mem_zalloc(sizeof *v);
    if (c->link) {
        *v = (ClientEvents){.client = c};
        v->stream = server_events_new(c->link, json_is_none(args) ? json_object() : args, listener);
        return v;
    }
    Errand *e = errand_new(c, "run_events", args);
    *v = (ClientEvents){.client = c, .listener = *listener, .on_its_way = true};
    e->events = v;
    e->thread = thread_in(e->args);
    find_way(e);
    return v;
}

void client_events_hold(ClientEvents *v, bool hold) {
    if (!v || v->held == hold) return;
    v->held = hold;
    if (!hold && v->subscription && !v->busy) on_ready(v, v->subscription);
}

bool client_events_is_behind(const ClientEvents *v) {
    return v->subscription && subscription_is_behind(v->subscription);
}

void client_events_end(ClientEvents *v) {
    if (!v) return;
    v->ended = true;
    if (v->busy) return;
    Remote *remote = v->number ? find_remote(v->client, v->pid) : NULL;
    if (remote) remote_unlisten(remote, v->number);
    server_events_end(v->stream);
    subscription_end(v->subscription);
    if (!v->on_its_way) mem_free(v);
}

void client_free(Client *c) {
    if (!c) return;
    c->ending = true;
    while (c->waiting) {
        Errand *e = c->waiting;
        wait_no_more(e);
        fail_ended(e);
    }
    while (c->remotes) remote_free(c->remotes);
    server_link_free(c->link);
    host_free(c->host);
    mem_free(c);
}

/* ---- waiting ---- */

typedef struct Wait {
    Json answer;
    Error *err;
    bool done;
} Wait;

static void on_waited(void *ctx, Json answer, const Error *err) {
    Wait *w = ctx;
    w->answer = answer;
    w->done = true;
    if (err && w->err) *w->err = *err;
}

Json client_ask(Client *c, const char *operation, Json args, Error *err) {
    Wait w = {.err = err};
    assert(!c->asking);
    c->asking = true;
    client_call(c, operation, args, on_waited, &w);
    while (!w.done) uv_run(c->loop, UV_RUN_ONCE);
    c->asking = false;
    return w.answer;
}

bool client_is_elsewhere(Client *c, const char *thread) {
    return c->link || (c->remotes && !host_find(c->host, thread));
}
