/* load.c - from the store: an image becomes frames. */
#include "load.h"

#include "advance.h"
#include "control.h"
#include "fetched.h"
#include "image_read.h"
#include "injected.h"
#include "mem.h"
#include "park.h"
#include "schedule.h"
#include "steer.h"
#include "work.h"

#include <stdio.h>

bool run_is_forked(const Run *run) {
    return run->head != run->row.head;
}

/* ---- levels ---- */

/* Most have the parent that the one before them has, or are its children. */
static Frame *find_frame(const Run *run, int64_t id) {
    Frame *last = run->last_frame;
    for (Frame *f = last; f; f = f->parent) {
        if (f->id == id) return f;
    }
    for (Frame *f = run->first_frame; f; f = f->next) {
        if (f->id == id) return f;
    }
    return NULL;
}

/* A list that cleans up, by its number. */
static const Graph *cleanup_graph(const Flow *flow, uint32_t number) {
    const Graph *graph = number < flow->ngraphs ? flow->graphs[number] : NULL;
    return graph && graph->cleanup ? graph : NULL;
}

/* The graph of a frame's next level follows from where the frame stands. NULL: there is none. */
static const Graph *next_graph(const Frame *f) {
    const Flow *flow = f->run->flow;
    const Level *around = f->nlevels ? frame_top(f) : f->parent ? frame_top(f->parent) : NULL;
    if (!around) return flow->main;
    if (f->nlevels) {
        if (!around->node) return around->graph->after;
        bool enters = around->graph->scoped || steering_of(around->node)->level_done;
        return enters ? node_inside(around->node, 0) : NULL;
    }
    switch (f->parent->waits) {
    case WAIT_CLEANING: return cleanup_graph(flow, f->branch);
    case WAIT_TASKS: return around->node ? node_inside(around->node, f->branch) : NULL;
    default: return around->graph;
    }
}

/* The same of one that is inside of a test that was fetched: it, or what cleans up for a part of it. */
static const Graph *fetched_graph(const Frame *f, const Fetched *fetched) {
    const Node *node = f->nlevels ? frame_top(f)->node : NULL;
    if (node) return node->kind->id == KIND_RUN_EXTERNAL_TASKS ? fetched->flow->main : NULL;
    bool cleans = !f->nlevels && f->parent && f->parent->waits == WAIT_CLEANING;
    return cleans ? cleanup_graph(fetched->flow, f->branch) : NULL;
}

static bool position_gone(const Run *run, Json name, Error *err) {
    error_set(err, ERR_USAGE,
              "The run stands at node `%.*s`, which is not there any more, or not of the same "
              "kind, in this version of the workflow.",
              (int)json_string_len(name), json_string_data(&name));
    error_fact(err, "thread", run->row.thread);
    return error_fact(err, "gone", json_string_data(&name));
}

/* So far from its end that going on counting never comes there. */
static int32_t counted(Json image, size_t part) {
    enum { FAR = 2000000000 };
    int64_t n = image_int(image, part);
    return (int32_t)(n < FAR ? n : FAR);
}

static bool load_level(Frame *f, Json image, Error *err) {
    Json name = json_array_get(image, IMAGE_NODE), writes = json_array_get(image, IMAGE_WRITES);
    Json state = json_array_get(image, IMAGE_STATE);
    Json added = json_array_get(image, IMAGE_INJECTED);
    const Node *beside = f->nlevels ? frame_top(f)->node : NULL;
    bool is_node = json_kind(added) == JSON_ARRAY;
    if (is_node && !beside) {
        return error_set(err, ERR_DATA, "A node is injected where there is none.");
    }
    Fetched *fetched = json_tag(added) == JSON_TAG_INT ? fetched_find(f->run, added.i) : NULL;
    if (json_tag(added) == JSON_TAG_INT && !fetched) {
        return error_set(err, ERR_DATA, "A level is inside of a test that is not there.");
    }
    Injected *injected = is_node ? injected_load(f, added, err) : NULL;
    if (is_node && !injected) return false;
    const Graph *graph = injected  ? injected->flow->main
                         : fetched ? fetched_graph(f, fetched)
                                   : next_graph(f);
    if (!graph) {
        const Node *below = f->nlevels ? frame_top(f)->node : NULL;
        return position_gone(f->run, below ? below->name_json : name, err);
    }
    if (graph->scoped) {
        state = json_kind(state) == JSON_NULL ? json_none() : state;
    } else if (json_kind(state) == JSON_NULL) { /* that of the level below */
        state = f->nlevels ? frame_top(f)->state : frame_top(f->parent)->state;
    }
    bool own = !graph->scoped || (graph->outside && f->nlevels); /* it has a state itself */
    if (own && json_kind(state) != JSON_OBJECT) {
        injected_free(f->run, injected);
        return error_set(err, ERR_DATA, "A level has no state.");
    }
    Level *l = level_push(f, graph, json_ref(state), false);
    l->injected = injected;
    if (fetched) fetched_enter(f, fetched);
    JsonKind kept = json_kind(writes);
    if (graph->scoped ? kept != JSON_NULL && kept != JSON_ARRAY && kept != JSON_OBJECT
                      : !writes_valid(writes)) {
        return error_set(err, ERR_DATA, "What a level has written is not what levels write.");
    }
    l->writes = json_kind(writes) == JSON_NULL ? json_none() : json_ref(writes);
    l->steps = image_int(image, IMAGE_STEPS);
    l->attempt = counted(image, IMAGE_ATTEMPT);
    l->count = counted(image, IMAGE_COUNT);
    l->node = json_kind(name) == JSON_STRING ? graph_find(graph, name) : NULL;
    l->deadline = l->node ? image_int(image, IMAGE_LEVEL_DEADLINE) : 0;
    return json_kind(name) != JSON_STRING || l->node || position_gone(f->run, name, err);
}

/* ---- what frames wait for ---- */

/* A function of the program around the library, which is not this one. */
static bool is_elsewhere(const Run *run, const Node *node) {
    KindId kind = node->kind->id;
    return (kind == KIND_CALLBACK || kind == KIND_CALLBACK_LATER) && !run->engine->work[kind];
}

/* Work of a kind that only another program has is kept for that. */
static bool is_outside(const Frame *f) {
    const Node *node = frame_top(f)->node;
    return node && node->kind->id != KIND_SLEEP &&
           (frame_leaves_engine(f, node) || is_elsewhere(f->run, node));
}

bool run_has_functions(const Run *run, Error *err) {
    const Flow *flow = run->flow;
    for (size_t g = 0; g < flow->ngraphs; g++) {
        for (size_t i = 0; i < flow->graphs[g]->nnodes; i++) {
            const Node *node = &flow->graphs[g]->nodes[i];
            while (node_body(node)) node = node_body(node);
            if (!is_elsewhere(run, node)) continue;
            error_set(err, ERR_USAGE,
                      "Node `%s` of thread `%s` is a function of the program that started it: only "
                      "that program can go on with the run.",
                      node->name, run->row.thread);
            return error_fact(err, "thread", run->row.thread);
        }
    }
    return true;
}

static bool is_kind(const Frame *f, KindId kind) {
    const Node *node = frame_top(f)->node;
    return node && node->kind->id == kind;
}

/* A node of another kind than the one that the frame waits for begins anew, where that is possible. */
static bool fits_or_begins(Frame *f, bool fits) {
    if (!fits) frame_arrive(f, true);
    return true;
}

bool fit_work(Frame *f, Error *err) {
    (void)err;
    return fits_or_begins(f, is_outside(f));
}

bool fit_sleep(Frame *f, Error *err) {
    (void)err;
    return fits_or_begins(f, is_kind(f, KIND_SLEEP) || is_kind(f, KIND_TASK_SLEEP));
}

bool fit_interrupt(Frame *f, Error *err) {
    (void)err;
    bool approval = json_string_is(json_array_get(f->wait, WAIT_REASON), "approval");
    return fits_or_begins(f, frame_asks_for_work(f) ? is_outside(f)
                                                    : !approval || is_kind(f, KIND_APPROVAL));
}

static bool node_gone(const Frame *f, Error *err) {
    const Node *node = frame_top(f)->node;
    return position_gone(f->run, node ? node->name_json : json_string_c(""), err);
}

bool fit_map(Frame *f, Error *err) {
    return is_kind(f, KIND_MAP) || node_gone(f, err);
}

bool fit_tasks(Frame *f, Error *err) {
    const Node *node = frame_top(f)->node;
    return (node && node->task && steering_of(node)->so_far) || node_gone(f, err);
}

/* Branches that have left nothing yet are still there to do so. */
bool fit_join(Frame *f, Error *err) {
    Json all = json_array_get(f->wait, WAIT_JOIN_WRITES);
    bool ok = json_kind(all) == JSON_ARRAY && !frame_top(f)->graph->scoped;
    size_t open = 0;
    for (size_t i = 0; ok && i < json_array_len(all); i++) {
        Json writes = json_array_get(all, i);
        ok = writes_valid(writes);
        open += json_kind(writes) == JSON_NULL;
    }
    return (ok && open <= f->children) ||
           error_set(err, ERR_DATA, "Frame %lld waits for branches that are not there.",
                     (long long)f->id);
}

static bool fit_wait(Frame *f, Error *err);

/* What it waits for below a pause or a failure has to fit as well: it is what is gone on with. */
static bool fit_held(Frame *f, size_t at, Error *err) {
    WaitKind kind = f->waits;
    Json wait = f->wait, inner = json_ref(json_array_get(wait, at));
    f->wait = json_ref(inner);
    f->waits = wait_kind(inner);
    bool ok = json_is_none(inner) || fit_wait(f, err);
    if (!json_identical(f->wait, inner) && kind == WAIT_PAUSE) {
        wait = json_array_set(wait, WAIT_PAUSED, wait_of(WAIT_LOOKED));
        wait = json_array_set(wait, WAIT_PAUSE_POSITION, json_int(HOOK_BEFORE));
    } else if (!json_identical(f->wait, inner)) {
        wait = json_array_set(wait, at, json_null());
    }
    json_unref(f->wait);
    json_unref(inner);
    f->wait = wait;
    f->waits = kind;
    return ok;
}

static bool fit_wait(Frame *f, Error *err) {
    const WaitRow *row = &wait_rows[f->waits];
    const Level *l = frame_top(f);
    bool lost = !l->node && row->at > (l->graph->scoped ? AT_ANY : AT_NODE_OF_LIST);
    if (lost) return fits_or_begins(f, false);
    return row->held ? fit_held(f, row->held, err) : !row->fit || row->fit(f, err);
}

/* ---- frames ---- */

/* How it came about follows from what its parent waits for. */
static bool load_parent(Frame *f, Error *err) {
    Json wait = f->parent->wait, join = json_array_get(wait, WAIT_JOIN_NODE);
    f->parent->children++;
    if (wait_is(wait, WAIT_TASKS) || wait_is(wait, WAIT_CLEANING)) {
        f->is_task = wait_is(wait, WAIT_TASKS);
        f->is_cleanup = !f->is_task;
        return true;
    }
    if (wait_is(wait, WAIT_MAP)) {
        json_put(&f->vars, json_ref(f->parent->vars));
        element_init(f);
        return true;
    }
    f->is_branch = true;
    if (json_is_none(f->levels[0].writes)) {
        return error_set(err, ERR_DATA, "Frame %lld is a branch without what it has written.",
                         (long long)f->id);
    }
    if (json_kind(join) != JSON_STRING) return true;
    f->join = graph_node(frame_top(f->parent)->graph, join);
    return f->join || error_set(err, ERR_DATA, "The node where branches join is gone.");
}

/* Another branch of the same fork would take its place among what they leave. */
static bool has_twin(const Run *run, const Frame *parent, int64_t branch) {
    const Frame *f = parent && parent->waits == WAIT_JOIN ? run->last_frame : NULL;
    while (f && (f->parent != parent || f->branch != branch)) f = f->prev;
    return f != NULL;
}

static bool load_frame(Run *run, Json key, Json image, Error *err) {
    char id[24];
    snprintf(id, sizeof id, "%.*s", (int)json_string_len(key), json_string_data(&key));
    int64_t parent_id = image_int(image, IMAGE_PARENT), branch = image_int(image, IMAGE_BRANCH);
    int64_t next = run->next_frame;
    Frame *parent = parent_id ? find_frame(run, parent_id) : NULL;
    Json levels = json_array_get(image, IMAGE_LEVELS), extra = json_array_get(image, IMAGE_EXTRA);
    Json lowest = json_array_get(json_array_get(levels, 0), IMAGE_STATE);
    bool rootless = !parent && json_kind(lowest) == JSON_NULL;
    if (rootless || (parent_id && !parent) ||
        (parent && wait_rows[parent->waits].status != FRAME_HOLDING)) {
        return error_set(err, ERR_DATA, "Frame %s has lost its parent.", id);
    }
    /* what it leaves goes to its place among those that the parent waits for */
    size_t list = parent ? wait_rows[parent->waits].list : 0;
    uint64_t places = list ? json_array_len(json_array_get(parent->wait, list)) : UINT32_MAX;
    if (parent && (branch < 0 || (uint64_t)branch >= places || has_twin(run, parent, branch))) {
        return error_set(err, ERR_DATA, "Frame %s is none of those that its parent waits for.", id);
    }
    Frame *f = frame_new(run, parent, (uint32_t)branch);
    run->next_frame = next;
    f->id = frame_number(key);
    json_put(&f->key, json_ref(key));
    json_put(&f->wait, json_ref(json_array_get(image, IMAGE_WAIT)));
    f->waits = wait_kind(f->wait);
    for (size_t i = 0; i < json_array_len(levels); i++) {
        if (!load_level(f, json_array_get(levels, i), err)) return false;
    }
    if (parent && !load_parent(f, err)) return false;
    Json held = json_object_get_c(extra, "held");
    f->held_at = json_tag(held) == JSON_TAG_INT ? held.i : 0;
    return injections_load(f, json_object_get_c(extra, "inject"), err);
}

static void load_head(Run *run, Json head) {
    Json status = json_array_get(head, IMAGE_STATUS), error = json_array_get(head, IMAGE_ERROR);
    Json folder = json_array_get(head, IMAGE_FOLDER);
    run->next_frame = image_int(head, IMAGE_NEXT_FRAME);
    run->deadline = image_int(head, IMAGE_DEADLINE);
    json_put(&run->mode, json_ref(json_array_get(head, IMAGE_MODE)));
    json_put(&run->definition, json_ref(json_array_get(head, IMAGE_DEFINITION)));
    json_put(&run->folder, json_ref(folder));
    mem_free(run->folder_path);
    run->folder_path = json_kind(folder) == JSON_STRING
                           ? mem_strndup(json_string_data(&folder), json_string_len(folder))
                           : NULL;
    json_put(&run->error, json_kind(error) == JSON_NULL ? json_none() : json_ref(error));
    run_trace_load(run, json_array_get(head, IMAGE_TRACE));
    Json starter = json_array_get(head, IMAGE_STARTER);
    json_put(&run->starter, json_kind(starter) == JSON_STRING ? json_ref(starter) : json_none());
    Json only = json_array_get(head, IMAGE_ONLY);
    run->only =
        json_kind(only) == JSON_ARRAY
            ? (RunOnly){image_int(only, 0), (uint32_t)image_int(only, 1), image_int(only, 2)}
            : (RunOnly){0};
    int ended = json_kind(status) == JSON_STRING ? run_status_find(json_string_data(&status)) : -1;
    run->status = ended < 0 ? RUN_RUNNING : (RunStatus)ended;
}

/* The frames of an image; back: from elsewhere than where the run stands. Clocks of nodes stood still while
 * nobody ran them: they have the time left that they had. So has all that waits for a time when the run goes
 * back to an earlier checkpoint; otherwise a sleep goes on by the clock, process or not. */
static bool load_image(Run *run, Json image, int64_t at, bool back, Error *err) {
    int64_t stopped = back || at > run->row.updated ? at : run->row.updated;
    Json shifted = image_shift(json_ref(image), engine_time(run->engine) - stopped, back);
    Json key, frame;
    Json frames = json_array_get(shifted, IMAGE_FRAMES),
         recorded = json_array_get(image, IMAGE_FRAMES);
    bool ok = true;
    load_head(run, json_array_get(shifted, IMAGE_RUN));
    ok = fetched_load(run, json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_FETCHED), err);
    for (size_t pos = 0; ok && json_object_next(frames, &pos, &key, &frame);) {
        ok = load_frame(run, key, frame, err);
    }
    for (Frame *f = run->dirty; f; f = f->dirty_next) f->dirty = false;
    run->dirty = NULL;
    json_put(&run->image, json_ref(image));
    for (Frame *f = run->first_frame; ok && f; f = f->next) {
        ok = fit_wait(f, err);
        if (!json_identical(json_object_get(frames, f->key), json_object_get(recorded, f->key))) {
            frame_mark(f);
        }
    }
    json_unref(shifted);
    return ok;
}

/* ---- a run from the store ---- */

/* key: of the definition that is taken instead of the stored one; NULL: none is. */
static bool build_run(Run *run, const Loaded *loaded, const char *key, Error *err) {
    run->last = run->handed_last = run->loaded = run->row.last;
    run->head = loaded->seq;
    run->handed_head = run->durable_head = run->row.head;
    run->step = loaded->step;
    run->weight = loaded->weight;
    if (!load_image(run, loaded->image, loaded->at, run_is_forked(run), err)) return false;
    if (key) {
        json_put(&run->definition,
                 strcmp(key, run->row.definition) ? json_string_c(key) : json_null());
    }
    Json debug = json_array_get(json_array_get(loaded->image, IMAGE_RUN), IMAGE_DEBUG);
    run_set_debug(run, json_is_none(debug) ? json_null() : json_ref(debug));
    if (run->only.frame) run_set_hooks(run, NULL, NULL);
    return true;
}

Run *request_build(Request *q) {
    Loaded *loaded = &q->loaded;
    Error *err = &q->job.err;
    if (err->code != ERR_NONE) return NULL;
    FlowProblems problems = {0};
    Flow *flow =
        q->reload ? flow_ref(q->reload) : flow_load_definition(loaded->definition, &problems);
    if (!flow) {
        error_set(err, ERR_DATA, "The workflow stored with thread `%s` does not load here: %s",
                  loaded->row.thread, problems.n ? problems.items[0].msg : "it is damaged.");
    }
    flow_problems_clear(&problems);
    Run *run = flow ? run_new(q->engine, flow) : NULL;
    flow_unref(flow);
    if (!run) return NULL;
    run->row = loaded->row;
    loaded->row = (RunRow){0};
    run->leased = q->leased;
    q->leased = false;
    run_set_by(run, q->by);
    if (!build_run(run, loaded, q->reload_key, err)) {
        run_free(run);
        return NULL;
    }
    if (!run_is_forked(run) && !q->replays) {
        work_sweep(run, NULL); /* results that are on record, and what nobody wants any more */
    }
    return run;
}

/* ---- going back ---- */

/* Every frame goes, and what it was doing; then those that were loaded come. */
static bool take_loaded(Run *run, const Loaded *loaded, Error *err) {
    frame_index_clear(run);
    while (run->last_frame) {
        Frame *f = run->last_frame;
        work_cancel(f);
        frame_remove(f);
    }
    for (Frame *f = run->dirty, *next; f; f = next) {
        next = f->dirty_next;
        frame_free(f);
    }
    run->dirty = NULL;
    run->ready = NULL;
    run->head = loaded->seq;
    run->step = loaded->step;
    run->weight = loaded->weight;
    return load_image(run, loaded->image, loaded->at, true, err);
}

/* As rewind_read() leaves a checkpoint: what a Loaded has of it. */
enum { THERE_SEQ, THERE_STEP, THERE_AT, THERE_IMAGE, THERE_SNAPSHOT, THERE_WEIGHT, THERE_PATCHES };

Json rewind_read(Store *store, const RewindTo *to, Error *err) {
    Loaded l = {.row = {.run = to->run, .thread = (char *)to->thread}, .seq = to->seq};
    if (!loaded_read(store, &l, false, err)) {
        json_unref(l.image);
        return json_none();
    }
    Json values[] = {[THERE_SEQ] = json_int(l.seq),
                     [THERE_STEP] = json_int(l.step),
                     [THERE_AT] = json_int(l.at),
                     [THERE_IMAGE] = l.image,
                     [THERE_SNAPSHOT] = json_int((int64_t)l.weight.snapshot),
                     [THERE_WEIGHT] = json_int((int64_t)l.weight.image),
                     [THERE_PATCHES] = json_int((int64_t)l.weight.patches)};
    Json there = json_array();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        there = json_array_push(there, values[i]);
    }
    return there;
}

/* When what is to be taken is damaged, the run goes back to where it was: what was recorded last is in
 * memory, durable or not. */
bool load_again(Run *run, Json there, Error *err) {
    Loaded then = {.seq = json_array_get(there, THERE_SEQ).i,
                   .step = json_array_get(there, THERE_STEP).i,
                   .at = json_array_get(there, THERE_AT).i,
                   .image = json_array_get(there, THERE_IMAGE),
                   .weight = {.snapshot = (uint64_t)json_array_get(there, THERE_SNAPSHOT).i,
                              .image = (uint64_t)json_array_get(there, THERE_WEIGHT).i,
                              .patches = (uint64_t)json_array_get(there, THERE_PATCHES).i}};
    Loaded here = {.image = json_ref(run->image),
                   .seq = run->head,
                   .step = run->step,
                   .at = engine_time(run->engine),
                   .weight = run->weight};
    Json head = json_array_get(then.image, IMAGE_RUN);
    bool ok = json_equal(json_array_get(head, IMAGE_DEFINITION), run->definition);
    if (!ok) {
        error_set(err, ERR_USAGE, "At checkpoint %lld the run had another version of the workflow.",
                  (long long)then.seq);
        error_fact(err, "thread", run->row.thread);
        error_fact_int(err, "checkpoint", then.seq);
    } else if (!take_loaded(run, &then, err)) {
        ok = false;
        take_loaded(run, &here, NULL);
    }
    json_unref(here.image);
    return ok;
}
