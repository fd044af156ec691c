/* edit.c - changes to a run that nobody runs: update, cancel, fork. */
#include "change.h"
#include "fail.h"
#include "image_read.h"
#include "json_binary.h"
#include "load.h"
#include "record.h"
#include "suggest.h"
#include "tasks.h"
#include "work.h"

#include <stdio.h>

/* Commits what was recorded since batch was set, and lets go of the run. */
static bool commit_and_free(Run *run, StoreBatch *batch, bool ok, Error *err) {
    Engine *e = run->engine;
    if (ok) {
        store_batch_run(batch, run->row.run, run->head, run_status_names[run->status],
                        engine_now(e));
        engine_lock(e);
        ok = store_commit(e->options.store, batch, err);
        engine_unlock(e);
    }
    store_batch_clear(batch);
    run_free(run);
    return ok;
}

static bool move_after(Run *run, const char *name, Error *err) {
    Frame *root = run->first_frame;
    Json key = json_string_c(name);
    const Graph *graph = root->levels[0].graph;
    const Node *node = graph_node(graph, key);
    json_unref(key);
    if (!node) {
        Suggestion nearest = suggestion_for(name, strlen(name));
        for (size_t i = 0; i < graph->nnodes; i++) {
            suggestion_offer(&nearest, graph->nodes[i].name);
        }
        return error_set(err, ERR_USAGE, "The workflow has no node `%s`%s%s%s", name,
                         nearest.best ? "; did you mean `" : "", nearest.best ? nearest.best : "",
                         nearest.best ? "`?" : ".");
    }
    frame_unwind(root, 0);
    Level *l = frame_top(root);
    l->node = node;
    if (l->graph->scoped) {
        json_clear(&l->writes);
    }
    level_begin_node(l);
    frame_set_wait(root, wait_of(WAIT_AFTER));
    json_clear(&run->error);
    return true;
}

static RunStatus status_of_row(const RunRow *row) {
    int status = run_status_find(row->status);
    return status < 0 ? RUN_STOPPED : (RunStatus)status;
}

bool engine_update_now(Engine *e, const RunUpdate *u, int64_t *seq, Error *err) {
    Run *run = load_run(e, &(Loading){u->thread, u->seq, NULL}, err);
    StoreBatch batch = STORE_BATCH_INIT;
    if (!run) {
        return false;
    }
    run->batch = &batch;
    bool ok = (!u->as_node || move_after(run, u->as_node, err)) &&
              level_set(run->first_frame, frame_shown_level(run->first_frame), u->set, err);
    if (ok) {
        bool forked = run_is_forked(run);
        run->status = status_of_row(&run->row);
        if (u->as_node || forked) {
            run_status_change(&run->status, RUN_IS_MOVED);
        }
        run->by_hand = json_ref(u->set);
        run_record(run, run->first_frame, u->as_node ? frame_top(run->first_frame)->node : NULL,
                   "updated", json_none());
        *seq = run->head;
    }
    return commit_and_free(run, &batch, ok, err);
}

static bool cleans(const Frame *f) {
    for (; f; f = f->parent) {
        if (f->is_cleanup) {
            return true;
        }
    }
    return false;
}

/* Work that a dead process left behind is ended with it, but for what cleans up. */
static void end_work(Run *run) {
    engine_lock(run->engine);
    work_sweep(run, cleans);
    engine_unlock(run->engine);
}

/* A test that has something to clean up goes on with that. */
static bool cleans_up(Run *run) {
    RunStatus status = status_of_row(&run->row);
    bool began = test_is_over(run);
    if (!test_cleans_up(run) || (began && status == RUN_FAILED) ||
        !run_status_change(&status, RUN_RESUMES)) {
        return false;
    }
    run->status = RUN_RUNNING;
    json_clear(&run->error);
    if (began) {
        test_is_cancelled(run);
    } else {
        end_work(run);
    }
    run_schedule_all(run);
    run_kick(run);
    return began || test_abort(run, json_none());
}

bool engine_cancel_now(Engine *e, const char *thread, Run **cleaning, Error *err) {
    Run *run = load_run(e, &(Loading){thread, 0, NULL}, err);
    StoreBatch batch = STORE_BATCH_INIT;
    *cleaning = NULL;
    if (!run) {
        return false;
    }
    if (cleans_up(run)) {
        *cleaning = run;
        return true;
    }
    run->batch = &batch;
    run->status = status_of_row(&run->row);
    bool ok = run_status_change(&run->status, RUN_IS_CANCELLED);
    if (ok) {
        run_record(run, run->first_frame, NULL, "cancelled", json_none());
        end_work(run);
    } else {
        error_set(err, ERR_USAGE, "Thread `%s` is %s already.", run->row.thread, run_status(run));
    }
    return commit_and_free(run, &batch, ok, err);
}

/* ---- a thread from another ---- */

static RunStatus status_of_image(Json image) {
    Json status = json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_STATUS);
    for (int i = 0; i <= RUN_CANCELLED; i++) {
        if (json_string_is(status, run_status_names[i])) {
            return (RunStatus)i;
        }
    }
    Json open = image_interrupts(image);
    size_t n = json_array_len(open);
    json_unref(open);
    return image_is_paused(image) ? RUN_PAUSED : n ? RUN_INTERRUPTED : RUN_STOPPED;
}

/* The first checkpoint of the new thread is the whole of the old one's. */
static bool copy_image(Engine *e, const RunRow *row, Json image, int64_t step, Error *err) {
    StoreBatch batch = STORE_BATCH_INIT;
    Buf patch = BUF_INIT, snapshot = BUF_INIT;
    Json change[] = {json_array(), json_ref(image)};
    Json changes = json_array_push(json_array(), json_array_from(change, 2));
    json_encode(changes, &patch);
    json_encode(image, &snapshot);
    int64_t now = engine_now(e);
    store_batch_checkpoint(&batch, &(Checkpoint){.run = row->run,
                                                 .seq = 1,
                                                 .step = step,
                                                 .frame = 1,
                                                 .at = now,
                                                 .node = "",
                                                 .status = "forked",
                                                 .patch = patch.data,
                                                 .patch_len = patch.len,
                                                 .snapshot = snapshot.data,
                                                 .snapshot_len = snapshot.len});
    store_batch_run(&batch, row->run, 1, run_status_names[status_of_image(image)], now);
    bool ok = store_commit(e->options.store, &batch, err);
    json_unref(changes);
    buf_clear(&patch);
    buf_clear(&snapshot);
    store_batch_clear(&batch);
    return ok;
}

static bool is_image(const RunRow *row, int64_t seq, Json image, Error *err) {
    return image_valid(image) ||
           error_set(err, ERR_DATA,
                     "Checkpoint %lld of thread `%s` is damaged: it is not the image of a run.",
                     (long long)seq, row->thread);
}

bool engine_fork_now(Engine *e, const char *thread, int64_t seq, const char *new_thread,
                     RunRow *out, Error *err) {
    Store *store = e->options.store;
    RunRow from = {0};
    Checkpoint c;
    if (!store) {
        return error_set(err, ERR_USAGE, "There is no store, so there are no runs to fork.");
    }
    engine_lock(e);
    bool ok = store_find(store, thread, &from, err);
    seq = seq ? seq : from.head;
    ok = ok && store_checkpoint(store, from.run, seq, &c, err);
    int64_t step = ok ? c.step : 0, at = ok ? c.at : 0;
    Json image = ok ? chain_image(store, from.run, seq, NULL, err) : json_none();
    ok = ok && !json_is_none(image) && is_image(&from, seq, image, err) &&
         store_create_run(store, new_thread, from.workflow, from.definition, out, err);
    if (ok) {
        image = image_renew_places(image_shift(image, engine_now(e) - at, true));
        ok = copy_image(e, out, image, step, err);
        store_release(store, out->run);
    }
    engine_unlock(e);
    json_unref(image);
    run_row_clear(&from);
    return ok;
}
