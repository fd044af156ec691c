/* debug.c - `pawl debug`: a run, step by step.
 *
 * Opens what is named: a workflow, of which a run is started; a run that no process has; one that
 * another process has (attach.h); or an export, in a store in memory. Then the console (console.h)
 * goes on until somebody has had enough, and the run is left so that anybody can come back to it. A run
 * that is here is shared (debugging.h): others may attach to it meanwhile.
 */
#include "advice.h"
#include "breakpoint.h"
#include "console.h"
#include "debug_target.h"
#include "drive.h"
#include "engines.h"
#include "export.h"
#include "flows.h"
#include "inputs.h"
#include "json_duration.h"
#include "json_parse.h"
#include "mem.h"
#include "options.h"
#include "output.h"
#include "pauses.h"
#include "place.h"
#include "progress.h"
#include "replay.h"
#include "settings.h"
#include "stores.h"
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    int pause_all; /* 0: as it is, 1: on, -1: off */
    double idle;   /* seconds; -1: as it is */
    ReplayArgs replay;
} DebugArgs;

typedef struct Debug {
    DebugArgs *args;
    Store *store;
    const char *store_hint; /* as in DrivePlan */
    CliEngine engine;
    Flow *flow;          /* that a run was started of; NULL: it was there before */
    Run *run;            /* NULL: another process has it */
    Debugging debugging; /* of it */
    char *thread;        /* its name */
    Target target;       /* closed: there is no session, or nobody is at it here */
    Console *console;
    Progress *progress;   /* of a run that was let go */
    Recording *recording; /* of --replay, whose results the run takes; NULL: none */
} Debug;

/* ---- the command line ---- */

enum {
    DEBUG_INPUT,
    DEBUG_THREAD,
    DEBUG_SET,
    DEBUG_MODE,
    DEBUG_BREAK,
    DEBUG_SCRIPT,
    DEBUG_OPEN,
    DEBUG_NO_PAUSE,
    DEBUG_PAUSE_ALL,
    DEBUG_IDLE,
    DEBUG_AUTO_RESUME,
};

static void add_word(Words *words, const char *word) {
    words->items = mem_grow(words->items, words->n + 1, &words->cap, sizeof *words->items);
    words->items[words->n++] = word;
    words->items[words->n] = NULL;
}

static bool on_target(DebugArgs *args, const char *target) {
    if (args->target) {
        return options_complain(&command_debug,
                                "it takes one workflow or run, but was given `%s` too.", target);
    }
    args->target = target;
    return true;
}

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
    const Command *c = &command_debug;
    if (!option) {
        return on_target(args, values[0]);
    }
    if (common_option(&args->common, option, values)) {
        return true;
    }
    Handled replays = replay_option(c, &args->replay, option, values);
    if (replays != HANDLED_NOT) {
        return replays == HANDLED_WELL;
    }
    switch (option->id) {
    case DEBUG_INPUT: args->given = values[0]; break;
    case DEBUG_THREAD: args->thread = values[0]; break;
    case DEBUG_SET: return settings_add(c, values[0], &args->set);
    case DEBUG_MODE: args->mode = values[0]; return options_word(c, option, values[0]) >= 0;
    case DEBUG_BREAK: add_word(&args->breaks, values[0]); break;
    case DEBUG_SCRIPT: add_word(&args->scripts, values[0]); break;
    case DEBUG_OPEN: args->export = values[0]; break;
    case DEBUG_NO_PAUSE: args->no_pause = true; break;
    case DEBUG_IDLE: return read_idle(values[0], &args->idle);
    case DEBUG_AUTO_RESUME: args->auto_resume = true; break;
    case DEBUG_PAUSE_ALL: {
        int word = options_word(c, option, values[0]);
        args->pause_all = word == 0 ? 1 : -1;
        return word >= 0;
    }
    }
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

/* The input with what --set says; false after saying what does not fit. */
static bool read_input(DebugArgs *args) {
    Error err = ERROR_INIT;
    if (args->given && !settings_input(&command_debug, args->given, &args->input)) {
        return false;
    }
    if (json_is_none(args->set)) {
        return true;
    }
    Json input = json_is_none(args->input) ? json_object() : args->input;
    args->input = settings_apply(input, args->set, &err);
    return !json_is_none(args->input) || options_complain(&command_debug, "--set: %s.", err.msg);
}

/* ---- sessions ---- */

static void on_event(void *ctx, const Event *event) {
    Debug *d = ctx;
    if (d->progress) {
        progress_event(d->progress, event);
    }
}

/* A pause by somebody who attached after the run was let go. */
static void say_pause(const Debug *d, Json event) {
    bool paused = json_string_is(json_object_get_c(event, "event"), "paused");
    if (paused && json_is_none(json_object_get_c(event, "reattached"))) {
        progress_hide(d->progress);
        pause_say(stderr, event);
    }
}

static void on_session_event(void *ctx, Json event) {
    Debug *d = ctx;
    if (d->target.call) {
        console_event(d->console, json_ref(event));
    } else if (d->progress) {
        say_pause(d, event);
    }
}

static bool attach_session(Debug *d, bool begins, Error *err) {
    DebuggingPlan plan = {.debug = true,
                          .present = true,
                          .view_only = d->args->export != NULL,
                          .pause_on_start = begins && !d->args->no_pause,
                          .breakpoints = json_none(),
                          .pause_all = d->args->pause_all,
                          .recording = d->recording,
                          .event = on_session_event,
                          .ctx = d};
    d->target = target_to_debugging(&d->debugging);
    console_open(d->console, &d->target);
    return debugging_begin(&d->debugging, &plan, d->run, &d->engine.loop, err);
}

/* Its name, for the way back. */
static void note_thread(Debug *d, const char *thread) {
    mem_free(d->thread);
    d->thread = mem_strndup(thread, strlen(thread));
}

static bool start_run(Debug *d, const char *thread, Error *err) {
    RunStart start = {.thread = thread, .input = d->args->input, .mode = d->args->mode};
    d->run = engine_start_now(d->engine.engine, d->flow, &start, err);
    if (!d->run) {
        return false;
    }
    note_thread(d, run_thread(d->run));
    return attach_session(d, true, err);
}

static char *main_file(Debug *d) {
    Json session = target_call(&d->target, "session", json_none(), NULL);
    Json file = json_is_none(session) ? json_none() : json_object_get_c(session, "file");
    bool known = json_kind(file) == JSON_STRING;
    char *path = known ? mem_strndup(json_string_data(&file), json_string_len(file)) : NULL;
    json_unref(session);
    return path;
}

/* The fields of a breakpoint of --break; JSON_NONE on error. */
static Json break_fields(const char *file, const char *text, Error *err) {
    char *spec = console_break_spec(file, text, strlen(text), err);
    Json fields = spec ? breakpoint_parse(spec, err) : json_none();
    mem_free(spec);
    return fields;
}

/* --break. */
static void set_breaks(Debug *d) {
    const Words *breaks = &d->args->breaks;
    char *file = breaks->n ? main_file(d) : NULL;
    for (size_t i = 0; i < breaks->n; i++) {
        Error err = ERROR_INIT;
        Json fields = break_fields(file, breaks->items[i], &err);
        if (json_is_none(fields)) {
            terminal_say(stderr, "pawl debug: --break `%s`: %s\n", breaks->items[i], err.msg);
        } else {
            console_call(d->console, "breakpoint_set", fields, true);
        }
    }
    mem_free(file);
}

static void configure(Debug *d) {
    const DebugArgs *args = d->args;
    Json options = json_object();
    if (args->pause_all) {
        bool on = args->pause_all > 0;
        options = json_object_with(options, "pause_all_on_breakpoint", json_bool(on));
    }
    if (args->idle >= 0) {
        options = json_object_with(options, "idle_limit", json_double(args->idle));
    }
    if (args->auto_resume) {
        options = json_object_with(options, "auto_resume", json_bool(true));
    }
    if (json_object_len(options)) {
        console_call(d->console, "configure", options, false);
    } else {
        json_unref(options);
    }
}

/* ---- results of another run ---- */

/* --replay, from its beginning, for a run of flow; NULL without. False after saying why there are none. */
static bool read_recording(const Debug *d, Store *store, const Flow *flow, Recording **out,
                           int *code) {
    const ReplayArgs *replay = &d->args->replay;
    bool wanted = replay->from.thread != NULL;
    *out = wanted ? replay_recording(&d->args->common, replay, flow, store, code) : NULL;
    return *out || !wanted;
}

static void say_recording(const Debug *d) {
    if (d->recording) {
        replay_say(d->recording, d->args->replay.from.thread);
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
    Json list = json_is_none(answer) ? json_none() : json_object_get_c(answer, "breakpoints");
    for (size_t i = 0; json_kind(list) == JSON_ARRAY && i < json_array_len(list); i++) {
        out = json_array_push(out, bare_breakpoint(json_array_get(list, i)));
    }
    json_unref(answer);
    return out;
}

static void restore(Debug *d, Json breakpoints, Json watches) {
    Json list = json_is_none(watches) ? json_none() : json_object_get_c(watches, "watches");
    if (json_array_len(breakpoints)) {
        Json args = json_object_with(json_object(), "breakpoints", json_ref(breakpoints));
        console_call(d->console, "breakpoint_set", args, false);
    }
    for (size_t i = 0; json_kind(list) == JSON_ARRAY && i < json_array_len(list); i++) {
        Json text = json_object_get_c(json_array_get(list, i), "expression");
        Json args = json_object_with(json_object(), "expression", json_ref(text));
        console_call(d->console, "watch_add", args, false);
    }
}

/* The name that was asked for is taken by now. Who is attached to the old run is left. */
static bool start_again(Debug *d, Flow *flow, Recording *recording, Error *err) {
    Json breakpoints = kept_breakpoints(d),
         watches = target_call(&d->target, "watches", json_none(), NULL);
    debugging_end(&d->debugging);
    run_free(d->run);
    d->run = NULL;
    flow_unref(d->flow);
    d->flow = flow;
    recording_free(d->recording);
    d->recording = recording;
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

static bool restart(void *ctx, Error *err) {
    Debug *d = ctx;
    if (!d->flow || !strcmp(d->args->target, "-")) {
        return error_set(
            err, ERR_USAGE,
            "There is no file to start anew: `goto @1` goes back to its beginning, and "
            "`pawl debug FILE` starts another one.");
    }
    Flow *flow = cli_flow_load(d->args->target);
    if (!flow) {
        return error_set(err, ERR_USAGE,
                         "The workflow has errors now, so there is nothing to run.");
    }
    Recording *recording;
    Store *store = engine_reader(d->engine.engine, err);
    if (!store || !read_recording(d, store, flow, &recording, &(int){0})) {
        flow_unref(flow);
        return error_set(err, ERR_USAGE, "There are no results to take, so nothing begins.");
    }
    return start_again(d, flow, recording, err);
}

/* ---- leaving ---- */

static int code_of(const char *status) {
    static const struct {
        const char *status;
        int code;
    } codes[] = {
        {"completed", EXIT_OK}, {"failed", EXIT_FAILED_RUN}, {"cancelled", EXIT_FAILED_RUN}};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (!strcmp(status, codes[i].status)) {
            return codes[i].code;
        }
    }
    return EXIT_WAITING;
}

static void add_way_back(const Debug *d, Buf *out) {
    buf_adds(out, "pawl debug ");
    if (d->args->export) {
        buf_adds(out, "--open ");
        advice_word(out, d->args->export);
        return;
    }
    advice_word(out, d->thread);
    if (d->store_hint) {
        buf_adds(out, " --store ");
        advice_word(out, d->store_hint);
    }
}

static void say_way_back(Debug *d, const char *before) {
    Buf way = BUF_INIT;
    if (!store_is_durable(d->store) && !d->args->export) {
        console_notice(d->console,
                       "The run was kept in memory only, so it is gone with this process.");
        return;
    }
    add_way_back(d, &way);
    console_notice(d->console, "%s`%s` comes back to it.", before, way.data);
    buf_clear(&way);
}

static bool is_at_rest(const Run *run) {
    for (Frame *f = run_next_frame(run, NULL); f; f = run_next_frame(run, f)) {
        if (!frame_is_at_rest(f)) {
            return false;
        }
    }
    return true;
}

static void on_patience(uv_timer_t *timer) {
    run_stop(timer->data);
}

enum { PATIENCE_MS = 2000 };

/* Paused frames are on record as they are; what still runs is stopped, as Ctrl-C does it to
 * `pawl run`. */
static void settle(Debug *d) {
    uv_timer_t patience;
    if (run_settled(d->run)) {
        return;
    }
    if (!is_at_rest(d->run)) {
        run_stop(d->run);
    }
    uv_timer_init(&d->engine.loop, &patience);
    patience.data = d->run;
    uv_timer_start(&patience, on_patience, PATIENCE_MS, PATIENCE_MS);
    while (!run_settled(d->run) && !console_interrupts(d->console)) {
        uv_run(&d->engine.loop, UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)&patience, NULL);
    uv_run(&d->engine.loop, UV_RUN_NOWAIT); /* the timer is on our stack */
}

/* Whoever is attached is left: the run goes with this process, and its session with the run. */
static int leave_local(Debug *d) {
    Error err = ERROR_INIT;
    target_close(&d->target);
    debugging_end(&d->debugging);
    if (!d->run) {
        return EXIT_FAILED_RUN;
    }
    settle(d);
    if (run_store_error(d->run)) {
        err = *run_store_error(d->run);
        return cli_fail(&command_debug, &err);
    }
    int code = code_of(run_status(d->run));
    if (code == EXIT_WAITING) {
        say_way_back(d, "The run stays as it is. ");
    }
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
    if (code == EXIT_WAITING) {
        say_way_back(d, words[end]);
    }
    target_close(&d->target);
    return code;
}

/* ---- letting go: as `pawl run` from here on ---- */

static void let_run(Debug *d) {
    int stops = 0;
    d->progress = d->args->common.json ? NULL : progress_new(&d->engine.loop);
    while (!run_settled(d->run) && stops < 2) {
        uv_run(&d->engine.loop, UV_RUN_ONCE);
        debugging_turn(&d->debugging);
        int more = console_interrupts(d->console) + console_is_over(d->console);
        if (more && !stops) {
            run_stop(d->run);
        }
        stops += more;
    }
    progress_free(d->progress);
    d->progress = NULL;
}

static void say_open_interrupts(const Debug *d) {
    Json open = run_interrupts(d->run);
    size_t n = json_array_len(open);
    Buf text = BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        advice_interrupt(&text, json_array_get(open, i), n == 1, d->thread, d->store_hint);
    }
    terminal_say(stderr, "%s", text.data ? text.data : "");
    buf_clear(&text);
    json_unref(open);
}

static void say_resume(const Debug *d, const char *before) {
    Buf line = BUF_INIT;
    advice_resume(&line, d->thread, d->store_hint);
    terminal_say(stderr, "%s%s\n", before, line.data);
    buf_clear(&line);
}

/* The session is over, so nobody else says it. */
static void write_settled(const Debug *d) {
    Json event = output_set(json_object(), "event", json_string_c("settled"));
    event = output_set(event, "status", json_string_c(run_status(d->run)));
    event = output_set(event, "checkpoint", json_int(run_checkpoint(d->run)));
    event = output_set(event, "error", json_ref(run_error(d->run)));
    output_line(event);
    json_unref(event);
}

static void say_ending(const Debug *d) {
    const char *status = run_status(d->run);
    if (d->args->common.json) {
        write_settled(d);
    } else if (!strcmp(status, "completed")) {
        output_pretty(run_state(d->run));
    } else if (!strcmp(status, "failed")) {
        drive_say_failure(d->run, store_is_durable(d->store), d->store_hint);
    } else if (!strcmp(status, "interrupted")) {
        say_open_interrupts(d);
    } else if (!strcmp(status, "cancelled")) {
        fprintf(stderr, "%s was cancelled.\n", d->thread);
    } else if (!strcmp(status, "paused")) {
        pause_advice(stderr, d->thread, d->store_hint);
    } else {
        say_resume(d, "Stopped. Resume with: ");
    }
}

static int let_go(Debug *d) {
    Error err = ERROR_INIT;
    target_close(&d->target);
    let_run(d);
    if (run_store_error(d->run)) {
        err = *run_store_error(d->run);
        return cli_fail(&command_debug, &err);
    }
    say_ending(d);
    return code_of(run_status(d->run));
}

/* ---- the console ---- */

static int converse(Debug *d, ConsoleBegin begin) {
    configure(d);
    set_breaks(d);
    ConsoleEnd end = console_go(d->console, begin);
    if (d->target.remote) {
        return leave_remote(d, end);
    }
    bool goes_on = end == CONSOLE_EXPIRED && d->run && !is_at_rest(d->run);
    return end == CONSOLE_DETACHED || goes_on ? let_go(d) : leave_local(d);
}

static bool go_to(Debug *d, int64_t seq) {
    if (!seq) {
        return false;
    }
    Json args = json_object_with(json_object(), "checkpoint", json_int(seq));
    return console_call(d->console, "goto", args, false);
}

/* A run that was there goes on by itself when it is told not to pause. */
static ConsoleBegin begin_open(Debug *d, int64_t seq) {
    bool moved = go_to(d, seq);
    if (!d->args->no_pause || d->target.remote) {
        return moved ? CONSOLE_MOVED : CONSOLE_LOOKS;
    }
    Json args = json_object_with(json_object(), "frame", json_string_c("all"));
    return console_call(d->console, "continue", args, false) ? CONSOLE_WAITS : CONSOLE_LOOKS;
}

/* ---- opening ---- */

static bool open_engine(Debug *d, Error *err) {
    EngineOptions engine = {.store = d->store, .on_event = on_event, .ctx = d};
    if (!cli_engine_open(&d->engine, engine, err)) {
        return false;
    }
    ConsoleHost host = {.loop = &d->engine.loop,
                        .scripts = d->args->scripts.items,
                        .json = d->args->common.json,
                        .restart = restart,
                        .ctx = d};
    d->console = console_new(&host, err);
    if (!d->console) {
        cli_engine_close(&d->engine);
    }
    return d->console != NULL;
}

static void close_engine(Debug *d) {
    target_close(&d->target);
    debugging_end(&d->debugging);
    console_free(d->console);
    d->console = NULL;
    cli_engine_close(&d->engine);
}

static Json opening_info(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    Json info = json_object_with(json_object(), "reason", json_string_c("user_pause"));
    info = json_object_with(info, "breakpoints", json_array());
    return json_object_with(info, "at", json_int(ms));
}

static bool open_here(Debug *d, const RunRow *row, Error *err) {
    error_clear(err);
    d->run = engine_open_now(d->engine.engine, row->thread, opening_info(), err);
    return d->run != NULL;
}

static bool open_there(Debug *d, const RunRow *row, Error *err) {
    TargetHost host = {console_event, console_closed, d->console};
    error_clear(err);
    bool ok = target_to_run(&d->target, &d->engine.loop, d->store, row->run, &host, err);
    if (ok) {
        console_open(d->console, &d->target);
    }
    return ok;
}

/* There when a process has it, or still looks at it after its end, so that it has one session; otherwise
 * here. Who had it may go, or come, between two looks. */
static bool open_run(Debug *d, const RunRow *row, Error *err) {
    enum { TRIES = 10 };
    for (int i = 0; i < TRIES; i++) {
        if (open_there(d, row, err)) {
            return true;
        }
        if (store_is_leased(d->store, row->run)) {
            return false;
        }
        if (open_here(d, row, err)) {
            return attach_session(d, false, err);
        }
        if (err->code != ERR_BUSY) {
            return false;
        }
    }
    return false;
}

static int debug_row(Debug *d, const RunRow *row, int64_t seq) {
    Error err = ERROR_INIT;
    if (!open_engine(d, &err)) {
        return cli_fail(&command_debug, &err);
    }
    note_thread(d, row->thread);
    int code =
        open_run(d, row, &err) ? converse(d, begin_open(d, seq)) : cli_fail(&command_debug, &err);
    close_engine(d);
    return code;
}

/* It looks like a workflow's, and is not there. */
static bool names_a_file(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") || !strcmp(dot, ".json"));
}

static int debug_thread(Debug *d, const char *name) {
    Place place = {0};
    RunRow row = {0};
    int code = EXIT_USAGE;
    if (names_a_file(name)) {
        options_complain(&command_debug, "there is no file `%s`.", name);
        return EXIT_USAGE;
    }
    if (!refuse_start_options(d->args) || !place_parse(&command_debug, name, &place)) {
        return EXIT_USAGE;
    }
    d->store = cli_store_open(&d->args->common, STORE_EXISTING, &code);
    d->store_hint = cli_store_hint(d->args->common.store);
    if (d->store && cli_find(&d->args->common, d->store, place.thread, &row, &code)) {
        code = debug_row(d, &row, place.seq);
    }
    run_row_clear(&row);
    place_clear(&place);
    return code;
}

/* ---- opening: an export ---- */

static Json read_export(const char *path, Error *err) {
    Buf text = BUF_INIT;
    FILE *file = fopen(path, "rb");
    size_t n = 1;
    while (file && n) {
        n = fread(buf_reserve(&text, 65536), 1, 65536, file);
        buf_advance(&text, n);
    }
    bool failed = !file || ferror(file);
    if (failed) {
        error_set(err, ERR_IO, "%s cannot be read: %s.", path, strerror(errno));
    }
    if (file) {
        fclose(file);
    }
    Json document = failed ? json_none() : json_parse(text.data, text.len, NULL, err);
    if (!failed && json_is_none(document)) {
        error_wrap(err, "%s is no export", path);
    }
    buf_clear(&text);
    return document;
}

static int debug_export(Debug *d) {
    Error err = ERROR_INIT;
    RunRow row = {0};
    if (d->args->target || d->args->thread || d->args->common.store) {
        options_complain(&command_debug, "--open takes the place of a run and of its store.");
        return EXIT_USAGE;
    }
    if (!refuse_start_options(d->args)) {
        return EXIT_USAGE;
    }
    Json document = read_export(d->args->export, &err);
    bool ok = !json_is_none(document);
    d->store = ok ? store_open("memory:", STORE_CREATE, &err) : NULL;
    ok = d->store && export_import(d->store, document, &row, &err);
    json_unref(document);
    int code = EXIT_USAGE;
    if (ok) {
        code = debug_row(d, &row, 0);
    } else {
        cli_fail(&command_debug, &err);
    }
    run_row_clear(&row);
    return code;
}

/* ---- opening: a workflow ---- */

static int debug_new_run(Debug *d) {
    Error err = ERROR_INIT;
    if (!open_engine(d, &err)) {
        return cli_fail(&command_debug, &err);
    }
    bool started = start_run(d, d->args->thread, &err);
    /* a program that lets it run at once says itself what it waits for */
    bool looks = d->args->no_pause && d->args->common.json && !d->args->scripts.n;
    int code = started ? converse(d, looks ? CONSOLE_LOOKS : CONSOLE_WAITS)
                       : cli_fail(&command_debug, &err);
    if (started) {
        say_recording(d);
    }
    close_engine(d);
    return code;
}

static int debug_flow(Debug *d) {
    int code = EXIT_USAGE;
    Common *common = &d->args->common;
    char *configured = common->store ? NULL : cli_store_configured(d->flow->main);
    common->store = configured ? configured : common->store;
    d->store_hint = cli_store_hint(common->store);
    d->store = cli_store_open(common, STORE_CREATE, &code);
    if (d->store && read_recording(d, d->store, d->flow, &d->recording, &code)) {
        code = debug_new_run(d);
    }
    recording_free(d->recording);
    d->recording = NULL;
    store_close(d->store);
    d->store = NULL;
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
        if (!good) {
            return options_complain(&command_debug, "--break `%s`: %s", text, err.msg);
        }
    }
    return true;
}

static bool has_thread_name(const DebugArgs *args) {
    return !args->thread || place_thread_name(&command_debug, args->thread);
}

static int debug_file(Debug *d) {
    if (!has_thread_name(d->args)) {
        return EXIT_USAGE;
    }
    d->flow = cli_flow_load(d->args->target);
    if (d->flow && d->flow->main->checkpoint) {
        options_complain(&command_debug,
                         "the workflow's config.checkpoint says to go on with %s; debug that one.",
                         d->flow->main->checkpoint);
        return EXIT_USAGE;
    }
    bool ready = d->flow && has_good_breaks(d->args, d->flow) && read_input(d->args);
    return ready ? debug_flow(d) : EXIT_USAGE;
}

/* ---- which of them ---- */

static bool is_stdin(const char *path) {
    return path && !strcmp(path, "-");
}

static bool is_file(const char *path) {
    struct stat found;
    return is_stdin(path) || (stat(path, &found) == 0 && !S_ISDIR(found.st_mode));
}

/* A name that leads to a file and to a run. */
static bool is_thread_too(const DebugArgs *args) {
    RunRow row = {0};
    if (strchr(args->target, '/')) {
        return false;
    }
    Store *store = store_open(cli_store_url(args->common.store), STORE_READ, NULL);
    bool found = store && store_find(store, args->target, &row, NULL);
    run_row_clear(&row);
    store_close(store);
    return found;
}

/* Commands come from there unless scripts take its place. */
static bool reads_stdin_twice(const DebugArgs *args) {
    bool taken = is_stdin(args->target) || is_stdin(args->given), free = args->scripts.n > 0;
    for (size_t i = 0; i < args->scripts.n; i++) {
        free = free && !is_stdin(args->scripts.items[i]);
    }
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
    if (!is_file(args->target)) {
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

static int debug(DebugArgs *args) {
    Debug d = {.args = args};
    int code = EXIT_USAGE;
    if (!replay_is_sensible(&command_debug, &args->replay)) {
        return code;
    }
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
    store_close(d.store);
    flow_unref(d.flow);
    mem_free(d.thread);
    return code;
}

static int cmd_debug(int argc, char **argv) {
    DebugArgs args = {.common = {.command = &command_debug}, .idle = -1};
    OptionsResult parsed = options_parse(&command_debug, argc, argv, on_option, &args);
    int code = parsed == OPTIONS_RUN     ? debug(&args)
               : parsed == OPTIONS_SHOWN ? EXIT_OK
                                         : EXIT_USAGE;
    json_unref(args.input);
    json_unref(args.set);
    mem_free(args.breaks.items);
    mem_free(args.scripts.items);
    replay_args_clear(&args.replay);
    return code;
}

/* ---- the row ---- */

static const Option debug_options[] = {
    {"input", 'i', "JSON|@FILE|-", "what the state starts with: an object", COMPLETE_NOTHING,
     DEBUG_INPUT},
    {"thread", 't', "ID",
     "the name of the new run (run-N unless told); without FILE, the run to open", COMPLETE_NOTHING,
     DEBUG_THREAD},
    {"set", 0, "PATH=JSON", "set a value in the state first; may be given many times",
     COMPLETE_NOTHING, DEBUG_SET},
    {"mode", 0, "autonomous|interactive",
     "whether what could be asked of a model is asked of you instead (autonomous unless told)",
     COMPLETE_WORDS, DEBUG_MODE},
    {"break", 'b', "SPEC", "stop there: NODE, FILE:LINE, `NODE if EXPR`; may be given many times",
     COMPLETE_NOTHING, DEBUG_BREAK},
    {"commands", 'x', "FILE",
     "take the commands from a file, then quit; - is standard input; may be given many times",
     COMPLETE_FILE, DEBUG_SCRIPT},
    {"no-pause", 0, NULL, "run at once, until a breakpoint stops it", COMPLETE_NOTHING,
     DEBUG_NO_PAUSE},
    {"pause-all", 0, "on|off", "whether all frames stop when one does (on unless told)",
     COMPLETE_WORDS, DEBUG_PAUSE_ALL},
    {"idle", 0, "TIME",
     "how long nobody may do anything before the session ends, as 90 or 30m (1h; 0: for ever)",
     COMPLETE_NOTHING, DEBUG_IDLE},
    {"auto-resume", 0, NULL,
     "let the run go on when that time is over, instead of leaving it paused", COMPLETE_NOTHING,
     DEBUG_AUTO_RESUME},
    {"open", 0, "FILE", "look at a run that `export` wrote", COMPLETE_FILE, DEBUG_OPEN},
    REPLAY_ROWS,
    STORE_ROW,
    JSON_ROW("answers and events as JSON, one object a line, for programs"),
    {0},
};

static const Example debug_examples[] = {
    {"pawl debug review.yaml --break deploy", "a new run, stopped at its start; then `continue`"},
    {"pawl debug review-7", "a run that waits, failed, or runs in another process"},
    {"pawl debug review.yaml -x steps.txt", "commands from a file"},
    {"pawl debug review.yaml --replay review-7 --break report",
     "a new run that takes the results of another, up to where you step"},
    {0},
};

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
        "workflow is wrong; 3, it was left paused or waiting.",
    .options = debug_options,
    .examples = debug_examples,
    .completes = COMPLETE_FILE,
    .run = cmd_debug,
};
