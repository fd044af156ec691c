/* assertion.h - what is to hold of an answer in JSON: a query, and what it is to give.
 *
 *     Assertion a;
 *     assertion_init(&a, object, fail_missing, &err)     an object of the fields that kind.c names
 *     assertion_start(&a, answer)
 *     while (!assertion_go_on(&a, until, &outcome)) ...  in slices, until it is decided
 *     assertion_clear(&a)
 *
 * The query is jq over the answer, with ASSERTION_MS of time and ASSERTION_RESULTS results at most. With `exists` it holds
 * when the query gives something other than null, or does not, as wanted. With an operator it has to give exactly one
 * result, which is compared; nothing and null are *missing*: allowMissing says whether that holds, and where it says nothing,
 * it fails where misses do, and otherwise waits.
 *
 *     eq neq           as JSON, numbers by value; a number never equals a text
 *     gt gte lt lte    numbers, and nothing else
 *     contains         a text in a text, an element of an array, an object with these keys equal
 *     not_contains     the opposite, of the same three
 *
 * A query that fails, results that are too many and values that cannot be compared are errors: it fails.
 */
#ifndef PAWL_ASSERTION_H
#define PAWL_ASSERTION_H

#include "error.h"
#include "jq.h"
#include "json.h"

#include <stdint.h>

enum { ASSERTION_MS = 5000, ASSERTION_RESULTS = 32 };

typedef enum Verdict {
    VERDICT_HOLDS,
    VERDICT_FAILS,
    VERDICT_WAITS,
} Verdict;

typedef struct Outcome {
    Verdict verdict;
    bool is_error; /* it fails for a reason of its own, whatever the value */
    Json value;    /* what was found; JSON_NONE: nothing, or null */
    Buf why; /* unless it holds: a sentence that names it, what was found and what was wanted */
} Outcome;

void outcome_clear(Outcome *outcome);

typedef struct Assertion {
    Json name;
    Json value;
    const struct AssertionOperator *op; /* NULL: `exists` */
    bool exists;
    Verdict missing;
    JqProgram *program;
    JqRun *run;
    uint64_t used; /* nanoseconds of this evaluation */
    size_t results;
    Json found; /* the first that is not null */
} Assertion;

/* False when it is not right: without a name, with a query that does not compile, with neither or both of exists and
 * operator, without a value. fail_missing: misses fail. */
bool assertion_init(Assertion *a, Json object, bool fail_missing, Error *err);
void assertion_clear(Assertion *a);

void assertion_start(Assertion *a, Json answer); /* borrows */
/* Goes on until that time, as uv_hrtime() counts. False: it is not decided yet. Otherwise *outcome is given. */
bool assertion_go_on(Assertion *a, uint64_t until, Outcome *outcome);

/* The operators that compare numbers, for metrics: NULL when there is none of that name. */
const struct AssertionOperator *number_operator(Json name);
bool number_holds(const struct AssertionOperator *op, double found, double wanted);
const char *operator_words(const struct AssertionOperator *op); /* "to be more than" */

/* "The assertion NAME does not hold: ", or "waits: ". */
void outcome_begin(Outcome *outcome, Json name, Verdict verdict);

#endif
