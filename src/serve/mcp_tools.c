/* mcp_tools.c - tools as clients see them: their list, made of the rows once; a call, its arguments, what follows; the answer. */
#include "mcp_tools.h"

#include "json_parse.h"
#include "json_path.h"
#include "json_print.h"
#include "mcp_shrink.h"
#include "mcp_tasks.h"
#include "mcp_views.h"
#include "mcp_wait.h"
#include "mem.h"
#include "problems.h"
#include "schemas.h"
#include "suggest.h"

#include <string.h>

/* ---- what is made of a row, once ---- */

typedef struct Entry {
    const McpTool *tool;
    Operation checked; /* what the arguments are checked by: the tool under its own name */
    OperationArg *args;
    Json defaults, listed; /* listed: as tools/list has it */
} Entry;

struct McpToolSet {
    Entry *entries;
    size_t n;
};

/* A name in a list that is parted by blanks; false past the last. */
static bool next_name(const char **at, char *out, size_t room) {
    *at += strspn(*at, " ");
    size_t len = strcspn(*at, " ");
    if (!len) return false;
    snprintf(out, room, "%.*s", (int)len, *at);
    *at += len;
    return true;
}

static const OperationArg *find_arg(const OperationArg *args, const char *name) {
    while (args && args->name && strcmp(args->name, name) != 0) args++;
    return args && args->name ? args : NULL;
}

/* Its own first, then those of the operation. An argument that has a default need not be there. */
static void join_args(Entry *e) {
    const Operation *op = e->tool->operation ? operation_find(e->tool->operation, NULL) : NULL;
    const char *at = e->tool->takes ? e->tool->takes : "";
    char name[64];
    size_t n = 0, cap = 0;
    for (const OperationArg *a = e->tool->own; a && a->name; a++) {
        e->args = mem_grow(e->args, n, &cap, sizeof *e->args);
        e->args[n++] = *a;
    }
    while (next_name(&at, name, sizeof name)) {
        const OperationArg *a = op ? find_arg(op->args, name) : NULL;
        if (!a) continue; /* tests/unit/test_mcp.c says so */
        e->args = mem_grow(e->args, n, &cap, sizeof *e->args);
        e->args[n] = *a;
        if (!json_is_none(json_object_get_c(e->defaults, name))) e->args[n].required = false;
        n++;
    }
    e->args = mem_grow(e->args, n, &cap, sizeof *e->args);
    e->args[n] = (OperationArg){0};
}

static Json input_schema(const Entry *e) {
    Json defs = json_object(), properties = json_object(), required = json_array();
    for (const OperationArg *a = e->args; a->name; a++) {
        Json schema = schema_of_arg(a, "#/$defs/", &defs);
        Json usual = json_object_get_c(e->defaults, a->name);
        if (!json_is_none(usual)) schema = OBJECT_ADD(schema, KEY("default", json_ref(usual)));
        properties = json_object_with(properties, a->name, schema);
        if (a->required) required = json_array_push(required, json_string_c(a->name));
    }
    Json out = OBJECT(KEY("type", "object"), KEY("properties", properties),
                      KEY("additionalProperties", json_bool(false)));
    if (json_array_len(required)) out = OBJECT_ADD(out, KEY("required", json_ref(required)));
    if (json_object_len(defs)) out = OBJECT_ADD(out, KEY("$defs", json_ref(defs)));
    json_unref(required);
    json_unref(defs);
    return out;
}

#define CUT_ABOUT \
    "What was left out of this answer: where, what was there, how much was kept, and the call that reads on."

static Json output_schema(const McpTool *tool) {
    Json defs = json_object(), out = schema_of_shape(tool->answer, "#/$defs/", &defs);
    Json properties = json_ref(json_object_get_c(out, "properties"));
    properties = OBJECT_ADD(
        properties, KEY("cut", OBJECT(KEY("type", "array"), KEY("description", CUT_ABOUT))));
    out = OBJECT_ADD(out, KEY("properties", properties));
    if (json_object_len(defs)) out = OBJECT_ADD(out, KEY("$defs", json_ref(defs)));
    json_unref(defs);
    return out;
}

static Json listed(const Entry *e) {
    const McpTool *t = e->tool;
    Json annotations = OBJECT(KEY("title", t->title), KEY("readOnlyHint", json_bool(!t->changes)),
                              KEY("destructiveHint", json_bool(t->destroys)),
                              KEY("idempotentHint", json_bool(t->again || !t->changes)),
                              KEY("openWorldHint", json_bool(t->reaches)));
    return OBJECT(KEY("name", t->name), KEY("title", t->title), KEY("description", t->about),
                  KEY("inputSchema", input_schema(e)), KEY("outputSchema", output_schema(t)),
                  KEY("annotations", annotations));
}

McpToolSet *mcp_tools_new(void) {
    McpToolSet *set = mem_zalloc(sizeof *set);
    while (mcp_tools[set->n].name) set->n++;
    set->entries = mem_zalloc(set->n * sizeof *set->entries);
    for (size_t i = 0; i < set->n; i++) {
        const McpTool *t = &mcp_tools[i];
        Entry *e = &set->entries[i];
        e->tool = t;
        e->defaults =
            t->defaults ? json_parse(t->defaults, strlen(t->defaults), NULL, NULL) : json_object();
        join_args(e);
        e->checked = (Operation){.name = t->name, .args = e->args};
        e->listed = listed(e);
    }
    return set;
}

void mcp_tools_free(McpToolSet *set) {
    if (!set) return;
    for (size_t i = 0; i < set->n; i++) {
        json_unref(set->entries[i].defaults);
        json_unref(set->entries[i].listed);
        mem_free(set->entries[i].args);
    }
    mem_free(set->entries);
    mem_free(set);
}

/* ---- the list ---- */

static bool is_offered(const McpCall *c, const McpTool *t) {
    return (c->groups & t->group) && mcp_may(c, t->scope);
}

void mcp_tools_list(McpCall *c, Json params) {
    enum { TTL_MS = 3600000 };
    const McpToolSet *set = c->mcp->tools;
    Json list = json_array();
    if (mcp_text(params, "cursor")) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "All tools are on one page: there is no `cursor`.");
        return;
    }
    for (size_t i = 0; i < set->n; i++) {
        const Entry *e = &set->entries[i];
        if (!is_offered(c, e->tool)) continue;
        Json tool = json_ref(e->listed);
        if (c->era == MCP_LEGACY && e->tool->then != THEN_ANSWER) {
            tool = OBJECT_ADD(tool, KEY("execution", OBJECT(KEY("taskSupport", "optional"))));
        }
        list = json_array_push(list, tool);
    }
    mcp_answer_lasting(c, OBJECT(KEY("tools", list)), TTL_MS, true);
}

/* ---- answers ---- */

/* Where to read on of something that was cut: the path inside of the users' values. */
static Json read_on(const McpCall *c, Json path) {
    const McpTool *t = c->tool;
    Json first = json_array_get(path, 0), checkpoint = json_object_get_c(c->args, "checkpoint");
    if (!t->reader || !c->thread || !json_string_is(first, t->big)) return json_none();
    bool reads_run = !strcmp(t->reader, "read_state");
    Json base = json_object_get_c(c->args, "path"), stopped = json_object_get_c(c->view, "stopped");
    Buf text = BUF_INIT;
    if (json_string_len(base) > 1) buf_add(&text, json_string_data(&base), json_string_len(base));
    Json rest = json_array_slice(json_ref(path), 1, SIZE_MAX);
    if (json_array_len(rest) || !text.len) json_path_text(rest, SIZE_MAX, &text);
    Json frame = json_object_get_c(stopped, "frame");
    if (json_is_none(frame)) frame = json_object_get_c(c->args, "frame");
    Json arguments = OBJECT(
        KEY("thread", c->thread), KEY("path", json_string(text.data, text.len)),
        KEY("frame", reads_run || json_kind(frame) == JSON_STRING ? json_none() : json_ref(frame)),
        KEY("checkpoint", json_ref(checkpoint)));
    json_unref(rest);
    buf_clear(&text);
    return OBJECT(KEY("tool", t->reader), KEY("arguments", arguments));
}

static Json told_cuts(const McpCall *c, Json cuts) {
    Json out = json_array();
    for (size_t i = 0, n = json_array_len(cuts); i < n; i++) {
        Json one = json_array_get(cuts, i), path = json_object_get_c(one, "path");
        Buf text = BUF_INIT;
        json_path_text(path, SIZE_MAX, &text);
        size_t len = shrink_text(text.data, text.len, 200);
        out = json_array_push(out, OBJECT(KEY("at", json_string_valid(text.data, len)),
                                          KEY("was", json_ref(json_object_get_c(one, "was"))),
                                          KEY("kept", json_ref(json_object_get_c(one, "kept"))),
                                          KEY("read_on", c ? read_on(c, path) : json_none())));
        buf_clear(&text);
    }
    return out;
}

static Json tool_result(Json structured) {
    char *text = json_to_text(structured);
    Json block = OBJECT(KEY("type", "text"), KEY("text", (const char *)text));
    mem_free(text);
    return OBJECT(KEY("content", json_array_push(json_array(), block)),
                  KEY("structuredContent", json_ref(structured)));
}

static bool fits(Json value, size_t bytes) {
    Buf text = BUF_INIT;
    bool ok =
        json_print(value, &(JsonPrintOptions){.max_bytes = bytes}, &text) && text.len <= bytes;
    buf_clear(&text);
    return ok;
}

enum { ENVELOPE = 600 }; /* bytes that the era adds to a result */

/* Some operations say with `cut` that a text goes on. */
static Json without_cut(Json answer) {
    Json says = json_object_get_c(answer, "cut");
    if (json_is_none(says)) return answer;
    answer = OBJECT_ADD(answer, KEY("cut_off", json_ref(says)));
    return json_object_remove(answer, json_string_c("cut"));
}

void mcp_tool_done(McpCall *c, Json answer) {
    answer = without_cut(answer);
    for (int step = 0; step < SHRINK_STEPS; step++) {
        Json cuts, kept = shrink_value(answer, step, MCP_ANSWER_MAX, &cuts);
        if (json_is_none(kept)) continue;
        if (json_array_len(cuts)) kept = OBJECT_ADD(kept, KEY("cut", told_cuts(c, cuts)));
        Json result = tool_result(kept);
        json_unref(cuts);
        json_unref(kept);
        if (fits(result, MCP_ANSWER_MAX - ENVELOPE)) {
            json_unref(answer);
            mcp_answer(c, result);
            return;
        }
        json_unref(result);
    }
    json_unref(answer);
    mcp_tool_end(c,
                 "The answer is too large, however much is left out of it: ask for a part of it.");
}

Json mcp_fitted(Json value, size_t bytes) {
    for (int step = 0; step < SHRINK_STEPS; step++) {
        Json cuts, kept = shrink_value(value, step, bytes, &cuts);
        if (json_is_none(kept)) continue;
        if (json_array_len(cuts) && json_kind(kept) == JSON_OBJECT) {
            kept = OBJECT_ADD(kept, KEY("cut", told_cuts(NULL, cuts)));
        }
        json_unref(cuts);
        Buf text = BUF_INIT;
        bool ok = json_print(kept, &(JsonPrintOptions){.indent = 1, .max_bytes = bytes}, &text);
        Json out = ok && text.len <= bytes ? json_string(text.data, text.len) : json_none();
        json_unref(kept);
        buf_clear(&text);
        if (!json_is_none(out)) return out;
    }
    return json_string_c("\"It is too large to be shown.\"");
}

/* What can be done instead, by the code of the error; {thread} is in the sentence where it is known. */
static const struct WayOut {
    ErrorCode code;
    const char *fact; /* that it has to have; NULL: none */
    const char *says;
} ways_out[] = {
    {ERR_BUSY, "thread", "get_run says who has it."},
    {ERR_NOT_FOUND, "checkpoint", "read_history lists its checkpoints."},
    {ERR_NOT_FOUND, "thread", "list_runs lists the runs."},
    {ERR_NOT_FOUND, "workflow", "list_workflows lists those that have a name."},
    {ERR_EXISTS, "thread", "get_run shows it; choose another name for a new run."},
    {ERR_ENDED, "thread", "fork_run makes a new run from one of its checkpoints."},
    {ERR_ANSWER, "thread",
     "answer_run answers it, with `decision`, one of the options that get_run "
     "shows, or with `value`."},
    {ERR_NOT_HELD, "thread", "debug_start with this thread begins to debug it."},
    {ERR_WRONG_STATE, NULL, "debug_where shows where it stands."},
};

void mcp_tool_end(McpCall *c, const char *sentence) {
    if (!c->tool) { /* of a prompt, or a resource */
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "%s", sentence);
        return;
    }
    Json block = OBJECT(KEY("type", "text"), KEY("text", sentence));
    mcp_answer(c, OBJECT(KEY("content", json_array_push(json_array(), block)),
                         KEY("isError", json_bool(true))));
}

void mcp_tool_fail(McpCall *c, const Error *err) {
    Json facts = json_none();
    Buf text = BUF_INIT, object = BUF_INIT;
    buf_printf(&object, "{%s}", err->facts);
    facts = json_parse(object.data, object.len, NULL, NULL);
    const char *file = json_object_text(facts, "file");
    if (file && err->line) {
        buf_printf(&text, "%s:%d:%d: ", file, err->line, err->col);
    } else if (file && !strstr(err->msg, file)) {
        buf_printf(&text, "%s: ", file);
    }
    buf_adds(&text, err->msg);
    for (size_t i = 0; i < sizeof ways_out / sizeof *ways_out; i++) {
        const struct WayOut *w = &ways_out[i];
        bool fits_fact = !w->fact || !json_is_none(json_object_get_c(facts, w->fact));
        if (w->code == err->code && fits_fact) {
            buf_printf(&text, " %s", w->says);
            break;
        }
    }
    mcp_tool_end(c, text.data);
    json_unref(facts);
    buf_clear(&object);
    buf_clear(&text);
}

/* ---- calls ---- */

static void on_standing(McpCall *c, Json look, const Error *err) {
    json_unref(look);
    if (err) {
        mcp_tool_fail(c, err);
    } else if (c->tool->then == THEN_SESSION) {
        mcp_view_session(c, c->thread);
    } else {
        mcp_view_run(c, c->thread);
    }
}

void mcp_tool_wait(McpCall *c, Json answer) {
    const char *thread = json_object_text(answer, "thread");
    Json doubts = json_object_get_c(answer, "doubts");
    if (thread) {
        mem_free(c->thread);
        c->thread = mem_strdup(thread);
    }
    if (json_is_none(c->view)) c->view = json_object();
    if (json_array_len(doubts)) c->view = OBJECT_ADD(c->view, KEY("doubts", json_ref(doubts)));
    mcp_wait(c, &(McpWaitFor){.thread = c->thread,
                              .session = c->tool->then == THEN_SESSION,
                              .frames = json_ref(json_object_get_c(answer, "resumed")),
                              .then = on_standing});
}

static void on_answer(McpCall *c, Json answer, const Error *err);

static void on_reopened(McpCall *c, Json run, const Error *err) {
    json_unref(run);
    if (err) {
        mcp_tool_fail(c, err);
    } else {
        mcp_ask(c, c->tool->operation, json_ref(c->view), on_answer);
    }
}

/* What looks into a session that nobody has in hand takes the run up again, if a debugger has paused it or it stands at its
 * error. */
static void on_resting(McpCall *c, Json run, const Error *err) {
    Json status = json_object_get_c(run, "status");
    bool stands = json_string_is(status, "paused") || json_string_is(status, "failed");
    json_unref(run);
    if (!err && stands && mcp_may(c, SCOPE_DEBUG)) {
        mcp_open(c, c->thread, on_reopened);
        return;
    }
    Error none = ERROR_INIT;
    error_set(&none, ERR_NOT_HELD, "No debugger is attached to the run.");
    error_fact(&none, "thread", c->thread);
    mcp_tool_fail(c, err ? err : &none);
}

static void on_answer(McpCall *c, Json answer, const Error *err) {
    bool rests = err && err->code == ERR_NOT_HELD && c->tool->group == MCP_DEBUGGING && c->thread;
    if (rests && !c->tries++) {
        mcp_ask(c, "run_get", OBJECT(KEY("thread", c->thread)), on_resting);
    } else if (err) {
        mcp_tool_fail(c, err);
    } else if (c->tool->then == THEN_ANSWER) {
        json_clear(&c->view);
        mcp_tool_done(c, answer);
    } else {
        json_clear(&c->view);
        mcp_tool_wait(c, answer);
        json_unref(answer);
    }
}

void mcp_tool_ask(McpCall *c, const char *operation, Json args) {
    const char *thread = json_object_text(args, "thread");
    if (thread) {
        mem_free(c->thread);
        c->thread = mem_strdup(thread);
    }
    json_put(&c->view, json_ref(args)); /* for another try */
    mcp_ask(c, operation, args, on_answer);
}

/* Those of the arguments that the operation has. */
static void call_operation(McpCall *c) {
    const Operation *op = operation_find(c->tool->operation, NULL);
    Json args = json_object(), key, value;
    bool of_run = operation_is_of_run(op);
    for (size_t pos = 0; json_object_next(c->args, &pos, &key, &value);) {
        const char *name = json_string_data(&key);
        if (find_arg(op->args, name) || (of_run && !strcmp(name, "thread"))) {
            args = json_object_set(args, json_ref(key), json_ref(value));
        }
    }
    mcp_tool_ask(c, op->name, args);
}

/* What nobody has answered by now goes on by itself. */
static void on_late(uv_timer_t *timer) {
    McpCall *c = timer->data;
    Error late = ERROR_INIT;
    mcp_hold(c);
    error_set(&late, ERR_CANCELLED,
              "%s has not come to an end yet, and goes on. get_run shows how the run stands.",
              c->tool->name);
    mcp_tool_fail(c, &late);
    mcp_release(c);
}

enum { LATE_MS = 15000 }; /* after the time that a call waits */

static void on_time(uv_timer_t *timer);

static void begin_timer(McpCall *c, uint64_t ms, uv_timer_cb then) {
    if (!c->timer) {
        c->timer = mem_zalloc(sizeof *c->timer);
        uv_timer_init(c->mcp->options.loop, c->timer);
        c->timer->data = c;
        uv_unref((uv_handle_t *)c->timer);
    }
    uv_timer_start(c->timer, then, ms, 0);
}

/* It takes its time, and whoever asks can come back for the answer. */
static void on_time(uv_timer_t *timer) {
    McpCall *c = timer->data;
    uint64_t now = uv_now(c->mcp->options.loop);
    mcp_hold(c);
    mcp_task_begin(c);
    begin_timer(c, c->until > now ? c->until - now + LATE_MS : LATE_MS, on_late);
    mcp_release(c);
}

static const Entry *find_tool(const McpCall *c, const char *name, const char **nearest) {
    const McpToolSet *set = c->mcp->tools;
    Suggestion s = suggestion_for(name, strlen(name));
    for (size_t i = 0; i < set->n; i++) {
        if (!(c->groups & set->entries[i].tool->group)) continue;
        if (!strcmp(set->entries[i].tool->name, name)) return &set->entries[i];
        suggestion_offer(&s, set->entries[i].tool->name);
    }
    *nearest = s.best;
    return NULL;
}

static Json with_defaults(Json args, Json defaults) {
    Json key, value;
    for (size_t pos = 0; json_object_next(defaults, &pos, &key, &value);) {
        if (json_is_none(json_object_get(args, key))) {
            args = json_object_set(args, json_ref(key), json_ref(value));
        }
    }
    return args;
}

static uint64_t patience_of(const McpCall *c, bool task) {
    Json wait = json_object_get_c(c->args, "wait");
    if (json_kind(wait) == JSON_NUMBER) return (uint64_t)(json_to_double(wait) * 1000);
    return task && c->tool->then != THEN_ANSWER ? MCP_TASK_PATIENCE_MS : MCP_PATIENCE_MS;
}

static void begin_call(McpCall *c, const Entry *e, Json args, Json task) {
    const McpTool *t = e->tool;
    Error err = ERROR_INIT;
    bool asks_task = c->era == MCP_LEGACY && json_kind(task) == JSON_OBJECT;
    c->tool = t;
    c->args = args;
    c->until = uv_now(c->mcp->options.loop) + MCP_PATIENCE_MS;
    if (!mcp_may(c, t->scope)) {
        error_set(&err, ERR_FORBIDDEN,
                  "`%s` changes something, and you may only look here (scope `%s`; it needs `%s`).",
                  t->name, operation_scope_names[c->asker.scope], operation_scope_names[t->scope]);
        mcp_tool_fail(c, &err);
        return;
    }
    if (!operation_check(&e->checked, args, &err)) {
        mcp_tool_fail(c, &err);
        return;
    }
    c->args = with_defaults(c->args, e->defaults);
    bool may_last = t->then != THEN_ANSWER && (asks_task || c->tasks);
    uint64_t patience = patience_of(c, may_last);
    c->until = uv_now(c->mcp->options.loop) + patience;
    if (asks_task) {
        mcp_task_begin_asked(c, task);
        begin_timer(c, patience + LATE_MS, on_late);
    } else {
        begin_timer(c, may_last ? MCP_TASK_AFTER_MS : patience + LATE_MS,
                    may_last ? on_time : on_late);
    }
    (t->call ? t->call : call_operation)(c);
}

void mcp_tools_call(McpCall *c, Json params) {
    const char *name = mcp_text(params, "name"), *nearest = NULL;
    Json args = json_object_get_c(params, "arguments"), task = json_object_get_c(params, "task");
    bool none = json_is_none(args) || json_kind(args) == JSON_NULL;
    const Entry *e = name ? find_tool(c, name, &nearest) : NULL;
    if (!name) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "`tools/call` says the `name` of a tool.");
    } else if (!e) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "Unknown tool: there is no `%s`%s",
                   shown(name, strlen(name)), did_you_mean_this(nearest));
    } else if (!none && json_kind(args) != JSON_OBJECT) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "The `arguments` of a tool are an object.");
    } else if (c->era == MCP_LEGACY && json_kind(task) == JSON_OBJECT &&
               e->tool->then == THEN_ANSWER) {
        mcp_refuse(c, RPC_NO_METHOD, json_none(), "`%s` answers at once, and is no task.", name);
    } else {
        begin_call(c, e, none ? json_object() : json_ref(args), task);
    }
}
