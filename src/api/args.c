#include "args.h"

#include "inspect.h"
#include "json_print.h"
#include "problems.h"
#include "suggest.h"
#include "things.h"

#include <inttypes.h>
#include <string.h>

const char *const arg_type_names[ARG_TYPES] = {
    [ARG_INT] = "int",       [ARG_NUMBER] = "number", [ARG_BOOL] = "bool", [ARG_TEXT] = "text",
    [ARG_FRAME] = "frame",   [ARG_FRAMES] = "frames", [ARG_PATH] = "path", [ARG_ARRAY] = "array",
    [ARG_OBJECT] = "object", [ARG_ANY] = "any",
};

/* ---- types ---- */

/* Up to here doubles hold every integer. */
static const double INT_MAX_EXACT = 9007199254740992.0;

static bool is_int(Json v) {
    double d = json_to_double(v);
    return json_tag(v) == JSON_TAG_INT || (json_kind(v) == JSON_NUMBER && d >= -INT_MAX_EXACT &&
                                           d <= INT_MAX_EXACT && d == (double)(int64_t)d);
}

static int64_t to_int(Json v) {
    return json_tag(v) == JSON_TAG_INT ? v.i : (int64_t)json_to_double(v);
}

/* What each type is: values of these kinds, of which the first four narrow it further (is_of_type()). */
static const struct TypeRow {
    unsigned kinds; /* bits */
    const char *noun;
} types[ARG_TYPES] = {
    [ARG_INT] = {1 << JSON_NUMBER, "a whole number"},
    [ARG_FRAME] = {1 << JSON_NUMBER, "the number of a frame"},
    [ARG_FRAMES] = {1 << JSON_NUMBER | 1 << JSON_STRING,
                    "the number of a frame, \"selected\" or \"all\""},
    [ARG_TEXT] = {1 << JSON_STRING, "a string"},
    [ARG_NUMBER] = {1 << JSON_NUMBER, "a number"},
    [ARG_BOOL] = {1 << JSON_TRUE | 1 << JSON_FALSE, "true or false"},
    [ARG_PATH] = {1 << JSON_ARRAY | 1 << JSON_STRING,
                  "a path, like \".a[0].b\" or [\"a\", 0, \"b\"]"},
    [ARG_ARRAY] = {1 << JSON_ARRAY, "an array"},
    [ARG_OBJECT] = {1 << JSON_OBJECT, "an object"},
    [ARG_ANY] = {~0u ^ 1 << JSON_NONE, "a value"},
};

static bool is_of_type(ArgType type, Json v) {
    bool frame = type == ARG_FRAME || type == ARG_FRAMES, text = json_kind(v) == JSON_STRING;
    if (!(types[type].kinds >> json_kind(v) & 1)) return false;
    if (text && type == ARG_FRAMES) {
        return json_string_is(v, "all") || json_string_is(v, "selected");
    }
    if (text && (type == ARG_TEXT || type == ARG_PATH)) {
        return !memchr(json_string_data(&v), '\0', json_string_len(v));
    }
    return (type != ARG_INT && !frame) || (is_int(v) && (!frame || to_int(v) > 0));
}

/* ---- sentences ---- */

/* The words or names of a sentence: `a`, `b` or `c`. */
typedef struct Listing {
    Buf *out;
    const char *quote;
    const char *before_last; /* " and ", " or " */
    size_t n, total;
} Listing;

static void list_one(Listing *l, const char *name) {
    buf_adds(l->out, l->n == 0 ? "" : l->n + 1 == l->total ? l->before_last : ", ");
    buf_printf(l->out, "%s%s%s", l->quote, name, l->quote);
    l->n++;
}

static void list_words(const char *const *words, Buf *out) {
    Listing l = {.out = out, .quote = "\"", .before_last = " or "};
    while (words[l.total]) l.total++;
    for (size_t i = 0; i < l.total; i++) list_one(&l, words[i]);
}

/* The names of all arguments, or of those of which one must be there. */
static void list_args(const OperationArg *args, bool one_of, Buf *out) {
    Listing l = {.out = out, .quote = "`", .before_last = " and "};
    for (const OperationArg *a = args; a && a->name; a++) l.total += a->one_of || !one_of;
    for (const OperationArg *a = args; a && a->name; a++) {
        if (a->one_of || !one_of) list_one(&l, a->name);
    }
}

static bool has_bounds(const OperationArg *a) {
    return a->min || a->max;
}

/* What an argument has to be. */
static void say_type(const OperationArg *a, Buf *out) {
    if (a->words) {
        list_words(a->words, out);
    } else {
        buf_adds(out, types[a->type].noun);
    }
    if (has_bounds(a) && a->max == INT64_MAX) {
        buf_printf(out, " of at least %" PRId64, a->min);
    } else if (has_bounds(a)) {
        buf_printf(out, " from %" PRId64 " to %" PRId64, a->min, a->max);
    }
}

/* What it is instead: itself where it is short, its kind otherwise. */
static void say_value(Json v, Buf *out) {
    if (json_kind(v) == JSON_ARRAY || json_kind(v) == JSON_OBJECT) {
        buf_printf(out, "an %s", json_kind_name(json_kind(v)));
        return;
    }
    Buf text = BUF_INIT;
    json_print(v, NULL, &text);
    buf_adds(out, shown(text.data, text.len));
    buf_clear(&text);
}

/* ---- checking ---- */

static bool refuse_args(const Operation *op, Json args, Error *err) {
    Buf is = BUF_INIT;
    say_value(args, &is);
    error_set(err, ERR_USAGE, "The arguments of `%s` must be an object, not %s.", op->name,
              is.data);
    buf_clear(&is);
    return false;
}

static bool refuse_name(const Operation *op, const char *name, size_t len, Error *err) {
    Suggestion nearest = suggestion_for(name, len);
    Buf names = BUF_INIT;
    for (const OperationArg *a = op->args; a && a->name; a++) suggestion_offer(&nearest, a->name);
    list_args(op->args, false, &names);
    const char *word = shown(name, len);
    if (nearest.best) {
        error_set(err, ERR_USAGE, "`%s` takes no argument `%s`; did you mean `%s`?", op->name, word,
                  nearest.best);
    } else if (names.len) {
        error_set(err, ERR_USAGE, "`%s` takes no argument `%s`; it takes %s.", op->name, word,
                  names.data);
    } else {
        error_set(err, ERR_USAGE, "`%s` takes no arguments, but was given `%s`.", op->name, word);
    }
    buf_clear(&names);
    return error_fact(err, "field", word);
}

static bool refuse_missing(const Operation *op, const OperationArg *a, Error *err) {
    Buf type = BUF_INIT;
    say_type(a, &type);
    error_set(err, ERR_USAGE, "`%s` needs `%s` (%s): %s.", op->name, a->name, a->about, type.data);
    buf_clear(&type);
    return error_fact(err, "field", a->name);
}

static bool refuse_value(const Operation *op, const OperationArg *a, Json v, Error *err) {
    Buf type = BUF_INIT, is = BUF_INIT;
    say_type(a, &type);
    say_value(v, &is);
    error_set(err, ERR_USAGE, "`%s` of `%s` must be %s%s, not %s.", a->name, op->name, type.data,
              a->nullable ? " (or null)" : "", is.data);
    buf_clear(&type);
    buf_clear(&is);
    return error_fact(err, "field", a->name);
}

static bool refuse_count(const Operation *op, size_t given, Error *err) {
    Buf names = BUF_INIT;
    list_args(op->args, true, &names);
    error_set(err, ERR_USAGE,
              given ? "`%s` takes only one of %s at a time." : "`%s` needs one of %s.", op->name,
              names.data);
    buf_clear(&names);
    return false;
}

static const OperationArg *find_arg(const Operation *op, Json name) {
    for (const OperationArg *a = op->args; a && a->name; a++) {
        if (json_string_is(name, a->name)) return a;
    }
    return NULL;
}

static bool fits(const OperationArg *a, Json v) {
    if (a->nullable && json_kind(v) == JSON_NULL) return true;
    const char *const *word = a->words;
    while (word && *word && !json_string_is(v, *word)) word++;
    return is_of_type(a->type, v) && (!word || *word) &&
           (!has_bounds(a) || (json_number_compare(v, json_int(a->min)) >= 0 &&
                               json_number_compare(v, json_int(a->max)) <= 0));
}

/* `debug.breakpoints[0]`: the path that the sentence of a shape begins with, behind the argument's name. */
static const char *field_inside(const char *name, const char *sentence) {
    static _Thread_local char field[128];
    size_t len = sentence[0] == '.' || sentence[0] == '[' ? strcspn(sentence, ": ") : 0;
    snprintf(field, sizeof field, "%s%.*s", name, len > 1 ? (int)len : 0, sentence);
    return field;
}

/* Shapes are short, and such arguments rare: it is compiled each time. */
static bool check_inside(const Operation *op, const OperationArg *a, Json v, Error *err) {
    Error why = ERROR_INIT;
    Shape *shape = shape_compile(a->shape, thing_shapes, NULL);
    bool ok = shape_check(shape, v, &why);
    shape_free(shape);
    if (!ok) {
        error_set(err, ERR_USAGE, "`%s` of `%s` takes %s; %s.", a->name, op->name, a->about,
                  why.msg);
        error_fact(err, "field", field_inside(a->name, why.msg));
    }
    return ok;
}

static bool check_given(const Operation *op, Json args, Error *err) {
    Json key, value;
    for (size_t pos = 0; json_object_next(args, &pos, &key, &value);) {
        const OperationArg *a = find_arg(op, key);
        if (!a) return refuse_name(op, json_string_data(&key), json_string_len(key), err);
        if (!fits(a, value)) return refuse_value(op, a, value, err);
        if (a->shape && json_kind(value) != JSON_NULL && !check_inside(op, a, value, err)) {
            return false;
        }
    }
    return true;
}

static bool check_needed(const Operation *op, Json args, Error *err) {
    size_t choices = 0, chosen = 0;
    for (const OperationArg *a = op->args; a && a->name; a++) {
        if (a->required && json_is_none(json_object_get_c(args, a->name))) {
            return refuse_missing(op, a, err);
        }
        choices += a->one_of;
        chosen += a->one_of && args_has(args, a->name);
    }
    return choices == 0 || chosen == 1 || refuse_count(op, chosen, err);
}

bool args_check(const Operation *operation, Json args, Error *err) {
    if (json_kind(args) != JSON_OBJECT) return refuse_args(operation, args, err);
    return check_given(operation, args, err) && check_needed(operation, args, err);
}

/* ---- reading ---- */

bool args_has(Json args, const char *name) {
    Json v = json_object_get_c(args, name);
    return !json_is_none(v) && json_kind(v) != JSON_FALSE;
}

int64_t args_int(Json args, const char *name, int64_t otherwise) {
    Json v = json_object_get_c(args, name);
    return is_int(v) ? to_int(v) : otherwise;
}

size_t args_size(Json args, const char *name, size_t otherwise) {
    int64_t n = args_int(args, name, -1);
    return n < 0 ? otherwise : (size_t)n;
}

double args_number(Json args, const char *name, double otherwise) {
    Json v = json_object_get_c(args, name);
    return json_kind(v) == JSON_NUMBER ? json_to_double(v) : otherwise;
}

bool args_bool(Json args, const char *name, bool otherwise) {
    Json v = json_object_get_c(args, name);
    return is_of_type(ARG_BOOL, v) ? json_truthy(v) : otherwise;
}

int args_word(Json args, const char *name, const char *const *words, int otherwise) {
    Json v = json_object_get_c(args, name);
    for (int i = 0; words[i]; i++) {
        if (json_string_is(v, words[i])) return i;
    }
    return otherwise;
}

bool args_time(Json args, const char *name, int64_t *out, Error *err) {
    Json given = json_object_get_c(args, name);
    if (json_is_none(given) || json_time_ms(given, out)) return true;
    error_set(err, ERR_USAGE, "`%s` is a time such as 2026-11-16T04:35:57.123Z, and not `%s`.",
              name, json_object_text(args, name));
    return error_fact(err, "field", name);
}

Json args_path(Json args, const char *operation, Error *err) {
    Json path = json_object_get_c(args, "path");
    if (json_is_none(path)) return json_array();
    Json steps = inspect_path(path, err);
    if (json_is_none(steps)) error_wrap(err, "`path` of `%s`", operation);
    return steps;
}

/* ---- frames ---- */

int64_t args_frame_id(Json args) {
    return args_int(args, "frame", 0);
}

bool args_all_frames(Json args) {
    return json_string_is(json_object_get_c(args, "frame"), "all");
}

Frame *args_frame(Session *session, Json args, Error *err) {
    return session_frame(session, args_frame_id(args), err);
}

Frame *args_paused(Session *session, Json args, Error *err) {
    return session_paused(session, args_frame_id(args), err);
}

const Node *args_node(const Frame *f, Error *err) {
    uint32_t depth = frame_depth(f);
    const Node *node = depth ? frame_node(f, depth - 1) : NULL;
    if (!node) {
        Buf doing = BUF_INIT;
        session_describe(f, &doing);
        error_set(err, ERR_WRONG_STATE, "Frame %" PRId64 " stands at no node: it %s.", frame_id(f),
                  doing.data ? doing.data : "has ended");
        buf_clear(&doing);
    }
    return node;
}
