/* debug_api.c - the table of debug operations, what each takes, and the way in. */
#include "debug_operations.h"

#include "inspect.h"
#include "problems.h"
#include "suggest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

enum {
    SECONDS_MAX = 10 * 365 * 24 * 3600,
    STEPS_BACK_MAX = 1000000000,
    LINE_MAX_NUMBER = FLOW_FILE_MAX,
    AROUND_MAX = 1000, /* lines that inspect_source() gives before and after one */
};

#define COUNTING INT64_MAX /* no upper bound */

#define FRAME_ARG \
    { "frame", DEBUG_FRAME, .about = "which frame; left out, the selected one" }
#define FRAMES_ARG(otherwise) \
    { "frame", DEBUG_FRAMES, .about = "which frame, or \"all\"; left out, " otherwise }
#define CHECKPOINT_ARG                                                                         \
    {                                                                                          \
        "checkpoint", DEBUG_INT, .about = "answers from the history instead of now", .min = 1, \
                                 .max = COUNTING                                               \
    }
#define LIMIT_ARG(otherwise, most) \
    { "limit", DEBUG_INT, .about = "at most so many; left out, " otherwise, .min = 1, .max = most }
#define OFFSET_ARG \
    { "offset", DEBUG_INT, .about = "so many are passed over first", .min = 0, .max = COUNTING }
#define ID_ARG(what) \
    { "id", DEBUG_INT, .about = what, .required = true, .min = 1, .max = COUNTING }
#define ID_CHOICE(what) \
    { "id", DEBUG_INT, .about = what, .one_of = true, .min = 1, .max = COUNTING }
#define ALL_CHOICE(what) \
    { "all", DEBUG_BOOL, .about = what, .one_of = true }
#define PATH_ARG(what) \
    { "path", DEBUG_PATH, .about = what, .required = true }
#define VALUE_ARG \
    { "value", DEBUG_ANY, .about = "what it is to be", .required = true }

static const DebugArg frame_args[] = {FRAME_ARG, {0}};

static const DebugArg configure_args[] = {
    {"pause_all_on_breakpoint", DEBUG_BOOL, .about = "one frame that stops stops all"},
    {"auto_resume", DEBUG_BOOL, .about = "the run goes on when the idle limit has passed"},
    {"idle_limit", DEBUG_NUMBER, .about = "seconds; 0: none", .min = 0, .max = SECONDS_MAX},
    {"steps", DEBUG_BOOL, .about = "also tell `node` and `step` events"},
    {0},
};

static const DebugArg extend_args[] = {
    {"seconds", DEBUG_NUMBER, .about = "how long the limit is from now on; left out, as it was",
     .min = 0, .max = SECONDS_MAX},
    {0},
};

/* The fields of a breakpoint, which breakpoint_change can take away with a null. Words and
 * numbers are checked where breakpoints are made (breakpoint.h). */
#define BREAKPOINT_FIELDS(null)                                                                 \
    {"type", DEBUG_TEXT,                                                                        \
     .about = "node, task_index, task_id, task_name, source, conditional, "                     \
              "state or exception; left out, as the other fields say",                          \
     .nullable = null},                                                                         \
        {"node", DEBUG_TEXT, .about = "a name, PATH/NAME or a glob", .nullable = null},         \
        {"task_index",     DEBUG_INT, .about = "place of a task in the file, from 0",           \
         .nullable = null, .min = 0,  .max = COUNTING},                                         \
        {"task_id", DEBUG_TEXT, .about = "id of a task", .nullable = null},                     \
        {"task_name", DEBUG_TEXT, .about = "any node of this kind", .nullable = null},          \
        {"file", DEBUG_TEXT, .about = "a file of the workflow", .nullable = null},              \
        {"line",           DEBUG_INT, .about = "a line of the file",                            \
         .nullable = null, .min = 1,  .max = LINE_MAX_NUMBER},                                  \
        {"position", DEBUG_TEXT, .about = "before (default), after or on_error",                \
         .nullable = null},                                                                     \
        {"condition", DEBUG_TEXT, .about = "jq over what the node sees", .nullable = null},     \
        {"state", DEBUG_OBJECT, .about = "{path, equals} or {path, changed: true}",             \
         .nullable = null},                                                                     \
        {"error", DEBUG_TEXT, .about = "of an exception: jq over the error", .nullable = null}, \
        {"caught", DEBUG_BOOL, .about = "of an exception: also errors that something takes",    \
         .nullable = null},                                                                     \
        {"ignore_count",   DEBUG_INT, .about = "so many hits are passed over",                  \
         .nullable = null, .min = 0,  .max = COUNTING},                                         \
        {"hit_condition", DEBUG_TEXT, .about = "over the hits: \"== 5\", \">= 5\", \"% 3\"",    \
         .nullable = null},                                                                     \
        {"hit_count",      DEBUG_INT, .about = "hits so far; 0 to count anew",                  \
         .nullable = null, .min = 0,  .max = COUNTING},                                         \
        {"log_message", DEBUG_TEXT, .about = "is logged instead of pausing: \"at \\(.step)\"",  \
         .nullable = null},                                                                     \
        {"once", DEBUG_BOOL, .about = "deleted when it has paused a frame", .nullable = null},  \
        {"group", DEBUG_TEXT, .about = "a word to enable, disable and delete by",               \
         .nullable = null},                                                                     \
    {                                                                                           \
        "enabled", DEBUG_BOOL, .about = "left out, true", .nullable = null                      \
    }

static const DebugArg break_set_args[] = {
    {"spec", DEBUG_TEXT, .about = "all in a line: `NODE:after if EXPR`, `FILE:LINE`, `error`"},
    {"breakpoints", DEBUG_ARRAY, .about = "several, each with its fields or its spec"},
    BREAKPOINT_FIELDS(false),
    {0},
};

static const DebugArg break_change_args[] = {
    ID_ARG("of the breakpoint"),
    BREAKPOINT_FIELDS(true),
    {0},
};

#define BREAKPOINT_CHOICE                                                             \
    ID_CHOICE("of one"), {"ids", DEBUG_ARRAY, .about = "of several", .one_of = true}, \
        {"group", DEBUG_TEXT, .about = "all of a group", .one_of = true},             \
        ALL_CHOICE("true: all of them")

static const DebugArg break_delete_args[] = {BREAKPOINT_CHOICE, {0}};

static const DebugArg break_enable_args[] = {
    BREAKPOINT_CHOICE,
    {"enabled", DEBUG_BOOL, .about = "whether they are to stop frames", .required = true},
    {0},
};

static const DebugArg continue_args[] = {
    FRAMES_ARG("all when pause_all_on_breakpoint is on, the selected one otherwise"), {0}};
static const DebugArg pause_args[] = {FRAMES_ARG("all"), {0}};

static const DebugArg step_args[] = {
    {"kind", DEBUG_TEXT, .about = "how far", .required = true, .words = debug_step_words},
    FRAME_ARG,
    {0},
};

static const DebugArg back_args[] = {
    {"count", DEBUG_INT, .about = "steps of the frame; left out, 1", .min = 1,
     .max = STEPS_BACK_MAX},
    FRAME_ARG,
    {0},
};

static const DebugArg goto_args[] = {
    {"node", DEBUG_TEXT, .about = "a node of the graph that the frame is in", .one_of = true},
    {"checkpoint", DEBUG_INT, .about = "the run goes back to it", .one_of = true, .min = 1,
     .max = COUNTING},
    FRAME_ARG,
    {0},
};

static const DebugArg skip_args[] = {
    {"output", DEBUG_ANY, .about = "what the node gives back instead; left out, nothing"},
    FRAME_ARG,
    {0},
};

static const DebugArg answer_args[] = {
    {"value", DEBUG_ANY, .about = "the answer"},
    {"decision", DEBUG_TEXT, .about = "one of the options of an approval"},
    {"interrupt", DEBUG_TEXT, .about = "the id of what is answered; left out, that of the frame"},
    {"frame", DEBUG_FRAME, .about = "which frame; left out, the selected one or the only one"},
    {0},
};

static const DebugArg frames_args[] = {OFFSET_ARG, LIMIT_ARG("100", INSPECT_PAGE_MAX), {0}};

static const DebugArg select_args[] = {
    {"frame", DEBUG_FRAME, .about = "selected from now on; left out, the one that is"},
    {0},
};

static const DebugArg variables_args[] = {
    {"path", DEBUG_PATH, .about = "what to look at; left out, everything"},
    OFFSET_ARG,
    LIMIT_ARG("100", INSPECT_PAGE_MAX),
    FRAME_ARG,
    CHECKPOINT_ARG,
    {0},
};

static const DebugArg summary_args[] = {FRAME_ARG, CHECKPOINT_ARG, {0}};

static const DebugArg search_args[] = {
    {"text", DEBUG_TEXT, .about = "part of a key or of a string, or a number", .required = true},
    LIMIT_ARG("50", INSPECT_PAGE_MAX),
    FRAME_ARG,
    CHECKPOINT_ARG,
    {0},
};

static const DebugArg largest_args[] = {
    LIMIT_ARG("10", INSPECT_LARGEST_MAX), FRAME_ARG, CHECKPOINT_ARG, {0}};

static const DebugArg diff_args[] = {
    {"since", DEBUG_TEXT, .about = "what to compare now with; left out, the last pause",
     .words = debug_since_words},
    {"from", DEBUG_INT, .about = "a checkpoint", .min = 1, .max = COUNTING},
    {"to", DEBUG_INT, .about = "a checkpoint; left out, now", .min = 1, .max = COUNTING},
    FRAME_ARG,
    {0},
};

static const DebugArg evaluate_args[] = {
    {"expression", DEBUG_TEXT, .about = "jq over what the node sees", .required = true},
    LIMIT_ARG("100", INSPECT_PAGE_MAX),
    FRAME_ARG,
    CHECKPOINT_ARG,
    {0},
};

static const DebugArg complete_args[] = {
    {"text", DEBUG_TEXT, .about = "as far as it is typed", .required = true},
    {"cursor", DEBUG_INT, .about = "bytes of the text before it; left out, all", .min = 0,
     .max = COUNTING},
    {"what", DEBUG_TEXT, .about = "what the text is; left out, an expression",
     .words = debug_complete_words},
    FRAME_ARG,
    {0},
};

static const DebugArg watch_add_args[] = {
    {"expression", DEBUG_TEXT, .about = "jq, evaluated at each pause", .required = true},
    {0},
};

static const DebugArg watch_delete_args[] = {
    ID_CHOICE("of the watch"),
    ALL_CHOICE("true: all of them"),
    {0},
};

static const DebugArg source_args[] = {
    {"file", DEBUG_TEXT, .about = "a file of the workflow; left out, that of the node"},
    {"line", DEBUG_INT, .about = "left out, that of the node", .min = 1, .max = LINE_MAX_NUMBER},
    {"around", DEBUG_INT, .about = "lines before and after it; left out, 5", .min = 1,
     .max = AROUND_MAX},
    FRAME_ARG,
    {0},
};

static const DebugArg graph_args[] = {
    {"format", DEBUG_TEXT, .about = "left out, mermaid", .words = debug_graph_words},
    {0},
};

static const DebugArg history_args[] = {
    {"frame", DEBUG_FRAME, .about = "of one frame; left out, of all"},
    {"before", DEBUG_INT, .about = "only what was before this checkpoint", .min = 1,
     .max = COUNTING},
    LIMIT_ARG("50", INSPECT_PAGE_MAX),
    {"all", DEBUG_BOOL, .about = "every checkpoint, not only those that end a node"},
    {0},
};

static const DebugArg set_args[] = {PATH_ARG("which variable"), VALUE_ARG, FRAME_ARG, {0}};
static const DebugArg unset_args[] = {PATH_ARG("which variable"), FRAME_ARG, {0}};

static const DebugArg revoke_args[] = {
    ID_CHOICE("of the change"),
    ALL_CHOICE("true: all changes of the frame"),
    FRAME_ARG,
    {0},
};

static const DebugArg config_set_args[] = {
    PATH_ARG("inside the node as it is written"),
    VALUE_ARG,
    FRAME_ARG,
    {0},
};

static const DebugArg inject_args[] = {
    {"node", DEBUG_OBJECT, .about = "as it would stand in the file", .one_of = true},
    {"text", DEBUG_TEXT, .about = "the same as YAML, or `NAME: {...}`", .one_of = true},
    {"where", DEBUG_TEXT, .about = "of the current node; left out, before",
     .words = debug_inject_words},
    {"name", DEBUG_TEXT, .about = "of the new node; left out, the one that it has"},
    FRAME_ARG,
    {0},
};

static const DebugArg injected_args[] = {
    {"frame", DEBUG_FRAME, .about = "of one frame; left out, of all"},
    {0},
};

static const DebugArg inject_remove_args[] = {ID_ARG("of the injected node"), {0}};

static const DebugArg replay_args[] = {
    {"checkpoint", DEBUG_INT, .about = "of the step; left out, the last of the selected frame",
     .min = 1, .max = COUNTING},
    {"node", DEBUG_TEXT, .about = "its last execution"},
    {"thread", DEBUG_TEXT, .about = "name of the new run; left out, one is made"},
    {0},
};

/* ---- operations ---- */

#define BREAKPOINT_NAMES                                                                      \
    "type node task_index task_id task_name file line position condition state error caught " \
    "ignore_count hit_condition hit_count log_message once group enabled"

const DebugOperation debug_operations[] = {
    {"session", "what the session is and how it stands", "", debug_session, NULL},
    {"configure", "change what the session is told to do",
     "pause_all_on_breakpoint auto_resume idle_limit steps", debug_configure, configure_args},
    {"extend", "let the idle limit begin anew", "seconds", debug_extend, extend_args},
    {"detach", "let the run go on without a debugger", "", debug_detach, NULL},
    {"abort", "cancel the run; its cleanup tasks run", "", debug_abort, NULL},
    {"operations", "list what can be asked", "", debug_list_operations, NULL},

    {"breakpoint_set", "set a breakpoint, or several", "spec breakpoints " BREAKPOINT_NAMES,
     debug_break_set, break_set_args},
    {"breakpoint_change", "change fields of a breakpoint", "id* " BREAKPOINT_NAMES,
     debug_break_change, break_change_args},
    {"breakpoint_delete", "delete breakpoints", "id ids group all", debug_break_delete,
     break_delete_args},
    {"breakpoint_enable", "enable or disable breakpoints", "id ids group all enabled*",
     debug_break_enable, break_enable_args},
    {"breakpoints", "list the breakpoints", "", debug_breaks, NULL},

    {"continue", "let frames go on to the next stop", "frame", debug_continue, continue_args},
    {"pause", "stop frames where they are", "frame", debug_pause, pause_args},
    {"step", "go on to the next node: over, into or out", "kind* frame", debug_step, step_args},
    {"back", "go back by steps of a frame", "count frame", debug_back, back_args},
    {"reverse_continue", "go back to the last stop", "frame", debug_reverse, frame_args},
    {"goto", "stand before another node, or at a checkpoint", "node checkpoint frame", debug_goto,
     goto_args},
    {"skip", "pass over the node", "output frame", debug_skip, skip_args},
    {"retry", "run the node again after its error", "frame", debug_retry, frame_args},
    {"answer", "answer what a frame asks", "value decision interrupt frame", debug_answer,
     answer_args},

    {"frames", "list the frames", "offset limit", debug_frames, frames_args},
    {"frame", "select a frame and show it", "frame", debug_frame, select_args},
    {"node", "show the node that a frame stands at", "frame", debug_node, frame_args},
    {"config", "show the node's config, as written and resolved", "frame", debug_config,
     frame_args},
    {"variables", "show what the node sees, or a part of it", "path offset limit frame checkpoint",
     debug_variables, variables_args},
    {"summary", "show the keys with types and sizes", "frame checkpoint", debug_summary,
     summary_args},
    {"search", "find a text in keys and values", "text* limit frame checkpoint", debug_search,
     search_args},
    {"largest", "list the largest values", "limit frame checkpoint", debug_largest, largest_args},
    {"diff", "show what has changed", "since from to frame", debug_diff, diff_args},
    {"evaluate", "evaluate jq on what the node sees", "expression* limit frame checkpoint",
     debug_evaluate, evaluate_args},
    {"complete", "say what could stand at a cursor", "text* cursor what frame", debug_complete,
     complete_args},
    {"watch_add", "evaluate an expression at each pause", "expression*", debug_watch_add,
     watch_add_args},
    {"watch_delete", "delete watches", "id all", debug_watch_delete, watch_delete_args},
    {"watches", "evaluate the watches", "frame", debug_watches, frame_args},
    {"source", "show the file around a line", "file line around frame", debug_source, source_args},
    {"nodes", "list the nodes of the workflow", "", debug_nodes, NULL},
    {"graph", "draw the workflow", "format", debug_graph, graph_args},
    {"history", "list what was done", "frame before limit all", debug_history, history_args},

    {"set", "set a variable when the frame goes on", "path* value* frame", debug_set, set_args},
    {"unset", "remove a variable when the frame goes on", "path* frame", debug_unset, unset_args},
    {"pending", "list the changes that are pending", "frame", debug_pending, frame_args},
    {"revoke", "take pending changes back", "id all frame", debug_revoke, revoke_args},
    {"config_set", "edit the node's config for this one execution", "path* value* frame",
     debug_config_set, config_set_args},
    {"config_reset", "take the edits of the config back", "frame", debug_config_reset, frame_args},
    {"inject", "add a node before or after the current one", "node text where name frame",
     debug_inject, inject_args},
    {"injected", "list injected nodes that have not begun", "frame", debug_injected, injected_args},
    {"inject_remove", "remove an injected node", "id*", debug_inject_remove, inject_remove_args},

    {"replay", "run one node again on the input that it had", "checkpoint node thread",
     debug_replay, replay_args},
    {"export", "give the run and its session as one document", "", debug_export, NULL},
    {0},
};

/* ---- the table as an answer ---- */

Json debug_answer_with(const char *key, Json value) {
    return json_is_none(value) ? value : json_object_with(json_object(), key, value);
}

/* "the numbers are 1, 2 and 3", "... 5 and others", "the only one is 1" or "there are none". */
static void add_numbers(Json list, Buf *out) {
    enum { NAMED_MAX = 5 };
    size_t n = json_array_len(list);
    buf_adds(out, !n ? "there are none" : n == 1 ? "the only one is " : "the numbers are ");
    for (size_t i = 0; i < n && i < NAMED_MAX; i++) {
        Json one = json_array_get(list, i);
        Json id = json_kind(one) == JSON_OBJECT ? json_object_get_c(one, "id") : one;
        const char *before = !i ? "" : i + 1 == n ? " and " : ", ";
        buf_printf(out, "%s%lld", before, json_tag(id) == JSON_TAG_INT ? (long long)id.i : 0);
    }
    buf_adds(out, n > NAMED_MAX ? " and others" : "");
}

void debug_no_such(Error *err, Json there, const char *fmt, ...) {
    char what[128];
    Buf numbers = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    add_numbers(there, &numbers);
    error_set(err, ERR_USAGE, "%s; %s.", what, numbers.data);
    buf_clear(&numbers);
    json_unref(there);
}

static Json with_flag(Json object, const char *key, bool on) {
    return on ? json_object_with(object, key, json_bool(true)) : object;
}

static Json words_json(const char *const *words) {
    Json list = json_array();
    for (; *words; words++) {
        list = json_array_push(list, json_string_c(*words));
    }
    return list;
}

static Json with_bounds(Json object, const DebugArg *a) {
    if (a->min || a->max) {
        object = json_object_with(object, "min", json_int(a->min));
    }
    return a->max && a->max != COUNTING ? json_object_with(object, "max", json_int(a->max))
                                        : object;
}

static Json arg_json(const DebugArg *a) {
    Json out = json_object_with(json_object(), "name", json_string_c(a->name));
    out = json_object_with(out, "type", json_string_c(debug_type_names[a->type]));
    out = json_object_with(out, "about", json_string_c(a->about));
    out = with_flag(out, "required", a->required);
    out = with_flag(out, "one_of", a->one_of);
    out = with_flag(out, "nullable", a->nullable);
    out = with_bounds(out, a);
    return a->words ? json_object_with(out, "words", words_json(a->words)) : out;
}

static Json operation_json(const DebugOperation *op) {
    Json args = json_array();
    for (const DebugArg *a = op->args; a && a->name; a++) {
        args = json_array_push(args, arg_json(a));
    }
    Json out = json_object_with(json_object(), "name", json_string_c(op->name));
    out = json_object_with(out, "summary", json_string_c(op->summary));
    return json_object_with(out, "arguments", args);
}

Json debug_list_operations(Session *session, Json args, Error *err) {
    Json list = json_array();
    (void)session;
    (void)args;
    (void)err;
    for (const DebugOperation *op = debug_operations; op->name; op++) {
        list = json_array_push(list, operation_json(op));
    }
    return debug_answer_with("operations", list);
}

/* ---- calls ---- */

const DebugOperation *debug_operation(const char *name, Error *err) {
    Suggestion nearest = suggestion_for(name, strlen(name));
    for (const DebugOperation *op = debug_operations; op->name; op++) {
        if (strcmp(op->name, name) == 0) {
            return op;
        }
        suggestion_offer(&nearest, op->name);
    }
    const char *word = shown(name, strlen(name));
    error_set(err, ERR_USAGE, "There is no operation `%s`%s", word,
              nearest.best ? did_you_mean_this(nearest.best)
                           : "; `operations` lists those that there are.");
    return NULL;
}

/* Its hooks are gone: there is nothing left to control the frames with. */
static bool is_attached(const Session *session, const char *operation, Error *err) {
    return (run_has_hooks(session_run(session)) && !session_is_detached(session)) ||
           error_set(err, ERR_USAGE,
                     "The session is over, so it cannot be asked for `%s`: the run goes on without "
                     "a debugger. Attach to it anew.",
                     operation);
}

bool debug_reads_past(const DebugOperation *op, Json args) {
    Json (*const past[])(Session *, Json, Error *) = {debug_back,  debug_reverse, debug_goto,
                                                      debug_diff,  debug_history, debug_replay,
                                                      debug_export};
    bool reads = args_has(args, "checkpoint");
    for (size_t i = 0; i < sizeof past / sizeof *past; i++) {
        reads = reads || op->call == past[i];
    }
    return reads;
}

/* The one place that waits for the disk. */
static bool wait_for_past(const Session *session, const DebugOperation *op, Json args, Error *err) {
    return !debug_reads_past(op, args) || engine_wait_durable(run_engine(session_run(session))) ||
           error_set(err, ERR_IO, "The store failed, so what the run did last is not in it.");
}

Json debug_call(Session *session, const char *operation, Json args, Error *err) {
    Json out = json_none(), given = json_is_none(args) ? json_object() : args;
    session_touch(session);
    const DebugOperation *op = debug_operation(operation, err);
    if (op && args_check(op, given, err) && is_attached(session, op->name, err) &&
        wait_for_past(session, op, given, err)) {
        out = op->call(session, given, err);
        session_sync(session);
    }
    json_unref(given);
    return out;
}
