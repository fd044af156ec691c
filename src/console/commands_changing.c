/* commands_changing.c - what is written behind the commands that change the state and add nodes. */
#include "commands_rows.h"

#include <ctype.h>
#include <string.h>

/* PATH = JSON. Keys in quotes may hold an equals sign: the first one with JSON behind it is the
 * one. */
bool read_setting(WordReader *r, Order *o, Error *err) {
    Piece rest = reader_rest(r);
    Error why = ERROR_INIT;
    Piece refused = {0};
    const char *end = rest.text + rest.len;
    for (const char *at = rest.text; (at = memchr(at, '=', (size_t)(end - at))); at++) {
        Piece path = piece_between(rest.text, at), text = piece_between(at + 1, end);
        Error each = ERROR_INIT;
        Json value = path.len ? piece_value(text, &each) : json_none();
        if (!json_is_none(value)) {
            order_put(o, "path", piece_json(path));
            order_put(o, "value", value);
            return true;
        }
        if (path.len && !refused.text) {
            refused = text;
            why = each;
        }
    }
    if (refused.text && refused.len) {
        return piece_refuse_value(refused, &why, err);
    }
    return reader_lacks(r, "a path, an equals sign and a value", err);
}

bool read_unset(WordReader *r, Order *o, Error *err) {
    Piece path = reader_rest(r);
    if (!path.len) {
        return reader_lacks(r, "the path of what is to go", err);
    }
    order_put(o, "path", piece_json(path));
    return true;
}

static bool begins_with_key(Piece p) {
    size_t n = 0;
    while (n < p.len && (isalnum((unsigned char)p.text[n]) || p.text[n] == '_')) {
        n++;
    }
    return n && n < p.len && p.text[n] == ':' && (n + 1 == p.len || word_is_blank(p.text[n + 1]));
}

/* NAME: before KEY: VALUE; in quotes where it has to be. `jq: .n` has none, and before braces it is
 * YAML as it stands, which whoever knows the kinds of nodes reads. */
static bool take_name(Piece *rest, Json *name) {
    const char *end = rest->text + rest->len, *at = rest->text;
    while (at < end && *at != '{' && !(*at == ':' && (at + 1 == end || word_is_blank(at[1])))) {
        at++;
    }
    if (at == end || *at == '{' || at == rest->text) {
        return false;
    }
    Piece node = piece_between(at + 1, end);
    if (node.len && !begins_with_key(node)) {
        return false;
    }
    Piece written = piece_between(rest->text, at);
    Json quoted = written.text[0] == '"' ? piece_value(written, NULL) : json_none();
    *name = json_kind(quoted) == JSON_STRING ? quoted : piece_json(written);
    *rest = node;
    return true;
}

bool read_inject(WordReader *r, Order *o, Error *err) {
    Json name;
    bool after = reader_takes(r, "after");
    order_put(o, "where", json_string_c(after ? "after" : "before"));
    if (!after) {
        reader_takes(r, "before");
    }
    Piece rest = reader_rest(r);
    if (take_name(&rest, &name)) {
        order_put(o, "name", name);
    }
    if (!rest.len) {
        return reader_lacks(r, "a node, as it would stand in the file: NAME: {shell: make}", err);
    }
    Json node = piece_value(rest, NULL);
    if (json_kind(node) == JSON_OBJECT) {
        order_put(o, "node", node);
    } else {
        json_unref(node);
        order_put(o, "text", piece_json(rest));
    }
    return true;
}

bool read_uninject(WordReader *r, Order *o, Error *err) {
    int64_t id;
    if (!reader_number(r, "the number of an injected node", &id, err)) {
        return false;
    }
    order_put_number(o, "id", id);
    return reader_ends(r, err);
}
