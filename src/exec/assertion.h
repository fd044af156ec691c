/* assertion.h - what is to hold of an answer: a query and what it is to give.
 *
 *     Assertion a;
 *     assertion_init(&a, object, &err)       an object of the fields that kind.h names
 *     assertion_holds(&a, answer, &found, &why)
 *     assertion_clear(&a)
 *
 * The query is jq over the answer, with or without its leading dot; its first output counts. Nothing and
 * null are *missing*: with `exists` that is what is asked for, with `allowMissing` it holds, and otherwise
 * it does not, unless null is the very value that it is compared with.
 *
 *     eq neq           as JSON; a number and a text that reads as one compare as numbers
 *     gt gte lt lte    numbers and texts that read as numbers; otherwise two texts, by code point
 *     contains         a text its part, an array its element, an object its key
 *     not_contains     the opposite, of the same three
 *
 * Without an operator it is eq, and without a value too, `exists: true`. "+Inf", "-Inf" and "NaN" read as
 * numbers; NaN is equal to nothing and neither more nor less.
 */
#ifndef PAWL_ASSERTION_H
#define PAWL_ASSERTION_H

#include "error.h"
#include "jq.h"
#include "json.h"

typedef struct Assertion {
    Json name; /* as given, or the query */
    Json value;
    const struct AssertionOperator *op; /* NULL: `exists` */
    bool exists, allow_missing;
    JqProgram *program;
    JqRun *run;
} Assertion;

/* False when the query does not compile or the operator has no value to compare with. */
bool assertion_init(Assertion *a, Json object, Error *err);
void assertion_clear(Assertion *a);

/* *found is given: null when it is missing. When it does not hold, a sentence that names it, what was
 * found and what was wanted is added to why. */
bool assertion_holds(const Assertion *a, Json answer, Json *found, Buf *why);

#endif
