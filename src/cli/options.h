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

/* Called for each option (with its values) and, with option NULL, for each other argument (in
 * values[0]). Returns false to end with a usage error, after saying why with options_complain(). */
typedef bool (*OptionHandler)(void *ctx, const Option *option, char **values);

typedef enum OptionsResult {
    OPTIONS_RUN,   /* all is well: go on */
    OPTIONS_SHOWN, /* help was asked for and shown: exit with EXIT_OK */
    OPTIONS_BAD,   /* it was said on standard error what is wrong: exit with EXIT_USAGE */
} OptionsResult;

/* argv[0] is the name of the command. handle may be NULL for a command that takes nothing. */
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
