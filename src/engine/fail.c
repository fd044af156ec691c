/* fail.c - errors of nodes: another attempt, an error edge, or the end of the run.
 *
 * An error looks for somebody to take it, from the node outwards: the node itself, the nodes that the
 * levels below it stand at, then the frame that made this one, and so on. Whoever has an attempt left
 * or an error edge takes it: everything that runs inside is ended, and the frame goes on from there.
 * When nobody does, the run has failed; but nothing is unwound: its frames stay where they are, so
 * that a resume tries the failed node again and nothing else. */
#include "fail.h"

#include "advance.h"
#include "choice.h"
#include "control.h"
#include "event.h"
#include "image_read.h"
#include "inject.h"
#include "outside.h"
#include "park.h"
#include "record.h"
#include "reduce.h"
#include "result.h"
#include "schedule.h"
#include "tasks.h"
#include "work.h"

#include <math.h>

/* ---- the error as a value ---- */

void frame_fail_with(Frame *f, const char *kind, const Error *err) {
    frame_fail(f, fail_error(f, frame_top(f)->node, kind, err, json_none()), FAIL_NODE);
}

/* ---- ending what runs inside ---- */

/* It cleans up, or is inside what does, somewhere below a frame. */
static bool is_in_cleanup(const Frame *f, const Frame *below) {
    for (; f != below; f = f->parent) {
        if (f->is_cleanup) return true;
    }
    return false;
}

/* Youngest first, so that no frame goes before those that it made. */
static void end_children(Frame *f) {
    for (Frame *at = f->run->last_frame, *prev; at && f->children; at = prev) {
        prev = at->prev;
        const Frame *around = at->parent;
        while (around && around != f) around = around->parent;
        if (!around) continue;
        if (at->is_cleanup && !is_in_cleanup(at->parent, f)) { /* goes on, for this frame */
            at->parent->children--;
            at->parent = f;
            f->children++;
            frame_mark(at);
        } else if (!is_in_cleanup(at, f)) {
            work_cancel(at);
            task_abandon(at, 0, f);
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
    frame_drop_params(f);
    task_abandon(f, level + 1, f);
    while (f->nlevels > level + 1) level_pop(f);
    frame_set_wait(f, json_null());
}

/* ---- who takes it ---- */

typedef struct Handler {
    Frame *frame;
    uint32_t level;
    const Edge *edge; /* NULL: another attempt */
    bool drop;  /* the level is a node that was injected: it ends, and what comes after goes on */
    bool task;  /* the level stands at a task, which fails with it */
    bool gives; /* the node is done all the same, with a result that says so */
    const Node
        *join; /* whose edge it is, where branches were to join; NULL: the level's node has it */
} Handler;

/* A condition that fails does not hold. */
static bool holds(const Frame *f, const Level *l, const Expr *when, Json error) {
    if (!when) return true;
    Json vars[FRAME_VARS_MAX];
    Json input = json_object_set(json_ref(l->state), json_string_c("error"), json_ref(error));
    Json verdict =
        evaluator_run(f->run->evaluator, when, input, frame_variables(f, l->node, vars), NULL);
    bool yes = json_truthy(verdict);
    json_unref(verdict);
    json_unref(input);
    return yes;
}

/* `edited`: another version of the node ran instead of it, and has said whether it is tried again; the
 * way on is the node's. */
static bool takes(Frame *f, uint32_t level, Json error, bool edited, Handler *h) {
    const Level *l = &f->levels[level];
    const Node *node = l->node;
    if (!node) return false;
    *h = (Handler){.frame = f, .level = level};
    bool left = l->attempt + 1 < node->retry.attempts;
    if (!edited && left && holds(f, l, node->retry.when, error)) return true;
    for (size_t i = 0; i < node->error_edges.n; i++) {
        h->edge = &node->error_edges.items[i];
        if (holds(f, l, h->edge->when, error)) return true;
    }
    h->edge = NULL;
    h->gives = node->kind->id == KIND_BRANCH ||
               (node->kind->outside && node->kind->dialect == DIALECT_PIPELINE &&
                json_string_is(node->params[OUTSIDE_ON_FAILURE].value, "next"));
    return h->gives;
}

/* Branches that cannot be joined fail the node that they were to join at: it has not begun, so it is not tried
 * again, but its error edges count. */
static bool join_takes(Frame *f, Json error, Handler *h) {
    const Level *l = frame_top(f);
    Json name = wait_is(f->wait, WAIT_JOIN) ? json_array_get(f->wait, WAIT_JOIN_NODE) : json_none();
    const Node *join = json_kind(name) == JSON_STRING ? graph_node(l->graph, name) : NULL;
    for (size_t i = 0; join && i < join->error_edges.n; i++) {
        *h = (Handler){f, f->nlevels - 1, &join->error_edges.items[i], .join = join};
        if (holds(f, l, h->edge->when, error)) return true;
    }
    return false;
}

/* `done`: the node that the level stands at is finished and has no say. So is the one that a frame
 * made its branches after. A graph may be inside a task: the task fails then. */
static bool find_handler(Frame *f, uint32_t level, Json error, bool done, Handler *h) {
    for (bool edited = false;;) {
        if (f->levels[level].graph->scoped) {
            *h = (Handler){.frame = f, .level = level, .task = true};
            return true;
        }
        const Injected *injected = f->levels[level].injected;
        if (!done && takes(f, level, error, edited, h)) return true;
        edited = injected && injected->where == INJECT_INSTEAD;
        if (injected && !edited) {
            *h = (Handler){.frame = f, .level = level, .drop = true};
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

/* The wait already has the handle of the next attempt: no second record is needed to start it. Consumes memo
 * and answers, what the node made and was told. */
static void retry(Frame *f, Json error, LevelAt failed, Json memo, Json answers) {
    Level *l = frame_top(f);
    const Node *node = l->node;
    double wanted = (double)node->retry.delay_ms * pow(node->retry.factor, l->attempt++);
    double most = node->retry.max_ms ? (double)node->retry.max_ms : 9e15;
    int64_t delay = (int64_t)(wanted < most ? wanted : most);
    l->deadline = 0;
    l->count = 0;
    frame_set_wait(f, WAIT_FOR(WAIT_RETRY, json_int(engine_time(f->run->engine) + delay),
                               frame_work_key(f), json_ref(error), memo, answers));
    run_record_result(f->run, f, node, "retrying",
                      (StepResult){.error = json_ref(error), .at = failed});
    Json data =
        OBJECT(KEY("error", json_ref(error)), KEY("attempt", json_int(l->attempt)),
               KEY("attempts", json_int(node->retry.attempts)), KEY("delay", (double)delay / 1000));
    engine_tell(f->run, f, (Event){.type = EVENT_RETRY, .node = node->name, .data = data});
    frame_schedule(f);
}

static void take_error_edge(Frame *f, const Edge *edge, Json error, LevelAt failed) {
    Run *run = f->run;
    Level *l = frame_top(f);
    const Node *node = l->node;
    Json update = OBJECT(KEY("error", json_ref(error)));
    reduce_update(l->graph, run->evaluator, update, json_null(), &l->state, &l->writes, NULL);
    level_begin_node(l);
    l->steps++;
    run->step++;
    choice_made(f, &node->error_edges, edge, true);
    frame_take_edge(f, edge);
    bool own = failed.frame == f->id && failed.level + 1 == f->nlevels;
    frame_record_result(f, node, "failed",
                        (StepResult){.update = update, .at = own ? (LevelAt){0} : failed});
}

/* The execution that failed is inside the one that takes its error, or is that one. */
static void take_error(const Handler *h, LevelAt failed, Json error) {
    Frame *f = h->frame;
    bool its_own = h->level == f->nlevels - 1;
    Json memo = its_own ? json_ref(work_part(f->wait, WORK_MEMO)) : json_none();
    Json answers = its_own ? json_ref(work_part(f->wait, WORK_ANSWERS)) : json_none();
    frame_unwind(f, h->level);
    if (h->join) frame_top(f)->node = h->join;
    if (f->children) { /* tests inside clean up, which its time does not count for; then it is taken */
        frame_top(f)->deadline = 0;
        json_unref(memo);
        json_unref(answers);
        task_ended_inside(f, ENDED_FAILED, TASK_FAILURE, error);
        return;
    }
    if (h->task || h->gives) {
        json_unref(memo);
        json_unref(answers);
        if (h->task) {
            task_failed(f, error);
        } else {
            const Node *node = frame_top(f)->node;
            bool branch = node->kind->id == KIND_BRANCH;
            frame_finish(f, branch ? branch_failed(f, node, error) : outside_failed(node, error));
        }
        return;
    }
    if (!h->drop && !h->edge) {
        retry(f, error, failed, json_is_none(memo) ? json_null() : memo,
              json_is_none(answers) ? json_array() : answers);
        return;
    }
    json_unref(memo);
    json_unref(answers);
    if (h->edge) {
        take_error_edge(f, h->edge, error, failed);
    } else {
        const Node *node = frame_top(f)->node;
        frame_top(f)->node = NULL;
        inject_hand_down(f);
        run_record_result(f->run, f, node, "failed", (StepResult){.error = json_ref(error)});
        inject_done(f, (StepResult){.update = json_none()});
    }
}

/* ---- the end of the run ---- */

void run_halt(Run *run) {
    run->halting = true;
    for (Frame *f = run->first_frame; f; f = f->next) work_cancel(f);
    run_stop_timers(run);
    run_settle_if_done(run);
}

void run_fail(Run *run, Frame *f, const Node *node, Json error) {
    json_put(&run->error, json_ref(error));
    run_status_change(&run->status, RUN_FAILS);
    run_record_result(run, f, node, "failed", (StepResult){.error = json_ref(error)});
    run_halt(run);
}

void frame_fail_here(Frame *f, Json error, bool after, Json before) {
    frame_set_wait(f, WAIT_FOR(WAIT_FAILED, json_ref(error), json_bool(after), before));
    frame_set_status(f, FRAME_FAILED);
    run_fail(f->run, f, frame_top(f)->node, error);
}

/* taken: by whom; NULL: by nobody. */
static void fail_now(Frame *f, Json error, FailAt at, const Handler *taken) {
    Json answers = work_part(f->wait, WORK_ANSWERS);
    if (frame_top(f)->graph->scoped) {
        task_failed(f, error);
    } else if (taken) {
        take_error(taken, (LevelAt){f->id, f->nlevels - 1}, error);
    } else { /* branches can still be joined, and what a node was told need not be asked again */
        bool again = at == FAIL_JOIN || (at == FAIL_NODE && json_array_len(answers));
        frame_fail_here(f, error, at == FAIL_AFTER, again ? json_ref(f->wait) : json_null());
    }
}

static void look_again(Frame *f);
static void look_again_told(Frame *f);

static bool go_outwards(Frame **f, uint32_t *level) {
    if (*level) {
        --*level;
    } else if ((*f)->parent) {
        *f = (*f)->parent;
        *level = (*f)->nlevels - 1;
    } else {
        return false;
    }
    return true;
}

/* Whether somebody takes the error of the node at a level; those who are asked are asked again later. Tasks ask the
 * containers around them, nodes of graphs their edges and attempts, and one may be inside the other. */
static bool is_caught(Frame *f, uint32_t level, Json error, FailAt at) {
    Handler h;
    if (at == FAIL_JOIN && join_takes(f, error, &h)) return true;
    for (bool done = at != FAIL_NODE;; done = false) {
        if (!f->levels[level].graph->scoped) {
            if (!find_handler(f, level, error, done, &h)) return false;
            if (!h.task) return !h.drop;
            f = h.frame;
            level = h.level;
        }
        do {
            if (!go_outwards(&f, &level)) return false;
            const Level *l = &f->levels[level];
            if (l->graph->scoped && task_reads_failure(l)) return true;
        } while (f->levels[level].graph->scoped);
    }
}

bool fail_is_caught(Frame *f, uint32_t level, Json error) {
    return is_caught(f, level, error, FAIL_NODE);
}

/* Looks for somebody who takes it, in slices, and then, unless a debugger wants to see it first, goes on there. */
static void look_for_taker(Frame *f, Json error, FailAt at, bool told) {
    Handler h;
    Replay replay = {0};
    uint32_t level = f->nlevels - 1;
    bool asks = run_hooks(f->run) && !told;
    frame_replay_begin(f, &replay);
    bool caught = asks && is_caught(f, level, error, at);
    bool taken =
        !frame_top(f)->graph->scoped && ((at == FAIL_JOIN && join_takes(f, error, &h)) ||
                                         find_handler(f, level, error, at != FAIL_NODE, &h));
    if (!frame_replay_end(f, &replay, told ? look_again_told : look_again)) {
        json_put(&f->step->error, json_ref(error));
        f->step->fail_at = (int)at;
    } else if (!asks || !park_on_error(f, error, at, caught)) {
        fail_now(f, error, at, taken ? &h : NULL);
    }
}

static void look_further(Frame *f, bool told) {
    Json error = json_ref(f->step->error);
    look_for_taker(f, error, (FailAt)f->step->fail_at, told);
    json_unref(error);
}

static void look_again(Frame *f) {
    look_further(f, false);
}

static void look_again_told(Frame *f) {
    look_further(f, true);
}

void frame_fail(Frame *f, Json error, FailAt at) {
    f->skipped = false;
    look_for_taker(f, error, at, false);
    json_unref(error);
}

void frame_fail_late(Frame *f) {
    const Node *node = frame_top(f)->node;
    Error err = ERROR_INIT;
    error_set(&err, ERR_LIMIT, "It took longer than its timeout of %g s.",
              (double)node_time_ms(node) / 1000);
    frame_fail_with(f, "timeout", &err);
}

void fail_inside(Frame *f, Json error) {
    look_for_taker(f, error, FAIL_NODE, true);
}

void frame_forgive(Frame *f, Json error, Json result) {
    Json info;
    if (run_hooks(f->run) && park_asks(f, f->nlevels - 1, error, true, &info)) {
        park_failing(f, &(Failing){error, FAIL_GIVES, result}, info);
        json_unref(result);
    } else {
        frame_finish(f, result);
    }
    json_unref(error);
}

void frame_failing(Frame *f) {
    Json wait = json_ref(f->wait), given = json_array_get(wait, WAIT_FAILING_GIVEN);
    FailAt at = (FailAt)image_int(wait, WAIT_FAILING_AT);
    frame_set_wait(f, json_ref(json_array_get(wait, WAIT_FAILING_BEFORE)));
    if (at == FAIL_GIVES && !json_is_none(given)) {
        frame_finish(f, json_ref(given));
    } else {
        look_for_taker(f, json_array_get(wait, WAIT_FAILING_ERROR),
                       at == FAIL_GIVES ? FAIL_NODE : at, true);
    }
    json_unref(wait);
}

/* ---- time ---- */

enum { CONDITION_NS = 5000000 };

/* The node of a level has had its time. If nobody takes that, all that runs inside stays as it is: a
 * resume gives it its time again. If a debugger wants to see it, what runs inside is ended. */
static void fail_late(Frame *f, uint32_t level) {
    const Node *node = f->levels[level].node;
    bool scoped = f->levels[level].graph->scoped || task_holds_test(f, level);
    Handler h;
    Json info;
    Error err = ERROR_INIT;
    error_set(&err, ERR_LIMIT, "It took longer than its timeout of %g s.",
              (double)node_time_ms(node) / 1000);
    Json error = fail_error(f, node, "timeout", &err, json_none());
    /* What it would wait with is under way still: conditions have a moment, and do not hold after it. */
    evaluator_set_deadline(f->run->evaluator, uv_hrtime() + CONDITION_NS);
    bool asks = run_hooks(f->run) && !scoped &&
                park_asks(f, level, error, is_caught(f, level, error, FAIL_NODE), &info);
    bool taken = !asks && !scoped && find_handler(f, level, error, false, &h);
    evaluator_set_deadline(f->run->evaluator, 0);
    if (asks) {
        frame_unwind(f, level);
        frame_top(f)->deadline = 0;
        park_failing(f, &(Failing){error, FAIL_NODE, json_none()}, info);
    } else if (scoped) {
        task_late(f, level, error);
    } else if (taken) {
        take_error(&h, (LevelAt){f->id, level}, error);
    } else if (test_cleans_up(f->run)) { /* tests inside clean up, as ever; then it fails */
        frame_unwind(f, level);
        frame_top(f)->deadline = 0;
        task_ended_inside(f, ENDED_FAILED, TASK_FAILURE, error);
    } else {
        run_fail(f->run, f, node, error);
    }
    json_unref(error);
}

void fail_run_late(uv_timer_t *timer) {
    Run *run = timer->data;
    Error err = ERROR_INIT;
    if (run->deadline > engine_time(run->engine)) {
        run_set_deadline(run);
        return;
    }
    bool over = !run->deadline; /* its cleanup has begun */
    if (over || run->halting || run_settling(run) || run->status != RUN_RUNNING) return;
    error_set_at(&err, ERR_LIMIT, run->flow->main->line, run->flow->main->col,
                 "The run took longer than its timeout of %g s.",
                 (double)run->flow->main->timeout_ms / 1000);
    Json error = fail_error(run->first_frame, NULL, "timeout", &err, json_none());
    if (!test_abort(run, error)) run_fail(run, run->first_frame, NULL, error);
    json_unref(error);
}

static void next_attempt(Frame *f) {
    const Node *node = frame_top(f)->node;
    if (node->kind->id != KIND_SLEEP && frame_leaves_engine(f, node)) {
        frame_set_status(f, FRAME_STARTING);
        frame_start_when_durable(f);
        return;
    }
    frame_arrive(f, true);
    if (json_kind(f->wait) == JSON_NULL) frame_set_wait(f, wait_of(WAIT_GO));
    frame_schedule(f);
}

void frame_timer_fired(Frame *f) {
    Run *run = f->run;
    int64_t now = engine_time(run->engine);
    for (uint32_t i = 0; i < f->nlevels; i++) {
        if (f->levels[i].deadline && f->levels[i].deadline <= now) {
            fail_late(f, i);
            run_settle_if_done(run);
            run_kick(run);
            return;
        }
    }
    if (f->status != FRAME_TIMED || image_int(f->wait, WAIT_UNTIL) > now) {
        frame_set_timer(f);
        return;
    }
    if (f->waits == WAIT_RETRY) {
        next_attempt(f);
    } else {
        frame_set_wait(f, json_null());
        frame_finish(f, json_null());
    }
    run_settle_if_done(run);
    run_kick(run);
}

void fail_frame_late(uv_timer_t *timer) {
    frame_timer_fired(timer->data);
}
