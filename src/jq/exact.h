/* exact.h - integers of any size, for programs that compute with them (JqOptions.exact).
 *
 * jq computes with doubles: 2 * 10^18 is 2e+18 there. The queries of tests are written for a jq that does not, and say
 * what a wallet holds in units of 10^-18. GMP does the work; what it takes is bounded, and paid for. */
#ifndef PAWL_EXACT_H
#define PAWL_EXACT_H

#include "jq_native.h"

enum { EXACT_DIGITS_MAX = 20000 }; /* of a result */

typedef enum ExactOp {
    EXACT_ADD,
    EXACT_SUBTRACT,
    EXACT_MULTIPLY,
    EXACT_DIVIDE,
    EXACT_MODULO
} ExactOp;

/* Whether the program computes so, and both are integers: written with digits alone, of any length. */
bool exact_takes(const JqRun *run, Json a, Json b);

/* Borrows both. JSON_NULL: it is not for this way of computing (a quotient that does not come out even, a division by
 * zero); JSON_NONE: the run has failed. */
Json exact_calculate(JqRun *run, ExactOp op, Json a, Json b);

#endif
