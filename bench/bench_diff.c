/* bench_diff.c - what changed between two versions of a 10 MB value. libjq has nothing like it.
 *
 * Each time compares with another version, changed at another place, so the caches help no more
 * than they would in life.
 */
#include "bench.h"
#include "documents.h"
#include "json_diff.h"
#include "json_parse.h"
#include "json_path.h"

enum { BYTES = 10 * 1000 * 1000, QUICK_BYTES = BYTES / 50, VERSIONS = 64 };

#define BAR_SECONDS 10e-6

typedef struct Versions {
    Json base, changed[VERSIONS], patches[VERSIONS];
} Versions;

static void diff(void *ctx, size_t times) {
    Versions *v = ctx;
    for (size_t i = 0; i < times; i++) {
        json_unref(json_diff(v->base, v->changed[i % VERSIONS]));
    }
}

static void patch(void *ctx, size_t times) {
    Versions *v = ctx;
    for (size_t i = 0; i < times; i++) {
        json_unref(json_patch(json_ref(v->base), v->patches[i % VERSIONS], NULL));
    }
}

/* The first step on the way to record number i. */
static Json record_step(Json base, size_t i) {
    return json_kind(base) == JSON_ARRAY ? json_int((int64_t)i) : json_string_fmt("record-%zu", i);
}

/* A version in which one number, three levels down, is another. */
static Json change(Json base, size_t i) {
    Json path = json_array_push(json_array(), record_step(base, i));
    path = json_array_push(path, json_string_c("size"));
    path = json_array_push(path, json_string_c("width"));
    Json changed = json_path_set(json_ref(base), path, json_int(-1), NULL);
    json_unref(path);
    return changed;
}

static size_t value_len(Json j) {
    return json_kind(j) == JSON_ARRAY ? json_array_len(j) : json_object_len(j);
}

static void make_versions(Versions *v, void (*write)(Buf *, size_t), size_t bytes) {
    Buf text = BUF_INIT;
    write(&text, bytes);
    v->base = json_parse(text.data, text.len, NULL, NULL);
    buf_clear(&text);
    for (size_t i = 0; i < VERSIONS; i++) {
        v->changed[i] = change(v->base, value_len(v->base) * i / VERSIONS);
        v->patches[i] = json_diff(v->base, v->changed[i]);
    }
}

static void clear_versions(Versions *v) {
    for (size_t i = 0; i < VERSIONS; i++) {
        json_unref(v->changed[i]);
        json_unref(v->patches[i]);
    }
    json_unref(v->base);
}

int main(int argc, char **argv) {
    static const struct {
        const char *diff, *patch;
        void (*write)(Buf *, size_t);
    } kinds[] = {
        {"diff (array of objects)", "patch (array of objects)", document_records},
        {"diff (object of objects)", "patch (object of objects)", document_by_name},
    };
    Bench *b = bench_new(argc, argv, "a value of 10 MB after one change");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        Versions v;
        make_versions(&v, kinds[i].write, bench_is_quick(b) ? QUICK_BYTES : BYTES);
        bench_row(b, &(BenchRow){.what = kinds[i].diff,
                                 .ours = {diff, &v, NULL},
                                 .bar = BENCH_SECONDS,
                                 .limit = BAR_SECONDS});
        bench_row(b, &(BenchRow){.what = kinds[i].patch, .ours = {patch, &v, NULL}});
        clear_versions(&v);
    }
    return bench_end(b);
}
