/* console_orders.c - a line that was typed, what is ordered of the session, and what the prompt does itself. */
#include "console_inside.h"

#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- orders ---- */

void console_note_session(Console *c, Json session) {
    c->pause_all = json_truthy(field_get(session, "pause_all_on_breakpoint"));
    if (!c->file) {
        c->file = console_text_of(field_get(session, "file"));
    }
}

/* What an answer changes of what the console knows. */
static void take_note(Console *c, const char *operation, Json answer) {
    Json first = field_get(answer, "first");
    int64_t lines = (int64_t)field_items(field_get(answer, "lines"));
    if (!strcmp(operation, "session") || !strcmp(operation, "configure")) {
        console_note_session(c, answer);
    } else if (!strcmp(operation, "source") && json_tag(first) == JSON_TAG_INT && lines) {
        console_set(&c->list_file, console_text_of(field_get(answer, "file")));
        c->list_line = first.i + lines + lines / 2;
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

/* Waits for what comes of an order, unless it has let go of nothing. */
static void follow(Console *c, const Order *order, Json answer) {
    const char *operation = order->operation;
    bool abort = !strcmp(operation, "abort"), replay = !strcmp(operation, "replay");
    bool lets_go = abort || replay || !strcmp(operation, "answer") ||
                   field_items(field_get(answer, "resumed")) ||
                   field_items(field_get(answer, "paused")) ||
                   field_items(field_get(answer, "later"));
    if (!strcmp(operation, "detach")) {
        console_leave(c, CONSOLE_DETACHED);
    } else if ((order->flags & COMMAND_GOES) && lets_go) {
        console_wait(c, abort    ? CAME_SETTLED | CAME_OVER
                        : replay ? CAME_REPLAY | CAME_OVER
                                 : CAME_ANY);
    } else if (order->flags & COMMAND_MOVES) {
        console_show_new_place(c, answer);
    } else {
        console_drain(c);
    }
}

/* Calls, shows, and waits for what comes of it. */
static void obey(Console *c, const Order *order) {
    Error err = ERROR_INIT;
    console_flush(c);
    c->interrupted = 0;
    c->shown = 0;
    c->came &= CAME_OVER;
    Json answer = target_call(c->target, order->operation, json_ref(order->args), &err);
    bool ok = !json_is_none(answer), exports = order->text != NULL;
    if (ok && exports && (ok = write_document(order->text, answer, &err))) {
        json_unref(answer);
        answer = OBJECT(KEY("file", order->text));
    }
    if (ok) {
        take_note(c, order->operation, answer);
        console_put_answer(c, order, answer);
    } else {
        console_put_error(c, order, false, &err);
    }
    if (ok && !exports) {
        follow(c, order, answer);
    }
    json_unref(answer);
}

bool console_call(Console *c, const char *operation, Json args, bool shown) {
    Error err = ERROR_INIT;
    Order order = {.line = operation,
                   .len = strlen(operation),
                   .operation = operation,
                   .args = args,
                   .id = json_none()};
    Json answer = target_call(c->target, operation, json_ref(args), &err);
    bool ok = !json_is_none(answer);
    if (!ok) {
        console_put_error(c, &order, false, &err);
    } else {
        take_note(c, operation, answer);
    }
    if (ok && shown) {
        order.view = commands_view(operation);
        console_put_answer(c, &order, answer);
    }
    json_unref(answer);
    order_clear(&order);
    return ok;
}

/* ---- lines ---- */

/* `frame` alone is about the selected one. */
static void name_selected(Console *c, Order *order) {
    if (!strcmp(order->operation, "frame") && json_is_none(field_get(order->args, "frame"))) {
        Json session = console_ask(c, "session", json_none()), frame = field_get(session, "frame");
        if (json_tag(frame) == JSON_TAG_INT) {
            order->args = OBJECT_ADD(order->args, KEY("frame", frame));
        }
        json_unref(session);
    }
}

static void do_command(Console *c, const char *line, size_t len) {
    CommandContext context = {c->file, c->list_file, c->list_line};
    Error err = ERROR_INIT;
    Order order;
    if (!commands_read(&context, line, len, &order, &err)) {
        console_put_error(c, &order, true, &err);
    } else if (order.command) {
        bool repeats = order.flags & COMMAND_REPEATS;
        if (!repeats || c->again != line) {
            console_set(&c->again, repeats ? mem_strndup(line, len) : NULL);
        }
        const char *question = order.everything ? order.command->asks : NULL;
        if (question && !prompt_confirm(c->prompt, question)) {
            /* it was not meant */
        } else if (order.operation) {
            name_selected(c, &order);
            obey(c, &order);
        } else {
            order.command->act(c, &order);
        }
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

static void do_call(Console *c, const char *line, size_t len) {
    Error err = ERROR_INIT;
    Json request = json_parse(line, len, NULL, &err), args = field_get(request, "args");
    Order order = {.line = line,
                   .len = len,
                   .args = json_none(),
                   .id = json_ref(field_get(request, "request_id"))};
    if (json_is_none(request)) {
        Error cause = err;
        error_set(&err, ERR_USAGE, "The line is not JSON: %s.", cause.msg);
    }
    if (json_is_none(request) || !check_call(request, &err)) {
        console_put_error(c, &order, false, &err);
    } else {
        char *operation = console_text_of(field_get(request, "call"));
        bool waits = json_tag(field_get(request, "wait")) != JSON_TAG_FALSE;
        order.operation = operation ? operation : "";
        order.args = json_is_none(args) ? json_object() : json_ref(args);
        order.flags = waits && commands_operation_goes(order.operation) ? COMMAND_GOES : 0;
        obey(c, &order);
        mem_free(operation);
    }
    order_clear(&order);
    json_unref(request);
}

void console_line(Console *c, const char *line, size_t len) {
    size_t at = 0;
    while (at < len && strchr(" \t\r", line[at]) && line[at]) {
        at++;
    }
    if (c->host.json && at < len && line[at] == '{') {
        do_call(c, line, len);
    } else if (at == len && c->again && prompt_edits(c->prompt)) {
        do_command(c, c->again, strlen(c->again));
    } else {
        do_command(c, line, len);
    }
}

/* ---- what the prompt does itself ---- */

void console_do_help(Console *c, const Order *order) {
    Buf text = BUF_INIT;
    int width = terminal_width(stdout);
    if (order->text) {
        commands_explain(commands_find(order->text, strlen(order->text), NULL), width, &text);
    } else {
        commands_help(width, &text);
    }
    Order answered = *order;
    answered.operation = "help";
    Json answer = OBJECT(KEY("text", json_string(text.data, text.len)));
    console_put_answer(c, &answered, answer);
    json_unref(answer);
    buf_clear(&text);
}

void console_do_quit(Console *c, const Order *order) {
    (void)order;
    console_leave(c, CONSOLE_QUIT);
}

void console_do_wait(Console *c, const Order *order) {
    (void)order;
    console_flush(c);
    c->came &= CAME_OVER;
    Json session = console_ask(c, "session", json_none());
    if (json_string_is(field_get(session, "status"), "running")) {
        console_wait(c, CAME_ANY);
    } else {
        console_notice(c, "Nothing is running.");
    }
    json_unref(session);
}

void console_do_run(Console *c, const Order *order) {
    Error err = ERROR_INIT;
    bool ended = !strcmp(c->status, "completed") || !strcmp(c->status, "failed") ||
                 !strcmp(c->status, "cancelled");
    if (!ended) {
        error_set(&err, ERR_USAGE,
                  "The run has not ended yet: `continue` goes on with it, `abort` ends it.");
    } else {
        c->came = 0;
        c->host.restart(c->host.ctx, &err);
    }
    if (err.code) {
        console_put_error(c, order, false, &err);
        return;
    }
    c->status[0] = '\0';
    console_wait(c, CAME_ANY);
}
