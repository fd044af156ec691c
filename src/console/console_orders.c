/* console_orders.c - what is ordered of the session, and what the prompt does itself. */
#include "console_inside.h"

#include "json_print.h"
#include "mem.h"
#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- orders ---- */

void console_note_session(Console *t, Json answer) {
    t->pause_all = json_truthy(field_get(answer, "pause_all_on_breakpoint"));
    if (!t->file) {
        t->file = console_text_of(field_get(answer, "file"));
    }
}

/* Where the next `list` goes on. */
static void note_source(Console *t, Json answer) {
    Json first = field_get(answer, "first");
    size_t n = field_items(field_get(answer, "lines"));
    if (json_tag(first) == JSON_TAG_INT && n) {
        console_replace(&t->list_file, console_text_of(field_get(answer, "file")));
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

static void export_to(Console *t, const Asked *asked, const char *path, Json document) {
    Error err = ERROR_INIT;
    if (!write_document(path, document, &err)) {
        console_say_error(t, asked, NULL, &err);
        return;
    }
    if (t->host.json) {
        Json answer = json_object_with(json_object(), "file", json_string_c(path));
        console_say_answer_json(t, asked, "export", answer);
        json_unref(answer);
    }
    console_say(t, "Wrote %s; `pawl debug --open %s` shows it.", path, path);
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

static unsigned awaited(const char *operation) {
    return !strcmp(operation, "abort")    ? CAME_SETTLED | CAME_OVER
           : !strcmp(operation, "replay") ? CAME_REPLAY | CAME_OVER
                                          : CAME_ANY;
}

static void follow(Console *t, const char *operation, Json answer, Duty duty) {
    if (!strcmp(operation, "detach")) {
        console_leave(t, CONSOLE_DETACHED);
    } else if (duty.goes && lets_go(operation, answer)) {
        console_wait_until(t, awaited(operation));
    } else if (duty.moves) {
        console_say_new_place(t, answer);
    } else {
        console_drain(t);
    }
}

static void take_note(Console *t, const char *operation, Json answer) {
    static const struct {
        const char *operation;
        void (*note)(Console *t, Json answer);
    } notes[] = {{"session", console_note_session},
                 {"configure", console_note_session},
                 {"source", note_source}};
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        if (!strcmp(operation, notes[i].operation)) {
            notes[i].note(t, answer);
        }
    }
}

void console_order(Console *t, const Asked *asked, const char *operation, Json args, Duty duty,
                   const char *path) {
    Error err = ERROR_INIT;
    console_flush(t);
    t->interrupted = 0;
    t->shown = 0;
    t->came &= CAME_OVER;
    Json answer = target_call(t->target, operation, json_ref(args), &err);
    if (json_is_none(answer)) {
        console_say_error(t, asked, NULL, &err);
    } else if (path) {
        export_to(t, asked, path, answer);
    } else {
        take_note(t, operation, answer);
        console_say_answer(t, asked, operation, args, answer);
        follow(t, operation, answer, duty);
    }
    json_unref(answer);
    json_unref(args);
}

bool console_call(Console *t, const char *operation, Json args, bool shown) {
    Error err = ERROR_INIT;
    Asked asked = {.line = operation, .len = strlen(operation)};
    Json answer = target_call(t->target, operation, json_ref(args), &err);
    bool ok = !json_is_none(answer);
    if (ok) {
        take_note(t, operation, answer);
    } else {
        console_say_error(t, &asked, NULL, &err);
    }
    if (ok && shown) {
        console_say_answer(t, &asked, operation, args, answer);
    }
    json_unref(answer);
    json_unref(args);
    return ok;
}

Json console_with_selected(Console *t, const char *operation, Json args) {
    if (strcmp(operation, "frame") != 0 || !json_is_none(field_get(args, "frame"))) {
        return args;
    }
    Json session = console_ask(t, "session", json_none()), frame = field_get(session, "frame");
    if (json_tag(frame) == JSON_TAG_INT) {
        args = json_object_with(args, "frame", json_ref(frame));
    }
    json_unref(session);
    return args;
}

/* ---- what the prompt does itself ---- */

static void do_help(Console *t, const Asked *asked, const Order *order) {
    Buf text = BUF_INIT;
    int width = terminal_width(stdout);
    if (order->text) {
        words_explain(words_find(order->text, strlen(order->text), NULL), width, &text);
    } else {
        words_help(width, &text);
    }
    if (t->host.json) {
        Json answer = json_object_with(json_object(), "text", json_string(text.data, text.len));
        console_say_answer_json(t, asked, "help", answer);
        json_unref(answer);
        buf_clear(&text);
    }
    console_put(t, &text);
}

static void do_quit(Console *t, const Asked *asked, const Order *order) {
    (void)asked;
    (void)order;
    console_leave(t, CONSOLE_QUIT);
}

/* Whether something in it may still go on. */
static bool is_running(Console *t) {
    Json session = console_ask(t, "session", json_none());
    bool running = json_string_is(field_get(session, "status"), "running");
    json_unref(session);
    return running;
}

static void do_wait(Console *t, const Asked *asked, const Order *order) {
    (void)asked;
    (void)order;
    console_flush(t);
    t->came &= CAME_OVER;
    if (is_running(t)) {
        console_wait_until(t, CAME_ANY);
    } else {
        console_say(t, "Nothing is running.");
    }
}

static bool has_ended(const Console *t) {
    static const char *const ends[] = {"completed", "failed", "cancelled"};
    for (size_t i = 0; i < 3; i++) {
        if (!strcmp(t->status, ends[i])) {
            return true;
        }
    }
    return false;
}

static void do_run(Console *t, const Asked *asked, const Order *order) {
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
        console_say_error(t, asked, NULL, &err);
        return;
    }
    t->status[0] = '\0';
    console_wait_until(t, CAME_ANY);
}

static const struct OwnWord {
    const char *name;
    void (*act)(Console *t, const Asked *asked, const Order *order);
} own_words[] = {
    {"help", do_help}, {"quit", do_quit}, {"wait", do_wait}, {"run", do_run}, {NULL, NULL},
};

void console_act(Console *t, const Asked *asked, const Order *order) {
    for (const struct OwnWord *w = own_words; w->name; w++) {
        if (!strcmp(w->name, order->word->name)) {
            w->act(t, asked, order);
        }
    }
}
