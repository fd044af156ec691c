/* changed.c - the keys that a checkpoint changed, from the images around it.
 *
 * The level that a node stands at is compared with itself. Levels below it, and those of the frames
 * around, are compared too, for tasks set variables of outer scopes: but where one has come to what
 * the frame saw already, that was handed to it. */
#include "changed.h"

#include "engine.h"
#include "json_diff.h"
#include "result.h"

#include <string.h>

/* ---- where a checkpoint is ---- */

/* The level that the node stood at, or where the frame did: a node that a turn begins with is come to
 * without a record. */
static LevelAt level_of(Json before, const Checkpoint *c) {
    bool ends = checkpoint_ends_node(c->node, c->status);
    for (size_t level = ends ? image_depth(before, c->frame) : 0; level--;) {
        LevelAt s = {c->frame, level};
        Json name = image_part(before, s, IMAGE_NODE);
        if (json_string_is(name, c->node)) return s;
    }
    return image_top(before, c->frame);
}

/* ---- keys ---- */

typedef struct Keys {
    Json before, after;
    LevelAt seen_from;
    bool loop;
    Json found; /* {key: null}: in order, each once */
} Keys;

static void add(Keys *k, Json key) {
    k->found = json_object_set(k->found, json_ref(key), json_null());
}

/* passed_on: only what was not seen before; of tasks, in the innermost scope that has it. */
static void compare_one(Keys *k, Json key, Json was, Json is, bool passed_on) {
    LevelAt at = k->seen_from;
    Json seen = passed_on ? json_object_get(image_part(k->before, at, IMAGE_STATE), key) : was;
    while (passed_on && json_is_none(seen) && image_go_down(k->before, &at)) {
        seen = json_object_get(image_part(k->before, at, IMAGE_STATE), key);
    }
    if (safe_differ(was, is) && safe_differ(seen, is)) add(k, key);
}

static void compare_seen(void *ctx, Json key, Json was, Json is) {
    compare_one(ctx, key, was, is, false);
}

static void compare_passed_on(void *ctx, Json key, Json was, Json is) {
    compare_one(ctx, key, was, is, true);
}

/* What both images share is passed by: a state may have very many keys. */
static void compare(Keys *k, Json was, Json is, bool passed_on) {
    json_changed_members(was, is, passed_on ? compare_passed_on : compare_seen, k);
}

static void compare_levels(Keys *k) {
    LevelAt was = image_owner(k->before, k->seen_from), is = k->seen_from;
    size_t depth = image_depth(k->after, is.frame);
    is.level = depth && is.level >= depth ? depth - 1 : is.level;
    is = depth ? image_owner(k->after, is) : was;
    compare(k, image_part(k->before, was, IMAGE_STATE), image_part(k->after, is, IMAGE_STATE),
            false);
    while (image_go_down(k->before, &was)) {
        compare(k, image_part(k->before, was, IMAGE_STATE), image_part(k->after, was, IMAGE_STATE),
                true);
    }
}

/* ---- a branch that ends ---- */

static Json writes_of(Json image, LevelAt s, Json key) {
    return json_array_get(json_object_get(image_part(image, s, IMAGE_WRITES), key), 0);
}

/* A turn that ends with its branch has told its keys: by a reducer they join those of the turns before. */
static void compare_left(Keys *k) {
    int64_t frame = k->seen_from.frame, parent = image_parent(k->before, frame);
    Json wait = image_wait(k->after, parent), key, entry;
    int64_t branch = image_branch(k->before, frame);
    Json left = wait_is(wait, WAIT_JOIN) && branch >= 0
                    ? json_array_get(json_array_get(wait, WAIT_JOIN_WRITES), (size_t)branch)
                    : json_none();
    for (size_t pos = 0; json_object_next(left, &pos, &key, &entry);) {
        bool of_turn = k->loop && !json_is_none(writes_of(k->before, k->seen_from, key));
        Json written = json_none(); /* before: on the highest level that has it */
        for (LevelAt s = {frame, k->seen_from.level + 1}; s.level-- && json_is_none(written);) {
            written = writes_of(k->before, s, key);
        }
        if (!of_turn && safe_differ(written, json_array_get(entry, 0))) add(k, key);
    }
}

/* ---- the answer ---- */

Json changed_between(Json before, Json after, const Checkpoint *c) {
    if (!image_depth(before, c->frame)) return checkpoint_changed_keys(c);
    Keys k = {before, after, level_of(before, c), false, json_object()};
    /* A loop shares the state of the level that it is in: it ends with what its last turn has left. */
    k.loop = image_part_int(before, k.seen_from, IMAGE_COUNT) > 0 &&
             k.seen_from.level + 1 < image_depth(before, k.seen_from.frame);
    k.seen_from.level += k.loop;
    compare_levels(&k);
    if (!image_depth(after, c->frame)) compare_left(&k);
    Json keys = json_object_keys(k.found, false);
    json_unref(k.found);
    return keys;
}

Json changed_keys(Changed *w, const Checkpoint *c) {
    Json before = !c->parent            ? json_null()
                  : c->parent == w->seq ? json_ref(w->image)
                                        : chain_image(w->store, w->run, c->parent, NULL, NULL);
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
