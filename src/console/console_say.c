/* console_say.c - what a console says: answers, errors and events, for people or for programs. */
#include "console_inside.h"

#include "json_print.h"
#include "mem.h"

#include <stdio.h>

/* ---- fields ---- */

char *console_text_of(Json v) {
    bool text = json_kind(v) == JSON_STRING && json_string_len(v) > 0;
    return text ? mem_strndup(json_string_data(&v), json_string_len(v)) : NULL;
}

void console_replace(char **slot, char *text) {
    mem_free(*slot);
    *slot = text;
}

/* ---- saying ---- */

void console_put(Console *t, Buf *text) {
    prompt_say(t->prompt, text->data, text->len);
    buf_clear(text);
}

static void say_json(Console *t, Json value) {
    Buf line = BUF_INIT;
    json_print(value, NULL, &line);
    buf_addc(&line, '\n');
    console_put(t, &line);
}

void console_say(Console *t, const char *fmt, ...) {
    char text[1024];
    Buf line = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!t->host.json) {
        buf_printf(&line, "%s\n", text);
        console_put(t, &line);
    }
}

void console_say_error(Console *t, const Asked *asked, const Word *word, const Error *err) {
    Buf text = BUF_INIT;
    if (!t->host.json) {
        show_error(&t->show, err->msg, &text);
        if (word) {
            words_usage(word, &text);
        }
        console_put(t, &text);
        return;
    }
    Json out = json_object_with(json_object(), "error", json_string_c(err->msg));
    out = json_object_with(out, "code", json_string_c(error_code_name(err->code)));
    out = json_object_with(out, "command", json_string(asked->line, asked->len));
    out = json_is_none(asked->id) ? out : json_object_with(out, "request_id", json_ref(asked->id));
    say_json(t, out);
    json_unref(out);
}

void console_say_answer_json(Console *t, const Asked *asked, const char *operation, Json answer) {
    Json out = json_object_with(json_object(), "answer", json_string_c(operation)), key, value;
    for (size_t pos = 0; json_object_next(answer, &pos, &key, &value);) {
        out = json_object_set(out, json_ref(key), json_ref(value));
    }
    out = json_is_none(asked->id) ? out : json_object_with(out, "request_id", json_ref(asked->id));
    say_json(t, out);
    json_unref(out);
}

/* What an answer has just said. */
static void drop_settled(Console *t) {
    Json events = t->events;
    t->events = json_array();
    for (size_t i = 0; i < json_array_len(events); i++) {
        Json event = json_array_get(events, i);
        if (!json_string_is(field_get(event, "event"), "settled")) {
            t->events = json_array_push(t->events, json_ref(event));
        }
    }
    json_unref(events);
}

void console_say_answer(Console *t, const Asked *asked, const char *operation, Json args,
                        Json answer) {
    Buf text = BUF_INIT;
    if (t->host.json) {
        console_say_answer_json(t, asked, operation, answer);
        return;
    }
    show_answer(&t->show, operation, args, answer, &text);
    if (!json_is_none(field_get(answer, "ended"))) {
        drop_settled(t);
    }
    console_put(t, &text);
}

/* ---- events ---- */

void console_note_status(Console *t, Json status) {
    if (json_kind(status) == JSON_STRING) {
        snprintf(t->status, sizeof t->status, "%.*s", (int)json_string_len(status),
                 json_string_data(&status));
    }
}

/* The first word counts: one that expires may be detached for that. */
static void note_session(Console *t, Json event) {
    Json status = field_get(event, "status");
    bool detached = json_string_is(status, "detached");
    if ((detached || json_string_is(status, "expired")) && !t->over) {
        t->over = detached ? CONSOLE_DETACHED : CONSOLE_EXPIRED;
        t->came |= CAME_OVER;
    }
}

/* One that had ended may have been brought back to life. */
static void note_alive(Console *t, Json event) {
    if (json_is_none(field_get(event, "reattached"))) {
        t->status[0] = '\0';
    }
}

static void note_settled(Console *t, Json event) {
    console_note_status(t, field_get(event, "status"));
}

static const struct EventMeans {
    const char *name;
    unsigned came;
    void (*note)(Console *t, Json event); /* NULL: nothing to note */
} event_means[] = {
    {"paused", CAME_PAUSE, note_alive},
    {"resumed", 0, note_alive},
    {"stopped", CAME_STOP, NULL},
    {"waiting", CAME_WAIT, NULL},
    {"settled", CAME_SETTLED, note_settled},
    {"replayed", CAME_REPLAY, NULL},
    {"session", 0, note_session},
    {NULL, 0, NULL},
};

/* People are shown where they are when they come; a program builds that from events. */
static bool is_for_programs(Json event) {
    return !json_is_none(field_get(event, "reattached"));
}

void console_event(void *console, Json event) {
    Console *t = console;
    Json name = field_get(event, "event");
    if (!t->host.json && is_for_programs(event)) {
        json_unref(event);
        return;
    }
    for (const struct EventMeans *m = event_means; m->name; m++) {
        bool meant = json_string_is(name, m->name);
        t->came |= meant ? m->came : 0;
        if (meant && m->note) {
            m->note(t, event);
        }
    }
    t->events = json_array_push(t->events, event);
}

void console_closed(void *console) {
    Console *t = console;
    t->gone = true;
    t->came |= CAME_OVER;
}

Json console_ask(Console *t, const char *operation, Json args) {
    return target_call(t->target, operation, args, NULL);
}

void console_add_around(Console *t, Json place, Buf *out) {
    Json frame = field_get(place, "frame");
    Json args = json_object_with(json_object(), "around", json_int(1));
    Json with_frame = json_tag(frame) == JSON_TAG_INT
                          ? json_object_with(json_object(), "frame", json_ref(frame))
                          : json_object();
    if (json_tag(frame) == JSON_TAG_INT) {
        args = json_object_with(args, "frame", json_ref(frame));
    }
    Json source = console_ask(t, "source", args), watches = console_ask(t, "watches", with_frame);
    show_source_line(&t->show, source, out);
    show_watches(&t->show, watches, out);
    json_unref(source);
    json_unref(watches);
}

/* What a batch of events comes to. */
typedef struct Batch {
    Json place;     /* of the first frame that stopped for its own sake; borrowed from the events */
    size_t company; /* frames that stopped because another did */
    Buf text;
} Batch;

static void add_event(Console *t, Json event, Batch *b) {
    bool paused = json_string_is(field_get(event, "event"), "paused");
    bool company = paused && json_tag(field_get(event, "because")) == JSON_TAG_INT;
    if (company && ++b->company > CONSOLE_COMPANY) {
        return;
    }
    bool lone = !json_is_none(b->place) && json_is_none(field_get(b->place, "because"));
    if (paused && !lone && (!company || json_is_none(b->place))) {
        b->place = event;
    }
    show_event(&t->show, event, &b->text);
}

/* The line of the selected frame is shown when it stops, and no other one after it: what is typed next is
 * about that frame. */
static Json place_to_show(Console *t, Json events, Json first) {
    Json session = console_ask(t, "session", json_none()), place = json_none();
    int64_t selected = field_number(session, "frame", 0);
    json_unref(session);
    for (size_t i = 0; i < json_array_len(events); i++) {
        Json event = json_array_get(events, i);
        bool paused = json_string_is(field_get(event, "event"), "paused");
        place = paused && field_number(event, "frame", 0) == selected ? event : place;
    }
    return json_is_none(place) && t->shown != selected ? first : place;
}

static void say_batch(Console *t, Json events) {
    Batch b = {.place = json_none()};
    for (size_t i = 0; i < json_array_len(events); i++) {
        add_event(t, json_array_get(events, i), &b);
    }
    if (b.company > CONSOLE_COMPANY) {
        buf_printf(&b.text, "and %zu more frames paused (`frames` lists them)\n",
                   b.company - CONSOLE_COMPANY);
    }
    Json place = json_is_none(b.place) ? b.place : place_to_show(t, events, b.place);
    if (!json_is_none(place)) {
        console_replace(&t->list_file, NULL);
        t->shown = field_number(place, "frame", 0);
        console_add_around(t, place, &b.text);
    }
    console_put(t, &b.text);
}

static void say_lines(Console *t, Json events) {
    for (size_t i = 0; i < json_array_len(events); i++) {
        say_json(t, json_array_get(events, i));
    }
}

void console_flush(Console *t) {
    while (json_array_len(t->events)) {
        Json events = t->events;
        t->events = json_array();
        (t->host.json ? say_lines : say_batch)(t, events);
        json_unref(events);
    }
}
