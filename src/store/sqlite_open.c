/* sqlite_open.c - opening a database: is it there, is it ours, is it whole, is it of our time. */
#include "folders.h"
#include "mem.h"
#include "schema.h"
#include "sqlite_faults.h"
#include "sqlite_store.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUSY_MS = 10000, CACHE_KIB = 16384 };

/* ---- what SQLite says, in sentences ---- */

static bool not_accessible(const SqliteStore *q, const char *doing, Error *err) {
    char *folder = folder_of(q->base.path);
    error_set(err, ERR_IO, "The store %s cannot be written in the folder %s (%s): %s failed.",
              q->base.path, folder, sqlite3_errmsg(q->db), doing);
    error_fact(err, "store", q->base.url);
    error_fact(err, "folder", folder);
    mem_free(folder);
    return false;
}

static bool no_database(const Store *s, Error *err) {
    error_set(err, ERR_DATA, "%s is not a store of Pawl: it is no SQLite database.", s->path);
    return error_fact(err, "store", s->url);
}

static bool never_ends(const SqliteStore *q, const char *doing, Error *err) {
    error_set(err, ERR_LIMIT,
              "The database %s is damaged: %s takes more steps than a sound file of its size could "
              "need. Put back a copy of it, or move it away to begin anew.",
              q->base.path, doing);
    return error_fact(err, "damaged", q->base.url);
}

static bool too_long(const SqliteStore *q, const char *doing, Error *err) {
    error_set(err, ERR_LIMIT,
              "%s has a row that is longer than the %d bytes that it may have: %s failed.",
              q->base.path, sqlite3_limit(q->db, SQLITE_LIMIT_LENGTH, -1), doing);
    return error_fact(err, "damaged", q->base.url);
}

bool sqlite_failed(const SqliteStore *q, const char *doing, Error *err) {
    int system = sqlite3_system_errno(q->db);
    int code = sqlite3_errcode(q->db) & 0xFF;
    bool of_system = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
    if (of_system && (system == ENOSPC || system == EDQUOT)) code = SQLITE_FULL;
    switch (code) {
    case SQLITE_INTERRUPT:
        return atomic_load(&q->base.interrupted) ? store_was_interrupted(&q->base, err)
                                                 : never_ends(q, doing, err);
    case SQLITE_TOOBIG: return too_long(q, doing, err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(
            err, ERR_BUSY,
            "Another process has been writing to %s for more than %d seconds; try again.",
            q->base.path, BUSY_MS / 1000);
    case SQLITE_FULL: return store_disk_is_full(&q->base, doing, err);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM: return not_accessible(q, doing, err);
    case SQLITE_NOTADB: return no_database(&q->base, err);
    case SQLITE_IOERR:
        if (sqlite3_extended_errcode(q->db) != SQLITE_IOERR_SHORT_READ) {
            return store_io_failed(&q->base, doing,
                                   system ? strerror(system) : sqlite3_errmsg(q->db), err);
        }
        /* fall through */
    case SQLITE_CORRUPT:
        error_set(err, ERR_DATA,
                  "The database %s is damaged (%s failed: %s). Put back a copy of it, or move it "
                  "away to begin anew.",
                  q->base.path, doing, sqlite3_errmsg(q->db));
        return error_fact(err, "damaged", q->base.url);
    default:
        return error_set(err, ERR_IO, "%s %s failed: %s.", q->base.path, doing,
                         sqlite3_errmsg(q->db));
    }
}

/* ---- the file ---- */

static bool missing(const Store *s, Error *err) {
    error_set(err, ERR_NOT_FOUND, "There is no store at %s: nothing was run here yet.", s->path);
    return error_fact(err, "store", s->url);
}

static uint32_t big_endian(const unsigned char *p, int n) {
    uint32_t v = 0;
    while (n--) v = v << 8 | *p++;
    return v;
}

static bool is_empty(const char *path, const char *suffix) {
    struct stat st;
    char *full = path_with(path, suffix);
    bool empty = stat(full, &st) != 0 || st.st_size == 0;
    mem_free(full);
    return empty;
}

/* What can be seen of a file from outside. */
typedef struct Look {
    unsigned char header[100];
    int64_t size;
} Look;

/* By SQLite's own descriptor: to close one of ours would drop the locks that this process has on the file by other
 * connections, and who comes next would take the log away from under them. The size is asked for after the
 * header, and whether there is a log (is_cut_off) after both: what another process writes meanwhile makes the
 * file longer than its header says, not shorter. */
static bool look(SqliteStore *q, Look *l, Error *err) {
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    int code = sqlite3_file_control(q->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code == SQLITE_OK && file && file->pMethods) {
        do {
            code = file->pMethods->xRead(file, l->header, sizeof l->header, 0);
            if (file->pMethods->xFileSize(file, &size) != SQLITE_OK) code = SQLITE_IOERR;
        } while (code == SQLITE_IOERR_SHORT_READ && size >= (sqlite3_int64)sizeof l->header);
    }
    l->size = size;
    return code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ ||
           error_set(err, ERR_IO, "The store %s cannot be read: %s.", q->base.path,
                     sqlite3_errstr(code));
}

/* While there is a log, the pages at the end may only be in there. */
static bool is_cut_off(const char *path, const Look *l) {
    uint32_t page = big_endian(l->header + 16, 2), pages = big_endian(l->header + 28, 4);
    bool counted = big_endian(l->header + 24, 4) == big_endian(l->header + 92, 4);
    page = page == 1 ? 65536 : page;
    return (l->size > 0 && l->size < 100) ||
           (l->size >= 100 && counted && l->size < (int64_t)page * pages && is_empty(path, "-wal"));
}

/* SQLite would take an empty file for a new database, and a cut-off one for sound until it reads past the end. A file
 * that seems cut off is looked at again: another process may just have put the log's pages into it, and
 * removed the log, between two of our looks. */
static bool check_file(SqliteStore *q, Error *err) {
    enum { LOOKS = 5 };
    const struct timespec pause = {.tv_nsec = 20000000};
    const char *path = q->base.path;
    Look l;
    if (!look(q, &l, err)) return false;
    if (memcmp(l.header, "SQLite format 3", (size_t)(l.size < 16 ? l.size : 16))) {
        return no_database(&q->base, err);
    }
    for (int looks = 1; is_cut_off(path, &l); looks++) {
        if (looks == LOOKS) {
            return error_set(err, ERR_DATA,
                             "The database %s is cut off: it has %lld bytes, and there should be "
                             "more. Put back a copy of it, or move it away to begin anew.",
                             path, (long long)l.size);
        }
        nanosleep(&pause, NULL);
        if (!look(q, &l, err)) return false;
    }
    return true;
}

static bool look_at_file(const Store *s, Error *err) {
    struct stat st;
    bool there = stat(s->path, &st) == 0;
    if (there && !S_ISREG(st.st_mode)) {
        return error_set(err, ERR_USAGE, "%s is not a file%s.", s->path,
                         S_ISDIR(st.st_mode) ? " but a folder; a store in a folder is file:DIR"
                                             : "");
    }
    if (there && access(s->path, R_OK) == 0) return true;
    if (errno != ENOENT && errno != ENOTDIR) {
        return error_set(err, ERR_IO, "The store %s cannot be read: %s.", s->path, strerror(errno));
    }
    if (s->mode != STORE_CREATE) return missing(s, err);
    char *folder = folder_of(s->path);
    bool ok = folder_make(folder);
    if (ok) { /* SQLite would let everybody read it; by a name, since a descriptor takes locks with it (look) */
        mknod(s->path, S_IFREG | S_IRUSR | S_IWUSR, 0);
    }
    if (!ok) {
        error_set(err, ERR_IO, "The folder %s for the store cannot be made: %s.", folder,
                  strerror(errno));
        error_fact(err, "store", s->url);
    }
    mem_free(folder);
    return ok;
}

/* ---- how long a statement may take ---- */

enum {
    LOOK_EVERY = 20000,     /* steps of SQLite's machine: less than a millisecond */
    STEPS_LEAST = 20000000, /* what a statement has on any file: about a second */
    PACKED_MOST = 16
};

/* More than two steps for every byte is more than the smallest rows and their indices take. */
static uint64_t steps_of_file(const SqliteStore *q) {
    static const char *const files[] = {"", "-wal"};
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct stat st;
        char *path = path_with(q->base.path, files[i]);
        /* of a file with holes only what is there counts, but for what a file system may have packed */
        bool there = stat(path, &st) == 0;
        uint64_t size = there ? (uint64_t)st.st_size : 0;
        uint64_t blocks = there ? (uint64_t)st.st_blocks * 512 * PACKED_MOST : 0;
        bytes += size < blocks ? size : blocks;
        mem_free(path);
    }
    return STEPS_LEAST + 2 * bytes;
}

/* Not 0 ends the statement. The file is looked at when it takes long, and not before. */
static int on_progress(void *ctx) {
    SqliteStore *q = ctx;
    q->steps += LOOK_EVERY;
    if (atomic_load_explicit(&q->base.interrupted, memory_order_relaxed)) return 1;
    if (q->steps <= STEPS_LEAST) return 0;
    if (!q->steps_max) q->steps_max = steps_of_file(q);
    return q->steps > q->steps_max;
}

void sqlite_begin_statement(SqliteStore *q, int row_max) {
    q->steps = q->steps_max = 0;
    sqlite3_limit(q->db, SQLITE_LIMIT_LENGTH, row_max);
}

/* ---- the connection ---- */

static bool run_sql(SqliteStore *q, const char *sql, const char *doing, Error *err) {
    q->steps = q->steps_max = 0;
    return sqlite3_exec(q->db, sql, NULL, NULL, NULL) == SQLITE_OK || sqlite_failed(q, doing, err);
}

/* Nothing that a file brings along is run: no view, no trigger, no function of its schema; and nothing that is said
 * to it can damage the file. */
static void distrust(sqlite3 *db) {
    static const struct {
        int option, on;
    } rows[] = {
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sqlite3_db_config(db, rows[i].option, rows[i].on, NULL);
    }
    sqlite3_exec(db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
}

/* Without SQLite's own locks: a handle is used by one thread at a time. */
static bool connect_as(SqliteStore *q, const char *name, int flags, Error *err) {
    sqlite3_close(q->db);
    q->db = NULL;
    if (sqlite3_open_v2(name, &q->db, flags | SQLITE_OPEN_NOMUTEX, sqlite_faults_vfs()) !=
        SQLITE_OK) {
        return sqlite_failed(q, "opening it", err);
    }
    sqlite3_extended_result_codes(q->db, 1);
    sqlite3_busy_timeout(q->db, BUSY_MS);
    distrust(q->db);
    sqlite3_progress_handler(q->db, LOOK_EVERY, on_progress, q);
    sqlite_begin_statement(q, STORE_FACTS_MAX);
    return q->base.beside || check_file(q, err); /* beside another handle the file is known */
}

static bool query_int(SqliteStore *q, const char *sql, int64_t *out, Error *err) {
    sqlite3_stmt *stmt = NULL;
    q->steps = q->steps_max = 0;
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

/* A path as a URI: what has a meaning there is escaped. */
static char *immutable_uri(const char *path) {
    Buf uri = BUF_INIT;
    buf_adds(&uri, "file:");
    for (; *path; path++) {
        if (strchr("%?#", *path)) {
            buf_printf(&uri, "%%%02X", (unsigned char)*path);
        } else {
            buf_addc(&uri, *path);
        }
    }
    buf_adds(&uri, "?immutable=1");
    return buf_detach(&uri);
}

/* In a folder that cannot be written, the log's index cannot be made; when there is no log either,
 * the database alone is all there is. */
static bool connect_reader(SqliteStore *q, Error *err) {
    int64_t version;
    if (!connect_as(q, q->base.path, SQLITE_OPEN_READONLY, err)) return false;
    if (query_int(q, "PRAGMA user_version", &version, err)) return true;
    int code = sqlite3_errcode(q->db) & 0xFF;
    if ((code != SQLITE_CANTOPEN && code != SQLITE_READONLY) || !is_empty(q->base.path, "-wal")) {
        return false;
    }
    char *uri = immutable_uri(q->base.path);
    bool ok = connect_as(q, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    mem_free(uri);
    return ok;
}

/* SQLite does not wait by itself when several processes do this to a new database at once. */
static bool switch_to_wal(SqliteStore *q, Error *err) {
    static const char sql[] = "PRAGMA journal_mode=WAL";
    const struct timespec pause = {.tv_nsec = 5000000};
    for (int waited = 0; waited < BUSY_MS; waited += 5) {
        int code = sqlite3_exec(q->db, sql, NULL, NULL, NULL);
        if ((code & 0xFF) != SQLITE_BUSY) break;
        nanosleep(&pause, NULL);
    }
    return run_sql(q, sql, "opening it", err);
}

static bool make_durable(SqliteStore *q, Error *err) {
    char pragmas[128];
    snprintf(pragmas, sizeof pragmas, "PRAGMA synchronous=FULL; PRAGMA cache_size=-%d", CACHE_KIB);
    return switch_to_wal(q, err) && run_sql(q, pragmas, "opening it", err);
}

/* ---- formats ---- */

typedef struct Format {
    int64_t version, application, tables, code;
} Format;

/* In one transaction: another process may be making the very same database. */
static bool read_format(SqliteStore *q, Format *f, Error *err) {
    bool begins = sqlite3_get_autocommit(q->db);
    if (begins && !run_sql(q, "BEGIN", "opening it", err)) return false;
    bool ok = query_int(q, "PRAGMA user_version", &f->version, err) &&
              query_int(q, "PRAGMA application_id", &f->application, err) &&
              /* with a condition, so that it is counted step by step */
              query_int(q, "SELECT count(*) FROM sqlite_master WHERE name IS NOT NULL", &f->tables,
                        err) &&
              query_int(q, "SELECT count(*) FROM sqlite_master WHERE type IN ('view', 'trigger')",
                        &f->code, err);
    if (begins) sqlite3_exec(q->db, "COMMIT", NULL, NULL, NULL);
    return ok;
}

static bool check_format(const Store *s, const Format *f, Error *err) {
    bool is_new = !f->version && !f->application && !f->tables;
    if (!is_new && f->application != SCHEMA_APPLICATION) {
        error_set(err, ERR_DATA, "%s is an SQLite database of another program.", s->path);
        return error_fact(err, "store", s->url);
    }
    if (f->code) {
        error_set(err, ERR_DATA, "%s has views or triggers, which no store of Pawl has.", s->path);
        return error_fact(err, "store", s->url);
    }
    if (f->version > STORE_FORMAT) return store_is_newer(s, f->version, err);
    if (is_new && s->mode != STORE_CREATE) return missing(s, err);
    if (f->version < SCHEMA_READS && s->mode == STORE_READ) {
        return error_set(
            err, ERR_DATA,
            "The store %s is of an older version (format %lld; this one reads %d and later), and was "
            "opened for reading only; whatever writes to it brings it up to date.",
            s->path, (long long)f->version, SCHEMA_READS);
    }
    return true;
}

/* Looks again inside the transaction: another process may be doing the same. */
static bool migrate(SqliteStore *q, Error *err) {
    static const char doing[] = "bringing it up to date";
    char pragmas[96];
    Format f;
    snprintf(pragmas, sizeof pragmas, "PRAGMA user_version=%d; PRAGMA application_id=%d",
             STORE_FORMAT, SCHEMA_APPLICATION);
    if (!run_sql(q, "BEGIN IMMEDIATE", doing, err)) return false;
    bool ok = read_format(q, &f, err) && check_format(&q->base, &f, err);
    bool older = ok && f.version < STORE_FORMAT;
    for (; ok && f.version < STORE_FORMAT; f.version++) {
        ok = run_sql(q, schema_migrations[f.version], doing, err);
    }
    ok = ok && (!older || run_sql(q, pragmas, doing, err)) && run_sql(q, "COMMIT", doing, err);
    if (!ok && !sqlite3_get_autocommit(q->db)) sqlite3_exec(q->db, "ROLLBACK", NULL, NULL, NULL);
    return ok;
}

bool sqlite_store_open(Store *s, Error *err) {
    SqliteStore *q = (SqliteStore *)s;
    bool writes = s->mode != STORE_READ;
    Format f;
    if ((!s->beside && !look_at_file(s, err)) ||
        !(writes ? connect_as(q, s->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err)
                 : connect_reader(q, err)) ||
        !read_format(q, &f, err) || !check_format(s, &f, err)) {
        return false;
    }
    q->format = writes ? STORE_FORMAT : f.version;
    bool is_new = writes && !f.version && !f.tables; /* before its first page is: sqlite_space.c */
    if (is_new && !run_sql(q, "PRAGMA auto_vacuum=INCREMENTAL", "opening it", err)) return false;
    return !writes || (make_durable(q, err) && (f.version == STORE_FORMAT || migrate(q, err)));
}
