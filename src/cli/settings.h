/* settings.h - values on the command line: --set path=json, --input and --value.
 *
 * A path is a jq path, its first dot left out at will: `user.name`, `.items[0]`, `."odd key"`. What
 * is no JSON is refused with the hint that strings need their quotes.
 */
#ifndef PAWL_SETTINGS_H
#define PAWL_SETTINGS_H

#include "command.h"
#include "error.h"
#include "json.h"

#include <stdbool.h>

/* Adds [path, value] to the array *set (JSON_NONE at first); false after saying what is wrong. */
bool settings_add(const Command *command, const char *text, Json *set);

/* Sets each of them in `into`, which is consumed. JSON_NONE on error. */
Json settings_apply(Json into, Json set, Error *err);

/* The value of an option as JSON; false after saying what is wrong. */
bool settings_value(const Command *command, const Option *option, const char *text, Json *value);

/* The text of a file (- for standard input) as a string, without the newline at its end. */
bool settings_text(const Command *command, const char *path, Json *value);

/* The input of a run from JSON, @FILE, or - for standard input. It must be an object. */
bool settings_input(const Command *command, const char *text, Json *value);

/* What a run begins with: the input that was given (NULL: none) with what --set says. */
bool settings_start(const Command *command, const char *given, Json set, Json *input);

#endif
