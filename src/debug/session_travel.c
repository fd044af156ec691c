/* session_travel.c - back in the history, differences, one node again. */
#include "session_inside.h"

#include "image_read.h"
#include "inspect.h"
#include "json_build.h"
#include "lineage.h"
#include "mem.h"
#include "reduce.h"

enum { DIFF_LIMIT = 1000, STRETCH = 512 };

/* ---- reading ---- */

/* What is durable can be read. NULL with a sentence when there is no history. */
static Store *history_of(const Session *s, Error *err) {
    Engine *e = run_engine(s->run);
    if (!engine_store(e)) {
        error_set(err, ERR_USAGE, "The run has no store, so it has no history.");
        return NULL;
    }
    return engine_reader(e, err);
}

Json session_state_at(Session *s, int64_t seq, int64_t frame, Error *err) {
    Store *store = history_of(s, err);
    Json image = store ? chain_image(store, run_number(s->run), seq, NULL, err) : json_none();
    if (json_is_none(image)) {
        return image;
    }
    Json state = lineage_state(run_flow(s->run), image, frame);
    json_unref(image);
    if (json_is_none(state)) {
        error_set(err, ERR_USAGE, "At checkpoint %lld there is no frame %lld.", (long long)seq,
                  (long long)frame);
    }
    return state;
}

/* The line that leads to where the run stands, as far as it is durable: all of it, or the last stretch. */
static bool read_line(Session *s, size_t max, Lineage *line, Error *err) {
    Store *store = history_of(s, err);
    return store &&
           lineage_read(store, run_number(s->run), run_durable_checkpoint(s->run), max, line, err);
}

/* ---- going back ---- */

/* Somebody else may wait for it to stop or to end. */
static void tell_where(Session *s) {
    Frame *f = run_frame(s->run, s->selected);
    int64_t checkpoint = run_checkpoint(s->run);
    if (f && frame_is_parked(f)) {
        session_paused_at(s, f, checkpoint);
        session_tell(s, session_paused_event(s, f, checkpoint));
    } else if (run_settled(s->run)) {
        session_tell(s, session_settled_event(s, run_status(s->run), checkpoint));
    }
}

/* The new line has to be on record before anybody is told that the run stands there. */
typedef struct Telling {
    Session *session; /* NULL: it has gone, or went elsewhere */
} Telling;

static void on_rewound(void *ctx, const Error *err) {
    Telling *t = ctx;
    if (t->session) {
        t->session->telling = NULL;
        if (!err) {
            tell_where(t->session);
        }
    }
    mem_free(t);
}

void session_forget_telling(Session *s) {
    if (s->telling) {
        s->telling->session = NULL;
        s->telling = NULL;
    }
}

static void tell_where_when_durable(Session *s) {
    session_forget_telling(s);
    s->telling = mem_alloc(sizeof *s->telling);
    s->telling->session = s;
    engine_when_durable(run_engine(s->run), on_rewound, s->telling);
}

static int64_t parked_frame(const Session *s, int64_t wanted) {
    const Frame *f = run_frame(s->run, wanted);
    for (; f && !frame_is_parked(f); f = frame_parent(f)) {}
    for (const Frame *at = f ? NULL : run_next_frame(s->run, NULL); at && !f;
         at = run_next_frame(s->run, at)) {
        f = frame_is_parked(at) ? at : NULL;
    }
    return f ? frame_id(f) : 1;
}

static Json where_json(Session *s) {
    const Frame *f = run_frame(s->run, s->selected);
    const Node *node = f ? session_node(f) : NULL;
    return OBJECT(KEY("checkpoint", run_checkpoint(s->run)), KEY("frame", s->selected),
                  KEY("node", node ? json_ref(node->name_json) : json_none()),
                  KEY("ended", run_settled(s->run) ? run_status(s->run) : NULL));
}

/* What comes after a checkpoint is taken from the recording again. A history that cannot be read up to there
 * (it was pruned) is no reason not to go back: then it is done. */
static void turn_recording_back(Session *s, int64_t seq) {
    RecordingSource there = {
        .run = run_number(s->run), .seq = seq, .flow = run_flow(s->run), .replaying = NULL};
    Store *store = s->options.recording ? history_of(s, NULL) : NULL;
    if (store) {
        recording_go_back(s->options.recording, store, &there, NULL);
    }
}

static Json pause_info(const Session *s, const char *reason) {
    return session_pause_info(reason, engine_time(run_engine(s->run)));
}

static void stay_quiet(Session *s, bool quiet) {
    s->quiet = quiet;
    if (quiet) {
        run_set_debug(s->run, json_null());
    }
}

/* The steps that frames were doing are over with the line that they were on. Consumes info. */
static Json rewind_to(Session *s, int64_t seq, int64_t frame, Json info, Error *err) {
    bool quiet = s->quiet;
    s->quiet = false; /* after `abort` the session begins anew, and is on record again */
    session_keep(s, "frames", 0, json_object());
    s->leaving = true;
    bool ok = run_rewind(s->run, seq, info, err);
    s->leaving = false;
    if (!ok) {
        stay_quiet(s, quiet);
        return json_none();
    }
    turn_recording_back(s, seq);
    s->end = NULL;
    session_extend(s, 0); /* the idle limit of one that had ended was not looked at */
    s->selected = parked_frame(s, frame);
    s->chosen = false;
    session_keep(s, "selected", 0, json_int(s->selected));
    Json out = json_object_with(where_json(s), "from", json_int(seq));
    s->unsure = true;
    tell_where_when_durable(s);
    return out;
}

/* What is taken back in one: a step, or the way into a node that holds others, which `step` is. */
static bool is_move(const LineageStep *c) {
    return lineage_is_step(c) || !strcmp(c->status, "entered");
}

static ptrdiff_t last_move(const Lineage *line, int64_t frame, size_t before) {
    for (size_t i = before; i--;) {
        if ((!frame || line->items[i].frame == frame) && is_move(&line->items[i])) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

/* Index of the move that is `count` moves of the frame back; -1: there are not so many in the
 * stretch. A frame that has none left goes on with those of any. */
static ptrdiff_t step_back(const Lineage *line, int64_t frame, int64_t count, int64_t *frame_then) {
    ptrdiff_t at = (ptrdiff_t)line->n;
    for (; count > 0 && at >= 0; count--) {
        /* what was done in its branches is what the root frame did last */
        ptrdiff_t own = last_move(line, frame == 1 ? 0 : frame, (size_t)at);
        at = own >= 0 ? own : last_move(line, 0, (size_t)at);
        frame = at >= 0 ? line->items[at].frame : frame;
    }
    *frame_then = frame;
    return at;
}

static bool at_beginning(int64_t count, Error *err) {
    return error_set(err, ERR_USAGE,
                     count > 1
                         ? "The run has not taken so many steps to here: `back` takes fewer."
                         : "This is the beginning of the run: there is no step to take back.");
}

Json session_back(Session *s, Frame *f, int64_t count, Error *err) {
    int64_t frame = frame_id(f), then = frame, seq = 0;
    bool ok = true, whole = false;
    for (size_t max = STRETCH; ok && !seq && !whole; max *= 16) {
        Lineage line = {0};
        ok = read_line(s, max, &line, err);
        whole = line.n < max;
        ptrdiff_t at = ok ? step_back(&line, frame, count, &then) : -1;
        /* the frame's own step may be further back than the stretch goes */
        bool sure = at >= 0 && (whole || frame == 1 || then == frame);
        seq = sure ? line.items[at].parent : 0;
        lineage_clear(&line);
    }
    if (!ok || (!seq && !at_beginning(count, err))) {
        return json_none();
    }
    return rewind_to(s, seq, then, pause_info(s, "step"), err);
}

Json session_go_to(Session *s, int64_t checkpoint, Error *err) {
    return rewind_to(s, checkpoint, s->selected, pause_info(s, "step"), err);
}

/* ---- where a breakpoint would have stopped it ---- */

typedef struct Reverse {
    Session *session;
    const Lineage *line;
    Json vars;                   /* of the maps around the frame of the step (lineage.h) */
    Json values[FRAME_VARS_MAX]; /* of a node: borrowed from them */
    Json hit;                    /* ids; JSON_NONE */
    Json ended; /* {frame, path, node} that it was hit after, which is gone there */
    int64_t seq, frame;
} Reverse;

/* A hit is counted as it was then, not again. */
static bool would_hit(Reverse *r, Breakpoint *b, const HookPlace *place, Json state) {
    int64_t hits = b->hits;
    bool pauses = false;
    bool hit = breakpoint_hit(b, place, state, r->values, &pauses);
    b->hits = hits;
    return hit && !b->log;
}

/* Where the node is not known (it is of another version of the workflow), or what its frame saw is
 * not, nothing can be asked. */
static bool can_try(const Breakpoint *b, const HookPlace *place, Json state) {
    bool asks = b->condition || b->error || (b->type == BREAK_STATE && b->place != BREAK_NO_PLACE);
    return b->enabled && ((place->node && !json_is_none(state)) || !asks);
}

static void try_points(Reverse *r, PointList list, const HookPlace *place, Json state) {
    for (size_t i = 0; i < list.n; i++) {
        Breakpoint *b = list.items[i];
        bool fits =
            can_try(b, place, state) && b->position == place->position && b->type != BREAK_STATE;
        if (fits && would_hit(r, b, place, state)) {
            r->hit = json_is_none(r->hit) ? json_array() : r->hit;
            r->hit = json_array_push(r->hit, json_int(b->id));
        }
    }
}

static void try_states(Reverse *r, const HookPlace *place, Json before, Json after) {
    PointList list = breakpoints_on_state(r->session->breakpoints);
    for (size_t i = 0; i < list.n; i++) {
        Breakpoint *b = list.items[i];
        Json old_value = breakpoint_value(b, before), value = breakpoint_value(b, after);
        if (can_try(b, place, after) && breakpoint_changed(b, old_value, value) &&
            would_hit(r, b, place, after)) {
            r->hit = json_is_none(r->hit) ? json_array() : r->hit;
            r->hit = json_array_push(r->hit, json_int(b->id));
        }
        json_unref(old_value);
        json_unref(value);
    }
}

/* Calls fn for every node of a name, wherever it is: the history has names only. False from fn
 * stops. */
static bool each_named(const Flow *flow, const char *name, bool (*fn)(void *ctx, const Node *node),
                       void *ctx) {
    for (size_t g = 0; g < flow->ngraphs; g++) {
        for (size_t i = 0; i < flow->graphs[g]->nnodes; i++) {
            const Node *node = &flow->graphs[g]->nodes[i];
            for (; node; node = node_body(node)) {
                if (!strcmp(node->name, name) && !fn(ctx, node)) {
                    return false;
                }
            }
        }
    }
    return true;
}

typedef struct Trying {
    Reverse *reverse;
    HookPlace place;
    Json state;
} Trying;

/* The last ones of the frame's, as frame_variables() has it. False: the node is of another place. */
static bool take_variables(Reverse *r, const Node *node) {
    size_t n = json_array_len(r->vars), wanted = node->nvars;
    for (size_t i = 0; i < wanted && wanted <= n && wanted <= FRAME_VARS_MAX; i++) {
        r->values[i] = json_array_get(r->vars, n - wanted + i);
    }
    return wanted <= n && wanted <= FRAME_VARS_MAX;
}

static bool try_node(void *ctx, const Node *node) {
    Trying *t = ctx;
    const Breakpoints *breakpoints = t->reverse->session->breakpoints;
    if (!take_variables(t->reverse, node)) {
        return true;
    }
    t->place.node = node;
    try_points(t->reverse, breakpoints_of_node(breakpoints, node), &t->place, t->state);
    try_points(t->reverse, breakpoints_anywhere(breakpoints), &t->place, t->state);
    return true;
}

/* The node that a frame was at, from its name: in the innermost level that stands at one of that name.
 * NULL: it is in an injected node, or in another version of the workflow. */
static const Node *node_there(const Flow *flow, Json image, const LineageStep *c) {
    const Node *node = NULL;
    for (size_t level = image_depth(image, c->frame); level-- && !node;) {
        LevelAt at = {c->frame, level};
        Json name = image_part(image, at, IMAGE_NODE);
        bool here = json_kind(name) == JSON_STRING && json_string_is(name, c->node);
        node = here ? image_node(image_graph(flow, image, at), name) : NULL;
    }
    return node;
}

/* One that is not found by its place may be any of its name. */
static void try_nodes(Trying *t, const char *name) {
    const Node *there = t->place.node;
    if (there) {
        try_node(t, there);
    } else {
        each_named(run_flow(t->reverse->session->run), name, try_node, t);
        t->place.node = NULL;
    }
}

/* The error is in the state that an error edge saw, or is the run's. */
static void try_errors(Trying *t, const char *name, Json image) {
    Json failed = image_error(image), after = image_state(image);
    Json kept = json_kind(after) == JSON_OBJECT ? json_object_get_c(after, "error") : json_none();
    Json error = json_is_none(failed) ? json_ref(kept) : json_ref(failed);
    t->place.position = HOOK_ON_ERROR;
    t->place.caught = json_is_none(failed);
    t->place.error = json_is_none(error) ? json_null() : error;
    try_nodes(t, name);
    try_points(t->reverse, breakpoints_on_error(t->reverse->session->breakpoints), &t->place,
               t->state);
    json_unref(error);
    json_unref(after);
    json_unref(failed);
}

static bool is_bare(void *ctx, const Node *node) {
    const Session *s = ctx;
    return !breakpoints_of_node(s->breakpoints, node).n;
}

static bool is_missing(void *ctx, const Node *node) {
    (void)ctx;
    (void)node;
    return false;
}

/* What the workflow does not have was injected: which breakpoints are at it, its image will say. */
static bool is_interesting(Session *s, const char *name) {
    const Flow *flow = run_flow(s->run);
    return breakpoints_anywhere(s->breakpoints).n || breakpoints_on_state(s->breakpoints).n ||
           breakpoints_on_error(s->breakpoints).n || !each_named(flow, name, is_bare, s) ||
           (!breakpoints_empty(s->breakpoints) && each_named(flow, name, is_missing, NULL));
}

static Json image_at(const Session *s, int64_t seq) {
    Store *store = history_of(s, NULL);
    return store ? chain_image(store, run_number(s->run), seq, NULL, NULL) : json_none();
}

/* ---- nodes that were injected ----
 *
 * The image has their text while they run, and nobody may have it loaded any more: it is for the one
 * look at it, breakpoints included. */

/* The level of what was injected around a step; false: the step is of the workflow. */
static bool find_injected(Json image, int64_t frame, LevelAt *spot) {
    for (; frame; frame = image_parent(image, frame)) {
        for (size_t level = image_depth(image, frame); level--;) {
            *spot = (LevelAt){frame, level};
            if (json_kind(image_part(image, *spot, IMAGE_INJECTED)) == JSON_ARRAY) {
                return true;
            }
        }
    }
    return false;
}

static FlowNumbers numbers_after(const Session *s) {
    const Flow *last = run_flow(s->run), *flow;
    for (size_t i = 0; (flow = run_injected_flow(s->run, i)); i++) {
        last = flow;
    }
    return (FlowNumbers){last->first_expr + (uint32_t)last->nexprs,
                         last->first_node + (uint32_t)last->nnodes};
}

/* It sees what the node does that it was put beside. */
static FlowAround injected_around(const Session *s, Json image, LevelAt injected) {
    LevelAt beside = {injected.frame, injected.level - 1};
    const Graph *graph = injected.level ? image_graph(run_flow(s->run), image, beside) : NULL;
    const Node *node = graph ? image_node(graph, image_part(image, beside, IMAGE_NODE)) : NULL;
    return node ? (FlowAround){numbers_after(s), node->vars, node->nvars}
                : (FlowAround){.first = numbers_after(s)};
}

static Flow *load_injected(Session *s, Json image, int64_t frame) {
    FlowProblems problems = {0};
    LevelAt spot;
    if (!find_injected(image, frame, &spot)) {
        return NULL;
    }
    FlowAround around = injected_around(s, image, spot);
    Json definition = safe_item(image_part(image, spot, IMAGE_INJECTED), INJECTED_DEFINITION);
    Flow *flow = flow_load_definition_inside(definition, &around, &problems);
    flow_problems_clear(&problems);
    if (flow) {
        breakpoints_add_flow(s->breakpoints, flow);
    }
    return flow;
}

static bool take_first(void *ctx, const Node *node) {
    *(const Node **)ctx = node;
    return false;
}

/* ---- frames that ended ---- */

/* What a branch saw at its end: what the one that made it sees, with all that the branch has written
 * put through the reducers, which comes to the same. */
static Json branch_state(const Session *s, Json before, int64_t parent, Json writes) {
    const Flow *flow = run_flow(s->run);
    const Graph *graph = image_graph(flow, before, image_top(before, parent));
    if (!graph || !writes_valid(writes)) {
        return json_none();
    }
    Json state = lineage_state(flow, before, parent), kept = json_none();
    Evaluator *evaluator = evaluator_new(flow, &(JqHost){.budget = {.steps = INSPECT_EVAL_STEPS}});
    if (!reduce_writes(graph, evaluator, writes, &state, &kept, NULL)) {
        json_clear(&state);
    }
    evaluator_free(evaluator);
    return state;
}

/* What a frame saw after its last step, with which it ended: JSON_NONE where that cannot be known. An
 * element of a map changes nothing. */
static Json state_at_end(const Session *s, const Json images[2], int64_t frame, Json seen) {
    int64_t parent = image_parent(images[0], frame), branch = image_branch(images[0], frame);
    Json wait = image_wait(images[1], parent);
    if (wait_is(wait, WAIT_MAP)) {
        return json_ref(seen);
    }
    Json all = wait_is(wait, WAIT_JOIN) ? safe_item(wait, WAIT_JOIN_WRITES) : json_none();
    Json writes = branch >= 0 ? safe_item(all, (size_t)branch) : json_none();
    return json_kind(writes) == JSON_OBJECT ? branch_state(s, images[0], parent, writes)
                                            : json_none();
}

/* A step: the images around it, and what its frame saw in them (JSON_NONE: it was not there). */
typedef struct Around {
    Json images[2], states[2];
    const Node *node; /* NULL: there is none */
    Flow *injected;   /* that it is of; NULL: it is the workflow's */
    int64_t ended_in; /* the frame that made its frame, which ended with it; 0: it did not */
} Around;

static void look_for_node(Reverse *r, const LineageStep *c, Around *a) {
    a->node = node_there(run_flow(r->session->run), a->images[0], c);
    a->injected = a->node ? NULL : load_injected(r->session, a->images[0], c->frame);
    if (a->injected) {
        each_named(a->injected, c->node, take_first, &a->node);
    }
}

static void look_at_end(Reverse *r, const LineageStep *c, Around *a) {
    bool ended = !json_is_none(a->images[1]) && !image_depth(a->images[1], c->frame);
    a->ended_in = ended ? image_parent(a->images[0], c->frame) : 0;
    if (a->ended_in) {
        json_unref(a->states[1]);
        a->states[1] = state_at_end(r->session, a->images, c->frame, a->states[0]);
    }
}

static Around look_around(Reverse *r, const LineageStep *c) {
    const Flow *flow = run_flow(r->session->run);
    Around a = {{image_at(r->session, c->parent), image_at(r->session, c->seq)},
                {json_none(), json_none()},
                NULL,
                NULL,
                0};
    for (size_t i = 0; i < 2; i++) {
        bool there = !json_is_none(a.images[i]);
        a.states[i] = there ? lineage_state(flow, a.images[i], c->frame) : json_none();
    }
    bool before = !json_is_none(a.states[0]);
    if (before) {
        look_for_node(r, c, &a);
        look_at_end(r, c, &a);
    }
    r->vars = before ? lineage_variables(a.images[0], c->frame) : json_array();
    if (a.node && !take_variables(r, a.node)) {
        a.node = NULL;
    }
    return a;
}

static void around_clear(Reverse *r, Around *a) {
    for (size_t i = 0; i < 2; i++) {
        json_unref(a->images[i]);
        json_unref(a->states[i]);
    }
    if (a->injected) {
        breakpoints_drop_flow(r->session->breakpoints, a->injected);
        flow_unref(a->injected);
    }
    json_clear(&r->vars);
}

static void try_after(Reverse *r, const LineageStep *c, const Around *a) {
    Trying t = {r, {.run = r->session->run, .position = HOOK_AFTER, .node = a->node}, a->states[1]};
    if (!json_is_none(a->states[1]) || a->ended_in) {
        try_nodes(&t, c->node);
    }
    if (!json_is_none(a->states[0]) && !json_is_none(a->states[1])) {
        t.place.node = a->node;
        try_states(r, &t.place, a->states[0], a->states[1]);
    }
}

static void try_before(Reverse *r, const LineageStep *c, const Around *a) {
    Trying t = {
        r, {.run = r->session->run, .position = HOOK_BEFORE, .node = a->node}, a->states[0]};
    if (json_is_none(a->states[0])) {
        return;
    }
    if (!strcmp(c->status, "failed")) {
        try_errors(&t, c->node, a->images[1]);
    }
    if (json_is_none(r->hit)) {
        t.place = (HookPlace){.run = r->session->run, .position = HOOK_BEFORE, .node = a->node};
        try_nodes(&t, c->node);
    }
}

/* The frame is gone where the run stands then: what was hit is said beside it. */
static Json ended_json(const LineageStep *c, const Around *a) {
    Json out = json_object_with(json_object(), "frame", json_int(c->frame));
    out = json_object_with(out, "path", lineage_frame_path(a->images[0], c->frame));
    return json_object_with(out, "node", json_string_c(c->node));
}

/* After the step first: that is the later of the two places. last: the run stands there already. */
static bool try_step(Reverse *r, const LineageStep *c, bool last) {
    Around a = look_around(r, c);
    if (!last) {
        try_after(r, c, &a);
    }
    bool after = !json_is_none(r->hit);
    r->seq = after ? c->seq : c->parent;
    r->frame = after && a.ended_in ? a.ended_in : c->frame;
    r->ended = after && a.ended_in ? ended_json(c, &a) : json_none();
    if (!after) {
        try_before(r, c, &a);
    }
    around_clear(r, &a);
    return !json_is_none(r->hit);
}

/* The step that the run stands after; -1: it has gone on since, into a node or out of branches. */
static ptrdiff_t stands_after(const Lineage *line) {
    ptrdiff_t last = lineage_last_step(line, 0, line->n);
    for (size_t i = (size_t)(last + 1); i < line->n; i++) {
        const char *status = line->items[i].status;
        last = !strcmp(status, "joined") || !strcmp(status, "entered") ? -1 : last;
    }
    return last;
}

static void search_back(Reverse *r, int64_t frame) {
    const Lineage *line = r->line;
    ptrdiff_t last = stands_after(line);
    bool found = false;
    for (size_t i = line->n; i && !found; i--) {
        const LineageStep *c = &line->items[i - 1];
        bool wanted = lineage_is_step(c) && (!frame || c->frame == frame) && c->parent;
        found = wanted && is_interesting(r->session, c->node) &&
                try_step(r, c, (ptrdiff_t)i - 1 == last);
    }
    if (!found && line->n) {
        r->seq = line->items[0].seq;
        r->frame = 1;
    }
}

/* Frames that stand elsewhere than at the breakpoint stopped with the one that was there. */
static Json reverse_info(const Reverse *r) {
    if (!json_is_none(r->ended)) {
        Json frame = json_object_get_c(r->ended, "frame");
        return json_object_with(pause_info(r->session, "user_pause"), "because", json_ref(frame));
    }
    return json_is_none(r->hit) ? pause_info(r->session, "step")
                                : json_object_with(pause_info(r->session, "breakpoint"),
                                                   "breakpoints", json_ref(r->hit));
}

static Json reverse_json(Json out, Reverse *r) {
    Json hit = json_take(&r->hit), ended = json_take(&r->ended);
    out = json_object_with(out, "breakpoints", json_is_none(hit) ? json_array() : hit);
    return json_is_none(ended) ? out : json_object_with(out, "after", ended);
}

Json session_reverse(Session *s, Frame *f, Error *err) {
    Lineage line = {0};
    Reverse r = {
        .session = s, .line = &line, .hit = json_none(), .ended = json_none(), .vars = json_none()};
    bool ok = read_line(s, 0, &line, err);
    if (ok) {
        search_back(&r, s->pause_all ? 0 : frame_id(f));
    }
    lineage_clear(&line);
    Json out = ok ? rewind_to(s, r.seq, r.frame, reverse_info(&r), err) : json_none();
    out = json_is_none(out) ? out : reverse_json(out, &r);
    json_unref(r.hit);
    json_unref(r.ended);
    return out;
}

/* ---- differences ---- */

static Json diff_json(Json from, Json to, int64_t from_seq, int64_t to_seq) {
    return OBJECT_ADD(inspect_diff(from, to, DIFF_LIMIT),
                      KEY("from", from_seq ? json_int(from_seq) : json_none()),
                      KEY("to", to_seq ? json_int(to_seq) : json_none()));
}

/* The pause before the one that the frame is in, on its line. */
static int64_t pause_before(const Lineage *line, int64_t frame) {
    int pauses = 0;
    for (size_t i = line->n; i; i--) {
        const LineageStep *c = &line->items[i - 1];
        pauses += c->frame == frame && !strcmp(c->status, "paused");
        if (pauses == 2) {
            return c->seq;
        }
    }
    return line->n ? line->items[0].seq : 0;
}

typedef struct Span {
    int64_t from, to; /* checkpoints; to 0: now */
} Span;

static bool find_span(Session *s, int64_t frame, DiffSince since, Span *out, Error *err) {
    Lineage line = {0};
    if (!read_line(s, 0, &line, err)) {
        return false;
    }
    ptrdiff_t step = lineage_last_step(&line, frame, line.n);
    *out = (Span){line.n ? line.items[0].seq : 0, 0};
    if (since == DIFF_PAUSE) {
        out->from = pause_before(&line, frame);
    } else if (since == DIFF_NODE && step >= 0) {
        *out = (Span){line.items[step].parent, line.items[step].seq};
    }
    lineage_clear(&line);
    if (since == DIFF_NODE && step < 0) {
        return error_set(err, ERR_USAGE, "Frame %lld has not finished a node yet.",
                         (long long)frame);
    }
    return true;
}

/* A frame that was not there then saw what the one that made it did. */
static Json state_then(Session *s, int64_t seq, const Frame *f) {
    Json state = json_none();
    for (; f && json_is_none(state); f = frame_parent(f)) {
        state = session_state_at(s, seq, frame_id(f), NULL);
    }
    return state;
}

Json session_diff(Session *s, Frame *f, DiffSince since, Error *err) {
    const FrameStop *fs = session_stop_of(f);
    if (since == DIFF_PAUSE && fs && !json_is_none(fs->before)) {
        Json now = frame_will_see(f, err);
        Json out = json_is_none(now) ? json_none()
                                     : diff_json(fs->before, now, fs->before_seq, fs->now_seq);
        json_unref(now);
        return out;
    }
    Span span;
    Json from = json_none(), to = json_none();
    if (find_span(s, frame_id(f), since, &span, err)) {
        from = state_then(s, span.from, f);
        to = span.to ? state_then(s, span.to, f) : frame_will_see(f, err);
        if (json_is_none(from) || (span.to && json_is_none(to))) {
            error_set(err, ERR_DATA, "Frame %lld has no state at that checkpoint.",
                      (long long)frame_id(f));
        }
    }
    Json out = json_is_none(from) || json_is_none(to) ? json_none()
                                                      : diff_json(from, to, span.from, span.to);
    json_unref(from);
    json_unref(to);
    return out;
}

/* ---- one node again ---- */

/* What is to be told when the new run has settled; freed with its root frame, which may be earlier. */
typedef struct Replaying {
    struct Replaying *next; /* of the session */
    Session *session;       /* NULL: it is gone */
    int64_t seq, frame;
    Json recorded; /* what came of it then; JSON_NONE */
} Replaying;

static HookVerdict look_on(void *ctx, const HookPlace *place, Json *info) {
    (void)ctx;
    (void)place;
    (void)info;
    return HOOK_GO;
}

static void ignore_frame(void *ctx, Frame *f) {
    (void)ctx;
    (void)f;
}

static Json replayed_json(const Replaying *r, const Event *e) {
    const Frame *f = run_frame(e->run, r->frame);
    const Node *node = f ? frame_node(f, frame_depth(f) - 1) : NULL;
    Json out = OBJECT_ADD(session_event_new("replayed"), KEY("thread", run_thread(e->run)),
                          KEY("run", run_number(e->run)), KEY("status", e->status),
                          KEY("node", node ? json_ref(node->name_json) : json_none()),
                          KEY("checkpoint", r->seq), KEY("error", json_ref(run_error(e->run))));
    if (f && !json_is_none(r->recorded)) {
        Json now = frame_sees(f);
        out = json_object_with(out, "diff", inspect_diff(r->recorded, now, DIFF_LIMIT));
        json_unref(now);
    }
    return out;
}

static void unlink_replay(Replaying *r) {
    for (Replaying **at = r->session ? &r->session->replays : NULL; at && *at; at = &(*at)->next) {
        if (*at == r) {
            *at = r->next;
            return;
        }
    }
}

static void on_replayed(void *ctx, const Event *e);

static void free_replay(void *ctx, Frame *f) {
    enum { ROOT = 1 };
    Replaying *r = ctx;
    if (frame_id(f) == ROOT) {
        unlink_replay(r);
        json_unref(r->recorded);
        mem_free(r);
    }
}

static const RunHooks replay_hooks = {.at = look_on,
                                      .frame_new = ignore_frame,
                                      .frame_end = free_replay,
                                      .event = on_replayed,
                                      .events = 1u << EVENT_SETTLED};

static void on_replayed(void *ctx, const Event *e) {
    Replaying *r = ctx;
    Session *s = r->session;
    Json event = replayed_json(r, e);
    run_set_hooks(e->run, NULL, NULL); /* r is gone */
    if (s) {
        session_tell(s, event);
    } else {
        json_unref(event);
    }
}

void session_forget_replays(Session *s) {
    for (Replaying *r = s->replays; r; r = r->next) {
        r->session = NULL;
    }
    s->replays = NULL;
}

static int64_t last_step_of(Session *s, const Frame *f, Error *err) {
    Lineage line = {0};
    int64_t seq = 0;
    if (read_line(s, 0, &line, err)) {
        ptrdiff_t at = lineage_last_step(&line, frame_id(f), line.n);
        seq = at >= 0 ? line.items[at].seq : 0;
        if (!seq) {
            error_set(err, ERR_USAGE, "Frame %lld has not finished a node yet.",
                      (long long)frame_id(f));
        }
    }
    lineage_clear(&line);
    return seq;
}

static int64_t frame_of_step(Session *s, int64_t seq) {
    Checkpoint c;
    Store *store = history_of(s, NULL);
    return store && store_checkpoint(store, run_number(s->run), seq, &c, NULL) ? c.frame : 0;
}

Json session_replay(Session *s, Frame *f, int64_t checkpoint, const char *thread, Error *err) {
    if (!session_may_run(s, err)) {
        return json_none();
    }
    int64_t seq = checkpoint ? checkpoint : last_step_of(s, f, err);
    RunReplay replay = {run_thread(s->run), seq, thread};
    Run *run = seq ? engine_replay_now(run_engine(s->run), &replay, err) : NULL;
    if (!run) {
        return json_none();
    }
    Replaying *r = mem_zalloc(sizeof *r);
    r->session = s;
    r->next = s->replays;
    s->replays = r;
    r->seq = seq;
    r->frame = frame_of_step(s, seq);
    r->recorded = session_state_at(s, seq, r->frame, NULL);
    run_set_hooks(run, &replay_hooks, r);
    Json out = json_object_with(json_object(), "thread", json_string_c(run_thread(run)));
    return json_object_with(out, "run", json_int(run_number(run)));
}
