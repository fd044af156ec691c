/* memory_store.c - runs in this process. */
#include "backend.h"
#include "mem.h"
#include "packed.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Kept {
    int64_t seq;
    char *packed;
    size_t len;
} Kept;

typedef struct MemoryRun {
    RunRow row;
    struct MemoryRun *next_named; /* in the same bucket of names */
    Kept *kept;                   /* in order of seq */
    size_t len, cap;
} MemoryRun;

typedef struct Definition {
    char *key;
    Buf value;
} Definition;

typedef struct MemoryStore {
    Store base;
    MemoryRun **runs; /* in order of number */
    size_t nruns, runs_cap;
    MemoryRun **names; /* buckets by hash of the thread, a power of two */
    size_t nbuckets;
    int64_t last_run;
    Definition *definitions;
    size_t ndefinitions, definitions_cap;
} MemoryStore;

static MemoryStore *memory(Store *s) {
    return (MemoryStore *)s;
}

static bool memory_open(Store *s, Error *err) {
    (void)s, (void)err;
    return true;
}

/* ---- runs ---- */

static void free_run(MemoryRun *r) {
    for (size_t i = 0; i < r->len; i++) {
        mem_free(r->kept[i].packed);
    }
    mem_free(r->kept);
    run_row_clear(&r->row);
    mem_free(r);
}

static void memory_close(Store *s) {
    MemoryStore *m = memory(s);
    for (size_t i = 0; i < m->nruns; i++) {
        free_run(m->runs[i]);
    }
    for (size_t i = 0; i < m->ndefinitions; i++) {
        mem_free(m->definitions[i].key);
        buf_clear(&m->definitions[i].value);
    }
    mem_free(m->runs);
    mem_free(m->names);
    mem_free(m->definitions);
}

/* Where the run is or would be. */
static size_t place_of_run(const MemoryStore *m, int64_t run) {
    size_t low = 0, high = m->nruns;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->runs[middle]->row.run < run) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static MemoryRun *run_of(const MemoryStore *m, int64_t run) {
    size_t i = place_of_run(m, run);
    return i < m->nruns && m->runs[i]->row.run == run ? m->runs[i] : NULL;
}

static size_t bucket_of(const MemoryStore *m, const char *thread) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (; *thread; thread++) {
        hash = (hash ^ (unsigned char)*thread) * 0x100000001B3u;
    }
    return (size_t)(hash ^ hash >> 32) & (m->nbuckets - 1);
}

static MemoryRun *run_named(const MemoryStore *m, const char *thread) {
    MemoryRun *r = m->nbuckets ? m->names[bucket_of(m, thread)] : NULL;
    while (r && strcmp(r->row.thread, thread)) {
        r = r->next_named;
    }
    return r;
}

static void add_name(MemoryStore *m, MemoryRun *r) {
    MemoryRun **bucket = &m->names[bucket_of(m, r->row.thread)];
    r->next_named = *bucket;
    *bucket = r;
}

static void remove_name(MemoryStore *m, const MemoryRun *r) {
    MemoryRun **link = &m->names[bucket_of(m, r->row.thread)];
    while (*link != r) {
        link = &(*link)->next_named;
    }
    *link = r->next_named;
}

static void grow_names(MemoryStore *m) {
    m->nbuckets = m->nbuckets ? 2 * m->nbuckets : 16;
    mem_free(m->names);
    m->names = mem_zalloc(m->nbuckets * sizeof(MemoryRun *));
    for (size_t i = 0; i < m->nruns; i++) {
        add_name(m, m->runs[i]);
    }
}

static void add_run(MemoryStore *m, MemoryRun *r) {
    if (m->nruns == m->nbuckets) {
        grow_names(m);
    }
    m->runs = mem_grow(m->runs, m->nruns, &m->runs_cap, sizeof *m->runs);
    m->runs[m->nruns++] = r;
    add_name(m, r);
}

static void copy_row(RunRow *out, const RunRow *row) {
    *out = *row;
    out->thread = store_copy(row->thread);
    out->workflow = store_copy(row->workflow);
    out->status = store_copy(row->status);
    out->definition = store_copy(row->definition);
    out->owner = store_copy(row->owner);
}

static bool memory_find(Store *s, RunKey key, RunRow *out, bool *found, Error *err) {
    (void)err;
    MemoryRun *r = key.thread ? run_named(memory(s), key.thread) : run_of(memory(s), key.run);
    *found = r != NULL;
    if (r) {
        copy_row(out, &r->row);
    }
    return true;
}

static int later_first(const void *a, const void *b) {
    const RunRow *x = &(*(MemoryRun *const *)a)->row, *y = &(*(MemoryRun *const *)b)->row;
    if (x->updated != y->updated) {
        return x->updated > y->updated ? -1 : 1;
    }
    return x->run > y->run ? -1 : x->run < y->run;
}

static bool memory_runs(Store *s, RunRowFn fn, void *ctx, Error *err) {
    (void)err;
    MemoryStore *m = memory(s);
    MemoryRun **sorted = mem_alloc(m->nruns * sizeof *sorted);
    size_t n = m->nruns;
    if (n) {
        memcpy(sorted, m->runs, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, later_first);
    }
    for (size_t i = 0; i < n && fn(ctx, &sorted[i]->row); i++) {}
    mem_free(sorted);
    return true;
}

static char *free_name(const MemoryStore *m, int64_t run) {
    char name[48];
    snprintf(name, sizeof name, "run-%lld", (long long)run);
    for (int i = 2; run_named(m, name); i++) {
        snprintf(name, sizeof name, "run-%lld-%d", (long long)run, i);
    }
    return store_copy(name);
}

static bool memory_create_run(Store *s, RunRow *row, bool *found, Error *err) {
    (void)err;
    MemoryStore *m = memory(s);
    *found = row->thread && run_named(m, row->thread);
    if (*found) {
        return true;
    }
    row->run = ++m->last_run;
    if (!row->thread) {
        row->thread = free_name(m, row->run);
    }
    MemoryRun *r = mem_zalloc(sizeof *r);
    copy_row(&r->row, row);
    add_run(m, r);
    return true;
}

static bool memory_lease(Store *s, int64_t run, bool *busy, char **owner, Error *err) {
    (void)owner;
    *busy = false; /* one handle is all there is */
    return run_of(memory(s), run) ||
           error_set(err, ERR_USAGE, "There is no run %lld in %s.", (long long)run, s->url);
}

static void memory_release(Store *s, int64_t run) {
    (void)s, (void)run;
}

static bool memory_is_leased(Store *s, int64_t run) {
    (void)s, (void)run;
    return false;
}

static bool memory_set_cancel(Store *s, int64_t run, bool on, Error *err) {
    (void)err;
    MemoryRun *r = run_of(memory(s), run);
    if (r) {
        r->row.cancel = on;
    }
    return true;
}

static bool memory_get_cancel(Store *s, int64_t run, bool *on, Error *err) {
    (void)err;
    MemoryRun *r = run_of(memory(s), run);
    *on = r && r->row.cancel;
    return true;
}

/* ---- definitions ---- */

static bool memory_define(Store *s, const char *key, const Buf *value, Error *err) {
    (void)err;
    MemoryStore *m = memory(s);
    m->definitions =
        mem_grow(m->definitions, m->ndefinitions, &m->definitions_cap, sizeof *m->definitions);
    Definition *d = &m->definitions[m->ndefinitions++];
    *d = (Definition){store_copy(key), BUF_INIT};
    buf_add(&d->value, value->data, value->len);
    return true;
}

static bool memory_definition(Store *s, const char *key, Buf *out, bool *found, Error *err) {
    (void)err;
    MemoryStore *m = memory(s);
    *found = false;
    for (size_t i = 0; i < m->ndefinitions && !*found; i++) {
        if (!strcmp(m->definitions[i].key, key)) {
            buf_add(out, m->definitions[i].value.data, m->definitions[i].value.len);
            *found = true;
        }
    }
    return true;
}

/* ---- checkpoints ---- */

static size_t place_of(const MemoryRun *r, int64_t seq) {
    size_t low = 0, high = r->len;
    if (r->len && r->kept[r->len - 1].seq < seq) {
        return r->len;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->kept[middle].seq < seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void keep(MemoryRun *r, const BatchWrite *w) {
    size_t i = place_of(r, w->seq);
    if (i < r->len && r->kept[i].seq == w->seq) {
        mem_free(r->kept[i].packed);
    } else {
        r->kept = mem_grow(r->kept, r->len, &r->cap, sizeof *r->kept);
        memmove(r->kept + i + 1, r->kept + i, (r->len - i) * sizeof *r->kept);
        r->len++;
    }
    r->kept[i] = (Kept){w->seq, mem_alloc(w->packed_len), w->packed_len};
    memcpy(r->kept[i].packed, w->packed, w->packed_len);
    r->row.last = w->seq > r->row.last ? w->seq : r->row.last;
}

/* Only marks: many go at once, and are closed up together. */
static void mark_removed(MemoryRun *r, int64_t seq) {
    size_t i = place_of(r, seq);
    if (i < r->len && r->kept[i].seq == seq) {
        mem_free(r->kept[i].packed);
        r->kept[i].packed = NULL;
    }
}

static void close_up(MemoryRun *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->len; i++) {
        if (r->kept[i].packed) {
            r->kept[n++] = r->kept[i];
        }
    }
    r->len = n;
}

static void remove_run(MemoryStore *m, int64_t run) {
    size_t i = place_of_run(m, run);
    if (i < m->nruns && m->runs[i]->row.run == run) {
        remove_name(m, m->runs[i]);
        free_run(m->runs[i]);
        memmove(m->runs + i, m->runs + i + 1, (m->nruns - i - 1) * sizeof *m->runs);
        m->nruns--;
    }
}

static void set_facts(MemoryRun *r, const BatchWrite *w) {
    mem_free(r->row.status);
    r->row.status = store_copy(w->status);
    r->row.head = w->head;
    r->row.updated = w->at;
}

static void apply(MemoryStore *m, const BatchWrite *w) {
    MemoryRun *r = run_of(m, w->run);
    if (!r) {
        return;
    }
    switch (w->op) {
    case BATCH_CHECKPOINT: keep(r, w); break;
    case BATCH_REMOVE: mark_removed(r, w->seq); break;
    case BATCH_RUN: set_facts(r, w); break;
    case BATCH_REMOVE_RUN: remove_run(m, w->run); break;
    }
}

static bool memory_commit(Store *s, const StoreBatch *b, Error *err) {
    (void)err;
    MemoryStore *m = memory(s);
    BatchWrite w;
    int64_t closing = 0; /* a run in which checkpoints were marked */
    for (size_t pos = 0; batch_next(b, &pos, &w);) {
        if (closing && (w.op != BATCH_REMOVE || w.run != closing)) {
            close_up(run_of(m, closing));
            closing = 0;
        }
        apply(m, &w);
        closing = w.op == BATCH_REMOVE && (closing || run_of(m, w.run)) ? w.run : 0;
    }
    if (closing) {
        close_up(run_of(m, closing));
    }
    return true;
}

static bool memory_checkpoint(Store *s, int64_t run, int64_t seq, Checkpoint *out, bool *found,
                              const char **why, Error *err) {
    (void)why, (void)err;
    MemoryRun *r = run_of(memory(s), run);
    size_t i = r ? place_of(r, seq) : 0;
    *found = r && i < r->len && r->kept[i].seq == seq;
    if (*found) {
        bool sound = checkpoint_unpack(r->kept[i].packed, r->kept[i].len, out);
        assert(sound);
        (void)sound;
    }
    return true;
}

static bool memory_history(Store *s, int64_t run, int64_t from, CheckpointFn fn,
                           bool (*damaged)(void *ctx, int64_t seq, const char *why), void *ctx,
                           Error *err) {
    (void)damaged, (void)err;
    MemoryRun *r = run_of(memory(s), run);
    Checkpoint c;
    for (size_t i = r ? place_of(r, from) : 0; r && i < r->len; i++) {
        if (!checkpoint_unpack(r->kept[i].packed, r->kept[i].len, &c) || !fn(ctx, &c)) {
            break;
        }
    }
    return true;
}

const StoreBackend memory_backend = {
    .scheme = "memory",
    .durable = false,
    .handle_size = sizeof(MemoryStore),
    .open = memory_open,
    .close = memory_close,
    .find = memory_find,
    .runs = memory_runs,
    .create_run = memory_create_run,
    .lease = memory_lease,
    .release = memory_release,
    .is_leased = memory_is_leased,
    .set_cancel = memory_set_cancel,
    .get_cancel = memory_get_cancel,
    .define = memory_define,
    .definition = memory_definition,
    .commit = memory_commit,
    .checkpoint = memory_checkpoint,
    .history = memory_history,
};
