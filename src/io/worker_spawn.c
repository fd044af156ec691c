#define _GNU_SOURCE
#include "worker_spawn.h"

#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOCKET_BUFFER = 1 << 20 };

/* ---- finding the interpreter ---- */

static bool is_program(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool worker_find(const char *const *env, const char *variable, const char *name, char *out,
                 Error *err) {
    const char *wanted = environment_get(env, variable), *path = environment_get(env, "PATH");
    bool given = wanted && *wanted;
    if (given && strchr(wanted, '/')) {
        if (snprintf(out, PATH_MAX, "%s", wanted) < PATH_MAX && is_program(out)) return true;
        path = NULL;
    }
    while (path && *path) {
        size_t len = strcspn(path, ":");
        int n = snprintf(out, PATH_MAX, "%.*s%s%s", (int)len, path, len ? "/" : "./",
                         given ? wanted : name);
        if (n < PATH_MAX && is_program(out)) return true;
        path += len + (path[len] == ':');
    }
    if (given) {
        return error_set(err, ERR_IO, "%s names %s, which is not a program that can be started.",
                         variable, wanted);
    }
    return error_set(err, ERR_IO,
                     "%s is needed for this node and is not in PATH. Install it, or name it in the "
                     "environment variable %s.",
                     name, variable);
}

/* ---- starting ---- */

/* All descriptors that a start needs; -1: not open. */
typedef struct Ends {
    int channel[2], out[2], err[2], null;
} Ends;

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void close_theirs(Ends *e) {
    close_fd(&e->channel[1]);
    close_fd(&e->out[1]);
    close_fd(&e->err[1]);
    close_fd(&e->null);
}

static void close_ours(Ends *e) {
    close_fd(&e->channel[0]);
    close_fd(&e->out[0]);
    close_fd(&e->err[0]);
}

static bool open_ends(Ends *e) {
    *e = (Ends){{-1, -1}, {-1, -1}, {-1, -1}, -1};
    e->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return e->null >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, e->channel) == 0 &&
           pipe2(e->out, O_CLOEXEC) == 0 && pipe2(e->err, O_CLOEXEC) == 0;
}

static void set_up(int fd) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* As much as the system lets us have. */
static void widen(const int channel[2]) {
    int size = SOCKET_BUFFER;
    for (int i = 0; i < 2; i++) {
        setsockopt(channel[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        setsockopt(channel[i], SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    }
}

static int open_pidfd(pid_t pid) {
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

bool worker_spawn(const char *const *argv, const char *const *env, WorkerProcess *out, Error *err) {
    Ends e = {{-1, -1}, {-1, -1}, {-1, -1}, -1};
    ProcessOptions options = {.argv = argv, .env = env};
    bool started = open_ends(&e);
    if (started) {
        widen(e.channel);
        out->pid = spawn(&(SpawnTask){&options, true, {e.null, e.out[1], e.err[1], e.channel[1]}});
        started = out->pid > 0;
    }
    int error = errno;
    close_theirs(&e);
    if (!started) {
        close_ours(&e);
        return error_set(err, ERR_IO, "Cannot start %s: %s.", argv[0], strerror(error));
    }
    set_up(e.channel[0]);
    set_up(e.out[0]);
    set_up(e.err[0]);
    out->channel = e.channel[0];
    out->streams[0] = e.out[0];
    out->streams[1] = e.err[0];
    out->pidfd = open_pidfd(out->pid);
    return true;
}

/* ---- bounds ---- */

void worker_limit_data(const WorkerProcess *p, uint64_t bytes) {
    struct rlimit now;
    if (prlimit(p->pid, RLIMIT_DATA, NULL, &now) != 0) return;
    now.rlim_cur = bytes < now.rlim_max ? bytes : now.rlim_max;
    prlimit(p->pid, RLIMIT_DATA, &now, NULL);
}

uint64_t worker_memory_of(const WorkerProcess *p) {
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)p->pid);
    FILE *in = fopen(path, "re");
    uint64_t resident = 0, shared = 0;
    if (!in) return 0;
    if (fscanf(in, "%*u %" SCNu64 " %" SCNu64, &resident, &shared) != 2) resident = shared = 0;
    fclose(in);
    return resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* ---- the end ---- */

void worker_signal(const WorkerProcess *p, int signal_number) {
    if (p->pid <= 0) return;
    /* Just forked, it has no group yet. */
    if (kill(-p->pid, signal_number) != 0) kill(p->pid, signal_number);
}

/* While it is a zombie its number is taken, so that the signal meets nobody but its group. */
bool worker_reap(WorkerProcess *p, bool wait, int *status) {
    siginfo_t info = {0};
    int flags = WEXITED | WNOWAIT | (wait ? 0 : WNOHANG);
    *status = 0;
    while (waitid(P_PID, (id_t)p->pid, &info, flags) != 0) {
        if (errno == EINTR) continue;
        p->pid = 0; /* somebody else has reaped it */
        return true;
    }
    if (info.si_pid == 0) return false;
    kill(-p->pid, SIGKILL);
    while (waitpid(p->pid, status, 0) < 0 && errno == EINTR) {}
    p->pid = 0;
    return true;
}
