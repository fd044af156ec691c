#include "schema.h"

const char *const schema_migrations[STORE_FORMAT] = {
    /* 0 to 1 */
    "CREATE TABLE runs ("
    "  run INTEGER PRIMARY KEY AUTOINCREMENT," /* numbers are never used again */
    "  thread TEXT NOT NULL UNIQUE,"
    "  workflow TEXT NOT NULL,"
    "  definition TEXT NOT NULL,"
    "  status TEXT NOT NULL,"
    "  created INTEGER NOT NULL,"
    "  updated INTEGER NOT NULL,"
    "  head INTEGER NOT NULL DEFAULT 0,"
    "  last INTEGER NOT NULL DEFAULT 0,"
    "  owner TEXT NOT NULL,"
    "  cancel INTEGER NOT NULL DEFAULT 0);"

    "CREATE TABLE definitions ("
    "  key TEXT PRIMARY KEY,"
    "  value BLOB NOT NULL) WITHOUT ROWID;"

    "CREATE TABLE checkpoints ("
    "  id INTEGER PRIMARY KEY," /* run << 36 | seq */
    "  parent INTEGER NOT NULL,"
    "  step INTEGER NOT NULL,"
    "  frame INTEGER NOT NULL,"
    "  at INTEGER NOT NULL,"
    "  crc INTEGER NOT NULL," /* CRC-32C of the packed checkpoint, as a signed number */
    "  node TEXT NOT NULL,"
    "  status TEXT NOT NULL,"
    "  patch BLOB NOT NULL,"
    "  snapshot BLOB);",

    /* 1 to 2 */
    "ALTER TABLE checkpoints ADD COLUMN result BLOB;",

    /* 2 to 3: runs in the order in which they are listed. A run that is under way changes its time with every
     * commit: it is found by its number, and only those that rest are kept in order. */
    "CREATE INDEX runs_running ON runs (run) WHERE status = 'running';"
    "CREATE INDEX runs_resting ON runs (updated) WHERE status <> 'running';",

    /* 3 to 4: what the work of runs printed */
    "CREATE TABLE logs ("
    "  id INTEGER PRIMARY KEY," /* run << 36 | number of the piece */
    "  before INTEGER NOT NULL,"
    "  execution INTEGER NOT NULL,"
    "  frame INTEGER NOT NULL,"
    "  attempt INTEGER NOT NULL,"
    "  stream INTEGER NOT NULL,"
    "  offset INTEGER NOT NULL,"
    "  at INTEGER NOT NULL,"
    "  crc INTEGER NOT NULL," /* CRC-32C of the packed piece, as a signed number */
    "  node TEXT NOT NULL,"
    "  text BLOB NOT NULL);"
    "CREATE INDEX logs_of_node ON logs (node);",
};
