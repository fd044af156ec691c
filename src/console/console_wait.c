/* console_wait.c - until something stops, and where frames stand then. */
#include "console_inside.h"

#include "output.h"

/* ---- waiting ---- */

static void on_grace(uv_timer_t *timer) {
    Console *t = timer->data;
    t->grace_over = true;
}

void console_leave(Console *t, ConsoleEnd end) {
    t->ending = true;
    t->end = end;
}

/* Ctrl-C while frames run. */
static void interrupt(Console *t) {
    uint64_t now = uv_now(t->host.loop);
    Error err = ERROR_INIT;
    bool twice = t->interrupted && now - t->interrupted < CONSOLE_TWICE_MS;
    t->interrupted = now ? now : 1;
    if (prompt_edits(t->prompt)) {
        prompt_say(t->prompt, "\n", 1); /* behind the ^C that the terminal shows */
    }
    if (twice) {
        console_leave(t, CONSOLE_QUIT);
        return;
    }
    Json args = json_object_with(json_object(), "frame", json_string_c("all"));
    Json answer = target_call(t->target, "pause", args, &err);
    Asked asked = {.line = "pause all", .len = 9};
    if (json_is_none(answer)) {
        console_say_error(t, &asked, NULL, &err);
        return;
    }
    console_say_answer(t, &asked, "pause", json_none(), answer);
    if (!field_items(field_get(answer, "paused")) && !field_items(field_get(answer, "later"))) {
        t->came |= CAME_STOP | CAME_REPLAY;
    }
    json_unref(answer);
}

static void turn(Console *t, uv_run_mode mode) {
    uv_run(t->host.loop, mode);
    console_flush(t);
    int interrupts = prompt_interrupts(t->prompt);
    for (int i = 0; i < interrupts && !t->ending; i++) {
        interrupt(t);
    }
    if (t->gone || prompt_is_over(t->prompt)) {
        console_leave(t, t->gone ? CONSOLE_GONE : CONSOLE_QUIT);
    }
}

void console_drain(Console *t) {
    for (int i = 0; i < 3 && !t->ending; i++) {
        turn(t, UV_RUN_NOWAIT);
    }
}

static bool waits_on(const Console *t, unsigned until) {
    return !t->ending && !(t->came & until);
}

/* A moment for what is on its way. */
static void give_grace(Console *t, unsigned until, uint64_t ms) {
    t->grace_over = false;
    uv_timer_start(&t->grace, on_grace, ms, 0);
    while (!t->grace_over && waits_on(t, until)) {
        turn(t, UV_RUN_ONCE);
    }
    uv_timer_stop(&t->grace);
}

/* When one frame stops, the others stop where they come to. */
static void wait_for_others(Console *t) {
    uint64_t ms = prompt_edits(t->prompt) ? CONSOLE_PERSON_GRACE_MS : CONSOLE_GRACE_MS;
    if (t->pause_all && (t->came & CAME_PAUSE)) {
        give_grace(t, CAME_STOP | CAME_SETTLED | CAME_OVER, ms);
    }
}

/* ---- where frames stand ---- */

void console_say_place(Console *t, Json answer) {
    Buf text = BUF_INIT;
    Json args = json_object(), frame = field_get(answer, "frame");
    console_flush(t);
    if (t->host.json || (t->came & CAME_PAUSE)) {
        json_unref(args);
        return;
    }
    Json session = json_is_none(frame) ? console_ask(t, "session", json_none()) : json_none();
    frame = json_is_none(frame) ? field_get(session, "frame") : frame;
    Json place = json_tag(frame) == JSON_TAG_INT
                     ? console_ask(t, "frame", json_object_with(args, "frame", json_ref(frame)))
                     : (json_unref(args), json_none());
    if (json_kind(place) == JSON_OBJECT) {
        place = json_object_remove(place, json_string_c("stack"));
        show_answer(&t->show, "frame", json_none(), place, &text);
        console_add_around(t, place, &text);
    }
    console_put(t, &text);
    json_unref(place);
    json_unref(session);
}

void console_say_new_place(Console *t, Json answer) {
    console_replace(&t->list_file, NULL);
    give_grace(t, CAME_PAUSE | CAME_STOP | CAME_SETTLED | CAME_OVER, CONSOLE_GRACE_MS);
    console_drain(t);
    console_say_place(t, answer);
}

static void say_ended(Console *t, Json session) {
    Json event = json_object_with(json_object(), "event", json_string_c("settled"));
    event = output_set(event, "status", json_ref(field_get(session, "run_status")));
    event = output_set(event, "error", json_ref(field_get(session, "error")));
    console_event(t, event);
    console_flush(t);
}

/* What became of a run that nothing was said of. */
static void say_standing(Console *t) {
    Json session = console_ask(t, "session", json_none()),
         frames = console_ask(t, "frames", json_none());
    Buf text = BUF_INIT;
    if (json_string_is(field_get(session, "status"), "ended")) {
        say_ended(t, session);
    } else if (field_items(field_get(frames, "frames")) == 1) {
        console_say_place(t, json_array_get(field_get(frames, "frames"), 0));
    } else if (!t->host.json) {
        show_answer(&t->show, "frames", json_none(), frames, &text);
    }
    console_put(t, &text);
    json_unref(session);
    json_unref(frames);
}

/* ---- until something stops ---- */

/* Nothing goes on, and no event has said where: frames that stood still all the time. */
static bool is_stuck(const Console *t) {
    return (t->came & CAME_STOP) &&
           !(t->came & (CAME_PAUSE | CAME_WAIT | CAME_SETTLED | CAME_OVER));
}

void console_wait_until(Console *t, unsigned until) {
    console_flush(t);
    while (waits_on(t, until)) {
        turn(t, UV_RUN_ONCE);
    }
    wait_for_others(t);
    console_drain(t);
    if (is_stuck(t) && !t->ending) {
        say_standing(t);
    }
}
