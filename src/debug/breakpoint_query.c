/* breakpoint_query.c - the expressions of breakpoints: compiled once, asked at many nodes.
 *
 * An expression is compiled when the breakpoint is made, so that what is wrong with it is said
 * then. When it names no variable of the nodes, that program serves everywhere. Otherwise there is
 * a program for each set of the names it uses that nodes turn out to have: which ones a node has is
 * a bit mask, found by comparing a few short names, and no state is kept for each node.
 */
#include "breakpoint.h"

#include "ascii.h"
#include "evaluator.h"
#include "loader.h"
#include "mem.h"
#include "node_index.h"
#include "utf8.h"

/* ---- queries ---- */

enum { QUERY_NAMES_MAX = 64 }; /* bits of a mask */

/* The expression compiled for nodes that have some of the names. */
typedef struct Variant {
    uint64_t has;       /* which of the names: bits */
    JqProgram *program; /* NULL: it cannot be asked there, and why is said by */
    Error *why;
    JqRun *run; /* NULL until it is needed */
} Variant;

struct Query {
    char *text;
    size_t len;
    char **names; /* of the variables that it may take from a node; the last is NULL */
    size_t nnames;
    Variant *variants;
    size_t n, cap;
    bool exact; /* JqOptions.exact */
};

static const JqHost query_host = {
    .budget = {.steps = BREAK_STEPS, .memory = BREAK_MEMORY, .slice = 10000}};

void query_free(Query *q) {
    if (!q) return;
    for (size_t i = 0; i < q->n; i++) {
        jq_run_free(q->variants[i].run);
        jq_program_free(q->variants[i].program);
        mem_free(q->variants[i].why);
    }
    for (size_t i = 0; i < q->nnames; i++) mem_free(q->names[i]);
    mem_free(q->variants);
    mem_free(q->names);
    mem_free(q->text);
    mem_free(q);
}

static Variant *add_variant(Query *q, uint64_t has, const char *const *vars, size_t nvars) {
    Error err = ERROR_INIT;
    JqOptions options = {.vars = vars, .nvars = nvars, .exact = q->exact};
    Variant v = {.has = has, .program = jq_compile(q->text, q->len, &options, &err)};
    if (!v.program) {
        secrets_explain(&err);
        v.why = mem_alloc(sizeof *v.why);
        *v.why = err;
    }
    q->variants = mem_grow(q->variants, q->n, &q->cap, sizeof *q->variants);
    q->variants[q->n] = v;
    return &q->variants[q->n++];
}

static Json first_output(Variant *v, Json input, const Json *vars, Error *err) {
    v->run = v->run ? v->run : jq_run_new(v->program, &query_host);
    return evaluator_first(v->run, json_is_none(input) ? json_null() : json_ref(input), vars,
                           BREAK_MS, err);
}

/* ---- queries at nodes ---- */

/* Everything in the text that looks like a variable: one too many does no harm. */
static bool find_names(Query *q, Error *err) {
    q->names = mem_zalloc((QUERY_NAMES_MAX + 1) * sizeof *q->names);
    for (size_t at = 0, end; at < q->len; at = end) {
        for (end = at + 1; q->text[at] == '$' && ascii_is_name(q->text[end]);) end++;
        if (end == at + 1 ||
            has_name((const char *const *)q->names, q->text + at + 1, end - at - 1)) {
            continue;
        }
        if (q->nnames == QUERY_NAMES_MAX) {
            return error_set(err, ERR_LIMIT, "It names more than %d variables.", QUERY_NAMES_MAX);
        }
        q->names[q->nnames++] = mem_strndup(q->text + at + 1, end - at - 1);
    }
    return true;
}

/* Where a node has a variable: of two with one name the later counts. -1: it has none. */
static int find_variable(const Node *node, const char *name) {
    for (size_t i = node->nvars; i-- > 0;) {
        if (strcmp(node->vars[i], name) == 0) return (int)i;
    }
    return -1;
}

/* Which of the names a node has; values, unless it is NULL, gets theirs in order. */
static uint64_t gather(const Query *q, const Node *node, const Json *vars, Json *values) {
    uint64_t has = 0;
    for (size_t i = 0; i < q->nnames; i++) {
        int at = find_variable(node, q->names[i]);
        if (at >= 0) {
            has |= UINT64_C(1) << i;
            if (values) *values++ = vars[at];
        }
    }
    return has;
}

static Variant *variant_for(Query *q, uint64_t has) {
    const char *vars[QUERY_NAMES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < q->n; i++) {
        if (q->variants[i].has == has) return &q->variants[i];
    }
    for (size_t i = 0; i < q->nnames; i++) {
        if (has >> i & 1) vars[n++] = q->names[i];
    }
    return add_variant(q, has, vars, n);
}

/* Of the reasons, the one that is furthest into the text is about what is really wrong: before it
 * there may be names that only some nodes have. NULL: it can be asked at one of them at least. */
static const Error *reason_against(Query *q) {
    const Error *why = NULL;
    for (size_t i = 0; i < q->n; i++) {
        const Error *one = q->variants[i].why;
        if (!one) return NULL;
        bool later = why && (one->line != why->line ? one->line > why->line : one->col > why->col);
        why = !why || later ? one : why;
    }
    return why;
}

Query *query_new(const char *text, size_t len, const Flow *flow, Error *err) {
    Query *q = mem_zalloc(sizeof *q);
    q->text = mem_strndup(text, len);
    q->len = len;
    q->exact = flow && !strcmp(flow->dialect, "tasks"); /* as the queries of a test are */
    if (add_variant(q, 0, NULL, 0)->program) {
        return q; /* no variable of a node is in it */
    }
    bool ok = find_names(q, err);
    NodeCursor at = {0};
    for (const Node *node; ok && q->nnames && flow && (node = nodes_next(flow, &at));) {
        if (node->nvars) variant_for(q, gather(q, node, NULL, NULL));
    }
    const Error *why = ok ? reason_against(q) : NULL;
    if (why && err) *err = *why;
    if (!ok || why) {
        query_free(q);
        return NULL;
    }
    return q;
}

Json query_eval_at(Query *q, const Node *node, Json input, const Json *vars, Error *err) {
    if (!q->nnames) return first_output(&q->variants[0], input, NULL, err);
    Json values[QUERY_NAMES_MAX];
    Variant *v = variant_for(q, gather(q, node, vars, values));
    return v->program ? first_output(v, input, values, err) : json_none();
}

const Error *query_unfit(Query *q, const Node *node) {
    return q ? variant_for(q, q->nnames ? gather(q, node, NULL, NULL) : 0)->why : NULL;
}

unsigned query_effects(const Query *q) {
    unsigned effects = 0;
    for (size_t i = 0; i < q->n; i++) {
        effects |= q->variants[i].program ? jq_program_effects(q->variants[i].program) : 0;
    }
    return effects;
}

/* ---- messages as jq strings ---- */

/* The text between quotes, quotes of its own made part of it. */
typedef struct Quoting {
    const char *text;
    size_t len;
    Buf out;
    size_t *added; /* offsets in out of the backslashes that were put in */
    size_t nadded, added_cap;
} Quoting;

/* Line and column of an offset. */
static bool fail_in_text(const char *text, size_t offset, Error *err, const char *sentence) {
    int line = 1;
    size_t start = 0;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    int col = 1 + (int)utf8_length(text + start, offset - start);
    return error_set_at(err, ERR_SYNTAX, line, col, "%s", sentence);
}

/* Quotes inside of \(...) are the expression's own. */
static bool quote_message(Quoting *q, Error *err) {
    buf_addc(&q->out, '"');
    for (size_t at = 0, end; at < q->len; at = end) {
        char c = q->text[at];
        end = at + (c == '\\' ? 2 : 1);
        if (end > q->len) {
            return fail_in_text(q->text, at, err,
                                "A backslash ends it; write \\\\ for a backslash.");
        }
        if (c == '\\' && q->text[at + 1] == '(') {
            size_t close = find_jq_end(q->text, q->len, end, ")");
            if (close == SIZE_MAX) {
                return fail_in_text(
                    q->text, at + 1, err,
                    "The expression that begins here is not closed; a ')' is missing.");
            }
            end = close + 1;
        } else if (c == '"') {
            q->added = mem_grow(q->added, q->nadded, &q->added_cap, sizeof *q->added);
            q->added[q->nadded++] = q->out.len;
            buf_addc(&q->out, '\\');
        }
        buf_add(&q->out, q->text + at, end - at);
    }
    buf_addc(&q->out, '"');
    return true;
}

/* From a column of the quoted text to the message's: without what was put before it in its line. */
static void place_in_message(const Quoting *q, Error *err) {
    const char *text = q->out.data, *line = text;
    for (int i = 1; i < err->line && line; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (!line || err->col < 1) return;
    size_t start = (size_t)(line - text), left = q->out.len - start;
    size_t at = start + utf8_offset(line, left, (size_t)err->col - 1);
    int more = line == text;
    for (size_t i = 0; i < q->nadded; i++) more += q->added[i] >= start && q->added[i] < at;
    err->col = err->col > more ? err->col - more : 1;
}

Query *query_new_message(const char *text, size_t len, const Flow *flow, Error *err) {
    Quoting q = {.text = text, .len = len};
    bool quoted = quote_message(&q, err);
    Query *query = quoted ? query_new(q.out.data, q.out.len, flow, err) : NULL;
    if (quoted && !query && err) place_in_message(&q, err);
    buf_clear(&q.out);
    mem_free(q.added);
    return query;
}
