/* store.c - `pawl store check`: is everything that the store holds what was put in? */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "options.h"
#include "output.h"
#include "terminal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_PROBLEMS = 1 };

typedef struct StoreCommand {
    Common common;
    const char *action, *thread;
} StoreCommand;

static bool on_action(void *ctx, const Option *option, char **values) {
    StoreCommand *c = ctx;
    (void)option;
    if (c->action) {
        return options_complain(&command_store, "there is one thing too many: `%s`.", values[0]);
    }
    c->action = values[0];
    return !strcmp(c->action, "check") ||
           options_complain(&command_store,
                            "`%s` is nothing to do with a store; it can `check` it.", c->action);
}

/* ---- what is said ---- */

static const char *plural(int64_t n) {
    return n == 1 ? "" : "s";
}

static void print_problems(Json problems) {
    for (size_t i = 0; i < json_array_len(problems); i++) {
        Json one = json_array_get(problems, i);
        const char *thread = field_string(one, "thread"), *message = field_string(one, "message");
        int64_t seq = field_number(one, "checkpoint", 0);
        if (seq) {
            terminal_say(stdout, "%s@%lld: %s\n", thread, (long long)seq, message);
        } else {
            terminal_say(stdout, "%s%s%s\n", thread, *thread ? ": " : "", message);
        }
    }
}

static void print_text(Json report) {
    int64_t runs = field_number(report, "runs", 0),
            checkpoints = field_number(report, "checkpoints", 0);
    int64_t snapshots = field_number(report, "snapshots", 0);
    size_t problems = json_array_len(field_get(report, "problems"));
    print_problems(field_get(report, "problems"));
    printf("Checked %lld run%s with %lld checkpoint%s and %lld snapshot%s: ", (long long)runs,
           plural(runs), (long long)checkpoints, plural(checkpoints), (long long)snapshots,
           plural(snapshots));
    if (problems) {
        printf("%zu problem%s.\n", problems, plural((int64_t)problems));
    } else {
        puts("all is well.");
    }
}

/* ---- the command ---- */

/* A sign of life while it reads: on a terminal, a second that passes is a dot. */
static void on_second(uv_timer_t *timer) {
    (void)timer;
    fputc('.', stderr);
    fflush(stderr);
}

static int act(void *ctx) {
    const StoreCommand *c = ctx;
    Asking a;
    uv_timer_t dots;
    if (!c->action) {
        options_complain(&command_store, "what to do is missing; it can `check` the store.");
        return EXIT_USAGE;
    }
    bool live = !c->common.json && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO);
    asking_begin(&a, &c->common);
    uv_timer_init(&a.loop, &dots);
    if (live) uv_timer_start(&dots, on_second, 1000, 1000);
    Json report = ask(&a, "store_check", OBJECT(KEY("thread", c->thread)));
    fputs(live ? "\r\x1b[K" : "", stderr);
    if (c->common.json && !json_is_none(report)) {
        output_line(report);
    } else if (!json_is_none(report)) {
        print_text(report);
    }
    a.code = json_array_len(field_get(report, "problems")) ? EXIT_PROBLEMS : a.code;
    json_unref(report);
    uv_close((uv_handle_t *)&dots, NULL);
    return asking_end(&a);
}

/* ---- the row ---- */

const Command command_store = {
    .name = "store",
    .summary = "verify a store",
    .arguments = "check",
    .description =
        "Reads every checkpoint that a store holds and verifies it: its checksum, its parent, that "
        "the states between two of them can be rebuilt, and where each run stands. Nothing is "
        "changed.\n\n"
        "Exit codes: 0, all is well; 1, something is damaged, which is said; 2, the command line is "
        "wrong or there is no such store; 5, the store cannot be read.",
    OPTIONS({"thread", 't', "ID", "only this run", TAKES(OPTION_TEXT, StoreCommand, thread)},
            STORE_ROW, JSON_ROW("as an object: runs, checkpoints, snapshots, problems")),
    EXAMPLES(
        {"pawl store check", "verify every checkpoint of every run"},
        {"pawl store check --thread review-7 --store file:runs", "of one run, in another store"}),
    .completes = COMPLETE_WORDS,
    .words = "check",
    .args = sizeof(StoreCommand),
    .handle = on_action,
    .act = act,
};
