/* terminal.h - what the terminal that we write to can do. */
#ifndef PAWL_TERMINAL_H
#define PAWL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Whether to colour what goes to this stream: it is a terminal that is not "dumb", and the user has
 * not set NO_COLOR to anything. */
bool terminal_has_colour(FILE *stream);

/* The width to wrap text to: that of the terminal, but at least 60 and at most 100; 80 when the
 * stream is not a terminal. */
int terminal_width(FILE *stream);

/* The columns that a line really has; 80 when the stream is not a terminal. */
int terminal_columns(FILE *stream);

/* The columns that a text takes: wide characters take two, those that combine with the one before none. */
size_t terminal_text_columns(const char *text, size_t len);

/* Whether lines on this stream can be drawn again: it is a terminal that is not "dumb". */
bool terminal_can_redraw(FILE *stream);

#endif
