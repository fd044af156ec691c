#define _GNU_SOURCE
#include "assertion.h"

#include "config.h"
#include "json_print.h"
#include "mem.h"

#include <math.h>
#include <string.h>

enum { SHOWN_MAX = 100 }; /* bytes of a value in a sentence */

/* ---- comparing ---- */

/* The number that it is or reads as; JSON_NONE when it is none. Given. */
static Json number_of(Json j) {
    static const struct {
        const char *word;
        double value;
    } words[] = {{"+Inf", INFINITY}, {"-Inf", -INFINITY}, {"Inf", INFINITY}};
    if (json_kind(j) == JSON_NUMBER) return json_ref(j);
    if (json_kind(j) != JSON_STRING) return json_none();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (json_string_is(j, words[i].word)) return json_double(words[i].value);
    }
    return json_number_parse(json_string_data(&j), json_string_len(j));
}

enum { UNORDERED = 2 };

/* -1, 0, 1; UNORDERED with a NaN, and when they cannot be compared, as *comparable says. */
static int order_numbers(Json a, Json b, bool *comparable) {
    Json x = number_of(a), y = number_of(b);
    int order = UNORDERED;
    *comparable = !json_is_none(x) && !json_is_none(y);
    if (*comparable && !isnan(json_to_double(x)) && !isnan(json_to_double(y))) {
        order = json_number_compare(x, y);
    }
    json_unref(x);
    json_unref(y);
    return order;
}

static int order(Json a, Json b, bool *comparable) {
    int numbers = order_numbers(a, b, comparable);
    if (*comparable) return numbers;
    *comparable = json_kind(a) == JSON_STRING && json_kind(b) == JSON_STRING;
    return *comparable ? json_string_compare(a, b) : UNORDERED;
}

/* Two texts are equal as texts: 1.10 is another version than 1.1. */
static bool equal(Json a, Json b) {
    bool comparable = false;
    bool texts = json_kind(a) == JSON_STRING && json_kind(b) == JSON_STRING;
    int numbers = texts ? UNORDERED : order_numbers(a, b, &comparable);
    if (comparable) return numbers == 0;
    bool nan = texts && (json_string_is(a, "NaN") || json_string_is(b, "NaN"));
    return !nan && json_equal(a, b);
}

static bool is_eq(Json found, Json wanted, bool *comparable) {
    *comparable = true;
    return equal(found, wanted);
}

static bool is_neq(Json found, Json wanted, bool *comparable) {
    return !is_eq(found, wanted, comparable);
}

static bool is_gt(Json found, Json wanted, bool *comparable) {
    return order(found, wanted, comparable) == 1;
}

static bool is_gte(Json found, Json wanted, bool *comparable) {
    int o = order(found, wanted, comparable);
    return o == 0 || o == 1;
}

static bool is_lt(Json found, Json wanted, bool *comparable) {
    return order(found, wanted, comparable) == -1;
}

static bool is_lte(Json found, Json wanted, bool *comparable) {
    int o = order(found, wanted, comparable);
    return o == 0 || o == -1;
}

static bool text_contains(Json found, Json wanted) {
    Buf part = BUF_INIT;
    if (json_kind(wanted) == JSON_STRING) {
        buf_add(&part, json_string_data(&wanted), json_string_len(wanted));
    } else {
        json_print(wanted, NULL, &part);
    }
    bool there = part.len == 0 ||
                 memmem(json_string_data(&found), json_string_len(found), part.data, part.len);
    buf_clear(&part);
    return there;
}

static bool array_contains(Json found, Json wanted) {
    const Json *run;
    size_t n;
    for (size_t i = 0; (run = json_array_run(found, i, &n)), n; i += n) {
        for (size_t k = 0; k < n; k++) {
            if (equal(run[k], wanted)) return true;
        }
    }
    return false;
}

static bool object_contains(Json found, Json wanted) {
    return json_kind(wanted) == JSON_STRING && !json_is_none(json_object_get(found, wanted));
}

static bool contains(Json found, Json wanted, bool *comparable) {
    JsonKind kind = json_kind(found);
    *comparable = kind == JSON_STRING || kind == JSON_ARRAY || kind == JSON_OBJECT;
    return kind == JSON_STRING   ? text_contains(found, wanted)
           : kind == JSON_ARRAY  ? array_contains(found, wanted)
           : kind == JSON_OBJECT ? object_contains(found, wanted)
                                 : false;
}

static bool lacks(Json found, Json wanted, bool *comparable) {
    return !contains(found, wanted, comparable) && *comparable;
}

static const struct Operator {
    const char *name, *words;
    bool (*compare)(Json found, Json wanted, bool *comparable);
} operators[] = {
    {"eq", "to be", is_eq},
    {"neq", "not to be", is_neq},
    {"gt", "to be more than", is_gt},
    {"gte", "to be at least", is_gte},
    {"lt", "to be less than", is_lt},
    {"lte", "to be at most", is_lte},
    {"contains", "to contain", contains},
    {"not_contains", "not to contain", lacks},
};

/* ---- life ---- */

static JqProgram *compile(Json query, Error *err) {
    const char *text = json_string_data(&query);
    size_t len = json_string_len(query), dot = query_dot(text, len);
    Buf whole = BUF_INIT;
    size_t before = dot == SIZE_MAX ? len : dot;
    buf_add(&whole, text, before);
    if (dot != SIZE_MAX) buf_addc(&whole, '.');
    buf_add(&whole, text + before, len - before);
    JqProgram *program = jq_compile(whole.data ? whole.data : "", whole.len, NULL, err);
    buf_clear(&whole);
    return program;
}

static bool set_operator(Assertion *a, Json name, Error *err) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (json_is_none(name) ? i == 0 : json_string_is(name, operators[i].name)) {
            a->compare = operators[i].compare;
            a->words = operators[i].words;
            return true;
        }
    }
    return error_set(err, ERR_USAGE, "There is no such operator.");
}

static bool init_fields(Assertion *a, Json object, Error *err) {
    Json name = json_object_get_c(object, "name"), query = json_object_get_c(object, "query");
    Json exists = json_object_get_c(object, "exists"), op = json_object_get_c(object, "operator");
    Json value = json_object_get_c(object, "value");
    a->name = json_ref(json_kind(name) == JSON_STRING ? name : query);
    a->value = json_is_none(value) ? json_null() : json_ref(value);
    a->allow_missing = json_truthy(json_object_get_c(object, "allowMissing"));
    a->exists = json_is_none(exists) || json_truthy(exists);
    bool asks_exists = !json_is_none(exists) || (json_is_none(op) && json_is_none(value));
    if (!asks_exists && !set_operator(a, op, err)) return false;
    a->program = compile(query, err);
    if (!a->program) return false;
    a->run = jq_run_new(a->program, NULL);
    return true;
}

bool assertion_init(Assertion *a, Json object, Error *err) {
    *a = (Assertion){0};
    if (init_fields(a, object, err)) return true;
    error_wrap(err, "The assertion %.*s", (int)json_string_len(a->name),
               json_string_data(&a->name));
    assertion_clear(a);
    return false;
}

void assertion_clear(Assertion *a) {
    jq_run_free(a->run);
    jq_program_free(a->program);
    json_unref(a->name);
    json_unref(a->value);
    *a = (Assertion){0};
}

/* ---- asking ---- */

static void add_name(const Assertion *a, Buf *why) {
    buf_adds(why, "The assertion ");
    buf_add(why, json_string_data(&a->name), json_string_len(a->name));
    buf_adds(why, " does not hold: ");
}

static void add_value(Json value, Buf *why) {
    Buf text = BUF_INIT;
    bool whole = json_print(value, &(JsonPrintOptions){.max_bytes = SHOWN_MAX}, &text);
    bool cut = !whole || text.len > SHOWN_MAX;
    size_t len = cut ? SHOWN_MAX : text.len;
    while (cut && len && ((unsigned char)text.data[len] & 0xC0) == 0x80) {
        len--;
    }
    buf_add(why, text.data, len);
    if (cut) buf_adds(why, "...");
    buf_clear(&text);
}

/* False when the query fails. */
static bool query(const Assertion *a, Json answer, Json *found, Buf *why) {
    jq_run_start(a->run, json_ref(answer), NULL);
    JqStatus status = jq_run_next(a->run, found);
    if (status == JQ_FAILED) {
        add_name(a, why);
        buf_printf(why, "its query fails: %s.", jq_run_error(a->run)->msg);
    }
    if (status != JQ_OUTPUT) *found = json_null();
    jq_run_stop(a->run);
    return status != JQ_FAILED;
}

static bool miss_existence(const Assertion *a, Json found, Buf *why) {
    add_name(a, why);
    if (a->exists) {
        buf_adds(why, "its query gives nothing, and something is wanted.");
    } else {
        buf_adds(why, "its query gives ");
        add_value(found, why);
        buf_adds(why, ", and nothing is wanted.");
    }
    return false;
}

static bool miss_value(const Assertion *a, Json found, const char *found_words, Buf *why) {
    add_name(a, why);
    buf_adds(why, found_words);
    if (json_kind(found) != JSON_NULL) add_value(found, why);
    buf_printf(why, ", and it is wanted %s ", a->words);
    add_value(a->value, why);
    buf_adds(why, ".");
    return false;
}

static bool wants_null(const Assertion *a) {
    return json_kind(a->value) == JSON_NULL && (a->compare == is_eq || a->compare == is_neq);
}

bool assertion_holds(const Assertion *a, Json answer, Json *found, Buf *why) {
    bool comparable = true;
    if (!query(a, answer, found, why)) return false;
    bool missing = json_kind(*found) == JSON_NULL;
    if (!a->compare) {
        return a->exists != missing || (missing && a->allow_missing) ||
               miss_existence(a, *found, why);
    }
    if (missing && !wants_null(a)) {
        return a->allow_missing || miss_value(a, *found, "its query gives nothing", why);
    }
    if (a->compare(*found, a->value, &comparable)) return true;
    return miss_value(a, *found, missing ? "it is null" : "it is ", why);
}
