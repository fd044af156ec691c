/* divergence.h - where two runs of a workflow part.
 *
 * Both lines are read as what each frame did, by the frames' paths (lineage.h), so that the order in which
 * parallel branches happened to run does not count. They part at the first step, in the order of the
 * first run, whose node, result or outcome in the state differs, or that only one of them has; and before
 * all steps, when they did not begin with the same state.
 *
 * The outcome of a step is what its node gave back (engine/result.h) and what a person set since the step
 * before; of a task, how both changed what its frame sees. Equal beginnings and equal outcomes make equal
 * states, and cost no more to compare than what changed.
 *
 * Of two lines of one run (a fork) it is the same, from where they fork. A line that does not begin with
 * its run (a thread that was forked from another, or pruned) is compared from where it begins, by the
 * number of steps that had been done there.
 */
#ifndef PAWL_DIVERGENCE_H
#define PAWL_DIVERGENCE_H

#include "lineage.h"

typedef struct DivergenceSide {
    int64_t run, seq; /* seq: the end of its line */
    const Flow *flow;
} DivergenceSide;

/* {same: true, steps} or {same: false, steps (equal before), frame (path), a, b, diff}: a and b are
 * {checkpoint, node, status, step} or null where that run goes no further; node is null where they did not
 * begin alike. diff is {added, removed, changed} of the states after the step, or of what the node gave
 * back when its frame ended with it; null when not both have one. JSON_NONE on error. Given. */
Json divergence_find(Store *store, const DivergenceSide *a, const DivergenceSide *b, Error *err);

#endif
