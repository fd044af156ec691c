/* fuzz_world.h - an engine, its store and its loop, for fuzz targets that run workflows.
 *
 * Nothing outside is touched: kinds whose work is not pure have a work of this file's own. Of them, some
 * end at once, and the others are under way until they are cancelled. Time is the world's own too.
 */
#ifndef PAWL_FUZZ_WORLD_H
#define PAWL_FUZZ_WORLD_H

#include "exec.h"
#include "session_api.h"
#include "store_chain.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

enum {
    TURNS = 4, /* of the loop after each call */
    STATE_MAX = 1 << 20,
};

/* ---- work that touches nothing ---- */

static void end_at_once(Step *step) {
    step_succeed(step, json_object_with(json_object(), "stdout", json_string_c("1")));
}

static void stay(Step *step) {
    (void)step;
}

static void give_up(Step *step) {
    step_fail(step, "cancelled", json_none(), "It was cancelled.");
}

static void freeze(Step *step, bool frozen) {
    (void)step, (void)frozen;
}

static Json remember(Step *step, Error *err) {
    (void)step, (void)err;
    return json_object_with(json_object(), "n", json_int(1));
}

static NodeWork safe_row(const NodeWork *row, size_t kind) {
    bool stays = row->freeze || kind == KIND_HTTP;
    if (row->pure) {
        return *row;
    }
    return (NodeWork){.start = stays && kind != KIND_SHELL ? stay : end_at_once,
                      .prepare = row->prepare ? remember : NULL,
                      .cancel = give_up,
                      .freeze = row->freeze ? freeze : NULL,
                      .drop = stay};
}

static const NodeWork *const *safe_work(void) {
    static NodeWork rows[KIND_COUNT];
    static const NodeWork *work[KIND_COUNT];
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (exec_work[i]) {
            rows[i] = safe_row(exec_work[i], i);
            work[i] = &rows[i];
        }
    }
    return work;
}

/* ---- a store, a loop and an engine ---- */

typedef struct World {
    Store *store;
    RunRow row;
    uv_loop_t loop;
    Engine *engine;
    int64_t now, turn_ms; /* the clock, and by how much it goes on in each turn of the loop */
} World;

static int64_t now(void *ctx) {
    return ((World *)ctx)->now;
}

static void engine_up(World *w) {
    CHECK(uv_loop_init(&w->loop) == 0);
    w->engine =
        engine_new(&(EngineOptions){.loop = &w->loop,
                                    .store = w->store,
                                    .work = safe_work(),
                                    .now = now,
                                    .ctx = w,
                                    .max_state = STATE_MAX,
                                    .budget = {.steps = 20000, .memory = 4 << 20, .depth = 200}},
                   NULL);
    CHECK(w->engine);
}

static void engine_down(World *w) {
    engine_free(w->engine);
    while (uv_run(&w->loop, UV_RUN_NOWAIT)) {}
    CHECK(uv_loop_close(&w->loop) == 0);
}

static inline void turn(World *w) {
    for (int i = 0; i < TURNS; i++) {
        uv_run(&w->loop, UV_RUN_NOWAIT);
        engine_wait_durable(w->engine);
        w->now += w->turn_ms;
        engine_wake(w->engine);
    }
    uv_run(&w->loop, UV_RUN_NOWAIT);
    engine_wait_durable(w->engine);
}

static inline void on_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    (void)ctx, (void)thread, (void)seq, (void)sentence;
    abort();
}

/* What was written is sound, whatever happened. */
static inline void world_down(World *w) {
    CheckReport report;
    engine_down(w);
    CHECK(chain_check(w->store, 0, &(CheckHost){.problem = on_problem}, &report, NULL));
    run_row_clear(&w->row);
    store_close(w->store);
}

#endif
