/* way_out.h - what people at a terminal can do about an error: the one place where the command line's words are.
 *
 * Sentences of errors end at what is wrong. A row of the table in way_out.c says, for a code and the facts that an
 * error of it has (error.h), what to type next. An error that no row fits says all there is to say.
 */
#ifndef PAWL_WAY_OUT_H
#define PAWL_WAY_OUT_H

#include "buf.h"
#include "error.h"

#include <stdbool.h>

/* Who says it. */
typedef struct Speaker {
    const char *command; /* of the command line; NULL: the debugger's prompt */
    const char *store;   /* to be named in commands, or a server; NULL: it is found without */
    bool server;         /* a server was asked: its store is none that can be named here */
} Speaker;

/* The sentence, and the way out behind it when there is one. */
void say_error(Buf *out, const Error *err, const Speaker *speaker);

/* " --store URL", or " --server URL" of a server; nothing for NULL. */
void place_words(Buf *out, const char *place);

/* As one word for a shell, quoted if need be. */
void shell_word(Buf *out, const char *word);

#endif
