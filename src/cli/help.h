/* help.h - help as text, made from the table of commands. */
#ifndef PAWL_HELP_H
#define PAWL_HELP_H

#include "command.h"

#include <stdio.h>

/* The list of commands. */
void help_overview(FILE *out);

/* All about one command. */
void help_command(const Command *command, FILE *out);

#endif
