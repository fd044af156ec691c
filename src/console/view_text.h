/* view_text.h - the pieces that lines about a debug session are made of.
 *
 * What comes from outside (names, values, messages) goes through here: nothing of it drives the terminal,
 * and what is missing is left out with the words around it. Each function appends to a buffer; everything is
 * borrowed.
 */
#ifndef PAWL_VIEW_TEXT_H
#define PAWL_VIEW_TEXT_H

#include "fields.h"
#include "output.h"
#include "view.h"

enum { SAY_LINE = 72 }; /* bytes of a value within a line */

/* ---- text ---- */

typedef enum Style { STYLE_NAME, STYLE_PLACE, STYLE_BAD, STYLE_GOOD, STYLE_DIM, STYLES } Style;

void say_begin(const Show *s, Style style, Buf *out);
void say_end(const Show *s, Buf *out);

/* Characters that would drive the terminal become question marks, ends of lines blanks. */
void say_safe(const char *text, size_t len, Buf *out);
/* A value on one line, cut at max bytes. */
void say_json(Json v, size_t max, Buf *out);
/* A string as it is, anything else as JSON; nothing for nothing. */
void say_text(Json v, Buf *out);
/* A field with words around it; nothing at all when it is not there. */
void say_field(const char *before, Json object, const char *key, const char *after, Buf *out);

/* The lines of a text, each with words before it. */
void say_lines(const char *before, Json text, Buf *out);

void say_hint(const Show *s, const char *hint, Buf *out); /* a line */
/* Ends the line, if one was begun: fields may be missing, and the end of the line with them. */
void say_line_end(Buf *out);

/* ---- parts of answers ---- */

void say_name(const Show *s, Json v, Buf *out);                          /* `build` */
void say_numbers(Json list, Buf *out);                                   /* 1, 2 and 3 */
void say_where(const Show *s, Json place, const char *before, Buf *out); /* FILE:LINE */
void say_path(Json path, Buf *out);                                      /* .items[2] */
void say_size(int64_t bytes, Buf *out);                                  /* 12 kB */
void say_time(double seconds, Buf *out);                                 /* 1h 30m */
const char *say_position(Json place);                                    /* "before" */
void say_breakpoints(Json ids, Buf *out);                                /* , breakpoint 1 */
void say_frame(Json place, Buf *out);                                    /* Frame 2 (left) */
void say_node(const Show *s, Json place, Buf *out);                      /* `build` (shell) */
/* {kind, message, ...} or a sentence, as a line. */
void say_error(const Show *s, Json error, const char *before, Buf *out);
void say_answers(Json interrupt, Buf *out); /* the commands that answer it, a line each */

/* ---- tables ---- */

/* Cells of one row, made one after the other. */
typedef struct TableRow {
    Table *table;
    Buf cells[TABLE_COLUMNS_MAX];
} TableRow;

void row_end(TableRow *row);        /* adds it to its table */
void say_table(Table *t, Buf *out); /* and clears it */

#endif
