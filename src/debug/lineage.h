/* lineage.h - the history of a run, along the lineage of a checkpoint.
 *
 * Checkpoints form a tree; a lineage is the way from the first to one of them. Reads the store only: whoever
 * calls makes sure that what it wants is durable (engine_when_durable()).
 *
 * A *step* is a checkpoint that ends an execution of a node: its status is "completed", "failed",
 * "skipped" or "joined", and its node is not "". What the node saw is in the image of its parent: a frame
 * that ends with its last node is not in the image any more that comes of it.
 *
 * The number of a frame is its own in a lineage, whereas in another one of the same run it may be that of
 * another frame.
 */
#ifndef PAWL_LINEAGE_H
#define PAWL_LINEAGE_H

#include "flow.h"
#include "image_read.h"
#include "store_chain.h"

#include <stddef.h>
#include <string.h>

/* One checkpoint of a lineage; strings are owned. */
typedef struct LineageStep {
    int64_t seq, parent, step, frame, at;
    char *node, *status;
} LineageStep;

typedef struct Lineage {
    LineageStep *items; /* oldest first */
    size_t n;
} Lineage;

/* The lineage that ends at a checkpoint; at most the last `max` of it (0: all). The store is read in long
 * stretches, not one checkpoint at a time. False on error: *out is then empty. */
bool lineage_read(Store *store, int64_t run, int64_t seq, size_t max, Lineage *out, Error *err);
void lineage_clear(Lineage *lineage);

/* Calls fn for each checkpoint of a lineage with the images before it (null before the first of all) and at
 * it; false from fn stops. One pass, which costs what the changes do; a lineage that begins later than its
 * run costs one image more. */
typedef struct LineageImage {
    size_t index; /* in lineage->items */
    const Checkpoint *checkpoint;
    Json before, after; /* borrowed */
} LineageImage;
typedef bool (*LineageImageFn)(void *ctx, const LineageImage *at);
bool lineage_images(Store *store, int64_t run, const Lineage *lineage, LineageImageFn fn, void *ctx,
                    Error *err);

static inline bool lineage_is(const LineageStep *c, const char *status) {
    return !strcmp(c->status, status);
}
bool lineage_is_step(const LineageStep *c);
/* "success", "failure", "skipped"; NULL for what is no step. */
const char *lineage_result(const LineageStep *c);
/* Index of the newest step of a frame before index `before`; -1: none. frame 0: of any. */
ptrdiff_t lineage_last_step(const Lineage *lineage, int64_t frame, size_t before);

/* What the running level of a frame sees in an image: its state, or in the tasks dialect all variables in
 * sight. frame 0: the root. Given; JSON_NONE: no such frame. flow is the run's. */
Json lineage_state(const Flow *flow, Json image, int64_t frame);
Json lineage_state_at(const Flow *flow, Json image, LevelAt at); /* the same of a level */
/* The values of the variables of the maps around a frame, as frame_variables() has the last of them: of
 * each map its element and the number of that, outermost first. Given, an array; JSON_NONE: no such
 * frame. */
Json lineage_variables(Json image, int64_t frame);
/* The name of a frame that stays the same from run to run: "main", "main/plan[0]/each[3]": the nodes that
 * made it, outermost first, and its branch. "__start__" stands for a node where the branches begin with
 * their graph. Given, a string; JSON_NONE: no such frame. */
Json lineage_frame_path(Json image, int64_t frame);

/* For session_api.h's `history`. all: every checkpoint and not only steps; frame 0: of all frames; before 0:
 * up to the end; limit 0: 50. head is marked `current`. `took` is the time since the frame began with the
 * node or came to it, without that in which it stood still; for a node that holds others that is all the time
 * that those took. */
typedef struct LineageQuery {
    int64_t run, head;
    int64_t frame, before;
    size_t limit;
    bool all;
} LineageQuery;
enum { LINEAGE_HISTORY_LIMIT = 50 };
Json lineage_history(Store *store, const LineageQuery *query, Error *err);

#endif
