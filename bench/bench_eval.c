/* bench_eval.c - running a compiled condition on a state of about 2 KB, on a machine that is kept.
 */
#include "bench.h"
#include "conditions.h"
#include "jq.h"
#include "json_parse.h"
#include "peer_jq.h"

#include <string.h>

typedef struct Pair {
    JqProgram *program;
    JqRun *run;
    Json state;
    PeerProgram *peer;
    PeerValue peer_state;
} Pair;

static void eval_ours(void *ctx, size_t times) {
    Pair *pair = ctx;
    for (size_t i = 0; i < times; i++) {
        Json out;
        jq_run_start(pair->run, json_ref(pair->state), NULL);
        while (jq_run_next(pair->run, &out) == JQ_OUTPUT) {
            json_unref(out);
        }
    }
}

static void eval_peer(void *ctx, size_t times) {
    Pair *pair = ctx;
    for (size_t i = 0; i < times; i++) {
        peer_run(pair->peer, pair->peer_state);
    }
}

static void bench_condition(Bench *b, Pair *pair, const char *text) {
    pair->program = jq_compile(text, strlen(text), NULL, NULL);
    pair->run = jq_run_new(pair->program, NULL);
    peer_compile(pair->peer, text);
    bench_row(b, &(BenchRow){.what = text,
                             .ours = {eval_ours, pair, NULL},
                             .peer = {eval_peer, pair, NULL},
                             .bar = BENCH_RATIO,
                             .limit = 5});
    jq_run_free(pair->run);
    jq_program_free(pair->program);
}

int main(int argc, char **argv) {
    Bench *b = bench_new(argc, argv, "evaluate it on a state of 2 KB");
    size_t len = strlen(condition_state);
    Pair pair = {.state = json_parse(condition_state, len, NULL, NULL),
                 .peer = peer_program_new(),
                 .peer_state = peer_parse(condition_state, len)};
    for (int i = 0; i < CONDITIONS; i++) {
        bench_condition(b, &pair, conditions[i]);
    }
    bench_overall(b, "all ten (geometric mean)", BENCH_RATIO, 5);
    json_unref(pair.state);
    peer_unref(pair.peer_state);
    peer_program_free(pair.peer);
    return bench_end(b);
}
