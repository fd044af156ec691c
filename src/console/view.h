/* view.h - answers and events of a debug session as text for people.
 *
 * Views append whole lines, or nothing where there is nothing to say. Every answer is readable whatever it
 * holds: fields that are missing or of another kind than they should be are left out with the words around
 * them, long values are cut with a word on how to see the rest, and nothing that comes from outside (names,
 * values, messages) drives the terminal. Everything is borrowed.
 *
 * How the answer to a command is shown stands beside the command (commands_*.c). What is here is what
 * several of them share.
 */
#ifndef PAWL_VIEW_H
#define PAWL_VIEW_H

#include "buf.h"
#include "fields.h"
#include "output.h"

#include <stdbool.h>

typedef struct View {
    Buf *out;
    bool colour;
    Json args; /* of the operation whose answer is shown */
} View;

enum {
    VIEW_LINE = 72,        /* bytes of a value within a line */
    VIEW_VALUE_MAX = 4000, /* bytes of one value */
};

/* ---- text ---- */

typedef enum Style {
    STYLE_NAME,
    STYLE_PLACE,
    STYLE_BAD,
    STYLE_GOOD,
    STYLE_DIM,
    STYLE_NONE, /* ends any other */
} Style;

void view_style(View *v, Style style);
void view_styled(View *v, Style style, const char *text); /* that may hold anything */

void view_puts(View *v, const char *text); /* words of our own */
void view_printf(View *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A value on one line, cut at max bytes. */
void view_json(View *v, Json value, size_t max);
/* A string as it is, anything else as JSON; nothing for nothing. */
void view_text(View *v, Json value);
/* Words and fields of an object, as they will look: "`{node}` failed[ (attempt {attempt})]". A {field} is
 * shown as view_text() does it, between backquotes as a name; {field|json} and {field|path} as those functions do
 * it, {field|size} as 12 kB, {field|time} (seconds) as 1h 30m. What is in brackets is left out when a field of it is not there. */
void view_format(View *v, Json object, const char *format);
/* The words, when the field is true. */
void view_if(View *v, Json object, const char *key, const char *words);
/* The lines of a text, each with words before it. */
void view_lines(View *v, const char *before, Json text);

void view_hint(View *v, const char *hint);         /* a line */
void view_sentence(View *v, const char *sentence); /* a line that says what is wrong */
/* Ends the line, if one was begun: fields may be missing, and the end of the line with them. */
void view_end_line(View *v);

/* ---- parts of answers ---- */

void view_numbers(View *v, Json list);                    /* 1, 2 and 3 */
void view_where(View *v, const char *before, Json place); /* FILE:LINE */
void view_path(View *v, Json path);                       /* .items[2] */
void view_breakpoint_ids(View *v, Json ids);              /* , breakpoint 1 */
void view_frame_name(View *v, Json place);                /* Frame 2 (left) */
void view_node(View *v, Json place);                      /* `build` (shell) */
const char *view_position(Json place);                    /* "before" */
/* {kind, message, ...} or a sentence, as a line. */
void view_error(View *v, const char *before, Json error);
void view_ways_to_answer(View *v, Json interrupt); /* the commands that do, a line each */

/* A value as lines of its own: indented when it is large, cut at VIEW_VALUE_MAX. */
void view_value(View *v, Json value);

/* A value as one of these functions shows it, but for the passwords of URLs: what is in a workflow's file need not be on
 * the screen. */
void view_hidden(View *v, void (*view)(View *v, Json value), Json value);

/* A text as the next cell of a table. */
void view_cell(Table *t, Json text);
void view_table(View *v, Table *t); /* and clears it */

/* ---- what is shown without being asked for, too ---- */

/* An event of the session; nothing for those that people need not know of. */
void view_event(View *v, Json event);
/* Where a frame stands, of a `paused` event or of a FRAME: one line, and what it stopped for. */
void view_place(View *v, Json place);
void view_passing(View *v,
                  Json passing); /* how `continue while` ended (WHILE); nothing of JSON_NONE */
/* The current line alone, of an answer of `source`. */
void view_source_line(View *v, Json source);
/* The values of an answer of `watches`; nothing when there are none. */
void view_watches(View *v, Json answer);
/* An answer of `diff`. */
void view_diff(View *v, Json answer);

#endif
