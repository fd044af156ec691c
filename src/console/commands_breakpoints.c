/* commands_breakpoints.c - breakpoints and watches. */
#include "ascii.h"
#include "console_inside.h"
#include "mem.h"

#include <string.h>

/* ---- setting ---- */

char *console_break_spec(const char *file, const char *text, size_t len, Error *err) {
    Buf spec = BUF_INIT;
    size_t digits = 0;
    while (digits < len && ascii_is_digit(text[digits])) digits++;
    bool line = digits && (digits == len || char_is_blank(text[digits])); /* "12", "12 if .x" */
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

static bool put_spec(CommandReader *r, const char *text, size_t len) {
    char *spec = console_break_spec(r->context->file, text, len, r->err);
    bool ok = spec && reader_put(r, "spec", json_string_c(spec));
    mem_free(spec);
    return ok;
}

static bool read_break(CommandReader *r) {
    Span spec = reader_rest(r);
    return spec.len ? put_spec(r, spec.text, spec.len)
                    : reader_lacks(r, "a place, a condition or both");
}

static bool read_logpoint(CommandReader *r) {
    Span place;
    if (!reader_at_end(r) && *r->at == '"') { /* a name with blanks in it */
        const char *close = memchr(r->at + 1, '"', (size_t)(r->end - r->at - 1));
        if (!close) return error_set(r->err, ERR_USAGE, "The quote before the name is not closed.");
        place = (Span){r->at + 1, (size_t)(close - r->at - 1)};
        r->at = close + 1;
    } else {
        place = reader_next(r);
    }
    Span text = reader_rest(r);
    if (!place.len || !text.len) return reader_lacks(r, "a place and the text to write there");
    return put_spec(r, place.text, place.len) && reader_put(r, "log_message", span_string(text));
}

static bool read_catch(CommandReader *r) {
    if (!reader_takes(r, "error") && reader_takes(r, "caught")) {
        reader_put(r, "caught", json_bool(true));
    }
    if (!reader_takes(r, "if")) return reader_ends(r);
    Span expr = reader_rest(r);
    return expr.len ? reader_put(r, "error", span_string(expr))
                    : error_set(r->err, ERR_USAGE, "What is the condition? It stands behind `if`.");
}

static void add_target(View *v, Json b) {
    Json type = field_get(b, "type"), state = field_get(b, "state");
    if (json_string_is(type, "exception")) {
        view_puts(v, "errors");
        view_if(v, b, "caught", ", caught ones too");
        view_format(v, b, "[ if {error}]");
    } else if (json_kind(state) == JSON_OBJECT) {
        bool becomes = !json_is_none(field_get(state, "equals"));
        view_format(v, state,
                    becomes ? "{path|path} becomes {equals|json}" : "{path|path} changes");
    } else if (json_string_is(type, "conditional")) {
        view_puts(v, "any node");
    } else {
        view_format(v, b, "[{node}][task {task_index}][task with id {task_id}]");
        view_format(v, b, "[tasks of kind {task_name}][task titled \"{task_title}\"]");
        view_format(v, b, "[{file}][:{line}]");
    }
    if (!json_string_is(field_get(b, "position"), "before")) view_format(v, b, "[ ({position})]");
}

static void add_breakpoint(View *v, Json b) {
    add_target(v, b);
    view_format(v, b, "[ if {condition}][, at hits {hit_condition}]");
    int64_t left = field_number(b, "ignore_count", 0) + field_number(b, "ignore_from", 0) -
                   field_number(b, "hit_count", 0);
    if (left > 0) view_printf(v, ", after %lld hit%s", (long long)left, left == 1 ? "" : "s");
    view_format(v, b, "[, logs \"{log_message}\"]");
    view_if(v, b, "once", ", once");
    view_format(v, b, "[, group {group}]");
}

static bool is_unverified(Json b) {
    return json_tag(field_get(b, "verified")) == JSON_TAG_FALSE;
}

void view_breakpoints(View *v, Json answer) {
    static const char *const heading[] = {"NUM", "ON", "HITS", "STOPS AT"};
    Table t = {.columns = 4};
    View cell = {.out = &t.cells};
    Json list = field_get(answer, "breakpoints");
    if (!json_array_len(list)) {
        view_hint(v, "There are no breakpoints.");
        return;
    }
    table_row(&t, heading);
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json b = json_array_get(list, i);
        view_cell(&t, field_get(b, "id"));
        view_puts(&cell, json_tag(field_get(b, "enabled")) == JSON_TAG_FALSE ? "no" : "yes");
        table_next(&t);
        view_printf(&cell, "%lld", (long long)field_number(b, "hit_count", 0));
        table_next(&t);
        add_breakpoint(&cell, b);
        view_format(&cell, b, is_unverified(b) ? "[, not verified: {message}]" : "[, {message}]");
        table_next(&t);
    }
    view_table(v, &t);
}

/* One, or those that were set together. */
static void view_breakpoint(View *v, Json answer) {
    Json b = field_get(answer, "breakpoint"), places = field_get(b, "places");
    if (json_kind(b) != JSON_OBJECT) {
        view_breakpoints(v, answer);
        return;
    }
    view_format(v, b, field_has_text(b, "log_message") ? "Log point {id}: " : "Breakpoint {id}: ");
    add_breakpoint(v, b);
    if (json_array_len(places) == 1) {
        view_where(v, ", ", json_array_get(places, 0));
    } else if (json_array_len(places) > 1) {
        view_printf(v, ", %zu places", json_array_len(places));
    }
    view_puts(v, is_unverified(b) ? ", not verified\n" : "\n");
    view_format(v, b, "[  {message}\n]");
}

/* ---- changing ---- */

/* Text for a field; nothing takes it away. */
static bool read_field(CommandReader *r, const char *field) {
    if (!reader_put_number(r, "id", "the number of a breakpoint first")) return false;
    Span text = reader_rest(r);
    return reader_put(r, field, text.len ? span_string(text) : json_null());
}

static bool read_condition(CommandReader *r) {
    return read_field(r, "condition");
}

static bool read_hits(CommandReader *r) {
    return read_field(r, "hit_condition");
}

static bool read_group(CommandReader *r) {
    return read_field(r, "group");
}

static bool read_ignore(CommandReader *r) {
    return reader_put_number(r, "id", "the number of a breakpoint first") &&
           reader_put_number(r, "ignore_count", "how many hits to pass over") && reader_ends(r);
}

/* N... | group G | nothing: all. */
static bool read_selection(CommandReader *r) {
    if (reader_at_end(r) || reader_takes(r, "all")) {
        r->order->everything = true;
        return reader_put(r, "all", json_bool(true)) && reader_ends(r);
    }
    if (reader_takes(r, "group")) {
        Span group = reader_rest(r);
        return group.len
                   ? reader_put(r, "group", span_string(group))
                   : error_set(r->err, ERR_USAGE, "Which group? Its name stands behind `group`.");
    }
    Json ids = json_array();
    for (int64_t id; !reader_at_end(r); ids = json_array_push(ids, json_int(id))) {
        if (!reader_number(r, "numbers of breakpoints, or `group` and a name", &id)) {
            json_unref(ids);
            return false;
        }
    }
    return reader_put(r, "ids", ids);
}

/* "Deleted 1 and 2." */
static void view_done(View *v, const char *word, Json ids) {
    if (!json_array_len(ids)) {
        view_hint(v, "There is none.");
        return;
    }
    view_puts(v, word);
    view_numbers(v, ids);
    view_puts(v, ".\n");
}

static void view_deleted(View *v, Json answer) {
    view_done(v, "Deleted ", field_get(answer, "deleted"));
}

static void view_enabled(View *v, Json answer) {
    bool on = json_truthy(field_get(v->args, "enabled"));
    view_done(v, on ? "Enabled " : "Disabled ", field_get(answer, "changed"));
}

/* ---- watches ---- */

static bool read_watch(CommandReader *r) {
    if (reader_at_end(r)) {
        r->order->operation = "watches";
        r->order->view = view_all_watches;
        return true;
    }
    return reader_put(r, "expression", span_string(reader_rest(r)));
}

void view_watches(View *v, Json answer) {
    Json list = field_get(answer, "watches");
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json watch = json_array_get(list, i), results = field_get(watch, "results");
        view_format(v, watch, "[{id}: ]{expression} = ");
        if (field_has_text(watch, "error")) {
            view_error(v, "", field_get(watch, "error"));
            continue;
        }
        for (size_t k = 0; k < json_array_len(results); k++) {
            view_puts(v, k ? ", " : "");
            view_json(v, json_array_get(results, k), VIEW_LINE);
        }
        if (json_kind(field_get(watch, "omitted")) == JSON_OBJECT) {
            view_puts(v, json_array_len(results) ? ", " : "");
            view_format(v, field_get(watch, "omitted"), "{preview} (too large to print)\n");
        } else {
            view_puts(v, json_array_len(results) ? "\n" : "no output\n");
        }
    }
}

void view_all_watches(View *v, Json answer) {
    view_watches(v, answer);
    if (!json_array_len(field_get(answer, "watches"))) view_hint(v, "There are no watches.");
}

static void view_watch_added(View *v, Json answer) {
    view_format(v, field_get(answer, "watch"), "[Watch {id}][: {expression}\n]");
}

/* ---- kept for later ---- */

/* [breakpoints] [FILE]: gdb has the first word. */
static bool read_file_or_none(CommandReader *r) {
    reader_takes(r, "breakpoints");
    Span path = reader_rest(r);
    if (memchr(path.text, '\0', path.len)) return reader_lacks(r, "the name of a file");
    r->order->text = path.len ? mem_strndup(path.text, path.len) : NULL;
    return true;
}

static bool read_save(CommandReader *r) {
    return read_file_or_none(r) && (!r->order->text || reader_put(r, "give", json_bool(true)));
}

/* "3 breakpoints and 1 watch" */
static void add_counts(View *v, int64_t breakpoints, int64_t watches) {
    if (breakpoints || !watches) {
        view_printf(v, "%lld breakpoint%s", (long long)breakpoints, breakpoints == 1 ? "" : "s");
    }
    if (watches) {
        view_printf(v, "%s%lld watch%s", breakpoints ? " and " : "", (long long)watches,
                    watches == 1 ? "" : "es");
    }
}

static void view_saved(View *v, Json answer) {
    int64_t breakpoints = field_number(answer, "breakpoints", 0);
    int64_t watches = field_number(answer, "watches", 0);
    bool file = field_has_text(answer, "file");
    if (!breakpoints && !watches && !file) {
        view_hint(v, "There are none, so nothing is saved for this workflow any more.");
        return;
    }
    view_puts(v, "Saved ");
    add_counts(v, breakpoints, watches);
    view_format(v, answer,
                file ? " to {file}; `load {file}` sets them.\n"
                     : " for this workflow; `load` sets them, also in another run of it.\n");
}

static void view_loaded(View *v, Json answer) {
    Json set = field_get(answer, "breakpoints"), refused = field_get(answer, "refused");
    int64_t watches = field_number(answer, "watches", 0), there = field_number(answer, "there", 0);
    for (size_t i = 0; i < json_array_len(set); i++) {
        Json one = OBJECT(KEY("breakpoint", json_ref(json_array_get(set, i))));
        view_breakpoint(v, one);
        json_unref(one);
    }
    if (watches) {
        add_counts(v, 0, watches);
        view_puts(v, watches == 1 ? " is set.\n" : " are set.\n");
    }
    if (there) {
        view_printf(v, "%lld %s there already.\n", (long long)there, there == 1 ? "was" : "were");
    }
    for (size_t i = 0; i < json_array_len(refused); i++) {
        view_error(v, "Not set: ", field_get(json_array_get(refused, i), "message"));
    }
    if (!json_array_len(set) && !watches && !there && !json_array_len(refused)) {
        view_hint(v, "There is none in it.");
    }
}

/* ---- the rows ---- */

const ConsoleCommand breakpoint_commands[] = {
    {"break", "b br", "SPEC", "stop at a place",
     "SPEC is NODE, NODE:after, NODE:error, FILE:LINE, LINE (of the main file), changed:PATH for the "
     "step that changes the state there, state:PATH=JSON for the one that makes it so, error for what "
     "nobody handles, caught for every error; with `if EXPR` behind it only when that holds. `if EXPR` "
     "alone is tried at every node. A NODE may have * and ? in it, and be OUTER/NODE, or the title of a task; one with a "
     "colon or an `if` in it stands in quotes.",
     "break deploy if .tries > 2", .offers = OFFERS_BREAK, .read = read_break,
     .operation = "breakpoint_set", .view = view_breakpoint},
    {"tbreak", "tb", "SPEC", "stop at a place, once", NULL, "tbreak flow.yaml:12",
     .offers = OFFERS_BREAK, .read = read_break, .operation = "breakpoint_set",
     .args = "{\"once\":true}", .view = view_breakpoint},
    {"catch", "", "[error|caught] [if EXPR]", "stop where a node fails",
     "`caught` also stops where a retry or an error edge takes the error. EXPR looks at the error: "
     ".kind, .message, .node.",
     "catch if .kind == \"timeout\"", .words = "error caught if", .read = read_catch,
     .operation = "breakpoint_set", .args = "{\"type\":\"exception\"}", .view = view_breakpoint},
    {"logpoint", "log dprintf", "PLACE TEXT", "write a text there and go on",
     "TEXT is the inside of a jq string. A PLACE with blanks in it stands in quotes.",
     "logpoint build tries: \\(.tries)", .offers = OFFERS_NODE, .read = read_logpoint,
     .operation = "breakpoint_set", .view = view_breakpoint},
    {"condition", "cond", "N [EXPR]", "stop at breakpoint N only when EXPR holds",
     "Without EXPR it always stops.", "condition 1 .x > 3", .read = read_condition,
     .operation = "breakpoint_change", .view = view_breakpoint},
    {"ignore", "", "N COUNT", "pass over the next hits of breakpoint N", NULL, "ignore 1 9",
     .read = read_ignore, .operation = "breakpoint_change", .view = view_breakpoint},
    {"hits", "", "N [== M | >= M | % M]", "stop at breakpoint N at these hits only", NULL,
     "hits 1 % 10", .read = read_hits, .operation = "breakpoint_change", .view = view_breakpoint},
    {"group", "", "N [NAME]", "put breakpoint N in a group, or take it out", NULL,
     "group 1 deploying", .read = read_group, .operation = "breakpoint_change",
     .view = view_breakpoint},
    {"delete", "d del", "[N... | group NAME]", "delete breakpoints",
     "Without arguments, all of them.", "delete 1 3", .words = "group",
     .asks = "Delete all breakpoints?", .read = read_selection, .operation = "breakpoint_delete",
     .view = view_deleted},
    {"enable", "en", "[N... | group NAME]", "make breakpoints stop again",
     "Without arguments, all of them.", "enable group deploying", .words = "group",
     .read = read_selection, .operation = "breakpoint_enable", .args = "{\"enabled\":true}",
     .view = view_enabled},
    {"disable", "dis", "[N... | group NAME]", "keep breakpoints, but let them not stop",
     "Without arguments, all of them.", "disable 2", .words = "group", .read = read_selection,
     .operation = "breakpoint_enable", .args = "{\"enabled\":false}", .view = view_enabled},
    {"watch", "display", "[EXPR]", "show a value whenever a frame stops",
     "Without an expression, shows the values now. `break changed:PATH` stops when one changes.",
     "watch .items | length", .offers = OFFERS_EXPRESSION, .read = read_watch,
     .operation = "watch_add", .view = view_watch_added},
    {"unwatch", "undisplay", "[N]", "show a value no longer", "Without a number, none of them.",
     "unwatch 1", .read = read_id_or_all, .operation = "watch_delete", .view = view_deleted},
    {"save", "", "[FILE]", "keep the breakpoints and watches for later",
     "Without FILE they are kept with the store, for this workflow: `load` sets them in a later run of the same "
     "file, and whoever debugs one is told. Their hits are not kept.",
     "save stops.json", .read = read_save, .operation = "breakpoint_save", .view = view_saved},
    {"load", "", "[FILE]", "set the breakpoints and watches that were saved",
     "They are added to those that are there; what is there already is not set again.",
     "load stops.json", .read = read_file_or_none, .view = view_loaded, .act = console_do_load},
    {0},
};
