/* recording.c - what executions came to, read from a line of checkpoints; and handed to a run.
 *
 * Reading. The line is walked once, with the images before and at each checkpoint. For every frame
 * it is known at which nodes its levels stand: a *visit* each, from the record in which the level
 * is first seen there (its base) to the one that ends it. What the node came to is found from both
 * (outcome.h).
 *
 * The patch of a checkpoint names the frames that it touched, and only those are looked at, so that
 * a map of thousands costs what happens in it.
 *
 * Places. "main", "main/plan[0]": a frame, by the nodes that the frame around it stood at, and its
 * branch; "sub/build": a node, by the nodes of the levels below. A node that is come to again is
 * `plan#2`, the second attempt at it `plan#1.1`: so what was under way in a branch and was ended is
 * never mistaken for the same branch of the next time. The counts are of nodes come to, which both
 * sides see alike. */
#include "recording.h"

#include "json_binary.h"
#include "mem.h"
#include "outcome.h"
#include "suggest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct Recording {
    Json outcomes; /* {place with its count: [kind, info or null]} */
    Json changes;  /* {place with its count: {before: [change, ...], after: [...]}} */
    Json counts;   /* {place: how often it was come to}: by the reader, then by the run */
    Json last;     /* {frame: [the place that it was counted for last, what came of that]} */
    char *live_from;
    bool live;
    int64_t taken, done;
    Json missing;
    bool more;
};

enum { OUTCOME_KIND, OUTCOME_INFO };
enum { LAST_AT, LAST_STAGE };
typedef enum LastStage { LAST_COUNTED, LAST_TAKEN, LAST_DONE } LastStage;

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

/* ---- the reader ---- */

/* A visit is an array. */
enum {
    VISIT_NODE,  /* name, or null past the last */
    VISIT_STEPS, /* of the level */
    VISIT_TURNS, /* of its loop so far */
    VISIT_NTH,
    VISIT_BASE, /* the image in which it was first seen there */
    VISIT_DONE, /* the image in which the node was done while the frame stays; null: it is not */
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
    return safe_item(safe_get_c(rd->seen, key), part);
}

static size_t visits_of(const Reader *rd, int64_t frame) {
    Json visits = seen_part(rd, frame, SEEN_VISITS);
    return json_kind(visits) == JSON_ARRAY ? json_array_len(visits) : 0;
}

static Json visit_at(const Reader *rd, Spot s) {
    return safe_item(seen_part(rd, s.frame, SEEN_VISITS), s.level);
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
        Json visit = safe_item(visits, i), name = safe_item(visit, VISIT_NODE);
        if (json_kind(name) == JSON_STRING) {
            add_string(out, name);
        } else {
            buf_adds(out, "__start__");
        }
        add_again(out, safe_int(visit, VISIT_NTH), 0);
        buf_addc(out, '/');
    }
}

static void place_of(const Reader *rd, Spot s, Buf *out) {
    Json visits = seen_part(rd, s.frame, SEEN_VISITS);
    add_visits(out, seen_part(rd, s.frame, SEEN_PATH), visits, s.level);
    Json name = safe_item(safe_item(visits, s.level), VISIT_NODE);
    if (json_kind(name) == JSON_STRING) {
        add_string(out, name);
    }
}

static Json visit_key(const Reader *rd, Spot s) {
    Buf place = BUF_INIT;
    place_of(rd, s, &place);
    Json key = outcome_key(&place, safe_int(visit_at(rd, s), VISIT_NTH));
    buf_clear(&place);
    return key;
}

/* ---- seeing where frames stand ---- */

static void see(Reader *rd, int64_t frame);

static Json path_seen(Reader *rd, int64_t frame) {
    int64_t parent = spot_parent(rd->after, frame);
    if (!parent) {
        return json_string_c("main");
    }
    see(rd, parent);
    Spot at = spot_top(rd->after, parent);
    Buf made = BUF_INIT, path = BUF_INIT;
    place_of(rd, at, &made);
    if (json_kind(safe_item(visit_at(rd, at), VISIT_NODE)) != JSON_STRING) {
        buf_adds(&made, "__start__");
    }
    add_again(&made, safe_int(visit_at(rd, at), VISIT_NTH), spot_int(rd->after, at, IMAGE_ATTEMPT));
    bool cleanup = wait_is(spot_wait(rd->after, parent), "cleaning");
    add_child(&path, &made, cleanup ? 0 : spot_branch(rd->after, frame));
    Json out = text_of(&path);
    buf_clear(&made);
    buf_clear(&path);
    return out;
}

/* It is of a node that was injected, or inside one. */
static bool is_injected(Json image, Spot s) {
    for (;; s = s.level ? (Spot){s.frame, s.level - 1}
                        : spot_top(image, spot_parent(image, s.frame))) {
        InjectWhere where;
        if (spot_injected(image, s, &where)) {
            return true;
        }
        if (!s.level && !spot_parent(image, s.frame)) {
            return false;
        }
    }
}

/* Those that the workflow does not have are not counted: the next run does not come to them. */
static Json new_visit(Reader *rd, Spot s, Json path, Json visits) {
    Json name = spot_part(rd->after, s, IMAGE_NODE);
    bool named = json_kind(name) == JSON_STRING, counts = named && !is_injected(rd->after, s);
    Buf place = BUF_INIT;
    add_visits(&place, path, visits, s.level);
    if (named) {
        add_string(&place, name);
    }
    Json parts[VISIT_PARTS] = {
        [VISIT_NODE] = named ? json_ref(name) : json_null(),
        [VISIT_STEPS] = json_int(spot_int(rd->after, s, IMAGE_STEPS)),
        [VISIT_TURNS] = json_int(spot_int(rd->after, s, IMAGE_COUNT)),
        [VISIT_NTH] = json_int(counts ? count_one(&rd->r->counts, &place) : 0),
        [VISIT_BASE] = json_ref(rd->after),
        [VISIT_DONE] = json_null(),
    };
    buf_clear(&place);
    return json_array_from(parts, VISIT_PARTS);
}

/* The steps of a level tell one time at a node from the next, but for a loop: the steps of its
 * turns are added while it goes on. */
static bool is_same_time(const Reader *rd, Spot s, Json visit) {
    int64_t turns = safe_int(visit, VISIT_TURNS);
    return safe_int(visit, VISIT_STEPS) == spot_int(rd->after, s, IMAGE_STEPS) ||
           (turns && spot_int(rd->after, s, IMAGE_COUNT) >= turns);
}

static bool is_same_visit(const Reader *rd, Spot s, Json visit) {
    Json name = spot_part(rd->after, s, IMAGE_NODE);
    return json_kind(visit) == JSON_ARRAY && spot_exists(rd->after, s) &&
           !safe_differ(safe_item(visit, VISIT_NODE), json_is_none(name) ? json_null() : name) &&
           is_same_time(rd, s, visit);
}

static bool is_same_turn(const Reader *rd, Spot s, Json visit) {
    return safe_int(visit, VISIT_TURNS) == spot_int(rd->after, s, IMAGE_COUNT);
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
    const Node *node = spot_node(spot_graph(rd->flow, image, s), safe_item(visit, VISIT_NODE));
    if (!node || !outcome_leaves(node) || json_kind(safe_item(visit, VISIT_DONE)) != JSON_NULL) {
        return;
    }
    Json key = visit_key(rd, s);
    if (json_is_none(json_object_get(rd->r->outcomes, key))) {
        keep_outcome(rd, s, node, json_null());
    }
    json_unref(key);
}

static void see_frame(Reader *rd, int64_t frame, size_t kept) {
    Json path = seen_part(rd, frame, SEEN_PATH);
    path = json_is_none(path) ? path_seen(rd, frame) : json_ref(path);
    Json visits = seen_part(rd, frame, SEEN_VISITS);
    visits = json_is_none(visits) ? json_array() : json_array_slice(json_ref(visits), 0, kept);
    for (size_t i = 0; i < spot_depth(rd->after, frame); i++) {
        Spot s = {frame, i};
        Json visit = i < kept ? json_array_set(json_ref(safe_item(visits, i)), VISIT_TURNS,
                                               json_int(spot_int(rd->after, s, IMAGE_COUNT)))
                              : new_visit(rd, s, path, visits);
        visits = json_array_set(visits, i, visit);
    }
    set_seen(rd, frame, path, visits);
}

/* Frames in frames deeper than any run has them are not looked at: an image may come from
 * anywhere. */
static bool is_too_deep(Json image, int64_t frame) {
    enum { NESTING_MAX = 1000 };
    int nesting = 0;
    for (int64_t at = frame; at && nesting <= NESTING_MAX; at = spot_parent(image, at)) {
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
    if (spot_depth(rd->after, frame)) {
        see_frame(rd, frame, kept);
    } else {
        Json key = frame_key(frame);
        rd->seen = json_object_remove(rd->seen, key);
        json_unref(key);
    }
}

/* ---- outcomes ---- */

static void keep_outcome(Reader *rd, Spot s, const Node *node, Json info) {
    Json parts[] = {json_int(node->kind->id), info};
    rd->r->outcomes = json_object_set(rd->r->outcomes, visit_key(rd, s), json_array_from(parts, 2));
}

/* ---- steps ---- */

/* What failed came after the node, which was done. */
static bool is_past_node(Json wait) {
    return wait_is(wait, "error") && (json_truthy(safe_item(wait, WAIT_ERROR + 1)) ||
                                      wait_is(safe_item(wait, WAIT_ERROR + 2), "join"));
}

/* The image with an empty slot for the writes of a level; given. */
static Json without_writes(Json image, Spot s) {
    Json key = frame_key(s.frame), frames = json_ref(safe_item(image, IMAGE_FRAMES));
    Json frame = json_ref(json_object_get(frames, key));
    Json levels = json_ref(safe_item(frame, IMAGE_LEVELS)),
         level = json_ref(safe_item(levels, s.level));
    level = json_array_set(level, IMAGE_WRITES, json_object());
    frame = json_array_set(frame, IMAGE_LEVELS, json_array_set(levels, s.level, level));
    frames = json_object_set(frames, key, frame);
    return json_array_set(json_ref(image), IMAGE_FRAMES, frames);
}

/* A turn of a loop may begin without a record; then its first node ends before the frame was ever
 * seen at it. The turn took over the state that the one before had left, and no writes. */
static bool see_turn(Reader *rd, Spot s, Json name) {
    Spot below = {s.frame, s.level - 1};
    bool turn =
        s.level && json_kind(spot_level(rd->before, s)) == JSON_ARRAY &&
        json_kind(safe_item(visit_at(rd, s), VISIT_NODE)) == JSON_NULL &&
        spot_depth(rd->after, s.frame) == s.level + 1 &&
        spot_int(rd->after, below, IMAGE_COUNT) > safe_int(visit_at(rd, below), VISIT_TURNS);
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
                             json_int(spot_int(rd->after, below, IMAGE_COUNT))));
    return true;
}

/* What was injected after the node runs next. */
static bool is_followed(Json image, Spot s) {
    InjectWhere where;
    return spot_injected(image, (Spot){s.frame, s.level + 1}, &where) && where == INJECT_AFTER;
}

/* The node has ended and the frame still stands at it: it is stopped there, made branches, or
 * failed and may be tried again. */
static void note_stay(Reader *rd, Spot s) {
    static const char *const words[] = {"after", "finished", "ended", "join"};
    Json visit = visit_at(rd, s), wait = spot_wait(rd->after, s.frame);
    bool done = is_followed(rd->after, s);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        done = done || wait_is(wait, words[i]);
    }
    bool here = spot_exists(rd->after, s) &&
                !safe_differ(spot_part(rd->after, s, IMAGE_NODE), safe_item(visit, VISIT_NODE));
    if (here && (done || wait_is(wait, "error"))) {
        Json stays = json_array_set(json_ref(visit), VISIT_STEPS,
                                    json_int(spot_int(rd->after, s, IMAGE_STEPS)));
        set_visit(rd, s, done ? json_array_set(stays, VISIT_DONE, json_ref(rd->after)) : stays);
    }
}

static bool find_ended(const Reader *rd, Spot s, Ended *e) {
    Json visit = visit_at(rd, s);
    const Graph *graph = spot_graph(rd->flow, rd->before, s);
    *e = (Ended){
        .at = s,
        .flow = rd->flow,
        .graph = graph,
        .node = spot_node(graph, safe_item(visit, VISIT_NODE)),
        .base = safe_item(visit, VISIT_BASE),
        .before = rd->before,
        .after = rd->after,
        .taker = spot_depth(rd->after, s.frame) ? 0 : spot_parent(rd->before, s.frame),
    };
    return e->node != NULL;
}

static bool stands_in(Json image, Spot s) {
    InjectWhere where;
    return spot_injected(image, s, &where) && where == INJECT_INSTEAD;
}

/* The level of a frame that stands at a node: the highest, for what is above it has ended with
 * it. What runs in the place of a node ends as that node. */
static bool find_level(const Reader *rd, int64_t frame, Json name, Spot *s) {
    for (size_t n = visits_of(rd, frame); n; n--) {
        *s = (Spot){frame, n - 1};
        if (!safe_differ(safe_item(visit_at(rd, *s), VISIT_NODE), name)) {
            s->level -= s->level && stands_in(rd->before, *s);
            return true;
        }
    }
    return false;
}

static void read_end(Reader *rd, const Ended *e) {
    Json info = outcome_find(e, rd->c->status);
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
    if (found && !is_past_node(spot_wait(rd->after, frame)) && find_ended(rd, s, &e)) {
        e.before = turned ? e.base : e.before;
        read_end(rd, &e);
    }
}

/* A node that was stopped after goes on: a person may have changed something meanwhile. */
static void read_resumed(Reader *rd) {
    size_t n = visits_of(rd, rd->c->frame);
    Spot s = {rd->c->frame, n - 1};
    Json done = n ? safe_item(visit_at(rd, s), VISIT_DONE) : json_none();
    Ended e;
    if (json_kind(done) != JSON_ARRAY || !find_ended(rd, s, &e) || e.graph->scoped ||
        outcome_holds_others(e.node)) {
        return;
    }
    Json info = outcome_resumed(&e, done);
    if (!json_is_none(info)) {
        keep_outcome(rd, s, e.node, info);
    }
}

/* ---- changes by hand ---- */

/* Adds to what was changed before or after the node; consumes the changes. */
static void keep_changes(Reader *rd, Spot s, const char *when, Json changes) {
    if (!json_array_len(changes)) {
        json_unref(changes);
        return;
    }
    Json key = visit_key(rd, s), both = json_object_get(rd->r->changes, key);
    both = json_is_none(both) ? json_object() : json_ref(both);
    Json old = json_ref(json_object_get_c(both, when));
    changes = json_is_none(old) ? changes : json_array_concat(old, changes);
    rd->r->changes = json_object_set(rd->r->changes, key, json_object_with(both, when, changes));
}

/* By a person, while the frame was stopped. What comes of a node of a graph that holds no others
 * has it in its outcome. */
static void read_set(Reader *rd) {
    size_t n = visits_of(rd, rd->c->frame);
    Spot s = {rd->c->frame, n - 1};
    Ended e;
    if (!n || !spot_exists(rd->after, s) || !find_ended(rd, s, &e)) {
        return;
    }
    bool done = json_kind(safe_item(visit_at(rd, s), VISIT_DONE)) == JSON_ARRAY;
    if (outcome_holds_others(e.node) || (e.graph->scoped && done)) {
        keep_changes(rd, s, done ? "after" : "before",
                     outcome_changes(e.graph, spot_state(rd->before, s), spot_state(rd->after, s)));
    }
}

/* By what was injected at a node, and has ended. */
static void read_injected(Reader *rd, Spot s, InjectWhere where) {
    Ended e;
    bool after = where == INJECT_AFTER;
    if (where == INJECT_INSTEAD || !find_ended(rd, s, &e) ||
        (!after && !outcome_holds_others(e.node))) {
        return;
    }
    e.base = after ? safe_item(visit_at(rd, s), VISIT_DONE) : e.base;
    keep_changes(rd, s, after ? "after" : "before", outcome_injected(&e));
}

static void read_changes(Reader *rd) {
    for (Spot s = {rd->c->frame, 0}; s.level < visits_of(rd, s.frame); s.level++) {
        Spot above = {s.frame, s.level + 1};
        InjectWhere where, ignored;
        int64_t id = spot_injected(rd->before, above, &where);
        if (id && spot_injected(rd->after, above, &ignored) != id) {
            read_injected(rd, s, where);
        }
    }
    if (!strcmp(rd->c->status, "resumed")) {
        read_set(rd);
    }
}

/* ---- errors that went outwards ---- */

static bool is_at_work(const Reader *rd, Spot s, Json name, Ended *e) {
    Json visit = visit_at(rd, s);
    return !safe_differ(safe_item(visit, VISIT_NODE), name) &&
           json_kind(safe_item(visit, VISIT_DONE)) == JSON_NULL && find_ended(rd, s, e) &&
           outcome_leaves(e->node) && !e->graph->scoped;
}

/* It is gone now, and was above the level that the error was taken at. */
static bool was_ended(const Reader *rd, Spot s) {
    int64_t taker = rd->c->frame;
    return s.frame == taker
               ? !spot_exists(rd->after, s) || s.level > spot_top(rd->after, taker).level
               : !spot_depth(rd->after, s.frame);
}

/* A node around it took the error, and there is no record of the failed one itself: the first that
 * stood at a node of the name that the error gives. */
static void read_taken_error(Reader *rd, Json touched) {
    int64_t frame = rd->c->frame;
    bool there = spot_depth(rd->after, frame) > 0;
    Ended taker = {
        .at = there ? spot_top(rd->after, frame) : (Spot){frame, 0},
        .flow = rd->flow,
        .base = rd->before,
        .before = rd->before,
        .after = rd->after,
        .taker = there ? 0 : spot_parent(rd->before, frame),
    };
    taker.graph = spot_graph(rd->flow, rd->before, taker.at);
    if (!taker.graph || taker.graph->scoped || !visits_of(rd, frame)) {
        return;
    }
    Json error = outcome_error(&taker), name = safe_get_c(error, "node"), key, ignored;
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
    Json info = failed.at.frame ? outcome_failed(json_ref(error)) : json_none();
    if (!json_is_none(info)) {
        keep_outcome(rd, failed.at, failed.node, info);
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
    Json frames = safe_item(image, IMAGE_FRAMES), key, frame;
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
        Json path = safe_item(json_array_get(patch, i), 0), key = safe_item(path, 1);
        if (json_kind(key) == JSON_STRING) {
            touched = touch(touched, key);
        } else if (safe_is_nothing(key) && safe_int(path, 0) == IMAGE_FRAMES) {
            touched = touch_all(touch_all(touched, at->before), at->after);
        } else if (safe_is_nothing(safe_item(path, 0))) {
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
    bool own =
        n && !safe_differ(safe_item(visit_at(rd, (Spot){c->frame, n - 1}), VISIT_NODE), name);
    json_unref(name);
    if (line_is_step(c) && !is_status(c, "joined")) {
        read_step(rd);
    }
    if (is_status(c, "resumed")) {
        read_resumed(rd);
    }
    if (*c->node && (is_status(c, "failed") || is_status(c, "retrying"))) {
        bool made = own && spot_depth(rd->before, c->frame) &&
                    (wait_is(spot_wait(rd->before, c->frame), "map") ||
                     wait_is(spot_wait(rd->before, c->frame), "join"));
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
    read_changes(rd);
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
    r->changes = json_object();
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
    json_unref(r->changes);
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

/* "frame\nnodes": of all levels, with how often each was come to, or up to the node that is
 * next. */
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

/* It was counted before when the frame was parked here and let go, or changed, and when it is a further
 * attempt. */
static bool is_counted(const Recording *r, const HookPlace *place, Json text) {
    bool may_be =
        place->again || place->looked || place->changed || frame_attempt(place->frame) > 0;
    Json frame = frame_key(frame_id(place->frame)), last = safe_get(r->last, frame);
    json_unref(frame);
    return may_be && !json_is_none(last) && json_string_equal(json_array_get(last, LAST_AT), text);
}

static void set_last(Recording *r, const Frame *f, Json text, LastStage stage) {
    Json parts[] = {json_ref(text), json_int(stage)};
    r->last = json_object_set(r->last, frame_key(frame_id(f)), json_array_from(parts, 2));
}

static LastStage stage_of(const Recording *r, const Frame *f) {
    Json frame = frame_key(frame_id(f)), last = safe_get(r->last, frame);
    json_unref(frame);
    return (LastStage)safe_int(last, LAST_STAGE);
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
    bool same =
        !json_is_none(outcome) && safe_int(outcome, OUTCOME_KIND) == (int64_t)node->kind->id;
    return same ? json_array_get(outcome, OUTCOME_INFO) : json_none();
}

/* What was changed before or after an execution: HOOK_CHANGE if anything was. */
static HookVerdict change(const Recording *r, const Buf *at, int64_t nth, const char *when,
                          Json *info) {
    Json key = outcome_key(at, nth);
    Json changes = safe_get_c(safe_get(r->changes, key), when);
    json_unref(key);
    if (json_is_none(changes)) {
        return HOOK_GO;
    }
    *info = json_ref(changes);
    return HOOK_CHANGE;
}

/* What is changed before a node that is taken is part of what is taken. */
static HookVerdict arrive(Recording *r, const HookPlace *place, const Buf *at, Json *info) {
    Json text = text_of(at);
    HookVerdict verdict = HOOK_GO;
    if (!is_counted(r, place, text)) {
        int64_t nth = count_one(&r->counts, at);
        set_last(r, place->frame, text, LAST_COUNTED);
        bool taken = json_kind(found(r, place->node, at, nth)) == JSON_OBJECT;
        verdict = taken || r->live ? HOOK_GO : change(r, at, nth, "before", info);
    }
    json_unref(text);
    return verdict;
}

static HookVerdict come_to(Recording *r, const HookPlace *place, Json *info) {
    Buf at = BUF_INIT;
    r->live = r->live || (r->live_from && is_called(place->node, r->live_from));
    add_live(r, place->frame, false, &at);
    HookVerdict verdict = arrive(r, place, &at, info);
    buf_clear(&at);
    return verdict;
}

static HookVerdict do_it(Recording *r, const HookPlace *place, const Buf *at, Json outcome) {
    Json text = text_of(at);
    bool by_hand = frame_is_edited(place->frame) || stage_of(r, place->frame) == LAST_TAKEN;
    bool counts = outcome_leaves(place->node) && stage_of(r, place->frame) != LAST_DONE;
    r->done += counts;
    if (counts && !r->live && !by_hand) {
        note_missing(r, at, !json_is_none(outcome));
    }
    set_last(r, place->frame, text, LAST_DONE);
    json_unref(text);
    return HOOK_GO;
}

static HookVerdict take(Recording *r, const HookPlace *place, const Buf *at, Json *info) {
    Json outcome = found(r, place->node, at, count_of(r->counts, at) - 1);
    bool can = json_kind(outcome) == JSON_OBJECT && !r->live && !frame_is_edited(place->frame);
    if (!can || stage_of(r, place->frame) != LAST_COUNTED) {
        return do_it(r, place, at, outcome);
    }
    Json text = text_of(at);
    set_last(r, place->frame, text, LAST_TAKEN);
    json_unref(text);
    r->taken++;
    *info = json_ref(outcome);
    return HOOK_TAKE;
}

static HookVerdict leave(const Recording *r, const HookPlace *place, Json *info) {
    Buf at = BUF_INIT;
    if (r->live || place->changed) {
        return HOOK_GO;
    }
    add_live(r, place->frame, false, &at);
    HookVerdict verdict = change(r, &at, count_of(r->counts, &at) - 1, "after", info);
    buf_clear(&at);
    return verdict;
}

HookVerdict recording_come_to(Recording *r, const HookPlace *place, Json *info) {
    return frame_injected(place->frame)     ? HOOK_GO
           : place->position == HOOK_BEFORE ? come_to(r, place, info)
           : place->position == HOOK_AFTER  ? leave(r, place, info)
                                            : HOOK_GO;
}

HookVerdict recording_take(Recording *r, const HookPlace *place, Json *info) {
    if (frame_injected(place->frame) || place->position != HOOK_BEFORE) {
        return HOOK_GO;
    }
    Buf at = BUF_INIT;
    add_live(r, place->frame, false, &at);
    HookVerdict verdict = take(r, place, &at, info);
    buf_clear(&at);
    return verdict;
}

static HookVerdict at_place(void *ctx, const HookPlace *place, Json *info) {
    HookVerdict verdict = recording_come_to(ctx, place, info);
    return verdict == HOOK_GO ? recording_take(ctx, place, info) : verdict;
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
static Json listed(Json key, const char *word, Json value) {
    const char *text = json_string_data(&key);
    size_t len = json_string_len(key);
    const char *node = memchr(text, '\n', len), *nth = text + len - 1;
    while (*nth != '\n') {
        nth--;
    }
    Json one = json_object_with(json_object(), "frame", json_string(text, (size_t)(node - text)));
    one = json_object_with(one, "node", json_string(node + 1, (size_t)(nth - node - 1)));
    one = json_object_with(one, "nth", json_number_parse(nth + 1, len - (size_t)(nth + 1 - text)));
    return json_object_with(one, word, json_ref(value));
}

Json recording_list(const Recording *r) {
    Json all = json_array(), key, outcome, changes;
    for (size_t pos = 0; json_object_next(r->outcomes, &pos, &key, &outcome);) {
        Json info = json_array_get(outcome, OUTCOME_INFO);
        all = json_array_push(all, listed(key, "outcome", info));
    }
    for (size_t pos = 0; json_object_next(r->changes, &pos, &key, &changes);) {
        all = json_array_push(all, listed(key, "changes", changes));
    }
    return all;
}
