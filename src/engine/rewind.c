/* rewind.c - runs that a debugger takes from the store, and back to an earlier place in it. */
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

/* A pause that is there keeps what it waits for; what is said of it is new. */
static void park_again(Frame *f, Json info) {
    Json inner = json_array_get(f->wait, WAIT_PAUSED);
    info = json_ref(info);
    if (wait_is(inner, WAIT_FAILING)) {
        info = json_object_with(info, "error", json_ref(json_array_get(inner, WAIT_FAILING_ERROR)));
    }
    frame_set_status(f, FRAME_PARKED);
    frame_set_pause(f, info);
}

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
    if (f->waits == WAIT_PAUSE) {
        park_again(f, info);
        return;
    }
    if (f->waits == WAIT_FAILED) {
        park_failed(f, info);
        return;
    }
    frame_schedule(f);
    if (frame_is_at_rest(f)) {
        return;
    }
    if (f->children) { /* it has what it needs of them: it goes on when the first of them does */
        frame_unqueue(f);
        frame_set_status(f, FRAME_HOLDING);
        return;
    }
    bool fresh = json_kind(f->wait) == JSON_NULL && frame_top(f)->node;
    Json inner = looked && fresh ? wait_of(WAIT_LOOKED) : json_ref(f->wait);
    frame_park_as(f, wait_rows[f->waits].position, inner, json_ref(info));
}

/* Scheduling one may change others: by number. */
void run_park_all(Run *run, Json info, bool looked) {
    size_t n = 0;
    int64_t *ids = mem_alloc((run->nframes + 1) * sizeof *ids);
    for (Frame *f = run->first_frame; f; f = f->next) {
        ids[n++] = f->id;
    }
    for (size_t i = 0; i < n; i++) {
        Frame *f = run_frame(run, ids[i]);
        if (f) {
            park_loaded(f, info, looked);
        }
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
    if (more) {
        run_record(run, run->first_frame, NULL, "opened", json_none());
    }
}

/* What its frames are, for those who look: nothing is scheduled. */
static void show_ended(Run *run) {
    bool failed = run->status == RUN_FAILED;
    for (Frame *f = run->first_frame; f; f = f->next) {
        bool here = f->waits == WAIT_FAILED;
        frame_set_status(f, here && failed ? FRAME_FAILED : FRAME_DONE);
    }
}

Run *engine_open_now(Engine *e, const char *thread, Json info, Error *err) {
    Run *run = load_run(e, &(Loading){thread, 0, NULL}, err);
    if (!run) {
        json_unref(info);
        return NULL;
    }
    if (has_ended(run)) {
        int status = run_status_find(run->row.status);
        run->status = run->status == RUN_RUNNING && status >= 0 ? (RunStatus)status : run->status;
        run->settled = true;
        show_ended(run);
    } else {
        run_set_held(run, true);
        run_unsaved(run);
        run_tell_start(run, true);
        wake(run, info);
        run_set_deadline(run);
    }
    json_unref(info);
    run_kick(run);
    return run;
}

/* ---- alive again ---- */

static void revive(Run *run) {
    run->status = RUN_RUNNING;
    json_clear(&run->error);
    run->halting = run->settled = run->rested = false;
    run_leave(run, RUNS_SETTLING);
    run_set_held(run, true);
}

static bool may_write(Run *run, Error *err) {
    Engine *e = run->engine;
    if (!e->options.store) {
        return error_set(err, ERR_USAGE,
                         "There is no store, so there is no history to go back to.");
    }
    if (run->leased) {
        return true;
    }
    engine_lock(e);
    run->leased = store_lease(e->options.store, run->row.run, err);
    engine_unlock(e);
    return run->leased;
}

/* On a new line of history the work of a node begins anew, unless it has told or was told something: what
 * a person changes before it is then in it. */
static void begin_works_anew(Run *run) {
    for (Frame *f = run->first_frame; f; f = f->next) {
        Json inner = wait_unpaused(f->wait);
        Json answers = work_part(inner, WORK_ANSWERS), memo = work_part(inner, WORK_MEMO);
        bool told = (json_kind(answers) == JSON_ARRAY && json_array_len(answers)) ||
                    (!json_is_none(memo) && json_kind(memo) != JSON_NULL);
        if (wait_is(inner, WAIT_WORK) && !told) {
            frame_top(f)->deadline = 0;
            frame_set_wait(f, json_null());
        }
        inject_take_back(f);
    }
}

bool run_rewind(Run *run, int64_t seq, Json info, Error *err) {
    const RunHooks *hooks = run->hooks;
    void *ctx = run->hooks_ctx;
    /* in this order: what is recorded may let it settle, and that releases its lease */
    bool ok = (engine_sync(run->engine) ||
               error_set(err, ERR_IO, "The store failed, so the run cannot go back.")) &&
              may_write(run, err);
    if (ok) {
        run_set_hooks(run, NULL, NULL);
        ok = load_again(run, seq, err);
        if (run->first_frame) {
            run_set_hooks(run, hooks, ctx);
        }
    }
    if (ok && has_ended(run)) {
        run->settled = true;
        show_ended(run);
        run_unsaved(run);
        run_record(run, run->first_frame, NULL, "forked", json_none());
    } else if (ok) {
        revive(run);
        begin_works_anew(run);
        run_fork_line(run);
        run_park_all(run, info, true);
        run_record(run, run->first_frame, NULL, "forked", json_none());
        run_set_deadline(run);
    } else if (run->first_frame && !run->parked &&
               !run->settled) { /* it had to be taken up again */
        run_park_all(run, info, true);
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
        run_park_all(run, info, true);
        run_record(run, run->first_frame, NULL, "reopened", json_none());
        run_set_deadline(run);
    }
    json_unref(info);
    run_kick(run);
    return ok;
}

/* ---- one node again ---- */

typedef struct Replayed {
    int64_t frame, parent;
    char *node;
} Replayed;

static bool find_step(Engine *e, const RunReplay *replay, Replayed *out, Error *err) {
    RunRow row = {0};
    Checkpoint c;
    engine_lock(e);
    bool ok = store_find(e->options.store, replay->thread, &row, err) &&
              store_checkpoint(e->options.store, row.run, replay->seq, &c, err);
    if (ok && (!c.parent || !c.node[0])) {
        ok = error_set(err, ERR_USAGE, "Checkpoint %lld is not the end of a node's execution.",
                       (long long)replay->seq);
    }
    if (ok) {
        *out = (Replayed){c.frame, c.parent, mem_strndup(c.node, strlen(c.node))};
    }
    engine_unlock(e);
    run_row_clear(&row);
    return ok;
}

/* What the frame waited for when its node was under way: that begins anew. */
static void begin_anew(Frame *f) {
    Json wait = f->wait;
    frame_set_wait(f, work_goes_outside(f, wait) ? work_again(f, wait) : wait_of(WAIT_GO));
}

/* The frame whose node it is, in the copy; NULL: it does not stand there. */
static Frame *replayed_frame(const Run *run, const Replayed *step) {
    Frame *f = run_frame(run, step->frame);
    const Node *node = f ? frame_top(f)->node : NULL;
    return node && !strcmp(node->name, step->node) ? f : NULL;
}

static void replay(Run *run, Frame *f) {
    run->status = RUN_RUNNING;
    json_clear(&run->error);
    run_set_debug(run, json_null());
    run->only = (RunOnly){f->id, f->nlevels, run->step};
    run_set_hooks(run, &only_hooks, run);
    begin_anew(f);
    run_unsaved(run);
    run_record(run, f, frame_top(f)->node, "replaying", json_none());
    run_tell_start(run, true);
    frame_schedule(f);
    run_kick(run);
}

static Run *load_copy(Engine *e, const RunReplay *replay, const Replayed *step, Error *err) {
    RunRow row = {0};
    bool ok = engine_fork_now(e, replay->thread, step->parent, replay->new_thread, &row, err);
    Run *run = ok ? load_run(e, &(Loading){row.thread, 0, NULL}, err) : NULL;
    run_row_clear(&row);
    return run;
}

Run *engine_replay_now(Engine *e, const RunReplay *asked, Error *err) {
    Replayed step = {0};
    if (!e->options.store || !engine_sync(e)) {
        error_set(err, ERR_USAGE, "There is no store, so there is nothing to replay.");
        return NULL;
    }
    Run *run = find_step(e, asked, &step, err) ? load_copy(e, asked, &step, err) : NULL;
    Frame *f = run ? replayed_frame(run, &step) : NULL;
    if (f) {
        replay(run, f);
    } else if (run) {
        error_set(err, ERR_USAGE, "The execution that checkpoint %lld ended cannot be done alone.",
                  (long long)asked->seq);
        run_free(run);
        run = NULL;
    }
    mem_free(step.node);
    return run;
}
