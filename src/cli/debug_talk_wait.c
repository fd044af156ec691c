/* debug_talk_wait.c - until something stops, and where frames stand then. */
#include "debug_talk_inside.h"

#include "output.h"

/* ---- waiting ---- */

static void on_grace(uv_timer_t *timer) {
    Talk *t = timer->data;
    t->grace_over = true;
}

void talk_leave(Talk *t, TalkEnd end) {
    t->ending = true;
    t->end = end;
}

/* Ctrl-C while frames run. */
static void interrupt(Talk *t) {
    uint64_t now = uv_now(t->host.loop);
    Error err = ERROR_INIT;
    bool twice = t->interrupted && now - t->interrupted < TALK_TWICE_MS;
    t->interrupted = now ? now : 1;
    if (prompt_edits(t->prompt)) {
        prompt_say(t->prompt, "\n", 1); /* behind the ^C that the terminal shows */
    }
    if (twice) {
        talk_leave(t, TALK_QUIT);
        return;
    }
    Json args = json_object_with(json_object(), "frame", json_string_c("all"));
    Json answer = door_call(t->door, "pause", args, &err);
    Asked asked = {.line = "pause all", .len = 9};
    if (json_is_none(answer)) {
        talk_say_error(t, &asked, NULL, &err);
        return;
    }
    talk_say_answer(t, &asked, "pause", json_none(), answer);
    if (!field_items(field_get(answer, "paused")) && !field_items(field_get(answer, "later"))) {
        t->came |= CAME_STOP | CAME_REPLAY;
    }
    json_unref(answer);
}

static void turn(Talk *t, uv_run_mode mode) {
    uv_run(t->host.loop, mode);
    talk_flush(t);
    int interrupts = prompt_interrupts(t->prompt);
    for (int i = 0; i < interrupts && !t->ending; i++) {
        interrupt(t);
    }
    if (t->gone || prompt_is_over(t->prompt)) {
        talk_leave(t, t->gone ? TALK_GONE : TALK_QUIT);
    }
}

void talk_drain(Talk *t) {
    for (int i = 0; i < 3 && !t->ending; i++) {
        turn(t, UV_RUN_NOWAIT);
    }
}

static bool waits_on(const Talk *t, unsigned until) {
    return !t->ending && !(t->came & until);
}

/* A moment for what is on its way. */
static void give_grace(Talk *t, unsigned until, uint64_t ms) {
    t->grace_over = false;
    uv_timer_start(&t->grace, on_grace, ms, 0);
    while (!t->grace_over && waits_on(t, until)) {
        turn(t, UV_RUN_ONCE);
    }
    uv_timer_stop(&t->grace);
}

/* When one frame stops, the others stop where they come to. */
static void wait_for_others(Talk *t) {
    uint64_t ms = prompt_edits(t->prompt) ? TALK_PERSON_GRACE_MS : TALK_GRACE_MS;
    if (t->pause_all && (t->came & CAME_PAUSE)) {
        give_grace(t, CAME_STOP | CAME_SETTLED | CAME_OVER, ms);
    }
}

/* ---- where frames stand ---- */

void talk_say_place(Talk *t, Json answer) {
    Buf text = BUF_INIT;
    Json args = json_object(), frame = field_get(answer, "frame");
    talk_flush(t);
    if (t->host.json || (t->came & CAME_PAUSE)) {
        json_unref(args);
        return;
    }
    Json session = json_is_none(frame) ? talk_ask(t, "session", json_none()) : json_none();
    frame = json_is_none(frame) ? field_get(session, "frame") : frame;
    Json place = json_tag(frame) == JSON_TAG_INT
                     ? talk_ask(t, "frame", json_object_with(args, "frame", json_ref(frame)))
                     : (json_unref(args), json_none());
    if (json_kind(place) == JSON_OBJECT) {
        place = json_object_remove(place, json_string_c("stack"));
        show_answer(&t->show, "frame", json_none(), place, &text);
        talk_add_around(t, place, &text);
    }
    talk_put(t, &text);
    json_unref(place);
    json_unref(session);
}

void talk_say_new_place(Talk *t, Json answer) {
    talk_replace(&t->list_file, NULL);
    give_grace(t, CAME_PAUSE | CAME_STOP | CAME_SETTLED | CAME_OVER, TALK_GRACE_MS);
    talk_drain(t);
    talk_say_place(t, answer);
}

static void say_ended(Talk *t, Json session) {
    Json event = json_object_with(json_object(), "event", json_string_c("settled"));
    event = output_set(event, "status", json_ref(field_get(session, "run_status")));
    event = output_set(event, "error", json_ref(field_get(session, "error")));
    talk_event(t, event);
    talk_flush(t);
}

/* What became of a run that nothing was said of. */
static void say_standing(Talk *t) {
    Json session = talk_ask(t, "session", json_none()), frames = talk_ask(t, "frames", json_none());
    Buf text = BUF_INIT;
    if (json_string_is(field_get(session, "status"), "ended")) {
        say_ended(t, session);
    } else if (field_items(field_get(frames, "frames")) == 1) {
        talk_say_place(t, json_array_get(field_get(frames, "frames"), 0));
    } else if (!t->host.json) {
        show_answer(&t->show, "frames", json_none(), frames, &text);
    }
    talk_put(t, &text);
    json_unref(session);
    json_unref(frames);
}

/* ---- until something stops ---- */

/* Nothing goes on, and no event has said where: frames that stood still all the time. */
static bool is_stuck(const Talk *t) {
    return (t->came & CAME_STOP) &&
           !(t->came & (CAME_PAUSE | CAME_WAIT | CAME_SETTLED | CAME_OVER));
}

void talk_wait_until(Talk *t, unsigned until) {
    talk_flush(t);
    while (waits_on(t, until)) {
        turn(t, UV_RUN_ONCE);
    }
    wait_for_others(t);
    talk_drain(t);
    if (is_stuck(t) && !t->ending) {
        say_standing(t);
    }
}
