/* The supervisor's life: settle (own session, own descriptors), start the child, watch until it has
 * exited and its output is drained, record, exit.
 *
 * All waiting is one poll() over the signals, the two outputs and the input, with the nearest of
 * three deadlines:
 *
 *     timeout   the child's time is up: SIGTERM        held while frozen
 *     kill      the grace after SIGTERM is over: SIGKILL
 *     drain     the child is gone but somebody else keeps its output open: enough
 *
 * The child stays a zombie until the very end: as long as it is one, its group's number is taken
 * and a signal to the group meets nobody else. */
#define _GNU_SOURCE
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *const place_streams[2] = {"out", "err"};

enum {
    DRAIN_MS = 200,        /* for descendants that keep the output open */
    DRAIN_READS = 32,      /* what may still be in a pipe by then, and a little more */
    FD_FIRST_FREE = 6,     /* after 0, 1, 2 and the three of Fd */
    FD_OUT_OF_THE_WAY = 16 /* where descriptors wait while the low numbers are put in order */
};

/* The supervisor's own descriptors, where settle() puts them. */
typedef enum Fd { FD_PLACE = 3, FD_LOCK, FD_REPORT } Fd;

static const int64_t NEVER = INT64_MAX;

typedef struct Stream {
    int from; /* -1: at its end */
    int file; /* -1: there is none, nothing is kept */
    uint64_t len, kept;
    uint64_t tailed; /* bytes that went to the ring behind those */
} Stream;

typedef struct Supervisor {
    const ProcessOptions *options;
    pid_t child;
    int signals;
    int input; /* -1: all is written, or nobody reads it */
    size_t written;
    Stream streams[2];
    int64_t started, finished; /* milliseconds since 1970 */
    int64_t timeout, kill, drain;
    int64_t frozen; /* since when; NEVER: it is not */
    bool ending, exited;
    ProcessEnd end;
    int code;
} Supervisor;

static char packet[1 + MESSAGE_MAX]; /* the first byte is the kind of message */

static int64_t clock_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t now_ms(void) {
    return clock_ms(CLOCK_MONOTONIC);
}

/* ---- text without stdio ---- */

typedef struct Line {
    char text[STATUS_MAX];
    size_t len;
} Line;

static void line_number(Line *line, int64_t number) {
    char digits[24];
    size_t n = 0;
    uint64_t rest = number < 0 ? 0 : (uint64_t)number;
    do {
        digits[n++] = (char)('0' + rest % 10);
    } while (rest /= 10);
    while (n) {
        line->text[line->len++] = digits[--n];
    }
    line->text[line->len++] = ' ';
}

static void line_end(Line *line) {
    line->text[line->len - 1] = '\n';
}

/* ---- settling ---- */

static void close_from(int first) {
    if (close_range((unsigned)first, ~0U, 0) != 0) {
        for (int fd = first, n = (int)sysconf(_SC_OPEN_MAX); fd < n; fd++) close(fd);
    }
}

/* Puts the descriptors we need at their numbers and closes the others, so that no pipe, terminal,
 * lock or database of ours is kept open by a process that may outlive us. */
static bool settle_descriptors(const SupervisorTask *task) {
    const int keep[] = {task->place, task->lock, task->report};
    int aside[3];
    for (int i = 0; i < 3; i++) {
        aside[i] = fcntl(keep[i], F_DUPFD_CLOEXEC, FD_OUT_OF_THE_WAY);
        if (aside[i] < 0) return false;
    }
    for (int i = 0; i < 3; i++) {
        if (dup3(aside[i], FD_PLACE + i, O_CLOEXEC) < 0) return false;
    }
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return false;
    for (int fd = 0; fd < 3; fd++) {
        if (dup2(nothing, fd) < 0) return false;
    }
    close_from(FD_FIRST_FREE);
    return true;
}

/* After the descriptors, whose numbers may be above it. */
static void settle_limits(const SupervisorTask *task) {
    if (task->descriptors) setrlimit(RLIMIT_NOFILE, task->descriptors);
}

static bool settle_signals(Supervisor *s) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SUPERVISOR_END);
    sigaddset(&set, SUPERVISOR_FREEZE);
    sigaddset(&set, SUPERVISOR_THAW);
    signal(SIGCHLD, SIG_DFL);
    s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signals >= 0;
}

/* ---- telling ---- */

static void tell(int kind, const void *bytes, size_t len) {
    char message[1 + STATUS_MAX];
    message[0] = (char)kind;
    memcpy(message + 1, bytes, len);
    send(FD_REPORT, message, 1 + len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void write_status(const Line *line) {
    int fd = openat(FD_PLACE, PLACE_STATUS_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return;
    bool whole = write(fd, line->text, line->len) == (ssize_t)line->len;
    close(fd);
    if (whole) {
        renameat(FD_PLACE, PLACE_STATUS_NEW, FD_PLACE, PLACE_STATUS);
    }
}

/* The order is the one in which process.c reads it. */
static _Noreturn void record_and_exit(Supervisor *s) {
    Line line = {.len = 0};
    line_number(&line, (int64_t)s->end);
    line_number(&line, s->code);
    for (int i = 0; i < 2; i++) {
        line_number(&line, (int64_t)s->streams[i].len);
        line_number(&line, (int64_t)s->streams[i].kept);
    }
    line_number(&line, s->started);
    line_number(&line, s->finished);
    line_end(&line);
    write_status(&line);
    tell(MESSAGE_STATUS, line.text, line.len);
    _exit(0);
}

static _Noreturn void never_started(Supervisor *s, int error) {
    s->end = PROCESS_FAILED;
    s->code = error;
    s->finished = clock_ms(CLOCK_REALTIME);
    record_and_exit(s);
}

/* ---- starting ---- */

typedef struct ChildEnds {
    int fds[3];
} ChildEnds;

/* From here on the place is one whose child has run: whoever finds it must not start another. On
 * disk before the program is, since the machine may stop too. */
static bool record_start(pid_t supervisor) {
    Line line = {.len = 0};
    line_number(&line, supervisor);
    line_number(&line, getpid());
    line_end(&line);
    return pwrite(FD_LOCK, line.text, line.len, 0) == (ssize_t)line.len && fdatasync(FD_LOCK) == 0;
}

/* All of them: the C library keeps two for itself, which signal() leaves as they were inherited. To
 * the kernel zeros are the default action. */
static void reset_signals(void) {
    static const long default_action[8] = {0};
    for (int number = 1; number < NSIG; number++) {
        syscall(SYS_rt_sigaction, number, default_action, NULL, NSIG / 8);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child, which has our memory until it is the program. Returns only when it cannot be. */
static int become(const ProcessOptions *options, const ChildEnds *ends, pid_t supervisor) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor) return ESRCH;
    setsid();
    for (int fd = 0; fd < 3; fd++) {
        if (ends->fds[fd] >= 0 && dup2(ends->fds[fd], fd) < 0) return errno;
    }
    if (options->cwd && chdir(options->cwd) != 0) return errno;
    if (!record_start(supervisor)) return errno ? errno : EIO;
    reset_signals();
    const char *const *ours = (const char *const *)environ;
    execvpe(options->argv[0], (char *const *)(uintptr_t)options->argv,
            (char *const *)(uintptr_t)(options->env ? options->env : ours));
    return errno;
}

static void start_child(Supervisor *s, const ChildEnds *ends) {
    volatile int error = 0;
    pid_t supervisor = getpid();
    pid_t child = vfork();
    if (child == 0) {
        error = become(s->options, ends, supervisor);
        _exit(127);
    }
    if (child < 0) never_started(s, errno);
    if (error) {
        waitpid(child, NULL, 0);
        never_started(s, error);
    }
    s->child = child;
}

static int start_stream(Supervisor *s, int i) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) never_started(s, errno);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    s->streams[i].from = ends[0];
    s->streams[i].file =
        openat(FD_PLACE, place_streams[i], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return ends[1];
}

static int start_input(Supervisor *s) {
    int ends[2];
    if (!s->options->input) return -1;
    if (pipe2(ends, O_CLOEXEC) != 0) never_started(s, errno);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    s->input = ends[1];
    return ends[0];
}

static void start(Supervisor *s) {
    ChildEnds ends = {{start_input(s), start_stream(s, 0), start_stream(s, 1)}};
    start_child(s, &ends);
    for (int fd = 0; fd < 3; fd++) {
        if (ends.fds[fd] >= 0) close(ends.fds[fd]);
    }
    /* Only now, since the child's folder may be relative to ours. */
    if (chdir("/") != 0) {
        /* The folder we were started in stays busy; nothing else depends on it. */
    }
    if (s->options->timeout_ms) s->timeout = now_ms() + (int64_t)s->options->timeout_ms;
    tell(MESSAGE_PID, &s->child, sizeof s->child);
}

/* ---- its output and input ---- */

static void close_stream(Stream *stream) {
    if (stream->from >= 0) close(stream->from);
    stream->from = -1;
}

static void keep_head(Supervisor *s, int i, size_t some) {
    Stream *stream = &s->streams[i];
    ssize_t kept = stream->file >= 0 ? write(stream->file, packet + 1, some) : -1;
    if (kept > 0) stream->kept += (uint64_t)kept;
    if (kept != (ssize_t)some && stream->file >= 0) {
        close(stream->file); /* a hole would be worse than an early end */
        stream->file = -1;
    }
    packet[0] = (char)(i ? MESSAGE_ERR : MESSAGE_OUT);
    send(FD_REPORT, packet, 1 + some, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Behind what is kept of the beginning: the newest bytes take the place of the oldest. */
static void keep_tail(Stream *stream, const char *bytes, size_t n) {
    if (n > PROCESS_TAIL) {
        stream->tailed += n - PROCESS_TAIL;
        bytes += n - PROCESS_TAIL;
        n = PROCESS_TAIL;
    }
    while (n && stream->file >= 0) {
        size_t at = (size_t)(stream->tailed % PROCESS_TAIL), some = PROCESS_TAIL - at;
        some = n < some ? n : some;
        if (pwrite(stream->file, bytes, some, (off_t)(stream->kept + at)) != (ssize_t)some) return;
        stream->tailed += some;
        bytes += some;
        n -= some;
    }
}

static void keep(Supervisor *s, int i, size_t n) {
    Stream *stream = &s->streams[i];
    uint64_t room = stream->len < s->options->max_output ? s->options->max_output - stream->len : 0;
    size_t some = n < room ? n : (size_t)room;
    stream->len += n;
    if (some) keep_head(s, i, some);
    keep_tail(stream, packet + 1 + some, n - some);
}
/* Whether there may be more at once. */
static bool read_stream(Supervisor *s, int i) {
    Stream *stream = &s->streams[i];
    if (stream->from < 0) return false;
    ssize_t n = read(stream->from, packet + 1, MESSAGE_MAX);
    if (n > 0) {
        keep(s, i, (size_t)n);
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) close_stream(stream);
    return false;
}

static void write_input(Supervisor *s) {
    size_t left = s->options->input_len - s->written;
    ssize_t n = left ? write(s->input, s->options->input + s->written, left) : 0;
    if (n > 0) s->written += (size_t)n;
    bool failed = n < 0 && errno != EAGAIN && errno != EINTR;
    if (failed || s->written == s->options->input_len) {
        close(s->input);
        s->input = -1;
    }
}

/* ---- orders ---- */

static void thaw(Supervisor *s) {
    if (s->frozen == NEVER) return;
    if (s->timeout != NEVER) s->timeout += now_ms() - s->frozen;
    s->frozen = NEVER;
    kill(-s->child, SIGCONT);
}

static void freeze(Supervisor *s) {
    if (s->frozen != NEVER || s->ending || s->exited) return;
    s->frozen = now_ms();
    kill(-s->child, SIGSTOP);
}

static void notice_exit(Supervisor *s) {
    siginfo_t info = {.si_pid = 0};
    if (s->exited || waitid(P_PID, (id_t)s->child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0) {
        return;
    }
    s->exited = true;
    s->finished = clock_ms(CLOCK_REALTIME);
    s->drain = now_ms() + DRAIN_MS;
    s->timeout = s->kill = NEVER;
    s->code = info.si_status;
    if (!s->ending) s->end = info.si_code == CLD_EXITED ? PROCESS_EXITED : PROCESS_SIGNALED;
}

static void end(Supervisor *s, ProcessEnd why) {
    notice_exit(s);
    if (s->ending || s->exited) return;
    s->ending = true;
    s->end = why;
    s->timeout = NEVER;
    s->kill = now_ms() + (int64_t)(s->options->grace_ms ? s->options->grace_ms : GRACE_MS);
    kill(-s->child, SIGTERM);
    thaw(s); /* what is stopped cannot end */
}

static void take_orders(Supervisor *s) {
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof info) == sizeof info) {
        int number = (int)info.ssi_signo;
        if (number == SUPERVISOR_END) end(s, PROCESS_ENDED);
        if (number == SUPERVISOR_FREEZE) freeze(s);
        if (number == SUPERVISOR_THAW) thaw(s);
    }
    notice_exit(s);
}

/* ---- watching ---- */

static int64_t earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int poll_timeout(const Supervisor *s) {
    int64_t timeout = s->frozen == NEVER ? s->timeout : NEVER;
    int64_t next = earlier(earlier(timeout, s->kill), s->drain);
    if (next == NEVER) return -1;
    int64_t left = next - now_ms();
    return left <= 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

static void keep_deadlines(Supervisor *s) {
    int64_t now = now_ms();
    if (s->frozen == NEVER && now >= s->timeout) end(s, PROCESS_TIMEOUT);
    if (now >= s->kill) {
        s->kill = NEVER;
        kill(-s->child, SIGKILL);
    }
}

static void watch_once(Supervisor *s) {
    struct pollfd fds[] = {{s->signals, POLLIN, 0},
                           {s->streams[0].from, POLLIN, 0},
                           {s->streams[1].from, POLLIN, 0},
                           {s->input, POLLOUT, 0}};
    if (poll(fds, 4, poll_timeout(s)) < 0) return;
    if (fds[1].revents) read_stream(s, 0);
    if (fds[2].revents) read_stream(s, 1);
    if (fds[3].revents) write_input(s);
    if (fds[0].revents) take_orders(s);
    keep_deadlines(s);
}

static bool drained(const Supervisor *s) {
    return s->streams[0].from < 0 && s->streams[1].from < 0;
}

/* Ends what is left of the group and takes what it had already written. */
static void finish(Supervisor *s) {
    kill(-s->child, SIGKILL);
    for (int i = 0; i < 2; i++) {
        for (int n = 0; n < DRAIN_READS && read_stream(s, i); n++) {}
    }
    waitpid(s->child, NULL, 0);
}

_Noreturn void supervise(const SupervisorTask *task) {
    Supervisor s = {.options = task->options,
                    .input = -1,
                    .streams = {{.from = -1, .file = -1}, {.from = -1, .file = -1}},
                    .started = clock_ms(CLOCK_REALTIME),
                    .timeout = NEVER,
                    .kill = NEVER,
                    .drain = NEVER,
                    .frozen = NEVER};
    setsid();
    prctl(PR_SET_NAME, "pawl-supervisor");
    if (!settle_descriptors(task)) _exit(1);
    settle_limits(task);
    if (!settle_signals(&s)) never_started(&s, errno);
    start(&s);
    while (!s.exited || (!drained(&s) && now_ms() < s.drain)) {
        watch_once(&s);
    }
    finish(&s);
    record_and_exit(&s);
}
