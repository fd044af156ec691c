/* recording_places.c - where executions are, in words that two runs share. */
#include "recording_inside.h"

#include <inttypes.h>

void place_add_again(Buf *out, int64_t count, int64_t attempt) {
    if (attempt) {
        buf_printf(out, "#%" PRId64 ".%" PRId64, count + 1, attempt);
    } else if (count > 0) {
        buf_printf(out, "#%" PRId64, count + 1);
    }
}

void place_add_child(Buf *out, const Buf *made_at, int64_t branch) {
    const char *end = memchr(made_at->data, '\n', made_at->len);
    size_t frame = (size_t)(end - made_at->data);
    buf_add(out, made_at->data, frame);
    buf_addc(out, '/');
    buf_add(out, end + 1, made_at->len - frame - 1);
    buf_printf(out, "[%" PRId64 "]", branch);
}

Json place_text(const Buf *b) {
    return json_string(b->data ? b->data : "", b->len);
}

int64_t place_count(Json counts, const Buf *place) {
    Json key = place_text(place), n = json_object_get(counts, key);
    json_unref(key);
    return json_tag(n) == JSON_TAG_INT ? n.i : 0;
}

int64_t place_count_one(Json *counts, const Buf *place) {
    int64_t n = place_count(*counts, place);
    *counts = json_object_set(*counts, place_text(place), json_int(n + 1));
    return n;
}

Json place_key(const Buf *place, int64_t nth) {
    return json_string_fmt("%.*s\n%" PRId64, (int)place->len, place->data, nth);
}

Json place_frame_key(int64_t frame) {
    return json_string_fmt("%" PRId64, frame);
}

static bool starts_with(Json key, const Buf *start) {
    return json_string_len(key) >= start->len &&
           !memcmp(json_string_data(&key), start->data, start->len);
}

/* How the places inside a node begin: in its levels "frame\nnode/", in its branches "frame/node[". */
static void add_start(Buf *out, const Buf *place, int64_t nth, bool branches, const char *end) {
    buf_add(out, place->data, place->len);
    place_add_again(out, nth, 0);
    char *between = branches ? memchr(out->data, '\n', out->len) : NULL;
    if (between) {
        *between = '/';
    }
    buf_adds(out, end);
}

Json place_forget_inside(Json object, const Buf *place, int64_t nth) {
    Buf levels = BUF_INIT, branches = BUF_INIT, attempts = BUF_INIT;
    Json out = json_object(), key, value;
    add_start(&levels, place, nth, false, "/");
    add_start(&branches, place, nth, true, "[");
    add_start(&attempts, place, nth, true, nth ? "." : "#1.");
    for (size_t pos = 0; json_object_next(object, &pos, &key, &value);) {
        if (!starts_with(key, &levels) && !starts_with(key, &branches) &&
            !starts_with(key, &attempts)) {
            out = json_object_set(out, json_ref(key), json_ref(value));
        }
    }
    buf_clear(&levels);
    buf_clear(&branches);
    buf_clear(&attempts);
    json_unref(object);
    return out;
}

bool place_is_called(const Node *node, const char *name) {
    return !strcmp(node->name, name) || (node->task && json_string_is(node->task->id, name));
}
