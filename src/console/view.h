/* view.h - answers and events of a debug session as text for people.
 *
 * Each function appends whole lines, or nothing where there is nothing to say. Every answer is readable
 * whatever it holds: fields that are missing or of another kind than debug_api.h says are left out, long
 * values are cut with a word on how to see the rest, and control characters from outside do not reach the
 * terminal. Pure functions; everything is borrowed.
 */
#ifndef PAWL_VIEW_H
#define PAWL_VIEW_H

#include "json.h"

#include <stdbool.h>

typedef struct Show {
    bool colour;
} Show;

enum { SHOW_VALUE_MAX = 4000 }; /* bytes of one value */

/* An event other than `paused`. */
void show_event(const Show *show, Json event, Buf *out);

/* The answer to an operation with its arguments. */
void show_answer(const Show *show, const char *operation, Json args, Json answer, Buf *out);

/* Where a frame stands, of a `paused` event or of a FRAME: one line, and what it stopped for. */
void show_place(const Show *show, Json place, Buf *out);
/* The current line alone, of an answer of `source`. */
void show_source_line(const Show *show, Json source, Buf *out);
/* The values of an answer of `watches`. */
void show_watches(const Show *show, Json answer, Buf *out);

/* A sentence that says what is wrong. */
void show_error(const Show *show, const char *sentence, Buf *out);

/* Indented when it is large; cut at SHOW_VALUE_MAX. */
void show_value(const Show *show, Json value, Buf *out);

#endif
