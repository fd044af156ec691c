/* tasks.c - the kinds that steer in the tasks dialect, and what is common to all tasks.
 *
 * A task that ends leaves its *verdict* in its level, [result, error, cleaning], and task_go_on() looks from there
 * what comes next: the next task of the list, or the end of the level. So a failure is no error of the
 * engine's: it goes outwards one container at a time, and each says what it means.
 *
 *     task_begin -> (skipped) | container | sleep | work
 *         ... -> task_finish | task_failed -> verdict -> task_go_on
 *             -> the next task of the list
 *             -> the level ends -> task_level_done: its container takes the verdict
 *             -> the frame ends -> task_child_ended: the container in the frame around it counts it
 *
 * While a container runs, the level that it stands at remembers its config in the same slot (`writes`), as an
 * object by the names of its parameters, with what it counts beside them: what was resolved when it
 * began holds until it ends, in whatever process.
 *
 * A test (the run itself, or another file) is a level that runs its cleanup list on top of itself at its
 * end, whatever the verdict, and keeps the verdict meanwhile. */
#include "tasks.h"

#include "advance.h"
#include "config.h"
#include "control.h"
#include "event.h"
#include "fail.h"
#include "fetched.h"
#include "image_read.h"
#include "inject.h"
#include "mem.h"
#include "number_text.h"
#include "outside.h"
#include "park.h"
#include "record.h"
#include "result.h"
#include "schedule.h"
#include "steer.h"
#include "task_status.h"
#include "work.h"

static void note_abandoned(Frame *f, uint32_t level) {
    const Node *node = f->levels[level].node;
    if (task_has_id(node) && json_truthy(scope_task(f, level, node->task->id, "running"))) {
        task_note(f, level, "running", json_bool(false));
    }
}

/* A test in another file, at this level. */
static bool is_inner_test(const Frame *f, uint32_t level) {
    const Node *below = level ? f->levels[level - 1].node : NULL;
    const Level *l = &f->levels[level];
    return below && !l->injected &&
           (below->kind->id == KIND_RUN_EXTERNAL_TASKS ||
            (below->kind->id == KIND_OUTSIDE && l->graph->scoped));
}

/* It cleans up whatever ends it: a kind from outside. A test that another calls is left when its task is ended. */
static bool is_kind_test(const Frame *f, uint32_t level) {
    return is_inner_test(f, level) && f->levels[level - 1].node->kind->id == KIND_OUTSIDE;
}

bool task_holds_test(const Frame *f, uint32_t level) {
    return level + 1 < f->nlevels && is_kind_test(f, level + 1);
}

/* Where the cleanup list of a test begins, or is; NULL when there is nothing left of it. */
static const Node *cleanup_position(const Frame *f, uint32_t level) {
    const Level *l = &f->levels[level];
    if (verdict_cleaning(l)) return level + 1 < f->nlevels ? f->levels[level + 1].node : NULL;
    return l->graph->after && l->graph->after->nnodes ? &l->graph->after->nodes[0] : NULL;
}

/* Its variables are all those that the test had in sight, as they are now. */
static void leave_cleanup(Frame *f, uint32_t level, Frame *heir) {
    const Node *first = cleanup_position(f, level);
    if (!first) return;
    Frame *child = frame_new(f->run, heir, first->graph->id);
    child->is_cleanup = true;
    Fetched *fetched = fetched_of_flow(f->run, first->graph->flow);
    level_push(child, first->graph, scope_view(f, level), false);
    if (fetched) fetched_enter(child, fetched);
    heir->children++;
    frame_land(child, first, false);
    frame_schedule(child);
}

void task_abandon(Frame *f, uint32_t level, Frame *heir) {
    for (uint32_t i = f->nlevels; i > level; i--) {
        note_abandoned(f, i - 1);
        if (is_kind_test(f, i - 1)) leave_cleanup(f, i - 1, heir);
    }
}

/* ---- config ---- */

bool task_resolve(Frame *f, Error *err) {
    const Node *node = frame_top(f)->node;
    Json vars = node->task->nvars ? task_sees(f) : json_none();
    ConfigSource source = {vars, task_source, f};
    Param *params = mem_zalloc((node->kind->nparams + 1) * sizeof *params);
    bool ok = config_resolve(node, &source, params, err);
    json_unref(vars);
    if (!ok) {
        mem_free(params);
        return false;
    }
    f->params = params;
    return true;
}

bool task_query(Frame *f, const Expr *expr, Json vars, Json *value, Error *err) {
    Error failed = ERROR_INIT;
    *value = with_big_as_text(evaluator_query(f->run->evaluator, expr, vars, &failed));
    if (failed.code == ERR_NONE) return true;
    json_clear(value);
    if (!query_error_is_value(&failed)) {
        *err = failed;
        return false;
    }
    *value = json_object();
    return true;
}

/* ---- levels ---- */

/* Before the first task of its last level; past it when there is none. */
static void begin_list(Frame *f) {
    const Graph *graph = frame_top(f)->graph;
    task_note_made(f, f->nlevels - 1, graph);
    if (graph->after) task_note_made(f, f->nlevels - 1, graph->after);
    if (graph->nnodes) {
        frame_land(f, &graph->nodes[0], false);
    } else {
        level_set_memo(f, frame_top(f), verdict_new(TASK_SUCCESS, json_none()));
    }
}

/* Its scope is there for others to read from now on: also when nothing is set in it, or the list is ended early. */
static void show_scope(Frame *f) {
    int64_t number = memo_int(&f->levels[f->nlevels - 2], "ended");
    task_note_scope(f, f->nlevels - 2, number, frame_top(f)->state);
}

void list_enter(Frame *f, const Graph *graph, Json scope) {
    level_push(f, graph, scope, false);
    frame_set_wait(f, json_null());
    show_scope(f);
    begin_list(f);
}

void list_enter_fetched(Frame *f, Fetched *fetched, Json scope) {
    level_push(f, fetched->flow->main, scope, false);
    fetched_enter(f, fetched);
    frame_set_wait(f, json_null());
    show_scope(f);
    begin_list(f);
}

void list_leave(Frame *f) {
    level_pop(f);
    frame_set_wait(f, json_null());
}

/* ---- how a task ends ---- */

static const char *const end_words[] = {"skipped", "completed", "failed"};

/* The verdict is in the level: the task's own, or the list's when there is no task. */
void task_end(Frame *f, TaskResult result, Json error, Json outputs) {
    Level *l = frame_top(f);
    const Node *node = l->node;
    frame_drop_params(f);
    if (task_has_id(node) && json_kind(outputs) == JSON_OBJECT) {
        task_note_outputs(f, f->nlevels - 1, outputs);
    }
    if (result != TASK_NONE) task_note_ended(f, result);
    level_set_memo(f, l, verdict_new(result, error));
    StepResult came = {.update = outputs, .error = json_ref(error), .set = json_take(&f->set)};
    if (inject_stands_in(f)) {
        inject_done(f, came);
    } else {
        task_over(f, result, came);
    }
}

void task_over(Frame *f, TaskResult result, StepResult came) {
    const Node *node = frame_top(f)->node;
    frame_count_step(f);
    if (result != TASK_NONE && !park_passes(f, node) &&
        park_after(f, node, end_words[result], came)) {
        return;
    }
    LevelAt at = {f->id, f->nlevels - 1};
    if (f->injections && inject_after(f)) {
        came.at = at;
        frame_record_result(f, node, end_words[result], came);
    } else if (task_go_on(f)) {
        frame_record_result(f, node, end_words[result], came);
    } else {
        result_clear(&came);
    }
}

void task_finish(Frame *f, Json outputs) {
    frame_set_wait(f, json_null());
    task_end(f, TASK_SUCCESS, json_none(), outputs);
}

void task_skip(Frame *f, Json outputs) {
    f->skipped = false;
    frame_set_wait(f, json_null());
    task_note_begun(f, false);
    task_end(f, TASK_NONE, json_none(), json_ref(outputs));
}

/* It does something else with a failure than to fail with it. */
bool task_reads_failure(const Level *l) {
    static const char *const readers[] = {"ignoreResult", "ignoreFailure", "expectFailure",
                                          "invertResult", "continueOnFailure"};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (memo_is(l, readers[i])) return true;
    }
    return (memo_int(l, "successThreshold") && memo_int(l, "failureThreshold") != 1) ||
           (memo_is(l, "retryOnFailure") && memo_int(l, "tries") < memo_int(l, "maxRetryCount"));
}

void task_failed(Frame *f, Json error) {
    if (!frame_top(f)->node) { /* not a task: the test itself */
        run_fail(f->run, f, NULL, error);
        return;
    }
    bool late = json_string_is(json_object_get_c(error, "kind"), "timeout");
    if (late && task_has_id(frame_top(f)->node)) {
        task_note(f, f->nlevels - 1, "timeout", json_bool(true));
    }
    frame_set_wait(f, json_null());
    if (late && memo_int(frame_top(f), "so_far") == TASK_SUCCESS) { /* by itself, before that */
        task_end(f, TASK_SUCCESS, json_none(), json_none());
        return;
    }
    task_end(f, TASK_FAILURE, error, json_none());
}

/* ---- ending what is inside ---- */

typedef void (*GoOn)(Frame *f, TaskResult result, Json error);

static void go_on_failed(Frame *f, TaskResult result, Json error) {
    (void)result;
    if (!frame_top(f)->graph->scoped) {
        fail_inside(f, error);
    } else if (!run_hooks(f->run) || !frame_top(f)->node ||
               !park_on_error(f, error, FAIL_NODE, fail_is_caught(f, f->nlevels - 1, error))) {
        task_failed(f, error);
    }
}

static void go_on_over(Frame *f, TaskResult result, Json error) {
    (void)result;
    (void)error;
    task_level_done(f);
}

/* A run that is no test itself, but had some inside. */
static void go_on_run(Frame *f, TaskResult result, Json error) {
    Run *run = f->run;
    if ((int)result != TASK_CANCELLED) {
        run_fail(run, f, NULL, error);
        return;
    }
    run_status_change(&run->status, RUN_IS_CANCELLED);
    run_record(run, f, NULL, "cancelled", json_none());
    run_halt(run);
}

/* How a frame goes on once all that it ended has cleaned up. */
static const struct GoOnRow {
    const char *word;
    GoOn go_on;
} go_on_rows[] = {
    [ENDED_FAILED] = {"failed", go_on_failed},
    [ENDED_CONTAINER] = {"container", container_ended},
    [ENDED_TEST] = {"test", go_on_over},
    [ENDED_RUN] = {"run", go_on_run},
};

void task_ended_inside(Frame *f, EndedInside how, TaskResult result, Json error) {
    if (!f->children) {
        go_on_rows[how].go_on(f, result, error);
        return;
    }
    frame_set_wait(f, WAIT_FOR(WAIT_CLEANING, json_string_c(go_on_rows[how].word), json_int(result),
                               json_is_none(error) ? json_null() : json_ref(error)));
    frame_record(f, frame_top(f)->node, "cleanup", json_none());
}

enum { HOW = 1, RESULT, ERROR }; /* of a wait for what cleans up */

void task_cleaned(Frame *f) {
    Json wait = json_ref(f->wait), error = json_array_get(wait, ERROR);
    frame_set_wait(f, json_null());
    bool scoped = frame_top(f)->graph->scoped;
    for (size_t i = 0; i < sizeof go_on_rows / sizeof *go_on_rows; i++) {
        bool fits = scoped || i == ENDED_FAILED || i == ENDED_RUN;
        if (fits && json_string_is(json_array_get(wait, HOW), go_on_rows[i].word)) {
            go_on_rows[i].go_on(f, (TaskResult)image_int(wait, RESULT),
                                json_kind(error) == JSON_OBJECT ? error : json_none());
            break;
        }
    }
    json_unref(wait);
}

/* A test that is a kind is over with it, but for its cleanup list. */
void task_late(Frame *f, uint32_t level, Json error) {
    const Node *node = f->levels[level].node;
    f->levels[level].deadline = 0;
    if (task_has_id(node)) task_note(f, level, "timeout", json_bool(true));
    if (!task_holds_test(f, level)) {
        frame_unwind(f, level);
        task_ended_inside(f, ENDED_FAILED, TASK_FAILURE, error);
        return;
    }
    frame_unwind(f, level + 1);
    Level *l = frame_top(f);
    l->node = NULL;
    level_begin_node(l);
    level_set_memo(f, l, verdict_new(TASK_FAILURE, error));
    task_ended_inside(f, ENDED_TEST, TASK_FAILURE, error);
}

/* ---- what comes next ---- */

static bool is_list_of(const Frame *f, KindId kind) {
    const Node *below = f->nlevels > 1 ? f->levels[f->nlevels - 2].node : NULL;
    return below && !frame_top(f)->injected && below->kind->id == kind;
}

static bool is_test(const Frame *f) {
    return (f->nlevels == 1 && !f->parent) || is_inner_test(f, f->nlevels - 1);
}

static bool is_cleanup_list(const Frame *f) {
    return f->nlevels == 1 ? f->is_cleanup : !f->levels[f->nlevels - 2].node;
}

/* Whether a list goes on after a task that failed. */
static bool passes_over(const Frame *f) {
    const Level *holder = f->nlevels > 1 ? &f->levels[f->nlevels - 2] : NULL;
    return is_cleanup_list(f) ||
           (is_list_of(f, KIND_RUN_TASKS) && memo_is(holder, "continueOnFailure")) ||
           (is_list_of(f, KIND_RUN_EXTERNAL_TASKS) && memo_is(holder, "ignoreFailure"));
}

static const Node *next_in_list(Frame *f) {
    const Level *l = frame_top(f);
    size_t next = (size_t)l->node->index + 1;
    if (verdict_result(l) == TASK_FAILURE && !passes_over(f)) return NULL;
    return next < l->graph->nnodes ? &l->graph->nodes[next] : NULL;
}

bool task_go_on(Frame *f) {
    Level *l = frame_top(f);
    bool child = f->nlevels == 1 && f->is_task;
    frame_set_wait(f, json_null());
    if (child) {
        control_child_ended(f);
        return true;
    }
    const Node *next = next_in_list(f);
    if (is_list_of(f, KIND_RUN_TASKS)) {
        task_note_progress(f, f->nlevels - 2, (size_t)l->node->index + 1, l->graph->nnodes);
    }
    bool failed = verdict_result(l) == TASK_FAILURE;
    if (!next && failed && is_test(f) && f->nlevels == 1 && !l->graph->after) {
        /* without cleanupTasks it fails where it stands, so that a resume can try again there */
        Json error = json_ref(verdict_error(l));
        frame_fail_here(f, error, false, json_null());
        json_unref(error);
        return false;
    }
    l->node = next;
    frame_mark(f);
    if (next) {
        level_set_memo(f, l, json_none());
        frame_land(f, next, false);
    }
    return true;
}

/* ---- tests ---- */

bool test_set_vars(Frame *f, Error *err) {
    const Graph *graph = frame_top(f)->graph;
    bool ok = true;
    for (size_t i = 0; ok && i < graph->nvars; i++) {
        Json vars = frame_sees(f), value;
        ok = task_query(f, graph->vars[i].query, vars, &value, err);
        json_unref(vars);
        if (!json_is_none(value)) {
            scope_set(f, f->nlevels - 1, json_ref(graph->vars[i].name), value);
        }
    }
    return ok;
}

/* The same of the run's own test; they are put into *set. What was given with the run stands in a scope inside of them: it
 * is not seen by the queries, and wins. */
static bool find_run_vars(Frame *f, Json *set, Error *err) {
    const Graph *graph = frame_top(f)->graph;
    Json vars = json_ref(graph->defaults), value;
    bool ok = true;
    for (size_t i = 0; ok && i < graph->nvars; i++) {
        Json name = graph->vars[i].name, has = json_object_get(frame_top(f)->state, name);
        Json otherwise = json_object_get(graph->defaults, name);
        bool given =
            !json_is_none(has) && !(!json_is_none(otherwise) && json_equal(has, otherwise));
        ok = task_query(f, graph->vars[i].query, vars, &value, err);
        if (json_is_none(value)) continue;
        vars = json_object_set(vars, json_ref(name), json_ref(value));
        if (given) {
            json_unref(value);
        } else {
            *set = json_object_set(*set, json_ref(name), value);
        }
    }
    json_unref(vars);
    return ok;
}

/* False: it goes on later. */
static bool set_run_vars(Frame *f, bool *ok, Error *err) {
    Json set = json_object(), name, value;
    Replay replay = {0};
    frame_replay_begin(f, &replay);
    *ok = find_run_vars(f, &set, err);
    bool over = frame_replay_end(f, &replay, test_begin);
    for (size_t pos = 0; over && *ok && json_object_next(set, &pos, &name, &value);) {
        scope_set(f, f->nlevels - 1, json_ref(name), json_ref(value));
    }
    json_unref(set);
    return over;
}

static void end_run(Frame *f) {
    Level *l = frame_top(f);
    Run *run = f->run;
    int result = verdict_result(l);
    if (result == TASK_CANCELLED) {
        run_status_change(&run->status, RUN_IS_CANCELLED);
        run_record(run, f, NULL, "cancelled", json_none());
        run_halt(run);
    } else if (result == TASK_FAILURE) {
        Json error = json_ref(verdict_error(l));
        run_fail(run, f, NULL, error);
        json_unref(error);
    } else {
        frame_set_wait(f, wait_of(WAIT_DONE));
        run_status_change(&run->status, RUN_COMPLETES);
        frame_record(f, NULL, "completed", json_none());
    }
}

/* Its cleanup list, then nothing more. True when there is something to do. */
static bool enter_cleanup(Frame *f) {
    Level *l = frame_top(f);
    if (verdict_cleaning(l) || !l->graph->after) return false;
    verdict_clean(f, l);
    *(f->nlevels == 1 ? &f->run->deadline : &f->levels[f->nlevels - 2].deadline) =
        0; /* the test's time does not count for it */
    list_enter(f, l->graph->after, json_none());
    frame_record(f, NULL, "cleanup", json_none());
    return true;
}

void test_begin(Frame *f) {
    Error err = ERROR_INIT;
    bool ok;
    if (!set_run_vars(f, &ok, &err)) return;
    if (!ok) {
        Json error = fail_error(f, NULL, "configVars", &err, json_none());
        run_record(f->run, f, NULL, "started", json_none());
        run_fail(f->run, f, NULL, error);
        json_unref(error);
        return;
    }
    begin_list(f);
    frame_record(f, NULL, "started", frame_sees(f));
}

/* It has cleanupTasks, or a test inside it has. */
bool test_cleans_up(const Run *run) {
    const Graph *graph = run->first_frame ? run->first_frame->levels[0].graph : NULL;
    bool found = graph && graph->after;
    for (const Frame *f = run->flow->has_tasks ? run->first_frame : NULL; f && !found;
         f = f->next) {
        found = f->is_cleanup;
        for (uint32_t i = 1; i < f->nlevels && !found; i++) {
            found = is_kind_test(f, i) && cleanup_position(f, i);
        }
    }
    return found;
}

/* A run that is no test waits for what cleans up before it ends. */
static bool ends_run(const Frame *f) {
    return f->waits == WAIT_CLEANING &&
           json_string_is(json_array_get(f->wait, HOW), go_on_rows[ENDED_RUN].word);
}

bool test_is_over(const Run *run) {
    const Level *l = &run->first_frame->levels[0];
    return l->graph->scoped ? !l->node && verdict_cleaning(l) : ends_run(run->first_frame);
}

bool test_abort(Run *run, Json error) {
    Frame *root = run->first_frame;
    bool live = !run->halting && !run_settling(run) && run->status == RUN_RUNNING;
    if (!live || !test_cleans_up(run) || test_is_over(run)) return false;
    bool cancelled = json_is_none(error);
    run->deadline = 0;
    frame_unwind(root, 0);
    note_abandoned(root, 0);
    Level *l = frame_top(root);
    if (!l->graph->scoped) {
        run_record(run, root, NULL, cancelled ? "cancelling" : "timeout", json_none());
        task_ended_inside(root, ENDED_RUN, (TaskResult)(cancelled ? TASK_CANCELLED : TASK_FAILURE),
                          error);
        run_kick(run);
        return true;
    }
    l->node = NULL;
    level_begin_node(l);
    level_set_memo(root, l, verdict_new(cancelled ? TASK_CANCELLED : TASK_FAILURE, error));
    if (!l->graph->after) {
        verdict_clean(root, l); /* what there is to do, its children do */
    }
    run_record(run, root, NULL, cancelled ? "cancelling" : "timeout", json_none());
    task_ended_inside(root, ENDED_TEST, TASK_FAILURE, json_none());
    run_kick(run);
    return true;
}

void test_is_cancelled(Run *run) {
    Frame *root = run->first_frame;
    Level *l = &root->levels[0];
    if (!l->graph->scoped) {
        frame_set_wait(root,
                       json_array_set(json_ref(root->wait), RESULT, json_int(TASK_CANCELLED)));
    } else {
        level_set_memo(root, l, verdict_new(TASK_CANCELLED, json_none()));
        verdict_clean(root, l);
    }
    run_record(run, root, NULL, "cancelling", json_none());
}

/* ---- levels that end ---- */

void task_level_done(Frame *f) {
    if (is_test(f) && enter_cleanup(f)) return;
    if (f->nlevels == 1 && f->is_cleanup) { /* the frame that it cleaned up for may go on */
        Frame *heir = f->parent;
        heir->children--;
        frame_mark(heir);
        frame_remove(f);
        if (!heir->children && heir->status == FRAME_HOLDING) frame_schedule(heir);
        run_record(f->run, f, NULL, "completed", json_none());
        return;
    }
    if (f->nlevels == 1) {
        end_run(f);
        return;
    }
    if (is_cleanup_list(f)) {
        list_leave(f);
        task_level_done(f); /* the test, whose cleanup is behind it: one level further down */
        return;
    }
    if (is_list_of(f, KIND_OUTSIDE)) {
        outside_list_ended(f);
        return;
    }
    TaskResult result = (TaskResult)verdict_result(frame_top(f));
    Json error = json_ref(verdict_error(frame_top(f)));
    show_scope(f);
    list_leave(f);
    steering_of(frame_top(f)->node)->list_done(f, result, error);
    json_unref(error);
}

/* `if` holds on true alone. False in *go skips the task; so does a query that fails. */
static bool is_wanted(Frame *f, bool *go, Error *err) {
    static const char *const words[] = {
        [JSON_NULL] = "null",      [JSON_NUMBER] = "a number",  [JSON_STRING] = "a string",
        [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
    };
    const Node *node = frame_top(f)->node;
    *go = true;
    if (!node->task->when) return true;
    Json vars = task_sees(f);
    Error failed = ERROR_INIT;
    Json holds = evaluator_query(f->run->evaluator, node->task->when, vars, &failed);
    json_unref(vars);
    bool fails = json_is_none(holds) && failed.code != ERR_NONE;
    if (fails && !query_error_is_value(&failed)) {
        *err = failed;
        error_wrap(err, "the condition of the task (`if`)");
        return false;
    }
    *go = json_kind(holds) == JSON_TRUE;
    if (!*go && json_kind(holds) != JSON_FALSE && run_wants(f->run, EVENT_WARNING)) {
        Json text =
            fails ? json_string_fmt("Task `%s` is skipped: its `if` fails: %s", node->name,
                                    failed.msg)
                  : json_string_fmt(
                        "Task `%s` is skipped: its `if` gives %s, and only true lets it run.",
                        node->name, json_is_none(holds) ? "nothing" : words[json_kind(holds)]);
        engine_tell(f->run, f,
                    (Event){.type = EVENT_WARNING,
                            .node = node->name,
                            .data = OBJECT(KEY("message", text))});
    }
    json_unref(holds);
    return true;
}

/* The kind that one of the tasks in it has, and that there is not; NULL: none. */
static const char *lacks_kind(const Node *node) {
    const char *lacks = NULL;
    for (size_t i = 0; i < node->kind->nparams && !lacks; i++) {
        const Graph *inside = node_held(node, i);
        lacks = inside ? inside->lacks : NULL;
    }
    return lacks;
}

static void begin_resolved(Frame *f) {
    Error err = ERROR_INIT;
    const Node *node = frame_top(f)->node;
    const NodeWork *work = work_of(f, node);
    bool sleeps = node->kind->id == KIND_TASK_SLEEP;
    if (!work || !work->keeps_time) start_clock(f, node->timeout_ms);
    const char *lacks = lacks_kind(node);
    if (lacks) {
        frame_tell_node(f, node);
        error_set(&err, ERR_DATA, "There is no kind of task `%s`, which is inside of it.", lacks);
        frame_fail_with(f, "kind", &err);
        return;
    }
    if (steering_of(node)->begin) {
        frame_tell_node(f, node);
        memo_from_params(f);
        frame_drop_params(f);
        steering_of(node)->begin(f, node);
        return;
    }
    if (!sleeps && !work) {
        frame_tell_node(f, node);
        error_set(&err, ERR_USAGE, "Tasks of the kind `%s` cannot be run here.", node->kind->name);
        frame_fail_with(f, "kind", &err);
        return;
    }
    int64_t ms = sleeps ? f->params[TASK_SLEEP_FOR].number : 0;
    if (sleeps && !ms) {
        frame_tell_node(f, node);
        task_finish(f, json_null());
        return;
    }
    f->since = engine_time(f->run->engine);
    Json wait = sleeps ? WAIT_FOR(WAIT_SLEEP, json_int(f->since + ms)) : work_wait(f, node, &err);
    if (json_is_none(wait)) {
        frame_tell_node(f, node);
        frame_fail_with(f, "prepare", &err);
        return;
    }
    frame_set_wait(f, wait);
    if (sleeps) frame_drop_params(f);
    frame_record(f, node, "started", json_none());
}

static void resolve_and_begin(Frame *f) {
    Error err = ERROR_INIT;
    Replay replay = {0};
    frame_replay_begin(f, &replay);
    bool ok = task_resolve(f, &err);
    if (!frame_replay_end(f, &replay, resolve_and_begin)) return;
    if (ok) {
        begin_resolved(f);
    } else {
        frame_tell_node(f, frame_top(f)->node);
        frame_fail_with(f, "config", &err);
    }
}

void task_begin(Frame *f) {
    Error err = ERROR_INIT;
    Replay replay = {0};
    bool go;
    frame_replay_begin(f, &replay);
    bool ok = is_wanted(f, &go, &err);
    if (!frame_replay_end(f, &replay, task_begin)) return;
    frame_drop_params(f);
    if (ok && !go) {
        frame_tell_skipped(f, frame_top(f)->node);
        task_skip(f, json_none());
        return;
    }
    task_note_begun(f, true);
    if (ok) {
        resolve_and_begin(f);
    } else {
        frame_tell_node(f, frame_top(f)->node);
        frame_fail_with(f, "if", &err);
    }
}
