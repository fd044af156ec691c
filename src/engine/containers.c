/* containers.c - tasks that hold tasks.
 *
 * Those that hold a list run it on a level of their own in the same frame, and take the verdict of the
 * list when it ends (list_done of steer.h). Those whose tasks run at the same time make a frame for each
 * and hold; what the children come to is counted in what the frame waits for, and as soon as that is
 * enough to know the result, the container goes on and ends the others. */
#include "advance.h"
#include "event.h"
#include "fail.h"
#include "fetched.h"
#include "image_read.h"
#include "record.h"
#include "schedule.h"
#include "steer.h"
#include "task_status.h"
#include "tasks.h"
#include "work.h"

#include <stdio.h>

enum { CHILD_ENDED = 4 }; /* added to the result of a child */

/* ---- how results are read ---- */

static Json new_scope(bool wanted) {
    return wanted ? json_object() : json_none();
}

typedef struct Reading {
    bool invert, ignore;
} Reading;

/* The result of a container by what became of its tasks, read as its config says. */
static void end_container(Frame *f, TaskResult result, Json error, Reading reading) {
    TaskResult read = result == TASK_NONE ? TASK_SUCCESS : result;
    Json inverted = json_none();
    if (reading.invert) {
        read = read == TASK_SUCCESS ? TASK_FAILURE : TASK_SUCCESS;
        inverted = read == TASK_SUCCESS
                       ? json_none()
                       : task_error(f, "inverted",
                                    "It succeeded, and that is its failure (invertResult or "
                                    "expectFailure).");
    }
    read = reading.ignore ? TASK_SUCCESS : read;
    Json shown = json_is_none(inverted) ? error : inverted;
    task_end(f, read, read == TASK_FAILURE ? shown : json_none(), json_none());
    json_unref(inverted);
}

static Reading plain_reading(const Level *l) {
    return (Reading){memo_is(l, "invertResult"), memo_is(l, "ignoreResult")};
}

/* A list that goes on after failures counts none of them. */
static void run_tasks_done(Frame *f, TaskResult result, Json error) {
    Level *l = frame_top(f);
    bool goes_on = memo_is(l, "continueOnFailure");
    end_container(f, goes_on ? TASK_SUCCESS : result, goes_on ? json_none() : error,
                  plain_reading(l));
}

/* What it contains runs on a level of its own, and maybe in a scope of its own. */
static void enter_inside(Frame *f) {
    const Level *l = frame_top(f);
    list_enter(f, node_inside(l->node, 0), new_scope(memo_is(l, "newVariableScope")));
}

static void options_done(Frame *f, TaskResult result, Json error) {
    Level *l = frame_top(f);
    int64_t tries = memo_int(l, "tries");
    if (result == TASK_FAILURE && memo_is(l, "retryOnFailure") &&
        tries < memo_int(l, "maxRetryCount")) {
        const Node *node = l->node;
        if (run_wants(f->run, EVENT_RETRY)) {
            Json data = OBJECT(KEY("error", json_ref(error)), KEY("attempt", tries + 1),
                               KEY("attempts", memo_int(l, "maxRetryCount") + 1),
                               KEY("delay", json_int(0)));
            engine_tell(f->run, f, (Event){.type = EVENT_RETRY, .node = node->name, .data = data});
        }
        memo_set(f, f->nlevels - 1, "tries", json_int(tries + 1));
        enter_inside(f);
        frame_record(f, node, "retrying", json_none());
        return;
    }
    bool expects = memo_is(l, "expectFailure"), ignores = memo_is(l, "ignoreFailure");
    end_container(f, result, error,
                  (Reading){memo_is(l, "invertResult") || expects,
                            memo_is(l, "ignoreResult") || (ignores && result == TASK_FAILURE)});
}

/* With ignoreFailure its list goes on after failures, as that of run_tasks may. */
static void external_done(Frame *f, TaskResult result, Json error) {
    Level *l = frame_top(f);
    bool goes_on = memo_is(l, "ignoreFailure");
    end_container(f, goes_on ? TASK_SUCCESS : result, goes_on ? json_none() : error,
                  (Reading){memo_is(l, "expectFailure"), false});
}

/* ---- thresholds ----
 *
 * Every change of a child's result is looked at: successThreshold first, then failureThreshold. With
 * stopOnThreshold the first that is reached is the result, whatever changes before the frame has its turn, and the
 * others are ended. Without it, that is the result for the time being. When all have ended and nothing has
 * stopped it, it has failed if any child has. */

typedef struct Tally {
    int64_t all, ended, won, lost;
} Tally;

/* The threshold that is reached now; TASK_NONE: none is. */
static TaskResult tally_reached(const Level *l, const Tally *t) {
    int64_t wins = memo_int(l, "successThreshold"), losses = memo_int(l, "failureThreshold");
    if (wins && t->won >= wins) return TASK_SUCCESS;
    return losses && t->lost >= losses ? TASK_FAILURE : TASK_NONE;
}

/* What stopped it, or is about to; TASK_NONE: nothing has. */
static TaskResult tally_stopped(const Level *l, const Tally *t) {
    if (!memo_is(l, "stopOnThreshold")) return TASK_NONE;
    int64_t decided = memo_int(l, "decided");
    return decided ? (TaskResult)decided : tally_reached(l, t);
}

/* TASK_NONE: it is not known yet. */
static TaskResult tally_result(const Level *l, const Tally *t) {
    TaskResult stopped = tally_stopped(l, t);
    if (stopped != TASK_NONE || t->ended < t->all) return stopped;
    return t->lost ? TASK_FAILURE : TASK_SUCCESS;
}

/* That of the first that failed, or how many have; borrows error, gives. */
static Json tally_error(const Frame *f, const Tally *t, TaskResult result, Json error) {
    char text[200];
    if (result != TASK_FAILURE || json_kind(error) == JSON_OBJECT) return json_ref(error);
    snprintf(text, sizeof text, "%lld of %lld tasks failed.", (long long)t->lost,
             (long long)t->all);
    return task_error(f, "threshold", text);
}

void container_ended(Frame *f, TaskResult result, Json error) {
    end_container(f, result, error, plain_reading(frame_top(f)));
}

/* Consumes error, which may be null. */
static void end_with(Frame *f, TaskResult result, Json error) {
    task_ended_inside(f, ENDED_CONTAINER, result,
                      json_kind(error) == JSON_OBJECT ? error : json_none());
    json_unref(error);
}

static void end_tally(Frame *f, const Tally *t, Json error) {
    TaskResult result = tally_result(frame_top(f), t);
    end_with(f, result, tally_error(f, t, result, error));
}

/* ---- the matrix, one after the other ---- */

/* With the value of the matrix that is number i. */
static Json matrix_scope(const Frame *f, size_t i) {
    const Level *l = frame_top(f);
    Json value = json_array_get(memo_get(l, "matrixValues"), i), name = memo_get(l, "matrixVar");
    if (!json_string_len(name)) return json_object();
    return json_object_set(json_object(), json_ref(name), json_ref(value));
}

static void show_result(Frame *f, TaskResult result);

/* The result of a container changes while it runs. */
static void shows(Frame *f, TaskResult result) {
    if (memo_int(frame_top(f), "so_far") != (int64_t)result) show_result(f, result);
}

static void note_decided(Frame *f, const Tally *t) {
    Level *l = frame_top(f);
    TaskResult reached = tally_reached(l, t);
    if (!memo_is(l, "stopOnThreshold")) {
        if (t->ended < t->all) shows(f, reached);
    } else if (reached != TASK_NONE && !memo_int(l, "decided")) {
        memo_set(f, f->nlevels - 1, "decided", json_int(reached));
    }
}

static void matrix_done(Frame *f, TaskResult result, Json error) {
    Level *l = frame_top(f);
    const Node *node = l->node;
    uint32_t level = f->nlevels - 1;
    Tally t = {(int64_t)json_array_len(memo_get(l, "matrixValues")), memo_int(l, "ended") + 1,
               memo_int(l, "won") + (result == TASK_SUCCESS),
               memo_int(l, "lost") + (result == TASK_FAILURE)};
    memo_set(f, level, "ended", json_int(t.ended));
    memo_set(f, level, "won", json_int(t.won));
    memo_set(f, level, "lost", json_int(t.lost));
    if (result == TASK_FAILURE && json_is_none(memo_get(l, "error"))) {
        memo_set(f, level, "error", json_ref(error));
    }
    note_decided(f, &t);
    task_note_progress(f, f->nlevels - 1, (size_t)t.ended, (size_t)t.all);
    if (tally_result(l, &t) != TASK_NONE) {
        Json first = json_ref(memo_get(l, "error"));
        end_tally(f, &t, first);
        json_unref(first);
        return;
    }
    list_enter(f, node_inside(node, 0), matrix_scope(f, (size_t)t.ended));
    frame_record(f, node, "entered", json_none());
}

/* Sets what a query gives. False, and no scope any more, when it fails. */
static bool add_variable(Frame *f, Json *scope, Json name, const Expr *query, Json vars,
                         Error *err) {
    Json value;
    if (!task_query(f, query, vars, &value, err)) {
        json_clear(scope);
        return false;
    }
    if (!json_is_none(value)) *scope = json_object_set(*scope, json_ref(name), value);
    return true;
}

/* Variables for the other file: testConfig, then the configVars of the file, then testConfigVars, both queries over the
 * variables here. */
static Json external_scope(Frame *f, const Graph *test, Error *err) {
    Level *l = frame_top(f);
    const Param *queries = &l->node->params[EXTERNAL_CONFIG_VARS];
    Json scope = memo_get(l, "testConfig"), vars = task_sees(f);
    scope = json_kind(scope) == JSON_OBJECT ? json_ref(scope) : json_object();
    bool ok = true;
    for (size_t i = 0; ok && i < test->nvars; i++) {
        bool over = false;
        for (size_t k = 0; k < queries->nfields; k++) {
            over = over || json_string_equal(queries->fields[k].name, test->vars[i].name);
        }
        ok = over || add_variable(f, &scope, test->vars[i].name, test->vars[i].query, vars, err);
    }
    for (size_t i = 0; ok && i < queries->nfields; i++) {
        ok = add_variable(f, &scope, queries->fields[i].name, queries->fields[i].expr, vars, err);
    }
    json_unref(vars);
    return scope;
}

/* ---- children in frames of their own ---- */

static Tally tally_of(const Frame *f) {
    return (Tally){(int64_t)json_array_len(json_array_get(f->wait, WAIT_TASKS_ALL)),
                   image_int(f->wait, WAIT_TASKS_ENDED), image_int(f->wait, WAIT_TASKS_WON),
                   image_int(f->wait, WAIT_TASKS_LOST)};
}

static int64_t child_of(const Frame *f, uint32_t i) {
    return image_int(json_array_get(f->wait, WAIT_TASKS_ALL), i);
}

static bool has_ended(int64_t child) {
    return child >= CHILD_ENDED;
}

static TaskResult result_of(int64_t child) {
    return (TaskResult)(child % CHILD_ENDED);
}

static TaskResult background_so_far(const Frame *f, bool *over) {
    const Level *l = frame_top(f);
    int64_t fore = child_of(f, 0), back = child_of(f, 1);
    Json word = memo_get(l, "onBackgroundComplete");
    *over = true;
    if (has_ended(fore)) return result_of(fore) == TASK_NONE ? TASK_SUCCESS : result_of(fore);
    if (result_of(fore) == TASK_SUCCESS && memo_is(l, "exitOnForegroundSuccess")) {
        return TASK_SUCCESS;
    }
    if (result_of(fore) == TASK_FAILURE && memo_is(l, "exitOnForegroundFailure")) {
        return TASK_FAILURE;
    }
    bool succeeds = json_string_is(word, "succeed") || json_string_is(word, "success");
    if (has_ended(back) && succeeds) return TASK_SUCCESS;
    bool failed = result_of(back) == TASK_FAILURE;
    if (has_ended(back) &&
        (json_string_is(word, "fail") || (json_string_is(word, "failOrIgnore") && failed))) {
        return TASK_FAILURE;
    }
    *over = false;
    return TASK_NONE;
}

/* What the foreground task shows while it runs is passed on. */
static void background_counted(Frame *f) {
    int64_t fore = child_of(f, 0);
    if (!has_ended(fore)) shows(f, result_of(fore));
}

static TaskResult tally_so_far(const Frame *f, bool *over) {
    Tally t = tally_of(f);
    TaskResult result = tally_result(frame_top(f), &t);
    *over = result != TASK_NONE;
    return result;
}

static void tally_counted(Frame *f) {
    Tally t = tally_of(f);
    note_decided(f, &t);
    task_note_progress(f, f->nlevels - 1, (size_t)t.ended, (size_t)t.all);
}

static Json tally_why(const Frame *f, TaskResult result) {
    Tally t = tally_of(f);
    return tally_error(f, &t, result, json_array_get(f->wait, WAIT_TASKS_ERROR));
}

bool task_children_decided(const Frame *f) {
    bool over;
    steering_of(frame_top(f)->node)->so_far(f, &over);
    return over;
}

static void count(Frame *f, int what, int64_t by) {
    if (by) {
        f->wait = json_array_set(f->wait, (size_t)what, json_int(image_int(f->wait, what) + by));
    }
}

/* A child's result as it is now; counted once, and taken back when it changes. */
static void note_child(Frame *f, uint32_t i, TaskResult result, bool ended) {
    int64_t before = child_of(f, i), after = result + (ended ? CHILD_ENDED : 0);
    if (before == after || has_ended(before)) return;
    Json all = json_ref(json_array_get(f->wait, WAIT_TASKS_ALL));
    f->wait = json_array_set(f->wait, WAIT_TASKS_ALL, json_array_set(all, i, json_int(after)));
    count(f, WAIT_TASKS_WON, (result == TASK_SUCCESS) - (result_of(before) == TASK_SUCCESS));
    count(f, WAIT_TASKS_LOST, (result == TASK_FAILURE) - (result_of(before) == TASK_FAILURE));
    count(f, WAIT_TASKS_ENDED, ended);
    frame_mark(f);
    void (*counted)(Frame *) = steering_of(frame_top(f)->node)->counted;
    if (counted) counted(f);
}

static void look_again(Frame *f) {
    if (f->status == FRAME_HOLDING && (!f->children || task_children_decided(f))) frame_schedule(f);
}

/* Not recorded yet. */
static void show_result(Frame *f, TaskResult result) {
    const Node *node = frame_top(f)->node;
    bool child = f->nlevels == 1 && f->is_task;
    memo_set(f, f->nlevels - 1, "so_far", json_int(result));
    if (task_has_id(node)) task_note(f, f->nlevels - 1, "result", json_int(result));
    if (child) {
        note_child(f->parent, f->branch, result, false);
        look_again(f->parent);
    }
}

void task_result_so_far(Frame *f, TaskResult result) {
    show_result(f, result);
    run_record(f->run, f, frame_top(f)->node, "result", json_none());
    run_kick(f->run);
}

void task_child_ended(Frame *child) {
    Frame *f = child->parent;
    const Level *l = frame_top(child);
    Json error = verdict_error(l);
    bool first = json_kind(json_array_get(f->wait, WAIT_TASKS_ERROR)) != JSON_OBJECT;
    note_child(f, child->branch, (TaskResult)verdict_result(l), true);
    if (first && json_kind(error) == JSON_OBJECT) {
        f->wait = json_array_set(f->wait, WAIT_TASKS_ERROR, json_ref(error));
    }
    task_note_scope(f, f->nlevels - 1, child->branch, l->state);
    f->children--;
    frame_mark(f);
    frame_remove(child);
    look_again(f);
}

static Json background_why(const Frame *f, TaskResult result) {
    Json error = json_array_get(f->wait, WAIT_TASKS_ERROR);
    if (result != TASK_FAILURE || json_kind(error) == JSON_OBJECT) return json_ref(error);
    return has_ended(child_of(f, 1))
               ? task_error(f, "background",
                            "The background task ended first (onBackgroundComplete).")
               : task_error(f, "foreground",
                            "The foreground task has failed and goes on "
                            "(exitOnForegroundFailure).");
}

void task_children_done(Frame *f) {
    const Steering *steering = steering_of(frame_top(f)->node);
    bool over;
    TaskResult result = steering->so_far(f, &over);
    Json error = steering->why(f, result); /* before what it is read from goes */
    frame_unwind(f, f->nlevels - 1);
    end_with(f, result, error);
}

static void set_children(Frame *f, size_t n) {
    Json all = json_array();
    for (size_t i = 0; i < n; i++) all = json_array_push(all, json_int(0));
    frame_set_wait(f,
                   WAIT_FOR(WAIT_TASKS, all, json_int(0), json_int(0), json_int(0), json_null()));
}

static void add_child(Frame *f, uint32_t i, const Node *task, Json scope) {
    Frame *child = frame_new(f->run, f, i);
    child->is_task = true;
    level_push(child, task->graph, scope, false);
    task_note_scope(f, f->nlevels - 1, i, frame_top(child)->state);
    task_note_one_made(child, task);
    f->children++;
    frame_land(child, task, false);
    frame_schedule(child);
}

/* ---- beginnings ---- */

static void list_begin(Frame *f, const Node *node) {
    enter_inside(f);
    frame_record(f, node, "entered", json_none());
}

static void concurrent_begin(Frame *f, const Node *node) {
    const Graph *graph = node_inside(node, 0);
    bool scoped = memo_is(frame_top(f), "newVariableScope");
    if (!graph->nnodes) {
        end_tally(f, &(Tally){0}, json_none());
        return;
    }
    set_children(f, graph->nnodes);
    for (size_t i = 0; i < graph->nnodes; i++) {
        add_child(f, (uint32_t)i, &graph->nodes[i], new_scope(scoped));
    }
    frame_record(f, node, "entered", json_none());
}

static void background_begin(Frame *f, const Node *node) {
    bool scoped = memo_is(frame_top(f), "newVariableScope");
    uint32_t n = node_inside(node, 1) ? 2 : 1;
    set_children(f, n);
    for (uint32_t i = 0; i < n; i++) {
        add_child(f, i, &node_inside(node, i)->nodes[0], new_scope(scoped || i));
    }
    frame_record(f, node, "entered", json_none());
}

static void matrix_begin(Frame *f, const Node *node) {
    const Level *l = frame_top(f);
    Json values = memo_get(l, "matrixValues");
    bool list = json_kind(values) == JSON_ARRAY || json_kind(values) == JSON_NULL;
    const char *wrong = !list ? "`matrixValues` must be a list of values."
                        : json_string_is(memo_get(l, "matrixVar"), "tasks")
                            ? "`matrixVar` cannot be `tasks`, which holds what is known of tasks."
                            : NULL;
    if (wrong) {
        Json error = task_error(f, "config", wrong);
        task_failed(f, error);
        json_unref(error);
    } else if (!json_array_len(values)) {
        end_tally(f, &(Tally){0}, json_none());
    } else if (memo_is(l, "runConcurrent")) {
        set_children(f, json_array_len(values));
        for (size_t i = 0; i < json_array_len(values); i++) {
            add_child(f, (uint32_t)i, &node_inside(node, 0)->nodes[0], matrix_scope(f, i));
        }
        frame_record(f, node, "entered", json_none());
    } else {
        list_enter(f, node_inside(node, 0), matrix_scope(f, 0));
        frame_record(f, node, "entered", json_none());
    }
}

static void enter_external_again(Frame *f);

/* fetched: what it has read; NULL: what the workflow has. */
static void enter_external(Frame *f, const Graph *test, Fetched *fetched) {
    Error err = ERROR_INIT;
    const Node *node = frame_top(f)->node;
    Replay replay = {0};
    frame_replay_begin(f, &replay);
    Json scope = external_scope(f, test, &err);
    if (!frame_replay_end(f, &replay, enter_external_again)) {
        if (fetched) memo_set(f, f->nlevels - 1, "fetched", json_int(fetched->number));
        json_unref(scope);
        return;
    }
    if (json_is_none(scope)) {
        Json error = fail_error(f, node, "configVars", &err, json_none());
        task_failed(f, error);
        json_unref(error);
        return;
    }
    if (fetched) {
        list_enter_fetched(f, fetched, scope);
    } else {
        list_enter(f, test, scope);
    }
    frame_record(f, node, "entered", json_none());
}

static void enter_external_again(Frame *f) {
    const Level *l = frame_top(f);
    Fetched *fetched = fetched_find(f->run, memo_int(l, "fetched"));
    enter_external(f, fetched ? fetched->flow->main : node_inside(l->node, 0), fetched);
}

static void external_entered(Frame *f, Flow *flow) {
    Error err = ERROR_INIT;
    Fetched *fetched = fetched_add(f, flow, &err);
    frame_set_wait(f, json_null());
    if (fetched) {
        enter_external(f, fetched->flow->main, fetched);
    } else {
        frame_fail_with(f, "testFile", &err);
    }
}

/* A file that was there when the workflow was loaded is a part of it, unless a query names another. What is not is read
 * now. */
static void external_begin(Frame *f, const Node *node) {
    Error err = ERROR_INIT;
    const Graph *test = node_inside(node, 0);
    if (test && json_equal(memo_get(frame_top(f), "testFile"), node->params[EXTERNAL_FILE].value)) {
        enter_external(f, test, NULL);
        return;
    }
    Json wait = work_of(f, node) ? work_wait(f, node, &err) : json_none();
    if (json_is_none(wait)) {
        error_set(&err, ERR_USAGE, "Tests cannot be read here while the run goes on.");
        frame_fail_with(f, "testFile", &err);
        return;
    }
    frame_set_wait(f, wait);
    frame_record(f, node, "started", json_none());
}

/* ---- the kinds ---- */

#define TALLY .so_far = tally_so_far, .why = tally_why, .counted = tally_counted

const Steering steer_run_tasks = {.begin = list_begin, .list_done = run_tasks_done};
const Steering steer_concurrent = {.begin = concurrent_begin, TALLY};
const Steering steer_matrix = {.begin = matrix_begin, .list_done = matrix_done, TALLY};
const Steering steer_background = {
    .begin = background_begin,
    .so_far = background_so_far,
    .why = background_why,
    .counted = background_counted,
};
const Steering steer_options = {.begin = list_begin, .list_done = options_done};
const Steering steer_external = {
    .begin = external_begin, .enter = external_entered, .list_done = external_done};
