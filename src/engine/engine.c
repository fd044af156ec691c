/* engine.c - turns, commits and settling.
 *
 * A turn gives every ready frame its steps, up to a bound, then hands the batch to the journal. What
 * depends on a batch (events, work to start, handles to forget, runs that settle) is looked at when
 * the journal says that it is durable. Without a store everything is durable at once. */
#include "engine.h"

#include "advance.h"
#include "event.h"
#include "fail.h"
#include "folders.h"
#include "image_read.h"
#include "mem.h"
#include "record.h"
#include "schedule.h"
#include "tasks.h"
#include "work.h"

#include <stdlib.h>
#include <sys/time.h>

enum {
    WORK_MAX = 200,    /* heavy steps under way at once; the others wait for their turn */
    TURN_STEPS = 1000, /* steps in one turn of the loop */
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

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

void engine_wake(Engine *e) {
    for (Run *run = first_of(e, RUNS_ALL); run; run = next_of(run, RUNS_ALL)) {
        if (run->settled) {
            continue;
        }
        run_set_deadline(run);
        for (Frame *f = run->first_frame; f; f = f->next) {
            frame_set_timer(f);
        }
    }
}

/* ---- what waits for the disk ---- */

static bool is_heavy(const Frame *f) {
    const NodeWork *work = work_of(f, frame_top(f)->node);
    return work && work->heavy;
}

/* Starting one may end it at once and make others: those are added behind. */
static void start_work(Engine *e) {
    size_t kept = 0;
    for (size_t i = 0; i < e->nstarts; i++) {
        Frame *f = e->starts[i];
        if (!f || f->run->halting) {
            continue;
        }
        if (f->batch > e->durable || (e->working >= WORK_MAX && is_heavy(f))) {
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

/* One that may go on is left for the next process. */
static void remove_own_folder(Run *run) {
    bool over = run->status == RUN_COMPLETED || run->status == RUN_CANCELLED;
    const char *folder = over && run->engine->journal ? run->engine->folder : NULL;
    if (folder) {
        char *path = run_folder_path(run, folder);
        folder_remove(path);
        mem_free(path);
    }
}

static void settle(Run *run) {
    Engine *e = run->engine;
    remove_own_folder(run);
    run_leave(run, RUNS_SETTLING);
    run_leave(run, RUNS_AHEAD);
    run->settled = true;
    run_set_held(run, false);
    run_stop_timers(run);
    if (run->leased) {
        journal_lock(e->journal);
        store_release(e->options.store, run->row.run);
        journal_unlock(e->journal);
        run->leased = false;
    }
    engine_tell(run, NULL, (Event){.type = EVENT_SETTLED, .status = run_status_names[run->status]});
}

static void settle_runs(Engine *e) {
    for (Run *run = first_of(e, RUNS_SETTLING), *next; run; run = next) {
        next = next_of(run, RUNS_SETTLING);
        if (run->settle_batch <= e->durable) {
            settle(run);
        }
    }
}

/* What the row says. Pauses outlive the process that has them: so must the word for it. */
static const char *saved_status(const Run *run) {
    bool paused = run->parked && (run->status == RUN_RUNNING || run->status == RUN_STOPPED);
    return run_status_names[paused ? RUN_PAUSED : run->status];
}

/* Its head and status go into the batch. What went before is durable by now. */
static void save(Run *run) {
    Engine *e = run->engine;
    store_batch_run(journal_batch(e->journal), run->row.run, run->head, saved_status(run),
                    engine_now(e));
    run_leave(run, RUNS_UNSAVED);
    run->handed_last = run->last;
    run->durable_head = run->handed_head;
    run->handed_head = run->head;
    run->handed_batch = engine_batch(e);
}

static void flush(Engine *e) {
    if (!e->journal || !journal_ready(e->journal)) {
        return;
    }
    while (first_of(e, RUNS_UNSAVED)) {
        save(first_of(e, RUNS_UNSAVED));
    }
    while (first_of(e, RUNS_AHEAD)) {
        Run *run = first_of(e, RUNS_AHEAD);
        run_leave(run, RUNS_AHEAD);
        run_kick(run);
    }
    journal_flush(e->journal);
}

bool engine_sync(Engine *e) {
    if (!e->journal) {
        return true;
    }
    flush(e);
    return journal_sync(e->journal) && e->broken.code == ERR_NONE;
}

static void release(Engine *e) {
    settle_runs(e);
    engine_deliver(e, e->journal ? e->durable : UINT64_MAX);
    start_work(e);
    forget_handles(e);
}

/* The store takes no more. Work that is under way is left alone: it ends in its place, where the
 * next process finds it. */
static void broken(Engine *e, const Error *err) {
    e->broken = *err;
    for (Run *run = first_of(e, RUNS_ALL); run; run = next_of(run, RUNS_ALL)) {
        if (run->settled) {
            continue;
        }
        run->store_error = *err;
        run->head = run->handed_batch <= e->durable ? run->handed_head : run->durable_head;
        run->halting = true;
        for (Frame *f = run->first_frame; f; f = f->next) {
            work_drop(f);
        }
        work_drop_orphans(run);
        run->status = run->status == RUN_RUNNING ? RUN_STOPPED : run->status;
        settle(run);
    }
    engine_drop_events(e, e->durable);
    engine_deliver(e, e->durable);
}

static void on_committed(void *ctx, uint64_t number, const Error *err) {
    Engine *e = ctx;
    if (err) {
        broken(e, err);
        return;
    }
    e->durable = number;
    release(e);
    flush(e);
    engine_set_idle(e, true);
}

/* ---- turns ---- */

static Frame *next_ready(Run *run) {
    Frame *f = run->ready;
    if (f) {
        run->ready = f->queue_next;
        f->queued = false;
    }
    return f;
}

/* How many steps it took: at least one, so that turns of any number of runs are bounded too. */
static int run_turn(Run *run) {
    int steps = 0;
    run->fresh = false;
    run->turn = run->engine->turn;
    while (steps < RUN_STEPS && run->ready && !run->halting) {
        frame_advance(next_ready(run));
        steps++;
    }
    run_settle_if_done(run);
    run_leave(run, RUNS_DUE);
    if (run->ready && !run->halting) {
        bool ahead =
            run->is_held && run->engine->journal && run->last - run->handed_last > WATCHED_RECORDS;
        run_enter(run, ahead ? RUNS_AHEAD : RUNS_DUE);
    }
    return steps + !steps;
}

static bool held_back(const Engine *e) {
    return e->broken.code != ERR_NONE || (e->journal && journal_overfull(e->journal, SIZE_MAX));
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
    e->turn++;
    e->turn_time = engine_now(e);
    while (steps > 0 && next_due(e) && !held_back(e)) {
        steps -= run_turn(next_due(e));
    }
    e->turn_time = 0;
    flush(e);
    release(e);
    engine_set_idle(e, first_of(e, RUNS_DUE) && !held_back(e));
}

/* ---- settling ---- */

void run_cancel(Run *run) {
    if (test_abort(run, json_none()) || (test_is_over(run) && !run->halting)) {
        return; /* what cleans up is let finish */
    }
    if (!run->halting && !run_settling(run) && run_status_change(&run->status, RUN_IS_CANCELLED)) {
        run_record(run, run->first_frame, NULL, "cancelled", json_none());
        run_halt(run);
        for (Frame *f = run->first_frame; f; f = f->next) {
            frame_set_status(f, FRAME_DONE);
        }
    }
}

void run_stop(Run *run) {
    if (!run->halting && !run_settling(run) && run_status_change(&run->status, RUN_STOPS)) {
        run_halt(run);
    }
}

/* ---- requests from other processes ---- */

/* False when it cannot be told now: the store is being written to. */
static bool look_for_request(Run *run) {
    Engine *e = run->engine;
    bool cancel = false;
    if (run->settled || run_settling(run) || !run->leased) {
        return true;
    }
    if (!journal_trylock(e->journal)) {
        return false;
    }
    store_asked(e->options.store, run->row.run, &cancel, NULL);
    journal_unlock(e->journal);
    if (cancel) {
        run_cancel(run);
    }
    return true;
}

static void look_for_requests(uv_timer_t *timer) {
    Engine *e = timer->data;
    bool heard = e->heard;
    if (!journal_trylock(e->journal)) {
        return; /* it is being written to: next time */
    }
    e->heard = true; /* until every run was looked at */
    heard = store_heard(e->options.store) || heard;
    journal_unlock(e->journal);
    Run *run = heard ? first_of(e, RUNS_ALL) : NULL;
    while (run && look_for_request(run)) {
        run = next_of(run, RUNS_ALL);
    }
    e->heard = run != NULL;
}

/* ---- life ---- */

static void adopt_work(Engine *e, const NodeWork *work) {
    for (; work && work->start; work++) {
        e->work[work->kind] = work;
    }
}

static bool start_journal(Engine *e, Error *err) {
    JournalHost host = {e->options.loop, e->options.store, on_committed, e};
    e->journal = journal_new(&host, err);
    if (!e->journal) {
        return false;
    }
    e->asked = timer_new(e->options.loop, e);
    uv_timer_start(e->asked, look_for_requests, ASKED_EVERY_MS, ASKED_EVERY_MS);
    uv_unref((uv_handle_t *)e->asked);
    return true;
}

Engine *engine_new(const EngineOptions *options, Error *err) {
    Engine *e = mem_zalloc(sizeof *e);
    e->options = *options;
    e->options.max_state = options->max_state ? options->max_state : (uint64_t)256 << 20;
    adopt_work(e, options->work);
    if (options->store && !start_journal(e, err)) {
        mem_free(e);
        return NULL;
    }
    e->idle = mem_zalloc(sizeof *e->idle);
    uv_idle_init(options->loop, e->idle);
    e->idle->data = e;
    e->on_frame_late = fail_frame_late;
    e->on_run_late = fail_run_late;
    e->on_turn = on_idle;
    return e;
}

Run *run_new(Engine *e, Flow *flow) {
    Run *run = mem_zalloc(sizeof *run);
    JqHost host = {.budget = e->options.budget};
    run->engine = e;
    run->flow = flow_ref(flow);
    run->evaluator = evaluator_new(flow, &host);
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

static void free_frames(Run *run) {
    for (Frame *f = run->dirty, *next; f; f = next) {
        next = f->dirty_next;
        if (f->gone) {
            frame_free(f);
        }
    }
    for (Frame *f = run->first_frame, *next; f; f = next) {
        next = f->next;
        work_drop(f);
        frame_free(f);
    }
}

void run_free(Run *run) {
    if (!run) {
        return;
    }
    Engine *e = run->engine;
    run_set_hooks(run, NULL, NULL);
    if (run->leased) {
        journal_lock(e->journal);
        store_release(e->options.store, run->row.run);
        journal_unlock(e->journal);
    }
    for (size_t i = 0; i < e->nstarts; i++) {
        if (e->starts[i] && e->starts[i]->run == run) {
            e->starts[i] = NULL;
        }
    }
    work_drop_orphans(run);
    free_frames(run);
    run_set_held(run, false);
    for (int i = 0; i < RUNS_LISTS; i++) {
        run_leave(run, (RunsThat)i);
    }
    timer_free(run->timer);
    evaluator_free(run->evaluator);
    for (size_t i = 0; i < run->nflows; i++) {
        flow_unref(run->flows[i]);
    }
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
    mem_free(run->folder_path);
    mem_free(run->own_folder);
    mem_free(run);
}

void engine_free(Engine *e) {
    if (!e) {
        return;
    }
    if (e->journal) {
        timer_free(e->asked);
    }
    while (first_of(e, RUNS_ALL)) {
        run_free(first_of(e, RUNS_ALL));
    }
    if (e->journal) {
        journal_close(e->journal);
    }
    work_free_data(e);
    e->options.on_event = NULL;
    engine_clear_events(e);
    for (size_t i = 0; i < e->nforgets; i++) {
        mem_free(e->forgets[i].place);
    }
    uv_close((uv_handle_t *)e->idle, free_handle);
    mem_free(e->events);
    mem_free(e->starts);
    mem_free(e->forgets);
    mem_free(e->folder);
    buf_clear(&e->patch);
    buf_clear(&e->result);
    buf_clear(&e->snapshot);
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
    Json parts[] = {run_image_head(run), frames};
    Json image = json_array_from(parts, 2);
    Json out = image_interrupts(image);
    json_unref(image);
    return out;
}

static Json frame_summary(const Frame *f) {
    char name[40];
    const Node *node = frame_top(f)->node;
    const char *word = wait_rows[f->waits].word;
    frame_name(f, name, sizeof name);
    return OBJECT(KEY("frame", f->id),
                  KEY("parent", f->parent ? json_int(f->parent->id) : json_null()),
                  KEY("name", name), KEY("status", frame_status_names[f->status]),
                  KEY("node", node ? json_ref(node->name_json) : json_null()),
                  KEY("depth", json_int(f->nlevels)), KEY("since", f->since),
                  KEY("waits", word ? json_string_c(word) : json_null()));
}

Json run_frames(const Run *run, size_t max) {
    Json out = json_array();
    for (const Frame *f = run->first_frame; f && max; f = f->next, max--) {
        out = json_array_push(out, frame_summary(f));
    }
    return out;
}
