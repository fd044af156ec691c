/* inspect_node.c - nodes of a workflow and its text, for people. See inspect.h. */
#include "inspect.h"

#include "json_build.h"
#include "placeholder.h"
#include "suggest.h"

#include <stdlib.h>

enum { AROUND = 5, AROUND_MAX = 1000 };

static Json with_text(Json o, const char *key, const char *text) {
    return json_object_with(o, key, json_string_c(text));
}

static Json with_int(Json o, const char *key, int64_t n) {
    return json_object_with(o, key, json_int(n));
}

static Json with_seconds(Json o, const char *key, int64_t ms) {
    return json_object_with(o, key, json_number((double)ms / 1000));
}

/* Borrowed; JSON_NONE when it is no object, or has no such key. */
static Json field(Json o, const char *key) {
    return json_kind(o) == JSON_OBJECT ? json_object_get_c(o, key) : json_none();
}

/* ---- where a parameter stands in the node as written ---- */

static Json path_to(const char *folder, const char *name) {
    Json path = folder ? json_array_push(json_array(), json_string_c(folder)) : json_array();
    return json_array_push(path, json_string_c(name));
}

/* Under its name or its other one in a map of the node (NULL: the node itself). */
static Json path_in(Json source, const char *folder, const ParamInfo *info) {
    Json map = folder ? field(source, folder) : source;
    const char *names[] = {info->name, info->alias};
    for (size_t i = 0; i < 2; i++) {
        if (names[i] && !json_is_none(field(map, names[i]))) {
            return path_to(folder, names[i]);
        }
    }
    return json_none();
}

/* The key that says the kind: its name, or `run`; NULL when `uses` does. */
static const char *kind_key(const Node *node) {
    return !json_is_none(field(node->source, node->kind->name)) ? node->kind->name
           : !json_is_none(field(node->source, "run"))          ? "run"
                                                                : NULL;
}

/* Whether that key holds a map of parameters and not the first of them (kind.h). */
static bool holds_params(const Kind *kind, Json value) {
    return json_kind(value) == JSON_OBJECT &&
           (kind->params[0].type != PARAM_JQ || kind->nparams > 1);
}

static Json graph_param_path(const Node *node, size_t i) {
    const ParamInfo *info = &node->kind->params[i];
    const char *key = kind_key(node);
    bool inside = key && holds_params(node->kind, field(node->source, key));
    if (i == 0 && key && !inside) {
        return path_to(NULL, key);
    }
    Json path = inside ? path_in(node->source, key, info) : path_in(node->source, "with", info);
    return json_is_none(path) ? path_in(node->source, NULL, info) : path;
}

/* Given; JSON_NONE when nothing is written for it. */
static Json param_path(const Node *node, size_t i) {
    return node->kind->dialect == DIALECT_GRAPH
               ? graph_param_path(node, i)
               : path_in(node->source, "config", &node->kind->params[i]);
}

/* ---- expressions ---- */

typedef struct Expressions {
    const Node *node;
    Json list;
} Expressions;

/* Consumes path and text. */
static void add_text(Expressions *e, Json path, Json text, int line, int col) {
    Json o = json_object_with(json_object_with(json_object(), "path", path), "text", text);
    if (line > 0) {
        o = with_int(with_int(o, "line", line), "column", col);
    }
    e->list = json_array_push(e->list, o);
}

/* Consumes path. */
static void add_expr(Expressions *e, Json path, const Expr *expr) {
    if (expr && !json_is_none(path)) {
        add_text(e, path, json_string_c(expr->text), expr->line, expr->col);
    } else {
        json_unref(path);
    }
}

/* What is no text in the file stands for itself. */
static void add_jq(Expressions *e, size_t i) {
    const Param *param = &e->node->params[i];
    if (json_kind(param->value) == JSON_STRING) {
        add_expr(e, param_path(e->node, i), param->expr);
    }
}

static void add_template(Expressions *e, size_t i) {
    const Param *param = &e->node->params[i];
    if (param->expr && strstr(param->expr->text, "\\(")) {
        add_expr(e, param_path(e->node, i), param->expr);
    }
}

static void add_fields(Expressions *e, size_t i) {
    const Param *param = &e->node->params[i];
    Json path = param_path(e->node, i);
    for (size_t k = 0; !json_is_none(path) && k < param->nfields; k++) {
        add_expr(e, json_array_push(json_ref(path), json_ref(param->fields[k].name)),
                 param->fields[k].expr);
    }
    json_unref(path);
}

/* Of a list of objects (assertions) the queries, which are compiled when the node does its work. */
static void add_objects(Expressions *e, size_t i) {
    const Param *param = &e->node->params[i];
    Json path = param_path(e->node, i);
    for (size_t k = 0; !json_is_none(path) && k < json_array_len(param->value); k++) {
        Json query = field(json_array_get(param->value, k), "query");
        if (json_kind(query) == JSON_STRING) {
            Json at = json_array_push(json_ref(path), json_int((int64_t)k));
            at = json_array_push(at, json_string_c("query"));
            add_text(e, at, json_ref(query), param->line, param->col);
        }
    }
    json_unref(path);
}

static void (*const adders[PARAM_TEST + 1])(Expressions *e, size_t i) = {
    [PARAM_JQ] = add_jq,          [PARAM_TEMPLATE] = add_template, [PARAM_JQ_OBJECT] = add_fields,
    [PARAM_QUERIES] = add_fields, [PARAM_OBJECTS] = add_objects,
};

/* ---- placeholders of tasks ---- */

/* A text with placeholders, or a value that holds some. */
typedef struct Holder {
    Expressions *e;
    Json path;     /* of the value in the node */
    int line, col; /* of the value, for names */
} Holder;

static const Expr *query_of(const Task *task, Json text) {
    for (size_t i = 0; i < task->nplaceholders; i++) {
        if (json_string_equal(task->placeholders[i].text, text)) {
            return task->placeholders[i].query;
        }
    }
    return NULL;
}

/* Consumes path. */
static void add_piece(const Holder *h, Json path, const char *text, const TextPart *piece) {
    Json inside = json_string_valid(text + piece->from, piece->to - piece->from);
    const Expr *query = piece->kind == PART_QUERY ? query_of(h->e->node->task, inside) : NULL;
    add_text(h->e, path, inside, query ? query->line : h->line, query ? query->col : h->col);
}

static Json joined(Json path, Json rest) {
    return json_array_concat(json_ref(path), rest);
}

static bool add_pieces(void *ctx, const InspectWalk *walk, Json step, Json value) {
    const Holder *h = ctx;
    if (json_kind(value) != JSON_STRING) {
        return true;
    }
    const char *text = json_string_data(&value);
    size_t len = json_string_len(value);
    TextPart part;
    for (size_t at = 0; next_part(text, len, &at, &part);) {
        if (part.kind == PART_NAME || part.kind == PART_QUERY) {
            add_piece(h, joined(h->path, inspect_walk_path(walk, step)), text, &part);
        }
    }
    return true;
}

static void add_open(Expressions *e, size_t i) {
    const Param *param = &e->node->params[i];
    Holder h = {e, param_path(e->node, i), param->line, param->col};
    if (!json_is_none(h.path)) {
        inspect_walk(param->value, add_pieces, &h);
    }
    json_unref(h.path);
}

static void add_params(Expressions *e) {
    for (size_t i = 0; i < e->node->kind->nparams; i++) {
        if (e->node->params[i].open) {
            add_open(e, i);
        } else if (adders[e->node->kind->params[i].type]) {
            adders[e->node->kind->params[i].type](e, i);
        }
    }
}

static void add_task(Expressions *e, const Task *task) {
    Holder title = {e, path_to(NULL, "title"), 0, 0};
    add_expr(e, path_to(NULL, "if"), task->when);
    if (!json_is_none(task->title)) {
        inspect_walk(task->title, add_pieces, &title);
    }
    json_unref(title.path);
    for (size_t i = 0; i < task->nvars; i++) {
        const char *name = e->node->kind->params[task->vars[i].param].name;
        add_expr(e, path_to("configVars", name), task->vars[i].query);
    }
}

Json inspect_config(const Node *node) {
    Expressions e = {node, json_array()};
    if (node->task) {
        add_task(&e, node->task);
    }
    add_params(&e);
    add_expr(&e, path_to("retry", "if"), node->retry.when);
    return OBJECT(KEY("node", node->name), KEY("kind", node->kind->name),
                  KEY("raw", json_ref(node->source)), KEY("expressions", e.list));
}

/* ---- edges ---- */

static const char *target_name(const Graph *g, int target) {
    return target == NODE_END ? "__end__" : g->nodes[target].name;
}

static Json edge_json(const Graph *g, const Edge *edge, int target, bool on_error) {
    Json o = with_text(json_object(), "to", target_name(g, target));
    o = edge->when ? with_text(o, "when", edge->when->text) : o;
    o = on_error ? with_text(o, "on", "error") : o;
    if (edge->parallel) {
        o = json_object_with(o, "parallel", json_bool(true));
        o = with_text(o, "join", target_name(g, edge->join));
    }
    return o;
}

static Json add_edges(Json list, const Graph *g, Edges edges, bool on_error) {
    for (size_t i = 0; i < edges.n; i++) {
        for (size_t k = 0; k < edges.items[i].ntargets; k++) {
            Json edge = edge_json(g, &edges.items[i], edges.items[i].targets[k], on_error);
            list = json_array_push(list, edge);
        }
    }
    return list;
}

static bool holds_graph(const Node *node, const Graph *g) {
    for (size_t i = 0; i < node->kind->nparams; i++) {
        if (node->params[i].graph == g) {
            return true;
        }
    }
    return false;
}

/* The task that holds a list of tasks; NULL of a test's own. */
static const Node *holder_of(const Graph *g) {
    for (size_t i = 0; i < g->flow->ngraphs; i++) {
        const Graph *outer = g->flow->graphs[i];
        for (size_t k = 0; k < outer->nnodes; k++) {
            if (holds_graph(&outer->nodes[k], g)) {
                return &outer->nodes[k];
            }
        }
    }
    return NULL;
}

/* Tasks have no edges: whether the next of the list comes after one is for the holder to say. */
static bool runs_in_order(const Graph *g) {
    const Node *holder = holder_of(g);
    return !holder || holder->kind->order == INSIDE_IN_ORDER;
}

static Json edges_json(const Node *node) {
    const Graph *g = node->graph;
    Json list = add_edges(json_array(), g, node->edges, false);
    list = add_edges(list, g, node->error_edges, true);
    if (g->scoped && node->index >= 0 && runs_in_order(g)) {
        bool last = (size_t)node->index + 1 >= g->nnodes;
        const char *to = last ? "__end__" : g->nodes[node->index + 1].name;
        list = json_array_push(list, with_text(json_object(), "to", to));
    }
    return list;
}

/* ---- a node ---- */

static Json with_title(Json o, const Node *node) {
    bool titled = !node->task && node->kind->dialect != DIALECT_TASKS;
    const char *key = node->kind->dialect == DIALECT_PIPELINE ? "name" : "title";
    Json title = node->task ? node->task->title : titled ? field(node->source, key) : json_none();
    return json_kind(title) == JSON_STRING ? json_object_with(o, "title", json_ref(title)) : o;
}

/* name: the key of its name, "node" or "name". */
static Json node_head(const char *name, const Node *node) {
    Json o = with_text(with_text(json_object(), name, node->name), "kind", node->kind->name);
    o = with_text(with_text(o, "workflow", node->graph->name), "file", node->file);
    return with_title(with_int(with_int(o, "line", node->line), "column", node->col), node);
}

static Json retry_json(const RetryPolicy *retry) {
    Json o = with_int(json_object(), "attempts", retry->attempts);
    o = with_seconds(o, "delay", retry->delay_ms);
    o = json_object_with(o, "factor", json_number(retry->factor));
    o = with_seconds(o, "max", retry->max_ms);
    return retry->when ? with_text(o, "if", retry->when->text) : o;
}

Json inspect_node(const Node *node) {
    bool before = node->interrupt_before, after = node->interrupt_after;
    Json o = with_int(node_head("node", node), "end_line", node->end_line);
    o = node->timeout_ms ? with_seconds(o, "timeout", node->timeout_ms) : o;
    if (node->retry.attempts > 1) {
        o = json_object_with(o, "retry", retry_json(&node->retry));
    }
    if (before || after) {
        o = with_text(o, "interrupt", before && after ? "both" : before ? "before" : "after");
    }
    return OBJECT_ADD(o, KEY("source", json_ref(node->source)), KEY("edges", edges_json(node)));
}

/* ---- all nodes ---- */

static Json listed_node(const Node *node) {
    Json o = node_head("name", node);
    bool has_id = node->task && !json_is_none(node->task->id);
    return has_id ? json_object_with(o, "id", json_ref(node->task->id)) : o;
}

/* What a map does to each element: in no graph. */
static const Node *body_of(const Node *node) {
    for (size_t i = 0; i < node->kind->nparams; i++) {
        if (node->params[i].node) {
            return node->params[i].node;
        }
    }
    return NULL;
}

static Json list_graph(Json list, const Graph *g) {
    for (size_t i = 0; i < g->nnodes; i++) {
        for (const Node *node = &g->nodes[i]; node; node = body_of(node)) {
            list = json_array_push(list, listed_node(node));
        }
    }
    return list;
}

/* {path: text}; given. */
static Json files_of(const Flow *flow) {
    Json definition = flow_definition(flow);
    Json files = json_ref(json_object_get_c(definition, "files"));
    json_unref(definition);
    return files;
}

Json inspect_nodes(const Flow *flow) {
    Json nodes = json_array(), files = files_of(flow);
    for (size_t i = 0; i < flow->ngraphs; i++) {
        nodes = list_graph(nodes, flow->graphs[i]);
    }
    Json answer = json_object_with(json_object(), "nodes", nodes);
    answer = json_object_with(answer, "files", json_object_keys(files, false));
    json_unref(files);
    return answer;
}

/* ---- source ---- */

/* Whether the path ends in the name, which begins with the name of a folder or a file. */
static bool ends_in(Json path, const char *name) {
    size_t len = json_string_len(path), n = strlen(name);
    const char *text = json_string_data(&path);
    return n > 0 && n < len && memcmp(text + len - n, name, n) == 0 && text[len - n - 1] == '/';
}

static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void no_such_file(Json files, const char *name, Error *err) {
    Suggestion nearest = suggestion_for(last_name(name), strlen(last_name(name)));
    Buf names = BUF_INIT;
    Json path, text;
    /* Every name has to stay where it was offered. */
    for (size_t pos = 0; json_object_next(files, &pos, &path, &text);) {
        buf_add(&names, json_string_data(&path), json_string_len(path));
        buf_addc(&names, '\0');
    }
    for (const char *p = names.data; p && p < names.data + names.len; p += strlen(p) + 1) {
        suggestion_offer(&nearest, last_name(p));
    }
    error_set(err, ERR_USAGE, "The workflow has no file `%.100s`%s%s%s", name,
              nearest.best ? "; did you mean `" : ".", nearest.best ? nearest.best : "",
              nearest.best ? "`?" : "");
    buf_clear(&names);
}

static void ambiguous_file(const char *name, Json one, Json other, Error *err) {
    error_set(err, ERR_USAGE, "`%.100s` may be `%.*s` or `%.*s`; say more of its path.", name,
              (int)json_string_len(one), json_string_data(&one), (int)json_string_len(other),
              json_string_data(&other));
}

/* The path of the file that is meant; borrowed from files, JSON_NONE on error. */
static Json find_file(Json files, const char *name, Error *err) {
    Json path, text, found = json_none();
    for (size_t pos = 0; json_object_next(files, &pos, &path, &text);) {
        if (json_string_is(path, name)) {
            return path;
        }
    }
    for (size_t pos = 0; json_object_next(files, &pos, &path, &text);) {
        if (ends_in(path, name) && !json_is_none(found)) {
            ambiguous_file(name, found, path, err);
            return json_none();
        }
        found = ends_in(path, name) ? path : found;
    }
    if (json_is_none(found)) {
        no_such_file(files, name, err);
    }
    return found;
}

/* Goes through the lines of a text: false at its end. */
typedef struct Lines {
    const char *at, *end;
    int number; /* of the line that was given last */
} Lines;

static bool next_line(Lines *l, Json *line) {
    if (l->at >= l->end) {
        return false;
    }
    const char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at));
    const char *next = stop ? stop + 1 : l->end;
    stop = stop ? stop : l->end;
    stop -= stop > l->at && stop[-1] == '\r';
    *line = json_string_valid(l->at, (size_t)(stop - l->at));
    l->at = next;
    l->number++;
    return true;
}

/* Sets *count to the number of the last line that was looked at. */
static Json lines_between(Json text, int first, int last, int *count) {
    const char *data = json_string_data(&text);
    Lines l = {data, data + json_string_len(text), 0};
    Json lines = json_array(), line;
    while (l.number < last && next_line(&l, &line)) {
        if (l.number >= first) {
            lines = json_array_push(lines, line);
        } else {
            json_unref(line);
        }
    }
    *count = l.number;
    return lines;
}

static Json source_json(Json path, Json text, int line, int around, Error *err) {
    int count, first = line > around ? line - around : 1;
    Json lines = lines_between(text, first, (line > 0 ? line : 1) + around, &count);
    if (line > count) {
        json_unref(lines);
        error_set(err, ERR_USAGE, "`%.*s` has %d line%s; there is no line %d.",
                  (int)json_string_len(path), json_string_data(&path), count, count == 1 ? "" : "s",
                  line);
        return json_none();
    }
    return OBJECT(KEY("file", json_ref(path)), KEY("first", json_int(first)), KEY("lines", lines),
                  KEY("current", line > 0 ? json_int(line) : json_none()));
}

static int clipped(int n, int most) {
    return n < 0 ? 0 : n < most ? n : most;
}

Json inspect_source(const Flow *flow, const char *file, int line, int around, Error *err) {
    Json files = files_of(flow), answer = json_none();
    Json path = find_file(files, file ? file : flow->path, err);
    around = around == 0 ? AROUND : clipped(around, AROUND_MAX);
    if (!json_is_none(path)) {
        Json text = json_object_get(files, path);
        answer = source_json(path, text, clipped(line, FLOW_FILE_MAX + 1), around, err);
    }
    json_unref(files);
    return answer;
}
