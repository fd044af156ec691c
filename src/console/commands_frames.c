/* commands_frames.c - looking at frames, nodes, the text of the workflow and the history. */
#include "commands.h"

/* ---- where a frame stands ---- */

void view_passing(View *v, Json passing) {
    static const char *const ends[][2] = {
        {"false", "  `{expression}` does not hold here"},
        {"error", "  `{expression}` cannot be told here"},
        {"limit", "  `{expression}` still holds, but that is the limit"},
        {"pause", "  `{expression}` has held so far"},
        {"run", "  `{expression}` held to the end"},
        {NULL, NULL},
    };
    const char *words = field_word(field_get(passing, "ended"), ends);
    int64_t passed = field_number(passing, "passed", 0);
    if (!words) return;
    view_format(v, passing, words);
    view_printf(v, "; %lld stop%s passed over.\n", (long long)passed,
                passed == 1 ? " was" : "s were");
    view_error(v, "  ", field_get(passing, "error"));
}

void view_place(View *v, Json place) {
    static const char *const reasons[][2] = {
        {"initial", ", at the start"},
        {"user_pause", ", as asked"},
        {"interrupt", ", waits for an answer"},
        {"approval", ", waits for an answer"},
        {NULL, ""},
    };
    Json change = field_get(place, "change");
    view_frame_name(v, place);
    if (field_has_text(place, "node")) {
        view_printf(v, " paused %s ", view_position(place));
        view_node(v, place);
    } else {
        view_puts(v, " paused at the end");
    }
    view_if(v, place, "edited", ", edited");
    view_breakpoint_ids(v, field_get(place, "breakpoints"));
    if (json_tag(field_get(place, "because")) == JSON_TAG_INT) {
        view_format(v, place, ", since frame {because} stopped");
    } else {
        view_puts(v, field_word(field_get(place, "reason"), reasons));
    }
    view_where(v, ", ", place);
    view_puts(v, "\n");
    view_error(v, "  ", field_get(place, "error"));
    view_format(v, place, "[  gives {result|json}\n]");
    if (json_kind(change) == JSON_OBJECT) {
        bool old = !json_is_none(field_get(change, "old"));
        bool new = !json_is_none(field_get(change, "new"));
        view_format(v, change, old ? "  {path|path}: {old|json} → " : "  {path|path}: nothing → ");
        view_format(v, change, new ? "{new|json}\n" : "nothing\n");
    }
    view_passing(v, field_get(place, "while"));
}

/* ---- frames ---- */

static void add_doing(View *v, Json f) {
    Json status = field_get(f, "status"), joins = field_get(f, "joins_at");
    view_text(v, status);
    if (json_kind(joins) == JSON_OBJECT) {
        view_puts(v, " at ");
        if (field_has_text(joins, "node")) {
            view_node(v, joins);
        } else {
            view_puts(v, "the end");
        }
    } else if (field_has_text(f, "node")) {
        view_printf(v, " %s ", json_string_is(status, "paused") ? view_position(f) : "at");
        view_node(v, f);
    }
}

static void view_ended(View *v, Json answer) {
    static const char *const heading[] = {"  FRAME", "IN", "PATH", "LAST", "RESULT", "CHECKPOINT"};
    static const char *const fields[] = {"frame", "parent", "path", "node", "result", "checkpoint"};
    enum { COLUMNS = 6 };
    Json list = field_get(answer, "ended");
    if (!json_array_len(list)) {
        view_hint(v, "None has ended.");
        return;
    }
    Table t = {.columns = COLUMNS};
    View cell = {.out = &t.cells};
    view_puts(v, json_truthy(field_get(answer, "more_ended"))
                     ? "Those that ended last (there are more):\n"
                     : "Those that have ended:\n");
    table_row(&t, heading);
    for (size_t i = 0; i < json_array_len(list); i++) {
        for (size_t k = 0; k < COLUMNS; k++) {
            view_puts(&cell, k ? "" : "  ");
            view_cell(&t, field_get(json_array_get(list, i), fields[k]));
        }
    }
    view_table(v, &t);
}

/* [all] */
static bool read_frames(CommandReader *r) {
    return (!reader_takes(r, "all") || reader_put(r, "all", json_bool(true))) && reader_ends(r);
}

void view_frames(View *v, Json answer) {
    static const char *const heading[] = {"  FRAME", "NAME", "DOES", "PLACE"};
    static const char *const inner[] = {"  FRAME", "IN", "NAME", "DOES", "PLACE"};
    Json list = field_get(answer, "frames");
    int64_t selected = field_number(answer, "selected", 0);
    int64_t more = field_number(answer, "total", 0) - (int64_t)json_array_len(list);
    bool inside = false; /* each map has a `map[0]`: IN tells them apart */
    for (size_t i = 0; i < json_array_len(list); i++) {
        inside |= field_number(json_array_get(list, i), "parent", 0) != 0;
    }
    Table t = {.columns = inside ? 5 : 4};
    View cell = {.out = &t.cells};
    table_row(&t, inside ? inner : heading);
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json f = json_array_get(list, i);
        int64_t id = field_number(f, "frame", 0);
        view_printf(&cell, "%s%lld", id == selected ? "* " : "  ", (long long)id);
        table_next(&t);
        if (inside) view_cell(&t, field_get(f, "parent"));
        view_cell(&t, field_get(f, "name"));
        add_doing(&cell, f);
        table_next(&t);
        Json joins = field_get(f, "joins_at");
        view_where(&cell, "", json_is_none(joins) ? f : joins);
        table_next(&t);
    }
    view_table(v, &t);
    if (more > 0) view_printf(v, "and %lld more\n", (long long)more);
    if (!json_is_none(field_get(answer, "ended"))) view_ended(v, answer);
}

void view_frame(View *v, Json answer) {
    Json interrupt = field_get(answer, "interrupt"), stack = field_get(answer, "stack");
    if (json_string_is(field_get(answer, "status"), "paused")) {
        view_place(v, answer);
    } else {
        view_frame_name(v, answer);
        view_puts(v, ": ");
        add_doing(v, answer);
        view_puts(v, "\n");
    }
    if (json_kind(interrupt) == JSON_OBJECT) {
        view_format(v, interrupt, "[Asks ({id}): ]{prompt}\n");
        view_ways_to_answer(v, interrupt);
    }
    for (size_t i = 0; i < json_array_len(stack); i++) {
        Json level = json_array_get(stack, i);
        view_printf(v, "#%zu  ", i);
        view_node(v, level);
        view_format(v, level, "[ in {workflow}]");
        view_where(v, ", ", level);
        view_puts(v, "\n");
    }
}

/* ---- nodes ---- */

static void view_indented(View *v, Json text) {
    view_lines(v, "  ", text);
}

static void view_node_facts(View *v, Json answer) {
    Json source = field_get(answer, "source"), edges = field_get(answer, "edges");
    view_node(v, answer);
    view_format(v, answer, "[: {title}]");
    view_where(v, ", ", answer);
    if (field_number(answer, "end_line", 0) > field_number(answer, "line", 0)) {
        view_format(v, answer, "-{end_line}");
    }
    if (field_number(answer, "attempt", 1) > 1) view_format(v, answer, ", attempt {attempt}");
    view_format(v, answer, "[, timeout {timeout}]");
    bool injected = json_truthy(field_get(answer, "injected"));
    view_if(v, answer, injected ? "injected" : "edited", injected ? ", injected" : ", edited");
    view_puts(v, "\n");
    if (field_is_text(source)) {
        view_hidden(v, view_indented, source);
    } else if (!json_is_none(source)) {
        view_hidden(v, view_value, source);
    }
    view_puts(v, json_array_len(edges) ? "Edges:\n" : "");
    for (size_t i = 0; i < json_array_len(edges); i++) {
        view_format(v, json_array_get(edges, i), "[  to {to}][ when {when}][ on {on}]\n");
    }
}

static void view_nodes(View *v, Json answer) {
    static const char *const heading[] = {"NODE", "KIND", "WORKFLOW", "PLACE"};
    Table t = {.columns = 4};
    View cell = {.out = &t.cells};
    Json list = field_get(answer, "nodes");
    table_row(&t, heading);
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json node = json_array_get(list, i);
        view_cell(&t, field_get(node, "name"));
        view_cell(&t, field_get(node, "kind"));
        view_cell(&t, field_get(node, "workflow"));
        view_where(&cell, "", node);
        table_next(&t);
    }
    view_table(v, &t);
}

static void view_edge(View *v, const char *before, Json edge) {
    Buf text = BUF_INIT;
    output_edge(edge, &text);
    Json line = json_string(text.data ? text.data : "", text.len);
    view_puts(v, before);
    view_text(v, line);
    json_unref(line);
    buf_clear(&text);
}

/* Which edges there are, and which was taken last, with what its conditions gave. */
static void view_edges(View *v, Json answer) {
    Json edges = field_get(answer, "edges"), last = field_get(answer, "last");
    if (!json_is_none(last)) {
        view_printf(v, "Last choice (checkpoint %lld): from ",
                    (long long)field_number(last, "checkpoint", 0));
        view_text(v, field_get(last, "from"));
        view_edge(v, " to ", last);
        view_puts(v, "\n");
    }
    view_puts(v, json_array_len(edges) ? "Edges from here:\n" : "There are no edges from here.\n");
    for (size_t i = 0; i < json_array_len(edges); i++) {
        Json edge = json_array_get(edges, i);
        view_edge(v, "  to ", edge);
        view_puts(v, json_is_none(field_get(edge, "error")) ? "" : " on error");
        if (field_has_text(edge, "when")) {
            view_puts(v, " when ");
            view_text(v, field_get(edge, "when"));
        }
        view_puts(v, "\n");
    }
}

/* All that is known of it: how a command ended and what it wrote, where a script was. */
static void view_failure(View *v, Json answer) {
    static const char *const told[] = {"kind", "message", "node",   "file",
                                       "line", "column",  "used_at"};
    Json error = field_get(answer, "error"), key, value;
    if (json_kind(error) != JSON_OBJECT) {
        view_hint(v, "Nothing has failed in this frame.");
        return;
    }
    view_error(v, "", error);
    view_format(v, error, "[node: {node}\n]");
    if (field_has_text(error, "file")) view_where(v, "place: ", error);
    view_end_line(v);
    Json used = field_get(error, "used_at");
    for (size_t i = 0; i < json_array_len(used); i++) {
        view_format(v, json_array_get(used, i), "used by: {node}, a {kind} node, ");
        view_where(v, "", json_array_get(used, i));
        view_end_line(v);
    }
    for (size_t pos = 0; json_object_next(error, &pos, &key, &value);) {
        bool known = false;
        for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
            known |= json_string_is(key, told[i]);
        }
        if (known) continue;
        view_text(v, key);
        view_puts(v, ":");
        bool lines =
            field_is_text(value) && memchr(json_string_data(&value), '\n', json_string_len(value));
        view_puts(v, lines ? "\n" : " ");
        if (lines) {
            view_indented(v, value);
        } else if (field_is_text(value)) {
            view_text(v, value);
            view_puts(v, json_string_len(value) ? "\n" : "nothing\n");
        } else {
            view_hidden(v, view_value, value);
        }
    }
}

const InfoSubject info_subjects[] = {
    {"breakpoints", "breakpoints", view_breakpoints},
    {"config", "config", view_config},
    {"edges", "edges", view_edges},
    {"error", "frame", view_failure},
    {"frames", "frames", view_frames},
    {"injected", "injected", view_injected},
    {"node", "node", view_node_facts},
    {"nodes", "nodes", view_nodes},
    {"pending", "pending", view_pending},
    {"session", "session", view_session},
    {"stack", "frame", view_frame},
    {"watches", "watches", view_all_watches},
    {NULL, NULL, NULL},
};

static bool read_info(CommandReader *r) {
    const InfoSubject *found = NULL;
    size_t n = 0;
    if (reader_at_end(r)) return reader_lacks(r, "what to tell about");
    Span name = reader_next(r);
    for (const InfoSubject *s = info_subjects; s->name && !(found && span_is(name, found->name));
         s++) {
        if (span_begins(name, s->name)) {
            found = s;
            n = span_is(name, s->name) ? 1 : n + 1;
        }
    }
    if (n != 1) {
        return error_set(r->err, ERR_USAGE,
                         n ? "`%.*s` may mean several things."
                           : "There is nothing to tell about `%.*s`.",
                         QUOTED(name));
    }
    r->order->operation = found->operation;
    r->order->view = found->view;
    return reader_ends(r);
}

/* ---- the history ---- */

/* [N] [@CHECKPOINT] [all] */
static bool read_history(CommandReader *r) {
    int64_t number;
    while (!reader_at_end(r)) {
        Span word = reader_next(r);
        if (span_is(word, "all")) {
            reader_put(r, "all", json_bool(true));
        } else if (span_checkpoint(word, false, &number)) {
            reader_put(r, "before", json_int(number));
        } else if (span_number(word, &number)) {
            reader_put(r, "limit", json_int(number ? number : 1));
        } else {
            return error_set(r->err, ERR_USAGE,
                             "`history` takes a number, @ and a checkpoint, or `all`, not `%.*s`.",
                             QUOTED(word));
        }
    }
    return true;
}

static void add_history_row(Table *t, Json step) {
    View cell = {.out = &t->cells};
    Json took = field_get(step, "took"), changed = field_get(step, "changed");
    bool injected = json_truthy(field_get(step, "injected"));
    view_puts(&cell, json_truthy(field_get(step, "current")) ? "*" : " ");
    view_cell(t, field_get(step, "checkpoint"));
    view_cell(t, field_get(step, "frame"));
    view_text(&cell, field_get(step, "node"));
    view_if(&cell, step, injected ? "injected" : "edited", injected ? " (injected)" : " (edited)");
    table_next(t);
    view_cell(t, field_get(step, field_has_text(step, "result") ? "result" : "status"));
    if (json_kind(took) == JSON_NUMBER) {
        char text[OUTPUT_TIME_MAX];
        double ms = json_to_double(took);
        view_puts(&cell, ms >= 0 && ms < 1e15 ? output_duration((int64_t)ms, text) : "");
    }
    table_next(t);
    view_if(&cell, step, "paused", "yes");
    table_next(t);
    for (size_t i = 0; i < json_array_len(changed); i++) {
        view_puts(&cell, i ? ", " : "");
        view_text(&cell, json_array_get(changed, i));
    }
    table_next(t);
}

static void view_history(View *v, Json answer) {
    static const char *const heading[] = {" SEQ", "FRAME",  "NODE",   "RESULT",
                                          "TOOK", "PAUSED", "CHANGED"};
    Table t = {.columns = 7};
    Json steps = field_get(answer, "steps");
    if (json_truthy(field_get(answer, "more"))) {
        view_hint(v, "(there are earlier ones: `history N`, or `history @CHECKPOINT`)");
    }
    if (!json_array_len(steps)) {
        view_hint(v, "No step has been taken yet.");
        return;
    }
    table_row(&t, heading);
    for (size_t i = 0; i < json_array_len(steps); i++)
        add_history_row(&t, json_array_get(steps, i));
    view_table(v, &t);
}

/* ---- output ---- */

/* [NODE] [N]: a number alone is how many. */
static bool read_logs(CommandReader *r) {
    int64_t number = 20, alone;
    Span word = reader_next(r);
    bool count = word.len && span_number(word, &alone);
    if (count) number = alone;
    if (word.len && !count) {
        reader_put(r, "node", span_string(word));
        if (!reader_at_end(r) && !reader_number(r, "how many lines", &number)) return false;
    }
    return reader_put(r, "last", json_int(number > 0 ? number : 1)) && reader_ends(r);
}

static void view_logs(View *v, Json answer) {
    Json list = field_get(answer, "logs");
    Buf before = BUF_INIT;
    View b = {.out = &before, .colour = v->colour};
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json piece = json_array_get(list, i);
        buf_reset(&before);
        view_style(&b, STYLE_DIM);
        view_format(&b, piece, "{node} | ");
        view_style(&b, STYLE_NONE);
        view_lines(v, before.data, field_get(piece, "text"));
        view_end_line(v);
    }
    if (!json_array_len(list)) view_hint(v, "Nothing was printed.");
    buf_clear(&before);
}

/* ---- the workflow ---- */

static bool read_graph(CommandReader *r) {
    static const char *const formats[] = {"mermaid", "dot", "json"};
    Span format = reader_next(r);
    for (size_t i = 0; i < 3; i++) {
        if (span_is(format, formats[i])) {
            return reader_put(r, "format", json_string_c(formats[i])) && reader_ends(r);
        }
    }
    return !format.len ||
           error_set(r->err, ERR_USAGE, "`graph` draws mermaid, dot or json, not `%.*s`.",
                     QUOTED(format));
}

void view_text_lines(View *v, Json answer) {
    view_lines(v, "", field_get(answer, "text"));
}

/* LINE, FILE:LINE, or nothing: where it goes on. */
static bool read_list(CommandReader *r) {
    const CommandContext *context = r->context;
    int64_t line;
    Span place = reader_rest(r);
    if (!place.len && context->list_file) {
        reader_put(r, "file", json_string_c(context->list_file));
        reader_put(r, "line", json_int(context->list_line));
    }
    if (!place.len) return true;
    size_t digits = place.len; /* where they begin: behind the last colon */
    while (digits && place.text[digits - 1] != ':') digits--;
    Span number = {place.text + digits, place.len - digits};
    if (!span_number(number, &line) || line > INT32_MAX) {
        return error_set(r->err, ERR_USAGE, "`list` takes LINE or FILE:LINE, not `%.*s`.",
                         QUOTED(place));
    }
    if (digits) {
        reader_put(r, "file", json_string(place.text, digits - 1));
    } else if (context->file) {
        reader_put(r, "file", json_string_c(context->file));
    }
    return reader_put(r, "line", json_int(line ? line : 1));
}

static void add_source_line(View *v, Json source, size_t i, bool marks) {
    int64_t number = field_number(source, "first", 1) + (int64_t)i;
    bool current = field_number(source, "current", -1) == number, stops = false;
    Json points = field_get(source, "breakpoints");
    for (size_t k = 0; k < json_array_len(points); k++) {
        Json line = json_array_get(points, k);
        stops |= json_tag(line) == JSON_TAG_INT && line.i == number;
    }
    if (marks) {
        view_puts(v, current ? "=>" : "  ");
        view_puts(v, stops ? "*" : " ");
    }
    view_style(v, current && marks ? STYLE_NAME : STYLE_DIM);
    view_printf(v, "%5lld", (long long)number);
    view_style(v, STYLE_NONE);
    view_puts(v, "  ");
    view_hidden(v, view_text, json_array_get(field_get(source, "lines"), i));
    view_puts(v, "\n");
}

void view_source_line(View *v, Json source) {
    int64_t current = field_number(source, "current", 0) - field_number(source, "first", 1);
    if (current >= 0 && current < (int64_t)json_array_len(field_get(source, "lines"))) {
        add_source_line(v, source, (size_t)current, false);
    }
}

static void view_source(View *v, Json answer) {
    size_t n = json_array_len(field_get(answer, "lines"));
    for (size_t i = 0; i < n; i++) add_source_line(v, answer, i, true);
    if (!n) view_hint(v, "There are no lines there.");
}

/* ---- the rows ---- */

const ConsoleCommand frame_commands[] = {
    {"frames", "threads", "[all]", "list the frames of the run",
     "With `all` also those that have ended, and the last node of each, from the history.",
     "frames all", .words = "all", .read = read_frames, .operation = "frames", .view = view_frames},
    {"frame", "f thread", "[N]", "choose a frame, and show where it stands", NULL, "frame 2",
     .offers = OFFERS_FRAME, .read = read_frame, .operation = "frame", .view = view_frame},
    {"backtrace", "bt where w", "", "show the levels of the selected frame", .operation = "frame",
     .view = view_frame},
    {"info", "i",
     "breakpoints | config | edges | error | frames | injected | node | nodes | pending | session | stack | watches",
     "tell about something", NULL, "info breakpoints",
     .words =
         "breakpoints config edges error frames injected node nodes pending session stack watches",
     .read = read_info},
    {"history", "", "[N] [@CHECKPOINT] [all]", "list the last steps of the run",
     "N of them, those before a checkpoint, or `all` checkpoints.", "history 20", .words = "all",
     .read = read_history, .operation = "history", .view = view_history},
    {"logs", "", "[NODE] [N]", "show the last lines that the nodes of the run printed",
     "N of them, 20 unless told; only those of NODE when it is named.", "logs build 50",
     .offers = OFFERS_NODE, .read = read_logs, .operation = "run_logs", .view = view_logs},
    {"graph", "", "[mermaid | dot | json]", "draw the workflow", .words = "dot json mermaid",
     .read = read_graph, .operation = "graph", .view = view_text_lines},
    {"list", "l", "[LINE | FILE:LINE]", "show the workflow's text",
     "Around the current line first, then what follows.", "list 12", .flags = COMMAND_REPEATS,
     .read = read_list, .operation = "source", .view = view_source},
    {0},
};
