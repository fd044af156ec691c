/* recording_visits.c - where the frames of a line stand, checkpoint by checkpoint. */
#include "recording_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEEN_PATH, SEEN_VISITS };

static void add_string(Buf *out, Json s) {
    buf_add(out, json_string_data(&s), json_string_len(s));
}

static Json seen_part(const Reader *rd, int64_t frame, size_t part) {
    char key[24];
    snprintf(key, sizeof key, "%" PRId64, frame);
    return safe_item(safe_get_c(rd->seen, key), part);
}

size_t reader_visits(const Reader *rd, int64_t frame) {
    Json visits = seen_part(rd, frame, SEEN_VISITS);
    return json_kind(visits) == JSON_ARRAY ? json_array_len(visits) : 0;
}

Json reader_visit(const Reader *rd, LevelAt s) {
    return safe_item(seen_part(rd, s.frame, SEEN_VISITS), s.level);
}

static void set_seen(Reader *rd, int64_t frame, Json path, Json visits) {
    Json parts[] = {path, visits};
    rd->seen = json_object_set(rd->seen, place_frame_key(frame), json_array_from(parts, 2));
}

void reader_set_visit(Reader *rd, LevelAt s, Json visit) {
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
        place_add_again(out, safe_int(visit, VISIT_NTH), 0);
        buf_addc(out, '/');
    }
}

static void place_of(const Reader *rd, LevelAt s, Buf *out) {
    Json visits = seen_part(rd, s.frame, SEEN_VISITS);
    add_visits(out, seen_part(rd, s.frame, SEEN_PATH), visits, s.level);
    Json name = safe_item(safe_item(visits, s.level), VISIT_NODE);
    if (json_kind(name) == JSON_STRING) {
        add_string(out, name);
    }
}

Json reader_key(const Reader *rd, LevelAt s) {
    Buf place = BUF_INIT;
    place_of(rd, s, &place);
    Json key = place_key(&place, safe_int(reader_visit(rd, s), VISIT_NTH));
    buf_clear(&place);
    return key;
}

void reader_forget_inside(Reader *rd, LevelAt s) {
    Recording *r = rd->r;
    int64_t nth = safe_int(reader_visit(rd, s), VISIT_NTH);
    Buf place = BUF_INIT;
    place_of(rd, s, &place);
    r->counts = place_forget_inside(r->counts, &place, nth);
    r->outcomes = place_forget_inside(r->outcomes, &place, nth);
    r->changes = place_forget_inside(r->changes, &place, nth);
    buf_clear(&place);
}

/* ---- seeing where frames stand ---- */

static Json path_seen(Reader *rd, int64_t frame) {
    int64_t parent = image_parent(rd->after, frame);
    if (!parent) {
        return json_string_c("main");
    }
    reader_see(rd, parent);
    LevelAt at = image_top(rd->after, parent);
    Buf made = BUF_INIT, path = BUF_INIT;
    place_of(rd, at, &made);
    if (json_kind(safe_item(reader_visit(rd, at), VISIT_NODE)) != JSON_STRING) {
        buf_adds(&made, "__start__");
    }
    place_add_again(&made, safe_int(reader_visit(rd, at), VISIT_NTH),
                    image_part_int(rd->after, at, IMAGE_ATTEMPT));
    bool cleanup = wait_is(image_wait(rd->after, parent), WAIT_CLEANING);
    place_add_child(&path, &made, cleanup ? 0 : image_branch(rd->after, frame));
    Json out = place_text(&path);
    buf_clear(&made);
    buf_clear(&path);
    return out;
}

/* It is of a node that was injected, or inside one. */
static bool is_injected(Json image, LevelAt s) {
    InjectWhere where;
    do {
        if (image_injected(image, s, &where)) {
            return true;
        }
    } while (image_go_down(image, &s));
    return false;
}

/* From there on the run is live, if that is the node. */
static void note_live(Reader *rd, Json image, LevelAt s, Json name) {
    const char *from = rd->r->live_from;
    const Node *node = from ? image_node(image_graph(rd->flow, image, s), name) : NULL;
    rd->r->live = rd->r->live || (node && place_is_called(node, from));
}

/* A level stands at a node, of that name, for the nth time. Those that the workflow does not have are not
 * counted: the next run does not come to them. */
static Json new_visit(Reader *rd, LevelAt s, Json name, Json image) {
    bool named = json_kind(name) == JSON_STRING, turn = !json_identical(image, rd->after);
    Json visits = seen_part(rd, s.frame, SEEN_VISITS);
    Buf place = BUF_INIT;
    add_visits(&place, seen_part(rd, s.frame, SEEN_PATH), visits, s.level);
    if (named) {
        add_string(&place, name);
    }
    bool counts = named && !is_injected(image, s);
    Json parts[VISIT_PARTS] = {
        [VISIT_NODE] = named ? json_ref(name) : json_null(),
        [VISIT_STEPS] = json_int(turn ? 0 : image_part_int(image, s, IMAGE_STEPS)),
        [VISIT_TURNS] = json_int(turn ? 0 : image_part_int(image, s, IMAGE_COUNT)),
        [VISIT_NTH] = json_int(counts ? place_count_one(&rd->r->counts, &place) : 0),
        [VISIT_BASE] = json_ref(image),
        [VISIT_DONE] = json_null(),
    };
    buf_clear(&place);
    note_live(rd, image, s, name);
    return json_array_from(parts, VISIT_PARTS);
}

/* The steps of a level tell one time at a node from the next, but for a loop: the steps of its
 * turns are added while it goes on. */
static bool is_same_time(const Reader *rd, LevelAt s, Json visit) {
    int64_t turns = safe_int(visit, VISIT_TURNS);
    return safe_int(visit, VISIT_STEPS) == image_part_int(rd->after, s, IMAGE_STEPS) ||
           (turns && image_part_int(rd->after, s, IMAGE_COUNT) >= turns);
}

static bool is_same_visit(const Reader *rd, LevelAt s, Json visit) {
    Json name = image_part(rd->after, s, IMAGE_NODE);
    return json_kind(visit) == JSON_ARRAY && image_has(rd->after, s) &&
           !safe_differ(safe_item(visit, VISIT_NODE), json_is_none(name) ? json_null() : name) &&
           is_same_time(rd, s, visit);
}

static bool is_same_turn(const Reader *rd, LevelAt s, Json visit) {
    return safe_int(visit, VISIT_TURNS) == image_part_int(rd->after, s, IMAGE_COUNT);
}

/* What is kept of the visits so far: those up to the first level that has gone on. */
static size_t visits_kept(const Reader *rd, int64_t frame, size_t n) {
    size_t kept = 0;
    for (bool same = true; same && kept < n; kept += same) {
        LevelAt s = {frame, kept};
        bool turned = kept && !is_same_turn(rd, (LevelAt){frame, kept - 1},
                                            reader_visit(rd, (LevelAt){frame, kept - 1}));
        same = !turned && is_same_visit(rd, s, reader_visit(rd, s));
    }
    return kept;
}

void reader_leave(Reader *rd, LevelAt s, Json image) {
    Json visit = reader_visit(rd, s);
    const Node *node = image_node(image_graph(rd->flow, image, s), safe_item(visit, VISIT_NODE));
    if (!node || !node_leaves(node) || json_kind(safe_item(visit, VISIT_DONE)) != JSON_NULL) {
        return;
    }
    Json key = reader_key(rd, s);
    if (json_is_none(json_object_get(rd->r->outcomes, key))) {
        reader_keep(rd, s, node, json_null());
    }
    json_unref(key);
}

static void see_frame(Reader *rd, int64_t frame, size_t kept) {
    Json path = seen_part(rd, frame, SEEN_PATH), visits = seen_part(rd, frame, SEEN_VISITS);
    path = json_is_none(path) ? path_seen(rd, frame) : json_ref(path);
    visits = json_is_none(visits) ? json_array() : json_array_slice(json_ref(visits), 0, kept);
    set_seen(rd, frame, path, visits);
    for (LevelAt s = {frame, 0}; s.level < image_depth(rd->after, frame); s.level++) {
        Json turns = json_int(image_part_int(rd->after, s, IMAGE_COUNT));
        Json name = image_part(rd->after, s, IMAGE_NODE);
        reader_set_visit(rd, s,
                         s.level < kept
                             ? json_array_set(json_ref(reader_visit(rd, s)), VISIT_TURNS, turns)
                             : new_visit(rd, s, name, rd->after));
    }
}

/* Frames in frames deeper than any run has them are not looked at: an image may come from
 * anywhere. */
static bool is_too_deep(Json image, int64_t frame) {
    enum { NESTING_MAX = 1000 };
    int nesting = 0;
    for (int64_t at = frame; at && nesting <= NESTING_MAX; at = image_parent(image, at)) {
        nesting++;
    }
    return nesting > NESTING_MAX;
}

void reader_see(Reader *rd, int64_t frame) {
    size_t n = reader_visits(rd, frame), kept = visits_kept(rd, frame, n);
    if (!n && is_too_deep(rd->after, frame)) {
        return;
    }
    if (kept < n) {
        reader_leave(rd, (LevelAt){frame, n - 1}, rd->before);
    }
    if (image_depth(rd->after, frame)) {
        see_frame(rd, frame, kept);
    } else {
        Json key = place_frame_key(frame);
        rd->seen = json_object_remove(rd->seen, key);
        json_unref(key);
    }
}

/* ---- turns of loops ---- */

/* The turn took over the state that the one before had left. */
bool reader_see_turn(Reader *rd, LevelAt s, Json name) {
    LevelAt below = {s.frame, s.level - 1};
    int64_t count = image_part_int(rd->after, below, IMAGE_COUNT);
    if (!s.level || !image_has(rd->before, s) ||
        json_kind(safe_item(reader_visit(rd, s), VISIT_NODE)) != JSON_NULL ||
        image_depth(rd->after, s.frame) != s.level + 1 ||
        count <= safe_int(reader_visit(rd, below), VISIT_TURNS)) {
        return false;
    }
    reader_set_visit(rd, s, new_visit(rd, s, name, rd->before));
    reader_set_visit(
        rd, below, json_array_set(json_ref(reader_visit(rd, below)), VISIT_TURNS, json_int(count)));
    return true;
}

/* ---- outcomes ---- */

void reader_keep(Reader *rd, LevelAt s, const Node *node, Json info) {
    Json parts[] = {json_int(node->kind->id), info};
    rd->r->outcomes =
        json_object_set(rd->r->outcomes, reader_key(rd, s), json_array_from(parts, 2));
}

/* ---- where a run stands ---- */

/* Work begins anew when a run goes back (run_rewind), and what was not begun is come to. */
static LastStage stage_at(Json wait, Json visit) {
    WaitKind kind = wait_kind(wait);
    bool done = json_kind(safe_item(visit, VISIT_DONE)) != JSON_NULL;
    bool tried = kind == WAIT_FAILING || kind == WAIT_FAILED || kind == WAIT_RETRY;
    return done                                                ? LAST_ENDED
           : tried                                             ? LAST_TAKEN
           : safe_is_nothing(wait) || wait_is(wait, WAIT_WORK) ? LAST_SEEN
                                                               : LAST_COUNTED;
}

static Json last_of(const Reader *rd, Json image, int64_t frame) {
    LevelAt s = {frame, reader_visits(rd, frame) - 1};
    Buf place = BUF_INIT;
    place_of(rd, s, &place);
    Json parts[] = {place_text(&place),
                    json_int(stage_at(image_wait(image, frame), reader_visit(rd, s)))};
    buf_clear(&place);
    return json_array_from(parts, 2);
}

Json reader_last(const Reader *rd, Json image) {
    Json out = json_object(), key, seen;
    for (size_t pos = 0; json_object_next(rd->seen, &pos, &key, &seen);) {
        int64_t frame = strtoll(json_string_data(&key), NULL, 10);
        if (reader_visits(rd, frame)) {
            out = json_object_set(out, json_ref(key), last_of(rd, image, frame));
        }
    }
    return out;
}
