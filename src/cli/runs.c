/* runs.c - `pawl runs`: the runs that a store holds. */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "output.h"

#include <inttypes.h>
#include <stdio.h>

#define STATUS_WORDS "pending|running|stopped|interrupted|paused|completed|failed|cancelled"

typedef struct RunsArgs {
    Common common;
    const char *status, *workflow, *search; /* NULL: any */
    Json since, before;                     /* times; JSON_NONE: any */
    int64_t limit;                          /* 0: all */
} RunsArgs;

static void add_row(Table *table, Json run) {
    char number[32], head[32];
    snprintf(number, sizeof number, "%" PRId64, field_number(run, "run", 0));
    snprintf(head, sizeof head, "%" PRId64, field_number(run, "checkpoint", 0));
    const char *cells[] = {field_string(run, "thread"), number, field_string(run, "workflow"),
                           field_string(run, "status"), head,   field_string(run, "updated")};
    table_row(table, cells);
}

/* One page after the other: memory does not grow with what is written as JSON. */
static int act(void *ctx) {
    const RunsArgs *args = ctx;
    static const char *const heading[] = {"THREAD", "RUN", "WORKFLOW", "STATUS", "SEQ", "UPDATED"};
    enum { PAGE = 1000 };
    Asking a;
    Table table = {.columns = 6};
    int64_t shown = 0, pages = 0; /* a page may be empty, and not the last */
    Json after = json_none();
    table_row(&table, heading);
    asking_begin(&a, &args->common);
    do {
        int64_t left = args->limit && args->limit - shown < PAGE ? args->limit - shown : PAGE;
        Json page = ask(&a, "runs",
                        OBJECT(KEY("status", args->status), KEY("workflow", args->workflow),
                               KEY("search", args->search), KEY("since", json_ref(args->since)),
                               KEY("before", json_ref(args->before)),
                               KEY("after", json_take(&after)), KEY("limit", left)));
        Json list = field_get(page, "runs");
        if (json_is_none(page)) break;
        fputs(args->common.json && !pages++ ? "[" : "", stdout);
        for (size_t i = 0; i < json_array_len(list); i++, shown++) {
            if (args->common.json) {
                fputs(shown ? ",\n" : "\n", stdout);
                output_print(json_array_get(list, i));
            } else {
                add_row(&table, json_array_get(list, i));
            }
        }
        after =
            args->limit && shown >= args->limit ? json_none() : json_ref(field_get(page, "next"));
        json_unref(page);
    } while (!json_is_none(after));
    if (a.code == EXIT_OK && args->common.json) {
        fputs(shown ? "\n]\n" : "]\n", stdout);
    } else if (a.code == EXIT_OK) {
        table_print(&table);
    }
    table_clear(&table);
    return asking_end(&a);
}

/* ---- the row ---- */

const Command command_runs = {
    .name = "runs",
    .summary = "list the runs",
    .arguments = "",
    .description = "Lists the runs in the store, the one that changed last first. A run that is "
                   "`stopped` was under way when its process ended; `pawl resume` goes on with it. "
                   "One that is `paused` was stopped by a debugger: `pawl debug` looks into it.",
    OPTIONS(
        {"status", 's', STATUS_WORDS, "only those that are there",
         TAKES(OPTION_WORD, RunsArgs, status), .completes = COMPLETE_WORDS},
        {"workflow", 'w', "NAME", "only those of the workflow with this name",
         TAKES(OPTION_TEXT, RunsArgs, workflow)},
        {"search", 0, "TEXT",
         "only those with this text in their name or their workflow's, in small letters or capitals",
         TAKES(OPTION_TEXT, RunsArgs, search)},
        {"since", 0, "TIME", "only those that changed since: how long ago, as 10m, or a time",
         TAKES(OPTION_TIME, RunsArgs, since)},
        {"before", 0, "TIME", "only those that changed last before that",
         TAKES(OPTION_TIME, RunsArgs, before)},
        {"limit", 'n', "N", "only the N that changed last", TAKES(OPTION_COUNT, RunsArgs, limit)},
        STORE_ROW, SERVER_ROWS, JSON_ROW("as an array of objects")),
    EXAMPLES({"pawl runs", "all of them, the one that changed last first"},
             {"pawl runs --status interrupted", "those that wait for somebody"},
             {"pawl runs --search review --since 24h", "reviews of the last day"}),
    .args = sizeof(RunsArgs),
    .act = act,
};
