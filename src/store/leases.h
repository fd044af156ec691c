/* leases.h - the right to write a run, as a lock in the kernel.
 *
 * A LeaseFile is a file with a slot of LEASE_SLOT bytes for each run. Whoever holds the lock on the
 * first byte of a slot has the lease of that run, and has written who it is into the slot. The locks
 * belong to the open file (F_OFD_SETLK): two handles of one process exclude each other as well, and
 * the kernel drops the lock with the last descriptor. A child that lives on must therefore close its
 * copy of the descriptor (it is close-on-exec).
 *
 * Slot 0 is no run's: it guards what belongs to the store as a whole.
 *
 * Leases is the set of runs that a handle holds.
 */
#ifndef PAWL_STORE_LEASES_H
#define PAWL_STORE_LEASES_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Leases {
    int64_t *runs; /* a hash table with open addressing; 0: free */
    size_t len, cap;
} Leases;

bool leases_has(const Leases *l, int64_t run);
void leases_add(Leases *l, int64_t run);
void leases_remove(Leases *l, int64_t run);
void leases_clear(Leases *l);

enum { LEASE_SLOT = 32 };

typedef struct LeaseFile {
    int fd; /* -1: not opened yet */
    char *path;
} LeaseFile;

void lease_file_init(LeaseFile *f, char *path); /* takes path */
void lease_file_close(LeaseFile *f);            /* drops all its locks */

/* *busy: somebody else has it; *owner (given) then says who, as far as is known. */
bool lease_file_lock(LeaseFile *f, int64_t run, bool *busy, char **owner, Error *err);
void lease_file_unlock(LeaseFile *f, int64_t run);
/* Whether another handle holds it. */
bool lease_file_is_locked(LeaseFile *f, int64_t run);
/* Slot 0, waiting for it. */
bool lease_file_lock_store(LeaseFile *f, Error *err);

#endif
