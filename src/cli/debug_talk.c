#include "debug_talk.h"

#include "debug_show.h"
#include "debug_words.h"
#include "fields.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "output.h"
#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What has come since the last command that let frames go. */
enum {
    CAME_PAUSE = 1,   /* a frame stopped */
    CAME_STOP = 2,    /* none goes on by itself */
    CAME_WAIT = 4,    /* one waits for a person */
    CAME_SETTLED = 8, /* the run has ended */
    CAME_OVER = 16,   /* the session has, or its door has closed */
    CAME_REPLAY = 32, /* one node has run again */
    CAME_ANY = 31,    /* all but that: it is no matter of this run */
};

struct Talk {
    TalkHost host;
    Prompt *prompt;
    Door *door;
    Show show;

    Json events; /* that nobody has looked at yet */
    unsigned came;
    bool gone, ending;
    TalkEnd end;
    TalkEnd over; /* how the session ended, as it said itself; TALK_QUIT: it has not */
    char status[24];

    bool pause_all;  /* when one frame stops, all do */
    char *file;      /* the workflow's main file; NULL: not known */
    char *list_file; /* where `list` goes on; NULL: at the current line */
    int64_t list_line;
    int64_t shown; /* the frame whose line was shown since the last command; 0: none */
    char *again;   /* the line that an empty one repeats; NULL: none */

    uv_timer_t grace;
    bool grace_over, closed;
    uint64_t interrupted; /* when Ctrl-C came last, on the loop's clock */
};

/* ---- fields ---- */

/* NULL for what is no text, or an empty one. Given. */
static char *text_of(Json v) {
    bool text = json_kind(v) == JSON_STRING && json_string_len(v) > 0;
    return text ? mem_strndup(json_string_data(&v), json_string_len(v)) : NULL;
}

static void replace(char **slot, char *text) {
    mem_free(*slot);
    *slot = text;
}

/* ---- saying ---- */

static void say(Talk *t, Buf *text) {
    prompt_say(t->prompt, text->data, text->len);
    buf_clear(text);
}

static void say_json(Talk *t, Json value) {
    Buf line = BUF_INIT;
    json_print(value, NULL, &line);
    buf_addc(&line, '\n');
    say(t, &line);
}

void talk_say(Talk *t, const char *fmt, ...) {
    char text[1024];
    Buf line = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!t->host.json) {
        buf_printf(&line, "%s\n", text);
        say(t, &line);
    }
}

/* What was asked, for answers to programs. */
typedef struct Asked {
    const char *line;
    size_t len;
    Json id; /* borrowed; JSON_NONE: none */
} Asked;

static void say_error(Talk *t, const Asked *asked, const Word *word, const Error *err) {
    Buf text = BUF_INIT;
    if (!t->host.json) {
        show_error(&t->show, err->msg, &text);
        if (word) {
            words_usage(word, &text);
        }
        say(t, &text);
        return;
    }
    Json out = json_object_with(json_object(), "error", json_string_c(err->msg));
    out = json_object_with(out, "code", json_string_c(error_code_name(err->code)));
    out = json_object_with(out, "command", json_string(asked->line, asked->len));
    out = json_is_none(asked->id) ? out : json_object_with(out, "request_id", json_ref(asked->id));
    say_json(t, out);
    json_unref(out);
}

/* {"answer": OPERATION, fields...} */
static void say_answer_json(Talk *t, const Asked *asked, const char *operation, Json answer) {
    Json out = json_object_with(json_object(), "answer", json_string_c(operation)), key, value;
    for (size_t pos = 0; json_object_next(answer, &pos, &key, &value);) {
        out = json_object_set(out, json_ref(key), json_ref(value));
    }
    out = json_is_none(asked->id) ? out : json_object_with(out, "request_id", json_ref(asked->id));
    say_json(t, out);
    json_unref(out);
}

static void say_answer(Talk *t, const Asked *asked, const char *operation, Json args, Json answer) {
    Buf text = BUF_INIT;
    if (t->host.json) {
        say_answer_json(t, asked, operation, answer);
        return;
    }
    show_answer(&t->show, operation, args, answer, &text);
    say(t, &text);
}

/* ---- events ---- */

static void note_status(Talk *t, Json status) {
    if (json_kind(status) == JSON_STRING) {
        snprintf(t->status, sizeof t->status, "%.*s", (int)json_string_len(status),
                 json_string_data(&status));
    }
}

/* The first word counts: one that expires may be detached for that. */
static void note_session(Talk *t, Json event) {
    Json status = field_get(event, "status");
    bool detached = json_string_is(status, "detached");
    if ((detached || json_string_is(status, "expired")) && !t->over) {
        t->over = detached ? TALK_DETACHED : TALK_EXPIRED;
        t->came |= CAME_OVER;
    }
}

/* One that had ended may have been brought back to life. */
static void note_paused(Talk *t, Json event) {
    if (json_is_none(field_get(event, "reattached"))) {
        t->status[0] = '\0';
    }
}

static void note_settled(Talk *t, Json event) {
    note_status(t, field_get(event, "status"));
}

static const struct EventMeans {
    const char *name;
    unsigned came;
    void (*note)(Talk *t, Json event); /* NULL: nothing to note */
} event_means[] = {
    {"paused", CAME_PAUSE, note_paused},
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

void talk_event(void *talk, Json event) {
    Talk *t = talk;
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

void talk_closed(void *talk) {
    Talk *t = talk;
    t->gone = true;
    t->came |= CAME_OVER;
}

/* The answer without a word when there is none. Consumes args. */
static Json ask(Talk *t, const char *operation, Json args) {
    return door_call(t->door, operation, args, NULL);
}

/* The line that a frame stands at, and the watches there. */
static void add_around(Talk *t, Json place, Buf *out) {
    Json frame = field_get(place, "frame");
    Json args = json_object_with(json_object(), "around", json_int(1));
    Json with_frame = json_tag(frame) == JSON_TAG_INT
                          ? json_object_with(json_object(), "frame", json_ref(frame))
                          : json_object();
    if (json_tag(frame) == JSON_TAG_INT) {
        args = json_object_with(args, "frame", json_ref(frame));
    }
    Json source = ask(t, "source", args), watches = ask(t, "watches", with_frame);
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

static void add_event(Talk *t, Json event, Batch *b) {
    bool paused = json_string_is(field_get(event, "event"), "paused");
    bool company = paused && json_tag(field_get(event, "because")) == JSON_TAG_INT;
    if (company && ++b->company > TALK_COMPANY) {
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
static Json place_to_show(Talk *t, Json events, Json first) {
    Json session = ask(t, "session", json_none()), place = json_none();
    int64_t selected = field_number(session, "frame", 0);
    json_unref(session);
    for (size_t i = 0; i < json_array_len(events); i++) {
        Json event = json_array_get(events, i);
        bool paused = json_string_is(field_get(event, "event"), "paused");
        place = paused && field_number(event, "frame", 0) == selected ? event : place;
    }
    return json_is_none(place) && t->shown != selected ? first : place;
}

static void say_batch(Talk *t, Json events) {
    Batch b = {.place = json_none()};
    for (size_t i = 0; i < json_array_len(events); i++) {
        add_event(t, json_array_get(events, i), &b);
    }
    if (b.company > TALK_COMPANY) {
        buf_printf(&b.text, "and %zu more frames paused (`frames` lists them)\n",
                   b.company - TALK_COMPANY);
    }
    Json place = json_is_none(b.place) ? b.place : place_to_show(t, events, b.place);
    if (!json_is_none(place)) {
        replace(&t->list_file, NULL);
        t->shown = field_number(place, "frame", 0);
        add_around(t, place, &b.text);
    }
    say(t, &b.text);
}

static void say_lines(Talk *t, Json events) {
    for (size_t i = 0; i < json_array_len(events); i++) {
        say_json(t, json_array_get(events, i));
    }
}

/* Says what has come. Looking closer may bring more. */
static void flush(Talk *t) {
    while (json_array_len(t->events)) {
        Json events = t->events;
        t->events = json_array();
        (t->host.json ? say_lines : say_batch)(t, events);
        json_unref(events);
    }
}

/* ---- waiting ---- */

static void on_grace(uv_timer_t *timer) {
    Talk *t = timer->data;
    t->grace_over = true;
}

static void leave(Talk *t, TalkEnd end) {
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
        leave(t, TALK_QUIT);
        return;
    }
    Json args = json_object_with(json_object(), "frame", json_string_c("all"));
    Json answer = door_call(t->door, "pause", args, &err);
    Asked asked = {.line = "pause all", .len = 9};
    if (json_is_none(answer)) {
        say_error(t, &asked, NULL, &err);
        return;
    }
    say_answer(t, &asked, "pause", json_none(), answer);
    if (!field_items(field_get(answer, "paused")) && !field_items(field_get(answer, "later"))) {
        t->came |= CAME_STOP | CAME_REPLAY;
    }
    json_unref(answer);
}

static void turn(Talk *t, uv_run_mode mode) {
    uv_run(t->host.loop, mode);
    flush(t);
    int interrupts = prompt_interrupts(t->prompt);
    for (int i = 0; i < interrupts && !t->ending; i++) {
        interrupt(t);
    }
    if (t->gone || prompt_is_over(t->prompt)) {
        leave(t, t->gone ? TALK_GONE : TALK_QUIT);
    }
}

/* What is due now. */
static void drain(Talk *t) {
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

static void say_standing(Talk *t);

/* Nothing goes on, and no event has said where: frames that stood still all the time. */
static bool is_stuck(const Talk *t) {
    return (t->came & CAME_STOP) &&
           !(t->came & (CAME_PAUSE | CAME_WAIT | CAME_SETTLED | CAME_OVER));
}

static void wait_until(Talk *t, unsigned until) {
    flush(t);
    while (waits_on(t, until)) {
        turn(t, UV_RUN_ONCE);
    }
    wait_for_others(t);
    drain(t);
    if (is_stuck(t) && !t->ending) {
        say_standing(t);
    }
}

/* ---- orders ---- */

static void note_session_answer(Talk *t, Json answer) {
    t->pause_all = json_truthy(field_get(answer, "pause_all_on_breakpoint"));
    if (!t->file) {
        t->file = text_of(field_get(answer, "file"));
    }
}

/* Where the next `list` goes on. */
static void note_source(Talk *t, Json answer) {
    Json first = field_get(answer, "first");
    size_t n = field_items(field_get(answer, "lines"));
    if (json_tag(first) == JSON_TAG_INT && n) {
        replace(&t->list_file, text_of(field_get(answer, "file")));
        t->list_line = first.i + (int64_t)n + (int64_t)n / 2;
    }
}

static bool write_document(const char *path, Json document, Error *err) {
    FILE *file = fopen(path, "wb");
    char *text = json_to_text(document);
    bool ok = file && fputs(text, file) >= 0 && fputc('\n', file) != EOF;
    ok = file && fclose(file) == 0 && ok;
    mem_free(text);
    return ok || error_set(err, ERR_IO, "%s cannot be written: %s.", path, strerror(errno));
}

static void export_to(Talk *t, const Asked *asked, const char *path, Json document) {
    Error err = ERROR_INIT;
    if (!write_document(path, document, &err)) {
        say_error(t, asked, NULL, &err);
        return;
    }
    if (t->host.json) {
        Json answer = json_object_with(json_object(), "file", json_string_c(path));
        say_answer_json(t, asked, "export", answer);
        json_unref(answer);
    }
    talk_say(t, "Wrote %s; `pawl debug --open %s` shows it.", path, path);
}

/* An order that lets go of nothing is not to be waited for. */
static bool lets_go(const char *operation, Json answer) {
    static const char *const always[] = {"answer", "abort", "replay"};
    for (size_t i = 0; i < 3; i++) {
        if (!strcmp(operation, always[i])) {
            return true;
        }
    }
    return field_items(field_get(answer, "resumed")) || field_items(field_get(answer, "paused")) ||
           field_items(field_get(answer, "later"));
}

/* Where a frame stands, unless an event has said it. */
static void say_place(Talk *t, Json answer) {
    Buf text = BUF_INIT;
    Json args = json_object(), frame = field_get(answer, "frame");
    flush(t);
    if (t->host.json || (t->came & CAME_PAUSE)) {
        json_unref(args);
        return;
    }
    Json session = json_is_none(frame) ? ask(t, "session", json_none()) : json_none();
    frame = json_is_none(frame) ? field_get(session, "frame") : frame;
    Json place = json_tag(frame) == JSON_TAG_INT
                     ? ask(t, "frame", json_object_with(args, "frame", json_ref(frame)))
                     : (json_unref(args), json_none());
    if (json_kind(place) == JSON_OBJECT) {
        place = json_object_remove(place, json_string_c("stack"));
        show_answer(&t->show, "frame", json_none(), place, &text);
        add_around(t, place, &text);
    }
    say(t, &text);
    json_unref(place);
    json_unref(session);
}

/* After going back or elsewhere: the event comes when that is on record. */
static void say_new_place(Talk *t, Json answer) {
    replace(&t->list_file, NULL);
    give_grace(t, CAME_PAUSE | CAME_STOP | CAME_SETTLED | CAME_OVER, TALK_GRACE_MS);
    drain(t);
    say_place(t, answer);
}

static void say_ended(Talk *t, Json session) {
    Json event = json_object_with(json_object(), "event", json_string_c("settled"));
    event = output_set(event, "status", json_ref(field_get(session, "run_status")));
    event = output_set(event, "error", json_ref(field_get(session, "error")));
    talk_event(t, event);
    flush(t);
}

/* What became of a run that nothing was said of. */
static void say_standing(Talk *t) {
    Json session = ask(t, "session", json_none()), frames = ask(t, "frames", json_none());
    Buf text = BUF_INIT;
    if (json_string_is(field_get(session, "status"), "ended")) {
        say_ended(t, session);
    } else if (field_items(field_get(frames, "frames")) == 1) {
        say_place(t, json_array_get(field_get(frames, "frames"), 0));
    } else if (!t->host.json) {
        show_answer(&t->show, "frames", json_none(), frames, &text);
    }
    say(t, &text);
    json_unref(session);
    json_unref(frames);
}

/* What a row says of an operation, for calls that came without one. */
typedef struct Duty {
    bool goes, moves;
} Duty;

static unsigned awaited(const char *operation) {
    return !strcmp(operation, "abort")    ? CAME_SETTLED | CAME_OVER
           : !strcmp(operation, "replay") ? CAME_REPLAY | CAME_OVER
                                          : CAME_ANY;
}

static void follow(Talk *t, const char *operation, Json answer, Duty duty) {
    if (!strcmp(operation, "detach")) {
        leave(t, TALK_DETACHED);
    } else if (duty.goes && lets_go(operation, answer)) {
        wait_until(t, awaited(operation));
    } else if (duty.moves) {
        say_new_place(t, answer);
    } else {
        drain(t);
    }
}

static void take_note(Talk *t, const char *operation, Json answer) {
    static const struct {
        const char *operation;
        void (*note)(Talk *t, Json answer);
    } notes[] = {{"session", note_session_answer},
                 {"configure", note_session_answer},
                 {"source", note_source}};
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        if (!strcmp(operation, notes[i].operation)) {
            notes[i].note(t, answer);
        }
    }
}

/* Calls, shows, and waits for what comes of it. Consumes args. path: of `export`. */
static void call(Talk *t, const Asked *asked, const char *operation, Json args, Duty duty,
                 const char *path) {
    Error err = ERROR_INIT;
    flush(t);
    t->interrupted = 0;
    t->shown = 0;
    t->came &= CAME_OVER;
    Json answer = door_call(t->door, operation, json_ref(args), &err);
    if (json_is_none(answer)) {
        say_error(t, asked, NULL, &err);
    } else if (path) {
        export_to(t, asked, path, answer);
    } else {
        take_note(t, operation, answer);
        say_answer(t, asked, operation, args, answer);
        follow(t, operation, answer, duty);
    }
    json_unref(answer);
    json_unref(args);
}

bool talk_call(Talk *t, const char *operation, Json args, bool shown) {
    Error err = ERROR_INIT;
    Asked asked = {.line = operation, .len = strlen(operation)};
    Json answer = door_call(t->door, operation, json_ref(args), &err);
    bool ok = !json_is_none(answer);
    if (ok) {
        take_note(t, operation, answer);
    } else {
        say_error(t, &asked, NULL, &err);
    }
    if (ok && shown) {
        say_answer(t, &asked, operation, args, answer);
    }
    json_unref(answer);
    json_unref(args);
    return ok;
}

/* `frame` needs one: the selected. */
static Json with_selected(Talk *t, const char *operation, Json args) {
    if (strcmp(operation, "frame") != 0 || !json_is_none(field_get(args, "frame"))) {
        return args;
    }
    Json session = ask(t, "session", json_none()), frame = field_get(session, "frame");
    if (json_tag(frame) == JSON_TAG_INT) {
        args = json_object_with(args, "frame", json_ref(frame));
    }
    json_unref(session);
    return args;
}

/* ---- what the prompt does itself ---- */

static void do_help(Talk *t, const Asked *asked, const Order *order) {
    Buf text = BUF_INIT;
    int width = terminal_width(stdout);
    if (order->text) {
        words_explain(words_find(order->text, strlen(order->text), NULL), width, &text);
    } else {
        words_help(width, &text);
    }
    if (t->host.json) {
        Json answer = json_object_with(json_object(), "text", json_string(text.data, text.len));
        say_answer_json(t, asked, "help", answer);
        json_unref(answer);
        buf_clear(&text);
    }
    say(t, &text);
}

static void do_quit(Talk *t, const Asked *asked, const Order *order) {
    (void)asked;
    (void)order;
    leave(t, TALK_QUIT);
}

/* Whether something in it may still go on. */
static bool is_running(Talk *t) {
    Json session = ask(t, "session", json_none());
    bool running = json_string_is(field_get(session, "status"), "running");
    json_unref(session);
    return running;
}

static void do_wait(Talk *t, const Asked *asked, const Order *order) {
    (void)asked;
    (void)order;
    flush(t);
    t->came &= CAME_OVER;
    if (is_running(t)) {
        wait_until(t, CAME_ANY);
    } else {
        talk_say(t, "Nothing is running.");
    }
}

static bool has_ended(const Talk *t) {
    static const char *const ends[] = {"completed", "failed", "cancelled"};
    for (size_t i = 0; i < 3; i++) {
        if (!strcmp(t->status, ends[i])) {
            return true;
        }
    }
    return false;
}

static void do_run(Talk *t, const Asked *asked, const Order *order) {
    Error err = ERROR_INIT;
    (void)order;
    if (!has_ended(t)) {
        error_set(&err, ERR_USAGE,
                  "The run has not ended yet: `continue` goes on with it, `abort` ends it.");
    } else {
        t->came = 0;
        t->host.restart(t->host.ctx, &err);
    }
    if (err.code) {
        say_error(t, asked, NULL, &err);
        return;
    }
    t->status[0] = '\0';
    wait_until(t, CAME_ANY);
}

static const struct OwnWord {
    const char *name;
    void (*act)(Talk *t, const Asked *asked, const Order *order);
} own_words[] = {
    {"help", do_help}, {"quit", do_quit}, {"wait", do_wait}, {"run", do_run}, {NULL, NULL},
};

static void act(Talk *t, const Asked *asked, const Order *order) {
    for (const struct OwnWord *w = own_words; w->name; w++) {
        if (!strcmp(w->name, order->word->name)) {
            w->act(t, asked, order);
        }
    }
}

/* ---- lines ---- */

static const char *question_of(const Word *word) {
    return !strcmp(word->name, "abort") ? "Cancel the run?" : "Delete all breakpoints?";
}

static bool is_meant(Talk *t, const Order *order) {
    bool asks = (order->word->flags & WORD_ASKS) && order->everything;
    return !asks || prompt_confirm(t->prompt, question_of(order->word));
}

static void obey(Talk *t, const Asked *asked, Order *order) {
    if (!is_meant(t, order)) {
        return;
    }
    if (!order->operation) {
        act(t, asked, order);
        return;
    }
    Duty duty = {order->word->flags & WORD_GOES, order->word->flags & WORD_MOVES};
    Json args = with_selected(t, order->operation, json_take(&order->args));
    call(t, asked, order->operation, args, duty,
         !strcmp(order->operation, "export") ? order->text : NULL);
}

static void do_words(Talk *t, const Asked *asked) {
    WordContext context = {t->file, t->list_file, t->list_line};
    Error err = ERROR_INIT;
    Order order;
    if (!words_read(&context, asked->line, asked->len, &order, &err)) {
        say_error(t, asked, order.word, &err);
    } else if (order.word) {
        bool repeats = order.word->flags & WORD_REPEATS;
        bool same = repeats && t->again == asked->line;
        if (!same) {
            replace(&t->again, repeats ? mem_strndup(asked->line, asked->len) : NULL);
        }
        obey(t, asked, &order);
    }
    order_clear(&order);
}

/* {"call", "args"?, "request_id"?, "wait"?} */
static bool check_call(Json request, Error *err) {
    static const char *const known[] = {"call", "args", "request_id", "wait"};
    Json key, value, args = field_get(request, "args");
    for (size_t pos = 0; json_object_next(request, &pos, &key, &value);) {
        bool found = false;
        for (size_t i = 0; i < 4; i++) {
            found |= json_string_is(key, known[i]);
        }
        if (!found) {
            return error_set(
                err, ERR_USAGE,
                "A call is {\"call\": OPERATION, \"args\": {...}}, with \"request_id\" "
                "and \"wait\" at will, and nothing else.");
        }
    }
    if (json_kind(field_get(request, "call")) != JSON_STRING) {
        return error_set(err, ERR_USAGE, "\"call\" has to be the name of an operation.");
    }
    return json_is_none(args) || json_kind(args) == JSON_OBJECT ||
           error_set(err, ERR_USAGE, "\"args\" has to be an object.");
}

static void do_call(Talk *t, Asked *asked) {
    Error err = ERROR_INIT;
    Json request = json_parse(asked->line, asked->len, NULL, &err);
    asked->id = field_get(request, "request_id");
    if (json_is_none(request)) {
        Error cause = err;
        error_set(&err, ERR_USAGE, "The line is not JSON: %s.", cause.msg);
    }
    if (json_is_none(request) || !check_call(request, &err)) {
        say_error(t, asked, NULL, &err);
        json_unref(request);
        return;
    }
    char *operation = text_of(field_get(request, "call"));
    Json args = field_get(request, "args");
    Duty duty = {.goes = operation && words_operation_goes(operation) &&
                         json_tag(field_get(request, "wait")) != JSON_TAG_FALSE};
    call(t, asked, operation ? operation : "", json_is_none(args) ? json_object() : json_ref(args),
         duty, NULL);
    mem_free(operation);
    json_unref(request);
}

static bool is_call(const Talk *t, const char *line, size_t len) {
    size_t at = 0;
    while (at < len && (line[at] == ' ' || line[at] == '\t')) {
        at++;
    }
    return t->host.json && at < len && line[at] == '{';
}

static bool is_empty(const char *line, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (!strchr(" \t\r", line[i])) {
            return false;
        }
    }
    return true;
}

static void do_line(Talk *t, const char *line, size_t len) {
    Asked asked = {line, len, json_none()};
    if (is_call(t, line, len)) {
        do_call(t, &asked);
        return;
    }
    if (is_empty(line, len) && t->again && prompt_edits(t->prompt)) {
        asked.line = t->again;
        asked.len = strlen(t->again);
    }
    do_words(t, &asked);
}

/* ---- Tab ---- */

static Json add_item(Json items, size_t from, Json text) {
    Json pair = json_array_push(json_array_push(json_array(), json_int((int64_t)from)), text);
    return json_array_push(items, pair);
}

static bool begins(const char *name, size_t name_len, const char *typed, size_t len) {
    return len <= name_len && memcmp(name, typed, len) == 0;
}

static Json offer_commands(size_t from, const char *typed, size_t len) {
    Json items = json_array();
    for (const Word *w = debug_words; w->name; w++) {
        if (begins(w->name, strlen(w->name), typed, len)) {
            items = add_item(items, from, json_string_fmt("%s ", w->name));
        }
    }
    return items;
}

static Json offer_words(const char *words, size_t from, const char *typed, size_t len) {
    Json items = json_array();
    for (const char *at = words; *at;) {
        size_t n = strcspn(at, " ");
        if (begins(at, n, typed, len)) {
            items = add_item(items, from, json_string_fmt("%.*s ", (int)n, at));
        }
        at += n + (at[n] == ' ');
    }
    return items;
}

static Json offer_nodes(Talk *t, size_t from, const char *typed, size_t len) {
    Json items = json_array(), answer = ask(t, "nodes", json_none());
    Json nodes = field_get(answer, "nodes");
    for (size_t i = 0; i < field_items(nodes); i++) {
        Json name = field_get(json_array_get(nodes, i), "name");
        bool fits = json_kind(name) == JSON_STRING &&
                    begins(json_string_data(&name), json_string_len(name), typed, len);
        if (fits) {
            items = add_item(items, from, json_ref(name));
        }
    }
    json_unref(answer);
    return items;
}

/* Items of jq say themselves what they replace; only those of one place can be offered together. */
static Json offer_jq(Talk *t, const char *what, size_t from, const char *typed, size_t len) {
    Json args = json_object_with(json_object(), "text", json_string(typed, len)),
         items = json_array();
    args = json_object_with(args, "cursor", json_int((int64_t)len));
    args = json_object_with(args, "what", json_string_c(what));
    Json answer = ask(t, "complete", args), found = field_get(answer, "items");
    Json place = field_get(json_array_get(found, 0), "from");
    for (size_t i = 0; i < field_items(found); i++) {
        Json item = json_array_get(found, i), at = field_get(item, "from"),
             text = field_get(item, "text");
        bool fits = json_tag(at) == JSON_TAG_INT && at.i >= 0 && (size_t)at.i <= len &&
                    json_identical(at, place) && json_kind(text) == JSON_STRING;
        if (fits) {
            items = add_item(items, from + (size_t)at.i, json_ref(text));
        }
    }
    json_unref(answer);
    return items;
}

static Json complete(void *ctx, const char *line, size_t cursor) {
    Talk *t = ctx;
    WordCompletion c = words_completion(line, cursor);
    const char *typed = line + c.from;
    size_t len = cursor - c.from;
    switch (c.offers) {
    case OFFERS_COMMAND: return offer_commands(c.from, typed, len);
    case OFFERS_WORDS: return offer_words(c.words, c.from, typed, len);
    case OFFERS_NODE: return offer_nodes(t, c.from, typed, len);
    case OFFERS_EXPRESSION: return offer_jq(t, "expression", c.from, typed, len);
    case OFFERS_PATH: return offer_jq(t, "path", c.from, typed, len);
    default: return json_array();
    }
}

/* ---- life ---- */

/* The loop has turned while somebody types. */
static bool on_turned(void *ctx) {
    Talk *t = ctx;
    flush(t);
    return t->came & CAME_OVER;
}

Talk *talk_new(const TalkHost *host, Error *err) {
    Talk *t = mem_zalloc(sizeof *t);
    PromptHost prompt = {.loop = host->loop,
                         .turned = on_turned,
                         .complete = complete,
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
    replace(&t->file, NULL);
    replace(&t->list_file, NULL);
}

/* ---- the whole ---- */

static void say_running(Talk *t, Json session) {
    char *thread = text_of(field_get(session, "thread"));
    talk_say(t, "%s is running; `pause` stops it, `wait` waits until it stops.",
             thread ? thread : "The run");
    mem_free(thread);
}

/* A test that failed and has cleaned up stands at no node. */
static void say_ways_on(Talk *t) {
    Json frame = ask(t, "frame", json_none());
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
        say_place(t, session);
    } else if (!t->host.json) {
        show_answer(&t->show, "session", json_none(), session, &text);
    }
    if (json_string_is(status, "ended")) {
        note_status(t, field_get(session, "run_status"));
    }
    say(t, &text);
    if (json_string_is(field_get(session, "run_status"), "failed") && !t->host.json) {
        say_place(t, session);
        say_ways_on(t);
    }
}

static void begin(Talk *t, TalkBegin how) {
    Json session = ask(t, "session", json_none());
    if (!json_is_none(session)) {
        note_session_answer(t, session);
    }
    if (how == TALK_WAITS) {
        wait_until(t, CAME_ANY);
    } else if (how == TALK_MOVED) {
        say_new_place(t, session);
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
        do_line(t, line, len);
        mem_free(line);
    }
    flush(t);
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
