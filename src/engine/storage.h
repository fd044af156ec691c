/* storage.h - the store on threads of its own, so that the loop never waits for the disk.
 *
 * One thread writes, with the handle that the storage was given; a few threads read, each with a
 * handle of its own (store_reader()). They do jobs: a job's work() runs on such a thread, then its
 * done() on the loop. The loop itself may make short reads through storage_reader().
 *
 *     storage_write(s, job)   in the order of asking, between the batches that are flushed
 *     storage_read(s, job)    beside the writer and beside each other; sees what is committed
 *
 * Batches. The loop fills one batch while the writer commits the one before it: all that happens
 * while the disk is busy commits together. Batches are numbered from 1; whoever has to wait for what
 * it wrote remembers storage_number() and is told when that number is durable.
 *
 * Jobs. Whoever asks owns the job and keeps it until done() is called, which happens exactly once and
 * may free it. done() is never called before storage_write() or storage_read() returns. Who lost
 * interest says so with storage_abandon(): work that has not begun is left out, what is being read is
 * given up (store_interrupt()), and done() still comes. storage_close() abandons what is left.
 *
 * Values. The counts in JSON values are not atomic, so a value has one thread at a time. What work()
 * makes and leaves in its job is handed to the loop whole, and the storage moves its bytes from the
 * count of that thread (json_heap_bytes()) to the loop's. work() holds no values from one job to the
 * next, and takes no values from the loop: bytes and text cross in that direction. Large values of
 * checkpoints are the exception (storage_put_large()): the loop holds them until they are committed, so
 * that nothing in them changes, and the writer reads them and touches no count.
 *
 * All functions are for the loop's thread. The loop is kept alive while a batch or a job is under way.
 */
#ifndef PAWL_STORAGE_H
#define PAWL_STORAGE_H

#include "store.h"

#include <uv.h>

typedef struct Storage Storage;
typedef struct StorageJob StorageJob;

/* Zeroed but for its functions. It is the first member of whatever it is for. */
struct StorageJob {
    void (*work)(StorageJob *job, Store *store); /* sets err when it fails */
    void (*done)(StorageJob *job);
    Error err;      /* of work(); or why there was none: no handle, too many jobs, abandoned */
    bool abandoned; /* for done(): nobody waits for it any more */
    /* the storage's own */
    Storage *storage;
    StorageJob *prev, *next;
    size_t heap;
    bool finished;
};

typedef struct StorageHost {
    uv_loop_t *loop;
    Store *store; /* the writer's handle from now on, until storage_close() */
    /* All batches up to number are durable; `batch`, the one of that number, says what became of the
     * runs that it makes. Or, with err, number failed and no more batches are taken. */
    void (*committed)(void *ctx, uint64_t number, StoreBatch *batch, const Error *err);
    void *ctx;
} StorageHost;

Storage *storage_new(const StorageHost *host, Error *err);
/* Waits for what the writer has been asked to do; drops what was not flushed, and tells `committed`
 * nothing more. The loop has to run once more to close its handle. */
void storage_close(Storage *s);

/* ---- jobs ---- */

enum { STORAGE_READERS = 3, STORAGE_READS = 10000 }; /* threads; jobs that may wait for them */

void storage_write(Storage *s, StorageJob *job);
/* When too many wait already, the job's work is left out, and its err is ERR_BUSY. */
void storage_read(Storage *s, StorageJob *job);
void storage_abandon(StorageJob *job);
/* Blocks until the job has been worked on, then calls its done(), before those of others. This is the
 * one way to wait: for calls that give their answer at once. */
void storage_finish(StorageJob *job);

/* A handle for short reads on the loop's own thread, opened when first asked for. NULL on error. */
Store *storage_reader(Storage *s, Error *err);

/* ---- batches ---- */

/* The batch to add to, and its number. */
StoreBatch *storage_batch(Storage *s);
uint64_t storage_number(const Storage *s);
/* Adds a checkpoint whose patch, and whole image where it has one (JSON_NONE: it has none), take too long to be
 * encoded on the loop: the writer does it. Copies what else is in the checkpoint. Borrows. */
void storage_put_large(Storage *s, const Checkpoint *c, Json patch, Json image);
/* Whether a flush would hand over: nothing is being committed. */
bool storage_ready(const Storage *s);
/* Hands the batch over when it is ready to; otherwise it goes on filling, and `committed` is the time
 * to try again. */
void storage_flush(Storage *s);
/* Blocks until the batch under way is committed, telling the host; at once when there is none. */
void storage_wait(Storage *s);
bool storage_overfull(const Storage *s); /* so much waits that the caller had better do so too */

#endif
