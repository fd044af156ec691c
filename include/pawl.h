/* pawl.h - the public interface of libpawl: workflows, and jq expressions, for a program in C.
 *
 * What the program `pawl` does, as a library. A *flow* is a workflow: built here from functions of
 * yours (PawlGraph), or loaded from a file. An *engine* runs flows and keeps every step in a store,
 * so that a run which waits for a person, fails, or loses its process goes on later, in any process
 * that builds the same graph. A *run* carries a state, a JSON object, from node to node.
 *
 *     static PawlValue count(void *ctx, PawlCall *call) {
 *         PawlValue n = pawl_object_get(pawl_call_state(call), "n");
 *         return pawl_object_set(pawl_object(), "n", pawl_int(pawl_value_int(n, 0) + 1));
 *     }
 *
 *     int main(void) {
 *         PawlError err;
 *         PawlGraph *graph = pawl_graph_new("counter");
 *         pawl_graph_add_node(graph, "count", count, NULL);
 *         pawl_graph_set_entry(graph, "count");
 *         pawl_graph_add_conditional_edge(graph, "count", "count", ".n < 3");
 *         pawl_graph_add_edge(graph, "count", PAWL_END);
 *         PawlFlow *flow = pawl_graph_compile(graph, &err);
 *         pawl_graph_free(graph);
 *
 *         PawlEngine *engine = pawl_engine_open("sqlite:runs.db", NULL, &err);
 *         PawlRun *run = flow && engine ? pawl_run_start(engine, flow, NULL, &err) : NULL;
 *         if (!run || !pawl_engine_run(engine, &err)) {
 *             fprintf(stderr, "%s\n", err.message);
 *         } else {
 *             char *text = pawl_value_print(pawl_run_state(run), 0);
 *             puts(text);                                           // {"n":3}
 *             pawl_text_free(text);
 *         }
 *         pawl_engine_close(engine);                                // frees its runs
 *         pawl_flow_free(flow);
 *     }
 *
 * Compile and link with `pkg-config --cflags --libs pawl`. docs/embedding.md tells the same at more
 * length; examples/embed has programs.
 *
 * Life cycle: graph -> flow -> run, and engine -> run. A graph can be freed once it is compiled; a
 * flow once its runs have been started, for they hold on to it; runs end with their engine. What
 * `ctx` points to has to live as long as any run can call the function. Every release accepts NULL.
 *
 * Threads: an engine, its runs, its flows and all values belong to the thread that made them.
 * Threads that have their own do not meet. The one exception is a PawlToken: any thread may finish
 * it. Functions of yours are called only from pawl_engine_run() and pawl_engine_turn() (or from
 * your own loop, see PawlEngineOptions). Inside them everything may be called but these two and
 * pawl_engine_close(); in the function of a node not pawl_run_start() and pawl_run_resume() either,
 * nor anything of a debugger (pawl_debug_...).
 *
 * Errors: what fails because of the world or of what it was given says so in a PawlError, a plain
 * value of the caller's that holds no memory; every `err` may be NULL. A node that fails is no
 * error of this kind: it is part of the run (pawl_run_error). Using a value as what it is not
 * (pushing to a number) is a bug in the program, and ends it with a sentence, as running out of
 * memory does.
 *
 * Values: see below. Readers borrow, builders consume.
 */
#ifndef PAWL_H
#define PAWL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PAWL_API                 __attribute__((visibility("default")))
#define PAWL_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define PAWL_API
#define PAWL_PRINTF(text, first)
#endif

/* The version of the library, such as "0.1.0". */
PAWL_API const char *pawl_version(void);

/* ---- errors ---- */

typedef enum PawlCode {
    PAWL_OK = 0,
    PAWL_SYNTAX, /* the expression, the JSON or the workflow is not well written */
    PAWL_RAISED, /* the expression failed on this input */
    PAWL_LIMIT,  /* the evaluation went over its budget */
    PAWL_OTHER,
    PAWL_USAGE, /* there is no such thing, or it cannot be done now: no such thread, an answer is needed */
    PAWL_BUSY, /* somebody else runs that thread */
    PAWL_IO,   /* the operating system refused */
    PAWL_DATA, /* what is stored is damaged */
} PawlCode;

typedef struct PawlError {
    PawlCode code;
    int line;          /* in the text that is at fault, from 1; 0 when there is no place */
    int col;           /* from 1 */
    char message[512]; /* a sentence; UTF-8 */
    char facts[432];   /* what the sentence speaks of, for pawl_error_value() */
} PawlError;

/* ---- values ----
 *
 * A PawlValue is a JSON value of 16 bytes: pass it, return it, store it. Numbers, booleans and
 * short strings are in it; the rest is behind a counted reference. Values do not change under a
 * holder.
 *
 *   - Whatever takes a PawlValue borrows it unless its comment says "consumes".
 *   - Whatever returns a PawlValue gives it to the caller, who passes it on to something that consumes
 *     it or ends it with pawl_value_unref(), unless its comment says "borrowed": then it is valid as
 *     long as what it came from, and pawl_value_ref() keeps it longer.
 *
 * Readers take any value: of one of another kind they return PAWL_NONE, 0 or what you give as
 * `otherwise`, so that a path of them needs no checks. Builders change a value in place when nobody
 * else holds it, and otherwise copy the few parts on the way, never all of it.
 *
 * PAWL_NONE is not a JSON value: it is what is not there, and the zero of the type. */
typedef struct PawlValue {
    uint64_t word_[2];
} PawlValue;

typedef enum PawlKind {
    PAWL_NONE,
    PAWL_NULL,
    PAWL_BOOL,
    PAWL_NUMBER,
    PAWL_STRING,
    PAWL_ARRAY,
    PAWL_OBJECT,
} PawlKind;

PAWL_API PawlValue pawl_value_ref(PawlValue v); /* the same value, to hold once more */
PAWL_API void pawl_value_unref(PawlValue v);    /* consumes it */

PAWL_API PawlKind pawl_value_kind(PawlValue v);
PAWL_API bool pawl_value_truthy(PawlValue v); /* neither false nor null nor PAWL_NONE */
/* A number that is no integer, or too large for one, is cut. */
PAWL_API int64_t pawl_value_int(PawlValue v, int64_t otherwise);
PAWL_API double pawl_value_double(PawlValue v, double otherwise);

/* The bytes of a string, UTF-8, borrowed from *v, which must stay where it is: a short string's are
 * in the value itself. They do not end in a NUL: go by *len. NULL when it is no string. */
PAWL_API const char *pawl_value_text(const PawlValue *v, size_t *len);
/* Copies a string into out, cut to its size and always ended by a NUL; "" when it is none. Returns
 * its whole length. */
PAWL_API size_t pawl_value_copy_text(PawlValue v, char *out, size_t size);
PAWL_API bool pawl_value_is(PawlValue v, const char *text); /* that very string */

PAWL_API PawlValue pawl_null(void);
PAWL_API PawlValue pawl_bool(bool b);
PAWL_API PawlValue pawl_int(int64_t i);
PAWL_API PawlValue pawl_double(double d);
PAWL_API PawlValue pawl_string(const char *text); /* bad UTF-8 is replaced by U+FFFD */
PAWL_API PawlValue pawl_string_len(const char *text, size_t len);

PAWL_API PawlValue pawl_array(void);
PAWL_API size_t pawl_array_len(PawlValue a);
PAWL_API PawlValue pawl_array_get(PawlValue a, size_t i);     /* borrowed */
PAWL_API PawlValue pawl_array_push(PawlValue a, PawlValue v); /* consumes both */
PAWL_API PawlValue pawl_array_set(PawlValue a, size_t i,
                                  PawlValue v); /* consumes both; fills with null */

PAWL_API PawlValue pawl_object(void);
PAWL_API size_t pawl_object_len(PawlValue o);
PAWL_API PawlValue pawl_object_get(PawlValue o, const char *key); /* borrowed */
PAWL_API PawlValue pawl_object_set(PawlValue o, const char *key,
                                   PawlValue v);                     /* consumes o and v */
PAWL_API PawlValue pawl_object_remove(PawlValue o, const char *key); /* consumes o */
/* Walks in order: start with *pos = 0; false at the end. Both are borrowed. */
PAWL_API bool pawl_object_next(PawlValue o, size_t *pos, PawlValue *key, PawlValue *value);

PAWL_API bool pawl_value_equal(PawlValue a, PawlValue b);
/* {"added": [{path, new}], "removed": [{path, old}], "changed": [{path, old, new}]}. */
PAWL_API PawlValue pawl_value_diff(PawlValue a, PawlValue b);

/* {"code": "busy", "message": ..., "line"?, "column"?} and the facts: the thread, who holds it, ... The code is
 * a word, and says more than PawlCode does: "not_found", "exists", "ended", "answer_needed" are all PAWL_USAGE. */
PAWL_API PawlValue pawl_error_value(const PawlError *err);

/* PAWL_NONE on error. */
PAWL_API PawlValue pawl_value_parse(const char *text, size_t len, PawlError *err);
/* JSON text, ended by a NUL, for pawl_text_free(); indent 0: on one line. PAWL_NONE is "". */
PAWL_API char *pawl_value_print(PawlValue v, int indent);
PAWL_API void pawl_text_free(char *text);

/* ---- expressions ---- */

/* What one evaluation may use. Zero (or no PawlLimits at all) means the default. */
typedef struct PawlLimits {
    uint64_t steps; /* instructions; 50,000,000 by default */
    size_t memory;  /* bytes of values and stacks; 256 MiB by default */
    size_t depth;   /* calls inside calls; 1,000,000 by default */
} PawlLimits;

/* A compiled expression. */
typedef struct PawlExpr PawlExpr;

/* Gets each output of an evaluation as compact JSON text, which is lent until it returns; text[len]
 * is '\0'. Returning false ends the evaluation, which then counts as having succeeded. */
typedef bool (*PawlOutputFn)(void *ctx, const char *text, size_t len);

/* Compiles an expression in the jq language. NULL on error. */
PAWL_API PawlExpr *pawl_expr_compile(const char *text, PawlError *err);

/* Evaluates over one JSON document. False on error; the outputs before it have been handed over. */
PAWL_API bool pawl_expr_eval(const PawlExpr *expr, const char *json, size_t len,
                             const PawlLimits *limits, PawlOutputFn output, void *ctx,
                             PawlError *err);

/* The first output for a value. PAWL_NONE on error, and, with err->code PAWL_OK, when there is none. */
PAWL_API PawlValue pawl_expr_first(const PawlExpr *expr, PawlValue input, const PawlLimits *limits,
                                   PawlError *err);

PAWL_API void pawl_expr_free(PawlExpr *expr);

/* ---- functions as nodes ---- */

typedef struct PawlRun PawlRun;

/* One call of a node's function; valid until the function returns. */
typedef struct PawlCall PawlCall;

PAWL_API PawlValue pawl_call_state(const PawlCall *call);  /* what the node sees; borrowed */
PAWL_API const char *pawl_call_node(const PawlCall *call); /* the name of the node */
PAWL_API PawlRun *pawl_call_run(const PawlCall *call);
PAWL_API int pawl_call_attempt(
    const PawlCall *call); /* 1, and 2 and so on when it is tried again */
/* A variable in sight, such as `item` in the body of a map; borrowed; PAWL_NONE when there is none. */
PAWL_API PawlValue pawl_call_var(const PawlCall *call, const char *name);
/* What people have answered this node so far (pawl_token_ask), oldest first: an array, borrowed. */
PAWL_API PawlValue pawl_call_answers(const PawlCall *call);
/* A line of the node's log, for those who listen (PAWL_EVENT_LOG). */
PAWL_API void pawl_call_log(PawlCall *call, const char *text);
/* The node fails. kind is a short word for retries and error edges (`.error.kind`). Returns
 * PAWL_NONE, so that a function can end with it:
 *     return pawl_call_fail(call, "parse", "Line %d has no date.", line); */
PAWL_API PawlValue pawl_call_fail(PawlCall *call, const char *kind, const char *fmt, ...)
    PAWL_PRINTF(3, 4);

/* A node that finishes at once, like a function of the state: it must not wait, nor do anything
 * that may not happen twice, for what it does is not on record before it begins. Returns what it
 * changes, an object that is merged into the state through the reducers, or null for nothing; or
 * what pawl_call_fail() returns. Costs less than a microsecond. */
typedef PawlValue (*PawlNodeFn)(void *ctx, PawlCall *call);

/* The right and the duty to finish a node later. Exactly one of the three functions that end it has
 * to be called, once, from any thread; it consumes the token. */
typedef struct PawlToken PawlToken;

/* A node with effects, or one that takes time. It is called after the record that leads to it is
 * durable; if the process dies before it is finished, the next process calls it again. The function
 * must not wait: it starts what has to be done and returns, and whoever gets done finishes the
 * token (also at once, inside the function). */
typedef void (*PawlLaterFn)(void *ctx, PawlCall *call, PawlToken *token);

/* Values given to these from another thread have to be made there: a value belongs to its thread.
 * What the other thread needs of the state is to be taken out of it before the function returns. */
PAWL_API void pawl_token_succeed(PawlToken *token, PawlValue result); /* consumes both */
PAWL_API void pawl_token_fail(PawlToken *token, const char *kind, const char *fmt, ...)
    PAWL_PRINTF(3, 4); /* consumes the token */
/* Stops for a person: the run is interrupted, maybe for days, until pawl_run_resume() gives an
 * answer. Then the function is called again, with a new token and one answer more in
 * pawl_call_answers(). An answer is PawlResume.value as it is, or the decision. options: an array
 * of strings to choose from, or PAWL_NONE. Consumes all three. */
PAWL_API void pawl_token_ask(PawlToken *token, PawlValue prompt, PawlValue options);

/* Before the end, from any thread: a line of the node's log; and whether nobody waits for the
 * result any more (the node's time is up, the run was cancelled, the engine closed): whatever the
 * token is finished with is then dropped. */
PAWL_API void pawl_token_log(PawlToken *token, const char *text);
PAWL_API bool pawl_token_is_cancelled(const PawlToken *token);

/* Called when that happens, on the engine's thread: so that the work can be ended early. The token
 * still has to be finished. */
typedef void (*PawlCancelFn)(void *ctx, PawlToken *token);

/* Chooses where to go on: the name of one of the targets that pawl_graph_add_router() was given.
 * NULL after pawl_call_fail(). Like a PawlNodeFn in all else. */
typedef const char *(*PawlRouterFn)(void *ctx, PawlCall *call);

/* ---- graphs: flows built by a program ----
 *
 * What is added is kept as it is said; what is wrong with it (an unknown node, an expression that
 * does not compile) is said by pawl_graph_compile(), so no call needs a check. All text is copied.
 *
 * The name of a node is made of letters, digits, `_`, `.` and `-`. Nodes without any edges run in
 * the order in which they were added. */
typedef struct PawlGraph PawlGraph;
typedef struct PawlFlow PawlFlow;

#define PAWL_START "__start__"
#define PAWL_END   "__end__"

PAWL_API PawlGraph *pawl_graph_new(const char *name);
PAWL_API void pawl_graph_free(PawlGraph *g);

PAWL_API void pawl_graph_add_node(PawlGraph *g, const char *name, PawlNodeFn fn, void *ctx);
PAWL_API void pawl_graph_add_node_later(PawlGraph *g, const char *name, PawlLaterFn fn, void *ctx);
/* A node of any other kind, as files have them: docs/workflows.md lists them. params is what stands
 * behind the kind's key, or an object of all its parameters; consumed.
 *     pawl_graph_add_kind(g, "build", "shell", pawl_string("make"));          */
PAWL_API void pawl_graph_add_kind(PawlGraph *g, const char *name, const char *kind,
                                  PawlValue params);
/* Another flow as one node, with a state of its own: the whole state, or what the jq expression
 * `input` makes of it. What it changed comes back. The flow can be freed when this graph is
 * compiled. */
PAWL_API void pawl_graph_add_subgraph(PawlGraph *g, const char *name, const PawlFlow *flow,
                                      const char *input);

/* More about a node that was added; zero means the default. */
typedef struct PawlNodeOptions {
    const char *output;    /* the key of the state that takes the result, whatever it is */
    int64_t timeout_ms;    /* then it fails with the kind "timeout"; not of a PawlNodeFn */
    int attempts;          /* in all, when it fails; 1 */
    int64_t delay_ms;      /* before the second one; 1000 */
    double factor;         /* longer each time; 2 */
    int64_t max_delay_ms;  /* 30000 */
    const char *retry_if;  /* jq over the state with .error; always */
    bool interrupt_before; /* the run stops there for a person */
    bool interrupt_after;
    PawlCancelFn on_cancel; /* of a PawlLaterFn; gets the same ctx */
} PawlNodeOptions;
PAWL_API void pawl_graph_set_node(PawlGraph *g, const char *name, const PawlNodeOptions *options);

PAWL_API void pawl_graph_interrupt_before(PawlGraph *g, const char *node);
PAWL_API void pawl_graph_interrupt_after(PawlGraph *g, const char *node);

/* The first node; the same as an edge from PAWL_START. */
PAWL_API void pawl_graph_set_entry(PawlGraph *g, const char *node);
/* The edges of a node are tried in the order in which they were added; the first whose condition
 * holds is taken, and one without a condition always is. */
PAWL_API void pawl_graph_add_edge(PawlGraph *g, const char *from, const char *to);
/* when: a jq expression over the state. */
PAWL_API void pawl_graph_add_conditional_edge(PawlGraph *g, const char *from, const char *to,
                                              const char *when);
/* A function chooses among the targets, a list that ends with NULL. The choice is on record: as a
 * node of its own, `from.route`, and in the state under "__route__". */
PAWL_API void pawl_graph_add_router(PawlGraph *g, const char *from, PawlRouterFn fn, void *ctx,
                                    const char *const *targets);
/* All of them at the same time, each with the state as it is now. They join at a node (NULL: the
 * first that all of them must pass); what they wrote is merged through the reducers. Ends with
 * NULL. */
PAWL_API void pawl_graph_add_parallel_edge(PawlGraph *g, const char *from,
                                           const char *const *targets, const char *join);
/* Taken when the node has failed for good: the state has .error, {kind, message, node, ...}. */
PAWL_API void pawl_graph_add_error_edge(PawlGraph *g, const char *from, const char *to);

/* How what a node gives back for a key joins the value that is there. */
typedef enum PawlReduce {
    PAWL_REPLACE,
    PAWL_APPEND, /* arrays: the new elements behind the old; a value that is no array is one element */
    PAWL_ADD,    /* jq's + */
    PAWL_MERGE, /* jq's *: objects, deeply */
    PAWL_UNION, /* arrays: the elements that are not there yet */
} PawlReduce;

/* A key of the state; keys that are not declared are replaced. initial: PAWL_NONE for none; consumed. */
PAWL_API void pawl_graph_add_key(PawlGraph *g, const char *key, PawlReduce reduce,
                                 PawlValue initial);
/* The same with a jq expression over $old and $new. */
PAWL_API void pawl_graph_add_key_expr(PawlGraph *g, const char *key, const char *reduce,
                                      PawlValue initial);

/* Steps of one graph before it is taken for an endless loop; 1000 unless set. */
PAWL_API void pawl_graph_set_recursion_limit(PawlGraph *g, int64_t steps);
PAWL_API void pawl_graph_set_timeout(PawlGraph *g, int64_t ms); /* of a whole run */

/* Checks and compiles; the graph stays as it is. NULL on error: the first thing that is wrong. */
PAWL_API PawlFlow *pawl_graph_compile(const PawlGraph *g, PawlError *err);

/* ---- flows ---- */

/* A workflow file, of any dialect; its checkpointer is left to the engine. NULL on error. */
PAWL_API PawlFlow *pawl_flow_load(const char *path, PawlError *err);
/* The text of one. */
PAWL_API PawlFlow *pawl_flow_parse(const char *text, size_t len, PawlError *err);
PAWL_API void pawl_flow_free(PawlFlow *flow); /* when its last run has gone */

/* A file may have nodes `callback: NAME` and `callback_later: NAME`: functions of the program that
 * loads it. False when no node names it so. Bind them all before a run starts. */
PAWL_API bool pawl_flow_bind(PawlFlow *flow, const char *name, PawlNodeFn fn, void *ctx);
PAWL_API bool pawl_flow_bind_later(PawlFlow *flow, const char *name, PawlLaterFn fn,
                                   PawlCancelFn on_cancel, void *ctx);

/* The graph as text: "dot", "mermaid" or "json"; for pawl_text_free(). NULL for other formats. */
PAWL_API char *pawl_flow_draw(const PawlFlow *flow, const char *format);

/* ---- engines ---- */

typedef struct PawlEngine PawlEngine;

typedef enum PawlEventType {
    PAWL_EVENT_START,     /* the run begins or goes on; data: {workflow, resumed} */
    PAWL_EVENT_NODE,      /* a node begins in a frame; data: {kind, attempt} */
    PAWL_EVENT_LOG,       /* data: {stream, text} */
    PAWL_EVENT_STEP,      /* a checkpoint was made: node, status, update and state */
    PAWL_EVENT_INTERRUPT, /* a frame stopped for a person; data: {id, reason, prompt, options} */
    PAWL_EVENT_RETRY,     /* data: {error, attempt, attempts, delay} */
    PAWL_EVENT_WARNING,   /* data: {message} */
    PAWL_EVENT_SETTLED,   /* the last one of a run, until it is resumed; status */
} PawlEventType;

/* What happened, once it is durable. Everything in it is lent. */
typedef struct PawlEvent {
    PawlEventType type;
    PawlRun *run;
    int64_t at;         /* milliseconds since 1970 */
    int64_t checkpoint; /* the one it belongs to; 0: none */
    int64_t step, frame;
    const char *frame_name; /* "main", "parallel[0]", "map[3]" */
    const char *node;       /* "" when there is none */
    const char *status;     /* of the checkpoint, or of the run; "" when there is none */
    int depth;              /* 1: not in a sub-graph */
    PawlValue update;       /* STEP: what the node gave back */
    PawlValue state;        /* STEP, INTERRUPT */
    PawlValue data;
} PawlEvent;

typedef void (*PawlEventFn)(void *ctx, const PawlEvent *event);

struct uv_loop_s;

typedef struct PawlEngineOptions {
    PawlEventFn on_event; /* NULL: nobody listens, which is cheaper */
    void *ctx;
    PawlLimits limits;      /* of each evaluation of an expression */
    uint64_t max_state;     /* bytes of a state; 0: 256 MB; at most 512 MB */
    struct uv_loop_s *loop; /* a loop of libuv to run on, which you run; NULL: one of its own */
} PawlEngineOptions;

/* store: "sqlite:PATH", "file:DIR" (made when they are not there), "memory:" (gone with the
 * engine), or NULL: nothing is kept, and nothing can be resumed. NULL on error. */
PAWL_API PawlEngine *pawl_engine_open(const char *store, const PawlEngineOptions *options,
                                      PawlError *err);
/* Waits for what is being written. Runs that have not settled stay resumable; all PawlRuns are
 * freed, and tokens under way are cancelled. With a loop of yours, run it once more afterwards. */
PAWL_API void pawl_engine_close(PawlEngine *engine);

/* Runs until all runs have settled: completed, failed, cancelled, stopped, or waiting for a person;
 * a run that stands paused under a debugger is not waited for either. False when the store has
 * failed; runs are then resumable from what is in it. */
PAWL_API bool pawl_engine_run(PawlEngine *engine, PawlError *err);

/* The same in pieces, for a program with a loop of its own (poll, epoll, glib):
 *     watch pawl_engine_fd() for reading, wait no longer than pawl_engine_timeout(), then call
 *     pawl_engine_turn(engine, 0); and so on while it returns true.
 * turn: does what there is to do, waiting at most timeout_ms for it (-1: as long as it takes). True
 * while there are runs that have not settled, nor stand paused under a debugger. */
PAWL_API bool pawl_engine_turn(PawlEngine *engine, int timeout_ms);
PAWL_API int pawl_engine_fd(const PawlEngine *engine);
PAWL_API int pawl_engine_timeout(
    const PawlEngine *engine); /* ms; 0: at once; -1: no need to hurry */

/* ---- runs ---- */

typedef struct PawlStart {
    const char *thread; /* the name of the run, for people and for resuming; NULL: one is made */
    PawlValue input;    /* an object over the defaults of the state; consumed, also on error */
    bool interactive;   /* actions ask a person instead of a model */
    void *data;         /* for pawl_run_data() */
} PawlStart;

/* start may be NULL. Nothing has happened yet when it returns: the engine has to run. NULL on error. */
PAWL_API PawlRun *pawl_run_start(PawlEngine *engine, PawlFlow *flow, const PawlStart *start,
                                 PawlError *err);

typedef struct PawlResume {
    const char *thread;
    int64_t
        checkpoint; /* go on from there, which leaves what came after it as it is; 0: the last */
    const char *interrupt; /* id of the interrupt that is answered; NULL: the only one */
    PawlValue value;       /* the answer; consumed, also on error */
    const char *decision;  /* one of the options, instead or beside */
    /* Changes of the state before it goes on: an object of keys, or an array of [path, value] where a
     * path is an array of keys and indices; consumed, also on error. */
    PawlValue set;
    /* The flow with the functions, built as it was when the run was started: needed when there are
     * any. NULL: the stored workflow, which has none. */
    PawlFlow *flow;
    bool reload; /* take `flow` even if it has changed since */
    void *data;  /* for pawl_run_data() */
} PawlResume;

/* Goes on with whatever can go on: an interrupt with its answer, a failed node once more, a run
 * whose process died. Nodes that were finished are not called again. NULL on error, each with a
 * sentence of its own: no such thread or checkpoint; damaged; busy; nothing to go on with; an
 * answer is needed, or several are open and no id was given; the graph has changed, or its
 * functions are missing. */
PAWL_API PawlRun *pawl_run_resume(PawlEngine *engine, const PawlResume *resume, PawlError *err);

/* Ends work that is under way, and settles as cancelled; or as stopped, to be resumed later, when
 * the nodes that were under way begin again. In the next turn; nothing when it has settled by then.
 * */
PAWL_API void pawl_run_cancel(PawlRun *run);
PAWL_API void pawl_run_stop(PawlRun *run);

/* Lets go of it. One that has not settled goes on without you. */
PAWL_API void pawl_run_free(PawlRun *run);

typedef enum PawlStatus {
    PAWL_RUNNING,
    PAWL_INTERRUPTED, /* waits for a person */
    PAWL_PAUSED,      /* by a debugger that has let go of it: pawl_debug_open() goes on with it */
    PAWL_STOPPED,     /* was let go of in the middle */
    PAWL_COMPLETED,
    PAWL_FAILED,
    PAWL_CANCELLED,
} PawlStatus;

PAWL_API PawlStatus pawl_run_status(const PawlRun *run);
PAWL_API const char *pawl_status_name(PawlStatus status); /* "running", "interrupted", ... */
PAWL_API bool pawl_run_settled(const PawlRun *run);       /* nothing more happens by itself */
PAWL_API const char *pawl_run_thread(const PawlRun *run);
PAWL_API int64_t pawl_run_checkpoint(const PawlRun *run); /* that it stands at; 0: none yet */
PAWL_API int64_t pawl_run_step(const PawlRun *run);       /* nodes finished */
PAWL_API PawlValue pawl_run_state(const PawlRun *run);    /* borrowed, until the next turn */
/* Why it failed: {kind, message, node, ...}; borrowed; PAWL_NONE when it has not. When the store
 * failed, the kind is "store" and the status stopped. */
PAWL_API PawlValue pawl_run_error(const PawlRun *run);
/* What it waits for: [{id, node, frame, prompt, options, reason}]. */
PAWL_API PawlValue pawl_run_interrupts(const PawlRun *run);
PAWL_API void *pawl_run_data(const PawlRun *run);
PAWL_API PawlEngine *pawl_run_engine(const PawlRun *run);

/* ---- what is kept: runs of the store, by their thread, whoever runs them ---- */

typedef struct PawlCheckpoint {
    int64_t checkpoint, parent; /* a parent that is not the one before: it was forked there */
    int64_t step, frame;
    int64_t at;       /* milliseconds since 1970 */
    const char *node; /* "" when there is none */
    const char
        *status;       /* "started", "completed", "interrupted", "damaged", ... (docs/running.md) */
    PawlValue changed; /* names of the keys of the state that it changed: an array */
} PawlCheckpoint;

/* Calls fn for each checkpoint, oldest first; all in it is lent. False from fn ends the walk. */
typedef bool (*PawlCheckpointFn)(void *ctx, const PawlCheckpoint *c);
PAWL_API bool pawl_run_history(PawlEngine *engine, const char *thread, PawlCheckpointFn fn,
                               void *ctx, PawlError *err);

/* The state at a checkpoint; 0: the last. PAWL_NONE on error. pawl_value_diff() compares two. */
PAWL_API PawlValue pawl_run_show(PawlEngine *engine, const char *thread, int64_t checkpoint,
                                 PawlError *err);

/* [{run, thread, workflow, status, created, updated, checkpoint?, owner?}], the one updated last first; times
 * are texts, "2026-11-16T04:35:57.123Z". PAWL_NONE on error. */
PAWL_API PawlValue pawl_run_list(PawlEngine *engine, PawlError *err);
/* The same of one, with its frames, its interrupts and, when it has failed, its error. */
PAWL_API PawlValue pawl_run_info(PawlEngine *engine, const char *thread, PawlError *err);

/* Writes a checkpoint by hand, of a run that nobody runs: values for the state, as PawlResume.set,
 * which is consumed; with as_node (or NULL) the run stands after that node then. The new
 * checkpoint, or 0 on error. */
PAWL_API int64_t pawl_run_update(PawlEngine *engine, const char *thread, PawlValue set,
                                 const char *as_node, PawlError *err);
/* A new thread that begins as a copy of another at a checkpoint (0: the last). Runs nothing. */
PAWL_API bool pawl_run_fork(PawlEngine *engine, const char *thread, int64_t checkpoint,
                            const char *new_thread, PawlError *err);
/* Cancels a run that nobody runs; one that this or another process runs is asked to, and does so
 * within a second. A test that has cleanup tasks goes on with those when the engine runs. */
PAWL_API bool pawl_run_ask_cancel(PawlEngine *engine, const char *thread, PawlError *err);

/* ---- operations ----
 *
 * Everything that can be asked of an engine, by name, JSON in and JSON out: what `pawl` asks with its commands,
 * and other processes through its socket. The functions above are the ones used most. pawl_operations()
 * lists all; docs/embedding.md and docs/debugging.md tell what they do.
 *
 *     PawlValue args = pawl_object_set(pawl_object(), "thread", pawl_string("release-7"));
 *     PawlValue run = pawl_call(engine, "run_get", args, &err);      // {"run": 7, "status": "interrupted", ...}
 *
 * Arguments are an object, PAWL_NONE for none. One that is unknown, missing or of the wrong type is an
 * error (PAWL_USAGE) that names it, and so is an operation that there is none of. Answers are objects;
 * nothing in them is null but values of yours: what there is nothing to say of is left out. Times are
 * texts.
 *
 * A run that an operation has started or taken from the store is nobody's: it goes on while the engine
 * runs, and is freed when it has settled. Its workflow is text, so it calls no functions. Operations of
 * debuggers ask the session of the run in `thread`, which this engine must have in hand; its store gives
 * runs their names.
 *
 * Inside the function of a node a step is under way: there it can only be looked (`runs`, `run_get`, `check`), and all
 * else is refused. */

/* The answer; PAWL_NONE on error. Consumes args. What only looks is answered at once, and may be asked for
 * anywhere. What acts is waited for: the engine runs meanwhile, so it must not be asked for inside a
 * function that the engine called; pawl_call_later() may. */
PAWL_API PawlValue pawl_call(PawlEngine *engine, const char *operation, PawlValue args,
                             PawlError *err);

/* Told exactly once, from the engine's loop or before the call returns: the answer, lent, or PAWL_NONE and why. */
typedef void (*PawlAnswerFn)(void *ctx, PawlValue answer, const PawlError *err);

/* The same for a program that must not wait. Consumes args. The engine has something to do until it is
 * answered (pawl_engine_run(), pawl_engine_turn()); pawl_engine_close() waits for it. */
PAWL_API void pawl_call_later(PawlEngine *engine, const char *operation, PawlValue args,
                              PawlAnswerFn fn, void *ctx);

/* All there are: [{name, summary, scope, route?, idempotent, arguments: [{name, type, about, required?,
 * ...}], answer}]. */
PAWL_API PawlValue pawl_operations(void);

/* ---- debugging ----
 *
 * A debugger controls the frames of one run: it stops them at breakpoints, steps them, shows and
 * changes what their nodes see, and goes back. Functions of yours are nodes like any others.
 *
 *     static void on_pause(void *ctx, PawlDebug *debug, PawlValue pause) {
 *         // pause: {"event": "paused", "frame": 1, "node": "count", "reason": "breakpoint", ...}
 *         pawl_debug_set(debug, ".n", pawl_int(40), NULL);
 *         pawl_debug_continue(debug, NULL);
 *     }
 *
 *     PawlDebug *debug = pawl_debug_attach(run, &(PawlDebugOptions){.on_pause = on_pause}, &err);
 *     pawl_debug_break(debug, "count if .n == 2", &err);
 *     pawl_engine_run(engine, &err);
 *     pawl_debug_free(debug);
 *
 * Without on_pause it goes the other way round: pawl_engine_run() returns when nothing in the run
 * goes on by itself any more (pawl_run_settled() is false then); look, change, step or continue, and
 * run the engine again.
 *
 * What a debugger knows (breakpoints, watches, steps under way, changes to come) is a *session*,
 * which is kept with the run: a pause that was told is on record, and a session that was let go of
 * goes on in any process. A run has at most one, and one PawlDebug has it at a time. While a
 * PawlDebug is attached, the run does not settle because it is paused or waits for a person.
 *
 * An operation is asked for with pawl_debug_call() and arguments in an object; docs/debugging.md
 * has the list of them and of the events. The functions below it are the ones used most. They mean
 * the *selected* frame: the one that paused last (of several the one that was selected before, or
 * the first), unless another was selected; inside on_pause, the one that the call is about. None
 * waits for what it brings about: that comes as an event, in a later turn. Refusals are sentences:
 * a frame that is not paused says what it is doing. */
typedef struct PawlDebug PawlDebug;

/* Called from pawl_engine_run(), pawl_engine_turn() or your loop, never from inside a function of
 * this header; may call any pawl_debug_ function, pawl_debug_free() of its own debugger too. The
 * event, an object, is lent. */
typedef void (*PawlDebugFn)(void *ctx, PawlDebug *debug, PawlValue event);

typedef struct PawlDebugOptions {
    /* A frame has paused, which is durable. Of several frames that pause at once, those that are
     * let go by the call for another are passed over. */
    PawlDebugFn on_pause;
    /* Everything that happens, pauses too; before on_pause. Frames that were paused when the run was
     * opened come here alone, with `reattached`. */
    PawlDebugFn on_event;
    void *ctx;             /* of both */
    bool pause_on_start;   /* of a run that has just been started: before its first node */
    bool apart;            /* a frame that pauses leaves the others going */
    PawlValue breakpoints; /* an array of objects as pawl_debug_call("breakpoint_set") takes them;
                              PAWL_NONE for none; consumed, also on error */
    PawlFlow *flow; /* pawl_debug_open(): the flow with the functions, as PawlResume.flow; NULL: the
                       stored workflow, whose functions fail when they are called */
    void *data;     /* pawl_debug_open(): for pawl_run_data() */
} PawlDebugOptions;

/* A run that has not settled; options may be NULL. NULL on error: it has settled, or has a debugger. */
PAWL_API PawlDebug *pawl_debug_attach(PawlRun *run, const PawlDebugOptions *options,
                                      PawlError *err);
/* A run of the store that nobody runs, whatever became of it: interrupted, paused, stopped, failed,
 * completed. Nothing happens to it by itself: what would go on is paused. NULL on error. */
PAWL_API PawlDebug *pawl_debug_open(PawlEngine *engine, const char *thread,
                                    const PawlDebugOptions *options, PawlError *err);
/* The run, until the debugger is freed; NULL when the engine has gone. One that was opened is the
 * caller's, as one that was started is. */
PAWL_API PawlRun *pawl_debug_run(const PawlDebug *debug);

/* The session ends: all frames go on, and nothing stops them any more. */
PAWL_API bool pawl_debug_detach(PawlDebug *debug, PawlError *err);
/* It was detached or aborted, has expired, or the run has settled, or the engine has gone. */
PAWL_API bool pawl_debug_is_over(const PawlDebug *debug);
/* Lets go of the run. A session that is not over stays with it, and paused frames stay paused: the
 * run settles as paused, or as interrupted. Also to be called when the engine has gone. */
PAWL_API void pawl_debug_free(PawlDebug *debug);

/* ---- operations ---- */

/* The answer, an object; PAWL_NONE on error. args: an object, or PAWL_NONE for none; consumed, also on
 * error. An unknown operation, and an argument that is unknown, missing or of the wrong type, are
 * errors (PAWL_USAGE) that name it.
 *     PawlValue args = pawl_object_set(pawl_object(), "node", pawl_string("ship"));
 *     pawl_value_unref(pawl_debug_call(debug, "goto", args, &err));                      */
PAWL_API PawlValue pawl_debug_call(PawlDebug *debug, const char *operation, PawlValue args,
                                   PawlError *err);
/* All there are, as pawl_operations() gives them: a debugger knows its run, so that `thread` need not be given. */
PAWL_API PawlValue pawl_debug_operations(void);

/* "NODE", "NODE:after", "NODE if EXPR", "if EXPR", "FILE:LINE", "error", "changed:PATH": its number,
 * or 0 on error. A node that there is none of is no error: the breakpoint is unverified. */
PAWL_API int64_t pawl_debug_break(PawlDebug *debug, const char *spec, PawlError *err);
PAWL_API bool pawl_debug_unbreak(PawlDebug *debug, int64_t breakpoint, PawlError *err);

/* All frames that are paused; with PawlDebugOptions.apart the selected one. */
PAWL_API bool pawl_debug_continue(PawlDebug *debug, PawlError *err);
/* All frames; those that are busy stop before their next node. */
PAWL_API bool pawl_debug_pause(PawlDebug *debug, PawlError *err);

typedef enum PawlStepKind {
    PAWL_STEP_OVER, /* to the next node of the frame, not inside of this one */
    PAWL_STEP_INTO, /* to the next node, also inside of this one and of the frames it makes */
    PAWL_STEP_OUT,  /* to where the graph, the loop or the branch has been left */
} PawlStepKind;
PAWL_API bool pawl_debug_step(PawlDebug *debug, PawlStepKind kind, PawlError *err);
/* By so many steps of the frame. What is undone stays in the history of the run. */
PAWL_API bool pawl_debug_back(PawlDebug *debug, int64_t count, PawlError *err);

PAWL_API bool pawl_debug_select(PawlDebug *debug, int64_t frame, PawlError *err);
/* All frames: [{frame, parent, name, status, node, kind, file, line, depth, ...}]. */
PAWL_API PawlValue pawl_debug_frames(PawlDebug *debug, PawlError *err);
/* What the node sees, with the changes that are to come. */
PAWL_API PawlValue pawl_debug_state(PawlDebug *debug, PawlError *err);
/* What has changed since the frame paused before: {from, to, added, removed, changed}, as
 * pawl_value_diff(). */
PAWL_API PawlValue pawl_debug_diff(PawlDebug *debug, PawlError *err);
/* The first output of a jq expression over what the node sees. PAWL_NONE on error, and, with
 * err->code PAWL_OK, when there is none. */
PAWL_API PawlValue pawl_debug_eval(PawlDebug *debug, const char *expression, PawlError *err);
/* Changes what the node will see when the frame goes on. path: as jq has it, ".a[0].b"; value:
 * consumed, also on error; PAWL_NONE takes away what is there. */
PAWL_API bool pawl_debug_set(PawlDebug *debug, const char *path, PawlValue value, PawlError *err);

#ifdef __cplusplus
}
#endif

#endif
