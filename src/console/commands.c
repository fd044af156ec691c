#include "commands.h"

#include "command_reader.h"
#include "json_parse.h"
#include "mem.h"
#include "suggest.h"
#include "terminal.h"

#include <string.h>

/* ---- all of them ---- */

static const struct CommandGroup {
    const char *title; /* NULL: of the group before */
    const ConsoleCommand *commands;
} groups[] = {
    {"Breakpoints and watches", breakpoint_commands},
    {"Running", running_commands},
    {"Looking", state_commands},
    {NULL, frame_commands},
    {"Changing", changing_commands},
    {"The session", session_commands},
};
enum { COMMAND_GROUPS = sizeof groups / sizeof groups[0] };

const ConsoleCommand *commands_at(size_t i) {
    for (size_t g = 0; g < COMMAND_GROUPS; g++) {
        for (const ConsoleCommand *c = groups[g].commands; c->name; c++) {
            if (i-- == 0) {
                return c;
            }
        }
    }
    return NULL;
}

/* ---- finding ---- */

static bool is_among(const char *words, Span s) {
    for (size_t n; (n = strcspn(words, " ")); words += n + (words[n] == ' ')) {
        if (n == s.len && memcmp(words, s.text, n) == 0) {
            return true;
        }
    }
    return false;
}

const ConsoleCommand *commands_find(const char *name, size_t len, Error *err) {
    Span s = {name, len};
    const ConsoleCommand *c, *found = NULL;
    Suggestion nearest = suggestion_for(name, len);
    Buf names = BUF_INIT;
    size_t n = 0;
    for (size_t i = 0; (c = commands_at(i)); i++) {
        if (span_is(s, c->name) || is_among(c->aliases, s)) {
            buf_clear(&names);
            return c;
        }
        suggestion_offer(&nearest, c->name);
        if (span_begins(s, c->name)) {
            buf_printf(&names, "%s%s", n++ ? ", " : "", c->name);
            found = c;
        }
    }
    if (n > 1) {
        error_set(err, ERR_USAGE, "`%.*s` may be one of %s.", QUOTED(s), names.data);
    } else if (n == 0 && nearest.best) {
        error_set(err, ERR_USAGE, "There is no command `%.*s`; did you mean `%s`?", QUOTED(s),
                  nearest.best);
    } else if (n == 0) {
        error_set(err, ERR_USAGE, "There is no command `%.*s`; `help` lists them.", QUOTED(s));
    }
    buf_clear(&names);
    return n == 1 ? found : NULL;
}

CommandView *commands_view(const char *operation) {
    CommandView *view = view_value;
    const ConsoleCommand *c;
    for (const InfoSubject *s = info_subjects; s->name; s++) {
        view = strcmp(s->operation, operation) == 0 ? s->view : view;
    }
    for (size_t i = 0; (c = commands_at(i)); i++) {
        view = c->operation && strcmp(c->operation, operation) == 0 ? c->view : view;
    }
    return view;
}

bool commands_operation_goes(const char *operation) {
    const ConsoleCommand *c;
    for (size_t i = 0; (c = commands_at(i)); i++) {
        if ((c->flags & COMMAND_GOES) && c->operation && !strcmp(c->operation, operation)) {
            return true;
        }
    }
    return false;
}

/* ---- lines ---- */

bool commands_read(const CommandContext *context, const char *line, size_t len, Order *order,
                   Error *err) {
    Span text = span_between(line, line + len);
    CommandReader r = {context, order, err, text.text, text.text + text.len};
    *order = (Order){.line = line, .len = len, .args = json_object(), .id = json_none()};
    if (!text.len || text.text[0] == '#') {
        return true;
    }
    Span name = reader_name(&r);
    if (name.text[0] == '.') {
        name = (Span){"print", 5};
    } else {
        r.at += name.len;
        name = span_is(name, "?") ? (Span){"help", 4} : name;
    }
    order->command = commands_find(name.text, name.len, err);
    if (!order->command) {
        return false;
    }
    order->operation = order->command->operation;
    order->view = order->command->view;
    order->flags = order->command->flags;
    if (order->command->args) {
        json_unref(order->args);
        order->args = json_parse(order->command->args, strlen(order->command->args), NULL, NULL);
    }
    return order->command->read ? order->command->read(&r) : reader_ends(&r);
}

void order_clear(Order *order) {
    json_clear(&order->args);
    json_clear(&order->id);
    mem_free(order->text);
    *order = (Order){0};
}

/* ---- help ---- */

void commands_usage(const ConsoleCommand *command, Buf *out) {
    buf_printf(out, "Usage: %s%s%s\n", command->name, command->arguments[0] ? " " : "",
               command->arguments);
}

void commands_help(int width, Buf *out) {
    enum { NAME_WIDTH = 18 };
    for (size_t g = 0; g < COMMAND_GROUPS; g++) {
        if (groups[g].title) {
            buf_printf(out, "%s%s:\n", g ? "\n" : "", groups[g].title);
        }
        for (const ConsoleCommand *c = groups[g].commands; c->name; c++) {
            buf_printf(out, "  %-*s%s\n", NAME_WIDTH, c->name, c->summary);
        }
    }
    buf_addc(out, '\n');
    terminal_wrap(
        "A command may be cut short as long as it can be told from the others. An empty line "
        "steps or lists again. `help COMMAND` explains one.",
        0, width, out);
}

void commands_explain(const ConsoleCommand *command, int width, Buf *out) {
    Buf text = BUF_INIT;
    commands_usage(command, out);
    buf_printf(&text, "%c%s.%s%s", command->summary[0] - 'a' + 'A', command->summary + 1,
               command->details ? " " : "", command->details ? command->details : "");
    terminal_wrap(text.data, 0, width, out);
    buf_clear(&text);
    if (command->aliases[0]) {
        buf_adds(out, "Also: ");
        for (const char *c = command->aliases; *c; c++) {
            buf_add(out, *c == ' ' ? ", " : c, *c == ' ' ? 2 : 1);
        }
        buf_addc(out, '\n');
    }
    if (command->example) {
        buf_printf(out, "Example: %s\n", command->example);
    }
}

/* ---- completion ---- */

/* Behind the word `if`; NULL: there is none. */
static const char *find_if(const char *text, const char *end) {
    for (const char *at = text; at + 3 <= end; at++) {
        bool begins = at == text || char_is_blank(at[-1]);
        if (begins && at[0] == 'i' && at[1] == 'f' && char_is_blank(at[2])) {
            return at + 3;
        }
    }
    return NULL;
}

static bool has_blank(const char *at, const char *end) {
    while (at < end && !char_is_blank(*at)) {
        at++;
    }
    return at < end;
}

Completion commands_completion(const char *line, size_t cursor) {
    CommandReader r = {.at = line, .end = line + cursor};
    Span name = reader_at_end(&r) ? (Span){r.at, 0} : reader_name(&r);
    size_t from = (size_t)(name.text - line);
    if (name.len && name.text[0] == '.') {
        return (Completion){OFFERS_EXPRESSION, from, NULL};
    }
    if (name.text + name.len == r.end) {
        return (Completion){OFFERS_COMMAND, from, NULL};
    }
    const ConsoleCommand *c = commands_find(name.text, name.len, NULL);
    r.at += name.len;
    reader_at_end(&r);
    Completion out = {c ? c->offers : OFFERS_NOTHING, (size_t)(r.at - line), c ? c->words : NULL};
    const char *condition = find_if(r.at, r.end);
    if (out.offers == OFFERS_NODE && condition) {
        out = (Completion){OFFERS_EXPRESSION, (size_t)(condition - line), NULL};
    } else if (out.offers == OFFERS_PATH && memchr(r.at, '=', (size_t)(r.end - r.at))) {
        out.offers = OFFERS_NOTHING; /* a value */
    } else if (out.words && !strcmp(c->name, "config") && r.end - r.at > 4 &&
               !memcmp(r.at, "set ", 4)) {
        out = (Completion){OFFERS_PATH, out.from + 4, NULL};
    } else if (out.words) {
        out.offers = has_blank(r.at, r.end) ? OFFERS_NOTHING : OFFERS_WORDS;
    }
    return out;
}
