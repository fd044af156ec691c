/* kind.h - the kinds of nodes, as rows of a table (kind_rows.h): names, parameters, defaults, what they do.
 *
 * A row says what such a node is called in a file and what it takes. The loader, `pawl check`, the
 * schema for editors and the forms of the debugger are made from the rows; what a kind *does* is an object
 * that the row names, in exec/ (a node's work) or engine/ (control).
 *
 * A node says its kind by the kind's own key (`shell: make`), which is also its first parameter, or
 * by `uses: shell` with the parameters under `with:`. When the value of the kind's key is an object
 * and the first parameter does not take one, the object holds the parameters
 * (`approval: {prompt: ..., options: ...}`); other parameters may also stand beside the key, as keys
 * of the node (`env:`, `do:`).
 *
 * A *kind from outside* is a file that others use by its name (kind_file.c). Its Kind is made while a workflow is
 * loaded and lives as long as that: `id` is KIND_OUTSIDE, its parameters are what the file says in `inputs`.
 */
#ifndef PAWL_KIND_H
#define PAWL_KIND_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ParamType {
    PARAM_JQ,       /* a jq expression; anything but a string stands for itself, as JSON */
    PARAM_TEMPLATE, /* text with \(jq) in it */
    PARAM_TEXT,     /* text as it is */
    PARAM_NAME,     /* a word: letters, digits, underscore, not starting with a digit */
    PARAM_BOOL,
    PARAM_INT,       /* at least 1 */
    PARAM_SIZE,      /* bytes, "64M" */
    PARAM_DURATION,  /* json_duration() */
    PARAM_ENUM,      /* one of the words */
    PARAM_WORDS,     /* an array of strings */
    PARAM_JQ_OBJECT, /* keys with jq expressions */
    PARAM_WORKFLOW,  /* path of another workflow file */
    PARAM_NODE,      /* a node body, without name and edges; sees the variable that the kind's
                        PARAM_NAME names, and $index */
    PARAM_NODES,     /* a list of nodes that runs in order, as a graph of its own */
    PARAM_COUNT,     /* an integer, at least 0 */
    PARAM_VALUE,     /* any JSON */
    PARAM_OBJECT,    /* an object of any JSON */
    PARAM_QUERIES,   /* keys with queries over the variables: jq that may lack its leading dot */
    PARAM_STATUSES,  /* one HTTP status or a list of them; the value is an array of integers */
    PARAM_OBJECTS,   /* a list of objects with the fields that the row names */
    PARAM_TASK,      /* a task, as a graph of one node */
    PARAM_TASKS,     /* a list of tasks, as a graph of its own */
    PARAM_TEST,      /* path of another file of the tasks dialect */
    PARAM_TYPES,
} ParamType;

typedef struct ParamInfo {
    const char *name;
    const char *alias; /* another name for it, or NULL */
    ParamType type;
    bool required;
    bool
        secrets; /* its expressions may use $secrets: what they give is for the work alone, and never on record */
    const char *fallback; /* JSON text of the default, or NULL */
    const char *words;    /* PARAM_ENUM: parted by spaces */
    long long most;       /* PARAM_SIZE: the largest; 0: any */
    bool decimal;         /* PARAM_SIZE: a K is 1000 */
    const char *vars; /* PARAM_JQ: further variables that it sees, after those of the node; parted
                             by spaces */
    const struct ParamInfo *fields; /* PARAM_OBJECTS: of each object */
    size_t nfields;
    bool texts;       /* PARAM_OBJECT: its values are texts */
    const char *help; /* half a sentence */
} ParamInfo;

/* The dialects: DIALECT_ID, and `const Dialect NAME_dialect` (loader.h) in a file of its own. A dialect writes
 * nodes of its kinds; the same name may mean one kind in each. */
#define DIALECTS(X) X(GRAPH, graph) X(TASKS, tasks) X(PIPELINE, pipeline)

typedef enum DialectId {
#define X(id, name) DIALECT_##id,
    DIALECTS(X)
#undef X
        DIALECT_COUNT,
} DialectId;

typedef enum KindId {
#define KIND(id, ...) KIND_##id,
#define PARAM(...)
#define END
#include "kind_rows.h"
    KIND_COUNT,
} KindId;

/* How what is inside a node runs. */
typedef enum KindOrder {
    INSIDE_AS_SAID,  /* by edges, or it is one task */
    INSIDE_IN_ORDER, /* tasks, one after the other */
    INSIDE_AT_ONCE,  /* tasks, each in a frame of its own */
} KindOrder;

/* What such a node looks like in a drawing. */
typedef enum KindShape {
    SHAPE_WORK,
    SHAPE_QUESTION, /* a person or a model decides */
    SHAPE_FILE,     /* another file is inside */
    SHAPE_LOOP,     /* what is inside runs more than once */
    SHAPE_COUNT,
} KindShape;

typedef struct Kind {
    KindId id;
    const char *name; /* also the key that says the kind */
    const ParamInfo *params;
    size_t nparams;
    DialectId dialect;
    /* What it contains, for whoever goes inside (node_inside(), node_body() of flow.h). */
    unsigned char inside; /* 1 + the parameter that holds it; 0: a leaf */
    unsigned char others; /* the same for its children after the first; 0: as for the first */
    const char
        *children[2]; /* what people call its first child and the others, where each has a frame
                                of its own; one name: they are numbered */
    KindOrder order;
    KindShape shape;
    bool hidden;           /* not written in files: made by a dialect or by the library */
    bool result_is_object; /* its result can be merged without `output` */
    bool leaves; /* its executions leave the engine: a command, a request, a sleep, an answer */
    const char *help;
    const struct OutsideKind *outside; /* the file that it is (flow.h); NULL: a row */
} Kind;

/* Indices into node->params, an enum for each kind. */
/* clang-format off */
#define KIND(...) enum {
#define PARAM(index, ...) index,
#define END };
#include "kind_rows.h"
/* clang-format on */

extern const Kind kinds[KIND_COUNT];

/* NULL when there is none. */
const Kind *kind_find(DialectId dialect, const char *name);

#endif
