/* view_frames.c - frames, and the nodes that they stand at. */
#include "view_rows.h"

/* ---- frames ---- */

static void add_doing(const Show *s, Json f, Buf *out) {
    Json status = field_get(f, "status");
    say_text(status, out);
    if (field_has_text(f, "node")) {
        buf_printf(out, " %s ", json_string_is(status, "paused") ? say_position(f) : "at");
        say_node(s, f, out);
    }
}

/* Each map has a `map[0]`: IN tells them apart, and is left out where there is nothing inside. */
static bool any_inside(Json frames) {
    for (size_t i = 0; i < field_items(frames); i++) {
        if (field_number(json_array_get(frames, i), "parent", 0)) {
            return true;
        }
    }
    return false;
}

static void add_frame(Table *t, Json f, int64_t selected, bool inside) {
    const Show plain = {0}; /* columns are as wide as what is in them */
    TableRow row = {.table = t};
    int64_t id = field_number(f, "frame", 0);
    Buf *cell = row.cells;
    buf_printf(cell++, "%s%lld", id == selected ? "* " : "  ", (long long)id);
    if (inside) {
        say_field("", f, "parent", "", cell++);
    }
    say_text(field_get(f, "name"), cell++);
    add_doing(&plain, f, cell++);
    say_where(&plain, f, "", cell);
    row_end(&row);
}

void show_frames(const Show *s, Json args, Json answer, Buf *out) {
    static const char *const heading[] = {"  FRAME", "NAME", "DOES", "PLACE"};
    static const char *const inner[] = {"  FRAME", "IN", "NAME", "DOES", "PLACE"};
    Json list = field_get(answer, "frames");
    bool inside = any_inside(list);
    Table t = {.columns = inside ? 5 : 4};
    int64_t selected = field_number(answer, "selected", 0),
            total = field_number(answer, "total", 0);
    (void)args;
    (void)s;
    table_row(&t, inside ? inner : heading);
    for (size_t i = 0; i < field_items(list); i++) {
        add_frame(&t, json_array_get(list, i), selected, inside);
    }
    say_table(&t, out);
    if (total > (int64_t)field_items(list)) {
        buf_printf(out, "and %lld more\n", (long long)(total - (int64_t)field_items(list)));
    }
}

static void add_stack(const Show *s, Json stack, Buf *out) {
    for (size_t i = 0; i < field_items(stack); i++) {
        Json level = json_array_get(stack, i);
        buf_printf(out, "#%zu  ", i);
        say_node(s, level, out);
        say_field(" in ", level, "workflow", "", out);
        say_where(s, level, ", ", out);
        buf_addc(out, '\n');
    }
}

void show_frame(const Show *s, Json args, Json answer, Buf *out) {
    Json interrupt = field_get(answer, "interrupt");
    (void)args;
    if (json_string_is(field_get(answer, "status"), "paused")) {
        show_place(s, answer, out);
    } else {
        say_frame(answer, out);
        buf_adds(out, ": ");
        add_doing(s, answer, out);
        buf_addc(out, '\n');
    }
    if (json_kind(interrupt) == JSON_OBJECT) {
        say_field("Asks (", interrupt, "id", "): ", out);
        say_text(field_get(interrupt, "prompt"), out);
        buf_addc(out, '\n');
        say_answers(interrupt, out);
    }
    add_stack(s, field_get(answer, "stack"), out);
}

/* ---- nodes ---- */

static void add_edges(Json edges, Buf *out) {
    for (size_t i = 0; i < field_items(edges); i++) {
        Json edge = json_array_get(edges, i);
        say_field("  to ", edge, "to", "", out);
        say_field(" when ", edge, "when", "", out);
        say_field(" on ", edge, "on", "", out);
        buf_addc(out, '\n');
    }
}

/* A text of several lines, indented; anything else as a value. */
static void add_block(const Show *s, Json v, Buf *out) {
    if (field_is_text(v)) {
        say_lines("  ", v, out);
    } else {
        show_value(s, v, out);
    }
}

void show_node(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    say_node(s, answer, out);
    say_field(": ", answer, "title", "", out);
    say_where(s, answer, ", ", out);
    if (field_number(answer, "end_line", 0) > field_number(answer, "line", 0)) {
        say_field("-", answer, "end_line", "", out);
    }
    if (field_number(answer, "attempt", 1) > 1) {
        say_field(", attempt ", answer, "attempt", "", out);
    }
    say_field(", timeout ", answer, "timeout", "", out);
    buf_adds(out, json_truthy(field_get(answer, "injected")) ? ", injected"
                  : json_truthy(field_get(answer, "edited")) ? ", edited"
                                                             : "");
    buf_addc(out, '\n');
    if (!json_is_none(field_get(answer, "source"))) {
        add_block(s, field_get(answer, "source"), out);
    }
    if (field_items(field_get(answer, "edges"))) {
        buf_adds(out, "Edges:\n");
        add_edges(field_get(answer, "edges"), out);
    }
}

void show_config(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    say_node(s, answer, out);
    buf_adds(out,
             json_truthy(field_get(answer, "edited")) ? ", edited for this execution:\n" : ":\n");
    show_value(s, field_get(answer, "raw"), out);
    if (!json_is_none(field_get(answer, "resolved"))) {
        buf_adds(out, "Resolved:\n");
        show_value(s, field_get(answer, "resolved"), out);
    }
    say_error(s, field_get(answer, "error"), "Cannot be resolved now: ", out);
}

void show_nodes(const Show *s, Json args, Json answer, Buf *out) {
    static const char *const heading[] = {"NODE", "KIND", "WORKFLOW", "PLACE"};
    const Show plain = {0};
    Table t = {.columns = 4};
    Json list = field_get(answer, "nodes");
    (void)s;
    (void)args;
    table_row(&t, heading);
    for (size_t i = 0; i < field_items(list); i++) {
        Json node = json_array_get(list, i);
        TableRow row = {.table = &t};
        say_text(field_get(node, "name"), &row.cells[0]);
        say_text(field_get(node, "kind"), &row.cells[1]);
        say_text(field_get(node, "workflow"), &row.cells[2]);
        say_where(&plain, node, "", &row.cells[3]);
        row_end(&row);
    }
    say_table(&t, out);
}

void show_graph(const Show *s, Json args, Json answer, Buf *out) {
    (void)s;
    (void)args;
    say_lines("", field_get(answer, "text"), out);
}
