/* bench.c - rounds, and the table. */
#include "bench.h"

#include "mem.h"
#include "utf8.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { ROUNDS = 15, ROUNDS_MAX = 100, ROUNDS_MIN = 3, WHAT_WIDTH = 52 };

struct Bench {
    const char *out_dir;
    bool quick, no_header, instructions;
    double round_seconds; /* a round takes at least this */
    double row_seconds;   /* no more rounds once a row has taken this */
    double log_sum;       /* of ratios since the last overall line */
    int nratios;
    int asked, held;
};

typedef struct Rounds {
    BenchSide side;
    size_t times;
    double seconds[ROUNDS_MAX]; /* for one time */
    int n;
} Rounds;

/* ---- time ---- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_for(const BenchSide *side, size_t times) {
    double start = now();
    side->run(side->ctx, times);
    double took = now() - start;
    if (side->after) {
        side->after(side->ctx);
    }
    return took;
}

/* How often makes a round; warms the side up on the way. */
static size_t times_for(const BenchSide *side, double round_seconds) {
    size_t times = 1;
    double took = seconds_for(side, times);
    while (!side->after && took < round_seconds) {
        times *= took * 8 < round_seconds ? 8 : 2;
        took = seconds_for(side, times);
    }
    return times;
}

static void add_round(Rounds *r) {
    if (r->side.run) {
        r->seconds[r->n++] = seconds_for(&r->side, r->times) / (double)r->times;
    }
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static BenchTime time_of(Rounds *r) {
    if (!r->n) {
        return (BenchTime){0, 0};
    }
    qsort(r->seconds, (size_t)r->n, sizeof r->seconds[0], compare_doubles);
    return (BenchTime){r->seconds[0], r->seconds[r->n / 2]};
}

static void measure(Bench *b, BenchSide ours, BenchSide peer, int most, BenchTime times[2]) {
    Rounds rounds[2] = {{.side = ours}, {.side = peer}};
    for (int s = 0; s < 2; s++) {
        rounds[s].times = rounds[s].side.run ? times_for(&rounds[s].side, b->round_seconds) : 0;
    }
    double start = now();
    int least = b->quick ? 1 : ROUNDS_MIN;
    for (int i = 0; i < most && (i < least || now() - start < b->row_seconds); i++) {
        add_round(&rounds[0]);
        add_round(&rounds[1]);
    }
    times[0] = time_of(&rounds[0]);
    times[1] = time_of(&rounds[1]);
}

void bench_measure(Bench *b, BenchSide ours, BenchSide peer, BenchTime times[2]) {
    measure(b, ours, peer, ROUNDS, times);
}

/* ---- counting instructions ---- */

/* What the script `instructions` has callgrind look at, and nothing else. */
__attribute__((noipa)) static void bench_counted(const BenchSide *side, size_t times) {
    side->run(side->ctx, times);
}

static double things(const BenchRow *row) {
    return row->per > 0 ? row->per : 1;
}

static void count_side(const BenchRow *row, const char *name, const BenchSide *side) {
    if (!side->run) {
        return;
    }
    seconds_for(side, 1); /* warm */
    size_t times = side->after ? 1 : 2;
    bench_counted(side, times);
    if (side->after) {
        side->after(side->ctx);
    }
    printf("%.0f\t%s\t%s\n", (double)times * things(row), name, row->what);
}

/* ---- the table ---- */

const char *bench_time_text(double seconds, char *out) {
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    double value = seconds * 1e9;
    int unit = 0;
    for (; unit < 3 && value >= 999.5; unit++) {
        value /= 1000;
    }
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(out, BENCH_TEXT_MAX, "%.*f %s", decimals, value, units[unit]);
    return out;
}

const char *bench_bytes_text(double bytes, char *out) {
    static const char *const units[] = {"B", "kB", "MB", "GB"};
    int unit = 0;
    for (; unit < 3 && bytes >= 999.5; unit++) {
        bytes /= 1000;
    }
    snprintf(out, BENCH_TEXT_MAX, "%.*f %s", unit && bytes < 99.95 ? 1 : 0, bytes, units[unit]);
    return out;
}

static const char *time_cell(BenchTime t, char *out) {
    if (t.best == 0) {
        return strcpy(out, "-");
    }
    char text[BENCH_TEXT_MAX];
    snprintf(out, BENCH_TEXT_MAX, "%.16s %+4.0f%%", bench_time_text(t.best, text),
             fmin((t.median / t.best - 1) * 100, 999));
    return out;
}

static const char *ratio_cell(double ratio, char *out) {
    if (ratio == 0) {
        return strcpy(out, "-");
    }
    snprintf(out, BENCH_TEXT_MAX, ratio < 9.995 ? "%.2f×" : "%.0f×", ratio);
    return out;
}

static bool is_asked(BenchBar bar, double limit) {
    return bar != BENCH_INFO && limit > 0;
}

static const char *bar_cell(BenchBar bar, double limit, char *out) {
    char text[BENCH_TEXT_MAX];
    if (!is_asked(bar, limit)) {
        return strcpy(out, "-");
    }
    if (bar == BENCH_RATIO || bar == BENCH_TIMES) {
        snprintf(out, BENCH_TEXT_MAX, "%s %g×", bar == BENCH_RATIO ? "≥" : "≤", limit);
    } else {
        snprintf(out, BENCH_TEXT_MAX, "≤ %s%.16s", bar == BENCH_MORE ? "+" : "",
                 bench_time_text(limit, text));
    }
    return out;
}

/* printf pads by bytes; a table is padded by characters. */
void bench_cell(const char *text, int width) {
    int pad = abs(width) - (int)utf8_length(text, strlen(text));
    pad = pad > 0 ? pad : 0;
    printf("%*s%s%*s", width < 0 ? 0 : pad, "", text, width < 0 ? pad : 0, "");
}

static void print_line(const char *const cells[6]) {
    static const int widths[6] = {-WHAT_WIDTH, 16, 16, 9, 11, 7};
    for (int i = 0; i < 6; i++) {
        bench_cell(cells[i], widths[i]);
    }
    putchar('\n');
    fflush(stdout);
}

static const char *verdict(Bench *b, bool asked, bool holds) {
    if (!asked || b->quick) {
        return "-";
    }
    b->asked++;
    b->held += holds;
    return holds ? "yes" : "NO";
}

/* What the bar is about: how they compare, or what ours is. */
static double value_of(BenchBar bar, double ours, double peer) {
    return bar == BENCH_TIMES     ? ours / peer
           : bar == BENCH_MORE    ? ours - peer
           : bar == BENCH_SECONDS ? ours
                                  : peer / ours;
}

static const char *compared_cell(BenchBar bar, double ours, double peer, char *out) {
    if (bar == BENCH_MORE) {
        char text[BENCH_TEXT_MAX];
        double more = ours - peer;
        snprintf(out, BENCH_TEXT_MAX, "%s%.16s", more < 0 ? "-" : "+",
                 bench_time_text(fabs(more), text));
        return out;
    }
    if (bar == BENCH_TIMES) {
        snprintf(out, BENCH_TEXT_MAX, ours < 9.995 * peer ? "%.3f×" : "%.0f×", ours / peer);
        return out;
    }
    return ratio_cell(peer / ours, out);
}

static bool bar_holds(BenchBar bar, double limit, double ours, double peer) {
    double value = value_of(bar, ours, peer);
    return bar == BENCH_RATIO ? value >= limit : value <= limit;
}

static void print_row(Bench *b, const BenchRow *row, const BenchTime t[2]) {
    char cells[4][BENCH_TEXT_MAX];
    bool holds = bar_holds(row->bar, row->limit, t[0].best, t[1].best);
    print_line((const char *[6]){row->what, time_cell(t[0], cells[0]), time_cell(t[1], cells[1]),
                                 compared_cell(row->bar, t[0].best, t[1].best, cells[2]),
                                 bar_cell(row->bar, row->limit, cells[3]),
                                 verdict(b, is_asked(row->bar, row->limit), holds)});
}

static BenchTime for_one(BenchTime t, double n) {
    return (BenchTime){t.best / n, t.median / n};
}

void bench_row(Bench *b, const BenchRow *row) {
    if (b->instructions) {
        bool base = row->bar == BENCH_TIMES || row->bar == BENCH_MORE;
        count_side(row, "ours", &row->ours);
        count_side(row, base ? "base" : "libjq", &row->peer);
        return;
    }
    BenchTime t[2];
    measure(b, row->ours, row->peer, row->rounds ? row->rounds : ROUNDS, t);
    t[0] = for_one(t[0], things(row));
    t[1] = for_one(t[1], things(row));
    if (row->peer.run) {
        b->log_sum += log(t[1].best / t[0].best);
        b->nratios++;
    }
    print_row(b, row, t);
}

void bench_figure(Bench *b, const BenchFigure *f) {
    char cells[4][BENCH_TEXT_MAX];
    const char *(*text)(double, char *) = f->text ? f->text : bench_time_text;
    bool holds = bar_holds(f->bar, f->limit, f->ours, f->peer);
    if (b->instructions) {
        return;
    }
    print_line((const char *[6]){
        f->what, text(f->ours, cells[0]), f->peer > 0 ? text(f->peer, cells[1]) : "-",
        f->peer > 0 ? compared_cell(BENCH_TIMES, f->ours, f->peer, cells[2]) : "-",
        bar_cell(f->bar, f->limit, cells[3]), verdict(b, is_asked(f->bar, f->limit), holds)});
}

void bench_overall(Bench *b, const char *what, BenchBar bar, double limit) {
    if (b->instructions) {
        return;
    }
    char cells[2][BENCH_TEXT_MAX];
    double ratio = exp(b->log_sum / b->nratios);
    b->log_sum = 0;
    b->nratios = 0;
    print_line((const char *[6]){what, "", "", ratio_cell(ratio, cells[0]),
                                 bar_cell(bar, limit, cells[1]),
                                 verdict(b, is_asked(bar, limit), ratio >= limit)});
}

void bench_bytes(Bench *b, const char *what, uint64_t ours, uint64_t peer) {
    if (b->instructions) {
        return;
    }
    char cells[3][BENCH_TEXT_MAX];
    snprintf(cells[0], BENCH_TEXT_MAX, "%.1f MB", (double)ours / 1e6);
    snprintf(cells[1], BENCH_TEXT_MAX, "%.1f MB", (double)peer / 1e6);
    print_line((const char *[6]){what, cells[0], cells[1],
                                 ratio_cell((double)peer / (double)ours, cells[2]), "-", "-"});
}

uint64_t bench_heap(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* ---- life ---- */

static bool take_flag(Bench *b, const char *word) {
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {
        {"--quick", &b->quick},
        {"--no-header", &b->no_header},
        {"--instructions", &b->instructions},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(word, flags[i].word) == 0) {
            return *flags[i].flag = true;
        }
    }
    return false;
}

static void take_options(Bench *b, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--out") == 0 && i + 1 < argc) {
            b->out_dir = argv[++i];
        } else if (!take_flag(b, argv[i])) {
            fprintf(stderr, "usage: %s [--quick] [--no-header] [--instructions] [--out DIR]\n",
                    argv[0]);
            exit(2);
        }
    }
}

Bench *bench_new(int argc, char **argv, const char *area) {
    Bench *b = mem_zalloc(sizeof *b);
    b->out_dir = "bench/out";
    take_options(b, argc, argv);
    b->round_seconds = b->quick ? 0.0005 : 0.004;
    b->row_seconds = b->quick ? 0.05 : 1.5;
    if (!b->instructions) {
        if (!b->no_header) {
            print_line((const char *[6]){"what", "ours", "libjq", "ratio", "bar", "holds"});
        }
        printf("%s\n", area);
    }
    return b;
}

int bench_end(Bench *b) {
    int failed = b->asked - b->held;
    if (failed) {
        printf("  %d of %d bars do not hold\n", failed, b->asked);
    }
    mem_free(b);
    return failed ? 1 : 0;
}

bool bench_is_quick(const Bench *b) {
    return b->quick;
}

bool bench_is_counting(const Bench *b) {
    return b->instructions;
}

const char *bench_out_dir(const Bench *b) {
    mkdir(b->out_dir, 0777);
    return b->out_dir;
}
