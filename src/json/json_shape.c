/* json_shape.c - a shape is a small tree in an arena: read once from its text, walked beside each value.
 *
 * Alternatives make a walk try several shapes for one value. A look at the value without going down decides
 * which of them it may mean, and only those are walked. What alternatives within alternatives may still cost
 * is bounded by a number of visits that grows with the value's size.
 */
#include "json_shape.h"

#include "arena.h"
#include "json_build.h"
#include "json_parse.h"
#include "json_print.h"
#include "suggest.h"
#include "utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    VISITS_MAX = 1 << 26,
    PATH_SHOWN_MAX = 200,     /* bytes of a path in a sentence */
    EXPECTED_SHOWN_MAX = 200, /* bytes of what is expected */
};

typedef struct Type Type;
typedef struct Node Node;
typedef struct Named Named;

struct Node {
    enum { NODE_TYPE, NODE_WORD, NODE_ARRAY, NODE_TUPLE, NODE_OBJECT, NODE_UNION, NODE_NAME } what;
    Node *next;      /* the next member or item of the same, or alternative of the same union */
    const char *key; /* of a member */
    bool optional;   /* a member or item that may be absent */
    Node *
        first; /* the item of an array, the items of a tuple, the members of an object, the alternatives of a union */
    Node *others;     /* for keys that no member has, for items behind those of a tuple; or NULL */
    const Type *type; /* NODE_TYPE */
    int64_t min, max; /* NODE_TYPE: the bounds of an int */
    const char *word; /* NODE_WORD: the text */
    Named *named;     /* NODE_NAME */
};

/* A named shape that is used. */
struct Named {
    Named *next;
    const ShapeName *row; /* while the shape is compiled */
    const char *name;
    Node *node;
    enum { NAMED_NEW, NAMED_ENTERED, NAMED_LEFT } walk; /* of find_endless() */
};

struct Shape {
    Arena *arena;
    Node *root;
    Named *names; /* in the order in which they were met */
};

/* ---- the types ---- */

static bool is_int(Json v, int64_t *out) {
    if (json_tag(v) == JSON_TAG_INT) {
        *out = v.i;
        return true;
    }
    double d = json_kind(v) == JSON_NUMBER ? json_to_double(v) : 0.5;
    bool whole = d >= -0x1p63 && d < 0x1p63 && (double)(int64_t)d == d;
    *out = whole ? (int64_t)d : 0;
    return whole;
}

static bool fits_int(const Node *node, Json v) {
    int64_t i;
    return is_int(v, &i) && node->min <= i && i <= node->max;
}

static int two_digits(const char *s) {
    return (s[0] - '0') * 10 + s[1] - '0';
}

static bool fits_time(const Node *node, Json v) {
    static const char form[] = "dddd-dd-ddTdd:dd:dd.dddZ";
    static const char days[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    (void)node;
    const char *s = json_string_data(&v);
    bool formed = json_string_len(v) == sizeof form - 1;
    for (size_t i = 0; formed && i < sizeof form - 1; i++) {
        formed = form[i] == 'd' ? isdigit((unsigned char)s[i]) != 0 : s[i] == form[i];
    }
    if (!formed || two_digits(s + 5) > 12) return false;
    int century = two_digits(s), year = two_digits(s + 2), month = two_digits(s + 5),
        day = two_digits(s + 8);
    bool leap = (year ? year : century) % 4 == 0;
    return day >= 1 && day <= days[month] + (month == 2 && leap) && two_digits(s + 11) < 24 &&
           two_digits(s + 14) < 60 && two_digits(s + 17) < 60;
}

static bool fits_path(const Node *node, Json v) {
    (void)node;
    int64_t index;
    for (size_t i = 0, n = json_array_len(v); i < n; i++) {
        Json step = json_array_get(v, i);
        if (json_kind(step) != JSON_STRING && !is_int(step, &index)) return false;
    }
    return true;
}

static bool fits_dotted(const Node *node, Json v) {
    (void)node;
    size_t len = json_string_len(v);
    return len && strspn(json_string_data(&v), "0123456789.") == len;
}

/* The kinds of JSON that a type takes, what it asks beyond that, and how it is said and documented. */
struct Type {
    const char *word;
    unsigned kinds; /* 1 << JsonKind */
    bool (*fits)(const Node *node, Json v);
    const char *said, *schema;
};

static const Type types[] = {
    {"int", 1 << JSON_NUMBER, fits_int, "an int", "{\"type\": \"integer\"}"},
    {"number", 1 << JSON_NUMBER, NULL, "a number", "{\"type\": \"number\"}"},
    {"bool", 1 << JSON_FALSE | 1 << JSON_TRUE, NULL, "a bool", "{\"type\": \"boolean\"}"},
    {"text", 1 << JSON_STRING, NULL, "a text", "{\"type\": \"string\"}"},
    {"time", 1 << JSON_STRING, fits_time, "a time as \"2026-11-16T04:35:57.123Z\"",
     "{\"type\": \"string\", \"format\": \"date-time\","
     " \"pattern\": \"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$\"}"},
    {"dotted", 1 << JSON_STRING, fits_dotted, "digits and dots",
     "{\"type\": \"string\", \"pattern\": \"^[0-9.]+$\"}"},
    {"path", 1 << JSON_ARRAY, fits_path, "a path (an array of texts and ints)",
     "{\"type\": \"array\", \"items\": {\"type\": [\"string\", \"integer\"]}}"},
    {"null", 1 << JSON_NULL, NULL, "null", "{\"type\": \"null\"}"},
    {"array", 1 << JSON_ARRAY, NULL, "an array", "{\"type\": \"array\"}"},
    {"object", 1 << JSON_OBJECT, NULL, "an object", "{\"type\": \"object\"}"},
    {"any", ~(1u << JSON_NULL), NULL, "a value", "{\"not\": {\"type\": \"null\"}}"},
    {0},
};

/* ---- from text ---- */

/* After the first error nothing is left to read, so that every loop ends and the error stays. */
typedef struct Reader {
    Shape *shape;
    const char *text, *at;
    int depth;
    const ShapeName *names;
    bool failed;
    Error *err;
} Reader;

/* What is wrong at r->at; with a word, it is quoted there. */
static void wrong(Reader *r, const char *what, const char *word) {
    if (!r->failed) {
        int line = 1, col = 1;
        for (const char *c = r->text; c < r->at; c++) {
            line += *c == '\n';
            col = *c == '\n' ? 1 : col + 1;
        }
        error_set_at(r->err, ERR_SYNTAX, line, col, word ? "%s `%.60s`." : "%s", what, word);
        r->failed = true;
        r->at = "";
    }
}

/* Steps over white space, then over the mark if it is there. An empty mark always is. */
static bool skip(Reader *r, const char *mark) {
    r->at += strspn(r->at, " \t\r\n");
    bool there = strncmp(r->at, mark, strlen(mark)) == 0;
    r->at += there ? strlen(mark) : 0;
    return there;
}

static void expect(Reader *r, const char *mark, const char *what) {
    if (!skip(r, mark)) wrong(r, what, NULL);
}

/* How many of the bytes are a word. */
static size_t word_len(const char *text, size_t len) {
    size_t n = 0;
    while (n < len && (isalnum((unsigned char)text[n]) || text[n] == '_')) n++;
    return n;
}

/* A word, or a text in quotes; without escapes, since no key needs one. */
static const char *read_text(Reader *r) {
    const char *begin = r->at;
    size_t len = word_len(begin, strlen(begin));
    if (*begin == '"') {
        len = strcspn(++begin, "\"\\\n");
        if (begin[len] != '"') {
            wrong(r, "This text has a backslash, or no closing quote on its line.", NULL);
            return "";
        }
    }
    r->at = begin + len + (r->at < begin);
    return arena_strndup(r->shape->arena, begin, len);
}

/* Where no bound is written, *bound stays as it is. */
static void read_bound(Reader *r, int64_t *bound) {
    skip(r, "");
    size_t len = strspn(r->at, "-0123456789");
    char *end = NULL;
    *bound = len ? strtoll(r->at, &end, 10) : *bound;
    if (len > 18 || (len && end != r->at + len)) {
        wrong(r, "A bound is a number of up to 18 characters.", NULL);
    }
    r->at += r->failed ? 0 : len;
}

/* int, int(1..9), text */
static void read_type(Reader *r, Node *node) {
    const char *begin = r->at, *word = read_text(r);
    node->type = types;
    while (node->type->word && strcmp(node->type->word, word) != 0) node->type++;
    if (!node->type->word) {
        r->at = begin;
        wrong(r,
              *word ? "There is no type"
                    : "A type, a name, `{`, `[` or a text in quotes is expected here.",
              *word ? word : NULL);
    }
    node->min = INT64_MIN;
    node->max = INT64_MAX;
    if (node->type->fits == fits_int && skip(r, "(")) {
        read_bound(r, &node->min);
        expect(r, "..", "Bounds are written `int(1..)`, `int(..9)` or `int(1..9)`.");
        read_bound(r, &node->max);
        expect(r, ")", "`)` is expected here.");
    }
    if (node->min > node->max) wrong(r, "No int is within these bounds.", NULL);
}

/* The shape that has the name is read later, and once, however often it is used. */
static void read_name(Reader *r, Node *node) {
    const char *begin = r->at, *name = read_text(r);
    const ShapeName *row = r->names;
    while (row && row->name && strcmp(row->name, name) != 0) row++;
    if (!row || !row->name) {
        r->at = begin;
        wrong(r, "There is no named shape", name);
        return;
    }
    Named **named = &r->shape->names;
    int n = 0;
    for (; *named && (*named)->row != row; named = &(*named)->next) n++;
    if (n == SHAPE_NAMES_MAX) {
        wrong(r, "There are too many named shapes.", NULL);
    } else if (!*named) {
        *named = arena_alloc(r->shape->arena, sizeof **named);
        (*named)->row = row;
        (*named)->name = name;
    }
    node->named = *named;
}

static Node *read_shape(Reader *r);

/* `key: T`, `key?: T` or `"a key": T`. */
static Node *read_member(Reader *r, const Node *object) {
    const char *begin = r->at, *key = word_len(begin, 1) || *begin == '"' ? read_text(r) : NULL;
    bool optional = skip(r, "?");
    if (!key) wrong(r, "A key is expected here.", NULL);
    for (const Node *m = object->first; key && m; m = m->next) {
        if (strcmp(m->key, key) == 0) {
            r->at = begin;
            wrong(r, "This key is there twice.", NULL);
        }
    }
    expect(r, ":", "A key is followed by `:` and a shape.");
    Node *member = read_shape(r);
    member->key = key;
    member->optional = optional;
    return member;
}

/* Behind `{`: members, and at their end `...` or `*: T`. */
static void read_object(Reader *r, Node *node) {
    if (skip(r, "}")) return;
    Node **last = &node->first;
    do {
        if (skip(r, "...")) {
            Reader any = {.shape = r->shape, .text = "any", .at = "any"};
            node->others = read_shape(&any);
        } else if (skip(r, "*")) {
            expect(r, ":", "`*` is followed by `:` and a shape.");
            node->others = read_shape(r);
        } else {
            *last = read_member(r, node);
            last = &(*last)->next;
        }
    } while (!node->others && skip(r, ","));
    expect(r, "}", node->others ? "`}` is expected here." : "`,` or `}` is expected here.");
}

/* Behind `[`: one shape and no more is what all items have; otherwise an item follows another, and is their
 * last one where `...` says that it may be there any number of times. */
static void read_array(Reader *r, Node *node) {
    Node **last = &node->first;
    bool optional = false;
    node->what = NODE_ARRAY;
    do {
        Node *item = read_shape(r);
        if (skip(r, "...")) {
            node->others = item;
        } else {
            item->optional = skip(r, "?");
            if (optional && !item->optional) {
                wrong(r, "An item that must be there follows one that may be absent.", NULL);
            }
            optional = item->optional;
            *last = item;
            last = &item->next;
        }
        if (item == node->first && !item->optional && skip(r, "]")) return;
        node->what = NODE_TUPLE;
    } while (!node->others && skip(r, ",") && skip(r, "") && *r->at != ']');
    expect(r, "]", node->others ? "`]` is expected here." : "`,` or `]` is expected here.");
}

static Node *read_alternative(Reader *r) {
    Node *node = arena_alloc(r->shape->arena, sizeof *node);
    if (skip(r, "{")) {
        node->what = NODE_OBJECT;
        read_object(r, node);
    } else if (skip(r, "[")) {
        read_array(r, node);
    } else if (*r->at == '"') {
        node->what = NODE_WORD;
        node->word = read_text(r);
    } else if (isupper((unsigned char)*r->at)) {
        node->what = NODE_NAME;
        read_name(r, node);
    } else {
        node->what = NODE_TYPE;
        read_type(r, node);
    }
    return node;
}

/* Never NULL. Recursion is bounded by SHAPE_TEXT_DEPTH_MAX. */
static Node *read_shape(Reader *r) {
    if (++r->depth > SHAPE_TEXT_DEPTH_MAX) {
        wrong(r, "There are too many brackets within brackets.", NULL);
    }
    Node *node = read_alternative(r);
    if (skip(r, "|")) {
        Node *first = node, **last = &first->next;
        node = arena_alloc(r->shape->arena, sizeof *node);
        node->what = NODE_UNION;
        node->first = first;
        do {
            *last = read_alternative(r);
            last = &(*last)->next;
        } while (skip(r, "|"));
    }
    r->depth--;
    return node;
}

/* A name that stands for itself without an object or an array around it, as A = `A|int`, would never
 * end. Recursion is bounded by SHAPE_NAMES_MAX. */
static const char *find_endless(const Node *node) {
    const char *found = NULL;
    for (const Node *n = node->what == NODE_UNION ? node->first : NULL; n && !found; n = n->next) {
        found = find_endless(n);
    }
    Named *named = node->what == NODE_NAME ? node->named : NULL;
    if (named && named->walk == NAMED_ENTERED) return named->name;
    if (named && named->walk == NAMED_NEW) {
        named->walk = NAMED_ENTERED;
        found = find_endless(named->node);
        named->walk = NAMED_LEFT;
    }
    return found;
}

/* All of a text is one shape. */
static bool compile_text(Shape *shape, const char *text, const ShapeName *names, Node **out,
                         Error *err) {
    Reader r = {.shape = shape, .text = text, .at = text, .names = names, .err = err};
    *out = read_shape(&r);
    skip(&r, "");
    if (*r.at) wrong(&r, "The shape has ended before this.", NULL);
    return !r.failed;
}

Shape *shape_compile(const char *text, const ShapeName *names, Error *err) {
    Arena *arena = arena_new();
    Shape *shape = arena_alloc(arena, sizeof *shape);
    shape->arena = arena;
    bool ok = compile_text(shape, text, names, &shape->root, err);
    for (Named *n = shape->names; ok && n; n = n->next) { /* and those that they use in turn */
        ok = compile_text(shape, n->row->text, names, &n->node, err);
        if (!ok) error_wrap(err, "%.60s", n->name);
    }
    for (const Named *n = shape->names; ok && n; n = n->next) {
        const char *endless = find_endless(n->node);
        ok = !endless || error_set(err, ERR_SYNTAX, "The shape %.60s stands for itself.", endless);
    }
    if (!ok) shape_free(shape);
    return ok ? shape : NULL;
}

void shape_free(Shape *shape) {
    if (shape) arena_free(shape->arena);
}

/* ---- a value beside a shape ---- */

/* A mismatch sets the error. On the way up from it, the steps of its path are put in front of each
 * other, from the end of `path` to its beginning. */
typedef struct Check {
    uint64_t visits; /* that are left */
    int depth;
    Error err;
    char path[PATH_SHOWN_MAX];
    size_t path_at;
    bool path_cut;
} Check;

__attribute__((format(printf, 3, 4))) static bool mismatch(Check *c, ErrorCode code,
                                                           const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    error_vset_at(&c->err, code, 0, 0, fmt, args);
    va_end(args);
    c->path_at = sizeof c->path;
    c->path_cut = false;
    return false;
}

/* `[2]` without a key; else `.key`, or `["a key"]`. Returns false, as what failed below did. */
static bool mismatch_below(Check *c, const char *key, size_t len, size_t index) {
    Buf step = BUF_INIT;
    if (!key) {
        buf_printf(&step, "[%zu]", index);
    } else if (len && !isdigit((unsigned char)*key) && word_len(key, len) == len) {
        buf_printf(&step, ".%.*s", (int)len, key);
    } else {
        buf_addc(&step, '[');
        json_print_string(key, len, false, &step);
        buf_addc(&step, ']');
    }
    c->path_cut = c->path_cut || step.len > c->path_at;
    if (!c->path_cut) {
        c->path_at -= step.len;
        memcpy(c->path + c->path_at, step.data, step.len);
    }
    buf_clear(&step);
    return false;
}

static bool visit(Check *c) {
    c->visits -= c->visits > 0;
    return c->visits > 0;
}

static const Node *resolved(const Node *node) {
    while (node->what == NODE_NAME) node = node->named->node;
    return node;
}

/* For sentences: an int, FRAME, "a" or "b". */
static void print_expected(const Node *node, Buf *out) {
    const Node *shape = resolved(node);
    if (shape->what == NODE_UNION) {
        for (const Node *n = shape->first; n && out->len < EXPECTED_SHOWN_MAX; n = n->next) {
            buf_adds(out, n == shape->first ? "" : n->next ? ", " : " or ");
            print_expected(n, out);
        }
    } else if (shape->what == NODE_WORD) {
        buf_printf(out, "\"%s\"", shape->word);
    } else if (shape->what != NODE_TYPE) {
        buf_adds(out, node != shape                ? node->named->name
                      : shape->what == NODE_OBJECT ? "an object"
                                                   : "an array");
    } else {
        buf_adds(out, shape->type->said);
        if (shape->min != INT64_MIN && shape->max != INT64_MAX) {
            buf_printf(out, " from %" PRId64 " to %" PRId64, shape->min, shape->max);
        } else if (shape->min != INT64_MIN || shape->max != INT64_MAX) {
            bool least = shape->min != INT64_MIN;
            buf_printf(out, " of at %s %" PRId64, least ? "least" : "most",
                       least ? shape->min : shape->max);
        }
    }
}

/* "this is a text, and an int is expected". Numbers are shown, and texts where one in quotes is
 * expected; another text may be nobody's business. */
static bool unlike(Check *c, const Node *node, Json v) {
    static const char *const said[] = {
        [JSON_NULL] = "null",     [JSON_FALSE] = "a bool",   [JSON_TRUE] = "a bool",
        [JSON_STRING] = "a text", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
    };
    Buf expected = BUF_INIT;
    char excerpt[JSON_DESCRIBE_MAX];
    print_expected(resolved(node), &expected);
    bool shown =
        json_kind(v) == JSON_NUMBER || (json_kind(v) == JSON_STRING && strchr(expected.data, '"'));
    mismatch(c, ERR_DATA, "this is %s, and %s is expected",
             shown ? json_excerpt(v, excerpt) : said[json_kind(v)], expected.data);
    buf_clear(&expected);
    return false;
}

/* Whether the value has, or may mean, the shape: at first sight, without going down. An object or an array
 * may mean one whose words in quotes are where it has them. */
static bool seems(Check *c, const Node *node, Json v) {
    size_t at;
    node = resolved(node);
    switch (node->what) {
    case NODE_TYPE:
        return node->type->kinds & 1u << json_kind(v) &&
               (!node->type->fits || node->type->fits(node, v));
    case NODE_WORD: return json_string_is(v, node->word);
    case NODE_ARRAY: return json_kind(v) == JSON_ARRAY;
    case NODE_TUPLE:
        at = 0;
        for (const Node *m = node->first; m; m = m->next, at++) {
            Json value = m->what == NODE_WORD ? json_array_get(v, at) : json_none();
            if (!json_is_none(value) && !json_string_is(value, m->word)) return false;
        }
        return json_kind(v) == JSON_ARRAY;
    case NODE_OBJECT:
        for (const Node *m = node->first; m; m = m->next) {
            Json value = m->what == NODE_WORD ? json_object_get_c(v, m->key) : json_none();
            if (!json_is_none(value) && !json_string_is(value, m->word)) return false;
        }
        return json_kind(v) == JSON_OBJECT;
    default: break;
    }
    for (const Node *n = node->first; n && visit(c); n = n->next) {
        if (seems(c, n, v)) return true;
    }
    return false;
}

static bool check(Check *c, const Node *node, Json v);

/* Where one alternative alone is meant, the error that it leaves is the right one. */
static bool check_union(Check *c, const Node *node, Json v) {
    int meant = 0;
    for (const Node *n = node->first; n && visit(c); n = n->next) {
        if (seems(c, n, v)) {
            meant++;
            if (check(c, n, v)) return true;
        }
    }
    return meant == 1 ? false : unlike(c, node, v);
}

/* A key that no member has. */
static bool check_other(Check *c, const Node *node, Json key, Json value) {
    const char *text = json_string_data(&key);
    size_t len = json_string_len(key);
    if (node->others) return check(c, node->others, value) || mismatch_below(c, text, len, 0);
    Suggestion nearest = suggestion_for(text, len);
    for (const Node *m = node->first; m; m = m->next) suggestion_offer(&nearest, m->key);
    const char *best = nearest.best;
    return mismatch(c, ERR_DATA, "there is no key `%.*s`%s%s%s", (int)utf8_offset(text, len, 60),
                    text, best ? "; did you mean `" : "", best ? best : "", best ? "`?" : "");
}

/* Other keys come first: one of them may be the key that is missing, in another spelling. */
static bool check_object(Check *c, const Node *node, Json v) {
    size_t known = 0, pos = 0;
    for (const Node *m = node->first; m; m = m->next) {
        known += !json_is_none(json_object_get_c(v, m->key));
    }
    Json key, value;
    while (known < json_object_len(v) && json_object_next(v, &pos, &key, &value)) {
        const Node *m = node->first;
        while (m && !json_string_is(key, m->key)) m = m->next;
        if (!m && !check_other(c, node, key, value)) return false;
    }
    for (const Node *m = node->first; m; m = m->next) {
        value = json_object_get_c(v, m->key);
        if (json_is_none(value) && !m->optional) {
            return mismatch(c, ERR_DATA, "the key `%.60s` is missing", m->key);
        }
        if (!json_is_none(value) && !check(c, m, value)) {
            return mismatch_below(c, m->key, strlen(m->key), 0);
        }
    }
    return true;
}

/* The items of an array, each beside its own shape or that of the others. */
static bool check_items(Check *c, const Node *node, Json v) {
    size_t n = json_array_len(v), i = 0;
    const Node *others = node->what == NODE_ARRAY ? node->first : node->others;
    const Node *m = node->what == NODE_ARRAY ? NULL : node->first;
    for (; m && (i < n || !m->optional); m = m->next, i++) {
        if (i == n) return mismatch(c, ERR_DATA, "item %zu is missing", i);
        if (!check(c, m, json_array_get(v, i))) return mismatch_below(c, NULL, 0, i);
    }
    for (; i < n; i++) {
        if (!others) {
            return mismatch(c, ERR_DATA, "there are %zu items, and %zu at most are expected", n, i);
        }
        if (!check(c, others, json_array_get(v, i))) return mismatch_below(c, NULL, 0, i);
    }
    return true;
}

/* Recursion is bounded by SHAPE_DEPTH_MAX. */
static bool check(Check *c, const Node *node, Json v) {
    node = resolved(node);
    if (c->depth == SHAPE_DEPTH_MAX) {
        return mismatch(c, ERR_LIMIT, "this is too deep to be checked");
    }
    c->depth++;
    bool list = node->what == NODE_ARRAY || node->what == NODE_TUPLE;
    bool ok = node->what == NODE_UNION    ? check_union(c, node, v)
              : !seems(c, node, v)        ? unlike(c, node, v)
              : node->what == NODE_OBJECT ? check_object(c, node, v)
                                          : !list || check_items(c, node, v);
    c->depth--;
    return visit(c) ? ok : mismatch(c, ERR_LIMIT, "this takes too long to be checked");
}

bool shape_check(const Shape *shape, Json value, Error *err) {
    /* An honest value takes a few visits for each of its parts, which are 16 bytes or more. */
    uint64_t size = json_size(value);
    Check c = {.visits = 10000 + (size < VISITS_MAX ? size : VISITS_MAX)};
    bool ok = check(&c, shape->root, value);
    if (!ok && err) {
        *err = c.err;
        if (c.path_at < sizeof c.path) {
            error_wrap(err, "%s%.*s", c.path_cut ? "..." : "", (int)(sizeof c.path - c.path_at),
                       c.path + c.path_at);
        }
    }
    return ok;
}

/* ---- as JSON Schema ---- */

static Json schema_of(const Node *node);

static Json object_schema(const Node *node) {
    Json properties = json_object(), required = json_array();
    for (const Node *m = node->first; m; m = m->next) {
        properties = json_object_with(properties, m->key, schema_of(m));
        required = m->optional ? required : json_array_push(required, json_string_c(m->key));
    }
    return OBJECT(
        KEY("type", "object"), KEY("properties", properties), KEY("required", required),
        KEY("additionalProperties", node->others ? schema_of(node->others) : json_bool(false)));
}

static Json tuple_schema(const Node *node) {
    Json items = json_array();
    int64_t least = 0;
    for (const Node *m = node->first; m; m = m->next) {
        items = json_array_push(items, schema_of(m));
        least += !m->optional;
    }
    return OBJECT(KEY("type", "array"), KEY("prefixItems", items), KEY("minItems", least),
                  KEY("items", node->others ? schema_of(node->others) : json_bool(false)));
}

/* Words alone are an `enum`. */
static Json union_schema(const Node *node) {
    bool only_words = true;
    for (const Node *n = node->first; n; n = n->next) {
        only_words = only_words && n->what == NODE_WORD;
    }
    Json all = json_array();
    for (const Node *n = node->first; n; n = n->next) {
        all = json_array_push(all, only_words ? json_string_c(n->word) : schema_of(n));
    }
    return OBJECT(KEY(only_words ? "enum" : "anyOf", all));
}

/* Recursion is bounded by SHAPE_TEXT_DEPTH_MAX. */
static Json schema_of(const Node *node) {
    switch (node->what) {
    case NODE_WORD: return OBJECT(KEY("const", node->word));
    case NODE_ARRAY: return OBJECT(KEY("type", "array"), KEY("items", schema_of(node->first)));
    case NODE_TUPLE: return tuple_schema(node);
    case NODE_OBJECT: return object_schema(node);
    case NODE_UNION: return union_schema(node);
    case NODE_NAME: return OBJECT(KEY("$ref", json_string_fmt("#/$defs/%s", node->named->name)));
    default: break;
    }
    const char *text = node->type->schema;
    return OBJECT_ADD(json_parse(text, strlen(text), NULL, NULL),
                      KEY("minimum", node->min == INT64_MIN ? json_none() : json_int(node->min)),
                      KEY("maximum", node->max == INT64_MAX ? json_none() : json_int(node->max)));
}

Json shape_schema(const Shape *shape) {
    Json definitions = shape->names ? json_object() : json_none();
    for (const Named *n = shape->names; n; n = n->next) {
        definitions = json_object_with(definitions, n->name, schema_of(n->node));
    }
    return OBJECT_ADD(schema_of(shape->root),
                      KEY("$schema", "https://json-schema.org/draft/2020-12/schema"),
                      KEY("$defs", definitions));
}
