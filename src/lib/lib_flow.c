/* lib_flow.c - a definition and the functions that its nodes call. */
#include "lib_inside.h"

#include "mem.h"

#include <stdlib.h>

/* ---- bindings ---- */

const Binding *bindings_add(Bindings *b, const Binding *binding) {
    Binding *copy = mem_alloc(sizeof *copy);
    *copy = *binding;
    copy->file = mem_strdup(binding->file);
    copy->name = mem_strdup(binding->name);
    b->items = mem_grow(b->items, b->n, &b->cap, sizeof *b->items);
    return b->items[b->n++] = copy;
}

void bindings_clear(Bindings *b) {
    for (size_t i = 0; i < b->n; i++) {
        mem_free(b->items[i]->file);
        mem_free(b->items[i]->name);
        mem_free(b->items[i]);
    }
    mem_free(b->items);
    *b = (Bindings){0};
}

/* ---- slots ---- */

static bool calls(const Node *node) {
    return node->kind->id == KIND_CALLBACK || node->kind->id == KIND_CALLBACK_LATER;
}

/* any_file: a binding of another file will do. */
static bool fits(const Binding *b, const Node *node, bool any_file) {
    bool later = node->kind->id == KIND_CALLBACK_LATER;
    return (b->later != NULL) == later &&
           json_string_is(node->params[CALLBACK_NAME].value, b->name) &&
           (any_file || !b->file || !strcmp(b->file, node->file));
}

static const Binding *search(const PawlFlow *flow, const Node *node, bool any_file) {
    for (size_t i = flow->bindings.n; i > 0; i--) { /* the last one said counts */
        if (fits(flow->bindings.items[i - 1], node, any_file)) return flow->bindings.items[i - 1];
    }
    return NULL;
}

/* The nodes that a debugger injects are numbered behind those of the flow, and have no file; the body of a map is
 * in no list. */
const Binding *flow_binding(const PawlFlow *flow, const Node *node) {
    bool injected = node->id >= flow->flow->first_node + flow->flow->nnodes;
    return injected || node->index < 0 ? search(flow, node, injected)
                                       : flow->slots[node->graph->id][node->index];
}

/* Bindings by file and name, so that a graph of thousands of functions is bound in one pass. */
static Json index_of(const Bindings *b) {
    Json index = json_object();
    for (size_t i = 0; i < b->n; i++) {
        const Binding *binding = b->items[i];
        Json key = json_string_fmt("%s\n%s", binding->file ? binding->file : "", binding->name);
        index = json_object_set(index, key, json_int((int64_t)i));
    }
    return index;
}

static const Binding *indexed(const PawlFlow *flow, Json index, const Node *node) {
    Json name = node->params[CALLBACK_NAME].value;
    Json at = json_none();
    if (json_kind(name) == JSON_STRING) {
        Json key = json_string_fmt("%s\n%s", node->file, json_string_data(&name));
        at = json_object_get(index, key);
        json_unref(key);
    }
    const Binding *found = json_is_none(at) ? NULL : flow->bindings.items[at.i];
    return found && fits(found, node, false) ? found : search(flow, node, false);
}

static void fill_slots(PawlFlow *flow) {
    const Flow *f = flow->flow;
    Json index = index_of(&flow->bindings);
    flow->slots = mem_zalloc((f->ngraphs + 1) * sizeof *flow->slots);
    for (size_t i = 0; i < f->ngraphs; i++) {
        const Graph *g = f->graphs[i];
        flow->slots[i] = mem_zalloc((g->nnodes + 1) * sizeof **flow->slots);
        for (size_t k = 0; k < g->nnodes; k++) {
            flow->slots[i][k] = calls(&g->nodes[k]) ? indexed(flow, index, &g->nodes[k]) : NULL;
        }
    }
    json_unref(index);
}

/* The nodes of all graphs, each by the innermost body of the maps in it; NULL after the last. */
static const Node *next_node(const Flow *flow, size_t *graph, size_t *at) {
    while (*graph < flow->ngraphs && *at == flow->graphs[*graph]->nnodes) {
        ++*graph;
        *at = 0;
    }
    const Node *node = *graph < flow->ngraphs ? &flow->graphs[*graph]->nodes[(*at)++] : NULL;
    while (node && node_body(node)) node = node_body(node);
    return node;
}

const Node *flow_unbound(const PawlFlow *flow) {
    const Node *node;
    for (size_t g = 0, i = 0; (node = next_node(flow->flow, &g, &i));) {
        if (calls(node) && !flow_binding(flow, node)) return node;
    }
    return NULL;
}

/* ---- life ---- */

static PawlFlow *flow_new(Flow *flow, Bindings *bindings) {
    PawlFlow *f = mem_zalloc(sizeof *f);
    f->refs = 1;
    f->flow = flow;
    f->bindings = *bindings;
    *bindings = (Bindings){0};
    fill_slots(f);
    return f;
}

PawlFlow *flow_hold(PawlFlow *flow) {
    if (flow) flow->refs++;
    return flow;
}

void pawl_flow_free(PawlFlow *flow) {
    if (!flow || --flow->refs > 0) return;
    for (size_t i = 0; i < flow->flow->ngraphs; i++) mem_free(flow->slots[i]);
    mem_free(flow->slots);
    bindings_clear(&flow->bindings);
    flow_unref(flow->flow);
    mem_free(flow);
}

/* ---- loading ---- */

static void give_problem(PawlError *err, const FlowProblems *problems, const char *main) {
    size_t first = 0;
    while (first < problems->n && problems->items[first].warning) first++;
    const FlowProblem *p = first < problems->n ? &problems->items[first] : NULL;
    Error error = ERROR_INIT;
    bool elsewhere = p && p->file && strcmp(p->file, main) != 0;
    Buf more = BUF_INIT;
    if (problems->errors > 1) buf_printf(&more, " (And %zu more.)", problems->errors - 1);
    error_set_at(&error, ERR_SYNTAX, p ? p->line : 0, p ? p->col : 0, "%s%s%s%s",
                 elsewhere ? p->file : "", elsewhere ? ": " : "",
                 p ? p->msg : "The workflow is damaged.", more.data ? more.data : "");
    lib_give_error(err, &error);
    buf_clear(&more);
}

/* Takes over the problems and the bindings. */
static PawlFlow *loaded(Flow *flow, const char *path, FlowProblems *problems, Bindings *bindings,
                        PawlError *err) {
    lib_no_error(err);
    if (!flow) {
        give_problem(err, problems, path);
        bindings_clear(bindings);
    }
    flow_problems_clear(problems);
    return flow ? flow_new(flow, bindings) : NULL;
}

PawlFlow *flow_build(const char *path, Json files, Bindings *bindings, PawlError *err) {
    FlowProblems problems = {0};
    FlowFiles given = {files, "There is no such file among those that were given."};
    FlowReader reader = flow_files_reader(&given);
    Flow *flow = flow_load(path, &reader, &problems);
    return loaded(flow, path, &problems, bindings, err);
}

PawlFlow *flow_of_definition(Json definition, PawlError *err) {
    FlowProblems problems = {0};
    Flow *flow = flow_load_definition(definition, &problems);
    return loaded(flow, "", &problems, &(Bindings){0}, err);
}

/* The whole path, so that the flow can be part of another one and be read again from anywhere. */
PawlFlow *pawl_flow_load(const char *path, PawlError *err) {
    FlowProblems problems = {0};
    char *whole = realpath(path, NULL);
    const char *found = whole ? whole : path;
    PawlFlow *flow =
        loaded(flow_load(found, NULL, &problems), found, &problems, &(Bindings){0}, err);
    free(whole);
    return flow;
}

PawlFlow *pawl_flow_parse(const char *text, size_t len, PawlError *err) {
    Json files = json_object_with(json_object(), "workflow.yaml", json_string(text, len));
    PawlFlow *flow = flow_build("workflow.yaml", files, &(Bindings){0}, err);
    json_unref(files);
    return flow;
}

/* ---- binding by hand ---- */

/* Each node that has none yet, or has one of that name, gets a binding of its file: sub-graphs are
 * taken over file by file. */
static bool bind_all(PawlFlow *flow, const Binding *binding) {
    bool found = false;
    const Node *node;
    for (size_t g = 0, i = 0; (node = next_node(flow->flow, &g, &i));) {
        if (calls(node) && fits(binding, node, false)) {
            Binding own = *binding;
            own.file = (char *)node->file;
            const Binding *bound = bindings_add(&flow->bindings, &own);
            if (node->index >= 0) flow->slots[node->graph->id][node->index] = bound;
            found = true;
        }
    }
    return found;
}

bool pawl_flow_bind(PawlFlow *flow, const char *name, PawlNodeFn fn, void *ctx) {
    return bind_all(flow, &(Binding){.name = (char *)name, .now = fn, .ctx = ctx});
}

bool pawl_flow_bind_later(PawlFlow *flow, const char *name, PawlLaterFn fn, PawlCancelFn on_cancel,
                          void *ctx) {
    return bind_all(
        flow, &(Binding){.name = (char *)name, .later = fn, .on_cancel = on_cancel, .ctx = ctx});
}

char *pawl_flow_draw(const PawlFlow *flow, const char *format) {
    Buf text = BUF_INIT;
    if (!flow_draw(flow->flow, format, &text)) {
        buf_clear(&text);
        return NULL;
    }
    return buf_detach(&text);
}
