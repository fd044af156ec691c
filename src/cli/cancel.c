/* cancel.c - `pawl cancel`: ends a run for good. */
#include "engines.h"
#include "options.h"
#include "output.h"
#include "place.h"
#include "stores.h"
#include "terminal.h"

#include <stdio.h>
#include <string.h>

enum { WAIT_MS = 5000, POLL_MS = 50 };

typedef struct CancelArgs {
    Common common;
    Place place;
} CancelArgs;

static bool on_option(void *ctx, const Option *option, char **values) {
    CancelArgs *args = ctx;
    if (!option) {
        return place_argument(&command_cancel, values[0], &args->place);
    }
    common_option(&args->common, option, values);
    return true;
}

static void write_status(const CancelArgs *args, const RunRow *row) {
    if (!args->common.json) {
        printf("%s is %s.\n", row->thread, row->status);
        return;
    }
    Json out = output_set(json_object(), "run", json_int(row->run));
    out = output_set(out, "thread", json_string_c(row->thread));
    out = output_set(out, "status", json_string_c(row->status));
    output_line(out);
    json_unref(out);
}

/* Says where the run is now; the exit code is 0 when it is cancelled. */
static int report(const CancelArgs *args, Store *store) {
    RunRow row = {0};
    int code = EXIT_FAILED_RUN;
    if (cli_find(&args->common, store, args->place.thread, &row, &code)) {
        write_status(args, &row);
        code = strcmp(row.status, "cancelled") ? EXIT_FAILED_RUN : EXIT_OK;
    }
    run_row_clear(&row);
    return code;
}

/* ---- a run that nobody has ---- */

static bool cancel_here(const CancelArgs *args, Store *store, Error *err) {
    CliEngine e;
    if (!cli_engine_open(&e, (EngineOptions){.store = store}, err)) {
        return false;
    }
    Run *cleaning = NULL;
    bool ok = engine_cancel_now(e.engine, args->place.thread, &cleaning, err);
    while (cleaning && !run_settled(cleaning)) {
        uv_run(&e.loop, UV_RUN_ONCE);
    }
    cli_engine_close(&e);
    return ok;
}

/* ---- a run that another process has ---- */

/* Whether it ended one way or the other, so that there is nothing left to cancel. */
static bool has_ended(Store *store, const char *thread) {
    RunRow row = {0};
    bool ended = store_find(store, thread, &row, NULL) &&
                 (!strcmp(row.status, "cancelled") || !strcmp(row.status, "completed") ||
                  !strcmp(row.status, "failed"));
    run_row_clear(&row);
    return ended;
}

/* After the wait. A process that died or stopped in the meantime left the run to us. */
static int conclude(const CancelArgs *args, Store *store, const RunRow *row) {
    Error err = ERROR_INIT;
    if (store_is_leased(store, row->run)) {
        fprintf(stderr,
                "pawl cancel: it has not done so within %d seconds. The request stands until that "
                "process sees it or dies.\n",
                WAIT_MS / 1000);
        return report(args, store);
    }
    if (has_ended(store, row->thread) || cancel_here(args, store, &err)) {
        return report(args, store);
    }
    return cli_fail(&command_cancel, &err);
}

static void wait_for_owner(Store *store, const RunRow *row) {
    for (int waited = 0; waited < WAIT_MS && store_is_leased(store, row->run); waited += POLL_MS) {
        uv_sleep(POLL_MS);
    }
}

static int ask(const CancelArgs *args, Store *store) {
    RunRow row = {0};
    Error err = ERROR_INIT;
    int code;
    if (!cli_find(&args->common, store, args->place.thread, &row, &code)) {
        return code;
    }
    if (store_ask_cancel(store, row.run, &err)) {
        const char *owner = row.owner && row.owner[0] ? row.owner : "another process";
        terminal_say(stderr, "pawl cancel: %s runs it and was asked to cancel it.\n", owner);
        wait_for_owner(store, &row);
        code = conclude(args, store, &row);
    } else {
        code = cli_fail(&command_cancel, &err);
    }
    run_row_clear(&row);
    return code;
}

/* ---- the command ---- */

static int cancel_in(const CancelArgs *args, Store *store) {
    Error err = ERROR_INIT;
    bool ok = cancel_here(args, store, &err);
    if (!ok && err.code == ERR_BUSY) {
        return ask(args, store);
    }
    return ok ? report(args, store) : cli_fail(&command_cancel, &err);
}

static int cmd_cancel(int argc, char **argv) {
    CancelArgs args = {.common = {.command = &command_cancel}};
    OptionsResult parsed = options_parse(&command_cancel, argc, argv, on_option, &args);
    int code = parsed == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    if (parsed == OPTIONS_RUN && !args.place.thread) {
        options_complain(&command_cancel, "which run? It takes a THREAD.");
    } else if (parsed == OPTIONS_RUN && args.place.seq) {
        options_complain(&command_cancel, "a run is cancelled, not one of its checkpoints.");
    } else if (parsed == OPTIONS_RUN) {
        Store *store = cli_store_open(&args.common, STORE_EXISTING, &code);
        code = store ? cancel_in(&args, store) : code;
        store_close(store);
    }
    place_clear(&args.place);
    return code;
}

/* ---- the row ---- */

static const Option cancel_options[] = {
    STORE_ROW,
    JSON_ROW("as an object: run, thread, status"),
    {0},
};

static const Example cancel_examples[] = {
    {"pawl cancel review-7", "end it; what it has done so far stays in the history"},
    {0},
};

const Command command_cancel = {
    .name = "cancel",
    .summary = "end a run for good",
    .arguments = "THREAD",
    .description =
        "Ends a run that has not ended. The cleanupTasks of a test still run. When another process runs it, that process is asked to, and "
        "has a few seconds to do so; after that the request stands until it sees it or dies. A run "
        "that is to go on later is stopped with Ctrl-C instead.",
    .options = cancel_options,
    .examples = cancel_examples,
    .run = cmd_cancel,
};
