/* resume.c - `pawl resume`: answers what a run waits for and goes on with it. */
#include "resume.h"

#include "fields.h"
#include "flows.h"
#include "json_build.h"
#include "mem.h"
#include "options.h"

#include <stdio.h>

/* ---- which workflow ---- */

/* Its files are looked for where the run was started; of a run of a server, in our folder. */
static Json folder_of(const ResumeArgs *args, Json stored) {
    return cli_server(&args->drive.common) ? json_none() : field_get(stored, "folder");
}

static Flow *reload(const ResumeArgs *args, Json stored) {
    char *path = cli_flow_path(field_get(stored, "definition"), folder_of(args, stored));
    if (!path) {
        options_complain(args->drive.common.command,
                         "the workflow was read from standard input, so there is no file to take "
                         "with --reload.");
        return NULL;
    }
    Common common = args->drive.common;
    char *folders[sizeof common.kinds.items / sizeof *common.kinds.items] = {NULL};
    Json stored_kinds = field_get(field_get(stored, "definition"), "kinds");
    size_t most = sizeof folders / sizeof *folders, n = json_array_len(stored_kinds);
    for (size_t i = 0; !args->drive.common.kinds.n && i < n && i < most; i++) { /* as before */
        folders[i] = cli_flow_place(folder_of(args, stored), json_array_get(stored_kinds, i));
        common.kinds.items[common.kinds.n++] = folders[i];
    }
    Flow *flow = cli_flow_load(&common, path);
    for (size_t i = 0; i < most; i++) mem_free(folders[i]);
    mem_free(path);
    return flow;
}

/* False when there is a reason not to go on, which has been said. *flow is NULL for the stored one. A checkpoint
 * that cannot be read is no matter here: whoever resumes will say why. */
static bool choose_flow(const ResumeArgs *args, Asking *asking, Flow **flow) {
    *flow = args->flow ? flow_ref(args->flow) : NULL;
    if (*flow) return true;
    Error err = ERROR_INIT;
    Json stored = client_ask(asking->client, "run_definition", place_args(&args->place), &err);
    if (json_is_none(stored) && (args->reload || error_is_askers(err.code))) {
        asking->code = cli_fail(&args->drive.common, &err);
        return false;
    }
    if (args->reload) {
        *flow = reload(args, stored);
        asking->code = EXIT_USAGE;
    } else if (!json_is_none(stored) && !cli_server(&args->drive.common) &&
               cli_flow_differs(args->drive.common.root, field_get(stored, "definition"),
                                field_get(stored, "folder"))) {
        fprintf(
            stderr,
            "pawl %s: the workflow's file has changed; the run goes on with the workflow that it "
            "was started with (--reload takes the file as it is now).\n",
            args->drive.common.command->name);
    }
    json_unref(stored);
    return !args->reload || *flow;
}

int resume_run(const ResumeArgs *args, Asking *asking) {
    Flow *flow;
    if (!choose_flow(args, asking, &flow)) return asking->code;
    Json what = OBJECT_ADD(place_args(&args->place), KEY("interrupt", args->interrupt),
                           KEY("value", json_ref(args->value)), KEY("decision", args->decision),
                           KEY("set", json_ref(args->drive.set)),
                           KEY("definition", flow ? flow_definition(flow) : json_none()));
    DrivePlan plan = {.args = &args->drive,
                      .asking = asking,
                      .store_hint = args->store_hint,
                      .operation = "run_resume",
                      .operation_args = what};
    int code = drive(&plan);
    flow_unref(flow);
    return code;
}

/* ---- the command line ---- */

static int act(void *ctx) {
    ResumeArgs *args = ctx;
    Asking asking;
    asking_begin(&asking, &args->drive.common);
    args->store_hint = cli_store_hint(&args->drive.common);
    asking.code = resume_run(args, &asking);
    return asking_end(&asking);
}

/* ---- the row ---- */

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
        "wrong; 3, it waits for another resume; 4, another process has the run; 5, the store cannot be used.",
    OPTIONS(
        {"value", 0, "JSON", "the answer to the interrupt", TAKES(OPTION_VALUE, ResumeArgs, value)},
        {"response-file", 0, "FILE", "the answer as a text, from a file; - is standard input",
         TAKES(OPTION_TEXT_OF, ResumeArgs, value), .completes = COMPLETE_FILE},
        {"decision", 0, "WORD", "the answer to an approval: one of its options",
         TAKES(OPTION_TEXT, ResumeArgs, decision)},
        {"interrupt", 0, "ID", "the interrupt that is answered, when several are open",
         TAKES(OPTION_TEXT, ResumeArgs, interrupt)},
        {"reload", 0, NULL, "take the workflow's file as it is now",
         TAKES(OPTION_FLAG, ResumeArgs, reload)},
        DRIVE_REPORT_ROW(ResumeArgs), DRIVE_ROWS, KINDS_ROW),
    EXAMPLES({"pawl resume review-7 --decision approve", "answer an approval"},
             {"pawl resume tdd --response-file answer.md", "answer the prompt of an action"},
             {"pawl resume review-7 --set retries=3", "change the state, then go on"},
             {"pawl resume review-7@12",
              "go back to checkpoint 12 and go on from there; what came after it "
              "stays in the history"}),
    .args = sizeof(ResumeArgs),
    .place = offsetof(ResumeArgs, place),
    .act = act,
};
