/* parse_actions.h - what the grammar's rules build. Internal to jq/, used by grammar.y alone.
 *
 * Each takes the span it stands at. Constants are folded here, bottom up: arrays and objects of
 * constants, negated numbers, strings without interpolation.
 */
#ifndef PAWL_JQ_PARSE_ACTIONS_H
#define PAWL_JQ_PARSE_ACTIONS_H

#include "ast.h"

Node *list_add(Node *list, Node *item); /* list may be NULL */
Node *make1(Syntax *s, NodeKind kind, uint32_t pos, uint32_t end, Node *a);
Node *make2(Syntax *s, NodeKind kind, uint32_t pos, uint32_t end, Node *a, Node *b);
/* term?, where term_end is past the parentheses that the term may stand in. */
Node *make_optional(Syntax *s, uint32_t pos, uint32_t end, Node *term, uint32_t term_end);
Node *make_op(Syntax *s, NodeKind kind, int op, uint32_t pos, uint32_t end, Node *a, Node *b);
Node *make_named(Syntax *s, NodeKind kind, uint32_t pos, uint32_t end, const Node *name, Node *a);
Node *make_variable(Syntax *s, uint32_t pos, uint32_t end, const Node *name);
Node *make_def(Syntax *s, uint32_t pos, uint32_t end, const Node *name, Node *params, Node *body);
Node *make_bind(Syntax *s, uint32_t pos, uint32_t end, Node *source, Node *patterns, Node *body);
Node *make_comma(Syntax *s, uint32_t pos, uint32_t end, Node *a, Node *b);
Node *make_negate(Syntax *s, uint32_t pos, uint32_t end, Node *a);
Node *make_field(Syntax *s, uint32_t pos, uint32_t end, Node *target, const Node *name);
Node *make_index(Syntax *s, uint32_t pos, uint32_t end, Node *target, Node *key);
Node *make_slice(Syntax *s, uint32_t pos, uint32_t end, Node *from, Node *to);
Node *set_target(Node *target, Node *access);
Node *make_array(Syntax *s, uint32_t pos, uint32_t end, Node *body);
Node *make_object(Syntax *s, uint32_t pos, uint32_t end, Node *entries);
Node *make_entry(Syntax *s, uint32_t pos, uint32_t end, Node *key, Node *value);
Node *make_variable_entry(Syntax *s, uint32_t pos, uint32_t end, const Node *name);
Node *make_string(Syntax *s, uint32_t pos, uint32_t end, const Node *format, Node *parts);
Node *make_if(Syntax *s, uint32_t pos, uint32_t end, Node *cond, Node *then, Node *otherwise);
Node *make_recurse(Syntax *s, uint32_t pos, uint32_t end); /* .. is recurse */
Node *make_call(Syntax *s, uint32_t pos, uint32_t end, const Node *name, Node *args);
Node *make_loop(Syntax *s, NodeKind kind, uint32_t pos, uint32_t end, Node *source, Node *patterns,
                Node *init, Node *update, Node *extract);
Node *make_pattern_entry(Syntax *s, uint32_t pos, uint32_t end, Node *key, const Node *variable,
                         Node *pattern);
Node *name_const(Syntax *s, const Node *name); /* the name as a string */
void refuse_modules(Syntax *s, uint32_t pos);

#endif
