#define _GNU_SOURCE /* FTW_DEPTH */
#include "folders.h"

#include "buf.h"
#include "mem.h"
#include "safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Leaves errno as it is. */
static bool is_folder(const char *path) {
    struct stat st;
    int before = errno;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    errno = before;
    return folder;
}

bool folder_make(const char *path) {
    if (is_folder(path)) return true;
    char *copy = mem_strndup(path, strlen(path));
    int failed = 0; /* why the first that is missing cannot be made */
    for (char *slash = strchr(copy + 1, '/'); slash && !failed; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        failed = mkdir(copy, 0700) == 0 || is_folder(copy) ? 0 : errno;
        *slash = '/';
    }
    failed = failed || mkdir(copy, 0700) == 0 ? failed : errno;
    mem_free(copy);
    if (failed && is_folder(path)) return true;
    errno = failed;
    return !failed;
}

bool folder_is_safe(const char *path, Error *err) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return true; /* whoever opens the store says why */
    }
    bool link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    bool safe = (!link || safe_is_ours(&st, path, err)) && fstat(fd, &st) == 0 &&
                safe_is_ours_alone(&st, path, true, err);
    close(fd);
    return safe;
}

bool path_is_file(const char *path, Error *err) {
    struct stat st;
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) return true;
    return error_set(err, ERR_IO, "%s is neither a file nor a folder: move it away.", path);
}

bool path_is_safe(const char *path, Error *err) {
    struct stat st;
    if (lstat(path, &st) != 0) return true;
    if (S_ISLNK(st.st_mode)) {
        error_set(err, ERR_IO, "%s is a link, and a store has none.", path);
        return error_fact(err, "link", path);
    }
    return safe_is_ours_alone(&st, path, true, err);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where) {
    (void)st, (void)type, (void)where;
    remove(path);
    return 0;
}

void folder_remove(const char *path) {
    enum { DESCRIPTORS = 16 };
    nftw(path, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return mem_strndup(".", 1);
    return slash == path ? mem_strndup("/", 1) : mem_strndup(path, (size_t)(slash - path));
}

bool folder_sync(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    int failed = errno;
    if (fd >= 0) close(fd);
    errno = failed;
    return ok;
}

char *store_results_folder(const char *folder, int64_t run) {
    Buf path = BUF_INIT;
    buf_printf(&path, "%s/results-%lld", folder, (long long)run);
    return buf_detach(&path);
}

char *path_join(const char *folder, const char *name) {
    Buf path = BUF_INIT;
    buf_printf(&path, "%s/%s", folder, name);
    return buf_detach(&path);
}

char *path_with(const char *path, const char *suffix) {
    Buf full = BUF_INIT;
    buf_printf(&full, "%s%s", path, suffix);
    return buf_detach(&full);
}
