#include "command.h"

#include "suggest.h"

#include <stdio.h>
#include <string.h>

enum { VERSION_JSON };

static const Option eval_options[] = {
    {"null-input", 'n', NULL, "read nothing: the input is null", 0, EVAL_NULL_INPUT},
    {"raw-input", 'R', NULL, "each line of input is a string, not JSON", 0, EVAL_RAW_INPUT},
    {"slurp", 's', NULL, "read all inputs into one array", 0, EVAL_SLURP},
    {"stream", 0, NULL, "read inputs as events [path, leaf], in constant memory", 0, EVAL_STREAM},
    {"seq", 0, NULL, "documents are started by an RS byte (RFC 7464), both ways", 0, EVAL_SEQ},
    {"from-file", 'f', "FILE", "read the expression from a file", COMPLETE_FILE, EVAL_FROM_FILE},
    {"compact-output", 'c', NULL, "each result on one line", 0, EVAL_COMPACT},
    {"raw-output", 'r', NULL, "write strings without quotes", 0, EVAL_RAW_OUTPUT},
    {"raw-output0", 0, NULL, "like -r, with a NUL after each result", 0, EVAL_RAW_OUTPUT0},
    {"join-output", 'j', NULL, "like -r, with nothing between results", 0, EVAL_JOIN},
    {"ascii-output", 'a', NULL, "escape whatever is not ASCII", 0, EVAL_ASCII},
    {"sort-keys", 'S', NULL, "write the keys of objects in order", 0, EVAL_SORT_KEYS},
    {"color-output", 'C', NULL, "colours, even when not on a terminal", 0, EVAL_COLOR},
    {"monochrome-output", 'M', NULL, "no colours", 0, EVAL_MONOCHROME},
    {"tab", 0, NULL, "indent with tabs", 0, EVAL_TAB},
    {"indent", 0, "N", "indent with N spaces (0 to 7; 2 unless told)", 0, EVAL_INDENT},
    {"unbuffered", 0, NULL, "write each result at once", 0, EVAL_UNBUFFERED},
    {"exit-status", 'e', NULL,
     "exit with 1 when the last result is false or null, 4 when there is none", 0,
     EVAL_EXIT_STATUS},
    {"arg", 0, "NAME VALUE", "$NAME is the string VALUE", 0, EVAL_ARG},
    {"argjson", 0, "NAME JSON", "$NAME is the value of the text JSON", 0, EVAL_ARGJSON},
    {"slurpfile", 0, "NAME FILE", "$NAME is an array of the documents in FILE", COMPLETE_FILE,
     EVAL_SLURPFILE},
    {"rawfile", 0, "NAME FILE", "$NAME is the text of FILE, as a string", COMPLETE_FILE,
     EVAL_RAWFILE},
    {"args", 0, NULL, "the arguments that follow are strings in $ARGS.positional", 0, EVAL_ARGS},
    {"jsonargs", 0, NULL, "the same, as JSON values", 0, EVAL_JSONARGS},
    {"env", 0, NULL, "fill $ENV from the environment; it is empty otherwise", 0, EVAL_ENV},
    {"limit-steps", 0, "N", "stop an evaluation after N steps (1000000000 unless told; 0: never)",
     0, EVAL_LIMIT_STEPS},
    {"limit-memory", 0, "BYTES",
     "stop it when its values take more than BYTES (1G unless told; 0: never)", 0,
     EVAL_LIMIT_MEMORY},
    {"limit-depth", 0, "N", "stop it when calls nest deeper than N (1000000 unless told; 0: never)",
     0, EVAL_LIMIT_DEPTH},
    {0},
};

static const Example eval_examples[] = {
    {"pawl eval '.user.name' request.json", "one field of a document"},
    {"pawl eval -r '.items[] | select(.price > 10) | .title' cart.json",
     "the titles of what costs more than ten, as plain text"},
    {"pawl eval -n --arg who World '\"Hello, \\($who)!\"'", "no input, a variable"},
    {"pawl eval -n --limit-steps 1000000 'def f: f; f'", "an expression that never ends, stopped"},
    {0},
};

static const Option version_options[] = {
    {"json", 0, NULL, "as a JSON object", 0, VERSION_JSON},
    {0},
};

static const Example completion_examples[] = {
    {"source <(pawl completion bash)", "for this session of bash"},
    {"pawl completion fish > ~/.config/fish/completions/pawl.fish", "for every session of fish"},
    {0},
};

static const Example man_examples[] = {
    {"pawl man | man -l -", "read it"},
    {0},
};

const Command commands[] = {
    {.name = "eval",
     .summary = "evaluate a jq expression over JSON",
     .arguments = "EXPRESSION [FILE...]",
     .description =
         "Evaluates EXPRESSION, in the jq language, once for each JSON document in the files (or on "
         "standard input) and writes the results as JSON. The flags are those of jq.\n\n"
         "An evaluation has a budget of steps, memory and depth. One that goes over it ends in an "
         "error, as one that fails does; the next document is then read.\n\n"
         "Exit codes: 0, all went well; 1 and 4, with -e, the last output was false or null, or there "
         "was none; 2, the command line is wrong or a file cannot be read; 3, the expression does not "
         "compile; 5, the last document failed, or an input was not JSON.",
     .options = eval_options,
     .examples = eval_examples,
     .completes = COMPLETE_FILE,
     .run = cmd_eval},
    {.name = "help",
     .summary = "show what the commands do",
     .arguments = "[COMMAND]",
     .description = "Lists the commands, or says all about one of them.",
     .completes = COMPLETE_COMMAND,
     .run = cmd_help},
    {.name = "version",
     .summary = "show the version",
     .arguments = "",
     .description = "Writes the version of the program.",
     .options = version_options,
     .run = cmd_version},
    {.name = "completion",
     .summary = "write the completions for a shell",
     .arguments = "SHELL",
     .description = "Writes a script that teaches a shell (bash, zsh or fish) to complete the "
                    "commands, options and arguments of pawl.",
     .examples = completion_examples,
     .completes = COMPLETE_WORDS,
     .words = "bash zsh fish",
     .run = cmd_completion},
    {.name = "man",
     .summary = "write the manual page",
     .arguments = "",
     .description = "Writes the manual page of pawl, pawl(1), in roff.",
     .examples = man_examples,
     .run = cmd_man},
    {0},
};

const Command *command_find(const char *name) {
    for (const Command *c = commands; c->name; c++) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}

int command_unknown(const char *name) {
    Suggestion nearest = suggestion_for(name, strlen(name));
    for (const Command *c = commands; c->name; c++) {
        suggestion_offer(&nearest, c->name);
    }
    fprintf(stderr, "pawl: there is no command `%s`", name);
    if (nearest.best) {
        fprintf(stderr, "; did you mean `%s`?\n", nearest.best);
    } else {
        fputs(".\n", stderr);
    }
    fputs("Try `pawl help`.\n", stderr);
    return EXIT_USAGE;
}

int option_value_count(const Option *option) {
    if (!option->values) {
        return 0;
    }
    return strchr(option->values, ' ') ? 2 : 1;
}
