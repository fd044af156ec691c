/* bench_update.c - one key of an object of 10,000 that somebody else also holds. */
#include "bench.h"
#include "documents.h"
#include "jq.h"
#include "json_parse.h"
#include "peer_jq.h"

#include <stdio.h>
#include <string.h>

enum { KEYS = 10000, PROBES = 64 };

typedef struct Pair {
    Json object, keys[PROBES];
    PeerValue peer, peer_keys[PROBES];
    JqRun *run;
    PeerProgram *program;
} Pair;

static void set_ours(void *ctx, size_t times) {
    Pair *p = ctx;
    for (size_t i = 0; i < times; i++) {
        json_unref(
            json_object_set(json_ref(p->object), json_ref(p->keys[i % PROBES]), json_int(0)));
    }
}

static void set_peer(void *ctx, size_t times) {
    Pair *p = ctx;
    for (size_t i = 0; i < times; i++) {
        peer_unref(peer_object_set(peer_ref(p->peer), peer_ref(p->peer_keys[i % PROBES]), 0));
    }
}

static void run_ours(void *ctx, size_t times) {
    Pair *p = ctx;
    for (size_t i = 0; i < times; i++) {
        Json out;
        jq_run_start(p->run, json_ref(p->object), NULL);
        while (jq_run_next(p->run, &out) == JQ_OUTPUT) {
            json_unref(out);
        }
    }
}

static void run_peer(void *ctx, size_t times) {
    Pair *p = ctx;
    for (size_t i = 0; i < times; i++) {
        peer_run(p->program, p->peer);
    }
}

static void make_pair(Pair *p) {
    Buf text = BUF_INIT;
    document_keys(&text, KEYS);
    p->object = json_parse(text.data, text.len, NULL, NULL);
    p->peer = peer_parse(text.data, text.len);
    buf_clear(&text);
    for (int i = 0; i < PROBES; i++) {
        char key[32];
        snprintf(key, sizeof key, "key-%d", 1 + i * (KEYS / PROBES));
        p->keys[i] = json_string_c(key);
        p->peer_keys[i] = peer_string(key);
    }
}

static void clear_pair(Pair *p) {
    for (int i = 0; i < PROBES; i++) {
        json_unref(p->keys[i]);
        peer_unref(p->peer_keys[i]);
    }
    json_unref(p->object);
    peer_unref(p->peer);
}

static void bench_expression(Bench *b, Pair *p, const char *text) {
    JqProgram *program = jq_compile(text, strlen(text), NULL, NULL);
    p->run = jq_run_new(program, NULL);
    p->program = peer_program_new();
    peer_compile(p->program, text);
    bench_row(b,
              &(BenchRow){.what = text, .ours = {run_ours, p, NULL}, .peer = {run_peer, p, NULL}});
    jq_run_free(p->run);
    jq_program_free(program);
    peer_program_free(p->program);
}

int main(int argc, char **argv) {
    Bench *b = bench_new(argc, argv, "update a shared object of 10,000 keys");
    static const char *const expressions[] = {".[\"key-5000\"] = 0", ".[\"key-5000\"] |= . + 1",
                                              ".fresh = 0", "del(.[\"key-5000\"])"};
    Pair p;
    make_pair(&p);
    bench_row(b, &(BenchRow){.what = "set one key",
                             .ours = {set_ours, &p, NULL},
                             .peer = {set_peer, &p, NULL},
                             .bar = BENCH_RATIO,
                             .limit = 20});
    for (size_t i = 0; i < sizeof expressions / sizeof expressions[0]; i++) {
        bench_expression(b, &p, expressions[i]);
    }
    clear_pair(&p);
    return bench_end(b);
}
