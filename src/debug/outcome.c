/* outcome.c - what nodes gave back, from what became of their levels.
 *
 * Graphs. What a node gave back went through the reducers of the keys: unreduced() turns that round
 * where it can be. Where it cannot, or a person changed the level meanwhile, the outcome is a patch
 * of the level.
 *
 * Tasks. They give back variables and outputs, which stand in the scope that they ran in. */
#include "outcome.h"

#include "json_diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- kinds ---- */

static const bool leaves[KIND_COUNT] = {
    [KIND_SHELL] = true,           [KIND_PYTHON] = true,
    [KIND_JAVASCRIPT] = true,      [KIND_HTTP] = true,
    [KIND_ACTION] = true,          [KIND_SLEEP] = true,
    [KIND_APPROVAL] = true,        [KIND_CALLBACK_LATER] = true,
    [KIND_RUN_SHELL] = true,       [KIND_RUN_COMMAND] = true,
    [KIND_RUN_JAVASCRIPT] = true,  [KIND_TASK_SLEEP] = true,
    [KIND_CHECK_HTTP_JSON] = true, [KIND_CHECK_HTTP_METRICS] = true,
    [KIND_SCRIPT] = true,          [KIND_DOCKER] = true,
    [KIND_AGENT] = true,           [KIND_MERGE] = true,
    [KIND_TRIGGER] = true,
};

bool outcome_leaves(const Node *node) {
    return leaves[node->kind->id];
}

bool outcome_holds_others(const Node *node) {
    return !node_is_leaf(node);
}

/* ---- reading an image ---- */

static Json frame_at(Json image, int64_t id) {
    char key[24];
    snprintf(key, sizeof key, "%" PRId64, id);
    return safe_get_c(safe_item(image, IMAGE_FRAMES), key);
}

size_t spot_depth(Json image, int64_t frame) {
    Json levels = safe_item(frame_at(image, frame), IMAGE_LEVELS);
    return json_kind(levels) == JSON_ARRAY ? json_array_len(levels) : 0;
}

bool spot_exists(Json image, Spot s) {
    return s.level < spot_depth(image, s.frame);
}

Json spot_level(Json image, Spot s) {
    return safe_item(safe_item(frame_at(image, s.frame), IMAGE_LEVELS), s.level);
}

Json spot_part(Json image, Spot s, size_t part) {
    return safe_item(spot_level(image, s), part);
}

int64_t spot_int(Json image, Spot s, size_t part) {
    Json n = spot_part(image, s, part);
    return json_tag(n) == JSON_TAG_INT ? n.i : 0;
}

int64_t spot_branch(Json image, int64_t frame) {
    return safe_int(frame_at(image, frame), IMAGE_BRANCH);
}

int64_t spot_parent(Json image, int64_t frame) {
    int64_t parent = safe_int(frame_at(image, frame), IMAGE_PARENT);
    return parent > 0 && parent < frame && spot_depth(image, parent) ? parent : 0;
}

Spot spot_top(Json image, int64_t frame) {
    size_t depth = spot_depth(image, frame);
    return (Spot){frame, depth ? depth - 1 : 0};
}

Json spot_wait(Json image, int64_t frame) {
    Json wait = safe_item(frame_at(image, frame), IMAGE_WAIT);
    return wait_is(wait, WAIT_PAUSE) ? safe_item(wait, WAIT_PAUSED) : wait;
}

/* The level whose state it is that a level shows. */
static Spot owner_at(Json image, Spot s) {
    while (json_kind(spot_part(image, s, IMAGE_STATE)) != JSON_OBJECT) {
        int64_t parent = s.level ? 0 : spot_parent(image, s.frame);
        if (!s.level && !parent) {
            break;
        }
        s = s.level ? (Spot){s.frame, s.level - 1} : spot_top(image, parent);
    }
    return s;
}

Json spot_state(Json image, Spot s) {
    Json state = spot_part(image, owner_at(image, s), IMAGE_STATE);
    return json_kind(state) == JSON_OBJECT ? state : json_none();
}

static Json writes_at(Json image, Spot s) {
    return spot_part(image, s, IMAGE_WRITES);
}

int64_t spot_injected(Json image, Spot s, InjectWhere *where) {
    Json injected = spot_part(image, s, IMAGE_INJECTED);
    *where = (InjectWhere)safe_int(injected, INJECTED_WHERE);
    return safe_int(injected, INJECTED_ID);
}

/* ---- nodes of an image ---- */

const Node *spot_node(const Graph *g, Json name) {
    return g && json_kind(name) == JSON_STRING ? graph_find(g, name) : NULL;
}

static const Graph *lowest_graph(const Flow *flow, Json image, int64_t frame) {
    int64_t parent = spot_parent(image, frame), branch = spot_branch(image, frame);
    if (!parent) {
        return flow->main;
    }
    Json wait = spot_wait(image, parent);
    if (wait_is(wait, WAIT_CLEANING)) {
        return branch >= 0 && (size_t)branch < flow->ngraphs ? flow->graphs[branch] : NULL;
    }
    const Graph *around = spot_graph(flow, image, spot_top(image, parent));
    if (!wait_is(wait, WAIT_TASKS)) {
        return around;
    }
    const Node *node = spot_node(around, spot_part(image, spot_top(image, parent), IMAGE_NODE));
    return node ? node_inside(node, branch) : NULL;
}

static bool is_injected(Json image, Spot s) {
    return json_kind(spot_part(image, s, IMAGE_INJECTED)) == JSON_ARRAY;
}

const Graph *spot_graph(const Flow *flow, Json image, Spot s) {
    const Graph *graph = lowest_graph(flow, image, s.frame);
    for (Spot at = {s.frame, 0}; graph && at.level < s.level; at.level++) {
        Json name = spot_part(image, at, IMAGE_NODE);
        const Node *node = is_injected(image, at) ? NULL : spot_node(graph, name);
        bool past = json_kind(name) == JSON_NULL && graph->scoped;
        graph = past ? graph->after : node ? node_inside(node, 0) : NULL;
    }
    return is_injected(image, s) ? NULL : graph;
}

/* ---- what a node gave back, from what became of the state ---- */

/* A level before and after a node. The state after it is JSON_NONE when the level has ended. */
typedef struct Change {
    const Graph *graph;
    const Node *node;
    Json state, writes, state_after, writes_after;
} Change;

enum { WRITE_VALUE, WRITE_NODE, WRITE_REPLACES };

static Reduce reducer_of(const Change *c, Json key) {
    const StateKey *row = graph_key(c->graph, key);
    return row ? row->reduce : REDUCE_REPLACE;
}

static size_t list_len(Json old_value) {
    return json_kind(old_value) == JSON_ARRAY ? json_array_len(old_value)
                                              : !safe_is_nothing(old_value);
}

/* The elements that were added; JSON_NONE when it is not that. */
static Json added_items(Json old_value, Json value) {
    size_t n = list_len(old_value);
    bool longer = json_kind(value) == JSON_ARRAY && json_array_len(value) >= n;
    return longer ? json_array_slice(json_ref(value), n, json_array_len(value)) : json_none();
}

static Json added_text(Json old_value, Json value) {
    size_t n = json_string_len(old_value), len = json_string_len(value);
    bool longer = len >= n && !memcmp(json_string_data(&old_value), json_string_data(&value), n);
    return longer ? json_string(json_string_data(&value) + n, len - n) : json_none();
}

static Json added_number(Json old_value, Json value) {
    if (json_tag(old_value) == JSON_TAG_INT && json_tag(value) == JSON_TAG_INT) {
        int64_t by;
        return __builtin_sub_overflow(value.i, old_value.i, &by) ? json_none() : json_int(by);
    }
    double old_number = json_to_double(old_value), number = json_to_double(value);
    double by = number - old_number;
    return old_number + by == number ? json_number(by) : json_none();
}

static Json added_fields(Json old_value, Json value) {
    Json out = json_object(), key, v;
    for (size_t pos = 0; json_object_next(value, &pos, &key, &v);) {
        Json before = json_object_get(old_value, key);
        if (json_is_none(before) || !json_equal(before, v)) {
            out = json_object_set(out, json_ref(key), json_ref(v));
        }
    }
    return out;
}

/* What was put to an old value with jq's +. */
static Json added(Json old_value, Json value) {
    if (safe_is_nothing(old_value)) {
        return json_ref(value);
    }
    if (json_kind(old_value) != json_kind(value)) {
        return json_none();
    }
    switch (json_kind(value)) {
    case JSON_ARRAY: return added_items(old_value, value);
    case JSON_STRING: return added_text(old_value, value);
    case JSON_NUMBER: return added_number(old_value, value);
    case JSON_OBJECT: return added_fields(old_value, value);
    default: return json_none();
    }
}

/* A value that a reducer makes `value` of `old_value` with, given; JSON_NONE: it cannot be
 * known. */
static Json unreduced(Reduce reduce, Json old_value, Json value) {
    if (json_is_none(value)) {
        return value;
    }
    switch (reduce) {
    case REDUCE_REPLACE:
    case REDUCE_MERGE: return json_ref(value); /* old * (old * new) == old * new */
    case REDUCE_APPEND:
    case REDUCE_UNION: return added_items(old_value, value);
    case REDUCE_ADD: return added(old_value, value);
    default: return json_none();
    }
}

static Json write_value(Json entry) {
    return safe_item(entry, WRITE_VALUE);
}

static bool is_replaced(Json entry) {
    return json_kind(entry) == JSON_ARRAY && json_array_len(entry) > WRITE_REPLACES;
}

/* The value that the node, which wrote this key, gave it. Given; JSON_NONE: it cannot be known. */
static Json value_given(const Change *c, Json key) {
    Reduce reduce = reducer_of(c, key);
    Json old_entry = safe_get(c->writes, key), entry = safe_get(c->writes_after, key);
    if (json_is_none(entry) || is_replaced(entry)) {
        return unreduced(reduce, safe_get(c->state, key), safe_get(c->state_after, key));
    }
    Json value = write_value(entry);
    if (reduce == REDUCE_EXPR) { /* a list of all that went through it */
        size_t n = json_kind(value) == JSON_ARRAY ? json_array_len(value) : 0;
        return n ? json_ref(json_array_get(value, n - 1)) : json_none();
    }
    return json_is_none(old_entry) ? json_ref(value)
                                   : unreduced(reduce, write_value(old_entry), value);
}

static bool is_written(const Change *c, Json key) {
    return safe_differ(safe_get(c->writes, key), safe_get(c->writes_after, key)) ||
           (!json_is_none(c->state_after) &&
            safe_differ(safe_get(c->state, key), safe_get(c->state_after, key)));
}

/* A shell always writes these two, also when they are what they were. */
static bool is_always_written(const Change *c, Json key) {
    bool text = c->node->kind->id == KIND_SHELL && json_is_none(c->node->params[SHELL_PARSE].value);
    return text && (json_string_is(key, "stdout") || json_string_is(key, "exit_code"));
}

/* All that it wrote, in its order: new keys are last in what they were added to. */
static Json update_given(const Change *c) {
    bool kept = json_kind(c->writes_after) == JSON_OBJECT;
    Json all = kept ? c->writes_after : c->state_after, update = json_object(), key, value;
    for (size_t pos = 0; json_kind(all) == JSON_OBJECT && !json_is_none(update) &&
                         json_object_next(all, &pos, &key, &value);) {
        if (!is_written(c, key) && !is_always_written(c, key)) {
            continue;
        }
        Json given = value_given(c, key);
        if (json_is_none(given)) {
            json_clear(&update);
        } else {
            update = json_object_set(update, json_ref(key), given);
        }
    }
    return update;
}

static Json result_given(const Change *c) {
    bool named = !json_is_none(c->node->output);
    return named ? value_given(c, c->node->output) : update_given(c);
}

/* What another node gave back in its place: JSON_NONE where the node itself could not have. */
static Json result_given_instead(const Change *c) {
    Json update = update_given(c), value = safe_get(update, c->node->output);
    if (json_is_none(c->node->output)) {
        return update;
    }
    bool all = json_kind(update) == JSON_OBJECT && json_object_len(update) == 1;
    value = all ? json_ref(value) : json_none();
    json_unref(update);
    return value;
}

static Json with_status(const char *status) {
    return json_object_with(json_object(), "status", json_string_c(status));
}

static Json or_null(Json v) {
    return json_is_none(v) ? json_null() : json_ref(v);
}

/* The state of a branch that has ended is gone: as far as its writes tell, and nobody sees the
 * rest. */
static Json state_from_writes(const Change *c) {
    Json state = json_ref(c->state), key, entry;
    for (size_t pos = 0; json_kind(c->writes_after) == JSON_OBJECT &&
                         json_object_next(c->writes_after, &pos, &key, &entry);) {
        if (reducer_of(c, key) == REDUCE_REPLACE || is_replaced(entry)) {
            state = json_object_set(state, json_ref(key), or_null(write_value(entry)));
        }
    }
    return state;
}

static Json level_patch(const Change *c) {
    Json before[] = {json_ref(c->state), or_null(c->writes)};
    Json after[] = {json_is_none(c->state_after) ? state_from_writes(c) : json_ref(c->state_after),
                    or_null(c->writes_after)};
    Json from = json_array_from(before, 2), to = json_array_from(after, 2);
    Json patch = json_diff(from, to);
    json_unref(from);
    json_unref(to);
    return patch;
}

/* ---- variables ---- */

static Json one_change(Json name, Json value) {
    Json change = json_array_push(json_array(), json_array_push(json_array(), json_ref(name)));
    return json_is_none(value) ? change : json_array_push(change, json_ref(value));
}

/* `tasks` of a scope is the engine's own. */
static bool is_changed(const Graph *graph, Json name, Json before, Json after) {
    return !(graph->scoped && json_string_is(name, "tasks")) && safe_differ(before, after);
}

Json outcome_changes(const Graph *graph, Json before, Json after) {
    Json set = json_array(), name, value;
    if (json_kind(before) != JSON_OBJECT || json_kind(after) != JSON_OBJECT) {
        return set;
    }
    for (size_t pos = 0; json_object_next(after, &pos, &name, &value);) {
        if (is_changed(graph, name, json_object_get(before, name), value)) {
            set = json_array_push(set, one_change(name, value));
        }
    }
    for (size_t pos = 0; json_object_next(before, &pos, &name, &value);) {
        Json now = json_object_get(after, name);
        if (json_is_none(now) && is_changed(graph, name, value, now)) {
            set = json_array_push(set, one_change(name, now));
        }
    }
    return set;
}

Json outcome_injected(const Ended *e) {
    Spot above = {e->at.frame, e->at.level + 1};
    Json nothing = json_object();
    Change c = {.graph = e->graph,
                .node = e->node,
                .state = spot_state(e->before, e->at),
                .writes = nothing,
                .state_after = spot_state(e->before, above),
                .writes_after = writes_at(e->before, above)};
    Json update = e->graph->scoped ? json_none() : update_given(&c);
    json_unref(nothing);
    if (json_is_none(update)) {
        Json base = e->graph->scoped ? spot_state(e->base, e->at) : c.state;
        return outcome_changes(e->graph, base, c.state_after);
    }
    Json changes = json_array_push(json_array(), json_ref(update));
    changes = json_object_len(update) ? changes : json_array_slice(changes, 0, 0);
    json_unref(update);
    return changes;
}

/* ---- outcomes of graphs ---- */

static Json handed_writes(const Ended *e) {
    Json wait = spot_wait(e->after, e->taker);
    return wait_is(wait, WAIT_JOIN) ? safe_item(safe_item(wait, WAIT_JOIN_WRITES),
                                                (size_t)spot_branch(e->before, e->at.frame))
                                    : json_none();
}

static Change change_of(const Ended *e) {
    bool there = spot_exists(e->after, e->at);
    return (Change){
        .graph = e->graph,
        .node = e->node,
        .state = spot_state(e->base, e->at),
        .writes = writes_at(e->base, e->at),
        .state_after = there ? spot_state(e->after, e->at) : json_none(),
        .writes_after = there ? writes_at(e->after, e->at) : handed_writes(e),
    };
}

/* Somebody changed the level by hand between the node's beginning and its end. */
static bool was_changed(Json base, Json image, Spot s) {
    return safe_differ(spot_state(base, s), spot_state(image, s)) ||
           safe_differ(writes_at(base, s), writes_at(image, s));
}

/* A node that the workflow does not have ran right before it, or is what ended, in its place. */
static bool was_injected(const Ended *e, InjectWhere where) {
    InjectWhere its;
    Spot above = {e->at.frame, e->at.level + 1};
    return spot_injected(e->before, above, &its) && its == where;
}

static bool had_help(const Ended *e) {
    return was_changed(e->base, e->before, e->at) || was_injected(e, INJECT_BEFORE);
}

/* Of an element that ended; JSON_NONE: it is none. A debugger may have stopped it there.
 * Borrowed. */
static Json element_result(const Ended *e) {
    Json own = spot_wait(e->after, e->at.frame), wait = spot_wait(e->after, e->taker);
    if (!e->at.level && wait_is(own, WAIT_ENDED)) {
        return safe_item(own, WAIT_RESULT);
    }
    bool element = e->taker && !e->at.level && wait_is(wait, WAIT_MAP);
    return element ? safe_item(safe_item(wait, WAIT_MAP_RESULTS),
                               (size_t)spot_branch(e->before, e->at.frame))
                   : json_none();
}

static Json graph_completed(const Ended *e) {
    Json result = json_ref(element_result(e));
    Change c = change_of(e);
    bool known =
        !json_is_none(c.state) && (!json_is_none(c.state_after) || !json_is_none(c.writes_after));
    if (json_is_none(result) && known && !had_help(e)) {
        result = was_injected(e, INJECT_INSTEAD) ? result_given_instead(&c) : result_given(&c);
    }
    if (!json_is_none(result)) {
        return json_object_with(with_status("completed"), "result", result);
    }
    return known ? json_object_with(with_status("completed"), "level", level_patch(&c))
                 : json_none();
}

static Json run_error_at(Json image) {
    Json error = safe_item(safe_item(image, IMAGE_RUN), IMAGE_ERROR);
    return json_kind(error) == JSON_OBJECT ? error : json_none();
}

Json outcome_error(const Ended *e) {
    Json wait = spot_wait(e->after, e->at.frame);
    if (wait_is(wait, WAIT_FAILED)) {
        return json_ref(safe_item(wait, WAIT_FAILED_ERROR));
    }
    if (wait_is(wait, WAIT_RETRY)) {
        return json_ref(safe_item(wait, WAIT_UNTIL + 2));
    }
    if (!json_is_none(run_error_at(e->after))) {
        return json_ref(run_error_at(e->after));
    }
    Change c = change_of(e);
    Json key = json_string_c("error"), error = value_given(&c, key);
    json_unref(key);
    return error;
}

static Json failed_with(Json error) {
    if (json_kind(error) != JSON_OBJECT) {
        json_unref(error);
        return json_none();
    }
    return json_object_with(with_status("failed"), "error", error);
}

/* The graph had no more steps left for it: the engine sees that again by itself. */
static bool is_of_graph(Json error) {
    return json_string_is(safe_get_c(error, "kind"), "recursion");
}

Json outcome_failed(Json error) {
    if (is_of_graph(error)) {
        json_clear(&error);
    }
    return failed_with(error);
}

/* With what a person had changed by then, which may be what comes of it at last. */
static Json graph_failed(const Ended *e) {
    Json info = outcome_failed(outcome_error(e));
    Json set = outcome_changes(e->graph, spot_state(e->base, e->at), spot_state(e->before, e->at));
    if (!json_is_none(info) && json_array_len(set)) {
        return json_object_with(info, "set", set);
    }
    json_unref(set);
    return info;
}

/* One that gave back something instead is as good as done. */
static Json graph_skipped(const Ended *e) {
    Json info = graph_completed(e), result = safe_get_c(info, "result");
    bool nothing = json_kind(result) == JSON_NULL ||
                   (json_kind(result) == JSON_OBJECT && !json_object_len(result));
    bool same = spot_exists(e->after, e->at) && !was_changed(e->base, e->after, e->at);
    if (json_is_none(info) || same || nothing) {
        json_unref(info);
        return with_status("skipped");
    }
    return info;
}

/* ---- outcomes of tasks ---- */

/* The scope that a task ran in, as it is after it: where its frame has ended, what that left with
 * the task that made it, if that has an id. Borrowed. */
static Json scope_after(const Ended *e) {
    Spot owner = owner_at(e->base, e->at);
    if (spot_exists(e->after, owner)) {
        return spot_state(e->after, owner);
    }
    if (owner.frame != e->at.frame || owner.level || !e->taker) {
        return json_none();
    }
    Spot at = spot_top(e->after, e->taker);
    const Node *maker =
        spot_node(spot_graph(e->flow, e->after, at), spot_part(e->after, at, IMAGE_NODE));
    Json id = maker && maker->task ? maker->task->id : json_none();
    Json task = safe_get(safe_get_c(spot_state(e->after, at), "tasks"), id);
    char branch[24];
    snprintf(branch, sizeof branch, "%" PRId64, spot_branch(e->before, e->at.frame));
    return safe_get_c(safe_get_c(safe_get_c(task, "outputs"), "childScopes"), branch);
}

static Json task_said(const Ended *e, Json scope, const char *name) {
    return safe_get_c(safe_get(safe_get_c(scope, "tasks"), e->node->task->id), name);
}

/* Tasks that ran inside another one in its place leave no outcomes, but what is said of them. */
static Json tasks_inside(const Ended *e, Json scope) {
    Json said = safe_get_c(scope, "tasks"),
         before = safe_get_c(spot_state(e->base, e->at), "tasks");
    Json tasks = json_object(), id, task;
    for (size_t pos = 0; json_kind(said) == JSON_OBJECT && was_injected(e, INJECT_INSTEAD) &&
                         json_object_next(said, &pos, &id, &task);) {
        if (safe_differ(id, e->node->task->id) && safe_differ(task, safe_get(before, id))) {
            tasks = json_object_set(tasks, json_ref(id), json_ref(task));
        }
    }
    return tasks;
}

static Json with_scope(Json info, const Ended *e) {
    Json scope = scope_after(e), outputs = task_said(e, scope, "outputs");
    if (json_kind(scope) != JSON_OBJECT) {
        return info;
    }
    Json set = outcome_changes(e->graph, spot_state(e->base, e->at), scope);
    if (json_array_len(set)) {
        info = json_object_with(info, "set", json_ref(set));
    }
    json_unref(set);
    Json tasks = tasks_inside(e, scope);
    if (json_object_len(tasks)) {
        info = json_object_with(info, "tasks", json_ref(tasks));
    }
    json_unref(tasks);
    bool any = json_kind(outputs) == JSON_OBJECT && json_object_len(outputs);
    return any ? json_object_with(info, "outputs", json_ref(outputs)) : info;
}

/* What a slot has now that had no error in it before. */
static Json new_error(Json before, Json after) {
    bool fresh = json_kind(before) != JSON_OBJECT && json_kind(after) == JSON_OBJECT;
    return fresh ? after : json_none();
}

/* A failure that nobody needs any more leaves no error: one is made up. */
static Json unknown_error(const Ended *e) {
    bool late = json_truthy(task_said(e, scope_after(e), "timeout"));
    Json error =
        json_object_with(json_object(), "kind", json_string_c(late ? "timeout" : "recorded"));
    error = json_object_with(error, "message",
                             json_string_c("It failed when it was recorded; its words are not "
                                           "on record."));
    error = json_object_with(error, "node", json_ref(e->node->name_json));
    error = json_object_with(error, "file", json_string_c(e->node->file));
    error = json_object_with(error, "line", json_int(e->node->line));
    return json_object_with(error, "column", json_int(e->node->col));
}

/* In the verdict of its level, or with whoever took the failure: the list around it, or the task
 * that made its frame. */
static Json task_error(const Ended *e) {
    enum { VERDICT_RESULT, VERDICT_ERROR };
    Json verdict = spot_exists(e->after, e->at) ? writes_at(e->after, e->at) : json_none();
    Json error = safe_item(verdict, VERDICT_ERROR);
    if (json_kind(error) != JSON_OBJECT && e->at.level) {
        Spot below = {e->at.frame, e->at.level - 1};
        error = new_error(safe_get_c(writes_at(e->before, below), "error"),
                          safe_get_c(writes_at(e->after, below), "error"));
    }
    if (json_kind(error) != JSON_OBJECT && e->taker) {
        error = new_error(safe_item(spot_wait(e->before, e->taker), WAIT_TASKS_ERROR),
                          safe_item(spot_wait(e->after, e->taker), WAIT_TASKS_ERROR));
    }
    if (json_kind(error) != JSON_OBJECT) {
        error = run_error_at(e->after);
    }
    return json_kind(error) == JSON_OBJECT ? json_ref(error) : unknown_error(e);
}

static Json task_outcome(const Ended *e, const char *status) {
    bool failed = !strcmp(status, "failed");
    return with_scope(failed ? failed_with(task_error(e)) : with_status(status), e);
}

/* ---- the outcome ---- */

/* Its condition skips it again, unless it was paused and a person did. */
static bool skips_by_itself(const Ended *e) {
    return e->node->task && e->node->task->when && !outcome_leaves(e->node) &&
           !wait_is(safe_item(frame_at(e->before, e->at.frame), IMAGE_WAIT), WAIT_PAUSE);
}

static bool is_taken(const Ended *e, const char *status) {
    if (was_injected(e, INJECT_INSTEAD)) {
        return true;
    }
    if (!strcmp(status, "skipped")) {
        return !skips_by_itself(e);
    }
    if (outcome_holds_others(e->node)) {
        return false;
    }
    return outcome_leaves(e->node) || e->node->interrupt_before || e->node->interrupt_after ||
           (!e->graph->scoped && had_help(e));
}

Json outcome_find(const Ended *e, const char *status) {
    if (!is_taken(e, status)) {
        return json_none();
    }
    if (e->graph->scoped) {
        return task_outcome(e, status);
    }
    return !strcmp(status, "failed")    ? graph_failed(e)
           : !strcmp(status, "skipped") ? graph_skipped(e)
                                        : graph_completed(e);
}

Json outcome_resumed(const Ended *e, Json done) {
    Change c = change_of(e);
    bool changed =
        spot_exists(e->after, e->at)
            ? was_changed(done, e->after, e->at)
            : !json_is_none(c.writes_after) && safe_differ(writes_at(done, e->at), c.writes_after);
    return changed ? json_object_with(with_status("completed"), "level", level_patch(&c))
                   : json_none();
}
