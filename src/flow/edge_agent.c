/* edge_agent.c - what files of The Edge Agent say otherwise than graphs of ours.
 *
 * Nodes become nodes of our kinds: `run` one that renders and runs Python, `uses` a kind, `steps` a loop of one round,
 * `while_loop` a loop that just stops at its limit, `dynamic_parallel` a map whose
 * body keeps its failures to itself. Their conditions and templates
 * are expressions of another language (Foreign in flow.h). Edges are made in another order: what a node says with `goto`,
 * else the edges from it, else the next node of the file. */
#include "edge_agent.h"

#include "ascii.h"
#include "edges.h"
#include "json_build.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

enum { LOOP_MAX = 1000, CONCURRENCY_MAX = 1000000, BRANCHES_AT_ONCE = 32 };

/* ---- which files ---- */

/* Keys of a file that no graph of ours has. `version`, `data`, `checkpoint` and interrupts beside `config` are none of
 * them: in a graph of ours they are likelier a mistake. */
static const char *const own_keys[] = {
    "state_schema",    "settings",           "variables",
    "initial_state",   "extraction_schema",  "validation_constraints",
    "semantic_probes", "validation_logging", NULL};

static bool has_jinja(const YamlNode *text) {
    return text && text->kind == YAML_SCALAR &&
           (strstr(text->text, "{{") || strstr(text->text, "{%"));
}

/* Whether a word stands in a text as a word of its own, outside of what is a string in jq. One with `\(` in it is jq. */
static bool has_outside(const YamlNode *text, const char *word) {
    if (!text || text->kind != YAML_SCALAR || strstr(text->text, "\\(")) return false;
    size_t len = strlen(word);
    bool quoted = false, inner = false; /* behind what makes it a part of another word */
    for (const char *p = text->text; *p; p++) {
        if (!quoted && !inner && !strncmp(p, word, len)) return true;
        quoted = quoted != (*p == '"');
        inner = ascii_is_name(*p) || *p == '.' || *p == '$';
        if (quoted && *p == '\\' && p[1]) p++;
    }
    return false;
}

/* An error in jq, which an expression of a graph of ours is in. */
static bool is_template(const YamlNode *text) {
    return has_outside(text, "{{") || has_outside(text, "{%");
}

static bool is_condition(const YamlNode *text, bool plain) {
    return is_template(text) || has_outside(text, "state.get(") ||
           (plain && has_outside(text, "state."));
}

/* In any text of it. Recursion is bounded by the depth that yaml_parse() allows. */
static bool holds_template(const YamlNode *value) {
    bool found = is_template(value);
    for (size_t i = 0; value && value->kind != YAML_SCALAR && i < value->n && !found; i++) {
        found = holds_template(value->kind == YAML_LIST ? value->items[i] : value->pairs[i].value);
    }
    return found;
}

/* plain: expressions without braces are not those of a graph of ours that somebody has got wrong. */
static bool node_is_its(const YamlNode *node, bool plain) {
    const YamlNode *type = yaml_get(node, "type"), *run = yaml_get(node, "run");
    const YamlNode *rules = yaml_get(node, "goto"), *output = yaml_get(node, "output");
    if (type && (yaml_is(type, "dynamic_parallel") || yaml_is(type, "while_loop"))) return true;
    if (run && run->kind == YAML_MAP && yaml_get(run, "type")) return true;
    if (yaml_get(node, "uses") &&
        (holds_template(yaml_get(node, "with")) || (output && output->kind == YAML_MAP))) {
        return true;
    }
    for (size_t i = 0; rules && rules->kind == YAML_LIST && i < rules->n; i++) {
        if (is_condition(yaml_get(rules->items[i], "if"), plain)) return true;
    }
    return false;
}

static bool edge_is_its(const YamlNode *edge, bool plain) {
    return yaml_get(edge, "condition") || yaml_get(edge, "type") ||
           is_condition(yaml_get(edge, "when"), plain);
}

/* Nodes that both kinds of files write alike, and no others. */
static bool nodes_are_plain(const YamlNode *nodes) {
    bool plain = nodes && nodes->kind == YAML_LIST;
    for (size_t i = 0; plain && i < nodes->n; i++) {
        const YamlNode *node = nodes->items[i];
        plain = yaml_get(node, "run") || yaml_get(node, "uses");
    }
    return plain;
}

bool edge_agent_is(const YamlNode *root) {
    const YamlNode *nodes = yaml_get(root, "nodes"), *edges = yaml_get(root, "edges");
    const YamlNode *config = yaml_get(root, "config");
    bool plain = nodes_are_plain(nodes);
    for (size_t i = 0; own_keys[i]; i++) {
        if (yaml_get(root, own_keys[i])) return true;
    }
    if (config && yaml_get(config, "raise_exceptions")) return true;
    for (size_t i = 0; nodes && nodes->kind == YAML_LIST && i < nodes->n; i++) {
        if (node_is_its(nodes->items[i], plain)) return true;
    }
    for (size_t i = 0; edges && edges->kind == YAML_LIST && i < edges->n; i++) {
        if (edge_is_its(edges->items[i], plain)) return true;
    }
    return false;
}

/* ---- what is said once ---- */

/* Whether it is the first time in this file. */
static bool is_new(Loader *ld, const char *where, const YamlNode *key) {
    Json name = json_string_fmt("%s %s %s", key->spot.file->path, where, key->text);
    bool known = !json_is_none(json_object_get(ld->ignored, name));
    ld->ignored = json_object_set(ld->ignored, name, json_null());
    return !known;
}

/* Keys of which more can be said than that nobody reads them. */
static const struct Said {
    const char *where, *key;
    bool refused;
    const char *sentence;
} said[] = {
    {"the file", "state_schema", false,
     "`state_schema` only describes the state: it sets no defaults and checks no types."},
    {"the file", "settings", false,
     "`settings` only describes services: templates can read it, and nothing else does."},
    {"the file", "data", false, "`data` is for templates to read, and for nothing else."},
    {"the file", "checkpoint", false, "`checkpoint` is not read here: it belongs in `config`."},
    {"the file", "interrupt_before", false,
     "`interrupt_before` is not read here: it belongs in `config`."},
    {"the file", "interrupt_after", false,
     "`interrupt_after` is not read here: it belongs in `config`."},
    {"config", "raise_exceptions", false,
     "`raise_exceptions` changes nothing: an error that nobody takes fails the run."},
    {"a node", "action", false,
     "`action` is not read, so such a node does nothing; `uses` is what names an action."},
    {"a node", "streams", false,
     "`streams` makes no pipes here: what a node prints goes to its log."},
    {"an edge", "stream_mode", false,
     "`stream_mode` makes no pipes here: what a node prints goes to its log."},
    {"a node", "parallel_each", true,
     "`parallel_each` is not understood; write `type: dynamic_parallel`."},
    {"a node", "strategy", true, "`strategy` is not understood; write `type: dynamic_parallel`."},
    {"a node", "on_error", true, "`on_error` is not understood; `retry` has attempts and delays."},
};

static const struct Said *find_said(const char *where, const YamlNode *key) {
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (yaml_is(key, said[i].key) && !strcmp(said[i].where, where)) return &said[i];
    }
    return NULL;
}

/* A key that nothing is made of. */
static void note_key(Loader *ld, const char *where, const YamlNode *key) {
    const struct Said *more = find_said(where, key);
    if (more && more->refused) {
        report_at(ld->reporter, key->spot, "%s", more->sentence);
    } else if (!is_new(ld, where, key)) {
        return;
    } else if (more) {
        report_warning(ld->reporter, key->spot, "%s", more->sentence);
    } else {
        report_warning(ld->reporter, key->spot, "`%s` of %s is not read: it changes nothing.",
                       shown(key->text, key->len), where);
    }
}

/* All keys that are in neither list. */
static void note_keys(Loader *ld, const char *where, const YamlNode *map, KeyList read) {
    const char *names[KEYS_MAX];
    add_keys(names, 0, read);
    for (size_t i = 0; i < map->n; i++) {
        const YamlNode *key = map->pairs[i].key;
        if (!has_name(names, key->text, key->len)) note_key(ld, where, key);
    }
}

/* ---- the file ---- */

static bool is_from_start(const YamlNode *edge) {
    const YamlNode *from = yaml_get(edge, "from"), *type = yaml_get(edge, "type");
    return from ? yaml_is(from, "__start__") : type && yaml_is(type, "entry");
}

/* Something stands for the node that an edge from __start__ with a condition leaves from. */
static const YamlNode *find_chooser(Loader *ld, const YamlNode *edges) {
    for (size_t i = 0; edges && edges->kind == YAML_LIST && i < edges->n; i++) {
        const YamlNode *edge = edges->items[i];
        if (is_from_start(edge) && (yaml_get(edge, "when") || yaml_get(edge, "condition"))) {
            YamlNode *none = arena_alloc(ld->arena, sizeof *none);
            *none = (YamlNode){.kind = YAML_MAP, .spot = edge->spot, .weight = 1};
            return none;
        }
    }
    return NULL;
}

EdgeAgent *edge_agent_begin(Loader *ld, const YamlNode *root, GraphImpl *graph) {
    static const char *const read[] = {"name",   "description", "nodes",         "edges",
                                       "config", "variables",   "initial_state", NULL};
    EdgeAgent *agent = ld->agent = arena_alloc(ld->arena, sizeof *agent);
    static const char *const seen[] = {"variables", "settings", "data"};
    Json given = json_object();
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        const YamlNode *map = key_map(ld, root, seen[i]);
        given = json_object_with(given, seen[i], map ? yaml_json(map) : json_object());
    }
    agent->given = graph->graph.agent = keep(ld, given);
    agent->chooser = find_chooser(ld, yaml_get(root, "edges"));
    const YamlNode *initial = key_map(ld, root, "initial_state");
    if (initial) load_keys(ld, graph, initial);
    bool kind = yaml_get(root, "kind");
    note_keys(ld, "the file", root, (KeyList){.names = read, .more = kind ? kind_file_keys : NULL});
    return agent;
}

void edge_agent_config(Loader *ld, const YamlNode *config) {
    note_keys(ld, "config", config, (KeyList){.names = config_keys});
}

/* ---- nodes ---- */

static const char *const any_node[] = {"name",    "description", "title", "goto",      "fan_in",
                                       "timeout", "retry",       "type",  "interrupt", NULL};

/* A node that passes on what it was given. */
static void load_pass(const NodeContext *c, Node *node, const YamlNode *yaml) {
    Param *params = arena_alloc(c->ld->arena, sizeof *params);
    node->kind = &kinds[KIND_JQ];
    node->params = params;
    params[JQ_EXPR].line = node->line;
    params[JQ_EXPR].col = node->col;
    params[JQ_EXPR].value = keep(c->ld, json_object());
    params[JQ_EXPR].expr = load_value(c->ld, yaml, params[JQ_EXPR].value);
}

static void load_python(const NodeContext *c, Node *node, const YamlNode *yaml,
                        const YamlPair *code, const char *how) {
    load_node_as(c, node, yaml,
                 &(NodeGiven){.kind = &kinds[KIND_EDGE_AGENT], .said = code, .pair = code});
    Param *params = (Param *)node->params; /* the loader's own until all is loaded */
    params[EDGE_AGENT_HOW].value = keep(c->ld, json_string_c(how));
    params[EDGE_AGENT_GIVEN].value = c->ld->agent->given;
}

/* Code in one of the languages of `run`; NULL: in Python. */
static void load_code(const NodeContext *c, Node *node, const YamlNode *yaml, const YamlPair *code,
                      const YamlNode *language) {
    static const char *const languages[] = {"python", "lua", "javascript", "shell", NULL};
    Loader *ld = c->ld;
    if (language && yaml_is(language, "prolog")) {
        report_at(ld->reporter, language->spot,
                  "Nodes in Prolog cannot be run; write it in python, lua, javascript or shell, or "
                  "use a kind from outside that asks a Prolog system.");
    } else if (!language || yaml_is(language, "python")) {
        load_python(c, node, yaml, code, "code");
    } else if (language->kind == YAML_SCALAR &&
               has_name(languages, language->text, language->len)) {
        const Kind *kind = kind_find(DIALECT_GRAPH, language->text);
        load_node_as(c, node, yaml, &(NodeGiven){.kind = kind, .said = code, .pair = code});
    } else {
        report_at(
            ld->reporter, language->spot,
            "There is no language `%s`; the languages are python, lua, javascript and shell%s",
            language->kind == YAML_SCALAR ? shown(language->text, language->len) : "?",
            language->kind == YAML_SCALAR ? did_you_mean(language->text, language->len, languages)
                                          : ".");
    }
}

/* run: {type: expression, value, output_key}, or {type: lua, code}. */
static void load_run_map(const NodeContext *c, Node *node, const YamlNode *yaml,
                         const YamlPair *run) {
    Loader *ld = c->ld;
    const YamlNode *map = run->value, *type = yaml_get(map, "type");
    const YamlPair *code = yaml_pair(map, "code"), *value = yaml_pair(map, "value");
    bool expression = type && yaml_is(type, "expression");
    if (!type) {
        report_at(ld->reporter, run->value->spot,
                  "`run` is a text, or has `type: expression` with `value`, or `type: lua` with "
                  "`code`.");
    } else if (expression ? !value : !code) {
        report_at(ld->reporter, run->value->spot, "`%s` is missing here.",
                  expression ? "value" : "code");
    } else if (expression) {
        const YamlNode *key = yaml_get(map, "output_key");
        const char *name = key ? field_text(ld, key, "`output_key`") : "result";
        load_python(c, node, yaml, value, "expression");
        if (name) node->output = keep(ld, json_string_c(name));
    } else {
        load_code(c, node, yaml, code, type);
    }
}

/* ---- actions ---- */

/* What is taken as it is written can have no template in it. */
static void check_texts(Loader *ld, const Kind *kind, const YamlNode *with) {
    for (size_t i = 0; i < with->n; i++) {
        const YamlPair *pair = &with->pairs[i];
        for (size_t k = 0; k < kind->nparams; k++) {
            const ParamInfo *info = &kind->params[k];
            bool evaluated = (info->type == PARAM_JQ && kind->id != KIND_JQ) ||
                             info->type == PARAM_TEMPLATE || info->type == PARAM_JQ_OBJECT;
            if (!evaluated && yaml_is(pair->key, info->name) && has_jinja(pair->value)) {
                report_at(ld->reporter, pair->value->spot,
                          "`%s` of %s %s node is taken as it is written, and cannot be a template.",
                          info->name, article(kind), kind->name);
            }
        }
    }
}

/* Nothing: an object is merged. A name: under it. An object: templates that see `result`. */
static void load_outputs(const NodeContext *c, Node *node, const YamlNode *yaml) {
    Loader *ld = c->ld;
    const YamlNode *output = yaml_get(yaml, "output");
    output = output ? output : yaml_get(yaml, "output_key");
    node->wraps = true;
    if (!output || yaml_is_null(output)) return;
    if (output->kind == YAML_MAP) {
        node->gives = load_foreign(ld, output, FOREIGN_OUTPUTS, ld->agent->given);
    } else if (field_text(ld, output, "`output`")) {
        node->output = keep(ld, json_string_valid(output->text, output->len));
    }
}

static void load_uses(const NodeContext *c, Node *node, const YamlNode *yaml,
                      const YamlPair *uses) {
    Loader *ld = c->ld;
    const YamlNode *with = yaml_get(yaml, "with");
    const char *name = field_text(ld, uses->value, "`uses`");
    bool found = false;
    const Kind *kind = name ? find_kind(c, DIALECT_GRAPH, uses->value, &found) : NULL;
    if (name && !found) {
        report_at(ld->reporter, uses->value->spot,
                  "There is no action `%s`. An action is a kind from outside, `%s.yaml` in "
                  "`" FLOW_KIND_FOLDER "` beside this file, or one of %s%s",
                  shown(name, uses->value->len), shown(name, uses->value->len),
                  kind_list(DIALECT_GRAPH), nearest_of_all(c, DIALECT_GRAPH, uses->value));
    }
    if (with && (yaml_is_null(with) || !expect_map(ld, with, "`with`"))) with = NULL;
    if (!kind) return;
    char where[160];
    kind = kind_with_more(ld, kind, with, NULL);
    snprintf(where, sizeof where, "%s %s node", article(kind), kind->name);
    if (with) {
        check_keys(ld, with, (KeyList){.params = kind->params, .nparams = kind->nparams}, where);
        check_texts(ld, kind, with);
    }
    EdgeAgent *agent = ld->agent;
    if (kind->id == KIND_JQ) ld->agent = NULL; /* its expression is jq, here as anywhere */
    load_node_as(c, node, yaml, &(NodeGiven){.kind = kind, .said = uses, .params = with});
    ld->agent = agent;
    load_outputs(c, node, yaml);
}

/* ---- steps and loops ---- */

static const Graph *load_list(const NodeContext *c, const YamlNode *list, const Node *node,
                              const char *unnamed) {
    c->ld->unnamed = unnamed;
    return load_node_list(c, list, node->name);
}

/* A loop as ours, which stops at its limit. */
typedef struct Loop {
    const Expr *condition;
    const YamlNode *text; /* of that; NULL: it always holds */
    int64_t most;
    const YamlNode *body;
    const char *unnamed;
} Loop;

static void load_rounds(const NodeContext *c, Node *node, const Loop *loop) {
    Loader *ld = c->ld;
    const Kind *kind = &kinds[KIND_WHILE];
    Param *params = arena_alloc(ld->arena, kind->nparams * sizeof *params);
    node->kind = kind;
    node->params = params;
    for (size_t i = 0; i < kind->nparams; i++)
        load_param(c, node, &kind->params[i], NULL, &params[i]);
    params[WHILE_CONDITION].expr = loop->condition;
    params[WHILE_CONDITION].value = loop->text ? keep(ld, yaml_json(loop->text)) : json_bool(true);
    params[WHILE_MAX].number = loop->most;
    params[WHILE_MAX].value = json_int(loop->most);
    params[WHILE_AT_LIMIT].value = keep(ld, json_string_c("stop"));
    params[WHILE_AT_LIMIT].number = 1;
    params[WHILE_DO].value = keep(ld, yaml_json(loop->body));
    params[WHILE_DO].graph = load_list(c, loop->body, node, loop->unnamed);
}

static void load_steps(const NodeContext *c, Node *node, const YamlPair *steps) {
    Loop once = {load_value(c->ld, steps->value, json_bool(true)), NULL, 1, steps->value, "step"};
    if (expect_items(c->ld, steps->value, "`steps` has no nodes.",
                     "`steps` must be a list of nodes.")) {
        load_rounds(c, node, &once);
    }
}

static const YamlNode *needed(Loader *ld, const YamlNode *yaml, const char *key, const char *type) {
    const YamlNode *value = yaml_get(yaml, key);
    if (!value || yaml_is_null(value)) {
        report_at(ld->reporter, yaml->spot, "`%s` is missing, which a %s needs.", key, type);
        return NULL;
    }
    return value;
}

static void load_while(const NodeContext *c, Node *node, const YamlNode *yaml) {
    Loader *ld = c->ld;
    const YamlNode *condition = needed(ld, yaml, "condition", "while_loop");
    const YamlNode *most = needed(ld, yaml, "max_iterations", "while_loop");
    const YamlNode *body = needed(ld, yaml, "body", "while_loop");
    Loop loop = {NULL, condition, 1, body, "body"};
    if (condition) loop.condition = load_agent_condition(ld, condition, true);
    bool fine = most && field_int(ld, most, "`max_iterations`", LOOP_MAX, &loop.most);
    fine = body &&
           expect_items(ld, body, "`body` has no nodes.", "`body` must be a list of nodes.") &&
           fine;
    for (size_t i = 0; fine && i < body->n; i++) {
        const YamlNode *type = yaml_get(body->items[i], "type");
        if (type && yaml_is(type, "while_loop")) {
            report_at(ld->reporter, type->spot, "A while_loop cannot be inside another.");
            fine = false;
        }
    }
    if (fine && condition) load_rounds(c, node, &loop);
}

/* ---- branches that are counted when it runs ---- */

/* What a branch does, as a list of nodes: `steps`, or a list of one. */
static const YamlNode *branch_list(Loader *ld, const YamlNode *yaml, const YamlPair *work) {
    if (yaml_is(work->key, "steps")) return work->value;
    YamlNode *one = arena_alloc(ld->arena, sizeof *one),
             *list = arena_alloc(ld->arena, sizeof *list);
    const YamlNode **items = arena_alloc(ld->arena, sizeof *items);
    *one = *work->value;
    if (yaml_is(work->key, "subgraph")) {
        const YamlPair *input = yaml_pair(yaml, "input");
        YamlPair *pairs = arena_alloc(ld->arena, 2 * sizeof *pairs);
        pairs[0] = *work;
        if (input) pairs[1] = *input;
        *one = (YamlNode){.kind = YAML_MAP,
                          .spot = work->value->spot,
                          .pairs = pairs,
                          .n = input ? 2 : 1,
                          .weight = work->value->weight,
                          .height = yaml->height};
    }
    items[0] = one;
    *list = (YamlNode){.kind = YAML_LIST,
                       .spot = work->value->spot,
                       .items = items,
                       .n = 1,
                       .weight = one->weight,
                       .height = one->height + 1};
    return list;
}

/* Exactly one of the three. */
static const YamlPair *branch_work(Loader *ld, const YamlNode *yaml) {
    static const char *const ways[] = {"action", "steps", "subgraph"};
    const YamlPair *found = NULL;
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) {
        const YamlPair *pair = yaml_pair(yaml, ways[i]);
        found = pair ? pair : found;
        n += pair != NULL;
    }
    if (n == 1) return found;
    report_at(
        ld->reporter, yaml->spot,
        "A dynamic_parallel has exactly one of `action`, `steps` and `subgraph`; this one has "
        "%s.",
        n ? "more" : "none of them");
    return NULL;
}

/* Of the node, or of its `parallel_config`. */
static const YamlPair *branch_option(const YamlNode *yaml, const char *key) {
    const YamlNode *config = yaml_get(yaml, "parallel_config");
    const YamlPair *own = yaml_pair(yaml, key);
    return own || !config ? own : yaml_pair(config, key);
}

/* The node that the map does for each element. */
static const Node *load_branch(const NodeContext *c, const Node *node, const YamlNode *yaml,
                               const YamlPair *work) {
    static const char *const names[] = {"item", "index"};
    Loader *ld = c->ld;
    const Kind *kind = &kinds[KIND_BRANCH];
    Param *params = arena_alloc(ld->arena, kind->nparams * sizeof *params);
    Node *body = arena_alloc(ld->arena, sizeof *body);
    NodeContext inner = *c;
    Buf name = BUF_INIT;
    inner.scope = scope_with(ld, c->scope, names, 2);
    buf_printf(&name, "%s[]", node->name);
    start_node(&inner, body, yaml, arena_strndup(ld->arena, name.data, name.len));
    buf_clear(&name);
    body->index = -1;
    body->kind = kind;
    body->params = params;
    body->source = node->source;
    const YamlPair *given[] = {[BRANCH_ITEM_VAR] = yaml_pair(yaml, "item_var"),
                               [BRANCH_INDEX_VAR] = yaml_pair(yaml, "index_var"),
                               [BRANCH_FAIL_FAST] = branch_option(yaml, "fail_fast"),
                               [BRANCH_STEPS] = NULL};
    for (size_t i = 0; i < kind->nparams; i++) {
        load_param(&inner, body, &kind->params[i], given[i], &params[i]);
    }
    bool action = yaml_is(work->key, "action"), file = yaml_is(work->key, "subgraph");
    const char *unnamed = action ? "action" : file ? "subgraph" : "step";
    params[BRANCH_STEPS].value = keep(ld, yaml_json(work->value));
    params[BRANCH_STEPS].graph = load_list(&inner, branch_list(ld, yaml, work), body, unnamed);
    return body;
}

/* A map, which goes on whatever comes of its elements. */
static void load_dynamic(const NodeContext *c, Node *node, const YamlNode *yaml) {
    Loader *ld = c->ld;
    const Kind *kind = &kinds[KIND_MAP];
    Param *params = arena_alloc(ld->arena, kind->nparams * sizeof *params);
    const YamlNode *items = needed(ld, yaml, "items", "dynamic_parallel");
    const YamlNode *fan_in = needed(ld, yaml, "fan_in", "dynamic_parallel");
    const YamlPair *limit = branch_option(yaml, "max_concurrency"), *work = branch_work(ld, yaml);
    for (size_t i = 0; i < kind->nparams; i++) {
        load_param(c, node, &kind->params[i], NULL, &params[i]);
    }
    if (items) {
        params[MAP_OVER].expr = load_foreign(ld, items, FOREIGN_ITEMS, ld->agent->given);
        params[MAP_OVER].value = keep(ld, yaml_json(items));
    }
    params[MAP_LIMIT].number = BRANCHES_AT_ONCE;
    if (limit && has_jinja(limit->value)) {
        params[MAP_LIMIT].expr = load_foreign(ld, limit->value, FOREIGN_COUNT, ld->agent->given);
    } else if (limit && !yaml_is_null(limit->value)) {
        field_int(ld, limit->value, "`max_concurrency`", CONCURRENCY_MAX,
                  &params[MAP_LIMIT].number);
    }
    if (fan_in && field_text(ld, fan_in, "`fan_in` of a dynamic_parallel")) {
        find_node(ld, c->graph, fan_in, false);
    }
    if (work && yaml_is(work->key, "action") && !yaml_get(work->value, "uses")) {
        report_at(ld->reporter, work->value->spot, "`action` of a dynamic_parallel needs `uses`.");
        return;
    }
    if (!items || !work) return;
    if (yaml_is(work->key, "steps") && !expect_items(ld, work->value, "`steps` has no nodes.",
                                                     "`steps` must be a list of nodes.")) {
        return;
    }
    node->kind = kind;
    node->params = params;
    params[MAP_DO].node = load_branch(c, node, yaml, work);
    params[MAP_DO].value = params[MAP_DO].node->params[BRANCH_STEPS].value;
    node->output = keep(ld, json_string_c("parallel_results"));
}

/* A branch that is another file. Without `input` that begins with nothing. */
static void load_subgraph(const NodeContext *c, Node *node, const YamlNode *yaml,
                          const YamlPair *file) {
    load_node_as(
        c, node, yaml,
        &(NodeGiven){.kind = &kinds[KIND_WORKFLOW], .said = file, .pair = file, .params = yaml});
    Param *params = (Param *)node->params;
    if (!yaml_get(yaml, "input")) {
        params[WORKFLOW_INPUT].expr = load_value(c->ld, file->value, keep(c->ld, json_object()));
    }
}

void edge_agent_node(const NodeContext *c, Node *node, const YamlNode *yaml) {
    static const char *const run_keys[] = {"run", "script", "language", NULL};
    static const char *const uses_keys[] = {"uses", "with", "output", "output_key", NULL};
    static const char *const steps_keys[] = {"steps", NULL};
    static const char *const loop_keys[] = {"condition", "max_iterations", "body", NULL};
    static const char *const dynamic_keys[] = {
        "items", "item_var",        "index_var", "action",          "steps", "subgraph",
        "input", "max_concurrency", "fail_fast", "parallel_config", NULL};
    static const char *const subgraph_keys[] = {"subgraph", "input", NULL};
    static const char *const none[] = {NULL};
    const YamlNode *type = yaml_get(yaml, "type");
    const YamlPair *run = yaml_pair(yaml, "run"), *uses = yaml_pair(yaml, "uses");
    const YamlPair *steps = yaml_pair(yaml, "steps"), *subgraph = yaml_pair(yaml, "subgraph");
    const char *const *read = none;
    run = run && !yaml_is_null(run->value) ? run : yaml_pair(yaml, "script");
    if (type && yaml_is(type, "while_loop")) {
        read = loop_keys;
        load_while(c, node, yaml);
    } else if (type && yaml_is(type, "dynamic_parallel")) {
        read = dynamic_keys;
        load_dynamic(c, node, yaml);
    } else if (run && run->value->kind == YAML_MAP) {
        read = run_keys;
        load_run_map(c, node, yaml, run);
    } else if (run) {
        read = run_keys;
        load_code(c, node, yaml, run, yaml_get(yaml, "language"));
    } else if (uses) {
        read = uses_keys;
        load_uses(c, node, yaml, uses);
    } else if (steps) {
        read = steps_keys;
        load_steps(c, node, steps);
    } else if (subgraph && c->graph->unnamed) {
        read = subgraph_keys;
        load_subgraph(c, node, yaml, subgraph);
    } else {
        load_pass(c, node, yaml);
    }
    note_keys(c->ld, "a node", yaml, (KeyList){.names = any_node, .more = read});
    load_node_fields(c, node, yaml);
}

/* ---- edges ---- */

static void load_rule(EdgeBuild *b, Out *out, const YamlNode *rule) {
    static const char *const rule_keys[] = {"if", "to", "description", NULL};
    Loader *ld = b->c->ld;
    Draft d = {.join = NODE_END, .spot = rule->spot};
    if (!expect_map(ld, rule, "A rule of `goto` (`{if: ..., to: ...}`)")) {
        b->broken = true;
        return;
    }
    const YamlNode *to = yaml_get(rule, "to"), *condition = yaml_get(rule, "if");
    note_keys(ld, "a rule of goto", rule, (KeyList){.names = rule_keys});
    bool fine = true;
    if (condition && !yaml_is_null(condition)) {
        d.when = load_foreign(ld, condition, FOREIGN_GOTO, ld->agent->given);
        fine = d.when != NULL;
    }
    if (!to) {
        b->broken = true;
        report_at(ld->reporter, rule->spot, "A rule of `goto` needs `to`: the node to go to.");
    } else if (edges_load_targets(b, to, &d) && fine) {
        edges_add(b, out, &d);
    }
    mem_free(d.targets);
}

static void load_goto(EdgeBuild *b, size_t i, const YamlNode *value) {
    Out *out = &b->after[i];
    int target;
    if (value->kind == YAML_LIST) {
        for (size_t k = 0; k < value->n; k++) load_rule(b, out, value->items[k]);
    } else if (value->kind == YAML_MAP) {
        b->broken = true;
        report_at(b->c->ld->reporter, value->spot,
                  "`goto` is the name of a node, or a list of rules (`- {if: ..., to: ...}`).");
    } else if (field_text(b->c->ld, value, "`goto`") && edges_find_target(b, value, &target)) {
        edges_add_plain(b, out, target, value->spot);
    }
}

/* condition: EXPR or {type: expression, value: EXPR}, with `when` for what it is to be; or when: EXPR. */
static bool load_when(EdgeBuild *b, const YamlNode *edge, Draft *d) {
    Loader *ld = b->c->ld;
    const YamlNode *condition = yaml_get(edge, "condition"), *when = yaml_get(edge, "when");
    bool wanted = true;
    if (!condition && !when) return true;
    if (condition && when && !field_bool(ld, when, "`when` beside `condition`", &wanted))
        return false;
    const YamlNode *text = condition ? condition : when;
    if (text->kind == YAML_MAP) {
        const YamlNode *type = yaml_get(text, "type"), *value = yaml_get(text, "value");
        if (!condition || !type || !yaml_is(type, "expression") || !value) {
            report_at(ld->reporter, text->spot,
                      "A condition is a text, or `{type: expression, value: ...}`.");
            return false;
        }
        text = value;
    }
    d->when = load_agent_condition(ld, text, wanted);
    return d->when != NULL;
}

static bool load_branches(EdgeBuild *b, const YamlNode *edge, Draft *d) {
    Loader *ld = b->c->ld;
    const YamlNode *fan_in = yaml_get(edge, "fan_in"), *to = yaml_get(edge, "to");
    d->parallel = d->gathers = true;
    d->grows = !d->when && to && to->kind == YAML_SCALAR;
    if (!fan_in) {
        report_at(ld->reporter, edge->spot,
                  "`fan_in` is missing: the node that goes on when all parallel branches have come "
                  "to it.");
        return false;
    }
    if (!field_text(ld, fan_in, "`fan_in`") || !edges_find_target(b, fan_in, &d->join))
        return false;
    d->join_given = true;
    return true;
}

/* NULL: it has none, or one that says nothing. */
static const YamlNode *goto_of(const YamlNode *node) {
    const YamlNode *jump = yaml_get(node, "goto");
    bool empty = jump && (yaml_is_null(jump) || (jump->kind == YAML_LIST && jump->n == 0));
    return empty ? NULL : jump;
}

/* Where an edge comes from, n standing for __start__ where no node chooses there; -1 after reporting. */
static int edge_source(EdgeBuild *b, const YamlNode *edge) {
    Loader *ld = b->c->ld;
    const YamlNode *from = yaml_get(edge, "from");
    if (is_from_start(edge)) return (int)b->n - (ld->agent->chooser != NULL);
    if (!from) {
        report_at(ld->reporter, edge->spot, "An edge needs `from`.");
    } else if (from->kind != YAML_SCALAR) {
        report_at(ld->reporter, from->spot, "`from` must be the name of a node.");
    } else if (yaml_is(from, "__end__")) {
        report_at(ld->reporter, from->spot, "Nothing comes after `__end__`.");
    } else {
        return find_node(ld, b->c->graph, from, true);
    }
    return -1;
}

static void load_edge(EdgeBuild *b, const YamlNode *edge, const YamlNode *const *sources) {
    static const char *const read[] = {"from",   "to",       "when",        "condition", "type",
                                       "fan_in", "parallel", "description", "name",      NULL};
    Loader *ld = b->c->ld;
    if (!expect_map(ld, edge, "An edge (`{from: a, to: b}`)")) {
        b->broken = true;
        return;
    }
    const YamlNode *type = yaml_get(edge, "type"), *to = yaml_get(edge, "to");
    bool finish = type && yaml_is(type, "finish"), parallel = false;
    Draft d = {.join = NODE_END, .spot = edge->spot};
    note_keys(ld, "an edge", edge, (KeyList){.names = read});
    key_bool(ld, edge, "parallel", &parallel);
    parallel = parallel || (type && yaml_is(type, "parallel")) || (to && to->kind == YAML_LIST);
    int from = edge_source(b, edge);
    bool fine = from >= 0 && load_when(b, edge, &d);
    if (parallel) fine = load_branches(b, edge, &d) && fine;
    if (!to && !finish) {
        report_at(ld->reporter, edge->spot, "An edge needs `to`.");
        fine = false;
    } else if (to && !edges_load_targets(b, to, &d)) {
        fine = false;
    }
    b->broken = b->broken || !fine;
    if (from >= 0) b->dead_end[from] = false; /* it has an edge, whatever that is worth */
    bool jumps = from >= 0 && from < (int)b->n && goto_of(sources[from]);
    if (fine && jumps) {
        report_warning(ld->reporter, edge->spot,
                       "This edge is never taken: `%s` has a `goto`, which goes first.",
                       b->graph->nodes[from].name);
    } else if (fine && to) {
        edges_add(b, &b->after[from], &d);
    } else if (fine) {
        edges_add_plain(b, &b->after[from], NODE_END, edge->spot);
    }
    mem_free(d.targets);
}

/* dead_end has, meanwhile, the nodes without any edge from them. */
void edge_agent_edges(const NodeContext *c, const YamlNode *const *sources, const YamlNode *edges) {
    EdgeBuild b;
    edges_begin(&b, c);
    b.lenient = true;
    for (size_t i = 0; i < b.n; i++) {
        const YamlNode *jump = c->graph->unnamed ? NULL : goto_of(sources[i]);
        b.dead_end[i] = !jump;
        if (jump) load_goto(&b, i, jump);
    }
    if (edges && !yaml_is_null(edges) && edges->kind != YAML_LIST) {
        b.broken = true;
        report_at(c->ld->reporter, edges->spot, "The edges must be a list (`- {from: a, to: b}`).");
    }
    for (size_t i = 0; edges && edges->kind == YAML_LIST && i < edges->n; i++) {
        load_edge(&b, edges->items[i], sources);
    }
    bool chooses = !c->graph->unnamed && c->ld->agent->chooser;
    size_t listed = b.n - chooses;
    if (!b.after[b.n].n)
        edges_add_plain(&b, &b.after[b.n], chooses ? (int)listed : 0, sources[0]->spot);
    for (size_t i = 0; i < b.n; i++) {
        int next = i + 1 < listed ? (int)i + 1 : NODE_END;
        if (b.dead_end[i]) edges_add_plain(&b, &b.after[i], next, sources[i]->spot);
        b.dead_end[i] = false;
    }
    edges_end(&b, sources);
}
