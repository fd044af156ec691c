/* commands.h - the commands of the debugger's prompt, each a row.
 *
 * A row says what a command is called, what it takes and how it is explained; its read function turns
 * the words behind its name into an operation of debug_api.h and that operation's arguments. Nothing here
 * talks to a session, so that every line that a person could type can be tried without one.
 *
 *     Order order;
 *     if (words_read(&context, line, len, &order, &err)) ... call order.operation with order.args
 *     else ... say err, and words_usage(order.word) when there is a word
 *     order_clear(&order);
 *
 * A command is found by its name, by one of its aliases, or by the beginning of its name where no other
 * begins so. A line that begins with a dot is an expression to print. `#` begins a comment.
 */
#ifndef PAWL_COMMANDS_H
#define PAWL_COMMANDS_H

#include "error.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum WordGroup {
    WORDS_BREAKPOINTS,
    WORDS_RUNNING,
    WORDS_LOOKING,
    WORDS_CHANGING,
    WORDS_SESSION,
    WORDS_GROUPS,
} WordGroup;

enum {
    WORD_GOES = 1,    /* lets frames go: the prompt waits until something stops */
    WORD_REPEATS = 2, /* an empty line does it again */
    WORD_ASKS = 4,    /* on a terminal, it is asked first whether that is meant */
    WORD_MOVES = 8,   /* frames stand elsewhere afterwards: the place is shown */
};

/* What Tab offers behind the name of a command. */
typedef enum WordOffers {
    OFFERS_NOTHING,
    OFFERS_COMMAND,
    OFFERS_WORDS, /* those of the row */
    OFFERS_NODE,  /* and behind ` if ` an expression */
    OFFERS_EXPRESSION,
    OFFERS_PATH,
} WordOffers;

typedef struct WordReader WordReader;
typedef struct Order Order;

typedef struct Word {
    const char *name;
    const char *aliases; /* parted by spaces; "" when there are none */
    WordGroup group;
    const char
        *operation; /* that it calls unless its words say otherwise; NULL: the prompt does it */
    const char *arguments; /* as the usage line shows them, or "" */
    const char *summary;   /* half a sentence, without a stop */
    const char *details;   /* sentences; NULL: the summary says it all */
    const char *example;   /* NULL: none */
    unsigned flags;
    WordOffers offers;
    const char *words; /* for OFFERS_WORDS, parted by spaces */
    bool (*read)(WordReader *r, Order *order, Error *err);
} Word;

extern const Word debug_words[]; /* the last has no name */

/* What the meaning of a line depends on. Everything is borrowed. */
typedef struct WordContext {
    const char *file;      /* the workflow's main file; NULL: not known */
    const char *list_file; /* where `list` goes on; NULL: at the current line */
    int64_t list_line;
} WordContext;

/* What a line asks for. */
struct Order {
    const Word *word;      /* NULL: the line is empty */
    const char *operation; /* NULL: the prompt does it itself */
    Json args;             /* an object, for the operation */
    char *text;            /* of `help` and `export`; NULL: none */
    bool everything;       /* with WORD_ASKS: it concerns all there is, so ask */
};

/* False with a sentence; order->word is then still the command that was meant, if it was found. The
 * order is to be cleared either way. */
bool words_read(const WordContext *context, const char *line, size_t len, Order *order, Error *err);
void order_clear(Order *order);

/* A breakpoint as `break` takes it, for the operation: LINE alone is one of the main file. Given; NULL with a
 * sentence. */
char *words_break(const char *file, const char *text, size_t len, Error *err);

/* Exactly or by the unique beginning of its name; NULL with a sentence. */
const Word *words_find(const char *name, size_t len, Error *err);
/* Whether an operation lets frames go. */
bool words_operation_goes(const char *operation);

/* "Usage: break SPEC". */
void words_usage(const Word *word, Buf *out);
/* All commands in their groups; all about one. */
void words_help(int width, Buf *out);
void words_explain(const Word *word, int width, Buf *out);

/* What could stand at a cursor: what is offered there, and where that begins in the line. */
typedef struct WordCompletion {
    WordOffers offers;
    size_t from;
    const char *words; /* OFFERS_WORDS */
} WordCompletion;
WordCompletion words_completion(const char *line, size_t cursor);

#endif
