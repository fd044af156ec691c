/* mcp_calls.c - the functions of tools. Each begins with arguments that its row has let pass. */
#include "mcp_calls.h"

#include "breakpoint.h"
#include "flow.h"
#include "inspect.h"
#include "json_parse.h"
#include "json_print.h"
#include "mcp_docs.h"
#include "mcp_tools.h"
#include "mcp_views.h"
#include "mem.h"
#include "problems.h"
#include "suggest.h"
#include "things.h"

#include <string.h>

enum { LAST_LINES = 100, LOG_BYTES = 10000, LAST_CHECKPOINTS = 30, STATE_PAGE = 50 };

#define MAIN_FILE "workflow.yaml"

static Json arg(const McpCall *c, const char *name) {
    return json_object_get_c(c->args, name);
}

static Json given(const McpCall *c, const char *name) {
    return json_ref(arg(c, name));
}

static bool has(const McpCall *c, const char *name) {
    return !json_is_none(arg(c, name));
}

static const char *text_of(const McpCall *c, const char *name) {
    return json_object_text(c->args, name);
}

/* Those of these arguments that were given. */
static Json picked(const McpCall *c, const char *const *names) {
    Json out = json_object();
    for (; *names; names++) {
        if (has(c, *names)) out = json_object_with(out, *names, given(c, *names));
    }
    return out;
}

static void fail_usage(McpCall *c, const char *sentence) {
    Error err = ERROR_INIT;
    error_set(&err, ERR_USAGE, "%s", sentence);
    mcp_tool_fail(c, &err);
}

/* ---- the workflow that is meant ---- */

/* {definition} or {workflow}, as operations take it; or {problems}: its files have errors in them. */
typedef struct Load {
    uv_work_t work;
    McpCall *call;
    McpThen then;
    char *path;
    const SafeRoot *root;
    Buf text;
    Error err;
} Load;

static Json problems_of(const FlowProblems *problems) {
    Json list = json_array();
    for (size_t i = 0; i < problems->n; i++) {
        list = json_array_push(list, flow_problem_json(&problems->items[i]));
    }
    return list;
}

/* On another thread: what it leaves is text. */
static void load_files(uv_work_t *work) {
    Load *l = work->data;
    FlowProblems problems = {0};
    FlowReader reader = flow_root_reader(l->root);
    reader.whole = true;
    Flow *flow = flow_load(l->path, &reader, &problems);
    Json out = flow ? OBJECT(KEY("definition", flow_definition(flow)))
                    : OBJECT(KEY("problems", problems_of(&problems)));
    if (!flow) problems_error(&problems, "The file is no workflow.", &l->err);
    json_print(out, &(JsonPrintOptions){0}, &l->text);
    json_unref(out);
    flow_unref(flow);
    flow_problems_clear(&problems);
}

static void on_loaded(uv_work_t *work, int status) {
    Load *l = work->data;
    McpCall *c = l->call;
    Json found = status ? json_none() : json_parse(l->text.data, l->text.len, NULL, NULL);
    if (c->answered) {
        json_unref(found);
    } else {
        l->then(c, found, l->err.code == ERR_NONE ? NULL : &l->err);
    }
    buf_clear(&l->text);
    mem_free(l->path);
    mem_free(l);
    mcp_release(c);
}

/* Where files are: of a server that runs are confined on, in that folder. */
static char *place_of(const McpCall *c, const char *path, const SafeRoot **root) {
    struct Host *host = client_host(c->mcp->options.client);
    const Bounds *bounds = host ? host_bounds(host) : NULL;
    *root = bounds ? bounds->root : c->mcp->options.root;
    if (!bounds || !bounds->inside || path[0] == '/') return mem_strdup(path);
    Buf whole = BUF_INIT;
    buf_printf(&whole, "%s/%s", host_folder(host), path);
    return buf_detach(&whole);
}

static void load_path(McpCall *c, const char *path, McpThen then) {
    if (!mcp_may(c, SCOPE_ADMIN)) {
        Error err = ERROR_INIT;
        error_set(&err, ERR_FORBIDDEN,
                  "Naming files of this machine needs the scope `admin`: give the `text` of the "
                  "workflow, or the name of one as `workflow`.");
        then(c, json_none(), &err);
        return;
    }
    Load *l = mem_zalloc(sizeof *l);
    *l = (Load){.call = c, .then = then};
    l->work.data = l;
    l->path = place_of(c, path, &l->root);
    mcp_hold(c);
    uv_queue_work(c->mcp->options.loop, &l->work, load_files, on_loaded);
}

static Json definition_of_text(const McpCall *c) {
    Json files = has(c, "files") ? given(c, "files") : json_object();
    files = json_object_with(files, MAIN_FILE, given(c, "text"));
    return OBJECT(KEY("main", MAIN_FILE), KEY("files", files));
}

static void find_workflow(McpCall *c, McpThen then) {
    if (has(c, "path")) {
        load_path(c, text_of(c, "path"), then);
    } else if (has(c, "text")) {
        then(c, OBJECT(KEY("definition", definition_of_text(c))), NULL);
    } else {
        then(c, OBJECT(KEY("workflow", given(c, "workflow"))), NULL);
    }
}

/* ---- workflows ---- */

static void on_checkable(McpCall *c, Json found, const Error *err) {
    Json problems = json_object_get_c(found, "problems");
    if (json_array_len(problems)) {
        mcp_tool_done(c, OBJECT(KEY("ok", json_bool(false)), KEY("problems", json_ref(problems))));
    } else if (err) {
        mcp_tool_fail(c, err);
    } else {
        mcp_tool_ask(c, "check",
                     OBJECT(KEY("definition", json_ref(json_object_get_c(found, "definition")))));
    }
    json_unref(found);
}

static void on_named(McpCall *c, Json workflow, const Error *err) {
    Json definition = json_ref(json_object_get_c(workflow, "definition"));
    Json text = json_object_get_c(workflow, "text");
    if (json_is_none(definition) && json_kind(text) == JSON_STRING) {
        definition =
            OBJECT(KEY("main", MAIN_FILE), KEY("files", OBJECT(KEY(MAIN_FILE, json_ref(text)))));
    }
    if (err) {
        mcp_tool_fail(c, err);
    } else {
        mcp_tool_ask(c, "check", OBJECT(KEY("definition", json_ref(definition))));
    }
    json_unref(definition);
    json_unref(workflow);
}

void call_check_workflow(McpCall *c) {
    if (has(c, "workflow")) {
        mcp_ask(c, "workflow_get", OBJECT(KEY("name", given(c, "workflow"))), on_named);
    } else {
        find_workflow(c, on_checkable);
    }
}

static void on_drawable(McpCall *c, Json found, const Error *err) {
    if (err) {
        mcp_tool_fail(c, err);
    } else {
        mcp_tool_ask(c, "workflow_graph",
                     OBJECT(KEY("definition", json_ref(json_object_get_c(found, "definition"))),
                            KEY("format", given(c, "format"))));
    }
    json_unref(found);
}

void call_draw_workflow(McpCall *c) {
    if (has(c, "thread")) {
        mcp_tool_ask(c, "run_graph",
                     OBJECT(KEY("thread", given(c, "thread")), KEY("format", given(c, "format"))));
    } else if (has(c, "workflow")) {
        mcp_tool_ask(c, "workflow_draw",
                     OBJECT(KEY("name", given(c, "workflow")), KEY("format", given(c, "format"))));
    } else {
        find_workflow(c, on_drawable);
    }
}

static Json kind_in_short(Json kind) {
    return OBJECT(KEY("name", json_ref(json_object_get_c(kind, "name"))),
                  KEY("dialect", json_ref(json_object_get_c(kind, "dialect"))),
                  KEY("help", json_ref(json_object_get_c(kind, "help"))));
}

static void on_kinds(McpCall *c, Json answer, const Error *err) {
    const char *name = text_of(c, "name");
    Json list = json_object_get_c(answer, "kinds"), out = json_array();
    Suggestion nearest = suggestion_for(name ? name : "", name ? strlen(name) : 0);
    for (size_t i = 0, n = json_array_len(list); i < n; i++) {
        Json kind = json_array_get(list, i);
        const char *its = json_object_text(kind, "name");
        if (its && name) suggestion_offer(&nearest, its);
        if (!name) {
            out = json_array_push(out, kind_in_short(kind));
        } else if (its && !strcmp(its, name)) {
            out = json_array_push(out, json_ref(kind));
        }
    }
    if (err) {
        mcp_tool_fail(c, err);
    } else if (name && !json_array_len(out)) {
        Error none = ERROR_INIT;
        error_set(&none, ERR_NOT_FOUND,
                  "There is no kind `%s`%s Without a name explain_kind lists all.",
                  shown(name, strlen(name)), did_you_mean_this(nearest.best));
        mcp_tool_fail(c, &none);
    } else {
        mcp_tool_done(c, OBJECT(KEY("kinds", json_ref(out))));
    }
    json_unref(out);
    json_unref(answer);
}

void call_explain_kind(McpCall *c) {
    mcp_ask(c, "kinds", OBJECT(KEY("dialect", given(c, "dialect"))), on_kinds);
}

void call_read_docs(McpCall *c) {
    Error err = ERROR_INIT;
    Json answer = mcp_docs_read(text_of(c, "page"), text_of(c, "section"), &err);
    if (json_is_none(answer)) {
        mcp_tool_fail(c, &err);
    } else {
        mcp_tool_done(c, answer);
    }
}

/* ---- runs ---- */

static void on_startable(McpCall *c, Json found, const Error *err) {
    static const char *const names[] = {"thread", "input", "mode", "version", NULL};
    if (err) {
        Error why = *err;
        if (json_array_len(json_object_get_c(found, "problems")) > 1) {
            size_t len = strlen(why.msg);
            snprintf(why.msg + len, sizeof why.msg - len,
                     " check_workflow lists all that is wrong.");
        }
        mcp_tool_fail(c, &why);
    } else {
        mcp_tool_ask(c, "run_start", json_object_merge(picked(c, names), found));
    }
    json_unref(found);
}

void call_start_run(McpCall *c) {
    find_workflow(c, on_startable);
}

void call_get_run(McpCall *c) {
    mcp_view_run(c, text_of(c, "thread"));
}

void call_wait_for_run(McpCall *c) {
    mcp_tool_wait(c, c->args);
}

static void on_logs(McpCall *c, Json page, const Error *err) {
    if (err) {
        mcp_tool_fail(c, err);
    } else {
        mcp_tool_done(c, mcp_view_logs(page, !has(c, "from"), LOG_BYTES));
    }
    json_unref(page);
}

void call_read_logs(McpCall *c) {
    bool latest = !has(c, "from") && !has(c, "last") && !has(c, "since");
    mcp_ask(c, "run_logs",
            OBJECT_ADD(json_ref(c->args),
                       KEY("last", latest ? json_int(LAST_LINES) : given(c, "last"))),
            on_logs);
}

static void on_history(McpCall *c, Json answer, const Error *err) {
    Json run = json_object_get_c(answer, "run");
    if (err) {
        mcp_tool_fail(c, err);
    } else {
        mcp_tool_done(c,
                      OBJECT(KEY("thread", json_ref(json_object_get_c(run, "thread"))),
                             KEY("status", json_ref(json_object_get_c(run, "status"))),
                             KEY("checkpoints", json_ref(json_object_get_c(answer, "checkpoints"))),
                             KEY("next", json_ref(json_object_get_c(answer, "next")))));
    }
    json_unref(answer);
}

void call_read_history(McpCall *c) {
    bool latest = !has(c, "from") && !has(c, "last") && !has(c, "limit");
    mcp_ask(c, "run_history",
            OBJECT_ADD(json_ref(c->args),
                       KEY("last", latest ? json_int(LAST_CHECKPOINTS) : given(c, "last"))),
            on_history);
}

static void on_state(McpCall *c, Json answer, const Error *err) {
    Error why = ERROR_INIT;
    Json state = json_object_get_c(answer, "state"), offset = arg(c, "offset"),
         limit = arg(c, "limit");
    InspectPage page = {
        .offset = json_tag(offset) == JSON_TAG_INT ? (size_t)offset.i : 0,
        .limit = json_tag(limit) == JSON_TAG_INT ? (size_t)limit.i : STATE_PAGE,
    };
    if (err) {
        mcp_tool_fail(c, err);
        return;
    }
    Json none = json_array();
    Json part = inspect_variables(json_is_none(state) ? json_null() : state, none, &page, &why);
    json_unref(none);
    if (json_is_none(part)) {
        mcp_tool_fail(c, &why);
    } else {
        part = json_object_remove(json_object_remove(part, json_string_c("path")),
                                  json_string_c("text"));
        const char *path = text_of(c, "path");
        Json thread = json_object_get_c(answer, "thread");
        mem_free(c->thread);
        c->thread = mem_strndup(json_string_data(&thread), json_string_len(thread));
        part = OBJECT_ADD(part, KEY("thread", json_ref(thread)),
                          KEY("checkpoint", json_ref(json_object_get_c(answer, "checkpoint"))),
                          KEY("path", path ? path : "."));
        mcp_tool_done(c, part);
    }
    json_unref(answer);
}

void call_read_state(McpCall *c) {
    static const char *const names[] = {"thread", "checkpoint", "path", NULL};
    mcp_ask(c, "run_state", picked(c, names), on_state);
}

/* {".a.b": value} as pairs of a path and a value; JSON_NONE with a sentence. */
static Json pairs_of(Json set, Error *err) {
    Json out = json_array(), key, value;
    for (size_t pos = 0; json_object_next(set, &pos, &key, &value);) {
        Json path = inspect_path(key, err);
        if (json_is_none(path)) {
            json_unref(out);
            return json_none();
        }
        out = json_array_push(out, ARRAY(path, json_ref(value)));
    }
    return out;
}

void call_resume_run(McpCall *c) {
    static const char *const names[] = {"thread", "checkpoint", NULL};
    Error err = ERROR_INIT;
    Json set = has(c, "set") ? pairs_of(arg(c, "set"), &err) : json_none();
    if (err.code != ERR_NONE) {
        mcp_tool_fail(c, &err);
    } else {
        mcp_tool_ask(c, "run_resume", OBJECT_ADD(picked(c, names), KEY("set", set)));
    }
}

/* ---- debugging ---- */

/* Breakpoints as they are set, of the texts that were given; JSON_NONE with a sentence. */
static Json breakpoints_of(Json specs, Error *err) {
    Json out = json_array();
    for (size_t i = 0, n = json_array_len(specs); i < n; i++) {
        Json text = json_array_get(specs, i);
        Json one = breakpoint_parse(json_string_data(&text), err);
        if (json_is_none(one)) {
            error_wrap(err, "The breakpoint `%s`", json_string_data(&text));
            json_unref(out);
            return json_none();
        }
        out = json_array_push(out, one);
    }
    return out;
}

static bool stops_at_start(const McpCall *c) {
    Json says = arg(c, "stop_at_start");
    return json_is_none(says) ? !json_array_len(arg(c, "breakpoints")) : json_truthy(says);
}

static void on_begun(McpCall *c, Json answer, const Error *err) {
    const char *thread = json_object_text(answer, "thread");
    if (err) {
        mcp_tool_fail(c, err);
        return;
    }
    if (thread) windows_keep(c->mcp->options.windows, thread);
    mcp_tool_wait(c, answer);
    json_unref(answer);
}

static void on_debuggable(McpCall *c, Json found, const Error *err) {
    Error why = ERROR_INIT;
    Json breakpoints = err ? json_none() : breakpoints_of(arg(c, "breakpoints"), &why);
    if (err || json_is_none(breakpoints)) {
        mcp_tool_fail(c, err ? err : &why);
    } else {
        Json debug = OBJECT(KEY("pause_on_start", stops_at_start(c)),
                            KEY("pause_all_on_breakpoint", json_bool(true)),
                            KEY("breakpoints", json_ref(breakpoints)));
        Json args = OBJECT_ADD(json_ref(found), KEY("thread", given(c, "new_thread")),
                               KEY("input", given(c, "input")), KEY("debug", debug));
        mcp_ask(c, "run_start", args, on_begun);
    }
    json_unref(breakpoints);
    json_unref(found);
}

static void on_stopping(McpCall *c, Json answer, const Error *err) {
    json_unref(answer);
    if (err && err->code != ERR_WRONG_STATE && err->code != ERR_ENDED) {
        mcp_tool_fail(c, err);
        return;
    }
    Json of = OBJECT(KEY("thread", c->thread));
    mcp_tool_wait(c, of);
    json_unref(of);
}

static void stop_if_wanted(McpCall *c) {
    if (stops_at_start(c)) {
        mcp_ask(c, "pause", OBJECT(KEY("thread", c->thread), KEY("frame", "all")), on_stopping);
    } else {
        on_stopping(c, json_none(), NULL);
    }
}

static void on_broken(McpCall *c, Json answer, const Error *err) {
    json_unref(answer);
    if (err) {
        mcp_tool_fail(c, err);
    } else {
        stop_if_wanted(c);
    }
}

static void on_attached(McpCall *c, Json run, const Error *err) {
    Error why = ERROR_INIT;
    json_unref(run);
    Json breakpoints = err ? json_none() : breakpoints_of(arg(c, "breakpoints"), &why);
    if (err || json_is_none(breakpoints)) {
        mcp_tool_fail(c, err ? err : &why);
    } else if (json_array_len(breakpoints)) {
        mcp_ask(c, "breakpoint_set",
                OBJECT(KEY("thread", c->thread), KEY("breakpoints", json_ref(breakpoints))),
                on_broken);
    } else {
        stop_if_wanted(c);
    }
    json_unref(breakpoints);
}

void call_debug_start(McpCall *c) {
    if (has(c, "thread")) {
        c->thread = mem_strdup(text_of(c, "thread"));
        mcp_open(c, c->thread, on_attached);
    } else {
        find_workflow(c, on_debuggable);
    }
}

void call_debug_where(McpCall *c) {
    mcp_view_session(c, text_of(c, "thread"));
}

void call_debug_back(McpCall *c) {
    static const char *const counted[] = {"thread", "count", "frame", NULL};
    static const char *const led[] = {"thread", "checkpoint", "node", "frame", NULL};
    static const char *const stopped[] = {"thread", "frame", NULL};
    bool last = json_truthy(arg(c, "last_stop")), to = has(c, "checkpoint") || has(c, "node");
    if (last + to + has(c, "count") > 1 || (has(c, "checkpoint") && has(c, "node"))) {
        fail_usage(c, "debug_back takes one of `count`, `checkpoint`, `node` and `last_stop`.");
    } else if (last) {
        mcp_tool_ask(c, "reverse_continue", picked(c, stopped));
    } else {
        mcp_tool_ask(c, to ? "goto" : "back", picked(c, to ? led : counted));
    }
}

void call_debug_set(McpCall *c) {
    static const char *const set[] = {"thread", "path", "value", "frame", NULL};
    static const char *const unset[] = {"thread", "path", "frame", NULL};
    bool removes = json_truthy(arg(c, "remove"));
    if (removes == has(c, "value")) {
        fail_usage(c, "debug_set takes a `value`, or `remove`: true.");
    } else {
        mcp_tool_ask(c, removes ? "unset" : "set", picked(c, removes ? unset : set));
    }
}

void call_debug_breakpoint_set(McpCall *c) {
    mcp_tool_ask(c, "breakpoint_set", json_ref(c->args));
}

void call_debug_end(McpCall *c) {
    const char *how = text_of(c, "how");
    Json of = OBJECT(KEY("thread", given(c, "thread")));
    if (how && !strcmp(how, "leave")) {
        windows_leave(c->mcp->options.windows, text_of(c, "thread"));
        mcp_tool_wait(c, of);
        json_unref(of);
    } else {
        mcp_tool_ask(c, how && !strcmp(how, "cancel") ? "abort" : "detach", of);
    }
}
