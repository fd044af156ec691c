/* inspect_path.c - paths as text and as steps, and walking along them and over all of them. */
#include "inspect.h"

#include "ascii.h"
#include "json_parse.h"
#include "json_path.h"
#include "json_print.h"
#include "mem.h"
#include "suggest.h"
#include "utf8.h"

enum {
    INDEX_DIGITS_MAX = 9, /* JSON_LEN_MAX has as many */
    SHOWN_MAX = 80,       /* characters of a path or a key in a sentence */
    KEYS_OFFERED = 2000,  /* keys of an object that are looked at for the nearest */
    NAME_MAX_LEN = 64,
};

/* ---- from text ---- */

typedef struct PathText {
    const char *text;
    size_t len, at;
    Json steps;
    Error *err;
} PathText;

static bool refuse(const PathText *p, size_t at, const char *why) {
    int column = (int)utf8_length(p->text, at) + 1;
    size_t shown = utf8_offset(p->text, p->len, SHOWN_MAX);
    return error_set_at(p->err, ERR_SYNTAX, 1, column, "The path `%.*s%s`, column %d: %s",
                        (int)shown, p->text, shown < p->len ? "..." : "", column, why);
}

static char peek(const PathText *p) {
    return p->at < p->len ? p->text[p->at] : '\0';
}

static void skip_blanks(PathText *p) {
    while (p->at < p->len && ascii_is_white(p->text[p->at])) p->at++;
}

static bool push(PathText *p, Json step, size_t at) {
    if (json_array_len(p->steps) >= JSON_DEPTH_MAX) {
        json_unref(step);
        return refuse(p, at, "a path has 10,000 steps at most.");
    }
    p->steps = json_array_push(p->steps, step);
    return true;
}

static bool take_string(PathText *p) {
    size_t at = p->at, end = at + 1;
    while (end < p->len && p->text[end] != '"') end += p->text[end] == '\\' ? 2 : 1;
    if (end >= p->len) return refuse(p, at, "this string has no end.");
    end++;
    Json key = json_parse(p->text + at, end - at, NULL, NULL);
    if (json_kind(key) != JSON_STRING) {
        json_unref(key);
        return refuse(p, at, "this is not a string as JSON has them.");
    }
    p->at = end;
    return push(p, key, at);
}

static bool take_index(PathText *p) {
    size_t at = p->at, digits = 0;
    int64_t n = 0;
    p->at += peek(p) == '-';
    for (; ascii_is_digit(peek(p)); p->at++, digits++) {
        n = digits < INDEX_DIGITS_MAX ? 10 * n + (peek(p) - '0') : n;
    }
    if (!digits) return refuse(p, at, "a minus sign needs a number behind it.");
    if (digits > INDEX_DIGITS_MAX || n > JSON_LEN_MAX) {
        return refuse(p, at, "no array is that long.");
    }
    return push(p, json_int(p->text[at] == '-' ? -n : n), at);
}

static bool take_brackets(PathText *p) {
    size_t open = p->at++;
    skip_blanks(p);
    char c = peek(p);
    if (c != '"' && c != '-' && !ascii_is_digit(c)) {
        return refuse(p, p->at,
                      "in brackets stands one index or one key in quotes, such as [0], [-1] or "
                      "[\"k\"].");
    }
    if (!(c == '"' ? take_string(p) : take_index(p))) return false;
    skip_blanks(p);
    if (peek(p) != ']') {
        return p->at < p->len ? refuse(p, p->at, "there must be a `]` here.")
                              : refuse(p, open, "this `[` has no `]` that closes it.");
    }
    p->at++;
    return true;
}

static bool take_name(PathText *p) {
    char c = peek(p);
    if (c == '"') return take_string(p);
    if (ascii_is_name(c) && !ascii_is_digit(c)) {
        size_t at = p->at++;
        while (ascii_is_name(peek(p))) p->at++;
        return push(p, json_string_valid(p->text + at, p->at - at), at);
    }
    return refuse(p, p->at,
                  "there must be a key here; one that is no word stands in quotes: .\"odd key\".");
}

/* A step; the first may lack its dot. */
static bool take_step(PathText *p, bool first) {
    char c = peek(p);
    if (c == '[') return take_brackets(p);
    if (c == '.') {
        p->at++;
        return peek(p) == '[' ? take_brackets(p) : take_name(p);
    }
    if (first) return take_name(p);
    return refuse(p, p->at,
                  "a path goes on with `.key` or `[index]`; for anything else evaluate an "
                  "expression.");
}

static bool take_steps(PathText *p) {
    bool ok = true;
    skip_blanks(p);
    while (p->len > p->at && ascii_is_white(p->text[p->len - 1])) p->len--;
    if (p->len - p->at == 1 && peek(p) == '.') return true;
    for (bool first = true; ok && p->at < p->len; first = false) ok = take_step(p, first);
    return ok;
}

/* ---- from steps ---- */

static Json path_of_steps(Json path, Error *err) {
    size_t n = json_array_len(path);
    char shown[JSON_DESCRIBE_MAX];
    if (n > JSON_DEPTH_MAX) {
        error_set(err, ERR_LIMIT, "The path has %zu steps; %d is the limit.", n, JSON_DEPTH_MAX);
        return json_none();
    }
    Json steps = json_array();
    for (size_t i = 0; i < n; i++) {
        Json given = json_array_get(path, i); /* a key, or a whole number */
        bool number = json_kind(given) == JSON_NUMBER;
        Json step = number ? json_number(json_to_double(given)) : json_ref(given);
        bool index =
            json_tag(step) == JSON_TAG_INT && step.i <= JSON_LEN_MAX && step.i >= -JSON_LEN_MAX;
        if (!index && json_kind(step) != JSON_STRING) {
            json_unref(step);
            json_unref(steps);
            error_set(err, ERR_USAGE,
                      "Step %zu of the path is %s; a step is a key (a string) or an index (a whole "
                      "number).",
                      i, json_describe(json_array_get(path, i), shown));
            return json_none();
        }
        steps = json_array_push(steps, step);
    }
    return steps;
}

Json inspect_path(Json path, Error *err) {
    char shown[JSON_DESCRIBE_MAX];
    if (json_kind(path) == JSON_ARRAY) return path_of_steps(path, err);
    if (json_kind(path) == JSON_STRING) {
        PathText p = {json_string_data(&path), json_string_len(path), 0, json_array(), err};
        if (!take_steps(&p)) json_clear(&p.steps);
        return p.steps;
    }
    error_set(
        err, ERR_USAGE,
        "A path is a text such as .a[0].b or an array of steps such as [\"a\", 0, \"b\"], not "
        "%s.",
        json_is_none(path) ? "nothing" : json_describe(path, shown));
    return json_none();
}

/* ---- to a value ---- */

/* Not too much of it: whole characters, and dots for the rest. */
static void add_shown(Buf *out, const char *text, size_t len) {
    size_t shown = utf8_offset(text, len, SHOWN_MAX);
    buf_add(out, text, shown);
    buf_adds(out, shown < len ? "..." : "");
}

/* Names are offered from a buffer, so the best one is copied as it comes. */
static bool nearest_key(Json object, Json key, char *best) {
    char name[NAME_MAX_LEN];
    Suggestion s = suggestion_for(json_string_data(&key), json_string_len(key));
    bool found = false;
    Json other, value;
    size_t pos = 0;
    for (int i = 0; i < KEYS_OFFERED && json_object_next(object, &pos, &other, &value); i++) {
        size_t len = json_string_len(other);
        if (len < sizeof name) {
            memcpy(name, json_string_data(&other), len);
            name[len] = '\0';
            s.best = NULL;
            suggestion_offer(&s, name);
            if (s.best) {
                memcpy(best, name, len + 1);
                found = true;
            }
        }
    }
    return found;
}

static void add_lack(Buf *out, Json container, Json step) {
    char best[NAME_MAX_LEN];
    bool key = json_kind(step) == JSON_STRING;
    JsonKind kind = json_kind(container);
    if (kind == JSON_OBJECT && key) {
        buf_adds(out, " has no key `");
        add_shown(out, json_string_data(&step), json_string_len(step));
        if (nearest_key(container, step, best)) {
            buf_printf(out, "`; did you mean `%s`?", best);
        } else {
            buf_adds(out, json_object_len(container) ? "`." : "`: it is empty.");
        }
    } else if (kind == JSON_OBJECT) {
        buf_printf(out, " is an object: it has keys and no element %lld.", (long long)step.i);
    } else if (kind == JSON_ARRAY && !key) {
        size_t n = json_array_len(container);
        buf_printf(out, " has %zu element%s; there is no element %lld.", n, n == 1 ? "" : "s",
                   (long long)step.i);
    } else if (kind == JSON_ARRAY) {
        buf_adds(out, " is an array: its elements have numbers, not keys.");
    } else if (kind == JSON_NULL) {
        buf_adds(out, " is null; there is nothing in it.");
    } else {
        buf_printf(out, " is a %s; there is nothing in it.", json_kind_name(kind));
    }
}

static Json leads_nowhere(Json path, size_t at, Json container, Error *err) {
    Buf text = BUF_INIT, so_far = BUF_INIT;
    json_path_text(path, at, &so_far);
    buf_addc(&text, '`');
    add_shown(&text, so_far.data, so_far.len);
    buf_addc(&text, '`');
    add_lack(&text, container, json_array_get(path, at));
    error_set(err, ERR_USAGE, "%s", text.data);
    buf_clear(&so_far);
    buf_clear(&text);
    return json_none();
}

/* Borrowed; JSON_NONE when there is nothing. A negative index becomes the one that it means. */
static Json child_at(Json container, Json *step) {
    if (json_kind(container) == JSON_OBJECT && json_kind(*step) == JSON_STRING) {
        return json_object_get(container, *step);
    }
    if (json_kind(container) != JSON_ARRAY || json_kind(*step) != JSON_NUMBER) return json_none();
    int64_t i = step->i < 0 ? step->i + (int64_t)json_array_len(container) : step->i;
    Json child = i < 0 ? json_none() : json_array_get(container, (size_t)i);
    if (!json_is_none(child)) *step = json_int(i);
    return child;
}

Json inspect_at(Json state, Json path, Json *steps, Error *err) {
    Json own = json_is_none(path) ? json_array() : inspect_path(path, err);
    Json value = json_is_none(own) ? json_none() : state;
    for (size_t i = 0; !json_is_none(value) && i < json_array_len(own); i++) {
        Json step = json_array_get(own, i), meant = step;
        Json child = child_at(value, &meant);
        value = json_is_none(child) ? leads_nowhere(own, i, value, err) : child;
        if (!json_identical(step, meant)) own = json_array_set(own, i, meant);
    }
    if (json_is_none(value) || !steps) json_clear(&own);
    if (steps) *steps = own;
    return value;
}

/* ---- walking ---- */

bool inspect_next(Json container, size_t *pos, Json *step, Json *value) {
    if (json_kind(container) == JSON_OBJECT) return json_object_next(container, pos, step, value);
    *step = json_int((int64_t)*pos);
    *value = json_array_get(container, *pos);
    *pos += !json_is_none(*value);
    return !json_is_none(*value);
}

typedef struct Level {
    Json container, step; /* borrowed; step leads to the container */
    size_t pos;
} Level;

struct InspectWalk {
    Level *levels;
    size_t n, cap;
};

static bool arrive(InspectWalk *w, InspectVisit visit, void *ctx, Json step, Json value) {
    if (!visit(ctx, w, step, value)) return false;
    if (json_kind(value) >= JSON_ARRAY) {
        w->levels = mem_grow(w->levels, w->n, &w->cap, sizeof *w->levels);
        w->levels[w->n++] = (Level){value, step, 0};
    }
    return true;
}

bool inspect_walk(Json value, InspectVisit visit, void *ctx) {
    InspectWalk w = {NULL, 0, 0};
    bool goes_on = arrive(&w, visit, ctx, json_none(), value);
    while (goes_on && w.n) {
        Level *level = &w.levels[w.n - 1];
        Json step, child;
        if (inspect_next(level->container, &level->pos, &step, &child)) {
            goes_on = arrive(&w, visit, ctx, step, child);
        } else {
            w.n--;
        }
    }
    mem_free(w.levels);
    return goes_on;
}

size_t inspect_walk_depth(const InspectWalk *w) {
    return w->n;
}

Json inspect_walk_path(const InspectWalk *w, Json step) {
    Json path = json_array();
    for (size_t i = 1; i < w->n; i++) path = json_array_push(path, json_ref(w->levels[i].step));
    return json_is_none(step) ? path : json_array_push(path, json_ref(step));
}
