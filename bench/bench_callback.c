/* bench_callback.c - what a node costs that is a function in C, through pawl.h as a program sees it.
 *
 * The graph is the smallest there is: one function adds 1 to a counter, one edge leads back to it.
 * A row counts a node, its edge and its checkpoint included. The last rows count runs: one costs
 * about the same however many there are. */
#include "bench.h"
#include "pawl.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEAST = 1000 };

static void give_up(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

/* ---- functions ---- */

static PawlValue count(void *ctx, PawlCall *call) {
    (void)ctx;
    int64_t n = pawl_value_int(pawl_object_get(pawl_call_state(call), "n"), 0);
    return pawl_object_set(pawl_object(), "n", pawl_int(n + 1));
}

static void count_later(void *ctx, PawlCall *call, PawlToken *token) {
    pawl_token_succeed(token, count(ctx, call));
}

/* ---- graphs ---- */

typedef struct Case {
    const char *store; /* NULL: none */
    bool later;
    const char *jq; /* instead of a function */
    PawlEngine *engine;
    PawlFlow *flow;
} Case;

static PawlFlow *loop_of(const Case *c) {
    PawlError err;
    PawlGraph *g = pawl_graph_new("loop");
    if (c->jq) {
        pawl_graph_add_kind(g, "step", "jq", pawl_string(c->jq));
    } else if (c->later) {
        pawl_graph_add_node_later(g, "step", count_later, NULL);
    } else {
        pawl_graph_add_node(g, "step", count, NULL);
    }
    pawl_graph_set_recursion_limit(g, 1000000000);
    pawl_graph_set_entry(g, "step");
    pawl_graph_add_conditional_edge(g, "step", "step", ".n < .limit");
    pawl_graph_add_edge(g, "step", PAWL_END);
    PawlFlow *flow = pawl_graph_compile(g, &err);
    if (!flow) {
        give_up(err.message);
    }
    pawl_graph_free(g);
    return flow;
}

static void open_case(Case *c) {
    PawlError err;
    c->flow = loop_of(c);
    c->engine = pawl_engine_open(c->store, NULL, &err);
    if (!c->engine) {
        give_up(err.message);
    }
}

static void close_case(Case *c) {
    pawl_engine_close(c->engine);
    pawl_flow_free(c->flow);
}

/* So many nodes: one run, of at least a thousand so that its start is not what is measured. */
static void run_nodes(void *ctx, size_t times) {
    const Case *c = ctx;
    PawlError err;
    PawlValue input = pawl_object_set(pawl_object(), "limit", pawl_int((int64_t)times * LEAST));
    PawlRun *run = pawl_run_start(c->engine, c->flow, &(PawlStart){.input = input}, &err);
    if (!run || !pawl_engine_run(c->engine, &err)) {
        give_up(err.message);
    }
    if (pawl_run_status(run) != PAWL_COMPLETED) {
        give_up("The run did not complete.");
    }
    pawl_run_free(run);
}

typedef struct Crowd {
    const Case *in;
    size_t n;
} Crowd;

/* All of them are started, then all finish, then all are let go of. */
static void run_crowd(const Crowd *crowd, PawlRun **runs) {
    PawlError err;
    for (size_t i = 0; i < crowd->n; i++) {
        runs[i] = pawl_run_start(crowd->in->engine, crowd->in->flow, NULL, &err);
        if (!runs[i]) {
            give_up(err.message);
        }
    }
    if (!pawl_engine_run(crowd->in->engine, &err)) {
        give_up(err.message);
    }
    for (size_t i = 0; i < crowd->n; i++) {
        pawl_run_free(runs[i]);
    }
}

static void run_crowds(void *ctx, size_t times) {
    const Crowd *crowd = ctx;
    PawlRun **runs = calloc(crowd->n, sizeof(PawlRun *));
    for (size_t i = 0; i < times; i++) {
        run_crowd(crowd, runs);
    }
    free(runs);
}

int main(int argc, char **argv) {
    Bench *b = bench_new(argc, argv, "callback");
    Case none = {0}, memory = {.store = "memory:"}, later = {.store = "memory:", .later = true};
    Case jq = {.jq = "{n: ((.n // 0) + 1)}"}, jq_memory = {.store = "memory:", .jq = jq.jq};
    Case *all[] = {&none, &memory, &later, &jq, &jq_memory};
    size_t n = sizeof all / sizeof *all;
    for (size_t i = 0; i < n; i++) {
        open_case(all[i]);
    }
    bench_row(b, &(BenchRow){.what = "1000 functions, no store",
                             .ours = {run_nodes, &none},
                             .bar = BENCH_SECONDS,
                             .limit = LEAST * 1e-6});
    /* What a checkpoint costs is the engine's matter, and has a bench of its own. */
    bench_row(b, &(BenchRow){.what = "1000 functions, memory:", .ours = {run_nodes, &memory}});
    bench_row(b, &(BenchRow){.what = "1000 jq nodes, memory:", .ours = {run_nodes, &jq_memory}});
    bench_row(
        b, &(BenchRow){.what = "1000 functions with tokens, memory:", .ours = {run_nodes, &later}});
    bench_row(b, &(BenchRow){.what = "1000 jq nodes, no store", .ours = {run_nodes, &jq}});
    Crowd few = {&none, LEAST}, many = {&none, bench_is_quick(b) ? LEAST : 10 * LEAST};
    bench_row(b, &(BenchRow){.what = "1000 runs of one function, no store",
                             .ours = {run_crowds, &few},
                             .bar = BENCH_SECONDS,
                             .limit = LEAST * 25e-6});
    bench_row(b, &(BenchRow){.what = "10000 runs of one function, no store",
                             .ours = {run_crowds, &many},
                             .bar = BENCH_SECONDS,
                             .limit = 10 * LEAST * 25e-6});
    for (size_t i = 0; i < n; i++) {
        close_case(all[i]);
    }
    return bench_end(b);
}
