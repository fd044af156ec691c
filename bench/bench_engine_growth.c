/* bench_engine_growth.c - what a step of a run costs as its state, its history and the number of its
 * frames grow; what a run costs beside others that rest; and what it costs to read a checkpoint.
 *
 * A figure is what the second half of a run takes: the whole run less one of half the length. So what
 * happens once a run (starting it, storing what it begins with) drops out. Time is processor time of
 * both threads, the median of some rounds. The databases are in memory where there is a folder for that:
 * how a disk takes the bytes is no question of growth.
 */
#include "bench.h"
#include "engine_load.h"
#include "store_chain.h"
#include "svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SIZES_MAX = 6,
    LINES_MAX = 3,
    ROUNDS = 7,
    STEPS = 100000, /* of a run whose state grows */
    LOOPS = 20000,
    LEAST = 10000, /* steps or frames in all that a figure comes from: small runs are many */
    READS = 50,
    READ_STEPS = 20000,
    SHORT_STEPS = 3,
    SHORT_RUNS = 1000,
};

static bool quick;

/* ---- rounds ---- */

static int rounds(void) {
    return quick ? 1 : ROUNDS;
}

static Cost best_cost(const Load *load, Where where) {
    Cost best = load_cost(load, where);
    for (int i = 1; i < rounds(); i++) {
        best.cpu = fmin(best.cpu, load_cost(load, where).cpu);
    }
    return best;
}

static size_t runs_for(double size) {
    return (size_t)fmax(1, LEAST / size);
}

/* ---- what grows ---- */

static Cost cost_by_state(double size, Where where) {
    Load load = load_counter((size_t)size, STEPS);
    Cost c = load_second_half(&load, quick ? STEPS / 10 : STEPS, where, rounds());
    load_clear(&load);
    return c;
}

static Cost cost_of_loops(double size, Where where) {
    Load load = load_loops((size_t)size, LOOPS);
    Cost c = load_second_half(&load, quick ? LOOPS / 10 : LOOPS, where, rounds());
    load_clear(&load);
    return c;
}

static Cost cost_by_history(double size, Where where) {
    Load load = load_counter(0, 0);
    load.runs = runs_for(size);
    Cost c = load_second_half(&load, (int64_t)size, where, rounds());
    load_clear(&load);
    return c;
}

/* The run that has the frames is in it. */
static Cost cost_by_frames(double size, Where where) {
    Load load = load_frames((int64_t)size);
    load.runs = runs_for(size);
    Cost c = best_cost(&load, where);
    double n = size * (double)load.runs;
    load_clear(&load);
    return (Cost){.cpu = c.cpu / n, .bytes = c.bytes / n};
}

/* One short run after the other, in an engine that holds others which have ended. */
static Cost cost_beside_held(double size, Where where) {
    Load held = load_counter(0, SHORT_STEPS), one = load_counter(0, SHORT_STEPS);
    double cpu = 0;
    held.runs = (size_t)size;
    Bed bed = bed_open(where);
    bed_hold(&bed, &held);
    for (int i = 0; i < SHORT_RUNS; i++) {
        cpu += bed_run(&bed, &one).cpu;
    }
    bed_close(&bed);
    load_clear(&held);
    load_clear(&one);
    return (Cost){.cpu = cpu / SHORT_RUNS};
}

static double seconds_of_read(Store *store, int64_t seq) {
    Error err = ERROR_INIT;
    double began = wall_seconds();
    Json image = chain_image(store, 1, seq, NULL, &err);
    double took = wall_seconds() - began;
    if (json_is_none(image)) {
        give_up("%s", err.msg);
    }
    json_unref(image);
    return took;
}

/* The slowest of some, on the wall; bytes has the mean. */
static Cost cost_of_reading(double size, Where where) {
    int64_t steps = quick ? READ_STEPS / 10 : READ_STEPS;
    Load load = load_counter((size_t)size, steps);
    Bed bed = bed_open(where);
    bed_run(&bed, &load);
    bed_reopen(&bed);
    double worst = 0, sum = 0;
    srand(1);
    for (int i = 0; i < READS; i++) {
        double took = seconds_of_read(bed.store, 1 + rand() % steps);
        worst = fmax(worst, took);
        sum += took;
    }
    bed_close(&bed);
    load_clear(&load);
    return (Cost){.cpu = worst, .bytes = sum / READS};
}

/* ---- tables ---- */

typedef struct Line {
    const char *name;
    Where where;
    bool bytes; /* the other member of the cost */
} Line;

typedef struct Subject {
    const char *title, *x_title, *file;
    Cost (*cost)(double size, Where where);
    double sizes[SIZES_MAX];
    size_t nsizes;
    Line lines[LINES_MAX];
    size_t nlines;
    double
        limit; /* times that SQLite may take longer at sizes[limit_at] than at the first; 0: none */
    size_t limit_at;
    double
        most_bytes; /* a size is not tried when the one before it took more in all; 0: no matter */
} Subject;

#define STEP_LINES                          \
    .lines = {{"no store", NOWHERE, false}, \
              {"SQLite", IN_SQLITE, false}, \
              {"bytes", IN_SQLITE, true}},  \
    .nlines = 3

static const Subject subjects[] = {
    {.title = "a step as the state grows, of which it changes one small key",
     .x_title = "bytes of state",
     .file = "state",
     .cost = cost_by_state,
     .sizes = {1e3, 1e4, 1e5, 1e6, 1e7},
     .nsizes = 5,
     STEP_LINES,
     .limit = 1.2,
     .limit_at = 3},
    {.title = "a loop of one turn as the state around it grows",
     .x_title = "bytes of state",
     .file = "levels",
     .cost = cost_of_loops,
     .sizes = {1e3, 1e4, 1e5, 1e6, 1e7},
     .nsizes = 5,
     STEP_LINES,
     .limit = 1.2,
     .limit_at = 3},
    {.title = "a step as the history behind it grows",
     .x_title = "steps",
     .file = "history",
     .cost = cost_by_history,
     .sizes = {1e1, 1e2, 1e3, 1e4, 1e5, 1e6},
     .nsizes = 6,
     STEP_LINES,
     .limit = 1.2,
     .limit_at = 5},
    {.title = "a frame as there are more of them beside each other",
     .x_title = "frames",
     .file = "frames",
     .cost = cost_by_frames,
     .sizes = {1, 1e1, 1e2, 1e3, 1e4, 1e5},
     .nsizes = 6,
     STEP_LINES,
     .most_bytes = 256e6},
    {.title = "a run of three steps beside others that are held and have ended",
     .x_title = "runs",
     .file = "held",
     .cost = cost_beside_held,
     .sizes = {1e1, 1e2, 1e3, 1e4, 1e5},
     .nsizes = 5,
     .lines = {{"no store", NOWHERE, false}, {"SQLite", IN_SQLITE, false}},
     .nlines = 2,
     .limit = 1.5,
     .limit_at = 3},
    {.title = "reading any checkpoint as the state grows",
     .x_title = "bytes of state",
     .file = "reading",
     .cost = cost_of_reading,
     .sizes = {1e3, 1e4, 1e5, 1e6, 1e7},
     .nsizes = 5,
     .lines = {{"slowest", IN_SQLITE, false}, {"mean", IN_SQLITE, true}},
     .nlines = 2},
};

enum { SUBJECTS = sizeof subjects / sizeof subjects[0], QUICK_SIZES = 3 };

typedef struct Figures {
    double y[LINES_MAX][SIZES_MAX];
    size_t n; /* sizes that were measured */
} Figures;

static bool is_bytes(const Subject *s, size_t line) {
    return s->lines[line].bytes && s->cost != cost_of_reading;
}

/* Lines of one place share the measurement. False when the next size would be too much. */
static bool measure_size(const Subject *s, Figures *f) {
    Cost c = {0};
    double size = s->sizes[f->n];
    for (size_t l = 0; l < s->nlines; l++) {
        if (!l || s->lines[l].where != s->lines[l - 1].where) {
            c = s->cost(size, s->lines[l].where);
        }
        f->y[l][f->n] = s->lines[l].bytes ? c.bytes : c.cpu;
    }
    f->n++;
    return s->most_bytes == 0 || c.bytes * size <= s->most_bytes;
}

static Figures measure(const Subject *s) {
    Figures f = {.n = 0};
    size_t sizes = quick ? QUICK_SIZES : s->nsizes;
    while (f.n < sizes && measure_size(s, &f)) {}
    return f;
}

static void print_line(const Subject *s, const Figures *figures, size_t line) {
    printf("  %-23s", s->lines[line].name);
    for (size_t i = 0; i < figures->n; i++) {
        char text[BENCH_TEXT_MAX];
        double y = figures->y[line][i];
        const char *cell = isnan(y)            ? "?"
                           : is_bytes(s, line) ? bench_bytes_text(y, text)
                                               : bench_time_text(y, text);
        bench_cell(cell, 11);
    }
    putchar('\n');
}

/* False when there is a limit and it does not hold. */
static bool print_ratio(const Subject *s, const Figures *figures) {
    enum { SQLITE_LINE = 1 };
    if (s->limit == 0 || s->limit_at >= figures->n) {
        return true;
    }
    double ratio = figures->y[SQLITE_LINE][s->limit_at] / figures->y[SQLITE_LINE][0];
    bool holds = ratio <= s->limit; /* not when one of them could not be measured */
    printf("  %s at %.0f ÷ at %.0f: %.2f× (≤ %g×: %s)\n", s->lines[SQLITE_LINE].name,
           s->sizes[s->limit_at], s->sizes[0], ratio, s->limit, holds ? "yes" : "NO");
    return holds;
}

static bool print_table(const Subject *s, const Figures *figures) {
    printf("%s\n  %-23s", s->title, s->x_title);
    for (size_t i = 0; i < figures->n; i++) {
        printf("%11.0f", s->sizes[i]);
    }
    putchar('\n');
    for (size_t l = 0; l < s->nlines; l++) {
        print_line(s, figures, l);
    }
    if (!quick && figures->n < s->nsizes) {
        printf("  %.0f is not tried: %.0f took more than %.0f MB\n", s->sizes[figures->n],
               s->sizes[figures->n - 1], s->most_bytes / 1e6);
    }
    bool holds = print_ratio(s, figures);
    fflush(stdout);
    return holds;
}

/* ---- charts ---- */

static const char *time_axis(double seconds, char *out) {
    char text[BENCH_TEXT_MAX], unit[8];
    double value;
    bench_time_text(seconds, text);
    sscanf(text, "%lf %7s", &value, unit);
    snprintf(out, BENCH_TEXT_MAX, "%.0f %s", value, unit);
    return out;
}

static bool measured(const Figures *figures, const SvgLine *lines, size_t n) {
    for (size_t i = 0; i < n * figures->n; i++) {
        if (isnan(lines[i / figures->n].y[i % figures->n])) {
            printf("  not drawn: a figure could not be measured\n");
            return false;
        }
    }
    return true;
}

static bool draw(const Subject *s, const Figures *figures, bool bytes, const char *folder) {
    SvgLine lines[LINES_MAX];
    size_t n = 0;
    char path[512], title[128];
    for (size_t l = 0; l < s->nlines; l++) {
        if (is_bytes(s, l) == bytes) {
            lines[n++] = (SvgLine){s->lines[l].name, false, (int)l, figures->y[l]};
        }
    }
    if (!n || !measured(figures, lines, n)) {
        return true;
    }
    snprintf(title, sizeof title, "%s: %s", bytes ? "Bytes on disk" : "Time", s->title);
    snprintf(path, sizeof path, "%s/engine-%s%s.svg", folder, s->file, bytes ? "-bytes" : "");
    SvgChart chart = {
        title, s->x_title, s->sizes, figures->n, lines, n, bytes ? bench_bytes_text : time_axis};
    return svg_write(&chart, path);
}

static bool draw_both(const Subject *s, const Figures *figures, const char *folder) {
    return draw(s, figures, false, folder) && draw(s, figures, true, folder);
}

int main(int argc, char **argv) {
    Bench *b = bench_new(argc, argv, "growth: what runs cost as they grow");
    bool good = true;
    quick = bench_is_quick(b);
    beds_in(memory_folder());
    for (size_t i = 0; i < SUBJECTS; i++) {
        Figures figures = measure(&subjects[i]);
        good = print_table(&subjects[i], &figures) && good;
        good = draw_both(&subjects[i], &figures, bench_out_dir(b)) && good;
    }
    printf("  drawn in %s/engine-*.svg\n", bench_out_dir(b));
    return bench_end(b) || !good;
}
