/* file_space.c - files that were written anew without what nobody needs, and copies of a folder.
 *
 * The file of a run only grows, and what is there is never changed: as many bytes of it as there were at a moment
 * are the run as it was then, but for a group that was not finished, which every reader leaves out. One that is
 * written anew gets the name of the old, which stays as it is for whoever has it open. So a copy needs no lock. */
#define _GNU_SOURCE
#include "file_io.h"
#include "file_store.h"
#include "folders.h"
#include "mem.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 18 };

/* ---- smaller files ---- */

typedef struct Compacting {
    FileStore *store;
    int64_t busy;
    Error *err;
    bool failed;
} Compacting;

static bool compact_run(void *ctx, const RunRow *row) {
    Compacting *c = ctx;
    Store *s = &c->store->base;
    Error busy = ERROR_INIT;
    bool held = store_holds(s, row->run);
    if (atomic_load(&s->interrupted)) {
        c->failed = !store_was_interrupted(s, c->err);
    } else if (!held && !store_lease(s, row->run, &busy)) {
        c->busy += busy.code == ERR_BUSY;
        c->failed = busy.code != ERR_BUSY;
        if (c->failed && c->err) *c->err = busy;
    } else {
        c->failed = !file_store_rewrite(c->store, row->run, c->err);
        if (!held) store_release(s, row->run);
    }
    return !c->failed;
}

bool file_compact(Store *s, int64_t *busy, Error *err) {
    Compacting c = {.store = (FileStore *)s, .err = err};
    bool ok = store_runs(s, compact_run, &c, err) && !c.failed;
    *busy = c.busy;
    return ok;
}

/* ---- a copy ---- */

typedef struct Copying {
    FileStore *store;
    const char *to;
    Buf piece;
    Error *err;
} Copying;

static bool cannot(const Copying *c, const char *path) {
    int failed = errno;
    error_set(c->err, ERR_IO, "The copy cannot be made: %s: %s.", path, strerror(failed));
    return error_fact_full(c->err, failed);
}

/* As many bytes as the file has now. Nothing, and *there false, when it has gone. */
static bool copy_file(Copying *c, const char *from, const char *to, bool *there) {
    struct stat st;
    int in = open_regular(from, O_RDONLY), out = -1;
    *there = in >= 0;
    if (in < 0) return errno == ENOENT || cannot(c, from);
    bool ok = fstat(in, &st) == 0;
    out = ok ? open_regular(to, O_WRONLY | O_CREAT | O_EXCL) : -1;
    ok = ok && out >= 0;
    char *bytes = buf_reserve(&c->piece, PIECE);
    for (int64_t at = 0; ok && at < st.st_size;) {
        size_t want = st.st_size - at < PIECE ? (size_t)(st.st_size - at) : PIECE;
        ssize_t n = pread(in, bytes, want, at);
        if (n == 0) break; /* cut, after a write that failed: what was cut off is nobody's */
        ok =
            (n > 0 || errno == EINTR) && (n < 0 || file_write(out, bytes, (size_t)n, (uint64_t)at));
        at += n > 0 ? n : 0;
        if (atomic_load(&c->store->base.interrupted)) {
            errno = EINTR;
            ok = false;
        }
    }
    ok = ok && file_sync(out);
    if (!ok) cannot(c, to);
    close(in);
    if (out >= 0) close(out);
    return ok;
}

static bool copy_into(Copying *c, const char *folder, const char *name, bool *there) {
    char *from = path_join(c->store->base.path, folder), *to = path_join(c->to, folder);
    char *source = path_join(from, name), *target = path_join(to, name);
    bool ok = copy_file(c, source, target, there);
    mem_free(from);
    mem_free(to);
    mem_free(source);
    mem_free(target);
    return ok;
}

/* Calls fn for the files of a folder of the store; those that begin with a dot are not finished. */
static bool each_file(Copying *c, const char *folder, bool (*fn)(Copying *c, const char *name)) {
    char *path = path_join(c->store->base.path, folder);
    DIR *dir = opendir(path);
    bool ok = dir || cannot(c, path);
    for (struct dirent *entry; ok && dir && (entry = readdir(dir));) {
        ok = entry->d_name[0] == '.' || fn(c, entry->d_name);
    }
    if (dir) closedir(dir);
    mem_free(path);
    return ok;
}

/* A thread is the run that it names: that comes first. */
static bool copy_thread(Copying *c, const char *name) {
    Buf number = BUF_INIT;
    char run[48], *path = path_join(c->store->threads, name);
    bool there = file_read_whole(path, sizeof run - 8, &number);
    mem_free(path);
    int64_t n = there && number.len ? strtoll(number.data, NULL, 10) : 0;
    buf_clear(&number);
    if (n < 1) return true;
    snprintf(run, sizeof run, "%" PRId64 ".run", n);
    return copy_into(c, "runs", run, &there) && (!there || copy_into(c, "threads", name, &there));
}

static bool copy_definition(Copying *c, const char *name) {
    bool there;
    return copy_into(c, "definitions", name, &there);
}

static bool copy_top(Copying *c, const char *name, bool needed) {
    char *from = path_join(c->store->base.path, name), *to = path_join(c->to, name);
    bool there, ok = copy_file(c, from, to, &there);
    if (ok && needed && !there) {
        errno = ENOENT;
        ok = cannot(c, from);
    }
    mem_free(from);
    mem_free(to);
    return ok;
}

/* A definition is there before the run that it is of, so it is copied after it; with `format` the copy is a
 * store. */
bool file_backup(Store *s, const char *path, Error *err) {
    static const char *const folders[] = {"threads", "runs", "definitions", "batches"};
    Copying c = {.store = (FileStore *)s, .to = path, .piece = BUF_INIT, .err = err};
    folder_remove(path); /* of one that was killed */
    bool ok = mkdir(path, 0700) == 0 || cannot(&c, path);
    for (size_t i = 0; ok && i < sizeof folders / sizeof *folders; i++) {
        char *folder = path_join(path, folders[i]);
        ok = mkdir(folder, 0700) == 0 || cannot(&c, folder);
        mem_free(folder);
    }
    ok = ok && each_file(&c, "threads", copy_thread) &&
         each_file(&c, "definitions", copy_definition) && copy_top(&c, "last", false) &&
         copy_top(&c, "format", true);
    for (size_t i = 0; ok && i < sizeof folders / sizeof *folders; i++) {
        char *folder = path_join(path, folders[i]);
        ok = folder_sync(folder) || cannot(&c, folder);
        mem_free(folder);
    }
    ok = ok && (folder_sync(path) || cannot(&c, path));
    if (!ok && atomic_load(&s->interrupted)) store_was_interrupted(s, err);
    if (!ok) folder_remove(path);
    buf_clear(&c.piece);
    return ok;
}
