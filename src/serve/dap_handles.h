/* dap_handles.h - numbers that stand for what a client may look into: levels of a stack, scopes, values.
 *
 *     int64_t id = handles_add(&handles, (Handle){.kind = HANDLE_PATH, .thread = 2, .path = path});
 *     const Handle *h = handles_find(&handles, id);      NULL: it was never given, or is not good any more
 *     handles_drop(&handles, 2);                         the frame goes on: what is about it goes
 *
 * A number is given once in a conversation, so one that has gone is never taken for another. Whatever is
 * looked into is read when it is asked for: a handle says where, and only values that somebody computed
 * are kept in it. handles_drop() of all costs what there are; there are HANDLES_MAX at most, then the oldest go.
 */
#ifndef PAWL_DAP_HANDLES_H
#define PAWL_DAP_HANDLES_H

#include "json.h"

enum {
    HANDLES_MAX = 200000, /* numbers of one conversation that are good at the same time */
    HANDLES_ALL = 0,      /* threads have numbers from 1 on */
};

typedef enum HandleKind {
    HANDLE_NONE,    /* it has gone */
    HANDLE_LEVEL,   /* a stack frame; depth 0: the run itself */
    HANDLE_PATH,    /* what the level sees, at a path */
    HANDLE_VALUE,   /* a value in hand */
    HANDLE_WRITTEN, /* the node's config as it is written, at a path */
    HANDLE_LAZY,    /* a scope whose content is asked for when it is looked into: `what` */
    HANDLE_PLACE,   /* where something was written (`locations`) */
} HandleKind;

typedef struct Handle {
    HandleKind kind;
    int64_t thread; /* of the client's; it goes with that. 0: it stays */
    int64_t frame,
        depth; /* whose level it is: of the thread's frame, or of one around it; depth 0: the innermost */
    int64_t checkpoint; /* as it was there; 0: now */
    bool top;           /* the innermost level of the thread: what it sees can be changed */
    bool array;         /* of a container: its children have numbers */
    size_t from, to;    /* only these children; to 0: all */
    int what;           /* HANDLE_LAZY: which, in dap_variables.c */
    Json path;          /* of HANDLE_PATH, HANDLE_WRITTEN: an array of steps */
    Json value;         /* of HANDLE_VALUE, HANDLE_LAZY */
    Json expression;    /* of HANDLE_VALUE: how it can be evaluated, a text; JSON_NONE: it cannot */
} Handle;

/* A handle with references of its own. */
Handle handle_copy(const Handle *handle);
void handle_clear(Handle *handle);

/* Zero is a good start. */
typedef struct Handles {
    Handle *items;
    size_t n, cap;
    int64_t first; /* the number of items[0] is first + 1 */
} Handles;

/* Takes the values of the handle. */
int64_t handles_add(Handles *h, Handle handle);
/* Lent until the next call. */
const Handle *handles_find(const Handles *h, int64_t id);
/* Paths of one begin at it: [] from now on. */
void handles_begin(Handles *h, int64_t id);
/* Those of a thread, or with HANDLES_ALL of every thread. */
void handles_drop(Handles *h, int64_t thread);
void handles_clear(Handles *h);

#endif
