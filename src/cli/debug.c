/* debug.c - `pawl debug`: a run, step by step.
 *
 * Opens what is named: a workflow, of which a run is started; a run, in this process or where it is held; or an
 * export, in a store in memory. Then the console goes on until somebody has had enough, and the run is left so
 * that anybody can come back to it. Others may attach to it meanwhile.
 */
#include "advice.h"
#include "breakpoint.h"
#include "console.h"
#include "drive.h"
#include "fields.h"
#include "flows.h"
#include "json_build.h"
#include "json_duration.h"
#include "json_parse.h"
#include "mem.h"
#include "options.h"
#include "output.h"
#include "pauses.h"
#include "place.h"
#include "progress.h"
#include "replay.h"
#include "safe_file.h"
#include "settings.h"
#include "terminal.h"
#include "way_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A growing list of borrowed words, the last NULL. */
typedef struct Words {
    const char **items;
    size_t n, cap;
} Words;

typedef struct DebugArgs {
    Common common;
    const char *target; /* FILE, THREAD or RUN; NULL: none */
    const char *thread, *mode, *given, *export;
    Json input, set;
    Words breaks, scripts;
    bool no_pause, auto_resume;
    bool has_idle;
    int pause_all; /* 0: as it is, 1: on, 2: off */
    double idle;   /* seconds */
    ReplayArgs replay;
} DebugArgs;

typedef struct Debug {
    DebugArgs *args;
    Asking asking;
    const char *store_hint; /* as in DrivePlan */
    Flow *flow;             /* that a run was started of; NULL: it was there before */
    char *thread;           /* the run */
    Console *console;
    Target target;        /* closed: there is no session, or nobody is at it here */
    ClientEvents *events; /* what the session tells; later, what the run does */
    Progress *progress;   /* of a run that was let go */
    Json settled;         /* how it ended, once it was let go or left; JSON_NONE: it has not */
    Error failed;
    int64_t seen;     /* the last checkpoint that the session told of */
    bool begun, over; /* an operation that opens a run was answered; nothing more is told */
} Debug;

/* ---- the command line ---- */

enum { DEBUG_BREAK, DEBUG_SCRIPT, DEBUG_IDLE };

/* Seconds, or a duration as in a workflow: 90, 0.5, 30m. */
static bool read_idle(const char *text, double *seconds) {
    char *end;
    int64_t ms;
    Json words = json_string_c(text);
    double number = strtod(text, &end);
    bool plain = *text && !*end;
    bool ok = plain ? number >= 0 && number <= 1e9 : json_duration(words, &ms) && ms >= 0;
    json_unref(words);
    if (!ok) {
        return options_complain(&command_debug,
                                "--idle takes a time such as 90, 0.5 or 30m, not `%s`.", text);
    }
    *seconds = plain ? number : (double)ms / 1000;
    return true;
}

static bool on_option(void *ctx, const Option *option, char **values) {
    DebugArgs *args = ctx;
    if (option->id == DEBUG_IDLE) return args->has_idle = read_idle(values[0], &args->idle);
    Words *words = option->id == DEBUG_BREAK ? &args->breaks : &args->scripts;
    words->items = mem_grow(words->items, words->n + 1, &words->cap, sizeof *words->items);
    words->items[words->n++] = values[0];
    words->items[words->n] = NULL;
    return true;
}

static bool complain_if(const char *value, const char *option, const char *why) {
    return !value || options_complain(&command_debug, "--%s has no place here: %s.", option, why);
}

/* What only a new run can take. */
static bool refuse_start_options(const DebugArgs *args) {
    static const char why[] = "the run has begun already; `set PATH = JSON` changes its state";
    return complain_if(args->given, "input", why) && complain_if(args->mode, "mode", why) &&
           complain_if(args->replay.from.thread, "replay", "the run has begun already") &&
           (json_is_none(args->set) || complain_if("", "set", why));
}

/* ---- sessions ---- */

static Json call_session(void *self, const char *operation, Json args, Error *err) {
    Debug *d = self;
    const char *thread = strcmp(operation, "operations") ? d->thread : NULL;
    return client_ask(d->asking.client, operation, OBJECT_ADD(args, KEY("thread", thread)), err);
}

static void leave_session(void *self) {
    Debug *d = self;
    client_events_end(d->events);
    d->events = NULL;
}

static void on_session_event(void *ctx, Json event) {
    Debug *d = ctx;
    int64_t checkpoint = field_number(event, "checkpoint", 0);
    d->seen = checkpoint > d->seen ? checkpoint : d->seen;
    console_event(d->console, event);
}

static void on_session_over(void *ctx, const Error *why) {
    Debug *d = ctx;
    if (why && !d->begun) {
        d->failed = *why;
    } else if (why) {
        console_closed(d->console);
    }
}

/* The window is there before the run has a turn. */
static void on_opened(void *ctx, Json run, const Error *err) {
    Debug *d = ctx;
    if (err) {
        d->failed = *err;
    } else {
        mem_free(d->thread);
        d->thread = mem_strdup(field_string(run, "thread"));
        d->target = (Target){.call = call_session, .close = leave_session, .self = d};
        d->target.remote = client_is_elsewhere(d->asking.client, d->thread);
        if (d->target.remote) cli_bounds_elsewhere(&d->args->common);
        console_open(d->console, &d->target);
        d->events = client_events(d->asking.client,
                                  OBJECT(KEY("thread", d->thread), KEY("attach", json_bool(true))),
                                  &(ClientListener){on_session_event, on_session_over, d});
    }
    d->begun = true;
    json_unref(run);
}

static bool open_session(Debug *d, const char *operation, Json args, Error *err) {
    d->begun = false;
    error_clear(&d->failed);
    client_call(d->asking.client, operation, args, on_opened, d);
    while (!d->begun) uv_run(&d->asking.loop, UV_RUN_ONCE);
    if (d->failed.code != ERR_NONE) {
        *err = d->failed;
        return false;
    }
    asking_listen(&d->asking);
    return true;
}

static Json pause_all(const DebugArgs *args) {
    return args->pause_all ? json_bool(args->pause_all == 1) : json_none();
}

/* The fields of a breakpoint of --break; JSON_NONE on error. */
static Json break_fields(const char *file, const char *text, Error *err) {
    char *spec = console_break_spec(file, text, strlen(text), err);
    Json fields = spec ? breakpoint_parse(spec, err) : json_none();
    mem_free(spec);
    return fields;
}

/* A run of a server does not wait for us: where nothing pauses it at its start, its breakpoints go with it. */
static bool breaks_go_along(const Debug *d) {
    return d->flow && d->args->no_pause && cli_server(&d->args->common);
}

static Json breaks_along(const Debug *d) {
    Json list = json_array();
    bool first = !d->thread; /* a run that is begun once more gets those of the one before */
    for (size_t i = 0; first && breaks_go_along(d) && i < d->args->breaks.n; i++) {
        Json fields = break_fields(d->flow->path, d->args->breaks.items[i], NULL);
        if (!json_is_none(fields)) list = json_array_push(list, fields);
    }
    if (json_array_len(list)) return list;
    json_unref(list);
    return json_none();
}

static bool start_run(Debug *d, const char *thread, Error *err) {
    const DebugArgs *args = d->args;
    return open_session(
        d, "run_start",
        OBJECT(KEY("definition", flow_definition(d->flow)), KEY("thread", thread),
               KEY("input", json_ref(args->input)), KEY("mode", args->mode),
               KEY("replay", replay_args(&args->replay)),
               KEY("debug", OBJECT(KEY("pause_on_start", json_bool(!args->no_pause)),
                                   KEY("pause_all_on_breakpoint", pause_all(args)),
                                   KEY("breakpoints", breaks_along(d))))),
        err);
}

/* --break. */
static void set_breaks(Debug *d) {
    const Words *breaks = &d->args->breaks;
    Json session = breaks->n ? target_call(&d->target, "session", json_none(), NULL) : json_none();
    const char *file = json_object_text(session, "file");
    for (size_t i = 0; i < breaks->n && !breaks_go_along(d); i++) {
        Error err = ERROR_INIT;
        Json fields = break_fields(file, breaks->items[i], &err);
        if (json_is_none(fields)) {
            terminal_say(stderr, "pawl debug: --break `%s`: %s\n", breaks->items[i], err.msg);
        } else {
            console_call(d->console, "breakpoint_set", fields, true);
        }
    }
    json_unref(session);
}

static void configure(Debug *d) {
    const DebugArgs *args = d->args;
    Json options = OBJECT(KEY("pause_all_on_breakpoint", pause_all(args)),
                          KEY("idle_limit", args->has_idle ? json_double(args->idle) : json_none()),
                          KEY("auto_resume", args->auto_resume ? json_bool(true) : json_none()));
    if (json_object_len(options)) {
        console_call(d->console, "configure", options, false);
    } else {
        json_unref(options);
    }
}

/* ---- `run`: once more ---- */

/* What a listing adds to a breakpoint, and what begins anew. */
static Json bare_breakpoint(Json b) {
    static const char *const listed[] = {"id", "hit_count", "verified", "places", "message"};
    Json out = json_ref(b);
    for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++) {
        out = json_object_remove(out, json_string_c(listed[i]));
    }
    return out;
}

static Json kept_breakpoints(Debug *d) {
    Json answer = target_call(&d->target, "breakpoints", json_none(), NULL), out = json_array();
    Json list = field_get(answer, "breakpoints");
    for (size_t i = 0; i < json_array_len(list); i++) {
        out = json_array_push(out, bare_breakpoint(json_array_get(list, i)));
    }
    json_unref(answer);
    return out;
}

static void restore(Debug *d, Json breakpoints, Json watches) {
    Json list = field_get(watches, "watches");
    if (json_array_len(breakpoints)) {
        console_call(d->console, "breakpoint_set",
                     OBJECT(KEY("breakpoints", json_ref(breakpoints))), false);
    }
    for (size_t i = 0; i < json_array_len(list); i++) {
        const char *text = field_string(json_array_get(list, i), "expression");
        console_call(d->console, "watch_add", OBJECT(KEY("expression", text)), false);
    }
}

/* The name that was asked for is taken by now. Who is attached to the old run is left. */
static bool restart(void *ctx, Error *err) {
    Debug *d = ctx;
    if (!d->flow || !strcmp(d->args->target, "-")) {
        return error_set(
            err, ERR_USAGE,
            "There is no file to start anew: `goto @1` goes back to its beginning, and "
            "`pawl debug FILE` starts another one.");
    }
    Flow *flow = cli_flow_load(&d->args->common, d->args->target);
    if (!flow) {
        return error_set(err, ERR_USAGE,
                         "The workflow has errors now, so there is nothing to run.");
    }
    Json breakpoints = kept_breakpoints(d),
         watches = target_call(&d->target, "watches", json_none(), NULL);
    target_close(&d->target);
    json_unref(client_ask(d->asking.client, "run_drop", OBJECT(KEY("thread", d->thread)), NULL));
    flow_unref(d->flow);
    d->flow = flow;
    bool started = start_run(d, NULL, err);
    if (started) {
        configure(d);
        restore(d, breakpoints, watches);
        console_notice(d->console, "Thread %s begins.", d->thread);
    }
    json_unref(breakpoints);
    json_unref(watches);
    return started;
}

/* ---- leaving ---- */

static int code_of(const char *status) {
    bool failed = !strcmp(status, "failed") || !strcmp(status, "cancelled");
    return !strcmp(status, "completed") ? EXIT_OK : failed ? EXIT_FAILED_RUN : EXIT_WAITING;
}

static void say_way_back(Debug *d, const char *before) {
    const char *export = d->args->export;
    Buf way = BUF_INIT;
    if (!cli_store_is_durable(&d->args->common) && !export) {
        console_notice(d->console,
                       "The run was kept in memory only, so it is gone with this process.");
        return;
    }
    buf_adds(&way, export ? "pawl debug --open " : "pawl debug ");
    shell_word(&way, export ? export : d->thread);
    if (!export) place_words(&way, d->store_hint);
    console_notice(d->console, "%s`%s` comes back to it.", before, way.data);
    buf_clear(&way);
}

/* A pause by somebody who attached after the run was let go. */
static void on_run_event(void *ctx, Json event) {
    Debug *d = ctx;
    if (d->progress) progress_event(d->progress, event);
    if (d->progress && json_string_is(field_get(event, "event"), "paused")) {
        progress_hide(d->progress);
        pause_say(stderr, event);
    }
    if (json_string_is(field_get(event, "event"), "settled")) {
        json_unref(d->settled);
        d->settled = json_ref(event);
    }
    json_unref(event);
}

static void on_run_over(void *ctx, const Error *why) {
    Debug *d = ctx;
    (void)why;
    d->over = true;
}

static void on_patience(uv_timer_t *timer) {
    Debug *d = timer->data;
    asking_stop_run(&d->asking, d->thread);
}

/* Some frame goes on by itself. */
static bool goes_on(Debug *d) {
    Json answer =
        client_ask(d->asking.client, "run_frames", OBJECT(KEY("thread", d->thread)), NULL);
    bool resting = json_is_none(answer) || json_truthy(field_get(answer, "resting"));
    json_unref(answer);
    return !resting;
}

enum { PATIENCE_MS = 2000 };

/* Until it has settled. `stops`: what still runs is stopped, as Ctrl-C does it to `pawl run`; paused frames are on
 * record as they are. Otherwise the run is let go, and Ctrl-C stops it. */
static void follow(Debug *d, bool stops) {
    uv_timer_t patience;
    int interrupts = 0;
    d->over = false;
    d->events = client_events(d->asking.client,
                              OBJECT(KEY("thread", d->thread), KEY("values", json_bool(true)),
                                     KEY("from", stops ? json_none() : json_int(2 * d->seen))),
                              &(ClientListener){on_run_event, on_run_over, d});
    uv_timer_init(&d->asking.loop, &patience);
    patience.data = d;
    if (stops) {
        if (goes_on(d)) asking_stop_run(&d->asking, d->thread);
        uv_timer_start(&patience, on_patience, PATIENCE_MS, PATIENCE_MS);
    }
    while (json_is_none(d->settled) && !d->over && interrupts < (stops ? 1 : 2)) {
        uv_run(&d->asking.loop, UV_RUN_ONCE);
        int more = console_interrupts(d->console) + (!stops && console_is_over(d->console));
        if (more && !stops && !interrupts) asking_stop_run(&d->asking, d->thread);
        interrupts += more;
    }
    client_events_end(d->events);
    d->events = NULL;
    uv_close((uv_handle_t *)&patience, NULL);
    uv_run(&d->asking.loop, UV_RUN_NOWAIT); /* the timer is on our stack */
}

static int code_of_settled(Debug *d) {
    const char *lost = json_object_text(d->settled, "store_error");
    Error err = ERROR_INIT;
    if (lost) {
        error_set(&err, ERR_IO, "%s", lost);
        return cli_fail(&d->args->common, &err);
    }
    return code_of(field_string(d->settled, "status"));
}

/* Whoever is attached is left: the run goes with this process, and its session with the run. */
static int leave_local(Debug *d) {
    target_close(&d->target);
    socket_close(d->asking.server);
    d->asking.server = NULL;
    follow(d, true);
    int code = code_of_settled(d);
    if (code == EXIT_WAITING) say_way_back(d, "The run stays as it is. ");
    return code;
}

static int leave_remote(Debug *d, ConsoleEnd end) {
    static const char *const words[] = {
        [CONSOLE_QUIT] = "The session stays with the run. ",
        [CONSOLE_DETACHED] = "The run goes on. ",
        [CONSOLE_EXPIRED] = "The session is over. ",
        [CONSOLE_GONE] = "The process that had the run has gone, or let go of us. ",
    };
    int code = code_of(console_status(d->console));
    if (code == EXIT_WAITING || end == CONSOLE_GONE) say_way_back(d, words[end]);
    target_close(&d->target);
    return code;
}

/* Commands that nobody did, since the session was over before them: how the run ended is not what was asked for. */
static int code_with_left(Debug *d, int code) {
    size_t left = console_left(d->console);
    if (left) {
        console_notice(d->console, "%zu command%s not done: the session was over before %s.", left,
                       left > 1 ? "s were" : " was", left > 1 ? "them" : "it");
    }
    return left && code == EXIT_OK ? EXIT_WAITING : code;
}

/* ---- letting go: as `pawl run` from here on ---- */

static int let_go(Debug *d) {
    target_close(&d->target);
    d->progress =
        d->args->common.json ? NULL : progress_new(&d->asking.loop, d->asking.client, d->thread);
    follow(d, false);
    progress_free(d->progress);
    d->progress = NULL;
    if (field_has_text(d->settled, "store_error") || json_is_none(d->settled)) {
        return code_of_settled(d);
    }
    if (d->args->common.json) { /* the session is over, so nobody else says it */
        Json event = OBJECT(KEY("event", "settled"),
                            KEY("status", json_ref(field_get(d->settled, "status"))),
                            KEY("checkpoint", json_ref(field_get(d->settled, "checkpoint"))),
                            KEY("error", json_ref(field_get(d->settled, "error"))));
        output_line(event);
        json_unref(event);
    } else if (json_string_is(field_get(d->settled, "status"), "stopped")) {
        say_resume(d->thread, d->store_hint, "Stopped. Resume with: ");
    } else {
        drive_complete(&d->asking, &d->settled);
        ending_say(&(Ending){&d->args->common, d->store_hint,
                             cli_store_is_durable(&d->args->common), NULL, d->settled});
    }
    return code_of_settled(d);
}

/* ---- the conversation ---- */

/* Of an earlier run of the file, for somebody who can say whether they are wanted. */
static void offer_saved(Debug *d) {
    if (d->args->common.json) return;
    Json saved = target_call(&d->target, "breakpoint_saved", json_none(), NULL);
    int64_t n = field_number(saved, "breakpoints", 0), watches = field_number(saved, "watches", 0);
    if (n) {
        console_notice(d->console, "%lld breakpoint%s saved for this workflow: `load` sets %s.",
                       (long long)n, n == 1 ? " was" : "s were", n == 1 ? "it" : "them");
    } else if (watches) {
        console_notice(d->console, "%lld watch%s saved for this workflow: `load` sets %s.",
                       (long long)watches, watches == 1 ? " was" : "es were",
                       watches == 1 ? "it" : "them");
    }
    json_unref(saved);
}

static int converse(Debug *d, ConsoleBegin begin) {
    configure(d);
    set_breaks(d);
    if (d->flow) offer_saved(d);
    ConsoleEnd end = console_go(d->console, begin);
    bool remote = d->target.remote;
    bool lets_go = !remote && (end == CONSOLE_DETACHED || (end == CONSOLE_EXPIRED && goes_on(d)));
    return code_with_left(d, remote ? leave_remote(d, end) : lets_go ? let_go(d) : leave_local(d));
}

/* A run that was there goes on by itself when it is told not to pause. */
static ConsoleBegin begin_open(Debug *d, int64_t seq) {
    bool moved =
        seq && console_call(d->console, "goto", OBJECT(KEY("checkpoint", json_int(seq))), false);
    if (!d->args->no_pause || d->target.remote) return moved ? CONSOLE_MOVED : CONSOLE_LOOKS;
    return console_call(d->console, "continue", OBJECT(KEY("frame", "all")), false) ? CONSOLE_WAITS
                                                                                    : CONSOLE_LOOKS;
}

/* ---- opening ---- */

static bool begin_asking(Debug *d, Error *err) {
    asking_begin(&d->asking, &d->args->common);
    ConsoleHost host = {.loop = &d->asking.loop,
                        .scripts = d->args->scripts.items,
                        .json = d->args->common.json,
                        .restart = restart,
                        .ctx = d};
    d->console = console_new(&host, err);
    if (!d->console) err->code = ERR_USAGE; /* a file of commands that cannot be read */
    return d->console != NULL;
}

static int end_asking(Debug *d, int code) {
    target_close(&d->target);
    console_free(d->console);
    d->console = NULL;
    asking_end(&d->asking);
    return code;
}

/* ---- opening: a run ---- */

/* Asked before the run is opened, which would change it. */
static bool checkpoint_is_there(Debug *d, const Place *place, Error *err) {
    if (!place->seq) return true;
    Json answer = client_ask(d->asking.client, "run_state", place_args(place), err);
    bool there = !json_is_none(answer);
    json_unref(answer);
    return there;
}

static int debug_thread(Debug *d, const char *name) {
    Place place = {0};
    Error err = ERROR_INIT;
    const char *dot = strrchr(name, '.');
    if (dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") || !strcmp(dot, ".json"))) {
        options_complain(&command_debug, "there is no file `%s`.", name);
        return EXIT_USAGE;
    }
    if (!refuse_start_options(d->args) || !place_parse(&command_debug, name, &place)) {
        return EXIT_USAGE;
    }
    d->store_hint = cli_store_hint(&d->args->common);
    bool ok = begin_asking(d, &err) && checkpoint_is_there(d, &place, &err) &&
              open_session(
                  d, "run_open",
                  OBJECT(KEY("thread", place.thread),
                         KEY("debug", OBJECT(KEY("pause_all_on_breakpoint", pause_all(d->args))))),
                  &err);
    int code = ok ? converse(d, begin_open(d, place.seq)) : cli_fail(&d->args->common, &err);
    place_clear(&place);
    return end_asking(d, code);
}

/* ---- opening: an export ---- */

enum { EXPORT_FILE_MAX = 1 << 30 }; /* bytes */

static Json read_export(const char *path, Error *err) {
    Buf text = BUF_INIT;
    bool failed = !safe_read_given(path, EXPORT_FILE_MAX, &text, err);
    Json document = failed ? json_none() : json_parse(text.data, text.len, NULL, err);
    if (!failed && json_is_none(document)) error_wrap(err, "%s is no export", path);
    buf_clear(&text);
    return document;
}

static int debug_export(Debug *d) {
    Error err = ERROR_INIT;
    if (d->args->target || d->args->thread || d->args->common.store || d->args->common.server) {
        options_complain(&command_debug, "--open takes the place of a run and of its store.");
        return EXIT_USAGE;
    }
    d->args->common.here = true;
    if (!refuse_start_options(d->args)) return EXIT_USAGE;
    Json document = read_export(d->args->export, &err), run = json_none();
    d->args->common.store = "memory:";
    bool ok = begin_asking(d, &err) && !json_is_none(document);
    if (ok) {
        run = client_ask(d->asking.client, "run_import",
                         OBJECT(KEY("document", json_take(&document))), &err);
        ok = !json_is_none(run) && open_session(d, "run_open",
                                                OBJECT(KEY("thread", field_string(run, "thread")),
                                                       KEY("view_only", json_bool(true))),
                                                &err);
    }
    json_unref(document);
    json_unref(run);
    int code = EXIT_USAGE;
    if (ok) {
        code = converse(d, begin_open(d, 0));
    } else {
        cli_fail(&d->args->common, &err);
    }
    return end_asking(d, code);
}

/* ---- opening: a workflow ---- */

static int debug_flow(Debug *d) {
    Error err = ERROR_INIT;
    Common *common = &d->args->common;
    bool told = common->store || cli_server(common);
    char *configured = told ? NULL : cli_store_configured(d->flow->main);
    common->store = configured ? configured : common->store;
    d->store_hint = cli_store_hint(common);
    bool started = begin_asking(d, &err) && start_run(d, d->args->thread, &err);
    /* a program that lets it run at once says itself what it waits for */
    bool looks = d->args->no_pause && common->json && !d->args->scripts.n;
    int code = started ? converse(d, looks ? CONSOLE_LOOKS : CONSOLE_WAITS)
                       : cli_fail(&d->args->common, &err);
    if (started && d->args->replay.from.thread) {
        drive_say_recorded(d->settled, d->args->replay.from.thread);
    }
    code = end_asking(d, code);
    mem_free(configured);
    return code;
}

/* What is wrong with a breakpoint is said before anything is kept of the run. */
static bool has_good_breaks(const DebugArgs *args, const Flow *flow) {
    for (size_t i = 0; i < args->breaks.n; i++) {
        Error err = ERROR_INIT;
        const char *text = args->breaks.items[i];
        Json fields = break_fields(flow->path, text, &err);
        bool parsed = !json_is_none(fields);
        Breakpoint *b = parsed ? breakpoint_new(1, fields, flow, &err) : NULL;
        bool good = b != NULL;
        breakpoint_free(b);
        json_unref(fields);
        if (!good) return options_complain(&command_debug, "--break `%s`: %s", text, err.msg);
    }
    return true;
}

static int debug_file(Debug *d) {
    if (d->args->thread && !place_thread_name(&command_debug, d->args->thread)) return EXIT_USAGE;
    d->flow = cli_flow_load(&d->args->common, d->args->target);
    if (d->flow && d->flow->main->checkpoint) {
        options_complain(&command_debug,
                         "the workflow's config.checkpoint says to go on with %s; debug that one.",
                         d->flow->main->checkpoint);
        return EXIT_USAGE;
    }
    bool ready = d->flow && has_good_breaks(d->args, d->flow) &&
                 settings_start(&command_debug, d->args->given, d->args->set, &d->args->input);
    return ready ? debug_flow(d) : EXIT_USAGE;
}

/* ---- which of them ---- */

static bool is_stdin(const char *path) {
    return path && !strcmp(path, "-");
}

/* A name that leads to a file and to a run. */
static bool is_thread_too(const DebugArgs *args) {
    Asking asking;
    if (strchr(args->target, '/')) return false;
    asking_begin(&asking, &args->common);
    Json found = client_ask(asking.client, "run_get", OBJECT(KEY("thread", args->target)), NULL);
    asking_end(&asking);
    json_unref(found);
    return !json_is_none(found);
}

/* Commands come from there unless scripts take its place. */
static bool reads_stdin_twice(const DebugArgs *args) {
    bool taken = is_stdin(args->target) || is_stdin(args->given), free = args->scripts.n > 0;
    for (size_t i = 0; i < args->scripts.n; i++) free = free && !is_stdin(args->scripts.items[i]);
    return (taken && !free) || (is_stdin(args->target) && is_stdin(args->given));
}

static int debug_target(Debug *d) {
    const DebugArgs *args = d->args;
    if (reads_stdin_twice(args)) {
        options_complain(&command_debug,
                         "only one thing can come from standard input; -x FILE takes the commands "
                         "from elsewhere.");
        return EXIT_USAGE;
    }
    struct stat found;
    if (!is_stdin(args->target) && (stat(args->target, &found) != 0 || S_ISDIR(found.st_mode))) {
        if (args->thread) {
            options_complain(&command_debug, "there is no file `%s` to start.", args->target);
            return EXIT_USAGE;
        }
        return debug_thread(d, args->target);
    }
    if (!args->thread && is_thread_too(args)) {
        options_complain(&command_debug,
                         "`%s` is a file and a run: `pawl debug ./%s` starts the file, `pawl debug "
                         "--thread %s` opens the run.",
                         args->target, args->target, args->target);
        return EXIT_USAGE;
    }
    return debug_file(d);
}

static int act(void *ctx) {
    DebugArgs *args = ctx;
    Debug d = {.args = args};
    int code = EXIT_USAGE;
    if (!replay_is_sensible(&command_debug, &args->replay)) return code;
    if (args->export) {
        code = debug_export(&d);
    } else if (args->target) {
        code = debug_target(&d);
    } else if (args->thread) {
        code = debug_thread(&d, args->thread);
    } else {
        options_complain(&command_debug,
                         "which workflow or run? It takes a FILE, a THREAD or a RUN.");
    }
    flow_unref(d.flow);
    json_unref(d.settled);
    mem_free(d.thread);
    return code;
}

static void clear(void *ctx) {
    DebugArgs *args = ctx;
    json_unref(args->input);
    mem_free(args->breaks.items);
    mem_free(args->scripts.items);
}

/* ---- the row ---- */

const Command command_debug = {
    .name = "debug",
    .summary = "stop inside a run: look, change, step, go back",
    .arguments = "[FILE|THREAD|RUN]",
    .description =
        "Starts a run of the workflow in FILE and stops before its first node, or opens a run: one "
        "that waits, failed or was left, or one that another process is running or debugging; then "
        "all who are there share one session. At the prompt, `help` lists the commands; those of "
        "gdb and pdb work.\n\n"
        "`quit`, or the end of the input, leaves the run paused in its store with its breakpoints; "
        "`pawl debug THREAD` comes back to it. `detach` lets it run on. Ctrl-C stops what is "
        "running.\n\n"
        "With --replay a new run takes its results from the record of another; `run` at the prompt "
        "begins with that anew.\n\n"
        "Where standard input is no terminal, or with -x, commands are read line by line; each that "
        "lets the run go on is over when something stops.\n\n"
        "Exit codes: 0, the run completed; 1, it failed or was cancelled; 2, the command line or the "
        "workflow is wrong; 3, it was left paused or waiting, or the session was over before all commands were done; 4, another process has the run; 5, the store cannot be used.",
    OPTIONS(
        {"input", 'i', "JSON|@FILE|-", "what the state starts with: an object",
         TAKES(OPTION_TEXT, DebugArgs, given)},
        {"thread", 't', "ID",
         "the name of the new run (run-N unless told); without FILE, the run to open",
         TAKES(OPTION_TEXT, DebugArgs, thread)},
        {"set", 0, "PATH=JSON", "set a value in the state first; may be given many times",
         TAKES(OPTION_SETTINGS, DebugArgs, set)},
        {"mode", 0, "autonomous|interactive",
         "whether what could be asked of a model is asked of you instead (as config.mode of the workflow says, or else autonomous)",
         TAKES(OPTION_WORD, DebugArgs, mode), .completes = COMPLETE_WORDS},
        {"break", 'b', "SPEC",
         "stop there: NODE, FILE:LINE, `NODE if EXPR`; may be given many times", .id = DEBUG_BREAK},
        {"commands", 'x', "FILE",
         "take the commands from a file, then quit; - is standard input; may be given many times",
         .completes = COMPLETE_FILE, .id = DEBUG_SCRIPT},
        {"no-pause", 0, NULL, "run at once, until a breakpoint stops it",
         TAKES(OPTION_FLAG, DebugArgs, no_pause)},
        {"pause-all", 0, "on|off", "whether all frames stop when one does (on unless told)",
         TAKES(OPTION_CHOICE, DebugArgs, pause_all), .completes = COMPLETE_WORDS},
        {"idle", 0, "TIME",
         "how long nobody may do anything before the session ends, as 90 or 30m (1h; 0: for ever)",
         .id = DEBUG_IDLE},
        {"auto-resume", 0, NULL,
         "let the run go on when that time is over, instead of leaving it paused",
         TAKES(OPTION_FLAG, DebugArgs, auto_resume)},
        {"open", 0, "FILE", "look at a run that `export` wrote",
         TAKES(OPTION_TEXT, DebugArgs, export), .completes = COMPLETE_FILE},
        REPLAY_ROWS(DebugArgs), STORE_ROW, SERVER_ROWS, BOUNDS_ROWS, KINDS_ROW,
        JSON_ROW("answers and events as JSON, one object a line, for programs")),
    EXAMPLES({"pawl debug review.yaml --break deploy",
              "a new run, stopped at its start; then `continue`"},
             {"pawl debug review-7", "a run that waits, failed, or runs in another process"},
             {"pawl debug review.yaml -x steps.txt", "commands from a file"},
             {"pawl debug review.yaml --replay review-7 --break report",
              "a new run that takes the results of another, up to where you step"}),
    .completes = COMPLETE_FILE,
    .args = sizeof(DebugArgs),
    .argument = offsetof(DebugArgs, target),
    .one = "workflow or run",
    .handle = on_option,
    .act = act,
    .clear = clear,
};
