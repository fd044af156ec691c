/* command.h - the commands of the program, as rows of one table.
 *
 * A row says what a command is called, what it takes and how it is shown; its run function does the
 * work. `pawl help`, the completions for shells and the man page are all made from the rows, so a
 * command is added by adding a row in command.c and a file with its run function, and an option by
 * adding a row to the options of its command.
 *
 * A run function gets the arguments from the command's own name on, as main() would, and returns
 * the exit code of the program.
 */
#ifndef PAWL_COMMAND_H
#define PAWL_COMMAND_H

#include <stddef.h>

/* Exit codes that all commands share. */
enum {
    EXIT_OK = 0,
    EXIT_USAGE = 2, /* the command line itself is wrong */
};

/* What a shell offers where an argument stands. */
typedef enum Completion {
    COMPLETE_NOTHING, /* free text */
    COMPLETE_FILE,
    COMPLETE_COMMAND, /* a name from the table of commands */
    COMPLETE_WORDS,   /* one of the words in the row */
} Completion;

typedef struct Option {
    const char *name;     /* without the dashes */
    char letter;          /* the short form, 0 when there is none */
    const char *values;   /* what follows it, "FILE" or "NAME VALUE"; NULL when nothing does */
    const char *help;     /* half a sentence, without a stop */
    Completion completes; /* what its last value is */
    int id;               /* for the command's own use */
} Option;

typedef struct Example {
    const char *line;
    const char *says;
} Example;

typedef struct Command {
    const char *name;
    const char *summary;     /* half a sentence, without a stop */
    const char *arguments;   /* what stands after the options in the usage line, or "" */
    const char *description; /* paragraphs, parted by an empty line */
    const Option *options;   /* ends with a row without a name; NULL when there are none */
    const Example *examples; /* ends with a row without a line; NULL when there are none */
    Completion completes;    /* what the arguments are */
    const char *words;       /* for COMPLETE_WORDS, parted by spaces */
    int (*run)(int argc, char **argv);
} Command;

/* The table; ends with a row without a name. */
extern const Command commands[];

/* NULL when there is none of that name. */
const Command *command_find(const char *name);

/* Says on standard error that there is no such command, and which is nearest. Returns
 * EXIT_USAGE. */
int command_unknown(const char *name);

/* How many values an option takes. */
int option_value_count(const Option *option);

/* The options of `pawl eval`. */
enum EvalOption {
    EVAL_NULL_INPUT,
    EVAL_RAW_INPUT,
    EVAL_SLURP,
    EVAL_STREAM,
    EVAL_SEQ,
    EVAL_FROM_FILE,
    EVAL_COMPACT,
    EVAL_RAW_OUTPUT,
    EVAL_RAW_OUTPUT0,
    EVAL_JOIN,
    EVAL_ASCII,
    EVAL_SORT_KEYS,
    EVAL_COLOR,
    EVAL_MONOCHROME,
    EVAL_TAB,
    EVAL_INDENT,
    EVAL_UNBUFFERED,
    EVAL_EXIT_STATUS,
    EVAL_ARG,
    EVAL_ARGJSON,
    EVAL_SLURPFILE,
    EVAL_RAWFILE,
    EVAL_ARGS,
    EVAL_JSONARGS,
    EVAL_ENV,
    EVAL_LIMIT_STEPS,
    EVAL_LIMIT_MEMORY,
    EVAL_LIMIT_DEPTH,
};

int cmd_completion(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_man(int argc, char **argv);
int cmd_version(int argc, char **argv);

#endif
