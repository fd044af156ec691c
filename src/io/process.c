/* Our side of a process: making or finding its place, starting the supervisor, and waiting.
 *
 * A process we started is watched through the supervisor's socket: its end is the supervisor's end,
 * and only then is the supervisor reaped, so that until then its number is its own. One that we
 * attached to is watched through the lock in the place, a few times a second; so is anything whose
 * end is known before process_start() returns, because callbacks come from the loop.
 *
 * Who holds the lock decides what a place is:
 *
 *     status there                      over
 *     lock held                         runs
 *     lock free, child's number in it   the supervisor was killed: lost
 *     lock free, nothing in it          never started: ours to start, as we hold the lock now */
#include "process.h"

#include "mem.h"
#include "spawn.h"
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const place_streams[2] = {PLACE_OUT, PLACE_ERR};

enum {
    ATTACHED_POLL_MS = 50,
    MESSAGES_A_TURN = 16, /* so that one that prints all day does not keep the loop to itself */
    STOP_POLL_MS = 20,
    STOP_MS = GRACE_MS + 1000,
};

struct Process {
    uv_poll_t messages; /* of a process we started */
    uv_timer_t timer;   /* of one that we attached to, or that is over already */
    int open_handles;
    char *place;
    void (*on_output)(void *ctx, int stream, const char *bytes, size_t len);
    void (*on_exit)(void *ctx, const ProcessResult *result);
    void *ctx;
    bool attached, over, freed;
    bool end_wanted;  /* said again until it is over: the supervisor may not be known yet */
    int report;       /* our end of the socket; -1: none */
    pid_t supervisor; /* ours to reap; 0: none */
    pid_t child;
    int lock;        /* of an attached one; -1: none */
    int spawn_error; /* an errno: it cannot even be tried */
    char status[STATUS_MAX + 1];
    ProcessResult result;
};

/* ---- supervisors that nobody waits for any more ---- */

typedef struct Abandoned {
    pid_t *pids;
    size_t n, cap;
} Abandoned;

/* Those that this thread let go of and that will need reaping if we live longer than they. */
static _Thread_local Abandoned abandoned;

static void reap_abandoned(void) {
    for (size_t i = abandoned.n; i-- > 0;) {
        if (waitpid(abandoned.pids[i], NULL, WNOHANG) != 0) {
            abandoned.pids[i] = abandoned.pids[--abandoned.n];
        }
    }
    if (abandoned.n == 0) {
        mem_free(abandoned.pids);
        abandoned = (Abandoned){0};
    }
}

/* ---- reading a place ---- */

static int open_in(const char *place, const char *name, int flags) {
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", place, name) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, flags | O_CLOEXEC, 0600);
}

/* A small file, as a C string; false when it is not there or empty. */
static bool read_small(int fd, char *text, size_t size) {
    ssize_t n = fd < 0 ? 0 : pread(fd, text, size - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static bool read_status(Process *p) {
    int fd = open_in(p->place, PLACE_STATUS, O_RDONLY);
    bool there = read_small(fd, p->status, sizeof p->status);
    if (fd >= 0) close(fd);
    return there;
}

/* False when no child was started in the place. */
static bool read_lock(int lock, pid_t *supervisor, pid_t *child) {
    char text[STATUS_MAX];
    return read_small(lock, text, sizeof text) && sscanf(text, "%d %d", supervisor, child) == 2;
}

static bool read_at(int fd, size_t from, size_t n, Buf *out) {
    for (ssize_t got = 1; n && got > 0; n -= got > 0 ? (size_t)got : 0) {
        got = pread(fd, buf_reserve(out, n), n, (off_t)from);
        if (got <= 0) continue;
        buf_advance(out, (size_t)got);
        from += (size_t)got;
    }
    return n == 0;
}

/* What was kept of a stream, and the ring behind it, in order; of a ring that is not whole nothing. False
 * when not all of what was kept is there: after a power failure it may not be. */
static bool read_stream(const Process *p, int stream, uint64_t kept, uint64_t len, Buf *out,
                        Buf *tail) {
    uint64_t beyond = len - kept;
    size_t turn = beyond > PROCESS_TAIL ? (size_t)(beyond % PROCESS_TAIL) : 0;
    size_t all = beyond > PROCESS_TAIL ? PROCESS_TAIL : (size_t)beyond;
    int fd = open_in(p->place, place_streams[stream], O_RDONLY);
    if (fd < 0) return kept == 0;
    bool whole = read_at(fd, 0, kept, out);
    if (!read_at(fd, kept + turn, all - turn, tail) || !read_at(fd, kept, turn, tail)) {
        buf_reset(tail);
    }
    close(fd);
    return whole;
}

static bool read_result(Process *p) {
    ProcessResult *r = &p->result;
    int end;
    uint64_t kept[2];
    if (sscanf(p->status,
               "%d %d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64, &end,
               &r->code, &r->out_len, &kept[0], &r->err_len, &kept[1], &r->started,
               &r->finished) != 8 ||
        end < PROCESS_EXITED || end > PROCESS_FAILED) {
        return false;
    }
    r->end = (ProcessEnd)end;
    return read_stream(p, 0, kept[0], r->out_len, &r->out, &r->out_tail) &&
           read_stream(p, 1, kept[1], r->err_len, &r->err, &r->err_tail);
}

/* ---- the end ---- */

static int64_t wall_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void set_end(Process *p, ProcessEnd end, int code) {
    p->result.end = end;
    p->result.code = code;
    p->result.finished = wall_ms();
}

/* We saw it run a moment ago, so its group's number is still its own. */
static void set_lost(Process *p) {
    if (p->child > 0) kill(-p->child, SIGKILL);
    set_end(p, PROCESS_LOST, 0);
}

static void stop_watching(Process *p) {
    if (!uv_is_closing((uv_handle_t *)&p->timer)) uv_timer_stop(&p->timer);
    if (p->report >= 0) uv_poll_stop(&p->messages);
    if (p->lock >= 0) close(p->lock);
    p->lock = -1;
}

static void finish(Process *p) {
    stop_watching(p);
    p->over = true;
    p->child = 0;
    p->on_exit(p->ctx, &p->result);
}

/* ---- one that we started ---- */

static void supervisor_is_gone(Process *p) {
    while (waitpid(p->supervisor, NULL, 0) < 0 && errno == EINTR) {}
    p->supervisor = 0;
    if (p->status[0] || read_status(p)) {
        if (!read_result(p)) set_end(p, PROCESS_LOST, 0);
    } else { /* killed, or out of descriptors before it could begin */
        pid_t supervisor;
        int lock = open_in(p->place, PLACE_LOCK, O_RDONLY);
        if (read_lock(lock, &supervisor, &p->child)) {
            set_lost(p);
        } else {
            set_end(p, PROCESS_FAILED, EAGAIN);
        }
        if (lock >= 0) close(lock);
    }
    finish(p);
}

static void take_message(Process *p, const char *message, size_t len) {
    const char *bytes = message + 1;
    size_t n = len - 1;
    if ((message[0] == MESSAGE_OUT || message[0] == MESSAGE_ERR) && p->on_output) {
        p->on_output(p->ctx, message[0], bytes, n);
    } else if (message[0] == MESSAGE_PID && n == sizeof p->child) {
        memcpy(&p->child, bytes, n);
    } else if (message[0] == MESSAGE_STATUS && n <= STATUS_MAX) {
        memcpy(p->status, bytes, n);
        p->status[n] = '\0';
    }
}

static void on_messages(uv_poll_t *handle, int status, int events) {
    (void)status;
    (void)events;
    Process *p = handle->data;
    char message[1 + MESSAGE_MAX];
    for (int i = 0; i < MESSAGES_A_TURN && !p->freed; i++) {
        ssize_t n = recv(p->report, message, sizeof message, MSG_DONTWAIT);
        if (n > 0) {
            take_message(p, message, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            supervisor_is_gone(p);
            return;
        } else {
            return;
        }
    }
}

/* Whether the supervisor runs; otherwise errno says why not. lock stays the caller's. */
static bool start_supervisor(Process *p, const ProcessOptions *options, int lock) {
    int ends[2] = {-1, -1}, input = -1, error = 0;
    int place = open_in(p->place, ".", O_RDONLY | O_DIRECTORY);
    if (place < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        error = errno;
    if (!error && options->input) {
        input = spawn_file(p->place, options->input, options->input_len);
        if (input < 0) error = errno;
    }
    if (!error) {
        p->supervisor = spawn(&(SpawnTask){options, false, {place, lock, ends[1], input}});
        error = errno;
    }
    if (p->supervisor) {
        p->report = ends[0];
        ends[0] = -1;
    }
    const int over[] = {place, ends[0], ends[1], input};
    for (int i = 0; i < 4; i++) {
        if (over[i] >= 0) close(over[i]);
    }
    errno = error;
    return p->supervisor != 0;
}

/* ---- one that we found ---- */

/* True once nobody holds the lock any more; then it is ours. */
static bool take_lock(int lock) {
    return flock(lock, LOCK_EX | LOCK_NB) == 0;
}

static void on_timer(uv_timer_t *timer) {
    Process *p = timer->data;
    pid_t supervisor;
    if (p->lock >= 0 && !take_lock(p->lock)) {
        if (!p->child) read_lock(p->lock, &supervisor, &p->child);
        if (p->end_wanted) process_end(p);
        return;
    }
    if (p->spawn_error) {
        set_end(p, PROCESS_FAILED, p->spawn_error);
    } else if (p->lock >= 0 && !read_status(p)) {
        set_lost(p);
    } else if (!p->status[0] || !read_result(p)) {
        set_end(p, PROCESS_LOST, 0);
    }
    finish(p);
}

/* ---- starting ---- */

/* Looks at what the place is (see above) and does what follows from it. False with *err set. */
static bool find_or_spawn(Process *p, const ProcessOptions *options, Error *err) {
    pid_t supervisor, child;
    if (mkdir(p->place, 0700) != 0 && errno != EEXIST) {
        return error_set(err, ERR_IO, "Cannot make the folder %s: %s.", p->place, strerror(errno));
    }
    int lock = open_in(p->place, PLACE_LOCK, O_RDWR | O_CREAT);
    if (lock < 0) {
        return error_set(err, ERR_IO, "Cannot open the file %s/%s: %s.", p->place, PLACE_LOCK,
                         strerror(errno));
    }
    p->attached = true;
    if (!take_lock(lock)) {
        p->lock = lock;
        read_lock(lock, &supervisor, &p->child);
        return true;
    }
    if (!read_status(p) && !read_lock(lock, &supervisor, &child)) {
        p->attached = false;
        if (!start_supervisor(p, options, lock)) p->spawn_error = errno ? errno : EIO;
    }
    close(lock);
    return true;
}

Process *process_start(uv_loop_t *loop, const ProcessOptions *options, Error *err) {
    reap_abandoned();
    Process *p = mem_zalloc(sizeof *p);
    p->place = mem_strndup(options->place, strlen(options->place));
    p->on_output = options->on_output;
    p->on_exit = options->on_exit;
    p->ctx = options->ctx;
    p->report = p->lock = -1;
    p->result.started = wall_ms();
    if (!find_or_spawn(p, options, err)) {
        mem_free(p->place);
        mem_free(p);
        return NULL;
    }
    uv_timer_init(loop, &p->timer);
    p->timer.data = p->messages.data = p;
    p->open_handles = 1;
    if (p->report < 0) {
        uv_timer_start(&p->timer, on_timer, 0, ATTACHED_POLL_MS);
    } else {
        uv_poll_init(loop, &p->messages, p->report);
        uv_poll_start(&p->messages, UV_READABLE, on_messages);
        p->open_handles = 2;
    }
    return p;
}

bool process_attached(const Process *p) {
    return p->attached;
}

int process_pid(const Process *p) {
    return (int)p->child;
}

/* ---- orders ---- */

/* Of an attached process the number in the lock is the supervisor's for as long as it holds it. */
static void order(const Process *p, int signal_number) {
    pid_t supervisor = p->over ? 0 : p->supervisor, child;
    if (p->lock >= 0 && (!read_lock(p->lock, &supervisor, &child) || take_lock(p->lock))) return;
    if (supervisor > 0) kill(supervisor, signal_number);
}

void process_end(Process *p) {
    p->end_wanted = true;
    order(p, SUPERVISOR_END);
}

void process_freeze(Process *p, bool frozen) {
    order(p, frozen ? SUPERVISOR_FREEZE : SUPERVISOR_THAW);
}

/* ---- one that somebody else left behind ---- */

bool process_stop_place(const char *place, Error *err) {
    int lock = open_in(place, PLACE_LOCK, O_RDONLY);
    if (lock < 0) {
        return errno == ENOENT || error_set(err, ERR_IO, "Cannot open the file %s/%s: %s.", place,
                                            PLACE_LOCK, strerror(errno));
    }
    /* Its number counts only while it holds the lock, and is in there only once the child runs. */
    bool ordered = false, ended = take_lock(lock);
    for (int waited = 0; !ended && waited < STOP_MS; waited += STOP_POLL_MS) {
        struct timespec pause = {.tv_nsec = STOP_POLL_MS * 1000000L};
        pid_t supervisor, child;
        ordered = ordered || (read_lock(lock, &supervisor, &child) && !take_lock(lock) &&
                              kill(supervisor, SUPERVISOR_END) == 0);
        nanosleep(&pause, NULL);
        ended = take_lock(lock);
    }
    close(lock);
    return ended || error_set(err, ERR_BUSY,
                              "The command whose output is in %s was told to end and still runs. "
                              "End it by hand; its number is the second one in %s/%s.",
                              place, place, PLACE_LOCK);
}

/* ---- letting go ---- */

static void on_closed(uv_handle_t *handle) {
    Process *p = handle->data;
    if (--p->open_handles > 0) return;
    if (p->report >= 0) close(p->report);
    mem_free(p);
}

void process_free(Process *p) {
    if (!p || p->freed) return;
    stop_watching(p);
    p->freed = true;
    if (p->supervisor) {
        abandoned.pids =
            mem_grow(abandoned.pids, abandoned.n, &abandoned.cap, sizeof *abandoned.pids);
        abandoned.pids[abandoned.n++] = p->supervisor;
    }
    reap_abandoned();
    buf_clear(&p->result.out);
    buf_clear(&p->result.err);
    buf_clear(&p->result.out_tail);
    buf_clear(&p->result.err_tail);
    mem_free(p->place);
    uv_close((uv_handle_t *)&p->timer, on_closed);
    if (p->report >= 0) uv_close((uv_handle_t *)&p->messages, on_closed);
}

const char *environment_get(const char *const *env, const char *name) {
    size_t len = strlen(name);
    for (; env && *env; env++) {
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=') return *env + len + 1;
    }
    return NULL;
}

void process_forget(const char *place) {
    const char *const names[] = {place_streams[0], place_streams[1], PLACE_STATUS, PLACE_STATUS_NEW,
                                 PLACE_LOCK};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s", place, names[i]) < sizeof path) {
            unlink(path);
        }
    }
    rmdir(place);
}
