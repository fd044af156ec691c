/* prompt.h - where the debugger's lines come from, and where its text goes.
 *
 * Lines come from scripts (-x FILE) if there are any, otherwise from standard input: edited, with history
 * and completion, when that and standard output are a terminal; as they are otherwise. While a line is
 * awaited the loop runs, so frames go on and events arrive; what is said meanwhile stands above the line
 * that is being typed, which is drawn again.
 *
 * How the line editor and the loop go together: libedit is called from the program's own flow and asks for
 * one character at a time; the function that it asks runs the loop until there is one. No callback of the
 * loop ever calls libedit, nothing waits in two places, and what Tab does may call a target, which may run
 * the loop itself.
 *
 * Signals are the prompt's too: Ctrl-C clears the line that is typed, and otherwise is counted for
 * prompt_interrupts(). SIGTERM and SIGHUP end the input.
 */
#ifndef PAWL_PROMPT_H
#define PAWL_PROMPT_H

#include "error.h"
#include "json.h"

#include <stdbool.h>
#include <uv.h>

enum {
    PROMPT_LINE_MAX = 1 << 20,    /* bytes of a line; a longer one is refused */
    PROMPT_SCRIPT_MAX = 16 << 20, /* bytes of a script */
    PROMPT_HISTORY = 1000,        /* lines that are remembered */
};

typedef struct Prompt Prompt;

typedef struct PromptHost {
    uv_loop_t *loop;
    /* After each turn of the loop while a line is awaited, outside of its callbacks. True: the line is
     * no longer wanted, prompt_line() gives up. */
    bool (*turned)(void *ctx);
    /* What could stand between *from, an offset into the line, and the cursor: texts, an array, given. */
    Json (*complete)(void *ctx, const char *line, size_t cursor, size_t *from);
    void *ctx;
    const char *const *scripts; /* paths, the last NULL; "-" is standard input. Borrowed */
    bool bare;                  /* never edit lines or echo scripts: programs talk to us */
} PromptHost;

/* NULL on error: a script cannot be read. */
Prompt *prompt_new(const PromptHost *host, Error *err);
/* Lets go of the terminal and remembers the lines. The loop runs once more. Accepts NULL. */
void prompt_free(Prompt *p);

bool prompt_edits(const Prompt *p); /* a person is at a terminal */

/* The next line, without its end; given, with *len. NULL at the end of the input, when a signal ended it,
 * and when turned() said so. */
char *prompt_line(Prompt *p, size_t *len);

/* How many commands were given that nobody has taken: in scripts, and in what of standard input was read. Comments and
 * empty lines are none. */
size_t prompt_left(const Prompt *p);

/* Asks, and waits for yes or no; Ctrl-C is no. Where nobody can be asked the answer is yes. */
bool prompt_confirm(Prompt *p, const char *question);

/* Writes text to standard output, at once and whole lines; above the line that is being typed. */
void prompt_write(Prompt *p, const char *text, size_t len);

/* How often Ctrl-C came since the last time this was asked. */
int prompt_interrupts(Prompt *p);
bool prompt_is_over(const Prompt *p); /* a signal told us to end, or nobody reads what we say */

#endif
