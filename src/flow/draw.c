/* draw.c - the main graph as text for other programs. */
#include "flow.h"

#include "json_print.h"

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

static void each_edge(const Graph *g, const Node *from, bool on_error, ArrowFn fn, void *ctx) {
    Edges edges = !from ? g->start : on_error ? from->error_edges : from->edges;
    for (size_t i = 0; i < edges.n; i++) {
        for (size_t k = 0; k < edges.items[i].ntargets; k++) {
            Arrow arrow = {g, from, &edges.items[i], edges.items[i].targets[k], on_error};
            fn(ctx, &arrow);
        }
    }
}

static void each_arrow(const Graph *g, ArrowFn fn, void *ctx) {
    each_edge(g, NULL, false, fn, ctx);
    for (size_t i = 0; i < g->nnodes; i++) {
        each_edge(g, &g->nodes[i], false, fn, ctx);
        each_edge(g, &g->nodes[i], true, fn, ctx);
    }
}

static const char *from_name(const Arrow *a) {
    return a->from ? a->from->name : "__start__";
}

static const char *target_name(const Graph *g, int target) {
    return target == NODE_END ? "__end__" : g->nodes[target].name;
}

/* ---- json ---- */

static Json with_text(Json o, const char *key, const char *text) {
    return json_object_set(o, json_string_c(key), json_string_c(text));
}

static Json node_json(const Node *node) {
    Json o = with_text(with_text(json_object(), "name", node->name), "kind", node->kind->name);
    o = json_object_set(o, json_string_c("line"), json_int(node->line));
    return json_object_set(o, json_string_c("col"), json_int(node->col));
}

static void add_arrow_json(void *ctx, const Arrow *a) {
    Json *edges = ctx;
    Json o = with_text(json_object(), "from", from_name(a));
    o = with_text(o, "to", target_name(a->graph, a->target));
    if (a->edge->when) {
        o = with_text(o, "when", a->edge->when->text);
    }
    if (a->edge->parallel) {
        o = json_object_set(o, json_string_c("parallel"), json_bool(true));
        o = with_text(o, "join", target_name(a->graph, a->edge->join));
    }
    if (a->on_error) {
        o = with_text(o, "on", "error");
    }
    *edges = json_array_push(*edges, o);
}

static void draw_json(const Flow *flow, Buf *out) {
    static const JsonPrintOptions options = {.indent = 2};
    Json nodes = json_array(), edges = json_array();
    for (size_t i = 0; i < flow->main->nnodes; i++) {
        nodes = json_array_push(nodes, node_json(&flow->main->nodes[i]));
    }
    each_arrow(flow->main, add_arrow_json, &edges);
    Json o = with_text(json_object(), "name", flow->name);
    o = json_object_set(o, json_string_c("nodes"), nodes);
    o = json_object_set(o, json_string_c("edges"), edges);
    json_print(o, &options, out);
    buf_addc(out, '\n');
    json_unref(o);
}

/* ---- labels ---- */

/* "when; error": what stands at an arrow; false when nothing does. */
static bool arrow_label(const Arrow *a, Buf *out) {
    buf_reset(out);
    if (a->on_error) {
        buf_adds(out, "error");
    }
    if (a->edge->when) {
        buf_adds(out, a->on_error ? ": " : "");
        buf_adds(out, a->edge->when->text);
    }
    return out->len > 0;
}

/* ---- dot ---- */

static void dot_string(const char *s, Buf *out) {
    buf_addc(out, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') {
            buf_addc(out, '\\');
        }
        if (*s == '\n') {
            buf_adds(out, "\\n");
        } else {
            buf_addc(out, *s == '\r' ? ' ' : *s);
        }
    }
    buf_addc(out, '"');
}

static const char *dot_shape(const Node *node) {
    switch (node->kind->id) {
    case KIND_APPROVAL: return "diamond";
    case KIND_WORKFLOW: return "box3d";
    case KIND_MAP:
    case KIND_WHILE: return "folder";
    default: return "box";
    }
}

static void add_arrow_dot(void *ctx, const Arrow *a) {
    Buf *out = ctx, label = BUF_INIT;
    buf_adds(out, "  ");
    dot_string(from_name(a), out);
    buf_adds(out, " -> ");
    dot_string(target_name(a->graph, a->target), out);
    if (arrow_label(a, &label)) {
        buf_adds(out, " [label=");
        dot_string(label.data, out);
        buf_adds(out, a->on_error ? ", style=dashed]" : "]");
    } else if (a->edge->parallel) {
        buf_adds(out, " [style=bold]");
    }
    buf_adds(out, ";\n");
    buf_clear(&label);
}

static void draw_dot(const Flow *flow, Buf *out) {
    buf_adds(out, "digraph ");
    dot_string(flow->name, out);
    buf_adds(out, " {\n  node [shape=box];\n  \"__start__\" [shape=circle, label=start];\n"
                  "  \"__end__\" [shape=doublecircle, label=end];\n");
    for (size_t i = 0; i < flow->main->nnodes; i++) {
        const Node *node = &flow->main->nodes[i];
        char label[512];
        snprintf(label, sizeof label, "%s\n%s", node->name, node->kind->name);
        buf_adds(out, "  ");
        dot_string(node->name, out);
        buf_printf(out, " [shape=%s, label=", dot_shape(node));
        dot_string(label, out);
        buf_adds(out, "];\n");
    }
    each_arrow(flow->main, add_arrow_dot, out);
    buf_adds(out, "}\n");
}

/* ---- mermaid ---- */

/* Names may be words of its language (`end`), so nodes are called by number. */
static void mermaid_id(int index, Buf *out) {
    if (index == NODE_END) {
        buf_adds(out, "finish");
    } else {
        buf_printf(out, "n%d", index);
    }
}

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

static void add_arrow_mermaid(void *ctx, const Arrow *a) {
    Buf *out = ctx, label = BUF_INIT;
    buf_adds(out, "  ");
    if (a->from) {
        mermaid_id(a->from->index, out);
    } else {
        buf_adds(out, "start");
    }
    buf_adds(out, a->on_error ? " -.->" : a->edge->parallel ? " ==>" : " -->");
    if (arrow_label(a, &label)) {
        buf_addc(out, '|');
        mermaid_text(label.data, out);
        buf_addc(out, '|');
    }
    buf_addc(out, ' ');
    mermaid_id(a->target, out);
    buf_addc(out, '\n');
    buf_clear(&label);
}

static const char *const *mermaid_shape(const Node *node) {
    static const char *const box[] = {"[", "]"}, *const diamond[] = {"{", "}"};
    static const char *const subroutine[] = {"[[", "]]"};
    switch (node->kind->id) {
    case KIND_APPROVAL: return diamond;
    case KIND_WORKFLOW:
    case KIND_MAP:
    case KIND_WHILE: return subroutine;
    default: return box;
    }
}

static void draw_mermaid(const Flow *flow, Buf *out) {
    buf_adds(out, "flowchart TD\n  start((start))\n");
    for (size_t i = 0; i < flow->main->nnodes; i++) {
        const Node *node = &flow->main->nodes[i];
        const char *const *shape = mermaid_shape(node);
        char label[512];
        snprintf(label, sizeof label, "%s\n%s", node->name, node->kind->name);
        buf_adds(out, "  ");
        mermaid_id(node->index, out);
        buf_adds(out, shape[0]);
        mermaid_text(label, out);
        buf_adds(out, shape[1]);
        buf_addc(out, '\n');
    }
    buf_adds(out, "  finish(((end)))\n");
    each_arrow(flow->main, add_arrow_mermaid, out);
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
