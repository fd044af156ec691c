/* drive.h - takes a run from its start, or from where it stands, to where it settles.
 *
 * What happens on the way goes out as the command line asked: as a stream of JSON, or as progress
 * for a person, or not at all. At the end standard output gets the result (--json) or the final
 * state, and standard error what a person can do next.
 *
 * While this process holds the run, others can attach a debugger to it, answer it or cancel it. A run that a
 * debugger has paused, with nobody attached, settles as "paused". A run that another process holds is followed
 * from here in the same way.
 *
 * Ctrl-C (and SIGTERM, SIGHUP) stops the run so that it can be resumed; a second one leaves at once,
 * which a durable run survives too. Under nohup SIGHUP does nothing. When nobody reads the stream any more the run is
 * stopped in the same way. A run that another process holds, or a server, is only left.
 */
#ifndef PAWL_DRIVE_H
#define PAWL_DRIVE_H

#include "asking.h"
#include "command.h"
#include "stores.h"
#include "stream.h"
#include "tracing.h"

/* Rows that `run` and `resume` share: what they take begins with a DriveArgs. */

#define DRIVE_SET_ROW                                                                          \
    {                                                                                          \
        "set", 0, "PATH=JSON",                                                                 \
            "set a value in the state first, as user.name='\"Ada\"'; may be given many times", \
            TAKES(OPTION_SETTINGS, DriveArgs, set)                                             \
    }
#define DRIVE_STREAM_ROW                                                                      \
    {                                                                                         \
        "stream", 0, STREAM_WORDS,                                                            \
            "what happens as JSON, one object a line: what nodes give back, the state after " \
            "each, all events, or all there is to know",                                      \
            TAKES(OPTION_CHOICE, DriveArgs, stream), .completes = COMPLETE_WORDS              \
    }
#define DRIVE_QUIET_ROW \
    { "quiet", 'q', NULL, "no progress on standard error", TAKES(OPTION_FLAG, DriveArgs, quiet) }
#define DRIVE_REPORT_ROW(Args)                                                                      \
    {                                                                                               \
        "report", 0, "FILE.xml|junit=FILE",                                                         \
            "write what became of each task to a file, as JUnit's XML, also when the run fails or " \
            "is interrupted",                                                                       \
            TAKES(OPTION_TEXT, Args, drive.report), .completes = COMPLETE_FILE                      \
    }
#define DRIVE_ROWS                                                                                 \
    DRIVE_SET_ROW, STORE_ROW, SERVER_ROWS,                                                         \
        JSON_ROW("the result as one line of JSON, the last on standard output"), DRIVE_STREAM_ROW, \
        DRIVE_QUIET_ROW, OTLP_ROW(DriveArgs, otlp), BOUNDS_ROWS

/* What both take from the command line. */
typedef struct DriveArgs {
    Common common;
    StreamMode stream;
    bool quiet;
    Json set;           /* array of [path, value], or JSON_NONE */
    const char *otlp;   /* --otlp, or NULL */
    const char *report; /* where a report goes (report.h); NULL: nowhere */
    bool debug, pause_on_start;
    Json breakpoints; /* array of specs, or JSON_NONE */
} DriveArgs;

/* A settled run as a command shows it; the event is borrowed. */
typedef struct Ending {
    const Common *common;
    const char *store_hint; /* for the commands that we advise: NULL when they find it anyway */
    bool durable;           /* the store outlives this process */
    const char *file;       /* that the run was started from; NULL: it was there before */
    Json settled;           /* the event (subscription.h), with its state */
} Ending;

/* Of a run that settled elsewhere, or before we came, the event says little: the store has the rest. */
void drive_complete(Asking *asking, Json *settled);

/* What is to be said of it, for people. */
void ending_say(const Ending *ending);

typedef struct DrivePlan {
    const DriveArgs *args;
    Asking *asking;
    const char *store_hint; /* as in Ending */
    const char *operation;  /* run_start or run_resume */
    Json operation_args;    /* given */
    const char *file;       /* as in Ending */
    const char *recorded;   /* the thread whose results are taken; NULL: none */
    bool sums_up;           /* what became of each node is said at the end */
} DrivePlan;

/* Returns the exit code. */
int drive(const DrivePlan *plan);

/* How many results were taken, and what was not on record, on standard error. */
void drive_say_recorded(Json settled, const char *thread);

#endif
