/* mcp_tool_rows.c - the table of tools (mcp_tools.h), group by group: everything that an assistant sees of them is made from it. */
#include "mcp_calls.h"
#include "mcp_tools.h"

/* ---- arguments that several tools have ---- */

#define WAIT_ARG                                                                               \
    {                                                                                          \
        "wait", ARG_NUMBER,                                                                    \
            .about = "seconds to wait at most until the run stands still; left out, 30; then " \
                     "the answer says how it stands, and it goes on",                          \
            .min = 0, .max = MCP_PATIENCE_MAX_S                                                \
    }
#define THREAD_ARG \
    { "thread", ARG_TEXT, .about = "the run: its thread or its number", .required = true }
#define PATH_ARG \
    { "path", ARG_TEXT, .about = "the workflow: a file on this machine", .one_of = true }
#define TEXT_ARG \
    { "text", ARG_TEXT, .about = "the workflow: the YAML itself", .one_of = true }
#define NAME_ARG                                                                       \
    {                                                                                  \
        "workflow", ARG_TEXT, .about = "the workflow: a name that list_workflows has", \
                              .one_of = true                                           \
    }
#define FILES_ARG                                                                                 \
    {                                                                                             \
        "files", ARG_OBJECT,                                                                      \
            .about =                                                                              \
                "with `text`: the files that it names, {path: text}; it is workflow.yaml itself", \
            .shape = "{*: text}"                                                                  \
    }
#define NEW_THREAD_ARG \
    { "thread", ARG_TEXT, .about = "a name for the new run; left out, one is made" }
#define INPUT_ARG \
    { "input", ARG_OBJECT, .about = "what the state starts with" }
#define SET_ARG                                                                                \
    {                                                                                          \
        "set", ARG_OBJECT,                                                                     \
            .about = "values to set in the state first, by their paths: {\".mirror\": \"eu\"}" \
    }
#define BREAKPOINTS_ARG                                                                         \
    {                                                                                           \
        "breakpoints", ARG_ARRAY,                                                               \
            .about = "where to stop: \"NODE\", \"NODE:after\", \"NODE if JQ\", \"FILE:LINE\", " \
                     "\"error\" (a node fails), \"changed:PATH\"",                              \
            .shape = "[text]"                                                                   \
    }

#define RUN_VIEW                                                                                  \
    "{thread: text, status: text, run?: int, workflow?: text, checkpoint?: int, error?: object, " \
    "interrupts?: [object], paused?: [object], frames?: [object], state?: any|null, "             \
    "recent?: [text], log?: text, hint?: text, ...}"
/* Where the session stands, or the run when it has none any more. */
#define SESSION_VIEW                                                                         \
    "{thread: text, status: text, run_status?: text, stopped?: object, frames?: [object], "  \
    "source?: text, sees?: any|null, pending?: [object], breakpoints?: [object], "           \
    "error?: object, state?: any|null, log?: text, recent?: [text], interrupts?: [object], " \
    "hint?: text, ...}"

#define GO "continues the run"

/* ---- the table ---- */

const McpTool mcp_tools[] = {
    /* -- workflows -- */
    {.name = "list_workflows",
     .title = "List workflows",
     .about =
         "Lists the workflows that can be started by name, with the files of the workflows folder "
         "that are none and why. Others are started by their path or their text.",
     .group = MCP_WORKFLOWS,
     .operation = "workflows",
     .answer = "{workflows: [object], left_out?: [object], ...}"},
    {.name = "get_workflow",
     .title = "Read a workflow",
     .about =
         "Gives the text of a workflow that has a name. For one that a run was started with, give "
         "the run's thread to draw_workflow, or read its state.",
     .group = MCP_WORKFLOWS,
     .operation = "workflow_get",
     .takes = "name version",
     .answer = "{name: text, text?: text, definition?: object, version?: int, ...}"},
    {.name = "check_workflow",
     .title = "Check a workflow",
     .about =
         "Says everything that is wrong with a workflow, with file, line and column. Use it after "
         "writing one and before start_run.",
     .group = MCP_WORKFLOWS,
     .own = ARGS(PATH_ARG, TEXT_ARG, NAME_ARG, FILES_ARG),
     .answer = "{ok: bool, name?: text, nodes?: int, problems: [object], ...}",
     .call = call_check_workflow},
    {.name = "draw_workflow",
     .title = "Draw a workflow",
     .about =
         "Draws the graph of a workflow, or of the workflow of a run, as Mermaid, DOT or JSON (nodes "
         "and edges with their conditions). Use it to see which way a run can take.",
     .group = MCP_WORKFLOWS,
     .own = ARGS(PATH_ARG, TEXT_ARG, NAME_ARG,
                 {"thread", ARG_TEXT, .about = "or the run whose workflow it is", .one_of = true},
                 FILES_ARG),
     .operation = "run_graph",
     .takes = "format",
     .answer = "{text: text, ...}",
     .call = call_draw_workflow},
    {.name = "explain_kind",
     .title = "Explain kinds of nodes",
     .about =
         "Explains a kind of node (`shell`, `map`, `approval`, ...): what it does, with the JSON "
         "Schema of what it takes. Without a name it lists all kinds. Use it while writing a "
         "workflow.",
     .group = MCP_WORKFLOWS,
     .own = ARGS({"name", ARG_TEXT, .about = "the kind; left out, all are listed"}),
     .operation = "kinds",
     .takes = "dialect",
     .answer = "{kinds: [object], ...}",
     .call = call_explain_kind},
    {.name = "read_docs",
     .title = "Read the documents",
     .about =
         "Reads the documents of Pawl: how workflows are written, run and debugged. Without a page it "
         "lists the pages; a long page is read section by section.",
     .group = MCP_WORKFLOWS,
     .own = ARGS({"page", ARG_TEXT, .about = "as `workflows`; left out, the pages are listed"},
                 {"section", ARG_TEXT, .about = "a heading of the page, or the beginning of one"}),
     .answer = "{pages?: [object], page?: text, title?: text, section?: text, sections?: [text], "
               "text?: text, ...}",
     .call = call_read_docs},
    {.name = "save_workflow",
     .title = "Save a workflow",
     .about =
         "Keeps a workflow under a name, from which runs can be started; a name that is there gets a "
         "new version, and the old ones stay. Check it first.",
     .group = MCP_WORKFLOWS,
     .scope = SCOPE_ADMIN,
     .changes = true,
     .operation = "workflow_put",
     .takes = "name",
     .own = ARGS({"text", ARG_TEXT, .about = "the YAML of the workflow", .required = true}),
     .answer = "{name: text, version: int, ...}"},

    /* -- runs -- */
    {.name = "start_run",
     .title = "Start a run",
     .about =
         "Starts a run of a workflow, waits until it stands still, and shows it: its status, state, "
         "error, what it asks. Give one of `path`, `text` and `workflow`. To stop inside of it, use "
         "debug_start instead.",
     .group = MCP_RUNS,
     .scope = SCOPE_RUN,
     .changes = true,
     .reaches = true,
     .operation = "run_start",
     .takes = "version mode",
     .own = ARGS(PATH_ARG, TEXT_ARG, NAME_ARG, FILES_ARG, NEW_THREAD_ARG, INPUT_ARG, WAIT_ARG),
     .answer = RUN_VIEW,
     .then = THEN_RUN,
     .big = "state",
     .reader = "read_state",
     .call = call_start_run},
    {.name = "get_run",
     .title = "Show a run",
     .about =
         "Shows where a run is: its status, state, error with file and line, what the node that "
         "failed printed, what it asks, and what can be done next. Start here when a run failed.",
     .group = MCP_RUNS,
     .operation = "run_get",
     .own =
         ARGS({"thread", ARG_TEXT,
               .about = "the run: its thread or its number; left out, the one that changed last"}),
     .answer = RUN_VIEW,
     .big = "state",
     .reader = "read_state",
     .call = call_get_run},
    {.name = "list_runs",
     .title = "List runs",
     .about =
         "Lists runs, the one that changed last first; by status, workflow, or part of a name. "
         "`next` in the answer is `after` of the next page.",
     .group = MCP_RUNS,
     .operation = "runs",
     .takes = "status workflow search since before after limit",
     .defaults = "{\"limit\": 20}",
     .answer = "{runs: [object], next?: text, ...}"},
    {.name = "wait_for_run",
     .title = "Wait for a run",
     .about = "Waits until a run stands still: it has ended, failed, asks a person, or is paused. "
              "Use it when another tool answered while the run was still running.",
     .group = MCP_RUNS,
     .operation = "run_get",
     .own = ARGS(THREAD_ARG, WAIT_ARG),
     .answer = RUN_VIEW,
     .then = THEN_RUN,
     .big = "state",
     .reader = "read_state",
     .call = call_wait_for_run},
    {.name = "read_logs",
     .title = "Read logs",
     .about =
         "Reads what the nodes of a run printed. Without `from` the last lines; with it page by page "
         "from there on (`next` in the answer; 1 is the beginning).",
     .group = MCP_RUNS,
     .operation = "run_logs",
     .takes = "thread node stream since from last",
     .answer =
         "{thread: text, text: text, node?: text, next: int, more?: bool, omitted?: int, ...}",
     .call = call_read_logs},
    {.name = "read_history",
     .title = "Read the history",
     .about =
         "Lists the checkpoints of a run: which node, how it ended, what it changed. With `values` "
         "what each node gave back, with `edges` why which way was taken. A checkpoint's number is "
         "good for read_state, diff_states, fork_run and debug_back.",
     .group = MCP_RUNS,
     .operation = "run_history",
     .takes = "thread from last values edges limit",
     .answer = "{thread: text, status: text, checkpoints: [object], next?: int, ...}",
     .call = call_read_history},
    {.name = "read_state",
     .title = "Read the state",
     .about =
         "Reads the state of a run, or the part of it at a path such as `.items[3].name`, now or at "
         "a checkpoint. Large values come in parts: keys with previews, `offset` and `limit` for "
         "more of an array, an object or a text.",
     .group = MCP_RUNS,
     .operation = "run_state",
     .takes = "thread checkpoint",
     .own =
         ARGS({"path", ARG_TEXT, .about = "as .items[3].name; left out, all of it"},
              {"offset", ARG_INT, .about = "so many elements, keys or characters are passed over",
               .min = 0, .max = ARG_COUNTING},
              {"limit", ARG_INT, .about = "at most so many elements or keys; left out, 50",
               .min = 1, .max = 1000}),
     .answer =
         "{thread: text, checkpoint: int, path: text, type: text, size: int, length?: int, "
         "value?: any|null, children?: [object], offset?: int, total?: int, cut_off?: bool, ...}",
     .big = "value",
     .reader = "read_state",
     .call = call_read_state},
    {.name = "diff_states",
     .title = "Compare two states",
     .about =
         "Shows what differs between the states at two checkpoints of a run, or of two runs: added, "
         "removed and changed values with their paths.",
     .group = MCP_RUNS,
     .operation = "run_diff",
     .takes = "thread checkpoint other other_checkpoint",
     .answer = "{added: [object], removed: [object], changed: [object], ...}"},
    {.name = "compare_runs",
     .title = "Compare two runs",
     .about =
         "Finds the first step at which two runs of a workflow part, and how their states differ "
         "there. Use it for `it worked yesterday`.",
     .group = MCP_RUNS,
     .operation = "run_compare",
     .takes = "thread checkpoint other other_checkpoint",
     .answer = "{same: bool, steps: int, ...}"},
    {.name = "resume_run",
     .title = "Resume a run",
     .about =
         "Lets a run that failed, was stopped or is paused go on: a node that failed is tried again. "
         "`set` changes its state first. To answer what it asks, use answer_run.",
     .group = MCP_RUNS,
     .scope = SCOPE_RUN,
     .changes = true,
     .reaches = true,
     .operation = "run_resume",
     .takes = "thread checkpoint",
     .own = ARGS(SET_ARG, WAIT_ARG),
     .answer = RUN_VIEW,
     .then = THEN_RUN,
     .big = "state",
     .reader = "read_state",
     .call = call_resume_run},
    {.name = "answer_run",
     .title = "Answer a run",
     .about =
         "Answers what a run asks (`interrupts` of get_run): an approval with one of its options as "
         "`decision`, anything else with `value`. It is a person's decision: ask before you make it "
         "for somebody.",
     .group = MCP_RUNS,
     .scope = SCOPE_RUN,
     .changes = true,
     .reaches = true,
     .operation = "run_resume",
     .takes = "thread value decision interrupt",
     .own = ARGS(WAIT_ARG),
     .answer = RUN_VIEW,
     .then = THEN_RUN,
     .big = "state",
     .reader = "read_state"},
    {.name = "fork_run",
     .title = "Fork a run",
     .about =
         "Makes a new run that begins where another stands, or at one of its checkpoints; the other "
         "stays as it is. resume_run lets the new one go on.",
     .group = MCP_RUNS,
     .scope = SCOPE_RUN,
     .changes = true,
     .operation = "run_fork",
     .takes = "thread checkpoint new_thread",
     .answer = "{run: int, thread: text, status: text, ...}"},
    {.name = "replay_run",
     .title = "Replay a run",
     .about =
         "Starts a run that takes the results of another instead of doing its work again, up to the "
         "node `live_from`, which is done anew. Use it to try a change without paying for what came "
         "before it.",
     .group = MCP_RUNS,
     .scope = SCOPE_RUN,
     .changes = true,
     .reaches = true,
     .operation = "run_replay",
     .takes = "thread checkpoint live_from new_thread input workflow version",
     .own = ARGS(WAIT_ARG),
     .answer = RUN_VIEW,
     .then = THEN_RUN,
     .big = "state",
     .reader = "read_state"},
    {.name = "stop_run",
     .title = "Stop a run",
     .about = "Stops a run that is under way so that resume_run can let it go on later.",
     .group = MCP_RUNS,
     .scope = SCOPE_RUN,
     .changes = true,
     .again = true,
     .operation = "run_stop",
     .takes = "thread",
     .own = ARGS(WAIT_ARG),
     .answer = RUN_VIEW,
     .then = THEN_RUN,
     .big = "state",
     .reader = "read_state"},
    {.name = "cancel_run",
     .title = "Cancel a run",
     .about =
         "Ends a run for good; its cleanup tasks run. It cannot be resumed: stop_run stops it for a "
         "while.",
     .group = MCP_RUNS,
     .scope = SCOPE_RUN,
     .changes = true,
     .destroys = true,
     .operation = "run_cancel",
     .takes = "thread",
     .own = ARGS(WAIT_ARG),
     .answer = RUN_VIEW,
     .then = THEN_RUN,
     .big = "state",
     .reader = "read_state"},

    /* -- debugging -- */
    {.name = "debug_start",
     .title = "Debug a run",
     .about =
         "Begins to debug: with `thread` a run that is there (a failed one stands at the node that "
         "failed, ready for debug_retry; one under way is paused), otherwise a new run of `path`, "
         "`text` or `workflow`, which stops at its first node or at `breakpoints`. Shows where it "
         "stands.",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .reaches = true,
     .own = ARGS({"thread", ARG_TEXT, .about = "a run that is there", .one_of = true}, PATH_ARG,
                 TEXT_ARG, NAME_ARG, FILES_ARG,
                 {"new_thread", ARG_TEXT, .about = "a name for a new run; left out, one is made"},
                 INPUT_ARG, BREAKPOINTS_ARG,
                 {"stop_at_start", ARG_BOOL,
                  .about = "stop before the first node, or where it is; left out, unless there are "
                           "breakpoints"},
                 WAIT_ARG),
     .answer = SESSION_VIEW,
     .then = THEN_SESSION,
     .big = "sees",
     .reader = "debug_variables",
     .call = call_debug_start},
    {.name = "debug_where",
     .title = "Show where it stands",
     .about =
         "Shows where the debugged run stands: the frame, its node with the source around it, why it "
         "stopped, its error, what the node sees, changes that are pending, other frames.",
     .group = MCP_DEBUGGING,
     .operation = "overview",
     .own = ARGS(THREAD_ARG,
                 {"frame", ARG_INT, .about = "which frame; left out, the one that stopped last",
                  .min = 1, .max = ARG_COUNTING}),
     .answer = SESSION_VIEW,
     .big = "sees",
     .reader = "debug_variables",
     .call = call_debug_where},
    {.name = "debug_variables",
     .title = "Look at variables",
     .about =
         "Reads what the node sees, or a part of it by its path; large values come in parts. In a "
         "session, where read_state would show the state of the whole run.",
     .group = MCP_DEBUGGING,
     .operation = "variables",
     .takes = "path offset limit frame checkpoint",
     .own = ARGS(THREAD_ARG),
     .defaults = "{\"limit\": 50}",
     .answer = "{path: [any], text: text, type: text, size: int, value?: any|null, "
               "children?: [object], offset?: int, total?: int, ...}",
     .big = "value",
     .reader = "debug_variables"},
    {.name = "debug_evaluate",
     .title = "Evaluate an expression",
     .about = "Evaluates jq on what the node sees, as `.items | length` or `.text[0:500]`. Changes "
              "nothing. Use it to test a condition or to pick a part out of a large value.",
     .group = MCP_DEBUGGING,
     .operation = "evaluate",
     .takes = "expression frame checkpoint limit",
     .own = ARGS(THREAD_ARG),
     .defaults = "{\"limit\": 20}",
     .answer = "{results: [any|null], more: bool, ...}"},
    {.name = "debug_diff",
     .title = "Show what changed",
     .about = "Shows what has changed in what the node sees: since the last stop, or between two "
              "checkpoints.",
     .group = MCP_DEBUGGING,
     .operation = "diff",
     .takes = "since from to frame",
     .own = ARGS(THREAD_ARG),
     .answer = "{added: [object], removed: [object], changed: [object], ...}"},
    {.name = "debug_step",
     .title = "Step",
     .about =
         "Goes on to the next node: `over` (the usual), `into` a node that holds others, or `out` of "
         "it. Waits until it stops there, and shows where.",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .reaches = true,
     .operation = "step",
     .takes = "kind count frame",
     .own = ARGS(THREAD_ARG, WAIT_ARG),
     .defaults = "{\"kind\": \"over\"}",
     .answer = SESSION_VIEW,
     .then = THEN_SESSION,
     .big = "sees",
     .reader = "debug_variables"},
    {.name = "debug_continue",
     .title = "Continue",
     .about =
         "Lets the run go on to the next breakpoint, error or its end, waits for that, and shows "
         "where it stands.",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .reaches = true,
     .operation = "continue",
     .takes = "frame while limit",
     .own = ARGS(THREAD_ARG, WAIT_ARG),
     .answer = SESSION_VIEW,
     .then = THEN_SESSION,
     .big = "sees",
     .reader = "debug_variables"},
    {.name = "debug_pause",
     .title = "Pause",
     .about =
         "Stops frames of a run that is under way, each before its next node, and shows where they "
         "stand.",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .again = true,
     .operation = "pause",
     .takes = "frame",
     .own = ARGS(THREAD_ARG, WAIT_ARG),
     .answer = SESSION_VIEW,
     .then = THEN_SESSION,
     .big = "sees",
     .reader = "debug_variables"},
    {.name = "debug_back",
     .title = "Go back",
     .about =
         "Goes back in the run: by `count` steps, to a `checkpoint`, before a `node` of the graph, or "
         "to the last stop. What came after stays in the history as another line; what was done "
         "outside is not undone.",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .own = ARGS(THREAD_ARG,
                 {"count", ARG_INT, .about = "steps; left out, 1", .min = 1, .max = 1000000},
                 {"checkpoint", ARG_INT, .about = "a number of read_history", .min = 1,
                  .max = ARG_COUNTING},
                 {"node", ARG_TEXT, .about = "stand before this node, wherever it is in the graph"},
                 {"last_stop", ARG_BOOL, .about = "true: to where it stopped before"},
                 {"frame", ARG_INT, .about = "which frame; left out, the one that stopped last",
                  .min = 1, .max = ARG_COUNTING}),
     .answer = SESSION_VIEW,
     .then = THEN_SESSION,
     .big = "sees",
     .reader = "debug_variables",
     .call = call_debug_back},
    {.name = "debug_set",
     .title = "Set a variable",
     .about = "Sets a variable that the node sees, or removes it, when the frame goes on: `path` "
              "\".mirror\", `value` \"eu\". debug_where lists what is pending.",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .again = true,
     .operation = "set",
     .takes = "frame",
     .own = ARGS(THREAD_ARG,
                 {"path", ARG_TEXT, .about = "which variable, as .user.name", .required = true},
                 {"value", ARG_ANY, .about = "what it is to be", .nullable = true},
                 {"remove", ARG_BOOL, .about = "true: it is removed instead"}),
     .answer = "{pending: [object], ...}",
     .call = call_debug_set},
    {.name = "debug_config_set",
     .title = "Edit the node",
     .about =
         "Changes the node that a frame stands at, as it is written in the file, for this one "
         "execution: `path` \".shell\", `value` \"make test\". Then debug_retry or debug_step.",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .again = true,
     .operation = "config_set",
     .takes = "path value frame",
     .own = ARGS(THREAD_ARG),
     .answer = "{node: text, kind: text, raw?: any|null, error?: text, ...}",
     .big = "raw"},
    {.name = "debug_retry",
     .title = "Try the node again",
     .about =
         "Runs the node that failed again, with the variables and the config that were set, waits "
         "until the run stands still, and shows it.",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .reaches = true,
     .operation = "retry",
     .takes = "frame",
     .own = ARGS(THREAD_ARG, WAIT_ARG),
     .answer = SESSION_VIEW,
     .then = THEN_SESSION,
     .big = "sees",
     .reader = "debug_variables"},
    {.name = "debug_skip",
     .title = "Skip the node",
     .about =
         "Passes over the node that a frame stands at, as if it had given back `output`, and goes on.",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .reaches = true,
     .operation = "skip",
     .takes = "output frame",
     .own = ARGS(THREAD_ARG, WAIT_ARG),
     .answer = SESSION_VIEW,
     .then = THEN_SESSION,
     .big = "sees",
     .reader = "debug_variables"},
    {.name = "debug_inject",
     .title = "Inject a node",
     .about =
         "Adds a node before or after the one that a frame stands at, for this run alone: `text` is "
         "YAML as it would stand in the file, as \"peek: {shell: ls -l}\".",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .operation = "inject",
     .takes = "text node where name frame",
     .own = ARGS(THREAD_ARG),
     .answer = "{injected: object, ...}"},
    {.name = "debug_breakpoint_set",
     .title = "Set a breakpoint",
     .about = "Sets a breakpoint: `spec` \"NODE\", \"NODE:after\", \"NODE if JQ\", \"FILE:LINE\", "
              "\"if JQ\" (any node), \"error\", \"changed:PATH\".",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .own = ARGS(
         THREAD_ARG, {"spec", ARG_TEXT, .about = "where and when to stop", .required = true},
         {"log_message", ARG_TEXT, .about = "say this instead of stopping; \\(JQ) is filled in"},
         {"once", ARG_BOOL, .about = "true: it goes when it has stopped a frame"},
         {"ignore_count", ARG_INT, .about = "the first so many hits stop nothing", .min = 0,
          .max = ARG_COUNTING}),
     .answer = "{breakpoint: object, ...}",
     .call = call_debug_breakpoint_set},
    {.name = "debug_breakpoint_list",
     .title = "List breakpoints",
     .about =
         "Lists the breakpoints of a debugged run, with how often each was hit and whether it is at a "
         "node.",
     .group = MCP_DEBUGGING,
     .operation = "breakpoints",
     .own = ARGS(THREAD_ARG),
     .answer = "{breakpoints: [object], ...}"},
    {.name = "debug_breakpoint_delete",
     .title = "Delete breakpoints",
     .about = "Deletes a breakpoint by its `id`, or all of them.",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .again = true,
     .operation = "breakpoint_delete",
     .takes = "id all",
     .own = ARGS(THREAD_ARG),
     .answer = "{deleted: [int], ...}"},
    {.name = "debug_end",
     .title = "End debugging",
     .about =
         "Ends the session: `continue` lets the run go on without a debugger, `leave` lets it rest "
         "paused in the store, `cancel` ends the run for good.",
     .group = MCP_DEBUGGING,
     .scope = SCOPE_DEBUG,
     .changes = true,
     .reaches = true,
     .own = ARGS(THREAD_ARG,
                 {"how", ARG_TEXT, .about = "left out, continue",
                  .words = (const char *const[]){"continue", "leave", "cancel", NULL}},
                 WAIT_ARG),
     .answer = RUN_VIEW,
     .then = THEN_RUN,
     .big = "state",
     .reader = "read_state",
     .call = call_debug_end},
    {0},
};
