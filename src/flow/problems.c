#include "problems.h"

#include "mem.h"
#include "suggest.h"
#include "utf8.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    EXCERPT_MAX = 4096, /* bytes of a line that are kept; longer lines are not */
    SHOWN_MAX = 60,     /* characters of a word in a sentence */
    WINDOW = 100,       /* characters of a line that are printed */
};

/* ---- collecting ---- */

Reporter reporter_start(FlowProblems *list, const char *main) {
    return (Reporter){.list = list, .main = main, .first = list->n};
}

size_t reporter_errors(const Reporter *r) {
    size_t n = r->left_out_errors;
    for (size_t i = r->first; i < r->list->n; i++) {
        n += !r->list->items[i].warning;
    }
    return n;
}

static bool is_known(const Reporter *r, const FlowProblem *p) {
    for (size_t i = r->first; i < r->list->n; i++) {
        const FlowProblem *q = &r->list->items[i];
        if (q->line == p->line && q->col == p->col && strcmp(q->msg, p->msg) == 0 &&
            strcmp(q->file, p->file) == 0) {
            return true;
        }
    }
    return false;
}

static void problem_clear(FlowProblem *p) {
    mem_free((char *)(uintptr_t)p->file);
    mem_free(p->msg);
    mem_free(p->excerpt);
}

static void append(FlowProblems *list, FlowProblem p) {
    list->items = mem_grow(list->items, list->n, &list->cap, sizeof *list->items);
    list->items[list->n++] = p;
    list->errors += !p.warning;
}

static bool is_full(const Reporter *r) {
    return r->list->n - r->first >= FLOW_PROBLEMS_MAX;
}

static void leave_out(Reporter *r, bool warning) {
    r->left_out++;
    r->left_out_errors += !warning;
}

/* Consumes p. */
static void add(Reporter *r, FlowProblem p) {
    if (is_known(r, &p)) {
        problem_clear(&p);
    } else if (is_full(r)) {
        leave_out(r, p.warning);
        problem_clear(&p);
    } else {
        append(r->list, p);
    }
}

static char *sentence(const char *fmt, va_list args) {
    char start[512];
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(start, sizeof start, fmt, args);
    char *text = mem_alloc((size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    return text;
}

static char *excerpt_of(const YamlFile *file, int line) {
    size_t start = file->lines[line - 1];
    size_t end = (size_t)line < file->nlines ? file->lines[line] - 1 : file->len;
    while (end > start && file->text[end - 1] == '\r') {
        end--;
    }
    if (end - start > EXCERPT_MAX ||
        utf8_valid_prefix(file->text + start, end - start) < end - start) {
        return NULL;
    }
    return mem_strndup(file->text + start, end - start);
}

/* Characters of the spot that are on its first line; at least one. */
static int underlined(Spot spot) {
    const char *text = spot.file->text;
    size_t end = spot.end < spot.file->len ? spot.end : spot.file->len, n = 0;
    for (size_t i = spot.at; i < end && text[i] != '\n' && text[i] != '\r'; i++) {
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return n ? (int)n : 1;
}

static void report(Reporter *r, bool warning, Spot spot, const char *fmt, va_list args) {
    if (is_full(r)) {
        leave_out(r, warning);
        return;
    }
    FlowProblem p = {.warning = warning};
    p.file = mem_strndup(spot.file->path, strlen(spot.file->path));
    yaml_line_col(spot.file, spot.at, &p.line, &p.col);
    p.len = underlined(spot);
    p.msg = sentence(fmt, args);
    p.excerpt = excerpt_of(spot.file, p.line);
    add(r, p);
}

void report_at(Reporter *r, Spot spot, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    report(r, false, spot, fmt, args);
    va_end(args);
}

void report_warning(Reporter *r, Spot spot, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    report(r, true, spot, fmt, args);
    va_end(args);
}

void report_file(Reporter *r, const char *path, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    FlowProblem p = {.len = 1};
    p.file = mem_strndup(path, strlen(path));
    p.msg = sentence(fmt, args);
    va_end(args);
    add(r, p);
}

/* ---- order ---- */

/* Problems of one file stand together: the main file, then the others in the order in which they
 * had their first. */
typedef struct Ordered {
    FlowProblem problem;
    size_t file, number;
} Ordered;

static size_t file_rank(const Ordered *items, size_t n, const char *file) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(items[i].problem.file, file) == 0) {
            return items[i].file;
        }
    }
    return n + 1;
}

static int compare_size(size_t a, size_t b) {
    return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b) {
    const Ordered *x = a, *y = b;
    int order = compare_size(x->file, y->file);
    order = order ? order : x->problem.line - y->problem.line;
    order = order ? order : x->problem.col - y->problem.col;
    return order ? order : compare_size(x->number, y->number);
}

static void sort(const char *main, FlowProblem *items, size_t n) {
    Ordered *ordered = mem_alloc(n * sizeof *ordered);
    for (size_t i = 0; i < n; i++) {
        bool first = main && strcmp(items[i].file, main) == 0;
        ordered[i] = (Ordered){items[i], first ? 0 : file_rank(ordered, i, items[i].file), i};
    }
    qsort(ordered, n, sizeof *ordered, by_place);
    for (size_t i = 0; i < n; i++) {
        items[i] = ordered[i].problem;
    }
    mem_free(ordered);
}

static void say_left_out(Reporter *r) {
    const FlowProblem *last = &r->list->items[r->list->n - 1];
    FlowProblem p = {.warning = r->left_out_errors == 0, .line = last->line, .col = last->col};
    Buf msg = BUF_INIT;
    buf_printf(&msg, "There %s %zu more problem%s; mend these first.",
               r->left_out == 1 ? "is" : "are", r->left_out, r->left_out == 1 ? "" : "s");
    p.file = mem_strndup(last->file, strlen(last->file));
    p.len = 1;
    p.msg = buf_detach(&msg);
    append(r->list, p);
}

bool reporter_end(Reporter *r) {
    bool fine = reporter_errors(r) == 0;
    if (r->list->n > r->first) {
        sort(r->main, r->list->items + r->first, r->list->n - r->first);
    }
    if (r->left_out) {
        say_left_out(r);
    }
    return fine;
}

void flow_problems_clear(FlowProblems *p) {
    for (size_t i = 0; i < p->n; i++) {
        problem_clear(&p->items[i]);
    }
    mem_free(p->items);
    *p = (FlowProblems){0};
}

/* ---- words in sentences ---- */

const char *shown(const char *text, size_t len) {
    enum { PLACES = 8 };
    static _Thread_local char places[PLACES][SHOWN_MAX * 4 + 8];
    static _Thread_local unsigned next;
    char *out = places[next++ % PLACES], *p = out;
    size_t chars = 0, i = 0;
    for (; i < len && chars < SHOWN_MAX; chars++) {
        int32_t c;
        i += utf8_decode(text + i, text + len, &c);
        p += utf8_encode(
            c < 0x20 || (c >= 0x7F && c < 0xA0) ? (c == '\n' || c == '\t' ? ' ' : '?') : c, p);
    }
    strcpy(p, i < len ? "..." : "");
    return out;
}

const char *did_you_mean_this(const char *best) {
    static _Thread_local char out[2 * SHOWN_MAX * 4];
    if (!best) {
        return ".";
    }
    snprintf(out, sizeof out, "; did you mean `%s`?", shown(best, strlen(best)));
    return out;
}

const char *did_you_mean(const char *text, size_t len, const char *const *names) {
    Suggestion nearest = suggestion_for(text, len);
    for (; *names; names++) {
        suggestion_offer(&nearest, *names);
    }
    return did_you_mean_this(nearest.best);
}

/* ---- printing ---- */

/* What a terminal would obey. */
static bool is_control(const char *s) {
    unsigned char c = (unsigned char)*s, next = c ? (unsigned char)s[1] : 0;
    return c < 0x20 || c == 0x7F || (c == 0xC2 && next >= 0x80 && next < 0xA0);
}

/* A character of an excerpt, or the blank under it: tabs stay, so that the caret is in its place. */
static void add_cell(Buf *out, const char *s, size_t len, bool blank) {
    if (*s == '\t' || (!blank && !is_control(s))) {
        buf_add(out, s, len);
    } else {
        buf_addc(out, blank ? ' ' : '?');
    }
}

static void add_cells(Buf *out, const char *line, size_t from, size_t to, bool blank) {
    size_t len = strlen(line), at = utf8_offset(line, len, from);
    for (size_t i = from; i < to && at < len; i++) {
        int32_t c;
        size_t n = utf8_decode(line + at, line + len, &c);
        add_cell(out, line + at, n, blank);
        at += n;
    }
}

static void print_excerpt(const FlowProblem *p, const char *mark, const char *plain, Buf *out) {
    size_t chars = utf8_length(p->excerpt, strlen(p->excerpt)), at = (size_t)p->col - 1;
    size_t from = at > WINDOW * 3 / 4 ? at - WINDOW / 2 : 0;
    size_t to = chars < from + WINDOW ? chars : from + WINDOW;
    buf_adds(out, from ? "    ..." : "    ");
    add_cells(out, p->excerpt, from, to, false);
    buf_adds(out, to < chars ? "...\n    " : "\n    ");
    buf_adds(out, from ? "   " : "");
    add_cells(out, p->excerpt, from, at, true);
    buf_printf(out, "%s^", mark);
    for (size_t i = at + 1; i < at + (size_t)p->len && i < to; i++) {
        buf_addc(out, '~');
    }
    buf_printf(out, "%s\n", plain);
}

static void add_safe(Buf *out, const char *text) {
    for (; *text; text++) {
        bool control = *text != '\n' && *text != '\t' && is_control(text);
        buf_addc(out, control ? '?' : *text);
        text += control && (unsigned char)*text == 0xC2;
    }
}

void flow_problem_print(const FlowProblem *p, bool colour, Buf *out) {
    const char *bold = colour ? "\x1b[1m" : "", *plain = colour ? "\x1b[0m" : "";
    const char *mark = !colour ? "" : p->warning ? "\x1b[1;35m" : "\x1b[1;31m";
    buf_adds(out, bold);
    add_safe(out, p->file);
    buf_addc(out, ':');
    if (p->line > 0) {
        buf_printf(out, "%d:%d:", p->line, p->col);
    }
    buf_printf(out, "%s %s%s:%s ", plain, mark, p->warning ? "warning" : "error", plain);
    add_safe(out, p->msg);
    buf_addc(out, '\n');
    if (p->excerpt && *p->excerpt && p->line > 0) {
        print_excerpt(p, mark, plain, out);
    }
}

Json flow_problem_json(const FlowProblem *p) {
    Json o = json_object();
    o = json_object_set(o, json_string_c("file"), json_string_c(p->file));
    o = json_object_set(o, json_string_c("line"), json_int(p->line));
    o = json_object_set(o, json_string_c("col"), json_int(p->col));
    o = json_object_set(o, json_string_c("severity"),
                        json_string_c(p->warning ? "warning" : "error"));
    return json_object_set(o, json_string_c("message"), json_string_c(p->msg));
}
