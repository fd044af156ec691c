/* The supervisor's life: settle (own session, own descriptors), start the child, watch until it has
 * exited and its output is drained, record, exit.
 *
 * All waiting is one poll over the signals, the two outputs and the input, with the nearest of
 * three deadlines:
 *
 *     timeout   the child's time is up: SIGTERM, or the signal that was said        held while frozen
 *     kill      the grace after SIGTERM is over: SIGKILL
 *     drain     the child is gone but somebody else keeps its output open: enough. Where it alone was told to end, they have
 *               the rest of the grace; where the process lingers, there is no end to it but the timeout or an order
 *
 * The child stays a zombie until the very end: as long as it is one, its group's number is taken
 * and a signal to the group meets nobody else.
 *
 * It is a program without a C library (kernel.h): what fails says so by a negative number. */
#define _GNU_SOURCE
#include "supervisor.h"

#include "kernel.h"
#include "mask_scan.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

enum {
    DRAIN_MS = 200,       /* for descendants that keep the output open */
    DRAIN_READS = 32,     /* what may still be in a pipe by then, and a little more */
    SIGNALS = 64,         /* that the kernel has */
    EXIT_UNSTARTED = 127, /* of one that did not become the program */
    NEW_FILE = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
};

static const int64_t NEVER = INT64_MAX;

typedef struct Stream {
    int from; /* -1: at its end */
    int file; /* -1: there is none, nothing is kept */
    uint64_t len, kept;
    uint64_t tailed; /* bytes that went to the ring behind those */
    /* with a mask: what was read and is not decided yet */
    char *held;
    size_t nheld, covered;
    bool hiding;
} Stream;

typedef struct Supervisor {
    char **argv, **env;
    uint64_t numbers[NUMBERS];
    int pid, child;
    int *error; /* of a start that failed: shared with the child */
    int signals;
    const char *input;
    int input_to; /* -1: all is written, or nobody reads it */
    size_t written;
    Stream streams[2];
    MaskTable mask;            /* without patterns: nothing is to be hidden */
    size_t packed;             /* bytes in packet that are on their way out of it */
    int64_t started, finished; /* milliseconds since 1970 */
    int64_t timeout, kill, drain;
    int64_t frozen; /* since when; NEVER: it is not */
    bool ending, exited;
    ProcessEnd end;
    int code;
} Supervisor;

static char packet[1 + MESSAGE_MAX]; /* the first byte is the kind of message */
static uint8_t mask_firsts[MASK_FIRSTS];

static int64_t clock_ms(clockid_t clock) {
    struct timespec t = {0};
    kernel(SYS_clock_gettime, clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t now_ms(void) {
    return clock_ms(CLOCK_MONOTONIC);
}

_Noreturn static void leave(int code) {
    for (;;) kernel(SYS_exit_group, code);
}

/* ---- text ---- */

typedef struct Line {
    char text[STATUS_MAX];
    size_t len;
} Line;

static void line_number(Line *line, int64_t number, char after) {
    char digits[24];
    size_t n = 0;
    uint64_t rest = number < 0 ? 0 : (uint64_t)number;
    do {
        digits[n++] = (char)('0' + rest % 10);
    } while (rest /= 10);
    while (n) line->text[line->len++] = digits[--n];
    line->text[line->len++] = after;
}

static void read_numbers(Supervisor *s) {
    const char *at = s->argv[ARG_NUMBERS];
    for (int i = 0; i < NUMBERS; i++) {
        for (; *at >= '0' && *at <= '9'; at++) {
            s->numbers[i] = s->numbers[i] * 10 + (uint64_t)(*at - '0');
        }
        if (*at) at++;
    }
}

/* ---- settling ---- */

static void close_from(unsigned first) {
    struct rlimit limit = {0};
#ifdef SYS_close_range
    if (kernel(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
    kernel(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
    for (; first < limit.rlim_cur; first++) kernel(SYS_close, first);
}

/* After the descriptors, whose numbers may be above it. */
static void set_limit(const Supervisor *s) {
    struct rlimit limit = {s->numbers[NUMBER_DESCRIPTORS], s->numbers[NUMBER_DESCRIPTORS_MAX]};
    if (limit.rlim_cur) kernel(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
}

/* To the kernel zeros are the default action, and no mask. */
static void reset_signals(void) {
    static const long zeros[8] = {0};
    for (int number = 1; number <= SIGNALS; number++) {
        kernel(SYS_rt_sigaction, number, zeros, NULL, SIGNALS / 8);
    }
    kernel(SYS_rt_sigprocmask, SIG_SETMASK, zeros, NULL, SIGNALS / 8);
}

/* A session of our own, and no descriptor that we were not given: no pipe, terminal, lock or database
 * is kept open by a process that may outlive its starter. False: nothing can be told. */
static bool settle(Supervisor *s) {
    unsigned end = s->numbers[NUMBER_MASK_LEN]    ? FD_END
                   : s->numbers[NUMBER_HAS_INPUT] ? FD_MASK
                                                  : FD_INPUT;
    kernel(SYS_setsid);
    kernel(SYS_prctl, PR_SET_NAME, "pawl-supervisor");
    kernel(SYS_prctl, PR_SET_DUMPABLE, 0);
    close_from(end);
    for (unsigned fd = FD_FIRST; fd < end; fd++) {
        if (kernel(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC) < 0) return false;
    }
    long nothing = kernel(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
    for (int fd = 0; fd < FD_FIRST; fd++) {
        if (fd != nothing && kernel(SYS_dup3, nothing, fd, 0) < 0) return false;
    }
    if (nothing >= FD_FIRST) kernel(SYS_close, nothing);
    set_limit(s);
    /* Who attaches to the place asks the kernel who we are. */
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE_SUPERVISOR, .l_len = 1};
    kernel(SYS_fcntl, FD_LOCK, F_SETLK, &lock);
    return true;
}

/* ---- telling ---- */

static void tell(int kind, const void *bytes, size_t len) {
    char message[1 + STATUS_MAX];
    message[0] = (char)kind;
    memcpy(message + 1, bytes, len);
    kernel(SYS_sendto, FD_REPORT, message, 1 + len, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
}

static void write_status(const Line *line) {
    kernel(SYS_unlinkat, FD_PLACE, PLACE_STATUS_NEW, 0); /* the child may have put it there */
    long fd = kernel(SYS_openat, FD_PLACE, PLACE_STATUS_NEW, NEW_FILE, 0600);
    if (fd < 0) return;
    bool whole = kernel(SYS_write, fd, line->text, line->len) == (long)line->len;
    kernel(SYS_close, fd);
    if (whole) kernel(SYS_renameat2, FD_PLACE, PLACE_STATUS_NEW, FD_PLACE, PLACE_STATUS, 0);
}

/* The order is the one in which process.c reads it. */
_Noreturn static void record_and_exit(Supervisor *s) {
    Line line = {.len = 0};
    line_number(&line, (int64_t)s->end, ' ');
    line_number(&line, s->code, ' ');
    for (int i = 0; i < 2; i++) {
        line_number(&line, (int64_t)s->streams[i].len, ' ');
        line_number(&line, (int64_t)s->streams[i].kept, ' ');
    }
    line_number(&line, s->started, ' ');
    line_number(&line, s->finished, '\n');
    write_status(&line);
    tell(MESSAGE_STATUS, line.text, line.len);
    leave(0);
}

_Noreturn static void never_started(Supervisor *s, long error) {
    s->end = PROCESS_FAILED;
    s->code = (int)-error;
    s->finished = clock_ms(CLOCK_REALTIME);
    record_and_exit(s);
}

/* What cannot fail but for a machine that has nothing left. */
static int must(Supervisor *s, long result) {
    if (result < 0) never_started(s, result);
    return (int)result;
}

/* ---- becoming a program ---- */

/* One that is no program but a text is one for the shell; the arguments before the command are not
 * needed any more. */
static long execute(const Supervisor *s, const char *path) {
    char **argv = s->argv + ARG_COMMAND;
    long error = kernel(SYS_execve, path, argv, s->env);
    if (error != -ENOEXEC) return error;
    argv[0] = (char *)(uintptr_t)path;
    argv[-1] = (char *)(uintptr_t) "/bin/sh";
    return kernel(SYS_execve, argv[-1], argv - 1, s->env);
}

/* Returns only when it cannot be found or executed: minus an errno. */
static long execute_in_search(const Supervisor *s) {
    const char *name = s->argv[ARG_COMMAND], *dir = s->argv[ARG_SEARCH];
    char path[PATH_MAX];
    size_t len = 0;
    bool denied = false;
    for (; name[len]; len++) {
        if (name[len] == '/') return execute(s, name);
    }
    for (bool more = len > 0; more;) {
        size_t n = 0, size = 0;
        for (; dir[n] && dir[n] != ':'; n++) {}
        more = dir[n] == ':';
        if (n + len + 2 <= sizeof path) {
            memcpy(path, dir, n);
            size = n;
            if (n) path[size++] = '/';
            memcpy(path + size, name, len + 1);
            long error = execute(s, path);
            denied = denied || error == -EACCES;
            bool elsewhere = error == -ENOENT || error == -ENOTDIR || error == -EACCES ||
                             error == -ESTALE || error == -ENODEV || error == -ETIMEDOUT;
            if (!elsewhere) return error;
        }
        dir += n + 1;
    }
    return denied ? -EACCES : -ENOENT;
}

/* ---- a worker ---- */

/* Its starter reads why it did not start where it expects it to speak. */
_Noreturn static void become_worker(Supervisor *s) {
    enum { FDS = 4, LAST = FDS - 1 };
    Line line = {.text = "{\"spawn\":", .len = 9};
    kernel(SYS_setsid);
    kernel(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    if (kernel(SYS_getppid) != (long)s->numbers[NUMBER_PARENT]) leave(EXIT_UNSTARTED);
    for (int fd = 0; fd < FDS; fd++) {
        if (kernel(SYS_dup3, FD_FIRST + fd, fd, 0) < 0) leave(EXIT_UNSTARTED);
    }
    close_from(FDS);
    set_limit(s);
    reset_signals();
    line_number(&line, -execute_in_search(s), '}');
    line.text[line.len++] = '\n';
    kernel(SYS_write, LAST, line.text, line.len);
    leave(EXIT_UNSTARTED);
}

/* ---- starting the child ---- */

/* From here on the place is one whose child has run: whoever finds it must not start another. On
 * disk before the program is, since the machine may stop too. */
static long record_start(const Supervisor *s) {
    Line line = {.len = 0};
    line_number(&line, s->pid, ' ');
    line_number(&line, kernel(SYS_getpid), '\n');
    long n = kernel(SYS_pwrite64, FD_LOCK, line.text, line.len, 0);
    return n == (long)line.len ? kernel(SYS_fdatasync, FD_LOCK) : n < 0 ? n : -EIO;
}

/* In the child. Returns only when it cannot be the program: minus an errno. */
static long become_child(const Supervisor *s, const int ends[3]) {
    const char *folder = s->argv[ARG_FOLDER];
    long error = 0;
    kernel(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    if (kernel(SYS_getppid) != s->pid) return -ESRCH;
    kernel(SYS_setsid);
    for (int fd = 0; fd < 3 && error >= 0; fd++) {
        if (ends[fd] >= 0) error = kernel(SYS_dup3, ends[fd], fd, 0);
    }
    if (error >= 0 && *folder) error = kernel(SYS_chdir, folder);
    if (error >= 0) error = record_start(s);
    if (error < 0) return error;
    reset_signals();
    return execute_in_search(s);
}

/* We wait until it is the program, or is not going to be, and then know. */
static void start_child(Supervisor *s, const int ends[3]) {
    long shared = kernel(SYS_mmap, NULL, sizeof *s->error, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    s->error = shared < 0 && shared > -4096 ? NULL : (int *)shared;
    if (!s->error) never_started(s, shared);
    s->child = must(s, kernel(SYS_clone, CLONE_VFORK | SIGCHLD));
    if (s->child == 0) {
        *s->error = (int)become_child(s, ends);
        leave(EXIT_UNSTARTED);
    }
    if (*s->error) {
        kernel(SYS_wait4, s->child, NULL, 0, NULL);
        never_started(s, *s->error);
    }
}

/* The other end, for the child. */
static int open_stream(Supervisor *s, int i) {
    int ends[2];
    must(s, kernel(SYS_pipe2, ends, O_CLOEXEC));
    kernel(SYS_fcntl, ends[0], F_SETFL, O_NONBLOCK);
    s->streams[i].from = ends[0];
    s->streams[i].file =
        (int)kernel(SYS_openat, FD_PLACE, i ? PLACE_ERR : PLACE_OUT, NEW_FILE, 0600);
    return ends[1];
}

static int open_input(Supervisor *s) {
    size_t len = s->numbers[NUMBER_INPUT_LEN];
    int ends[2];
    if (!s->numbers[NUMBER_HAS_INPUT]) return -1;
    if (len) {
        long at = kernel(SYS_mmap, NULL, len, PROT_READ, MAP_PRIVATE, FD_INPUT, 0);
        if (at < 0 && at > -4096) never_started(s, at);
        s->input = (const char *)at;
    }
    must(s, kernel(SYS_pipe2, ends, O_CLOEXEC));
    kernel(SYS_fcntl, ends[1], F_SETFL, O_NONBLOCK);
    s->input_to = ends[1];
    return ends[0];
}

static char *map(Supervisor *s, size_t len, int fd) {
    long at = kernel(SYS_mmap, NULL, len, fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ,
                     MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    if (at < 0 && at > -4096) never_started(s, at);
    return (char *)at;
}

/* Before there is a child: without its mask none is started. */
static void open_mask(Supervisor *s) {
    size_t len = s->numbers[NUMBER_MASK_LEN];
    if (!len) return;
    const char *at = map(s, len, FD_MASK);
    const MaskHead *head = (const MaskHead *)(const void *)at;
    s->mask.patterns = (const MaskPattern *)(const void *)(at + sizeof *head);
    s->mask.n = head->n;
    s->mask.bytes = at + sizeof *head + head->n * sizeof *s->mask.patterns;
    s->mask.firsts = mask_firsts;
    for (size_t i = 0; i < s->mask.n; i++) mask_note_first(mask_firsts, s->mask.patterns[i].first);
    for (int i = 0; i < 2; i++) {
        s->streams[i].held = map(s, (size_t)MASK_WRAPPED * head->longest + MESSAGE_MAX, -1);
    }
}

static void start(Supervisor *s) {
    uint64_t orders = 1ULL << (SIGCHLD - 1) | 1ULL << (SUPERVISOR_END - 1) |
                      1ULL << (SUPERVISOR_FREEZE - 1) | 1ULL << (SUPERVISOR_THAW - 1);
    static const long default_action[8] = {0};
    kernel(SYS_rt_sigaction, SIGCHLD, default_action, NULL, SIGNALS / 8);
    s->signals =
        must(s, kernel(SYS_signalfd4, -1, &orders, sizeof orders, SFD_CLOEXEC | SFD_NONBLOCK));
    open_mask(s);
    int in = open_input(s), out = open_stream(s, 0), err = open_stream(s, 1);
    start_child(s, (const int[3]){in, out, s->numbers[NUMBER_JOINED] ? out : err});
    if (in >= 0) kernel(SYS_close, in);
    kernel(SYS_close, out);
    kernel(SYS_close, err);
    /* Only now, since the child's folder may be relative to ours. */
    kernel(SYS_chdir, "/");
    if (s->numbers[NUMBER_TIMEOUT]) s->timeout = now_ms() + (int64_t)s->numbers[NUMBER_TIMEOUT];
    tell(MESSAGE_PID, &s->child, sizeof s->child);
}

/* ---- its output and input ---- */

static void keep_head(Supervisor *s, int i, size_t some) {
    Stream *stream = &s->streams[i];
    long kept = stream->file >= 0 ? kernel(SYS_write, stream->file, packet + 1, some) : -1;
    if (kept > 0) stream->kept += (uint64_t)kept;
    if (kept != (long)some && stream->file >= 0) {
        kernel(SYS_close, stream->file); /* a hole would be worse than an early end */
        stream->file = -1;
    }
    packet[0] = (char)(i ? MESSAGE_ERR : MESSAGE_OUT);
    kernel(SYS_sendto, FD_REPORT, packet, 1 + some, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
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
        if (kernel(SYS_pwrite64, stream->file, bytes, some, stream->kept + at) != (long)some) {
            return;
        }
        stream->tailed += some;
        bytes += some;
        n -= some;
    }
}

/* Bytes of a stream that are in the packet, to be kept and told. */
static void keep(Supervisor *s, int i, size_t n) {
    Stream *stream = &s->streams[i];
    uint64_t most = s->numbers[NUMBER_MAX_OUTPUT];
    uint64_t room = stream->len < most ? most - stream->len : 0;
    size_t some = (uint64_t)n < room ? n : (size_t)room;
    stream->len += (uint64_t)n;
    if (some) keep_head(s, i, some);
    keep_tail(stream, packet + 1 + some, n - some);
}

/* ---- without secrets ---- */

typedef struct Packing {
    Supervisor *s;
    int stream;
} Packing;

static void pack(void *ctx, const char *bytes, size_t len) {
    const Packing *p = ctx;
    Supervisor *s = p->s;
    while (len) {
        size_t room = MESSAGE_MAX - s->packed, n = len < room ? len : room;
        memcpy(packet + 1 + s->packed, bytes, n);
        s->packed += n;
        bytes += n;
        len -= n;
        if (s->packed == MESSAGE_MAX) {
            keep(s, p->stream, s->packed);
            s->packed = 0;
        }
    }
}

/* What is decided of what the stream holds goes on; the rest is moved to the front. */
static void hide(Supervisor *s, int i, bool last) {
    Stream *stream = &s->streams[i];
    Packing packing = {s, i};
    MaskScan scan = {.text = stream->held,
                     .len = stream->nheld,
                     .covered = stream->covered,
                     .hiding = stream->hiding,
                     .emit = pack,
                     .ctx = &packing};
    mask_scan(&s->mask, &scan, last);
    stream->covered = scan.covered > scan.at ? scan.covered - scan.at : 0;
    stream->hiding = scan.hiding;
    stream->nheld -= scan.at;
    for (size_t k = 0; k < stream->nheld; k++) stream->held[k] = stream->held[scan.at + k];
    if (s->packed) keep(s, i, s->packed);
    s->packed = 0;
}

/* The output has ended: what was held back is no secret. */
static void end_stream(Supervisor *s, int i) {
    if (s->streams[i].held && s->streams[i].nheld) hide(s, i, true);
}

/* Whether there may be more at once. */
static bool read_stream(Supervisor *s, int i) {
    Stream *stream = &s->streams[i];
    if (stream->from < 0) return false;
    bool held = stream->held != NULL;
    long n = kernel(SYS_read, stream->from, held ? stream->held + stream->nheld : packet + 1,
                    MESSAGE_MAX);
    if (n == -EAGAIN || n == -EINTR) return false;
    if (n <= 0) {
        kernel(SYS_close, stream->from);
        stream->from = -1;
        return false;
    }
    if (held) {
        stream->nheld += (size_t)n;
        hide(s, i, false);
    } else {
        keep(s, i, (size_t)n);
    }
    return true;
}

static void write_input(Supervisor *s) {
    size_t left = s->numbers[NUMBER_INPUT_LEN] - s->written;
    long n = left ? kernel(SYS_write, s->input_to, s->input + s->written, left) : 0;
    if (n == -EAGAIN || n == -EINTR) return;
    if (n > 0) s->written += (size_t)n;
    if (n < 0 || s->written == s->numbers[NUMBER_INPUT_LEN]) {
        kernel(SYS_close, s->input_to);
        s->input_to = -1;
    }
}

/* ---- orders ---- */

static void thaw(Supervisor *s) {
    if (s->frozen == NEVER) return;
    if (s->timeout != NEVER) s->timeout += now_ms() - s->frozen;
    s->frozen = NEVER;
    kernel(SYS_kill, -s->child, SIGCONT);
}

/* The child is gone, and others may go on with its output for as long as they like. */
static bool lingers(const Supervisor *s) {
    return s->exited && s->drain == NEVER;
}

static void freeze(Supervisor *s) {
    if (s->frozen != NEVER || s->ending || (s->exited && !lingers(s))) return;
    s->frozen = now_ms();
    kernel(SYS_kill, -s->child, SIGSTOP);
}

static void notice_exit(Supervisor *s) {
    siginfo_t info = {.si_pid = 0};
    if (s->exited ||
        kernel(SYS_waitid, P_PID, s->child, &info, WEXITED | WNOHANG | WNOWAIT, NULL) != 0 ||
        info.si_pid == 0) {
        return;
    }
    s->exited = true;
    s->finished = clock_ms(CLOCK_REALTIME);
    bool lets = s->ending && s->numbers[NUMBER_END_ALONE] && s->kill != NEVER;
    bool stays = !s->ending && s->numbers[NUMBER_LINGERS];
    s->drain = stays ? NEVER : lets ? s->kill : now_ms() + DRAIN_MS;
    s->timeout = stays ? s->timeout : NEVER;
    s->kill = NEVER;
    s->code = info.si_status;
    if (!s->ending) s->end = info.si_code == CLD_EXITED ? PROCESS_EXITED : PROCESS_SIGNALED;
}

static void end(Supervisor *s, ProcessEnd why) {
    uint64_t grace = s->numbers[NUMBER_GRACE];
    notice_exit(s);
    if (s->ending || (s->exited && !lingers(s))) return;
    s->ending = true;
    s->end = why;
    s->timeout = NEVER;
    if (s->exited) {
        s->drain = now_ms();
        return;
    }
    s->kill = now_ms() + (int64_t)(grace ? grace : GRACE_MS);
    uint64_t order = s->numbers[NUMBER_END_SIGNAL];
    kernel(SYS_kill, s->numbers[NUMBER_END_ALONE] ? s->child : -s->child, order ? order : SIGTERM);
    thaw(s); /* what is stopped cannot end */
}

static void take_orders(Supervisor *s) {
    struct signalfd_siginfo info;
    while (kernel(SYS_read, s->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SUPERVISOR_END) end(s, PROCESS_ENDED);
        if (info.ssi_signo == SUPERVISOR_FREEZE) freeze(s);
        if (info.ssi_signo == SUPERVISOR_THAW) thaw(s);
    }
    notice_exit(s);
}

/* ---- watching ---- */

static int64_t earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Waits for what comes first, and does what follows from it. */
static void watch_once(Supervisor *s) {
    struct pollfd fds[] = {{s->signals, POLLIN, 0},
                           {s->streams[0].from, POLLIN, 0},
                           {s->streams[1].from, POLLIN, 0},
                           {s->input_to, POLLOUT, 0}};
    int64_t timeout = s->frozen == NEVER ? s->timeout : NEVER;
    int64_t next = earlier(earlier(timeout, s->kill), s->drain);
    int64_t left = next == NEVER ? 0 : next - now_ms();
    left = left > 0 ? left : 0;
    struct timespec wait = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
    if (kernel(SYS_ppoll, fds, 4, next == NEVER ? NULL : &wait, NULL, 0) < 0) return;
    if (fds[1].revents) read_stream(s, 0);
    if (fds[2].revents) read_stream(s, 1);
    if (fds[3].revents) write_input(s);
    if (fds[0].revents) take_orders(s);
    int64_t now = now_ms();
    if (s->frozen == NEVER && now >= s->timeout) end(s, PROCESS_TIMEOUT);
    if (now >= s->kill) {
        s->kill = NEVER;
        kernel(SYS_kill, -s->child, SIGKILL);
    }
}

_Noreturn static void program(char **argv, char **env) {
    Supervisor s = {.argv = argv,
                    .env = env,
                    .pid = (int)kernel(SYS_getpid),
                    .input_to = -1,
                    .streams = {{.from = -1, .file = -1}, {.from = -1, .file = -1}},
                    .started = clock_ms(CLOCK_REALTIME),
                    .timeout = NEVER,
                    .kill = NEVER,
                    .drain = NEVER,
                    .frozen = NEVER};
    read_numbers(&s);
    if (s.numbers[NUMBER_IS_WORKER]) become_worker(&s);
    if (!settle(&s)) leave(1);
    start(&s);
    while (!s.exited ||
           ((s.streams[0].from >= 0 || s.streams[1].from >= 0) && now_ms() < s.drain)) {
        watch_once(&s);
    }
    if (s.numbers[NUMBER_LINGERS]) s.finished = clock_ms(CLOCK_REALTIME);
    kernel(SYS_kill, -s.child,
           SIGKILL); /* what is left of the group, whose last words still count */
    for (int i = 0; i < 2; i++) {
        for (int n = 0; n < DRAIN_READS && read_stream(&s, i); n++) {}
        end_stream(&s, i);
    }
    kernel(SYS_wait4, s.child, NULL, 0, NULL);
    record_and_exit(&s);
}
