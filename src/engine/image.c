#include "image.h"

#include "engine.h"
#include "hooks.h"
#include "image_read.h"
#include "json_binary.h"
#include "json_build.h"
#include "wait.h"

#include <stdio.h>
#include <string.h>

int64_t image_int(Json array, size_t i) {
    Json v = json_array_get(array, i);
    return json_tag(v) == JSON_TAG_INT ? v.i : 0;
}

/* ---- is it one? ---- */

static bool is_array_of(Json j, size_t least) {
    return json_kind(j) == JSON_ARRAY && json_array_len(j) >= least;
}

/* Milliseconds since 1970, and so far from the ends of what a number can be that sums of them are none. */
#define TIME_MAX (INT64_C(1) << 60)

static bool is_time(Json j) {
    return json_tag(j) == JSON_TAG_INT && j.i >= 0 && j.i <= TIME_MAX;
}

static Json lowest_state(Json frame) {
    return safe_item(safe_item(safe_item(frame, IMAGE_LEVELS), 0), IMAGE_STATE);
}

static bool wait_valid(Json wait, int depth);

bool writes_valid(Json writes) {
    Json key, entry;
    if (json_kind(writes) != JSON_OBJECT) {
        return json_kind(writes) == JSON_NULL;
    }
    for (size_t pos = 0; json_object_next(writes, &pos, &key, &entry);) {
        JsonKind writer = is_array_of(entry, 2) ? json_kind(json_array_get(entry, 1)) : JSON_TRUE;
        if (writer != JSON_STRING && writer != JSON_NULL) {
            return false;
        }
    }
    return true;
}

/* It becomes part of a path: nothing that leads elsewhere. */
static bool is_place(Json j) {
    bool ok = json_kind(j) == JSON_STRING && json_string_len(j) > 0;
    for (size_t i = 0; ok && i < json_string_len(j); i++) {
        char c = json_string_data(&j)[i];
        ok = (c >= '0' && c <= '9') || c == '.';
    }
    return ok;
}

static bool branches_valid(Json all) {
    bool ok = json_kind(all) == JSON_ARRAY;
    for (size_t i = 0; ok && i < json_array_len(all); i++) {
        ok = writes_valid(json_array_get(all, i));
    }
    return ok;
}

static bool field_valid(Json v, char shape, int depth) {
    JsonKind kind = json_kind(v);
    bool whole = json_tag(v) == JSON_TAG_INT;
    switch (shape) {
    case 's': return kind == JSON_STRING;
    case 'S': return kind == JSON_STRING || kind == JSON_NULL;
    case 'i': return whole;
    case 't': return is_time(v);
    case 'k': return is_place(v);
    case 'K': return is_place(v) || kind == JSON_NULL;
    case 'j': return branches_valid(v);
    case 'p': return whole && v.i >= 0 && v.i < HOOK_POSITIONS;
    case 'a': return kind == JSON_ARRAY;
    case 'o': return kind == JSON_OBJECT;
    case 'w': return wait_valid(v, depth + 1);
    default: return !json_is_none(v);
    }
}

static bool fields_valid(Json wait, const char *fields, int depth) {
    bool may_lack = false;
    for (size_t i = 1; *fields; fields++) {
        if (*fields == '?') {
            may_lack = true;
            continue;
        }
        Json v = json_array_get(wait, i++);
        if (!(may_lack && json_is_none(v)) && !field_valid(v, *fields, depth)) {
            return false;
        }
    }
    return true;
}

/* A pause is of one thing, which may have failed. */
static bool wait_valid(Json wait, int depth) {
    enum { DEPTH_MAX = 2 };
    WaitKind kind = depth <= DEPTH_MAX ? wait_kind(wait) : WAIT_UNKNOWN;
    return kind == WAIT_NOTHING || (kind != WAIT_UNKNOWN && !(depth && kind == WAIT_PAUSE) &&
                                    fields_valid(wait, wait_rows[kind].fields, depth));
}

static bool frame_valid(Json frame) {
    Json levels = json_array_get(frame, IMAGE_LEVELS), extra = json_array_get(frame, IMAGE_EXTRA);
    Json held = safe_get_c(extra, "held");
    bool ok = is_array_of(frame, IMAGE_WAIT + 1) && is_array_of(levels, 1) &&
              wait_valid(json_array_get(frame, IMAGE_WAIT), 0) &&
              (json_is_none(held) || is_time(held));
    for (size_t i = 0; ok && i < json_array_len(levels); i++) {
        Json level = json_array_get(levels, i);
        JsonKind node = json_kind(safe_item(level, IMAGE_NODE));
        JsonKind state = json_kind(safe_item(level, IMAGE_STATE));
        ok = is_array_of(level, IMAGE_LEVEL_FIELDS) &&
             is_time(json_array_get(level, IMAGE_LEVEL_DEADLINE)) &&
             (node == JSON_STRING || node == JSON_NULL) &&
             (state == JSON_OBJECT || state == JSON_NULL);
    }
    return ok;
}

bool image_valid(Json image) {
    if (!is_array_of(image, 2) ||
        !is_array_of(json_array_get(image, IMAGE_RUN), IMAGE_RUN_FIELDS) ||
        !is_time(json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_DEADLINE))) {
        return false;
    }
    Json frames = json_array_get(image, IMAGE_FRAMES), key, frame;
    if (json_kind(frames) != JSON_OBJECT || json_is_none(json_object_get_c(frames, "1"))) {
        return false;
    }
    for (size_t pos = 0; json_object_next(frames, &pos, &key, &frame);) {
        if (json_kind(frame) != JSON_ARRAY || !frame_valid(frame)) {
            return false;
        }
    }
    return json_kind(lowest_state(json_object_get_c(frames, "1"))) == JSON_OBJECT;
}

/* ---- for readers ---- */

/* Turns of a loop share the state of the level that the loop is in: the last of them has it. */
Json image_state(Json image) {
    if (!image_valid(image)) {
        return json_none();
    }
    Json root = json_object_get_c(json_array_get(image, IMAGE_FRAMES), "1");
    Json levels = json_array_get(root, IMAGE_LEVELS), state = lowest_state(root);
    for (size_t i = 1; i < json_array_len(levels); i++) {
        if (!image_int(json_array_get(levels, i - 1), IMAGE_COUNT)) {
            break;
        }
        Json own = json_array_get(json_array_get(levels, i), IMAGE_STATE);
        state = json_kind(own) == JSON_NULL ? state : own;
    }
    return json_ref(state);
}

Json image_error(Json image) {
    if (!image_valid(image)) {
        return json_none();
    }
    Json error = json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_ERROR);
    return json_kind(error) == JSON_NULL ? json_none() : json_ref(error);
}

/* The lowest level of the root frame stands nowhere any more, and remembers how it ended. */
bool image_is_over(Json image) {
    Json error = image_error(image);
    bool failed = !json_is_none(error);
    json_unref(error);
    if (!failed) {
        return false;
    }
    Json root = json_object_get_c(json_array_get(image, IMAGE_FRAMES), "1");
    Json level = json_array_get(json_array_get(root, IMAGE_LEVELS), 0);
    return json_kind(json_array_get(level, IMAGE_NODE)) == JSON_NULL &&
           json_kind(json_array_get(level, IMAGE_WRITES)) == JSON_ARRAY;
}

bool image_is_paused(Json image) {
    Json key, frame;
    if (!image_valid(image)) {
        return false;
    }
    Json frames = json_array_get(image, IMAGE_FRAMES);
    for (size_t pos = 0; json_object_next(frames, &pos, &key, &frame);) {
        if (wait_is(json_array_get(frame, IMAGE_WAIT), WAIT_PAUSE)) {
            return true;
        }
    }
    return false;
}

Json image_folder(Json image) {
    return image_valid(image)
               ? json_ref(json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_FOLDER))
               : json_none();
}

/* JSON_NONE for null: there is nothing to say of it. */
static Json or_none(Json j) {
    return json_kind(j) == JSON_NULL ? json_none() : json_ref(j);
}

Json image_interrupts(Json image) {
    Json out = json_array(), key, frame;
    if (!image_valid(image)) {
        return out;
    }
    Json frames = json_array_get(image, IMAGE_FRAMES);
    for (size_t pos = 0; json_object_next(frames, &pos, &key, &frame);) {
        Json wait = json_array_get(frame, IMAGE_WAIT), levels = json_array_get(frame, IMAGE_LEVELS);
        Json top = json_array_get(levels, json_array_len(levels) - 1);
        if (wait_is(wait, WAIT_INTERRUPT)) {
            Json id = json_number_parse(json_string_data(&key), json_string_len(key));
            out = json_array_push(
                out, OBJECT(KEY("id", or_none(json_array_get(wait, WAIT_ID))),
                            KEY("node", or_none(json_array_get(top, IMAGE_NODE))), KEY("frame", id),
                            KEY("prompt", or_none(json_array_get(wait, WAIT_PROMPT))),
                            KEY("options", or_none(json_array_get(wait, WAIT_OPTIONS))),
                            KEY("reason", or_none(json_array_get(wait, WAIT_REASON)))));
        }
    }
    return out;
}

/* The steps of a path into a state: frames, id, levels, number, state, key. */
enum { PATH_FRAMES, PATH_FRAME, PATH_LEVELS, PATH_LEVEL, PATH_FIELD, PATH_KEY };

static bool is_index(Json step, int64_t i) {
    return json_tag(step) == JSON_TAG_INT && step.i == i;
}

static Json add_keys(Json keys, Json state) {
    Json key, value;
    if (json_kind(state) == JSON_OBJECT) {
        for (size_t pos = 0; json_object_next(state, &pos, &key, &value);) {
            keys = json_object_set(keys, json_ref(key), json_null());
        }
    }
    return keys;
}

static Json add_change(Json keys, Json change) {
    Json path = safe_item(change, 0), value = safe_item(change, 1);
    size_t n = safe_len(path);
    if (n == 0) { /* the whole image: a beginning */
        return add_keys(keys, lowest_state(safe_get_c(safe_item(value, IMAGE_FRAMES), "1")));
    }
    bool in_frame = is_index(json_array_get(path, PATH_FRAMES), IMAGE_FRAMES);
    /* A branch ends with its last node: what it wrote is then with the frame that it came from. */
    bool branch = in_frame && n == PATH_LEVEL + 2 &&
                  is_index(json_array_get(path, PATH_LEVELS), IMAGE_WAIT) &&
                  is_index(json_array_get(path, PATH_LEVEL), WAIT_JOIN_WRITES);
    bool state = in_frame && n > PATH_FIELD &&
                 is_index(json_array_get(path, PATH_LEVELS), IMAGE_LEVELS) &&
                 is_index(json_array_get(path, PATH_FIELD), IMAGE_STATE);
    if (branch || (state && n == PATH_KEY)) {
        return add_keys(keys, value);
    }
    Json key = state ? json_array_get(path, PATH_KEY) : json_none();
    return json_kind(key) == JSON_STRING ? json_object_set(keys, json_ref(key), json_null()) : keys;
}

Json image_changed_keys(Json patch) {
    Json keys = json_object();
    for (size_t i = 0; i < safe_len(patch); i++) {
        keys = add_change(keys, json_array_get(patch, i));
    }
    Json out = json_object_keys(keys, false);
    json_unref(keys);
    return out;
}

Json checkpoint_changed_keys(const Checkpoint *c) {
    size_t used;
    Json patch = json_decode(c->patch, c->patch_len, &used, NULL);
    Json keys = image_changed_keys(patch);
    json_unref(patch);
    return keys;
}

/* ---- changes of all frames ---- */

/* Of a time; still one. */
static int64_t moved(int64_t at, int64_t by) {
    int64_t to = at + (by > TIME_MAX ? TIME_MAX : by < -TIME_MAX ? -TIME_MAX : by);
    return to < 1 ? 1 : to > TIME_MAX ? TIME_MAX : to;
}

static Json later(Json array, size_t i, int64_t by) {
    int64_t at = image_int(array, i);
    return at ? json_array_set(array, i, json_int(moved(at, by))) : array;
}

static Json shifted_levels(Json levels, bool asked, int64_t by) {
    size_t n = json_array_len(levels);
    for (size_t i = 0; i < n; i++) {
        Json level = json_array_get(levels, i);
        bool its_own = asked && i == n - 1; /* a person has had the time all along */
        if (!its_own && image_int(level, IMAGE_LEVEL_DEADLINE)) {
            levels = json_array_set(levels, i, later(json_ref(level), IMAGE_LEVEL_DEADLINE, by));
        }
    }
    return levels;
}

typedef struct Shift {
    int64_t by;
    bool waits;
} Shift;

static Json shifted_frame(Json frame, const Shift *shift) {
    Json wait = json_array_get(frame, IMAGE_WAIT), extra = json_array_get(frame, IMAGE_EXTRA);
    Json held = safe_get_c(extra, "held");
    bool timed = wait_is_timed(wait);
    if (json_tag(held) == JSON_TAG_INT) {
        extra = json_object_with(json_ref(extra), "held", json_int(moved(held.i, shift->by)));
        frame = json_array_set(frame, IMAGE_EXTRA, extra);
    }
    if (wait_is(wait, WAIT_PAUSE)) { /* it stopped the clock, whoever looks at it */
        Json inner = json_ref(json_array_get(wait, WAIT_PAUSED));
        inner = wait_is_timed(inner) ? later(inner, WAIT_UNTIL, shift->by) : inner;
        Json pause = json_array_set(json_ref(wait), WAIT_PAUSED, inner);
        frame = json_array_set(frame, IMAGE_WAIT, later(pause, WAIT_PAUSE_AT, shift->by));
        wait = json_array_get(frame, IMAGE_WAIT);
    }
    Json levels = json_ref(json_array_get(frame, IMAGE_LEVELS));
    levels = shifted_levels(levels, !shift->waits && wait_is(wait, WAIT_INTERRUPT), shift->by);
    if (shift->waits && timed) {
        frame = json_array_set(frame, IMAGE_WAIT, later(json_ref(wait), WAIT_UNTIL, shift->by));
    }
    if (json_identical(levels, json_array_get(frame, IMAGE_LEVELS))) {
        json_unref(levels);
        return frame;
    }
    return json_array_set(frame, IMAGE_LEVELS, levels);
}

/* The very same when there is no place in what it waits for. */
static Json renewed_frame(Json frame, Json key) {
    Json wait = json_array_get(frame, IMAGE_WAIT);
    WaitKind kind = wait_kind(wait_unpaused(wait));
    if (kind != WAIT_WORK && kind != WAIT_RETRY) {
        return frame;
    }
    Json place = json_string_fmt("0.%s", json_string_data(&key));
    return json_array_set(frame, IMAGE_WAIT, wait_with_key(json_ref(wait), place));
}

static Json change_frames(Json image, const Shift *shift) {
    Json frames = json_ref(json_array_get(image, IMAGE_FRAMES)), key, frame;
    Json all = json_ref(frames);
    for (size_t pos = 0; json_object_next(all, &pos, &key, &frame);) {
        Json changed =
            shift ? shifted_frame(json_ref(frame), shift) : renewed_frame(json_ref(frame), key);
        if (json_identical(changed, frame)) {
            json_unref(changed);
        } else {
            frames = json_object_set(frames, json_ref(key), changed);
        }
    }
    json_unref(all);
    return json_array_set(image, IMAGE_FRAMES, frames);
}

Json image_shift(Json image, int64_t by, bool waits) {
    Json head = json_ref(json_array_get(image, IMAGE_RUN));
    image = json_array_set(image, IMAGE_RUN, later(head, IMAGE_DEADLINE, by));
    return change_frames(image, &(Shift){by, waits});
}

Json image_renew_places(Json image) {
    return change_frames(image, NULL);
}
