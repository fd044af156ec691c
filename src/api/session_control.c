/* session_control.c - the session itself, frames that stop and go, and what a person changes in a paused frame:
 * variables, the config of its node, nodes that the workflow does not have. */
#include "session_calls.h"

#include "arena.h"
#include "json_build.h"
#include "json_path.h"
#include "problems.h"
#include "yaml.h"

#include <inttypes.h>
#include <string.h>

/* ---- the session ---- */

Json debug_session(Session *session, Json args, Error *err) {
    (void)args;
    (void)err;
    return session_json(session);
}

/* All that somebody who comes to a session needs first. */
/* All of it but the watches. */
static Json overview(Session *session, Json args, Error *err) {
    static DebugCall *const parts[] = {debug_frames, debug_breaks, debug_injected};
    Json out = OBJECT(KEY("session", session_json(session)));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        Json part = parts[i](session, args, err);
        if (json_is_none(part)) {
            json_unref(out);
            return part;
        }
        out = json_object_merge(out, part);
        json_unref(part);
    }
    return out;
}

Json debug_overview(Session *session, Json args, Error *err) {
    Json out = overview(session, args, err);
    return json_is_none(out) ? out : debug_with_watches(session, args, out, err);
}

void debug_overview_later(Host *host, Session *session, Json args, Reply reply) {
    Error err = ERROR_INIT;
    Json out = overview(session, args, &err);
    if (json_is_none(out)) {
        reply_fail(reply, &err);
    } else {
        debug_with_watches_later(host, session, args, out, reply);
    }
}

Json debug_configure(Session *session, Json args, Error *err) {
    (void)err;
    session_configure(session, args);
    return session_json(session);
}

Json debug_extend(Session *session, Json args, Error *err) {
    (void)err;
    session_extend(session, args_number(args, "seconds", 0));
    return session_json(session);
}

Json debug_detach(Session *session, Json args, Error *err) {
    (void)args;
    (void)err;
    session_detach(session);
    return json_object();
}

Json debug_abort(Session *session, Json args, Error *err) {
    (void)args;
    return session_abort(session, err) ? json_object() : json_none();
}

/* ---- going on ---- */

/* f NULL: it was not found, and that is said. */
static Json let_go(Session *session, Frame *f, SessionGo go, Error *err) {
    int64_t id = f ? frame_id(f) : 0;
    return f && session_go(session, f, go, err)
               ? OBJECT(KEY("resumed", json_array_push(json_array(), json_int(id))))
               : json_none();
}

static bool pauses_all(const Session *session) {
    Json facts = session_json(session);
    bool all = json_truthy(json_object_get_c(facts, "pause_all_on_breakpoint"));
    json_unref(facts);
    return all;
}

/* What the run does instead: the selected frame speaks for it, or the first. */
static void say_nothing_is_paused(Session *session, Error *err) {
    const Run *run = session_run(session);
    const Frame *f = run_settled(run) ? NULL : run_frame(run, session_selected(session));
    f = f || run_settled(run) ? f : run_next_frame(run, NULL);
    if (!f) {
        error_set(err, ERR_WRONG_STATE, "No frame is paused: the run is %s.", run_status(run));
        error_fact(err, "thread", run_thread(run));
        return;
    }
    Buf doing = BUF_INIT;
    session_describe(f, &doing);
    error_set(err, ERR_WRONG_STATE, "No frame is paused: frame %" PRId64 " %s.", frame_id(f),
              doing.data ? doing.data : "goes on");
    error_fact_int(err, "frame", frame_id(f));
    buf_clear(&doing);
}

static Json continue_all(Session *session, SessionGo go, Error *err) {
    Error why = ERROR_INIT;
    Json frames = session_go_all(session, go, &why);
    if (json_array_len(frames) == 0) {
        json_unref(frames);
        if (why.code != ERR_NONE && err) {
            *err = why;
        } else {
            say_nothing_is_paused(session, err);
        }
        return json_none();
    }
    return debug_answer_with("resumed", frames);
}

Json debug_continue(Session *session, Json args, Error *err) {
    const char *expression = json_object_text(args, "while");
    Passing *passing =
        expression ? session_passing_new(session, expression, args_int(args, "limit", 0), err)
                   : NULL;
    if (expression && !passing) return json_none();
    if (!expression && args_has(args, "limit")) {
        error_set(err, ERR_USAGE, "`continue` takes `limit` only with `while`.");
        return json_none();
    }
    bool all = args_all_frames(args) || (!args_has(args, "frame") && pauses_all(session));
    SessionGo go = {.how = LET_GO, .passing = passing, .anew = args_bool(args, "anew", false)};
    Json out = all ? continue_all(session, go, err)
                   : let_go(session, args_paused(session, args, err), go, err);
    passing_unref(passing);
    return out;
}

Json debug_pause(Session *session, Json args, Error *err) {
    if (!args_has(args, "frame") || args_all_frames(args)) return session_pause(session, NULL);
    Frame *f = args_frame(session, args, err);
    return f ? session_pause(session, f) : json_none();
}

const char *const debug_step_words[] = {"over", "into", "out", NULL};
static const StepKind step_kinds[] = {STEP_OVER, STEP_INTO, STEP_OUT};

Json debug_step(Session *session, Json args, Error *err) {
    StepKind kind = step_kinds[args_word(args, "kind", debug_step_words, 0)];
    return let_go(session, args_paused(session, args, err),
                  (SessionGo){.step = kind, .count = args_int(args, "count", 1)}, err);
}

/* A frame that a run has failed in is not paused, but comes to life again with what is done to
 * it there: the session sees to that. */
static Frame *stopped_frame(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    return !f || strcmp(frame_status(f), "failed") == 0 ? f : args_paused(session, args, err);
}

Json debug_skip(Session *session, Json args, Error *err) {
    SessionGo go = {.how = LET_SKIP, .output = json_object_get_c(args, "output")};
    return let_go(session, stopped_frame(session, args, err), go, err);
}

Json debug_retry(Session *session, Json args, Error *err) {
    return let_go(session, stopped_frame(session, args, err), (SessionGo){.how = LET_RETRY}, err);
}

Json debug_end(Session *session, Json args, Error *err) {
    StepKind step = args_bool(args, "stops", false) ? STEP_OVER : STEP_NONE;
    return let_go(session, args_paused(session, args, err),
                  (SessionGo){.how = LET_END, .step = step}, err);
}

/* ---- elsewhere ---- */

Json debug_goto(Session *session, Json args, Error *err) {
    Frame *f = stopped_frame(session, args, err);
    int64_t id = f ? frame_id(f) : 0;
    const char *node = json_object_text(args, "node");
    return f && session_goto(session, f, node, err) ? OBJECT(KEY("frame", id), KEY("node", node))
                                                    : json_none();
}

/* ---- answers ---- */

/* The interrupt of a frame among all that are open; borrowed from them, JSON_NONE: it has none. */
static Json interrupt_of(Json all, int64_t frame) {
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json one = json_array_get(all, i);
        if (args_frame_id(one) == frame) return json_object_get_c(one, "id");
    }
    return json_none();
}

static void say_frame_asks_nothing(Session *session, int64_t id, Error *err) {
    const Frame *f = session_frame(session, id, err);
    if (f) {
        Buf doing = BUF_INIT;
        session_describe(f, &doing);
        error_set(err, ERR_USAGE, "Frame %" PRId64 " does not wait for an answer: it %s.", id,
                  doing.data ? doing.data : "goes on");
        buf_clear(&doing);
    }
}

/* "i3 (`ask_a`), i4 (`ask_b`)" */
static void list_interrupts(Json all, Buf *out) {
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json id = json_object_get_c(json_array_get(all, i), "id");
        Json node = json_object_get_c(json_array_get(all, i), "node");
        buf_printf(out, "%s%.*s (`%.*s`)", i ? ", " : "", (int)json_string_len(id),
                   json_string_data(&id), (int)json_string_len(node), json_string_data(&node));
    }
}

static void say_which(Json all, Error *err) {
    size_t n = json_array_len(all);
    if (n == 0) {
        error_set(err, ERR_USAGE, "Nothing waits for an answer.");
    } else {
        Buf open = BUF_INIT;
        list_interrupts(all, &open);
        error_set(err, ERR_ANSWER, "%zu frames wait for an answer: %s.", n, open.data);
        error_fact(err, "interrupts", open.data);
        buf_clear(&open);
    }
}

/* The one that is named; of the frame that is named; of the selected frame; the only one.
 * Borrowed. */
static Json chosen_interrupt(Session *session, Json args, Json all, Error *err) {
    int64_t frame = args_frame_id(args);
    Json id = json_object_get_c(args, "interrupt");
    if (!json_is_none(id)) return id;
    id = interrupt_of(all, frame ? frame : session_selected(session));
    if (json_is_none(id) && frame) {
        say_frame_asks_nothing(session, frame, err);
    } else if (json_is_none(id) && json_array_len(all) == 1) {
        id = json_object_get_c(json_array_get(all, 0), "id");
    } else if (json_is_none(id)) {
        say_which(all, err);
    }
    return id;
}

Json debug_answer(Session *session, Json args, Error *err) {
    Json out = json_none(), all = run_interrupts(session_run(session));
    Json id = chosen_interrupt(session, args, all, err);
    if (json_kind(id) == JSON_STRING) {
        RunResume resume = {.interrupt = json_string_data(&id),
                            .decision = json_object_text(args, "decision"),
                            .value = json_object_get_c(args, "value")};
        out = session_answer(session, &resume, err) ? OBJECT(KEY("answered", json_ref(id)))
                                                    : json_none();
    }
    json_unref(all);
    return out;
}

/* ---- variables ---- */

static Json pending_of(const Frame *f) {
    return debug_answer_with("pending", session_pending(f));
}

/* value JSON_NONE: it is removed. */
static Json change(Session *session, Json args, const char *operation, Json value, Error *err) {
    Json out = json_none();
    Frame *f = args_paused(session, args, err);
    Json path = f ? args_path(args, operation, err) : json_none();
    if (!json_is_none(path) && session_set(session, f, path, value, err)) out = pending_of(f);
    json_unref(path);
    return out;
}

Json debug_set(Session *session, Json args, Error *err) {
    return change(session, args, "set", json_object_get_c(args, "value"), err);
}

Json debug_unset(Session *session, Json args, Error *err) {
    return change(session, args, "unset", json_none(), err);
}

Json debug_pending(Session *session, Json args, Error *err) {
    const Frame *f = args_frame(session, args, err);
    return f ? pending_of(f) : json_none();
}

/* Those that change just this variable, or remove it. */
static Json revoke_path(Session *session, Frame *f, Json path, Error *err) {
    Json all = session_pending(f);
    bool any = false;
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json one = json_array_get(all, i);
        bool same = json_equal(json_object_get_c(one, "path"), path);
        any |= same && session_revoke(session, f, args_int(one, "id", 0));
    }
    if (!any) {
        Buf text = BUF_INIT;
        json_path_text(path, json_array_len(path), &text);
        debug_no_such(err, json_ref(all), "Frame %" PRId64 " has no pending change of `%s`",
                      frame_id(f), shown(text.data, text.len));
        buf_clear(&text);
    }
    json_unref(all);
    return any ? pending_of(f) : json_none();
}

/* Taking all back is right when there is nothing, too. */
Json debug_revoke(Session *session, Json args, Error *err) {
    int64_t id = args_int(args, "id", 0);
    Frame *f = args_frame(session, args, err);
    if (f && args_has(args, "path")) {
        Json path = args_path(args, "revoke", err);
        Json out = json_is_none(path) ? path : revoke_path(session, f, path, err);
        json_unref(path);
        return out;
    }
    if (f && !session_revoke(session, f, id) && id) {
        debug_no_such(err, session_pending(f), "Frame %" PRId64 " has no pending change %" PRId64,
                      frame_id(f), id);
        return json_none();
    }
    return f ? pending_of(f) : json_none();
}

/* ---- the config of the node, for one execution ---- */

Json debug_config_set(Session *session, Json args, Error *err) {
    Json out = json_none(), value = json_object_get_c(args, "value");
    Frame *f = args_paused(session, args, err);
    Json path = f ? args_path(args, "config_set", err) : json_none();
    if (!json_is_none(path) && session_config_set(session, f, path, value, err)) {
        out = debug_config_of(f, err);
    }
    json_unref(path);
    return out;
}

Json debug_config_reset(Session *session, Json args, Error *err) {
    Frame *f = args_paused(session, args, err);
    return f && session_config_reset(session, f, err) ? debug_config_of(f, err) : json_none();
}

/* ---- a node as text ---- */

/* A node to inject: what it is, and its name if that was said beside it. Both are given. */
typedef struct NewNode {
    Json node, name;
} NewNode;

static bool is_kind(const char *word) {
    for (int dialect = 0; dialect < DIALECT_COUNT; dialect++) {
        if (kind_find((DialectId)dialect, word)) return true;
    }
    return false;
}

static bool take_node(const YamlNode *root, NewNode *out, Error *err) {
    if (root->kind == YAML_LIST && root->n == 1) { /* as it is copied from a file */
        root = root->items[0];
    }
    /* `NAME: {...}`, which `http: {...}` is not: that is a node of this kind. */
    if (root->kind == YAML_MAP && root->n == 1 && root->pairs[0].value->kind == YAML_MAP &&
        !is_kind(root->pairs[0].key->text)) {
        out->name = json_string_valid(root->pairs[0].key->text, root->pairs[0].key->len);
        root = root->pairs[0].value;
    }
    if (root->kind != YAML_MAP) {
        return error_set(err, ERR_USAGE,
                         "`text` of `inject` must be one node as it would stand in the file, like "
                         "`jq: .count + 1` or `NAME: {shell: make}`.");
    }
    out->node = yaml_json(root);
    return true;
}

static bool read_node(Json text, NewNode *out, Error *err) {
    if (json_string_len(text) > FLOW_FILE_MAX) {
        return error_set(err, ERR_LIMIT, "`text` of `inject` is longer than a file may be (%d MB).",
                         FLOW_FILE_MAX >> 20);
    }
    Arena *arena = arena_new();
    FlowProblems problems = {0};
    Reporter reporter = reporter_start(&problems, NULL);
    size_t nodes_left = FLOW_NODES_MAX;
    YamlLimits limits = {.depth = FLOW_NESTING_MAX, .nodes_left = &nodes_left};
    const char *data = arena_strndup(arena, json_string_data(&text), json_string_len(text));
    YamlFile *file = yaml_file(arena, "text", data, json_string_len(text));
    const YamlNode *root = yaml_parse(arena, file, limits, &reporter);
    bool ok = root && reporter_end(&reporter);
    const FlowProblem *p = problems.n ? &problems.items[0] : NULL;
    if (ok) {
        ok = take_node(root, out, err);
    } else if (p) {
        error_set_at(err, ERR_SYNTAX, p->line, p->col, "`text` of `inject`, line %d: %s", p->line,
                     p->msg);
    } else {
        error_set(err, ERR_SYNTAX, "`text` of `inject` is empty.");
    }
    flow_problems_clear(&problems);
    arena_free(arena);
    return ok;
}

/* ---- nodes that the workflow does not have ---- */

const char *const debug_inject_words[] = {"before", "after", NULL};
static const InjectWhere inject_where[] = {INJECT_BEFORE, INJECT_AFTER};

static bool new_node(Json args, NewNode *out, Error *err) {
    Json node = json_object_get_c(args, "node"), name = json_object_get_c(args, "name");
    *out = (NewNode){json_none(), json_null()};
    if (!json_is_none(node)) {
        out->node = json_ref(node);
    } else if (!read_node(json_object_get_c(args, "text"), out, err)) {
        return false;
    }
    if (!json_is_none(name)) {
        json_unref(out->name);
        out->name = json_ref(name);
    }
    return true;
}

Json debug_inject(Session *session, Json args, Error *err) {
    NewNode new = {json_none(), json_none()};
    Json injected = json_none();
    InjectWhere where = inject_where[args_word(args, "where", debug_inject_words, 0)];
    Frame *f = args_paused(session, args, err);
    if (f && new_node(args, &new, err)) {
        injected = session_inject(session, f, where, new.name, new.node, err);
    }
    json_unref(new.node);
    json_unref(new.name);
    return debug_answer_with("injected", injected);
}

Json debug_injected(Session *session, Json args, Error *err) {
    Frame *f = args_has(args, "frame") ? args_frame(session, args, err) : NULL;
    return f || !args_has(args, "frame")
               ? debug_answer_with("injected", session_injected(session, f))
               : json_none();
}

Json debug_inject_remove(Session *session, Json args, Error *err) {
    int64_t id = args_int(args, "id", 0);
    if (!session_uninject(session, id)) {
        debug_no_such(err, session_injected(session, NULL),
                      "There is no injected node %" PRId64 " that has not begun", id);
        return json_none();
    }
    return debug_answer_with("removed", json_int(id));
}
