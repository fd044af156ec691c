/* bench_slices.c - how long one run holds the loop that it shares, and what that costs ten thousand others.
 *
 * Each row is the longest turn (turns.h) while a workflow does one long thing, without a store or with a database in
 * memory; the thing is done again and again for some time. Then ten thousand small runs, a counter each, go on as
 * fast as they can, alone and beside runs that loop in jq and Lua, change all of a state of 100 MB (which is compared with the one
 * before, where it is recorded), print as much for a command, and take as much from one: the ratio is the processor time that the loop takes for each of their steps. */
#include "bench.h"
#include "engine_load.h"
#include "exec.h"
#include "flow.h"
#include "json_parse.h"
#include "mem.h"
#include "turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 4, SMALL_RUNS = 10000, MB = 100 };

static double seconds_each = SECONDS;

/* ---- workflows ---- */

static Flow *flow_of(const char *text) {
    FlowProblems problems = {0};
    char name[] = "bench-slices-XXXXXX.yaml";
    int fd = mkstemps(name, 5);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) give_up("No file.");
    close(fd);
    Flow *flow = flow_load(name, NULL, &problems);
    unlink(name);
    if (!flow) give_up("%s: %s", text, problems.n ? problems.items[0].msg : "no workflow");
    flow_problems_clear(&problems);
    return flow;
}

/* Rows of about 100 bytes, every one of them new: an array of MB megabytes as text. */
#define ROWS(mb)                                                                                  \
    "[range(" #mb " * 10000) | {id: ., name: \"a name of some length \\\\(.)\", tags: [\"one\", " \
    "\"two\"], value: (. * 3)}]"

typedef struct Long {
    bool beside; /* ten thousand small runs, too */
    const char *what;
    const char *node;  /* done again and again */
    const char *first; /* once before it; NULL: nothing */
    Where where;
    double limit; /* seconds; 0: only shown */
} Long;

static const Long longs[] = {
    {true, "a jq node that loops", "jq: 'last(range(3000000)) | {}'", NULL, NOWHERE, 0.010},
    {true, "a Lua node that loops", "lua: 'local n = 0 for i = 1, 10000000 do n = n + i end'", NULL,
     NOWHERE, 0.010},
    {false, "the condition of an edge",
     "jq: '{}', goto: [{if: 'last(range(3000000)) < 0', to: __end__}, "
     "{to: again}]",
     NULL, NOWHERE, 0.010},
    {false, "Lua: sort with a function",
     "lua: 'local t = {} for i = 1, 200000 do t[i] = (i * 7919) % 1000003 end "
     "table.sort(t, function(a, b) return a > b end) return {n = #t}'",
     NULL, NOWHERE, 0.010},
    {false, "Lua: a pattern that goes back",
     "lua: 'return {n = ((\"a\"):rep(300)):find((\".-\"):rep(2) .. \"b\") or 0}'", NULL, NOWHERE,
     0.010},
    {false, "Lua: a table of 1,000,000 given back",
     "lua: 'local t = {} for i = 1, 1000000 do t[i] = i end return {t = t}'", NULL, NOWHERE, 0.010},
    {false, "jq: 100 MB made anew, no store", "jq: '{rows: " ROWS(100) "}'", NULL, NOWHERE, 0.010},
    {false, "the same, recorded", "jq: '{rows: " ROWS(100) "}'", NULL, IN_SQLITE, 0.010},
    {true, "100 MB of which every row changes, compared and recorded",
     "jq: '((.n // 0) + 1) as $n | {n: $n, rows: [range(1000000) | {id: ., name: \"a name of some length "
     "\\(.)\", tags: [\"one\", \"two\"], value: (. * $n)}]}'",
     NULL, IN_SQLITE, 0.010},
    {true, "100 MB printed for a command", "shell: 'cat > /dev/null', stdin: .rows",
     "jq: '{rows: " ROWS(100) "}'", IN_SQLITE, 0.010},
    {true, "a command that prints 100 MB", "shell: 'head -c 100000000 /dev/zero | tr \"\\000\" x'",
     NULL, IN_SQLITE, 0.010},
    {false, "jq: sort of 1,000,000", "jq: '{n: (.rows | sort | length)}'",
     "jq: '{rows: [range(1000000) | (. * 7919) % 1000003]}'", NOWHERE, 0.010},
    {false, "jq: sort_by of 200,000 objects", "jq: '{n: (.rows | sort_by(.name) | length)}'",
     "jq: '{rows: " ROWS(20) "}'", NOWHERE, 0.010},
    {false, "jq: tojson of 100 MB", "jq: '{n: (.rows | tojson | length)}'",
     "jq: '{rows: " ROWS(100) "}'", NOWHERE, 0.010},
    {false, "jq: fromjson of 20 MB", "jq: '{n: (.text | fromjson | length)}'",
     "jq: '{text: (" ROWS(20) " | tojson)}'", NOWHERE, 0.010},
    {false, "jq: == of 100 MB", "jq: '{n: (.rows == .same)}'",
     "jq: '{rows: " ROWS(50) ", same: " ROWS(50) "}'", NOWHERE, 0.010},
    {false, "jq: split of 10 MB", "jq: '{n: (.text | split(\" \") | length)}'",
     "jq: '{text: (\"abcdefgh x\" * 1000000)}'", NOWHERE, 0.010},
    {false, "jq: group_by, unique of 200,000",
     "jq: '{n: (.rows | group_by(.value % 100) | length), m: (.rows | unique_by(.name) | length)}'",
     "jq: '{rows: " ROWS(20) "}'", NOWHERE, 0.010},
    {false, "jq: 1,000,000 - 500,000", "jq: '{n: (.rows - .some | length)}'",
     "jq: '{rows: [range(1000000)], some: [range(0; 1000000; 2)]}'", NOWHERE, 0.010},
    {false, "jq: contains, index, indices of 1,000,000",
     "jq: '{a: (.rows | contains([999999, 500000])), b: (.rows | index(999999)), c: (.rows | indices([5, 6]))}'",
     "jq: '{rows: [range(1000000)]}'", NOWHERE, 0.010},
    {false, "jq: keys, to_entries, del of 300,000",
     "jq: '{k: (.o | keys | length), e: (.o | to_entries | length), d: (.rows | del(.[range(0; 300000; 2)]) | length)}'",
     "jq: '{rows: [range(300000)], o: ([range(300000) | {key: \"k\\(.)\", value: .}] | from_entries)}'",
     NOWHERE, 0.010},
    {false, "jq: gsub, explode, @base64 of 5 MB",
     "jq: '{g: (.text | gsub(\"c d\"; \"x\") | length), e: (.text | explode | implode | length), b: (.text | "
     "@base64 | @base64d | length)}'",
     "jq: '{text: (\"ab c d, efgh\" * 400000)}'", NOWHERE, 0.010},
    {false, "jq: a regex that reads 300 KB from everywhere",
     "jq: '{n: (.text | try test(\"x*+y\") catch 0)}'", "jq: '{text: (\"x\" * 300000)}'", NOWHERE,
     0.010},
    {false, "jq: a regex that goes back",
     "jq: '{n: ((\"a\" * 40) | try test(\"(a+)+$b\") catch 0)}'", NULL, NOWHERE, 0.010},
    {false, "a reducer: union of 3,000 and 3,000", "jq: '{all: [range(3000)]}'", NULL, NOWHERE,
     0.010},
    {false, "a reducer that is an expression", "jq: '{sum: 1}'", NULL, NOWHERE, 0.010},
    {false, "a template of a command", "shell: 'true', env: {A: 'last(range(1000000))'}", NULL,
     IN_SQLITE, 0.010},
};

static Flow *long_flow(const Long *l) {
    Buf text = BUF_INIT;
    buf_printf(
        &text,
        "config: {recursion_limit: 1000000000}\nstate: {all: {default: [], reduce: union}, sum: {reduce: 'last(range(1000000)) as $x | $old + $new'}}\nnodes:\n"
        "  - {name: first, %s}\n  - {name: again, %s%s}\n",
        l->first ? l->first : "jq: '{}'", l->node, strstr(l->node, "goto") ? "" : ", goto: again");
    Flow *flow = flow_of(text.data);
    buf_clear(&text);
    return flow;
}

static Run *start(Bed *bed, Flow *flow, Json input) {
    Error err = ERROR_INIT;
    Run *run = engine_start_now(bed->engine, flow, &(RunStart){.input = input}, &err);
    if (!run) give_up("%s", err.msg);
    return run;
}

/* ---- turns ---- */

static void turn_for(Bed *bed, double seconds) {
    double until = wall_seconds() + seconds;
    while (wall_seconds() < until) uv_run(bed->loop, UV_RUN_NOWAIT);
}

static void until_step(Bed *bed, Run *run, int64_t step) {
    while (run_step(run) < step && !run_settled(run)) uv_run(bed->loop, UV_RUN_NOWAIT);
}

static void longest(Bench *b, const Long *l) {
    Bed bed = bed_open(l->where);
    Flow *flow = long_flow(l);
    Run *run = start(&bed, flow, json_none());
    until_step(&bed, run, 1);
    int64_t before = run_step(run);
    turns_begin();
    turn_for(&bed, seconds_each);
    until_step(&bed, run, before + 1); /* it was done once at least */
    turns_end();
    if (run_settled(run)) {
        Json message = json_object_get_c(run_error(run), "message");
        give_up("%s: %s", l->what,
                json_kind(message) == JSON_STRING ? json_string_data(&message) : "ended");
    }
    bench_figure(b, &(BenchFigure){.what = l->what,
                                   .ours = turns_at(TURN_CPU, 1),
                                   .bar = l->limit > 0 ? BENCH_SECONDS : BENCH_INFO,
                                   .limit = l->limit});
    flow_unref(flow);
    bed_close(&bed);
}

/* ---- others ---- */

static int64_t steps_of(Run **runs, int n) {
    int64_t all = 0;
    for (int i = 0; i < n; i++) all += run_step(runs[i]);
    return all;
}

/* Ten thousand runs, alone or beside those that take long. */
typedef struct Crowd {
    Bed bed;
    Run **runs;
    int n;
} Crowd;

static Crowd crowd_open(Where where, Load *load, int n) {
    Crowd c = {.bed = bed_open(where), .runs = mem_alloc((size_t)n * sizeof *c.runs), .n = n};
    for (int i = 0; i < n; i++) c.runs[i] = start(&c.bed, load->flow, load->input);
    turn_for(&c.bed, seconds_each);
    return c;
}

static void crowd_close(Crowd *c) {
    mem_free(c->runs);
    bed_close(&c->bed);
}

static double thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What the loop's thread takes for one step of theirs, whatever else it does meanwhile. */
static double seconds_a_step(Crowd *c, double seconds) {
    int64_t before = steps_of(c->runs, c->n);
    double began = thread_seconds();
    turn_for(&c->bed, seconds);
    int64_t steps = steps_of(c->runs, c->n) - before;
    return (thread_seconds() - began) / (double)(steps ? steps : 1);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Two such crowds in one process take turns, a tenth of a second each, and every pair gives a ratio: what else the machine
 * does weighs on both sides of it. The median counts. */
static void beside(Bench *b, Where where, const char *name, int n) {
    enum { PAIRS_MAX = 101, LONGS = sizeof longs / sizeof *longs };
    char what[100];
    int pairs = bench_is_quick(b) ? 11 : PAIRS_MAX;
    double alone[PAIRS_MAX], together[PAIRS_MAX], ratios[PAIRS_MAX];
    Flow *flows[LONGS];
    int nflows = 0;
    Load load = load_counter(0, 1000000000);
    Crowd one = crowd_open(where, &load, n), other = crowd_open(where, &load, n);
    for (int i = 0; i < LONGS; i++) {
        if (!longs[i].beside) continue;
        flows[nflows] = long_flow(&longs[i]);
        start(&other.bed, flows[nflows++], json_none());
    }
    turn_for(&other.bed, seconds_each);
    turns_begin();
    for (int i = 0; i < pairs; i++) {
        alone[i] = seconds_a_step(&one, 0.1);
        together[i] = seconds_a_step(&other, 0.1);
        ratios[i] = together[i] / alone[i];
    }
    turns_end();
    qsort(alone, (size_t)pairs, sizeof *alone, by_size);
    qsort(ratios, (size_t)pairs, sizeof *ratios, by_size);
    double base = alone[pairs / 2];
    snprintf(what, sizeof what, "a step of %d runs beside %d that take long, %s", n, nflows, name);
    bench_figure(b, &(BenchFigure){.what = what,
                                   .ours = base * ratios[pairs / 2],
                                   .peer = base,
                                   .bar = BENCH_TIMES,
                                   .limit = 1.1});
    snprintf(what, sizeof what, "the same, the upper quartile of %d pairs, %s", pairs, name);
    bench_figure(b,
                 &(BenchFigure){.what = what, .ours = base * ratios[pairs * 3 / 4], .peer = base});
    snprintf(what, sizeof what, "the longest turn of both, %s", name);
    bench_figure(
        b, &(BenchFigure){
               .what = what, .ours = turns_at(TURN_CPU, 1), .bar = BENCH_SECONDS, .limit = 0.010});
    crowd_close(&one);
    crowd_close(&other);
    for (int i = 0; i < nflows; i++) flow_unref(flows[i]);
    load_clear(&load);
}

int main(int argc, char **argv) {
    Bench *b =
        bench_new(argc, argv, "how long one run holds the loop: the longest turn, processor time");
    bool quick = bench_is_quick(b);
    beds_in(memory_folder());
    if (quick) seconds_each = 0.5;
    const char *only = getenv("BENCH_ONLY");
    for (size_t i = 0; i < sizeof longs / sizeof *longs; i++) {
        if (!only || strstr(longs[i].what, only)) longest(b, &longs[i]);
    }
    if (!only || strstr("beside", only)) {
        beside(b, NOWHERE, "no store", quick ? SMALL_RUNS / 100 : SMALL_RUNS);
        beside(b, IN_SQLITE, "SQLite", quick ? SMALL_RUNS / 100 : SMALL_RUNS);
    }
    return bench_end(b);
}
