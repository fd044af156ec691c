/* commands_breakpoints.c - what is written behind the commands for breakpoints and watches. */
#include "commands_rows.h"

#include "mem.h"

#include <string.h>

/* "12" and "12 if .x": of the main file. */
static bool is_line(Piece p) {
    size_t n = 0;
    while (n < p.len && word_is_digit(p.text[n])) {
        n++;
    }
    return n && (n == p.len || word_is_blank(p.text[n]));
}

char *words_break(const char *file, const char *text, size_t len, Error *err) {
    Buf spec = BUF_INIT;
    bool line = is_line((Piece){text, len});
    if (!len || memchr(text, '\0', len)) {
        error_set(err, ERR_USAGE, "That is no place to stop at.");
        return NULL;
    }
    if (line && !file) {
        error_set(err, ERR_USAGE, "Of which file? The place is FILE:LINE.");
        return NULL;
    }
    buf_printf(&spec, "%s%s%.*s", line ? file : "", line ? ":" : "", (int)len, text);
    return buf_detach(&spec);
}

static bool put_spec(WordReader *r, Order *o, const char *text, size_t len, Error *err) {
    char *spec = words_break(r->context->file, text, len, err);
    if (spec) {
        order_put(o, "spec", json_string_c(spec));
    }
    mem_free(spec);
    return spec != NULL;
}

bool read_break(WordReader *r, Order *o, Error *err) {
    Piece spec = reader_rest(r);
    if (!spec.len) {
        return reader_lacks(r, "a place, a condition or both", err);
    }
    return put_spec(r, o, spec.text, spec.len, err);
}

bool read_tbreak(WordReader *r, Order *o, Error *err) {
    if (!read_break(r, o, err)) {
        return false;
    }
    order_put(o, "once", json_bool(true));
    return true;
}

/* A name with blanks in it stands in quotes. */
static bool take_place(WordReader *r, Buf *out, Error *err) {
    if (reader_at_end(r) || *r->at != '"') {
        Piece word = reader_next(r);
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

bool read_logpoint(WordReader *r, Order *o, Error *err) {
    Buf place = BUF_INIT;
    bool ok = take_place(r, &place, err);
    Piece text = reader_rest(r);
    if (ok && (!place.len || !text.len)) {
        ok = reader_lacks(r, "a place and the text to write there", err);
    }
    if (ok && (ok = put_spec(r, o, place.data, place.len, err))) {
        order_put(o, "log_message", piece_json(text));
    }
    buf_clear(&place);
    return ok;
}

bool read_catch(WordReader *r, Order *o, Error *err) {
    order_put(o, "type", json_string_c("exception"));
    if (!reader_takes(r, "error") && reader_takes(r, "caught")) {
        order_put(o, "caught", json_bool(true));
    }
    if (!reader_takes(r, "if")) {
        return reader_ends(r, err);
    }
    Piece expr = reader_rest(r);
    if (!expr.len) {
        return error_set(err, ERR_USAGE, "What is the condition? It stands behind `if`.");
    }
    order_put(o, "error", piece_json(expr));
    return true;
}

static bool read_breakpoint_id(WordReader *r, Order *o, Error *err) {
    int64_t id;
    if (!reader_number(r, "the number of a breakpoint first", &id, err)) {
        return false;
    }
    order_put_number(o, "id", id);
    return true;
}

/* Text for a field; nothing takes it away. */
static bool read_field(WordReader *r, Order *o, const char *field, Error *err) {
    if (!read_breakpoint_id(r, o, err)) {
        return false;
    }
    Piece text = reader_rest(r);
    order_put(o, field, text.len ? piece_json(text) : json_null());
    return true;
}

bool read_condition(WordReader *r, Order *o, Error *err) {
    return read_field(r, o, "condition", err);
}

bool read_hits(WordReader *r, Order *o, Error *err) {
    return read_field(r, o, "hit_condition", err);
}

bool read_group(WordReader *r, Order *o, Error *err) {
    return read_field(r, o, "group", err);
}

bool read_ignore(WordReader *r, Order *o, Error *err) {
    int64_t count;
    if (!read_breakpoint_id(r, o, err) ||
        !reader_number(r, "how many hits to pass over", &count, err)) {
        return false;
    }
    order_put_number(o, "ignore_count", count);
    return reader_ends(r, err);
}

static bool read_ids(WordReader *r, Order *o, Error *err) {
    Json ids = json_array();
    int64_t id;
    while (!reader_at_end(r)) {
        if (!reader_number(r, "numbers of breakpoints, or `group` and a name", &id, err)) {
            json_unref(ids);
            return false;
        }
        ids = json_array_push(ids, json_int(id));
    }
    order_put(o, "ids", ids);
    return true;
}

/* N... | group G | nothing: all. */
bool read_selection(WordReader *r, Order *o, Error *err) {
    if (reader_at_end(r) || reader_takes(r, "all")) {
        order_put(o, "all", json_bool(true));
        o->everything = true;
        return reader_ends(r, err);
    }
    if (!reader_takes(r, "group")) {
        return read_ids(r, o, err);
    }
    Piece group = reader_rest(r);
    if (!group.len) {
        return error_set(err, ERR_USAGE, "Which group? Its name stands behind `group`.");
    }
    order_put(o, "group", piece_json(group));
    return true;
}

bool read_enable(WordReader *r, Order *o, Error *err) {
    order_put(o, "enabled", json_bool(true));
    return read_selection(r, o, err);
}

bool read_disable(WordReader *r, Order *o, Error *err) {
    order_put(o, "enabled", json_bool(false));
    return read_selection(r, o, err);
}

bool read_watch(WordReader *r, Order *o, Error *err) {
    Piece expr = reader_rest(r);
    if (!expr.len) {
        o->operation = "watches";
        return true;
    }
    (void)err;
    order_put(o, "expression", piece_json(expr));
    return true;
}

/* N, or nothing for all of them. */

bool read_id_or_all(WordReader *r, Order *o, Error *err) {
    int64_t id;
    if (reader_at_end(r) || reader_takes(r, "all")) {
        order_put(o, "all", json_bool(true));
        return reader_ends(r, err);
    }
    if (!reader_number(r, "a number", &id, err)) {
        return false;
    }
    order_put_number(o, "id", id);
    return reader_ends(r, err);
}
