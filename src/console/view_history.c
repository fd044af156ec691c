/* view_history.c - the steps of a run. */
#include "view_rows.h"

static void add_keys(Json keys, Buf *out) {
    for (size_t i = 0; i < field_items(keys); i++) {
        buf_adds(out, i ? ", " : "");
        say_text(json_array_get(keys, i), out);
    }
}

static void add_history_row(Table *t, Json step) {
    char took[OUTPUT_TIME_MAX];
    TableRow row = {.table = t};
    bool result = field_has_text(step, "result");
    buf_adds(&row.cells[0], json_truthy(field_get(step, "current")) ? "*" : " ");
    say_text(field_get(step, "checkpoint"), &row.cells[0]);
    say_text(field_get(step, "frame"), &row.cells[1]);
    say_text(field_get(step, "node"), &row.cells[2]);
    buf_adds(&row.cells[2], json_truthy(field_get(step, "injected")) ? " (injected)"
                            : json_truthy(field_get(step, "edited")) ? " (edited)"
                                                                     : "");
    say_text(field_get(step, result ? "result" : "status"), &row.cells[3]);
    if (json_kind(field_get(step, "took")) == JSON_NUMBER) {
        double ms = json_to_double(field_get(step, "took"));
        buf_adds(&row.cells[4], ms >= 0 && ms < 1e15 ? output_duration((int64_t)ms, took) : "");
    }
    buf_adds(&row.cells[5], json_truthy(field_get(step, "paused")) ? "yes" : "");
    add_keys(field_get(step, "changed"), &row.cells[6]);
    row_end(&row);
}

void show_history(const Show *s, Json args, Json answer, Buf *out) {
    static const char *const heading[] = {" SEQ", "FRAME",  "NODE",   "RESULT",
                                          "TOOK", "PAUSED", "CHANGED"};
    Table t = {.columns = 7};
    Json steps = field_get(answer, "steps");
    (void)args;
    if (json_truthy(field_get(answer, "more"))) {
        say_hint(s, "(there are earlier ones: `history N`, or `history @CHECKPOINT`)", out);
    }
    if (!field_items(steps)) {
        say_hint(s, "No step has been taken yet.", out);
        return;
    }
    table_row(&t, heading);
    for (size_t i = 0; i < field_items(steps); i++) {
        add_history_row(&t, json_array_get(steps, i));
    }
    say_table(&t, out);
}
