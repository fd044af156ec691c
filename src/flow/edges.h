/* edges.h - edges while they are made: drafts of one graph, and where parallel branches join. */
#ifndef PAWL_EDGES_H
#define PAWL_EDGES_H

#include "loader.h"

/* An edge that may still change. */
typedef struct Draft {
    const Expr *when;
    int *targets; /* indices of nodes, or NODE_END */
    size_t ntargets, cap;
    int join;
    bool join_given; /* by fan_in: NAME */
    bool parallel;
    bool grows;   /* of `parallel: true`: further ones are added to it */
    bool gathers; /* as of Edge */
    Spot spot;
} Draft;

/* The edges out of one place, in order. */
typedef struct Out {
    Draft *items;
    size_t n, cap;
    bool closed;      /* the last one has no condition: no other is taken after it */
    Spot closed_spot; /* where that is */
} Out;

typedef struct EdgeBuild {
    const NodeContext *c;
    Graph *graph;
    size_t n;           /* nodes; number n stands for __start__ in `after` */
    Out *after, *error; /* n + 1 of each */
    bool *fan_in;       /* nodes that say `fan_in: true` */
    bool *dead_end;     /* nodes that the file gives no edge */
    bool broken;        /* something was reported: do not guess at what follows from it */
    bool lenient;       /* what leads nowhere, or is never reached, is a warning */
    uint64_t work;      /* left for looking for joins */
} EdgeBuild;

/* Between the two the edges of c->graph are put together; the second finds the joins, looks at what is reached and
 * hands them to the graph. sources: the map of each node. */
void edges_begin(EdgeBuild *b, const NodeContext *c);
void edges_end(EdgeBuild *b, const YamlNode *const *sources);

/* Somewhere to go to: a node or __end__. False after reporting that there is none. */
bool edges_find_target(EdgeBuild *b, const YamlNode *name, int *index);
/* The name, or the names of a list, as targets of the draft. False when there is none. */
bool edges_load_targets(EdgeBuild *b, const YamlNode *to, Draft *draft);
/* Adds a copy of the draft; its targets stay the caller's. */
void edges_add(EdgeBuild *b, Out *out, const Draft *draft);
/* An edge without a condition. */
void edges_add_plain(EdgeBuild *b, Out *out, int target, Spot spot);

/* Gives nodes without an edge in the branches of an edge with fan_in one to where they join. Sets
 * joined[i] to the join, or leaves it. */
enum { NOT_JOINED = -2 };
void edges_lead_to_joins(EdgeBuild *b, int *joined);

/* Fills in the joins that the file does not say. */
void edges_find_joins(EdgeBuild *b);

/* Marks what can be reached from __start__. */
void edges_mark_reached(const EdgeBuild *b, bool *reached);

#endif
