/* recording_read.c - what executions came to, read from a line of checkpoints. */
#include "recording_inside.h"

#include "json_binary.h"

#include <inttypes.h>

static bool is_status(const LineStep *c, const char *status) {
    return !strcmp(c->status, status);
}

/* ---- steps ---- */

/* What failed came after the node, which was done. */
static bool is_past_node(Json wait) {
    return wait_is(wait, WAIT_FAILED) && (json_truthy(safe_item(wait, WAIT_FAILED_AFTER)) ||
                                          wait_is(safe_item(wait, WAIT_FAILED_BEFORE), WAIT_JOIN));
}

/* What was injected after the node runs next. */
static bool is_followed(Json image, Spot s) {
    InjectWhere where;
    return spot_injected(image, (Spot){s.frame, s.level + 1}, &where) && where == INJECT_AFTER;
}

/* The node has ended and the frame still stands at it: it is stopped there, made branches, or
 * failed and may be tried again. */
static void note_stay(Reader *rd, Spot s) {
    Json visit = reader_visit(rd, s), wait = spot_wait(rd->after, s.frame);
    bool done = is_followed(rd->after, s) || wait_rows[wait_kind(wait)].position == HOOK_AFTER;
    bool here = spot_exists(rd->after, s) &&
                !safe_differ(spot_part(rd->after, s, IMAGE_NODE), safe_item(visit, VISIT_NODE));
    if (here && (done || wait_is(wait, WAIT_FAILED))) {
        Json stays = json_array_set(json_ref(visit), VISIT_STEPS,
                                    json_int(spot_int(rd->after, s, IMAGE_STEPS)));
        reader_set_visit(rd, s,
                         done ? json_array_set(stays, VISIT_DONE, json_ref(rd->after)) : stays);
    }
}

static bool find_ended(const Reader *rd, Spot s, Ended *e) {
    Json visit = reader_visit(rd, s);
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
    for (size_t n = reader_visits(rd, frame); n; n--) {
        *s = (Spot){frame, n - 1};
        if (!safe_differ(safe_item(reader_visit(rd, *s), VISIT_NODE), name)) {
            s->level -= s->level && stands_in(rd->before, *s);
            return true;
        }
    }
    return false;
}

static void read_end(Reader *rd, const Ended *e) {
    Json info = outcome_find(e, rd->c->status);
    if (!json_is_none(info)) {
        reader_keep(rd, e->at, e->node, info);
    }
    note_stay(rd, e->at);
}

static void read_step(Reader *rd) {
    int64_t frame = rd->c->frame;
    size_t n = reader_visits(rd, frame);
    Spot s = {frame, n - 1};
    Ended e;
    Json name = json_string_c(rd->c->node);
    bool turned = n && reader_see_turn(rd, s, name);
    bool found = turned || find_level(rd, frame, name, &s);
    json_unref(name);
    if (found && !is_past_node(spot_wait(rd->after, frame)) && find_ended(rd, s, &e)) {
        e.before = turned ? e.base : e.before;
        read_end(rd, &e);
    }
}

/* A node that was stopped after goes on: a person may have changed something meanwhile. */
static void read_resumed(Reader *rd) {
    size_t n = reader_visits(rd, rd->c->frame);
    Spot s = {rd->c->frame, n - 1};
    Json done = n ? safe_item(reader_visit(rd, s), VISIT_DONE) : json_none();
    Ended e;
    if (json_kind(done) != JSON_ARRAY || !find_ended(rd, s, &e) || e.graph->scoped ||
        outcome_holds_others(e.node)) {
        return;
    }
    Json info = outcome_resumed(&e, done);
    if (!json_is_none(info)) {
        reader_keep(rd, s, e.node, info);
    }
}

/* ---- changes by hand ---- */

/* Sets one of the things that are known of a visit but for its outcome; consumes it. */
static void keep_change(Reader *rd, Spot s, const char *what, Json value) {
    Json key = reader_key(rd, s), all = json_object_get(rd->r->changes, key);
    all = json_is_none(all) ? json_object() : json_ref(all);
    rd->r->changes = json_object_set(rd->r->changes, key, json_object_with(all, what, value));
}

/* Adds to what was changed before or after the node; consumes the changes. */
static void keep_changes(Reader *rd, Spot s, const char *when, Json changes) {
    if (!json_array_len(changes)) {
        json_unref(changes);
        return;
    }
    Json key = reader_key(rd, s);
    Json old = json_ref(safe_get_c(safe_get(rd->r->changes, key), when));
    json_unref(key);
    keep_change(rd, s, when, json_is_none(old) ? changes : json_array_concat(old, changes));
}

/* By a person, while the frame was stopped. What comes of a node of a graph that holds no others
 * has it in its outcome. */
static void read_set(Reader *rd) {
    size_t n = reader_visits(rd, rd->c->frame);
    Spot s = {rd->c->frame, n - 1};
    Ended e;
    if (!n || !spot_exists(rd->after, s) || !find_ended(rd, s, &e)) {
        return;
    }
    bool done = json_kind(safe_item(reader_visit(rd, s), VISIT_DONE)) == JSON_ARRAY;
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
    e.base = after ? safe_item(reader_visit(rd, s), VISIT_DONE) : e.base;
    keep_changes(rd, s, after ? "after" : "before", outcome_injected(&e));
}

static void read_changes(Reader *rd) {
    for (Spot s = {rd->c->frame, 0}; s.level < reader_visits(rd, s.frame); s.level++) {
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

/* ---- going elsewhere ---- */

static bool is_parked(Json image, int64_t frame) {
    Json key = place_frame_key(frame), f = safe_get(safe_item(image, IMAGE_FRAMES), key);
    json_unref(key);
    return wait_is(safe_item(f, IMAGE_WAIT), WAIT_PAUSE);
}

static bool is_done(const Reader *rd, Spot s) {
    return json_kind(safe_item(reader_visit(rd, s), VISIT_DONE)) == JSON_ARRAY;
}

/* A frame that is stopped, and then stopped at another node, or before the one that it was done with. */
static bool is_sent(const Reader *rd, Spot from, Spot to) {
    bool stays = is_parked(rd->before, from.frame) && is_parked(rd->after, from.frame);
    bool there =
        from.level == to.level && !safe_differ(spot_part(rd->after, to, IMAGE_NODE),
                                               safe_item(reader_visit(rd, from), VISIT_NODE));
    bool begins = is_done(rd, from) && wait_is(spot_wait(rd->after, to.frame), WAIT_LOOKED);
    return is_status(rd->c, "moved") || (is_status(rd->c, "paused") && stays && (!there || begins));
}

/* What it had begun is not begun again, but has left its traces: a list of tasks, or turns of a loop. */
static void keep_traces(Reader *rd, const Ended *e, Spot to) {
    if (e->at.level == to.level && (e->graph->scoped || outcome_holds_others(e->node))) {
        keep_changes(
            rd, e->at, "before",
            outcome_changes(e->graph, spot_state(e->base, e->at), spot_state(rd->after, to)));
    }
}

/* The node that it stands at now is come to once more, whatever it was at before. */
static void read_sent(Reader *rd) {
    int64_t frame = rd->c->frame;
    size_t n = reader_visits(rd, frame);
    Spot from = {frame, n - 1}, to = spot_top(rd->after, frame);
    Ended e;
    if (!n || !spot_exists(rd->after, to) || !is_sent(rd, from, to)) {
        return;
    }
    Json node = spot_part(rd->after, to, IMAGE_NODE);
    bool done = is_done(rd, from);
    if (find_ended(rd, from, &e) && json_kind(node) == JSON_STRING) {
        if (!done) {
            keep_traces(rd, &e, to);
        }
        Json parts[] = {json_string_c(done ? "after" : "before"), json_ref(node)};
        keep_change(rd, from, "goto", json_array_from(parts, 2));
    }
    if (to.level < n) {
        reader_set_visit(rd, to, json_null());
    }
}

/* ---- trying again ---- */

static bool is_failed(Json image, int64_t frame) {
    Json wait = spot_wait(image, frame);
    return wait_is(wait, WAIT_FAILING) || wait_is(wait, WAIT_FAILED);
}

/* Of a node that holds others, failed and is tried again by hand, the last try is what counts, on all that
 * was there when it began: then it does not fail. */
static void read_again(Reader *rd) {
    int64_t frame = rd->c->frame;
    Spot s = spot_top(rd->after, frame);
    Json name = spot_part(rd->after, s, IMAGE_NODE);
    Ended e;
    if (!is_failed(rd->before, frame) || is_failed(rd->after, frame) ||
        safe_differ(name, safe_item(reader_visit(rd, s), VISIT_NODE)) || is_done(rd, s) ||
        !find_ended(rd, s, &e) || !outcome_holds_others(e.node)) {
        return;
    }
    reader_forget_inside(rd, s);
    keep_change(rd, s, "before",
                outcome_changes(e.graph, spot_state(e.base, s), spot_state(rd->after, s)));
}

/* ---- errors that went outwards ---- */

static bool is_at_work(const Reader *rd, Spot s, Json name, Ended *e) {
    Json visit = reader_visit(rd, s);
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
    if (!taker.graph || taker.graph->scoped || !reader_visits(rd, frame)) {
        return;
    }
    Json error = outcome_error(&taker), name = safe_get_c(error, "node"), key, ignored;
    Ended failed = {0};
    for (size_t pos = 0;
         json_kind(name) == JSON_STRING && json_object_next(touched, &pos, &key, &ignored);) {
        Spot s = {ignored.i, reader_visits(rd, ignored.i) - 1};
        Ended e;
        bool earlier = !failed.at.frame || s.frame < failed.at.frame;
        if (earlier && reader_visits(rd, s.frame) && was_ended(rd, s) &&
            is_at_work(rd, s, name, &e)) {
            failed = e;
        }
    }
    Json info = failed.at.frame ? outcome_failed(json_ref(error)) : json_none();
    if (!json_is_none(info)) {
        reader_keep(rd, failed.at, failed.node, info);
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

static void read_what_ended(Reader *rd, Json touched) {
    const LineStep *c = rd->c;
    size_t n = reader_visits(rd, c->frame);
    Json name = json_string_c(c->node);
    bool own =
        n && !safe_differ(safe_item(reader_visit(rd, (Spot){c->frame, n - 1}), VISIT_NODE), name);
    json_unref(name);
    if (line_is_step(c) && !is_status(c, "joined")) {
        read_step(rd);
    }
    if (is_status(c, "resumed")) {
        read_resumed(rd);
    }
    if (*c->node && (is_status(c, "failed") || is_status(c, "retrying"))) {
        bool made = own && spot_depth(rd->before, c->frame) &&
                    (wait_is(spot_wait(rd->before, c->frame), WAIT_MAP) ||
                     wait_is(spot_wait(rd->before, c->frame), WAIT_JOIN));
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
    read_sent(rd);
    read_again(rd);
    for (size_t pos = 0; json_object_next(touched, &pos, &key, &id);) {
        reader_see(rd, id.i);
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
        size_t n = reader_visits(rd, ignored.i);
        if (n) {
            reader_leave(rd, (Spot){ignored.i, n - 1}, at->after);
        }
    }
    if (last) {
        json_unref(rd->r->last);
        rd->r->last = reader_last(rd, at->after);
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

bool recording_read(Recording *r, Store *store, const RecordingSource *source, Error *err) {
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
