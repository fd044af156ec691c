/* recording.c - what executions came to, read from a line of checkpoints; and handed to a run.
 *
 * Reading. The line is walked once, with the images before and at each checkpoint. For every frame it is
 * known at which nodes its levels stand: a *visit* each, from the record in which the level is first seen
 * there (its base) to the one that ends it. What the node came to is the difference between its base and
 * the image of its end, at that level; where the level is gone by then, it is what the level handed on: a
 * branch its writes, an element its result, a failure its error.
 *
 * The patch of a checkpoint names the frames that it touched, and only those are looked at, so that a map
 * of thousands costs what happens in it.
 *
 * Places. "main", "main/plan[0]": a frame, by the nodes that the frame around it stood at, and its branch;
 * "sub/build": a node, by the nodes of the levels below. A node that is come to again is `plan#2`, the
 * second attempt at it `plan#1.1`: so what was under way in a branch and was ended is never mistaken for
 * the same branch of the next time. The counts are of nodes come to, which both sides see alike. */
#include "recording.h"

#include "json_binary.h"
#include "json_diff.h"
#include "mem.h"
#include "suggest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct Recording {
    Json outcomes; /* {place with its count: [kind, info or null]} */
    Json counts;   /* {place: how often it was come to}: by the reader, then by the run */
    Json last;     /* {frame: the place that it was counted for last} */
    char *live_from;
    bool live;
    int64_t taken, done;
    Json missing;
    bool more;
};

enum { OUTCOME_KIND, OUTCOME_INFO };

/* ---- kinds ---- */

static const bool leaves[KIND_COUNT] = {
    [KIND_SHELL] = true,           [KIND_PYTHON] = true,
    [KIND_JAVASCRIPT] = true,      [KIND_HTTP] = true,
    [KIND_ACTION] = true,          [KIND_SLEEP] = true,
    [KIND_APPROVAL] = true,        [KIND_CALLBACK_LATER] = true,
    [KIND_RUN_SHELL] = true,       [KIND_RUN_COMMAND] = true,
    [KIND_RUN_JAVASCRIPT] = true,  [KIND_TASK_SLEEP] = true,
    [KIND_CHECK_HTTP_JSON] = true, [KIND_CHECK_HTTP_METRICS] = true,
    [KIND_SCRIPT] = true,          [KIND_DOCKER] = true,
    [KIND_AGENT] = true,           [KIND_MERGE] = true,
    [KIND_TRIGGER] = true,
};

/* The parameter that has the graph inside a node of a kind, plus 1; of the second branch where that has
 * another one. 0: there is none. */
static const struct Inside {
    int first, second;
} insides[KIND_COUNT] = {
    [KIND_WORKFLOW] = {WORKFLOW_FILE + 1, 0},
    [KIND_WHILE] = {WHILE_DO + 1, 0},
    [KIND_RUN_TASKS] = {RUN_TASKS_TASKS + 1, 0},
    [KIND_RUN_TASKS_CONCURRENT] = {CONCURRENT_TASKS + 1, 0},
    [KIND_RUN_TASK_MATRIX] = {MATRIX_TASK + 1, 0},
    [KIND_RUN_TASK_OPTIONS] = {OPTIONS_TASK + 1, 0},
    [KIND_RUN_EXTERNAL_TASKS] = {EXTERNAL_FILE + 1, 0},
    [KIND_RUN_TASK_BACKGROUND] = {BACKGROUND_FOREGROUND + 1, BACKGROUND_BACKGROUND + 1},
};

static const Graph *graph_inside(const Node *node, int64_t branch) {
    const struct Inside *row = &insides[node->kind->id];
    int param = branch && row->second ? row->second : row->first;
    return param ? node->params[param - 1].graph : NULL;
}

static bool holds_others(const Node *node) {
    return node->kind->id == KIND_MAP || insides[node->kind->id].first;
}

/* ---- places ---- */

static void add_string(Buf *out, Json s) {
    buf_add(out, json_string_data(&s), json_string_len(s));
}

static void add_again(Buf *out, int64_t count, int64_t attempt) {
    if (attempt) {
        buf_printf(out, "#%" PRId64 ".%" PRId64, count + 1, attempt);
    } else if (count > 0) {
        buf_printf(out, "#%" PRId64, count + 1);
    }
}

/* The path of a frame from the place that its parent stands at, "frame\nnodes". */
static void add_child(Buf *out, const Buf *made_at, int64_t branch) {
    const char *end = memchr(made_at->data, '\n', made_at->len);
    size_t frame = (size_t)(end - made_at->data);
    buf_add(out, made_at->data, frame);
    buf_addc(out, '/');
    buf_add(out, end + 1, made_at->len - frame - 1);
    buf_printf(out, "[%" PRId64 "]", branch);
}

static Json text_of(const Buf *b) {
    return json_string(b->data ? b->data : "", b->len);
}

static int64_t count_of(Json counts, const Buf *place) {
    Json key = text_of(place), n = json_object_get(counts, key);
    json_unref(key);
    return json_tag(n) == JSON_TAG_INT ? n.i : 0;
}

/* One more; how many there were before. */
static int64_t count_one(Json *counts, const Buf *place) {
    int64_t n = count_of(*counts, place);
    *counts = json_object_set(*counts, text_of(place), json_int(n + 1));
    return n;
}

static Json outcome_key(const Buf *place, int64_t nth) {
    return json_string_fmt("%.*s\n%" PRId64, (int)place->len, place->data, nth);
}

/* ---- reading an image ---- */

/* Images may come from anywhere: nothing is taken for granted, and a frame whose parent is not older has
 * none. */
static Json item(Json array, size_t i) {
    return json_kind(array) == JSON_ARRAY ? json_array_get(array, i) : json_none();
}

static Json field(Json object, Json key) {
    bool there = json_kind(object) == JSON_OBJECT && json_kind(key) == JSON_STRING;
    return there ? json_object_get(object, key) : json_none();
}

static Json field_c(Json object, const char *key) {
    return json_kind(object) == JSON_OBJECT ? json_object_get_c(object, key) : json_none();
}

static int64_t int_at(Json array, size_t i) {
    return json_kind(array) == JSON_ARRAY ? image_int(array, i) : 0;
}

/* A level of a frame. */
typedef struct Spot {
    int64_t frame;
    size_t level;
} Spot;

static Json frame_at(Json image, int64_t id) {
    char key[24];
    snprintf(key, sizeof key, "%" PRId64, id);
    return field_c(item(image, IMAGE_FRAMES), key);
}

static size_t depth_at(Json image, int64_t frame) {
    Json levels = item(frame_at(image, frame), IMAGE_LEVELS);
    return json_kind(levels) == JSON_ARRAY ? json_array_len(levels) : 0;
}

static bool is_there(Json image, Spot s) {
    return s.level < depth_at(image, s.frame);
}

static Json level_at(Json image, Spot s) {
    return item(item(frame_at(image, s.frame), IMAGE_LEVELS), s.level);
}

static Json part_at(Json image, Spot s, size_t part) {
    return item(level_at(image, s), part);
}

static int64_t int_part(Json image, Spot s, size_t part) {
    Json n = part_at(image, s, part);
    return json_tag(n) == JSON_TAG_INT ? n.i : 0;
}

static int64_t branch_at(Json image, int64_t frame) {
    return int_at(frame_at(image, frame), IMAGE_BRANCH);
}

static int64_t parent_at(Json image, int64_t frame) {
    int64_t parent = int_at(frame_at(image, frame), IMAGE_PARENT);
    return parent > 0 && parent < frame && depth_at(image, parent) ? parent : 0;
}

/* Of a frame that is not there: its lowest. */
static Spot top_at(Json image, int64_t frame) {
    size_t depth = depth_at(image, frame);
    return (Spot){frame, depth ? depth - 1 : 0};
}

/* Whatever it waits for, a debugger aside. */
static Json wait_at(Json image, int64_t frame) {
    Json wait = item(frame_at(image, frame), IMAGE_WAIT);
    return wait_is(wait, "pause") ? item(wait, WAIT_PAUSED) : wait;
}

/* The level whose state it is that a level shows. */
static Spot owner_at(Json image, Spot s) {
    while (json_kind(part_at(image, s, IMAGE_STATE)) != JSON_OBJECT) {
        int64_t parent = s.level ? 0 : parent_at(image, s.frame);
        if (!s.level && !parent) {
            break;
        }
        s = s.level ? (Spot){s.frame, s.level - 1} : top_at(image, parent);
    }
    return s;
}

static Json state_at(Json image, Spot s) {
    Json state = part_at(image, owner_at(image, s), IMAGE_STATE);
    return json_kind(state) == JSON_OBJECT ? state : json_none();
}

static Json writes_at(Json image, Spot s) {
    return part_at(image, s, IMAGE_WRITES);
}

/* ---- nodes of an image ---- */

static const Node *find_node(const Graph *g, Json name) {
    if (!g || json_kind(name) != JSON_STRING) {
        return NULL;
    }
    const Node *node = graph_node(g, name);
    size_t len = json_string_len(name);
    if (node || len < 3 || memcmp(json_string_data(&name) + len - 2, "[]", 2) != 0) {
        return node;
    }
    Json map_name = json_string(json_string_data(&name), len - 2);
    const Node *map = find_node(g, map_name);
    json_unref(map_name);
    return map && map->kind->id == KIND_MAP ? map->params[MAP_DO].node : NULL;
}

static const Graph *graph_at(const Flow *flow, Json image, Spot s);

static const Graph *lowest_graph(const Flow *flow, Json image, int64_t frame) {
    int64_t parent = parent_at(image, frame), branch = branch_at(image, frame);
    if (!parent) {
        return flow->main;
    }
    Json wait = wait_at(image, parent);
    if (wait_is(wait, "cleaning")) {
        return branch >= 0 && (size_t)branch < flow->ngraphs ? flow->graphs[branch] : NULL;
    }
    const Graph *around = graph_at(flow, image, top_at(image, parent));
    if (!wait_is(wait, "tasks")) {
        return around;
    }
    const Node *node = find_node(around, part_at(image, top_at(image, parent), IMAGE_NODE));
    return node ? graph_inside(node, branch) : NULL;
}

/* NULL where the workflow has none: an injected node, or another version of the file. */
static const Graph *graph_at(const Flow *flow, Json image, Spot s) {
    const Graph *graph = lowest_graph(flow, image, s.frame);
    for (Spot at = {s.frame, 0}; graph && at.level < s.level; at.level++) {
        Json name = part_at(image, at, IMAGE_NODE);
        const Node *node = find_node(graph, name);
        bool past = json_kind(name) == JSON_NULL && graph->scoped;
        graph = past ? graph->after : node ? graph_inside(node, 0) : NULL;
    }
    bool injected = json_kind(part_at(image, s, IMAGE_INJECTED)) == JSON_OBJECT ||
                    json_kind(part_at(image, s, IMAGE_INJECTED)) == JSON_ARRAY;
    return injected ? NULL : graph;
}

/* ---- what a node gave back, from what became of the state ---- */

/* A level before and after a node. The state after it is JSON_NONE when the level has ended. */
typedef struct Change {
    const Graph *graph;
    const Node *node;
    Json state, writes, state_after, writes_after;
} Change;

enum { WRITE_VALUE, WRITE_NODE, WRITE_REPLACES };

static Reduce reducer_of(const Change *c, Json key) {
    const StateKey *row = graph_key(c->graph, key);
    return row ? row->reduce : REDUCE_REPLACE;
}

static bool is_nothing(Json v) {
    return json_is_none(v) || json_kind(v) == JSON_NULL;
}

static size_t list_len(Json old_value) {
    return json_kind(old_value) == JSON_ARRAY ? json_array_len(old_value) : !is_nothing(old_value);
}

/* The elements that were added; JSON_NONE when it is not that. */
static Json added_items(Json old_value, Json value) {
    size_t n = list_len(old_value);
    bool longer = json_kind(value) == JSON_ARRAY && json_array_len(value) >= n;
    return longer ? json_array_slice(json_ref(value), n, json_array_len(value)) : json_none();
}

static Json added_text(Json old_value, Json value) {
    size_t n = json_string_len(old_value), len = json_string_len(value);
    bool longer = len >= n && !memcmp(json_string_data(&old_value), json_string_data(&value), n);
    return longer ? json_string(json_string_data(&value) + n, len - n) : json_none();
}

static Json added_number(Json old_value, Json value) {
    if (json_tag(old_value) == JSON_TAG_INT && json_tag(value) == JSON_TAG_INT) {
        int64_t by;
        return __builtin_sub_overflow(value.i, old_value.i, &by) ? json_none() : json_int(by);
    }
    double old_number = json_to_double(old_value), number = json_to_double(value);
    double by = number - old_number;
    return old_number + by == number ? json_number(by) : json_none();
}

static Json added_fields(Json old_value, Json value) {
    Json out = json_object(), key, v;
    for (size_t pos = 0; json_object_next(value, &pos, &key, &v);) {
        Json before = json_object_get(old_value, key);
        if (json_is_none(before) || !json_equal(before, v)) {
            out = json_object_set(out, json_ref(key), json_ref(v));
        }
    }
    return out;
}

/* What was put to an old value with jq's +. */
static Json added(Json old_value, Json value) {
    if (is_nothing(old_value)) {
        return json_ref(value);
    }
    if (json_kind(old_value) != json_kind(value)) {
        return json_none();
    }
    switch (json_kind(value)) {
    case JSON_ARRAY: return added_items(old_value, value);
    case JSON_STRING: return added_text(old_value, value);
    case JSON_NUMBER: return added_number(old_value, value);
    case JSON_OBJECT: return added_fields(old_value, value);
    default: return json_none();
    }
}

/* A value that a reducer makes `value` of `old_value` with, given; JSON_NONE: it cannot be known. */
static Json unreduced(Reduce reduce, Json old_value, Json value) {
    if (json_is_none(value)) {
        return value;
    }
    switch (reduce) {
    case REDUCE_REPLACE:
    case REDUCE_MERGE: return json_ref(value); /* old * (old * new) == old * new */
    case REDUCE_APPEND:
    case REDUCE_UNION: return added_items(old_value, value);
    case REDUCE_ADD: return added(old_value, value);
    default: return json_none();
    }
}

static Json write_value(Json entry) {
    return item(entry, WRITE_VALUE);
}

static bool is_replaced(Json entry) {
    return json_kind(entry) == JSON_ARRAY && json_array_len(entry) > WRITE_REPLACES;
}

/* The value that the node, which wrote this key, gave it. Given; JSON_NONE: it cannot be known. */
static Json value_given(const Change *c, Json key) {
    Reduce reduce = reducer_of(c, key);
    Json old_entry = field(c->writes, key), entry = field(c->writes_after, key);
    if (json_is_none(entry) || is_replaced(entry)) {
        return unreduced(reduce, field(c->state, key), field(c->state_after, key));
    }
    Json value = write_value(entry);
    if (reduce == REDUCE_EXPR) { /* a list of all that went through it */
        size_t n = json_kind(value) == JSON_ARRAY ? json_array_len(value) : 0;
        return n ? json_ref(json_array_get(value, n - 1)) : json_none();
    }
    return json_is_none(old_entry) ? json_ref(value)
                                   : unreduced(reduce, write_value(old_entry), value);
}

static bool differ(Json a, Json b) {
    return json_is_none(a) != json_is_none(b) || (!json_is_none(a) && !json_equal(a, b));
}

static bool is_written(const Change *c, Json key) {
    return differ(field(c->writes, key), field(c->writes_after, key)) ||
           (!json_is_none(c->state_after) &&
            differ(field(c->state, key), field(c->state_after, key)));
}

/* A shell always writes these two, also when they are what they were. */
static bool is_always_written(const Change *c, Json key) {
    bool text = c->node->kind->id == KIND_SHELL && json_is_none(c->node->params[SHELL_PARSE].value);
    return text && (json_string_is(key, "stdout") || json_string_is(key, "exit_code"));
}

/* All that it wrote, in its order: new keys are last in what they were added to. */
static Json update_given(const Change *c) {
    bool kept = json_kind(c->writes_after) == JSON_OBJECT;
    Json all = kept ? c->writes_after : c->state_after, update = json_object(), key, value;
    for (size_t pos = 0; json_kind(all) == JSON_OBJECT && !json_is_none(update) &&
                         json_object_next(all, &pos, &key, &value);) {
        if (!is_written(c, key) && !is_always_written(c, key)) {
            continue;
        }
        Json given = value_given(c, key);
        if (json_is_none(given)) {
            json_clear(&update);
        } else {
            update = json_object_set(update, json_ref(key), given);
        }
    }
    return update;
}

static Json result_given(const Change *c) {
    bool named = !json_is_none(c->node->output);
    return named ? value_given(c, c->node->output) : update_given(c);
}

static Json with_status(const char *status) {
    return json_object_with(json_object(), "status", json_string_c(status));
}

static Json or_null(Json v) {
    return json_is_none(v) ? json_null() : json_ref(v);
}

/* The state of a branch that has ended is gone: as far as its writes tell, and nobody sees the rest. */
static Json state_from_writes(const Change *c) {
    Json state = json_ref(c->state), key, entry;
    for (size_t pos = 0; json_kind(c->writes_after) == JSON_OBJECT &&
                         json_object_next(c->writes_after, &pos, &key, &entry);) {
        if (reducer_of(c, key) == REDUCE_REPLACE || is_replaced(entry)) {
            state = json_object_set(state, json_ref(key), or_null(write_value(entry)));
        }
    }
    return state;
}

static Json level_patch(const Change *c) {
    Json before[] = {json_ref(c->state), or_null(c->writes)};
    Json after[] = {json_is_none(c->state_after) ? state_from_writes(c) : json_ref(c->state_after),
                    or_null(c->writes_after)};
    Json from = json_array_from(before, 2), to = json_array_from(after, 2);
    Json patch = json_diff(from, to);
    json_unref(from);
    json_unref(to);
    return patch;
}

/* ---- the reader ---- */

/* A visit is an array. */
enum {
    VISIT_NODE,  /* name, or null past the last */
    VISIT_STEPS, /* of the level */
    VISIT_TURNS, /* of its loop so far */
    VISIT_NTH,
    VISIT_BASE, /* the image in which it was first seen there */
    VISIT_DONE, /* the image in which the node was done while the frame stays at it; null: it is not */
    VISIT_PARTS,
};

enum { SEEN_PATH, SEEN_VISITS };

typedef struct Reader {
    Recording *r;
    const Flow *flow;
    const Line *line;
    const LineStep *c;
    Json before, after; /* images around the checkpoint */
    Json seen; /* {frame: [path, [visit, ...]]} as of `before`, while a step is looked at */
} Reader;

static Json frame_key(int64_t frame) {
    return json_string_fmt("%" PRId64, frame);
}

static Json seen_part(const Reader *rd, int64_t frame, size_t part) {
    char key[24];
    snprintf(key, sizeof key, "%" PRId64, frame);
    return item(field_c(rd->seen, key), part);
}

static size_t visits_of(const Reader *rd, int64_t frame) {
    Json visits = seen_part(rd, frame, SEEN_VISITS);
    return json_kind(visits) == JSON_ARRAY ? json_array_len(visits) : 0;
}

static Json visit_at(const Reader *rd, Spot s) {
    return item(seen_part(rd, s.frame, SEEN_VISITS), s.level);
}

static void set_seen(Reader *rd, int64_t frame, Json path, Json visits) {
    Json parts[] = {path, visits};
    rd->seen = json_object_set(rd->seen, frame_key(frame), json_array_from(parts, 2));
}

static void set_visit(Reader *rd, Spot s, Json visit) {
    Json visits = json_ref(seen_part(rd, s.frame, SEEN_VISITS));
    Json path = json_ref(seen_part(rd, s.frame, SEEN_PATH));
    set_seen(rd, s.frame, path, json_array_set(visits, s.level, visit));
}

/* The names of visits below a level, and "frame\n" before them. */
static void add_visits(Buf *out, Json path, Json visits, size_t level) {
    add_string(out, path);
    buf_addc(out, '\n');
    for (size_t i = 0; i < level; i++) {
        Json visit = item(visits, i), name = item(visit, VISIT_NODE);
        if (json_kind(name) == JSON_STRING) {
            add_string(out, name);
        } else {
            buf_adds(out, "__start__");
        }
        add_again(out, int_at(visit, VISIT_NTH), 0);
        buf_addc(out, '/');
    }
}

static void place_of(const Reader *rd, Spot s, Buf *out) {
    Json visits = seen_part(rd, s.frame, SEEN_VISITS);
    add_visits(out, seen_part(rd, s.frame, SEEN_PATH), visits, s.level);
    Json name = item(item(visits, s.level), VISIT_NODE);
    if (json_kind(name) == JSON_STRING) {
        add_string(out, name);
    }
}

/* ---- seeing where frames stand ---- */

static void see(Reader *rd, int64_t frame);

static Json path_seen(Reader *rd, int64_t frame) {
    int64_t parent = parent_at(rd->after, frame);
    if (!parent) {
        return json_string_c("main");
    }
    see(rd, parent);
    Spot at = top_at(rd->after, parent);
    Buf made = BUF_INIT, path = BUF_INIT;
    place_of(rd, at, &made);
    if (json_kind(item(visit_at(rd, at), VISIT_NODE)) != JSON_STRING) {
        buf_adds(&made, "__start__");
    }
    add_again(&made, int_at(visit_at(rd, at), VISIT_NTH), int_part(rd->after, at, IMAGE_ATTEMPT));
    bool cleanup = wait_is(wait_at(rd->after, parent), "cleaning");
    add_child(&path, &made, cleanup ? 0 : branch_at(rd->after, frame));
    Json out = text_of(&path);
    buf_clear(&made);
    buf_clear(&path);
    return out;
}

static Json new_visit(Reader *rd, Spot s, Json path, Json visits) {
    Json name = part_at(rd->after, s, IMAGE_NODE);
    bool named = json_kind(name) == JSON_STRING;
    Buf place = BUF_INIT;
    add_visits(&place, path, visits, s.level);
    if (named) {
        add_string(&place, name);
    }
    Json parts[VISIT_PARTS] = {
        [VISIT_NODE] = named ? json_ref(name) : json_null(),
        [VISIT_STEPS] = json_int(int_part(rd->after, s, IMAGE_STEPS)),
        [VISIT_TURNS] = json_int(int_part(rd->after, s, IMAGE_COUNT)),
        [VISIT_NTH] = json_int(named ? count_one(&rd->r->counts, &place) : 0),
        [VISIT_BASE] = json_ref(rd->after),
        [VISIT_DONE] = json_null(),
    };
    buf_clear(&place);
    return json_array_from(parts, VISIT_PARTS);
}

/* The steps of a level tell one time at a node from the next, but for a loop: the steps of its turns are
 * added while it goes on. */
static bool is_same_time(const Reader *rd, Spot s, Json visit) {
    int64_t turns = int_at(visit, VISIT_TURNS);
    return int_at(visit, VISIT_STEPS) == int_part(rd->after, s, IMAGE_STEPS) ||
           (turns && int_part(rd->after, s, IMAGE_COUNT) >= turns);
}

static bool is_same_visit(const Reader *rd, Spot s, Json visit) {
    Json name = part_at(rd->after, s, IMAGE_NODE);
    return json_kind(visit) == JSON_ARRAY && is_there(rd->after, s) &&
           !differ(item(visit, VISIT_NODE), json_is_none(name) ? json_null() : name) &&
           is_same_time(rd, s, visit);
}

static bool is_same_turn(const Reader *rd, Spot s, Json visit) {
    return int_at(visit, VISIT_TURNS) == int_part(rd->after, s, IMAGE_COUNT);
}

/* What is kept of the visits so far: those up to the first level that has gone on. */
static size_t visits_kept(const Reader *rd, int64_t frame, size_t n) {
    size_t kept = 0;
    for (bool same = true; same && kept < n; kept += same) {
        Spot s = {frame, kept};
        bool turned = kept && !is_same_turn(rd, (Spot){frame, kept - 1},
                                            visit_at(rd, (Spot){frame, kept - 1}));
        same = !turned && is_same_visit(rd, s, visit_at(rd, s));
    }
    return kept;
}

static void keep_outcome(Reader *rd, Spot s, const Node *node, Json info);

/* Something else ended it, or the line ends before it did. */
static void leave_visit(Reader *rd, Spot s, Json image) {
    Json visit = visit_at(rd, s);
    const Node *node = find_node(graph_at(rd->flow, image, s), item(visit, VISIT_NODE));
    if (!node || !leaves[node->kind->id] || json_kind(item(visit, VISIT_DONE)) != JSON_NULL) {
        return;
    }
    Buf place = BUF_INIT;
    place_of(rd, s, &place);
    Json key = outcome_key(&place, int_at(visit, VISIT_NTH));
    if (json_is_none(json_object_get(rd->r->outcomes, key))) {
        keep_outcome(rd, s, node, json_null());
    }
    json_unref(key);
    buf_clear(&place);
}

static void see_frame(Reader *rd, int64_t frame, size_t kept) {
    Json path = seen_part(rd, frame, SEEN_PATH);
    path = json_is_none(path) ? path_seen(rd, frame) : json_ref(path);
    Json visits = seen_part(rd, frame, SEEN_VISITS);
    visits = json_is_none(visits) ? json_array() : json_array_slice(json_ref(visits), 0, kept);
    for (size_t i = 0; i < depth_at(rd->after, frame); i++) {
        Spot s = {frame, i};
        Json visit = i < kept ? json_array_set(json_ref(item(visits, i)), VISIT_TURNS,
                                               json_int(int_part(rd->after, s, IMAGE_COUNT)))
                              : new_visit(rd, s, path, visits);
        visits = json_array_set(visits, i, visit);
    }
    set_seen(rd, frame, path, visits);
}

/* Frames in frames deeper than any run has them are not looked at: an image may come from anywhere. */
static bool is_too_deep(Json image, int64_t frame) {
    enum { NESTING_MAX = 1000 };
    int nesting = 0;
    for (int64_t at = frame; at && nesting <= NESTING_MAX; at = parent_at(image, at)) {
        nesting++;
    }
    return nesting > NESTING_MAX;
}

static void see(Reader *rd, int64_t frame) {
    size_t n = visits_of(rd, frame), kept = visits_kept(rd, frame, n);
    if (!n && is_too_deep(rd->after, frame)) {
        return;
    }
    if (kept < n) {
        leave_visit(rd, (Spot){frame, n - 1}, rd->before);
    }
    if (depth_at(rd->after, frame)) {
        see_frame(rd, frame, kept);
    } else {
        Json key = frame_key(frame);
        rd->seen = json_object_remove(rd->seen, key);
        json_unref(key);
    }
}

/* ---- outcomes ---- */

static void keep_outcome(Reader *rd, Spot s, const Node *node, Json info) {
    Buf place = BUF_INIT;
    place_of(rd, s, &place);
    Json parts[] = {json_int(node->kind->id), info};
    Json key = outcome_key(&place, int_at(visit_at(rd, s), VISIT_NTH));
    rd->r->outcomes = json_object_set(rd->r->outcomes, key, json_array_from(parts, 2));
    buf_clear(&place);
}

/* An execution, as its end is looked at. */
typedef struct Ended {
    Spot at;
    const Graph *graph;
    const Node *node;
    Json base;     /* image when it was come to; borrowed */
    int64_t taker; /* the frame that has what it left, when its own is gone; 0: none */
} Ended;

static Json handed_writes(const Reader *rd, const Ended *e) {
    Json wait = wait_at(rd->after, e->taker);
    return wait_is(wait, "join")
               ? item(item(wait, WAIT_JOIN_WRITES), (size_t)branch_at(rd->before, e->at.frame))
               : json_none();
}

static Change change_of(const Reader *rd, const Ended *e) {
    bool there = is_there(rd->after, e->at);
    return (Change){
        .graph = e->graph,
        .node = e->node,
        .state = state_at(e->base, e->at),
        .writes = writes_at(e->base, e->at),
        .state_after = there ? state_at(rd->after, e->at) : json_none(),
        .writes_after = there ? writes_at(rd->after, e->at) : handed_writes(rd, e),
    };
}

/* Somebody changed the level by hand between the node's beginning and its end. */
static bool was_changed(Json base, Json image, Spot s) {
    return differ(state_at(base, s), state_at(image, s)) ||
           differ(writes_at(base, s), writes_at(image, s));
}

/* Of an element that ended; JSON_NONE: it is none. A debugger may have stopped it there. Borrowed. */
static Json element_result(const Reader *rd, const Ended *e) {
    Json own = wait_at(rd->after, e->at.frame), wait = wait_at(rd->after, e->taker);
    if (!e->at.level && wait_is(own, "ended")) {
        return item(own, WAIT_RESULT);
    }
    bool element = e->taker && !e->at.level && wait_is(wait, "map");
    return element ? item(item(wait, WAIT_MAP_RESULTS), (size_t)branch_at(rd->before, e->at.frame))
                   : json_none();
}

static Json graph_completed(const Reader *rd, const Ended *e, Json before) {
    Json result = json_ref(element_result(rd, e));
    Change c = change_of(rd, e);
    bool known =
        !json_is_none(c.state) && (!json_is_none(c.state_after) || !json_is_none(c.writes_after));
    if (json_is_none(result) && known && !was_changed(e->base, before, e->at)) {
        result = result_given(&c);
    }
    if (!json_is_none(result)) {
        return json_object_with(with_status("completed"), "result", result);
    }
    return known ? json_object_with(with_status("completed"), "level", level_patch(&c))
                 : json_none();
}

static Json run_error_at(Json image) {
    Json error = item(item(image, IMAGE_RUN), IMAGE_ERROR);
    return json_kind(error) == JSON_OBJECT ? error : json_none();
}

/* The error that a checkpoint of a graph is about: of the frame's top level, or of the run. Given. */
static Json graph_error(const Reader *rd, const Ended *e) {
    Json wait = wait_at(rd->after, e->at.frame);
    if (wait_is(wait, "error")) {
        return json_ref(item(wait, WAIT_ERROR));
    }
    if (wait_is(wait, "retry")) {
        return json_ref(item(wait, WAIT_UNTIL + 2));
    }
    if (!json_is_none(run_error_at(rd->after))) {
        return json_ref(run_error_at(rd->after));
    }
    Change c = change_of(rd, e);
    Json key = json_string_c("error"), error = value_given(&c, key);
    json_unref(key);
    return error;
}

static Json failed_with(Json error) {
    if (json_kind(error) != JSON_OBJECT) {
        json_unref(error);
        return json_none();
    }
    return json_object_with(with_status("failed"), "error", error);
}

/* The graph had no more steps left for it: the engine sees that again by itself. */
static bool is_of_graph(Json error) {
    return json_string_is(field_c(error, "kind"), "recursion");
}

static Json graph_failed(const Reader *rd, const Ended *e) {
    Json error = graph_error(rd, e);
    if (is_of_graph(error)) {
        json_clear(&error);
    }
    return failed_with(error);
}

/* One that gave back something instead is as good as done. */
static Json graph_skipped(const Reader *rd, const Ended *e, Json before) {
    Json info = graph_completed(rd, e, before), result = field_c(info, "result");
    bool nothing = json_kind(result) == JSON_NULL ||
                   (json_kind(result) == JSON_OBJECT && !json_object_len(result));
    bool same = is_there(rd->after, e->at) && !was_changed(e->base, rd->after, e->at);
    if (json_is_none(info) || same || nothing) {
        json_unref(info);
        return with_status("skipped");
    }
    return info;
}

/* ---- outcomes of tasks ---- */

/* The scope that a task ran in, as it is after it: where its frame has ended, what that left with the
 * task that made it, if that has an id. Borrowed. */
static Json scope_after(const Reader *rd, const Ended *e) {
    Spot owner = owner_at(e->base, e->at);
    if (is_there(rd->after, owner)) {
        return state_at(rd->after, owner);
    }
    if (owner.frame != e->at.frame || owner.level || !e->taker) {
        return json_none();
    }
    Spot at = top_at(rd->after, e->taker);
    const Node *maker =
        find_node(graph_at(rd->flow, rd->after, at), part_at(rd->after, at, IMAGE_NODE));
    Json id = maker && maker->task ? maker->task->id : json_none();
    Json task = field(field_c(state_at(rd->after, at), "tasks"), id);
    char branch[24];
    snprintf(branch, sizeof branch, "%" PRId64, branch_at(rd->before, e->at.frame));
    return field_c(field_c(field_c(task, "outputs"), "childScopes"), branch);
}

static Json one_change(Json name, Json value) {
    Json change = json_array_push(json_array(), json_array_push(json_array(), json_ref(name)));
    return json_is_none(value) ? change : json_array_push(change, json_ref(value));
}

/* Variables only: `tasks` is the engine's own. */
static Json scope_changes(Json before, Json after) {
    Json set = json_array(), name, value;
    for (size_t pos = 0; json_object_next(after, &pos, &name, &value);) {
        if (!json_string_is(name, "tasks") && differ(field(before, name), value)) {
            set = json_array_push(set, one_change(name, value));
        }
    }
    for (size_t pos = 0;
         json_kind(before) == JSON_OBJECT && json_object_next(before, &pos, &name, &value);) {
        if (!json_string_is(name, "tasks") && json_is_none(field(after, name))) {
            set = json_array_push(set, one_change(name, json_none()));
        }
    }
    return set;
}

static Json task_said(const Ended *e, Json scope, const char *name) {
    return field_c(field(field_c(scope, "tasks"), e->node->task->id), name);
}

static Json with_scope(Json info, const Reader *rd, const Ended *e) {
    Json scope = scope_after(rd, e), outputs = task_said(e, scope, "outputs");
    if (json_kind(scope) != JSON_OBJECT) {
        return info;
    }
    Json set = scope_changes(state_at(e->base, e->at), scope);
    if (json_array_len(set)) {
        info = json_object_with(info, "set", json_ref(set));
    }
    json_unref(set);
    bool any = json_kind(outputs) == JSON_OBJECT && json_object_len(outputs);
    return any ? json_object_with(info, "outputs", json_ref(outputs)) : info;
}

/* What a slot has now that had no error in it before. */
static Json new_error(Json before, Json after) {
    bool fresh = json_kind(before) != JSON_OBJECT && json_kind(after) == JSON_OBJECT;
    return fresh ? after : json_none();
}

/* A failure that nobody needs any more leaves no error: one is made up. */
static Json unknown_error(const Reader *rd, const Ended *e) {
    bool late = json_truthy(task_said(e, scope_after(rd, e), "timeout"));
    Json error =
        json_object_with(json_object(), "kind", json_string_c(late ? "timeout" : "recorded"));
    error = json_object_with(error, "message",
                             json_string_c("It failed when it was recorded; its words are not "
                                           "on record."));
    error = json_object_with(error, "node", json_ref(e->node->name_json));
    error = json_object_with(error, "file", json_string_c(e->node->file));
    error = json_object_with(error, "line", json_int(e->node->line));
    return json_object_with(error, "column", json_int(e->node->col));
}

/* In the verdict of its level, or with whoever took the failure: the list around it, or the task that
 * made its frame. */
static Json task_error(const Reader *rd, const Ended *e) {
    enum { VERDICT_RESULT, VERDICT_ERROR };
    Json verdict = is_there(rd->after, e->at) ? writes_at(rd->after, e->at) : json_none();
    Json error = item(verdict, VERDICT_ERROR);
    if (json_kind(error) != JSON_OBJECT && e->at.level) {
        Spot below = {e->at.frame, e->at.level - 1};
        error = new_error(field_c(writes_at(rd->before, below), "error"),
                          field_c(writes_at(rd->after, below), "error"));
    }
    if (json_kind(error) != JSON_OBJECT && e->taker) {
        error = new_error(item(wait_at(rd->before, e->taker), WAIT_TASKS_ERROR),
                          item(wait_at(rd->after, e->taker), WAIT_TASKS_ERROR));
    }
    if (json_kind(error) != JSON_OBJECT) {
        error = run_error_at(rd->after);
    }
    return json_kind(error) == JSON_OBJECT ? json_ref(error) : unknown_error(rd, e);
}

static Json task_outcome(const Reader *rd, const Ended *e, const char *status) {
    if (!strcmp(status, "skipped")) {
        return with_status(status);
    }
    bool failed = !strcmp(status, "failed");
    Json info = failed ? failed_with(task_error(rd, e)) : with_status("completed");
    return with_scope(info, rd, e);
}

/* ---- steps ---- */

static Json outcome_of(const Reader *rd, const Ended *e, Json before, const char *status) {
    if (e->graph->scoped) {
        return task_outcome(rd, e, status);
    }
    return !strcmp(status, "failed")    ? graph_failed(rd, e)
           : !strcmp(status, "skipped") ? graph_skipped(rd, e, before)
                                        : graph_completed(rd, e, before);
}

/* Its condition skips it again. */
static bool skips_by_itself(const Node *node) {
    return node->task && node->task->when && !leaves[node->kind->id];
}

static bool is_taken(const Ended *e, Json before, const char *status) {
    if (!strcmp(status, "skipped")) {
        return !skips_by_itself(e->node);
    }
    if (holds_others(e->node)) {
        return false;
    }
    return leaves[e->node->kind->id] || e->node->interrupt_before || e->node->interrupt_after ||
           (!e->graph->scoped && was_changed(e->base, before, e->at));
}

/* What failed came after the node, which was done. */
static bool is_past_node(Json wait) {
    return wait_is(wait, "error") &&
           (json_truthy(item(wait, WAIT_ERROR + 1)) || wait_is(item(wait, WAIT_ERROR + 2), "join"));
}

/* The image with an empty slot for the writes of a level; given. */
static Json without_writes(Json image, Spot s) {
    Json key = frame_key(s.frame), frames = json_ref(item(image, IMAGE_FRAMES));
    Json frame = json_ref(json_object_get(frames, key));
    Json levels = json_ref(item(frame, IMAGE_LEVELS)), level = json_ref(item(levels, s.level));
    level = json_array_set(level, IMAGE_WRITES, json_object());
    frame = json_array_set(frame, IMAGE_LEVELS, json_array_set(levels, s.level, level));
    frames = json_object_set(frames, key, frame);
    return json_array_set(json_ref(image), IMAGE_FRAMES, frames);
}

/* A turn of a loop may begin without a record; then its first node ends before the frame was ever seen at
 * it. The turn took over the state that the one before had left, and no writes. */
static bool see_turn(Reader *rd, Spot s, Json name) {
    Spot below = {s.frame, s.level - 1};
    bool turn = s.level && json_kind(level_at(rd->before, s)) == JSON_ARRAY &&
                json_kind(item(visit_at(rd, s), VISIT_NODE)) == JSON_NULL &&
                depth_at(rd->after, s.frame) == s.level + 1 &&
                int_part(rd->after, below, IMAGE_COUNT) > int_at(visit_at(rd, below), VISIT_TURNS);
    if (!turn) {
        return false;
    }
    Json visits = seen_part(rd, s.frame, SEEN_VISITS), path = seen_part(rd, s.frame, SEEN_PATH);
    Buf place = BUF_INIT;
    add_visits(&place, path, visits, s.level);
    add_string(&place, name);
    Json parts[VISIT_PARTS] = {
        [VISIT_NODE] = json_ref(name),
        [VISIT_STEPS] = json_int(0),
        [VISIT_TURNS] = json_int(0),
        [VISIT_NTH] = json_int(count_one(&rd->r->counts, &place)),
        [VISIT_BASE] = without_writes(rd->before, s),
        [VISIT_DONE] = json_null(),
    };
    buf_clear(&place);
    set_visit(rd, s, json_array_from(parts, VISIT_PARTS));
    set_visit(rd, below,
              json_array_set(json_ref(visit_at(rd, below)), VISIT_TURNS,
                             json_int(int_part(rd->after, below, IMAGE_COUNT))));
    return true;
}

/* The node has ended and the frame still stands at it: it is stopped there, made branches, or failed and
 * may be tried again. */
static void note_stay(Reader *rd, Spot s) {
    static const char *const words[] = {"after", "finished", "ended", "join"};
    Json visit = visit_at(rd, s), wait = wait_at(rd->after, s.frame);
    bool done = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        done = done || wait_is(wait, words[i]);
    }
    bool here = is_there(rd->after, s) &&
                !differ(part_at(rd->after, s, IMAGE_NODE), item(visit, VISIT_NODE));
    if (here && (done || wait_is(wait, "error"))) {
        Json stays = json_array_set(json_ref(visit), VISIT_STEPS,
                                    json_int(int_part(rd->after, s, IMAGE_STEPS)));
        set_visit(rd, s, done ? json_array_set(stays, VISIT_DONE, json_ref(rd->after)) : stays);
    }
}

static bool find_ended(const Reader *rd, Spot s, Json image, Ended *e) {
    const Graph *graph = graph_at(rd->flow, image, s);
    const Node *node = find_node(graph, item(visit_at(rd, s), VISIT_NODE));
    Json base = item(visit_at(rd, s), VISIT_BASE);
    int64_t parent = parent_at(rd->before, s.frame);
    bool gone = !depth_at(rd->after, s.frame);
    *e = (Ended){s, graph, node, base, gone ? parent : 0};
    return node != NULL;
}

/* The level of a frame that stands at a node: the highest, for what is above it has ended with it. */
static bool find_level(const Reader *rd, int64_t frame, Json name, Spot *s) {
    for (size_t n = visits_of(rd, frame); n; n--) {
        *s = (Spot){frame, n - 1};
        if (!differ(item(visit_at(rd, *s), VISIT_NODE), name)) {
            return true;
        }
    }
    return false;
}

static void read_end(Reader *rd, const Ended *e, Json before) {
    const char *status = rd->c->status;
    bool taken = is_taken(e, before, status);
    Json info = taken ? outcome_of(rd, e, before, status) : json_none();
    if (!json_is_none(info)) {
        keep_outcome(rd, e->at, e->node, info);
    }
    note_stay(rd, e->at);
}

static void read_step(Reader *rd) {
    int64_t frame = rd->c->frame;
    size_t n = visits_of(rd, frame);
    Spot s = {frame, n - 1};
    Ended e;
    Json name = json_string_c(rd->c->node);
    bool turned = n && see_turn(rd, s, name);
    bool found = turned || find_level(rd, frame, name, &s);
    json_unref(name);
    if (found && !is_past_node(wait_at(rd->after, frame)) && find_ended(rd, s, rd->before, &e)) {
        read_end(rd, &e, turned ? e.base : rd->before);
    }
}

/* A node that was stopped after goes on: a person may have changed something meanwhile. */
static void read_resumed(Reader *rd) {
    size_t n = visits_of(rd, rd->c->frame);
    Spot s = {rd->c->frame, n - 1};
    Json done = n ? item(visit_at(rd, s), VISIT_DONE) : json_none();
    Ended e;
    if (json_kind(done) != JSON_ARRAY || !find_ended(rd, s, rd->before, &e) || e.graph->scoped ||
        holds_others(e.node)) {
        return;
    }
    Change c = change_of(rd, &e);
    bool changed = is_there(rd->after, s) ? was_changed(done, rd->after, s)
                                          : !json_is_none(c.writes_after) &&
                                                differ(writes_at(done, s), c.writes_after);
    if (changed) {
        Json info = json_object_with(with_status("completed"), "level", level_patch(&c));
        keep_outcome(rd, s, e.node, info);
    }
}

/* ---- errors that went outwards ---- */

static bool is_at_work(const Reader *rd, Spot s, Json name, Ended *e) {
    Json visit = visit_at(rd, s);
    return !differ(item(visit, VISIT_NODE), name) &&
           json_kind(item(visit, VISIT_DONE)) == JSON_NULL && find_ended(rd, s, rd->before, e) &&
           leaves[e->node->kind->id] && !e->graph->scoped;
}

/* It is gone now, and was above the level that the error was taken at. */
static bool was_ended(const Reader *rd, Spot s) {
    int64_t taker = rd->c->frame;
    return s.frame == taker ? !is_there(rd->after, s) || s.level > top_at(rd->after, taker).level
                            : !depth_at(rd->after, s.frame);
}

/* A node around it took the error, and there is no record of the failed one itself: the first that stood
 * at a node of the name that the error gives. */
static void read_taken_error(Reader *rd, Json touched) {
    int64_t frame = rd->c->frame;
    Ended taker = {.at = {frame, 0}, .graph = rd->flow->main};
    if (depth_at(rd->after, frame)) {
        taker.at = top_at(rd->after, frame);
    } else {
        taker.taker = parent_at(rd->before, frame);
    }
    taker.graph = graph_at(rd->flow, rd->before, taker.at);
    taker.base = rd->before;
    if (!taker.graph || taker.graph->scoped || !visits_of(rd, frame)) {
        return;
    }
    Json error = graph_error(rd, &taker), name = field_c(error, "node"), key, ignored;
    Ended failed = {0};
    for (size_t pos = 0;
         json_kind(name) == JSON_STRING && json_object_next(touched, &pos, &key, &ignored);) {
        Spot s = {ignored.i, visits_of(rd, ignored.i) - 1};
        Ended e;
        bool earlier = !failed.at.frame || s.frame < failed.at.frame;
        if (earlier && visits_of(rd, s.frame) && was_ended(rd, s) && is_at_work(rd, s, name, &e)) {
            failed = e;
        }
    }
    if (failed.at.frame && !is_of_graph(error)) {
        keep_outcome(rd, failed.at, failed.node, failed_with(json_ref(error)));
    }
    json_unref(error);
}

/* ---- walking ---- */

static Json touch(Json touched, Json key) {
    Json id = json_number_parse(json_string_data(&key), json_string_len(key));
    if (json_tag(id) == JSON_TAG_INT && id.i > 0) {
        return json_object_set(touched, json_ref(key), id);
    }
    json_unref(id);
    return touched;
}

static Json touch_all(Json touched, Json image) {
    Json frames = item(image, IMAGE_FRAMES), key, frame;
    for (size_t pos = 0;
         json_kind(frames) == JSON_OBJECT && json_object_next(frames, &pos, &key, &frame);) {
        touched = touch(touched, key);
    }
    return touched;
}

/* {key: number} of the frames that a patch says something of. */
static Json touched_by(const LineImage *at) {
    Json patch = json_decode(at->checkpoint->patch, at->checkpoint->patch_len, NULL, NULL);
    Json touched = json_object();
    for (size_t i = 0; json_kind(patch) == JSON_ARRAY && i < json_array_len(patch); i++) {
        Json path = item(json_array_get(patch, i), 0), key = item(path, 1);
        if (json_kind(key) == JSON_STRING) {
            touched = touch(touched, key);
        } else if (is_nothing(key) && int_at(path, 0) == IMAGE_FRAMES) {
            touched = touch_all(touch_all(touched, at->before), at->after);
        } else if (is_nothing(item(path, 0))) {
            touched = touch_all(touch_all(touched, at->before), at->after);
        }
    }
    json_unref(patch);
    return touched;
}

static bool is_status(const LineStep *c, const char *status) {
    return !strcmp(c->status, status);
}

static void read_what_ended(Reader *rd, Json touched) {
    const LineStep *c = rd->c;
    size_t n = visits_of(rd, c->frame);
    Json name = json_string_c(c->node);
    bool own = n && !differ(item(visit_at(rd, (Spot){c->frame, n - 1}), VISIT_NODE), name);
    json_unref(name);
    if (line_is_step(c) && !is_status(c, "joined")) {
        read_step(rd);
    }
    if (is_status(c, "resumed")) {
        read_resumed(rd);
    }
    if (*c->node && (is_status(c, "failed") || is_status(c, "retrying"))) {
        bool made = own && depth_at(rd->before, c->frame) &&
                    (wait_is(wait_at(rd->before, c->frame), "map") ||
                     wait_is(wait_at(rd->before, c->frame), "join"));
        if (!own || made) {
            read_taken_error(rd, touched);
        }
    }
}

static bool read_checkpoint(void *ctx, const LineImage *at) {
    Reader *rd = ctx;
    rd->c = &rd->line->items[at->index];
    rd->before = at->before;
    rd->after = at->after;
    Json touched = touched_by(at), key, id;
    read_what_ended(rd, touched);
    for (size_t pos = 0; json_object_next(touched, &pos, &key, &id);) {
        see(rd, id.i);
    }
    json_unref(touched);
    return true;
}

/* What is under way where the line ends. */
static bool leave_all(void *ctx, const LineImage *at) {
    Reader *rd = ctx;
    bool last = at->index + 1 == rd->line->n;
    Json key, ignored, all = last ? touch_all(json_object(), at->after) : json_object();
    for (size_t pos = 0; json_object_next(all, &pos, &key, &ignored);) {
        size_t n = visits_of(rd, ignored.i);
        if (n) {
            leave_visit(rd, (Spot){ignored.i, n - 1}, at->after);
        }
    }
    json_unref(all);
    return true;
}

static bool read_one(void *ctx, const LineImage *at) {
    return read_checkpoint(ctx, at) && leave_all(ctx, at);
}

static bool begins_with_run(const Line *line, const RecordingSource *source, Error *err) {
    if (!line->n || line->items[0].step == 0) {
        return true;
    }
    return error_set(err, ERR_USAGE,
                     "The history of run %" PRId64 " begins after %" PRId64
                     " steps: what came of those is not on record, because it was pruned or the "
                     "run is a fork of another thread. Replay a run that has its history from the "
                     "start.",
                     source->run, line->items[0].step);
}

static bool read_line(Recording *r, Store *store, const RecordingSource *source, Error *err) {
    Line line;
    if (!line_read(store, source->run, source->seq, 0, &line, err)) {
        return false;
    }
    Reader rd = {.r = r, .flow = source->flow, .line = &line, .seen = json_object()};
    bool ok = begins_with_run(&line, source, err) &&
              line_images(store, source->run, &line, read_one, &rd, err);
    json_unref(rd.seen);
    line_clear(&line);
    return ok;
}

/* ---- from where on it is live ---- */

static bool is_called(const Node *node, const char *name) {
    return !strcmp(node->name, name) || (node->task && json_string_is(node->task->id, name));
}

/* Offers the names of a node, and of the bodies of maps inside it. */
static bool offer(const Node *node, const char *name, Suggestion *s) {
    for (; node; node = node->kind->id == KIND_MAP ? node->params[MAP_DO].node : NULL) {
        if (is_called(node, name)) {
            return true;
        }
        suggestion_offer(s, node->name);
    }
    return false;
}

static bool has_node(const Flow *flow, const char *name, Suggestion *s) {
    for (size_t i = 0; i < flow->ngraphs; i++) {
        const Graph *g = flow->graphs[i];
        for (size_t k = 0; k < g->nnodes; k++) {
            if (offer(&g->nodes[k], name, s)) {
                return true;
            }
        }
    }
    return false;
}

static bool check_live_from(const RecordingSource *source, Error *err) {
    const char *name = source->live_from;
    Suggestion s = suggestion_for(name ? name : "", name ? strlen(name) : 0);
    if (!name || has_node(source->replaying, name, &s)) {
        return true;
    }
    return error_set(err, ERR_USAGE, "No node of `%s` is called `%s`, to be live from%s%s%s",
                     source->replaying->name, name, s.best ? "; did you mean `" : ".",
                     s.best ? s.best : "", s.best ? "`?" : "");
}

/* ---- life ---- */

Recording *recording_new(Store *store, const RecordingSource *source, Error *err) {
    if (!check_live_from(source, err)) {
        return NULL;
    }
    Recording *r = mem_zalloc(sizeof *r);
    r->outcomes = json_object();
    r->counts = json_object();
    r->last = json_object();
    r->missing = json_array();
    if (!read_line(r, store, source, err)) {
        recording_free(r);
        return NULL;
    }
    json_unref(r->counts); /* the run counts for itself */
    r->counts = json_object();
    r->live_from =
        source->live_from ? mem_strndup(source->live_from, strlen(source->live_from)) : NULL;
    return r;
}

void recording_free(Recording *r) {
    if (!r) {
        return;
    }
    json_unref(r->outcomes);
    json_unref(r->counts);
    json_unref(r->last);
    json_unref(r->missing);
    mem_free(r->live_from);
    mem_free(r);
}

/* ---- in a run ---- */

/* The number in the name of a frame; the background of two is the second. */
static int64_t branch_of(const Frame *f) {
    char name[64];
    frame_name(f, name, sizeof name);
    const char *number = strchr(name, '[');
    return number ? strtoll(number + 1, NULL, 10) : !strcmp(name, "background");
}

/* "frame\nnodes": of all levels, with how often each was come to, or up to the node that is next. */
static void add_live(const Recording *r, const Frame *f, bool whole, Buf *out);

static void add_frame(const Recording *r, const Frame *f, Buf *out) {
    const Frame *parent = frame_parent(f);
    if (!parent) {
        buf_adds(out, "main");
        return;
    }
    Buf made = BUF_INIT;
    add_live(r, parent, true, &made);
    add_child(out, &made, branch_of(f));
    buf_clear(&made);
}

static void add_live(const Recording *r, const Frame *f, bool whole, Buf *out) {
    uint32_t depth = frame_depth(f);
    add_frame(r, f, out);
    buf_addc(out, '\n');
    for (uint32_t i = 0; i < depth; i++) {
        const Node *node = frame_node(f, i);
        bool top = i + 1 == depth;
        int64_t count = 0;
        if (node) {
            buf_adds(out, node->name);
            count = count_of(r->counts, out) - 1;
        } else {
            buf_adds(out, "__start__");
        }
        if (!top || whole) {
            add_again(out, count > 0 ? count : 0, top ? frame_attempt(f) : 0);
        }
        if (!top) {
            buf_addc(out, '/');
        }
    }
}

/* Which execution of the node this is. It was counted before when the frame was parked here and let go,
 * and when it is a further attempt. */
static int64_t nth_of(Recording *r, const HookPlace *place, const Buf *at, bool *first) {
    Json frame = frame_key(frame_id(place->frame)), text = text_of(at);
    bool may_be = place->again || frame_attempt(place->frame) > 0;
    Json last = json_object_get(r->last, frame);
    *first = !may_be || json_is_none(last) || !json_string_equal(last, text);
    r->last = json_object_set(r->last, frame, text);
    return *first ? count_one(&r->counts, at) : count_of(r->counts, at) - 1;
}

static void note_missing(Recording *r, const Buf *at, bool unfinished) {
    const char *end = memchr(at->data, '\n', at->len);
    size_t frame = (size_t)(end - at->data);
    if (json_array_len(r->missing) == RECORDING_MISSING_MAX) {
        r->more = true;
        return;
    }
    Json one = json_object_with(json_object(), "frame", json_string(at->data, frame));
    one = json_object_with(one, "node", json_string(end + 1, at->len - frame - 1));
    one = json_object_with(one, "unfinished", json_bool(unfinished));
    r->missing = json_array_push(r->missing, one);
}

/* What is recorded of an execution; JSON_NONE: nothing, or it is of a node of another kind. */
static Json found(const Recording *r, const Node *node, const Buf *at, int64_t nth) {
    Json key = outcome_key(at, nth), outcome = json_object_get(r->outcomes, key);
    json_unref(key);
    bool same = !json_is_none(outcome) && int_at(outcome, OUTCOME_KIND) == (int64_t)node->kind->id;
    return same ? json_array_get(outcome, OUTCOME_INFO) : json_none();
}

static HookVerdict take(Recording *r, const HookPlace *place, const Buf *at, Json *info) {
    bool first;
    int64_t nth = nth_of(r, place, at, &first);
    Json outcome = found(r, place->node, at, nth);
    if (json_kind(outcome) == JSON_OBJECT) {
        r->taken += first;
        *info = json_ref(outcome);
        return HOOK_TAKE;
    }
    if (first && leaves[place->node->kind->id]) {
        r->done++;
        note_missing(r, at, !json_is_none(outcome));
    }
    return HOOK_GO;
}

HookVerdict recording_at(Recording *r, const HookPlace *place, Json *info) {
    if (frame_injected(place->frame)) {
        return HOOK_GO;
    }
    r->live = r->live || (r->live_from && is_called(place->node, r->live_from));
    if (r->live) {
        bool again = place->again || frame_attempt(place->frame) > 0;
        r->done += leaves[place->node->kind->id] && !again;
        return HOOK_GO;
    }
    Buf at = BUF_INIT;
    add_live(r, place->frame, false, &at);
    HookVerdict verdict = take(r, place, &at, info);
    buf_clear(&at);
    return verdict;
}

static HookVerdict at_place(void *ctx, const HookPlace *place, Json *info) {
    return place->position == HOOK_BEFORE ? recording_at(ctx, place, info) : HOOK_GO;
}

static void see_nothing(void *ctx, Frame *frame) {
    (void)ctx;
    (void)frame;
}

const RunHooks recording_hooks = {
    .at = at_place, .frame_new = see_nothing, .frame_end = see_nothing};

/* ---- for people ---- */

Json recording_report(const Recording *r) {
    Json report = json_object_with(json_object(), "taken", json_int(r->taken));
    report = json_object_with(report, "live", json_int(r->done));
    report = json_object_with(report, "missing", json_ref(r->missing));
    return json_object_with(report, "more", json_bool(r->more));
}

/* "frame\nnode\nnth" */
static Json listed(Json key, Json outcome) {
    const char *text = json_string_data(&key);
    size_t len = json_string_len(key);
    const char *node = memchr(text, '\n', len), *nth = text + len - 1;
    while (*nth != '\n') {
        nth--;
    }
    Json one = json_object_with(json_object(), "frame", json_string(text, (size_t)(node - text)));
    one = json_object_with(one, "node", json_string(node + 1, (size_t)(nth - node - 1)));
    one = json_object_with(one, "nth", json_number_parse(nth + 1, len - (size_t)(nth + 1 - text)));
    return json_object_with(one, "outcome", json_ref(json_array_get(outcome, OUTCOME_INFO)));
}

Json recording_list(const Recording *r) {
    Json all = json_array(), key, outcome;
    for (size_t pos = 0; json_object_next(r->outcomes, &pos, &key, &outcome);) {
        all = json_array_push(all, listed(key, outcome));
    }
    return all;
}
