#include "drive.h"

#include "advice.h"
#include "engines.h"
#include "json_print.h"
#include "mem.h"
#include "options.h"
#include "output.h"
#include "pauses.h"
#include "progress.h"
#include "replay.h"
#include "settings.h"
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { NSIGNALS = sizeof stop_signals / sizeof stop_signals[0], EXIT_SIGNAL = 128 };

/* How a run can settle: the word of the contract and the exit code. */
static const struct Outcome {
    const char *status, *word;
    int code;
} outcomes[] = {
    {"completed", "completed", EXIT_OK},         {"failed", "failed", EXIT_FAILED_RUN},
    {"cancelled", "cancelled", EXIT_FAILED_RUN}, {"interrupted", "interrupted", EXIT_WAITING},
    {"stopped", "interrupted", EXIT_WAITING},    {"paused", "paused", EXIT_WAITING},
    {NULL, "failed", EXIT_FAILED_RUN},
};

typedef struct Drive {
    const DrivePlan *plan;
    const DriveArgs *args;
    CliEngine engine;
    Run *run;
    Stream stream;
    Progress *progress; /* NULL: none */
    Debugging debugging;
    uv_signal_t signals[NSIGNALS];
    int stops; /* signals that came */
    bool stopping;
} Drive;

/* ---- the command line ---- */

Handled drive_option(DriveArgs *args, const Option *option, char **values) {
    const Command *command = args->common.command;
    if (common_option(&args->common, option, values)) {
        return HANDLED_WELL;
    }
    if (option && option->id == OPTION_QUIET) {
        args->quiet = true;
        return HANDLED_WELL;
    }
    if (option && option->id == OPTION_SET) {
        return settings_add(command, values[0], &args->set) ? HANDLED_WELL : HANDLED_BADLY;
    }
    if (option && option->id == OPTION_STREAM) {
        int word = options_word(command, option, values[0]);
        args->stream = word < 0 ? STREAM_NONE : (StreamMode)(STREAM_UPDATES + word);
        return word < 0 ? HANDLED_BADLY : HANDLED_WELL;
    }
    return HANDLED_NOT;
}

void drive_args_clear(DriveArgs *args) {
    json_clear(&args->set);
    json_clear(&args->breakpoints);
}

/* ---- on the way ---- */

static bool is_for_people(const DriveArgs *args) {
    return !args->common.json && args->stream == STREAM_NONE;
}

/* What a session tells as well, and better. */
static bool is_of_debugger(EventType type) {
    return type == EVENT_PAUSED || type == EVENT_RESUMED || type == EVENT_DEBUG ||
           type == EVENT_STOPPED;
}

static void on_event(void *ctx, const Event *event) {
    Drive *d = ctx;
    if (is_of_debugger(event->type) && d->debugging.session) {
        return;
    }
    stream_event(&d->stream, event);
    if (d->progress) {
        progress_event(d->progress, event);
    }
}

/* ---- what a debugger does on the way ---- */

static void say_pause(const Drive *d, Json event) {
    (void)d;
    pause_say(stderr, event);
}

static void say_log_point(const Drive *d, Json event) {
    if (!d->args->quiet) {
        output_say(json_object_get_c(event, "node"));
        fputs(" | ", stderr);
        output_say(json_object_get_c(event, "message"));
        fputc('\n', stderr);
    }
}

static const struct Told {
    const char *event;
    void (*say)(const Drive *d, Json event);
} told[] = {{"paused", say_pause}, {"log", say_log_point}, {NULL, NULL}};

static void on_debug_event(void *ctx, Json event) {
    Drive *d = ctx;
    const struct Told *row = told;
    if (!json_is_none(json_object_get_c(event, "reattached"))) {
        return; /* it was said when it happened */
    }
    stream_debug(&d->stream, event);
    while (row->event && !json_string_is(json_object_get_c(event, "event"), row->event)) {
        row++;
    }
    if (!row->event || !is_for_people(d->args)) {
        return;
    }
    if (d->progress) {
        progress_hide(d->progress);
    }
    row->say(d, event);
}

/* ---- stopping ---- */

static void advise_resume(const Run *run, const char *store_hint, const char *before) {
    Buf line = BUF_INIT;
    advice_resume(&line, run_thread(run), store_hint);
    terminal_say(stderr, "%s%s\n", before, line.data);
    buf_clear(&line);
}

static void say_resume(const Drive *d, const char *before) {
    advise_resume(d->run, d->plan->store_hint, before);
}

/* Of a run that did not get as far as its first checkpoint there is nothing to resume. */
static void say_start(const Drive *d) {
    Buf line = BUF_INIT;
    advice_start(&line, d->plan->flow->path, run_thread(d->run), d->plan->store_hint);
    terminal_say(stderr, "Nothing of it was kept. Start again with: %s\n", line.data);
    buf_clear(&line);
}

static void leave_at_once(Drive *d, int signum) {
    if (d->progress) {
        progress_hide(d->progress);
    }
    say_resume(d, "Left at once. Resume with: ");
    fflush(stderr);
    _exit(EXIT_SIGNAL + signum);
}

static void stop(Drive *d) {
    if (!d->stopping) {
        d->stopping = true;
        run_stop(d->run);
    }
}

static void on_signal(uv_signal_t *handle, int signum) {
    Drive *d = handle->data;
    if (!d->run) {
        return;
    }
    if (d->stops++) {
        leave_at_once(d, signum);
    }
    stop(d);
}

static void watch_signals(Drive *d) {
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is no reason to die in the middle */
    for (int i = 0; i < NSIGNALS; i++) {
        uv_signal_init(&d->engine.loop, &d->signals[i]);
        d->signals[i].data = d;
        struct sigaction now;
        bool ignored = stop_signals[i] == SIGHUP && sigaction(SIGHUP, NULL, &now) == 0 &&
                       now.sa_handler == SIG_IGN; /* nohup */
        if (!ignored) uv_signal_start(&d->signals[i], on_signal, stop_signals[i]);
    }
}

static void unwatch_signals(Drive *d) {
    for (int i = 0; i < NSIGNALS; i++) {
        uv_close((uv_handle_t *)&d->signals[i], NULL);
    }
}

static void run_until_settled(Drive *d) {
    while (!run_settled(d->run)) {
        uv_run(&d->engine.loop, UV_RUN_ONCE);
        debugging_turn(&d->debugging);
        if (d->stream.broken) {
            stop(d);
        }
    }
}

/* ---- at the end ---- */

static const struct Outcome *outcome_of(const Run *run) {
    const struct Outcome *o = outcomes;
    while (o->status && strcmp(o->status, run_status(run)) != 0) {
        o++;
    }
    return run_store_error(run) ? &outcomes[1] : o;
}

/* Only what the contract names; `reason` is for our own words. */
static Json public_interrupts(const Run *run) {
    Json all = run_interrupts(run), out = json_array();
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json each = json_ref(json_array_get(all, i));
        out = json_array_push(out, json_object_remove(each, json_string_c("reason")));
    }
    json_unref(all);
    return out;
}

static void write_result(const Drive *d, const char *status) {
    const Run *run = d->run;
    Json result = output_set(json_object(), "run", json_int(run_number(run)));
    result = output_set(result, "thread", json_string_c(run_thread(run)));
    result = output_set(result, "status", json_string_c(status));
    result = output_set(result, "checkpoint", json_int(run_checkpoint(run)));
    result = output_set(result, "state", stream_state(run));
    result = output_set(result, "interrupts", public_interrupts(run));
    result = output_set(result, "error", stream_error(run));
    if (!strcmp(status, "paused")) {
        result = output_set(result, "paused", debugging_pauses(run));
    }
    output_line(result);
    json_unref(result);
}

static void add_string(Buf *out, Json value, const char *before, const char *after) {
    if (json_kind(value) == JSON_STRING) {
        buf_adds(out, before);
        buf_add(out, json_string_data(&value), json_string_len(value));
        buf_adds(out, after);
    }
}

static void add_place(Buf *out, Json error) {
    Json line = json_object_get_c(error, "line"), col = json_object_get_c(error, "column");
    add_string(out, json_object_get_c(error, "file"), "", ":");
    if (out->len && json_tag(line) == JSON_TAG_INT) {
        buf_printf(out, "%lld:", (long long)line.i);
    }
    if (out->len && json_tag(col) == JSON_TAG_INT) {
        buf_printf(out, "%lld:", (long long)col.i);
    }
    buf_adds(out, out->len ? " " : "");
}

void drive_say_failure(const Run *run, bool durable, const char *store_hint) {
    Json error = run_error(run);
    Buf line = BUF_INIT;
    add_place(&line, error);
    buf_adds(&line, "error: ");
    add_string(&line, json_object_get_c(error, "node"), "node ", ": ");
    add_string(&line, json_object_get_c(error, "message"), "", "");
    terminal_say(stderr, "%s\n", line.data);
    buf_clear(&line);
    if (run_is_over(run)) {
        fprintf(stderr,
                "Its cleanup tasks have run. `pawl history %s` shows where to go back to.\n",
                run_thread(run));
    } else if (durable) {
        advise_resume(run, store_hint, "Try again from there with: ");
        if (run_was_answered(run)) {
            fprintf(stderr, "It has the answer that it got; --value JSON (or --response-file FILE) "
                            "gives it another.\n");
        }
    }
}

static void say_failure(const Drive *d) {
    drive_say_failure(d->run, store_is_durable(d->plan->store), d->plan->store_hint);
}

static void say_interrupts(const Drive *d) {
    Json open = run_interrupts(d->run);
    size_t n = json_array_len(open);
    const char *thread = store_is_durable(d->plan->store) ? run_thread(d->run) : NULL;
    Buf text = BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        advice_interrupt(&text, json_array_get(open, i), n == 1, thread, d->plan->store_hint);
    }
    terminal_put(stderr, text.data ? text.data : "", text.len);
    buf_clear(&text);
    json_unref(open);
}

/* Where it paused was said when it did. */
static void say_paused(const Drive *d) {
    if (store_is_durable(d->plan->store)) {
        pause_advice(stderr, run_thread(d->run), d->plan->store_hint);
    }
}

static void say_cancelled(const Drive *d) {
    fprintf(stderr, "%s was cancelled.\n", run_thread(d->run));
}

static void show_state(const Drive *d) {
    output_pretty(run_state(d->run));
}

static void say_stopped(const Drive *d) {
    if (store_is_durable(d->plan->store)) {
        say_resume(d, "Stopped. Resume with: ");
    } else {
        fputs("Stopped.\n", stderr);
    }
}

static const struct Ending {
    const char *status;
    void (*say)(const Drive *d);
} endings[] = {
    {"completed", show_state},       {"failed", say_failure}, {"cancelled", say_cancelled},
    {"interrupted", say_interrupts}, {"paused", say_paused},  {NULL, NULL},
};

static void say_ending(const Drive *d) {
    for (const struct Ending *e = endings; e->status; e++) {
        if (!strcmp(e->status, run_status(d->run))) {
            e->say(d);
        }
    }
}

/* A run that waits in memory waits for nobody. */
static void say_lost(const Drive *d) {
    bool waits = outcome_of(d->run)->code == EXIT_WAITING;
    if (waits && !store_is_durable(d->plan->store)) {
        fprintf(stderr,
                "pawl %s: the run was kept in memory, so no other process can resume it; keep it "
                "with --store sqlite:PATH or --store file:DIR.\n",
                d->args->common.command->name);
    }
}

/* A reader that went away has seen enough: no words about that, here or in main(). */
static void forget_closed_output(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return;
    }
    int nowhere = errno == EPIPE ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
        fflush(stdout);
        clearerr(stdout);
    }
}

static void say_recording(const Drive *d) {
    if (d->plan->recording && !d->args->quiet) {
        replay_say(d->plan->recording, d->plan->recorded);
    }
}

static int settle(Drive *d) {
    const struct Outcome *outcome = outcome_of(d->run);
    const Error *store_error = run_store_error(d->run);
    stream_end(&d->stream, d->run, outcome->word);
    if (d->args->common.json) {
        write_result(d, outcome->word);
    }
    if (store_error) {
        cli_fail(d->args->common.command, store_error);
        if (run_checkpoint(d->run) || !d->plan->flow) {
            say_resume(d, "Resume with: ");
        } else {
            say_start(d);
        }
    } else if (is_for_people(d->args)) {
        say_ending(d);
    }
    say_recording(d);
    if (!store_error && !strcmp(run_status(d->run), "stopped")) {
        say_stopped(d);
    }
    say_lost(d);
    forget_closed_output();
    return outcome->code;
}

/* ---- the whole ---- */

static bool begin(Drive *d, Error *err) {
    const DrivePlan *plan = d->plan;
    d->run = plan->resume ? engine_resume_now(d->engine.engine, plan->resume, err)
                          : engine_start_now(d->engine.engine, plan->flow, plan->start, err);
    return d->run != NULL;
}

static void say_doubts(const Drive *d) {
    Json doubts = debugging_doubts(&d->debugging);
    for (size_t i = 0; i < json_array_len(doubts); i++) {
        fprintf(stderr, "pawl %s: --break: ", d->args->common.command->name);
        output_say(json_array_get(doubts, i));
        fputc('\n', stderr);
    }
    json_unref(doubts);
}

static bool begin_debugging(Drive *d, Error *err) {
    const DriveArgs *args = d->args;
    DebuggingPlan plan = {.debug = args->debug,
                          .pause_on_start = args->pause_on_start,
                          .breakpoints = args->breakpoints,
                          .recording = d->plan->recording,
                          .event = on_debug_event,
                          .ctx = d};
    if (!debugging_begin(&d->debugging, &plan, d->run, &d->engine.loop, err)) {
        return false;
    }
    say_doubts(d);
    return true;
}

static bool wants_progress(const DriveArgs *args) {
    return !args->quiet && is_for_people(args);
}

static EngineOptions engine_options(Drive *d) {
    const DriveArgs *args = d->args;
    bool listens = args->stream != STREAM_NONE || wants_progress(args);
    return (EngineOptions){.store = d->plan->store,
                           .on_event = listens ? on_event : NULL,
                           .ctx = d,
                           .want_updates = args->stream != STREAM_NONE};
}

static int drive_engine(Drive *d) {
    Error err = ERROR_INIT;
    int code;
    stream_init(&d->stream, d->args->stream);
    d->progress = wants_progress(d->args) ? progress_new(&d->engine.loop) : NULL;
    watch_signals(d);
    bool begun = begin(d, &err) && begin_debugging(d, &err);
    if (begun) {
        run_until_settled(d);
    }
    progress_free(d->progress);
    d->progress = NULL;
    code = begun ? settle(d) : cli_fail(d->args->common.command, &err);
    debugging_end(&d->debugging);
    unwatch_signals(d);
    stream_clear(&d->stream);
    return code;
}

int drive(const DrivePlan *plan) {
    Drive d = {.plan = plan, .args = plan->args};
    Error err = ERROR_INIT;
    if (!cli_engine_open(&d.engine, engine_options(&d), &err)) {
        return cli_fail(plan->args->common.command, &err);
    }
    int code = drive_engine(&d);
    cli_engine_close(&d.engine);
    return code;
}
