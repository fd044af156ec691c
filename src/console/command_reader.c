#include "command_reader.h"

#include "json_parse.h"

#include <string.h>

/* ---- spans ---- */

bool char_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

bool char_is_digit(char c) {
    return c >= '0' && c <= '9';
}

Span span_between(const char *from, const char *to) {
    while (from < to && char_is_blank(*from)) {
        from++;
    }
    while (to > from && char_is_blank(to[-1])) {
        to--;
    }
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
        if (!char_is_digit(s.text[i])) {
            return false;
        }
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
    while (r->at < r->end && char_is_blank(*r->at)) {
        r->at++;
    }
    return r->at == r->end;
}

Span reader_peek(CommandReader *r) {
    reader_at_end(r);
    const char *end = r->at;
    while (end < r->end && !char_is_blank(*end)) {
        end++;
    }
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
    for (; n < word.len; n++) {
        char c = word.text[n];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_')) {
            break;
        }
    }
    return (Span){word.text, n ? n : word.len};
}

/* ---- demands ---- */

bool reader_lacks(CommandReader *r, const char *what) {
    return error_set(r->err, ERR_USAGE, "`%s` takes %s.", r->order->command->name, what);
}

bool reader_number(CommandReader *r, const char *what, int64_t *number) {
    if (reader_at_end(r)) {
        return reader_lacks(r, what);
    }
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
    if (!place.len) {
        return reader_lacks(r, "a node, or @ and a checkpoint");
    }
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
