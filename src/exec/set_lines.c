#include "set_lines.h"

#include "ascii.h"
#include "error.h"
#include "json_parse.h"
#include "mem.h"
#include "utf8.h"

#include <math.h>
#include <string.h>

enum {
    SHOWN = 80,       /* bytes of a wrong line in the sentence */
    WORD_MAX = 20,    /* bytes after which every word below has ended */
    DEPTH_MAX = 1000, /* of a value */
};

/* What the rest of the line is. */
enum {
    MODE_OPEN, /* it begins as one of ours does, or has not begun: it is kept */
    MODE_TEXT,
    MODE_TOO_LONG, /* one of ours; skipped */
};

typedef struct Order {
    const char *word; /* with the blank after it */
    bool output, json, progress;
} Order;

static const Order orders[] = {
    {"::set-var ", .json = false},         {"::set-json ", .json = true},
    {"::set-out ", .output = true},        {"::set-out-json ", .output = true, .json = true},
    {"::set-output ", .output = true},     {"::set-output-json ", .output = true, .json = true},
    {"::set-progress ", .progress = true},
};

enum { NORDERS = sizeof orders / sizeof *orders };

void set_lines_init(SetLines *lines, const SetLinesHandler *handler) {
    *lines = (SetLines){.handler = handler, .line = BUF_INIT, .mode = MODE_OPEN};
}

void set_lines_clear(SetLines *lines) {
    buf_clear(&lines->line);
}

/* ---- which lines are ours ---- */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* How many characters line and word have in common at their beginning. */
static size_t common(const char *line, size_t len, const char *word) {
    size_t n = 0;
    while (n < len && word[n] &&
           (word[n] == ' ' ? is_blank(line[n]) || line[n] == '\r' : line[n] == word[n])) {
        n++;
    }
    return n;
}

static const Order *find(const char *line, size_t len) {
    for (size_t i = 0; i < NORDERS; i++) {
        size_t word = strlen(orders[i].word);
        size_t n = common(line, len, orders[i].word);
        if (n == word || (n == len && n == word - 1)) return &orders[i];
    }
    return NULL;
}

/* Whether it is the beginning of one of ours, however it goes on. */
static bool may_be_ours(const char *line, size_t len) {
    for (size_t i = 0; i < NORDERS; i++) {
        size_t n = common(line, len, orders[i].word);
        if (n == len || !orders[i].word[n]) return true;
    }
    return false;
}

/* ---- applying one ---- */

/* `sentence` with the beginning of the line after it. */
static void tell(SetLines *lines, bool lost, const char *sentence) {
    Buf text = BUF_INIT;
    size_t shown = lines->line.len < SHOWN ? lines->line.len : SHOWN;
    while (shown < lines->line.len && shown &&
           ((unsigned char)lines->line.data[shown] & 0xC0) == 0x80) {
        shown--;
    }
    buf_adds(&text, sentence);
    buf_adds(&text, " The line was: ");
    utf8_repair(&text, lines->line.data, shown);
    if (shown < lines->line.len) buf_adds(&text, "...");
    lines->handler->problem(lines->handler->ctx, lost, text.data);
    buf_clear(&text);
}

/* Numbers as doubles, at any depth: DEPTH_MAX bounds the recursion. *fits becomes false where one is too large for that.
 * Consumes value. */
static Json with_doubles(Json value, bool *fits) {
    Json key, part, out;
    switch (json_kind(value)) {
    case JSON_NUMBER:
        *fits = *fits && isfinite(json_to_double(value));
        out = json_number(json_to_double(value));
        break;
    case JSON_ARRAY:
        out = json_array();
        for (size_t i = 0; i < json_array_len(value); i++) {
            out = json_array_push(out, with_doubles(json_ref(json_array_get(value, i)), fits));
        }
        break;
    case JSON_OBJECT:
        out = json_object();
        for (size_t pos = 0; json_object_next(value, &pos, &key, &part);) {
            out = json_object_set(out, json_ref(key), with_doubles(json_ref(part), fits));
        }
        break;
    default: return value;
    }
    json_unref(value);
    return out;
}

static Json value_of(SetLines *lines, const Order *order, const char *s, size_t len) {
    Error err = ERROR_INIT;
    if (!order->json) return json_string(s, len);
    Json value = json_parse(s, len, &(JsonParseOptions){.max_depth = DEPTH_MAX}, &err);
    if (json_is_none(value)) {
        Buf text = BUF_INIT;
        buf_printf(
            &text,
            "A line that sets a value is not applied, because the value is not JSON: %s. Text as it "
            "is can be set with %s.",
            err.msg, order->output ? "::set-out" : "::set-var");
        tell(lines, false, text.data);
        buf_clear(&text);
        return value;
    }
    bool fits = true;
    value = with_doubles(value, &fits);
    if (!fits) {
        tell(lines, false,
             "A line that sets a value is not applied, because a number in it is no finite "
             "double.");
        json_clear(&value);
    }
    return value;
}

/* Where the blanks, or what is not blank, at the beginning of [s, end) end. */
static const char *skip(const char *s, const char *end, bool blank) {
    while (s < end && is_blank(*s) == blank) s++;
    return s;
}

/* A number without a sign or an exponent, up to a million; false: there is none. */
static bool read_number(const char **at, const char *end, double *out) {
    enum { MOST = 1000000 };
    double scale = 1;
    bool any = false;
    for (*out = 0; *at < end && ascii_is_digit(**at); (*at)++, any = true) {
        *out = *out * 10 + (**at - '0');
        if (*out > MOST) return false;
    }
    if (any && *at < end && **at == '.') {
        for ((*at)++; *at < end && ascii_is_digit(**at); (*at)++) {
            scale /= 10;
            *out += (**at - '0') * scale;
        }
    }
    return any;
}

/* [word, word_end) is N, N% or N/M; text is what is said of it. */
static void apply_progress(SetLines *lines, const char *word, const char *word_end,
                           const char *text) {
    const char *end = lines->line.data + lines->line.len, *at = word;
    double done = 0, all = 100;
    bool counted = false, fine = read_number(&at, word_end, &done);
    if (fine && at < word_end && *at == '/') {
        at++;
        counted = fine = read_number(&at, word_end, &all) && all > 0;
    } else if (fine && at < word_end && *at == '%') {
        at++;
    }
    if (!fine || at != word_end || done > all) {
        tell(
            lines, false,
            "A line that says how far a task is is not applied: it takes 12/32 or 37, and a text.");
        return;
    }
    Buf message = BUF_INIT;
    if (counted) buf_printf(&message, "%.15g of %.15g%s", done, all, text < end ? " " : "");
    utf8_repair(&message, text, (size_t)(end - text));
    for (size_t i = 0; i < message.len; i++) {
        if (!message.data[i]) message.data[i] = ' ';
    }
    lines->handler->progress(lines->handler->ctx, 100 * done / all,
                             message.data ? message.data : "");
    buf_clear(&message);
}

static void apply(SetLines *lines, const Order *order) {
    const Buf *line = &lines->line;
    size_t word = strlen(order->word);
    const char *end = line->data + line->len;
    const char *name = skip(line->data + (word < line->len ? word : line->len), end, true);
    const char *name_end = skip(name, end, false);
    const char *text = skip(name_end, end, true);
    if (order->progress) {
        apply_progress(lines, name, name_end, text);
        return;
    }
    if (name == name_end) {
        tell(lines, false, "A line that sets a value is not applied, because it has no name.");
        return;
    }
    Json value = value_of(lines, order, text, (size_t)(end - text));
    if (json_is_none(value)) return;
    lines->handler->set(lines->handler->ctx, order->output,
                        json_string(name, (size_t)(name_end - name)), value);
}

/* ---- telling lines from text ---- */

static void give_run(SetLines *lines) {
    if (lines->run_len) lines->handler->text(lines->handler->ctx, lines->run, lines->run_len);
    lines->run_len = 0;
}

/* Text that stands side by side in the piece being fed is given back as one. */
static void add_to_run(SetLines *lines, const char *bytes, size_t len) {
    if (!lines->run_len) lines->run = bytes;
    if (lines->run + lines->run_len != bytes) {
        give_run(lines);
        lines->run = bytes;
    }
    lines->run_len += len;
}

/* The line turns out to be text. */
static void give_line(SetLines *lines) {
    give_run(lines);
    if (lines->line.len) {
        lines->handler->text(lines->handler->ctx, lines->line.data, lines->line.len);
    }
    buf_reset(&lines->line);
}

static void end_open_line(SetLines *lines, bool has_lf) {
    Buf *line = &lines->line;
    bool cr = line->len && line->data[line->len - 1] == '\r';
    const Order *order = line->len ? find(line->data, line->len - cr) : NULL;
    give_run(lines);
    if (order) {
        line->len -= cr;
        apply(lines, order);
    } else {
        if (has_lf) buf_addc(line, '\n');
        give_line(lines);
    }
    buf_reset(line);
}

/* Some bytes of an open line, then its LF if has_lf. */
static void take_open(SetLines *lines, const char *bytes, size_t len, bool has_lf) {
    Buf *line = &lines->line;
    size_t some = len < WORD_MAX ? len : WORD_MAX;
    buf_add(line, bytes, some); /* enough to tell */
    if (!may_be_ours(line->data, line->len)) {
        give_line(lines);
        lines->mode = MODE_TEXT;
        add_to_run(lines, bytes + some, len - some + has_lf);
    } else if (line->len + (len - some) > SET_LINE_MAX) {
        buf_add(line, bytes + some, SHOWN < len - some ? SHOWN : len - some);
        give_run(lines);
        tell(lines, true,
             "A line that sets a value is not applied, because it is longer than 1 MB.");
        buf_reset(line);
        lines->mode = MODE_TOO_LONG;
    } else {
        buf_add(line, bytes + some, len - some);
        if (has_lf) end_open_line(lines, true);
    }
}

/* All of the line that came; len without its LF. */
static void take(SetLines *lines, const char *bytes, size_t len, bool has_lf) {
    if (lines->mode == MODE_OPEN && !lines->line.len) { /* nearly all are text, and not copied */
        bool cr = has_lf && len && bytes[len - 1] == '\r';
        bool ours = has_lf ? find(bytes, len - cr) != NULL : may_be_ours(bytes, len);
        if (!ours) lines->mode = MODE_TEXT;
    }
    if (lines->mode == MODE_OPEN) {
        take_open(lines, bytes, len, has_lf);
    } else if (lines->mode == MODE_TEXT) {
        add_to_run(lines, bytes, len + has_lf);
    }
    if (has_lf) lines->mode = MODE_OPEN;
}

void set_lines_feed(SetLines *lines, const char *bytes, size_t len) {
    const char *end = bytes + len;
    while (bytes < end) {
        const char *lf = memchr(bytes, '\n', (size_t)(end - bytes));
        const char *stop = lf ? lf : end;
        take(lines, bytes, (size_t)(stop - bytes), lf != NULL);
        bytes = stop + (lf != NULL);
    }
    give_run(lines);
}

void set_lines_end(SetLines *lines) {
    if (lines->mode == MODE_OPEN) end_open_line(lines, false);
    lines->mode = MODE_OPEN;
}
