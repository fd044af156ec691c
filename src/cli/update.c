/* update.c - `pawl update`: changes the state of a run by hand. */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "options.h"
#include "place.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct UpdateArgs {
    Common common;
    Place place;
    Json set;
    const char *as_node;
} UpdateArgs;

static void show(const void *args, Json run) {
    (void)args;
    printf("%s@%" PRId64 "\n", field_string(run, "thread"), field_number(run, "checkpoint", 0));
}

static int act(void *ctx) {
    const UpdateArgs *args = ctx;
    if (json_is_none(args->set) && !args->as_node) {
        options_complain(&command_update, "what is to change? Say it with --set PATH=JSON, "
                                          "--as-node NODE or both.");
        return EXIT_USAGE;
    }
    return ask_and_show(&args->common, "run_update",
                        OBJECT_ADD(place_args(&args->place), KEY("set", json_ref(args->set)),
                                   KEY("as_node", args->as_node)),
                        show);
}

/* ---- the row ---- */

const Command command_update = {
    .name = "update",
    .summary = "change the state of a run by hand",
    .arguments = "THREAD[@SEQ]",
    .description =
        "Writes a checkpoint by hand that changes the state of a run, and says which. Nothing runs "
        "until the run is resumed. With @SEQ the change follows that checkpoint, and the run stands "
        "there.",
    OPTIONS(
        {"set", 0, "PATH=JSON", "the value to set, as user.name='\"Ada\"'; may be given many times",
         TAKES(OPTION_SETTINGS, UpdateArgs, set)},
        {"as-node", 0, "NODE", "as if this node had given them back: the run then stands after it",
         TAKES(OPTION_TEXT, UpdateArgs, as_node)},
        STORE_ROW, SERVER_ROWS, JSON_ROW("as an object: run, thread, checkpoint")),
    EXAMPLES(
        {"pawl update review-7 --set errors=0", "change one value; the run stands where it stood"},
        {"pawl update review-7 --set analysis='{\"files\": 3}' --as-node analyze",
         "give the result of a node by hand"},
        {"pawl update review-7 --as-node analyze", "go on after a node without doing it"}),
    .args = sizeof(UpdateArgs),
    .place = offsetof(UpdateArgs, place),
    .act = act,
};
