/* backend.h - what a kind of store has to do.
 *
 * store.c owns what all kinds share: URLs, names, leases held by this handle, sentences. A backend is
 * one StoreBackend row; its handle begins with a Store. Adding one is adding its row to the table in
 * store.c.
 *
 * A backend reports "there is no such thing" through *found, and damage of one checkpoint through
 * *why (a phrase such as "its checksum does not match"): store.c makes the sentences. An Error from a
 * backend is about the store as a whole.
 */
#ifndef PAWL_STORE_BACKEND_H
#define PAWL_STORE_BACKEND_H

#include "leases.h"
#include "store.h"

#include <stdatomic.h>

typedef struct StoreBackend StoreBackend;

struct Store {
    const StoreBackend *backend;
    char *url;    /* in full */
    char *path;   /* what stands after the scheme */
    char *folder; /* NULL until store_folder() is called */
    StoreMode mode;
    const Store *beside;     /* while it is opened: the handle that it is a reader of; NULL: none */
    Leases leases;           /* that this handle holds */
    uint64_t version;        /* that store_heard() saw last */
    bool asked;              /* through this handle, since then */
    StoreBatch plain;        /* a batch with the numbers in it */
    atomic_bool interrupted; /* store_interrupt() */
};

/* What is being looked for: a name, or a number when thread is NULL. */
typedef struct RunKey {
    const char *thread;
    int64_t run;
} RunKey;

struct StoreBackend {
    const char *scheme;
    bool durable;

    /* s is zeroed but for backend, url, path, mode and beside. On an error the handle is closed
     * again. */
    size_t handle_size;
    bool (*open)(Store *s, Error *err);
    void (*close)(Store *s); /* of whatever open() got to */
    /* The files and folders that it is made of, as what stands behind its path, up to a NULL. */
    const char *const *parts;
    bool in_folder;                  /* its path is a file, and not a folder of its own */
    char *(*folder)(const Store *s); /* a path, given; NULL: a temporary one will do */

    bool (*find)(Store *s, RunKey key, RunRow *out, bool *found, Error *err);
    /* A page: fills in where it stopped and whether there is more. */
    bool (*runs)(Store *s, RunsPage *page, RunRowFn fn, void *ctx, Error *err);
    /* Between begin() and either commit(), with a batch that has a BATCH_CREATE for each, or cancel():
     * makes runs. In: all but run, and thread when that is NULL. Out: these too, and the lease is held.
     * *found: there was one of that name, and nothing was done. */
    bool (*begin)(Store *s, Error *err);
    bool (*create_run)(Store *s, RunRow *row, bool *found, Error *err);
    void (*cancel)(Store *s);

    /* *owner (given, may stay NULL) says who has it when it is *busy. */
    bool (*lease)(Store *s, int64_t run, bool *busy, char **owner, Error *err);
    void (*release)(Store *s, int64_t run);
    bool (*is_leased)(Store *s, int64_t run); /* by another handle */
    bool (*set_cancel)(Store *s, int64_t run, bool on, Error *err);
    bool (*get_cancel)(Store *s, int64_t run, bool *on, Error *err);
    /* A number that is another one once another handle has asked; 0: it cannot be told. NULL: no other
     * handle can. */
    uint64_t (*version)(Store *s);

    /* Keeps what is there already. */
    bool (*define)(Store *s, const char *key, const Buf *value, Error *err);
    bool (*definition)(Store *s, const char *key, Buf *out, bool *found, Error *err);

    /* A batch in which every run has its number, and no definitions are. Output of runs whose lease is not held is
     * left out. */
    bool (*commit)(Store *s, const StoreBatch *b, Error *err);
    /* *why is NULL when the checkpoint is sound. */
    bool (*checkpoint)(Store *s, int64_t run, int64_t seq, Checkpoint *out, bool *found,
                       const char **why, Error *err);
    bool (*history)(Store *s, int64_t run, int64_t from, CheckpointFn fn,
                    bool (*damaged)(void *ctx, int64_t seq, const char *why), void *ctx,
                    Error *err);
    /* As store_log(). What is of another node need not be given; whatever else does not match is left out by
     * store.c. */
    bool (*log)(Store *s, const LogQuery *query, LogFn fn,
                bool (*damaged)(void *ctx, int64_t n, const char *why), void *ctx, Error *err);
    /* What is wrong with the run as a whole, as a sentence in *out; nothing when it is sound. May be
     * NULL. */
    bool (*inspect)(Store *s, int64_t run, Buf *out, Error *err);

    /* Of those that are durable (store_space.h). trim() may be NULL. backup() makes all of the copy at a path that it
     * may take for its own, and removes it on an error. */
    bool (*compact)(Store *s, int64_t *busy, Error *err);
    bool (*trim)(Store *s, Error *err);
    bool (*backup)(Store *s, const char *path, Error *err);
};

/* ---- what backends share ---- */

int64_t store_now(void); /* milliseconds since 1970 */
/* "pid 4711 on host", into out. */
enum { STORE_OWNER_MAX = 96 };
const char *store_self(char out[STORE_OWNER_MAX]);
uint64_t store_hash(const char *bytes, size_t len);
/* The i-th name, from 1 on, for a run that nobody named: "run-17", "run-17-2", ... */
enum { STORE_NAME_MAX = 48 };
void store_name_run(int64_t run, int i, char out[STORE_NAME_MAX]);

/* Where a run stands in the list of runs. */
typedef struct RunPlace {
    int64_t updated, run;
    const RunRow *row; /* NULL: to be found when it is its turn */
} RunPlace;
/* Gives those that are on the page to fn. Consumes the places of all runs, in any order. */
void run_places_give(Store *s, RunPlace *all, size_t n, RunsPage *page, RunRowFn fn, void *ctx);

/* A damaged run or store: "`sqlite:x.db` is damaged: ...". */
bool store_damaged(const Store *s, Error *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A store of a format that this program does not know; a number that no run has. */
bool store_is_newer(const Store *s, int64_t format, Error *err);
bool store_has_no_run(const Store *s, int64_t run, Error *err);
bool store_was_interrupted(const Store *s, Error *err); /* false, with ERR_CANCELLED */
/* What the disk said while `doing` something: that it is full; anything else. */
bool store_disk_is_full(const Store *s, const char *doing, Error *err);
bool store_io_failed(const Store *s, const char *doing, const char *why, Error *err);

/* The same of one checkpoint; `why` is a phrase or a sentence. */
bool store_damaged_checkpoint(Store *s, int64_t run, int64_t seq, const char *why, Error *err);
/* The same for what chain_decode() or chain_patch() said of a part of it: one that is too large is an ERR_LIMIT. */
bool store_bad_checkpoint(Store *s, const Checkpoint *c, const char *part, const Error *why,
                          Error *err);

bool store_refuse_reader(const Store *s, Error *err); /* false for a handle that only reads */

/* As the backend's find(), with numbers that are some. */
bool store_find_row(Store *s, RunKey key, RunRow *out, bool *found, Error *err);

/* What is wrong with the run as a whole; appends nothing when it is sound. */
bool store_inspect(Store *s, int64_t run, Buf *out, Error *err);

#endif
