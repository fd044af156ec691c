/* command_reader.h - a line of the debugger's prompt, taken apart from its beginning.
 *
 * A reader stands somewhere in the line; what it takes is behind it then. Pieces are parts of the line,
 * borrowed from it. What is refused is refused in a sentence that names the command.
 */
#ifndef PAWL_COMMAND_READER_H
#define PAWL_COMMAND_READER_H

#include "commands.h"

struct WordReader {
    const WordContext *context;
    const Word *word;     /* the command; NULL before it is known */
    const char *at, *end; /* what is left of the line, without blanks at its end */
};

/* ---- pieces ---- */

typedef struct Piece {
    const char *text;
    size_t len;
} Piece;

/* For sentences, as "%.*s": at most so much of it. */
enum { QUOTE_MAX = 60 };
#define QUOTED(p) (int)((p).len > QUOTE_MAX ? QUOTE_MAX : (p).len), (p).text

bool word_is_blank(char c);
bool word_is_digit(char c);

Piece piece_between(const char *from, const char *to); /* without the blanks at both ends */
bool piece_is(Piece p, const char *word);
bool piece_number(Piece p, int64_t *number);
bool piece_checkpoint(Piece p, bool bare, int64_t *number); /* @12, or 12 where bare is allowed */
Json piece_json(Piece p);                                   /* as a string */
Json piece_value(Piece p, Error *err);                      /* as JSON; JSON_NONE when it is none */
/* Says that it is no JSON, and why. */
bool piece_refuse_value(Piece p, Error *why, Error *err);

/* ---- taking ---- */

bool reader_at_end(WordReader *r);
void reader_skip_blanks(WordReader *r);
Piece reader_peek(WordReader *r); /* the next word, which stays */
Piece reader_next(WordReader *r);
Piece reader_rest(WordReader *r);                   /* all that is left */
bool reader_takes(WordReader *r, const char *word); /* when it is the next */
/* The name of a command, which stays. It ends where letters do, so that `frame2` and `p.x` are read too;
 * one that is no name ends at a blank. */
Piece reader_name(WordReader *r);

/* ---- demands: false with a sentence ---- */

/* what: "the number of a breakpoint". */
bool reader_number(WordReader *r, const char *what, int64_t *number, Error *err);
bool reader_ends(WordReader *r, Error *err);
bool reader_lacks(WordReader *r, const char *what, Error *err); /* always false */

/* ---- what comes of it ---- */

void order_put(Order *o, const char *key, Json value); /* an argument; consumes the value */
void order_put_number(Order *o, const char *key, int64_t number);

#endif
