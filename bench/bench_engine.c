/* bench_engine.c - our side of bench/engine: one row in one process.
 *
 *     bench_engine [--json] [--quick] WHAT
 *
 * Prints lines such as {"what":"step_sqlite","us":2.9,"steps":200000}, or the same for people. The
 * names and what they mean are in the table at the end. Databases are made in the current folder.
 *
 * The workflow of the steps is the smallest there is: one jq node adds 1 to a counter, one edge leads
 * back to it. A run of the same length comes first, as with the peer.
 */
#include "engine_load.h"
#include "json_print.h"
#include "mem.h"
#include "store_chain.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LARGE_BYTES = 1000000,
    STEPS = 200000,
    QUICK_PART = 10, /* --quick takes this part of the steps */
    STARTS = 11,
    HISTORY = 1000000,
    READS = 50,
    GROWTH_LEAST =
        50000,          /* steps in all that a figure of growth comes from: small runs are many, */
    GROWTH_RUNS = 1000, /* but no more than this */
    GROWTH_ROUNDS = 5,
    SYNCS = 21,
    PAUSED = 1000000,
    PAUSED_TOGETHER = 1000,
    PAUSED_SECONDS = 100, /* what is not done by then is extrapolated */
    RESUMED = 100,
};

static const uint64_t paused_memory = 256000000;

typedef struct Row Row;

struct Row {
    const char *what;
    void (*measure)(const Row *row);
    Where where;
    size_t state_bytes;
};

static bool as_json, quick;

static int64_t part_of(int64_t steps) {
    return quick ? steps / QUICK_PART : steps;
}

/* ---- lines ---- */

static Json line_of(const Row *row) {
    return json_object_set(json_object(), json_string_c("what"), json_string_c(row->what));
}

static Json with(Json line, const char *key, double value) {
    return json_object_set(line, json_string_c(key), json_number(value));
}

static void print_members(Json line) {
    Json key, value;
    for (size_t pos = 0; json_object_next(line, &pos, &key, &value);) {
        char *text = json_to_text(value);
        printf("%-12.*s %s\n", (int)json_string_len(key), json_string_data(&key), text);
        mem_free(text);
    }
}

static void say(Json line) {
    if (as_json) {
        char *text = json_to_text(line);
        puts(text);
        mem_free(text);
    } else {
        print_members(line);
    }
    fflush(stdout);
    json_unref(line);
}

/* ---- steps ---- */

static void step_time(const Row *row) {
    int64_t steps = part_of(STEPS);
    Load load = load_counter(row->state_bytes, steps);
    Bed bed = bed_open(row->where);
    bed_run(&bed, &load);
    Cost cost = bed_run(&bed, &load);
    bed_close(&bed);
    load_clear(&load);
    double us = 1e6 / (double)steps;
    Json line = with(line_of(row), "us", (cost.started + cost.wall) * us);
    say(with(with(line, "us_cpu", cost.cpu * us), "steps", (double)steps));
}

/* Two runs, the second with as many steps again: what is stored once drops out. */
static void step_bytes(const Row *row) {
    int64_t steps = part_of(STEPS);
    Load load = load_counter(row->state_bytes, steps);
    double once = load_cost(&load, IN_SQLITE).bytes;
    load_set_steps(&load, 2 * steps);
    double twice = load_cost(&load, IN_SQLITE).bytes;
    load_clear(&load);
    say(with(with(line_of(row), "bytes", (twice - once) / (double)steps), "steps", (double)steps));
}

/* ---- growth ---- */

static size_t runs_for(int64_t steps) {
    int64_t runs = GROWTH_LEAST / steps;
    return (size_t)(runs < 1 ? 1 : runs > GROWTH_RUNS ? GROWTH_RUNS : runs);
}

/* Small runs are beside each other in numbers that can be measured. No line is better than one that
 * noise has made. */
static void growth_at(const Row *row, int64_t steps) {
    Load load = load_talk(steps);
    load.runs = runs_for(steps);
    Cost c = load_second_half(&load, steps, IN_SQLITE, quick ? 1 : GROWTH_ROUNDS);
    load_clear(&load);
    if (isnan(c.wall) || isnan(c.cpu) || isnan(c.bytes)) {
        fprintf(stderr, "%" PRId64 " steps could not be measured: too much else is going on.\n",
                steps);
        return;
    }
    Json line = with(with(line_of(row), "steps", (double)steps), "us", c.wall * 1e6);
    say(with(with(line, "us_cpu", c.cpu * 1e6), "bytes", c.bytes));
}

static void growth(const Row *row) {
    Load warm = load_talk(part_of(STEPS) / 10);
    load_cost(&warm, IN_SQLITE);
    load_clear(&warm);
    for (int64_t steps = 10; steps <= part_of(HISTORY); steps *= 10) {
        growth_at(row, steps);
    }
}

/* ---- start ---- */

static void pawl_path(char *out, size_t size) {
    char self[PATH_MAX] = "";
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    snprintf(out, size, "%s/../pawl", n > 0 ? dirname(self) : ".");
}

static pid_t spawn_run(const char *store, int *out) {
    char pawl[PATH_MAX + 16];
    int ends[2];
    pawl_path(pawl, sizeof pawl);
    if (pipe(ends) != 0) {
        give_up("A pipe cannot be made.");
    }
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(pawl, pawl, "run", "first.yaml", "--store", store, "--input",
              "{\"count\":0,\"limit\":1}", "--stream", "events", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *out = ends[0];
    return pid;
}

static bool has_line_of_node(FILE *f) {
    char line[4096];
    while (fgets(line, sizeof line, f)) {
        if (strstr(line, "\"type\":\"node\"")) {
            return true;
        }
    }
    return false;
}

/* From before the fork until the line that says that the first node has begun. */
static double time_to_first_node(const char *store) {
    int out, status;
    double began = wall_seconds();
    pid_t pid = spawn_run(store, &out);
    FILE *f = fdopen(out, "r");
    bool came = f && has_line_of_node(f);
    double took = wall_seconds() - began;
    while (f && fgetc(f) != EOF) {}
    fclose(f);
    waitpid(pid, &status, 0);
    if (!came || status != 0) {
        give_up("`pawl run --stream events` did not come to its first node and to its end.");
    }
    return took;
}

static void write_first(void) {
    FILE *f = fopen("first.yaml", "w");
    if (!f || fputs(counter_text, f) < 0 || fclose(f) != 0) {
        give_up("first.yaml cannot be written.");
    }
}

/* What the disk takes to make 4 KB durable: some of these are in every start. */
static double time_of_sync(void) {
    static const char page[4096];
    double times[SYNCS];
    int fd = open("sync", O_WRONLY | O_CREAT, 0666);
    for (int i = 0; i < SYNCS; i++) {
        double began = wall_seconds();
        if (write(fd, page, sizeof page) != sizeof page || fdatasync(fd) != 0) {
            give_up("A file cannot be written here.");
        }
        times[i] = wall_seconds() - began;
    }
    close(fd);
    return median(times, SYNCS);
}

/* In a store that is made on the way, and in one that is there. */
static void start_time(const Row *row) {
    double fresh[STARTS], again[STARTS];
    write_first();
    for (int i = 0; i < STARTS; i++) {
        char store[64];
        snprintf(store, sizeof store, "sqlite:first-%d.db", i);
        fresh[i] = time_to_first_node(store);
        again[i] = time_to_first_node(store);
    }
    Json line = with(line_of(row), "ms", median(again, STARTS) * 1e3);
    line = with(line, "ms_new_store", median(fresh, STARTS) * 1e3);
    say(with(line, "ms_sync", time_of_sync() * 1e3));
}

/* ---- reading any checkpoint ---- */

static double time_of_read(const char *url, int64_t seq) {
    Error err = ERROR_INIT;
    RunRow row = {0};
    double began = wall_seconds();
    Store *store = store_open(url, STORE_READ, &err);
    Json image = json_none();
    if (store && store_find(store, "1", &row, &err)) {
        image = chain_image(store, row.run, seq, NULL, &err);
    }
    Json state = image_state(image);
    double took = wall_seconds() - began;
    if (json_object_get_c(state, "count").i != seq - 1) {
        give_up("Checkpoint %" PRId64 " has another state than it should: %s", seq, err.msg);
    }
    json_unref(state);
    json_unref(image);
    run_row_clear(&row);
    store_close(store);
    return took;
}

/* Opening the store counts: it is what `pawl show` does. */
static void read_any(const Row *row) {
    int64_t steps = part_of(HISTORY);
    Load load = load_counter(row->state_bytes, steps);
    Bed bed = bed_open(IN_SQLITE);
    bed_run(&bed, &load);
    bed_reopen(&bed);
    double times[READS];
    srand(1);
    for (int i = 0; i < READS; i++) {
        times[i] = time_of_read(store_url(bed.store), 1 + rand() % steps);
    }
    bed_close(&bed);
    load_clear(&load);
    double middle = median(times, READS);
    Json line = with(line_of(row), "ms", times[READS - 1] * 1e3);
    say(with(with(line, "ms_median", middle * 1e3), "steps", (double)steps));
}

/* ---- paused runs ---- */

static uint64_t resident_bytes(void) {
    unsigned long long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%llu %llu", &all, &resident) != 2) {
        give_up("/proc/self/statm cannot be read.");
    }
    fclose(f);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

typedef struct Paused {
    int64_t runs;
    double starting, all;         /* seconds */
    uint64_t before, after, most; /* resident bytes */
} Paused;

static void check_interrupted(const Run *run) {
    if (run_store_error(run) || strcmp(run_status(run), "interrupted") != 0) {
        give_up("A run is %s instead of interrupted.", run_status(run));
    }
}

static void pause_some(Bed *b, const Load *load, Paused *p) {
    static Run *runs[PAUSED_TOGETHER];
    Error err = ERROR_INIT;
    double began = wall_seconds();
    for (int i = 0; i < PAUSED_TOGETHER; i++) {
        runs[i] = engine_start_now(b->engine, load->flow, &(RunStart){.input = load->input}, &err);
        if (!runs[i]) {
            give_up("%s", err.msg);
        }
    }
    p->starting += wall_seconds() - began;
    uv_run(b->loop, UV_RUN_DEFAULT);
    uint64_t resident = resident_bytes();
    p->most = resident > p->most ? resident : p->most;
    for (int i = 0; i < PAUSED_TOGETHER; i++) {
        check_interrupted(runs[i]);
        run_free(runs[i]);
    }
    p->all += wall_seconds() - began;
    p->runs += PAUSED_TOGETHER;
}

/* Any of them goes on when it is answered. */
static void answer_some(Bed *b, int64_t runs) {
    for (int i = 0; i < RESUMED; i++) {
        char thread[32];
        Error err = ERROR_INIT;
        snprintf(thread, sizeof thread, "%" PRId64, 1 + rand() % runs);
        Run *run =
            engine_resume_now(b->engine, &(RunResume){.thread = thread, .decision = "yes"}, &err);
        if (!run) { /* it was drawn before */
            continue;
        }
        uv_run(b->loop, UV_RUN_DEFAULT);
        if (strcmp(run_status(run), "completed") != 0) {
            give_up("Run %s is %s after its answer.", thread, run_status(run));
        }
        run_free(run);
    }
}

static void say_paused(const Row *row, const Paused *p, double on_disk) {
    double growth = p->after > p->before ? (double)(p->after - p->before) / (double)p->runs : 0;
    double room = (double)paused_memory - (double)p->most;
    double more = room <= 0 ? 0 : growth > 0 ? room / growth : PAUSED;
    double count = p->most > paused_memory ? 0 : (double)p->runs + more;
    Json line = with(line_of(row), "count", count < PAUSED ? count : PAUSED);
    line = with(line, "measured", (double)p->runs);
    line = with(line, "bytes_resident", (double)p->most);
    line = with(line, "bytes_each", growth);
    line = with(line, "us_start", p->starting * 1e6 / (double)p->runs);
    line = with(line, "us_each", p->all * 1e6 / (double)p->runs);
    say(with(line, "us_each_on_disk", on_disk * 1e6));
}

/* What one costs on the disk, which the others are spared. */
static double seconds_on_disk(const Load *load) {
    Bed bed = bed_open(IN_SQLITE);
    Paused p = {0};
    pause_some(&bed, load, &p);
    bed_close(&bed);
    return p.all / (double)p.runs;
}

/* A run that waits for a person has settled: the store holds it, and the process lets go of it until
 * the answer comes. The first runs fill caches; growth is counted behind them. What is asked is how
 * much of this process they take, so a million commits do not have to wait for a disk. */
static void paused_runs(const Row *row) {
    Load load = load_approval();
    double on_disk = seconds_on_disk(&load);
    beds_in(memory_folder());
    Bed bed = bed_open(IN_SQLITE);
    Paused p = {0};
    int64_t warm = part_of(20 * PAUSED_TOGETHER);
    while (p.runs < part_of(PAUSED) && p.all < PAUSED_SECONDS) {
        pause_some(&bed, &load, &p);
        if (p.runs == warm) {
            p.before = resident_bytes();
        }
    }
    p.after = resident_bytes();
    answer_some(&bed, p.runs);
    say_paused(row, &p, on_disk);
    bed_close(&bed);
    load_clear(&load);
}

/* ---- which row ---- */

static const Row rows[] = {
    {"step_none", step_time, NOWHERE, 0},
    {"step_memory", step_time, IN_MEMORY, 0},
    {"step_sqlite", step_time, IN_SQLITE, 0},
    {"step_none_1mb", step_time, NOWHERE, LARGE_BYTES},
    {"step_memory_1mb", step_time, IN_MEMORY, LARGE_BYTES},
    {"step_sqlite_1mb", step_time, IN_SQLITE, LARGE_BYTES},
    {"bytes_sqlite", step_bytes, IN_SQLITE, 0},
    {"bytes_sqlite_1mb", step_bytes, IN_SQLITE, LARGE_BYTES},
    {"start_ms", start_time, IN_SQLITE, 0},
    {"read_any_ms", read_any, IN_SQLITE, 0},
    {"paused_runs", paused_runs, IN_SQLITE, 0},
    {"growth", growth, IN_SQLITE, 0},
};

static const Row *find_row(const char *what) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].what, what) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static int usage(void) {
    fputs("usage: bench_engine [--json] [--quick] WHAT, where WHAT is one of\n", stderr);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fprintf(stderr, "    %s\n", rows[i].what);
    }
    return 2;
}

int main(int argc, char **argv) {
    const Row *row = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            as_json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (row || !(row = find_row(argv[i]))) {
            return usage();
        }
    }
    if (!row) {
        return usage();
    }
    row->measure(row);
    return 0;
}
