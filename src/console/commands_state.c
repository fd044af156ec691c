/* commands_state.c - looking at the state and at what a node is told to do, and changing both. */
#include "ascii.h"
#include "commands.h"
#include "json_diff.h"

#include <string.h>

/* @12 first: from the history. Always true. */
static bool take_checkpoint(CommandReader *r) {
    int64_t number;
    Span word = reader_peek(r);
    if (span_checkpoint(word, false, &number)) {
        r->at += word.len;
        reader_put(r, "checkpoint", json_int(number));
    }
    return true;
}

/* ---- values ---- */

static bool read_print(CommandReader *r) {
    return take_checkpoint(r) && reader_put_rest(r, "expression", "an expression");
}

static void view_results(View *v, Json answer) {
    Json results = field_get(answer, "results");
    for (size_t i = 0; i < json_array_len(results); i++) view_value(v, json_array_get(results, i));
    if (json_kind(field_get(answer, "omitted")) == JSON_OBJECT) {
        view_hint(v,
                  "A value that is too large to print; `state PATH` and `summary` show its parts.");
    } else if (!json_array_len(results)) {
        view_hint(v, "No output.");
    } else {
        view_if(v, answer, "more", "and more\n");
    }
}

/* [@CHECKPOINT] [PATH] [+OFFSET] */
static bool read_state(CommandReader *r) {
    int64_t offset;
    take_checkpoint(r);
    Span rest = reader_rest(r);
    const char *end = rest.text + rest.len, *word = end;
    while (word > rest.text && !char_is_blank(word[-1])) word--;
    size_t len = (size_t)(end - word);
    if (len > 1 && word[0] == '+' && span_number((Span){word + 1, len - 1}, &offset)) {
        reader_put(r, "offset", json_int(offset));
        rest = span_between(rest.text, word);
    }
    return !rest.len || reader_put(r, "path", span_string(rest));
}

/* The parts of a value, with what they are called in the field `name`. */
static void add_parts(View *v, Json list, const char *name) {
    Table t = {.columns = 4};
    View cell = {.out = &t.cells};
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json part = json_array_get(list, i);
        view_puts(&cell, "  ");
        view_path(&cell, field_get(part, name));
        table_next(&t);
        view_cell(&t, field_get(part, "type"));
        view_format(&cell, part, "[{size|size}]");
        table_next(&t);
        view_cell(&t, field_get(part, "preview"));
    }
    view_table(v, &t);
}

static void view_variables(View *v, Json answer) {
    Json children = field_get(answer, "children"), value = field_get(answer, "value");
    int64_t total = field_number(answer, "total", 0), offset = field_number(v->args, "offset", 0);
    int64_t shown = offset + (int64_t)json_array_len(children);
    if (!json_is_none(value)) {
        view_value(v, value);
        return;
    }
    view_format(v, answer, "[{type} of ]{size|size}");
    view_printf(v, ", %lld parts:\n", (long long)total);
    add_parts(v, children, "key");
    if (shown < total) {
        view_printf(v, "and %lld more: `state PATH +%lld`\n", (long long)(total - shown),
                    (long long)shown);
    }
}

/* ---- parts of it ---- */

static bool read_summary(CommandReader *r) {
    return take_checkpoint(r) && reader_ends(r);
}

static void view_summary(View *v, Json answer) {
    Json keys = field_get(answer, "keys");
    int64_t more = field_number(answer, "total", 0) - (int64_t)json_array_len(keys);
    add_parts(v, keys, "key");
    if (more > 0) view_printf(v, "and %lld more\n", (long long)more);
    view_format(v, answer, "In all {size|size}.\n");
}

static bool read_search(CommandReader *r) {
    return take_checkpoint(r) && reader_put_rest(r, "text", "a text to look for");
}

static void view_found(View *v, Json answer) {
    if (!json_array_len(field_get(answer, "found"))) {
        view_hint(v, "It is nowhere in the state.");
        return;
    }
    add_parts(v, field_get(answer, "found"), "path");
    view_if(v, answer, "more", "and more\n");
}

static bool read_limit(CommandReader *r) {
    int64_t limit;
    return reader_at_end(r) ||
           (reader_number(r, "how many", &limit) &&
            reader_put(r, "limit", json_int(limit ? limit : 1)) && reader_ends(r));
}

static void view_largest(View *v, Json answer) {
    add_parts(v, field_get(answer, "largest"), "path");
    if (!json_array_len(field_get(answer, "largest"))) view_hint(v, "The state is empty.");
}

/* ---- differences ---- */

static bool read_diff(CommandReader *r) {
    static const char *const ends[] = {"from", "to"};
    int64_t number;
    Span since = reader_peek(r);
    if (span_is(since, "pause") || span_is(since, "node") || span_is(since, "start")) {
        return reader_put(r, "since", span_string(reader_next(r))) && reader_ends(r);
    }
    for (size_t i = 0; i < 2 && !reader_at_end(r); i++) {
        Span word = reader_next(r);
        if (!span_checkpoint(word, true, &number)) {
            return error_set(r->err, ERR_USAGE,
                             "`diff` takes pause, node, start or two checkpoints, not `%.*s`.",
                             QUOTED(word));
        }
        reader_put(r, ends[i], json_int(number));
    }
    return reader_ends(r);
}

/* One that came as its beginning is shown as that, with its size; of two long strings, where they differ. */
static void view_side(View *v, Json change, bool old) {
    Json value = field_get(change, old ? "old" : "new");
    Json other = field_get(change, old ? "new" : "old");
    if (!json_is_none(field_get(change, old ? "old_size" : "new_size"))) {
        view_format(v, change, old ? "{old} ({old_size|size})" : "{new} ({new_size|size})");
        return;
    }
    bool strings = json_kind(value) == JSON_STRING && json_kind(other) == JSON_STRING;
    bool apart = strings && json_string_len(value) + 2 > VIEW_LINE;
    Json shown = apart ? json_string_apart(value, other) : json_ref(value);
    view_json(v, shown, VIEW_LINE);
    json_unref(shown);
}

void view_diff(View *v, Json answer) {
    static const struct {
        const char *list, *sign;
        Style style;
        bool old, new;
    } kinds[] = {
        {"changed", "~ ", STYLE_NAME, true, true},
        {"added", "+ ", STYLE_GOOD, false, true},
        {"removed", "- ", STYLE_BAD, true, false},
    };
    size_t n = 0;
    for (size_t k = 0; k < 3; k++) {
        Json list = field_get(answer, kinds[k].list);
        for (size_t i = 0; i < json_array_len(list); i++, n++) {
            view_styled(v, kinds[k].style, kinds[k].sign);
            Json change = json_array_get(list, i);
            view_format(v, change, "{path|path}: ");
            if (kinds[k].old) view_side(v, change, true);
            view_puts(v, kinds[k].old && kinds[k].new ? " → " : "");
            if (kinds[k].new) view_side(v, change, false);
            view_puts(v, "\n");
        }
    }
    view_if(v, answer, "more", "and more\n");
    if (!n) view_hint(v, "Nothing changed.");
}

/* ---- what the node is told to do ---- */

static bool read_config(CommandReader *r) {
    if (reader_takes(r, "set")) {
        r->order->operation = "config_set";
        return read_setting(r);
    }
    r->order->operation = reader_takes(r, "reset") ? "config_reset" : "config";
    return reader_ends(r);
}

void view_config(View *v, Json answer) {
    bool edited = json_truthy(field_get(answer, "edited"));
    view_node(v, answer);
    view_format(v, answer, "[, \"{title}\"]");
    view_puts(v, edited ? ", edited for this execution:\n" : ":\n");
    view_hidden(v, view_value, field_get(answer, "raw"));
    if (!json_is_none(field_get(answer, "resolved"))) {
        view_puts(v, "Resolved:\n");
        view_hidden(v, view_value, field_get(answer, "resolved"));
    }
    view_error(v, "Cannot be resolved now: ", field_get(answer, "error"));
}

/* ---- changing it ---- */

static bool read_unset(CommandReader *r) {
    return reader_put_rest(r, "path", "the path of what is to go");
}

void view_pending(View *v, Json answer) {
    Json list = field_get(answer, "pending");
    if (!json_array_len(list)) {
        view_hint(v, "Nothing is pending.");
        return;
    }
    view_puts(v, "When the frame goes on:\n");
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json change = json_array_get(list, i);
        bool set = !json_is_none(field_get(change, "value"));
        view_format(v, change,
                    set ? "[  {id}: ]{path|path} = {value|json}\n"
                        : "[  {id}: ]{path|path} is removed\n");
    }
}

/* ---- further nodes ---- */

/* "KEY:" and a blank, or nothing more. */
static bool begins_with_key(Span s) {
    size_t n = 0;
    while (n < s.len && ascii_is_name(s.text[n])) n++;
    return n && n < s.len && s.text[n] == ':' && (n + 1 == s.len || char_is_blank(s.text[n + 1]));
}

/* NAME: before KEY: VALUE; in quotes where it has to be. `jq: .n` has none, and before braces it is
 * YAML as it stands, which whoever knows the kinds of nodes reads. */
static bool take_name(Span *rest, Json *name) {
    const char *end = rest->text + rest->len, *at = rest->text;
    while (at < end && *at != '{' && !(*at == ':' && (at + 1 == end || char_is_blank(at[1])))) at++;
    if (at == end || *at == '{' || at == rest->text) return false;
    Span node = span_between(at + 1, end), written = span_between(rest->text, at);
    if (node.len && !begins_with_key(node)) return false;
    Json quoted = written.text[0] == '"' ? span_value(written, NULL) : json_none();
    *name = json_kind(quoted) == JSON_STRING ? quoted : span_string(written);
    *rest = node;
    return true;
}

static bool read_inject(CommandReader *r) {
    Json name;
    bool after = reader_takes(r, "after");
    reader_put(r, "where", json_string_c(after ? "after" : "before"));
    if (!after) reader_takes(r, "before");
    Span rest = reader_rest(r);
    if (take_name(&rest, &name)) reader_put(r, "name", name);
    if (!rest.len) {
        return reader_lacks(r, "a node, as it would stand in the file: NAME: {shell: make}");
    }
    Json node = span_value(rest, NULL);
    if (json_kind(node) == JSON_OBJECT) return reader_put(r, "node", node);
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
    for (size_t i = 0; i < json_array_len(list); i++) add_injected(v, json_array_get(list, i));
    if (!json_array_len(list)) view_hint(v, "No node is injected.");
}

static void view_removed(View *v, Json answer) {
    view_format(v, answer, "[Removed {removed}.\n]");
}

/* ---- the rows ---- */

const ConsoleCommand state_commands[] = {
    {"print", "p pp evaluate", "[@CHECKPOINT] EXPR",
     "evaluate a jq expression on what the node sees",
     "A line that begins with a dot is printed too.", "print .items | map(.name)",
     .flags = COMMAND_REPEATS, .offers = OFFERS_EXPRESSION, .read = read_print,
     .operation = "evaluate", .view = view_results},
    {"state", "vars variables", "[@CHECKPOINT] [PATH] [+OFFSET]",
     "show the state, or what is at a path",
     "A large value is shown by its parts; +100 shows the parts from there on.",
     "state .items +100", .offers = OFFERS_PATH, .read = read_state, .operation = "variables",
     .view = view_variables},
    {"summary", "", "[@CHECKPOINT]", "list the keys of the state, their types and sizes",
     .read = read_summary, .operation = "summary", .view = view_summary},
    {"search", "", "[@CHECKPOINT] TEXT", "find keys and values in the state", NULL,
     "search timeout", .read = read_search, .operation = "search", .view = view_found},
    {"largest", "", "[N]", "list the largest parts of the state", .read = read_limit,
     .operation = "largest", .view = view_largest},
    {"diff", "", "[pause | node | start | A B]", "show what changed in the state",
     "Since the last pause (unless told), across the last node, since the start, or between two "
     "checkpoints.",
     "diff 3 7", .words = "node pause start", .read = read_diff, .operation = "diff",
     .view = view_diff},
    {"config", "", "[set PATH = JSON | reset]", "show or edit what the node is told to do",
     "An edit is for this one execution.", "config set .timeout = 60", .words = "set reset",
     .read = read_config, .operation = "config", .view = view_config},
    {0},
};

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
