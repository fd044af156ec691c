/* recording_read.c - what executions came to, read from a line of checkpoints.
 *
 * The line is walked once, with the images before and at each checkpoint. For every frame it is known at which
 * nodes its levels stand: a *visit* each, from the record in which the level is first seen there (its base) to
 * the one that ends it, which says what the node came to (result.h).
 *
 * The patch of a checkpoint names the frames that it touched, and only those are looked at, so that a map of
 * thousands costs what happens in it. */
#include "recording_inside.h"

#include "json_build.h"
#include "result.h"
#include "store_chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- visits: where the frames of a line stand, checkpoint by checkpoint ---- */

/* A visit is an array. */
enum {
    VISIT_NODE,  /* name, or null past the last */
    VISIT_STEPS, /* of the level */
    VISIT_TURNS, /* of its loop so far */
    VISIT_NTH,
    VISIT_BASE, /* the image in which it was first seen there */
    VISIT_DONE, /* the image in which the node was done while the frame stays; null: it is not */
    VISIT_PARTS,
};

typedef struct Reader {
    Recording *r;
    const Flow *flow;
    const Lineage *line;
    const LineageStep *c;
    Json before, after; /* images around the checkpoint */
    Json seen;      /* {frame: [path, [visit, ...]]} as of `before`, while a step is looked at */
    int64_t unsaid; /* a step whose result is not on record; 0: none so far */
} Reader;

enum { SEEN_PATH, SEEN_VISITS };

static void add_string(Buf *out, Json s) {
    buf_add(out, json_string_data(&s), json_string_len(s));
}

static Json seen_part(const Reader *rd, int64_t frame, size_t part) {
    char key[24];
    snprintf(key, sizeof key, "%" PRId64, frame);
    return json_array_get(json_object_get_c(rd->seen, key), part);
}

/* How many the frame has; 0: it is not known. */
static size_t visit_count(const Reader *rd, int64_t frame) {
    return json_array_len(seen_part(rd, frame, SEEN_VISITS));
}

/* Borrowed; JSON_NONE: none. */
static Json visit_at(const Reader *rd, LevelAt s) {
    return json_array_get(seen_part(rd, s.frame, SEEN_VISITS), s.level);
}

static void set_seen(Reader *rd, int64_t frame, Json path, Json visits) {
    rd->seen = json_object_set(rd->seen, image_key(frame), ARRAY(path, visits));
}

/* Consumes the visit. */
static void set_visit(Reader *rd, LevelAt s, Json visit) {
    Json visits = json_ref(seen_part(rd, s.frame, SEEN_VISITS));
    Json path = json_ref(seen_part(rd, s.frame, SEEN_PATH));
    set_seen(rd, s.frame, path, json_array_set(visits, s.level, visit));
}

/* The names of visits below a level, and "frame\n" before them. */
static void add_visits(Buf *out, Json path, Json visits, size_t level) {
    add_string(out, path);
    buf_addc(out, '\n');
    for (size_t i = 0; i < level; i++) {
        Json visit = json_array_get(visits, i), name = json_array_get(visit, VISIT_NODE);
        if (json_kind(name) == JSON_STRING) {
            add_string(out, name);
        } else {
            buf_adds(out, "__start__");
        }
        place_add_again(out, image_int(visit, VISIT_NTH), 0);
        buf_addc(out, '/');
    }
}

static void place_of(const Reader *rd, LevelAt s, Buf *out) {
    Json visits = seen_part(rd, s.frame, SEEN_VISITS);
    add_visits(out, seen_part(rd, s.frame, SEEN_PATH), visits, s.level);
    Json name = json_array_get(json_array_get(visits, s.level), VISIT_NODE);
    if (json_kind(name) == JSON_STRING) add_string(out, name);
}

/* Of its place; given. */
static Json visit_key(const Reader *rd, LevelAt s) {
    Buf place = BUF_INIT;
    place_of(rd, s, &place);
    Json key = place_key(&place, image_int(visit_at(rd, s), VISIT_NTH));
    buf_clear(&place);
    return key;
}

/* What came of the nodes inside the one of a visit, and how often they were come to, is not known. */
static void forget_inside(Reader *rd, LevelAt s) {
    Recording *r = rd->r;
    int64_t nth = image_int(visit_at(rd, s), VISIT_NTH);
    Buf place = BUF_INIT;
    place_of(rd, s, &place);
    r->counts = place_forget_inside(r->counts, &place, nth);
    r->outcomes = place_forget_inside(r->outcomes, &place, nth);
    r->changes = place_forget_inside(r->changes, &place, nth);
    buf_clear(&place);
}

/* ---- seeing where frames stand ---- */

static void see(Reader *rd, int64_t frame);

static Json path_seen(Reader *rd, int64_t frame) {
    int64_t parent = image_parent(rd->after, frame);
    if (!parent) return json_string_c("main");
    see(rd, parent);
    LevelAt at = image_top(rd->after, parent);
    Buf made = BUF_INIT, path = BUF_INIT;
    place_of(rd, at, &made);
    if (json_kind(json_array_get(visit_at(rd, at), VISIT_NODE)) != JSON_STRING) {
        buf_adds(&made, "__start__");
    }
    place_add_again(&made, image_int(visit_at(rd, at), VISIT_NTH),
                    image_part_int(rd->after, at, IMAGE_ATTEMPT));
    bool cleanup = wait_is(image_wait(rd->after, parent), WAIT_CLEANING);
    place_add_child(&path, &made, cleanup ? 0 : image_branch(rd->after, frame));
    Json out = place_text(&path);
    buf_clear(&made);
    buf_clear(&path);
    return out;
}

/* It is of a node that was injected, or inside one. */
static bool is_injected(Json image, LevelAt s) {
    InjectWhere where;
    do {
        if (image_injected(image, s, &where)) return true;
    } while (image_go_down(image, &s));
    return false;
}

/* A level stands at a node, of that name, for the nth time. Those that the workflow does not have are not
 * counted: the next run does not come to them. From there on the run is live, if that is the node. */
static Json new_visit(Reader *rd, LevelAt s, Json name, Json image) {
    bool named = json_kind(name) == JSON_STRING, turn = !json_identical(image, rd->after);
    Json visits = seen_part(rd, s.frame, SEEN_VISITS);
    Buf place = BUF_INIT;
    add_visits(&place, seen_part(rd, s.frame, SEEN_PATH), visits, s.level);
    if (named) add_string(&place, name);
    bool counts = named && !is_injected(image, s);
    Json parts[VISIT_PARTS] = {
        [VISIT_NODE] = named ? json_ref(name) : json_null(),
        [VISIT_STEPS] = json_int(turn ? 0 : image_part_int(image, s, IMAGE_STEPS)),
        [VISIT_TURNS] = json_int(turn ? 0 : image_part_int(image, s, IMAGE_COUNT)),
        [VISIT_NTH] = json_int(counts ? place_count_one(&rd->r->counts, &place) : 0),
        [VISIT_BASE] = json_ref(image),
        [VISIT_DONE] = json_null(),
    };
    buf_clear(&place);
    const char *from = rd->r->live_from;
    const Node *node = from ? image_node(image_graph(rd->flow, image, s), name) : NULL;
    rd->r->live = rd->r->live || (node && place_is_called(node, from));
    return json_array_from(parts, VISIT_PARTS);
}

/* What is kept of the visits so far: those up to the first level that has gone on. The steps of a level tell
 * one time at a node from the next, but for a loop: the steps of its turns are added while it goes on. */
static size_t visits_kept(const Reader *rd, int64_t frame, size_t n) {
    bool turned = false; /* the level below: all above it is new */
    for (LevelAt s = {frame, 0}; s.level < n; s.level++) {
        Json visit = visit_at(rd, s), name = image_part(rd->after, s, IMAGE_NODE);
        int64_t turns = image_int(visit, VISIT_TURNS);
        int64_t count = image_part_int(rd->after, s, IMAGE_COUNT);
        bool same_steps =
            image_int(visit, VISIT_STEPS) == image_part_int(rd->after, s, IMAGE_STEPS);
        if (turned || json_kind(visit) != JSON_ARRAY || !image_has(rd->after, s) ||
            safe_differ(json_array_get(visit, VISIT_NODE),
                        json_is_none(name) ? json_null() : name) ||
            !(same_steps || (turns && count >= turns))) {
            return s.level;
        }
        turned = turns != count;
    }
    return n;
}

/* What came of the visit; consumes info. */
static void keep_outcome(Reader *rd, LevelAt s, const Node *node, Json info) {
    rd->r->outcomes =
        json_object_set(rd->r->outcomes, visit_key(rd, s), ARRAY(json_int(node->kind->id), info));
}

/* Something else ended it, or the line ends before it did. */
static void leave_visit(Reader *rd, LevelAt s, Json image) {
    Json visit = visit_at(rd, s);
    const Node *node =
        image_node(image_graph(rd->flow, image, s), json_array_get(visit, VISIT_NODE));
    if (!node || !node_leaves(node) || json_kind(json_array_get(visit, VISIT_DONE)) != JSON_NULL) {
        return;
    }
    Json key = visit_key(rd, s);
    if (json_is_none(json_object_get(rd->r->outcomes, key))) keep_outcome(rd, s, node, json_null());
    json_unref(key);
}

/* Frames in frames deeper than any run has them are not looked at: an image may come from
 * anywhere. */
static bool is_too_deep(Json image, int64_t frame) {
    enum { NESTING_MAX = 1000 };
    int nesting = 0;
    for (int64_t at = frame; at && nesting <= NESTING_MAX; at = image_parent(image, at)) nesting++;
    return nesting > NESTING_MAX;
}

/* The frame stands as `after` has it. */
static void see(Reader *rd, int64_t frame) {
    size_t n = visit_count(rd, frame), kept = visits_kept(rd, frame, n);
    if (!n && is_too_deep(rd->after, frame)) return;
    if (kept < n) leave_visit(rd, (LevelAt){frame, n - 1}, rd->before);
    if (!image_depth(rd->after, frame)) {
        Json key = image_key(frame);
        rd->seen = json_object_remove(rd->seen, key);
        json_unref(key);
        return;
    }
    Json path = seen_part(rd, frame, SEEN_PATH), visits = seen_part(rd, frame, SEEN_VISITS);
    path = json_is_none(path) ? path_seen(rd, frame) : json_ref(path);
    visits = json_is_none(visits) ? json_array() : json_array_slice(json_ref(visits), 0, kept);
    set_seen(rd, frame, path, visits);
    for (LevelAt s = {frame, 0}; s.level < image_depth(rd->after, frame); s.level++) {
        Json turns = json_int(image_part_int(rd->after, s, IMAGE_COUNT));
        Json name = image_part(rd->after, s, IMAGE_NODE);
        set_visit(rd, s,
                  s.level < kept ? json_array_set(json_ref(visit_at(rd, s)), VISIT_TURNS, turns)
                                 : new_visit(rd, s, name, rd->after));
    }
}

/* ---- turns of loops ---- */

/* A turn of a loop may begin without a record; then its first node, of that name, ends before the frame was
 * ever seen at it. False: that is not so here. The turn took over the state that the one before had left. */
static bool see_turn(Reader *rd, LevelAt s, Json name) {
    LevelAt below = {s.frame, s.level - 1};
    int64_t count = image_part_int(rd->after, below, IMAGE_COUNT);
    if (!s.level || !image_has(rd->before, s) ||
        json_kind(json_array_get(visit_at(rd, s), VISIT_NODE)) != JSON_NULL ||
        image_depth(rd->after, s.frame) != s.level + 1 ||
        count <= image_int(visit_at(rd, below), VISIT_TURNS)) {
        return false;
    }
    set_visit(rd, s, new_visit(rd, s, name, rd->before));
    set_visit(rd, below,
              json_array_set(json_ref(visit_at(rd, below)), VISIT_TURNS, json_int(count)));
    return true;
}

/* ---- where a run stands ---- */

/* Work begins anew when a run goes back (run_rewind), and what was not begun is come to. */
static LastStage stage_at(Json wait, Json visit) {
    WaitKind kind = wait_kind(wait);
    bool done = json_kind(json_array_get(visit, VISIT_DONE)) != JSON_NULL;
    bool tried = kind == WAIT_FAILING || kind == WAIT_FAILED || kind == WAIT_RETRY;
    return done                                                ? LAST_ENDED
           : tried                                             ? LAST_TAKEN
           : safe_is_nothing(wait) || wait_is(wait, WAIT_WORK) ? LAST_SEEN
                                                               : LAST_COUNTED;
}

/* {frame: [place, LastStage]} of the frames of an image that have all been seen; given. */
static Json last_places(const Reader *rd, Json image) {
    Json out = json_object(), key, seen;
    for (size_t pos = 0; json_object_next(rd->seen, &pos, &key, &seen);) {
        int64_t frame = strtoll(json_string_data(&key), NULL, 10);
        LevelAt s = {frame, visit_count(rd, frame) - 1};
        if (visit_count(rd, frame)) {
            Buf place = BUF_INIT;
            place_of(rd, s, &place);
            LastStage stage = stage_at(image_wait(image, frame), visit_at(rd, s));
            out = json_object_set(out, json_ref(key), ARRAY(place_text(&place), json_int(stage)));
            buf_clear(&place);
        }
    }
    return out;
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
    Json visit = visit_at(rd, s);
    const Graph *graph = image_graph(rd->flow, rd->before, s);
    *e = (Ended){
        .at = s,
        .graph = graph,
        .node = image_node(graph, json_array_get(visit, VISIT_NODE)),
        .base = json_array_get(visit, VISIT_BASE),
        .done = json_kind(json_array_get(visit, VISIT_DONE)) == JSON_ARRAY,
    };
    return e->node != NULL;
}

/* The one that a frame stands at. */
static bool find_running(const Reader *rd, int64_t frame, Ended *e) {
    size_t n = visit_count(rd, frame);
    return n && find_ended(rd, (LevelAt){frame, n - 1}, e);
}

/* Another node ran in its place, which ends now. */
static bool was_edited(const Reader *rd, LevelAt s) {
    InjectWhere where;
    return image_injected(rd->before, (LevelAt){s.frame, s.level + 1}, &where) &&
           where == INJECT_INSTEAD;
}

/* ---- changes ---- */

static Json one_change(Json name, Json value) {
    Json change = ARRAY(ARRAY(json_ref(name)));
    return json_is_none(value) ? change : json_array_push(change, json_ref(value));
}

/* What became of a state, as HOOK_CHANGE has it: [[[name], value], [[name]], ...]. `tasks` of a scope is the
 * engine's own. Given. */
static Json changes_between(const Graph *graph, Json before, Json after) {
    Json set = json_array(), name, value;
    bool states = json_kind(before) == JSON_OBJECT && json_kind(after) == JSON_OBJECT;
    for (size_t pos = 0; states && json_object_next(after, &pos, &name, &value);) {
        if (!(graph->scoped && json_string_is(name, "tasks")) &&
            safe_differ(json_object_get(before, name), value)) {
            set = json_array_push(set, one_change(name, value));
        }
    }
    for (size_t pos = 0; states && json_object_next(before, &pos, &name, &value);) {
        if (!(graph->scoped && json_string_is(name, "tasks")) &&
            json_is_none(json_object_get(after, name))) {
            set = json_array_push(set, one_change(name, json_none()));
        }
    }
    return set;
}

/* What the level of an injected node has written, through the reducers but for what a person set. */
static Json changes_written(Json writes) {
    enum { WRITE_VALUE, WRITE_NODE, WRITE_REPLACES };
    Json changes = json_array(), update = json_object(), key, entry;
    for (size_t pos = 0; json_object_next(writes, &pos, &key, &entry);) {
        Json value = json_array_get(entry, WRITE_VALUE);
        value = json_is_none(value) ? json_null() : value;
        if (json_array_len(entry) > WRITE_REPLACES) {
            changes = json_array_push(changes, one_change(key, value));
        } else {
            update = json_object_set(update, json_ref(key), json_ref(value));
        }
    }
    if (json_object_len(update)) return json_array_push(changes, update);
    json_unref(update);
    return changes;
}

/* Sets one of the things that are known of a visit but for its outcome; consumes it. */
static void keep_change(Reader *rd, LevelAt s, const char *what, Json value) {
    Json key = visit_key(rd, s), all = json_ref(json_object_get(rd->r->changes, key));
    rd->r->changes = json_object_set(rd->r->changes, key, json_object_with(all, what, value));
}

/* Adds to what was changed before or after the node; consumes the changes. */
static void keep_changes(Reader *rd, LevelAt s, bool after, Json changes) {
    const char *when = after ? "after" : "before";
    if (!json_array_len(changes)) {
        json_unref(changes);
        return;
    }
    Json key = visit_key(rd, s);
    Json old = json_ref(json_object_get_c(json_object_get(rd->r->changes, key), when));
    json_unref(key);
    keep_change(rd, s, when, json_is_none(old) ? changes : json_array_concat(old, changes));
}

/* By a person: where the step ends, or in each frame whose state the checkpoint changed. */
static void read_by_hand(Reader *rd, const StepResult *result, Json touched) {
    Json key, id;
    Ended e;
    if (json_kind(result->by_hand) != JSON_ARRAY) return;
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
    for (LevelAt s = {rd->c->frame, 0}; s.level < visit_count(rd, s.frame); s.level++) {
        LevelAt above = {s.frame, s.level + 1};
        InjectWhere where, ignored;
        Ended e;
        int64_t id = image_injected(rd->before, above, &where);
        if (!id || where == INJECT_INSTEAD || image_injected(rd->after, above, &ignored) == id ||
            !find_ended(rd, s, &e)) {
            continue;
        }
        Json done = json_array_get(visit_at(rd, s), VISIT_DONE);
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
    bool of_graph = json_string_is(json_object_get_c(error, "kind"), "recursion");
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
    if (lineage_is(rd->c, "skipped") && nothing) return OBJECT(KEY("status", "skipped"));
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
    if (image_has(rd->after, owner)) return image_seen(rd->after, owner);
    int64_t frame = e->at.frame, parent = image_parent(rd->before, frame);
    if (owner.frame != frame || owner.level || image_depth(rd->after, frame) || !parent) {
        return json_none();
    }
    LevelAt at = image_top(rd->after, parent);
    const Node *maker =
        image_node(image_graph(rd->flow, rd->after, at), image_part(rd->after, at, IMAGE_NODE));
    Json id = maker && maker->task ? maker->task->id : json_none();
    Json task = json_object_get(json_object_get_c(image_seen(rd->after, at), "tasks"), id);
    Json outputs = json_object_get_c(task, "outputs");
    char branch[24];
    int64_t number = image_branch(rd->before, frame);
    if (maker && maker->kind->id == KIND_RUN_TASK_BACKGROUND) {
        return json_object_get_c(outputs, number ? "backgroundScope" : "foregroundScope");
    }
    snprintf(branch, sizeof branch, "%" PRId64, number);
    return json_object_get_c(json_object_get_c(outputs, "childScopes"), branch);
}

/* What is said of other tasks that ran inside one whose config was edited: they leave no outcomes. */
static Json tasks_inside(const Ended *e, Json scope) {
    Json said = json_object_get_c(scope, "tasks"),
         before = json_object_get_c(image_seen(e->base, e->at), "tasks");
    Json tasks = json_object(), id, task;
    for (size_t pos = 0; json_object_next(said, &pos, &id, &task);) {
        if (safe_differ(id, e->node->task->id) && safe_differ(task, json_object_get(before, id))) {
            tasks = json_object_set(tasks, json_ref(id), json_ref(task));
        }
    }
    return tasks;
}

/* The object or array, consumed; JSON_NONE when there is nothing in it. */
static Json unless_empty(Json v) {
    bool any = json_kind(v) == JSON_OBJECT ? json_object_len(v) : json_array_len(v);
    if (!any) json_clear(&v);
    return v;
}

static Json task_outcome(const Reader *rd, const Ended *e, const StepResult *result) {
    Json scope = scope_after(rd, e), set = json_array(), tasks = json_none(), name, value;
    Json said = json_object_get(json_object_get_c(scope, "tasks"), e->node->task->id);
    if (was_edited(rd, e->at)) {
        json_put(&set, changes_between(e->graph, image_seen(e->base, e->at), scope));
        tasks = unless_empty(tasks_inside(e, scope));
    } else {
        for (size_t pos = 0; json_object_next(result->set, &pos, &name, &value);) {
            set = json_array_push(set, one_change(name, value));
        }
    }
    bool failed = lineage_is(rd->c, "failed");
    return OBJECT(KEY("status", rd->c->status),
                  KEY("error", json_ref(failed ? result->error : json_none())),
                  KEY("set", unless_empty(set)), KEY("tasks", tasks),
                  KEY("outputs", unless_empty(json_ref(json_object_get_c(said, "outputs")))));
}

/* ---- steps ---- */

/* The node has ended and the frame still stands at it: it is stopped there, made branches, or
 * failed and may be tried again. */
static void note_stay(Reader *rd, LevelAt s) {
    InjectWhere where;
    Json visit = visit_at(rd, s);
    WaitKind wait = wait_kind(image_wait(rd->after, s.frame));
    bool followed =
        image_injected(rd->after, (LevelAt){s.frame, s.level + 1}, &where) && where == INJECT_AFTER;
    bool done = followed || wait == WAIT_AFTER || wait == WAIT_FINISHED || wait == WAIT_ENDED ||
                wait == WAIT_JOIN;
    bool here = image_has(rd->after, s) && !safe_differ(image_part(rd->after, s, IMAGE_NODE),
                                                        json_array_get(visit, VISIT_NODE));
    if (here && (done || wait == WAIT_FAILED)) {
        Json stays = json_array_set(json_ref(visit), VISIT_STEPS,
                                    json_int(image_part_int(rd->after, s, IMAGE_STEPS)));
        set_visit(rd, s, done ? json_array_set(stays, VISIT_DONE, json_ref(rd->after)) : stays);
    }
}

/* Whether what came of it is taken; a condition skips it again, unless a person did. */
static bool is_taken(const Reader *rd, const Ended *e) {
    if (was_edited(rd, e->at)) return true;
    if (lineage_is(rd->c, "skipped")) {
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
    bool turned = see_turn(rd, s, name);
    bool found = turned || !safe_differ(json_array_get(visit_at(rd, s), VISIT_NODE), name);
    json_unref(name);
    Json wait = image_wait(rd->after, s.frame);
    bool past = wait_is(wait, WAIT_FAILED) && /* what failed came after the node, which was done */
                (json_truthy(json_array_get(wait, WAIT_FAILED_AFTER)) ||
                 wait_is(json_array_get(wait, WAIT_FAILED_BEFORE), WAIT_JOIN));
    if (!found || past || !find_ended(rd, s, &e)) return;
    Json info = !is_taken(rd, &e)             ? json_none()
                : e.graph->scoped             ? task_outcome(rd, &e, result)
                : lineage_is(rd->c, "failed") ? failed_outcome(result->error)
                                              : graph_outcome(rd, &e, result->update);
    if (!json_is_none(info)) keep_outcome(rd, s, e.node, info);
    note_stay(rd, s);
}

/* An error that the node of the checkpoint took, of one inside it. */
static void read_inside(Reader *rd, const StepResult *result) {
    Ended e;
    Json name = json_object_get_c(result->error, "node");
    if (safe_differ(name, json_array_get(visit_at(rd, result->at), VISIT_NODE)) ||
        !find_ended(rd, result->at, &e) || e.done || !node_leaves(e.node)) {
        return;
    }
    Json info = failed_outcome(result->error);
    if (!json_is_none(info)) keep_outcome(rd, e.at, e.node, info);
}

/* ---- going elsewhere ---- */

static bool is_done(const Reader *rd, LevelAt s) {
    return json_kind(json_array_get(visit_at(rd, s), VISIT_DONE)) == JSON_ARRAY;
}

/* A frame that is stopped, and then stopped at another node, or before the one that it was done with. */
static bool is_sent(const Reader *rd, LevelAt from, LevelAt to) {
    bool stays = image_is_parked(rd->before, from.frame) && image_is_parked(rd->after, from.frame);
    bool there =
        from.level == to.level && !safe_differ(image_part(rd->after, to, IMAGE_NODE),
                                               json_array_get(visit_at(rd, from), VISIT_NODE));
    bool begins = is_done(rd, from) && wait_is(image_wait(rd->after, to.frame), WAIT_LOOKED);
    return lineage_is(rd->c, "moved") ||
           (lineage_is(rd->c, "paused") && stays && (!there || begins));
}

/* The node that it stands at now is come to once more, whatever it was at before. */
static void read_sent(Reader *rd) {
    int64_t frame = rd->c->frame;
    size_t n = visit_count(rd, frame);
    LevelAt from = {frame, n - 1}, to = image_top(rd->after, frame);
    Ended e;
    if (!n || !image_has(rd->after, to) || !is_sent(rd, from, to)) return;
    Json node = image_part(rd->after, to, IMAGE_NODE);
    bool done = is_done(rd, from);
    if (find_ended(rd, from, &e) && json_kind(node) == JSON_STRING) {
        /* what it had begun is not begun again, but has left its traces: a list of tasks, or turns of a loop */
        if (!done && from.level == to.level && (e.graph->scoped || !node_is_leaf(e.node))) {
            keep_changes(
                rd, from, false,
                changes_between(e.graph, image_seen(e.base, from), image_seen(rd->after, to)));
        }
        keep_change(rd, from, "goto",
                    ARRAY(json_string_c(done ? "after" : "before"), json_ref(node)));
    }
    if (to.level < n) set_visit(rd, to, json_null());
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
        safe_differ(name, json_array_get(visit_at(rd, s), VISIT_NODE)) || is_done(rd, s) ||
        !find_ended(rd, s, &e) || node_is_leaf(e.node)) {
        return;
    }
    forget_inside(rd, s);
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
    Json frames = json_array_get(image, IMAGE_FRAMES), key, frame;
    for (size_t pos = 0; json_object_next(frames, &pos, &key, &frame);) {
        touched = touch(touched, key);
    }
    return touched;
}

/* {key: number} of the frames that a patch says something of. */
static Json touched_by(const LineageImage *at) {
    Json patch = chain_decode(at->checkpoint->patch, at->checkpoint->patch_len, NULL);
    Json touched = json_object();
    for (size_t i = 0; i < json_array_len(patch); i++) {
        Json path = json_array_get(json_array_get(patch, i), 0), key = json_array_get(path, 1);
        if (json_kind(key) == JSON_STRING) {
            touched = touch(touched, key);
        } else if (safe_is_nothing(json_array_get(path, 0)) ||
                   (safe_is_nothing(key) && image_int(path, 0) == IMAGE_FRAMES)) {
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
    bool failed = lineage_is(rd->c, "failed") || lineage_is(rd->c, "retrying");
    bool inside =
        failed && (at.frame != own.frame || at.level != own.level) && !(graph && graph->scoped);
    if (lineage_is_step(rd->c)) read_step(rd, inside ? own : at, result);
    if (inside) read_inside(rd, result);
}

/* What is under way where the line ends. */
static void leave_all(Reader *rd, Json image) {
    Json key, id, all = touch_all(json_object(), image);
    for (size_t pos = 0; json_object_next(all, &pos, &key, &id);) {
        size_t n = visit_count(rd, id.i);
        if (n) leave_visit(rd, (LevelAt){id.i, n - 1}, image);
    }
    json_unref(all);
    json_put(&rd->r->last, last_places(rd, image));
}

static bool read_checkpoint(void *ctx, const LineageImage *at) {
    Reader *rd = ctx;
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
    if (said) read_result(rd, &result);
    read_sent(rd);
    read_again(rd);
    for (size_t pos = 0; json_object_next(touched, &pos, &key, &id);) see(rd, id.i);
    json_unref(touched);
    result_clear(&result);
    if (at->index + 1 == rd->line->n) leave_all(rd, at->after);
    return true;
}

bool recording_read(Recording *r, Store *store, const RecordingSource *source, Error *err) {
    Lineage line;
    if (!lineage_read(store, source->run, source->seq, 0, &line, err)) return false;
    Reader rd = {.r = r, .flow = source->flow, .line = &line, .seen = json_object()};
    int64_t before = line.n ? line.items[0].step : 0;
    bool ok = !before ||
              error_set(err, ERR_USAGE,
                        "The history of run %" PRId64 " begins after %" PRId64
                        " steps: what came of those is not on record, because it was pruned or the "
                        "run is a fork of another thread. Replay a run that has its history from "
                        "the start.",
                        source->run, before);
    ok = ok && lineage_images(store, source->run, &line, read_checkpoint, &rd, err);
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
