/* node.c - a node of a file: its kind, its parameters, and what every node can say. */
#include "edge_agent.h"

#include <stdio.h>
#include <string.h>

enum {
    NODE_NAME_MAX = 200,
    RETRY_ATTEMPTS = 3,
    RETRY_ATTEMPTS_MAX = 1000000,
    RETRY_DELAY_MS = 1000,
    RETRY_MAX_MS = 30000,
    RETRY_FACTOR = 2,
};

const char *const node_keys[] = {"name",      "description", "title",  "run",     "language",
                                 "uses",      "with",        "output", "timeout", "retry",
                                 "interrupt", "goto",        "fan_in", NULL};

/* What the body of a map can say: it has no name, no place in the state and no edges. */
static const char *const body_keys[] = {"description", "title",   "run",   "language", "uses",
                                        "with",        "timeout", "retry", NULL};

const char *const retry_keys[] = {"attempts", "delay", "factor", "max", "if", NULL};

/* ---- which kind ---- */

/* The languages of `run`: kinds by the same name, the first unless told. */
static const char *const languages[] = {"python", "javascript", "lua", "jq", "shell", NULL};

/* Where a node says its kind, and where its parameters are. */
typedef struct Choice {
    const Kind *kind;
    const YamlPair *pair;   /* whose value is the first parameter; NULL: none */
    const YamlNode *params; /* a map of parameters; NULL: none */
    const YamlPair *said;   /* the key that said the kind */
    bool beside;            /* parameters may stand beside it */
} Choice;

/* An object is a map of parameters unless it can be the first parameter itself. */
static void choose_key(Choice *choice, const YamlPair *pair, const Kind *kind) {
    bool params =
        pair->value->kind == YAML_MAP && (kind->params[0].type != PARAM_JQ || kind->nparams > 1);
    *choice = (Choice){.kind = kind, .said = pair, .beside = true};
    choice->params = params ? pair->value : NULL;
    choice->pair = params ? NULL : pair;
}

static void choose_run(Loader *ld, Choice *choice, const YamlNode *node, const YamlPair *pair) {
    const YamlNode *language = yaml_get(node, "language");
    choice->said = pair;
    if (!language) {
        choose_key(choice, pair, kind_find(DIALECT_GRAPH, languages[0]));
    } else if (language->kind != YAML_SCALAR) {
        report_at(ld->reporter, language->spot, "`language` must be a text.");
    } else if (has_name(languages, language->text, language->len)) {
        choose_key(choice, pair, kind_find(DIALECT_GRAPH, language->text));
    } else {
        report_at(ld->reporter, language->spot,
                  "There is no language `%s`; the languages are python, javascript, lua, jq and "
                  "shell%s",
                  shown(language->text, language->len),
                  did_you_mean(language->text, language->len, languages));
    }
}

static void choose_uses(const NodeContext *c, Choice *choice, const YamlNode *node,
                        const YamlPair *pair) {
    Loader *ld = c->ld;
    const YamlNode *with = yaml_get(node, "with");
    const char *name = field_text(ld, pair->value, "`uses`");
    bool found = false;
    const Kind *kind = name ? find_kind(c, DIALECT_GRAPH, pair->value, &found) : NULL;
    *choice = (Choice){.kind = kind, .said = pair};
    if (name && !found) {
        report_at(ld->reporter, pair->value->spot, "There is no kind `%s`; the kinds are %s%s",
                  shown(name, pair->value->len), kind_list(DIALECT_GRAPH),
                  nearest_of_all(c, DIALECT_GRAPH, pair->value));
    }
    if (with && expect_map(ld, with, "`with`")) choice->params = with;
}

/* The key of a kind from outside, whose value has the inputs. */
static void choose_outside(const NodeContext *c, Choice *choice, const YamlNode *node,
                           const char *const *general) {
    for (size_t i = 0; i < node->n && !choice->said; i++) {
        const YamlPair *pair = &node->pairs[i];
        bool found = false;
        if (has_name(general, pair->key->text, pair->key->len)) continue;
        const Kind *kind = find_kind(c, DIALECT_GRAPH, pair->key, &found);
        if (!found) continue;
        *choice = (Choice){.kind = kind, .said = pair};
        bool given = kind && !yaml_is_null(pair->value);
        if (given && expect_map(c->ld, pair->value, "What a kind from outside is given")) {
            choice->params = pair->value;
        }
    }
}

static Choice find_choice(const NodeContext *c, const YamlNode *node, const char *const *general) {
    Choice choice = {0};
    Loader *ld = c->ld;
    for (size_t i = 0; i < node->n; i++) {
        const YamlPair *pair = &node->pairs[i];
        bool run = yaml_is(pair->key, "run"), uses = yaml_is(pair->key, "uses");
        const Kind *kind = kind_find(DIALECT_GRAPH, pair->key->text);
        bool named = kind && yaml_is(pair->key, kind->name); /* not a name with a NUL behind it */
        if (!named && !run && !uses) continue;
        if (choice.said && yaml_is(pair->key, choice.said->key->text)) {
            continue; /* a repeated key, which was reported */
        }
        if (choice.said) {
            report_at(ld->reporter, pair->key->spot,
                      "A node does one thing, but this one has `%s` and `%s`; make it two nodes.",
                      choice.said->key->text, pair->key->text);
            break;
        }
        if (run) {
            choose_run(ld, &choice, node, pair);
        } else if (uses) {
            choose_uses(c, &choice, node, pair);
        } else {
            choose_key(&choice, pair, kind);
        }
    }
    if (!choice.said) choose_outside(c, &choice, node, general);
    if (choice.kind) choice.kind = kind_with_more(ld, choice.kind, choice.params, NULL);
    return choice;
}

/* ---- which keys ---- */

/* Every key of a node without a known kind that no kind has. */
static void check_unknown_kind(const NodeContext *c, const YamlNode *node,
                               const char *const *general) {
    Loader *ld = c->ld;
    const char *known[KEYS_MAX];
    size_t n = add_keys(known, 0, (KeyList){.names = general, .kinds = true}), unknown = 0;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (is_shown(&kinds[i], DIALECT_GRAPH)) {
            n = add_keys(known, n,
                         (KeyList){.params = kinds[i].params, .nparams = kinds[i].nparams});
        }
    }
    for (size_t i = 0; i < node->n; i++) {
        const YamlNode *key = node->pairs[i].key;
        if (!has_name(known, key->text, key->len)) {
            report_at(ld->reporter, key->spot, "There is no kind of node `%s`; the kinds are %s%s",
                      shown(key->text, key->len), kind_list(DIALECT_GRAPH),
                      nearest_of_all(c, DIALECT_GRAPH, key));
            unknown++;
        }
    }
    if (!unknown) {
        report_at(ld->reporter, node->spot,
                  "This node does not say what it does; give it a key that is one of the kinds %s.",
                  kind_list(DIALECT_GRAPH));
    }
}

/* `language` goes with run, `with` with uses. */
static void check_companion(Loader *ld, const YamlNode *node, const char *key, const char *main) {
    const YamlPair *pair = yaml_pair(node, key);
    if (pair && !yaml_get(node, main)) {
        report_at(ld->reporter, pair->key->spot, "`%s` goes with `%s`, which is not here.", key,
                  main);
    }
}

/* The keys that a node has and the body of a map has not; each is said to be so, and is no other mistake. */
static void check_body_keys(Loader *ld, const YamlNode *node, const Kind *kind) {
    const char *own[KEYS_MAX];
    add_keys(own, 0, (KeyList){.params = kind->params, .nparams = kind->nparams});
    for (size_t i = 0; i < node->n; i++) {
        const YamlNode *key = node->pairs[i].key;
        if (has_name(node_keys, key->text, key->len) && !has_name(body_keys, key->text, key->len) &&
            !has_name(own, key->text, key->len)) {
            report_at(ld->reporter, key->spot, "`%s` cannot be said in the body of a map%s.",
                      shown(key->text, key->len),
                      yaml_is(key, "output")
                          ? ": each result goes into the array that the map gives, "
                            "whose `output` says where that goes"
                          : "; say it for the map");
        }
    }
}

static void check_node_keys(const NodeContext *c, const YamlNode *node, const Choice *choice,
                            const char *const *general) {
    Loader *ld = c->ld;
    const Kind *kind = choice->kind;
    check_companion(ld, node, "language", "run");
    check_companion(ld, node, "with", "uses");
    if (!choice->said) check_unknown_kind(c, node, general);
    if (!kind) return;
    char where[160];
    ParamInfo own = {.name = choice->said->key->text};
    snprintf(where, sizeof where, "%s %s node", article(kind), kind->name);
    KeyList params = {.params = kind->params, .nparams = kind->nparams};
    KeyList beside = choice->beside ? params : (KeyList){0};
    beside.names = general;
    if (general == body_keys) {
        check_body_keys(ld, node, kind);
        beside.more = node_keys;
    }
    if (kind->outside) { /* its own key */
        beside.params = &own;
        beside.nparams = 1;
    }
    beside.kinds = true; /* a second kind has been reported */
    check_keys(ld, node, beside, where);
    if (choice->params) check_keys(ld, choice->params, params, where);
}

/* ---- parameters ---- */

static const YamlPair *find_param(const YamlNode *map, const ParamInfo *info) {
    const YamlPair *pair = map ? yaml_pair(map, info->name) : NULL;
    return pair || !map || !info->alias ? pair : yaml_pair(map, info->alias);
}

/* What was given for each parameter, in the order of the kind's row. */
static const YamlPair **load_params(const NodeContext *c, Node *node, const YamlNode *yaml,
                                    const Choice *choice) {
    const Kind *kind = choice->kind;
    Reporter *reporter = c->ld->reporter;
    Param *params = arena_alloc(c->ld->arena, (kind->nparams + 1) * sizeof *params);
    const YamlPair **givens = arena_alloc(c->ld->arena, (kind->nparams + 1) * sizeof *givens);
    node->kind = kind;
    node->params = params;
    for (size_t i = 0; i < kind->nparams; i++) {
        const ParamInfo *info = &kind->params[i];
        const YamlPair *pair =
            i == 0 && choice->pair ? choice->pair : find_param(choice->params, info);
        const YamlPair *beside = choice->beside ? find_param(yaml, info) : NULL;
        if (pair && beside && beside != pair && beside != choice->said) {
            report_at(reporter, beside->key->spot, "`%s` is given twice.", info->name);
        } else if (!pair && beside != choice->said) {
            pair = beside;
        }
        givens[i] = pair;
        if (!pair && info->required) {
            report_at(reporter, choice->said->key->spot,
                      "`%s` is missing, which %s %s node needs: %s.", info->name, article(kind),
                      kind->name, info->help);
        }
        load_param(c, node, info, pair, &params[i]);
        check_input(c, node, i, pair);
    }
    return givens;
}

/* ---- parameters that go together ---- */

typedef struct KindCheck {
    Loader *ld;
    const Node *node;
    const Choice *choice;
    const YamlPair *const *given;
} KindCheck;

static const char *param_name(const KindCheck *k, int i) {
    return k->choice->kind->params[i].name;
}

static void check_script(const KindCheck *k) {
    const YamlPair *code = k->given[PYTHON_CODE], *file = k->given[PYTHON_FILE];
    const YamlPair *function = k->given[PYTHON_FUNCTION];
    if (code && file) {
        report_at(k->ld->reporter, file->key->spot,
                  "There is both code and a `file` here; a node runs one of them.");
    } else if (!code && !file) {
        report_at(k->ld->reporter, k->choice->said->key->spot,
                  "A %s node needs code (`%s`), or a `file` with a function for it.",
                  k->choice->kind->name, param_name(k, PYTHON_CODE));
    }
    if (function && !file) {
        report_at(k->ld->reporter, function->key->spot,
                  "`function` goes with `file`, which is not here.");
    }
}

/* Parameters that do nothing without another. */
static const struct {
    int param, needs;
} action_companions[] = {
    {ACTION_ENV, ACTION_COMMAND},      {ACTION_FORMAT, ACTION_MODEL},
    {ACTION_KEY_ENV, ACTION_MODEL},    {ACTION_STREAM, ACTION_MODEL},
    {ACTION_MAX_TOKENS, ACTION_MODEL},
};

static void check_action(const KindCheck *k) {
    Reporter *reporter = k->ld->reporter;
    const YamlPair *command = k->given[ACTION_COMMAND], *mode = k->given[ACTION_MODE];
    const YamlPair *model = k->given[ACTION_MODEL], *endpoint = k->given[ACTION_ENDPOINT];
    if (command && model) {
        report_at(reporter, model->key->spot,
                  "There is both a `command` and a `model` here; an action asks one of them.");
    }
    if (mode && yaml_is(mode->value, "autonomous") && !command && !model) {
        report_at(reporter, mode->value->spot,
                  "Nobody answers this without a person: give it a `command`, or a `model` with "
                  "its `endpoint`.");
    }
    if (endpoint) check_url(k->ld, endpoint->value);
    if (model && !endpoint) {
        report_at(reporter, model->key->spot,
                  "`model` needs an `endpoint`: the URL of the API that has the model.");
    } else if (endpoint && !model) {
        report_at(reporter, endpoint->key->spot,
                  "`endpoint` needs a `model`: the name of the one to ask.");
    }
    for (size_t i = 0; i < sizeof action_companions / sizeof *action_companions; i++) {
        int param = action_companions[i].param, needs = action_companions[i].needs;
        if (k->given[param] && !k->given[needs]) {
            report_warning(reporter, k->given[param]->key->spot,
                           "`%s` does nothing without `%s`, which is not here.",
                           param_name(k, param), param_name(k, needs));
        }
    }
}

static void check_http(const KindCheck *k) {
    if (k->given[HTTP_URL]) check_url(k->ld, k->given[HTTP_URL]->value);
}

static void (*const kind_checks[KIND_COUNT])(const KindCheck *) = {
    [KIND_HTTP] = check_http,
    [KIND_PYTHON] = check_script,
    [KIND_JAVASCRIPT] = check_script,
    [KIND_ACTION] = check_action,
};

/* ---- what every node can say ---- */

void note_interrupt(Loader *ld, Spot spot, const char *key, const char *what) {
    FlowImpl *flow = ld->flow;
    flow->flow.has_interrupts = true;
    if (!flow->first_interrupt.file) {
        Buf text = BUF_INIT;
        buf_printf(&text, "%s: %s", key, what);
        flow->first_interrupt = spot;
        flow->first_interrupt_text = arena_strndup(ld->arena, text.data, text.len);
        buf_clear(&text);
    }
}

static void load_attempts(const NodeContext *c, Node *node, const YamlNode *value) {
    int64_t attempts = 1;
    field_int(c->ld, value, "`attempts`", RETRY_ATTEMPTS_MAX, &attempts);
    node->retry.attempts = (int)attempts;
}

static void load_retry(const NodeContext *c, Node *node, const YamlNode *value) {
    RetryPolicy *retry = &node->retry;
    *retry = (RetryPolicy){RETRY_ATTEMPTS, RETRY_DELAY_MS, RETRY_MAX_MS, RETRY_FACTOR, NULL};
    if (value->kind == YAML_SCALAR) {
        load_attempts(c, node, value);
        return;
    }
    if (!expect_map(c->ld, value, "`retry`")) return;
    check_keys(c->ld, value, (KeyList){.names = retry_keys}, "`retry`");
    const YamlNode *attempts = yaml_get(value, "attempts"), *factor = yaml_get(value, "factor");
    const YamlNode *when = yaml_get(value, "if");
    if (attempts) load_attempts(c, node, attempts);
    /* The longest pause is at least the first, unless the file says how long it is. */
    key_duration(c->ld, value, "delay", &retry->delay_ms);
    retry->max_ms = retry->max_ms < retry->delay_ms ? retry->delay_ms : retry->max_ms;
    key_duration(c->ld, value, "max", &retry->max_ms);
    if (factor) {
        Json number = yaml_json(factor);
        double times = json_kind(number) == JSON_NUMBER ? json_to_double(number) : 0;
        if (times >= 1 && times <= 1000) {
            retry->factor = times;
        } else {
            report_at(c->ld->reporter, factor->spot, "`factor` must be a number from 1 to 1000.");
        }
        json_unref(number);
    }
    if (when) retry->when = load_expr(c->ld, when, c->scope);
}

static void load_interrupts(const NodeContext *c, Node *node, const YamlNode *words) {
    static const char *const known[] = {"before", "after", NULL};
    const YamlNode *word;
    for (size_t at = 0; (word = next_name(c->ld, words, "`interrupt`", &at));) {
        if (has_name(known, word->text, word->len)) {
            *(yaml_is(word, "before") ? &node->interrupt_before : &node->interrupt_after) = true;
            note_interrupt(c->ld, word->spot, "interrupt", word->text);
        } else {
            report_at(c->ld->reporter, word->spot,
                      "`interrupt` must be before or after, not `%s`%s",
                      shown(word->text, word->len), did_you_mean(word->text, word->len, known));
        }
    }
}

/* The body of a map has no output and no interrupts. */
static void load_fields(const NodeContext *c, Node *node, const YamlNode *yaml, bool body) {
    const YamlNode *retry = yaml_get(yaml, "retry"), *title = yaml_get(yaml, "title");
    const YamlNode *description = yaml_get(yaml, "description");
    const YamlNode *interrupt = body ? NULL : yaml_get(yaml, "interrupt");
    const YamlNode *output = body ? NULL : yaml_get(yaml, "output");
    if (output && field_text(c->ld, output, "`output`")) {
        node->output = keep(c->ld, json_string_valid(output->text, output->len));
    }
    key_duration(c->ld, yaml, "timeout", &node->timeout_ms);
    if (retry) load_retry(c, node, retry);
    if (interrupt) load_interrupts(c, node, interrupt);
    if (description) field_text(c->ld, description, "A description");
    if (title) field_text(c->ld, title, "A description");
}

/* ---- whole nodes ---- */

static int last_line(const YamlNode *yaml) {
    const YamlNode *node = yaml;
    int line, col;
    while (node->kind != YAML_SCALAR && node->n > 0) {
        node = node->kind == YAML_LIST ? node->items[node->n - 1] : node->pairs[node->n - 1].value;
    }
    size_t end = node->spot.end;
    bool elsewhere = end < yaml->spot.at || end > yaml->spot.end;
    const char *text = yaml->spot.file->text;
    end = elsewhere ? yaml->spot.end : end;
    while (end > yaml->spot.at && (text[end - 1] == '\n' || text[end - 1] == ' ')) end--;
    yaml_line_col(yaml->spot.file, end, &line, &col);
    return line;
}

void start_node(const NodeContext *c, Node *node, const YamlNode *yaml, const char *name) {
    Flow *flow = &c->ld->flow->flow;
    node->id = flow->first_node + (uint32_t)flow->nnodes++;
    node->name = name;
    node->name_json = keep(c->ld, json_string_c(name));
    node->graph = &c->graph->graph;
    node->retry.attempts = 1;
    node->vars = c->scope.vars;
    node->nvars = c->scope.nvars;
    node->file = yaml->spot.file->path;
    yaml_line_col(yaml->spot.file, yaml->spot.at, &node->line, &node->col);
    node->end_line = last_line(yaml);
}

void load_node_as(const NodeContext *c, Node *node, const YamlNode *yaml, const NodeGiven *given) {
    Choice choice = {
        .kind = given->kind, .pair = given->pair, .params = given->params, .said = given->said};
    const YamlPair *const *pairs = load_params(c, node, yaml, &choice);
    if (kind_checks[choice.kind->id]) {
        kind_checks[choice.kind->id](&(KindCheck){c->ld, node, &choice, pairs});
    }
}

void load_node_fields(const NodeContext *c, Node *node, const YamlNode *yaml) {
    const YamlNode *interrupt = yaml_get(yaml, "interrupt");
    load_fields(c, node, yaml, true);
    if (interrupt) load_interrupts(c, node, interrupt);
}

/* Everything but the name and the edges. */
static void load_node(const NodeContext *c, Node *node, const YamlNode *yaml,
                      const char *const *general) {
    if (c->ld->depth >= FLOW_DEPTH_MAX) {
        report_at(c->ld->reporter, yaml->spot,
                  "Nodes in nodes and workflows in workflows are nested more than %d levels deep.",
                  FLOW_DEPTH_MAX);
        return;
    }
    c->ld->depth++;
    node->source = keep(c->ld, yaml_json(yaml));
    if (c->ld->agent) {
        edge_agent_node(c, node, yaml);
        c->ld->depth--;
        return;
    }
    Choice choice = find_choice(c, yaml, general);
    check_node_keys(c, yaml, &choice, general);
    if (choice.kind) {
        const YamlPair *const *given = load_params(c, node, yaml, &choice);
        if (kind_checks[choice.kind->id]) {
            kind_checks[choice.kind->id](&(KindCheck){c->ld, node, &choice, given});
        }
    }
    load_fields(c, node, yaml, general == body_keys);
    if (choice.kind && node_body(node) && json_is_none(node->output)) {
        node->output = node->name_json;
    }
    c->ld->depth--;
}

const Node *load_body_node(const NodeContext *c, const YamlNode *yaml, const char *name) {
    Node *node = arena_alloc(c->ld->arena, sizeof *node);
    start_node(c, node, yaml, name);
    node->index = -1;
    load_node(c, node, yaml, body_keys);
    if (!json_is_none(node->output)) {
        node->output = json_none(); /* of a map in a map: it goes into the array */
    }
    return node;
}

/* Whether a scalar can be the name of a node; reported when it cannot. what: "The name of a node". */
static bool check_node_name(Loader *ld, const YamlNode *name, const char *what) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    if (yaml_is(name, "__start__") || yaml_is(name, "__end__")) {
        report_at(ld->reporter, name->spot,
                  "`%s` is where every graph starts or ends; give this node another name.",
                  name->text);
        return false;
    }
    if (name->len == 0 || name->len > NODE_NAME_MAX || name->text[strspn(name->text, allowed)]) {
        report_at(ld->reporter, name->spot,
                  "%s is made of letters, digits, `_`, `.` and `-`, up to %d of them; `%s` is not.",
                  what, NODE_NAME_MAX, shown(name->text, name->len));
        return false;
    }
    return true;
}

const char *given_id(NameGiver *names, const YamlNode *map) {
    Loader *ld = names->ld;
    const YamlNode *id = yaml_get(map, "id");
    char what[32];
    int line, col;
    snprintf(what, sizeof what, "The id of a %s", names->what);
    if (!key_text(ld, map, "id") || !check_node_name(ld, id, what)) return NULL;
    Json first = json_object_get_c(names->taken, id->text);
    if (!json_is_none(first)) {
        report_at(ld->reporter, id->spot,
                  "There is another %s with the id `%s`, in line %d; ids must be unique in their "
                  "list.",
                  names->what, id->text, (int)first.i);
        return NULL;
    }
    yaml_line_col(map->spot.file, map->spot.at, &line, &col);
    names->taken = json_object_with(names->taken, id->text, json_int(line));
    return id->text;
}

const char *free_name(NameGiver *names, const char *base) {
    Buf name = BUF_INIT;
    Json count = json_object_get_c(names->counts, base);
    int64_t n = json_is_none(count) ? 1 : count.i;
    do {
        buf_reset(&name);
        buf_adds(&name, base);
        if (n > 1) buf_printf(&name, "-%lld", (long long)n);
        n++;
    } while (!json_is_none(json_object_get_c(names->taken, name.data)));
    names->counts = json_object_with(names->counts, base, json_int(n));
    names->taken = json_object_with(names->taken, name.data, json_null());
    const char *kept = arena_strndup(names->ld->arena, name.data, name.len);
    buf_clear(&name);
    return kept;
}

void names_clear(NameGiver *names) {
    json_unref(names->taken);
    json_unref(names->counts);
}

/* Nodes without a usable name are read for their problems and left out. */
static size_t name_nodes(const NodeContext *c, const YamlNode *list, const YamlNode **sources) {
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        const YamlNode *yaml = list->items[i];
        if (!expect_map(c->ld, yaml, "A node")) continue;
        const YamlNode *name = yaml_get(yaml, "name");
        if (!name && c->graph->unnamed) {
            char made[32];
            int len = snprintf(made, sizeof made, "%s_%zu", c->graph->unnamed, n);
            Node *node = &c->graph->graph.nodes[n];
            start_node(c, node, yaml, arena_strndup(c->ld->arena, made, (size_t)len));
            node->index = (int)n;
            sources[n++] = yaml;
            continue;
        }
        if (!name) report_at(c->ld->reporter, yaml->spot, "A node needs a name: `name: build`.");
        if (!name || !field_text(c->ld, name, "`name`") ||
            !check_node_name(c->ld, name, "The name of a node")) {
            Node unnamed = {0};
            start_node(c, &unnamed, yaml, "?");
            load_node(c, &unnamed, yaml, node_keys);
            continue;
        }
        Node *node = &c->graph->graph.nodes[n];
        start_node(c, node, yaml, name->text);
        node->index = (int)n;
        sources[n++] = yaml;
    }
    const YamlNode *chooser = c->ld->agent && !c->graph->unnamed ? c->ld->agent->chooser : NULL;
    if (chooser) {
        Node *node = &c->graph->graph.nodes[n];
        start_node(c, node, chooser, EDGE_AGENT_CHOOSER);
        node->index = (int)n;
        sources[n++] = chooser;
    }
    return n;
}

/* The rounds of a loop come on top of what a graph may take: as many as the loop may have, each with as many
 * steps as its list has nodes and the loops among them may take. */
static void allow_rounds(Graph *graph) {
    int64_t base = graph->recursion_limit;
    for (size_t i = 0; i < graph->nnodes; i++) {
        const Node *node = &graph->nodes[i];
        while (node->kind && node_body(node)) node = node_body(node);
        const Graph *round =
            node->kind && node->kind->id == KIND_WHILE ? node->params[WHILE_DO].graph : NULL;
        if (!round) continue;
        int64_t steps = (int64_t)round->nnodes;
        if (__builtin_add_overflow(steps, round->recursion_limit - base, &steps) ||
            __builtin_mul_overflow(steps, node->params[WHILE_MAX].number, &steps) ||
            __builtin_add_overflow(steps, graph->recursion_limit, &graph->recursion_limit)) {
            graph->recursion_limit = INT64_MAX;
        }
    }
}

bool load_nodes(const NodeContext *c, const YamlNode *list, const YamlNode ***sources) {
    Graph *graph = &c->graph->graph;
    if (!expect_items(c->ld, list, "There are no nodes; a workflow has at least one.",
                      "The nodes must be a list (`- name: ...`).")) {
        return false;
    }
    size_t most = list->n + 1; /* and one that chooses where it begins */
    graph->nodes = arena_alloc(c->ld->arena, most * sizeof *graph->nodes);
    *sources = arena_alloc(c->ld->arena, most * sizeof **sources);
    graph->nnodes = name_nodes(c, list, *sources);
    name_table_fill(&c->graph->nodes, c->ld->arena, &graph->nodes[0].name_json,
                    sizeof *graph->nodes, graph->nnodes);
    for (size_t i = 0; i < graph->nnodes; i++) {
        Node *node = &graph->nodes[i];
        int first = name_table_find(&c->graph->nodes, node->name_json);
        if (first != (int)i) {
            const YamlNode *name = yaml_get((*sources)[i], "name");
            report_at(c->ld->reporter, (name ? name : (*sources)[i])->spot,
                      "There is another node `%s`, in line %d; names must be unique.", node->name,
                      graph->nodes[first].line);
        }
        load_node(c, node, (*sources)[i], node_keys);
    }
    allow_rounds(graph);
    return graph->nnodes > 0;
}

const Graph *load_node_list(const NodeContext *c, const YamlNode *list, const char *name) {
    GraphImpl *g = new_graph(c->ld, name, list->spot);
    const Graph *outer = &c->graph->graph;
    NodeContext inner = *c;
    const YamlNode **sources;
    g->keys = c->graph->keys;
    g->graph.keys = outer->keys;
    g->graph.nkeys = outer->nkeys;
    g->graph.recursion_limit = outer->recursion_limit;
    g->unnamed = c->ld->unnamed;
    c->ld->unnamed = NULL;
    inner.graph = g;
    if (load_nodes(&inner, list, &sources)) {
        (c->ld->agent ? edge_agent_edges : load_edges)(&inner, sources, NULL);
    }
    return &g->graph;
}
