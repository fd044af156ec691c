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

static bool on_argument(StoreCommand *c, const char *text) {
    if (c->action) {
        return options_complain(&command_store, "there is one thing too many: `%s`.", text);
    }
    c->action = text;
    return !strcmp(text, "check") ||
           options_complain(&command_store,
                            "`%s` is nothing to do with a store; it can `check` it.", text);
}

static bool on_option(void *ctx, const Option *option, char **values) {
    StoreCommand *c = ctx;
    if (!option) {
        return on_argument(c, values[0]);
    }
    if (!common_option(&c->common, option, values)) {
        c->thread = values[0];
    }
    return true;
}

/* ---- what is said ---- */

static const char *plural(int64_t n) {
    return n == 1 ? "" : "s";
}

static void print_problems(Json problems) {
    for (size_t i = 0; i < field_items(problems); i++) {
        Json one = json_array_get(problems, i);
        Json thread = field_get(one, "thread"), message = field_get(one, "message");
        int64_t seq = field_number(one, "checkpoint", 0);
        if (seq) {
            terminal_say(stdout, "%s@%lld: %s\n", text_in(&thread), (long long)seq,
                         text_in(&message));
        } else {
            terminal_say(stdout, "%s%s%s\n", text_in(&thread), *text_in(&thread) ? ": " : "",
                         text_in(&message));
        }
    }
}

static void print_text(Json report) {
    int64_t runs = field_number(report, "runs", 0),
            checkpoints = field_number(report, "checkpoints", 0);
    int64_t snapshots = field_number(report, "snapshots", 0);
    size_t problems = field_items(field_get(report, "problems"));
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

static int check(const StoreCommand *c) {
    Asking a;
    uv_timer_t dots;
    bool live = !c->common.json && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO);
    asking_begin(&a, &c->common);
    uv_timer_init(&a.loop, &dots);
    if (live) {
        uv_timer_start(&dots, on_second, 1000, 1000);
    }
    Json report = ask(&a, "store_check", OBJECT(KEY("thread", c->thread)));
    fputs(live ? "\r\x1b[K" : "", stderr);
    if (json_is_none(report)) {
        a.code = EXIT_USAGE; /* whatever cannot be read at all */
    } else if (c->common.json) {
        output_line(report);
    } else {
        print_text(report);
    }
    a.code = field_items(field_get(report, "problems")) ? EXIT_PROBLEMS : a.code;
    json_unref(report);
    uv_close((uv_handle_t *)&dots, NULL);
    return asking_end(&a);
}

int cmd_store(int argc, char **argv) {
    StoreCommand c = {.common = {.command = &command_store}};
    OptionsResult result = options_parse(&command_store, argc, argv, on_option, &c);
    if (result == OPTIONS_RUN && !c.action) {
        options_complain(&command_store, "what to do is missing; it can `check` the store.");
        result = OPTIONS_BAD;
    }
    return result == OPTIONS_RUN ? check(&c) : result == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
}
