#include "parse_actions.h"

#include "json_build.h"
#include "json_print.h"

#include <string.h>

Node *list_add(Node *list, Node *item) {
    if (!list) {
        item->last = item;
        return item;
    }
    Node *last = list->last ? list->last : list;
    last->next = item;
    item->prev = last;
    list->last = item;
    return list;
}

Node *make2(Syntax *s, NodeKind kind, uint32_t pos, uint32_t end, Node *a, Node *b) {
    Node *n = node_new(s, kind, pos, end);
    n->a = a;
    n->b = b;
    return n;
}

Node *make1(Syntax *s, NodeKind kind, uint32_t pos, uint32_t end, Node *a) {
    return make2(s, kind, pos, end, a, NULL);
}

Node *make_op(Syntax *s, NodeKind kind, int op, uint32_t pos, uint32_t end, Node *a, Node *b) {
    Node *n = make2(s, kind, pos, end, a, b);
    n->op = (uint8_t)op;
    return n;
}

Node *make_optional(Syntax *s, uint32_t pos, uint32_t end, Node *term, uint32_t term_end) {
    Node *n = make1(s, NODE_TRY, pos, end, term);
    bool access = term->kind == NODE_INDEX || term->kind == NODE_SLICE || term->kind == NODE_EACH;
    n->flag = access && term->end == term_end;
    return n;
}

static void copy_name(Node *to, const Node *from) {
    to->name = from->name;
    to->name_len = from->name_len;
}

Node *make_named(Syntax *s, NodeKind kind, uint32_t pos, uint32_t end, const Node *name, Node *a) {
    Node *n = make1(s, kind, pos, end, a);
    copy_name(n, name);
    return n;
}

static bool named(const Node *n, const char *word) {
    return n->name_len == strlen(word) && !memcmp(n->name, word, n->name_len);
}

Node *make_variable(Syntax *s, uint32_t pos, uint32_t end, const Node *name) {
    if (!named(name, "__loc__")) return make_named(s, NODE_VAR, pos, end, name, NULL);
    int line, col;
    syntax_locate(s->text, s->len, pos, &line, &col);
    Json place = OBJECT(KEY("file", s->file), KEY("line", json_int(s->line + line - 1)));
    return node_const(s, place, pos, end);
}

Node *make_def(Syntax *s, uint32_t pos, uint32_t end, const Node *name, Node *params, Node *body) {
    Node *n = make_named(s, NODE_DEF, pos, end, name, params);
    n->b = body;
    for (Node *p = params; p; p = p->next) n->n++;
    return n;
}

static Node *make_patterns(Syntax *s, Node *patterns) {
    return make1(s, NODE_PATTERNS, patterns->pos, patterns->end, patterns);
}

Node *make_bind(Syntax *s, uint32_t pos, uint32_t end, Node *source, Node *patterns, Node *body) {
    Node *n = make2(s, NODE_BIND, pos, end, source, body);
    n->d = make_patterns(s, patterns);
    return n;
}

/* The constants that a node stands for, moved out as an array; JSON_NONE when it is not
 * constant. */
static Json take_constants(Node *n) {
    if (n->kind == NODE_COMMA) return json_take(&n->value);
    return n->kind == NODE_CONST ? json_array_push(json_array(), json_ref(n->value)) : json_none();
}

static bool is_constant(const Node *n) {
    return n->kind == NODE_CONST || (n->kind == NODE_COMMA && !json_is_none(n->value));
}

Node *make_comma(Syntax *s, uint32_t pos, uint32_t end, Node *a, Node *b) {
    Node *n = node_const(s, json_none(), pos, end);
    n->kind = NODE_COMMA;
    n->a = a;
    n->b = b;
    if (is_constant(a) && b->kind == NODE_CONST) {
        n->value = json_array_push(take_constants(a), json_ref(b->value));
    }
    return n;
}

Node *make_negate(Syntax *s, uint32_t pos, uint32_t end, Node *a) {
    if (a->kind == NODE_CONST && json_kind(a->value) == JSON_NUMBER) {
        return node_const(s, json_number_negate(a->value), pos, end);
    }
    return make1(s, NODE_NEGATE, pos, end, a);
}

Node *name_const(Syntax *s, const Node *name) {
    return node_const(s, json_string(name->name, name->name_len), name->pos, name->end);
}

Node *make_index(Syntax *s, uint32_t pos, uint32_t end, Node *target, Node *key) {
    return make2(s, NODE_INDEX, pos, end,
                 target ? target : node_new(s, NODE_IDENTITY, pos, pos + 1), key);
}

Node *make_field(Syntax *s, uint32_t pos, uint32_t end, Node *target, const Node *name) {
    return make_index(s, pos, end, target, name_const(s, name));
}

Node *make_slice(Syntax *s, uint32_t pos, uint32_t end, Node *from, Node *to) {
    Node *n = make2(s, NODE_SLICE, pos, end, NULL, from);
    n->c = to;
    return n;
}

Node *set_target(Node *target, Node *access) {
    access->a = target;
    return access;
}

Node *make_array(Syntax *s, uint32_t pos, uint32_t end, Node *body) {
    if (is_constant(body)) return node_const(s, take_constants(body), pos, end);
    return make1(s, NODE_ARRAY, pos, end, body);
}

/* Without a value, {key} means {key: .[key]}; when the key is computed the compiler does it. */
Node *make_entry(Syntax *s, uint32_t pos, uint32_t end, Node *key, Node *value) {
    if (!value && key->kind == NODE_CONST) value = make_index(s, pos, end, NULL, key);
    if (key->kind == NODE_CONST && json_kind(key->value) != JSON_STRING) {
        char what[JSON_DESCRIBE_MAX];
        syntax_fail(s, key->pos, "Cannot use %s as object key.", json_describe(key->value, what));
    }
    return make2(s, NODE_ENTRY, pos, end, key, value);
}

Node *make_variable_entry(Syntax *s, uint32_t pos, uint32_t end, const Node *name) {
    return make_entry(s, pos, end, name_const(s, name), make_variable(s, pos, end, name));
}

Node *make_object(Syntax *s, uint32_t pos, uint32_t end, Node *entries) {
    bool constant = !s->failed;
    for (const Node *e = entries; constant && e; e = e->next) {
        constant = e->a->kind == NODE_CONST && e->b && e->b->kind == NODE_CONST;
    }
    if (!constant) return make1(s, NODE_OBJECT, pos, end, entries);
    Json o = json_object();
    for (const Node *e = entries; e; e = e->next) {
        o = json_object_set(o, json_ref(e->a->value), json_ref(e->b->value));
    }
    return node_const(s, o, pos, end);
}

Node *make_string(Syntax *s, uint32_t pos, uint32_t end, const Node *format, Node *parts) {
    if (!parts) return node_const(s, json_string_c(""), pos, end);
    if (!parts->next && parts->kind == NODE_CONST && parts->flag) {
        parts->flag = false;
        return parts;
    }
    Node *n = make1(s, NODE_STRING, pos, end, parts);
    if (format) copy_name(n, format);
    return n;
}

Node *make_if(Syntax *s, uint32_t pos, uint32_t end, Node *cond, Node *then, Node *otherwise) {
    Node *n = make2(s, NODE_IF, pos, end, cond, then);
    n->c = otherwise;
    return n;
}

Node *make_call(Syntax *s, uint32_t pos, uint32_t end, const Node *name, Node *args) {
    if (!args && (named(name, "null") || named(name, "true") || named(name, "false"))) {
        return node_const(s, named(name, "null") ? json_null() : json_bool(named(name, "true")),
                          pos, end);
    }
    Node *n = make_named(s, NODE_CALL, pos, end, name, args);
    for (Node *arg = args; arg; arg = arg->next) n->n++;
    return n;
}

Node *make_recurse(Syntax *s, uint32_t pos, uint32_t end) {
    static const char name[] = "recurse";
    Node *n = node_new(s, NODE_CALL, pos, end);
    n->name = name;
    n->name_len = sizeof name - 1;
    return n;
}

Node *make_loop(Syntax *s, NodeKind kind, uint32_t pos, uint32_t end, Node *source, Node *patterns,
                Node *init, Node *update, Node *extract) {
    Node *n = make2(s, kind, pos, end, source, init);
    n->c = update;
    n->d = make_patterns(s, patterns);
    n->e = extract;
    return n;
}

Node *make_pattern_entry(Syntax *s, uint32_t pos, uint32_t end, Node *key, const Node *variable,
                         Node *pattern) {
    Node *n = make_entry(s, pos, end, key, pattern);
    n->kind = NODE_PATTERN_ENTRY;
    n->b = pattern;
    if (variable) copy_name(n, variable);
    return n;
}

void refuse_modules(Syntax *s, uint32_t pos) {
    syntax_fail(s, pos,
                "Modules (import, include) are not part of this language; define the function "
                "in the expression itself.");
}
