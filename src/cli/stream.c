#include "stream.h"

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

static Json typed(const char *type) {
    return output_set(json_object(), "type", json_string_c(type));
}

static Json number_or_null(int64_t n) {
    return n ? json_int(n) : json_null();
}

static Json node_of(const Event *e) {
    return output_text(e->node && e->node[0] ? e->node : NULL);
}

/* ---- one line for each step ---- */

static void put_update(Stream *s, const Event *e) {
    Json line = output_set(typed("update"), "node", node_of(e));
    line = output_set(line, "frame", json_int(e->frame));
    line = output_set(line, "checkpoint", number_or_null(e->checkpoint));
    put(s, output_set(line, "update", json_ref(e->update)));
}

static void put_value(Stream *s, const Event *e) {
    Json line = output_set(typed("value"), "node", node_of(e));
    line = output_set(line, "checkpoint", number_or_null(e->checkpoint));
    put(s, output_set(line, "state", json_ref(e->state)));
}

/* ---- everything ---- */

static Json add_fields(Json line, Json fields) {
    Json key, value;
    if (json_kind(fields) == JSON_OBJECT) {
        for (size_t pos = 0; json_object_next(fields, &pos, &key, &value);) {
            line = json_object_set(line, json_ref(key), json_ref(value));
        }
    }
    return line;
}

static Json event_line(const Event *e) {
    char at[OUTPUT_TIME_MAX];
    Json line = output_set(typed(event_names[e->type]), "node", node_of(e));
    line = output_set(line, "frame", number_or_null(e->frame));
    line = output_set(line, "checkpoint", number_or_null(e->checkpoint));
    line = output_set(line, "at", json_string_c(output_time(e->at, at)));
    return e->status ? output_set(line, "status", json_string_c(e->status)) : line;
}

static void put_event(Stream *s, const Event *e) {
    Json line = event_line(e);
    if (e->type == EVENT_STEP) {
        line = output_set(line, "update", json_ref(e->update));
    }
    line = add_fields(line, e->data);
    if (s->mode == STREAM_DEBUG) {
        line = output_set(line, "frame_name", output_text(e->frame_name));
        line = output_set(line, "step", json_int(e->step));
        line = output_set(line, "depth", json_int(e->depth));
        line = json_is_none(e->state) ? line : output_set(line, "state", json_ref(e->state));
    }
    put(s, line);
}

static void hold(Stream *s, const Event *e) {
    Json id = json_object_get_c(e->data, "id");
    if (json_kind(id) == JSON_STRING) {
        Json what = output_set(json_object(), "checkpoint", number_or_null(e->checkpoint));
        what = output_set(what, "state", json_ref(e->state));
        s->held = json_object_set(s->held, json_ref(id), what);
    }
}

/* A checkpoint that a node's result made; others say that something began, waits or was resumed. */
static bool is_result(const Event *e) {
    bool finished = !strcmp(e->status, "completed") || !json_is_none(e->update);
    return finished && e->node && e->node[0];
}

void stream_event(Stream *s, const Event *e) {
    bool everything = s->mode == STREAM_EVENTS || s->mode == STREAM_DEBUG;
    if (s->mode == STREAM_NONE || s->broken || e->type == EVENT_SETTLED) {
        return;
    }
    if (e->type == EVENT_INTERRUPT) {
        hold(s, e);
    } else if (everything) {
        put_event(s, e);
    } else if (e->type == EVENT_STEP && is_result(e)) {
        (s->mode == STREAM_UPDATES ? put_update : put_value)(s, e);
    }
}

/* ---- a debugger ---- */

static const char *type_of_debug(Json word) {
    static const char *const types[][2] = {
        {"paused", "paused"},   {"resumed", "resumed"}, {"breakpoint", "breakpoint"},
        {"session", "session"}, {"log", "logpoint"},    {NULL, NULL},
    };
    size_t i = 0;
    while (types[i][0] && !json_string_is(word, types[i][0])) {
        i++;
    }
    return types[i][1];
}

void stream_debug(Stream *s, Json event) {
    bool everything = s->mode == STREAM_EVENTS || s->mode == STREAM_DEBUG;
    const char *type = type_of_debug(json_object_get_c(event, "event"));
    if (everything && type && !s->broken) {
        Json line = add_fields(typed(type), event);
        put(s, json_object_remove(line, json_string_c("event")));
    }
}

/* ---- the end ---- */

static const char *const interrupt_fields[] = {"id", "node", "frame", "prompt", "options", NULL};

static void put_interrupt(Stream *s, const Run *run, Json interrupt) {
    Json held = json_object_get(s->held, json_object_get_c(interrupt, "id"));
    Json line = typed("interrupt");
    for (const char *const *name = interrupt_fields; *name; name++) {
        line = output_set(line, *name, json_ref(json_object_get_c(interrupt, *name)));
    }
    bool is_new = json_kind(held) == JSON_OBJECT;
    line = output_set(line, "checkpoint",
                      is_new ? json_ref(json_object_get_c(held, "checkpoint"))
                             : number_or_null(run_checkpoint(run)));
    put(s, output_set(line, "state",
                      json_ref(is_new ? json_object_get_c(held, "state") : run_state(run))));
}

Json stream_state(const Run *run) {
    return run_store_error(run) ? json_null() : json_ref(run_state(run));
}

Json stream_error(const Run *run) {
    const Error *store = run_store_error(run);
    if (!store) {
        return json_ref(run_error(run));
    }
    Json error = output_set(json_object(), "kind", json_string_c("store"));
    return output_set(error, "message", json_string_c(store->msg));
}

static bool waits_for_person(const Run *run) {
    return !run_store_error(run) && !strcmp(run_status(run), "interrupted");
}

static void put_final(Stream *s, const Run *run, const char *status) {
    Json line = output_set(typed("final"), "status", json_string_c(status));
    line = output_set(line, "checkpoint", number_or_null(run_checkpoint(run)));
    line = output_set(line, "state", stream_state(run));
    put(s, output_set(line, "error", stream_error(run)));
}

void stream_end(Stream *s, const Run *run, const char *status) {
    if (s->mode == STREAM_NONE || s->broken) {
        return;
    }
    Json open = waits_for_person(run) ? run_interrupts(run) : json_array();
    for (size_t i = 0; i < json_array_len(open); i++) {
        put_interrupt(s, run, json_array_get(open, i));
    }
    if (json_array_len(open) == 0) {
        put_final(s, run, status);
    }
    json_unref(open);
}
