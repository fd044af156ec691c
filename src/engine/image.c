#include "image.h"

#include "engine.h"
#include "hooks.h"
#include "image_read.h"
#include "json_build.h"
#include "json_shape.h"
#include "store_chain.h"
#include "utf8.h"
#include "wait.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t image_int(Json array, size_t i) {
    Json v = json_array_get(array, i);
    return json_tag(v) == JSON_TAG_INT ? v.i : 0;
}

int64_t frame_number(Json key) {
    char again[24];
    int64_t id = strtoll(json_string_data(&key), NULL, 10);
    snprintf(again, sizeof again, "%" PRId64, id);
    return id > 0 && json_string_is(key, again) ? id : 0;
}

/* ---- is it one? ---- */

/* Times are milliseconds since 1970, and so far from the ends of what a number can be that sums of them are
 * none; so are counts. */
#define TIME_MAX INT64_C(999999999999999999)

/* PLAIN, what a frame waits for, is made of the rows of wait.h that hold no other wait. BARE is the same or a
 * failure, WAIT either of them or a pause: a pause is of one thing, and a failure of nothing that has failed. */
static const ShapeName image_shapes[] = {
    {"ANY", "any|null"},
    {"COUNT", "int(0..2147483647)"},
    {"STEPS", "int(0..999999999999999999)"},
    {"TIME", "int(0..999999999999999999)"},
    {"POSITION", "int(0..3)"},
    {"RUN",
     "[text|null, object|null, int(1..999999999999), text|null, TIME, text|null, text|null, ANY?, "
     "[STEPS, COUNT, STEPS]|null?, [FETCHED...]|null?, [text, text|null, text|null]|null?, text|null?]"},
    {"FETCHED", "[NUMBER, object]"},
    {"NUMBER", "int(1..999999999999)"},
    {"FRAME", "[int(0..999999999999), int(0..4294967295), [LEVEL, LEVEL...], WAIT, EXTRA?]"},
    {"LEVEL", "[text|null, object|null, ANY, STEPS, COUNT, COUNT, TIME, array|NUMBER?]"},
    {"EXTRA", "{held?: TIME, inject?: array, *: ANY}|null"},
    {"WRITES", "{*: [ANY, text|null, ANY...]}|null"},
    {"WAIT", "BARE|PAUSE"},
    {"BARE", "PLAIN|FAILED|FAILING"},
};
_Static_assert(HOOK_POSITIONS == 4, "POSITION says how many there are");

static Shape *image_shape, *writes_shape;

/* The text is of the program, not from outside: that it is a shape is what the tests show. */
static Shape *compiled(const char *text, const ShapeName *names) {
    Error err = ERROR_INIT;
    Shape *shape = shape_compile(text, names, &err);
    if (!shape) {
        fprintf(stderr, "%s: %s\n", text, err.msg);
        abort();
    }
    return shape;
}

static void compile_shapes(void) {
    enum { FIXED = sizeof image_shapes / sizeof *image_shapes };
    ShapeName names[FIXED + 5] = {{0}};
    Buf plain = BUF_INIT, texts[WAIT_KINDS] = {BUF_INIT};
    size_t n = FIXED;
    memcpy(names, image_shapes, sizeof image_shapes);
    buf_adds(&plain, "null");
    for (int i = WAIT_GO; i < WAIT_UNKNOWN; i++) {
        Buf *text = wait_rows[i].held ? &texts[i] : &plain;
        buf_printf(text, "%s[\"%s\", %s]", text == &plain ? "|" : "", wait_rows[i].word,
                   wait_rows[i].shape);
    }
    names[n++] = (ShapeName){"PAUSE", texts[WAIT_PAUSE].data};
    names[n++] = (ShapeName){"FAILED", texts[WAIT_FAILED].data};
    names[n++] = (ShapeName){"FAILING", texts[WAIT_FAILING].data};
    names[n++] = (ShapeName){"PLAIN", plain.data};
    image_shape = compiled("[RUN, {\"1\": FRAME, *: FRAME}, ANY...]", names);
    writes_shape = compiled("WRITES", names);
    buf_clear(&plain);
    for (int i = 0; i < WAIT_KINDS; i++) buf_clear(&texts[i]);
}

static const Shape *shape_of(Shape *const *shape) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, compile_shapes);
    return *shape;
}

bool writes_valid(Json writes) {
    return shape_check(shape_of(&writes_shape), writes, NULL);
}

/* A frame is known by a number that was given once, and came after that of the frame that made it. */
static bool numbers_valid(Json image, Error *err) {
    Json frames = json_array_get(image, IMAGE_FRAMES), key, frame;
    int64_t next = image_int(json_array_get(image, IMAGE_RUN), IMAGE_NEXT_FRAME);
    for (size_t pos = 0; json_object_next(frames, &pos, &key, &frame);) {
        int64_t id = frame_number(key), parent = image_int(frame, IMAGE_PARENT);
        if (id < 1 || id >= next || parent >= id) {
            return error_set(err, ERR_DATA, "[1][\"%.*s\"]: this is not the number of a frame",
                             (int)utf8_offset(json_string_data(&key), json_string_len(key), 20),
                             json_string_data(&key));
        }
    }
    return true;
}

static Json lowest_state(Json frame) {
    return json_array_get(json_array_get(json_array_get(frame, IMAGE_LEVELS), 0), IMAGE_STATE);
}

bool image_check(Json image, Error *err) {
    if (!shape_check(shape_of(&image_shape), image, err) || !numbers_valid(image, err)) {
        return false;
    }
    Json root = json_object_get_c(json_array_get(image, IMAGE_FRAMES), "1");
    return json_kind(lowest_state(root)) == JSON_OBJECT ||
           error_set(err, ERR_DATA, "[1][\"1\"]: this has no state");
}

Json image_load(Store *store, const RunRow *row, int64_t seq, ChainWeight *weight, Error *err) {
    Error why = ERROR_INIT;
    Json image = chain_image(store, row->run, seq, weight, err);
    if (!json_is_none(image) && !image_check(image, &why)) {
        json_clear(&image);
        error_set(err, ERR_DATA, "Checkpoint %" PRId64 " of thread `%s` is damaged (%s).", seq,
                  row->thread, why.msg);
        error_fact(err, "damaged", store_url(store));
        error_fact_int(err, "checkpoint", seq);
    }
    return image;
}

/* ---- for readers ---- */

/* Turns of a loop share the state of the level that the loop is in: the last of them has it. */
Json image_state(Json image) {
    Json root = json_object_get_c(json_array_get(image, IMAGE_FRAMES), "1");
    Json levels = json_array_get(root, IMAGE_LEVELS), state = lowest_state(root);
    for (size_t i = 1; i < json_array_len(levels); i++) {
        if (!image_int(json_array_get(levels, i - 1), IMAGE_COUNT)) break;
        Json own = json_array_get(json_array_get(levels, i), IMAGE_STATE);
        state = json_kind(own) == JSON_OBJECT ? own : state;
    }
    return json_kind(state) == JSON_OBJECT ? json_ref(state) : json_none();
}

Json image_error(Json image) {
    Json error = json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_ERROR);
    return json_kind(error) == JSON_OBJECT ? json_ref(error) : json_none();
}

/* The lowest level of the root frame stands nowhere any more, and remembers how it ended. */
bool image_is_over(Json image) {
    Json error = image_error(image);
    bool failed = !json_is_none(error);
    json_unref(error);
    if (!failed) return false;
    Json root = json_object_get_c(json_array_get(image, IMAGE_FRAMES), "1");
    Json level = json_array_get(json_array_get(root, IMAGE_LEVELS), 0);
    return json_kind(json_array_get(level, IMAGE_NODE)) == JSON_NULL &&
           json_kind(json_array_get(level, IMAGE_WRITES)) == JSON_ARRAY;
}

bool image_is_paused(Json image) {
    Json frames = json_array_get(image, IMAGE_FRAMES), key, frame;
    for (size_t pos = 0; json_object_next(frames, &pos, &key, &frame);) {
        if (wait_is(json_array_get(frame, IMAGE_WAIT), WAIT_PAUSE)) return true;
    }
    return false;
}

Json image_folder(Json image) {
    return json_ref(json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_FOLDER));
}

/* JSON_NONE for null: there is nothing to say of it. */
static Json or_none(Json j) {
    return json_kind(j) == JSON_NULL ? json_none() : json_ref(j);
}

Json image_interrupts(Json image) {
    Json frames = json_array_get(image, IMAGE_FRAMES), out = json_array(), key, frame;
    for (size_t pos = 0; json_object_next(frames, &pos, &key, &frame);) {
        Json wait = json_array_get(frame, IMAGE_WAIT), levels = json_array_get(frame, IMAGE_LEVELS);
        Json top = json_array_get(levels, json_array_len(levels) - 1);
        if (wait_is(wait, WAIT_INTERRUPT)) {
            Json id = json_int(frame_number(key));
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
    Json path = json_array_get(change, 0), value = json_array_get(change, 1);
    size_t n = json_array_len(path);
    if (n == 0) { /* the whole image: a beginning */
        return add_keys(keys,
                        lowest_state(json_object_get_c(json_array_get(value, IMAGE_FRAMES), "1")));
    }
    bool in_frame = is_index(json_array_get(path, PATH_FRAMES), IMAGE_FRAMES);
    /* A branch ends with its last node: what it wrote is then with the frame that it came from. */
    bool branch = in_frame && n == PATH_LEVEL + 2 &&
                  is_index(json_array_get(path, PATH_LEVELS), IMAGE_WAIT) &&
                  is_index(json_array_get(path, PATH_LEVEL), WAIT_JOIN_WRITES);
    bool state = in_frame && n > PATH_FIELD &&
                 is_index(json_array_get(path, PATH_LEVELS), IMAGE_LEVELS) &&
                 is_index(json_array_get(path, PATH_FIELD), IMAGE_STATE);
    if (branch || (state && n == PATH_KEY)) return add_keys(keys, value);
    Json key = state ? json_array_get(path, PATH_KEY) : json_none();
    return json_kind(key) == JSON_STRING ? json_object_set(keys, json_ref(key), json_null()) : keys;
}

Json image_changed_keys(Json patch) {
    Json keys = json_object();
    for (size_t i = 0; i < json_array_len(patch); i++) {
        keys = add_change(keys, json_array_get(patch, i));
    }
    Json out = json_object_keys(keys, false);
    json_unref(keys);
    return out;
}

Json checkpoint_changed_keys(const Checkpoint *c) {
    Json patch = chain_decode(c->patch, c->patch_len, NULL);
    Json keys = image_changed_keys(patch);
    json_unref(patch);
    return keys;
}

/* ---- changes of all frames ---- */

int64_t time_moved(int64_t at, int64_t by) {
    int64_t to = at + (by > TIME_MAX ? TIME_MAX : by < -TIME_MAX ? -TIME_MAX : by);
    return to < 1 ? 1 : to > TIME_MAX ? TIME_MAX : to;
}

static Json later(Json array, size_t i, int64_t by) {
    int64_t at = image_int(array, i);
    return at ? json_array_set(array, i, json_int(time_moved(at, by))) : array;
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
    Json held = json_object_get_c(extra, "held");
    bool timed = wait_is_timed(wait);
    if (json_tag(held) == JSON_TAG_INT) {
        extra = json_object_with(json_ref(extra), "held", json_int(time_moved(held.i, shift->by)));
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
    if (kind != WAIT_WORK && kind != WAIT_RETRY) return frame;
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

Json image_of_starter(Json image, const char *by) {
    Json head = json_ref(json_array_get(image, IMAGE_RUN));
    if (by) {
        head = json_array_set(head, IMAGE_STARTER, json_string_c(by));
    } else if (json_array_len(head) > IMAGE_STARTER) {
        head = json_array_slice(head, 0, IMAGE_STARTER);
    }
    return json_array_set(image, IMAGE_RUN, head);
}
