/* store.h - the durable record of runs.
 *
 * A store holds runs. A run has a name that people use (its thread), a number, a row of facts about
 * it (RunRow) and its checkpoints, numbered from 1. Each checkpoint but the first has a parent, so
 * they form a tree; the run's `head` is the one that execution stands at. A store knows nothing of
 * workflows: to it a checkpoint is a change of one JSON value, the run's *image*.
 *
 *     image(first)  = patch applied to null          image(n) = patch(n) applied to image(parent(n))
 *
 * A checkpoint may also carry a whole image (its snapshot), so that rebuilding starts there and not
 * at the first one. Whoever appends decides when (store_chain.h says by which weight). And it may carry
 * a *result*: what came of the step that it ends, as a JSON value or, where the patch has that already,
 * as no bytes at all. What it means is up to whoever appends (engine/result.h). Format 1 had no results.
 *
 * A run also has its *log*: what the work of its nodes printed, in pieces that are numbered from 1 on in the order
 * in which they were committed. They are committed with the checkpoints of their batch, and go with the run. Formats
 * before 4 had none.
 *
 *     memory:            in this process; gone with it
 *     file:DIR           one append-only file a run
 *     sqlite:PATH        one SQLite database (a URL without a scheme is this)
 *
 * Backends are rows of one table (StoreBackend in backend.h); all pass tests/unit/test_store.c.
 *
 * Writes go through a batch: what a batch holds becomes durable together or not at all. When
 * store_commit() has returned true, it survives the process and the machine.
 *
 * Threads: a handle is used by one thread at a time; every call may block, so the engine makes them
 * on threads of its own (engine/storage.h), each with a handle of its own: one that writes, and
 * readers (store_reader()), which never wait for it. What needs no disk (store_url(),
 * store_is_durable(), store_folder()) may be asked by the thread that opened the handle while another
 * one uses it. Several processes may have one store open. What they may not do is write one run
 * together: store_lease() makes sure of that.
 *
 * Damage: every checkpoint is stored with a checksum over all of it. Damaged or foreign data is an
 * ERR_DATA whose sentence names the store, the thread and the checkpoint; other runs are not
 * affected.
 */
#ifndef PAWL_STORE_H
#define PAWL_STORE_H

#include "buf.h"
#include "error.h"
#include "json.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Store Store;

/* Times, steps and numbers of frames and checkpoints are from 0 to this: whoever adds two of them gets what they are
 * together. Others are damage, whatever the checksum says. */
#define STORE_NUMBER_MAX ((int64_t)1 << 53)

enum {
    STORE_FORMAT = 4,       /* of the databases and files that this version writes */
    STORE_THREAD_MAX = 200, /* bytes in a thread's name */
    STORE_STATUS_MAX = 63,  /* bytes in the status of a checkpoint */
    /* An image, a patch and a result as json_size() counts, shared parts each time. A value may hold the same
     * part many times over and take next to nothing: what it stands for is what has to be written, compared
     * and shown, so that is what is bounded, for those who write and for those who read. */
    STORE_IMAGE_MAX = 512 << 20,
    STORE_RECORD_MAX = 900 << 20, /* bytes of a packed checkpoint; SQLite has rows of 10^9 */
    STORE_VALUE_MAX = 256 << 20,  /* bytes of a definition */
    STORE_PIECE_MAX = 64 << 10,   /* bytes of output in one piece of a log */
    /* What the log of a run holds at most, as bytes and as pieces. Where there would be more, its oldest
     * eighth goes. */
    STORE_LOG_MAX = 128 << 20,
    STORE_LOG_PIECES = 1 << 20,
    STORE_FACTS_MAX =
        20 << 20, /* bytes of the facts of a run: more than a file with a name may have */
};

/* ---- life ---- */

typedef enum StoreMode {
    STORE_CREATE,   /* make it (and its folder) when it is not there; migrate an older one */
    STORE_EXISTING, /* ERR_NOT_FOUND when it is not there; migrate too */
    STORE_READ,     /* the same, and only reads: works in a folder that cannot be written */
} StoreMode;

/* NULL on error. A store that a newer version wrote is refused with both version numbers. */
Store *store_open(const char *url, StoreMode mode, Error *err);
void store_close(Store *s); /* accepts NULL; releases leases that are still held */

/* Another handle on the same store that only reads, for another thread: it sees what is committed and
 * does not wait for whoever commits. Any thread may call it while another one uses s. It may outlive
 * s; what is in memory: goes with the last handle. */
Store *store_reader(const Store *s, Error *err);

const char *store_url(const Store *s); /* in full: "sqlite:.pawl/pawl.db" */
bool store_is_durable(const Store *s); /* false for memory: */

/* Ends what the handle is doing, soon, with ERR_CANCELLED, and whatever is asked of it afterwards: nobody waits for
 * it any more. Any thread may call it while the handle is open. What is being committed is not given up. */
void store_interrupt(Store *s);
bool store_url_is_durable(const char *url);

/* The folder for files that belong to runs of this store (output of processes that are under way);
 * made on the first call. For memory: a folder under $TMPDIR that store_close() removes. NULL on
 * error. */
const char *store_folder(Store *s, Error *err);

/* ---- runs ---- */

/* The facts about a run. Strings are owned by the row. */
typedef struct RunRow {
    int64_t run;    /* its number; > 0 */
    char *thread;   /* its name: 1 to STORE_THREAD_MAX bytes of UTF-8 without control characters */
    char *workflow; /* name of the workflow */
    char *status;   /* the engine's word for where it is: "running", "completed", ... */
    char *definition;         /* key of its definition (store_definition()) */
    int64_t created, updated; /* milliseconds since 1970 */
    int64_t head;             /* checkpoint that execution stands at; 0 before the first */
    int64_t last; /* highest checkpoint number ever given; numbers are never used again */
    char *owner;  /* for people: who wrote last, "pid 4711 on host" */
    bool cancel;  /* somebody asked the owner to cancel it (store_ask_cancel) */
} RunRow;

void run_row_copy(RunRow *out, const RunRow *row);
void run_row_clear(RunRow *row);

/* Finds a run by its thread or, when there is no such thread and the text is a number, by its
 * number. ERR_NOT_FOUND with the nearest name when there is none. */
bool store_find(Store *s, const char *thread_or_number, RunRow *out, Error *err);

/* Calls fn for each run, the one updated last first; false from fn stops. fn may read the store. */
typedef bool (*RunRowFn)(void *ctx, const RunRow *row);
bool store_runs(Store *s, RunRowFn fn, void *ctx, Error *err);

/* The same a page at a time: at most `limit` runs from where the last call stopped (zeros: from the
 * first). A run that is updated between two pages is then among those that were passed. */
typedef struct RunsPage {
    size_t limit;         /* 0: no limit */
    int64_t updated, run; /* place of the last run that was given; only for the store to read */
    bool more;            /* out: there are runs behind it */
} RunsPage;
bool store_runs_page(Store *s, RunsPage *page, RunRowFn fn, void *ctx, Error *err);

/* The right to write a run. ERR_BUSY, with a sentence that names the owner, while another handle
 * (of this or another process) has it; true at once when this handle has it. On local stores it is a
 * lock that the kernel drops with its holder: with the last process that has the descriptor open, so
 * a child that lives on must close it. A wish to cancel from before is forgotten. Read the row again
 * after this: somebody else may have written the run until now. */
bool store_lease(Store *s, int64_t run, Error *err);
void store_release(Store *s, int64_t run);
bool store_holds(const Store *s, int64_t run); /* whether this handle has it */
/* Whether some handle has it now, without taking it; for those who only look, so for readers too. */
bool store_is_leased(Store *s, int64_t run);

/* Asks whoever owns the run to cancel it; the owner sees `cancel` in store_asked(). */
bool store_ask_cancel(Store *s, int64_t run, Error *err);
bool store_asked(Store *s, int64_t run, bool *cancel, Error *err);
/* Whether anybody may have asked for anything since the last call of this: the owner of ten thousand runs
 * need not look at each of them to know that nobody did. */
bool store_heard(Store *s);

/* ---- definitions: values kept by their content ---- */

/* Keeps a value and gives its key (mem_free); the same value has the same key. */
char *store_define(Store *s, Json value, Error *err);
char *store_define_encoded(Store *s, const Buf *value, Error *err); /* by json_encode() */
Json store_definition(Store *s, const char *key, Error *err);

/* ---- checkpoints ---- */

typedef struct Checkpoint {
    int64_t run, seq, parent; /* parent is 0 for a root */
    int64_t step;             /* nodes finished so far on this line */
    int64_t frame;
    int64_t at;         /* milliseconds since 1970 */
    const char *node;   /* "" when it belongs to none */
    const char *status; /* what this checkpoint is: "completed", "interrupted", ... */
    const char *patch;  /* json_encode()d change against the parent's image */
    size_t patch_len;
    const char *result; /* json_encode()d, or empty; NULL: nothing is said */
    size_t result_len;
    const char *snapshot; /* json_encode()d image, or NULL */
    size_t snapshot_len;
} Checkpoint;

/* ---- logs ---- */

typedef enum LogStream {
    LOG_STDOUT,
    LOG_STDERR,
    LOG_NOTES, /* what the node's own code logs, and what is said about its output */
    LOG_STREAMS
} LogStream;

extern const char *const log_stream_names[LOG_STREAMS]; /* "stdout", "stderr", "log" */

/* A piece of what one execution of a node printed to one stream. */
typedef struct LogPiece {
    int64_t run;
    int64_t n; /* its number in the run; given by the store */
    int64_t
        before; /* bytes of output of the run that came before it, kept or not; given by the store */
    int64_t
        execution; /* the checkpoint that the execution began with; together with the frame it names it */
    int64_t frame, attempt;
    int64_t offset; /* bytes of this stream of the execution that came before it */
    int64_t at;     /* milliseconds since 1970: when its first byte came */
    LogStream stream;
    /* Of one that is added: an earlier process may have recorded it. What is there already is left out. */
    bool again;
    const char *node;
    const char *text;
    size_t len;
} LogPiece;

/* One batch: appended to by one thread, committed by another, then reset. Everything is copied into
 * one run of bytes, so that appending costs no allocation. */
typedef struct StoreBatch {
    Buf bytes;    /* opaque, like what follows `count` */
    size_t count; /* writes in it */
    /* The batch that is committed before this one, NULL: none matters; see store_batch_create(). */
    const struct StoreBatch *before;
    size_t defined;      /* place of the last definition */
    bool stands_in;      /* some of its runs have no number yet */
    bool releases;       /* it gives leases back */
    size_t log, log_end; /* place of the last piece of a log; it grows while nothing is behind it */
    struct Made *made;   /* what became of the runs that it made when it was committed last */
    size_t nmade, made_cap;
} StoreBatch;

#define STORE_BATCH_INIT \
    { .bytes = BUF_INIT }

/* Makes a run and takes its lease. The run has no number until the batch is committed: `stand_in`, a
 * number below 0 that goes down from run to run, is used instead of it, in this batch and in the one
 * whose `before` this is. So a run, its first checkpoints and whatever else happened meanwhile are one
 * commit, and so are many new runs.
 *
 * A run whose thread is there already is not made, and all that this batch and the next hold for it is
 * left out: no other part of them fails for that. (A thread that never got as far as its first
 * checkpoint, and that nobody has, makes room.) */
typedef struct StoreCreate {
    int64_t stand_in;
    const char
        *thread; /* as store_check_new_thread() allows; NULL: named by its number, "run-17" */
    const char *workflow;
    Json definition; /* its definition, to be kept by its content; or JSON_NONE and: */
    const char *key; /* what store_define() gave for it */
    int64_t at;      /* ms since 1970; 0: now */
} StoreCreate;
void store_batch_create(StoreBatch *b, const StoreCreate *c);
/* After the commit: the row of the nth run that the batch made, given once. False, with a sentence,
 * when its thread was there. */
bool store_batch_made(const Store *s, StoreBatch *b, size_t n, RunRow *out, Error *err);
/* Whether that can be the name of a thread. */
bool store_check_thread(const char *thread, Error *err);
/* Whether a run that is new may have that name: a number is none, since it names the run that has it. */
bool store_check_new_thread(const char *thread, Error *err);
/* The lease of a run is released once the batch is committed. */
void store_batch_release(StoreBatch *b, int64_t run);

/* Adds a checkpoint; replaces one of the same number (only pruning does that). */
void store_batch_checkpoint(StoreBatch *b, const Checkpoint *c);
/* Removes a checkpoint; only pruning does that. */
void store_batch_remove(StoreBatch *b, int64_t run, int64_t seq);
/* Sets head and status of a run, and when. last follows from the checkpoints. */
void store_batch_run(StoreBatch *b, int64_t run, int64_t head, const char *status, int64_t at);
/* Removes a run and its checkpoints. Its definition stays: others may be about to use it. */
void store_batch_remove_run(StoreBatch *b, int64_t run);
/* Adds output to the log of a run, as pieces of at most STORE_PIECE_MAX bytes. What goes on where the last write
 * of the batch ended becomes part of the same piece. It is left out when the lease of the run is not held. */
void store_batch_log(StoreBatch *b, const LogPiece *piece);
/* Removes the pieces of a log before that number, but never the last one, so that numbers go on. */
void store_batch_trim_log(StoreBatch *b, int64_t run, int64_t first);
/* Adds all that is in another batch, which has no definitions and makes no runs. */
void store_batch_add(StoreBatch *b, const StoreBatch *from);
void store_batch_reset(StoreBatch *b); /* empty again, memory kept */
void store_batch_clear(StoreBatch *b);

/* All or nothing, durable when it returns true. On an error the batch is still there: the caller
 * may try again. The lease of every run in it must be held by this handle. */
bool store_commit(Store *s, StoreBatch *b, Error *err);

/* One checkpoint, checked against its checksum. The strings are the store's, valid until the next
 * call on it. ERR_NOT_FOUND when there is none of that number ("checkpoint 12 of thread x was pruned",
 * "has no checkpoint 99: its last is 40"), ERR_DATA when it is damaged. */
bool store_checkpoint(Store *s, int64_t run, int64_t seq, Checkpoint *out, Error *err);

/* Calls fn for checkpoints in order of their number, from `from` on; false from fn stops. A damaged
 * one is handed to `damaged` (its number and why), which says whether to go on; without it the first
 * damage ends the walk with its error. fn may read the store. */
typedef bool (*CheckpointFn)(void *ctx, const Checkpoint *c);
typedef bool (*DamageFn)(void *ctx, int64_t seq, const Error *err);
bool store_history(Store *s, int64_t run, int64_t from, CheckpointFn fn, DamageFn damaged,
                   void *ctx, Error *err);

/* Calls fn for pieces of a run's log in order of their number; false from fn stops. Their strings are lent for that
 * call, in which fn leaves the store alone. Damaged pieces as of store_history(). */
typedef struct LogQuery {
    int64_t run;
    int64_t from;      /* the number of the first */
    int64_t since;     /* not those of before; 0: of any time */
    const char *node;  /* only of this node; NULL: of all */
    unsigned streams;  /* only of these: 1u << LOG_..., ORed; 0: of all */
    bool newest_first; /* from the last one backwards */
} LogQuery;
typedef bool (*LogFn)(void *ctx, const LogPiece *piece);
bool store_log(Store *s, const LogQuery *query, LogFn fn, DamageFn damaged, void *ctx, Error *err);

#endif
