/* view_values.c - values, and what became of them. */
#include "view_rows.h"

#include "json_print.h"
#include "terminal.h"
#include "utf8.h"

#include <string.h>

/* ---- values ---- */

/* Printed JSON: what drives a terminal is escaped in it but for the second set of control characters. */
static void add_printed(const char *text, size_t len, Buf *out) {
    for (size_t i = 0; i < len; i++) {
        bool c1 = i + 1 < len && terminal_is_control(text + i) && (unsigned char)text[i] == 0xC2;
        if (c1) {
            buf_printf(out, "\\u%04x", (unsigned)(unsigned char)text[++i]);
        } else {
            buf_addc(out, text[i]);
        }
    }
}

/* Where a text that is cut can end: not in a character, nor in a colour. */
static size_t whole_length(const char *text, size_t len) {
    size_t n = utf8_valid_prefix(text, len), colour = n;
    while (colour && text[colour - 1] != '\x1b') {
        colour--;
    }
    return colour && !memchr(text + colour, 'm', n - colour) ? colour - 1 : n;
}

static void add_pretty(const Show *s, Json value, Buf *out) {
    JsonPrintOptions options = {.indent = 2, .colors = s->colour ? &json_default_colors : NULL};
    options.max_bytes = SHOW_VALUE_MAX;
    Buf text = BUF_INIT;
    if (json_print(value, &options, &text)) {
        add_printed(text.data, text.len, out);
        buf_addc(out, '\n');
    } else {
        add_printed(text.data, whole_length(text.data, SHOW_VALUE_MAX), out);
        say_end(s, out);
        buf_adds(out, "…\n");
        say_hint(s, "(cut here; `state PATH` shows a large value by its parts)", out);
    }
    buf_clear(&text);
}

void show_value(const Show *s, Json value, Buf *out) {
    JsonPrintOptions options = {.max_bytes = SAY_LINE};
    Buf text = BUF_INIT;
    if (json_print(value, &options, &text) && text.len <= SAY_LINE) {
        options = (JsonPrintOptions){.colors = s->colour ? &json_default_colors : NULL};
        buf_reset(&text);
        json_print(value, &options, &text);
        add_printed(text.data, text.len, out);
        buf_addc(out, '\n');
    } else {
        add_pretty(s, value, out);
    }
    buf_clear(&text);
}

void show_results(const Show *s, Json args, Json answer, Buf *out) {
    Json results = field_get(answer, "results");
    (void)args;
    for (size_t i = 0; i < field_items(results); i++) {
        show_value(s, json_array_get(results, i), out);
    }
    Json omitted = field_get(answer, "omitted");
    if (json_kind(omitted) == JSON_OBJECT) {
        say_hint(s,
                 "A value that is too large to print; `state PATH` and `summary` show its parts.",
                 out);
    } else if (!field_items(results)) {
        say_hint(s, "No output.", out);
    } else {
        buf_adds(out, json_truthy(field_get(answer, "more")) ? "and more\n" : "");
    }
}

/* ---- their parts ---- */

static void add_parts(Json list, const char *name, Buf *out) {
    Table t = {.columns = 4};
    for (size_t i = 0; i < field_items(list); i++) {
        Json part = json_array_get(list, i);
        TableRow row = {.table = &t};
        buf_adds(&row.cells[0], "  ");
        say_path(field_get(part, name), &row.cells[0]);
        say_text(field_get(part, "type"), &row.cells[1]);
        if (json_tag(field_get(part, "size")) == JSON_TAG_INT) {
            say_size(field_number(part, "size", 0), &row.cells[2]);
        }
        say_text(field_get(part, "preview"), &row.cells[3]);
        row_end(&row);
    }
    say_table(&t, out);
}

void show_variables(const Show *s, Json args, Json answer, Buf *out) {
    Json children = field_get(answer, "children"), value = field_get(answer, "value");
    int64_t total = field_number(answer, "total", 0), offset = field_number(args, "offset", 0);
    int64_t shown = offset + (int64_t)field_items(children);
    if (!json_is_none(value)) {
        show_value(s, value, out);
        return;
    }
    say_field("", answer, "type", " of ", out);
    say_size(field_number(answer, "size", 0), out);
    buf_printf(out, ", %lld parts:\n", (long long)total);
    add_parts(children, "key", out);
    if (shown < total) {
        buf_printf(out, "and %lld more: `state PATH +%lld`\n", (long long)(total - shown),
                   (long long)shown);
    }
}

void show_summary(const Show *s, Json args, Json answer, Buf *out) {
    int64_t more =
        field_number(answer, "total", 0) - (int64_t)field_items(field_get(answer, "keys"));
    (void)s;
    (void)args;
    add_parts(field_get(answer, "keys"), "key", out);
    if (more > 0) {
        buf_printf(out, "and %lld more\n", (long long)more);
    }
    buf_adds(out, "In all ");
    say_size(field_number(answer, "size", 0), out);
    buf_adds(out, ".\n");
}

void show_found(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    if (!field_items(field_get(answer, "found"))) {
        say_hint(s, "It is nowhere in the state.", out);
        return;
    }
    add_parts(field_get(answer, "found"), "path", out);
    buf_adds(out, json_truthy(field_get(answer, "more")) ? "and more\n" : "");
}

void show_largest(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    add_parts(field_get(answer, "largest"), "path", out);
    if (!field_items(field_get(answer, "largest"))) {
        say_hint(s, "The state is empty.", out);
    }
}

/* ---- differences ---- */

/* Of a list of differences, all with one sign. */
static size_t add_differences(const Show *s, Json list, const char *sign, Buf *out) {
    for (size_t i = 0; i < field_items(list); i++) {
        Json d = json_array_get(list, i), old = field_get(d, "old"), new = field_get(d, "new");
        say_begin(s, sign[0] == '-' ? STYLE_BAD : sign[0] == '+' ? STYLE_GOOD : STYLE_NAME, out);
        buf_printf(out, "%s ", sign);
        say_end(s, out);
        say_path(field_get(d, "path"), out);
        buf_adds(out, ": ");
        if (!json_is_none(old)) {
            say_json(old, SAY_LINE, out);
        }
        buf_adds(out, !json_is_none(old) && !json_is_none(new) ? " → " : "");
        if (!json_is_none(new)) {
            say_json(new, SAY_LINE, out);
        }
        buf_addc(out, '\n');
    }
    return field_items(list);
}

void show_diff(const Show *s, Json args, Json answer, Buf *out) {
    size_t n = add_differences(s, field_get(answer, "changed"), "~", out);
    (void)args;
    n += add_differences(s, field_get(answer, "added"), "+", out);
    n += add_differences(s, field_get(answer, "removed"), "-", out);
    buf_adds(out, json_truthy(field_get(answer, "more")) ? "and more\n" : "");
    if (!n) {
        say_hint(s, "Nothing changed.", out);
    }
}
