/* run.c - runs as the engine keeps them: lists, time, batches, and when one has settled. */
#include "run.h"

#include "mem.h"

#include <string.h>
#include <sys/time.h>

/* ---- lists ---- */

void run_enter(Run *run, RunsThat which) {
    RunLink *link = &run->links[which];
    RunQueue *list = &run->engine->runs[which];
    if (link->in) return;
    *link = (RunLink){.prev = list->last, .in = true};
    *(list->last ? &list->last->links[which].next : &list->first) = run;
    list->last = run;
}

void run_leave(Run *run, RunsThat which) {
    RunLink *link = &run->links[which];
    RunQueue *list = &run->engine->runs[which];
    if (!link->in) return;
    *(link->prev ? &link->prev->links[which].next : &list->first) = link->next;
    *(link->next ? &link->next->links[which].prev : &list->last) = link->prev;
    *link = (RunLink){0};
}

/* One that has settled has nothing left to be in time for. */
void run_set_held(Run *run, bool held) {
    run->is_held = held && !run->settled;
}

/* ---- time ---- */

/* Looking at the clock costs as much as a tenth of a step. So a turn goes by the time that it was when it was
 * looked at last: now and then, and after whatever may have taken long. */
int64_t engine_time(const Engine *e) {
    if (e->turn_time) return e->turn_time;
    if (e->options.now) return e->options.now(e->options.ctx);
    struct timeval tv;
    gettimeofday(&tv, NULL);
    return (int64_t)tv.tv_sec * 1000 + tv.tv_usec / 1000;
}

bool engine_look(Engine *e) {
    if (!e->turn_time) return true;
    uint64_t now = uv_hrtime();
    e->unlooked = 0;
    e->turn_time = e->options.now ? e->options.now(e->options.ctx)
                                  : e->turn_first + (int64_t)((now - e->turn_began) / 1000000);
    e->turn_over = now >= e->turn_until;
    return e->turn_over;
}

uv_timer_t *timer_new(uv_loop_t *loop, void *data) {
    uv_timer_t *timer = mem_zalloc(sizeof *timer);
    uv_timer_init(loop, timer);
    timer->data = data;
    return timer;
}

void handle_free(uv_handle_t *handle) {
    mem_free(handle);
}

void timer_free(uv_timer_t *timer) {
    if (timer) uv_close((uv_handle_t *)timer, handle_free);
}

/* ---- batches and turns ---- */

EngineCounts engine_counts(const Engine *e) {
    EngineCounts counts = {.runs = e->begun,
                           .steps = e->steps,
                           .commits = e->durable,
                           .working = e->working,
                           .telling = e->nevents};
    uint64_t last = engine_last_batch(e);
    for (const Run *r = e->runs[RUNS_DUE].first; r; r = r->links[RUNS_DUE].next) counts.due++;
    for (size_t i = 0; i < e->nstarts; i++) counts.starting += e->starts[i] != NULL;
    counts.unsaved = last > e->durable ? (size_t)(last - e->durable) : 0;
    return counts;
}

uint64_t engine_batch(const Engine *e) {
    return e->storage ? storage_number(e->storage) : 0;
}

/* The newest batch with something in it. */
uint64_t engine_last_batch(const Engine *e) {
    return e->storage ? storage_number(e->storage) - (storage_batch(e->storage)->count == 0) : 0;
}

uint64_t engine_unsaved_batch(const Engine *e) {
    return e->runs[RUNS_UNSAVED].first ? engine_batch(e) : engine_last_batch(e);
}

bool engine_may_begin(const Engine *e, Error *err) {
    bool sound = e->broken.code == ERR_NONE;
    if (!sound && err) *err = e->broken;
    return sound;
}

const char *engine_folder(Engine *e, Error *err) {
    if (!e->folder) e->folder = mem_strdup(store_folder(e->options.store, err));
    return e->folder;
}

Store *engine_reader(Engine *e, Error *err) {
    return storage_reader(e->storage, err);
}

Storage *engine_storage(Engine *e) {
    return e->storage;
}

void engine_set_idle(Engine *e, bool active) {
    if (active == e->idle_active) return;
    e->idle_active = active;
    if (active) {
        uv_idle_start(e->idle, e->on_turn);
    } else {
        uv_idle_stop(e->idle);
    }
}

void run_kick(Run *run) {
    if (run->engine->broken.code == ERR_NONE && !run->asleep) {
        run_enter(run, RUNS_DUE);
        engine_set_idle(run->engine, true);
    }
}
