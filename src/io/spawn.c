/* Between vfork() and exec the child runs on our stack while this thread stands still, and other
 * threads go on: it asks the kernel for a few things and changes nothing of ours. */
#define _GNU_SOURCE
#include "spawn.h"

#include "fault.h"
#include "mem.h"
#include "supervisor.h"
#include "supervisor_program.h"
#include "unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FD_OUT_OF_THE_WAY = 16 }; /* where descriptors wait while the low numbers are put in order */

/* ---- limits ---- */

/* What process_raise_descriptors() found; what we start gets it back. */
static struct rlimit inherited;
static bool raised;

void process_raise_descriptors(void) {
    struct rlimit limit;
    if (raised || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    inherited = limit;
    limit.rlim_cur = limit.rlim_max;
    raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* ---- files without a name ---- */

int spawn_file(const char *folder, const char *bytes, size_t len) {
    int fd = unnamed_file_new("pawl-supervisor", folder);
    if (fd < 0 || unnamed_file_add(fd, bytes, len)) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* The supervisor's program, made once. A host may have closed all its descriptors since, and have
 * another file there now: then it is made again. */
static struct {
    pthread_mutex_t lock;
    bool made;
    int fd;
    dev_t device;
    ino_t inode;
} image = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A file on a disk cannot be executed while it is open for writing. */
static int reopen(int fd) {
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = open(path, O_RDONLY | O_CLOEXEC);
    close(fd);
    return again;
}

static int open_image(const char *folder) {
    struct stat st;
    pthread_mutex_lock(&image.lock);
    bool there = image.made && fstat(image.fd, &st) == 0 && st.st_dev == image.device &&
                 st.st_ino == image.inode;
    if (!there) {
        int fd = spawn_file(folder, (const char *)supervisor_program, supervisor_program_len);
        int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
        if (fd >= 0 && fcntl(fd, F_ADD_SEALS, seals) != 0) fd = reopen(fd);
        image.made = fd >= 0 && fstat(fd, &st) == 0;
        image.fd = fd;
        image.device = st.st_dev;
        image.inode = st.st_ino;
    }
    int fd = image.made ? image.fd : -1;
    pthread_mutex_unlock(&image.lock);
    return fd;
}

/* ---- starting ---- */

/* In the child. Returns only when it cannot be the program: an errno. */
static int become(const SpawnTask *task, int program, const char *const *argv) {
    int aside[SPAWN_FDS + 1];
    for (int i = 0; i <= SPAWN_FDS; i++) {
        int fd = i < SPAWN_FDS ? task->fds[i] : program;
        aside[i] = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FD_OUT_OF_THE_WAY);
        if (fd >= 0 && aside[i] < 0) return errno;
    }
    for (int i = 0; i < SPAWN_FDS; i++) {
        if (aside[i] >= 0 && dup2(aside[i], FD_FIRST + i) < 0) return errno;
    }
    syscall(SYS_execveat, aside[SPAWN_FDS], "", argv, task->options->env, AT_EMPTY_PATH);
    return errno;
}

static pid_t vfork_and_become(const SpawnTask *task, int program, const char *const *argv) {
    sigset_t all, before;
    volatile int error = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = vfork();
    if (pid == 0) {
        error = become(task, program, argv);
        _exit(127);
    }
    if (pid < 0) error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pid > 0 && error) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
    }
    errno = error;
    return error ? 0 : pid;
}

pid_t spawn(const SpawnTask *task) {
    const ProcessOptions *o = task->options;
    char numbers[NUMBERS * 21];
    int error = fault_point("spawn");
    if (error) {
        errno = error == FAULT_SHORT ? EIO : error;
        return 0;
    }
    const uint64_t values[NUMBERS] = {
        [NUMBER_IS_WORKER] = task->worker,
        [NUMBER_PARENT] = (uint64_t)getpid(),
        [NUMBER_DESCRIPTORS] = raised ? inherited.rlim_cur : 0,
        [NUMBER_DESCRIPTORS_MAX] = inherited.rlim_max,
        [NUMBER_MAX_OUTPUT] = o->max_output > o->max_kept ? o->max_output : o->max_kept,
        [NUMBER_TIMEOUT] = o->timeout_ms,
        [NUMBER_GRACE] = o->grace_ms,
        [NUMBER_HAS_INPUT] = o->input != NULL || o->input_is_file,
        [NUMBER_INPUT_LEN] = o->input_len,
        [NUMBER_MASK_LEN] = o->mask_len,
        [NUMBER_JOINED] = o->joined,
        [NUMBER_END_ALONE] = o->end_alone,
        [NUMBER_END_SIGNAL] = (uint64_t)o->end_signal,
        [NUMBER_LINGERS] = o->lingers,
    };
    size_t len = 0, argc = 0;
    for (int i = 0; i < NUMBERS; i++) {
        len += (size_t)snprintf(numbers + len, sizeof numbers - len, "%" PRIu64 " ", values[i]);
    }
    while (o->argv[argc]) argc++;
    const char **argv = mem_alloc((ARG_COMMAND + argc + 1) * sizeof *argv);
    argv[ARG_NAME] = "pawl-supervisor";
    argv[ARG_NUMBERS] = numbers;
    argv[ARG_SEARCH] = o->search ? o->search : environment_get(o->env, "PATH");
    if (!argv[ARG_SEARCH]) argv[ARG_SEARCH] = "/bin:/usr/bin";
    argv[ARG_FOLDER] = o->cwd ? o->cwd : "";
    memcpy(argv + ARG_COMMAND, o->argv, (argc + 1) * sizeof *argv);
    int program = open_image(o->place);
    pid_t pid = program < 0 ? 0 : vfork_and_become(task, program, argv);
    error = errno;
    mem_free(argv);
    errno = error;
    return pid;
}
