/* debug_talk_inside.h - a talk, for the files that it is made of:
 *
 *     debug_talk.c         its life, and the whole of it from the first look around to its end
 *     debug_talk_lines.c   a line that was typed: a command, a call of a program, a repetition
 *     debug_talk_orders.c  what is ordered of the session, and what the prompt does itself
 *     debug_talk_wait.c    until something stops; where frames stand then
 *     debug_talk_say.c     answers, errors and events, for people or for programs
 *     debug_talk_tab.c     what Tab offers
 */
#ifndef PAWL_DEBUG_TALK_INSIDE_H
#define PAWL_DEBUG_TALK_INSIDE_H

#include "debug_show.h"
#include "debug_talk.h"
#include "debug_words.h"
#include "fields.h"

/* What has come since the last command that let frames go. */
enum {
    CAME_PAUSE = 1,   /* a frame stopped */
    CAME_STOP = 2,    /* none goes on by itself */
    CAME_WAIT = 4,    /* one waits for a person */
    CAME_SETTLED = 8, /* the run has ended */
    CAME_OVER = 16,   /* the session has, or its door has closed */
    CAME_REPLAY = 32, /* one node has run again */
    CAME_ANY = 31,    /* all but that: it is no matter of this run */
};

struct Talk {
    TalkHost host;
    Prompt *prompt;
    Door *door;
    Show show;

    Json events; /* that nobody has looked at yet */
    unsigned came;
    bool gone, ending;
    TalkEnd end;
    TalkEnd over; /* how the session ended, as it said itself; TALK_QUIT: it has not */
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

/* ---- debug_talk_say.c ---- */

/* NULL for what is no text, or an empty one. Given. */
char *talk_text_of(Json v);
void talk_replace(char **slot, char *text); /* consumes text */

void talk_put(Talk *t, Buf *text); /* clears it */
/* word: whose usage helps; NULL: nobody's. */
void talk_say_error(Talk *t, const Asked *asked, const Word *word, const Error *err);
void talk_say_answer(Talk *t, const Asked *asked, const char *operation, Json args, Json answer);
/* {"answer": OPERATION, fields...} */
void talk_say_answer_json(Talk *t, const Asked *asked, const char *operation, Json answer);

/* The answer without a word when there is none. Consumes args. */
Json talk_ask(Talk *t, const char *operation, Json args);
/* The line that a frame stands at, and the watches there. */
void talk_add_around(Talk *t, Json place, Buf *out);
void talk_note_status(Talk *t, Json status);
/* Says what has come. Looking closer may bring more. */
void talk_flush(Talk *t);

/* ---- debug_talk_wait.c ---- */

void talk_leave(Talk *t, TalkEnd end);
void talk_drain(Talk *t); /* what is due now */
/* Until one of these has come, and then what comes with it. */
void talk_wait_until(Talk *t, unsigned until);

/* Where a frame stands, unless an event has said it. */
void talk_say_place(Talk *t, Json answer);
/* After going back or elsewhere: the event comes when that is on record. */
void talk_say_new_place(Talk *t, Json answer);

/* ---- debug_talk_orders.c ---- */

void talk_note_session(Talk *t, Json answer);
/* Calls, shows, and waits for what comes of it. Consumes args. path: of `export`. */
void talk_order(Talk *t, const Asked *asked, const char *operation, Json args, Duty duty,
                const char *path);
/* `frame` needs one: the selected. Consumes args. */
Json talk_with_selected(Talk *t, const char *operation, Json args);
/* What the prompt does itself. */
void talk_act(Talk *t, const Asked *asked, const Order *order);

/* ---- debug_talk_lines.c, debug_talk_tab.c ---- */

void talk_do_line(Talk *t, const char *line, size_t len);
Json talk_complete(void *talk, const char *line, size_t cursor); /* for PromptHost */

#endif
