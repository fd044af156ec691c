/* lib_thread.c - what the store keeps of runs, read beside the engine that writes it. */
#include "lib_inside.h"

#include "changed.h"
#include "hooks.h"
#include "mem.h"
#include "store_chain.h"

#include <stdio.h>

/* ---- history ---- */

enum { PAGE = 256 }; /* checkpoints read at a time, so that whoever walks may use the engine */

typedef struct Page {
    PawlCheckpoint items[PAGE];
    size_t n;
    Changed changed;
} Page;

static const char *copy_of(const char *text) {
    return mem_strndup(text, strlen(text));
}

static bool keep_checkpoint(void *ctx, const Checkpoint *c) {
    Page *p = ctx;
    p->items[p->n++] = (PawlCheckpoint){
        .checkpoint = c->seq,
        .parent = c->parent,
        .step = c->step,
        .frame = c->frame,
        .at = c->at,
        .node = copy_of(c->node),
        .status = copy_of(c->status),
        .changed = value_of(changed_keys(&p->changed, c)),
    };
    return p->n < PAGE;
}

static bool keep_damaged(void *ctx, int64_t seq, const Error *err) {
    Page *p = ctx;
    (void)err;
    p->items[p->n++] = (PawlCheckpoint){.checkpoint = seq,
                                        .node = copy_of(""),
                                        .status = copy_of("damaged"),
                                        .changed = value_of(json_array())};
    return p->n < PAGE;
}

static void clear_page(Page *p) {
    for (size_t i = 0; i < p->n; i++) {
        mem_free((char *)p->items[i].node);
        mem_free((char *)p->items[i].status);
        pawl_value_unref(p->items[i].changed);
    }
    p->n = 0;
}

static bool read_page(PawlEngine *e, int64_t run, int64_t from, Page *p, Error *error) {
    Store *store = engine_reader(e->engine, error);
    return store && store_history(store, run, from, keep_checkpoint, keep_damaged, p, error);
}

/* Whether there is more to come. */
static bool show_page(const Page *p, PawlCheckpointFn fn, void *ctx) {
    for (size_t i = 0; i < p->n; i++) {
        if (!fn(ctx, &p->items[i])) {
            return false;
        }
    }
    return p->n == PAGE;
}

static bool find_row(PawlEngine *e, const char *thread, RunRow *row, Error *error) {
    Store *store = engine_reader(e->engine, error);
    return store && store_find(store, thread ? thread : "", row, error);
}

bool pawl_run_history(PawlEngine *e, const char *thread, PawlCheckpointFn fn, void *ctx,
                      PawlError *err) {
    Error error = ERROR_INIT;
    RunRow row = {0};
    if (!engine_has_store(e, err)) {
        return false;
    }
    Page *page = mem_zalloc(sizeof *page);
    int64_t from = 1;
    for (bool more = find_row(e, thread, &row, &error); more;) {
        page->changed.store = engine_reader(e->engine, &error);
        page->changed.run = row.run;
        more = read_page(e, row.run, from, page, &error);
        from = page->n ? page->items[page->n - 1].checkpoint + 1 : from;
        more = show_page(page, fn, ctx) && more;
        clear_page(page);
    }
    changed_clear(&page->changed);
    mem_free(page);
    run_row_clear(&row);
    return lib_give_error(err, &error);
}

/* ---- states ---- */

static Json image_at(PawlEngine *e, const RunRow *row, int64_t seq, Error *error) {
    if (!seq && !row->head) {
        error_set(error, ERR_DATA, "Thread `%s` has no checkpoint yet.", row->thread);
        return json_none();
    }
    Store *store = engine_reader(e->engine, error);
    return store ? chain_image(store, row->run, seq ? seq : row->head, NULL, error) : json_none();
}

PawlValue pawl_run_show(PawlEngine *e, const char *thread, int64_t checkpoint, PawlError *err) {
    Error error = ERROR_INIT;
    RunRow row = {0};
    Json state = json_none();
    if (!engine_has_store(e, err)) {
        return value_of(state);
    }
    if (find_row(e, thread, &row, &error)) {
        Json image = image_at(e, &row, checkpoint, &error);
        state = json_is_none(image) ? image : image_state(image);
        json_unref(image);
        if (json_is_none(state) && error.code == ERR_NONE) {
            error_set(&error, ERR_DATA, "The checkpoint of thread `%s` does not hold a run.",
                      row.thread);
        }
    }
    run_row_clear(&row);
    lib_give_error(err, &error);
    return value_of(state);
}

/* ---- rows ---- */

/* A run that says that it is running, and that nobody has, lost its process. */
static const char *status_of(Store *store, const RunRow *row) {
    bool lost = !strcmp(row->status, "running") && !store_is_leased(store, row->run);
    return lost ? "stopped" : row->status;
}

static Json row_json(Store *store, const RunRow *row) {
    Json out = json_object_with(json_object(), "run", json_int(row->run));
    out = json_object_with(out, "thread", json_string_c(row->thread));
    out = json_object_with(out, "workflow", json_string_c(row->workflow ? row->workflow : ""));
    out = json_object_with(out, "status", json_string_c(status_of(store, row)));
    out = json_object_with(out, "created", json_int(row->created));
    out = json_object_with(out, "updated", json_int(row->updated));
    return json_object_with(out, "checkpoint", json_int(row->head));
}

typedef struct Listing {
    Store *store;
    Json rows;
} Listing;

static bool list_row(void *ctx, const RunRow *row) {
    Listing *l = ctx;
    l->rows = json_array_push(l->rows, row_json(l->store, row));
    return true;
}

PawlValue pawl_run_list(PawlEngine *e, PawlError *err) {
    Error error = ERROR_INIT;
    if (!engine_has_store(e, err)) {
        return value_of(json_none());
    }
    Listing l = {engine_reader(e->engine, &error), json_array()};
    if (!l.store || !store_runs(l.store, list_row, &l, &error)) {
        json_clear(&l.rows);
    }
    lib_give_error(err, &error);
    return value_of(l.rows);
}

PawlValue pawl_run_info(PawlEngine *e, const char *thread, PawlError *err) {
    Error error = ERROR_INIT;
    RunRow row = {0};
    Json out = json_none();
    if (!engine_has_store(e, err)) {
        return value_of(out);
    }
    Json image = find_row(e, thread, &row, &error) ? image_at(e, &row, 0, &error) : json_none();
    if (!json_is_none(image)) {
        Json failure = image_error(image);
        out = row_json(engine_reader(e->engine, &error), &row);
        out = json_object_with(out, "interrupts", image_interrupts(image));
        out = json_object_with(out, "error", json_is_none(failure) ? json_null() : failure);
    }
    json_unref(image);
    run_row_clear(&row);
    lib_give_error(err, &error);
    return value_of(out);
}

/* ---- changes by hand ---- */

int64_t pawl_run_update(PawlEngine *e, const char *thread, PawlValue set, const char *as_node,
                        PawlError *err) {
    Error error = ERROR_INIT;
    int64_t seq = 0;
    Json changes = changes_of(json_of(set), &error);
    RunUpdate update = {.thread = thread ? thread : "", .set = changes, .as_node = as_node};
    if (engine_has_store(e, err)) {
        bool ok = error.code == ERR_NONE && engine_update_now(e->engine, &update, &seq, &error);
        seq = ok ? seq : 0;
        lib_give_error(err, &error);
    }
    json_unref(changes);
    return seq;
}

bool pawl_run_fork(PawlEngine *e, const char *thread, int64_t checkpoint, const char *new_thread,
                   PawlError *err) {
    Error error = ERROR_INIT;
    RunRow row = {0};
    if (!engine_has_store(e, err)) {
        return false;
    }
    engine_fork_now(e->engine, thread ? thread : "", checkpoint, new_thread, &row, &error);
    run_row_clear(&row);
    return lib_give_error(err, &error);
}

bool pawl_run_ask_cancel(PawlEngine *e, const char *thread, PawlError *err) {
    Error error = ERROR_INIT;
    if (!engine_has_store(e, err)) {
        return false;
    }
    Run *cleaning = NULL;
    if (!engine_cancel_now(e->engine, thread ? thread : "", &cleaning, &error) &&
        error.code == ERR_BUSY) {
        error_clear(&error);
        engine_ask_cancel_now(e->engine, thread ? thread : "", &error);
    }
    if (cleaning) { /* nobody has it: it goes when it has settled */
        engine_add_run(e, cleaning, NULL, NULL)->freed = true;
    }
    return lib_give_error(err, &error);
}
