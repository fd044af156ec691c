#define _GNU_SOURCE /* F_OFD_SETLK */
#include "process_place.h"

#include "mem.h"
#include "proc.h"
#include "safe_file.h"
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const place_streams[2] = {PLACE_OUT, PLACE_ERR};

enum { CODE_MAX = 4095 }; /* of exits, signals and errnos */

static const int64_t TIME_MAX = 253402300799999; /* the end of the year 9999, in milliseconds */

/* ---- opening ---- */

/* Whoever can rename things in the folder above could put another in the place's stead. */
static bool parent_is_ours(const char *path, Error *err) {
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;
    char *parent = slash ? mem_strndup(slash == path ? "/" : path, len ? len : 1) : NULL;
    int fd = safe_parent(AT_FDCWD, parent ? parent : ".", err);
    int error = errno;
    mem_free(parent);
    if (fd >= 0) close(fd);
    errno = error;
    return fd >= 0;
}

int process_place_open(const char *path, bool *make, Error *err) {
    if (!parent_is_ours(path, err) && errno != ENOENT) return -1;
    return make ? safe_folder_make(AT_FDCWD, path, make, err) : safe_folder(AT_FDCWD, path, err);
}

int process_place_open_lock(int place, const char *path, bool make, Error *err) {
    int lock = make ? safe_create(place, PLACE_LOCK, err) : -1;
    if (lock < 0 && (!make || errno == EEXIST)) {
        lock = safe_open(place, PLACE_LOCK, O_RDWR, SAFE_OURS, err);
    }
    int error = errno;
    if (lock < 0) error_wrap(err, "%s", path);
    errno = error;
    return lock;
}

static struct flock lock_of(int byte) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

bool process_place_take(int lock) {
    struct flock whole = lock_of(LOCK_BYTE_PLACE);
    return fcntl(lock, F_OFD_SETLK, &whole) == 0;
}

/* ---- numbers ---- */

/* The next of some numbers with a space or a newline behind each; false when there is none up to `most`. */
static bool next_number(const char **at, const char *end, uint64_t most, uint64_t *out) {
    const char *p = *at;
    uint64_t n = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (n > (most - digit) / 10 || digit > most) return false;
        n = n * 10 + digit;
    }
    if (p == *at || p == end || (*p != ' ' && *p != '\n')) return false;
    *at = p + 1;
    *out = n;
    return true;
}

/* The order is the one in which the supervisor writes it. */
bool process_place_parse_status(const char *text, size_t len, PlaceStatus *out) {
    const uint64_t most[] = {PROCESS_FAILED, CODE_MAX,  INT64_MAX, INT64_MAX,
                             INT64_MAX,      INT64_MAX, TIME_MAX,  TIME_MAX};
    enum { N = sizeof most / sizeof *most };
    uint64_t numbers[N];
    const char *at = text, *end = text + len;
    for (int i = 0; i < N; i++) {
        if (!next_number(&at, end, most[i], &numbers[i])) return false;
    }
    *out = (PlaceStatus){.end = (ProcessEnd)numbers[0],
                         .code = (int)numbers[1],
                         .len = {numbers[2], numbers[4]},
                         .kept = {numbers[3], numbers[5]},
                         .started = (int64_t)numbers[6],
                         .finished = (int64_t)numbers[7]};
    return at == end && out->kept[0] <= out->len[0] && out->kept[1] <= out->len[1];
}

bool process_place_parse_lock(const char *text, size_t len, pid_t *supervisor, pid_t *child) {
    const char *at = text, *end = text + len;
    uint64_t numbers[2];
    for (int i = 0; i < 2; i++) {
        if (!next_number(&at, end, INT_MAX, &numbers[i]) || numbers[i] <= 1) return false;
    }
    *supervisor = (pid_t)numbers[0];
    *child = (pid_t)numbers[1];
    return at == end;
}

/* ---- reading ---- */

PlaceFile process_place_read_status(int place, PlaceStatus *out) {
    Buf text = BUF_INIT;
    bool read = safe_read(place, PLACE_STATUS, SAFE_OURS, STATUS_MAX, &text, NULL);
    bool missing = !read && errno == ENOENT;
    bool fine = read && text.len && process_place_parse_status(text.data, text.len, out);
    buf_clear(&text);
    return fine ? PLACE_FINE : missing ? PLACE_NONE : PLACE_DAMAGED;
}

bool process_place_was_used(int lock) {
    struct stat st;
    return fstat(lock, &st) != 0 || st.st_size > 0;
}

static bool read_at(int fd, uint64_t from, size_t n, Buf *out) {
    for (ssize_t got = 1; n && got > 0; n -= got > 0 ? (size_t)got : 0) {
        got = pread(fd, buf_reserve(out, n), n, (off_t)from);
        if (got <= 0) continue;
        buf_advance(out, (size_t)got);
        from += (uint64_t)got;
    }
    return n == 0;
}

/* Of a ring that is not whole nothing is taken: after a power failure it may not be. */
bool process_place_read_stream(int place, int stream, const PlaceStatus *status, size_t max,
                               Buf *out, Buf *tail) {
    struct stat st;
    uint64_t kept = status->kept[stream], beyond = status->len[stream] - kept;
    size_t turn = beyond > PROCESS_TAIL ? (size_t)(beyond % PROCESS_TAIL) : 0;
    size_t all = beyond > PROCESS_TAIL ? PROCESS_TAIL : (size_t)beyond;
    int fd = safe_open(place, place_streams[stream], O_RDONLY, SAFE_OURS, NULL);
    if (fd < 0) return errno == ENOENT && kept == 0;
    size_t more = kept > max ? (size_t)(kept - max) : 0; /* before the ring */
    more = more < PROCESS_TAIL - all ? more : PROCESS_TAIL - all;
    bool whole = fstat(fd, &st) == 0 && (uint64_t)st.st_size >= kept &&
                 read_at(fd, 0, kept < max ? (size_t)kept : max, out);
    if (!whole || !read_at(fd, kept - more, more, tail) ||
        !read_at(fd, kept + turn, all - turn, tail) || !read_at(fd, kept, turn, tail)) {
        buf_reset(tail);
    }
    close(fd);
    return whole;
}

size_t process_place_read_some(const char *path, int stream, uint64_t at, size_t max, Buf *out) {
    char name[PATH_MAX];
    int len = snprintf(name, sizeof name, "%s/%s", path, place_streams[stream]);
    int fd = len < PATH_MAX ? safe_open(AT_FDCWD, name, O_RDONLY, SAFE_OURS, NULL) : -1;
    if (fd < 0) return 0;
    ssize_t n = pread(fd, buf_reserve(out, max), max, (off_t)at);
    close(fd);
    if (n > 0) buf_advance(out, (size_t)n);
    return n > 0 ? (size_t)n : 0;
}

/* ---- who is there ---- */

/* A lock of an open file, which nobody in particular holds, has no number. A file that has another name, too, may be
 * held by somebody who knows nothing of us. */
pid_t process_place_supervisor(int lock) {
    struct flock held = lock_of(LOCK_BYTE_SUPERVISOR);
    struct stat st;
    bool known = fstat(lock, &st) == 0 && st.st_nlink == 1 && fcntl(lock, F_GETLK, &held) == 0 &&
                 held.l_type != F_UNLCK && held.l_pid > 1;
    return known ? held.l_pid : 0;
}

/* The number in the file is a guess: it is right if the supervisor is its parent. */
pid_t process_place_child(int lock, pid_t supervisor) {
    Buf text = BUF_INIT;
    ProcStat stat;
    pid_t written, child = 0;
    bool right = supervisor > 1 && safe_read_fd(lock, PLACE_LOCK, STATUS_MAX, &text, NULL) &&
                 text.len && process_place_parse_lock(text.data, text.len, &written, &child) &&
                 proc_stat(child, &stat) && stat.parent == supervisor;
    buf_clear(&text);
    return right ? child : 0;
}

bool process_place_signal(int lock, int signal_number) {
    ProcStat stat;
    pid_t pid = process_place_supervisor(lock);
    return pid && proc_is_ours(pid) && proc_stat(pid, &stat) &&
           process_place_supervisor(lock) == pid && proc_signal(pid, stat.start, signal_number);
}

/* ---- removing ---- */

static void remove_files(int place, bool lock) {
    static const char *const names[] = {PLACE_OUT, PLACE_ERR, PLACE_STATUS, PLACE_STATUS_NEW};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlinkat(place, names[i], 0);
    if (lock) unlinkat(place, PLACE_LOCK, 0);
}

void process_place_clear(int place) {
    remove_files(place, false);
}

/* A link in the place's stead is not followed. */
void process_place_remove(const char *path) {
    int place = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (place < 0) return;
    remove_files(place, true);
    close(place);
    rmdir(path);
}
