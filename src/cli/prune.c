/* prune.c - `pawl prune`: checkpoints and runs that are no longer wanted go. */
#include "attach.h"
#include "command.h"
#include "options.h"
#include "output.h"
#include "stores.h"

#include "json_duration.h"
#include "mem.h"
#include "process.h"
#include "result.h"
#include "store_chain.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_DAMAGED = 1 };

typedef struct PruneCommand {
    Common common;
    const char *thread;
    bool has_keep_last;
    PruneRule rule;
    /* the runs to look at: their numbers and names are all that is needed */
    RunRow *rows;
    size_t len, cap;
    PruneReport report;
    Json busy, errors;
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
    c->rule.keep_last = n;
    c->has_keep_last = true;
    return true;
}

static bool parse_age(PruneCommand *c, const char *text) {
    struct timespec now;
    int64_t age = 0;
    Json value = json_string_c(text);
    bool ok = json_duration(value, &age);
    json_unref(value);
    clock_gettime(CLOCK_REALTIME, &now);
    c->rule.older_than = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - age;
    /* 0 would mean "of any age" */
    c->rule.older_than = c->rule.older_than > 0 ? c->rule.older_than : 1;
    return ok || options_complain(
                     &command_prune,
                     "--older-than takes a duration such as 30d, 12h or 90m, not `%s`.", text);
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
    default: c->rule.finished_runs = true; return true; /* PRUNE_RUNS */
    }
}

static bool check_rule(const PruneCommand *c) {
    if (!c->has_keep_last && !c->rule.older_than) {
        return options_complain(&command_prune,
                                "say what may go: --keep-last N, --older-than 30d or both.");
    }
    if (c->rule.finished_runs && !c->rule.older_than) {
        return options_complain(
            &command_prune, "--runs removes whole runs that have ended: say with --older-than how "
                            "long ago.");
    }
    return true;
}

/* ---- the work ---- */

static bool add_row(void *ctx, const RunRow *row) {
    PruneCommand *c = ctx;
    c->rows = mem_grow(c->rows, c->len, &c->cap, sizeof *c->rows);
    c->rows[c->len++] =
        (RunRow){.run = row->run, .thread = mem_strndup(row->thread, strlen(row->thread))};
    return true;
}

static bool collect(PruneCommand *c, Store *s, Error *err) {
    RunRow row = {0};
    if (!c->thread) {
        return store_runs(s, add_row, c, err);
    }
    bool ok = store_find(s, c->thread, &row, err) && add_row(c, &row);
    run_row_clear(&row);
    return ok;
}

static void add_error(PruneCommand *c, const RunRow *row, const Error *err) {
    cli_fail(&command_prune, err);
    Json o = output_set(json_object(), "thread", json_string_c(row->thread));
    o = output_set(o, "message", json_string_c(err->msg));
    c->errors = json_array_push(c->errors, o);
}

/* What is left of a command of a run that is gone: nobody will ask for its result any more. */
static bool remove_place(const char *folder, const char *name, Error *err) {
    Buf place = BUF_INIT;
    buf_printf(&place, "%s/%s", folder, name);
    bool stopped = process_stop_place(place.data, err);
    if (stopped) {
        process_forget(place.data);
    }
    buf_clear(&place);
    return stopped;
}

static void remove_places(PruneCommand *c, Store *s, const RunRow *row) {
    Error err = ERROR_INIT;
    char prefix[32];
    const char *folder = store_folder(s, &err);
    DIR *dir = folder ? opendir(folder) : NULL;
    size_t len = (size_t)snprintf(prefix, sizeof prefix, "%lld-", (long long)row->run);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!strncmp(entry->d_name, prefix, len) && !remove_place(folder, entry->d_name, &err)) {
            add_error(c, row, &err);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

/* A run that somebody is running is left alone; one that is damaged does not keep the others. */
static void prune_run(PruneCommand *c, Store *s, const RunRow *row) {
    Error err = ERROR_INIT;
    int64_t gone = c->report.removed_runs;
    c->rule.result = result_by_value;
    bool pruned = chain_prune(s, row, &c->rule, &c->report, &err);
    if (pruned && c->report.removed_runs > gone) {
        remove_places(c, s, row);
        if (!attach_forget(s, row->run, &err)) {
            add_error(c, row, &err);
        }
    } else if (!pruned && err.code == ERR_BUSY) {
        cli_fail(&command_prune, &err);
        c->busy = json_array_push(c->busy, json_string_c(row->thread));
    } else if (!pruned) {
        add_error(c, row, &err);
    }
}

static void print_json(const PruneCommand *c) {
    const PruneReport *r = &c->report;
    Json o = output_set(json_object(), "runs", json_int(r->runs));
    o = output_set(o, "removed_runs", json_int(r->removed_runs));
    o = output_set(o, "removed", json_int(r->removed));
    o = output_set(o, "kept", json_int(r->kept));
    o = output_set(o, "folded", json_int(r->folded));
    o = output_set(o, "busy", json_ref(c->busy));
    o = output_set(o, "errors", json_ref(c->errors));
    output_line(o);
    json_unref(o);
}

static void print_text(const PruneCommand *c) {
    const PruneReport *r = &c->report;
    printf("Removed %lld checkpoint%s and kept %lld in %lld run%s", (long long)r->removed,
           r->removed == 1 ? "" : "s", (long long)r->kept, (long long)r->runs,
           r->runs == 1 ? "" : "s");
    if (r->removed_runs) {
        printf("; %lld run%s went whole", (long long)r->removed_runs,
               r->removed_runs == 1 ? "" : "s");
    }
    puts(".");
}

static int prune(PruneCommand *c, Error *err) {
    Store *s = store_open(cli_store_url(c->common.store), STORE_EXISTING, err);
    bool ok = s && collect(c, s, err);
    for (size_t i = 0; i < c->len; i++) {
        if (ok) {
            prune_run(c, s, &c->rows[i]);
        }
        run_row_clear(&c->rows[i]);
    }
    store_close(s);
    if (!ok) {
        cli_fail(&command_prune, err);
        return EXIT_USAGE;
    }
    if (c->common.json) {
        print_json(c);
    } else {
        print_text(c);
    }
    return json_array_len(c->errors) ? EXIT_DAMAGED : EXIT_OK;
}

int cmd_prune(int argc, char **argv) {
    PruneCommand c = {
        .common = {.command = &command_prune}, .busy = json_array(), .errors = json_array()};
    Error err = ERROR_INIT;
    OptionsResult result = options_parse(&command_prune, argc, argv, on_option, &c);
    if (result == OPTIONS_RUN && !check_rule(&c)) {
        result = OPTIONS_BAD;
    }
    int code = result == OPTIONS_RUN     ? prune(&c, &err)
               : result == OPTIONS_SHOWN ? EXIT_OK
                                         : EXIT_USAGE;
    mem_free(c.rows);
    json_unref(c.busy);
    json_unref(c.errors);
    return code;
}
