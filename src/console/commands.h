/* commands.h - the commands of the debugger's prompt, each a row.
 *
 * A row says what a command is called, what it takes, how it is explained, which operation of a session it
 * calls and how the answer is shown. To add a command, add a row and its functions to the commands_*.c that
 * fits: one that reads the words behind the name, one that shows the answer (view.h).
 * Nothing here talks to a session, so that every line that a person could type can be tried without one.
 *
 *     Order order;
 *     if (commands_read(&context, line, len, &order, &err)) ... call order.operation with order.args
 *     else ... say err, and commands_usage(order.command) when there is one
 *     order_clear(&order);
 *
 * A command is found by its name, by one of its aliases, or by the beginning of its name where no other
 * begins so. A line that begins with a dot is an expression to print. `#` begins a comment.
 */
#ifndef PAWL_COMMANDS_H
#define PAWL_COMMANDS_H

#include "console.h"
#include "view.h"

#include <stddef.h>
#include <stdint.h>

enum {
    COMMAND_GOES = 1,    /* lets frames go: the prompt waits until something stops */
    COMMAND_REPEATS = 2, /* an empty line does it again */
    COMMAND_MOVES = 4,   /* frames stand elsewhere afterwards: the place is shown */
};

/* What Tab offers behind the name of a command. */
typedef enum CommandOffers {
    OFFERS_NOTHING,
    OFFERS_COMMAND,
    OFFERS_WORDS, /* those of the row */
    OFFERS_NODE,  /* and behind ` if ` an expression */
    OFFERS_BREAK, /* the same, and what else a breakpoint is about */
    OFFERS_EXPRESSION,
    OFFERS_PATH,
    OFFERS_CONFIG, /* a path into the config of the node */
    OFFERS_FRAME,
} CommandOffers;

typedef struct CommandReader CommandReader;
typedef struct Order Order;

typedef void CommandView(View *v, Json answer);

typedef struct ConsoleCommand {
    const char *name;
    const char *aliases;   /* parted by spaces; "" when there are none */
    const char *arguments; /* as the usage line shows them, or "" */
    const char *summary;   /* half a sentence, without a stop */
    const char *details;   /* sentences; NULL: the summary says it all */
    const char *example;   /* NULL: none */
    unsigned flags;
    CommandOffers offers;
    const char *words; /* that Tab offers instead, parted by spaces; NULL: none */
    const char *asks;  /* on a terminal, when it concerns all there is (Order); NULL: nothing */

    bool (*read)(CommandReader *r); /* NULL: it takes nothing */
    const char *operation;          /* that it calls, unless its words say otherwise */
    const char *args;               /* of it, as JSON; NULL: none but those that are read */
    CommandView *view;              /* of the answer; NULL: nothing is shown */
    void (*act)(Console *c, const Order *order); /* without an operation: what the prompt does */
} ConsoleCommand;

/* The rows, by file; the last of each has no name. */
extern const ConsoleCommand breakpoint_commands[], running_commands[], state_commands[],
    frame_commands[], changing_commands[], session_commands[];

const ConsoleCommand *commands_at(size_t i); /* of all of them; NULL: there are no more */

/* What `info` tells about. */
typedef struct InfoSubject {
    const char *name, *operation;
    CommandView *view;
} InfoSubject;

extern const InfoSubject info_subjects[]; /* the last has no name */

/* Views that are shown elsewhere, too. */
CommandView view_breakpoints, view_all_watches, view_config, view_pending, view_injected,
    view_session, view_frame, view_frames, view_pausing, view_text_lines;

/* What the meaning of a line depends on. Everything is borrowed. */
typedef struct CommandContext {
    const char *file;      /* the workflow's main file; NULL: not known */
    const char *list_file; /* where `list` goes on; NULL: at the current line */
    int64_t list_line;
} CommandContext;

/* What a line asks for. */
struct Order {
    const char *line; /* as it was typed; borrowed */
    size_t len;
    const ConsoleCommand *command; /* NULL: the line is empty, or a program's call */
    const char *operation;         /* NULL: the prompt does it itself */
    Json args;                     /* an object, for the operation */
    CommandView *view;
    unsigned flags;  /* as in ConsoleCommand */
    char *text;      /* of `help`, `export`, `save` and `load`; NULL: none */
    bool everything; /* it concerns all there is */
    Json id;         /* that a program finds in the answer; JSON_NONE: none */
};

/* False with a sentence; order->command is then still the command that was meant, if it was found. The
 * order is to be cleared either way. */
bool commands_read(const CommandContext *context, const char *line, size_t len, Order *order,
                   Error *err);
void order_clear(Order *order);

/* Exactly or by the unique beginning of its name; NULL with a sentence. */
const ConsoleCommand *commands_find(const char *name, size_t len, Error *err);
/* How a command that calls an operation shows the answer; as it is where none does. */
CommandView *commands_view(const char *operation);
/* Whether an operation lets frames go. */
bool commands_operation_goes(const char *operation);

/* "Usage: break SPEC". */
void commands_usage(const ConsoleCommand *command, Buf *out);
/* All commands in their groups; all about one. */
void commands_help(int width, Buf *out);
void commands_explain(const ConsoleCommand *command, int width, Buf *out);

/* What could stand at a cursor: what is offered there, and where that begins in the line. */
typedef struct Completion {
    CommandOffers offers;
    size_t from;
    const char *words; /* OFFERS_WORDS */
} Completion;
Completion commands_completion(const char *line, size_t cursor);

/* What `complete` found for the text up to a cursor, as texts that all begin at one place of it: items say
 * themselves what they replace, a key in quotes its dot as well. *from is set to that place. Given. */
Json commands_offered(Json found, const char *typed, size_t len, size_t *from);

/* ---- reading what stands behind the name of a command ----
 *
 * A reader stands somewhere in the line; what it takes is behind it then. What it reads goes into the
 * order. Spans are parts of the line, borrowed from it. Functions that return false have set a sentence
 * that names the command. */

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
