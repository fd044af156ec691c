#define _GNU_SOURCE
#include "safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

/* ---- sentences ---- */

static const char *kind_of(mode_t mode) {
    return S_ISDIR(mode)    ? "a folder"
           : S_ISLNK(mode)  ? "a link"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISCHR(mode)  ? "a device"
           : S_ISBLK(mode)  ? "a device"
                            : "no regular file";
}

/* Each of these sets errno last, and returns -1. */

static int cannot(Error *err, const char *what, const char *name, int error) {
    if (error == ELOOP) {
        error_set(err, ERR_IO, "%s is a link, and links are not followed here.", name);
    } else {
        error_set(err, ERR_IO, "Cannot %s %s: %s.", what, name, strerror(error));
        error_fact_full(err, error);
    }
    errno = error;
    return -1;
}

static int close_with(int fd) {
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* ---- owners ---- */

static bool foreign(Error *err, const char *name) {
    error_fact(err, "foreign", name);
    errno = EPERM;
    return false;
}

bool safe_is_ours(const struct stat *st, const char *name, Error *err) {
    if (st->st_uid == geteuid() || st->st_uid == 0) return true;
    error_set(err, ERR_IO, "%s belongs to another user (number %lu).", name,
              (unsigned long)st->st_uid);
    return foreign(err, name);
}

/* A group of just this user has the same number. */
static bool others_write(const struct stat *st) {
    return st->st_mode & S_IWOTH ||
           (st->st_mode & S_IWGRP && (unsigned long)st->st_gid != (unsigned long)st->st_uid);
}

bool safe_is_ours_alone(const struct stat *st, const char *name, bool sticky, Error *err) {
    if (!safe_is_ours(st, name, err)) return false;
    if (!others_write(st) || (sticky && S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX)) return true;
    error_set(err, ERR_IO, "Others can write to %s.", name);
    return foreign(err, name);
}

void safe_close_to_others(const char *path) {
    struct stat st;
    char by_fd[64];
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool mine = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && !others_write(&st) &&
                (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
    if (mine && st.st_mode & (S_IRWXG | S_IRWXO)) {
        snprintf(by_fd, sizeof by_fd, "/proc/self/fd/%d", fd);
        if (chmod(by_fd, st.st_mode & S_IRWXU) != 0) errno = 0;
    }
    if (fd >= 0) close(fd);
}

/* ---- files ---- */

int safe_open(int folder, const char *name, int flags, int rules, Error *err) {
    struct stat st;
    int careful = O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (rules & SAFE_FOLLOW ? 0 : O_NOFOLLOW);
    int fd = openat(folder, name, flags | careful);
    if (fd < 0) return cannot(err, "open the file", name, errno);
    if (fstat(fd, &st) != 0) {
        cannot(err, "look at the file", name, errno);
        return close_with(fd);
    }
    if (!S_ISREG(st.st_mode)) {
        error_set(err, ERR_IO, "%s is %s, and a regular file is expected.", name,
                  kind_of(st.st_mode));
        errno = ENXIO;
        return close_with(fd);
    }
    return rules & SAFE_OURS && !safe_is_ours(&st, name, err) ? close_with(fd) : fd;
}

int safe_create(int folder, const char *name, Error *err) {
    int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : cannot(err, "make the file", name, errno);
}

/* Its length is looked at first, so that a long one costs nothing, and then not relied on. */
static bool read_all(int fd, bool regular, const char *name, size_t max, Buf *out, Error *err) {
    struct stat st;
    size_t from = out->len;
    bool too_long = fstat(fd, &st) == 0 && st.st_size > 0 && (uint64_t)st.st_size > max;
    for (ssize_t n = 1; n && !too_long;) {
        size_t done = out->len - from, some = max - done < PIECE ? max - done + 1 : PIECE;
        char *room = buf_reserve(out, some);
        n = regular ? pread(fd, room, some, (off_t)done) : read(fd, room, some);
        if (n < 0 && errno != EINTR) {
            cannot(err, "read the file", name, errno);
            return false;
        }
        if (n > 0) buf_advance(out, (size_t)n);
        if (n < 0) n = 1;
        too_long = out->len - from > max;
    }
    if (too_long) {
        out->len = from;
        error_set(err, ERR_LIMIT, "The file %s is longer than the %zu bytes that it may have.",
                  name, max);
        errno = EFBIG;
    }
    return !too_long;
}

bool safe_read_fd(int fd, const char *name, size_t max, Buf *out, Error *err) {
    return read_all(fd, true, name, max, out, err);
}

bool safe_is_descriptor(const char *path) {
    return !strncmp(path, "/dev/fd/", 8) || !strcmp(path, "/dev/stdin");
}

bool safe_read_given(const char *path, size_t max, Buf *out, Error *err) {
    struct stat st;
    bool waits = safe_is_descriptor(path);
    int fd = waits ? open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC)
                   : safe_open(AT_FDCWD, path, O_RDONLY, SAFE_FOLLOW, err);
    if (fd < 0 && waits) cannot(err, "open the file", path, errno);
    if (fd < 0) return false;
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    bool all = read_all(fd, regular, path, max, out, err);
    close_with(fd);
    return all;
}

bool safe_read(int folder, const char *name, int rules, size_t max, Buf *out, Error *err) {
    int fd = safe_open(folder, name, O_RDONLY, rules, err);
    if (fd < 0) return false;
    bool all = safe_read_fd(fd, name, max, out, err);
    close_with(fd);
    return all;
}

/* ---- folders ---- */

bool safe_folder_is_ours(int fd, const char *name, Error *err) {
    struct stat st;
    if (fstat(fd, &st) != 0) {
        cannot(err, "look at the folder", name, errno);
        return false;
    }
    return safe_is_ours_alone(&st, name, false, err);
}

static int open_folder(int folder, const char *name, Error *err) {
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        struct stat st;
        int error = errno; /* of a link the kernel says that it is no folder */
        bool link = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
        return cannot(err, "open the folder", name, link ? ELOOP : error);
    }
    return fd;
}

int safe_folder(int folder, const char *name, Error *err) {
    int fd = open_folder(folder, name, err);
    return fd < 0 || safe_folder_is_ours(fd, name, err) ? fd : close_with(fd);
}

int safe_parent(int folder, const char *name, Error *err) {
    struct stat st;
    int fd = open_folder(folder, name, err);
    bool safe = fd >= 0 && fstat(fd, &st) == 0 && safe_is_ours_alone(&st, name, true, err);
    return fd < 0 || safe ? fd : close_with(fd);
}

int safe_folder_make(int folder, const char *name, bool *made, Error *err) {
    bool is_new = mkdirat(folder, name, 0700) == 0;
    if (made) *made = is_new;
    if (!is_new && errno != EEXIST) return cannot(err, "make the folder", name, errno);
    return safe_folder(folder, name, err);
}
