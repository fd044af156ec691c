#include "problems.h"

#include "json_build.h"
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

static void problem_clear(FlowProblem *p) {
    mem_free((char *)(uintptr_t)p->file);
    mem_free(p->msg);
    mem_free(p->excerpt);
}

/* Past the limit problems are only counted. */
static bool is_full(Reporter *r, bool warning) {
    bool full = r->list->n - r->first >= FLOW_PROBLEMS_MAX;
    r->left_out += full;
    r->left_out_errors += full && !warning;
    return full;
}

static void append(FlowProblems *list, FlowProblem p) {
    list->items = mem_grow(list->items, list->n, &list->cap, sizeof *list->items);
    list->items[list->n++] = p;
    list->errors += !p.warning;
}

/* Consumes p. */
static void add(Reporter *r, FlowProblem p) {
    bool known = false;
    for (size_t i = r->first; i < r->list->n && !known; i++) {
        const FlowProblem *q = &r->list->items[i];
        known = q->line == p.line && q->col == p.col && strcmp(q->msg, p.msg) == 0 &&
                strcmp(q->file, p.file) == 0;
    }
    if (known || is_full(r, p.warning)) {
        problem_clear(&p);
    } else {
        append(r->list, p);
    }
}

static char *sentence(const char *fmt, va_list args) {
    Buf text = BUF_INIT;
    buf_vprintf(&text, fmt, args);
    return buf_detach(&text);
}

static void report(Reporter *r, bool warning, Spot spot, const char *fmt, va_list args) {
    if (is_full(r, warning)) return;
    const YamlFile *file = spot.file;
    FlowProblem p = {.warning = warning};
    p.file = mem_strdup(file->path);
    yaml_line_col(file, spot.at, &p.line, &p.col);
    p.msg = sentence(fmt, args);
    size_t start = file->lines[p.line - 1];
    size_t end = (size_t)p.line < file->nlines ? file->lines[p.line] - 1 : file->len;
    while (end > start && file->text[end - 1] == '\r') end--;
    /* What of the spot is on its first line; at least a character. */
    for (size_t i = spot.at; i < spot.end && i < end && file->text[i] != '\r'; i++) {
        p.len += !utf8_is_inside(file->text[i]);
    }
    p.len = p.len ? p.len : 1;
    const char *line = file->text + start;
    if (end - start <= EXCERPT_MAX && utf8_valid_prefix(line, end - start) == end - start) {
        p.excerpt = mem_strndup(line, end - start);
    }
    add(r, p);
}

void vreport_at(Reporter *r, Spot spot, const char *fmt, va_list args) {
    report(r, false, spot, fmt, args);
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
    p.file = mem_strdup(path);
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
        size_t same = 0, rank = 0;
        if (!main || strcmp(items[i].file, main) != 0) {
            while (same < i && strcmp(items[same].file, items[i].file) != 0) same++;
            rank = same < i ? ordered[same].file : i + 1;
        }
        ordered[i] = (Ordered){items[i], rank, i};
    }
    qsort(ordered, n, sizeof *ordered, by_place);
    for (size_t i = 0; i < n; i++) items[i] = ordered[i].problem;
    mem_free(ordered);
}

bool reporter_end(Reporter *r) {
    FlowProblems *list = r->list;
    bool fine = r->left_out_errors == 0;
    for (size_t i = r->first; i < list->n; i++) fine = fine && list->items[i].warning;
    if (list->n > r->first) sort(r->main, list->items + r->first, list->n - r->first);
    if (r->left_out) {
        const FlowProblem *last = &list->items[list->n - 1];
        Buf msg = BUF_INIT;
        buf_printf(&msg, "There %s %zu more problem%s; mend these first.",
                   r->left_out == 1 ? "is" : "are", r->left_out, r->left_out == 1 ? "" : "s");
        append(list, (FlowProblem){.warning = r->left_out_errors == 0,
                                   .file = mem_strdup(last->file),
                                   .line = last->line,
                                   .col = last->col,
                                   .len = 1,
                                   .msg = buf_detach(&msg)});
    }
    return fine;
}

void flow_problems_clear(FlowProblems *p) {
    for (size_t i = 0; i < p->n; i++) problem_clear(&p->items[i]);
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
    if (!best) return ".";
    snprintf(out, sizeof out, "; did you mean `%s`?", shown(best, strlen(best)));
    return out;
}

const char *did_you_mean(const char *text, size_t len, const char *const *names) {
    Suggestion nearest = suggestion_for(text, len);
    for (; *names; names++) suggestion_offer(&nearest, *names);
    return did_you_mean_this(nearest.best);
}

/* ---- printing ---- */

/* What a terminal would obey. */
static bool is_control(const char *s) {
    unsigned char c = (unsigned char)*s, next = c ? (unsigned char)s[1] : 0;
    return c < 0x20 || c == 0x7F || (c == 0xC2 && next >= 0x80 && next < 0xA0);
}

/* Characters of an excerpt, or the blanks under them: tabs stay, so that the caret is in its place. */
static void add_cells(Buf *out, const char *line, size_t from, size_t to, bool blank) {
    size_t len = strlen(line), at = utf8_offset(line, len, from);
    for (size_t i = from; i < to && at < len; i++) {
        int32_t c;
        size_t n = utf8_decode(line + at, line + len, &c);
        if (c == '\t' || (!blank && !is_control(line + at))) {
            buf_add(out, line + at, n);
        } else {
            buf_addc(out, blank ? ' ' : '?');
        }
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
    for (size_t i = at + 1; i < at + (size_t)p->len && i < to; i++) buf_addc(out, '~');
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
    if (p->line > 0) buf_printf(out, "%d:%d:", p->line, p->col);
    buf_printf(out, "%s %s%s:%s ", plain, mark, p->warning ? "warning" : "error", plain);
    add_safe(out, p->msg);
    buf_addc(out, '\n');
    if (p->excerpt && *p->excerpt && p->line > 0) print_excerpt(p, mark, plain, out);
}

Json flow_problem_json(const FlowProblem *p) {
    return OBJECT(KEY("file", p->file), KEY("line", json_int(p->line)),
                  KEY("col", json_int(p->col)), KEY("severity", p->warning ? "warning" : "error"),
                  KEY("message", p->msg));
}
