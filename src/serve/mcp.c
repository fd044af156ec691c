/* mcp.c - the methods of the protocol, the calls that are under way, and those who stay. */
#include "mcp_inside.h"

#include "ascii.h"
#include "mcp_prompts.h"
#include "mcp_resources.h"
#include "mcp_tasks.h"
#include "mcp_tools.h"
#include "mcp_wait.h"
#include "mcp_watch.h"
#include "mem.h"
#include "utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PROGRESS_MS = 100 };

#define META(name) "io.modelcontextprotocol/" name

/* The newest of each era first. */
static const struct Version {
    const char *name;
    McpEra era;
} versions[] = {
    {"2026-07-28", MCP_MODERN}, {"2025-11-25", MCP_LEGACY}, {"2025-06-18", MCP_LEGACY},
    {"2025-03-26", MCP_LEGACY}, {"2024-11-05", MCP_LEGACY},
};
enum { NVERSIONS = sizeof versions / sizeof *versions };

const char *const mcp_levels[] = {"debug",    "info",  "notice",    "warning", "error",
                                  "critical", "alert", "emergency", NULL};

int mcp_level(const char *name) {
    for (int i = 0; name && mcp_levels[i]; i++) {
        if (!strcmp(mcp_levels[i], name)) return i;
    }
    return -1;
}

static const struct Version *find_version(const char *name, McpEra era) {
    for (size_t i = 0; i < NVERSIONS; i++) {
        if (versions[i].era == era && (!name || !strcmp(versions[i].name, name))) {
            return &versions[i];
        }
    }
    return NULL;
}

bool mcp_version_is_known(const char *version) {
    return find_version(version, MCP_MODERN) || find_version(version, MCP_LEGACY);
}

unsigned mcp_profile(const char *names, Error *err) {
    static const struct {
        const char *name;
        unsigned groups;
    } rows[] = {{"workflows", MCP_WORKFLOWS},
                {"runs", MCP_RUNS},
                {"debugging", MCP_DEBUGGING},
                {"all", MCP_ALL_GROUPS}};
    unsigned groups = 0;
    for (const char *at = names; *at;) {
        size_t len = strcspn(at, ","), i = 0;
        while (i < sizeof rows / sizeof *rows &&
               (strlen(rows[i].name) != len || strncmp(rows[i].name, at, len) != 0)) {
            i++;
        }
        if (i == sizeof rows / sizeof *rows) {
            error_set(err, ERR_USAGE,
                      "A profile is workflows, runs or debugging, several parted by commas, or "
                      "all; `%.*s` is none.",
                      len > 40 ? 40 : (int)len, at);
            return 0;
        }
        groups |= rows[i].groups;
        at += len + (at[len] == ',');
    }
    if (!groups) error_set(err, ERR_USAGE, "A profile names groups of tools: workflows,runs.");
    return groups;
}

/* ---- answers ---- */

static Json implementation(void) {
    return OBJECT(KEY("name", "pawl"), KEY("title", "Pawl"), KEY("version", PAWL_VERSION),
                  KEY("description", "Runs workflows durably, and stops inside of a running one."));
}

/* A call that is answered is left by those who are at it, and goes with the last of them. */
static void stop_timer(McpCall *c);

static void settle(McpCall *c) {
    c->answered = true;
    mcp_wait_end(c->wait);
    c->wait = NULL;
    stop_timer(c);
}

/* Consumes the message; JSON_NONE: there is none. */
static void send_answer(McpCall *c, Json message, int status) {
    McpOutlet outlet = c->outlet;
    settle(c);
    outlet.answer(outlet.ctx, message, status);
}

static Json with_era(const McpCall *c, Json result) {
    if (c->era == MCP_LEGACY) return result;
    Json type = json_object_get_c(result, "resultType");
    if (json_is_none(type)) result = OBJECT_ADD(result, KEY("resultType", "complete"));
    Json meta = json_ref(json_object_get_c(result, "_meta"));
    if (json_is_none(meta)) meta = json_object();
    meta = OBJECT_ADD(meta, KEY(META("serverInfo"), implementation()));
    return OBJECT_ADD(result, KEY("_meta", meta));
}

void mcp_answer(McpCall *c, Json result) {
    if (c->answered) {
        json_unref(result);
    } else if (c->task) {
        settle(c);
        mcp_task_done(c->task, result, json_none());
    } else {
        send_answer(c, rpc_result(c->id, with_era(c, result)), 200);
    }
}

void mcp_answer_first(McpCall *c, Json result) {
    McpOutlet outlet = c->outlet;
    c->outlet = (McpOutlet){0};
    outlet.answer(outlet.ctx, rpc_result(c->id, with_era(c, result)), 200);
}

void mcp_answer_lasting(McpCall *c, Json result, int64_t ttl_ms, bool mine) {
    if (c->era == MCP_MODERN) {
        result = OBJECT_ADD(result, KEY("ttlMs", ttl_ms),
                            KEY("cacheScope", mine ? "private" : "public"));
    }
    mcp_answer(c, result);
}

/* That HTTP gives an error: of the new era it is told by it what has to be done about the request itself. */
static int status_of(const McpCall *c, int code) {
    if (c->era == MCP_LEGACY) return code == RPC_INVALID_REQUEST ? 400 : 200;
    switch (code) {
    case RPC_NO_METHOD: return 404;
    case RPC_INTERNAL: return 500;
    default: return 400;
    }
}

static void refuse(McpCall *c, int status, int code, Json data, const char *sentence) {
    if (c->answered) {
        json_unref(data);
    } else if (c->task) {
        Json error =
            OBJECT(KEY("code", json_int(code)), KEY("message", sentence), KEY("data", data));
        settle(c);
        mcp_task_done(c->task, json_none(), error);
    } else {
        send_answer(c, rpc_error(c->id, code, sentence, data), status);
    }
}

void mcp_refuse(McpCall *c, int code, Json data, const char *fmt, ...) {
    Error err = ERROR_INIT;
    va_list args;
    va_start(args, fmt);
    error_vset_at(&err, ERR_USAGE, 0, 0, fmt, args);
    va_end(args);
    refuse(c, status_of(c, code), code, data, err.msg);
}

void mcp_note(McpCall *c, const char *method, Json params) {
    if (c->answered || c->task) {
        json_unref(params);
    } else {
        c->outlet.note(c->outlet.ctx, rpc_notification(method, params));
    }
}

const char *mcp_text(Json params, const char *key) {
    return json_object_text(params, key);
}

void mcp_progress(McpCall *c, const char *message) {
    Json token = json_object_get_c(c->meta, "progressToken");
    uint64_t now = uv_now(c->mcp->options.loop);
    c->progress += 1;
    bool wanted = json_kind(token) == JSON_STRING || json_kind(token) == JSON_NUMBER;
    if (!wanted || (c->progressed && now < c->progressed + PROGRESS_MS)) return;
    c->progressed = now ? now : 1;
    mcp_note(c, "notifications/progress",
             OBJECT(KEY("progressToken", json_ref(token)), KEY("progress", c->progress),
                    KEY("message", message)));
}

void mcp_log(McpCall *c, const char *level, const char *of, Json data) {
    if (c->level < 0 || mcp_level(level) < c->level) {
        json_unref(data);
        return;
    }
    mcp_note(c, "notifications/message",
             OBJECT(KEY("level", level), KEY("logger", of), KEY("data", data)));
}

/* ---- the life of a call ---- */

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static void stop_timer(McpCall *c) {
    if (c->timer) uv_close((uv_handle_t *)c->timer, free_handle);
    c->timer = NULL;
}

void mcp_hold(McpCall *c) {
    c->holds++;
}

static void let_go(Mcp *m);

void mcp_release(McpCall *c) {
    Mcp *m = c->mcp;
    if (--c->holds || !c->answered) return;
    if (c->prev) c->prev->next = c->next;
    if (c->next) c->next->prev = c->prev;
    if (m->calls == c) m->calls = c->next;
    json_unref(c->id);
    json_unref(c->meta);
    json_unref(c->args);
    json_unref(c->view);
    json_unref(c->filter);
    mem_free(c->thread);
    mem_free(c);
    let_go(m);
}

void mcp_call_drop(McpCall *c) {
    mcp_hold(c);
    if (!c->answered) settle(c);
    mcp_release(c);
}

/* What whoever calls says of itself is on record with what it changes, where no token says who it is. */
static void take_name(const char *name, char out[64]) {
    size_t n = 0;
    if (out[0] || !name) return;
    for (const char *p = name; *p && n < 48; p++) {
        if ((unsigned char)*p >= ' ' && (unsigned char)*p < 0x7f) out[n++] = *p;
    }
    out[n] = '\0';
}

static bool says_tasks(Json capabilities) {
    Json extensions = json_object_get_c(capabilities, "extensions");
    return !json_is_none(json_object_get_c(extensions, META("tasks")));
}

static McpCall *call_new(Mcp *m, const McpFrom *from, const RpcMessage *message, McpEra era) {
    McpCall *c = mem_zalloc(sizeof *c);
    *c = (McpCall){.mcp = m,
                   .next = m->calls,
                   .peer = from->peer,
                   .outlet = from->outlet,
                   .era = era,
                   .asker = from->asker,
                   .groups = m->options.groups & (from->groups ? from->groups : MCP_ALL_GROUPS),
                   .id = json_ref(message->id),
                   .meta = json_ref(message->meta),
                   .args = json_none(),
                   .view = json_none(),
                   .filter = json_none(),
                   .level = -1};
    if (c->next) c->next->prev = c;
    m->calls = c;
    if (era == MCP_MODERN) {
        c->level = mcp_level(mcp_text(c->meta, META("logLevel")));
        c->tasks = says_tasks(json_object_get_c(c->meta, META("clientCapabilities")));
        take_name(mcp_text(json_object_get_c(c->meta, META("clientInfo")), "name"), c->asker.name);
    } else if (c->peer) {
        c->level = c->peer->level;
        take_name(c->peer->name, c->asker.name);
    }
    return c;
}

/* ---- asking for operations ---- */

typedef struct Ask {
    McpCall *call;
    McpThen then;
    const Operation *op;
    Json args;
    char *thread;  /* that it is of; NULL: none */
    bool windowed; /* it has a window, until it is done */
    char by[sizeof((Asker){0}.name)];
} Ask;

bool mcp_may(const McpCall *c, OperationScope scope) {
    return c->asker.scope >= scope;
}

static bool allows(const McpCall *c, const Operation *op, Json args, Error *err) {
    const McpOptions *o = &c->mcp->options;
    if (o->allows) return o->allows(o->ctx, &c->asker, op, args, err);
    bool debugs = !strcmp(op->name, "run_start") && !json_is_none(json_object_get_c(args, "debug"));
    OperationScope needed = debugs && op->scope < SCOPE_DEBUG ? SCOPE_DEBUG : op->scope;
    return mcp_may(c, needed) ||
           error_set(err, ERR_FORBIDDEN, "Nothing may be changed here: this door only reads.");
}

static void on_reply(void *ctx, Json answer, const Error *err) {
    Ask *a = ctx;
    McpCall *c = a->call;
    McpThen then = a->then;
    Error why = ERROR_INIT;
    if (err) why = *err;
    if (a->windowed && !c->mcp->closing) windows_done(c->mcp->options.windows, a->thread, !err);
    mem_free(a->thread);
    json_unref(a->args);
    mem_free(a);
    if (c->answered) {
        json_unref(answer);
    } else {
        then(c, answer, err ? &why : NULL);
    }
    mcp_release(c);
}

static void go(Ask *a) {
    ClientCall call = {a->op->name, json_ref(a->args), a->by[0] ? a->by : NULL, on_reply, a};
    client_call_for(a->call->mcp->options.client, &call);
}

static void on_window(void *ctx, const Error *err) {
    Ask *a = ctx;
    a->windowed = !err;
    if (err || a->call->answered) {
        Error gone = ERROR_INIT;
        error_set(&gone, ERR_CANCELLED, "Nobody waits for it any more.");
        on_reply(a, json_none(), err ? err : &gone);
    } else {
        go(a);
    }
}

void mcp_ask(McpCall *c, const char *operation, Json args, McpThen then) {
    Error err = ERROR_INIT;
    const Operation *op = operation_find(operation, &err);
    const char *thread = json_object_text(args, "thread");
    mcp_hold(c);
    if (!op || !operation_check(op, args, &err) || !allows(c, op, args, &err)) {
        json_unref(args);
        then(c, json_none(), &err);
        mcp_release(c);
        return;
    }
    Ask *a = mem_zalloc(sizeof *a);
    *a = (Ask){.call = c, .then = then, .op = op, .args = args, .thread = mem_strdup(thread)};
    snprintf(a->by, sizeof a->by, "%s", c->asker.name);
    if (a->thread) windows_touch(c->mcp->options.windows, a->thread);
    bool debugs = operation_is_of_run(op) && op->scope == SCOPE_DEBUG && a->thread;
    if (debugs && strcmp(op->name, "run_open") != 0) {
        windows_want(c->mcp->options.windows, a->thread, on_window, a);
    } else {
        go(a);
    }
}

/* Here it becomes the window; a server is one itself. */
static void on_opened(McpCall *c, Json answer, const Error *err) {
    const char *thread = json_object_text(answer, "thread");
    McpThen then = c->then;
    if (thread && !c->mcp->closing) windows_keep(c->mcp->options.windows, thread);
    then(c, answer, err);
}

void mcp_open(McpCall *c, const char *thread, McpThen then) {
    c->then = then;
    mcp_ask(c, "run_open", OBJECT(KEY("thread", thread)), on_opened);
}

/* ---- methods ---- */

#define INSTRUCTIONS                                                                                   \
    "Pawl runs workflows (YAML files of nodes: shell, jq, http, approvals, loops, branches) durably "  \
    "and can stop inside of a running one. A run is named by its `thread`. To find out why a run "     \
    "failed: get_run, read_logs, then debug_start with its thread, debug_where to see the node, its "  \
    "error and what it sees, debug_set or debug_config_set to mend it, debug_retry to try it again. "  \
    "Tools that wait return after at most 30 seconds (`wait` says otherwise) with how things stand; "  \
    "the run goes on, and wait_for_run waits on. Large values come cut: `cut` in an answer says what " \
    "was left out and which call reads on. To write a workflow: explain_kind and read_docs, then "     \
    "check_workflow, then start_run."

static Json capabilities(McpEra era) {
    Json out = OBJECT(KEY("tools", json_object()),
                      KEY("resources", OBJECT(KEY("subscribe", json_bool(true)),
                                              KEY("listChanged", json_bool(true)))),
                      KEY("prompts", json_object()), KEY("completions", json_object()),
                      KEY("logging", json_object()));
    if (era == MCP_MODERN) {
        return OBJECT_ADD(out, KEY("extensions", OBJECT(KEY(META("tasks"), json_object()))));
    }
    Json requests = OBJECT(KEY("tools", OBJECT(KEY("call", json_object()))));
    return OBJECT_ADD(out,
                      KEY("tasks", OBJECT(KEY("list", json_object()), KEY("cancel", json_object()),
                                          KEY("requests", requests))));
}

static void initialize(McpCall *c, Json params) {
    McpPeer *p = c->peer;
    const char *wanted = mcp_text(params, "protocolVersion");
    if (!p) {
        mcp_refuse(c, RPC_INVALID_REQUEST, json_none(), "There is nobody here who could begin.");
    } else if (p->version) {
        mcp_refuse(c, RPC_INVALID_REQUEST, json_none(), "`initialize` has been said already.");
    } else if (!wanted) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "`initialize` says its `protocolVersion`, as \"%s\".",
                   find_version(NULL, MCP_LEGACY)->name);
    } else {
        const struct Version *v = find_version(wanted, MCP_LEGACY);
        p->version = v ? v->name : find_version(NULL, MCP_LEGACY)->name;
        take_name(mcp_text(json_object_get_c(params, "clientInfo"), "name"), p->name);
        mcp_answer(c,
                   OBJECT(KEY("protocolVersion", p->version),
                          KEY("capabilities", capabilities(MCP_LEGACY)),
                          KEY("serverInfo", implementation()), KEY("instructions", INSTRUCTIONS)));
    }
}

/* Those of the new era: the others are agreed on by `initialize`. */
static Json names_of(void) {
    Json out = json_array();
    for (size_t i = 0; i < NVERSIONS; i++) {
        if (versions[i].era == MCP_MODERN)
            out = json_array_push(out, json_string_c(versions[i].name));
    }
    return out;
}

static void discover(McpCall *c, Json params) {
    enum { TTL_MS = 3600000 };
    (void)params;
    mcp_answer_lasting(c,
                       OBJECT(KEY("supportedVersions", names_of()),
                              KEY("capabilities", capabilities(MCP_MODERN)),
                              KEY("instructions", INSTRUCTIONS)),
                       TTL_MS, false);
}

static void ping(McpCall *c, Json params) {
    (void)params;
    mcp_answer(c, json_object());
}

static void set_level(McpCall *c, Json params) {
    int level = mcp_level(mcp_text(params, "level"));
    if (level < 0) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "`level` is debug, info, notice, warning, error, critical, alert or emergency.");
        return;
    }
    c->peer->level = level;
    mcp_answer(c, json_object());
}

enum { LEGACY = 1, MODERN = 2, BOTH = 3 };

/* first: it may come before `initialize`. */
static const struct Method {
    const char *name;
    int eras;
    bool first;
    void (*begin)(McpCall *c, Json params);
} methods[] = {
    {"initialize", LEGACY, true, initialize},
    {"ping", LEGACY, true, ping},
    {"server/discover", MODERN, false, discover},
    {"tools/list", BOTH, false, mcp_tools_list},
    {"tools/call", BOTH, false, mcp_tools_call},
    {"resources/list", BOTH, false, mcp_resources_list},
    {"resources/templates/list", BOTH, false, mcp_resources_templates},
    {"resources/read", BOTH, false, mcp_resources_read},
    {"resources/subscribe", LEGACY, false, mcp_resources_subscribe},
    {"resources/unsubscribe", LEGACY, false, mcp_resources_unsubscribe},
    {"subscriptions/listen", MODERN, false, mcp_resources_listen},
    {"prompts/list", BOTH, false, mcp_prompts_list},
    {"prompts/get", BOTH, false, mcp_prompts_get},
    {"completion/complete", BOTH, false, mcp_resources_complete},
    {"logging/setLevel", LEGACY, false, set_level},
    {"tasks/get", BOTH, false, mcp_tasks_get},
    {"tasks/cancel", BOTH, false, mcp_tasks_cancel},
    {"tasks/update", MODERN, false, mcp_tasks_update},
    {"tasks/result", LEGACY, false, mcp_tasks_result},
    {"tasks/list", LEGACY, false, mcp_tasks_list},
};

static const struct Method *find_method(const char *name, McpEra era) {
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        bool of_era = methods[i].eras & (era == MCP_MODERN ? MODERN : LEGACY);
        if (of_era && !strcmp(methods[i].name, name)) return &methods[i];
    }
    return NULL;
}

/* ---- messages ---- */

McpEra mcp_era(Json message) {
    Json params =
        json_kind(message) == JSON_OBJECT ? json_object_get_c(message, "params") : json_none();
    Json meta = json_kind(params) == JSON_OBJECT ? json_object_get_c(params, "_meta") : json_none();
    bool says = json_kind(meta) == JSON_OBJECT &&
                !json_is_none(json_object_get_c(meta, META("protocolVersion")));
    return says ? MCP_MODERN : MCP_LEGACY;
}

/* What every request of the new era says of itself. */
static bool is_whole(McpCall *c) {
    const char *version = mcp_text(c->meta, META("protocolVersion"));
    Json capabilities = json_object_get_c(c->meta, META("clientCapabilities"));
    if (!version || json_kind(capabilities) != JSON_OBJECT) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "Every request says \"%s\", a text, and \"%s\", an object, in params._meta.",
                   META("protocolVersion"), META("clientCapabilities"));
        return false;
    }
    if (find_version(version, MCP_MODERN)) return true;
    mcp_refuse(c, RPC_UNSUPPORTED_VERSION,
               OBJECT(KEY("supported", names_of()), KEY("requested", version)),
               "Unsupported protocol version.");
    return false;
}

static void cancel(Mcp *m, const McpPeer *peer, Json params) {
    Json id = json_object_get_c(params, "requestId");
    for (McpCall *c = m->calls; c && peer && !json_is_none(id); c = c->next) {
        if (c->peer == peer && !c->answered && !c->task && json_equal(c->id, id)) {
            mcp_hold(c);
            send_answer(c, json_none(), 202);
            mcp_release(c);
            return;
        }
    }
}

static void notice(Mcp *m, const McpFrom *from, const RpcMessage *message) {
    if (!strcmp(message->method, "notifications/cancelled")) {
        cancel(m, from->peer, message->params);
    } else if (!strcmp(message->method, "notifications/initialized") && from->peer) {
        from->peer->ready = from->peer->version != NULL;
        mcp_watch_wake(m->watch);
    }
}

static bool has_room(const McpCall *c) {
    size_t n = 0;
    for (const McpCall *o = c->mcp->calls; o && c->peer; o = o->next) {
        if (o->peer == c->peer && !o->answered && !o->task) n++;
    }
    return n <= MCP_CALLS_MAX;
}

static bool has_own_id(const McpCall *c) {
    for (const McpCall *o = c->mcp->calls; o && c->peer; o = o->next) {
        if (o != c && o->peer == c->peer && !o->answered && !o->task && json_equal(o->id, c->id)) {
            return false;
        }
    }
    return true;
}

static void begin(McpCall *c, const RpcMessage *message) {
    const struct Method *method = find_method(message->method, c->era);
    bool begun = c->era == MCP_MODERN || (c->peer && c->peer->version);
    if (c->mcp->closing) {
        mcp_refuse(c, RPC_INTERNAL, json_none(), "This server is stopping.");
    } else if (!has_room(c)) {
        mcp_refuse(c, RPC_INTERNAL, json_none(), "%d requests are not answered yet.",
                   MCP_CALLS_MAX);
    } else if (!has_own_id(c)) {
        mcp_refuse(c, RPC_INVALID_REQUEST, json_none(),
                   "Another request with this id is not answered yet.");
    } else if (c->era == MCP_MODERN && !is_whole(c)) {
        return;
    } else if (!begun && !(method && method->first)) {
        refuse(c, 400, RPC_INVALID_REQUEST, json_none(),
               "The first request is `initialize`; since 2026-07-28 each says its version in "
               "params._meta instead.");
    } else if (!method) {
        mcp_refuse(c, RPC_NO_METHOD, json_none(), "There is no method `%.*s`%s.", 60,
                   message->method,
                   find_method(message->method, c->era == MCP_MODERN ? MCP_LEGACY : MCP_MODERN)
                       ? " in this version of the protocol"
                       : "");
    } else {
        c->method = method->name;
        method->begin(c, json_is_none(message->params) ? json_none() : message->params);
    }
}

McpCall *mcp_receive(Mcp *m, const McpFrom *from, Json message) {
    RpcMessage r;
    Error err = ERROR_INIT;
    McpCall *c = NULL;
    if (!rpc_read(message, &r, &err)) {
        from->outlet.answer(from->outlet.ctx,
                            rpc_error(rpc_id(message), RPC_INVALID_REQUEST, err.msg, json_none()),
                            400);
    } else if (r.kind == RPC_NOTIFICATION) {
        notice(m, from, &r);
    } else if (r.kind == RPC_REQUEST) {
        c = call_new(m, from, &r, from->modern ? MCP_MODERN : mcp_era(message));
        mcp_hold(c);
        begin(c, &r);
        bool answered = c->answered || c->task; /* a task is its own answer */
        mcp_release(c);
        if (answered) c = NULL;
    }
    json_unref(message);
    return c;
}

/* ---- who stays ---- */

McpPeer *mcp_peer_new(Mcp *m, const McpPeerHost *host) {
    McpPeer *p = mem_zalloc(sizeof *p);
    *p = (McpPeer){.mcp = m,
                   .next = m->peers,
                   .host = *host,
                   .listens = true,
                   .level = -1,
                   .subscribed = json_object()};
    if (p->next) p->next->prev = p;
    m->peers = p;
    return p;
}

bool mcp_peer_has_begun(const McpPeer *peer) {
    return peer->version != NULL;
}

bool mcp_peer_rests(const McpPeer *peer) {
    for (const McpCall *c = peer->mcp->calls; c; c = c->next) {
        if (c->peer == peer && !c->answered && !c->task && json_is_none(c->filter)) return false;
    }
    return true;
}

void mcp_peer_listens(McpPeer *peer, bool listens) {
    peer->listens = listens;
    mcp_watch_wake(peer->mcp->watch);
}

void mcp_peer_free(McpPeer *p) {
    if (!p) return;
    Mcp *m = p->mcp;
    for (McpCall *c = m->calls, *next; c; c = next) {
        next = c->next;
        if (c->peer != p) continue;
        c->peer = NULL;
        if (!c->answered && !c->task) {
            mcp_hold(c); /* only this one may go: the next is still in the list */
            settle(c);
            mcp_release(c);
        }
    }
    if (p->prev) p->prev->next = p->next;
    if (p->next) p->next->prev = p->prev;
    if (m->peers == p) m->peers = p->next;
    json_unref(p->subscribed);
    mem_free(p);
}

/* ---- life ---- */

Mcp *mcp_new(const McpOptions *options) {
    Mcp *m = mem_zalloc(sizeof *m);
    m->options = *options;
    if (!m->options.groups) m->options.groups = MCP_ALL_GROUPS;
    m->tools = mcp_tools_new();
    m->tasks = mcp_tasks_new(m);
    m->watch = mcp_watch_new(m);
    return m;
}

static void let_go(Mcp *m) {
    if (!m->freed || m->calls) return;
    mcp_tools_free(m->tools);
    mem_free(m);
}

static McpCall *first_waiting(const Mcp *m) {
    McpCall *c = m->calls;
    while (c && c->answered) c = c->next;
    return c;
}

/* A subscription ends with its result; everything else is answered with why. */
void mcp_close(Mcp *m) {
    if (m->closing) return;
    m->closing = true;
    for (McpCall *c; (c = first_waiting(m));) {
        mcp_hold(c);
        if (!json_is_none(c->filter)) {
            mcp_answer(c,
                       OBJECT(KEY("_meta", OBJECT(KEY(META("subscriptionId"), json_ref(c->id))))));
        } else if (c->tool) {
            mcp_tool_end(c,
                         "This server is stopping. What was begun goes on after its next start.");
        } else {
            mcp_refuse(c, RPC_INTERNAL, json_none(), "This server is stopping.");
        }
        mcp_release(c);
    }
}

void mcp_free(Mcp *m) {
    if (!m) return;
    mcp_close(m);
    while (m->peers) mcp_peer_free(m->peers);
    mcp_watch_free(m->watch);
    mcp_tasks_free(m->tasks);
    m->watch = NULL;
    m->tasks = NULL;
    m->freed = true;
    let_go(m);
}
