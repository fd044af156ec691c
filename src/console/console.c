#include "console_inside.h"

#include "mem.h"
#include "terminal.h"

/* ---- life ---- */

/* The loop has turned while somebody types. */
static bool on_turned(void *ctx) {
    Console *t = ctx;
    console_flush(t);
    return t->came & CAME_OVER;
}

Console *console_new(const ConsoleHost *host, Error *err) {
    Console *t = mem_zalloc(sizeof *t);
    PromptHost prompt = {.loop = host->loop,
                         .turned = on_turned,
                         .complete = console_complete,
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
    Console *t = handle->data;
    t->closed = true;
}

void console_free(Console *t) {
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

void console_open(Console *t, Target *target) {
    t->target = target;
    console_replace(&t->file, NULL);
    console_replace(&t->list_file, NULL);
}

/* ---- the whole ---- */

static void say_running(Console *t, Json session) {
    char *thread = console_text_of(field_get(session, "thread"));
    console_say(t, "%s is running; `pause` stops it, `wait` waits until it stops.",
                thread ? thread : "The run");
    mem_free(thread);
}

/* A test that failed and has cleaned up stands at no node. */
static void say_ways_on(Console *t) {
    Json frame = console_ask(t, "frame", json_none());
    console_say(
        t, "%s",
        json_string_is(field_get(frame, "status"), "failed")
            ? "`retry` runs it again, after `set` or `config set` if need be; `back` goes back."
            : "`back` goes back into it.");
    json_unref(frame);
}

/* Where a run stands that was there before us. */
static void look_around(Console *t, Json session) {
    Json status = field_get(session, "status");
    bool stands = json_tag(field_get(session, "frame")) == JSON_TAG_INT;
    Buf text = BUF_INIT;
    if (json_string_is(status, "running")) {
        say_running(t, session);
    } else if (stands && !json_string_is(status, "ended")) {
        console_say_place(t, session);
    } else if (!t->host.json) {
        show_answer(&t->show, "session", json_none(), session, &text);
    }
    if (json_string_is(status, "ended")) {
        console_note_status(t, field_get(session, "run_status"));
    }
    console_put(t, &text);
    if (json_string_is(field_get(session, "run_status"), "failed") && !t->host.json) {
        console_say_place(t, session);
        say_ways_on(t);
    }
}

static void begin(Console *t, ConsoleBegin how) {
    Json session = console_ask(t, "session", json_none());
    if (!json_is_none(session)) {
        console_note_session(t, session);
    }
    if (how == CONSOLE_WAITS) {
        console_wait_until(t, CAME_ANY);
    } else if (how == CONSOLE_MOVED) {
        console_say_new_place(t, session);
    } else {
        look_around(t, session);
    }
    json_unref(session);
}

/* What the session said goes before how the connection ended. */
static ConsoleEnd how_it_ended(const Console *t) {
    ConsoleEnd otherwise = t->gone ? CONSOLE_GONE : t->ending ? t->end : CONSOLE_QUIT;
    return t->over ? t->over : otherwise;
}

ConsoleEnd console_go(Console *t, ConsoleBegin how) {
    char *line;
    size_t len;
    begin(t, how);
    while (!t->ending && !(t->came & CAME_OVER) && (line = prompt_line(t->prompt, &len))) {
        console_do_line(t, line, len);
        mem_free(line);
    }
    console_flush(t);
    ConsoleEnd end = how_it_ended(t);
    bool asked = t->ending && t->end == CONSOLE_DETACHED;
    if (end == CONSOLE_DETACHED && !asked) {
        console_say(t, "Somebody detached the session elsewhere.");
    }
    return end;
}

const char *console_status(const Console *t) {
    return t->status;
}

int console_interrupts(Console *t) {
    return prompt_interrupts(t->prompt);
}

bool console_is_over(const Console *t) {
    return prompt_is_over(t->prompt);
}
