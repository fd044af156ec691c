/* machines.h - a jq machine for each expression of a flow, made when it is first needed.
 *
 * Machines are reusable, so an evaluation allocates nothing but its values. One thread.
 */
#ifndef PAWL_MACHINES_H
#define PAWL_MACHINES_H

#include "flow.h"

typedef struct Machines Machines;

/* Borrows the flow; host is copied. */
Machines *machines_new(const Flow *flow, const JqHost *host);
void machines_free(Machines *m); /* accepts NULL */

/* A flow whose expressions are numbered behind those that are there already; and its machines go before
 * it does. */
void machines_add(Machines *m, const Flow *flow);
void machines_remove(Machines *m, const Flow *flow);

/* The first output of an expression, given. JSON_NONE with *err set when it fails or has none: the
 * error's line and column are in the expression's file. Borrows input and vars. */
Json machines_eval(Machines *m, const Expr *expr, Json input, const Json *vars, Error *err);

/* The same, but an expression that has no output gives JSON_NONE without an error. */
Json machines_query(Machines *m, const Expr *expr, Json input, Error *err);

/* The machine of a reducer that is not an expression of the file: see reduce.c. */
Json machines_reduce(Machines *m, Reduce reduce, bool join, Json old_value, Json new_value,
                     Error *err);

#endif
