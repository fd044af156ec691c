#include "mcp_prompts.h"

#include "mcp_docs.h"
#include "mcp_resources.h"
#include "mcp_tools.h"
#include "mcp_views.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

const char *const mcp_prompt_dialects[] = {"graph", "tasks", "pipeline", NULL};

typedef struct PromptArg {
    const char *name, *about;
    bool required;
} PromptArg;

typedef struct Prompt {
    const char *name, *title, *about;
    PromptArg args[4];       /* the last has no name */
    void (*get)(McpCall *c); /* the arguments are c->args */
} Prompt;

static void get_debug(McpCall *c);
static void get_write(McpCall *c);
static void get_review(McpCall *c);

static const Prompt prompts[] = {
    {"debug_failed_run",
     "Debug a failed run",
     "Find out why a run failed, mend it, and let it go on",
     {{"thread", "The run; left out, the one that failed last", false}},
     get_debug},
    {"write_workflow",
     "Write a workflow",
     "Write a workflow for a goal, check it, and try it",
     {{"goal", "What the workflow is to do", true},
      {"dialect", "graph (the usual), tasks (system tests) or pipeline (CI)", false}},
     get_write},
    {"review_state_change",
     "Review a change of state",
     "Say what the last step of a run changed, or what lies between two checkpoints",
     {{"thread", "The run", true},
      {"from", "A checkpoint; left out, the one before the last", false},
      {"to", "A checkpoint; left out, the last", false}},
     get_review},
};
enum { NPROMPTS = sizeof prompts / sizeof *prompts };

static const Prompt *find(const char *name) {
    for (size_t i = 0; name && i < NPROMPTS; i++) {
        if (!strcmp(prompts[i].name, name)) return &prompts[i];
    }
    return NULL;
}

bool mcp_prompt_is_known(const char *name) {
    return find(name) != NULL;
}

/* ---- messages ---- */

static Json text_block(Json text) {
    return OBJECT(KEY("type", "text"), KEY("text", text));
}

static Json message(Json content) {
    return OBJECT(KEY("role", "user"), KEY("content", content));
}

static void answer(McpCall *c, Json messages) {
    const Prompt *p = find(json_object_text(c->args, " prompt"));
    mcp_answer(c, OBJECT(KEY("description", p->about), KEY("messages", messages)));
}

static const char *arg(const McpCall *c, const char *name) {
    const char *text = json_object_text(c->args, name);
    return text && text[0] ? text : NULL;
}

/* ---- debug_failed_run ---- */

#define DEBUG_TEXT                                                                                       \
    "The run `%s` of Pawl failed. Find out why, and get it to its end.\n\n"                              \
    "How it stands is below. Go on like this:\n"                                                         \
    "1. Read the error and what the node printed (read_logs). Say in a sentence what went wrong.\n"      \
    "2. debug_start with this thread: it stands at the node that failed. debug_where shows what the "    \
    "node sees and its source; debug_evaluate tests guesses.\n"                                          \
    "3. Mend the cause where it is: debug_set for a wrong value, debug_config_set for the node itself. " \
    "Tell me what you want to change before you change it, and why.\n"                                   \
    "4. debug_retry, then debug_continue to the end. If it fails again, begin anew with 1.\n"            \
    "5. Say what has to change in the workflow's file so that the next run does not fail.\n"

static void on_shown(McpCall *c, Json view) {
    Json text = mcp_fitted(view, 8000);
    Buf uri = BUF_INIT;
    buf_printf(&uri, "pawl://runs/%s", c->thread);
    Json messages = ARRAY(message(text_block(json_string_fmt(DEBUG_TEXT, c->thread))),
                          message(mcp_embedded(uri.data, "application/json", text)));
    buf_clear(&uri);
    json_unref(view);
    answer(c, messages);
}

static void on_failed(McpCall *c, Json found, const Error *err) {
    Json run = json_array_get(json_object_get_c(found, "runs"), 0);
    const char *thread = json_object_text(run, "thread");
    if (err) {
        mcp_refuse(c, RPC_INTERNAL, json_none(), "%s", err->msg);
    } else if (!thread) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "No run has failed.");
    } else {
        mcp_view_run(c, thread);
    }
    json_unref(found);
}

static void get_debug(McpCall *c) {
    c->shown = on_shown;
    if (arg(c, "thread")) {
        mcp_view_run(c, arg(c, "thread"));
    } else {
        mcp_ask(c, "runs", OBJECT(KEY("status", "failed"), KEY("limit", json_int(1))), on_failed);
    }
}

/* ---- write_workflow ---- */

#define WRITE_TEXT                                                                                   \
    "Write a workflow for Pawl, in its %s dialect, that does this:\n\n%s\n\n"                        \
    "Go on like this:\n"                                                                             \
    "1. Read what is below; explain_kind lists the kinds of nodes and explains each; read_docs has " \
    "more.\n"                                                                                        \
    "2. Write it, and check_workflow (as `text`) until nothing is wrong with it.\n"                  \
    "3. Try it: debug_start with the text stops at its first node, and debug_step goes through it; " \
    "start_run runs it. Ask me before it does something that cannot be undone.\n"                    \
    "4. Show me the file, and say how it is run.\n"

static const char *page_of(const char *dialect) {
    return !strcmp(dialect, "tasks")      ? "system-tests"
           : !strcmp(dialect, "pipeline") ? "pipelines"
                                          : "workflows";
}

static void get_write(McpCall *c) {
    const char *goal = arg(c, "goal"), *dialect = arg(c, "dialect");
    bool known = !dialect;
    for (const char *const *d = mcp_prompt_dialects; dialect && *d; d++)
        known |= !strcmp(*d, dialect);
    if (!known) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "`dialect` is graph, tasks or pipeline.");
        return;
    }
    const char *page = page_of(dialect ? dialect : "graph");
    size_t len = 0;
    const char *text = mcp_docs_page(page, &len);
    Buf uri = BUF_INIT, says = BUF_INIT;
    buf_printf(&uri, "pawl://docs/%s", page);
    buf_printf(&says, WRITE_TEXT, dialect ? dialect : "graph", goal);
    Json messages = ARRAY(message(text_block(json_string(says.data, says.len))),
                          message(mcp_embedded(uri.data, "text/markdown", json_string(text, len))));
    buf_clear(&uri);
    buf_clear(&says);
    answer(c, messages);
}

/* ---- review_state_change ---- */

#define REVIEW_TEXT                                                                                     \
    "Review what changed in the state of the run `%s` of Pawl between checkpoint %lld and checkpoint "  \
    "%lld.\n\nThe difference is below. Say in a few sentences what changed and which node did it "      \
    "(read_history with `values`); name whatever looks wrong or surprising: values that vanished, "     \
    "types that changed, lists that grew without need, secrets or large texts that do not belong into " \
    "a state.\n"

static int64_t number_of(const McpCall *c, const char *name) {
    const char *text = arg(c, name);
    return text ? strtoll(text, NULL, 10) : 0;
}

/* c->view: {from, to} */
static void on_diff(McpCall *c, Json diff, const Error *err) {
    if (err) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "%s", err->msg);
        return;
    }
    int64_t from = json_object_get_c(c->view, "from").i, to = json_object_get_c(c->view, "to").i;
    const char *thread = arg(c, "thread");
    Buf uri = BUF_INIT, says = BUF_INIT;
    buf_printf(&uri, "pawl://runs/%s/history", thread);
    buf_printf(&says, REVIEW_TEXT, thread, (long long)from, (long long)to);
    Json messages = ARRAY(
        message(text_block(json_string(says.data, says.len))),
        message(mcp_embedded(uri.data, "application/json", mcp_fitted(diff, MCP_ANSWER_MAX))));
    buf_clear(&uri);
    buf_clear(&says);
    json_unref(diff);
    answer(c, messages);
}

static void on_last(McpCall *c, Json history, const Error *err) {
    Json list = json_object_get_c(history, "checkpoints");
    size_t n = json_array_len(list);
    Json last = json_object_get_c(json_array_get(list, n ? n - 1 : 0), "checkpoint");
    Json before = json_object_get_c(json_array_get(list, n > 1 ? n - 2 : 0), "checkpoint");
    int64_t from = number_of(c, "from"), to = number_of(c, "to");
    if (err || json_tag(last) != JSON_TAG_INT) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "%s",
                   err ? err->msg : "The run has no history.");
        json_unref(history);
        return;
    }
    to = to > 0 ? to : last.i;
    from = from > 0 ? from : to == last.i ? before.i : to - 1;
    if (from < 1) from = 1;
    json_unref(history);
    c->view = OBJECT(KEY("from", from), KEY("to", to));
    mcp_ask(c, "run_diff",
            OBJECT(KEY("thread", arg(c, "thread")), KEY("checkpoint", from),
                   KEY("other_checkpoint", to)),
            on_diff);
}

static void get_review(McpCall *c) {
    mcp_ask(c, "run_history", OBJECT(KEY("thread", arg(c, "thread")), KEY("last", json_int(2))),
            on_last);
}

/* ---- methods ---- */

void mcp_prompts_list(McpCall *c, Json params) {
    enum { TTL_MS = 3600000 };
    Json out = json_array();
    if (mcp_text(params, "cursor")) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "All prompts are on one page: there is no `cursor`.");
        json_unref(out);
        return;
    }
    for (size_t i = 0; i < NPROMPTS; i++) {
        Json args = json_array();
        for (const PromptArg *a = prompts[i].args; a->name; a++) {
            args = json_array_push(args, OBJECT(KEY("name", a->name), KEY("description", a->about),
                                                KEY("required", json_bool(a->required))));
        }
        out = json_array_push(out,
                              OBJECT(KEY("name", prompts[i].name), KEY("title", prompts[i].title),
                                     KEY("description", prompts[i].about), KEY("arguments", args)));
    }
    mcp_answer_lasting(c, OBJECT(KEY("prompts", out)), TTL_MS, false);
}

/* False after the call was refused. */
static bool args_are_fine(McpCall *c, const Prompt *p, Json given) {
    Json key, value;
    for (size_t pos = 0; json_object_next(given, &pos, &key, &value);) {
        if (json_kind(value) == JSON_STRING) continue;
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "The argument `%.*s` of a prompt is a text.",
                   60, json_string_data(&key));
        return false;
    }
    for (const PromptArg *a = p->args; a->name; a++) {
        const char *text = json_object_text(given, a->name);
        if (!a->required || (text && text[0])) continue;
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "`%s` needs the argument `%s`: %s.", p->name,
                   a->name, a->about);
        return false;
    }
    return true;
}

void mcp_prompts_get(McpCall *c, Json params) {
    const char *name = mcp_text(params, "name");
    Json given = json_object_get_c(params, "arguments");
    const Prompt *p = find(name);
    if (!p) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "There is no prompt `%.*s`; prompts/list lists them.", 60, name ? name : "");
    } else if (!json_is_none(given) && json_kind(given) != JSON_OBJECT) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "The `arguments` of a prompt are an object.");
    } else if (args_are_fine(c, p, given)) {
        c->args = json_is_none(given) ? json_object() : json_ref(given);
        c->args = json_object_with(c->args, " prompt", json_string_c(p->name));
        p->get(c);
    }
}
