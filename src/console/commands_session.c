/* commands_session.c - the session itself, the end of it, and help. */
#include "console_inside.h"
#include "json_duration.h"
#include "mem.h"

#include <string.h>

/* ---- how it works ---- */

static bool read_switch(Span s, Json *value, Error *err) {
    if (!span_is(s, "on") && !span_is(s, "off")) {
        return error_set(err, ERR_USAGE, "It is on or off, not `%.*s`.", QUOTED(s));
    }
    *value = json_bool(span_is(s, "on"));
    return true;
}

/* Seconds of "30m", "90", "1h 30m" or "off". */
static bool read_seconds(Span s, Json *value, Error *err) {
    int64_t ms = 0;
    Json number = json_number_parse(s.text, s.len);
    Json text = json_is_none(number) ? span_string(s) : number;
    bool off = span_is(s, "off"), ok = off || (json_duration(text, &ms) && ms >= 0);
    json_unref(text);
    if (!ok) {
        return error_set(err, ERR_USAGE, "`%.*s` is no length of time; it is as 30m, 90s or 2h.",
                         QUOTED(s));
    }
    *value = off ? json_int(0) : json_number((double)ms / 1000);
    return true;
}

static bool read_option(CommandReader *r) {
    static const struct {
        const char *name, *field;
        bool (*read)(Span s, Json *value, Error *err);
    } options[] = {
        {"pause-all", "pause_all_on_breakpoint", read_switch},
        {"auto-resume", "auto_resume", read_switch},
        {"idle", "idle_limit", read_seconds},
        {"steps", "steps", read_switch},
        {"breakpoints", "breakpoints", read_switch},
        {"exceptions", "exceptions", read_switch},
    };
    Json value;
    if (reader_at_end(r)) {
        r->order->operation = "session";
        return true;
    }
    Span name = reader_next(r), text = reader_rest(r);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (span_is(name, options[i].name)) {
            return options[i].read(text, &value, r->err) && reader_put(r, options[i].field, value);
        }
    }
    return error_set(r->err, ERR_USAGE, "There is no option `%.*s`.", QUOTED(name));
}

static bool read_extend(CommandReader *r) {
    Json seconds;
    Span text = reader_rest(r);
    return !text.len || (read_seconds(text, &seconds, r->err) && reader_put(r, "seconds", seconds));
}

void view_session(View *v, Json answer) {
    bool ended = json_string_is(field_get(answer, "status"), "ended");
    bool pause_all = json_truthy(field_get(answer, "pause_all_on_breakpoint"));
    bool auto_resume = json_truthy(field_get(answer, "auto_resume"));
    double limit = field_seconds(answer, "idle_limit"), left = field_seconds(answer, "expires_in");
    view_format(v, answer, "[Thread {thread}][ (run {run})][ of workflow {workflow}]");
    view_where(v, ", ", answer);
    view_format(v, answer, ended ? "[\nStatus: {run_status}]" : "[\nStatus: {status}]");
    if (field_number(answer, "paused", 0)) view_format(v, answer, ", frames paused: {paused}");
    view_format(v, answer, "[, selected frame: {frame}][, checkpoint {checkpoint}]");
    if (json_kind(field_get(answer, "breakpoints")) == JSON_FALSE) {
        view_puts(v, "\nBreakpoints are off: none stops anything");
    }
    if (json_kind(field_get(answer, "exceptions")) == JSON_FALSE) {
        view_puts(v, "\nExceptions are off: errors stop nothing");
    }
    view_printf(v, "\nOptions: pause-all %s, auto-resume %s, idle ", pause_all ? "on" : "off",
                auto_resume ? "on" : "off");
    view_format(v, answer,
                limit <= 0  ? "off\n"
                : left >= 0 ? "{idle_limit|time} ({expires_in|time} left)\n"
                            : "{idle_limit|time}\n");
    view_error(v, "", field_get(answer, "error"));
}

/* ---- what becomes of the run ---- */

static bool read_export(CommandReader *r) {
    Span path = reader_rest(r);
    if (!path.len || memchr(path.text, '\0', path.len)) return reader_lacks(r, "the file to write");
    r->order->text = mem_strndup(path.text, path.len);
    return true;
}

static void view_exported(View *v, Json answer) {
    view_format(v, answer, "[Wrote {file}; `pawl debug --open {file}` shows it.\n]");
}

/* Where a word stands that has blanks around it, or the end behind it; NULL: nowhere. */
static const char *find_option(const char *at, const char *end, const char *word) {
    size_t len = strlen(word);
    for (const char *from = at; (size_t)(end - at) >= len; at++) {
        bool begins = at == from || char_is_blank(at[-1]);
        bool ends = at + len == end || char_is_blank(at[len]);
        if (begins && ends && !memcmp(at, word, len)) return at;
    }
    return NULL;
}

static const char *const replay_options[] = {"--input", "--config"};

/* The next of them that stands behind a place; its end where there is none. */
static const char *next_option(const char *at, const char *end) {
    const char *first = end;
    for (size_t i = 0; i < 2; i++) {
        const char *found = find_option(at, end, replay_options[i]);
        first = found && found < first ? found : first;
    }
    return first;
}

/* JSON may have the word of another option in it: the first of them that leaves an object before it ends it. */
static bool read_object(CommandReader *r, const char *key) {
    const char *from = r->at, *end = from;
    do {
        end = next_option(end < r->end ? end + 1 : end, r->end);
        Span text = span_between(from, end);
        Json value = span_value(text, NULL);
        if (json_kind(value) == JSON_OBJECT) {
            r->at = end;
            return reader_put(r, key, value);
        }
        json_unref(value);
    } while (end < r->end);
    return error_set(r->err, ERR_USAGE, "`--%s` takes an object as JSON, like {\"name\": 1}.", key);
}

/* [@CHECKPOINT | NODE] [--input JSON] [--config JSON] */
static bool read_replay(CommandReader *r) {
    const char *options = reader_at_end(r) ? r->end : next_option(r->at, r->end), *end = r->end;
    r->end = options;
    while (r->end > r->at && char_is_blank(r->end[-1])) r->end--;
    if (!reader_at_end(r) && !read_goto(r)) return false;
    r->at = options;
    r->end = end;
    while (!reader_at_end(r)) {
        Span word = reader_next(r);
        bool input = span_is(word, replay_options[0]);
        if (!input && !span_is(word, replay_options[1])) {
            return error_set(r->err, ERR_USAGE, "`replay` takes --input and --config, not `%.*s`.",
                             QUOTED(word));
        }
        if (!read_object(r, input ? "input" : "config")) return false;
    }
    return true;
}

static void view_replay(View *v, Json answer) {
    view_format(v, answer, "[It runs again as thread {thread}.\n]");
}

static bool read_abort(CommandReader *r) {
    r->order->everything = true;
    return reader_ends(r);
}

static bool read_help(CommandReader *r) {
    Span topic = reader_next(r);
    const ConsoleCommand *c = topic.len ? commands_find(topic.text, topic.len, r->err) : NULL;
    if (topic.len && !c) return false;
    r->order->text = c ? mem_strndup(c->name, strlen(c->name)) : NULL;
    return reader_ends(r);
}

/* ---- the rows ---- */

const ConsoleCommand session_commands[] = {
    {"option", "", "[breakpoints | exceptions | pause-all | auto-resume | steps on|off, idle TIME]",
     "see or change how the session works",
     "breakpoints, exceptions: off, those of that kind stop nothing until they are on again, and each stays "
     "enabled or not as it was. pause-all: when a frame stops, all do. idle: how long nobody may do anything before the session "
     "is over (`off`: for ever); then frames stay paused, or with auto-resume go on. steps: tell of "
     "every node.",
     "option idle 30m", .words = "auto-resume breakpoints exceptions idle pause-all steps",
     .read = read_option, .operation = "configure", .view = view_session},
    {"extend", "", "[TIME]", "let the idle time begin anew", NULL, "extend 2h", .read = read_extend,
     .operation = "extend", .view = view_session},
    {"export", "", "FILE", "write the run with its history to a file",
     "`pawl debug --open FILE` shows it anywhere.", "export run.json", .read = read_export,
     .operation = "export", .view = view_exported},
    {"replay", "", "[@CHECKPOINT | NODE] [--input JSON] [--config JSON]",
     "run one node again on the input that it had, or on another",
     "It is a run of its own; this one stays as it is. --input says what the node sees instead, by name; --config which "
     "keys of the node, as it is written, are others this time (null: not there).",
     "replay build --input {\"target\": \"arm\"}", .flags = COMMAND_GOES, .offers = OFFERS_NODE,
     .read = read_replay, .operation = "replay", .view = view_replay},
    {"abort", "kill k", "", "cancel the run; its cleanup tasks run", .flags = COMMAND_GOES,
     .asks = "Cancel the run?", .read = read_abort, .operation = "abort"},
    {"detach", "", "", "let the run go on without a debugger", .flags = COMMAND_GOES,
     .operation = "detach"},
    {"quit", "q exit", "", "leave; the run stays paused in its store", .act = console_do_quit},
    {"help", "h", "[COMMAND]", "list the commands, or explain one", .offers = OFFERS_COMMAND,
     .read = read_help, .view = view_text_lines, .act = console_do_help},
    {0},
};
