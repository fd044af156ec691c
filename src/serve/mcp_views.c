#include "mcp_views.h"

#include "buf.h"
#include "mcp_shrink.h"
#include "mcp_tools.h"
#include "mem.h"

#include <string.h>

enum { RECENT = 8, LAST_LINES = 20, LOG_BYTES = 2000, AROUND = 4, FRAMES_SHOWN = 20 };

static Json get(Json object, const char *key) {
    return json_object_get_c(object, key);
}

static Json take(Json object, const char *key) {
    return json_ref(json_object_get_c(object, key));
}

/* Copies fields that are there. */
static Json with_fields(Json out, Json from, const char *const *names) {
    for (; *names; names++) {
        Json value = get(from, *names);
        bool empty = json_kind(value) == JSON_ARRAY && !json_array_len(value);
        if (!json_is_none(value) && !empty) out = json_object_with(out, *names, json_ref(value));
    }
    return out;
}

/* ---- what can be done next ---- */

static const struct Hint {
    const char *status, *says;
} run_hints[] = {
    {"running", "It is under way: wait_for_run waits on; debug_start stops inside of it."},
    {"pending", "It is about to begin: wait_for_run waits for it."},
    {"failed",
     "debug_start with this thread stands at the node that failed: look, mend what is wrong "
     "(debug_set, debug_config_set), debug_retry. resume_run tries the node again as it is."},
    {"interrupted", "It waits for a person: answer_run answers one of `interrupts`."},
    {"paused",
     "A debugger has paused it: debug_where shows where; debug_continue goes on, resume_run goes on "
     "without a debugger."},
    {"stopped", "No process runs it: resume_run goes on."},
    {"cancelled", "It has ended for good: fork_run begins anew at one of its checkpoints."},
    {NULL, NULL},
};

#define OVER_HINT \
    "It has failed for good: fork_run begins anew at one of its checkpoints (read_history)."

static const char *run_hint(Json run) {
    if (json_truthy(get(run, "over"))) return OVER_HINT;
    for (const struct Hint *h = run_hints; h->status; h++) {
        if (json_string_is(get(run, "status"), h->status)) return h->says;
    }
    return NULL;
}

/* ---- logs ---- */

static void add_lines(Buf *out, const char *node, const char *text, size_t len) {
    const char *at = text, *end = text + len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((stop ? stop : end) - at);
        if (node) buf_printf(out, "%s | ", node);
        buf_add(out, at, n);
        buf_addc(out, '\n');
        at += n + (stop != NULL);
    }
}

static const char *only_node(Json list) {
    const char *name = NULL;
    for (size_t i = 0, n = json_array_len(list); i < n; i++) {
        const char *node = json_object_text(json_array_get(list, i), "node");
        if (node && name && strcmp(node, name) != 0) return NULL;
        if (node) name = node;
    }
    return name;
}

/* The whole lines at its end. */
static size_t last_lines(const Buf *text, size_t bytes) {
    if (text->len <= bytes) return 0;
    const char *from = text->data + (text->len - bytes), *line = strchr(from, '\n');
    return line && line[1] ? (size_t)(line + 1 - text->data) : text->len - bytes;
}

Json mcp_view_logs(Json page, bool latest, size_t bytes) {
    Json list = get(page, "logs"), next = take(page, "next");
    const char *node = only_node(list);
    bool more = json_truthy(get(page, "more")), cut = false;
    Buf text = BUF_INIT;
    for (size_t i = 0, n = json_array_len(list); i < n; i++) {
        Json piece = json_array_get(list, i), said = get(piece, "text");
        size_t before = text.len;
        const char *damage = json_object_text(piece, "error");
        if (damage) add_lines(&text, "(damaged)", damage, strlen(damage));
        add_lines(&text, node ? NULL : json_object_text(piece, "node"), json_string_data(&said),
                  json_string_len(said));
        if (latest || text.len <= bytes) continue;
        if (before) { /* it is the first of the next page */
            text.len = before;
            json_put(&next, take(piece, "n"));
        } else { /* one piece alone is too long */
            text.len = shrink_text(text.data, text.len, bytes);
            cut = true;
            json_put(&next, json_int(get(piece, "n").i + 1));
        }
        more = true;
        break;
    }
    size_t from = latest ? last_lines(&text, bytes) : 0;
    Json out = OBJECT(KEY("thread", take(get(page, "run"), "thread")), KEY("node", node),
                      KEY("text", json_string(text.data ? text.data + from : "", text.len - from)),
                      KEY("next", next), KEY("more", more ? json_bool(true) : json_none()),
                      KEY("omitted", from ? json_int((int64_t)from) : json_none()),
                      KEY("note", cut ? "A piece of output that was too long is cut." : NULL));
    buf_clear(&text);
    return out;
}

/* ---- a run ---- */

static void finish(McpCall *c) {
    (c->shown ? c->shown : mcp_tool_done)(c, json_take(&c->view));
}

static void on_log(McpCall *c, Json page, const Error *err) {
    Json shown = err ? json_none() : mcp_view_logs(page, true, LOG_BYTES);
    Json text = take(shown, "text");
    if (json_string_len(text)) c->view = OBJECT_ADD(c->view, KEY("log", json_ref(text)));
    json_unref(text);
    json_unref(shown);
    json_unref(page);
    finish(c);
}

/* "13 upload failed" */
static Json recent_of(Json history) {
    Json list = get(history, "checkpoints"), out = json_none();
    for (size_t i = 0, n = json_array_len(list); i < n; i++) {
        Json one = json_array_get(list, i), seq = get(one, "checkpoint");
        const char *node = json_object_text(one, "node"), *status = json_object_text(one, "status");
        if (json_tag(seq) != JSON_TAG_INT || !status) continue;
        out = json_array_push(out, json_string_fmt("%lld %s%s%s", (long long)seq.i,
                                                   node ? node : "", node ? " " : "", status));
    }
    return out;
}

static void on_recent(McpCall *c, Json history, const Error *err) {
    if (!err) c->view = OBJECT_ADD(c->view, KEY("recent", recent_of(history)));
    json_unref(history);
    const char *node = json_object_text(get(c->view, "error"), "node");
    if (node) {
        mcp_ask(
            c, "run_logs",
            OBJECT(KEY("thread", c->thread), KEY("node", node), KEY("last", json_int(LAST_LINES))),
            on_log);
    } else {
        finish(c);
    }
}

static void on_run(McpCall *c, Json run, const Error *err) {
    static const char *const fields[] = {"thread", "run",     "workflow",   "status", "checkpoint",
                                         "owner",  "created", "updated",    "over",   "error",
                                         "paused", "state",   "interrupts", NULL};
    if (err) {
        mcp_tool_fail(c, err);
        return;
    }
    bool ended = json_string_is(get(run, "status"), "completed") ||
                 json_string_is(get(run, "status"), "cancelled");
    Json view = with_fields(json_take(&c->view), run, fields);
    view = OBJECT_ADD(view, KEY("frames", ended ? json_none() : take(run, "frames")),
                      KEY("hint", run_hint(run)));
    c->view = view;
    const char *thread = json_object_text(run, "thread");
    if (thread) {
        mem_free(c->thread);
        c->thread = mem_strdup(thread);
    }
    json_unref(run);
    mcp_ask(c, "run_history", OBJECT(KEY("thread", c->thread), KEY("last", json_int(RECENT))),
            on_recent);
}

static void set_thread(McpCall *c, const char *thread) {
    char *copy = mem_strdup(thread);
    mem_free(c->thread);
    c->thread = copy;
    if (json_is_none(c->view)) c->view = json_object();
}

void mcp_view_run(McpCall *c, const char *thread) {
    set_thread(c, thread);
    mcp_ask(c, "run_get", OBJECT(KEY("thread", c->thread), KEY("state", json_bool(true))), on_run);
}

/* ---- a session ---- */

/* Its text with the numbers of lines, and a mark at the one that is meant. */
static Json numbered(Json source) {
    Json lines = get(source, "lines"), first = get(source, "first"),
         current = get(source, "current");
    Buf text = BUF_INIT;
    if (json_tag(first) != JSON_TAG_INT) return json_none();
    for (size_t i = 0, n = json_array_len(lines); i < n; i++) {
        Json line = json_array_get(lines, i);
        int64_t number = first.i + (int64_t)i;
        bool here = json_tag(current) == JSON_TAG_INT && current.i == number;
        buf_printf(&text, "%s%4lld  %s\n", here ? ">" : " ", (long long)number,
                   json_string_data(&line));
    }
    Json out = json_string(text.data ? text.data : "", text.len);
    buf_clear(&text);
    return out;
}

static Json frame_args(const McpCall *c) {
    Json stopped = get(c->view, "stopped");
    return OBJECT(KEY("thread", c->thread), KEY("frame", take(stopped, "frame")));
}

static const char *session_hint(Json view) {
    Json stopped = get(view, "stopped");
    bool failed = json_string_is(get(stopped, "reason"), "exception") ||
                  json_string_is(get(stopped, "status"), "failed");
    if (json_string_is(get(view, "status"), "running")) {
        return "It goes on: debug_where looks again, debug_pause stops it, wait_for_run waits.";
    }
    if (!json_is_none(get(stopped, "interrupt"))) {
        return "It waits for a person: answer_run answers it.";
    }
    if (failed) {
        return "The node failed. Mend what is wrong (debug_set a variable, debug_config_set the "
               "node) and debug_retry, or debug_skip it; debug_back goes back before an earlier node.";
    }
    return json_is_none(stopped)
               ? NULL
               : "debug_step goes on to the next node, debug_continue to the next "
                 "stop, debug_back goes back, debug_end ends the session.";
}

static void finish_session(McpCall *c) {
    c->view = OBJECT_ADD(c->view, KEY("hint", session_hint(c->view)));
    finish(c);
}

static void on_pending(McpCall *c, Json answer, const Error *err) {
    Json list = err ? json_none() : get(answer, "pending");
    if (json_array_len(list)) c->view = OBJECT_ADD(c->view, KEY("pending", json_ref(list)));
    json_unref(answer);
    finish_session(c);
}

static void on_seen(McpCall *c, Json answer, const Error *err) {
    Json results = err ? json_none() : get(answer, "results");
    if (json_array_len(results)) {
        c->view = OBJECT_ADD(c->view, KEY("sees", json_ref(json_array_get(results, 0))));
    }
    json_unref(answer);
    mcp_ask(c, "pending", frame_args(c), on_pending);
}

static void on_source(McpCall *c, Json answer, const Error *err) {
    if (!err) c->view = OBJECT_ADD(c->view, KEY("source", numbered(answer)));
    json_unref(answer);
    mcp_ask(c, "evaluate", OBJECT_ADD(frame_args(c), KEY("expression", ".")), on_seen);
}

/* Frames beside the one that is looked at, in short. */
static Json others_of(Json overview, Json selected) {
    static const char *const fields[] = {"frame", "parent", "name",     "status",    "node",
                                         "kind",  "reason", "position", "waits_for", NULL};
    Json frames = get(overview, "frames"), out = json_none();
    size_t shown = 0;
    for (size_t i = 0, n = json_array_len(frames); i < n && shown < FRAMES_SHOWN; i++) {
        Json frame = json_array_get(frames, i);
        if (json_equal(get(frame, "frame"), selected)) continue;
        out = json_array_push(out, with_fields(json_object(), frame, fields));
        shown++;
    }
    return out;
}

static Json selected_of(Json overview, Json selected) {
    Json frames = get(overview, "frames");
    for (size_t i = 0, n = json_array_len(frames); i < n; i++) {
        Json frame = json_array_get(frames, i);
        if (json_equal(get(frame, "frame"), selected)) return frame;
    }
    return json_none();
}

/* "1: verify (before)", in short. */
static Json breakpoints_of(Json overview) {
    static const char *const fields[] = {"id",       "type",      "node",    "file",
                                         "line",     "condition", "enabled", "hit_count",
                                         "verified", "message",   NULL};
    Json list = get(overview, "breakpoints"), out = json_none();
    for (size_t i = 0, n = json_array_len(list); i < n; i++) {
        out = json_array_push(out, with_fields(json_object(), json_array_get(list, i), fields));
    }
    return out;
}

static void show(McpCall *c, Json overview) {
    static const char *const of_session[] = {"status", "run_status", "checkpoint", NULL};
    static const char *const of_frame[] = {
        "frame",   "parent",    "name",   "status", "node",        "kind",  "file",
        "line",    "title",     "depth",  "reason", "position",    "error", "change",
        "because", "interrupt", "edited", "stack",  "breakpoints", NULL};
    Json asked = get(c->args, "frame");
    Json selected = json_tag(asked) == JSON_TAG_INT ? asked : get(overview, "selected");
    Json frame = selected_of(overview, selected), total = get(overview, "total");
    Json view = OBJECT_ADD(json_take(&c->view), KEY("thread", c->thread));
    view = with_fields(view, get(overview, "session"), of_session);
    if (json_string_is(get(view, "status"),
                       "ended")) { /* by an error, at a frame that can be tried again */
        view = OBJECT_ADD(view, KEY("status", take(view, "run_status")));
    }
    if (!json_is_none(frame)) {
        view = OBJECT_ADD(view, KEY("stopped", with_fields(json_object(), frame, of_frame)));
    }
    Json others = others_of(overview, selected);
    bool all = json_tag(total) != JSON_TAG_INT || total.i <= FRAMES_SHOWN;
    view = OBJECT_ADD(view, KEY("frames", others), KEY("frames_total", all ? json_none() : total),
                      KEY("breakpoints", breakpoints_of(overview)));
    Json watches = get(overview, "watches"), injected = get(overview, "injected");
    if (json_array_len(watches)) view = OBJECT_ADD(view, KEY("watches", json_ref(watches)));
    if (json_array_len(injected)) view = OBJECT_ADD(view, KEY("injected", json_ref(injected)));
    c->view = view;
    bool has_node = !json_is_none(get(frame, "node"));
    json_unref(overview);
    if (has_node) {
        mcp_ask(c, "source", OBJECT_ADD(frame_args(c), KEY("around", json_int(AROUND))), on_source);
    } else {
        finish_session(c);
    }
}

static void look(McpCall *c);

static void on_reopened(McpCall *c, Json run, const Error *err) {
    json_unref(run);
    if (err) {
        mcp_tool_fail(c, err);
    } else {
        look(c);
    }
}

static bool has_ended(Json session) {
    return json_string_is(get(session, "status"), "ended") &&
           !json_string_is(get(session, "run_status"), "failed");
}

/* One that a debugger paused, and that nobody has in hand, is taken up again. */
static void on_resting(McpCall *c, Json run, const Error *err) {
    bool paused = json_string_is(get(run, "status"), "paused") && mcp_may(c, SCOPE_DEBUG);
    json_unref(run);
    if (!err && paused && !c->tries++) {
        mcp_open(c, c->thread, on_reopened);
    } else {
        mcp_view_run(c, c->thread);
    }
}

static void on_overview(McpCall *c, Json overview, const Error *err) {
    if (!err && !has_ended(get(overview, "session"))) {
        show(c, overview);
        return;
    }
    bool gone = err && (err->code == ERR_NOT_HELD || err->code == ERR_WRONG_STATE);
    json_unref(overview);
    if (err && !gone) {
        mcp_tool_fail(c, err);
    } else if (gone) {
        mcp_ask(c, "run_get", OBJECT(KEY("thread", c->thread)), on_resting);
    } else {
        mcp_view_run(c, c->thread);
    }
}

static void look(McpCall *c) {
    mcp_ask(c, "overview", OBJECT(KEY("thread", c->thread)), on_overview);
}

void mcp_view_session(McpCall *c, const char *thread) {
    set_thread(c, thread);
    look(c);
}
