#include "turns.h"

#include "mem.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

typedef struct Turns {
    double *turns[TURN_CLOCKS];
    size_t n, cap[TURN_CLOCKS];
    uint64_t began[TURN_CLOCKS]; /* the turn that is under way; 0: none is */
    pid_t thread;                /* of the loop; 0: nothing is measured */
    int schedstat;               /* of it */
} Turns;

static Turns turns;

/* Nanoseconds for which the thread was ready and had no processor: the second number. */
static uint64_t delay_time(void) {
    char text[100] = "";
    unsigned long long used = 0, delay = 0;
    if (pread(turns.schedstat, text, sizeof text - 1, 0) > 0) {
        sscanf(text, "%llu %llu", &used, &delay);
    }
    return delay;
}

static void look_at_clocks(uint64_t now[TURN_CLOCKS]) {
    struct timespec cpu;
    now[TURN_WALL] = uv_hrtime();
    now[TURN_OWN] = now[TURN_WALL] - delay_time();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    now[TURN_CPU] = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
}

static void end_turn(void) {
    uint64_t now[TURN_CLOCKS];
    look_at_clocks(now);
    for (int c = 0; turns.began[TURN_WALL] && c < TURN_CLOCKS; c++) {
        turns.turns[c] = mem_grow(turns.turns[c], turns.n, &turns.cap[c], sizeof **turns.turns);
        turns.turns[c][turns.n] = (double)(now[c] - turns.began[c]) / 1e9;
    }
    turns.n += turns.began[TURN_WALL] != 0;
}

/* What the loop looks with. */
__attribute__((visibility("default"))) int epoll_pwait(int fd, struct epoll_event *events, int max,
                                                       int timeout, const sigset_t *mask) {
    bool measured = turns.thread && turns.thread == syscall(SYS_gettid);
    if (measured) end_turn();
    int n = (int)syscall(SYS_epoll_pwait, fd, events, max, timeout, mask, _NSIG / 8);
    if (measured) look_at_clocks(turns.began);
    return n;
}

__attribute__((visibility("default"))) int epoll_wait(int fd, struct epoll_event *events, int max,
                                                      int timeout) {
    return epoll_pwait(fd, events, max, timeout, NULL);
}

void turns_begin(void) {
    for (int c = 0; c < TURN_CLOCKS; c++) {
        mem_free(turns.turns[c]);
        turns.turns[c] = NULL;
        turns.cap[c] = 0;
        turns.began[c] = 0;
    }
    turns.n = 0;
    if (!turns.schedstat) turns.schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
    turns.thread = (pid_t)syscall(SYS_gettid);
}

void turns_end(void) {
    turns.thread = 0;
}

size_t turns_count(void) {
    return turns.n;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double turns_at(TurnClock clock, double rank) {
    double *all = turns.turns[clock];
    if (!turns.n) return 0;
    qsort(all, turns.n, sizeof *all, by_size);
    return all[(size_t)(rank * (double)(turns.n - 1))];
}
