/* memory_store.c - runs in this process.
 *
 * Handles share one MemoryData and may be used by different threads: its lock is held while it is
 * looked at or changed, and never while a caller's function runs. What is lent is a copy. */
#include "backend.h"
#include "mem.h"
#include "packed.h"

#include <assert.h>
#include <pthread.h>

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
    Kept *log; /* pieces, in order of their numbers, which have no gaps */
    size_t nlog, log_cap;
    LogEnd log_end;
} MemoryRun;

typedef struct Definition {
    char *key;
    Buf value;
} Definition;

typedef struct MemoryData {
    pthread_mutex_t lock; /* recursive: a transaction holds it */
    bool begun;           /* a transaction; begun_at: the last run before it */
    int64_t begun_at;
    size_t handles;
    Leases leased;    /* by any handle */
    MemoryRun **runs; /* in order of number */
    size_t nruns, runs_cap;
    MemoryRun **names; /* buckets by hash of the thread, a power of two */
    size_t nbuckets;
    int64_t last_run;
    Definition *definitions;
    size_t ndefinitions, definitions_cap;
} MemoryData;

typedef struct MemoryStore {
    Store base;
    MemoryData *data;
    Buf lent; /* the checkpoint lent last */
} MemoryStore;

static MemoryData *data_of(const Store *s) {
    return ((const MemoryStore *)s)->data;
}

static MemoryData *lock(const Store *s) {
    MemoryData *m = data_of(s);
    pthread_mutex_lock(&m->lock);
    return m;
}

static void unlock(MemoryData *m) {
    pthread_mutex_unlock(&m->lock);
}

static bool memory_open(Store *s, Error *err) {
    (void)err;
    MemoryData *m = s->beside ? data_of(s->beside) : mem_zalloc(sizeof *m);
    ((MemoryStore *)s)->data = m;
    if (!s->beside) {
        pthread_mutexattr_t recursive;
        pthread_mutexattr_init(&recursive);
        pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_init(&m->lock, &recursive);
        pthread_mutexattr_destroy(&recursive);
    }
    lock(s)->handles++;
    unlock(m);
    return true;
}

/* ---- runs ---- */

static void free_run(MemoryRun *r) {
    for (size_t i = 0; i < r->len; i++) mem_free(r->kept[i].packed);
    mem_free(r->kept);
    for (size_t i = 0; i < r->nlog; i++) mem_free(r->log[i].packed);
    mem_free(r->log);
    run_row_clear(&r->row);
    mem_free(r);
}

static void memory_close(Store *s) {
    MemoryData *m = lock(s);
    size_t left = --m->handles;
    for (size_t i = 0; i < s->leases.cap; i++) leases_remove(&m->leased, s->leases.runs[i]);
    unlock(m);
    buf_clear(&((MemoryStore *)s)->lent);
    if (left) return;
    for (size_t i = 0; i < m->nruns; i++) free_run(m->runs[i]);
    for (size_t i = 0; i < m->ndefinitions; i++) {
        mem_free(m->definitions[i].key);
        buf_clear(&m->definitions[i].value);
    }
    mem_free(m->runs);
    mem_free(m->names);
    mem_free(m->definitions);
    leases_clear(&m->leased);
    pthread_mutex_destroy(&m->lock);
    mem_free(m);
}

/* Where the run is or would be. */
static size_t place_of_run(const MemoryData *m, int64_t run) {
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

static MemoryRun *run_of(const MemoryData *m, int64_t run) {
    size_t i = place_of_run(m, run);
    return i < m->nruns && m->runs[i]->row.run == run ? m->runs[i] : NULL;
}

static size_t bucket_of(const MemoryData *m, const char *thread) {
    uint64_t hash = store_hash(thread, strlen(thread));
    return (size_t)(hash ^ hash >> 32) & (m->nbuckets - 1);
}

static MemoryRun *run_named(const MemoryData *m, const char *thread) {
    MemoryRun *r = m->nbuckets ? m->names[bucket_of(m, thread)] : NULL;
    while (r && strcmp(r->row.thread, thread)) r = r->next_named;
    return r;
}

static void add_name(MemoryData *m, MemoryRun *r) {
    MemoryRun **bucket = &m->names[bucket_of(m, r->row.thread)];
    r->next_named = *bucket;
    *bucket = r;
}

static void add_run(MemoryData *m, MemoryRun *r) {
    if (m->nruns == m->nbuckets) { /* more buckets, for all names */
        m->nbuckets = m->nbuckets ? 2 * m->nbuckets : 16;
        mem_free(m->names);
        m->names = mem_zalloc(m->nbuckets * sizeof(MemoryRun *));
        for (size_t i = 0; i < m->nruns; i++) add_name(m, m->runs[i]);
    }
    m->runs = mem_grow(m->runs, m->nruns, &m->runs_cap, sizeof *m->runs);
    m->runs[m->nruns++] = r;
    add_name(m, r);
}

static void remove_run(MemoryData *m, int64_t run) {
    size_t i = place_of_run(m, run);
    MemoryRun *r = run_of(m, run);
    if (r) {
        MemoryRun **link = &m->names[bucket_of(m, r->row.thread)];
        while (*link != r) link = &(*link)->next_named;
        *link = r->next_named;
        free_run(r);
        memmove(m->runs + i, m->runs + i + 1, (m->nruns - i - 1) * sizeof *m->runs);
        m->nruns--;
    }
}

static bool memory_find(Store *s, RunKey key, RunRow *out, bool *found, Error *err) {
    (void)err;
    MemoryData *m = lock(s);
    MemoryRun *r = key.thread ? run_named(m, key.thread) : run_of(m, key.run);
    *found = r != NULL;
    if (r) run_row_copy(out, &r->row);
    unlock(m);
    return true;
}

static bool memory_runs(Store *s, RunsPage *page, RunRowFn fn, void *ctx, Error *err) {
    (void)err;
    MemoryData *m = lock(s);
    size_t n = m->nruns;
    RunPlace *places = mem_alloc((n + 1) * sizeof *places);
    for (size_t i = 0; i < n; i++) {
        places[i] = (RunPlace){m->runs[i]->row.updated, m->runs[i]->row.run, NULL};
    }
    unlock(m);
    run_places_give(s, places, n, page, fn, ctx);
    return true;
}

static bool memory_begin(Store *s, Error *err) {
    (void)err;
    MemoryData *m = lock(s);
    m->begun = true;
    m->begun_at = m->last_run;
    return true;
}

static void memory_end(MemoryData *m) {
    if (m->begun) {
        m->begun = false;
        unlock(m);
    }
}

static void memory_cancel(Store *s) {
    MemoryData *m = data_of(s);
    while (m->begun && m->nruns && m->runs[m->nruns - 1]->row.run > m->begun_at) {
        remove_run(m, m->runs[m->nruns - 1]->row.run);
    }
    memory_end(m);
}

static bool memory_create_run(Store *s, RunRow *row, bool *found, Error *err) {
    (void)err;
    MemoryData *m = lock(s);
    *found = row->thread && run_named(m, row->thread);
    if (!*found) {
        row->run = ++m->last_run;
        for (int i = 1; !row->thread; i++) {
            char name[STORE_NAME_MAX];
            store_name_run(row->run, i, name);
            row->thread = run_named(m, name) ? NULL : mem_strdup(name);
        }
        MemoryRun *r = mem_zalloc(sizeof *r);
        run_row_copy(&r->row, row);
        r->log_end.first = r->log_end.next = 1;
        add_run(m, r);
        leases_add(&m->leased, row->run);
    }
    unlock(m);
    return true;
}

static bool memory_lease(Store *s, int64_t run, bool *busy, char **owner, Error *err) {
    (void)owner;
    MemoryData *m = lock(s);
    bool there = run_of(m, run) != NULL;
    *busy = leases_has(&m->leased, run);
    if (there && !*busy) leases_add(&m->leased, run);
    unlock(m);
    return there || store_has_no_run(s, run, err);
}

static void memory_release(Store *s, int64_t run) {
    MemoryData *m = lock(s);
    leases_remove(&m->leased, run);
    unlock(m);
}

static bool memory_is_leased(Store *s, int64_t run) {
    MemoryData *m = lock(s);
    bool leased = leases_has(&m->leased, run);
    unlock(m);
    return leased;
}

static bool memory_set_cancel(Store *s, int64_t run, bool on, Error *err) {
    (void)err;
    MemoryData *m = lock(s);
    MemoryRun *r = run_of(m, run);
    if (r) r->row.cancel = on;
    unlock(m);
    return true;
}

static bool memory_get_cancel(Store *s, int64_t run, bool *on, Error *err) {
    (void)err;
    MemoryData *m = lock(s);
    MemoryRun *r = run_of(m, run);
    *on = r && r->row.cancel;
    unlock(m);
    return true;
}

/* ---- definitions ---- */

static bool memory_define(Store *s, const char *key, const Buf *value, Error *err) {
    (void)err;
    MemoryData *m = lock(s);
    m->definitions =
        mem_grow(m->definitions, m->ndefinitions, &m->definitions_cap, sizeof *m->definitions);
    Definition *d = &m->definitions[m->ndefinitions++];
    *d = (Definition){mem_strdup(key), BUF_INIT};
    buf_add(&d->value, value->data, value->len);
    unlock(m);
    return true;
}

static bool memory_definition(Store *s, const char *key, Buf *out, bool *found, Error *err) {
    (void)err;
    MemoryData *m = lock(s);
    *found = false;
    for (size_t i = 0; i < m->ndefinitions && !*found; i++) {
        if (!strcmp(m->definitions[i].key, key)) {
            buf_add(out, m->definitions[i].value.data, m->definitions[i].value.len);
            *found = true;
        }
    }
    unlock(m);
    return true;
}

/* ---- checkpoints ---- */

static size_t place_of(const MemoryRun *r, int64_t seq) {
    size_t low = 0, high = r->len;
    if (r->len && r->kept[r->len - 1].seq < seq) return r->len;
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

static void close_up(MemoryRun *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->len; i++) {
        if (r->kept[i].packed) r->kept[n++] = r->kept[i];
    }
    r->len = n;
}

/* ---- logs ---- */

static LogPiece piece_at(const MemoryRun *r, size_t i) {
    LogPiece piece;
    bool sound = log_unpack(r->log[i].packed, r->log[i].len, true, &piece);
    assert(sound);
    (void)sound;
    piece.run = r->row.run;
    return piece;
}

static void trim_log(MemoryRun *r, int64_t before, int64_t first) {
    size_t n = 0;
    for (; n + 1 < r->nlog && (r->log[n].seq < first || piece_at(r, n).before < before); n++) {
        mem_free(r->log[n].packed);
    }
    if (!n) return;
    r->nlog -= n;
    memmove(r->log, r->log + n, r->nlog * sizeof *r->log);
    r->log_end.first = r->log[0].seq;
    r->log_end.before = piece_at(r, 0).before;
}

static void keep_piece(MemoryRun *r, const BatchWrite *w) {
    LogPiece piece;
    int64_t before, first;
    Buf packed = BUF_INIT;
    log_unpack(w->packed, w->packed_len, true, &piece);
    for (size_t i = piece.again ? r->nlog : 0; i--;) {
        LogPiece there = piece_at(r, i);
        if (there.execution == piece.execution && there.frame == piece.frame &&
            there.stream == piece.stream) {
            if (!log_skip(&piece, there.offset + (int64_t)there.len)) return;
            break;
        }
    }
    piece.again = false;
    log_end_add(&r->log_end, &piece);
    log_pack(&piece, &packed);
    r->log = mem_grow(r->log, r->nlog, &r->log_cap, sizeof *r->log);
    r->log[r->nlog++] = (Kept){piece.n, packed.data, packed.len};
    if (log_end_trim(&r->log_end, &before, &first)) trim_log(r, before, first);
}

/* A checkpoint that is removed is only marked: many go at once, and are closed up together. */
static void apply(MemoryData *m, const BatchWrite *w) {
    MemoryRun *r = run_of(m, w->run);
    if (!r) return;
    if (w->op == BATCH_CHECKPOINT) {
        keep(r, w);
    } else if (w->op == BATCH_REMOVE) {
        size_t i = place_of(r, w->seq);
        if (i < r->len && r->kept[i].seq == w->seq) {
            mem_free(r->kept[i].packed);
            r->kept[i].packed = NULL;
        }
    } else if (w->op == BATCH_RUN) {
        mem_free(r->row.status);
        r->row.status = mem_strdup(w->status);
        r->row.head = w->head;
        r->row.updated = w->at;
    } else if (w->op == BATCH_LOG) {
        keep_piece(r, w);
    } else if (w->op == BATCH_TRIM_LOG) {
        trim_log(r, 0, w->seq);
    } else if (w->op == BATCH_REMOVE_RUN) {
        remove_run(m, w->run);
    }
}

static bool memory_commit(Store *s, const StoreBatch *b, Error *err) {
    (void)err;
    MemoryData *m = lock(s);
    BatchWrite w;
    int64_t closing = 0; /* a run in which checkpoints were marked */
    for (size_t pos = 0; batch_next(b, &pos, &w);) {
        if (closing && (w.op != BATCH_REMOVE || w.run != closing)) {
            close_up(run_of(m, closing));
            closing = 0;
        }
        if (w.op != BATCH_LOG || store_holds(s, w.run)) apply(m, &w);
        closing = w.op == BATCH_REMOVE && (closing || run_of(m, w.run)) ? w.run : 0;
    }
    if (closing) close_up(run_of(m, closing));
    unlock(m);
    memory_end(m);
    return true;
}

/* Copies the first checkpoint at or after *seq. */
static bool copy_checkpoint(const Store *s, int64_t run, int64_t *seq, Buf *out) {
    MemoryData *m = lock(s);
    MemoryRun *r = run_of(m, run);
    size_t i = r ? place_of(r, *seq) : 0;
    bool found = r && i < r->len;
    if (found) {
        *seq = r->kept[i].seq;
        buf_reset(out);
        buf_add(out, r->kept[i].packed, r->kept[i].len);
    }
    unlock(m);
    return found;
}

static void unpack(const Buf *packed, Checkpoint *out) {
    bool sound = checkpoint_unpack(packed->data, packed->len, out);
    assert(sound);
    (void)sound;
}

static bool memory_checkpoint(Store *s, int64_t run, int64_t seq, Checkpoint *out, bool *found,
                              const char **why, Error *err) {
    (void)why, (void)err;
    Buf *lent = &((MemoryStore *)s)->lent;
    int64_t at = seq;
    *found = copy_checkpoint(s, run, &at, lent) && at == seq;
    if (*found) unpack(lent, out);
    return true;
}

static bool memory_history(Store *s, int64_t run, int64_t from, CheckpointFn fn,
                           bool (*damaged)(void *ctx, int64_t seq, const char *why), void *ctx,
                           Error *err) {
    (void)damaged, (void)err;
    Buf packed = BUF_INIT;
    bool wanted = true;
    for (int64_t seq = from; wanted && copy_checkpoint(s, run, &seq, &packed); seq++) {
        Checkpoint c;
        unpack(&packed, &c);
        wanted = fn(ctx, &c);
    }
    buf_clear(&packed);
    return true;
}

static bool memory_log(Store *s, const LogQuery *query, LogFn fn,
                       bool (*damaged)(void *ctx, int64_t n, const char *why), void *ctx,
                       Error *err) {
    (void)damaged, (void)err;
    Buf packed = BUF_INIT;
    bool back = query->newest_first;
    for (int64_t n = back ? INT64_MAX : query->from, more = true; more; n += back ? -1 : 1) {
        MemoryData *m = lock(s);
        MemoryRun *r = run_of(m, query->run);
        LogPiece piece;
        if (r && !back && n < r->log_end.first) n = r->log_end.first;
        if (r && back && n >= r->log_end.next) n = r->log_end.next - 1;
        more = r && n >= r->log_end.first && n < r->log_end.next;
        if (more) {
            const Kept *kept = &r->log[n - r->log_end.first];
            buf_reset(&packed);
            buf_add(&packed, kept->packed, kept->len);
        }
        unlock(m);
        more = more && log_unpack(packed.data, packed.len, true, &piece);
        if (more) piece.run = query->run;
        more = more && fn(ctx, &piece);
    }
    buf_clear(&packed);
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
    .begin = memory_begin,
    .create_run = memory_create_run,
    .cancel = memory_cancel,
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
    .log = memory_log,
};
