/* process.h - child processes that outlive us, and are found again.
 *
 * A process is started with a *place*, a folder of its own that did not exist before. Beside the
 * child runs a small supervisor (a program of its own, supervisor.h) that reads the child's output, keeps the part that fits into files in the place, and at the end writes how
 * the child ended. The supervisor belongs to nobody: when the program that started it is killed, the
 * child goes on, and whoever comes next finds the place and either waits for the end or reads it.
 *
 *     PLACE/out, PLACE/err   what the child wrote, at most max_kept bytes of each; behind them, of
 *                            what was more, the last PROCESS_TAIL bytes, as a ring
 *     PLACE/status           how it ended; written whole, last (renamed into place)
 *     PLACE/lock             held by the supervisor while it lives; its number and the child's in it
 *
 * The child, and whoever else may write there, can change these files: they are read as process_place.h says, and no
 * more than max_output bytes of each stream are in the result, whatever they hold.
 *
 * So for one place there is one execution, whatever crashes around it: process_start() on a place
 * that is there already *attaches* (it never starts a second child), and says so.
 *
 * The child leads a session of its own. Ending it ends the whole session's group; descendants that
 * keep the output open after the child is gone get a short grace, are killed if they are in its
 * group, and never hold up the result (unless the options say that it lingers).
 *
 * Callbacks come on the loop's thread. After on_exit the process is over and process_free() may be
 * called, in the callback too.
 */
#ifndef PAWL_PROCESS_H
#define PAWL_PROCESS_H

#include "buf.h"
#include "error.h"

#include <stdint.h>
#include <uv.h>

typedef struct Process Process;

typedef enum ProcessEnd {
    PROCESS_EXITED,   /* by itself; code is its exit code */
    PROCESS_SIGNALED, /* by a signal that we did not send; code is the signal */
    PROCESS_TIMEOUT,  /* ended by us: its time was up */
    PROCESS_ENDED,    /* ended by us: process_end() */
    PROCESS_LOST,     /* the supervisor died without a word: the machine or somebody killed it. The
                         child dies with it, and its group too when we are watching */
    PROCESS_FAILED,   /* never started: code is an errno */
} ProcessEnd;

enum { PROCESS_TAIL = 64 << 10, PROCESS_GRACE_MAX = 5000 };

typedef struct ProcessResult {
    ProcessEnd end;
    int code;
    Buf out, err;              /* up to max_output bytes; owned by the process */
    Buf out_tail, err_tail;    /* the end of what came after that, up to PROCESS_TAIL bytes */
    uint64_t out_len, err_len; /* how much was written in all */
    bool damaged;              /* PROCESS_LOST, since the files of its place are not its own */
    int64_t started, finished; /* milliseconds since 1970 */
} ProcessResult;

typedef struct ProcessOptions {
    const char *place;       /* the folder; its parent is there */
    const char *const *argv; /* NULL-terminated */
    const char *search;      /* where argv[0] is looked for, as in PATH; NULL: the PATH of env */
    const char *const *env;  /* NULL-terminated "NAME=value"; NULL: it has none */
    const char *cwd;         /* NULL: ours */
    const char *input;       /* for its standard input; NULL: /dev/null */
    size_t input_len;
    /* Where it is long it is in a file (unnamed_file.h), from its beginning, instead. That stays the caller's. */
    bool input_is_file;
    int input_file;
    /* What is to be hidden in its output (mask_write()): neither the files of the place nor anybody else gets to see
     * it, and lengths are those without it. NULL: nothing. */
    const char *mask;
    size_t mask_len;
    size_t max_output; /* bytes of each stream in the result */
    size_t max_kept; /* bytes of each stream in the place, if more; the rest is read and dropped */
    uint64_t timeout_ms; /* since its start, whoever started it; 0: none */
    uint64_t grace_ms;   /* between SIGTERM and SIGKILL; 0: 2000; at most PROCESS_GRACE_MAX */
    int end_signal;      /* instead of SIGTERM; 0: none */
    /* That goes to the child alone, and whoever else has its output open may go on with it until the grace is over. SIGKILL
     * goes to the group in any case. */
    bool end_alone;
    /* It is over once the child is gone and nobody has its output open any more, however long that takes. What is left
     * then, or when it is to end in the meantime, is killed. */
    bool lingers;
    bool joined; /* what it writes to standard error is a part of its standard output, in order */
    /* Output as it comes, for the log: stream is 1 or 2. Of what is kept only, nothing when we are
     * attached, and with gaps when we are too slow to take it: the child never waits for us. May be
     * NULL. */
    void (*on_output)(void *ctx, int stream, const char *bytes, size_t len);
    void (*on_exit)(void *ctx, const ProcessResult *result);
    void *ctx;
} ProcessOptions;

/* NULL on error (the place cannot be made, or it or the folder around it is not ours alone). A program that cannot be started is not an error here:
 * on_exit says PROCESS_FAILED. */
Process *process_start(uv_loop_t *loop, const ProcessOptions *options, Error *err);
/* Whether the place was there already, so that nothing was started. */
bool process_attached(const Process *p);
int process_pid(const Process *p); /* of the child; 0 while not known or gone */

/* SIGTERM to the group, or as the options say, and SIGKILL after the grace. on_exit still comes. */
void process_end(Process *p);
/* SIGSTOP and SIGCONT to the group; the timeout stands still between them. */
void process_freeze(Process *p, bool frozen);

/* Lets go of it without ending it, when it still runs. Accepts NULL. */
void process_free(Process *p);

/* Ends whatever still runs in places that some other process left behind, and waits for its end: at
 * most for PROCESS_GRACE_MAX and a second, for all of them together. Nothing is started; a place that is not there is fine.
 * failed() is told of each that could not be ended; NULL: nobody is. Blocks: on a thread of its own, or for commands that do
 * one thing. Any thread. */
void process_stop_places(const char *const *places, size_t n,
                         void (*failed)(void *ctx, const char *place, const Error *err), void *ctx);
bool process_stop_place(const char *place,
                        Error *err); /* the same for one; false: it could not be ended */

/* Lets this process have as many descriptors open as the system allows: each process under way takes
 * some. Those we start get back the limit that was there before. Once, before the first start. */
void process_raise_descriptors(void);

/* The value of a variable in an environment (options->env); NULL: there is none. */
const char *environment_get(const char *const *env, const char *name);

/* Removes a place and what is in it, once its result is on record. Missing is fine. */
void process_forget(const char *place);

#endif
