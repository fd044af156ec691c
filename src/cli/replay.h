/* replay.h - `--replay THREAD [--live-from NODE]`, for the commands that start a run: its work is not done,
 * but taken from the record of another (recording.h).
 *
 *     REPLAY_ROWS in the table of options; replay_option() in the handler, replay_is_sensible() after it;
 *     replay_recording() when the store is open; replay_say() when the run has settled.
 */
#ifndef PAWL_REPLAY_H
#define PAWL_REPLAY_H

#include "drive.h"
#include "place.h"

enum { OPTION_REPLAY = 1200, OPTION_LIVE_FROM };

#define REPLAY_ROWS                                                                          \
    {"replay",                                                                               \
     0,                                                                                      \
     "THREAD[@SEQ]",                                                                         \
     "take the results that another run had (up to a checkpoint) instead of doing its work " \
     "again",                                                                                \
     COMPLETE_NOTHING,                                                                       \
     OPTION_REPLAY},                                                                         \
    {                                                                                        \
        "live-from", 0, "NODE", "with --replay: from this node on everything is done again", \
            COMPLETE_NOTHING, OPTION_LIVE_FROM                                               \
    }

/* What the command line says of it. */
typedef struct ReplayArgs {
    Place from;            /* the run whose results are taken; no thread: none */
    const char *live_from; /* NULL: all of them */
} ReplayArgs;

Handled replay_option(const Command *command, ReplayArgs *args, const Option *option,
                      char **values);
void replay_args_clear(ReplayArgs *args);

/* False after saying that --live-from needs --replay. */
bool replay_is_sensible(const Command *command, const ReplayArgs *args);

/* The results, for a run of flow. NULL after saying why there are none; *code is then the exit code. Reads
 * the store as lineage.h does. */
Recording *replay_recording(const Common *c, const ReplayArgs *args, const Flow *flow, Store *store,
                            int *code);

/* How many results were taken, and what was not on record, on standard error. thread: whose. */
void replay_say(const Recording *recording, const char *thread);

#endif
