/* store_space.h - what a store takes on disk: giving back what it no longer needs, and copies of it.
 *
 * Whatever is interrupted, by a signal, a kill or the end of the machine, leaves the store as it was or as it is to
 * be; a copy is there under its name when it is whole, and not before.
 */
#ifndef PAWL_STORE_SPACE_H
#define PAWL_STORE_SPACE_H

#include "store.h"

typedef struct SpaceReport {
    int64_t before, after; /* bytes */
    int64_t busy;          /* runs that others are at work on: their files are as they were */
} SpaceReport;

/* Makes the store as small as it can be. A handle that writes. ERR_BUSY where that cannot be done while runs are
 * under way. */
bool store_compact(Store *s, SpaceReport *out, Error *err);

/* Gives back what was freed since, as far as that holds up nobody: after checkpoints were removed. */
bool store_trim(Store *s, Error *err);

/* A copy of a store that others may be writing to: another store of the same kind, with every run as it was at some
 * moment of the call. `path` is a whole path that has nothing at it. Any handle. *bytes: how large it is. */
bool store_backup(Store *s, const char *path, int64_t *bytes, Error *err);

#endif
