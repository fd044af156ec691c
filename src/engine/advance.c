/* advance.c - one step of a frame: the gate before its node, the node, the edge after it. */
#include "advance.h"

#include "choice.h"
#include "control.h"
#include "event.h"
#include "fail.h"
#include "image_read.h"
#include "inject.h"
#include "json_print.h"
#include "mem.h"
#include "park.h"
#include "record.h"
#include "reduce.h"
#include "result.h"
#include "schedule.h"
#include "steer.h"
#include "tasks.h"
#include "work.h"

/* ---- coming to a node ---- */

bool frame_leaves_engine(const Frame *f, const Node *node) {
    const NodeWork *work = work_of(f, node);
    return node->kind->id == KIND_SLEEP || (work && !work->pure);
}

static Json wait_outside(Frame *f, const Node *node, Error *err) {
    const NodeWork *work = work_of(f, node);
    if (!work || !work->keeps_time) start_clock(f, node->timeout_ms);
    return node->kind->id == KIND_SLEEP
               ? WAIT_FOR(WAIT_SLEEP, json_int(f->since + node->params[SLEEP_FOR].number))
               : work_wait(f, node, err);
}

/* What the frame waits for at the node it has come to. Work outside gets the name of its place here,
 * so that the record that brings the frame to it also is the record that leads to it; only a debugger, or
 * the one that the run is held for, must have looked first, and the limit of steps must not be reached. */
void frame_arrive(Frame *f, bool passed) {
    const Level *l = frame_top(f);
    const Node *node = l->node;
    f->since = engine_time(f->run->engine);
    if (!node || (node->interrupt_before && !passed)) {
        frame_set_wait(f, json_null());
        return;
    }
    const NodeWork *work = work_of(f, node);
    bool looks = run_hooks(f->run) || f->run->asleep;
    if (!looks && !f->injections && !node->task && !(work && work->prepare) &&
        frame_leaves_engine(f, node) && work_is_allowed(f, node, NULL) &&
        l->steps < l->graph->recursion_limit) { /* nothing has to be made first */
        frame_set_wait(f, wait_outside(f, node, NULL));
    } else {
        frame_set_wait(f, node->interrupt_before ? wait_of(WAIT_GO) : json_null());
    }
}

void frame_land(Frame *f, const Node *node, bool passed) {
    Level *l = frame_top(f);
    bool lowest = f->nlevels == 1;
    f->taken = false;
    if (f->injections) inject_drop_level(f);
    if (lowest && f->is_branch && node == f->join) node = NULL;
    l->node = node;
    frame_mark(f);
    if (node || !lowest) {
        frame_arrive(f, passed);
    } else if (f->parent) {
        control_child_ended(f);
    } else {
        frame_set_wait(f, wait_of(WAIT_DONE));
        run_status_change(&f->run->status, RUN_COMPLETES);
    }
}

void frame_take_edge(Frame *f, const Edge *edge) {
    const Graph *graph = frame_top(f)->graph;
    if (edge->parallel || edge->ntargets > 1) {
        frame_fork(f, edge);
    } else {
        int target = edge->targets[0];
        frame_land(f, target == NODE_END ? NULL : &graph->nodes[target], false);
    }
}

/* ---- the edge after a node ---- */

static bool is_truth(Json j) {
    return json_tag(j) == JSON_TAG_TRUE || json_tag(j) == JSON_TAG_FALSE;
}

/* NULL with *err set: there is none. NULL and frame_goes_on(): it has not come to an end, and is called again
 * in a later turn; conditions that did not hold are behind it then. */
static const Edge *choose_edge(Frame *f, Edges edges, Error *err) {
    Level *l = frame_top(f);
    for (size_t i = frame_goes_on(f) ? f->step->edge : 0; i < edges.n; i++) {
        const Edge *edge = &edges.items[i];
        if (!edge->when) return edge;
        Json holds = l->node ? frame_eval_slice(f, &(Sliced){edge->when, l->state, .edge = i}, err)
                             : evaluator_run(f->run->evaluator, edge->when, l->state, NULL, err);
        if (frame_goes_on(f)) return NULL;
        bool taken = json_truthy(holds), failed = json_is_none(holds);
        if (failed) {
            choice_failed(f, i, err, !i);
        } else if (f->run->nchoices || !is_truth(holds)) { /* seldom */
            choice_tried(f, i, holds, !i);
        }
        json_unref(holds);
        if (failed) {
            error_wrap(err, "the condition of an edge from `%s`",
                       l->node ? l->node->name : "__start__");
            return NULL;
        }
        if (taken) return edge;
    }
    if (edges.n) choice_failed(f, edges.n - 1, NULL, false);
    error_set(
        err, ERR_DATA,
        "None of the edges from `%s` holds; an edge without `when` at the end would catch this.",
        l->node ? l->node->name : "__start__");
    return NULL;
}

bool frame_go_on(Frame *f) {
    Error err = ERROR_INIT;
    const Level *l = frame_top(f);
    if (l->graph->scoped) return task_go_on(f);
    const Edges *edges = l->node ? &l->node->edges : &l->graph->start;
    const Edge *edge = choose_edge(f, *edges, &err);
    if (!edge) {
        frame_set_wait(f, wait_of(WAIT_AFTER));
        if (frame_goes_on(f)) {
            frame_schedule(f);
        } else {
            frame_fail(f, fail_error(f, l->node, "edge", &err, json_none()), FAIL_AFTER);
        }
        return false;
    }
    choice_made(f, edges, edge, false);
    frame_take_edge(f, edge);
    return true;
}

/* ---- results ---- */

/* The object that a result is merged as; JSON_NONE when it cannot be. */
static Json update_of(const Node *node, Json result, Error *err) {
    JsonKind kind = json_kind(result);
    if (!json_is_none(node->output)) {
        return json_object_set(json_object(), json_ref(node->output), json_ref(result));
    }
    if (kind == JSON_OBJECT || kind == JSON_NULL) {
        return kind == JSON_NULL ? json_object() : json_ref(result);
    }
    if (node->wraps) return OBJECT(KEY("result", json_ref(result)));
    char text[JSON_DESCRIBE_MAX];
    error_set(err, ERR_DATA,
              "The result is %s %s, which needs a place in the state: say `output: NAME`, or give "
              "back an object.",
              json_kind(result) == JSON_ARRAY ? "an" : "a", json_describe(result, text));
    return json_none();
}

/* A node that was injected writes as one of the graph it was put into: the reducers of that hold. A shell's
 * stdout and exit code without `output` are no writes that two branches could fight over. */
static bool reduces(const Graph *graph) {
    for (size_t i = 0; i < graph->nkeys; i++) {
        if (graph->keys[i].reduce != REDUCE_REPLACE) return true;
    }
    return false;
}

bool frame_merge(Frame *f, Json update, Error *err) {
    Level *l = frame_top(f), *keys = l;
    const Node *node = l->node;
    while (keys->injected) keys--;
    bool casual = node->kind->id == KIND_SHELL && json_is_none(node->output) &&
                  json_is_none(node->params[SHELL_PARSE].value);
    Json writer = casual ? json_null() : node->name_json;
    if (!reduces(keys->graph) && level_has_room(f->run, l, update)) { /* nothing to go back for */
        return reduce_update(keys->graph, f->run->evaluator, update, writer, &l->state, &l->writes,
                             err);
    }
    LevelKept kept = level_keep(l);
    bool ok =
        reduce_update(keys->graph, f->run->evaluator, update, writer, &l->state, &l->writes, err) &&
        level_fits(f->run, l, kept, err);
    return level_settle(l, kept, ok);
}

static void finish_again(Frame *f);

void frame_count_step(Frame *f) {
    Level *l = frame_top(f);
    level_begin_node(l);
    l->steps++;
    f->run->step++;
    frame_mark(f);
}

/* How the end of a node is recorded. */
static const char *end_word(Frame *f) {
    bool skipped = f->skipped;
    f->skipped = false;
    return skipped ? "skipped" : "completed";
}

static void finish_element(Frame *f, Json result) {
    const Node *node = frame_top(f)->node;
    const char *word = end_word(f);
    frame_count_step(f);
    json_put(&f->result, json_ref(result));
    if (!park_passes(f, node) && park_after(f, node, word, (StepResult){.update = result})) return;
    frame_land(f, NULL, false);
    run_record(f->run, f, node, word, result);
}

void frame_finished(Frame *f, Json update) {
    Run *run = f->run;
    const Node *node = frame_top(f)->node;
    Error err;
    error_clear(&err); /* not all of it: this is the hot path */
    if (inject_stands_in(f)) {
        inject_done(f, (StepResult){.update = update});
        return;
    }
    LevelAt at = {f->id, f->nlevels - 1};
    const char *word = end_word(f);
    frame_count_step(f);
    if (!park_passes(f, node) && park_after(f, node, word, (StepResult){.update = update})) return;
    bool taken = f->taken; /* with what was said when it stopped */
    f->taken = false;
    if (node->interrupt_after && !taken) {
        frame_set_wait(f, wait_of(WAIT_AFTER));
        run_record(run, f, node, word, update);
        frame_interrupt(f, "after", json_null(), json_null(), json_none());
        return;
    }
    if (f->injections && inject_after(f)) {
        frame_record_result(f, node, word, (StepResult){.update = update, .at = at});
        return;
    }
    const Edge *edge = choose_edge(f, node->edges, &err);
    if (!edge) {
        frame_set_wait(f, wait_of(WAIT_AFTER));
        run_record(run, f, node, word, update);
        if (frame_goes_on(f)) {
            frame_schedule(f);
        } else {
            frame_fail(f, fail_error(f, node, "edge", &err, json_none()), FAIL_AFTER);
        }
        return;
    }
    choice_made(f, &node->edges, edge, false);
    frame_take_edge(f, edge);
    frame_record(f, node, word, update);
}

/* The result of a pipeline's step is what the state has of it: {steps: {ID: ...}}. */
static Json step_result(const Node *node, Json output) {
    Json steps =
        json_kind(output) == JSON_OBJECT ? json_object_get_c(output, "steps") : json_none();
    bool whole =
        json_kind(steps) == JSON_OBJECT && !json_is_none(json_object_get(steps, node->name_json));
    return whole ? json_ref(output)
                 : OBJECT(KEY("steps", json_object_set(json_object(), json_ref(node->name_json),
                                                       json_ref(output))));
}

void frame_skip(Frame *f, Json output) {
    const Node *node = frame_top(f)->node;
    f->skipped = true;
    if (node->task) {
        task_skip(f, output);
    } else if (!json_is_none(output) && node->kind->dialect == DIALECT_PIPELINE) {
        frame_finish(f, step_result(node, output));
    } else if (!json_is_none(output)) {
        frame_finish(f, json_ref(output));
    } else if (f->is_element && f->nlevels == 1) {
        finish_element(f, json_null());
    } else {
        frame_finished(f, json_object());
    }
}

/* Puts an update into the state, through the reducers. Consumes it. */
static void finish_reducing(Frame *f, Json update) {
    Error err;
    Replay replay = {0};
    error_clear(&err);
    frame_replay_begin(f, &replay);
    bool merged = frame_merge(f, update, &err);
    if (!frame_replay_end(f, &replay, finish_again)) {
        json_put(&f->step->result, update);
        return;
    }
    if (merged) {
        frame_finished(f, update);
        return;
    }
    json_unref(update);
    if (replay.is_late) {
        frame_fail_late(f);
    } else {
        frame_fail_with(f, err.code == ERR_LIMIT ? "limit" : "reduce", &err);
    }
}

static void finish_again(Frame *f) {
    finish_reducing(f, json_ref(f->step->result));
}

/* Merges an update, or fails. Consumes it. */
static void finish_with(Frame *f, Json update) {
    Error err;
    error_clear(&err);
    const Level *keys = frame_top(f);
    while (keys->injected) keys--;
    if (reduces(keys->graph)) {
        finish_reducing(f, update);
    } else if (frame_merge(f, update, &err)) {
        frame_finished(f, update);
    } else {
        json_unref(update);
        frame_fail_with(f, "limit", &err);
    }
}

static void give_again(Frame *f);

/* What the node says that becomes of its result. Consumes it. */
static void finish_giving(Frame *f, Json result) {
    Error err = ERROR_INIT;
    Replay replay = {0};
    const Level *l = frame_top(f);
    frame_replay_begin(f, &replay);
    Json update = evaluator_run(f->run->evaluator, l->node->gives, l->state, &result, &err);
    if (!frame_replay_end(f, &replay, give_again)) {
        json_put(&f->step->result, result);
        return;
    }
    json_unref(result);
    if (json_kind(update) == JSON_OBJECT) {
        finish_with(f, update);
        return;
    }
    json_unref(update);
    error_wrap(&err, "`output`");
    frame_fail_with(f, "result", &err);
}

static void give_again(Frame *f) {
    finish_giving(f, json_ref(f->step->result));
}

void frame_finish(Frame *f, Json result) {
    const Node *node = frame_top(f)->node;
    Error err;
    error_clear(&err);
    bool kept = node->task || (f->is_element && f->nlevels == 1); /* beside what others left */
    if (!value_fits(f->run->engine, result, "The result", &err) ||
        (kept && !value_fits_beside(f->run, result, &err))) {
        json_unref(result);
        frame_fail_with(f, "limit", &err);
        return;
    }
    if (node->task) {
        task_finish(f, result);
        return;
    }
    if (f->is_element && f->nlevels == 1) {
        finish_element(f, result);
        return;
    }
    if (node->gives) {
        finish_giving(f, result);
        return;
    }
    Json update = update_of(node, result, &err);
    json_unref(result);
    if (json_is_none(update)) {
        frame_fail_with(f, "result", &err);
    } else {
        finish_with(f, update);
    }
}

/* ---- stopping for a person ---- */

void frame_interrupt(Frame *f, const char *reason, Json prompt, Json options, Json rest) {
    Run *run = f->run;
    const Node *node = frame_top(f)->node;
    Json id = json_string_fmt("i%lld", (long long)run->last + 1);
    Json wait = WAIT_FOR(WAIT_INTERRUPT, json_ref(id), json_string_c(reason), json_ref(prompt),
                         json_ref(options));
    frame_set_wait(f, json_is_none(rest) ? wait : json_array_concat(wait, rest));
    int64_t at = run_record(run, f, node, "interrupted", json_none());
    if (run_wants(run, EVENT_INTERRUPT)) {
        Json data = OBJECT(KEY("id", json_ref(id)), KEY("reason", reason),
                           KEY("prompt", json_ref(prompt)), KEY("options", json_ref(options)));
        engine_tell(run, f,
                    (Event){.type = EVENT_INTERRUPT,
                            .at = at,
                            .node = node->name,
                            .status = reason,
                            .state = frame_sees(f),
                            .data = data});
    }
    json_unref(id);
    json_unref(prompt);
    json_unref(options);
    frame_schedule(f);
}

/* ---- one step ---- */

/* Marks in seen every node that can be come to from the ones that are marked already. */
static void spread(const Graph *g, bool *seen) {
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < g->nnodes; i++) {
            for (size_t e = 0; seen[i] && e < g->nodes[i].edges.n; e++) {
                const Edge *edge = &g->nodes[i].edges.items[e];
                for (size_t k = 0; k < edge->ntargets; k++) {
                    bool fresh = edge->targets[k] != NODE_END && !seen[edge->targets[k]];
                    more = more || fresh;
                    if (fresh) seen[edge->targets[k]] = true;
                }
            }
        }
    }
}

/* The nodes that lie on a way from this node back to itself: the first of them, for a sentence. */
static void name_cycle(const Node *node, Buf *out) {
    enum { NAMES_MAX = 8, GRAPH_MAX = 2000 };
    const Graph *g = node->graph;
    if (node->index < 0 || g->nnodes > GRAPH_MAX) return;
    bool *seen = mem_zalloc(2 * g->nnodes * sizeof *seen), *from = seen + g->nnodes;
    size_t names = 0, at = (size_t)node->index;
    seen[at] = true;
    spread(g, seen);
    for (size_t i = 0; i < g->nnodes && names < NAMES_MAX; i++) {
        memset(from, 0, g->nnodes * sizeof *from);
        from[i] = seen[i];
        spread(g, from);
        if (from[at]) buf_printf(out, "%s`%s`", names++ ? ", " : "", g->nodes[i].name);
    }
    mem_free(seen);
}

static void fail_recursion(Frame *f) {
    Error err = ERROR_INIT;
    Buf names = BUF_INIT;
    name_cycle(frame_top(f)->node, &names);
    error_set(&err, ERR_LIMIT,
              "More than %lld steps (recursion_limit): is there a way out of the cycle through %s? "
              "If so, set config.recursion_limit higher.",
              (long long)frame_top(f)->graph->recursion_limit,
              names.len ? names.data : frame_top(f)->node->name);
    buf_clear(&names);
    frame_fail(f, fail_error(f, frame_top(f)->node, "recursion", &err, json_none()), FAIL_LEVEL);
}

static void begin_node_again(Frame *f);

static void begin_node(Frame *f, const Node *node) {
    if (!work_is_allowed(f, node, NULL)) {
        Error err = ERROR_INIT;
        work_is_allowed(f, node, &err);
        frame_fail_with(f, "forbidden", &err);
        return;
    }
    if (node->task) {
        task_begin(f);
        return;
    }
    if (frame_leaves_engine(f, node)) {
        Error err = ERROR_INIT;
        Replay replay = {0};
        f->since = engine_time(f->run->engine);
        frame_replay_begin(f, &replay);
        Json wait = wait_outside(f, node, &err);
        if (!frame_replay_end(f, &replay, begin_node_again)) return;
        if (json_is_none(wait)) {
            frame_fail_with(f, "prepare", &err);
        } else {
            frame_set_wait(f, wait);
            frame_record(f, node, "started", json_none());
        }
        return;
    }
    frame_tell_node(f, node);
    void (*begin)(Frame *, const Node *) = steering_of(node)->begin;
    (begin ? begin : work_begin_pure)(f, node);
}

static void begin_node_again(Frame *f) {
    begin_node(f, frame_top(f)->node);
}

void frame_go_on_after(Frame *f) {
    const Node *node = frame_top(f)->node;
    if (frame_go_on(f)) frame_record(f, node, "resumed", json_none());
}

/* The node was done, and a debugger has looked: what it stops for itself comes next. */
void frame_go_on_finished(Frame *f) {
    const Node *node = frame_top(f)->node;
    bool taken = f->taken;
    f->taken = false;
    if (node && node->interrupt_after && !taken) {
        frame_interrupt(f, "after", json_null(), json_null(), json_none());
    } else if (f->injections && inject_after(f)) {
        frame_record(f, node, "injected", json_none()); /* its work may be outside */
    } else {
        frame_go_on_after(f);
    }
}

void frame_go_on_ended(Frame *f) {
    const Node *node = frame_top(f)->node;
    json_put(&f->result, json_ref(json_array_get(f->wait, WAIT_RESULT)));
    frame_set_wait(f, json_null());
    frame_land(f, NULL, false);
    run_record(f->run, f, node, "ended", json_none());
}

void frame_advance(Frame *f) {
    Level *l = frame_top(f);
    bool passed = f->waits == WAIT_GO;
    if (f->step && f->step->go_on) {
        f->step->go_on(f);
        return;
    }
    if (wait_rows[f->waits].go_on) {
        wait_rows[f->waits].go_on(f);
        return;
    }
    if (!l->node) {
        control_level_done(f);
        return;
    }
    if (!passed && !park_passes(f, l->node) && park_before(f)) return;
    bool asks = l->node->interrupt_before && !passed;
    if (f->injections && inject_before(f, asks)) return;
    if (asks) {
        frame_interrupt(f, "before", json_null(), json_null(), json_none());
    } else if (l->steps >= l->graph->recursion_limit) {
        fail_recursion(f);
    } else {
        begin_node(f, l->node);
    }
}
