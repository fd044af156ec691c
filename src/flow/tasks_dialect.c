/* tasks_dialect.c - files with `tasks` and `cleanupTasks`: tests.
 *
 * A list of tasks is a graph without edges. A test is the graph of its tasks; what is inside the config
 * of a task, and the tasks that clean up, are graphs of their own. What a task's config says is known in part only
 * (config.h): what configVars names is read when the task begins, with its queries compiled here. */
#include "loader.h"

#include "json_build.h"
#include "mem.h"
#include "placeholder.h"
#include "suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const test_keys[] = {"id",       "name",   "description", "version", "tags",
                                 "timeout",  "config", "configVars",  "tasks",   "cleanupTasks",
                                 "schedule", "kinds",  NULL};
const char *const task_keys[] = {"name",       "id",      "title", "config",
                                 "configVars", "timeout", "if",    NULL};
const char *const schedule_keys[] = {"startup", "cron", "skipQueue", NULL};

enum {
    TASK_NAME_MAX = 200,
    CRON_FIELDS = 5, /* minute, hour, day, month, weekday; one more before them: seconds */
};

/* Null is nothing. */
static const YamlNode *given(const YamlNode *map, const char *key) {
    const YamlNode *value = yaml_get(map, key);
    return value && !yaml_is_null(value) ? value : NULL;
}

static const char *text_of(Loader *ld, const YamlNode *map, const char *key) {
    return given(map, key) ? key_text(ld, map, key) : NULL;
}

/* ---- keys that nobody reads ----
 *
 * Tests were always read so that what is not known does nothing, and many of them have such keys. Each is said
 * once; they are errors only for who asks for that. */

/* What earlier versions of tests had. */
static const struct {
    const char *name, *instead;
} old_keys[] = {
    {"stopChildOnResult", NULL},
    {"failTaskCount", "failureThreshold"},
    {"succeedTaskCount", "successThreshold"},
    {"failOnUndecided", NULL},
    {"exitOnResult", NULL},
};

static void say_ignored(Loader *ld, const YamlNode *key, const char *const *names,
                        const char *where) {
    bool strict = ld->reader && ld->reader->strict;
    const char *word = shown(key->text, key->len), *instead = NULL;
    bool old = false;
    for (size_t i = 0; i < sizeof old_keys / sizeof *old_keys && !old; i++) {
        old = yaml_is(key, old_keys[i].name);
        instead = old ? old_keys[i].instead : NULL;
    }
    Json said = json_string_fmt("%s %s %s", key->spot.file->path, where, word);
    bool known = !json_is_none(json_object_get(ld->ignored, said));
    ld->ignored = json_object_set(ld->ignored, said, json_null());
    if (known && !strict) return;
    Buf text = BUF_INIT;
    buf_printf(&text, "`%s` is %s %s%s", word, old ? "an old key of" : "no key of", where,
               strict ? "" : " and is ignored");
    if (old) {
        buf_printf(&text, "; %s%s%s", instead ? "`" : "", instead ? instead : "remove it.",
                   instead ? "` has taken its place." : "");
    } else {
        buf_adds(&text, did_you_mean(key->text, key->len, names));
    }
    (strict ? report_at : report_warning)(ld->reporter, key->spot, "%s", text.data);
    buf_clear(&text);
}

static void look_for_keys(Loader *ld, const YamlNode *map, KeyList known, const char *where) {
    const char *names[KEYS_MAX];
    add_keys(names, 0, known);
    for (size_t i = 0; i < map->n; i++) {
        const YamlNode *key = map->pairs[i].key;
        if (!has_name(names, key->text, key->len)) say_ignored(ld, key, names, where);
    }
}

/* ---- placeholders ---- */

typedef struct Placeholders {
    struct Placeholder *items;
    size_t n, cap;
} Placeholders;

/* Of a title. What is no query stays NULL, and stands there as `?`. */
static void collect(Loader *ld, Placeholders *list, const YamlNode *node) {
    TextPart part;
    for (size_t at = 0; next_part(node->text, node->len, &at, &part);) {
        if (part.kind != PART_QUERY) continue;
        QueryPart inside = {part.from, part.to, true};
        const Expr *query = load_query_part(ld, node, inside, NULL);
        Json text = json_string_valid(node->text + part.from, part.to - part.from);
        list->items = mem_grow(list->items, list->n, &list->cap, sizeof *list->items);
        list->items[list->n++] = (struct Placeholder){keep(ld, text), query};
    }
}

static int by_text(const void *a, const void *b) {
    return json_string_compare(((const struct Placeholder *)a)->text,
                               ((const struct Placeholder *)b)->text);
}

/* Sorted, each once. */
static void set_placeholders(Loader *ld, Placeholders *list, Task *task) {
    if (list->n == 0) return;
    qsort(list->items, list->n, sizeof *list->items, by_text);
    struct Placeholder *items = arena_alloc(ld->arena, list->n * sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (n == 0 || by_text(&items[n - 1], &list->items[i]) != 0) items[n++] = list->items[i];
    }
    task->placeholders = items;
    task->nplaceholders = n;
    mem_free(list->items);
}

/* ---- the config of a task ---- */

/* A task while it is loaded. */
typedef struct TaskLoad {
    const NodeContext *c;
    Node *node;
    Task *task;
    const YamlNode *yaml;
    const YamlNode *config; /* NULL: none */
    Param *params;
    Placeholders placeholders;
} TaskLoad;

static bool holds_tasks(const ParamInfo *info) {
    return info->type == PARAM_TASK || info->type == PARAM_TASKS;
}

/* Its value is what the file says, whatever the variables are. */
static bool is_fixed(const ParamInfo *info) {
    return holds_tasks(info) || info->type == PARAM_QUERIES;
}

static const char *where_of(const Kind *kind) {
    static _Thread_local char where[160];
    snprintf(where, sizeof where, "the config of %s %s task", article(kind), kind->name);
    return where;
}

static bool is_from_query(const Task *task, size_t param) {
    for (size_t i = 0; i < task->nvars; i++) {
        if (task->vars[i].param == (int)param) return true;
    }
    return false;
}

/* Those of the objects in a list. */
static void look_into_items(Loader *ld, const ParamInfo *info, const YamlNode *list) {
    char where[80];
    snprintf(where, sizeof where, "an item of `%s`", info->name);
    for (size_t i = 0; list->kind == YAML_LIST && i < list->n; i++) {
        if (list->items[i]->kind != YAML_MAP) continue;
        look_for_keys(ld, list->items[i],
                      (KeyList){.params = info->fields, .nparams = info->nfields}, where);
    }
}

static void load_config_param(TaskLoad *t, size_t i) {
    Loader *ld = t->c->ld;
    const Kind *kind = t->node->kind;
    const ParamInfo *info = &kind->params[i];
    const YamlPair *pair = yaml_pair(t->config, info->name);
    pair = pair && yaml_is_null(pair->value) ? NULL : pair;
    const YamlNode *value = pair ? pair->value : NULL;
    Param *out = &t->params[i];
    if (!value && info->required && !is_from_query(t->task, i)) {
        const YamlNode *name = yaml_get(t->yaml, "name");
        report_at(ld->reporter, t->config && t->config->n ? t->config->spot : name->spot,
                  "`%s` is missing in `config`, which %s %s task needs: %s.", info->name,
                  article(kind), kind->name, info->help);
    }
    if (value && info->type == PARAM_OBJECTS) look_into_items(ld, info, value);
    load_param(t->c, t->node, info, pair, out);
}

static void load_task_config(TaskLoad *t) {
    const Kind *kind = t->node->kind;
    t->config = key_map(t->c->ld, t->yaml, "config");
    if (t->config) {
        look_for_keys(t->c->ld, t->config,
                      (KeyList){.params = kind->params, .nparams = kind->nparams}, where_of(kind));
    }
    t->params = arena_alloc(t->c->ld->arena, (kind->nparams + 1) * sizeof *t->params);
    t->node->params = t->params;
    for (size_t i = 0; i < kind->nparams; i++) {
        load_config_param(t, i);
        check_input(t->c, t->node, i, yaml_pair(t->config, kind->params[i].name));
    }
}

/* ---- configVars of a task ---- */

static int find_var_param(const TaskLoad *t, const YamlNode *name) {
    const Kind *kind = t->node->kind;
    const char *names[KEYS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < kind->nparams; i++) {
        const ParamInfo *info = &kind->params[i];
        if (yaml_is(name, info->name) && is_fixed(info)) {
            report_at(t->c->ld->reporter, name->spot,
                      "`%s` cannot come from a query, since it %s; give it in `config`.",
                      info->name, holds_tasks(info) ? "holds tasks" : "holds queries itself");
            return -1;
        }
        if (yaml_is(name, info->name)) return (int)i;
        if (!is_fixed(info)) names[n++] = info->name;
    }
    names[n] = NULL;
    say_ignored(t->c->ld, name, names, where_of(kind));
    return -1;
}

static void load_task_vars(TaskLoad *t) {
    Loader *ld = t->c->ld;
    const YamlNode *vars = key_map(ld, t->yaml, "configVars");
    if (!vars) return;
    struct TaskVar *items = arena_alloc(ld->arena, (vars->n ? vars->n : 1) * sizeof *items);
    t->task->vars = items;
    for (size_t i = 0; i < vars->n; i++) {
        const YamlPair *pair = &vars->pairs[i];
        int param = find_var_param(t, pair->key);
        const Expr *query =
            load_query(ld, pair->value, param >= 0 ? &t->node->kind->params[param] : NULL);
        if (param >= 0) items[t->task->nvars++] = (struct TaskVar){param, query};
    }
}

/* ---- what is known of some kinds ---- */

static const YamlPair *config_pair(const TaskLoad *t, int param) {
    return yaml_pair(t->config, t->node->kind->params[param].name);
}

static void check_options(const TaskLoad *t) {
    const YamlPair *retry = config_pair(t, OPTIONS_RETRY);
    bool counted =
        config_pair(t, OPTIONS_MAX_RETRIES) || is_from_query(t->task, OPTIONS_MAX_RETRIES);
    if (retry && t->params[OPTIONS_RETRY].number && !counted) {
        report_warning(t->c->ld->reporter, retry->key->spot,
                       "`retryOnFailure` does nothing without `maxRetryCount`: the task is run "
                       "again 0 times.");
    }
}

static void check_matrix(const TaskLoad *t) {
    const YamlPair *values = config_pair(t, MATRIX_VALUES);
    if (values && values->value->kind != YAML_LIST && !yaml_is_null(values->value)) {
        report_at(t->c->ld->reporter, values->value->spot, "`matrixValues` must be a list.");
    }
}

static void check_command(const TaskLoad *t) {
    const YamlPair *command = config_pair(t, RUN_COMMAND_COMMAND);
    if (command && command->value->kind == YAML_LIST && command->value->n == 0) {
        report_at(t->c->ld->reporter, command->value->spot,
                  "`command` is empty; it is a program and its arguments.");
    }
}

static void check_http(const TaskLoad *t) {
    check_http_config(t->c->ld, t->node->kind, t->config);
}

static void (*const kind_checks[KIND_COUNT])(const TaskLoad *) = {
    [KIND_RUN_TASK_OPTIONS] = check_options, [KIND_RUN_TASK_MATRIX] = check_matrix,
    [KIND_RUN_COMMAND] = check_command,      [KIND_CHECK_HTTP_JSON] = check_http,
    [KIND_CHECK_HTTP_METRICS] = check_http,
};

/* ---- a task ---- */

/* Everything but its name and its kind. */
static void load_task(const NodeContext *c, Node *node, const YamlNode *yaml, Json source) {
    Loader *ld = c->ld;
    if (ld->depth >= FLOW_DEPTH_MAX) {
        report_at(ld->reporter, yaml->spot,
                  "Tasks in tasks and tests in tests are nested more than %d levels deep.",
                  FLOW_DEPTH_MAX);
        return;
    }
    ld->depth++;
    Task *task = arena_alloc(ld->arena, sizeof *task);
    TaskLoad t = {.c = c, .node = node, .task = task, .yaml = yaml};
    task->cleanup = c->graph->graph.cleanup;
    task->id = node->task ? node->task->id : json_none();
    node->task = task;
    node->source = source;
    look_for_keys(ld, yaml, (KeyList){.names = task_keys}, "a task");
    const YamlNode *title = given(yaml, "title"), *when = given(yaml, "if");
    if (text_of(ld, yaml, "title")) {
        task->title = keep(ld, json_string_valid(title->text, title->len));
        collect(ld, &t.placeholders, title);
    }
    task->when =
        when && (when->kind != YAML_SCALAR || when->len) ? load_query(ld, when, NULL) : NULL;
    if (given(yaml, "timeout")) key_duration(ld, yaml, "timeout", &node->timeout_ms);
    if (node->kind) {
        load_task_vars(&t);
        load_task_config(&t);
        if (kind_checks[node->kind->id]) kind_checks[node->kind->id](&t);
    }
    set_placeholders(ld, &t.placeholders, task);
    ld->depth--;
}

static const Kind *find_task_kind(const NodeContext *c, const YamlNode *name, bool *found) {
    const Kind *kind = find_kind(c, DIALECT_TASKS, name, found);
    if (*found || !yaml_is(name, "generate_random_mnemonic")) return kind;
    YamlNode other = *name; /* the name that it has had since */
    other.text = "get_random_mnemonic";
    other.len = strlen(other.text);
    return find_kind(c, DIALECT_TASKS, &other, found);
}

static const Kind *task_kind(const NodeContext *c, const YamlNode *yaml) {
    Loader *ld = c->ld;
    bool found = false;
    const YamlNode *name = yaml_get(yaml, "name");
    if (!name) {
        report_at(ld->reporter, yaml->spot,
                  "A task needs a name, which says what it does: one of %s.",
                  kind_list(DIALECT_TASKS));
        return NULL;
    }
    const char *text = field_text(ld, name, "`name`");
    const Kind *kind = text ? find_task_kind(c, name, &found) : NULL;
    if (text && !found) {
        report_at(ld->reporter, name->spot, "There is no kind of task `%s`; the kinds are %s%s",
                  shown(name->text, name->len), kind_list(DIALECT_TASKS),
                  nearest_of_all(c, DIALECT_TASKS, name));
    }
    return kind ? kind_with_more(ld, kind, yaml_get(yaml, "config"), yaml_get(yaml, "configVars"))
                : NULL;
}

/* ---- lists of tasks ---- */

typedef struct TaskList {
    const YamlNode *const *items;
    size_t n;
    Json source; /* the list as JSON, borrowed; JSON_NONE: to be made for each */
} TaskList;

/* An id is any text; the node is called by it as far as it can be the name of a node. */
typedef struct TaskName {
    const YamlNode *id; /* NULL: it has none */
    const char *name;
    bool first; /* no other task of the list has taken the name */
} TaskName;

static TaskName name_by_id(NameGiver *names, const YamlNode *yaml) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    Loader *ld = names->ld;
    const YamlNode *id = given(yaml, "id");
    int line, col;
    if (!id || !text_of(ld, yaml, "id") || !id->len) return (TaskName){0};
    size_t len = id->len < TASK_NAME_MAX ? id->len : TASK_NAME_MAX;
    char *name = arena_strndup(ld->arena, id->text, len);
    for (char *p = name; *p; p++) *p = strchr(allowed, *p) ? *p : '_';
    if (!strcmp(name, "__start__") || !strcmp(name, "__end__")) *name = '-';
    Json first = json_object_get_c(names->taken, name);
    yaml_line_col(yaml->spot.file, yaml->spot.at, &line, &col);
    if (!json_is_none(first)) {
        report_warning(
            ld->reporter, id->spot,
            "There is another task with the id `%s`, in line %d; `tasks` has the one that "
            "began last.",
            shown(id->text, id->len), (int)first.i);
        return (TaskName){id, name, false};
    }
    names->taken = json_object_with(names->taken, name, json_int(line));
    return (TaskName){id, name, true};
}

/* Nodes with their names and kinds; what is no map is left out. from has the index of each. */
static void name_tasks(const NodeContext *c, const TaskList *list, size_t *from) {
    Loader *ld = c->ld;
    Graph *g = &c->graph->graph;
    NameGiver names = {ld, "task", json_object(), json_object()};
    TaskName *given_names = arena_alloc(ld->arena, list->n * sizeof *given_names);
    for (size_t i = 0; i < list->n; i++) {
        bool map = expect_map(ld, list->items[i], "A task");
        given_names[i] = map ? name_by_id(&names, list->items[i]) : (TaskName){0};
    }
    for (size_t i = 0; i < list->n; i++) {
        const YamlNode *yaml = list->items[i];
        if (yaml->kind != YAML_MAP) continue;
        const Kind *kind = task_kind(c, yaml);
        Node *node = &g->nodes[g->nnodes];
        const TaskName *by_id = &given_names[i];
        const char *base = by_id->id ? by_id->name : kind ? kind->name : "task";
        start_node(c, node, yaml, by_id->first ? by_id->name : free_name(&names, base));
        if (by_id->id) {
            Task *task = arena_alloc(ld->arena, sizeof *task);
            task->id = keep(ld, json_string_valid(by_id->id->text, by_id->id->len));
            node->task = task;
        }
        node->kind = kind;
        node->index = (int)g->nnodes;
        from[g->nnodes++] = i;
    }
    names_clear(&names);
}

static void load_tasks(const NodeContext *c, const TaskList *list) {
    Graph *g = &c->graph->graph;
    size_t *from = arena_alloc(c->ld->arena, list->n * sizeof *from);
    g->nodes = arena_alloc(c->ld->arena, list->n * sizeof *g->nodes);
    name_tasks(c, list, from);
    if (g->nnodes) {
        name_table_fill(&c->graph->nodes, c->ld->arena, &g->nodes[0].name_json, sizeof *g->nodes,
                        g->nnodes);
    }
    for (size_t i = 0; i < g->nnodes; i++) {
        const YamlNode *yaml = list->items[from[i]];
        bool known = json_kind(list->source) == JSON_ARRAY;
        Json source = known ? json_array_get(list->source, from[i]) : json_none();
        source = json_is_none(source) ? keep(c->ld, yaml_json(yaml)) : source;
        load_task(c, &g->nodes[i], yaml, source);
    }
}

/* Of tasks that others hold. They may never run, so that kinds that are not there are errors for those alone who want
 * to know of all of them: otherwise the list is empty and says what it lacks, and whoever holds it fails when it
 * starts. */
static void load_held_tasks(const NodeContext *c, const TaskList *list) {
    Loader *ld = c->ld;
    Graph *g = &c->graph->graph;
    bool all = ld->reader && (ld->reader->strict || ld->reader->whole);
    for (size_t i = 0; i < list->n && !all; i++) {
        const YamlNode *name =
            list->items[i]->kind == YAML_MAP ? yaml_get(list->items[i], "name") : NULL;
        bool found = !name || name->kind != YAML_SCALAR || !name->len;
        if (!found) find_task_kind(c, name, &found);
        if (found) continue;
        const char *word = shown(name->text, name->len);
        report_warning(
            ld->reporter, name->spot,
            "There is no kind of task `%s`, so that the task that holds it fails if it starts%s",
            word, nearest_of_all(c, DIALECT_TASKS, name));
        if (!g->lacks) g->lacks = arena_strndup(ld->arena, word, strlen(word));
    }
    if (!g->lacks) load_tasks(c, list);
}

static bool load_list(const NodeContext *c, const YamlNode *value, Json source, bool held) {
    if (!expect_items(c->ld, value, "There are no tasks here; there must be at least one.",
                      "The tasks must be a list (`- name: ...`).")) {
        return false;
    }
    (held ? load_held_tasks : load_tasks)(c, &(TaskList){value->items, value->n, source});
    return true;
}

static GraphImpl *new_task_graph(Loader *ld, const char *name, Spot spot, bool cleanup) {
    GraphImpl *g = new_graph(ld, name, spot);
    g->graph.scoped = true;
    g->graph.cleanup = cleanup;
    g->graph.recursion_limit = INT64_MAX;
    return g;
}

const Graph *load_task_list(const NodeContext *c, const YamlNode *value, Json source,
                            const char *name) {
    NodeContext inner = *c;
    inner.graph = new_task_graph(c->ld, name, value->spot, c->graph->graph.cleanup);
    return load_list(&inner, value, source, true) ? &inner.graph->graph : NULL;
}

const Graph *load_one_task(const NodeContext *c, const YamlNode *value, Json source,
                           const char *name) {
    if (!expect_map(c->ld, value, "A task")) return NULL;
    NodeContext inner = *c;
    Json list = keep(c->ld, ARRAY(json_ref(source)));
    inner.graph = new_task_graph(c->ld, name, value->spot, c->graph->graph.cleanup);
    load_held_tasks(&inner, &(TaskList){&value, 1, list});
    return &inner.graph->graph;
}

/* ---- the test ---- */

/* ---- schedules ---- */

/* Five fields, or six, or a word such as @daily. What is in the fields is checked by whoever keeps the
 * schedule. */
static void check_cron(Loader *ld, const YamlNode *line) {
    size_t fields = 0;
    for (const char *p = line->text; *p;) {
        p += strspn(p, " \t");
        size_t len = strcspn(p, " \t");
        fields += len > 0;
        p += len;
    }
    bool word = line->text[0] == '@' && fields == 1 && line->len > 1;
    if (!word && fields != CRON_FIELDS && fields != CRON_FIELDS + 1) {
        report_at(ld->reporter, line->spot,
                  "`%s` is no schedule: it has the five fields minute, hour, day, month and "
                  "weekday (`0 */6 * * *`).",
                  shown(line->text, line->len));
    }
}

static void load_schedule(Loader *ld, const YamlNode *root, const YamlNode *schedule, Graph *g) {
    const YamlNode *cron = yaml_get(schedule, "cron"), *line;
    bool value;
    look_for_keys(ld, schedule, (KeyList){.names = schedule_keys}, "`schedule`");
    key_bool(ld, schedule, "startup", &value);
    key_bool(ld, schedule, "skipQueue", &value);
    for (size_t at = 0;
         cron && !yaml_is_null(cron) && (line = next_name(ld, cron, "`cron`", &at));) {
        check_cron(ld, line);
    }
    g->schedule = keep(ld, yaml_json(schedule));
    report_warning(
        ld->reporter, yaml_pair(root, "schedule")->key->spot,
        "`schedule` starts nothing here: it is kept for whoever starts tests by the clock.");
}

/* ---- the whole ---- */

static bool load_tasks_dialect(Loader *ld, LoadedFile *file, const YamlNode *root,
                               GraphImpl *graph) {
    NodeContext c = {ld, file, graph, {0}};
    Graph *g = &graph->graph;
    g->scoped = true;
    g->recursion_limit = INT64_MAX;
    g->defaults = keep(ld, json_object());
    look_for_keys(ld, root,
                  (KeyList){.names = test_keys, .more = file->kind ? kind_file_keys : NULL},
                  "a test");
    load_kind_folders(ld, file, root);
    const YamlNode *config = key_map(ld, root, "config"), *vars = key_map(ld, root, "configVars");
    const YamlNode *schedule = key_map(ld, root, "schedule");
    const char *id = text_of(ld, root, "id"), *name = text_of(ld, root, "name");
    g->name = name ? name : id ? id : g->name;
    if (given(root, "timeout")) key_duration(ld, root, "timeout", &g->timeout_ms);
    if (config) {
        g->defaults = keep(ld, yaml_json(config));
        load_keys(ld, graph, config);
    }
    if (vars) {
        struct TestVar *items = arena_alloc(ld->arena, (vars->n ? vars->n : 1) * sizeof *items);
        for (size_t i = 0; i < vars->n; i++) {
            const YamlPair *pair = &vars->pairs[i];
            items[i].name = keep(ld, json_string_valid(pair->key->text, pair->key->len));
            items[i].query = load_query(ld, pair->value, NULL);
        }
        g->vars = items;
        g->nvars = vars->n;
    }
    if (schedule) load_schedule(ld, root, schedule, g);
    bool held = file->from && !file->kind_name; /* by a task of the file that named it */
    bool loaded = load_list(&c, yaml_get(root, "tasks"), json_none(), held);
    const YamlNode *cleanup = yaml_get(root, "cleanupTasks");
    if (cleanup && !yaml_is_null(cleanup) && !(cleanup->kind == YAML_LIST && cleanup->n == 0)) {
        NodeContext inner = c;
        inner.graph = new_task_graph(ld, "cleanup", cleanup->spot, true);
        g->after = load_list(&inner, cleanup, json_none(), held) ? &inner.graph->graph : NULL;
        g->lacks = g->lacks || !g->after ? g->lacks : g->after->lacks;
    }
    return loaded;
}

const Dialect tasks_dialect = {"tasks", "tasks", "a test", YAML_TESTS, load_tasks_dialect};
