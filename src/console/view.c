#include "view.h"

#include "json_path.h"
#include "json_print.h"
#include "terminal.h"
#include "url.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

/* ---- text ---- */

void view_style(View *v, Style style) {
    static const char *const codes[] = {"\x1b[1m",  "\x1b[36m", "\x1b[31m",
                                        "\x1b[32m", "\x1b[2m",  "\x1b[0m"};
    buf_adds(v->out, v->colour ? codes[style] : "");
}

void view_styled(View *v, Style style, const char *text) {
    view_style(v, style);
    terminal_safe(text, strlen(text), v->out);
    view_style(v, STYLE_NONE);
}

void view_puts(View *v, const char *text) {
    buf_adds(v->out, text);
}

void view_printf(View *v, const char *fmt, ...) {
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    buf_adds(v->out, text);
}

void view_json(View *v, Json value, size_t max) {
    JsonPrintOptions options = {.max_bytes = max};
    Buf text = BUF_INIT;
    bool whole = json_print(value, &options, &text);
    size_t len = text.len > max ? max : text.len;
    terminal_safe(text.data, text.data ? utf8_valid_prefix(text.data, len) : 0, v->out);
    view_puts(v, whole && text.len <= max ? "" : "…");
    buf_clear(&text);
}

void view_text(View *v, Json value) {
    enum { TEXT_MAX = 2000 };
    if (field_is_text(value)) {
        size_t len = json_string_len(value), shown = len > TEXT_MAX ? TEXT_MAX : len;
        const char *text = json_string_data(&value);
        terminal_safe(text, utf8_valid_prefix(text, shown), v->out);
        view_puts(v, len > shown ? "…" : "");
    } else if (!json_is_none(value) && json_kind(value) != JSON_NULL) {
        view_json(v, value, TEXT_MAX);
    }
}

void view_if(View *v, Json object, const char *key, const char *words) {
    view_puts(v, json_truthy(field_get(object, key)) ? words : "");
}

void view_lines(View *v, const char *before, Json text) {
    const char *at = field_is_text(text) ? json_string_data(&text) : "";
    const char *last = at + (field_is_text(text) ? json_string_len(text) : 0);
    while (at < last) {
        const char *newline = memchr(at, '\n', (size_t)(last - at));
        const char *to = newline ? newline : last;
        view_puts(v, before);
        terminal_safe(at, (size_t)(to - at), v->out);
        view_puts(v, "\n");
        at = newline ? newline + 1 : last;
    }
}

void view_hint(View *v, const char *hint) {
    view_styled(v, STYLE_DIM, hint);
    view_puts(v, "\n");
}

void view_sentence(View *v, const char *sentence) {
    view_styled(v, STYLE_BAD, sentence);
    view_puts(v, "\n");
}

void view_end_line(View *v) {
    if (v->out->len && v->out->data[v->out->len - 1] != '\n') view_puts(v, "\n");
}

/* ---- parts of answers ---- */

void view_numbers(View *v, Json list) {
    size_t n = json_array_len(list);
    for (size_t i = 0; i < n; i++) {
        view_puts(v, i == 0 ? "" : i + 1 == n ? " and " : ", ");
        view_text(v, json_array_get(list, i));
    }
}

void view_where(View *v, const char *before, Json place) {
    if (field_has_text(place, "file")) {
        view_puts(v, before);
        view_style(v, STYLE_PLACE);
        view_format(v, place, "{file}[:{line}]");
        view_style(v, STYLE_NONE);
    }
}

void view_path(View *v, Json path) {
    if (json_kind(path) == JSON_ARRAY) {
        Buf text = BUF_INIT;
        json_path_text(path, SIZE_MAX, &text);
        terminal_safe(text.data, text.len, v->out);
        buf_clear(&text);
    } else {
        view_text(v, path);
    }
}

void view_breakpoint_ids(View *v, Json ids) {
    if (json_array_len(ids)) {
        view_puts(v, json_array_len(ids) > 1 ? ", breakpoints " : ", breakpoint ");
        view_numbers(v, ids);
    }
}

void view_frame_name(View *v, Json place) {
    Json name = field_get(place, "frame_name");
    name = field_is_text(name) ? name : field_get(place, "name");
    view_format(v, place, "[Frame {frame}]");
    if (field_is_text(name) && !json_string_is(name, "main")) {
        view_puts(v, " (");
        view_text(v, name);
        view_puts(v, ")");
    }
}

void view_node(View *v, Json place) {
    view_format(v, place, field_has_text(place, "node") ? "`{node}`[ ({kind})]" : "[ ({kind})]");
}

const char *view_position(Json place) {
    static const char *const positions[][2] = {
        {"before", "before"}, {"after", "after"}, {"on_error", "at an error in"},
        {"during", "during"}, {NULL, "at"},
    };
    return field_word(field_get(place, "position"), positions);
}

void view_error(View *v, const char *before, Json error) {
    if (json_kind(error) == JSON_OBJECT || field_is_text(error)) {
        view_style(v, STYLE_BAD);
        view_puts(v, before);
        view_format(v, error, "[{kind}: ]");
        view_text(v, field_is_text(error) ? error : field_get(error, "message"));
        view_style(v, STYLE_NONE);
        view_puts(v, "\n");
    }
}

void view_ways_to_answer(View *v, Json interrupt) {
    Json options = field_get(interrupt, "options"), reason = field_get(interrupt, "reason");
    for (size_t i = 0; i < json_array_len(options); i++) {
        view_puts(v, "    answer ");
        view_text(v, json_array_get(options, i));
        view_puts(v, "\n");
    }
    if (!json_array_len(options)) {
        bool asks = !json_string_is(reason, "before") && !json_string_is(reason, "after");
        view_puts(v, asks ? "    answer JSON\n" : "    answer\n");
    }
}

/* ---- formats ---- */

static void show_json(View *v, Json value) {
    if (!json_is_none(value)) view_json(v, value, VIEW_LINE);
}

/* 12 kB */
static void show_size(View *v, Json value) {
    static const char *const units[] = {"B", "kB", "MB"};
    static const int64_t sizes[] = {1, 1000, 1000000};
    int64_t bytes = json_tag(value) == JSON_TAG_INT ? value.i : 0;
    size_t unit = bytes < 10000 ? 0 : bytes < 10000000 ? 1 : 2;
    view_printf(v, "%lld %s", (long long)(bytes / sizes[unit]), units[unit]);
}

/* 1h 30m, of seconds. */
static void show_time(View *v, Json value) {
    char text[OUTPUT_TIME_MAX];
    double seconds = json_kind(value) == JSON_NUMBER ? json_to_double(value) : -1;
    bool sane = seconds >= 0 && seconds < 1e12;
    view_puts(v, sane ? output_duration((int64_t)(seconds * 1000), text) : "?");
}

/* A field of a format: its value, and how it is shown. */
typedef struct FormatField {
    Json value; /* JSON_NONE: it is not there. A text that is null is not */
    void (*show)(View *v, Json value);
} FormatField;

/* At its {; *at is set behind it. */
static FormatField take_field(Json object, const char **at) {
    static const struct {
        const char *name;
        void (*show)(View *v, Json value);
    } kinds[] = {
        {"json", show_json}, {"path", view_path}, {"size", show_size}, {"time", show_time}};
    char key[32];
    size_t n = strcspn(*at, "}");
    snprintf(key, sizeof key, "%.*s", (int)n - 1, *at + 1);
    *at += n + 1;
    char *kind = strchr(key, '|');
    if (kind) *kind++ = '\0';
    FormatField f = {field_get(object, key), view_text};
    for (size_t i = 0; kind && i < sizeof kinds / sizeof kinds[0]; i++) {
        f.show = strcmp(kinds[i].name, kind) == 0 ? kinds[i].show : f.show;
    }
    if (!kind && json_kind(f.value) == JSON_NULL) f.value = json_none();
    return f;
}

/* Whether all fields up to the closing bracket are there; *end is set behind it. */
static bool has_fields(Json object, const char *at, const char **end) {
    bool all = true;
    while (*at != ']') {
        if (*at == '{') {
            all &= !json_is_none(take_field(object, &at).value);
        } else {
            at++;
        }
    }
    *end = at + 1;
    return all;
}

void view_format(View *v, Json object, const char *format) {
    const char *end;
    for (const char *at = format; *at;) {
        if (*at == '{') {
            bool name = at > format && at[-1] == '`';
            FormatField f = take_field(object, &at);
            if (name) view_style(v, STYLE_NAME);
            f.show(v, f.value);
            if (name) view_style(v, STYLE_NONE);
        } else if (*at == '[') {
            at = has_fields(object, at, &end) ? at + 1 : end;
        } else if (*at == ']') {
            at++;
        } else {
            buf_addc(v->out, *at++);
        }
    }
}

/* ---- values ---- */

/* Printed JSON: what drives a terminal is escaped in it but for what is not ASCII. */
static void add_printed(View *v, const char *text, size_t len) {
    for (size_t i = 0, control; i < len; i += control ? control : 1) {
        control = (unsigned char)text[i] < 0x80 ? 0 : terminal_control(text + i);
        if (control && control <= len - i) {
            int32_t point;
            utf8_decode(text + i, text + i + control, &point);
            buf_printf(v->out, "\\u%04x", (unsigned)point);
        } else {
            buf_addc(v->out, text[i]);
        }
    }
}

/* Where a text that is cut can end: not in a character, nor in a colour. */
static size_t whole_length(const char *text, size_t len) {
    size_t n = utf8_valid_prefix(text, len), colour = n;
    while (colour && text[colour - 1] != '\x1b') colour--;
    return colour && !memchr(text + colour, 'm', n - colour) ? colour - 1 : n;
}

void view_value(View *v, Json value) {
    JsonPrintOptions options = {.max_bytes = VIEW_LINE};
    Buf text = BUF_INIT;
    bool small = json_print(value, &options, &text) && text.len <= VIEW_LINE;
    options = (JsonPrintOptions){.indent = small ? 0 : 2,
                                 .colors = v->colour ? &json_default_colors : NULL,
                                 .max_bytes = small ? 0 : VIEW_VALUE_MAX};
    buf_reset(&text);
    if (json_print(value, &options, &text)) {
        add_printed(v, text.data, text.len);
        view_puts(v, "\n");
    } else {
        add_printed(v, text.data, whole_length(text.data, VIEW_VALUE_MAX));
        view_style(v, STYLE_NONE);
        view_puts(v, "…\n");
        view_hint(v, "(cut here; `state PATH` shows a large value by its parts)");
    }
    buf_clear(&text);
}

void view_hidden(View *v, void (*view)(View *v, Json value), Json value) {
    Buf text = BUF_INIT;
    View apart = *v;
    apart.out = &text;
    view(&apart, value);
    url_hide(v->out, text.data ? text.data : "", text.len);
    buf_clear(&text);
}

/* ---- tables ---- */

void view_cell(Table *t, Json text) {
    view_text(&(View){.out = &t->cells}, text);
    table_next(t);
}

void view_table(View *v, Table *t) {
    table_write(t, v->out);
    table_clear(t);
}
