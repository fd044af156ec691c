#include "store_space.h"

#include "backend.h"
#include "folders.h"
#include "mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

bool store_backup(Store *s, const char *path, int64_t *bytes, Error *err) {
    struct stat st;
    if (!has_files(s, err)) return false;
    if (path[0] != '/') {
        return error_set(err, ERR_USAGE, "The copy needs a whole path, not %s.", path);
    }
    if (lstat(path, &st) == 0) {
        return error_set(err, ERR_EXISTS, "There is something at %s already: name another place.",
                         path);
    }
    char *folder = folder_of(path), *part = path_with(path, ".part");
    bool ok =
        folder_is_safe(folder, err) && path_is_safe(part, err) && s->backend->backup(s, part, err);
    if (ok && (rename(part, path) != 0 || !folder_sync(folder))) {
        ok = error_set(err, ERR_IO, "The copy %s cannot be given its name: %s.", path,
                       strerror(errno));
    }
    *bytes = ok ? size_of(path) : 0;
    mem_free(folder);
    mem_free(part);
    return ok;
}
