#include "file_store.h"

#include "ascii.h"
#include "folders.h"
#include "mem.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHORT = 256 }; /* bytes of a file that has a number or the format */

static FileStore *folder_store(Store *s) {
    return (FileStore *)s;
}

bool file_store_failed(const FileStore *f, const char *what, Error *err) {
    if (errno == ENOSPC || errno == EDQUOT) return store_disk_is_full(&f->base, what, err);
    if (errno == EACCES || errno == EPERM || errno == EROFS) {
        error_set(err, ERR_IO, "The folder %s cannot be written (%s): %s failed.", f->base.path,
                  strerror(errno), what);
        error_fact(err, "store", f->base.url);
        return error_fact(err, "folder", f->base.path);
    }
    return store_io_failed(&f->base, what, strerror(errno), err);
}

/* ---- life ---- */

static const char format_start[] = "pawl file store, format ";

/* Nothing is there but what may be when the making of a store was interrupted. */
static bool is_free_folder(const char *path) {
    static const char *const parts[] = {".",    "..",          "lease",  "threads",
                                        "runs", "definitions", "batches"};
    DIR *dir = opendir(path);
    bool is_free = dir != NULL;
    for (struct dirent *e; is_free && (e = readdir(dir));) {
        is_free = !strncmp(e->d_name, ".format.", strlen(".format."));
        for (size_t i = 0; !is_free && i < sizeof parts / sizeof *parts; i++) {
            is_free = !strcmp(e->d_name, parts[i]);
        }
    }
    if (dir) closedir(dir);
    return is_free;
}

static bool check_format(const Store *s, const Buf *text, long *found, Error *err) {
    size_t len = sizeof format_start - 1;
    bool ours = text->len > len && !memcmp(text->data, format_start, len);
    *found = ours ? strtol(text->data + len, NULL, 10) : 0;
    if (*found > STORE_FORMAT) return store_is_newer(s, *found, err);
    return *found >= 1 ||
           error_set(err, ERR_DATA, "%s is not a store of Pawl, or its file `format` is damaged.",
                     s->path);
}

static bool write_format(const char *path) {
    char text[64];
    int n = snprintf(text, sizeof text, "%s%d\n", format_start, STORE_FORMAT);
    return file_replace(path, text, (size_t)n);
}

/* Another process may be doing the same: then there is nothing left to do. Its `format` may come
 * at any time, so what makes a folder not free is looked at before whether it is a store. */
static bool make_store(FileStore *f, const char *format_path, Error *err) {
    if (!folder_make(f->base.path)) return file_store_failed(f, "making the store", err);
    if (!is_free_folder(f->base.path) && access(format_path, F_OK) != 0) {
        return error_set(
            err, ERR_USAGE,
            "The folder %s is not a store of Pawl, and not empty either; name another.",
            f->base.path);
    }
    if (!lease_file_lock_store(&f->lease_file, err)) return false;
    bool ok = access(format_path, F_OK) == 0 || /* it comes last: with it the store is there */
              (folder_make(f->threads) && folder_make(f->runs) && folder_make(f->definitions) &&
               folder_make(f->batches) && write_format(format_path)) ||
              file_store_failed(f, "making the store", err);
    lease_file_unlock(&f->lease_file, 0);
    return ok;
}

static bool open_format(FileStore *f, const char *path, Error *err) {
    Buf text = BUF_INIT;
    long format = 0;
    bool ok;
    if (file_read_whole(path, SHORT, &text)) {
        ok = check_format(&f->base, &text, &format, err);
        if (ok && format < STORE_FORMAT && f->base.mode != STORE_READ) { /* its files stay good */
            ok = write_format(path) || file_store_failed(f, "bringing it up to date", err);
        }
    } else if (errno != ENOENT) {
        ok = file_store_failed(f, "opening it", err);
    } else if (f->base.mode == STORE_CREATE) {
        ok = make_store(f, path, err);
    } else {
        error_set(err, ERR_NOT_FOUND, "There is no store in %s: nothing was run here yet.",
                  f->base.path);
        ok = error_fact(err, "store", f->base.url);
    }
    buf_clear(&text);
    return ok;
}

static const char *const parts[] = {"/format",      "/lease",   "/threads", "/runs",
                                    "/definitions", "/batches", "/work",    NULL};

static bool file_open(Store *s, Error *err) {
    FileStore *f = folder_store(s);
    char *format = path_join(s->path, "format");
    lease_file_init(&f->lease_file, path_join(s->path, "lease"));
    f->threads = path_join(s->path, "threads");
    f->runs = path_join(s->path, "runs");
    f->definitions = path_join(s->path, "definitions");
    f->batches = path_join(s->path, "batches");
    bool ok =
        open_format(f, format, err) && (s->mode == STORE_READ || file_store_finish_batches(f, err));
    mem_free(format);
    return ok;
}

/* Leaves the place free. */
static void close_run(FileStore *f, int i) {
    RunFile *r = f->open[i];
    if (store_holds(&f->base, r->run)) run_file_write_index(r);
    run_file_close(r);
    f->open[i] = f->open[--f->nopen];
}

static void file_close(Store *s) {
    FileStore *f = folder_store(s);
    while (f->nopen) close_run(f, 0);
    for (size_t i = 0; i < f->nstuck; i++) close(f->stuck[i]);
    file_store_end(f);
    lease_file_close(&f->lease_file);
    mem_free(f->named);
    mem_free(f->stuck);
    mem_free(f->threads);
    mem_free(f->runs);
    mem_free(f->definitions);
    mem_free(f->batches);
}

static char *file_folder(const Store *s) {
    return path_join(s->path, "work");
}

/* ---- open files ---- */

static int place_of(const FileStore *f, int64_t run) {
    for (int i = 0; i < f->nopen; i++) {
        if (f->open[i]->run == run) return i;
    }
    return -1;
}

void file_store_forget(FileStore *f, int64_t run) {
    int i = place_of(f, run);
    if (i >= 0) {
        run_file_close(f->open[i]);
        f->open[i] = f->open[--f->nopen];
    }
}

/* Nobody else writes a run that we hold, so only others are looked at anew. */
static RunFile *open_or_refresh(FileStore *f, int64_t run) {
    int i = place_of(f, run);
    if (i >= 0) {
        if (store_holds(&f->base, run) || run_file_refresh(f->open[i])) return f->open[i];
        int failed = errno;
        file_store_forget(f, run);
        errno = failed;
        return NULL;
    }
    if (f->nopen == FILE_STORE_OPEN) { /* the one that was used least recently goes */
        int oldest = 0;
        for (i = 1; i < f->nopen; i++) {
            oldest = f->open[i]->used < f->open[oldest]->used ? i : oldest;
        }
        close_run(f, oldest);
    }
    RunFile *r = run_file_open(f->runs, run, f->base.mode != STORE_READ);
    if (r) f->open[f->nopen++] = r;
    return r;
}

bool file_store_run(FileStore *f, int64_t run, RunFile **out, bool *found, Error *err) {
    *out = open_or_refresh(f, run);
    *found = *out != NULL;
    if (*out) (*out)->used = ++f->clock;
    return *out || errno == ENOENT || file_store_failed(f, "reading a run", err);
}

bool file_store_is_sound(const FileStore *f, const RunFile *file, bool all, Error *err) {
    Buf why = BUF_INIT;
    bool bad = run_file_damage(file, all, &why);
    if (bad) store_damaged(&f->base, err, "%s", why.data);
    buf_clear(&why);
    return !bad;
}

bool file_store_sound_run(FileStore *f, int64_t run, RunFile **out, bool *found, Error *err) {
    return file_store_run(f, run, out, found, err) &&
           (!*found || file_store_is_sound(f, *out, false, err));
}

/* ---- threads ---- */

enum { THREAD_FILE_MAX = 200, THREAD_FILE_CUT = 160 };

/* Letters, digits, - and _ are themselves, and a dot that is not first; the rest is %XX. A name that
 * becomes too long is cut and ends in ~ and a hash, which no other has. */
static char *thread_file(const char *thread) {
    Buf name = BUF_INIT;
    for (const char *p = thread; *p; p++) {
        bool plain = ascii_is_name(*p) || *p == '-' || (*p == '.' && p != thread);
        buf_printf(&name, plain ? "%c" : "%%%02X", (unsigned char)*p);
    }
    if (name.len > THREAD_FILE_MAX) {
        name.len = THREAD_FILE_CUT;
        buf_printf(&name, "~%016" PRIx64, store_hash(thread, strlen(thread)));
    }
    return buf_detach(&name);
}

/* The number in a file; 0 when there is none. */
static int64_t read_number(const char *folder, const char *file) {
    Buf text = BUF_INIT;
    char *path = path_join(folder, file);
    int64_t number =
        file_read_whole(path, SHORT, &text) && text.len ? strtoll(text.data, NULL, 10) : 0;
    mem_free(path);
    buf_clear(&text);
    return number;
}

static bool write_number(const char *folder, const char *file, int64_t number) {
    char text[32], *path = path_join(folder, file);
    int n = snprintf(text, sizeof text, "%" PRId64 "\n", number);
    bool ok = file_replace(path, text, (size_t)n);
    mem_free(path);
    return ok;
}

static int64_t run_of_thread(const FileStore *f, const char *thread) {
    char *file = thread_file(thread);
    int64_t run = read_number(f->threads, file);
    mem_free(file);
    return run;
}

static char *cancel_path(const FileStore *f, int64_t run) {
    char name[40];
    snprintf(name, sizeof name, "%" PRId64 ".cancel", run);
    return path_join(f->runs, name);
}

static bool is_cancel_asked(const FileStore *f, int64_t run) {
    char *path = cancel_path(f, run);
    bool asked = access(path, F_OK) == 0;
    mem_free(path);
    return asked;
}

static void copy_row(const FileStore *f, const RunRow *row, RunRow *out) {
    run_row_copy(out, row);
    out->cancel = is_cancel_asked(f, row->run);
}

/* A file without its thread was left by a crash while the run was made: it is none. */
static bool file_find(Store *s, RunKey key, RunRow *out, bool *found, Error *err) {
    FileStore *f = folder_store(s);
    RunFile *r;
    int64_t run = key.thread ? run_of_thread(f, key.thread) : key.run;
    *found = false;
    if (run < 1) return true;
    if (!file_store_sound_run(f, run, &r, found, err)) {
        if (err && key.thread) error_wrap(err, "Thread `%s`", key.thread);
        return false;
    }
    *found = *found && (key.thread ? !strcmp(r->row.thread, key.thread)
                                   : run_of_thread(f, r->row.thread) == run);
    if (*found) copy_row(f, &r->row, out);
    return true;
}

/* ---- the list of runs ---- */

typedef struct Rows {
    RunRow *rows;
    size_t len, cap;
} Rows;

/* The thread that a file is named for, as far as its name tells. */
static char *thread_of_file(const char *file) {
    Buf thread = BUF_INIT;
    for (; *file; file++) {
        unsigned value;
        if (*file == '%' && sscanf(file + 1, "%2x", &value) == 1) {
            buf_addc(&thread, (char)value);
            file += 2;
        } else {
            buf_addc(&thread, *file);
        }
    }
    return buf_detach(&thread);
}

static bool add_run(FileStore *f, const char *file, Rows *rows, Error *err) {
    RunFile *r;
    bool found;
    Buf why = BUF_INIT;
    int64_t run = file[0] == '.' ? 0 : read_number(f->threads, file);
    if (run < 1) return true;
    if (!file_store_run(f, run, &r, &found, err)) return false;
    rows->rows = mem_grow(rows->rows, rows->len, &rows->cap, sizeof *rows->rows);
    if (!found || run_file_damage(r, false, &why)) {
        rows->rows[rows->len++] = (RunRow){.run = run,
                                           .thread = thread_of_file(file),
                                           .workflow = mem_strdup(""),
                                           .status = mem_strdup("damaged"),
                                           .definition = mem_strdup(""),
                                           .owner = mem_strdup("")};
    } else {
        copy_row(f, &r->row, &rows->rows[rows->len++]);
    }
    buf_clear(&why);
    return true;
}

static bool collect_runs(FileStore *f, Rows *rows, Error *err) {
    DIR *dir = opendir(f->threads);
    bool ok = dir != NULL || file_store_failed(f, "listing the runs", err);
    for (struct dirent *e; ok && (e = readdir(dir));) ok = add_run(f, e->d_name, rows, err);
    if (dir) closedir(dir);
    return ok;
}

static bool file_runs(Store *s, RunsPage *page, RunRowFn fn, void *ctx, Error *err) {
    Rows rows = {0};
    bool ok = collect_runs(folder_store(s), &rows, err);
    RunPlace *places = mem_alloc((rows.len + 1) * sizeof *places);
    for (size_t i = 0; i < rows.len; i++) {
        places[i] = (RunPlace){rows.rows[i].updated, rows.rows[i].run, &rows.rows[i]};
    }
    run_places_give(s, places, ok ? rows.len : 0, page, fn, ctx);
    for (size_t i = 0; i < rows.len; i++) run_row_clear(&rows.rows[i]);
    mem_free(rows.rows);
    return ok;
}

/* ---- making runs ---- */

/* What others began is finished first: a thread may be among it. */
static bool file_begin(Store *s, Error *err) {
    FileStore *f = folder_store(s);
    f->begun = file_store_finish_batches(f, err) && lease_file_lock_store(&f->lease_file, err);
    return f->begun;
}

void file_store_end(FileStore *f) {
    while (f->nnamed) mem_free(f->named[--f->nnamed]);
    f->last = 0;
    if (f->begun) lease_file_unlock(&f->lease_file, 0);
    f->begun = false;
}

static void file_cancel(Store *s) {
    file_store_end(folder_store(s));
}

bool file_store_keep_last(FileStore *f) {
    return !f->last || write_number(f->base.path, "last", f->last);
}

static bool is_thread(const FileStore *f, const char *thread) {
    size_t i = 0;
    while (i < f->nnamed && strcmp(f->named[i], thread) != 0) i++;
    return i < f->nnamed || run_of_thread(f, thread);
}

static bool file_create_run(Store *s, RunRow *row, bool *found, Error *err) {
    FileStore *f = folder_store(s);
    bool busy = false;
    char *owner = NULL;
    *found = row->thread && is_thread(f, row->thread);
    if (*found) return true;
    f->last = f->last ? f->last : read_number(f->base.path, "last");
    row->run = ++f->last;
    for (int i = 1; !row->thread; i++) {
        char name[STORE_NAME_MAX];
        store_name_run(row->run, i, name);
        row->thread = is_thread(f, name) ? NULL : mem_strdup(name);
    }
    bool ok = lease_file_lock(&f->lease_file, row->run, &busy, &owner, err);
    mem_free(owner);
    if (!ok || busy) {
        return ok &&
               error_set(err, ERR_BUSY, "The lease of the new run %" PRId64 " is taken; try again.",
                         row->run);
    }
    f->named = mem_grow(f->named, f->nnamed, &f->named_cap, sizeof *f->named);
    f->named[f->nnamed++] = mem_strdup(row->thread);
    return true;
}

bool file_store_link(const FileStore *f, const RunRow *row) {
    char *file = thread_file(row->thread);
    bool ok = write_number(f->threads, file, row->run);
    mem_free(file);
    return ok;
}

bool file_store_drop_run(FileStore *f, int64_t run, Error *err) {
    static const char *const suffixes[] = {"cancel", "idx", "lgx", "run"};
    RunFile *r;
    bool found;
    if (!file_store_run(f, run, &r, &found, err)) return false;
    if (found && r->row.thread) {
        char *file = thread_file(r->row.thread), *path = path_join(f->threads, file);
        bool gone =
            (read_number(f->threads, file) != run || unlink(path) == 0) && folder_sync(f->threads);
        mem_free(file);
        mem_free(path);
        if (!gone) return file_store_failed(f, "removing a run", err);
    }
    file_store_forget(f, run);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[40];
        snprintf(name, sizeof name, "%" PRId64 ".%s", run, suffixes[i]);
        char *path = path_join(f->runs, name);
        unlink(path);
        mem_free(path);
    }
    return true;
}

/* ---- leases ---- */

static bool file_lease(Store *s, int64_t run, bool *busy, char **owner, Error *err) {
    FileStore *f = folder_store(s);
    RunFile *r;
    bool found;
    if (!lease_file_lock(&f->lease_file, run, busy, owner, err)) return false;
    if (*busy) return true;
    bool ok = file_store_finish_batches(f, err) && file_store_sound_run(f, run, &r, &found, err) &&
              (found || store_has_no_run(s, run, err)) &&
              (run_file_repair(r) || file_store_failed(f, "repairing a run", err));
    if (!ok) lease_file_unlock(&f->lease_file, run);
    return ok;
}

static void file_release(Store *s, int64_t run) {
    FileStore *f = folder_store(s);
    int i = place_of(f, run);
    if (i >= 0) run_file_write_index(f->open[i]);
    lease_file_unlock(&f->lease_file, run);
}

static bool file_is_leased(Store *s, int64_t run) {
    return lease_file_is_locked(&folder_store(s)->lease_file, run);
}

static bool file_set_cancel(Store *s, int64_t run, bool on, Error *err) {
    FileStore *f = folder_store(s);
    char *path = cancel_path(f, run);
    bool ok = on ? file_replace(path, "", 0) : unlink(path) == 0 || errno == ENOENT;
    if (!ok) file_store_failed(f, "asking to cancel", err);
    mem_free(path);
    return ok;
}

static bool file_get_cancel(Store *s, int64_t run, bool *on, Error *err) {
    (void)err;
    *on = is_cancel_asked(folder_store(s), run);
    return true;
}

enum { SETTLED_MS = 2000 };

/* When a file was last made or removed beside the runs. Clocks of file systems tick slowly: two changes
 * in the same tick look like one, so what has just changed cannot be told from what is changing. */
static uint64_t file_version(Store *s) {
    struct stat st;
    int64_t at = stat(folder_store(s)->runs, &st) == 0
                     ? (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000
                     : 0;
    int64_t age = store_now() - at;
    return age > SETTLED_MS ? (uint64_t)at : 0;
}

/* ---- definitions ---- */

/* A key comes from a row, which may be damaged: it must not lead out of the folder. */
static char *definition_path(const FileStore *f, const char *key) {
    return *key && !strchr(key, '/') && *key != '.' ? path_join(f->definitions, key) : NULL;
}

static bool file_define(Store *s, const char *key, const Buf *value, Error *err) {
    FileStore *f = folder_store(s);
    char *path = definition_path(f, key);
    bool ok = (path && file_replace(path, value->data, value->len)) ||
              file_store_failed(f, "keeping a definition", err);
    mem_free(path);
    return ok;
}

static bool file_definition(Store *s, const char *key, Buf *out, bool *found, Error *err) {
    FileStore *f = folder_store(s);
    char *path = definition_path(f, key);
    errno = ENOENT;
    *found = path && file_read_whole(path, STORE_VALUE_MAX, out);
    mem_free(path);
    return *found || errno == ENOENT || file_store_failed(f, "reading a definition", err);
}

/* ---- checkpoints ---- */

static bool file_checkpoint(Store *s, int64_t run, int64_t seq, Checkpoint *out, bool *found,
                            const char **why, Error *err) {
    RunFile *r;
    if (!file_store_run(folder_store(s), run, &r, found, err)) return false;
    if (!*found) return true;
    *found = false;
    return !r->row.thread || run_file_checkpoint(r, seq, out, found, why);
}

typedef struct Walk {
    RunFile *file;
    CheckpointFn fn;
    bool (*damaged)(void *ctx, int64_t seq, const char *why);
    void *ctx;
    int64_t expected; /* the number that is next when none was pruned */
} Walk;

/* Where the file has holes, a number that is missing may be one that cannot be read. */
static bool report_gap(const Walk *w, int64_t seq) {
    return !w->file->holes || seq <= w->expected ||
           w->damaged(w->ctx, w->expected, "its record cannot be found, or it was pruned");
}

static bool walk_one(Walk *w, int64_t seq) {
    Checkpoint c;
    bool found;
    const char *why = NULL;
    if (!report_gap(w, seq)) return false;
    w->expected = seq + 1;
    run_file_checkpoint(w->file, seq, &c, &found, &why);
    return why ? w->damaged(w->ctx, seq, why) : !found || w->fn(w->ctx, &c);
}

/* A handle of its own, since fn may call us again and close the one that is kept. */
static bool file_history(Store *s, int64_t run, int64_t from, CheckpointFn fn,
                         bool (*damaged)(void *ctx, int64_t seq, const char *why), void *ctx,
                         Error *err) {
    FileStore *f = folder_store(s);
    int64_t seq = from > 0 ? from : 1;
    Walk w = {run_file_open(f->runs, run, false), fn, damaged, ctx, seq};
    if (!w.file) return errno == ENOENT || file_store_failed(f, "reading a run", err);
    bool more = w.file->row.thread != NULL;
    for (; more && run_file_next(w.file, &seq); seq++) more = walk_one(&w, seq);
    if (more) report_gap(&w, w.file->row.last + 1);
    run_file_close(w.file);
    return true;
}

static bool file_log(Store *s, const LogQuery *query, LogFn fn,
                     bool (*damaged)(void *ctx, int64_t n, const char *why), void *ctx,
                     Error *err) {
    RunFile *r;
    bool found, more;
    size_t i;
    if (!file_store_run(folder_store(s), query->run, &r, &found, err)) return false;
    bool back = query->newest_first;
    int64_t next = back ? INT64_MAX : query->from;
    more = found && r->row.thread && run_file_find_piece(r, next, back, &i);
    uint32_t node = query->node ? run_file_node_hash(query->node) : 0;
    if (found && !query->node && !back) r->reader.ahead = READER_FAR;
    for (; more; more = more && run_file_find_piece(r, next, back, &i)) {
        const PieceEntry *e = &r->log.items[i];
        LogPiece piece;
        const char *why;
        int64_t n = e->n;
        if (n < query->from) break;
        next = back ? n - 1 : n + 1;
        if (e->at < query->since || (query->node && e->node != node)) continue;
        run_file_piece(r, i, &piece, &why);
        more = why ? damaged(ctx, n, why) : fn(ctx, &piece);
    }
    if (found) run_file_rest(r);
    return true;
}

/* ---- checking ---- */

/* The number in a file that holds nothing else; 0 when it does not. */
static int64_t sound_number(const char *folder, const char *file) {
    char shown[32];
    Buf text = BUF_INIT;
    char *path = path_join(folder, file);
    int64_t number = read_number(folder, file);
    snprintf(shown, sizeof shown, "%" PRId64 "\n", number);
    bool sound = file_read_whole(path, SHORT, &text) && text.len && !strcmp(text.data, shown);
    buf_clear(&text);
    mem_free(path);
    return sound ? number : 0;
}

static void add_sentence(Buf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add_sentence(Buf *out, const char *fmt, ...) {
    va_list args;
    if (out->len) buf_addc(out, '\n');
    va_start(args, fmt);
    buf_vprintf(out, fmt, args);
    va_end(args);
}

/* What a file of a thread names has to be a run of that thread. One whose own file is damaged is found there. */
static bool check_thread(FileStore *f, const char *file, int64_t *highest, Buf *out, Error *err) {
    RunFile *r;
    bool found;
    int64_t run = sound_number(f->threads, file);
    *highest = run > *highest ? run : *highest;
    if (run < 1) {
        add_sentence(out, "The file threads/%s is damaged: it names no run.", file);
        return true;
    }
    if (!file_store_run(f, run, &r, &found, err)) return false;
    char *own = found && r->row.thread ? thread_file(r->row.thread) : NULL;
    if (own && strcmp(own, file) != 0) {
        add_sentence(out, "The file threads/%s is damaged: run %" PRId64 " is thread `%s`.", file,
                     run, r->row.thread);
    }
    mem_free(own);
    return true;
}

static bool check_threads(FileStore *f, Buf *out, Error *err) {
    int64_t highest = 0;
    DIR *dir = opendir(f->threads);
    bool ok = dir != NULL || file_store_failed(f, "listing the runs", err);
    for (struct dirent *e; ok && (e = readdir(dir));) {
        ok = e->d_name[0] == '.' || check_thread(f, e->d_name, &highest, out, err);
    }
    if (dir) closedir(dir);
    int64_t last = sound_number(f->base.path, "last");
    if (ok && highest > last) {
        add_sentence(out,
                     "The file last is damaged: it has to be the number of a run that was made "
                     "last, at least %" PRId64 ".",
                     highest);
    }
    return ok;
}

static bool file_inspect(Store *s, int64_t run, Buf *out, Error *err) {
    RunFile *r;
    bool found;
    if (!run) return check_threads(folder_store(s), out, err);
    if (!file_store_run(folder_store(s), run, &r, &found, err)) return false;
    if (!found) {
        buf_printf(out, "The file runs/%" PRId64 ".run is missing.", run);
    } else if (!run_file_damage(r, true, out)) {
        run_file_check(r, out);
    }
    return true;
}

const StoreBackend file_backend = {
    .scheme = "file",
    .durable = true,
    .parts = parts,
    .handle_size = sizeof(FileStore),
    .open = file_open,
    .close = file_close,
    .folder = file_folder,
    .find = file_find,
    .runs = file_runs,
    .begin = file_begin,
    .create_run = file_create_run,
    .cancel = file_cancel,
    .lease = file_lease,
    .release = file_release,
    .is_leased = file_is_leased,
    .set_cancel = file_set_cancel,
    .get_cancel = file_get_cancel,
    .version = file_version,
    .define = file_define,
    .definition = file_definition,
    .commit = file_store_commit,
    .checkpoint = file_checkpoint,
    .history = file_history,
    .log = file_log,
    .inspect = file_inspect,
    .compact = file_compact,
    .backup = file_backup,
};
