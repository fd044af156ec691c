/* lib_inside.h - what the files of the library share: the structs behind pawl.h.
 *
 * Reading order: lib_value.c (values), lib_graph.c (a graph becomes the text of a definition),
 * lib_flow.c (a definition becomes a flow with functions), lib_call.c (a function is called as a
 * node; tokens), lib_engine.c (loops), lib_run.c (runs), lib_thread.c (what is kept), lib_debug.c
 * (debuggers), lib_operation.c (any operation by its name), lib_peek.c.
 *
 * A graph built here is an ordinary definition with nodes `callback: NAME`, so that a run of it is
 * stored, resumed, forked and drawn like any other; what is not in the text, the functions, is
 * bound to the loaded flow: a table of bindings, and for each node that calls one a slot that
 * points into it.
 *
 * A PawlEngine is a host with a loop. A PawlRun is ours, a HostRun the host's, a Run the engine's; each is
 * found from the others.
 */
#ifndef PAWL_LIB_INSIDE_H
#define PAWL_LIB_INSIDE_H

#include "pawl.h"
#include "subscription.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <uv.h>

/* ---- values ---- */

_Static_assert(sizeof(PawlValue) == sizeof(Json), "a PawlValue is a Json under another name");
_Static_assert(_Alignof(PawlValue) == _Alignof(Json), "a PawlValue lies where a Json does");

static inline Json json_of(PawlValue v) {
    Json j;
    memcpy(&j, &v, sizeof j);
    return j;
}

static inline PawlValue value_of(Json j) {
    PawlValue v;
    memcpy(&v, &j, sizeof v);
    return v;
}

/* ---- errors (pawl.c) ---- */

/* Copies it, when there is somewhere to; true when there is no error. */
bool lib_give_error(PawlError *to, const Error *from);
void lib_no_error(PawlError *to);

/* ---- flows ---- */

/* A function and the nodes that call it: those of a file, or of all when file is NULL. */
typedef struct Binding {
    char *file, *name; /* name: as the node has it */
    PawlNodeFn now;    /* one of the three */
    PawlLaterFn later;
    PawlRouterFn route;
    PawlCancelFn on_cancel;
    void *ctx;
} Binding;

typedef struct Bindings {
    Binding **items;
    size_t n, cap;
} Bindings;

/* Adds a copy, with text of its own. */
const Binding *bindings_add(Bindings *b, const Binding *binding);
void bindings_clear(Bindings *b);

struct PawlFlow {
    int refs;
    Flow *flow;
    Bindings bindings;
    const Binding ***slots; /* by id of the graph, then index of the node; NULL where none calls */
};

/* The flow of files (an object of texts by path; borrowed) whose main one is `path`. Takes over the
 * bindings, also on error. */
PawlFlow *flow_build(const char *path, Json files, Bindings *bindings, PawlError *err);
PawlFlow *flow_of_definition(Json definition, PawlError *err);
PawlFlow *flow_hold(PawlFlow *flow); /* accepts NULL */
/* The function of a node; NULL: none is bound. */
const Binding *flow_binding(const PawlFlow *flow, const Node *node);
/* A node whose function is not bound; NULL: there is none. */
const Node *flow_unbound(const PawlFlow *flow);

/* The key of the state that says which way routers went, and what the names of their nodes end with. */
#define ROUTE_KEY    "__route__"
#define ROUTE_SUFFIX ".route"

/* ---- the mailbox: from other threads to the engine's ---- */

typedef struct Letter Letter;

/* Held by the engine and by each token; the last one frees it. */
typedef struct Mailbox {
    pthread_mutex_t mutex;
    pthread_t home;    /* the engine's thread */
    int refs;          /* from here on under the mutex */
    uv_async_t *async; /* NULL: the engine has gone */
    Letter *first, *last;
} Mailbox;

Mailbox *mailbox_new(uv_loop_t *loop, PawlEngine *engine, Error *err);
void mailbox_close(Mailbox *box); /* the engine's part; what is in it is dropped */
void mailbox_ring(Mailbox *box);  /* mailbox_read() is called soon */
void mailbox_read(Mailbox *box);  /* ends the steps of tokens that were finished */

/* ---- engines and runs ---- */

struct PawlRun {
    PawlEngine *engine;
    PawlRun **list; /* that it is in */
    PawlRun *prev, *next;
    HostRun *held; /* the host's, which has us as its keeper */
    Run *run;
    PawlFlow *flow; /* NULL: it calls no functions */
    void *data;
    PawlDebug *debug; /* that is attached; NULL: none is */
    Json store_error; /* as pawl_run_error() shows it */
    bool freed;       /* by its owner: goes when it has settled */
    bool wants_cancel, wants_stop;
    size_t wish; /* its place among the engine's wishes, from 1; 0: none */
};

struct PawlEngine {
    PawlEngineOptions options;
    uv_loop_t *loop;
    bool owns_loop;
    uv_timer_t *alarm; /* ends a turn that waits */
    Host *host;
    Engine *engine; /* the host's */
    bool has_store;
    const NodeWork *work[KIND_COUNT]; /* that of exec/ and ours */
    char **environment;               /* the program's, as it was when the engine was opened */
    Mailbox *box;
    size_t tokens;      /* under way, and wishes */
    PawlRun *under_way; /* lists of runs: those that have not settled, as far as was told */
    PawlRun *kept;      /* settled; their owners have them */
    PawlRun *leaving;   /* settled, and nobody has them any more */
    size_t calls;       /* operations that are to be answered */
    int inside;         /* functions of the program that are under way */
    int listening;      /* of these, the ones that are told of events: no step is under way there */
    PawlDebug *debuggers;
    PawlRun **wishes; /* runs that somebody wants cancelled or stopped; NULL: it has gone */
    size_t nwishes, wishes_cap;
    Error store_error; /* of the first run that the store has ended */
};

PawlRun *engine_find_run(const Run *run); /* NULL: none of ours */
PawlRun *engine_add_run(PawlEngine *e, HostRun *held, PawlFlow *flow, void *data);
void engine_let_go(PawlRun *run);  /* its owner has no use for it: goes when it has settled */
void engine_goes_on(PawlRun *run); /* it had settled, and may not have any more */
void engine_left_by_debugger(PawlRun *run); /* which has kept it in memory so far */
void engine_sweep(PawlEngine *e);           /* frees the runs that nobody has any more */
void engine_wish(PawlRun *run);             /* wants_cancel or wants_stop are set */
void engine_grant_wishes(PawlEngine *e);
void engine_count_token(PawlEngine *e, bool more);
bool engine_has_store(const PawlEngine *e, PawlError *err);

/* What is to be set in a state as the engine takes it: an array of [path, value]. Consumes set;
 * *error is set when it is none. */
Json changes_of(Json set, Error *error);

/* What is at a key of an answer, given. Consumes the answer, which may be JSON_NONE. */
Json answer_part(Json answer, const char *key);

/* The flow that a thread goes on with, held for the caller: r->flow when it is the one that the thread
 * was started with, the stored one when there is none. NULL with *error set; without, when the store
 * cannot say. */
PawlFlow *flow_to_resume(PawlEngine *e, const PawlResume *r, Error *error);

/* ---- debuggers (lib_debug.c) ---- */

bool debug_has_events(const PawlEngine *e); /* that have not been told */
/* A debugger is attached, and nothing in the run goes on by itself. */
bool debug_rests(const PawlRun *run);
/* No step of a run is under way; a sentence where one is, in the function of a node. */
bool debug_is_between_steps(const PawlEngine *e, Error *error);
void debug_let_go(PawlDebug *debug); /* of its run; the debugger stays its owner's */
/* The run of ours that a debugger replays a node of, in a run that is the session's own; NULL: none. */
PawlRun *debug_replayed(const PawlEngine *e, const Run *run);

extern const NodeWork lib_call_now, lib_call_later; /* callback, callback_later */

/* ---- lib_peek.c: what the engine knows and does not say yet ---- */

Host *peek_host(const Step *step);
Run *peek_run(const Step *step);
int peek_attempt(const Step *step);
/* All that happened has been told, and it is not about to end. */
bool peek_is_quiet(const Run *run);

#endif
