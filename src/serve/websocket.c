/* websocket.c - the operations over a WebSocket.
 *
 *     {"type": "step", "request_id": 1, "session_id": "t", "data": {"kind": "over"}}
 *     {"type": "answer", "operation": "step", "request_id": 1, "session_id": "t", "data": {...}, "timestamp": ...}
 *     {"type": "error", "operation": "step", "request_id": 1, "data": {"code", "detail", ...}, "timestamp": ...}
 *
 * `type` is the name of an operation, whose arguments are `data`; `session_id` is the run: its thread, its number or the id of
 * its debug session. Each message is answered exactly once, as it is done, not always in order. What happens comes by
 * subscriptions:
 *
 *     {"type": "subscribe", "request_id": 2, "data": {"thread": "t", "attach": true}}     as run_events
 *     {"type": "answer", "request_id": 2, "data": {"subscription": 1}}
 *     {"type": "debug.frame.paused", "subscription": 1, "session_id": "t", "data": {...}, "timestamp": ...}
 *     {"type": "over", "subscription": 1}
 *     {"type": "unsubscribe", "data": {"subscription": 1}}
 *
 * A connection to /debug/ID is one debugger of one run: it attaches when it comes, messages need no session_id, and it speaks the
 * words that a document about debuggers of graphs has for these operations and events (rows below): set_breakpoints, step_over,
 * inspect_state, get_diff; breakpoint_hit, exception, paused, resumed, completed. */
#include "server_inside.h"

#include "args.h"
#include "json_error.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

enum {
    CALLS_MAX = 256,          /* under way on one connection */
    SUBSCRIPTIONS_MAX = 1000, /* of one connection */
    WAITING_MAX = 16 << 20,   /* bytes, */
    HELD_BACK = 1 << 20, /* and when so many wait, no more events are taken until they are sent */
    DEPTH_MAX = 512,
    CLOSE_TOO_SLOW = 1013,
    CLOSE_GOING = 1001,
    CLOSE_NOT_ALLOWED = 1008,
};

/* ---- other words ---- */

/* A word for an operation. fixed: what its arguments begin with. answer: the type of what it is answered with. */
static const struct Word {
    const char *word, *operation, *fixed, *answer;
} words[] = {
    {"set_breakpoints", "breakpoint_set", NULL, "breakpoints_set"},
    {"clear_breakpoints", "breakpoint_delete", NULL, "breakpoints_cleared"},
    {"step_over", "step", "{\"kind\":\"over\"}", "resumed"},
    {"step_into", "step", "{\"kind\":\"into\"}", "resumed"},
    {"step_out", "step", "{\"kind\":\"out\"}", "resumed"},
    {"inspect_state", "evaluate", "{\"expression\":\".\"}", "state_update"},
    {"get_diff", "diff", NULL, "diff"},
    {"continue", "continue", NULL, "resumed"},
};

static const struct EventWord {
    const char *name, *field, *value, *word;
} event_words[] = {
    {"debug.frame.paused", "reason", "exception", "exception"},
    {"debug.frame.paused", NULL, NULL, "paused"},
    {"debug.frame.resumed", NULL, NULL, "resumed"},
    {"debug.task.skipped", NULL, NULL, "resumed"},
    {"debug.breakpoint.hit", NULL, NULL, "breakpoint_hit"},
    {"debug.variable.changed", NULL, NULL, "state_update"},
    {"run.completed", NULL, NULL, "completed"},
};

/* ---- connections ---- */

typedef struct TalkCall {
    Talk *talk; /* NULL: it has gone */
    struct TalkCall *prev, *next;
    const Operation *op;
    const struct Word *word; /* NULL: it was asked for by its own name */
    Json id, session, args;
    bool windowed;                    /* it has a window (windows.h), until it is done */
    char by[sizeof((Asker){0}.name)]; /* who asks; it outlives the talk */
} TalkCall;

typedef struct TalkEvents {
    Talk *talk;
    struct TalkEvents *next;
    ClientEvents *events;
    int64_t number;
    Json said; /* the run, as whoever subscribed called it; JSON_NONE: all */
    Json wanted;
    bool telling, over;
} TalkEvents;

struct Talk {
    Server *server;
    Talk *prev, *next;
    WebSocket *socket;
    Asker asker;
    char *key;    /* whose messages are counted with its own */
    char *thread; /* of /debug/ID; NULL: none */
    Json said;    /* that ID, as it was given */
    TalkCall *calls;
    size_t ncalls;
    TalkEvents *events;
    size_t nevents;
    int64_t last_subscription;
    bool held;     /* client_events_hold() of all of them */
    bool stopping; /* it is closed when the calls under way are answered */
    bool closing;
};

static const char going[] = "The server is stopping.";

static void close_talk(Talk *t, int code, const char *why) {
    t->closing = true;
    web_socket_close(t->socket, code, why);
}

/* Consumes the message. */
static void talk_send(Talk *t, Json message) {
    Buf text = BUF_INIT;
    uv_timeval64_t now;
    uv_gettimeofday(&now);
    message = OBJECT_ADD(message, KEY("timestamp", (double)now.tv_sec + now.tv_usec / 1e6));
    json_print(message, &(JsonPrintOptions){0}, &text);
    json_unref(message);
    if (t->socket && !t->closing) {
        web_socket_send(t->socket, text.data, text.len);
        if (web_socket_waiting(t->socket) > WAITING_MAX) {
            close_talk(t, CLOSE_TOO_SLOW, "Too much waits to be read.");
        }
    }
    buf_clear(&text);
}

static void send_error(Talk *t, Json id, const char *operation, const Error *err) {
    talk_send(t, OBJECT(KEY("type", "error"), KEY("operation", operation),
                        KEY("request_id", json_ref(id)),
                        KEY("data", problem_json(err, problem_status(err)))));
}

/* ---- events ---- */

static void hold_events(Talk *t, bool hold) {
    t->held = hold;
    for (TalkEvents *v = t->events, *next; v && t->held == hold; v = next) {
        next = v->next;
        client_events_hold(v->events, hold); /* it may be gone afterwards */
    }
}

/* All that waited has been sent. */
static void on_drained(void *ctx) {
    Talk *t = ctx;
    if (t->held) hold_events(t, false);
}

static void events_free(TalkEvents *v) {
    TalkEvents **at = &v->talk->events;
    while (*at != v) at = &(*at)->next;
    *at = v->next;
    v->talk->nevents--;
    client_events_end(v->events);
    json_unref(v->wanted);
    json_unref(v->said);
    mem_free(v);
}

static const char *word_of(const Talk *t, Json event, const char *name) {
    for (size_t i = 0; t->thread && i < sizeof event_words / sizeof *event_words; i++) {
        const struct EventWord *w = &event_words[i];
        if (!strcmp(w->name, name) &&
            (!w->field || json_string_is(json_object_get_c(event, w->field), w->value))) {
            return w->word;
        }
    }
    return name;
}

static void on_event(void *ctx, Json event) {
    TalkEvents *v = ctx;
    if (v->over || !v->talk->socket) {
        json_unref(event);
        return;
    }
    Talk *t = v->talk;
    const char *name = event_name(event);
    if (event_is_wanted(event, name, v->wanted, false)) {
        event = event_told(client_host(t->server->options.client), event, name);
        const char *word = word_of(t, event, name);
        if (word != name) {
            event = OBJECT_ADD(event, KEY("node_id", json_ref(json_object_get_c(event, "node"))));
        }
        Json about = json_is_none(v->said) ? json_object_get_c(event, "thread") : v->said;
        t->server->events_sent++;
        talk_send(t, OBJECT(KEY("type", word), KEY("subscription", v->number),
                            KEY("session_id", json_ref(about)), KEY("data", json_ref(event))));
        if (!t->held && t->socket && web_socket_waiting(t->socket) > HELD_BACK)
            hold_events(t, true);
    }
    json_unref(event);
}

static void on_over(void *ctx, const Error *why) {
    TalkEvents *v = ctx;
    Json problem = why ? problem_json(why, problem_status(why)) : json_none();
    v->over = true;
    talk_send(v->talk,
              OBJECT(KEY("type", "over"), KEY("subscription", v->number), KEY("data", problem)));
    if (!v->telling) events_free(v);
}

/* What is told at once comes after the answer. said: the run, as it was called. */
static void subscribe(Talk *t, Json id, Json said, Json args, Error *err) {
    const Operation *op = operation_find("run_events", NULL);
    const char *thread = json_object_text(args, "thread");
    SubscriptionSpec spec = {.thread = thread};
    uv_timeval64_t now;
    uv_gettimeofday(&now);
    Json types = json_ref(json_object_get_c(args, "types"));
    Json wanted = event_names_taken(&types);
    args = OBJECT_ADD(json_object_remove(args, json_string_c("types")), KEY("types", types),
                      KEY("names", json_bool(true)));
    if (!operation_check(op, args, err) || !auth_allows(t->server, &t->asker, op, args, err) ||
        !subscription_asked(args, &spec, err) ||
        (t->nevents >= SUBSCRIPTIONS_MAX &&
         !error_set(err, ERR_LIMIT, "A connection has at most %d subscriptions.",
                    SUBSCRIPTIONS_MAX))) {
        json_unref(wanted);
        json_unref(args);
        return;
    }
    TalkEvents *v = mem_zalloc(sizeof *v);
    *v = (TalkEvents){.talk = t,
                      .next = t->events,
                      .number = ++t->last_subscription,
                      .said = thread ? json_ref(said) : json_none(),
                      .wanted = wanted};
    t->events = v;
    t->nevents++;
    talk_send(t, OBJECT(KEY("type", "answer"), KEY("operation", "subscribe"),
                        KEY("request_id", json_ref(id)),
                        KEY("data", OBJECT(KEY("subscription", v->number),
                                           KEY("since", thread ? json_none()
                                                               : json_time(now.tv_sec * 1000 +
                                                                           now.tv_usec / 1000))))));
    v->telling = true;
    v->events =
        client_events(t->server->options.client, args, &(ClientListener){on_event, on_over, v});
    v->telling = false;
    if (v->over) {
        events_free(v);
    } else if (t->held) {
        client_events_hold(v->events, true);
    }
}

static void unsubscribe(Talk *t, Json id, Json args) {
    Json number = json_object_get_c(args, "subscription");
    for (TalkEvents *v = t->events; v; v = v->next) {
        if (json_tag(number) == JSON_TAG_INT && number.i == v->number) {
            events_free(v);
            break;
        }
    }
    talk_send(t, OBJECT(KEY("type", "answer"), KEY("operation", "unsubscribe"),
                        KEY("request_id", json_ref(id)), KEY("data", json_object())));
}

/* ---- calls ---- */

static void call_free(TalkCall *c) {
    if (c->talk) {
        if (c->prev) c->prev->next = c->next;
        if (c->next) c->next->prev = c->prev;
        if (c->talk->calls == c) c->talk->calls = c->next;
        c->talk->ncalls--;
    }
    json_unref(c->id);
    json_unref(c->session);
    json_unref(c->args);
    mem_free(c);
}

/* The state is what `inspect_state` is answered with, and not the results of an expression. */
static Json shaped(const TalkCall *c, Json answer) {
    Json results = json_object_get_c(answer, "results");
    if (!c->word || strcmp(c->word->word, "inspect_state") != 0 || !json_array_len(results)) {
        return answer;
    }
    Json out = OBJECT(KEY("state", json_ref(json_array_get(results, 0))));
    json_unref(answer);
    return out;
}

/* Whoever takes a run for a debugger may attach in the next message, or ask as over REST: it is kept until then. */
static void keep_session(const TalkCall *c, Json answer) {
    bool opens = !strcmp(c->op->name, "run_open"),
         starts = !strcmp(c->op->name, "run_start") && args_has(c->args, "debug");
    const char *thread = json_object_text(answer, "thread");
    if (thread && (opens || starts)) windows_keep(c->talk->server->windows, thread);
}

static void on_reply(void *ctx, Json answer, const Error *err) {
    TalkCall *c = ctx;
    Talk *t = c->talk;
    if (t && !err) keep_session(c, answer);
    if (t && c->windowed) {
        windows_done(t->server->windows, json_object_text(c->args, "thread"), !err);
    }
    if (!t) {
        json_unref(answer);
    } else if (err) {
        send_error(t, c->id, c->word ? c->word->word : c->op->name, err);
    } else {
        talk_send(t,
                  OBJECT(KEY("type", c->word ? c->word->answer : "answer"),
                         KEY("operation", c->word ? c->word->word : c->op->name),
                         KEY("request_id", json_ref(c->id)),
                         KEY("session_id", json_ref(c->session)), KEY("data", shaped(c, answer))));
    }
    call_free(c);
    if (t && t->stopping && !t->ncalls && !t->closing) close_talk(t, CLOSE_GOING, going);
}

static void do_call(TalkCall *c) {
    Client *client = c->talk->server->options.client;
    const char *by = c->by[0] ? c->by : NULL;
    if (c->op->read || c->op->make || !operation_is_of_run(c->op)) {
        operation_call(client_host(client), c->op->name, json_ref(c->args),
                       (Reply){.give = on_reply, .ctx = c, .by = by});
    } else {
        client_call_for(client, &(ClientCall){c->op->name, json_ref(c->args), by, on_reply, c});
    }
}

static void on_window(void *ctx, const Error *err) {
    TalkCall *c = ctx;
    c->windowed = !err;
    if (!c->talk || err) {
        on_reply(c, json_none(), err);
    } else {
        do_call(c);
    }
}

/* Whether this connection is a window of the run's session itself. */
static bool attaches(const Talk *t, const char *thread) {
    return t->thread && !strcmp(t->thread, thread);
}

static const struct Word *find_word(const Talk *t, const char *name) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strcmp(words[i].word, name) && (t->thread || !operation_find(name, NULL))) {
            return &words[i];
        }
    }
    return NULL;
}

static bool takes_thread(const Operation *op) {
    if (operation_is_of_run(op)) return true;
    for (const OperationArg *a = op->args; a && a->name; a++) {
        if (!strcmp(a->name, "thread")) return true;
    }
    return false;
}

/* With the run that an id of a session, a number or a name means; without where there is none. Consumes args. */
static Json with_thread(const Talk *t, Json args, const char *name, Json said) {
    if (json_kind(said) != JSON_STRING) return args;
    char *thread = thread_of_id(client_host(t->server->options.client), json_string_data(&said),
                                json_string_len(said));
    if (strlen(thread) == json_string_len(said) || !strncmp(json_string_data(&said), "debug-", 6)) {
        args = json_object_with(args, name, json_string_c(thread));
    }
    mem_free(thread);
    return args;
}

/* False with *err: it was not begun. */
static bool begin_call(Talk *t, Json message, Error *err) {
    if (t->stopping) return error_set(err, ERR_BUSY, "The server is stopping.");
    Json id = json_object_get_c(message, "request_id"), type = json_object_get_c(message, "type");
    Json data = json_object_get_c(message, "data"), said = json_object_get_c(message, "session_id");
    if (json_kind(type) != JSON_STRING) {
        return error_set(
            err, ERR_USAGE,
            "A message is {\"type\": OPERATION, \"request_id\": ..., \"data\": {...}}; this one "
            "has no type.");
    }
    if (!json_is_none(data) && json_kind(data) != JSON_OBJECT) {
        return error_set(err, ERR_USAGE, "The `data` of a message is an object.");
    }
    const char *name = json_string_data(&type);
    bool subscribes = !strcmp(name, "subscribe");
    if (!strcmp(name, "unsubscribe")) {
        unsubscribe(t, id, data);
        return true;
    }
    const struct Word *w = find_word(t, name);
    const Operation *op = operation_find(subscribes ? "run_events" : w ? w->operation : name, err);
    if (op && op->stream && !subscribes) {
        op = NULL;
        error_set(err, ERR_USAGE, "`%s` tells events: `subscribe` takes its arguments.", name);
    }
    Json args = op ? route_named_args(op, w ? w->fixed : NULL, data, err) : json_none();
    if (json_is_none(args)) return false;
    Json own = json_object_get_c(data, "thread");
    bool names = !json_is_none(own); /* its run */
    if (w && !strcmp(w->word, "clear_breakpoints") && json_object_len(args) == names) {
        args = OBJECT_ADD(args, KEY("all", json_bool(true)));
    }
    args = with_thread(t, args, "thread", own);
    if (subscribes) {
        Json about = names ? own : json_is_none(said) ? t->said : said;
        if (!names) args = with_thread(t, args, "thread", about);
        Error why = ERROR_INIT;
        subscribe(t, id, about, args, &why);
        if (why.code != ERR_NONE) *err = why;
        return why.code == ERR_NONE;
    }
    if (takes_thread(op) && json_is_none(json_object_get_c(args, "thread"))) {
        char *thread = json_kind(said) == JSON_STRING
                           ? thread_of_id(client_host(t->server->options.client),
                                          json_string_data(&said), json_string_len(said))
                           : mem_strdup(operation_is_of_run(op) ? t->thread : NULL);
        args = OBJECT_ADD(args, KEY("thread", (const char *)thread));
        mem_free(thread);
    }
    if ((t->ncalls >= CALLS_MAX &&
         !error_set(err, ERR_BUSY, "%d messages of this connection are not answered yet.",
                    CALLS_MAX)) ||
        !operation_check(op, args, err) || !auth_allows(t->server, &t->asker, op, args, err)) {
        json_unref(args);
        return false;
    }
    TalkCall *c = mem_zalloc(sizeof *c);
    *c = (TalkCall){.talk = t,
                    .next = t->calls,
                    .op = op,
                    .word = w,
                    .id = json_ref(id),
                    .session = json_ref(said),
                    .args = args};
    snprintf(c->by, sizeof c->by, "%s", t->asker.name);
    if (c->next) c->next->prev = c;
    t->calls = c;
    t->ncalls++;
    const char *thread = json_object_text(args, "thread");
    if (thread) windows_touch(t->server->windows, thread);
    if (operation_is_of_run(op) && op->scope == SCOPE_DEBUG && thread && !attaches(t, thread) &&
        strcmp(op->name, "run_open") != 0) {
        windows_want(t->server->windows, thread, on_window, c);
    } else {
        do_call(c);
    }
    return true;
}

/* One that comes too soon after the others. It is not read for what it asks, but answered. */
static void refuse(Talk *t, Json message) {
    Error err = ERROR_INIT;
    error_set(&err, ERR_BUSY, "More than %u messages a second; wait a second.",
              t->server->options.rate);
    talk_send(t, OBJECT(KEY("type", "error"),
                        KEY("operation", json_ref(json_object_get_c(message, "type"))),
                        KEY("request_id", json_ref(json_object_get_c(message, "request_id"))),
                        KEY("data", OBJECT_ADD(problem_json(&err, 429), KEY("code", "too_many")))));
}

static void on_message(void *ctx, const char *bytes, size_t len, bool text) {
    Talk *t = ctx;
    Error err = ERROR_INIT;
    JsonParseOptions bounds = {
        .max_depth = DEPTH_MAX, .max_bytes = 32 * len + (1 << 20), .strict = true};
    Json message = text ? json_parse(bytes, len, &bounds, &err) : json_none();
    if (json_kind(message) != JSON_OBJECT) {
        if (err.code == ERR_NONE) {
            error_set(&err, ERR_USAGE, "A message is an object, {\"type\": OPERATION, ...}.");
        } else {
            if (json_parse_too_deep(&err)) err.code = ERR_LIMIT;
            error_wrap(&err, err.code == ERR_LIMIT ? "The message is too much"
                                                   : "The message is no JSON");
        }
        send_error(t, json_none(), NULL, &err);
    } else if (!auth_takes_another(t->server, t->key)) {
        refuse(t, message);
    } else if (!begin_call(t, message, &err)) {
        send_error(t, json_object_get_c(message, "request_id"), json_object_text(message, "type"),
                   &err);
    }
    json_unref(message);
}

/* ---- life ---- */

static void on_closed(void *ctx) {
    Talk *t = ctx;
    if (t->prev) t->prev->next = t->next;
    if (t->next) t->next->prev = t->prev;
    if (t->server->talks == t) t->server->talks = t->next;
    t->socket = NULL;
    while (t->events) events_free(t->events);
    for (TalkCall *c = t->calls, *next; c; c = next) {
        next = c->next;
        c->prev = c->next = NULL;
        c->talk = NULL;
    }
    json_unref(t->said);
    mem_free(t->thread);
    mem_free(t->key);
    mem_free(t);
}

/* What was asked is answered first. */
static void on_stop(void *ctx) {
    Talk *t = ctx;
    t->stopping = true;
    if (!t->closing && !t->ncalls) close_talk(t, CLOSE_GOING, going);
}

void talks_look(Server *s) {
    for (Talk *t = s->talks, *next; t; t = next) {
        next = t->next;
        if (t->closing || auth_still(s, &t->asker)) continue;
        close_talk(t, CLOSE_NOT_ALLOWED, "The token does not count any more.");
    }
}

bool talk_is_wanted(const Exchange *x) {
    return web_wants_socket(x->request);
}

/* x->thread: the run that it is about, NULL: none. */
void talk_begin(Exchange *x) {
    Server *s = x->server;
    Talk *t = mem_zalloc(sizeof *t);
    WebRequest *r = x->request;
    *t = (Talk){.server = s, .next = s->talks, .asker = x->asker, .said = json_take(&x->args)};
    t->key = mem_strdup(x->asker.name[0] ? x->asker.name : web_peer(r));
    exchange_note(x, 101);
    web_request_set_data(r, NULL);
    t->socket = web_socket_accept(r, NULL,
                                  &(WebSocketHost){.message = on_message,
                                                   .drained = on_drained,
                                                   .stop = on_stop,
                                                   .closed = on_closed,
                                                   .ctx = t});
    t->thread = x->thread;
    x->thread = NULL;
    x->request = NULL; /* it has become the socket, or was answered */
    exchange_free(x);
    if (!t->socket) { /* it was answered */
        json_unref(t->said);
        mem_free(t->thread);
        mem_free(t->key);
        mem_free(t);
        return;
    }
    if (t->next) t->next->prev = t;
    s->talks = t;
    if (t->thread) {
        Error err = ERROR_INIT;
        Json args = OBJECT(KEY("thread", t->thread), KEY("attach", json_bool(true)));
        subscribe(t, json_none(), t->said, args, &err);
        if (err.code != ERR_NONE) send_error(t, json_none(), "subscribe", &err);
    }
}
