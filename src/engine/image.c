#include "image.h"

#include "engine.h"

#include <stdio.h>

bool wait_is(Json wait, const char *word) {
    return json_kind(wait) == JSON_ARRAY && json_string_is(json_array_get(wait, WAIT_WORD), word);
}

int64_t image_int(Json array, size_t i) {
    Json v = json_array_get(array, i);
    return json_tag(v) == JSON_TAG_INT ? v.i : 0;
}

/* ---- is it one? ---- */

static bool is_array_of(Json j, size_t least) {
    return json_kind(j) == JSON_ARRAY && json_array_len(j) >= least;
}

static bool level_valid(Json level) {
    if (!is_array_of(level, IMAGE_LEVEL_FIELDS)) {
        return false;
    }
    JsonKind node = json_kind(json_array_get(level, IMAGE_NODE));
    JsonKind state = json_kind(json_array_get(level, IMAGE_STATE));
    return (node == JSON_STRING || node == JSON_NULL) &&
           (state == JSON_OBJECT || state == JSON_NULL);
}

static Json lowest_state(Json frame) {
    return json_array_get(json_array_get(json_array_get(frame, IMAGE_LEVELS), 0), IMAGE_STATE);
}

static bool frame_valid(Json frame) {
    Json levels = json_array_get(frame, IMAGE_LEVELS);
    if (!is_array_of(frame, IMAGE_WAIT + 1) || !is_array_of(levels, 1)) {
        return false;
    }
    for (size_t i = 0; i < json_array_len(levels); i++) {
        if (!level_valid(json_array_get(levels, i))) {
            return false;
        }
    }
    return true;
}

bool image_valid(Json image) {
    if (!is_array_of(image, 2) ||
        !is_array_of(json_array_get(image, IMAGE_RUN), IMAGE_RUN_FIELDS)) {
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

Json image_state(Json image) {
    if (!image_valid(image)) {
        return json_none();
    }
    return json_ref(lowest_state(json_object_get_c(json_array_get(image, IMAGE_FRAMES), "1")));
}

Json image_error(Json image) {
    if (!image_valid(image)) {
        return json_none();
    }
    Json error = json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_ERROR);
    return json_kind(error) == JSON_NULL ? json_none() : json_ref(error);
}

static Json with(Json object, const char *key, Json value) {
    return json_object_set(object, json_string_c(key), value);
}

static Json or_null(Json j) {
    return json_is_none(j) ? json_null() : json_ref(j);
}

static Json frame_interrupt_facts(Json frame_id, Json frame) {
    Json wait = json_array_get(frame, IMAGE_WAIT), levels = json_array_get(frame, IMAGE_LEVELS);
    Json top = json_array_get(levels, json_array_len(levels) - 1);
    char id[32];
    snprintf(id, sizeof id, "%.*s", (int)json_string_len(frame_id), json_string_data(&frame_id));
    Json out = with(json_object(), "id", or_null(json_array_get(wait, WAIT_ID)));
    out = with(out, "node", or_null(json_array_get(top, IMAGE_NODE)));
    out = with(out, "frame", json_number_parse(id, strlen(id)));
    out = with(out, "prompt", or_null(json_array_get(wait, WAIT_PROMPT)));
    out = with(out, "options", or_null(json_array_get(wait, WAIT_OPTIONS)));
    return with(out, "reason", or_null(json_array_get(wait, WAIT_REASON)));
}

Json image_interrupts(Json image) {
    Json out = json_array(), key, frame;
    if (!image_valid(image)) {
        return out;
    }
    Json frames = json_array_get(image, IMAGE_FRAMES);
    for (size_t pos = 0; json_object_next(frames, &pos, &key, &frame);) {
        if (wait_is(json_array_get(frame, IMAGE_WAIT), "interrupt")) {
            out = json_array_push(out, frame_interrupt_facts(key, frame));
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

static Json add_level_keys(Json keys, Json level) {
    return add_keys(keys, json_array_get(level, IMAGE_STATE));
}

static Json add_frame_keys(Json keys, Json frame) {
    if (!is_array_of(frame, IMAGE_WAIT + 1)) {
        return keys;
    }
    Json levels = json_array_get(frame, IMAGE_LEVELS);
    return is_array_of(levels, 1) && is_array_of(json_array_get(levels, 0), IMAGE_LEVEL_FIELDS)
               ? add_level_keys(keys, json_array_get(levels, 0))
               : keys;
}

/* A branch ends with its last node: what it wrote is then with the frame that it came from. */
static bool is_branch_end(Json path, size_t n) {
    return n == PATH_LEVEL + 2 && is_index(json_array_get(path, PATH_FRAMES), IMAGE_FRAMES) &&
           is_index(json_array_get(path, PATH_LEVELS), IMAGE_WAIT) &&
           is_index(json_array_get(path, PATH_LEVEL), WAIT_JOIN_WRITES);
}

static Json add_change(Json keys, Json change) {
    Json path = json_array_get(change, 0), value = json_array_get(change, 1);
    size_t n = json_kind(path) == JSON_ARRAY ? json_array_len(path) : 0;
    if (n == 0 && is_array_of(value, 2)) { /* the whole image: a beginning */
        Json frames = json_array_get(value, IMAGE_FRAMES);
        return json_kind(frames) == JSON_OBJECT
                   ? add_frame_keys(keys, json_object_get_c(frames, "1"))
                   : keys;
    }
    if (is_branch_end(path, n)) {
        return add_keys(keys, value);
    }
    if (n <= PATH_FIELD || !is_index(json_array_get(path, PATH_FRAMES), IMAGE_FRAMES) ||
        !is_index(json_array_get(path, PATH_LEVELS), IMAGE_LEVELS) ||
        !is_index(json_array_get(path, PATH_FIELD), IMAGE_STATE)) {
        return keys;
    }
    if (n == PATH_KEY) {
        return add_keys(keys, value);
    }
    Json key = json_array_get(path, PATH_KEY);
    return json_kind(key) == JSON_STRING ? json_object_set(keys, json_ref(key), json_null()) : keys;
}

Json image_changed_keys(Json patch) {
    Json keys = json_object();
    for (size_t i = 0; json_kind(patch) == JSON_ARRAY && i < json_array_len(patch); i++) {
        Json change = json_array_get(patch, i);
        if (is_array_of(change, 1)) {
            keys = add_change(keys, change);
        }
    }
    Json out = json_object_keys(keys, false);
    json_unref(keys);
    return out;
}
