#include "command_reader.h"

#include "json_parse.h"

#include <string.h>

/* ---- pieces ---- */

bool word_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

bool word_is_digit(char c) {
    return c >= '0' && c <= '9';
}

Piece piece_between(const char *from, const char *to) {
    while (from < to && word_is_blank(*from)) {
        from++;
    }
    while (to > from && word_is_blank(to[-1])) {
        to--;
    }
    return (Piece){from, (size_t)(to - from)};
}

bool piece_is(Piece p, const char *word) {
    return p.len == strlen(word) && memcmp(p.text, word, p.len) == 0;
}

enum { NUMBER_DIGITS = 15 };

bool piece_number(Piece p, int64_t *number) {
    *number = 0;
    for (size_t i = 0; i < p.len && i < NUMBER_DIGITS; i++) {
        if (!word_is_digit(p.text[i])) {
            return false;
        }
        *number = *number * 10 + (p.text[i] - '0');
    }
    return p.len > 0 && p.len <= NUMBER_DIGITS;
}

bool piece_checkpoint(Piece p, bool bare, int64_t *number) {
    if (p.len && p.text[0] == '@') {
        return piece_number((Piece){p.text + 1, p.len - 1}, number);
    }
    return bare && piece_number(p, number);
}

Json piece_json(Piece p) {
    return json_string(p.text, p.len);
}

Json piece_value(Piece p, Error *err) {
    return json_parse(p.text, p.len, NULL, err);
}

bool piece_refuse_value(Piece p, Error *why, Error *err) {
    size_t len = strlen(why->msg);
    if (len && why->msg[len - 1] == '.') {
        why->msg[len - 1] = '\0';
    }
    return error_set(err, ERR_USAGE,
                     "`%.*s` is not JSON (%s); a string is written with its quotes, as \"text\".",
                     QUOTED(p), why->msg);
}

/* ---- taking ---- */

void reader_skip_blanks(WordReader *r) {
    while (r->at < r->end && word_is_blank(*r->at)) {
        r->at++;
    }
}

bool reader_at_end(WordReader *r) {
    reader_skip_blanks(r);
    return r->at == r->end;
}

Piece reader_peek(WordReader *r) {
    reader_skip_blanks(r);
    const char *end = r->at;
    while (end < r->end && !word_is_blank(*end)) {
        end++;
    }
    return (Piece){r->at, (size_t)(end - r->at)};
}

Piece reader_next(WordReader *r) {
    Piece word = reader_peek(r);
    r->at += word.len;
    return word;
}

Piece reader_rest(WordReader *r) {
    reader_skip_blanks(r);
    Piece rest = {r->at, (size_t)(r->end - r->at)};
    r->at = r->end;
    return rest;
}

bool reader_takes(WordReader *r, const char *word) {
    Piece next = reader_peek(r);
    bool taken = piece_is(next, word);
    r->at += taken ? next.len : 0;
    return taken;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

Piece reader_name(WordReader *r) {
    reader_skip_blanks(r);
    const char *end = r->at;
    while (end < r->end && is_letter(*end)) {
        end++;
    }
    if (end == r->at) {
        return reader_peek(r);
    }
    return (Piece){r->at, (size_t)(end - r->at)};
}

/* ---- demands ---- */

bool reader_lacks(WordReader *r, const char *what, Error *err) {
    return error_set(err, ERR_USAGE, "`%s` takes %s.", r->word->name, what);
}

bool reader_number(WordReader *r, const char *what, int64_t *number, Error *err) {
    if (reader_at_end(r)) {
        return reader_lacks(r, what, err);
    }
    Piece p = reader_next(r);
    return piece_number(p, number) ||
           error_set(err, ERR_USAGE, "`%s` takes %s, not `%.*s`.", r->word->name, what, QUOTED(p));
}

static bool refuse_rest(WordReader *r, Error *err) {
    Piece rest = reader_rest(r);
    return error_set(err, ERR_USAGE, "`%s` takes nothing more: `%.*s` is too much.", r->word->name,
                     QUOTED(rest));
}

bool reader_ends(WordReader *r, Error *err) {
    return reader_at_end(r) || refuse_rest(r, err);
}

/* ---- what comes of it ---- */

void order_put(Order *o, const char *key, Json value) {
    o->args = json_object_with(o->args, key, value);
}

void order_put_number(Order *o, const char *key, int64_t number) {
    order_put(o, key, json_int(number));
}
