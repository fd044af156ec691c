#define _GNU_SOURCE
#include "store_space.h"

#include "backend.h"
#include "file_io.h"
#include "folders.h"
#include "mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- how large it is ---- */

static int64_t size_of(const char *path) {
    struct stat st;
    int64_t bytes = 0;
    if (lstat(path, &st) != 0) return 0;
    if (S_ISREG(st.st_mode)) return st.st_size;
    DIR *dir = S_ISDIR(st.st_mode) ? opendir(path) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char *inside = path_join(path, entry->d_name);
        bytes += size_of(inside); /* two levels: what is deeper is no store's */
        mem_free(inside);
    }
    if (dir) closedir(dir);
    return bytes;
}

/* Its data: not the folder of work, and not what is there only for whoever has it open. */
static int64_t size_of_store(const Store *s) {
    int64_t bytes = 0;
    for (const char *const *part = s->backend->parts; part && *part; part++) {
        if (strstr(*part, "work") || strstr(*part, "shm") || strstr(*part, "lease")) continue;
        char *path = path_with(s->path, *part);
        bytes += size_of(path);
        mem_free(path);
    }
    return bytes;
}

/* ---- the calls ---- */

static bool has_files(const Store *s, Error *err) {
    return s->backend->durable ||
           error_set(err, ERR_USAGE, "The store %s is in memory: there is nothing on disk.",
                     s->url);
}

bool store_compact(Store *s, SpaceReport *out, Error *err) {
    *out = (SpaceReport){0};
    if (!has_files(s, err) || !store_refuse_reader(s, err)) return false;
    out->before = size_of_store(s);
    if (!s->backend->compact(s, &out->busy, err)) return false;
    out->after = size_of_store(s);
    return true;
}

bool store_trim(Store *s, Error *err) {
    return !s->backend->trim || s->backend->trim(s, err);
}

/* ---- what is kept beside the runs ---- */

typedef struct Kept {
    Store *store;
    char *from, *to; /* folders of work, of the store and of its copy */
    int64_t bytes;
} Kept;

static bool copy_bytes(Kept *k, int in, int out) {
    enum { PIECE = 1 << 20 };
    ssize_t n = 1;
    while (n > 0) {
        if (atomic_load(&k->store->interrupted)) {
            errno = EINTR;
            return false;
        }
        n = copy_file_range(in, NULL, out, NULL, PIECE, 0);
        if (n < 0 &&
            (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)) {
            char bytes[1 << 14];
            n = read(in, bytes, sizeof bytes);
            if (n > 0 && write(out, bytes, (size_t)n) != n) return false;
        }
        k->bytes += n > 0 ? n : 0;
    }
    return n == 0;
}

/* A file that has gone meanwhile went with its run. */
static bool copy_one(Kept *k, const char *from, const char *to) {
    int in = open_regular(from, O_RDONLY);
    if (in < 0) return errno == ENOENT;
    int out = open_regular(to, O_WRONLY | O_CREAT | O_EXCL);
    bool ok = out >= 0 && copy_bytes(k, in, out) && file_sync(out);
    int failed = errno;
    close(in);
    if (out >= 0) close(out);
    errno = failed;
    return ok;
}

/* Regular files and folders: there is nothing else in a folder of results. */
static bool copy_entry(Kept *k, const FTSENT *entry) {
    char *to = path_with(k->to, entry->fts_path + strlen(k->from));
    bool ok = true;
    if (entry->fts_info == FTS_D) {
        ok = mkdir(to, 0700) == 0;
    } else if (entry->fts_info == FTS_DP) {
        ok = folder_sync(to);
    } else if (entry->fts_info == FTS_F) {
        ok = copy_one(k, entry->fts_path, to);
    }
    mem_free(to);
    return ok;
}

/* Of what is in the folder: results of tasks; workflows that have names, tokens, secrets, which are encrypted. */
static bool is_kept(const FTSENT *entry) {
    static const char *const names[] = {"workflows", "tokens", "secrets"};
    if (entry->fts_level != 1) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(entry->fts_name, names[i])) return true;
    }
    return !strncmp(entry->fts_name, "results-", 8) && entry->fts_info != FTS_F;
}

/* The folder is not made where there is nothing to be copied. */
static bool copy_kept(Kept *k, Error *err) {
    char *roots[] = {k->from, NULL};
    bool ok = true, made = false;
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    for (FTSENT *entry; ok && tree && (entry = fts_read(tree));) {
        if (entry->fts_level < 1) continue;
        if (!is_kept(entry)) {
            if (entry->fts_info == FTS_D) fts_set(tree, entry, FTS_SKIP);
            continue;
        }
        made = made || (ok = mkdir(k->to, 0700) == 0);
        ok = ok && copy_entry(k, entry);
    }
    int failed = errno;
    if (tree) fts_close(tree);
    ok = ok && (!made || folder_sync(k->to));
    if (ok) return true;
    if (atomic_load(&k->store->interrupted)) return store_was_interrupted(k->store, err);
    error_set(err, ERR_IO, "The copy of the results of tasks at %s cannot be made: %s.", k->to,
              strerror(failed));
    return error_fact_full(err, failed);
}

/* ---- a copy ---- */

static bool is_free(const char *path, Error *err) {
    struct stat st;
    return lstat(path, &st) != 0 ||
           error_set(err, ERR_EXISTS, "There is something at %s already: name another place.",
                     path);
}

static bool copy_failed(const char *path, const char *what, Error *err) {
    int failed = errno;
    error_set(err, ERR_IO, "The copy %s cannot be %s: %s.", path, what, strerror(failed));
    return error_fact_full(err, failed);
}

static bool give_name(const char *from, const char *to, Error *err) {
    return rename(from, to) == 0 || copy_failed(to, "given its name", err);
}

/* What is beside a copy gets its name before the copy does. */
bool store_backup(Store *s, const char *path, int64_t *bytes, Error *err) {
    bool beside = s->backend->in_folder;
    if (!has_files(s, err)) return false;
    if (path[0] != '/') {
        return error_set(err, ERR_USAGE, "The copy needs a whole path, not %s.", path);
    }
    char *folder = folder_of(path), *part = path_with(path, ".part");
    char *work = path_with(path, "-work");
    Kept kept = {s, s->backend->folder(s), path_with(part, beside ? "-work" : "/work"), 0};
    bool ok = is_free(path, err) && (!beside || is_free(work, err)) &&
              folder_is_safe(folder, err) && path_is_safe(part, err);
    if (ok && beside) folder_remove(kept.to); /* of one that was killed */
    ok = ok && s->backend->backup(s, part, err) && copy_kept(&kept, err) &&
         (!beside || access(kept.to, F_OK) != 0 || give_name(kept.to, work, err)) &&
         give_name(part, path, err) &&
         (folder_sync(folder) || copy_failed(path, "made durable", err));
    *bytes = ok ? size_of(path) + kept.bytes : 0;
    mem_free(kept.from);
    mem_free(kept.to);
    mem_free(work);
    mem_free(folder);
    mem_free(part);
    return ok;
}
