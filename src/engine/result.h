/* result.h - what came of a step, as its checkpoint has it.
 *
 * A checkpoint that ends an execution of a node says what the node gave back, so that nobody has to work
 * it out from two images: replay, comparing runs, histories and whoever subscribes late read it here.
 * It is the value that EVENT_STEP had as `update`.
 *
 * Most results are in the patch already, and the checkpoint only says so (Checkpoint.result, encoded):
 *
 *     no bytes    the patch has it. All keys that it sets in the state of the level; of a branch that
 *                 ended, all that the branch leaves; of an element of a map, its place among the results.
 *                 "failed" and "retrying": the error is the one that the frame, or the run, is left with
 *     true        the whole state of the level
 *     null        null: a task that left no outputs
 *     [...]       an object, key by key: a number: what that change of the patch puts; "key": as it is in
 *                 the state now; ["key", value]: by value, as what went through a reducer is
 *     {...}       the parts of a StepResult by their names; `update`, `error` and `by_hand` by value, `set` as
 *                 [...], `at` as [frame, level], `after` only when it is true
 *
 *     a number    no bytes, and the edge that was taken from the node, whose conditions gave what nearly all do
 *     {edges}     edges that were chosen, as StepResult has them, and any of the above `as` what came of the
 *                 node; without it: no bytes
 *     {by}        who asked for it, and any of the above `as` what came of it; without it: no bytes
 *
 * Every checkpoint that ends an execution has one, since format 2 of the store. Others have one when
 * there is something to say: an attempt that failed, what a person changed, who asked for it.
 *
 * Reading takes the images around the checkpoint. It may be of any origin: what does not fit is not there.
 */
#ifndef PAWL_RESULT_H
#define PAWL_RESULT_H

#include "image_read.h"
#include "store.h"

typedef struct StepResult {
    Json
        update; /* what the node gave back: an object that went into the state, the value of an element
                     of a map, the outputs of a task or null; JSON_NONE: nothing */
    Json error; /* that it failed with; JSON_NONE: it did not */
    Json set;   /* {variable: value} that a task has set; JSON_NONE: none */
    Json
        edges; /* that were chosen since the checkpoint before it (choice.h): [[error, edge, odd or null, frame,
                     level, node or null], ...]; JSON_NONE: none. Read only: writers note them with the run */
    Json
        by_hand; /* what a person changed with it, as HOOK_CHANGE has it (hooks.h); JSON_NONE: nothing */
    Json by;    /* who asked for what is recorded, as a door knows them; JSON_NONE: nobody said */
    bool after; /* that is: after the node was done, and not before it */
    LevelAt at; /* the execution: where it is in the image before, or would be. An error that a node
                     around it took is of another frame or level than the checkpoint */
} StepResult;

/* Whether a checkpoint of a node, with a status, ends an execution of it. */
bool checkpoint_ends_node(const char *node, const char *status);

/* False: what came of it is not on record. Given: result_clear(). */
bool result_read(const Checkpoint *c, Json before, Json after, StepResult *out);
void result_clear(StepResult *r);
bool result_has_edges(const Checkpoint *c); /* without the images */
Json result_by(const Checkpoint *c);        /* the same: StepResult.by, given */

/* PruneRule.result: it outlives its patch. */
bool result_by_value(const Checkpoint *c, Json before, Json after, Buf *out);

/* ---- for record.c ---- */

/* Where a result is written or read. */
typedef struct ResultPlace {
    const Checkpoint *c; /* its frame, node and status */
    Json before, after, patch;
    Json key, now; /* the frame's, in images; its part of `after`, JSON_NONE: it is gone */
    bool task;     /* the node is one */
    const struct Choice
        *choices; /* all that the run has; those that are not made yet are passed over */
    size_t nchoices;
    bool element; /* the frame is one of a map, at its lowest level: its result may be any value */
} ResultPlace;

/* Appends; false when there is nothing to say. */
bool result_encode(const ResultPlace *place, const StepResult *r, Buf *out);
void result_encode_by(const char *by, Buf *out); /* that alone, of a checkpoint that ends nothing */

#endif
