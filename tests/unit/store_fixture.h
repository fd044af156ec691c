/* store_fixture.h - what the tests of stores share: a folder, a URL in it, runs with images. */
#ifndef PAWL_TESTS_STORE_FIXTURE_H
#define PAWL_TESTS_STORE_FIXTURE_H

#include "json_binary.h"
#include "json_diff.h"
#include "json_test.h"
#include "mem.h"
#include "store.h"
#include "store_chain.h"
#include "store_run.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Fixture {
    const char *scheme;
    char folder[64];
    char url[160];
    char path[128]; /* what stands after the scheme */
} Fixture;

static inline void fixture_shell(const char *command, const char *path) {
    char line[256];
    snprintf(line, sizeof line, command, path);
    if (system(line) != 0) {
        fail_msg("%s", line);
    }
}

static inline void fixture_init(Fixture *f, const char *scheme) {
    f->scheme = scheme;
    /* where there is one, a disk in memory: thousands of syncs then take no time */
    bool shm = access("/dev/shm", W_OK) == 0;
    strcpy(f->folder, shm ? "/dev/shm/pawl-store-XXXXXX" : "/tmp/pawl-store-XXXXXX");
    if (!mkdtemp(f->folder)) {
        fail_msg("no folder");
    }
    bool memory = !strcmp(scheme, "memory");
    snprintf(f->path, sizeof f->path, "%s/%s", f->folder,
             !strcmp(scheme, "file") ? "store" : "a.db");
    snprintf(f->url, sizeof f->url, "%s:%s", scheme, memory ? "" : f->path);
}

static inline void fixture_clear(Fixture *f) {
    fixture_shell("rm -rf %s", f->folder);
}

/* ---- calls that must work ---- */

static inline Store *open_store(const Fixture *f, StoreMode mode) {
    Error err = ERROR_INIT;
    Store *s = store_open(f->url, mode, &err);
    if (!s) {
        fail_msg("%s", err.msg);
    }
    return s;
}

#define MUST(call)                   \
    do {                             \
        Error why = ERROR_INIT;      \
        if (!(call)) {               \
            fail_msg("%s", why.msg); \
        }                            \
    } while (0)

static inline int64_t make_run(Store *s, const char *thread) {
    RunRow row;
    Error err = ERROR_INIT;
    Json value = parse("{\"main\":\"a.yaml\"}");
    char *definition = store_define(s, value, &err);
    json_unref(value);
    if (!definition || !store_create_run(s, thread, "flow", definition, &row, &err)) {
        fail_msg("%s", err.msg);
    }
    int64_t run = row.run;
    mem_free(definition);
    run_row_clear(&row);
    return run;
}

static inline RunRow find_run(Store *s, const char *thread) {
    RunRow row = {0};
    Error err = ERROR_INIT;
    if (!store_find(s, thread, &row, &err)) {
        fail_msg("%s", err.msg);
    }
    return row;
}

/* ---- runs with images ---- */

typedef struct Tree {
    Store *s;
    int64_t run, last;
    Json *images; /* by number; 0 is null */
    ChainWeight *weights;
    int64_t *parents;
    size_t images_cap, weights_cap, parents_cap;
} Tree;

static inline void tree_init(Tree *t, Store *s, const char *thread) {
    *t = (Tree){.s = s, .run = make_run(s, thread)};
    t->images = mem_grow(NULL, 0, &t->images_cap, sizeof *t->images);
    t->weights = mem_grow(NULL, 0, &t->weights_cap, sizeof *t->weights);
    t->parents = mem_grow(NULL, 0, &t->parents_cap, sizeof *t->parents);
    t->images[0] = json_null();
    t->weights[0] = (ChainWeight){0};
    t->parents[0] = 0;
}

static inline void tree_clear(Tree *t) {
    for (int64_t i = 0; i <= t->last; i++) {
        json_unref(t->images[i]);
    }
    mem_free(t->images);
    mem_free(t->weights);
    mem_free(t->parents);
}

/* Adds a checkpoint with this image (consumed) below a parent to the batch. */
static inline int64_t tree_add(Tree *t, StoreBatch *b, int64_t parent, Json image, int64_t at) {
    int64_t seq = ++t->last;
    Buf patch = BUF_INIT, snapshot = BUF_INIT;
    size_t n = (size_t)seq;
    t->images = mem_grow(t->images, n, &t->images_cap, sizeof *t->images);
    t->weights = mem_grow(t->weights, n, &t->weights_cap, sizeof *t->weights);
    t->parents = mem_grow(t->parents, n, &t->parents_cap, sizeof *t->parents);
    Json change = json_diff(t->images[parent], image);
    json_encode(change, &patch);
    json_unref(change);
    bool whole = chain_wants_snapshot(&t->weights[parent], 0);
    if (whole) {
        json_encode(image, &snapshot);
    }
    t->weights[seq] = t->weights[parent];
    chain_weigh(&t->weights[seq], patch.len, snapshot.len, 0);
    t->images[seq] = image;
    t->parents[seq] = parent;
    store_batch_checkpoint(b, &(Checkpoint){.run = t->run,
                                            .seq = seq,
                                            .parent = parent,
                                            .step = seq,
                                            .frame = 1,
                                            .at = at,
                                            .node = "node",
                                            .status = "completed",
                                            .patch = patch.data,
                                            .patch_len = patch.len,
                                            .snapshot = whole ? snapshot.data : NULL,
                                            .snapshot_len = snapshot.len});
    store_batch_run(b, t->run, seq, "running", at);
    buf_clear(&patch);
    buf_clear(&snapshot);
    return seq;
}

/* The image of the last one with a counter and a text changed. */
static inline Json next_image(Json image, int64_t i) {
    Json next = json_kind(image) == JSON_OBJECT ? json_ref(image) : json_object();
    next = json_object_set(next, json_string_c("n"), json_int(i));
    return json_object_set(next, json_string_c(i % 3 ? "text" : "other"),
                           json_string_fmt("this is step number %lld", (long long)i));
}

/* n checkpoints in a line, in batches of `each`. */
static inline void tree_grow(Tree *t, int64_t n, int64_t each) {
    StoreBatch b = STORE_BATCH_INIT;
    for (int64_t i = 1; i <= n; i++) {
        tree_add(t, &b, t->last, next_image(t->images[t->last], t->last + 1), 1000 + t->last);
        if (i % each == 0 || i == n) {
            MUST(store_commit(t->s, &b, &why));
            store_batch_reset(&b);
        }
    }
    store_batch_clear(&b);
}

static inline bool exactly(Json a, Json b) {
    Json change = json_diff(a, b);
    bool same = json_array_len(change) == 0;
    json_unref(change);
    return same;
}

/* The image that the store gives is the one that was put in. */
static inline void tree_expect(Tree *t, Store *s, int64_t seq) {
    Error err = ERROR_INIT;
    Json image = chain_image(s, t->run, seq, NULL, &err);
    if (json_is_none(image)) {
        fail_msg("checkpoint %lld: %s", (long long)seq, err.msg);
    }
    assert_true(exactly(image, t->images[seq]));
    json_unref(image);
}

/* ---- checking ---- */

typedef struct Problems {
    int64_t count;
    bool print;
    int64_t seq;         /* of the first */
    char thread[256];    /* of the first */
    char sentence[1024]; /* of the first */
} Problems;

static inline void note_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    Problems *p = ctx;
    if (!p->count++) {
        p->seq = seq;
        snprintf(p->thread, sizeof p->thread, "%s", thread);
        snprintf(p->sentence, sizeof p->sentence, "%s", sentence);
    }
    if (p->print) {
        print_message("# %s@%lld: %s\n", thread, (long long)seq, sentence);
    }
}

static inline CheckReport check_store(Store *s, int64_t run, Problems *p) {
    CheckReport report;
    CheckHost host = {.problem = note_problem, .ctx = p};
    MUST(chain_check(s, run, &host, &report, &why));
    assert_int_equal(report.problems, p->count);
    return report;
}

static inline void expect_sound(Store *s) {
    Problems p = {.print = true};
    check_store(s, 0, &p);
    assert_int_equal(p.count, 0);
}

static inline void expect_error(const Error *err, ErrorCode code, const char *part) {
    if (err->code != code || !strstr(err->msg, part)) {
        fail_msg("wanted %s with `%s`, got %s: %s", error_code_name(code), part,
                 error_code_name(err->code), err->msg);
    }
}

/* ---- behaviours, each with the backends that it is about ---- */

typedef struct Behaviour {
    const char *name;
    CMUnitTestFunction run;
    const char *schemes;
} Behaviour;

#define ALL     "memory file sqlite"
#define DURABLE "file sqlite"
#define FILES   "file"
#define SQLITE  "sqlite"

#define BEHAVIOUR(f, schemes) \
    { #f, f, schemes }

static inline int fixture_set_up(void **state) {
    Fixture *f = malloc(sizeof *f);
    fixture_init(f, *state);
    *state = f;
    return 0;
}

static inline int fixture_tear_down(void **state) {
    fixture_clear(*state);
    free(*state);
    return json_heap_bytes() == 0 ? 0 : -1;
}

static inline int run_behaviours(const char *group, const Behaviour *behaviours, size_t count) {
    static const char *const schemes[] = {"memory", "file", "sqlite"};
    static char names[256][128];
    struct CMUnitTest tests[256];
    size_t n = 0;
    for (size_t i = 0; i < 3 * count; i++) {
        const Behaviour *b = &behaviours[i % count];
        const char *scheme = schemes[i / count];
        if (strstr(b->schemes, scheme)) {
            snprintf(names[n], sizeof names[n], "%s: %s", scheme, b->name);
            tests[n] = (struct CMUnitTest){names[n], b->run, fixture_set_up, fixture_tear_down,
                                           (void *)(uintptr_t)scheme};
            n++;
        }
    }
    return _cmocka_run_group_tests(group, tests, n, NULL, NULL);
}

#endif
