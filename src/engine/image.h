/* image.h - everything a run is, as one JSON value.
 *
 *     image  = [run, frames]
 *     run    = [status, error, next_frame, mode, deadline, definition, folder, debug, only, fetched, trace,
 *               starter]
 *     frames = {"1": frame, "2": frame, ...}                 those that have not ended
 *     frame  = [parent, branch, levels, wait, extra]         parent 0: the root frame
 *     levels = [level, ...]                                  lowest first; the last one runs
 *     level  = [node, state, writes, steps, attempt, count, deadline, injected]
 *     wait   = null | [word, ...]                            what the frame waits for: wait.h
 *
 * A state that is the very one of the level below (of the parent's last level, for the lowest) is null:
 * branches and elements of a map begin that way, and thousands of them cost nothing each. A level that
 * goes its own way is first given a copy by its patch, then what it changed. In a scoped graph (scope.h)
 * null means that the variables are those of the level below, for good.
 *
 * A level is a graph in progress: that of the run, of the node that the level below stands at, or of the
 * frame that made this one. `node` is the name of the node that is next or under way, null
 * past the last one. `writes` is what the level has written, for whoever takes it over at its end
 * (reduce.h), null when nobody will; in a scoped graph, what the task under way remembers (tasks.c). `steps` counts nodes for the recursion limit, `attempt` failed
 * attempts at the node, `count` turns of its loop; `deadline` is when the node's or the graph's time
 * is up (ms since 1970, 0: never).
 *
 * `definition` is null, or the key of a definition that was taken instead of the run's first one.
 * `folder` is where the run was started. `debug` is a debugger's own (hooks.h), `only` the one node
 * that runs, [frame, depth, steps before it]; `fetched` has the tests that were read when their task began
 * (fetched.h), [number, definition] for each that levels are inside of; `trace` is the trace that the run belongs to
 * (run_trace.h); `starter` is who started it (RunStart.by). All five are there only when there is something to say.
 * `extra` of a frame is null or {held: since when its clocks stand still, inject: [what has not begun]}, and `injected` of a
 * level: the node that the workflow does not have (INJECTED_ID and so on below), or the number of the fetched test that it is
 * inside of.
 *
 * Whatever a process needs to go on with a run is in its image and its definition.
 */
#ifndef PAWL_IMAGE_H
#define PAWL_IMAGE_H

#include "store_chain.h"

enum { IMAGE_RUN, IMAGE_FRAMES };
enum {
    IMAGE_STATUS,
    IMAGE_ERROR,
    IMAGE_NEXT_FRAME,
    IMAGE_MODE,
    IMAGE_DEADLINE,
    IMAGE_DEFINITION,
    IMAGE_FOLDER,
    IMAGE_RUN_FIELDS, /* at least */
    IMAGE_DEBUG = IMAGE_RUN_FIELDS,
    IMAGE_ONLY,
    IMAGE_FETCHED,
    IMAGE_TRACE,
    IMAGE_STARTER,
    IMAGE_RUN_END, /* at most */
};
enum { IMAGE_PARENT, IMAGE_BRANCH, IMAGE_LEVELS, IMAGE_WAIT, IMAGE_EXTRA };
enum {
    IMAGE_NODE,
    IMAGE_STATE,
    IMAGE_WRITES,
    IMAGE_STEPS,
    IMAGE_ATTEMPT,
    IMAGE_COUNT,
    IMAGE_LEVEL_DEADLINE,
    IMAGE_LEVEL_FIELDS, /* at least */
    IMAGE_INJECTED = IMAGE_LEVEL_FIELDS,
};

/* What a level has at IMAGE_INJECTED; where: InjectWhere of hooks.h. */
enum {
    INJECTED_ID,
    INJECTED_WHERE,
    INJECTED_LEVEL,
    INJECTED_NAME,
    INJECTED_NODE,
    INJECTED_DEFINITION,
    INJECTED_FIELDS,
};

/* What the head has for each test that was fetched. */
enum { FETCHED_NUMBER, FETCHED_DEFINITION };

/* An integer at an index of an array; 0 when it is none. */
int64_t image_int(Json array, size_t i);
/* The number of a frame from its key; 0 when it is none. */
int64_t frame_number(Json key);
/* Whether an image has the shape above: whatever goes on from one asks first. The sentence begins with the
 * path to what has not. */
bool image_check(Json image, Error *err);
/* The image of a checkpoint, as the store has it, checked; JSON_NONE: an error. weight as chain_image() has it. */
Json image_load(Store *store, const RunRow *row, int64_t seq, ChainWeight *weight, Error *err);
bool writes_valid(Json writes); /* of a graph that is not scoped; null is */

/* A time, `by` milliseconds later; still one, however far that is. */
int64_t time_moved(int64_t at, int64_t by);
/* The image with every deadline `by` milliseconds later and, with waits, every time that a frame waits
 * for too; consumes it. */
Json image_shift(Json image, int64_t by, bool waits);
/* The image of a run that `by` starts; NULL: nobody said who. Consumes it. */
Json image_of_starter(Json image, const char *by);
/* The image with other places for the work that is under way in it; consumes it. */
Json image_renew_places(Json image);

#endif
