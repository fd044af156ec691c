/* hidden.h - reads what nobody else is to see: from standard input, and at a terminal without showing what is typed. */
#ifndef PAWL_HIDDEN_H
#define PAWL_HIDDEN_H

#include "buf.h"
#include "error.h"

#include <stdbool.h>

/* One line of a terminal, after `prompt`, or all of what is piped; a little more than `max` bytes at most. False with a
 * sentence when it is longer (`what`: "A secret"), or cannot be read. */
bool hidden_read(const char *prompt, const char *what, size_t max, Buf *value, Error *err);
void hidden_clear(Buf *value); /* overwrites it */

#endif
