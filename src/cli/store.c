/* store.c - `pawl store check`: is everything that the store holds what was put in? */
#include "command.h"
#include "options.h"
#include "output.h"
#include "stores.h"

#include "store_chain.h"
#include "terminal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_PROBLEMS = 1 };

typedef struct StoreCommand {
    Common common;
    const char *action, *thread;
    bool live; /* a line that is written over, on a terminal */
    Json problems;
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

/* ---- what is found on the way ---- */

static void clear_line(const StoreCommand *c) {
    if (c->live) {
        fputs("\r\x1b[K", stderr);
    }
}

static Json problem_object(const char *thread, int64_t seq, const char *sentence) {
    Json o = output_set(json_object(), "thread", output_text(*thread ? thread : NULL));
    o = output_set(o, "checkpoint", seq ? json_int(seq) : json_null());
    return output_set(o, "message", json_string_c(sentence));
}

static void on_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    StoreCommand *c = ctx;
    if (c->common.json) {
        c->problems = json_array_push(c->problems, problem_object(thread, seq, sentence));
        return;
    }
    clear_line(c);
    if (seq) {
        terminal_say(stdout, "%s@%lld: %s\n", thread, (long long)seq, sentence);
    } else if (*thread) {
        terminal_say(stdout, "%s: %s\n", thread, sentence);
    } else {
        terminal_say(stdout, "%s\n", sentence);
    }
}

static void on_progress(void *ctx, const RunRow *row, int64_t checkpoints) {
    const StoreCommand *c = ctx;
    if (c->live) {
        fprintf(stderr, "\r\x1b[K%lld checkpoints, in %.60s", (long long)checkpoints, row->thread);
        fflush(stderr);
    }
}

/* ---- what is said in the end ---- */

static const char *plural(int64_t n) {
    return n == 1 ? "" : "s";
}

static void print_text(const CheckReport *r) {
    printf("Checked %lld run%s with %lld checkpoint%s and %lld snapshot%s: ", (long long)r->runs,
           plural(r->runs), (long long)r->checkpoints, plural(r->checkpoints),
           (long long)r->snapshots, plural(r->snapshots));
    if (r->problems) {
        printf("%lld problem%s.\n", (long long)r->problems, plural(r->problems));
    } else {
        puts("all is well.");
    }
}

static void print_json(StoreCommand *c, const CheckReport *r) {
    Json o = output_set(json_object(), "ok", json_bool(!r->problems));
    o = output_set(o, "runs", json_int(r->runs));
    o = output_set(o, "checkpoints", json_int(r->checkpoints));
    o = output_set(o, "snapshots", json_int(r->snapshots));
    o = output_set(o, "problems", json_take(&c->problems));
    output_line(o);
    json_unref(o);
}

/* Whatever cannot be read at all. */
static int fail(const Error *err) {
    cli_fail(&command_store, err);
    return EXIT_USAGE;
}

static int check(StoreCommand *c, Store *s) {
    Error err = ERROR_INIT;
    RunRow row = {0};
    CheckReport report;
    CheckHost host = {on_problem, on_progress, c};
    if (c->thread && !store_find(s, c->thread, &row, &err)) {
        return fail(&err);
    }
    bool ok = chain_check(s, row.run, &host, &report, &err);
    clear_line(c);
    run_row_clear(&row);
    if (!ok) {
        return fail(&err);
    }
    if (c->common.json) {
        print_json(c, &report);
    } else {
        print_text(&report);
    }
    return report.problems ? EXIT_PROBLEMS : EXIT_OK;
}

int cmd_store(int argc, char **argv) {
    StoreCommand c = {.common = {.command = &command_store}, .problems = json_array()};
    Error err = ERROR_INIT;
    OptionsResult result = options_parse(&command_store, argc, argv, on_option, &c);
    if (result == OPTIONS_RUN && !c.action) {
        options_complain(&command_store, "what to do is missing; it can `check` the store.");
        result = OPTIONS_BAD;
    }
    int code = result == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    if (result == OPTIONS_RUN) {
        c.live = !c.common.json && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO);
        Store *s = store_open(cli_store_url(c.common.store), STORE_READ, &err);
        code = s ? check(&c, s) : fail(&err);
        store_close(s);
    }
    json_unref(c.problems);
    return code;
}
