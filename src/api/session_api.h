/* session_api.h - the operations of debug sessions: what each takes and gives, and what sessions tell.
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
 * ---- the session ----
 *
 * session        {}                        {id, run, thread, workflow, file, dialect, run_status,
 *                                           status ("running", "paused", "waiting", "ended"),
 *                                           frame? (selected), paused (how many frames are),
 *                                           pause_all_on_breakpoint, auto_resume, idle_limit (s),
 *                                           expires_in? (s; left out: never), checkpoint, created,
 *                                           error?}
 * configure      {pause_all_on_breakpoint?, auto_resume?, idle_limit? (seconds; 0: none),
 *                 steps? (also tell `node` and `step` events)}             as session
 * extend         {seconds?}                as session: the idle limit begins anew, or is this long
 * detach         {}                        {}  the run goes on without a debugger; the session
 *                                          is over
 * abort          {}                        {}  the run is cancelled; cleanup tasks run
 * operations     {}                        {operations: [{name, summary, arguments: [{name, type,
 *                                           about, required?, one_of?, nullable?, words?, min?,
 *                                           max?}]}]}: this table, for those who only have the
 *                                          socket
 *
 * ---- breakpoints: fields as in breakpoint.h ----
 *
 * breakpoint_set     {fields...} or {spec: "NODE if EXPR", fields...}, or
 *                    {breakpoints: [{...}, ...]}
 *                                          {breakpoint: {...}} or {breakpoints: [...]}. Fields
 *                                          beside a spec are added to what it says; of several
 *                                          breakpoints (each like the first two, or a spec alone)
 *                                          all are set or none
 * breakpoint_change  {id, fields...}       {breakpoint}; a null takes a field away
 * breakpoint_delete  {id | ids | group | all: true}        {deleted: [id]}
 * breakpoint_enable  {id | ids | group | all: true, enabled}   {changed: [id]}
 * breakpoints        {}                    {breakpoints: [...]}
 *
 * ---- control ----
 *
 * continue       {frame? ("all")}          {resumed: [frame]}. Without a frame: all that are paused
 *                                          when pause_all_on_breakpoint is on, the selected one
 *                                          otherwise
 * pause          {frame? ("all")}          {paused: [frame], later: [frame]}. Without a frame: all
 * step           {frame?, kind: "over"|"into"|"out"}       {resumed: [frame]}
 * back           {frame?, count?}          {checkpoint, frame, node?}: a new line of the history. A
 *                                          step into a node that holds others is one, too
 * reverse_continue {frame?}                {checkpoint, frame, node, breakpoints: [id]}; without a
 *                                          hit it stops at the beginning: breakpoints is []. Of a
 *                                          node whose frame ended with it: after: {frame, path
 *                                          ("main/fork[0]"), node}; frame and node are where the
 *                                          run stands then
 * goto           {frame?, node}            {frame, node}; or {checkpoint}: the run goes back to
 *                                          that one. {checkpoint, frame, node}, and where it had
 *                                          ended then: ended ("completed" or "failed")
 * skip           {frame?, output?}         {resumed: [frame]}
 * retry          {frame?}                  {resumed: [frame]}
 * answer         {interrupt?, frame?, value?, decision?}   {answered: id}
 *
 * ---- looking ----
 *
 * frames         {offset?, limit? (100)}   {frames: [FRAME], total, selected}
 * frame          {frame?}                  FRAME with stack; it is the selected one from now on.
 *                                          Without a number: of the one that is
 *   FRAME = {frame, parent?, name, status, node?, kind?, file?, line?, column?, depth, since?,
 *            made_by? (node), edited? (the config of its node, for this execution),
 *            position?, reason?, breakpoints?, error?, change?, because?,  when it is paused
 *            interrupt?: {id, reason, prompt?, options?},                when it waits for a person
 *            waits_for?: [frame], pending (how many changes), injected (how many nodes)}
 *   stack = [{depth, node, kind, workflow, file, line, column}], innermost first
 * node           {frame?}                  {node, kind, file, line, end_line, title?, attempt,
 *                                           timeout?, injected?, edited?, source (as written),
 *                                           edges: [{to, when?, on?}]}
 * config         {frame?}                  {node, kind, raw, expressions: [{path, text}], resolved}
 *                                          or error instead of resolved; edited: true when it was
 * variables      {frame?, checkpoint?, path?, offset?, limit? (100)}
 *                                          {path, type, size, value} of small values, otherwise
 *                                          {path, type, size, children: [{key, type, size,
 *                                           preview}], total}
 * summary        {frame?, checkpoint?}     {keys: [{key, type, size, preview}], total, size}
 * search         {frame?, checkpoint?, text, limit? (50)}  {found: [{path, type, preview, where:
 *                                           "key" | "value"}], more: bool}
 * largest        {frame?, checkpoint?, limit? (10)}        {largest: [{path, type, size}]}
 * diff           {frame?, since? ("pause"|"node"|"start"), from?, to? (checkpoints)}
 *                                          {from?, to?, added: [{path, new}], removed: [{path, old}],
 *                                           changed: [{path, old, new}]}
 * evaluate       {frame?, checkpoint?, expression, limit? (100)}   {results: [...], more: bool}
 * complete       {frame?, text, cursor?, what? ("expression"|"node"|"path")}
 *                                          {items: [{text, kind, detail?, from}]}
 * watch_add      {expression}              {watch: {id, expression}}
 * watch_delete   {id | all: true}          {deleted: [id]}
 * watches        {frame?}                  {watches: [{id, expression, results | error}]}
 * source         {frame?, file?, line?, around? (5)}   {file, first, lines: [text], current? (line),
 *                                           breakpoints: [line]}
 * nodes          {}                        {nodes: [{name, kind, workflow, file, line, id?}],
 *                                           files}
 * graph          {format? ("mermaid"|"dot"|"json")}   {text}
 * history        {frame?, before? (checkpoint), limit? (50), all? (every checkpoint)}.
 *                                          Without a frame: of all frames, those that have ended
 *                                          too
 *                                          {steps: [{checkpoint, parent?, step, frame, node?, status,
 *                                           result? ("success"|"failure"|"skipped"), at, took?
 *                                           (ms), paused, injected, edited (its config, for this
 *                                           execution), changed: [key], current}], more: bool},
 *                                           newest last
 *
 * ---- changing ----
 *
 * set            {frame?, path, value}     {pending: [{id, path, value}]}
 * unset          {frame?, path}            {pending: [{id, path}]}
 * pending        {frame?}                  {pending: [...]}
 * revoke         {frame?, id | all: true}  {pending: [...]}
 * config_set     {frame?, path, value}     as config: for this one execution; path inside the node
 *                                          as written
 * config_reset   {frame?}                  as config
 * inject         {frame?, where? ("before"|"after"), name?, node: {...} | text (YAML)}
 *                                          {injected: {id, where, name, node}}
 * injected       {frame?}                  {injected: [...]} that have not begun. Without a
 *                                          frame: of all
 * inject_remove  {id}                      {removed: id}
 *
 * ---- beyond this run ----
 *
 * replay         {checkpoint?, node?, thread?}   {thread, run}: a new run of one node on the input
 *                                          that it had; `replayed` tells how it ended. node: its
 *                                          last execution, before the checkpoint if there is one
 *                                          too
 * export         {}                        the whole session as one document (export.h)
 *
 * ---- events: objects with "event" ----
 *
 * paused         {frame, frame_name, node, kind, position, reason, breakpoints: [id], file, line,
 *                 column, depth, checkpoint, at, error?, change?: {path, old, new},
 *                 because? (frame), edited?, reattached?: it stood there before somebody
 *                 attached}
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
 * settled        {status, checkpoint, error?}          the run has ended, or left; or somebody went
 *                                                      to where it had ended
 * session        {status: "attached"|"detached"|"aborted"|"expired"}
 * replayed       {thread, run, status, node?, checkpoint, error?, diff? (against what was recorded)}
 */
#ifndef PAWL_SESSION_API_H
#define PAWL_SESSION_API_H

#include "operation.h"

extern const Operation session_operations[]; /* the last has no name */

#endif
