/* subscription.c - queues of events.
 *
 * A subscription is on the list of its run, or of the host when it is for all runs. It is *live* when what happens
 * goes into its queue at once. One that asked for what came before is *behind* at first: pages of the record are
 * read on another thread (catch_up), and what happens meanwhile waits in `later`; when there are no more pages, what
 * waits is told from where they ended, and it is live. When more happened than `later` takes, all of that is in the
 * record as well, and another page follows.
 *
 * One for all runs reads in rounds: a list of the runs that have something to tell, by their numbers, then pages of
 * those. A run that is passed already and goes on is told of from `later`, or in another round. */
#include "host_inside.h"

#include "json_build.h"
#include "mem.h"
#include "recorded.h"

#include <string.h>
#include <time.h>

enum {
    LATER_MAX = SUBSCRIPTION_MAX / 2, /* so that what waits and a page fit into the queue */
    LOW = 128,                        /* so few events are left when another page is read */
    RUNS_A_PAGE = 64
};

struct Subscription {
    Host *host;
    HostRun *run;        /* NULL: of all, or its run is gone */
    Subscription *next;  /* on the same list */
    Subscription **list; /* NULL: on none */
    SubscriptionSpec spec;
    char *thread; /* NULL: of all */
    int64_t number;
    int64_t cursor; /* of the last event that has one; of one run */
    int64_t began;  /* live only: the cursor of its run then, for when nothing recorded was told */
    Json *queue;    /* a ring */
    uint64_t taken, live_from; /* events that were taken; the number of those before it was live */
    size_t head, n, cap;

    Json later;   /* an array: what happened while it was behind; JSON_NONE: it is live */
    Json runs;    /* an array: what is to be read, as recorded_page() takes it */
    size_t nread; /* of these */
    Json
        told; /* of all: {number: cursor}; when it is live, of runs that have told nothing new yet */
    int64_t listed; /* of all: number of the last run that was in `runs` */
    Json paused;    /* of a window: {frame: when}, of pauses that it was told */
    bool rests;     /* and that no frame goes on by itself */
    bool lost;      /* more happened while it was behind than `later` holds: it is in the store */
    bool stalled;   /* it is behind, and reads too slowly for another page */
    bool reading;   /* a page is on its way */
    bool asking;    /* catch_up() is at work */
    bool more;      /* and is to go on */

    bool over;  /* nothing more will come */
    bool ended; /* by whoever made it: it is freed once it is not busy */
    int busy;   /* somebody here still needs it */
    bool woken; /* ready() was told, and nothing was taken since */
};

int64_t subscription_number(const Subscription *s) {
    return s->number;
}

int64_t subscription_since(const Subscription *s) {
    return s->spec.since;
}

const Subscription *subscription_after(const Subscription *s) {
    return s->next;
}

bool subscription_attaches(const Subscription *s) {
    return s->spec.attach && !s->over && !s->ended;
}

static void catch_up(Subscription *s);

/* ---- leaving ---- */

static void free_when_done(Subscription *s) {
    if (!s->ended || s->list || s->reading || s->busy) return;
    for (; s->n; s->n--) json_unref(s->queue[s->head++ & (s->cap - 1)]);
    json_unref(s->later);
    json_unref(s->runs);
    json_unref(s->told);
    json_unref(s->paused);
    mem_free(s->queue);
    mem_free(s->thread);
    mem_free(s);
}

static void done_with(Subscription *s) {
    s->busy--;
    free_when_done(s);
}

/* Takes one that is over or ended from its list: the run is not listened to for it any more. From inside of
 * what is told it is done afterwards, since lists are being gone through: by the sweep, or, of all, by told(). */
static void leave(Subscription *s) {
    Host *h = s->host;
    HostRun *r = s->run;
    bool all = s->list == &h->all;
    if (s->list && h->telling) {
        h->purge = h->purge || all;
    } else if (s->list) {
        Subscription **at = s->list;
        while (*at != s) at = &(*at)->next;
        *at = s->next;
        s->list = NULL;
        s->run = NULL;
    }
    if (r) {
        subscription_listen(r);
        r->rehold = true;
        host_sweep_soon(r);
    }
    for (r = all ? h->first : NULL; r; r = r->next) subscription_listen(r);
}

void subscription_purge(Subscription *first) {
    for (Subscription *s = first, *next; s; s = next) {
        next = s->next;
        if (s->over || s->ended) {
            leave(s);
            free_when_done(s);
        }
    }
}

/* Lists have been gone through. */
static void told(Host *h) {
    if (!--h->telling && h->purge) {
        h->purge = false;
        subscription_purge(h->all);
    }
}

void subscription_end(Subscription *s) {
    if (s) {
        s->ended = true;
        leave(s);
        free_when_done(s);
    }
}

/* ---- the queue ---- */

static void wake(Subscription *s) {
    if (!s->woken && !s->ended && s->spec.ready) {
        s->woken = true;
        s->spec.ready(s->spec.ctx, s);
    }
}

static void push(Subscription *s, Json event) {
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        Json *queue = mem_alloc(cap * sizeof *queue);
        for (size_t i = 0; i < s->n; i++) queue[i] = s->queue[(s->head + i) & (s->cap - 1)];
        mem_free(s->queue);
        s->queue = queue;
        s->cap = cap;
        s->head = 0;
    }
    s->queue[(s->head + s->n++) & (s->cap - 1)] = event;
}

/* The key of its run in `told`; given. */
static Json number_of(Json event) {
    Json run = json_object_get_c(event, "run");
    return json_string_fmt("%lld", (long long)(json_tag(run) == JSON_TAG_INT ? run.i : 0));
}

static bool was_told(const Subscription *s, Json event) {
    Json cursor = json_object_get_c(event, "cursor"), told = json_int(s->cursor);
    if (json_tag(cursor) == JSON_TAG_INT && !s->thread) {
        Json number = number_of(event);
        told = json_is_none(s->told) ? s->told : json_object_get(s->told, number);
        json_unref(number);
    }
    return json_tag(cursor) == JSON_TAG_INT && json_tag(told) == JSON_TAG_INT && cursor.i <= told.i;
}

/* Consumes the event. Whoever does not read is let go: what it missed it finds again by its cursor. */
static void tell(Subscription *s, Json event) {
    if (s->over || s->ended) {
        json_unref(event);
        return;
    }
    Json cursor = json_object_get_c(event, "cursor");
    if (s->n >= SUBSCRIPTION_MAX) {
        json_unref(event);
        event = OBJECT(
            KEY("event", "dropped"), KEY("thread", s->thread),
            KEY("cursor", s->thread ? json_int(s->cursor ? s->cursor : s->began) : json_none()));
        s->over = true;
        leave(s);
    } else if (json_tag(cursor) == JSON_TAG_INT && s->thread) {
        s->cursor = cursor.i;
    } else if (json_tag(cursor) == JSON_TAG_INT && !json_is_none(s->later)) {
        s->told = json_object_set(s->told, number_of(event), cursor);
    }
    push(s, event);
    wake(s);
}

bool subscription_next(Subscription *s, Json *event) {
    s->woken = false;
    if (!s->n) return false;
    *event = s->queue[s->head];
    s->head = (s->head + 1) & (s->cap - 1);
    s->n--;
    s->taken++;
    if (s->stalled && s->n < LOW && !s->ended) {
        s->stalled = false;
        s->woken = true; /* whoever takes this one is awake, should the page come at once */
        catch_up(s);
        s->woken = false;
    }
    return true;
}

bool subscription_is_behind(const Subscription *s) {
    return !json_is_none(s->later) || s->taken <= s->live_from;
}

bool subscription_is_over(const Subscription *s) {
    return s->over;
}

/* It may be gone afterwards. */
static void finish(Subscription *s) {
    if (!s->over) {
        s->over = true;
        leave(s);
        wake(s);
    }
}

/* ---- events ---- */

static bool wants(const Subscription *s, EventType type) {
    return !s->over && !s->ended && (!s->spec.types || s->spec.types >> type & 1);
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

static Json live_event(const HostRun *r, const Event *e, bool values) {
    Json out = event_json(run_number(r->run), run_thread(r->run), e, values);
    return e->type == EVENT_SETTLED ? settled_fields(out, r, values) : out;
}

static bool is_of_debugger(EventType type) {
    return type == EVENT_PAUSED || type == EVENT_RESUMED || type == EVENT_DEBUG ||
           type == EVENT_STOPPED;
}

static bool is_event(Json event, const char *name) {
    return json_string_is(json_object_get_c(event, "event"), name);
}

/* What a page had may come once more, before what is new of its run. */
static void hand(Subscription *s, Json event) {
    if (json_is_none(s->later)) {
        bool again = was_told(s, event);
        if (!again && !s->thread && !json_is_none(s->told)) {
            Json number = number_of(event);
            s->told = json_object_remove(s->told, number);
            json_unref(number);
            if (!json_object_len(s->told)) json_clear(&s->told);
        }
        if (!again) tell(s, json_ref(event));
        return;
    }
    if (json_array_len(s->later) >= LATER_MAX) {
        json_unref(s->later);
        s->later = json_array();
        s->lost = true;
    }
    s->later = json_array_push(s->later, json_ref(event));
}

void subscription_event(HostRun *r, const Event *e) {
    Json plain = json_none(), full = json_none();
    bool of_session = is_of_debugger(e->type) && host_has_session(r);
    r->host->telling++;
    for (int list = 0; list < 2; list++) {
        for (Subscription *s = list ? r->host->all : r->watchers; s; s = s->next) {
            if (s->spec.attach || of_session || !wants(s, e->type)) continue;
            Json *made = s->spec.values ? &full : &plain;
            *made = json_is_none(*made) ? live_event(r, e, s->spec.values) : *made;
            if (s->spec.errors && !json_is_none(e->error)) {
                Json with = OBJECT_ADD(json_ref(*made), KEY("error", json_ref(e->error)));
                hand(s, with);
                json_unref(with);
            } else {
                hand(s, *made);
            }
        }
    }
    told(r->host);
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

static int64_t clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The event of a session, without whom it is for, and with the names of its run and session. */
static Json named_event(const HostRun *r, Json event) {
    const Session *session = host_has_session(r);
    Json out = json_object_remove(json_ref(event), json_string_c("to"));
    if (json_is_none(json_object_get_c(event, "thread"))) { /* not of a run that it replayed */
        out = OBJECT_ADD(out, KEY("run", run_number(r->run)), KEY("thread", run_thread(r->run)));
    }
    if (json_is_none(json_object_get_c(event, "at"))) {
        out = OBJECT_ADD(out, KEY("at", json_time(clock_ms())));
    }
    return OBJECT_ADD(out, KEY("session", session ? session_id(session) : json_none()));
}

/* A window that has just come is told where the frames stand (`to` is its number). It may have heard that already: from a pause
 * that was on its way when it came. */
static bool window_knows(Subscription *s, Json event, bool again) {
    Json frame = json_object_get_c(event, "frame"), at = json_object_get_c(event, "at");
    if (is_event(event, "stopped")) {
        bool knows = again && s->rests;
        s->rests = true;
        return knows;
    }
    s->rests = s->rests && !is_event(event, "resumed");
    if (!is_event(event, "paused") || json_tag(frame) != JSON_TAG_INT) return false;
    Json key = json_string_fmt("%lld", (long long)frame.i);
    bool knows = again && json_equal(json_object_get(s->paused, key), at);
    s->paused = json_object_set(s->paused, key, json_ref(at));
    return knows;
}

void subscription_session_event(HostRun *r, Json event) {
    Json to = json_object_get_c(event, "to"), named = json_none();
    EventType type = EVENT_DEBUG;
    bool ends = session_event_ends(event),
         told_before = !json_is_none(json_object_get_c(event, "reattached"));
    bool told_all = !told_before && json_is_none(to) && concerns_run(event, &type);
    r->host->telling++;
    for (int list = 0; list < 2; list++) {
        for (Subscription *s = list ? r->host->all : r->watchers; s; s = s->next) {
            bool window = s->spec.attach;
            if (window ? !json_is_none(to) && (json_tag(to) != JSON_TAG_INT || to.i != s->number)
                       : !told_all || !wants(s, type)) {
                continue;
            }
            if (json_is_none(named)) named = named_event(r, event);
            if (!window) {
                hand(s, named);
            } else if (!window_knows(s, event, !json_is_none(to))) {
                tell(s, s->spec.names ? json_ref(named)
                                      : json_object_remove(json_ref(event), json_string_c("to")));
            }
            if (window && ends) finish(s);
        }
    }
    json_unref(named);
    told(r->host);
}

void subscription_run_gone(HostRun *r) {
    while (r->watchers) {
        Subscription *s = r->watchers;
        r->watchers = s->next;
        s->list = NULL;
        s->run = NULL;
        if (s->ended) {
            free_when_done(s);
        } else if (json_is_none(s->later)) {
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
            if (!s->spec.attach && !s->over && !s->ended) {
                events |= s->spec.types ? s->spec.types : ~0u;
                values = values || s->spec.values;
            }
        }
    }
    run_listen(r->run, events, values);
}

/* ---- what came before ---- */

/* How a run stands is told from the record when nobody here has it, or has told it. */
static bool is_news(const Subscription *s, Json settled) {
    Json thread = json_object_get_c(settled, "thread");
    Json run = json_object_get_c(settled, "run");
    bool news = !host_find(s->host, json_string_data(&thread));
    for (size_t i = 0; news && i < json_array_len(s->later); i++) {
        Json event = json_array_get(s->later, i);
        news = !is_event(event, "settled") || !json_equal(json_object_get_c(event, "run"), run);
    }
    return news;
}

/* Of a run that has settled and is still held: whoever comes now has missed that. */
static void tell_settled(Subscription *s) {
    if (wants(s, EVENT_SETTLED)) tell(s, settled_event(s->run, s->spec.values));
    finish(s);
}

/* Of all: what has been told matters only of runs that are held, whose last events may still come. */
static void forget_others(Subscription *s) {
    Json told = json_take(&s->told), kept = json_object();
    for (HostRun *r = s->host->first; r && !json_is_none(told); r = r->next) {
        Json number = json_string_fmt("%lld", (long long)run_number(r->run));
        Json cursor = json_object_get(told, number);
        kept = json_is_none(cursor) ? kept : json_object_set(kept, json_ref(number), cursor);
        json_unref(number);
    }
    s->told = json_is_none(told) || !json_object_len(kept) ? json_none() : json_ref(kept);
    json_unref(kept);
    json_unref(told);
}

/* What happened while pages were read, from where they ended. */
static void go_live(Subscription *s) {
    Json later = json_take(&s->later);
    bool settled = false;
    s->live_from = s->taken + s->n;
    for (size_t i = 0; i < json_array_len(later) && !s->ended; i++) {
        Json event = json_array_get(later, i);
        bool last = s->thread && is_event(event, "settled");
        if (!(last && settled) && !was_told(s, event)) tell(s, json_ref(event));
        settled = settled || last;
    }
    json_unref(later);
    forget_others(s);
    if (s->run && !s->ended && !settled && run_settled(s->run->run) && s->run->told_settled) {
        tell_settled(s);
    } else if (s->thread && !s->run) { /* nobody here has it, so this is all there is to say */
        finish(s);
    }
}

static void take_page(Subscription *s, Json page) {
    Json events = json_object_get_c(page, "events"), cursor = json_object_get_c(page, "cursor");
    for (size_t i = 0; i < json_array_len(events) && !s->ended; i++) {
        Json event = json_array_get(events, i);
        bool stands = is_event(event, "settled");
        if (stands ? is_news(s, event) && !(s->thread && s->lost) : !was_told(s, event)) {
            tell(s, json_ref(event));
        }
    }
    s->nread += (size_t)json_object_get_c(page, "read").i;
    if (json_tag(cursor) == JSON_TAG_INT) { /* the next one is in the middle */
        Json run = json_ref(json_array_get(s->runs, s->nread));
        s->runs = json_array_set(s->runs, s->nread, OBJECT_ADD(run, KEY("cursor", cursor)));
        s->cursor = s->thread && cursor.i > s->cursor ? cursor.i : s->cursor;
    }
}

/* The runs of another round, or the rest of this one. */
static void take_runs(Subscription *s, Json runs) {
    size_t n = json_array_len(runs);
    json_unref(s->runs);
    s->runs = json_ref(runs);
    s->nread = 0;
    s->listed = n ? json_object_get_c(json_array_get(runs, n - 1), "run").i : 0;
}

/* Of one run: what is to be read, from its cursor on. */
static Json place_of(const Subscription *s) {
    Json run = OBJECT(KEY("thread", s->thread), KEY("cursor", s->cursor));
    return json_array_push(json_array(), run);
}

static void on_read(void *ctx, Json answer, const Error *err) {
    Subscription *s = ctx;
    bool pages = s->nread < json_array_len(s->runs);
    s->reading = false;
    s->busy++;
    if (s->ended || s->over) {
        /* nobody wants it any more */
    } else if (err) {
        tell(s,
             OBJECT(KEY("event", "warning"), KEY("thread", s->thread), KEY("message", err->msg)));
        finish(s);
    } else if (pages) {
        take_page(s, answer);
    } else {
        take_runs(s, answer);
    }
    json_unref(answer);
    bool more = s->nread < json_array_len(s->runs) || (!s->thread && s->listed);
    if (!s->ended && !s->over && !more && !s->lost) {
        go_live(s);
    } else if (!s->ended && !s->over) {
        if (!more) { /* once more, for what did not fit into `later` */
            s->lost = false;
            json_unref(s->runs);
            s->runs = s->thread ? place_of(s) : json_array();
            s->nread = 0;
        }
        s->stalled = s->n >= LOW;
        if (!s->stalled) catch_up(s);
    }
    done_with(s);
}

/* Asks for the next page. An answer may come at once: asking goes on in a loop then. */
static void catch_up(Subscription *s) {
    s->more = true;
    if (s->asking) return;
    s->asking = true;
    s->busy++;
    while (s->more && !s->ended) {
        size_t n = json_array_len(s->runs);
        s->more = false;
        s->reading = true;
        if (s->nread < n) {
            size_t end = n - s->nread < RUNS_A_PAGE ? n : s->nread + RUNS_A_PAGE;
            host_read(s->host, recorded_page,
                      OBJECT(KEY("runs", json_array_slice(json_ref(s->runs), s->nread, end)),
                             KEY("values", s->spec.values), KEY("types", (int64_t)s->spec.types)),
                      on_read, s);
        } else {
            host_read(s->host, recorded_runs,
                      OBJECT(KEY("since", s->spec.since), KEY("runs", json_ref(s->told)),
                             KEY("after", s->listed)),
                      on_read, s);
        }
    }
    s->asking = false;
    done_with(s);
}

/* ---- life ---- */

static bool may_attach(const HostRun *r, const char *thread, Error *err) {
    if (!r) {
        error_set(err, ERR_NOT_HELD,
                  "This process does not have the run `%s`, so nobody can attach to it here.",
                  thread ? thread : "");
        error_fact(err, "thread", thread);
        return false;
    }
    int windows = 0;
    for (const Subscription *s = r->watchers; s; s = s->next) windows += subscription_attaches(s);
    return windows < SUBSCRIPTION_WINDOWS ||
           error_set(err, ERR_BUSY,
                     "%d debuggers are attached to this run, and more than that cannot be; leave "
                     "one of them first.",
                     SUBSCRIPTION_WINDOWS);
}

/* A window, told where the run stands when it has missed that. */
static bool attach(Subscription *s, Error *err) {
    HostRun *r = s->run;
    bool had = host_has_session(r) && r->session_told;
    const HostDebug *debug = s->spec.debug ? s->spec.debug : &(HostDebug){0};
    Session *session = host_session_with(r, debug, err);
    if (session && had) session_tell_paused(session, s->number);
    if (session) host_run_hold(r);
    return session != NULL;
}

/* What came before is told first. */
static void begin_behind(Subscription *s) {
    s->later = json_array();
    if (s->thread) {
        s->cursor = s->spec.from < 0 ? INT64_MAX / 4 : s->spec.from; /* only how it stands */
        s->runs = place_of(s);
    } else {
        s->runs = json_array();
        s->told = json_is_none(s->spec.runs) ? json_object() : json_ref(s->spec.runs);
    }
    catch_up(s);
}

Subscription *host_subscribe(Host *h, const SubscriptionSpec *spec, Error *err) {
    HostRun *r = spec->run ? spec->run : spec->thread ? host_find(h, spec->thread) : NULL;
    const char *thread = spec->thread ? spec->thread : r ? run_thread(r->run) : NULL;
    if (spec->attach && !may_attach(r, thread, err)) return NULL;
    Subscription *s = mem_zalloc(sizeof *s);
    *s = (Subscription){
        .host = h, .run = r, .spec = *spec, .number = ++h->last_subscription, .busy = 1};
    if (spec->attach) s->paused = json_object();
    if (!thread && spec->from < 0) s->spec.since = clock_ms();
    s->thread = thread ? mem_strndup(thread, strlen(thread)) : NULL;
    s->list = r ? &r->watchers : thread ? NULL : &h->all;
    if (s->list) {
        s->next = *s->list;
        *s->list = s;
    }
    for (HostRun *at = r ? r : s->list ? h->first : NULL; at; at = r ? NULL : at->next) {
        subscription_listen(at);
    }
    bool ok = true;
    if (spec->attach) {
        ok = attach(s, err);
    } else if (spec->from >= 0 || (thread && !r)) {
        begin_behind(s);
    } else if (r) {
        s->began = 2 * run_durable_checkpoint(r->run);
        if (run_settled(r->run) && r->told_settled) tell_settled(s);
    }
    s->spec.runs = json_none();
    bool gone = s->ended || !ok;
    s->ended = gone;
    if (gone) leave(s);
    done_with(s);
    return gone ? NULL : s;
}

static bool read_types(Json names, unsigned *types, Error *err) {
    *types = 0;
    for (size_t i = 0; i < json_array_len(names); i++) {
        Json name = json_array_get(names, i);
        int type = 0;
        while (type < EVENT_COUNT && !json_string_is(name, event_names[type])) type++;
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

bool subscription_asked(Json args, SubscriptionSpec *out, Error *err) {
    Json from = json_object_get_c(args, "from"), types = json_object_get_c(args, "types");
    bool all = json_kind(json_object_get_c(args, "thread")) != JSON_STRING;
    out->from = json_tag(from) == JSON_TAG_INT ? from.i : -1;
    out->values = json_truthy(json_object_get_c(args, "values"));
    out->attach = json_truthy(json_object_get_c(args, "attach"));
    out->names = json_truthy(json_object_get_c(args, "names"));
    if (all && json_kind(from) == JSON_OBJECT) {
        Json since = json_object_get_c(from, "since");
        out->runs = json_object_get_c(from, "runs");
        out->from = 0;
        if ((!json_is_none(since) && !json_time_ms(since, &out->since)) ||
            (!json_is_none(out->runs) && json_kind(out->runs) != JSON_OBJECT)) {
            return error_set(err, ERR_USAGE,
                             "A place in the record of all runs is {\"since\": time, \"runs\": "
                             "{number: cursor}}.");
        }
    } else if (!json_is_none(from) && (json_tag(from) != JSON_TAG_INT || (all && from.i > 0))) {
        return error_set(
            err, ERR_USAGE, "%s",
            all ? "A cursor is a place in the record of one run; of all runs it is "
                  "{\"since\": time, \"runs\": {number: cursor}}."
                : "A place in the record of a run is the cursor of one of its events.");
    }
    return json_is_none(types) || read_types(types, &out->types, err);
}
