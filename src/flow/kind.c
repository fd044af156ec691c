#include "kind.h"

#include <string.h>

static const ParamInfo jq_params[] = {
    {.name = "jq",
     .type = PARAM_JQ,
     .required = true,
     .help = "the expression; its input is the state"},
};

static const ParamInfo lua_params[] = {
    {.name = "lua",
     .type = PARAM_TEXT,
     .required = true,
     .help = "the code; `state` is the state, and what it returns is the result"},
};

static const ParamInfo shell_params[] = {
    {.name = "shell", .type = PARAM_TEXT, .required = true, .help = "the command, for /bin/sh"},
    {.name = "env",
     .type = PARAM_JQ_OBJECT,
     .help = "variables for the command: strings as they are, the rest as JSON"},
    {.name = "cwd", .type = PARAM_TEMPLATE, .help = "the folder that it runs in"},
    {.name = "stdin",
     .type = PARAM_JQ,
     .help = "what it reads: a string as it is, the rest as JSON"},
    {.name = "parse",
     .type = PARAM_ENUM,
     .words = "json",
     .help = "the result is what it prints, parsed"},
    {.name = "max_output",
     .type = PARAM_SIZE,
     .fallback = "\"1M\"",
     .help = "how much of what it prints is kept"},
};

#define SCRIPT_PARAMS(language, means)                                                         \
    {.name = language, .type = PARAM_TEXT, .help = means},                                     \
        {.name = "file",                                                                       \
         .type = PARAM_TEXT,                                                                   \
         .help = "a program with functions for nodes, instead of code here; relative to this " \
                 "file"},                                                                      \
        {.name = "function",                                                                   \
         .type = PARAM_TEXT,                                                                   \
         .help = "the function of that program; the name of the node unless given"},           \
        {.name = "env",                                                                        \
         .type = PARAM_JQ_OBJECT,                                                              \
         .help = "values for the code as `env`: strings as they are, the rest as JSON"},       \
        {.name = "memory",                                                                     \
         .type = PARAM_SIZE,                                                                   \
         .fallback = "\"1G\"",                                                                 \
         .help = "how much memory it may use"},                                                \
        {.name = "max_output",                                                                 \
         .type = PARAM_SIZE,                                                                   \
         .fallback = "\"1M\"",                                                                 \
         .help = "how much of what it prints is kept in the log"},

static const ParamInfo python_params[] = {
    SCRIPT_PARAMS("python", "the body of a function of `state`; what it returns is the result")};

static const ParamInfo javascript_params[] = {SCRIPT_PARAMS(
    "javascript", "the body of an async function of `state`; what it returns is the result")};

static const ParamInfo http_params[] = {
    {.name = "url", .type = PARAM_TEMPLATE, .required = true, .help = "http:// or https://"},
    {.name = "method",
     .type = PARAM_ENUM,
     .words = "GET POST PUT PATCH DELETE HEAD OPTIONS",
     .help = "GET, or POST when there is a body, unless given"},
    {.name = "headers", .type = PARAM_JQ_OBJECT, .help = "headers of the request"},
    {.name = "body", .type = PARAM_JQ, .help = "what is sent: a string as it is, the rest as JSON"},
    {.name = "expect",
     .type = PARAM_STATUSES,
     .help = "the statuses that are no error; any from 200 to 299 unless given"},
    {.name = "parse",
     .type = PARAM_ENUM,
     .words = "json text auto",
     .fallback = "\"auto\"",
     .help = "what the body becomes; auto: JSON where the answer says that it is"},
    {.name = "max_response",
     .type = PARAM_SIZE,
     .fallback = "\"16M\"",
     .help = "the longest answer that is taken"},
    {.name = "redirects",
     .type = PARAM_COUNT,
     .fallback = "5",
     .help = "how many redirects are followed"},
    {.name = "insecure", .type = PARAM_BOOL, .help = "take any certificate"},
    {.name = "ca_file", .type = PARAM_TEMPLATE, .help = "certificates to trust, in a file"},
    {.name = "request_timeout",
     .type = PARAM_DURATION,
     .fallback = "\"30s\"",
     .help = "time for one request; `timeout` is for the node with its retries"},
};

static const ParamInfo action_params[] = {
    {.name = "prompt",
     .type = PARAM_TEMPLATE,
     .required = true,
     .help = "the instructions: what the model or the person is asked"},
    {.name = "confirm",
     .type = PARAM_JQ,
     .vars = "prompt response",
     .help = "what becomes of the answer: its input is the state, $response the answer and $prompt "
             "the prompt; {response: $response} unless given"},
    {.name = "mode",
     .type = PARAM_ENUM,
     .words = "autonomous interactive",
     .help = "who answers, whatever the run's own mode"},
    {.name = "command",
     .type = PARAM_TEXT,
     .help = "asks a model: reads the prompt and prints the answer; for /bin/sh"},
    {.name = "env",
     .type = PARAM_JQ_OBJECT,
     .help = "variables for the command: strings as they are, the rest as JSON"},
    {.name = "model", .type = PARAM_TEMPLATE, .help = "name of the model that `endpoint` has"},
    {.name = "endpoint", .type = PARAM_TEMPLATE, .help = "URL of the model's API"},
    {.name = "format",
     .type = PARAM_ENUM,
     .words = "messages chat",
     .fallback = "\"messages\"",
     .help = "what the API speaks: Messages, or chat completions"},
    {.name = "key_env",
     .type = PARAM_NAME,
     .help = "name of the environment variable that holds the API's key"},
    {.name = "system", .type = PARAM_TEMPLATE, .help = "instructions that stand before the prompt"},
    {.name = "max_tokens",
     .type = PARAM_INT,
     .fallback = "4096",
     .help = "the longest answer that is asked for"},
    {.name = "attempts",
     .type = PARAM_INT,
     .fallback = "4",
     .help = "how often the model is asked before a person is"},
    {.name = "backoff",
     .type = PARAM_DURATION,
     .fallback = "\"1s\"",
     .help = "pause before the second attempt; it doubles, and the model may ask for more"},
    {.name = "request_timeout",
     .type = PARAM_DURATION,
     .fallback = "\"10m\"",
     .help = "time for one answer of the model"},
    {.name = "stream",
     .type = PARAM_BOOL,
     .fallback = "true",
     .help = "the answer goes to the log while it is written"},
};

static const ParamInfo sleep_params[] = {
    {.name = "sleep", .type = PARAM_DURATION, .required = true, .help = "how long"},
};

static const ParamInfo approval_params[] = {
    {.name = "prompt",
     .type = PARAM_TEMPLATE,
     .required = true,
     .help = "what the person is asked"},
    {.name = "options",
     .type = PARAM_WORDS,
     .fallback = "[]",
     .help = "the decisions to choose from; none: any"},
};

static const ParamInfo workflow_params[] = {
    {.name = "workflow",
     .type = PARAM_WORKFLOW,
     .required = true,
     .help = "the file, relative to this one"},
    {.name = "input",
     .type = PARAM_JQ,
     .help = "what it starts with; the whole state unless given"},
};

static const ParamInfo map_params[] = {
    {.name = "over", .type = PARAM_JQ, .required = true, .help = "the array to go over"},
    {.name = "as",
     .type = PARAM_NAME,
     .fallback = "\"item\"",
     .help = "name of the variable that holds the element"},
    {.name = "limit", .type = PARAM_INT, .fallback = "16", .help = "how many run at once"},
    {.name = "do", .type = PARAM_NODE, .required = true, .help = "what to do with each element"},
};

static const ParamInfo while_params[] = {
    {.name = "while",
     .type = PARAM_JQ,
     .required = true,
     .help = "the loop goes on while this holds"},
    {.name = "max_iterations",
     .type = PARAM_INT,
     .fallback = "100",
     .help = "the loop ends after so many rounds"},
    {.name = "do",
     .alias = "body",
     .type = PARAM_NODES,
     .required = true,
     .help = "the nodes of a round, in order"},
};

static const ParamInfo callback_params[] = {
    {.name = "callback",
     .type = PARAM_TEXT,
     .required = true,
     .help = "name of the function, as the program gave it"},
};

static const ParamInfo callback_later_params[] = {
    {.name = "callback_later",
     .type = PARAM_TEXT,
     .required = true,
     .help = "name of the function, as the program gave it"},
};

/* ---- tasks ---- */

#define RESULT_PARAMS                                                    \
    {.name = "invertResult",                                             \
     .type = PARAM_BOOL,                                                 \
     .fallback = "false",                                                \
     .help = "success is failure, and the other way round"},             \
    {                                                                    \
        .name = "ignoreResult", .type = PARAM_BOOL, .fallback = "false", \
        .help = "succeed whatever comes of it"                           \
    }

#define THRESHOLD_PARAMS                                                                  \
    {.name = "successThreshold",                                                          \
     .type = PARAM_COUNT,                                                                 \
     .fallback = "0",                                                                     \
     .help = "succeed once so many have succeeded; 0: when all have ended"},              \
        {.name = "failureThreshold",                                                      \
         .type = PARAM_COUNT,                                                             \
         .fallback = "1",                                                                 \
         .help = "fail once so many have failed; 0: never because of that"},              \
    {                                                                                     \
        .name = "stopOnThreshold", .type = PARAM_BOOL, .fallback = "true",                \
        .help = "end the others when a threshold is reached, instead of waiting for them" \
    }

#define SCOPE_PARAM(means)                                                 \
    {                                                                      \
        .name = "newVariableScope", .type = PARAM_BOOL, .fallback = means, \
        .help = "what is set inside stays inside"                          \
    }

static const ParamInfo run_tasks_params[] = {
    {.name = "tasks", .type = PARAM_TASKS, .required = true, .help = "run one after the other"},
    SCOPE_PARAM("false"),
    {.name = "continueOnFailure",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "go on after a task that failed; the result is a failure all the same"},
    RESULT_PARAMS,
};

static const ParamInfo run_tasks_concurrent_params[] = {
    {.name = "tasks", .type = PARAM_TASKS, .required = true, .help = "run at the same time"},
    SCOPE_PARAM("true"),
    THRESHOLD_PARAMS,
    RESULT_PARAMS,
};

static const ParamInfo run_task_matrix_params[] = {
    {.name = "task", .type = PARAM_TASK, .required = true, .help = "run once for each value"},
    {.name = "matrixVar",
     .type = PARAM_TEXT,
     .required = true,
     .help = "the variable that holds the value"},
    {.name = "matrixValues", .type = PARAM_VALUE, .required = true, .help = "a list of values"},
    {.name = "runConcurrent",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "all at the same time"},
    THRESHOLD_PARAMS,
    RESULT_PARAMS,
};

static const ParamInfo run_task_background_params[] = {
    {.name = "foregroundTask",
     .type = PARAM_TASK,
     .required = true,
     .help = "its result counts; when it ends, so does the other"},
    {.name = "backgroundTask",
     .type = PARAM_TASK,
     .required = true,
     .help = "runs at the same time"},
    SCOPE_PARAM("false"),
    {.name = "exitOnForegroundSuccess",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "end as soon as the foreground task has succeeded, even if it goes on"},
    {.name = "exitOnForegroundFailure",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "end as soon as the foreground task has failed, even if it goes on"},
    {.name = "onBackgroundComplete",
     .type = PARAM_ENUM,
     .words = "ignore fail succeed failOrIgnore",
     .fallback = "\"ignore\"",
     .help = "what it means when the background task ends first; failOrIgnore: fail if it failed"},
};

static const ParamInfo run_task_options_params[] = {
    {.name = "task", .type = PARAM_TASK, .required = true, .help = "the task"},
    SCOPE_PARAM("false"),
    {.name = "retryOnFailure",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "run it again when it fails"},
    {.name = "maxRetryCount",
     .type = PARAM_COUNT,
     .fallback = "0",
     .help = "how often it may be run again"},
    RESULT_PARAMS,
    {.name = "ignoreFailure",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "succeed even when it fails"},
    {.name = "expectFailure",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "succeed when it fails, fail when it succeeds"},
};

static const ParamInfo run_external_tasks_params[] = {
    {.name = "testFile",
     .type = PARAM_TEST,
     .required = true,
     .help = "the file of another test, relative to this one"},
    {.name = "testConfig",
     .type = PARAM_OBJECT,
     .fallback = "{}",
     .help = "variables for it, before its own `config`"},
    {.name = "testConfigVars",
     .type = PARAM_QUERIES,
     .help = "variables for it, as queries over the ones here"},
    {.name = "expectFailure",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "succeed when it fails, fail when it succeeds"},
    {.name = "ignoreFailure",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "succeed even when it fails"},
};

static const ParamInfo run_shell_params[] = {
    {.name = "command",
     .type = PARAM_TEXT,
     .required = true,
     .help = "the script, which the shell reads from its standard input"},
    {.name = "shell", .type = PARAM_TEXT, .fallback = "\"bash\"", .help = "the shell"},
    {.name = "shellArgs", .type = PARAM_WORDS, .fallback = "[]", .help = "arguments for it"},
    {.name = "envVars",
     .type = PARAM_QUERIES,
     .help = "variables for the script: queries, whose values are given as JSON"},
};

static const ParamInfo run_command_params[] = {
    {.name = "command",
     .type = PARAM_WORDS,
     .required = true,
     .help = "the program and its arguments, without a shell"},
    {.name = "allowed_to_fail",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "another exit code than 0 is no failure"},
};

static const ParamInfo run_javascript_params[] = {
    {.name = "script",
     .type = PARAM_TEXT,
     .required = true,
     .help = "the body of an async function of `vars` and `env`, with setVar() and setOutput()"},
    {.name = "envVars",
     .type = PARAM_QUERIES,
     .help = "values for the script as `env`: queries over the variables"},
};

static const ParamInfo task_sleep_params[] = {
    {.name = "duration", .type = PARAM_DURATION, .required = true, .help = "how long"},
};

static const ParamInfo assertion_fields[] = {
    {.name = "name", .type = PARAM_TEXT, .help = "what it is called in the log"},
    {.name = "query", .type = PARAM_TEXT, .required = true, .help = "jq over the answer"},
    {.name = "exists",
     .type = PARAM_BOOL,
     .help = "whether the query is to give something, instead of an operator"},
    {.name = "operator",
     .type = PARAM_ENUM,
     .words = "eq neq gt gte lt lte contains not_contains",
     .help = "how what the query gives is to compare with `value`; eq unless given"},
    {.name = "value", .type = PARAM_VALUE, .help = "what it is compared with"},
    {.name = "allowMissing",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "hold when the query gives nothing"},
};

#define CHECK_PARAMS(what)                                                                     \
    {.name = "url", .type = PARAM_TEXT, .required = true, .help = "http:// or https://"},      \
        {.name = "method",                                                                     \
         .type = PARAM_ENUM,                                                                   \
         .words = "GET POST PUT PATCH DELETE HEAD OPTIONS",                                    \
         .fallback = "\"GET\"",                                                                \
         .help = "of the request"},                                                            \
        {.name = "headers", .type = PARAM_OBJECT, .fallback = "{}", .help = "of the request"}, \
        {.name = "body",                                                                       \
         .type = PARAM_VALUE,                                                                  \
         .help = "what is sent: a string as it is, the rest as JSON"},                         \
        {.name = "expectStatus", .type = PARAM_INT, .help = "the status; 200 unless given"},   \
        {.name = "expectStatuses", .type = PARAM_STATUSES, .help = "or any of these"},         \
        {.name = "pollInterval",                                                               \
         .type = PARAM_DURATION,                                                               \
         .fallback = "\"10s\"",                                                                \
         .help = "from the end of one request to the next"},                                   \
        {.name = "requestTimeout",                                                             \
         .type = PARAM_DURATION,                                                               \
         .fallback = "\"5s\"",                                                                 \
         .help = "time for one request"},                                                      \
        {.name = "maxResponseSize",                                                            \
         .type = PARAM_SIZE,                                                                   \
         .fallback = "\"10M\"",                                                                \
         .help = "the longest answer that is taken"},                                          \
        {.name = "failOnCheckMiss",                                                            \
         .type = PARAM_BOOL,                                                                   \
         .fallback = "false",                                                                  \
         .help = "fail when it does not hold, instead of asking again"},                       \
        {.name = "continueOnPass",                                                             \
         .type = PARAM_BOOL,                                                                   \
         .fallback = "false",                                                                  \
         .help = "go on after it has held: the result follows every answer"},                  \
        {.name = "assertions",                                                                 \
         .type = PARAM_OBJECTS,                                                                \
         .fallback = "[]",                                                                     \
         .fields = assertion_fields,                                                           \
         .nfields = sizeof assertion_fields / sizeof *assertion_fields,                        \
         .help = what},

static const ParamInfo check_http_json_params[] = {
    CHECK_PARAMS("what is to hold of the answer, all of them")};

static const ParamInfo check_http_metrics_params[] = {
    CHECK_PARAMS("what is to hold of the metrics, as an object of lists: "
                 ".http_requests_total[] | select(.labels.code == \"200\").value")};

/* ---- pipelines ---- */

#define STEP_PARAMS                                                                 \
    {.name = "id", .type = PARAM_TEXT, .help = "the key of its result in `steps`"}, \
        {.name = "on_failure",                                                      \
         .type = PARAM_TEXT,                                                        \
         .fallback = "\"stop\"",                                                    \
         .help = "next, stop or trigger:CARD"},                                     \
    {                                                                               \
        .name = "continue_in_context", .type = PARAM_BOOL, .fallback = "false",     \
        .help = "the step after it finds the home folder as this one leaves it"     \
    }

static const ParamInfo script_params[] = {
    STEP_PARAMS,
    {.name = "command", .type = PARAM_TEXT, .required = true, .help = "the command, for /bin/sh"},
};

static const ParamInfo docker_params[] = {
    STEP_PARAMS,
    {.name = "image", .type = PARAM_TEXT, .required = true, .help = "of the container"},
    {.name = "command", .type = PARAM_TEXT, .required = true, .help = "for its shell"},
};

static const ParamInfo agent_params[] = {
    STEP_PARAMS,
    {.name = "agent", .type = PARAM_TEXT, .required = true, .help = "its name"},
    {.name = "prompt", .type = PARAM_TEXT, .required = true, .help = "what it is to do"},
};

static const ParamInfo merge_params[] = {
    {.name = "branch", .type = PARAM_TEXT, .required = true, .help = "where to"},
};

static const ParamInfo trigger_params[] = {
    {.name = "card", .type = PARAM_TEXT, .required = true, .help = "which one"},
};

#define PARAMS(table) .params = table, .nparams = sizeof table / sizeof *table
#define INSIDE(param) .inside = (param) + 1
#define GRAPH         .dialect = DIALECT_GRAPH
#define TASKS         .dialect = DIALECT_TASKS
#define PIPELINE      .dialect = DIALECT_PIPELINE

const Kind kinds[KIND_COUNT] = {
    {KIND_JQ, "jq", PARAMS(jq_params), GRAPH, .result_is_object = true, .help = "a jq expression"},
    {KIND_LUA, "lua", PARAMS(lua_params), GRAPH, .result_is_object = true,
     .help = "a piece of Lua"},
    {KIND_SHELL, "shell", PARAMS(shell_params), GRAPH, .result_is_object = true,
     .help = "a command"},
    {KIND_PYTHON, "python", PARAMS(python_params), GRAPH, .result_is_object = true,
     .help = "a piece of Python"},
    {KIND_JAVASCRIPT, "javascript", PARAMS(javascript_params), GRAPH, .result_is_object = true,
     .help = "a piece of JavaScript"},
    {KIND_HTTP, "http", PARAMS(http_params), GRAPH, .result_is_object = true,
     .help = "a request over HTTP"},
    {KIND_ACTION, "action", PARAMS(action_params), GRAPH, .shape = SHAPE_QUESTION,
     .result_is_object = true, .help = "a question that a model or a person answers"},
    {KIND_SLEEP, "sleep", PARAMS(sleep_params), GRAPH, .help = "waits"},
    {KIND_APPROVAL, "approval", PARAMS(approval_params), GRAPH, .shape = SHAPE_QUESTION,
     .result_is_object = true, .help = "waits for a person's decision"},
    {KIND_WORKFLOW, "workflow", PARAMS(workflow_params), GRAPH, INSIDE(WORKFLOW_FILE),
     .shape = SHAPE_FILE, .result_is_object = true,
     .help = "another workflow, on a level of its own"},
    {KIND_MAP, "map", PARAMS(map_params), GRAPH, INSIDE(MAP_DO), .children = {"map"},
     .shape = SHAPE_LOOP, .help = "the same work for each element of an array"},
    {KIND_WHILE, "while", PARAMS(while_params), GRAPH, INSIDE(WHILE_DO), .shape = SHAPE_LOOP,
     .result_is_object = true, .help = "nodes that run again and again"},
    {KIND_CALLBACK, "callback", PARAMS(callback_params), GRAPH, .hidden = true,
     .result_is_object = true, .help = "a function of the program around the library"},
    {KIND_CALLBACK_LATER, "callback_later", PARAMS(callback_later_params), GRAPH, .hidden = true,
     .result_is_object = true, .help = "the same, which may finish later"},
    {KIND_RUN_TASKS, "run_tasks", PARAMS(run_tasks_params), TASKS, INSIDE(RUN_TASKS_TASKS),
     .order = INSIDE_IN_ORDER, .help = "tasks, one after the other"},
    {KIND_RUN_TASKS_CONCURRENT, "run_tasks_concurrent", PARAMS(run_tasks_concurrent_params), TASKS,
     INSIDE(CONCURRENT_TASKS), .children = {"concurrent"}, .order = INSIDE_AT_ONCE,
     .help = "tasks, all at the same time"},
    {KIND_RUN_TASK_MATRIX, "run_task_matrix", PARAMS(run_task_matrix_params), TASKS,
     INSIDE(MATRIX_TASK), .children = {"matrix"}, .help = "one task for each of a list of values"},
    {KIND_RUN_TASK_BACKGROUND, "run_task_background", PARAMS(run_task_background_params), TASKS,
     INSIDE(BACKGROUND_FOREGROUND), .children = {"foreground", "background"},
     .others = BACKGROUND_BACKGROUND + 1, .order = INSIDE_AT_ONCE,
     .help = "a task with another beside it"},
    {KIND_RUN_TASK_OPTIONS, "run_task_options", PARAMS(run_task_options_params), TASKS,
     INSIDE(OPTIONS_TASK), .help = "a task with retries, or whose result is read another way"},
    {KIND_RUN_EXTERNAL_TASKS, "run_external_tasks", PARAMS(run_external_tasks_params), TASKS,
     INSIDE(EXTERNAL_FILE), .order = INSIDE_IN_ORDER, .shape = SHAPE_FILE,
     .help = "the tasks of another file"},
    {KIND_RUN_SHELL, "run_shell", PARAMS(run_shell_params), TASKS, .help = "a shell script"},
    {KIND_RUN_COMMAND, "run_command", PARAMS(run_command_params), TASKS,
     .help = "a program with its arguments"},
    {KIND_RUN_JAVASCRIPT, "run_javascript", PARAMS(run_javascript_params), TASKS,
     .help = "a piece of JavaScript"},
    {KIND_TASK_SLEEP, "sleep", PARAMS(task_sleep_params), TASKS, .help = "waits"},
    {KIND_CHECK_HTTP_JSON, "check_http_json", PARAMS(check_http_json_params), TASKS,
     .help = "asks over HTTP until the JSON that comes back is right"},
    {KIND_CHECK_HTTP_METRICS, "check_http_metrics", PARAMS(check_http_metrics_params), TASKS,
     .help = "asks over HTTP until the metrics that come back are right"},
    {KIND_SCRIPT, "script", PARAMS(script_params), PIPELINE, .result_is_object = true,
     .help = "a command on this machine"},
    {KIND_DOCKER, "docker", PARAMS(docker_params), PIPELINE, .result_is_object = true,
     .help = "a command in a container"},
    {KIND_AGENT, "agent", PARAMS(agent_params), PIPELINE, .result_is_object = true,
     .help = "the work of an agent"},
    {KIND_MERGE, "merge", PARAMS(merge_params), PIPELINE, .hidden = true, .result_is_object = true,
     .help = "merges the work into a branch"},
    {KIND_TRIGGER, "trigger", PARAMS(trigger_params), PIPELINE, .hidden = true,
     .result_is_object = true, .help = "starts the work on a card"},
};

const Kind *kind_find(DialectId dialect, const char *name) {
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (kinds[i].dialect == dialect && strcmp(kinds[i].name, name) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}
