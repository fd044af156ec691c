/* draw.c - the main graph as text for other programs, with what is inside its tasks, loops and maps. */
#include "flow.h"

#include "json_build.h"
#include "json_print.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

/* ---- walking ---- */

/* One arrow: of an edge with several targets there are several. */
typedef struct Arrow {
    const Graph *graph;
    const Node *from; /* NULL: __start__ */
    const Edge *edge;
    int target;
    bool on_error;
} Arrow;

typedef void (*ArrowFn)(void *ctx, const Arrow *arrow);

static void each_arrow(const Graph *g, ArrowFn fn, void *ctx) {
    for (size_t i = 0; i < 1 + 2 * g->nnodes; i++) { /* __start__, then each node and its errors */
        const Node *from = i ? &g->nodes[(i - 1) / 2] : NULL;
        bool on_error = i && i % 2 == 0;
        Edges edges = !from ? g->start : on_error ? from->error_edges : from->edges;
        for (size_t e = 0; e < edges.n; e++) {
            for (size_t k = 0; k < edges.items[e].ntargets; k++) {
                fn(ctx, &(Arrow){g, from, &edges.items[e], edges.items[e].targets[k], on_error});
            }
        }
    }
}

static const char *from_name(const Arrow *a) {
    return a->from ? a->from->name : "__start__";
}

/* Whether a parameter of a task holds tasks of the same file, which are drawn inside it. */
static bool holds_tasks(const Node *node, size_t param) {
    ParamType type = node->kind->params[param].type;
    return (type == PARAM_TASK || type == PARAM_TASKS) && node->params[param].graph;
}

/* The graph that a loop of the graph dialect runs; NULL: it is none. */
static const Graph *loop_of(const Node *node) {
    return node->kind->id == KIND_WHILE ? node->params[WHILE_DO].graph : NULL;
}

/* The graph of the file that a node runs: a workflow of its own, or the kind that it is. NULL: it runs none. */
static const Graph *file_of(const Node *node) {
    if (node->kind->outside) return node->kind->outside->graph;
    for (size_t i = 0; i < node->kind->nparams; i++) {
        bool file = node->kind->params[i].type == PARAM_WORKFLOW ||
                    node->kind->params[i].type == PARAM_TEST;
        if (file && node->params[i].graph) return node->params[i].graph;
    }
    return NULL;
}

/* ---- json ---- */

/* What people call it; JSON_NONE when it has no other name. Borrowed. */
static Json title_of(const Node *node) {
    bool step = node->kind->dialect == DIALECT_PIPELINE && json_kind(node->source) == JSON_OBJECT;
    return node->task ? node->task->title
           : step     ? json_object_get_c(node->source, "name")
                      : json_none();
}

static void add_arrow_json(void *ctx, const Arrow *a) {
    Json *edges = ctx;
    const Edge *edge = a->edge;
    bool parallel = edge->parallel;
    *edges = json_array_push(
        *edges, OBJECT(KEY("from", from_name(a)), KEY("to", target_name(a->graph, a->target)),
                       KEY("when", edge->when ? edge->when->text : NULL),
                       KEY("parallel", parallel ? json_bool(true) : json_none()),
                       KEY("join", parallel ? target_name(a->graph, edge->join) : NULL),
                       KEY("on", a->on_error ? "error" : NULL)));
}

static Json node_json(const Node *node, bool *drawn);

static Json nodes_json(const Graph *g, bool *drawn) {
    Json nodes = json_array();
    for (size_t i = 0; i < g->nnodes; i++)
        nodes = json_array_push(nodes, node_json(&g->nodes[i], drawn));
    return nodes;
}

static Json edges_json(const Graph *g) {
    Json edges = json_array();
    for (size_t i = 0; g->scoped && i <= g->nnodes; i++) { /* of tasks, one leads to the next */
        edges =
            json_array_push(edges, OBJECT(KEY("from", i ? g->nodes[i - 1].name : "__start__"),
                                          KEY("to", i < g->nnodes ? g->nodes[i].name : "__end__")));
    }
    each_arrow(g, add_arrow_json, &edges);
    return edges;
}

/* What a run of it begins with unless its input says otherwise: names and values, null where there is none. */
static Json state_json(const Graph *g) {
    Json out = json_object();
    for (size_t i = 0; i < g->nkeys; i++) {
        Json initial = g->keys[i].initial;
        out = json_object_set(out, json_ref(g->keys[i].name),
                              json_is_none(initial) ? json_null() : json_ref(initial));
    }
    Json key, value;
    for (size_t pos = 0; g->scoped && json_object_next(g->defaults, &pos, &key, &value);) {
        out = json_object_set(out, json_ref(key), json_ref(value));
    }
    return out;
}

/* A file that several nodes run is drawn in the first of them: in the others its name says which it is. */
static Json workflow_json(const Graph *file, bool *drawn) {
    if (!file) return json_none();
    Json o = OBJECT(KEY("name", file->name), KEY("file", file->file));
    if (drawn[file->id]) return o;
    drawn[file->id] = true;
    return OBJECT_ADD(o, KEY("nodes", nodes_json(file, drawn)), KEY("edges", edges_json(file)));
}

/* What is inside is under the name of the parameter that holds it: the tasks of a task, the graph of a loop,
 * the node of a map. What is in another file is under `workflow`. */
static Json node_json(const Node *node, bool *drawn) {
    bool cleanup = node->task && node->task->cleanup;
    const Graph *loop = loop_of(node);
    const Node *body = node_body(node);
    Json o = OBJECT(KEY("name", node->name), KEY("kind", node->kind->name),
                    KEY("title", json_ref(title_of(node))), KEY("line", json_int(node->line)),
                    KEY("col", json_int(node->col)),
                    KEY("cleanup", cleanup ? json_bool(true) : json_none()));
    for (size_t k = 0; node->task && k < node->kind->nparams; k++) {
        if (holds_tasks(node, k)) {
            o = json_object_with(o, node->kind->params[k].name,
                                 nodes_json(node->params[k].graph, drawn));
        }
    }
    Json inside =
        loop   ? OBJECT(KEY("nodes", nodes_json(loop, drawn)), KEY("edges", edges_json(loop)))
        : body ? node_json(body, drawn)
               : json_none();
    return OBJECT_ADD(o, KEY("do", inside), KEY("workflow", workflow_json(file_of(node), drawn)));
}

static void draw_json(const Flow *flow, Buf *out) {
    static const JsonPrintOptions options = {.indent = 2};
    const Graph *g = flow->main;
    bool *drawn = mem_zalloc(flow->ngraphs * sizeof *drawn);
    Json o = OBJECT(KEY("name", flow->name), KEY("dialect", flow->dialect), KEY("file", g->file),
                    KEY("state", state_json(g)), KEY("nodes", nodes_json(g, drawn)),
                    KEY("edges", edges_json(g)),
                    KEY("cleanup", g->after ? nodes_json(g->after, drawn) : json_none()),
                    KEY(g->scoped ? "schedule" : "triggers", json_ref(g->schedule)));
    json_print(o, &options, out);
    buf_addc(out, '\n');
    json_unref(o);
    mem_free(drawn);
}

/* ---- labels ---- */

/* "when; error": what stands at an arrow; false when nothing does. */
static bool arrow_label(const Arrow *a, Buf *out) {
    buf_reset(out);
    if (a->on_error) buf_adds(out, "error");
    if (a->edge->when) {
        buf_adds(out, a->on_error ? ": " : "");
        buf_adds(out, a->edge->when->text);
    }
    return out->len > 0;
}

/* ---- pens ---- */

/* A node in a drawing, where arrows end: its number, and the name that a graph calls it by. */
typedef struct Dot {
    int id;
    const char *name; /* NULL: none */
} Dot;

/* How a format draws: a node that holds others stands in a box with them. */
typedef struct Pen {
    void (*begin)(Buf *out, const char *name);
    void (*node)(Buf *out, int depth, Dot dot, const char *label, const Node *node);
    void (*open)(Buf *out, int depth, int id, const char *label, bool cleanup);
    void (*close)(Buf *out, int depth);
    void (*arrow)(Buf *out, Dot from, Dot to, const char *style, const char *label);
    const char *dashed, *bold; /* styles of arrows: to what runs at an end, and at the same time */
    const char *footer;
    bool arrows_last; /* behind the footer */
} Pen;

/* ---- tasks ---- */

enum { TASK_START = -1, TASK_END = -2, TASK_NONE = -3 };

typedef struct TaskDrawing {
    const Pen *pen;
    Buf *out, arrows; /* arrows come last: in a box they would move what they lead to */
    int next, depth;
} TaskDrawing;

/* "title\nkind" */
static void task_label(const Node *node, Buf *out) {
    Json title = title_of(node);
    bool titled = json_kind(title) == JSON_STRING && json_string_len(title) > 0;
    if (titled) {
        buf_add(out, json_string_data(&title), json_string_len(title));
    } else {
        buf_adds(out, node->name);
    }
    if (titled || strcmp(node->name, node->kind->name) != 0) {
        buf_printf(out, "\n%s", node->kind->name);
    }
}

static int draw_list(TaskDrawing *d, const Graph *g, int from, bool parallel, const char *label);

/* The number that the task was given. */
static int draw_task(TaskDrawing *d, const Node *node) {
    int id = d->next++;
    size_t n = node->kind->nparams, first = 0;
    while (first < n && !holds_tasks(node, first)) first++;
    Buf label = BUF_INIT;
    task_label(node, &label);
    if (first < n) d->pen->open(d->out, d->depth++, id, "", false);
    d->pen->node(d->out, d->depth, (Dot){id, NULL}, label.data, node);
    buf_clear(&label);
    bool parallel = node->kind->order == INSIDE_AT_ONCE;
    for (size_t i = first; i < n; i++) {
        if (holds_tasks(node, i)) {
            draw_list(d, node->params[i].graph, id, parallel,
                      node->kind->others ? node->kind->params[i].name : NULL);
        }
    }
    if (first < n) d->pen->close(d->out, --d->depth);
    return id;
}

/* Returns the last one. */
static int draw_list(TaskDrawing *d, const Graph *g, int from, bool parallel, const char *label) {
    int before = from;
    for (size_t i = 0; i < g->nnodes; i++) {
        if (before != TASK_NONE) {
            d->pen->arrow(&d->arrows, (Dot){parallel ? from : before, NULL}, (Dot){d->next, NULL},
                          parallel ? d->pen->bold : NULL, label);
        }
        before = draw_task(d, &g->nodes[i]);
    }
    return before;
}

static void draw_tasks(const Flow *flow, const Pen *pen, Buf *out) {
    TaskDrawing d = {pen, out, BUF_INIT, 0, 1};
    const Graph *after = flow->main->after;
    pen->begin(out, flow->name);
    int last = draw_list(&d, flow->main, TASK_START, false, NULL);
    if (after && after->nnodes) {
        pen->open(out, d.depth++, d.next++, "cleanup", true);
        pen->arrow(&d.arrows, (Dot){last, NULL}, (Dot){d.next, NULL}, pen->dashed, "always");
        last = draw_list(&d, after, TASK_NONE, false, NULL);
        pen->close(out, --d.depth);
    }
    pen->arrow(&d.arrows, (Dot){last, NULL}, (Dot){TASK_END, NULL}, NULL, NULL);
    buf_add(out, d.arrows.data, d.arrows.len);
    buf_adds(out, pen->footer);
    buf_clear(&d.arrows);
}

/* ---- graphs ---- */

typedef struct GraphDrawing {
    const Flow *flow;
    const Pen *pen;
    Buf *out, arrows; /* as of tasks */
    int depth;
    const Node *around; /* whose graph has the arrows that are drawn; NULL: it is the main one */
    char **names;       /* of what is inside nodes, by number: "loop/node"; NULL: as it is called */
} GraphDrawing;

/* The nodes of the main graph have the numbers of their places in it. */
static Dot dot_of(const GraphDrawing *d, const Node *node) {
    uint32_t id = node->id - d->flow->first_node;
    return (Dot){(int)id, d->names[id] ? d->names[id] : node->name};
}

static void draw_arrow(void *ctx, const Arrow *a) {
    GraphDrawing *d = ctx;
    const Pen *pen = d->pen;
    Buf label = BUF_INIT;
    bool labelled = arrow_label(a, &label), ends = a->target == NODE_END;
    Dot start = {TASK_START, NULL}, end = {TASK_END, NULL};
    if (d->around) start = end = dot_of(d, d->around); /* round it goes */
    pen->arrow(&d->arrows, a->from ? dot_of(d, a->from) : start,
               ends ? end : dot_of(d, &a->graph->nodes[a->target]),
               a->on_error         ? pen->dashed
               : a->edge->parallel ? pen->bold
                                   : NULL,
               labelled ? label.data : NULL);
    buf_clear(&label);
}

static void draw_graph(GraphDrawing *d, const Graph *g, const Node *around);

/* Its name is said from where it stands. */
static void draw_node(GraphDrawing *d, const Node *node, const Node *around) {
    const Graph *loop = loop_of(node);
    const Node *body = node_body(node);
    Buf text = BUF_INIT;
    if (around) {
        buf_printf(&text, "%s/%s", dot_of(d, around).name, node->name);
        d->names[node->id - d->flow->first_node] = mem_strdup(text.data);
        buf_reset(&text);
    }
    Dot dot = dot_of(d, node);
    buf_printf(&text, "%s\n%s", node->name, node->kind->name);
    if (loop || body) d->pen->open(d->out, d->depth++, dot.id, "", false);
    d->pen->node(d->out, d->depth, dot, text.data, node);
    if (loop) draw_graph(d, loop, node);
    if (body) {
        draw_node(d, body, node);
        d->pen->arrow(&d->arrows, dot, dot_of(d, body), d->pen->bold, NULL);
    }
    if (loop || body) d->pen->close(d->out, --d->depth);
    buf_clear(&text);
}

static void draw_graph(GraphDrawing *d, const Graph *g, const Node *around) {
    const Node *outer = d->around;
    for (size_t i = 0; i < g->nnodes; i++) draw_node(d, &g->nodes[i], around);
    d->around = around;
    each_arrow(g, draw_arrow, d);
    d->around = outer;
}

static void draw_with(const Flow *flow, const Pen *pen, Buf *out) {
    if (flow->main->scoped) {
        draw_tasks(flow, pen, out);
        return;
    }
    GraphDrawing d = {.flow = flow, .pen = pen, .out = out, .arrows = BUF_INIT, .depth = 1};
    d.names = mem_zalloc((flow->nnodes + 1) * sizeof *d.names);
    pen->begin(out, flow->name);
    draw_graph(&d, flow->main, NULL);
    if (pen->arrows_last) buf_adds(out, pen->footer);
    buf_add(out, d.arrows.data, d.arrows.len);
    if (!pen->arrows_last) buf_adds(out, pen->footer);
    for (size_t i = 0; i < flow->nnodes; i++) mem_free(d.names[i]);
    mem_free(d.names);
    buf_clear(&d.arrows);
}

/* ---- dot ---- */

static void dot_string(const char *s, Buf *out) {
    buf_addc(out, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') buf_addc(out, '\\');
        if (*s == '\n') {
            buf_adds(out, "\\n");
        } else {
            buf_addc(out, *s == '\r' ? ' ' : *s);
        }
    }
    buf_addc(out, '"');
}

static const char *dot_shape(const Node *node) {
    static const char *const shapes[SHAPE_COUNT] = {
        [SHAPE_WORK] = "box",
        [SHAPE_QUESTION] = "diamond",
        [SHAPE_FILE] = "box3d",
        [SHAPE_LOOP] = "folder",
    };
    return shapes[node->kind->shape];
}

static void begin_dot(Buf *out, const char *name) {
    buf_adds(out, "digraph ");
    dot_string(name, out);
    buf_adds(out, " {\n  node [shape=box];\n  \"__start__\" [shape=circle, label=start];\n"
                  "  \"__end__\" [shape=doublecircle, label=end];\n");
}

static void dot_end(Dot dot, Buf *out) {
    if (dot.id < 0) {
        buf_adds(out, dot.id == TASK_START ? "\"__start__\"" : "\"__end__\"");
    } else if (dot.name) {
        dot_string(dot.name, out);
    } else {
        buf_printf(out, "t%d", dot.id);
    }
}

static void dot_node(Buf *out, int depth, Dot dot, const char *label, const Node *node) {
    buf_printf(out, "%*s", 2 * depth, "");
    dot_end(dot, out);
    buf_printf(out, " [shape=%s, label=", dot_shape(node));
    dot_string(label, out);
    buf_adds(out, "];\n");
}

static void dot_open(Buf *out, int depth, int id, const char *label, bool cleanup) {
    buf_printf(out, "%*ssubgraph cluster_%d {\n%*slabel=", 2 * depth, "", id, 2 * depth + 2, "");
    dot_string(label, out);
    buf_adds(out, cleanup ? "; style=dashed;\n" : ";\n");
}

static void dot_close(Buf *out, int depth) {
    buf_printf(out, "%*s}\n", 2 * depth, "");
}

static void dot_arrow(Buf *out, Dot from, Dot to, const char *style, const char *label) {
    buf_adds(out, "  ");
    dot_end(from, out);
    buf_adds(out, " -> ");
    dot_end(to, out);
    if (label) {
        buf_adds(out, " [label=");
        dot_string(label, out);
    }
    if (style) buf_printf(out, "%sstyle=%s", label ? ", " : " [", style);
    buf_adds(out, label || style ? "];\n" : ";\n");
}

static const Pen dot_pen = {begin_dot, dot_node, dot_open, dot_close, dot_arrow,
                            "dashed",  "bold",   "}\n",    false};

static void draw_dot(const Flow *flow, Buf *out) {
    draw_with(flow, &dot_pen, out);
}

/* ---- mermaid ---- */

/* Everything that could mean something to it is written as a character entity. */
static void mermaid_text(const char *s, Buf *out) {
    buf_addc(out, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '\n') {
            buf_adds(out, "<br/>");
        } else if (c < 0x20) {
            buf_addc(out, ' ');
        } else if (strchr("\"#&;<>`\\|", c)) {
            buf_printf(out, "#%d;", c);
        } else {
            buf_addc(out, *s);
        }
    }
    buf_addc(out, '"');
}

static void begin_mermaid(Buf *out, const char *name) {
    (void)name;
    buf_adds(out, "flowchart TD\n  start((start))\n");
}

static void mermaid_node(Buf *out, int depth, Dot dot, const char *label, const Node *node) {
    static const char *const shapes[SHAPE_COUNT][2] = {
        [SHAPE_WORK] = {"[", "]"},
        [SHAPE_QUESTION] = {"{", "}"},
        [SHAPE_FILE] = {"[[", "]]"},
        [SHAPE_LOOP] = {"[[", "]]"},
    };
    const char *const *shape = shapes[node->kind->shape];
    buf_printf(out, "%*sn%d%s", 2 * depth, "", dot.id, shape[0]);
    mermaid_text(label, out);
    buf_printf(out, "%s\n", shape[1]);
}

static void mermaid_open(Buf *out, int depth, int id, const char *label, bool cleanup) {
    (void)cleanup;
    buf_printf(out, "%*ssubgraph g%d [", 2 * depth, "", id);
    mermaid_text(*label ? label : " ", out);
    buf_adds(out, "]\n");
}

static void mermaid_close(Buf *out, int depth) {
    buf_printf(out, "%*send\n", 2 * depth, "");
}

/* Names may be words of its language (`end`), so nodes are called by number. */
static void mermaid_end(Dot dot, Buf *out) {
    if (dot.id < 0) {
        buf_adds(out, dot.id == TASK_START ? "start" : "finish");
    } else {
        buf_printf(out, "n%d", dot.id);
    }
}

static void mermaid_arrow(Buf *out, Dot from, Dot to, const char *style, const char *label) {
    buf_adds(out, "  ");
    mermaid_end(from, out);
    buf_printf(out, " %s", style ? style : "-->");
    if (label) {
        buf_addc(out, '|');
        mermaid_text(label, out);
        buf_addc(out, '|');
    }
    buf_addc(out, ' ');
    mermaid_end(to, out);
    buf_addc(out, '\n');
}

static const Pen mermaid_pen = {begin_mermaid, mermaid_node,          mermaid_open,
                                mermaid_close, mermaid_arrow,         "-.->",
                                "==>",         "  finish(((end)))\n", true};

static void draw_mermaid(const Flow *flow, Buf *out) {
    draw_with(flow, &mermaid_pen, out);
}

/* ---- formats ---- */

typedef struct Format {
    const char *name;
    void (*draw)(const Flow *flow, Buf *out);
} Format;

static const Format formats[] = {{"dot", draw_dot}, {"mermaid", draw_mermaid}, {"json", draw_json}};

bool flow_draw(const Flow *flow, const char *format, Buf *out) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, format) == 0) {
            formats[i].draw(flow, out);
            return true;
        }
    }
    return false;
}
