#include "choice.h"

#include "event.h"
#include "frame.h"
#include "mem.h"

#include <string.h>

enum { TEXT_MAX = 100 }; /* bytes of a string that is kept */

/* ---- noting ---- */

static Choice *open_choice(const Run *run, int64_t frame) {
    for (size_t i = 0; i < run->nchoices; i++) {
        Choice *c = &run->choices[i];
        if (c->edge < 0 && c->at.frame == frame) return c;
    }
    return NULL;
}

static void drop_choice(Run *run, Choice *c) {
    json_unref(c->odd);
    *c = run->choices[--run->nchoices];
}

static Choice *add_choice(Frame *f) {
    Run *run = f->run;
    const Level *l = frame_top(f);
    run->choices = mem_grow(run->choices, run->nchoices, &run->choices_cap, sizeof *run->choices);
    Choice *c = &run->choices[run->nchoices++];
    *c = (Choice){.at = {f->id, f->nlevels - 1}, .graph = l->graph, .node = l->node, .edge = -1};
    return c;
}

static bool is_wanted(const Run *run) {
    return run->engine->storage || run_wants(run, EVENT_STEP);
}

/* What is kept of what a condition gave; given. Of a text that is cut a secret could be left in part. */
static Json kept(size_t edge, Json value) {
    JsonKind kind = json_kind(value);
    size_t size = kind == JSON_ARRAY    ? json_array_len(value)
                  : kind == JSON_OBJECT ? json_object_len(value)
                  : kind == JSON_STRING ? json_string_len(value)
                                        : 0;
    bool whole = kind == JSON_STRING ? size <= TEXT_MAX : kind != JSON_ARRAY && kind != JSON_OBJECT;
    return whole ? ARRAY(json_int((int64_t)edge), json_ref(value))
                 : ARRAY(json_int((int64_t)edge), json_null(), json_string_c(json_kind_name(kind)),
                         json_int((int64_t)size));
}

/* The choice that conditions of the frame are tried for; NULL: nothing of it is noted yet. */
static Choice *choice_under_way(Frame *f, bool fresh) {
    Choice *c = f->run->nchoices ? open_choice(f->run, f->id) : NULL;
    if (c && fresh) {
        drop_choice(f->run, c);
        c = NULL;
    }
    return c;
}

/* Consumes it. */
static void add_odd(Choice *c, Json one) {
    c->odd = json_array_push(json_is_none(c->odd) ? json_array() : c->odd, one);
}

void choice_tried(Frame *f, size_t edge, Json value, bool fresh) {
    JsonKind kind = json_kind(value);
    Choice *c = choice_under_way(f, fresh);
    if (kind == JSON_TRUE || kind == JSON_FALSE || !is_wanted(f->run)) return;
    add_odd(c ? c : add_choice(f), kept(edge, value));
}

void choice_failed(Frame *f, size_t edge, const Error *why, bool fresh) {
    Choice *c = choice_under_way(f, fresh);
    if (!is_wanted(f->run)) return;
    c = c ? c : add_choice(f);
    c->none = true;
    c->edge = (int)edge;
    if (why) {
        add_odd(c, ARRAY(json_int((int64_t)edge), json_null(), json_string_c("error"),
                         json_string_valid(why->msg, strlen(why->msg))));
    }
}

void choice_made(Frame *f, const Edges *edges, const Edge *edge, bool error) {
    if ((edges->n == 1 && !edge->when) || !is_wanted(f->run)) return;
    Choice *c = f->run->nchoices && !error ? open_choice(f->run, f->id) : NULL;
    c = c ? c : add_choice(f);
    c->error = error;
    c->edge = (int)(edge - edges->items);
}

void choices_recorded(Run *run) {
    for (size_t i = run->nchoices; i-- > 0;) {
        if (run->choices[i].edge >= 0) drop_choice(run, &run->choices[i]);
    }
}

void choices_clear(Run *run) {
    while (run->nchoices) drop_choice(run, &run->choices[0]);
    mem_free(run->choices);
}

/* As a checkpoint has it. */
static int64_t number_of(const Choice *c) {
    return c->none ? -1 - c->edge : c->edge;
}

Json choice_json(const Choice *c) {
    return ARRAY(json_bool(c->error), json_int(number_of(c)),
                 json_is_none(c->odd) ? json_null() : json_ref(c->odd), json_int(c->at.frame),
                 json_int((int64_t)c->at.level),
                 c->node ? json_ref(c->node->name_json) : json_null());
}

/* ---- telling ---- */

static Json targets_of(const Graph *g, const Edge *edge) {
    Json to = json_array();
    for (size_t i = 0; i < edge->ntargets; i++) {
        to = json_array_push(to, json_string_c(target_name(g, edge->targets[i])));
    }
    return to;
}

/* What the condition of an edge gave, added to what is told of it. Consumes that. */
static Json with_gave(Json told, Json odd, int64_t edge, bool taken) {
    enum { EDGE, VALUE, TYPE, SIZE, WHY = SIZE };
    for (size_t i = 0; i < json_array_len(odd); i++) {
        Json one = json_array_get(odd, i), type = json_array_get(one, TYPE);
        if (image_int(one, EDGE) != edge) continue;
        if (json_is_none(type))
            return OBJECT_ADD(told, KEY("gave", json_ref(json_array_get(one, VALUE))));
        Json last = json_array_get(one, SIZE);
        bool failed = json_string_is(type, "error"), sound = json_kind(type) == JSON_STRING;
        if (failed && json_kind(last) == JSON_STRING)
            return OBJECT_ADD(told, KEY("error", json_ref(last)));
        if (!failed && sound && json_tag(last) == JSON_TAG_INT) {
            return OBJECT_ADD(told, KEY("type", json_ref(type)), KEY("size", last));
        }
    }
    return OBJECT_ADD(told, KEY("gave", taken));
}

/* number: as choice_json() has it. */
static Json tell(const Graph *g, const Node *node, int64_t frame, bool error, int64_t number,
                 Json odd) {
    const Edges *edges = !node ? &g->start : error ? &node->error_edges : &node->edges;
    bool none = number < 0;
    int64_t last = none ? -1 - number : number;
    if (last < 0 || (size_t)last >= edges->n) return json_none();
    Json tried = json_array();
    for (int64_t i = 0; i <= last; i++) {
        const Edge *edge = &edges->items[i];
        if (!edge->when) continue;
        Json told = OBJECT(KEY("when", edge->when->text), KEY("to", targets_of(g, edge)));
        tried = json_array_push(tried, with_gave(told, odd, i, i == last && !none));
    }
    return OBJECT(KEY("from", node ? node->name : "__start__"), KEY("frame", frame),
                  KEY("to", none ? json_array() : targets_of(g, &edges->items[last])),
                  KEY("error", error ? json_bool(true) : json_none()), KEY("tried", tried));
}

static Json add_told(Json list, Json one) {
    if (json_is_none(one)) return list;
    return json_array_push(json_is_none(list) ? json_array() : list, one);
}

Json choices_tell(const Run *run) {
    Json list = json_none();
    for (size_t i = 0; i < run->nchoices; i++) {
        const Choice *c = &run->choices[i];
        if (c->edge < 0) continue;
        list = add_told(list, tell(c->graph, c->node, c->at.frame, c->error, number_of(c), c->odd));
    }
    return list;
}

/* A node that has ended is in the image before the checkpoint; a level that was begun and left between the
 * two is in neither, one that has just begun in the one after it. */
static const Graph *graph_of(const Flow *flow, Json before, Json after, LevelAt at, Json name,
                             const Node **node) {
    Json images[] = {before, after};
    for (size_t i = 0; i < 2; i++) {
        const Graph *g = image_has(images[i], at) ? image_graph(flow, images[i], at) : NULL;
        *node = g ? image_node(g, name) : NULL;
        if (g && (*node || json_kind(name) == JSON_NULL)) return g;
    }
    return json_kind(name) == JSON_NULL && !at.level ? flow->main : NULL;
}

Json choices_told(const Flow *flow, Json before, Json after, Json edges) {
    Json list = json_none();
    for (size_t i = 0; i < json_array_len(edges); i++) {
        enum { ERROR_EDGE, EDGE, ODD, FRAME, LEVEL, NODE };
        Json c = json_array_get(edges, i);
        LevelAt at = {image_int(c, FRAME), (size_t)image_int(c, LEVEL)};
        const Node *node = NULL;
        const Graph *g = graph_of(flow, before, after, at, json_array_get(c, NODE), &node);
        if (!g) continue;
        list = add_told(list, tell(g, node, at.frame, json_truthy(json_array_get(c, ERROR_EDGE)),
                                   image_int(c, EDGE), json_array_get(c, ODD)));
    }
    return list;
}

static Json add_edges(Json list, const Graph *g, const Edges *edges, bool error) {
    for (size_t i = 0; i < edges->n; i++) {
        const Edge *edge = &edges->items[i];
        list = json_array_push(list, OBJECT(KEY("to", targets_of(g, edge)),
                                            KEY("when", edge->when ? edge->when->text : NULL),
                                            KEY("error", error ? json_bool(true) : json_none())));
    }
    return list;
}

Json edges_of(const Graph *g, const Node *node) {
    Json list = add_edges(json_array(), g, node ? &node->edges : &g->start, false);
    return node ? add_edges(list, g, &node->error_edges, true) : list;
}
