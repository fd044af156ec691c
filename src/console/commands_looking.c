/* commands_looking.c - what is written behind the commands that look at something. */
#include "commands_rows.h"

#include <string.h>

/* @12 first: from the history. */
static void take_checkpoint(WordReader *r, Order *o) {
    int64_t number;
    Piece word = reader_peek(r);
    if (piece_checkpoint(word, false, &number)) {
        r->at += word.len;
        order_put_number(o, "checkpoint", number);
    }
}

bool read_print(WordReader *r, Order *o, Error *err) {
    take_checkpoint(r, o);
    Piece expr = reader_rest(r);
    if (!expr.len) {
        return reader_lacks(r, "an expression", err);
    }
    order_put(o, "expression", piece_json(expr));
    return true;
}

/* +100 at the end: from there on. */
static void take_offset(Piece *rest, Order *o) {
    int64_t offset;
    const char *word = rest->text + rest->len;
    while (word > rest->text && !word_is_blank(word[-1])) {
        word--;
    }
    size_t len = (size_t)(rest->text + rest->len - word);
    if (len > 1 && word[0] == '+' && piece_number((Piece){word + 1, len - 1}, &offset)) {
        order_put_number(o, "offset", offset);
        *rest = piece_between(rest->text, word);
    }
}

bool read_state(WordReader *r, Order *o, Error *err) {
    (void)err;
    take_checkpoint(r, o);
    Piece rest = reader_rest(r);
    take_offset(&rest, o);
    if (rest.len) {
        order_put(o, "path", piece_json(rest));
    }
    return true;
}

bool read_summary(WordReader *r, Order *o, Error *err) {
    take_checkpoint(r, o);
    return reader_ends(r, err);
}

bool read_search(WordReader *r, Order *o, Error *err) {
    take_checkpoint(r, o);
    Piece text = reader_rest(r);
    if (!text.len) {
        return reader_lacks(r, "a text to look for", err);
    }
    order_put(o, "text", piece_json(text));
    return true;
}

bool read_limit(WordReader *r, Order *o, Error *err) {
    int64_t limit;
    if (reader_at_end(r)) {
        return true;
    }
    if (!reader_number(r, "how many", &limit, err)) {
        return false;
    }
    order_put_number(o, "limit", limit ? limit : 1);
    return reader_ends(r, err);
}

static bool is_since(Piece p) {
    return piece_is(p, "pause") || piece_is(p, "node") || piece_is(p, "start");
}

bool read_diff(WordReader *r, Order *o, Error *err) {
    static const char *const ends[] = {"from", "to"};
    int64_t number;
    if (is_since(reader_peek(r))) {
        order_put(o, "since", piece_json(reader_next(r)));
        return reader_ends(r, err);
    }
    for (size_t i = 0; i < 2 && !reader_at_end(r); i++) {
        Piece p = reader_next(r);
        if (!piece_checkpoint(p, true, &number)) {
            return error_set(err, ERR_USAGE,
                             "`diff` takes pause, node, start or two checkpoints, not `%.*s`.",
                             QUOTED(p));
        }
        order_put_number(o, ends[i], number);
    }
    return reader_ends(r, err);
}

bool read_config(WordReader *r, Order *o, Error *err) {
    if (reader_takes(r, "reset")) {
        o->operation = "config_reset";
        return reader_ends(r, err);
    }
    if (reader_takes(r, "set")) {
        o->operation = "config_set";
        return read_setting(r, o, err);
    }
    return reader_ends(r, err);
}

bool read_history(WordReader *r, Order *o, Error *err) {
    int64_t limit;
    while (!reader_at_end(r)) {
        Piece word = reader_next(r);
        if (piece_is(word, "all")) {
            order_put(o, "all", json_bool(true));
        } else if (word.text[0] == '@' && piece_checkpoint(word, false, &limit)) {
            order_put_number(o, "before", limit);
        } else if (piece_number(word, &limit)) {
            order_put_number(o, "limit", limit ? limit : 1);
        } else {
            return error_set(err, ERR_USAGE,
                             "`history` takes a number, @ and a checkpoint, or `all`, not `%.*s`.",
                             QUOTED(word));
        }
    }
    return true;
}

bool read_graph(WordReader *r, Order *o, Error *err) {
    static const char *const formats[] = {"mermaid", "dot", "json"};
    Piece format = reader_next(r);
    for (size_t i = 0; i < 3; i++) {
        if (piece_is(format, formats[i])) {
            order_put(o, "format", json_string_c(formats[i]));
            return reader_ends(r, err);
        }
    }
    return !format.len ||
           error_set(err, ERR_USAGE, "`graph` draws mermaid, dot or json, not `%.*s`.",
                     QUOTED(format));
}

static void list_on(const WordContext *context, Order *o) {
    if (context->list_file) {
        order_put(o, "file", json_string_c(context->list_file));
        order_put_number(o, "line", context->list_line);
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
bool read_list(WordReader *r, Order *o, Error *err) {
    int64_t line;
    Piece place = reader_rest(r);
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
        order_put(o, "file", json_string(place.text, (size_t)(colon - place.text)));
    } else if (r->context->file) {
        order_put(o, "file", json_string_c(r->context->file));
    }
    order_put_number(o, "line", line ? line : 1);
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

bool read_info(WordReader *r, Order *o, Error *err) {
    if (reader_at_end(r)) {
        return reader_lacks(r, "what to tell about", err);
    }
    Piece subject = reader_next(r);
    int i = find_subject(subject);
    if (i < 0) {
        return error_set(err, ERR_USAGE,
                         i == -1 ? "There is nothing to tell about `%.*s`."
                                 : "`%.*s` may mean several things.",
                         QUOTED(subject));
    }
    o->operation = subjects[i][1];
    return reader_ends(r, err);
}
