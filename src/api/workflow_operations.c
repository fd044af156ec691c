/* workflow_operations.c - workflows before they run: problems, drawings, kinds, the schema. */
#include "operation.h"

#include "args.h"
#include "exec.h"
#include "flow.h"
#include "flow_bounds.h"
#include "json_build.h"
#include "kind_listing.h"
#include "mem.h"
#include "run_reading.h"
#include "things.h"

/* A workflow is given as its files, or as a path on this machine. */
#define WORKFLOW_ARGS                                                                \
    {"definition", ARG_OBJECT, .about = "the workflow: {main, files: {path: text}}", \
     .one_of = true, .shape = DEFINITION_SHAPE},                                     \
    {                                                                                \
        "path", ARG_TEXT, .about = "a file on the host's machine", .one_of = true    \
    }

static const char *const dialect_words[] = {"graph", "tasks", "pipeline", NULL};

/* whole: everything that is wrong with it, as in FlowReader. */
static Flow *load(const Host *host, Json args, bool whole, FlowProblems *problems) {
    Json definition = json_object_get_c(args, "definition");
    if (!json_is_none(definition)) {
        return flow_load_definition_inside(definition, &(FlowAround){.whole = whole}, problems);
    }
    const char *path = json_object_text(args, "path");
    Buf place = BUF_INIT;
    if (path[0] != '/' && host_folder(host)) buf_printf(&place, "%s/", host_folder(host));
    buf_adds(&place, path);
    FlowReader reader = flow_root_reader(host_bounds(host)->root);
    reader.whole = whole;
    Flow *flow = flow_load(place.data, &reader, problems);
    buf_clear(&place);
    return flow;
}

static Json problems_json(const FlowProblems *problems) {
    Json out = json_array();
    for (size_t i = 0; i < problems->n; i++) {
        out = json_array_push(out, flow_problem_json(&problems->items[i]));
    }
    return out;
}

static Json check(const Host *host, Json args, Error *err) {
    FlowProblems problems = {0};
    Flow *flow = load(host, args, true, &problems);
    (void)err;
    if (flow) flow_needs_checkpointer(flow, &problems);
    if (flow) exec_check_code(flow, &problems);
    Json listed = problems_json(&problems);
    Error refused = ERROR_INIT;
    bool allowed = !flow || flow_is_allowed(flow, host_bounds(host), &refused);
    if (!allowed) {
        listed = json_array_push(
            listed, OBJECT(KEY("file", flow->main->file), KEY("line", json_int(refused.line)),
                           KEY("col", json_int(refused.col)), KEY("severity", "error"),
                           KEY("message", refused.msg)));
    }
    Json out = OBJECT(KEY("ok", json_bool(!problems.errors && allowed)),
                      KEY("name", flow ? flow->name : NULL),
                      KEY("nodes", flow ? json_int((int64_t)flow->main->nnodes) : json_none()),
                      KEY("problems", listed));
    flow_problems_clear(&problems);
    flow_unref(flow);
    return out;
}

static Json graph(const Host *host, Json args, Error *err) {
    FlowProblems problems = {0};
    Flow *flow = load(host, args, false, &problems);
    int format = args_word(args, "format", draw_words, 0);
    Buf text = BUF_INIT;
    Json out = json_none();
    if (flow && flow_draw(flow, draw_words[format], &text)) {
        out = OBJECT(KEY("text", json_string(text.data, text.len)));
    } else {
        problems_error(&problems, "The workflow cannot be drawn.", err);
    }
    buf_clear(&text);
    flow_problems_clear(&problems);
    flow_unref(flow);
    return out;
}

/* Folders of kinds on the host's machine: those that were named, then .pawl/kinds in its folder. */
static Json kinds_there(const Host *host, Json args) {
    Json named = json_object_get_c(args, "kinds");
    size_t n = json_array_len(named) < FLOW_FOLDERS_MAX ? json_array_len(named) : FLOW_FOLDERS_MAX;
    char **folders = mem_zalloc((n + 1) * sizeof *folders);
    for (size_t i = 0; i <= n; i++) {
        Json folder = i < n ? json_ref(json_array_get(named, i)) : json_string_c(FLOW_KIND_FOLDER);
        const char *path = json_string_data(&folder);
        Buf whole = BUF_INIT;
        if (path[0] != '/' && host_folder(host)) buf_printf(&whole, "%s/", host_folder(host));
        buf_adds(&whole, path);
        folders[i] = mem_strdup(whole.data);
        buf_clear(&whole);
        json_unref(folder);
    }
    FlowReader reader = flow_root_reader(host_bounds(host)->root);
    reader.kinds = (const char *const *)folders;
    reader.nkinds = n;
    Json list = kinds_outside(reader.kinds, n + 1, &reader);
    for (size_t i = 0; i <= n; i++) mem_free(folders[i]);
    mem_free(folders);
    return list;
}

static Json kinds_op(const Host *host, Json args, Error *err) {
    int dialect = args_word(args, "dialect", dialect_words, -1);
    (void)err;
    return OBJECT(KEY("kinds", json_array_concat(kinds_rows(dialect), kinds_there(host, args))));
}

static Json schema(const Host *host, Json args, Error *err) {
    const char *dialect = dialect_words[args_word(args, "dialect", dialect_words, 0)];
    Json there = kinds_there(host, args);
    Json out = OBJECT(KEY("schema", schema_with_kinds(flow_schema(dialect), dialect, there)));
    (void)err;
    json_unref(there);
    return out;
}

#define KINDS_ARG \
    { "kinds", ARG_ARRAY, .about = "folders of kinds, beside .pawl/kinds there", .shape = "[text]" }

const Operation workflow_operations[] = {
    {.name = "check",
     .summary = "say everything that is wrong with a workflow",
     .scope = SCOPE_READ,
     .route = "POST /workflows/check",
     .idempotent = true,
     .args = ARGS(WORKFLOW_ARGS),
     .answer = "{ok: bool, name?: text, nodes?: int, problems: [PROBLEM]}",
     .make = check,
     .files = true},
    {.name = "workflow_graph",
     .summary = "draw a workflow",
     .scope = SCOPE_READ,
     .route = "POST /workflows/graph",
     .idempotent = true,
     .args = ARGS(WORKFLOW_ARGS,
                  {"format", ARG_TEXT, .about = "left out, mermaid", .words = draw_words}),
     .answer = "{text: text}",
     .make = graph,
     .files = true},
    {.name = "kinds",
     .summary = "list the kinds of nodes, tasks and steps, and those from outside",
     .scope = SCOPE_READ,
     .route = "GET /kinds",
     .idempotent = true,
     .lasting = true,
     .args =
         ARGS({"dialect", ARG_TEXT, .about = "left out, all", .words = dialect_words}, KINDS_ARG),
     .answer = "{kinds: [{name: text, dialect: \"graph\"|\"tasks\"|\"pipeline\"|\"any\", "
               "help: text, schema?: object, outputs?: [text], file?: text, error?: text, "
               "hidden?: [text]}]}",
     .make = kinds_op,
     .files = true},
    {.name = "schema",
     .summary = "give the JSON Schema of a dialect, with kinds from outside",
     .scope = SCOPE_READ,
     .route = "GET /schema",
     .idempotent = true,
     .lasting = true,
     .args =
         ARGS({"dialect", ARG_TEXT, .about = "left out, graph", .words = dialect_words}, KINDS_ARG),
     .answer = "{schema: object}",
     .make = schema,
     .files = true},
    {0},
};
