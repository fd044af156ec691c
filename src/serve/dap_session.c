/* dap_session.c - how a conversation begins and ends: initialize, launch, attach, restart, disconnect, terminate; and how
 * its run is left. */
#include "dap_inside.h"

#include "json_shape.h"
#include "mem.h"
#include "path.h"
#include "problems.h"
#include "suggest.h"

#include <stdio.h>

/* ---- initialize ---- */

static Json modes_json(void) {
    static const char *const modes[][3] = {
        {"before", "Before", "Stops before the node begins"},
        {"after", "After", "Stops when the node is done, before the run goes on"},
        {"on_error", "On error", "Stops when the node has failed"},
    };
    Json list = json_array();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        list = json_array_push(list, OBJECT(KEY("mode", modes[i][0]), KEY("label", modes[i][1]),
                                            KEY("description", modes[i][2]),
                                            KEY("appliesTo", ARRAY(json_string_c("source")))));
    }
    return list;
}

/* Those of the rows, and those that belong to no request of their own. */
static Json capabilities(void) {
    static const char *const others[] = {
        "supportSuspendDebuggee",
        "supportsHitConditionalBreakpoints",
        "supportsLogPoints",
        "supportsClipboardContext",
    };
    Json out = json_object();
    for (const DapRequest *row = dap_requests; row->name; row++) {
        if (row->capability) out = json_object_with(out, row->capability, json_bool(true));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        out = json_object_with(out, others[i], json_bool(true));
    }
    return OBJECT_ADD(out, KEY("exceptionBreakpointFilters", dap_exception_filters_json()),
                      KEY("breakpointModes", modes_json()));
}

static bool is_false(Json args, const char *key) {
    return json_kind(json_object_get_c(args, key)) == JSON_FALSE;
}

void dap_initialize(DapCall *call) {
    Dap *dap = call->dap;
    Json name = json_object_get_c(call->args, "clientName");
    if (json_is_none(name)) name = json_object_get_c(call->args, "clientID");
    dap->client = (DapClient){
        .lines_at_0 = is_false(call->args, "linesStartAt1"),
        .columns_at_0 = is_false(call->args, "columnsStartAt1"),
        .uris = json_string_is(json_object_get_c(call->args, "pathFormat"), "uri"),
        .types = dap_bool(call->args, "supportsVariableType"),
        .paging = dap_bool(call->args, "supportsVariablePaging"),
        .invalidated = dap_bool(call->args, "supportsInvalidatedEvent"),
        .progress = dap_bool(call->args, "supportsProgressReporting"),
        .name = json_ref(name),
    };
    dap->phase = DAP_GREETED;
    dap_answer(call, capabilities());
}

/* ---- what launch and attach take ---- */

#define BOTH "store?: text, server?: text, stopOnEntry?: bool, nonStop?: bool, noDebug?: bool, "

static const char launch_shape[] =
    "{" BOTH "program?: text, workflow?: text, version?: int(1..), thread?: text, "
    "input?: object, mode?: \"autonomous\"|\"interactive\", kinds?: [text], cwd?: text, "
    "replay?: text, checkpoint?: int(1..), liveFrom?: text, ...}";
static const char attach_shape[] = "{" BOTH "thread?: text|int, run?: text|int, ...}";

/* Words of the clients' own configurations, which are no mistakes. */
static bool is_known(Json key) {
    static const char *const known[] = {
        "store",
        "server",
        "stopOnEntry",
        "nonStop",
        "noDebug",
        "program",
        "workflow",
        "version",
        "thread",
        "input",
        "mode",
        "kinds",
        "cwd",
        "replay",
        "checkpoint",
        "liveFrom",
        "run",
        "restart",
        "type",
        "request",
        "name",
        "debugServer",
        "preLaunchTask",
        "order",
        "postDebugTask",
        "presentation",
        "internalConsoleOptions",
        "host",
        "port",
        "serverReadyAction",
        "suppressMultipleSessionWarning",
    };
    const char *text = json_string_data(&key);
    if (text[0] == '_' || text[0] == '$') return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (json_string_is(key, known[i])) return true;
    }
    Suggestion nearest = suggestion_for(text, strlen(text));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) suggestion_offer(&nearest, known[i]);
    return !nearest.best; /* the client's own, if it is like nothing of ours */
}

static void warn_of_unknown(Dap *dap, Json args) {
    Json key, value;
    for (size_t pos = 0; json_object_next(args, &pos, &key, &value);) {
        if (!is_known(key)) {
            dap_say(dap, "important", "`%.60s` of the configuration means nothing to pawl.",
                    json_string_data(&key));
        }
    }
}

static bool check(const char *shape_text, Json args, const char *request, Error *err) {
    Shape *shape = shape_compile(shape_text, NULL, NULL);
    bool has = shape_check(shape, args, err);
    shape_free(shape);
    if (!has) error_wrap(err, "The arguments of `%s`", request);
    return has;
}

/* ---- a workflow ---- */

/* The path of a file as the run is to know it: from its folder, where it is in there. Given. */
static char *program_path(const Dap *dap, Json args) {
    const char *program = json_object_text(args, "program"), *cwd = json_object_text(args, "cwd");
    const char *folder = dap->server->folder;
    size_t len = strlen(folder);
    Buf path = BUF_INIT;
    char *plain = source_path(program, true);
    if (plain[0] == '/') {
        buf_adds(&path, plain);
    } else if (cwd && cwd[0] == '/') {
        buf_printf(&path, "%s/%s", cwd, plain);
    } else {
        buf_printf(&path, "%s/%s%s%s", folder, cwd ? cwd : "", cwd ? "/" : "", plain);
    }
    mem_free(plain);
    path_tidy(path.data);
    bool inside = !strncmp(path.data, folder, len) && path.data[len] == '/';
    char *out = mem_strdup(path.data + (inside ? len + 1 : 0));
    buf_clear(&path);
    return out;
}

/* All of them are said, and the first is the error. */
static void take_problems(Dap *dap, FlowProblems *problems, bool fails, Error *err) {
    for (size_t i = 0; i < problems->n; i++) {
        Buf text = BUF_INIT;
        flow_problem_print(&problems->items[i], false, &text);
        while (text.len && text.data[text.len - 1] == '\n') text.data[--text.len] = '\0';
        dap_say(dap, problems->items[i].warning ? "console" : "stderr", "%s", text.data);
        buf_clear(&text);
    }
    for (size_t i = 0; fails && i < problems->n; i++) {
        const FlowProblem *p = &problems->items[i];
        if (p->warning) continue;
        if (p->line) {
            error_set(err, ERR_SYNTAX, "%s:%d:%d: %s", p->file, p->line, p->col, p->msg);
        } else {
            error_set(err, ERR_SYNTAX, "%s: %s", p->file, p->msg);
        }
        return;
    }
    if (fails) error_set(err, ERR_SYNTAX, "The file is no workflow.");
}

enum { KINDS_MAX = 100 };

static Flow *load(Dap *dap, Json args, Error *err) {
    const DapOptions *options = &dap->server->options;
    FlowProblems problems = {0};
    const char *folders[KINDS_MAX];
    Json texts[KINDS_MAX], list = json_object_get_c(args, "kinds");
    size_t n = 0, more = json_is_none(list) ? 0 : json_array_len(list);
    for (size_t i = 0; i < more && n < KINDS_MAX; i++) {
        texts[i] = json_array_get(list, i);
        folders[n++] = json_string_data(&texts[i]);
    }
    for (size_t i = 0; i < options->nkinds && n < KINDS_MAX; i++) folders[n++] = options->kinds[i];
    FlowReader reader = flow_root_reader(options->root);
    reader.kinds = folders;
    reader.nkinds = n;
    char *path = program_path(dap, args);
    Flow *flow = flow_load(path, &reader, &problems);
    take_problems(dap, &problems, !flow, err);
    flow_problems_clear(&problems);
    mem_free(path);
    return flow;
}

/* ---- opening: what follows once there is a run ---- */

static bool is_under_way(const Dap *dap) {
    return dap->thread && (dap->phase == DAP_OPEN || dap->phase == DAP_GOING) &&
           dap->settled_code < 0 && !dap->post_mortem;
}

static void listen_to(Dap *dap) {
    dap->closed = false;
    dap->events = client_events(dap->place,
                                OBJECT(KEY("thread", dap->thread), KEY("attach", json_bool(true))),
                                &(ClientListener){dap_on_event, dap_on_over, dap});
}

static void opened(DapCall *call) {
    Dap *dap = call->dap;
    Json name = json_ref(dap->workflow);
    bool local = client_host(dap->place) != NULL;
    bool here = local && !client_is_elsewhere(dap->place, dap->thread);
    Json pid = here ? json_int(uv_os_getpid()) : json_none();
    if (dap->restarting) { /* the client has said its breakpoints */
        dap->restarting = false;
        dap->phase = DAP_GOING;
        dap_tell_standing(dap);
        dap_answer(call, json_none());
        json_unref(name);
        return;
    }
    dap->phase = DAP_OPEN;
    const char *how = dap->launched ? "launch" : "attach";
    dap_answer(call, json_none());
    dap_tell(dap, "process",
             OBJECT(KEY("name", json_kind(name) == JSON_STRING ? name : json_string_c("run")),
                    KEY("systemProcessId", pid), KEY("isLocalProcess", json_bool(local)),
                    KEY("startMethod", how), KEY("thread", dap->thread)));
    dap_tell(dap, "initialized", json_none());
}

static void on_frames(DapCall *call, Json answer) {
    dap_threads_take(call->dap, answer);
    json_unref(answer);
    dap_breaks_set_all(call, opened);
}

static void on_nodes(DapCall *call, Json answer) {
    sources_take_nodes(call->dap->sources, answer);
    json_unref(answer);
    dap_ask(call, "frames", OBJECT(KEY("limit", json_int(10000))), on_frames);
}

/* A folder on another machine is none of ours. */
static void on_definition(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    Json definition = json_object_get_c(answer, "definition");
    const char *folder = json_object_text(answer, "folder");
    dap->sources = sources_new(definition, folder ? folder : dap->server->folder);
    json_unref(answer);
    dap_ask(call, "nodes", json_none(), on_nodes);
}

static void on_opened(DapCall *call, Json run) {
    Dap *dap = call->dap;
    Json status = json_object_get_c(run, "status");
    mem_free(dap->thread);
    dap->thread = mem_strdup(json_object_text(run, "thread"));
    json_put(&dap->workflow, json_ref(json_object_get_c(run, "workflow")));
    dap->failed = json_string_is(status, "failed");
    dap->post_mortem = !dap->launched && (dap->failed || json_string_is(status, "completed") ||
                                          json_string_is(status, "cancelled"));
    json_unref(run);
    const DapOptions *options = &dap->server->options;
    if (options->begun) options->begun(options->ctx, dap->place);
    listen_to(dap); /* the window is there before the run has a turn */
    dap_ask(call, "run_definition", json_none(), on_definition);
}

static bool open_place(Dap *dap, Json args, const Graph *flow, Error *err) {
    DapPlace place = {.store = json_object_text(args, "store"),
                      .server = json_object_text(args, "server"),
                      .flow = flow};
    if (place.store && place.server) {
        return error_set(err, ERR_USAGE, "A run is in a `store` or on a `server`, not in both.");
    }
    dap->place = dap->server->options.open(dap->server->options.ctx, &place, err);
    dap->non_stop = dap_bool(args, "nonStop");
    dap->stop_on_entry = dap_bool(args, "stopOnEntry");
    json_put(&dap->config, json_ref(args));
    return dap->place != NULL;
}

static Json debug_json(const Dap *dap, bool pauses) {
    return OBJECT(KEY("pause_on_start", pauses ? json_bool(true) : json_none()),
                  KEY("pause_all_on_breakpoint", json_bool(!dap->non_stop)));
}

/* ---- launch ---- */

static Json replay_json(Json args) {
    const char *thread = json_object_text(args, "replay");
    if (!thread) return json_none();
    return OBJECT(KEY("thread", thread),
                  KEY("checkpoint", json_ref(json_object_get_c(args, "checkpoint"))),
                  KEY("live_from", json_object_text(args, "liveFrom")));
}

static void launch(DapCall *call, Json args) {
    Dap *dap = call->dap;
    Error err = ERROR_INIT;
    const char *program = json_object_text(args, "program"),
               *workflow = json_object_text(args, "workflow");
    Flow *flow = NULL;
    bool ok = check(launch_shape, args, "launch", &err);
    if (ok && !program == !workflow) {
        ok = error_set(
            &err, ERR_USAGE,
            "`launch` takes a `program`, the path of a workflow, or a `workflow`, the name "
            "of one that the server or the store knows.");
    }
    if (ok && program) ok = (flow = load(dap, args, &err));
    if (!ok || !open_place(dap, args, flow ? flow->main : NULL, &err)) {
        flow_unref(flow);
        dap_fail(call, &err);
        return;
    }
    warn_of_unknown(dap, args);
    dap->launched = true;
    dap->no_debug = dap_bool(args, "noDebug");
    dap->begins = !dap->stop_on_entry;
    dap_ask(call, "run_start",
            OBJECT(KEY("definition", flow ? flow_definition(flow) : json_none()),
                   KEY("workflow", workflow),
                   KEY("version", json_ref(json_object_get_c(args, "version"))),
                   KEY("thread", dap->restarting ? NULL : json_object_text(args, "thread")),
                   KEY("input", json_ref(json_object_get_c(args, "input"))),
                   KEY("mode", json_object_text(args, "mode")), KEY("replay", replay_json(args)),
                   KEY("debug", debug_json(dap, true))),
            on_opened);
    flow_unref(flow);
}

static bool is_first(DapCall *call) {
    if (call->dap->phase == DAP_GREETED && !call->dap->thread) return true;
    dap_fail_with(call,
                  "This conversation has a run already; another one needs another conversation.");
    return false;
}

void dap_launch(DapCall *call) {
    if (is_first(call)) launch(call, call->args);
}

/* ---- attach ---- */

static void attach(DapCall *call, Json args) {
    Dap *dap = call->dap;
    Error err = ERROR_INIT;
    Json name = json_object_get_c(args, "thread");
    if (json_is_none(name)) name = json_object_get_c(args, "run");
    bool ok = check(attach_shape, args, "attach", &err);
    if (ok && json_is_none(name)) {
        ok = error_set(&err, ERR_USAGE,
                       "`attach` takes `thread`, the name of a run, or `run`, its number.");
    }
    if (!ok || !open_place(dap, args, NULL, &err)) {
        dap_fail(call, &err);
        return;
    }
    warn_of_unknown(dap, args);
    dap->launched = false;
    Json thread = json_kind(name) == JSON_STRING
                      ? json_ref(name)
                      : json_string_fmt("%lld", (long long)json_to_double(name));
    dap_ask(call, "run_open", OBJECT(KEY("thread", thread), KEY("debug", debug_json(dap, false))),
            on_opened);
}

void dap_attach(DapCall *call) {
    if (is_first(call)) attach(call, call->args);
}

/* ---- restart ---- */

/* call->kept: what the new run is begun with. */
static void begin_again(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    bool launched = dap->launched;
    json_unref(answer);
    dap_close_run(dap);
    dap->phase = DAP_GREETED;
    dap->restarting = true;
    if (launched) {
        launch(call, call->kept);
    } else {
        attach(call, call->kept);
    }
}

/* The arguments of a new launch may be wrapped, as the protocol has it, or bare; without any it is begun as before. The name of
 * a run that was launched is taken by now: the new one has another. */
void dap_restart(DapCall *call) {
    Dap *dap = call->dap;
    Json wrapped = json_object_get_c(call->args, "arguments");
    Json given = json_kind(wrapped) == JSON_OBJECT ? wrapped : call->args;
    bool said = !json_is_none(json_object_get_c(given, "program")) ||
                !json_is_none(json_object_get_c(given, "workflow")) ||
                !json_is_none(json_object_get_c(given, "thread")) ||
                !json_is_none(json_object_get_c(given, "run"));
    call->kept = json_ref(said ? given : dap->config);
    if (dap->launched && is_under_way(dap)) {
        dap_try(call, "abort", json_none(), begin_again);
    } else {
        begin_again(call, json_none());
    }
}

/* ---- configurationDone ---- */

void dap_configuration_done(DapCall *call) {
    Dap *dap = call->dap;
    if (dap->phase != DAP_OPEN) {
        dap_fail_with(call, "`configurationDone` was said already.");
        return;
    }
    dap->phase = DAP_GOING;
    dap_tell_standing(dap);
    dap_answer(call, json_none());
}

/* ---- the end ---- */

void dap_end(Dap *dap, int64_t code) {
    if (dap->phase == DAP_OVER) return;
    dap->phase = DAP_OVER;
    dap_goes(dap, HANDLES_ALL);
    if (code >= 0) dap_tell(dap, "exited", OBJECT(KEY("exitCode", code)));
    dap_tell(dap, "terminated", json_none());
}

static void close_events(Dap *dap) {
    client_events_end(dap->events);
    dap->events = NULL;
    dap->held = false;
    json_put(&dap->told, json_array());
}

void dap_close_run(Dap *dap) {
    close_events(dap);
    sources_free(dap->sources);
    dap->sources = NULL;
    dap_threads_clear(dap);
    dap_breaks_unset(dap);
    handles_drop(&dap->handles, HANDLES_ALL);
    json_clear(&dap->config);
    json_clear(&dap->workflow);
    json_clear(&dap->wanted_node);
    json_clear(&dap->targets);
    mem_free(dap->thread);
    dap->thread = NULL;
    dap->place = NULL;
    dap->settled_code = -1;
    dap->stopped = dap->begins = dap->post_mortem = dap->moving = dap->asks = dap->failed = false;
    dap->stop_reason = NULL;
}

/* ---- leaving ---- */

static void left(Dap *dap) {
    if (!dap->leaving) return;
    dap->leaving = false;
    uv_timer_stop(dap->patience);
    dap_close_run(dap);
    dap_gone(dap);
}

static void on_patience(uv_timer_t *timer) {
    left(timer->data);
}

/* In a turn of its own: whoever tells us is not done yet. */
static void leave_soon(Dap *dap) {
    uv_timer_start(dap->patience, on_patience, 0, 0);
}

static void on_left_event(void *ctx, Json event) {
    if (json_string_is(json_object_get_c(event, "event"), "settled")) leave_soon(ctx);
    json_unref(event);
}

static void on_left_over(void *ctx, const Error *why) {
    (void)why;
    leave_soon(ctx);
}

/* Of this process, and it does something, or will not when nobody is at its session. */
static bool is_under_way_here(const Dap *dap) {
    return dap->thread && dap->place && client_host(dap->place) && dap->settled_code < 0 &&
           !dap->post_mortem && !client_is_elsewhere(dap->place, dap->thread);
}

/* A run that is under way in a process that ends with its client is stopped so that it can be resumed; paused
 * frames are on record as they are. */
void dap_leave(Dap *dap) {
    dap_forget_calls(dap);
    close_events(dap);
    dap->leaving = true;
    if (!is_under_way_here(dap) || dap->server->options.stays) {
        left(dap);
        return;
    }
    if (!dap->lets_go) {
        dap_order(dap, "run_stop", json_none());
        uv_timer_start(dap->patience, on_patience, DAP_LEAVE_MS, 0);
    }
    dap->events = client_events(dap->place, OBJECT(KEY("thread", dap->thread)),
                                &(ClientListener){on_left_event, on_left_over, dap});
}

/* ---- disconnect, terminate ---- */

static void say_goodbye(DapCall *call) {
    Dap *dap = call->dap;
    dap_answer(call, json_none());
    if (dap->wire) wire_finish(dap->wire);
}

static void on_parted(DapCall *call, Json answer) {
    json_unref(answer); /* an error is none: the run was over */
    say_goodbye(call);
}

void dap_disconnect(DapCall *call) {
    Dap *dap = call->dap;
    Json said = json_object_get_c(call->args, "terminateDebuggee");
    bool ends = json_is_none(said) ? dap->launched : json_truthy(said);
    bool suspends = dap_bool(call->args, "suspendDebuggee");
    dap->parting = true;
    if (!is_under_way(dap) || (suspends && !ends)) {
        say_goodbye(call);
        return;
    }
    dap->lets_go = true;
    dap_try(call, ends ? "abort" : "detach", json_none(), on_parted);
}

static void on_terminated(DapCall *call, Json answer) {
    json_unref(answer);
    dap_answer(call, json_none());
}

void dap_terminate(DapCall *call) {
    Dap *dap = call->dap;
    if (is_under_way(dap)) {
        dap_ask(call, "abort", json_none(), on_terminated);
    } else {
        dap_answer(call, json_none());
        dap_end(dap, -1);
    }
}

/* ---- cancel ---- */

void dap_cancel(DapCall *call) {
    Error err = ERROR_INIT;
    Dap *dap = call->dap;
    int64_t seq = dap_int(call->args, "requestId", 0);
    const char *progress = json_object_text(call->args, "progressId");
    long long shown;
    if (!seq && progress && sscanf(progress, "request-%lld", &shown) == 1) seq = shown;
    DapCall *meant = seq ? dap_call_of(dap, seq) : NULL;
    error_set(&err, ERR_CANCELLED, "The request was cancelled.");
    dap_answer(call, json_none());
    if (meant && meant != call) dap_fail(meant, &err);
}
