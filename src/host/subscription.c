/* subscription.c - queues of events.
 *
 * A subscription is on the list of its run, or of the host when it is for all runs. It is *live* when what happens
 * goes into its queue at once. One that asked for what came before is *behind* at first: pages of checkpoints
 * are read on another thread (catch_up), and what happens meanwhile waits in `later`; when a page comes back
 * empty, what waits is told from where the pages ended, and it is live. Events of both ways are the same:
 * step_event() makes them from a checkpoint of the store as event_json() does from the engine's.
 *
 * A cursor is checkpoint * 2, or one more for the interrupt that the checkpoint left open. */
#include "host_inside.h"

#include "image.h"
#include "json_build.h"
#include "mem.h"
#include "store_chain.h"
#include "suggest.h"

#include <stdio.h>
#include <string.h>

enum { PAGE = 500, LOW = 1024 };

struct Subscription {
    Host *host;
    HostRun *run;        /* NULL: of all, or its run is gone */
    Subscription *next;  /* on the same list */
    Subscription **list; /* NULL: on none */
    SubscriptionSpec spec;
    char *thread;
    int64_t number;
    int64_t cursor; /* of the last event that has one */
    Json *queue;    /* a ring */
    size_t head, n, cap;
    Json later;   /* an array: what happened while it was behind; JSON_NONE: it is live */
    bool lost;    /* more happened while it was behind than `later` holds: it is in the store */
    bool stalled; /* it is behind, and reads too slowly for another page */
    bool over;    /* nothing more will come */
    bool ended;   /* by whoever made it: it is freed once it is not busy */
    bool reading; /* a page is on its way */
    bool busy;    /* several events are being told */
    bool told;    /* ready() was, and nothing was taken since */
};

int64_t subscription_number(const Subscription *s) {
    return s->number;
}

const Subscription *subscription_after(const Subscription *s) {
    return s->next;
}

bool subscription_attaches(const Subscription *s) {
    return s->spec.attach;
}

static void catch_up(Subscription *s);

/* ---- the queue ---- */

static void wake(Subscription *s) {
    if (!s->told && s->spec.ready) {
        s->told = true;
        s->spec.ready(s->spec.ctx, s);
    }
}

static void push(Subscription *s, Json event) {
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        Json *queue = mem_alloc(cap * sizeof *queue);
        for (size_t i = 0; i < s->n; i++) {
            queue[i] = s->queue[(s->head + i) & (s->cap - 1)];
        }
        mem_free(s->queue);
        s->queue = queue;
        s->cap = cap;
        s->head = 0;
    }
    s->queue[(s->head + s->n++) & (s->cap - 1)] = event;
}

/* Consumes the event. Whoever does not read is let go: what it missed it finds again by its cursor. */
static void tell(Subscription *s, Json event) {
    if (s->over) {
        json_unref(event);
        return;
    }
    if (s->n >= SUBSCRIPTION_MAX) {
        json_unref(event);
        event = OBJECT(KEY("event", "dropped"), KEY("thread", s->thread), KEY("cursor", s->cursor));
        s->over = true;
    }
    Json cursor = json_object_get_c(event, "cursor");
    s->cursor = json_tag(cursor) == JSON_TAG_INT ? cursor.i : s->cursor;
    push(s, event);
    wake(s);
}

bool subscription_next(Subscription *s, Json *event) {
    s->told = false;
    if (!s->n) {
        return false;
    }
    *event = s->queue[s->head];
    s->head = (s->head + 1) & (s->cap - 1);
    s->n--;
    if (s->stalled && s->n < LOW && !s->ended) {
        s->stalled = false;
        catch_up(s);
    }
    return true;
}

bool subscription_is_over(const Subscription *s) {
    return s->over;
}

static void finish(Subscription *s) {
    if (!s->over) {
        s->over = true;
        wake(s);
    }
}

/* ---- events ---- */

static bool wants(const Subscription *s, EventType type) {
    return !s->spec.types || s->spec.types >> type & 1;
}

static Json settled_fields(Json out, const HostRun *r, bool values) {
    const Error *lost = run_store_error(r->run);
    out = OBJECT_ADD(out, KEY("interrupts", run_interrupts(r->run)), KEY("paused", host_pauses(r)),
                     KEY("error", json_ref(run_error(r->run))),
                     KEY("store_error", lost ? lost->msg : NULL),
                     KEY("over", run_is_over(r->run) ? json_bool(true) : json_none()),
                     KEY("answered", run_was_answered(r->run) ? json_bool(true) : json_none()),
                     KEY("recorded", r->recording ? recording_report(r->recording) : json_none()));
    return values && !lost ? OBJECT_ADD(out, KEY("state", json_ref(run_state(r->run)))) : out;
}

/* That a run has settled, from the run itself. */
static Json settled_event(const HostRun *r, bool values) {
    int64_t head = run_checkpoint(r->run);
    Json out = OBJECT(
        KEY("event", "settled"), KEY("run", run_number(r->run)), KEY("thread", run_thread(r->run)),
        KEY("checkpoint", head ? json_int(head) : json_none()), KEY("status", run_status(r->run)));
    return settled_fields(out, r, values);
}

/* What the engine tells, for whoever wants values or not. */
static Json event_json(const HostRun *r, const Event *e, bool values) {
    bool durable = e->type == EVENT_STEP || e->type == EVENT_INTERRUPT;
    int64_t cursor = e->checkpoint * 2 + (e->type == EVENT_INTERRUPT);
    Json out = OBJECT(
        KEY("event", event_names[e->type]),
        KEY("cursor", durable && e->checkpoint ? json_int(cursor) : json_none()),
        KEY("run", run_number(r->run)), KEY("thread", run_thread(r->run)),
        KEY("at", json_time(e->at)),
        KEY("checkpoint", e->checkpoint ? json_int(e->checkpoint) : json_none()),
        KEY("step", json_int(e->step)), KEY("frame", e->frame ? json_int(e->frame) : json_none()),
        KEY("frame_name", e->frame_name && e->frame_name[0] ? e->frame_name : NULL),
        KEY("depth", e->depth ? json_int(e->depth) : json_none()),
        KEY("node", e->node && e->node[0] ? e->node : NULL), KEY("status", e->status));
    Json key, value;
    for (size_t pos = 0;
         json_kind(e->data) == JSON_OBJECT && json_object_next(e->data, &pos, &key, &value);) {
        if (json_kind(value) != JSON_NULL) {
            out = json_object_set(out, json_ref(key), json_ref(value));
        }
    }
    if (values) {
        out = OBJECT_ADD(out, KEY("update", json_ref(e->update)), KEY("state", json_ref(e->state)));
    }
    return e->type == EVENT_SETTLED ? settled_fields(out, r, values) : out;
}

static bool is_of_debugger(EventType type) {
    return type == EVENT_PAUSED || type == EVENT_RESUMED || type == EVENT_DEBUG ||
           type == EVENT_STOPPED;
}

static void hand(Subscription *s, Json event) {
    if (json_is_none(s->later)) {
        tell(s, json_ref(event));
        return;
    }
    if (json_array_len(s->later) >= SUBSCRIPTION_MAX) {
        json_unref(s->later);
        s->later = json_array();
        s->lost = true;
    }
    s->later = json_array_push(s->later, json_ref(event));
}

void subscription_event(HostRun *r, const Event *e) {
    Json plain = json_none(), full = json_none();
    bool of_session = is_of_debugger(e->type) && host_has_session(r);
    for (int list = 0; list < 2; list++) {
        for (Subscription *s = list ? r->host->all : r->watchers, *next; s; s = next) {
            next = s->next;
            if (s->spec.attach || of_session || !wants(s, e->type)) {
                continue;
            }
            Json *made = s->spec.values ? &full : &plain;
            *made = json_is_none(*made) ? event_json(r, e, s->spec.values) : *made;
            hand(s, *made);
        }
    }
    if (e->type == EVENT_SETTLED) {
        r->told_settled = true;
        host_sweep_soon(r);
    }
    json_unref(plain);
    json_unref(full);
}

/* Of a debugger; those who only watch are told what concerns the run. */
static bool concerns_run(Json event, EventType *type) {
    static const struct {
        const char *name;
        EventType type;
    } rows[] = {{"paused", EVENT_PAUSED},
                {"resumed", EVENT_RESUMED},
                {"breakpoint", EVENT_DEBUG},
                {"session", EVENT_DEBUG},
                {"log", EVENT_DEBUG}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (json_string_is(json_object_get_c(event, "event"), rows[i].name)) {
            *type = rows[i].type;
            return true;
        }
    }
    return false;
}

void subscription_session_event(HostRun *r, Json event) {
    Json to = json_object_get_c(event, "to");
    EventType type = EVENT_DEBUG;
    bool ends = session_event_ends(event),
         told_before = !json_is_none(json_object_get_c(event, "reattached"));
    bool told_all = !told_before && json_is_none(to) && concerns_run(event, &type);
    for (Subscription *s = r->watchers, *next; s; s = next) {
        next = s->next;
        if (s->spec.attach &&
            (json_is_none(to) || (json_tag(to) == JSON_TAG_INT && to.i == s->number))) {
            Json own = json_ref(event);
            bool over = s->over;
            tell(s, json_is_none(to) ? own : json_object_remove(own, json_string_c("to")));
            if (ends && !over) {
                finish(s);
            }
        } else if (!s->spec.attach && told_all && wants(s, type)) {
            hand(s, event);
        }
    }
}

void subscription_run_gone(HostRun *r) {
    while (r->watchers) {
        Subscription *s = r->watchers;
        r->watchers = s->next;
        s->list = NULL;
        s->run = NULL;
        if (json_is_none(s->later)) {
            finish(s);
        } else if (run_settled(r->run)) { /* it is told when the rest has been */
            s->later = json_array_push(s->later, settled_event(r, s->spec.values));
        }
    }
}

void subscription_listen(HostRun *r) {
    bool values = r->host->options.values;
    unsigned events = r->host->options.events | 1u << EVENT_SETTLED;
    for (int list = 0; list < 2; list++) {
        for (Subscription *s = list ? r->host->all : r->watchers; s; s = s->next) {
            if (!s->spec.attach) {
                events |= s->spec.types ? s->spec.types : ~0u;
                values = values || s->spec.values;
            }
        }
    }
    run_listen(r->run, events, values);
}

/* ---- what came before ---- */

typedef struct Page {
    Store *store;
    Json events;
    const char *thread;
    int64_t run, last, n;
} Page;

/* Of a checkpoint that left a question open: the image says which. */
static void add_interrupt(Page *p, const Checkpoint *c, Json head) {
    int64_t frame = c->frame;
    Json image = chain_image(p->store, p->run, c->seq, NULL, NULL);
    Json open = json_is_none(image) ? json_array() : image_interrupts(image);
    for (size_t i = 0; i < json_array_len(open); i++) {
        Json one = json_array_get(open, i), of = json_object_get_c(one, "frame"), key, value;
        if (json_tag(of) != JSON_TAG_INT || of.i != frame) {
            continue;
        }
        Json event =
            OBJECT_ADD(json_ref(head), KEY("event", "interrupt"), KEY("cursor", p->last * 2 + 1));
        event = json_object_remove(event, json_string_c("status"));
        for (size_t pos = 0; json_object_next(one, &pos, &key, &value);) {
            if (json_kind(value) != JSON_NULL) {
                event = json_object_set(event, json_ref(key), json_ref(value));
            }
        }
        p->events = json_array_push(p->events, event);
    }
    json_unref(open);
    json_unref(image);
}

static bool add_step(void *ctx, const Checkpoint *c) {
    Page *p = ctx;
    p->last = c->seq;
    Json step = OBJECT(KEY("event", "step"), KEY("cursor", c->seq * 2), KEY("run", p->run),
                       KEY("thread", p->thread), KEY("at", json_time(c->at)),
                       KEY("checkpoint", c->seq), KEY("step", c->step), KEY("frame", c->frame),
                       KEY("node", c->node[0] ? c->node : NULL), KEY("status", c->status));
    p->events = json_array_push(p->events, json_ref(step));
    if (!strcmp(c->status, "interrupted")) {
        add_interrupt(p, c, step);
    }
    json_unref(step);
    return ++p->n < PAGE;
}

static bool pass_damaged(void *ctx, int64_t seq, const Error *err) {
    Page *p = ctx;
    (void)err;
    p->last = seq;
    return true;
}

/* {events, last, row status} of the checkpoints after `from`. On a thread that reads. */
static Json read_page(Store *store, Json args, Error *err) {
    Json thread = json_object_get_c(args, "thread"), from = json_object_get_c(args, "from");
    RunRow row = {0};
    if (!store_find(store, json_string_data(&thread), &row, err)) {
        return json_none();
    }
    Page p = {.store = store,
              .events = json_array(),
              .thread = row.thread,
              .run = row.run,
              .last = from.i};
    bool ok = store_history(store, row.run, from.i, add_step, pass_damaged, &p, err);
    bool held = store_is_leased(store, row.run);
    Json out =
        OBJECT(KEY("events", p.events), KEY("last", p.last), KEY("more", json_bool(p.n >= PAGE)),
               KEY("run", row.run), KEY("thread", row.thread), KEY("status", row.status),
               KEY("held", held), KEY("checkpoint", row.head ? json_int(row.head) : json_none()));
    run_row_clear(&row);
    if (!ok) {
        json_unref(out);
    }
    return ok ? out : json_none();
}

/* Of a run that has settled and is still held: whoever comes now has missed that. */
static void tell_settled(Subscription *s) {
    tell(s, settled_event(s->run, s->spec.values));
    finish(s);
}

/* What happened while pages were read, from where they ended. */
static void go_live(Subscription *s, Json page) {
    Json later = json_take(&s->later);
    bool settled = false;
    for (size_t i = 0; i < json_array_len(later) && !s->ended; i++) {
        Json event = json_array_get(later, i), cursor = json_object_get_c(event, "cursor");
        bool last = json_string_is(json_object_get_c(event, "event"), "settled");
        if (last && settled) {
            continue;
        }
        settled = settled || last;
        if (json_tag(cursor) != JSON_TAG_INT || cursor.i > s->cursor) {
            tell(s, json_ref(event));
        }
    }
    json_unref(later);
    if (s->run && !s->ended && !settled && run_settled(s->run->run) && s->run->told_settled) {
        tell_settled(s);
        return;
    }
    if (!s->run && !s->ended) { /* nobody here has it, so this is all there is to say */
        if (!settled && !json_truthy(json_object_get_c(page, "held")) && wants(s, EVENT_SETTLED)) {
            tell(s, OBJECT(KEY("event", "settled"),
                           KEY("run", json_ref(json_object_get_c(page, "run"))),
                           KEY("thread", json_ref(json_object_get_c(page, "thread"))),
                           KEY("status", json_ref(json_object_get_c(page, "status"))),
                           KEY("checkpoint", json_ref(json_object_get_c(page, "checkpoint")))));
        }
        finish(s);
    }
}

static void free_subscription(Subscription *s) {
    Json event;
    while (subscription_next(s, &event)) {
        json_unref(event);
    }
    json_unref(s->later);
    mem_free(s->queue);
    mem_free(s->thread);
    mem_free(s);
}

static void take_page(Subscription *s, Json page, const Error *err) {
    if (err) {
        tell(s,
             OBJECT(KEY("event", "warning"), KEY("thread", s->thread), KEY("message", err->msg)));
        finish(s);
        return;
    }
    Json events = json_object_get_c(page, "events"), last = json_object_get_c(page, "last");
    bool more = json_truthy(json_object_get_c(page, "more"));
    for (size_t i = 0; i < json_array_len(events) && !s->ended; i++) {
        Json event = json_array_get(events, i), cursor = json_object_get_c(event, "cursor");
        bool asks = json_string_is(json_object_get_c(event, "event"), "interrupt");
        if (wants(s, asks ? EVENT_INTERRUPT : EVENT_STEP) && cursor.i > s->cursor) {
            tell(s, json_ref(event));
        }
    }
    s->cursor = s->cursor > last.i * 2 ? s->cursor : last.i * 2;
    if (s->ended) {
        return;
    }
    if (!more && !s->lost) {
        go_live(s, page);
    } else if (s->n < LOW) {
        s->lost = false;
        catch_up(s);
    } else {
        s->stalled = true;
    }
}

static void on_page(void *ctx, Json page, const Error *err) {
    Subscription *s = ctx;
    s->reading = false;
    if (!s->ended) {
        s->busy = true;
        take_page(s, page, err);
        s->busy = false;
    }
    json_unref(page);
    if (s->ended && !s->reading) {
        free_subscription(s);
    }
}

/* The page after the cursor. */
static void catch_up(Subscription *s) {
    s->reading = true;
    host_read(
        s->host, read_page,
        OBJECT(KEY("thread", s->thread),
               KEY("from", (s->cursor + 1) / 2 > 1 ? json_int((s->cursor + 1) / 2) : json_int(1))),
        on_page, s);
}

/* ---- life ---- */

static void enter(Subscription *s, Subscription **list) {
    s->list = list;
    s->next = *list;
    *list = s;
}

static void leave(Subscription *s) {
    for (Subscription **at = s->list; at && *at; at = &(*at)->next) {
        if (*at == s) {
            *at = s->next;
            break;
        }
    }
    s->list = NULL;
}

static void listen_all(Host *h) {
    for (HostRun *r = host_next(h, NULL); r; r = host_next(h, r)) {
        subscription_listen(r);
    }
}

Subscription *host_subscribe(Host *h, const SubscriptionSpec *spec, Error *err) {
    HostRun *r = spec->run ? spec->run : spec->thread ? host_find(h, spec->thread) : NULL;
    if (spec->attach && !r) {
        error_set(err, ERR_NOT_HELD,
                  "This process does not have the run `%s`, so nobody can attach to it here.",
                  spec->thread ? spec->thread : "");
        error_fact(err, "thread", spec->thread);
        return NULL;
    }
    int windows = 0;
    for (Subscription *other = spec->attach ? r->watchers : NULL; other; other = other->next) {
        windows += other->spec.attach;
    }
    if (windows >= SUBSCRIPTION_WINDOWS) {
        error_set(err, ERR_BUSY,
                  "%d debuggers are attached to this run, and more than that cannot be; leave one "
                  "of them first.",
                  SUBSCRIPTION_WINDOWS);
        return NULL;
    }
    Subscription *s = mem_zalloc(sizeof *s);
    *s = (Subscription){.host = h, .run = r, .spec = *spec, .number = ++h->last_subscription};
    s->thread = spec->thread ? mem_strndup(spec->thread, strlen(spec->thread)) : NULL;
    s->cursor = spec->from > 0 ? spec->from : 0;
    if (r) {
        enter(s, &r->watchers);
        subscription_listen(r);
    } else if (!spec->thread) {
        enter(s, &h->all);
        listen_all(h);
    }
    if (spec->attach) {
        bool had = host_has_session(r) && r->session_told;
        Session *session = host_session_with(r, spec->debug ? spec->debug : &(HostDebug){0}, err);
        if (!session) {
            subscription_end(s);
            return NULL;
        }
        if (had) {
            session_tell_paused(session, s->number);
        }
        host_run_hold(r);
    } else if (r && spec->from < 0 && run_settled(r->run) && r->told_settled) {
        tell_settled(s);
    } else if (spec->thread && (spec->from >= 0 || !r)) {
        s->cursor = spec->from < 0 ? INT64_MAX / 4 : s->cursor; /* only how it stands */
        s->later = json_array();
        catch_up(s);
    }
    return s;
}

void subscription_end(Subscription *s) {
    if (!s) {
        return;
    }
    HostRun *r = s->run;
    bool all = s->list == &s->host->all;
    leave(s);
    s->run = NULL;
    s->ended = true;
    if (r) { /* maybe from inside of what is told: the sweep lets go of the run */
        subscription_listen(r);
        r->rehold = true;
        host_sweep_soon(r);
    } else if (all) {
        listen_all(s->host);
    }
    if (!s->reading && !s->busy) {
        free_subscription(s);
    }
}

bool subscription_types(Json names, unsigned *types, Error *err) {
    *types = 0;
    for (size_t i = 0; i < json_array_len(names); i++) {
        Json name = json_array_get(names, i);
        int type = 0;
        while (type < EVENT_COUNT && !json_string_is(name, event_names[type])) {
            type++;
        }
        if (type == EVENT_COUNT) {
            bool text = json_kind(name) == JSON_STRING;
            return error_set(err, ERR_USAGE, "There is no type of events `%.*s`.",
                             text ? (int)json_string_len(name) : 0,
                             text ? json_string_data(&name) : "");
        }
        *types |= 1u << type;
    }
    return true;
}
