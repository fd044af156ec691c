/* loader.h - what the parts of the loader share.
 *
 * A workflow is loaded in one go: flow.c reads files and makes the Flow, a dialect (a row of
 * `dialects`) turns the tree of a file into a Graph, with nodes made by node.c and params.c,
 * expressions by expr.c, edges by edges.c. All of it goes into the flow's arena at once; when there
 * was an error the whole flow is dropped.
 *
 * A part that finds something wrong reports it and goes on with what it has, so that everything
 * that is wrong is reported together. What it made may then be incomplete (NULL where the header says
 * there is something): nobody but the loader sees it.
 */
#ifndef PAWL_LOADER_H
#define PAWL_LOADER_H

#include "arena.h"
#include "flow.h"
#include "problems.h"
#include "yaml.h"

/* ---- names, hashed ---- */

typedef struct NameTable {
    const char *names; /* a Json each `stride` bytes */
    size_t stride, n;
    uint32_t *slots; /* index + 1, or 0 */
    size_t nslots;   /* a power of two */
} NameTable;

/* Over n names, each `stride` bytes after the one before. */
void name_table_fill(NameTable *t, Arena *arena, const Json *first, size_t stride, size_t n);
/* The first with that name; -1 when there is none. */
int name_table_find(const NameTable *t, Json name);

/* ---- flows and graphs, with what only the loader knows ---- */

typedef struct GraphImpl {
    Graph graph; /* first */
    NameTable nodes;
    NameTable keys;
    const char
        *unnamed; /* nodes without a name are called this, with a number; NULL: they need one */
} GraphImpl;

/* One file of the workflow. */
typedef struct LoadedFile {
    const char *path;  /* as it was opened */
    const char *id;    /* the path without detours: the same for the same file, links aside */
    const char *bytes; /* as read */
    size_t len;
    YamlFile *yaml;
    const struct Dialect *dialect;
    GraphImpl *graph;        /* NULL when it could not be made */
    bool loading;            /* it is being loaded: naming it again is a circle */
    struct LoadedFile *from; /* the file that named it first */
    const char **kinds;      /* folders that it says kinds are in, as written */
    size_t nkinds;
    struct EdgeAgent
        *agent; /* it is a file of The Edge Agent (edge_agent.h); NULL: a graph of ours */
    const char *kind_name; /* it is used as the kind of this name; NULL: it is not */
    struct KindFile *kind; /* what it says of itself as a kind; NULL: it is none */
} LoadedFile;

typedef struct ExprImpl {
    Expr expr;            /* first */
    const YamlNode *node; /* the scalar that holds it; NULL when the file says a value instead */
    struct Segment *segments; /* of a template: from the program's text to the scalar's */
    size_t nsegments;
    const char *source; /* what was compiled */
    size_t len;
    bool query, title; /* of the tasks dialect: config.h */
} ExprImpl;

typedef struct FlowImpl {
    Flow flow; /* first */
    size_t refs;
    Arena *arena;
    LoadedFile **files;
    size_t nfiles, files_cap;
    Graph **graphs;
    size_t ngraphs, graphs_cap;
    ExprImpl **exprs;
    size_t nexprs, exprs_cap;
    Json *kept; /* values that live as long as the flow */
    size_t nkept, kept_cap;
    NetPolicy **nets; /* the same */
    size_t nnets, nets_cap;
    Spot first_interrupt; /* file NULL: none */
    const char *first_interrupt_text;
    const char *
        *kinds; /* folders of the reader, and after those the ones that the main file adds */
    size_t nkinds, nkinds_given;
} FlowImpl;

/* Variables that expressions can use, outermost first; of two with one name the later counts. */
typedef struct Scope {
    const char *const *vars;
    size_t nvars;
    bool secrets; /* and $secrets (ParamInfo.secrets) */
    bool exact;   /* JqOptions.exact */
} Scope;

typedef struct Loader {
    FlowImpl *flow;
    Arena *arena;
    Reporter *reporter;
    const FlowReader *reader;
    size_t nodes_left;       /* of FLOW_NODES_MAX */
    size_t exprs_left;       /* of FLOW_EXPRS_MAX */
    int depth;               /* of nodes in nodes and workflows in workflows */
    Scope outer;             /* what the nodes of the main file see of where it is run */
    const char *dialect;     /* of the file that is being loaded */
    Json ignored;            /* keys that were said to be ignored: an object of "FILE WHERE KEY" */
    struct EdgeAgent *agent; /* of that file (edge_agent.h); NULL: a graph of ours */
    const char *unnamed;     /* of the next list of nodes: as of GraphImpl */
    bool called;             /* another test calls the main file, which is not loaded yet */
} Loader;

/* What surrounds a node. */
typedef struct NodeContext {
    Loader *ld;
    LoadedFile *file;
    GraphImpl *graph;
    Scope scope;
} NodeContext;

/* The flow keeps the value; returns it, borrowed. Consumes v. */
Json keep(Loader *ld, Json v);

/* A key of the state for each key of the map, with its value as what it is at first. */
void load_keys(Loader *ld, GraphImpl *graph, const YamlNode *map);

/* Makes an empty graph that is in flow->graphs. */
GraphImpl *new_graph(Loader *ld, const char *name, Spot spot);

/* The graph of another file of the same dialect, named at `spot`; NULL after reporting why not. */
const Graph *load_workflow(Loader *ld, LoadedFile *from, Spot spot, const char *name);
/* The same for a test that another calls. One that is not there, or is elsewhere (a URL), is looked for when its task
 * begins: NULL, with a warning where it is a file. */
const Graph *load_test(Loader *ld, LoadedFile *from, Spot spot, const char *name);

/* ---- files (flow.c) ---- */

/* A further file of the workflow. */
typedef struct PartFile {
    Loader *ld;
    LoadedFile *from; /* that names it */
    Spot spot;        /* there */
    const char *path; /* tidy */
    const char *kind; /* the kind that it is; NULL: a workflow */
    bool later;       /* it need not be there yet */
} PartFile;

/* Loads it, unless it is loaded already. NULL: there is none (then *found is false), or it cannot be used, which was
 * reported. */
LoadedFile *open_part(const PartFile *part, bool *found);
/* The path of what a file names, relative to it and tidy. In the arena. */
char *beside(Loader *ld, const LoadedFile *file, const char *name);

/* ---- kinds from outside (kind_file.c) ---- */

extern const char *const kind_file_keys[]; /* the top-level keys of such a file */

/* Reads what a file says of itself as a kind; a file without `kind` is none. False after reporting that it
 * can be none. */
bool load_kind_head(Loader *ld, LoadedFile *file, const YamlNode *root);
/* And what it gives back, once it has its graph. */
void load_kind_end(Loader *ld, LoadedFile *file, const YamlNode *root);
void kind_is_bad(LoadedFile *file); /* there are errors in it */
/* Length of the name of the kind that a file of this name is; 0: it is none. */
size_t kind_name_len(const char *file);
void keep_kind_folders(Loader *ld); /* for flow_kind_folders() */
/* The folders that kinds are in, by a key of a map: a text or a list. */
void load_kind_folders(Loader *ld, LoadedFile *file, const YamlNode *map);

/* The kind of that name, for a node of a dialect in a file: a row, or from outside. NULL: there is none (found
 * is false), or it cannot be used, which was reported at the word. */
const Kind *find_kind(const NodeContext *c, DialectId dialect, const YamlNode *word, bool *found);
/* The same with a parameter more for each key of the maps that is none of its inputs, where it takes others. The
 * maps may be NULL. */
const Kind *kind_with_more(Loader *ld, const Kind *kind, const YamlNode *a, const YamlNode *b);
/* What can be said of a value of the file before anything runs: reported. */
void check_input(const NodeContext *c, const Node *node, size_t param, const YamlPair *given);
/* "; did you mean `shell`?" or ".", of all kinds that a file can use. In a static place. */
const char *nearest_of_all(const NodeContext *c, DialectId dialect, const YamlNode *word);

/* ---- dialects ---- */

/* One of DIALECTS (kind.h). */
typedef struct Dialect {
    const char *key;  /* the key of the file that says so */
    const char *name; /* as in kind.h */
    const char *what; /* what people call such a file: "a graph" */
    YamlSchema schema;
    /* False when there is no graph to go on with. */
    bool (*load)(Loader *ld, LoadedFile *file, const YamlNode *root, GraphImpl *graph);
} Dialect;

extern const char *const graph_keys[]; /* the top-level keys of the graph dialect */
extern const char *const config_keys[];
extern const char *const edge_keys[];
extern const char *const node_keys[]; /* those that any kind of node has */
extern const char *const retry_keys[];
extern const char *const checkpointers[];
extern const char *const test_keys[]; /* the top-level keys of the tasks dialect */
extern const char *const task_keys[]; /* those of each task */
extern const char *const schedule_keys[];

/* ---- kinds in sentences (kind_words.c) ---- */

/* Whether it is one that a file of the dialect is told about. */
bool is_shown(const Kind *kind, DialectId dialect);
/* "jq, lua and shell": those that are shown. In a static place. */
const char *kind_list(DialectId dialect);
const char *article(const Kind *kind); /* "a" or "an" */

/* ---- expressions (expr.c) ---- */

Scope scope_with(Loader *ld, Scope outer, const char *const *names, size_t n);

/* NULL after reporting. A node that is no text stands for itself, as JSON. */
const Expr *load_expr(Loader *ld, const YamlNode *node, Scope scope);
const Expr *load_template(Loader *ld, const YamlNode *node, Scope scope);

/* Of a file of The Edge Agent. The first: one of FOREIGN_..., whatever the text; `given` is kept already. The second: a
 * condition that is to be `wanted`; one that is only a name, or true or false, is jq. NULL after reporting. */
const Expr *load_foreign(Loader *ld, const YamlNode *node, const char *how, Json given);
const Expr *load_value(Loader *ld, const YamlNode *at, Json value); /* one that gives it; borrows */
const Expr *load_agent_condition(Loader *ld, const YamlNode *node, bool wanted);
bool has_template(const YamlNode *node); /* some text in it */

/* The same for a query, which is always a text: jq that may lack its leading dot (query_dot() in config.h). info: of the
 * parameter that it is for; NULL: it is for none. */
const Expr *load_query(Loader *ld, const YamlNode *node, const ParamInfo *info);
/* Of the text of a scalar only a part, which is not blank. */
typedef struct QueryPart {
    size_t from, to;
    bool title; /* of a title: what is wrong with it is a warning */
} QueryPart;
const Expr *load_query_part(Loader *ld, const YamlNode *node, QueryPart part,
                            const ParamInfo *info);

/* Where the jq expression that starts at `at` ends: at the first `close` (")" or "}}") that is outside of
 * its own brackets and strings; SIZE_MAX when there is none. Strings may hold expressions, which may
 * hold strings again. */
size_t find_jq_end(const char *text, size_t len, size_t at, const char *close);

/* ---- nodes (node.c) and parameters (params.c) ---- */

/* Reads a parameter by its type, or sets what it is when nothing is given (NULL). */
void load_param(const NodeContext *c, Node *node, const ParamInfo *info, const YamlPair *given,
                Param *out);

/* What a value of the file is for a parameter, as JSON: text as written where the parameter is a
 * text (1.10, yes), by the core schema elsewhere. Given. */
Json param_json(const ParamInfo *info, const YamlNode *value);

/* Where in a value something is wrong. */
typedef struct ParamFault {
    int item;  /* of a list; -1: the value as a whole */
    int field; /* of that item, a map; -1: the item as a whole */
} ParamFault;

/* param_read() of config.h, which also says where. */
bool param_read_at(const ParamInfo *info, Json value, bool lenient, Param *out, ParamFault *where,
                   Error *err);

/* A node of a kind: what it is given for each parameter, in the order of the kind's row. */
typedef struct NodeGiven {
    const Kind *kind;
    const YamlPair *said;   /* the key that said the kind */
    const YamlPair *pair;   /* whose value is the first parameter; NULL: none */
    const YamlNode *params; /* a map of others; NULL: none */
} NodeGiven;
void load_node_as(const NodeContext *c, Node *node, const YamlNode *yaml, const NodeGiven *given);

/* What any node can say: timeout, retry, interrupt. */
void load_node_fields(const NodeContext *c, Node *node, const YamlNode *yaml);

/* What can be said of the config of a check over HTTP before it runs: reported (check_config.c). config: NULL: none. */
/* A URL that the file says, which may go on as a template: its scheme (the same). */
void check_url(Loader *ld, const YamlNode *url);
void check_http_config(Loader *ld, const Kind *kind, const YamlNode *config);

/* A node with its name and place, and nothing else yet. The name is not copied. */
void start_node(const NodeContext *c, Node *node, const YamlNode *yaml, const char *name);

/* The names of a list of tasks or steps: ids, and those that are made. Ids come first, so that no name
 * that is made takes one. */
typedef struct NameGiver {
    Loader *ld;
    const char *what; /* "task" */
    Json taken;       /* name -> the line of its id */
    Json counts;      /* name -> how many have asked for it */
} NameGiver;

/* The `id` of a map, when it has one that can be used; otherwise NULL, after reporting why not. */
const char *given_id(NameGiver *names, const YamlNode *map);
/* The base, or the base with the first number that makes it a name of its own: sleep, sleep-2, sleep-3. */
const char *free_name(NameGiver *names, const char *base);
void names_clear(NameGiver *names);

/* The body of a map: a node without a name. */
const Node *load_body_node(const NodeContext *c, const YamlNode *yaml, const char *name);

/* A list of nodes with their kinds and parameters; names are in graph->nodes, hashed. Edges are not
 * made yet. False when there is nothing to go on with. sources has the map of each node. */
bool load_nodes(const NodeContext *c, const YamlNode *list, const YamlNode ***sources);

/* A list of nodes that run in order, as a graph of its own that shares the keys of c->graph. */
const Graph *load_node_list(const NodeContext *c, const YamlNode *list, const char *name);

/* A list of tasks, or one task (tasks_dialect.c), as a graph of its own inside c->graph. source is
 * the value as JSON, borrowed, which lives as long as the flow. NULL after reporting why not. */
const Graph *load_task_list(const NodeContext *c, const YamlNode *value, Json source,
                            const char *name);
const Graph *load_one_task(const NodeContext *c, const YamlNode *value, Json source,
                           const char *name);

/* Notes the first place that asks for an interrupt, for flow_needs_checkpointer(). */
void note_interrupt(Loader *ld, Spot spot, const char *key, const char *what);

/* ---- edges (edges.c) ---- */

/* The index of the node of that name; -1 after reporting that there is none. ends: the name might have
 * been meant for __start__ or __end__. */
int find_node(Loader *ld, const GraphImpl *g, const YamlNode *name, bool ends);

/* Makes the edges of the graph from goto on nodes and the list of edges (NULL: nodes run in order),
 * and checks that every node is reached. */
void load_edges(const NodeContext *c, const YamlNode *const *sources, const YamlNode *edges);

/* ---- pieces of trees (fields.c) ---- */

enum {
    KEYS_MAX = 300,
    INPUTS_MAX = 200, /* of a kind from outside */
};

/* The keys that a map can have. */
typedef struct KeyList {
    const char *const *names; /* ends with NULL; NULL: none */
    const char *const *more;  /* the same */
    const ParamInfo *params;  /* and the names of these */
    size_t nparams;
    bool kinds; /* and the kinds of the graph dialect */
} KeyList;

bool expect_map(Loader *ld, const YamlNode *node, const char *what);
/* Adds the keys to n names, which end with NULL; how many there are then. */
size_t add_keys(const char *names[KEYS_MAX], size_t n, KeyList keys);
/* Reports keys of the map that are not in the list. */
void check_keys(Loader *ld, const YamlNode *map, KeyList known, const char *where);
bool has_name(const char *const *names, const char *text, size_t len);

/* Text of a scalar that is not null, or NULL after reporting that `what` must be a text. */
const char *field_text(Loader *ld, const YamlNode *node, const char *what);
bool field_bool(Loader *ld, const YamlNode *node, const char *what, bool *out);
bool field_int(Loader *ld, const YamlNode *node, const char *what, int64_t max, int64_t *out);

/* The same for a key of a map, where it is there. NULL or false, too, where it is not. */
const char *key_text(Loader *ld, const YamlNode *map, const char *key);
bool key_bool(Loader *ld, const YamlNode *map, const char *key, bool *out);
bool key_duration(Loader *ld, const YamlNode *map, const char *key, int64_t *ms);
const YamlNode *key_map(Loader *ld, const YamlNode *map, const char *key); /* null is none */

/* The scalar, or the scalars of the list one after the other, for which *at begins with 0; NULL after the
 * last. What is no name is reported and passed over. */
const YamlNode *next_name(Loader *ld, const YamlNode *node, const char *what, size_t *at);

/* A list that holds something; otherwise one of the sentences is reported. */
bool expect_items(Loader *ld, const YamlNode *node, const char *none, const char *no_list);

#endif
