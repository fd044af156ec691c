/* show.c - `pawl show`: the state of a run. */
#include "asking.h"
#include "fields.h"
#include "output.h"
#include "place.h"

typedef struct ShowArgs {
    Common common;
    Place place;
    bool compact;
} ShowArgs;

static int act(void *ctx) {
    const ShowArgs *args = ctx;
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

/* ---- the row ---- */

const Command command_show = {
    .name = "show",
    .summary = "show the state of a run",
    .arguments = "THREAD[@SEQ]",
    .description = "Writes the state of a run as JSON: as it is now, or as it was at a checkpoint.",
    OPTIONS({"compact", 'c', NULL, "on one line", TAKES(OPTION_FLAG, ShowArgs, compact)}, STORE_ROW,
            SERVER_ROWS, JSON_ROW("on one line, as --compact")),
    EXAMPLES(
        {"pawl show review-7", "the state as it is now"},
        {"pawl show review-7@12 | pawl eval .errors", "one part of it as it was at checkpoint 12"}),
    .args = sizeof(ShowArgs),
    .place = offsetof(ShowArgs, place),
    .act = act,
};
