#define _GNU_SOURCE
/* expr.c - the jq expressions of a file, compiled, and where in the file their parts are.
 *
 * A template is compiled as a jq string: what is outside of \(...) is escaped, and a list of
 * segments tells where each piece of that string stands in the text of the file. */
#include "loader.h"

#include "ascii.h"
#include "config.h"
#include "edge_agent.h"
#include "json_print.h"
#include "mem.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

/* From `source` bytes of the program's text on, up to the next segment, stands what is from `text`
 * on in the scalar. In a literal segment the source has escapes. */
typedef struct Segment {
    size_t source, text;
} Segment;

Scope scope_with(Loader *ld, Scope outer, const char *const *names, size_t n) {
    const char **vars = arena_alloc(ld->arena, (outer.nvars + n) * sizeof *vars);
    if (outer.nvars) memcpy(vars, outer.vars, outer.nvars * sizeof *vars);
    memcpy(vars + outer.nvars, names, n * sizeof *vars);
    return (Scope){vars, outer.nvars + n, outer.secrets, outer.exact};
}

/* ---- places ---- */

/* Where in the file a line and column is that jq gave: by way of the compiled text and the scalar's. */
static size_t file_offset(const ExprImpl *e, int line, int col) {
    const char *p = e->source, *end = p + e->len;
    int skip = line <= e->expr.line ? col - e->expr.col : col - 1;
    for (int l = e->expr.line; p < end && l < line; l++) {
        const char *next = memchr(p, '\n', (size_t)(end - p));
        p = next ? next + 1 : end;
    }
    p += utf8_offset(p, (size_t)(end - p), skip > 0 ? (size_t)skip : 0);
    size_t source = (size_t)(p - e->source), text = e->nsegments ? 0 : source;
    for (size_t i = 0; i < e->nsegments && e->segments[i].source <= source; i++) {
        text = e->segments[i].text + (source - e->segments[i].source);
    }
    return yaml_place(e->node, text);
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

/* ---- secrets ---- */

static const char secrets_var[] = "secrets";

bool secret_name_is_valid(const char *name, size_t len) {
    if (!len || len > SECRET_NAME_MAX || ascii_is_digit(*name)) return false;
    for (size_t i = 0; i < len; i++) {
        if (!ascii_is_name(name[i])) return false;
    }
    return true;
}

void secrets_explain(Error *err) {
    if (strstr(err->msg, "$secrets is not defined.")) {
        error_set_at(
            err, err->code, err->line, err->col,
            "$secrets cannot be used here, since what this gives becomes part of the run's record. A secret "
            "is for where work is started: env, stdin, headers, body, url.");
    }
}

/* Whether it is one that may, and seems to. A variable of that name (`as: secrets`) goes before them. */
static bool takes_secrets(const ExprImpl *e, Scope scope) {
    bool takes = scope.secrets && memmem(e->source, e->len, "$secrets", 8);
    for (size_t i = 0; i < scope.nvars && takes; i++) takes = strcmp(scope.vars[i], secrets_var);
    return takes;
}

static bool lists(Json list, Json name) {
    for (size_t i = 0; i < json_array_len(list); i++) {
        if (json_string_equal(json_array_get(list, i), name)) return true;
    }
    return false;
}

/* Those that it uses become those of the workflow. False after reporting. */
static bool note_secrets(Loader *ld, ExprImpl *e, Spot spot) {
    Flow *flow = &ld->flow->flow;
    Json names = e->expr.secrets = jq_program_fields(e->expr.program);
    for (size_t i = 0; i < json_array_len(names); i++) {
        Json name = json_array_get(names, i);
        if (!secret_name_is_valid(json_string_data(&name), json_string_len(name))) {
            report_at(
                ld->reporter, spot,
                "`%s` is no name of a secret; that has letters, digits and `_`, and does not begin with a "
                "digit.",
                shown(json_string_data(&name), json_string_len(name)));
            return false;
        }
        if (!lists(flow->secrets, name)) {
            flow->secrets = json_array_push(json_take(&flow->secrets), json_ref(name));
        }
    }
    return true;
}

/* ---- compiling ---- */

static ExprImpl *new_expr(Loader *ld, const YamlNode *node, const char *source, size_t len) {
    ExprImpl *e = arena_alloc(ld->arena, sizeof *e);
    e->node = node;
    e->source = source;
    e->len = len;
    e->expr.text = node->kind == YAML_SCALAR ? node->text : source;
    e->expr.file = node->spot.file->path;
    /* The text as a whole starts where its first character is that is not white space, less the white
     * space before it. */
    int *line = &e->expr.line, *col = &e->expr.col;
    yaml_line_col(node->spot.file, yaml_place(node, 0), line, col);
    size_t lead = node->style == YAML_PLAIN ? 0 : strspn(node->text, " \t\n");
    for (size_t i = 0; i < lead; i++) {
        bool back = node->text[i] == '\n';
        *line -= back && *line > 1;
        *col = back ? 1 : *col - (*col > 1);
    }
    return e;
}

/* What an expression that does not compile looks like, instead of jq. */
static const struct {
    const char *part, *hint;
} lookalikes[] = {
    {"{{", "this looks like a template: write the expression itself, such as `.name`"},
    {"{%", "this looks like a template: write the expression itself, such as `.name`"},
    {"${", "this looks like a template: write the expression itself, such as `.name`"},
    {"state[", "the state is `.`, so `state[\"name\"]` is `.name`"},
    {"state.", "the state is `.`, so `state.name` is `.name`"},
    {"&&", "`&&` is `and`"},
    {"||", "`||` is `or`"},
    {" is None", "`is None` is `== null`"},
    {" not in ", "`a not in b` is `b | index(a) | not`"},
    {"None", "`None` is `null`"},
    {"True", "`True` is `true`"},
    {"False", "`False` is `false`"},
    {"len(", "`len(.name)` is `(.name | length)`"},
};

/* Words, names of files and the like, written as what they are. */
static bool is_plain_text(const char *text) {
    static const char *const of_jq[] = {" and ", " or ", " as ", " then ", "if ",     "def ",
                                        "try ",  "not ", ", ",   " // ",   "reduce ", "foreach "};
    size_t len = strlen(text);
    bool plain = (ascii_is_letter(*text) || *text == '/') && len < 60 &&
                 strcspn(text, "|()[]{}\"'$;=<>*?#\n") == len && strcspn(text, " -/:") < len &&
                 !strstr(text, " .");
    for (size_t i = 0; plain && i < sizeof of_jq / sizeof *of_jq; i++) {
        plain = !strstr(text, of_jq[i]);
    }
    return plain;
}

/* " Expressions are jq: ..." or nothing. */
static const char *lookalike(const char *text, const Error *err) {
    static _Thread_local char out[200];
    static const char undefined[] = "/0 is not defined";
    const char *hint = NULL, *end = strstr(err->msg, undefined);
    for (size_t i = 0; !hint && i < sizeof lookalikes / sizeof *lookalikes; i++) {
        hint = strstr(text, lookalikes[i].part) ? lookalikes[i].hint : NULL;
    }
    if (!hint && strstr(err->msg, "'''")) hint = "texts stand in double quotes";
    out[0] = '\0';
    if (hint) {
        snprintf(out, sizeof out, " Expressions are jq: %s.", hint);
    } else if (is_plain_text(text)) {
        snprintf(out, sizeof out,
                 " Expressions are jq: a text stands in double quotes, and in YAML those in single "
                 "ones, as '\"%s\"'.",
                 text);
    } else if (end && end - err->msg < 60 && !strstr(err->msg, "did you mean") &&
               err->msg[0] != '$') {
        int n = (int)(end - err->msg);
        snprintf(out, sizeof out,
                 " Expressions are jq: a key of the state is written `.%.*s`, a text `\"%.*s\"`.",
                 n, err->msg, n, err->msg);
    }
    return out;
}

/* " A query begins with a dot ..." where it would be an expression without the dot that it got, how a text is written where
 * it seems to be one, or nothing. */
static const char *query_hint(const ExprImpl *e, const JqOptions *options) {
    static _Thread_local char out[160];
    if (is_plain_text(e->expr.text)) {
        snprintf(out, sizeof out, " A query reads variables; a text is written `| \"%s\"`.",
                 e->expr.text);
        return out;
    }
    if (e->nsegments < 2) return "";
    size_t dot = e->segments[1].source - 1, rest = e->len - dot - 1;
    JqProgram *without = jq_compile(e->source + dot + 1, rest, options, NULL);
    jq_program_free(without);
    return without
               ? " A query begins with a dot, which it gets where it lacks one; for an expression "
                 "write `| EXPRESSION`."
               : "";
}

/* A query that calls what there is not gives an empty object when it runs, as one that fails. */
static bool is_undefined(const Error *err) {
    bool undefined = strstr(err->msg, " is not defined") || strstr(err->msg, " is left out here");
    return undefined && !strstr(err->msg, "$secrets");
}

/* False after reporting. */
static bool fits(Loader *ld, const ExprImpl *e, Spot spot) {
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

static const Expr *add_expr(Loader *ld, ExprImpl *e) {
    FlowImpl *flow = ld->flow;
    e->expr.id = flow->flow.first_expr + (uint32_t)flow->nexprs;
    flow->exprs = mem_grow(flow->exprs, flow->nexprs, &flow->exprs_cap, sizeof *flow->exprs);
    flow->exprs[flow->nexprs++] = e;
    return &e->expr;
}

static const Expr *compile(Loader *ld, ExprImpl *e, Spot spot, Scope scope) {
    Error err = ERROR_INIT;
    if (!fits(ld, e, spot)) return NULL;
    e->expr.nvars = scope.nvars;
    e->expr.takes_secrets = takes_secrets(e, scope);
    if (e->expr.takes_secrets) {
        const char *name = secrets_var;
        scope = scope_with(ld, scope, &name, 1);
    }
    JqOptions options = {scope.vars,   scope.nvars,           e->expr.line, e->expr.col,
                         e->expr.file, e->expr.takes_secrets, scope.exact};
    e->expr.program = jq_compile(e->source, e->len, &options, &err);
    if (!e->expr.program) {
        secrets_explain(&err);
        if (e->node) {
            spot.at = file_offset(e, err.line, err.col);
            spot.end = spot.at + 1;
        }
        if (e->query && is_undefined(&err)) {
            report_warning(ld->reporter, spot, "%s The query gives `{}`.", err.msg);
            e->expr.program = jq_compile("{}", 2, &options, NULL);
        } else {
            (e->title ? report_warning : report_at)(ld->reporter, spot, "%s%s", err.msg,
                                                    e->query ? query_hint(e, &options)
                                                             : lookalike(e->expr.text, &err));
            return NULL;
        }
    }
    if (!note_secrets(ld, e, spot)) {
        jq_program_free(e->expr.program);
        return NULL;
    }
    return add_expr(ld, e);
}

/* A value of the file as an expression that gives it. */
static const Expr *compile_value(Loader *ld, const YamlNode *node, Json value, Scope scope) {
    char *text = json_to_text(value);
    size_t len = strlen(text);
    if (scope.secrets && strstr(text, "$secrets.")) {
        report_at(
            ld->reporter, node->spot,
            "`$secrets` stands in a text here, and would be sent as it is written. Write all of this as one "
            "expression, in quotes: '{\"key\": $secrets.KEY}'.");
        mem_free(text);
        return NULL;
    }
    scope.secrets = false; /* it is no expression */
    ExprImpl *e = new_expr(ld, node, arena_strndup(ld->arena, text, len), len);
    mem_free(text);
    e->expr.text = e->source;
    if (node->kind != YAML_SCALAR) {
        yaml_line_col(node->spot.file, node->spot.at, &e->expr.line, &e->expr.col);
        e->node = NULL;
    }
    return compile(ld, e, node->spot, scope);
}

const Expr *load_value(Loader *ld, const YamlNode *at, Json value) {
    return compile_value(ld, at, value, (Scope){0});
}

/* ---- Jinja ---- */

const Expr *load_foreign(Loader *ld, const YamlNode *node, const char *how, Json given) {
    Foreign *foreign = arena_alloc(ld->arena, sizeof *foreign);
    foreign->how = how;
    foreign->what = keep(ld, yaml_json(node));
    foreign->given = given;
    char *text = json_to_text(foreign->what);
    size_t len = strlen(text);
    ExprImpl *e = new_expr(ld, node, arena_strndup(ld->arena, text, len), len);
    mem_free(text);
    e->expr.foreign = foreign;
    if (node->kind != YAML_SCALAR) {
        yaml_line_col(node->spot.file, node->spot.at, &e->expr.line, &e->expr.col);
        e->node = NULL;
    }
    return fits(ld, e, node->spot) ? add_expr(ld, e) : NULL;
}

bool has_template(const YamlNode *node) {
    if (node->kind == YAML_SCALAR) {
        return strstr(node->text, "{{") || strstr(node->text, "{%") || strstr(node->text, "${");
    }
    for (size_t i = 0; i < node->n; i++) {
        if (has_template(node->kind == YAML_LIST ? node->items[i] : node->pairs[i].value)) {
            return true;
        }
    }
    return false;
}

/* Of a file of The Edge Agent: every text in it may be a template, and nothing is jq. */
static const Expr *load_templates(Loader *ld, const YamlNode *node) {
    if (has_template(node)) return load_foreign(ld, node, FOREIGN_VALUE, ld->agent->given);
    Json value = yaml_json(node);
    const Expr *expr = compile_value(ld, node, value, (Scope){0});
    json_unref(value);
    return expr;
}

/* A name of the state, with `!` in front or not; true, false. Where the name is; 0 when it is none. */
static size_t plain_name(const char *text, size_t len) {
    size_t at = text[0] == '!';
    if (at >= len || ascii_is_digit(text[at])) return 0;
    for (size_t i = at; i < len; i++) {
        if (!ascii_is_name(text[i])) return 0;
    }
    return len - at;
}

static const Expr *load_plain_condition(Loader *ld, const YamlNode *node, const char *text,
                                        size_t len, bool wanted) {
    static const char *const words[] = {"true", "True", "false", "False", NULL};
    bool negated = text[0] == '!';
    Buf source = BUF_INIT;
    if (has_name(words, text, len)) {
        buf_adds(&source, (text[0] == 't' || text[0] == 'T') == wanted ? "true" : "false");
    } else {
        buf_printf(
            &source,
            "(.[\"%.*s\"] | . == null or . == false or . == 0 or . == \"\" or . == [] or . == {})",
            (int)(len - negated), text + negated);
        if (negated != wanted) buf_adds(&source, " | not");
    }
    ExprImpl *e = new_expr(ld, node, arena_strndup(ld->arena, source.data, source.len), source.len);
    e->node = NULL;
    buf_clear(&source);
    return compile(ld, e, node->spot, (Scope){0});
}

const Expr *load_agent_condition(Loader *ld, const YamlNode *node, bool wanted) {
    Json value = yaml_json(node);
    bool text = json_kind(value) == JSON_STRING, truth = json_kind(value) == JSON_TRUE;
    bool boolean = truth || json_kind(value) == JSON_FALSE;
    json_unref(value);
    if (boolean) {
        const char *word = truth ? "true" : "false";
        return load_plain_condition(ld, node, word, strlen(word), wanted);
    }
    size_t lead = text ? strspn(node->text, " \t\r\n") : 0, len = text ? node->len : 0;
    while (len > lead && strchr(" \t\r\n", node->text[len - 1])) len--;
    if (!text || len == lead) {
        report_at(ld->reporter, node->spot, "A condition must be a text, such as `state.x > 1`.");
        return NULL;
    }
    if (plain_name(node->text + lead, len - lead)) {
        return load_plain_condition(ld, node, node->text + lead, len - lead, wanted);
    }
    return load_foreign(ld, node, wanted ? FOREIGN_CONDITION : FOREIGN_CONDITION_FALSE,
                        ld->agent->given);
}

/* ---- queries ---- */

const Expr *load_query_part(Loader *ld, const YamlNode *node, QueryPart part,
                            const ParamInfo *info) {
    size_t from = part.from, to = part.to, len = to - from, dot = query_dot(node->text + from, len);
    bool dotted = dot != SIZE_MAX;
    size_t before = dotted ? dot : len;
    char *source = arena_alloc(ld->arena, len + 2);
    memcpy(source, node->text + from, before);
    if (dotted) {
        source[before] = '.';
        memcpy(source + before + 1, node->text + from + before, len - before);
    }
    ExprImpl *e = new_expr(ld, node, source, len + dotted);
    e->nsegments = dotted ? 2 : 1;
    e->query = true;
    e->title = part.title;
    e->segments = arena_alloc(ld->arena, 2 * sizeof *e->segments);
    e->segments[0] = (Segment){0, from};
    e->segments[1] = (Segment){before + 1, from + before};
    if (from > 0 || to < node->len) {
        e->expr.text = arena_strndup(ld->arena, node->text + from, len);
        yaml_line_col(node->spot.file, yaml_place(node, from), &e->expr.line, &e->expr.col);
    }
    return compile(ld, e, node->spot, (Scope){.secrets = info && info->secrets, .exact = true});
}

static const Expr *load(Loader *ld, const YamlNode *node, Scope scope) {
    Json value = yaml_json(node);
    const Expr *expr = NULL;
    if (json_kind(value) != JSON_STRING) {
        expr = compile_value(ld, node, value, scope);
    } else if (strspn(node->text, " \t\r\n") == node->len) {
        report_at(ld->reporter, node->spot, "There is no expression here.");
    } else {
        expr = compile(ld, new_expr(ld, node, node->text, node->len), node->spot, scope);
    }
    json_unref(value);
    return expr;
}

const Expr *load_expr(Loader *ld, const YamlNode *node, Scope scope) {
    if (ld->agent) return load_templates(ld, node);
    return load(ld, node, scope);
}

/* What stands for itself in jq, but is a field of the variables with a dot before it. */
static bool is_literal(const YamlNode *node) {
    static const char *const words[] = {"true", "false", "null", NULL};
    const char *text = node->text;
    return has_name(words, text, node->len) || ascii_is_digit(*text) || *text == '"';
}

const Expr *load_query(Loader *ld, const YamlNode *node, const ParamInfo *info) {
    if (node->kind != YAML_SCALAR) {
        report_at(ld->reporter, node->spot, "A query is a text.");
        return NULL;
    }
    if (strspn(node->text, " \t\r\n") == node->len) {
        report_at(ld->reporter, node->spot, "There is no query here.");
        return NULL;
    }
    if (is_literal(node)) {
        report_warning(ld->reporter, node->spot,
                       "This is `.%s`, since a query begins with a dot; for the value itself write "
                       "`| %s`.",
                       shown(node->text, node->len), shown(node->text, node->len));
    }
    return load_query_part(ld, node, (QueryPart){0, node->len, false}, info);
}

/* ---- templates ---- */

typedef struct Template {
    Buf source;
    Segment *segments;
    size_t n, cap;
} Template;

static void add_segment(Template *t, size_t text) {
    t->segments = mem_grow(t->segments, t->n, &t->cap, sizeof *t->segments);
    t->segments[t->n++] = (Segment){t->source.len, text};
}

/* False when an expression in it has no end. */
static bool make_source(Template *t, const YamlNode *n, size_t *bad) {
    buf_addc(&t->source, '"');
    add_segment(t, 0);
    for (size_t at = 0; at < n->len; at++) {
        char c = n->text[at];
        if (c == '\\' && n->text[at + 1] == '(') {
            size_t close = find_jq_end(n->text, n->len, at + 2, ")");
            *bad = at;
            if (close == SIZE_MAX) return false;
            buf_add(&t->source, n->text + at, close + 1 - at);
            at = close;
        } else if ((unsigned char)c < 0x20 && c != '\n' && c != '\t') {
            buf_printf(&t->source, "\\u%04x", c);
            add_segment(t, at + 1);
        } else {
            if (c == '"' || c == '\\') {
                buf_addc(&t->source, '\\');
                add_segment(t, at);
            }
            buf_addc(&t->source, c);
        }
    }
    buf_addc(&t->source, '"');
    return true;
}

const Expr *load_template(Loader *ld, const YamlNode *node, Scope scope) {
    if (ld->agent) return load_templates(ld, node);
    Template t = {BUF_INIT, NULL, 0, 0};
    const Expr *expr = NULL;
    size_t bad = 0;
    if (make_source(&t, node, &bad)) {
        const char *source = arena_strndup(ld->arena, t.source.data, t.source.len);
        ExprImpl *e = new_expr(ld, node, source, t.source.len);
        e->nsegments = t.n;
        e->segments = arena_alloc(ld->arena, t.n * sizeof *t.segments);
        memcpy(e->segments, t.segments, t.n * sizeof *t.segments);
        expr = compile(ld, e, node->spot, scope);
    } else {
        size_t at = yaml_place(node, bad);
        report_at(ld->reporter, (Spot){node->spot.file, at, at + 2},
                  "This `\\(` has no `)` that closes it.");
    }
    buf_clear(&t.source);
    mem_free(t.segments);
    return expr;
}
