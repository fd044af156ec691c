/* fork.c - `pawl fork`: a new thread that begins where another stands. */
#include "engines.h"
#include "options.h"
#include "output.h"
#include "place.h"
#include "stores.h"

#include <stdio.h>

enum { FORK_THREAD };

typedef struct ForkArgs {
    Common common;
    Place place;
    const char *thread; /* NULL: one is made */
} ForkArgs;

static bool on_option(void *ctx, const Option *option, char **values) {
    ForkArgs *args = ctx;
    if (!option) {
        return place_argument(&command_fork, values[0], &args->place);
    }
    if (common_option(&args->common, option, values)) {
        return true;
    }
    args->thread = values[0];
    return place_thread_name(&command_fork, values[0]);
}

static void write_fork(const ForkArgs *args, const RunRow *row) {
    if (!args->common.json) {
        puts(row->thread);
        return;
    }
    Json out = output_set(json_object(), "run", json_int(row->run));
    out = output_set(out, "thread", json_string_c(row->thread));
    out = output_set(out, "status", json_string_c(row->status));
    out = output_set(out, "checkpoint", json_int(row->head));
    output_line(out);
    json_unref(out);
}

static int report(const ForkArgs *args, Store *store, const char *thread) {
    RunRow row = {0};
    int code = EXIT_OK;
    if (cli_find(&args->common, store, thread, &row, &code)) {
        write_fork(args, &row);
    }
    run_row_clear(&row);
    return code;
}

static int fork_in(const ForkArgs *args, Store *store) {
    CliEngine e;
    Error err = ERROR_INIT;
    RunRow row = {0};
    if (!cli_engine_open(&e, (EngineOptions){.store = store}, &err)) {
        return cli_fail(&command_fork, &err);
    }
    bool ok =
        engine_fork_now(e.engine, args->place.thread, args->place.seq, args->thread, &row, &err);
    cli_engine_close(&e);
    int code = ok ? report(args, store, row.thread) : cli_fail(&command_fork, &err);
    run_row_clear(&row);
    return code;
}

static int cmd_fork(int argc, char **argv) {
    ForkArgs args = {.common = {.command = &command_fork}};
    OptionsResult parsed = options_parse(&command_fork, argc, argv, on_option, &args);
    int code = parsed == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    if (parsed == OPTIONS_RUN && !args.place.thread) {
        options_complain(&command_fork, "which run? It takes THREAD or THREAD@SEQ.");
    } else if (parsed == OPTIONS_RUN) {
        Store *store = cli_store_open(&args.common, STORE_EXISTING, &code);
        code = store ? fork_in(&args, store) : code;
        store_close(store);
    }
    place_clear(&args.place);
    return code;
}

/* ---- the row ---- */

static const Option fork_options[] = {
    {"thread", 't', "ID", "the name of the new thread (run-N unless told)", COMPLETE_NOTHING,
     FORK_THREAD},
    STORE_ROW,
    JSON_ROW("as an object: run, thread, status, checkpoint"),
    {0},
};

static const Example fork_examples[] = {
    {"pawl fork review-7@12 --thread what-if", "a second run from checkpoint 12 on"},
    {"pawl resume \"$(pawl fork review-7@12)\"", "make it and go on with it"},
    {0},
};

const Command command_fork = {
    .name = "fork",
    .summary = "begin a new run where another one stands or stood",
    .arguments = "THREAD[@SEQ]",
    .description =
        "Makes a new thread that begins as a copy of a run, as it is now or as it was at a "
        "checkpoint, and writes its name. Nothing runs until it is resumed; the first run stays as it "
        "is.",
    .options = fork_options,
    .examples = fork_examples,
    .run = cmd_fork,
};
