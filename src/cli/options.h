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
#include "error.h"

#include <stdbool.h>

/* Reads the command line and does what the command does with it. argv[0] is its name. Returns the exit code. */
int options_run(const Command *command, int argc, char **argv);

/* Says on standard error what is wrong with the command line, and where help is. Returns false. */
bool options_complain(const Command *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for an error that has its own sentence, without the help. */
bool options_refuse(const Command *command, const Error *err);

#endif
