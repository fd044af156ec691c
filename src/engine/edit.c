/* edit.c - changes to a run that nobody runs: update, cancel, fork. */
#include "change.h"
#include "fail.h"
#include "image_read.h"
#include "json_binary.h"
#include "load.h"
#include "mem.h"
#include "park.h"
#include "problems.h"
#include "record.h"
#include "result.h"
#include "suggest.h"
#include "tasks.h"
#include "work.h"

/* What was recorded by hand is durable, and the run is let go of. */
static void on_written(Request *q) {
    Run *run = q->run;
    RunRow row = run->row;
    row.head = run->head;
    row.last = run->last;
    row.status = (char *)run_status_names[run->status];
    request_tell(q, NULL, &row);
    run_free(run);
}

/* The lease goes back with the batch. */
static void write_by_hand(Request *q, Run *run) {
    q->run = run;
    run->changing = true;
    run_enter(run, RUNS_UNSAVED);
    request_durable(q, on_written);
}

static bool move_after(Run *run, const char *name, Error *err) {
    Frame *root = run->first_frame;
    Json key = json_string_c(name);
    const Graph *graph = root->levels[0].graph;
    const Node *node = graph_node(graph, key);
    json_unref(key);
    if (!node) {
        Suggestion nearest = suggestion_for(name, strlen(name));
        for (size_t i = 0; i < graph->nnodes; i++) suggestion_offer(&nearest, graph->nodes[i].name);
        return error_set(err, ERR_USAGE, "The workflow has no node `%s`%s", name,
                         did_you_mean_this(nearest.best));
    }
    frame_unwind(root, 0);
    Level *l = frame_top(root);
    l->node = node;
    if (l->graph->scoped) json_clear(&l->writes);
    level_begin_node(l);
    frame_set_wait(root, wait_of(WAIT_AFTER));
    json_clear(&run->error);
    return true;
}

static RunStatus status_of_row(const RunRow *row) {
    int status = run_status_find(row->status);
    return status < 0 ? RUN_STOPPED : (RunStatus)status;
}

static void update(Request *q) {
    const RunUpdate *u = &q->update;
    Run *run = request_build(q);
    bool ok = run && (!u->as_node || move_after(run, u->as_node, &q->job.err)) &&
              level_set(run->first_frame, frame_shown_level(run->first_frame), u->set, &q->job.err);
    if (!ok) {
        run_free(run);
        request_fail(q);
        return;
    }
    bool forked = run_is_forked(run);
    run->status = status_of_row(&run->row);
    if (u->as_node || forked) run_status_change(&run->status, RUN_IS_MOVED);
    run->by_hand = json_ref(u->set);
    run_record(run, run->first_frame, u->as_node ? frame_top(run->first_frame)->node : NULL,
               "updated", json_none());
    if (run_store_error(run)) {
        q->job.err = *run_store_error(run);
        run_free(run);
        request_fail(q);
        return;
    }
    write_by_hand(q, run);
}

Request *engine_update(Engine *e, const RunUpdate *u, RunChanged changed, void *ctx) {
    Request *q = request_for(request_new(e, u->thread, u->seq), NULL, changed, ctx);
    q->update = *u;
    q->by = mem_strdup(u->by);
    q->update.as_node = mem_strdup(u->as_node);
    json_ref(u->set);
    request_load(q, update);
    return q;
}

bool engine_update_now(Engine *e, const RunUpdate *u, int64_t *seq, Error *err) {
    Now now = {.err = err};
    request_now(engine_update(e, u, now_changed, &now), &now);
    *seq = now.failed ? *seq : now.row.head;
    run_row_clear(&now.row);
    return !now.failed;
}

static bool cleans(const Frame *f) {
    for (; f; f = f->parent) {
        if (f->is_cleanup) return true;
    }
    return false;
}

static bool nothing(const Frame *f) {
    (void)f;
    return false;
}

/* A test that has something to clean up goes on with that. Work that a dead process left behind is ended,
 * but for what cleans up. */
static bool cleans_up(Run *run) {
    RunStatus status = status_of_row(&run->row);
    bool began = test_is_over(run);
    if (!test_cleans_up(run) || (began && status == RUN_FAILED) ||
        !run_status_change(&status, RUN_RESUMES)) {
        return false;
    }
    run->status = RUN_RUNNING;
    json_clear(&run->error);
    if (!began) work_sweep(run, cleans);
    run_schedule_all(run);
    run_kick(run);
    if (began) test_is_cancelled(run);
    if (!began && !test_abort(run, json_none())) return false;
    park_none(run);
    return true;
}

static void cancel(Request *q) {
    Run *run = request_build(q);
    if (!run) {
        request_fail(q);
        return;
    }
    if (!q->at_once && cleans_up(run)) {
        run_leave_by(run);
        request_tell(q, run, NULL);
        return;
    }
    run->status = status_of_row(&run->row);
    if (!run_status_change(&run->status, RUN_IS_CANCELLED)) {
        error_set(&q->job.err, ERR_ENDED, "Thread `%s` is %s already.", run->row.thread,
                  run_status(run));
        error_fact(&q->job.err, "thread", run->row.thread);
        error_fact(&q->job.err, "status", run_status(run));
        run_free(run);
        request_fail(q);
        return;
    }
    run_record(run, run->first_frame, NULL, "cancelled", json_none());
    work_sweep(run, q->at_once ? nothing : cleans);
    write_by_hand(q, run);
}

Request *engine_cancel(Engine *e, const RunCancel *how, RunReady ready, void *ctx) {
    Request *q = request_for(request_new(e, how->thread, 0), ready, NULL, ctx);
    q->by = mem_strdup(how->by);
    q->at_once = how->at_once;
    request_load(q, cancel);
    return q;
}

bool engine_cancel_now(Engine *e, const char *thread, Run **cleaning, Error *err) {
    Now now = {.err = err};
    *cleaning =
        request_now(engine_cancel(e, &(RunCancel){.thread = thread}, now_ready, &now), &now);
    return !now.failed;
}

/* ---- a thread from another ---- */

static RunStatus status_of_image(Json image) {
    Json status = json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_STATUS);
    int ended = json_kind(status) == JSON_STRING ? run_status_find(json_string_data(&status)) : -1;
    if (ended >= 0) return (RunStatus)ended;
    Json open = image_interrupts(image);
    size_t n = json_array_len(open);
    json_unref(open);
    return image_is_paused(image) ? RUN_PAUSED : n ? RUN_INTERRUPTED : RUN_STOPPED;
}

void batch_copied_image(Request *q, int64_t run, int64_t step, ChainWeight *weight) {
    Engine *e = q->engine;
    Json image = q->loaded.image;
    StoreBatch *batch = storage_batch(e->storage);
    Buf patch = BUF_INIT, result = BUF_INIT, snapshot = BUF_INIT;
    if (q->by) result_encode_by(q->by, &result);
    Json changes = ARRAY(ARRAY(json_array(), json_ref(image)));
    json_encode(changes, &patch);
    json_encode(image, &snapshot);
    store_batch_checkpoint(batch, &(Checkpoint){.run = run,
                                                .seq = 1,
                                                .step = step,
                                                .frame = 1,
                                                .at = engine_time(e),
                                                .node = "",
                                                .status = "forked",
                                                .patch = patch.data,
                                                .patch_len = patch.len,
                                                .result = result.data,
                                                .result_len = result.len,
                                                .snapshot = snapshot.data,
                                                .snapshot_len = snapshot.len});
    *weight = (ChainWeight){0};
    chain_weigh(weight, patch.len, snapshot.len, json_size(image));
    json_unref(changes);
    buf_clear(&patch);
    buf_clear(&result);
    buf_clear(&snapshot);
}

static void on_forked(Request *q) {
    request_tell(q, NULL, &q->made);
}

static void fork_read(Request *q) {
    Engine *e = q->engine;
    Loaded *from = &q->loaded;
    ChainWeight weight;
    if (q->job.err.code != ERR_NONE ||
        (q->new_thread && !store_check_new_thread(q->new_thread, &q->job.err))) {
        request_fail(q);
        return;
    }
    StoreCreate c = {.thread = q->new_thread,
                     .workflow = from->row.workflow,
                     .definition = json_none(),
                     .key = from->row.definition,
                     .at = engine_time(e)};
    from->image = image_renew_places(image_shift(from->image, engine_time(e) - from->at, true));
    from->image = image_of_starter(from->image, q->by);
    request_create(q, &c, on_forked);
    batch_copied_image(q, c.stand_in, from->step, &weight);
    StoreBatch *batch = storage_batch(e->storage);
    store_batch_run(batch, c.stand_in, 1, run_status_names[status_of_image(from->image)],
                    engine_time(e));
    store_batch_release(batch, c.stand_in);
}

Request *engine_fork(Engine *e, const RunFork *fork, RunChanged changed, void *ctx) {
    Request *q = request_for(request_new(e, fork->thread, fork->seq), NULL, changed, ctx);
    q->new_thread = mem_strdup(fork->new_thread);
    q->by = mem_strdup(fork->by);
    q->no_definition = true;
    request_read(q, fork_read);
    return q;
}

bool engine_fork_now(Engine *e, const char *thread, int64_t seq, const char *new_thread,
                     RunRow *out, Error *err) {
    Now now = {.err = err};
    request_now(engine_fork(e, &(RunFork){thread, seq, new_thread, NULL}, now_changed, &now), &now);
    *out = now.row;
    return !now.failed;
}

/* ---- a wish, for whoever has the run ---- */

static void ask_holder(StorageJob *job, Store *store) {
    Request *q = (Request *)job;
    if (store_find(store, q->thread, &q->loaded.row, &job->err)) {
        store_ask_cancel(store, q->loaded.row.run, &job->err);
    }
}

static void on_asked(StorageJob *job) {
    Request *q = (Request *)job;
    request_tell(q, NULL, &q->loaded.row);
}

bool engine_ask_cancel_now(Engine *e, const char *thread, Error *err) {
    Now now = {.err = err};
    Request *q = request_for(request_new(e, thread, 0), NULL, now_changed, &now);
    q->job.work = ask_holder;
    q->job.done = on_asked;
    storage_write(e->storage, &q->job);
    request_now(q, &now);
    run_row_clear(&now.row);
    return !now.failed;
}
