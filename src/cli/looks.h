/* looks.h - reading a run from the store without running it. */
#ifndef PAWL_LOOKS_H
#define PAWL_LOOKS_H

#include "json.h"
#include "place.h"
#include "stores.h"

/* The image at a place of a run that was found; JSON_NONE after saying why not. */
Json look_image(const Common *c, Store *store, const RunRow *row, int64_t seq, int *code);

/* The state there, from a store that is opened for it; JSON_NONE after saying why not. */
Json look_state(const Common *c, const Place *place, int *code);

/* What the frames of an image stand at: [{frame, node, waits}], and of those that a debugger has paused
 * `pause`: {position, reason, breakpoints, ...}. */
Json look_frames(Json image);

/* What a frame waits for, in words for people; NULL when there is nothing to say. */
const char *look_words(Json waits);

#endif
