/* command_reader.h - what stands behind the name of a command, read from left to right.
 *
 * A reader stands somewhere in the line; what it takes is behind it then. What it reads goes into the
 * order. Spans are parts of the line, borrowed from it. Functions that return false have set a sentence
 * that names the command.
 */
#ifndef PAWL_COMMAND_READER_H
#define PAWL_COMMAND_READER_H

#include "commands.h"

struct CommandReader {
    const CommandContext *context;
    Order *order;
    Error *err;
    const char *at, *end; /* what is left of the line, without blanks at its end */
};

/* ---- spans ---- */

typedef struct Span {
    const char *text;
    size_t len;
} Span;

/* For sentences, as "%.*s": at most so much of it. */
enum { QUOTE_MAX = 60 };
#define QUOTED(s) (int)((s).len > QUOTE_MAX ? QUOTE_MAX : (s).len), (s).text

bool char_is_blank(char c);
bool char_is_digit(char c);

Span span_between(const char *from, const char *to); /* without the blanks at both ends */
bool span_is(Span s, const char *word);
bool span_begins(Span s, const char *word); /* the word begins with it */
bool span_number(Span s, int64_t *number);
bool span_checkpoint(Span s, bool bare, int64_t *number); /* @12, or 12 where bare is allowed */
Json span_string(Span s);
Json span_value(Span s, Error *err); /* as JSON; JSON_NONE when it is none */

/* ---- taking ---- */

bool reader_at_end(CommandReader *r);
Span reader_peek(CommandReader *r); /* the next word, which stays */
Span reader_next(CommandReader *r);
Span reader_rest(CommandReader *r);                    /* all that is left */
bool reader_takes(CommandReader *r, const char *word); /* when it is the next */
/* The name of a command, which stays. It ends where letters do, so that `frame2` and `p.x` are read too;
 * one that is no name ends at a blank. */
Span reader_name(CommandReader *r);

/* ---- demands: false with a sentence ---- */

/* what: "the number of a breakpoint". */
bool reader_number(CommandReader *r, const char *what, int64_t *number);
bool reader_ends(CommandReader *r);
bool reader_lacks(CommandReader *r, const char *what);            /* always false */
bool reader_no_value(CommandReader *r, Span s, const Error *why); /* it is no JSON; always false */

/* ---- arguments of the operation ---- */

bool reader_put(CommandReader *r, const char *key, Json value); /* consumes it; always true */
bool reader_put_number(CommandReader *r, const char *key, const char *what); /* the next word */
bool reader_put_rest(CommandReader *r, const char *key, const char *what);   /* as a string */

/* ---- what several commands take ---- */

bool read_frame(CommandReader *r);     /* [FRAME] */
bool read_id_or_all(CommandReader *r); /* [N]; without, all */
bool read_setting(CommandReader *r);   /* PATH = JSON */
bool read_goto(CommandReader *r);      /* NODE | @CHECKPOINT */

#endif
