/* commands_changing.c - changing the state, and adding nodes. */
#include "command_reader.h"
#include "fields.h"

#include <ctype.h>

/* ---- the state ---- */

static bool read_unset(CommandReader *r) {
    return reader_put_rest(r, "path", "the path of what is to go");
}

void view_pending(View *v, Json answer) {
    Json list = field_get(answer, "pending");
    if (!field_items(list)) {
        view_hint(v, "Nothing is pending.");
        return;
    }
    view_puts(v, "When the frame goes on:\n");
    for (size_t i = 0; i < field_items(list); i++) {
        Json change = json_array_get(list, i);
        bool set = !json_is_none(field_get(change, "value"));
        view_format(v, change,
                    set ? "[  {id}: ]{path|path} = {value|json}\n"
                        : "[  {id}: ]{path|path} is removed\n");
    }
}

/* ---- nodes ---- */

/* "KEY:" and a blank, or nothing more. */
static bool begins_with_key(Span s) {
    size_t n = 0;
    while (n < s.len && (isalnum((unsigned char)s.text[n]) || s.text[n] == '_')) {
        n++;
    }
    return n && n < s.len && s.text[n] == ':' && (n + 1 == s.len || char_is_blank(s.text[n + 1]));
}

/* NAME: before KEY: VALUE; in quotes where it has to be. `jq: .n` has none, and before braces it is
 * YAML as it stands, which whoever knows the kinds of nodes reads. */
static bool take_name(Span *rest, Json *name) {
    const char *end = rest->text + rest->len, *at = rest->text;
    while (at < end && *at != '{' && !(*at == ':' && (at + 1 == end || char_is_blank(at[1])))) {
        at++;
    }
    if (at == end || *at == '{' || at == rest->text) {
        return false;
    }
    Span node = span_between(at + 1, end), written = span_between(rest->text, at);
    if (node.len && !begins_with_key(node)) {
        return false;
    }
    Json quoted = written.text[0] == '"' ? span_value(written, NULL) : json_none();
    *name = json_kind(quoted) == JSON_STRING ? quoted : span_string(written);
    *rest = node;
    return true;
}

static bool read_inject(CommandReader *r) {
    Json name;
    bool after = reader_takes(r, "after");
    reader_put(r, "where", json_string_c(after ? "after" : "before"));
    if (!after) {
        reader_takes(r, "before");
    }
    Span rest = reader_rest(r);
    if (take_name(&rest, &name)) {
        reader_put(r, "name", name);
    }
    if (!rest.len) {
        return reader_lacks(r, "a node, as it would stand in the file: NAME: {shell: make}");
    }
    Json node = span_value(rest, NULL);
    if (json_kind(node) == JSON_OBJECT) {
        return reader_put(r, "node", node);
    }
    json_unref(node);
    return reader_put(r, "text", span_string(rest));
}

static bool read_uninject(CommandReader *r) {
    return reader_put_number(r, "id", "the number of an injected node") && reader_ends(r);
}

static void add_injected(View *v, Json injected) {
    view_format(v, injected,
                "[Node {id}, ]`{name}`[, runs {where} the current one: ]{node|json}\n");
}

static void view_inject(View *v, Json answer) {
    add_injected(v, field_get(answer, "injected"));
}

void view_injected(View *v, Json answer) {
    Json list = field_get(answer, "injected");
    for (size_t i = 0; i < field_items(list); i++) {
        add_injected(v, json_array_get(list, i));
    }
    if (!field_items(list)) {
        view_hint(v, "No node is injected.");
    }
}

static void view_removed(View *v, Json answer) {
    view_format(v, answer, "[Removed {removed}.\n]");
}

/* ---- the rows ---- */

const ConsoleCommand changing_commands[] = {
    {"set", "", "PATH = JSON", "change the state when the frame goes on",
     "It is pending until then: `info pending` lists it, `revoke` takes it back.",
     "set .user.name = \"Ada\"", .offers = OFFERS_PATH, .read = read_setting, .operation = "set",
     .view = view_pending},
    {"unset", "", "PATH", "remove something from the state in the same way", NULL, "unset .errors",
     .offers = OFFERS_PATH, .read = read_unset, .operation = "unset", .view = view_pending},
    {"revoke", "", "[N]", "take back what is pending", .read = read_id_or_all,
     .operation = "revoke", .view = view_pending},
    {"inject", "", "[before | after] [NAME:] NODE", "run another node before or after this one",
     "NODE is written as in the file, on one line.", "inject before probe: {shell: env}",
     .words = "after before", .read = read_inject, .operation = "inject", .view = view_inject},
    {"uninject", "", "N", "remove an injected node", .read = read_uninject,
     .operation = "inject_remove", .view = view_removed},
    {0},
};
