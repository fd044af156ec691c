/* Natives on any value: kinds, sizes, keys, conversion to and from text, paths and streams. */
#include "native.h"

#include "json_breath.h"
#include "json_parse.h"
#include "json_path.h"
#include "json_print.h"
#include "mem.h"
#include "utf8.h"

#include <math.h>

/* ---- size and kind ---- */

static Json value_length(JqRun *run, Json *args) {
    Json v = args[0];
    switch (json_kind(v)) {
    case JSON_NULL: return json_int(0);
    case JSON_NUMBER: return json_number_abs(v);
    case JSON_ARRAY: return json_int((int64_t)json_array_len(v));
    case JSON_OBJECT: return json_int((int64_t)json_object_len(v));
    case JSON_STRING:
        if (!jq_charge(run, json_string_len(v) / 256)) return json_none();
        return json_int((int64_t)native_length(json_string_data(&args[0]), json_string_len(v)));
    default: return native_fail_type(run, v, "has no length");
    }
}

NATIVE(value_utf8bytelength,
       json_kind(args[0]) == JSON_STRING
           ? json_int((int64_t)json_string_len(args[0]))
           : native_fail_type(run, args[0], "only strings have UTF-8 byte length"))
NATIVE(value_type, json_string_c(json_kind_name(json_kind(args[0]))))

static Json value_toarray(JqRun *run, Json *args) {
    (void)run;
    Json v = json_take(&args[0]);
    return json_tag(v) == JSON_TAG_ARRAY ? v : json_array_push(json_array(), v);
}

/* ---- keys ---- */

static Json keys_of(JqRun *run, Json v, bool sorted) {
    if (json_tag(v) != JSON_TAG_ARRAY && json_tag(v) != JSON_TAG_OBJECT) {
        return native_fail_type(run, v, "has no keys");
    }
    size_t n = json_tag(v) == JSON_TAG_ARRAY ? json_array_len(v) : json_object_len(v);
    if (!native_afford(run, (uint64_t)n * 32)) return json_none();
    if (json_tag(v) == JSON_TAG_OBJECT) return json_object_keys(v, sorted);
    Json keys = json_array();
    for (size_t i = 0; i < n; i++) {
        keys = json_array_push(keys, json_int((int64_t)i));
        json_breathe();
    }
    return keys;
}

NATIVE(value_keys, keys_of(run, args[0], true))
NATIVE(value_keys_unsorted, keys_of(run, args[0], false))

static Json value_has(JqRun *run, Json *args) {
    Error err = ERROR_INIT;
    bool has = false;
    return json_has(args[0], args[1], &has, &err) ? json_bool(has) : jq_fail_error(run, &err);
}

static Json value_to_entries(JqRun *run, Json *args) {
    Json v = args[0], key, value;
    if (json_tag(v) != JSON_TAG_ARRAY && json_tag(v) != JSON_TAG_OBJECT) {
        return native_fail_type(run, v, "has no keys");
    }
    size_t n = json_tag(v) == JSON_TAG_ARRAY ? json_array_len(v) : json_object_len(v);
    if (!native_afford(run, (uint64_t)n * 128)) return json_none();
    Json entries = json_array();
    Walk w = {.of = v};
    while (native_walk_next(&w, &key, &value)) {
        Json pairs[] = {json_string_c("key"), json_ref(key), json_string_c("value"),
                        json_ref(value)};
        entries = json_array_push(entries, json_object_from(pairs, 2));
        json_breathe();
    }
    return entries;
}

/* Sets *key and *value, borrowed. False after jq_fail(). */
static bool read_entry(JqRun *run, Json entry, Json *key, Json *value) {
    char text[JSON_DESCRIBE_MAX];
    if (json_tag(entry) != JSON_TAG_OBJECT && json_tag(entry) != JSON_TAG_NULL) {
        Error err = ERROR_INIT;
        json_unref(json_index(entry, json_string_c("key"), &err));
        jq_fail_error(run, &err);
        return false;
    }
    /* The names that from_entries knows, best first; null when the entry has none. */
    static const char *const names[] = {"key", "Key", "name", "Name"};
    *key = json_null();
    for (size_t i = 0; i < 4 && json_tag(entry) == JSON_TAG_OBJECT && !json_truthy(*key); i++) {
        Json found = json_object_get_c(entry, names[i]);
        *key = json_is_none(found) ? json_null() : found;
    }
    if (json_kind(*key) != JSON_STRING) {
        jq_fail(run, "Cannot use %s as object key", json_describe(*key, text));
        return false;
    }
    *value = json_object_get_c(entry, "value");
    *value = json_is_none(*value) ? json_object_get_c(entry, "Value") : *value;
    *value = json_is_none(*value) ? json_null() : *value;
    return true;
}

static Json value_from_entries(JqRun *run, Json *args) {
    Json at, entry, key, value;
    Walk w;
    if (!native_walk(run, args[0], &w)) return json_none();
    Json object = json_object();
    while (native_walk_next(&w, &at, &entry)) {
        if (!jq_charge(run, 1) || !read_entry(run, entry, &key, &value)) {
            json_unref(object);
            return json_none();
        }
        object = json_object_set(object, json_ref(key), json_ref(value));
    }
    return object;
}

/* ---- contains ---- */

/* A pair under comparison: every member of b must be contained in a. For arrays `ia` is the member
 * of a that is being tried for member `ib` of b; for objects `ib` is the place in b. */
typedef struct Pair {
    Json a, b; /* borrowed */
    size_t ia, ib;
} Pair;

typedef struct Pairs {
    Pair *at;
    size_t depth, cap;
} Pairs;

/* What the search does next. */
typedef enum Containing { CONTAINS_NO, CONTAINS_YES, CONTAINS_DEEPER } Containing;

static bool text_contains(JqRun *run, const Json *a, const Json *b) {
    Text s = native_text(a), part = native_text(b);
    if (s.len >= 64 && !jq_charge(run, s.len / 64)) {
        return false; /* which is noticed at the next charge */
    }
    return part.len == 0 || native_find(s.data, s.data + s.len, part);
}

/* Answers for scalars; says DEEPER for two containers of one kind. */
static Containing contains_scalar(JqRun *run, const Json *a, const Json *b) {
    JsonKind kind = json_kind(*a);
    if (kind != json_kind(*b)) return CONTAINS_NO;
    if (kind == JSON_ARRAY || kind == JSON_OBJECT) return CONTAINS_DEEPER;
    return kind == JSON_STRING ? (Containing)text_contains(run, a, b)
                               : (Containing)json_equal(*a, *b);
}

/* Finds the next two values to compare. DEEPER when there are some; otherwise p is decided. */
static Containing pair_next(Pair *p, Json *a, Json *b) {
    if (json_tag(p->b) == JSON_TAG_OBJECT) {
        Json key;
        if (!json_object_next(p->b, &p->ib, &key, b)) return CONTAINS_YES;
        *a = json_object_get(p->a, key);
        return json_is_none(*a) ? CONTAINS_NO : CONTAINS_DEEPER;
    }
    if (p->ib >= json_array_len(p->b)) return CONTAINS_YES;
    *a = json_array_get(p->a, p->ia);
    *b = json_array_get(p->b, p->ib);
    return json_is_none(*a) ? CONTAINS_NO : CONTAINS_DEEPER;
}

/* Hands the answer for the two values that pair_next() gave down the stack until somebody has more to
 * compare. A NO decides for an object; an array tries its next member. */
static Containing unwind(Pairs *s, Containing answer) {
    for (; s->depth; s->depth--) {
        Pair *p = &s->at[s->depth - 1];
        bool object = json_tag(p->b) == JSON_TAG_OBJECT;
        if (!object) {
            p->ia = answer == CONTAINS_YES ? 0 : p->ia + 1;
            p->ib += answer == CONTAINS_YES;
        }
        if (!object || answer != CONTAINS_NO) return CONTAINS_DEEPER;
    }
    return answer;
}

static void pair_push(Pairs *s, Json a, Json b) {
    s->at = mem_grow(s->at, s->depth, &s->cap, sizeof(*s->at));
    s->at[s->depth++] = (Pair){.a = a, .b = b};
}

static Json contains_deep(JqRun *run, Json a, Json b) {
    Pairs s = {0};
    Json result = json_none();
    Containing state = CONTAINS_DEEPER;
    pair_push(&s, a, b);
    while (state == CONTAINS_DEEPER) {
        if (s.depth > JSON_DEPTH_MAX + 1) {
            jq_fail(run, "Containment check too deep");
            goto out;
        }
        if (!jq_charge(run, 1)) goto out;
        state = pair_next(&s.at[s.depth - 1], &a, &b);
        if (state != CONTAINS_DEEPER) {
            s.depth--;
            state = unwind(&s, state);
            continue;
        }
        state = contains_scalar(run, &a, &b);
        if (state == CONTAINS_DEEPER) {
            pair_push(&s, a, b);
        } else {
            state = unwind(&s, state);
        }
    }
    result = jq_charge(run, 0) ? json_bool(state == CONTAINS_YES) : json_none();
out:
    mem_free(s.at);
    return result;
}

static Json value_contains(JqRun *run, Json *args) {
    if (json_kind(args[0]) != json_kind(args[1])) {
        return native_fail_types(run, args[0], args[1], "cannot have their containment checked");
    }
    Containing state = contains_scalar(run, &args[0], &args[1]);
    if (state == CONTAINS_DEEPER) return contains_deep(run, args[0], args[1]);
    return jq_charge(run, 0) ? json_bool(state == CONTAINS_YES) : json_none();
}

/* ---- text ---- */

static Json printed(JqRun *run, const Buf *out, bool whole) {
    if (!whole) {
        /* Ends the run for want of room, or fails when there is no limit but the one of strings. */
        return jq_room(run, native_text_max(run)) ? jq_fail(run, "String result too long")
                                                  : json_none();
    }
    return native_afford(run, out->len) ? json_string_valid(out->data, out->len) : json_none();
}

/* A large value is printed in parts. */
enum { PRINT_LARGE = 1 << 18, PRINT_PART = 1 << 16 };

static Json print_in_parts(JqRun *run, Json a) {
    JsonPrintOptions options = {.max_bytes = native_text_max(run)};
    Buf out = BUF_INIT;
    JsonPrinting *printing = json_printing_new(a, &options, &out);
    bool paid = true;
    while (paid && !json_printing_more(printing, PRINT_PART)) {
        paid = jq_charge(run, PRINT_PART / 64);
        json_breathe();
    }
    bool whole = json_printing_free(printing);
    Json result = paid ? printed(run, &out, whole) : json_none();
    buf_clear(&out);
    return result;
}

Json jq_to_json(JqRun *run, Json a) {
    Buf out = BUF_INIT;
    Json result = json_none();
    uint64_t size = json_on_heap(a) ? json_size(a) : 0;
    if (size > PRINT_LARGE) {
        result = print_in_parts(run, a);
    } else if (!size || jq_charge(run, size / 64)) {
        bool whole = json_print(a, &(JsonPrintOptions){.max_bytes = native_text_max(run)}, &out);
        result = printed(run, &out, whole);
    }
    buf_clear(&out);
    json_unref(a);
    return result;
}

Json jq_to_string(JqRun *run, Json a) {
    return json_kind(a) == JSON_STRING ? a : jq_to_json(run, a);
}

NATIVE(value_tojson, jq_to_json(run, json_take(&args[0])))
NATIVE(value_tostring, jq_to_string(run, json_take(&args[0])))

static Json value_fromjson(JqRun *run, Json *args) {
    if (json_kind(args[0]) != JSON_STRING) {
        return native_fail_type(run, args[0], "only strings can be parsed");
    }
    Error err = ERROR_INIT;
    Text text = native_text(&args[0]);
    JsonParseOptions options = {.max_bytes = native_text_max(run)};
    if (!jq_charge(run, text.len / 32)) return json_none();
    Json value = json_parse(text.data, text.len, &options, &err);
    if (json_is_none(value) && native_afford(run, text.len)) {
        Buf message = BUF_INIT;
        buf_printf(&message, "%s (while parsing '", err.msg);
        buf_add(&message, text.data, text.len);
        buf_adds(&message, "')");
        jq_fail_value(run, json_string(message.data, message.len));
        buf_clear(&message);
    }
    return value;
}

static Json value_tonumber(JqRun *run, Json *args) {
    if (json_kind(args[0]) == JSON_NUMBER) return json_take(&args[0]);
    Json number = json_none();
    if (json_kind(args[0]) == JSON_STRING) {
        Text text = native_text(&args[0]);
        number = json_number_parse(text.data, text.len);
    }
    return json_is_none(number) ? native_fail_type(run, args[0], "cannot be parsed as a number")
                                : number;
}

static Json value_toboolean(JqRun *run, Json *args) {
    Json v = args[0];
    if (json_tag(v) == JSON_TAG_TRUE || json_string_is(v, "true")) return json_bool(true);
    if (json_tag(v) == JSON_TAG_FALSE || json_string_is(v, "false")) return json_bool(false);
    return native_fail_type(run, v, "cannot be parsed as a boolean");
}

/* ---- numbers ---- */

/* jq's `if . < 0 then - . else . end`: what sorts below numbers cannot be negated. */
static Json value_abs(JqRun *run, Json *args) {
    if (json_kind(args[0]) == JSON_NUMBER) return json_number_abs(args[0]);
    return json_kind(args[0]) < JSON_NUMBER ? native_fail_type(run, args[0], "cannot be negated")
                                            : json_take(&args[0]);
}

NATIVE(value_infinite, json_double(INFINITY))
NATIVE(value_nan, json_double(NAN))

/* 0 for what is not a number, which is neither infinite nor NaN nor normal, nor finite. */
static double number_or_zero(Json v) {
    return json_kind(v) == JSON_NUMBER ? json_to_double(v) : 0;
}

NATIVE(value_isinfinite, json_bool(isinf(number_or_zero(args[0]))))
NATIVE(value_isfinite,
       json_bool(json_kind(args[0]) == JSON_NUMBER && isfinite(json_to_double(args[0]))))
NATIVE(value_isnan, json_bool(isnan(number_or_zero(args[0]))))
NATIVE(value_isnormal, json_bool(isnormal(number_or_zero(args[0]))))

/* ---- paths ---- */

static Json checked(JqRun *run, Json result, const Error *err) {
    return json_is_none(result) ? jq_fail_error(run, err) : result;
}

static Json value_setpath(JqRun *run, Json *args) {
    Error err = ERROR_INIT;
    uint64_t steps = json_tag(args[1]) == JSON_TAG_ARRAY ? json_array_len(args[1]) : 0;
    if (!jq_charge(run, steps)) return json_none();
    return checked(run, json_path_set(json_take(&args[0]), args[1], json_take(&args[2]), &err),
                   &err);
}

static Json value_delpaths(JqRun *run, Json *args) {
    Error err = ERROR_INIT;
    uint64_t paths = json_tag(args[1]) == JSON_TAG_ARRAY ? json_array_len(args[1]) : 0;
    if (!jq_charge(run, paths * 4)) return json_none();
    return checked(run, json_path_delete(json_take(&args[0]), args[1], &err), &err);
}

/* ---- streams ---- */

/* A container whose members are being told: `path` leads to it, `key` was the last member. */
typedef struct Telling {
    Walk walk;
    Json path, key; /* key is borrowed from the container */
} Telling;

typedef struct Stream {
    JqRun *run;
    Json events;
    Telling *open;
    size_t depth, cap;
} Stream;

static void tell(Stream *s, Json path, Json leaf) {
    Json event = json_array_push(json_array(), path);
    event = json_is_none(leaf) ? event : json_array_push(event, json_ref(leaf));
    s->events = json_array_push(s->events, event);
}

/* Consumes path. */
static void tell_value(Stream *s, Json path, Json v) {
    bool leaf = json_tag(v) == JSON_TAG_ARRAY
                    ? json_array_len(v) == 0
                    : json_tag(v) != JSON_TAG_OBJECT || json_object_len(v) == 0;
    if (leaf) {
        tell(s, path, v);
        return;
    }
    s->open = mem_grow(s->open, s->depth, &s->cap, sizeof(*s->open));
    s->open[s->depth++] = (Telling){.walk = {.of = v}, .path = path};
}

static Json value_tostream(JqRun *run, Json *args) {
    Stream s = {.run = run, .events = json_array()};
    tell_value(&s, json_array(), args[0]);
    for (uint64_t n = 0; s.depth; n++) {
        if (!jq_charge(run, 2 + s.depth / 32) || (n % 64 == 0 && !jq_room(run, 64 * 128))) {
            while (s.depth) json_unref(s.open[--s.depth].path);
            json_clear(&s.events);
            break;
        }
        Telling *top = &s.open[s.depth - 1];
        Json value;
        if (native_walk_next(&top->walk, &top->key, &value)) {
            tell_value(&s, json_array_push(json_ref(top->path), json_ref(top->key)), value);
        } else {
            s.depth--;
            tell(&s, json_array_push(top->path, json_ref(top->key)), json_none());
        }
    }
    mem_free(s.open);
    return s.events;
}

/* ---- surroundings ---- */

NATIVE(value_true, json_bool(true))
NATIVE(value_now, native_number(jq_run_now(run)))
NATIVE(value_builtins, jq_builtins())

static Json logged(JqRun *run, Json *args, const char *kind) {
    const JqHost *host = jq_run_host(run);
    if (host->log) {
        uint64_t size = json_size(args[0]); /* as text: what is shared is written each time */
        if (!jq_charge(run, size / 64) || !jq_room(run, size)) return json_none();
        host->log(host->ctx, kind, args[0]);
    }
    return json_take(&args[0]);
}

NATIVE(value_debug, logged(run, args, "debug"))
NATIVE(value_stderr, logged(run, args, "stderr"))

const JqNative jq_natives_value[] = {
    {"length", 0, JQ_NATIVE_QUICK, value_length},
    {"type", 0, JQ_NATIVE_QUICK, value_type},
    {"has", 1, JQ_NATIVE_QUICK, value_has},
    {"keys", 0, JQ_PURE, value_keys},
    {"keys_unsorted", 0, JQ_PURE, value_keys_unsorted},
    {"to_entries", 0, JQ_PURE, value_to_entries},
    {"from_entries", 0, JQ_PURE, value_from_entries},
    {"contains", 1, JQ_PURE, value_contains},
    {"tostring", 0, JQ_PURE, value_tostring},
    {"tonumber", 0, JQ_PURE, value_tonumber},
    {"toboolean", 0, JQ_PURE, value_toboolean},
    {"toarray", 0, JQ_NATIVE_QUICK, value_toarray},
    {"tojson", 0, JQ_PURE, value_tojson},
    {"fromjson", 0, JQ_PURE, value_fromjson},
    {"utf8bytelength", 0, JQ_PURE, value_utf8bytelength},
    {"abs", 0, JQ_PURE, value_abs},
    {"infinite", 0, JQ_PURE, value_infinite},
    {"nan", 0, JQ_PURE, value_nan},
    {"isinfinite", 0, JQ_PURE, value_isinfinite},
    {"isfinite", 0, JQ_PURE, value_isfinite},
    {"isnan", 0, JQ_PURE, value_isnan},
    {"isnormal", 0, JQ_PURE, value_isnormal},
    {"setpath", 2, JQ_PURE, value_setpath},
    {"delpaths", 1, JQ_PURE, value_delpaths},
    {"_tostream", 0, JQ_PURE, value_tostream},
    {"have_literal_numbers", 0, JQ_PURE, value_true},
    {"have_decnum", 0, JQ_PURE, value_true},
    {"builtins", 0, JQ_PURE, value_builtins},
    {"now", 0, JQ_USES_CLOCK, value_now},
    {"debug", 0, JQ_USES_LOG, value_debug},
    {"stderr", 0, JQ_USES_LOG, value_stderr},
    {0},
};
