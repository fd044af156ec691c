/* drive.h - takes a run from its start, or from where it stands, to where it settles.
 *
 * What happens on the way goes out as the command line asked: as a stream of JSON, or as progress
 * for a person, or not at all. At the end standard output gets the result (--json) or the final
 * state, and standard error what a person can do next.
 *
 * While it has a run, others can attach a debugger to it (debugging.h). A run that a debugger has
 * paused, with nobody attached, settles as "paused".
 *
 * Ctrl-C (and SIGTERM, SIGHUP) stops the run so that it can be resumed; a second one leaves at once,
 * which a durable run survives too. Under nohup SIGHUP does nothing. When nobody reads the stream any more the run is stopped in the
 * same way.
 */
#ifndef PAWL_DRIVE_H
#define PAWL_DRIVE_H

#include "command.h"
#include "debugging.h"
#include "stores.h"
#include "stream.h"

/* Rows that `run` and `resume` share, and their ids; drive_option() takes them. */
enum { OPTION_STREAM = 1100, OPTION_QUIET, OPTION_SET };

#define DRIVE_ROWS                                                                          \
    {"set",                                                                                 \
     0,                                                                                     \
     "PATH=JSON",                                                                           \
     "set a value in the state first, as user.name='\"Ada\"'; may be given many times",     \
     COMPLETE_NOTHING,                                                                      \
     OPTION_SET},                                                                           \
        STORE_ROW, JSON_ROW("the result as one line of JSON, the last on standard output"), \
        {"stream",                                                                          \
         0,                                                                                 \
         STREAM_WORDS,                                                                      \
         "what happens as JSON, one object a line: what nodes give back, the state after "  \
         "each, all events, or all there is to know",                                       \
         COMPLETE_WORDS,                                                                    \
         OPTION_STREAM},                                                                    \
    {                                                                                       \
        "quiet", 'q', NULL, "no progress on standard error", COMPLETE_NOTHING, OPTION_QUIET \
    }

/* What both take from the command line. */
typedef struct DriveArgs {
    Common common;
    StreamMode stream;
    bool quiet;
    Json set; /* array of [path, value], or JSON_NONE */
    bool debug, pause_on_start;
    Json breakpoints; /* array of specs, or JSON_NONE */
} DriveArgs;

typedef enum Handled { HANDLED_NOT, HANDLED_WELL, HANDLED_BADLY } Handled;

Handled drive_option(DriveArgs *args, const Option *option, char **values);
void drive_args_clear(DriveArgs *args);

typedef struct DrivePlan {
    const DriveArgs *args;
    Store *store;
    const char *store_hint; /* for the commands that we advise: NULL when they find it anyway */
    Flow *flow;             /* a new run of this, or */
    const RunStart *start;
    const RunResume *resume; /* this one */
    Recording *recording;    /* its results are taken instead of doing the work; NULL: none */
    const char *recorded;    /* the thread that it is of */
} DrivePlan;

/* Returns the exit code. */
int drive(const DrivePlan *plan);

/* What went wrong and where, and the way out, on standard error: of a run that has failed. */
void drive_say_failure(const Run *run, bool durable, const char *store_hint);

#endif
