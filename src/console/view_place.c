/* view_place.c - where a frame stands, and the lines of the file there. */
#include "view_rows.h"

static const char *const reasons[][2] = {
    {"initial", ", at the start"},
    {"user_pause", ", as asked"},
    {"interrupt", ", waits for an answer"},
    {"approval", ", waits for an answer"},
    {NULL, NULL},
};

static void add_reason(Json place, Buf *out) {
    say_breakpoints(field_get(place, "breakpoints"), out);
    if (json_tag(field_get(place, "because")) == JSON_TAG_INT) {
        say_field(", since frame ", place, "because", " stopped", out);
        return;
    }
    for (size_t i = 0; reasons[i][0]; i++) {
        if (json_string_is(field_get(place, "reason"), reasons[i][0])) {
            buf_adds(out, reasons[i][1]);
        }
    }
}

static void add_value_or_nothing(Json v, Buf *out) {
    if (json_is_none(v)) {
        buf_adds(out, "nothing");
    } else {
        say_json(v, SAY_LINE, out);
    }
}

static void add_change(Json change, Buf *out) {
    if (json_kind(change) == JSON_OBJECT) {
        buf_adds(out, "  ");
        say_path(field_get(change, "path"), out);
        buf_adds(out, ": ");
        add_value_or_nothing(field_get(change, "old"), out);
        buf_adds(out, " → ");
        add_value_or_nothing(field_get(change, "new"), out);
        buf_addc(out, '\n');
    }
}

void show_place(const Show *s, Json place, Buf *out) {
    say_frame(place, out);
    buf_printf(out, " paused %s ", say_position(place));
    say_node(s, place, out);
    buf_adds(out, json_truthy(field_get(place, "edited")) ? ", edited" : "");
    add_reason(place, out);
    say_where(s, place, ", ", out);
    buf_addc(out, '\n');
    say_error(s, field_get(place, "error"), "  ", out);
    add_change(field_get(place, "change"), out);
}

static void add_line(const Show *s, Json source, size_t i, bool marks, Buf *out) {
    int64_t number = field_number(source, "first", 1) + (int64_t)i;
    bool current = field_number(source, "current", -1) == number, stops = false;
    Json points = field_get(source, "breakpoints");
    for (size_t k = 0; k < field_items(points); k++) {
        Json line = json_array_get(points, k);
        stops |= json_tag(line) == JSON_TAG_INT && line.i == number;
    }
    buf_adds(out, !marks ? "" : current ? "=>" : "  ");
    buf_adds(out, !marks ? "" : stops ? "*" : " ");
    say_begin(s, current && marks ? STYLE_NAME : STYLE_DIM, out);
    buf_printf(out, "%5lld", (long long)number);
    say_end(s, out);
    buf_adds(out, "  ");
    say_text(json_array_get(field_get(source, "lines"), i), out);
    buf_addc(out, '\n');
}

void show_source_line(const Show *s, Json source, Buf *out) {
    int64_t current = field_number(source, "current", 0) - field_number(source, "first", 1);
    if (current >= 0 && current < (int64_t)field_items(field_get(source, "lines"))) {
        add_line(s, source, (size_t)current, false, out);
    }
}

void show_source(const Show *s, Json args, Json answer, Buf *out) {
    size_t n = field_items(field_get(answer, "lines"));
    (void)args;
    for (size_t i = 0; i < n; i++) {
        add_line(s, answer, i, true, out);
    }
    if (!n) {
        say_hint(s, "There are no lines there.", out);
    }
}
