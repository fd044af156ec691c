#include "view_text.h"

#include "json_path.h"
#include "json_print.h"
#include "terminal.h"
#include "utf8.h"

#include <string.h>

/* ---- text ---- */

static const char *const styles[STYLES] = {"\x1b[1m", "\x1b[36m", "\x1b[31m", "\x1b[32m",
                                           "\x1b[2m"};

void say_begin(const Show *s, Style style, Buf *out) {
    buf_adds(out, s->colour ? styles[style] : "");
}

void say_end(const Show *s, Buf *out) {
    buf_adds(out, s->colour ? "\x1b[0m" : "");
}

void say_safe(const char *text, size_t len, Buf *out) {
    for (size_t i = 0; i < len; i++) {
        if (!terminal_is_control(text + i)) {
            buf_addc(out, text[i]);
        } else if ((unsigned char)text[i] == 0xC2) {
            buf_addc(out, '?');
            i++;
        } else {
            buf_addc(out, text[i] == '\n' || text[i] == '\r' ? ' ' : '?');
        }
    }
}

void say_json(Json v, size_t max, Buf *out) {
    JsonPrintOptions options = {.max_bytes = max};
    Buf text = BUF_INIT;
    bool whole = json_print(v, &options, &text);
    size_t len = text.len > max ? max : text.len;
    say_safe(text.data ? text.data : "", utf8_valid_prefix(text.data ? text.data : "", len), out);
    buf_adds(out, whole && text.len <= max ? "" : "…");
    buf_clear(&text);
}

enum { TEXT_MAX = 2000 };

void say_text(Json v, Buf *out) {
    if (field_is_text(v)) {
        size_t len = json_string_len(v), shown = len > TEXT_MAX ? TEXT_MAX : len;
        const char *text = json_string_data(&v);
        say_safe(text, utf8_valid_prefix(text, shown), out);
        buf_adds(out, len > shown ? "…" : "");
    } else if (!json_is_none(v) && json_kind(v) != JSON_NULL) {
        say_json(v, TEXT_MAX, out);
    }
}

void say_field(const char *before, Json object, const char *key, const char *after, Buf *out) {
    Json v = field_get(object, key);
    if (!json_is_none(v) && json_kind(v) != JSON_NULL) {
        buf_adds(out, before);
        say_text(v, out);
        buf_adds(out, after);
    }
}

void say_lines(const char *before, Json text, Buf *out) {
    const char *at = field_is_text(text) ? json_string_data(&text) : "";
    const char *last = at + (field_is_text(text) ? json_string_len(text) : 0);
    while (at < last) {
        const char *newline = memchr(at, '\n', (size_t)(last - at));
        const char *to = newline ? newline : last;
        buf_adds(out, before);
        say_safe(at, (size_t)(to - at), out);
        buf_addc(out, '\n');
        at = newline ? newline + 1 : last;
    }
}

void show_error(const Show *s, const char *sentence, Buf *out) {
    say_begin(s, STYLE_BAD, out);
    say_safe(sentence, strlen(sentence), out);
    say_end(s, out);
    buf_addc(out, '\n');
}

void say_hint(const Show *s, const char *hint, Buf *out) {
    say_begin(s, STYLE_DIM, out);
    buf_adds(out, hint);
    say_end(s, out);
    buf_addc(out, '\n');
}

void say_line_end(Buf *out) {
    if (out->len && out->data[out->len - 1] != '\n') {
        buf_addc(out, '\n');
    }
}

/* ---- parts of answers ---- */

void say_name(const Show *s, Json v, Buf *out) {
    buf_addc(out, '`');
    say_begin(s, STYLE_NAME, out);
    say_text(v, out);
    say_end(s, out);
    buf_addc(out, '`');
}

void say_numbers(Json list, Buf *out) {
    size_t n = field_items(list);
    for (size_t i = 0; i < n; i++) {
        buf_adds(out, i == 0 ? "" : i + 1 == n ? " and " : ", ");
        say_text(json_array_get(list, i), out);
    }
}

void say_where(const Show *s, Json place, const char *before, Buf *out) {
    if (field_has_text(place, "file")) {
        buf_adds(out, before);
        say_begin(s, STYLE_PLACE, out);
        say_text(field_get(place, "file"), out);
        say_field(":", place, "line", "", out);
        say_end(s, out);
    }
}

void say_path(Json path, Buf *out) {
    if (json_kind(path) == JSON_ARRAY) {
        Buf text = BUF_INIT;
        json_path_text(path, SIZE_MAX, &text);
        say_safe(text.data, text.len, out);
        buf_clear(&text);
    } else {
        say_text(path, out);
    }
}

void say_size(int64_t bytes, Buf *out) {
    if (bytes < 10000) {
        buf_printf(out, "%lld B", (long long)bytes);
    } else if (bytes < 10000000) {
        buf_printf(out, "%lld kB", (long long)(bytes / 1000));
    } else {
        buf_printf(out, "%lld MB", (long long)(bytes / 1000000));
    }
}

void say_time(double seconds, Buf *out) {
    char text[OUTPUT_TIME_MAX];
    bool sane = seconds >= 0 && seconds < 1e12;
    buf_adds(out, sane ? output_duration((int64_t)(seconds * 1000), text) : "?");
}

static const char *const positions[][2] = {
    {"before", "before"}, {"after", "after"}, {"on_error", "at an error in"},
    {"during", "during"}, {NULL, NULL},
};

const char *say_position(Json place) {
    for (size_t i = 0; positions[i][0]; i++) {
        if (json_string_is(field_get(place, "position"), positions[i][0])) {
            return positions[i][1];
        }
    }
    return "at";
}

void say_breakpoints(Json ids, Buf *out) {
    if (field_items(ids)) {
        buf_adds(out, field_items(ids) > 1 ? ", breakpoints " : ", breakpoint ");
        say_numbers(ids, out);
    }
}

void say_frame(Json place, Buf *out) {
    Json name = field_get(place, "frame_name");
    name = field_is_text(name) ? name : field_get(place, "name");
    say_field("Frame ", place, "frame", "", out);
    if (field_is_text(name) && !json_string_is(name, "main")) {
        buf_adds(out, " (");
        say_text(name, out);
        buf_addc(out, ')');
    }
}

void say_node(const Show *s, Json place, Buf *out) {
    if (field_has_text(place, "node")) {
        say_name(s, field_get(place, "node"), out);
    }
    say_field(" (", place, "kind", ")", out);
}

void say_error(const Show *s, Json error, const char *before, Buf *out) {
    if (json_kind(error) == JSON_OBJECT || field_is_text(error)) {
        say_begin(s, STYLE_BAD, out);
        buf_adds(out, before);
        say_field("", error, "kind", ": ", out);
        say_text(field_is_text(error) ? error : field_get(error, "message"), out);
        say_end(s, out);
        buf_addc(out, '\n');
    }
}

void say_answers(Json event, Buf *out) {
    Json options = field_get(event, "options"), reason = field_get(event, "reason");
    for (size_t i = 0; i < field_items(options); i++) {
        buf_adds(out, "    answer ");
        say_text(json_array_get(options, i), out);
        buf_addc(out, '\n');
    }
    if (!field_items(options)) {
        bool asks = !json_string_is(reason, "before") && !json_string_is(reason, "after");
        buf_adds(out, asks ? "    answer JSON\n" : "    answer\n");
    }
}

/* ---- tables ---- */

void say_table(Table *t, Buf *out) {
    table_write(t, out);
    table_clear(t);
}

void row_end(TableRow *row) {
    const char *texts[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < row->table->columns; i++) {
        texts[i] = row->cells[i].data ? row->cells[i].data : "";
    }
    table_row(row->table, texts);
    for (size_t i = 0; i < row->table->columns; i++) {
        buf_clear(&row->cells[i]);
    }
}
