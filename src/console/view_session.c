/* view_session.c - the session itself, and what came of letting frames go. */
#include "view_rows.h"

static const char *on_or_off(Json object, const char *key) {
    return json_truthy(field_get(object, key)) ? "on" : "off";
}

static void add_idle(Json answer, Buf *out) {
    double limit = field_seconds(answer, "idle_limit"), left = field_seconds(answer, "expires_in");
    buf_adds(out, ", idle ");
    if (limit <= 0) {
        buf_adds(out, "off");
        return;
    }
    say_time(limit, out);
    if (left >= 0) {
        buf_adds(out, " (");
        say_time(left, out);
        buf_adds(out, " left)");
    }
}

void show_session(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    say_field("Thread ", answer, "thread", "", out);
    say_field(" (run ", answer, "run", ")", out);
    say_field(" of workflow ", answer, "workflow", "", out);
    say_where(s, answer, ", ", out);
    bool ended = json_string_is(field_get(answer, "status"), "ended");
    say_field("\nStatus: ", answer, ended ? "run_status" : "status", "", out);
    if (field_number(answer, "paused", 0)) {
        say_field(", frames paused: ", answer, "paused", "", out);
    }
    say_field(", selected frame: ", answer, "frame", "", out);
    say_field(", checkpoint ", answer, "checkpoint", "", out);
    buf_printf(out, "\nOptions: pause-all %s, auto-resume %s",
               on_or_off(answer, "pause_all_on_breakpoint"), on_or_off(answer, "auto_resume"));
    add_idle(answer, out);
    buf_addc(out, '\n');
    say_error(s, field_get(answer, "error"), "", out);
}

void show_resumed(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    if (!field_items(field_get(answer, "resumed"))) {
        say_hint(s, "Nothing is paused.", out);
    }
}

void show_pausing(const Show *s, Json args, Json answer, Buf *out) {
    Json later = field_get(answer, "later");
    (void)args;
    if (field_items(later)) {
        buf_adds(out, field_items(later) > 1 ? "Frames " : "Frame ");
        say_numbers(later, out);
        buf_adds(out, field_items(later) > 1 ? " stop before their next nodes.\n"
                                             : " stops before its next node.\n");
    } else if (!field_items(field_get(answer, "paused"))) {
        say_hint(s, "Nothing is running.", out);
    }
}

/* Where it completed no frame stands at a node. */
static void add_end(Json ended, Buf *out) {
    if (field_is_text(ended)) {
        buf_adds(out, ", where the run has ");
        say_text(ended, out);
    }
    buf_adds(out, json_string_is(ended, "completed")
                      ? ": nothing comes after it, and `back` goes back into it"
                      : "");
}

/* What a breakpoint was hit after, when its frame is gone where the run stands. */
static void add_after(const Show *s, Json after, Buf *out) {
    if (field_has_text(after, "node")) {
        buf_adds(out, " after ");
        say_name(s, field_get(after, "node"), out);
        say_field(" in frame ", after, "frame", "", out);
        say_field(" (", after, "path", ")", out);
        buf_adds(out, ", which has ended with it");
    }
}

void show_moved(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    say_field("At checkpoint ", answer, "checkpoint", "", out);
    say_breakpoints(field_get(answer, "breakpoints"), out);
    add_after(s, field_get(answer, "after"), out);
    add_end(field_get(answer, "ended"), out);
    buf_adds(out, json_is_none(field_get(answer, "checkpoint")) ? "" : ".\n");
}

void show_answered(const Show *s, Json args, Json answer, Buf *out) {
    (void)s;
    (void)args;
    say_field("Answered ", answer, "answered", ".\n", out);
}

void show_replay(const Show *s, Json args, Json answer, Buf *out) {
    (void)s;
    (void)args;
    say_field("It runs again as thread ", answer, "thread", ".\n", out);
}
