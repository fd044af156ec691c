/* view_breakpoints.c - breakpoints and watches. */
#include "view_rows.h"

/* ---- breakpoints ---- */

static void add_exception(Json b, Buf *out) {
    buf_adds(out, json_truthy(field_get(b, "caught")) ? "errors, caught ones too" : "errors");
    say_field(" if ", b, "error", "", out);
}

static void add_state_point(Json b, Buf *out) {
    Json state = field_get(b, "state"), equals = field_get(state, "equals");
    say_path(field_get(state, "path"), out);
    if (json_is_none(equals)) {
        buf_adds(out, " changes");
    } else {
        buf_adds(out, " becomes ");
        say_json(equals, SAY_LINE, out);
    }
}

static void add_target(Json b, Buf *out) {
    Json type = field_get(b, "type");
    if (json_string_is(type, "exception")) {
        add_exception(b, out);
    } else if (json_kind(field_get(b, "state")) == JSON_OBJECT) {
        add_state_point(b, out);
    } else if (json_string_is(type, "conditional")) {
        buf_adds(out, "any node");
    } else {
        say_field("", b, "node", "", out);
        say_field("task ", b, "task_index", "", out);
        say_field("task with id ", b, "task_id", "", out);
        say_field("tasks of kind ", b, "task_name", "", out);
        say_field("", b, "file", "", out);
        say_field(":", b, "line", "", out);
    }
    if (!json_string_is(field_get(b, "position"), "before")) {
        say_field(" (", b, "position", ")", out);
    }
}

static void add_breakpoint(Json b, Buf *out) {
    add_target(b, out);
    say_field(" if ", b, "condition", "", out);
    say_field(", at hits ", b, "hit_condition", "", out);
    if (field_number(b, "ignore_count", 0)) {
        say_field(", after ", b, "ignore_count", " hits", out);
    }
    say_field(", logs \"", b, "log_message", "\"", out);
    buf_adds(out, json_truthy(field_get(b, "once")) ? ", once" : "");
    say_field(", group ", b, "group", "", out);
}

static bool is_unverified(Json b) {
    return json_tag(field_get(b, "verified")) == JSON_TAG_FALSE;
}

void show_breakpoint(const Show *s, Json args, Json answer, Buf *out) {
    Json b = field_get(answer, "breakpoint"), places = field_get(b, "places");
    (void)args;
    buf_adds(out, field_has_text(b, "log_message") ? "Log point " : "Breakpoint ");
    say_text(field_get(b, "id"), out);
    buf_adds(out, ": ");
    add_breakpoint(b, out);
    if (field_items(places) == 1) {
        say_where(s, json_array_get(places, 0), ", ", out);
    } else if (field_items(places) > 1) {
        buf_printf(out, ", %zu places", field_items(places));
    }
    buf_adds(out, is_unverified(b) ? ", not verified" : "");
    buf_addc(out, '\n');
    say_field("  ", b, "message", "\n", out);
}

void show_breakpoints(const Show *s, Json args, Json answer, Buf *out) {
    static const char *const heading[] = {"NUM", "ON", "HITS", "STOPS AT"};
    Table t = {.columns = 4};
    Json list = field_get(answer, "breakpoints");
    (void)args;
    if (!field_items(list)) {
        say_hint(s, "There are no breakpoints.", out);
        return;
    }
    table_row(&t, heading);
    for (size_t i = 0; i < field_items(list); i++) {
        Json b = json_array_get(list, i);
        TableRow row = {.table = &t};
        bool off = json_tag(field_get(b, "enabled")) == JSON_TAG_FALSE;
        say_text(field_get(b, "id"), &row.cells[0]);
        buf_adds(&row.cells[1], off ? "no" : "yes");
        buf_printf(&row.cells[2], "%lld", (long long)field_number(b, "hit_count", 0));
        add_breakpoint(b, &row.cells[3]);
        say_field(is_unverified(b) ? ", not verified: " : ", ", b, "message", "", &row.cells[3]);
        row_end(&row);
    }
    say_table(&t, out);
}

void show_breakpoint_set(const Show *s, Json args, Json answer, Buf *out) {
    bool one = json_kind(field_get(answer, "breakpoint")) == JSON_OBJECT;
    (one ? show_breakpoint : show_breakpoints)(s, args, answer, out);
}

/* "Deleted 1 and 2." */
static void add_done(const Show *s, const char *word, Json ids, Buf *out) {
    if (!field_items(ids)) {
        say_hint(s, "There is none.", out);
        return;
    }
    buf_printf(out, "%s ", word);
    say_numbers(ids, out);
    buf_adds(out, ".\n");
}

void show_deleted(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    add_done(s, "Deleted", field_get(answer, "deleted"), out);
}

void show_enabled(const Show *s, Json args, Json answer, Buf *out) {
    bool on = json_truthy(field_get(args, "enabled"));
    add_done(s, on ? "Enabled" : "Disabled", field_get(answer, "changed"), out);
}

/* ---- watches ---- */

static void add_watch(const Show *s, Json watch, Buf *out) {
    Json results = field_get(watch, "results");
    say_field("", watch, "id", ": ", out);
    say_text(field_get(watch, "expression"), out);
    buf_adds(out, " = ");
    if (field_has_text(watch, "error")) {
        say_error(s, field_get(watch, "error"), "", out);
        return;
    }
    for (size_t i = 0; i < field_items(results); i++) {
        buf_adds(out, i ? ", " : "");
        say_json(json_array_get(results, i), SAY_LINE, out);
    }
    buf_adds(out, field_items(results) ? "\n" : "no output\n");
}

void show_watches(const Show *s, Json answer, Buf *out) {
    Json list = field_get(answer, "watches");
    for (size_t i = 0; i < field_items(list); i++) {
        add_watch(s, json_array_get(list, i), out);
    }
}

void show_all_watches(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    show_watches(s, answer, out);
    if (!field_items(field_get(answer, "watches"))) {
        say_hint(s, "There are no watches.", out);
    }
}

void show_watch_added(const Show *s, Json args, Json answer, Buf *out) {
    Json watch = field_get(answer, "watch");
    (void)s;
    (void)args;
    say_field("Watch ", watch, "id", "", out);
    say_field(": ", watch, "expression", "\n", out);
}
