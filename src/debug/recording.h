/* recording.h - a run of the past, to be run again without doing its work again.
 *
 * A recording holds, for every execution of a node that leaves the engine (a command, a request, a
 * script, a sleep, an answer), what came of it, by its *place*: the path of its frame, the nodes around
 * it in that frame, its own name, and how often that had been come to before. In a run with a recording
 * those executions are not done but taken from it, up to where the run is to be *live*. What the
 * recording does not have is done.
 *
 *     Recording *r = recording_new(store, &source, &err);
 *     Run *run = engine_start_now(...);
 *     run_set_hooks(run, &recording_hooks, r);            before the loop has its next turn
 *     ... settled: recording_report(r) ...
 *     run_set_hooks(run, NULL, NULL); recording_free(r);
 *
 * What came of an execution is what its checkpoint says (engine/result.h).
 *
 * Taken are, whatever the kind of the node, also those executions that a person had a part in: stopped at
 * by interrupt_before or interrupt_after, skipped, or done with another config. Attempts
 * are not taken one by one, and neither are the tries of a person: only how the node ended. Nodes that hold
 * others (workflow, map, while, lists of tasks) are taken only when they were skipped or had another config;
 * otherwise they run, on what is taken inside them (of one that a person tried again: in its last try, with
 * what was there when that began), and so do jq, lua and callbacks.
 *
 * What a person changed before or after a node, and what an injected node left there, is part of the
 * recording too: the run is changed at the same places. So is where a person sent a frame: from
 * before the node that it stood at, whatever that had begun, or from after it when it was done. A run that a
 * recording was taken for does not say so in its own history: what was taken of pure nodes is not in a
 * recording of that.
 *
 * Executions that something else ended (a sibling that failed or won, a timeout around them, a cancelled
 * run) came to nothing. They are done: whatever is live later may need them, as a server in the
 * background of a test. The report tells them from those that were never begun.
 */
#ifndef PAWL_RECORDING_H
#define PAWL_RECORDING_H

#include "hooks.h"
#include "lineage.h"

typedef struct Recording Recording;

/* Of the line that ends at seq, which has to go back to the beginning of the run. live_from: the node
 * from which on (wherever it is come to first, its name or the id of a task) everything is done again;
 * NULL: nothing is. ERR_USAGE when replaying has no such node, with the nearest. Reads the store as
 * lineage.h does; keeps nothing of the store and of flow. */
typedef struct RecordingSource {
    int64_t run, seq;
    const Flow *flow;      /* that it ran */
    const Flow *replaying; /* that is to run now, maybe another version of it */
    const char *live_from;
} RecordingSource;
Recording *recording_new(Store *store, const RecordingSource *source, Error *err);
void recording_free(Recording *r); /* accepts NULL */

/* For RunHooks.at, at any place and before all else: HOOK_CHANGE and *info (given) when something is
 * changed there, once, HOOK_GOTO and *info when the frame goes elsewhere from there, or HOOK_GO. It counts
 * the nodes that are come to, those that are never taken too. */
HookVerdict recording_come_to(Recording *r, const HookPlace *place, Json *info);

/* For RunHooks.at, where the frame is not parked: before a node HOOK_TAKE and *info (given) when the recording
 * has it, and otherwise HOOK_GO. Not taken is what a person wants done after all: a node with another config,
 * or a retry of one that was taken. */
HookVerdict recording_take(Recording *r, const HookPlace *place, Json *info);

/* The run that takes from it goes back to a checkpoint of its own history (run_rewind): what comes after that is
 * taken once more. What it had counted up to there is read from its history, `there` (live_from is that of the
 * recording), on any thread; given, JSON_NONE when it cannot be read. */
Json recording_counts(Store *store, const RecordingSource *there, Error *err);
void recording_go_back(Recording *r, Json counts);
const char *recording_live_from(const Recording *r); /* NULL: it never is live */

/* Hooks that do only that, for a run without a debugger. ctx is the recording. */
extern const RunHooks recording_hooks;

/* {taken, live, missing: [{frame, node, unfinished}], more} for people: how many executions were taken
 * and how many of those that leave the engine were done; the ones that were done because the recording
 * lacks them, at most RECORDING_MISSING_MAX of them, then `more`. Given. */
enum { RECORDING_MISSING_MAX = 1000 };
Json recording_report(const Recording *r);

#endif
