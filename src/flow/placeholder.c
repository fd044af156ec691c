#include "placeholder.h"

#include "loader.h"

#include <string.h>

static bool starts_with(const char *text, size_t len, size_t at, const char *word) {
    size_t n = strlen(word);
    return len - at >= n && memcmp(text + at, word, n) == 0;
}

bool has_placeholder(const char *text, size_t len) {
    const char *end = text + len, *p = len ? memchr(text, '$', len) : NULL;
    while (p && (p + 1 == end || p[1] != '{')) {
        p = p + 1 < end ? memchr(p + 1, '$', (size_t)(end - p - 1)) : NULL;
    }
    return p != NULL;
}

/* ---- queries ----
 *
 * A query ends at the first }} outside of its own braces and strings. A string may hold expressions,
 * which may hold strings again: `parens` has the open parentheses of each. */

typedef struct QueryScan {
    const char *text;
    size_t len, at;
    int braces;
    int parens[FLOW_DEPTH_MAX];
    int depth; /* 0: in the query itself */
} QueryScan;

static bool skip_string(QueryScan *s) {
    bool opens;
    s->at = skip_jq_string(s->text, s->len, s->at, &opens);
    if (!opens) {
        return true;
    }
    if (s->depth + 1 >= FLOW_DEPTH_MAX) {
        return false;
    }
    s->parens[++s->depth] = 0;
    return true;
}

/* False when it cannot be a query. */
static bool step(QueryScan *s) {
    char c = s->text[s->at++];
    if (c == '"') {
        return skip_string(s);
    }
    if (s->depth == 0) {
        s->braces += (c == '{') - (c == '}');
        return s->braces >= 0;
    }
    if (c == ')' && s->parens[s->depth] == 0) {
        s->depth--;
        return skip_string(s);
    }
    s->parens[s->depth] += (c == '(') - (c == ')');
    return true;
}

static bool find_query_end(const char *text, size_t len, size_t at, size_t *end) {
    QueryScan s = {.text = text, .len = len, .at = at};
    while (s.at < len) {
        if (s.depth == 0 && s.braces == 0 && starts_with(text, len, s.at, "}}")) {
            *end = s.at;
            return true;
        }
        if (!step(&s)) {
            return false;
        }
    }
    return false;
}

/* ---- pieces ---- */

static bool is_blank(const char *text, size_t from, size_t to) {
    while (from < to && strchr(" \t\r\n", text[from])) {
        from++;
    }
    return from == to;
}

static void take_query(const char *text, size_t len, Piece *out) {
    size_t end;
    out->from = out->at + 3;
    if (find_query_end(text, len, out->from, &end) && !is_blank(text, out->from, end)) {
        out->kind = PIECE_QUERY;
        out->to = end;
        out->end = end + 2;
    } else {
        out->kind = PIECE_UNCLOSED;
        out->from = out->at;
        out->to = out->end = out->at + 3;
    }
}

/* Words of letters, digits, `_` and `-` with dots between them. */
static size_t name_end(const char *text, size_t len, size_t at) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    bool word = false;
    for (; at < len && text[at] && (strchr(allowed, text[at]) || (text[at] == '.' && word)); at++) {
        word = text[at] != '.';
    }
    return word ? at : 0;
}

static bool take_name(const char *text, size_t len, Piece *out) {
    size_t end = name_end(text, len, out->at + 2);
    if (!end || end == len || text[end] != '}') {
        return false;
    }
    out->kind = PIECE_NAME;
    out->from = out->at + 2;
    out->to = end;
    out->end = end + 1;
    return true;
}

/* Up to the next dollar sign. */
static void take_text(const char *text, size_t len, Piece *out) {
    const char *next =
        out->at + 1 < len ? memchr(text + out->at + 1, '$', len - out->at - 1) : NULL;
    out->kind = PIECE_TEXT;
    out->from = out->at;
    out->to = out->end = next ? (size_t)(next - text) : len;
}

bool next_piece(const char *text, size_t len, size_t *at, Piece *out) {
    if (*at >= len) {
        return false;
    }
    out->at = *at;
    if (starts_with(text, len, *at, "$${")) {
        *out = (Piece){PIECE_TEXT, *at, *at + 3, *at + 1, *at + 3};
    } else if (starts_with(text, len, *at, "${{")) {
        take_query(text, len, out);
    } else if (!starts_with(text, len, *at, "${") || !take_name(text, len, out)) {
        take_text(text, len, out);
    }
    *at = out->end;
    return true;
}
