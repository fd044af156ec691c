/* bench_spawn.c - what a command costs in a process that has much memory.
 *
 * A process that forks copies the tables of its pages, which takes as long as it has memory. So each
 * figure is taken twice in turn: with little memory, and with 2 GB of it in use, in pages of 4 kB. The
 * time is the clock's, the median of the rounds: most of the work is other processes'. */
#include "bench.h"
#include "engine_load.h"
#include "process.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 9, COMMANDS = 40, LITTLE_MB = 10, MUCH_MB = 2048 };

/* ---- memory that is in use ---- */

static char *use_memory(size_t mb) {
    size_t size = mb << 20;
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) give_up("There are no %zu MB of memory.", mb);
    madvise(at, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < size; i += 4096) at[i] = 1;
    return at;
}

/* ---- what is measured: seconds of one command ---- */

static double node(void) {
    Load load = load_shell(COMMANDS);
    Bed bed = bed_open(IN_SQLITE);
    double took = bed_run(&bed, &load).wall / COMMANDS;
    bed_close(&bed);
    load_clear(&load);
    return took;
}

static void on_exit_(void *ctx, const ProcessResult *result) {
    if (result->end != PROCESS_EXITED) give_up("`true` does not run.");
    *(bool *)ctx = true;
}

/* Seconds in which the loop stands still, or until the command has ended. */
static double start_one(uv_loop_t *loop, bool to_the_end) {
    const char *argv[] = {"true", NULL};
    char place[64];
    bool done = false;
    Error err = ERROR_INIT;
    snprintf(place, sizeof place, "%s/bench-%d", memory_folder(), (int)getpid());
    ProcessOptions options = {
        .place = place, .argv = argv, .max_output = 1, .on_exit = on_exit_, .ctx = &done};
    double began = wall_seconds();
    Process *process = process_start(loop, &options, &err);
    double took = wall_seconds() - began;
    if (!process) give_up("%s", err.msg);
    while (!done) uv_run(loop, UV_RUN_ONCE);
    if (to_the_end) took = wall_seconds() - began;
    process_free(process);
    uv_run(loop, UV_RUN_DEFAULT);
    process_forget(place);
    return took;
}

static double median_of_starts(bool to_the_end) {
    uv_loop_t loop;
    double all[COMMANDS];
    uv_loop_init(&loop);
    for (int i = 0; i < COMMANDS; i++) all[i] = start_one(&loop, to_the_end);
    uv_loop_close(&loop);
    return median(all, COMMANDS);
}

static double blocked(void) {
    return median_of_starts(false);
}

static double process(void) {
    return median_of_starts(true);
}

static const struct Row {
    const char *what;
    double (*seconds)(void);
    BenchBar bar;
    double limit;
} rows[] = {
    {"a node `shell: \"true\"`, SQLite in memory", node, BENCH_TIMES, 1.2},
    {"the command `true`, supervised", process, BENCH_TIMES, 1.2},
    {"the loop stands still for its start", blocked, BENCH_INFO, 0},
};

enum { ROWS = sizeof rows / sizeof *rows };

int main(int argc, char **argv) {
    Bench *b = bench_new(argc, argv, "commands: with 2 GB of memory in use | with 10 MB");
    int rounds = bench_is_quick(b) ? 1 : ROUNDS;
    double little[ROWS][ROUNDS], much[ROWS][ROUNDS];
    beds_in(memory_folder());
    for (int r = 0; r < ROWS; r++) rows[r].seconds();
    use_memory(LITTLE_MB);
    for (int i = 0; i < rounds; i++) {
        for (int r = 0; r < ROWS; r++) little[r][i] = rows[r].seconds();
        char *memory = use_memory(MUCH_MB);
        for (int r = 0; r < ROWS; r++) much[r][i] = rows[r].seconds();
        munmap(memory, (size_t)MUCH_MB << 20);
    }
    for (int r = 0; r < ROWS; r++) {
        bench_figure(b, &(BenchFigure){.what = rows[r].what,
                                       .ours = median(much[r], (size_t)rounds),
                                       .peer = median(little[r], (size_t)rounds),
                                       .bar = rows[r].bar,
                                       .limit = rows[r].limit});
    }
    return bench_end(b);
}
