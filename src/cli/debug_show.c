#include "debug_show.h"

#include "inspect.h"
#include "json_print.h"
#include "output.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

/* ---- fields ---- */

static Json get(Json object, const char *key) {
    return json_kind(object) == JSON_OBJECT ? json_object_get_c(object, key) : json_none();
}

static bool is_text(Json v) {
    return json_kind(v) == JSON_STRING;
}

static bool has_text(Json object, const char *key) {
    Json v = get(object, key);
    return is_text(v) && json_string_len(v) > 0;
}

/* `otherwise` when it is no whole number. */
static int64_t number_of(Json object, const char *key, int64_t otherwise) {
    Json v = get(object, key);
    return json_tag(v) == JSON_TAG_INT ? v.i : otherwise;
}

static size_t items_in(Json v) {
    return json_kind(v) == JSON_ARRAY ? json_array_len(v) : 0;
}

/* ---- pieces of text ---- */

typedef enum Style { STYLE_NAME, STYLE_PLACE, STYLE_BAD, STYLE_GOOD, STYLE_DIM, STYLES } Style;

static const char *const styles[STYLES] = {"\x1b[1m", "\x1b[36m", "\x1b[31m", "\x1b[32m",
                                           "\x1b[2m"};

static void begin(const Show *s, Style style, Buf *out) {
    buf_adds(out, s->colour ? styles[style] : "");
}

static void end(const Show *s, Buf *out) {
    buf_adds(out, s->colour ? "\x1b[0m" : "");
}

static bool is_control(const char *c) {
    unsigned char byte = (unsigned char)*c;
    bool c1 = byte == 0xC2 && (unsigned char)c[1] >= 0x80 && (unsigned char)c[1] < 0xA0;
    return (byte < 0x20 && byte != '\t') || byte == 0x7F || c1;
}

/* Text from outside: what would drive the terminal becomes a question mark, ends of lines
 * blanks. */
static void add_safe(const char *text, size_t len, Buf *out) {
    for (size_t i = 0; i < len; i++) {
        if (!is_control(text + i)) {
            buf_addc(out, text[i]);
        } else if ((unsigned char)text[i] == 0xC2) {
            buf_addc(out, '?');
            i++;
        } else {
            buf_addc(out, text[i] == '\n' || text[i] == '\r' ? ' ' : '?');
        }
    }
}

static void add_compact(Json v, size_t max, Buf *out) {
    JsonPrintOptions options = {.max_bytes = max};
    Buf text = BUF_INIT;
    bool whole = json_print(v, &options, &text);
    size_t len = text.len > max ? max : text.len;
    add_safe(text.data ? text.data : "", utf8_valid_prefix(text.data ? text.data : "", len), out);
    buf_adds(out, whole && text.len <= max ? "" : "…");
    buf_clear(&text);
}

enum { TEXT_MAX = 2000 };

/* A string as it is, anything else as JSON; nothing for nothing. */
static void add_text(Json v, Buf *out) {
    if (is_text(v)) {
        size_t len = json_string_len(v), shown = len > TEXT_MAX ? TEXT_MAX : len;
        const char *text = json_string_data(&v);
        add_safe(text, utf8_valid_prefix(text, shown), out);
        buf_adds(out, len > shown ? "…" : "");
    } else if (!json_is_none(v) && json_kind(v) != JSON_NULL) {
        add_compact(v, TEXT_MAX, out);
    }
}

static void add_field(const char *before, Json object, const char *key, const char *after,
                      Buf *out) {
    Json v = get(object, key);
    if (!json_is_none(v) && json_kind(v) != JSON_NULL) {
        buf_adds(out, before);
        add_text(v, out);
        buf_adds(out, after);
    }
}

static void add_name(const Show *s, Json v, Buf *out) {
    buf_addc(out, '`');
    begin(s, STYLE_NAME, out);
    add_text(v, out);
    end(s, out);
    buf_addc(out, '`');
}

/* "1, 2 and 3" */
static void add_numbers(Json list, Buf *out) {
    size_t n = items_in(list);
    for (size_t i = 0; i < n; i++) {
        buf_adds(out, i == 0 ? "" : i + 1 == n ? " and " : ", ");
        add_text(json_array_get(list, i), out);
    }
}

/* FILE:LINE */
static void add_where(const Show *s, Json place, const char *before, Buf *out) {
    if (has_text(place, "file")) {
        buf_adds(out, before);
        begin(s, STYLE_PLACE, out);
        add_text(get(place, "file"), out);
        add_field(":", place, "line", "", out);
        end(s, out);
    }
}

static void add_path(Json path, Buf *out) {
    if (json_kind(path) == JSON_ARRAY) {
        inspect_path_text(path, out);
    } else {
        add_text(path, out);
    }
}

static void add_size(int64_t bytes, Buf *out) {
    if (bytes < 10000) {
        buf_printf(out, "%lld B", (long long)bytes);
    } else if (bytes < 10000000) {
        buf_printf(out, "%lld kB", (long long)(bytes / 1000));
    } else {
        buf_printf(out, "%lld MB", (long long)(bytes / 1000000));
    }
}

/* Seconds as "1h 30m". */
static void add_time(double seconds, Buf *out) {
    char text[OUTPUT_TIME_MAX];
    bool sane = seconds >= 0 && seconds < 1e12;
    buf_adds(out, sane ? output_duration((int64_t)(seconds * 1000), text) : "?");
}

static double seconds_of(Json object, const char *key) {
    Json v = get(object, key);
    return json_kind(v) == JSON_NUMBER ? json_to_double(v) : -1;
}

void show_error(const Show *s, const char *sentence, Buf *out) {
    begin(s, STYLE_BAD, out);
    add_safe(sentence, strlen(sentence), out);
    end(s, out);
    buf_addc(out, '\n');
}

static void add_hint(const Show *s, const char *hint, Buf *out) {
    begin(s, STYLE_DIM, out);
    buf_adds(out, hint);
    end(s, out);
    buf_addc(out, '\n');
}

/* Fields may be missing, and the end of the line with them. */
static void end_line(Buf *out) {
    if (out->len && out->data[out->len - 1] != '\n') {
        buf_addc(out, '\n');
    }
}

/* ---- values ---- */

enum { ONE_LINE = 72 };

static void add_pretty(const Show *s, Json value, Buf *out) {
    JsonPrintOptions options = {.indent = 2, .colors = s->colour ? &json_default_colors : NULL};
    options.max_bytes = SHOW_VALUE_MAX;
    Buf text = BUF_INIT;
    if (json_print(value, &options, &text)) {
        buf_add(out, text.data, text.len);
        buf_addc(out, '\n');
    } else {
        buf_add(out, text.data, utf8_valid_prefix(text.data, SHOW_VALUE_MAX));
        end(s, out);
        buf_adds(out, "…\n");
        add_hint(s, "(cut here; `state PATH` shows a large value by its parts)", out);
    }
    buf_clear(&text);
}

void show_value(const Show *s, Json value, Buf *out) {
    JsonPrintOptions options = {.max_bytes = ONE_LINE};
    Buf text = BUF_INIT;
    if (json_print(value, &options, &text) && text.len <= ONE_LINE) {
        options = (JsonPrintOptions){.colors = s->colour ? &json_default_colors : NULL};
        json_print(value, &options, out);
        buf_addc(out, '\n');
    } else {
        add_pretty(s, value, out);
    }
    buf_clear(&text);
}

/* ---- tables ---- */

static const char *add_cells(const Table *t, const char *cell, Buf *out) {
    size_t owed = 0;
    for (size_t i = 0; i < t->columns; i++) {
        size_t len = strlen(cell);
        if (len) {
            buf_printf(out, "%*s%s", (int)owed, "", cell);
            owed = 0;
        }
        owed += t->widths[i] - utf8_length(cell, len) + 2;
        cell += len + 1;
    }
    buf_addc(out, '\n');
    return cell;
}

static void end_table(Table *t, Buf *out) {
    const char *cell = t->cells.data, *last = cell + t->cells.len;
    while (cell < last) {
        cell = add_cells(t, cell, out);
    }
    table_clear(t);
}

/* Cells of one row, made one after the other. */
typedef struct Row {
    Table *table;
    Buf cells[TABLE_COLUMNS_MAX];
} Row;

static void end_row(Row *row) {
    const char *texts[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < row->table->columns; i++) {
        texts[i] = row->cells[i].data ? row->cells[i].data : "";
    }
    table_row(row->table, texts);
    for (size_t i = 0; i < row->table->columns; i++) {
        buf_clear(&row->cells[i]);
    }
}

/* ---- places ---- */

static const char *const positions[][2] = {
    {"before", "before"}, {"after", "after"}, {"on_error", "at an error in"},
    {"during", "during"}, {NULL, NULL},
};

static const char *position_words(Json place) {
    for (size_t i = 0; positions[i][0]; i++) {
        if (json_string_is(get(place, "position"), positions[i][0])) {
            return positions[i][1];
        }
    }
    return "at";
}

static const char *const reasons[][2] = {
    {"initial", ", at the start"},
    {"user_pause", ", as you asked"},
    {"interrupt", ", waits for an answer"},
    {"approval", ", waits for an answer"},
    {NULL, NULL},
};

static void add_breakpoints(Json ids, Buf *out) {
    if (items_in(ids)) {
        buf_adds(out, items_in(ids) > 1 ? ", breakpoints " : ", breakpoint ");
        add_numbers(ids, out);
    }
}

static void add_reason(Json place, Buf *out) {
    add_breakpoints(get(place, "breakpoints"), out);
    if (json_tag(get(place, "because")) == JSON_TAG_INT) {
        add_field(", since frame ", place, "because", " stopped", out);
        return;
    }
    for (size_t i = 0; reasons[i][0]; i++) {
        if (json_string_is(get(place, "reason"), reasons[i][0])) {
            buf_adds(out, reasons[i][1]);
        }
    }
}

static void add_frame_name(Json place, Buf *out) {
    Json name = get(place, "frame_name");
    name = is_text(name) ? name : get(place, "name");
    add_field("Frame ", place, "frame", "", out);
    if (is_text(name) && !json_string_is(name, "main")) {
        buf_adds(out, " (");
        add_text(name, out);
        buf_addc(out, ')');
    }
}

/* {kind, message, ...} as a line. */
static void add_error(const Show *s, Json error, const char *before, Buf *out) {
    if (json_kind(error) == JSON_OBJECT || is_text(error)) {
        begin(s, STYLE_BAD, out);
        buf_adds(out, before);
        add_field("", error, "kind", ": ", out);
        add_text(is_text(error) ? error : get(error, "message"), out);
        end(s, out);
        buf_addc(out, '\n');
    }
}

static void add_value_or_nothing(Json v, Buf *out) {
    if (json_is_none(v)) {
        buf_adds(out, "nothing");
    } else {
        add_compact(v, ONE_LINE, out);
    }
}

static void add_change(Json change, Buf *out) {
    if (json_kind(change) == JSON_OBJECT) {
        buf_adds(out, "  ");
        add_path(get(change, "path"), out);
        buf_adds(out, ": ");
        add_value_or_nothing(get(change, "old"), out);
        buf_adds(out, " → ");
        add_value_or_nothing(get(change, "new"), out);
        buf_addc(out, '\n');
    }
}

static void add_node_and_kind(const Show *s, Json place, Buf *out) {
    if (has_text(place, "node")) {
        add_name(s, get(place, "node"), out);
    }
    add_field(" (", place, "kind", ")", out);
}

void show_place(const Show *s, Json place, Buf *out) {
    add_frame_name(place, out);
    buf_printf(out, " paused %s ", position_words(place));
    add_node_and_kind(s, place, out);
    add_reason(place, out);
    add_where(s, place, ", ", out);
    buf_addc(out, '\n');
    add_error(s, get(place, "error"), "  ", out);
    add_change(get(place, "change"), out);
}

static void add_line(const Show *s, Json source, size_t i, bool marks, Buf *out) {
    int64_t number = number_of(source, "first", 1) + (int64_t)i;
    bool current = number_of(source, "current", -1) == number, stops = false;
    Json points = get(source, "breakpoints");
    for (size_t k = 0; k < items_in(points); k++) {
        Json line = json_array_get(points, k);
        stops |= json_tag(line) == JSON_TAG_INT && line.i == number;
    }
    buf_adds(out, !marks ? "" : current ? "=>" : "  ");
    buf_adds(out, !marks ? "" : stops ? "*" : " ");
    begin(s, current && marks ? STYLE_NAME : STYLE_DIM, out);
    buf_printf(out, "%5lld", (long long)number);
    end(s, out);
    buf_adds(out, "  ");
    add_text(json_array_get(get(source, "lines"), i), out);
    buf_addc(out, '\n');
}

void show_source_line(const Show *s, Json source, Buf *out) {
    int64_t current = number_of(source, "current", 0) - number_of(source, "first", 1);
    if (current >= 0 && current < (int64_t)items_in(get(source, "lines"))) {
        add_line(s, source, (size_t)current, false, out);
    }
}

static void show_source(const Show *s, Json args, Json answer, Buf *out) {
    size_t n = items_in(get(answer, "lines"));
    (void)args;
    for (size_t i = 0; i < n; i++) {
        add_line(s, answer, i, true, out);
    }
    if (!n) {
        add_hint(s, "There are no lines there.", out);
    }
}

/* ---- events ---- */

static void show_log(const Show *s, Json event, Buf *out) {
    begin(s, STYLE_GOOD, out);
    add_text(get(event, "node"), out);
    end(s, out);
    buf_adds(out, ": ");
    add_text(get(event, "message"), out);
    buf_addc(out, '\n');
}

static void show_output(const Show *s, Json event, Buf *out) {
    Json text = get(event, "text");
    const char *at = is_text(text) ? json_string_data(&text) : "";
    const char *last = at + (is_text(text) ? json_string_len(text) : 0);
    while (at < last) {
        const char *newline = memchr(at, '\n', (size_t)(last - at));
        const char *to = newline ? newline : last;
        begin(s, STYLE_DIM, out);
        add_text(get(event, "node"), out);
        buf_adds(out, " | ");
        end(s, out);
        add_safe(at, (size_t)(to - at), out);
        buf_addc(out, '\n');
        at = newline ? newline + 1 : last;
    }
}

static void add_answers(Json event, Buf *out) {
    Json options = get(event, "options"), reason = get(event, "reason");
    for (size_t i = 0; i < items_in(options); i++) {
        buf_adds(out, "    answer ");
        add_text(json_array_get(options, i), out);
        buf_addc(out, '\n');
    }
    if (!items_in(options)) {
        bool asks = !json_string_is(reason, "before") && !json_string_is(reason, "after");
        buf_adds(out, asks ? "    answer JSON\n" : "    answer\n");
    }
}

static void show_waiting(const Show *s, Json event, Buf *out) {
    Json prompt = get(event, "prompt"), inner = get(prompt, "prompt");
    add_frame_name(event, out);
    buf_adds(out, " waits at ");
    add_name(s, get(event, "node"), out);
    add_field(" (", event, "interrupt", ")", out);
    if (json_truthy(prompt)) {
        buf_adds(out, ": ");
        add_text(is_text(inner) ? inner : prompt, out);
    }
    buf_addc(out, '\n');
    add_answers(event, out);
}

static void show_node_begins(const Show *s, Json event, Buf *out) {
    add_frame_name(event, out);
    buf_adds(out, ": ");
    add_node_and_kind(s, event, out);
    buf_adds(out, " begins\n");
}

static void show_step_done(const Show *s, Json event, Buf *out) {
    if (has_text(event, "node")) {
        add_frame_name(event, out);
        buf_adds(out, ": ");
        add_name(s, get(event, "node"), out);
        add_field(" ", event, "status", "", out);
        add_field(", checkpoint ", event, "checkpoint", "", out);
        buf_addc(out, '\n');
    }
}

static void show_retry(const Show *s, Json event, Buf *out) {
    add_name(s, get(event, "node"), out);
    buf_adds(out, " failed");
    add_field(" (attempt ", event, "attempt", "", out);
    add_field(" of ", event, "attempts", "", out);
    buf_adds(out, json_is_none(get(event, "attempt")) ? "" : ")");
    if (seconds_of(event, "delay") >= 0) {
        buf_adds(out, " and is tried again in ");
        add_time(seconds_of(event, "delay"), out);
    }
    buf_addc(out, '\n');
    add_error(s, get(event, "error"), "  ", out);
}

static void show_warning(const Show *s, Json event, Buf *out) {
    begin(s, STYLE_BAD, out);
    buf_adds(out, "warning: ");
    end(s, out);
    add_field("", event, "node", ": ", out);
    add_text(get(event, "message"), out);
    buf_addc(out, '\n');
}

static void show_settled(const Show *s, Json event, Buf *out) {
    Json status = get(event, "status"), error = get(event, "error");
    bool left = json_string_is(status, "paused") || json_string_is(status, "stopped") ||
                json_string_is(status, "interrupted");
    if (left) {
        return;
    }
    buf_adds(out, json_string_is(status, "cancelled") ? "The run was " : "The run ");
    begin(s, json_string_is(status, "completed") ? STYLE_GOOD : STYLE_BAD, out);
    add_text(status, out);
    end(s, out);
    buf_adds(out, ".\n");
    if (has_text(error, "message")) {
        add_where(s, error, "  ", out);
        add_field(has_text(error, "file") ? ": node " : "  node ", error, "node", "", out);
        add_error(s, get(error, "message"), ": ", out);
    }
}

static const char *const session_ends[][2] = {
    {"expired", "Nobody did anything for too long: the session is over."},
    {"aborted", "The run is being cancelled."},
    {NULL, NULL},
};

static void show_session_event(const Show *s, Json event, Buf *out) {
    for (size_t i = 0; session_ends[i][0]; i++) {
        if (json_string_is(get(event, "status"), session_ends[i][0])) {
            add_hint(s, session_ends[i][1], out);
        }
    }
}

static void show_diff(const Show *s, Json args, Json answer, Buf *out);

static void show_replayed(const Show *s, Json event, Buf *out) {
    Json diff = get(event, "diff");
    buf_adds(out, "The replay");
    if (has_text(event, "node")) {
        buf_adds(out, " of ");
        add_name(s, get(event, "node"), out);
    }
    add_field(" (", event, "thread", ")", out);
    add_field(" ", event, "status", "", out);
    buf_adds(out, ".\n");
    add_error(s, get(event, "error"), "  ", out);
    if (json_kind(diff) == JSON_OBJECT) {
        buf_adds(out, "Against what was recorded:\n");
        show_diff(s, json_none(), diff, out);
    }
}

static const struct EventShown {
    const char *name;
    void (*show)(const Show *s, Json event, Buf *out);
} events_shown[] = {
    {"paused", show_place},          {"log", show_log},           {"output", show_output},
    {"waiting", show_waiting},       {"node", show_node_begins},  {"step", show_step_done},
    {"retry", show_retry},           {"warning", show_warning},   {"settled", show_settled},
    {"session", show_session_event}, {"replayed", show_replayed}, {NULL, NULL},
};

void show_event(const Show *s, Json event, Buf *out) {
    for (const struct EventShown *e = events_shown; e->name; e++) {
        if (json_string_is(get(event, "event"), e->name)) {
            e->show(s, event, out);
            end_line(out);
        }
    }
}

/* ---- answers: the session ---- */

static const char *on_or_off(Json object, const char *key) {
    return json_truthy(get(object, key)) ? "on" : "off";
}

static void add_idle(Json answer, Buf *out) {
    double limit = seconds_of(answer, "idle_limit"), left = seconds_of(answer, "expires_in");
    buf_adds(out, ", idle ");
    if (limit <= 0) {
        buf_adds(out, "off");
        return;
    }
    add_time(limit, out);
    if (left >= 0) {
        buf_adds(out, " (");
        add_time(left, out);
        buf_adds(out, " left)");
    }
}

static void show_session(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    add_field("Thread ", answer, "thread", "", out);
    add_field(" (run ", answer, "run", ")", out);
    add_field(" of workflow ", answer, "workflow", "", out);
    add_where(s, answer, ", ", out);
    add_field("\nStatus: ", answer, "status", "", out);
    if (number_of(answer, "paused", 0)) {
        add_field(", frames paused: ", answer, "paused", "", out);
    }
    add_field(", selected frame: ", answer, "frame", "", out);
    add_field(", checkpoint ", answer, "checkpoint", "", out);
    buf_printf(out, "\nOptions: pause-all %s, auto-resume %s",
               on_or_off(answer, "pause_all_on_breakpoint"), on_or_off(answer, "auto_resume"));
    add_idle(answer, out);
    buf_addc(out, '\n');
    add_error(s, get(answer, "error"), "", out);
}

/* ---- answers: breakpoints ---- */

static void add_exception(Json b, Buf *out) {
    buf_adds(out, json_truthy(get(b, "caught")) ? "errors, caught ones too" : "errors");
    add_field(" if ", b, "error", "", out);
}

static void add_state_point(Json b, Buf *out) {
    Json state = get(b, "state"), equals = get(state, "equals");
    add_path(get(state, "path"), out);
    if (json_is_none(equals)) {
        buf_adds(out, " changes");
    } else {
        buf_adds(out, " becomes ");
        add_compact(equals, ONE_LINE, out);
    }
}

static void add_target(Json b, Buf *out) {
    Json type = get(b, "type");
    if (json_string_is(type, "exception")) {
        add_exception(b, out);
    } else if (json_kind(get(b, "state")) == JSON_OBJECT) {
        add_state_point(b, out);
    } else if (json_string_is(type, "conditional")) {
        buf_adds(out, "any node");
    } else {
        add_field("", b, "node", "", out);
        add_field("task ", b, "task_index", "", out);
        add_field("task with id ", b, "task_id", "", out);
        add_field("tasks of kind ", b, "task_name", "", out);
        add_field("", b, "file", "", out);
        add_field(":", b, "line", "", out);
    }
    if (!json_string_is(get(b, "position"), "before")) {
        add_field(" (", b, "position", ")", out);
    }
}

static void add_breakpoint(Json b, Buf *out) {
    add_target(b, out);
    add_field(" if ", b, "condition", "", out);
    add_field(", at hits ", b, "hit_condition", "", out);
    if (number_of(b, "ignore_count", 0)) {
        add_field(", after ", b, "ignore_count", " hits", out);
    }
    add_field(", logs \"", b, "log_message", "\"", out);
    buf_adds(out, json_truthy(get(b, "once")) ? ", once" : "");
    add_field(", group ", b, "group", "", out);
}

static bool is_unverified(Json b) {
    return json_tag(get(b, "verified")) == JSON_TAG_FALSE;
}

static void show_breakpoint(const Show *s, Json args, Json answer, Buf *out) {
    Json b = get(answer, "breakpoint"), places = get(b, "places");
    (void)args;
    buf_adds(out, has_text(b, "log_message") ? "Log point " : "Breakpoint ");
    add_text(get(b, "id"), out);
    buf_adds(out, ": ");
    add_breakpoint(b, out);
    if (items_in(places) == 1) {
        add_where(s, json_array_get(places, 0), ", ", out);
    } else if (items_in(places) > 1) {
        buf_printf(out, ", %zu places", items_in(places));
    }
    buf_adds(out, is_unverified(b) ? ", not verified" : "");
    buf_addc(out, '\n');
    add_field("  ", b, "message", "\n", out);
}

static void show_breakpoints(const Show *s, Json args, Json answer, Buf *out) {
    static const char *const heading[] = {"NUM", "ON", "HITS", "STOPS AT"};
    Table t = {.columns = 4};
    Json list = get(answer, "breakpoints");
    (void)args;
    if (!items_in(list)) {
        add_hint(s, "There are no breakpoints.", out);
        return;
    }
    table_row(&t, heading);
    for (size_t i = 0; i < items_in(list); i++) {
        Json b = json_array_get(list, i);
        Row row = {.table = &t};
        bool off = json_tag(get(b, "enabled")) == JSON_TAG_FALSE;
        add_text(get(b, "id"), &row.cells[0]);
        buf_adds(&row.cells[1], off ? "no" : "yes");
        buf_printf(&row.cells[2], "%lld", (long long)number_of(b, "hit_count", 0));
        add_breakpoint(b, &row.cells[3]);
        add_field(is_unverified(b) ? ", not verified: " : ", ", b, "message", "", &row.cells[3]);
        end_row(&row);
    }
    end_table(&t, out);
}

static void show_breakpoint_set(const Show *s, Json args, Json answer, Buf *out) {
    bool one = json_kind(get(answer, "breakpoint")) == JSON_OBJECT;
    (one ? show_breakpoint : show_breakpoints)(s, args, answer, out);
}

/* "Deleted 1 and 2." */
static void add_done(const Show *s, const char *word, Json ids, Buf *out) {
    if (!items_in(ids)) {
        add_hint(s, "There is none.", out);
        return;
    }
    buf_printf(out, "%s ", word);
    add_numbers(ids, out);
    buf_adds(out, ".\n");
}

static void show_deleted(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    add_done(s, "Deleted", get(answer, "deleted"), out);
}

static void show_enabled(const Show *s, Json args, Json answer, Buf *out) {
    bool on = json_truthy(get(args, "enabled"));
    add_done(s, on ? "Enabled" : "Disabled", get(answer, "changed"), out);
}

/* ---- answers: control ---- */

static void show_resumed(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    if (!items_in(get(answer, "resumed"))) {
        add_hint(s, "Nothing is paused.", out);
    }
}

static void show_pausing(const Show *s, Json args, Json answer, Buf *out) {
    Json later = get(answer, "later");
    (void)args;
    if (items_in(later)) {
        buf_adds(out, items_in(later) > 1 ? "Frames " : "Frame ");
        add_numbers(later, out);
        buf_adds(out, items_in(later) > 1 ? " stop before their next nodes.\n"
                                          : " stops before its next node.\n");
    } else if (!items_in(get(answer, "paused"))) {
        add_hint(s, "Nothing is running.", out);
    }
}

static void show_moved(const Show *s, Json args, Json answer, Buf *out) {
    (void)s;
    (void)args;
    add_field("At checkpoint ", answer, "checkpoint", "", out);
    add_breakpoints(get(answer, "breakpoints"), out);
    buf_adds(out, json_is_none(get(answer, "checkpoint")) ? "" : ".\n");
}

static void show_answered(const Show *s, Json args, Json answer, Buf *out) {
    (void)s;
    (void)args;
    add_field("Answered ", answer, "answered", ".\n", out);
}

/* ---- answers: frames and nodes ---- */

static void add_doing(const Show *s, Json f, Buf *out) {
    Json status = get(f, "status");
    add_text(status, out);
    if (has_text(f, "node")) {
        buf_printf(out, " %s ", json_string_is(status, "paused") ? position_words(f) : "at");
        add_node_and_kind(s, f, out);
    }
}

static void show_frames(const Show *s, Json args, Json answer, Buf *out) {
    static const char *const heading[] = {"  FRAME", "NAME", "DOES", "PLACE"};
    const Show plain = {0}; /* columns are as wide as what is in them */
    Table t = {.columns = 4};
    Json list = get(answer, "frames");
    int64_t selected = number_of(answer, "selected", 0), total = number_of(answer, "total", 0);
    (void)args;
    table_row(&t, heading);
    for (size_t i = 0; i < items_in(list); i++) {
        Json f = json_array_get(list, i);
        Row row = {.table = &t};
        int64_t id = number_of(f, "frame", 0);
        buf_printf(&row.cells[0], "%s%lld", id == selected ? "* " : "  ", (long long)id);
        add_text(get(f, "name"), &row.cells[1]);
        add_doing(&plain, f, &row.cells[2]);
        add_where(&plain, f, "", &row.cells[3]);
        end_row(&row);
    }
    end_table(&t, out);
    if (total > (int64_t)items_in(list)) {
        buf_printf(out, "and %lld more\n", (long long)(total - (int64_t)items_in(list)));
    }
    (void)s;
}

static void add_stack(const Show *s, Json stack, Buf *out) {
    for (size_t i = 0; i < items_in(stack); i++) {
        Json level = json_array_get(stack, i);
        buf_printf(out, "#%zu  ", i);
        add_node_and_kind(s, level, out);
        add_field(" in ", level, "workflow", "", out);
        add_where(s, level, ", ", out);
        buf_addc(out, '\n');
    }
}

static void show_frame(const Show *s, Json args, Json answer, Buf *out) {
    Json interrupt = get(answer, "interrupt");
    (void)args;
    if (json_string_is(get(answer, "status"), "paused")) {
        show_place(s, answer, out);
    } else {
        add_frame_name(answer, out);
        buf_adds(out, ": ");
        add_doing(s, answer, out);
        buf_addc(out, '\n');
    }
    if (json_kind(interrupt) == JSON_OBJECT) {
        add_field("Asks (", interrupt, "id", "): ", out);
        add_text(get(interrupt, "prompt"), out);
        buf_addc(out, '\n');
        add_answers(interrupt, out);
    }
    add_stack(s, get(answer, "stack"), out);
}

static void add_edges(Json edges, Buf *out) {
    for (size_t i = 0; i < items_in(edges); i++) {
        Json edge = json_array_get(edges, i);
        add_field("  to ", edge, "to", "", out);
        add_field(" when ", edge, "when", "", out);
        add_field(" on ", edge, "on", "", out);
        buf_addc(out, '\n');
    }
}

/* A text of several lines, indented; anything else as a value. */
static void add_block(const Show *s, Json v, Buf *out) {
    if (!is_text(v)) {
        show_value(s, v, out);
        return;
    }
    const char *at = json_string_data(&v), *last = at + json_string_len(v);
    while (at < last) {
        const char *newline = memchr(at, '\n', (size_t)(last - at));
        const char *to = newline ? newline : last;
        buf_adds(out, "  ");
        add_safe(at, (size_t)(to - at), out);
        buf_addc(out, '\n');
        at = newline ? newline + 1 : last;
    }
}

static void show_node(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    add_node_and_kind(s, answer, out);
    add_field(": ", answer, "title", "", out);
    add_where(s, answer, ", ", out);
    if (number_of(answer, "end_line", 0) > number_of(answer, "line", 0)) {
        add_field("-", answer, "end_line", "", out);
    }
    if (number_of(answer, "attempt", 0)) {
        add_field(", attempts that failed: ", answer, "attempt", "", out);
    }
    add_field(", timeout ", answer, "timeout", "", out);
    buf_adds(out, json_truthy(get(answer, "injected")) ? ", injected\n" : "\n");
    if (!json_is_none(get(answer, "source"))) {
        add_block(s, get(answer, "source"), out);
    }
    if (items_in(get(answer, "edges"))) {
        buf_adds(out, "Edges:\n");
        add_edges(get(answer, "edges"), out);
    }
}

static void show_config(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    add_node_and_kind(s, answer, out);
    buf_adds(out, json_truthy(get(answer, "edited")) ? ", edited for this execution:\n" : ":\n");
    show_value(s, get(answer, "raw"), out);
    if (!json_is_none(get(answer, "resolved"))) {
        buf_adds(out, "Resolved:\n");
        show_value(s, get(answer, "resolved"), out);
    }
    add_error(s, get(answer, "error"), "Cannot be resolved now: ", out);
}

static void show_nodes(const Show *s, Json args, Json answer, Buf *out) {
    static const char *const heading[] = {"NODE", "KIND", "WORKFLOW", "PLACE"};
    const Show plain = {0};
    Table t = {.columns = 4};
    Json list = get(answer, "nodes");
    (void)s;
    (void)args;
    table_row(&t, heading);
    for (size_t i = 0; i < items_in(list); i++) {
        Json node = json_array_get(list, i);
        Row row = {.table = &t};
        add_text(get(node, "name"), &row.cells[0]);
        add_text(get(node, "kind"), &row.cells[1]);
        add_text(get(node, "workflow"), &row.cells[2]);
        add_where(&plain, node, "", &row.cells[3]);
        end_row(&row);
    }
    end_table(&t, out);
}

static void show_graph(const Show *s, Json args, Json answer, Buf *out) {
    Json text = get(answer, "text");
    (void)s;
    (void)args;
    if (is_text(text)) {
        buf_add(out, json_string_data(&text), json_string_len(text));
    }
}

/* ---- answers: values ---- */

static void add_parts(Json list, const char *name, Buf *out) {
    Table t = {.columns = 4};
    for (size_t i = 0; i < items_in(list); i++) {
        Json part = json_array_get(list, i);
        Row row = {.table = &t};
        buf_adds(&row.cells[0], "  ");
        add_path(get(part, name), &row.cells[0]);
        add_text(get(part, "type"), &row.cells[1]);
        if (json_tag(get(part, "size")) == JSON_TAG_INT) {
            add_size(number_of(part, "size", 0), &row.cells[2]);
        }
        add_text(get(part, "preview"), &row.cells[3]);
        end_row(&row);
    }
    end_table(&t, out);
}

static void show_variables(const Show *s, Json args, Json answer, Buf *out) {
    Json children = get(answer, "children"), value = get(answer, "value");
    int64_t total = number_of(answer, "total", 0), offset = number_of(args, "offset", 0);
    int64_t shown = offset + (int64_t)items_in(children);
    if (!json_is_none(value)) {
        show_value(s, value, out);
        return;
    }
    add_field("", answer, "type", " of ", out);
    add_size(number_of(answer, "size", 0), out);
    buf_printf(out, ", %lld parts:\n", (long long)total);
    add_parts(children, "key", out);
    if (shown < total) {
        buf_printf(out, "and %lld more: `state PATH +%lld`\n", (long long)(total - shown),
                   (long long)shown);
    }
}

static void show_summary(const Show *s, Json args, Json answer, Buf *out) {
    int64_t more = number_of(answer, "total", 0) - (int64_t)items_in(get(answer, "keys"));
    (void)s;
    (void)args;
    add_parts(get(answer, "keys"), "key", out);
    if (more > 0) {
        buf_printf(out, "and %lld more\n", (long long)more);
    }
    buf_adds(out, "In all ");
    add_size(number_of(answer, "size", 0), out);
    buf_adds(out, ".\n");
}

static void show_found(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    if (!items_in(get(answer, "found"))) {
        add_hint(s, "It is nowhere in the state.", out);
        return;
    }
    add_parts(get(answer, "found"), "path", out);
    buf_adds(out, json_truthy(get(answer, "more")) ? "and more\n" : "");
}

static void show_largest(const Show *s, Json args, Json answer, Buf *out) {
    (void)s;
    (void)args;
    add_parts(get(answer, "largest"), "path", out);
}

/* Of a list of differences, all with one sign. */
static size_t add_differences(const Show *s, Json list, const char *sign, Buf *out) {
    for (size_t i = 0; i < items_in(list); i++) {
        Json d = json_array_get(list, i), old = get(d, "old"), new = get(d, "new");
        begin(s, sign[0] == '-' ? STYLE_BAD : sign[0] == '+' ? STYLE_GOOD : STYLE_NAME, out);
        buf_printf(out, "%s ", sign);
        end(s, out);
        add_path(get(d, "path"), out);
        buf_adds(out, ": ");
        if (!json_is_none(old)) {
            add_compact(old, ONE_LINE, out);
        }
        buf_adds(out, !json_is_none(old) && !json_is_none(new) ? " → " : "");
        if (!json_is_none(new)) {
            add_compact(new, ONE_LINE, out);
        }
        buf_addc(out, '\n');
    }
    return items_in(list);
}

static void show_diff(const Show *s, Json args, Json answer, Buf *out) {
    size_t n = add_differences(s, get(answer, "changed"), "~", out);
    (void)args;
    n += add_differences(s, get(answer, "added"), "+", out);
    n += add_differences(s, get(answer, "removed"), "-", out);
    buf_adds(out, json_truthy(get(answer, "more")) ? "and more\n" : "");
    if (!n) {
        add_hint(s, "Nothing changed.", out);
    }
}

static void show_results(const Show *s, Json args, Json answer, Buf *out) {
    Json results = get(answer, "results");
    (void)args;
    for (size_t i = 0; i < items_in(results); i++) {
        show_value(s, json_array_get(results, i), out);
    }
    Json omitted = get(answer, "omitted");
    if (json_kind(omitted) == JSON_OBJECT) {
        add_hint(s,
                 "A value that is too large to print; `state PATH` and `summary` show its parts.",
                 out);
    } else if (!items_in(results)) {
        add_hint(s, "No output.", out);
    } else {
        buf_adds(out, json_truthy(get(answer, "more")) ? "and more\n" : "");
    }
}

/* ---- answers: watches ---- */

static void add_watch(const Show *s, Json watch, Buf *out) {
    Json results = get(watch, "results");
    add_field("", watch, "id", ": ", out);
    add_text(get(watch, "expression"), out);
    buf_adds(out, " = ");
    if (has_text(watch, "error")) {
        add_error(s, get(watch, "error"), "", out);
        return;
    }
    for (size_t i = 0; i < items_in(results); i++) {
        buf_adds(out, i ? ", " : "");
        add_compact(json_array_get(results, i), ONE_LINE, out);
    }
    buf_adds(out, items_in(results) ? "\n" : "no output\n");
}

void show_watches(const Show *s, Json answer, Buf *out) {
    Json list = get(answer, "watches");
    for (size_t i = 0; i < items_in(list); i++) {
        add_watch(s, json_array_get(list, i), out);
    }
}

static void show_all_watches(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    show_watches(s, answer, out);
    if (!items_in(get(answer, "watches"))) {
        add_hint(s, "There are no watches.", out);
    }
}

static void show_watch_added(const Show *s, Json args, Json answer, Buf *out) {
    Json watch = get(answer, "watch");
    (void)s;
    (void)args;
    add_field("Watch ", watch, "id", "", out);
    add_field(": ", watch, "expression", "\n", out);
}

/* ---- answers: history ---- */

static void add_keys(Json keys, Buf *out) {
    for (size_t i = 0; i < items_in(keys); i++) {
        buf_adds(out, i ? ", " : "");
        add_text(json_array_get(keys, i), out);
    }
}

static void add_history_row(Table *t, Json step) {
    char took[OUTPUT_TIME_MAX];
    Row row = {.table = t};
    bool result = has_text(step, "result");
    buf_adds(&row.cells[0], json_truthy(get(step, "current")) ? "*" : " ");
    add_text(get(step, "checkpoint"), &row.cells[0]);
    add_text(get(step, "frame"), &row.cells[1]);
    add_text(get(step, "node"), &row.cells[2]);
    buf_adds(&row.cells[2], json_truthy(get(step, "injected")) ? " (injected)" : "");
    add_text(get(step, result ? "result" : "status"), &row.cells[3]);
    if (json_kind(get(step, "took")) == JSON_NUMBER) {
        double ms = json_to_double(get(step, "took"));
        buf_adds(&row.cells[4], ms >= 0 && ms < 1e15 ? output_duration((int64_t)ms, took) : "");
    }
    buf_adds(&row.cells[5], json_truthy(get(step, "paused")) ? "yes" : "");
    add_keys(get(step, "changed"), &row.cells[6]);
    end_row(&row);
}

static void show_history(const Show *s, Json args, Json answer, Buf *out) {
    static const char *const heading[] = {" SEQ", "FRAME",  "NODE",   "RESULT",
                                          "TOOK", "PAUSED", "CHANGED"};
    Table t = {.columns = 7};
    Json steps = get(answer, "steps");
    (void)args;
    if (json_truthy(get(answer, "more"))) {
        add_hint(s, "(there are earlier ones: `history N`, or `history @CHECKPOINT`)", out);
    }
    table_row(&t, heading);
    for (size_t i = 0; i < items_in(steps); i++) {
        add_history_row(&t, json_array_get(steps, i));
    }
    end_table(&t, out);
}

/* ---- answers: changes ---- */

static void show_pending(const Show *s, Json args, Json answer, Buf *out) {
    Json list = get(answer, "pending");
    (void)args;
    if (!items_in(list)) {
        add_hint(s, "Nothing is pending.", out);
        return;
    }
    buf_adds(out, "When the frame goes on:\n");
    for (size_t i = 0; i < items_in(list); i++) {
        Json change = json_array_get(list, i), value = get(change, "value");
        add_field("  ", change, "id", ": ", out);
        add_path(get(change, "path"), out);
        buf_adds(out, json_is_none(value) ? " is removed" : " = ");
        if (!json_is_none(value)) {
            add_compact(value, ONE_LINE, out);
        }
        buf_addc(out, '\n');
    }
}

static void add_injected(const Show *s, Json injected, Buf *out) {
    add_field("Node ", injected, "id", ", ", out);
    add_name(s, get(injected, "name"), out);
    add_field(", runs ", injected, "where", " the current one: ", out);
    add_compact(get(injected, "node"), ONE_LINE, out);
    buf_addc(out, '\n');
}

static void show_inject(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    add_injected(s, get(answer, "injected"), out);
}

static void show_injected(const Show *s, Json args, Json answer, Buf *out) {
    Json list = get(answer, "injected");
    (void)args;
    for (size_t i = 0; i < items_in(list); i++) {
        add_injected(s, json_array_get(list, i), out);
    }
    if (!items_in(list)) {
        add_hint(s, "No node is injected.", out);
    }
}

static void show_removed(const Show *s, Json args, Json answer, Buf *out) {
    (void)s;
    (void)args;
    add_field("Removed ", answer, "removed", ".\n", out);
}

static void show_replay(const Show *s, Json args, Json answer, Buf *out) {
    (void)s;
    (void)args;
    add_field("It runs again as thread ", answer, "thread", ".\n", out);
}

static void show_nothing(const Show *s, Json args, Json answer, Buf *out) {
    (void)s;
    (void)args;
    (void)answer;
    (void)out;
}

/* ---- the table ---- */

static const struct AnswerShown {
    const char *operation;
    void (*show)(const Show *s, Json args, Json answer, Buf *out);
} answers_shown[] = {
    {"session", show_session},
    {"configure", show_session},
    {"extend", show_session},
    {"detach", show_nothing},
    {"abort", show_nothing},
    {"breakpoint_set", show_breakpoint_set},
    {"breakpoint_change", show_breakpoint},
    {"breakpoint_delete", show_deleted},
    {"breakpoint_enable", show_enabled},
    {"breakpoints", show_breakpoints},
    {"continue", show_resumed},
    {"pause", show_pausing},
    {"step", show_resumed},
    {"back", show_moved},
    {"reverse_continue", show_moved},
    {"goto", show_moved},
    {"skip", show_resumed},
    {"retry", show_resumed},
    {"answer", show_answered},
    {"frames", show_frames},
    {"frame", show_frame},
    {"node", show_node},
    {"config", show_config},
    {"config_set", show_config},
    {"config_reset", show_config},
    {"variables", show_variables},
    {"summary", show_summary},
    {"search", show_found},
    {"largest", show_largest},
    {"diff", show_diff},
    {"evaluate", show_results},
    {"watch_add", show_watch_added},
    {"watch_delete", show_deleted},
    {"watches", show_all_watches},
    {"source", show_source},
    {"nodes", show_nodes},
    {"graph", show_graph},
    {"history", show_history},
    {"set", show_pending},
    {"unset", show_pending},
    {"pending", show_pending},
    {"revoke", show_pending},
    {"inject", show_inject},
    {"injected", show_injected},
    {"inject_remove", show_removed},
    {"replay", show_replay},
    {NULL, NULL},
};

void show_answer(const Show *s, const char *operation, Json args, Json answer, Buf *out) {
    for (const struct AnswerShown *a = answers_shown; a->operation; a++) {
        if (!strcmp(a->operation, operation)) {
            a->show(s, args, answer, out);
            end_line(out);
            return;
        }
    }
    show_value(s, answer, out);
}
