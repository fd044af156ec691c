/* node_index.h - the nodes of a flow, for whoever has a name, a kind or a line and wants to know which
 * are meant: breakpoints, above all (breakpoints.h says what the names are).
 *
 *     NodeIndex *x = index_new(flow);
 *     NodeList found = {0};
 *     index_path(x, "sub/build*", 10, &found);        items are borrowed from the flow
 *     mem_free(found.items);
 *     index_free(x);
 *
 * It costs a pass over the flow to make. One at a time may look into it: a search leaves marks.
 */
#ifndef PAWL_NODE_INDEX_H
#define PAWL_NODE_INDEX_H

#include "flow.h"
#include "kind.h"
#include "title_match.h"

typedef struct NodeIndex NodeIndex;

/* Every node of a flow, one after the other: graph by graph, each node followed by the bodies of maps inside
 * it, which are in no graph. NULL past the last. A cursor begins as {0}. */
typedef struct NodeCursor {
    size_t graph, index;
    const Node *node;
} NodeCursor;
const Node *nodes_next(const Flow *flow, NodeCursor *at);
/* Whether a graph is directly inside a node. */
bool node_holds(const Node *node, const Graph *graph);

NodeIndex *index_new(const Flow *flow); /* borrows it */
void index_free(NodeIndex *x);          /* accepts NULL */
const Flow *index_flow(const NodeIndex *x);

/* What was found, as it came: each node once. items are for mem_free(). */
typedef struct NodeList {
    const Node **items;
    size_t n, cap;
} NodeList;

void nodes_add(NodeList *out, const Node *node);

/* All nodes, in the order of their files and places. */
size_t index_count(const NodeIndex *x);
const Node *index_at(const NodeIndex *x, size_t i); /* NULL past the last */

/* These add to *out what they find. */
void index_path(NodeIndex *x, const char *text, size_t len, NodeList *out); /* "name", "sub/na*e" */
void index_name(const NodeIndex *x, const char *name, size_t len, NodeList *out); /* as it stands */
/* Tasks with a title that are so much of a match at least, which is more than none. */
void index_title(const NodeIndex *x, Json title, TitleMatch least, NodeList *out);
void index_kind(const NodeIndex *x, KindId kind, NodeList *out);
bool index_has_kind(const NodeIndex *x, KindId kind);
bool index_is_glob(const char *text);

/* A line of a file: the innermost node around it, or the next one; several where one piece of the file
 * is several nodes. The file is named as it was opened, by the end of its path, or by a longer path. */
typedef struct FileLine {
    const char *file;
    int line;
    bool own; /* the flow's main file counts too */
} FileLine;
void index_line(const NodeIndex *x, const FileLine *at, NodeList *out);
bool index_has_file(const NodeIndex *x, const char *file, bool own);

#endif
