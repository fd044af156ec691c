#include "debug_talk_inside.h"

#include "mem.h"
#include "terminal.h"

/* ---- life ---- */

/* The loop has turned while somebody types. */
static bool on_turned(void *ctx) {
    Talk *t = ctx;
    talk_flush(t);
    return t->came & CAME_OVER;
}

Talk *talk_new(const TalkHost *host, Error *err) {
    Talk *t = mem_zalloc(sizeof *t);
    PromptHost prompt = {.loop = host->loop,
                         .turned = on_turned,
                         .complete = talk_complete,
                         .ctx = t,
                         .scripts = host->scripts,
                         .bare = host->json};
    t->host = *host;
    t->events = json_array();
    t->prompt = prompt_new(&prompt, err);
    if (!t->prompt) {
        json_unref(t->events);
        mem_free(t);
        return NULL;
    }
    t->show.colour = !host->json && terminal_has_colour(stdout);
    uv_timer_init(host->loop, &t->grace);
    t->grace.data = t;
    return t;
}

static void on_timer_closed(uv_handle_t *handle) {
    Talk *t = handle->data;
    t->closed = true;
}

void talk_free(Talk *t) {
    if (!t) {
        return;
    }
    uv_close((uv_handle_t *)&t->grace, on_timer_closed);
    while (!t->closed) {
        uv_run(t->host.loop, UV_RUN_NOWAIT);
    }
    prompt_free(t->prompt);
    json_unref(t->events);
    mem_free(t->file);
    mem_free(t->list_file);
    mem_free(t->again);
    mem_free(t);
}

void talk_open(Talk *t, Door *door) {
    t->door = door;
    talk_replace(&t->file, NULL);
    talk_replace(&t->list_file, NULL);
}

/* ---- the whole ---- */

static void say_running(Talk *t, Json session) {
    char *thread = talk_text_of(field_get(session, "thread"));
    talk_say(t, "%s is running; `pause` stops it, `wait` waits until it stops.",
             thread ? thread : "The run");
    mem_free(thread);
}

/* A test that failed and has cleaned up stands at no node. */
static void say_ways_on(Talk *t) {
    Json frame = talk_ask(t, "frame", json_none());
    talk_say(
        t, "%s",
        json_string_is(field_get(frame, "status"), "failed")
            ? "`retry` runs it again, after `set` or `config set` if need be; `back` goes back."
            : "`back` goes back into it.");
    json_unref(frame);
}

/* Where a run stands that was there before us. */
static void look_around(Talk *t, Json session) {
    Json status = field_get(session, "status");
    bool stands = json_tag(field_get(session, "frame")) == JSON_TAG_INT;
    Buf text = BUF_INIT;
    if (json_string_is(status, "running")) {
        say_running(t, session);
    } else if (stands && !json_string_is(status, "ended")) {
        talk_say_place(t, session);
    } else if (!t->host.json) {
        show_answer(&t->show, "session", json_none(), session, &text);
    }
    if (json_string_is(status, "ended")) {
        talk_note_status(t, field_get(session, "run_status"));
    }
    talk_put(t, &text);
    if (json_string_is(field_get(session, "run_status"), "failed") && !t->host.json) {
        talk_say_place(t, session);
        say_ways_on(t);
    }
}

static void begin(Talk *t, TalkBegin how) {
    Json session = talk_ask(t, "session", json_none());
    if (!json_is_none(session)) {
        talk_note_session(t, session);
    }
    if (how == TALK_WAITS) {
        talk_wait_until(t, CAME_ANY);
    } else if (how == TALK_MOVED) {
        talk_say_new_place(t, session);
    } else {
        look_around(t, session);
    }
    json_unref(session);
}

/* What the session said goes before how the connection ended. */
static TalkEnd how_it_ended(const Talk *t) {
    TalkEnd otherwise = t->gone ? TALK_GONE : t->ending ? t->end : TALK_QUIT;
    return t->over ? t->over : otherwise;
}

TalkEnd talk_go(Talk *t, TalkBegin how) {
    char *line;
    size_t len;
    begin(t, how);
    while (!t->ending && !(t->came & CAME_OVER) && (line = prompt_line(t->prompt, &len))) {
        talk_do_line(t, line, len);
        mem_free(line);
    }
    talk_flush(t);
    TalkEnd end = how_it_ended(t);
    bool asked = t->ending && t->end == TALK_DETACHED;
    if (end == TALK_DETACHED && !asked) {
        talk_say(t, "Somebody detached the session elsewhere.");
    }
    return end;
}

const char *talk_status(const Talk *t) {
    return t->status;
}

int talk_interrupts(Talk *t) {
    return prompt_interrupts(t->prompt);
}

bool talk_is_over(const Talk *t) {
    return prompt_is_over(t->prompt);
}
