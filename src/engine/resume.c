/* resume.c - from the store and back: starting, going on, changing by hand. */
#include "runs.h"

#include "json_binary.h"
#include "json_path.h"
#include "json_print.h"
#include "mem.h"
#include "suggest.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- help ---- */

static void lock(Engine *e) {
    if (e->journal) {
        journal_lock(e->journal);
    }
}

static void unlock(Engine *e) {
    if (e->journal) {
        journal_unlock(e->journal);
    }
}

static void on_deadline(uv_timer_t *timer) {
    Run *run = timer->data;
    Error err = ERROR_INIT;
    if (run->deadline > engine_now(run->engine)) {
        run_set_deadline(run);
        return;
    }
    if (run->halting || run->settling || !run_status_change(&run->status, RUN_FAILS)) {
        return;
    }
    error_set(&err, ERR_LIMIT, "The run took longer than its timeout of %g s.",
              (double)run->flow->main->timeout_ms / 1000);
    json_unref(run->error);
    run->error = fail_error(run->first_frame, NULL, "timeout", &err, json_none());
    run_record(run, run->first_frame, NULL, "failed", json_none());
    run_set_halt(run, RUN_FAILS);
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
    uv_timer_start(run->timer, on_deadline, left > 0 ? (uint64_t)left : 0, 0);
}

static void tell_start(Run *run, bool resumed) {
    Json data =
        json_object_set(json_object(), json_string_c("workflow"), json_string_c(run->flow->name));
    data = json_object_set(data, json_string_c("resumed"), json_bool(resumed));
    engine_tell(run, NULL, (Event){.type = EVENT_START, .data = data});
}

/* ---- starting ---- */

static bool create_row(Engine *e, Flow *flow, const RunStart *start, RunRow *row, Error *err) {
    Json definition = flow_definition(flow);
    lock(e);
    char *key = store_define(e->options.store, definition, err);
    bool ok = key && store_create_run(e->options.store, start->thread, flow->name, key, row, err);
    unlock(e);
    mem_free(key);
    json_unref(definition);
    return ok;
}

static bool row_without_store(const char *thread, RunRow *row) {
    thread = thread ? thread : "run-1";
    *row = (RunRow){.run = 1, .thread = mem_strndup(thread, strlen(thread))};
    return true;
}

Run *engine_start(Engine *e, Flow *flow, const RunStart *start, Error *err) {
    RunRow row = {0};
    if (!json_is_none(start->input) && json_kind(start->input) != JSON_OBJECT) {
        error_set(err, ERR_USAGE, "The input of a workflow is an object; this one is a%s %s.",
                  json_kind(start->input) == JSON_ARRAY ? "n" : "",
                  json_kind_name(json_kind(start->input)));
        return NULL;
    }
    if (!(e->options.store ? create_row(e, flow, start, &row, err)
                           : row_without_store(start->thread, &row))) {
        return NULL;
    }
    Run *run = run_new(e, flow);
    run->row = row;
    run->leased = e->options.store != NULL;
    if (start->mode) {
        json_unref(run->mode);
        run->mode = json_string_c(start->mode);
    }
    if (flow->main->timeout_ms) {
        run->deadline = engine_now(e) + flow->main->timeout_ms;
    }
    run_set_deadline(run);
    tell_start(run, false);
    Frame *f = frame_new(run, NULL, 0);
    level_push(f, flow->main, graph_initial_state(flow->main, start->input), false);
    if (frame_go_on(f)) {
        run_record(run, f, NULL, "started", json_ref(frame_top(f)->state));
        frame_schedule(f);
    }
    run_settle_if_done(run);
    engine_kick(e);
    return run;
}

/* ---- an image becomes frames ---- */

/* Most have the parent that the one before them has, or are its children. */
static Frame *find_frame(const Run *run, int64_t id) {
    Frame *last = run->last_frame;
    for (Frame *f = last; f; f = f->parent) {
        if (f->id == id) {
            return f;
        }
    }
    for (Frame *f = run->first_frame; f; f = f->next) {
        if (f->id == id) {
            return f;
        }
    }
    return NULL;
}

static bool load_level(Frame *f, Json image, Error *err) {
    const Flow *flow = f->run->flow;
    int64_t id = image_int(image, IMAGE_GRAPH);
    Json name = json_array_get(image, IMAGE_NODE), writes = json_array_get(image, IMAGE_WRITES);
    if (id < 0 || (size_t)id >= flow->ngraphs) {
        return error_set(err, ERR_DATA, "The workflow has no graph number %lld.", (long long)id);
    }
    const Graph *graph = flow->graphs[id];
    Json state = json_array_get(image, IMAGE_STATE);
    if (json_kind(state) == JSON_NULL) { /* that of the level below */
        state = f->nlevels ? frame_top(f)->state : frame_top(f->parent)->state;
    }
    Level *l = level_push(f, graph, json_ref(state), false);
    l->writes = json_kind(writes) == JSON_NULL ? json_none() : json_ref(writes);
    l->steps = image_int(image, IMAGE_STEPS);
    l->attempt = (int32_t)image_int(image, IMAGE_ATTEMPT);
    l->count = (int32_t)image_int(image, IMAGE_COUNT);
    l->deadline = image_int(image, IMAGE_LEVEL_DEADLINE);
    l->node = json_kind(name) == JSON_STRING ? graph_find(graph, name) : NULL;
    if (json_kind(name) == JSON_STRING && !l->node) {
        return error_set(
            err, ERR_DATA,
            "The run stands at node `%.*s`, which this version of the workflow does not "
            "have: resume from an earlier checkpoint (THREAD@SEQ) or without --reload.",
            (int)json_string_len(name), json_string_data(&name));
    }
    return true;
}

/* How it came about follows from what its parent waits for. */
static bool load_parent(Frame *f, Error *err) {
    Json wait = f->parent->wait, join = json_array_get(wait, WAIT_JOIN_NODE);
    f->parent->children++;
    if (wait_is(wait, "map")) {
        json_unref(f->vars);
        f->vars = json_ref(f->parent->vars);
        element_init(f);
        return true;
    }
    f->is_branch = true;
    if (json_kind(join) != JSON_STRING) {
        return true;
    }
    f->join = graph_node(frame_top(f->parent)->graph, join);
    return f->join || error_set(err, ERR_DATA, "The node where branches join is gone.");
}

static Json lowest_state_of(Json frame) {
    return json_array_get(json_array_get(json_array_get(frame, IMAGE_LEVELS), 0), IMAGE_STATE);
}

static bool load_frame(Run *run, Json key, Json image, Error *err) {
    char id[24];
    snprintf(id, sizeof id, "%.*s", (int)json_string_len(key), json_string_data(&key));
    int64_t parent_id = image_int(image, IMAGE_PARENT), next = run->next_frame;
    Frame *parent = parent_id ? find_frame(run, parent_id) : NULL;
    bool rootless = !parent && json_kind(lowest_state_of(image)) == JSON_NULL;
    if (rootless || (parent_id && !parent) || (parent && json_kind(parent->wait) != JSON_ARRAY)) {
        return error_set(err, ERR_DATA, "Frame %s has lost its parent.", id);
    }
    Frame *f = frame_new(run, parent, (uint32_t)image_int(image, IMAGE_BRANCH));
    run->next_frame = next;
    f->id = strtoll(id, NULL, 10);
    json_unref(f->key);
    f->key = json_ref(key);
    json_unref(f->wait);
    f->wait = json_ref(json_array_get(image, IMAGE_WAIT));
    Json levels = json_array_get(image, IMAGE_LEVELS);
    for (size_t i = 0; i < json_array_len(levels); i++) {
        if (!load_level(f, json_array_get(levels, i), err)) {
            return false;
        }
    }
    return !parent || load_parent(f, err);
}

static void forget_dirt(Run *run) {
    for (Frame *f = run->dirty; f; f = f->dirty_next) {
        f->dirty = false;
    }
    run->dirty = NULL;
}

/* The clocks of nodes stood still while nobody ran them: they have the time left that they had. Only a
 * person who was given a time to answer in has had it all along. */
static void shift_clocks(Run *run, int64_t by) {
    for (Frame *f = run->first_frame; f; f = f->next) {
        for (uint32_t i = 0; i < f->nlevels; i++) {
            bool asked = i == f->nlevels - 1 && wait_is(f->wait, "interrupt");
            if (f->levels[i].deadline && !asked) {
                f->levels[i].deadline += by;
                frame_mark(f);
            }
        }
    }
    run->deadline += run->deadline ? by : 0;
}

static bool load_image(Run *run, Json image, Error *err) {
    Json head = json_array_get(image, IMAGE_RUN), frames = json_array_get(image, IMAGE_FRAMES);
    Json status = json_array_get(head, IMAGE_STATUS), error = json_array_get(head, IMAGE_ERROR);
    Json key, frame;
    run->next_frame = image_int(head, IMAGE_NEXT_FRAME);
    run->deadline = image_int(head, IMAGE_DEADLINE);
    json_unref(run->mode);
    run->mode = json_ref(json_array_get(head, IMAGE_MODE));
    json_unref(run->definition);
    run->definition = json_ref(json_array_get(head, IMAGE_DEFINITION));
    run->error = json_kind(error) == JSON_NULL ? json_none() : json_ref(error);
    run->status = RUN_RUNNING;
    for (int i = 0; i <= RUN_CANCELLED; i++) {
        run->status = json_string_is(status, run_status_names[i]) ? (RunStatus)i : run->status;
    }
    for (size_t pos = 0; json_object_next(frames, &pos, &key, &frame);) {
        if (!load_frame(run, key, frame, err)) {
            return false;
        }
    }
    forget_dirt(run);
    run->image = json_ref(image);
    return true;
}

/* ---- a run from the store ---- */

typedef struct Loading {
    const char *thread;
    int64_t seq; /* 0: the head */
    Flow *reload;
} Loading;

/* The definition that the run had at that checkpoint. */
static Flow *stored_flow(Engine *e, const RunRow *row, Json image, Error *err) {
    FlowProblems problems = {0};
    Json key = json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_DEFINITION);
    Buf text = BUF_INIT;
    if (json_kind(key) == JSON_STRING) {
        buf_add(&text, json_string_data(&key), json_string_len(key));
    }
    Json definition =
        store_definition(e->options.store, text.len ? text.data : row->definition, err);
    buf_clear(&text);
    if (json_is_none(definition)) {
        return NULL;
    }
    Flow *flow = flow_load_definition(definition, &problems);
    if (!flow) {
        error_set(err, ERR_DATA, "The workflow stored with thread `%s` does not load here: %s",
                  row->thread, problems.n ? problems.items[0].msg : "it is damaged.");
    }
    flow_problems_clear(&problems);
    json_unref(definition);
    return flow;
}

static bool has_live(const Engine *e, const RunRow *row, Error *err) {
    for (const Run *run = e->first_run; run; run = run->next) {
        if (run->row.run == row->run && !run->settled) {
            error_set(err, ERR_BUSY, "Thread `%s` is being run by this very process.", row->thread);
            return true;
        }
    }
    return false;
}

/* The row is read again once the lease is ours: the process that had it may just have gone on. */
static bool lease_row(Engine *e, const char *thread, RunRow *row, Error *err) {
    if (!store_find(e->options.store, thread, row, err)) {
        return false;
    }
    int64_t number = row->run;
    bool leased = !has_live(e, row, err) && store_lease(e->options.store, number, err);
    run_row_clear(row);
    if (leased && !store_find(e->options.store, thread, row, err)) {
        store_release(e->options.store, number);
        leased = false;
    }
    return leased;
}

typedef struct Loaded {
    Json image;
    ChainWeight weight;
    int64_t seq, step;
} Loaded;

static bool read_checkpoint(Store *store, const RunRow *row, Loaded *out, Error *err) {
    Checkpoint c;
    if (!out->seq) {
        return error_set(err, ERR_USAGE,
                         "Thread `%s` never began: its process died before the first checkpoint. "
                         "Start it again with `pawl run FILE --thread %s`.",
                         row->thread, row->thread);
    }
    if (!store_checkpoint(store, row->run, out->seq, &c, err)) {
        return false;
    }
    out->step = c.step;
    out->image = chain_image(store, row->run, out->seq, &out->weight, err);
    if (json_is_none(out->image) || image_valid(out->image)) {
        return !json_is_none(out->image);
    }
    json_clear(&out->image);
    return error_set(err, ERR_DATA,
                     "Checkpoint %lld of thread `%s` is damaged: it is not the image of a run.",
                     (long long)out->seq, row->thread);
}

static bool keep_definition(Run *run, Error *err) {
    Json definition = flow_definition(run->flow);
    char *key = store_define(run->engine->options.store, definition, err);
    json_unref(definition);
    if (key) {
        json_unref(run->definition);
        run->definition = strcmp(key, run->row.definition) ? json_string_c(key) : json_null();
    }
    mem_free(key);
    return key != NULL;
}

static bool build_run(Run *run, const Loaded *loaded, bool reloaded, Error *err) {
    run->leased = true;
    run->last = run->row.last;
    run->head = loaded->seq;
    run->handed_head = run->durable_head = run->row.head;
    run->step = loaded->step;
    run->weight = loaded->weight;
    if (!load_image(run, loaded->image, err) || (reloaded && !keep_definition(run, err))) {
        return false;
    }
    shift_clocks(run, engine_now(run->engine) - run->row.updated);
    return true;
}

/* Takes over the row. */
static Run *load_leased(Engine *e, const Loading *loading, RunRow *row, Error *err) {
    Loaded loaded = {.seq = loading->seq ? loading->seq : row->head};
    Flow *flow = NULL;
    if (read_checkpoint(e->options.store, row, &loaded, err)) {
        flow = loading->reload ? flow_ref(loading->reload) : stored_flow(e, row, loaded.image, err);
    }
    Run *run = flow ? run_new(e, flow) : NULL;
    if (run) {
        run->row = *row;
        if (!build_run(run, &loaded, loading->reload != NULL, err)) {
            run->leased = false; /* for the caller to release */
            *row = run->row;
            run->row = (RunRow){0};
            run_free(run);
            run = NULL;
        }
    }
    flow_unref(flow);
    json_unref(loaded.image);
    return run;
}

static Run *load_run(Engine *e, const Loading *loading, Error *err) {
    RunRow row = {0};
    Run *run = NULL;
    if (!e->options.store) {
        error_set(err, ERR_USAGE, "There is no store, so there are no runs to go on with.");
        return NULL;
    }
    lock(e);
    if (lease_row(e, loading->thread, &row, err)) {
        run = load_leased(e, loading, &row, err);
        if (!run) {
            store_release(e->options.store, row.run);
            run_row_clear(&row);
        }
    }
    unlock(e);
    return run;
}

/* ---- values set by hand ---- */

static Json set_all(Json state, Json set, Error *err) {
    for (size_t i = 0; i < json_array_len(set); i++) {
        Json pair = json_array_get(set, i);
        state =
            json_path_set(state, json_array_get(pair, 0), json_ref(json_array_get(pair, 1)), err);
        if (json_is_none(state)) {
            return state;
        }
    }
    if (json_kind(state) != JSON_OBJECT) {
        error_set(err, ERR_USAGE, "The state is an object and cannot become anything else.");
        json_clear(&state);
    }
    return state;
}

/* In a level whose writes somebody takes over, what was set by hand is a write too. */
static void note_writes(Level *l, Json set) {
    for (size_t i = 0; !json_is_none(l->writes) && i < json_array_len(set); i++) {
        Json key = json_array_get(json_array_get(json_array_get(set, i), 0), 0);
        const StateKey *declared = json_kind(key) == JSON_STRING ? graph_key(l->graph, key) : NULL;
        if (json_kind(key) != JSON_STRING || (declared && declared->reduce != REDUCE_REPLACE)) {
            continue;
        }
        Json pair[] = {json_ref(json_object_get(l->state, key)), json_null()};
        l->writes = json_object_set(l->writes, json_ref(key), json_array_from(pair, 2));
    }
}

static bool set_state(Frame *f, Json set, Error *err) {
    Level *l = frame_top(f);
    if (json_is_none(set) || !json_array_len(set)) {
        return true;
    }
    Json state = set_all(json_ref(l->state), set, err);
    if (json_is_none(state)) {
        return false;
    }
    json_unref(l->state);
    l->state = state;
    note_writes(l, set);
    frame_mark(f);
    for (Frame *child = f->children ? f->next : NULL; child; child = child->next) {
        frame_mark(child); /* it may have shared the state that was */
    }
    return true;
}

/* ---- answers ---- */

static bool is_open(const Frame *f) {
    return wait_is(f->wait, "interrupt");
}

static bool asks(const Frame *f) {
    return is_open(f) && json_string_is(json_array_get(f->wait, WAIT_REASON), "approval");
}

static void list_open(const Run *run, Buf *out) {
    for (const Frame *f = run->first_frame; f; f = f->next) {
        Json id = is_open(f) ? json_array_get(f->wait, WAIT_ID) : json_none();
        if (!json_is_none(id)) {
            buf_printf(out, "%s%.*s (`%s`)", out->len ? ", " : "", (int)json_string_len(id),
                       json_string_data(&id), frame_top(f)->node->name);
        }
    }
}

static bool no_such_interrupt(const Run *run, const char *id, Error *err) {
    Buf open = BUF_INIT;
    list_open(run, &open);
    if (open.len) {
        error_set(err, ERR_USAGE, "No interrupt `%s` is open; these are: %s.", id, open.data);
    } else {
        error_set(err, ERR_USAGE,
                  "No interrupt is open in this run, so there is nothing to answer.");
    }
    buf_clear(&open);
    return false;
}

static bool which_interrupt(const Run *run, Error *err) {
    Buf open = BUF_INIT;
    list_open(run, &open);
    error_set(err, ERR_USAGE, "Several interrupts are open; say which one with --interrupt: %s.",
              open.data);
    buf_clear(&open);
    return false;
}

static bool answer_needed(const Frame *f, Error *err) {
    Json id = json_array_get(f->wait, WAIT_ID), prompt = json_array_get(f->wait, WAIT_PROMPT);
    Json options = json_array_get(f->wait, WAIT_OPTIONS);
    Buf words = BUF_INIT;
    for (size_t i = 0; i < json_array_len(options); i++) {
        Json word = json_array_get(options, i);
        buf_printf(&words, "%s%.*s", i ? "|" : " --decision ", (int)json_string_len(word),
                   json_string_data(&word));
    }
    char text[JSON_DESCRIBE_MAX];
    error_set(err, ERR_USAGE, "Interrupt %.*s at `%s` waits for an answer%s%s%s: give%s%s.",
              (int)json_string_len(id), json_string_data(&id), frame_top(f)->node->name,
              json_kind(prompt) == JSON_STRING ? " (" : "",
              json_kind(prompt) == JSON_STRING ? json_excerpt(prompt, text) : "",
              json_kind(prompt) == JSON_STRING ? ")" : "", words.len ? words.data : " --value JSON",
              words.len ? " (or --value JSON)" : "");
    buf_clear(&words);
    return false;
}

/* The frame that the answer is for: *found is NULL when nothing was answered. */
static bool find_answered(Run *run, const RunResume *r, Frame **found, Error *err) {
    bool answered = !json_is_none(r->value) || r->decision;
    size_t open = 0;
    *found = NULL;
    for (Frame *f = run->first_frame; f; f = f->next) {
        if (!is_open(f)) {
            continue;
        }
        open++;
        if (!r->interrupt || json_string_is(json_array_get(f->wait, WAIT_ID), r->interrupt)) {
            *found = f;
        }
    }
    if (r->interrupt) {
        return *found || no_such_interrupt(run, r->interrupt, err);
    }
    if (!answered) {
        *found = open == 1 && !asks(*found) ? *found : NULL;
        return true;
    }
    return open == 1 || (open ? which_interrupt(run, err) : no_such_interrupt(run, "", err));
}

static bool decision_offered(const Frame *f, const char *decision, Error *err) {
    Json options = json_array_get(f->wait, WAIT_OPTIONS);
    size_t n = json_kind(options) == JSON_ARRAY ? json_array_len(options) : 0;
    Buf words = BUF_INIT;
    bool found = !n;
    for (size_t i = 0; i < n && !found; i++) {
        Json word = json_array_get(options, i);
        found = json_string_is(word, decision);
        buf_printf(&words, "%s%.*s", i ? ", " : "", (int)json_string_len(word),
                   json_string_data(&word));
    }
    if (!found) {
        error_set(err, ERR_USAGE, "`%s` is not one of the options of `%s`: %s.", decision,
                  frame_top(f)->node->name, words.data);
    }
    buf_clear(&words);
    return found;
}

/* {decision, value?, at}. An object with a decision in it is taken as it is; a string that is one of
 * the options is the decision. */
static Json approval_result(const Frame *f, const RunResume *r, Error *err) {
    Json out = json_object(), decision = json_null(), value = r->value;
    bool whole = json_kind(value) == JSON_OBJECT && !r->decision &&
                 json_kind(json_object_get_c(value, "decision")) == JSON_STRING;
    if (whole) {
        json_unref(out);
        out = json_ref(value);
        decision = json_ref(json_object_get_c(value, "decision"));
    } else if (r->decision) {
        decision = json_string_c(r->decision);
    } else if (json_kind(value) == JSON_STRING) {
        decision = json_ref(value);
    }
    Buf word = BUF_INIT;
    if (json_kind(decision) == JSON_STRING) {
        buf_add(&word, json_string_data(&decision), json_string_len(decision));
        buf_addc(&word, '\0');
    }
    bool ok = !word.len || decision_offered(f, word.data, err);
    buf_clear(&word);
    if (!ok) {
        json_unref(out);
        json_unref(decision);
        return json_none();
    }
    out = json_object_set(out, json_string_c("decision"), decision);
    if (!whole && !json_is_none(value) && (r->decision || json_kind(value) != JSON_STRING)) {
        out = json_object_set(out, json_string_c("value"), json_ref(value));
    }
    return json_object_set(out, json_string_c("at"), json_int(engine_now(f->run->engine)));
}

/* Past an interrupt that only stopped: what an object answers is merged into the state. */
static bool pass(Frame *f, Json value, Error *err) {
    Json name, v;
    if (!json_is_none(value) && json_kind(value) != JSON_OBJECT) {
        return error_set(
            err, ERR_USAGE,
            "`%s` asked nothing, it only stopped: --value takes an object to merge into "
            "the state here.",
            frame_top(f)->node->name);
    }
    Json set = json_array();
    for (size_t pos = 0;
         json_kind(value) == JSON_OBJECT && json_object_next(value, &pos, &name, &v);) {
        Json pair[] = {json_array_push(json_array(), json_ref(name)), json_ref(v)};
        set = json_array_push(set, json_array_from(pair, 2));
    }
    bool ok = set_state(f, set, err);
    json_unref(set);
    return ok;
}

static void let_go(Frame *f) {
    Run *run = f->run;
    const Node *node = frame_top(f)->node;
    bool after = json_string_is(json_array_get(f->wait, WAIT_REASON), "after");
    if (!after) {
        frame_arrive(f, true);
        run_record(run, f, node, "resumed", json_none());
        frame_schedule(f);
        return;
    }
    frame_set_wait(f, json_null());
    if (frame_go_on(f)) {
        bool gone = f->gone;
        run_record(run, f, node, "resumed", json_none());
        if (!gone) {
            frame_schedule(f);
        }
    }
}

/* ---- going on ---- */

static Frame *failed_frame(Run *run) {
    for (Frame *f = run->first_frame; f; f = f->next) {
        if (wait_is(f->wait, "error")) {
            return f;
        }
    }
    return NULL;
}

/* After a failure: the node begins again, with all its attempts. */
static void try_again(Frame *f) {
    bool after = json_truthy(json_array_get(f->wait, WAIT_ERROR + 1));
    Json before = json_array_get(f->wait, WAIT_ERROR + 2);
    frame_top(f)->attempt = 0;
    if (json_kind(before) == JSON_ARRAY) {
        frame_set_wait(f, json_ref(before));
    } else if (after) {
        frame_set_wait(f, wait_of("after"));
    } else {
        frame_arrive(f, true);
    }
}

static bool is_forked(const Run *run) {
    return run->head != run->row.head;
}

static bool can_go_on(Run *run, Error *err) {
    RunStatus status = run->status;
    bool done = wait_is(run->first_frame->wait, "done");
    if (done || (status == RUN_CANCELLED && !is_forked(run))) {
        return error_set(err, ERR_USAGE,
                         "Thread `%s` %s: there is nothing to resume. `pawl history %s` lists its "
                         "checkpoints; `pawl resume %s@SEQ` goes on from one of them.",
                         run->row.thread, done ? "has completed" : "was cancelled", run->row.thread,
                         run->row.thread);
    }
    return true;
}

/* Without an answer the run must have something else to do than to wait for one. */
static bool has_something_to_do(Run *run, const Frame *answered, const RunResume *r, Error *err) {
    const Frame *asking = NULL;
    size_t nasking = 0;
    bool answers = !json_is_none(r->value) || r->decision;
    if (answered && asks(answered) && !answers) {
        return answer_needed(answered, err);
    }
    if (answered) {
        return true;
    }
    for (const Frame *f = run->first_frame; f; f = f->next) {
        if (asks(f)) {
            asking = f;
            nasking++;
        } else if (!wait_is(f->wait, "join") && !wait_is(f->wait, "map")) {
            return true;
        }
    }
    return !asking || (nasking == 1 ? answer_needed(asking, err) : which_interrupt(run, err));
}

/* On a new line of history work gets new places: what the old line did is not taken over. */
static void fork_line(Run *run) {
    for (Frame *f = run->first_frame; f; f = f->next) {
        if (wait_is(f->wait, "work")) {
            frame_set_wait(f, wait_with("work", frame_work_key(f)));
        } else if (wait_is(f->wait, "retry")) {
            f->wait = json_array_set(f->wait, WAIT_UNTIL + 1, frame_work_key(f));
            frame_mark(f);
        }
    }
}

static void reopen(Run *run) {
    Frame *failed = failed_frame(run);
    bool ended = run->status != RUN_RUNNING;
    run->status = RUN_RUNNING;
    json_clear(&run->error);
    if (failed) {
        try_again(failed);
    }
    if (is_forked(run)) {
        fork_line(run);
    }
    int64_t now = engine_now(run->engine);
    if (run->deadline && run->deadline <= now) { /* its time was up: it has it again */
        run->deadline = now + run->flow->main->timeout_ms;
    }
    if (ended || is_forked(run)) {
        run_record(run, run->first_frame, failed ? frame_top(failed)->node : NULL,
                   is_forked(run) ? "forked" : "resumed", json_none());
    }
}

static void schedule_all(Run *run) {
    size_t n = run->nframes, i = 0;
    Frame **all = mem_alloc((n + 1) * sizeof *all);
    for (Frame *f = run->first_frame; f; f = f->next) {
        all[i++] = f;
    }
    for (i = 0; i < n; i++) {
        frame_schedule(all[i]);
    }
    mem_free(all);
}

static void let_all_go(Run *run) {
    size_t n = run->nframes, k = 0;
    Frame **open = mem_alloc((n + 1) * sizeof *open);
    for (Frame *f = run->first_frame; f; f = f->next) {
        if (is_open(f) && !asks(f)) {
            open[k++] = f;
        }
    }
    for (size_t i = 0; i < k && !run->halting; i++) {
        let_go(open[i]);
    }
    mem_free(open);
}

static bool prepare(Run *run, const RunResume *r, Frame **answered, Json *result, Error *err) {
    *result = json_none();
    if (!can_go_on(run, err) || !find_answered(run, r, answered, err) ||
        !has_something_to_do(run, *answered, r, err)) {
        return false;
    }
    Frame *failed = failed_frame(run);
    Frame *target = *answered ? *answered : failed ? failed : run->first_frame;
    if (!set_state(target, r->set, err)) {
        return false;
    }
    if (*answered && asks(*answered)) {
        *result = approval_result(*answered, r, err);
        return !json_is_none(*result);
    }
    return !*answered || pass(*answered, r->value, err);
}

Run *engine_resume(Engine *e, const RunResume *r, Error *err) {
    Frame *answered;
    Json result;
    Run *run = load_run(e, &(Loading){r->thread, r->seq, r->reload}, err);
    if (!run) {
        return NULL;
    }
    if (!prepare(run, r, &answered, &result, err)) {
        run_free(run);
        return NULL;
    }
    reopen(run);
    run->row_dirty = true;
    run_set_deadline(run);
    tell_start(run, true);
    schedule_all(run);
    if (!json_is_none(result)) {
        frame_finish(answered, result);
    } else if (answered) {
        let_go(answered);
    } else {
        let_all_go(run);
    }
    run_settle_if_done(run);
    engine_kick(e);
    return run;
}

/* ---- changing by hand, without running ---- */

/* Commits what was recorded since batch was set, and lets go of the run. */
static bool commit_and_free(Run *run, StoreBatch *batch, bool ok, Error *err) {
    Engine *e = run->engine;
    if (ok) {
        store_batch_run(batch, run->row.run, run->head, run_status_names[run->status],
                        engine_now(e));
        lock(e);
        ok = store_commit(e->options.store, batch, err);
        unlock(e);
    }
    store_batch_clear(batch);
    run_free(run);
    return ok;
}

static bool move_after(Run *run, const char *name, Error *err) {
    Frame *root = run->first_frame;
    Json key = json_string_c(name);
    const Graph *graph = root->levels[0].graph;
    const Node *node = graph_node(graph, key);
    json_unref(key);
    if (!node) {
        Suggestion nearest = suggestion_for(name, strlen(name));
        for (size_t i = 0; i < graph->nnodes; i++) {
            suggestion_offer(&nearest, graph->nodes[i].name);
        }
        return error_set(err, ERR_USAGE, "The workflow has no node `%s`%s%s%s", name,
                         nearest.best ? "; did you mean `" : "", nearest.best ? nearest.best : "",
                         nearest.best ? "`?" : ".");
    }
    frame_unwind(root, 0);
    Level *l = frame_top(root);
    l->node = node;
    l->attempt = 0;
    l->count = 0;
    l->deadline = 0;
    frame_set_wait(root, wait_of("after"));
    json_clear(&run->error);
    return true;
}

static RunStatus status_of_row(const RunRow *row) {
    int status = run_status_find(row->status);
    return status < 0 ? RUN_STOPPED : (RunStatus)status;
}

bool engine_update(Engine *e, const RunUpdate *u, int64_t *seq, Error *err) {
    Run *run = load_run(e, &(Loading){u->thread, u->seq, NULL}, err);
    StoreBatch batch = STORE_BATCH_INIT;
    if (!run) {
        return false;
    }
    run->batch = &batch;
    bool ok = (!u->as_node || move_after(run, u->as_node, err)) &&
              set_state(run->first_frame, u->set, err);
    if (ok) {
        bool forked = is_forked(run);
        run->status = status_of_row(&run->row);
        if (u->as_node || forked) {
            run_status_change(&run->status, RUN_IS_MOVED);
        }
        run_record(run, run->first_frame, u->as_node ? frame_top(run->first_frame)->node : NULL,
                   "updated", json_none());
        *seq = run->head;
    }
    return commit_and_free(run, &batch, ok, err);
}

bool engine_cancel(Engine *e, const char *thread, Error *err) {
    Run *run = load_run(e, &(Loading){thread, 0, NULL}, err);
    StoreBatch batch = STORE_BATCH_INIT;
    if (!run) {
        return false;
    }
    run->batch = &batch;
    run->status = status_of_row(&run->row);
    bool ok = run_status_change(&run->status, RUN_IS_CANCELLED);
    if (ok) {
        run_record(run, run->first_frame, NULL, "cancelled", json_none());
    } else {
        error_set(err, ERR_USAGE, "Thread `%s` is %s already.", run->row.thread, run_status(run));
    }
    return commit_and_free(run, &batch, ok, err);
}

/* ---- a thread from another ---- */

static const char *status_of_image(Json image) {
    static char word[24];
    Json status = json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_STATUS);
    Json open = image_interrupts(image);
    size_t n = json_array_len(open);
    json_unref(open);
    if (json_kind(status) == JSON_STRING) {
        snprintf(word, sizeof word, "%.*s", (int)json_string_len(status),
                 json_string_data(&status));
        return word;
    }
    return run_status_names[n ? RUN_INTERRUPTED : RUN_STOPPED];
}

/* The first checkpoint of the new thread is the whole of the old one's. Work that was under way there
 * gets a place of its own here, for the number of the run is part of its name. */
static bool copy_image(Engine *e, const RunRow *row, Json image, int64_t step, Error *err) {
    StoreBatch batch = STORE_BATCH_INIT;
    Buf patch = BUF_INIT, snapshot = BUF_INIT;
    Json change[] = {json_array(), json_ref(image)};
    Json changes = json_array_push(json_array(), json_array_from(change, 2));
    json_encode(changes, &patch);
    json_encode(image, &snapshot);
    int64_t now = engine_now(e);
    store_batch_checkpoint(&batch, &(Checkpoint){.run = row->run,
                                                 .seq = 1,
                                                 .step = step,
                                                 .frame = 1,
                                                 .at = now,
                                                 .node = "",
                                                 .status = "forked",
                                                 .patch = patch.data,
                                                 .patch_len = patch.len,
                                                 .snapshot = snapshot.data,
                                                 .snapshot_len = snapshot.len});
    store_batch_run(&batch, row->run, 1, status_of_image(image), now);
    bool ok = store_commit(e->options.store, &batch, err);
    json_unref(changes);
    buf_clear(&patch);
    buf_clear(&snapshot);
    store_batch_clear(&batch);
    return ok;
}

bool engine_fork(Engine *e, const char *thread, int64_t seq, const char *new_thread, RunRow *out,
                 Error *err) {
    Store *store = e->options.store;
    RunRow from = {0};
    Checkpoint c;
    if (!store) {
        return error_set(err, ERR_USAGE, "There is no store, so there are no runs to fork.");
    }
    lock(e);
    bool ok = store_find(store, thread, &from, err);
    seq = seq ? seq : from.head;
    ok = ok && store_checkpoint(store, from.run, seq, &c, err);
    int64_t step = ok ? c.step : 0;
    Json image = ok ? chain_image(store, from.run, seq, NULL, err) : json_none();
    ok = ok && !json_is_none(image) &&
         store_create_run(store, new_thread, from.workflow, from.definition, out, err);
    if (ok) {
        ok = copy_image(e, out, image, step, err);
        store_release(store, out->run);
    }
    unlock(e);
    json_unref(image);
    run_row_clear(&from);
    return ok;
}
