/* wait.h - what a frame waits for: an enum, and a row for each kind of wait.
 *
 * In the image a wait is null or an array that begins with a word (wait[0]). The word is the kind's name
 * there; in memory a frame has the kind beside the array (Frame.waits). The row says the rest: who wakes
 * such a frame (its status), what it does then (go_on), whether the wait fits the node that the frame
 * stands at when it is loaded (fit), where a debugger finds it parked (position), what people read
 * (shown), and where in the array the parts are that others look for. A new kind is an enumerator, a row
 * and its functions.
 *
 *     (null)                               the node may begin
 *     go                                   the same, and its interrupt is behind it
 *     after                                nothing: the node is done, its edges are not chosen yet
 *     work, key, memo, answers             work outside; key names its handle (step.h has the rest)
 *     sleep, until                         a time
 *     retry, until, key, error, memo, answers   the next attempt; key names its handle
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
 * Reading a wait here never fails: what is no wait is WAIT_UNKNOWN. image_check() refuses it.
 */
#ifndef PAWL_WAIT_H
#define PAWL_WAIT_H

#include "hooks.h"
#include "json_build.h"
#include "lifecycle.h"

typedef enum WaitKind {
    WAIT_NOTHING,
    WAIT_GO,
    WAIT_AFTER,
    WAIT_WORK,
    WAIT_SLEEP,
    WAIT_RETRY,
    WAIT_INTERRUPT,
    WAIT_TASKS,
    WAIT_JOIN,
    WAIT_MAP,
    WAIT_CLEANING,
    WAIT_FAILED,
    WAIT_PAUSE,
    WAIT_LOOKED,
    WAIT_AGAIN,
    WAIT_FINISHED,
    WAIT_ENDED,
    WAIT_FAILING,
    WAIT_DONE,
    WAIT_UNKNOWN,
    WAIT_KINDS,
} WaitKind;

/* The parts of a wait for work, for an attempt at it, or for an answer to it. */
typedef enum WorkPart { WORK_KEY, WORK_MEMO, WORK_ANSWERS, WORK_PARTS } WorkPart;

/* Whether a frame waits for it at a node only: one of a graph may go on from its start, which is none. */
typedef enum WaitsAt { AT_ANY, AT_NODE_OF_LIST, AT_NODE } WaitsAt;

typedef struct WaitRow {
    const char *word;
    const char *shape; /* what follows the word, as json_shape.h and the names in image.c have it */
    /* Says who wakes the frame, too: READY a turn of the engine, STARTING the commit and then whoever does
     * the work, TIMED the clock, WAITING a person, HOLDING its children, PARKED a debugger, FAILED a
     * resume, DONE nobody. */
    FrameStatus status;
    HookPosition position; /* of a frame that is parked while it waits for this */
    const char *shown;     /* to people; NULL: nothing worth saying */
    WaitsAt at;            /* a record that says otherwise begins anew */
    unsigned char list;    /* where the list is that has a place for each child; 0: none */
    unsigned char left;    /* where what its children left is; 0: nowhere */
    unsigned char held;    /* where another wait is that is gone on with after it; 0: none */
    unsigned char work[WORK_PARTS];
    bool (*enough)(
        const Frame *f); /* its children have come to so much that it goes on; NULL: all must end */
    void (*go_on)(Frame *f); /* what a ready frame does; NULL: its node is next */
    /* The frame was loaded, maybe with another version of the workflow: where its node is of another kind
     * now, begins that anew, or says that it cannot. NULL: fits any node. */
    bool (*fit)(Frame *f, Error *err);
} WaitRow;

extern const WaitRow wait_rows[WAIT_KINDS];

WaitKind wait_kind(Json wait);
bool wait_is(Json wait, WaitKind kind); /* the same, where one kind matters */
bool wait_is_timed(Json wait);
/* What it waits for below a pause, or the wait itself; borrowed. */
Json wait_unpaused(Json wait);
/* A part of what a frame waits for that works, will, or asks meanwhile; borrowed; JSON_NONE when it
 * has none. */
Json work_part(Json wait, WorkPart part);
Json wait_with_answers(Json wait, Json answers); /* consumes both */
Json wait_with_key(Json wait, Json key);         /* consumes both; below a pause */
Json wait_of(WaitKind kind);                     /* [word]; null for WAIT_NOTHING */
/* [word, ...]; consumes what follows it. */
#define WAIT_FOR(kind, ...) ARRAY(json_string_c(wait_rows[kind].word), __VA_ARGS__)

/* Where the parts are. */
enum { WAIT_WORD };
enum { WAIT_KEY = 1, WAIT_UNTIL = 1, WAIT_RESULT = 1 };
enum { WAIT_FAILED_ERROR = 1, WAIT_FAILED_AFTER, WAIT_FAILED_BEFORE };
enum { WAIT_PAUSED = 1, WAIT_PAUSE_INFO, WAIT_PAUSE_AT, WAIT_PAUSE_POSITION };
enum { WAIT_FAILING_ERROR = 1, WAIT_FAILING_AT, WAIT_FAILING_BEFORE, WAIT_FAILING_GIVEN };
enum { WAIT_ID = 1, WAIT_REASON, WAIT_PROMPT, WAIT_OPTIONS };
enum { WAIT_JOIN_NODE = 1, WAIT_JOIN_WRITES, WAIT_JOIN_TARGETS };
enum { WAIT_MAP_OVER = 1, WAIT_MAP_NEXT, WAIT_MAP_RESULTS, WAIT_MAP_DONE };
enum { WAIT_TASKS_ALL = 1, WAIT_TASKS_WON, WAIT_TASKS_LOST, WAIT_TASKS_ENDED, WAIT_TASKS_ERROR };

#endif
