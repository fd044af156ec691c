/* bench_watch.c - what it costs the others when somebody watches a run.
 *
 * A thousand runs count beside each other in one host. In every other round one of them is watched: by a debugger
 * that holds it and listens to each of its events, or by subscribers that read, or never do. What counts is a step
 * of the other 999, in time on the wall, for who is made to wait uses no processor: rounds with and without a
 * watcher alternate, and what counts is the median of the ratios of neighbours. Instructions (bench/instructions)
 * are those of the loop's thread and the store's. */
#include "bench.h"
#include "engine_load.h"
#include "mem.h"
#include "subscription.h"

#include <stdio.h>
#include <unistd.h>

extern char **environ;

enum {
    RUNS = 1000,
    STEPS =
        100000, /* of a round: a run takes 100 before the next has its go, so that each has one */
    ROUNDS = 21,
    QUICK_ROUNDS = 1,
    WATCHERS = 100,
};

typedef struct Way {
    const char *what;
    bool in_memory; /* the store */
    int watchers;   /* subscribers; 0: a debugger */
    bool reads;
} Way;

typedef struct Crowd {
    const Way *way;
    uv_loop_t loop;
    Host *host;
    char path[64]; /* of the database */
    Load load;
    Run *watched;
    Run *others[RUNS - 1];
    int n; /* of the others that have begun */
    Subscription *watchers[WATCHERS];
    uint64_t heard;
} Crowd;

static void on_started(void *ctx, HostRun *run, const Error *err) {
    Crowd *c = ctx;
    if (err) {
        give_up("%s", err->msg);
    }
    if (!c->watched) {
        c->watched = host_run(run);
    } else {
        c->others[c->n++] = host_run(run);
    }
}

static Crowd *crowd_new(const Way *way) {
    Crowd *c = mem_zalloc(sizeof *c);
    char url[80];
    c->way = way;
    c->load = load_counter(0, INT64_C(1) << 40);
    snprintf(c->path, sizeof c->path, "%s/bench-watch-%d.db", memory_folder(), (int)getpid());
    snprintf(url, sizeof url, "%s%s",
             way->in_memory ? "memory:" : "sqlite:", way->in_memory ? "" : c->path);
    uv_loop_init(&c->loop);
    c->host = host_new(
        &(HostOptions){.loop = &c->loop, .store = url, .folder = "/", .environment = environ});
    HostStart start = {.flow = c->load.flow, .run = {.input = c->load.input}};
    for (int i = 0; i < RUNS; i++) {
        host_start(c->host, &start, on_started, c);
    }
    while (c->n < RUNS - 1) {
        uv_run(&c->loop, UV_RUN_ONCE);
    }
    return c;
}

static void crowd_free(Crowd *c) {
    static const char *const files[] = {"", "-wal", "-shm", "-lease"};
    char name[80];
    host_free(c->host);
    uv_run(&c->loop, UV_RUN_DEFAULT);
    uv_loop_close(&c->loop);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(name, sizeof name, "%s%s", c->path, files[i]);
        unlink(name);
    }
    snprintf(name, sizeof name, "%s-work", c->path);
    rmdir(name);
    load_clear(&c->load);
    mem_free(c);
}

/* ---- who watches ---- */

static HookVerdict look_on(void *ctx, const HookPlace *place, Json *info) {
    (void)ctx;
    (void)place;
    (void)info;
    return HOOK_GO;
}

static void see_frame(void *ctx, Frame *frame) {
    (void)ctx;
    (void)frame;
}

static void hear(void *ctx, const Event *event) {
    Crowd *c = ctx;
    c->heard += event->type == EVENT_STEP;
}

static void on_ready(void *ctx, Subscription *s) {
    Crowd *c = ctx;
    Json event;
    c->heard++;
    while (c->way->reads && subscription_next(s, &event)) {
        json_unref(event);
    }
}

static void watch(Crowd *c, bool watched) {
    static const RunHooks hooks = {.at = look_on,
                                   .frame_new = see_frame,
                                   .frame_end = see_frame,
                                   .event = hear,
                                   .events = (1u << EVENT_COUNT) - 1};
    if (!c->way->watchers) {
        run_set_hooks(c->watched, watched ? &hooks : NULL, c);
        run_hold(c->watched, watched);
    }
    SubscriptionSpec spec = {
        .thread = run_thread(c->watched), .from = -1, .values = true, .ready = on_ready, .ctx = c};
    for (int i = 0; i < c->way->watchers; i++) {
        subscription_end(c->watchers[i]);
        c->watchers[i] = watched ? host_subscribe(c->host, &spec, NULL) : NULL;
    }
}

/* ---- rounds ---- */

static int64_t steps_of_others(const Crowd *c) {
    int64_t n = 0;
    for (int i = 0; i < RUNS - 1; i++) {
        n += run_step(c->others[i]);
    }
    return n;
}

/* How many steps the others made. */
static int64_t round_of(Crowd *c, bool watched, size_t times) {
    watch(c, watched);
    int64_t before = steps_of_others(c), after = before;
    while (after - before < (int64_t)(STEPS * times)) {
        uv_run(&c->loop, UV_RUN_ONCE);
        after = steps_of_others(c);
    }
    watch(c, false);
    return after - before;
}

static void run_watched(void *crowd, size_t times) {
    round_of(crowd, true, times);
}

static void run_unwatched(void *crowd, size_t times) {
    round_of(crowd, false, times);
}

static double seconds_a_step(Crowd *c, bool watched) {
    double began = wall_seconds();
    int64_t steps = round_of(c, watched, 1);
    return (wall_seconds() - began) / (double)steps;
}

static void measure(Bench *b, const Way *way) {
    Crowd *c = crowd_new(way);
    if (bench_is_counting(b)) {
        bench_row(b, &(BenchRow){.what = way->what,
                                 .ours = {.run = run_watched, .ctx = c},
                                 .peer = {.run = run_unwatched, .ctx = c},
                                 .bar = BENCH_TIMES,
                                 .per = STEPS});
    } else {
        double sides[2][ROUNDS], ratios[ROUNDS];
        size_t rounds = bench_is_quick(b) ? QUICK_ROUNDS : ROUNDS;
        round_of(c, false, 1); /* warm */
        for (size_t i = 0; i < rounds || (!c->heard && i < ROUNDS); i++) {
            bool first = i % 2 == 0; /* so that what grows with time is on both sides */
            sides[!first][i] = seconds_a_step(c, first);
            sides[first][i] = seconds_a_step(c, !first);
            ratios[i] = sides[0][i] / sides[1][i];
        }
        if (!c->heard) {
            give_up("Nothing was heard of the run that is watched.");
        }
        double base = median(sides[1], rounds);
        bench_figure(b, &(BenchFigure){way->what, base * median(ratios, rounds), base, BENCH_TIMES,
                                       1.03, NULL});
    }
    crowd_free(c);
}

int main(int argc, char **argv) {
    static const Way ways[] = {
        {"a debugger, store in memory", true, 0, true},
        {"a debugger, store in SQLite", false, 0, true},
        {"a subscriber, store in memory", true, 1, true},
        {"a subscriber, store in SQLite", false, 1, true},
        {"a subscriber that never reads, in memory", true, 1, false},
        {"a subscriber that never reads, in SQLite", false, 1, false},
        {"100 that never read, in SQLite", false, WATCHERS, false},
    };
    Bench *b = bench_new(argc, argv, "one of 1,000 runs is watched: a step of the others");
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        measure(b, &ways[i]);
    }
    return bench_end(b);
}
