/* console.h - the conversation at the debugger's prompt: lines in, orders to a target, answers and events
 * out.
 *
 *     Console *console = console_new(&host, &err);
 *     console_open(console, target);               the session; its events go to console_event()
 *     ConsoleEnd end = console_go(console, begin);  until somebody has had enough
 *     console_free(console);
 *
 * It feels as if the run stood still while somebody types: a command that lets frames go is over when one of
 * them stops, or waits for a person, or the run ends. What happens meanwhile is said at once; frames that are
 * still on their way when the first one stops get a moment (CONSOLE_GRACE_MS) to stop too, so that the same
 * script says the same thing every time. Ctrl-C stops all frames; a second one soon after leaves.
 *
 * A session may have other windows (attach.h). What comes of what is typed there is said here too, above
 * the line that is being typed; a command that waits is over when a frame stops, whoever stopped it; and
 * when somebody detaches there, it is over here as well.
 *
 * Events are only noted when they come, and looked at between turns of the loop.
 *
 * With `json` one object a line goes out: the events as they are, {"answer": OPERATION, ...} and {"error":
 * sentence, "code", "command"}; a line that comes in may be {"call": OPERATION, "args": {...}} too, with
 * "request_id" to find in the answer and "wait": false so as not to wait for what comes of it.
 */
#ifndef PAWL_CONSOLE_H
#define PAWL_CONSOLE_H

#include "prompt.h"

enum {
    CONSOLE_GRACE_MS = 1000,       /* of a script */
    CONSOLE_PERSON_GRACE_MS = 100, /* of a person, who can type on */
    CONSOLE_TWICE_MS = 2000,       /* two Ctrl-C within this time leave */
    CONSOLE_COMPANY = 4,           /* frames that stopped with another, named one by one */
};

typedef struct Console Console;

/* The debug session that a console talks to, wherever it is: whoever opens the console makes it. A call takes
 * the operations of a session and their arguments, and may run the loop: it is made from the program's own
 * flow, never from a callback. What happens meanwhile is told by console_event(). */
typedef struct Target {
    Json (*call)(void *self, const char *operation, Json args, Error *err); /* NULL: closed */
    void (*close)(void *self); /* the session stays with its run */
    void *self;
    bool remote; /* another process has the run */
} Target;

/* The answer, given; JSON_NONE on error. args may be JSON_NONE, and are consumed. */
Json target_call(Target *target, const char *operation, Json args, Error *err);
void target_close(Target *target); /* accepts one that is closed */

typedef struct ConsoleHost {
    uv_loop_t *loop;
    const char *const *scripts; /* as in PromptHost */
    bool json;
    /* `run`: begins a new run in place of one that has ended, and hands its target to console_open(). False with
     * a sentence. */
    bool (*restart)(void *ctx, Error *err);
    void *ctx;
} ConsoleHost;

typedef enum ConsoleBegin {
    CONSOLE_WAITS, /* the run has just begun: wait until it stops */
    CONSOLE_LOOKS, /* it stands somewhere: say where */
    CONSOLE_MOVED, /* it was just moved there */
} ConsoleBegin;

typedef enum ConsoleEnd {
    CONSOLE_QUIT,     /* or the end of the input */
    CONSOLE_DETACHED, /* the run is to go on, as somebody said here or elsewhere */
    CONSOLE_EXPIRED,  /* the session is over: frames are left paused, or go on */
    CONSOLE_GONE,     /* the process that has the run has gone */
} ConsoleEnd;

Console *console_new(const ConsoleHost *host, Error *err);
void console_free(Console *console); /* the loop runs once more; accepts NULL */

/* The target is borrowed, and is that of the console until another one is opened. */
void console_open(Console *console, Target *target);

void console_event(void *console, Json event); /* consumes it; for SessionOptions and TargetHost */
void console_closed(void *console);

ConsoleEnd console_go(Console *console, ConsoleBegin begin);

/* A sentence of the program's own, for people; nothing with `json`. */
void console_notice(Console *console, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A breakpoint as `break` takes it, for the operation: LINE alone is one of the main file. Given; NULL with a
 * sentence. */
char *console_break_spec(const char *file, const char *text, size_t len, Error *err);
/* One operation of the program's own; false after saying what is wrong. Consumes args. */
bool console_call(Console *console, const char *operation, Json args, bool shown);

/* How many commands that were given were not done, since the session was over before them; after console_go(). */
size_t console_left(const Console *console);
/* How the run settled, as `settled` said last; "" when it has not. */
const char *console_status(const Console *console);
int console_interrupts(Console *console);     /* as prompt_interrupts() */
bool console_is_over(const Console *console); /* as prompt_is_over() */

#endif
