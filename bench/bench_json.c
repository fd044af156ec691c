/* bench_json.c - text to value, value to text, letting go, and what the value weighs.
 *
 * The bars are for the document of records; the others show what kinds of text cost.
 */
#include "bench.h"
#include "documents.h"
#include "json_parse.h"
#include "json_print.h"
#include "peer_jq.h"

#include <stdio.h>

enum { BYTES = 10 * 1000 * 1000, QUICK_BYTES = BYTES / 50 };

typedef struct Subject {
    Buf text, printed;
    Json value;
    PeerValue peer, peer_printed;
    int indent;
} Subject;

typedef struct Kind {
    const char *name;
    void (*write)(Buf *out, size_t bytes);
    int indent;   /* to print with */
    double limit; /* 0: for information */
} Kind;

static const Kind kinds[] = {
    {"records", document_records, 0, 3},
    {"records, pretty", document_pretty, 2, 0},
    {"numbers", document_numbers, 0, 0},
    {"strings", document_strings, 0, 0},
};

static void parse_ours(void *ctx, size_t times) {
    Subject *s = ctx;
    (void)times;
    s->value = json_parse(s->text.data, s->text.len, NULL, NULL);
}

static void free_ours(void *ctx) {
    json_clear(&((Subject *)ctx)->value);
}

static void parse_peer(void *ctx, size_t times) {
    Subject *s = ctx;
    (void)times;
    s->peer = peer_parse(s->text.data, s->text.len);
}

static void free_peer(void *ctx) {
    peer_unref(((Subject *)ctx)->peer);
}

static void print_ours(void *ctx, size_t times) {
    Subject *s = ctx;
    (void)times;
    json_print(s->value, &(JsonPrintOptions){.indent = s->indent}, &s->printed);
}

static void free_printed_ours(void *ctx) {
    buf_clear(&((Subject *)ctx)->printed);
}

static void print_peer(void *ctx, size_t times) {
    Subject *s = ctx;
    (void)times;
    s->peer_printed = peer_print(s->peer, s->indent);
}

static void free_printed_peer(void *ctx) {
    peer_unref(((Subject *)ctx)->peer_printed);
}

/* Freeing is timed, so parsing is what comes after. */
static void drop_ours(void *ctx, size_t times) {
    (void)times;
    free_ours(ctx);
}

static void again_ours(void *ctx) {
    parse_ours(ctx, 1);
}

static void drop_peer(void *ctx, size_t times) {
    (void)times;
    free_peer(ctx);
}

static void again_peer(void *ctx) {
    parse_peer(ctx, 1);
}

static void bench_weight(Bench *b, Subject *s, const char *what) {
    uint64_t before = bench_heap();
    parse_ours(s, 1);
    uint64_t ours = bench_heap() - before;
    before = bench_heap();
    parse_peer(s, 1);
    bench_bytes(b, what, ours, bench_heap() - before);
}

static void row(Bench *b, const Kind *kind, const char *verb, BenchSide ours, BenchSide peer) {
    char what[64];
    snprintf(what, sizeof what, "%s (%s)", verb, kind->name);
    bool asked = kind->limit > 0 && verb[0] == 'p';
    bench_row(b, &(BenchRow){.what = what,
                             .ours = ours,
                             .peer = peer,
                             .bar = asked ? BENCH_RATIO : BENCH_INFO,
                             .limit = kind->limit});
}

static void bench_kind(Bench *b, const Kind *kind) {
    Subject s = {.text = BUF_INIT, .printed = BUF_INIT, .indent = kind->indent};
    char what[64];
    kind->write(&s.text, bench_is_quick(b) ? QUICK_BYTES : BYTES);
    row(b, kind, "parse", (BenchSide){parse_ours, &s, free_ours},
        (BenchSide){parse_peer, &s, free_peer});
    snprintf(what, sizeof what, "memory (%s)", kind->name);
    bench_weight(b, &s, what);
    row(b, kind, "print", (BenchSide){print_ours, &s, free_printed_ours},
        (BenchSide){print_peer, &s, free_printed_peer});
    row(b, kind, "free", (BenchSide){drop_ours, &s, again_ours},
        (BenchSide){drop_peer, &s, again_peer});
    free_ours(&s);
    free_peer(&s);
    buf_clear(&s.text);
}

int main(int argc, char **argv) {
    Bench *b = bench_new(argc, argv, "JSON text of 10 MB");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        bench_kind(b, &kinds[i]);
    }
    return bench_end(b);
}
