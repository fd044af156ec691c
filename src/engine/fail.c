/* fail.c - errors of nodes: another attempt, an error edge, or the end of the run.
 *
 * An error looks for somebody to take it, from the node outwards: the node itself, the nodes that the
 * levels below it stand at, then the frame that made this one, and so on. Whoever has an attempt left
 * or an error edge takes it: everything that runs inside is ended, and the frame goes on from there.
 * When nobody does, the run has failed; but nothing is unwound: its frames stay where they are, so
 * that a resume tries the failed node again and nothing else. */
#include "runs.h"

#include "reduce.h"

#include <math.h>

/* ---- the error as a value ---- */

Json fail_error(const Frame *f, const Node *node, const char *kind, const Error *err,
                Json details) {
    const Graph *graph = f ? frame_top(f)->graph : NULL;
    Json error = json_object_with(json_object(), "kind", json_string_c(kind)), key, value;
    error = json_object_with(error, "message", json_string_c(err->msg));
    error = json_object_with(error, "node", node ? json_ref(node->name_json) : json_null());
    error = json_object_with(error, "file",
                             json_string_c(node    ? node->file
                                           : graph ? graph->file
                                                   : ""));
    error = json_object_with(error, "line",
                             json_int(err->line ? err->line
                                      : node    ? node->line
                                                : 0));
    error = json_object_with(error, "column",
                             json_int(err->line ? err->col
                                      : node    ? node->col
                                                : 0));
    for (size_t pos = 0;
         json_kind(details) == JSON_OBJECT && json_object_next(details, &pos, &key, &value);) {
        error = json_object_set(error, json_ref(key), json_ref(value));
    }
    json_unref(details);
    return error;
}

void frame_fail_with(Frame *f, const char *kind, const Error *err) {
    frame_fail(f, fail_error(f, frame_top(f)->node, kind, err, json_none()), FAIL_NODE);
}

/* ---- ending what runs inside ---- */

static bool is_below(const Frame *f, const Frame *ancestor) {
    for (const Frame *at = f->parent; at; at = at->parent) {
        if (at == ancestor) {
            return true;
        }
    }
    return false;
}

/* Youngest first, so that no frame goes before those that it made. */
static void end_children(Frame *f) {
    for (Frame *at = f->run->last_frame, *prev; at && f->children; at = prev) {
        prev = at->prev;
        if (is_below(at, f)) {
            work_cancel(at);
            at->parent->children--;
            frame_remove(at);
        }
    }
}

void frame_unwind(Frame *f, uint32_t level) {
    end_children(f);
    work_cancel(f);
    engine_drop_start(f->run->engine, f);
    frame_unqueue(f);
    while (f->nlevels > level + 1) {
        level_pop(f);
    }
    frame_set_wait(f, json_null());
}

/* ---- who takes it ---- */

typedef struct Handler {
    Frame *frame;
    uint32_t level;
    const Edge *edge; /* NULL: another attempt */
} Handler;

static Json with_error(const Level *l, Json error) {
    return json_object_set(json_ref(l->state), json_string_c("error"), json_ref(error));
}

/* A condition that fails does not hold. */
static bool holds(const Frame *f, const Level *l, const Expr *when, Json error) {
    if (!when) {
        return true;
    }
    Json vars[FRAME_VARS_MAX];
    Json input = with_error(l, error);
    Json verdict = machines_eval(f->run->machines, when, input, frame_vars(f, l->node, vars), NULL);
    bool yes = json_truthy(verdict);
    json_unref(verdict);
    json_unref(input);
    return yes;
}

static bool takes(Frame *f, uint32_t level, Json error, Handler *h) {
    const Level *l = &f->levels[level];
    const Node *node = l->node;
    if (!node) {
        return false;
    }
    *h = (Handler){f, level, NULL};
    if (l->attempt + 1 < node->retry.attempts && holds(f, l, node->retry.when, error)) {
        return true;
    }
    for (size_t i = 0; i < node->error_edges.n; i++) {
        h->edge = &node->error_edges.items[i];
        if (holds(f, l, h->edge->when, error)) {
            return true;
        }
    }
    return false;
}

/* `done`: the node that the level stands at is finished and has no say. So is the one that a frame
 * made its branches after. */
static bool find_handler(Frame *f, uint32_t level, Json error, bool done, Handler *h) {
    for (;;) {
        if (!done && takes(f, level, error, h)) {
            return true;
        }
        done = false;
        if (level > 0) {
            level--;
        } else if (f->parent) {
            done = f->is_branch;
            f = f->parent;
            level = f->nlevels - 1;
        } else {
            return false;
        }
    }
}

/* ---- another attempt ---- */

static int64_t retry_delay(const RetryPolicy *retry, int attempt) {
    double delay = (double)retry->delay_ms * pow(retry->factor, attempt);
    double most = retry->max_ms ? (double)retry->max_ms : 9e15;
    return (int64_t)(delay < most ? delay : most);
}

static void tell_retry(Frame *f, const Node *node, Json error, int64_t delay) {
    Json data = json_object_with(json_object(), "error", json_ref(error));
    data = json_object_with(data, "attempt", json_int(frame_top(f)->attempt));
    data = json_object_with(data, "attempts", json_int(node->retry.attempts));
    data = json_object_with(data, "delay", json_double((double)delay / 1000));
    engine_tell(f->run, f, (Event){.type = EVENT_RETRY, .node = node->name, .data = data});
}

/* The wait already names the place of the next attempt: no second record is needed to start it. */
static void retry(Frame *f, Json error) {
    Level *l = frame_top(f);
    const Node *node = l->node;
    int64_t delay = retry_delay(&node->retry, l->attempt++);
    Json parts[] = {json_string_c("retry"), json_int(engine_now(f->run->engine) + delay),
                    frame_work_key(f), json_ref(error)};
    l->deadline = 0;
    l->count = 0;
    frame_set_wait(f, json_array_from(parts, 4));
    run_record(f->run, f, node, "retrying", json_none());
    tell_retry(f, node, error, delay);
    frame_schedule(f);
}

static void take_error_edge(Frame *f, const Edge *edge, Json error);

static void take_error(const Handler *h, Json error) {
    frame_unwind(h->frame, h->level);
    if (h->edge) {
        take_error_edge(h->frame, h->edge, error);
    } else {
        retry(h->frame, error);
    }
}

static void take_error_edge(Frame *f, const Edge *edge, Json error) {
    Run *run = f->run;
    Level *l = frame_top(f);
    const Node *node = l->node;
    Json update = json_object_with(json_object(), "error", json_ref(error));
    reduce_update(l->graph, run->machines, update, json_null(), &l->state, &l->writes, NULL);
    level_begin_node(l);
    l->steps++;
    run->step++;
    frame_take_edge(f, edge);
    frame_record(f, node, "failed", update);
}

/* ---- the end of the run ---- */

void run_fail(Run *run, Frame *f, const Node *node, Json error) {
    json_unref(run->error);
    run->error = json_ref(error);
    run_status_change(&run->status, RUN_FAILS);
    run_record(run, f, node, "failed", json_none());
    run_halt(run);
}

/* Branches that could not be joined are still there to be joined. */
static void fail_here(Frame *f, Json error, FailAt at) {
    Json before = at == FAIL_JOIN ? json_ref(f->wait) : json_null();
    Json parts[] = {json_string_c("error"), json_ref(error), json_bool(at == FAIL_AFTER), before};
    frame_set_wait(f, json_array_from(parts, 4));
    frame_set_status(f, FRAME_FAILED);
    run_fail(f->run, f, frame_top(f)->node, error);
}

static bool parked_on_error(Frame *f, Json error, bool after) {
    const EngineHooks *h = f->run->engine->hooks;
    const Node *node = frame_top(f)->node;
    HookPlace place = {f->run, f->id, node, frame_top(f)->state, error};
    if (!h->on_error || h->on_error(h->ctx, &place) != HOOK_PARK) {
        return false;
    }
    frame_set_wait(f, wait_with("pause", wait_of(after ? "after" : "go")));
    frame_record(f, node, "paused", json_none());
    return true;
}

void frame_fail(Frame *f, Json error, FailAt at) {
    Handler h;
    bool after = at == FAIL_AFTER || at == FAIL_JOIN;
    if (f->run->engine->hooks && parked_on_error(f, error, after)) {
        json_unref(error);
        return;
    }
    if (find_handler(f, f->nlevels - 1, error, at != FAIL_NODE, &h)) {
        take_error(&h, error);
    } else {
        fail_here(f, error, at);
    }
    json_unref(error);
}

/* ---- time ---- */

static int64_t timeout_of(const Node *node) {
    bool inner = node->kind->id == KIND_WORKFLOW && !node->timeout_ms;
    return inner ? node->params[WORKFLOW_FILE].graph->timeout_ms : node->timeout_ms;
}

/* The node of a level has had its time. If nobody takes that, all that runs inside stays as it is: a
 * resume gives it its time again. */
static void fail_late(Frame *f, uint32_t level) {
    const Node *node = f->levels[level].node;
    Handler h;
    Error err = ERROR_INIT;
    error_set(&err, ERR_LIMIT, "It took longer than its timeout of %g s.",
              (double)timeout_of(node) / 1000);
    Json error = fail_error(f, node, "timeout", &err, json_none());
    if (find_handler(f, level, error, false, &h)) {
        take_error(&h, error);
    } else {
        run_fail(f->run, f, node, error);
    }
    json_unref(error);
}

void run_renew_clocks(Run *run) {
    int64_t now = engine_now(run->engine);
    for (Frame *f = run->first_frame; f; f = f->next) {
        for (uint32_t i = 0; i < f->nlevels; i++) {
            Level *l = &f->levels[i];
            if (l->deadline && l->deadline <= now && l->node) {
                l->deadline = now + timeout_of(l->node);
                frame_mark(f);
            }
        }
    }
    if (run->deadline && run->deadline <= now) {
        run->deadline = now + run->flow->main->timeout_ms;
    }
}

static void on_run_late(uv_timer_t *timer) {
    Run *run = timer->data;
    Error err = ERROR_INIT;
    if (run->deadline > engine_now(run->engine)) {
        run_set_deadline(run);
        return;
    }
    if (run->halting || run->settling || run->status != RUN_RUNNING) {
        return;
    }
    error_set(&err, ERR_LIMIT, "The run took longer than its timeout of %g s.",
              (double)run->flow->main->timeout_ms / 1000);
    Json error = fail_error(run->first_frame, NULL, "timeout", &err, json_none());
    run_fail(run, run->first_frame, NULL, error);
    json_unref(error);
}

void run_set_deadline(Run *run) {
    if (!run->deadline || run->halting) {
        return;
    }
    if (!run->timer) {
        run->timer = timer_new(run->engine->options.loop, run);
        uv_unref((uv_handle_t *)run->timer);
    }
    int64_t left = run->deadline - engine_now(run->engine);
    uv_timer_start(run->timer, on_run_late, left > 0 ? (uint64_t)left : 0, 0);
}

static void next_attempt(Frame *f) {
    const Node *node = frame_top(f)->node;
    if (node->kind->id != KIND_SLEEP && frame_leaves_engine(f, node)) {
        frame_set_status(f, FRAME_STARTING);
        frame_start_when_durable(f);
        return;
    }
    frame_arrive(f, true);
    if (json_kind(f->wait) == JSON_NULL) {
        frame_set_wait(f, wait_of("go"));
    }
    frame_schedule(f);
}

void frame_timer_fired(Frame *f) {
    Run *run = f->run;
    int64_t now = engine_now(run->engine);
    for (uint32_t i = 0; i < f->nlevels; i++) {
        if (f->levels[i].deadline && f->levels[i].deadline <= now) {
            fail_late(f, i);
            run_settle_if_done(run);
            engine_kick(run->engine);
            return;
        }
    }
    if (f->status != FRAME_TIMED || image_int(f->wait, WAIT_UNTIL) > now) {
        frame_set_timer(f);
        return;
    }
    if (wait_is(f->wait, "retry")) {
        next_attempt(f);
    } else {
        frame_set_wait(f, json_null());
        frame_finish(f, json_null());
    }
    run_settle_if_done(run);
    engine_kick(run->engine);
}
