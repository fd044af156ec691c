#include "event_name.h"

#include "json_build.h"
#include "json_print.h"
#include "mem.h"
#include "session_api.h"

#include <string.h>

/* The first row whose event and field fit counts. field NULL: whatever the rest is. */
static const struct NameRow {
    const char *event, *field, *value, *name;
} rows[] = {
    {"start", NULL, NULL, "run.held"},
    {"settled", "status", "completed", "run.completed"},
    {"settled", "status", "failed", "run.failed"},
    {"settled", "status", "cancelled", "run.cancelled"},
    {"settled", "status", "interrupted", "run.interrupted"},
    {"settled", "status", "paused", "run.paused"},
    {"settled", NULL, NULL, "run.stopped"},
    {"interrupt", NULL, NULL, "run.interrupt"},
    {"node", NULL, NULL, "node.started"},
    {"log", "progress", NULL, "node.progress"}, /* a line of the log, too */
    {"output", "progress", NULL, "node.progress"},
    {"retry", NULL, NULL, "node.retried"},
    {"step", "status", "completed", "node.completed"},
    {"step", "status", "failed", "node.failed"},
    {"step", "status", "skipped", "node.skipped"},
    {"step", "status", "resumed", "run.resumed"},
    {"step", "node", NULL, "checkpoint"}, /* that a node has begun can be recorded, too */
    {"step", "status", "started", "run.started"},
    {"step", NULL, NULL, "checkpoint"},
    {"log", "breakpoint", NULL, "debug.log"},
    {"log", NULL, NULL, "log"},
    {"output", NULL, NULL, "log"},
    {"warning", NULL, NULL, "warning"},
    {"paused", NULL, NULL, "debug.frame.paused"},
    {"resumed", "how", "skip", "debug.task.skipped"},
    {"resumed", NULL, NULL, "debug.frame.resumed"},
    {"frame", "status", "created", "debug.frame.created"},
    {"frame", "status", "completed", "debug.frame.completed"},
    {"breakpoint", "change", "hit", "debug.breakpoint.hit"},
    {"breakpoint", "change", "set", "debug.breakpoint.set"},
    {"breakpoint", "change", "deleted", "debug.breakpoint.cleared"},
    {"breakpoint", NULL, NULL, "debug.breakpoint.changed"},
    {"changed", "what", "variables", "debug.variable.changed"},
    {"changed", "what", "injected", "debug.task.injected"},
    {"changed", NULL, NULL, "debug.changed"},
    {"waiting", NULL, NULL, "debug.frame.waiting"},
    {"stopped", NULL, NULL, "debug.stopped"},
    {"session", "status", "attached", "debug.session.created"},
    {"session", "status", "aborted", "debug.session.aborted"},
    {"session", NULL, NULL, "debug.session.deleted"},
    {"replayed", NULL, NULL, "debug.replayed"},
    {"dropped", NULL, NULL, "dropped"},
};

const char *event_name(Json event) {
    Json word = json_object_get_c(event, "event");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct NameRow *r = &rows[i];
        if (!json_string_is(word, r->event)) continue;
        Json field = r->field ? json_object_get_c(event, r->field) : json_none();
        if (!r->field || (r->value ? json_string_is(field, r->value) : !json_is_none(field))) {
            return r->name;
        }
    }
    return "event";
}

static bool is_inside_word(const char *text) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!strcmp(rows[i].event, text)) return true;
    }
    return false;
}

/* "debug", "debug.*" and "debug.frame.paused" are of the last. */
static bool is_of(const char *text, const char *name) {
    size_t len = strlen(text);
    if (len > 2 && !strcmp(text + len - 2, ".*")) len -= 2;
    return len && !strncmp(name, text, len) && (!name[len] || name[len] == '.');
}

static bool is_outside_name(const char *text) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (is_of(text, rows[i].name)) return true;
    }
    return false;
}

bool event_is_wanted(Json event, const char *name, Json wanted, bool plain) {
    if (json_is_none(wanted)) return true;
    for (size_t i = 0; i < json_array_len(wanted); i++) {
        Json one = json_array_get(wanted, i);
        const char *text = json_string_data(&one);
        bool inside = is_inside_word(text) && (plain || !is_outside_name(text));
        bool line = !strcmp(name, "node.progress") && is_of(text, "log");
        if (inside ? json_string_is(json_object_get_c(event, "event"), text)
                   : line || is_of(text, name)) {
            return true;
        }
    }
    return false;
}

Json event_names_taken(Json *types) {
    Json names = json_array(), left = json_array();
    size_t n = json_kind(*types) == JSON_ARRAY ? json_array_len(*types) : 0;
    bool outside = false;
    for (size_t i = 0; i < n; i++) {
        Json one = json_array_get(*types, i);
        outside |= json_kind(one) == JSON_STRING && is_outside_name(json_string_data(&one));
    }
    for (size_t i = 0; i < n; i++) {
        Json one = json_array_get(*types, i);
        const char *text = json_kind(one) == JSON_STRING ? json_string_data(&one) : "";
        bool taken = outside && (is_inside_word(text) || is_outside_name(text));
        Json *to =
            taken ? &names : &left; /* what nobody knows is refused by whoever gets the rest */
        *to = json_array_push(*to, json_ref(one));
    }
    if (!outside) json_clear(&names);
    if (n || json_kind(*types) == JSON_ARRAY) {
        json_put(types, json_array_len(left) ? json_ref(left) : json_none());
    }
    json_unref(left);
    return names;
}

/* ---- a frame that paused ---- */

enum { SHOWN_BYTES = 64 << 10 };

/* A value of up to 64 KB; a longer one is not there, and *cut says so. Consumes it. */
static Json within(Json value, bool *cut) {
    Buf text = BUF_INIT;
    bool fits = json_is_none(value) ||
                json_print(value, &(JsonPrintOptions){.max_bytes = SHOWN_BYTES}, &text);
    buf_clear(&text);
    if (fits) return value;
    *cut = true;
    json_unref(value);
    return json_none();
}

/* What the node of a paused frame sees, and its config. */
static Json with_values(Session *session, Json event, Json frame) {
    bool cut = false;
    Json config = session_call(session, "config", OBJECT(KEY("frame", json_ref(frame))), NULL);
    Json seen = session_call(session, "evaluate",
                             OBJECT(KEY("expression", "."), KEY("frame", json_ref(frame))), NULL);
    Json results = json_is_none(seen) ? json_none() : json_object_get_c(seen, "results");
    Json state = json_kind(results) == JSON_ARRAY && json_array_len(results)
                     ? json_ref(json_array_get(results, 0))
                     : json_none();
    Json keys = json_kind(state) == JSON_OBJECT ? json_object_keys(state, false) : json_none();
    Json resolved =
        json_is_none(config) ? json_none() : json_ref(json_object_get_c(config, "resolved"));
    event = OBJECT_ADD(event, KEY("keys", within(keys, &cut)), KEY("state", within(state, &cut)),
                       KEY("config", within(resolved, &cut)));
    event = OBJECT_ADD(event, KEY("truncated", cut ? json_bool(true) : json_none()));
    json_unref(config);
    json_unref(seen);
    return event;
}

/* Where the frame stands that a breakpoint stopped. One with a message stops none. */
static Json with_stop(Session *session, Json event, Json frame) {
    static const char *const fields[] = {"position", "reason", "breakpoints", "error"};
    const Frame *f = session_paused(session, frame.i, NULL);
    if (!f) return event;
    Json stands = session_frame_json(session, f, false);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        event = OBJECT_ADD(event, KEY(fields[i], json_ref(json_object_get_c(stands, fields[i]))));
    }
    json_unref(stands);
    return with_values(session, event, frame);
}

Json event_told(const Host *host, Json event, const char *name) {
    bool hit = !strcmp(name, "debug.breakpoint.hit");
    bool seen = !strcmp(name, "debug.frame.paused") || !strcmp(name, "debug.variable.changed");
    Json thread = json_object_get_c(event, "thread"), frame = json_object_get_c(event, "frame");
    HostRun *run = (seen || hit) && json_kind(thread) == JSON_STRING
                       ? host_find(host, json_string_data(&thread))
                       : NULL;
    Session *session = run ? host_has_session(run) : NULL;
    if (!session || json_tag(frame) != JSON_TAG_INT) return event;
    return hit ? with_stop(session, event, frame) : with_values(session, event, frame);
}
