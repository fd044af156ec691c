/* debug_talk.h - the conversation at the debugger's prompt: lines in, orders to a door, answers and events
 * out.
 *
 *     Talk *talk = talk_new(&host, &err);
 *     talk_open(talk, door);               the session; its events go to talk_event()
 *     TalkEnd end = talk_go(talk, begin);  until somebody has had enough
 *     talk_free(talk);
 *
 * It feels as if the run stood still while somebody types: a command that lets frames go is over when one of
 * them stops, or waits for a person, or the run ends. What happens meanwhile is said at once; frames that are
 * still on their way when the first one stops get a moment (TALK_GRACE_MS) to stop too, so that the same
 * script says the same thing every time. Ctrl-C stops all frames; a second one soon after leaves.
 *
 * A session may have other windows (attach.h). What comes of what is typed there is said here too, above
 * the line that is being typed; a command that waits is over when a frame stops, whoever stopped it; and
 * when somebody detaches there, it is over here as well.
 *
 * Events are only noted when they come, and looked at between turns of the loop (debug_door.h says why).
 *
 * With `json` one object a line goes out: the events as they are, {"answer": OPERATION, ...} and {"error":
 * sentence, "code", "command"}; a line that comes in may be {"call": OPERATION, "args": {...}} too, with
 * "request_id" to find in the answer and "wait": false so as not to wait for what comes of it.
 */
#ifndef PAWL_DEBUG_TALK_H
#define PAWL_DEBUG_TALK_H

#include "debug_door.h"
#include "debug_prompt.h"

enum {
    TALK_GRACE_MS = 1000,       /* of a script */
    TALK_PERSON_GRACE_MS = 100, /* of a person, who can type on */
    TALK_TWICE_MS = 2000,       /* two Ctrl-C within this time leave */
    TALK_COMPANY = 4,           /* frames that stopped with another, named one by one */
};

typedef struct Talk Talk;

typedef struct TalkHost {
    uv_loop_t *loop;
    const char *const *scripts; /* as in PromptHost */
    bool json;
    /* `run`: begins a new run in place of one that has ended, and hands its door to talk_open(). False with
     * a sentence. */
    bool (*restart)(void *ctx, Error *err);
    void *ctx;
} TalkHost;

typedef enum TalkBegin {
    TALK_WAITS, /* the run has just begun: wait until it stops */
    TALK_LOOKS, /* it stands somewhere: say where */
    TALK_MOVED, /* it was just moved there */
} TalkBegin;

typedef enum TalkEnd {
    TALK_QUIT,     /* or the end of the input */
    TALK_DETACHED, /* the run is to go on, as somebody said here or elsewhere */
    TALK_EXPIRED,  /* the session is over: frames are left paused, or go on */
    TALK_GONE,     /* the process that has the run has gone */
} TalkEnd;

Talk *talk_new(const TalkHost *host, Error *err);
void talk_free(Talk *talk); /* the loop runs once more; accepts NULL */

/* The door is borrowed, and is that of the talk until another one is opened. */
void talk_open(Talk *talk, Door *door);

void talk_event(void *talk, Json event); /* consumes it; for SessionOptions and DoorHost */
void talk_closed(void *talk);

TalkEnd talk_go(Talk *talk, TalkBegin begin);

/* A sentence of the program's own, for people; nothing with `json`. */
void talk_say(Talk *talk, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One operation of the program's own; false after saying what is wrong. Consumes args. */
bool talk_call(Talk *talk, const char *operation, Json args, bool shown);

/* How the run settled, as `settled` said last; "" when it has not. */
const char *talk_status(const Talk *talk);
int talk_interrupts(Talk *talk);     /* as prompt_interrupts() */
bool talk_is_over(const Talk *talk); /* as prompt_is_over() */

#endif
