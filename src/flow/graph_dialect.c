/* graph_dialect.c - files with `nodes` and `edges`. */
#include "loader.h"

#include "suggest.h"

#include <string.h>

const char *const graph_keys[] = {"name", "description", "state", "config", "nodes", "edges", NULL};
const char *const config_keys[] = {
    "checkpointer",    "checkpoint_dir",  "checkpoint", "interrupt_before",
    "interrupt_after", "recursion_limit", "timeout",    NULL};
const char *const checkpointers[] = {"memory", "file", "sqlite", NULL};

/* In the order of Reduce. */
const char *const reduce_names[] = {"replace", "append", "add", "merge", "union", NULL};

enum { RECURSION_MAX = 1000000000 };

/* ---- state ---- */

static const char *const state_keys[] = {"default", "reduce", NULL};

/* Only keys of a declaration, and at least one: otherwise it is a default that is an object. */
static bool is_declaration(const YamlNode *value) {
    bool only = value->kind == YAML_MAP && value->n > 0;
    for (size_t i = 0; only && i < value->n; i++) {
        only = has_name(state_keys, value->pairs[i].key->text, value->pairs[i].key->len);
    }
    return only;
}

static bool is_one_word(const YamlNode *node) {
    return node->len > 0 && strspn(node->text, "abcdefghijklmnopqrstuvwxyz_") == node->len;
}

static bool near_reducer(Loader *ld, const YamlNode *node) {
    Suggestion nearest = suggestion_for(node->text, node->len);
    for (const char *const *name = reduce_names; *name; name++) {
        suggestion_offer(&nearest, *name);
    }
    if (is_one_word(node) && nearest.best) {
        report_at(ld->reporter, node->spot, "There is no reducer `%s`%s",
                  shown(node->text, node->len), did_you_mean_this(nearest.best));
        return true;
    }
    return false;
}

static void load_reduce(Loader *ld, const YamlNode *node, StateKey *key) {
    static const char *const vars[] = {"old", "new"};
    if (node->kind != YAML_SCALAR || yaml_is_null(node)) {
        report_at(ld->reporter, node->spot,
                  "`reduce` must be replace, append, add, merge, union or an expression over $old "
                  "and $new.");
        return;
    }
    for (int i = 0; reduce_names[i]; i++) {
        if (yaml_is(node, reduce_names[i])) {
            key->reduce = (Reduce)i;
            return;
        }
    }
    if (!near_reducer(ld, node)) {
        key->reduce = REDUCE_EXPR;
        key->expr = load_expr(ld, node, (Scope){vars, 2});
    }
}

static void load_key(Loader *ld, const YamlPair *pair, StateKey *key) {
    const YamlNode *value = pair->value, *reduce = NULL;
    key->name = keep(ld, json_string_valid(pair->key->text, pair->key->len));
    yaml_line_col(pair->key->spot.file, pair->key->spot.at, &key->line, &key->col);
    if (is_declaration(value)) {
        reduce = yaml_get(value, "reduce");
        value = yaml_get(value, "default");
    }
    if (value) {
        key->initial = keep(ld, yaml_json(value));
    }
    if (reduce) {
        load_reduce(ld, reduce, key);
    }
}

static void load_state(Loader *ld, const YamlNode *state, GraphImpl *g) {
    if (yaml_is_null(state) || !expect_map(ld, state, "`state`")) {
        return;
    }
    g->graph.nkeys = state->n;
    g->graph.keys = arena_alloc(ld->arena, (state->n ? state->n : 1) * sizeof *g->graph.keys);
    for (size_t i = 0; i < state->n; i++) {
        load_key(ld, &state->pairs[i], &g->graph.keys[i]);
    }
    name_table_fill(&g->keys, ld->arena, &g->graph.keys[0].name, sizeof *g->graph.keys, state->n);
}

/* ---- config ---- */

static void load_checkpointer(Loader *ld, const YamlNode *value, Graph *g) {
    const char *name = field_text(ld, value, "`checkpointer`");
    if (!name) {
        return;
    }
    if (strcmp(name, "postgres") == 0) {
        report_at(
            ld->reporter, value->spot,
            "`checkpointer: postgres` is not part of this build; use memory, file or sqlite.");
    } else if (!has_name(checkpointers, name, value->len)) {
        report_at(ld->reporter, value->spot,
                  "`checkpointer` must be memory, file or sqlite, not `%s`%s",
                  shown(name, value->len), did_you_mean(name, value->len, checkpointers));
    } else {
        g->checkpointer = name;
    }
}

static void load_checkpoint_dir(Loader *ld, const YamlNode *value, Graph *g) {
    g->checkpoint_dir = field_text(ld, value, "`checkpoint_dir`");
}

static void load_checkpoint(Loader *ld, const YamlNode *value, Graph *g) {
    g->checkpoint = field_text(ld, value, "`checkpoint`");
}

static void load_recursion_limit(Loader *ld, const YamlNode *value, Graph *g) {
    field_int(ld, value, "`recursion_limit`", RECURSION_MAX, &g->recursion_limit);
}

static void load_graph_timeout(Loader *ld, const YamlNode *value, Graph *g) {
    field_duration(ld, value, "`timeout`", &g->timeout_ms);
}

typedef struct ConfigField {
    const char *key;
    void (*load)(Loader *ld, const YamlNode *value, Graph *g);
} ConfigField;

static const ConfigField config_fields[] = {
    {"checkpointer", load_checkpointer}, {"checkpoint_dir", load_checkpoint_dir},
    {"checkpoint", load_checkpoint},     {"recursion_limit", load_recursion_limit},
    {"timeout", load_graph_timeout},
};

/* Both may be there, as alternatives that somebody left in: the folder says more. */
static void settle_checkpointer(Loader *ld, const YamlNode *config, Graph *g) {
    const YamlPair *pair = yaml_pair(config, "checkpointer");
    if (g->checkpoint_dir && g->checkpointer && strcmp(g->checkpointer, "memory") == 0) {
        report_warning(ld->reporter, pair->key->spot,
                       "`checkpointer: memory` is not used: there is a `checkpoint_dir`, where "
                       "files are kept.");
        g->checkpointer = "file";
    }
}

/* What nodes need to know; interrupts need to know the nodes, and come later. */
static void load_config(Loader *ld, const YamlNode *config, Graph *g) {
    if (yaml_is_null(config) || !expect_map(ld, config, "`config`")) {
        return;
    }
    check_keys(ld, config, (KeyList){config_keys, NULL}, "`config`");
    for (size_t i = 0; i < sizeof config_fields / sizeof *config_fields; i++) {
        const YamlNode *value = yaml_get(config, config_fields[i].key);
        if (value) {
            config_fields[i].load(ld, value, g);
        }
    }
    settle_checkpointer(ld, config, g);
}

/* ---- interrupts ---- */

typedef struct InterruptList {
    Loader *ld;
    GraphImpl *graph;
    bool before;
} InterruptList;

static const char *list_key(const InterruptList *list) {
    return list->before ? "interrupt_before" : "interrupt_after";
}

static void set_interrupt(const InterruptList *list, size_t i) {
    Node *node = &list->graph->graph.nodes[i];
    if (list->before) {
        node->interrupt_before = true;
    } else {
        node->interrupt_after = true;
    }
}

static void unknown_interrupt(const InterruptList *list, const YamlNode *name) {
    Suggestion nearest = suggestion_for(name->text, name->len);
    for (size_t i = 0; i < list->graph->graph.nnodes && i < 1000; i++) {
        suggestion_offer(&nearest, list->graph->graph.nodes[i].name);
    }
    report_at(list->ld->reporter, name->spot, "There is no node `%s`%s",
              shown(name->text, name->len), did_you_mean_this(nearest.best));
}

static void load_interrupt_name(void *ctx, const YamlNode *name) {
    InterruptList *list = ctx;
    size_t n = list->graph->graph.nnodes;
    Json key = json_string_valid(name->text, name->len);
    int index = name_table_find(&list->graph->nodes, key);
    json_unref(key);
    if (yaml_is(name, "*")) {
        for (size_t i = 0; i < n; i++) {
            set_interrupt(list, i);
        }
    } else if (index < 0) {
        unknown_interrupt(list, name);
        return;
    } else {
        set_interrupt(list, (size_t)index);
    }
    note_interrupt(list->ld, name->spot, list_key(list), name->text);
}

static void load_interrupts(Loader *ld, const YamlNode *config, GraphImpl *g) {
    for (int before = 1; before >= 0; before--) {
        InterruptList list = {ld, g, before};
        const YamlNode *names = yaml_get(config, list_key(&list));
        if (names && !yaml_is_null(names)) {
            each_name(ld, names, before ? "`interrupt_before`" : "`interrupt_after`",
                      load_interrupt_name, &list);
        }
    }
}

/* ---- the whole ---- */

static void load_graph_name(Loader *ld, const YamlNode *root, Graph *g) {
    const YamlNode *name = yaml_get(root, "name"), *description = yaml_get(root, "description");
    const char *text = name ? field_text(ld, name, "`name`") : NULL;
    if (text) {
        g->name = text;
    }
    if (description) {
        field_text(ld, description, "`description`");
    }
}

bool load_graph_dialect(Loader *ld, LoadedFile *file, const YamlNode *root, GraphImpl *graph) {
    NodeContext c = {ld, file, graph, file->from ? (Scope){NULL, 0} : ld->outer};
    const YamlNode *state = yaml_get(root, "state"), *config = yaml_get(root, "config");
    const YamlNode **sources;
    check_keys(ld, root, (KeyList){graph_keys, NULL}, "a workflow");
    load_graph_name(ld, root, &graph->graph);
    if (state) {
        load_state(ld, state, graph);
    }
    if (config) {
        load_config(ld, config, &graph->graph);
    }
    if (!load_nodes(&c, yaml_get(root, "nodes"), &sources)) {
        return false;
    }
    load_edges(&c, sources, yaml_get(root, "edges"));
    load_interrupts(ld, config, graph);
    return true;
}
