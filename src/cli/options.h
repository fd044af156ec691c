/* options.h - reads a command line by the option rows of a command.
 *
 * Options and other arguments may stand in any order, and are handed over in that order. Short
 * flags may be bundled (`-nr`); the values of a flag are always the arguments that follow the
 * bundle, as in jq (`-nf FILE`). A long option with one value may have it after an equals sign
 * (`--indent=4`). After `--` everything is an argument, and `-` alone is one.
 *
 * Every command also has -h and --help, without a row.
 */
#ifndef PAWL_OPTIONS_H
#define PAWL_OPTIONS_H

#include "command.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum OptionsResult {
    OPTIONS_RUN,   /* all is well: go on */
    OPTIONS_SHOWN, /* help was asked for and shown: exit with EXIT_OK */
    OPTIONS_BAD,   /* it was said on standard error what is wrong: exit with EXIT_USAGE */
} OptionsResult;

/* Reads the command line and does what the command does with it. argv[0] is its name. Returns the exit code. */
int options_run(const Command *command, int argc, char **argv);

/* What options_run() begins with. ctx is the struct that the rows of options point into; handle takes the rest, and may be
 * NULL for a command that takes nothing else. */
OptionsResult options_parse(const Command *command, int argc, char **argv, OptionHandler handle,
                            void *ctx);

/* Says on standard error what is wrong with the command line, and where help is. Returns false. */
bool options_complain(const Command *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The place of a word among those that the option takes (COMPLETE_WORDS), from 0; -1 after saying
 * which words there are. */
int options_word(const Command *command, const Option *option, const char *word);

/* A whole number from `least` on; false after saying what the option takes. */
bool options_number(const Command *command, const Option *option, const char *text, int64_t least,
                    int64_t *number);

#endif
