/* travel.c - what the record says: where `back` leads, where a breakpoint would have stopped a run, what frames
 * saw. */
#include "travel.h"

#include "breakpoints.h"
#include "choice.h"
#include "image_read.h"
#include "inspect.h"
#include "json_build.h"
#include "json_path.h"
#include "lineage.h"
#include "mem.h"
#include "node_index.h"
#include "problems.h"
#include "recording.h"
#include "reduce.h"
#include "result.h"
#include "suggest.h"

#include <string.h>

enum { DIFF_LIMIT = 1000, STRETCH = 512 };

/* ---- whose record ---- */

/* A run, as far as a reader of its record has to know it. */
typedef struct Past {
    Store *store;
    int64_t run, head;
    char *thread;
    Flow *flow; /* of the thread that reads; NULL: what frames see does not depend on it */
} Past;

static int64_t number_of(Json object, const char *key) {
    Json value = json_object_get_c(object, key);
    return json_tag(value) == JSON_TAG_INT ? value.i : 0;
}

static char *text_of(Json object, const char *key) {
    Json value = json_object_get_c(object, key);
    return json_kind(value) == JSON_STRING
               ? mem_strndup(json_string_data(&value), json_string_len(value))
               : NULL;
}

static void past_clear(Past *p) {
    flow_unref(p->flow);
    mem_free(p->thread);
}

static bool past_init(Past *p, Store *store, Json question, Error *err) {
    FlowProblems problems = {0};
    Json of = json_object_get_c(question, "of"), definition = json_object_get_c(of, "definition");
    *p = (Past){.store = store,
                .run = number_of(of, "run"),
                .head = number_of(of, "head"),
                .thread = text_of(of, "thread")};
    if (json_is_none(definition)) return true;
    p->flow = flow_load_definition(definition, &problems);
    if (!p->flow) {
        error_set(err, ERR_DATA, "The workflow of thread `%s` does not load here: %s", p->thread,
                  problems.n ? problems.items[0].msg : "it is damaged.");
        past_clear(p);
    }
    flow_problems_clear(&problems);
    return p->flow != NULL;
}

/* What a level sees in an image; JSON_NONE: it is not in it. */
static Json seen_at(const Past *p, Json image, LevelAt at) {
    return p->flow                ? lineage_state_at(p->flow, image, at)
           : image_has(image, at) ? json_ref(image_seen(image, at))
                                  : json_none();
}

/* The same of the level of a frame that runs. */
static Json seen_in(const Past *p, Json image, int64_t frame) {
    return seen_at(p, image, image_top(image, frame ? frame : 1));
}

static Json image_at(const Past *p, int64_t seq, Error *err) {
    return chain_image(p->store, p->run, seq, NULL, err);
}

static bool read_line(const Past *p, size_t max, Lineage *line, Error *err) {
    return lineage_read(p->store, p->run, p->head, max, line, err);
}

/* The level that a step between two images was of: one that holds a workflow leaves that behind with it. */
static LevelAt level_of_step(Json before, Json after, int64_t frame) {
    LevelAt a = image_top(before, frame), b = image_top(after, frame);
    return image_has(after, b) && b.level < a.level ? b : a;
}

/* ---- what a frame saw ---- */

static void say_no_frame(int64_t seq, int64_t frame, Error *err) {
    error_set(err, ERR_USAGE, "At checkpoint %lld there is no frame %lld.", (long long)seq,
              (long long)frame);
}

/* At a checkpoint: the frame that is said, or else the selected one, or the root where that was not there. */
static Json state_at(const Past *p, Json question, int64_t seq, Error *err) {
    int64_t frame = number_of(question, "frame"), selected = number_of(question, "selected");
    Json image = image_at(p, seq, err);
    if (json_is_none(image)) return image;
    Json state = seen_in(p, image, frame ? frame : selected);
    if (json_is_none(state) && !frame && selected) state = seen_in(p, image, 0);
    json_unref(image);
    if (json_is_none(state)) say_no_frame(seq, frame, err);
    return state;
}

Json travel_state(Store *store, Json question, Error *err) {
    Past p;
    if (!past_init(&p, store, question, err)) return json_none();
    Json state = state_at(&p, question, number_of(question, "checkpoint"), err);
    past_clear(&p);
    return state;
}

/* ---- differences ---- */

typedef struct Span {
    int64_t from, to; /* checkpoints; to 0: now */
} Span;

/* The last step of a frame. */
static bool last_step_of(const Lineage *line, int64_t frame, Span *out, Error *err) {
    ptrdiff_t step = lineage_last_step(line, frame, line->n);
    if (step < 0) {
        return error_set(err, ERR_USAGE, "Frame %lld has not finished a node yet.",
                         (long long)frame);
    }
    *out = (Span){line->items[step].parent, line->items[step].seq};
    return true;
}

static bool find_span(const Past *p, int64_t frame, DiffSince since, Span *out, Error *err) {
    Lineage line = {0};
    bool ok = read_line(p, 0, &line, err);
    *out = (Span){line.n ? line.items[0].seq : 0, 0};
    if (ok && since == DIFF_NODE) ok = last_step_of(&line, frame, out, err);
    for (size_t i = line.n, pauses = 0; since == DIFF_PAUSE && i && pauses < 2; i--) {
        const LineageStep *c = &line.items[i - 1];
        pauses += c->frame == frame && !strcmp(c->status, "paused");
        out->from = pauses == 2 ? c->seq : out->from; /* the one before that which it is in */
    }
    lineage_clear(&line);
    return ok;
}

/* The first of the frames that was there then: one that was not saw what the one that made it did. */
static Json state_then(const Past *p, Json image, Json frames) {
    Json state = json_none();
    for (size_t i = 0; json_is_none(state) && i < json_array_len(frames); i++) {
        state = seen_in(p, image, json_array_get(frames, i).i);
    }
    return state;
}

/* What there was on both sides of it; JSON_NONE where that is not known. */
typedef struct Sides {
    Json from, to;
} Sides;

static Sides sides_of(const Past *p, Span span, Json frames, Json now) {
    Json before = image_at(p, span.from, NULL);
    Json after = span.to ? image_at(p, span.to, NULL) : json_none();
    LevelAt at = level_of_step(before, after, json_array_get(frames, 0).i);
    bool step = image_has(before, at) && image_has(after, at);
    Sides sides = {step ? seen_at(p, before, at) : state_then(p, before, frames),
                   step      ? seen_at(p, after, at)
                   : span.to ? state_then(p, after, frames)
                             : json_ref(now)};
    json_unref(before);
    json_unref(after);
    return sides;
}

static Json with_ends(Json diff, Span span) {
    static const char *const parts[] = {"added", "removed", "changed", "counts", "more"};
    Json out = OBJECT(KEY("from", span.from ? json_int(span.from) : json_none()),
                      KEY("to", span.to ? json_int(span.to) : json_none()));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        Json part = json_object_get_c(diff, parts[i]);
        out = json_is_none(part) ? out : json_object_with(out, parts[i], json_ref(part));
    }
    json_unref(diff);
    return out;
}

Json travel_diff(Json from, Json to, int64_t from_seq, int64_t to_seq) {
    return with_ends(inspect_diff(from, to, DIFF_LIMIT), (Span){from_seq, to_seq});
}

static Json diff_since(const Past *p, Json question, Error *err) {
    Json frames = json_object_get_c(question, "frames"), now = json_object_get_c(question, "now");
    int64_t frame = json_array_get(frames, 0).i;
    Span span;
    if (!find_span(p, frame, (DiffSince)number_of(question, "since"), &span, err)) {
        return json_none();
    }
    Sides sides = sides_of(p, span, frames, now);
    bool known = !json_is_none(sides.from) && !json_is_none(sides.to);
    if (!known) {
        error_set(err, ERR_DATA, "Frame %lld has no state at that checkpoint.", (long long)frame);
    }
    Json out = known ? travel_diff(sides.from, sides.to, span.from, span.to) : json_none();
    json_unref(sides.from);
    json_unref(sides.to);
    return out;
}

static Json diff_between(const Past *p, Json question, Error *err) {
    int64_t from = number_of(question, "from"), to = number_of(question, "to");
    Json out = json_none(), now = json_object_get_c(question, "now");
    Json before = state_at(p, question, from, err), after = json_none();
    if (!json_is_none(before)) after = to ? state_at(p, question, to, err) : json_ref(now);
    if (!json_is_none(after)) out = travel_diff(before, after, from, to ? to : p->head);
    json_unref(before);
    json_unref(after);
    return out;
}

Json travel_changes(Store *store, Json question, Error *err) {
    Past p;
    if (!past_init(&p, store, question, err)) return json_none();
    bool between = number_of(question, "from") != 0;
    Json out = between ? diff_between(&p, question, err) : diff_since(&p, question, err);
    past_clear(&p);
    return out;
}

/* ---- who wrote a value ---- */

typedef struct Written {
    const Past *past;
    const Lineage *line;
    const Graph *graph; /* of the level: what other graphs have under that name is another value */
    Json path;
    /* indices of the last checkpoints that changed it: a step of a node; whatever else did, as the end of branches. -1: none */
    ptrdiff_t step, other;
    Json after; /* what the step left */
} Written;

/* Given; JSON_NONE where there is none, or the level is of another graph. */
static Json value_there(const Written *w, Json image, LevelAt at, bool *there) {
    *there = image_has(image, at) && image_graph(w->past->flow, image, at) == w->graph;
    Json state = *there ? seen_at(w->past, image, at) : json_none();
    Json value = json_is_none(state) ? state : json_path_get(state, w->path, NULL);
    json_unref(state);
    return value;
}

static bool look_for_writer(void *ctx, const LineageImage *at) {
    Written *w = ctx;
    const LineageStep *c = &w->line->items[at->index];
    LevelAt level = level_of_step(at->before, at->after, c->frame);
    bool was, is;
    Json before = value_there(w, at->before, level, &was);
    Json after = value_there(w, at->after, level, &is);
    if (was && is && !json_identical(before, after) && safe_differ(before, after)) {
        bool joins = lineage_is(c, "joined");
        *(joins ? &w->other : &w->step) = (ptrdiff_t)at->index;
        if (!joins) json_put(&w->after, json_ref(after));
    }
    json_unref(before);
    json_unref(after);
    return true;
}

static const Node *node_of(const Graph *graph, const char *name) {
    Json key = json_string_c(name);
    const Node *node = graph ? graph_find(graph, key) : NULL;
    json_unref(key);
    return node;
}

/* The step, unless what it left is not what is there now: then something else came after it. */
static Json writer_json(const Written *w, Json now) {
    bool step = w->step >= 0 && (w->step > w->other || !safe_differ(w->after, now));
    ptrdiff_t found = step ? w->step : w->other;
    if (found < 0) return json_object();
    const LineageStep *c = &w->line->items[found];
    const Node *node = c->node[0] ? node_of(w->graph, c->node) : NULL;
    return OBJECT(KEY("checkpoint", c->seq), KEY("status", c->status), KEY("frame", c->frame),
                  KEY("node", c->node[0] ? c->node : NULL), KEY("file", node ? node->file : NULL),
                  KEY("line", node ? json_int(node->line) : json_none()),
                  KEY("at", json_time(c->at)));
}

Json travel_written(Store *store, Json question, Error *err) {
    Past p;
    Lineage line = {0};
    if (!past_init(&p, store, question, err)) return json_none();
    LevelAt level = {number_of(question, "frame"), (size_t)number_of(question, "level")};
    Written w = {.past = &p,
                 .line = &line,
                 .path = json_object_get_c(question, "path"),
                 .step = -1,
                 .other = -1};
    Json head = image_at(&p, p.head, err), out = json_none();
    bool ok = !json_is_none(head) && read_line(&p, WRITERS_LOOKED_AT, &line, err), there;
    w.graph = ok ? image_graph(p.flow, head, level) : NULL;
    Json now = ok ? value_there(&w, head, level, &there) : json_none();
    if (ok && w.graph) ok = lineage_images(store, p.run, &line, look_for_writer, &w, err);
    if (ok) out = writer_json(&w, now);
    json_unref(now);
    json_unref(w.after);
    json_unref(head);
    lineage_clear(&line);
    past_clear(&p);
    return out;
}

/* ---- a checkpoint to go back to ---- */

/* What comes after the checkpoint is taken from a recording again. A history that cannot be read up to there
 * (it was pruned) is no reason not to go back: then it is done. */
static Json recorded_there(const Past *p, Json question, int64_t seq) {
    Json recording = json_object_get_c(question, "recording");
    if (json_is_none(recording)) return recording;
    char *live_from = text_of(recording, "live_from");
    RecordingSource there = {.run = p->run, .seq = seq, .flow = p->flow, .live_from = live_from};
    Json counts = recording_counts(p->store, &there, NULL);
    mem_free(live_from);
    return counts;
}

static Json place_json(const Past *p, Json question, int64_t seq, int64_t frame, Error *err) {
    Json there = rewind_read(p->store, &(RewindTo){p->run, p->thread, seq}, err);
    return json_is_none(there)
               ? there
               : OBJECT(KEY("there", there), KEY("checkpoint", seq), KEY("frame", frame),
                        KEY("counts", recorded_there(p, question, seq)));
}

Json travel_to(Store *store, Json question, Error *err) {
    Past p;
    if (!past_init(&p, store, question, err)) return json_none();
    Json out = place_json(&p, question, number_of(question, "checkpoint"),
                          number_of(question, "frame"), err);
    past_clear(&p);
    return out;
}

/* ---- steps back ---- */

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

/* Where the node that a frame is in the midst of is next; 0: that is further back than the stretch goes. */
static int64_t before_the_node(const Lineage *line, int64_t frame, bool whole) {
    ptrdiff_t own = last_move(line, frame == 1 ? 0 : frame, line->n);
    return own >= 0                         ? line->items[own].seq
           : whole && frame == 1 && line->n ? line->items[0].seq
                                            : 0;
}

/* The checkpoint that leads to `count` steps before here; 0 on error. midst: the frame's node has begun, or failed, and
 * the first step back leads to before it. */
static int64_t find_back(const Past *p, int64_t frame, int64_t count, bool midst, int64_t *then,
                         Error *err) {
    bool ok = true, whole = false;
    int64_t seq = 0;
    for (size_t max = STRETCH; ok && !seq && !whole; max *= 16) {
        Lineage line = {0};
        ok = read_line(p, max, &line, err);
        whole = line.n < max;
        int64_t near = ok && midst ? before_the_node(&line, frame, whole) : 0;
        *then = frame;
        if (near && count == 1) {
            seq = near;
        } else {
            ptrdiff_t at = ok ? step_back(&line, frame, count - (near != 0), then) : -1;
            /* the frame's own step may be further back than the stretch goes */
            bool sure = at >= 0 && (whole || frame == 1 || *then == frame);
            seq = sure ? line.items[at].parent : 0;
        }
        lineage_clear(&line);
    }
    if (ok && !seq) {
        error_set(err, ERR_USAGE,
                  count > 1 ? "The run has not taken so many steps to here: `back` takes fewer."
                            : "This is the beginning of the run: there is no step to take back.");
    }
    return seq;
}

/* The checkpoint before the frame went into the node of a level: the newest at which it stood at that node with no level
 * above it. 0 on error. */
static int64_t find_level(const Past *p, int64_t frame, size_t depth, Json node, Error *err) {
    Lineage line = {0};
    int64_t seq = 0;
    bool ok = read_line(p, 0, &line, err);
    for (size_t i = ok ? line.n : 0; i-- && !seq;) {
        const LineageStep *c = &line.items[i];
        if (c->frame != frame || !lineage_is(c, "entered") || !json_string_is(node, c->node)) {
            continue;
        }
        Json image = image_at(p, c->parent, NULL);
        if (image_depth(image, frame) == depth) seq = c->parent;
        json_unref(image);
    }
    lineage_clear(&line);
    if (ok && !seq) {
        error_set(err, ERR_USAGE,
                  "The record does not say when frame %lld came to `%s`: it was pruned.",
                  (long long)frame, json_string_data(&node));
    }
    return seq;
}

Json travel_back(Store *store, Json question, Error *err) {
    Past p;
    if (!past_init(&p, store, question, err)) return json_none();
    int64_t frame = number_of(question, "frame"), then = frame;
    bool midst = json_truthy(json_object_get_c(question, "midst"));
    int64_t depth = number_of(question, "depth");
    int64_t seq =
        depth ? find_level(&p, frame, (size_t)depth, json_object_get_c(question, "node"), err)
              : find_back(&p, frame, number_of(question, "count"), midst, &then, err);
    Json out = seq ? place_json(&p, question, seq, then, err) : json_none();
    past_clear(&p);
    return out;
}

/* ---- where a breakpoint would have stopped it ---- */

typedef struct Reverse {
    const Past *past;
    Breakpoints *breakpoints; /* of the thread that reads */
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
    bool asks = b->condition || b->error || b->place == BREAK_TASK_TITLE ||
                (b->type == BREAK_STATE && b->place != BREAK_NO_PLACE);
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
    const Breakpoints *breakpoints = t->reverse->breakpoints;
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
        bool here = json_string_is(name, c->node);
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
    for (size_t n = 0; (node = node_named(t->reverse->past->flow, name, n)); n++) try_node(t, node);
    t->place.node = NULL;
}

/* What the workflow does not have was injected: which breakpoints are at it, its image will say. */
static bool is_interesting(const Reverse *r, const char *name) {
    Breakpoints *all = r->breakpoints;
    const Node *node;
    size_t n = 0;
    bool found =
        breakpoints_anywhere(all).n || breakpoints_on_state(all).n || breakpoints_on_error(all).n;
    for (; !found && (node = node_named(r->past->flow, name, n)); n++) {
        found = breakpoints_of_node(all, node).n > 0;
    }
    return found || (!n && !breakpoints_empty(all));
}

/* ---- nodes that were injected ----
 *
 * The image has their text while they run, and nobody may have it loaded any more: it is for the one
 * look at it, breakpoints included. */

/* What was injected around a step, which sees what the node does that it was put beside. NULL: none. */
static Flow *load_injected(const Reverse *r, Json image, int64_t frame) {
    const Flow *whole = r->past->flow;
    FlowProblems problems = {0};
    LevelAt spot = image_top(image, frame); /* the innermost level of what was injected */
    while (json_kind(image_part(image, spot, IMAGE_INJECTED)) != JSON_ARRAY) {
        if (!image_go_down(image, &spot)) {
            return NULL; /* the step is of the workflow */
        }
    }
    LevelAt beside = {spot.frame, spot.level - 1};
    const Graph *graph = spot.level ? image_graph(whole, image, beside) : NULL;
    const Node *node = image_node(graph, image_part(image, beside, IMAGE_NODE));
    /* its numbers follow those of the workflow */
    FlowNumbers first = {whole->first_expr + (uint32_t)whole->nexprs,
                         whole->first_node + (uint32_t)whole->nnodes};
    FlowAround around = {
        .first = first, .vars = node ? node->vars : NULL, .nvars = node ? node->nvars : 0};
    Json definition = json_array_get(image_part(image, spot, IMAGE_INJECTED), INJECTED_DEFINITION);
    Flow *flow = flow_load_definition_inside(definition, &around, &problems);
    flow_problems_clear(&problems);
    if (flow) breakpoints_add_flow(r->breakpoints, flow);
    return flow;
}

/* ---- the edge that led here ---- */

static bool is_of(Json frames, Json edge) {
    Json frame = json_object_get_c(edge, "frame");
    for (size_t i = 0; i < json_array_len(frames); i++) {
        if (json_equal(json_array_get(frames, i), frame)) return true;
    }
    return false;
}

/* Of the edges that a checkpoint has, the last of one of the frames; given, JSON_NONE: none. */
static Json choice_in(const Past *p, int64_t seq, int64_t parent, Json frames) {
    StepResult result = {0};
    Checkpoint c;
    Json before = parent ? image_at(p, parent, NULL) : json_null(), found = json_none();
    Json after = image_at(p, seq, NULL);
    if (store_checkpoint(p->store, p->run, seq, &c, NULL)) result_read(&c, before, after, &result);
    Json told = choices_told(p->flow, before, after, result.edges);
    for (size_t i = json_array_len(told); i-- > 0 && json_is_none(found);) {
        Json edge = json_array_get(told, i);
        if (is_of(frames, edge)) found = OBJECT_ADD(json_ref(edge), KEY("checkpoint", seq));
    }
    json_unref(told);
    json_unref(before);
    json_unref(after);
    result_clear(&result);
    return found;
}

Json travel_choice(Store *store, Json question, Error *err) {
    Past p;
    Json found = json_none();
    if (!past_init(&p, store, question, err)) return json_none();
    int64_t seq = p.head;
    for (size_t i = 0; i < CHOICES_LOOKED_AT && seq && json_is_none(found); i++) {
        Checkpoint c;
        if (!store_checkpoint(store, p.run, seq, &c, NULL)) break;
        int64_t at = seq, parent = c.parent;
        seq = parent;
        if (!result_has_edges(&c)) continue;
        found = choice_in(&p, at, parent, json_object_get_c(question, "frames"));
    }
    past_clear(&p);
    return OBJECT_ADD(json_ref(json_object_get_c(question, "answer")), KEY("last", found));
}

/* ---- frames that have ended ---- */

static Json ended_json(const Past *p, const LineageStep *c) {
    Json image = image_at(p, c->parent, NULL), path = lineage_frame_path(image, c->frame);
    int64_t parent = image_parent(image, c->frame);
    json_unref(image);
    return OBJECT(KEY("frame", c->frame), KEY("parent", parent ? json_int(parent) : json_none()),
                  KEY("path", json_is_none(path) ? json_string_c("") : path), KEY("node", c->node),
                  KEY("result", lineage_result(c)), KEY("checkpoint", c->seq),
                  KEY("at", json_time(c->at)));
}

Json travel_ended(Store *store, Json question, Error *err) {
    Past p;
    Lineage line = {0};
    if (!past_init(&p, store, question, err)) return json_none();
    Json now = image_at(&p, p.head, err), seen = json_object(), newest = json_array();
    size_t limit = (size_t)number_of(question, "limit");
    bool ok = !json_is_none(now) && read_line(&p, FRAMES_LOOKED_AT, &line, err);
    bool more = line.n >= FRAMES_LOOKED_AT;
    for (size_t i = line.n; ok && i-- > 0;) {
        const LineageStep *c = &line.items[i];
        if (!lineage_is_step(c) || image_depth(now, c->frame)) continue;
        Json key = image_key(c->frame);
        bool new = json_is_none(json_object_get(seen, key));
        seen = json_object_set(seen, key, json_null());
        if (!new) continue;
        more = more || json_array_len(newest) == limit;
        if (json_array_len(newest) == limit) break;
        newest = json_array_push(newest, ended_json(&p, c));
    }
    Json ended = json_array();
    for (size_t i = json_array_len(newest); i-- > 0;) {
        ended = json_array_push(ended, json_ref(json_array_get(newest, i)));
    }
    json_unref(newest);
    json_unref(seen);
    json_unref(now);
    lineage_clear(&line);
    past_clear(&p);
    if (!ok) {
        json_unref(ended);
        return json_none();
    }
    return OBJECT_ADD(json_ref(json_object_get_c(question, "answer")), KEY("ended", ended),
                      KEY("more_ended", more ? json_bool(true) : json_none()));
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
static Json state_at_end(const Flow *flow, const Around *a) {
    const Graph *graph = image_graph(flow, a->images[0], a->result.at);
    Json state = json_ref(a->states[0]), kept = json_none();
    if (wait_is(image_wait(a->images[1], a->ended_in), WAIT_MAP)) return state;
    Evaluator *evaluator = evaluator_new(flow, &(JqHost){.budget = {.steps = INSPECT_EVAL_STEPS}});
    if (!graph || graph->scoped || json_kind(a->result.update) != JSON_OBJECT ||
        !reduce_update(graph, evaluator, a->result.update, json_null(), &state, &kept, NULL)) {
        json_clear(&state);
    }
    evaluator_free(evaluator);
    return state;
}

static Around look_around(Reverse *r, const LineageStep *step) {
    const Past *p = r->past;
    Around a = {.images = {image_at(p, step->parent, NULL), image_at(p, step->seq, NULL)}};
    Checkpoint c;
    LevelAt at = level_of_step(a.images[0], a.images[1], step->frame);
    for (size_t i = 0; i < 2; i++) a.states[i] = lineage_state_at(p->flow, a.images[i], at);
    r->vars = json_array();
    if (json_is_none(a.states[0])) return a;
    json_unref(r->vars);
    r->vars = lineage_variables(a.images[0], step->frame);
    a.node = node_there(p->flow, a.images[0], step);
    a.injected = a.node ? NULL : load_injected(r, a.images[0], step->frame);
    a.node = a.injected ? node_named(a.injected, step->node, 0) : a.node;
    if (a.node && !take_variables(r, a.node)) a.node = NULL;
    if (!json_is_none(a.images[1]) && store_checkpoint(p->store, p->run, step->seq, &c, NULL)) {
        result_read(&c, a.images[0], a.images[1], &a.result);
        bool ended = !image_depth(a.images[1], step->frame);
        a.ended_in = ended ? image_parent(a.images[0], step->frame) : 0;
    }
    if (a.ended_in) {
        json_unref(a.states[1]);
        a.states[1] = state_at_end(p->flow, &a);
    }
    return a;
}

static void around_clear(Reverse *r, Around *a) {
    for (size_t i = 0; i < 2; i++) {
        json_unref(a->images[i]);
        json_unref(a->states[i]);
    }
    if (a->injected) {
        breakpoints_drop_flow(r->breakpoints, a->injected);
        flow_unref(a->injected);
    }
    result_clear(&a->result);
    json_clear(&r->vars);
}

static void try_after(Reverse *r, const LineageStep *c, const Around *a) {
    Trying t = {r, {.position = HOOK_AFTER, .node = a->node}, a->states[1]};
    if (!json_is_none(a->states[1]) || a->ended_in) try_nodes(&t, c->node);
    bool states = !json_is_none(a->states[0]) && !json_is_none(a->states[1]);
    PointList list = breakpoints_on_state(r->breakpoints);
    t.place.node = a->node;
    for (size_t i = 0; states && i < list.n; i++) {
        Breakpoint *b = list.items[i];
        Json before = breakpoint_value(b, a->states[0]), after = breakpoint_value(b, a->states[1]);
        if (breakpoint_changed(b, before, after)) try_one(r, b, &t.place, a->states[1]);
        json_unref(before);
        json_unref(after);
    }
}

static void try_before(Reverse *r, const LineageStep *c, const Around *a) {
    HookPlace place = {.position = HOOK_BEFORE, .node = a->node};
    Trying t = {r, place, a->states[0]};
    if (json_is_none(a->states[0])) return;
    if (!strcmp(c->status, "failed")) {
        Json ended = image_error(a->images[1]);
        t.place.position = HOOK_ON_ERROR;
        t.place.caught = json_is_none(ended);
        t.place.error = json_is_none(a->result.error) ? json_null() : a->result.error;
        try_nodes(&t, c->node);
        try_list(r, breakpoints_on_error(r->breakpoints), &t.place, t.state);
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
    if (!last) try_after(r, c, &a);
    bool after = !json_is_none(r->hit);
    r->seq = after ? c->seq : c->parent;
    r->frame = after && a.ended_in ? a.ended_in : c->frame;
    if (after && a.ended_in) { /* the frame is gone there: what was hit is said beside it */
        r->ended =
            OBJECT(KEY("frame", c->frame), KEY("path", lineage_frame_path(a.images[0], c->frame)),
                   KEY("node", c->node));
    }
    if (!after) try_before(r, c, &a);
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
        found = wanted && is_interesting(r, c->node) && try_step(r, c, (ptrdiff_t)i - 1 == last);
    }
    if (!found && line->n) {
        r->seq = line->items[0].seq;
        r->frame = 1;
    }
}

static Breakpoints *read_breakpoints(Json specs, const Flow *flow) {
    Breakpoints *all = breakpoints_new(flow);
    for (size_t i = 0; i < json_array_len(specs); i++) {
        Json spec = json_array_get(specs, i);
        Breakpoint *b = breakpoint_new(number_of(spec, "id"), spec, flow, NULL);
        if (b) breakpoints_add(all, b);
    }
    return all;
}

Json travel_reverse(Store *store, Json question, Error *err) {
    Past p;
    if (!past_init(&p, store, question, err)) return json_none();
    Lineage line = {0};
    Reverse r = {.past = &p,
                 .line = &line,
                 .breakpoints =
                     read_breakpoints(json_object_get_c(question, "breakpoints"), p.flow)};
    Json out = json_none();
    if (read_line(&p, 0, &line, err)) {
        search_back(&r, number_of(question, "frame"));
        out = place_json(&p, question, r.seq, r.frame, err);
    }
    if (json_is_none(out)) {
        json_unref(r.hit);
        json_unref(r.ended);
    } else {
        out = OBJECT_ADD(out, KEY("hit", r.hit), KEY("ended", r.ended));
    }
    lineage_clear(&line);
    breakpoints_free(r.breakpoints);
    past_clear(&p);
    return out;
}

/* ---- one node again ---- */

/* The newest step of a node on a line; 0 when it made none, with the nearest that did. */
static int64_t step_of_node(const Lineage *line, const char *node, Error *err) {
    Suggestion nearest = suggestion_for(node, strlen(node));
    for (size_t i = line->n; i-- > 0;) {
        const LineageStep *c = &line->items[i];
        if (!lineage_is_step(c)) continue;
        if (strcmp(c->node, node) == 0) return c->seq;
        suggestion_offer(&nearest, c->node);
    }
    error_set(err, ERR_USAGE,
              "There is no execution of `%s` to replay on this line of the history%s",
              shown(node, strlen(node)), did_you_mean_this(nearest.best));
    return 0;
}

/* The last one of the node, up to the checkpoint if there is one; or that of the checkpoint; or the last one of
 * the frame. 0 on error. */
static int64_t find_step(Past *p, Json question, Error *err) {
    char *node = text_of(question, "node");
    int64_t checkpoint = number_of(question, "checkpoint");
    int64_t seq = node ? 0 : checkpoint;
    Lineage line = {0};
    Span last = {0, 0};
    p->head = node && checkpoint ? checkpoint : p->head;
    if (!seq && read_line(p, 0, &line, err)) {
        if (node) {
            seq = step_of_node(&line, node, err);
        } else if (last_step_of(&line, number_of(question, "frame"), &last, err)) {
            seq = last.to;
        }
    }
    lineage_clear(&line);
    mem_free(node);
    return seq;
}

Json travel_step(Store *store, Json question, Error *err) {
    Past p;
    Checkpoint c;
    if (!past_init(&p, store, question, err)) return json_none();
    int64_t seq = find_step(&p, question, err);
    bool found = seq && store_checkpoint(store, p.run, seq, &c, NULL);
    int64_t frame = found ? c.frame : 0;
    Json image = seq ? image_at(&p, seq, NULL) : json_none();
    Json state = json_is_none(image) ? json_none() : seen_in(&p, image, frame);
    json_unref(image);
    past_clear(&p);
    if (!seq) return json_none();
    return OBJECT(KEY("checkpoint", seq), KEY("frame", frame), KEY("recorded", state));
}
