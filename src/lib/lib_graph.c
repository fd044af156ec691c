/* lib_graph.c - a graph that a program builds becomes the text of a definition.
 *
 * The builder collects what a file would have, as JSON (which is YAML): nodes, edges, keys, config.
 * The files of sub-graphs are put in folders of their own ("1/tests.json"), with the functions that
 * are bound to their nodes; files of flows that were loaded have whole paths and keep them.
 *
 * A router is a node of its own, `from.route`, that writes its choice to the state under ROUTE_KEY;
 * ordinary edges with a condition lead on from it. So the choice is durable, and the engine needs
 * no code for it. The key merges, in the graphs around it too: branches may have routers. */
#include "lib_inside.h"

#include "json_build.h"
#include "json_print.h"
#include "mem.h"

struct PawlGraph {
    char *path; /* of its file */
    Json name, keys, nodes, edges, config;
    Json places; /* by name: index in nodes */
    Json files;  /* of sub-graphs */
    size_t subgraphs;
    Bindings bindings;
    bool routes; /* somewhere in it is a router */
    Error wrong; /* the first thing that no definition could say */
};

static Json text_or_null(const char *text) {
    return text ? json_string_c(text) : json_null();
}

static const char *or_empty(const char *text) {
    return text ? text : "";
}

/* ---- life ---- */

/* The name as that of a file. */
static char *path_of(const char *name) {
    Buf path = BUF_INIT;
    buf_printf(&path, "%s.json", *name ? name : "graph");
    for (size_t i = 0; i < path.len; i++) {
        if (path.data[i] == '/' || (unsigned char)path.data[i] < ' ') path.data[i] = '_';
    }
    return buf_detach(&path);
}

PawlGraph *pawl_graph_new(const char *name) {
    PawlGraph *g = mem_zalloc(sizeof *g);
    g->path = path_of(or_empty(name));
    g->name = json_string_c(name && *name ? name : "graph");
    g->nodes = json_array();
    g->edges = json_array();
    g->keys = json_object();
    g->config = json_object();
    g->places = json_object();
    g->files = json_object();
    return g;
}

void pawl_graph_free(PawlGraph *g) {
    if (!g) return;
    Json *values[] = {&g->name, &g->keys, &g->nodes, &g->edges, &g->config, &g->places, &g->files};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) json_clear(values[i]);
    bindings_clear(&g->bindings);
    mem_free(g->path);
    mem_free(g);
}

static void note_wrong(PawlGraph *g, const char *function, const char *name, const char *why) {
    if (g->wrong.code == ERR_NONE) {
        error_set(&g->wrong, ERR_USAGE, "%s(\"%s\"): %s", function, or_empty(name), why);
    }
}

/* ---- nodes ---- */

/* {name, kind: value}, at the end. */
static void add_node(PawlGraph *g, const char *name, const char *kind, Json value) {
    Json node = OBJECT(KEY("name", text_or_null(name)), KEY(kind, value));
    g->places =
        json_object_with(g->places, or_empty(name), json_int((int64_t)json_array_len(g->nodes)));
    g->nodes = json_array_push(g->nodes, node);
}

static void add_function(PawlGraph *g, const char *kind, Binding binding) {
    binding.file = g->path;
    add_node(g, binding.name, kind, json_string_c(or_empty(binding.name)));
    bindings_add(&g->bindings, &binding);
}

void pawl_graph_add_node(PawlGraph *g, const char *name, PawlNodeFn fn, void *ctx) {
    if (!fn) {
        note_wrong(g, "pawl_graph_add_node", name, "it needs a function.");
        return;
    }
    add_function(g, "callback", (Binding){.name = (char *)or_empty(name), .now = fn, .ctx = ctx});
}

void pawl_graph_add_node_later(PawlGraph *g, const char *name, PawlLaterFn fn, void *ctx) {
    if (!fn) {
        note_wrong(g, "pawl_graph_add_node_later", name, "it needs a function.");
        return;
    }
    add_function(g, "callback_later",
                 (Binding){.name = (char *)or_empty(name), .later = fn, .ctx = ctx});
}

void pawl_graph_add_kind(PawlGraph *g, const char *name, const char *kind, PawlValue params) {
    Json value = json_of(params);
    add_node(g, name, or_empty(kind), json_is_none(value) ? json_null() : value);
}

/* ---- sub-graphs ---- */

/* Where a file of a sub-graph is among ours; given as a C string. */
static char *path_inside(size_t folder, const char *path) {
    Buf out = BUF_INIT;
    if (path[0] != '/') buf_printf(&out, "%zu/", folder);
    buf_adds(&out, path);
    return buf_detach(&out);
}

static bool add_file(PawlGraph *g, const char *path, Json text) {
    Json there = json_object_get_c(g->files, path);
    if (!json_is_none(there) && !json_equal(there, text)) return false;
    g->files = json_object_with(g->files, path, json_ref(text));
    return true;
}

static bool add_files(PawlGraph *g, Json files) {
    Json key, text;
    bool fine = true;
    for (size_t pos = 0; fine && json_object_next(files, &pos, &key, &text);) {
        char *inside = path_inside(g->subgraphs, json_string_data(&key));
        fine = add_file(g, inside, text);
        mem_free(inside);
    }
    return fine;
}

static void add_bindings(PawlGraph *g, const PawlFlow *flow) {
    for (size_t i = 0; i < flow->bindings.n; i++) {
        Binding binding = *flow->bindings.items[i];
        binding.file = path_inside(g->subgraphs, binding.file);
        bindings_add(&g->bindings, &binding);
        mem_free(binding.file);
    }
}

static bool has_routes(const PawlFlow *flow) {
    Json key = json_string_c(ROUTE_KEY);
    bool found = false;
    for (size_t i = 0; i < flow->flow->ngraphs; i++) {
        found = found || graph_key(flow->flow->graphs[i], key);
    }
    json_unref(key);
    return found;
}

static void add_workflow(PawlGraph *g, const char *name, const PawlFlow *flow, const char *input) {
    char *inside = path_inside(g->subgraphs, flow->flow->path);
    add_node(g, name, "workflow", json_string_c(inside));
    mem_free(inside);
    if (input) {
        size_t last = json_array_len(g->nodes) - 1;
        Json node = json_array_lift(&g->nodes, last);
        g->nodes = json_array_set(g->nodes, last, OBJECT_ADD(node, KEY("input", input)));
    }
}

void pawl_graph_add_subgraph(PawlGraph *g, const char *name, const PawlFlow *flow,
                             const char *input) {
    if (!flow) {
        note_wrong(g, "pawl_graph_add_subgraph", name, "it needs a flow.");
        return;
    }
    g->subgraphs++;
    Json definition = flow_definition(flow->flow);
    if (!add_files(g, json_object_get_c(definition, "files"))) {
        note_wrong(g, "pawl_graph_add_subgraph", name,
                   "one of its files was added before and has changed since.");
    }
    json_unref(definition);
    add_bindings(g, flow);
    add_workflow(g, name, flow, input);
    g->routes = g->routes || has_routes(flow);
}

/* ---- more about nodes ---- */

/* JSON_NONE for 0. */
static Json milliseconds(int64_t ms) {
    return ms ? json_string_fmt("%lldms", (long long)ms) : json_none();
}

static Json add_interrupt(Json node, const char *when) {
    Json words = json_ref(json_object_get_c(node, "interrupt"));
    bool there = json_array_len(words) &&
                 (json_string_is(json_array_get(words, 0), when) ||
                  json_string_is(json_array_get(words, json_array_len(words) - 1), when));
    return json_object_with(node, "interrupt",
                            there ? words : json_array_push(words, json_string_c(when)));
}

static Json with_options(Json node, const PawlNodeOptions *o) {
    Json retry = json_none();
    if (o->attempts) {
        retry =
            OBJECT(KEY("attempts", json_int(o->attempts)), KEY("delay", milliseconds(o->delay_ms)),
                   KEY("factor", o->factor != 0 ? json_number(o->factor) : json_none()),
                   KEY("max", milliseconds(o->max_delay_ms)), KEY("if", o->retry_if));
    }
    node = OBJECT_ADD(node, KEY("output", o->output), KEY("timeout", milliseconds(o->timeout_ms)),
                      KEY("retry", retry));
    node = o->interrupt_before ? add_interrupt(node, "before") : node;
    return o->interrupt_after ? add_interrupt(node, "after") : node;
}

static void set_cancel(PawlGraph *g, const char *name, PawlCancelFn on_cancel) {
    for (size_t i = 0; i < g->bindings.n; i++) {
        Binding *b = g->bindings.items[i];
        if (b->later && !strcmp(b->name, name) && !strcmp(b->file, g->path)) {
            b->on_cancel = on_cancel;
            return;
        }
    }
    note_wrong(g, "pawl_graph_set_node", name,
               "on_cancel is for nodes of pawl_graph_add_node_later().");
}

void pawl_graph_set_node(PawlGraph *g, const char *name, const PawlNodeOptions *options) {
    Json place = json_object_get_c(g->places, or_empty(name));
    if (json_is_none(place)) {
        note_wrong(g, "pawl_graph_set_node", name, "there is no such node yet; add it first.");
        return;
    }
    Json node = json_array_lift(&g->nodes, (size_t)place.i);
    g->nodes = json_array_set(g->nodes, (size_t)place.i, with_options(node, options));
    if (options->on_cancel) set_cancel(g, name, options->on_cancel);
}

void pawl_graph_interrupt_before(PawlGraph *g, const char *node) {
    pawl_graph_set_node(g, node, &(PawlNodeOptions){.interrupt_before = true});
}

void pawl_graph_interrupt_after(PawlGraph *g, const char *node) {
    pawl_graph_set_node(g, node, &(PawlNodeOptions){.interrupt_after = true});
}

/* ---- edges ---- */

/* {from, to, key: value}; a value that is JSON_NONE is left out. */
static void add_edge(PawlGraph *g, const char *from, Json to, const char *key, Json value) {
    g->edges = json_array_push(
        g->edges, OBJECT(KEY("from", text_or_null(from)), KEY("to", to), KEY(key, value)));
}

void pawl_graph_add_edge(PawlGraph *g, const char *from, const char *to) {
    add_edge(g, from, text_or_null(to), "when", json_none());
}

void pawl_graph_set_entry(PawlGraph *g, const char *node) {
    pawl_graph_add_edge(g, PAWL_START, node);
}

void pawl_graph_add_conditional_edge(PawlGraph *g, const char *from, const char *to,
                                     const char *when) {
    add_edge(g, from, text_or_null(to), "when", text_or_null(when));
}

void pawl_graph_add_error_edge(PawlGraph *g, const char *from, const char *to) {
    add_edge(g, from, text_or_null(to), "on", json_string_c("error"));
}

void pawl_graph_add_parallel_edge(PawlGraph *g, const char *from, const char *const *targets,
                                  const char *join) {
    Json to = json_array();
    for (; targets && *targets; targets++) to = json_array_push(to, json_string_c(*targets));
    Json parallel = json_array_len(to) == 1 ? json_bool(true) : json_none();
    g->edges = json_array_push(g->edges, OBJECT(KEY("from", text_or_null(from)), KEY("to", to),
                                                KEY("parallel", parallel), KEY("fan_in", join)));
}

/* .["__route__"]["from"] == "target" */
static Json route_taken(const char *from, const char *target) {
    Buf text = BUF_INIT;
    buf_adds(&text, ".[\"" ROUTE_KEY "\"][");
    json_print_string(from, strlen(from), false, &text);
    buf_adds(&text, "] == ");
    json_print_string(target, strlen(target), false, &text);
    Json out = json_string(text.data, text.len);
    buf_clear(&text);
    return out;
}

void pawl_graph_add_router(PawlGraph *g, const char *from, PawlRouterFn fn, void *ctx,
                           const char *const *targets) {
    if (!from || !fn || !targets || !*targets) {
        note_wrong(g, "pawl_graph_add_router", from, "it needs a node, a function and targets.");
        return;
    }
    Buf name = BUF_INIT;
    buf_printf(&name, "%s" ROUTE_SUFFIX, from);
    add_function(g, "callback", (Binding){.name = name.data, .route = fn, .ctx = ctx});
    pawl_graph_add_edge(g, from, name.data);
    for (; *targets; targets++) {
        add_edge(g, name.data, json_string_c(*targets), "when", route_taken(from, *targets));
    }
    g->routes = true;
    buf_clear(&name);
}

/* ---- state and config ---- */

static void add_key(PawlGraph *g, const char *key, Json reduce, PawlValue initial) {
    g->keys = json_object_with(g->keys, or_empty(key),
                               OBJECT(KEY("reduce", reduce), KEY("default", json_of(initial))));
}

void pawl_graph_add_key(PawlGraph *g, const char *key, PawlReduce reduce, PawlValue initial) {
    static const char *const words[] = {
        [PAWL_REPLACE] = "replace", [PAWL_APPEND] = "append", [PAWL_ADD] = "add",
        [PAWL_MERGE] = "merge",     [PAWL_UNION] = "union",
    };
    bool known = (size_t)reduce < sizeof words / sizeof *words;
    if (!known) note_wrong(g, "pawl_graph_add_key", key, "there is no such way to reduce.");
    add_key(g, key, json_string_c(words[known ? reduce : PAWL_REPLACE]), initial);
}

void pawl_graph_add_key_expr(PawlGraph *g, const char *key, const char *reduce, PawlValue initial) {
    add_key(g, key, text_or_null(reduce), initial);
}

void pawl_graph_set_recursion_limit(PawlGraph *g, int64_t steps) {
    g->config = json_object_with(g->config, "recursion_limit", json_int(steps));
}

void pawl_graph_set_timeout(PawlGraph *g, int64_t ms) {
    g->config = json_object_with(g->config, "timeout", json_string_fmt("%lldms", (long long)ms));
}

/* ---- the definition ---- */

static Json text_of(const PawlGraph *g) {
    Buf text = BUF_INIT;
    Json keys = json_ref(g->keys);
    if (g->routes) keys = json_object_with(keys, ROUTE_KEY, OBJECT(KEY("reduce", "merge")));
    Json all = OBJECT(KEY("name", json_ref(g->name)),
                      KEY("state", json_object_len(keys) ? json_ref(keys) : json_none()),
                      KEY("config", json_object_len(g->config) ? json_ref(g->config) : json_none()),
                      KEY("nodes", json_ref(g->nodes)),
                      KEY("edges", json_array_len(g->edges) ? json_ref(g->edges) : json_none()));
    json_print(all, &(JsonPrintOptions){.indent = 1}, &text);
    Json out = json_string_valid(text.data, text.len);
    buf_clear(&text);
    json_unref(all);
    json_unref(keys);
    return out;
}

PawlFlow *pawl_graph_compile(const PawlGraph *g, PawlError *err) {
    Bindings bindings = {0};
    if (!lib_give_error(err, &g->wrong)) return NULL;
    for (size_t i = 0; i < g->bindings.n; i++) bindings_add(&bindings, g->bindings.items[i]);
    Json files = json_object_with(json_ref(g->files), g->path, text_of(g));
    PawlFlow *flow = flow_build(g->path, files, &bindings, err);
    json_unref(files);
    if (!flow && err) { /* the place is in a text that nobody has seen */
        err->line = err->col = 0;
    }
    return flow;
}
