/* rewind.c - runs that a debugger takes from the store, and back to an earlier place in it. */
#include "change.h"
#include "fail.h"
#include "image_read.h"
#include "inject.h"
#include "load.h"
#include "mem.h"
#include "park.h"
#include "record.h"
#include "schedule.h"
#include "tasks.h"
#include "work.h"

/* ---- parking what was loaded ---- */

static void park_failed(Frame *f, Json info) {
    Json error = json_array_get(f->wait, WAIT_FAILED_ERROR),
         before = json_array_get(f->wait, WAIT_FAILED_BEFORE);
    bool after = json_truthy(json_array_get(f->wait, WAIT_FAILED_AFTER));
    int at = wait_is(before, WAIT_JOIN) ? FAIL_JOIN : after ? FAIL_AFTER : FAIL_NODE;
    Json inner = WAIT_FOR(WAIT_FAILING, json_ref(error), json_int(at),
                          json_is_none(before) ? json_null() : json_ref(before));
    frame_set_wait(f, json_null());
    frame_schedule(f);
    f->failure_kept = true;
    frame_park_as(f, HOOK_ON_ERROR, inner, json_ref(info));
}

static void park_loaded(Frame *f, Json info, bool looked) {
    if (f->waits == WAIT_PAUSE) { /* it keeps what it waits for; what is said of it is new */
        Json inner = json_array_get(f->wait, WAIT_PAUSED), error = json_none();
        if (wait_is(inner, WAIT_FAILING)) {
            error = json_ref(json_array_get(inner, WAIT_FAILING_ERROR));
        }
        frame_set_status(f, FRAME_PARKED);
        frame_set_pause(f, OBJECT_ADD(json_ref(info), KEY("error", error)));
        return;
    }
    if (f->waits == WAIT_FAILED) {
        park_failed(f, info);
        return;
    }
    frame_schedule(f);
    if (frame_is_at_rest(f)) return;
    if (f->children) { /* it has what it needs of them: it goes on when the first of them does */
        frame_unqueue(f);
        frame_set_status(f, FRAME_HOLDING);
        return;
    }
    bool fresh = json_kind(f->wait) == JSON_NULL && frame_top(f)->node;
    Json inner = looked && fresh ? wait_of(WAIT_LOOKED) : json_ref(f->wait);
    frame_park_as(f, wait_rows[f->waits].position, inner, json_ref(info));
}

/* Frames that were loaded, and would go on by themselves; the others stay. looked: the hooks are not asked
 * again. Scheduling one may change others: by number. */
static void park_all(Run *run, Json info, bool looked) {
    size_t n = 0;
    int64_t *ids = mem_alloc((run->nframes + 1) * sizeof *ids);
    for (Frame *f = run->first_frame; f; f = f->next) ids[n++] = f->id;
    for (size_t i = 0; i < n; i++) {
        Frame *f = run_frame(run, ids[i]);
        if (f) park_loaded(f, info, looked);
    }
    mem_free(ids);
}

/* ---- opening ---- */

static bool has_ended(const Run *run) {
    return run->status != RUN_RUNNING || run->first_frame->waits == WAIT_DONE;
}

/* Its frames are as they were left: paused ones stay so, with what was said of them. */
static void wake(Run *run, Json info) {
    bool more = false;
    for (Frame *f = run->first_frame; f; f = f->next) {
        if (f->waits == WAIT_PAUSE) {
            frame_schedule(f);
        } else {
            park_loaded(f, info, false);
            more = more || frame_is_parked(f);
        }
    }
    if (more) run_record(run, run->first_frame, NULL, "opened", json_none());
}

/* What its frames are, for those who look: nothing is scheduled. */
static void show_ended(Run *run) {
    bool failed = run->status == RUN_FAILED;
    for (Frame *f = run->first_frame; f; f = f->next) {
        bool here = f->waits == WAIT_FAILED;
        frame_set_status(f, here && failed ? FRAME_FAILED : FRAME_DONE);
    }
}

static void open_loaded(Request *q) {
    Run *run = request_build(q);
    if (!run || !(has_ended(run) || run_has_functions(run, &q->job.err))) {
        run_free(run);
        request_fail(q);
        return;
    }
    if (has_ended(run)) {
        int status = run_status_find(run->row.status);
        run->status = run->status == RUN_RUNNING && status >= 0 ? (RunStatus)status : run->status;
        run->settled = true;
        show_ended(run);
    } else {
        run_set_held(run, true);
        run_enter(run, RUNS_UNSAVED);
        run_tell_start(run, true);
        wake(run, q->info);
        run_set_deadline(run);
    }
    run_kick(run);
    request_tell(q, run, NULL);
}

Request *engine_open(Engine *e, const char *thread, Json info, RunReady ready, void *ctx) {
    Request *q = request_for(request_new(e, thread, 0), ready, NULL, ctx);
    q->info = info;
    request_load(q, open_loaded);
    return q;
}

Run *engine_open_now(Engine *e, const char *thread, Json info, Error *err) {
    Now now = {.err = err};
    return request_now(engine_open(e, thread, info, now_ready, &now), &now);
}

/* ---- alive again ---- */

static void revive(Run *run) {
    run->status = RUN_RUNNING;
    json_clear(&run->error);
    run->halting = run->cancelling = run->settled = run->rested = false;
    run_leave(run, RUNS_SETTLING);
    run_set_held(run, true);
}

static void lease_again(StorageJob *job, Store *store) {
    store_lease(store, ((Request *)job)->seq, &job->err);
}

static void on_taken(StorageJob *job) {
    Request *q = (Request *)job;
    Run *run = q->run;
    bool ok = job->err.code == ERR_NONE;
    if (job->abandoned) error_set(&job->err, ERR_BUSY, "The engine has ended.");
    if (run) {
        run->take = NULL;
        run->leased = ok;
        run->release_batch = ok ? 0 : run->release_batch;
    } else if (ok && !job->abandoned) {
        request_release(q->engine, q->seq);
    }
    request_tell(q, run, NULL);
}

static void tell_taken(Request *q) {
    request_tell(q, q->run, NULL);
}

Request *run_take(Run *run, RunReady ready, void *ctx) {
    Engine *e = run->engine;
    Request *q = request_for(request_new(e, NULL, run->row.run), ready, NULL, ctx);
    q->run = run;
    if (!e->storage) {
        error_set(&q->job.err, ERR_USAGE,
                  "There is no store, so there is no history to go back to.");
    } else if (run->take) {
        error_set(&q->job.err, ERR_BUSY, "Thread `%s` is being taken already.", run->row.thread);
    } else {
        run_has_functions(run, &q->job.err);
    }
    if (run->leased || q->job.err.code != ERR_NONE) {
        request_later(q, tell_taken);
        return q;
    }
    run->take = q;
    q->job.work = lease_again;
    q->job.done = on_taken;
    storage_write(e->storage, &q->job);
    return q;
}

bool run_is_taken(const Run *run) {
    return run->leased;
}

void run_give_back(Run *run) {
    if (run->leased && run->settled) {
        run->leased = false;
        request_release(run->engine, run->row.run);
    }
}

bool run_is_cancelling(const Run *run) {
    return run->cancelling;
}

bool run_is_called_off(const Run *run) {
    return run->status == RUN_CANCELLED || run->status == RUN_STOPPED ||
           (run->first_frame && test_is_over(run));
}

static bool may_write(Run *run, Error *err) {
    Now now = {.err = err};
    if (!run->leased || !run->engine->storage) request_now(run_take(run, now_ready, &now), &now);
    return run->leased;
}

/* On a new line of history the work of a node begins anew, unless it has told or was told something: what
 * a person changes before it is then in it. */
static void begin_works_anew(Run *run) {
    for (Frame *f = run->first_frame; f; f = f->next) {
        Json inner = wait_unpaused(f->wait);
        Json answers = work_part(inner, WORK_ANSWERS), memo = work_part(inner, WORK_MEMO);
        if (wait_is(inner, WAIT_WORK) && !json_array_len(answers) && safe_is_nothing(memo)) {
            frame_top(f)->deadline = 0;
            frame_set_wait(f, json_null());
        }
        inject_take_back(f);
    }
}

bool run_rewind(Run *run, Json there, Json info, Error *err) {
    const RunHooks *hooks = run->hooks;
    void *ctx = run->hooks_ctx;
    bool ok = engine_may_begin(run->engine, err) && may_write(run, err);
    if (ok) {
        run_set_hooks(run, NULL, NULL);
        ok = load_again(run, there, err);
        if (run->first_frame) run_set_hooks(run, hooks, ctx);
    }
    if (ok && has_ended(run)) {
        run->settled = true;
        show_ended(run);
        run_enter(run, RUNS_UNSAVED);
        run_record(run, run->first_frame, NULL, "forked", json_none());
    } else if (ok) {
        revive(run);
        begin_works_anew(run);
        run_fork_line(run);
        park_all(run, info, true);
        run_record(run, run->first_frame, NULL, "forked", json_none());
        run_set_deadline(run);
    } else if (run->first_frame && !run->parked &&
               !run->settled) { /* it had to be taken up again */
        park_all(run, info, true);
    }
    json_unref(info);
    run_kick(run);
    return ok;
}

bool run_reopen(Run *run, Json info, Error *err) {
    bool failed = run->status == RUN_FAILED && run->settled && !test_is_over(run);
    bool ok = failed ? may_write(run, err)
                     : error_set(err, ERR_USAGE, "The run %s: there is nothing to try again.",
                                 run->status == RUN_FAILED ? "has failed and cleaned up"
                                                           : "has not failed");
    if (ok) {
        revive(run);
        run_renew_clocks(run);
        park_all(run, info, true);
        run_record(run, run->first_frame, NULL, "reopened", json_none());
        run_set_deadline(run);
    }
    json_unref(info);
    run_kick(run);
    return ok;
}

/* ---- one node again ---- */

/* What the node sees and is told to do this time. */
static bool replay_change(Frame *f, Json input, Json config, Error *err) {
    Json changes = json_array(), key, value;
    for (size_t pos = 0;
         json_kind(input) == JSON_OBJECT && json_object_next(input, &pos, &key, &value);) {
        changes = json_array_push(changes, ARRAY(ARRAY(json_ref(key)), json_ref(value)));
    }
    bool ok = frame_change(f, changes, err) &&
              (json_kind(config) != JSON_OBJECT || inject_config(f, config, err));
    json_unref(changes);
    return ok;
}

/* What the frame waited for when its node was under way begins anew: all of it, where something is changed. */
static void replay(Run *run, Frame *f, bool changed) {
    Json wait = f->wait;
    run->status = RUN_RUNNING;
    json_clear(&run->error);
    run_set_debug(run, json_null());
    run->only = (RunOnly){f->id, f->nlevels, run->step};
    run_set_hooks(run, NULL, NULL);
    bool again = !changed && work_goes_outside(f, wait);
    frame_set_wait(f, again ? work_again(f, wait) : wait_of(WAIT_GO));
    run_enter(run, RUNS_UNSAVED);
    run_record(run, f, frame_top(f)->node, "replaying", json_none());
    run_tell_start(run, true);
    frame_schedule(f);
    run_kick(run);
}

/* A copy of the thread up to what led to the step, which is one checkpoint, and the step in it: all one
 * commit. */
static void replay_read(Request *q) {
    Loaded *l = &q->loaded;
    int64_t now = engine_time(q->engine);
    if (q->job.err.code == ERR_NONE &&
        (!q->new_thread || store_check_new_thread(q->new_thread, &q->job.err))) {
        l->image = image_renew_places(image_shift(l->image, now - l->at, true));
        l->image = image_of_starter(l->image, q->by);
        l->at = l->row.updated = now;
        l->seq = l->row.head = l->row.last = 1;
    }
    Run *run = request_build(q);
    Frame *f = run ? run_frame(run, q->frame) : NULL;
    const Node *node = f ? frame_top(f)->node : NULL;
    if (run && !run_has_functions(run, &q->job.err)) {
        run_free(run);
        run = NULL;
    } else if (run && (!node || strcmp(node->name, q->node) != 0)) {
        error_set(&q->job.err, ERR_USAGE,
                  "The execution that checkpoint %lld ended cannot be done alone.",
                  (long long)q->seq);
        run_free(run);
        run = NULL;
    } else if (run && !replay_change(f, q->input, q->config, &q->job.err)) {
        run_free(run);
        run = NULL;
    }
    if (!run) {
        request_fail(q);
        return;
    }
    request_make(q, run, run->row.workflow, run->row.definition);
    batch_copied_image(q, run->row.run, run->step, &run->weight);
    replay(run, f, !json_is_none(q->input) || !json_is_none(q->config));
    run_set_by(run, NULL);
}

Request *engine_replay(Engine *e, const RunReplay *asked, RunReady ready, void *ctx) {
    Request *q = request_for(request_new(e, asked->thread, asked->seq), ready, NULL, ctx);
    q->new_thread = mem_strdup(asked->new_thread);
    q->input = json_ref(asked->input);
    q->config = json_ref(asked->config);
    q->by = mem_strdup(asked->by);
    q->replays = true;
    request_read(q, replay_read);
    return q;
}

Run *engine_replay_now(Engine *e, const RunReplay *asked, Error *err) {
    Now now = {.err = err};
    return request_now(engine_replay(e, asked, now_ready, &now), &now);
}
