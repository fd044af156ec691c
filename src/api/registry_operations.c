/* registry_operations.c - workflows that have a name: listing, reading, putting and deleting them. */
#include "operation.h"

#include "args.h"
#include "flow.h"
#include "flow_bounds.h"
#include "json_binary.h"
#include "json_build.h"
#include "mem.h"
#include "registry.h"
#include "run_reading.h"
#include "things.h"

/* What is asked of the registry, on a thread with the store: its folder is known there. */
typedef Json RegistryCall(const Registry *registry, Json args, const char *by, Error *err);

typedef struct Asking {
    HostJob job; /* first */
    const Host *host;
    RegistryCall *call;
    Buf args; /* encoded */
    Json answer;
    Reply reply;
} Asking;

static void work(HostJob *job, Store *store) {
    Asking *a = (Asking *)job;
    const char *folder = store_folder(store, &job->err);
    Json args =
        folder ? json_decode(a->args.data, a->args.len, &(size_t){0}, &job->err) : json_none();
    if (json_is_none(args)) return;
    Registry registry = {host_workflows(a->host), folder, host_workflow_bounds(a->host),
                         host_bounds(a->host)};
    a->answer = a->call(&registry, args, a->reply.by, &job->err);
    json_unref(args);
}

static void on_done(HostJob *job) {
    Asking *a = (Asking *)job;
    a->reply.give(a->reply.ctx, a->answer, json_is_none(a->answer) ? &job->err : NULL);
    buf_clear(&a->args);
    mem_free(a);
}

static void ask(Host *host, HostNeed need, RegistryCall *call, Json args, Reply reply) {
    Asking *a = mem_zalloc(sizeof *a);
    *a = (Asking){.job = {.need = need, .work = work, .done = on_done},
                  .host = host,
                  .call = call,
                  .answer = json_none(),
                  .reply = reply};
    json_encode(args, &a->args);
    host_ask(host, &a->job);
}

/* ---- calls ---- */

static Json list(const Registry *registry, Json args, const char *by, Error *err) {
    (void)by;
    (void)args;
    return registry_list(registry, err);
}

static Json get(const Registry *registry, Json args, const char *by, Error *err) {
    (void)by;
    return registry_get(registry, json_object_text(args, "name"), args_int(args, "version", 0),
                        err);
}

/* A text becomes the one file of a workflow that is called like it. */
static Json definition_of(Json args) {
    Json given = json_object_get_c(args, "definition");
    if (!json_is_none(given)) return json_ref(given);
    Json main = json_string_fmt("%s.yaml", json_object_text(args, "name"));
    Json files =
        json_object_set(json_object(), json_ref(main), json_ref(json_object_get_c(args, "text")));
    return OBJECT(KEY("main", main), KEY("files", files));
}

static Json put(const Registry *registry, Json args, const char *by, Error *err) {
    const char *name = json_object_text(args, "name");
    Json definition = definition_of(args), out = json_none();
    FlowProblems problems = {0};
    Flow *flow = flow_load_definition(definition, &problems);
    if (!flow) problems_error(&problems, "The text is no workflow.", err);
    bool allowed = flow && flow_is_allowed(flow, registry->runs, err);
    int64_t version = allowed ? registry_put(registry, name, definition, by, err) : 0;
    if (version) out = OBJECT(KEY("name", name), KEY("version", version));
    flow_unref(flow);
    flow_problems_clear(&problems);
    json_unref(definition);
    return out;
}

static Json draw(const Registry *registry, Json args, const char *by, Error *err) {
    (void)by;
    const char *name = json_object_text(args, "name");
    Json definition = registry_definition(registry, name, args_int(args, "version", 0), err);
    Json out = json_none();
    if (json_is_none(definition)) return out;
    FlowProblems problems = {0};
    Flow *flow = flow_load_definition(definition, &problems);
    Buf text = BUF_INIT;
    if (flow && flow_draw(flow, draw_words[args_word(args, "format", draw_words, 0)], &text)) {
        out = OBJECT(KEY("text", json_string(text.data, text.len)));
    } else {
        problems_error(&problems, "The workflow cannot be drawn.", err);
    }
    buf_clear(&text);
    flow_unref(flow);
    flow_problems_clear(&problems);
    json_unref(definition);
    return out;
}

static Json delete (const Registry *registry, Json args, const char *by, Error *err) {
    (void)by;
    const char *name = json_object_text(args, "name");
    return registry_delete(registry, name, err) ? OBJECT(KEY("deleted", name)) : json_none();
}

static void call_list(Host *host, Json args, Reply reply) {
    ask(host, HOST_CREATES, list, args, reply);
}

static void call_get(Host *host, Json args, Reply reply) {
    ask(host, HOST_CREATES, get, args, reply);
}

static void call_put(Host *host, Json args, Reply reply) {
    ask(host, HOST_CREATES, put, args, reply);
}

static void call_draw(Host *host, Json args, Reply reply) {
    ask(host, HOST_CREATES, draw, args, reply);
}

static void call_delete(Host *host, Json args, Reply reply) {
    ask(host, HOST_CREATES, delete, args, reply);
}

/* ---- rows ---- */

#define NAME_ARG \
    { "name", ARG_TEXT, .about = "the name of the workflow", .required = true }

const Operation registry_operations[] = {
    {.name = "workflows",
     .summary = "list the workflows that runs can be started of by name",
     .scope = SCOPE_READ,
     .route = "GET /workflows",
     .idempotent = true,
     .answer = "{workflows: [" REGISTERED_SHAPE "], left_out?: [" LEFT_OUT_SHAPE "]}",
     .call = call_list},
    {.name = "workflow_get",
     .summary = "give a workflow that has a name",
     .scope = SCOPE_READ,
     .route = "GET /workflows/{name}",
     .idempotent = true,
     .lasting = true,
     .args = ARGS(NAME_ARG, {"version", ARG_INT, .about = "left out, the newest", .min = 1,
                             .max = ARG_COUNTING}),
     .answer =
         "{name: text, source: \"folder\"|\"store\", file?: text, version?: int, updated: time, text?: text, "
         "definition?: {main: text, files: {*: text}, ...}, versions?: [{version: int, at: time, by?: text}]}",
     .call = call_get},
    {.name = "workflow_put",
     .summary = "give a workflow a name, or a named one a new version",
     .scope = SCOPE_ADMIN,
     .route = "PUT /workflows/{name}",
     .idempotent = true,
     .args = ARGS(NAME_ARG,
                  {"definition", ARG_OBJECT, .about = "the workflow: {main, files: {path: text}}",
                   .one_of = true, .shape = DEFINITION_SHAPE},
                  {"text", ARG_TEXT, .about = "its file, where that is all of it", .one_of = true}),
     .answer = "{name: text, version: int}",
     .call = call_put},
    {.name = "workflow_draw",
     .summary = "draw a workflow that has a name",
     .scope = SCOPE_READ,
     .route = "GET /workflows/{name}/graph",
     .idempotent = true,
     .lasting = true,
     .args =
         ARGS(NAME_ARG,
              {"version", ARG_INT, .about = "left out, the newest", .min = 1, .max = ARG_COUNTING},
              {"format", ARG_TEXT, .about = "left out, mermaid", .words = draw_words}),
     .answer = "{text: text}",
     .call = call_draw},
    {.name = "workflow_delete",
     .summary = "forget a workflow that has a name; runs of it go on",
     .scope = SCOPE_ADMIN,
     .route = "DELETE /workflows/{name}",
     .args = ARGS(NAME_ARG),
     .answer = "{deleted: text}",
     .call = call_delete},
    {0},
};
