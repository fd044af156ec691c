#include "mcp_resources.h"

#include "ascii.h"
#include "json_parse.h"
#include "json_path.h"
#include "json_print.h"
#include "mcp_docs.h"
#include "mcp_prompts.h"
#include "mcp_shrink.h"
#include "mcp_tasks.h"
#include "mcp_tools.h"
#include "mcp_views.h"
#include "mcp_watch.h"
#include "mem.h"
#include "route.h"
#include "utf8.h"

#include <string.h>

enum {
    RUNS_LISTED = 30,
    LAST_LINES = 300,
    LAST_CHECKPOINTS = 100,
    URI_MAX = 2000,
    SUBSCRIBED_MAX = 500,
    COMPLETED_MAX = 100, /* as the protocol says */
};

typedef struct McpResource McpResource;

/* begin: asks for what is behind the URI, and answers the call. */
struct McpResource {
    const char *kind, *part; /* pawl://{kind}/{name}/{part}; part "": none */
    const char *template, *name, *title, *about, *type;
    void (*read)(McpCall *c, const McpUri *uri);
};

static void read_run(McpCall *c, const McpUri *uri);
static void read_state(McpCall *c, const McpUri *uri);
static void read_logs(McpCall *c, const McpUri *uri);
static void read_history(McpCall *c, const McpUri *uri);
static void read_workflow(McpCall *c, const McpUri *uri);
static void read_page(McpCall *c, const McpUri *uri);

#define JSON_TYPE "application/json"

static const McpResource rows[] = {
    {"runs", "", "pawl://runs/{thread}", "run", "A run",
     "Where a run is: its status, its state in short, what it asks, its error", JSON_TYPE,
     read_run},
    {"runs", "state", "pawl://runs/{thread}/state{?path,checkpoint}", "run-state",
     "The state of a run", "The state of a run, or the part of it at a path such as .items[3]",
     JSON_TYPE, read_state},
    {"runs", "logs", "pawl://runs/{thread}/logs{?node}", "run-logs", "The logs of a run",
     "What the nodes of a run printed last", "text/plain", read_logs},
    {"runs", "history", "pawl://runs/{thread}/history", "run-history", "The history of a run",
     "The checkpoints of a run: which node, how it ended, what it changed", JSON_TYPE,
     read_history},
    {"workflows", "", "pawl://workflows/{name}", "workflow", "A workflow",
     "The YAML of a workflow that has a name", "application/yaml", read_workflow},
    {"docs", "", "pawl://docs/{page}", "document", "A document",
     "How workflows are written, run and debugged", "text/markdown", read_page},
};
enum { NROWS = sizeof rows / sizeof *rows };

/* ---- URIs ---- */

/* A percent-encoded part; NULL: it is no text. */
static char *decoded(const char *text, size_t len) {
    Buf out = BUF_INIT;
    for (size_t i = 0; i < len; i++) {
        int high = text[i] == '%' && i + 2 < len ? ascii_hex(text[i + 1]) : -1;
        int low = high >= 0 ? ascii_hex(text[i + 2]) : -1;
        bool coded = high >= 0 && low >= 0;
        buf_addc(&out, coded ? (char)(high * 16 + low) : text[i]);
        i += coded ? 2 : 0;
    }
    bool fine = out.len && !memchr(out.data, '\0', out.len) &&
                utf8_valid_prefix(out.data, out.len) == out.len;
    if (fine) return buf_detach(&out);
    buf_clear(&out);
    return NULL;
}

static void add_encoded(Buf *out, const char *text) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
    for (const char *p = text; *p; p++) {
        if (strchr(plain, *p)) {
            buf_addc(out, *p);
        } else {
            buf_printf(out, "%%%02X", (unsigned char)*p);
        }
    }
}

static Json uri_of(const char *kind, const char *name) {
    Buf out = BUF_INIT;
    buf_printf(&out, "pawl://%s/", kind);
    add_encoded(&out, name);
    Json uri = json_string(out.data, out.len);
    buf_clear(&out);
    return uri;
}

static const McpResource *find_row(const char *kind, size_t nkind, const char *part, size_t npart) {
    for (size_t i = 0; i < NROWS; i++) {
        const McpResource *r = &rows[i];
        if (strlen(r->kind) == nkind && !memcmp(r->kind, kind, nkind) && strlen(r->part) == npart &&
            !memcmp(r->part, part, npart)) {
            return r;
        }
    }
    return NULL;
}

McpUri mcp_uri_read(const char *uri) {
    static const char scheme[] = "pawl://";
    static const char *const words[] = {"path", "checkpoint", "node"};
    McpUri out = {.query = json_object()};
    if (strncmp(uri, scheme, sizeof scheme - 1) != 0 || strlen(uri) > URI_MAX) return out;
    const char *kind = uri + sizeof scheme - 1;
    size_t nkind = strcspn(kind, "/?#");
    if (kind[nkind] != '/') return out;
    const char *name = kind + nkind + 1, *query = strchr(uri, '?');
    size_t nname = strcspn(name, "/?#");
    const char *part = name + nname + (name[nname] == '/');
    const McpResource *row = find_row(kind, nkind, part, strcspn(part, "?#"));
    out.name = row ? decoded(name, nname) : NULL;
    out.resource = out.name ? row : NULL;
    for (size_t i = 0; query && i < sizeof words / sizeof *words; i++) {
        char *value = route_query_text(query + 1, words[i]);
        if (value) out.query = json_object_with(out.query, words[i], json_string_c(value));
        mem_free(value);
    }
    return out;
}

void mcp_uri_clear(McpUri *uri) {
    mem_free(uri->name);
    json_unref(uri->query);
    *uri = (McpUri){.query = json_none()};
}

bool mcp_uri_is_of_run(const McpUri *uri, const char *thread) {
    return uri->resource && !strcmp(uri->resource->kind, "runs") && !strcmp(uri->name, thread);
}

/* ---- reading ---- */

/* What is read: its URI stands in the arguments of the call. */
static void answer_text(McpCall *c, const char *type, Json text) {
    Json content = OBJECT(KEY("uri", json_ref(json_object_get_c(c->args, "uri"))),
                          KEY("mimeType", type), KEY("text", text));
    mcp_answer_lasting(c, OBJECT(KEY("contents", json_array_push(json_array(), content))), 0, true);
}

static void answer_value(McpCall *c, Json value) {
    answer_text(c, JSON_TYPE, mcp_fitted(value, MCP_ANSWER_MAX));
    json_unref(value);
}

static void not_found(McpCall *c, const char *sentence) {
    Json data = OBJECT(KEY("uri", json_ref(json_object_get_c(c->args, "uri"))));
    mcp_refuse(c, c->era == MCP_LEGACY ? RPC_NO_RESOURCE : RPC_INVALID_PARAMS, data, "%s",
               sentence);
}

static void fail(McpCall *c, const Error *err) {
    if (err->code == ERR_NOT_FOUND) {
        not_found(c, err->msg);
    } else {
        mcp_refuse(c, error_is_askers(err->code) ? RPC_INVALID_PARAMS : RPC_INTERNAL, json_none(),
                   "%s", err->msg);
    }
}

static void on_run_there(McpCall *c, Json run, const Error *err) {
    if (err) {
        fail(c, err);
    } else {
        c->shown = answer_value;
        mcp_view_run(c, json_object_text(run, "thread"));
    }
    json_unref(run);
}

static void read_run(McpCall *c, const McpUri *uri) {
    mcp_ask(c, "run_get", OBJECT(KEY("thread", (const char *)uri->name)), on_run_there);
}

static void on_state(McpCall *c, Json answer, const Error *err) {
    if (err) {
        fail(c, err);
    } else {
        Json state = json_object_get_c(answer, "state");
        answer_value(c, json_is_none(state) ? json_null() : json_ref(state));
    }
    json_unref(answer);
}

static void read_state(McpCall *c, const McpUri *uri) {
    Json seq = json_object_get_c(uri->query, "checkpoint");
    Json number = json_kind(seq) == JSON_STRING
                      ? json_number_parse(json_string_data(&seq), json_string_len(seq))
                      : json_none();
    mcp_ask(c, "run_state",
            OBJECT(KEY("thread", (const char *)uri->name),
                   KEY("path", json_ref(json_object_get_c(uri->query, "path"))),
                   KEY("checkpoint", json_is_none(seq)      ? seq
                                     : json_is_none(number) ? json_ref(seq)
                                                            : number)),
            on_state);
}

static void on_logs(McpCall *c, Json page, const Error *err) {
    if (err) {
        fail(c, err);
        return;
    }
    Json shown = mcp_view_logs(page, true, MCP_ANSWER_MAX);
    answer_text(c, "text/plain", json_ref(json_object_get_c(shown, "text")));
    json_unref(shown);
    json_unref(page);
}

static void read_logs(McpCall *c, const McpUri *uri) {
    mcp_ask(c, "run_logs",
            OBJECT(KEY("thread", (const char *)uri->name), KEY("last", json_int(LAST_LINES)),
                   KEY("node", json_ref(json_object_get_c(uri->query, "node")))),
            on_logs);
}

static void on_history(McpCall *c, Json answer, const Error *err) {
    if (err) {
        fail(c, err);
    } else {
        answer_value(c, json_ref(answer));
    }
    json_unref(answer);
}

static void read_history(McpCall *c, const McpUri *uri) {
    mcp_ask(c, "run_history",
            OBJECT(KEY("thread", (const char *)uri->name), KEY("last", json_int(LAST_CHECKPOINTS))),
            on_history);
}

static void on_workflow(McpCall *c, Json answer, const Error *err) {
    Json text = json_object_get_c(answer, "text"),
         definition = json_object_get_c(answer, "definition");
    if (json_is_none(text)) {
        text = json_object_get(json_object_get_c(definition, "files"),
                               json_object_get_c(definition, "main"));
    }
    if (err) {
        fail(c, err);
    } else {
        answer_text(c, "application/yaml", json_is_none(text) ? json_string_c("") : json_ref(text));
    }
    json_unref(answer);
}

static void read_workflow(McpCall *c, const McpUri *uri) {
    mcp_ask(c, "workflow_get", OBJECT(KEY("name", (const char *)uri->name)), on_workflow);
}

static void read_page(McpCall *c, const McpUri *uri) {
    size_t len = 0;
    const char *text = mcp_docs_page(uri->name, &len);
    if (text) {
        answer_text(c, "text/markdown", json_string(text, len));
    } else {
        not_found(c, "There is no such document.");
    }
}

void mcp_resources_read(McpCall *c, Json params) {
    const char *uri = mcp_text(params, "uri");
    if (!uri) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "`resources/read` says the `uri` of a resource.");
        return;
    }
    c->args = OBJECT(KEY("uri", uri));
    McpUri read = mcp_uri_read(uri);
    if (read.resource) {
        read.resource->read(c, &read);
    } else {
        not_found(c, "There is no such resource; resources/templates/list says which there are.");
    }
    mcp_uri_clear(&read);
}

Json mcp_embedded(const char *uri, const char *type, Json text) {
    return OBJECT(
        KEY("type", "resource"),
        KEY("resource", OBJECT(KEY("uri", uri), KEY("mimeType", type), KEY("text", text))));
}

/* ---- lists ---- */

static Json resource(Json uri, const char *name, const char *title, const char *about,
                     const char *type) {
    return OBJECT(KEY("uri", uri), KEY("name", name), KEY("title", title),
                  KEY("description", about), KEY("mimeType", type));
}

static Json documents(void) {
    Json pages = mcp_docs_pages(), out = json_array();
    for (size_t i = 0, n = json_array_len(pages); i < n; i++) {
        Json page = json_array_get(pages, i);
        const char *name = json_object_text(page, "page");
        Json one = resource(uri_of("docs", name), name, json_object_text(page, "title"),
                            "A document of Pawl", "text/markdown");
        one = OBJECT_ADD(one, KEY("size", json_ref(json_object_get_c(page, "bytes"))));
        out = json_array_push(out, one);
    }
    json_unref(pages);
    return out;
}

/* c->view: what the list has so far. */
static void on_runs(McpCall *c, Json answer, const Error *err) {
    Json list = json_object_get_c(answer, "runs"), next = json_object_get_c(answer, "next");
    Json out = json_take(&c->view);
    if (err && !json_array_len(out)) { /* a place in the list that is none */
        json_unref(out);
        fail(c, err);
        return;
    }
    for (size_t i = 0, n = json_array_len(list); i < n; i++) {
        Json run = json_array_get(list, i);
        const char *thread = json_object_text(run, "thread"),
                   *status = json_object_text(run, "status"),
                   *workflow = json_object_text(run, "workflow");
        if (!thread) continue;
        Json about =
            json_string_fmt("A run of `%s`, %s", workflow ? workflow : "?", status ? status : "?");
        Json one = resource(uri_of("runs", thread), thread, NULL, NULL, JSON_TYPE);
        Json annotations = OBJECT(KEY("lastModified", json_ref(json_object_get_c(run, "updated"))));
        one = OBJECT_ADD(one, KEY("description", about), KEY("annotations", annotations));
        out = json_array_push(out, one);
    }
    mcp_answer_lasting(c, OBJECT(KEY("resources", out), KEY("nextCursor", json_ref(next))), 0,
                       true);
    json_unref(answer);
}

static void ask_runs(McpCall *c, const char *after) {
    mcp_ask(c, "runs", OBJECT(KEY("limit", json_int(RUNS_LISTED)), KEY("after", after)), on_runs);
}

static void on_workflows(McpCall *c, Json answer, const Error *err) {
    Json list = err ? json_none() : json_object_get_c(answer, "workflows");
    for (size_t i = 0, n = json_array_len(list); i < n; i++) {
        const char *name = json_object_text(json_array_get(list, i), "name");
        if (!name) continue;
        c->view = json_array_push(c->view, resource(uri_of("workflows", name), name, NULL,
                                                    "A workflow that runs can be started of",
                                                    "application/yaml"));
    }
    json_unref(answer);
    ask_runs(c, NULL);
}

void mcp_resources_list(McpCall *c, Json params) {
    const char *cursor = mcp_text(params, "cursor");
    c->view = json_array();
    if (cursor) {
        ask_runs(c, cursor);
    } else {
        json_put(&c->view, documents());
        mcp_ask(c, "workflows", json_object(), on_workflows);
    }
}

void mcp_resources_templates(McpCall *c, Json params) {
    enum { TTL_MS = 3600000 };
    Json out = json_array();
    if (mcp_text(params, "cursor")) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "All templates are on one page: there is no `cursor`.");
        json_unref(out);
        return;
    }
    for (size_t i = 0; i < NROWS; i++) {
        const McpResource *r = &rows[i];
        out = json_array_push(out, OBJECT(KEY("uriTemplate", r->template), KEY("name", r->name),
                                          KEY("title", r->title), KEY("description", r->about),
                                          KEY("mimeType", r->type)));
    }
    mcp_answer_lasting(c, OBJECT(KEY("resourceTemplates", out)), TTL_MS, false);
}

/* ---- changes ---- */

static bool is_uri(const char *text) {
    McpUri uri = mcp_uri_read(text);
    bool is = uri.resource != NULL;
    mcp_uri_clear(&uri);
    return is;
}

void mcp_resources_subscribe(McpCall *c, Json params) {
    const char *uri = mcp_text(params, "uri");
    McpPeer *p = c->peer;
    if (!uri || !is_uri(uri)) {
        c->args = OBJECT(KEY("uri", uri));
        not_found(c, "There is no such resource; resources/templates/list says which there are.");
    } else if (json_object_len(p->subscribed) >= SUBSCRIBED_MAX) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "At most %d resources can be subscribed to.",
                   SUBSCRIBED_MAX);
    } else {
        p->subscribed = json_object_with(p->subscribed, uri, json_bool(true));
        mcp_watch_wake(c->mcp->watch);
        mcp_answer(c, json_object());
    }
}

void mcp_resources_unsubscribe(McpCall *c, Json params) {
    const char *uri = mcp_text(params, "uri");
    if (uri) c->peer->subscribed = json_object_remove(c->peer->subscribed, json_string_c(uri));
    mcp_watch_wake(c->mcp->watch);
    mcp_answer(c, json_object());
}

static Json known_uris(Json wanted) {
    Json out = json_array();
    for (size_t i = 0, n = json_array_len(wanted); i < n && i < SUBSCRIBED_MAX; i++) {
        Json uri = json_array_get(wanted, i);
        if (json_kind(uri) == JSON_STRING && is_uri(json_string_data(&uri))) {
            out = json_array_push(out, json_ref(uri));
        }
    }
    return out;
}

void mcp_resources_listen(McpCall *c, Json params) {
    Json wanted = json_object_get_c(params, "notifications");
    if (json_kind(wanted) != JSON_OBJECT) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "`subscriptions/listen` says in `notifications` what it wants to hear.");
        return;
    }
    Json ids = json_object_get_c(wanted, "taskIds"),
         uris = json_object_get_c(wanted, "resourceSubscriptions");
    if (!json_is_none(ids) && !c->tasks) {
        Json needed =
            OBJECT(KEY("extensions", OBJECT(KEY("io.modelcontextprotocol/tasks", json_object()))));
        mcp_refuse(
            c, RPC_MISSING_CAPABILITY, OBJECT(KEY("requiredCapabilities", needed)),
            "Missing required client capability: the extension io.modelcontextprotocol/tasks.");
        return;
    }
    bool list = json_truthy(json_object_get_c(wanted, "resourcesListChanged"));
    c->filter =
        OBJECT(KEY("resourcesListChanged", list ? json_bool(true) : json_none()),
               KEY("resourceSubscriptions", json_is_none(uris) ? json_none() : known_uris(uris)),
               KEY("taskIds", json_is_none(ids) ? json_none() : mcp_tasks_known(c, ids)));
    mcp_watch_note(c, "notifications/subscriptions/acknowledged",
                   OBJECT(KEY("notifications", json_ref(c->filter))));
    mcp_watch_wake(c->mcp->watch);
}

/* ---- completion ---- */

/* c->view: {value, prefix}. */
static const char *typed(const McpCall *c) {
    const char *text = json_object_text(c->view, "value");
    return text ? text : "";
}

static void answer_values(McpCall *c, Json values) {
    size_t n = json_array_len(values);
    bool more = n > COMPLETED_MAX;
    Json shown = json_array_slice(values, 0, COMPLETED_MAX);
    mcp_answer(c, OBJECT(KEY("completion", OBJECT(KEY("values", shown), KEY("total", (uint64_t)n),
                                                  KEY("hasMore", more)))));
}

static Json push_if_begun(const McpCall *c, Json values, const char *name) {
    bool fits = name && !strncmp(name, typed(c), strlen(typed(c)));
    return fits ? json_array_push(values, json_string_c(name)) : values;
}

/* Those that begin so first; then those that have it elsewhere. */
static void on_completed_runs(McpCall *c, Json answer, const Error *err) {
    Json list = err ? json_none() : json_object_get_c(answer, "runs"), out = json_array(),
         rest = json_array();
    const char *wanted = typed(c);
    for (size_t i = 0, n = json_array_len(list); i < n; i++) {
        const char *thread = json_object_text(json_array_get(list, i), "thread");
        if (!thread) continue;
        bool begins = !strncmp(thread, wanted, strlen(wanted));
        Json *to = begins ? &out : &rest;
        *to = json_array_push(*to, json_string_c(thread));
    }
    json_unref(answer);
    answer_values(c, json_array_concat(out, rest));
}

static void complete_thread(McpCall *c, bool failed) {
    mcp_ask(c, "runs",
            OBJECT(KEY("search", typed(c)[0] ? typed(c) : NULL),
                   KEY("status", failed ? "failed" : NULL), KEY("limit", json_int(COMPLETED_MAX))),
            on_completed_runs);
}

static void on_completed_workflows(McpCall *c, Json answer, const Error *err) {
    Json list = err ? json_none() : json_object_get_c(answer, "workflows"), out = json_array();
    for (size_t i = 0, n = json_array_len(list); i < n; i++) {
        out = push_if_begun(c, out, json_object_text(json_array_get(list, i), "name"));
    }
    json_unref(answer);
    answer_values(c, out);
}

static Json completed_pages(const McpCall *c) {
    Json pages = mcp_docs_pages(), out = json_array();
    for (size_t i = 0, n = json_array_len(pages); i < n; i++) {
        out = push_if_begun(c, out, json_object_text(json_array_get(pages, i), "page"));
    }
    json_unref(pages);
    return out;
}

/* Nodes, and numbers of checkpoints, of the history. */
static void on_completed_history(McpCall *c, Json answer, const Error *err) {
    Json list = err ? json_none() : json_object_get_c(answer, "checkpoints"), seen = json_object();
    Json out = json_array();
    bool nodes = json_string_is(json_object_get_c(c->view, "name"), "node");
    for (size_t i = json_array_len(list); i-- > 0;) {
        Json one = json_array_get(list, i), seq = json_object_get_c(one, "checkpoint");
        Json text =
            nodes ? json_ref(json_object_get_c(one, "node"))
                  : json_string_fmt("%lld", json_tag(seq) == JSON_TAG_INT ? (long long)seq.i : 0);
        if (json_kind(text) == JSON_STRING && json_is_none(json_object_get(seen, text))) {
            out = push_if_begun(c, out, json_string_data(&text));
            seen = json_object_set(seen, json_ref(text), json_bool(true));
        }
        json_unref(text);
    }
    json_unref(seen);
    json_unref(answer);
    answer_values(c, out);
}

/* Keys of the object that what is typed is in: ".user.na" is in ".user". */
static size_t parent_len(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? (size_t)(dot - path) : 0;
}

static void on_completed_state(McpCall *c, Json answer, const Error *err) {
    Json state = err ? json_none() : json_object_get_c(answer, "state"), key, value,
         out = json_array();
    const char *path = typed(c);
    size_t parent = parent_len(path);
    for (size_t pos = 0;
         json_kind(state) == JSON_OBJECT && json_object_next(state, &pos, &key, &value);) {
        Buf text = BUF_INIT;
        Json step = json_array_push(json_array(), json_ref(key));
        buf_add(&text, path, parent);
        json_path_text(step, SIZE_MAX, &text);
        out = push_if_begun(c, out, text.data);
        buf_clear(&text);
        json_unref(step);
    }
    json_unref(answer);
    answer_values(c, out);
}

static void complete_of_run(McpCall *c, const char *name, const char *thread) {
    if (!thread) {
        answer_values(c, json_array());
    } else if (!strcmp(name, "path")) {
        size_t parent = parent_len(typed(c));
        mcp_ask(c, "run_state",
                OBJECT(KEY("thread", thread),
                       KEY("path", parent ? json_string(typed(c), parent) : json_none())),
                on_completed_state);
    } else {
        mcp_ask(c, "run_history",
                OBJECT(KEY("thread", thread), KEY("last", json_int(LAST_CHECKPOINTS))),
                on_completed_history);
    }
}

static bool is_template(const char *uri) {
    for (size_t i = 0; i < NROWS; i++) {
        if (!strcmp(rows[i].template, uri)) return true;
    }
    return false;
}

/* What it is about, of a resource or a prompt; false after the call was refused. */
static bool ref_is_fine(McpCall *c, Json ref) {
    const char *type = mcp_text(ref, "type"), *uri = mcp_text(ref, "uri"),
               *name = mcp_text(ref, "name");
    bool of_resource = type && !strcmp(type, "ref/resource") && uri;
    bool fine = of_resource
                    ? is_template(uri) || is_uri(uri)
                    : type && !strcmp(type, "ref/prompt") && name && mcp_prompt_is_known(name);
    if (!fine) {
        mcp_refuse(
            c, RPC_INVALID_PARAMS, json_none(),
            "`ref` is {\"type\": \"ref/resource\", \"uri\": TEMPLATE} or {\"type\": \"ref/prompt\", "
            "\"name\": PROMPT}, of one that there is.");
    }
    return fine;
}

void mcp_resources_complete(McpCall *c, Json params) {
    Json ref = json_object_get_c(params, "ref"), argument = json_object_get_c(params, "argument");
    const char *name = mcp_text(argument, "name"), *value = mcp_text(argument, "value");
    Json known = json_object_get_c(json_object_get_c(params, "context"), "arguments");
    if (!ref_is_fine(c, ref)) return;
    if (!name || !value) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "`argument` is {\"name\": ..., \"value\": TEXT}.");
        return;
    }
    c->view = OBJECT(KEY("name", name), KEY("value", value));
    const char *prompt = mcp_text(ref, "name");
    if (!strcmp(name, "thread")) {
        complete_thread(c, prompt && !strcmp(prompt, "debug_failed_run"));
    } else if (!strcmp(name, "name")) {
        mcp_ask(c, "workflows", json_object(), on_completed_workflows);
    } else if (!strcmp(name, "page")) {
        answer_values(c, completed_pages(c));
    } else if (!strcmp(name, "dialect")) {
        Json out = json_array();
        for (const char *const *d = mcp_prompt_dialects; *d; d++) out = push_if_begun(c, out, *d);
        answer_values(c, out);
    } else if (!strcmp(name, "path") || !strcmp(name, "node") || !strcmp(name, "checkpoint") ||
               !strcmp(name, "from") || !strcmp(name, "to")) {
        complete_of_run(c, name, mcp_text(known, "thread"));
    } else {
        answer_values(c, json_array());
    }
}
