/* lib_debug.c - a debug session as programs have it: a window at a run of the host's, and operations on its
 * session with values of pawl.h.
 *
 * Events are not passed on where they happen. A session tells some while the engine delivers what is
 * durable, and some in the middle of an operation, where a callback that asked for another operation
 * would find frames half let go. So they wait in the window's queue, and an idle handle, which is active
 * while there are any, tells them from the loop: there nothing is under way, and everything may be called.
 *
 *     session -> window -> on_ready() -> on_idle() -> on_event, on_pause
 *
 * A PawlDebug is its owner's until pawl_debug_free(). It keeps its run in memory, but not the engine:
 *
 *     attached   run, window and idle are set; it is in the engine's list
 *     let go     by pawl_debug_free(), or because the engine ends: none of them is set any more
 *
 * A call of its own callback keeps it in memory until it returns. */
#include "lib_inside.h"

#include "json_build.h"
#include "mem.h"
#include "session_api.h"

struct PawlDebug {
    PawlDebug *next; /* of the engine's debuggers */
    PawlDebugFn on_pause, on_event;
    void *ctx;
    PawlRun *run;
    Subscription *window;
    uv_idle_t *idle; /* active: there are events */
    Json replays;    /* threads of runs of one node that have not been told of */
    bool telling, freed;
};

/* NULL: it is over, or the run was let go of. */
static Session *session_of(const PawlDebug *d) {
    return d->run ? host_has_session(d->run->held) : NULL;
}

/* ---- what happens ---- */

static void on_idle(uv_idle_t *idle);

/* While it is being let go of, nobody wants to know. */
static void on_ready(void *ctx, Subscription *window) {
    PawlDebug *d = ctx;
    (void)window;
    if (d->idle) uv_idle_start(d->idle, on_idle);
}

static bool is_event(Json event, const char *name) {
    return json_string_is(json_object_get_c(event, "event"), name);
}

static void forget_replay(PawlDebug *d, Json thread) {
    Json rest = json_array();
    for (size_t i = 0; i < json_array_len(d->replays); i++) {
        Json item = json_array_get(d->replays, i);
        rest = json_equal(item, thread) ? rest : json_array_push(rest, json_ref(item));
    }
    json_unref(d->replays);
    d->replays = rest;
}

static void call_back(PawlDebug *d, PawlDebugFn fn, Json event) {
    PawlEngine *e = d->run ? d->run->engine : NULL;
    if (fn && e && !d->freed) {
        e->inside++;
        e->listening++;
        fn(d->ctx, d, value_of(event));
        e->listening--;
        e->inside--;
    }
}

/* A pause that was there before is for the program that opened the run to find, and one may be older than
 * what callbacks have done since. What on_pause asks for is asked of the frame that it is told of. */
static void tell(PawlDebug *d, Json event) {
    if (is_event(event, "replayed")) forget_replay(d, json_object_get_c(event, "thread"));
    call_back(d, d->on_event, event);
    bool pause = is_event(event, "paused") && json_is_none(json_object_get_c(event, "reattached"));
    Session *session = d->on_pause && pause ? session_of(d) : NULL;
    int64_t id = pawl_value_int(value_of(json_object_get_c(event, "frame")), 0);
    Frame *f = session ? run_frame(d->run->run, id) : NULL;
    if (f && frame_is_at_rest(f)) {
        if (session_selected(session) != id) session_select(session, f);
        call_back(d, d->on_pause, event);
    }
}

static void destroy(PawlDebug *d) {
    json_unref(d->replays);
    mem_free(d);
}

/* Those that come meanwhile are for the next turn. */
static void on_idle(uv_idle_t *idle) {
    PawlDebug *d = idle->data;
    Json events = json_array(), event;
    uv_idle_stop(idle);
    while (subscription_next(d->window, &event)) events = json_array_push(events, event);
    engine_goes_on(d->run);
    d->telling = true;
    for (size_t i = 0; i < json_array_len(events); i++) tell(d, json_array_get(events, i));
    d->telling = false;
    json_unref(events);
    if (d->freed) destroy(d);
}

/* ---- for the rest of the library ---- */

bool debug_has_events(const PawlEngine *e) {
    for (const PawlDebug *d = e->debuggers; d; d = d->next) {
        if (uv_is_active((uv_handle_t *)d->idle)) return true;
    }
    return false;
}

bool debug_rests(const PawlRun *r) {
    const PawlDebug *d = r->debug;
    const Session *session = d ? session_of(d) : NULL;
    return session && !session_is_over(session) && !uv_is_active((uv_handle_t *)d->idle) &&
           !r->wish && !json_array_len(d->replays) && peek_is_quiet(r->run) && host_rests(r->held);
}

static bool replays(const PawlDebug *d, const Run *run) {
    for (size_t i = 0; i < json_array_len(d->replays); i++) {
        if (json_string_is(json_array_get(d->replays, i), run_thread(run))) return true;
    }
    return false;
}

PawlRun *debug_replayed(const PawlEngine *e, const Run *run) {
    PawlDebug *d = e->debuggers;
    while (d && !replays(d, run)) d = d->next;
    return d ? d->run : NULL;
}

/* ---- life ---- */

static void free_idle(uv_handle_t *handle) {
    mem_free(handle);
}

static PawlDebug *debug_new(uv_loop_t *loop, const PawlDebugOptions *options) {
    PawlDebug *d = mem_zalloc(sizeof *d);
    d->on_pause = options->on_pause;
    d->on_event = options->on_event;
    d->ctx = options->ctx;
    d->replays = json_array();
    d->idle = mem_zalloc(sizeof *d->idle);
    uv_idle_init(loop, d->idle);
    d->idle->data = d;
    return d;
}

static void close_idle(PawlDebug *d) {
    uv_idle_t *idle = d->idle;
    d->idle = NULL;
    if (idle) uv_close((uv_handle_t *)idle, free_idle);
}

static void enter_list(PawlDebug *d, PawlRun *run) {
    d->run = run;
    d->next = run->engine->debuggers;
    run->engine->debuggers = d;
    run->debug = d;
}

void debug_let_go(PawlDebug *d) {
    if (d->run) {
        PawlDebug **at = &d->run->engine->debuggers;
        close_idle(d);
        subscription_end(d->window);
        d->window = NULL;
        host_leave_session(d->run->held);
        while (*at != d) at = &(*at)->next;
        *at = d->next;
        d->run->debug = NULL;
        d->run = NULL;
    }
}

void pawl_debug_free(PawlDebug *d) {
    if (!d || d->freed) return;
    PawlRun *run = d->run;
    debug_let_go(d);
    if (run) engine_left_by_debugger(run);
    if (d->telling) {
        d->freed = true;
    } else {
        destroy(d);
    }
}

/* ---- attaching ---- */

/* Consumes nothing. */
static PawlDebug *attach(PawlEngine *e, HostRun *held, const PawlDebugOptions *options,
                         Error *error) {
    PawlDebug *d = debug_new(e->loop, options);
    HostDebug debug = {.pause_on_start = options->pause_on_start,
                       .breakpoints = json_of(options->breakpoints),
                       .pause_all = options->apart ? -1 : 0};
    SubscriptionSpec spec = {.thread = run_thread(host_run(held)),
                             .run = held,
                             .from = -1,
                             .attach = true,
                             .debug = &debug,
                             .ready = on_ready,
                             .ctx = d};
    if (host_has_session(held)) { /* one that somebody asked for something, and is at no more */
        host_leave_session(held);
    }
    d->window = host_subscribe(e->host, &spec, error);
    if (!d->window) {
        close_idle(d);
        destroy(d);
        d = NULL;
    }
    return d;
}

bool debug_is_between_steps(const PawlEngine *e, Error *error) {
    return e->inside == e->listening ||
           error_set(
               error, ERR_USAGE,
               "A debugger cannot be used inside the function of a node: a step of the run is "
               "under way. Use it in on_pause, on_event, or outside of the engine.");
}

PawlDebug *pawl_debug_attach(PawlRun *run, const PawlDebugOptions *options, PawlError *err) {
    Error error = ERROR_INIT;
    PawlDebugOptions o = options ? *options : (PawlDebugOptions){0};
    PawlDebug *d = NULL;
    if (run->debug) {
        error_set(&error, ERR_USAGE, "Thread `%s` has a debugger already.", run_thread(run->run));
    } else if (run_settled(run->run)) {
        error_set(&error, ERR_USAGE,
                  "The run of thread `%s` is %s, and nothing happens in it any more: "
                  "pawl_debug_open() opens it from the store.",
                  run_thread(run->run), run_status(run->run));
    } else if (debug_is_between_steps(run->engine, &error)) {
        d = attach(run->engine, run->held, &o, &error);
    }
    if (d) enter_list(d, run);
    json_unref(json_of(o.breakpoints));
    lib_give_error(err, &error);
    return d;
}

/* ---- opening ---- */

/* The functions are found by the places of their nodes, so the flow has to be the stored one. */
static bool flow_fits(PawlEngine *e, const char *thread, PawlFlow *flow, Error *error) {
    PawlResume resume = {.thread = thread, .flow = flow};
    if (flow) pawl_flow_free(flow_to_resume(e, &resume, error));
    return error->code == ERR_NONE;
}

static PawlDebug *open_thread(PawlEngine *e, const char *thread, const PawlDebugOptions *o,
                              Error *error) {
    Json why = OBJECT(KEY("reason", "initial")); /* a frame that would have gone on is paused */
    Run *run = debug_is_between_steps(e, error) && flow_fits(e, thread, o->flow, error)
                   ? engine_open_now(e->engine, thread, json_ref(why), error)
                   : NULL;
    HostRun *held = run ? host_adopt(e->host, run) : NULL;
    PawlDebug *d = held ? attach(e, held, o, error) : NULL;
    json_unref(why);
    if (d) {
        enter_list(d, engine_add_run(e, held, o->flow, o->data));
    } else if (held) {
        host_abandon(held);
    }
    return d;
}

PawlDebug *pawl_debug_open(PawlEngine *e, const char *thread, const PawlDebugOptions *options,
                           PawlError *err) {
    Error error = ERROR_INIT;
    PawlDebugOptions o = options ? *options : (PawlDebugOptions){0};
    PawlDebug *d = NULL;
    engine_sweep(e);
    if (engine_has_store(e, err)) {
        d = open_thread(e, thread ? thread : "", &o, &error);
        lib_give_error(err, &error);
    }
    json_unref(json_of(o.breakpoints));
    return d;
}

/* ---- operations ---- */

PawlRun *pawl_debug_run(const PawlDebug *d) {
    return d->run;
}

bool pawl_debug_is_over(const PawlDebug *d) {
    const Session *session = session_of(d);
    return !session || session_is_over(session);
}

static bool can_be_asked(const PawlDebug *d, Error *error) {
    const Session *session = session_of(d);
    if (!d->run) return error_set(error, ERR_USAGE, "The engine has gone, and the run with it.");
    if (!session || (session_is_over(session) && !run_settled(d->run->run))) {
        return error_set(
            error, ERR_USAGE,
            "The session is over: it was detached or aborted, or has expired. Free it, "
            "and attach another.");
    }
    return debug_is_between_steps(d->run->engine, error);
}

/* The loop has to go on until it is told how a replay ended. */
static void note_replay(PawlDebug *d, const char *operation, Json answer) {
    const char *thread = strcmp(operation, "replay") ? NULL : json_object_text(answer, "thread");
    if (thread) d->replays = json_array_push(d->replays, json_string_c(thread));
}

/* Consumes args. */
static Json call(PawlDebug *d, const char *operation, Json args, PawlError *err) {
    Error error = ERROR_INIT;
    Json answer = json_none();
    if (can_be_asked(d, &error)) {
        answer = session_call(session_of(d), operation, args, &error);
        note_replay(d, operation, answer);
        engine_goes_on(d->run);
    } else {
        json_unref(args);
    }
    lib_give_error(err, &error);
    return answer;
}

static bool done(Json answer) {
    json_unref(answer);
    return !json_is_none(answer);
}

PawlValue pawl_debug_call(PawlDebug *d, const char *operation, PawlValue args, PawlError *err) {
    return value_of(call(d, operation, json_of(args), err));
}

PawlValue pawl_debug_operations(void) {
    Json list = json_array();
    for (const Operation *o = session_operations; o->name; o++) {
        list = json_array_push(list, operation_json(o));
    }
    return value_of(list);
}

bool pawl_debug_detach(PawlDebug *d, PawlError *err) {
    return done(call(d, "detach", json_none(), err));
}

int64_t pawl_debug_break(PawlDebug *d, const char *spec, PawlError *err) {
    Json set = answer_part(call(d, "breakpoint_set", OBJECT(KEY("spec", spec)), err), "breakpoint");
    Json id = answer_part(set, "id");
    return pawl_value_int(value_of(id), 0);
}

bool pawl_debug_unbreak(PawlDebug *d, int64_t breakpoint, PawlError *err) {
    return done(call(d, "breakpoint_delete", OBJECT(KEY("id", breakpoint)), err));
}

bool pawl_debug_continue(PawlDebug *d, PawlError *err) {
    return done(call(d, "continue", json_none(), err));
}

bool pawl_debug_pause(PawlDebug *d, PawlError *err) {
    return done(call(d, "pause", json_none(), err));
}

bool pawl_debug_step(PawlDebug *d, PawlStepKind kind, PawlError *err) {
    static const char *const names[] = {
        [PAWL_STEP_OVER] = "over", [PAWL_STEP_INTO] = "into", [PAWL_STEP_OUT] = "out"};
    const char *name = (unsigned)kind <= PAWL_STEP_OUT ? names[kind] : "?";
    return done(call(d, "step", OBJECT(KEY("kind", name)), err));
}

bool pawl_debug_back(PawlDebug *d, int64_t count, PawlError *err) {
    return done(call(d, "back", OBJECT(KEY("count", count)), err));
}

bool pawl_debug_select(PawlDebug *d, int64_t frame, PawlError *err) {
    return done(call(d, "frame", OBJECT(KEY("frame", frame)), err));
}

bool pawl_debug_set(PawlDebug *d, const char *path, PawlValue value, PawlError *err) {
    Json v = json_of(value);
    const char *operation = json_is_none(v) ? "unset" : "set";
    return done(call(d, operation, OBJECT(KEY("path", path), KEY("value", v)), err));
}

/* ---- looking ---- */

PawlValue pawl_debug_eval(PawlDebug *d, const char *expression, PawlError *err) {
    Json args = OBJECT(KEY("expression", expression), KEY("limit", json_int(1)));
    Json results = answer_part(call(d, "evaluate", args, err), "results");
    PawlValue first = pawl_value_ref(pawl_array_get(value_of(results), 0));
    json_unref(results);
    return first;
}

PawlValue pawl_debug_diff(PawlDebug *d, PawlError *err) {
    return value_of(call(d, "diff", OBJECT(KEY("since", "pause")), err));
}

/* The whole of it, which operations give in pages. */
PawlValue pawl_debug_state(PawlDebug *d, PawlError *err) {
    Error error = ERROR_INIT;
    Session *session = can_be_asked(d, &error) ? session_of(d) : NULL;
    Frame *f = session ? session_frame(session, 0, &error) : NULL;
    Json state = json_none();
    if (f) {
        session_touch(session);
        state = frame_will_see(f, &error);
    }
    lib_give_error(err, &error);
    return value_of(state);
}

/* Pages, one after the other: nothing happens between two of them. */
PawlValue pawl_debug_frames(PawlDebug *d, PawlError *err) {
    Json all = json_array();
    for (bool more = true; more;) {
        Json from = json_int((int64_t)json_array_len(all));
        Json answer = call(d, "frames", OBJECT(KEY("offset", from)), err);
        if (json_is_none(answer)) {
            json_unref(all);
            return value_of(answer);
        }
        int64_t total = pawl_value_int(value_of(json_object_get_c(answer, "total")), 0);
        Json page = answer_part(answer, "frames");
        more = json_array_len(page) > 0;
        all = json_array_concat(all, page);
        more = more && (int64_t)json_array_len(all) < total;
    }
    return value_of(all);
}
