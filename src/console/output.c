#include "output.h"

#include "json_print.h"
#include "mem.h"
#include "terminal.h"
#include "view_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- JSON ---- */

static bool is_c1(unsigned char byte) {
    return byte >= 0x80 && byte < 0xA0;
}

/* A piece may end within a character: *lead is that its first byte is owed. */
static void escape(bool *lead, const char *text, size_t len, Buf *out) {
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (*lead && is_c1(byte)) {
            buf_printf(out, "\\u%04x", byte);
        } else if (*lead) {
            buf_printf(out, "\xC2%c", byte);
        } else if (byte != 0xC2) {
            buf_addc(out, text[i]);
        }
        *lead = !*lead && byte == 0xC2;
    }
}

static bool write_escaped(FILE *stream, const char *text, size_t len) {
    static bool leads[2];
    Buf out = BUF_INIT;
    escape(&leads[stream == stderr], text, len, &out);
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
    if (terminal_has_colour(stdout)) {
        options.colors = &json_default_colors;
    }
    json_print_to(value, &options, output_json, NULL);
    putchar('\n');
}

bool output_print(Json value) {
    return json_print_to(value, NULL, output_json, NULL);
}

bool output_line(Json value) {
    return output_print(value) && putchar('\n') != EOF && fflush(stdout) == 0;
}

Json output_set(Json object, const char *key, Json value) {
    return json_object_with(object, key, json_is_none(value) ? json_null() : value);
}

Json output_text(const char *text) {
    return text ? json_string_c(text) : json_null();
}

/* ---- texts on standard error ---- */

void output_say(Json text) {
    Buf out = BUF_INIT;
    if (json_kind(text) == JSON_STRING) {
        say_safe(json_string_data(&text), json_string_len(text), &out);
    }
    fwrite(out.data ? out.data : "", 1, out.len, stderr);
    buf_clear(&out);
}

/* ---- times ---- */

const char *output_time(int64_t ms, char *out) {
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char text[OUTPUT_TIME_MAX];
    if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm)) {
        strcpy(text, "?");
    }
    snprintf(out, OUTPUT_TIME_MAX, "%.24s.%03dZ", text, (int)(ms % 1000));
    return out;
}

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

void table_row(Table *t, const char *const *cells) {
    for (size_t i = 0; i < t->columns; i++) {
        size_t len = strlen(cells[i]), width = terminal_text_columns(cells[i], len);
        buf_add(&t->cells, cells[i], len + 1);
        t->widths[i] = width > t->widths[i] ? width : t->widths[i];
    }
}

/* Adds one row and returns where the next one starts. Nothing is padded after the last cell that has
 * text. */
static const char *add_row(const Table *t, const char *cell, Buf *out) {
    size_t owed = 0;
    for (size_t i = 0; i < t->columns; i++) {
        size_t len = strlen(cell);
        if (len) {
            buf_printf(out, "%*s%s", (int)owed, "", cell);
            owed = 0;
        }
        owed += t->widths[i] - terminal_text_columns(cell, len) + 2;
        cell += len + 1;
    }
    buf_addc(out, '\n');
    return cell;
}

void table_write(const Table *t, Buf *out) {
    const char *cell = t->cells.data, *end = cell + t->cells.len;
    while (cell < end) {
        cell = add_row(t, cell, out);
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

/* ---- commands ---- */

void output_word(Buf *out, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:@%+,=";
    if (word[0] && strspn(word, plain) == strlen(word)) {
        buf_adds(out, word);
        return;
    }
    buf_addc(out, '\'');
    for (; *word; word++) {
        if (*word == '\'') {
            buf_adds(out, "'\\''");
        } else {
            buf_addc(out, *word);
        }
    }
    buf_addc(out, '\'');
}

static void add_store(Buf *out, const char *store) {
    if (store) {
        buf_adds(out, " --store ");
        output_word(out, store);
    }
}

void output_resume(Buf *out, const char *thread, const char *store) {
    buf_adds(out, "pawl resume ");
    output_word(out, thread);
    add_store(out, store);
}

void output_start(Buf *out, const char *file, const char *thread, const char *store) {
    buf_adds(out, "pawl run ");
    output_word(out, file);
    buf_adds(out, " --thread ");
    output_word(out, thread);
    add_store(out, store);
}

static char *text_of(Json value) {
    if (json_kind(value) == JSON_STRING) {
        return mem_strndup(json_string_data(&value), json_string_len(value));
    }
    return json_is_none(value) ? mem_strndup("", 0) : json_to_text(value);
}

/* What all commands that answer one interrupt share. */
typedef struct Answer {
    const char *thread, *store;
    char *id; /* NULL: need not be named */
} Answer;

static void add_answer(Buf *out, const Answer *a, const char *flag, const char *word) {
    buf_adds(out, "    ");
    output_resume(out, a->thread, a->store);
    if (a->id) {
        buf_adds(out, " --interrupt ");
        output_word(out, a->id);
    }
    if (flag) {
        buf_printf(out, " %s ", flag);
        output_word(out, word);
    }
    buf_addc(out, '\n');
}

static void add_answers(Buf *out, const Answer *a, Json interrupt) {
    Json options = json_object_get_c(interrupt, "options");
    Json reason = json_object_get_c(interrupt, "reason");
    size_t n = json_kind(options) == JSON_ARRAY ? json_array_len(options) : 0;
    for (size_t i = 0; i < n; i++) {
        char *word = text_of(json_array_get(options, i));
        add_answer(out, a, "--decision", word);
        mem_free(word);
    }
    if (n == 0 && (json_string_is(reason, "before") || json_string_is(reason, "after"))) {
        add_answer(out, a, NULL, NULL);
    } else if (json_string_is(reason, "action")) {
        add_answer(out, a, "--response-file", "FILE");
    } else if (n == 0) {
        add_answer(out, a, "--value", "JSON");
    }
}

/* What is asked: on the same line, or below it when it is longer than that. */
static void add_prompt(Buf *out, Json prompt) {
    char *text = text_of(prompt);
    if (!strchr(text, '\n')) {
        buf_printf(out, ": %s\n", text);
    } else {
        buf_adds(out, ":\n");
        for (const char *line = text; *line;) {
            size_t len = strcspn(line, "\n");
            buf_printf(out, "    | %.*s\n", (int)len, line);
            line += len + (line[len] == '\n');
        }
    }
    mem_free(text);
}

/* An action whose model did not answer says why, beside its prompt. */
static void add_question(Buf *out, Json prompt) {
    Json inner =
        json_kind(prompt) == JSON_OBJECT ? json_object_get_c(prompt, "prompt") : json_none();
    Json error =
        json_kind(prompt) == JSON_OBJECT ? json_object_get_c(prompt, "error") : json_none();
    Json message =
        json_kind(error) == JSON_OBJECT ? json_object_get_c(error, "message") : json_none();
    if (json_kind(inner) != JSON_STRING || json_kind(message) != JSON_STRING) {
        add_prompt(out, prompt);
        return;
    }
    char *text = text_of(message);
    add_prompt(out, inner);
    buf_printf(out, "The model did not answer: %s\n", text);
    mem_free(text);
}

void output_interrupt(Buf *out, Json interrupt, bool one, const char *thread, const char *store) {
    Json prompt = json_object_get_c(interrupt, "prompt");
    Json reason = json_object_get_c(interrupt, "reason");
    char *node = text_of(json_object_get_c(interrupt, "node"));
    char *id = text_of(json_object_get_c(interrupt, "id"));
    bool after = json_string_is(reason, "after"), before = json_string_is(reason, "before");
    buf_printf(out, "Waiting %s %s", after ? "after" : before ? "before" : "at", node);
    if (json_truthy(prompt)) {
        add_question(out, prompt);
    } else {
        buf_addc(out, '\n');
    }
    Answer a = {thread, store, one ? NULL : id};
    if (thread) {
        add_answers(out, &a, interrupt);
    }
    mem_free(node);
    mem_free(id);
}
