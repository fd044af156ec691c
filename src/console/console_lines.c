/* console_lines.c - a line that was typed: a command, a call of a program, a repetition. */
#include "console_inside.h"

#include "json_parse.h"
#include "mem.h"

#include <string.h>

static const char *question_of(const Word *word) {
    return !strcmp(word->name, "abort") ? "Cancel the run?" : "Delete all breakpoints?";
}

static bool is_meant(Console *t, const Order *order) {
    bool asks = (order->word->flags & WORD_ASKS) && order->everything;
    return !asks || prompt_confirm(t->prompt, question_of(order->word));
}

static void obey(Console *t, const Asked *asked, Order *order) {
    if (!is_meant(t, order)) {
        return;
    }
    if (!order->operation) {
        console_act(t, asked, order);
        return;
    }
    Duty duty = {order->word->flags & WORD_GOES, order->word->flags & WORD_MOVES};
    Json args = console_with_selected(t, order->operation, json_take(&order->args));
    console_order(t, asked, order->operation, args, duty,
                  !strcmp(order->operation, "export") ? order->text : NULL);
}

static void do_words(Console *t, const Asked *asked) {
    WordContext context = {t->file, t->list_file, t->list_line};
    Error err = ERROR_INIT;
    Order order;
    if (!words_read(&context, asked->line, asked->len, &order, &err)) {
        console_say_error(t, asked, order.word, &err);
    } else if (order.word) {
        bool repeats = order.word->flags & WORD_REPEATS;
        bool same = repeats && t->again == asked->line;
        if (!same) {
            console_replace(&t->again, repeats ? mem_strndup(asked->line, asked->len) : NULL);
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

static void do_call(Console *t, Asked *asked) {
    Error err = ERROR_INIT;
    Json request = json_parse(asked->line, asked->len, NULL, &err);
    asked->id = field_get(request, "request_id");
    if (json_is_none(request)) {
        Error cause = err;
        error_set(&err, ERR_USAGE, "The line is not JSON: %s.", cause.msg);
    }
    if (json_is_none(request) || !check_call(request, &err)) {
        console_say_error(t, asked, NULL, &err);
        json_unref(request);
        return;
    }
    char *operation = console_text_of(field_get(request, "call"));
    Json args = field_get(request, "args");
    Duty duty = {.goes = operation && words_operation_goes(operation) &&
                         json_tag(field_get(request, "wait")) != JSON_TAG_FALSE};
    console_order(t, asked, operation ? operation : "",
                  json_is_none(args) ? json_object() : json_ref(args), duty, NULL);
    mem_free(operation);
    json_unref(request);
}

static bool is_call(const Console *t, const char *line, size_t len) {
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

void console_do_line(Console *t, const char *line, size_t len) {
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
