/* terminal.h - what the terminal that we write to can do, and text that does nothing to it. */
#ifndef PAWL_TERMINAL_H
#define PAWL_TERMINAL_H

#include "buf.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Whether this stream goes to a terminal. Of the two standard ones it is asked for once. */
bool terminal_is(FILE *stream);

/* ---- what came from outside ---- */

/* How many bytes the character at the beginning of a text has if it would drive a terminal, or have it show the
 * text in another order than it has; 0: it does neither, as the tab. Texts end in a NUL. */
size_t terminal_control(const char *text);

/* Appends text on one line: what would drive a terminal becomes question marks, ends of lines blanks. */
void terminal_safe(const char *text, size_t len, Buf *out);

/* Writes text that may hold anything. On a terminal what would drive it becomes question marks, a \r a
 * blank; the ends of lines stay. Anywhere else it is written as it is. False when it could not be. */
bool terminal_put(FILE *stream, const char *text, size_t len);

/* A message with such text in it, in the same way: with no colours of its own. */
void terminal_say(FILE *stream, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void terminal_vsay(FILE *stream, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));
/* A message that is one line wherever it goes, whatever the text in it (terminal_safe()); ends it. */
void terminal_line(FILE *stream, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- what it can do ---- */

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

/* Appends words from column `margin` on, where the line has come to, and breaks it before `width`; the next
 * lines begin at the margin, too. Ends with the text or its line, and with the end of a line. */
void terminal_wrap(const char *text, int margin, int width, Buf *out);
/* The same, written, in the width of the stream. */
void terminal_put_wrapped(FILE *stream, const char *text, int margin);

/* A line that stands out where it can. */
void terminal_heading(FILE *stream, const char *text);

/* Whether lines on this stream can be drawn again: it is a terminal that is not "dumb". */
bool terminal_can_redraw(FILE *stream);

#endif
