#define _GNU_SOURCE /* F_OFD_SETLK */
#include "leases.h"

#include "backend.h"
#include "file_io.h"
#include "folders.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the set ---- */

static size_t slot_of(const Leases *l, int64_t run) {
    size_t i = (size_t)((uint64_t)run * 0x9E3779B97F4A7C15u >> 32) & (l->cap - 1);
    while (l->runs[i] && l->runs[i] != run) i = (i + 1) & (l->cap - 1);
    return i;
}

bool leases_has(const Leases *l, int64_t run) {
    return l->len && run > 0 && l->runs[slot_of(l, run)] == run;
}

static void grow(Leases *l) {
    Leases old = *l;
    l->cap = old.cap ? old.cap * 2 : 16;
    l->runs = mem_zalloc(l->cap * sizeof *l->runs);
    for (size_t i = 0; i < old.cap; i++) {
        if (old.runs[i]) l->runs[slot_of(l, old.runs[i])] = old.runs[i];
    }
    mem_free(old.runs);
}

void leases_add(Leases *l, int64_t run) {
    if (leases_has(l, run)) return;
    if (2 * (l->len + 1) > l->cap) grow(l);
    l->runs[slot_of(l, run)] = run;
    l->len++;
}

/* What stood behind the gap is put in again, so that every run is found from its home on. */
void leases_remove(Leases *l, int64_t run) {
    if (!leases_has(l, run)) return;
    size_t i = slot_of(l, run);
    l->runs[i] = 0;
    l->len--;
    for (i = (i + 1) & (l->cap - 1); l->runs[i]; i = (i + 1) & (l->cap - 1)) {
        int64_t moved = l->runs[i];
        l->runs[i] = 0;
        l->runs[slot_of(l, moved)] = moved;
    }
}

void leases_clear(Leases *l) {
    mem_free(l->runs);
    *l = (Leases){0};
}

/* ---- the file ---- */

void lease_file_init(LeaseFile *f, char *path) {
    *f = (LeaseFile){.fd = -1, .path = path};
}

void lease_file_close(LeaseFile *f) {
    if (f->path && f->fd >= 0) close(f->fd);
    mem_free(f->path);
    *f = (LeaseFile){.fd = -1};
}

static bool open_file(LeaseFile *f, Error *err) {
    if (f->fd < 0) f->fd = open_regular(f->path, O_RDWR | O_CREAT);
    if (f->fd < 0) {
        int failed = errno;
        error_set(err, ERR_IO, "The lock file %s cannot be opened: %s.", f->path, strerror(failed));
        error_fact_full(err, failed);
        char *folder = folder_of(f->path);
        error_fact(err, "folder", folder);
        mem_free(folder);
    }
    return f->fd >= 0;
}

static struct flock slot_lock(short type, int64_t run) {
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)(run * LEASE_SLOT), .l_len = 1};
}

static char *read_owner(const LeaseFile *f, int64_t run) {
    char slot[LEASE_SLOT];
    ssize_t n = pread(f->fd, slot, sizeof slot, (off_t)(run * LEASE_SLOT));
    size_t len = n > 0 ? strnlen(slot, (size_t)n) : 0;
    for (size_t i = 0; i < len; i++) slot[i] = slot[i] < ' ' || slot[i] > '~' ? '?' : slot[i];
    return len ? mem_strndup(slot, len) : NULL;
}

/* A lock that only reads is nobody's lease: those are for writing. Whoever may read the file can have one, which keeps
 * everybody from the lease; it is told for what it is. */
static bool is_foreign(const LeaseFile *f, int64_t run, Error *err) {
    struct flock lock = slot_lock(F_WRLCK, run);
    if (fcntl(f->fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_RDLCK) return false;
    char who[48] = "";
    if (lock.l_pid > 0) snprintf(who, sizeof who, " (process %ld)", (long)lock.l_pid);
    error_set(
        err, ERR_IO,
        "Somebody holds a lock for reading on %s%s, which no process of Pawl does: nobody runs "
        "the thread, and nobody can before that process ends or lets go of it.",
        f->path, who);
    error_fact(err, "lock", f->path);
    if (lock.l_pid > 0) error_fact_int(err, "pid", lock.l_pid);
    return true;
}

bool lease_file_lock(LeaseFile *f, int64_t run, bool *busy, char **owner, Error *err) {
    struct flock lock = slot_lock(F_WRLCK, run);
    *busy = false;
    if (!open_file(f, err)) return false;
    if (fcntl(f->fd, F_OFD_SETLK, &lock) == 0) {
        char self[STORE_OWNER_MAX], slot[LEASE_SLOT] = {0};
        store_self(self);
        memcpy(slot, self, strnlen(self, LEASE_SLOT));
        /* For people only: a lease without it is still one. */
        ssize_t written = pwrite(f->fd, slot, sizeof slot, (off_t)(run * LEASE_SLOT));
        (void)written;
        return true;
    }
    if (errno != EAGAIN && errno != EACCES) {
        return error_set(err, ERR_IO, "The lock file %s cannot be locked: %s.", f->path,
                         strerror(errno));
    }
    if (is_foreign(f, run, err)) return false;
    *busy = true;
    *owner = read_owner(f, run);
    return true;
}

void lease_file_unlock(LeaseFile *f, int64_t run) {
    struct flock lock = slot_lock(F_UNLCK, run);
    if (f->fd >= 0) fcntl(f->fd, F_OFD_SETLK, &lock);
}

/* A descriptor of its own will do where ours cannot be opened for writing: asking takes no right. */
bool lease_file_is_locked(LeaseFile *f, int64_t run) {
    struct flock lock = slot_lock(F_WRLCK, run);
    int fd = f->fd >= 0 ? f->fd : open_regular(f->path, O_RDONLY);
    bool locked = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
    if (fd >= 0 && fd != f->fd) close(fd);
    return locked;
}

bool lease_file_lock_store(LeaseFile *f, Error *err) {
    const struct timespec pause = {.tv_nsec = 1000000};
    struct flock lock = slot_lock(F_WRLCK, 0);
    if (!open_file(f, err)) return false;
    while (fcntl(f->fd, F_OFD_SETLK, &lock) != 0) {
        if (errno != EINTR && errno != EAGAIN && errno != EACCES) {
            return error_set(err, ERR_IO, "The lock file %s cannot be locked: %s.", f->path,
                             strerror(errno));
        }
        if (is_foreign(f, 0, err)) return false;
        nanosleep(&pause, NULL); /* it is held for the time of a few writes */
    }
    return true;
}
