/* operation.h - everything that can be asked of a host: one table, JSON in, JSON out.
 *
 * A row says what an operation is called, what it takes, the shape of its answer, who may ask for it, its
 * route over HTTP, and which function does it. The command line, the socket, pawl.h and every door to come
 * call operation_call(); help, checks, the OpenAPI document and tools are made from the rows. An operation
 * is written once: its row and its function, side by side.
 *
 *     operation_call(host, "run_get", args, (Reply){.give = on_answer, .ctx = ctx});
 *
 * Arguments are one object (JSON_NONE: none). An unknown argument, a missing one and one of the wrong type are
 * each an error (ERR_USAGE) whose sentence names the operation and the argument. Answers are objects of the
 * row's shape (json_shape.h; api/things.h has the named shapes). Nothing in an answer is null but values of users: what
 * there is nothing to say of is left out. Times are RFC 3339 in UTC with milliseconds.
 *
 * An answer comes exactly once, at once or later, always on the loop's thread; `ctx` has to live until then.
 * Whoever vanishes meanwhile takes note of that in its ctx.
 *
 * There are four ways to do an operation, and a row has exactly one of them:
 *
 *     read    looks into the store and at nothing else, or changes it (`need`). Runs on another thread than the
 *             loop's; any process can do it
 *     make    computes something from its arguments, or from files, which it does on another thread than the loop's
 *             (`files`): workflows, kinds, schemas
 *     call    acts on a host, on the loop. With `thread` among its arguments it belongs where that run is, unless it
 *             only reads that run (`here`)
 *     ask     asks the debug session of a run, on the loop; `thread` is always among its arguments. What has to
 *             look into the record for that (`past`) does so on another thread, between a question that it makes on
 *             the loop and what it does with the answer there
 *
 * Who asks a session is answered as of the moment of asking, and in order: what goes back in the history holds up what is
 * asked of the run after it until the run has gone back.
 */
#ifndef PAWL_OPERATION_H
#define PAWL_OPERATION_H

#include "host.h"

/* ---- what an operation takes ---- */

typedef enum ArgType {
    ARG_INT,
    ARG_NUMBER,
    ARG_BOOL,
    ARG_TEXT,   /* a string without NULs */
    ARG_FRAME,  /* the number of a frame */
    ARG_FRAMES, /* the same, or "all" */
    ARG_PATH,   /* an array of steps, or text */
    ARG_ARRAY,
    ARG_OBJECT,
    ARG_ANY,
    ARG_TYPES,
} ArgType;

extern const char *const arg_type_names[ARG_TYPES]; /* "int", "number", "bool", "text", ... */

typedef struct OperationArg {
    const char *name;
    ArgType type;
    const char *about;        /* half a sentence */
    bool required;            /* it must be there */
    bool one_of;              /* of those that have this exactly one must be there */
    bool nullable;            /* null is as good as a value of its type */
    const char *const *words; /* TEXT: it is one of these, NULL at their end; NULL: any text */
    const char *shape;        /* OBJECT and ARRAY: what is inside (json_shape.h); NULL: anything */
    int64_t min, max;         /* INT and NUMBER: bounds; both 0: none */
} OperationArg;

/* What an operation takes, in its row. */
#define ARGS(...)            \
    (const OperationArg[]) { \
        __VA_ARGS__, {       \
            0                \
        }                    \
    }

/* A workflow that is sent: its files, as a stored definition has them. */
#define DEFINITION_SHAPE "{main: text, files: {*: text}, kinds?: [text]}"

#define ARG_COUNTING INT64_MAX /* no upper bound */

/* ---- rows ---- */

typedef enum OperationScope { SCOPE_READ, SCOPE_RUN, SCOPE_DEBUG, SCOPE_ADMIN } OperationScope;

extern const char
    *const operation_scope_names[]; /* "read", "run", "debug", "admin"; NULL at their end */

typedef struct Reply {
    /* answer is given; JSON_NONE: err says why */
    void (*give)(void *ctx, Json answer, const Error *err);
    void *ctx;
    void (*text)(void *ctx, Buf *text); /* an answer that was printed on another thread, instead of
                                           give(); NULL: not wanted. See HostRead */
    const char
        *by; /* who asks, as the door knows them: it is on record with what they change. NULL:
                       nobody said. It has to live as long as ctx */
} Reply;

/* How an operation of a session looks into the record. args and found are borrowed, the rest is given. */
typedef struct OperationPast {
    /* On the loop: for read(). null: there is nothing to look up, and Operation.ask() has the answer. */
    Json (*question)(Session *session, Json args, Error *err);
    Json (*read)(Store *store, Json question, Error *err); /* on another thread */
    /* On the loop, with what was found: does what is to be done. NULL: what was found is the answer. */
    Json (*act)(Session *session, Json args, Json found, Error *err);
    /* The same for what takes longer, where there is somebody to be answered later. */
    void (*act_later)(Session *session, Json args, Json found, Reply reply);
} OperationPast;

typedef struct Operation {
    const char *name;
    const char *summary; /* half a sentence */
    OperationScope scope;
    const char *route;        /* "GET /runs/{thread}/history"; NULL: none of its own */
    bool idempotent;          /* asking twice is asking once */
    bool lasting;             /* what is read seldom changes: who has it may ask whether it did */
    const OperationArg *args; /* the last has no name; NULL: none */
    const char *answer;       /* its shape */

    /* One of these. args: an object that the row let pass, borrowed. */
    Json (*read)(Store *store, Json args, Error *err);
    HostNeed need; /* read: what the handle has to be good for */
    bool logs;     /* read: looks at what nodes printed, which is recorded apart from their run */
    Json (*make)(const Host *host, Json args, Error *err);
    bool files; /* make: reads files; of the host it asks for nothing but its folder */
    void (*call)(Host *host, Json args, Reply reply);
    bool here; /* call: the run in `thread` is only read: it is done where it is asked */
    Json (*ask)(Session *session, Json args, Error *err);
    /* ask: the same where it may take longer than a turn of the loop, which goes on meanwhile (host_work()); it looks at the session
     * at once. NULL: it never does. */
    void (*ask_later)(Host *host, Session *session, Json args, Reply reply);
    const OperationPast
        *past; /* ask: NULL: it never looks into the record. Without ask: it always does */
    bool
        revives; /* ask: a run that has failed may come to life with it, and needs its lease then */
    bool stream; /* none of them: events, which doors take from the host (subscription.h) */
} Operation;

/* Groups of rows, each ended by one without a name; the last group is NULL. */
extern const Operation *const operation_groups[];

/* NULL, with the nearest name in the sentence, when there is none of that name. */
const Operation *operation_find(const char *name, Error *err);
/* Walks all rows, the first for NULL; NULL after the last. */
const Operation *operation_next(const Operation *after);

/* Whether it belongs where the run in `thread` is. */
bool operation_is_of_run(const Operation *op);

/* Whether it changes something, and is answered when that is done: a `call`, or a `read` that writes. */
bool operation_acts(const Operation *op);

/* Whether these are arguments for it, `thread` included; what operation_call() does first. Borrows them. */
bool operation_check(const Operation *op, Json args, Error *err);

/* A row as JSON: {name, summary, scope, route?, idempotent, arguments: [...], answer}. */
Json operation_json(const Operation *op);

/* ---- calls ---- */

/* Consumes args. */
void operation_call(Host *host, const char *name, Json args, Reply reply);

/* What reads, computes or asks a session, answered before it returns: waits for the disk, so it is for
 * programs whose own loop may. An operation that acts is refused (operation_acts()). JSON_NONE on error. Consumes args. */
Json operation_now(Host *host, const char *name, Json args, Error *err);

/* For rows to answer with. */
void reply_give(Reply reply, Json answer); /* consumes it; JSON_NONE is a bug */
void reply_fail(Reply reply, const Error *err);

/* An operation of a session alone, at once: what operation_call() does for `ask` rows. JSON_NONE on error.
 * Consumes args. */
Json session_call(Session *session, const char *name, Json args, Error *err);

#endif
