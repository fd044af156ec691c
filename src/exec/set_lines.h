/* set_lines.h - the lines with which a script sets variables and outputs, among all that it prints.
 *
 *     ::set-var NAME TEXT           a variable of the scope that the task runs in
 *     ::set-json NAME JSON
 *     ::set-out NAME TEXT           an output of the task; also spelled ::set-output
 *     ::set-out-json NAME JSON      the same; also spelled ::set-output-json
 *     ::set-progress N/M TEXT       how far the task is: "N of M TEXT". N alone is of 100, and then TEXT stands by itself
 *
 * Such a line begins where the line does. The numbers of JSON are doubles. NAME ends at the first blank (a space or a tab); the blanks
 * after it are skipped, and the rest of the line is the value as it stands: TEXT may be empty, and
 * keeps its quotes and the blanks at its end. A line ends with LF or CRLF, the last one with the text.
 * Bytes that are not UTF-8 become U+FFFD. A line with another word after `::` is text like any other.
 *
 *     SetLines lines;
 *     set_lines_init(&lines, &handler);
 *     set_lines_feed(&lines, bytes, len);      as often as there are bytes, cut anywhere
 *     set_lines_end(&lines);                   takes the last line, when it has no LF; not called
 *                                              when the text is cut off
 *     set_lines_clear(&lines);
 *
 * What is not such a line is given back as it comes; only as much as may still become one waits for
 * the rest of it. A line that is wrong is said to be so once, and left out: one that cannot be read is a warning and no
 * more, one that is too long a value that was lost.
 */
#ifndef PAWL_SET_LINES_H
#define PAWL_SET_LINES_H

#include "buf.h"
#include "json.h"

#include <stdbool.h>

enum { SET_LINE_MAX = 1 << 20 }; /* bytes of one such line, without its LF */

typedef struct SetLinesHandler {
    void (*set)(void *ctx, bool output, Json name, Json value); /* consumes name and value */
    void (*progress)(void *ctx, double percent, const char *message);
    void (*text)(void *ctx, const char *bytes, size_t len);
    /* A line that is wrong: the sentence says what, and in which line. lost: by a limit of ours. */
    void (*problem)(void *ctx, bool lost, const char *sentence);
    void *ctx;
} SetLinesHandler;

typedef struct SetLines {
    const SetLinesHandler *handler;
    Buf line;        /* of a line that is one, or may become one */
    int mode;        /* what the rest of this line is */
    const char *run; /* text that was not given back yet: in the piece being fed */
    size_t run_len;
} SetLines;

/* Borrows the handler. */
void set_lines_init(SetLines *lines, const SetLinesHandler *handler);
void set_lines_feed(SetLines *lines, const char *bytes, size_t len);
void set_lines_end(SetLines *lines);
void set_lines_clear(SetLines *lines);

#endif
