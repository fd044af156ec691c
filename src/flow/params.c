/* params.c - one parameter of a node, by the type that its kind's row gives it. What JSON a type takes
 * is in param_read.c. */
#include "loader.h"

#include "config.h"
#include "json_parse.h"

#include <stdio.h>
#include <string.h>

enum { PARAM_VARS_MAX = 8 };

typedef struct ParamLoad {
    const NodeContext *c;
    Node *node;
    const ParamInfo *info;
    const YamlNode *value;
    Param *out;
    char what[64]; /* "`timeout`", for sentences */
} ParamLoad;

/* The variables in scope of the parameter: those of the node and those that its row names. */
static Scope param_scope(const ParamLoad *p) {
    const char *names[PARAM_VARS_MAX];
    size_t n = 0;
    for (const char *w = p->info->vars ? p->info->vars : ""; *w && n < PARAM_VARS_MAX;) {
        size_t len = strcspn(w, " ");
        names[n++] = arena_strndup(p->c->ld->arena, w, len);
        w += len + (w[len] == ' ');
    }
    return n ? scope_with(p->c->ld, p->c->scope, names, n) : p->c->scope;
}

static void load_jq(ParamLoad *p) {
    p->out->expr = load_expr(p->c->ld, p->value, param_scope(p));
}

/* The part of the value that is wrong. */
static Spot wrong_spot(const YamlNode *value, ParamSpot where) {
    const YamlNode *item = value;
    if (where.item >= 0 && value->kind == YAML_LIST && (size_t)where.item < value->n) {
        item = value->items[where.item];
    }
    if (where.field >= 0 && item->kind == YAML_MAP && (size_t)where.field < item->n) {
        const YamlPair *pair = &item->pairs[where.field];
        return where.unknown ? pair->key->spot : pair->value->spot;
    }
    return item->spot;
}

static bool is_text_type(ParamType type) {
    return type == PARAM_TEXT || type == PARAM_NAME || type == PARAM_ENUM ||
           type == PARAM_TEMPLATE || type == PARAM_WORKFLOW || type == PARAM_TEST;
}

static Json text_or_value(const YamlNode *node) {
    bool text = node->kind == YAML_SCALAR && !yaml_is_null(node);
    return text ? json_string_valid(node->text, node->len) : yaml_json(node);
}

static Json words_json(const YamlNode *value) {
    Json words = json_array();
    for (size_t i = 0; i < value->n; i++) {
        words = json_array_push(words, text_or_value(value->items[i]));
    }
    return words;
}

static Json item_json(const ParamInfo *info, const YamlNode *item) {
    if (item->kind != YAML_MAP) {
        return yaml_json(item);
    }
    Json object = json_object();
    for (size_t i = 0; i < item->n; i++) {
        const YamlPair *pair = &item->pairs[i];
        const ParamInfo *field = NULL;
        for (size_t k = 0; k < info->nfields && !field; k++) {
            field = yaml_is(pair->key, info->fields[k].name) ? &info->fields[k] : NULL;
        }
        Json value = field ? param_json(field, pair->value) : yaml_json(pair->value);
        object = json_object_set(object, json_string_valid(pair->key->text, pair->key->len), value);
    }
    return object;
}

static Json items_json(const ParamInfo *info, const YamlNode *value) {
    Json items = json_array();
    for (size_t i = 0; i < value->n; i++) {
        items = json_array_push(items, item_json(info, value->items[i]));
    }
    return items;
}

/* Recursion ends with the fields of a row, which are no lists of objects. */
Json param_json(const ParamInfo *info, const YamlNode *value) {
    if (is_text_type(info->type)) {
        return text_or_value(value);
    }
    if (info->type == PARAM_WORDS && value->kind == YAML_LIST) {
        return words_json(value);
    }
    if (info->type == PARAM_OBJECTS && value->kind == YAML_LIST) {
        return items_json(info, value);
    }
    return yaml_json(value);
}

static void load_plain(ParamLoad *p) {
    Error err = ERROR_INIT;
    ParamSpot where;
    Json value = param_json(p->info, p->value);
    json_clear(&p->out->value);
    if (!param_read_at(p->info, value, false, p->out, &where, &err)) {
        report_at(p->c->ld->reporter, wrong_spot(p->value, where), "%s", err.msg);
    }
    json_unref(value);
}

static void load_template_param(ParamLoad *p) {
    load_plain(p);
    if (json_kind(p->out->value) == JSON_STRING) {
        p->out->expr = load_template(p->c->ld, p->value, p->c->scope);
    }
}

/* An expression, or a query, for each key. */
static void load_exprs(ParamLoad *p) {
    Loader *ld = p->c->ld;
    bool queries = p->info->type == PARAM_QUERIES;
    if (!expect_map(ld, p->value, p->what)) {
        return;
    }
    size_t n = p->value->n;
    struct ParamField *fields = arena_alloc(ld->arena, (n ? n : 1) * sizeof *fields);
    for (size_t i = 0; i < n; i++) {
        const YamlPair *pair = &p->value->pairs[i];
        fields[i].name = keep(ld, json_string_valid(pair->key->text, pair->key->len));
        fields[i].expr =
            queries ? load_query(ld, pair->value) : load_expr(ld, pair->value, p->c->scope);
    }
    p->out->fields = fields;
    p->out->nfields = n;
}

static void load_workflow_param(ParamLoad *p) {
    load_plain(p);
    if (json_kind(p->out->value) == JSON_STRING) {
        p->out->graph = load_workflow(p->c->ld, p->c->file, p->value->spot, p->value->text);
    }
}

/* The parameter of the node that names a variable. */
static const char *variable_name(Loader *ld, const Node *node) {
    for (size_t i = 0; i < node->kind->nparams; i++) {
        const Param *param = &node->params[i];
        if (node->kind->params[i].type == PARAM_NAME && json_kind(param->value) == JSON_STRING) {
            return arena_strndup(ld->arena, json_string_data(&param->value),
                                 json_string_len(param->value));
        }
    }
    return "item";
}

static void load_node_param(ParamLoad *p) {
    Loader *ld = p->c->ld;
    const char *names[] = {variable_name(ld, p->node), "index"};
    NodeContext inner = *p->c;
    inner.scope = scope_with(ld, p->c->scope, names, 2);
    size_t len = strlen(p->node->name);
    char *name = arena_alloc(ld->arena, len + 3);
    memcpy(name, p->node->name, len);
    memcpy(name + len, "[]", 3);
    if (expect_map(ld, p->value, p->what)) {
        p->out->node = load_body_node(&inner, p->value, name);
    }
}

static void load_nodes_param(ParamLoad *p) {
    p->out->graph = load_node_list(p->c, p->value, p->node->name);
}

/* The value is part of the node's source, which the flow keeps: thousands of tasks in tasks are not
 * to be there once more for each level. */
static Json part_of_source(const ParamLoad *p) {
    Json source = p->node->source, value = json_none();
    Json config = json_kind(source) == JSON_OBJECT ? json_object_get_c(source, "config") : source;
    if (json_kind(config) == JSON_OBJECT) {
        value = json_object_get_c(config, p->info->name);
    }
    return json_is_none(value) ? keep(p->c->ld, yaml_json(p->value)) : value;
}

static void load_tasks_param(ParamLoad *p) {
    Json value = part_of_source(p);
    p->out->graph = p->info->type == PARAM_TASK
                        ? load_one_task(p->c, p->value, value, p->node->name)
                        : load_task_list(p->c, p->value, value, p->node->name);
    p->out->value = json_ref(value);
}

static void (*const loaders[])(ParamLoad *) = {
    [PARAM_JQ] = load_jq,
    [PARAM_TEMPLATE] = load_template_param,
    [PARAM_TEXT] = load_plain,
    [PARAM_NAME] = load_plain,
    [PARAM_BOOL] = load_plain,
    [PARAM_INT] = load_plain,
    [PARAM_SIZE] = load_plain,
    [PARAM_DURATION] = load_plain,
    [PARAM_ENUM] = load_plain,
    [PARAM_WORDS] = load_plain,
    [PARAM_JQ_OBJECT] = load_exprs,
    [PARAM_WORKFLOW] = load_workflow_param,
    [PARAM_NODE] = load_node_param,
    [PARAM_NODES] = load_nodes_param,
    [PARAM_COUNT] = load_plain,
    [PARAM_VALUE] = load_plain,
    [PARAM_OBJECT] = load_plain,
    [PARAM_QUERIES] = load_exprs,
    [PARAM_STATUSES] = load_plain,
    [PARAM_OBJECTS] = load_plain,
    [PARAM_TASK] = load_tasks_param,
    [PARAM_TASKS] = load_tasks_param,
    [PARAM_TEST] = load_workflow_param,
};

static void set_fallback(const NodeContext *c, const ParamInfo *info, Param *out) {
    Json value = json_parse(info->fallback, strlen(info->fallback), NULL, NULL);
    if (param_read(info, value, false, out, NULL)) {
        keep(c->ld, out->value);
    }
    json_unref(value);
}

static void place_param(Param *out, const YamlNode *value) {
    size_t at = value->kind == YAML_SCALAR ? yaml_place(value, 0) : value->spot.at;
    yaml_line_col(value->spot.file, at, &out->line, &out->col);
}

void load_param(const NodeContext *c, Node *node, const ParamInfo *info, Given given, Param *out) {
    if (!given.value) {
        out->line = node->line;
        out->col = node->col;
        out->number = info->type == PARAM_ENUM ? -1 : 0;
        if (info->fallback) {
            set_fallback(c, info, out);
        }
        return;
    }
    ParamLoad load = {c, node, info, given.value, out, ""};
    snprintf(load.what, sizeof load.what, "`%s`", info->name);
    place_param(out, given.value);
    if (loaders[info->type] != load_plain && loaders[info->type] != load_tasks_param) {
        out->value = yaml_json(given.value);
    }
    loaders[info->type](&load);
    out->value = keep(c->ld, out->value);
}
