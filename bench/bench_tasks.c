/* bench_tasks.c - what tasks cost: many of them at once, through pawl.h as a program sees it.
 *
 * A row is a whole test of 10,000 tasks that do nothing, from its start to its end; the file is read
 * before. Its memory is what the process has had at most, all of it. */
#include "bench.h"
#include "pawl.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { TASKS = 10000, SECONDS_MAX = 2, MEGABYTES_MAX = 200 };

static void give_up(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

typedef struct Test {
    const char *container, *task;
    const char *store;
    PawlFlow *flow;
    PawlEngine *engine;
} Test;

static void write_test(FILE *out, const Test *t, int n) {
    fprintf(out, "tasks:\n- name: %s\n  config:\n    tasks:\n", t->container);
    for (int i = 0; i < n; i++) {
        fprintf(out, "    - {%s}\n", t->task);
    }
}

static void open_test(Test *t, int n) {
    PawlError err;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out) {
        give_up("There is no memory for the test.");
    }
    write_test(out, t, n);
    fclose(out);
    t->flow = pawl_flow_parse(text, len, &err);
    free(text);
    t->engine = t->flow ? pawl_engine_open(t->store, NULL, &err) : NULL;
    if (!t->engine) {
        give_up(err.message);
    }
}

static void run_tests(void *ctx, size_t times) {
    const Test *t = ctx;
    PawlError err;
    for (size_t i = 0; i < times; i++) {
        PawlRun *run = pawl_run_start(t->engine, t->flow, NULL, &err);
        if (!run || !pawl_engine_run(t->engine, &err)) {
            give_up(err.message);
        }
        if (pawl_run_status(run) != PAWL_COMPLETED) {
            give_up("The test did not succeed.");
        }
        pawl_run_free(run);
    }
}

int main(int argc, char **argv) {
    Bench *b = bench_new(argc, argv, "tasks");
    const char *sleeps = "name: sleep, config: {duration: 0}";
    Test tests[] = {
        {"run_tasks_concurrent", sleeps, "memory:", NULL, NULL},
        {"run_tasks_concurrent", sleeps, NULL, NULL, NULL},
        {"run_tasks", sleeps, "memory:", NULL, NULL},
    };
    const char *const names[] = {"10000 tasks at once, memory:", "10000 tasks at once, no store",
                                 "10000 tasks in a row, memory:"};
    int n = bench_is_quick(b) ? TASKS / 100 : TASKS;
    struct rusage used;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        open_test(&tests[i], n);
        bench_row(b, &(BenchRow){.what = names[i],
                                 .ours = {run_tests, &tests[i]},
                                 .bar = i ? BENCH_INFO : BENCH_SECONDS,
                                 .limit = SECONDS_MAX});
        if (i == 0) {
            getrusage(RUSAGE_SELF, &used);
            bench_bytes(b, "the most memory that took (at most 200 MB)",
                        (uint64_t)used.ru_maxrss << 10, 0);
        }
        pawl_engine_close(tests[i].engine);
        pawl_flow_free(tests[i].flow);
    }
    bool fits = used.ru_maxrss >> 10 <= MEGABYTES_MAX;
    return bench_end(b) || !fits;
}
