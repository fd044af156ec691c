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

#define PARAMS(table) .params = table, .nparams = sizeof table / sizeof *table

const Kind kinds[KIND_COUNT] = {
    {KIND_JQ, "jq", PARAMS(jq_params), .result_is_object = true, .help = "a jq expression"},
    {KIND_LUA, "lua", PARAMS(lua_params), .result_is_object = true, .help = "a piece of Lua"},
    {KIND_SHELL, "shell", PARAMS(shell_params), .result_is_object = true, .help = "a command"},
    {KIND_SLEEP, "sleep", PARAMS(sleep_params), .help = "waits"},
    {KIND_APPROVAL, "approval", PARAMS(approval_params), .result_is_object = true,
     .help = "waits for a person's decision"},
    {KIND_WORKFLOW, "workflow", PARAMS(workflow_params), .result_is_object = true,
     .help = "another workflow, on a level of its own"},
    {KIND_MAP, "map", PARAMS(map_params), .help = "the same work for each element of an array"},
    {KIND_WHILE, "while", PARAMS(while_params), .result_is_object = true,
     .help = "nodes that run again and again"},
};

const Kind *kind_find(const char *name) {
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}
