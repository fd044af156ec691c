#define _GNU_SOURCE
#include "worker_spawn.h"

#include "spawn.h"
#include "worker_notes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
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

bool worker_spawn(const char *const *argv, const char *const *env, const char *notes,
                  WorkerProcess *out, Error *err) {
    enum { OURS, THEIRS, PAIRS = 3 };
    int pairs[PAIRS][2] = {{-1, -1}, {-1, -1}, {-1, -1}}; /* the channel, its stdout, its stderr */
    ProcessOptions options = {.argv = argv, .env = env};
    int size = SOCKET_BUFFER, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    out->pid = 0;
    if (null >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[0]) == 0 &&
        pipe2(pairs[1], O_CLOEXEC) == 0 && pipe2(pairs[2], O_CLOEXEC) == 0) {
        for (int i = 0; i < 2; i++) { /* as much as the system lets us have */
            setsockopt(pairs[0][i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
            setsockopt(pairs[0][i], SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
        }
        SpawnTask task = {
            &options, true, {null, pairs[1][THEIRS], pairs[2][THEIRS], pairs[0][THEIRS], -1}};
        out->pid = spawn(&task);
    }
    int error = errno;
    if (null >= 0) close(null);
    for (int i = 0; i < PAIRS; i++) {
        if (pairs[i][THEIRS] >= 0) close(pairs[i][THEIRS]);
        if (out->pid > 0) {
            fcntl(pairs[i][OURS], F_SETFL, fcntl(pairs[i][OURS], F_GETFL) | O_NONBLOCK);
        } else if (pairs[i][OURS] >= 0) {
            close(pairs[i][OURS]);
        }
    }
    if (out->pid <= 0) {
        return error_set(err, ERR_IO, "Cannot start %s: %s.", argv[0], strerror(error));
    }
    out->channel = pairs[0][OURS];
    out->streams[0] = pairs[1][OURS];
    out->streams[1] = pairs[2][OURS];
    out->note = notes ? worker_note(notes, out->pid) : NULL;
    out->pidfd = -1;
#ifdef SYS_pidfd_open
    out->pidfd = (int)syscall(SYS_pidfd_open, out->pid, 0);
#endif
    return true;
}

/* ---- bounds ---- */

void worker_limit_data(const WorkerProcess *p, uint64_t bytes) {
    struct rlimit now;
    if (prlimit(p->pid, RLIMIT_DATA, NULL, &now) != 0) return;
    now.rlim_cur = bytes < now.rlim_max ? bytes : now.rlim_max;
    prlimit(p->pid, RLIMIT_DATA, &now, NULL);
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
        worker_note_remove(p->note);
        p->note = NULL;
        return true;
    }
    if (info.si_pid == 0) return false;
    kill(-p->pid, SIGKILL);
    while (waitpid(p->pid, status, 0) < 0 && errno == EINTR) {}
    p->pid = 0;
    worker_note_remove(p->note);
    p->note = NULL;
    return true;
}
