/* view_events.c - what a session tells. */
#include "view_rows.h"

static void show_log(const Show *s, Json event, Buf *out) {
    say_begin(s, STYLE_GOOD, out);
    say_text(field_get(event, "node"), out);
    say_end(s, out);
    buf_adds(out, ": ");
    say_text(field_get(event, "message"), out);
    buf_addc(out, '\n');
}

static void show_output(const Show *s, Json event, Buf *out) {
    Buf before = BUF_INIT;
    say_begin(s, STYLE_DIM, &before);
    say_text(field_get(event, "node"), &before);
    buf_adds(&before, " | ");
    say_end(s, &before);
    say_lines(before.data, field_get(event, "text"), out);
    buf_clear(&before);
}

static void show_waiting(const Show *s, Json event, Buf *out) {
    Json prompt = field_get(event, "prompt"), inner = field_get(prompt, "prompt");
    say_frame(event, out);
    buf_adds(out, " waits at ");
    say_name(s, field_get(event, "node"), out);
    say_field(" (", event, "interrupt", ")", out);
    if (json_truthy(prompt)) {
        buf_adds(out, ": ");
        say_text(field_is_text(inner) ? inner : prompt, out);
    }
    buf_addc(out, '\n');
    say_answers(event, out);
}

static void show_node_begins(const Show *s, Json event, Buf *out) {
    say_frame(event, out);
    buf_adds(out, ": ");
    say_node(s, event, out);
    buf_adds(out, " begins\n");
}

static void show_step_done(const Show *s, Json event, Buf *out) {
    if (field_has_text(event, "node")) {
        say_frame(event, out);
        buf_adds(out, ": ");
        say_name(s, field_get(event, "node"), out);
        say_field(" ", event, "status", "", out);
        say_field(", checkpoint ", event, "checkpoint", "", out);
        buf_addc(out, '\n');
    }
}

static void show_retry(const Show *s, Json event, Buf *out) {
    say_name(s, field_get(event, "node"), out);
    buf_adds(out, " failed");
    say_field(" (attempt ", event, "attempt", "", out);
    say_field(" of ", event, "attempts", "", out);
    buf_adds(out, json_is_none(field_get(event, "attempt")) ? "" : ")");
    if (field_seconds(event, "delay") >= 0) {
        buf_adds(out, " and is tried again in ");
        say_time(field_seconds(event, "delay"), out);
    }
    buf_addc(out, '\n');
    say_error(s, field_get(event, "error"), "  ", out);
}

static void show_warning(const Show *s, Json event, Buf *out) {
    say_begin(s, STYLE_BAD, out);
    buf_adds(out, "warning: ");
    say_end(s, out);
    say_field("", event, "node", ": ", out);
    say_text(field_get(event, "message"), out);
    buf_addc(out, '\n');
}

static void show_settled(const Show *s, Json event, Buf *out) {
    Json status = field_get(event, "status"), error = field_get(event, "error");
    bool left = json_string_is(status, "paused") || json_string_is(status, "stopped") ||
                json_string_is(status, "interrupted");
    if (left) {
        return;
    }
    buf_adds(out, json_string_is(status, "cancelled") ? "The run was " : "The run ");
    say_begin(s, json_string_is(status, "completed") ? STYLE_GOOD : STYLE_BAD, out);
    say_text(status, out);
    say_end(s, out);
    buf_adds(out, ".\n");
    if (field_has_text(error, "message")) {
        say_where(s, error, "  ", out);
        say_field(field_has_text(error, "file") ? ": node " : "  node ", error, "node", "", out);
        say_error(s, field_get(error, "message"), ": ", out);
    }
}

static const char *const session_ends[][2] = {
    {"expired", "Nobody did anything for too long: the session is over."},
    {"aborted", "The run is being cancelled."},
    {NULL, NULL},
};

static void show_session_event(const Show *s, Json event, Buf *out) {
    for (size_t i = 0; session_ends[i][0]; i++) {
        if (json_string_is(field_get(event, "status"), session_ends[i][0])) {
            say_hint(s, session_ends[i][1], out);
        }
    }
}

static void show_replayed(const Show *s, Json event, Buf *out) {
    Json diff = field_get(event, "diff");
    buf_adds(out, "The replay");
    if (field_has_text(event, "node")) {
        buf_adds(out, " of ");
        say_name(s, field_get(event, "node"), out);
    }
    say_field(" (", event, "thread", ")", out);
    say_field(" ", event, "status", "", out);
    buf_adds(out, ".\n");
    say_error(s, field_get(event, "error"), "  ", out);
    if (json_kind(diff) == JSON_OBJECT) {
        buf_adds(out, "Against what was recorded:\n");
        show_diff(s, json_none(), diff, out);
    }
}

static const struct EventShown {
    const char *name;
    void (*show)(const Show *s, Json event, Buf *out);
} events_shown[] = {
    {"paused", show_place},          {"log", show_log},           {"output", show_output},
    {"waiting", show_waiting},       {"node", show_node_begins},  {"step", show_step_done},
    {"retry", show_retry},           {"warning", show_warning},   {"settled", show_settled},
    {"session", show_session_event}, {"replayed", show_replayed}, {NULL, NULL},
};

void show_event(const Show *s, Json event, Buf *out) {
    for (const struct EventShown *e = events_shown; e->name; e++) {
        if (json_string_is(field_get(event, "event"), e->name)) {
            e->show(s, event, out);
            say_line_end(out);
        }
    }
}
