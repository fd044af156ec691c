/* breakpoints.h - the breakpoints of a session, by the nodes that they are at.
 *
 * Nodes have numbers that are unique in a run (Node.id); each has the list of breakpoints that are at
 * it, so what is elsewhere costs nothing. Breakpoints without a place (conditional, state, exception)
 * are in lists of their own. Nodes that are added later (injected ones) are matched as they come.
 *
 * Where a breakpoint is:
 *     node        nodes of that name in any graph. "sub/name": inside what `sub` holds, which is the name
 *                 of a node (a sub-workflow, a loop, a task with tasks in it) or of a workflow; more
 *                 parts, each directly inside the one before. The body of a map `m` is `m[]`; m/name is
 *                 also what is in its body. Each part may be a glob, and is also a name as it stands
 *     task_index, task_id, task_name    see breakpoint.h
 *     source      the innermost node around the line, else the next one in the file
 *
 * A breakpoint for no node is kept, not verified, and says what could have been meant.
 */
#ifndef PAWL_BREAKPOINTS_H
#define PAWL_BREAKPOINTS_H

#include "breakpoint.h"

typedef struct Breakpoints Breakpoints;

/* Those that are lent are not to be changed. */
typedef struct PointList {
    Breakpoint **items;
    size_t n;
} PointList;

enum {
    POINTS_LISTED = 20, /* places that a listing shows */
    POINTS_PLACES_MAX =
        10000000, /* of all breakpoints together; one that would go past it is at none */
};

Breakpoints *breakpoints_new(const Flow *flow); /* borrows it */
void breakpoints_free(Breakpoints *p);          /* frees the breakpoints too; accepts NULL */

/* Takes the breakpoint; sets verified, places and message ("No node is called `bild`; did you mean
 * `build`?"). Its id must be new. */
void breakpoints_add(Breakpoints *p, Breakpoint *b);
bool breakpoints_remove(Breakpoints *p, int64_t id); /* frees it */
Breakpoint *breakpoints_find(const Breakpoints *p, int64_t id);
size_t breakpoints_count(const Breakpoints *p);
/* In order of their numbers. */
Breakpoint *breakpoints_at(const Breakpoints *p, size_t i);

/* Nodes of a flow that was loaded later, whose numbers follow those that there are; borrows it. Its own
 * file is not the workflow's: `source` and `task_index` are not in it. breakpoints_drop_flow() before it is
 * freed, unless the points are. */
void breakpoints_add_flow(Breakpoints *p, const Flow *flow);
void breakpoints_drop_flow(Breakpoints *p, const Flow *flow);

/* Hot: at every step. All may be empty; disabled ones are among them. An exception that has a place is
 * in the list of its nodes. A state breakpoint is in breakpoints_on_state() alone, also when it has a place:
 * breakpoint_hit() looks at that. */
PointList breakpoints_of_node(const Breakpoints *p, const Node *node);
bool breakpoints_pass(const Breakpoints *p,
                      const Node *node); /* nothing is to be looked at before or after it */
PointList breakpoints_anywhere(const Breakpoints *p); /* conditional without a place */
PointList breakpoints_on_state(const Breakpoints *p);
PointList breakpoints_on_error(const Breakpoints *p); /* exceptions without a place */
bool breakpoints_empty(Breakpoints *p);               /* there is none at all that is enabled */

/* breakpoint_json() with its places. Given. */
Json breakpoints_json(const Breakpoints *p, const Breakpoint *b);

#endif
