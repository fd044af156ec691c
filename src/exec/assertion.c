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

static int order(Json a, Json b) {
    bool comparable;
    int numbers = order_numbers(a, b, &comparable);
    if (comparable) return numbers;
    bool texts = json_kind(a) == JSON_STRING && json_kind(b) == JSON_STRING;
    return texts ? json_string_compare(a, b) : UNORDERED;
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

static bool contains(Json found, Json wanted) {
    const Json *run;
    size_t n;
    if (json_kind(found) == JSON_STRING) {
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
    if (json_kind(found) == JSON_OBJECT) {
        return json_kind(wanted) == JSON_STRING && !json_is_none(json_object_get(found, wanted));
    }
    for (size_t i = 0; (run = json_array_run(found, i, &n)), n; i += n) {
        for (size_t k = 0; k < n; k++) {
            if (equal(run[k], wanted)) return true;
        }
    }
    return false;
}

typedef enum Way { BY_EQUALITY, BY_ORDER, BY_CONTENT } Way;

static const struct AssertionOperator {
    const char *name, *words;
    Way way;
    bool opposite;         /* it holds when the values are not equal, or it is not contained */
    bool less, same, more; /* by order: when it holds */
} operators[] = {
    {"eq", "to be", BY_EQUALITY, .opposite = false},
    {"neq", "not to be", BY_EQUALITY, .opposite = true},
    {"gt", "to be more than", BY_ORDER, .more = true},
    {"gte", "to be at least", BY_ORDER, .same = true, .more = true},
    {"lt", "to be less than", BY_ORDER, .less = true},
    {"lte", "to be at most", BY_ORDER, .less = true, .same = true},
    {"contains", "to contain", BY_CONTENT, .opposite = false},
    {"not_contains", "not to contain", BY_CONTENT, .opposite = true},
};

static bool compare(const struct AssertionOperator *op, Json found, Json wanted) {
    JsonKind kind = json_kind(found);
    if (op->way == BY_EQUALITY) return equal(found, wanted) != op->opposite;
    if (op->way == BY_ORDER) {
        int o = order(found, wanted);
        return (o == -1 && op->less) || (o == 0 && op->same) || (o == 1 && op->more);
    }
    bool container = kind == JSON_STRING || kind == JSON_ARRAY || kind == JSON_OBJECT;
    return container && contains(found, wanted) != op->opposite;
}

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

static bool init_fields(Assertion *a, Json object, Error *err) {
    Json name = json_object_get_c(object, "name"), query = json_object_get_c(object, "query");
    Json exists = json_object_get_c(object, "exists"), op = json_object_get_c(object, "operator");
    Json value = json_object_get_c(object, "value");
    a->name = json_ref(json_kind(name) == JSON_STRING ? name : query);
    a->value = json_is_none(value) ? json_null() : json_ref(value);
    a->allow_missing = json_truthy(json_object_get_c(object, "allowMissing"));
    a->exists = json_is_none(exists) || json_truthy(exists);
    bool asks_exists = !json_is_none(exists) || (json_is_none(op) && json_is_none(value));
    for (size_t i = 0; !asks_exists && !a->op && i < sizeof operators / sizeof *operators; i++) {
        bool named = json_is_none(op) ? i == 0 : json_string_is(op, operators[i].name);
        a->op = named ? &operators[i] : NULL;
    }
    if (!asks_exists && !a->op) return error_set(err, ERR_USAGE, "There is no such operator.");
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
    while (cut && len && ((unsigned char)text.data[len] & 0xC0) == 0x80) len--;
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

/* Says that it does not hold: of the found value only what is not null. */
static bool miss(const Assertion *a, const char *words, Json found, Buf *why) {
    add_name(a, why);
    buf_adds(why, words);
    if (json_kind(found) != JSON_NULL) add_value(found, why);
    if (a->op) {
        buf_printf(why, ", and it is wanted %s ", a->op->words);
        add_value(a->value, why);
        buf_adds(why, ".");
    } else {
        buf_printf(why, ", and %s is wanted.", a->exists ? "something" : "nothing");
    }
    return false;
}

bool assertion_holds(const Assertion *a, Json answer, Json *found, Buf *why) {
    if (!query(a, answer, found, why)) return false;
    bool missing = json_kind(*found) == JSON_NULL;
    if (!a->op) {
        return a->exists != missing || (missing && a->allow_missing) ||
               miss(a, missing ? "its query gives nothing" : "its query gives ", *found, why);
    }
    bool wants_null = json_kind(a->value) == JSON_NULL && a->op->way == BY_EQUALITY;
    if (missing && !wants_null) {
        return a->allow_missing || miss(a, "its query gives nothing", *found, why);
    }
    if (compare(a->op, *found, a->value)) return true;
    return miss(a, missing ? "it is null" : "it is ", *found, why);
}
