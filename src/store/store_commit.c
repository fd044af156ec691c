/* store_commit.c - from a batch to what a backend commits: runs are made, and get their numbers. */
#include "backend.h"
#include "mem.h"
#include "packed.h"

#include <inttypes.h>

/* ---- numbers that stand in for runs ---- */

/* They go down, so they are in order. */
static const Made *find_made(const StoreBatch *b, int64_t stand_in) {
    size_t low = 0, high = b ? b->nmade : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->made[middle].stand_in > stand_in) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return b && low < b->nmade && b->made[low].stand_in == stand_in ? &b->made[low] : NULL;
}

/* 0: it was not made. */
static int64_t number_of(const StoreBatch *b, int64_t run) {
    const Made *made = run < 0 ? find_made(b, run) : NULL;
    made = made || run > 0 ? made : find_made(b->before, run);
    return run > 0 ? run : made ? made->run : 0;
}

/* ---- making runs ---- */

/* A run whose process died before its first checkpoint never began: its name is free again. */
static void make_room(Store *s, const StoreBatch *b) {
    BatchWrite w;
    for (size_t pos = 0; batch_next(b, &pos, &w);) {
        RunRow row = {0};
        bool found = false;
        if (w.op == BATCH_CREATE && *w.thread &&
            s->backend->find(s, (RunKey){w.thread, 0}, &row, &found, NULL) && found && !row.head &&
            !store_holds(s, row.run) && store_lease(s, row.run, NULL)) {
            StoreBatch batch = STORE_BATCH_INIT;
            store_batch_remove_run(&batch, row.run);
            s->backend->commit(s, &batch, NULL);
            store_release(s, row.run);
            store_batch_clear(&batch);
        }
        run_row_clear(&row);
    }
}

/* `key` is that of the definition before it. */
static bool make_run(Store *s, StoreBatch *b, const BatchWrite *w, const char *key, Error *err) {
    char self[STORE_OWNER_MAX];
    bool found = false;
    RunRow row = {.thread = *w->thread ? mem_strdup(w->thread) : NULL,
                  .workflow = mem_strdup(w->workflow),
                  .status = mem_strdup("pending"),
                  .definition = mem_strdup(*w->definition || !key ? w->definition : key),
                  .owner = mem_strdup(store_self(self)),
                  .created = w->at ? w->at : store_now()};
    row.updated = row.created;
    if (!s->backend->create_run(s, &row, &found, err)) {
        run_row_clear(&row);
        return false;
    }
    if (!found) {
        leases_add(&s->leases, row.run);
        batch_create(&s->plain, &row);
    }
    b->made = mem_grow(b->made, b->nmade, &b->made_cap, sizeof *b->made);
    b->made[b->nmade++] = (Made){w->run, row.run, row};
    return true;
}

/* The same batch with the numbers in it. What is for runs that are not there is left out. */
static bool resolve(Store *s, StoreBatch *b, Error *err) {
    BatchWrite w;
    char *key = NULL;
    bool ok = true;
    batch_forget_made(b);
    store_batch_reset(&s->plain);
    for (size_t pos = 0; ok && batch_next(b, &pos, &w);) {
        int64_t run = number_of(b, w.run);
        if (w.op == BATCH_DEFINE) {
            Buf value = {.data = (char *)w.packed, .len = w.packed_len};
            mem_free(key);
            key = store_define_encoded(s, &value, err);
            ok = key != NULL;
        } else if (w.op == BATCH_CREATE) {
            ok = make_run(s, b, &w, key, err);
        } else if (run) {
            batch_copy(&s->plain, b, &w, run);
        }
    }
    mem_free(key);
    return ok;
}

/* ---- committing ---- */

static bool check_leases(const Store *s, const StoreBatch *b, Error *err) {
    BatchWrite w;
    int64_t last = 0;
    for (size_t pos = 0; batch_next(b, &pos, &w);) {
        if (w.op == BATCH_LOG) continue; /* left out by the backend where it is not */
        if (w.run != last && !store_holds(s, w.run)) {
            return error_set(err, ERR_BUSY,
                             "Run %" PRId64 " cannot be written: its lease is not held here.",
                             w.run);
        }
        last = w.run;
    }
    return true;
}

static void release(Store *s, const StoreBatch *b) {
    BatchWrite w;
    for (size_t pos = 0; b->releases && batch_next(b, &pos, &w);) {
        if (w.op == BATCH_RELEASE) store_release(s, number_of(b, w.run));
    }
}

static bool commit_resolved(Store *s, StoreBatch *b, Error *err) {
    make_room(s, b);
    if (!s->backend->begin(s, err)) return false;
    if (!resolve(s, b, err) || !check_leases(s, &s->plain, err) ||
        (s->plain.count && !s->backend->commit(s, &s->plain, err))) {
        s->backend->cancel(s); /* nothing of it was committed */
        for (size_t i = 0; i < b->nmade; i++) store_release(s, b->made[i].run);
        batch_forget_made(b);
        return false;
    }
    if (!s->plain.count) s->backend->cancel(s);
    release(s, b);
    return true;
}

bool store_commit(Store *s, StoreBatch *b, Error *err) {
    if (!store_refuse_reader(s, err)) return false;
    if (b->stands_in) return commit_resolved(s, b, err);
    if (!check_leases(s, b, err) || (b->count && !s->backend->commit(s, b, err))) return false;
    batch_forget_made(b);
    release(s, b);
    return true;
}

bool store_batch_made(const Store *s, StoreBatch *b, size_t n, RunRow *out, Error *err) {
    RunRow *row = &b->made[n].row;
    *out = (RunRow){0};
    if (!b->made[n].run) {
        error_set(err, ERR_EXISTS, "There is a thread `%s` in %s already.", row->thread, s->url);
        return error_fact(err, "thread", row->thread);
    }
    *out = *row;
    *row = (RunRow){0};
    return true;
}
