/* command.h - the commands of the program, each a row.
 *
 * A row says what a command is called, what it takes and how it is shown; its run function does the
 * work. Both stand in the command's own file, and command.c lists the rows. `pawl help`, the
 * completions for shells and the man page are all made from them, so a command is added by writing
 * its file and naming its row here and in the list, and an option by adding a row to the options of
 * its command.
 *
 * What a command takes from its command line is a struct of its own that begins with a Common (stores.h); its rows
 * say where in it each option goes, and it is cleared by the same rows. Its function gets that struct and returns the
 * exit code of the program.
 */
#ifndef PAWL_COMMAND_H
#define PAWL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Exit codes that all commands share. */
enum {
    EXIT_OK = 0,
    EXIT_FAILED_RUN = 1, /* the run failed, or what was asked for could not be done */
    EXIT_USAGE = 2,      /* the command line itself is wrong, or the workflow is */
    EXIT_WAITING = 3,    /* the run waits to be resumed */
    EXIT_BUSY = 4,       /* another process has the run */
    EXIT_STORE = 5,      /* the store cannot be read or written */
};

/* What a shell offers where an argument stands. */
typedef enum Completion {
    COMPLETE_NOTHING, /* free text */
    COMPLETE_FILE,
    COMPLETE_COMMAND, /* a name from the list of commands */
    COMPLETE_WORDS,   /* one of the words in the row */
} Completion;

/* What becomes of an option, and the type of the field that it goes to. */
typedef enum OptionKind {
    OPTION_OWN,        /* nothing: the handler of the command takes it */
    OPTION_FLAG,       /* bool */
    OPTION_TEXT,       /* const char *, borrowed */
    OPTION_WORD,       /* the same: one of its words */
    OPTION_CHOICE,     /* int: the place of its word from 1 on; 0: it was not given */
    OPTION_COUNT,      /* int64_t, from 1 on; 0: it was not given */
    OPTION_NEW_THREAD, /* const char *: what a new run may be called */
    OPTION_PLACE,      /* Place */
    OPTION_ROOT,       /* SafeRoot * */
    OPTION_NET,        /* NetPolicy * */
    OPTION_FOLDERS,    /* Folders: one more */
    OPTION_VALUE,      /* Json; and all that follow */
    OPTION_TEXT_OF,    /* Json: the text of a file */
    OPTION_TIME,       /* Json: a time, given as one or as how long ago */
    OPTION_SETTINGS,   /* Json: an array of [path, value] that grows */
    OPTION_NAMES,      /* Json: an array of names that grows; several are parted by commas */
} OptionKind;

/* Paths that were given, in order; borrowed. */
typedef struct Folders {
    const char *items[100];
    size_t n;
} Folders;

/* The end of an option's row: its kind, and the field. */
#define TAKES(kind_, type, field) .kind = kind_, .at = offsetof(type, field)

typedef struct Option {
    const char *name;   /* without the dashes */
    char letter;        /* the short form, 0 when there is none */
    const char *values; /* what follows it, "FILE" or "NAME VALUE"; NULL when nothing does; with
                             COMPLETE_WORDS the words: "dot|json" */
    const char *help;   /* half a sentence, without a stop */
    OptionKind kind;
    size_t at;
    Completion completes; /* what its last value is */
    int id;               /* for the command's own use */
} Option;

/* The options and the examples of a command, in its row. */
#define OPTIONS(...)              \
    .options = (const Option[]) { \
        __VA_ARGS__, {            \
            0                     \
        }                         \
    }
#define EXAMPLES(...)               \
    .examples = (const Example[]) { \
        __VA_ARGS__, {              \
            0                       \
        }                           \
    }

/* Called for each option of OPTION_OWN (with its values) and, with option NULL, for each other argument (in
 * values[0]). Returns false to end with a usage error, after saying why with options_complain(). */
typedef bool (*OptionHandler)(void *ctx, const Option *option, char **values);

typedef struct Example {
    const char *line;
    const char *says;
} Example;

typedef struct Command {
    const char *name;
    const char *summary;             /* half a sentence, without a stop */
    const char *arguments;           /* what stands after the options in the usage line, or "" */
    const char *description;         /* paragraphs, parted by an empty line */
    const Option *options;           /* ends with a row without a name; NULL when there are none */
    const Example *examples;         /* ends with a row without a line; NULL when there are none */
    Completion completes;            /* what the arguments are */
    const char *words;               /* for COMPLETE_WORDS, parted by spaces */
    const char *(*list_words)(void); /* the same, when they are rows of another table */
    size_t args;                     /* the size of what it takes */
    size_t place;                    /* where in it THREAD or THREAD@SEQ goes; 0: it takes none */
    size_t
        argument; /* where in it its one argument goes, a const char *, behind the place if it takes one;
                                  0: it has none */
    const char *one;         /* what that is: "workflow" */
    const char *only_thread; /* said when there is an @SEQ that has no place; NULL: it has */
    OptionHandler handle;    /* for options and arguments that no field takes; or NULL */
    int (*act)(void *args);
    void (*clear)(void *args); /* of what no row clears; or NULL */
} Command;

/* The list, in the order in which help shows them; ends with NULL. */
extern const Command *const commands[];

/* NULL when there is none of that name. */
const Command *command_find(const char *name);

/* Says on standard error that there is no such command, and which is nearest. Returns
 * EXIT_USAGE. */
int command_unknown(const char *name);

/* The words that its arguments are (COMPLETE_WORDS), parted by spaces. */
const char *command_words(const Command *command);

/* How many values an option takes. */
int option_value_count(const Option *option);

extern const Command command_cancel, command_check, command_completion, command_dap, command_debug,
    command_diff, command_eval, command_fork, command_graph, command_help, command_history,
    command_kinds, command_login, command_logs, command_man, command_mcp, command_prune,
    command_resume, command_run, command_runs, command_schema, command_secret, command_serve,
    command_show, command_status, command_store, command_token, command_update, command_version;

#endif
