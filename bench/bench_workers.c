/* bench_workers.c - calls of code in Python and JavaScript, through the loop and back.
 *
 * The time is the clock's, since most of the work is another process's. Beside a call with a state
 * of 1 MB stands what the interpreter itself takes to parse such a text, or to parse and to print
 * it, measured inside the same worker between our rounds. */
#include "bench.h"
#include "documents.h"
#include "json_parse.h"
#include "workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { ROUNDS = 40, SMALL_CALLS = 100, LARGE_CALLS = 1 };

typedef struct Pair {
    uv_loop_t loop;
    WorkerPool *pool;
    WorkerLanguage language;
    Json small, large;
    bool done;
    Json result;
    int asked, held;
} Pair;

static const char *const names[] = {"Python", "JavaScript"};

/* What the interpreter takes to parse, and to print: [seconds, seconds]. */
static const char *const own_costs[] = {
    "import json, time\n"
    "text = json.dumps(state)\n"
    "a = time.perf_counter()\n"
    "value = json.loads(text)\n"
    "b = time.perf_counter()\n"
    "json.dumps(value)\n"
    "return [b - a, time.perf_counter() - b]",
    "const text = JSON.stringify(state);\n"
    "const a = performance.now();\n"
    "const value = JSON.parse(text);\n"
    "const b = performance.now();\n"
    "JSON.stringify(value);\n"
    "return [(b - a) / 1000, (performance.now() - b) / 1000]",
};

static void on_end(void *ctx, const WorkerResult *result) {
    Pair *pair = ctx;
    if (result->end != WORKER_RETURNED) {
        fprintf(stderr, "%s\n", result->message);
        exit(2);
    }
    pair->done = true;
    pair->result = json_ref(result->value);
}

/* The result is given. */
static Json call(Pair *pair, const char *code, Json state) {
    Error err = ERROR_INIT;
    WorkerOptions options = {.language = pair->language,
                             .code = json_string_c(code),
                             .state = state,
                             .on_end = on_end,
                             .ctx = pair};
    pair->done = false;
    if (!worker_call(pair->pool, &options, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(2);
    }
    while (!pair->done) {
        uv_run(&pair->loop, UV_RUN_ONCE);
    }
    json_unref(options.code);
    return pair->result;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_a_call(Pair *pair, const char *code, Json state, int times) {
    double took = 0;
    for (int i = 0; i < times; i++) {
        double start = now();
        Json result = call(pair, code, state);
        took += now() - start;
        json_unref(result); /* nor does the other side count what freeing takes */
    }
    return took / times;
}

static Json large_state(void) {
    Buf text = BUF_INIT;
    buf_adds(&text, "{\"records\":");
    document_records(&text, 1 << 20);
    buf_addc(&text, '}');
    Json state = json_parse(text.data, text.len, NULL, NULL);
    buf_clear(&text);
    return state;
}

/* One that no call has seen: nothing of it was printed before. */
static double seconds_of_a_new_state(Pair *pair, const char *code) {
    Json state = large_state();
    double seconds = seconds_a_call(pair, code, state, 1);
    json_unref(state);
    return seconds;
}

static void keep_best(double *best, double seconds) {
    if (*best == 0 || seconds < *best) *best = seconds;
}

static void own_cost(Pair *pair, double *parse, double *both) {
    Json costs = call(pair, own_costs[pair->language], pair->large);
    double in = json_to_double(json_array_get(costs, 0));
    keep_best(parse, in);
    keep_best(both, in + json_to_double(json_array_get(costs, 1)));
    json_unref(costs);
}

/* ---- the table ---- */

typedef struct Line {
    char what[80];
    double ours, own;
    double limit; /* seconds; with own: times */
} Line;

static void print(Pair *pair, const Line *line, bool quick) {
    char text[BENCH_TEXT_MAX];
    double value = line->own > 0 ? line->ours / line->own : line->ours;
    bool holds = value <= line->limit;
    bench_cell(line->what, -52);
    bench_cell(bench_time_text(line->ours, text), 16);
    bench_cell(line->own > 0 ? bench_time_text(line->own, text) : "-", 16);
    snprintf(text, sizeof text, line->own > 0 ? "%.2f×" : "-", value);
    bench_cell(text, 9);
    if (line->own > 0) {
        snprintf(text, sizeof text, "≤ %g×", line->limit);
    } else {
        snprintf(text, sizeof text, "≤ %g µs", line->limit * 1e6);
    }
    bench_cell(text, 11);
    bench_cell(quick ? "-" : holds ? "yes" : "NO", 7);
    printf("\n");
    pair->asked++;
    pair->held += holds || quick;
}

static void bench_language(Pair *pair, bool quick) {
    int rounds = quick ? 2 : ROUNDS, calls = quick ? 20 : SMALL_CALLS;
    Line small = {.limit = 200e-6}, in = {.limit = 1.5}, anew = {.limit = 1.5};
    Line round_trip = {.limit = 1.5};
    const char *name = names[pair->language];
    snprintf(small.what, sizeof small.what, "%s: a call with a small state", name);
    snprintf(in.what, sizeof in.what, "%s: 1 MB in, beside its own parsing", name);
    snprintf(anew.what, sizeof anew.what, "%s: 1 MB in that is new each time", name);
    snprintf(round_trip.what, sizeof round_trip.what, "%s: 1 MB in and out, parsing and printing",
             name);
    json_unref(call(pair, "return 1", pair->small)); /* starts it */
    for (int i = 0; i < rounds; i++) {
        keep_best(&small.ours,
                  seconds_a_call(pair, "return {\"n\": state[\"n\"]}", pair->small, calls));
        own_cost(pair, &in.own, &round_trip.own);
        keep_best(&in.ours, seconds_a_call(pair, "return 1", pair->large, LARGE_CALLS));
        keep_best(&anew.ours, seconds_of_a_new_state(pair, "return 1"));
        own_cost(pair, &in.own, &round_trip.own);
        keep_best(&round_trip.ours, seconds_a_call(pair, "return state", pair->large, LARGE_CALLS));
    }
    print(pair, &small, quick);
    print(pair, &in, quick);
    anew.own = in.own;
    print(pair, &anew, quick);
    print(pair, &round_trip, quick);
}

int main(int argc, char **argv) {
    Bench *b = bench_new(argc, argv, "call of a worker (libjq here: the interpreter's own JSON)");
    Pair pair = {.small = json_parse("{\"n\":1}", 7, NULL, NULL), .large = large_state()};
    uv_loop_init(&pair.loop);
    WorkerPoolOptions options = {.environment = (const char *const *)environ};
    pair.pool = worker_pool_new(&pair.loop, &options);
    for (pair.language = WORKER_PYTHON; pair.language < WORKER_LANGUAGES; pair.language++) {
        bench_language(&pair, bench_is_quick(b));
    }
    worker_pool_free(pair.pool);
    uv_run(&pair.loop, UV_RUN_DEFAULT);
    uv_loop_close(&pair.loop);
    json_unref(pair.small);
    json_unref(pair.large);
    return bench_end(b) || pair.held < pair.asked;
}
