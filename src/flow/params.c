/* params.c - one parameter of a node, by the type that its kind's row gives it. */
#include "loader.h"

#include "duration.h"
#include "json_parse.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

typedef struct ParamLoad {
    const NodeContext *c;
    Node *node;
    const ParamInfo *info;
    const YamlNode *value;
    Param *out;
    char what[64]; /* "`timeout`", for sentences */
} ParamLoad;

static void load_jq(ParamLoad *p) {
    p->out->expr = load_expr(p->c->ld, p->value, p->c->scope);
}

static void load_text(ParamLoad *p) {
    const char *text = field_text(p->c->ld, p->value, p->what);
    if (text) {
        json_clear(&p->out->value);
        p->out->value = json_string_valid(text, p->value->len);
    }
}

static void load_template_param(ParamLoad *p) {
    load_text(p);
    if (json_kind(p->out->value) == JSON_STRING) {
        p->out->expr = load_template(p->c->ld, p->value, p->c->scope);
    }
}

static bool is_word(const char *s) {
    if (!((*s | 32) >= 'a' && (*s | 32) <= 'z') && *s != '_') {
        return false;
    }
    return s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

static void load_name(ParamLoad *p) {
    load_text(p);
    if (json_kind(p->out->value) == JSON_STRING && !is_word(p->value->text)) {
        report_at(p->c->ld->reporter, p->value->spot,
                  "%s must be a word of letters, digits and underscores, not `%s`.", p->what,
                  shown(p->value->text, p->value->len));
    }
}

static void load_bool(ParamLoad *p) {
    bool value = false;
    field_bool(p->c->ld, p->value, p->what, &value);
    p->out->number = value;
}

static void load_int(ParamLoad *p) {
    field_int(p->c->ld, p->value, p->what, 1000000000, &p->out->number);
}

static void load_size(ParamLoad *p) {
    if (!flow_size(p->out->value, &p->out->number)) {
        report_at(p->c->ld->reporter, p->value->spot,
                  "%s must be a size in bytes such as 4096, 64K or 1M.", p->what);
    }
}

static void load_duration(ParamLoad *p) {
    field_duration(p->c->ld, p->value, p->what, &p->out->number);
}

/* Index of the value among the words; -1 when it is none. */
static int find_enum(const char *words, const YamlNode *value) {
    int i = 0;
    for (const char *w = words; *w && value->kind == YAML_SCALAR; i++) {
        size_t len = strcspn(w, " ");
        if (len == value->len && memcmp(w, value->text, len) == 0) {
            return i;
        }
        w += len + (w[len] == ' ');
    }
    return -1;
}

static void load_enum(ParamLoad *p) {
    p->out->number = find_enum(p->info->words, p->value);
    if (p->out->number < 0) {
        report_at(p->c->ld->reporter, p->value->spot, "%s must be one of: %s.", p->what,
                  p->info->words);
    }
}

static void load_words(ParamLoad *p) {
    bool fine = p->value->kind == YAML_LIST;
    Json words = json_array();
    for (size_t i = 0; fine && i < p->value->n; i++) {
        const YamlNode *word = p->value->items[i];
        fine = word->kind == YAML_SCALAR && !yaml_is_null(word);
        words =
            json_array_push(words, json_string_valid(fine ? word->text : "", fine ? word->len : 0));
    }
    if (!fine) {
        report_at(p->c->ld->reporter, p->value->spot, "%s must be a list of words.", p->what);
    }
    json_clear(&p->out->value);
    p->out->value = words;
}

static void load_jq_object(ParamLoad *p) {
    if (!expect_map(p->c->ld, p->value, p->what)) {
        return;
    }
    size_t n = p->value->n;
    struct ParamField *fields = arena_alloc(p->c->ld->arena, (n ? n : 1) * sizeof *fields);
    for (size_t i = 0; i < n; i++) {
        const YamlPair *pair = &p->value->pairs[i];
        fields[i].name = keep(p->c->ld, json_string_valid(pair->key->text, pair->key->len));
        fields[i].expr = load_expr(p->c->ld, pair->value, p->c->scope);
    }
    p->out->fields = fields;
    p->out->nfields = n;
}

static void load_workflow_param(ParamLoad *p) {
    load_text(p);
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

static void (*const loaders[])(ParamLoad *) = {
    [PARAM_JQ] = load_jq,
    [PARAM_TEMPLATE] = load_template_param,
    [PARAM_TEXT] = load_text,
    [PARAM_NAME] = load_name,
    [PARAM_BOOL] = load_bool,
    [PARAM_INT] = load_int,
    [PARAM_SIZE] = load_size,
    [PARAM_DURATION] = load_duration,
    [PARAM_ENUM] = load_enum,
    [PARAM_WORDS] = load_words,
    [PARAM_JQ_OBJECT] = load_jq_object,
    [PARAM_WORKFLOW] = load_workflow_param,
    [PARAM_NODE] = load_node_param,
    [PARAM_NODES] = load_nodes_param,
};

/* Fallbacks are of the types that need no more than this. */
static void set_fallback(const NodeContext *c, const ParamInfo *info, Param *out) {
    out->value = keep(c->ld, json_parse(info->fallback, strlen(info->fallback), NULL, NULL));
    if (info->type == PARAM_INT) {
        out->number = out->value.i;
    } else if (info->type == PARAM_SIZE) {
        flow_size(out->value, &out->number);
    } else if (info->type == PARAM_DURATION) {
        flow_duration(out->value, &out->number);
    }
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
    out->value = yaml_json(given.value);
    loaders[info->type](&load);
    out->value = keep(c->ld, out->value);
}
