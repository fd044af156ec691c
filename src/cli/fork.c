/* fork.c - `pawl fork`: a new thread that begins where another stands. */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "place.h"

#include <stdio.h>

typedef struct ForkArgs {
    Common common;
    Place place;
    const char *thread; /* NULL: one is made */
} ForkArgs;

static void show(const void *args, Json run) {
    (void)args;
    puts(field_string(run, "thread"));
}

static int act(void *ctx) {
    const ForkArgs *args = ctx;
    return ask_and_show(&args->common, "run_fork",
                        OBJECT_ADD(place_args(&args->place), KEY("new_thread", args->thread)),
                        show);
}

/* ---- the row ---- */

const Command command_fork = {
    .name = "fork",
    .summary = "begin a new run where another one stands or stood",
    .arguments = "THREAD[@SEQ]",
    .description =
        "Makes a new thread that begins as a copy of a run, as it is now or as it was at a "
        "checkpoint, and writes its name. Nothing runs until it is resumed; the first run stays as it "
        "is.",
    OPTIONS({"thread", 't', "ID", "the name of the new thread (run-N unless told)",
             TAKES(OPTION_NEW_THREAD, ForkArgs, thread)},
            STORE_ROW, SERVER_ROWS, JSON_ROW("as an object: run, thread, status, checkpoint")),
    EXAMPLES({"pawl fork review-7@12 --thread what-if", "a second run from checkpoint 12 on"},
             {"pawl resume \"$(pawl fork review-7@12)\"", "make it and go on with it"}),
    .args = sizeof(ForkArgs),
    .place = offsetof(ForkArgs, place),
    .act = act,
};
