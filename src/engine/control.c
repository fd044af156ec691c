/* control.c - the kinds that steer: approval, workflow, while, map; and parallel edges.
 *
 * They make levels (a graph inside a node) and frames (branches, elements of a map). What a level or a
 * frame leaves behind is taken over here when it ends. */
#include "control.h"

#include "advance.h"
#include "fail.h"
#include "image_read.h"
#include "inject.h"
#include "record.h"
#include "reduce.h"
#include "result.h"
#include "schedule.h"
#include "steer.h"
#include "tasks.h"
#include "work.h"

#include <string.h>

/* ---- state of a graph ---- */

Json graph_initial_state(const Graph *g, Json input) {
    if (!g->nkeys && json_kind(input) == JSON_OBJECT) {
        return json_ref(input); /* the very same, which costs nothing to record */
    }
    Json state = json_object();
    for (size_t i = 0; i < g->nkeys; i++) {
        if (!json_is_none(g->keys[i].initial)) {
            state = json_object_set(state, json_ref(g->keys[i].name), json_ref(g->keys[i].initial));
        }
    }
    return json_object_merge(state, input);
}

bool is_input(Json input, Error *err) {
    JsonKind kind = json_kind(input);
    return kind == JSON_OBJECT ||
           error_set(err, ERR_DATA, "The input of a workflow is an object; this one is a%s %s.",
                     kind == JSON_ARRAY ? "n" : "", json_kind_name(kind));
}

/* ---- expressions that say how a node begins ---- */

static void begin_again(Frame *f) {
    const Node *node = frame_top(f)->node;
    steering_of(node)->begin(f, node);
}

/* frame_goes_on(): the node begins again in a later turn, and comes here. */
static Json eval_to_begin(Frame *f, const Expr *expr, Error *err) {
    Json vars[FRAME_VARS_MAX];
    const Level *l = frame_top(f);
    Sliced what = {expr, l->state, frame_variables(f, l->node, vars), .again = begin_again};
    Json value = frame_eval_slice(f, &what, err);
    if (!json_is_none(value) && !value_fits(f->run->engine, value, "The value", err)) {
        json_clear(&value);
    }
    return value;
}

/* ---- approval ---- */

static void approval_begin(Frame *f, const Node *node) {
    Error err = ERROR_INIT;
    const Param *prompt = &node->params[APPROVAL_PROMPT];
    Json text = json_null();
    if (prompt->expr) text = eval_to_begin(f, prompt->expr, &err);
    if (frame_goes_on(f)) return;
    if (json_is_none(text)) {
        frame_fail_with(f, "jq", &err);
        return;
    }
    start_clock(f, node->timeout_ms);
    Json options = node->params[APPROVAL_OPTIONS].value;
    frame_interrupt(f, "approval", text, json_is_none(options) ? json_array() : json_ref(options),
                    json_none());
}

/* ---- a graph inside a node ---- */

/* False when its first edge cannot be chosen: then the frame has failed, and may be gone. */
static bool enter(Frame *f, const Graph *graph, Json state) {
    level_push(f, graph, state, true);
    return frame_go_on(f);
}

static void workflow_begin(Frame *f, const Node *node) {
    Error err = ERROR_INIT;
    const Expr *expr = node->params[WORKFLOW_INPUT].expr;
    Json state = frame_top(f)->state;
    Json input = expr ? eval_to_begin(f, expr, &err) : json_ref(state);
    if (frame_goes_on(f)) return;
    if (json_is_none(input) || !is_input(input, &err)) {
        json_unref(input);
        frame_fail_with(f, "input", &err);
        return;
    }
    const Graph *graph = node->params[WORKFLOW_FILE].graph;
    start_clock(f, node_time_ms(node));
    if (enter(f, graph, graph_initial_state(graph, input))) {
        frame_record(f, node, "entered", json_none());
    }
    json_unref(input);
}

/* Merged into the state around it, a key with a reducer there takes what was added to it and not the
 * whole, which it may have handed in itself. */
static void workflow_done(Frame *f) {
    Error err = ERROR_INIT;
    Level inner = *frame_top(f);
    Level *l = frame_top(f) - 1;
    LevelKept kept = level_keep(l);
    bool whole = (f->is_element && f->nlevels == 2) || !json_is_none(l->node->output);
    Replay replay = {0};
    frame_replay_begin(f, &replay);
    bool ok = whole || (reduce_inner(l, &inner, f->run->evaluator, &err) &&
                        level_fits(f->run, l, kept, &err));
    ok = level_settle(l, kept, ok);
    if (!frame_replay_end(f, &replay, workflow_done)) return;
    Json result = reduce_result(inner.writes, inner.state);
    f->nlevels--;
    frame_set_wait(f, json_null());
    if (!ok) {
        json_unref(result);
        frame_fail_with(f, err.code == ERR_LIMIT ? "limit" : "reduce", &err);
    } else {
        (whole ? frame_finish : frame_finished)(f, result);
    }
    json_unref(inner.state);
    json_unref(inner.writes);
}

/* ---- while ---- */

/* What a loop gives back. Its nodes write the state that it is in; an element of a map has one of its own,
 * which ends with it, so there it gives what they have written. */
static Json while_result(const Frame *f) {
    const Level *l = frame_top(f);
    return f->is_element && f->nlevels == 1 ? reduce_result(l->writes, l->state) : json_null();
}

/* After the first, a turn needs no record of its own when it begins with pure work: that comes with the
 * next one. */
static void while_begin(Frame *f, const Node *node) {
    Error err = ERROR_INIT;
    Json holds = eval_to_begin(f, node->params[WHILE_CONDITION].expr, &err);
    if (frame_goes_on(f)) return;
    if (json_is_none(holds)) {
        frame_fail_with(f, "jq", &err);
        return;
    }
    int64_t most = node->params[WHILE_MAX].number;
    bool again = json_truthy(holds), at_limit = frame_top(f)->count >= most;
    json_unref(holds);
    if (again && at_limit && json_string_is(node->params[WHILE_AT_LIMIT].value, "error")) {
        error_set(&err, ERR_LIMIT,
                  "The condition still holds after %lld round%s: set max_iterations higher, or say "
                  "`at_limit: stop` if the loop may end there.",
                  (long long)most, most == 1 ? "" : "s");
        frame_fail_with(f, "recursion", &err);
        return;
    }
    if (!again || at_limit) {
        frame_set_wait(f, json_null());
        frame_finish(f, while_result(f));
        return;
    }
    start_clock(f, node->timeout_ms);
    frame_top(f)->count++;
    if (!enter(f, node->params[WHILE_DO].graph, json_ref(frame_top(f)->state))) return;
    if (json_kind(f->wait) == JSON_NULL && f->levels[f->nlevels - 2].count > 1) {
        frame_schedule(f);
    } else {
        frame_record(f, node, "entered", json_none());
    }
}

bool level_leave_shared(Frame *f, Error *err) {
    Level inner = *frame_top(f);
    Level *l = frame_top(f) - 1;
    Json ignored = json_ref(inner.state), writes = json_ref(l->writes);
    bool ok = json_is_none(writes) ||
              (reduce_writes(l->graph, f->run->evaluator, inner.writes, &ignored, &writes, err) &&
               value_fits(f->run->engine, writes, "What was written to the state", err));
    json_unref(ignored);
    if (evaluator_is_later(f->run->evaluator)) {
        json_unref(writes);
        return false;
    }
    f->nlevels--;
    json_put(&l->writes, writes);
    json_put(&l->state, inner.state);
    json_unref(inner.writes);
    frame_mark(f);
    return ok;
}

/* The loop shares the state of the level that it is in. */
static void while_turn_done(Frame *f) {
    Error err = ERROR_INIT;
    int64_t steps = frame_top(f)->steps;
    bool writes = !json_is_none(frame_top(f)[-1].writes);
    Replay replay = {0};
    if (writes) frame_replay_begin(f, &replay);
    bool ok = level_leave_shared(f, &err);
    if (writes && !frame_replay_end(f, &replay, while_turn_done)) return;
    Level *l = frame_top(f);
    l->steps += steps;
    if (!ok) {
        frame_fail_with(f, "reduce", &err);
    } else if (l->steps >= l->graph->recursion_limit) {
        frame_set_wait(f, wait_of(WAIT_GO));
        frame_schedule(f);
    } else {
        while_begin(f, l->node);
    }
}

/* ---- parallel edges ---- */

static const Node *node_at(const Graph *g, int index) {
    return index == NODE_END ? NULL : &g->nodes[index];
}

/* All branches are there before the first of them lands: it may end at once, when its target is the
 * join itself. */
void frame_fork(Frame *f, const Edge *edge) {
    const Graph *graph = frame_top(f)->graph;
    const Node *join = node_at(graph, edge->join);
    Json writes = json_array(), targets = json_array();
    Frame *before = f->run->last_frame;
    for (size_t i = 0; i < edge->ntargets; i++) {
        const Node *target = node_at(graph, edge->targets[i]);
        writes = json_array_push(writes, json_null());
        targets = json_array_push(targets, target ? json_ref(target->name_json) : json_null());
        Frame *child = frame_new(f->run, f, (uint32_t)i);
        child->is_branch = true;
        child->join = join;
        Level *l = frame_top(f);
        level_push(child, graph, json_ref(l->state), true)->steps = l->steps;
        f->children++;
    }
    frame_set_wait(
        f, WAIT_FOR(WAIT_JOIN, join ? json_ref(join->name_json) : json_null(), writes, targets));
    for (Frame *child = before->next, *next; child; child = next) {
        next = child->next;
        frame_land(child, node_at(graph, edge->targets[child->branch]), false);
        if (!child->gone) frame_schedule(child);
    }
}

/* The edge that the branches came from merges nothing of theirs. */
static bool join_gathers(const Level *l, const Node *join, size_t branches) {
    const Edges *edges = l->node ? &l->node->edges : &l->graph->start;
    for (size_t i = 0; i < edges->n; i++) {
        const Edge *edge = &edges->items[i];
        if (edge->gathers && edge->ntargets == branches && node_at(l->graph, edge->join) == join) {
            return true;
        }
    }
    return false;
}

/* What each branch ended with, as `parallel_results` of the state. */
static bool gather_branches(Frame *f, Json all, Error *err) {
    Level *l = frame_top(f);
    Json targets = json_array_get(f->wait, WAIT_JOIN_TARGETS), results = json_array();
    bool ok = true;
    for (size_t i = 0; ok && i < json_array_len(all); i++) {
        Json state = json_ref(l->state), writes = json_none();
        ok = reduce_writes(l->graph, f->run->evaluator, json_array_get(all, i), &state, &writes,
                           err);
        Json one = OBJECT(KEY("branch", json_ref(json_array_get(targets, i))),
                          KEY("success", json_bool(true)), KEY("state", state),
                          KEY("error", json_null()), KEY("timing_ms", json_null()));
        results = json_array_push(results, one);
        json_unref(writes);
    }
    Json update = OBJECT(KEY("parallel_results", results));
    ok = ok && reduce_update(l->graph, f->run->evaluator, update, json_null(), &l->state,
                             &l->writes, err);
    json_unref(update);
    return ok;
}

void join_branches(Frame *f) {
    Level *l = frame_top(f);
    Error err = ERROR_INIT;
    Json all = json_ref(json_array_get(f->wait, WAIT_JOIN_WRITES));
    LevelKept kept = level_keep(l);
    Json name = json_array_get(f->wait, WAIT_JOIN_NODE);
    const Node *join = json_kind(name) == JSON_STRING ? graph_node(l->graph, name) : NULL;
    Replay replay = {0};
    frame_replay_begin(f, &replay);
    bool gathers = join_gathers(l, join, json_array_len(all));
    bool ok = gathers ? gather_branches(f, all, &err) : reduce_no_conflict(l->graph, all, &err);
    for (size_t i = 0; ok && !gathers && i < json_array_len(all); i++) {
        ok = reduce_writes(l->graph, f->run->evaluator, json_array_get(all, i), &l->state,
                           &l->writes, &err);
    }
    ok = ok && level_fits(f->run, l, kept, &err);
    json_unref(all);
    bool settled = level_settle(l, kept, ok);
    if (!frame_replay_end(f, &replay, join_branches)) return;
    if (!settled) {
        const char *kind = err.code == ERR_LIMIT ? "limit" : "join";
        if (!join && l->node && !err.line) { /* they join at the end, which has no place */
            err.line = l->node->line;
            err.col = l->node->col;
        }
        frame_fail(f, fail_error(f, join, kind, &err, json_none()), FAIL_JOIN);
        return;
    }
    frame_land(f, join, false);
    frame_record(f, join, "joined", json_none());
}

/* ---- map ---- */

void element_init(Frame *f) {
    Json over = json_array_get(f->parent->wait, WAIT_MAP_OVER);
    Json item = json_array_get(over, f->branch);
    f->is_element = true;
    f->vars = json_array_push(f->vars, json_is_none(item) ? json_null() : json_ref(item));
    f->vars = json_array_push(f->vars, json_int(f->branch));
}

static void add_element(Frame *f, const Node *map) {
    int64_t i = image_int(f->wait, WAIT_MAP_NEXT);
    Frame *child = frame_new(f->run, f, (uint32_t)i);
    element_init(child);
    const Node *body = map->params[MAP_DO].node;
    level_push(child, map->graph, json_ref(frame_top(f)->state), body->kind->id == KIND_WHILE);
    f->wait = json_array_set(f->wait, WAIT_MAP_NEXT, json_int(i + 1));
    f->children++;
    frame_mark(f);
    frame_land(child, body, false);
    frame_schedule(child);
}

/* The array, and how many run at once. */
static Json map_over(Frame *f, const Node *node, int64_t *limit, Error *err) {
    const Expr *over = node->params[MAP_OVER].expr, *most = node->params[MAP_LIMIT].expr;
    *limit = node->params[MAP_LIMIT].number;
    if (!most) return eval_to_begin(f, over, err);
    Json state = frame_top(f)->state, count = json_none();
    Replay replay = {0};
    frame_replay_begin(f, &replay);
    Json array = evaluator_run(f->run->evaluator, over, state, NULL, err);
    if (!json_is_none(array)) count = evaluator_run(f->run->evaluator, most, state, NULL, err);
    if (!frame_replay_end(f, &replay, begin_again) || json_is_none(count)) json_clear(&array);
    if (json_tag(count) == JSON_TAG_INT && count.i > 0) *limit = count.i;
    json_unref(count);
    return array;
}

static void map_begin(Frame *f, const Node *node) {
    Error err = ERROR_INIT;
    int64_t limit;
    Json over = map_over(f, node, &limit, &err);
    if (frame_goes_on(f)) return;
    if (json_kind(over) != JSON_ARRAY) {
        if (!json_is_none(over)) {
            error_set(&err, ERR_DATA, "`over` is to give an array; it gives a%s %s.",
                      json_kind(over) == JSON_OBJECT ? "n" : "", json_kind_name(json_kind(over)));
        }
        json_unref(over);
        frame_fail_with(f, "map", &err);
        return;
    }
    size_t n = json_array_len(over);
    if (n == 0) {
        json_unref(over);
        frame_set_wait(f, json_null());
        frame_finish(f, json_array());
        return;
    }
    start_clock(f, node->timeout_ms);
    frame_set_wait(f, WAIT_FOR(WAIT_MAP, over, json_int(0), json_array(), json_int(0)));
    for (size_t i = 0; i < n && (int64_t)i < limit; i++) add_element(f, node);
    frame_record(f, node, "entered", json_none());
}

void map_done(Frame *f) {
    Json results = json_ref(json_array_get(f->wait, WAIT_MAP_RESULTS));
    frame_set_wait(f, json_null());
    frame_finish(f, results);
}

/* ---- branches whose failures are results ---- */

/* The time, as a level's count holds it: it starts anew every 24 days. */
static int begun_at(const Frame *f) {
    return (int)(engine_time(f->run->engine) & INT32_MAX);
}

/* Consumes state and error. */
static Json branch_result(const Frame *f, const Node *node, Json state, Json error) {
    bool ok = json_is_none(error);
    int64_t ms = begun_at(f) - frame_top(f)->count;
    ms += ms < 0 ? (int64_t)INT32_MAX + 1 : 0;
    Json name = json_string_fmt("%.*s[%u]", (int)strlen(node->name) - 2, node->name, f->branch);
    return OBJECT(KEY("branch", name), KEY("success", json_bool(ok)), KEY("state", state),
                  KEY("error", ok ? json_null() : error), KEY("timing_ms", json_int(ms)));
}

/* What the element is, and its number, by the names that the node has for them. Consumes state. */
static Json with_element(const Frame *f, const Node *node, Json state) {
    Json item = json_array_get(f->vars, json_array_len(f->vars) - 2);
    if (json_array_len(f->vars) < 2) item = json_null();
    state = json_object_set(state, json_ref(node->params[BRANCH_ITEM_VAR].value), json_ref(item));
    return json_object_set(state, json_ref(node->params[BRANCH_INDEX_VAR].value),
                           json_int(f->branch));
}

/* Whether a branch beside it has failed. */
static bool another_failed(const Frame *f) {
    Json all =
        f->parent ? json_array_get(f->parent->wait, wait_rows[f->parent->waits].left) : json_none();
    for (size_t i = 0; json_kind(all) == JSON_ARRAY && i < json_array_len(all); i++) {
        Json one = json_array_get(all, i);
        if (json_kind(one) == JSON_OBJECT &&
            json_kind(json_object_get_c(one, "success")) == JSON_FALSE) {
            return true;
        }
    }
    return false;
}

static void branch_begin(Frame *f, const Node *node) {
    frame_top(f)->count = begun_at(f);
    if (node->params[BRANCH_FAIL_FAST].number && another_failed(f)) {
        frame_set_wait(f, json_null());
        frame_finish(
            f, branch_result(f, node, json_object(), json_string_c("Cancelled due to fail_fast")));
        return;
    }
    Json state = with_element(f, node, json_ref(frame_top(f)->state));
    level_push(f, node->params[BRANCH_STEPS].graph, state, false);
    if (frame_go_on(f)) frame_record(f, node, "entered", json_none());
}

static void branch_done(Frame *f) {
    Json state = json_ref(frame_top(f)->state);
    level_pop(f);
    frame_set_wait(f, json_null());
    const Node *node = frame_top(f)->node;
    frame_finish(f, branch_result(f, node, with_element(f, node, state), json_none()));
}

Json branch_failed(const Frame *f, const Node *node, Json error) {
    Json message = json_object_get_c(error, "message");
    return branch_result(f, node, with_element(f, node, json_object()), json_ref(message));
}

/* ---- ends ---- */

void control_child_ended(Frame *child) {
    Frame *f = child->parent;
    if (child->is_task) {
        task_child_ended(child);
        return;
    }
    Json left = child->is_element ? child->result : frame_top(child)->writes;
    size_t at = wait_rows[f->waits].left;
    Json all = json_ref(json_array_get(f->wait, at));
    f->children--;
    left = json_is_none(left) ? json_null() : json_ref(left);
    f->wait = json_array_set(f->wait, at, json_array_set(all, child->branch, left));
    if (child->is_element) {
        int64_t done = image_int(f->wait, WAIT_MAP_DONE) + 1;
        f->wait = json_array_set(f->wait, WAIT_MAP_DONE, json_int(done));
        size_t n = json_array_len(json_array_get(f->wait, WAIT_MAP_OVER));
        if (image_int(f->wait, WAIT_MAP_NEXT) < (int64_t)n) add_element(f, frame_top(f)->node);
    }
    frame_mark(f);
    frame_remove(child);
    if (!f->children && f->status == FRAME_HOLDING) frame_schedule(f);
}

void control_level_done(Frame *f) {
    if (frame_top(f)->injected) {
        inject_done(f, (StepResult){.update = json_none()});
    } else if (frame_top(f)->graph->scoped) {
        task_level_done(f);
    } else if (f->nlevels == 1) { /* as no run comes to stand: the record was made up */
        frame_land(f, NULL, false);
        run_record(f->run, f, NULL, "ended", json_none());
    } else {
        steering_of(f->levels[f->nlevels - 2].node)->level_done(f);
    }
}

const Steering steer_approval = {.begin = approval_begin};
const Steering steer_workflow = {.begin = workflow_begin, .level_done = workflow_done};
const Steering steer_while = {.begin = while_begin, .level_done = while_turn_done};
const Steering steer_map = {.begin = map_begin};
const Steering steer_branch = {.begin = branch_begin, .level_done = branch_done};
