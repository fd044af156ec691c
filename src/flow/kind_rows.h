/* kind_rows.h - every kind of node, a row each: the one place to add one.
 *
 *     KIND(ID, DIALECT, name, what it does, help, other fields of Kind)
 *         PARAM(INDEX, name, TYPE, help, other fields of ParamInfo)      one for each parameter
 *     END
 *
 * The ID becomes KIND_ID, an INDEX the place of the parameter in node->params. What a kind does:
 *
 *     COMPUTES(x)  work that ends at once and touches nothing outside: `const NodeWork exec_x`, in exec/
 *     WORKS(x)     other work: the same
 *     STEERS(x)    makes levels and frames of what it contains: `const Steering steer_x`, in engine/
 *     READS(x)     the same, and what it contains may have to be read first: both of them
 *     WAITS        the engine itself
 *     CALLS        a function of the program around the library, lib/
 *
 * Included where rows are wanted, with those macros defined; it undefines them. kind.h takes the ids, kind.c the
 * table, engine/steer.c and exec/exec.c what each kind does.
 */
/* clang-format off */

#define KEPT_MOST (256LL << 20) /* bytes of output, or of an answer: as large as a value may be */

#define SCRIPT_PARAMS(prefix, language, means) \
    PARAM(prefix##_CODE, language, TEXT, means) \
    PARAM(prefix##_FILE, "file", TEXT, \
          "a program with functions for nodes, instead of code here; relative to this file") \
    PARAM(prefix##_FUNCTION, "function", TEXT, \
          "the function of that program; the name of the node unless given") \
    PARAM(prefix##_ENV, "env", JQ_OBJECT, \
          "values for the code as `env`: strings as they are, the rest as JSON", \
          .secrets = true) \
    PARAM(prefix##_MEMORY, "memory", SIZE, "how much memory it may use", .fallback = "\"1G\"") \
    PARAM(prefix##_MAX_OUTPUT, "max_output", SIZE, \
          "how much of what it prints is kept in the log", .fallback = "\"16M\"", .most = KEPT_MOST)

#define RESULT_PARAMS(prefix) \
    PARAM(prefix##_INVERT, "invertResult", BOOL, "success is failure, and the other way round", \
          .fallback = "false") \
    PARAM(prefix##_IGNORE, "ignoreResult", BOOL, "succeed whatever comes of it", \
          .fallback = "false")

#define THRESHOLD_PARAMS(prefix) \
    PARAM(prefix##_SUCCESSES, "successThreshold", COUNT, \
          "succeed once so many have succeeded; 0: never because of that", .fallback = "0") \
    PARAM(prefix##_FAILURES, "failureThreshold", COUNT, \
          "fail once so many have failed; 0: never because of that", .fallback = "1") \
    PARAM(prefix##_STOP, "stopOnThreshold", BOOL, \
          "end the others when a threshold is reached; without, any failure is one in the end", \
          .fallback = "true")

#define SCOPE_PARAM(prefix, means) \
    PARAM(prefix##_SCOPE, "newVariableScope", BOOL, "what is set inside stays inside", \
          .fallback = means)

/* The same first ones for both kinds of checks. */
#define CHECK_PARAMS(prefix, what, required_, fields_) \
    PARAM(prefix##_URL, "url", TEXT, "http:// or https://", .required = true, .secrets = true) \
    PARAM(prefix##_HEADERS, "headers", OBJECT, "of the request", .fallback = "{}", \
          .texts = true, .secrets = true) \
    PARAM(prefix##_POLL, "pollInterval", DURATION, "from the end of one request to the next", \
          .fallback = "\"10s\"") \
    PARAM(prefix##_REQUEST_TIMEOUT, "requestTimeout", DURATION, "time for one request", \
          .fallback = "\"5s\"") \
    PARAM(prefix##_MAX_RESPONSE, "maxResponseSize", SIZE, \
          "the longest answer that is taken; 10MB is ten million bytes, MiB is binary", \
          .fallback = "\"10MB\"", .most = KEPT_MOST, .decimal = true) \
    PARAM(prefix##_FAIL_ON_MISS, "failOnCheckMiss", BOOL, \
          "fail when it does not hold, instead of asking again", .fallback = "false") \
    PARAM(prefix##_CONTINUE, "continueOnPass", BOOL, \
          "go on after it has held: the result follows every answer", .fallback = "false") \
    PARAM(prefix##_ASSERTIONS, "assertions", OBJECTS, what, .required = required_, \
          .fallback = required_ ? NULL : "[]", .fields = fields_, \
          .nfields = sizeof fields_ / sizeof *fields_)

#define STEP_PARAMS(prefix) \
    PARAM(prefix##_ID, "id", TEXT, "the key of its result in `steps`") \
    PARAM(prefix##_ON_FAILURE, "on_failure", TEXT, "next, stop or trigger:CARD", \
          .fallback = "\"stop\"") \
    PARAM(prefix##_CONTINUES, "continue_in_context", BOOL, \
          "the step after it finds the home folder as this one leaves it", .fallback = "false")

/* ---- graph ---- */

KIND(JQ, GRAPH, "jq", COMPUTES(jq), "a jq expression", .result_is_object = true)
    PARAM(JQ_EXPR, "jq", JQ, "the expression; its input is the state", .required = true)
END

KIND(LUA, GRAPH, "lua", COMPUTES(lua), "a piece of Lua", .result_is_object = true)
    PARAM(LUA_CODE, "lua", TEXT,
          "the code; `state` is the state, and what it returns is the result", .required = true)
END

KIND(SHELL, GRAPH, "shell", WORKS(shell), "a command", .result_is_object = true)
    PARAM(SHELL_COMMAND, "shell", TEXT, "the command, for /bin/sh", .required = true)
    PARAM(SHELL_ENV, "env", JQ_OBJECT,
          "variables for the command: strings as they are, the rest as JSON", .secrets = true)
    PARAM(SHELL_CWD, "cwd", TEMPLATE, "the folder that it runs in")
    PARAM(SHELL_STDIN, "stdin", JQ, "what it reads: a string as it is, the rest as JSON",
          .secrets = true)
    PARAM(SHELL_PARSE, "parse", ENUM, "the result is what it prints, parsed", .words = "json")
    PARAM(SHELL_MAX_OUTPUT, "max_output", SIZE, "how much of what it prints is kept",
          .fallback = "\"1M\"", .most = KEPT_MOST)
END

KIND(PYTHON, GRAPH, "python", WORKS(script), "a piece of Python", .result_is_object = true)
    SCRIPT_PARAMS(PYTHON, "python",
                  "the body of a function of `state`; what it returns is the result")
END

KIND(JAVASCRIPT, GRAPH, "javascript", WORKS(script), "a piece of JavaScript",
     .result_is_object = true)
    SCRIPT_PARAMS(JAVASCRIPT, "javascript",
                  "the body of an async function of `state`; what it returns is the result")
END

/* Of files of The Edge Agent: edge_agent.c makes such nodes. */
KIND(EDGE_AGENT, GRAPH, "python", WORKS(script), "Python that changes the state in place",
     .hidden = true, .result_is_object = true)
    SCRIPT_PARAMS(EDGE_AGENT, "run", "the code, which is rendered first")
    PARAM(EDGE_AGENT_HOW, "how", TEXT, "code or expression", .fallback = "\"code\"")
    PARAM(EDGE_AGENT_GIVEN, "given", VALUE, "what it sees beside the state")
END

KIND(HTTP, GRAPH, "http", WORKS(http), "a request over HTTP", .result_is_object = true)
    PARAM(HTTP_URL, "url", TEMPLATE, "http:// or https://", .required = true, .secrets = true)
    PARAM(HTTP_METHOD, "method", ENUM, "GET, or POST when there is a body, unless given",
          .words = "GET POST PUT PATCH DELETE HEAD OPTIONS")
    PARAM(HTTP_HEADERS, "headers", JQ_OBJECT, "headers of the request", .secrets = true)
    PARAM(HTTP_BODY, "body", JQ, "what is sent: a string as it is, the rest as JSON",
          .secrets = true)
    PARAM(HTTP_EXPECT, "expect", STATUSES,
          "the statuses that are no error; any from 200 to 299 unless given")
    PARAM(HTTP_PARSE, "parse", ENUM,
          "what the body becomes; auto: JSON where the answer says that it is",
          .fallback = "\"auto\"", .words = "json text auto")
    PARAM(HTTP_MAX_RESPONSE, "max_response", SIZE, "the longest answer that is taken",
          .fallback = "\"16M\"", .most = KEPT_MOST)
    PARAM(HTTP_REDIRECTS, "redirects", COUNT, "how many redirects are followed", .fallback = "5")
    PARAM(HTTP_INSECURE, "insecure", BOOL, "take any certificate")
    PARAM(HTTP_CA_FILE, "ca_file", TEMPLATE, "certificates to trust, in a file")
    PARAM(HTTP_REQUEST_TIMEOUT, "request_timeout", DURATION,
          "time for one request; `timeout` is for the node with its retries", .fallback = "\"30s\"")
END

KIND(ACTION, GRAPH, "action", WORKS(action), "a question that a model or a person answers",
     .shape = SHAPE_QUESTION, .result_is_object = true)
    PARAM(ACTION_PROMPT, "prompt", TEMPLATE,
          "the instructions: what the model or the person is asked", .required = true)
    PARAM(ACTION_CONFIRM, "confirm", JQ,
          "what becomes of the answer: its input is the state, $response the answer and $prompt "
          "the prompt; {response: $response} unless given", .vars = "prompt response")
    PARAM(ACTION_MODE, "mode", ENUM, "who answers, whatever the run's own mode",
          .words = "autonomous interactive")
    PARAM(ACTION_COMMAND, "command", TEXT,
          "asks a model: reads the prompt and prints the answer; for /bin/sh")
    PARAM(ACTION_ENV, "env", JQ_OBJECT,
          "variables for the command: strings as they are, the rest as JSON", .secrets = true)
    PARAM(ACTION_MODEL, "model", TEMPLATE, "name of the model that `endpoint` has")
    PARAM(ACTION_ENDPOINT, "endpoint", TEMPLATE, "URL of the model's API", .secrets = true)
    PARAM(ACTION_FORMAT, "format", ENUM, "what the API speaks: Messages, or chat completions",
          .fallback = "\"messages\"", .words = "messages chat")
    PARAM(ACTION_KEY_ENV, "key_env", NAME,
          "name of the environment variable that holds the API's key")
    PARAM(ACTION_KEY, "key", JQ, "the API's key itself: a secret", .secrets = true)
    PARAM(ACTION_SYSTEM, "system", TEMPLATE, "instructions that stand before the prompt")
    PARAM(ACTION_MAX_TOKENS, "max_tokens", INT, "the longest answer that is asked for",
          .fallback = "4096")
    PARAM(ACTION_ATTEMPTS, "attempts", INT, "how often the model is asked before a person is",
          .fallback = "4")
    PARAM(ACTION_BACKOFF, "backoff", DURATION,
          "pause before the second attempt; it doubles, and the model may ask for more",
          .fallback = "\"1s\"")
    PARAM(ACTION_REQUEST_TIMEOUT, "request_timeout", DURATION, "time for one answer of the model",
          .fallback = "\"10m\"")
    PARAM(ACTION_STREAM, "stream", BOOL, "the answer goes to the log while it is written",
          .fallback = "true")
END

KIND(SLEEP, GRAPH, "sleep", WAITS, "waits")
    PARAM(SLEEP_FOR, "sleep", DURATION, "how long", .required = true)
END

KIND(APPROVAL, GRAPH, "approval", STEERS(approval), "waits for a person's decision",
     .shape = SHAPE_QUESTION, .result_is_object = true, .leaves = true)
    PARAM(APPROVAL_PROMPT, "prompt", TEMPLATE, "what the person is asked", .required = true)
    PARAM(APPROVAL_OPTIONS, "options", WORDS, "the decisions to choose from; none: any",
          .fallback = "[]")
END

KIND(WORKFLOW, GRAPH, "workflow", STEERS(workflow), "another workflow, on a level of its own",
     INSIDE(WORKFLOW_FILE), .shape = SHAPE_FILE, .result_is_object = true)
    PARAM(WORKFLOW_FILE, "workflow", WORKFLOW, "the file, relative to this one", .required = true)
    PARAM(WORKFLOW_INPUT, "input", JQ, "what it starts with; the whole state unless given")
END

KIND(MAP, GRAPH, "map", STEERS(map), "the same work for each element of an array", INSIDE(MAP_DO),
     .children = {"map"}, .shape = SHAPE_LOOP)
    PARAM(MAP_OVER, "over", JQ, "the array to go over", .required = true)
    PARAM(MAP_AS, "as", NAME, "name of the variable that holds the element", .fallback = "\"item\"")
    PARAM(MAP_LIMIT, "limit", INT, "how many run at once", .fallback = "16")
    PARAM(MAP_DO, "do", NODE, "what to do with each element", .required = true)
END

KIND(WHILE, GRAPH, "while", STEERS(while), "nodes that run again and again", INSIDE(WHILE_DO),
     .shape = SHAPE_LOOP, .result_is_object = true)
    PARAM(WHILE_CONDITION, "while", JQ, "the loop goes on while this holds", .required = true)
    PARAM(WHILE_MAX, "max_iterations", INT, "how many rounds there may be", .fallback = "100")
    PARAM(WHILE_AT_LIMIT, "at_limit", ENUM,
          "what becomes of a loop that would go on after that: it fails, or just stops",
          .fallback = "\"error\"", .words = "error stop")
    PARAM(WHILE_DO, "do", NODES, "the nodes of a round, in order", .alias = "body",
          .required = true)
END

/* Of files of The Edge Agent: the body of the map that a dynamic_parallel is. */
KIND(BRANCH, GRAPH, "parallel_branch", STEERS(branch), "nodes whose failure is a result",
     INSIDE(BRANCH_STEPS), .hidden = true, .result_is_object = true)
    PARAM(BRANCH_ITEM_VAR, "item_var", NAME, "the key of the state for the element",
          .fallback = "\"item\"")
    PARAM(BRANCH_INDEX_VAR, "index_var", NAME, "the key of the state for its number",
          .fallback = "\"index\"")
    PARAM(BRANCH_FAIL_FAST, "fail_fast", BOOL, "do nothing once another has failed",
          .fallback = "false")
    PARAM(BRANCH_STEPS, "steps", NODES, "the nodes, in order", .required = true)
END

KIND(CALLBACK, GRAPH, "callback", CALLS, "a function of the program around the library",
     .hidden = true, .result_is_object = true)
    PARAM(CALLBACK_NAME, "callback", TEXT, "name of the function, as the program gave it",
          .required = true)
END

KIND(CALLBACK_LATER, GRAPH, "callback_later", CALLS, "the same, which may finish later",
     .hidden = true, .result_is_object = true, .leaves = true)
    PARAM(CALLBACK_LATER_NAME, "callback_later", TEXT,
          "name of the function, as the program gave it", .required = true)
END

/* ---- tasks ---- */

KIND(RUN_TASKS, TASKS, "run_tasks", STEERS(run_tasks), "tasks, one after the other",
     INSIDE(RUN_TASKS_TASKS), .order = INSIDE_IN_ORDER)
    PARAM(RUN_TASKS_TASKS, "tasks", TASKS, "run one after the other", .required = true)
    SCOPE_PARAM(RUN_TASKS, "false")
    PARAM(RUN_TASKS_CONTINUE, "continueOnFailure", BOOL,
          "go on after a task that failed; none counts as failed",
          .fallback = "false")
    RESULT_PARAMS(RUN_TASKS)
END

KIND(RUN_TASKS_CONCURRENT, TASKS, "run_tasks_concurrent", STEERS(concurrent),
     "tasks, all at the same time", INSIDE(CONCURRENT_TASKS), .children = {"concurrent"},
     .order = INSIDE_AT_ONCE)
    PARAM(CONCURRENT_TASKS, "tasks", TASKS, "run at the same time", .required = true)
    SCOPE_PARAM(CONCURRENT, "true")
    THRESHOLD_PARAMS(CONCURRENT)
    RESULT_PARAMS(CONCURRENT)
END

KIND(RUN_TASK_MATRIX, TASKS, "run_task_matrix", STEERS(matrix),
     "one task for each of a list of values", INSIDE(MATRIX_TASK), .children = {"matrix"})
    PARAM(MATRIX_TASK, "task", TASK, "run once for each value", .required = true)
    PARAM(MATRIX_VAR, "matrixVar", TEXT, "the variable that holds the value; none unless given",
          .fallback = "\"\"")
    PARAM(MATRIX_VALUES, "matrixValues", VALUE, "a list of values", .fallback = "[]")
    PARAM(MATRIX_CONCURRENT, "runConcurrent", BOOL, "all at the same time", .fallback = "false")
    THRESHOLD_PARAMS(MATRIX)
    RESULT_PARAMS(MATRIX)
END

KIND(RUN_TASK_BACKGROUND, TASKS, "run_task_background", STEERS(background),
     "a task with another beside it", INSIDE(BACKGROUND_FOREGROUND),
     .children = {"foreground", "background"}, .others = BACKGROUND_BACKGROUND + 1,
     .order = INSIDE_AT_ONCE)
    PARAM(BACKGROUND_FOREGROUND, "foregroundTask", TASK,
          "its result counts; when it ends, so does the other", .required = true)
    PARAM(BACKGROUND_BACKGROUND, "backgroundTask", TASK, "runs at the same time")
    SCOPE_PARAM(BACKGROUND, "false")
    PARAM(BACKGROUND_EXIT_SUCCESS, "exitOnForegroundSuccess", BOOL,
          "end as soon as the foreground task has succeeded, even if it goes on",
          .fallback = "false")
    PARAM(BACKGROUND_EXIT_FAILURE, "exitOnForegroundFailure", BOOL,
          "end as soon as the foreground task has failed, even if it goes on", .fallback = "false")
    PARAM(BACKGROUND_ON_COMPLETE, "onBackgroundComplete", TEXT,
          "what it means when the background task ends first: fail, succeed, failOrIgnore (fail if "
          "it failed) or ignore", .fallback = "\"\"")
END

KIND(RUN_TASK_OPTIONS, TASKS, "run_task_options", STEERS(options),
     "a task with retries, or whose result is read another way", INSIDE(OPTIONS_TASK))
    PARAM(OPTIONS_TASK, "task", TASK, "the task", .required = true)
    SCOPE_PARAM(OPTIONS, "false")
    PARAM(OPTIONS_RETRY, "retryOnFailure", BOOL, "run it again when it fails", .fallback = "false")
    PARAM(OPTIONS_MAX_RETRIES, "maxRetryCount", COUNT, "how often it may be run again",
          .fallback = "0")
    RESULT_PARAMS(OPTIONS)
    PARAM(OPTIONS_IGNORE_FAILURE, "ignoreFailure", BOOL, "succeed even when it fails",
          .fallback = "false")
    PARAM(OPTIONS_EXPECT_FAILURE, "expectFailure", BOOL,
          "succeed when it fails, fail when it succeeds", .fallback = "false")
END

KIND(RUN_EXTERNAL_TASKS, TASKS, "run_external_tasks", READS(external), "the tasks of another file",
     INSIDE(EXTERNAL_FILE), .order = INSIDE_IN_ORDER, .shape = SHAPE_FILE)
    PARAM(EXTERNAL_FILE, "testFile", TEST, "the file of another test, relative to this one, or a URL",
          .required = true)
    PARAM(EXTERNAL_CONFIG, "testConfig", OBJECT, "variables for it, before its own `config`",
          .fallback = "{}")
    PARAM(EXTERNAL_CONFIG_VARS, "testConfigVars", QUERIES,
          "variables for it, as queries over the ones here")
    PARAM(EXTERNAL_EXPECT_FAILURE, "expectFailure", BOOL, "succeed only if a task of it failed",
          .fallback = "false")
    PARAM(EXTERNAL_IGNORE_FAILURE, "ignoreFailure", BOOL,
          "go on after tasks that fail; none counts as failed", .fallback = "false")
END

KIND(RUN_SHELL, TASKS, "run_shell", WORKS(run_shell), "a shell script")
    PARAM(RUN_SHELL_COMMAND, "command", TEXT,
          "the script, which the shell reads from its standard input", .required = true)
    PARAM(RUN_SHELL_SHELL, "shell", TEXT, "the shell", .fallback = "\"bash\"")
    PARAM(RUN_SHELL_ARGS, "shellArgs", WORDS, "arguments for it", .fallback = "[]")
    PARAM(RUN_SHELL_ENV, "envVars", QUERIES,
          "variables for the script: queries, whose values are given as JSON", .secrets = true)
END

KIND(RUN_COMMAND, TASKS, "run_command", WORKS(run_command), "a program with its arguments")
    PARAM(RUN_COMMAND_COMMAND, "command", WORDS, "the program and its arguments, without a shell",
          .required = true, .secrets = true)
    PARAM(RUN_COMMAND_MAY_FAIL, "allowed_to_fail", BOOL, "another exit code than 0 is no failure",
          .fallback = "false")
END

KIND(RUN_JAVASCRIPT, TASKS, "run_javascript", WORKS(run_javascript), "a piece of JavaScript")
    PARAM(RUN_JAVASCRIPT_SCRIPT, "script", TEXT,
          "the body of an async function, for Node.js; it has env, vars, setVar() and more",
          .required = true)
    PARAM(RUN_JAVASCRIPT_NODE, "nodePath", TEXT, "the program that runs it", .fallback = "\"node\"")
    PARAM(RUN_JAVASCRIPT_ARGS, "nodeArgs", WORDS, "arguments for it", .fallback = "[]")
    PARAM(RUN_JAVASCRIPT_ENV, "envVars", QUERIES,
          "values for the script as `env`: queries over the variables", .secrets = true)
END

KIND(TASK_SLEEP, TASKS, "sleep", WAITS, "waits")
    PARAM(TASK_SLEEP_FOR, "duration", DURATION, "how long", .required = true)
END

KIND(CHECK_HTTP_JSON, TASKS, "check_http_json", WORKS(check),
     "asks over HTTP until the JSON that comes back is right")
    CHECK_PARAMS(CHECK, "what is to hold of the answer, all of them", false, assertion_fields)
    PARAM(CHECK_METHOD, "method", ENUM, "of the request", .fallback = "\"GET\"",
          .words = "GET POST PUT PATCH DELETE HEAD OPTIONS")
    PARAM(CHECK_BODY, "body", VALUE, "what is sent, as JSON", .secrets = true)
    PARAM(CHECK_BODY_RAW, "bodyRaw", TEXT, "what is sent, as it is; it comes before body",
          .fallback = "\"\"", .secrets = true)
    PARAM(CHECK_STATUS, "expectStatus", INT, "the status; 200 unless given")
    PARAM(CHECK_STATUSES, "expectStatuses", STATUSES, "or any of these")
END

KIND(CHECK_HTTP_METRICS, TASKS, "check_http_metrics", WORKS(check),
     "asks over HTTP until the metrics that come back are right")
    CHECK_PARAMS(METRICS, "what is to hold of the metrics, all of them", true,
                 metric_assertion_fields)
    PARAM(METRICS_MISSING_METRIC, "missingMetric", ENUM,
          "what an assertion does whose metric is not there", .fallback = "\"wait\"",
          .words = "wait fail pass")
    PARAM(METRICS_MISSING_SERIES, "missingSeries", ENUM,
          "what it does when the metric has no such labels", .fallback = "\"wait\"",
          .words = "wait fail pass")
    PARAM(METRICS_ON_RESET, "resetBehavior", ENUM,
          "what it does in the mode delta when a counter has gone back", .fallback = "\"fail\"",
          .words = "fail rebaseline ignore")
END

/* ---- pipelines ---- */

KIND(SCRIPT, PIPELINE, "script", WORKS(pipeline), "a command on this machine",
     .result_is_object = true)
    STEP_PARAMS(STEP)
    PARAM(SCRIPT_COMMAND, "command", TEXT, "the command, for /bin/sh", .required = true)
    PARAM(SCRIPT_ENV, "env", JQ_OBJECT,
          "variables for the command: strings as they are, the rest as JSON", .secrets = true)
END

KIND(DOCKER, PIPELINE, "docker", WORKS(refused), "a command in a container",
     .result_is_object = true)
    STEP_PARAMS(DOCKER)
    PARAM(DOCKER_IMAGE, "image", TEXT, "of the container", .required = true)
    PARAM(DOCKER_COMMAND, "command", TEXT, "for its shell", .required = true)
END

KIND(AGENT, PIPELINE, "agent", WORKS(refused), "the work of an agent", .result_is_object = true)
    STEP_PARAMS(AGENT)
    PARAM(AGENT_NAME, "agent", TEXT, "its name", .required = true)
    PARAM(AGENT_PROMPT, "prompt", TEXT, "what it is to do", .required = true)
END

KIND(MERGE, PIPELINE, "merge", WORKS(refused), "merges the work into a branch", .hidden = true,
     .result_is_object = true)
    PARAM(MERGE_BRANCH, "branch", TEXT, "where to", .required = true)
END

KIND(TRIGGER, PIPELINE, "trigger", WORKS(refused), "starts the work on a card", .hidden = true,
     .result_is_object = true)
    PARAM(TRIGGER_CARD, "card", TEXT, "which one", .required = true)
END

/* ---- from outside ---- */

/* What kinds that are files have in common; each has its name, its inputs after these and the dialect that it is used
 * in (kind_file.c). In graphs and tests the inputs are all. */
KIND(OUTSIDE, PIPELINE, "kind", STEERS(outside), "a kind from outside", .hidden = true)
    STEP_PARAMS(OUTSIDE)
END

#undef KEPT_MOST
#undef SCRIPT_PARAMS
#undef RESULT_PARAMS
#undef THRESHOLD_PARAMS
#undef SCOPE_PARAM
#undef CHECK_PARAMS
#undef STEP_PARAMS
#undef COMPUTES
#undef WORKS
#undef STEERS
#undef READS
#undef WAITS
#undef CALLS
#undef KIND
#undef PARAM
#undef END
