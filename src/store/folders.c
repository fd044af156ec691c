#define _GNU_SOURCE /* O_PATH */
#include "folders.h"

#include "buf.h"
#include "mem.h"
#include "safe_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

/* ---- removing ---- */

enum { REMOVE_DEPTH = 24 };

/* A folder is opened for each level, so that what somebody moves or links meanwhile leads nowhere else. There are only so
 * many levels: a folder further down is moved to the uppermost one, which is gone through again. */
typedef struct Removing {
    DIR *open[REMOVE_DEPTH];
    char *names[REMOVE_DEPTH]; /* of each, in the one before */
    int depth;
    dev_t device;  /* another one is not entered: that is mounted there */
    bool progress; /* since the uppermost was begun */
    unsigned lifted;
} Removing;

/* One that cannot be written (module caches are made so) is made writable first. */
static int open_to_remove(int at, const char *name) {
    char by_fd[64];
    struct stat st;
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int there = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool closed = there >= 0 && fstat(there, &st) == 0 && (st.st_mode & S_IRWXU) != S_IRWXU;
    if (closed) {
        snprintf(by_fd, sizeof by_fd, "/proc/self/fd/%d", there);
        if (chmod(by_fd, S_IRWXU) != 0) closed = false; /* then it is as it is */
    }
    if (there >= 0) close(there);
    return openat(at, name, flags);
}

static void enter_to_remove(Removing *r, int at, const char *name) {
    struct stat st;
    int fd = open_to_remove(at, name);
    bool here = fd >= 0 && fstat(fd, &st) == 0 && (!r->depth || st.st_dev == r->device);
    DIR *dir = here ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0) close(fd);
        return;
    }
    r->device = st.st_dev;
    r->open[r->depth] = dir;
    r->names[r->depth++] = mem_strndup(name, strlen(name));
}

static void lift(Removing *r, int at, const char *name) {
    char fresh[32];
    snprintf(fresh, sizeof fresh, ".lifted-%u", r->lifted++);
    int fd = open_to_remove(at, name); /* one that cannot be written cannot be moved, either */
    if (fd >= 0) close(fd);
    if (renameat(at, name, dirfd(r->open[0]), fresh) == 0) r->progress = true;
}

/* The innermost is empty, or what is left of it stays. */
static void leave_removed(Removing *r) {
    DIR *dir = r->open[r->depth - 1];
    char *name = r->names[r->depth - 1];
    if (r->depth == 1 && r->progress) {
        r->progress = false;
        rewinddir(dir);
        return;
    }
    r->depth--;
    closedir(dir);
    if (r->depth && unlinkat(dirfd(r->open[r->depth - 1]), name, AT_REMOVEDIR) == 0) {
        r->progress = true;
    }
    mem_free(name);
}

void folder_remove(const char *path) {
    Removing r = {.depth = 0};
    if (unlink(path) == 0) return; /* it was none */
    enter_to_remove(&r, AT_FDCWD, path);
    while (r.depth) {
        DIR *dir = r.open[r.depth - 1];
        const struct dirent *entry = readdir(dir);
        const char *name = entry ? entry->d_name : NULL;
        if (!name) {
            leave_removed(&r);
        } else if (!strcmp(name, ".") || !strcmp(name, "..")) {
            continue;
        } else if (unlinkat(dirfd(dir), name, 0) == 0) {
            r.progress = true;
        } else if (errno != EISDIR && errno != EPERM) {
            continue;
        } else if (r.depth < REMOVE_DEPTH) {
            enter_to_remove(&r, dirfd(dir), name);
        } else {
            lift(&r, dirfd(dir), name);
        }
    }
    rmdir(path);
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
