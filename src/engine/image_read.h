/* image_read.h - reading images that may come from anywhere: their frames, the levels of those, what they
 * wait for (image.h says what an image is).
 *
 * Nothing in an image is taken for granted: what is not there is JSON_NONE, 0 or NULL, and a frame whose
 * parent is not an older one has none, so that going down always ends. Values are borrowed from the image.
 */
#ifndef PAWL_IMAGE_READ_H
#define PAWL_IMAGE_READ_H

#include "flow.h"
#include "hooks.h"
#include "image.h"
#include "wait.h"

/* ---- values of any kind ---- */

static inline bool safe_is_nothing(Json v) {
    return json_is_none(v) || json_kind(v) == JSON_NULL;
}

static inline bool safe_differ(Json a, Json b) {
    return json_is_none(a) != json_is_none(b) || (!json_is_none(a) && !json_equal(a, b));
}

/* ---- frames ---- */

static inline Json image_key(int64_t frame) { /* a number as a key; given */
    return json_string_fmt("%lld", (long long)frame);
}

Json image_frame(Json image, int64_t frame);
size_t image_depth(Json image,
                   int64_t frame); /* how many levels it has; 0: there is no such frame */
int64_t image_branch(Json image, int64_t frame);
int64_t image_parent(Json image, int64_t frame);
Json image_wait(Json image, int64_t frame);      /* whatever it waits for, a debugger aside */
bool image_is_parked(Json image, int64_t frame); /* by a debugger */

/* ---- levels ---- */

/* A level of a frame; of one image, and the same in the next while it is there. */
typedef struct LevelAt {
    int64_t frame;
    size_t level;
} LevelAt;

LevelAt image_top(Json image, int64_t frame); /* of a frame that is not there: its lowest */
bool image_has(Json image, LevelAt at);
Json image_part(Json image, LevelAt at, size_t part); /* IMAGE_NODE and so on */
int64_t image_part_int(Json image, LevelAt at, size_t part);
/* To the level below, or the top of the frame around; false: there is none. */
bool image_go_down(Json image, LevelAt *at);
/* The level whose state it is that a level shows, and that state: what a node there sees. */
LevelAt image_owner(Json image, LevelAt at);
Json image_seen(Json image, LevelAt at);
/* The number of the injection that the level is of, 0: of none; and where it was put. */
int64_t image_injected(Json image, LevelAt at, InjectWhere *where);

/* ---- with the workflow ---- */

/* The graph that is in progress there. NULL where the workflow has none: an injected node, or another
 * version of the file. */
const Graph *image_graph(const Flow *flow, Json image, LevelAt at);
/* A node of a graph by its name in an image, where `m[]` is what the map `m` does. NULL: none, which it
 * also is of no graph and for what is no string. */
const Node *image_node(const Graph *g, Json name);
/* Whether executions of a node leave the engine: a command, a request, a sleep, an answer. */
static inline bool node_leaves(const Node *node) {
    return node->kind->leaves;
}

/* What people call a frame: "main", "parallel[0]", "map[3]", "cleanup". flow may be NULL unless its parent waits
 * for tasks (WAIT_TASKS). */
enum { FRAME_NAME_SIZE = 40 };
void image_frame_name(const Flow *flow, Json image, int64_t frame, char *out, size_t size);
/* The same by what the frame around waits for (WAIT_NOTHING: there is none) and the node that it is at. */
void frame_name_by(WaitKind wait, const Node *maker, int64_t branch, char *out, size_t size);

#endif
