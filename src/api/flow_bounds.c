#include "flow_bounds.h"

#include "kind_bounds.h"
#include "node_index.h"

bool flow_is_allowed(const Flow *flow, const Bounds *bounds, Error *err) {
    NodeCursor at = {0};
    bool allowed = true;
    for (const Node *node; allowed && bounds->kinds && (node = nodes_next(flow, &at));) {
        allowed = kind_is_allowed(bounds, node->kind, node->name, err);
        if (!allowed && err) {
            err->line = node->line;
            err->col = node->col;
        }
    }
    return allowed;
}
