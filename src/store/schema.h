/* schema.h - the tables of an SQLite store, as numbered migrations.
 *
 * A database says in user_version how many of them it has had (its format) and in application_id that
 * it is ours. Migration i takes a database from format i to i + 1; STORE_FORMAT is how many there
 * are. What a migration once did is never changed: a later one changes it again.
 */
#ifndef PAWL_STORE_SCHEMA_H
#define PAWL_STORE_SCHEMA_H

#include "store.h"

enum {
    SCHEMA_APPLICATION = 0x5061776C, /* "Pawl" */
    SCHEMA_READS =
        2, /* the oldest format that can be read as it is: nothing but indices and logs came after */
    SCHEMA_LOGS = 4, /* the first that has logs */
};

extern const char *const schema_migrations[STORE_FORMAT];

/* A checkpoint's key in one integer, and that of a piece of a log: the rows of a run lie together and in order, and appending to
 * the run that was made last is appending to the table. */
enum { SCHEMA_SEQ_BITS = 36 };
#define SCHEMA_SEQ_MAX (((int64_t)1 << SCHEMA_SEQ_BITS) - 1)
#define SCHEMA_RUN_MAX (((int64_t)1 << (63 - SCHEMA_SEQ_BITS)) - 1)

static inline int64_t schema_id(int64_t run, int64_t seq) {
    return run << SCHEMA_SEQ_BITS | seq;
}

#endif
