/* breakpoint_parse.c - breakpoints as people type them: "build:after if .retries > 3". */
#include "breakpoint.h"

#include "ascii.h"
#include "json_build.h"
#include "json_parse.h"
#include "problems.h"

#include <stdlib.h>

/* Part of the text. */
typedef struct Slice {
    const char *s, *end;
} Slice;

static Slice trimmed(const char *s, const char *end) {
    while (s < end && ascii_is_white(*s)) s++;
    while (end > s && ascii_is_white(end[-1])) end--;
    return (Slice){s, end};
}

static size_t slice_len(Slice p) {
    return (size_t)(p.end - p.s);
}

static Json slice_json(Slice p) {
    return json_string(p.s, slice_len(p));
}

/* Past the string that begins at s. */
static const char *skip_string(const char *s, const char *end) {
    for (s++; s < end && *s != '"'; s++) s += *s == '\\' && s + 1 < end;
    return s < end ? s + 1 : end;
}

/* The word `if`, outside of strings; end when there is none. */
static const char *find_if(Slice all) {
    for (const char *s = all.s; s < all.end; s++) {
        bool starts = s == all.s || ascii_is_white(s[-1]);
        bool ends = all.end - s == 2 || (all.end - s > 2 && ascii_is_white(s[2]));
        if (starts && ends && s[0] == 'i' && s[1] == 'f') return s;
        if (*s == '"') s = skip_string(s, all.end) - 1;
    }
    return all.end;
}

/* ---- what they are ---- */

typedef struct Typed {
    Slice target, expr;
    bool has_expr;
} Typed;

/* The expression behind `if`; JSON_NONE: there is none. */
static Json expr_of(const Typed *t) {
    return t->has_expr ? slice_json(t->expr) : json_none();
}

static Json parse_exception(const Typed *t, Error *err) {
    (void)err;
    bool caught = text_is(t->target.s, slice_len(t->target), "caught");
    return OBJECT(KEY("type", break_types[BREAK_EXCEPTION].name),
                  KEY("caught", caught ? json_bool(true) : json_none()), KEY("error", expr_of(t)));
}

static Json of_state(Json state, const Typed *t) {
    return OBJECT(KEY("type", break_types[BREAK_STATE].name), KEY("state", state),
                  KEY("condition", expr_of(t)));
}

static Json parse_changed(const Typed *t, Error *err) {
    Slice path = trimmed(t->target.s + strlen("changed:"), t->target.end);
    if (!slice_len(path)) {
        error_set(err, ERR_USAGE, "After `changed:` comes a path, such as changed:.retries.");
        return json_none();
    }
    return of_state(OBJECT(KEY("path", slice_json(path)), KEY("changed", json_bool(true))), t);
}

static Json parse_state(const Typed *t, Error *err) {
    Error why = ERROR_INIT;
    Slice rest = trimmed(t->target.s + strlen("state:"), t->target.end);
    const char *at = rest.s;
    while (at < rest.end && *at != '=') at = *at == '"' ? skip_string(at, rest.end) : at + 1;
    const char *from = at + 1 < rest.end && at[1] == '=' ? at + 2 : at + 1;
    Slice path = trimmed(rest.s, at);
    if (at == rest.end || !slice_len(path)) {
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
    return of_state(OBJECT(KEY("path", slice_json(path)), KEY("equals", value)), t);
}

static Json at_node(Json name, const char *position, const Typed *t) {
    return OBJECT(KEY("type", break_types[BREAK_NODE].name), KEY("node", name),
                  KEY("position", position), KEY("condition", expr_of(t)));
}

/* NULL: it is none. */
static const char *position_of(Slice suffix) {
    static const struct {
        const char *word, *position;
    } suffixes[] = {
        {"before", "before"}, {"after", "after"}, {"error", "on_error"}, {"on_error", "on_error"}};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (text_is(suffix.s, slice_len(suffix), suffixes[i].word)) return suffixes[i].position;
    }
    return NULL;
}

static Json parse_quoted(const Typed *t, Error *err) {
    Error why = ERROR_INIT;
    const char *close = skip_string(t->target.s, t->target.end);
    Slice rest = trimmed(close, t->target.end);
    const char *position =
        slice_len(rest) && *rest.s == ':' ? position_of(trimmed(rest.s + 1, rest.end)) : NULL;
    if (slice_len(rest) && !position) {
        error_set(err, ERR_USAGE,
                  "After a name in quotes comes :before, :after or :error, or nothing; not `%s`.",
                  shown(rest.s, slice_len(rest)));
        return json_none();
    }
    Json name = json_parse(t->target.s, (size_t)(close - t->target.s), NULL, &why);
    if (!json_is_none(name)) return at_node(name, position, t);
    error_set(err, ERR_SYNTAX, "A name in quotes is a JSON string: %s", why.msg);
    return name;
}

static Json parse_place(const Typed *t, Error *err) {
    enum { LINE_DIGITS_MAX = 12 }; /* more than any file has lines */
    const char *colon = t->target.end;
    while (colon > t->target.s && colon[-1] != ':') colon--;
    if (colon == t->target.s) return at_node(slice_json(t->target), NULL, t);
    colon--;
    Slice name = trimmed(t->target.s, colon), suffix = trimmed(colon + 1, t->target.end);
    bool file = slice_len(name) &&
                (memchr(name.s, '.', slice_len(name)) || memchr(name.s, '/', slice_len(name)));
    size_t digits = strspn(suffix.s, "0123456789");
    if (file && digits && digits == slice_len(suffix) && digits < LINE_DIGITS_MAX) {
        int64_t line = strtoll(suffix.s, NULL, 10);
        return OBJECT(KEY("type", break_types[BREAK_SOURCE].name), KEY("file", slice_json(name)),
                      KEY("line", line), KEY("condition", expr_of(t)));
    }
    const char *position = slice_len(name) ? position_of(suffix) : NULL;
    if (position) return at_node(slice_json(name), position, t);
    if (slice_len(name) && slice_len(suffix) && ascii_is_white(colon[1])) { /* "Step 1: build" */
        return at_node(slice_json(t->target), NULL, t);
    }
    error_set(err, ERR_USAGE,
              "After `%s:` comes before, after or error, or after a file's name (with a dot or a "
              "slash in it) a line; not `%s`.",
              shown(name.s, slice_len(name)), shown(suffix.s, slice_len(suffix)));
    return json_none();
}

static Json parse_condition(const Typed *t, Error *err) {
    (void)err;
    return OBJECT(KEY("type", break_types[BREAK_CONDITIONAL].name), KEY("condition", expr_of(t)));
}

typedef struct Form {
    const char *word;
    bool begins; /* it is how the target begins, not all of it */
    Json (*parse)(const Typed *t, Error *err);
} Form;

static const Form forms[] = {
    {"", false, parse_condition},
    {"error", false, parse_exception},
    {"caught", false, parse_exception},
    {"changed:", true, parse_changed},
    {"state:", true, parse_state},
    {"\"", true, parse_quoted},
    {"", true, parse_place},
};

Json breakpoint_parse(const char *spec, Error *err) {
    size_t len = strlen(spec);
    Slice all = trimmed(spec, spec + len);
    if (len > BREAK_TEXT_MAX || !slice_len(all)) {
        error_set(err, ERR_USAGE, "%s",
                  slice_len(all) ? "This is too long for a breakpoint."
                                 : "A breakpoint is a NODE, a FILE:LINE, `error`, `changed:PATH` "
                                   "or `if EXPR`.");
        return json_none();
    }
    const char *at = find_if(all);
    Typed t = {.target = trimmed(all.s, at), .has_expr = at < all.end};
    if (t.has_expr) t.expr = trimmed(at + 2, all.end);
    if (t.has_expr && !slice_len(t.expr)) {
        error_set(err, ERR_USAGE, "After `if` comes a jq expression, such as `if .retries > 3`.");
        return json_none();
    }
    const Form *f = forms;
    for (size_t n = slice_len(t.target);; f++) {
        size_t word = strlen(f->word);
        if ((f->begins ? n >= word : n == word) && !memcmp(t.target.s, f->word, word)) {
            return f->parse(&t, err);
        }
    }
}
