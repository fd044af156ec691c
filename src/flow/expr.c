/* expr.c - the jq expressions of a file, compiled, and where in the file their parts are.
 *
 * A template is compiled as a jq string: what is outside of \(...) is escaped, and a list of
 * segments tells where each piece of that string stands in the text of the file. */
#include "loader.h"

#include "config.h"
#include "json_print.h"
#include "mem.h"
#include "utf8.h"

#include <string.h>

/* From `source` bytes of the program's text on, up to the next segment, stands what is from `text`
 * on in the scalar. In a literal segment the source has escapes. */
typedef struct Segment {
    size_t source, text;
} Segment;

Scope scope_with(Loader *ld, Scope outer, const char *const *names, size_t n) {
    const char **vars = arena_alloc(ld->arena, (outer.nvars + n) * sizeof *vars);
    if (outer.nvars) {
        memcpy(vars, outer.vars, outer.nvars * sizeof *vars);
    }
    memcpy(vars + outer.nvars, names, n * sizeof *vars);
    return (Scope){vars, outer.nvars + n};
}

/* ---- places ---- */

/* Byte offset in the compiled text of a line and column that jq gave. */
static size_t source_offset(const ExprImpl *e, int line, int col) {
    const char *p = e->source, *end = p + e->len;
    int skip = col - 1;
    if (line <= e->expr.line) {
        skip = col - e->expr.col;
    }
    for (int l = e->expr.line; l < line; l++) {
        const char *next = memchr(p, '\n', (size_t)(end - p));
        if (!next) {
            return e->len;
        }
        p = next + 1;
    }
    size_t at = utf8_offset(p, (size_t)(end - p), skip > 0 ? (size_t)skip : 0);
    return (size_t)(p - e->source) + at;
}

static size_t text_offset(const ExprImpl *e, size_t source) {
    const Segment *found = NULL;
    for (size_t i = 0; i < e->nsegments && e->segments[i].source <= source; i++) {
        found = &e->segments[i];
    }
    return !e->nsegments ? source : found ? found->text + (source - found->source) : 0;
}

static size_t file_offset(const ExprImpl *e, int line, int col) {
    return yaml_place(e->node, text_offset(e, source_offset(e, line, col)));
}

void expr_place(const Expr *expr, const Error *err, int *line, int *col) {
    const ExprImpl *e = (const ExprImpl *)expr;
    if (e->node && err->line > 0) {
        yaml_line_col(e->node->spot.file, file_offset(e, err->line, err->col), line, col);
    } else {
        *line = expr->line;
        *col = expr->col;
    }
}

/* Where the text as a whole starts: where its first character is that is not white space, less the
 * white space before it. */
static void set_start(ExprImpl *e, const YamlNode *node) {
    int line, col;
    yaml_line_col(node->spot.file, yaml_place(node, 0), &line, &col);
    size_t lead = node->style == YAML_PLAIN ? 0 : strspn(node->text, " \t\n");
    for (size_t i = 0; i < lead; i++) {
        if (node->text[i] == '\n') {
            line--;
            col = 1;
        } else if (col > 1) {
            col--;
        }
    }
    e->expr.line = line > 1 ? line : 1;
    e->expr.col = col;
}

/* ---- compiling ---- */

static ExprImpl *new_expr(Loader *ld, const YamlNode *node, const char *source, size_t len) {
    ExprImpl *e = arena_alloc(ld->arena, sizeof *e);
    e->node = node;
    e->source = source;
    e->len = len;
    e->expr.text = node->kind == YAML_SCALAR ? node->text : source;
    e->expr.file = node->spot.file->path;
    set_start(e, node);
    return e;
}

static void report_jq(Loader *ld, const ExprImpl *e, Spot spot, const Error *err) {
    if (e->node) {
        spot.at = file_offset(e, err->line, err->col);
        spot.end = spot.at + 1;
    }
    report_at(ld->reporter, spot, "%s", err->msg);
}

static bool within_limits(Loader *ld, const ExprImpl *e, Spot spot) {
    if (e->len > FLOW_EXPR_MAX) {
        report_at(ld->reporter, spot, "This is longer than %d KB, the limit for an expression.",
                  FLOW_EXPR_MAX >> 10);
        return false;
    }
    if (e->len > ld->exprs_left) {
        report_at(ld->reporter, spot,
                  "The expressions of the workflow take more than %d MB together; that is the "
                  "limit.",
                  FLOW_EXPRS_MAX >> 20);
        return false;
    }
    ld->exprs_left -= e->len;
    return true;
}

static const Expr *compile(Loader *ld, ExprImpl *e, Spot spot, Scope scope) {
    Error err = ERROR_INIT;
    if (!within_limits(ld, e, spot)) {
        return NULL;
    }
    JqOptions options = {scope.vars, scope.nvars, e->expr.line, e->expr.col, e->expr.file};
    e->expr.program = jq_compile(e->source, e->len, &options, &err);
    if (!e->expr.program) {
        report_jq(ld, e, spot, &err);
        return NULL;
    }
    FlowImpl *flow = ld->flow;
    e->expr.id = flow->flow.first_expr + (uint32_t)flow->nexprs;
    flow->exprs = mem_grow(flow->exprs, flow->nexprs, &flow->exprs_cap, sizeof *flow->exprs);
    flow->exprs[flow->nexprs++] = e;
    return &e->expr;
}

static bool is_blank(const YamlNode *node) {
    return strspn(node->text, " \t\r\n") == node->len;
}

/* A value of the file as an expression that gives it. */
static const Expr *compile_value(Loader *ld, const YamlNode *node, Json value, Scope scope) {
    char *text = json_to_text(value);
    size_t len = strlen(text);
    ExprImpl *e = new_expr(ld, node, arena_strndup(ld->arena, text, len), len);
    mem_free(text);
    e->expr.text = e->source;
    if (node->kind != YAML_SCALAR) {
        yaml_line_col(node->spot.file, node->spot.at, &e->expr.line, &e->expr.col);
        e->node = NULL;
    }
    return compile(ld, e, node->spot, scope);
}

const Expr *load_expr(Loader *ld, const YamlNode *node, Scope scope) {
    Json value = yaml_json(node);
    const Expr *expr = NULL;
    if (json_kind(value) != JSON_STRING) {
        expr = compile_value(ld, node, value, scope);
    } else if (is_blank(node)) {
        report_at(ld->reporter, node->spot, "There is no expression here.");
    } else {
        expr = compile(ld, new_expr(ld, node, node->text, node->len), node->spot, scope);
    }
    json_unref(value);
    return expr;
}

/* ---- queries ---- */

/* From the text of the scalar to the program's, into which a dot may have been put. */
static void set_segments(Loader *ld, ExprImpl *e, size_t from, size_t dot) {
    e->segments = arena_alloc(ld->arena, 2 * sizeof *e->segments);
    e->segments[0] = (Segment){0, from};
    e->nsegments = 1;
    if (dot != SIZE_MAX) {
        e->segments[e->nsegments++] = (Segment){dot + 1, from + dot};
    }
}

const Expr *load_query_part(Loader *ld, const YamlNode *node, size_t from, size_t to) {
    size_t len = to - from, dot = query_dot(node->text + from, len);
    bool whole = from == 0 && to == node->len, dotted = dot != SIZE_MAX;
    char *source = arena_alloc(ld->arena, len + 2);
    size_t before = dotted ? dot : len;
    memcpy(source, node->text + from, before);
    if (dotted) {
        source[before] = '.';
        memcpy(source + before + 1, node->text + from + before, len - before);
    }
    ExprImpl *e = new_expr(ld, node, source, len + dotted);
    set_segments(ld, e, from, dot);
    if (!whole) {
        e->expr.text = arena_strndup(ld->arena, node->text + from, len);
        yaml_line_col(node->spot.file, yaml_place(node, from), &e->expr.line, &e->expr.col);
    }
    return compile(ld, e, node->spot, (Scope){NULL, 0});
}

const Expr *load_query(Loader *ld, const YamlNode *node) {
    Json value = yaml_json(node);
    const Expr *expr = NULL;
    if (json_kind(value) != JSON_STRING) {
        expr = compile_value(ld, node, value, (Scope){NULL, 0});
    } else if (is_blank(node)) {
        report_at(ld->reporter, node->spot, "There is no query here.");
    } else {
        expr = load_query_part(ld, node, 0, node->len);
    }
    json_unref(value);
    return expr;
}

/* ---- templates ---- */

/* The end of the expression that starts at `at`, after \( : the place of its closing parenthesis.
 * Strings in it may hold expressions again; `parens` has the open parentheses of each. */
typedef struct Nest {
    int parens[FLOW_DEPTH_MAX];
    int depth; /* 0: in the outermost expression */
} Nest;

static size_t skip_comment(const YamlNode *n, size_t at) {
    while (at < n->len && n->text[at] != '\n') {
        at++;
    }
    return at;
}

static bool enter(Nest *nest) {
    if (nest->depth + 1 >= FLOW_DEPTH_MAX) {
        return false;
    }
    nest->parens[++nest->depth] = 0;
    return true;
}

/* Goes on in the string that the expression just closed is part of. */
static bool step_string(const YamlNode *n, size_t *at, Nest *nest) {
    bool opens;
    *at = skip_jq_string(n->text, n->len, *at, &opens);
    return !opens || enter(nest);
}

static bool find_close(const YamlNode *n, size_t at, size_t *close) {
    Nest nest = {.depth = 0};
    nest.parens[0] = 0;
    while (at < n->len) {
        char c = n->text[at];
        if (c == ')' && nest.parens[nest.depth] == 0) {
            if (nest.depth == 0) {
                *close = at;
                return true;
            }
            nest.depth--;
            at++;
            if (!step_string(n, &at, &nest)) {
                return false;
            }
        } else if (c == '"') {
            at++;
            if (!step_string(n, &at, &nest)) {
                return false;
            }
        } else {
            nest.parens[nest.depth] += (c == '(') - (c == ')');
            at = c == '#' ? skip_comment(n, at) : at + 1;
        }
    }
    return false;
}

typedef struct Template {
    Buf source;
    Segment *segments;
    size_t n, cap;
} Template;

static void add_segment(Template *t, size_t text) {
    t->segments = mem_grow(t->segments, t->n, &t->cap, sizeof *t->segments);
    t->segments[t->n++] = (Segment){t->source.len, text};
}

static void add_literal(Template *t, const YamlNode *n, size_t at) {
    char c = n->text[at];
    if (c == '"' || c == '\\') {
        buf_addc(&t->source, '\\');
        add_segment(t, at);
    }
    if ((unsigned char)c < 0x20 && c != '\n' && c != '\t') {
        buf_printf(&t->source, "\\u%04x", c);
        add_segment(t, at + 1);
    } else {
        buf_addc(&t->source, c);
    }
}

/* False when an expression in it has no end. */
static bool make_source(Template *t, const YamlNode *n, size_t *bad) {
    buf_addc(&t->source, '"');
    add_segment(t, 0);
    for (size_t at = 0, close; at < n->len;) {
        if (n->text[at] != '\\' || at + 1 >= n->len || n->text[at + 1] != '(') {
            add_literal(t, n, at++);
            continue;
        }
        *bad = at;
        if (!find_close(n, at + 2, &close)) {
            return false;
        }
        buf_add(&t->source, n->text + at, close + 1 - at);
        at = close + 1;
    }
    buf_addc(&t->source, '"');
    return true;
}

static const Expr *compile_template(Loader *ld, const YamlNode *node, Template *t, Scope scope) {
    ExprImpl *e =
        new_expr(ld, node, arena_strndup(ld->arena, t->source.data, t->source.len), t->source.len);
    e->nsegments = t->n;
    e->segments = arena_alloc(ld->arena, t->n * sizeof *t->segments);
    memcpy(e->segments, t->segments, t->n * sizeof *t->segments);
    return compile(ld, e, node->spot, scope);
}

const Expr *load_template(Loader *ld, const YamlNode *node, Scope scope) {
    Template t = {BUF_INIT, NULL, 0, 0};
    const Expr *expr = NULL;
    size_t bad = 0;
    if (make_source(&t, node, &bad)) {
        expr = compile_template(ld, node, &t, scope);
    } else {
        size_t at = yaml_place(node, bad);
        report_at(ld->reporter, (Spot){node->spot.file, at, at + 2},
                  "This `\\(` has no `)` that closes it.");
    }
    buf_clear(&t.source);
    mem_free(t.segments);
    return expr;
}
