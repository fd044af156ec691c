/* breakpoint.h - one breakpoint: what it says, what it is compiled to, and when it is hit.
 *
 * A breakpoint is a JSON object, which is how people give it, how it is listed and how it is kept in
 * the store; a Breakpoint is that object checked and compiled. Fields:
 *
 *     id            a number, given by the session
 *     type          "node" (name, "sub/name" or a glob), "task_index", "task_id", "task_name" (any node of
 *                   that kind), "task_title", "source" (file and line), "conditional", "state", "exception". May be left
 *                   out where the other fields say it
 *     node          of "node": a name, PATH/NAME (nodes around it, or workflows), with * and ? and [..]
 *     task_index    of "task_index": 0-based place of a task in the order of the file, in all its lists:
 *                   a task comes before those inside it, and those before what follows it. The tasks of
 *                   other files come after those of the main one, in the order in which it names them
 *     task_title    of "task_title": the title of tasks, as it is written, or with its placeholders filled in
 *                   from what the task sees when it is reached. A "node" that no node is called is taken
 *                   for the title of a task, where there is one, and becomes a "task_title"
 *     task_id, task_name, file, line
 *     position      "before" (default), "after", "on_error": when the node fails, caught or not
 *     condition     jq over what the node sees; only false and null (and no output) do not hold. Without a
 *                   place it is tried at every node. It may name the variables of maps around the node
 *                   ($item, $index); at nodes that do not have them it does not hold
 *     state         {path, equals} or {path, changed: true}; after the step that made it so
 *     error         of "exception": jq over the error; caught: true stops also where a retry, an error edge
 *                   or a task around it takes the error
 *     ignore_count  so many hits are passed over, from when it is set (ignore_from: hits until then)
 *     hit_condition "== 5", ">= 5", "% 3" over the hits, the ones that are passed over included; also "=",
 *                   ">", "<=", "<"
 *     log_message   the inside of a jq string, "retries \(.retries)": logs, does not pause. Quotes in its
 *                   text need no backslash
 *     once          deleted when it has paused a frame
 *     group         a word; enabled: bool (true); hit_count
 *     metadata      anything, for whoever set it
 *
 * and in listings: verified (some node of the workflow is meant, or it needs none), places: [{node,
 * file, line}] (at most 20), message (why it is not verified, with the nearest name; where it was moved
 * to; why its condition failed last). A listing can be given back as it is: what is only of listings is
 * left out, and so is a field that is null.
 *
 * There is at most one place (node, task_index, task_id, task_name, task_title, or file and line). "conditional",
 * "state" and "exception" may have one too, and then are only at it.
 *
 * A *hit* is a match of everything but ignore_count and hit_condition: place, position, condition and
 * the change of state. hit_count counts those; ignore_count and hit_condition look at it.
 *
 * Expressions have neither clock nor environment (a message may ask for the time), and a budget of
 * BREAK_STEPS, BREAK_MS and BREAK_MEMORY: one that goes over it fails, which is no hit.
 *
 * A breakpoint has one thread: the loop's, or that of whoever made it to look into the record (travel.h).
 */
#ifndef PAWL_BREAKPOINT_H
#define PAWL_BREAKPOINT_H

#include "flow.h"
#include "hooks.h"
#include "jq.h"

typedef enum BreakType {
#define PLACE(id, name, need) BREAK_##id,
#define TYPE(id, name, need)
#define FIELD(...)
#define KEPT(...)
#define SHOWN(...)
#include "breakpoint_rows.h"
    BREAK_PLACES, /* those before it are places */
    BREAK_LAST_PLACE = BREAK_PLACES - 1,
#define PLACE(id, name, need)
#define TYPE(id, name, need) BREAK_##id,
#define FIELD(...)
#define KEPT(...)
#define SHOWN(...)
#include "breakpoint_rows.h"
    BREAK_TYPES,
    BREAK_NO_PLACE = BREAK_TYPES,
} BreakType;

typedef struct BreakTypeRow {
    const char *name;
    const char *need; /* the field that it cannot be without; NULL: none */
} BreakTypeRow;
extern const BreakTypeRow break_types[BREAK_TYPES];

enum {
    BREAK_TEXT_MAX = 100 << 10, /* bytes of an expression, a message, a path or a value */
    BREAK_NAME_MAX = 1000,      /* of any other text */
    BREAK_LOG_MAX = 10 << 10,   /* of what a log point says; the rest is cut off */
    BREAK_STEPS = 1000000,      /* of one evaluation */
    BREAK_MS = 50,              /* that it may take, whatever its steps */
    BREAK_ALL_MS = 100,         /* after which no more of them are asked at one place */
    BREAK_MEMORY = 64 << 20,
};

typedef struct Query Query; /* a compiled expression with its machines */

typedef struct Breakpoint {
    int64_t id;
    BreakType type;
    BreakType place; /* which field says where; BREAK_NO_PLACE: anywhere */
    HookPosition position;
    bool enabled, once, caught;
    bool has_path; /* its node is PATH/NAME: what is around the node counts */
    /* The fields as they are now, without those of listings; breakpoint_json() and breakpoint_stored()
     * bring enabled and hit_count up to date. */
    Json spec;
    int64_t hits, ignore, ignore_from;
    char hit_op; /* 0: none; '=', '>' (at least), '<' (at most), '%' */
    int64_t hit_number;
    Query *condition, *error, *log; /* NULL: none */
    Json state_path;                /* array of steps; JSON_NONE: none */
    Json state_equals;              /* JSON_NONE: any change */
    bool verified;
    const Node **at; /* nodes that it is at, in order of their ids; breakpoints.h fills it */
    size_t places;   /* how many */
    Json message;    /* a string; JSON_NONE */
} Breakpoint;

/* Checks and compiles; NULL on error, which names the field, and the position inside an expression. flow
 * is for variables of maps that conditions may name; NULL: there are none. A name that no node has is no
 * error here (breakpoints.h verifies). Borrows spec. */
Breakpoint *breakpoint_new(int64_t id, Json spec, const Flow *flow, Error *err);
void breakpoint_free(Breakpoint *b); /* accepts NULL */

/* The spec with fields changed; a null takes one away, and a place takes the one before away. Given; for
 * breakpoint_new(). Borrows both. */
Json breakpoint_merge(Json spec, Json fields);

/* Its node is none: it is the title of a task. */
void breakpoint_take_title(Breakpoint *b);

Json breakpoint_json(const Breakpoint *b); /* as listed; places are added by breakpoints.h. Given */
Json breakpoint_stored(const Breakpoint *b); /* as kept in the store; given */

/* What people type, as the fields of a breakpoint; JSON_NONE on error.
 *
 *     NODE, NODE:before, NODE:after, NODE:error       NODE may be a path, a glob or the title of a task; in
 *                                                     quotes, a JSON string, whatever it has in it
 *     FILE:LINE                                       FILE has a dot or a slash in it
 *     error, caught                                   exceptions; a node of that name is error:before
 *     changed:PATH, state:PATH=JSON
 *
 * each followed by " if EXPR" or not; or "if EXPR" alone. After error and caught it is over the error. */
Json breakpoint_parse(const char *spec, Error *err);

/* Whether it is hit at a place, where the index says that it is meant (breakpoints.h). state is what the node
 * sees, borrowed; vars are frame_variables(). Counts the hit. *pauses: it is to pause there (or to log).
 * A condition that fails is no hit; why is left in b->message.
 *
 * Of a state breakpoint it is asked after breakpoint_changed() has said so, whatever the position; the
 * node that it may name is looked at here. */
bool breakpoint_hit(Breakpoint *b, const HookPlace *place, Json state, const Json *vars,
                    bool *pauses);

/* The value at its path, given (JSON_NONE: absent); and whether it is hit by a change from seen to now. */
Json breakpoint_value(const Breakpoint *b, Json state);
bool breakpoint_changed(const Breakpoint *b, Json seen, Json now);

/* The text of a log point; given, a string. When it fails, the text says so. */
Json breakpoint_text(Breakpoint *b, const HookPlace *place, Json state, const Json *vars);

/* Whether its expressions can be asked at a node: false, with the reason, when they name a variable that
 * the node does not have. */
bool breakpoint_fits(Breakpoint *b, const Node *node, Error *err);

/* ---- expressions (breakpoint_query.c) ---- */

/* An expression that is asked at many nodes and may name the variables of each: it is compiled once for
 * each set of those that it names. An error when there is no node in the flow (NULL: none has variables)
 * that it can be asked at. */
Query *query_new(const char *text, size_t len, const Flow *flow, Error *err);
void query_free(Query *q); /* accepts NULL */
/* First output, given; JSON_NONE when there is none or, with err set, on an error. At a node without its
 * variables there is no output, and no error. Borrows. */
Json query_eval_at(Query *q, const Node *node, Json input, const Json *vars, Error *err);
/* The same for the inside of a jq string; errors have their place in that. */
Query *query_new_message(const char *text, size_t len, const Flow *flow, Error *err);
/* Why it cannot be asked at a node, borrowed; NULL: it can, or there is no query (NULL). */
const Error *query_unfit(Query *q, const Node *node);
unsigned query_effects(const Query *q); /* JqEffects, ORed */

#endif
