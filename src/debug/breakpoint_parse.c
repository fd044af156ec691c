/* breakpoint_parse.c - breakpoints as people type them: "build:after if .retries > 3". */
#include "breakpoint.h"

#include "json_parse.h"
#include "utf8.h"

#include <limits.h>

/* ---- pieces of the text ---- */

/* A piece of the text. */
typedef struct Piece {
    const char *s, *end;
} Piece;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static Piece trimmed(const char *s, const char *end) {
    while (s < end && is_blank(*s)) {
        s++;
    }
    while (end > s && is_blank(end[-1])) {
        end--;
    }
    return (Piece){s, end};
}

static size_t piece_len(Piece p) {
    return (size_t)(p.end - p.s);
}

static Json piece_json(Piece p) {
    return json_string(p.s, piece_len(p));
}

/* Of a piece that goes into a sentence: as much as is good to read, and is text. */
static int shown_len(Piece p) {
    enum { SHOWN_MAX = 60 };
    return (int)utf8_valid_prefix(p.s, piece_len(p) < SHOWN_MAX ? piece_len(p) : SHOWN_MAX);
}

static bool piece_is(Piece p, const char *word) {
    return piece_len(p) == strlen(word) && memcmp(p.s, word, piece_len(p)) == 0;
}

static bool piece_begins(Piece p, const char *word) {
    size_t len = strlen(word);
    return piece_len(p) >= len && memcmp(p.s, word, len) == 0;
}

/* Past the string that begins at s. */
static const char *skip_string(const char *s, const char *end) {
    for (s++; s < end && *s != '"'; s++) {
        s += *s == '\\' && s + 1 < end;
    }
    return s < end ? s + 1 : end;
}

/* The word `if`, outside of strings; end when there is none. */
static const char *find_if(Piece all) {
    for (const char *s = all.s; s < all.end; s++) {
        bool starts = s == all.s || is_blank(s[-1]);
        bool ends = all.end - s == 2 || (all.end - s > 2 && is_blank(s[2]));
        if (starts && ends && s[0] == 'i' && s[1] == 'f') {
            return s;
        }
        if (*s == '"') {
            s = skip_string(s, all.end) - 1;
        }
    }
    return all.end;
}

/* ---- what they are ---- */

typedef struct Typed {
    Piece target, expr;
    bool has_expr;
} Typed;

static Json with_expr(Json out, const char *field, const Typed *t) {
    return t->has_expr ? json_object_with(out, field, piece_json(t->expr)) : out;
}

static Json of_type(BreakType type) {
    return json_object_with(json_object(), "type", json_string_c(break_type_names[type]));
}

static Json parse_error(const Typed *t, Error *err) {
    (void)err;
    return with_expr(of_type(BREAK_EXCEPTION), "error", t);
}

static Json parse_caught(const Typed *t, Error *err) {
    (void)err;
    return with_expr(json_object_with(of_type(BREAK_EXCEPTION), "caught", json_bool(true)), "error",
                     t);
}

static Json of_state(Json state, const Typed *t) {
    return with_expr(json_object_with(of_type(BREAK_STATE), "state", state), "condition", t);
}

static Json parse_changed(const Typed *t, Error *err) {
    Piece path = trimmed(t->target.s + strlen("changed:"), t->target.end);
    if (!piece_len(path)) {
        error_set(err, ERR_USAGE, "After `changed:` comes a path, such as changed:.retries.");
        return json_none();
    }
    Json state = json_object_with(json_object(), "path", piece_json(path));
    return of_state(json_object_with(state, "changed", json_bool(true)), t);
}

static const char *find_equals(Piece p) {
    const char *s = p.s;
    while (s < p.end && *s != '=') {
        s = *s == '"' ? skip_string(s, p.end) : s + 1;
    }
    return s;
}

static Json parse_state(const Typed *t, Error *err) {
    Error why = ERROR_INIT;
    Piece rest = trimmed(t->target.s + strlen("state:"), t->target.end);
    const char *at = find_equals(rest);
    const char *from = at + 1 < rest.end && at[1] == '=' ? at + 2 : at + 1;
    Piece path = trimmed(rest.s, at);
    if (at == rest.end || !piece_len(path)) {
        error_set(err, ERR_USAGE,
                  "After `state:` come a path and a value, such as state:.status=\"done\".");
        return json_none();
    }
    Json value = json_parse(from, (size_t)(rest.end - from), NULL, &why);
    if (json_is_none(value)) {
        error_set(err, ERR_SYNTAX, "The value after `=` must be JSON (a text needs its quotes): %s",
                  why.msg);
        return json_none();
    }
    Json state = json_object_with(json_object(), "path", piece_json(path));
    return of_state(json_object_with(state, "equals", value), t);
}

static const char *last_colon(Piece p) {
    const char *s = p.end;
    while (s > p.s && s[-1] != ':') {
        s--;
    }
    return s > p.s ? s - 1 : NULL;
}

/* Digits and nothing else. */
static bool read_line(Piece p, int64_t *out) {
    *out = 0;
    for (const char *s = p.s; s < p.end; s++) {
        if (*s < '0' || *s > '9' || *out > INT_MAX) {
            return false;
        }
        *out = *out * 10 + (*s - '0');
    }
    return p.end > p.s;
}

static Json parse_source(Piece file, int64_t line, const Typed *t) {
    Json out = json_object_with(of_type(BREAK_SOURCE), "file", piece_json(file));
    return with_expr(json_object_with(out, "line", json_int(line)), "condition", t);
}

static Json at_node(Piece name, const char *position, const Typed *t) {
    Json out = json_object_with(of_type(BREAK_NODE), "node", piece_json(name));
    if (position) {
        out = json_object_with(out, "position", json_string_c(position));
    }
    return with_expr(out, "condition", t);
}

static Json fail_suffix(Piece name, Piece suffix, Error *err) {
    error_set(err, ERR_USAGE,
              "After `%.*s:` comes before, after or error, or after a file's name (with a dot or a "
              "slash in it) a line; not `%.*s`.",
              shown_len(name), name.s, shown_len(suffix), suffix.s);
    return json_none();
}

static Json parse_place(const Typed *t, Error *err) {
    static const struct {
        const char *word, *position;
    } suffixes[] = {
        {"before", "before"}, {"after", "after"}, {"error", "on_error"}, {"on_error", "on_error"}};
    const char *colon = last_colon(t->target);
    int64_t line;
    if (!colon) {
        return at_node(t->target, NULL, t);
    }
    Piece name = trimmed(t->target.s, colon), suffix = trimmed(colon + 1, t->target.end);
    bool file = piece_len(name) &&
                (memchr(name.s, '.', piece_len(name)) || memchr(name.s, '/', piece_len(name)));
    if (file && read_line(suffix, &line)) {
        return parse_source(name, line, t);
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (piece_is(suffix, suffixes[i].word) && piece_len(name)) {
            return at_node(name, suffixes[i].position, t);
        }
    }
    return fail_suffix(name, suffix, err);
}

static Json parse_condition(const Typed *t, Error *err) {
    (void)err;
    return with_expr(of_type(BREAK_CONDITIONAL), "condition", t);
}

typedef struct Form {
    const char *word;
    bool begins; /* it is how the target begins, not all of it */
    Json (*parse)(const Typed *t, Error *err);
} Form;

static const Form forms[] = {
    {"", false, parse_condition},    {"error", false, parse_error},
    {"caught", false, parse_caught}, {"changed:", true, parse_changed},
    {"state:", true, parse_state},   {"", true, parse_place},
};

static Json parse_form(const Typed *t, Error *err) {
    const Form *f = forms;
    while (!(f->begins ? piece_begins(t->target, f->word) : piece_is(t->target, f->word))) {
        f++;
    }
    return f->parse(t, err);
}

Json breakpoint_parse(const char *spec, Error *err) {
    size_t len = strlen(spec);
    Piece all = trimmed(spec, spec + len);
    if (len > BREAK_TEXT_MAX || !piece_len(all)) {
        error_set(err, ERR_USAGE, "%s",
                  piece_len(all) ? "This is too long for a breakpoint."
                                 : "A breakpoint is a NODE, a FILE:LINE, `error`, `changed:PATH` "
                                   "or `if EXPR`.");
        return json_none();
    }
    const char *at = find_if(all);
    Typed t = {.target = trimmed(all.s, at), .has_expr = at < all.end};
    if (t.has_expr) {
        t.expr = trimmed(at + 2, all.end);
    }
    if (t.has_expr && !piece_len(t.expr)) {
        error_set(err, ERR_USAGE, "After `if` comes a jq expression, such as `if .retries > 3`.");
        return json_none();
    }
    return parse_form(&t, err);
}
