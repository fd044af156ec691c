/* schedule.c - when a frame goes on: status, queue, timers and clocks.
 *
 * Clocks. Every frame counts the parked ones among itself and those below it (held). While that is not
 * zero its timers are off, and held_at says since when its deadlines have not moved; when it becomes zero
 * they move by the time that has passed. The run's own deadline goes with the root frame. On record are
 * held_at and the deadlines as they were then, so a process that takes over goes on the same. */
#include "schedule.h"

#include "event.h"
#include "image.h"
#include "mem.h"
#include "record.h"
#include "result.h"

#include <assert.h>

/* ---- timers ---- */

/* For the next time at which something is up for this frame; 0: never. */
void frame_set_timer(Frame *f) {
    int64_t t = f->status == FRAME_TIMED ? image_int(f->wait, WAIT_UNTIL) : 0;
    for (uint32_t i = 0; i < f->nlevels; i++) {
        int64_t deadline = f->levels[i].deadline;
        t = !t || (deadline && deadline < t) ? deadline : t;
    }
    if (!t || f->held) {
        if (f->timer) uv_timer_stop(f->timer);
        return;
    }
    if (!f->timer) f->timer = timer_new(f->run->engine->options.loop, f);
    int64_t left = t - engine_time(f->run->engine);
    uv_timer_start(f->timer, f->run->engine->on_frame_late, left > 0 ? (uint64_t)left : 0, 0);
}

void run_set_deadline(Run *run) {
    bool held = run->first_frame && run->first_frame->held; /* its clock stands still */
    if (!run->deadline || run->halting || held) return;
    if (!run->timer) {
        run->timer = timer_new(run->engine->options.loop, run);
        uv_unref((uv_handle_t *)run->timer);
    }
    int64_t left = run->deadline - engine_time(run->engine);
    uv_timer_start(run->timer, run->engine->on_run_late, left > 0 ? (uint64_t)left : 0, 0);
}

/* ---- clocks ---- */

void start_clock(Frame *f, int64_t timeout_ms) {
    Level *l = frame_top(f);
    if (timeout_ms && !l->deadline) {
        l->deadline = engine_time(f->run->engine) + timeout_ms;
        frame_mark(f);
    }
}

void run_renew_clocks(Run *run) {
    int64_t now = engine_time(run->engine);
    for (Frame *f = run->first_frame; f; f = f->next) {
        for (uint32_t i = 0; i < f->nlevels; i++) {
            Level *l = &f->levels[i];
            if (l->deadline && l->deadline <= now && l->node) {
                l->deadline = now + node_time_ms(l->node);
                frame_mark(f);
            }
        }
    }
    if (run->deadline && run->deadline <= now) run->deadline = now + run->flow->main->timeout_ms;
}

static void clock_changes(Frame *f, int64_t now) {
    int64_t stood = f->held_at && f->held_at < now ? now - f->held_at : 0;
    for (uint32_t i = 0; i < f->nlevels; i++) {
        int64_t *deadline = &f->levels[i].deadline;
        *deadline = *deadline ? time_moved(*deadline, stood) : 0;
    }
    if (!f->parent && f->run->deadline) f->run->deadline = time_moved(f->run->deadline, stood);
    f->held_at = f->held ? now : 0;
    frame_mark(f);
    if (f->timer) frame_set_timer(f);
    if (!f->parent && !f->held) {
        run_set_deadline(f->run);
    } else if (!f->parent && f->run->timer) {
        uv_timer_stop(f->run->timer);
    }
}

/* ---- status and queue ---- */

static bool is_moving(FrameStatus status) {
    return status < FRAME_WAITING;
}

static bool is_active(FrameStatus status) {
    return status == FRAME_STARTING || status == FRAME_WORKING || status == FRAME_TIMED;
}

void frame_set_status(Frame *f, FrameStatus status) {
    bool was = is_active(f->status), parked = f->status == FRAME_PARKED;
    bool moved = is_moving(f->status), waited = f->status == FRAME_WAITING;
    bool legal = frame_status_change(&f->status, status);
    assert(legal);
    (void)legal;
    f->run->active += (size_t)is_active(f->status) - (size_t)was;
    f->run->waiting += (size_t)(f->status == FRAME_WAITING) - (size_t)waited;
    if (moved != is_moving(f->status)) (moved ? frame_leave_moving : frame_join_moving)(f);
    if (parked == (status == FRAME_PARKED)) return;
    int64_t now = engine_time(f->run->engine);
    f->run->parked += parked ? (size_t)-1 : 1;
    for (Frame *at = f; at; at = at->parent) { /* the clocks of those around it stand still, too */
        bool stood = at->held > 0;
        at->held += parked ? (uint32_t)-1 : 1;
        if (stood != (at->held > 0)) clock_changes(at, now);
    }
}

void frame_start_when_durable(Frame *f) {
    Engine *e = f->run->engine;
    e->starts = mem_grow(e->starts, e->nstarts, &e->starts_cap, sizeof *e->starts);
    e->starts[e->nstarts++] = f;
    run_kick(f->run);
}

/* A frame that needs no more of its children than have ended goes on. */
void frame_schedule(Frame *f) {
    Run *run = f->run;
    const WaitRow *row = &wait_rows[f->waits];
    bool holds = row->status == FRAME_HOLDING && f->children && !(row->enough && row->enough(f));
    frame_set_status(f, row->status == FRAME_HOLDING && !holds ? FRAME_READY : row->status);
    if (f->status == FRAME_READY && !f->queued && !f->awaits) {
        f->queued = true;
        f->queue_next = NULL;
        *(run->ready ? &run->ready_tail->queue_next : &run->ready) = f;
        run->ready_tail = f;
        run_kick(run);
    } else if (f->status == FRAME_STARTING) {
        frame_start_when_durable(f);
    } else if (f->waits == WAIT_SLEEP) {
        frame_tell_node(f, frame_top(f)->node);
    }
    if (f->timer || f->status == FRAME_TIMED || f->nlevels > 1 || frame_top(f)->deadline) {
        frame_set_timer(f);
    }
}

void frame_queue_first(Frame *f) {
    Run *run = f->run;
    if (f->awaits) return;
    f->queued = true;
    f->queue_next = run->ready;
    if (!run->ready) run->ready_tail = f;
    run->ready = f;
    run_kick(run);
}

void frame_unqueue(Frame *f) {
    Run *run = f->run;
    if (!f->queued) return;
    Frame **at = &run->ready, *before = NULL;
    while (*at && *at != f) {
        before = *at;
        at = &(*at)->queue_next;
    }
    if (*at) {
        *at = f->queue_next;
        if (run->ready_tail == f) run->ready_tail = before;
    }
    f->queued = false;
}

void frame_remove(Frame *f) {
    Run *run = f->run;
    if (run_hooks(run) && run_hooks(run)->frame_end) run_hooks(run)->frame_end(run->hooks_ctx, f);
    engine_drop_start(run->engine, f);
    frame_set_status(f, FRAME_DONE);
    frame_unqueue(f);
    *(f->prev ? &f->prev->next : &run->first_frame) = f->next;
    *(f->next ? &f->next->prev : &run->last_frame) = f->prev;
    f->prev = f->next = NULL;
    run->nframes--;
    frame_index_remove(f);
    f->gone = true;
    timer_free(f->timer);
    f->timer = NULL;
    frame_mark(f);
}

void frame_record_result(Frame *f, const Node *node, const char *status, StepResult result) {
    bool gone = f->gone;
    run_record_result(f->run, f, node, status, result);
    if (!gone) frame_schedule(f);
}

void frame_record(Frame *f, const Node *node, const char *status, Json update) {
    frame_record_result(f, node, status, (StepResult){.update = update});
}

void engine_drop_start(Engine *e, Frame *f) {
    for (size_t i = 0; f->status == FRAME_STARTING && i < e->nstarts; i++) {
        if (e->starts[i] == f) {
            e->starts[i] = NULL;
            return;
        }
    }
}

/* ---- settling ---- */

/* Nothing moves, but somebody is there who may let it: that is told once. */
static bool rests(Run *run) {
    if (!run->is_held || run->status != RUN_RUNNING) return false;
    if (!run->rested) {
        run->rested = true;
        engine_tell(run, NULL, (Event){.type = EVENT_STOPPED, .data = json_int(++run->rests)});
        run_kick(run);
    }
    return true;
}

void run_settle_if_done(Run *run) {
    if (run_settling(run) || run->settled || run->orphans) return;
    if (!run->halting) {
        if (run->ready || run->active || run->evaluating) {
            run->rested = false;
            return;
        }
        if (rests(run)) return;
        /* no row when it has completed */
        run_status_change(&run->status, run->parked ? RUN_PAUSES : RUN_WAITS);
    }
    run_enter(run, RUNS_SETTLING);
    run_enter(run, RUNS_UNSAVED);
    run->settle_batch = engine_batch(run->engine);
    run_kick(run);
}

void run_stop_timers(Run *run) {
    timer_free(run->timer);
    run->timer = NULL;
    for (Frame *f = run->first_frame; f; f = f->next) {
        timer_free(f->timer);
        f->timer = NULL;
    }
}
