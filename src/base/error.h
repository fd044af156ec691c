/* error.h - what went wrong, as a finished sentence.
 *
 * An Error is a plain value that the caller owns, usually on its stack. It holds no memory of its
 * own, so there is nothing to release. A function that can fail because of the world or the user
 * returns bool or a pointer and takes a last argument `Error *err`, which may be NULL. The error is
 * set once, where the cause is known; callers add context on the way up with error_wrap().
 *
 * An error is a code for programs, a sentence for people, and facts: what the sentence speaks of, by name.
 *
 * Bugs are asserts and lack of memory aborts (mem.h); neither is an Error.
 */
#ifndef PAWL_ERROR_H
#define PAWL_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum ErrorCode {
    ERR_NONE = 0,
    ERR_SYNTAX,    /* text that does not parse; line and col say where */
    ERR_DATA,      /* data of the wrong shape or damaged */
    ERR_LIMIT,     /* a budget or a limit was exceeded */
    ERR_CANCELLED, /* somebody asked for the work to stop */
    ERR_IO,        /* the operating system refused */
    ERR_USAGE,     /* the caller's words are off */
    ERR_BUSY,      /* somebody else has it: facts `thread`, `holder` */
    ERR_RAISED,    /* an expression raised an error of its own */
    ERR_NOT_FOUND, /* there is no such thing: facts `thread`, `checkpoint` or `store` say which */
    ERR_EXISTS,    /* there is one of that name already: fact `thread` */
    ERR_ENDED,     /* the run has nothing left to do: facts `thread`, `status` */
    ERR_ANSWER,    /* the run waits for an answer that was not given: facts `thread`, `interrupt` */
    ERR_SECRET,    /* a secret is missing, or cannot be had: fact `secret` */
    ERR_WRONG_STATE, /* a run or a frame is not in a state for that: facts `thread`, `frame` */
    ERR_NOT_HELD,    /* this process does not have the run; another one may: fact `thread` */
    ERR_FORBIDDEN,   /* whoever runs workflows does not let them do that (bounds.h) */
    ERR_CODES,
} ErrorCode;

enum { ERROR_MSG_MAX = 512, ERROR_FACTS_MAX = 400 };

typedef struct Error {
    ErrorCode code;
    int line; /* 1-based; 0 when there is no place */
    int col;  /* 1-based, in characters */
    char msg[ERROR_MSG_MAX];
    char facts[ERROR_FACTS_MAX]; /* members of a JSON object: "thread":"t","pid":17 */
} Error;

#define ERROR_INIT \
    { ERR_NONE, 0, 0, {0}, {0}, }

/* The same for an Error in a hot path: does not write the whole message. */
static inline void error_clear(Error *err) {
    err->code = ERR_NONE;
    err->line = err->col = 0;
    err->msg[0] = '\0';
    err->facts[0] = '\0';
}

/* Sets *err (if err is not NULL) and returns false, so that `return error_set(...)` reads well.
 * A message that is too long is cut at a character boundary and ends in "...". */
bool error_set(Error *err, ErrorCode code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool error_set_at(Error *err, ErrorCode code, int line, int col, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
bool error_vset_at(Error *err, ErrorCode code, int line, int col, const char *fmt, va_list args)
    __attribute__((format(printf, 5, 0)));

/* Puts "context: " before the message that is already there. */
void error_wrap(Error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What the sentence speaks of, for programs and for those who know a way out: the name of the thread, the
 * process that has it. A way out (a command, a route) is never in the sentence below client/: the door
 * that the error leaves by adds it, from the code and these. The text of a fact is UTF-8; one that does not
 * fit is left out. NULL is accepted for err and for the text. Both return false, as error_set() does. */
bool error_fact(Error *err, const char *key, const char *text);
/* The fact `field` says a part of that: "node" becomes "breakpoints[0].node"; where there is none, it is that itself. */
bool error_field_inside(Error *err, const char *around);
bool error_fact_int(Error *err, const char *key, int64_t number);
bool error_fact_true(Error *err, const char *key);
/* What the system said was that there is no room (`error` as errno has it): fact `full`, true. Nothing otherwise. */
bool error_fact_full(Error *err, int error);

/* A short name for the code ("syntax", "limit", ...), for --json and logs, and back: ERR_NONE for a name
 * that is none. */
const char *error_code_name(ErrorCode code);

/* Whether what was asked for is at fault, and not the world: asking again changes nothing. */
bool error_is_askers(ErrorCode code);
ErrorCode error_code_find(const char *name);

#endif
