/* bench_growth.c - what one step costs as the value grows from 10 to 1,000,000 members.
 *
 * The object and the array are held by somebody else as well, as the states in a journal are.
 */
#include "bench.h"
#include "documents.h"
#include "json_diff.h"
#include "json_parse.h"
#include "peer_jq.h"
#include "svg.h"

#include <stdio.h>

enum { SIZES = 6, QUICK_SIZES = 3, PROBES = 64, STEPS = 4 };

static const double sizes[SIZES] = {10, 100, 1000, 10000, 100000, 1000000};

typedef struct Subject {
    Json object, array, keys[PROBES], changed[PROBES];
    PeerValue peer_object, peer_array, peer_keys[PROBES];
} Subject;

static void update_ours(void *ctx, size_t times) {
    Subject *s = ctx;
    for (size_t i = 0; i < times; i++) {
        json_unref(
            json_object_set(json_ref(s->object), json_ref(s->keys[i % PROBES]), json_int(0)));
    }
}

static void update_peer(void *ctx, size_t times) {
    Subject *s = ctx;
    for (size_t i = 0; i < times; i++) {
        peer_unref(
            peer_object_set(peer_ref(s->peer_object), peer_ref(s->peer_keys[i % PROBES]), 0));
    }
}

static void diff_ours(void *ctx, size_t times) {
    Subject *s = ctx;
    for (size_t i = 0; i < times; i++) {
        json_unref(json_diff(s->object, s->changed[i % PROBES]));
    }
}

static void index_ours(void *ctx, size_t times) {
    Subject *s = ctx;
    int64_t sum = 0;
    for (size_t i = 0; i < times; i++) {
        sum += json_object_get(s->object, s->keys[i % PROBES]).i;
    }
    volatile int64_t kept = sum;
    (void)kept;
}

static void index_peer(void *ctx, size_t times) {
    Subject *s = ctx;
    for (size_t i = 0; i < times; i++) {
        peer_unref(peer_object_get(s->peer_object, s->peer_keys[i % PROBES]));
    }
}

static void push_ours(void *ctx, size_t times) {
    Subject *s = ctx;
    for (size_t i = 0; i < times; i++) {
        json_unref(json_array_push(json_ref(s->array), json_int(0)));
    }
}

static void push_peer(void *ctx, size_t times) {
    Subject *s = ctx;
    for (size_t i = 0; i < times; i++) {
        peer_unref(peer_array_push(peer_ref(s->peer_array), 0));
    }
}

typedef struct Step {
    const char *name;
    void (*ours)(void *ctx, size_t times);
    void (*peer)(void *ctx, size_t times);
} Step;

static const Step steps[STEPS] = {
    {"set a key", update_ours, update_peer},
    {"diff after it", diff_ours, NULL},
    {"get a key", index_ours, index_peer},
    {"push an item", push_ours, push_peer},
};

typedef double Costs[STEPS][2][SIZES]; /* seconds, of ours and the peer's */

static void parse_both(Buf *text, Json *ours, PeerValue *peer) {
    *ours = json_parse(text->data, text->len, NULL, NULL);
    *peer = peer_parse(text->data, text->len);
    buf_clear(text);
}

static void make_subject(Subject *s, size_t n) {
    Buf text = BUF_INIT;
    document_keys(&text, n);
    parse_both(&text, &s->object, &s->peer_object);
    document_array(&text, n);
    parse_both(&text, &s->array, &s->peer_array);
    for (size_t i = 0; i < PROBES; i++) {
        char key[32];
        snprintf(key, sizeof key, "key-%zu", 1 + n * i / PROBES);
        s->keys[i] = json_string_c(key);
        s->peer_keys[i] = peer_string(key);
        s->changed[i] = json_object_set(json_ref(s->object), json_ref(s->keys[i]), json_int(-1));
    }
}

static void clear_subject(Subject *s) {
    for (size_t i = 0; i < PROBES; i++) {
        json_unref(s->keys[i]);
        json_unref(s->changed[i]);
        peer_unref(s->peer_keys[i]);
    }
    json_unref(s->object);
    json_unref(s->array);
    peer_unref(s->peer_object);
    peer_unref(s->peer_array);
}

static void measure_size(Bench *b, size_t at, Costs costs) {
    Subject s;
    make_subject(&s, (size_t)sizes[at]);
    for (int i = 0; i < STEPS; i++) {
        BenchTime t[2];
        bench_measure(b, (BenchSide){steps[i].ours, &s, NULL}, (BenchSide){steps[i].peer, &s, NULL},
                      t);
        costs[i][0][at] = t[0].best;
        costs[i][1][at] = t[1].best;
    }
    clear_subject(&s);
}

static void print_costs(const char *name, const char *side, const double *costs, size_t n) {
    printf("  %-16s %-6s", name, side);
    for (size_t i = 0; i < n; i++) {
        char text[BENCH_TEXT_MAX];
        bench_cell(bench_time_text(costs[i], text), 11);
    }
    putchar('\n');
}

static void print_table(Costs costs, size_t n) {
    printf("  %-16s %-6s", "members", "");
    for (size_t i = 0; i < n; i++) {
        printf("%11.0f", sizes[i]);
    }
    putchar('\n');
    for (int i = 0; i < STEPS; i++) {
        print_costs(steps[i].name, "ours", costs[i][0], n);
        if (steps[i].peer) {
            print_costs("", "libjq", costs[i][1], n);
        }
    }
}

static const char *axis_text(double seconds, char *out) {
    char text[BENCH_TEXT_MAX];
    double value;
    char unit[8];
    bench_time_text(seconds, text);
    sscanf(text, "%lf %7s", &value, unit);
    snprintf(out, BENCH_TEXT_MAX, "%.0f %s", value, unit);
    return out;
}

static bool draw(Bench *b, Costs costs, size_t n) {
    char names[STEPS * 2][BENCH_TEXT_MAX], path[512];
    SvgLine lines[STEPS * 2];
    size_t nlines = 0;
    for (int i = 0; i < STEPS * 2; i++) {
        if (i % 2 == 0 || steps[i / 2].peer) {
            snprintf(names[i], sizeof names[i], "%s%s", steps[i / 2].name, i % 2 ? ", libjq" : "");
            lines[nlines++] = (SvgLine){names[i], i % 2, i / 2, costs[i / 2][i % 2]};
        }
    }
    SvgChart chart = {
        "Cost of one step on a shared value", "members", sizes, n, lines, nlines, axis_text};
    snprintf(path, sizeof path, "%s/growth.svg", bench_out_dir(b));
    bool drawn = svg_write(&chart, path);
    if (drawn) {
        printf("  drawn in %s\n", path);
    }
    return drawn;
}

int main(int argc, char **argv) {
    Bench *b = bench_new(argc, argv, "growth: what one step costs as the value grows");
    size_t n = bench_is_quick(b) ? QUICK_SIZES : SIZES;
    Costs costs = {0};
    for (size_t i = 0; i < n; i++) {
        measure_size(b, i, costs);
    }
    print_table(costs, n);
    bool drawn = draw(b, costs, n);
    return bench_end(b) || !drawn;
}
