#define _GNU_SOURCE
#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    TEXT_MAX = 4096,   /* bytes of a file of /proc that are looked at */
    KILL_PASSES = 10,  /* who forks while we kill */
    PID_TEXT_MAX = 10, /* digits */
    FLAG_EXITING = 4,  /* PF_EXITING of the kernel */
};

static bool read_proc(pid_t pid, const char *name, char text[TEXT_MAX]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_MAX - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* The program's name, in brackets before all this, may hold anything. */
bool proc_stat(pid_t pid, ProcStat *out) {
    char text[TEXT_MAX];
    int parent, group, session;
    unsigned flags;
    uint64_t pages = 0;
    if (pid <= 1 || !read_proc(pid, "stat", text)) return false;
    const char *after = strrchr(text, ')');
    if (!after ||
        sscanf(after + 1,
               " %c %d %d %d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
               "%*d %" SCNu64 " %*u %" SCNu64,
               &out->state, &parent, &group, &session, &flags, &out->start, &pages) != 7) {
        return false;
    }
    out->ending = out->state == 'Z' || out->state == 'X' || (flags & FLAG_EXITING);
    out->parent = parent;
    out->group = group;
    out->session = session;
    out->resident = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return true;
}

/* All of its users, so that one that is about to change from root to another is not. */
bool proc_is_ours(pid_t pid) {
    char text[TEXT_MAX];
    unsigned users[3];
    const char *at = pid > 1 && read_proc(pid, "status", text) ? strstr(text, "\nUid:") : NULL;
    if (!at || sscanf(at, "\nUid: %u %u %u", &users[0], &users[1], &users[2]) != 3) return false;
    return users[0] == geteuid() && users[1] == geteuid() && users[2] == geteuid();
}

uint64_t proc_ticks(void) {
    struct timespec t;
    uint64_t a_second = (uint64_t)sysconf(_SC_CLK_TCK);
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * a_second + (uint64_t)t.tv_nsec * a_second / 1000000000;
}

/* Its number is its own while the descriptor is open and it is there. */
bool proc_signal(pid_t pid, uint64_t start, int signal_number) {
    ProcStat stat;
    if (pid <= 1) return false;
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_send_signal)
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd >= 0) {
        bool same = proc_stat(pid, &stat) && stat.start == start;
        bool sent = same && syscall(SYS_pidfd_send_signal, fd, signal_number, NULL, 0) == 0;
        close(fd);
        return sent;
    }
    if (errno != ENOSYS && errno != EPERM) return false;
#endif
    return proc_stat(pid, &stat) && stat.start == start && kill(pid, signal_number) == 0;
}

void proc_each(void (*fn)(void *ctx, pid_t pid, const ProcStat *stat), void *ctx) {
    DIR *dir = opendir("/proc");
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        ProcStat stat;
        size_t len = strspn(entry->d_name, "0123456789");
        bool number = len && len <= PID_TEXT_MAX && !entry->d_name[len];
        pid_t pid = number ? (pid_t)strtol(entry->d_name, NULL, 10) : 0;
        if (pid > 1 && proc_stat(pid, &stat)) fn(ctx, pid, &stat);
    }
    if (dir) closedir(dir);
}

typedef struct GroupKill {
    pid_t leader;
    uint64_t since;
    int killed;
} GroupKill;

static void kill_member(void *ctx, pid_t pid, const ProcStat *stat) {
    GroupKill *group = ctx;
    bool gone = stat->state == 'Z' || stat->state == 'X';
    if (stat->group != group->leader || stat->start < group->since || gone) return;
    group->killed += proc_signal(pid, stat->start, SIGKILL);
}

void proc_kill_group(pid_t leader, uint64_t since) {
    GroupKill group = {.leader = leader, .since = since};
    for (int i = 0; leader > 1 && i < KILL_PASSES; i++) {
        group.killed = 0;
        proc_each(kill_member, &group);
        if (!group.killed) return;
    }
}

/* ---- memory ---- */

/* The sum of what stands behind these names, which are given in kB. */
static uint64_t sum_of(const char *text, const char *const *names) {
    uint64_t sum = 0;
    for (; *names; names++) {
        const char *at = strstr(text, *names);
        sum += at ? strtoull(at + strlen(*names), NULL, 10) << 10 : 0;
    }
    return sum;
}

/* The first can be denied by a process that hides; the second cannot, but counts shared pages whole. */
uint64_t proc_memory(pid_t pid) {
    static const char *const parts[] = {"\nPss_Anon:", "\nPss_Shmem:", "\nSwapPss:", NULL};
    static const char *const whole[] = {"\nRssAnon:", "\nRssShmem:", "\nVmSwap:", NULL};
    char text[TEXT_MAX];
    if (pid <= 1) return 0;
    if (read_proc(pid, "smaps_rollup", text) && strstr(text, parts[0])) return sum_of(text, parts);
    return read_proc(pid, "status", text) ? sum_of(text, whole) : 0;
}
