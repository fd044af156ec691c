/* console_inside.h - a console, for the files that it is made of:
 *
 *     console.c         its life, and the whole of it from the first look around to its end
 *     console_lines.c   a line that was typed: a command, a call of a program, a repetition
 *     console_orders.c  what is ordered of the session, and what the prompt does itself
 *     console_wait.c    until something stops; where frames stand then
 *     console_say.c     answers, errors and events, for people or for programs
 *     console_tab.c     what Tab offers
 */
#ifndef PAWL_CONSOLE_INSIDE_H
#define PAWL_CONSOLE_INSIDE_H

#include "commands.h"
#include "console.h"
#include "fields.h"
#include "view.h"

/* What has come since the last command that let frames go. */
enum {
    CAME_PAUSE = 1,   /* a frame stopped */
    CAME_STOP = 2,    /* none goes on by itself */
    CAME_WAIT = 4,    /* one waits for a person */
    CAME_SETTLED = 8, /* the run has ended */
    CAME_OVER = 16,   /* the session has, or its target has closed */
    CAME_REPLAY = 32, /* one node has run again */
    CAME_ANY = 31,    /* all but that: it is no matter of this run */
};

struct Console {
    ConsoleHost host;
    Prompt *prompt;
    Target *target;
    Show show;

    Json events; /* that nobody has looked at yet */
    unsigned came;
    bool gone, ending;
    ConsoleEnd end;
    ConsoleEnd over; /* how the session ended, as it said itself; CONSOLE_QUIT: it has not */
    char status[24];

    bool pause_all;  /* when one frame stops, all do */
    char *file;      /* the workflow's main file; NULL: not known */
    char *list_file; /* where `list` goes on; NULL: at the current line */
    int64_t list_line;
    int64_t shown; /* the frame whose line was shown since the last command; 0: none */
    char *again;   /* the line that an empty one repeats; NULL: none */

    uv_timer_t grace;
    bool grace_over, closed;
    uint64_t interrupted; /* when Ctrl-C came last, on the loop's clock */
};

/* What was asked, for answers to programs. */
typedef struct Asked {
    const char *line;
    size_t len;
    Json id; /* borrowed; JSON_NONE: none */
} Asked;

/* What a row says of an operation, for calls that came without one. */
typedef struct Duty {
    bool goes, moves;
} Duty;

/* ---- console_say.c ---- */

/* NULL for what is no text, or an empty one. Given. */
char *console_text_of(Json v);
void console_replace(char **slot, char *text); /* consumes text */

void console_put(Console *t, Buf *text); /* clears it */
/* word: whose usage helps; NULL: nobody's. */
void console_say_error(Console *t, const Asked *asked, const Word *word, const Error *err);
void console_say_answer(Console *t, const Asked *asked, const char *operation, Json args,
                        Json answer);
/* {"answer": OPERATION, fields...} */
void console_say_answer_json(Console *t, const Asked *asked, const char *operation, Json answer);

/* The answer without a word when there is none. Consumes args. */
Json console_ask(Console *t, const char *operation, Json args);
/* The line that a frame stands at, and the watches there. */
void console_add_around(Console *t, Json place, Buf *out);
void console_note_status(Console *t, Json status);
/* Says what has come. Looking closer may bring more. */
void console_flush(Console *t);

/* ---- console_wait.c ---- */

void console_leave(Console *t, ConsoleEnd end);
void console_drain(Console *t); /* what is due now */
/* Until one of these has come, and then what comes with it. */
void console_wait_until(Console *t, unsigned until);

/* Where a frame stands, unless an event has said it. */
void console_say_place(Console *t, Json answer);
/* After going back or elsewhere: the event comes when that is on record. */
void console_say_new_place(Console *t, Json answer);

/* ---- console_orders.c ---- */

void console_note_session(Console *t, Json answer);
/* Calls, shows, and waits for what comes of it. Consumes args. path: of `export`. */
void console_order(Console *t, const Asked *asked, const char *operation, Json args, Duty duty,
                   const char *path);
/* `frame` needs one: the selected. Consumes args. */
Json console_with_selected(Console *t, const char *operation, Json args);
/* What the prompt does itself. */
void console_act(Console *t, const Asked *asked, const Order *order);

/* ---- console_lines.c, console_tab.c ---- */

void console_do_line(Console *t, const char *line, size_t len);
Json console_complete(void *console, const char *line, size_t cursor); /* for PromptHost */

#endif
