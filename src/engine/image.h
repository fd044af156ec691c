/* image.h - everything a run is, as one JSON value.
 *
 *     image  = [run, frames]
 *     run    = [status, error, next_frame, mode, deadline, definition, folder, debug, only]
 *     frames = {"1": frame, "2": frame, ...}                 those that have not ended
 *     frame  = [parent, branch, levels, wait, extra]         parent 0: the root frame
 *     levels = [level, ...]                                  lowest first; the last one runs
 *     level  = [node, state, writes, steps, attempt, count, deadline, injected]
 *     wait   = null | [word, ...]                            what the frame waits for
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
 * that runs, [frame, depth, steps before it]: both are there only when there is something to say.
 * `extra` of a frame is null or {held: since when its clocks stand still, inject: [what has not begun]}, and `injected` of a
 * level: the node that the workflow does not have (INJECTED_ID and so on below).
 *
 * The words a frame can wait on, with what follows them:
 *
 *     go                                   nothing: the node may begin, its interrupt is behind it
 *     after                                nothing: the node is done, its edges are not chosen yet
 *     work, key, memo, answers             work outside; key names its place (step.h has the rest)
 *     sleep, until                         a time
 *     retry, until, key, error, memo, answers   the next attempt; key names its place
 *     interrupt, id, reason, prompt, options   a person; reason: before, after, approval; or what the
 *                                          node's work says, and then key, memo and answers follow
 *     tasks, [child, ...], successes, failures, ended, error   children of a task; a child is its
 *                                          result so far, 4 more once it has ended
 *     join, node, [writes or null, ...], [target, ...]   parallel branches; null: still running
 *     map, over, next, [result or null, ...], done
 *     cleaning, how, result, error         cleanup lists of tests that were ended; how it goes on then
 *     error, error, after, before          failed here, and so did the run; after: the node was done;
 *                                          before: what it waited for, when that is to be done again
 *     pause, what, info, at, position      a debugger; what: it waits for when it is let go
 *     looked                               nothing: a debugger has let it go before its node
 *     again                                nothing: the same, and what was injected before it has run
 *     finished                             nothing: the same after its node
 *     ended, result                        nothing: the same, of an element of a map
 *     failing, error, at, what, result     nothing: the same on an error; what: it waited for then;
 *                                          result: that it goes on with all the same, if there is one
 *     done                                 the root frame at its end
 *
 * Whatever a process needs to go on with a run is in its image and its definition.
 */
#ifndef PAWL_IMAGE_H
#define PAWL_IMAGE_H

#include "json.h"

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

/* wait[0] when it is that word; the others by index. */
bool wait_is(Json wait, const char *word);

enum { WAIT_WORD };
enum { WAIT_KEY = 1, WAIT_UNTIL = 1, WAIT_ERROR = 1, WAIT_RESULT = 1 };
enum { WAIT_PAUSED = 1, WAIT_PAUSE_INFO, WAIT_PAUSE_AT, WAIT_PAUSE_POSITION };
enum { WAIT_FAILING = 1, WAIT_FAILING_AT, WAIT_FAILING_BEFORE, WAIT_FAILING_GIVEN };
enum { WAIT_ID = 1, WAIT_REASON, WAIT_PROMPT, WAIT_OPTIONS };
enum { WAIT_JOIN_NODE = 1, WAIT_JOIN_WRITES, WAIT_JOIN_TARGETS };
enum { WAIT_MAP_OVER = 1, WAIT_MAP_NEXT, WAIT_MAP_RESULTS, WAIT_MAP_DONE };
enum { WAIT_TASKS_ALL = 1, WAIT_TASKS_WON, WAIT_TASKS_LOST, WAIT_TASKS_ENDED, WAIT_TASKS_ERROR };

/* An integer at an index of an array; 0 when it is none. */
int64_t image_int(Json array, size_t i);
/* Whether an image has the shape above, as far as a reader relies on it. */
bool image_valid(Json image);
bool writes_valid(Json writes); /* of a graph that is not scoped; null is */

/* The image with every deadline `by` milliseconds later and, with waits, every time that a frame waits
 * for too; consumes it. */
Json image_shift(Json image, int64_t by, bool waits);
/* The image with other places for the work that is under way in it; consumes it. */
Json image_renew_places(Json image);

#endif
