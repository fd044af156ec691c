/* lexer.h - text to tokens. Internal to jq/. Token numbers are the grammar's (grammar.tab.h).
 *
 * A string comes as QQ_START, then QQ_TEXT pieces and INTERPOLATE_START ... INTERPOLATE_END groups
 * in any order, then QQ_END; the lexer keeps its own stack of open strings, so nesting costs memory
 * and not C stack. Names, fields, variables, formats, numbers and text come with a Node that holds
 * them.
 */
#ifndef PAWL_JQ_LEXER_H
#define PAWL_JQ_LEXER_H

#include "ast.h"

typedef struct Lexer {
    Syntax *syntax;
    const char *text;
    uint32_t at, len;
    uint32_t parens;   /* open parentheses, brackets not counted */
    uint32_t *strings; /* for each interpolation we are inside: parens when it began */
    size_t nstrings, strings_cap;
    bool in_string; /* between QQ_START and QQ_END, outside of interpolations */
} Lexer;

void lexer_init(Lexer *lx, Syntax *s);
void lexer_clear(Lexer *lx);

/* The next token, 0 at the end; *start and *end say where it stands, *node is what it holds or
 * NULL. */
int lexer_next(Lexer *lx, Node **node, uint32_t *start, uint32_t *end);

/* The i-th keyword of the language, NULL past the last; for completions. */
const char *lexer_keyword(size_t i);

#endif
