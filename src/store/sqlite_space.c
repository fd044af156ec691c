/* sqlite_space.c - free pages of a database, and copies of it.
 *
 * A database of ours is made so that free pages can be given back a few at a time (auto_vacuum=INCREMENTAL): each
 * piece is a short transaction that others can wait for. One that an earlier version made is written anew once, by
 * VACUUM, while nobody is at work; then it is such a database, too. */
#include "folders.h"
#include "mem.h"
#include "sqlite_faults.h"
#include "sqlite_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    INCREMENTAL = 2, /* as PRAGMA auto_vacuum says it */
    ROWS_OF_ANY_SIZE = 1000000000,
    COPIED_PAGES = 256, /* at a time: then it is looked whether anybody still waits */
};

static bool run_sql(SqliteStore *q, const char *sql, const char *doing, Error *err) {
    sqlite_begin_statement(q, ROWS_OF_ANY_SIZE);
    return sqlite3_exec(q->db, sql, NULL, NULL, NULL) == SQLITE_OK || sqlite_failed(q, doing, err);
}

static bool query_int(SqliteStore *q, const char *sql, int64_t *out, Error *err) {
    sqlite3_stmt *stmt = NULL;
    sqlite_begin_statement(q, ROWS_OF_ANY_SIZE);
    bool ok = sqlite3_prepare_v2(q->db, sql, -1, &stmt, NULL) == SQLITE_OK &&
              sqlite3_step(stmt) == SQLITE_ROW;
    if (ok) {
        *out = sqlite3_column_int64(stmt, 0);
    } else {
        sqlite_failed(q, "reading it", err);
    }
    sqlite3_finalize(stmt);
    return ok;
}

/* ---- free pages ---- */

/* What the log has goes into the file, which then is cut off behind its last page. Where others read, it is done
 * another time, by whoever commits. */
static void settle_log(SqliteStore *q) {
    sqlite_begin_statement(q, ROWS_OF_ANY_SIZE);
    sqlite3_exec(q->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
}

static bool give_back(SqliteStore *q, Error *err) {
    int64_t left = 0, before;
    if (!query_int(q, "PRAGMA freelist_count", &left, err)) return false;
    do {
        before = left;
        if (!run_sql(q, "PRAGMA incremental_vacuum(500)", "giving back free pages", err) ||
            !query_int(q, "PRAGMA freelist_count", &left, err)) {
            return false;
        }
    } while (left && left < before);
    return true;
}

bool sqlite_trim(Store *s, Error *err) {
    SqliteStore *q = (SqliteStore *)s;
    int64_t mode;
    if (!query_int(q, "PRAGMA auto_vacuum", &mode, err)) return false;
    if (mode != INCREMENTAL) return true;
    if (!give_back(q, err)) return false;
    settle_log(q);
    return true;
}

static bool is_at_work(void *ctx, const RunRow *row) {
    SqliteStore *q = ctx;
    q->busy += store_is_leased(&q->base, row->run) && !store_holds(&q->base, row->run);
    return true;
}

/* All of it is written anew, and whoever commits meanwhile would give up before it is done. */
static bool write_anew(SqliteStore *q, Error *err) {
    q->busy = 0;
    if (!store_runs(&q->base, is_at_work, q, err)) return false;
    if (q->busy) {
        return error_set(
            err, ERR_BUSY,
            "%s was made by an earlier version and has to be written anew, which holds "
            "up whoever writes to it: %lld run%s under way. Try again when nothing "
            "runs.",
            q->base.path, (long long)q->busy, q->busy == 1 ? " is" : "s are");
    }
    static const char doing[] = "writing it anew";
    return run_sql(q, "PRAGMA auto_vacuum=INCREMENTAL", doing, err) &&
           run_sql(q, "VACUUM", doing, err);
}

bool sqlite_compact(Store *s, int64_t *busy, Error *err) {
    SqliteStore *q = (SqliteStore *)s;
    int64_t mode;
    *busy = 0;
    if (!query_int(q, "PRAGMA auto_vacuum", &mode, err) ||
        !(mode == INCREMENTAL ? give_back(q, err) : write_anew(q, err))) {
        return false;
    }
    settle_log(q);
    return true;
}

/* ---- a copy ---- */

/* One state of the database, however long it takes: a transaction that reads. */
static bool copy_pages(SqliteStore *q, sqlite3 *to, Error *err) {
    static const char doing[] = "copying it";
    const struct timespec pause = {.tv_nsec = 2000000};
    int64_t ignored;
    int code = SQLITE_OK;
    if (!run_sql(q, "BEGIN", doing, err)) return false;
    bool ok = query_int(q, "SELECT count(*) FROM sqlite_master", &ignored, err);
    sqlite3_backup *copy = ok ? sqlite3_backup_init(to, "main", q->db, "main") : NULL;
    while (copy && (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED)) {
        if (atomic_load(&q->base.interrupted)) break;
        code = sqlite3_backup_step(copy, COPIED_PAGES);
        if (code == SQLITE_BUSY || code == SQLITE_LOCKED) nanosleep(&pause, NULL);
    }
    if (copy) sqlite3_backup_finish(copy);
    sqlite3_exec(q->db, "COMMIT", NULL, NULL, NULL);
    if (!ok || code == SQLITE_DONE) return ok;
    if (atomic_load(&q->base.interrupted)) return store_was_interrupted(&q->base, err);
    if (sqlite3_errcode(q->db) != SQLITE_OK) return sqlite_failed(q, doing, err);
    error_set(err, ERR_IO, "The copy cannot be written: %s.", sqlite3_errmsg(to));
    return error_fact_full(err, (code & 0xFF) == SQLITE_FULL ? ENOSPC : sqlite3_system_errno(to));
}

static bool sync_path(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) close(fd);
    return ok;
}

static bool copy_failed(const char *path, const char *what, Error *err) {
    int failed = errno;
    error_set(err, ERR_IO, "The copy %s cannot be %s: %s.", path, what, strerror(failed));
    return error_fact_full(err, failed);
}

/* Nothing of the copy has to be safe before all of it is. */
bool sqlite_backup(Store *s, const char *path, Error *err) {
    SqliteStore *q = (SqliteStore *)s;
    sqlite3 *to = NULL;
    unlink(path); /* of one that was killed */
    if (mknod(path, S_IFREG | S_IRUSR | S_IWUSR, 0) != 0) return copy_failed(path, "made", err);
    bool ok = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                              sqlite_faults_vfs()) == SQLITE_OK &&
              sqlite3_exec(to, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", NULL, NULL,
                           NULL) == SQLITE_OK;
    if (!ok) error_set(err, ERR_IO, "The copy %s cannot be made: %s.", path, sqlite3_errmsg(to));
    ok = ok && copy_pages(q, to, err);
    if (sqlite3_close(to) != SQLITE_OK && ok) {
        ok = error_set(err, ERR_IO, "The copy %s cannot be finished.", path);
    }
    if (ok && !sync_path(path)) ok = copy_failed(path, "made safe", err);
    if (!ok) unlink(path);
    return ok;
}
