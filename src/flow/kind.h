/* kind.h - the kinds of nodes, as rows of a table: names, parameters, defaults.
 *
 * A row says what such a node is called in a file and what it takes. The loader, `pawl check`, the
 * schema for editors and the forms of the debugger are made from the rows; what a kind *does* is a
 * row of another table, in exec/ (node's work) or engine/ (control), under the same id.
 *
 * A node says its kind by the kind's own key (`shell: make`), which is also its first parameter, or
 * by `uses: shell` with the parameters under `with:`. When the value of the kind's key is an object
 * and the first parameter does not take one, the object holds the parameters
 * (`approval: {prompt: ..., options: ...}`); other parameters may also stand beside the key, as keys
 * of the node (`env:`, `do:`).
 */
#ifndef PAWL_KIND_H
#define PAWL_KIND_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ParamType {
    PARAM_JQ,       /* a jq expression; anything but a string stands for itself, as JSON */
    PARAM_TEMPLATE, /* text with \(jq) in it */
    PARAM_TEXT,     /* text as it is */
    PARAM_NAME,     /* a word: letters, digits, underscore, not starting with a digit */
    PARAM_BOOL,
    PARAM_INT,       /* at least 1 */
    PARAM_SIZE,      /* bytes, "64M" */
    PARAM_DURATION,  /* json_duration() */
    PARAM_ENUM,      /* one of the words */
    PARAM_WORDS,     /* an array of strings */
    PARAM_JQ_OBJECT, /* keys with jq expressions */
    PARAM_WORKFLOW,  /* path of another workflow file */
    PARAM_NODE,      /* a node body, without name and edges; sees the variable that the kind's
                        PARAM_NAME names, and $index */
    PARAM_NODES,     /* a list of nodes that runs in order, as a graph of its own */
    PARAM_COUNT,     /* an integer, at least 0 */
    PARAM_VALUE,     /* any JSON */
    PARAM_OBJECT,    /* an object of any JSON */
    PARAM_QUERIES,   /* keys with queries over the variables: jq that may lack its leading dot */
    PARAM_STATUSES,  /* one HTTP status or a list of them; the value is an array of integers */
    PARAM_OBJECTS,   /* a list of objects with the fields that the row names */
    PARAM_TASK,      /* a task, as a graph of one node */
    PARAM_TASKS,     /* a list of tasks, as a graph of its own */
    PARAM_TEST,      /* path of another file of the tasks dialect */
    PARAM_TYPES,
} ParamType;

typedef struct ParamInfo {
    const char *name;
    const char *alias; /* another name for it, or NULL */
    ParamType type;
    bool required;
    const char *fallback; /* JSON text of the default, or NULL */
    const char *words;    /* PARAM_ENUM: parted by spaces */
    const char *vars; /* PARAM_JQ: further variables that it sees, after those of the node; parted
                             by spaces */
    const struct ParamInfo *fields; /* PARAM_OBJECTS: of each object */
    size_t nfields;
    const char *help; /* half a sentence */
} ParamInfo;

/* Which dialect writes nodes of a kind; the same name may mean one kind in each. */
typedef enum DialectId {
    DIALECT_GRAPH,
    DIALECT_TASKS,
    DIALECT_PIPELINE,
    DIALECT_COUNT,
} DialectId;

typedef enum KindId {
    /* graph */
    KIND_JQ,
    KIND_LUA,
    KIND_SHELL,
    KIND_PYTHON,
    KIND_JAVASCRIPT,
    KIND_HTTP,
    KIND_ACTION,
    KIND_SLEEP,
    KIND_APPROVAL,
    KIND_WORKFLOW,
    KIND_MAP,
    KIND_WHILE,
    KIND_CALLBACK,       /* a function of the program that embeds the library, at once */
    KIND_CALLBACK_LATER, /* the same; it may finish later */
    /* tasks */
    KIND_RUN_TASKS,
    KIND_RUN_TASKS_CONCURRENT,
    KIND_RUN_TASK_MATRIX,
    KIND_RUN_TASK_BACKGROUND,
    KIND_RUN_TASK_OPTIONS,
    KIND_RUN_EXTERNAL_TASKS,
    KIND_RUN_SHELL,
    KIND_RUN_COMMAND,
    KIND_RUN_JAVASCRIPT,
    KIND_TASK_SLEEP,
    KIND_CHECK_HTTP_JSON,
    KIND_CHECK_HTTP_METRICS,
    /* pipeline */
    KIND_SCRIPT,
    KIND_DOCKER,
    KIND_AGENT,
    KIND_MERGE,   /* on_success: merge:BRANCH */
    KIND_TRIGGER, /* on_failure: trigger:CARD */
    KIND_COUNT,
} KindId;

/* How what is inside a node runs. */
typedef enum KindOrder {
    INSIDE_AS_SAID,  /* by edges, or it is one task */
    INSIDE_IN_ORDER, /* tasks, one after the other */
    INSIDE_AT_ONCE,  /* tasks, each in a frame of its own */
} KindOrder;

/* What such a node looks like in a drawing. */
typedef enum KindShape {
    SHAPE_WORK,
    SHAPE_QUESTION, /* a person or a model decides */
    SHAPE_FILE,     /* another file is inside */
    SHAPE_LOOP,     /* what is inside runs more than once */
    SHAPE_COUNT,
} KindShape;

typedef struct Kind {
    KindId id;
    const char *name; /* also the key that says the kind */
    const ParamInfo *params;
    size_t nparams;
    DialectId dialect;
    /* What it contains, for whoever goes inside (node_inside(), node_body() of flow.h). */
    unsigned char inside; /* 1 + the parameter that holds it; 0: a leaf */
    unsigned char others; /* the same for its children after the first; 0: as for the first */
    const char
        *children[2]; /* what people call its first child and the others, where each has a frame
                                of its own; one name: they are numbered */
    KindOrder order;
    KindShape shape;
    bool hidden;           /* not written in files: made by a dialect or by the library */
    bool result_is_object; /* its result can be merged without `output` */
    const char *help;
} Kind;

/* Indices into node->params. */
enum { JQ_EXPR };
enum { LUA_CODE };
enum { SHELL_COMMAND, SHELL_ENV, SHELL_CWD, SHELL_STDIN, SHELL_PARSE, SHELL_MAX_OUTPUT };
enum { PYTHON_CODE, PYTHON_FILE, PYTHON_FUNCTION, PYTHON_ENV, PYTHON_MEMORY, PYTHON_MAX_OUTPUT };
/* The parameters of javascript are those of python, in the same order. */
enum {
    HTTP_URL,
    HTTP_METHOD,
    HTTP_HEADERS,
    HTTP_BODY,
    HTTP_EXPECT,
    HTTP_PARSE,
    HTTP_MAX_RESPONSE,
    HTTP_REDIRECTS,
    HTTP_INSECURE,
    HTTP_CA_FILE,
    HTTP_REQUEST_TIMEOUT,
};
enum {
    ACTION_PROMPT,
    ACTION_CONFIRM,
    ACTION_MODE,
    ACTION_COMMAND,
    ACTION_ENV,
    ACTION_MODEL,
    ACTION_ENDPOINT,
    ACTION_FORMAT,
    ACTION_KEY_ENV,
    ACTION_SYSTEM,
    ACTION_MAX_TOKENS,
    ACTION_ATTEMPTS,
    ACTION_BACKOFF,
    ACTION_REQUEST_TIMEOUT,
    ACTION_STREAM,
};
enum { SLEEP_FOR };
enum { APPROVAL_PROMPT, APPROVAL_OPTIONS };
enum { WORKFLOW_FILE, WORKFLOW_INPUT };
enum { MAP_OVER, MAP_AS, MAP_LIMIT, MAP_DO };
enum { WHILE_CONDITION, WHILE_MAX, WHILE_DO };
enum { CALLBACK_NAME };

enum { RUN_TASKS_TASKS, RUN_TASKS_SCOPE, RUN_TASKS_CONTINUE, RUN_TASKS_INVERT, RUN_TASKS_IGNORE };
enum {
    CONCURRENT_TASKS,
    CONCURRENT_SCOPE,
    CONCURRENT_SUCCESSES,
    CONCURRENT_FAILURES,
    CONCURRENT_STOP,
    CONCURRENT_INVERT,
    CONCURRENT_IGNORE,
};
enum {
    MATRIX_TASK,
    MATRIX_VAR,
    MATRIX_VALUES,
    MATRIX_CONCURRENT,
    MATRIX_SUCCESSES,
    MATRIX_FAILURES,
    MATRIX_STOP,
    MATRIX_INVERT,
    MATRIX_IGNORE,
};
enum {
    BACKGROUND_FOREGROUND,
    BACKGROUND_BACKGROUND,
    BACKGROUND_SCOPE,
    BACKGROUND_EXIT_SUCCESS,
    BACKGROUND_EXIT_FAILURE,
    BACKGROUND_ON_COMPLETE,
};
enum { ON_COMPLETE_IGNORE, ON_COMPLETE_FAIL, ON_COMPLETE_SUCCEED, ON_COMPLETE_FAIL_OR_IGNORE };
enum {
    OPTIONS_TASK,
    OPTIONS_SCOPE,
    OPTIONS_RETRY,
    OPTIONS_MAX_RETRIES,
    OPTIONS_INVERT,
    OPTIONS_IGNORE,
    OPTIONS_IGNORE_FAILURE,
    OPTIONS_EXPECT_FAILURE,
};
enum {
    EXTERNAL_FILE,
    EXTERNAL_CONFIG,
    EXTERNAL_CONFIG_VARS,
    EXTERNAL_EXPECT_FAILURE,
    EXTERNAL_IGNORE_FAILURE,
};
enum { RUN_SHELL_COMMAND, RUN_SHELL_SHELL, RUN_SHELL_ARGS, RUN_SHELL_ENV };
enum { RUN_COMMAND_COMMAND, RUN_COMMAND_MAY_FAIL };
enum { RUN_JAVASCRIPT_SCRIPT, RUN_JAVASCRIPT_ENV };
enum { TASK_SLEEP_FOR };
/* check_http_json and check_http_metrics alike. */
enum {
    CHECK_URL,
    CHECK_METHOD,
    CHECK_HEADERS,
    CHECK_BODY,
    CHECK_STATUS,
    CHECK_STATUSES,
    CHECK_POLL,
    CHECK_REQUEST_TIMEOUT,
    CHECK_MAX_RESPONSE,
    CHECK_FAIL_ON_MISS,
    CHECK_CONTINUE,
    CHECK_ASSERTIONS,
};
enum {
    ASSERTION_NAME,
    ASSERTION_QUERY,
    ASSERTION_EXISTS,
    ASSERTION_OPERATOR,
    ASSERTION_VALUE,
    ASSERTION_ALLOW_MISSING,
};

/* script, docker and agent; the first three are the same in all. */
enum { STEP_ID, STEP_ON_FAILURE, STEP_CONTINUES, SCRIPT_COMMAND };
enum { DOCKER_IMAGE = SCRIPT_COMMAND, DOCKER_COMMAND };
enum { AGENT_NAME = SCRIPT_COMMAND, AGENT_PROMPT };
enum { MERGE_BRANCH };
enum { TRIGGER_CARD };

extern const Kind kinds[KIND_COUNT];

/* NULL when there is none. */
const Kind *kind_find(DialectId dialect, const char *name);

#endif
