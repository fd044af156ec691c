#include "output.h"

#include "fields.h"
#include "json_print.h"
#include "terminal.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- JSON ---- */

/* On a terminal: characters that drive it, or turn the direction of writing, are escaped; those of ASCII are already.
 * A piece may end within a character. */
static bool write_escaped(FILE *stream, const char *text, size_t len) {
    static struct {
        char bytes[5]; /* with a zero behind them */
        size_t n;
    } owed[2]; /* of a character, of each stream */
    Buf out = BUF_INIT;
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)text[i];
        char *bytes = owed[stream == stderr].bytes;
        size_t *n = &owed[stream == stderr].n;
        if (byte < 0x80) {
            buf_addc(&out, text[i]);
            continue;
        }
        *n = byte >= 0xC0 || *n == 4 ? 0 : *n;
        bytes[(*n)++] = text[i];
        bytes[*n] = '\0';
        unsigned char first = (unsigned char)bytes[0];
        size_t whole = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
        if (*n < whole) continue;
        int32_t cp = 0;
        utf8_decode(bytes, bytes + *n, &cp);
        if (!terminal_control(bytes)) {
            buf_add(&out, bytes, *n);
        } else if (cp > 0xFFFF) {
            buf_printf(&out, "\\u%04x\\u%04x", 0xD7C0 + (cp >> 10), 0xDC00 + (cp & 0x3FF));
        } else {
            buf_printf(&out, "\\u%04x", cp);
        }
        *n = 0;
    }
    bool ok = fwrite(out.data ? out.data : "", 1, out.len, stream) == out.len;
    buf_clear(&out);
    return ok;
}

bool output_json(void *ctx, const char *text, size_t len) {
    FILE *stream = ctx ? ctx : stdout;
    return terminal_is(stream) ? write_escaped(stream, text, len)
                               : fwrite(text, 1, len, stream) == len;
}

void output_pretty(Json value) {
    JsonPrintOptions options = {.indent = 2};
    if (terminal_has_colour(stdout)) options.colors = &json_default_colors;
    json_print_to(value, &options, output_json, NULL);
    putchar('\n');
}

bool output_print(Json value) {
    return json_print_to(value, NULL, output_json, NULL);
}

bool output_line(Json value) {
    return output_print(value) && putchar('\n') != EOF && fflush(stdout) == 0;
}

/* ---- times ---- */

const char *output_duration(int64_t ms, char *out) {
    int64_t s = ms / 1000;
    if (ms < 10000) {
        snprintf(out, OUTPUT_TIME_MAX, "%.2fs", (double)ms / 1000);
    } else if (s < 60) {
        snprintf(out, OUTPUT_TIME_MAX, "%.1fs", (double)ms / 1000);
    } else if (s < 3600) {
        snprintf(out, OUTPUT_TIME_MAX, "%dm %02ds", (int)(s / 60), (int)(s % 60));
    } else {
        snprintf(out, OUTPUT_TIME_MAX, "%lldh %02dm", (long long)(s / 3600), (int)(s / 60 % 60));
    }
    return out;
}

/* ---- tables ---- */

void table_next(Table *t) {
    size_t len = t->cells.len - t->at;
    size_t width = len ? terminal_text_columns(t->cells.data + t->at, len) : 0;
    t->widths[t->column] = width > t->widths[t->column] ? width : t->widths[t->column];
    t->column = (t->column + 1) % t->columns;
    buf_addc(&t->cells, '\0');
    t->at = t->cells.len;
}

void table_row(Table *t, const char *const *cells) {
    for (size_t i = 0; i < t->columns; i++) {
        buf_adds(&t->cells, cells[i]);
        table_next(t);
    }
}

/* Nothing is padded after the last cell of a row that has text. */
void table_write(const Table *t, Buf *out) {
    const char *cell = t->cells.data, *end = cell + t->cells.len;
    while (cell < end) {
        for (size_t i = 0, owed = 0; i < t->columns; i++) {
            size_t len = strlen(cell);
            if (len) {
                buf_printf(out, "%*s%s", (int)owed, "", cell);
                owed = 0;
            }
            owed += t->widths[i] - terminal_text_columns(cell, len) + 2;
            cell += len + 1;
        }
        buf_addc(out, '\n');
    }
}

void table_print(const Table *t) {
    Buf out = BUF_INIT;
    table_write(t, &out);
    terminal_put(stdout, out.data ? out.data : "", out.len);
    buf_clear(&out);
}

void table_clear(Table *t) {
    buf_clear(&t->cells);
}

/* ---- edges ---- */

enum { CONDITION_MAX = 60, GAVE_MAX = 40, WHY_MAX = 100 };

/* On one line, and not much of it. */
static void put_short(const char *text, size_t len, size_t max, Buf *out) {
    bool cut = len > max;
    size_t from = out->len;
    buf_add(out, text, cut ? max - 3 : len);
    if (cut) out->len -= utf8_unfinished(out->data + from, out->len - from);
    buf_adds(out, cut ? "..." : "");
    for (size_t i = from; i < out->len; i++)
        out->data[i] = out->data[i] == '\n' ? ' ' : out->data[i];
}

static void put_targets(Json edge, Buf *out) {
    Json to = field_get(edge, "to");
    for (size_t i = 0; i < json_array_len(to); i++) {
        Json name = json_array_get(to, i);
        buf_adds(out, i ? ", " : "");
        put_short(json_string_data(&name), json_string_len(name), CONDITION_MAX, out);
    }
    buf_adds(out, json_array_len(to) ? "" : "nowhere");
}

/* What a condition gave, how large that is, or why it failed. */
static void put_gave(Json one, Buf *out) {
    static const struct {
        const char *type, *words, *unit;
    } sizes[] = {{"string", "a text", "byte"},
                 {"array", "an array", "element"},
                 {"object", "an object", "key"}};
    int64_t size = field_number(one, "size", 0);
    Json why = field_get(one, "error");
    Buf gave = BUF_INIT;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (json_string_is(field_get(one, "type"), sizes[i].type)) {
            buf_printf(&gave, "%s of %" PRId64 " %s%s", sizes[i].words, size, sizes[i].unit,
                       size == 1 ? "" : "s");
        }
    }
    if (field_is_text(why)) {
        buf_adds(out, "failed: ");
        put_short(json_string_data(&why), json_string_len(why), WHY_MAX, out);
    } else if (gave.len) {
        buf_add(out, gave.data, gave.len);
    } else {
        json_print(field_get(one, "gave"), &(JsonPrintOptions){.max_bytes = GAVE_MAX + 4}, &gave);
        put_short(gave.data ? gave.data : "", gave.len, GAVE_MAX, out);
    }
    buf_clear(&gave);
}

void output_edge(Json edge, Buf *out) {
    Json tried = field_get(edge, "tried");
    size_t n = json_array_len(tried);
    put_targets(edge, out);
    for (size_t i = 0; i < n; i++) {
        Json one = json_array_get(tried, i), when = field_get(one, "when");
        buf_adds(out, i ? ", " : " (");
        put_short(json_string_data(&when), json_string_len(when), CONDITION_MAX, out);
        buf_adds(out, ": ");
        put_gave(one, out);
    }
    buf_adds(out, n ? ")" : "");
}
