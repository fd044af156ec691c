/* session_travel.c - back in the history, differences, one node again. */
#include "session_inside.h"

#include "inspect.h"
#include "json_build.h"
#include "lineage.h"
#include "mem.h"
#include "node_index.h"
#include "reduce.h"
#include "result.h"

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

/* The new line has to be on record before anybody is told that the run stands there. */
typedef struct Telling {
    Session *session; /* NULL: it has gone, or went elsewhere */
} Telling;

/* Somebody else may wait for it to stop or to end. */
static void on_rewound(void *ctx, const Error *err) {
    Telling *t = ctx;
    Session *s = t->session;
    mem_free(t);
    if (s) {
        s->telling = NULL;
    }
    if (!s || err) {
        return;
    }
    Frame *f = run_frame(s->run, s->selected);
    int64_t checkpoint = run_checkpoint(s->run);
    if (f && frame_is_parked(f)) {
        session_paused_at(f, checkpoint);
        session_tell(s, session_paused_event(f, checkpoint));
    } else if (run_settled(s->run)) {
        session_tell(s, session_settled_event(s, run_status(s->run), checkpoint));
    }
}

void session_forget_telling(Session *s) {
    if (s->telling) {
        s->telling->session = NULL;
        s->telling = NULL;
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
        s->quiet = quiet;
        if (quiet) {
            run_set_debug(s->run, json_null());
        }
        return json_none();
    }
    /* What comes after the checkpoint is taken from the recording again. A history that cannot be read up to
     * there (it was pruned) is no reason not to go back: then it is done. */
    RecordingSource there = {.run = run_number(s->run), .seq = seq, .flow = run_flow(s->run)};
    Store *store = s->options.recording ? history_of(s, NULL) : NULL;
    if (store) {
        recording_go_back(s->options.recording, store, &there, NULL);
    }
    s->end = NULL;
    session_extend(s, 0); /* the idle limit of one that had ended was not looked at */
    const Frame *f = run_frame(s->run, frame);
    for (; f && !frame_is_parked(f); f = frame_parent(f)) {}
    s->selected = f ? frame_id(f) : session_first_parked(s->run);
    s->chosen = false;
    session_keep(s, "selected", 0, json_int(s->selected));
    s->unsure = true;
    session_forget_telling(s);
    s->telling = mem_alloc(sizeof *s->telling);
    s->telling->session = s;
    engine_when_durable(run_engine(s->run), on_rewound, s->telling);
    f = run_frame(s->run, s->selected);
    const Node *node = f ? session_node(f) : NULL;
    return OBJECT(KEY("checkpoint", run_checkpoint(s->run)), KEY("frame", s->selected),
                  KEY("node", node ? json_ref(node->name_json) : json_none()),
                  KEY("ended", run_settled(s->run) ? run_status(s->run) : NULL), KEY("from", seq));
}

/* What is taken back in one: a step, or the way into a node that holds others, which `step` is. */
static ptrdiff_t last_move(const Lineage *line, int64_t frame, size_t before) {
    for (size_t i = before; i--;) {
        const LineageStep *c = &line->items[i];
        if ((!frame || c->frame == frame) &&
            (lineage_is_step(c) || !strcmp(c->status, "entered"))) {
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
    if (ok && !seq) {
        error_set(err, ERR_USAGE,
                  count > 1 ? "The run has not taken so many steps to here: `back` takes fewer."
                            : "This is the beginning of the run: there is no step to take back.");
    }
    if (!seq) {
        return json_none();
    }
    return rewind_to(s, seq, then, session_pause_info(s, "step"), err);
}

Json session_go_to(Session *s, int64_t checkpoint, Error *err) {
    return rewind_to(s, checkpoint, s->selected, session_pause_info(s, "step"), err);
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

/* Where the node is not known (it is of another version of the workflow), or what its frame saw is not,
 * nothing can be asked. A hit is counted as it was then, not again. */
static void try_one(Reverse *r, Breakpoint *b, const HookPlace *place, Json state) {
    bool asks = b->condition || b->error || (b->type == BREAK_STATE && b->place != BREAK_NO_PLACE);
    bool known = place->node && !json_is_none(state), pauses = false;
    int64_t hits = b->hits;
    if (b->enabled && (known || !asks) && breakpoint_hit(b, place, state, r->values, &pauses) &&
        !b->log) {
        r->hit = json_is_none(r->hit) ? json_array() : r->hit;
        r->hit = json_array_push(r->hit, json_int(b->id));
    }
    b->hits = hits;
}

static void try_list(Reverse *r, PointList list, const HookPlace *place, Json state) {
    for (size_t i = 0; i < list.n; i++) {
        if (list.items[i]->position == place->position && list.items[i]->type != BREAK_STATE) {
            try_one(r, list.items[i], place, state);
        }
    }
}

/* The nth node of a name, wherever it is: the history has names only. NULL: there are not so many. */
static const Node *node_named(const Flow *flow, const char *name, size_t nth) {
    const Node *node;
    NodeCursor at = {0};
    while ((node = nodes_next(flow, &at)) && (strcmp(node->name, name) != 0 || nth--)) {}
    return node;
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

static void try_node(Trying *t, const Node *node) {
    const Breakpoints *breakpoints = t->reverse->session->breakpoints;
    if (take_variables(t->reverse, node)) {
        t->place.node = node;
        try_list(t->reverse, breakpoints_of_node(breakpoints, node), &t->place, t->state);
        try_list(t->reverse, breakpoints_anywhere(breakpoints), &t->place, t->state);
    }
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
    const Node *there = t->place.node, *node;
    if (there) {
        try_node(t, there);
        return;
    }
    for (size_t n = 0; (node = node_named(run_flow(t->reverse->session->run), name, n)); n++) {
        try_node(t, node);
    }
    t->place.node = NULL;
}

/* What the workflow does not have was injected: which breakpoints are at it, its image will say. */
static bool is_interesting(Session *s, const char *name) {
    Breakpoints *all = s->breakpoints;
    const Node *node;
    size_t n = 0;
    bool found =
        breakpoints_anywhere(all).n || breakpoints_on_state(all).n || breakpoints_on_error(all).n;
    for (; !found && (node = node_named(run_flow(s->run), name, n)); n++) {
        found = breakpoints_of_node(all, node).n > 0;
    }
    return found || (!n && !breakpoints_empty(all));
}

static Json image_at(const Session *s, int64_t seq) {
    Store *store = history_of(s, NULL);
    return store ? chain_image(store, run_number(s->run), seq, NULL, NULL) : json_none();
}

/* ---- nodes that were injected ----
 *
 * The image has their text while they run, and nobody may have it loaded any more: it is for the one
 * look at it, breakpoints included. */

/* What was injected around a step, which sees what the node does that it was put beside. NULL: none. */
static Flow *load_injected(Session *s, Json image, int64_t frame) {
    FlowProblems problems = {0};
    LevelAt spot = image_top(image, frame); /* the innermost level of what was injected */
    while (json_kind(image_part(image, spot, IMAGE_INJECTED)) != JSON_ARRAY) {
        if (!image_go_down(image, &spot)) {
            return NULL; /* the step is of the workflow */
        }
    }
    LevelAt beside = {spot.frame, spot.level - 1};
    const Graph *graph = spot.level ? image_graph(run_flow(s->run), image, beside) : NULL;
    const Node *node = image_node(graph, image_part(image, beside, IMAGE_NODE));
    const Flow *last = run_flow(s->run), *next; /* its numbers follow those of all that there are */
    for (size_t i = 0; (next = run_injected_flow(s->run, i)); i++) {
        last = next;
    }
    FlowNumbers first = {last->first_expr + (uint32_t)last->nexprs,
                         last->first_node + (uint32_t)last->nnodes};
    FlowAround around = {first, node ? node->vars : NULL, node ? node->nvars : 0};
    Json definition = safe_item(image_part(image, spot, IMAGE_INJECTED), INJECTED_DEFINITION);
    Flow *flow = flow_load_definition_inside(definition, &around, &problems);
    flow_problems_clear(&problems);
    if (flow) {
        breakpoints_add_flow(s->breakpoints, flow);
    }
    return flow;
}

/* ---- one step ---- */

/* A step: the images around it, what its frame saw in them (JSON_NONE: it was not there), and what came of
 * it. */
typedef struct Around {
    Json images[2], states[2];
    const Node *node; /* NULL: there is none */
    Flow *injected;   /* that it is of; NULL: it is the workflow's */
    int64_t ended_in; /* the frame that made its frame, which ended with it; 0: it did not */
    StepResult result;
} Around;

/* What a frame saw after its last step, with which it ended: what its node gave back, put through the
 * reducers. JSON_NONE where that cannot be known. An element of a map changes nothing. */
static Json state_at_end(const Session *s, const Around *a) {
    const Flow *flow = run_flow(s->run);
    const Graph *graph = image_graph(flow, a->images[0], a->result.at);
    Json state = json_ref(a->states[0]), kept = json_none();
    if (wait_is(image_wait(a->images[1], a->ended_in), WAIT_MAP)) {
        return state;
    }
    Evaluator *evaluator = evaluator_new(flow, &(JqHost){.budget = {.steps = INSPECT_EVAL_STEPS}});
    if (!graph || graph->scoped || json_kind(a->result.update) != JSON_OBJECT ||
        !reduce_update(graph, evaluator, a->result.update, json_null(), &state, &kept, NULL)) {
        json_clear(&state);
    }
    evaluator_free(evaluator);
    return state;
}

static Around look_around(Reverse *r, const LineageStep *step) {
    Session *s = r->session;
    Around a = {.images = {image_at(s, step->parent), image_at(s, step->seq)}};
    Checkpoint c;
    for (size_t i = 0; i < 2; i++) {
        bool there = !json_is_none(a.images[i]);
        a.states[i] =
            there ? lineage_state(run_flow(s->run), a.images[i], step->frame) : json_none();
    }
    r->vars = json_array();
    if (json_is_none(a.states[0])) {
        return a;
    }
    json_unref(r->vars);
    r->vars = lineage_variables(a.images[0], step->frame);
    a.node = node_there(run_flow(s->run), a.images[0], step);
    a.injected = a.node ? NULL : load_injected(s, a.images[0], step->frame);
    a.node = a.injected ? node_named(a.injected, step->node, 0) : a.node;
    if (a.node && !take_variables(r, a.node)) {
        a.node = NULL;
    }
    if (!json_is_none(a.images[1]) &&
        store_checkpoint(history_of(s, NULL), run_number(s->run), step->seq, &c, NULL)) {
        result_read(&c, a.images[0], a.images[1], &a.result);
        bool ended = !image_depth(a.images[1], step->frame);
        a.ended_in = ended ? image_parent(a.images[0], step->frame) : 0;
    }
    if (a.ended_in) {
        json_unref(a.states[1]);
        a.states[1] = state_at_end(s, &a);
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
    result_clear(&a->result);
    json_clear(&r->vars);
}

static void try_after(Reverse *r, const LineageStep *c, const Around *a) {
    Trying t = {r, {.run = r->session->run, .position = HOOK_AFTER, .node = a->node}, a->states[1]};
    if (!json_is_none(a->states[1]) || a->ended_in) {
        try_nodes(&t, c->node);
    }
    bool states = !json_is_none(a->states[0]) && !json_is_none(a->states[1]);
    PointList list = breakpoints_on_state(r->session->breakpoints);
    t.place.node = a->node;
    for (size_t i = 0; states && i < list.n; i++) {
        Breakpoint *b = list.items[i];
        Json before = breakpoint_value(b, a->states[0]), after = breakpoint_value(b, a->states[1]);
        if (breakpoint_changed(b, before, after)) {
            try_one(r, b, &t.place, a->states[1]);
        }
        json_unref(before);
        json_unref(after);
    }
}

static void try_before(Reverse *r, const LineageStep *c, const Around *a) {
    HookPlace place = {.run = r->session->run, .position = HOOK_BEFORE, .node = a->node};
    Trying t = {r, place, a->states[0]};
    if (json_is_none(a->states[0])) {
        return;
    }
    if (!strcmp(c->status, "failed")) {
        Json ended = image_error(a->images[1]);
        t.place.position = HOOK_ON_ERROR;
        t.place.caught = json_is_none(ended);
        t.place.error = json_is_none(a->result.error) ? json_null() : a->result.error;
        try_nodes(&t, c->node);
        try_list(r, breakpoints_on_error(r->session->breakpoints), &t.place, t.state);
        json_unref(ended);
    }
    if (json_is_none(r->hit)) {
        t.place = place;
        try_nodes(&t, c->node);
    }
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
    if (after && a.ended_in) { /* the frame is gone there: what was hit is said beside it */
        r->ended =
            OBJECT(KEY("frame", c->frame), KEY("path", lineage_frame_path(a.images[0], c->frame)),
                   KEY("node", c->node));
    }
    if (!after) {
        try_before(r, c, &a);
    }
    around_clear(r, &a);
    return !json_is_none(r->hit);
}

static void search_back(Reverse *r, int64_t frame) {
    const Lineage *line = r->line;
    /* the step that the run stands after; -1: it has gone on since, into a node or out of branches */
    ptrdiff_t last = lineage_last_step(line, 0, line->n);
    for (size_t i = (size_t)(last + 1); i < line->n; i++) {
        const char *status = line->items[i].status;
        last = !strcmp(status, "joined") || !strcmp(status, "entered") ? -1 : last;
    }
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

Json session_reverse(Session *s, Frame *f, Error *err) {
    Lineage line = {0};
    Reverse r = {.session = s, .line = &line};
    bool ok = read_line(s, 0, &line, err);
    if (ok) {
        search_back(&r, s->pause_all ? 0 : frame_id(f));
    }
    lineage_clear(&line);
    /* frames that stand elsewhere than at the breakpoint stopped with the one that was there */
    bool ended = !json_is_none(r.ended), hit = !json_is_none(r.hit);
    Json because = ended ? json_object_get_c(r.ended, "frame") : json_none();
    Json info = session_pause_info(s, ended ? "user_pause" : hit ? "breakpoint" : "step");
    info = OBJECT_ADD(info, KEY("because", because),
                      KEY("breakpoints", ended ? json_none() : json_ref(r.hit)));
    Json out = ok ? rewind_to(s, r.seq, r.frame, json_take(&info), err) : json_none();
    json_unref(info);
    if (json_is_none(out)) {
        json_unref(r.hit);
        json_unref(r.ended);
        return out;
    }
    return OBJECT_ADD(out, KEY("breakpoints", json_is_none(r.hit) ? json_array() : r.hit),
                      KEY("after", r.ended));
}

/* ---- differences ---- */

static Json diff_json(Json from, Json to, int64_t from_seq, int64_t to_seq) {
    Json out = inspect_diff(from, to, DIFF_LIMIT);
    return OBJECT_ADD(out, KEY("from", from_seq ? json_int(from_seq) : json_none()),
                      KEY("to", to_seq ? json_int(to_seq) : json_none()));
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
    if (since == DIFF_NODE && step >= 0) {
        *out = (Span){line.items[step].parent, line.items[step].seq};
    }
    for (size_t i = line.n, pauses = 0; since == DIFF_PAUSE && i && pauses < 2; i--) {
        const LineageStep *c = &line.items[i - 1];
        pauses += c->frame == frame && !strcmp(c->status, "paused");
        out->from = pauses == 2 ? c->seq : out->from; /* the one before that which it is in */
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

static void free_replay(void *ctx, Frame *f) {
    enum { ROOT = 1 };
    Replaying *r = ctx;
    if (frame_id(f) != ROOT) {
        return;
    }
    Replaying **at = r->session ? &r->session->replays : NULL;
    while (at && *at != r) {
        at = &(*at)->next;
    }
    if (at) {
        *at = r->next;
    }
    json_unref(r->recorded);
    mem_free(r);
}

static void on_replayed(void *ctx, const Event *e) {
    Replaying *r = ctx;
    Session *s = r->session;
    const Frame *f = run_frame(e->run, r->frame);
    const Node *node = f ? frame_node(f, frame_depth(f) - 1) : NULL;
    Json now = f && !json_is_none(r->recorded) ? frame_sees(f) : json_none();
    Json diff = json_is_none(now) ? now : inspect_diff(r->recorded, now, DIFF_LIMIT);
    Json event = OBJECT(
        KEY("event", "replayed"), KEY("thread", run_thread(e->run)), KEY("run", run_number(e->run)),
        KEY("status", e->status), KEY("node", node ? json_ref(node->name_json) : json_none()),
        KEY("checkpoint", r->seq), KEY("error", json_ref(run_error(e->run))), KEY("diff", diff));
    json_unref(now);
    run_set_hooks(e->run, NULL, NULL); /* r is gone */
    if (s) {
        session_tell(s, event);
    } else {
        json_unref(event);
    }
}

static const RunHooks replay_hooks = {
    .frame_end = free_replay, .event = on_replayed, .events = 1u << EVENT_SETTLED};

void session_forget_replays(Session *s) {
    for (Replaying *r = s->replays; r; r = r->next) {
        r->session = NULL;
    }
    s->replays = NULL;
}

Json session_replay(Session *s, Frame *f, int64_t checkpoint, const char *thread, Error *err) {
    Span last = {0, 0};
    if (!session_may_run(s, err) ||
        (!checkpoint && !find_span(s, frame_id(f), DIFF_NODE, &last, err))) {
        return json_none();
    }
    int64_t seq = checkpoint ? checkpoint : last.to;
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
    Checkpoint c;
    Store *store = history_of(s, NULL);
    bool found = store && store_checkpoint(store, run_number(s->run), seq, &c, NULL);
    r->frame = found ? c.frame : 0;
    r->recorded = session_state_at(s, seq, r->frame, NULL);
    run_set_hooks(run, &replay_hooks, r);
    return OBJECT(KEY("thread", run_thread(run)), KEY("run", run_number(run)));
}
