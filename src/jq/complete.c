/* complete.c - what could stand at a cursor.
 *
 * The text before the cursor is rarely an expression yet, so it is not parsed: its tokens are
 * followed one by one with a stack of what is open (brackets, if ... end, def ... ;). For each
 * open level we know where its present pipeline began, where its last pipe is and where its last
 * term began, and the names that it has brought into sight.
 *
 * The value at the cursor comes from an expression put together out of the text: for each level,
 * what stands before its last pipe; between levels, how a function reaches what it gives its
 * argument to (`.[]` for map); at last the term itself. It is run on the input with a small
 * budget. What does not compile or run offers no fields; it is never an error.
 */
#define _GNU_SOURCE
#include "ascii.h"
#include "grammar.tab.h"
#include "json_build.h"
#include "json_print.h"
#include "lexer.h"
#include "mem.h"
#include "program.h"

#include <stdlib.h>
#include <strings.h>

enum { COMPLETIONS_MAX = 200, OUTPUTS_LOOKED_AT = 16 };

typedef struct Token {
    int kind;
    uint32_t start, end;
} Token;

typedef enum LevelKind { LEVEL_BRACKET, LEVEL_CALL, LEVEL_LOOP, LEVEL_IF, LEVEL_DEF } LevelKind;

/* Something that is open at the cursor. Offsets are into the text. */
typedef struct Level {
    LevelKind kind;
    int closer;              /* the token that ends it */
    uint32_t start;          /* where the present pipeline began */
    uint32_t defs_end;       /* end of the definitions at its start */
    uint32_t pipe;           /* its last pipe; 0: none */
    uint32_t term;           /* where its last term began */
    bool ends_term;          /* the last token ends a term */
    bool after_as;           /* a pattern has begun */
    bool in_loop;            /* a reduce or foreach has begun whose parenthesis is still to come */
    uint32_t loop;           /* where the source of that loop began */
    bool header;             /* of DEF: before its colon; of an object: where a key may stand */
    bool pattern;            /* names inside belong outside */
    Token name;              /* of CALL: the function */
    uint32_t head, head_end; /* of LOOP: `source as pattern` */
    uint32_t first, first_end; /* of CALL and LOOP: the first argument, once it is complete */
    int argument;
    size_t base, context;     /* of c->context: without and with the step to the argument */
    size_t names, loop_names; /* what was in sight before */
} Level;

typedef struct Name {
    const char *kind;
    uint32_t start, end; /* of the name; a variable's with its $ */
    uint32_t detail_end; /* of a function's parameters */
} Name;

typedef struct Candidate {
    Json text, detail;
    const char *kind;
    uint32_t from;
    int rank; /* 0: the case fits too */
    int group;
} Candidate;

typedef struct Completion {
    const char *text;
    uint32_t cursor;
    const JqOptions *options;
    Json input;
    Token *tokens;
    size_t ntokens, tokens_cap;
    bool in_string, in_comment;
    Level *levels;
    size_t nlevels, levels_cap;
    Name *names;
    size_t nnames, names_cap;
    Buf context; /* an expression for what the innermost level gets as its input */
    /* what we complete */
    const char *prefix;
    uint32_t prefix_len, from;
    Candidate *found;
    size_t nfound, found_cap;
} Completion;

/* ---- tokens ---- */

static void read_tokens(Completion *c) {
    Syntax s;
    syntax_init(&s, c->text, c->cursor);
    Lexer lx;
    lexer_init(&lx, &s);
    for (;;) {
        Node *node;
        uint32_t before = lx.at;
        Token t;
        t.kind = lexer_next(&lx, &node, &t.start, &t.end);
        if (t.kind == 0 || lx.at == before) break;
        c->tokens = mem_grow(c->tokens, c->ntokens, &c->tokens_cap, sizeof *c->tokens);
        c->tokens[c->ntokens++] = t;
    }
    c->in_string = lx.in_string;
    lexer_clear(&lx);
    syntax_clear(&s);
    /* The blank between the last token and the cursor may hold a comment that is still open. */
    const char *blank = c->text + (c->ntokens ? c->tokens[c->ntokens - 1].end : 0);
    const char *end = c->text + c->cursor, *line = memrchr(blank, '\n', (size_t)(end - blank));
    blank = line ? line : blank;
    c->in_comment = !c->in_string && memchr(blank, '#', (size_t)(end - blank));
}

/* ---- context: how an argument is reached ---- */

typedef struct Reach {
    const char *function;
    const char *step;        /* to what the first argument gets */
    bool first_gives_second; /* the second argument gets the outputs of the first */
} Reach;

static const Reach reaches[] = {
    {"map", ".[]", false},
    {"any", ".[]", true},
    {"all", ".[]", true},
    {"sort_by", ".[]", false},
    {"group_by", ".[]", false},
    {"unique_by", ".[]", false},
    {"min_by", ".[]", false},
    {"max_by", ".[]", false},
    {"map_values", ".[]", false},
    {"INDEX", ".[]", true},
    {"with_entries", "to_entries[]", false},
    {"paths", "..", false},
    {"walk", "..", false},
    {"recurse", ".", true},
    {"sub", NULL, false},
    {"gsub", NULL, false},
};

static void add_span(Completion *c, uint32_t from, uint32_t to) {
    buf_add(&c->context, c->text + from, to - from);
}

static void add_first(Completion *c, const Level *l) {
    buf_adds(&c->context, "(");
    add_span(c, l->first, l->first_end);
    buf_adds(&c->context, "\n) | ");
}

static void step_into_call(Completion *c, const Level *l) {
    size_t i = 0, n = sizeof reaches / sizeof *reaches;
    while (i < n &&
           !text_is(c->text + l->name.start, l->name.end - l->name.start, reaches[i].function)) {
        i++;
    }
    if (i == n) return;
    const Reach *r = &reaches[i];
    if (l->argument == 0 && r->step) {
        buf_printf(&c->context, "%s | ", r->step);
    } else if (l->argument == 1 && r->first_gives_second) {
        add_first(c, l);
    } else if (!r->step && l->argument == 1) {
        buf_adds(&c->context, "null | ");
    }
}

static void step_into_argument(Completion *c, Level *l) {
    c->context.len = l->base;
    if (l->kind == LEVEL_CALL) {
        step_into_call(c, l);
    } else if (l->kind == LEVEL_LOOP && l->argument > 0) {
        add_span(c, l->head, l->head_end);
        buf_adds(&c->context, "\n| ");
        add_first(c, l);
    }
    l->context = c->context.len;
}

/* What stands before the last pipe of a level, or only its definitions. */
static void add_pipeline(Completion *c, const Level *l) {
    if (l->pipe) {
        add_span(c, l->start, l->pipe);
        buf_adds(&c->context, "\n| ");
    } else if (l->defs_end > l->start) {
        add_span(c, l->start, l->defs_end);
        buf_adds(&c->context, "\n");
    }
}

/* ---- levels and names ---- */

static Level *top(Completion *c) {
    return &c->levels[c->nlevels - 1];
}

static void begin_pipeline(Level *l, uint32_t at) {
    l->start = l->defs_end = l->term = at;
    l->pipe = 0;
    l->ends_term = l->after_as = l->in_loop = false;
}

static Level *push_level(Completion *c, LevelKind kind, int closer, uint32_t at) {
    if (c->nlevels) add_pipeline(c, top(c));
    c->levels = mem_grow(c->levels, c->nlevels, &c->levels_cap, sizeof *c->levels);
    Level *l = &c->levels[c->nlevels++];
    *l = (Level){.kind = kind, .closer = closer, .names = c->nnames, .first = at};
    l->base = l->context = c->context.len;
    begin_pipeline(l, at);
    return l;
}

/* Ends the innermost level; the one around it goes on behind a term, or behind a definition. */
static void pop_level(Completion *c, uint32_t end) {
    Level gone = *top(c);
    c->nlevels--;
    Level *l = top(c);
    c->context.len = l->context;
    if (!gone.pattern) c->nnames = gone.names;
    l->ends_term = gone.kind != LEVEL_DEF;
    if (gone.kind == LEVEL_DEF && !l->pipe) l->defs_end = end;
}

static void add_name(Completion *c, Name n) {
    c->names = mem_grow(c->names, c->nnames, &c->names_cap, sizeof *c->names);
    c->names[c->nnames++] = n;
}

/* ---- one token ---- */

static void begin_term(Level *l, uint32_t at) {
    if (!l->ends_term) l->term = at;
    l->ends_term = true;
}

static void open_bracket(Completion *c, Token t, int closer) {
    Level *outer = top(c);
    bool pattern = outer->after_as || outer->pattern, key = t.kind == '{';
    if (!outer->ends_term) outer->term = t.start;
    Level *l = push_level(c, LEVEL_BRACKET, closer, t.end);
    l->pattern = pattern;
    l->header = key;
}

static void open_paren(Completion *c, size_t i) {
    Token t = c->tokens[i];
    const Level *l = top(c);
    if (l->in_loop && l->after_as) {
        Level outer = *top(c);
        top(c)->after_as = top(c)->in_loop = false;
        Level *loop = push_level(c, LEVEL_LOOP, ')', t.end);
        loop->head = outer.loop;
        loop->head_end = t.start;
        loop->names = outer.loop_names;
    } else if (i > 0 && c->tokens[i - 1].kind == NAME && c->tokens[i - 1].end == t.start) {
        Level *call = push_level(c, LEVEL_CALL, ')', t.end);
        call->name = c->tokens[i - 1];
        step_into_argument(c, call);
    } else {
        open_bracket(c, t, ')');
    }
}

static bool in_def_header(const Completion *c) {
    const Level *l = &c->levels[c->nlevels - 1];
    return l->kind == LEVEL_DEF && l->header;
}

/* Inside a definition's header: only parameters and the colon matter. */
static void step_header(Completion *c, size_t i) {
    Token t = c->tokens[i];
    if (t.kind == ':') {
        top(c)->header = false;
        begin_pipeline(top(c), t.end);
    } else if (t.kind == VARIABLE) {
        add_name(c, (Name){"variable", t.start, t.end, t.end});
    } else if (t.kind == NAME && c->tokens[i - 1].kind != DEF) {
        add_name(c, (Name){"function", t.start, t.end, t.end});
    }
}

static void step_token(Completion *c, size_t i) {
    Token t = c->tokens[i];
    Level *l = top(c);
    if (in_def_header(c)) {
        step_header(c, i);
        return;
    }
    switch (t.kind) {
    case '(': open_paren(c, i); return;
    case '[': open_bracket(c, t, ']'); return;
    case '{': open_bracket(c, t, '}'); return;
    case INTERPOLATE_START: open_bracket(c, t, INTERPOLATE_END); return;
    case QQ_START: begin_term(l, t.start); return;
    case QQ_TEXT:
    case QQ_END: return;
    case ')':
    case ']':
    case '}':
    case INTERPOLATE_END:
    case END:
        if (c->nlevels > 1 && l->closer == t.kind) pop_level(c, t.end);
        return;
    case ';':
        if (l->kind == LEVEL_DEF) {
            pop_level(c, t.end);
        } else if (l->kind == LEVEL_CALL || l->kind == LEVEL_LOOP) {
            if (l->argument++ == 0) l->first_end = t.start;
            step_into_argument(c, l);
            begin_pipeline(l, t.end);
        }
        return;
    case '|':
    case SET_PIPE:
        l->pipe = t.start;
        l->ends_term = l->after_as = false;
        return;
    case AS:
        l->after_as = true;
        l->ends_term = false;
        return;
    case DEF:
        if (i + 1 < c->ntokens) {
            Token name = c->tokens[i + 1];
            size_t at = i + 2;
            bool params = at < c->ntokens && c->tokens[at].kind == '(';
            while (params && at < c->ntokens && c->tokens[at].kind != ')') at++;
            uint32_t end = params && at < c->ntokens ? c->tokens[at].end : name.end;
            add_name(c, (Name){"function", name.start, name.end, end});
        }
        push_level(c, LEVEL_DEF, ';', t.end)->header = true;
        return;
    case IF:
        begin_term(l, t.start);
        push_level(c, LEVEL_IF, END, t.end);
        return;
    case THEN:
    case ELIF:
    case ELSE:
        begin_pipeline(l, t.end);
        l->header = false;
        return;
    case REDUCE:
    case FOREACH:
        begin_term(l, t.start);
        l->ends_term = false;
        l->in_loop = true;
        l->loop = t.end;
        l->loop_names = c->nnames;
        return;
    case VARIABLE:
        if (l->after_as || l->pattern) add_name(c, (Name){"variable", t.start, t.end, t.end});
        begin_term(l, t.start);
        return;
    case '.':
    case FIELD:
    case RECURSE:
    case NAME:
    case LITERAL:
    case FORMAT:
    case '?': begin_term(l, t.start); return;
    default: break;
    }
    bool object = l->closer == '}' && !l->pattern;
    if (object && (t.kind == ':' || t.kind == ',')) {
        begin_pipeline(l, t.end);
        l->header = t.kind == ','; /* a key may stand here */
    }
    l->ends_term = false;
}

/* ---- candidates ---- */

/* Adds what begins with the prefix. Consumes the text and the detail. */
static void add_candidate(Completion *c, Candidate item, const char *name, size_t len) {
    bool fits = len >= c->prefix_len && !strncasecmp(name, c->prefix, c->prefix_len);
    if (!fits) {
        json_unref(item.text);
        json_unref(item.detail);
        return;
    }
    item.rank = memcmp(name, c->prefix, c->prefix_len) != 0;
    c->found = mem_grow(c->found, c->nfound, &c->found_cap, sizeof *c->found);
    c->found[c->nfound++] = item;
}

/* A word of the language, or one that the text brought into sight. */
static void add_word(Completion *c, const char *kind, int group, const char *mark, const char *name,
                     size_t len, Json detail) {
    add_candidate(c,
                  (Candidate){.text = json_string_fmt("%s%.*s", mark, (int)len, name),
                              .detail = detail,
                              .kind = kind,
                              .group = group,
                              .from = c->from},
                  name, len);
}

enum { GROUP_FIELD, GROUP_LOCAL, GROUP_BUILTIN };

/* ---- fields ---- */

/* How fields are written there. */
typedef struct FieldStyle {
    uint32_t dot; /* where it is or would be */
    bool has_dot; /* it stands in the text */
    bool bare;    /* a plain name goes behind it; only what needs quotes replaces it too */
    bool key;     /* in an object, without a dot */
} FieldStyle;

static void add_field(Completion *c, FieldStyle p, Json key, Json value) {
    const char *name = json_string_data(&key);
    size_t len = json_string_len(key), word = 0;
    while (word < len && ascii_is_name(name[word])) word++;
    bool plain = len > 0 && word == len && !ascii_is_digit(*name);
    bool dotted = !p.key && !(plain && p.bare);
    Buf text = BUF_INIT;
    buf_adds(&text, dotted ? "." : "");
    if (plain) {
        buf_add(&text, name, len);
    } else {
        json_print_string(name, len, false, &text);
    }
    char detail[JSON_DESCRIBE_MAX];
    add_candidate(c,
                  (Candidate){.text = json_string_buf(&text),
                              .detail = json_string_c(json_describe(value, detail)),
                              .kind = "field",
                              .group = GROUP_FIELD,
                              .from = dotted ? p.dot : c->from},
                  name, len);
    buf_clear(&text);
}

/* The keys of what the expression gives, each with a value it had, as one object; *array says
 * whether there was an array. We have no values for the host's variables. */
static Json fields_at_cursor(Completion *c, bool *array) {
    JqProgram *p = json_is_none(c->input)
                       ? NULL
                       : jq_compile(c->context.data, c->context.len, c->options, NULL);
    Json merged = json_object(), out, key, value;
    if (!p) return merged;
    size_t nvars = c->options ? c->options->nvars : 0;
    Json *vars = mem_alloc((nvars + 1) * sizeof *vars);
    for (size_t i = 0; i < nvars; i++) vars[i] = json_null();
    JqHost host = {.budget = {.steps = 200000, .memory = (size_t)16 << 20, .depth = 1000}};
    JqRun *run = jq_run_new(p, &host);
    jq_run_start(run, json_ref(c->input), vars);
    for (int i = 0; i < OUTPUTS_LOOKED_AT && jq_run_next(run, &out) == JQ_OUTPUT; i++) {
        *array |= json_kind(out) == JSON_ARRAY;
        for (size_t pos = 0; json_object_next(out, &pos, &key, &value);) {
            if (json_is_none(json_object_get(merged, key))) {
                merged = json_object_set(merged, json_ref(key), json_ref(value));
            }
        }
        json_unref(out);
    }
    mem_free(vars);
    jq_run_free(run);
    jq_program_free(p);
    return merged;
}

static void add_fields(Completion *c, FieldStyle p, uint32_t term_end) {
    bool array = false;
    /* An expression for the value that the fields would be taken from. */
    const Level *l = top(c);
    add_pipeline(c, l);
    if (l->ends_term && l->term < term_end) {
        add_span(c, l->term, term_end);
    } else {
        buf_adds(&c->context, ".");
    }
    Json fields = fields_at_cursor(c, &array), key, value;
    for (size_t pos = 0; json_object_next(fields, &pos, &key, &value);) add_field(c, p, key, value);
    if (array) {
        Candidate item = {.kind = "field", .group = GROUP_FIELD, .from = c->from};
        item.text = json_string_c(p.has_dot ? "[]" : ".[]");
        item.detail = json_string_c("every element");
        add_candidate(c, item, "[]", 2);
    }
    json_unref(fields);
}

/* ---- variables, formats, words ---- */

static void add_variable(Completion *c, const char *name, size_t len, const char *detail,
                         int group) {
    add_word(c, "variable", group, "$", name, len, json_string_c(detail));
}

static bool hidden(const Completion *c, size_t i) {
    const Name *n = &c->names[i];
    for (size_t j = i + 1; j < c->nnames; j++) {
        const Name *m = &c->names[j];
        if (m->kind[0] == n->kind[0] && m->end - m->start == n->end - n->start &&
            !memcmp(c->text + m->start, c->text + n->start, n->end - n->start)) {
            return true;
        }
    }
    return false;
}

static void add_variables(Completion *c) {
    for (size_t i = 0; i < c->nnames; i++) {
        const Name *n = &c->names[i];
        if (n->kind[0] == 'v' && !hidden(c, i)) {
            add_variable(c, c->text + n->start + 1, n->end - n->start - 1, "bound here",
                         GROUP_LOCAL);
        }
    }
    for (size_t i = 0; c->options && i < c->options->nvars; i++) {
        const char *name = c->options->vars[i];
        add_variable(c, name, strlen(name), "given", GROUP_LOCAL);
    }
    add_variable(c, "ENV", 3, "the environment", GROUP_BUILTIN);
    add_variable(c, "__loc__", 7, "file and line", GROUP_BUILTIN);
}

static void add_function(Completion *c, const char *name, Json detail) {
    add_word(c, "function", GROUP_BUILTIN, "", name, strlen(name), detail);
}

static Json call_detail(const char *name, int arity) {
    Buf b = BUF_INIT;
    buf_adds(&b, name);
    for (int i = 0; i < arity; i++) buf_printf(&b, "%s%c", i ? "; " : "(", 'a' + i);
    buf_adds(&b, arity ? ")" : "");
    Json detail = json_string_buf(&b);
    buf_clear(&b);
    return detail;
}

static void add_functions(Completion *c) {
    for (size_t i = 0; i < c->nnames; i++) {
        const Name *n = &c->names[i];
        if (n->kind[0] == 'f' && !hidden(c, i)) {
            add_word(c, "function", GROUP_LOCAL, "", c->text + n->start, n->end - n->start,
                     json_string(c->text + n->start, n->detail_end - n->start));
        }
    }
    const char *name;
    int arity;
    for (size_t i = 0; (name = form_name(i, &arity)); i++) {
        add_function(c, name, call_detail(name, arity));
    }
    const Prelude *row;
    for (size_t i = 0; (row = prelude_at(i)); i++) {
        const char *head = row->source + strlen("def ");
        add_function(c, row->name, json_string(head, strcspn(head, ":")));
    }
    const JqNative *native;
    for (size_t i = 0; (native = native_at(i)); i++) {
        if (native->name[0] != '_') {
            add_function(c, native->name, call_detail(native->name, native->arity));
        }
    }
}

static void add_keyword(Completion *c, const char *word) {
    add_word(c, "keyword", GROUP_BUILTIN, "", word, strlen(word), json_string_c("keyword"));
}

static bool listed(const char *const *words, const char *word) {
    while (*words && strcmp(*words, word)) words++;
    return *words != NULL;
}

/* Keywords that go on behind a term, or those that begin one. */
static void add_keywords(Completion *c, bool behind_term) {
    static const char *const going_on[] = {"and", "as", "catch", "elif", "else",
                                           "end", "or", "then",  NULL};
    static const char *const left_out[] = {"import", "include", "module", NULL};
    const char *word;
    for (size_t i = 0; (word = lexer_keyword(i)); i++) {
        if (listed(going_on, word) == behind_term && !listed(left_out, word)) add_keyword(c, word);
    }
    if (!behind_term) {
        add_keyword(c, "false");
        add_keyword(c, "null");
        add_keyword(c, "true");
    }
}

/* ---- what the cursor stands on ---- */

static void set_prefix(Completion *c, uint32_t start, uint32_t from) {
    c->prefix = c->text + start;
    c->prefix_len = c->cursor - start;
    c->from = from;
}

static void follow(Completion *c, size_t ntokens) {
    push_level(c, LEVEL_BRACKET, 0, 0);
    for (size_t i = 0; i < ntokens; i++) step_token(c, i);
}

/* .na| and ."na|: the dot is the first character of `dot`. */
static void complete_field(Completion *c, Token dot, uint32_t prefix, bool bare) {
    set_prefix(c, prefix, prefix);
    add_fields(c, (FieldStyle){.dot = dot.start, .has_dot = true, .bare = bare}, dot.start);
}

static void complete_word(Completion *c, uint32_t start) {
    const Level *l = top(c);
    bool behind_term = l->ends_term, blank = start == c->cursor;
    /* {na|: a key stands for the field of that name. */
    bool key = l->closer == '}' && l->header && !l->pattern && !l->ends_term;
    set_prefix(c, start, start);
    if (in_def_header(c)) return;
    if (!behind_term) {
        if (key || blank) add_fields(c, (FieldStyle){.dot = start, .key = key}, start);
        if (!key) add_functions(c);
    }
    if (!key) add_keywords(c, behind_term);
    if (blank && !behind_term) add_variables(c);
}

/* Inside of a string: only a quoted field, ."na|, is completed. */
static void complete_in_string(Completion *c) {
    size_t i = c->ntokens;
    while (i > 0 && c->tokens[i - 1].kind != QQ_START) i--;
    bool plain_text = i >= 2 && c->ntokens - i <= 1; /* nothing is interpolated */
    if (plain_text && c->tokens[i - 2].kind == '.') {
        follow(c, i - 2);
        complete_field(c, c->tokens[i - 2], c->tokens[i - 1].end, false);
    }
}

static void complete(Completion *c) {
    Token last = c->ntokens ? c->tokens[c->ntokens - 1] : (Token){0};
    bool touches = c->ntokens && last.end == c->cursor;
    char mark = touches ? c->text[last.start] : '\0';
    bool marked = mark && (last.end == last.start + 1 || last.kind == FIELD ||
                           last.kind == VARIABLE || last.kind == FORMAT);
    bool word = touches && (last.kind == NAME || ascii_is_letter(mark));
    follow(c, touches && ((marked && strchr(".$@", mark)) || word) ? c->ntokens - 1 : c->ntokens);
    if (marked && mark == '.') {
        complete_field(c, last, last.start + 1, true);
    } else if (marked && mark == '$') {
        set_prefix(c, last.start + 1, last.start);
        add_variables(c);
    } else if (marked && mark == '@') {
        set_prefix(c, last.start + 1, last.start);
        const char *name;
        for (size_t i = 0; (name = jq_format_name(i)); i++) {
            add_word(c, "format", GROUP_BUILTIN, "@", name, strlen(name), json_string_c("format"));
        }
    } else if (!touches || word || !top(c)->ends_term) {
        complete_word(c, word ? last.start : c->cursor);
    }
}

/* ---- result ---- */

static int by_worth(const void *x, const void *y) {
    const Candidate *a = x, *b = y;
    if (a->rank != b->rank) return a->rank - b->rank;
    if (a->group != b->group) return a->group - b->group;
    int order = json_string_compare(a->text, b->text);
    return order ? order : json_string_compare(a->detail, b->detail);
}

Json jq_complete(const char *text, size_t len, size_t cursor, const JqOptions *options,
                 Json input) {
    enum { TEXT_MAX = 1 << 16 };
    cursor = cursor < len ? cursor : len;
    if (cursor > TEXT_MAX) return json_array();
    Completion c = {.text = text, .cursor = (uint32_t)cursor, .options = options, .input = input};
    read_tokens(&c);
    if (c.in_string) {
        complete_in_string(&c);
    } else if (!c.in_comment) {
        complete(&c);
    }
    Json list = json_array();
    if (c.nfound) qsort(c.found, c.nfound, sizeof *c.found, by_worth);
    for (size_t i = 0; i < c.nfound; i++) {
        Candidate *item = &c.found[i];
        if (i < COMPLETIONS_MAX) {
            list = json_array_push(list, OBJECT(KEY("text", json_take(&item->text)),
                                                KEY("kind", item->kind),
                                                KEY("from", json_int(item->from)),
                                                KEY("detail", json_take(&item->detail))));
        }
        json_unref(item->text);
        json_unref(item->detail);
    }
    mem_free(c.tokens);
    mem_free(c.levels);
    mem_free(c.names);
    mem_free(c.found);
    buf_clear(&c.context);
    return list;
}
