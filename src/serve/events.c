/* events.c - what happens to runs, as Server-Sent Events.
 *
 *     event: node.completed
 *     id: 24
 *     data: {"event": "step", "cursor": 24, "run": 17, "thread": "t", ...}
 *
 * `id` is where to go on: of one run the cursor of the event, "24", or "24.s" once it was told that the run has settled there;
 * of all runs {"since", "runs"} as subscription.h says. Whoever comes back with it (Last-Event-ID) misses nothing and hears
 * nothing twice. To come back to a run that has ended, and of which all was told, is answered with 204: an EventSource
 * stops then.
 *
 * A run that waits for somebody settles, and nothing is told of it by itself any more. Its streams stay open: they *rest*, and
 * go on when the run does, here or in another process. One look at the runs that changed last, every second while streams
 * rest, finds those.
 *
 * A client that reads slowly gets what is in the record as fast as it takes it. One that does not read is let go when too much
 * waits for it. */
#include "server_inside.h"

#include "json_parse.h"
#include "json_print.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LOOK_MS = 1000,
    QUIET_LOOKS = 15,      /* then a comment is sent, so that proxies keep the connection */
    WAITING_MAX = 8 << 20, /* bytes */
    HELD_BACK = 1 << 20, /* and when so much waits, nothing more is taken until it has been sent */
    RUNS_NAMED = 16, /* in a place in the record of all runs, before older ones are looked for */
    MOMENT_MS = 20,  /* two events of such a moment may come in either order */
    PLACE_MAX = 24 << 10, /* bytes of such a place: it comes back in a header */
    CHANGED_MAX = 1000,
    CHECK_LOOKS = 5, /* a stream that rests is asked about again after so many, */
    CHECKED = 64,    /* so many of them in one look */
};

struct EventStream {
    Server *server;
    EventStream *prev, *next;
    WebStream *out; /* NULL: whoever listened has gone */
    ClientEvents *events;
    Exchange *exchange; /* until the headers are sent */
    Json args;          /* of run_events, without `from` */
    Json wanted;        /* names outside; JSON_NONE: all */
    Asker asker;
    char *thread; /* NULL: all runs */
    int64_t run;  /* its number, once known */
    int64_t cursor;
    bool settled;     /* that it has, at the cursor, was told */
    bool was_settled; /* the same, when whoever listens was here last */
    bool attach;
    bool
        plain; /* for a client of our own: events as they are, by the names that they have inside */
    bool rests; /* nothing is told until the run goes on */
    bool final; /* it never will */
    bool over;  /* to be freed when nothing is told any more */
    bool cut;   /* more was to come: the client is to see that */
    bool telling;
    bool held;              /* client_events_hold() */
    unsigned quiet, rested; /* looks */
    /* Of all runs. */
    Json runs;                     /* {number: cursor} */
    Json times;                    /* {number: ms}, of what was told of each last */
    int64_t since, newest, forgot; /* ms since 1970; newest: 0 while the record is read */
};

/* The cursor behind all that a checkpoint tells. */
static int64_t behind_checkpoint(int64_t seq) {
    return 2 * seq + 1;
}

static int64_t now_ms(void) {
    uv_timeval64_t t;
    uv_gettimeofday(&t);
    return t.tv_sec * 1000 + t.tv_usec / 1000;
}

/* ---- life ---- */

void event_stream_end(EventStream *v) {
    if (v->telling) {
        v->over = true;
        return;
    }
    if (v->prev) v->prev->next = v->next;
    if (v->next) v->next->prev = v->prev;
    if (v->server->streams == v) v->server->streams = v->next;
    client_events_end(v->events);
    if (v->out) (v->cut ? web_stream_break : web_stream_end)(v->out);
    json_unref(v->args);
    json_unref(v->wanted);
    json_unref(v->runs);
    json_unref(v->times);
    mem_free(v->thread);
    mem_free(v);
}

void events_close(Server *s) {
    while (s->streams) {
        s->streams->cut = true;
        event_stream_end(s->streams);
    }
}

static void on_gone(void *ctx) {
    EventStream *v = ctx;
    v->out = NULL;
    event_stream_end(v);
}

/* ---- a place in the record of all runs ---- */

/* Events of all runs that are held here come in the order in which they are recorded, once those from the record have been told.
 * So all of them that is older than the newest has been told, and a place names only the runs of the last moment, with where they are. While the
 * record is read, run by run, it names all that were heard of. */

static int64_t time_of(Json event) {
    int64_t at = 0;
    return json_time_ms(json_object_get_c(event, "at"), &at) ? at : now_ms();
}

/* Runs that told nothing since then need no name. */
static void forget_older(EventStream *v) {
    Json runs = json_object(), times = json_object(), number, at;
    for (size_t pos = 0; json_object_next(v->times, &pos, &number, &at);) {
        if (at.i < v->since) continue;
        runs = json_object_set(runs, json_ref(number), json_ref(json_object_get(v->runs, number)));
        times = json_object_set(times, json_ref(number), json_ref(at));
    }
    json_put(&v->runs, runs);
    json_put(&v->times, times);
}

static void note_run(EventStream *v, Json event) {
    Json number = json_object_get_c(event, "run"), cursor = json_object_get_c(event, "cursor");
    Json head = json_object_get_c(event, "checkpoint");
    bool settled = json_string_is(json_object_get_c(event, "event"), "settled");
    if (json_tag(number) != JSON_TAG_INT || (json_tag(cursor) != JSON_TAG_INT && !settled)) return;
    Json key = json_string_fmt("%lld", (long long)number.i);
    Json known = json_object_get(v->runs, key);
    int64_t at = time_of(event), told = json_tag(known) == JSON_TAG_INT ? known.i : 0;
    int64_t here = json_tag(cursor) == JSON_TAG_INT ? cursor.i
                   : json_tag(head) == JSON_TAG_INT ? behind_checkpoint(head.i)
                                                    : 0;
    told = here > told ? here : settled ? told | 1 : told;
    v->runs = json_object_set(v->runs, json_ref(key), json_int(told));
    v->times = json_object_set(v->times, key, json_int(at));
    if (v->telling || client_events_is_behind(v->events)) return;
    bool first = !v->newest;
    if (at > v->newest || at < v->since) v->newest = at;
    if (v->newest - MOMENT_MS > v->since || at < v->since) { /* a clock may have been set back */
        v->since = v->newest - MOMENT_MS;
    }
    if (first || (json_object_len(v->runs) > RUNS_NAMED && v->since >= v->forgot + MOMENT_MS)) {
        forget_older(v);
        v->forgot = v->since;
    }
}

static void add_place(const EventStream *v, Buf *out) {
    Json place = OBJECT(KEY("since", json_time(v->since)), KEY("runs", json_ref(v->runs)));
    json_print(place, &(JsonPrintOptions){0}, out);
    json_unref(place);
}

/* ---- telling ---- */

static void add_id(EventStream *v, Json event, Buf *out) {
    Json cursor = json_object_get_c(event, "cursor");
    if (v->attach) {
        buf_adds(out, "id: attached\n");
        return;
    }
    if (!v->thread) {
        size_t before = out->len;
        buf_adds(out, "id: ");
        add_place(v, out);
        if (out->len - before >
            PLACE_MAX) { /* it would be refused: rather tell some things twice */
            out->len = before;
        } else {
            buf_addc(out, '\n');
        }
        return;
    }
    if (json_tag(cursor) == JSON_TAG_INT || v->settled) {
        buf_printf(out, "id: %lld%s\n", (long long)v->cursor, v->settled ? ".s" : "");
    }
}

/* What happened to a run that is settled was told when it settled. */
static bool is_told(EventStream *v, Json event) {
    Json cursor = json_object_get_c(event, "cursor"), head = json_object_get_c(event, "checkpoint");
    bool settled = json_string_is(json_object_get_c(event, "event"), "settled");
    if (!v->thread || v->attach) return false;
    if (json_tag(cursor) == JSON_TAG_INT) {
        v->cursor = cursor.i;
        v->settled = v->was_settled = v->final = false;
    }
    if (!settled) return false;
    if (json_tag(head) == JSON_TAG_INT && behind_checkpoint(head.i) > v->cursor) {
        v->cursor = behind_checkpoint(head.i); /* events before it may not have been asked for */
    }
    bool again = v->was_settled || v->settled;
    v->settled = true;
    v->was_settled = false;
    v->final = json_string_is(json_object_get_c(event, "status"), "completed") ||
               json_string_is(json_object_get_c(event, "status"), "cancelled") ||
               json_truthy(json_object_get_c(event, "over"));
    return again;
}

/* Whom the event is about stands in each, also in those of a session. */
static Json with_names(EventStream *v, Json event) {
    if (v->thread && json_is_none(json_object_get_c(event, "thread"))) {
        event = OBJECT_ADD(event, KEY("thread", v->thread),
                           KEY("run", v->run ? json_int(v->run) : json_none()));
    }
    if (json_is_none(json_object_get_c(event, "at"))) {
        event = OBJECT_ADD(event, KEY("at", json_time(now_ms())));
    }
    return event;
}

static void on_event(void *ctx, Json event) {
    EventStream *v = ctx;
    if (v->over || !v->out) {
        json_unref(event);
        return;
    }
    if (!v->plain) event = with_names(v, event);
    const char *name = event_name(event);
    if (!v->thread) note_run(v, event);
    bool told = is_told(v, event);
    if (!strcmp(name, "dropped")) { /* it comes back by its id */
        v->over = v->cut = true;
    } else if (!told && event_is_wanted(event, name, v->wanted, v->plain)) {
        Buf text = BUF_INIT;
        if (!v->plain) event = event_told(client_host(v->server->options.client), event, name);
        buf_printf(&text, "event: %s\n", name);
        add_id(v, event, &text);
        buf_adds(&text, "data: ");
        json_print(event, &(JsonPrintOptions){0}, &text);
        buf_adds(&text, "\n\n");
        web_stream_write(v->out, text.data, text.len);
        v->server->events_sent++;
        v->quiet = 0;
        buf_clear(&text);
        size_t waiting = web_stream_waiting(v->out);
        if (waiting > WAITING_MAX) v->over = v->cut = true;
        if (waiting > HELD_BACK && !v->held) {
            v->held = true;
            client_events_hold(v->events, true);
        }
    }
    json_unref(event);
    if (v->over && !v->telling) event_stream_end(v);
}

/* All that waited has been sent. */
static void on_drained(void *ctx) {
    EventStream *v = ctx;
    if (!v->held) return;
    v->held = false;
    client_events_hold(v->events, false); /* it may be gone afterwards */
}

/* Why it ends, where it does not end with its run. */
static void tell_problem(EventStream *v, const Error *why) {
    Json problem = problem_json(why, problem_status(why));
    Buf text = BUF_INIT;
    buf_adds(&text, "event: problem\ndata: ");
    json_print(problem, &(JsonPrintOptions){0}, &text);
    buf_adds(&text, "\n\n");
    web_stream_write(v->out, text.data, text.len);
    buf_clear(&text);
    json_unref(problem);
}

static void on_over(void *ctx, const Error *why) {
    EventStream *v = ctx;
    bool gone = why && why->code == ERR_NOT_FOUND;
    client_events_end(v->events);
    v->events = NULL;
    if (v->over || !v->out || v->final || v->attach || !v->thread || gone) {
        if (why && !v->over && v->out) tell_problem(v, why);
        v->over = true;
        if (!v->telling) event_stream_end(v);
        return;
    }
    v->rests = true; /* another process that had it may have gone: it is looked for again */
    v->rested = 0;
}

/* From inside of client_events() much may be told, also that it is over. */
static void listen_from(EventStream *v, Json from) {
    Json args = OBJECT_ADD(json_ref(v->args), KEY("from", from));
    v->rests = false;
    v->telling = true;
    ClientEvents *events =
        client_events(v->server->options.client, args, &(ClientListener){on_event, on_over, v});
    v->telling = false;
    if (v->over || v->rests) {
        client_events_end(events);
    } else {
        v->events = events;
        if (v->held) client_events_hold(events, true);
    }
    if (v->over) event_stream_end(v);
}

/* ---- those that rest ---- */

static bool has_moved(const EventStream *v, Json run) {
    Json head = json_object_get_c(run, "checkpoint");
    return json_string_is(json_object_get_c(run, "status"), "running") ||
           (json_tag(head) == JSON_TAG_INT && head.i * 2 > v->cursor);
}

/* The runs that changed last. Where more have since the look before than were asked for, any may have. */
static void on_changed(void *ctx, Json answer, const Error *err) {
    Server *s = ctx;
    s->pending--;
    if (!s->web || s->closing) {
        json_unref(answer);
        server_let_go(s);
        return;
    }
    Json runs = err ? json_none() : json_object_get_c(answer, "runs"), changed = json_object();
    size_t n = json_kind(runs) == JSON_ARRAY ? json_array_len(runs) : 0;
    int64_t oldest = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        Json run = json_array_get(runs, i), thread = json_object_get_c(run, "thread");
        changed = json_object_set(changed, json_ref(thread), json_ref(run));
        json_time_ms(json_object_get_c(run, "updated"), &oldest);
    }
    bool missed = n == CHANGED_MAX && oldest >= s->changes_seen;
    for (EventStream *v = s->streams, *next; v; v = next) {
        next = v->next;
        Json run = v->rests ? json_object_get_c(changed, v->thread) : json_none();
        if (v->rests && (missed || (!json_is_none(run) && has_moved(v, run)))) {
            listen_from(v, json_int(v->cursor));
        }
    }
    if (!err) s->changes_seen = s->changes_asked;
    json_unref(changed);
    json_unref(answer);
}

void events_look(Server *s) {
    bool rests = false;
    int checked = 0;
    for (EventStream *v = s->streams, *next; v; v = next) {
        next = v->next;
        if (!auth_still(s, &v->asker)) {
            event_stream_end(v);
            continue;
        }
        if (v->final &&
            v->events) { /* a debugger keeps a run that has ended; nothing more happens to it */
            event_stream_end(v);
            continue;
        }
        rests |= v->rests;
        if (v->out && ++v->quiet >= QUIET_LOOKS) {
            web_stream_write(v->out, ":\n\n", 3);
            v->quiet = 0;
        }
        if (v->rests && ++v->rested >= CHECK_LOOKS && checked++ < CHECKED) {
            listen_from(v, json_int(v->cursor)); /* its run may have been deleted */
        }
    }
    if (rests && !s->closing && !s->pending) {
        s->pending++;
        s->changes_asked = now_ms() - LOOK_MS; /* clocks of others may be a little behind */
        operation_call(client_host(s->options.client), "runs",
                       OBJECT(KEY("limit", json_int(CHANGED_MAX))),
                       (Reply){.give = on_changed, .ctx = s});
    }
}

/* ---- a request ---- */

static Json no_place(const char *last, Error *err) {
    error_set(
        err, ERR_USAGE,
        "`%.*s` is the id of no event here: Last-Event-ID takes those that this stream has told.",
        60, last);
    error_fact(err, "field", "Last-Event-ID");
    return json_none();
}

/* A place in the record of all runs, 0: its beginning. False: it is none. */
static bool go_on_from(EventStream *v, Json place) {
    Json since = json_object_get_c(place, "since"), runs = json_object_get_c(place, "runs");
    Json number, cursor;
    int64_t at = 0;
    if (json_tag(place) != JSON_TAG_INT && json_kind(place) != JSON_OBJECT) return false;
    if (!json_is_none(since) && !json_time_ms(since, &at)) return false;
    v->since = at;
    if (json_kind(runs) == JSON_OBJECT) json_put(&v->runs, json_ref(runs));
    for (size_t pos = 0; json_object_next(v->runs, &pos, &number, &cursor);) {
        v->times = json_object_set(v->times, json_ref(number), json_int(now_ms()));
    }
    return true;
}

/* Where it goes on; JSON_NONE: from now on, or, with *err, what came back is no place. Given. */
static Json place_of(EventStream *v, const char *last, Error *err) {
    Json given = json_ref(json_object_get_c(v->args, "from"));
    v->args = json_object_remove(v->args, json_string_c("from"));
    if (v->attach || !last || !last[0]) {
        if (!v->thread && !json_is_none(given)) go_on_from(v, given);
        return given;
    }
    json_unref(given);
    if (v->thread) {
        char *end;
        long long cursor = strtoll(last, &end, 10);
        v->was_settled = !strcmp(end, ".s");
        bool fine = last[0] >= '0' && last[0] <= '9' && (!*end || v->was_settled);
        return fine && cursor < INT64_MAX / 4 ? json_int(cursor) : no_place(last, err);
    }
    Json place = json_parse(last, strlen(last), &(JsonParseOptions){.max_depth = 4}, NULL);
    if (json_is_none(json_object_get_c(place, "since")) || !go_on_from(v, place)) {
        json_unref(place);
        return no_place(last, err);
    }
    return place;
}

/* first: what is written before all else; NULL: nothing. */
static void begin_with(EventStream *v, Json from, const Buf *first) {
    Exchange *x = v->exchange;
    Server *s = v->server;
    bool head = !strcmp(web_method(x->request), "HEAD");
    v->exchange = NULL;
    v->out = exchange_stream(x, &(WebStreamHost){.drained = on_drained, .gone = on_gone, .ctx = v});
    v->next = s->streams;
    if (v->next) v->next->prev = v;
    s->streams = v;
    if (head) { /* the headers are all that was asked for */
        json_unref(from);
        event_stream_end(v);
        return;
    }
    if (first) {
        web_stream_write(v->out, first->data, first->len);
    } else {
        web_stream_write(v->out, ":\n\n", 3); /* proxies and clients see that it has begun */
    }
    listen_from(v, from);
}

static void begin(EventStream *v, Json from) {
    begin_with(v, from, NULL);
}

static void forget(EventStream *v) {
    json_unref(v->args);
    json_unref(v->wanted);
    json_unref(v->runs);
    json_unref(v->times);
    mem_free(v->thread);
    mem_free(v);
}

static bool has_ended(Json run) {
    Json status = json_object_get_c(run, "status");
    return json_string_is(status, "completed") || json_string_is(status, "cancelled") ||
           json_truthy(json_object_get_c(run, "over"));
}

/* The run is there: whoever comes back after its end has heard all of it. */
static void on_found(void *ctx, Json run, const Error *err) {
    EventStream *v = ctx;
    Exchange *x = v->exchange;
    const char *last = x->request ? web_header(x->request, "last-event-id") : NULL;
    if (!x->request || err) {
        if (x->request) {
            exchange_fail(x, err);
        } else {
            exchange_free(x);
        }
        json_unref(run);
        forget(v);
        return;
    }
    Json number = json_object_get_c(run, "run"), head = json_object_get_c(run, "checkpoint");
    Error wrong = ERROR_INIT;
    Json from = place_of(v, last, &wrong);
    if (wrong.code != ERR_NONE) {
        exchange_fail(x, &wrong);
        json_unref(run);
        forget(v);
        return;
    }
    const char *thread = json_object_text(run, "thread");
    if (thread) { /* it may have been asked for by its number */
        mem_free(v->thread);
        v->thread = mem_strdup(thread);
    }
    v->run = json_tag(number) == JSON_TAG_INT ? number.i : 0;
    v->cursor = json_tag(from) == JSON_TAG_INT   ? from.i
                : json_tag(head) == JSON_TAG_INT ? behind_checkpoint(head.i) /* from now on */
                                                 : 0;
    bool all_told = v->was_settled && json_tag(head) == JSON_TAG_INT && v->cursor >= head.i * 2;
    bool left = v->attach && last && !strcmp(last, "attached") &&
                !json_string_is(json_object_get_c(run, "status"), "paused") &&
                !json_string_is(json_object_get_c(run, "status"), "running");
    if ((has_ended(run) && all_told) || left) {
        exchange_answer(x, 204, json_none());
        forget(v);
    } else {
        begin(v, from);
    }
    json_unref(run);
}

/* args: of run_events, consumed. */
static EventStream *stream_new(Exchange *x, const char *thread, Json args) {
    EventStream *v = mem_zalloc(sizeof *v);
    *v = (EventStream){.server = x->server,
                       .exchange = x,
                       .asker = x->asker,
                       .args = args,
                       .wanted = json_none(),
                       .runs = json_object(),
                       .times = json_object(),
                       .since = now_ms(),
                       .thread = mem_strdup(thread),
                       .attach = json_truthy(json_object_get_c(args, "attach")),
                       .plain = web_header(x->request, "pawl-client") != NULL};
    Json types = json_ref(json_object_get_c(v->args, "types"));
    if (!v->plain) v->wanted = event_names_taken(&types);
    v->args = json_object_remove(v->args, json_string_c("types"));
    v->args = OBJECT_ADD(v->args, KEY("types", types),
                         KEY("names", v->plain ? json_none() : json_bool(true)));
    return v;
}

/* What is not wanted is let fall here: the end has to be seen. */
static void want_here(EventStream *v) {
    if (json_is_none(v->wanted)) v->wanted = json_ref(json_object_get_c(v->args, "types"));
    v->args = json_object_remove(v->args, json_string_c("types"));
}

/* Whether Accept names the type of events, and does not say that it is not wanted. */
static bool accepts_events(const char *accept) {
    static const char type[] = "text/event-stream";
    for (const char *at = accept; at && *at;) {
        size_t len = strcspn(at, ","), blank = strspn(at, " \t"), name = sizeof type - 1;
        const char *end = at + len, *q = at + blank + name;
        if (len >= blank + name && !strncasecmp(at + blank, type, name)) {
            while (q < end && strncmp(q, "q=", 2) != 0) q++;
            return q >= end || strtod(q + 2, NULL) > 0;
        }
        at = *end ? end + 1 : end;
    }
    return false;
}

bool events_are_wanted(const Exchange *x, const Operation *op) {
    return (!strcmp(op->name, "run_start") || !strcmp(op->name, "run_resume") ||
            !strcmp(op->name, "run_logs")) &&
           accepts_events(web_header(x->request, "accept"));
}

/* What is to be heard of a run that is begun: as in a query of its events. JSON_NONE: what was sent is none. */
static Json listen_args(const Exchange *x, const char *thread, Error *err) {
    static const char path[] = "/runs/-/events";
    RouteMatch match = route_find("GET", path, sizeof path - 1);
    Json args = route_args(&match, web_header(x->request, "pawl-listen"), json_none(), err);
    if (json_is_none(args)) return args;
    args = OBJECT_ADD(args, KEY("thread", thread));
    args = json_object_remove(args, json_string_c("from"));
    args = json_object_remove(args, json_string_c("attach"));
    SubscriptionSpec spec = {.thread = thread};
    Json types = json_ref(json_object_get_c(args, "types"));
    if (!web_header(x->request, "pawl-client")) json_unref(event_names_taken(&types));
    Json inside =
        OBJECT_ADD(json_object_remove(json_ref(args), json_string_c("types")), KEY("types", types));
    if (!operation_check(route_operation(match.route), inside, err) ||
        !subscription_asked(inside, &spec, err)) {
        json_clear(&args);
    }
    json_unref(inside);
    return args;
}

bool events_listen_is_fine(const Exchange *x, Error *err) {
    Json args = listen_args(x, "-", err);
    bool fine = !json_is_none(args);
    if (!fine) {
        error_wrap(err, "The header Pawl-Listen");
        error_fact(err, "field", "Pawl-Listen");
    }
    json_unref(args);
    return fine;
}

bool events_follow(Exchange *x, Json answer, bool again) {
    const char *thread = json_object_text(answer, "thread");
    Json number = json_object_get_c(answer, "run");
    Json args = thread ? listen_args(x, thread, NULL) : json_none();
    if (json_is_none(args)) return false;
    EventStream *v = stream_new(x, thread, args);
    Buf first = BUF_INIT;
    if (!v->plain) want_here(v);
    v->run = json_tag(number) == JSON_TAG_INT ? number.i : 0;
    buf_adds(&first, "event: answer\ndata: ");
    json_print(answer, &(JsonPrintOptions){0}, &first);
    buf_adds(&first, "\n\n");
    json_unref(answer);
    begin_with(v, again ? json_int(0) : json_none(), &first);
    buf_clear(&first);
    return true;
}

void events_request(Exchange *x) {
    Server *s = x->server;
    EventStream *v = stream_new(x, x->thread, json_ref(x->args));
    Error err = ERROR_INIT;
    SubscriptionSpec spec = {.thread = v->thread};
    bool fine = subscription_asked(v->args, &spec, &err);
    want_here(v);
    if (!fine) {
        exchange_fail(x, &err);
        forget(v);
    } else if (!v->thread) {
        Json from = place_of(v, web_header(x->request, "last-event-id"), &err);
        if (err.code == ERR_NONE) {
            begin(v, from);
        } else {
            exchange_fail(x, &err);
            forget(v);
        }
    } else if (v->attach) {
        client_call(s->options.client, "run_open", OBJECT(KEY("thread", v->thread)), on_found, v);
    } else {
        operation_call(client_host(s->options.client), "run_get", OBJECT(KEY("thread", v->thread)),
                       (Reply){.give = on_found, .ctx = v});
    }
}
