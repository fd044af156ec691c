#include "ast.h"

#include "utf8.h"

#include <stdarg.h>

void syntax_init(Syntax *s, const char *text, size_t len) {
    *s = (Syntax){.arena = arena_new(), .text = text, .len = len, .file = "<top-level>", .line = 1};
}

void syntax_clear(Syntax *s) {
    for (Node *n = s->valued; n; n = n->valued) json_clear(&n->value);
    arena_free(s->arena);
    *s = (Syntax){0};
}

void syntax_locate(const char *text, size_t len, size_t pos, int *line, int *col) {
    size_t start = 0;
    *line = 1;
    for (size_t i = 0; i < pos && i < len; i++) {
        if (text[i] == '\n') {
            (*line)++;
            start = i + 1;
        }
    }
    *col = (int)utf8_length(text + start, (pos < len ? pos : len) - start) + 1;
}

Node *node_new(Syntax *s, NodeKind kind, uint32_t pos, uint32_t end) {
    Node *n = arena_alloc(s->arena, sizeof *n);
    n->kind = (uint8_t)kind;
    n->pos = pos;
    n->end = end;
    return n;
}

Node *node_const(Syntax *s, Json value, uint32_t pos, uint32_t end) {
    Node *n = node_new(s, NODE_CONST, pos, end);
    n->value = value;
    n->valued = s->valued;
    s->valued = n;
    return n;
}

void syntax_fail(Syntax *s, uint32_t pos, const char *fmt, ...) {
    if (s->failed) {
        return; /* the first error is the one to report */
    }
    s->failed = true;
    s->error_pos = pos;
    va_list args;
    va_start(args, fmt);
    error_vset_at(&s->error, ERR_SYNTAX, 0, 0, fmt, args);
    va_end(args);
}
