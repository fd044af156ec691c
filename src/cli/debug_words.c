#include "debug_words.h"

#include "breakpoint.h"
#include "flow.h"
#include "json_parse.h"
#include "mem.h"
#include "suggest.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading words ---- */

struct WordReader {
    const WordContext *context;
    const Word *word;
    const char *at, *end; /* what is left of the line, without blanks at its end */
};

/* A part of the line. */
typedef struct Piece {
    const char *text;
    size_t len;
} Piece;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static void skip_blanks(WordReader *r) {
    while (r->at < r->end && is_blank(*r->at)) {
        r->at++;
    }
}

static bool at_end(WordReader *r) {
    skip_blanks(r);
    return r->at == r->end;
}

static Piece peek_word(WordReader *r) {
    skip_blanks(r);
    const char *end = r->at;
    while (end < r->end && !is_blank(*end)) {
        end++;
    }
    return (Piece){r->at, (size_t)(end - r->at)};
}

static Piece next_word(WordReader *r) {
    Piece word = peek_word(r);
    r->at += word.len;
    return word;
}

static Piece take_rest(WordReader *r) {
    skip_blanks(r);
    Piece rest = {r->at, (size_t)(r->end - r->at)};
    r->at = r->end;
    return rest;
}

static bool piece_is(Piece p, const char *word) {
    return p.len == strlen(word) && memcmp(p.text, word, p.len) == 0;
}

static bool take_if(WordReader *r, const char *word) {
    Piece next = peek_word(r);
    bool taken = piece_is(next, word);
    r->at += taken ? next.len : 0;
    return taken;
}

static Json piece_json(Piece p) {
    return json_string(p.text, p.len);
}

/* For sentences: at most so much of it. */
enum { QUOTE_MAX = 60 };
#define QUOTED(p) (int)((p).len > QUOTE_MAX ? QUOTE_MAX : (p).len), (p).text

static bool refuse_rest(WordReader *r, Error *err) {
    Piece rest = take_rest(r);
    return error_set(err, ERR_USAGE, "`%s` takes nothing more: `%.*s` is too much.", r->word->name,
                     QUOTED(rest));
}

static bool ends_here(WordReader *r, Error *err) {
    return at_end(r) || refuse_rest(r, err);
}

static bool lacks(WordReader *r, const char *what, Error *err) {
    return error_set(err, ERR_USAGE, "`%s` takes %s.", r->word->name, what);
}

/* ---- numbers, values, expressions ---- */

enum { NUMBER_DIGITS = 15 };

static bool piece_number(Piece p, int64_t *number) {
    *number = 0;
    for (size_t i = 0; i < p.len && i < NUMBER_DIGITS; i++) {
        if (!is_digit(p.text[i])) {
            return false;
        }
        *number = *number * 10 + (p.text[i] - '0');
    }
    return p.len > 0 && p.len <= NUMBER_DIGITS;
}

/* what: "the number of a breakpoint". */
static bool need_number(WordReader *r, const char *what, int64_t *number, Error *err) {
    if (at_end(r)) {
        return lacks(r, what, err);
    }
    Piece p = next_word(r);
    return piece_number(p, number) ||
           error_set(err, ERR_USAGE, "`%s` takes %s, not `%.*s`.", r->word->name, what, QUOTED(p));
}

/* @12, or 12 where bare is allowed. */
static bool piece_checkpoint(Piece p, bool bare, int64_t *number) {
    if (p.len && p.text[0] == '@') {
        return piece_number((Piece){p.text + 1, p.len - 1}, number);
    }
    return bare && piece_number(p, number);
}

static void put(Order *o, const char *key, Json value) {
    o->args = json_object_with(o->args, key, value);
}

static void put_number(Order *o, const char *key, int64_t number) {
    put(o, key, json_int(number));
}

/* JSON_NONE when it is none. */
static Json piece_value(Piece p, Error *err) {
    return json_parse(p.text, p.len, NULL, err);
}

static bool refuse_value(Piece p, Error *why, Error *err) {
    size_t len = strlen(why->msg);
    if (len && why->msg[len - 1] == '.') {
        why->msg[len - 1] = '\0';
    }
    return error_set(err, ERR_USAGE,
                     "`%.*s` is not JSON (%s); a string is written with its quotes, as \"text\".",
                     QUOTED(p), why->msg);
}

static Piece trimmed(const char *from, const char *to) {
    while (from < to && is_blank(*from)) {
        from++;
    }
    while (to > from && is_blank(to[-1])) {
        to--;
    }
    return (Piece){from, (size_t)(to - from)};
}

/* PATH = JSON. Keys in quotes may hold an equals sign: the first one with JSON behind it is the
 * one. */
static bool read_setting(WordReader *r, Order *o, Error *err) {
    Piece rest = take_rest(r);
    Error why = ERROR_INIT;
    Piece refused = {0};
    const char *end = rest.text + rest.len;
    for (const char *at = rest.text; (at = memchr(at, '=', (size_t)(end - at))); at++) {
        Piece path = trimmed(rest.text, at), text = trimmed(at + 1, end);
        Error each = ERROR_INIT;
        Json value = path.len ? piece_value(text, &each) : json_none();
        if (!json_is_none(value)) {
            put(o, "path", piece_json(path));
            put(o, "value", value);
            return true;
        }
        if (path.len && !refused.text) {
            refused = text;
            why = each;
        }
    }
    if (refused.text && refused.len) {
        return refuse_value(refused, &why, err);
    }
    return lacks(r, "a path, an equals sign and a value", err);
}

/* ---- breakpoints ---- */

/* "12" and "12 if .x": of the main file. */
static bool is_line(Piece p) {
    size_t n = 0;
    while (n < p.len && is_digit(p.text[n])) {
        n++;
    }
    return n && (n == p.len || is_blank(p.text[n]));
}

Json words_break(const WordContext *context, const char *text, size_t len, Error *err) {
    Buf spec = BUF_INIT;
    Json fields = json_none();
    bool line = is_line((Piece){text, len});
    if (!len || memchr(text, '\0', len)) {
        error_set(err, ERR_USAGE, "That is no place to stop at.");
    } else if (line && !context->file) {
        error_set(err, ERR_USAGE, "Of which file? The place is FILE:LINE.");
    } else {
        buf_printf(&spec, "%s%s%.*s", line ? context->file : "", line ? ":" : "", (int)len, text);
        fields = breakpoint_parse(spec.data, err);
    }
    buf_clear(&spec);
    return fields;
}

static bool read_break(WordReader *r, Order *o, Error *err) {
    Piece spec = take_rest(r);
    if (!spec.len) {
        return lacks(r, "a place, a condition or both", err);
    }
    Json fields = words_break(r->context, spec.text, spec.len, err);
    if (json_is_none(fields)) {
        return false;
    }
    json_unref(o->args);
    o->args = fields;
    return true;
}

static bool read_tbreak(WordReader *r, Order *o, Error *err) {
    if (!read_break(r, o, err)) {
        return false;
    }
    put(o, "once", json_bool(true));
    return true;
}

/* A name with blanks in it stands in quotes. */
static bool take_place(WordReader *r, Buf *out, Error *err) {
    if (at_end(r) || *r->at != '"') {
        Piece word = next_word(r);
        buf_add(out, word.text, word.len);
        return true;
    }
    const char *close = memchr(r->at + 1, '"', (size_t)(r->end - r->at - 1));
    if (!close) {
        return error_set(err, ERR_USAGE, "The quote before the name is not closed.");
    }
    buf_add(out, r->at + 1, (size_t)(close - r->at - 1));
    r->at = close + 1;
    return true;
}

static bool read_logpoint(WordReader *r, Order *o, Error *err) {
    Buf place = BUF_INIT;
    Json fields = json_none();
    bool ok = take_place(r, &place, err);
    Piece text = take_rest(r);
    if (ok && (!place.len || !text.len)) {
        ok = lacks(r, "a place and the text to write there", err);
    }
    if (ok) {
        fields = words_break(r->context, place.data, place.len, err);
    }
    buf_clear(&place);
    if (json_is_none(fields)) {
        return false;
    }
    json_unref(o->args);
    o->args = json_object_with(fields, "log_message", piece_json(text));
    return true;
}

static bool read_catch(WordReader *r, Order *o, Error *err) {
    put(o, "type", json_string_c("exception"));
    if (!take_if(r, "error") && take_if(r, "caught")) {
        put(o, "caught", json_bool(true));
    }
    if (!take_if(r, "if")) {
        return ends_here(r, err);
    }
    Piece expr = take_rest(r);
    if (!expr.len) {
        return error_set(err, ERR_USAGE, "What is the condition? It stands behind `if`.");
    }
    put(o, "error", piece_json(expr));
    return true;
}

static bool read_breakpoint_id(WordReader *r, Order *o, Error *err) {
    int64_t id;
    if (!need_number(r, "the number of a breakpoint first", &id, err)) {
        return false;
    }
    put_number(o, "id", id);
    return true;
}

/* Text for a field; nothing takes it away. */
static bool read_field(WordReader *r, Order *o, const char *field, Error *err) {
    if (!read_breakpoint_id(r, o, err)) {
        return false;
    }
    Piece text = take_rest(r);
    put(o, field, text.len ? piece_json(text) : json_null());
    return true;
}

static bool read_condition(WordReader *r, Order *o, Error *err) {
    return read_field(r, o, "condition", err);
}

static bool read_hits(WordReader *r, Order *o, Error *err) {
    return read_field(r, o, "hit_condition", err);
}

static bool read_group(WordReader *r, Order *o, Error *err) {
    return read_field(r, o, "group", err);
}

static bool read_ignore(WordReader *r, Order *o, Error *err) {
    int64_t count;
    if (!read_breakpoint_id(r, o, err) ||
        !need_number(r, "how many hits to pass over", &count, err)) {
        return false;
    }
    put_number(o, "ignore_count", count);
    return ends_here(r, err);
}

static bool read_ids(WordReader *r, Order *o, Error *err) {
    Json ids = json_array();
    int64_t id;
    while (!at_end(r)) {
        if (!need_number(r, "numbers of breakpoints, or `group` and a name", &id, err)) {
            json_unref(ids);
            return false;
        }
        ids = json_array_push(ids, json_int(id));
    }
    put(o, "ids", ids);
    return true;
}

/* N... | group G | nothing: all. */
static bool read_selection(WordReader *r, Order *o, Error *err) {
    if (at_end(r) || take_if(r, "all")) {
        put(o, "all", json_bool(true));
        o->everything = true;
        return ends_here(r, err);
    }
    if (!take_if(r, "group")) {
        return read_ids(r, o, err);
    }
    Piece group = take_rest(r);
    if (!group.len) {
        return error_set(err, ERR_USAGE, "Which group? Its name stands behind `group`.");
    }
    put(o, "group", piece_json(group));
    return true;
}

static bool read_enable(WordReader *r, Order *o, Error *err) {
    put(o, "enabled", json_bool(true));
    return read_selection(r, o, err);
}

static bool read_disable(WordReader *r, Order *o, Error *err) {
    put(o, "enabled", json_bool(false));
    return read_selection(r, o, err);
}

static bool read_watch(WordReader *r, Order *o, Error *err) {
    Piece expr = take_rest(r);
    if (!expr.len) {
        o->operation = "watches";
        return true;
    }
    (void)err;
    put(o, "expression", piece_json(expr));
    return true;
}

/* N, or nothing for all of them. */
static bool read_id_or_all(WordReader *r, Order *o, Error *err) {
    int64_t id;
    if (at_end(r) || take_if(r, "all")) {
        put(o, "all", json_bool(true));
        return ends_here(r, err);
    }
    if (!need_number(r, "a number", &id, err)) {
        return false;
    }
    put_number(o, "id", id);
    return ends_here(r, err);
}

/* ---- running ---- */

static bool read_nothing(WordReader *r, Order *o, Error *err) {
    (void)o;
    return ends_here(r, err);
}

static bool read_frame_if_any(WordReader *r, Order *o, Error *err) {
    int64_t frame;
    if (at_end(r)) {
        return true;
    }
    if (!need_number(r, "the number of a frame", &frame, err)) {
        return false;
    }
    put_number(o, "frame", frame);
    return ends_here(r, err);
}

static bool read_frame_or_all(WordReader *r, Order *o, Error *err) {
    if (take_if(r, "all")) {
        put(o, "frame", json_string_c("all"));
        return ends_here(r, err);
    }
    return read_frame_if_any(r, o, err);
}

static bool read_next(WordReader *r, Order *o, Error *err) {
    put(o, "kind", json_string_c("over"));
    return read_frame_if_any(r, o, err);
}

static bool read_step(WordReader *r, Order *o, Error *err) {
    put(o, "kind", json_string_c("into"));
    return read_frame_if_any(r, o, err);
}

static bool read_finish(WordReader *r, Order *o, Error *err) {
    put(o, "kind", json_string_c("out"));
    return read_frame_if_any(r, o, err);
}

static bool read_back(WordReader *r, Order *o, Error *err) {
    int64_t count;
    if (at_end(r)) {
        return true;
    }
    if (!need_number(r, "how many steps", &count, err)) {
        return false;
    }
    if (count < 1) {
        return error_set(err, ERR_USAGE, "`back` takes at least one step.");
    }
    put_number(o, "count", count);
    return ends_here(r, err);
}

static bool read_skip(WordReader *r, Order *o, Error *err) {
    Piece text = take_rest(r);
    Error why = ERROR_INIT;
    if (!text.len) {
        return true;
    }
    Json output = piece_value(text, &why);
    if (json_is_none(output)) {
        return refuse_value(text, &why, err);
    }
    put(o, "output", output);
    return true;
}

static bool read_goto(WordReader *r, Order *o, Error *err) {
    int64_t checkpoint;
    Piece place = take_rest(r);
    if (!place.len) {
        return lacks(r, "a node, or @ and a checkpoint", err);
    }
    if (piece_checkpoint(place, false, &checkpoint)) {
        put_number(o, "checkpoint", checkpoint);
    } else if (place.text[0] == '@') {
        return error_set(err, ERR_USAGE,
                         "Behind the @ stands the number of a checkpoint, not `%.*s`.",
                         QUOTED(place));
    } else {
        put(o, "node", piece_json(place));
    }
    return true;
}

/* Interrupts are called i and a number. */
static bool is_interrupt(Piece p) {
    int64_t number;
    return p.len > 1 && p.text[0] == 'i' && piece_number((Piece){p.text + 1, p.len - 1}, &number);
}

static bool read_answer(WordReader *r, Order *o, Error *err) {
    if (is_interrupt(peek_word(r))) {
        put(o, "interrupt", piece_json(next_word(r)));
    }
    Piece text = take_rest(r);
    if (!text.len) {
        return true; /* some ask for nothing but to be let go */
    }
    Json value = piece_value(text, NULL);
    if (!json_is_none(value)) {
        put(o, "value", value);
        return true;
    }
    if (strchr("{[\"", text.text[0])) {
        Error why = ERROR_INIT;
        json_unref(piece_value(text, &why));
        return refuse_value(text, &why, err);
    }
    put(o, "decision", piece_json(text));
    return true;
}

/* ---- looking ---- */

/* @12 first: from the history. */
static void take_checkpoint(WordReader *r, Order *o) {
    int64_t number;
    Piece word = peek_word(r);
    if (piece_checkpoint(word, false, &number)) {
        r->at += word.len;
        put_number(o, "checkpoint", number);
    }
}

static bool read_print(WordReader *r, Order *o, Error *err) {
    take_checkpoint(r, o);
    Piece expr = take_rest(r);
    if (!expr.len) {
        return lacks(r, "an expression", err);
    }
    put(o, "expression", piece_json(expr));
    return true;
}

/* +100 at the end: from there on. */
static void take_offset(Piece *rest, Order *o) {
    int64_t offset;
    const char *word = rest->text + rest->len;
    while (word > rest->text && !is_blank(word[-1])) {
        word--;
    }
    size_t len = (size_t)(rest->text + rest->len - word);
    if (len > 1 && word[0] == '+' && piece_number((Piece){word + 1, len - 1}, &offset)) {
        put_number(o, "offset", offset);
        *rest = trimmed(rest->text, word);
    }
}

static bool read_state(WordReader *r, Order *o, Error *err) {
    (void)err;
    take_checkpoint(r, o);
    Piece rest = take_rest(r);
    take_offset(&rest, o);
    if (rest.len) {
        put(o, "path", piece_json(rest));
    }
    return true;
}

static bool read_summary(WordReader *r, Order *o, Error *err) {
    take_checkpoint(r, o);
    return ends_here(r, err);
}

static bool read_search(WordReader *r, Order *o, Error *err) {
    take_checkpoint(r, o);
    Piece text = take_rest(r);
    if (!text.len) {
        return lacks(r, "a text to look for", err);
    }
    put(o, "text", piece_json(text));
    return true;
}

static bool read_limit(WordReader *r, Order *o, Error *err) {
    int64_t limit;
    if (at_end(r)) {
        return true;
    }
    if (!need_number(r, "how many", &limit, err)) {
        return false;
    }
    put_number(o, "limit", limit ? limit : 1);
    return ends_here(r, err);
}

static bool is_since(Piece p) {
    return piece_is(p, "pause") || piece_is(p, "node") || piece_is(p, "start");
}

static bool read_diff(WordReader *r, Order *o, Error *err) {
    static const char *const ends[] = {"from", "to"};
    int64_t number;
    if (is_since(peek_word(r))) {
        put(o, "since", piece_json(next_word(r)));
        return ends_here(r, err);
    }
    for (size_t i = 0; i < 2 && !at_end(r); i++) {
        Piece p = next_word(r);
        if (!piece_checkpoint(p, true, &number)) {
            return error_set(err, ERR_USAGE,
                             "`diff` takes pause, node, start or two checkpoints, not `%.*s`.",
                             QUOTED(p));
        }
        put_number(o, ends[i], number);
    }
    return ends_here(r, err);
}

static bool read_config(WordReader *r, Order *o, Error *err) {
    if (take_if(r, "reset")) {
        o->operation = "config_reset";
        return ends_here(r, err);
    }
    if (take_if(r, "set")) {
        o->operation = "config_set";
        return read_setting(r, o, err);
    }
    return ends_here(r, err);
}

static bool read_history(WordReader *r, Order *o, Error *err) {
    int64_t limit;
    while (!at_end(r)) {
        Piece word = next_word(r);
        if (piece_is(word, "all")) {
            put(o, "all", json_bool(true));
        } else if (word.text[0] == '@' && piece_checkpoint(word, false, &limit)) {
            put_number(o, "before", limit);
        } else if (piece_number(word, &limit)) {
            put_number(o, "limit", limit ? limit : 1);
        } else {
            return error_set(err, ERR_USAGE,
                             "`history` takes a number, @ and a checkpoint, or `all`, not `%.*s`.",
                             QUOTED(word));
        }
    }
    return true;
}

static bool read_graph(WordReader *r, Order *o, Error *err) {
    static const char *const formats[] = {"mermaid", "dot", "json"};
    Piece format = next_word(r);
    for (size_t i = 0; i < 3; i++) {
        if (piece_is(format, formats[i])) {
            put(o, "format", json_string_c(formats[i]));
            return ends_here(r, err);
        }
    }
    return !format.len ||
           error_set(err, ERR_USAGE, "`graph` draws mermaid, dot or json, not `%.*s`.",
                     QUOTED(format));
}

static void list_on(const WordContext *context, Order *o) {
    if (context->list_file) {
        put(o, "file", json_string_c(context->list_file));
        put_number(o, "line", context->list_line);
    }
}

static const char *last_colon(Piece p) {
    size_t n = p.len;
    while (n && p.text[n - 1] != ':') {
        n--;
    }
    return n ? p.text + n - 1 : NULL;
}

/* LINE, FILE:LINE, or nothing. */
static bool read_list(WordReader *r, Order *o, Error *err) {
    int64_t line;
    Piece place = take_rest(r);
    if (!place.len) {
        list_on(r->context, o);
        return true;
    }
    const char *colon = last_colon(place);
    Piece digits = colon ? (Piece){colon + 1, (size_t)(place.text + place.len - colon - 1)} : place;
    if (!piece_number(digits, &line) || line > INT32_MAX) {
        return error_set(err, ERR_USAGE, "`list` takes LINE or FILE:LINE, not `%.*s`.",
                         QUOTED(place));
    }
    if (colon) {
        put(o, "file", json_string(place.text, (size_t)(colon - place.text)));
    } else if (r->context->file) {
        put(o, "file", json_string_c(r->context->file));
    }
    put_number(o, "line", line ? line : 1);
    return true;
}

/* What `info` knows, and the operation that tells it. */
static const char *const subjects[][2] = {
    {"breakpoints", "breakpoints"}, {"config", "config"},   {"frames", "frames"},
    {"injected", "injected"},       {"node", "node"},       {"nodes", "nodes"},
    {"pending", "pending"},         {"session", "session"}, {"stack", "frame"},
    {"watches", "watches"},         {NULL, NULL},
};

/* Its place; -1: none begins so, -2: several do. */
static int find_subject(Piece p) {
    int found = -1;
    for (int i = 0; subjects[i][0]; i++) {
        if (piece_is(p, subjects[i][0])) {
            return i;
        }
        if (p.len <= strlen(subjects[i][0]) && memcmp(subjects[i][0], p.text, p.len) == 0) {
            found = found == -1 ? i : -2;
        }
    }
    return found;
}

static bool read_info(WordReader *r, Order *o, Error *err) {
    if (at_end(r)) {
        return lacks(r, "what to tell about", err);
    }
    Piece subject = next_word(r);
    int i = find_subject(subject);
    if (i < 0) {
        return error_set(err, ERR_USAGE,
                         i == -1 ? "There is nothing to tell about `%.*s`."
                                 : "`%.*s` may mean several things.",
                         QUOTED(subject));
    }
    o->operation = subjects[i][1];
    return ends_here(r, err);
}

/* ---- changing ---- */

static bool read_unset(WordReader *r, Order *o, Error *err) {
    Piece path = take_rest(r);
    if (!path.len) {
        return lacks(r, "the path of what is to go", err);
    }
    put(o, "path", piece_json(path));
    return true;
}

/* NAME: before the node; in quotes where it has to be. */
static bool take_name(Piece *rest, Json *name) {
    const char *end = rest->text + rest->len, *at = rest->text;
    while (at < end && *at != '{' && !(*at == ':' && (at + 1 == end || is_blank(at[1])))) {
        at++;
    }
    if (at == end || *at == '{' || at == rest->text) {
        return false;
    }
    Piece written = trimmed(rest->text, at);
    Json quoted = written.text[0] == '"' ? piece_value(written, NULL) : json_none();
    *name = json_kind(quoted) == JSON_STRING ? quoted : piece_json(written);
    *rest = trimmed(at + 1, end);
    return true;
}

static bool read_inject(WordReader *r, Order *o, Error *err) {
    Json name;
    bool after = take_if(r, "after");
    put(o, "where", json_string_c(after ? "after" : "before"));
    if (!after) {
        take_if(r, "before");
    }
    Piece rest = take_rest(r);
    if (take_name(&rest, &name)) {
        put(o, "name", name);
    }
    if (!rest.len) {
        return lacks(r, "a node, as it would stand in the file: NAME: {shell: make}", err);
    }
    Json node = piece_value(rest, NULL);
    if (json_kind(node) == JSON_OBJECT) {
        put(o, "node", node);
    } else {
        json_unref(node);
        put(o, "text", piece_json(rest));
    }
    return true;
}

static bool read_uninject(WordReader *r, Order *o, Error *err) {
    int64_t id;
    if (!need_number(r, "the number of an injected node", &id, err)) {
        return false;
    }
    put_number(o, "id", id);
    return ends_here(r, err);
}

/* ---- the session ---- */

static bool read_switch(Piece p, Json *value, Error *err) {
    if (!piece_is(p, "on") && !piece_is(p, "off")) {
        return error_set(err, ERR_USAGE, "It is on or off, not `%.*s`.", QUOTED(p));
    }
    *value = json_bool(piece_is(p, "on"));
    return true;
}

/* Seconds of "30m", "90", "1h 30m" or "off". */
static bool read_seconds(Piece p, Json *value, Error *err) {
    int64_t ms;
    if (piece_is(p, "off")) {
        *value = json_int(0);
        return true;
    }
    Json number = json_number_parse(p.text, p.len);
    Json text = json_is_none(number) ? piece_json(p) : number;
    bool ok = flow_duration(text, &ms) && ms >= 0;
    json_unref(text);
    if (!ok) {
        return error_set(err, ERR_USAGE, "`%.*s` is no length of time; it is as 30m, 90s or 2h.",
                         QUOTED(p));
    }
    *value = json_number((double)ms / 1000);
    return true;
}

static const struct SessionOption {
    const char *name, *field;
    bool (*read)(Piece p, Json *value, Error *err);
} session_options[] = {
    {"pause-all", "pause_all_on_breakpoint", read_switch},
    {"auto-resume", "auto_resume", read_switch},
    {"idle", "idle_limit", read_seconds},
    {"steps", "steps", read_switch},
    {NULL, NULL, NULL},
};

static bool read_option(WordReader *r, Order *o, Error *err) {
    Json value;
    if (at_end(r)) {
        o->operation = "session";
        return true;
    }
    Piece name = next_word(r), text = take_rest(r);
    for (const struct SessionOption *s = session_options; s->name; s++) {
        if (piece_is(name, s->name)) {
            if (!s->read(text, &value, err)) {
                return false;
            }
            put(o, s->field, value);
            return true;
        }
    }
    return error_set(err, ERR_USAGE, "There is no option `%.*s`.", QUOTED(name));
}

static bool read_extend(WordReader *r, Order *o, Error *err) {
    Json seconds;
    Piece text = take_rest(r);
    if (!text.len) {
        return true;
    }
    if (!read_seconds(text, &seconds, err)) {
        return false;
    }
    put(o, "seconds", seconds);
    return true;
}

static bool read_replay(WordReader *r, Order *o, Error *err) {
    return at_end(r) || read_goto(r, o, err);
}

static bool read_export(WordReader *r, Order *o, Error *err) {
    Piece path = take_rest(r);
    if (!path.len || memchr(path.text, '\0', path.len)) {
        return lacks(r, "the file to write", err);
    }
    o->text = mem_strndup(path.text, path.len);
    return true;
}

static bool read_help(WordReader *r, Order *o, Error *err) {
    Piece topic = next_word(r);
    const Word *word = topic.len ? words_find(topic.text, topic.len, err) : NULL;
    if (topic.len && !word) {
        return false;
    }
    o->text = word ? mem_strndup(word->name, strlen(word->name)) : NULL;
    return ends_here(r, err);
}

static bool read_abort(WordReader *r, Order *o, Error *err) {
    o->everything = true;
    return ends_here(r, err);
}

/* ---- the table ---- */

const Word debug_words[] = {
    {"break", "b br", WORDS_BREAKPOINTS, "breakpoint_set", "SPEC", "stop at a place",
     "SPEC is NODE, NODE:after, NODE:error, FILE:LINE, LINE (of the main file), changed:PATH for the "
     "step that changes the state there, state:PATH=JSON for the one that makes it so, error for what "
     "nobody handles, caught for every error; with `if EXPR` behind it only when that holds. `if EXPR` "
     "alone is tried at every node. A NODE may have * and ? in it, and be OUTER/NODE.",
     "break deploy if .tries > 2", 0, OFFERS_NODE, NULL, read_break},
    {"tbreak", "tb", WORDS_BREAKPOINTS, "breakpoint_set", "SPEC", "stop at a place, once", NULL,
     "tbreak flow.yaml:12", 0, OFFERS_NODE, NULL, read_tbreak},
    {"catch", "", WORDS_BREAKPOINTS, "breakpoint_set", "[error|caught] [if EXPR]",
     "stop where a node fails",
     "`caught` also stops where a retry or an error edge takes the error. EXPR looks at the error: "
     ".kind, .message, .node.",
     "catch if .kind == \"timeout\"", 0, OFFERS_WORDS, "error caught if", read_catch},
    {"logpoint", "log dprintf", WORDS_BREAKPOINTS, "breakpoint_set", "PLACE TEXT",
     "write a text there and go on",
     "TEXT is the inside of a jq string. A PLACE with blanks in it stands in quotes.",
     "logpoint build tries: \\(.tries)", 0, OFFERS_NODE, NULL, read_logpoint},
    {"condition", "cond", WORDS_BREAKPOINTS, "breakpoint_change", "N [EXPR]",
     "stop at breakpoint N only when EXPR holds", "Without EXPR it always stops.",
     "condition 1 .x > 3", 0, OFFERS_NOTHING, NULL, read_condition},
    {"ignore", "", WORDS_BREAKPOINTS, "breakpoint_change", "N COUNT",
     "pass over the next hits of breakpoint N", NULL, "ignore 1 9", 0, OFFERS_NOTHING, NULL,
     read_ignore},
    {"hits", "", WORDS_BREAKPOINTS, "breakpoint_change", "N [== M | >= M | % M]",
     "stop at breakpoint N at these hits only", NULL, "hits 1 % 10", 0, OFFERS_NOTHING, NULL,
     read_hits},
    {"group", "", WORDS_BREAKPOINTS, "breakpoint_change", "N [NAME]",
     "put breakpoint N in a group, or take it out", NULL, "group 1 deploying", 0, OFFERS_NOTHING,
     NULL, read_group},
    {"delete", "d del", WORDS_BREAKPOINTS, "breakpoint_delete", "[N... | group NAME]",
     "delete breakpoints", "Without arguments, all of them.", "delete 1 3", WORD_ASKS, OFFERS_WORDS,
     "group", read_selection},
    {"enable", "en", WORDS_BREAKPOINTS, "breakpoint_enable", "[N... | group NAME]",
     "make breakpoints stop again", "Without arguments, all of them.", "enable group deploying", 0,
     OFFERS_WORDS, "group", read_enable},
    {"disable", "dis", WORDS_BREAKPOINTS, "breakpoint_enable", "[N... | group NAME]",
     "keep breakpoints, but let them not stop", "Without arguments, all of them.", "disable 2", 0,
     OFFERS_WORDS, "group", read_disable},
    {"watch", "display", WORDS_BREAKPOINTS, "watch_add", "[EXPR]",
     "show a value whenever a frame stops",
     "Without an expression, shows the values now. `break changed:PATH` stops when one changes.",
     "watch .items | length", 0, OFFERS_EXPRESSION, NULL, read_watch},
    {"unwatch", "undisplay", WORDS_BREAKPOINTS, "watch_delete", "[N]", "show a value no longer",
     "Without a number, none of them.", "unwatch 1", 0, OFFERS_NOTHING, NULL, read_id_or_all},

    {"run", "r start", WORDS_RUNNING, NULL, "", "start the workflow anew, when the run has ended",
     "The file is read again; breakpoints and watches are kept.", NULL, WORD_GOES, OFFERS_NOTHING,
     NULL, read_nothing},
    {"continue", "c cont", WORDS_RUNNING, "continue", "[FRAME | all]",
     "go on until something stops",
     "Without a frame: all of them when all stop together (option pause-all), the selected one "
     "otherwise.",
     "continue all", WORD_GOES | WORD_REPEATS, OFFERS_WORDS, "all", read_frame_or_all},
    {"next", "n over", WORDS_RUNNING, "step", "[FRAME]",
     "go to the next node, over what is inside this one", NULL, NULL, WORD_GOES | WORD_REPEATS,
     OFFERS_NOTHING, NULL, read_next},
    {"step", "s into", WORDS_RUNNING, "step", "[FRAME]",
     "go to the next node, also inside this one and in its branches", NULL, NULL,
     WORD_GOES | WORD_REPEATS, OFFERS_NOTHING, NULL, read_step},
    {"finish", "fin out", WORDS_RUNNING, "step", "[FRAME]", "go on until this level is left", NULL,
     NULL, WORD_GOES | WORD_REPEATS, OFFERS_NOTHING, NULL, read_finish},
    {"back", "reverse-step reverse-next reverse-stepi rs rn rsi", WORDS_RUNNING, "back", "[N]",
     "go back by N steps", "What came after stays in the history, as a line of its own.", "back 2",
     WORD_MOVES | WORD_REPEATS, OFFERS_NOTHING, NULL, read_back},
    {"reverse-continue", "rc", WORDS_RUNNING, "reverse_continue", "",
     "go back to where a breakpoint would have stopped", NULL, NULL, WORD_MOVES | WORD_REPEATS,
     OFFERS_NOTHING, NULL, read_nothing},
    {"skip", "", WORDS_RUNNING, "skip", "[JSON]", "pass over the node, as if it had given JSON",
     NULL, "skip {\"answer\": 42}", WORD_GOES, OFFERS_NOTHING, NULL, read_skip},
    {"retry", "", WORDS_RUNNING, "retry", "[FRAME]", "run the node that failed again", NULL, NULL,
     WORD_GOES, OFFERS_NOTHING, NULL, read_frame_if_any},
    {"goto", "jump j", WORDS_RUNNING, "goto", "NODE | @CHECKPOINT",
     "stand before another node, or at a checkpoint", NULL, "goto @12", WORD_MOVES, OFFERS_NODE,
     NULL, read_goto},
    {"pause", "interrupt", WORDS_RUNNING, "pause", "[FRAME | all]", "stop what is running",
     "Ctrl-C does it while the prompt waits.", NULL, WORD_GOES, OFFERS_WORDS, "all",
     read_frame_or_all},
    {"wait", "", WORDS_RUNNING, NULL, "", "wait until something stops, or the run ends", NULL, NULL,
     WORD_GOES, OFFERS_NOTHING, NULL, read_nothing},
    {"answer", "", WORDS_RUNNING, "answer", "[ID] [JSON | DECISION]",
     "answer what the run asks a person", NULL, "answer approve", WORD_GOES, OFFERS_NOTHING, NULL,
     read_answer},

    {"print", "p pp evaluate", WORDS_LOOKING, "evaluate", "[@CHECKPOINT] EXPR",
     "evaluate a jq expression on what the node sees",
     "A line that begins with a dot is printed too.", "print .items | map(.name)", WORD_REPEATS,
     OFFERS_EXPRESSION, NULL, read_print},
    {"state", "vars variables", WORDS_LOOKING, "variables", "[@CHECKPOINT] [PATH] [+OFFSET]",
     "show the state, or what is at a path",
     "A large value is shown by its parts; +100 shows the "
     "parts from there on.",
     "state .items +100", 0, OFFERS_PATH, NULL, read_state},
    {"summary", "", WORDS_LOOKING, "summary", "[@CHECKPOINT]",
     "list the keys of the state, their types and sizes", NULL, NULL, 0, OFFERS_NOTHING, NULL,
     read_summary},
    {"search", "", WORDS_LOOKING, "search", "[@CHECKPOINT] TEXT",
     "find keys and values in the state", NULL, "search timeout", 0, OFFERS_NOTHING, NULL,
     read_search},
    {"largest", "", WORDS_LOOKING, "largest", "[N]", "list the largest parts of the state", NULL,
     NULL, 0, OFFERS_NOTHING, NULL, read_limit},
    {"diff", "", WORDS_LOOKING, "diff", "[pause | node | start | A B]",
     "show what changed in the state",
     "Since the last pause (unless told), across the last node, since the start, or between two "
     "checkpoints.",
     "diff 3 7", 0, OFFERS_WORDS, "node pause start", read_diff},
    {"config", "", WORDS_LOOKING, "config", "[set PATH = JSON | reset]",
     "show or edit what the node is told to do", "An edit is for this one execution.",
     "config set .timeout = 60", 0, OFFERS_WORDS, "set reset", read_config},
    {"frames", "threads", WORDS_LOOKING, "frames", "", "list the frames of the run", NULL, NULL, 0,
     OFFERS_NOTHING, NULL, read_nothing},
    {"frame", "f thread", WORDS_LOOKING, "frame", "[N]", "choose a frame, and show where it stands",
     NULL, "frame 2", 0, OFFERS_NOTHING, NULL, read_frame_if_any},
    {"backtrace", "bt where w", WORDS_LOOKING, "frame", "", "show the levels of the selected frame",
     NULL, NULL, 0, OFFERS_NOTHING, NULL, read_nothing},
    {"info", "i", WORDS_LOOKING, NULL,
     "breakpoints | config | frames | injected | node | nodes | pending | session | stack | watches",
     "tell about something", NULL, "info breakpoints", 0, OFFERS_WORDS,
     "breakpoints config frames injected node nodes pending session stack watches", read_info},
    {"history", "", WORDS_LOOKING, "history", "[N] [@CHECKPOINT] [all]",
     "list the last steps of the run",
     "N of them, those before a checkpoint, or `all` checkpoints.", "history 20", 0, OFFERS_WORDS,
     "all", read_history},
    {"graph", "", WORDS_LOOKING, "graph", "[mermaid | dot | json]", "draw the workflow", NULL, NULL,
     0, OFFERS_WORDS, "dot json mermaid", read_graph},
    {"list", "l", WORDS_LOOKING, "source", "[LINE | FILE:LINE]", "show the workflow's text",
     "Around the current line first, then what follows.", "list 12", WORD_REPEATS, OFFERS_NOTHING,
     NULL, read_list},

    {"set", "", WORDS_CHANGING, "set", "PATH = JSON", "change the state when the frame goes on",
     "It is pending until then: `info pending` lists it, `revoke` takes it back.",
     "set .user.name = \"Ada\"", 0, OFFERS_PATH, NULL, read_setting},
    {"unset", "", WORDS_CHANGING, "unset", "PATH",
     "remove something from the state in the same way", NULL, "unset .errors", 0, OFFERS_PATH, NULL,
     read_unset},
    {"revoke", "", WORDS_CHANGING, "revoke", "[N]", "take back what is pending", NULL, NULL, 0,
     OFFERS_NOTHING, NULL, read_id_or_all},
    {"inject", "", WORDS_CHANGING, "inject", "[before | after] [NAME:] NODE",
     "run another node before or after this one", "NODE is written as in the file, on one line.",
     "inject before probe: {shell: env}", 0, OFFERS_WORDS, "after before", read_inject},
    {"uninject", "", WORDS_CHANGING, "inject_remove", "N", "remove an injected node", NULL, NULL, 0,
     OFFERS_NOTHING, NULL, read_uninject},

    {"option", "", WORDS_SESSION, "configure",
     "[pause-all | auto-resume | steps on|off, idle TIME]", "see or change how the session works",
     "pause-all: when a frame stops, all do. idle: how long nobody may do anything before the session "
     "is over (`off`: for ever); then frames stay paused, or with auto-resume go on. steps: tell of "
     "every node.",
     "option idle 30m", 0, OFFERS_WORDS, "auto-resume idle pause-all steps", read_option},
    {"extend", "", WORDS_SESSION, "extend", "[TIME]", "let the idle time begin anew", NULL,
     "extend 2h", 0, OFFERS_NOTHING, NULL, read_extend},
    {"export", "", WORDS_SESSION, "export", "FILE", "write the run with its history to a file",
     "`pawl debug --open FILE` shows it anywhere.", "export run.json", 0, OFFERS_NOTHING, NULL,
     read_export},
    {"replay", "", WORDS_SESSION, "replay", "[@CHECKPOINT | NODE]",
     "run one node again on the input that it had",
     "It is a run of its own; this one stays as it is.", "replay @7", WORD_GOES, OFFERS_NODE, NULL,
     read_replay},
    {"abort", "kill k", WORDS_SESSION, "abort", "", "cancel the run; its cleanup tasks run", NULL,
     NULL, WORD_GOES | WORD_ASKS, OFFERS_NOTHING, NULL, read_abort},
    {"detach", "", WORDS_SESSION, "detach", "", "let the run go on without a debugger", NULL, NULL,
     WORD_GOES, OFFERS_NOTHING, NULL, read_nothing},
    {"quit", "q exit", WORDS_SESSION, NULL, "", "leave; the run stays paused in its store", NULL,
     NULL, 0, OFFERS_NOTHING, NULL, read_nothing},
    {"help", "h", WORDS_SESSION, NULL, "[COMMAND]", "list the commands, or explain one", NULL, NULL,
     0, OFFERS_COMMAND, NULL, read_help},
    {0},
};

/* ---- finding ---- */

static bool is_among(const char *words, Piece p) {
    for (const char *at = words; *at;) {
        size_t n = strcspn(at, " ");
        if (n == p.len && memcmp(at, p.text, n) == 0) {
            return true;
        }
        at += n + (at[n] == ' ');
    }
    return false;
}

static const Word *find_exactly(Piece p) {
    for (const Word *w = debug_words; w->name; w++) {
        if (piece_is(p, w->name) || is_among(w->aliases, p)) {
            return w;
        }
    }
    return NULL;
}

static bool begins_with(const char *name, Piece p) {
    return p.len <= strlen(name) && memcmp(name, p.text, p.len) == 0;
}

static void refuse_several(Piece p, Error *err) {
    Buf names = BUF_INIT;
    for (const Word *w = debug_words; w->name; w++) {
        if (begins_with(w->name, p)) {
            buf_printf(&names, "%s%s", names.len ? ", " : "", w->name);
        }
    }
    error_set(err, ERR_USAGE, "`%.*s` may be one of %s.", QUOTED(p), names.data);
    buf_clear(&names);
}

static void refuse_unknown(Piece p, Error *err) {
    Suggestion nearest = suggestion_for(p.text, p.len);
    for (const Word *w = debug_words; w->name; w++) {
        suggestion_offer(&nearest, w->name);
    }
    if (nearest.best) {
        error_set(err, ERR_USAGE, "There is no command `%.*s`; did you mean `%s`?", QUOTED(p),
                  nearest.best);
    } else {
        error_set(err, ERR_USAGE, "There is no command `%.*s`; `help` lists them.", QUOTED(p));
    }
}

const Word *words_find(const char *name, size_t len, Error *err) {
    Piece p = {name, len};
    const Word *found = find_exactly(p);
    size_t n = 0;
    if (found) {
        return found;
    }
    for (const Word *w = debug_words; w->name; w++) {
        if (begins_with(w->name, p)) {
            found = w;
            n++;
        }
    }
    if (n > 1) {
        refuse_several(p, err);
    } else if (n == 0) {
        refuse_unknown(p, err);
    }
    return n == 1 ? found : NULL;
}

bool words_operation_goes(const char *operation) {
    for (const Word *w = debug_words; w->name; w++) {
        if ((w->flags & WORD_GOES) && w->operation && !strcmp(w->operation, operation)) {
            return true;
        }
    }
    return false;
}

/* ---- lines ---- */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

/* The name ends where letters do, so that `frame2` and `p.x` are read too. One that is no name ends
 * at a blank. */
static Piece command_name(WordReader *r) {
    skip_blanks(r);
    const char *end = r->at;
    while (end < r->end && is_letter(*end)) {
        end++;
    }
    if (end == r->at) {
        return peek_word(r);
    }
    return (Piece){r->at, (size_t)(end - r->at)};
}

static const Word *find_word(WordReader *r, Error *err) {
    Piece name = command_name(r);
    if (name.text[0] == '.') {
        return words_find("print", 5, err);
    }
    r->at += name.len;
    return piece_is(name, "?") ? words_find("help", 4, err) : words_find(name.text, name.len, err);
}

bool words_read(const WordContext *context, const char *line, size_t len, Order *order,
                Error *err) {
    Piece text = trimmed(line, line + len);
    WordReader r = {.context = context, .at = text.text, .end = text.text + text.len};
    *order = (Order){.args = json_object()};
    if (!text.len || text.text[0] == '#') {
        return true;
    }
    order->word = r.word = find_word(&r, err);
    if (!order->word) {
        return false;
    }
    order->operation = order->word->operation;
    return order->word->read(&r, order, err);
}

void order_clear(Order *order) {
    json_clear(&order->args);
    mem_free(order->text);
    *order = (Order){0};
}

/* ---- help ---- */

static const char *const group_names[WORDS_GROUPS] = {
    "Breakpoints and watches", "Running", "Looking", "Changing", "The session",
};

void words_usage(const Word *word, Buf *out) {
    buf_printf(out, "Usage: %s%s%s\n", word->name, word->arguments[0] ? " " : "", word->arguments);
}

enum { NAME_WIDTH = 18 };

static void add_group(WordGroup group, Buf *out) {
    buf_printf(out, "%s%s:\n", group ? "\n" : "", group_names[group]);
    for (const Word *w = debug_words; w->name; w++) {
        if (w->group == group) {
            buf_printf(out, "  %-*s%s\n", NAME_WIDTH, w->name, w->summary);
        }
    }
}

/* Paragraphs of text, broken at blanks. */
static void add_wrapped(const char *text, int width, Buf *out) {
    size_t column = 0;
    while (*text) {
        size_t n = strcspn(text, " "), shown = utf8_length(text, n);
        if (column && column + 1 + shown > (size_t)width) {
            buf_addc(out, '\n');
            column = 0;
        }
        buf_adds(out, column ? " " : "");
        column += shown + (column ? 1 : 0);
        buf_add(out, text, n);
        text += n + (text[n] == ' ');
    }
    buf_addc(out, '\n');
}

void words_help(int width, Buf *out) {
    for (int group = 0; group < WORDS_GROUPS; group++) {
        add_group((WordGroup)group, out);
    }
    buf_addc(out, '\n');
    add_wrapped(
        "A command may be cut short as long as it can be told from the others. An empty line "
        "steps or lists again. `help COMMAND` explains one.",
        width, out);
}

static void add_aliases(const Word *word, Buf *out) {
    buf_adds(out, "Also: ");
    for (const char *c = word->aliases; *c; c++) {
        buf_add(out, *c == ' ' ? ", " : c, *c == ' ' ? 2 : 1);
    }
    buf_addc(out, '\n');
}

void words_explain(const Word *word, int width, Buf *out) {
    words_usage(word, out);
    Buf text = BUF_INIT;
    buf_printf(&text, "%c%s.%s%s", word->summary[0] - 'a' + 'A', word->summary + 1,
               word->details ? " " : "", word->details ? word->details : "");
    add_wrapped(text.data, width, out);
    buf_clear(&text);
    if (word->aliases[0]) {
        add_aliases(word, out);
    }
    if (word->example) {
        buf_printf(out, "Example: %s\n", word->example);
    }
}

/* ---- completion ---- */

static const char *find_if(const char *text, const char *end) {
    for (const char *at = text; at + 3 <= end; at++) {
        bool begins = at == text || is_blank(at[-1]);
        if (begins && at[0] == 'i' && at[1] == 'f' && is_blank(at[2])) {
            return at + 3;
        }
    }
    return NULL;
}

/* Behind the blank at `at`, in the line that begins at `line`. */
static WordCompletion offer(WordOffers offers, const char *line, const char *at) {
    return (WordCompletion){.offers = offers, .from = (size_t)(at - line)};
}

static WordCompletion offer_words(const Word *w, const char *line, const char *at,
                                  const char *end) {
    bool config = !strcmp(w->name, "config") && end - at > 4 && !memcmp(at, "set ", 4);
    const char *condition = !strcmp(w->name, "catch") ? find_if(at, end) : NULL;
    if (config) {
        return offer(OFFERS_PATH, line, at + 4);
    }
    if (condition) {
        return offer(OFFERS_NOTHING, line, at);
    }
    WordCompletion c = offer(OFFERS_WORDS, line, at);
    c.words = w->words;
    for (const char *blank = at; blank < end; blank++) {
        if (is_blank(*blank)) {
            c.offers = OFFERS_NOTHING;
        }
    }
    return c;
}

static WordCompletion offer_arguments(const Word *w, const char *line, const char *at,
                                      const char *end) {
    const char *condition = w->offers == OFFERS_NODE ? find_if(at, end) : NULL;
    bool value = w->offers == OFFERS_PATH && memchr(at, '=', (size_t)(end - at));
    if (w->offers == OFFERS_WORDS) {
        return offer_words(w, line, at, end);
    }
    if (condition) {
        return offer(OFFERS_EXPRESSION, line, condition);
    }
    return offer(value ? OFFERS_NOTHING : w->offers, line, at);
}

WordCompletion words_completion(const char *line, size_t cursor) {
    WordReader r = {.at = line, .end = line + cursor};
    Piece name = at_end(&r) ? (Piece){r.at, 0} : command_name(&r);
    if (name.len && name.text[0] == '.') {
        return offer(OFFERS_EXPRESSION, line, name.text);
    }
    if (name.text + name.len == r.end) {
        return offer(OFFERS_COMMAND, line, name.text);
    }
    const Word *word = words_find(name.text, name.len, NULL);
    r.at += name.len;
    skip_blanks(&r);
    return word ? offer_arguments(word, line, r.at, r.end) : offer(OFFERS_NOTHING, line, r.at);
}
