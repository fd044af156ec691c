/* injected.c - nodes that the workflow does not have, as data: loaded, on record, found. */
#include "injected.h"

#include "frame.h"
#include "image_read.h"
#include "json_print.h"
#include "mem.h"
#include "run_secrets.h"

#include <string.h>

static const char *const where_names[] = {
    [INJECT_BEFORE] = "before", [INJECT_INSTEAD] = "instead", [INJECT_AFTER] = "after"};

/* ---- loading ---- */

/* What holds one node in each dialect. */
static const struct DialectRow {
    const char *dialect, *list;
} dialect_rows[] = {{"graph", "nodes"}, {"tasks", "tasks"}, {"pipeline", "steps"}};

/* Whether a node beside one of The Edge Agent is one, too, or says one of our kinds. */
static bool is_agents(Json node) {
    static const char *const keys[] = {"run", "script", "uses", "steps", "type"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!json_is_none(json_object_get_c(node, keys[i]))) return true;
    }
    return false;
}

/* A file with the one node on a line of its own, which people are shown. Beside a node of The Edge Agent it is one of those. What lists of nodes inside it write
 * goes through the reducers of the graph that it is put into. */
static void add_document(const Frame *f, Json name, Json node, Buf *out) {
    const Graph *graph = frame_top(f)->graph;
    const char *dialect = graph->dialect, *list = "nodes";
    Json state = json_none();
    node = json_ref(node);
    if (strcmp(dialect, "tasks") != 0 && json_is_none(json_object_get_c(node, "name"))) {
        node = json_object_with(node, "name", json_ref(name));
    }
    bool agent = !json_is_none(graph->agent) && is_agents(node),
         reduces = !agent && !strcmp(dialect, "graph");
    for (size_t i = 0; reduces && i < graph->nkeys; i++) {
        const StateKey *key = &graph->keys[i];
        const char *how = key->reduce == REDUCE_EXPR ? key->expr->text : reduce_names[key->reduce];
        state = json_object_set(i ? state : json_object(), json_ref(key->name),
                                OBJECT(KEY("reduce", how)));
    }
    for (size_t i = 0; i < sizeof dialect_rows / sizeof *dialect_rows; i++) {
        list = strcmp(dialect, dialect_rows[i].dialect) ? list : dialect_rows[i].list;
    }
    buf_printf(out, "%s:\n  - ", list);
    json_print(node, NULL, out);
    buf_adds(out, "\nname: injected\n");
    Json part, given;
    if (agent) buf_adds(out, "state_schema: {}\n");
    for (size_t pos = 0; agent && json_object_next(graph->agent, &pos, &part, &given);) {
        buf_printf(out, "%s: ", json_string_data(&part));
        json_print(given, NULL, out);
        buf_addc(out, '\n');
    }
    if (!json_is_none(state)) {
        buf_adds(out, "state: ");
        json_print(state, NULL, out);
        buf_addc(out, '\n');
    }
    json_unref(state);
    json_unref(node);
}

/* The text of the one node; sub-workflows that it names are files as ever. */
typedef struct OneText {
    const char *path;
    const Buf *text;
    const SafeRoot *root;
} OneText;

static bool read_one(void *ctx, const char *path, Buf *out, Error *err) {
    const OneText *one = ctx;
    if (!strcmp(path, one->path)) {
        buf_add(out, one->text->data, one->text->len);
        return true;
    }
    return flow_read_file(one->root, path, out, err);
}

/* A node that is put beside another sees what that one does. */
static FlowAround around(const Frame *f, uint32_t level) {
    const Node *beside = level < f->nlevels ? f->levels[level].node : NULL;
    return (FlowAround){.first = f->run->next_numbers,
                        .vars = beside ? beside->vars : NULL,
                        .nvars = beside ? beside->nvars : 0};
}

Flow *injected_parse(const Frame *f, Json name, Json node, Error *err) {
    FlowAround here = around(f, f->nlevels - 1);
    Buf text = BUF_INIT, path = BUF_INIT;
    FlowProblems problems = {0};
    const char *file = frame_top(f)->graph->file, *slash = strrchr(file, '/');
    add_document(f, name, node, &text);
    buf_printf(&path, "%.*sinjected.yaml", slash ? (int)(slash - file) + 1 : 0, file);
    OneText one = {path.data, &text, f->run->engine->options.bounds.root};
    FlowReader reader = {.read = read_one, .ctx = &one, .whole = true};
    reader.kinds = flow_kind_folders(f->run->flow, &reader.nkinds);
    Flow *flow = flow_load_inside(path.data, &reader, &here, &problems);
    if (!flow) {
        error_set(err, ERR_USAGE, "The node cannot be used: %s",
                  problems.n ? problems.items[0].msg : "it does not load.");
    }
    flow_problems_clear(&problems);
    buf_clear(&text);
    buf_clear(&path);
    return flow;
}

/* What runs instead of a node of the workflow stands where that one does in its file. */
Injected *injected_new(const Frame *f, Injected as) {
    Run *run = f->run;
    Flow *flow = as.flow;
    const Node *written = as.level < f->nlevels ? f->levels[as.level].node : NULL;
    Injected *injected = mem_alloc(sizeof *injected);
    as.definition = flow_definition(flow);
    *injected = as;
    if (as.where == INJECT_INSTEAD && written) flow_stand_in(flow, written);
    run->next_numbers = (FlowNumbers){flow->first_expr + (uint32_t)flow->nexprs,
                                      flow->first_node + (uint32_t)flow->nnodes};
    evaluator_add(run->evaluator, flow);
    run_secrets_add(run, flow);
    run->flows = mem_grow(run->flows, run->nflows, &run->flows_cap, sizeof *run->flows);
    run->flows[run->nflows++] = flow_ref(flow);
    return injected;
}

void injected_free(Run *run, Injected *injected) {
    if (injected) {
        evaluator_remove(run->evaluator, injected->flow);
        flow_unref(injected->flow);
        json_unref(injected->definition);
        json_unref(injected->name);
        json_unref(injected->node);
        mem_free(injected);
    }
}

/* ---- as the image has them ---- */

Json injected_image(const Injected *injected) {
    Json parts[INJECTED_FIELDS] = {
        [INJECTED_ID] = json_int(injected->id),
        [INJECTED_WHERE] = json_int(injected->where),
        [INJECTED_LEVEL] = json_int(injected->level),
        [INJECTED_NAME] = json_ref(injected->name),
        [INJECTED_NODE] = json_ref(injected->node),
        [INJECTED_DEFINITION] = json_ref(injected->definition),
    };
    return json_array_from(parts, INJECTED_FIELDS);
}

Injected *injected_load(const Frame *f, Json image, Error *err) {
    Run *run = f->run;
    bool valid = json_array_len(image) >= INJECTED_FIELDS;
    int64_t where = valid ? image_int(image, INJECTED_WHERE) : -1;
    FlowProblems problems = {0};
    FlowAround there = around(f, valid ? (uint32_t)image_int(image, INJECTED_LEVEL) : 0);
    Flow *flow = where >= INJECT_BEFORE && where <= INJECT_AFTER
                     ? flow_load_definition_inside(json_array_get(image, INJECTED_DEFINITION),
                                                   &there, &problems)
                     : NULL;
    flow_problems_clear(&problems);
    uint32_t level = valid ? (uint32_t)image_int(image, INJECTED_LEVEL) : 0;
    const Graph *beside = level < f->nlevels ? f->levels[level].graph : run->flow->main;
    if (!flow || !flow->main->nnodes || flow->main->scoped != beside->scoped) {
        flow_unref(flow);
        error_set(err, ERR_DATA, "A node that was injected does not load here.");
        return NULL;
    }
    return injected_new(f, (Injected){.id = image_int(image, INJECTED_ID),
                                      .where = (InjectWhere)where,
                                      .level = (uint32_t)image_int(image, INJECTED_LEVEL),
                                      .name = json_ref(json_array_get(image, INJECTED_NAME)),
                                      .node = json_ref(json_array_get(image, INJECTED_NODE)),
                                      .flow = flow});
}

Json injections_image(const Frame *f) {
    Json all = json_array();
    for (const Injected *at = f->injections; at; at = at->next) {
        all = json_array_push(all, injected_image(at));
    }
    return all;
}

void injected_append(Frame *f, Injected *injected) {
    Injected **end = &f->injections;
    while (*end) end = &(*end)->next;
    *end = injected;
}

bool injections_load(Frame *f, Json image, Error *err) {
    for (size_t i = 0; i < json_array_len(image); i++) {
        Injected *injected = injected_load(f, json_array_get(image, i), err);
        if (!injected) return false;
        injected_append(f, injected);
    }
    return true;
}

Json frame_injections(const Frame *f) {
    Json all = json_array();
    for (const Injected *at = f->injections; at; at = at->next) {
        all = json_array_push(all, OBJECT(KEY("id", at->id), KEY("where", where_names[at->where]),
                                          KEY("name", json_ref(at->name)),
                                          KEY("node", json_ref(at->node))));
    }
    return all;
}

const Flow *frame_injection_flow(const Frame *f, int64_t id) {
    for (const Injected *at = f->injections; at; at = at->next) {
        if (at->id == id) return at->flow;
    }
    return NULL;
}

const Node *inject_stand_in(const Frame *f) {
    for (const Injected *at = f->injections; at; at = at->next) {
        if (at->where == INJECT_INSTEAD && at->level == f->nlevels - 1) {
            return &at->flow->main->nodes[0];
        }
    }
    return NULL;
}

const Flow *run_injected_flow(const Run *run, size_t i) {
    return i < run->nflows ? run->flows[i] : NULL;
}

int64_t frame_injected(const Frame *f) {
    for (uint32_t i = f->nlevels; i; i--) {
        if (f->levels[i - 1].injected) return f->levels[i - 1].injected->id;
    }
    return 0;
}

bool frame_is_added(const Frame *f) {
    for (uint32_t i = f->nlevels; i; i--) {
        const Injected *injected = f->levels[i - 1].injected;
        if (injected && injected->where != INJECT_INSTEAD) return true;
    }
    return false;
}

bool injected_drop(Frame *f, uint32_t level) {
    bool any = false;
    for (Injected **at = &f->injections; *at;) {
        Injected *injected = *at;
        if (injected->level >= level) {
            *at = injected->next;
            injected_free(f->run, injected);
            any = true;
        } else {
            at = &injected->next;
        }
    }
    return any;
}

bool inject_stands_in(const Frame *f) {
    const Injected *injected = frame_top(f)->injected;
    return injected && injected->where == INJECT_INSTEAD;
}

bool frame_is_edited(const Frame *f) {
    return inject_stands_in(f) || inject_stand_in(f);
}

bool inject_waits_before(const Frame *f) {
    for (const Injected *at = f->injections; at; at = at->next) {
        if (at->where == INJECT_BEFORE && at->level == f->nlevels - 1) return true;
    }
    return false;
}
