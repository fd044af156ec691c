/* bench.h - measuring two sides of one thing, and the table it ends up in.
 *
 * Time is the processor time of this process, so that neighbours on the machine weigh less. A round
 * does the thing as often as fills a few milliseconds; rounds of the two sides alternate; what
 * counts is the best round of each. The spread beside it is how far the median round was above.
 *
 *     int main(int argc, char **argv) {
 *         Bench *b = bench_new(argc, argv, "compile");
 *         bench_row(b, &(BenchRow){.what = "...", .ours = {fn, ctx}, .peer = {fn, ctx},
 *                                  .bar = BENCH_RATIO, .limit = 500});
 *         return bench_end(b);
 *     }
 */
#ifndef PAWL_BENCH_H
#define PAWL_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Bench Bench;

typedef struct BenchSide {
    void (*run)(void *ctx, size_t times); /* NULL: this side has no such thing */
    void *ctx;
    void (*after)(void *ctx); /* clears up, not timed; a side that has it does one time a round */
} BenchSide;

typedef struct BenchTime {
    double best, median; /* seconds for one time; 0 when the side has no such thing */
} BenchTime;

typedef enum BenchBar {
    BENCH_INFO,    /* nothing is asked */
    BENCH_RATIO,   /* the peer takes at least `limit` times as long */
    BENCH_SECONDS, /* ours takes at most `limit` seconds */
    BENCH_TIMES,   /* ours takes at most `limit` times as long as the peer, which is the base here:
                      the ratio is the other way around */
    BENCH_MORE, /* ours takes at most `limit` seconds longer than the peer, which is the base; that
                      difference stands where the ratio does. 0: it is only shown */
} BenchBar;

typedef struct BenchRow {
    const char *what;
    BenchSide ours, peer;
    BenchBar bar;
    double limit;
    double per; /* one time does so many things, and the row is of one of them; 0: 1 */
    int rounds; /* at most; 0: 15 */
} BenchRow;

/* Prints the head of the table and the area as its first line. Options:
 *     --quick         small values, few rounds, no bar is judged
 *     --no-header     for all but the first of several programs
 *     --out DIR       where charts go; bench/out
 *     --instructions  no timing: see the script of that name */
Bench *bench_new(int argc, char **argv, const char *area);
int bench_end(Bench *b); /* the exit code: 1 when a bar was not met */

bool bench_is_quick(const Bench *b);
bool bench_is_counting(const Bench *b);    /* instructions: only rows count */
const char *bench_out_dir(const Bench *b); /* made if it was not there */

/* Measures both sides of a row and prints it. */
void bench_row(Bench *b, const BenchRow *row);
/* A row of figures that were measured elsewhere: seconds, unless there is another text for them. Only
 * bars of BENCH_SECONDS and BENCH_TIMES. peer 0: there is none. */
typedef struct BenchFigure {
    const char *what;
    double ours, peer;
    BenchBar bar;
    double limit;
    const char *(*text)(double value, char *out); /* NULL: bench_time_text() */
} BenchFigure;
void bench_figure(Bench *b, const BenchFigure *figure);
/* The geometric mean of all rows with a ratio since the last such line. */
void bench_overall(Bench *b, const char *what, BenchBar bar, double limit);
/* A row of bytes, for information. */
void bench_bytes(Bench *b, const char *what, uint64_t ours, uint64_t peer);

/* Only measures. */
void bench_measure(Bench *b, BenchSide ours, BenchSide peer, BenchTime times[2]);

/* "123 ns", "4.56 µs" into out, which has room for BENCH_TEXT_MAX bytes. */
enum { BENCH_TEXT_MAX = 32 };
const char *bench_time_text(double seconds, char *out);
const char *bench_bytes_text(double bytes, char *out); /* "123 B", "4.6 kB" */
/* Prints text in a column that many characters wide: to the right, or to the left when negative. */
void bench_cell(const char *text, int width);

/* Bytes that malloc has given out. */
uint64_t bench_heap(void);

#endif
