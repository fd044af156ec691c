/* dap_console.c - the client's console: commands of the debugger's prompt, and what could be typed there.
 *
 * What is typed into it is jq, unless it begins with the whole name of a command (or one of its aliases) and a blank: then it is
 * what that means at the prompt of `pawl debug` (console/commands.h), about the thread that the client looks at. So what
 * the protocol has no request for can be done all the same: skip, retry, answer, inject, continue while. */
#include "dap_inside.h"

#include "commands.h"
#include "mem.h"
#include "operation.h"
#include "utf8.h"
#include "way_out.h"

/* ---- commands ---- */

enum { HELP_WIDTH = 100 };

/* The command that a line begins with; NULL: it is jq. */
static const ConsoleCommand *command_of(const char *line, size_t len) {
    const char *end = line + len, *at = line;
    while (at < end && char_is_blank(*at)) at++;
    const char *stop = at;
    while (stop < end && !char_is_blank(*stop)) stop++;
    const ConsoleCommand *found = commands_find(at, (size_t)(stop - at), NULL);
    if (!found || at == stop) return NULL;
    Span word = {at, (size_t)(stop - at)};
    bool whole = span_is(word, found->name);
    for (const char *alias = found->aliases; *alias && !whole;) {
        size_t n = strcspn(alias, " ");
        whole = n == word.len && !memcmp(alias, word.text, n);
        alias += n + (alias[n] == ' ');
    }
    return whole ? found : NULL;
}

static bool takes_frame(const char *operation) {
    const Operation *op = operation_find(operation, NULL);
    for (const OperationArg *a = op ? op->args : NULL; a && a->name; a++) {
        if (!strcmp(a->name, "frame")) return true;
    }
    return false;
}

/* Lines without the last end. Clears the text. */
static Json result_json(Buf *text) {
    while (text->len && text->data[text->len - 1] == '\n') text->len--;
    Json out = json_string(text->data ? text->data : "", text->len);
    buf_clear(text);
    return OBJECT(KEY("result", out), KEY("variablesReference", json_int(0)));
}

static void answer_text(DapCall *call, Buf *text) {
    dap_answer(call, result_json(text));
}

/* The answer, as the prompt shows it. call->kept: the line was read from there once. */
static void on_obeyed(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    Order order = {0};
    Buf text = BUF_INIT;
    Json line = json_object_get_c(call->args, "expression");
    CommandContext context = {.file = sources_main(dap->sources)};
    if (json_is_none(answer)) {
        say_error(&text, &call->err, &(Speaker){0});
        dap_fail_with(call, "%s", text.data);
        buf_clear(&text);
        return;
    }
    bool read =
        commands_read(&context, json_string_data(&line), json_string_len(line), &order, NULL);
    View view = {.out = &text, .args = order.args};
    if (read && order.view) order.view(&view, answer);
    bool moves = read && order.operation &&
                 (!strcmp(order.operation, "back") || !strcmp(order.operation, "goto") ||
                  !strcmp(order.operation, "reverse_continue"));
    order_clear(&order);
    if (moves) {
        call->kept = result_json(&text);
        dap_moved(call, answer, NULL);
    } else {
        answer_text(call, &text);
    }
    json_unref(answer);
}

/* What the prompt does itself makes sense there alone, but for help. */
static void act_here(DapCall *call, const Order *order) {
    Buf text = BUF_INIT;
    const char *name = order->command->name;
    if (strcmp(name, "help") != 0) {
        dap_fail_with(call, "`%s` is for the prompt of the debugger; an editor has its own ways.",
                      name);
        return;
    }
    const ConsoleCommand *about =
        order->text ? commands_find(order->text, strlen(order->text), NULL) : NULL;
    if (about) {
        commands_explain(about, HELP_WIDTH, &text);
    } else {
        commands_help(HELP_WIDTH, &text);
    }
    answer_text(call, &text);
}

bool dap_console(DapCall *call) {
    Dap *dap = call->dap;
    Error err = ERROR_INIT;
    Handle level;
    Json line = json_object_get_c(call->args, "expression");
    const char *text = json_string_data(&line);
    if (!json_string_is(json_object_get_c(call->args, "context"), "repl")) return false;
    const ConsoleCommand *command = command_of(text, json_string_len(line));
    if (!command) return false;
    if (!strcmp(command->name, "print") && !strchr(text, '@')) return dap_print(call, text);
    CommandContext context = {.file = sources_main(dap->sources)};
    Order order = {0};
    if (!commands_read(&context, text, json_string_len(line), &order, &err)) {
        Buf sentence = BUF_INIT;
        buf_printf(&sentence, "%s ", err.msg);
        commands_usage(command, &sentence);
        dap_fail_with(call, "%.*s", (int)(sentence.len - 1), sentence.data);
        buf_clear(&sentence);
    } else if (!order.operation) {
        act_here(call, &order);
    } else if (order.text) {
        dap_fail_with(call, "`%s` with a file is for the prompt of the debugger.", command->name);
    } else if (dap_level(call, &level)) {
        bool frame = takes_frame(order.operation) && level.thread &&
                     dap_thread(dap, level.thread) &&
                     json_is_none(json_object_get_c(order.args, "frame")) &&
                     json_is_none(json_object_get_c(order.args, "checkpoint"));
        Json args = OBJECT_ADD(json_ref(order.args),
                               KEY("frame", frame ? json_int(level.thread) : json_none()));
        dap_try(call, order.operation, args, on_obeyed);
    }
    order_clear(&order);
    return true;
}

/* ---- completions ---- */

/* What stands where in the text that the client completes. */
typedef struct Typed {
    const char *line; /* the one with the cursor */
    size_t len, cursor;
} Typed;

/* From line and column of the request. The text is borrowed from `text`. */
static Typed typed_of(const DapCall *call, const Json *text) {
    const Dap *dap = call->dap;
    const char *at = json_string_data(text), *end = at + json_string_len(*text);
    int64_t line = dap_int(call->args, "line", 1 - dap->client.lines_at_0) + dap->client.lines_at_0;
    int64_t column = dap_int(call->args, "column", 1) + dap->client.columns_at_0;
    for (const char *next; line > 1 && (next = memchr(at, '\n', (size_t)(end - at))); line--) {
        at = next + 1;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t len = (size_t)((stop ? stop : end) - at);
    size_t units = column > 1 ? (size_t)column - 1 : 0;
    return (Typed){at, len, utf16_bytes(at, len, units)};
}

/* One item; from, to: bytes of the line that it replaces. */
static Json item_json(const Dap *dap, const Typed *typed, Json text, const char *kind, Json detail,
                      size_t from) {
    static const char *const types[][2] = {{"field", "field"},       {"function", "function"},
                                           {"variable", "variable"}, {"node", "class"},
                                           {"keyword", "keyword"},   {"command", "keyword"}};
    const char *type = NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (kind && !strcmp(kind, types[i][0])) type = types[i][1];
    }
    int64_t start = (int64_t)utf16_units(typed->line, from) + 1 - dap->client.columns_at_0;
    size_t length = utf16_units(typed->line + from, typed->cursor - from);
    return OBJECT(KEY("label", json_ref(text)), KEY("type", type),
                  KEY("detail", json_kind(detail) == JSON_STRING ? json_ref(detail) : json_none()),
                  KEY("start", start), KEY("length", length));
}

static Json add_word(const Dap *dap, const Typed *typed, Json list, const char *word, size_t from,
                     Json detail) {
    size_t len = typed->cursor - from;
    if (strncmp(word, typed->line + from, len) != 0) return list;
    Json text = json_string_c(word);
    list = json_array_push(list, item_json(dap, typed, text, "command", detail, from));
    json_unref(text);
    return list;
}

/* Names of commands, or the words that one of them takes; parted by blanks. */
static Json words_json(const Dap *dap, const Typed *typed, Completion c) {
    Json list = json_array();
    const ConsoleCommand *command;
    for (size_t i = 0; c.offers == OFFERS_COMMAND && (command = commands_at(i)); i++) {
        Json detail = json_string_c(command->summary);
        list = add_word(dap, typed, list, command->name, c.from, detail);
        json_unref(detail);
    }
    for (const char *at = c.offers == OFFERS_WORDS ? c.words : NULL; at && *at;) {
        size_t n = strcspn(at, " ");
        char *word = mem_strndup(at, n);
        list = add_word(dap, typed, list, word, c.from, json_none());
        mem_free(word);
        at += n + (at[n] == ' ');
    }
    return list;
}

/* call->list: the words; call->at: where in the line what was asked about begins. */
static void on_completed(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    Json text = json_object_get_c(call->args, "text"), items = json_object_get_c(answer, "items");
    Typed typed = typed_of(call, &text);
    Json list = json_take(&call->list);
    for (size_t i = 0; i < json_array_len(items); i++) {
        Json item = json_array_get(items, i);
        int64_t from = dap_int(item, "from", 0) + (int64_t)call->at;
        if (from < 0 || (size_t)from > typed.cursor) continue;
        list = json_array_push(list, item_json(dap, &typed, json_object_get_c(item, "text"),
                                               json_object_text(item, "kind"),
                                               json_object_get_c(item, "detail"), (size_t)from));
    }
    json_unref(answer);
    dap_answer(call, OBJECT(KEY("targets", list)));
}

void dap_completions(DapCall *call) {
    static const char *const kinds_of[] = {
        [OFFERS_NODE] = "node", [OFFERS_BREAK] = "node",    [OFFERS_EXPRESSION] = "expression",
        [OFFERS_PATH] = "path", [OFFERS_CONFIG] = "config", [OFFERS_FRAME] = NULL};
    Handle level;
    if (!dap_level(call, &level)) return;
    Json text = json_object_get_c(call->args, "text");
    Typed typed = typed_of(call, &text);
    bool command = command_of(typed.line, typed.len) != NULL;
    Completion c = commands_completion(typed.line, typed.cursor);
    if (!command && c.offers != OFFERS_COMMAND) c = (Completion){OFFERS_EXPRESSION, 0, NULL};
    call->list = words_json(call->dap, &typed, c);
    const char *what = c.offers == OFFERS_COMMAND ? "expression" : kinds_of[c.offers];
    if (!what) {
        dap_answer(call, OBJECT(KEY("targets", json_take(&call->list))));
        return;
    }
    call->at = c.from;
    Json typed_text = json_string(typed.line + c.from, typed.cursor - c.from);
    bool there = level.frame && dap_thread(call->dap, level.frame);
    dap_try(call, "complete",
            OBJECT(KEY("text", typed_text), KEY("what", what),
                   KEY("frame", there ? json_int(level.frame) : json_none())),
            on_completed);
}
