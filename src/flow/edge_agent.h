/* edge_agent.h - files of The Edge Agent: graphs in which some things are said, and mean, something else.
 *
 * Such a file has `nodes` and is of the graph dialect, but conditions and templates are Jinja, a node without an edge
 * goes on with the next one, and keys that nobody reads are no mistakes (docs/edge-agent.md). It is told by
 * constructs that no graph of ours can have: in any other file all of them stay errors, and edges keep their meaning.
 *
 * What only describes is said once for each construct and file, as a warning.
 */
#ifndef PAWL_EDGE_AGENT_H
#define PAWL_EDGE_AGENT_H

#include "loader.h"

/* Of one file. */
typedef struct EdgeAgent {
    Json given; /* what templates see beside the state: {variables, settings, data} */
    /* Edges from __start__ have conditions: they are those of a node that does nothing, the last of the graph. NULL:
     * there is none. */
    const YamlNode *chooser;
} EdgeAgent;

#define EDGE_AGENT_CHOOSER "__choose__" /* the name of that */

/* Whether a file with `nodes` is one. */
bool edge_agent_is(const YamlNode *root);

/* Reads all but nodes, edges and config. In the arena. */
EdgeAgent *edge_agent_begin(Loader *ld, const YamlNode *root, GraphImpl *graph);
void edge_agent_config(Loader *ld, const YamlNode *config);

/* In place of those for graphs of ours (loader.h). */
void edge_agent_node(const NodeContext *c, Node *node, const YamlNode *yaml);
void edge_agent_edges(const NodeContext *c, const YamlNode *const *sources, const YamlNode *edges);

#endif
