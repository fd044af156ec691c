/* debug_change.c - what a person changes in a paused frame: variables, the config of its node,
 * nodes that the workflow does not have. */
#include "session_calls.h"

#include "arena.h"
#include "problems.h"
#include "yaml.h"

#include <inttypes.h>
#include <string.h>

/* ---- variables ---- */

static Json pending_of(const Frame *f) {
    return debug_answer_with("pending", session_pending(f));
}

/* value JSON_NONE: it is removed. */
static Json change(Session *session, Json args, const char *operation, Json value, Error *err) {
    Json out = json_none();
    Frame *f = args_paused(session, args, err);
    Json path = f ? args_path(args, operation, err) : json_none();
    if (!json_is_none(path) && session_set(session, f, path, value, err)) {
        out = pending_of(f);
    }
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

/* Taking all back is right when there is nothing, too. */
Json debug_revoke(Session *session, Json args, Error *err) {
    int64_t id = args_int(args, "id", 0);
    Frame *f = args_frame(session, args, err);
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
        out = debug_config_of(session, f, err);
    }
    json_unref(path);
    return out;
}

Json debug_config_reset(Session *session, Json args, Error *err) {
    Frame *f = args_paused(session, args, err);
    return f && session_config_reset(session, f, err) ? debug_config_of(session, f, err)
                                                      : json_none();
}

/* ---- a node as text ---- */

/* A node to inject: what it is, and its name if that was said beside it. Both are given. */
typedef struct NewNode {
    Json node, name;
} NewNode;

static bool is_kind(const char *word) {
    for (int dialect = 0; dialect < DIALECT_COUNT; dialect++) {
        if (kind_find((DialectId)dialect, word)) {
            return true;
        }
    }
    return false;
}

/* `NAME: {...}`, which `http: {...}` is not: that is a node of this kind. */
static bool has_name_before(const YamlNode *root) {
    return root->kind == YAML_MAP && root->n == 1 && root->pairs[0].value->kind == YAML_MAP &&
           !is_kind(root->pairs[0].key->text);
}

static bool take_node(const YamlNode *root, NewNode *out, Error *err) {
    if (root->kind == YAML_LIST && root->n == 1) { /* as it is copied from a file */
        root = root->items[0];
    }
    if (has_name_before(root)) {
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

static void say_problem(const FlowProblems *problems, Error *err) {
    const FlowProblem *p = problems->n ? &problems->items[0] : NULL;
    if (p) {
        error_set_at(err, ERR_SYNTAX, p->line, p->col, "`text` of `inject`, line %d: %s", p->line,
                     p->msg);
    } else {
        error_set(err, ERR_SYNTAX, "`text` of `inject` is empty.");
    }
}

static bool parse_node(Json text, NewNode *out, Error *err) {
    Arena *arena = arena_new();
    FlowProblems problems = {0};
    Reporter reporter = reporter_start(&problems, NULL);
    size_t nodes_left = FLOW_NODES_MAX;
    YamlLimits limits = {FLOW_NESTING_MAX, &nodes_left};
    const char *data = arena_strndup(arena, json_string_data(&text), json_string_len(text));
    YamlFile *file = yaml_file(arena, "text", data, json_string_len(text));
    const YamlNode *root = yaml_parse(arena, file, limits, &reporter);
    bool ok = root && reporter_end(&reporter);
    if (ok) {
        ok = take_node(root, out, err);
    } else {
        say_problem(&problems, err);
    }
    flow_problems_clear(&problems);
    arena_free(arena);
    return ok;
}

static bool read_text(Json text, NewNode *out, Error *err) {
    if (json_string_len(text) > FLOW_FILE_MAX) {
        return error_set(err, ERR_LIMIT, "`text` of `inject` is longer than a file may be (%d MB).",
                         FLOW_FILE_MAX >> 20);
    }
    return parse_node(text, out, err);
}

/* ---- nodes that the workflow does not have ---- */

const char *const debug_inject_words[] = {"before", "after", NULL};
static const InjectWhere inject_where[] = {INJECT_BEFORE, INJECT_AFTER};

static bool new_node(Json args, NewNode *out, Error *err) {
    Json node = json_object_get_c(args, "node"), name = json_object_get_c(args, "name");
    *out = (NewNode){json_none(), json_null()};
    if (!json_is_none(node)) {
        out->node = json_ref(node);
    } else if (!read_text(json_object_get_c(args, "text"), out, err)) {
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
