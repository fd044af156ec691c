#include "commands.h"

#include "ascii.h"
#include "json_parse.h"
#include "mem.h"
#include "suggest.h"
#include "terminal.h"

#include <string.h>

/* ---- spans ---- */

bool char_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

Span span_between(const char *from, const char *to) {
    while (from < to && char_is_blank(*from)) from++;
    while (to > from && char_is_blank(to[-1])) to--;
    return (Span){from, (size_t)(to - from)};
}

bool span_begins(Span s, const char *word) {
    return s.len <= strlen(word) && memcmp(s.text, word, s.len) == 0;
}

bool span_is(Span s, const char *word) {
    return s.len == strlen(word) && span_begins(s, word);
}

bool span_number(Span s, int64_t *number) {
    enum { DIGITS_MAX = 15 };
    *number = 0;
    for (size_t i = 0; i < s.len && i < DIGITS_MAX; i++) {
        if (!ascii_is_digit(s.text[i])) return false;
        *number = *number * 10 + (s.text[i] - '0');
    }
    return s.len > 0 && s.len <= DIGITS_MAX;
}

bool span_checkpoint(Span s, bool bare, int64_t *number) {
    bool at = s.len && s.text[0] == '@';
    return at ? span_number((Span){s.text + 1, s.len - 1}, number) : bare && span_number(s, number);
}

Json span_string(Span s) {
    return json_string(s.text, s.len);
}

Json span_value(Span s, Error *err) {
    return json_parse(s.text, s.len, NULL, err);
}

/* ---- taking ---- */

bool reader_at_end(CommandReader *r) {
    while (r->at < r->end && char_is_blank(*r->at)) r->at++;
    return r->at == r->end;
}

Span reader_peek(CommandReader *r) {
    reader_at_end(r);
    const char *end = r->at;
    while (end < r->end && !char_is_blank(*end)) end++;
    return (Span){r->at, (size_t)(end - r->at)};
}

Span reader_next(CommandReader *r) {
    Span word = reader_peek(r);
    r->at += word.len;
    return word;
}

Span reader_rest(CommandReader *r) {
    reader_at_end(r);
    Span rest = {r->at, (size_t)(r->end - r->at)};
    r->at = r->end;
    return rest;
}

bool reader_takes(CommandReader *r, const char *word) {
    bool taken = span_is(reader_peek(r), word);
    r->at += taken ? strlen(word) : 0;
    return taken;
}

Span reader_name(CommandReader *r) {
    Span word = reader_peek(r);
    size_t n = 0;
    while (n < word.len &&
           (ascii_is_letter(word.text[n]) || word.text[n] == '-' || word.text[n] == '_')) {
        n++;
    }
    return (Span){word.text, n ? n : word.len};
}

/* ---- demands ---- */

bool reader_lacks(CommandReader *r, const char *what) {
    return error_set(r->err, ERR_USAGE, "`%s` takes %s.", r->order->command->name, what);
}

bool reader_number(CommandReader *r, const char *what, int64_t *number) {
    if (reader_at_end(r)) return reader_lacks(r, what);
    Span word = reader_next(r);
    return span_number(word, number) || error_set(r->err, ERR_USAGE, "`%s` takes %s, not `%.*s`.",
                                                  r->order->command->name, what, QUOTED(word));
}

bool reader_ends(CommandReader *r) {
    Span rest = reader_rest(r);
    return !rest.len || error_set(r->err, ERR_USAGE, "`%s` takes nothing more: `%.*s` is too much.",
                                  r->order->command->name, QUOTED(rest));
}

bool reader_no_value(CommandReader *r, Span s, const Error *why) {
    size_t len = strlen(why->msg);
    int shown = (int)(len && why->msg[len - 1] == '.' ? len - 1 : len);
    return error_set(r->err, ERR_USAGE,
                     "`%.*s` is not JSON (%.*s); a string is written with its quotes, as \"text\".",
                     QUOTED(s), shown, why->msg);
}

/* ---- arguments of the operation ---- */

bool reader_put(CommandReader *r, const char *key, Json value) {
    r->order->args = json_object_with(r->order->args, key, value);
    return true;
}

bool reader_put_number(CommandReader *r, const char *key, const char *what) {
    int64_t number;
    return reader_number(r, what, &number) && reader_put(r, key, json_int(number));
}

bool reader_put_rest(CommandReader *r, const char *key, const char *what) {
    Span rest = reader_rest(r);
    return rest.len ? reader_put(r, key, span_string(rest)) : reader_lacks(r, what);
}

/* ---- what several commands take ---- */

bool read_frame(CommandReader *r) {
    return reader_at_end(r) ||
           (reader_put_number(r, "frame", "the number of a frame") && reader_ends(r));
}

bool read_id_or_all(CommandReader *r) {
    bool all = reader_at_end(r) || reader_takes(r, "all");
    return (all ? reader_put(r, "all", json_bool(true)) : reader_put_number(r, "id", "a number")) &&
           reader_ends(r);
}

/* Keys in quotes may hold an equals sign: the first one with JSON behind it is the one. */
bool read_setting(CommandReader *r) {
    Span rest = reader_rest(r), refused = {0};
    Error why = ERROR_INIT;
    const char *end = rest.text + rest.len;
    for (const char *at = rest.text; (at = memchr(at, '=', (size_t)(end - at))); at++) {
        Span path = span_between(rest.text, at), text = span_between(at + 1, end);
        Error each = ERROR_INIT;
        Json value = path.len ? span_value(text, &each) : json_none();
        if (!json_is_none(value)) {
            return reader_put(r, "path", span_string(path)) && reader_put(r, "value", value);
        }
        if (path.len && !refused.text) {
            refused = text;
            why = each;
        }
    }
    return refused.len ? reader_no_value(r, refused, &why)
                       : reader_lacks(r, "a path, an equals sign and a value");
}

bool read_goto(CommandReader *r) {
    int64_t checkpoint;
    Span place = reader_rest(r);
    if (!place.len) return reader_lacks(r, "a node, or @ and a checkpoint");
    if (span_checkpoint(place, false, &checkpoint)) {
        return reader_put(r, "checkpoint", json_int(checkpoint));
    }
    if (place.text[0] == '@') {
        return error_set(r->err, ERR_USAGE,
                         "Behind the @ stands the number of a checkpoint, not `%.*s`.",
                         QUOTED(place));
    }
    return reader_put(r, "node", span_string(place));
}

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
            if (i-- == 0) return c;
        }
    }
    return NULL;
}

/* ---- finding ---- */

static bool is_among(const char *words, Span s) {
    for (size_t n; (n = strcspn(words, " ")); words += n + (words[n] == ' ')) {
        if (n == s.len && memcmp(words, s.text, n) == 0) return true;
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
    if (!text.len || text.text[0] == '#') return true;
    Span name = reader_name(&r);
    if (name.text[0] == '.') {
        name = (Span){"print", 5};
    } else {
        r.at += name.len;
        name = span_is(name, "?") ? (Span){"help", 4} : name;
    }
    order->command = commands_find(name.text, name.len, err);
    if (!order->command) return false;
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
        if (groups[g].title) buf_printf(out, "%s%s:\n", g ? "\n" : "", groups[g].title);
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
    if (command->example) buf_printf(out, "Example: %s\n", command->example);
}

/* ---- completion ---- */

/* Behind a word; NULL: there is none. */
static const char *find_word(const char *text, const char *end, const char *word) {
    size_t len = strlen(word);
    for (const char *at = text; at + len + 1 <= end; at++) {
        bool begins = at == text || char_is_blank(at[-1]);
        if (begins && !memcmp(at, word, len) && char_is_blank(at[len])) return at + len + 1;
    }
    return NULL;
}

static bool has_blank(const char *at, const char *end) {
    while (at < end && !char_is_blank(*at)) at++;
    return at < end;
}

/* NODE, NODE:after, changed:PATH, state:PATH=JSON. */
static Completion break_completion(const char *line, const CommandReader *r, Completion out) {
    static const char *const states[] = {"changed:", "state:"};
    size_t n = (size_t)(r->end - r->at);
    const char *colon = memchr(r->at, ':', n);
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(states[i]);
        if (n >= len && !memcmp(r->at, states[i], len)) {
            return (Completion){memchr(r->at, '=', n) ? OFFERS_NOTHING : OFFERS_PATH,
                                out.from + len, NULL};
        }
    }
    return colon ? (Completion){OFFERS_WORDS, (size_t)(colon + 1 - line), "after before error"}
                 : out;
}

Json commands_offered(Json found, const char *typed, size_t len, size_t *from) {
    int64_t place = (int64_t)len;
    Json seen = json_object(), out = json_array();
    for (size_t i = 0; i < json_array_len(found); i++) {
        int64_t at = field_number(json_array_get(found, i), "from", place);
        place = at >= 0 && at < place ? at : place;
    }
    for (size_t i = 0; i < json_array_len(found); i++) {
        Json item = json_array_get(found, i), text = field_get(item, "text");
        int64_t at = field_number(item, "from", -1);
        if (at < place || at > (int64_t)len || !field_is_text(text)) continue;
        Json whole = json_string(typed + place, (size_t)(at - place));
        whole = json_string_append(whole, json_string_data(&text), json_string_len(text));
        if (json_is_none(json_object_get(seen, whole))) out = json_array_push(out, json_ref(whole));
        seen = json_object_set(seen, whole, json_null());
    }
    json_unref(seen);
    *from = (size_t)place;
    return out;
}

Completion commands_completion(const char *line, size_t cursor) {
    CommandReader r = {.at = line, .end = line + cursor};
    Span name = reader_at_end(&r) ? (Span){r.at, 0} : reader_name(&r);
    size_t from = (size_t)(name.text - line);
    if (name.len && name.text[0] == '.') return (Completion){OFFERS_EXPRESSION, from, NULL};
    if (name.text + name.len == r.end) return (Completion){OFFERS_COMMAND, from, NULL};
    const ConsoleCommand *c = commands_find(name.text, name.len, NULL);
    r.at += name.len;
    reader_at_end(&r);
    Completion out = {c ? c->offers : OFFERS_NOTHING, (size_t)(r.at - line), c ? c->words : NULL};
    bool runs = out.offers == OFFERS_FRAME;
    const char *condition = find_word(r.at, r.end, runs ? "while" : "if");
    bool value = memchr(r.at, '=', (size_t)(r.end - r.at));
    if ((out.offers == OFFERS_NODE || out.offers == OFFERS_BREAK || runs) && condition) {
        out = (Completion){OFFERS_EXPRESSION, (size_t)(condition - line), NULL};
    } else if (out.offers == OFFERS_BREAK) {
        out = break_completion(line, &r, out);
    } else if (out.offers == OFFERS_PATH && value) {
        out.offers = OFFERS_NOTHING;
    } else if (out.words && !strcmp(c->name, "config") && r.end - r.at >= 4 &&
               !memcmp(r.at, "set ", 4)) {
        out = (Completion){value ? OFFERS_NOTHING : OFFERS_CONFIG, out.from + 4, NULL};
    } else if (out.words && out.offers == OFFERS_NOTHING) {
        out.offers = has_blank(r.at, r.end) ? OFFERS_NOTHING : OFFERS_WORDS;
    }
    return out;
}
