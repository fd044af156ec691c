/* flow_bounds.h - whether a workflow may run here (bounds.h), before any of it does. */
#ifndef PAWL_FLOW_BOUNDS_H
#define PAWL_FLOW_BOUNDS_H

#include "bounds.h"
#include "flow.h"

/* False, with the first node that may not (ERR_FORBIDDEN; facts `kind`, `node`). Nodes that are only known while it runs are
 * looked at then. */
bool flow_is_allowed(const Flow *flow, const Bounds *bounds, Error *err);

#endif
