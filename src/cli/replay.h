/* replay.h - `--replay THREAD [--live-from NODE]`, for the commands that start a run: its work is not done,
 * but taken from the record of another (recording.h).
 *
 *     REPLAY_ROWS in the table of options; replay_option() in the handler, replay_is_sensible() after it.
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
void replay_clear(ReplayArgs *args);

/* False after saying that --live-from needs --replay. */
bool replay_is_sensible(const Command *command, const ReplayArgs *args);

/* As the operation run_start takes it; JSON_NONE: nothing is replayed. */
Json replay_args(const ReplayArgs *args);

#endif
