#define _GNU_SOURCE /* SEEK_DATA */
#include "file_io.h"

#include "fault.h"
#include "folders.h"
#include "mem.h"
#include "safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int open_regular(const char *path, int flags) {
    struct stat st;
    int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = ENXIO;
        return -1;
    }
    return fd;
}

/* ---- reading ---- */

static bool holds(const Reader *r, uint64_t at, size_t len) {
    return at >= r->at && at - r->at <= r->buf.len && len <= r->buf.len - (at - r->at);
}

/* Reads until `want` bytes are there or the file ends. */
static bool fill(Reader *r, uint64_t at, size_t want) {
    buf_reset(&r->buf);
    r->at = at;
    while (r->buf.len < want) {
        size_t room = want - r->buf.len;
        ssize_t n = pread(r->fd, buf_reserve(&r->buf, room), room, (off_t)(at + r->buf.len));
        if (n < 0 && errno != EINTR) return false;
        if (n == 0) break;
        buf_advance(&r->buf, n > 0 ? (size_t)n : 0);
    }
    return true;
}

const char *reader_get(Reader *r, uint64_t at, size_t len) {
    size_t ahead = r->ahead ? r->ahead : READER_NEAR;
    if (!holds(r, at, len) && !fill(r, at, len > ahead ? len : ahead)) return NULL;
    errno = 0;
    return holds(r, at, len) ? r->buf.data + (at - r->at) : NULL;
}

const char *reader_some(Reader *r, uint64_t at, size_t *len) {
    const char *bytes = reader_get(r, at, 1);
    *len = bytes ? r->buf.len - (at - r->at) : 0;
    return bytes;
}

uint64_t reader_data(const Reader *r, uint64_t at) {
    off_t data = lseek(r->fd, (off_t)at, SEEK_DATA);
    return data >= 0 ? (uint64_t)data : errno == ENXIO ? UINT64_MAX : at;
}

void reader_forget(Reader *r) {
    buf_reset(&r->buf);
}

void reader_clear(Reader *r) {
    buf_clear(&r->buf);
}

/* ---- writing ---- */

bool file_write(int fd, const char *bytes, size_t len, uint64_t at) {
    int fault = fault_point("store.write");
    size_t end = fault == FAULT_SHORT ? len / 2 : fault ? 0 : len;
    for (size_t done = 0; done < end;) {
        ssize_t n = pwrite(fd, bytes + done, end - done, (off_t)(at + done));
        if (n < 0 && errno != EINTR) return false;
        done += n > 0 ? (size_t)n : 0;
    }
    errno = fault == FAULT_SHORT ? EIO : fault;
    return !fault;
}

bool file_sync(int fd) {
    int fault = fault_point("store.sync");
    if (fault) {
        errno = fault == FAULT_SHORT ? EIO : fault;
        return false;
    }
    return fdatasync(fd) == 0;
}

bool file_read_whole(const char *path, size_t max, Buf *out) {
    int fd = open_regular(path, O_RDONLY);
    bool all = fd >= 0 && safe_read_fd(fd, path, max, out, NULL);
    int failed = errno;
    if (fd >= 0) close(fd);
    errno = failed;
    return all;
}

static bool write_new(const char *path, const char *bytes, size_t len) {
    int fd = open_regular(path, O_WRONLY | O_CREAT | O_TRUNC);
    bool ok = fd >= 0 && file_write(fd, bytes, len, 0) && file_sync(fd);
    int failed = errno;
    if (fd >= 0) close(fd);
    errno = failed;
    return ok;
}

/* A name with a dot before it, which whoever lists the folder passes over. Of this thread alone: others of the process may
 * replace the same file. */
static char *hidden_path(const char *folder, const char *path) {
    const char *slash = strrchr(path, '/');
    Buf hidden = BUF_INIT;
    buf_printf(&hidden, "%s/.%s.%ld", folder, slash ? slash + 1 : path, (long)gettid());
    return buf_detach(&hidden);
}

bool file_replace(const char *path, const char *bytes, size_t len) {
    char *folder = folder_of(path), *new_path = hidden_path(folder, path);
    bool ok = write_new(new_path, bytes, len) && rename(new_path, path) == 0 && folder_sync(folder);
    int failed = errno;
    if (!ok) unlink(new_path);
    mem_free(new_path);
    mem_free(folder);
    errno = failed;
    return ok;
}
