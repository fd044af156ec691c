/* reduce.h - how what a node gives back joins the state, and how branches join.
 *
 * A level that somebody takes over at its end (a branch, a sub-workflow, a turn of a loop) also keeps
 * its *writes*: {key: [value, node]}, where value is all that it wrote to the key, as one value that
 * does the same: reduce(reduce(old, a), b) == reduce(old, join(a, b)). For an expression there is no
 * such value, so its values are kept in a list and go through it one by one. node names who wrote
 * it; null stands for what may be overwritten in silence (a shell's stdout without `output`). An entry
 * [value, null, true] is one that a person set: it replaces what is there, past any reducer.
 */
#ifndef PAWL_REDUCE_H
#define PAWL_REDUCE_H

#include "evaluator.h"

/* Puts an update (an object) into *state, and into *writes unless that is JSON_NONE. writer is the
 * node's name or null. On error both may be half done: keep a copy (O(1)) to go back to. Borrows
 * update and writer. */
bool reduce_update(const Graph *graph, Evaluator *m, Json update, Json writer, Json *state,
                   Json *writes, Error *err);

/* The same for the writes of a level that ended. */
bool reduce_writes(const Graph *graph, Evaluator *m, Json theirs, Json *state, Json *writes,
                   Error *err);

/* False, with *err naming both nodes, when two of the branches wrote one key that has no reducer.
 * all is an array of writes. */
bool reduce_no_conflict(const Graph *graph, Json all, Error *err);

/* {key: its value in state} for every key in writes; given. */
Json reduce_result(Json writes, Json state);

/* {key: what was written to it} of writes, which does the same as one update; of a key with an expression the
 * last value alone. Given. */
Json reduce_written(const Graph *graph, Json writes);

/* Puts what an inner level changed into the one around it: final values, but for keys that have a reducer
 * there, what was written to them. Defined over Level (frame.h). */
struct Level;
bool reduce_inner(struct Level *outer, const struct Level *inner, Evaluator *m, Error *err);

/* A write that takes the place of what was there, whatever the reducer of its key: what a person sets. */
Json reduce_replace(Json writes, Json name, Json value); /* consumes writes */

#endif
