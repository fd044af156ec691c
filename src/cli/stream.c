#include "stream.h"

#include "fields.h"
#include "json_build.h"
#include "output.h"

#include <string.h>

void stream_init(Stream *s, StreamMode mode) {
    *s = (Stream){.mode = mode, .held = json_object()};
}

void stream_clear(Stream *s) {
    json_clear(&s->held);
    s->mode = STREAM_NONE;
}

static void put(Stream *s, Json line) {
    s->broken = s->broken || !output_line(line);
    json_unref(line);
}

static Json copy(Json event, const char *key) {
    return json_ref(field_get(event, key));
}

static Json typed(const char *type, Json event) {
    return OBJECT(KEY("type", type), KEY("run", copy(event, "run")),
                  KEY("thread", copy(event, "thread")));
}

/* ---- one line for each step ---- */

static void put_update(Stream *s, Json e) {
    put(s,
        OBJECT_ADD(typed("update", e), KEY("node", copy(e, "node")), KEY("frame", copy(e, "frame")),
                   KEY("checkpoint", copy(e, "checkpoint")), KEY("update", copy(e, "update"))));
}

static void put_value(Stream *s, Json e) {
    put(s, OBJECT_ADD(typed("value", e), KEY("node", copy(e, "node")),
                      KEY("checkpoint", copy(e, "checkpoint")), KEY("state", copy(e, "state"))));
}

/* ---- everything ---- */

static bool is_one_of(Json key, const char *const *names) {
    while (*names && !json_string_is(key, *names)) names++;
    return *names != NULL;
}

/* All fields, but for what only matters elsewhere or in the longer form. */
static void put_event(Stream *s, Json e, const char *type) {
    static const char *const never[] = {"event", "cursor", "run", "thread", NULL};
    static const char *const in_debug[] = {"frame_name", "step", "depth", "state", NULL};
    Json line = typed(type, e), key, value;
    for (size_t pos = 0; json_object_next(e, &pos, &key, &value);) {
        if (!is_one_of(key, never) && (s->mode == STREAM_DEBUG || !is_one_of(key, in_debug))) {
            line = json_object_set(line, json_ref(key), json_ref(value));
        }
    }
    put(s, line);
}

void stream_event(Stream *s, Json e) {
    bool everything = s->mode == STREAM_EVENTS || s->mode == STREAM_DEBUG;
    Json name = field_get(e, "event"), id = field_get(e, "id");
    if (s->mode == STREAM_NONE || s->broken || json_string_is(name, "settled")) return;
    if (json_string_is(name, "interrupt")) {
        if (json_kind(id) == JSON_STRING) {
            s->held = json_object_set(s->held, json_ref(id), json_ref(e));
        }
    } else if (everything && json_kind(name) == JSON_STRING) {
        bool log_point = json_string_is(name, "log") && !json_is_none(field_get(e, "breakpoint"));
        put_event(s, e, log_point ? "logpoint" : json_string_data(&name));
    } else if (json_string_is(name, "step") && field_has_text(e, "node") &&
               (json_string_is(field_get(e, "status"), "completed") ||
                !json_is_none(
                    field_get(e, "update")))) { /* others say that something began or waits */
        (s->mode == STREAM_UPDATES ? put_update : put_value)(s, e);
    }
}

/* ---- the end ---- */

static void put_interrupt(Stream *s, Json settled, Json interrupt) {
    Json id = field_get(interrupt, "id");
    Json held = json_kind(id) == JSON_STRING ? json_object_get(s->held, id) : json_none();
    Json from = json_kind(held) == JSON_OBJECT ? held : settled;
    put(s, OBJECT_ADD(
               typed("interrupt", settled), KEY("id", json_ref(id)),
               KEY("node", copy(interrupt, "node")), KEY("frame", copy(interrupt, "frame")),
               KEY("reason", copy(interrupt, "reason")), KEY("prompt", copy(interrupt, "prompt")),
               KEY("options", copy(interrupt, "options")),
               KEY("checkpoint", copy(from, "checkpoint")), KEY("state", copy(from, "state"))));
}

void stream_end(Stream *s, Json settled, const char *status) {
    Json open = field_get(settled, "interrupts");
    if (s->mode == STREAM_NONE || s->broken) return;
    if (json_string_is(field_get(settled, "status"), "interrupted") && json_array_len(open)) {
        for (size_t i = 0; i < json_array_len(open); i++) {
            put_interrupt(s, settled, json_array_get(open, i));
        }
        return;
    }
    put(s, OBJECT_ADD(typed("final", settled), KEY("status", status),
                      KEY("checkpoint", copy(settled, "checkpoint")),
                      KEY("state", copy(settled, "state")), KEY("error", copy(settled, "error"))));
}
