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
    PARAM_DURATION,  /* flow_duration() */
    PARAM_ENUM,      /* one of the words */
    PARAM_WORDS,     /* an array of strings */
    PARAM_JQ_OBJECT, /* keys with jq expressions */
    PARAM_WORKFLOW,  /* path of another workflow file */
    PARAM_NODE,      /* a node body, without name and edges; sees the variable that the kind's
                        PARAM_NAME names, and $index */
    PARAM_NODES,     /* a list of nodes that runs in order, as a graph of its own */
} ParamType;

typedef struct ParamInfo {
    const char *name;
    const char *alias; /* another name for it, or NULL */
    ParamType type;
    bool required;
    const char *fallback; /* JSON text of the default, or NULL */
    const char *words;    /* PARAM_ENUM: parted by spaces */
    const char *help;     /* half a sentence */
} ParamInfo;

typedef enum KindId {
    KIND_JQ,
    KIND_LUA,
    KIND_SHELL,
    KIND_SLEEP,
    KIND_APPROVAL,
    KIND_WORKFLOW,
    KIND_MAP,
    KIND_WHILE,
    KIND_COUNT,
} KindId;

typedef struct Kind {
    KindId id;
    const char *name; /* also the key that says the kind */
    const ParamInfo *params;
    size_t nparams;
    bool result_is_object; /* its result can be merged without `output` */
    const char *help;
} Kind;

/* Indices into node->params. */
enum { JQ_EXPR };
enum { LUA_CODE };
enum { SHELL_COMMAND, SHELL_ENV, SHELL_CWD, SHELL_STDIN, SHELL_PARSE, SHELL_MAX_OUTPUT };
enum { SLEEP_FOR };
enum { APPROVAL_PROMPT, APPROVAL_OPTIONS };
enum { WORKFLOW_FILE, WORKFLOW_INPUT };
enum { MAP_OVER, MAP_AS, MAP_LIMIT, MAP_DO };
enum { WHILE_CONDITION, WHILE_MAX, WHILE_DO };

extern const Kind kinds[KIND_COUNT];

const Kind *kind_find(const char *name); /* NULL when there is none */

#endif
