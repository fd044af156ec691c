/* choice.h - which edge was taken, and what the conditions that were tried gave.
 *
 * Where a node, or the start of a graph, has one edge without a condition there is nothing to choose. Elsewhere
 * a choice is noted with its run and goes into the checkpoint that is recorded next: nearly always that of the
 * node itself. One that is made later (after an interrupt, a pause or a slice) is in the run's next one. A choice
 * that is on no record when the process ends is made again.
 *
 * Nearly all conditions give true where their edge is taken and false where it is not, so a checkpoint has no
 * more than the number of the edge. Values that are neither are kept as they are, or by their type and size where they
 * are large. Where a condition fails, or none holds, no edge is taken: what was tried is kept all the same, and why the
 * last of them failed.
 */
#ifndef PAWL_CHOICE_H
#define PAWL_CHOICE_H

#include "image_read.h"

typedef struct Choice {
    LevelAt at;
    const Graph *graph;
    const Node *node; /* NULL: the start of the graph */
    bool error;       /* an edge for errors */
    int edge;  /* the one that is taken, or that was tried last; -1: conditions are being tried */
    bool none; /* none is taken */
    /* [[edge, value] | [edge, null, type, size] | [edge, null, "error", sentence], ...]; JSON_NONE: none */
    Json odd;
} Choice;

/* A condition of the frame's top level gave a value, borrowed; `fresh`: it is the first that is tried. */
void choice_tried(Frame *f, size_t edge, Json value, bool fresh);
/* None is taken: the last that was tried failed with an error, or (NULL) did not hold, as the others. */
void choice_failed(Frame *f, size_t edge, const Error *why, bool fresh);
/* The edge is taken from there. Before the frame goes along it. */
void choice_made(Frame *f, const Edges *edges, const Edge *edge, bool error);
void choices_recorded(Run *run); /* all that were made: forgets them */
void choices_clear(Run *run);

/* ---- in a checkpoint (result.h) ---- */

/* [error, edge (where none is taken: -1 - the last that was tried), odd or null, frame, level, node or null (of the
 * start)]; given. */
Json choice_json(const Choice *c);
/* For a checkpoint of its node: the number alone says it. */
static inline bool choice_is_plain(const Choice *c) {
    return !c->error && !c->none && c->node && json_is_none(c->odd);
}

/* ---- for people ---- */

/* EDGE of each: {from, frame, to: [node], error?, tried: [{when, to, gave} | {when, to, type, size} | {when, to, error}]};
 * `to` is empty where no edge is taken. Given, an array; JSON_NONE when there are none. */
Json choices_tell(const Run *run);
/* The same of what a checkpoint has (StepResult.edges), between the images around it. Of any origin: what does
 * not fit is left out. */
Json choices_told(const Flow *flow, Json before, Json after, Json edges);
/* [{to: [node], when?, error?}] of all edges of a node; NULL: of the start. */
Json edges_of(const Graph *graph, const Node *node);

#endif
