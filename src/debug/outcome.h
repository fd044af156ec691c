/* outcome.h - what an execution of a node came to, found from images of its run.
 *
 * A checkpoint says that a node ended and how, not what it gave back. That is the difference
 * between the image in which the node was come to (its *base*) and the one of its end, at the level
 * that it ran in; where the level is gone by then, it is what the level handed on: a branch its
 * writes, an element its result, a failure its error.
 *
 *     Ended e = {.at = {frame, level}, .flow = flow, .graph = graph, .node = node,
 *                .base = base, .before = before, .after = after, .taker = parent or 0};
 *     Json info = outcome_find(&e, "completed");              forms: recording_take() in recording.h
 *
 * Images may come from anywhere: nothing in them is taken for granted, what is not there is
 * JSON_NONE, 0 or NULL, and a frame whose parent is not older has none. All here are functions of
 * their arguments and keep nothing; they borrow, and give where it says so.
 */
#ifndef PAWL_OUTCOME_H
#define PAWL_OUTCOME_H

#include "flow.h"
#include "hooks.h"
#include "image.h"
#include "wait.h"

#include <stdbool.h>

/* ---- values of any kind ---- */

static inline Json safe_item(Json array, size_t i) {
    return json_kind(array) == JSON_ARRAY ? json_array_get(array, i) : json_none();
}

static inline Json safe_get(Json object, Json key) {
    bool there = json_kind(object) == JSON_OBJECT && json_kind(key) == JSON_STRING;
    return there ? json_object_get(object, key) : json_none();
}

static inline Json safe_get_c(Json object, const char *key) {
    return json_kind(object) == JSON_OBJECT ? json_object_get_c(object, key) : json_none();
}

static inline int64_t safe_int(Json array, size_t i) {
    return json_kind(array) == JSON_ARRAY ? image_int(array, i) : 0;
}

static inline bool safe_is_nothing(Json v) {
    return json_is_none(v) || json_kind(v) == JSON_NULL;
}

static inline bool safe_differ(Json a, Json b) {
    return json_is_none(a) != json_is_none(b) || (!json_is_none(a) && !json_equal(a, b));
}

/* ---- frames and levels of an image ---- */

/* A level of a frame. */
typedef struct Spot {
    int64_t frame;
    size_t level;
} Spot;

/* How many levels a frame has; 0: there is no such frame. */
size_t spot_depth(Json image, int64_t frame);
int64_t spot_branch(Json image, int64_t frame);
int64_t spot_parent(Json image, int64_t frame);
/* Of a frame that is not there: its lowest. */
Spot spot_top(Json image, int64_t frame);
/* Whatever it waits for, a debugger aside. */
Json spot_wait(Json image, int64_t frame);

bool spot_exists(Json image, Spot s);
Json spot_level(Json image, Spot s);
/* A field of the level, IMAGE_NODE and so on. */
Json spot_part(Json image, Spot s, size_t part);
int64_t spot_int(Json image, Spot s, size_t part);
/* What a node there sees: of its own level, or of the one whose state that shares. */
Json spot_state(Json image, Spot s);
/* The number of the injection that the level is of, 0: of none; and where it was put. */
int64_t spot_injected(Json image, Spot s, InjectWhere *where);

/* The graph that is in progress there. NULL where the workflow has none: an injected node, or
 * another version of the file. */
const Graph *spot_graph(const Flow *flow, Json image, Spot s);
/* A node of a graph by its name in an image, where `m[]` is what the map `m` does. NULL: none,
 * which it also is of no graph and for what is no string. */
const Node *spot_node(const Graph *g, Json name);

/* ---- outcomes ---- */

/* Whether executions of it leave the engine: a command, a request, a sleep, an answer. */
bool outcome_leaves(const Node *node);
/* Whether other nodes run inside it. */
bool outcome_holds_others(const Node *node);

/* An execution, as its end is looked at. All is borrowed. */
typedef struct Ended {
    Spot at;
    const Flow *flow;
    const Graph *graph;
    const Node *node;
    Json base;          /* image when it was come to */
    Json before, after; /* images around its end */
    int64_t taker;      /* the frame that has what it left, when its own is gone; 0: none */
} Ended;

/* What it came to, by the status of its checkpoint. Given; JSON_NONE: it is not one that is taken
 * (recording.h says which are), or it cannot be known. */
Json outcome_find(const Ended *e, const char *status);

/* The same for one that was done in the image `done`, stopped after, and goes on with this
 * checkpoint. Given; JSON_NONE: nobody has changed its level meanwhile. */
Json outcome_resumed(const Ended *e, Json done);

/* What became of a state between two images, as HOOK_CHANGE has it: [[[name], value], [[name]], ...].
 * Given. */
Json outcome_changes(const Graph *graph, Json before, Json after);
/* The same for what a node that was injected there, and ends now, has left; base: before it began.
 * Given. */
Json outcome_injected(const Ended *e);

/* The error that a checkpoint of a graph is about: of the frame's top level, or of the run.
 * Given. */
Json outcome_error(const Ended *e);
/* The outcome of a node of a graph that failed so; consumes the error. JSON_NONE: it is no error,
 * or one that the engine comes to again by itself. */
Json outcome_failed(Json error);

#endif
