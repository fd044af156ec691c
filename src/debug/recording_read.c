/* recording_read.c - what executions came to, read from a line of checkpoints. */
#include "recording_inside.h"

#include "json_binary.h"
#include "json_build.h"
#include "result.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_status(const LineageStep *c, const char *status) {
    return !strcmp(c->status, status);
}

/* ---- executions ---- */

/* An execution, as its end is looked at. All is borrowed. */
typedef struct Ended {
    LevelAt at;
    const Graph *graph;
    const Node *node;
    Json base; /* image when it was come to */
    bool done; /* it has ended, and its frame still stands at it */
} Ended;

/* False: it is of no node of the workflow. */
static bool find_ended(const Reader *rd, LevelAt s, Ended *e) {
    Json visit = reader_visit(rd, s);
    const Graph *graph = image_graph(rd->flow, rd->before, s);
    *e = (Ended){
        .at = s,
        .graph = graph,
        .node = image_node(graph, safe_item(visit, VISIT_NODE)),
        .base = safe_item(visit, VISIT_BASE),
        .done = json_kind(safe_item(visit, VISIT_DONE)) == JSON_ARRAY,
    };
    return e->node != NULL;
}

/* The one that a frame stands at. */
static bool find_running(const Reader *rd, int64_t frame, Ended *e) {
    size_t n = reader_visits(rd, frame);
    return n && find_ended(rd, (LevelAt){frame, n - 1}, e);
}

/* Another node ran in its place, which ends now. */
static bool was_edited(const Reader *rd, LevelAt s) {
    InjectWhere where;
    return image_injected(rd->before, (LevelAt){s.frame, s.level + 1}, &where) &&
           where == INJECT_INSTEAD;
}

/* ---- changes ---- */

/* `tasks` of a scope is the engine's own. */
static bool is_changed(const Graph *graph, Json name, Json before, Json after) {
    return !(graph->scoped && json_string_is(name, "tasks")) && safe_differ(before, after);
}

static Json one_change(Json name, Json value) {
    Json change = json_array_push(json_array(), json_array_push(json_array(), json_ref(name)));
    return json_is_none(value) ? change : json_array_push(change, json_ref(value));
}

/* What became of a state, as HOOK_CHANGE has it: [[[name], value], [[name]], ...]. Given. */
static Json changes_between(const Graph *graph, Json before, Json after) {
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

/* What the level of an injected node has written, through the reducers but for what a person set. */
static Json changes_written(Json writes) {
    enum { WRITE_VALUE, WRITE_NODE, WRITE_REPLACES };
    Json changes = json_array(), update = json_object(), key, entry;
    for (size_t pos = 0;
         json_kind(writes) == JSON_OBJECT && json_object_next(writes, &pos, &key, &entry);) {
        Json value = safe_item(entry, WRITE_VALUE);
        value = json_is_none(value) ? json_null() : value;
        if (safe_len(entry) > WRITE_REPLACES) {
            changes = json_array_push(changes, one_change(key, value));
        } else {
            update = json_object_set(update, json_ref(key), json_ref(value));
        }
    }
    if (json_object_len(update)) {
        return json_array_push(changes, update);
    }
    json_unref(update);
    return changes;
}

/* Sets one of the things that are known of a visit but for its outcome; consumes it. */
static void keep_change(Reader *rd, LevelAt s, const char *what, Json value) {
    Json key = reader_key(rd, s), all = json_object_get(rd->r->changes, key);
    all = json_is_none(all) ? json_object() : json_ref(all);
    rd->r->changes = json_object_set(rd->r->changes, key, json_object_with(all, what, value));
}

/* Adds to what was changed before or after the node; consumes the changes. */
static void keep_changes(Reader *rd, LevelAt s, bool after, Json changes) {
    const char *when = after ? "after" : "before";
    if (!json_array_len(changes)) {
        json_unref(changes);
        return;
    }
    Json key = reader_key(rd, s);
    Json old = json_ref(safe_get_c(safe_get(rd->r->changes, key), when));
    json_unref(key);
    keep_change(rd, s, when, json_is_none(old) ? changes : json_array_concat(old, changes));
}

/* By a person: where the step ends, or in each frame whose state the checkpoint changed. */
static void read_by_hand(Reader *rd, const StepResult *result, Json touched) {
    Json key, id;
    Ended e;
    if (json_kind(result->by_hand) != JSON_ARRAY) {
        return;
    }
    if (lineage_is_step(rd->c)) {
        if (find_running(rd, rd->c->frame, &e)) {
            keep_changes(rd, e.at, e.done || result->after, json_ref(result->by_hand));
        }
        return;
    }
    for (size_t pos = 0; json_object_next(touched, &pos, &key, &id);) {
        if (find_running(rd, id.i, &e) && image_has(rd->after, e.at) &&
            safe_differ(image_seen(rd->before, e.at), image_seen(rd->after, e.at))) {
            keep_changes(rd, e.at, e.done, json_ref(result->by_hand));
        }
    }
}

/* By what was injected at a node of the frame, and has ended. */
static void read_injected(Reader *rd) {
    for (LevelAt s = {rd->c->frame, 0}; s.level < reader_visits(rd, s.frame); s.level++) {
        LevelAt above = {s.frame, s.level + 1};
        InjectWhere where, ignored;
        Ended e;
        int64_t id = image_injected(rd->before, above, &where);
        if (!id || where == INJECT_INSTEAD || image_injected(rd->after, above, &ignored) == id ||
            !find_ended(rd, s, &e)) {
            continue;
        }
        Json done = safe_item(reader_visit(rd, s), VISIT_DONE);
        Json base = where == INJECT_AFTER ? done : e.base;
        keep_changes(
            rd, s, where == INJECT_AFTER,
            e.graph->scoped
                ? changes_between(e.graph, image_seen(base, s), image_seen(rd->before, above))
                : changes_written(image_part(rd->before, above, IMAGE_WRITES)));
    }
}

/* ---- outcomes of graphs ---- */

/* The graph had no more steps left for it: the engine sees that again by itself. */
static Json failed_outcome(Json error) {
    bool of_graph = json_string_is(safe_get_c(error, "kind"), "recursion");
    return json_kind(error) == JSON_OBJECT && !of_graph
               ? OBJECT(KEY("status", "failed"), KEY("error", json_ref(error)))
               : json_none();
}

/* A node that names its output gave back what is there, unless another one ran in its place. */
static Json graph_outcome(const Reader *rd, const Ended *e, Json update) {
    Json wait = image_wait(rd->before, image_parent(rd->before, e->at.frame));
    bool element = !e->at.level && wait_is(wait, WAIT_MAP);
    bool is_object = json_kind(update) == JSON_OBJECT;
    bool nothing = json_kind(update) == JSON_NULL || (is_object && !json_object_len(update));
    if (is_status(rd->c, "skipped") && nothing) {
        return OBJECT(KEY("status", "skipped"));
    }
    if (!element && is_object && !json_is_none(e->node->output)) {
        Json value = json_object_get(update, e->node->output);
        bool all = json_object_len(update) == 1 && !json_is_none(value);
        return OBJECT(KEY("status", "completed"),
                      KEY(all ? "result" : "update", json_ref(all ? value : update)));
    }
    return json_is_none(update)
               ? json_none()
               : OBJECT(KEY("status", "completed"), KEY("result", json_ref(update)));
}

/* ---- outcomes of tasks ---- */

/* The scope that a task ran in, as it is after it: where its frame has ended, what that left with
 * the task that made it, if that has an id. Borrowed. */
static Json scope_after(const Reader *rd, const Ended *e) {
    LevelAt owner = image_owner(e->base, e->at);
    if (image_has(rd->after, owner)) {
        return image_seen(rd->after, owner);
    }
    int64_t frame = e->at.frame, parent = image_parent(rd->before, frame);
    if (owner.frame != frame || owner.level || image_depth(rd->after, frame) || !parent) {
        return json_none();
    }
    LevelAt at = image_top(rd->after, parent);
    const Node *maker =
        image_node(image_graph(rd->flow, rd->after, at), image_part(rd->after, at, IMAGE_NODE));
    Json id = maker && maker->task ? maker->task->id : json_none();
    Json task = safe_get(safe_get_c(image_seen(rd->after, at), "tasks"), id);
    char branch[24];
    snprintf(branch, sizeof branch, "%" PRId64, image_branch(rd->before, frame));
    return safe_get_c(safe_get_c(safe_get_c(task, "outputs"), "childScopes"), branch);
}

/* What is said of other tasks that ran inside one whose config was edited: they leave no outcomes. */
static Json tasks_inside(const Ended *e, Json scope) {
    Json said = safe_get_c(scope, "tasks"),
         before = safe_get_c(image_seen(e->base, e->at), "tasks");
    Json tasks = json_object(), id, task;
    for (size_t pos = 0;
         json_kind(said) == JSON_OBJECT && json_object_next(said, &pos, &id, &task);) {
        if (safe_differ(id, e->node->task->id) && safe_differ(task, safe_get(before, id))) {
            tasks = json_object_set(tasks, json_ref(id), json_ref(task));
        }
    }
    return tasks;
}

/* The object or array, consumed; JSON_NONE when there is nothing in it. */
static Json unless_empty(Json v) {
    bool any = json_kind(v) == JSON_OBJECT ? json_object_len(v) : safe_len(v);
    if (!any) {
        json_clear(&v);
    }
    return v;
}

static Json task_outcome(const Reader *rd, const Ended *e, const StepResult *result) {
    Json scope = scope_after(rd, e), set = json_array(), tasks = json_none(), name, value;
    Json said = safe_get(safe_get_c(scope, "tasks"), e->node->task->id);
    if (was_edited(rd, e->at)) {
        json_unref(set);
        set = changes_between(e->graph, image_seen(e->base, e->at), scope);
        tasks = unless_empty(tasks_inside(e, scope));
    } else {
        for (size_t pos = 0; json_kind(result->set) == JSON_OBJECT &&
                             json_object_next(result->set, &pos, &name, &value);) {
            set = json_array_push(set, one_change(name, value));
        }
    }
    bool failed = is_status(rd->c, "failed");
    return OBJECT(KEY("status", rd->c->status),
                  KEY("error", json_ref(failed ? result->error : json_none())),
                  KEY("set", unless_empty(set)), KEY("tasks", tasks),
                  KEY("outputs", unless_empty(json_ref(safe_get_c(said, "outputs")))));
}

/* ---- steps ---- */

/* What failed came after the node, which was done. */
static bool is_past_node(Json wait) {
    return wait_is(wait, WAIT_FAILED) && (json_truthy(safe_item(wait, WAIT_FAILED_AFTER)) ||
                                          wait_is(safe_item(wait, WAIT_FAILED_BEFORE), WAIT_JOIN));
}

/* The node has ended and the frame still stands at it: it is stopped there, made branches, or
 * failed and may be tried again. */
static void note_stay(Reader *rd, LevelAt s) {
    InjectWhere where;
    Json visit = reader_visit(rd, s);
    WaitKind wait = wait_kind(image_wait(rd->after, s.frame));
    bool followed =
        image_injected(rd->after, (LevelAt){s.frame, s.level + 1}, &where) && where == INJECT_AFTER;
    bool done = followed || wait == WAIT_AFTER || wait == WAIT_FINISHED || wait == WAIT_ENDED ||
                wait == WAIT_JOIN;
    bool here = image_has(rd->after, s) &&
                !safe_differ(image_part(rd->after, s, IMAGE_NODE), safe_item(visit, VISIT_NODE));
    if (here && (done || wait == WAIT_FAILED)) {
        Json stays = json_array_set(json_ref(visit), VISIT_STEPS,
                                    json_int(image_part_int(rd->after, s, IMAGE_STEPS)));
        reader_set_visit(rd, s,
                         done ? json_array_set(stays, VISIT_DONE, json_ref(rd->after)) : stays);
    }
}

/* Whether what came of it is taken; a condition skips it again, unless a person did. */
static bool is_taken(const Reader *rd, const Ended *e) {
    if (was_edited(rd, e->at)) {
        return true;
    }
    if (is_status(rd->c, "skipped")) {
        return !(e->node->task && e->node->task->when && !node_leaves(e->node) &&
                 !image_is_parked(rd->before, e->at.frame));
    }
    return node_is_leaf(e->node) &&
           (node_leaves(e->node) || e->node->interrupt_before || e->node->interrupt_after);
}

/* The node of the checkpoint has ended. */
static void read_step(Reader *rd, LevelAt s, const StepResult *result) {
    Json name = json_string_c(rd->c->node);
    Ended e;
    bool turned = reader_see_turn(rd, s, name);
    bool found = turned || !safe_differ(safe_item(reader_visit(rd, s), VISIT_NODE), name);
    json_unref(name);
    if (!found || is_past_node(image_wait(rd->after, s.frame)) || !find_ended(rd, s, &e)) {
        return;
    }
    Json info = !is_taken(rd, &e)            ? json_none()
                : e.graph->scoped            ? task_outcome(rd, &e, result)
                : is_status(rd->c, "failed") ? failed_outcome(result->error)
                                             : graph_outcome(rd, &e, result->update);
    if (!json_is_none(info)) {
        reader_keep(rd, s, e.node, info);
    }
    note_stay(rd, s);
}

/* An error that the node of the checkpoint took, of one inside it. */
static void read_inside(Reader *rd, const StepResult *result) {
    Ended e;
    Json name = safe_get_c(result->error, "node");
    if (safe_differ(name, safe_item(reader_visit(rd, result->at), VISIT_NODE)) ||
        !find_ended(rd, result->at, &e) || e.done || !node_leaves(e.node)) {
        return;
    }
    Json info = failed_outcome(result->error);
    if (!json_is_none(info)) {
        reader_keep(rd, e.at, e.node, info);
    }
}

/* ---- going elsewhere ---- */

static bool is_done(const Reader *rd, LevelAt s) {
    return json_kind(safe_item(reader_visit(rd, s), VISIT_DONE)) == JSON_ARRAY;
}

/* A frame that is stopped, and then stopped at another node, or before the one that it was done with. */
static bool is_sent(const Reader *rd, LevelAt from, LevelAt to) {
    bool stays = image_is_parked(rd->before, from.frame) && image_is_parked(rd->after, from.frame);
    bool there =
        from.level == to.level && !safe_differ(image_part(rd->after, to, IMAGE_NODE),
                                               safe_item(reader_visit(rd, from), VISIT_NODE));
    bool begins = is_done(rd, from) && wait_is(image_wait(rd->after, to.frame), WAIT_LOOKED);
    return is_status(rd->c, "moved") || (is_status(rd->c, "paused") && stays && (!there || begins));
}

/* What it had begun is not begun again, but has left its traces: a list of tasks, or turns of a loop. */
static void keep_traces(Reader *rd, const Ended *e, LevelAt to) {
    if (e->at.level == to.level && (e->graph->scoped || !node_is_leaf(e->node))) {
        keep_changes(
            rd, e->at, false,
            changes_between(e->graph, image_seen(e->base, e->at), image_seen(rd->after, to)));
    }
}

/* The node that it stands at now is come to once more, whatever it was at before. */
static void read_sent(Reader *rd) {
    int64_t frame = rd->c->frame;
    size_t n = reader_visits(rd, frame);
    LevelAt from = {frame, n - 1}, to = image_top(rd->after, frame);
    Ended e;
    if (!n || !image_has(rd->after, to) || !is_sent(rd, from, to)) {
        return;
    }
    Json node = image_part(rd->after, to, IMAGE_NODE);
    bool done = is_done(rd, from);
    if (find_ended(rd, from, &e) && json_kind(node) == JSON_STRING) {
        if (!done) {
            keep_traces(rd, &e, to);
        }
        Json parts[] = {json_string_c(done ? "after" : "before"), json_ref(node)};
        keep_change(rd, from, "goto", json_array_from(parts, 2));
    }
    if (to.level < n) {
        reader_set_visit(rd, to, json_null());
    }
}

/* ---- trying again ---- */

static bool is_failed(Json image, int64_t frame) {
    Json wait = image_wait(image, frame);
    return wait_is(wait, WAIT_FAILING) || wait_is(wait, WAIT_FAILED);
}

/* Of a node that holds others, failed and is tried again by hand, the last try is what counts, on all that
 * was there when it began: then it does not fail. */
static void read_again(Reader *rd) {
    int64_t frame = rd->c->frame;
    LevelAt s = image_top(rd->after, frame);
    Json name = image_part(rd->after, s, IMAGE_NODE);
    Ended e;
    if (!is_failed(rd->before, frame) || is_failed(rd->after, frame) ||
        safe_differ(name, safe_item(reader_visit(rd, s), VISIT_NODE)) || is_done(rd, s) ||
        !find_ended(rd, s, &e) || node_is_leaf(e.node)) {
        return;
    }
    reader_forget_inside(rd, s);
    keep_change(rd, s, "before",
                changes_between(e.graph, image_seen(e.base, s), image_seen(rd->after, s)));
}

/* ---- walking ---- */

static Json touch(Json touched, Json key) {
    Json id = json_number_parse(json_string_data(&key), json_string_len(key));
    if (json_tag(id) == JSON_TAG_INT && id.i > 0) {
        return json_object_set(touched, json_ref(key), id);
    }
    json_unref(id);
    return touched;
}

static Json touch_all(Json touched, Json image) {
    Json frames = safe_item(image, IMAGE_FRAMES), key, frame;
    for (size_t pos = 0;
         json_kind(frames) == JSON_OBJECT && json_object_next(frames, &pos, &key, &frame);) {
        touched = touch(touched, key);
    }
    return touched;
}

/* {key: number} of the frames that a patch says something of. */
static Json touched_by(const LineageImage *at) {
    Json patch = json_decode(at->checkpoint->patch, at->checkpoint->patch_len, NULL, NULL);
    Json touched = json_object();
    for (size_t i = 0; json_kind(patch) == JSON_ARRAY && i < json_array_len(patch); i++) {
        Json path = safe_item(json_array_get(patch, i), 0), key = safe_item(path, 1);
        if (json_kind(key) == JSON_STRING) {
            touched = touch(touched, key);
        } else if (safe_is_nothing(key) && safe_int(path, 0) == IMAGE_FRAMES) {
            touched = touch_all(touch_all(touched, at->before), at->after);
        } else if (safe_is_nothing(safe_item(path, 0))) {
            touched = touch_all(touch_all(touched, at->before), at->after);
        }
    }
    json_unref(patch);
    return touched;
}

/* What came of the node of the checkpoint and, when that took the error of one inside it, of that one. */
static void read_result(Reader *rd, const StepResult *result) {
    LevelAt own = image_top(rd->after, rd->c->frame), at = result->at;
    const Graph *graph = image_graph(rd->flow, rd->before, at);
    bool failed = is_status(rd->c, "failed") || is_status(rd->c, "retrying");
    bool inside =
        failed && (at.frame != own.frame || at.level != own.level) && !(graph && graph->scoped);
    if (lineage_is_step(rd->c)) {
        read_step(rd, inside ? own : at, result);
    }
    if (inside) {
        read_inside(rd, result);
    }
}

static bool read_checkpoint(Reader *rd, const LineageImage *at) {
    StepResult result;
    rd->c = &rd->line->items[at->index];
    rd->before = at->before;
    rd->after = at->after;
    bool said = result_read(at->checkpoint, at->before, at->after, &result);
    if (!said && lineage_is_step(rd->c)) {
        rd->unsaid = rd->c->seq;
        return false;
    }
    Json touched = touched_by(at), key, id;
    read_injected(rd);
    read_by_hand(rd, &result, touched);
    if (said) {
        read_result(rd, &result);
    }
    read_sent(rd);
    read_again(rd);
    for (size_t pos = 0; json_object_next(touched, &pos, &key, &id);) {
        reader_see(rd, id.i);
    }
    json_unref(touched);
    result_clear(&result);
    return true;
}

/* What is under way where the line ends. */
static void leave_all(Reader *rd, const LineageImage *at) {
    bool last = at->index + 1 == rd->line->n;
    Json key, ignored, all = last ? touch_all(json_object(), at->after) : json_object();
    for (size_t pos = 0; json_object_next(all, &pos, &key, &ignored);) {
        size_t n = reader_visits(rd, ignored.i);
        if (n) {
            reader_leave(rd, (LevelAt){ignored.i, n - 1}, at->after);
        }
    }
    if (last) {
        json_unref(rd->r->last);
        rd->r->last = reader_last(rd, at->after);
    }
    json_unref(all);
}

static bool read_one(void *ctx, const LineageImage *at) {
    if (!read_checkpoint(ctx, at)) {
        return false;
    }
    leave_all(ctx, at);
    return true;
}

static bool begins_with_run(const Lineage *line, const RecordingSource *source, Error *err) {
    if (!line->n || line->items[0].step == 0) {
        return true;
    }
    return error_set(err, ERR_USAGE,
                     "The history of run %" PRId64 " begins after %" PRId64
                     " steps: what came of those is not on record, because it was pruned or the "
                     "run is a fork of another thread. Replay a run that has its history from the "
                     "start.",
                     source->run, line->items[0].step);
}

bool recording_read(Recording *r, Store *store, const RecordingSource *source, Error *err) {
    Lineage line;
    if (!lineage_read(store, source->run, source->seq, 0, &line, err)) {
        return false;
    }
    Reader rd = {.r = r, .flow = source->flow, .line = &line, .seen = json_object()};
    bool ok = begins_with_run(&line, source, err) &&
              lineage_images(store, source->run, &line, read_one, &rd, err);
    if (ok && rd.unsaid) {
        ok = error_set(err, ERR_USAGE,
                       "Checkpoint %" PRId64 " of run %" PRId64
                       " does not say what its node gave back: a version of pawl made it that did "
                       "not record that. Replay a run that this version made.",
                       rd.unsaid, source->run);
    }
    json_unref(rd.seen);
    lineage_clear(&line);
    return ok;
}
