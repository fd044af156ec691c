#define _GNU_SOURCE /* memmem */
#include "titles.h"

#include "flow.h"

#include <string.h>

/* Whether it is worth to load the workflow. */
static bool has_titles(Json definition) {
    Json files = json_object_get_c(definition, "files"), path, text;
    bool found = false;
    for (size_t pos = 0; json_kind(files) == JSON_OBJECT && !found &&
                         json_object_next(files, &pos, &path, &text);) {
        found = json_kind(text) == JSON_STRING &&
                memmem(json_string_data(&text), json_string_len(text), "title", 5);
    }
    return found;
}

static Json titles_of(const Flow *flow) {
    Json out = json_object();
    for (size_t g = 0; g < flow->ngraphs; g++) {
        for (size_t i = 0; i < flow->graphs[g]->nnodes; i++) {
            const Node *node = &flow->graphs[g]->nodes[i];
            Json title = node->task ? node->task->title : json_none();
            Json there = json_object_get(out, node->name_json);
            bool other = !json_is_none(there) && !json_equal(there, title);
            bool none = json_kind(title) != JSON_STRING;
            if (none && json_is_none(there)) title = json_null();
            out = json_object_set(out, json_ref(node->name_json),
                                  other || none ? json_null() : json_ref(title));
        }
    }
    return out;
}

Json titles_read(Store *store, const RunRow *row) {
    Json definition = store_definition(store, row->definition, NULL), out = json_none();
    if (json_kind(definition) == JSON_OBJECT && has_titles(definition)) {
        FlowProblems problems = {0};
        Flow *flow = flow_load_definition(definition, &problems);
        if (flow) out = titles_of(flow);
        flow_unref(flow);
        flow_problems_clear(&problems);
    }
    json_unref(definition);
    return out;
}

Json title_of_node(Json titles, const char *node) {
    Json title = json_is_none(titles) || !node ? json_none() : json_object_get_c(titles, node);
    return json_kind(title) == JSON_STRING ? json_ref(title) : json_none();
}
