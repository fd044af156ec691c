/* prune.c - `pawl prune`: checkpoints and runs that are no longer wanted go. */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "json_duration.h"
#include "options.h"
#include "output.h"
#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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

static bool parse_count(PruneCommand *c, const char *text) {
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || *end || errno || n < 1) {
        return options_complain(&command_prune,
                                "--keep-last takes a whole number from 1 on, not `%s`.", text);
    }
    c->keep_last = n;
    return true;
}

static bool parse_age(PruneCommand *c, const char *text) {
    Json value = json_string_c(text);
    c->has_age = json_duration(value, &c->age);
    json_unref(value);
    return c->has_age ||
           options_complain(&command_prune,
                            "--older-than takes a duration such as 30d, 12h or 90m, not `%s`.",
                            text);
}

static bool on_option(void *ctx, const Option *option, char **values) {
    PruneCommand *c = ctx;
    if (!option) {
        return options_complain(&command_prune,
                                "`%s` is one thing too many; a thread is given by --thread.",
                                values[0]);
    }
    if (common_option(&c->common, option, values)) {
        return true;
    }
    switch (option->id) {
    case PRUNE_KEEP_LAST: return parse_count(c, values[0]);
    case PRUNE_OLDER_THAN: return parse_age(c, values[0]);
    case PRUNE_THREAD: c->thread = values[0]; return true;
    default: c->finished_runs = true; return true; /* PRUNE_RUNS */
    }
}

static bool check_rule(const PruneCommand *c) {
    if (!c->keep_last && !c->has_age) {
        return options_complain(&command_prune,
                                "say what may go: --keep-last N, --older-than 30d or both.");
    }
    if (c->finished_runs && !c->has_age) {
        return options_complain(
            &command_prune, "--runs removes whole runs that have ended: say with --older-than how "
                            "long ago.");
    }
    return true;
}

/* ---- the work ---- */

static void print_text(Json r) {
    int64_t removed = field_number(r, "removed", 0), runs = field_number(r, "runs", 0);
    int64_t whole = field_number(r, "removed_runs", 0);
    printf("Removed %lld checkpoint%s and kept %lld in %lld run%s", (long long)removed,
           removed == 1 ? "" : "s", (long long)field_number(r, "kept", 0), (long long)runs,
           runs == 1 ? "" : "s");
    if (whole) {
        printf("; %lld run%s went whole", (long long)whole, whole == 1 ? "" : "s");
    }
    puts(".");
}

static void say_messages(Json list) {
    for (size_t i = 0; i < field_items(list); i++) {
        Json message = field_get(json_array_get(list, i), "message");
        terminal_say(stderr, "pawl prune: %s\n", text_in(&message));
    }
}

int cmd_prune(int argc, char **argv) {
    PruneCommand c = {.common = {.command = &command_prune}};
    OptionsResult parsed = options_parse(&command_prune, argc, argv, on_option, &c);
    Asking a;
    if (parsed != OPTIONS_RUN || !check_rule(&c)) {
        return parsed == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    }
    asking_begin(&a, &c.common);
    Json report = ask(&a, "run_prune",
                      OBJECT(KEY("thread", c.thread),
                             KEY("keep_last", c.keep_last ? json_int(c.keep_last) : json_none()),
                             KEY("older_than", c.has_age ? json_int(c.age) : json_none()),
                             KEY("finished_runs", c.finished_runs)));
    a.code = a.code == EXIT_OK ? a.code : EXIT_USAGE;
    if (!json_is_none(report)) {
        say_messages(field_get(report, "busy"));
        say_messages(field_get(report, "errors"));
        if (c.common.json) {
            output_line(report);
        } else {
            print_text(report);
        }
        a.code = field_items(field_get(report, "errors")) ? EXIT_DAMAGED : EXIT_OK;
    }
    json_unref(report);
    return asking_end(&a);
}
