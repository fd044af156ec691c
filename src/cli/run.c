/* run.c - `pawl run`: a new run of a workflow. */
#include "flows.h"
#include "mem.h"
#include "options.h"
#include "resume.h"
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct RunArgs {
    DriveArgs drive;
    const char *file;
    const char *thread; /* NULL: one is made */
    const char *mode;   /* NULL: autonomous */
    const char *given;  /* --input, or NULL */
    Json input;         /* an object, or JSON_NONE */
} RunArgs;

/* ---- the command line ---- */

enum { RUN_INPUT, RUN_THREAD, RUN_MODE };

static bool on_file(RunArgs *args, const char *file) {
    if (args->file) {
        return options_complain(&command_run, "it takes one workflow, but was given `%s` too.",
                                file);
    }
    args->file = file;
    return true;
}

static bool on_option(void *ctx, const Option *option, char **values) {
    RunArgs *args = ctx;
    Handled handled = drive_option(&args->drive, option, values);
    if (handled != HANDLED_NOT) {
        return handled == HANDLED_WELL;
    }
    if (!option) {
        return on_file(args, values[0]);
    }
    switch (option->id) {
    case RUN_INPUT: args->given = values[0]; break;
    case RUN_THREAD: args->thread = values[0]; return place_thread_name(&command_run, values[0]);
    case RUN_MODE:
        args->mode = values[0];
        return options_word(&command_run, option, values[0]) >= 0;
    }
    return true;
}

/* The input with what --set says; false after saying what does not fit. */
static bool read_input(RunArgs *args) {
    Error err = ERROR_INIT;
    if (args->given && !settings_input(&command_run, args->given, &args->input)) {
        return false;
    }
    if (json_is_none(args->drive.set)) {
        return true;
    }
    Json input = json_is_none(args->input) ? json_object() : args->input;
    args->input = settings_apply(input, args->drive.set, &err);
    return !json_is_none(args->input) || options_complain(&command_run, "--set: %s.", err.msg);
}

/* ---- where it is kept ---- */

/* What config.checkpointer and config.checkpoint_dir come to; NULL when they are not there. Given. */
static char *url_of_config(const Graph *graph) {
    const char *kind = graph->checkpointer, *dir = graph->checkpoint_dir;
    Buf url = BUF_INIT;
    if (!kind && !dir) {
        return NULL;
    }
    if (kind && !strcmp(kind, "memory") && !dir) { /* a folder is where it is to be found again */
        buf_adds(&url, "memory:");
    } else if (kind && !strcmp(kind, "sqlite")) {
        buf_printf(&url, dir ? "sqlite:%s/pawl.db" : DEFAULT_STORE, dir);
    } else {
        buf_printf(&url, "file:%s", dir ? dir : ".pawl/checkpoints");
    }
    return buf_detach(&url);
}

static bool has_store_of_its_own(void) {
    const char *env = getenv("PAWL_STORE");
    return env && env[0];
}

/* ---- running ---- */

static int start(const RunArgs *args, Flow *flow, Store *store, const char *store_hint) {
    RunStart begin = {.thread = args->thread, .input = args->input, .mode = args->mode};
    DrivePlan plan = {.args = &args->drive,
                      .store = store,
                      .store_hint = store_hint,
                      .flow = flow,
                      .start = &begin};
    return drive(&plan);
}

/* The option that has no place when there is nothing to start; NULL when there is none. */
static const char *option_of_start(const RunArgs *args) {
    return args->given ? "input" : args->thread ? "thread" : args->mode ? "mode" : NULL;
}

/* config.checkpoint: this workflow goes on with a run that is there. */
static int resume(const RunArgs *args, Flow *flow, Store *store, const char *store_hint) {
    ResumeArgs resumed = {.drive = args->drive, .flow = flow, .store_hint = store_hint};
    const char *option = option_of_start(args);
    if (option) {
        options_complain(&command_run,
                         "the workflow's config.checkpoint says to go on with %s, so --%s has no "
                         "place; --set changes its state.",
                         flow->main->checkpoint, option);
        return EXIT_USAGE;
    }
    if (!place_parse(&command_run, flow->main->checkpoint, &resumed.place)) {
        return EXIT_USAGE;
    }
    int code = resume_run(&resumed, store);
    place_clear(&resumed.place);
    return code;
}

static int run_flow(RunArgs *args, Flow *flow) {
    char *configured = args->drive.common.store ? NULL : url_of_config(flow->main);
    bool resumes = flow->main->checkpoint != NULL;
    int code = EXIT_USAGE;
    if (configured) {
        args->drive.common.store = configured;
    }
    const char *hint = cli_store_hint(args->drive.common.store);
    Store *store =
        cli_store_open(&args->drive.common, resumes ? STORE_EXISTING : STORE_CREATE, &code);
    if (store) {
        code = (resumes ? resume : start)(args, flow, store, hint);
    }
    store_close(store);
    mem_free(configured);
    return code;
}

/* An interrupt that nobody could answer is refused before anything is done. */
static bool has_checkpointer(const RunArgs *args, Flow *flow) {
    if (args->drive.common.store || has_store_of_its_own()) {
        return true;
    }
    FlowProblems problems = {0};
    bool needs = flow_needs_checkpointer(flow, &problems);
    cli_flow_say(&problems);
    return !needs;
}

static int load_and_run(RunArgs *args) {
    if (!args->file) {
        options_complain(&command_run, "which workflow? It takes the FILE that it is in.");
        return EXIT_USAGE;
    }
    if (args->given && !strcmp(args->given, "-") && !strcmp(args->file, "-")) {
        options_complain(&command_run,
                         "the workflow and the input cannot both come from standard input.");
        return EXIT_USAGE;
    }
    Flow *flow = cli_flow_load(args->file);
    bool ready = flow && has_checkpointer(args, flow);
    ready = ready && (flow->main->checkpoint || read_input(args));
    int code = ready ? run_flow(args, flow) : EXIT_USAGE;
    flow_unref(flow);
    return code;
}

static int cmd_run(int argc, char **argv) {
    RunArgs args = {.drive = {.common = {.command = &command_run}}};
    OptionsResult parsed = options_parse(&command_run, argc, argv, on_option, &args);
    int code = parsed == OPTIONS_RUN     ? load_and_run(&args)
               : parsed == OPTIONS_SHOWN ? EXIT_OK
                                         : EXIT_USAGE;
    json_unref(args.input);
    drive_args_clear(&args.drive);
    return code;
}

/* ---- the row ---- */

static const Option run_options[] = {
    {"input", 'i', "JSON|@FILE|-", "what the state starts with: an object", COMPLETE_NOTHING,
     RUN_INPUT},
    {"thread", 't', "ID", "the name of the run (run-N unless told)", COMPLETE_NOTHING, RUN_THREAD},
    {"mode", 0, "autonomous|interactive",
     "whether what could be asked of a model is asked of you instead (autonomous unless told)",
     COMPLETE_WORDS, RUN_MODE},
    DRIVE_ROWS,
    {0},
};

static const Example run_examples[] = {
    {"pawl run review.yaml --input '{\"target\": \"main\"}'", "a run, its final state at the end"},
    {"pawl run review.yaml --thread review-7 --json", "under a name of yours, for a program"},
    {"pawl run review.yaml --stream updates", "what each node gives back, as it happens"},
    {0},
};

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
        "With --json the last line is an object with run, thread, status (completed, interrupted, "
        "failed or cancelled), checkpoint, state, interrupts and error.\n\n"
        "Exit codes: 0, completed; 1, failed or cancelled; 2, the command line or the workflow is "
        "wrong; 3, it waits for a resume.",
    .options = run_options,
    .examples = run_examples,
    .completes = COMPLETE_FILE,
    .run = cmd_run,
};
