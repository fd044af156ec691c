#include "looks.h"

#include "hooks.h"
#include "image.h"
#include "output.h"
#include "pauses.h"
#include "store_chain.h"
#include "wait.h"

#include <stdlib.h>

Json look_image(const Common *c, Store *store, const RunRow *row, int64_t seq, int *code) {
    Error err = ERROR_INIT;
    if (!seq && !row->head) {
        error_set(&err, ERR_DATA, "Thread %s has no checkpoint yet.", row->thread);
        *code = cli_fail(c->command, &err);
        return json_none();
    }
    Json image = chain_image(store, row->run, seq ? seq : row->head, NULL, &err);
    if (json_is_none(image)) {
        *code = cli_fail(c->command, &err);
    }
    return image;
}

static Json state_in(const Common *c, Store *store, const Place *place, int *code) {
    RunRow row = {0};
    if (!cli_find(c, store, place->thread, &row, code)) {
        return json_none();
    }
    Json image = look_image(c, store, &row, place->seq, code);
    Json state = json_is_none(image) ? image : image_state(image);
    if (json_is_none(state) && !json_is_none(image)) {
        Error err = ERROR_INIT;
        error_set(&err, ERR_DATA, "The checkpoint of thread %s does not hold a run; it is damaged.",
                  row.thread);
        *code = cli_fail(c->command, &err);
    }
    json_unref(image);
    run_row_clear(&row);
    return state;
}

Json look_state(const Common *c, const Place *place, int *code) {
    Store *store = cli_store_open(c, STORE_READ, code);
    Json state = store ? state_in(c, store, place, code) : json_none();
    store_close(store);
    return state;
}

const char *look_words(Json waits_for) {
    return wait_rows[wait_named(waits_for)].shown;
}

static Json add_pause(Json out, Json wait) {
    if (!wait_is(wait, WAIT_PAUSE)) {
        return out;
    }
    int64_t position = image_int(wait, WAIT_PAUSE_POSITION);
    bool known = position >= 0 && position < HOOK_POSITIONS;
    Json pause =
        output_set(json_object(), "position", output_text(known ? hook_positions[position] : NULL));
    return output_set(out, "pause", pause_fields(pause, json_array_get(wait, WAIT_PAUSE_INFO)));
}

static Json frame_of(Json id, Json frame) {
    Json levels = json_array_get(frame, IMAGE_LEVELS);
    Json top = json_array_get(levels, json_array_len(levels) - 1);
    Json wait = json_array_get(frame, IMAGE_WAIT);
    Json out = output_set(json_object(), "frame",
                          json_number_parse(json_string_data(&id), json_string_len(id)));
    out = output_set(out, "node", json_ref(json_array_get(top, IMAGE_NODE)));
    bool waits = json_kind(wait) == JSON_ARRAY;
    out = output_set(out, "waits", waits ? json_ref(json_array_get(wait, WAIT_WORD)) : json_null());
    return waits ? add_pause(out, wait) : out;
}

Json look_frames(Json image) {
    Json out = json_array(), id, frame;
    if (!image_valid(image)) {
        return out;
    }
    Json frames = json_array_get(image, IMAGE_FRAMES);
    for (size_t pos = 0; json_object_next(frames, &pos, &id, &frame);) {
        out = json_array_push(out, frame_of(id, frame));
    }
    return out;
}
