#include "console_inside.h"

#include "mem.h"
#include "terminal.h"

/* ---- life ---- */

void console_set(char **slot, char *text) {
    mem_free(*slot);
    *slot = text;
}

char *console_text_of(Json v) {
    bool text = json_kind(v) == JSON_STRING && json_string_len(v) > 0;
    return text ? mem_strndup(json_string_data(&v), json_string_len(v)) : NULL;
}

/* The loop has turned while somebody types. */
static bool on_turned(void *ctx) {
    Console *c = ctx;
    console_flush(c);
    return c->came & CAME_OVER;
}

Console *console_new(const ConsoleHost *host, Error *err) {
    Console *c = mem_zalloc(sizeof *c);
    PromptHost prompt = {.loop = host->loop,
                         .turned = on_turned,
                         .complete = console_complete,
                         .ctx = c,
                         .scripts = host->scripts,
                         .bare = host->json};
    c->prompt = prompt_new(&prompt, err);
    if (!c->prompt) {
        mem_free(c);
        return NULL;
    }
    c->host = *host;
    c->events = json_array();
    c->colour = !host->json && terminal_has_colour(stdout);
    uv_timer_init(host->loop, &c->grace);
    c->grace.data = c;
    return c;
}

static void on_timer_closed(uv_handle_t *handle) {
    Console *c = handle->data;
    c->closed = true;
}

void console_free(Console *c) {
    if (!c) {
        return;
    }
    uv_close((uv_handle_t *)&c->grace, on_timer_closed);
    while (!c->closed) {
        uv_run(c->host.loop, UV_RUN_NOWAIT);
    }
    prompt_free(c->prompt);
    json_unref(c->events);
    mem_free(c->file);
    mem_free(c->list_file);
    mem_free(c->again);
    mem_free(c);
}

void console_open(Console *c, Target *target) {
    c->target = target;
    console_set(&c->file, NULL);
    console_set(&c->list_file, NULL);
}

Json console_ask(Console *c, const char *operation, Json args) {
    return target_call(c->target, operation, args, NULL);
}

/* ---- waiting ---- */

void console_leave(Console *c, ConsoleEnd end) {
    c->ending = true;
    c->end = end;
}

/* Ctrl-C while frames run. */
static void interrupt(Console *c) {
    uint64_t now = uv_now(c->host.loop);
    bool twice = c->interrupted && now - c->interrupted < CONSOLE_TWICE_MS;
    c->interrupted = now ? now : 1;
    if (prompt_edits(c->prompt)) {
        prompt_write(c->prompt, "\n", 1); /* behind the ^C that the terminal shows */
    }
    if (twice) {
        console_leave(c, CONSOLE_QUIT);
        return;
    }
    Order order = {.line = "pause all",
                   .len = 9,
                   .operation = "pause",
                   .view = view_pausing,
                   .args = json_none(),
                   .id = json_none()};
    Error err = ERROR_INIT;
    Json answer = target_call(c->target, "pause", OBJECT(KEY("frame", "all")), &err);
    if (json_is_none(answer)) {
        console_put_error(c, &order, false, &err);
        return;
    }
    console_put_answer(c, &order, answer);
    if (!field_items(field_get(answer, "paused")) && !field_items(field_get(answer, "later"))) {
        c->came |= CAME_STOP | CAME_REPLAY;
    }
    json_unref(answer);
}

static void turn(Console *c, uv_run_mode mode) {
    uv_run(c->host.loop, mode);
    console_flush(c);
    int interrupts = prompt_interrupts(c->prompt);
    for (int i = 0; i < interrupts && !c->ending; i++) {
        interrupt(c);
    }
    if (c->gone || prompt_is_over(c->prompt)) {
        console_leave(c, c->gone ? CONSOLE_GONE : CONSOLE_QUIT);
    }
}

void console_drain(Console *c) {
    for (int i = 0; i < 3 && !c->ending; i++) {
        turn(c, UV_RUN_NOWAIT);
    }
}

static bool waits_on(const Console *c, unsigned until) {
    return !c->ending && !(c->came & until);
}

static void on_grace(uv_timer_t *timer) {
    Console *c = timer->data;
    c->grace_over = true;
}

/* A moment for what is on its way. */
static void give_grace(Console *c, unsigned until, uint64_t ms) {
    c->grace_over = false;
    uv_timer_start(&c->grace, on_grace, ms, 0);
    while (!c->grace_over && waits_on(c, until)) {
        turn(c, UV_RUN_ONCE);
    }
    uv_timer_stop(&c->grace);
}

/* ---- where frames stand ---- */

/* Unless an event has told it. */
static void show_place(Console *c, Json answer) {
    Json frame = field_get(answer, "frame"), session = json_none();
    console_flush(c);
    if (c->host.json || (c->came & CAME_PAUSE)) {
        return;
    }
    if (json_is_none(frame)) {
        session = console_ask(c, "session", json_none());
        frame = field_get(session, "frame");
    }
    Json place = json_tag(frame) == JSON_TAG_INT
                     ? console_ask(c, "frame", OBJECT(KEY("frame", frame)))
                     : json_none();
    if (json_kind(place) == JSON_OBJECT) {
        Buf text = BUF_INIT;
        View v = console_view(c, &text);
        place = json_object_remove(place, json_string_c("stack"));
        view_frame(&v, place);
        view_end_line(&v);
        console_view_around(c, &v, place);
        console_put(c, &text);
    }
    json_unref(place);
    json_unref(session);
}

void console_show_new_place(Console *c, Json answer) {
    console_set(&c->list_file, NULL);
    give_grace(c, CAME_PAUSE | CAME_STOP | CAME_SETTLED | CAME_OVER, CONSOLE_GRACE_MS);
    console_drain(c);
    show_place(c, answer);
}

/* What became of a run that nothing was said of. */
static void show_standing(Console *c) {
    Json session = console_ask(c, "session", json_none());
    Json answer = console_ask(c, "frames", json_none()), frames = field_get(answer, "frames");
    if (json_string_is(field_get(session, "status"), "ended")) {
        Json event = OBJECT(KEY("event", "settled"));
        event = output_set(event, "status", json_ref(field_get(session, "run_status")));
        event = output_set(event, "error", json_ref(field_get(session, "error")));
        console_event(c, event);
        console_flush(c);
    } else if (field_items(frames) == 1) {
        show_place(c, json_array_get(frames, 0));
    } else if (!c->host.json) {
        Buf text = BUF_INIT;
        View v = console_view(c, &text);
        view_frames(&v, answer);
        console_put(c, &text);
    }
    json_unref(session);
    json_unref(answer);
}

void console_wait(Console *c, unsigned until) {
    console_flush(c);
    while (waits_on(c, until)) {
        turn(c, UV_RUN_ONCE);
    }
    if (c->pause_all && (c->came & CAME_PAUSE)) { /* the others stop where they come to */
        give_grace(c, CAME_STOP | CAME_SETTLED | CAME_OVER,
                   prompt_edits(c->prompt) ? CONSOLE_PERSON_GRACE_MS : CONSOLE_GRACE_MS);
    }
    console_drain(c);
    bool told = c->came & (CAME_PAUSE | CAME_WAIT | CAME_SETTLED | CAME_OVER);
    if ((c->came & CAME_STOP) && !told && !c->ending) { /* frames stood still all the time */
        show_standing(c);
    }
}

/* ---- the whole ---- */

/* Where a run stands that was there before us. */
static void look_around(Console *c, Json session) {
    Json status = field_get(session, "status"), run_status = field_get(session, "run_status");
    bool stands = json_tag(field_get(session, "frame")) == JSON_TAG_INT;
    bool ended = json_string_is(status, "ended");
    if (json_string_is(status, "running")) {
        char *thread = console_text_of(field_get(session, "thread"));
        console_notice(c, "%s is running; `pause` stops it, `wait` waits until it stops.",
                       thread ? thread : "The run");
        mem_free(thread);
    } else if (stands && !ended) {
        show_place(c, session);
    } else if (!c->host.json) {
        Buf text = BUF_INIT;
        View v = console_view(c, &text);
        view_session(&v, session);
        view_end_line(&v);
        console_put(c, &text);
    }
    if (ended) {
        console_note_status(c, run_status);
    }
    if (json_string_is(run_status, "failed") && !c->host.json) {
        show_place(c, session);
        /* A test that failed and has cleaned up stands at no node. */
        Json frame = console_ask(c, "frame", json_none());
        bool failed = json_string_is(field_get(frame, "status"), "failed");
        console_notice(
            c, "%s",
            failed
                ? "`retry` runs it again, after `set` or `config set` if need be; `back` goes back."
                : "`back` goes back into it.");
        json_unref(frame);
    }
}

ConsoleEnd console_go(Console *c, ConsoleBegin begin) {
    char *line;
    size_t len;
    Json session = console_ask(c, "session", json_none());
    if (!json_is_none(session)) {
        console_note_session(c, session);
    }
    if (begin == CONSOLE_WAITS) {
        console_wait(c, CAME_ANY);
    } else if (begin == CONSOLE_MOVED) {
        console_show_new_place(c, session);
    } else {
        look_around(c, session);
    }
    json_unref(session);
    while (!c->ending && !(c->came & CAME_OVER) && (line = prompt_line(c->prompt, &len))) {
        console_line(c, line, len);
        mem_free(line);
    }
    console_flush(c);
    ConsoleEnd end = c->ending ? c->end : CONSOLE_QUIT;
    bool asked = end == CONSOLE_DETACHED;
    end = c->gone ? CONSOLE_GONE : end;
    end = c->over ? c->over : end; /* what the session said goes before how its target closed */
    if (end == CONSOLE_DETACHED && !asked) {
        console_notice(c, "Somebody detached the session elsewhere.");
    }
    return end;
}

const char *console_status(const Console *c) {
    return c->status;
}

int console_interrupts(Console *c) {
    return prompt_interrupts(c->prompt);
}

bool console_is_over(const Console *c) {
    return prompt_is_over(c->prompt);
}
