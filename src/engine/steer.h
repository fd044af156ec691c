/* steer.h - the kinds that steer: a Steering for each, which its row (flow/kind_rows.h) names.
 *
 * A kind that steers makes levels and frames of what it contains (flow/kind.h says what that is) instead
 * of having work done, unless that has to be read first. Its row says how it begins and what becomes of it when what it contains has
 * ended. A new one is its row, and its functions
 * with its Steering (control.c has those of graphs, containers.c those of tasks).
 *
 * In a graph what ends is the level above the node (level_done). A task gets the verdict of its list once
 * that level is gone (list_done), or looks at what its children came to so far, each in a frame of its
 * own: as soon as that is enough, the others are ended.
 */
#ifndef PAWL_STEER_H
#define PAWL_STEER_H

#include "frame.h"
#include "step.h"

typedef struct Steering {
    void (*begin)(Frame *f, const Node *node);
    /* Its work has read the test that it contains (step_enter()). Takes over the flow. */
    void (*enter)(Frame *f, Flow *flow);
    void (*level_done)(Frame *f);
    void (*list_done)(Frame *f, TaskResult result, Json error); /* borrows error */
    /* What is known of the result; *over: that is enough. */
    TaskResult (*so_far)(const Frame *f, bool *over);
    Json (*why)(const Frame *f, TaskResult result); /* the error of that; given; may be null */
    void (*counted)(Frame *f);                      /* one more child has its result; may be NULL */
} Steering;

extern const Steering *const steerings[KIND_COUNT]; /* without begin: it does not steer */

static inline const Steering *steering_of(const Node *node) {
    return steerings[node->kind->id];
}

#endif
