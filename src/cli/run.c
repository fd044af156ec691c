/* run.c - `pawl run`: a new run of a workflow. */
#include "breakpoint.h"
#include "flows.h"
#include "json_build.h"
#include "mem.h"
#include "options.h"
#include "replay.h"
#include "report.h"
#include "resume.h"
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct RunArgs {
    DriveArgs drive;
    const char *file;
    const char *thread; /* NULL: one is made */
    const char *mode;   /* NULL: as the workflow says */
    const char *given;  /* --input, or NULL */
    Json input;         /* an object, or JSON_NONE */
    Json breaks;        /* --break as it was given, array of strings, or JSON_NONE */
    ReplayArgs replay;
} RunArgs;

/* ---- the command line ---- */

/* Says what is wrong with a breakpoint, and where in it; false. */
static bool complain_of_break(Json spec, Error *err) {
    size_t len = strlen(err->msg);
    char where[32] = "";
    if (len && err->msg[len - 1] == '.') err->msg[len - 1] = '\0';
    if (err->col > 0 && !strstr(err->msg, "column")) {
        snprintf(where, sizeof where, " (at character %d)", err->col);
    }
    return options_complain(&command_run, "--break `%.*s`: %s%s.", (int)json_string_len(spec),
                            json_string_data(&spec), err->msg, where);
}

static bool on_break(void *ctx, const Option *option, char **values) {
    RunArgs *args = ctx;
    Error err = ERROR_INIT;
    Json given = json_string_c(values[0]), spec = breakpoint_parse(values[0], &err);
    (void)option;
    args->breaks = json_array_push(args->breaks, given);
    if (json_is_none(spec)) return complain_of_break(given, &err);
    args->drive.debug = true;
    args->drive.breakpoints = json_array_push(args->drive.breakpoints, spec);
    return true;
}

/* ---- running ---- */

static void say_trace(void *ctx, const char *sentence) {
    (void)ctx;
    fprintf(stderr, "pawl run: %s\n", sentence);
}

static int start(const RunArgs *args, Flow *flow, Asking *asking, const char *store_hint) {
    const DriveArgs *drive_args = &args->drive;
    Json debug = json_none();
    const char *parent, *state;
    tracing_inherited(&parent, &state, say_trace, NULL);
    if (drive_args->debug || drive_args->pause_on_start) {
        debug = OBJECT(KEY("pause_on_start", drive_args->pause_on_start),
                       KEY("breakpoints", json_ref(drive_args->breakpoints)));
    }
    Json what = OBJECT(KEY("definition", flow_definition(flow)), KEY("thread", args->thread),
                       KEY("input", json_ref(args->input)), KEY("mode", args->mode),
                       KEY("replay", replay_args(&args->replay)), KEY("debug", debug),
                       KEY("traceparent", parent), KEY("tracestate", state));
    DrivePlan plan = {.args = &args->drive,
                      .asking = asking,
                      .store_hint = store_hint,
                      .operation = "run_start",
                      .operation_args = what,
                      .file = flow->path,
                      .recorded = args->replay.from.thread,
                      .sums_up = flow->main->nnodes && flow->main->nodes[0].task};
    return drive(&plan);
}

/* The option that has no place when there is nothing to start; NULL when there is none. */
static const char *option_of_start(const RunArgs *args) {
    return args->given                ? "input"
           : args->thread             ? "thread"
           : args->mode               ? "mode"
           : args->replay.from.thread ? "replay"
                                      : NULL;
}

/* config.checkpoint: this workflow goes on with a run that is there. */
static int resume(const RunArgs *args, Flow *flow, Asking *asking, const char *store_hint) {
    ResumeArgs resumed = {.drive = args->drive, .flow = flow, .store_hint = store_hint};
    const char *option = option_of_start(args);
    if (option) {
        options_complain(&command_run,
                         "the workflow's config.checkpoint says to go on with %s, so --%s has no "
                         "place; --set changes its state.",
                         flow->main->checkpoint, option);
        return EXIT_USAGE;
    }
    if (!place_parse(&command_run, flow->main->checkpoint, &resumed.place)) return EXIT_USAGE;
    int code = resume_run(&resumed, asking);
    place_clear(&resumed.place);
    return code;
}

static int run_loaded(RunArgs *args, Flow *flow) {
    bool told = args->drive.common.store || cli_server(&args->drive.common);
    char *configured = told ? NULL : cli_store_configured(flow->main);
    Asking asking;
    if (configured) args->drive.common.store = configured;
    const char *hint = cli_store_hint(&args->drive.common);
    asking_begin(&asking, &args->drive.common);
    asking.code = (flow->main->checkpoint ? resume : start)(args, flow, &asking, hint);
    int code = asking_end(&asking);
    mem_free(configured);
    return code;
}

/* An interrupt that nobody could answer is refused before anything is done. */
static bool has_checkpointer(const RunArgs *args, Flow *flow) {
    const char *env = getenv("PAWL_STORE");
    if (args->drive.common.store || (env && env[0]) || cli_server(&args->drive.common)) return true;
    FlowProblems problems = {0};
    bool needs = flow_needs_checkpointer(flow, &problems);
    cli_flow_say(&problems);
    return !needs;
}

/* Breakpoints are looked at before anything is kept of the run. */
static bool has_good_breaks(const RunArgs *args, const Flow *flow) {
    size_t n = json_is_none(args->breaks) ? 0 : json_array_len(args->breaks);
    for (size_t i = 0; i < n; i++) {
        Error err = ERROR_INIT;
        Json spec = json_array_get(args->drive.breakpoints, i);
        Breakpoint *b = breakpoint_new((int64_t)i + 1, spec, flow, &err);
        if (!b) return complain_of_break(json_array_get(args->breaks, i), &err);
        breakpoint_free(b);
    }
    return true;
}

/* False after saying which words do not go together. */
static bool is_sensible(const RunArgs *args) {
    if (!args->file) {
        return options_complain(&command_run, "which workflow? It takes the FILE that it is in.");
    }
    if (args->given && !strcmp(args->given, "-") && !strcmp(args->file, "-")) {
        return options_complain(&command_run,
                                "the workflow and the input cannot both come from standard input.");
    }
    Error err = ERROR_INIT;
    ReportTarget report;
    if (args->drive.report && !report_target(args->drive.report, &report, &err)) {
        return options_complain(&command_run, "--report: %s", err.msg);
    }
    return replay_is_sensible(&command_run, &args->replay);
}

static int act(void *ctx) {
    RunArgs *args = ctx;
    if (!is_sensible(args)) return EXIT_USAGE;
    Flow *flow = cli_flow_load(&args->drive.common, args->file);
    bool ready = flow && has_checkpointer(args, flow) && has_good_breaks(args, flow);
    ready = ready && (flow->main->checkpoint ||
                      settings_start(&command_run, args->given, args->drive.set, &args->input));
    int code = ready ? run_loaded(args, flow) : EXIT_USAGE;
    flow_unref(flow);
    return code;
}

static void clear(void *ctx) {
    RunArgs *args = ctx;
    json_unref(args->input);
    json_unref(args->breaks);
    json_unref(args->drive.breakpoints);
}

/* ---- the row ---- */

const Command command_run = {
    .name = "run",
    .summary = "run a workflow",
    .arguments = "FILE",
    .description =
        "Runs the workflow in FILE until it ends or waits for a person, and writes the final state. "
        "Every step is kept in the store: a run that waits, fails, is stopped with Ctrl-C or loses "
        "its process goes on with `pawl resume`.\n\n"
        "The store is --store, or what the workflow's config says (checkpointer, checkpoint_dir), or "
        "$PAWL_STORE, or sqlite:.pawl/pawl.db under the current folder. A workflow whose config "
        "names a checkpoint goes on from there instead of starting anew.\n\n"
        "With --break a run pauses where it is told to. When all of it is paused and nobody has "
        "attached a debugger, the command ends; `pawl debug THREAD` looks and steps from there, `pawl "
        "resume THREAD` goes on without.\n\n"
        "With --json the last line is an object with run, thread, status (completed, interrupted, "
        "paused, failed or cancelled), checkpoint, state, interrupts and error, and of a paused run "
        "paused: where each frame stands.\n\n"
        "Exit codes: 0, completed; 1, failed or cancelled; 2, the command line or the workflow is "
        "wrong; 3, it waits for a resume or is paused; 4, another process has the run; 5, the store cannot be used.",
    OPTIONS(
        {"input", 'i', "JSON|@FILE|-", "what the state starts with: an object",
         TAKES(OPTION_TEXT, RunArgs, given)},
        {"thread", 't', "ID", "the name of the run (run-N unless told)",
         TAKES(OPTION_NEW_THREAD, RunArgs, thread)},
        {"mode", 0, "autonomous|interactive",
         "whether what could be asked of a model is asked of you instead (as config.mode of the workflow says, or else autonomous)",
         TAKES(OPTION_WORD, RunArgs, mode), .completes = COMPLETE_WORDS},
        {"debug", 0, NULL,
         "with a debug session from the start; `pawl debug` can attach to any run at any time",
         TAKES(OPTION_FLAG, RunArgs, drive.debug)},
        {"break", 'b', "SPEC",
         "pause there: NODE, NODE:after, FILE:LINE, NODE if EXPR, if EXPR, error, caught, changed:PATH, "
         "state:PATH=JSON; may be given many times; implies --debug",
         .kind = OPTION_OWN},
        {"pause-on-start", 0, NULL, "pause before the first node; implies --debug",
         TAKES(OPTION_FLAG, RunArgs, drive.pause_on_start)},
        DRIVE_REPORT_ROW(RunArgs), REPLAY_ROWS(RunArgs), DRIVE_ROWS, KINDS_ROW, STRICT_ROW),
    EXAMPLES(
        {"pawl run review.yaml --input '{\"target\": \"main\"}'",
         "a run, its final state at the end"},
        {"pawl run review.yaml --thread review-7 --json", "under a name of yours, for a program"},
        {"pawl run review.yaml --stream updates", "what each node gives back, as it happens"},
        {"pawl run review.yaml --break 'build if .retries > 2'",
         "pauses before `build` when that holds; `pawl debug` goes on from there"},
        {"pawl run review.yaml --replay review-7 --live-from report",
         "the same run again without its work, which begins at `report`"}),
    .completes = COMPLETE_FILE,
    .args = sizeof(RunArgs),
    .argument = offsetof(RunArgs, file),
    .one = "workflow",
    .handle = on_break,
    .act = act,
    .clear = clear,
};
