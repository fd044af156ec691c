/* sqlite_store.h - the handle of an SQLite store, and how it is opened.
 *
 * The database is in WAL mode with synchronous=FULL: a commit is one append to the log and one sync.
 * Statements are prepared once, when first needed, and are always reset before a call returns, so
 * that no read transaction outlives it.
 */
#ifndef PAWL_STORE_SQLITE_STORE_H
#define PAWL_STORE_SQLITE_STORE_H

#include "backend.h"

#include <sqlite3.h>

typedef enum Sql {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_FIND_THREAD,
    SQL_FIND_RUN,
    SQL_RUNS,
    SQL_INSERT_RUN,
    SQL_NAME_RUN,
    SQL_SET_CANCEL,
    SQL_GET_CANCEL,
    SQL_VERSION,
    SQL_DEFINE,
    SQL_DEFINITION,
    SQL_CHECKPOINT,
    SQL_INSERT_CHECKPOINT,
    SQL_REMOVE_CHECKPOINT,
    SQL_UPDATE_SAME,
    SQL_UPDATE_RUN,
    SQL_UPDATE_LAST,
    SQL_REMOVE_CHECKPOINTS,
    SQL_REMOVE_RUN,
    SQL_INSERT_PIECE,
    SQL_FIRST_PIECE,
    SQL_LAST_PIECE,
    SQL_PIECE_END,
    SQL_PIECES,
    SQL_REMOVE_PIECES,
    SQL_COUNT,
} Sql;

typedef struct SqliteStore {
    Store base;
    sqlite3 *db;
    sqlite3_stmt *prepared[SQL_COUNT];
    LeaseFile lease_file;
    int64_t format; /* of the database */
    Buf packed;     /* the checkpoint lent last */
    /* A file can be made so that a statement on it never ends (pages that are in its tree many times). So it has as
     * many steps as a sound file of its size could need; sqlite_begin_statement() gives them. */
    uint64_t steps, steps_max; /* taken; allowed, 0: as of a small file */
    int64_t busy;              /* runs of others, while they are counted */
} SqliteStore;

/* Before a statement is run: its steps, and how many bytes a row that it reads or writes may have. */
void sqlite_begin_statement(SqliteStore *q, int row_max);

bool sqlite_store_open(Store *s, Error *err);

/* sqlite_space.c */
bool sqlite_compact(Store *s, int64_t *busy, Error *err);
bool sqlite_trim(Store *s, Error *err);
bool sqlite_backup(Store *s, const char *path, Error *err);

/* Sets the error for what SQLite said last; `doing` completes "... while <doing>". Returns false. */
bool sqlite_failed(const SqliteStore *q, const char *doing, Error *err);

#endif
