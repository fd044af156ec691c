#include "divergence.h"

#include "json_build.h"
#include "json_diff.h"
#include "mem.h"
#include "result.h"

#include <inttypes.h>
#include <string.h>

/* One step of a frame. */
typedef struct Act {
    size_t item;  /* in the line */
    Json path;    /* of its frame */
    size_t place; /* among the acts of that path */
    Json
        outcome; /* what was changed in its frame before it, then what its node gave back; an array */
} Act;

/* One of the two lines, as what its frames did. */
typedef struct Side {
    Store *store;
    const DivergenceSide *of;
    Lineage line;
    size_t
        begin;  /* index of the checkpoint that it is compared from; line.n: it ends before that */
    Json start; /* what the root frame saw there */
    Act *acts;
    size_t n, cap;
    Json paths;     /* {frame: path} */
    Json pending;   /* {frame: changes since its last step} */
    Json by_path;   /* {path: [index of act]} */
    int64_t unsaid; /* a step whose result is not on record; 0: none */
} Side;

static void side_clear(Side *s) {
    for (size_t i = 0; i < s->n; i++) {
        json_unref(s->acts[i].path);
        json_unref(s->acts[i].outcome);
    }
    mem_free(s->acts);
    lineage_clear(&s->line);
    json_unref(s->start);
    json_unref(s->paths);
    json_unref(s->pending);
    json_unref(s->by_path);
}

/* ---- what frames did ---- */

/* A frame has its path for as long as it is there, and is there before its first step ends.
 * Borrowed. */
static Json path_of(Side *s, const LineageImage *at, int64_t frame) {
    Json key = image_key(frame), path = json_object_get(s->paths, key);
    if (json_is_none(path)) {
        path = lineage_frame_path(at->before, frame);
        path = json_is_none(path) ? lineage_frame_path(at->after, frame) : path;
        path = json_is_none(path) ? json_string_fmt("frame %" PRId64, frame) : path;
        s->paths = json_object_set(s->paths, json_ref(key), path);
    }
    json_unref(key);
    return path;
}

/* What a checkpoint changed in its frame beside what a node gave back: what a person did; of tasks, which
 * give back little, all that the frame sees. An array, given. */
static Json changes_of(const Side *s, const LineageImage *at, const StepResult *result) {
    if (!s->of->flow->main->scoped) {
        return json_kind(result->by_hand) == JSON_ARRAY ? json_ref(result->by_hand) : json_array();
    }
    int64_t frame = at->checkpoint->frame;
    Json before = lineage_state(s->of->flow, at->before, frame);
    Json after = lineage_state(s->of->flow, at->after, frame);
    bool both = !json_is_none(before) && !json_is_none(after);
    Json changes = both ? json_diff(before, after) : json_array();
    json_unref(before);
    json_unref(after);
    return changes;
}

/* The changes since the last step of a frame, taken out; and more of them, consumed. */
static Json take_pending(Side *s, Json key) {
    Json changes = json_object_lift(&s->pending, key);
    s->pending = json_object_remove(s->pending, key);
    return changes;
}

static void add_pending(Side *s, Json key, Json changes) {
    Json all = json_array_concat(take_pending(s, key), changes);
    s->pending = json_object_set(s->pending, json_ref(key), all);
}

static void add_act(Side *s, const LineageImage *at, size_t item, Json outcome) {
    Json path = path_of(s, at, s->line.items[item].frame);
    Json places = json_object_lift(&s->by_path, path);
    size_t place = json_array_len(places);
    places = json_array_push(places, json_int((int64_t)s->n));
    s->by_path = json_object_set(s->by_path, json_ref(path), places);
    s->acts = mem_grow(s->acts, s->n, &s->cap, sizeof *s->acts);
    s->acts[s->n++] = (Act){item, json_ref(path), place, outcome};
}

static bool take_image(void *ctx, const LineageImage *at) {
    Side *s = ctx;
    size_t item = s->begin + at->index;
    const LineageStep *c = &s->line.items[item];
    StepResult result;
    bool said = result_read(at->checkpoint, at->before, at->after, &result);
    Json key = image_key(c->frame), changes = changes_of(s, at, &result);
    if (!at->index) {
        s->start = lineage_state(s->of->flow, at->after, 0);
        json_unref(changes);
    } else if (lineage_is_step(c)) {
        Json gave = json_is_none(result.update) ? json_null() : json_ref(result.update);
        Json outcome = take_pending(s, key);
        outcome = result.after ? outcome : json_array_concat(outcome, json_ref(changes));
        add_act(s, at, item, json_array_push(outcome, gave));
        add_pending(s, key, result.after ? changes : json_array());
        if (!result.after) json_unref(changes);
        s->unsaid = said ? s->unsaid : c->seq;
    } else {
        add_pending(s, key, changes);
    }
    json_unref(key);
    result_clear(&result);
    return !s->unsaid;
}

/* From the first checkpoint at which so many steps were done. */
static bool read_acts(Side *s, int64_t steps, Error *err) {
    while (s->begin < s->line.n && s->line.items[s->begin].step < steps) s->begin++;
    Lineage part = {s->line.items + s->begin, s->line.n - s->begin};
    return lineage_images(s->store, s->of->run, &part, take_image, s, err) &&
           (!s->unsaid ||
            error_set(err, ERR_USAGE,
                      "Checkpoint %" PRId64 " of run %" PRId64
                      " does not say what its node gave back: a version of pawl made it that did "
                      "not record that.",
                      s->unsaid, s->of->run));
}

static bool read_side(Side *s, Store *store, const DivergenceSide *of, Error *err) {
    *s = (Side){.store = store,
                .of = of,
                .paths = json_object(),
                .pending = json_object(),
                .by_path = json_object()};
    return lineage_read(store, of->run, of->seq, 0, &s->line, err);
}

/* ---- what came of a step ---- */

typedef struct CameOf {
    Json
        value; /* the state of its frame, or what its node gave back when the frame ended with it; JSON_NONE on error */
    bool ended;   /* the frame did */
    bool element; /* of a map, and is no more than what it gave back */
} CameOf;

static CameOf come_of(const Side *s, size_t item, Error *err) {
    const LineageStep *step = &s->line.items[item];
    Json after = chain_image(s->store, s->of->run, step->seq, NULL, err);
    CameOf out = {0};
    if (!json_is_none(after)) out.value = lineage_state(s->of->flow, after, step->frame);
    out.ended = json_is_none(out.value) && !json_is_none(after);
    if (out.ended && step->parent) {
        Json before = chain_image(s->store, s->of->run, step->parent, NULL, err);
        StepResult result = {0};
        Checkpoint c;
        if (!json_is_none(before) && store_checkpoint(s->store, s->of->run, step->seq, &c, err)) {
            int64_t maker = image_parent(before, step->frame);
            result_read(&c, before, after, &result);
            out.value = json_is_none(result.update) ? json_null() : json_ref(result.update);
            out.element = maker && wait_is(image_wait(before, maker), WAIT_MAP);
        }
        result_clear(&result);
        json_unref(before);
    }
    json_unref(after);
    return out;
}

/* Two steps of a node came to the same, whichever way: it was passed over, or something was changed by hand
 * first. The end of a branch does not say all that the branch changed. */
static bool same_came(const Side *a, const Side *b, const Act *x, const Act *y) {
    CameOf p = come_of(a, x->item, NULL), q = come_of(b, y->item, NULL);
    bool comparable = p.ended == q.ended && p.element == q.element &&
                      (!p.ended || p.element || json_equal(x->outcome, y->outcome));
    bool same = comparable && !json_is_none(p.value) && !json_is_none(q.value) &&
                json_equal(p.value, q.value);
    json_unref(p.value);
    json_unref(q.value);
    return same;
}

/* ---- where they part ---- */

/* A place in each line, SIZE_MAX where it has none: indices of items. */
typedef struct Parting {
    bool found;
    size_t a, b;
    int64_t steps; /* that are equal before */
    Json path;     /* borrowed */
} Parting;

static size_t match_of(const Side *s, const Act *act) {
    Json places = json_object_get(s->by_path, act->path);
    Json place = json_is_none(places) ? places : json_array_get(places, act->place);
    return json_is_none(place) ? SIZE_MAX : (size_t)place.i;
}

static bool is_same_act(const Side *a, const Side *b, const Act *x, const Act *y) {
    const LineageStep *p = &a->line.items[x->item], *q = &b->line.items[y->item];
    bool same = !strcmp(p->status, q->status);
    bool failed = !strcmp(p->status, "failed") || !strcmp(q->status, "failed");
    return !strcmp(p->node, q->node) && ((same && json_equal(x->outcome, y->outcome)) ||
                                         ((same || !failed) && same_came(a, b, x, y)));
}

static Parting find_parting(const Side *a, const Side *b) {
    bool has_a = a->begin < a->line.n, has_b = b->begin < b->line.n;
    if (!has_a || !has_b || !json_equal(a->start, b->start)) {
        return (Parting){
            .found = true, .a = has_a ? a->begin : SIZE_MAX, .b = has_b ? b->begin : SIZE_MAX};
    }
    for (size_t i = 0; i < a->n; i++) {
        const Act *act = &a->acts[i];
        size_t other = match_of(b, act);
        const Act *match = other == SIZE_MAX ? NULL : &b->acts[other];
        if (!match || !is_same_act(a, b, act, match)) {
            return (Parting){true, act->item, match ? match->item : SIZE_MAX, (int64_t)i,
                             act->path};
        }
    }
    for (size_t i = 0; i < b->n; i++) {
        if (match_of(a, &b->acts[i]) == SIZE_MAX) {
            return (Parting){true, SIZE_MAX, b->acts[i].item, (int64_t)a->n, b->acts[i].path};
        }
    }
    return (Parting){.steps = (int64_t)a->n};
}

/* ---- the answer ---- */

static Json place_json(const Side *s, size_t item) {
    const LineageStep *c = item == SIZE_MAX ? NULL : &s->line.items[item];
    return !c ? json_none()
              : OBJECT(KEY("checkpoint", c->seq), KEY("node", *c->node ? c->node : NULL),
                       KEY("status", c->status), KEY("step", c->step));
}

/* What two steps made different; JSON_NONE where there is one only, or where only one ended its frame. */
static bool diff_at(const Side *a, const Side *b, const Parting *p, Json *diff, Error *err) {
    *diff = json_none();
    if (p->a == SIZE_MAX || p->b == SIZE_MAX) return true;
    CameOf x = come_of(a, p->a, err);
    CameOf y = json_is_none(x.value) ? x : come_of(b, p->b, err);
    bool ok = !json_is_none(x.value) && !json_is_none(y.value);
    *diff = ok && x.ended == y.ended ? json_changes_report(x.value, y.value) : json_none();
    json_unref(x.value);
    json_unref(y.value);
    return ok;
}

static Json report(const Side *a, const Side *b, const Parting *p, Error *err) {
    Json diff = json_none();
    if (p->found && !diff_at(a, b, p, &diff, err)) return json_none();
    Json out = OBJECT(KEY("same", json_bool(!p->found)), KEY("steps", p->steps));
    Json frame = json_is_none(p->path) ? json_string_c("main") : json_ref(p->path);
    return !p->found ? out
                     : OBJECT_ADD(out, KEY("frame", frame), KEY("a", place_json(a, p->a)),
                                  KEY("b", place_json(b, p->b)), KEY("diff", diff));
}

Json divergence_find(Store *store, const DivergenceSide *a, const DivergenceSide *b, Error *err) {
    Side x, y;
    Json out = json_none();
    bool ok = read_side(&x, store, a, err);
    ok = read_side(&y, store, b, ok ? err : NULL) && ok;
    if (ok) {
        int64_t p = x.line.items[0].step, q = y.line.items[0].step;
        ok = read_acts(&x, p > q ? p : q, err) && read_acts(&y, p > q ? p : q, err);
    }
    if (ok) {
        Parting p = find_parting(&x, &y);
        out = report(&x, &y, &p, err);
    }
    side_clear(&x);
    side_clear(&y);
    return out;
}
