/* inspect.h - looking at values and nodes: parts of large ones, summaries, searches, differences.
 *
 * Pure functions of JSON values and of a loaded workflow, for a person who looks at a state of any
 * size and depth: nothing here copies what it looks at, recurses on it or changes it, and every
 * answer is bounded. Values, paths and flows are borrowed; answers are given. Fields are as
 * session_api.h says, with what is added to them here.
 *
 * "size" is json_size(): bytes as values are counted, without walking them. "length" is there for
 * arrays (elements), objects (keys) and strings (characters). A "preview" is the beginning of the
 * value as JSON text, of INSPECT_PREVIEW characters at most, "..." included.
 *
 * inspect_path.c has the paths, inspect_value.c the values, inspect_node.c the nodes.
 */
#ifndef PAWL_INSPECT_H
#define PAWL_INSPECT_H

#include "flow.h"
#include "jq.h"
#include "json.h"

enum {
    INSPECT_WHOLE = 4096, /* a value of at most this json_size() is shown whole */
    INSPECT_PREVIEW = 60, /* characters of a preview, unless told */
    INSPECT_PREVIEW_MAX = 4096,
    INSPECT_PAGE_MAX = 10000, /* children, findings, changes or results in one answer */
    INSPECT_LARGEST_MAX = 1000,
    INSPECT_ANSWER_MAX = 16 << 20, /* bytes of results, or of the keys of a page */
    INSPECT_WORK_MAX = 5000000,    /* values that one search looks at; long texts count for more */
    INSPECT_EVAL_STEPS = 20000000, /* tenths of a second as a rule, */
    INSPECT_EVAL_MS = 1000,        /* and never more than this */
    INSPECT_EVAL_MEMORY = 256 << 20, /* bytes */
};

/* ---- paths ---- */

/* A path as an array of steps (keys and whole numbers), from such an array or from a jq path as
 * text: .a.b, .["k"], .a[0], .a[-1], ."odd key", and all of these without the first dot (a.b). "."
 * and "" are the whole: []. JSON_NONE on error: of a text with the column in err->col and in the
 * sentence. */
Json inspect_path(Json path, Error *err);

/* The value at a path (as inspect_path() takes it; JSON_NONE: the whole), borrowed from the state.
 * JSON_NONE when there is none, with a sentence that names the nearest key or says how many
 * elements there are. *steps, unless that is NULL, gets the path as steps, with negative indices
 * counted out; given, and JSON_NONE on error. */
Json inspect_at(Json state, Json path, Json *steps, Error *err);

/* ---- walking ---- */

/* The next value in a container, and the key or index that leads to it; both borrowed. *pos begins as 0, or in
 * an array anywhere. False past the last, and for what is no container. */
bool inspect_next(Json container, size_t *pos, Json *step, Json *value);

typedef struct InspectWalk InspectWalk;

/* Tells of every value, outer before inner, in order. step is what leads to it from the container
 * around it: a key or an index, JSON_NONE for the whole. Returning false ends the walk. All are
 * borrowed. */
typedef bool (*InspectVisit)(void *ctx, const InspectWalk *walk, Json step, Json value);

bool inspect_walk(Json value, InspectVisit visit, void *ctx); /* false: it was ended */
/* During a visit: how many containers are around the value, and its path (given). */
size_t inspect_walk_depth(const InspectWalk *walk);
Json inspect_walk_path(const InspectWalk *walk, Json step);

/* ---- values ---- */

/* {path, text, type, size, length?, value} of values up to INSPECT_WHOLE. Of larger arrays and
 * objects {..., preview, children: [{key, type, size, length?, preview}], offset, total}, of larger strings
 * {..., value, offset, total, cut: true} with at least INSPECT_WHOLE characters from the offset
 * on. `path` is as inspect_at() takes it, and in the answer its *steps. */
typedef struct InspectPage {
    size_t offset, limit; /* limit 0: 100 */
    size_t preview;       /* characters; 0: INSPECT_PREVIEW */
} InspectPage;
Json inspect_variables(Json state, Json path, const InspectPage *page, Error *err);
/* {keys: [{key, type, size, length?, preview}], total, size, more?}; of an array its indices. */
Json inspect_summary(Json state);
/* Part of a key or of a string, whatever its case (Latin, Greek and Cyrillic letters), or the text
 * of a number, true, false or null. {found: [{path, text, type, preview, where}], more}. An empty
 * text is found nowhere. limit 0: 50. */
Json inspect_search(Json state, const char *text, size_t limit);
/* {largest: [{path, text, type, size, length?}], more?}: what takes the room, without the
 * containers of which one value takes nine tenths: that one is listed instead. limit 0: 10. least:
 * only those of so many bytes. more: there was too much to look at. */
Json inspect_largest(Json state, size_t limit, uint64_t least);

/* {added: [{path, new}], removed: [{path, old}], changed: [{path, old, new}], counts: how many of each there are
 * (unchanged: keys of the old one that are as they were)}; at most `limit` of
 * each (0: 1000), then "more": true. Instead of an old or new value larger than INSPECT_WHOLE
 * there is its preview, with old_size or new_size beside it and cut: true. Costs what differs, not
 * what is there. */
Json inspect_diff(Json from, Json to, size_t limit);

/* Evaluates on a state within a budget that suits a person who waits. vars: names and values, as
 * many. {results, more}; when results together are larger than INSPECT_ANSWER_MAX, the one that
 * was too much is described in "omitted": {type, size, length?, preview}. Errors have the place in
 * the expression in line and col and in the sentence. */
typedef struct InspectEval {
    const char *expression;
    size_t len;
    Json state;
    const char *const *vars;
    const Json *values;
    size_t nvars;
    size_t limit;   /* 0: 100 */
    uint64_t steps; /* 0: INSPECT_EVAL_STEPS */
    size_t memory;  /* 0: INSPECT_EVAL_MEMORY */
    bool exact;     /* JqOptions.exact */
} InspectEval;
Json inspect_eval(const InspectEval *eval, Error *err);

/* The same in pieces. It holds on to what it needs: nothing of `eval` has to live on. NULL on error. */
typedef struct InspectRun InspectRun;
InspectRun *inspect_eval_begin(const InspectEval *eval, Error *err);
/* Until that time of uv_hrtime(); whether it has ended, or has worked for as long as it may. */
bool inspect_eval_go_on(InspectRun *run, uint64_t until);
/* What came of it, as above; frees it. Of one that has not ended, and of NULL, that it took too long. */
Json inspect_eval_end(InspectRun *run, Error *err);

/* {items} for jq text at a cursor (bytes; SIZE_MAX: its end). state may be JSON_NONE. */
Json inspect_complete(const char *text, size_t len, size_t cursor, const char *const *vars,
                      size_t nvars, Json state);

/* ---- nodes ---- */

/* {node, kind, raw, expressions: [{path, text, line?, column?}]}: the node as written, and every
 * expression, template, query and placeholder in it; path is the place in raw. For `config`. */
Json inspect_config(const Node *node);
/* {node, kind, workflow, file, line, column, end_line, title?, timeout? (seconds), retry?
 * {attempts, delay, factor, max (seconds), if?}, interrupt? ("before", "after", "both"), source, inside?: names of the nodes
 * that it begins with inside, edges: [{to, when?, on?, parallel?, join?}]}. Of tasks that run in order the edge is to the next
 * one. For `node`. */
Json inspect_node(const Node *node);
/* {nodes: [{name, kind, workflow, file, line, column, title?, id?}], files}: all nodes of a flow,
 * those of sub-workflows and loops too. For `nodes`. */
Json inspect_nodes(const Flow *flow);
/* {file, first, lines, current}: lines of a file of the workflow (NULL: its main one; the end of
 * its path is enough), `around` (0: 5; at most 1000) before and after one. line 0: from the
 * beginning, and current is null. JSON_NONE when there is no such file or line. For `source`. */
Json inspect_source(const Flow *flow, const char *file, int line, int around, Error *err);

#endif
