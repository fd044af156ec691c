/* copies.c - values that a checkpoint need not hold, because the image before it does.
 *
 * A value is often put to a second place: the input of a sub-workflow is a part of the state around it, what
 * it wrote is kept beside its state, its result goes to the level below, those of branches and elements wait
 * for the others and then go to the state, and a map keeps the list that it goes over. In memory that is one
 * value. json_diff() sees the places one by one and writes it to each; whole even when it was changed a
 * little on the way.
 *
 * So every heavy value that is about to be written is looked for in the image before: the very same one near
 * the frame that it is for, or else one that was in a state under the same key and may have become this one.
 * What is found is copied by the patch, and the difference taken from there. These are guesses: whatever is
 * copied, the difference that follows makes it right, and the patch that is lighter is the one that is
 * written. */
#include "image_read.h"
#include "json_path.h"
#include "mem.h"
#include "record.h"

enum {
    HEAVY = 4096,      /* json_size() of what is worth looking for */
    DEPTH_MAX = 5,     /* of heavy parts in a value: [level], state, key; writes, key, entry */
    PARTS_MAX = 32,    /* of an array or object: a longer one is data and no place for values */
    FRAMES_MAX = 8,    /* that a value is looked for in */
    DIRTY_MAX = 64,    /* frames that changed among which it may be of one, or come from */
    VISITS_LEAST = 64, /* values that are looked at for it */
    VISITS_MAX = 1024,
    VISIT_BYTES = 256, /* of it for each of them: much less than writing it takes */
};

static bool is_heavy(Json j) {
    return json_size(j) >= HEAVY;
}

static bool is_container(Json j) {
    return json_kind(j) == JSON_ARRAY || json_kind(j) == JSON_OBJECT;
}

/* ---- the very same value ---- */

typedef struct Seen {
    Json value, step; /* borrowed */
    size_t parent;
} Seen;

/* Nearest first; the items are those whose inside is still to be seen or was. */
typedef struct Search {
    Seen *items;
    size_t n, cap;
    Json wanted;
    size_t left; /* values that may still be looked at */
} Search;

static void add_seen(Search *s, Json value, Json step, size_t parent) {
    s->items = mem_grow(s->items, s->n, &s->cap, sizeof *s->items);
    s->items[s->n++] = (Seen){value, step, parent};
}

/* Whether this is it; what is too small to hold it is passed over. */
static bool look_at(Search *s, Json value, Json step, size_t parent) {
    bool found = json_identical(value, s->wanted);
    if (found || (is_container(value) && json_size(value) > json_size(s->wanted))) {
        add_seen(s, value, step, parent);
    }
    return found;
}

static bool look_into(Search *s, size_t at) {
    Json value = s->items[at].value, key, part;
    bool found = false;
    if (json_kind(value) == JSON_ARRAY) {
        size_t n = json_array_len(value) < PARTS_MAX ? json_array_len(value) : PARTS_MAX;
        for (size_t i = 0; !found && s->left && i < n; i++, s->left--) {
            found = look_at(s, json_array_get(value, i), json_int((int64_t)i), at);
        }
        return found;
    }
    for (size_t pos = 0; !found && s->left && json_object_next(value, &pos, &key, &part);
         s->left--) {
        found = look_at(s, part, key, at);
    }
    return found;
}

/* From the first item, which has no step, to the last. */
static Json path_of_last(const Search *s) {
    size_t depth = 0;
    for (size_t at = s->n - 1; at; at = s->items[at].parent) depth++;
    Json *steps = mem_alloc(depth * sizeof *steps);
    for (size_t at = s->n - 1, i = depth; at; at = s->items[at].parent) {
        steps[--i] = json_ref(s->items[at].step);
    }
    Json path = json_array_from(steps, depth);
    mem_free(steps);
    return path;
}

/* ---- where it may be ---- */

typedef struct Copies {
    const Run *run;
    Json before;
    const Frame *frame; /* that the change at hand is in */
    Json path;          /* of that change; borrowed */
    int64_t shift;      /* of the first step inside it: items of a splice begin there */
    Json rest;          /* what it puts there, without what is copied */
    Json found;         /* copies for it, an array */
} Copies;

static Json frame_before(const Copies *c, const Frame *f) {
    return json_object_get(json_array_get(c->before, IMAGE_FRAMES), f->key);
}

static void begin_at(Search *s, const Copies *c, const Frame *f) {
    enum { FRAMES_SEEN = 1 };
    Json image = frame_before(c, f);
    if (!json_is_none(image) && s->n < FRAMES_SEEN + 1 + FRAMES_MAX) {
        add_seen(s, image, f->key, FRAMES_SEEN);
    }
}

/* The frame, those around it, and its children that end here. */
static void begin_search(Search *s, const Copies *c) {
    add_seen(s, c->before, json_none(), 0);
    add_seen(s, json_array_get(c->before, IMAGE_FRAMES), json_int(IMAGE_FRAMES), 0);
    for (const Frame *f = c->frame; f; f = f->parent) begin_at(s, c, f);
    int n = 0;
    for (const Frame *f = c->run->dirty; f && n < DIRTY_MAX; f = f->dirty_next, n++) {
        if (f->gone && f->parent == c->frame) begin_at(s, c, f);
    }
}

/* The path of the value in the image before; JSON_NONE: it is not there, or too far away. */
static Json find_same(const Copies *c, Json value) {
    if (json_unshared(value)) { /* most that is new */
        return json_none();
    }
    size_t visits = VISITS_LEAST + (size_t)(json_size(value) / VISIT_BYTES);
    Search s = {.wanted = value, .left = visits < VISITS_MAX ? visits : VISITS_MAX};
    begin_search(&s, c);
    bool found = false;
    for (size_t at = 2; !found && s.left && at < s.n; at++) found = look_into(&s, at);
    Json path = found ? path_of_last(&s) : json_none();
    mem_free(s.items);
    return path;
}

/* ---- one that may have become it ---- */

/* In the nearest state that has something under its key: of its kind, and about as large. */
static Json find_related(const Copies *c, Json key, Json value) {
    uint64_t size = json_size(value);
    for (const Frame *f = c->frame; f && json_kind(key) == JSON_STRING; f = f->parent) {
        Json levels = json_array_get(frame_before(c, f), IMAGE_LEVELS);
        for (size_t i = json_array_len(levels); i > 0; i--) {
            Json old =
                json_object_get(json_array_get(json_array_get(levels, i - 1), IMAGE_STATE), key);
            if (is_container(old) && json_kind(old) == json_kind(value) &&
                json_size(old) / 2 <= size && size / 2 <= json_size(old)) {
                return ARRAY(json_int(IMAGE_FRAMES), json_ref(f->key), json_int(IMAGE_LEVELS),
                             json_int((int64_t)i - 1), json_int(IMAGE_STATE), json_ref(key));
            }
        }
    }
    return json_none();
}

/* ---- the parts of a change ---- */

/* Consumes source. False when there is none, or it is the place itself. */
static bool add_copy(Copies *c, Json at, Json source) {
    if (json_is_none(source)) return false;
    Json inside = json_ref(at);
    if (c->shift) inside = json_array_set(inside, 0, json_int(json_array_get(at, 0).i + c->shift));
    Json target = json_array_concat(json_ref(c->path), inside);
    if (json_equal(source, target)) {
        json_unref(source);
        json_unref(target);
        return false;
    }
    c->found = json_array_push(c->found, ARRAY(target, json_string_c("copy"), source));
    c->rest = json_path_set(c->rest, at, json_null(), NULL);
    return true;
}

static bool find_value(Copies *c, Json value, Json at, Json key, int depth);

/* What a level wrote to a key is the first of an entry there. */
static bool find_items(Copies *c, Json array, Json at, Json key, int depth) {
    bool found = false;
    for (size_t i = 0; i < json_array_len(array) && i < PARTS_MAX; i++) {
        Json value = json_array_get(array, i);
        if (is_heavy(value)) {
            Json inner = json_array_push(json_ref(at), json_int((int64_t)i));
            found |= find_value(c, value, inner, i ? json_none() : key, depth);
            json_unref(inner);
        }
    }
    return found;
}

static bool find_fields(Copies *c, Json object, Json at, int depth) {
    bool found = false;
    Json key, value;
    for (size_t pos = 0, n = 0; n < PARTS_MAX && json_object_next(object, &pos, &key, &value);
         n++) {
        if (is_heavy(value)) {
            Json inner = json_array_push(json_ref(at), json_ref(key));
            found |= find_value(c, value, inner, key, depth);
            json_unref(inner);
        }
    }
    return found;
}

/* A heavy value: as a whole, in its parts, or as what was under its key. */
static bool find_value(Copies *c, Json value, Json at, Json key, int depth) {
    if (add_copy(c, at, find_same(c, value))) return true;
    bool deeper = is_container(value) && depth < DEPTH_MAX;
    bool inside =
        deeper && (json_kind(value) == JSON_ARRAY ? find_items(c, value, at, key, depth + 1)
                                                  : find_fields(c, value, at, depth + 1));
    return inside || add_copy(c, at, find_related(c, key, value));
}

/* ---- changes ---- */

static const Frame *frame_of(const Run *run, Json path) {
    Json key = json_array_len(path) > 1 ? json_array_get(path, 1) : json_none();
    int n = json_kind(key) == JSON_STRING ? 0 : DIRTY_MAX;
    for (const Frame *f = run->dirty; f && n < DIRTY_MAX; f = f->dirty_next, n++) {
        if (json_string_equal(f->key, key)) return f;
    }
    return NULL;
}

/* The key that the place of a change is under; JSON_NONE: none. */
static Json key_of(Json path) {
    size_t n = json_array_len(path);
    Json last = json_array_get(path, n - 1);
    bool entry = json_tag(last) == JSON_TAG_INT && last.i == 0 && n > 1;
    return entry ? json_array_get(path, n - 2) : last;
}

/* What does the same as a heavy change, or nearly the same, with copies: an array. JSON_NONE: there are none. */
static Json lightened(Copies *c, Json change) {
    size_t n = json_array_len(change);
    Json value = json_array_get(change, n - 1), at = json_array();
    c->path = json_array_get(change, 0);
    c->frame = frame_of(c->run, c->path);
    c->shift = n == 4 ? json_array_get(change, 1).i : 0;
    c->rest = json_ref(value);
    c->found = json_array();
    bool found = c->frame && (n == 4 ? find_items(c, value, at, json_none(), 0)
                                     : find_value(c, value, at, key_of(c->path), 0));
    Json out = found ? json_array() : json_none();
    if (found && (n == 4 || json_kind(c->rest) != JSON_NULL)) { /* not all of it is copied */
        out = json_array_push(out, json_array_set(json_ref(change), n - 1, json_ref(c->rest)));
    }
    out = found ? json_array_concat(out, json_ref(c->found)) : out;
    json_unref(at);
    json_unref(c->rest);
    json_unref(c->found);
    return out;
}

static bool same_object(Json path, Json other) {
    size_t n = json_array_len(path);
    bool same = n == json_array_len(other);
    for (size_t i = 0; same && i + 1 < n; i++) {
        same = json_equal(json_array_get(path, i), json_array_get(other, i));
    }
    return same;
}

/* Whether the change adds a key to an object that is there. */
static bool adds_key(Json before, Json change) {
    Json path = json_array_get(change, 0), at = before, key = json_none();
    for (size_t i = 0; json_array_len(change) == 2 && i < json_array_len(path); i++) {
        at = !i                              ? at
             : json_tag(key) == JSON_TAG_INT ? json_array_get(at, (size_t)key.i)
                                             : json_object_get(at, key);
        key = json_array_get(path, i);
    }
    return json_kind(key) == JSON_STRING && json_kind(at) == JSON_OBJECT &&
           json_is_none(json_object_get(at, key));
}

/* New keys go to the end of their object, so those that come before one have to be there first. */
static Json add_keys_before(Json before, Json changes, size_t from, size_t to, Json out) {
    Json path = json_array_get(json_array_get(changes, to), 0);
    size_t i = to;
    while (i > from && adds_key(before, json_array_get(changes, i - 1)) &&
           same_object(path, json_array_get(json_array_get(changes, i - 1), 0))) {
        i--;
    }
    for (; i < to; i++) out = json_array_push(out, json_ref(json_array_get(changes, i)));
    return out;
}

Json copies_for(const Run *run, Json before, Json changes) {
    Copies c = {.run = run, .before = before};
    Json out = json_none();
    for (size_t i = 0, from = 0; i < json_array_len(changes); i++) {
        Json change = json_array_get(changes, i);
        size_t n = json_array_len(change);
        bool heavy = (n == 2 || n == 4) && is_heavy(json_array_get(change, n - 1));
        Json instead = heavy ? lightened(&c, change) : json_none();
        if (!json_is_none(instead)) {
            out = add_keys_before(before, changes, from, i, out);
            out = json_array_concat(out, instead);
            from = i + 1;
        }
    }
    return out;
}
