/* output.h - what commands write: JSON, times, tables. */
#ifndef PAWL_OUTPUT_H
#define PAWL_OUTPUT_H

#include "json.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- JSON on standard output ---- */

/* A JsonSink; ctx is stderr, or NULL for standard output. On a terminal the control characters U+0080 to U+009F, which JSON may have as they are and
 * terminals obey, are written as \u0080: it is the same JSON. */
bool output_json(void *ctx, const char *text, size_t len);

/* Indented, and in colour on a terminal. */
void output_pretty(Json value);
/* One line, at once: the reader may be a program that waits for it. False when it could not be
 * written. */
bool output_line(Json value);

/* The same without the end of the line, and in its time. */
bool output_print(Json value);

/* ---- times ---- */

enum { OUTPUT_TIME_MAX = 32 };
/* "0.04s", "12s", "3m 05s", "2h 10m". */
const char *output_duration(int64_t ms, char *out);

/* ---- tables ---- */

enum { TABLE_COLUMNS_MAX = 9 };

/* Text in columns as wide as they need be. Start with a Table that is zero but for its columns. */
typedef struct Table {
    size_t columns;
    size_t widths[TABLE_COLUMNS_MAX]; /* in columns of a terminal */
    Buf cells;                        /* one after the other, each with its NUL */
    size_t at;                        /* where the cell that is being made begins in it */
    size_t column;                    /* of that cell */
} Table;

/* Adds `columns` strings, which are copied; the first row is the heading. */
void table_row(Table *t, const char *const *cells);
/* Ends a cell whose text was appended to `cells`. */
void table_next(Table *t);
void table_write(const Table *t, Buf *out);
void table_print(const Table *t); /* to standard output */
void table_clear(Table *t);

/* An EDGE in a line: "b, c (.n > 5: false, .n > 2: true)". */
void output_edge(Json edge, Buf *out);

#endif
