/* bench_debug.c - what a debugger costs: to those who have none, to those who have one, and to the
 * person who waits for it.
 *
 * - Steps: a step without a session beside an engine that has no branch for one; then a step with a
 *   session and breakpoints elsewhere beside one without. Both sides are runs of the same graph
 *   (counting.h) that stay in memory, and their rounds alternate.
 * - Breakpoints at the node: a step that tries one and goes on, less a step with a session alone.
 * - Waiting: from a command until what came of it is told, on the wall. With SQLite a commit is in it: once
 *   in a file that no disk is behind, once on the disk, beside what that takes to make 4 KB durable. A run
 *   that is stopped in full swing has some hundred steps to commit before its pause is told: on the disk
 *   that is shown, and no bar judges it.
 * - Frames: a map of which all elements are paused at once. What one of them costs must not depend on how
 *   many there are.
 */
#include "bench.h"
#include "counting.h"
#include "json_build.h"
#include "json_parse.h"
#include "mem.h"
#include "session_api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STEP_ROUNDS = 60,
    PLACES = 4, /* where the values of a run lie is worth 2 % of a step: each side has some runs */
    MANY = 10000, /* breakpoints, frames */
    SERIES = 5,
    WAITS = 1000, /* in each of them */
    WAITS_ON_DISK = 200,
    STATE_BYTES = 10000000,
    FRAME_ROUNDS = 5,
    SIZES = 3,
};

#define NO_STORE "no store"
#define MEMORY   "memory"

static bool quick;

static int64_t part_of(int64_t n) {
    return quick ? n / 100 : n;
}

/* ---- sessions ---- */

typedef struct Heard {
    double paused; /* when the last pause was told */
    size_t pauses, all;
} Heard;

static void hear(void *ctx, Json event) {
    Heard *heard = ctx;
    heard->all++;
    if (json_string_is(json_object_get_c(event, "event"), "paused")) {
        heard->paused = wall_seconds();
        heard->pauses++;
    }
    json_unref(event);
}

static Json parsed(const char *text) {
    Json value = json_parse(text, strlen(text), NULL, NULL);
    if (json_is_none(value)) {
        give_up("This is no JSON: %s", text);
    }
    return value;
}

static Json ask(Session *s, const char *operation, Json args) {
    Error err = ERROR_INIT;
    Json answer = session_call(s, operation, args, &err);
    if (json_is_none(answer)) {
        give_up("%s", err.msg);
    }
    return answer;
}

static void tell(Session *s, const char *operation, Json args) {
    json_unref(ask(s, operation, args));
}

/* Frames stop by themselves unless all are to. */
static Session *attach(Run *run, Heard *heard, bool from_start, bool all) {
    Error err = ERROR_INIT;
    SessionOptions options = {.event = hear,
                              .ctx = heard,
                              .pause_on_start = from_start,
                              .pause_all = all ? 1 : -1,
                              .breakpoints = json_none()};
    Session *s = session_attach(run, &options, &err);
    if (!s) {
        give_up("%s", err.msg);
    }
    return s;
}

static void set_break(Session *s, const char *text) {
    tell(s, "breakpoint_set", parsed(text));
}

/* ---- steps ---- */

/* The rounds of a side go from one of its runs to the next: the best is that of the best place. */
typedef struct Runs {
    void (*run)(void *counter, size_t times);
    void *of[PLACES];
    size_t next;
} Runs;

static void run_next(void *ctx, size_t times) {
    Runs *runs = ctx;
    runs->run(runs->of[runs->next++ % PLACES], times);
}

static Runs side_open(const EngineSide *side, Where where) {
    Runs runs = {.run = side->run};
    for (int i = 0; i < PLACES; i++) {
        runs.of[i] = side->open(where);
    }
    return runs;
}

static void side_close(const EngineSide *side, Runs *runs) {
    for (int i = 0; i < PLACES; i++) {
        side->close(runs->of[i]);
    }
}

typedef struct Watched {
    Counter counter;  /* first: it is run as one */
    Session *session; /* NULL: none */
    Heard heard;
} Watched;

static Watched *watched_new(Where where, bool debugged) {
    Watched *w = mem_zalloc(sizeof *w);
    counter_open(&w->counter, where);
    w->session = debugged ? attach(w->counter.run, &w->heard, false, false) : NULL;
    return w;
}

static Runs runs_open(Where where, bool debugged) {
    Runs runs = {.run = counter_run};
    for (int i = 0; i < PLACES; i++) {
        runs.of[i] = watched_new(where, debugged);
    }
    return runs;
}

static void runs_close(Runs *runs) {
    for (int i = 0; i < PLACES; i++) {
        Watched *w = runs->of[i];
        session_free(w->session);
        counter_close(&w->counter);
        mem_free(w);
    }
}

static Session *session_of(const Runs *runs, int i) {
    return ((Watched *)runs->of[i])->session;
}

/* All of them at nodes that there are, and that the run does not come to. */
static double set_elsewhere(Session *s, int64_t n) {
    double began = wall_seconds();
    for (int64_t i = 0; i < n; i++) {
        char text[80];
        snprintf(text, sizeof text, "{\"node\":\"spare-%d\"}", (int)(i % COUNTING_SPARES));
        set_break(s, text);
    }
    return wall_seconds() - began;
}

typedef struct StepRow {
    const char *what, *where;
    Runs *ours, *base;
    BenchBar bar;
    double limit;
} StepRow;

static void step_row(Bench *b, const StepRow *row) {
    char text[128];
    snprintf(text, sizeof text, "%s, %s", row->what, row->where);
    bench_row(b, &(BenchRow){.what = text,
                             .ours = {run_next, row->ours, NULL},
                             .peer = {run_next, row->base, NULL},
                             .bar = row->bar,
                             .limit = row->limit,
                             .per = COUNTING_STEPS,
                             .rounds = STEP_ROUNDS});
}

static void without_a_session(Bench *b, Where where, const char *name) {
    Runs ours = side_open(&engine_as_it_is, where);
    Runs bare = side_open(&engine_without_hooks, where);
    step_row(b, &(StepRow){"no session, beside no branch for one", name, &ours, &bare, BENCH_TIMES,
                           1.01});
    side_close(&engine_as_it_is, &ours);
    side_close(&engine_without_hooks, &bare);
}

/* Seconds for setting one. */
static double set_in_all(const Runs *runs, int64_t n) {
    double took = 0;
    for (int i = 0; i < PLACES; i++) {
        took += set_elsewhere(session_of(runs, i), n);
    }
    return n ? took / (double)(n * PLACES) : 0;
}

static double with_breakpoints(Bench *b, Where where, const char *name, int64_t n) {
    Runs plain = runs_open(where, false), ours = runs_open(where, true);
    char what[80];
    double each = set_in_all(&ours, n);
    snprintf(what, sizeof what, "session, %d breakpoints elsewhere", (int)n);
    step_row(b, &(StepRow){what, name, &ours, &plain, BENCH_TIMES, n ? 1.1 : 1.05});
    runs_close(&ours);
    runs_close(&plain);
    return each;
}

typedef struct Tried {
    const char *what, *spec;
    int times; /* that many of it */
    double limit;
} Tried;

/* Beside a session without breakpoints. */
static void try_at_the_node(Bench *b, const Tried *t, Where where, const char *name) {
    Runs plain = runs_open(where, true), ours = runs_open(where, true);
    for (int i = 0; i < PLACES * t->times; i++) {
        set_break(session_of(&ours, i % PLACES), t->spec);
    }
    step_row(b, &(StepRow){t->what, name, &ours, &plain, BENCH_MORE, t->limit});
    runs_close(&ours);
    runs_close(&plain);
}

static const Tried tried[] = {
    {"a condition that is false", "{\"node\":\"step\",\"condition\":\".count < 0\"}", 1, 200e-9},
    {"ten of them", "{\"node\":\"step\",\"condition\":\".count < 0\"}", 10, 2000e-9},
    {"a condition without a place", "{\"condition\":\".count < 0\"}", 1, 200e-9},
    {"state that does not change", "{\"state\":{\"path\":\".kept.a.b\",\"changed\":true}}", 1, 0},
    {"a hit that is passed over", "{\"node\":\"step\",\"ignore_count\":1000000000}", 1, 0},
    {"a log point", "{\"node\":\"step\",\"log_message\":\"at \\\\(.count)\"}", 1, 0},
};

static void steps_in(Bench *b, Where where, const char *name) {
    with_breakpoints(b, where, name, 0);
    double few = with_breakpoints(b, where, name, 100);
    double many = with_breakpoints(b, where, name, part_of(MANY));
    if (where == IN_MEMORY) {
        bench_figure(b, &(BenchFigure){.what = "setting one of 10000, beside one of 100",
                                       .ours = many,
                                       .peer = few,
                                       .bar = BENCH_TIMES,
                                       .limit = 2});
    }
}

static void steps(Bench *b) {
    without_a_session(b, NOWHERE, NO_STORE);
    without_a_session(b, IN_MEMORY, MEMORY);
    steps_in(b, NOWHERE, NO_STORE);
    steps_in(b, IN_MEMORY, MEMORY);
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        try_at_the_node(b, &tried[i], NOWHERE, NO_STORE);
    }
}

/* ---- waiting ---- */

typedef struct Desk { /* a person at a run that counts */
    Bed bed;
    Load load;
    Run *run;
    Session *session;
    Heard heard;
    uv_timer_t timer;
    double asked;
    int file; /* of a person who only waits for the disk */
} Desk;

static void sit_down(Desk *d, Where where, Load load, bool from_start) {
    Error err = ERROR_INIT;
    *d = (Desk){.bed = bed_open(where), .load = load};
    d->run = engine_start_now(d->bed.engine, load.flow, &(RunStart){.input = load.input}, &err);
    if (!d->run) {
        give_up("%s", err.msg);
    }
    d->session = attach(d->run, &d->heard, from_start, true);
}

static void get_up(Desk *d) {
    session_free(d->session);
    bed_close(&d->bed);
    load_clear(&d->load);
}

static double waited(Desk *d, size_t pauses) {
    uv_run(d->bed.loop, UV_RUN_DEFAULT);
    if (d->heard.pauses != pauses + 1) {
        give_up("%zu pauses were told instead of one.", d->heard.pauses - pauses);
    }
    return d->heard.paused - d->asked;
}

static double wait_for_step(Desk *d) {
    size_t pauses = d->heard.pauses;
    Json args = json_object_with(json_object(), "kind", json_string_c("over"));
    d->asked = wall_seconds();
    tell(d->session, "step", args);
    return waited(d, pauses);
}

static void ask_to_pause(uv_timer_t *timer) {
    Desk *d = timer->data;
    d->asked = wall_seconds();
    tell(d->session, "pause", json_none());
}

/* It has gone on for a millisecond by then. */
static double wait_for_pause(Desk *d) {
    size_t pauses = d->heard.pauses;
    tell(d->session, "continue", json_none());
    uv_timer_start(&d->timer, ask_to_pause, 1, 0);
    return waited(d, pauses);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct Spread {
    double half, most; /* 50 and 99 of a hundred take at most that long */
} Spread;

static Spread spread_of(double *values, size_t n) {
    qsort(values, n, sizeof *values, compare_doubles);
    return (Spread){values[n / 2], values[n * 99 / 100]};
}

/* The best of some series, each figure by itself: what else the machine does is in the others. */
static Spread times_of(Desk *d, double (*wait)(Desk *d), size_t n) {
    double *values = mem_alloc(n * sizeof *values);
    Spread best = {INFINITY, INFINITY};
    wait(d); /* warm */
    for (int series = 0; series < (quick ? 1 : SERIES); series++) {
        for (size_t i = 0; i < n; i++) {
            values[i] = wait(d);
        }
        Spread spread = spread_of(values, n);
        best = (Spread){fmin(best.half, spread.half), fmin(best.most, spread.most)};
    }
    mem_free(values);
    return best;
}

/* What the disk takes to make 4 KB durable. */
static double wait_for_disk(Desk *d) {
    static const char page[4096];
    double began = wall_seconds();
    if (pwrite(d->file, page, sizeof page, 0) != sizeof page || fdatasync(d->file) != 0) {
        give_up("A file cannot be written here.");
    }
    return wall_seconds() - began;
}

static Spread times_of_disk(size_t n) {
    char path[] = "bench-sync-XXXXXX";
    Desk d = {.file = mkstemp(path)};
    Spread spread = times_of(&d, wait_for_disk, n);
    close(d.file);
    unlink(path);
    return spread;
}

/* base: what the disk takes. */
static void waited_rows(Bench *b, const char *what, Spread s, Spread base, bool judged) {
    char text[80];
    double limits[] = {judged ? 1e-3 : 0, judged ? 5e-3 : 0};
    snprintf(text, sizeof text, "%s: half", what);
    bench_figure(b, &(BenchFigure){text, s.half, base.half, BENCH_SECONDS, limits[0], NULL});
    snprintf(text, sizeof text, "%s: 99 of 100", what);
    bench_figure(b, &(BenchFigure){text, s.most, base.most, BENCH_SECONDS, limits[1], NULL});
}

static void close_timer(Desk *d) {
    uv_close((uv_handle_t *)&d->timer, NULL);
    uv_run(d->bed.loop, UV_RUN_DEFAULT);
}

static void waits(Bench *b, Where where, const char *name, Spread base, size_t n) {
    Desk d;
    char what[80];
    sit_down(&d, where, load_counter(0, INT64_C(1) << 52), true);
    uv_timer_init(d.bed.loop, &d.timer);
    d.timer.data = &d;
    uv_run(d.bed.loop, UV_RUN_DEFAULT);
    snprintf(what, sizeof what, "step to next pause, %s", name);
    waited_rows(b, what, times_of(&d, wait_for_step, n), base, true);
    snprintf(what, sizeof what, "pause to its event, %s", name);
    waited_rows(b, what, times_of(&d, wait_for_pause, n), base, base.half == 0);
    close_timer(&d);
    get_up(&d);
}

static void waiting(Bench *b) {
    size_t n = (size_t)part_of(WAITS), on_disk = (size_t)part_of(WAITS_ON_DISK);
    waits(b, IN_MEMORY, MEMORY, (Spread){0}, n);
    beds_in(memory_folder());
    waits(b, IN_SQLITE, "SQLite, no disk", (Spread){0}, n);
    beds_in(".");
    waits(b, IN_SQLITE, "SQLite, disk", times_of_disk(on_disk), on_disk);
}

/* ---- differences ---- */

static void ask_diff(void *ctx, size_t times) {
    Desk *d = ctx;
    for (size_t i = 0; i < times; i++) {
        tell(d->session, "diff", json_none());
    }
}

static void diff_pauses(void *ctx, size_t times) {
    Desk *d = ctx;
    Frame *f = session_frame(d->session, 1, NULL);
    for (size_t i = 0; i < times; i++) {
        json_unref(session_diff_pauses(f, NULL));
    }
}

static void diff_nodes(void *ctx, size_t times) {
    Desk *d = ctx;
    for (size_t i = 0; i < times; i++) {
        tell(d->session, "diff", OBJECT(KEY("frame", json_int(1)), KEY("since", "node")));
    }
}

static void check_diff(Desk *d) {
    Json diff = ask(d->session, "diff", json_none());
    Json changed = json_object_get_c(diff, "changed");
    if (json_kind(changed) != JSON_ARRAY || json_array_len(changed) != 1) {
        give_up("A step that changes one key has another difference.");
    }
    json_unref(diff);
}

static void differences(Bench *b) {
    Desk d;
    sit_down(&d, IN_MEMORY, load_counter((size_t)part_of(STATE_BYTES), 1000000), true);
    uv_run(d.bed.loop, UV_RUN_DEFAULT);
    Spread step = times_of(&d, wait_for_step, 20);
    check_diff(&d);
    bench_row(b, &(BenchRow){.what = "10 MB, one key changed: since the last pause",
                             .ours = {diff_pauses, &d, NULL},
                             .bar = BENCH_SECONDS,
                             .limit = 10e-6});
    bench_row(b, &(BenchRow){.what = "the same asked as `diff`",
                             .ours = {ask_diff, &d, NULL},
                             .bar = BENCH_SECONDS,
                             .limit = 10e-6});
    bench_row(b, &(BenchRow){.what = "across the last node, from the store",
                             .ours = {diff_nodes, &d, NULL}});
    bench_figure(b, &(BenchFigure){.what = "step to next pause in 10 MB, memory",
                                   .ours = step.half,
                                   .bar = BENCH_SECONDS,
                                   .limit = 1e-3});
    get_up(&d);
}

/* ---- many frames at once ---- */

typedef enum FrameFigure {
    PLAIN,   /* nobody debugs: from the start to the end */
    STOPPED, /* each by a breakpoint of its own; from the start until all are paused */
    SWEPT,   /* one by a breakpoint, and the others with it */
    LISTED,  /* by pages */
    ONE,     /* one is let go until the others rest again; not for a frame, but once */
    ORDERED, /* `continue` for all of them */
    ENDED,   /* from then to the end */
    HEAP,    /* bytes more than a frame that waits for a person */
    FIGURES,
} FrameFigure;

static const struct {
    const char *name;
    bool once, bytes;
    double limit; /* what the most frames may take, as times of the ten times fewer */
} figures[FIGURES] = {
    [PLAIN] = {"not debugged, to its end", false, false, 0},
    [STOPPED] = {"paused, each by itself", false, false, 2},
    [SWEPT] = {"paused with the first", false, false, 2},
    [LISTED] = {"listed", false, false, 2},
    [ONE] = {"one let go (once)", true, false, 0},
    [ORDERED] = {"told to continue", false, false, 2},
    [ENDED] = {"then, to its end", false, false, 2},
    [HEAP] = {"heap, beside waiting", false, true, 0},
};

typedef struct Crowd {
    double of[FIGURES];
} Crowd;

static void keep_least(Crowd *c, FrameFigure figure, double began, double n) {
    double each = (wall_seconds() - began) / n;
    c->of[figure] = c->of[figure] > 0 ? fmin(c->of[figure], each) : each;
}

static void check_paused(const Desk *d, size_t n) {
    if (d->heard.pauses != n) {
        give_up("%zu frames were paused instead of %zu.", d->heard.pauses, n);
    }
}

static void list_all(Session *s, size_t n) {
    size_t listed = 0;
    while (listed < n + 1) {
        Json args = json_object_with(json_object(), "offset", json_int((int64_t)listed));
        Json page = ask(s, "frames", args);
        size_t got = json_array_len(json_object_get_c(page, "frames"));
        json_unref(page);
        if (!got) {
            give_up("%zu of %zu frames are listed.", listed, n + 1);
        }
        listed += got;
    }
}

static void let_one_go(Desk *d) {
    tell(d->session, "continue", json_object_with(json_object(), "frame", json_int(2)));
    uv_run(d->bed.loop, UV_RUN_DEFAULT);
}

static void let_all_go(Desk *d, Crowd *c, double n) {
    double began = wall_seconds();
    tell(d->session, "continue", json_object_with(json_object(), "frame", json_string_c("all")));
    keep_least(c, ORDERED, began, n);
    began = wall_seconds();
    uv_run(d->bed.loop, UV_RUN_DEFAULT);
    keep_least(c, ENDED, began, n);
    if (strcmp(run_status(d->run), "completed") != 0) {
        give_up("The run is %s after all of its frames were let go.", run_status(d->run));
    }
}

static void pause_all(Desk *d, Where where, int64_t n, bool swept) {
    sit_down(d, where, load_frames(n), false);
    tell(d->session, "configure",
         json_object_with(json_object(), "pause_all_on_breakpoint", json_bool(swept)));
    set_break(d->session, swept ? "{\"node\":\"each[]\",\"condition\":\"$index == 0\"}"
                                : "{\"node\":\"each[]\"}");
    uv_run(d->bed.loop, UV_RUN_DEFAULT);
    check_paused(d, (size_t)n);
}

static void crowd_round(Crowd *c, Where where, int64_t n) {
    Desk d;
    double began = wall_seconds();
    pause_all(&d, where, n, false);
    keep_least(c, STOPPED, began, (double)n);
    get_up(&d);
    began = wall_seconds();
    pause_all(&d, where, n, true);
    keep_least(c, SWEPT, began, (double)n);
    began = wall_seconds();
    list_all(d.session, (size_t)n);
    keep_least(c, LISTED, began, (double)n);
    began = wall_seconds();
    let_one_go(&d);
    keep_least(c, ONE, began, 1);
    let_all_go(&d, c, (double)n);
    get_up(&d);
}

static void plain_round(Crowd *c, Where where, int64_t n) {
    Load load = load_frames(n);
    Bed bed = bed_open(where);
    Cost cost = bed_run(&bed, &load);
    double each = (cost.started + cost.wall) / (double)n;
    c->of[PLAIN] = c->of[PLAIN] > 0 ? fmin(c->of[PLAIN], each) : each;
    bed_close(&bed);
    load_clear(&load);
}

/* Frames that wait for a person, or are paused before that. What they are in the store is in no heap. */
static uint64_t heap_of_frames(int64_t n, bool debugged) {
    Desk d;
    Load load = load_waiting(n);
    uint64_t before = bench_heap();
    sit_down(&d, IN_SQLITE, load, false);
    if (debugged) {
        set_break(d.session, "{\"node\":\"each[]\"}");
    } else {
        session_detach(d.session);
    }
    uv_run(d.bed.loop, UV_RUN_DEFAULT);
    check_paused(&d, debugged ? (size_t)n : 0);
    uint64_t bytes = bench_heap() - before;
    get_up(&d);
    return bytes;
}

static Crowd measure_crowd(Where where, int64_t n) {
    Crowd c = {{0}};
    for (int i = 0; i < (quick ? 1 : FRAME_ROUNDS); i++) {
        plain_round(&c, where, n);
        crowd_round(&c, where, n);
    }
    uint64_t debugged = heap_of_frames(n, true), waiting_too = heap_of_frames(n, false);
    c.of[HEAP] = ((double)debugged - (double)waiting_too) / (double)n;
    return c;
}

static void print_crowd(const Crowd *crowds, FrameFigure figure) {
    printf("  %-30s", figures[figure].name);
    for (int i = 0; i < SIZES; i++) {
        char text[BENCH_TEXT_MAX];
        double value = crowds[i].of[figure];
        bench_cell(figures[figure].bytes ? bench_bytes_text(value, text)
                                         : bench_time_text(value, text),
                   11);
    }
    putchar('\n');
}

static void crowds_in(Bench *b, Where where, const char *name) {
    static const int64_t sizes[SIZES] = {100, 1000, 10000};
    Crowd crowds[SIZES];
    printf("a frame of so many that are paused at once, %s\n  %-30s", name, "frames");
    for (int i = 0; i < SIZES; i++) {
        int64_t n = quick ? sizes[i] / 10 : sizes[i];
        crowds[i] = measure_crowd(where, n);
        printf("%11d", (int)n);
    }
    putchar('\n');
    for (FrameFigure f = 0; f < FIGURES; f++) {
        print_crowd(crowds, f);
    }
    for (FrameFigure f = 0; f < FIGURES; f++) {
        char what[80];
        snprintf(what, sizeof what, "%s: of 10000, beside 1000", figures[f].name);
        if (figures[f].limit > 0) {
            bench_figure(b, &(BenchFigure){what, crowds[2].of[f], crowds[1].of[f], BENCH_TIMES,
                                           figures[f].limit, NULL});
        }
    }
    bench_figure(b, &(BenchFigure){.what = "one of 10000 let go until the others rest",
                                   .ours = crowds[2].of[ONE],
                                   .bar = BENCH_SECONDS,
                                   .limit = 1e-3});
}

static void frames(Bench *b) {
    beds_in(memory_folder());
    crowds_in(b, IN_MEMORY, MEMORY);
    crowds_in(b, IN_SQLITE, "SQLite, no disk");
    beds_in(".");
}

int main(int argc, char **argv) {
    Bench *b = bench_new(argc, argv, "debugging (libjq here: what ours is compared with)");
    quick = bench_is_quick(b);
    steps(b);
    if (!bench_is_counting(b)) {
        waiting(b);
    }
    differences(b);
    if (!bench_is_counting(b)) {
        frames(b);
    }
    return bench_end(b);
}
