/* pipeline_dialect.c - files with `steps`: CI.
 *
 * The steps are the first nodes of the graph, in the order of the list. What their endings ask for
 * beyond the next step are hidden nodes after them:
 *
 *     on_success: next            an edge to the step after it, or to __end__
 *                 stop            an edge to __end__
 *                 merge:BRANCH    an edge to a node of kind merge, which leads to the step after it
 *     on_failure: next            see below
 *                 stop            no edge: the run fails
 *                 trigger:CARD    an error edge to a node of kind trigger; the run then fails
 *
 * A step that fails with on_failure: next is no failure to the engine: its work gives back a result
 * whose status is "failed" (exec_pipeline.c in exec/), and its edges tell the two apart where
 * on_success leads somewhere else.
 */
#include "loader.h"

#include "ascii.h"

#include <stdio.h>
#include <string.h>

enum {
    SLUG_MAX_LEN = 100,
    NODES_PER_STEP = 3, /* itself, what it does after success, what it does after failure */
};

static const char *const pipeline_keys[] = {"name",     "description", "timeout", "steps",
                                            "triggers", "kinds",       NULL};
static const char *const step_keys[] = {
    "id",         "name",       "description",         "type",     "config", "timeout",
    "on_success", "on_failure", "continue_in_context", "requires", NULL};
static const char *const trigger_keys[] = {"type", "config", "on_pass", "on_fail", NULL};

/* ---- endings ---- */

typedef enum Way { WAY_NEXT, WAY_STOP, WAY_NODE } Way;

/* What on_success or on_failure says. */
typedef struct Ending {
    Way way;
    const char *target;    /* WAY_NODE: the branch or the card */
    const YamlNode *value; /* as written; NULL: not at all */
} Ending;

typedef struct EndingRule {
    const char *key;
    Way otherwise;
    const char *verb; /* of WAY_NODE */
    const char *noun;
    KindId kind;
} EndingRule;

static const EndingRule success_rule = {"on_success", WAY_NEXT, "merge", "BRANCH", KIND_MERGE};
static const EndingRule failure_rule = {"on_failure", WAY_STOP, "trigger", "CARD", KIND_TRIGGER};

static Ending load_ending(Loader *ld, const YamlNode *step, const EndingRule *rule) {
    Ending ending = {rule->otherwise, NULL, yaml_get(step, rule->key)};
    const YamlNode *value = ending.value;
    const char *text = key_text(ld, step, rule->key);
    if (!text) return ending;
    size_t len = strlen(rule->verb);
    bool verb = strncmp(text, rule->verb, len) == 0 && text[len] == ':';
    if (verb && text[len + 1]) {
        ending.way = WAY_NODE;
        ending.target = text + len + 1;
    } else if (yaml_is(value, "next") || yaml_is(value, "stop")) {
        ending.way = text[0] == 'n' ? WAY_NEXT : WAY_STOP;
    } else {
        bool named = verb || yaml_is(value, rule->verb);
        const char *words[] = {"next", "stop", named ? NULL : rule->verb, NULL};
        report_at(ld->reporter, value->spot, "`%s` must be next, stop or %s:%s, not `%s`%s",
                  rule->key, rule->verb, rule->noun, shown(text, value->len),
                  did_you_mean(text, strcspn(text, ":"), words));
    }
    return ending;
}

/* ---- names ---- */

typedef struct PipelineLoad {
    const NodeContext *c;
    Loader *ld;
    Graph *graph;
    const YamlNode **sources; /* of each step */
    size_t nsteps;
    NameGiver names;
} PipelineLoad;

/* "Unit tests (fast)" -> "unit-tests-fast". */
static void add_slug(Buf *out, const char *text) {
    for (; *text && out->len < SLUG_MAX_LEN; text++) {
        if (ascii_is_letter(*text) || ascii_is_digit(*text)) {
            buf_addc(out, ascii_lower(*text));
        } else if (out->len && out->data[out->len - 1] != '-') {
            buf_addc(out, '-');
        }
    }
    if (out->len && out->data[out->len - 1] == '-') out->data[--out->len] = '\0';
}

/* ---- a step ---- */

static void start_step(const PipelineLoad *p, Node *node, const YamlNode *yaml, const char *name) {
    start_node(p->c, node, yaml, name);
    node->index = (int)(node - p->graph->nodes);
    node->source = keep(p->ld, yaml_json(yaml));
}

static const Kind *find_type(const NodeContext *c, const YamlNode *step) {
    Loader *ld = c->ld;
    bool found = false;
    const YamlNode *type = yaml_get(step, "type");
    if (!type) {
        report_at(ld->reporter, step->spot, "A step needs `type`: script, docker or agent.");
        return NULL;
    }
    if (!field_text(ld, type, "`type`")) return NULL;
    const Kind *kind = find_kind(c, DIALECT_PIPELINE, type, &found);
    if (!found || (kind && kind->hidden)) {
        report_at(ld->reporter, type->spot, "`type` must be script, docker or agent, not `%s`%s",
                  shown(type->text, type->len), nearest_of_all(c, DIALECT_PIPELINE, type));
        return NULL;
    }
    return kind ? kind_with_more(ld, kind, yaml_get(step, "config"), NULL) : NULL;
}

/* `config` holds what comes after the parameters that every step has. The id became the name of the
 * node, and an ending that is no text is reported where endings are read. */
static void load_step_params(const PipelineLoad *p, Node *node, const YamlNode *step) {
    const Kind *kind = node->kind;
    const YamlNode *config = yaml_get(step, "config");
    KeyList own = {.params = kind->params + SCRIPT_COMMAND,
                   .nparams = kind->nparams - SCRIPT_COMMAND};
    char where[160];
    Param *params = arena_alloc(p->ld->arena, kind->nparams * sizeof *params);
    node->params = params;
    params[STEP_ID].value = node->name_json;
    if (config && !expect_map(p->ld, config, "`config`")) return;
    if (config) {
        snprintf(where, sizeof where, "the `config` of %s %s step", article(kind), kind->name);
        check_keys(p->ld, config, own, where);
    }
    for (size_t i = 0; i < kind->nparams; i++) {
        const ParamInfo *info = &kind->params[i];
        const YamlPair *pair = yaml_pair(i >= SCRIPT_COMMAND ? config : step, info->name);
        bool text = pair && pair->value->kind == YAML_SCALAR && !yaml_is_null(pair->value) &&
                    !memchr(pair->value->text, '\0', pair->value->len);
        if (i == STEP_ID || (i == STEP_ON_FAILURE && !text)) pair = NULL;
        if (!pair && info->required) {
            report_at(p->ld->reporter, (config ? config : step)->spot,
                      "`%s` is missing in `config`, which %s %s step needs: %s.", info->name,
                      article(kind), kind->name, info->help);
        }
        load_param(p->c, node, info, pair, &params[i]);
        if (i >= SCRIPT_COMMAND) check_input(p->c, node, i, pair);
    }
    params[STEP_ID].value = node->name_json;
}

static void load_step(const PipelineLoad *p, Node *node, const YamlNode *step) {
    const YamlNode *requires = yaml_get(step, "requires");
    check_keys(p->ld, step, (KeyList){.names = step_keys}, "a step");
    key_text(p->ld, step, "name");
    key_text(p->ld, step, "description");
    if (!yaml_get(step, "name") && !yaml_get(step, "id")) {
        report_at(p->ld->reporter, step->spot, "A step needs a `name`, or an `id`.");
    }
    key_duration(p->ld, step, "timeout", &node->timeout_ms);
    bool labels = requires && requires->kind != YAML_SCALAR && requires->n > 0;
    for (size_t i = 0; labels && i < requires->n; i++) {
        const YamlNode *label =
            requires->kind == YAML_MAP ? requires->pairs[i].value : requires->items[i];
        labels = label->kind == YAML_SCALAR && !yaml_is_null(label) && label->len > 0;
    }
    if (labels) {
        node->requires = keep(p->ld, yaml_json(requires));
    } else if (requires) {
        report_at(p->ld->reporter, requires->spot,
                  "`requires` names labels of a runner: a map (`{arch: arm64}`) or a list "
                  "(`[gpio, camera]`).");
    }
    node->kind = find_type(p->c, step);
    if (node->kind) load_step_params(p, node, step);
    if (node->kind && node->kind->outside && requires) {
        report_at(p->ld->reporter, requires->spot,
                  "`requires` is for steps that run somewhere; those inside the kind `%s` say what "
                  "they require.",
                  node->kind->name);
    }
}

/* ---- edges ---- */

static Edges one_edge(Loader *ld, int target, const YamlNode *at) {
    int *targets = arena_alloc(ld->arena, sizeof *targets);
    Edge *edge = arena_alloc(ld->arena, sizeof *edge);
    *targets = target;
    *edge = (Edge){.targets = targets, .ntargets = 1, .join = NODE_END};
    yaml_line_col(at->spot.file, at->spot.at, &edge->line, &edge->col);
    return (Edges){edge, 1};
}

/* A condition that nobody wrote: it stands where `at` does. */
static const Expr *failed_expr(const PipelineLoad *p, const Node *node, const YamlNode *at) {
    YamlNode *text = arena_alloc(p->ld->arena, sizeof *text);
    Buf source = BUF_INIT;
    buf_printf(&source, ".steps[\"%s\"].status == \"failed\"", node->name);
    *text = (YamlNode){.kind = YAML_SCALAR, .style = YAML_PLAIN, .is_text = true, .weight = 1};
    text->spot = at->spot;
    text->text = arena_strndup(p->ld->arena, source.data, source.len);
    text->len = source.len;
    buf_clear(&source);
    return load_expr(p->ld, text, p->c->scope);
}

/* A node that does what an ending says; its index. */
static int add_hidden(PipelineLoad *p, const EndingRule *rule, const Ending *ending,
                      const Node *after) {
    Node *node = &p->graph->nodes[p->graph->nnodes++];
    Param *params = arena_alloc(p->ld->arena, sizeof *params);
    Buf name = BUF_INIT;
    buf_printf(&name, "%s.%s", after->name, rule->verb);
    start_step(p, node, ending->value, free_name(&p->names, name.data));
    buf_clear(&name);
    node->kind = &kinds[rule->kind];
    node->params = params;
    params->value = keep(p->ld, json_string_c(ending->target));
    params->line = node->line;
    params->col = node->col;
    return node->index;
}

static void link_step(PipelineLoad *p, size_t i, Ending success, Ending failure) {
    Node *node = &p->graph->nodes[i];
    const YamlNode *step = p->sources[i];
    int next = i + 1 < p->nsteps ? (int)i + 1 : NODE_END;
    Edges on = one_edge(p->ld, next, step), done = on;
    if (success.way == WAY_STOP) {
        done = one_edge(p->ld, NODE_END, success.value);
    } else if (success.way == WAY_NODE) {
        int merge = add_hidden(p, &success_rule, &success, node);
        p->graph->nodes[merge].edges = on;
        done = one_edge(p->ld, merge, success.value);
    }
    node->edges = done;
    if (failure.way == WAY_NEXT && success.way != WAY_NEXT) {
        Edge *edges = arena_alloc(p->ld->arena, 2 * sizeof *edges);
        edges[0] = on.items[0];
        edges[0].when = failed_expr(p, node, failure.value);
        edges[1] = done.items[0];
        node->edges = (Edges){edges, 2};
    }
    if (failure.way == WAY_NODE) {
        int trigger = add_hidden(p, &failure_rule, &failure, node);
        p->graph->nodes[trigger].edges = one_edge(p->ld, NODE_END, failure.value);
        node->error_edges = one_edge(p->ld, trigger, failure.value);
    }
}

static void link_steps(PipelineLoad *p) {
    bool ended = false;
    p->graph->start = one_edge(p->ld, 0, p->sources[0]);
    for (size_t i = 0; i < p->nsteps; i++) {
        Ending success = load_ending(p->ld, p->sources[i], &success_rule);
        Ending failure = load_ending(p->ld, p->sources[i], &failure_rule);
        link_step(p, i, success, failure);
        if (!ended && i + 1 < p->nsteps && success.way == WAY_STOP && failure.way != WAY_NEXT) {
            report_warning(p->ld->reporter, success.value->spot,
                           "No step after `%s` is ever reached: the run ends there.",
                           p->graph->nodes[i].name);
            ended = true;
        }
    }
}

/* ---- triggers ---- */

/* One of the words, which end with NULL. */
static void check_word(Loader *ld, const YamlNode *map, const char *key, const char *const *words) {
    const YamlNode *value = yaml_get(map, key);
    if (!value || (value->kind == YAML_SCALAR && has_name(words, value->text, value->len))) return;
    Buf list = BUF_INIT;
    for (size_t i = 0; words[i]; i++) {
        buf_printf(&list, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
    }
    report_at(ld->reporter, value->spot, "`%s` must be %s.", key, list.data);
    buf_clear(&list);
}

static void check_trigger(Loader *ld, const YamlNode *trigger) {
    static const char *const types[] = {"push", "card_complete", NULL};
    static const char *const push_keys[] = {"branches", NULL}, *const no_keys[] = {NULL};
    static const char *const passes[] = {"merge", "nothing", NULL};
    static const char *const fails[] = {"fail", "reject", "nothing", NULL};
    if (!expect_map(ld, trigger, "A trigger (`{type: push}`)")) return;
    check_keys(ld, trigger, (KeyList){.names = trigger_keys}, "a trigger");
    const YamlNode *type = yaml_get(trigger, "type"), *config = yaml_get(trigger, "config");
    const char *name = key_text(ld, trigger, "type");
    if (!type) {
        report_at(ld->reporter, trigger->spot, "A trigger needs `type`: push or card_complete.");
    } else if (name && !has_name(types, name, type->len)) {
        report_at(ld->reporter, type->spot,
                  "There is no trigger `%s`; there are push and card_complete%s",
                  shown(name, type->len), did_you_mean(name, type->len, types));
    } else if (name && config && expect_map(ld, config, "`config`")) {
        char where[64];
        bool push = yaml_is(type, "push");
        snprintf(where, sizeof where, "the `config` of a %s trigger", name);
        check_keys(ld, config, (KeyList){.names = push ? push_keys : no_keys}, where);
        const YamlNode *branches = yaml_get(config, "branches");
        for (size_t at = 0; branches && push && next_name(ld, branches, "`branches`", &at);) {}
    }
    check_word(ld, trigger, "on_pass", passes);
    check_word(ld, trigger, "on_fail", fails);
}

/* ---- the whole ---- */

/* The state is {"steps": {ID: result}}. */
static void declare_state(Loader *ld, const YamlNode *steps, GraphImpl *g) {
    StateKey *key = arena_alloc(ld->arena, sizeof *key);
    key->name = keep(ld, json_string_c("steps"));
    key->initial = keep(ld, json_object());
    key->reduce = REDUCE_MERGE;
    yaml_line_col(steps->spot.file, steps->spot.at, &key->line, &key->col);
    g->graph.keys = key;
    g->graph.nkeys = 1;
    name_table_fill(&g->keys, ld->arena, &key->name, sizeof *key, 1);
}

/* Ids first, so that a name that is made does not take one. */
static void name_steps(PipelineLoad *p) {
    const char **ids = arena_alloc(p->ld->arena, p->nsteps * sizeof *ids);
    for (size_t i = 0; i < p->nsteps; i++) ids[i] = given_id(&p->names, p->sources[i]);
    for (size_t i = 0; i < p->nsteps; i++) {
        const YamlNode *title = yaml_get(p->sources[i], "name");
        Buf slug = BUF_INIT;
        if (title && title->kind == YAML_SCALAR) add_slug(&slug, title->text);
        if (!slug.len) buf_printf(&slug, "step-%zu", i + 1);
        const char *name = ids[i] ? ids[i] : free_name(&p->names, slug.data);
        start_step(p, &p->graph->nodes[i], p->sources[i], name);
        buf_clear(&slug);
    }
    p->graph->nnodes = p->nsteps;
}

static bool load_pipeline_dialect(Loader *ld, LoadedFile *file, const YamlNode *root,
                                  GraphImpl *graph) {
    NodeContext c = {ld, file, graph, {0}};
    Graph *g = &graph->graph;
    PipelineLoad p = {.c = &c, .ld = ld, .graph = g};
    const YamlNode *steps = yaml_get(root, "steps"), *triggers = yaml_get(root, "triggers");
    check_keys(ld, root,
               (KeyList){.names = pipeline_keys, .more = file->kind ? kind_file_keys : NULL},
               "a pipeline");
    load_kind_folders(ld, file, root);
    const char *name = key_text(ld, root, "name");
    g->name = name ? name : g->name;
    key_text(ld, root, "description");
    key_duration(ld, root, "timeout", &g->timeout_ms);
    if (triggers && !yaml_is_null(triggers)) {
        for (size_t i = 0; triggers->kind == YAML_LIST && i < triggers->n; i++) {
            check_trigger(ld, triggers->items[i]);
        }
        if (triggers->kind == YAML_LIST) {
            g->schedule = keep(ld, yaml_json(triggers));
        } else {
            report_at(ld->reporter, triggers->spot,
                      "The triggers must be a list (`- {type: push}`).");
        }
    }
    declare_state(ld, steps, graph);
    if (!expect_items(ld, steps, "There are no steps; a pipeline has at least one.",
                      "The steps must be a list (`- name: ...`).")) {
        return false;
    }
    p.sources = arena_alloc(ld->arena, steps->n * sizeof *p.sources);
    for (size_t i = 0; i < steps->n; i++) {
        if (expect_map(ld, steps->items[i], "A step")) p.sources[p.nsteps++] = steps->items[i];
    }
    if (p.nsteps == 0) return false;
    g->nodes = arena_alloc(ld->arena, NODES_PER_STEP * steps->n * sizeof *g->nodes);
    p.names = (NameGiver){ld, "step", json_object(), json_object()};
    name_steps(&p);
    for (size_t i = 0; i < p.nsteps; i++) load_step(&p, &g->nodes[i], p.sources[i]);
    link_steps(&p);
    names_clear(&p.names);
    if (g->recursion_limit <= (int64_t)g->nnodes) {
        g->recursion_limit = (int64_t)g->nnodes + 1; /* there are no loops */
    }
    name_table_fill(&graph->nodes, ld->arena, &g->nodes[0].name_json, sizeof *g->nodes, g->nnodes);
    return true;
}

const Dialect pipeline_dialect = {"steps", "pipeline", "a pipeline", YAML_CORE,
                                  load_pipeline_dialect};
