/* history.c - `pawl history`: the checkpoints of a run. */
#include "changed.h"
#include "looks.h"
#include "options.h"
#include "output.h"
#include "terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { HISTORY_LIMIT };

typedef struct HistoryArgs {
    Common common;
    Place place;
    int64_t limit; /* 0: all */
} HistoryArgs;

static bool on_option(void *ctx, const Option *option, char **values) {
    HistoryArgs *args = ctx;
    if (!option) {
        return place_argument(&command_history, values[0], &args->place);
    }
    if (common_option(&args->common, option, values)) {
        return true;
    }
    return options_number(&command_history, option, values[0], 1, &args->limit);
}

/* ---- walking ---- */

/* One way to write checkpoints: as JSON while they are read, or as a table at the end. */
typedef struct Walk {
    const RunRow *row;
    bool json;
    Table table;
    Changed changed;
    int64_t seen, previous;
    bool damaged;
} Walk;

static void put_entry(Walk *w, Json entry) {
    fputs(w->seen ? ",\n" : "\n", stdout);
    output_print(entry);
    json_unref(entry);
}

static void put_json(Walk *w, const Checkpoint *c) {
    char at[OUTPUT_TIME_MAX];
    Json entry = output_set(json_object(), "checkpoint", json_int(c->seq));
    entry = output_set(entry, "parent", c->parent ? json_int(c->parent) : json_null());
    entry = output_set(entry, "step", json_int(c->step));
    entry = output_set(entry, "node", output_text(c->node[0] ? c->node : NULL));
    entry = output_set(entry, "frame", json_int(c->frame));
    entry = output_set(entry, "status", json_string_c(c->status));
    entry = output_set(entry, "at", json_string_c(output_time(c->at, at)));
    put_entry(w, output_set(entry, "changed", changed_keys(&w->changed, c)));
}

static void add_changed(Walk *w, Buf *out, const Checkpoint *c) {
    Json keys = changed_keys(&w->changed, c);
    for (size_t i = 0; i < json_array_len(keys); i++) {
        Json key = json_array_get(keys, i);
        buf_adds(out, i ? ", " : "");
        buf_add(out, json_string_data(&key), json_string_len(key));
    }
    json_unref(keys);
}

/* A parent that is not the checkpoint before it is where a fork begins. */
static void add_row(Walk *w, const Checkpoint *c) {
    char seq[32], parent[32] = "", step[32], frame[32] = "", at[OUTPUT_TIME_MAX];
    Buf changed = BUF_INIT;
    snprintf(seq, sizeof seq, "%s%" PRId64, c->seq == w->row->head ? "*" : " ", c->seq);
    if (c->parent && c->parent != w->previous) {
        snprintf(parent, sizeof parent, "%" PRId64, c->parent);
    }
    snprintf(step, sizeof step, "%" PRId64, c->step);
    snprintf(frame, sizeof frame, "%" PRId64, c->frame);
    add_changed(w, &changed, c);
    const char *cells[] = {seq,
                           parent,
                           step,
                           c->node,
                           frame,
                           c->status,
                           output_time(c->at, at),
                           changed.data ? changed.data : ""};
    table_row(&w->table, cells);
    buf_clear(&changed);
}

static bool on_checkpoint(void *ctx, const Checkpoint *c) {
    Walk *w = ctx;
    (w->json ? put_json : add_row)(w, c);
    w->previous = c->seq;
    w->seen++;
    return true;
}

static bool on_damaged(void *ctx, int64_t seq, const Error *err) {
    Walk *w = ctx;
    char number[32];
    w->damaged = true;
    if (w->json) {
        Json entry = output_set(json_object(), "checkpoint", json_int(seq));
        entry = output_set(entry, "status", json_string_c("damaged"));
        put_entry(w, output_set(entry, "error", json_string_c(err->msg)));
    } else {
        snprintf(number, sizeof number, " %" PRId64, seq);
        const char *cells[] = {number, "", "", "", "", "damaged", "", ""};
        table_row(&w->table, cells);
    }
    terminal_say(stderr, "pawl history: %s\n", err->msg);
    w->previous = seq;
    w->seen++;
    return true;
}

/* ---- the last N: numbers have gaps where checkpoints were pruned ---- */

static bool count_one(void *ctx, const Checkpoint *c) {
    int64_t *n = ctx;
    (void)c;
    ++*n;
    return true;
}

static bool count_damaged(void *ctx, int64_t seq, const Error *err) {
    (void)seq;
    (void)err;
    return count_one(ctx, NULL);
}

typedef struct Skip {
    int64_t left; /* checkpoints to pass over */
    int64_t from; /* the first that is shown */
} Skip;

static bool skip_to(Skip *s, int64_t seq) {
    s->from = seq;
    return s->left-- > 0;
}

static bool skip_one(void *ctx, const Checkpoint *c) {
    return skip_to(ctx, c->seq);
}

static bool skip_damaged(void *ctx, int64_t seq, const Error *err) {
    (void)err;
    return skip_to(ctx, seq);
}

/* Where to begin to see the last `limit` of them. The window grows until it holds that many. */
static int64_t first_of_last(Store *store, const RunRow *row, int64_t limit) {
    int64_t from = 1, n = 0;
    for (int64_t window = limit; n < limit; window *= 2) {
        from = window < row->last ? row->last - window + 1 : 1;
        n = 0;
        store_history(store, row->run, from, count_one, count_damaged, &n, NULL);
        if (from == 1) {
            break;
        }
    }
    Skip skip = {.left = n > limit ? n - limit : 0, .from = from};
    store_history(store, row->run, from, skip_one, skip_damaged, &skip, NULL);
    return skip.from;
}

/* ---- the command ---- */

static int write_history(const HistoryArgs *args, Store *store, const RunRow *row) {
    static const char *const heading[] = {" SEQ",  "PARENT", "STEP", "NODE",
                                          "FRAME", "STATUS", "AT",   "CHANGED"};
    Walk w = {.row = row,
              .json = args->common.json,
              .table = {.columns = 8},
              .changed = {store, row->run}};
    Error err = ERROR_INIT;
    int64_t from = args->limit ? first_of_last(store, row, args->limit) : 1;
    w.previous = from - 1;
    if (w.json) {
        fputc('[', stdout);
    } else {
        table_row(&w.table, heading);
    }
    bool ok = store_history(store, row->run, from, on_checkpoint, on_damaged, &w, &err);
    if (w.json) {
        fputs(w.seen ? "\n]\n" : "]\n", stdout);
    } else {
        table_print(&w.table);
    }
    table_clear(&w.table);
    changed_clear(&w.changed);
    return !ok ? cli_fail(args->common.command, &err) : w.damaged ? EXIT_FAILED_RUN : EXIT_OK;
}

static int history(const HistoryArgs *args) {
    int code = EXIT_OK;
    RunRow row = {0};
    Store *store = cli_store_open(&args->common, STORE_READ, &code);
    if (store && cli_find(&args->common, store, args->place.thread, &row, &code)) {
        code = write_history(args, store, &row);
    }
    run_row_clear(&row);
    store_close(store);
    return code;
}

static int cmd_history(int argc, char **argv) {
    HistoryArgs args = {.common = {.command = &command_history}};
    OptionsResult parsed = options_parse(&command_history, argc, argv, on_option, &args);
    int code = parsed == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    if (parsed == OPTIONS_RUN && !args.place.thread) {
        options_complain(&command_history, "which run? It takes a THREAD.");
    } else if (parsed == OPTIONS_RUN && args.place.seq) {
        options_complain(&command_history,
                         "it shows all checkpoints of a thread; `pawl show` shows one of them.");
    } else if (parsed == OPTIONS_RUN) {
        code = history(&args);
    }
    place_clear(&args.place);
    return code;
}

/* ---- the row ---- */

static const Option history_options[] = {
    {"limit", 'n', "N", "only the last N", COMPLETE_NOTHING, HISTORY_LIMIT},
    STORE_ROW,
    JSON_ROW("as an array of objects"),
    {0},
};

static const Example history_examples[] = {
    {"pawl history review-7", "every step of the run, the last one at the end"},
    {"pawl history review-7 --json | pawl eval '.[] | select(.changed | index(\"errors\"))'",
     "the steps that changed `errors`"},
    {0},
};

const Command command_history = {
    .name = "history",
    .summary = "list the checkpoints of a run",
    .arguments = "THREAD",
    .description =
        "Lists the checkpoints of a run, oldest first: which node made it, in which frame, when, and "
        "which keys of the state it changed. * marks where the run stands. A parent is shown where it "
        "is not the checkpoint before: there the run was taken up from an earlier one.",
    .options = history_options,
    .examples = history_examples,
    .run = cmd_history,
};
