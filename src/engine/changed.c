/* changed.c - the keys that a checkpoint changed, from the images around it.
 *
 * The level that a node stands at is compared with itself. Levels below it, and those of the frames
 * around, are compared too, for tasks set variables of outer scopes: but where one has come to what
 * the frame saw already, that was handed to it. */
#include "changed.h"

#include "engine.h"
#include "image.h"
#include "wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- levels of an image ---- */

/* A level of a frame; of one image, but it is the same one in the next, while it is there. */
typedef struct Spot {
    int64_t frame;
    size_t level;
} Spot;

static Json item(Json array, size_t i) {
    return json_kind(array) == JSON_ARRAY ? json_array_get(array, i) : json_none();
}

static Json value(Json object, Json key) {
    return json_kind(object) == JSON_OBJECT ? json_object_get(object, key) : json_none();
}

static Json frame_in(Json image, int64_t id) {
    char key[24];
    Json frames = item(image, IMAGE_FRAMES);
    snprintf(key, sizeof key, "%" PRId64, id);
    return json_kind(frames) == JSON_OBJECT ? json_object_get_c(frames, key) : json_none();
}

static size_t depth_in(Json image, int64_t frame) {
    Json levels = item(frame_in(image, frame), IMAGE_LEVELS);
    return json_kind(levels) == JSON_ARRAY ? json_array_len(levels) : 0;
}

static Json part_in(Json image, Spot s, size_t part) {
    return item(item(item(frame_in(image, s.frame), IMAGE_LEVELS), s.level), part);
}

static bool has_own(Json image, Spot s) {
    return json_kind(part_in(image, s, IMAGE_STATE)) == JSON_OBJECT;
}

static int64_t parent_in(Json image, int64_t frame) {
    Json f = frame_in(image, frame);
    int64_t parent = json_kind(f) == JSON_ARRAY ? image_int(f, IMAGE_PARENT) : 0;
    return parent > 0 && parent < frame ? parent : 0;
}

/* To the level below, or the last one of the frame around; false: there is none. */
static bool go_down(Json image, Spot *s) {
    int64_t parent = s->level ? 0 : parent_in(image, s->frame);
    size_t depth = parent ? depth_in(image, parent) : 0;
    if (!s->level && !depth) {
        return false;
    }
    *s = s->level ? (Spot){s->frame, s->level - 1} : (Spot){parent, depth - 1};
    return true;
}

/* The level whose state it is that a level shows. */
static Spot owner_in(Json image, Spot s) {
    while (!has_own(image, s) && go_down(image, &s)) {}
    return s;
}

/* What is seen of a key from a level: of tasks, in the innermost scope that has it. */
static Json seen_in(Json image, Spot s, Json key) {
    Json seen = value(part_in(image, s, IMAGE_STATE), key);
    while (json_is_none(seen) && go_down(image, &s)) {
        seen = value(part_in(image, s, IMAGE_STATE), key);
    }
    return seen;
}

/* ---- where a checkpoint is ---- */

static bool ends_node(const Checkpoint *c) {
    static const char *const words[] = {"completed", "failed", "skipped"};
    bool ends = false;
    for (size_t i = 0; *c->node && !ends && i < sizeof words / sizeof words[0]; i++) {
        ends = !strcmp(c->status, words[i]);
    }
    return ends;
}

/* A loop shares the state of the level that it is in: it ends with what its last turn has left. */
static bool is_loop(Json image, Spot s) {
    Json count = part_in(image, s, IMAGE_COUNT);
    return json_tag(count) == JSON_TAG_INT && count.i > 0 && s.level + 1 < depth_in(image, s.frame);
}

/* The level that the node stood at, or where the frame did: a node that a turn begins with is come to
 * without a record. */
static Spot spot_of(Json before, const Checkpoint *c) {
    size_t depth = depth_in(before, c->frame);
    Spot top = {c->frame, depth ? depth - 1 : 0};
    for (size_t level = ends_node(c) ? depth : 0; level--;) {
        Spot s = {c->frame, level};
        Json name = part_in(before, s, IMAGE_NODE);
        if (json_kind(name) == JSON_STRING && json_string_is(name, c->node)) {
            return s;
        }
    }
    return top;
}

/* ---- keys ---- */

typedef struct Keys {
    Json before, after;
    Spot seen_from;
    bool loop;
    Json found; /* {key: null}: in order, each once */
} Keys;

static bool differ(Json a, Json b) {
    return json_is_none(a) != json_is_none(b) || (!json_is_none(a) && !json_equal(a, b));
}

static void add(Keys *k, Json key) {
    k->found = json_object_set(k->found, json_ref(key), json_null());
}

/* passed_on: only what was not seen before. */
static void compare_one(Keys *k, Json key, Json was, Json is, bool passed_on) {
    if (differ(was, is) && (!passed_on || differ(seen_in(k->before, k->seen_from, key), is))) {
        add(k, key);
    }
}

static void compare(Keys *k, Json was, Json is, bool passed_on) {
    Json key, v;
    if (json_kind(was) != JSON_OBJECT || json_kind(is) != JSON_OBJECT || json_identical(was, is)) {
        return;
    }
    for (size_t pos = 0; json_object_next(was, &pos, &key, &v);) {
        compare_one(k, key, v, value(is, key), passed_on);
    }
    for (size_t pos = 0; json_object_next(is, &pos, &key, &v);) {
        if (json_is_none(value(was, key))) {
            compare_one(k, key, json_none(), v, passed_on);
        }
    }
}

static void compare_levels(Keys *k) {
    Spot was = owner_in(k->before, k->seen_from), is = k->seen_from;
    size_t depth = depth_in(k->after, is.frame);
    is.level = depth && is.level >= depth ? depth - 1 : is.level;
    is = depth ? owner_in(k->after, is) : was;
    compare(k, part_in(k->before, was, IMAGE_STATE), part_in(k->after, is, IMAGE_STATE), false);
    while (go_down(k->before, &was)) {
        compare(k, part_in(k->before, was, IMAGE_STATE), part_in(k->after, was, IMAGE_STATE), true);
    }
}

/* ---- a branch that ends ---- */

static Json writes_of(Json image, Spot s, Json key) {
    return item(value(part_in(image, s, IMAGE_WRITES), key), 0);
}

/* What the branch had written to a key before: on the highest level that has it. */
static Json written(const Keys *k, Json key) {
    Json entry = json_none();
    for (Spot s = {k->seen_from.frame, k->seen_from.level + 1}; s.level-- && json_is_none(entry);) {
        entry = writes_of(k->before, s, key);
    }
    return entry;
}

/* A turn that ends with its branch has told its keys: by a reducer they join those of the turns before. */
static void compare_left(Keys *k) {
    int64_t frame = k->seen_from.frame, parent = parent_in(k->before, frame);
    Json wait = item(frame_in(k->after, parent), IMAGE_WAIT), key, entry;
    wait = wait_is(wait, WAIT_PAUSE) ? item(wait, WAIT_PAUSED) : wait;
    int64_t branch = image_int(frame_in(k->before, frame), IMAGE_BRANCH);
    Json left = wait_is(wait, WAIT_JOIN) && branch >= 0
                    ? item(item(wait, WAIT_JOIN_WRITES), (size_t)branch)
                    : json_none();
    for (size_t pos = 0;
         json_kind(left) == JSON_OBJECT && json_object_next(left, &pos, &key, &entry);) {
        bool of_turn = k->loop && !json_is_none(writes_of(k->before, k->seen_from, key));
        if (!of_turn && differ(written(k, key), item(entry, 0))) {
            add(k, key);
        }
    }
}

/* ---- the answer ---- */

Json changed_between(Json before, Json after, const Checkpoint *c) {
    if (!depth_in(before, c->frame)) {
        return checkpoint_changed_keys(c);
    }
    Spot at = spot_of(before, c);
    Keys k = {before, after, at, is_loop(before, at), json_object()};
    k.seen_from.level += k.loop;
    compare_levels(&k);
    if (!depth_in(after, c->frame)) {
        compare_left(&k);
    }
    Json keys = json_object_keys(k.found, false);
    json_unref(k.found);
    return keys;
}

static Json image_before(Changed *w, const Checkpoint *c) {
    if (c->parent && c->parent == w->seq) {
        return json_ref(w->image);
    }
    return c->parent ? chain_image(w->store, w->run, c->parent, NULL, NULL) : json_null();
}

Json changed_keys(Changed *w, const Checkpoint *c) {
    Json before = image_before(w, c);
    Json after = json_is_none(before) ? json_none() : chain_next(before, c);
    Json keys =
        json_is_none(after) ? checkpoint_changed_keys(c) : changed_between(before, after, c);
    json_unref(before);
    changed_clear(w);
    w->image = after;
    w->seq = json_is_none(after) ? 0 : c->seq;
    return keys;
}

void changed_clear(Changed *w) {
    json_clear(&w->image);
    w->seq = 0;
}
