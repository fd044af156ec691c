/* graph_dialect.c - files with `nodes` and `edges`. */
#include "edge_agent.h"

#include "mem.h"
#include "suggest.h"

#include <stdio.h>
#include <string.h>

const char *const graph_keys[] = {"name", "description", "state", "config", "nodes", "edges", NULL};
const char *const config_keys[] = {"checkpointer",
                                   "checkpoint_dir",
                                   "checkpoint",
                                   "interrupt_before",
                                   "interrupt_after",
                                   "recursion_limit",
                                   "timeout",
                                   "mode",
                                   "net",
                                   "kinds",
                                   NULL};
const char *const checkpointers[] = {"memory", "file", "sqlite", NULL};
const char *const run_modes[] = {"autonomous", "interactive", NULL};

/* In the order of Reduce. */
const char *const reduce_names[] = {"replace", "append", "add", "merge", "union", NULL};

enum { RECURSION_MAX = 1000000000 };

/* ---- state ---- */

static const char *const state_keys[] = {"default", "reduce", NULL};

/* One of them makes it a declaration; without any it is a default that is an object. So is one whose only
 * key is nearly `reduce`, unless it names a reducer. */
static bool is_declaration(const YamlNode *value) {
    bool any = yaml_pair(value, "default") || yaml_pair(value, "reduce");
    if (any || value->kind != YAML_MAP || value->n != 1) return any;
    const YamlNode *key = value->pairs[0].key, *word = value->pairs[0].value;
    Suggestion nearest = suggestion_for(key->text, key->len);
    suggestion_offer(&nearest, "reduce");
    return nearest.best && word->kind == YAML_SCALAR &&
           has_name(reduce_names, word->text, word->len);
}

static void load_reduce(Loader *ld, const YamlNode *node, StateKey *key) {
    static const char *const vars[] = {"old", "new"};
    if (node->kind != YAML_SCALAR || yaml_is_null(node)) {
        report_at(ld->reporter, node->spot,
                  "`reduce` must be replace, append, add, merge, union or an expression over $old "
                  "and $new.");
        return;
    }
    Suggestion nearest = suggestion_for(node->text, node->len);
    for (int i = 0; reduce_names[i]; i++) {
        if (yaml_is(node, reduce_names[i])) {
            key->reduce = (Reduce)i;
            return;
        }
        suggestion_offer(&nearest, reduce_names[i]);
    }
    bool word = node->len > 0 && strspn(node->text, "abcdefghijklmnopqrstuvwxyz_") == node->len;
    if (word && nearest.best) {
        report_at(ld->reporter, node->spot, "There is no reducer `%s`%s",
                  shown(node->text, node->len), did_you_mean_this(nearest.best));
        return;
    }
    key->reduce = REDUCE_EXPR;
    key->expr = load_expr(ld, node, (Scope){.vars = vars, .nvars = 2});
}

static void load_state(Loader *ld, const YamlNode *state, GraphImpl *g) {
    load_keys(ld, g, state);
    for (size_t i = 0; i < state->n; i++) {
        const YamlNode *value = state->pairs[i].value, *reduce = yaml_get(value, "reduce");
        StateKey *key = &g->graph.keys[i];
        if (is_declaration(value)) {
            check_keys(ld, value, (KeyList){.names = state_keys},
                       "a declaration, which has `default` and `reduce`");
            value = yaml_get(value, "default");
            key->initial = value ? keep(ld, yaml_json(value)) : json_none();
            if (reduce) load_reduce(ld, reduce, key);
        }
    }
}

/* ---- config ---- */

/* A list of words, or one text that has them. */
static void load_net(Loader *ld, const YamlNode *net, Graph *g) {
    FlowImpl *flow = ld->flow;
    bool list = net->kind == YAML_LIST;
    NetPolicy *policy = list ? net_policy_new() : NULL;
    Error err = ERROR_INIT;
    for (size_t i = 0; list && i < net->n; i++) {
        const YamlNode *word = net->items[i];
        if (word->kind != YAML_SCALAR || !net_policy_add(policy, word->text, word->len, &err)) {
            report_at(ld->reporter, word->spot, "`net`: %s",
                      err.msg[0] ? err.msg : "A word is expected here, such as public.");
            break;
        }
    }
    if (net->kind == YAML_SCALAR) policy = net_policy_parse(net->text, &err);
    if (!policy) {
        report_at(ld->reporter, net->spot, "`net`: %s",
                  err.msg[0] ? err.msg : "Words are expected here, such as public.");
        return;
    }
    flow->nets = mem_grow(flow->nets, flow->nnets, &flow->nets_cap, sizeof *flow->nets);
    flow->nets[flow->nnets++] = policy;
    g->net = policy;
}

/* What nodes need to know; interrupts need to know the nodes, and come later. */
static void load_config(Loader *ld, const YamlNode *config, Graph *g) {
    if (ld->agent) {
        edge_agent_config(ld, config);
    } else {
        check_keys(ld, config, (KeyList){.names = config_keys}, "`config`");
    }
    const YamlPair *checkpointer = yaml_pair(config, "checkpointer");
    const YamlNode *limit = yaml_get(config, "recursion_limit"), *net = yaml_get(config, "net");
    const char *store = key_text(ld, config, "checkpointer");
    size_t len = store ? checkpointer->value->len : 0;
    if (store && strcmp(store, "postgres") == 0) {
        report_at(
            ld->reporter, checkpointer->value->spot,
            "`checkpointer: postgres` is not part of this build; use memory, file or sqlite.");
    } else if (store && !has_name(checkpointers, store, len)) {
        report_at(ld->reporter, checkpointer->value->spot,
                  "`checkpointer` must be memory, file or sqlite, not `%s`%s", shown(store, len),
                  did_you_mean(store, len, checkpointers));
    } else {
        g->checkpointer = store;
    }
    const YamlNode *mode = yaml_get(config, "mode");
    g->mode = key_text(ld, config, "mode");
    if (g->mode && !has_name(run_modes, mode->text, mode->len)) {
        report_at(ld->reporter, mode->spot, "`mode` must be autonomous or interactive, not `%s`%s",
                  shown(mode->text, mode->len), did_you_mean(mode->text, mode->len, run_modes));
    }
    g->checkpoint_dir = key_text(ld, config, "checkpoint_dir");
    g->checkpoint = key_text(ld, config, "checkpoint");
    key_duration(ld, config, "timeout", &g->timeout_ms);
    if (net && !yaml_is_null(net)) load_net(ld, net, g);
    if (limit) field_int(ld, limit, "`recursion_limit`", RECURSION_MAX, &g->recursion_limit);
    /* Both may be there, as alternatives that somebody left in: the folder says more. */
    if (g->checkpoint_dir && g->checkpointer && strcmp(g->checkpointer, "memory") == 0) {
        report_warning(ld->reporter, checkpointer->key->spot,
                       "`checkpointer: memory` is not used: there is a `checkpoint_dir`, where "
                       "files are kept.");
        g->checkpointer = "file";
    }
}

/* ---- interrupts ---- */

/* The nodes of a graph and of the loops in it that have the name; NULL: all of them. How many there are. */
static size_t mark_interrupts(Graph *g, const YamlNode *name, bool before) {
    size_t n = 0;
    for (size_t i = 0; i < g->nnodes; i++) {
        Node *node = &g->nodes[i];
        const Node *inner = node;
        if (!name || yaml_is(name, node->name)) {
            *(before ? &node->interrupt_before : &node->interrupt_after) = true;
            n++;
        }
        while (inner->kind && node_body(inner)) inner = node_body(inner);
        if (inner->kind && inner->kind->id == KIND_WHILE && inner->params[WHILE_DO].graph) {
            /* it is the loader's own until all is loaded */
            n += mark_interrupts((Graph *)inner->params[WHILE_DO].graph, name, before);
        }
    }
    return n;
}

static void load_interrupts(Loader *ld, const YamlNode *config, const char *key, GraphImpl *g) {
    const YamlNode *names = yaml_get(config, key), *name;
    bool before = strcmp(key, "interrupt_before") == 0;
    char what[32];
    snprintf(what, sizeof what, "`%s`", key);
    for (size_t at = 0;
         names && !yaml_is_null(names) && (name = next_name(ld, names, what, &at));) {
        bool all = yaml_is(name, "*");
        if (mark_interrupts(&g->graph, all ? NULL : name, before)) {
            note_interrupt(ld, name->spot, key, name->text);
        } else {
            find_node(ld, g, name, false); /* says that there is none */
        }
    }
}

/* ---- the whole ---- */

static bool load_graph(const NodeContext *c, const YamlNode *root) {
    Loader *ld = c->ld;
    GraphImpl *graph = c->graph;
    const YamlNode *config = key_map(ld, root, "config"), **sources;
    const char *name = key_text(ld, root, "name");
    graph->graph.name = name ? name : graph->graph.name;
    key_text(ld, root, "description");
    if (config) {
        load_config(ld, config, &graph->graph);
        load_kind_folders(ld, c->file, config);
    }
    if (!load_nodes(c, yaml_get(root, "nodes"), &sources)) return false;
    (ld->agent ? edge_agent_edges : load_edges)(c, sources, yaml_get(root, "edges"));
    load_interrupts(ld, config, "interrupt_before", graph);
    load_interrupts(ld, config, "interrupt_after", graph);
    return true;
}

/* A file that one of The Edge Agent names is another, whatever is in it. */
static bool load_graph_dialect(Loader *ld, LoadedFile *file, const YamlNode *root,
                               GraphImpl *graph) {
    NodeContext c = {
        .ld = ld, .file = file, .graph = graph, .scope = file->from ? (Scope){0} : ld->outer};
    bool inside = file->from && !file->kind_name && file->from->agent;
    if (inside || edge_agent_is(root)) {
        file->agent = edge_agent_begin(ld, root, graph);
    } else {
        const YamlNode *state = key_map(ld, root, "state");
        check_keys(ld, root,
                   (KeyList){.names = graph_keys, .more = file->kind ? kind_file_keys : NULL},
                   "a workflow");
        if (state) load_state(ld, state, graph);
    }
    bool made = load_graph(&c, root);
    ld->agent = NULL; /* what a kind gives back is jq */
    return made;
}

const Dialect graph_dialect = {"nodes", "graph", "a graph", YAML_CORE, load_graph_dialect};
