/* session_operations.c - the rows of debug sessions: what each takes, gives and is done by. */
#include "session_calls.h"

#include "inspect.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

enum {
    SECONDS_MAX = 10 * 365 * 24 * 3600,
    STEPS_BACK_MAX = 1000000000,
    LINE_MAX_NUMBER = FLOW_FILE_MAX,
    PASSED_MAX = 1000000,
    AROUND_MAX = 1000, /* lines that inspect_source() gives before and after one */
};

#define FRAME_ARG \
    { "frame", ARG_FRAME, .about = "which frame; left out, the selected one" }
#define DEPTH_ARG                                                                               \
    {                                                                                           \
        "depth", ARG_INT,                                                                       \
            .about = "what that level of the frame sees, 1 being the outermost; left out, the " \
                     "innermost",                                                               \
            .min = 1, .max = ARG_COUNTING                                                       \
    }
#define FRAMES_ARG(otherwise) \
    { "frame", ARG_FRAMES, .about = "which frame, \"selected\" or \"all\"; left out, " otherwise }
#define CHECKPOINT_ARG                                                                       \
    {                                                                                        \
        "checkpoint", ARG_INT, .about = "answers from the history instead of now", .min = 1, \
                               .max = ARG_COUNTING                                           \
    }
#define LIMIT_ARG(otherwise, most) \
    { "limit", ARG_INT, .about = "at most so many; left out, " otherwise, .min = 1, .max = most }
#define OFFSET_ARG \
    { "offset", ARG_INT, .about = "so many are passed over first", .min = 0, .max = ARG_COUNTING }
#define ID_ARG(what) \
    { "id", ARG_INT, .about = what, .required = true, .min = 1, .max = ARG_COUNTING }
#define ID_CHOICE(what) \
    { "id", ARG_INT, .about = what, .one_of = true, .min = 1, .max = ARG_COUNTING }
#define ALL_CHOICE(what) \
    { "all", ARG_BOOL, .about = what, .one_of = true }
#define PATH_ARG(what) \
    { "path", ARG_PATH, .about = what, .required = true }
#define VALUE_ARG \
    { "value", ARG_ANY, .about = "what it is to be", .required = true }

/* The fields of a breakpoint, which breakpoint_change can take away with a null. Words and
 * numbers are checked where breakpoints are made (breakpoint.h). */
#define ARG_OF_NAME   ARG_TEXT
#define ARG_OF_TEXT   ARG_TEXT
#define ARG_OF_COUNT  ARG_INT, .min = 0, .max = ARG_COUNTING
#define ARG_OF_LINE   ARG_INT, .min = 1, .max = LINE_MAX_NUMBER
#define ARG_OF_BOOL   ARG_BOOL
#define ARG_OF_OBJECT ARG_OBJECT
#define ARG_OF_ANY    ARG_ANY

static const OperationArg break_set_args[] = {
    {"spec", ARG_TEXT, .about = "all in a line: `NODE:after if EXPR`, `FILE:LINE`, `error`"},
    {"breakpoints", ARG_ARRAY, .about = "several, each with its fields or its spec"},
#define PLACE(...)
#define TYPE(...)
#define FIELD(name, kind, place, says) {name, ARG_OF_##kind, .about = says, .nullable = false},
#define KEPT(name, kind, says)         {name, ARG_OF_##kind, .about = says, .nullable = false},
#define SHOWN(...)
#include "breakpoint_rows.h"
    {0},
};

static const OperationArg break_change_args[] = {
    ID_ARG("of the breakpoint"),
#define PLACE(...)
#define TYPE(...)
#define FIELD(name, kind, place, says) {name, ARG_OF_##kind, .about = says, .nullable = true},
#define KEPT(name, kind, says)         {name, ARG_OF_##kind, .about = says, .nullable = true},
#define SHOWN(...)
#include "breakpoint_rows.h"
    {0},
};

#define BREAKPOINT_CHOICE                                                           \
    ID_CHOICE("of one"), {"ids", ARG_ARRAY, .about = "of several", .one_of = true}, \
        {"group", ARG_TEXT, .about = "all of a group", .one_of = true},             \
        ALL_CHOICE("true: all of them")

#define THREAD_ARG \
    { "thread", ARG_TEXT, .about = "the run: its name, or its number", .required = true }

/* ---- operations ---- */

/* A row. What is behind the shape of its answer: `.past`, for what looks into the record, and `.revives`, for what is done to
 * a frame that is stopped and may bring a run to life that has failed. */
#define ASK(name_, summary_, scope_, route_, args_, ask_, ...)                        \
    {                                                                                 \
        .name = name_, .summary = summary_, .scope = SCOPE_##scope_, .route = route_, \
        .idempotent = SCOPE_##scope_ == SCOPE_READ, .args = args_, .ask = ask_,       \
        .answer = __VA_ARGS__                                                         \
    }
#define READ_PAST(name_, summary_, route_, args_, read_, answer_)                 \
    {                                                                             \
        .name = name_, .summary = summary_, .scope = SCOPE_READ, .route = route_, \
        .idempotent = true, .args = args_, .read = read_, .answer = answer_       \
    }

const Operation session_operations[] = {
    ASK("session", "what the session is and how it stands", READ, "GET /debug/{thread}/session",
        NULL, debug_session, "SESSION"),
    ASK("overview", "the session with its frames, breakpoints, watches and injected nodes", READ,
        "GET /debug/{thread}", NULL, debug_overview,
        "{session: SESSION, frames: [FRAME], total: int, selected?: int, breakpoints: [BREAKPOINT], "
        "watches: [{id: int, expression: text, results?: [VALUE], more?: bool, omitted?: VALUE, error?: text}], "
        "injected: [INJECTED]}",
        .ask_later = debug_overview_later),
    ASK("configure", "change what the session is told to do", DEBUG, "PUT /debug/{thread}",
        ARGS({"pause_all_on_breakpoint", ARG_BOOL, .about = "one frame that stops stops all"},
             {"auto_resume", ARG_BOOL, .about = "the run goes on when the idle limit has passed"},
             {"idle_limit", ARG_NUMBER, .about = "seconds; 0: none", .min = 0, .max = SECONDS_MAX},
             {"steps", ARG_BOOL, .about = "also tell `node` and `step` events"},
             {"breakpoints", ARG_BOOL, .about = "false: none stops anything, but those for errors"},
             {"exceptions", ARG_BOOL, .about = "false: nor do those for errors"}),
        debug_configure, "SESSION"),
    ASK("extend", "let the idle limit begin anew", DEBUG, "POST /debug/{thread}/extend",
        ARGS({"seconds", ARG_NUMBER,
              .about = "how long the limit is from now on; left out, as it was", .min = 0,
              .max = SECONDS_MAX}),
        debug_extend, "SESSION"),
    ASK("detach", "let the run go on without a debugger", DEBUG, "DELETE /debug/{thread}", NULL,
        debug_detach, "{}"),
    ASK("abort", "cancel the run; its cleanup tasks run", DEBUG, "POST /debug/{thread}/abort", NULL,
        debug_abort, "{}"),

    ASK("breakpoint_set", "set a breakpoint, or several", DEBUG, "POST /debug/{thread}/breakpoints",
        break_set_args, debug_break_set, "{breakpoint: BREAKPOINT} | {breakpoints: [BREAKPOINT]}"),
    ASK("breakpoint_change", "change fields of a breakpoint", DEBUG,
        "PUT /debug/{thread}/breakpoints/{id}", break_change_args, debug_break_change,
        "{breakpoint: BREAKPOINT}"),
    ASK("breakpoint_delete", "delete breakpoints", DEBUG, "DELETE /debug/{thread}/breakpoints",
        ARGS(BREAKPOINT_CHOICE), debug_break_delete, "{deleted: [int]}"),
    ASK("breakpoint_enable", "enable or disable breakpoints", DEBUG,
        "POST /debug/{thread}/breakpoints/enable",
        ARGS(BREAKPOINT_CHOICE,
             {"enabled", ARG_BOOL, .about = "whether they are to stop frames", .required = true}),
        debug_break_enable, "{changed: [int]}"),
    ASK("breakpoints", "list the breakpoints", READ, "GET /debug/{thread}/breakpoints",
        ARGS({"node", ARG_TEXT, .about = "only those at this node"},
             {"group", ARG_TEXT, .about = "only those of this group"},
             {"enabled", ARG_BOOL, .about = "only those that are, or are not"}),
        debug_breaks, "{breakpoints: [BREAKPOINT]}"),

    ASK("breakpoint_save", "keep the breakpoints and watches for later runs of the workflow", DEBUG,
        "POST /debug/{thread}/breakpoints/save",
        ARGS({"give", ARG_BOOL, .about = "true: answer with them, and keep nothing in the store"}),
        debug_break_save, "{breakpoints: int, watches: int, document?: object}",
        .past = &past_save),
    ASK("breakpoint_load", "set the breakpoints and watches that were kept", DEBUG,
        "POST /debug/{thread}/breakpoints/load",
        ARGS({"document", ARG_OBJECT,
              .about = "as `breakpoint_save` gave it; left out, what is kept in the store"}),
        debug_break_load,
        "{breakpoints: [BREAKPOINT], watches: int, there: int, refused: [{breakpoint: object, message: text}]}",
        .past = &past_load),
    ASK("breakpoint_saved", "say what is kept for later runs of the workflow", READ,
        "GET /debug/{thread}/breakpoints/saved", NULL, NULL,
        "{breakpoints: int, watches: int, saved?: time}", .past = &past_saved),

    ASK("continue", "let frames go on to the next stop", DEBUG, "POST /debug/{thread}/continue",
        ARGS(
            FRAMES_ARG("all when pause_all_on_breakpoint is on, the selected one otherwise"),
            {"while", ARG_TEXT,
             .about =
                 "jq over what the node at a breakpoint sees: as long as it holds, the frame goes on"},
            {"limit", ARG_INT, .about = "with `while`: past at most so many stops; left out, 1000",
             .min = 1, .max = PASSED_MAX},
            {"anew", ARG_BOOL,
             .about =
                 "true: breakpoints at the node that a frame stands before count, as if it came "
                 "to it now"}),
        debug_continue, "RESUMED", .revives = true),
    ASK("pause", "stop frames where they are", DEBUG, "POST /debug/{thread}/pause",
        ARGS(FRAMES_ARG("all")), debug_pause, "{paused: [int], later: [int]}"),
    ASK("step", "go on to the next node: over, into or out", DEBUG, "POST /debug/{thread}/step",
        ARGS({"kind", ARG_TEXT, .about = "how far", .required = true, .words = debug_step_words},
             {"count", ARG_INT, .about = "so many steps, one after the other; left out, 1",
              .min = 1, .max = STEPS_BACK_MAX},
             FRAME_ARG),
        debug_step, "RESUMED", .revives = true),
    ASK("back", "go back by steps of a frame", DEBUG, "POST /debug/{thread}/back",
        ARGS({"count", ARG_INT, .about = "steps of the frame; left out, 1", .min = 1,
              .max = STEPS_BACK_MAX},
             {"depth", ARG_INT,
              .about =
                  "instead, to before the node of that level of the frame, 1 being the outermost",
              .min = 1, .max = ARG_COUNTING},
             FRAME_ARG),
        NULL, "MOVED", .past = &past_back),
    ASK("reverse_continue", "go back to the last stop", DEBUG,
        "POST /debug/{thread}/reverse_continue", ARGS(FRAME_ARG), NULL, "MOVED",
        .past = &past_reverse),
    ASK("goto", "stand before another node, or at a checkpoint", DEBUG, "POST /debug/{thread}/goto",
        ARGS(
            {"node", ARG_TEXT, .about = "a node of the graph that the frame is in", .one_of = true},
            {"checkpoint", ARG_INT, .about = "the run goes back to it", .one_of = true, .min = 1,
             .max = ARG_COUNTING},
            FRAME_ARG),
        debug_goto, "MOVED", .past = &past_goto, .revives = true),
    ASK("skip", "pass over the node", DEBUG, "POST /debug/{thread}/skip",
        ARGS({"output", ARG_ANY, .about = "what the node gives back instead; left out, nothing"},
             FRAME_ARG),
        debug_skip, "RESUMED", .revives = true),
    ASK("retry", "run the node again after its error", DEBUG, "POST /debug/{thread}/retry",
        ARGS(FRAME_ARG), debug_retry, "RESUMED", .revives = true),
    ASK("end", "end a branch: what it has written counts, the rest of it is not done", DEBUG,
        "POST /debug/{thread}/end",
        ARGS({"stops", ARG_BOOL, .about = "true: the frame that made it stops where it goes on"},
             FRAME_ARG),
        debug_end, "RESUMED"),
    ASK("answer", "answer what a frame asks", DEBUG, "POST /debug/{thread}/answer",
        ARGS({"value", ARG_ANY, .about = "the answer"},
             {"decision", ARG_TEXT, .about = "one of the options of an approval"},
             {"interrupt", ARG_TEXT,
              .about = "the id of what is answered; left out, that of the frame"},
             {"frame", ARG_FRAME,
              .about = "which frame; left out, the selected one or the only one"}),
        debug_answer, "{answered: text}"),

    ASK("frames", "list the frames", READ, "GET /debug/{thread}/frames",
        ARGS(OFFSET_ARG, LIMIT_ARG("100", INSPECT_PAGE_MAX),
             {"all", ARG_BOOL, .about = "true: also those that have ended, from the history"}),
        debug_frames,
        "{frames: [FRAME], total: int, selected?: int, ended?: [ENDED], more_ended?: bool}",
        .past = &past_frames),
    ASK("stack", "show a frame with its levels, without selecting it", READ,
        "GET /debug/{thread}/stack", ARGS(FRAME_ARG), debug_stack, "{frame: FRAME, names: [text]}"),
    ASK("frame", "select a frame and show it", DEBUG, "POST /debug/{thread}/frame",
        ARGS({"frame", ARG_FRAME, .about = "selected from now on; left out, the one that is"}),
        debug_frame, "FRAME"),
    ASK("node", "show the node that a frame stands at", READ, "GET /debug/{thread}/node",
        ARGS(FRAME_ARG), debug_node, "NODE"),
    ASK("config", "show the node's config, as written and resolved", READ,
        "GET /debug/{thread}/config", ARGS(FRAME_ARG), debug_config, "CONFIG"),
    ASK("variables", "show what the node sees, or a part of it", READ,
        "GET /debug/{thread}/variables",
        ARGS({"path", ARG_PATH, .about = "what to look at; left out, everything"}, OFFSET_ARG,
             LIMIT_ARG("100", INSPECT_PAGE_MAX),
             {"preview", ARG_INT, .about = "characters of a preview; left out, 60", .min = 1,
              .max = INSPECT_PREVIEW_MAX},
             FRAME_ARG, DEPTH_ARG, CHECKPOINT_ARG),
        debug_variables, "VARIABLES", .past = &past_variables),
    ASK("summary", "show the keys with types and sizes", READ, "GET /debug/{thread}/summary",
        ARGS(FRAME_ARG, CHECKPOINT_ARG), debug_summary, "{keys: [VARIABLE], total: int, size: int}",
        .past = &past_summary),
    ASK("search", "find a text in keys and values", READ, "GET /debug/{thread}/search",
        ARGS({"text", ARG_TEXT, .about = "part of a key or of a string, or a number",
              .required = true},
             LIMIT_ARG("50", INSPECT_PAGE_MAX), FRAME_ARG, CHECKPOINT_ARG),
        debug_search, "FOUND", .past = &past_search),
    ASK("largest", "list the largest values", READ, "GET /debug/{thread}/largest",
        ARGS(LIMIT_ARG("10", INSPECT_LARGEST_MAX),
             {"min_size", ARG_INT, .about = "only those of at least so many bytes", .min = 1,
              .max = ARG_COUNTING},
             FRAME_ARG, CHECKPOINT_ARG),
        debug_largest,
        "{largest: [{path: path, text: text, type: text, size: int, length?: int}], more?: bool}",
        .past = &past_largest),
    ASK("diff", "show what has changed", READ, "GET /debug/{thread}/diff",
        ARGS({"since", ARG_TEXT, .about = "what to compare now with; left out, the last pause",
              .words = debug_since_words},
             {"from", ARG_INT, .about = "a checkpoint", .min = 1, .max = ARG_COUNTING},
             {"to", ARG_INT, .about = "a checkpoint; left out, now", .min = 1, .max = ARG_COUNTING},
             FRAME_ARG),
        debug_diff,
        "{from?: int, to?: int, added: [CHANGE], removed: [CHANGE], changed: [CHANGE], counts: COUNTS, more?: bool}",
        .past = &past_diff),
    ASK("written", "say who wrote a value last", READ, "GET /debug/{thread}/written",
        ARGS(PATH_ARG("which value"), FRAME_ARG, DEPTH_ARG), NULL,
        "{checkpoint?: int, status?: text, frame?: int, node?: text, file?: text, line?: int, at?: time}",
        .past = &past_written),
    ASK("evaluate", "evaluate jq on what the node sees", READ, "POST /debug/{thread}/evaluate",
        ARGS({"expression", ARG_TEXT, .about = "jq over what the node sees", .required = true},
             LIMIT_ARG("100", INSPECT_PAGE_MAX), FRAME_ARG, DEPTH_ARG, CHECKPOINT_ARG),
        debug_evaluate, "{results: [VALUE], more: bool, omitted?: VALUE}", .past = &past_evaluate,
        .ask_later = debug_evaluate_later),
    ASK("complete", "say what could stand at a cursor", READ, "POST /debug/{thread}/complete",
        ARGS({"text", ARG_TEXT, .about = "as far as it is typed", .required = true},
             {"cursor", ARG_INT, .about = "bytes of the text before it; left out, all", .min = 0,
              .max = ARG_COUNTING},
             {"what", ARG_TEXT, .about = "what the text is; left out, an expression",
              .words = debug_complete_words},
             FRAME_ARG),
        debug_complete, "{items: [{text: text, kind: text, detail?: text, from: int}]}"),
    ASK("watch_add", "evaluate an expression at each pause", DEBUG, "POST /debug/{thread}/watches",
        ARGS({"expression", ARG_TEXT, .about = "jq, evaluated at each pause", .required = true}),
        debug_watch_add, "{watch: {id: int, expression: text}}"),
    ASK("watch_delete", "delete watches", DEBUG, "DELETE /debug/{thread}/watches",
        ARGS(ID_CHOICE("of the watch"), ALL_CHOICE("true: all of them")), debug_watch_delete,
        "{deleted: [int]}"),
    ASK("watches", "evaluate the watches", READ, "GET /debug/{thread}/watches", ARGS(FRAME_ARG),
        debug_watches,
        "{watches: [{id: int, expression: text, results?: [VALUE], more?: bool, omitted?: VALUE, error?: text}]}",
        .ask_later = debug_watches_later),
    ASK("source", "show the file around a line", READ, "GET /debug/{thread}/source",
        ARGS({"file", ARG_TEXT, .about = "a file of the workflow; left out, that of the node"},
             {"line", ARG_INT, .about = "left out, that of the node", .min = 1,
              .max = LINE_MAX_NUMBER},
             {"around", ARG_INT, .about = "lines before and after it; left out, 5", .min = 1,
              .max = AROUND_MAX},
             FRAME_ARG),
        debug_source, "{file: text, first: int, lines: [text], current?: int, breakpoints: [int]}"),
    ASK("nodes", "list the nodes of the workflow", READ, "GET /debug/{thread}/nodes", NULL,
        debug_nodes,
        "{nodes: [{name: text, kind: text, workflow: text, file: text, line: int, column: int, "
        "title?: text, id?: text}], files: [text]}"),
    ASK("graph", "draw the workflow of the run", READ, "GET /debug/{thread}/graph",
        ARGS({"format", ARG_TEXT, .about = "left out, mermaid", .words = debug_graph_words}),
        debug_graph, "{text: text}"),
    ASK("edges", "the edges of a frame's node, and which was taken last", READ,
        "GET /debug/{thread}/edges", ARGS(FRAME_ARG), debug_edges,
        "{frame: int, node?: text, edges: [{to: [text], when?: text, error?: bool}], last?: EDGE}",
        .past = &past_edges),
    READ_PAST("history", "list what was done", "GET /debug/{thread}/history",
              ARGS(THREAD_ARG, {"frame", ARG_FRAME, .about = "of one frame; left out, of all"},
                   {"before", ARG_INT, .about = "only what was before this checkpoint", .min = 1,
                    .max = ARG_COUNTING},
                   LIMIT_ARG("50", INSPECT_PAGE_MAX),
                   {"all", ARG_BOOL, .about = "every checkpoint, not only those that end a node"}),
              debug_history, "{steps: [HISTORY_STEP], more: bool}"),

    ASK("set", "set a variable when the frame goes on", DEBUG, "POST /debug/{thread}/variables",
        ARGS(PATH_ARG("which variable"), VALUE_ARG, FRAME_ARG), debug_set, "PENDING",
        .revives = true),
    ASK("unset", "remove a variable when the frame goes on", DEBUG,
        "DELETE /debug/{thread}/variables", ARGS(PATH_ARG("which variable"), FRAME_ARG),
        debug_unset, "PENDING", .revives = true),
    ASK("pending", "list the changes that are pending", READ, "GET /debug/{thread}/pending",
        ARGS(FRAME_ARG), debug_pending, "PENDING"),
    ASK("revoke", "take pending changes back", DEBUG, "DELETE /debug/{thread}/pending",
        ARGS(ID_CHOICE("of the change"),
             {"path", ARG_PATH, .about = "those of this variable", .one_of = true},
             ALL_CHOICE("true: all changes of the frame"), FRAME_ARG),
        debug_revoke, "PENDING"),
    ASK("config_set", "edit the node's config for this one execution", DEBUG,
        "PUT /debug/{thread}/config",
        ARGS(PATH_ARG("inside the node as it is written"), VALUE_ARG, FRAME_ARG), debug_config_set,
        "CONFIG", .revives = true),
    ASK("config_reset", "take the edits of the config back", DEBUG, "DELETE /debug/{thread}/config",
        ARGS(FRAME_ARG), debug_config_reset, "CONFIG", .revives = true),
    ASK("inject", "add a node before or after the current one", DEBUG,
        "POST /debug/{thread}/injected",
        ARGS({"node", ARG_OBJECT, .about = "as it would stand in the file", .one_of = true},
             {"text", ARG_TEXT, .about = "the same as YAML, or `NAME: {...}`", .one_of = true},
             {"where", ARG_TEXT, .about = "of the current node; left out, before",
              .words = debug_inject_words},
             {"name", ARG_TEXT, .about = "of the new node; left out, the one that it has"},
             FRAME_ARG),
        debug_inject, "{injected: INJECTED}", .revives = true),
    ASK("injected", "list injected nodes that have not begun", READ, "GET /debug/{thread}/injected",
        ARGS({"frame", ARG_FRAME, .about = "of one frame; left out, of all"}), debug_injected,
        "{injected: [INJECTED]}"),
    ASK("inject_remove", "remove an injected node", DEBUG, "DELETE /debug/{thread}/injected/{id}",
        ARGS(ID_ARG("of the injected node")), debug_inject_remove, "{removed: int}"),

    ASK("replay", "run one node again on the input that it had, or on another", DEBUG,
        "POST /debug/{thread}/replay",
        ARGS({"checkpoint", ARG_INT,
              .about = "of the step; left out, the last of the selected frame", .min = 1,
              .max = ARG_COUNTING},
             {"node", ARG_TEXT, .about = "its last execution"},
             {"input", ARG_OBJECT,
              .about = "what the node sees instead, by name; the rest is as it was"},
             {"config", ARG_OBJECT,
              .about =
                  "keys of the node as it is written that are others this time; null: not there"},
             {"new_thread", ARG_TEXT, .about = "name of the new run; left out, one is made"}),
        NULL, "{thread: text, run: int}", .past = &past_replay),
    READ_PAST("export", "give the run and its session as one document",
              "GET /debug/{thread}/export", ARGS(THREAD_ARG), debug_export, "object"),
    {0},
};

/* ---- what rows share ---- */

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
    error_set(err, ERR_NOT_FOUND, "%s; %s.", what, numbers.data);
    buf_clear(&numbers);
    json_unref(there);
}
