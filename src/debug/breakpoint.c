/* breakpoint.c - one breakpoint: its fields, what they make of it, its hits.
 *
 * Fields are checked one by one against a table, then together: place, type, position. Expressions
 * are in breakpoint_query.c, what people type in breakpoint_parse.c.
 */
#include "breakpoint.h"

#include "bisect.h"
#include "inspect.h"
#include "json_build.h"
#include "json_path.h"
#include "mem.h"
#include "problems.h"
#include "suggest.h"
#include "title_match.h"
#include "utf8.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

const BreakTypeRow break_types[BREAK_TYPES] = {
#define PLACE(id, name, need) [BREAK_##id] = {name, need},
#define TYPE(id, name, need)  [BREAK_##id] = {name, need},
#define FIELD(...)
#define KEPT(...)
#define SHOWN(...)
#include "breakpoint_rows.h"
};

/* ---- fields ---- */

typedef enum FieldKind {
    FIELD_NAME,  /* a short text without NUL */
    FIELD_TEXT,  /* an expression or a message */
    FIELD_COUNT, /* an integer, at least 0 */
    FIELD_LINE,  /* at least 1 */
    FIELD_BOOL,
    FIELD_OBJECT,
    FIELD_ANY,
    FIELD_LISTED, /* only of listings: left out */
} FieldKind;

typedef struct Field {
    const char *name;
    FieldKind kind;
    BreakType place; /* that it is part of; BREAK_NO_PLACE: none */
    bool apart;      /* not in the spec: a member of the Breakpoint has it */
} Field;

static const Field fields[] = {
#define PLACE(...)
#define TYPE(...)
#define FIELD(name, kind, place, about) {name, FIELD_##kind, BREAK_##place, false},
#define KEPT(name, kind, about)         {name, FIELD_##kind, BREAK_NO_PLACE, true},
#define SHOWN(name, kind)               {name, FIELD_##kind, BREAK_NO_PLACE, true},
#include "breakpoint_rows.h"
};

enum { NFIELDS = sizeof fields / sizeof *fields };

static const Field *find_field(Json name) {
    for (size_t i = 0; i < NFIELDS; i++) {
        if (json_string_is(name, fields[i].name)) return &fields[i];
    }
    return NULL;
}

/* A text as it may stand in a sentence. */
static const char *shown_text(Json text) {
    return shown(json_string_data(&text), json_string_len(text));
}

static bool check_text(const Field *f, Json value, size_t max, Error *err) {
    if (json_kind(value) != JSON_STRING || json_string_len(value) == 0) {
        return error_set(err, ERR_USAGE, "`%s` must be a text that is not empty.", f->name);
    }
    if (json_string_len(value) > max) {
        return error_set(err, ERR_LIMIT, "`%s` is longer than %zu bytes, the limit for it.",
                         f->name, max);
    }
    if (f->kind == FIELD_NAME && memchr(json_string_data(&value), '\0', json_string_len(value))) {
        return error_set(err, ERR_USAGE, "`%s` must not have a NUL character in it.", f->name);
    }
    return true;
}

/* An integer, however it is written; JSON_NONE: it is none. */
static Json whole_number(Json j) {
    bool other = json_kind(j) == JSON_NUMBER && json_tag(j) != JSON_TAG_INT;
    Json n = other ? json_number(json_to_double(j)) : j;
    return json_tag(n) == JSON_TAG_INT ? n : json_none();
}

static bool check_number(const Field *f, Json value, int64_t least, int64_t most, Error *err) {
    Json n = whole_number(value);
    return (!json_is_none(n) && n.i >= least && n.i <= most) ||
           error_set(err, ERR_USAGE, "`%s` must be a whole number, %s.", f->name,
                     least ? "1 or more" : "0 or more");
}

static bool check_kind(const Field *f, Json value, Error *err) {
    switch (f->kind) {
    case FIELD_NAME: return check_text(f, value, BREAK_NAME_MAX, err);
    case FIELD_TEXT: return check_text(f, value, BREAK_TEXT_MAX, err);
    case FIELD_COUNT: return check_number(f, value, 0, INT64_MAX, err);
    case FIELD_LINE: return check_number(f, value, 1, INT_MAX, err);
    case FIELD_BOOL:
        return json_kind(value) == JSON_TRUE || json_kind(value) == JSON_FALSE ||
               error_set(err, ERR_USAGE, "`%s` must be true or false.", f->name);
    case FIELD_OBJECT:
        return json_kind(value) == JSON_OBJECT ||
               error_set(err, ERR_USAGE,
                         "`%s` must be an object: {path, equals} or {path, changed: true}.",
                         f->name);
    case FIELD_ANY:
        return json_size(value) <= BREAK_TEXT_MAX ||
               error_set(err, ERR_LIMIT, "`%s` is larger than %d KB.", f->name,
                         BREAK_TEXT_MAX >> 10);
    case FIELD_LISTED: break;
    }
    return true;
}

/* Every field by itself; the spec gets those that belong in it. */
static bool check_fields(Breakpoint *b, Json spec, Error *err) {
    Json key, value;
    if (json_kind(spec) != JSON_OBJECT) {
        return error_set(err, ERR_USAGE,
                         "A breakpoint is an object of fields, such as {\"node\": \"build\"}.");
    }
    b->spec = json_object_with(json_object(), "type", json_null());
    for (size_t pos = 0; json_object_next(spec, &pos, &key, &value);) {
        const Field *f = find_field(key);
        if (!f) {
            Suggestion s = suggestion_for(json_string_data(&key), json_string_len(key));
            for (size_t i = 0; i < NFIELDS; i++) suggestion_offer(&s, fields[i].name);
            error_set(err, ERR_USAGE, "A breakpoint has no field `%s`%s", shown_text(key),
                      did_you_mean_this(s.best));
            return error_fact(err, "field", shown_text(key));
        }
        if (json_kind(value) == JSON_NULL) continue;
        if (!check_kind(f, value, err)) return error_fact(err, "field", f->name);
        if (!f->apart) b->spec = json_object_set(b->spec, json_ref(key), json_ref(value));
    }
    return true;
}

static Json field_of(const Breakpoint *b, const char *name) {
    Json value = json_object_get_c(b->spec, name);
    return json_kind(value) == JSON_NULL ? json_none() : value;
}

static bool has_field(const Breakpoint *b, const char *name) {
    return !json_is_none(field_of(b, name));
}

/* ---- what it is ---- */

static int word_index(Json word, const char *const *words, int n) {
    for (int i = 0; i < n; i++) {
        if (json_string_is(word, words[i])) return i;
    }
    return -1;
}

static int find_type(Json word) {
    int i = BREAK_TYPES - 1;
    while (i >= 0 && !json_string_is(word, break_types[i].name)) i--;
    return i;
}

static bool fail_word(const char *field, Json word, const char *choices, Error *err) {
    return error_set(err, ERR_USAGE, "`%s` cannot be `%s`; it is %s.", field, shown_text(word),
                     choices);
}

/* The one place that the fields say. */
static bool set_place(Breakpoint *b, Error *err) {
    const char *said = NULL;
    b->place = BREAK_NO_PLACE;
    for (size_t i = 0; i < NFIELDS; i++) {
        const Field *f = &fields[i];
        if (f->place == BREAK_NO_PLACE || !has_field(b, f->name)) continue;
        if (b->place != BREAK_NO_PLACE && b->place != f->place) {
            return error_set(err, ERR_USAGE, "`%s` and `%s` are two places; a breakpoint has one.",
                             said, f->name);
        }
        b->place = f->place;
        said = f->name;
    }
    Json node = json_object_get_c(b->spec, "node");
    b->has_path = b->place == BREAK_NODE && json_kind(node) == JSON_STRING &&
                  memchr(json_string_data(&node), '/', json_string_len(node));
    if (b->place == BREAK_SOURCE && !(has_field(b, "file") && has_field(b, "line"))) {
        return error_set(err, ERR_USAGE, "`file` and `line` go together: `%s` is missing.",
                         has_field(b, "file") ? "line" : "file");
    }
    return true;
}

static bool is_exception(const Breakpoint *b) {
    return has_field(b, "error") || has_field(b, "caught");
}

/* As given, or as the other fields say. */
static bool read_type(Breakpoint *b, Error *err) {
    Json given = field_of(b, "type");
    if (json_is_none(given)) {
        b->type = has_field(b, "state")        ? BREAK_STATE
                  : is_exception(b)            ? BREAK_EXCEPTION
                  : b->place != BREAK_NO_PLACE ? b->place
                  : has_field(b, "condition")  ? BREAK_CONDITIONAL
                                               : BREAK_TYPES;
        return b->type != BREAK_TYPES ||
               error_set(
                   err, ERR_USAGE,
                   "A breakpoint needs a place (`node`, `task_index`, `task_id`, "
                   "`task_name`, `task_title`, or `file` and `line`), a `condition`, a `state`, or type "
                   "\"exception\".");
    }
    int type = find_type(given);
    b->type = (BreakType)type;
    return type >= 0 || fail_word("type", given,
                                  "node, task_index, task_id, task_name, task_title, source, "
                                  "conditional, state or exception",
                                  err);
}

static bool check_needs(const Breakpoint *b, Error *err) {
    const char *name = break_types[b->type].name, *need = break_types[b->type].need;
    if (b->type < BREAK_PLACES && b->place != BREAK_NO_PLACE && b->place != b->type) {
        return error_set(err, ERR_USAGE, "Type \"%s\" goes with `%s`, but the place is a %s.", name,
                         need, break_types[b->place].name);
    }
    if (need && !has_field(b, need)) {
        return error_set(err, ERR_USAGE, "Type \"%s\" needs `%s`.", name, need);
    }
    if (has_field(b, "state") && b->type != BREAK_STATE) {
        return error_set(err, ERR_USAGE, "`state` goes with type \"state\", not with \"%s\".",
                         name);
    }
    if (is_exception(b) && b->type != BREAK_EXCEPTION) {
        return error_set(err, ERR_USAGE, "`%s` goes with type \"exception\", not with \"%s\".",
                         has_field(b, "error") ? "error" : "caught", name);
    }
    return true;
}

static bool set_position(Breakpoint *b, Error *err) {
    Json given = field_of(b, "position");
    const char *const *words = hook_positions;
    bool error = b->type == BREAK_EXCEPTION, state = b->type == BREAK_STATE;
    HookPosition fixed = error ? HOOK_ON_ERROR : state ? HOOK_AFTER : HOOK_BEFORE;
    int position = json_is_none(given) ? (int)fixed : word_index(given, words, HOOK_DURING);
    if (position < 0) return fail_word("position", given, "before, after or on_error", err);
    if ((error || state) && position != (int)fixed) {
        return error_set(err, ERR_USAGE, "Type \"%s\" is always %s; `position` cannot be %s.",
                         break_types[b->type].name, words[fixed], words[position]);
    }
    b->position = (HookPosition)position;
    return true;
}

/* ---- hit_condition ---- */

enum { HIT_DIGITS_MAX = 19 }; /* fewer fit into 64 bits */

typedef struct HitOperator {
    const char *text;
    char op;
    int add; /* to the number */
} HitOperator;

/* Longest first, so that the first that fits is the right one. */
static const HitOperator hit_operators[] = {
    {"==", '=', 0}, {">=", '>', 0}, {"<=", '<', 0}, {"=", '=', 0},
    {">", '>', 1},  {"<", '<', -1}, {"%", '%', 0},
};

static bool set_hit_condition(Breakpoint *b, Error *err) {
    static const char blanks[] = " \t\n\r";
    Json given = field_of(b, "hit_condition");
    if (json_is_none(given)) return true;
    const char *s = json_string_data(&given) + strspn(json_string_data(&given), blanks);
    size_t i = 0, n = sizeof hit_operators / sizeof *hit_operators;
    while (i < n && strncmp(s, hit_operators[i].text, strlen(hit_operators[i].text)) != 0) i++;
    if (i < n) {
        s += strlen(hit_operators[i].text);
        s += strspn(s, blanks);
        size_t digits = strspn(s, "0123456789"), end = digits + strspn(s + digits, blanks);
        bool number = digits && digits < HIT_DIGITS_MAX && !s[end];
        b->hit_op = hit_operators[i].op;
        b->hit_number = number ? strtoll(s, NULL, 10) + hit_operators[i].add : 0;
        if (number && (b->hit_op != '%' || b->hit_number)) return true;
    }
    return error_set(err, ERR_USAGE,
                     "`hit_condition` compares the number of hits: `== 5`, `>= 5`, `%% 3` (also "
                     ">, <=, <, with a whole number); `%s` does not.",
                     shown_text(given));
}

static bool hits_hold(const Breakpoint *b) {
    switch (b->hit_op) {
    case '=': return b->hits == b->hit_number;
    case '>': return b->hits >= b->hit_number;
    case '<': return b->hits <= b->hit_number;
    case '%': return b->hits % b->hit_number == 0;
    default: return true;
    }
}

/* ---- its state ---- */

static bool set_path(Breakpoint *b, Json path, Error *err) {
    bool text = json_kind(path) == JSON_STRING;
    if (!text && json_kind(path) != JSON_ARRAY) {
        return error_set(
            err, ERR_USAGE,
            "`state` needs a `path`: a jq path such as \".a.b\", or an array of steps.");
    }
    if ((text ? json_string_len(path) : json_size(path)) > BREAK_TEXT_MAX) {
        return error_set(err, ERR_LIMIT, "The `path` of `state` is longer than %d KB.",
                         BREAK_TEXT_MAX >> 10);
    }
    b->state_path = inspect_path(path, err);
    if (json_is_none(b->state_path)) error_wrap(err, "`state.path`");
    return !json_is_none(b->state_path);
}

static bool set_state(Breakpoint *b, Error *err) {
    static const char *const words[] = {"path", "equals", "changed"};
    Json state = field_of(b, "state"), key, value;
    if (json_is_none(state)) return true;
    for (size_t pos = 0; json_object_next(state, &pos, &key, &value);) {
        if (word_index(key, words, 3) < 0) {
            return error_set(err, ERR_USAGE,
                             "`state` has no field `%s`; it is {path, equals} or {path, changed: "
                             "true}.",
                             shown_text(key));
        }
    }
    Json equals = json_object_get_c(state, "equals"), changed = json_object_get_c(state, "changed");
    if (!set_path(b, json_object_get_c(state, "path"), err)) return false;
    if (json_is_none(equals) == json_is_none(changed)) {
        return error_set(
            err, ERR_USAGE,
            "`state` asks one thing: what the value `equals`, or whether it `changed`.");
    }
    if (json_is_none(equals) && json_kind(changed) != JSON_TRUE) {
        return error_set(err, ERR_USAGE, "`changed` of `state` can only be true.");
    }
    if (!json_is_none(equals) && json_size(equals) > BREAK_TEXT_MAX) {
        return error_set(err, ERR_LIMIT, "The value that `state` compares with is over %d KB.",
                         BREAK_TEXT_MAX >> 10);
    }
    b->state_equals = json_ref(equals);
    return true;
}

/* One step of a path: what is there, given; JSON_NONE when nothing is. */
static Json step_into(Json value, Json step) {
    bool there = true;
    if (json_kind(step) != JSON_OBJECT && (!json_has(value, step, &there, NULL) || !there)) {
        bool from_end = json_kind(value) == JSON_ARRAY && json_kind(step) == JSON_NUMBER &&
                        json_to_double(step) < 0 &&
                        -json_to_double(step) <= (double)json_array_len(value);
        if (!from_end) return json_none();
    }
    return json_index(value, step, NULL);
}

Json breakpoint_value(const Breakpoint *b, Json state) {
    Json value = json_ref(state);
    size_t n = json_is_none(b->state_path) ? 0 : json_array_len(b->state_path);
    for (size_t i = 0; i < n && !json_is_none(value); i++) {
        Json next = step_into(value, json_array_get(b->state_path, i));
        json_put(&value, next);
    }
    return value;
}

/* Values that hold the same parts many times can take forever to compare: then they differ. */
static bool is_same(Json a, Json b) {
    uint64_t work = 10000000;
    bool same = false;
    if (json_is_none(a) || json_is_none(b)) return json_is_none(a) && json_is_none(b);
    return json_identical(a, b) || (json_equal_working(a, b, JSON_DEPTH_MAX, &work, &same) && same);
}

bool breakpoint_changed(const Breakpoint *b, Json seen, Json now) {
    if (json_is_none(b->state_equals)) return !is_same(seen, now);
    return is_same(now, b->state_equals) && !is_same(seen, b->state_equals);
}

/* ---- its expressions ---- */

typedef Query *QueryMaker(const char *text, size_t len, const Flow *flow, Error *err);

static bool set_query(Breakpoint *b, const char *field, QueryMaker *make, Query **out,
                      const Flow *flow, Error *err) {
    Json text = field_of(b, field);
    if (json_is_none(text)) return true;
    *out = make(json_string_data(&text), json_string_len(text), flow, err);
    if (!*out && err && err->line > 0) {
        error_wrap(err, "`%s`, line %d, column %d", field, err->line, err->col);
    } else if (!*out) {
        error_wrap(err, "`%s`", field);
    }
    return *out != NULL;
}

/* It is asked again when the run is taken back, and has to say the same. */
static bool check_pure(const Query *q, const char *field, Error *err) {
    unsigned effects = q ? query_effects(q) : 0;
    if (effects & JQ_USES_CLOCK) {
        return error_set(err, ERR_USAGE,
                         "`%s` must not ask for the time (now, localtime, strflocaltime).", field);
    }
    if (effects & JQ_USES_ENV) {
        return error_set(err, ERR_USAGE, "`%s` has no environment: leave out $ENV and env.", field);
    }
    return true;
}

bool breakpoint_fits(Breakpoint *b, const Node *node, Error *err) {
    Query *const queries[] = {b->condition, b->error, b->log};
    static const char *const names[] = {"condition", "error", "log_message"};
    for (size_t i = 0; i < 3; i++) {
        const Error *why = query_unfit(queries[i], node);
        if (why) {
            return error_set(err, ERR_USAGE, "`%s` cannot be asked at `%s`: %s", names[i],
                             node->name, why->msg);
        }
    }
    return true;
}

/* ---- life ---- */

static bool flag_of(Json spec, const char *name, bool fallback) {
    Json value = json_object_get_c(spec, name);
    return json_is_none(value) || json_kind(value) == JSON_NULL ? fallback : json_truthy(value);
}

static int64_t count_of(Json spec, const char *name) {
    Json n = whole_number(json_object_get_c(spec, name));
    return json_is_none(n) ? 0 : n.i;
}

static bool fill(Breakpoint *b, Json spec, const Flow *flow, Error *err) {
    if (!check_fields(b, spec, err) || !set_place(b, err) || !read_type(b, err) ||
        !check_needs(b, err) || !set_position(b, err)) {
        return false;
    }
    b->spec = OBJECT_ADD(b->spec, KEY("type", break_types[b->type].name));
    b->enabled = flag_of(spec, "enabled", true);
    b->once = flag_of(spec, "once", false);
    b->caught = flag_of(spec, "caught", false);
    b->hits = count_of(spec, "hit_count");
    b->ignore = count_of(spec, "ignore_count");
    b->ignore_from = count_of(spec, "ignore_from");
    return set_hit_condition(b, err) && set_state(b, err) &&
           set_query(b, "condition", query_new, &b->condition, flow, err) &&
           check_pure(b->condition, "condition", err) &&
           set_query(b, "error", query_new, &b->error, flow, err) &&
           check_pure(b->error, "error", err) &&
           set_query(b, "log_message", query_new_message, &b->log, flow, err);
}

Breakpoint *breakpoint_new(int64_t id, Json spec, const Flow *flow, Error *err) {
    Breakpoint *b = mem_zalloc(sizeof *b);
    b->id = id;
    if (fill(b, spec, flow, err)) return b;
    breakpoint_free(b);
    return NULL;
}

void breakpoint_free(Breakpoint *b) {
    if (!b) return;
    query_free(b->condition);
    query_free(b->error);
    query_free(b->log);
    json_unref(b->spec);
    json_unref(b->state_path);
    json_unref(b->state_equals);
    json_unref(b->message);
    mem_free(b->at);
    mem_free(b);
}

/* ---- changing and showing ---- */

static Json take_away(Json spec, const char *name) {
    Json key = json_string_c(name);
    spec = json_object_remove(spec, key);
    json_unref(key);
    return spec;
}

void breakpoint_take_title(Breakpoint *b) {
    Json title = json_ref(json_object_get_c(b->spec, "node"));
    b->spec = json_object_with(take_away(b->spec, "node"), "task_title", title);
    b->place = BREAK_TASK_TITLE;
    b->type = b->type == BREAK_NODE ? BREAK_TASK_TITLE : b->type;
    b->spec = OBJECT_ADD(b->spec, KEY("type", break_types[b->type].name));
    b->has_path = false;
}

/* The type is what the fields say again when the one that said it has gone. A new place stands for the one
 * before. */
static Json merge_field(Json spec, Json key, Json value) {
    const Field *f = find_field(key);
    Json type = json_object_get_c(spec, "type");
    int known = find_type(type);
    bool gone = json_kind(value) == JSON_NULL;
    if (f && ((f->place != BREAK_NO_PLACE && known >= 0 && known < BREAK_PLACES) ||
              (gone && !strcmp(f->name, "state") && json_string_is(type, "state")) ||
              (gone && !strcmp(f->name, "condition") && json_string_is(type, "conditional")))) {
        spec = take_away(spec, "type");
    }
    for (size_t i = 0; f && f->place != BREAK_NO_PLACE && !gone && i < NFIELDS; i++) {
        if (fields[i].place != BREAK_NO_PLACE && fields[i].place != f->place) {
            spec = take_away(spec, fields[i].name);
        }
    }
    return gone ? json_object_remove(spec, key)
                : json_object_set(spec, json_ref(key), json_ref(value));
}

Json breakpoint_merge(Json spec, Json changes) {
    Json out = json_kind(spec) == JSON_OBJECT ? json_ref(spec) : json_object();
    Json key, value, type;
    if (json_kind(changes) != JSON_OBJECT) return out;
    for (size_t pos = 0; json_object_next(changes, &pos, &key, &value);) {
        out = merge_field(out, key, value);
    }
    /* hits are passed over from now on; those that are counted anew, anew. A listing that is given back
     * says the same of them as before */
    Json given = json_object_get_c(changes, "hit_count"),
         hits = json_object_get_c(out, "hit_count");
    bool anew = json_is_none(given) ? !json_is_none(json_object_get_c(changes, "ignore_count"))
                                    : !json_equal(given, json_object_get_c(spec, "hit_count"));
    if (anew && json_is_none(json_object_get_c(changes, "ignore_from"))) {
        out = json_is_none(hits) ? take_away(out, "ignore_from")
                                 : json_object_with(out, "ignore_from", json_ref(hits));
    }
    type = json_object_get_c(changes, "type");
    return json_kind(type) == JSON_STRING ? json_object_with(out, "type", json_ref(type)) : out;
}

Json breakpoint_stored(const Breakpoint *b) {
    return OBJECT_ADD(json_ref(b->spec),
                      KEY("enabled", b->enabled ? json_none() : json_bool(false)),
                      KEY("hit_count", b->hits ? json_int(b->hits) : json_none()),
                      KEY("ignore_from", b->ignore_from ? json_int(b->ignore_from) : json_none()));
}

Json breakpoint_json(const Breakpoint *b) {
    Json out = json_object_merge(OBJECT(KEY("id", b->id)), b->spec);
    return OBJECT_ADD(out, KEY("position", hook_positions[b->position]), KEY("enabled", b->enabled),
                      KEY("hit_count", b->hits),
                      KEY("ignore_from", b->ignore_from ? json_int(b->ignore_from) : json_none()),
                      KEY("verified", b->verified), KEY("message", json_ref(b->message)));
}

/* ---- hits ---- */

/* It has a place, and that is there. */
static bool is_at(const Breakpoint *b, const Node *node) {
    BISECT(found, b->places, i, b->at[i]->id < node->id);
    return found < b->places && b->at[found] == node;
}

/* A failure is said in the message, once while it is the same: a condition can fail at every step. */
static bool holds(Breakpoint *b, Query *q, const char *what, const HookPlace *place, Json input,
                  const Json *vars) {
    Error why;
    error_clear(&why);
    Json out = query_eval_at(q, place->node, input, vars, &why);
    bool result = json_truthy(out);
    json_unref(out);
    if (why.code != ERR_NONE) {
        char text[ERROR_MSG_MAX + 200];
        snprintf(text, sizeof text, "The %s failed at `%.100s`: %s", what, place->node->name,
                 why.msg);
        if (json_is_none(b->message) || !json_string_is(b->message, text)) {
            json_put(&b->message, json_string_c(text));
        }
    }
    return result;
}

bool breakpoint_hit(Breakpoint *b, const HookPlace *place, Json state, const Json *vars,
                    bool *pauses) {
    bool meant = b->type == BREAK_STATE
                     ? b->place == BREAK_NO_PLACE || is_at(b, place->node)
                     : place->position == b->position &&
                           (b->type != BREAK_EXCEPTION || b->caught || !place->caught);
    *pauses = false;
    if (meant && b->place == BREAK_TASK_TITLE) {
        meant = title_is(place->node, json_object_get_c(b->spec, "task_title"), state);
    }
    if (!b->enabled || !meant ||
        (b->error && !holds(b, b->error, "expression over the error", place, place->error, vars)) ||
        (b->condition && !holds(b, b->condition, "condition", place, state, vars))) {
        return false;
    }
    b->hits++;
    *pauses = b->hits - b->ignore_from > b->ignore && hits_hold(b);
    return true;
}

Json breakpoint_text(Breakpoint *b, const HookPlace *place, Json state, const Json *vars) {
    Error why;
    error_clear(&why);
    assert(b->log);
    Json out = query_eval_at(b->log, place->node, state, vars, &why);
    bool text = json_kind(out) == JSON_STRING;
    if (text && json_string_len(out) <= BREAK_LOG_MAX) return out;
    const char *data = text ? json_string_data(&out) : NULL;
    Json cut = text ? json_string_valid(data, utf8_valid_prefix(data, BREAK_LOG_MAX)) : json_none();
    json_unref(out);
    if (text) return json_string_append(cut, "...", 3);
    if (why.code == ERR_NONE && !breakpoint_fits(b, place->node, &why)) {
        return json_string_fmt("(%s)", why.msg);
    }
    return json_string_fmt("(The message failed: %s)",
                           why.code == ERR_NONE ? "it has no text." : why.msg);
}
