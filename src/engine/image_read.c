#include "image_read.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- frames ---- */

Json image_frame(Json image, int64_t frame) {
    char key[24];
    snprintf(key, sizeof key, "%" PRId64, frame);
    return json_object_get_c(json_array_get(image, IMAGE_FRAMES), key);
}

size_t image_depth(Json image, int64_t frame) {
    return json_array_len(json_array_get(image_frame(image, frame), IMAGE_LEVELS));
}

int64_t image_branch(Json image, int64_t frame) {
    return image_int(image_frame(image, frame), IMAGE_BRANCH);
}

int64_t image_parent(Json image, int64_t frame) {
    int64_t parent = image_int(image_frame(image, frame), IMAGE_PARENT);
    return parent > 0 && parent < frame && image_depth(image, parent) ? parent : 0;
}

Json image_wait(Json image, int64_t frame) {
    return wait_unpaused(json_array_get(image_frame(image, frame), IMAGE_WAIT));
}

bool image_is_parked(Json image, int64_t frame) {
    return wait_is(json_array_get(image_frame(image, frame), IMAGE_WAIT), WAIT_PAUSE);
}

/* ---- levels ---- */

LevelAt image_top(Json image, int64_t frame) {
    size_t depth = image_depth(image, frame);
    return (LevelAt){frame, depth ? depth - 1 : 0};
}

bool image_has(Json image, LevelAt at) {
    return at.level < image_depth(image, at.frame);
}

Json image_part(Json image, LevelAt at, size_t part) {
    Json levels = json_array_get(image_frame(image, at.frame), IMAGE_LEVELS);
    return json_array_get(json_array_get(levels, at.level), part);
}

int64_t image_part_int(Json image, LevelAt at, size_t part) {
    Json n = image_part(image, at, part);
    return json_tag(n) == JSON_TAG_INT ? n.i : 0;
}

bool image_go_down(Json image, LevelAt *at) {
    int64_t parent = at->level ? 0 : image_parent(image, at->frame);
    if (!at->level && !parent) return false;
    *at = at->level ? (LevelAt){at->frame, at->level - 1} : image_top(image, parent);
    return true;
}

LevelAt image_owner(Json image, LevelAt at) {
    while (json_kind(image_part(image, at, IMAGE_STATE)) != JSON_OBJECT &&
           image_go_down(image, &at)) {}
    return at;
}

Json image_seen(Json image, LevelAt at) {
    Json state = image_part(image, image_owner(image, at), IMAGE_STATE);
    return json_kind(state) == JSON_OBJECT ? state : json_none();
}

int64_t image_injected(Json image, LevelAt at, InjectWhere *where) {
    Json injected = image_part(image, at, IMAGE_INJECTED);
    *where = (InjectWhere)image_int(injected, INJECTED_WHERE);
    return image_int(injected, INJECTED_ID);
}

/* ---- with the workflow ---- */

const Node *image_node(const Graph *g, Json name) {
    return g && json_kind(name) == JSON_STRING ? graph_find(g, name) : NULL;
}

/* Of the frame that made this one: the graph of a cleanup list, or inside a task, or the same again. */
static const Graph *lowest_graph(const Flow *flow, Json image, int64_t frame) {
    int64_t parent = image_parent(image, frame), branch = image_branch(image, frame);
    if (!parent) return flow->main;
    Json wait = image_wait(image, parent);
    if (wait_is(wait, WAIT_CLEANING)) {
        return branch >= 0 && (size_t)branch < flow->ngraphs ? flow->graphs[branch] : NULL;
    }
    LevelAt top = image_top(image, parent);
    const Graph *around = image_graph(flow, image, top);
    if (!wait_is(wait, WAIT_TASKS)) return around;
    const Node *node = image_node(around, image_part(image, top, IMAGE_NODE));
    return node ? node_inside(node, branch) : NULL;
}

static bool is_injected(Json image, LevelAt at) {
    return json_kind(image_part(image, at, IMAGE_INJECTED)) == JSON_ARRAY;
}

/* It is inside of a test that was read when its task began. */
static bool is_fetched(Json image, LevelAt at) {
    return json_tag(image_part(image, at, IMAGE_INJECTED)) == JSON_TAG_INT;
}

const Graph *image_graph(const Flow *flow, Json image, LevelAt at) {
    LevelAt lowest = {at.frame, 0};
    const Graph *graph = is_fetched(image, lowest) ? NULL : lowest_graph(flow, image, at.frame);
    for (LevelAt below = lowest; graph && below.level < at.level; below.level++) {
        LevelAt inside = {at.frame, below.level + 1};
        if (is_fetched(image, inside)) return NULL;
        Json name = image_part(image, below, IMAGE_NODE);
        const Node *node = is_injected(image, below) ? NULL : image_node(graph, name);
        bool past = json_kind(name) == JSON_NULL && graph->scoped;
        graph = past ? graph->after : node ? node_inside(node, 0) : NULL;
    }
    return is_injected(image, at) ? NULL : graph;
}

/* ---- names ---- */

void frame_name_by(WaitKind wait, const Node *maker, int64_t branch, char *out, size_t size) {
    const char *const *names = maker ? maker->kind->children : NULL;
    if (wait == WAIT_NOTHING || wait == WAIT_CLEANING) {
        snprintf(out, size, "%s", wait == WAIT_CLEANING ? "cleanup" : "main");
    } else if (wait == WAIT_JOIN) {
        snprintf(out, size, "parallel[%" PRId64 "]", branch);
    } else if (names && names[1]) {
        snprintf(out, size, "%s", names[branch != 0]);
    } else {
        snprintf(out, size, "%s[%" PRId64 "]", names && names[0] ? names[0] : "child", branch);
    }
}

void image_frame_name(const Flow *flow, Json image, int64_t frame, char *out, size_t size) {
    int64_t parent = image_parent(image, frame);
    LevelAt top = image_top(image, parent);
    WaitKind wait = parent ? wait_kind(image_wait(image, parent)) : WAIT_NOTHING;
    const Graph *graph = flow && wait == WAIT_TASKS ? image_graph(flow, image, top) : NULL;
    const Node *maker = image_node(graph, image_part(image, top, IMAGE_NODE));
    int64_t branch = image_branch(image, frame);
    if (wait == WAIT_MAP) {
        snprintf(out, size, "map[%" PRId64 "]", branch);
    } else {
        bool as_is = !parent || wait == WAIT_CLEANING || wait == WAIT_TASKS;
        frame_name_by(as_is ? wait : WAIT_JOIN, maker, branch, out, size);
    }
}
