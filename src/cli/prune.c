/* prune.c - `pawl prune`: checkpoints and runs that are no longer wanted go. */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "json_duration.h"
#include "options.h"
#include "output.h"
#include "terminal.h"

#include <stdio.h>

enum { EXIT_DAMAGED = 1 };

typedef struct PruneCommand {
    Common common;
    const char *thread;
    int64_t keep_last; /* 0: it was not said */
    bool has_age;
    int64_t age; /* milliseconds */
    bool finished_runs;
} PruneCommand;

/* ---- the command line ---- */

static bool on_option(void *ctx, const Option *option, char **values) {
    PruneCommand *c = ctx;
    (void)option;
    Json value = json_string_c(values[0]);
    c->has_age = json_duration(value, &c->age);
    json_unref(value);
    return c->has_age ||
           options_complain(&command_prune,
                            "--older-than takes a duration such as 30d, 12h or 90m, not `%s`.",
                            values[0]);
}

/* ---- the work ---- */

static void print_text(Json r) {
    int64_t removed = field_number(r, "removed", 0), runs = field_number(r, "runs", 0);
    int64_t whole = field_number(r, "removed_runs", 0);
    printf("Removed %lld checkpoint%s and kept %lld in %lld run%s", (long long)removed,
           removed == 1 ? "" : "s", (long long)field_number(r, "kept", 0), (long long)runs,
           runs == 1 ? "" : "s");
    if (whole) printf("; %lld run%s went whole", (long long)whole, whole == 1 ? "" : "s");
    puts(".");
}

static void say_messages(Json list) {
    for (size_t i = 0; i < json_array_len(list); i++) {
        terminal_say(stderr, "pawl prune: %s\n", field_string(json_array_get(list, i), "message"));
    }
}

static int act(void *ctx) {
    const PruneCommand *c = ctx;
    Asking a;
    if (!c->keep_last && !c->has_age) {
        options_complain(&command_prune,
                         "say what may go: --keep-last N, --older-than 30d or both.");
        return EXIT_USAGE;
    }
    if (c->finished_runs && !c->has_age) {
        options_complain(&command_prune,
                         "--runs removes whole runs that have ended: say with --older-than how "
                         "long ago.");
        return EXIT_USAGE;
    }
    asking_begin(&a, &c->common);
    Json report = ask(&a, "run_prune",
                      OBJECT(KEY("thread", c->thread),
                             KEY("keep_last", c->keep_last ? json_int(c->keep_last) : json_none()),
                             KEY("older_than", c->has_age ? json_int(c->age) : json_none()),
                             KEY("finished_runs", c->finished_runs)));
    if (!json_is_none(report)) {
        say_messages(field_get(report, "busy"));
        say_messages(field_get(report, "errors"));
        if (c->common.json) {
            output_line(report);
        } else {
            print_text(report);
        }
        a.code = json_array_len(field_get(report, "errors"))              ? EXIT_DAMAGED
                 : c->thread && json_array_len(field_get(report, "busy")) ? EXIT_BUSY
                                                                          : EXIT_OK;
    }
    json_unref(report);
    return asking_end(&a);
}

/* ---- the row ---- */

const Command command_prune = {
    .name = "prune",
    .summary = "remove old checkpoints",
    .arguments = "",
    .description =
        "Removes checkpoints that are no longer wanted. Where a run stands, and what is still needed "
        "to rebuild a checkpoint that is kept, stays or is folded into it first; every kept "
        "checkpoint can be shown and resumed as before.",
    OPTIONS({"keep-last", 'k', "N",
             "keep the newest N checkpoints of each run (at least 1 is kept)",
             TAKES(OPTION_COUNT, PruneCommand, keep_last)},
            {"older-than", 'o', "DURATION", "only what is older than this, as 30d or 12h",
             .kind = OPTION_OWN},
            {"thread", 't', "ID", "only this run", TAKES(OPTION_TEXT, PruneCommand, thread)},
            {"runs", 0, NULL, "remove runs whole that have ended and are older than that",
             TAKES(OPTION_FLAG, PruneCommand, finished_runs)},
            STORE_ROW, SERVER_ROWS,
            JSON_ROW("as an object: runs, removed_runs, removed, kept, folded")),
    EXAMPLES({"pawl prune --keep-last 100", "keep the last hundred checkpoints of each run"},
             {"pawl prune --older-than 30d --runs", "forget runs that ended a month ago"}),
    .args = sizeof(PruneCommand),
    .handle = on_option,
    .act = act,
};
