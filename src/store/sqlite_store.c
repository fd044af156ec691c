#include "sqlite_store.h"

#include "crc32c.h"
#include "folders.h"
#include "mem.h"
#include "packed.h"
#include "schema.h"

#include <inttypes.h>

#define ROW_COLUMNS \
    "run, thread, workflow, status, definition, created, updated, head, last, owner, cancel"
#define CHECKPOINT_COLUMNS "id, parent, step, frame, at, crc, node, status, patch, snapshot, result"

#define PIECE_COLUMNS "id, before, execution, frame, attempt, stream, offset, at, crc, node, text"

static const char *const sql[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_FIND_THREAD] = "SELECT " ROW_COLUMNS " FROM runs WHERE thread = ?1",
    [SQL_FIND_RUN] = "SELECT " ROW_COLUMNS " FROM runs WHERE run = ?1",
    /* Those under way are sorted, however few they are; those that rest come in order (schema.c): a page costs
     * what is on it. */
    [SQL_RUNS] = "SELECT " ROW_COLUMNS " FROM runs"
                 " WHERE status = 'running' AND (updated, run) < (?1, ?2)"
                 " UNION ALL SELECT " ROW_COLUMNS " FROM runs"
                 " WHERE status <> 'running' AND (updated, run) < (?1, ?2)"
                 " ORDER BY updated DESC, run DESC LIMIT ?3",
    [SQL_INSERT_RUN] =
        "INSERT INTO runs (thread, workflow, status, definition, created, updated, owner)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [SQL_NAME_RUN] = "UPDATE OR IGNORE runs SET thread = ?2 WHERE run = ?1",
    [SQL_SET_CANCEL] = "UPDATE runs SET cancel = ?2 WHERE run = ?1",
    [SQL_GET_CANCEL] = "SELECT cancel FROM runs WHERE run = ?1",
    [SQL_VERSION] = "PRAGMA data_version",
    [SQL_DEFINE] = "INSERT OR IGNORE INTO definitions (key, value) VALUES (?1, ?2)",
    [SQL_DEFINITION] = "SELECT value FROM definitions WHERE key = ?1",
    [SQL_CHECKPOINT] = "SELECT " CHECKPOINT_COLUMNS " FROM checkpoints WHERE id = ?1",
    [SQL_INSERT_CHECKPOINT] = "INSERT OR REPLACE INTO checkpoints (" CHECKPOINT_COLUMNS ")"
                              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [SQL_REMOVE_CHECKPOINT] = "DELETE FROM checkpoints WHERE id = ?1",
    /* Without its status no index of a run under way is touched: nearly always that is as it was. */
    [SQL_UPDATE_SAME] = "UPDATE runs SET head = ?2, last = max(last, ?3), updated = ?5, owner = ?6"
                        " WHERE run = ?1 AND status = ?4",
    [SQL_UPDATE_RUN] = "UPDATE runs SET head = ?2, last = max(last, ?3), status = ?4, updated = ?5,"
                       " owner = ?6 WHERE run = ?1",
    [SQL_UPDATE_LAST] = "UPDATE runs SET last = max(last, ?2), owner = ?3 WHERE run = ?1",
    [SQL_REMOVE_CHECKPOINTS] = "DELETE FROM checkpoints WHERE id BETWEEN ?1 AND ?2",
    [SQL_REMOVE_RUN] = "DELETE FROM runs WHERE run = ?1",
    [SQL_INSERT_PIECE] = "INSERT INTO logs (" PIECE_COLUMNS ")"
                         " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [SQL_FIRST_PIECE] =
        "SELECT id, before FROM logs WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT 1",
    [SQL_LAST_PIECE] = "SELECT id, before, length(text) FROM logs WHERE id BETWEEN ?1 AND ?2"
                       " ORDER BY id DESC LIMIT 1",
    /* where what is there of a stream of an execution ends */
    [SQL_PIECE_END] = "SELECT offset + length(text) FROM logs INDEXED BY logs_of_node"
                      " WHERE node = ?3 AND id BETWEEN ?1 AND ?2"
                      " AND execution = ?4 AND frame = ?5 AND stream = ?6 ORDER BY id DESC LIMIT 1",
    /* the first that has so many bytes before it, but none before that number */
    [SQL_PIECES] = "SELECT id FROM logs WHERE id BETWEEN ?1 AND ?2 AND before >= ?3"
                   " ORDER BY id LIMIT 1",
    [SQL_REMOVE_PIECES] = "DELETE FROM logs WHERE id BETWEEN ?1 AND ?2",
};

enum {
    ROW_HEAD = 1 << 16, /* what a row has besides its bytes */
    ROW_MAX = STORE_RECORD_MAX + ROW_HEAD,
};

static SqliteStore *sqlite(Store *s) {
    return (SqliteStore *)s;
}

/* ---- statements ---- */

/* A value for a statement: a number, a text, or bytes, which may be NULL. */
typedef struct Bind {
    enum { BIND_NUMBER, BIND_TEXT, BIND_BYTES } type;
    int64_t number; /* of bytes: how many */
    const char *bytes;
} Bind;

typedef struct Binds {
    const Bind *items;
    int n;
} Binds;

#define NUMBER(value) \
    { BIND_NUMBER, (value), NULL }
#define TEXT(value) \
    { BIND_TEXT, 0, (value) }
#define BYTES(value, len) \
    { BIND_BYTES, (int64_t)(len), (value) }
#define BINDS(...)                                                                      \
    (Binds) {                                                                           \
        (const Bind[]){__VA_ARGS__}, sizeof((const Bind[]){__VA_ARGS__}) / sizeof(Bind) \
    }

/* Bytes of a row that a statement has to do with. */
static int row_max(Sql which) {
    switch (which) {
    case SQL_CHECKPOINT:
    case SQL_INSERT_CHECKPOINT:
    case SQL_REMOVE_CHECKPOINT:
    case SQL_REMOVE_CHECKPOINTS: return ROW_MAX;
    case SQL_DEFINE:
    case SQL_DEFINITION: return STORE_VALUE_MAX + ROW_HEAD;
    default: return STORE_FACTS_MAX;
    }
}

/* A prepared statement with its values, which are lent to it until it is reset. */
static sqlite3_stmt *statement(SqliteStore *q, Sql which, Binds binds, const char *doing,
                               Error *err) {
    sqlite3_stmt **stmt = &q->prepared[which];
    sqlite_begin_statement(q, row_max(which));
    if (!*stmt && sqlite3_prepare_v3(q->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, stmt,
                                     NULL) != SQLITE_OK) {
        sqlite_failed(q, doing, err);
        return NULL;
    }
    for (int i = 0; i < binds.n; i++) {
        const Bind *b = &binds.items[i];
        if (b->type == BIND_NUMBER) {
            sqlite3_bind_int64(*stmt, i + 1, b->number);
        } else if (b->type == BIND_TEXT) {
            sqlite3_bind_text(*stmt, i + 1, b->bytes, -1, SQLITE_STATIC);
        } else if (b->bytes) {
            const char *bytes = b->number ? b->bytes : "";
            sqlite3_bind_blob64(*stmt, i + 1, bytes, (sqlite3_uint64)b->number, SQLITE_STATIC);
        } else {
            sqlite3_bind_null(*stmt, i + 1);
        }
    }
    return *stmt;
}

/* Runs a statement that gives no rows. */
static bool execute(SqliteStore *q, Sql which, Binds binds, const char *doing, Error *err) {
    sqlite3_stmt *stmt = statement(q, which, binds, doing, err);
    bool ok = stmt && sqlite3_step(stmt) == SQLITE_DONE;
    if (stmt && !ok) sqlite_failed(q, doing, err);
    sqlite3_reset(stmt);
    return ok;
}

/* Runs a statement that gives at most one row: it is in *row until that is reset, or NULL. */
static bool query(SqliteStore *q, Sql which, Binds binds, sqlite3_stmt **row, Error *err) {
    sqlite3_stmt *stmt = statement(q, which, binds, "reading", err);
    int rc = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;
    *row = rc == SQLITE_ROW ? stmt : NULL;
    if (stmt && rc != SQLITE_ROW) {
        if (rc != SQLITE_DONE) sqlite_failed(q, "reading", err);
        sqlite3_reset(stmt);
    }
    return rc == SQLITE_ROW || rc == SQLITE_DONE;
}

/* Keeps the error that led here. */
static bool roll_back(SqliteStore *q) {
    if (!sqlite3_get_autocommit(q->db)) sqlite3_exec(q->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

/* ---- life ---- */

static const char *const parts[] = {"", "-wal", "-shm", "-journal", "-lease", "-work", NULL};

static bool sqlite_open(Store *s, Error *err) {
    lease_file_init(&sqlite(s)->lease_file, path_with(s->path, "-lease"));
    return sqlite_store_open(s, err);
}

static void sqlite_close(Store *s) {
    SqliteStore *q = sqlite(s);
    for (int i = 0; i < SQL_COUNT; i++) sqlite3_finalize(q->prepared[i]);
    sqlite3_close(q->db);
    lease_file_close(&q->lease_file);
    buf_clear(&q->packed);
}

static char *sqlite_folder(const Store *s) {
    return path_with(s->path, "-work");
}

/* ---- runs ---- */

static const char *column_text(sqlite3_stmt *stmt, int i) {
    const char *text = (const char *)sqlite3_column_text(stmt, i);
    return text ? text : "";
}

static void read_row(sqlite3_stmt *stmt, RunRow *row) {
    *row = (RunRow){.run = sqlite3_column_int64(stmt, 0),
                    .thread = mem_strdup(column_text(stmt, 1)),
                    .workflow = mem_strdup(column_text(stmt, 2)),
                    .status = mem_strdup(column_text(stmt, 3)),
                    .definition = mem_strdup(column_text(stmt, 4)),
                    .created = sqlite3_column_int64(stmt, 5),
                    .updated = sqlite3_column_int64(stmt, 6),
                    .head = sqlite3_column_int64(stmt, 7),
                    .last = sqlite3_column_int64(stmt, 8),
                    .owner = mem_strdup(column_text(stmt, 9)),
                    .cancel = sqlite3_column_int(stmt, 10) != 0};
}

static bool sqlite_find(Store *s, RunKey key, RunRow *out, bool *found, Error *err) {
    sqlite3_stmt *row;
    if (!(key.thread ? query(sqlite(s), SQL_FIND_THREAD, BINDS(TEXT(key.thread)), &row, err)
                     : query(sqlite(s), SQL_FIND_RUN, BINDS(NUMBER(key.run)), &row, err))) {
        return false;
    }
    *found = row != NULL;
    if (row) read_row(row, out);
    sqlite3_reset(row);
    return true;
}

/* A statement of its own, since fn may call us again. One row more than the page has is asked for: it
 * says that there is more. */
static bool sqlite_runs(Store *s, RunsPage *page, RunRowFn fn, void *ctx, Error *err) {
    SqliteStore *q = sqlite(s);
    sqlite3_stmt *stmt = NULL;
    size_t given = 0;
    bool wanted = true, ordered = true;
    sqlite_begin_statement(q, STORE_FACTS_MAX);
    int rc = sqlite3_prepare_v2(q->db, sql[SQL_RUNS], -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(stmt, 1, page->run ? page->updated : INT64_MAX);
        sqlite3_bind_int64(stmt, 2, page->run ? page->run : INT64_MAX);
        sqlite3_bind_int64(stmt, 3, page->limit ? (int64_t)page->limit + 1 : -1);
    }
    while (rc == SQLITE_OK && wanted && ordered && !page->more &&
           sqlite3_step(stmt) == SQLITE_ROW) {
        RunRow row;
        int64_t run = sqlite3_column_int64(stmt, 0), updated = sqlite3_column_int64(stmt, 6);
        /* a tree that has a page twice gives its rows twice, and may do so for ever */
        ordered =
            !page->run || updated < page->updated || (updated == page->updated && run < page->run);
        if (!ordered) break;
        q->steps = 0; /* how long those that listen take with each is up to them */
        page->more = page->limit && given == page->limit;
        if (!page->more) {
            read_row(stmt, &row);
            page->updated = row.updated;
            page->run = row.run;
            given++;
            wanted = fn(ctx, &row);
            run_row_clear(&row);
        }
    }
    bool ok = sqlite3_finalize(stmt) == SQLITE_OK && rc == SQLITE_OK;
    if (!ordered) return store_damaged(s, err, "its list of runs is not in order.");
    return ok || sqlite_failed(q, "listing the runs", err);
}

/* Gives a run that nobody named its name: by its number. */
static bool name_run(SqliteStore *q, RunRow *row, Error *err) {
    for (int i = 1; !row->thread; i++) {
        char name[STORE_NAME_MAX];
        store_name_run(row->run, i, name);
        if (!execute(q, SQL_NAME_RUN, BINDS(NUMBER(row->run), TEXT(name)), "making a run", err)) {
            return false;
        }
        row->thread = sqlite3_changes(q->db) == 1 ? mem_strdup(name) : NULL;
    }
    return true;
}

static bool insert_named(SqliteStore *q, RunRow *row, Error *err) {
    const char *unique = row->thread ? row->thread : "\x01"; /* no thread is called so */
    Binds values =
        BINDS(TEXT(unique), TEXT(row->workflow), TEXT(row->status), TEXT(row->definition),
              NUMBER(row->created), NUMBER(row->updated), TEXT(row->owner));
    if (!execute(q, SQL_INSERT_RUN, values, "making a run", err)) return false;
    row->run = sqlite3_last_insert_rowid(q->db);
    if (row->run > SCHEMA_RUN_MAX) {
        return error_set(err, ERR_LIMIT, "The store %s has given out all its run numbers.",
                         q->base.url);
    }
    /* The number of a run that was just made is nobody else's, so its lease is free. */
    bool busy = false;
    char *owner = NULL;
    bool ok =
        name_run(q, row, err) && lease_file_lock(&q->lease_file, row->run, &busy, &owner, err);
    mem_free(owner);
    return ok && (!busy || error_set(err, ERR_BUSY,
                                     "The lease of the new run %" PRId64 " is taken: %s "
                                     "belongs to another store.",
                                     row->run, q->lease_file.path));
}

static bool sqlite_begin(Store *s, Error *err) {
    return execute(sqlite(s), SQL_BEGIN, (Binds){0}, "writing checkpoints", err);
}

static void sqlite_cancel(Store *s) {
    roll_back(sqlite(s));
}

static bool sqlite_create_run(Store *s, RunRow *row, bool *found, Error *err) {
    SqliteStore *q = sqlite(s);
    RunRow there = {0};
    bool ok = !row->thread || sqlite_find(s, (RunKey){row->thread, 0}, &there, found, err);
    run_row_clear(&there);
    return ok && (*found || insert_named(q, row, err));
}

static bool sqlite_lease(Store *s, int64_t run, bool *busy, char **owner, Error *err) {
    RunRow row = {0};
    bool found = false;
    if (!sqlite_find(s, (RunKey){NULL, run}, &row, &found, err)) return false;
    run_row_clear(&row);
    if (!found) return store_has_no_run(s, run, err);
    return lease_file_lock(&sqlite(s)->lease_file, run, busy, owner, err);
}

static void sqlite_release(Store *s, int64_t run) {
    lease_file_unlock(&sqlite(s)->lease_file, run);
}

static bool sqlite_is_leased(Store *s, int64_t run) {
    return lease_file_is_locked(&sqlite(s)->lease_file, run);
}

static bool sqlite_set_cancel(Store *s, int64_t run, bool on, Error *err) {
    return execute(sqlite(s), SQL_SET_CANCEL, BINDS(NUMBER(run), NUMBER(on)), "asking to cancel",
                   err);
}

static bool sqlite_get_cancel(Store *s, int64_t run, bool *on, Error *err) {
    sqlite3_stmt *row;
    if (!query(sqlite(s), SQL_GET_CANCEL, BINDS(NUMBER(run)), &row, err)) return false;
    *on = row && sqlite3_column_int(row, 0);
    sqlite3_reset(row);
    return true;
}

/* SQLite's own count: it changes with what other connections commit, not with what this one does. */
static uint64_t sqlite_version(Store *s) {
    sqlite3_stmt *row;
    query(sqlite(s), SQL_VERSION, (Binds){0}, &row, NULL);
    uint64_t version = row ? (uint64_t)sqlite3_column_int64(row, 0) : 0;
    sqlite3_reset(row);
    return version;
}

/* ---- definitions ---- */

static bool sqlite_define(Store *s, const char *key, const Buf *value, Error *err) {
    return execute(sqlite(s), SQL_DEFINE, BINDS(TEXT(key), BYTES(value->data, value->len)),
                   "keeping a definition", err);
}

static bool sqlite_definition(Store *s, const char *key, Buf *out, bool *found, Error *err) {
    sqlite3_stmt *row;
    if (!query(sqlite(s), SQL_DEFINITION, BINDS(TEXT(key)), &row, err)) return false;
    *found = row != NULL;
    if (row) {
        const char *bytes = sqlite3_column_blob(row, 0);
        buf_add(out, bytes, bytes ? (size_t)sqlite3_column_bytes(row, 0) : 0);
    }
    sqlite3_reset(row);
    return true;
}

/* ---- logs ---- */

/* The log that a batch is at. */
typedef struct Log {
    int64_t run; /* 0: none */
    LogEnd end;
} Log;

static const char keeping[] = "keeping output";

/* All pieces of a run, from one on. */
#define PIECES(run, from) NUMBER(schema_id(run, from)), NUMBER(schema_id(run, SCHEMA_SEQ_MAX))

static bool find_first_piece(SqliteStore *q, Log *log, Error *err) {
    sqlite3_stmt *row;
    if (!query(q, SQL_FIRST_PIECE, BINDS(PIECES(log->run, 0)), &row, err)) return false;
    if (row) {
        log->end.first = sqlite3_column_int64(row, 0) & SCHEMA_SEQ_MAX;
        log->end.before = sqlite3_column_int64(row, 1);
    }
    sqlite3_reset(row);
    return true;
}

/* Where the log of a run ends. Where it begins is looked up when it may be too long. */
static bool find_log(SqliteStore *q, int64_t run, Log *log, Error *err) {
    sqlite3_stmt *row;
    if (log->run == run) return true;
    if (!query(q, SQL_LAST_PIECE, BINDS(PIECES(run, 0)), &row, err)) return false;
    *log = (Log){.run = run, .end = {.first = 1, .next = 1}};
    if (row) {
        log->end.next = (sqlite3_column_int64(row, 0) & SCHEMA_SEQ_MAX) + 1;
        log->end.total = sqlite3_column_int64(row, 1) + sqlite3_column_int64(row, 2);
    }
    sqlite3_reset(row);
    return true;
}

static bool trim_pieces(SqliteStore *q, int64_t run, int64_t before, int64_t first, Error *err) {
    sqlite3_stmt *row;
    Log log = {0};
    if (!find_log(q, run, &log, err)) return false;
    if (!query(q, SQL_PIECES, BINDS(PIECES(run, first), NUMBER(before)), &row, err)) return false;
    int64_t stays = row ? sqlite3_column_int64(row, 0) & SCHEMA_SEQ_MAX : log.end.next - 1;
    sqlite3_reset(row);
    return stays < 1 || execute(q, SQL_REMOVE_PIECES,
                                BINDS(NUMBER(schema_id(run, 0)), NUMBER(schema_id(run, stays - 1))),
                                keeping, err);
}

/* Leaves what is not there yet; *left: whether anything is. */
static bool skip_there(SqliteStore *q, LogPiece *piece, bool *left, Error *err) {
    sqlite3_stmt *row;
    Binds values = BINDS(PIECES(piece->run, 0), TEXT(piece->node), NUMBER(piece->execution),
                         NUMBER(piece->frame), NUMBER(piece->stream));
    if (!query(q, SQL_PIECE_END, values, &row, err)) return false;
    *left = !row || log_skip(piece, sqlite3_column_int64(row, 0));
    sqlite3_reset(row);
    return true;
}

static bool write_piece(SqliteStore *q, const BatchWrite *w, Log *log, Error *err) {
    LogPiece piece;
    bool left = true;
    if (!log_unpack(w->packed, w->packed_len, true, &piece)) return false;
    piece.run = w->run;
    if (!find_log(q, w->run, log, err) || (piece.again && !skip_there(q, &piece, &left, err))) {
        return false;
    }
    if (!left) return true;
    piece.again = false;
    log_end_add(&log->end, &piece);
    if (piece.n > SCHEMA_SEQ_MAX) {
        return error_set(err, ERR_LIMIT, "Run %" PRId64 " has used up the numbers of its log.",
                         w->run);
    }
    buf_reset(&q->packed);
    log_pack(&piece, &q->packed);
    Binds values = BINDS(NUMBER(schema_id(piece.run, piece.n)), NUMBER(piece.before),
                         NUMBER(piece.execution), NUMBER(piece.frame), NUMBER(piece.attempt),
                         NUMBER(piece.stream), NUMBER(piece.offset), NUMBER(piece.at),
                         NUMBER((int32_t)crc32c(q->packed.data, q->packed.len)), TEXT(piece.node),
                         BYTES(piece.text, piece.len));
    if (!execute(q, SQL_INSERT_PIECE, values, keeping, err)) return false;
    int64_t before, first;
    if (!log_end_trim(&log->end, &before, &first)) return true;
    if (!find_first_piece(q, log, err)) return false;
    return !log_end_trim(&log->end, &before, &first) ||
           (trim_pieces(q, w->run, before, first, err) && find_first_piece(q, log, err));
}

/* ---- commit ---- */

/* What a batch says about the run that it is at. Checkpoints and facts of one run mostly follow each
 * other, so the row is written once for many. */
typedef struct Facts {
    int64_t run, last, head, at;
    const char *status; /* NULL: none given */
} Facts;

static bool write_facts(SqliteStore *q, const Facts *f, const char *self, Error *err) {
    Binds last = BINDS(NUMBER(f->run), NUMBER(f->last), TEXT(self));
    Binds all = BINDS(NUMBER(f->run), NUMBER(f->head), NUMBER(f->last), TEXT(f->status),
                      NUMBER(f->at), TEXT(self));
    static const char doing[] = "writing checkpoints";
    if (!f->run || !f->status) return !f->run || execute(q, SQL_UPDATE_LAST, last, doing, err);
    return execute(q, SQL_UPDATE_SAME, all, doing, err) &&
           (sqlite3_changes(q->db) || execute(q, SQL_UPDATE_RUN, all, doing, err));
}

static bool write_checkpoint(SqliteStore *q, const BatchWrite *w, Error *err) {
    Checkpoint c;
    if (!checkpoint_unpack(w->packed, w->packed_len, &c)) return false;
    if (c.seq > SCHEMA_SEQ_MAX) {
        return error_set(err, ERR_LIMIT, "Run %" PRId64 " has used up its checkpoint numbers.",
                         c.run);
    }
    Binds values =
        BINDS(NUMBER(schema_id(c.run, c.seq)), NUMBER(c.parent), NUMBER(c.step), NUMBER(c.frame),
              NUMBER(c.at), NUMBER((int32_t)crc32c(w->packed, w->packed_len)), TEXT(c.node),
              TEXT(c.status), BYTES(c.patch, c.patch_len), BYTES(c.snapshot, c.snapshot_len),
              BYTES(c.result, c.result_len));
    return execute(q, SQL_INSERT_CHECKPOINT, values, "writing checkpoints", err);
}

static bool apply(SqliteStore *q, const BatchWrite *w, Facts *f, Log *log, Error *err) {
    switch (w->op) {
    case BATCH_CHECKPOINT:
        f->last = w->seq > f->last ? w->seq : f->last;
        return write_checkpoint(q, w, err);
    case BATCH_REMOVE:
        return execute(q, SQL_REMOVE_CHECKPOINT, BINDS(NUMBER(schema_id(w->run, w->seq))),
                       "removing", err);
    case BATCH_RUN:
        f->head = w->head;
        f->at = w->at;
        f->status = w->status;
        return true;
    case BATCH_REMOVE_RUN:
        f->run = 0;
        return execute(
                   q, SQL_REMOVE_CHECKPOINTS,
                   BINDS(NUMBER(schema_id(w->run, 0)), NUMBER(schema_id(w->run, SCHEMA_SEQ_MAX))),
                   "removing", err) &&
               execute(q, SQL_REMOVE_PIECES, BINDS(PIECES(w->run, 0)), "removing", err) &&
               execute(q, SQL_REMOVE_RUN, BINDS(NUMBER(w->run)), "removing", err);
    case BATCH_TRIM_LOG: log->run = 0; return trim_pieces(q, w->run, 0, w->seq, err);
    case BATCH_LOG:
    case BATCH_RELEASE:
    case BATCH_DEFINE:
    case BATCH_CREATE: return true; /* its row is there */
    }
    return false;
}

static bool apply_all(SqliteStore *q, const StoreBatch *b, Error *err) {
    char self[STORE_OWNER_MAX];
    BatchWrite w;
    Facts facts = {0};
    Log log = {0};
    store_self(self);
    for (size_t pos = 0; batch_next(b, &pos, &w);) {
        if (w.op == BATCH_LOG) { /* says nothing about the run */
            if (store_holds(&q->base, w.run) && !write_piece(q, &w, &log, err)) return false;
            continue;
        }
        if (w.run != facts.run) {
            if (!write_facts(q, &facts, self, err)) return false;
            facts = (Facts){.run = w.run};
        }
        if (!apply(q, &w, &facts, &log, err)) return false;
    }
    return write_facts(q, &facts, self, err);
}

static bool sqlite_commit(Store *s, const StoreBatch *b, Error *err) {
    SqliteStore *q = sqlite(s);
    bool begun = !sqlite3_get_autocommit(q->db);
    return ((begun || sqlite_begin(s, err)) && apply_all(q, b, err) &&
            execute(q, SQL_COMMIT, (Binds){0}, "writing checkpoints", err)) ||
           roll_back(q);
}

/* ---- reading ---- */

/* NULL when there are none; SQLite itself has no place for an empty blob. */
static const char *column_bytes(sqlite3_stmt *stmt, int i, size_t *len) {
    if (sqlite3_column_type(stmt, i) != SQLITE_BLOB) return NULL;
    const char *bytes = sqlite3_column_blob(stmt, i);
    *len = (size_t)sqlite3_column_bytes(stmt, i);
    return bytes ? bytes : "";
}

/* Packs the row again, which puts its strings where they can be lent, and compares checksums. NULL
 * when it is sound. */
static const char *read_checkpoint(sqlite3_stmt *stmt, Buf *packed, Checkpoint *out) {
    int64_t id = sqlite3_column_int64(stmt, 0);
    Checkpoint c = {.run = id >> SCHEMA_SEQ_BITS,
                    .seq = id & SCHEMA_SEQ_MAX,
                    .parent = sqlite3_column_int64(stmt, 1),
                    .step = sqlite3_column_int64(stmt, 2),
                    .frame = sqlite3_column_int64(stmt, 3),
                    .at = sqlite3_column_int64(stmt, 4),
                    .node = column_text(stmt, 6),
                    .status = column_text(stmt, 7)};
    c.patch = column_bytes(stmt, 8, &c.patch_len);
    c.snapshot = column_bytes(stmt, 9, &c.snapshot_len);
    c.result = column_bytes(stmt, 10, &c.result_len);
    buf_reset(packed);
    checkpoint_pack(&c, packed);
    if ((int32_t)crc32c(packed->data, packed->len) != sqlite3_column_int64(stmt, 5) || !c.patch ||
        !checkpoint_unpack(packed->data, packed->len, out)) {
        return "its checksum does not match";
    }
    return NULL;
}

/* Whether SQLite could not read one row, while others may be sound; and what to say of it. */
static bool is_bad_row(int rc) {
    return (rc & 0xFF) == SQLITE_CORRUPT || (rc & 0xFF) == SQLITE_TOOBIG;
}

static const char *bad_row(int rc) {
    return (rc & 0xFF) == SQLITE_TOOBIG ? "it is longer than it may be"
                                        : "the database cannot be read at this place";
}

static bool sqlite_checkpoint(Store *s, int64_t run, int64_t seq, Checkpoint *out, bool *found,
                              const char **why, Error *err) {
    SqliteStore *q = sqlite(s);
    *found = false;
    if (run < 1 || run > SCHEMA_RUN_MAX || seq < 1 || seq > SCHEMA_SEQ_MAX) return true;
    sqlite3_stmt *stmt =
        statement(q, SQL_CHECKPOINT, BINDS(NUMBER(schema_id(run, seq))), "reading", err);
    int rc = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;
    *found = rc == SQLITE_ROW;
    if (*found) {
        *why = read_checkpoint(stmt, &q->packed, out);
        /* a row that SQLite cannot read to its end gives NULL columns, and says so here */
        rc = sqlite3_errcode(q->db);
    }
    if (is_bad_row(rc)) {
        *found = true;
        *why = bad_row(rc);
    } else if (rc != SQLITE_ROW && rc != SQLITE_DONE && rc != SQLITE_OK) {
        sqlite_failed(q, "reading", err);
        sqlite3_reset(stmt);
        return false;
    }
    sqlite3_reset(stmt);
    return true;
}

typedef struct History {
    SqliteStore *q;
    int64_t run, next; /* the number to go on from */
    Buf packed;
    CheckpointFn fn;
    bool (*damaged)(void *ctx, int64_t seq, const char *why);
    void *ctx;
} History;

/* Walks until fn has had enough (*more is false), the end, or a page that cannot be read. */
static int walk_rows(History *h, bool *more) {
    static const char select[] =
        "SELECT " CHECKPOINT_COLUMNS " FROM checkpoints WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
    sqlite3_stmt *stmt = NULL;
    sqlite_begin_statement(h->q, ROW_MAX);
    int rc = sqlite3_prepare_v2(h->q->db, select, -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(stmt, 1, schema_id(h->run, h->next));
        sqlite3_bind_int64(stmt, 2, schema_id(h->run, SCHEMA_SEQ_MAX));
    }
    while (rc == SQLITE_OK && *more && sqlite3_step(stmt) == SQLITE_ROW) {
        Checkpoint c;
        int64_t seq = sqlite3_column_int64(stmt, 0) & SCHEMA_SEQ_MAX;
        if (seq < h->next) { /* a tree that has a page twice */
            rc = SQLITE_CORRUPT;
            break;
        }
        sqlite3_limit(h->q->db, SQLITE_LIMIT_LENGTH, ROW_MAX); /* fn may have used the handle */
        h->q->steps = 0;
        const char *why = read_checkpoint(stmt, &h->packed, &c);
        *more = why ? h->damaged(h->ctx, seq, why) : h->fn(h->ctx, &c);
        h->next = seq + 1;
    }
    int ended = sqlite3_finalize(stmt);
    return rc != SQLITE_OK ? rc : *more ? ended : SQLITE_OK;
}

/* Past a page that cannot be read, the rows of the next one can: it is looked for in growing steps. */
static bool sqlite_history(Store *s, int64_t run, int64_t from, CheckpointFn fn,
                           bool (*damaged)(void *ctx, int64_t seq, const char *why), void *ctx,
                           Error *err) {
    History h = {.q = sqlite(s),
                 .run = run,
                 .next = from > 0 ? from : 0,
                 .fn = fn,
                 .damaged = damaged,
                 .ctx = ctx};
    bool more = run > 0 && run <= SCHEMA_RUN_MAX && h.next <= SCHEMA_SEQ_MAX, told = false;
    int rc = more ? walk_rows(&h, &more) : SQLITE_OK;
    for (int64_t step = 1; more && is_bad_row(rc) && step < SCHEMA_SEQ_MAX; step *= 2) {
        int64_t before = h.next;
        if (!told) {
            more = damaged(ctx, h.next ? h.next : 1, bad_row(rc));
            told = true;
        }
        h.next += step;
        rc = more && h.next <= SCHEMA_SEQ_MAX ? walk_rows(&h, &more) : SQLITE_OK;
        if (h.next != before + step) { /* got on: a later failure is another */
            step = 1;
            told = false;
        }
    }
    buf_clear(&h.packed);
    return rc == SQLITE_OK || sqlite_failed(h.q, "reading checkpoints", err);
}

/* Packs the row again, as read_checkpoint() does. */
static const char *read_piece(sqlite3_stmt *stmt, Buf *packed, LogPiece *out) {
    int64_t id = sqlite3_column_int64(stmt, 0), run = id >> SCHEMA_SEQ_BITS;
    int64_t stream = sqlite3_column_int64(stmt, 5);
    LogPiece piece = {.n = id & SCHEMA_SEQ_MAX,
                      .before = sqlite3_column_int64(stmt, 1),
                      .execution = sqlite3_column_int64(stmt, 2),
                      .frame = sqlite3_column_int64(stmt, 3),
                      .attempt = sqlite3_column_int64(stmt, 4),
                      .stream = stream >= 0 && stream < LOG_STREAMS ? (LogStream)stream : 0,
                      .offset = sqlite3_column_int64(stmt, 6),
                      .at = sqlite3_column_int64(stmt, 7),
                      .node = column_text(stmt, 9)};
    piece.text = column_bytes(stmt, 10, &piece.len);
    buf_reset(packed);
    log_pack(&piece, packed);
    bool sound = piece.text && stream == piece.stream &&
                 (int32_t)crc32c(packed->data, packed->len) == sqlite3_column_int64(stmt, 8) &&
                 log_unpack(packed->data, packed->len, true, out);
    out->run = run;
    return sound ? NULL : "its checksum does not match";
}

static bool sqlite_log(Store *s, const LogQuery *wanted, LogFn fn,
                       bool (*damaged)(void *ctx, int64_t n, const char *why), void *ctx,
                       Error *err) {
#define SELECT_PIECES(from, order)             \
    "SELECT " PIECE_COLUMNS " FROM logs " from \
    " id BETWEEN ?1 AND ?2 AND at >= ?4 ORDER BY id" order
#define OF_NODE "INDEXED BY logs_of_node WHERE node = ?3 AND"
    static const char *const selects[2][2] = {
        {SELECT_PIECES("WHERE", ""), SELECT_PIECES("WHERE", " DESC")},
        {SELECT_PIECES(OF_NODE, ""), SELECT_PIECES(OF_NODE, " DESC")},
    };
    SqliteStore *q = sqlite(s);
    sqlite3_stmt *stmt = NULL;
    Buf packed = BUF_INIT;
    int64_t from = wanted->from > 0 ? wanted->from : 0, run = wanted->run;
    bool back = wanted->newest_first;
    int64_t next = back ? SCHEMA_SEQ_MAX : from;
    bool more = run > 0 && run <= SCHEMA_RUN_MAX && from <= SCHEMA_SEQ_MAX;
    if (!more || q->format < SCHEMA_LOGS) return true;
    sqlite_begin_statement(q, STORE_FACTS_MAX);
    int rc = sqlite3_prepare_v2(q->db, selects[wanted->node != NULL][back], -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(stmt, 1, schema_id(run, from));
        sqlite3_bind_int64(stmt, 2, schema_id(run, SCHEMA_SEQ_MAX));
        if (wanted->node) sqlite3_bind_text(stmt, 3, wanted->node, -1, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 4, wanted->since);
    }
    while (rc == SQLITE_OK && more && sqlite3_step(stmt) == SQLITE_ROW) {
        LogPiece piece = {0};
        int64_t n = sqlite3_column_int64(stmt, 0) & SCHEMA_SEQ_MAX;
        if (back ? n > next : n < next) { /* a tree that has a page twice */
            rc = SQLITE_CORRUPT;
            break;
        }
        q->steps = 0;
        const char *why = read_piece(stmt, &packed, &piece);
        more = why ? damaged(ctx, n, why) : fn(ctx, &piece);
        next = back ? n - 1 : n + 1;
    }
    int ended = sqlite3_finalize(stmt);
    buf_clear(&packed);
    rc = rc != SQLITE_OK ? rc : more ? ended : SQLITE_OK;
    if (is_bad_row(rc)) {
        damaged(ctx, next ? next : 1, bad_row(rc));
        return true;
    }
    return rc == SQLITE_OK || sqlite_failed(q, "reading output", err);
}

/* ---- checking ---- */

/* What SQLite is asked about the file as a whole: the first column of each row goes into the sentence, one that is
 * just "ok" says that all is well. */
static const struct Look {
    const char *sql, *sentence;
} looks[] = {
    {"PRAGMA integrity_check(1)", "SQLite says about %s: %s."},
    {"SELECT run FROM runs WHERE typeof(thread) <> 'text' OR typeof(workflow) <> 'text' OR "
     "typeof(definition) <> 'text' OR typeof(status) <> 'text' OR typeof(owner) <> 'text' OR "
     "typeof(created) <> 'integer' OR typeof(updated) <> 'integer' OR typeof(head) <> 'integer' OR "
     "typeof(last) <> 'integer' OR cancel NOT IN (0, 1) LIMIT 20",
     "In %s the row of run %s is damaged: it holds what no run has."},
    {"SELECT DISTINCT id >> 36 FROM checkpoints WHERE id >> 36 NOT IN (SELECT run FROM runs) LIMIT 20",
     "%s has checkpoints of a run %s, whose row is missing."},
    {"SELECT max(run) FROM runs WHERE run > (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE "
     "name = 'runs') HAVING max(run)",
     "%s has lost the number given last, which was at least %s."},
};
static const char look_at_logs[] =
    "SELECT DISTINCT id >> 36 FROM logs WHERE id >> 36 NOT IN (SELECT run FROM runs) LIMIT 20";

static bool look(SqliteStore *q, const struct Look *look, Buf *out, Error *err) {
    sqlite3_stmt *stmt = NULL;
    sqlite_begin_statement(q, ROW_MAX);
    int rc = sqlite3_prepare_v2(q->db, look->sql, -1, &stmt, NULL);
    while (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *found = column_text(stmt, 0);
        if (!strcmp(found, "ok")) continue;
        if (out->len) buf_addc(out, '\n');
        buf_printf(out, look->sentence, q->base.path, found);
    }
    bool ok = sqlite3_finalize(stmt) == SQLITE_OK && rc == SQLITE_OK;
    return ok || sqlite_failed(q, "checking it", err);
}

static bool sqlite_inspect(Store *s, int64_t run, Buf *out, Error *err) {
    SqliteStore *q = sqlite(s);
    bool ok = true;
    for (size_t i = 0; ok && !run && i < sizeof looks / sizeof *looks; i++) {
        ok = look(q, &looks[i], out, err);
    }
    if (!ok || run || q->format < SCHEMA_LOGS) return ok;
    return look(q, &(struct Look){look_at_logs, "%s has output of a run %s, whose row is missing."},
                out, err);
}

const StoreBackend sqlite_backend = {
    .scheme = "sqlite",
    .durable = true,
    .parts = parts,
    .in_folder = true,
    .handle_size = sizeof(SqliteStore),
    .open = sqlite_open,
    .close = sqlite_close,
    .folder = sqlite_folder,
    .find = sqlite_find,
    .runs = sqlite_runs,
    .begin = sqlite_begin,
    .create_run = sqlite_create_run,
    .cancel = sqlite_cancel,
    .lease = sqlite_lease,
    .release = sqlite_release,
    .is_leased = sqlite_is_leased,
    .set_cancel = sqlite_set_cancel,
    .get_cancel = sqlite_get_cancel,
    .version = sqlite_version,
    .define = sqlite_define,
    .definition = sqlite_definition,
    .commit = sqlite_commit,
    .checkpoint = sqlite_checkpoint,
    .history = sqlite_history,
    .log = sqlite_log,
    .inspect = sqlite_inspect,
    .compact = sqlite_compact,
    .trim = sqlite_trim,
    .backup = sqlite_backup,
};
