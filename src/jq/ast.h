/* ast.h - the syntax tree of an expression. Internal to jq/.
 *
 * One struct serves every form; the comment beside each kind says which fields it uses. Nodes live
 * in the arena of their Syntax and are immutable once parsed. Text positions are byte offsets.
 */
#ifndef PAWL_JQ_AST_H
#define PAWL_JQ_AST_H

#include "arena.h"
#include "error.h"
#include "json.h"

typedef enum NodeKind {
    NODE_IDENTITY,    /* . */
    NODE_CONST,       /* value; flag: plain text inside a string */
    NODE_VAR,         /* $name */
    NODE_FORMAT,      /* @name */
    NODE_STRING,      /* a: parts (CONST or any expression), linked by next; name: format or NULL */
    NODE_INDEX,       /* a[b] */
    NODE_SLICE,       /* a[b:c], b or c may be NULL */
    NODE_EACH,        /* a[] */
    NODE_TRY,         /* try a catch b; b may be NULL; flag: only the last access of a may fail */
    NODE_PIPE,        /* a | b */
    NODE_COMMA,       /* a, b; value: array of the constants when both sides are constant */
    NODE_BINARY,      /* a op b, op an Opcode */
    NODE_NEGATE,      /* -a */
    NODE_AND,         /* a and b */
    NODE_OR,          /* a or b */
    NODE_ALTERNATIVE, /* a // b */
    NODE_ASSIGN,      /* a = b */
    NODE_UPDATE,      /* a |= b */
    NODE_UPDATE_WITH, /* a op= b, op an Opcode */
    NODE_UPDATE_ALT,  /* a //= b */
    NODE_IF,          /* if a then b else c; c may be NULL */
    NODE_REDUCE,      /* reduce a as d (b; c) */
    NODE_FOREACH,     /* foreach a as d (b; c; e); e may be NULL */
    NODE_DEF,         /* def name(a: PARAMs): b; c */
    NODE_CALL,        /* name(a: arguments, linked by next), n of them */
    NODE_LABEL,       /* label $name | a */
    NODE_BREAK,       /* break $name */
    NODE_BIND,        /* a as d | b */
    NODE_ARRAY,       /* [a]; a may be NULL */
    NODE_OBJECT,      /* {a}; a: ENTRYs, linked by next, or NULL */
    /* parts of the above */
    NODE_ENTRY,          /* a: key, b: value */
    NODE_PARAM,          /* name; flag: written as $name */
    NODE_PATTERNS,       /* a: patterns tried in turn, linked by next; what d is above */
    NODE_PATTERN_VAR,    /* $name */
    NODE_PATTERN_ARRAY,  /* [a]; patterns linked by next */
    NODE_PATTERN_OBJECT, /* {a}; PATTERN_ENTRYs linked by next */
    /* a: key; name: variable that takes the value too, or NULL; b: pattern or NULL */
    NODE_PATTERN_ENTRY,
    NODE_KIND_COUNT,
} NodeKind;

typedef struct Node {
    uint8_t kind;
    uint8_t op;
    bool flag;
    uint16_t n;
    uint32_t pos, end; /* where it stands in the text */
    struct Node *a, *b, *c, *d, *e;
    struct Node *next, *prev, *last; /* in a list: its neighbours; in the head: the last one */
    const char *name;
    uint32_t name_len;
    Json value;
    struct Node *valued; /* the next node with a value, so that all can be released */
} Node;

/* What parsing gives; also what keeps the constants alive. */
typedef struct Syntax {
    Arena *arena;
    const char *text; /* borrowed while parsing; messages quote it */
    size_t len;
    const char *file; /* for $__loc__ */
    int line;         /* of the text's first line in that file */
    Node *root;
    Node *valued;
    bool failed;
    uint32_t error_pos;
    Error error;
} Syntax;

void syntax_init(Syntax *s, const char *text, size_t len);
void syntax_clear(Syntax *s);

/* Fills root; false with *err set, its line and column counted from 1 in the text. */
bool syntax_parse(Syntax *s, Error *err);

/* Line and column (in characters, from 1) of a byte offset. */
void syntax_locate(const char *text, size_t len, size_t pos, int *line, int *col);

/* ---- for the parser ---- */

Node *node_new(Syntax *s, NodeKind kind, uint32_t pos, uint32_t end);
Node *node_const(Syntax *s, Json value, uint32_t pos, uint32_t end); /* consumes value */
void syntax_fail(Syntax *s, uint32_t pos, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
