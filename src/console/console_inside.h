/* console_inside.h - a console, for the files that it is made of:
 *
 *     console.c         its life; waiting until something stops; lines, and what is ordered of the session
 *     console_events.c  answers, errors and events, for people or for programs
 *     commands.h        what can be typed
 */
#ifndef PAWL_CONSOLE_INSIDE_H
#define PAWL_CONSOLE_INSIDE_H

#include "commands.h"
#include "json_build.h"

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
    bool colour;

    Json events; /* that nobody has looked at yet */
    unsigned came;
    bool stands; /* we were told that nothing goes on by itself, and have let nothing go since */
    size_t left; /* commands that were given and not done, since the session was over before them */
    bool gone, ending;
    ConsoleEnd end;
    ConsoleEnd over; /* how the session ended, as it said itself; CONSOLE_QUIT: it has not */
    char status[24];

    bool pause_all;  /* when one frame stops, all do */
    char *file;      /* the workflow's main file; NULL: not known */
    char *list_file; /* where `list` goes on; NULL: at the current line */
    int64_t list_line;
    int64_t chosen; /* the frame that this command selects; 0: none */
    int64_t shown;  /* the frame whose line was shown since the last command; 0: none */
    char *again;    /* the line that an empty one repeats; NULL: none */

    uv_timer_t grace;
    bool grace_over, closed;
    uint64_t interrupted; /* when Ctrl-C came last, on the loop's clock */
};

/* ---- console.c ---- */

void console_set(char **slot, char *text); /* replaces a text; consumes it */
/* The answer; JSON_NONE without a word when there is none. Consumes args. */
Json console_ask(Console *c, const char *operation, Json args);

/* What the prompt does itself. */
void console_do_help(Console *c, const Order *order);
void console_do_quit(Console *c, const Order *order);
void console_do_wait(Console *c, const Order *order);
void console_do_run(Console *c, const Order *order);
void console_do_load(Console *c, const Order *order);

/* ---- console_events.c ---- */

void console_put(Console *c, Buf *text); /* clears it */
View console_view(const Console *c, Buf *out);
/* usage: that of the command helps. */
void console_put_error(Console *c, const Order *order, bool usage, const Error *err);
/* {"answer": OPERATION, fields...} for programs, its view for people. */
void console_put_answer(Console *c, const Order *order, Json answer);

/* The line that a frame stands at, and the watches there. */
void console_view_around(Console *c, View *v, Json place);
void console_note_status(Console *c, Json status);
/* Shows what has come. Looking closer may bring more. */
void console_flush(Console *c);

#endif
