/* grammar.y - the grammar of the language. The parser is table-driven and keeps its own stack, so
 * nesting costs memory up to a limit (YYMAXDEPTH) and never C stack. */

%define api.pure full
%define api.value.type {Node *}
%define api.location.type {Span}
%define parse.error custom
%locations
%param {Parser *ps}
%expect 0

%code requires {
#include "ast.h"

typedef struct Span {
    uint32_t start, end;
} Span;

typedef struct Parser Parser;
}

%code {
#include "lexer.h"
#include "opcodes.h"
#include "parse_actions.h"

#define YYMAXDEPTH 10000
#define YYLLOC_DEFAULT(now, rhs, n)                                                                 \
    ((now).start = (n) ? YYRHSLOC(rhs, 1).start : YYRHSLOC(rhs, 0).end,                             \
     (now).end = (n) ? YYRHSLOC(rhs, n).end : YYRHSLOC(rhs, 0).end)

struct Parser {
    Syntax *syntax;
    Lexer lexer;
};

static int yylex(Node **value, Span *span, Parser *ps) {
    int token = lexer_next(&ps->lexer, value, &span->start, &span->end);
    return token ? token : YYEOF;
}

static void yyerror(Span *span, Parser *ps, const char *what);

#define S ps->syntax
#define AT(loc) (loc).start, (loc).end
}

%token YYEOF 0 "end of the expression"
%token AND "'and'" AS "'as'" BREAK "'break'" CATCH "'catch'" DEF "'def'" ELIF "'elif'"
%token ELSE "'else'" END "'end'" FOREACH "'foreach'" IF "'if'" IMPORT "'import'"
%token INCLUDE "'include'" LABEL "'label'" MODULE "'module'" OR "'or'"
%token REDUCE "'reduce'" THEN "'then'" TRY "'try'"
%token ALT_PATTERN "'?//'" SET_ALT "'//='" SET_PIPE "'|='" SET_ADD "'+='" SET_SUB "'-='"
%token SET_MUL "'*='" SET_DIV "'/='" SET_MOD "'%='" EQ "'=='" NE "'!='" LE "'<='" GE "'>='"
%token DEFAULT "'//'" RECURSE "'..'"
%token NAME "name" FIELD "field" VARIABLE "variable" FORMAT "format" LITERAL "number"
%token QQ_START "string" QQ_TEXT "text" QQ_END "end of the string"
%token INTERPOLATE_START "'\\('" INTERPOLATE_END "')'"
%token INVALID "character"

%precedence LOWEST
%right '|'
%left ','
%right DEFAULT ALT_PATTERN
%nonassoc '=' SET_PIPE SET_ADD SET_SUB SET_MUL SET_DIV SET_MOD SET_ALT
%left OR
%left AND
%nonassoc EQ NE '<' '>' LE GE
%left '+' '-'
%left '*' '/' '%'
%precedence TRY_BODY
%precedence CATCH

%%

top: query { S->root = $1; }
   | %empty { S->root = node_new(S, NODE_IDENTITY, 0, 0); }
   | only_defs { S->root = $1; }
   | refused error { YYABORT; }

refused: MODULE { refuse_modules(S, @1.start); }
       | IMPORT { refuse_modules(S, @1.start); }
       | INCLUDE { refuse_modules(S, @1.start); }

/* definitions alone stand for the identity */
only_defs: def { $$ = $1; $1->c = node_new(S, NODE_IDENTITY, AT(@1)); }
         | def only_defs { $$ = $1; $1->c = $2; }

def: DEF name ':' query ';' { $$ = make_def(S, AT(@$), $2, NULL, $4); }
   | DEF name '(' params ')' ':' query ';' { $$ = make_def(S, AT(@$), $2, $4, $7); }

params: param { $$ = $1; }
      | params ';' param { $$ = list_add($1, $3); }

param: VARIABLE { $$ = $1; $$->flag = true; }
     | keyword_or_name { $$ = $1; }

query: def query %prec LOWEST { $$ = $1; $1->c = $2; }
     | expr AS patterns '|' query %prec LOWEST { $$ = make_bind(S, AT(@$), $1, $3, $5); }
     | LABEL VARIABLE '|' query %prec LOWEST { $$ = make_named(S, NODE_LABEL, AT(@$), $2, $4); }
     | query '|' query { $$ = make2(S, NODE_PIPE, AT(@$), $1, $3); }
     | query ',' query { $$ = make_comma(S, AT(@$), $1, $3); }
     | expr %prec LOWEST { $$ = $1; }

expr: expr DEFAULT expr { $$ = make2(S, NODE_ALTERNATIVE, AT(@$), $1, $3); }
    | expr ALT_PATTERN expr
        { $$ = make2(S, NODE_ALTERNATIVE, AT(@$), make2(S, NODE_TRY, AT(@1), $1, NULL), $3); }
    | expr '=' expr { $$ = make2(S, NODE_ASSIGN, AT(@2), $1, $3); }
    | expr SET_PIPE expr { $$ = make2(S, NODE_UPDATE, AT(@2), $1, $3); }
    | expr SET_ALT expr { $$ = make2(S, NODE_UPDATE_ALT, AT(@2), $1, $3); }
    | expr SET_ADD expr { $$ = make_op(S, NODE_UPDATE_WITH, OP_ADD, AT(@2), $1, $3); }
    | expr SET_SUB expr { $$ = make_op(S, NODE_UPDATE_WITH, OP_SUBTRACT, AT(@2), $1, $3); }
    | expr SET_MUL expr { $$ = make_op(S, NODE_UPDATE_WITH, OP_MULTIPLY, AT(@2), $1, $3); }
    | expr SET_DIV expr { $$ = make_op(S, NODE_UPDATE_WITH, OP_DIVIDE, AT(@2), $1, $3); }
    | expr SET_MOD expr { $$ = make_op(S, NODE_UPDATE_WITH, OP_MODULO, AT(@2), $1, $3); }
    | expr OR expr { $$ = make2(S, NODE_OR, AT(@$), $1, $3); }
    | expr AND expr { $$ = make2(S, NODE_AND, AT(@$), $1, $3); }
    | expr EQ expr { $$ = make_op(S, NODE_BINARY, OP_EQ, AT(@2), $1, $3); }
    | expr NE expr { $$ = make_op(S, NODE_BINARY, OP_NE, AT(@2), $1, $3); }
    | expr '<' expr { $$ = make_op(S, NODE_BINARY, OP_LT, AT(@2), $1, $3); }
    | expr '>' expr { $$ = make_op(S, NODE_BINARY, OP_GT, AT(@2), $1, $3); }
    | expr LE expr { $$ = make_op(S, NODE_BINARY, OP_LE, AT(@2), $1, $3); }
    | expr GE expr { $$ = make_op(S, NODE_BINARY, OP_GE, AT(@2), $1, $3); }
    | expr '+' expr { $$ = make_op(S, NODE_BINARY, OP_ADD, AT(@2), $1, $3); }
    | expr '-' expr { $$ = make_op(S, NODE_BINARY, OP_SUBTRACT, AT(@2), $1, $3); }
    | expr '*' expr { $$ = make_op(S, NODE_BINARY, OP_MULTIPLY, AT(@2), $1, $3); }
    | expr '/' expr { $$ = make_op(S, NODE_BINARY, OP_DIVIDE, AT(@2), $1, $3); }
    | expr '%' expr { $$ = make_op(S, NODE_BINARY, OP_MODULO, AT(@2), $1, $3); }
    | unary { $$ = $1; }

unary: '-' unary { $$ = make_negate(S, AT(@$), $2); }
     | post { $$ = $1; }

post: TRY unary CATCH unary { $$ = make2(S, NODE_TRY, AT(@$), $2, $4); }
    | TRY unary %prec TRY_BODY { $$ = make2(S, NODE_TRY, AT(@$), $2, NULL); }
    | term %prec LOWEST { $$ = $1; }

term: '.' { $$ = node_new(S, NODE_IDENTITY, AT(@$)); }
    | RECURSE { $$ = make_recurse(S, AT(@$)); }
    | BREAK VARIABLE { $$ = make_named(S, NODE_BREAK, AT(@$), $2, NULL); }
    | LITERAL { $$ = $1; }
    | string { $$ = $1; }
    | FORMAT { $$ = make_named(S, NODE_FORMAT, AT(@$), $1, NULL); }
    | VARIABLE { $$ = make_variable(S, AT(@$), $1); }
    | FIELD { $$ = make_field(S, AT(@$), NULL, $1); }
    | '.' string { $$ = make_index(S, AT(@$), NULL, $2); }
    | term FIELD { $$ = make_field(S, AT(@2), $1, $2); }
    | term '.' string { $$ = make_index(S, AT(@3), $1, $3); }
    | term '.' bracket { $$ = set_target($1, $3); }
    | term bracket { $$ = set_target($1, $2); }
    | term '?' { $$ = make_optional(S, AT(@$), $1, @1.end); }
    | '(' query ')' { $$ = $2; }
    | '[' ']' { $$ = node_const(S, json_array(), AT(@$)); }
    | '[' query ']' { $$ = make_array(S, AT(@$), $2); }
    | '{' '}' { $$ = node_const(S, json_object(), AT(@$)); }
    | '{' entries '}' { $$ = make_object(S, AT(@$), $2); }
    | '{' entries ',' '}' { $$ = make_object(S, AT(@$), $2); }
    | REDUCE expr AS patterns '(' query ';' query ')'
        { $$ = make_loop(S, NODE_REDUCE, AT(@$), $2, $4, $6, $8, NULL); }
    | FOREACH expr AS patterns '(' query ';' query ')'
        { $$ = make_loop(S, NODE_FOREACH, AT(@$), $2, $4, $6, $8, NULL); }
    | FOREACH expr AS patterns '(' query ';' query ';' query ')'
        { $$ = make_loop(S, NODE_FOREACH, AT(@$), $2, $4, $6, $8, $10); }
    | IF query THEN query else { $$ = make_if(S, AT(@$), $2, $4, $5); }
    | NAME { $$ = make_call(S, AT(@$), $1, NULL); }
    | NAME '(' args ')' { $$ = make_call(S, AT(@$), $1, $3); }

else: ELIF query THEN query else { $$ = make_if(S, AT(@$), $2, $4, $5); }
    | ELSE query END { $$ = $2; }
    | END { $$ = NULL; }

args: query { $$ = $1; }
    | args ';' query { $$ = list_add($1, $3); }

/* what stands in brackets behind a term; its target is filled in by the caller */
bracket: '[' query ']' { $$ = make2(S, NODE_INDEX, AT(@$), NULL, $2); }
       | '[' ']' { $$ = make1(S, NODE_EACH, AT(@$), NULL); }
       | '[' query ':' query ']' { $$ = make_slice(S, AT(@$), $2, $4); }
       | '[' query ':' ']' { $$ = make_slice(S, AT(@$), $2, NULL); }
       | '[' ':' query ']' { $$ = make_slice(S, AT(@$), NULL, $3); }

string: QQ_START parts QQ_END { $$ = make_string(S, AT(@$), NULL, $2); }
      | FORMAT QQ_START parts QQ_END { $$ = make_string(S, AT(@$), $1, $3); }

parts: %empty { $$ = NULL; }
     | parts QQ_TEXT { $$ = list_add($1, $2); }
     | parts INTERPOLATE_START query INTERPOLATE_END { $$ = list_add($1, $3); }

entries: entry { $$ = $1; }
       | entries ',' entry { $$ = list_add($1, $3); }

entry: keyword_or_name ':' value { $$ = make_entry(S, AT(@$), name_const(S, $1), $3); }
     | keyword_or_name { $$ = make_entry(S, AT(@$), name_const(S, $1), NULL); }
     | VARIABLE ':' value { $$ = make_entry(S, AT(@$), make_variable(S, AT(@1), $1), $3); }
     | VARIABLE { $$ = make_variable_entry(S, AT(@$), $1); }
     | LITERAL ':' value { $$ = make_entry(S, AT(@$), $1, $3); }
     | string ':' value { $$ = make_entry(S, AT(@$), $1, $3); }
     | string { $$ = make_entry(S, AT(@$), $1, NULL); }
     | '(' query ')' ':' value { $$ = make_entry(S, AT(@$), $2, $5); }

/* an object's value: anything that needs no comma of its own */
value: value '|' value { $$ = make2(S, NODE_PIPE, AT(@$), $1, $3); }
     | expr %prec LOWEST { $$ = $1; }

patterns: pattern { $$ = $1; }
        | patterns ALT_PATTERN pattern { $$ = list_add($1, $3); }

pattern: VARIABLE { $$ = make_named(S, NODE_PATTERN_VAR, AT(@$), $1, NULL); }
       | '[' array_patterns ']' { $$ = make1(S, NODE_PATTERN_ARRAY, AT(@$), $2); }
       | '{' object_patterns '}' { $$ = make1(S, NODE_PATTERN_OBJECT, AT(@$), $2); }

array_patterns: pattern { $$ = $1; }
              | array_patterns ',' pattern { $$ = list_add($1, $3); }

object_patterns: object_pattern { $$ = $1; }
               | object_patterns ',' object_pattern { $$ = list_add($1, $3); }

object_pattern:
      VARIABLE { $$ = make_pattern_entry(S, AT(@$), name_const(S, $1), $1, NULL); }
    | VARIABLE ':' pattern { $$ = make_pattern_entry(S, AT(@$), name_const(S, $1), $1, $3); }
    | keyword_or_name ':' pattern { $$ = make_pattern_entry(S, AT(@$), name_const(S, $1), NULL, $3); }
    | string ':' pattern { $$ = make_pattern_entry(S, AT(@$), $1, NULL, $3); }
    | '(' query ')' ':' pattern { $$ = make_pattern_entry(S, AT(@$), $2, NULL, $5); }

name: keyword_or_name { $$ = $1; }

keyword_or_name: NAME | AND | AS | BREAK | CATCH | DEF | ELIF | ELSE | END | FOREACH | IF | IMPORT
               | INCLUDE | LABEL | MODULE | OR | REDUCE | THEN | TRY

%%

static void yyerror(Span *span, Parser *ps, const char *what) {
    (void)what; /* the only other cause is depth: the stack is full */
    syntax_fail(ps->syntax, span->start, "The expression is nested too deeply.");
}

static int yyreport_syntax_error(const yypcontext_t *ctx, Parser *ps) {
    enum { LISTED = 4 };
    yysymbol_kind_t expected[LISTED];
    int n = yypcontext_expected_tokens(ctx, expected, LISTED);
    Buf text = BUF_INIT;
    buf_printf(&text, "Unexpected %s", yysymbol_name(yypcontext_token(ctx)));
    for (int i = 0; i < n; i++) {
        const char *link = i == 0 ? "; expected " : i + 1 == n ? " or " : ", ";
        buf_printf(&text, "%s%s", link, yysymbol_name(expected[i]));
    }
    syntax_fail(ps->syntax, yypcontext_location(ctx)->start, "%s.", text.data);
    buf_clear(&text);
    return 0;
}

bool syntax_parse(Syntax *s, Error *err) {
    Parser ps = {.syntax = s};
    lexer_init(&ps.lexer, s);
    int failed = yyparse(&ps);
    lexer_clear(&ps.lexer);
    if (failed || s->failed) {
        int line, col;
        syntax_locate(s->text, s->len, s->error_pos, &line, &col);
        return error_set_at(err, ERR_SYNTAX, line, col, "%s", s->error.msg);
    }
    return true;
}
