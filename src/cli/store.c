/* store.c - `pawl store`: is everything that it holds what was put in; what it takes on disk; copies of it. */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "mem.h"
#include "options.h"
#include "output.h"
#include "terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_PROBLEMS = 1 };

typedef struct StoreCommand {
    Common common;
    const struct Action *action;
    const char *thread, *path;
} StoreCommand;

/* A thing to do with a store. */
typedef struct Action {
    const char *name, *operation;
    bool takes_path, takes_thread;
    const char *
        here; /* what it is called, of one that is done where the store is; NULL: a server does it, too */
    void (*say)(Json report);
} Action;

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

/* "4.2 MB" */
static const char *shown_size(int64_t bytes, char out[32]) {
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    double size = (double)bytes;
    size_t unit = 0;
    for (; size >= 1000 && unit < 4; unit++) size /= 1000;
    snprintf(out, 32, unit ? "%.1f %s" : "%.0f %s", size, units[unit]);
    return out;
}

static void print_compacted(Json report) {
    char before[32], after[32];
    int64_t busy = field_number(report, "busy", 0);
    printf("The store takes %s; it was %s.\n", shown_size(field_number(report, "after", 0), after),
           shown_size(field_number(report, "before", 0), before));
    if (busy) {
        printf("%" PRId64 " run%s under way and left as %s.\n", busy, busy == 1 ? " is" : "s are",
               busy == 1 ? "it is" : "they are");
    }
}

static void print_copied(Json report) {
    char size[32];
    terminal_say(stdout, "Copied to %s: %s.\n", field_string(report, "path"),
                 shown_size(field_number(report, "bytes", 0), size));
}

static void print_info(Json report) {
    int64_t runs = field_number(report, "runs", 0);
    terminal_say(stdout, "%s: %lld run%s%s.\n", field_string(report, "url"), (long long)runs,
                 plural(runs),
                 json_truthy(field_get(report, "durable")) ? "" : ", kept in memory only");
}

/* ---- the command ---- */

static const Action actions[] = {
    {"info", "store_info", .say = print_info},
    {"check", "store_check", .takes_thread = true, .say = print_text},
    {"compact", "store_compact", .here = "`pawl store compact`", .say = print_compacted},
    {"backup", "store_backup", .takes_path = true, .here = "`pawl store backup`",
     .say = print_copied},
    {0},
};

static bool on_action(void *ctx, const Option *option, char **values) {
    StoreCommand *c = ctx;
    (void)option;
    if (c->action && c->action->takes_path && !c->path) {
        c->path = values[0];
        return true;
    }
    if (c->action) {
        return options_complain(&command_store, "there is one thing too many: `%s`.", values[0]);
    }
    for (c->action = actions; c->action->name && strcmp(c->action->name, values[0]) != 0;) {
        c->action++;
    }
    return c->action->name ||
           options_complain(&command_store,
                            "`%s` is nothing to do with a store; it can tell its `info`, `check`, "
                            "`compact` and `backup` it.",
                            values[0]);
}

static Json whole_path(const char *path) {
    if (path[0] == '/') return json_string_c(path);
    char *here = getcwd(NULL, 0);
    Json whole = json_string_fmt("%s/%s", here ? here : "", path);
    free(here);
    return whole;
}

static bool is_complete(const StoreCommand *c) {
    if (!c->action) {
        return options_complain(
            &command_store,
            "what to do is missing; it can `info`, `check`, `compact` and `backup`.");
    }
    if (c->thread && !c->action->takes_thread) {
        return options_complain(&command_store, "--thread goes with `check`: `%s` is for all runs.",
                                c->action->name);
    }
    return c->path || !c->action->takes_path ||
           options_complain(&command_store, "say where the copy goes: `pawl store backup FILE`.");
}

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
    if (!is_complete(c)) return EXIT_USAGE;
    if (c->action->here && !cli_is_here(&c->common, c->action->here)) return EXIT_USAGE;
    bool live = !c->common.json && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO);
    asking_begin(&a, &c->common);
    uv_timer_init(&a.loop, &dots);
    if (live) uv_timer_start(&dots, on_second, 1000, 1000);
    Json path = c->path ? whole_path(c->path) : json_none();
    Json report =
        ask(&a, c->action->operation, OBJECT(KEY("thread", c->thread), KEY("path", path)));
    fputs(live ? "\r\x1b[K" : "", stderr);
    if (c->common.json && !json_is_none(report)) {
        output_line(report);
    } else if (!json_is_none(report)) {
        c->action->say(report);
    }
    a.code = json_array_len(field_get(report, "problems")) ? EXIT_PROBLEMS : a.code;
    json_unref(report);
    uv_close((uv_handle_t *)&dots, NULL);
    return asking_end(&a);
}

/* ---- the row ---- */

const Command command_store = {
    .name = "store",
    .summary = "look at, verify, compact or back up a store",
    .arguments = "info|check|compact|backup [FILE]",
    .description =
        "`info` says what it is and how many runs it has.\n\n"
        "`check` reads every checkpoint that a store holds and verifies it: its checksum, its parent, "
        "that the states between two of them can be rebuilt, and where each run stands. Nothing is "
        "changed.\n\n"
        "`compact` gives back to the disk what the store no longer needs. Runs may be under way; only "
        "a database that an earlier version made has to wait until nothing runs, once.\n\n"
        "`backup FILE` copies the store while others may write to it, to a place that has nothing at "
        "it yet: an SQLite database to a file, a store in a folder to a folder. The copy is a store "
        "like any other (`--store sqlite:FILE`, `--store file:FILE`), and its runs can be resumed.\n\n"
        "Exit codes: 0, all is well; 1, something is damaged, which is said; 2, the command line is "
        "wrong or there is no such store; 4, it cannot be done while runs are under way; 5, the store "
        "cannot be read or written.",
    OPTIONS({"thread", 't', "ID", "check: only this run", TAKES(OPTION_TEXT, StoreCommand, thread)},
            STORE_ROW, SERVER_ROWS, JSON_ROW("as an object: what was found, or how large it is")),
    EXAMPLES(
        {"pawl store check", "verify every checkpoint of every run"},
        {"pawl store check --thread review-7 --store file:runs", "of one run, in another store"},
        {"pawl store compact", "after much was pruned"},
        {"pawl store backup monday.db", "a copy, while runs go on"}),
    .completes = COMPLETE_WORDS,
    .words = "info check compact backup",
    .args = sizeof(StoreCommand),
    .handle = on_action,
    .act = act,
};
