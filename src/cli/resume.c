/* resume.c - `pawl resume`: answers what a run waits for and goes on with it. */
#include "resume.h"

#include "flows.h"
#include "image.h"
#include "mem.h"
#include "options.h"
#include "settings.h"
#include "store_chain.h"

#include <stdio.h>
#include <string.h>

/* ---- which workflow ---- */

/* What the run goes on with, unless it is told otherwise. */
typedef struct Stored {
    Json definition;
    Json folder; /* that its paths begin in; JSON_NONE: not known */
} Stored;

static void stored_clear(Stored *stored) {
    json_clear(&stored->definition);
    json_clear(&stored->folder);
}

/* The key of the definition that was taken instead of the first one; NULL when none was. Given. */
static char *replaced_by(Json image) {
    Json key = json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_DEFINITION);
    bool replaced = json_kind(key) == JSON_STRING;
    return replaced ? mem_strndup(json_string_data(&key), json_string_len(key)) : NULL;
}

/* A checkpoint that cannot be read is no matter here: the engine will say why. */
static bool read_stored(const Common *c, Store *store, const RunRow *row, int64_t seq, Stored *out,
                        int *code) {
    Error err = ERROR_INIT;
    seq = seq ? seq : row->head;
    Json image = seq ? chain_image(store, row->run, seq, NULL, NULL) : json_none();
    bool valid = !json_is_none(image) && image_valid(image);
    char *key = valid ? replaced_by(image) : NULL;
    out->folder = valid ? image_folder(image) : json_none();
    out->definition = store_definition(store, key ? key : row->definition, &err);
    mem_free(key);
    json_unref(image);
    if (json_is_none(out->definition)) {
        *code = cli_fail(c->command, &err);
    }
    return !json_is_none(out->definition);
}

/* False after saying why not. */
static bool find_stored(const ResumeArgs *args, Store *store, Stored *out, int *code) {
    const Common *c = &args->drive.common;
    RunRow row = {0};
    bool ok = cli_find(c, store, args->place.thread, &row, code) &&
              read_stored(c, store, &row, args->place.seq, out, code);
    run_row_clear(&row);
    return ok;
}

static Flow *load_stored(const Common *c, const Stored *stored, int *code) {
    FlowProblems problems = {0};
    Flow *flow = flow_load_definition(stored->definition, &problems);
    if (!flow) {
        cli_flow_say(&problems);
        fprintf(stderr, "pawl %s: the workflow that is stored with the run does not load here.\n",
                c->command->name);
        *code = EXIT_FAILED_RUN;
    }
    flow_problems_clear(&problems);
    return flow;
}

Flow *resume_stored_flow(const Common *c, Store *store, const Place *place, RunRow *row,
                         int *code) {
    Stored stored = {json_none(), json_none()};
    bool found = cli_find(c, store, place->thread, row, code) &&
                 read_stored(c, store, row, place->seq, &stored, code);
    Flow *flow = found ? load_stored(c, &stored, code) : NULL;
    stored_clear(&stored);
    return flow;
}

static Flow *reload(const ResumeArgs *args, const Stored *stored) {
    char *path = cli_flow_path(stored->definition, stored->folder);
    if (!path) {
        options_complain(args->drive.common.command,
                         "the workflow was read from standard input, so there is no file to take "
                         "with --reload.");
        return NULL;
    }
    Flow *flow = cli_flow_load(path);
    mem_free(path);
    return flow;
}

static void say_differs(const ResumeArgs *args) {
    fprintf(stderr,
            "pawl %s: the workflow's file has changed; the run goes on with the workflow that it "
            "was started with (--reload takes the file as it is now).\n",
            args->drive.common.command->name);
}

/* False when there is a reason not to go on, which has been said. *flow is NULL for the stored
 * one. */
static bool choose_flow(const ResumeArgs *args, Store *store, Flow **flow, int *code) {
    Stored stored = {json_none(), json_none()};
    *flow = args->flow ? flow_ref(args->flow) : NULL;
    if (*flow) {
        return true;
    }
    bool found = find_stored(args, store, &stored, code);
    if (found && args->reload) {
        *flow = reload(args, &stored);
        *code = EXIT_USAGE;
    } else if (found && cli_flow_differs(stored.definition, stored.folder)) {
        say_differs(args);
    }
    stored_clear(&stored);
    return found && (!args->reload || *flow);
}

int resume_run(const ResumeArgs *args, Store *store) {
    Flow *flow;
    int code;
    if (!choose_flow(args, store, &flow, &code)) {
        return code;
    }
    static const AnswerWords words = {"--interrupt", "--decision", "--value JSON"};
    RunResume resume = {.thread = args->place.thread,
                        .seq = args->place.seq,
                        .interrupt = args->interrupt,
                        .value = args->value,
                        .decision = args->decision,
                        .set = args->drive.set,
                        .reload = flow,
                        .words = &words};
    DrivePlan plan = {
        .args = &args->drive, .store = store, .store_hint = args->store_hint, .resume = &resume};
    code = drive(&plan);
    flow_unref(flow);
    return code;
}

/* ---- the command line ---- */

enum { RESUME_VALUE, RESUME_RESPONSE, RESUME_INTERRUPT, RESUME_DECISION, RESUME_RELOAD };

static bool on_option(void *ctx, const Option *option, char **values) {
    ResumeArgs *args = ctx;
    Handled handled = drive_option(&args->drive, option, values);
    if (handled != HANDLED_NOT) {
        return handled == HANDLED_WELL;
    }
    if (!option) {
        return place_argument(&command_resume, values[0], &args->place);
    }
    switch (option->id) {
    case RESUME_VALUE: return settings_value(&command_resume, option, values[0], &args->value);
    case RESUME_RESPONSE: return settings_text(&command_resume, values[0], &args->value);
    case RESUME_INTERRUPT: args->interrupt = values[0]; break;
    case RESUME_DECISION: args->decision = values[0]; break;
    case RESUME_RELOAD: args->reload = true; break;
    }
    return true;
}

static int resume(ResumeArgs *args) {
    int code;
    if (!args->place.thread) {
        options_complain(&command_resume, "which run? It takes THREAD or THREAD@SEQ.");
        return EXIT_USAGE;
    }
    Store *store = cli_store_open(&args->drive.common, STORE_EXISTING, &code);
    if (store) {
        args->store_hint = cli_store_hint(args->drive.common.store);
        code = resume_run(args, store);
    }
    store_close(store);
    return code;
}

static int cmd_resume(int argc, char **argv) {
    ResumeArgs args = {.drive = {.common = {.command = &command_resume}}};
    OptionsResult parsed = options_parse(&command_resume, argc, argv, on_option, &args);
    int code = parsed == OPTIONS_RUN     ? resume(&args)
               : parsed == OPTIONS_SHOWN ? EXIT_OK
                                         : EXIT_USAGE;
    place_clear(&args.place);
    json_unref(args.value);
    drive_args_clear(&args.drive);
    return code;
}

/* ---- the row ---- */

static const Option resume_options[] = {
    {"value", 0, "JSON", "the answer to the interrupt", COMPLETE_NOTHING, RESUME_VALUE},
    {"response-file", 0, "FILE", "the answer as a text, from a file; - is standard input",
     COMPLETE_FILE, RESUME_RESPONSE},
    {"decision", 0, "WORD", "the answer to an approval: one of its options", COMPLETE_NOTHING,
     RESUME_DECISION},
    {"interrupt", 0, "ID", "the interrupt that is answered, when several are open",
     COMPLETE_NOTHING, RESUME_INTERRUPT},
    {"reload", 0, NULL, "take the workflow's file as it is now", COMPLETE_NOTHING, RESUME_RELOAD},
    DRIVE_ROWS,
    {0},
};

static const Example resume_examples[] = {
    {"pawl resume review-7 --decision approve", "answer an approval"},
    {"pawl resume tdd --response-file answer.md", "answer the prompt of an action"},
    {"pawl resume review-7 --set retries=3", "change the state, then go on"},
    {"pawl resume review-7@12", "go back to checkpoint 12 and go on from there; what came after it "
                                "stays in the history"},
    {0},
};

const Command command_resume = {
    .name = "resume",
    .summary = "go on with a run that waits or was stopped",
    .arguments = "THREAD[@SEQ]",
    .description =
        "Goes on with a run until it ends or waits again: one that waits for an answer, one that "
        "failed (the node that failed is tried again), one that was stopped, one that a debugger has "
        "paused (it goes on without; `pawl debug` goes on with), and one whose process died. What is "
        "finished is not done again. With @SEQ it goes on from that checkpoint.\n\n"
        "A run goes on with the workflow that it was started with, even when the file has changed "
        "since; --reload takes the file as it is now.\n\n"
        "Exit codes: 0, completed; 1, failed or cancelled; 2, the command line or the workflow is "
        "wrong; 3, it waits for another resume.",
    .options = resume_options,
    .examples = resume_examples,
    .run = cmd_resume,
};
