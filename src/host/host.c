#include "host_inside.h"

#include "ascii.h"
#include "exec.h"
#include "json_build.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

static void on_sweep(uv_idle_t *idle);

enum { TOUCH_MS = 10000 };

/* ---- a held run: its session ---- */

/* What is recorded is taken whether anybody debugs or not. */
static void take_recorded(HostRun *r) {
    if (r->recording && !run_has_hooks(r->run)) {
        run_set_hooks(r->run, &recording_hooks, r->recording);
    }
}

bool host_has_window(const HostRun *r) {
    for (const Subscription *s = r->watchers; s; s = subscription_after(s)) {
        if (subscription_attaches(s)) return true;
    }
    return false;
}

/* A session may not be freed from inside what it tells: the sweep does. The run may go on before that. */
static void on_session_event(void *ctx, Json event) {
    HostRun *r = ctx;
    r->session_told = true;
    subscription_session_event(r, event);
    if (session_event_ends(event)) {
        r->session_over = true;
        take_recorded(r);
        host_sweep_soon(r);
    }
    json_unref(event);
}

static void on_touch(uv_timer_t *timer) {
    HostRun *r = timer->data;
    if (r->session && !host_has_window(r)) {
        session_touch(r->session);
        r->awaits_window = false; /* it has had its time */
        host_run_hold(r);
    }
}

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static void drop_session(HostRun *r) {
    if (r->session) {
        session_free(r->session);
        r->session = NULL;
        r->session_over = false;
        uv_close((uv_handle_t *)r->touching, free_handle);
        r->touching = NULL;
    }
}

static Session *make_session(HostRun *r, const HostDebug *debug, Error *err) {
    SessionOptions options = {.event = on_session_event,
                              .ctx = r,
                              .pause_on_start = debug->pause_on_start,
                              .view_only = debug->view_only,
                              .pause_all = debug->pause_all,
                              .breakpoints = debug->breakpoints,
                              .recording = r->recording};
    r->session_told = false;
    if (r->recording) { /* the session takes from it now */
        run_set_hooks(r->run, NULL, NULL);
    }
    r->session = session_attach(r->run, &options, err);
    r->session_number++;
    take_recorded(r); /* unless the session does */
    if (r->session) {
        r->touching = mem_zalloc(sizeof *r->touching);
        uv_timer_init(r->host->options.loop, r->touching);
        r->touching->data = r;
        uv_timer_start(r->touching, on_touch, TOUCH_MS, TOUCH_MS);
        uv_unref((uv_handle_t *)r->touching);
    }
    return r->session;
}

static bool begin_run(HostRun *r, const HostDebug *debug, Error *err) {
    take_recorded(r);
    r->awaits_window = debug->awaits_window;
    return !debug->wanted || make_session(r, debug, err) != NULL;
}

Session *host_session_with(HostRun *r, const HostDebug *debug, Error *err) {
    if (r->session_over) { /* one that has just ended is not for those who come now */
        drop_session(r);
        take_recorded(r);
    }
    return r->session ? r->session : make_session(r, debug, err);
}

Session *host_session(HostRun *r, Error *err) {
    return host_session_with(r, &(HostDebug){0}, err);
}

void host_leave_session(HostRun *r) {
    drop_session(r);
    take_recorded(r);
    host_run_hold(r);
}

Session *host_has_session(const HostRun *r) {
    return r->session_over ? NULL : r->session;
}

/* Nobody is told again that all stand still when others come or go. */
void host_run_hold(HostRun *r) {
    bool window = host_has_window(r);
    r->awaits_window = r->awaits_window && !window;
    bool wanted = r->session && !r->session_over && (window || r->awaits_window);
    if (!run_settled(r->run) && run_is_held(r->run) != wanted) run_hold(r->run, wanted);
}

/* ---- a held run: looking at it ---- */

static Json pause_json(const Frame *f) {
    const Node *node = frame_node(f, frame_depth(f) - 1);
    Json out = OBJECT(KEY("frame", frame_id(f)), KEY("node", node ? node->name : NULL));
    return session_pause_json(out, hook_positions[frame_position(f)], frame_pause(f));
}

Json host_pauses(const HostRun *r) {
    Json out = json_array();
    for (Frame *f = run_next_frame(r->run, NULL); f; f = run_next_frame(r->run, f)) {
        if (frame_is_parked(f)) out = json_array_push(out, pause_json(f));
    }
    return out;
}

/* ---- a held run: turns ---- */

bool host_turn_is_taken(const HostRun *r) {
    return r->turn || r->waiting;
}

void host_turn_wait(HostRun *r, HostTurn *turn) {
    HostTurn **at = &r->waiting;
    while (*at) at = &(*at)->next;
    turn->run = r;
    turn->next = NULL;
    *at = turn;
}

void host_turn_take(HostRun *r, HostTurn *turn) {
    turn->run = r;
    r->turn = turn;
}

/* Whoever goes on may take the turn. */
void host_turn_end(HostTurn *turn) {
    HostRun *r = turn->run;
    if (r) r->turn = NULL;
    while (r && !r->turn && r->waiting) {
        HostTurn *next = r->waiting;
        r->waiting = next->next;
        next->go(next);
    }
}

static void leave_turns(HostTurn *turn, HostTurn *waiting) {
    if (turn) turn->run = NULL;
    while (waiting) {
        HostTurn *next = waiting->next;
        waiting->run = NULL;
        waiting->go(waiting);
        waiting = next;
    }
}

int64_t host_session_number(const HostRun *r) {
    return r->session_number;
}

/* ---- a held run: its end ---- */

bool host_rests(const HostRun *r) {
    for (Frame *f = run_next_frame(r->run, NULL); f; f = run_next_frame(r->run, f)) {
        if (!frame_is_at_rest(f)) return false;
    }
    return true;
}

void host_drop(HostRun *r) {
    r->dropped = true;
    host_sweep_soon(r);
}

static bool is_done(HostRun *r) {
    if (r->session_over) {
        drop_session(r);
        take_recorded(r);
    }
    if (r->rehold) {
        r->rehold = false;
        subscription_purge(r->watchers);
        host_run_hold(r);
    }
    return run_settled(r->run) && r->told_settled && !r->keeper &&
           (r->dropped || !host_has_window(r));
}

static void free_run(HostRun *r) {
    subscription_run_gone(r);
    host_forget(r);
    drop_session(r);
    if (r->recording) run_set_hooks(r->run, NULL, NULL);
    run_free(r->run);
    recording_free(r->recording);
    HostTurn *turn = r->turn, *waiting = r->waiting;
    mem_free(r);
    leave_turns(turn, waiting);
}

/* ---- life ---- */

static char *copy(const char *text) {
    return text ? mem_strndup(text, strlen(text)) : NULL;
}

/* Without these no program runs as people expect it to; ours say where interpreters are. */
static const char *const always_inherited[] = {
    "PATH", "HOME", "LANG", "TZ", "TMPDIR", "PAWL_PYTHON", "PAWL_NODE", "PAWL_WORKERS", NULL};

/* A name, or what names begin with and a star. */
static bool names_variable(Json name, const char *variable, size_t len) {
    const char *text = json_string_data(&name);
    size_t n = json_string_len(name);
    return n && text[n - 1] == '*' ? n - 1 <= len && !memcmp(text, variable, n - 1)
                                   : n == len && !memcmp(text, variable, n);
}

static bool is_inherited(const char *variable, Json names) {
    static const char secret[] = SECRET_VARIABLE;
    size_t len = strcspn(variable, "=");
    bool wanted = json_is_none(names);
    if (strncmp(variable, secret, sizeof secret - 1) == 0 || text_is(variable, len, "PAWL_TOKEN")) {
        return false;
    }
    for (const char *const *name = always_inherited; *name && !wanted; name++) {
        wanted = text_is(variable, len, *name);
    }
    for (size_t i = 0; i < json_array_len(names) && !wanted; i++) {
        wanted = names_variable(json_array_get(names, i), variable, len);
    }
    return wanted;
}

static char **inherited(char *const *all, Json names) {
    size_t n = 0, kept = 0;
    while (all && all[n]) n++;
    char **out = mem_zalloc((n + 1) * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        if (is_inherited(all[i], names)) out[kept++] = all[i];
    }
    return out;
}

Host *host_new(const HostOptions *options) {
    Host *h = mem_zalloc(sizeof *h);
    h->options = *options;
    h->environment = inherited(options->environment, options->names);
    h->options.names = json_none();
    h->url = copy(options->store);
    h->folder = copy(options->folder);
    h->secrets = copy(options->secrets);
    h->workflows = copy(options->workflows);
    if (h->workflows && options->bounds.inside) {
        h->workflows_root = safe_root_new(h->workflows, h->folder ? h->folder : "/", NULL);
    }
    h->key_file =
        options->key_file ? copy(options->key_file) : secret_key_file(options->environment);
    h->sweep = mem_zalloc(sizeof *h->sweep);
    uv_idle_init(options->loop, h->sweep);
    h->sweep->data = h;
    return h;
}

void host_free(Host *h) {
    if (!h) return;
    h->ending = true;
    host_works_end(h);
    while (h->first) free_run(h->first);
    while (h->all) subscription_end(h->all);
    engine_free(h->engine);
    h->engine = NULL;
    host_jobs_end(h);
    store_close(h->store);
    uv_close((uv_handle_t *)h->sweep, free_handle);
    mem_free(h->by_name);
    mem_free(h->by_number);
    mem_free(h->work_folder);
    mem_free(h->url);
    mem_free(h->folder);
    mem_free(h->secrets);
    mem_free(h->workflows);
    safe_root_free(h->workflows_root);
    mem_free(h->key_file);
    mem_free(h->environment);
    mem_free(h);
}

const Bounds *host_bounds(const Host *h) {
    return &h->options.bounds;
}

Bounds host_workflow_bounds(const Host *h) {
    Bounds bounds = h->options.bounds;
    if (bounds.inside) bounds.root = h->workflows_root;
    return bounds;
}

const char *host_workflows(const Host *h) {
    return h->workflows;
}

void host_trace(Host *h) {
    h->traces = true;
}

EngineCounts host_counts(const Host *h) {
    return h->engine ? engine_counts(h->engine) : (EngineCounts){0};
}

uv_loop_t *host_loop(const Host *h) {
    return h->options.loop;
}

void *host_ctx(const Host *h) {
    return h->options.ctx;
}

const char *host_folder(const Host *h) {
    return h->folder;
}

/* ---- the store and the engine ---- */

Store *host_store(Host *h, HostNeed need, Error *err) {
    static const StoreMode modes[] = {STORE_EXISTING, STORE_EXISTING, STORE_CREATE};
    if (h->store && (h->opened >= need || h->engine)) return h->store;
    if (!h->url) {
        error_set(err, ERR_USAGE, "There is no store, so nothing of any run is kept.");
        return NULL;
    }
    Error why = ERROR_INIT;
    Store *store = store_open(h->url, modes[need], &why);
    if (!store && need == HOST_READS) { /* to look, it need not be writable */
        store = store_open(h->url, STORE_READ, &why);
    }
    if (!store) {
        if (err) *err = why;
        return NULL;
    }
    store_close(h->store);
    h->store = store;
    h->opened = need;
    return store;
}

const char *host_store_folder(Host *h, Error *err) {
    if (!h->work_folder && h->store) { /* before the engine has the store for itself */
        h->work_folder = copy(store_folder(h->store, err));
    }
    return h->work_folder;
}

static void on_event(void *ctx, const Event *event) {
    Host *h = ctx;
    HostRun *r = run_owner(event->run);
    if (r && h->options.on_event) h->options.on_event(h->options.ctx, r, event);
    if (r) subscription_event(r, event);
}

/* All runs have settled; the sweep frees them, then the engine. */
static void on_broken(void *ctx, const Error *err) {
    Host *h = ctx;
    h->broken = *err;
    for (HostRun *r = h->first; r; r = r->next) host_drop(r);
    uv_idle_start(h->sweep, on_sweep);
    if (h->on_break) h->on_break(h->break_ctx, err);
}

void host_recover(Host *h, void (*on_break)(void *ctx, const Error *err), void *ctx) {
    h->on_break = on_break;
    h->break_ctx = ctx;
}

static bool find_secret(void *ctx, const char *name, Buf *value, Error *err) {
    const Host *h = ctx;
    SecretPlaces places = {h->secrets, h->options.environment, h->work_folder, h->key_file};
    return secret_find(&places, name, value, err);
}

Engine *host_engine(Host *h, HostNeed need, Error *err) {
    if (h->ending) {
        error_set(err, ERR_BUSY, "The host has ended.");
        return NULL;
    }
    if (h->broken.code != ERR_NONE) {
        *err = h->broken;
        return NULL;
    }
    if (h->engine) return h->engine;
    Store *store = h->url ? host_store(h, need, err) : NULL;
    if (store && store_is_durable(store)) host_store_folder(h, NULL);
    EngineOptions options = {.loop = h->options.loop,
                             .store = store,
                             .folder = h->folder,
                             .environment = h->environment,
                             .bounds = h->options.bounds,
                             .secrets = {find_secret, h},
                             .work = h->options.work ? h->options.work : exec_work,
                             .budget = h->options.budget,
                             .max_state = h->options.max_state,
                             .on_event = on_event,
                             .on_broken = h->on_break ? on_broken : NULL,
                             .ctx = h,
                             .traces = h->traces,
                             .want_updates = true};
    h->engine = store || !h->url ? engine_new(&options, err) : NULL;
    return h->engine;
}

void host_when_durable(Host *h, void (*done)(void *ctx, const Error *err), void *ctx) {
    if (h->engine) {
        engine_when_durable(h->engine, done, ctx);
    } else {
        done(ctx, NULL);
    }
}

/* ---- runs ---- */

/* Held runs are found by their names and by their numbers: a chain for each. */
static size_t slot_of(const Host *h, uint64_t hash) {
    return (size_t)(hash * 0x9E3779B97F4A7C15u >> 32) & (h->slots - 1);
}

static uint64_t name_hash(const char *name) {
    uint64_t hash = 5381;
    for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* Without a store runs have no numbers and no names of their own: nobody looks for them. */
static void enter_table(Host *h, HostRun *r) {
    if (!h->url) return;

    size_t name = slot_of(h, name_hash(run_thread(r->run)));
    size_t number = slot_of(h, (uint64_t)run_number(r->run));
    r->same_name = h->by_name[name];
    h->by_name[name] = r;
    r->same_number = h->by_number[number];
    h->by_number[number] = r;
}

static void grow_table(Host *h) {
    h->slots = h->slots ? 2 * h->slots : 64;
    mem_free(h->by_name);
    mem_free(h->by_number);
    h->by_name = mem_zalloc(h->slots * sizeof(HostRun *));
    h->by_number = mem_zalloc(h->slots * sizeof(HostRun *));
    for (HostRun *r = h->first; r; r = r->next) enter_table(h, r);
}

HostRun *host_run_new(Host *h, Run *run) {
    HostRun *r = mem_zalloc(sizeof *r);
    *r = (HostRun){.host = h, .run = run, .prev = h->last, .told_settled = run_settled(run)};
    *(h->last ? &h->last->next : &h->first) = r;
    h->last = r;
    run_set_owner(run, r);
    if (++h->nruns > h->slots) {
        grow_table(h);
    } else {
        enter_table(h, r);
    }
    return r;
}

void host_forget(HostRun *r) {
    Host *h = r->host;
    if (h->url) {
        HostRun **name = &h->by_name[slot_of(h, name_hash(run_thread(r->run)))];
        HostRun **number = &h->by_number[slot_of(h, (uint64_t)run_number(r->run))];
        while (*name != r) name = &(*name)->same_name;
        while (*number != r) number = &(*number)->same_number;
        *name = r->same_name;
        *number = r->same_number;
    }
    *(r->prev ? &r->prev->next : &h->first) = r->next;
    *(r->next ? &r->next->prev : &h->last) = r->prev;
    for (HostRun **at = &h->to_sweep; r->to_sweep && *at; at = &(*at)->next_swept) {
        if (*at == r) {
            *at = r->next_swept;
            break;
        }
    }
    h->nruns--;
}

HostRun *host_adopt(Host *h, Run *run) {
    HostRun *r = host_run_new(h, run);
    subscription_listen(r);
    return r;
}

/* A run on its way into memory: the engine has been asked for it. */
struct HostComing {
    HostComing *next;
    Host *host;
    char *thread; /* as it was asked for; NULL: it gets a name */
    HostDebug debug;
    Recording *recording;
    HostReady ready;
    void *ctx;
    Awaiting *awaiting, **last;
};

/* Who wants something of it that has to wait until then. */
struct Awaiting {
    Awaiting *next;
    void (*then)(void *ctx);
    void *ctx;
};

static HostComing *coming_new(Host *h, const char *thread, HostReady ready, void *ctx) {
    HostComing *c = mem_zalloc(sizeof *c);
    *c = (HostComing){
        .next = h->coming, .host = h, .thread = copy(thread), .ready = ready, .ctx = ctx};
    c->last = &c->awaiting;
    h->coming = c;
    return c;
}

static HostComing *find_coming(const Host *h, const char *thread) {
    HostComing *c = h->coming;
    while (c && (!c->thread || strcmp(c->thread, thread) != 0)) c = c->next;
    return c;
}

bool host_expects(const Host *h, const char *thread) {
    return find_coming(h, thread) != NULL;
}

bool host_await(Host *h, const char *thread, void (*then)(void *ctx), void *ctx) {
    HostComing *c = find_coming(h, thread);
    if (c) {
        Awaiting *w = mem_alloc(sizeof *w);
        *w = (Awaiting){.then = then, .ctx = ctx};
        *c->last = w;
        c->last = &w->next;
    }
    return c != NULL;
}

/* It becomes a held run, or goes again when its session cannot be made. */
static HostRun *take(HostComing *c, Run *run, Error *err) {
    HostRun *r = host_run_new(c->host, run);
    r->recording = c->recording;
    c->recording = NULL;
    if (!session_check_breakpoints(c->debug.breakpoints, run_flow(run), err)) {
        free_run(r); /* nothing of it was changed */
        return NULL;
    }
    if (begin_run(r, &c->debug, err)) return r;
    run_stop(run);
    free_run(r);
    return NULL;
}

/* It is on its way no more. */
static void coming_leave(HostComing *c) {
    HostComing **at = &c->host->coming;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    if (c->host->broken.code != ERR_NONE) uv_idle_start(c->host->sweep, on_sweep);
}

static void coming_free(HostComing *c) {
    for (Awaiting *w = c->awaiting, *next; w; w = next) {
        next = w->next;
        w->then(w->ctx);
        mem_free(w);
    }
    recording_free(c->recording);
    json_unref(c->debug.breakpoints);
    mem_free(c->thread);
    mem_free(c);
}

/* What the engine made of it. */
static void on_come(void *ctx, Run *run, const Error *failed) {
    HostComing *c = ctx;
    Error err = failed ? *failed : (Error)ERROR_INIT;
    coming_leave(c);
    HostRun *r = run ? take(c, run, &err) : NULL;
    c->ready(c->ctx, r, r ? NULL : &err);
    if (r) {
        subscription_listen(r);
        host_run_hold(r); /* a session holds the run, but maybe no window has come */
    }
    coming_free(c);
}

HostComing *host_expect(Host *h, const char *thread) {
    return coming_new(h, thread, NULL, NULL);
}

void host_expected(HostComing *c) {
    coming_leave(c);
    coming_free(c);
}

/* Who debugs it, and what was recorded, is there before its first step. */
void host_start(Host *h, const HostStart *start, HostReady ready, void *ctx) {
    Error err = ERROR_INIT;
    RunStart run = start->run;
    /* A run that was refused must not be there: what is wrong with its breakpoints is found before it is made. */
    bool fine = session_check_breakpoints(start->debug.breakpoints, start->flow, &err);
    Engine *engine = fine ? host_engine(h, HOST_CREATES, &err) : NULL;
    HostComing *c = coming_new(h, run.thread, ready, ctx);
    c->recording = start->recording;
    c->debug = start->debug;
    json_ref(c->debug.breakpoints);
    run.held = start->debug.wanted || start->recording;
    if (engine) {
        engine_start(engine, start->flow, &run, on_come, c);
    } else {
        on_come(c, NULL, &err);
    }
}

void host_resume(Host *h, const RunResume *resume, HostReady ready, void *ctx) {
    Error err = ERROR_INIT;
    Engine *engine = host_engine(h, HOST_WRITES, &err);
    HostComing *c = coming_new(h, resume->thread, ready, ctx);
    if (engine) {
        engine_resume(engine, resume, on_come, c);
    } else {
        on_come(c, NULL, &err);
    }
}

void host_open(Host *h, const char *thread, const HostDebug *debug, HostReady ready, void *ctx) {
    Error err = ERROR_INIT;
    HostRun *held = host_find(h, thread);
    if (held && (!run_settled(held->run) || host_has_window(held))) {
        ready(ctx, held, NULL);
        return;
    }
    Engine *engine = host_engine(h, HOST_WRITES, &err);
    HostComing *c = coming_new(h, thread, ready, ctx);
    c->debug = *debug;
    json_ref(c->debug.breakpoints);
    if (engine) {
        engine_open(engine, thread,
                    OBJECT(KEY("reason", "user_pause"), KEY("breakpoints", json_array()),
                           KEY("at", engine_time(engine))),
                    on_come, c);
    } else {
        on_come(c, NULL, &err);
    }
}

HostRun *host_find(const Host *h, const char *thread) {
    char *end;
    HostRun *r = h->slots ? h->by_name[slot_of(h, name_hash(thread))] : NULL;
    while (r && strcmp(run_thread(r->run), thread) != 0) r = r->same_name;
    long long number = r || !h->slots ? 0 : strtoll(thread, &end, 10);
    if (number > 0 && !*end) {
        r = h->by_number[slot_of(h, (uint64_t)number)];
        while (r && run_number(r->run) != number) r = r->same_number;
    }
    return r;
}

HostRun *host_next(const Host *h, const HostRun *after) {
    return after ? after->next : h->first;
}

void host_abandon(HostRun *r) {
    free_run(r);
}

void host_keep(HostRun *r, void *keeper) {
    r->keeper = keeper;
    if (!keeper) host_sweep_soon(r);
}

void *host_keeper(const HostRun *r) {
    return r->keeper;
}

Run *host_run(const HostRun *r) {
    return r->run;
}

/* ---- what is to be freed ---- */

static void on_sweep(uv_idle_t *idle) {
    Host *h = idle->data;
    uv_idle_stop(idle);
    while (h->to_sweep) {
        HostRun *r = h->to_sweep;
        h->to_sweep = r->next_swept;
        r->to_sweep = false;
        if (is_done(r)) free_run(r);
    }
    if (h->broken.code != ERR_NONE && !h->first &&
        !h->coming) { /* whoever asks next opens it anew */
        engine_free(h->engine);
        h->engine = NULL;
        store_close(h->store);
        h->store = NULL;
        error_clear(&h->broken);
    }
}

void host_sweep_soon(HostRun *r) {
    Host *h = r->host;
    if (!r->to_sweep) {
        r->to_sweep = true;
        r->next_swept = h->to_sweep;
        h->to_sweep = r;
        uv_idle_start(h->sweep, on_sweep);
    }
}
