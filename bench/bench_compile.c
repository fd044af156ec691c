/* bench_compile.c - from the text of a condition to a program, and letting go of it.
 *
 * libjq keeps one jq_state and compiles into it again and again, which spares it the start-up.
 */
#include "bench.h"
#include "conditions.h"
#include "jq.h"
#include "peer_jq.h"

#include <string.h>

typedef struct Pair {
    const char *text;
    PeerProgram *peer;
} Pair;

static void compile_ours(void *ctx, size_t times) {
    const char *text = ((Pair *)ctx)->text;
    for (size_t i = 0; i < times; i++) {
        jq_program_free(jq_compile(text, strlen(text), NULL, NULL));
    }
}

static void compile_peer(void *ctx, size_t times) {
    Pair *pair = ctx;
    for (size_t i = 0; i < times; i++) {
        peer_compile(pair->peer, pair->text);
    }
}

int main(int argc, char **argv) {
    Bench *b = bench_new(argc, argv, "compile a condition");
    PeerProgram *peer = peer_program_new();
    for (int i = 0; i < CONDITIONS; i++) {
        Pair pair = {conditions[i], peer};
        bench_row(b, &(BenchRow){.what = conditions[i],
                                 .ours = {compile_ours, &pair, NULL},
                                 .peer = {compile_peer, &pair, NULL},
                                 .bar = BENCH_RATIO,
                                 .limit = 500});
    }
    bench_overall(b, "all ten (geometric mean)", BENCH_RATIO, 500);
    peer_program_free(peer);
    return bench_end(b);
}
