/* journal.h - commits to the store on a thread of its own.
 *
 * The loop's thread fills one batch while the journal's thread commits the one before it: all that
 * happens while the disk is busy commits together. Batches are numbered from 1; whoever has to wait
 * for what it wrote remembers journal_number() and is told when that number is durable.
 *
 * The store is the journal's while it commits: whoever else wants it (to make a run, to read one)
 * does so between journal_lock() and journal_unlock().
 */
#ifndef PAWL_JOURNAL_H
#define PAWL_JOURNAL_H

#include "store.h"

#include <uv.h>

typedef struct Journal Journal;

typedef struct JournalHost {
    uv_loop_t *loop;
    Store *store;
    /* On the loop's thread. All batches up to number are durable; or, with err, number failed and
     * the journal takes no more. */
    void (*committed)(void *ctx, uint64_t number, const Error *err);
    void *ctx;
} JournalHost;

Journal *journal_new(const JournalHost *host, Error *err);
/* Waits for the commit under way and drops what was not flushed. The loop has to run once more to
 * close its handle. */
void journal_close(Journal *j);

/* The batch to add to, and its number. */
StoreBatch *journal_batch(Journal *j);
uint64_t journal_number(const Journal *j);
/* Whether a flush would hand over: nothing is being committed. */
bool journal_ready(const Journal *j);
/* Hands the batch over when it is ready to; otherwise it goes on filling, and `committed` is the time
 * to try again. */
void journal_flush(Journal *j);
/* Waits until everything that was added is durable, telling the host on the way. False when it failed. */
bool journal_sync(Journal *j);
/* So much waits that the caller had better do so too: more than so many records, or too many bytes. */
bool journal_overfull(const Journal *j, size_t records);

/* For whoever uses the store besides. The loop is kept alive only while something is committed. */
void journal_lock(Journal *j);
bool journal_trylock(Journal *j);
void journal_unlock(Journal *j);

#endif
