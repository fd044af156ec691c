/* bench_watch.c - what it costs the others when somebody watches a run.
 *
 * A thousand runs count beside each other in one engine. In every other round one of them is watched:
 * it is held, and each of its events is listened to. What counts is a step of the other 999, in time on the
 * wall, for who is made to wait uses no processor: rounds with and without a watcher alternate, and what
 * counts is the median of the ratios of neighbours. Instructions (bench/instructions) are those of the loop's thread and the
 * store's. */
#include "bench.h"
#include "engine_load.h"
#include "hooks.h"
#include "mem.h"

enum { RUNS = 1000, STEPS = 20000, ROUNDS = 61, QUICK_ROUNDS = 3 };

typedef struct Crowd {
    Bed bed;
    Load load;
    Run *watched;
    Run *others[RUNS - 1];
    uint64_t heard;
} Crowd;

static Run *start(Crowd *c) {
    Error err = ERROR_INIT;
    Run *run =
        engine_start_now(c->bed.engine, c->load.flow, &(RunStart){.input = c->load.input}, &err);
    if (!run) {
        give_up("%s", err.msg);
    }
    return run;
}

static Crowd *crowd_new(Where where) {
    Crowd *c = mem_zalloc(sizeof *c);
    c->bed = bed_open(where);
    c->load = load_counter(0, INT64_C(1) << 40);
    c->watched = start(c);
    for (int i = 0; i < RUNS - 1; i++) {
        c->others[i] = start(c);
    }
    return c;
}

static void crowd_free(Crowd *c) {
    run_set_hooks(c->watched, NULL, NULL);
    bed_close(&c->bed);
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

static void watch(Crowd *c, bool watched) {
    static const RunHooks hooks = {.at = look_on,
                                   .frame_new = see_frame,
                                   .frame_end = see_frame,
                                   .event = hear,
                                   .events = (1u << EVENT_COUNT) - 1};
    run_set_hooks(c->watched, watched ? &hooks : NULL, c);
    run_hold(c->watched, watched);
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
        uv_run(c->bed.loop, UV_RUN_ONCE);
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

static void measure(Bench *b, const char *what, Where where) {
    Crowd *c = crowd_new(where);
    if (bench_is_counting(b)) {
        bench_row(b, &(BenchRow){.what = what,
                                 .ours = {.run = run_watched, .ctx = c},
                                 .peer = {.run = run_unwatched, .ctx = c},
                                 .bar = BENCH_TIMES,
                                 .per = STEPS});
    } else {
        double sides[2][ROUNDS], ratios[ROUNDS];
        size_t rounds = bench_is_quick(b) ? QUICK_ROUNDS : ROUNDS;
        round_of(c, false, 1); /* warm */
        for (size_t i = 0; i < rounds; i++) {
            bool first = i % 2 == 0; /* so that what grows with time is on both sides */
            sides[!first][i] = seconds_a_step(c, first);
            sides[first][i] = seconds_a_step(c, !first);
            ratios[i] = sides[0][i] / sides[1][i];
        }
        if (!c->heard) {
            give_up("Nothing was heard of the run that is watched.");
        }
        double base = median(sides[1], rounds);
        bench_figure(
            b, &(BenchFigure){what, base * median(ratios, rounds), base, BENCH_TIMES, 1.03, NULL});
    }
    crowd_free(c);
}

int main(int argc, char **argv) {
    Bench *b = bench_new(argc, argv, "one of 1,000 runs is watched: a step of the others");
    beds_in(memory_folder());
    measure(b, "no store, beside nobody watching", NOWHERE);
    measure(b, "store in SQLite, beside nobody watching", IN_SQLITE);
    return bench_end(b);
}
