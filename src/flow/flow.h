/* flow.h - a workflow, loaded, checked and compiled: what the engine runs.
 *
 *     FlowProblems problems = {0};
 *     Flow *flow = flow_load("review.yaml", NULL, &problems);
 *     if (flow) ... flow->main ...                        all errors are in problems otherwise
 *     flow_unref(flow); flow_problems_clear(&problems);
 *
 * All dialects compile to the same thing: a Flow of Graphs of Nodes joined by Edges. A sub-workflow,
 * the body of a loop and the workflow itself are each a Graph. Everything is plain data for the
 * engine to read and immutable once loaded; it lives in the flow's arena, except JSON values and
 * programs, which the flow owns. One thread.
 *
 * A node's kind is a row of a table (kind.h) that lists the parameters such a node takes. The loader
 * checks what the file says against the row and leaves the result in node->params, one for each of
 * the row's parameters in order, so that no kind needs code here.
 *
 * Positions are 1-based; columns count characters.
 */
#ifndef PAWL_FLOW_H
#define PAWL_FLOW_H

#include "bounds.h"
#include "error.h"
#include "jq.h"
#include "json.h"
#include "kind.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Flow Flow;
typedef struct Graph Graph;
typedef struct Node Node;

/* ---- loading ---- */

enum {
    FLOW_FILE_MAX = 16 << 20,  /* bytes of one file */
    FLOW_NODES_MAX = 100000,   /* YAML nodes after aliases are followed: what an anchor bomb hits */
    FLOW_LINE_MAX = 1 << 20,   /* bytes of one line */
    FLOW_EXPR_MAX = 100 << 10, /* bytes of one expression or template */
    FLOW_EXPRS_MAX = 4 << 20,  /* and of all of a workflow together */
    FLOW_FILES_MAX = 1000,     /* files of one workflow */
    FLOW_FOLDERS_MAX = 100,    /* of kinds that a reader, or a definition, names */
    FLOW_DEPTH_MAX = 100,      /* of nodes in nodes, and of workflows in workflows */
    FLOW_NESTING_MAX = 400,    /* of YAML: a task in a task is three levels */
    FLOW_PROBLEMS_MAX = 100,   /* reported; then one more says that there are others */
    FLOW_RECURSION_LIMIT = 1000, /* unless config.recursion_limit says otherwise */
};

typedef struct FlowProblem {
    bool warning;       /* the workflow can run all the same */
    const char *file;   /* as it was opened; owned by the list */
    int line, col, len; /* len: characters to underline, at least 1; line is 0 when the file as a
                           whole could not be read */
    char *msg;          /* a finished sentence */
    char *excerpt;      /* the line of the file, or NULL */
} FlowProblem;

typedef struct FlowProblems {
    FlowProblem *items;
    size_t n, cap;
    size_t errors; /* those that are not warnings */
} FlowProblems;

void flow_problems_clear(FlowProblems *p);
/* "file:3:7: error: sentence", the line and a caret under the place. */
void flow_problem_print(const FlowProblem *p, bool colour, Buf *out);
Json flow_problem_json(const FlowProblem *p); /* {file, line, col, severity, message} */

/* Where the text of files comes from; NULL functions mean the file system. Paths of sub-workflows
 * are relative to the file that names them. */
typedef struct FlowReader {
    /* ERR_NOT_FOUND: there is no such file. */
    bool (*read)(void *ctx, const char *path, Buf *out, Error *err);
    void *ctx;
    /* Calls `each` with the name of every file in a folder, in any order; nothing when there is no such
     * folder. Only for suggestions and lists; NULL: none are made. */
    void (*list)(void *ctx, const char *folder, void (*each)(void *to, const char *name), void *to);
    /* Whether a folder that nobody named is one that others cannot write to; NULL: all are. */
    bool (*is_ours)(void *ctx, const char *folder, Error *err);
    /* Folders that kinds are looked for in first (kind_file.c). Borrowed. */
    const char *const *kinds;
    size_t nkinds;
    bool strict; /* keys of a test that nobody reads are errors, not warnings */
    bool whole; /* so are kinds that are not there in tasks that may never run; strict: these too */
} FlowReader;

/* The text of a file, as flow_load() reads it: at most FLOW_FILE_MAX bytes. root: that it has to be in; NULL:
 * anywhere. */
bool flow_read_file(const SafeRoot *root, const char *path, Buf *out, Error *err);
/* That as a reader; "-" is standard input. */
FlowReader flow_root_reader(const SafeRoot *root);

/* Files that are at hand: an object {path: text}. Both are borrowed by the reader. */
typedef struct FlowFiles {
    Json texts;
    const char *missing; /* the sentence for a file that is not among them */
} FlowFiles;

FlowReader flow_files_reader(FlowFiles *files);

/* NULL when there is an error in it; warnings alone leave a flow. problems gets them all, in order
 * of file (the main one first) and place. path "-" reads standard input. */
Flow *flow_load(const char *path, const FlowReader *reader, FlowProblems *problems);

/* The same for a flow that is run inside another: the numbers of its expressions and nodes begin where
 * they are not those of the other, and the nodes of its main file see the variables of maps that are in
 * sight there (node->vars), which count as depth. Copies the names. */
typedef struct FlowNumbers {
    uint32_t exprs, nodes;
} FlowNumbers;

typedef struct FlowAround {
    FlowNumbers first;
    const char *const *vars;
    size_t nvars;
    bool called; /* it is a test that another test calls */
    bool whole;  /* as in FlowReader: of a stored definition */
} FlowAround;
Flow *flow_load_inside(const char *path, const FlowReader *reader, const FlowAround *around,
                       FlowProblems *problems);

/* The text of every file that was read: {"main": path, "files": {path: text}}, with "kinds", an array of folders,
 * where the reader named some. What is stored with a run, and the way back from there. */
Json flow_definition(const Flow *flow);
Flow *flow_load_definition(Json definition, FlowProblems *problems);
Flow *flow_load_definition_inside(Json definition, const FlowAround *around,
                                  FlowProblems *problems);

/* The first node of a flow is another version of one of a workflow: for people it stands where that one
 * does in its file, and what it holds where that has something of the same name, or where it is itself.
 * What is in further files stays there. Before anybody else has the flow. */
void flow_stand_in(Flow *flow, const Node *written);

/* The numbers of its expressions and nodes begin elsewhere: of a flow that was loaded before it was known where. Before
 * anybody else has the flow. */
void flow_renumber(Flow *flow, FlowNumbers first);

Flow *flow_ref(Flow *flow);
void flow_unref(Flow *flow); /* accepts NULL */

/* Whether the workflow has interrupts but neither config.checkpointer nor config.checkpoint_dir, so
 * that somebody else has to name a store. The problem, placed at the first interrupt, is then added
 * to problems, unless that is NULL. flow_load() does not report it. */
bool flow_needs_checkpointer(const Flow *flow, FlowProblems *problems);

/* Adds an error that somebody else found, who knows what code in the file means: at a line of one of its files;
 * col 0: all of the line. */
void flow_problem_add(const Flow *flow, FlowProblems *problems, const char *file, int line, int col,
                      const char *sentence);

/* The JSON Schema of a dialect ("graph", "tasks", "pipeline"), for editors; JSON_NONE when there is no such dialect. */
Json flow_schema(const char *dialect);

/* The graph as text: "dot", "mermaid" or "json" (nodes, edges, positions). False when the format is
 * none of these. */
bool flow_draw(const Flow *flow, const char *format, Buf *out);

/* ---- expressions ---- */

/* An expression or a template in Jinja, which whoever does the work of Python nodes evaluates (NodeWork.evaluate in
 * step.h): there is no program for it here. */
typedef struct Foreign {
    const char *how; /* one of FOREIGN_... */
    Json what;       /* the text; or a value, in which every text is a template */
    Json given;      /* what it sees beside the state: {variables, settings, data} */
} Foreign;

#define FOREIGN_VALUE           "value"
#define FOREIGN_CONDITION       "condition" /* true or false */
#define FOREIGN_CONDITION_FALSE "condition_false"
#define FOREIGN_GOTO            "goto"
#define FOREIGN_ITEMS           "items"   /* an array */
#define FOREIGN_COUNT           "count"   /* a number, at least 1, or null */
#define FOREIGN_OUTPUTS         "outputs" /* an object; it sees `result` too, its only variable */

/* A compiled jq expression of the file. Its input is the state unless its place says otherwise. */
typedef struct Expr {
    uint32_t id; /* flow->first_expr .. + nexprs - 1: for whoever keeps a machine for each */
    JqProgram *program;
    const Foreign *foreign; /* instead of a program; NULL: it is jq */
    const char *text;       /* as written */
    const char *file;
    int line, col;
    /* One that uses $secrets has them as its last variable, an object; before that come so many others. */
    bool takes_secrets;
    size_t nvars;
    Json secrets; /* names of those that it uses: an array of strings; borrowed from the program */
} Expr;

/* The place in the file of an error that the program gave, at compile or at run time: exact where
 * err->line and err->col, which count from line and col, are not (escapes, folded and indented
 * blocks, templates). */
void expr_place(const Expr *expr, const Error *err, int *line, int *col);

/* Whether something can be the name of a secret: letters, digits and _, not beginning with a digit. */
enum { SECRET_NAME_MAX = 100 };
bool secret_name_is_valid(const char *name, size_t len);
/* Where an expression failed to compile because it uses $secrets where that cannot be: says so instead. */
void secrets_explain(Error *err);

/* ---- the compiled graph ---- */

/* How a value that a node gives back joins the one that is there. Each has a `join` too: how two
 * values given back by one branch become one that does the same (reduce.c in engine/). */
typedef enum Reduce {
    REDUCE_REPLACE,
    REDUCE_APPEND, /* arrays: the new ones after the old; a value that is no array is one element */
    REDUCE_ADD,    /* jq's + */
    REDUCE_MERGE,  /* jq's *: objects, deeply */
    REDUCE_UNION,  /* arrays: those that are not there yet */
    REDUCE_EXPR,   /* an expression over $old and $new; input is the state */
} Reduce;
extern const char *const reduce_names[]; /* NULL for REDUCE_EXPR */

typedef struct StateKey {
    Json name;
    Json initial; /* JSON_NONE: absent until written */
    Reduce reduce;
    const Expr *expr; /* REDUCE_EXPR */
    int line, col;
} StateKey;

enum {
    NODE_END = -1, /* as a target: __end__ */
};

/* Where to go on. The edges of a node are tried in order; the first whose `when` holds (or that has
 * none) is taken. */
typedef struct Edge {
    const Expr *when; /* NULL: always */
    const int
        *targets; /* indices into graph->nodes, or NODE_END; more than one: parallel branches */
    size_t ntargets;
    int join;      /* of parallel branches: where they join; the first that all of them must
                            pass, unless the file says so with fan_in */
    bool parallel; /* branches, even when there is only one target */
    bool
        gathers; /* nothing that the branches write is merged: `parallel_results` has the state of each */
    int line, col;
} Edge;

typedef struct Edges {
    const Edge *items;
    size_t n;
} Edges;

/* retry: {attempts, delay, factor, max, if} */
typedef struct RetryPolicy {
    int attempts; /* in all; 1: no retry */
    int64_t delay_ms, max_ms;
    double factor;
    const Expr *when; /* input: the state with .error; NULL: always */
} RetryPolicy;

/* What the file says for one parameter of the node's kind. Which member counts depends on the type
 * of the parameter (kind.h); value is always what was written, JSON_NONE when nothing was and there
 * is no default. */
typedef struct Param {
    Json value;
    int line, col;
    const Expr *expr;   /* PARAM_JQ, PARAM_TEMPLATE */
    struct ParamField { /* PARAM_JQ_OBJECT */
        Json name;
        const Expr *expr;
    } const *fields;
    size_t nfields;
    int64_t number;     /* PARAM_INT, PARAM_BOOL, PARAM_SIZE; PARAM_DURATION in ms;
                                  PARAM_ENUM: index of the word */
    const Graph *graph; /* PARAM_WORKFLOW, PARAM_NODES, PARAM_TASK, PARAM_TASKS, PARAM_TEST */
    const Node *node;   /* PARAM_NODE */
    bool open; /* of a task: there are placeholders in value, so that what it is, and whether
                           it is right, is known when the task begins (config.h) */
} Param;

/* What the tasks dialect adds to a node. */
typedef struct Task {
    Json id;          /* JSON_NONE: it has none, and nothing of it is in `tasks` */
    Json title;       /* with placeholders; JSON_NONE: none */
    const Expr *when; /* `if`; NULL: always. Input: the variables */
    struct TaskVar {  /* configVars: in the order of the file */
        int param;    /* index into node->params */
        const Expr *query;
    } const *vars;
    size_t nvars;
    const struct Placeholder { /* every ${{query}} in its config and title, for config.h */
        Json text;             /* what stands between the braces */
        const Expr *query;
    } * placeholders;
    size_t nplaceholders;
    bool cleanup; /* in cleanupTasks, at whatever depth */
} Task;

/* A kind from outside: a file that is used by its name, in any dialect. */
typedef struct OutsideKind {
    const char *name, *about; /* about: half a sentence or a sentence, as written */
    const char *file;
    int line;    /* of `inputs`, or of the file */
    Json inputs; /* a JSON Schema of an object, as written (kind_inputs.h) */
    const struct
        KindOutput { /* what it gives back; the input of each is what the graph ended with */
        Json name;
        const Expr *expr;
    } * outputs;
    size_t noutputs;
    const Graph *graph; /* what it does */
} OutsideKind;

struct Node {
    uint32_t id;      /* unique in the flow: flow->first_node .. first_node + nnodes - 1 */
    int index;        /* in graph->nodes; -1 for the body of a map */
    const char *name; /* the body of map `m` is `m[]` */
    Json name_json;
    const Graph *graph;
    const Kind *kind;
    const Param *params; /* kind->nparams of them */
    Json output;         /* key of the state for its result; JSON_NONE: an object is merged */
    const Expr *gives;   /* instead: what becomes of the result, FOREIGN_OUTPUTS; or NULL */
    bool wraps;          /* a result that is no object is merged as {result: ...} */
    int64_t timeout_ms;  /* 0: none */
    RetryPolicy retry;
    bool interrupt_before, interrupt_after;
    Edges edges;             /* after success */
    Edges error_edges;       /* after failure (on: error): the state gets .error first */
    const char *const *vars; /* variables in scope of its expressions, outermost first: each map
                                around it adds its `as` and "index"; of two with one name the
                                later counts */
    size_t nvars;
    const Task *task; /* NULL in the other dialects */
    Json requires;    /* of a pipeline's step: labels; JSON_NONE: none */
    Json source;      /* the node as written, for people */
    const char *file;
    int line, col, end_line;
};

struct Graph {
    const char *name;
    const char *dialect; /* "graph", "tasks" or "pipeline" */
    const Flow *flow;
    uint32_t id; /* index in flow->graphs: stable for the same text */
    Node *nodes;
    size_t nnodes;
    Edges start;    /* the edges of __start__ */
    StateKey *keys; /* the body of a loop has those of the graph around it */
    size_t nkeys;
    int64_t recursion_limit;
    int64_t timeout_ms; /* of the whole; 0: none */
    const char *file;
    int line, col;
    /* Of the tasks dialect. Nodes of such a graph have no edges: they run in order, or as the node
     * that holds the graph says. */
    bool scoped;           /* the state is a chain of scopes (scope.h in engine/) */
    bool cleanup;          /* it is, or is in, the cleanupTasks of a test */
    const char *lacks;     /* a kind that there is not, of a task in it: it cannot begin */
    const Graph *after;    /* of a test: its cleanupTasks; NULL: none */
    Json defaults;         /* of a test: `config`, an object; JSON_NONE in graphs inside it */
    const struct TestVar { /* of a test: configVars */
        Json name;
        const Expr *query;
    } * vars;
    size_t nvars;
    Json schedule; /* of a test: as written; of a pipeline: its triggers; JSON_NONE: none */
    /* of the main graph */
    const char *checkpointer;   /* "memory", "file", "sqlite", or NULL */
    const char *checkpoint_dir; /* or NULL */
    const char *checkpoint;     /* config.checkpoint: a THREAD[@SEQ] to resume from, or NULL */
    const char *mode;           /* "autonomous", "interactive", or NULL */
    /* of the graph of each file */
    const NetPolicy *net; /* config.net: where requests of what is in it may go; NULL: anywhere */
    Json
        agent; /* of a file of The Edge Agent: what its templates see beside the state; JSON_NONE: of another */
    const OutsideKind
        *outside; /* the kind that the file is: nothing of what is around is in sight; or NULL */
};

struct Flow {
    const char *name;
    const char *dialect; /* "graph", "tasks" or "pipeline" */
    const char *path;
    const Graph *main;
    const Graph *const *graphs; /* main first */
    size_t ngraphs;
    uint32_t first_expr, first_node; /* numbers of expressions and nodes begin here */
    size_t nexprs, nnodes;
    Json secrets;    /* names of the secrets that it uses, each once: an array; JSON_NONE: none */
    uint64_t serial; /* no other that this process has loaded has the same */
    bool has_interrupts; /* somewhere in it interrupt_before, interrupt_after or interrupt */
    bool has_tasks;      /* somewhere in it a graph is scoped */
};

/* What is inside a node, by the row of its kind: the graph that its child number `branch` runs (of a
 * container with one list, the graph of that), or the node that a map does for each element. NULL: there
 * is none. */
const Graph *node_inside(const Node *node, int64_t branch);
const Node *node_body(const Node *node);
bool node_is_leaf(const Node *node);
/* Graph number i that a node holds, from 0 to kind->nparams; NULL: there is none. */
static inline const Graph *node_held(const Node *node, size_t i) {
    const OutsideKind *outside = node->kind->outside;
    return i < node->kind->nparams ? node->params[i].graph : outside ? outside->graph : NULL;
}
int64_t node_time_ms(const Node *node); /* its timeout, or that of the file inside it; 0: none */

#define FLOW_KIND_FOLDER ".pawl/kinds" /* beside a workflow */

/* Where nodes of the flow's main file find kinds: folders, in order. For a flow that is run inside this one. */
const char *const *flow_kind_folders(const Flow *flow, size_t *n);

/* What a name in a file means: a path, tidy, or a URL. Given. */
char *flow_beside(const char *file, const char *name);

/* What an edge leads to, as people call it. */
static inline const char *target_name(const Graph *g, int target) {
    return target == NODE_END ? "__end__" : g->nodes[target].name;
}

/* NULL when there is none; the look-ups are hashed. */
const Node *graph_node(const Graph *g, Json name);
const Node *graph_find(const Graph *g, Json name); /* bodies of maps ("x[]") too */
const StateKey *graph_key(const Graph *g, Json name);

#endif
