/* change.h - changes by hand to what a frame sees. A change is [path, value], or [path] for what is to go. */
#ifndef PAWL_CHANGE_H
#define PAWL_CHANGE_H

#include "frame.h"

/* Sets values in a level of a frame: an array of [path, value]. */
bool level_set(Frame *f, uint32_t level, Json set, Error *err);
Json change_set(Json state, Json changes, Error *err); /* consumes state */
/* In what its node sees: the state of its level, or the variables of the scope that it runs in. */
bool frame_change(Frame *f, Json changes, Error *err);
Json frame_pending(
    const Frame *f); /* what info.pending of a parked frame says, without the numbers; given */

#endif
