/* session_api.h - the operations of debug sessions, and what sessions tell.
 *
 * They are rows of the one table (operation.h). Each also takes `thread`, the run whose session is asked;
 * whoever has the session in hand (session_call()) leaves it out. Nothing that is asked ends the session but
 * what says so. What happens comes as events: an answer never waits for it.
 *
 * "frame" is the number of a frame. Left out, it is the session's *selected* frame: the one that
 * paused last, or was chosen with `frame`. "all" is allowed where it says so. A "path" is an array
 * of steps (["a", 0, "b"]) or a jq path as text (".a[0].b"). "checkpoint" is a number: what is
 * asked for is then answered from the history.
 *
 * What each takes and gives is in its row (session_operations.c) and in the named shapes (things.c). What rows do
 * not say:
 *
 *     breakpoint_set    fields (breakpoint.h), a `spec`, or both: fields beside a spec are added to what it says.
 *                       Of several all are set or none
 *     breakpoint_change a null takes a field away
 *     breakpoint_save   in the folder of the store, by the workflow's file; without any breakpoint and watch, what was
 *                       kept is gone. Who wants it elsewhere takes it as an answer
 *     breakpoint_load   adds to what is there; what the session has already is not set again
 *     back              a step into a node that holds others is one, too. What came after stays, as another
 *                       line of the history
 *     reverse_continue  without a hit it stops at the beginning: breakpoints is []. `after` is of a node whose
 *                       frame ended with it; frame and node are where the run stands then
 *     goto              `ended`: the run had, at that checkpoint
 *     frame             gives the frame with its stack, innermost level first
 *     variables         gives `value` of small values, `children` of others
 *     config_set        for this one execution; the path is inside the node as written
 *     replay            a new run of one node on the input that it had; `replayed` tells how it ended
 *     edges             `last` is the newest choice of the frame, or of one that it came from, and may be of a node
 *                       before: where there is one way on, nothing is chosen
 *     history           newest last; frames that have ended are in it, too
 *     export            gives the whole session as one document (export.h)
 *
 * ---- events: objects with "event" ----
 *
 * paused         {frame, frame_name, node, kind, position, reason, breakpoints: [id], file, line,
 *                 column, depth, checkpoint, at, error?, change?: {path, old, new},
 *                 because? (frame), while? (how `continue while` ended here), edited?, reattached?: it stood there
 *                 before somebody attached}
 *                reason: initial, breakpoint, step, user_pause, exception, interrupt, approval
 * resumed        {frame, node, how ("continue", "step over", ..., "skip", "retry")}
 * log            {frame, node, breakpoint, message}              a log point
 * output         {frame, node, stream, text}                     of a node's work
 * waiting        {frame, node, interrupt, reason, prompt?, options?}  a person has to answer
 * node, step     {frame, node, kind, attempt} and {frame, node, status, checkpoint}: with
 *                `steps` on
 * retry          {frame, node, error, attempt, attempts, delay}
 * warning        {frame?, node?, message}
 * frame          {frame, name, parent?, status: "created"|"completed"}
 * stopped        {paused: [frame], waiting: [frame]}   no frame goes on by itself any more
 * breakpoint     {change: "set"|"changed"|"deleted"|"hit", breakpoint}
 * changed        {frame, what: "variables"|"config"|"injected"|"selected"}
 * settled        {status, checkpoint, error?, while?}  the run has ended, or left; or somebody went
 *                                                      to where it had ended
 * session        {status: "attached"|"detached"|"aborted"|"expired"}
 * replayed       {thread, run, status, node?, checkpoint, error?, diff? (against what was recorded)}
 */
#ifndef PAWL_SESSION_API_H
#define PAWL_SESSION_API_H

#include "operation.h"

extern const Operation session_operations[]; /* the last has no name */

#endif
