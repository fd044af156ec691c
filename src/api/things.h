/* things.h - the things that answers and events speak of: one shape for each, and one function that makes it.
 *
 * The named shapes (json_shape.h) are the interface: the command line's --json, the socket, pawl.h and every
 * door to come show things in them. Times are RFC 3339 with milliseconds in UTC; field names are snake_case;
 * what there is nothing to say of is left out.
 */
#ifndef PAWL_THINGS_H
#define PAWL_THINGS_H

#include "flow.h"
#include "host.h"
#include "json_shape.h"

extern const ShapeName
    thing_shapes[]; /* RUN, CHECKPOINT, FRAME, BREAKPOINT, ...; the last has no name */

/* RUN: its facts. A run that is under way although no process has it is `stopped`. */
Json run_json(Store *store, const RunRow *row);
/* RUN with what its image says: frames, interrupts, error; with `state` also that. */
typedef struct RunDetail {
    Json image;  /* JSON_NONE: it has none yet */
    Json titles; /* of its tasks (titles.h), or JSON_NONE */
    bool state;
} RunDetail;
Json run_detail(Store *store, const RunRow *row, RunDetail detail);

/* The first problem of a workflow, with its place; `otherwise` when there is none. */
void problems_error(const FlowProblems *problems, const char *otherwise, Error *err);

/* CHECKPOINT. Consumes changed: names of the keys of the state that it changed. */
Json checkpoint_json(const Checkpoint *c, Json changed);

/* LOG: a piece of what an execution of a node printed. */
Json log_json(const LogPiece *piece);

#endif
