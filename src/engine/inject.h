/* inject.h - running nodes that the workflow does not have. */
#ifndef PAWL_INJECT_H
#define PAWL_INJECT_H

#include "injected.h"

/* The frame's node runs once with other keys than those that are written ({key: value}, null for one that goes), wherever
 * the frame stands. */
bool inject_config(Frame *f, Json config, Error *err);
/* Begins the next one that is to run before the frame's node or, unless that asks a person first, instead of
 * it; or after it. False: there is none. */
bool inject_before(Frame *f, bool asks);
bool inject_after(Frame *f);
/* One that stands in, and has not begun, waits again: the frame stands before the node itself. */
void inject_take_back(Frame *f);
/* The top level is one, and is past its last node; result is what that came to. Consumes it. */
void inject_done(Frame *f, StepResult result);
void inject_hand_down(Frame *f);  /* of a level that ends: to the one below it */
void inject_drop_level(Frame *f); /* those that wait for the node of the top level are of no use */

#endif
