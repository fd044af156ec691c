#define _GNU_SOURCE
#include "assertion.h"

#include "json_print.h"
#include "mem.h"

#include <math.h>
#include <string.h>
#include <uv.h>

enum {
    SHOWN_MAX = 100, /* bytes of a value in a sentence */
    SLICE = 20000,   /* steps between two looks at the clock */
};

/* ---- comparing ---- */

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

enum { NOPERATORS = sizeof operators / sizeof *operators };

static const struct AssertionOperator *find_operator(Json name) {
    for (size_t i = 0; i < NOPERATORS; i++) {
        if (json_string_is(name, operators[i].name)) return &operators[i];
    }
    return NULL;
}

const struct AssertionOperator *number_operator(Json name) {
    const struct AssertionOperator *op = find_operator(name);
    return op && op->way != BY_CONTENT ? op : NULL;
}

static bool order_holds(const struct AssertionOperator *op, int order) {
    return (order < 0 && op->less) || (order == 0 && op->same) || (order > 0 && op->more);
}

bool number_holds(const struct AssertionOperator *op, double found, double wanted) {
    if (op->way == BY_EQUALITY) return (found == wanted) != op->opposite;
    return order_holds(op, found < wanted ? -1 : found > wanted);
}

const char *operator_words(const struct AssertionOperator *op) {
    return op->words;
}

static bool array_contains(Json found, Json wanted) {
    const Json *run;
    size_t n;
    for (size_t i = 0; (run = json_array_run(found, i, &n)), n; i += n) {
        for (size_t k = 0; k < n; k++) {
            if (json_equal(run[k], wanted)) return true;
        }
    }
    return false;
}

static bool object_contains(Json found, Json wanted) {
    Json key, value;
    for (size_t pos = 0; json_object_next(wanted, &pos, &key, &value);) {
        Json own = json_object_get(found, key);
        if (json_is_none(own) || !json_equal(own, value)) return false;
    }
    return true;
}

static bool text_contains(Json found, Json wanted) {
    size_t len = json_string_len(wanted);
    return !len ||
           memmem(json_string_data(&found), json_string_len(found), json_string_data(&wanted), len);
}

/* Why they cannot be compared; NULL when they can, and then *holds says what came of it. */
static const char *compare(const struct AssertionOperator *op, Json found, Json wanted,
                           bool *holds) {
    JsonKind a = json_kind(found), b = json_kind(wanted);
    if (op->way == BY_EQUALITY) {
        *holds = json_equal(found, wanted) != op->opposite;
    } else if (op->way == BY_ORDER) {
        if (a != JSON_NUMBER || b != JSON_NUMBER) return "only numbers are more or less";
        bool nan = isnan(json_to_double(found)) || isnan(json_to_double(wanted));
        *holds = !nan && order_holds(op, json_number_compare(found, wanted));
    } else if (a == JSON_ARRAY) {
        *holds = array_contains(found, wanted) != op->opposite;
    } else if (a == JSON_OBJECT && b == JSON_OBJECT) {
        *holds = object_contains(found, wanted) != op->opposite;
    } else if (a == JSON_STRING && b == JSON_STRING) {
        *holds = text_contains(found, wanted) != op->opposite;
    } else {
        return "a text contains texts, an object objects, and an array anything";
    }
    return NULL;
}

/* ---- life ---- */

static bool init_fields(Assertion *a, Json object, bool fail_missing, Error *err) {
    Json query = json_object_get_c(object, "query"), exists = json_object_get_c(object, "exists");
    Json op = json_object_get_c(object, "operator"), value = json_object_get_c(object, "value");
    Json allow = json_object_get_c(object, "allowMissing");
    bool has_value = !json_is_none(value) && json_kind(value) != JSON_NULL;
    a->value = json_ref(value);
    a->exists = json_truthy(exists);
    a->missing = json_is_none(allow)  ? fail_missing ? VERDICT_FAILS : VERDICT_WAITS
                 : json_truthy(allow) ? VERDICT_HOLDS
                                      : VERDICT_FAILS;
    if (json_is_none(exists) == json_is_none(op)) {
        return error_set(err, ERR_USAGE, "it takes one of `exists` and `operator`, and %s.",
                         json_is_none(op) ? "has neither" : "not both");
    }
    if (!json_is_none(op)) a->op = find_operator(op);
    if (!json_is_none(op) && !a->op) return error_set(err, ERR_USAGE, "there is no such operator.");
    if (a->op && !has_value) {
        return error_set(err, ERR_USAGE, "it has an `operator` and no `value` to compare with.");
    }
    if (json_kind(query) != JSON_STRING || !json_string_len(query)) {
        return error_set(err, ERR_USAGE, "it has no `query`.");
    }
    a->program = jq_compile(json_string_data(&query), json_string_len(query), NULL, err);
    if (!a->program) return false;
    static const JqHost host = {.budget = {.steps = JQ_NO_LIMIT, .slice = SLICE}};
    a->run = jq_run_new(a->program, &host);
    return true;
}

bool assertion_init(Assertion *a, Json object, bool fail_missing, Error *err) {
    *a = (Assertion){0};
    Json name = json_object_get_c(object, "name");
    if (json_kind(name) != JSON_STRING || !json_string_len(name)) {
        return error_set(err, ERR_USAGE, "An assertion has no `name`.");
    }
    a->name = json_ref(name);
    if (init_fields(a, object, fail_missing, err)) return true;
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
    json_unref(a->found);
    *a = (Assertion){0};
}

void outcome_clear(Outcome *outcome) {
    json_unref(outcome->value);
    buf_clear(&outcome->why);
    *outcome = (Outcome){0};
}

/* ---- deciding ---- */

void outcome_begin(Outcome *outcome, Json name, Verdict verdict) {
    outcome->verdict = verdict;
    buf_adds(&outcome->why, "The assertion ");
    buf_add(&outcome->why, json_string_data(&name), json_string_len(name));
    buf_adds(&outcome->why, verdict == VERDICT_WAITS ? " waits: " : " does not hold: ");
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

static void decide_error(const Assertion *a, Outcome *outcome, const char *why) {
    outcome->is_error = true;
    outcome_begin(outcome, a->name, VERDICT_FAILS);
    buf_printf(&outcome->why, "%s.", why);
}

static void add_wanted(const Assertion *a, Buf *why) {
    if (a->op) {
        buf_printf(why, ", and it is wanted %s ", a->op->words);
        add_value(a->value, why);
        buf_adds(why, ".");
    } else {
        buf_printf(why, ", and %s is wanted.", a->exists ? "something" : "nothing");
    }
}

/* All results have come. */
static void decide(Assertion *a, Outcome *outcome) {
    bool missing = json_is_none(a->found), holds = false;
    outcome->value = json_ref(a->found);
    if (!a->op && a->exists != missing) return;
    if (a->op && missing && a->missing == VERDICT_HOLDS) return;
    if (missing) {
        outcome_begin(outcome, a->name, a->op ? a->missing : VERDICT_FAILS);
        buf_adds(&outcome->why, a->results ? "its query gives null" : "its query gives nothing");
        add_wanted(a, &outcome->why);
        return;
    }
    const char *unfit = a->op ? compare(a->op, a->found, a->value, &holds) : NULL;
    if (holds) return;
    outcome->is_error = unfit != NULL;
    outcome_begin(outcome, a->name, VERDICT_FAILS);
    buf_adds(&outcome->why, a->op ? "it is " : "its query gives ");
    add_value(a->found, &outcome->why);
    add_wanted(a, &outcome->why);
    if (unfit) buf_printf(&outcome->why, " They cannot be compared: %s.", unfit);
}

void assertion_start(Assertion *a, Json answer) {
    a->used = 0;
    a->results = 0;
    json_clear(&a->found);
    jq_run_start(a->run, json_ref(answer), NULL);
}

/* Whether one more result is one too many. */
static bool take(Assertion *a, Json result, Outcome *outcome) {
    size_t most = a->op ? 1 : ASSERTION_RESULTS;
    if (json_kind(result) != JSON_NULL && json_is_none(a->found)) {
        a->found = result;
    } else {
        json_unref(result);
    }
    if (++a->results <= most) return false;
    decide_error(a, outcome,
                 a->op ? "its query gives more than one result"
                       : "its query gives more than 32 results");
    return true;
}

bool assertion_go_on(Assertion *a, uint64_t until, Outcome *outcome) {
    uint64_t begun = uv_hrtime(), now = begun;
    Json result;
    *outcome = (Outcome){.value = json_none(), .why = BUF_INIT};
    for (;;) {
        JqStatus status = jq_run_next(a->run, &result);
        if (status == JQ_DONE) {
            decide(a, outcome);
            break;
        }
        if (status == JQ_FAILED) {
            Buf why = BUF_INIT;
            buf_printf(&why, "its query fails: %s", jq_run_error(a->run)->msg);
            decide_error(a, outcome, why.data);
            buf_clear(&why);
            break;
        }
        if (status == JQ_OUTPUT && take(a, result, outcome)) break;
        now = uv_hrtime();
        if (a->used + (now - begun) > (uint64_t)ASSERTION_MS * 1000000) {
            decide_error(a, outcome, "its query takes longer than 5 s");
            break;
        }
        if (now >= until) {
            a->used += now - begun;
            return false;
        }
    }
    jq_run_stop(a->run);
    json_clear(&a->found);
    return true;
}
