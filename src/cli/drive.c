#include "drive.h"

#include "advice.h"
#include "fields.h"
#include "json_build.h"
#include "mem.h"
#include "output.h"
#include "pauses.h"
#include "progress.h"
#include "report.h"
#include "terminal.h"
#include "way_out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum {
    NSIGNALS = sizeof stop_signals / sizeof stop_signals[0],
    EXIT_SIGNAL = 128,
    MISSING_SAID = 10,
    ASKED_MS =
        300, /* a run that only waits has settled by then, and says itself what it waits for */
};

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
    Asking *asking;
    char *thread; /* NULL: the run has not begun */
    Stream stream;
    Progress *progress; /* NULL: none */
    Report *report;     /* the same */
    ClientEvents *events;
    Json settled;    /* the last event; JSON_NONE: it goes on */
    Error failed;    /* why nothing came of it */
    bool over;       /* nothing more will be told */
    Json asked;      /* interrupts that came up and were not said yet */
    uv_timer_t asks; /* says them */
    uv_signal_t signals[NSIGNALS];
    int stops; /* signals that came */
    bool stopping;
} Drive;

/* ---- on the way ---- */

static bool is_for_people(const DriveArgs *args) {
    return !args->common.json && args->stream == STREAM_NONE;
}

static void say_debugger(const Drive *d, Json event) {
    Json name = field_get(event, "event");
    bool log_point = json_string_is(name, "log") && !json_is_none(field_get(event, "breakpoint"));
    if (!is_for_people(d->args) || (!log_point && !json_string_is(name, "paused"))) return;
    if (d->progress) progress_hide(d->progress);
    if (!log_point) {
        pause_say(stderr, event);
    } else if (!d->args->quiet) {
        terminal_line(stderr, "%s | %s", field_string(event, "node"),
                      field_string(event, "message"));
    }
}

/* ---- questions, while other branches go on ---- */

static void say_asked(uv_timer_t *timer) {
    Drive *d = timer->data;
    bool durable = cli_store_is_durable(&d->args->common);
    Buf text = BUF_INIT;
    for (size_t i = 0; i < json_array_len(d->asked); i++) {
        advice_interrupt(&text, json_array_get(d->asked, i), false, durable ? d->thread : NULL,
                         d->plan->store_hint);
    }
    if (d->progress) progress_hide(d->progress);
    terminal_put(stderr, text.data ? text.data : "", text.len);
    json_put(&d->asked, json_array());
    buf_clear(&text);
}

/* What a frame was asked is over when the frame goes on. */
static void note_asked(Drive *d, Json event) {
    Json name = field_get(event, "event"), frame = field_get(event, "frame"), left = json_array();
    bool asks = json_string_is(name, "interrupt");
    bool goes_on =
        json_string_is(name, "step") && !json_string_is(field_get(event, "status"), "interrupted");
    if (!d->progress || (!asks && !(goes_on && json_array_len(d->asked)))) {
        json_unref(left);
        return;
    }
    for (size_t i = 0; i < json_array_len(d->asked); i++) {
        Json one = json_array_get(d->asked, i);
        if (!json_equal(field_get(one, "frame"), frame)) {
            left = json_array_push(left, json_ref(one));
        }
    }
    json_put(&d->asked, asks ? json_array_push(left, json_ref(event)) : left);
    if (asks) uv_timer_start(&d->asks, say_asked, ASKED_MS, 0);
}

static void stop(Drive *d);

static void on_event(void *ctx, Json event) {
    Drive *d = ctx;
    stream_event(&d->stream, event);
    if (d->progress && json_is_none(field_get(event, "breakpoint"))) {
        progress_event(d->progress, event);
    }
    if (d->report) report_event(d->report, event);
    say_debugger(d, event);
    note_asked(d, event);
    if (json_string_is(field_get(event, "event"), "settled")) {
        json_unref(d->settled);
        d->settled = json_ref(event);
    }
    json_unref(event);
    if (d->stream.broken) stop(d);
}

static void on_over(void *ctx, const Error *why) {
    Drive *d = ctx;
    d->over = true;
    if (why && json_is_none(d->settled)) d->failed = *why;
}

/* ---- the report ---- */

/* False after saying why it could not be written. */
static bool write_report(Drive *d, const char *status) {
    Error err = ERROR_INIT;
    ReportTarget to;
    Json failed = json_none(), error = field_get(d->settled, "error");
    if (json_is_none(d->settled) && d->failed.code != ERR_NONE) {
        error = failed = OBJECT(KEY("message", d->failed.msg));
    }
    ReportEnding ending = {status, d->thread ? d->thread : "", error};
    bool written =
        report_target(d->args->report, &to, &err) && report_write(d->report, &to, &ending, &err);
    if (!written) terminal_say(stderr, "pawl %s: %s\n", d->args->common.command->name, err.msg);
    json_unref(failed);
    return written;
}

/* ---- stopping ---- */

static void stop(Drive *d) {
    if (d->stopping || !d->thread) return;
    d->stopping = true;
    if (client_is_elsewhere(d->asking->client, d->thread)) {
        d->over = true; /* the run is not ours to stop */
    } else {
        asking_stop_run(d->asking, d->thread);
    }
}

/* The run goes on without us. */
static void say_left(const Drive *d) {
    Buf line = BUF_INIT;
    if (!cli_server(&d->args->common)) {
        terminal_say(stderr, "Left. Another process goes on with %s.\n", d->thread);
        return;
    }
    static const char *const ways[][3] = {{"Follow what it prints with: ", "pawl logs ", " -f"},
                                          {"See where it is with: ", "pawl status ", ""},
                                          {"Cancel it with: ", "pawl cancel ", ""}};
    terminal_say(stderr, "Left. The server goes on with %s.\n", d->thread);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        buf_adds(&line, ways[i][0]);
        buf_adds(&line, ways[i][1]);
        shell_word(&line, d->thread);
        buf_adds(&line, ways[i][2]);
        place_words(&line, d->plan->store_hint);
        buf_addc(&line, '\n');
    }
    terminal_put(stderr, line.data, line.len);
    buf_clear(&line);
}

static void on_signal(uv_signal_t *handle, int signum) {
    Drive *d = handle->data;
    if (!d->thread && cli_server(&d->args->common)) {
        fprintf(stderr, "Left before the server had answered: `pawl runs` says whether the run has "
                        "begun.\n");
        fflush(stderr);
        _exit(EXIT_SIGNAL + signum);
    }
    if (d->thread && d->stops++) {
        if (d->progress) progress_hide(d->progress);
        if (d->args->report) write_report(d, "interrupted");
        say_resume(d->thread, d->plan->store_hint, "Left at once. Resume with: ");
        fflush(stderr);
        _exit(EXIT_SIGNAL + signum);
    }
    stop(d);
}

static void watch_signals(Drive *d) {
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is no reason to die in the middle */
    for (int i = 0; i < NSIGNALS; i++) {
        struct sigaction now;
        bool ignored = stop_signals[i] == SIGHUP && sigaction(SIGHUP, NULL, &now) == 0 &&
                       now.sa_handler == SIG_IGN; /* nohup */
        uv_signal_init(&d->asking->loop, &d->signals[i]);
        d->signals[i].data = d;
        if (!ignored) uv_signal_start(&d->signals[i], on_signal, stop_signals[i]);
    }
}

/* ---- at the end ---- */

static const struct Outcome *outcome_of(Json settled) {
    const struct Outcome *o = outcomes;
    while (o->status && !json_string_is(field_get(settled, "status"), o->status)) o++;
    return field_has_text(settled, "store_error") ? &outcomes[1] : o;
}

static void add_place(Buf *out, Json error) {
    int64_t line = field_number(error, "line", 0), column = field_number(error, "column", 0);
    if (json_kind(field_get(error, "file")) == JSON_STRING) {
        buf_printf(out, "%s:", field_string(error, "file"));
    }
    if (out->len && line) buf_printf(out, "%lld:", (long long)line);
    if (out->len && column) buf_printf(out, "%lld:", (long long)column);
    buf_adds(out, out->len ? " " : "");
}

/* What can be done about a secret that is not there. */
static void say_secret(const Ending *e, Json error) {
    static const char *const facts[] = {"secret",  "unfit", "key_file",    "exposed",
                                        "missing", "other", "secrets_file"};
    Error err = ERROR_INIT;
    Buf words = BUF_INIT;
    if (!json_string_is(field_get(error, "kind"), "secret")) return;
    error_set(&err, ERR_SECRET, "%s", "");
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (field_has_text(error, facts[i]))
            error_fact(&err, facts[i], field_string(error, facts[i]));
    }
    say_error(&words, &err, &(Speaker){"run", e->store_hint, cli_server(e->common) != NULL});
    if (words.len > 1) terminal_say(stderr, "%s\n", words.data + 1);
    buf_clear(&words);
}

static void say_failure(const Ending *e) {
    Json error = field_get(e->settled, "error");
    const char *thread = field_string(e->settled, "thread"), *node = field_string(error, "node");
    Buf line = BUF_INIT;
    add_place(&line, error);
    terminal_say(stderr, "%serror: %s%s%s%s\n", line.data ? line.data : "", *node ? "node " : "",
                 node, *node ? ": " : "", field_string(error, "message"));
    Json used = field_get(error, "used_at");
    for (size_t i = 0; i < json_array_len(used); i++) {
        Json user = json_array_get(used, i);
        buf_reset(&line);
        add_place(&line, user);
        terminal_say(stderr, "%sin the kind %s, used by node %s\n", line.data ? line.data : "",
                     field_string(user, "kind"), field_string(user, "node"));
    }
    buf_clear(&line);
    say_secret(e, error);
    if (json_truthy(field_get(e->settled, "over"))) {
        say_history(stderr, thread, e->store_hint);
    } else if (e->durable) {
        say_resume(thread, e->store_hint, "Try again from there with: ");
        if (json_truthy(field_get(e->settled, "answered"))) {
            fprintf(stderr, "It has the answer that it got; --value JSON (or --response-file FILE) "
                            "gives it another.\n");
        }
    }
}

static void say_interrupts(const Ending *e) {
    Json open = field_get(e->settled, "interrupts");
    size_t n = json_array_len(open);
    Buf text = BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        advice_interrupt(&text, json_array_get(open, i), n == 1,
                         e->durable ? field_string(e->settled, "thread") : NULL, e->store_hint);
    }
    terminal_put(stderr, text.data ? text.data : "", text.len);
    buf_clear(&text);
}

void ending_say(const Ending *e) {
    Json status = field_get(e->settled, "status");
    const char *thread = field_string(e->settled, "thread");
    if (json_string_is(status, "completed")) {
        output_pretty(field_get(e->settled, "state"));
    } else if (json_string_is(status, "failed")) {
        say_failure(e);
    } else if (json_string_is(status, "cancelled")) {
        fprintf(stderr, "%s was cancelled.\n", thread);
    } else if (json_string_is(status, "interrupted")) {
        say_interrupts(e);
    } else if (json_string_is(status, "paused") && e->durable) { /* where was said when it did */
        pause_advice(stderr, thread, e->store_hint, false);
    }
}

/* Of a run that did not get as far as its first checkpoint there is nothing to resume. */
static void say_store_error(const Ending *e) {
    const char *thread = field_string(e->settled, "thread");
    Buf line = BUF_INIT;
    terminal_say(stderr, "pawl %s: %s\n", e->common->command->name,
                 field_string(e->settled, "store_error"));
    if (field_number(e->settled, "checkpoint", 0) || !e->file) {
        say_resume(thread, e->store_hint, "Resume with: ");
    } else {
        advice_start(&line, e->file, thread, e->store_hint);
        terminal_say(stderr, "Nothing of it was kept. Start again with: %s\n", line.data);
    }
    buf_clear(&line);
}

void drive_say_recorded(Json settled, const char *thread) {
    Json report = field_get(settled, "recorded"), missing = field_get(report, "missing");
    int64_t taken = field_number(report, "taken", 0), live = field_number(report, "live", 0);
    size_t n = json_array_len(missing);
    if (json_is_none(report)) return;
    fprintf(stderr, "%lld %s taken from %s, %lld done anew.\n", (long long)taken,
            taken == 1 ? "result was" : "results were", thread, (long long)live);
    for (size_t i = 0; i < n && i < MISSING_SAID; i++) {
        Json one = json_array_get(missing, i);
        terminal_line(stderr, "  not recorded, so it was done: %s in %s", field_string(one, "node"),
                      field_string(one, "frame"));
    }
    if (n > MISSING_SAID) fprintf(stderr, "  and %zu more\n", n - MISSING_SAID);
}

/* The result for a program: what a run comes to. */
static void write_result(Json settled, const struct Outcome *outcome) {
    Json lost = field_get(settled, "store_error"), error = json_ref(field_get(settled, "error"));
    if (json_kind(lost) == JSON_STRING) { /* nobody knows which part of the state was kept */
        json_unref(error);
        error = OBJECT(KEY("kind", "store"), KEY("message", json_ref(lost)));
    }
    Json result = OBJECT(
        KEY("run", json_ref(field_get(settled, "run"))),
        KEY("thread", json_ref(field_get(settled, "thread"))), KEY("status", outcome->word),
        KEY("checkpoint", json_ref(field_get(settled, "checkpoint"))),
        KEY("state", json_ref(field_get(settled, "state"))),
        KEY("interrupts", json_ref(field_get(settled, "interrupts"))), KEY("error", error),
        KEY("paused", !strcmp(outcome->word, "paused") ? json_ref(field_get(settled, "paused"))
                                                       : json_none()));
    output_line(result);
    json_unref(result);
}

/* A reader that went away has seen enough: no words about that, here or in main(). */
static void forget_closed_output(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return;
    int nowhere = errno == EPIPE ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
        fflush(stdout);
        clearerr(stdout);
    }
}

void drive_complete(Asking *asking, Json *settled) {
    Json key, value, thread = field_get(*settled, "thread");
    if (field_has_text(*settled, "store_error") || !json_is_none(field_get(*settled, "state"))) {
        return;
    }
    Json run = ask(asking, "run_get",
                   OBJECT(KEY("thread", json_ref(thread)), KEY("state", json_bool(true))));
    for (size_t pos = 0; json_object_next(run, &pos, &key, &value);) {
        if (json_is_none(json_object_get(*settled, key))) {
            *settled = json_object_set(*settled, json_ref(key), json_ref(value));
        }
    }
    json_unref(run);
}

static int settle(Drive *d) {
    const Common *common = &d->args->common;
    drive_complete(d->asking, &d->settled);
    const struct Outcome *outcome = outcome_of(d->settled);
    bool durable = cli_store_is_durable(common), lost = field_has_text(d->settled, "store_error");
    Ending ending = {common, d->plan->store_hint, durable, d->plan->file, d->settled};
    stream_end(&d->stream, d->settled, outcome->word);
    if (d->report && d->plan->sums_up && is_for_people(d->args) && !d->args->quiet) {
        report_say(d->report, &(ReportEnding){outcome->word, d->thread, json_none()});
    }
    if (common->json) write_result(d->settled, outcome);
    if (lost) {
        say_store_error(&ending);
    } else if (is_for_people(d->args)) {
        ending_say(&ending);
    }
    if (d->plan->recorded && !d->args->quiet) drive_say_recorded(d->settled, d->plan->recorded);
    if (!lost && json_string_is(field_get(d->settled, "status"), "stopped")) {
        if (durable) {
            say_resume(d->thread, d->plan->store_hint, "Stopped. Resume with: ");
        } else {
            fputs("Stopped.\n", stderr);
        }
    }
    if (outcome->code == EXIT_WAITING && !durable) { /* what waits in memory waits for nobody */
        fprintf(stderr,
                "pawl %s: the run was kept in memory, so no other process can resume it; keep it "
                "with --store sqlite:PATH or --store file:DIR.\n",
                common->command->name);
    }
    forget_closed_output();
    return outcome->code;
}

/* ---- the whole ---- */

static bool shows_progress(const DriveArgs *args) {
    return !args->quiet && is_for_people(args);
}

/* What is to be heard of the run, as run_events takes it. */
static Json listen_args(const DriveArgs *args) {
    bool shows = shows_progress(args);
    bool quiet = !shows && args->stream == STREAM_NONE && !args->report;
    Json types[] = {json_string_c("settled"), json_string_c("paused"), json_string_c("debug")};
    return OBJECT(KEY("values", json_bool(args->stream != STREAM_NONE || !shows)),
                  KEY("types", quiet ? json_array_from(types, 3) : json_none()));
}

/* Before the run has its first turn: nothing that happens is missed. */
static void on_begun(void *ctx, Json run, const Error *err) {
    Drive *d = ctx;
    const DriveArgs *args = d->args;
    Json doubts = field_get(run, "doubts");
    if (err) {
        d->failed = *err;
        d->over = true;
        return;
    }
    d->thread = mem_strdup(field_string(run, "thread"));
    if (client_is_elsewhere(d->asking->client, d->thread)) cli_bounds_elsewhere(&args->common);
    for (size_t i = 0; i < json_array_len(doubts); i++) {
        Json doubt = json_array_get(doubts, i);
        terminal_line(stderr, "pawl %s: --break: %s", args->common.command->name,
                      field_is_text(doubt) ? json_string_data(&doubt) : "");
    }
    if (shows_progress(args)) {
        d->progress = progress_new(&d->asking->loop, d->asking->client, d->thread);
    }
    if (args->report || (d->progress && d->plan->sums_up)) d->report = report_new();
    d->events =
        client_events(d->asking->client, OBJECT_ADD(listen_args(args), KEY("thread", d->thread)),
                      &(ClientListener){on_event, on_over, d});
    json_unref(run);
}

static void say_trouble(void *ctx, const char *sentence) {
    const DriveArgs *args = ctx;
    terminal_say(stderr, "pawl %s: %s\n", args->common.command->name, sentence);
}

int drive(const DrivePlan *plan) {
    Drive d = {.plan = plan, .args = plan->args, .asking = plan->asking};
    Tracing tracing = {0};
    bool far = cli_server(&d.args->common) != NULL; /* it sends the spans of its runs itself */
    Error err = ERROR_INIT;
    int code;
    TracingOptions traced = {.loop = &plan->asking->loop,
                             .host = client_host(plan->asking->client),
                             .url = d.args->otlp,
                             .say = say_trouble,
                             .ctx = (void *)(uintptr_t)d.args};
    if (far && d.args->otlp) {
        error_set(&err, ERR_USAGE,
                  "The spans of a run come from where it runs, so --otlp has no place here: the "
                  "server takes it.");
    }
    if (err.code != ERR_NONE || (!far && !tracing_begin(&tracing, &traced, &err))) {
        json_unref(plan->operation_args);
        return cli_fail(&d.args->common, &err);
    }
    stream_init(&d.stream, d.args->stream);
    d.asked = json_array();
    uv_timer_init(&d.asking->loop, &d.asks);
    d.asks.data = &d;
    watch_signals(&d);
    client_begin(d.asking->client, plan->operation, plan->operation_args, listen_args(d.args),
                 on_begun, &d);
    asking_listen(d.asking);
    while (!d.over && json_is_none(d.settled)) uv_run(&d.asking->loop, UV_RUN_ONCE);
    client_events_end(d.events);
    tracing_end(&tracing);
    progress_free(d.progress);
    d.progress = NULL;
    if (d.args->report && !d.report) d.report = report_new(); /* of a run that did not begin */
    if (!json_is_none(d.settled)) {
        code = settle(&d);
    } else if (d.failed.code != ERR_NONE) {
        code = cli_fail(&d.args->common, &d.failed);
    } else { /* somebody else's, and left */
        say_left(&d);
        code = EXIT_WAITING;
    }
    const char *ended = json_is_none(d.settled) ? "failed" : outcome_of(d.settled)->word;
    if (d.args->report && !write_report(&d, ended) && code == EXIT_OK) code = EXIT_FAILED_RUN;
    report_free(d.report);
    for (int i = 0; i < NSIGNALS; i++) uv_close((uv_handle_t *)&d.signals[i], NULL);
    uv_close((uv_handle_t *)&d.asks, NULL);
    uv_run(&d.asking->loop, UV_RUN_NOWAIT); /* they are on our stack */
    stream_clear(&d.stream);
    json_unref(d.settled);
    json_unref(d.asked);
    mem_free(d.thread);
    return code;
}
