/* replay.h - `--replay THREAD [--live-from NODE]`, for the commands that start a run: its work is not done,
 * but taken from the record of another (recording.h).
 *
 *     REPLAY_ROWS(args) in the table of options, where args.replay is a ReplayArgs; replay_is_sensible() after it.
 */
#ifndef PAWL_REPLAY_H
#define PAWL_REPLAY_H

#include "drive.h"
#include "place.h"

#define REPLAY_ROWS(args)                                                                    \
    {"replay", 0, "THREAD[@SEQ]",                                                            \
     "take the results that another run had (up to a checkpoint) instead of doing its work " \
     "again",                                                                                \
     TAKES(OPTION_PLACE, args, replay.from)},                                                \
    {                                                                                        \
        "live-from", 0, "NODE", "with --replay: from this node on everything is done again", \
            TAKES(OPTION_TEXT, args, replay.live_from)                                       \
    }

/* What the command line says of it. */
typedef struct ReplayArgs {
    Place from;            /* the run whose results are taken; no thread: none */
    const char *live_from; /* NULL: all of them */
} ReplayArgs;

/* False after saying that --live-from needs --replay. */
bool replay_is_sensible(const Command *command, const ReplayArgs *args);

/* As the operation run_start takes it; JSON_NONE: nothing is replayed. */
Json replay_args(const ReplayArgs *args);

#endif
