/* openapi.c - the OpenAPI document: a path for each route, from the rows. */
#include "server_inside.h"

#include "schemas.h"

#include <string.h>

enum { ID_MAX = 160 };

#define COMPONENTS "#/components/schemas/"
#define LISTEN_ABOUT                                                                   \
    "With `Accept: text/event-stream`: which events are told, as in the query of the " \
    "events of a run."

static Json schema_of(const char *text, Json *components) {
    return schema_of_shape(text, COMPONENTS, components);
}

static Json type_json(const char *type) {
    return OBJECT(KEY("type", type));
}

/* ---- a route ---- */

static bool in_path(const char *route, const char *name) {
    const char *at = route;
    size_t len = strlen(name);
    while ((at = strchr(at, '{'))) {
        at++;
        if (!strncmp(at, name, len) && at[len] == '}') return true;
    }
    return false;
}

static Json parameter(const char *where, const char *name, Json schema, bool required) {
    bool content = json_kind(json_object_get_c(schema, "anyOf")) == JSON_ARRAY ||
                   json_string_is(json_object_get_c(schema, "type"), "object") ||
                   json_string_is(json_object_get_c(schema, "type"), "array");
    Json out = OBJECT(KEY("name", name), KEY("in", where), KEY("required", required));
    if (content && !strcmp(where, "query")) { /* as JSON in the text of the query */
        return OBJECT_ADD(
            out, KEY("content", OBJECT(KEY("application/json", OBJECT(KEY("schema", schema))))));
    }
    return OBJECT_ADD(out, KEY("schema", schema));
}

/* What is asked for in headers. */
static const struct HeaderRow {
    const char *operation, *name, *about;
} headers[] = {
    {"run_start", "Idempotency-Key",
     "The run is begun once, however often it is asked for with this key. With `thread` the name is the key."},
    {"run_start", "traceparent", "The trace that the run belongs to (W3C Trace Context)."},
    {"run_start", "tracestate", "What goes with it."},
    {"run_start", "Pawl-Listen", LISTEN_ABOUT},
    {"run_resume", "Pawl-Listen", LISTEN_ABOUT},
    {"run_events", "Last-Event-ID",
     "The `id` of the last event that was heard: what came after it is told."},
    {"run_logs", "Last-Event-ID",
     "The `id` of the last piece that was heard, when it is followed."},
};

/* Whether an argument is asked for beside the path. Of those of which one is to be there, none is where the path has one. */
static bool is_asked(const Route *route, const OperationArg *arg) {
    const char *text = route_text(route);
    bool chosen = false;
    for (const OperationArg *a = route_operation(route)->args; a && a->name; a++) {
        chosen |= a->one_of && in_path(text, a->name);
    }
    return !in_path(text, arg->name) && !route_fixes(route, arg->name) && !(arg->one_of && chosen);
}

static Json body_schema(const Route *route, Json *components) {
    Json properties = json_object(), required = json_array(), one_of = json_array();
    for (const OperationArg *a = route_operation(route)->args; a && a->name; a++) {
        bool spread = route_takes_debug(route) && !strcmp(a->name, "debug");
        if (!spread && !is_asked(route, a)) continue;
        Json schema = schema_of_arg(a, COMPONENTS, components);
        if (spread) {
            properties = json_object_merge(properties, json_object_get_c(schema, "properties"));
            json_unref(schema);
            continue;
        }
        properties = json_object_with(properties, a->name, schema);
        if (a->required) required = json_array_push(required, json_string_c(a->name));
        if (a->one_of) {
            Json alone = json_array_push(json_array(), json_string_c(a->name));
            one_of = json_array_push(one_of, OBJECT(KEY("required", alone)));
        }
    }
    Json out = OBJECT(KEY("type", "object"), KEY("properties", properties),
                      KEY("additionalProperties", json_bool(false)));
    if (json_array_len(required)) out = OBJECT_ADD(out, KEY("required", json_ref(required)));
    if (json_array_len(one_of) > 1) out = OBJECT_ADD(out, KEY("oneOf", json_ref(one_of)));
    json_unref(required);
    json_unref(one_of);
    return out;
}

static Json parameters(const Route *route, bool query, Json *components) {
    const Operation *op = route_operation(route);
    Json out = json_array();
    const char *at = strchr(route_text(route), ' ') + 1;
    while ((at = strchr(at, '{'))) {
        size_t len = strcspn(++at, "}");
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        const OperationArg *a = op->args;
        while (a && a->name && strcmp(a->name, name) != 0) a++;
        Json schema = a && a->name && a->type != ARG_PATH
                          ? schema_of_arg(a, COMPONENTS, components)
                          : OBJECT(KEY("type", "string"),
                                   KEY("description", "the run: its name, its number, or the id of "
                                                      "its debug session"));
        out = json_array_push(out, parameter("path", name, schema, true));
    }
    for (const OperationArg *a = op->args; query && a && a->name; a++) {
        if (!is_asked(route, a)) continue;
        out =
            json_array_push(out, parameter("query", a->name,
                                           schema_of_arg(a, COMPONENTS, components), a->required));
    }
    if (!strcmp(op->name, "run_logs")) {
        Json follow = parameter("query", "follow", type_json("boolean"), false);
        out = json_array_push(
            out,
            OBJECT_ADD(follow, KEY("description", "as Server-Sent Events, until the run ends")));
    }
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const struct HeaderRow *h = &headers[i];
        if (strcmp(h->operation, op->name) != 0) continue;
        Json header = parameter("header", h->name, type_json("string"), false);
        out = json_array_push(out, OBJECT_ADD(header, KEY("description", h->about)));
    }
    return out;
}

static Json content(const char *type, Json schema) {
    return json_object_with(json_object(), type, OBJECT(KEY("schema", schema)));
}

static Json response(const char *about, const char *type, Json schema) {
    return OBJECT(KEY("description", about), KEY("content", content(type, schema)));
}

/* The name of its operation; of another route to it "get_debug_thread_state". */
static void name_of_route(const Route *route, char id[ID_MAX]) {
    snprintf(id, ID_MAX, "%s", route_operation(route)->name);
    if (!route_is_alias(route)) return;
    size_t n = 0;
    for (const char *c = route_text(route); *c && n + 1 < ID_MAX; c++) {
        bool letter = (*c | 0x20) >= 'a' && (*c | 0x20) <= 'z';
        if (letter) {
            id[n++] = (char)(*c | 0x20);
        } else if (*c != '{' && *c != '}' && n && id[n - 1] != '_') {
            id[n++] = '_';
        }
    }
    id[n] = '\0';
}

/* Who attaches, or begins a run with a session, needs more than the row says (auth.c). */
static OperationScope scope_of(const Operation *op, const Route *route) {
    bool debugs = route_fixes(route, "attach") || route_takes_debug(route);
    return debugs ? SCOPE_DEBUG : op->scope;
}

static Json operation_of(const Operation *op, const Route *route, Json *components) {
    const char *text = route_text(route);
    bool query = !strncmp(text, "GET ", 4) || !strncmp(text, "DELETE ", 7);
    size_t path = strcspn(text, " ") + 2, group = strcspn(text + path, "/");
    char tag[40], id[ID_MAX];
    snprintf(tag, sizeof tag, "%.*s", (int)group, text + path);
    name_of_route(route, id);
    Json problem = OBJECT(KEY("$ref", COMPONENTS "Problem"));
    bool made = !strcmp(op->name, "run_start"), logs = !strcmp(op->name, "run_logs");
    bool tells = made || logs || !strcmp(op->name, "run_resume");
    Json answers = json_object();
    if (op->stream) {
        answers =
            OBJECT_ADD(answers,
                       KEY("200", response("Server-Sent Events; `id` is where to go on.",
                                           "text/event-stream", type_json("string"))),
                       KEY("204", OBJECT(KEY("description", "The run has ended, and all of it was "
                                                            "told."))));
    } else {
        answers = json_object_with(answers, made ? "201" : "200",
                                   response(made ? "The run has begun." : "The answer.",
                                            "application/json", schema_of(op->answer, components)));
        if (made) {
            answers = OBJECT_ADD(
                answers, KEY("200", response("It was begun before, with the same "
                                             "Idempotency-Key.",
                                             "application/json", schema_of("RUN", components))));
        }
    }
    if (logs) {
        answers = OBJECT_ADD(
            answers, KEY("204", OBJECT(KEY("description", "The run has ended, and all that it "
                                                          "printed was told."))));
    }
    if (tells) { /* to whoever listens */
        Json fine = json_ref(json_object_get_c(answers, "200"));
        Json types =
            json_object_with(json_ref(json_object_get_c(fine, "content")), "text/event-stream",
                             OBJECT(KEY("schema", type_json("string"))));
        answers = OBJECT_ADD(answers, KEY("200", OBJECT_ADD(fine, KEY("content", types))));
    }
    answers = OBJECT_ADD(answers, KEY("default", response("What is wrong, and what can be done.",
                                                          "application/problem+json", problem)));
    Json out =
        OBJECT(KEY("operationId", (const char *)id), KEY("summary", op->summary),
               KEY("tags", json_array_push(json_array(), json_string_c(tag))),
               KEY("x-scope", operation_scope_names[scope_of(op, route)]),
               KEY("parameters", parameters(route, query, components)), KEY("responses", answers));
    if (!query) {
        Json body =
            OBJECT(KEY("content", content("application/json", body_schema(route, components))));
        out = OBJECT_ADD(out, KEY("requestBody", body));
    }
    return out;
}

/* ---- the document ---- */

#define SERVER_SHAPE                                                                                                                                  \
    "{version: text, store?: text, auth: bool, folder?: text, workflows?: text, started: time, "                                                      \
    "you: {token?: text, scope: text, inline: bool, beyond: {*: text}}, "                                                                             \
    "limits: {body: int, rate: int, runs: int, connections: int, connections_each: int}, load: {runs_held: int, runs_moving: int, connections: int, " \
    "streams: int, sockets: int, memory: int, loop_lag_ms: number}}"

/* Routes that are no operations. */
static const struct OwnRow {
    const char *path, *method, *id, *summary, *body, *status, *answer;
} own[] = {
    {"/sign-in", "post", "sign_in", "give a browser its cookie", "{token: text}", "200",
     "The cookie is set."},
    {"/sign-out", "post", "sign_out", "take the cookie back", NULL, "200", "The cookie is gone."},
    {"/ws", "get", "websocket", "every operation as a message of a WebSocket", NULL, "101",
     "The connection has become a WebSocket."},
};

static Json add_path(Json paths, const char *path, const char *method, Json operation) {
    Json item = json_ref(json_object_get_c(paths, path));
    if (json_is_none(item)) item = json_object();
    return json_object_with(paths, path, json_object_with(item, method, operation));
}

Json server_openapi(void) {
    Json paths = json_object(), components = json_object();
    for (const Route *r = route_next(NULL); r; r = route_next(r)) {
        const char *text = route_text(r), *path = strchr(text, ' ') + 1;
        char method[16];
        size_t n = strcspn(text, " ");
        for (size_t i = 0; i < n; i++) method[i] = (char)(text[i] | 0x20);
        method[n] = '\0';
        paths = add_path(paths, path, method, operation_of(route_operation(r), r, &components));
    }
    Json server = OBJECT(
        KEY("operationId", "server"), KEY("summary", "say who answers"),
        KEY("tags", json_array_push(json_array(), json_string_c("server"))), KEY("x-scope", "read"),
        KEY("responses", OBJECT(KEY("200", response("The answer.", "application/json",
                                                    schema_of(SERVER_SHAPE, &components))))));
    paths = add_path(paths, "/server", "get", server);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        Json body = schema_of(own[i].body ? own[i].body : "{}", &components);
        Json answers = json_object_with(json_object(), own[i].status,
                                        OBJECT(KEY("description", own[i].answer)));
        Json problem = OBJECT(KEY("$ref", COMPONENTS "Problem"));
        answers =
            OBJECT_ADD(answers, KEY("default", response("What is wrong, and what can be done.",
                                                        "application/problem+json", problem)));
        Json operation = OBJECT(KEY("operationId", own[i].id), KEY("summary", own[i].summary),
                                KEY("tags", json_array_push(json_array(), json_string_c("server"))),
                                KEY("responses", answers));
        if (own[i].body) {
            operation = OBJECT_ADD(
                operation,
                KEY("requestBody",
                    OBJECT(KEY("content", content("application/json", json_ref(body))))));
        }
        json_unref(body);
        paths = add_path(paths, own[i].path, own[i].method, operation);
    }
    components = json_object_with(
        components, "Problem",
        schema_of(
            "{type: text, title: text, status: int, code: text, detail: text, way_out?: text, "
            "field?: text, line?: int, column?: int, ...}",
            &components));
    Json bearer = OBJECT(KEY("type", "http"), KEY("scheme", "bearer"));
    Json cookie = OBJECT(KEY("type", "apiKey"), KEY("in", "cookie"), KEY("name", "pawl_token"));
    Json none = json_array_push(json_array(), json_object());
    none = json_array_push(none, OBJECT(KEY("token", json_array())));
    none = json_array_push(none, OBJECT(KEY("cookie", json_array())));
    return OBJECT(
        KEY("openapi", "3.1.0"),
        KEY("info",
            OBJECT(
                KEY("title", "Pawl"), KEY("version", PAWL_VERSION),
                KEY("description",
                    "Runs workflows, and lets people stop inside of a running one. Names of fields "
                    "may also be written in camelCase, and some routes know other words for them."))),
        KEY("servers", json_array_push(json_array(), OBJECT(KEY("url", "/api/v1")))),
        KEY("security", none), KEY("paths", paths),
        KEY("components",
            OBJECT(KEY("schemas", components),
                   KEY("securitySchemes", OBJECT(KEY("token", bearer), KEY("cookie", cookie))))));
}
