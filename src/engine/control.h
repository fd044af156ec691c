/* control.h - parallel edges, and levels and frames that end. steer.h has the kinds. */
#ifndef PAWL_CONTROL_H
#define PAWL_CONTROL_H

#include "frame.h"

void control_level_done(Frame *f);      /* the top level is past its last node */
void control_child_ended(Frame *child); /* hands over what it has to its parent */
void join_branches(Frame *f);           /* all of them have ended */
void map_done(Frame *f);                /* all of its elements have */

Json graph_initial_state(const Graph *g, Json input);
bool is_input(Json input, Error *err); /* of a workflow: an object */
void frame_fork(Frame *f, const Edge *edge);
/* What a branch comes to that an error has ended; given. Borrows error. */
Json branch_failed(const Frame *f, const Node *node, Json error);
void element_init(Frame *f); /* variables of an element of a map */
/* The top level ends, and the one below it shares its state: that goes on there, and what was written
 * belongs to it. False when that cannot be reduced; where evaluations go on later (evaluator.h), with nothing changed. */
bool level_leave_shared(Frame *f, Error *err);

#endif
