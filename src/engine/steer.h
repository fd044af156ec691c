/* steer.h - the kinds that steer: a row for each, by the id of its kind.
 *
 * A kind that steers makes levels and frames of what it contains (flow/kind.h says what that is) instead
 * of having work done. Its row says how it begins and what becomes of it when what it contains has
 * ended. A new one is its row in kind.c, its functions, and its row here.
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
    void (*level_done)(Frame *f);
    void (*list_done)(Frame *f, TaskResult result, Json error); /* borrows error */
    /* What is known of the result; *over: that is enough. */
    TaskResult (*so_far)(const Frame *f, bool *over);
    Json (*why)(const Frame *f, TaskResult result); /* the error of that; given; may be null */
    void (*counted)(Frame *f);                      /* one more child has its result; may be NULL */
} Steering;

extern const Steering steerings[KIND_COUNT]; /* without begin: it does not steer */

static inline const Steering *steering_of(const Node *node) {
    return &steerings[node->kind->id];
}

/* control.c */
void approval_begin(Frame *f, const Node *node);
void workflow_begin(Frame *f, const Node *node);
void workflow_done(Frame *f);
void while_begin(Frame *f, const Node *node);
void while_turn_done(Frame *f);
void map_begin(Frame *f, const Node *node);

/* containers.c */
void list_begin(Frame *f, const Node *node); /* of a list, or a task with options */
void run_tasks_done(Frame *f, TaskResult result, Json error);
void concurrent_begin(Frame *f, const Node *node);
void matrix_begin(Frame *f, const Node *node);
void matrix_done(Frame *f, TaskResult result, Json error);
void background_begin(Frame *f, const Node *node);
TaskResult background_so_far(const Frame *f, bool *over);
Json background_why(const Frame *f, TaskResult result);
void options_done(Frame *f, TaskResult result, Json error);
void external_begin(Frame *f, const Node *node);
void external_done(Frame *f, TaskResult result, Json error);
TaskResult tally_so_far(const Frame *f, bool *over);
Json tally_why(const Frame *f, TaskResult result);
void tally_counted(Frame *f);

#endif
