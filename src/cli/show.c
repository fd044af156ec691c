/* show.c - `pawl show`: the state of a run. */
#include "asking.h"
#include "fields.h"
#include "options.h"
#include "output.h"
#include "place.h"

enum { SHOW_COMPACT };

typedef struct ShowArgs {
    Common common;
    Place place;
    bool compact;
} ShowArgs;

static bool on_option(void *ctx, const Option *option, char **values) {
    ShowArgs *args = ctx;
    if (!option) {
        return place_argument(&command_show, values[0], &args->place);
    }
    if (!common_option(&args->common, option, values)) {
        args->compact = true;
    }
    return true;
}

static int show(const ShowArgs *args) {
    Asking a;
    asking_begin(&a, &args->common);
    Json answer = ask(&a, "run_state", place_args(&args->place));
    Json state = field_get(answer, "state");
    if (!json_is_none(state) && (args->compact || args->common.json)) {
        output_line(state);
    } else if (!json_is_none(state)) {
        output_pretty(state);
    }
    json_unref(answer);
    return asking_end(&a);
}

static int cmd_show(int argc, char **argv) {
    ShowArgs args = {.common = {.command = &command_show}};
    OptionsResult parsed = options_parse(&command_show, argc, argv, on_option, &args);
    int code = parsed == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    if (parsed == OPTIONS_RUN && !args.place.thread) {
        options_complain(&command_show, "which run? It takes THREAD or THREAD@SEQ.");
    } else if (parsed == OPTIONS_RUN) {
        code = show(&args);
    }
    place_clear(&args.place);
    return code;
}

/* ---- the row ---- */

static const Option show_options[] = {
    {"compact", 'c', NULL, "on one line", COMPLETE_NOTHING, SHOW_COMPACT},
    STORE_ROW,
    JSON_ROW("on one line, as --compact"),
    {0},
};

static const Example show_examples[] = {
    {"pawl show review-7", "the state as it is now"},
    {"pawl show review-7@12 | pawl eval .errors", "one part of it as it was at checkpoint 12"},
    {0},
};

const Command command_show = {
    .name = "show",
    .summary = "show the state of a run",
    .arguments = "THREAD[@SEQ]",
    .description = "Writes the state of a run as JSON: as it is now, or as it was at a checkpoint.",
    .options = show_options,
    .examples = show_examples,
    .run = cmd_show,
};
