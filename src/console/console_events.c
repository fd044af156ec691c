/* console_events.c - what a console shows: answers, errors and events, for people or for programs. */
#include "console_inside.h"

#include "json_print.h"
#include "way_out.h"

#include <stdio.h>

/* ---- answers and errors ---- */

void console_put(Console *c, Buf *text) {
    prompt_write(c->prompt, text->data, text->len);
    buf_clear(text);
}

View console_view(const Console *c, Buf *out) {
    return (View){.out = out, .colour = c->colour, .args = json_none()};
}

/* Consumes the value. */
static void put_json(Console *c, Json value) {
    Buf line = BUF_INIT;
    json_print(value, NULL, &line);
    buf_addc(&line, '\n');
    console_put(c, &line);
    json_unref(value);
}

void console_notice(Console *c, const char *fmt, ...) {
    char text[1024];
    Buf line = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!c->host.json) {
        buf_printf(&line, "%s\n", text);
        console_put(c, &line);
    }
}

void console_put_error(Console *c, const Order *order, bool usage, const Error *err) {
    Buf text = BUF_INIT;
    View v = console_view(c, &text);
    if (c->host.json) {
        put_json(c, OBJECT(KEY("error", err->msg), KEY("code", error_code_name(err->code)),
                           KEY("command", json_string(order->line, order->len)),
                           KEY("request_id", json_ref(order->id))));
        return;
    }
    Buf sentence = BUF_INIT;
    say_error(&sentence, err, &(Speaker){0});
    view_sentence(&v, sentence.data);
    buf_clear(&sentence);
    if (usage && order->command) commands_usage(order->command, &text);
    console_put(c, &text);
}

/* An answer has just told of it. */
static void drop_settled(Console *c) {
    Json events = c->events;
    c->events = json_array();
    for (size_t i = 0; i < json_array_len(events); i++) {
        Json event = json_array_get(events, i);
        if (!json_string_is(field_get(event, "event"), "settled")) {
            c->events = json_array_push(c->events, json_ref(event));
        }
    }
    json_unref(events);
}

void console_put_answer(Console *c, const Order *order, Json answer) {
    Buf text = BUF_INIT;
    View v = console_view(c, &text);
    if (c->host.json) {
        Json out = OBJECT(KEY("answer", order->operation)), key, value;
        for (size_t pos = 0; json_object_next(answer, &pos, &key, &value);) {
            out = json_object_set(out, json_ref(key), json_ref(value));
        }
        put_json(c, OBJECT_ADD(out, KEY("request_id", json_ref(order->id))));
        return;
    }
    v.args = order->args;
    if (order->view) {
        order->view(&v, answer);
        view_end_line(&v);
    }
    if (!json_is_none(field_get(answer, "ended"))) drop_settled(c);
    console_put(c, &text);
}

/* ---- what events look like ---- */

static void view_log(View *v, Json event) {
    view_style(v, STYLE_GOOD);
    view_text(v, field_get(event, "node"));
    view_style(v, STYLE_NONE);
    view_format(v, event, ": {message}\n");
}

static void view_output(View *v, Json event) {
    Buf before = BUF_INIT;
    View b = {.out = &before, .colour = v->colour};
    view_style(&b, STYLE_DIM);
    view_format(&b, event, "{node} | ");
    view_style(&b, STYLE_NONE);
    view_lines(v, before.data, field_get(event, "text"));
    buf_clear(&before);
}

static void view_waiting(View *v, Json event) {
    Json prompt = field_get(event, "prompt"), inner = field_get(prompt, "prompt");
    view_frame_name(v, event);
    view_format(v, event, " waits at `{node}`[ ({interrupt})]");
    if (json_truthy(prompt)) {
        view_puts(v, ": ");
        view_text(v, field_is_text(inner) ? inner : prompt);
    }
    view_puts(v, "\n");
    view_ways_to_answer(v, event);
}

static void view_node_began(View *v, Json event) {
    view_frame_name(v, event);
    view_puts(v, ": ");
    view_node(v, event);
    view_puts(v, " begins\n");
}

static void view_step_done(View *v, Json event) {
    if (field_has_text(event, "node")) {
        view_frame_name(v, event);
        view_format(v, event, ": `{node}`[ {status}][, checkpoint {checkpoint}]\n");
    }
}

static void view_retry(View *v, Json event) {
    view_format(v, event, "`{node}` failed");
    view_format(v, event,
                json_is_none(field_get(event, "attempts"))
                    ? "[ (attempt {attempt})]"
                    : "[ (attempt {attempt} of {attempts})]");
    view_format(v, event, "[ and is tried again in {delay|time}]\n");
    view_error(v, "  ", field_get(event, "error"));
}

static void view_warning(View *v, Json event) {
    view_styled(v, STYLE_BAD, "warning: ");
    view_format(v, event, "[{node}: ]{message}\n");
}

static void view_settled(View *v, Json event) {
    Json status = field_get(event, "status"), error = field_get(event, "error");
    bool left = json_string_is(status, "paused") || json_string_is(status, "stopped") ||
                json_string_is(status, "interrupted");
    if (left) return;
    view_puts(v, json_string_is(status, "cancelled") ? "The run was " : "The run ");
    view_style(v, json_string_is(status, "completed") ? STYLE_GOOD : STYLE_BAD);
    view_text(v, status);
    view_style(v, STYLE_NONE);
    view_puts(v, ".\n");
    if (field_has_text(error, "message")) {
        view_where(v, "  ", error);
        view_format(v, error,
                    field_has_text(error, "file") ? "[: node {node}]" : "[  node {node}]");
        view_error(v, ": ", field_get(error, "message"));
    }
    view_end_line(v);
    view_passing(v, field_get(event, "while"));
}

static void view_session_ends(View *v, Json event) {
    Json status = field_get(event, "status");
    if (json_string_is(status, "expired")) {
        view_hint(v, "Nobody did anything for too long: the session is over.");
    } else if (json_string_is(status, "aborted")) {
        view_hint(v, "The run is being cancelled.");
    }
}

static void view_replayed(View *v, Json event) {
    Json diff = field_get(event, "diff");
    view_format(v, event, "The replay[ of `{node}`][ ({thread})][ {status}].\n");
    view_error(v, "  ", field_get(event, "error"));
    if (json_kind(diff) == JSON_OBJECT) {
        view_puts(v, "Against what was recorded:\n");
        view_diff(v, diff);
    }
}

/* The selected frame is the session's, and what is typed next is about it. */
static void view_changed(View *v, Json event) {
    if (json_string_is(field_get(event, "what"), "selected")) {
        view_format(v, event, "Frame {frame} is selected now: somebody else chose it.\n");
    }
}

/* ---- what they mean ---- */

void console_note_status(Console *c, Json status) {
    if (json_kind(status) == JSON_STRING) {
        snprintf(c->status, sizeof c->status, "%.*s", (int)json_string_len(status),
                 json_string_data(&status));
    }
}

static void note_settled(Console *c, Json event) {
    console_note_status(c, field_get(event, "status"));
}

/* A run that had ended may have been brought back to life. */
static void note_alive(Console *c, Json event) {
    if (json_is_none(field_get(event, "reattached"))) c->status[0] = '\0';
}

static void note_resumed(Console *c, Json event) {
    note_alive(c, event);
    c->stands = false;
}

static void note_stopped(Console *c, Json event) {
    (void)event;
    c->stands = true;
}

/* The first word counts: a session that expires may be detached for that. */
static void note_session(Console *c, Json event) {
    Json status = field_get(event, "status");
    bool detached = json_string_is(status, "detached");
    if ((detached || json_string_is(status, "expired")) && !c->over) {
        c->over = detached ? CONSOLE_DETACHED : CONSOLE_EXPIRED;
        c->came |= CAME_OVER;
    }
}

static const struct EventRow {
    const char *name;
    void (*view)(View *v, Json event);    /* NULL: people need not know */
    unsigned came;                        /* of a wait: what it brings */
    void (*note)(Console *c, Json event); /* NULL: nothing to note */
} event_rows[] = {
    {"paused", view_place, CAME_PAUSE, note_alive},
    {"resumed", NULL, 0, note_resumed},
    {"stopped", NULL, CAME_STOP, note_stopped},
    {"waiting", view_waiting, CAME_WAIT, NULL},
    {"settled", view_settled, CAME_SETTLED, note_settled},
    {"session", view_session_ends, 0, note_session},
    {"replayed", view_replayed, CAME_REPLAY, NULL},
    {"changed", view_changed, 0, NULL},
    {"log", view_log, 0, NULL},
    {"output", view_output, 0, NULL},
    {"warning", view_warning, 0, NULL},
    {"retry", view_retry, 0, NULL},
    {"node", view_node_began, 0, NULL},
    {"step", view_step_done, 0, NULL},
    {NULL, NULL, 0, NULL},
};

/* The last row for what no row is about. */
static const struct EventRow *row_of(Json event) {
    const struct EventRow *row = event_rows;
    while (row->name && !json_string_is(field_get(event, "event"), row->name)) row++;
    return row;
}

void view_event(View *v, Json event) {
    const struct EventRow *row = row_of(event);
    if (row->view) {
        row->view(v, event);
        view_end_line(v);
    }
}

void console_event(void *console, Json event) {
    Console *c = console;
    const struct EventRow *row = row_of(event);
    bool own = json_string_is(field_get(event, "what"), "selected") &&
               field_number(event, "frame", 0) == c->chosen;
    if (!c->host.json && (own || !json_is_none(field_get(event, "reattached")))) {
        json_unref(event); /* people are shown where they are when they come, and what they chose */
        return;
    }
    c->came |= row->came;
    if (row->note) row->note(c, event);
    c->events = json_array_push(c->events, event);
}

void console_closed(void *console) {
    Console *c = console;
    c->gone = true;
    c->came |= CAME_OVER;
}

/* ---- showing what has come ---- */

void console_view_around(Console *c, View *v, Json place) {
    Json frame = field_get(place, "frame");
    frame = json_tag(frame) == JSON_TAG_INT ? frame : json_none();
    Json source = console_ask(c, "source", OBJECT(KEY("around", json_int(1)), KEY("frame", frame)));
    Json watches = console_ask(c, "watches", OBJECT(KEY("frame", frame)));
    view_source_line(v, source);
    view_watches(v, watches);
    json_unref(source);
    json_unref(watches);
}

/* The line of the selected frame is shown when it stops, and no other one after it: what is typed next is
 * about that frame. */
static Json place_to_show(Console *c, Json events, Json first) {
    Json session = console_ask(c, "session", json_none()), place = json_none();
    int64_t selected = field_number(session, "frame", 0);
    json_unref(session);
    for (size_t i = 0; i < json_array_len(events); i++) {
        Json event = json_array_get(events, i);
        bool paused = json_string_is(field_get(event, "event"), "paused");
        place = paused && field_number(event, "frame", 0) == selected ? event : place;
    }
    return json_is_none(place) && c->shown != selected ? first : place;
}

static void put_events(Console *c, Json events) {
    Buf text = BUF_INIT;
    View v = console_view(c, &text);
    Json place = json_none(); /* of the first frame that stopped, rather for its own sake */
    size_t company = 0;       /* frames that stopped because another did */
    for (size_t i = 0; i < json_array_len(events); i++) {
        Json event = json_array_get(events, i);
        bool paused = json_string_is(field_get(event, "event"), "paused");
        bool joins = paused && json_tag(field_get(event, "because")) == JSON_TAG_INT;
        if (joins && ++company > CONSOLE_COMPANY) continue;
        bool lone = !json_is_none(place) && json_is_none(field_get(place, "because"));
        if (paused && !lone && (!joins || json_is_none(place))) place = event;
        view_event(&v, event);
    }
    if (company > CONSOLE_COMPANY) {
        view_printf(&v, "and %zu more frames paused (`frames` lists them)\n",
                    company - CONSOLE_COMPANY);
    }
    place = json_is_none(place) ? place : place_to_show(c, events, place);
    if (!json_is_none(place)) {
        console_set(&c->list_file, NULL);
        c->shown = field_number(place, "frame", 0);
        console_view_around(c, &v, place);
    }
    console_put(c, &text);
}

void console_flush(Console *c) {
    while (json_array_len(c->events)) {
        Json events = c->events;
        c->events = json_array();
        for (size_t i = 0; c->host.json && i < json_array_len(events); i++) {
            put_json(c, json_ref(json_array_get(events, i)));
        }
        if (!c->host.json) put_events(c, events);
        json_unref(events);
    }
}
