/* update.c - `pawl update`: changes the state of a run by hand. */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "options.h"
#include "output.h"
#include "place.h"
#include "settings.h"

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

static int update(const UpdateArgs *args) {
    Asking a;
    asking_begin(&a, &args->common);
    Json run = ask(&a, "run_update",
                   OBJECT_ADD(place_args(&args->place), KEY("set", json_ref(args->set)),
                              KEY("as_node", args->as_node)));
    if (!json_is_none(run) && args->common.json) {
        output_line(run);
    } else if (!json_is_none(run)) {
        Json thread = field_get(run, "thread");
        printf("%s@%" PRId64 "\n", text_in(&thread), field_number(run, "checkpoint", 0));
    }
    json_unref(run);
    return asking_end(&a);
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
        code = update(&args);
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
