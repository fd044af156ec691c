#include "lexer.h"

#include "ascii.h"
#include "grammar.tab.h"
#include "mem.h"
#include "utf8.h"

#include <string.h>

typedef struct Word {
    const char *text;
    int token;
} Word;

static const Word keywords[] = {
    {"and", AND},       {"as", AS},           {"break", BREAK}, {"catch", CATCH},     {"def", DEF},
    {"elif", ELIF},     {"else", ELSE},       {"end", END},     {"foreach", FOREACH}, {"if", IF},
    {"import", IMPORT}, {"include", INCLUDE}, {"label", LABEL}, {"module", MODULE},   {"or", OR},
    {"reduce", REDUCE}, {"then", THEN},       {"try", TRY},
};

/* Longest first, so that the first that fits is the right one. */
static const Word operators[] = {
    {"?//", ALT_PATTERN}, {"//=", SET_ALT}, {"|=", SET_PIPE}, {"+=", SET_ADD}, {"-=", SET_SUB},
    {"*=", SET_MUL},      {"/=", SET_DIV},  {"%=", SET_MOD},  {"==", EQ},      {"!=", NE},
    {"<=", LE},           {">=", GE},       {"//", DEFAULT},  {"..", RECURSE},
};

const char *lexer_keyword(size_t i) {
    return i < sizeof keywords / sizeof *keywords ? keywords[i].text : NULL;
}

void lexer_init(Lexer *lx, Syntax *s) {
    *lx = (Lexer){.syntax = s, .text = s->text, .len = (uint32_t)s->len};
}

void lexer_clear(Lexer *lx) {
    mem_free(lx->strings);
}

static bool is_name_start(char c) {
    return ascii_is_letter(c) || c == '_';
}

static char peek(const Lexer *lx, uint32_t ahead) {
    return lx->at + ahead < lx->len ? lx->text[lx->at + ahead] : '\0';
}

static void skip_blank(Lexer *lx) {
    while (lx->at < lx->len) {
        char c = lx->text[lx->at];
        if (c == '#') {
            /* A comment ends with its line, unless an odd number of backslashes stands before the line's
             * end. */
            while (lx->at < lx->len && lx->text[lx->at] != '\n') {
                if (lx->text[lx->at] == '\\' && lx->at + 1 < lx->len) {
                    lx->at++;
                    if (peek(lx, 0) == '\r' && peek(lx, 1) == '\n') lx->at++;
                }
                lx->at++;
            }
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            lx->at++;
        } else {
            return;
        }
    }
}

/* A node that only carries a name to the grammar. */
static Node *name_node(Lexer *lx, uint32_t from, uint32_t to) {
    Node *n = node_new(lx->syntax, NODE_PARAM, from, to);
    n->name = arena_strndup(lx->syntax->arena, lx->text + from, to - from);
    n->name_len = to - from;
    return n;
}

/* One past a name that may be qualified (a::b) and starts at from. */
static uint32_t name_end(const Lexer *lx, uint32_t from) {
    uint32_t i = from;
    while (i < lx->len && ascii_is_name(lx->text[i])) i++;
    while (i + 2 < lx->len && lx->text[i] == ':' && lx->text[i + 1] == ':' &&
           is_name_start(lx->text[i + 2])) {
        i += 2;
        while (i < lx->len && ascii_is_name(lx->text[i])) i++;
    }
    return i;
}

/* .name, $name and @name: one mark, then a name. */
static int lex_marked(Lexer *lx, Node **node, int token) {
    uint32_t from = lx->at + 1, to = from;
    if (token == VARIABLE) {
        to = name_end(lx, from);
    } else {
        while (to < lx->len && ascii_is_name(lx->text[to])) to++;
    }
    lx->at = to;
    *node = name_node(lx, from, to);
    return token;
}

static int lex_number(Lexer *lx, Node **node) {
    uint32_t from = lx->at, i = from;
    while (i < lx->len && (ascii_is_digit(lx->text[i]) || lx->text[i] == '.')) i++;
    if (i < lx->len && (lx->text[i] == 'e' || lx->text[i] == 'E')) {
        uint32_t j = i + 1;
        if (j < lx->len && (lx->text[j] == '+' || lx->text[j] == '-')) j++;
        if (j < lx->len && ascii_is_digit(lx->text[j])) {
            while (j < lx->len && ascii_is_digit(lx->text[j])) j++;
            i = j;
        }
    }
    lx->at = i;
    Json value = json_number_parse(lx->text + from, i - from);
    if (json_is_none(value)) {
        syntax_fail(lx->syntax, from, "'%.*s' is not a number.",
                    (int)(i - from > 40 ? 40 : i - from), lx->text + from);
        return INVALID;
    }
    *node = node_const(lx->syntax, value, from, i);
    return LITERAL;
}

/* ---- strings ---- */

static int hex4(const Lexer *lx, uint32_t at) {
    int value = 0;
    for (uint32_t i = at; i < at + 4; i++) {
        char c = i < lx->len ? lx->text[i] : '\0';
        int digit = ascii_hex(c);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* \uXXXX at lx->at (on the backslash), a surrogate pair taken together. */
static bool lex_unicode_escape(Lexer *lx, Buf *out) {
    int cp = hex4(lx, lx->at + 2);
    if (cp < 0) return false;
    lx->at += 6;
    if (cp >= 0xD800 && cp < 0xDC00 && peek(lx, 0) == '\\' && peek(lx, 1) == 'u') {
        int low = hex4(lx, lx->at + 2);
        if (low >= 0xDC00 && low < 0xE000) {
            cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
            lx->at += 6;
        }
    }
    char utf8[4];
    buf_add(out, utf8, utf8_encode(cp, utf8));
    return true;
}

static bool lex_escape(Lexer *lx, Buf *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = peek(lx, 1);
    const char *hit = c ? strchr(from, c) : NULL;
    if (hit) {
        buf_addc(out, to[hit - from]);
        lx->at += 2;
        return true;
    }
    if (c == 'u' && lex_unicode_escape(lx, out)) return true;
    syntax_fail(lx->syntax, lx->at, "Invalid escape in a string; write \\\\ for a backslash.");
    return false;
}

static int lex_in_string(Lexer *lx, Node **node) {
    if (lx->at >= lx->len) {
        syntax_fail(lx->syntax, lx->at, "A string is not closed; a '\"' is missing.");
        return INVALID;
    }
    if (lx->text[lx->at] == '"') {
        lx->at++;
        lx->in_string = false;
        return QQ_END;
    }
    if (lx->text[lx->at] == '\\' && peek(lx, 1) == '(') {
        lx->strings = mem_grow(lx->strings, lx->nstrings, &lx->strings_cap, sizeof *lx->strings);
        lx->strings[lx->nstrings++] = lx->parens;
        lx->at += 2;
        lx->in_string = false;
        return INTERPOLATE_START;
    }
    /* Text up to the closing quote or the next interpolation. */
    uint32_t from = lx->at;
    Buf text = BUF_INIT, good = BUF_INIT;
    bool ok = true;
    while (ok && lx->at < lx->len && lx->text[lx->at] != '"') {
        if (lx->text[lx->at] != '\\') {
            buf_addc(&text, lx->text[lx->at++]);
        } else if (peek(lx, 1) == '(') {
            break;
        } else {
            ok = lex_escape(lx, &text);
        }
    }
    utf8_repair(&good, text.data ? text.data : "", text.len);
    *node = node_const(lx->syntax, json_string_buf(&good), from, lx->at);
    (*node)->flag = true;
    buf_clear(&text);
    buf_clear(&good);
    return ok ? QQ_TEXT : INVALID;
}

/* ---- punctuation ---- */

static int lex_punctuation(Lexer *lx) {
    const char *at = lx->text + lx->at;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t len = operators[i].text[0] == *at ? strlen(operators[i].text) : 0;
        if (len && lx->len - lx->at >= len && !memcmp(at, operators[i].text, len)) {
            lx->at += (uint32_t)len;
            return operators[i].token;
        }
    }
    char c = *at;
    if (c == ')' && lx->nstrings > 0 && lx->strings[lx->nstrings - 1] == lx->parens) {
        lx->at++;
        lx->nstrings--;
        lx->in_string = true;
        return INTERPOLATE_END;
    }
    if (c && strchr(".[]{}()|,:;=<>+-*/%?$", c)) {
        lx->parens += c == '(';
        lx->parens -= c == ')' && lx->parens > 0;
        lx->at++;
        return c;
    }
    int32_t cp;
    uint32_t n = (uint32_t)utf8_decode(at, lx->text + lx->len, &cp);
    if (cp < 0x20 || cp == 0x7F) {
        syntax_fail(lx->syntax, lx->at, "A byte that means nothing here: 0x%02x.",
                    (unsigned char)c);
    } else {
        syntax_fail(lx->syntax, lx->at, "A character that means nothing here: '%.*s'.", (int)n, at);
    }
    lx->at += n;
    return INVALID;
}

static int lex_token(Lexer *lx, Node **node) {
    char c = lx->text[lx->at], next = peek(lx, 1);
    if (c == '"') {
        lx->at++;
        lx->in_string = true;
        return QQ_START;
    }
    if (is_name_start(c)) {
        uint32_t from = lx->at, to = name_end(lx, from);
        lx->at = to;
        *node = name_node(lx, from, to);
        for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
            const char *word = keywords[i].text;
            if (word[0] == lx->text[from] && strlen(word) == to - from &&
                !memcmp(word, lx->text + from, to - from)) {
                return keywords[i].token;
            }
        }
        return NAME;
    }
    if (ascii_is_digit(c) || (c == '.' && ascii_is_digit(next))) return lex_number(lx, node);
    if (c == '.' && is_name_start(next)) return lex_marked(lx, node, FIELD);
    if (c == '$' && is_name_start(next)) return lex_marked(lx, node, VARIABLE);
    if (c == '@' && ascii_is_name(next)) return lex_marked(lx, node, FORMAT);
    return lex_punctuation(lx);
}

int lexer_next(Lexer *lx, Node **node, uint32_t *start, uint32_t *end) {
    *node = NULL;
    if (!lx->in_string) skip_blank(lx);
    *start = lx->at;
    int token = lx->in_string      ? lex_in_string(lx, node)
                : lx->at < lx->len ? lex_token(lx, node)
                                   : 0;
    *end = lx->at;
    return token;
}
