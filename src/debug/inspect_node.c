/* inspect_node.c - nodes of a workflow and its text, for people. See inspect.h. */
#include "inspect.h"

#include "ascii.h"
#include "image_read.h"
#include "json_build.h"
#include "node_index.h"
#include "placeholder.h"
#include "problems.h"
#include "suggest.h"

enum { AROUND = 5, AROUND_MAX = 1000 };

static Json seconds(int64_t ms) {
    return json_number((double)ms / 1000);
}

/* ---- where a parameter stands in the node as written ---- */

static Json path_to(const char *folder, const char *name) {
    Json path = folder ? ARRAY(json_string_c(folder)) : json_array();
    return json_array_push(path, json_string_c(name));
}

/* Under its name or its other one in a map of the node (NULL: the node itself). */
static Json path_in(Json source, const char *folder, const ParamInfo *info) {
    Json map = folder ? json_object_get_c(source, folder) : source;
    const char *names[] = {info->name, info->alias};
    for (size_t i = 0; i < 2; i++) {
        if (names[i] && !json_is_none(json_object_get_c(map, names[i]))) {
            return path_to(folder, names[i]);
        }
    }
    return json_none();
}

/* Given; JSON_NONE when nothing is written for it. Of a graph the key that says the kind is its name, or `run`;
 * there is none when `uses` does. It holds the first parameter, or a map of all of them (kind.h). */
static Json param_path(const Node *node, size_t i) {
    const Kind *kind = node->kind;
    const ParamInfo *info = &kind->params[i];
    if (kind->dialect != DIALECT_GRAPH) return path_in(node->source, "config", info);
    const char *key = !json_is_none(json_object_get_c(node->source, kind->name)) ? kind->name
                      : !json_is_none(json_object_get_c(node->source, "run"))    ? "run"
                                                                                 : NULL;
    bool inside = key && json_kind(json_object_get_c(node->source, key)) == JSON_OBJECT &&
                  (kind->params[0].type != PARAM_JQ || kind->nparams > 1);
    if (i == 0 && key && !inside) return path_to(NULL, key);
    Json path = inside ? path_in(node->source, key, info) : path_in(node->source, "with", info);
    return json_is_none(path) ? path_in(node->source, NULL, info) : path;
}

/* ---- expressions ---- */

typedef struct Expressions {
    const Node *node;
    Json list;
} Expressions;

/* Consumes path and text. */
static void add_text(Expressions *e, Json path, Json text, int line, int col) {
    e->list =
        json_array_push(e->list, OBJECT(KEY("path", path), KEY("text", text),
                                        KEY("line", line > 0 ? json_int(line) : json_none()),
                                        KEY("column", line > 0 ? json_int(col) : json_none())));
}

/* Consumes path. */
static void add_expr(Expressions *e, Json path, const Expr *expr) {
    if (expr && !json_is_none(path)) {
        add_text(e, path, json_string_c(expr->text), expr->line, expr->col);
    } else {
        json_unref(path);
    }
}

/* What is no text in the file stands for itself, and so does a text without an expression in it. */
static void add_one(Expressions *e, size_t i) {
    const Param *param = &e->node->params[i];
    bool template = e->node->kind->params[i].type == PARAM_TEMPLATE;
    if (template ? param->expr && strstr(param->expr->text, "\\(")
                 : json_kind(param->value) == JSON_STRING) {
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
        Json query = json_object_get_c(json_array_get(param->value, k), "query");
        if (json_kind(query) == JSON_STRING) {
            Json at = json_array_push(json_ref(path), json_int((int64_t)k));
            at = json_array_push(at, json_string_c("query"));
            add_text(e, at, json_ref(query), param->line, param->col);
        }
    }
    json_unref(path);
}

static void (*const adders[PARAM_TEST + 1])(Expressions *e, size_t i) = {
    [PARAM_JQ] = add_one,         [PARAM_TEMPLATE] = add_one,    [PARAM_JQ_OBJECT] = add_fields,
    [PARAM_QUERIES] = add_fields, [PARAM_OBJECTS] = add_objects,
};

/* ---- titles of tasks ---- */

static const Expr *query_of(const Task *task, Json text) {
    for (size_t i = 0; i < task->nplaceholders; i++) {
        if (json_string_equal(task->placeholders[i].text, text)) return task->placeholders[i].query;
    }
    return NULL;
}

static void add_title(Expressions *e, const Task *task) {
    const char *text = json_string_data(&task->title);
    size_t len = json_string_len(task->title);
    TextPart part;
    for (size_t at = 0; next_part(text, len, &at, &part);) {
        if (part.kind == PART_TEXT) continue;
        Json inside = json_string_valid(text + part.from, part.to - part.from);
        const Expr *query = part.kind == PART_QUERY ? query_of(task, inside) : NULL;
        add_text(e, path_to(NULL, "title"), inside, query ? query->line : 0,
                 query ? query->col : 0);
    }
}

static void add_task(Expressions *e, const Task *task) {
    add_expr(e, path_to(NULL, "if"), task->when);
    if (!json_is_none(task->title)) add_title(e, task);
    for (size_t i = 0; i < task->nvars; i++) {
        const char *name = e->node->kind->params[task->vars[i].param].name;
        add_expr(e, path_to("configVars", name), task->vars[i].query);
    }
}

Json inspect_config(const Node *node) {
    Expressions e = {node, json_array()};
    if (node->task) add_task(&e, node->task);
    for (size_t i = 0; i < node->kind->nparams; i++) {
        if (adders[node->kind->params[i].type]) adders[node->kind->params[i].type](&e, i);
    }
    add_expr(&e, path_to("retry", "if"), node->retry.when);
    return OBJECT(KEY("node", node->name), KEY("kind", node->kind->name),
                  KEY("raw", json_ref(node->source)), KEY("expressions", e.list));
}

/* ---- edges ---- */

static Json add_edges(Json list, const Graph *g, Edges edges, bool on_error) {
    for (size_t i = 0; i < edges.n; i++) {
        const Edge *edge = &edges.items[i];
        for (size_t k = 0; k < edge->ntargets; k++) {
            list = json_array_push(
                list, OBJECT(KEY("to", target_name(g, edge->targets[k])),
                             KEY("when", edge->when ? edge->when->text : NULL),
                             KEY("on", on_error ? "error" : NULL),
                             KEY("parallel", edge->parallel ? json_bool(true) : json_none()),
                             KEY("join", edge->parallel ? target_name(g, edge->join) : NULL)));
        }
    }
    return list;
}

/* Tasks have no edges: whether the next of the list comes after one is for the task to say that holds the
 * list, if it is not a test's own. */
static Json edges_json(const Node *node) {
    const Graph *g = node->graph;
    const Node *holder = NULL;
    NodeCursor at = {0};
    while (g->scoped && (holder = nodes_next(g->flow, &at)) && !node_holds(holder, g)) {}
    Json list = add_edges(json_array(), g, node->edges, false);
    list = add_edges(list, g, node->error_edges, true);
    if (g->scoped && node->index >= 0 && (!holder || holder->kind->order == INSIDE_IN_ORDER)) {
        bool last = (size_t)node->index + 1 >= g->nnodes;
        const char *to = last ? "__end__" : g->nodes[node->index + 1].name;
        list = json_array_push(list, OBJECT(KEY("to", to)));
    }
    return list;
}

/* ---- a node ---- */

/* name: the key of its name, "node" or "name". */
static Json node_head(const char *name, const Node *node) {
    bool titled = !node->task && node->kind->dialect != DIALECT_TASKS;
    const char *key = node->kind->dialect == DIALECT_PIPELINE ? "name" : "title";
    Json title = node->task ? node->task->title
                 : titled   ? json_object_get_c(node->source, key)
                            : json_none();
    return OBJECT(KEY(name, node->name), KEY("kind", node->kind->name),
                  KEY("workflow", node->graph->name), KEY("file", node->file),
                  KEY("line", json_int(node->line)), KEY("column", json_int(node->col)),
                  KEY("title", json_kind(title) == JSON_STRING ? json_ref(title) : json_none()));
}

/* What is inside it begins with these: the first nodes of its graphs, the body of a map. */
static Json inside_json(const Node *node) {
    Json names = json_array();
    const Node *body = node_body(node);
    if (body) names = json_array_push(names, json_ref(body->name_json));
    for (size_t i = 0; i <= node->kind->nparams; i++) {
        const Graph *g = node_held(node, i);
        for (size_t e = 0; g && e < g->start.n; e++) {
            for (size_t k = 0; k < g->start.items[e].ntargets; k++) {
                int target = g->start.items[e].targets[k];
                if (target != NODE_END) {
                    names = json_array_push(names, json_ref(g->nodes[target].name_json));
                }
            }
        }
        if (g && g->scoped && g->nnodes) {
            names = json_array_push(names, json_ref(g->nodes[0].name_json));
        }
    }
    if (json_array_len(names)) return names;
    json_unref(names);
    return json_none();
}

Json inspect_node(const Node *node) {
    bool before = node->interrupt_before, after = node->interrupt_after;
    const char *interrupt = before && after ? "both" : before ? "before" : after ? "after" : NULL;
    const RetryPolicy *policy = &node->retry;
    Json retry = json_none();
    if (policy->attempts > 1) {
        retry = OBJECT(
            KEY("attempts", json_int(policy->attempts)), KEY("delay", seconds(policy->delay_ms)),
            KEY("factor", json_number(policy->factor)), KEY("max", seconds(policy->max_ms)),
            KEY("if", policy->when ? policy->when->text : NULL));
    }
    return OBJECT_ADD(node_head("node", node), KEY("end_line", json_int(node->end_line)),
                      KEY("timeout", node->timeout_ms ? seconds(node->timeout_ms) : json_none()),
                      KEY("retry", retry), KEY("interrupt", interrupt),
                      KEY("source", json_ref(node->source)), KEY("inside", inside_json(node)),
                      KEY("edges", edges_json(node)));
}

/* ---- all nodes ---- */

/* {path: text}; given. */
static Json files_of(const Flow *flow) {
    Json definition = flow_definition(flow);
    Json files = json_ref(json_object_get_c(definition, "files"));
    json_unref(definition);
    return files;
}

Json inspect_nodes(const Flow *flow) {
    Json nodes = json_array(), files = files_of(flow);
    NodeCursor at = {0};
    for (const Node *node; (node = nodes_next(flow, &at));) {
        Json id = node->task ? json_ref(node->task->id) : json_none();
        nodes = json_array_push(nodes, OBJECT_ADD(node_head("name", node), KEY("id", id)));
    }
    Json answer = OBJECT(KEY("nodes", nodes), KEY("files", json_object_keys(files, false)));
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

static void no_such_file(Json files, const char *name, Error *err) {
    const char *word = text_after_last(name, '/');
    Suggestion nearest = suggestion_for(word, strlen(word));
    Buf names = BUF_INIT;
    Json path, text;
    /* Every name has to stay where it was offered. */
    for (size_t pos = 0; json_object_next(files, &pos, &path, &text);) {
        buf_add(&names, json_string_data(&path), json_string_len(path));
        buf_addc(&names, '\0');
    }
    for (const char *p = names.data; p && p < names.data + names.len; p += strlen(p) + 1) {
        suggestion_offer(&nearest, text_after_last(p, '/'));
    }
    error_set(err, ERR_USAGE, "The workflow has no file `%.100s`%s", name,
              did_you_mean_this(nearest.best));
    buf_clear(&names);
}

/* The path of the file that is meant; borrowed from files, JSON_NONE on error. */
static Json find_file(Json files, const char *name, Error *err) {
    Json path, text, found = json_none();
    for (size_t pos = 0; json_object_next(files, &pos, &path, &text);) {
        if (json_string_is(path, name)) return path;
    }
    for (size_t pos = 0; json_object_next(files, &pos, &path, &text);) {
        if (ends_in(path, name) && !json_is_none(found)) {
            error_set(err, ERR_USAGE, "`%.100s` may be `%.*s` or `%.*s`; say more of its path.",
                      name, (int)json_string_len(found), json_string_data(&found),
                      (int)json_string_len(path), json_string_data(&path));
            return json_none();
        }
        found = ends_in(path, name) ? path : found;
    }
    if (json_is_none(found)) no_such_file(files, name, err);
    return found;
}

static Json source_json(Json path, Json text, int line, int around, Error *err) {
    int count = 0, first = line > around ? line - around : 1, last = (line > 0 ? line : 1) + around;
    const char *at = json_string_data(&text), *end = at + json_string_len(text), *next;
    Json lines = json_array();
    for (; count < last && at < end; at = next) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        next = stop ? stop + 1 : end;
        stop = stop ? stop : end;
        stop -= stop > at && stop[-1] == '\r';
        if (++count >= first) {
            lines = json_array_push(lines, json_string_valid(at, (size_t)(stop - at)));
        }
    }
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

Json inspect_source(const Flow *flow, const char *file, int line, int around, Error *err) {
    Json files = files_of(flow), answer = json_none();
    Json path = find_file(files, file ? file : flow->path, err);
    around = around <= 0 ? AROUND : around < AROUND_MAX ? around : AROUND_MAX;
    if (!json_is_none(path)) {
        Json text = json_object_get(files, path);
        answer =
            source_json(path, text, line < FLOW_FILE_MAX ? line : FLOW_FILE_MAX + 1, around, err);
    }
    json_unref(files);
    return answer;
}
