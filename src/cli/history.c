/* history.c - `pawl history`: the checkpoints of a run. */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "json_print.h"
#include "output.h"
#include "place.h"
#include "terminal.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { GAVE_MAX = 60 };

typedef struct HistoryArgs {
    Common common;
    Place place;
    int64_t limit; /* 0: all */
    bool values, verbose;
} HistoryArgs;

/* ---- for people ---- */

static void put_changed(Json c, Buf *out) {
    Json keys = field_get(c, "changed");
    for (size_t i = 0; i < json_array_len(keys); i++) {
        Json key = json_array_get(keys, i);
        buf_printf(out, "%s%s", i ? ", " : "", field_is_text(key) ? json_string_data(&key) : "");
    }
}

/* The beginning of what the node gave back, or its error. */
static void put_given(Json c, Buf *out) {
    Json update = field_get(c, "update"), failure = field_get(c, "failure");
    if (!json_is_none(update)) {
        json_print(update, &(JsonPrintOptions){.max_bytes = GAVE_MAX}, out);
    } else if (field_has_text(failure, "message")) {
        buf_printf(out, "error: %s", field_string(failure, "message"));
    }
    if (out->len > GAVE_MAX) {
        out->len = GAVE_MAX - 3;
        out->len -= utf8_unfinished(out->data, out->len);
        buf_printf(out, "...");
    }
}

/* Conditions that were tried, and where it went: "b (.n > 5: false, .n > 2: true)". */
static void put_edges(Json c, Buf *out) {
    Json edges = field_get(c, "edges");
    for (size_t i = 0; i < json_array_len(edges); i++) {
        Json edge = json_array_get(edges, i), from = field_get(edge, "from");
        buf_adds(out, i ? "; " : "");
        if (strcmp(json_string_data(&from), field_string(c, "node")) != 0) {
            buf_printf(out, "from %s: ", json_string_data(&from));
        }
        output_edge(edge, out);
    }
}

/* A parent that is not the checkpoint before it is where a fork begins. */
static void add_row(Table *table, Json c, int64_t head, int64_t previous, const HistoryArgs *args) {
    char seq[32], parent[32] = "", step[32] = "", frame[32] = "";
    int64_t number = field_number(c, "checkpoint", 0), above = field_number(c, "parent", 0);
    bool damaged = !json_is_none(field_get(c, "error"));
    Buf last = BUF_INIT, edges = BUF_INIT, node = BUF_INIT, status = BUF_INIT;
    snprintf(seq, sizeof seq, "%s%" PRId64, number == head ? "*" : " ", number);
    if (above && above != previous) snprintf(parent, sizeof parent, "%" PRId64, above);
    if (!damaged) {
        snprintf(step, sizeof step, "%" PRId64, field_number(c, "step", 0));
        snprintf(frame, sizeof frame, "%" PRId64, field_number(c, "frame", 0));
    }
    (args->values ? put_given : put_changed)(c, &last);
    put_edges(c, &edges);
    buf_adds(&status, field_string(c, "status"));
    if (field_has_text(c, "by")) buf_printf(&status, " by %s", field_string(c, "by"));
    buf_adds(&node, field_string(c, "node"));
    if (field_has_text(c, "title")) buf_printf(&node, ": %s", field_string(c, "title"));
    const char *cells[] = {seq,
                           parent,
                           step,
                           node.data ? node.data : "",
                           frame,
                           status.data ? status.data : "",
                           field_string(c, "at"),
                           last.data ? last.data : "",
                           edges.data ? edges.data : ""};
    table_row(table, cells);
    buf_clear(&last);
    buf_clear(&edges);
    buf_clear(&node);
    buf_clear(&status);
}

/* ---- the command ---- */

typedef struct Shown {
    Table table;
    int64_t n, previous;
    bool damaged;
} Shown;

static void show_page(const HistoryArgs *args, Shown *shown, Json page) {
    Json list = field_get(page, "checkpoints");
    int64_t head = field_number(field_get(page, "run"), "checkpoint", 0);
    for (size_t i = 0; i < json_array_len(list); i++, shown->n++) {
        Json c = json_array_get(list, i);
        if (!shown->n) shown->previous = field_number(c, "checkpoint", 1) - 1;
        if (args->common.json) {
            fputs(shown->n ? ",\n" : "\n", stdout);
            output_print(c);
        } else {
            add_row(&shown->table, c, head, shown->previous, args);
        }
        if (!json_is_none(field_get(c, "error"))) {
            shown->damaged = true;
            terminal_say(stderr, "pawl history: %s\n", field_string(c, "error"));
        }
        shown->previous = field_number(c, "checkpoint", 0);
    }
}

static int act(void *ctx) {
    const HistoryArgs *args = ctx;
    const char *heading[] = {" SEQ",   "PARENT", "STEP", "NODE",
                             "FRAME",  "STATUS", "AT",   args->values ? "GAVE" : "CHANGED",
                             "WENT TO"};
    Asking a;
    Shown shown = {.table = {.columns = args->verbose ? 9 : 8}};
    Json more = OBJECT(KEY("last", args->limit ? json_int(args->limit) : json_none()));
    table_row(&shown.table, heading);
    asking_begin(&a, &args->common);
    while (!json_is_none(more)) {
        Json page = ask(&a, "run_history",
                        OBJECT_ADD(more, KEY("thread", args->place.thread),
                                   KEY("values", args->values), KEY("edges", args->verbose)));
        if (args->common.json && !shown.n && !json_is_none(page)) putchar('[');
        show_page(args, &shown, page);
        int64_t next = field_number(page, "next", 0);
        more = next ? OBJECT(KEY("from", next)) : json_none();
        json_unref(page);
    }
    if (a.code == EXIT_OK && args->common.json) {
        fputs(shown.n ? "\n]\n" : "]\n", stdout);
    } else if (a.code == EXIT_OK) {
        table_print(&shown.table);
    }
    table_clear(&shown.table);
    a.code = a.code == EXIT_OK && shown.damaged ? EXIT_FAILED_RUN : a.code;
    return asking_end(&a);
}

/* ---- the row ---- */

const Command command_history = {
    .name = "history",
    .summary = "list the checkpoints of a run",
    .arguments = "THREAD",
    .description =
        "Lists the checkpoints of a run, oldest first: which node made it, in which frame, when, and "
        "which keys of the state it changed, or with --values what the node gave back. * marks where "
        "the run stands. A parent is shown where it is not the checkpoint before: there the run was "
        "taken up from an earlier one. Behind the status stands who asked for it, where a server knew "
        "that by a token.",
    OPTIONS({"limit", 'n', "N", "only the last N", TAKES(OPTION_COUNT, HistoryArgs, limit)},
            {"values", 0, NULL, "with what the nodes gave back",
             TAKES(OPTION_FLAG, HistoryArgs, values)},
            {"verbose", 'v', NULL,
             "with the edges that were taken where there was a choice, and what "
             "each condition gave",
             TAKES(OPTION_FLAG, HistoryArgs, verbose)},
            STORE_ROW, SERVER_ROWS, JSON_ROW("as an array of objects")),
    EXAMPLES(
        {"pawl history review-7", "every step of the run, the last one at the end"},
        {"pawl history review-7 -v", "the same, and why it went where it went"},
        {"pawl history review-7 --json | pawl eval '.[] | select(.changed | index(\"errors\"))'",
         "the steps that changed `errors`"}),
    .args = sizeof(HistoryArgs),
    .place = offsetof(HistoryArgs, place),
    .only_thread = "it shows all checkpoints of a thread; `pawl show` shows one of them.",
    .act = act,
};
