/* fuzz_flow - a workflow file made of the input.
 *
 * Loading never crashes and leaves nothing behind. What loads is well formed, can be drawn in every
 * format, and comes back from its stored definition with the same graphs and expressions. The config
 * of a task comes to something, or to a sentence, with the variables of the test, and so do the inputs of a kind
 * from outside. A reader serves the input for the main file; what follows a line `#kind` in it is the kind `k`, and what
 * follows another one the kind `l`. There is nothing else, so that files outside are never touched.
 */
#include "config.h"
#include "flow.h"
#include "json_print.h"
#include "kind_inputs.h"
#include "kind_listing.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

typedef struct Bytes {
    const uint8_t *data;
    size_t size;
} Bytes;

/* Where the next part begins, after a line of its own; NULL: nowhere. */
static const uint8_t *next_part_of(const uint8_t *at, const uint8_t *end) {
    static const char line[] = "#kind\n";
    for (; end - at >= (ptrdiff_t)sizeof line - 1; at++) {
        if (memcmp(at, line, sizeof line - 1) == 0) return at;
    }
    return NULL;
}

/* Part number i of the input. */
static Bytes part_of(const Bytes *bytes, int i) {
    const uint8_t *at = bytes->data, *end = at + bytes->size;
    for (;; i--) {
        const uint8_t *next = next_part_of(at, end);
        if (!i) return (Bytes){at, (size_t)((next ? next : end) - at)};
        if (!next) return (Bytes){NULL, 0};
        at = next + strlen("#kind\n");
    }
}

static bool serve(void *ctx, const char *path, Buf *out, Error *err) {
    static const char *const paths[] = {"main.yaml", ".pawl/kinds/k.yaml", ".pawl/kinds/l.yaml"};
    for (int i = 0; i < 3; i++) {
        Bytes part = strcmp(path, paths[i]) ? (Bytes){NULL, 0} : part_of(ctx, i);
        if (!part.data && i) continue;
        if (strcmp(path, paths[i]) != 0) continue;
        buf_add(out, (const char *)part.data, part.size);
        return true;
    }
    return error_set(err, ERR_NOT_FOUND, "There are no other files.");
}

static void list(void *ctx, const char *folder, void (*each)(void *, const char *), void *to) {
    (void)ctx;
    if (strcmp(folder, ".pawl/kinds") == 0) {
        each(to, "k.yaml");
        each(to, "l.yaml");
        each(to, "notes.txt");
    }
}

/* What the kinds take of the variables of the test, or of nothing. */
static void check_inputs(const OutsideKind *kind, Json given) {
    Json values[] = {json_object(),
                     json_kind(given) == JSON_OBJECT ? json_ref(given) : json_object()};
    for (int i = 0; i < 4; i++) {
        Error err = ERROR_INIT;
        Json inputs = inputs_fill(kind, values[i / 2], i % 2, &err);
        CHECK(json_is_none(inputs) == (err.code != ERR_NONE));
        json_unref(inputs);
    }
    json_unref(values[0]);
    json_unref(values[1]);
}

static void check_problems(const FlowProblems *problems, bool loaded) {
    Buf out = BUF_INIT;
    CHECK(loaded == (problems->errors == 0));
    for (size_t i = 0; i < problems->n; i++) {
        const FlowProblem *p = &problems->items[i];
        CHECK(p->line > 0 && p->col > 0 && p->len > 0 && p->msg[0]);
        flow_problem_print(p, i % 2, &out);
        json_unref(flow_problem_json(p));
    }
    buf_clear(&out);
}

static void check_edges(const Graph *g, Edges edges) {
    for (size_t i = 0; i < edges.n; i++) {
        const Edge *e = &edges.items[i];
        CHECK(e->ntargets > 0 && e->line > 0 && e->col > 0);
        CHECK(e->join == NODE_END || (e->join >= 0 && (size_t)e->join < g->nnodes));
        CHECK(e->parallel || e->ntargets == 1);
        CHECK(e->when || i + 1 == edges.n);
        for (size_t k = 0; k < e->ntargets; k++) {
            CHECK(e->targets[k] == NODE_END ||
                  (e->targets[k] >= 0 && (size_t)e->targets[k] < g->nnodes));
        }
    }
}

static Json eval(void *ctx, const Expr *query, Json vars, Error *err) {
    static const JqHost host = {.budget = {.steps = 10000, .memory = 1 << 20, .depth = 100}};
    Json out = json_none();
    (void)ctx;
    JqRun *run = jq_run_new(query->program, &host);
    jq_run_start(run, json_ref(vars), NULL);
    JqStatus status = jq_run_next(run, &out);
    if (status == JQ_FAILED) {
        *err = *jq_run_error(run);
    }
    jq_run_free(run);
    return status == JQ_OUTPUT ? out : json_none();
}

static void check_config(const Graph *test, const Node *node) {
    enum { PARAMS_MAX = 256 };
    Param params[PARAMS_MAX];
    Error err = ERROR_INIT;
    Buf title = BUF_INIT;
    ConfigSource source = {test->defaults, eval, NULL};
    CHECK(node->task && node->kind->nparams <= PARAMS_MAX);
    if (config_resolve(node, &source, params, &err)) {
        for (size_t i = 0; i < node->kind->nparams; i++) {
            CHECK(!params[i].open);
            CHECK(!node->kind->params[i].required || !json_is_none(params[i].value));
        }
        config_clear(node, params);
    } else {
        CHECK(err.msg[0]);
    }
    if (!json_is_none(node->task->title)) {
        config_text(node, node->task->title, &source, &title);
    }
    buf_clear(&title);
}

static bool is_from_query(const Node *node, size_t param) {
    for (size_t i = 0; node->task && i < node->task->nvars; i++) {
        if (node->task->vars[i].param == (int)param) {
            return true;
        }
    }
    return false;
}

/* A test that is not there is read when its task begins. */
static bool holds_graph(ParamType type) {
    return type == PARAM_NODES || type == PARAM_WORKFLOW || type == PARAM_TASK ||
           type == PARAM_TASKS;
}

/* Depth is bounded by FLOW_DEPTH_MAX. */
static void check_node(const Node *node) {
    CHECK(node->kind && node->line > 0 && node->end_line >= node->line);
    CHECK(node->retry.attempts >= 1);
    for (size_t i = 0; i < node->kind->nparams; i++) {
        const ParamInfo *info = &node->kind->params[i];
        const Param *param = &node->params[i];
        CHECK(!info->required || !json_is_none(param->value) || is_from_query(node, i));
        CHECK(!info->required || info->type != PARAM_JQ || param->expr);
        CHECK(info->type != PARAM_NODE || param->node);
        CHECK(!holds_graph(info->type) || param->graph || !info->required);
        if (param->node) {
            check_node(param->node);
        }
    }
}

static void check_graph(const Flow *flow, const Graph *g) {
    CHECK((g->nnodes > 0 || g->lacks) && flow->graphs[g->id] == g);
    CHECK(!g->lacks || (g->scoped && g != flow->main));
    CHECK((g->start.n == 0) == g->scoped);
    check_edges(g, g->start);
    for (size_t i = 0; i < g->nnodes; i++) {
        CHECK(graph_node(g, g->nodes[i].name_json) == &g->nodes[i]);
        CHECK(g->nodes[i].graph == g && g->nodes[i].index == (int)i);
        CHECK((g->nodes[i].edges.n == 0) == g->scoped);
        check_node(&g->nodes[i]);
        if (g->scoped) {
            check_config(flow->main, &g->nodes[i]);
        }
        check_edges(g, g->nodes[i].edges);
        check_edges(g, g->nodes[i].error_edges);
    }
    for (size_t i = 0; i < g->nkeys; i++) {
        CHECK(graph_key(g, g->keys[i].name) == &g->keys[i]);
    }
}

static void check_drawings(const Flow *flow) {
    static const char *const formats[] = {"dot", "mermaid", "json"};
    Buf out = BUF_INIT;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        CHECK(flow_draw(flow, formats[i], &out));
    }
    buf_clear(&out);
}

static void check_definition(const Flow *flow) {
    FlowProblems problems = {0};
    Json definition = flow_definition(flow);
    Flow *again = flow_load_definition(definition, &problems);
    CHECK(again && again->ngraphs == flow->ngraphs && again->nexprs == flow->nexprs);
    flow_unref(again);
    flow_problems_clear(&problems);
    json_unref(definition);
}

static void check_numbers(const Flow *flow, const Node *node) {
    for (; node; node = node_body(node)) CHECK(node->id - flow->first_node < flow->nnodes);
}

/* As a test that another calls: YAML is read in another way then. */
static void check_called(const Flow *flow) {
    FlowProblems problems = {0};
    FlowAround around = {.first = {5, 9}, .called = true};
    Json definition = flow_definition(flow);
    Flow *again = flow_load_definition_inside(definition, &around, &problems);
    CHECK((again != NULL) == (problems.errors == 0));
    if (again) flow_renumber(again, (FlowNumbers){1000, 2000});
    for (size_t i = 0; again && i < again->ngraphs; i++) {
        const Graph *g = again->graphs[i];
        for (size_t k = 0; k < g->nnodes; k++) check_numbers(again, &g->nodes[k]);
        for (size_t k = 0; k < g->nvars; k++) {
            CHECK(g->vars[k].query->id - 1000 < again->nexprs);
        }
    }
    CHECK(!again || (again->first_expr == 1000 && again->first_node == 2000));
    flow_unref(again);
    flow_problems_clear(&problems);
    json_unref(definition);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    FlowProblems problems = {0};
    Bytes bytes = {data, size};
    static const char *const folders[] = {".pawl/kinds"};
    FlowReader reader = {.read = serve, .ctx = &bytes, .list = list};
    json_unref(kinds_outside(folders, 1, &reader));
    Flow *flow = flow_load("main.yaml", &reader, &problems);
    check_problems(&problems, flow != NULL);
    if (flow) {
        for (size_t i = 0; i < flow->ngraphs; i++) {
            check_graph(flow, flow->graphs[i]);
            if (flow->graphs[i]->outside) {
                check_inputs(flow->graphs[i]->outside, flow->main->defaults);
            }
        }
        check_drawings(flow);
        check_definition(flow);
        check_called(flow);
        flow_needs_checkpointer(flow, &problems);
    }
    flow_unref(flow);
    flow_problems_clear(&problems);
    CHECK(json_heap_bytes() == before);
    return 0;
}
