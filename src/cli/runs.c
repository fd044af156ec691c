/* runs.c - `pawl runs`: the runs that a store holds. */
#include "mem.h"
#include "options.h"
#include "output.h"
#include "stores.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { RUNS_STATUS, RUNS_LIMIT };

#define STATUS_WORDS "pending|running|stopped|interrupted|paused|completed|failed|cancelled"

typedef struct RunsArgs {
    Common common;
    const char *status; /* NULL: any */
    int64_t limit;      /* 0: all */
} RunsArgs;

static bool on_option(void *ctx, const Option *option, char **values) {
    RunsArgs *args = ctx;
    if (common_option(&args->common, option, values)) {
        return true;
    }
    if (option->id == RUNS_LIMIT) {
        return options_number(&command_runs, option, values[0], 1, &args->limit);
    }
    args->status = values[0];
    return options_word(&command_runs, option, values[0]) >= 0;
}

/* Rows are gathered first: whether a run's process is alive can only be asked afterwards. */
typedef struct Rows {
    RunRow *items;
    size_t n, cap;
} Rows;

static char *copy(const char *text) {
    return mem_strndup(text ? text : "", text ? strlen(text) : 0);
}

static bool gather(void *ctx, const RunRow *row) {
    Rows *rows = ctx;
    rows->items = mem_grow(rows->items, rows->n, &rows->cap, sizeof *rows->items);
    RunRow *out = &rows->items[rows->n++];
    *out = *row;
    out->thread = copy(row->thread);
    out->workflow = copy(row->workflow);
    out->status = copy(row->status);
    out->definition = copy(row->definition);
    out->owner = copy(row->owner);
    return true;
}

static void rows_clear(Rows *rows) {
    for (size_t i = 0; i < rows->n; i++) {
        run_row_clear(&rows->items[i]);
    }
    mem_free(rows->items);
}

static void put_json(Store *store, bool first, const RunRow *row, const char *status) {
    char created[OUTPUT_TIME_MAX], updated[OUTPUT_TIME_MAX];
    Json entry = output_set(json_object(), "run", json_int(row->run));
    entry = output_set(entry, "thread", json_string_c(row->thread));
    entry = output_set(entry, "workflow", json_string_c(row->workflow));
    entry = output_set(entry, "status", json_string_c(status));
    entry = output_set(entry, "checkpoint", row->head ? json_int(row->head) : json_null());
    entry = output_set(entry, "created", json_string_c(output_time(row->created, created)));
    entry = output_set(entry, "updated", json_string_c(output_time(row->updated, updated)));
    entry = output_set(entry, "owner", cli_run_owner(store, row));
    fputs(first ? "\n" : ",\n", stdout);
    output_print(entry);
    json_unref(entry);
}

static void add_row(Table *table, const RunRow *row, const char *status) {
    char run[32], head[32], updated[OUTPUT_TIME_MAX];
    snprintf(run, sizeof run, "%" PRId64, row->run);
    snprintf(head, sizeof head, "%" PRId64, row->head);
    const char *cells[] = {row->thread, run,  row->workflow,
                           status,      head, output_time(row->updated, updated)};
    table_row(table, cells);
}

static void write_rows(const RunsArgs *args, Store *store, const Rows *rows) {
    static const char *const heading[] = {"THREAD", "RUN", "WORKFLOW", "STATUS", "SEQ", "UPDATED"};
    Table table = {.columns = 6};
    int64_t shown = 0;
    table_row(&table, heading);
    fputs(args->common.json ? "[" : "", stdout);
    for (size_t i = 0; i < rows->n && !(args->limit && shown >= args->limit); i++) {
        const char *status = cli_run_status(store, &rows->items[i]);
        if (args->status && strcmp(args->status, status) != 0) {
            continue;
        }
        if (args->common.json) {
            put_json(store, shown == 0, &rows->items[i], status);
        } else {
            add_row(&table, &rows->items[i], status);
        }
        shown++;
    }
    if (args->common.json) {
        fputs(shown ? "\n]\n" : "]\n", stdout);
    } else {
        table_print(&table);
    }
    table_clear(&table);
}

static int runs(const RunsArgs *args) {
    int code = EXIT_OK;
    Rows rows = {0};
    Error err = ERROR_INIT;
    Store *store = cli_store_look(&args->common, &code);
    if (store && store_runs(store, gather, &rows, &err)) {
        write_rows(args, store, &rows);
    } else if (store) {
        code = cli_fail(&command_runs, &err);
    }
    rows_clear(&rows);
    store_close(store);
    return code;
}

static int cmd_runs(int argc, char **argv) {
    RunsArgs args = {.common = {.command = &command_runs}};
    OptionsResult parsed = options_parse(&command_runs, argc, argv, on_option, &args);
    return parsed == OPTIONS_RUN ? runs(&args) : parsed == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
}

/* ---- the row ---- */

static const Option runs_options[] = {
    {"status", 's', STATUS_WORDS, "only those that are there", COMPLETE_WORDS, RUNS_STATUS},
    {"limit", 'n', "N", "only the N that changed last", COMPLETE_NOTHING, RUNS_LIMIT},
    STORE_ROW,
    JSON_ROW("as an array of objects"),
    {0},
};

static const Example runs_examples[] = {
    {"pawl runs", "all of them, the one that changed last first"},
    {"pawl runs --status interrupted", "those that wait for somebody"},
    {0},
};

const Command command_runs = {
    .name = "runs",
    .summary = "list the runs",
    .arguments = "",
    .description = "Lists the runs in the store, the one that changed last first. A run that is "
                   "`stopped` was under way when its process ended; `pawl resume` goes on with it. "
                   "One that is `paused` was stopped by a debugger: `pawl debug` looks into it.",
    .options = runs_options,
    .examples = runs_examples,
    .run = cmd_runs,
};
