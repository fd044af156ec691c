/* advance.h - one step of a frame: coming to a node, its result, the edge after it. */
#ifndef PAWL_ADVANCE_H
#define PAWL_ADVANCE_H

#include "frame.h"

void frame_advance(Frame *f);
bool frame_leaves_engine(const Frame *f, const Node *node); /* its node is no pure work */

/* The node is done with this result; consumes it. */
void frame_finish(Frame *f, Json result);
/* Puts an object into the state of the running level, through the reducers. False, and nothing has changed,
 * when it does not fit. */
bool frame_merge(Frame *f, Json update, Error *err);
/* The same when the state has it already; update is for those who listen. */
void frame_finished(Frame *f, Json update);
void frame_count_step(Frame *f);
/* Passes over the node; output JSON_NONE: it gives back nothing. Borrows it. */
void frame_skip(Frame *f, Json output);

/* Chooses the edge and goes there. False after frame_fail(), and where that is to go on in a later turn. */
bool frame_go_on(Frame *f);
/* The frame comes to a node (NULL: the end of its level). passed: its interrupt is behind it. */
void frame_land(Frame *f, const Node *node, bool passed);
void frame_arrive(Frame *f, bool passed);
void frame_take_edge(Frame *f, const Edge *edge);
void frame_go_on_after(Frame *f);    /* the same from a node that was done before, with a record */
void frame_go_on_finished(Frame *f); /* the same, and a debugger has looked */
void frame_go_on_ended(Frame *f);    /* the same, of an element */
/* Consumes prompt, options and rest: what follows them in the wait (an array), or JSON_NONE. */
void frame_interrupt(Frame *f, const char *reason, Json prompt, Json options, Json rest);

#endif
