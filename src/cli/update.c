/* update.c - `pawl update`: changes the state of a run by hand. */
#include "engines.h"
#include "options.h"
#include "output.h"
#include "place.h"
#include "settings.h"
#include "stores.h"

#include <inttypes.h>
#include <stdio.h>

enum { UPDATE_SET, UPDATE_AS_NODE };

typedef struct UpdateArgs {
    Common common;
    Place place;
    Json set;
    const char *as_node;
} UpdateArgs;

static bool on_option(void *ctx, const Option *option, char **values) {
    UpdateArgs *args = ctx;
    if (!option) {
        return place_argument(&command_update, values[0], &args->place);
    }
    if (common_option(&args->common, option, values)) {
        return true;
    }
    if (option->id == UPDATE_SET) {
        return settings_add(&command_update, values[0], &args->set);
    }
    args->as_node = values[0];
    return true;
}

static void write_update(const UpdateArgs *args, const RunRow *row, int64_t seq) {
    if (!args->common.json) {
        printf("%s@%" PRId64 "\n", row->thread, seq);
        return;
    }
    Json out = output_set(json_object(), "run", json_int(row->run));
    out = output_set(out, "thread", json_string_c(row->thread));
    out = output_set(out, "checkpoint", json_int(seq));
    output_line(out);
    json_unref(out);
}

static int update_in(const UpdateArgs *args, Store *store) {
    CliEngine e;
    Error err = ERROR_INIT;
    Json nothing = json_array();
    RunUpdate update = {args->place.thread, args->place.seq,
                        json_is_none(args->set) ? nothing : args->set, args->as_node};
    int64_t seq = 0;
    bool ok = cli_engine_open(&e, (EngineOptions){.store = store}, &err);
    if (ok) {
        ok = engine_update_now(e.engine, &update, &seq, &err);
        cli_engine_close(&e);
    }
    json_unref(nothing);
    if (!ok) {
        return cli_fail(&command_update, &err);
    }
    RunRow row = {0};
    int code = EXIT_OK;
    if (cli_find(&args->common, store, args->place.thread, &row, &code)) {
        write_update(args, &row, seq);
    }
    run_row_clear(&row);
    return code;
}

static bool is_complete(const UpdateArgs *args) {
    if (!args->place.thread) {
        return options_complain(&command_update, "which run? It takes THREAD or THREAD@SEQ.");
    }
    return !json_is_none(args->set) || args->as_node ||
           options_complain(&command_update, "what is to change? Say it with --set PATH=JSON, "
                                             "--as-node NODE or both.");
}

static int cmd_update(int argc, char **argv) {
    UpdateArgs args = {.common = {.command = &command_update}};
    OptionsResult parsed = options_parse(&command_update, argc, argv, on_option, &args);
    int code = parsed == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    if (parsed == OPTIONS_RUN && is_complete(&args)) {
        Store *store = cli_store_open(&args.common, STORE_EXISTING, &code);
        code = store ? update_in(&args, store) : code;
        store_close(store);
    }
    place_clear(&args.place);
    json_unref(args.set);
    return code;
}

/* ---- the row ---- */

static const Option update_options[] = {
    {"set", 0, "PATH=JSON", "the value to set, as user.name='\"Ada\"'; may be given many times",
     COMPLETE_NOTHING, UPDATE_SET},
    {"as-node", 0, "NODE", "as if this node had given them back: the run then stands after it",
     COMPLETE_NOTHING, UPDATE_AS_NODE},
    STORE_ROW,
    JSON_ROW("as an object: run, thread, checkpoint"),
    {0},
};

static const Example update_examples[] = {
    {"pawl update review-7 --set errors=0", "change one value; the run stands where it stood"},
    {"pawl update review-7 --set analysis='{\"files\": 3}' --as-node analyze",
     "give the result of a node by hand"},
    {"pawl update review-7 --as-node analyze", "go on after a node without doing it"},
    {0},
};

const Command command_update = {
    .name = "update",
    .summary = "change the state of a run by hand",
    .arguments = "THREAD[@SEQ]",
    .description =
        "Writes a checkpoint by hand that changes the state of a run, and says which. Nothing runs "
        "until the run is resumed. With @SEQ the change follows that checkpoint, and the run stands "
        "there.",
    .options = update_options,
    .examples = update_examples,
    .run = cmd_update,
};
