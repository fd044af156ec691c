/* engine.c - turns, commits and settling.
 *
 * A turn gives every ready frame its steps, up to a bound, then hands the batch to the storage. What
 * depends on a batch (who asked for a run that it makes, events, work to start, handles to forget, runs
 * that settle) is looked at when the storage says that it is durable. Without a store everything is
 * durable at once. */
#include "engine.h"

#include "advance.h"
#include "choice.h"
#include "event.h"
#include "fail.h"
#include "fetched.h"
#include "folders.h"
#include "json_build.h"
#include "load.h"
#include "log.h"
#include "mem.h"
#include "park.h"
#include "record.h"
#include "run_secrets.h"
#include "schedule.h"
#include "tasks.h"
#include "work.h"

enum {
    WORK_MAX = 200,    /* heavy steps under way at once; the others wait for their turn */
    TURN_STEPS = 1000, /* steps in one turn of the loop, */
    TURN_NS = 2000000, /* and how long it may take: the others on the loop wait for that */
    TIMED_STEPS =
        16, /* the clock is looked at after so many, and after each that may have taken long */
    RUN_STEPS = 100, /* of one run before the next has its go; of a run that somebody watches in one
                          turn: who asks for a pause waits for that, */
    WATCHED_RECORDS = 200, /* and for the commit of this many records of it */
    ASKED_EVERY_MS = 500,  /* how often we look whether somebody wants a run cancelled */
};

/* ---- lists ---- */

static Run *first_of(const Engine *e, RunsThat which) {
    return e->runs[which].first;
}

static Run *next_of(const Run *run, RunsThat which) {
    return run->links[which].next;
}

/* ---- time ---- */

void engine_wake(Engine *e) {
    for (Run *run = first_of(e, RUNS_ALL); run; run = next_of(run, RUNS_ALL)) {
        if (run->settled) continue;
        run_set_deadline(run);
        for (Frame *f = run->first_frame; f; f = f->next) frame_set_timer(f);
    }
}

/* ---- what waits for the disk ---- */

/* Starting one may end it at once and make others: those are added behind. */
static void start_work(Engine *e) {
    size_t kept = 0;
    for (size_t i = 0; i < e->nstarts; i++) {
        Frame *f = e->starts[i];
        if (!f || f->run->halting) continue;
        const NodeWork *work = work_of(f, frame_top(f)->node);
        bool crowded = (e->working >= WORK_MAX && work && work->heavy) || !work_has_room(f);
        if (f->batch > e->durable || crowded) {
            e->starts[kept++] = f;
        } else {
            e->starts[i] = NULL;
            work_start(f);
        }
    }
    e->nstarts = kept;
}

static void forget_handles(Engine *e) {
    size_t kept = 0;
    for (size_t i = 0; i < e->nforgets; i++) {
        QueuedForget *q = &e->forgets[i];
        if (q->batch > e->durable) {
            e->forgets[kept++] = *q;
        } else {
            q->work->forget(q->place);
            mem_free(q->place);
        }
    }
    e->nforgets = kept;
}

/* Its lease went back with its last batch. The folder of one that may go on is left for the next
 * process. */
static void settle(Run *run) {
    bool over = run->status == RUN_COMPLETED || run->status == RUN_CANCELLED;
    if (over && run->engine->storage && run->engine->folder) {
        char *path = run_folder_path(run, run->engine->folder);
        errands_discard(run->engine->errands, path, path);
        mem_free(path);
    }
    run_leave(run, RUNS_SETTLING);
    run_leave(run, RUNS_AHEAD);
    run->settled = true;
    run_set_held(run, false);
    run_stop_timers(run);
    engine_tell(run, NULL, (Event){.type = EVENT_SETTLED, .status = run_status_names[run->status]});
}

/* Its head and status go into the batch, and its lease goes back with it when nothing follows. What went
 * before is durable by now. Pauses outlive the process that has them: so must the word for it. */
static void save(Run *run) {
    Engine *e = run->engine;
    StoreBatch *batch = storage_batch(e->storage);
    bool paused = run->parked && (run->status == RUN_RUNNING || run->status == RUN_STOPPED);
    const char *status = run_status_names[paused ? RUN_PAUSED : run->status];
    store_batch_run(batch, run->row.run, run->head, status, engine_time(e));
    if ((run_settling(run) || run->changing) && (run->leased || run->row.run < 0)) {
        store_batch_release(batch, run->row.run);
        run->release_batch = engine_batch(e);
        run->leased = false;
    }
    run_leave(run, RUNS_UNSAVED);
    run->handed_last = run->last;
    run->durable_head = run->handed_head;
    run->handed_head = run->head;
    run->handed_batch = engine_batch(e);
}

static void flush(Engine *e) {
    if (!e->storage || !storage_ready(e->storage)) return;
    while (first_of(e, RUNS_UNSAVED)) save(first_of(e, RUNS_UNSAVED));
    while (first_of(e, RUNS_AHEAD)) {
        Run *run = first_of(e, RUNS_AHEAD);
        run_leave(run, RUNS_AHEAD);
        run_kick(run);
    }
    log_flush(e);
    storage_flush(e->storage);
}

/* A listener that waits for a commit comes here again: then those who wait are told by the next turn. */
static void release(Engine *e) {
    const Error *err = e->broken.code != ERR_NONE ? &e->broken : NULL;
    if (!e->delivering) waiters_tell(&e->makers, e->durable, err);
    for (Run *run = first_of(e, RUNS_SETTLING), *next; run; run = next) {
        next = next_of(run, RUNS_SETTLING);
        if (run->settle_batch <= e->durable) settle(run);
    }
    engine_deliver(e, e->storage ? e->durable : UINT64_MAX);
    start_work(e);
    forget_handles(e);
    if (!e->delivering) waiters_tell(&e->waiters, e->durable, err);
}

/* The store takes no more. Work that is under way is left alone: it ends in its place, where the
 * next process finds it. */
static void break_off(Engine *e) {
    e->breaking = false;
    waiters_tell(&e->makers, 0, &e->broken);
    for (Run *run = first_of(e, RUNS_ALL); run; run = next_of(run, RUNS_ALL)) {
        if (run->settled || run->changing) continue;
        run->store_error = e->broken;
        run->head = run_durable_checkpoint(run);
        run->halting = true;
        for (Frame *f = run->first_frame; f; f = f->next) work_drop(f);
        work_drop_orphans(run);
        run->status = run->status == RUN_RUNNING ? RUN_STOPPED : run->status;
        if (run->leased || run->release_batch > e->durable) {
            request_release(e, run->row.run);
            run->leased = false;
        }
        settle(run);
    }
    engine_drop_events(e, e->durable);
    engine_deliver(e, e->durable);
    waiters_tell(&e->waiters, 0, &e->broken);
    if (e->options.on_broken) e->options.on_broken(e->options.ctx, &e->broken);
}

/* While somebody waits for this commit in the midst of something else, it is noted and no more. */
static void on_committed(void *ctx, uint64_t number, StoreBatch *batch, const Error *err) {
    Engine *e = ctx;
    requests_made(e, batch, err);
    if (err) {
        e->broken = *err;
        e->breaking = true;
    } else {
        e->durable = number;
    }
    if (!e->waiting) {
        if (e->breaking) {
            break_off(e);
        } else {
            release(e);
        }
        flush(e);
    }
    engine_set_idle(e, true);
}

static void wait_for_commit(Engine *e) {
    e->waiting++;
    flush(e);
    storage_wait(e->storage);
    e->waiting--;
}

/* A step that is no job waits for a batch. */
Run *request_now(Request *q, const Now *now) {
    while (!now->told) { /* then q is gone */
        Engine *e = q->engine;
        if (q->job.storage) {
            storage_finish(&q->job);
            continue;
        }
        while (q->waiter->batch > e->durable && e->broken.code == ERR_NONE) wait_for_commit(e);
        waiter_tell(q->waiter, e->broken.code != ERR_NONE ? &e->broken : NULL);
    }
    return now->run;
}

static void when_durable(Engine *e, uint64_t batch, void (*fn)(void *ctx, const Error *err),
                         void *ctx) {
    bool broken = e->broken.code != ERR_NONE;
    if (broken || batch <= e->durable) {
        fn(ctx, broken ? &e->broken : NULL);
        return;
    }
    waiters_add(&e->waiters, batch, fn, ctx);
    engine_set_idle(e, true);
}

void engine_when_durable(Engine *e, void (*fn)(void *ctx, const Error *err), void *ctx) {
    when_durable(e, engine_unsaved_batch(e), fn, ctx);
}

void run_when_durable(Run *run, void (*fn)(void *ctx, const Error *err), void *ctx) {
    Engine *e = run->engine;
    when_durable(e, run->links[RUNS_UNSAVED].in ? engine_batch(e) : run->handed_batch, fn, ctx);
}

bool engine_wait_durable(Engine *e) {
    while (e->broken.code == ERR_NONE && engine_unsaved_batch(e) > e->durable) wait_for_commit(e);
    if (e->breaking) {
        break_off(e);
    } else if (e->storage) {
        release(e);
    }
    return e->broken.code == ERR_NONE;
}

/* ---- turns ---- */

/* What it came to cannot be recorded (record.c): it stays where its record ends, and so does the work that is
 * under way there. */
static void stop_unrecorded(Run *run) {
    for (Frame *f = run->first_frame; f; f = f->next) work_drop(f);
    work_drop_orphans(run);
    run_stop_timers(run);
    json_clear(&run->error);
    run->status = RUN_STOPPED;
    run_settle_if_done(run);
}

/* How many steps it took: at least one, so that turns of any number of runs are bounded too. */
static int run_turn(Run *run) {
    Engine *e = run->engine;
    int steps = 0;
    run->fresh = false;
    run->turn = e->turn;
    while (steps < RUN_STEPS && run->ready && !run->halting && !e->turn_over) {
        Frame *f = run->ready;
        run->ready = f->queue_next;
        f->queued = false;
        frame_advance(f);
        steps++;
        if (++e->unlooked >= TIMED_STEPS) engine_look(e);
    }
    if (run->unrecorded && !run_settling(run) && !run->settled) stop_unrecorded(run);
    run_settle_if_done(run);
    run_leave(run, RUNS_DUE);
    if (run->ready && !run->halting) {
        bool ahead = run->is_held && e->storage && run->last - run->handed_last > WATCHED_RECORDS;
        run_enter(run, ahead ? RUNS_AHEAD : RUNS_DUE);
    }
    return steps + !steps;
}

static bool held_back(const Engine *e) {
    return e->broken.code != ERR_NONE || (e->storage && storage_overfull(e->storage));
}

/* The next that is to go on in this turn, which ends where a run that is watched comes up again: whoever
 * wants something of that run is looked for between turns. The others lose nothing by it. */
static Run *next_due(const Engine *e) {
    Run *run = first_of(e, RUNS_DUE);
    return run && run->is_held && run->turn == e->turn ? NULL : run;
}

static void on_idle(uv_idle_t *idle) {
    Engine *e = idle->data;
    int steps = TURN_STEPS;
    if (e->breaking) break_off(e);
    e->turn++;
    e->turn_began = uv_hrtime();
    e->turn_until = e->turn_began + TURN_NS;
    e->turn_first = e->turn_time = engine_time(e);
    e->turn_over = false;
    json_release_slices(true);
    while (steps > 0 && next_due(e) && !held_back(e) && !engine_look(e)) {
        steps -= run_turn(next_due(e));
    }
    e->turn_time = 0;
    flush(e);
    release(e);
    bool garbage;
    do {
        garbage = json_release_more();
    } while (garbage && uv_hrtime() < e->turn_until);
    json_release_slices(false);
    engine_set_idle(e, garbage || (first_of(e, RUNS_DUE) && !held_back(e)));
}

/* ---- settling ---- */

void run_cancel(Run *run) {
    if (test_abort(run, json_none())) {
        park_none(run);
        return;
    }
    if (test_is_over(run) && !run->halting) { /* what cleans up is let finish */
        bool live = run->status == RUN_RUNNING && !run_settling(run);
        if (live && !run->cancelling) {
            test_is_cancelled(run);
            park_none(run);
        }
        return;
    }
    run_cancel_at_once(run);
}

void run_cancel_at_once(Run *run) {
    if (!run->halting && !run_settling(run) && run_status_change(&run->status, RUN_IS_CANCELLED)) {
        run_record(run, run->first_frame, NULL, "cancelled", json_none());
        run_halt(run);
        for (Frame *f = run->first_frame; f; f = f->next) frame_set_status(f, FRAME_DONE);
    }
}

void run_stop(Run *run) {
    if (!run->halting && !run_settling(run) && run_status_change(&run->status, RUN_STOPS)) {
        run_halt(run);
    }
}

/* ---- who asks ---- */

void run_set_by(Run *run, const char *by) {
    json_put(&run->by, by ? json_string_c(by) : json_none());
    run->by_told = run->by_once = false;
}

void run_leave_by(Run *run) {
    if (run->by_told) json_clear(&run->by);
    run->by_once = true;
}

/* ---- requests from other processes ---- */

/* A look costs nothing while nobody asked for anything; only then is every run looked at, by a reader. */
typedef struct Poll {
    StorageJob job;
    Engine *engine;
    bool heard;
    int64_t *runs; /* to look at; then those that are to be cancelled */
    size_t n, cap;
} Poll;

static void poll_end(Poll *p) {
    p->engine->poll = NULL;
    mem_free(p->runs);
    mem_free(p);
}

static void hear(StorageJob *job, Store *store) {
    ((Poll *)job)->heard = store_heard(store);
}

static void look(StorageJob *job, Store *store) {
    Poll *p = (Poll *)job;
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        bool cancel = false;
        store_asked(store, p->runs[i], &cancel, NULL);
        p->runs[n] = p->runs[i];
        n += cancel;
    }
    p->n = n;
}

static bool may_be_asked(const Run *run) {
    return run->leased && !run->settled && !run_settling(run) && !run->changing;
}

static void on_looked(StorageJob *job) {
    Poll *p = (Poll *)job;
    Run *run = p->n && !job->abandoned ? first_of(p->engine, RUNS_ALL) : NULL;
    for (Run *next; run; run = next) {
        bool asked = false;
        next = next_of(run, RUNS_ALL);
        for (size_t i = 0; i < p->n; i++) asked = asked || p->runs[i] == run->row.run;
        if (asked && may_be_asked(run)) run_cancel(run);
    }
    poll_end(p);
}

static void on_heard(StorageJob *job) {
    Poll *p = (Poll *)job;
    bool heard = p->heard && !job->abandoned;
    for (Run *run = heard ? first_of(p->engine, RUNS_ALL) : NULL; run;
         run = next_of(run, RUNS_ALL)) {
        if (may_be_asked(run)) {
            p->runs = mem_grow(p->runs, p->n, &p->cap, sizeof *p->runs);
            p->runs[p->n++] = run->row.run;
        }
    }
    if (!p->n) {
        poll_end(p);
        return;
    }
    job->work = look;
    job->done = on_looked;
    storage_read(p->engine->storage, job);
}

static void look_for_requests(uv_timer_t *timer) {
    Engine *e = timer->data;
    if (e->poll) {
        return; /* the last one is not done yet */
    }
    Poll *p = e->poll = mem_zalloc(sizeof *p);
    p->engine = e;
    p->job.work = hear;
    p->job.done = on_heard;
    storage_write(e->storage, &p->job);
}

/* ---- life ---- */

Engine *engine_new(const EngineOptions *options, Error *err) {
    Engine *e = mem_zalloc(sizeof *e);
    e->options = *options;
    uint64_t max = options->max_state ? options->max_state : ENGINE_STATE_MAX;
    e->options.max_state = max < STORE_IMAGE_MAX ? max : STORE_IMAGE_MAX;
    if (!e->options.max_given) e->options.max_given = (uint64_t)256 << 20;
    if (options->work) memcpy(e->work, options->work, sizeof e->work);
    if (options->store) {
        e->storage =
            storage_new(&(StorageHost){options->loop, options->store, on_committed, e}, err);
        if (!e->storage) {
            mem_free(e);
            return NULL;
        }
        e->asked = timer_new(options->loop, e);
        uv_timer_start(e->asked, look_for_requests, ASKED_EVERY_MS, ASKED_EVERY_MS);
        uv_unref((uv_handle_t *)e->asked);
    }
    e->errands = errands_new(options->loop);
    e->endings = errands_new(options->loop);
    e->idle = mem_zalloc(sizeof *e->idle);
    uv_idle_init(options->loop, e->idle);
    e->idle->data = e;
    e->on_frame_late = fail_frame_late;
    e->on_run_late = fail_run_late;
    e->on_turn = on_idle;
    return e;
}

static bool look_at_clock(void *ctx) {
    return engine_look(ctx);
}

Run *run_new(Engine *e, Flow *flow) {
    Run *run = mem_zalloc(sizeof *run);
    JqHost host = {.budget = e->options.budget};
    run->engine = e;
    run->flow = flow_ref(flow);
    run->evaluator = evaluator_new(flow, &host);
    evaluator_set_clock(run->evaluator, &(EvaluatorClock){look_at_clock, e});
    if (e->options.query_ms) {
        evaluator_set_query_time(run->evaluator, e->options.query_ms * UINT64_C(1000000));
    }
    EvaluatorForeign foreign = work_foreign;
    foreign.ctx = run;
    evaluator_set_foreign(run->evaluator, &foreign);
    run_secrets_init(run);
    run->listens = ~0u;
    run->values = e->options.want_updates;
    run->next_frame = 1;
    run->mode = json_string_c("autonomous");
    run->definition = json_null();
    run->folder = json_null();
    run->debug = json_null();
    run->next_numbers = (FlowNumbers){flow->first_expr + (uint32_t)flow->nexprs,
                                      flow->first_node + (uint32_t)flow->nnodes};
    run_enter(run, RUNS_ALL);
    return run;
}

void run_free(Run *run) {
    if (!run) return;
    Engine *e = run->engine;
    run_set_hooks(run, NULL, NULL);
    if (run->leased) request_release(e, run->row.run);
    if (run->take) run->take->run = NULL;
    engine_forget_events(run);
    for (size_t i = 0; i < e->nstarts; i++) {
        if (e->starts[i] && e->starts[i]->run == run) e->starts[i] = NULL;
    }
    work_drop_orphans(run);
    for (Frame *f = run->dirty, *next; f; f = next) {
        next = f->dirty_next;
        if (f->gone) frame_free(f);
    }
    for (Frame *f = run->first_frame, *next; f; f = next) {
        next = f->next;
        work_drop(f);
        frame_free(f);
    }
    run_set_held(run, false);
    for (int i = 0; i < RUNS_LISTS; i++) run_leave(run, (RunsThat)i);
    timer_free(run->timer);
    evaluator_free(run->evaluator);
    run_secrets_free(run);
    fetched_free(run);
    run_trace_free(run);
    for (size_t i = 0; i < run->nflows; i++) flow_unref(run->flows[i]);
    mem_free(run->flows);
    frame_index_clear(run);
    flow_unref(run->flow);
    run_row_clear(&run->row);
    json_unref(run->error);
    json_unref(run->image);
    json_unref(run->mode);
    json_unref(run->definition);
    json_unref(run->folder);
    json_unref(run->debug);
    json_unref(run->by_hand);
    json_unref(run->by);
    json_unref(run->starter);
    choices_clear(run);
    mem_free(run->folder_path);
    mem_free(run->own_folder);
    mem_free(run->results);
    mem_free(run);
}

/* Runs that are being made are made, so that their leases can be given back. Whoever still waits is told
 * that nothing comes of it. */
static void close_storage(Engine *e) {
    Error gone = ERROR_INIT;
    error_set(&gone, ERR_BUSY, "The engine has ended.");
    timer_free(e->asked);
    if (e->making) {
        e->waiting++;
        storage_wait(e->storage);
    }
    requests_made(e, NULL, &gone);
    storage_close(e->storage);
    e->storage = NULL;
    waiters_tell(&e->makers, 0, &gone);
    waiters_tell(&e->waiters, 0, &gone);
}

void engine_free(Engine *e) {
    if (!e) return;
    if (e->storage) close_storage(e);
    while (first_of(e, RUNS_ALL)) run_free(first_of(e, RUNS_ALL));
    flow_unref(e->defined);
    mem_free(e->defined_key);
    work_free_data(e);
    e->options.on_event = NULL;
    engine_clear_events(e);
    for (size_t i = 0; i < e->nforgets; i++) mem_free(e->forgets[i].place);
    uv_close((uv_handle_t *)e->idle, handle_free);
    errands_leave(e->errands, false);
    errands_leave(e->endings, true); /* whoever has the run next does them */
    mem_free(e->events);
    mem_free(e->starts);
    mem_free(e->forgets);
    mem_free(e->folder);
    log_close(e);
    buf_clear(&e->patch);
    buf_clear(&e->result);
    buf_clear(&e->snapshot);
    while (json_release_more()) continue;
    mem_free(e);
}

/* ---- looking ---- */

const char *run_thread(const Run *run) {
    return run->row.thread;
}

int64_t run_number(const Run *run) {
    return run->row.run;
}

int64_t run_checkpoint(const Run *run) {
    return run->head;
}

int64_t run_durable_checkpoint(const Run *run) {
    return run->handed_batch <= run->engine->durable ? run->handed_head : run->durable_head;
}

int64_t run_step(const Run *run) {
    return run->step;
}

const char *run_status(const Run *run) {
    return run_status_names[run->status];
}

bool run_settled(const Run *run) {
    return run->settled;
}

bool run_is_over(const Run *run) {
    return run->status == RUN_FAILED && test_is_over(run);
}

Json run_state(const Run *run) {
    return run->first_frame->levels[frame_shown_level(run->first_frame)].state;
}

Json run_error(const Run *run) {
    return run->error;
}

const Error *run_store_error(const Run *run) {
    return run->store_error.code == ERR_NONE ? NULL : &run->store_error;
}

Json run_interrupts(const Run *run) {
    Json frames = json_object();
    for (const Frame *f = run->first_frame; f; f = f->next) {
        if (f->status == FRAME_WAITING || f == run->first_frame) {
            frames = json_object_set(frames, json_ref(f->key), frame_image(f));
        }
    }
    Json image = ARRAY(run_image_head(run), frames);
    Json out = image_interrupts(image);
    json_unref(image);
    return out;
}

Json run_frames(const Run *run, size_t max) {
    Json out = json_array();
    for (const Frame *f = run->first_frame; f && max; f = f->next, max--) {
        char name[40];
        const Node *node = frame_top(f)->node;
        const WaitRow *wait = &wait_rows[f->waits];
        FrameStatus status = f->status == FRAME_READY && f->step ? FRAME_WORKING : f->status;
        frame_name(f, name, sizeof name);
        out = json_array_push(
            out, OBJECT(KEY("frame", f->id),
                        KEY("parent", f->parent ? json_int(f->parent->id) : json_none()),
                        KEY("name", name), KEY("status", frame_status_names[status]),
                        KEY("node", node ? node->name : NULL), KEY("depth", json_int(f->nlevels)),
                        KEY("since", f->since ? json_time(f->since) : json_none()),
                        KEY("waits", f->waits == WAIT_NOTHING ? NULL : wait->word),
                        KEY("doing", wait->shown)));
    }
    return out;
}
