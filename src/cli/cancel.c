/* cancel.c - `pawl cancel`: ends a run for good. */
#include "asking.h"
#include "fields.h"
#include "output.h"
#include "place.h"
#include "terminal.h"

#include <stdio.h>

typedef struct CancelArgs {
    Common common;
    Place place;
    bool no_cleanup;
} CancelArgs;

enum { WAIT_MS = 5000, POLL_MS = 50 };

/* Another process has the run and does not listen: it looks into the store now and then. One that died or stopped
 * in the meantime left the run to us. */
static Json leave_word(const CancelArgs *args, Asking *a) {
    Json run = ask(a, "run_ask_cancel", place_args(&args->place));
    if (json_is_none(run)) return run;
    const char *owner = field_string(run, "owner");
    terminal_say(stderr, "pawl cancel: %s runs it and was asked to cancel it.\n",
                 *owner ? owner : "another process");
    for (int waited = 0; field_has_text(run, "owner") && waited < WAIT_MS; waited += POLL_MS) {
        json_unref(run);
        uv_sleep(POLL_MS);
        run = ask(a, "run_get", place_args(&args->place));
    }
    if (field_has_text(run, "owner")) {
        fprintf(stderr,
                "pawl cancel: it has not done so within %d seconds. The request stands until that "
                "process sees it or dies.\n",
                WAIT_MS / 1000);
    } else if (json_truthy(field_get(run, "orphaned"))) {
        json_unref(run);
        run = ask(a, "run_cancel", place_args(&args->place));
    }
    return run;
}

/* The exit code is 0 when it is cancelled. */
static int act(void *ctx) {
    const CancelArgs *args = ctx;
    Asking a;
    Error err = ERROR_INIT;
    asking_begin(&a, &args->common);
    Json how = place_args(&args->place);
    if (args->no_cleanup) how = json_object_with(how, "skip_cleanup", json_bool(true));
    Json run = client_ask(a.client, "run_cancel", how, &err);
    bool elsewhere = json_is_none(run) && (err.code == ERR_BUSY || err.code == ERR_LIMIT);
    if (elsewhere && !args->no_cleanup) { /* a word that is left says no more than that */
        run = leave_word(args, &a);
    } else if (json_is_none(run)) {
        a.code = cli_fail(&args->common, &err);
    }
    if (!json_is_none(run)) {
        bool done = json_string_is(field_get(run, "status"), "cancelled");
        a.code = done ? EXIT_OK : EXIT_FAILED_RUN;
        if (args->common.json) {
            output_line(run);
        } else {
            printf("%s is %s.\n", field_string(run, "thread"), field_string(run, "status"));
        }
    }
    json_unref(run);
    return asking_end(&a);
}

/* ---- the row ---- */

const Command command_cancel = {
    .name = "cancel",
    .summary = "end a run for good",
    .arguments = "THREAD",
    .description =
        "Ends a run that has not ended. The cleanupTasks of a test still run, unless --no-cleanup says otherwise. When another process runs it, that process is asked to, and "
        "has a few seconds to do so; after that the request stands until it sees it or dies. A run "
        "that is to go on later is stopped with Ctrl-C instead.",
    OPTIONS({"no-cleanup", 0, NULL, "leave out the cleanupTasks, and end those that run",
             TAKES(OPTION_FLAG, CancelArgs, no_cleanup)},
            STORE_ROW, SERVER_ROWS, JSON_ROW("as an object: run, thread, status")),
    EXAMPLES({"pawl cancel review-7", "end it; what it has done so far stays in the history"},
             {"pawl cancel finality --no-cleanup", "end a test and keep what it has set up"}),
    .args = sizeof(CancelArgs),
    .place = offsetof(CancelArgs, place),
    .only_thread = "a run is cancelled, not one of its checkpoints.",
    .act = act,
};
