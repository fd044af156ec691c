/* params.c - one parameter of a node, by the type that its kind's row gives it. What JSON a type takes
 * is in param_read.c. */
#include "loader.h"

#include "config.h"
#include "json_parse.h"
#include "kind_inputs.h"

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

/* It sees the variables of the node and those that its row names. */
static void load_jq(ParamLoad *p) {
    const char *names[PARAM_VARS_MAX];
    Scope scope = p->c->scope;
    size_t n = 0;
    for (const char *w = p->info->vars ? p->info->vars : ""; *w && n < PARAM_VARS_MAX;) {
        size_t len = strcspn(w, " ");
        names[n++] = arena_strndup(p->c->ld->arena, w, len);
        w += len + (w[len] == ' ');
    }
    scope = n ? scope_with(p->c->ld, scope, names, n) : scope;
    scope.secrets = p->info->secrets;
    p->out->expr = load_expr(p->c->ld, p->value, scope);
}

static Json text_or_value(const YamlNode *node) {
    bool text = node->kind == YAML_SCALAR && !yaml_is_null(node);
    return text ? json_string_valid(node->text, node->len) : yaml_json(node);
}

static bool is_of_test(const YamlNode *node) {
    return node->spot.file->schema != YAML_CORE;
}

/* In tests yes, no, on, off, y and n are booleans where one is wanted. */
static Json switch_or_value(const YamlNode *node) {
    bool on;
    bool means = is_of_test(node) && yaml_is_switch(node, true, &on);
    return means ? json_bool(on) : yaml_json(node);
}

/* In tests 3.0 is a whole number where one is wanted. */
static Json whole_or_value(const YamlNode *node) {
    Json value = yaml_json(node);
    if (is_of_test(node) && json_kind(value) == JSON_NUMBER) {
        json_put(&value, json_number(json_to_double(value)));
    }
    return value;
}

/* Of a list of texts. In tests null is an empty one. */
static Json word_json(const YamlNode *node) {
    bool empty = is_of_test(node) && yaml_is_null(node);
    return empty ? json_string_c("") : text_or_value(node);
}

/* An object of texts. */
static Json texts_json(const YamlNode *map) {
    Json object = json_object();
    for (size_t i = 0; i < map->n; i++) {
        const YamlNode *key = map->pairs[i].key;
        object = json_object_set(object, json_string_valid(key->text, key->len),
                                 word_json(map->pairs[i].value));
    }
    return object;
}

/* What an input of a kind from outside is given: where its schema wants a text or a boolean, and the value is none, it is
 * read as one. Recursion is bounded by the depth that yaml_parse() allows. */
static Json typed_json(Json schema, const YamlNode *node) {
    bool list = node->kind == YAML_LIST;
    Json inner = json_object_get_c(schema, list ? "items" : "properties");
    if (node->kind == YAML_SCALAR) {
        Json value = yaml_json(node);
        if (yaml_is_null(node) || schema_takes(schema, value)) return value;
        if (schema_allows(schema, "boolean")) json_put(&value, switch_or_value(node));
        if (!schema_takes(schema, value) && schema_allows(schema, "string")) {
            json_put(&value, text_or_value(node));
        }
        return value;
    }
    if (json_is_none(inner)) return yaml_json(node);
    Json whole = list ? json_array() : json_object();
    for (size_t i = 0; i < node->n; i++) {
        if (list) {
            whole = json_array_push(whole, typed_json(inner, node->items[i]));
            continue;
        }
        const YamlNode *key = node->pairs[i].key;
        Json name = json_string_valid(key->text, key->len), own = json_object_get(inner, name);
        whole = json_object_set(whole, name, typed_json(own, node->pairs[i].value));
    }
    return whole;
}

static Json item_json(const ParamInfo *info, const YamlNode *item) {
    if (item->kind != YAML_MAP) return yaml_json(item);
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

/* Recursion ends with the fields of a row, which are no lists of objects. */
Json param_json(const ParamInfo *info, const YamlNode *value) {
    switch (info->type) {
    case PARAM_TEXT:
    case PARAM_NAME:
    case PARAM_ENUM:
    case PARAM_TEMPLATE:
    case PARAM_WORKFLOW:
    case PARAM_TEST: return text_or_value(value);
    case PARAM_BOOL: return switch_or_value(value);
    case PARAM_INT:
    case PARAM_COUNT: return whole_or_value(value);
    case PARAM_WORDS:
    case PARAM_OBJECTS: break;
    case PARAM_OBJECT:
        return info->texts && value->kind == YAML_MAP && is_of_test(value) ? texts_json(value)
                                                                           : yaml_json(value);
    default: return yaml_json(value);
    }
    if (value->kind != YAML_LIST) return yaml_json(value);
    Json list = json_array();
    for (size_t i = 0; i < value->n; i++) {
        const YamlNode *item = value->items[i];
        list = json_array_push(list,
                               info->type == PARAM_WORDS ? word_json(item) : item_json(info, item));
    }
    return list;
}

/* In the text of a command or a script it means something else, or nothing. */
static void warn_of_secret(const ParamLoad *p) {
    if (p->info->type == PARAM_TEXT && p->value->kind == YAML_SCALAR &&
        strstr(p->value->text, "$secrets.")) {
        report_warning(
            p->c->ld->reporter, p->value->spot,
            "`$secrets` means nothing in a text that stands for itself. Give the secret to the work by "
            "its environment.");
    }
}

static Json value_of(const ParamLoad *p) {
    const OutsideKind *outside = p->node->kind ? p->node->kind->outside : NULL;
    if (p->info->type != PARAM_VALUE || !outside || !is_of_test(p->value)) {
        return param_json(p->info, p->value);
    }
    Json name = json_string_c(p->info->name);
    Json value = typed_json(input_schema(outside, name), p->value);
    json_unref(name);
    return value;
}

static void load_plain(ParamLoad *p) {
    Error err = ERROR_INIT;
    warn_of_secret(p);
    ParamFault where;
    Json value = value_of(p);
    json_clear(&p->out->value);
    if (!param_read_at(p->info, value, false, p->out, &where, &err)) {
        const YamlNode *wrong = p->value;
        if (where.item >= 0 && wrong->kind == YAML_LIST && (size_t)where.item < wrong->n) {
            wrong = wrong->items[where.item];
        }
        if (where.field >= 0 && wrong->kind == YAML_MAP && (size_t)where.field < wrong->n) {
            wrong = wrong->pairs[where.field].value;
        }
        report_at(p->c->ld->reporter, wrong->spot, "%s", err.msg);
    }
    json_unref(value);
}

static void load_template_param(ParamLoad *p) {
    load_plain(p);
    if (json_kind(p->out->value) == JSON_STRING) {
        Scope scope = p->c->scope;
        scope.secrets = p->info->secrets;
        p->out->expr = load_template(p->c->ld, p->value, scope);
    }
}

/* An expression, or a query, for each key. */
static void load_exprs(ParamLoad *p) {
    Loader *ld = p->c->ld;
    bool queries = p->info->type == PARAM_QUERIES;
    Scope scope = p->c->scope;
    scope.secrets = p->info->secrets;
    if (!expect_map(ld, p->value, p->what)) return;
    size_t n = p->value->n;
    struct ParamField *fields = arena_alloc(ld->arena, (n ? n : 1) * sizeof *fields);
    for (size_t i = 0; i < n; i++) {
        const YamlPair *pair = &p->value->pairs[i];
        fields[i].name = keep(ld, json_string_valid(pair->key->text, pair->key->len));
        fields[i].expr =
            queries ? load_query(ld, pair->value, p->info) : load_expr(ld, pair->value, scope);
    }
    p->out->fields = fields;
    p->out->nfields = n;
}

static void load_workflow_param(ParamLoad *p) {
    load_plain(p);
    if (json_kind(p->out->value) == JSON_STRING) {
        p->out->graph = (p->info->type == PARAM_TEST ? load_test : load_workflow)(
            p->c->ld, p->c->file, p->value->spot, p->value->text);
    }
}

static void load_node_param(ParamLoad *p) {
    Loader *ld = p->c->ld;
    const Kind *kind = p->node->kind;
    const char *names[] = {"item", "index"};
    for (size_t i = 0; i < kind->nparams; i++) {
        Json value = p->node->params[i].value;
        if (kind->params[i].type == PARAM_NAME && json_kind(value) == JSON_STRING) {
            names[0] = arena_strndup(ld->arena, json_string_data(&value), json_string_len(value));
            break;
        }
    }
    NodeContext inner = *p->c;
    inner.scope = scope_with(ld, p->c->scope, names, 2);
    size_t len = strlen(p->node->name);
    char *name = arena_alloc(ld->arena, len + 3);
    memcpy(name, p->node->name, len);
    memcpy(name + len, "[]", 3);
    if (expect_map(ld, p->value, p->what)) p->out->node = load_body_node(&inner, p->value, name);
}

static void load_nodes_param(ParamLoad *p) {
    p->out->graph = load_node_list(p->c, p->value, p->node->name);
}

/* The value is part of the node's source, which the flow keeps: thousands of tasks in tasks are not
 * to be there once more for each level. */
static void load_tasks_param(ParamLoad *p) {
    Json source = p->node->source, value = json_none();
    Json config = json_kind(source) == JSON_OBJECT ? json_object_get_c(source, "config") : source;
    if (json_kind(config) == JSON_OBJECT) value = json_object_get_c(config, p->info->name);
    value = json_is_none(value) ? keep(p->c->ld, yaml_json(p->value)) : value;
    p->out->graph = p->info->type == PARAM_TASK
                        ? load_one_task(p->c, p->value, value, p->node->name)
                        : load_task_list(p->c, p->value, value, p->node->name);
    p->out->value = json_ref(value);
}

/* How a type is loaded; the others are plain values. */
static void (*const loaders[PARAM_TYPES])(ParamLoad *) = {
    [PARAM_JQ] = load_jq,
    [PARAM_TEMPLATE] = load_template_param,
    [PARAM_JQ_OBJECT] = load_exprs,
    [PARAM_WORKFLOW] = load_workflow_param,
    [PARAM_NODE] = load_node_param,
    [PARAM_NODES] = load_nodes_param,
    [PARAM_QUERIES] = load_exprs,
    [PARAM_TASK] = load_tasks_param,
    [PARAM_TASKS] = load_tasks_param,
    [PARAM_TEST] = load_workflow_param,
};

void load_param(const NodeContext *c, Node *node, const ParamInfo *info, const YamlPair *given,
                Param *out) {
    if (!given) {
        out->line = node->line;
        out->col = node->col;
        out->number = info->type == PARAM_ENUM ? -1 : 0;
        if (info->fallback) {
            Json value = json_parse(info->fallback, strlen(info->fallback), NULL, NULL);
            if (param_read(info, value, false, out, NULL)) keep(c->ld, out->value);
            json_unref(value);
        }
        return;
    }
    const YamlNode *value = given->value;
    size_t at = value->kind == YAML_SCALAR ? yaml_place(value, 0) : value->spot.at;
    yaml_line_col(value->spot.file, at, &out->line, &out->col);
    ParamLoad load = {c, node, info, value, out, ""};
    snprintf(load.what, sizeof load.what, "`%s`", info->name);
    void (*own)(ParamLoad *) = loaders[info->type];
    if (!own) {
        load_plain(&load);
    } else {
        out->value = own == load_tasks_param ? json_none() : yaml_json(value);
        own(&load);
    }
    out->value = keep(c->ld, out->value);
}
