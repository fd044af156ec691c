/* stored_flow.h - the workflow that a run had at a checkpoint, from its store, for tests. */
#ifndef PAWL_STORED_FLOW_H
#define PAWL_STORED_FLOW_H

#include "flow.h"
#include "image_read.h"
#include "store.h"

/* The one that it began with, or the one that it was resumed with since. image is that of the checkpoint, or
 * JSON_NONE for the first one. For flow_unref(); NULL on error. */
static inline Flow *stored_flow(Store *store, const RunRow *row, Json image, Error *err) {
    FlowProblems problems = {0};
    Json key = json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_DEFINITION);
    bool other = json_kind(key) == JSON_STRING;
    Json definition =
        store_definition(store, other ? json_string_data(&key) : row->definition, err);
    Flow *flow = json_is_none(definition) ? NULL : flow_load_definition(definition, &problems);
    flow_problems_clear(&problems);
    json_unref(definition);
    return flow;
}

#endif
