/* workers.h - programs in Python and JavaScript that stay, to be called again and again.
 *
 *     WorkerPool *pool = worker_pool_new(loop, NULL);            one for a loop
 *     WorkerCall *call = worker_call(pool, &options, &err);      on_end comes later, exactly once
 *     worker_pool_free(pool);
 *
 * A *worker* is a process of an interpreter with our runtime (sdk/) in it. It speaks with us in
 * lines of JSON on a socket that is its descriptor 3; its stdout and stderr are the log of whatever
 * call it is busy with. It does one call at a time, and is kept for the next. What it runs is
 * either code that comes with the call, compiled once in each worker, or a function of a *program*,
 * a file that is loaded once in each worker; a file that changed is another program.
 *
 *     to it     {"call":TOKEN, "code":SLOT, "source":..., "names":[...]   the source when it is new
 *                          "function":NAME                            instead, of a program
 *                          "env", "vars", "answers", "folder", "state"}
 *               {"call":TOKEN, "answer":VALUE}
 *     from it   {"call":TOKEN, "result":VALUE}
 *               {"call":TOKEN, "error":{type, message, traceback, line, limit, retire}}
 *               {"call":TOKEN, "interrupt":VALUE}     it waits for the answer
 *               {"call":TOKEN, "log":TEXT}
 *
 * What it says is checked first (worker_message.h). A token is new for each call and cannot be guessed, so that
 * what an earlier call left running cannot answer a later one; a message that belongs to no call ends the
 * worker.
 *
 * Workers are not trusted to work: one may die, hang, write rubbish, print without end, fork, or
 * eat memory. Each of these ends its call with a sentence and costs nobody else anything; the
 * worker is replaced. An exception of the code is none of these: the worker goes on.
 *
 * Each worker leads a session of its own, and its group is killed with it. It ends by itself when
 * our end of the socket closes, and is killed when the thread that started it dies.
 *
 * What code does to its interpreter stays done: it can read and change what a later call in the same worker is
 * given. So a call says whose code it is, its *realm*, and calls of different realms never share a worker.
 * Nothing in the folder that we run in, and nothing in Python's own environment variables, has a say in what
 * an interpreter loads.
 *
 * At most so many of one language are busy at a time; calls beyond queue up in order. A worker that
 * waits for an answer, or is frozen, is not busy. Idle ones are kept, those beyond one of a program for a
 * minute; one of another program or realm makes room where it has to.
 * The pool keeps the loop alive while a call is under way, and not while all of them wait for
 * answers.
 *
 * Callbacks come on the loop's thread, never from inside worker_call(). What they are given is
 * lent.
 */
#ifndef PAWL_WORKERS_H
#define PAWL_WORKERS_H

#include "error.h"
#include "json.h"

#include <stdint.h>
#include <uv.h>

typedef struct WorkerPool WorkerPool;
typedef struct WorkerCall WorkerCall;

typedef enum WorkerLanguage {
    WORKER_PYTHON,
    WORKER_JAVASCRIPT,
    WORKER_LANGUAGES,
} WorkerLanguage;

typedef enum WorkerEnd {
    WORKER_RETURNED,  /* value */
    WORKER_RAISED,    /* an exception: message ("TypeError: ..."), type, traceback, line */
    WORKER_DIED,      /* before it answered: code or signal */
    WORKER_RUBBISH,   /* what it wrote to its descriptor 3 is none of the above, or it closed it */
    WORKER_LIMIT,     /* memory, or a result that is too long */
    WORKER_UNSTARTED, /* the interpreter could not be started */
    WORKER_CANCELLED, /* worker_cancel() */
} WorkerEnd;

typedef struct WorkerResult {
    WorkerEnd end;
    Json value;
    const char *message;   /* a sentence, unless it returned */
    const char *type;      /* of the exception; "" otherwise */
    const char *traceback; /* the same */
    int line;              /* of the code, 1-based; 0: none is to blame */
    int code, signal;      /* of one that died: the one that is not 0, or an exit code of 0 */
} WorkerResult;

typedef struct WorkerOptions {
    WorkerLanguage language;
    Json code;            /* the body of a function, a string; or */
    const char *file;     /* a program, a whole path, and */
    const char *function; /* a function of it */
    /* Whose code it is: a worker serves calls of one realm only. NULL: "" */
    const char *realm;
    /* The folder that Python's imports are looked for in after all others; NULL: none. Beside a program is the
     * program's own, which comes first. */
    const char *home;
    /* All borrowed; JSON_NONE: none. */
    Json state;
    Json env;           /* an object */
    Json vars;          /* an object: what the code sees by its name */
    Json answers;       /* an array: what interrupt() gives back before it asks */
    const char *folder; /* where it runs */
    uint64_t memory;    /* bytes; 0: 1 GB. Less than WORKER_MEMORY_MIN counts as that */
    size_t max_output;  /* bytes of its log, in all; 0: 16 MB. The rest is read and dropped */
    /* stream is "stdout", "stderr" or "log"; whole characters, as far as they are any. May be NULL.
     * */
    void (*on_log)(void *ctx, const char *stream, const char *bytes, size_t len);
    /* The code waits for worker_answer(). NULL: asking is an error. */
    void (*on_interrupt)(void *ctx, Json value);
    /* The call is gone once it returns. */
    void (*on_end)(void *ctx, const WorkerResult *result);
    void *ctx;
} WorkerOptions;

enum {
    WORKER_MEMORY_MIN = 64 << 20,
    WORKER_RESULT_MAX = 256 << 20, /* bytes of a line from a worker */
};

typedef struct WorkerPoolOptions {
    /* "NAME=value"..., NULL: what workers have, and where PATH, PAWL_WORKERS and the variables that
     * name interpreters are looked up. Borrowed. NULL: nothing. */
    const char *const *environment;
    /* The folder in which others find what is left of workers when this process has died (worker_notes.h); NULL:
     * nowhere. */
    const char *notes;
    int busy_max;     /* of one language; 0: $PAWL_WORKERS, or the processors, at least 4 */
    uint64_t idle_ms; /* 0: a minute */
} WorkerPoolOptions;

WorkerPool *worker_pool_new(uv_loop_t *loop, const WorkerPoolOptions *options); /* NULL: defaults */
/* Kills all workers and waits for their ends; calls under way get no on_end. The loop has to run
 * once more to close its handles. Not from a callback. Accepts NULL. */
void worker_pool_free(WorkerPool *pool);

/* NULL, with *err set, when nothing was started: there is no interpreter ($PAWL_PYTHON or python3
 * in PATH, $PAWL_NODE or node) or no such file. */
WorkerCall *worker_call(WorkerPool *pool, const WorkerOptions *options, Error *err);

/* Whether its code is in interrupt(). Then, and only then, it can be answered. Borrows answer. */
bool worker_is_waiting(const WorkerCall *call);
void worker_answer(WorkerCall *call, Json answer);

/* Its worker's group stands still (SIGSTOP), or a call that queues does not begin, until it goes on
 * (SIGCONT); what it says comes after that, on_end alone may come before when somebody else ends the
 * worker. worker_cancel() and worker_drop() may come in between. */
void worker_freeze(WorkerCall *call, bool frozen);

/* SIGTERM to its worker's group, SIGKILL a moment later; on_end comes when that is over. */
void worker_cancel(WorkerCall *call);
/* Kills it at once, and no callback comes any more. Not from its own on_end or
 * on_log. Accepts NULL. */
void worker_drop(WorkerCall *call);

/* For people and tests: the process of a call (0 while it queues), and how many there are. */
int worker_pid(const WorkerCall *call);
int worker_pool_size(const WorkerPool *pool, WorkerLanguage language);

#endif
