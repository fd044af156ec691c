/* dap_inside.h - a conversation with an editor, for the files that it is made of (dap.h lists them).
 *
 * Where it stands. `phase` only grows, but for `restart`:
 *
 *     DAP_NEW        nothing but `initialize` is understood
 *     DAP_GREETED    what the client can is known; it may launch or attach, and say its breakpoints before that
 *     DAP_OPEN       there is a run, and its session; nothing runs: the client says its breakpoints
 *     DAP_GOING      `configurationDone`: the run goes, and what happens is told
 *     DAP_OVER       the run has ended, or is not debugged any more: `terminated` was told
 *
 * A request is a DapCall from when it came until it was answered. Its function does something and answers, or asks the
 * run (dap_ask()) and goes on in `then`; exactly one of dap_answer() and dap_fail() ends it. One that is cancelled, or
 * whose client has gone, is answered or forgotten by others: `then` is not called any more, and what was asked goes to
 * nobody.
 *
 * What the session tells (on_session_event()) is noted while a request is being done, and looked at when none is: so a
 * response is always out before what comes of it.
 */
#ifndef PAWL_DAP_INSIDE_H
#define PAWL_DAP_INSIDE_H

#include "dap.h"
#include "dap_handles.h"
#include "dap_sources.h"
#include "dap_wire.h"
#include "json_build.h"
#include "json_path.h"
#include "json_print.h"

typedef struct Dap Dap;
typedef struct DapCall DapCall;

enum {
    DAP_WAITING_MAX = 10000, /* requests of one client that wait for their turn */
    DAP_EVENTS_HIGH =
        1 << 20,           /* bytes that wait to be written: events are not taken until they are */
    DAP_TOLD_MAX = 4096,   /* events that wait to be looked at: more are not taken until they are */
    DAP_PREVIEW = 1000,    /* characters of a value in a list */
    DAP_CHUNK = 100,       /* children of a large container that are shown at a time */
    DAP_PAGE_MAX = 10000,  /* children in one answer, whatever the client asks for */
    DAP_LEAVE_MS = 3000,   /* that a run has to stop, when its client has gone */
    DAP_PROGRESS_MS = 500, /* a request that takes longer is shown as progress */
};

typedef enum DapPhase { DAP_NEW, DAP_GREETED, DAP_OPEN, DAP_GOING, DAP_OVER } DapPhase;

/* ---- requests ---- */

enum {
    REQUEST_AT_ONCE = 1, /* it does not wait for the requests before it */
    REQUEST_DEEP = 2,    /* a null anywhere in its arguments is as good as nothing */
    REQUEST_RUN = 4,     /* there has to be a run */
    REQUEST_GOING = 8,   /* and it has to be under way: configurationDone was sent */
    REQUEST_ENDED = 16,  /* it is understood when the run has ended as well */
};

typedef struct DapRequest {
    const char *name;
    const char *
        arguments; /* their shape (json_shape.h), which has `...`: clients send more than they must */
    void (*act)(DapCall *call);
    unsigned flags;
    const char *capability; /* that `initialize` says for it; NULL: none */
} DapRequest;

extern const DapRequest dap_requests[]; /* the last has no name */

struct DapCall {
    Dap *dap; /* NULL: the client has gone */
    DapCall *next;
    int64_t seq;
    const DapRequest *row;
    char *command;                            /* as the client said it */
    Json args;                                /* an object of the row's shape */
    bool over;                                /* it was answered */
    bool asking;                              /* somebody is to answer us: `then` */
    bool tries;                               /* also of an error */
    void (*then)(DapCall *call, Json answer); /* consumes it */
    Error err;                                /* of what was tried; ERR_NONE otherwise */
    /* for its function, between two answers */
    Json kept, list;
    size_t at;
    int64_t number;
    void (*done)(DapCall *call);
};

/* ---- breakpoints ---- */

typedef enum BreakKind {
    DAP_SOURCE,
    DAP_FUNCTION,
    DAP_DATA,
    DAP_EXCEPTION,
    DAP_BREAK_KINDS
} BreakKind;

/* One that the client has set. */
typedef struct DapBreak {
    int64_t id;      /* that the client knows */
    int64_t session; /* of the run's session; 0: it is not set there */
    BreakKind kind;
    Json place; /* of a source: what names it, as the client said; null */
    Json asked; /* as the client said it */
    Json shown; /* Breakpoint, without its id; JSON_NONE: nothing is known of it yet */
} DapBreak;

/* ---- frames ---- */

/* A thread as the client knows it. */
typedef struct DapThread {
    int64_t id; /* of the frame */
    Json name;
    bool paused;
    bool ours; /* the next `resumed` is what a request of this client let go */
} DapThread;

/* ---- a conversation ---- */

/* What a client can, and how it counts. */
typedef struct DapClient {
    bool lines_at_0, columns_at_0, uris;
    bool types, paging, invalidated, progress;
    Json name; /* a text; JSON_NONE: it has not said */
} DapClient;

typedef struct DapServer DapServer;

struct Dap {
    DapServer *server;
    Dap *next;
    Wire *wire; /* NULL: the client has gone */
    int64_t seq;
    DapPhase phase;
    DapClient client;

    DapCall *current; /* the request that is being done; NULL: none */
    DapCall *waiting; /* that follow it, in order */
    size_t nwaiting;
    DapCall *apart; /* those that did not wait for their turn, and are not answered yet */
    bool pumping;

    /* ---- the run ---- */
    Client *place; /* where it is; NULL: there is none */
    char *thread;  /* its name; NULL */
    Json config;   /* what launch or attach was asked with */
    bool launched; /* by us; otherwise it was there */
    bool no_debug, non_stop, stop_on_entry;
    bool post_mortem; /* it had ended when we came */
    bool begins;      /* it stands at its start, before the client has seen it */
    Json workflow;    /* its name */
    ClientEvents *events;
    Json told;   /* events that nobody has looked at yet */
    bool held;   /* events are not taken, since the client does not read */
    bool closed; /* whoever has the run will tell nothing more */
    Sources *sources;
    int64_t settled_code; /* -1: it has not settled */

    /* ---- what the client knows of it ---- */
    DapThread *threads; /* in order of their numbers */
    size_t nthreads, threads_cap;
    bool stopped;  /* of all threads, unless non_stop */
    bool moving;   /* a request has put the run elsewhere, and where it stands is not told yet */
    bool asks;     /* that is because a person was asked */
    bool failed;   /* with post_mortem: the run has failed */
    int64_t focus; /* the thread that was told of last */
    const char *stop_reason; /* of the next stop, instead of the session's word; NULL: that */
    Json wanted_node;        /* of stepIn with a target: the branch that is told of */
    Json targets;            /* names that stepInTargets has given last: an array */
    Handles handles;
    DapBreak *breaks;
    size_t nbreaks, breaks_cap;
    int64_t last_break;

    /* ---- the end ---- */
    bool restarting;      /* `restart`: the new run goes at once */
    bool parting;         /* `disconnect` is being done: nothing is told any more but output */
    bool leaving;         /* the client has gone: the run is being left */
    bool lets_go;         /* and goes on, to its end or until it is cancelled, in this process */
    uv_timer_t *patience; /* while a run is left */
    uv_timer_t *slow;     /* until a request is shown as progress */
    int64_t progress;     /* the request that is; 0: none */
};

struct DapServer {
    DapOptions options;
    char *folder;
    Dap *conversations;
    size_t count;
    uv_tcp_t *listener; /* NULL: it does not listen */
    bool ending;
    void (*done)(void *ctx);
    void *done_ctx;
};

/* ---- dap_requests.c ---- */

/* A message of the client; consumes it. */
void dap_message(Dap *dap, Json message);
/* One that was none, so that nobody can be answered: the sentence is told as output. */
void dap_refuse(Dap *dap, const Error *err);
/* Does what waits: events, then requests. */
void dap_pump(Dap *dap);
/* Forgets all requests: the client has gone. */
void dap_forget_calls(Dap *dap);

/* A response; consumes the body (JSON_NONE: none). */
void dap_answer(DapCall *call, Json body);
void dap_fail(DapCall *call, const Error *err);
/* The same with a sentence. */
void dap_fail_with(DapCall *call, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* An event; consumes the body. */
void dap_tell(Dap *dap, const char *event, Json body);
/* A line of text in the client's console: category "console", "stdout", "important", ... */
void dap_say(Dap *dap, const char *category, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Asks the run, and goes on with the answer; an error fails the call. Consumes args; `thread` is added. */
void dap_ask(DapCall *call, const char *operation, Json args, void (*then)(DapCall *, Json));
/* The same, but an error comes to `then` too: as JSON_NONE, with call->err. */
void dap_try(DapCall *call, const char *operation, Json args, void (*then)(DapCall *, Json));
/* Asks for nobody: what comes of it is not looked at. */
void dap_order(Dap *dap, const char *operation, Json args);

/* Whether a request of that name is being done or waits. */
DapCall *dap_call_of(Dap *dap, int64_t seq);

int64_t dap_int(Json object, const char *key, int64_t otherwise);
bool dap_bool(Json object, const char *key);

/* ---- dap_session.c ---- */

void dap_initialize(DapCall *call), dap_launch(DapCall *call), dap_attach(DapCall *call);
void dap_configuration_done(DapCall *call), dap_restart(DapCall *call);
void dap_disconnect(DapCall *call), dap_terminate(DapCall *call), dap_cancel(DapCall *call);
/* Ends what there is of the run here, without a word to the client. */
void dap_close_run(Dap *dap);
/* The client has gone: leaves the run, then frees the conversation. */
void dap_leave(Dap *dap);
/* In dap.c: there is nothing left of it. */
void dap_gone(Dap *dap);
/* The debugging is over. code: of `exited`; -1: the run goes on, or is left. */
void dap_end(Dap *dap, int64_t code);

/* ---- dap_events.c ---- */

/* For ClientListener. */
void dap_on_event(void *ctx, Json event);
void dap_on_over(void *ctx, const Error *why);
/* Looks at what was told. */
void dap_look(Dap *dap);
/* Whether events are taken, by what waits to be looked at and to be written. */
void dap_hold(Dap *dap);
/* Tells that the run stands where it is: after configurationDone, when nothing goes. */
void dap_tell_standing(Dap *dap);
/* The client is told once more that a thread stands where it does. */
void dap_tell_again(Dap *dap, int64_t thread, const char *reason);
/* The client's threads go on: what it looked into is not good any more. thread HANDLES_ALL: all. */
void dap_goes(Dap *dap, int64_t thread);
/* The threads that a request has let go, from an answer RESUMED: their `resumed` is no news. */
void dap_expect(Dap *dap, Json answer);
/* The run stands elsewhere, from an answer MOVED: looks which threads there are now, and then answers with an empty body.
 * reason: of the stop that follows; NULL: as the session says. Borrows the answer. */
void dap_moved(DapCall *call, Json answer, const char *reason);

/* ---- dap_threads.c ---- */

DapThread *dap_thread(Dap *dap, int64_t id);                /* NULL: there is none of that number */
DapThread *dap_thread_add(Dap *dap, int64_t id, Json name); /* borrows the name */
void dap_thread_remove(Dap *dap, int64_t id);
void dap_threads_clear(Dap *dap);
/* From an answer of `frames`; borrows it. */
void dap_threads_take(Dap *dap, Json answer);
void dap_threads(DapCall *call), dap_stack_trace(DapCall *call), dap_scopes(DapCall *call);
void dap_exception_info(DapCall *call), dap_source(DapCall *call),
    dap_loaded_sources(DapCall *call);

/* ---- dap_variables.c ---- */

enum { LAZY_CONFIG, LAZY_RESOLVED, LAZY_OUTPUTS, LAZY_OUTPUT, LAZY_HISTORY, LAZY_RUN };

void dap_variables(DapCall *call), dap_set_variable(DapCall *call), dap_evaluate(DapCall *call);
void dap_set_expression(DapCall *call), dap_completions(DapCall *call),
    dap_locations(DapCall *call);

/* The level that a request is about, by its frameId, or else of the thread that was told of last; with what it lends. False
 * after failing the call. */
bool dap_level(DapCall *call, Handle *out);

/* Evaluates `print EXPR`, the words of the prompt for what is done here anyway. True. */
bool dap_print(DapCall *call, const char *line);

/* ---- dap_console.c ---- */

/* A line of the client's console that is a command of the debugger's prompt: does it. False: it is none. */
bool dap_console(DapCall *call);
void dap_completions(DapCall *call);

/* ---- dap_breakpoints.c ---- */

void dap_set_breakpoints(DapCall *call), dap_set_function_breakpoints(DapCall *call);
void dap_set_data_breakpoints(DapCall *call), dap_set_exception_breakpoints(DapCall *call);
void dap_data_breakpoint_info(DapCall *call), dap_breakpoint_locations(DapCall *call);
/* In the session that is there now, those that are not set there. then() may come before it returns. */
void dap_breaks_set_all(DapCall *call, void (*then)(DapCall *call));
/* There is no session any more. */
void dap_breaks_unset(Dap *dap);
void dap_breaks_clear(Dap *dap);
/* An event of the session. */
void dap_break_event(Dap *dap, Json event);
/* Numbers that the client knows of those in a list of the session, and the kind of the first; given. */
Json dap_break_ids(const Dap *dap, Json session_ids, BreakKind *kind);
Json dap_exception_filters_json(void);

/* ---- dap_running.c ---- */

void dap_continue(DapCall *call), dap_next(DapCall *call), dap_step_in(DapCall *call);
void dap_step_out(DapCall *call), dap_pause(DapCall *call), dap_step_back(DapCall *call);
void dap_reverse_continue(DapCall *call), dap_goto(DapCall *call), dap_goto_targets(DapCall *call);
void dap_step_in_targets(DapCall *call), dap_restart_frame(DapCall *call);
void dap_terminate_threads(DapCall *call);

#endif
