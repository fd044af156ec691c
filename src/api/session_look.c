/* session_look.c - frames, the nodes they stand at, what these see, and the workflow as text. */
#include "session_calls.h"

#include "inspect.h"
#include "json_build.h"
#include "mem.h"

#include <string.h>

enum {
    FRAMES_PAGE = 100,
    SEARCH_LIMIT = 50,
    LARGEST_LIMIT = 10,
    SOURCE_AROUND = 5,
    NODES_OFFERED = 100, /* completions of a node's name */
};

/* ---- frames ---- */

/* Only the page that is asked for is made: there may be very many frames. */
Json debug_frames(Session *session, Json args, Error *err) {
    const Run *run = session_run(session);
    size_t offset = args_size(args, "offset", 0), left = args_size(args, "limit", FRAMES_PAGE);
    int64_t selected = session_selected(session);
    Json list = json_array();
    (void)err;
    for (Frame *f = run_next_frame(run, NULL); f && left; f = run_next_frame(run, f)) {
        if (offset) {
            offset--;
            continue;
        }
        list = json_array_push(list, session_frame_json(session, f, false));
        left--;
    }
    return OBJECT(KEY("frames", list), KEY("total", json_int((int64_t)run_frame_count(run))),
                  KEY("selected", selected ? json_int(selected) : json_none()));
}

Json debug_frame(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    if (!f) return json_none();
    if (args_has(args, "frame")) session_select(session, f);
    return session_frame_json(session, f, true);
}

/* `names`: variables of the maps around, which expressions may use beside the state. */
Json debug_stack(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    if (!f) return json_none();
    const Node *node = args_node(f, NULL);
    Json names = json_array();
    for (size_t i = 0; node && i < node->nvars; i++) {
        names = json_array_push(names, json_string_c(node->vars[i]));
    }
    return OBJECT(KEY("frame", session_frame_json(session, f, true)), KEY("names", names));
}

Json debug_node(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    const Node *node = f ? args_node(f, err) : NULL;
    if (!node) return json_none();
    Json out = json_object_with(inspect_node(node), "attempt", json_int(frame_attempt(f) + 1));
    if (node->task) {
        Json vars = frame_sees(f);
        out = OBJECT_ADD(out, KEY("title", frame_title(f, node, vars)));
        json_unref(vars);
    }
    bool edited = frame_is_edited(f);
    int64_t injected = edited ? 0 : frame_injected(f);
    out = edited ? json_object_with(out, "edited", json_bool(true)) : out;
    return injected ? json_object_with(out, "injected", json_int(injected)) : out;
}

/* ---- the config of a node ---- */

static Json with_resolved(Frame *f, const Node *node, Json out) {
    Error err = ERROR_INIT;
    Json resolved = json_none(), state = frame_will_see(f, &err);
    if (!json_is_none(state)) {
        resolved = frame_config(f, state, &err);
        out = OBJECT_ADD(out, KEY("title", frame_title(f, node, state)));
        json_unref(state);
    }
    return json_is_none(resolved) ? json_object_with(out, "error", json_string_c(err.msg))
                                  : json_object_with(out, "resolved", resolved);
}

/* The node that is to run instead, once; NULL: its config was not edited. */
static const Node *edited_node(const Frame *f) {
    const Flow *flow = NULL;
    Json all = frame_injections(f);
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json one = json_array_get(all, i);
        if (json_string_is(json_object_get_c(one, "where"), "instead")) {
            flow = frame_injection_flow(f, args_int(one, "id", 0));
        }
    }
    json_unref(all);
    return flow ? &flow->main->nodes[0] : NULL;
}

Json debug_config_of(Frame *f, Error *err) {
    const Node *node = args_node(f, err);
    if (!node) return json_none();
    const Node *edited = edited_node(f);
    Json out = inspect_config(edited ? edited : node), raw = session_config(f);
    out = json_object_with(out, "node", json_ref(node->name_json));
    out = json_is_none(raw) ? out : json_object_with(out, "raw", raw);
    out = with_resolved(f, edited ? edited : node, out);
    return edited ? json_object_with(out, "edited", json_bool(true)) : out;
}

Json debug_config(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    return f ? debug_config_of(f, err) : json_none();
}

/* ---- values ---- */

/* The state of now, with what is pending at the innermost level; of the past it is asked elsewhere
 * (session_past.c). */
static Json state_now(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    uint32_t levels = f ? frame_depth(f) : 0;
    int64_t depth = args_int(args, "depth", levels);
    if (f && depth > levels) {
        error_set(err, ERR_USAGE, "Frame %lld has %u level%s; there is no level %lld.",
                  (long long)frame_id(f), (unsigned)levels, levels == 1 ? "" : "s",
                  (long long)depth);
        return json_none();
    }
    return !f               ? json_none()
           : depth < levels ? frame_sees_at(f, (uint32_t)depth - 1)
                            : frame_will_see(f, err);
}

/* Whether it is about what the frame's own node sees, and not a level around that. */
static bool is_innermost(const Frame *f, Json args) {
    return args_int(args, "depth", frame_depth(f)) == frame_depth(f);
}

static Json look_now(Session *session, Json args, Json (*look)(Json state, Json args, Error *err),
                     Error *err) {
    Json state = state_now(session, args, err);
    Json out = json_is_none(state) ? state : look(state, args, err);
    json_unref(state);
    return out;
}

Json debug_variables_in(Json state, Json args, Error *err) {
    Json path = args_path(args, "variables", err);
    InspectPage page = {.offset = args_size(args, "offset", 0),
                        .limit = args_size(args, "limit", 0),
                        .preview = args_size(args, "preview", 0)};
    Json out = json_is_none(path) ? path : inspect_variables(state, path, &page, err);
    json_unref(path);
    return out;
}

Json debug_summary_of(Json state, Json args, Error *err) {
    (void)args;
    (void)err;
    return inspect_summary(state);
}

Json debug_search_in(Json state, Json args, Error *err) {
    (void)err;
    return inspect_search(state, json_object_text(args, "text"),
                          args_size(args, "limit", SEARCH_LIMIT));
}

Json debug_largest_of(Json state, Json args, Error *err) {
    (void)err;
    return inspect_largest(state, args_size(args, "limit", LARGEST_LIMIT),
                           (uint64_t)args_int(args, "min_size", 0));
}

Json debug_variables(Session *session, Json args, Error *err) {
    const Frame *f = args_frame(session, args, err);
    Json out = f ? look_now(session, args, debug_variables_in, err) : json_none();
    Json pending = json_is_none(out) ? json_none() : session_pending(f);
    return json_array_len(pending) ? json_object_with(out, "pending", pending)
                                   : (json_unref(pending), out);
}

Json debug_summary(Session *session, Json args, Error *err) {
    return look_now(session, args, debug_summary_of, err);
}

Json debug_search(Session *session, Json args, Error *err) {
    return look_now(session, args, debug_search_in, err);
}

Json debug_largest(Session *session, Json args, Error *err) {
    return look_now(session, args, debug_largest_of, err);
}

/* ---- expressions ---- */

bool debug_is_exact(const Session *session) {
    return !strcmp(run_flow(session_run(session))->dialect, "tasks");
}

InspectRun *debug_eval_begin(const DebugEval *eval, Error *err) {
    const Node *node = eval->frame ? args_node(eval->frame, NULL) : NULL;
    Json values[FRAME_VARS_MAX];
    Json text = eval->expression;
    InspectEval inspect = {.expression = json_string_data(&text),
                           .len = json_string_len(text),
                           .state = eval->state,
                           .limit = eval->limit,
                           .exact = eval->exact};
    if (node) {
        inspect.vars = node->vars;
        inspect.nvars = node->nvars;
        inspect.values = frame_variables(eval->frame, node, values);
    }
    return inspect_eval_begin(&inspect, err);
}

/* A state of the past has no node that stands somewhere, so there are no variables of maps. */
Json debug_evaluate_on(Json state, Json args, Error *err) {
    Json text = json_object_get_c(args, "expression");
    return inspect_eval(&(InspectEval){.expression = json_string_data(&text),
                                       .len = json_string_len(text),
                                       .state = state,
                                       .limit = args_size(args, "limit", 0),
                                       .exact = args_bool(args, "exact", false)},
                        err);
}

static InspectRun *evaluation(Session *session, Json args, Error *err) {
    Json state = state_now(session, args, err);
    if (json_is_none(state)) return NULL;
    Frame *f = args_frame(session, args, NULL);
    DebugEval eval = {
        .frame = is_innermost(f, args) ? f : NULL,
        .state = state,
        .expression = json_object_get_c(args, "expression"),
        .limit = args_size(args, "limit", 0),
        .exact = debug_is_exact(session),
    };
    InspectRun *run = debug_eval_begin(&eval, err);
    json_unref(state);
    return run;
}

Json debug_evaluate(Session *session, Json args, Error *err) {
    InspectRun *run = evaluation(session, args, err);
    if (!run) return json_none();
    inspect_eval_go_on(run, UINT64_MAX);
    return inspect_eval_end(run, err);
}

/* The same, while the loop goes on. */
typedef struct Evaluating {
    HostWork work; /* first */
    InspectRun *run;
    Reply reply;
} Evaluating;

static bool go_on(HostWork *work, uint64_t until) {
    return inspect_eval_go_on(((Evaluating *)work)->run, until);
}

static void on_evaluated(HostWork *work, const Error *given_up) {
    Evaluating *e = (Evaluating *)work;
    Error err = ERROR_INIT;
    Json out = inspect_eval_end(e->run, &err);
    e->reply.give(e->reply.ctx, out, given_up ? given_up : json_is_none(out) ? &err : NULL);
    mem_free(e);
}

void debug_evaluate_later(Host *host, Session *session, Json args, Reply reply) {
    Error err = ERROR_INIT;
    InspectRun *run = evaluation(session, args, &err);
    if (!run) {
        reply_fail(reply, &err);
        return;
    }
    Evaluating *e = mem_zalloc(sizeof *e);
    *e = (Evaluating){.work = {.go_on = go_on, .done = on_evaluated}, .run = run, .reply = reply};
    host_work(host, &e->work);
}

/* ---- completions ---- */

/* What is being completed: the text up to the cursor decides, all of it is looked at. */
typedef struct Completing {
    Session *session;
    Frame *frame; /* NULL: there is none */
    Json state;   /* JSON_NONE: there is none */
    const char *text;
    size_t len, cursor;
} Completing;

static Json complete_expression(const Completing *c) {
    const Node *node = c->frame ? args_node(c->frame, NULL) : NULL;
    return inspect_complete(c->text, c->len, c->cursor, node ? node->vars : NULL,
                            node ? node->nvars : 0, c->state);
}

static Json node_item(const Node *node) {
    Json item = json_object_with(json_object(), "text", json_ref(node->name_json));
    item = json_object_with(item, "kind", json_string_c("node"));
    item = json_object_with(item, "detail", json_string_c(node->kind->name));
    return json_object_with(item, "from", json_int(0));
}

/* The same name may be in several graphs: it is offered once. */
static Json complete_node(const Completing *c) {
    const Flow *flow = run_flow(session_run(c->session));
    Json items = json_object();
    for (size_t g = 0; g < flow->ngraphs; g++) {
        const Graph *graph = flow->graphs[g];
        for (size_t i = 0; i < graph->nnodes && json_object_len(items) < NODES_OFFERED; i++) {
            const Node *node = &graph->nodes[i];
            if (strncmp(node->name, c->text, c->cursor) == 0) {
                items = json_object_set(items, json_ref(node->name_json), node_item(node));
            }
        }
    }
    Json list = json_array(), key, item;
    for (size_t pos = 0; json_object_next(items, &pos, &key, &item);) {
        list = json_array_push(list, json_ref(item));
    }
    json_unref(items);
    return debug_answer_with("items", list);
}

/* Fields only. shift: how many bytes were put before the text. */
static Json only_fields(Json found, int64_t shift) {
    Json items = json_object_get_c(found, "items"), out = json_array();
    for (size_t i = 0; i < json_array_len(items); i++) {
        Json item = json_array_get(items, i);
        if (json_string_is(json_object_get_c(item, "kind"), "field")) {
            int64_t from = args_int(item, "from", 0) - shift;
            out = json_array_push(
                out, json_object_with(json_ref(item), "from", json_int(from < 0 ? 0 : from)));
        }
    }
    json_unref(found);
    return debug_answer_with("items", out);
}

/* A path may lack the dot that an expression has. */
static Json complete_path(const Completing *c) {
    if (c->len && (c->text[0] == '.' || c->text[0] == '[')) {
        return only_fields(complete_expression(c), 0);
    }
    Buf dotted = BUF_INIT;
    buf_printf(&dotted, ".%s", c->text);
    Completing with_dot = *c;
    with_dot.text = dotted.data;
    with_dot.len = dotted.len;
    with_dot.cursor = c->cursor + 1;
    Json out = only_fields(complete_expression(&with_dot), 1);
    buf_clear(&dotted);
    return out;
}

/* A path into the config of the node: what is written there, and what could be. */
static Json complete_config(const Completing *c) {
    const Node *node = c->frame ? args_node(c->frame, NULL) : NULL;
    Json written = node ? session_config(c->frame) : json_none(), config = json_object();
    bool beside = node && !node->task && !node->kind->outside; /* where inputs stand in an object */
    for (size_t i = 0; beside && i < node->kind->nparams; i++) {
        config = json_object_with(config, node->kind->params[i].name, json_null());
    }
    Completing in_config = *c;
    in_config.state =
        json_kind(written) == JSON_OBJECT ? json_object_merge(config, written) : config;
    Json out = complete_path(&in_config);
    json_unref(in_config.state);
    json_unref(written);
    return out;
}

const char *const debug_complete_words[] = {"expression", "node", "path", "config", NULL};
static Json (*const completers[])(const Completing *c) = {complete_expression, complete_node,
                                                          complete_path, complete_config};

/* Completions are wanted before there is a frame as well, and after the last: then without its
 * fields. */
Json debug_complete(Session *session, Json args, Error *err) {
    Completing c = {.session = session, .frame = args_frame(session, args, err)};
    if (!c.frame && args_has(args, "frame")) return json_none();
    if (err) error_clear(err);
    c.state = c.frame ? frame_will_see(c.frame, NULL) : json_none();
    c.text = json_object_text(args, "text");
    c.len = strlen(c.text);
    c.cursor = args_size(args, "cursor", c.len);
    c.cursor = c.cursor < c.len ? c.cursor : c.len;
    Json out = completers[args_word(args, "what", debug_complete_words, 0)](&c);
    json_unref(c.state);
    return out;
}

/* ---- the workflow as text ---- */

/* Marks of breakpoints beside the lines of a file. */
typedef struct Marks {
    const Breakpoints *points;
    const char *file;
    int first, n;
    bool *marked; /* by line, from the first on */
} Marks;

static bool is_marked(const Breakpoints *points, const Node *node) {
    PointList list = breakpoints_of_node(points, node);
    for (size_t i = 0; i < list.n; i++) {
        if (list.items[i]->enabled) return true;
    }
    return false;
}

/* The body of a map is in no list of nodes: it is reached through its map. */
static void mark_node(const Marks *m, const Node *node) {
    int at = node->line - m->first;
    if (at >= 0 && at < m->n && !m->marked[at] && strcmp(node->file, m->file) == 0) {
        m->marked[at] = is_marked(m->points, node);
    }
    for (size_t i = 0; i < node->kind->nparams; i++) {
        if (node->params[i].node) mark_node(m, node->params[i].node);
    }
}

static Json marked_lines(const Marks *m) {
    Json lines = json_array();
    for (int i = 0; i < m->n; i++) {
        if (m->marked[i]) lines = json_array_push(lines, json_int(m->first + i));
    }
    return lines;
}

static Json marks_of(const Session *session, const Flow *flow, Json source) {
    const char *file = json_object_text(source, "file");
    Marks m = {.points = session_breakpoints(session), .file = file ? file : flow->path};
    m.first = (int)args_int(source, "first", 1);
    m.n = (int)json_array_len(json_object_get_c(source, "lines"));
    m.marked = mem_zalloc((size_t)m.n + 1);
    for (size_t g = 0; g < flow->ngraphs; g++) {
        for (size_t i = 0; i < flow->graphs[g]->nnodes; i++) {
            mark_node(&m, &flow->graphs[g]->nodes[i]);
        }
    }
    Json lines = marked_lines(&m);
    mem_free(m.marked);
    return lines;
}

/* Whether a name means a file: its path, or the end of it. */
static bool means_file(const char *path, const char *name) {
    size_t len = strlen(path), tail = strlen(name);
    return tail <= len && strcmp(path + len - tail, name) == 0 &&
           (tail == len || path[len - tail - 1] == '/');
}

/* Which lines are wanted: those that are said, or those around the node where the frame stands. */
typedef struct SourcePlace {
    const Node *node; /* NULL: the frame stands at none, or there is no frame */
    const Flow *flow;
    const char *file;
    int line;
} SourcePlace;

/* An injected node is of a flow of its own, with a text of its own; an edited one is in the text of the
 * one that it stands for. */
static SourcePlace source_place(const Session *session, const Frame *f, Json args,
                                const char *file) {
    SourcePlace p = {.node = f ? args_node(f, NULL) : NULL, .flow = run_flow(session_run(session))};
    bool at_node = p.node && (!file || means_file(p.node->file, file));
    p.file = file ? file : at_node ? p.node->file : p.flow->path;
    bool own = at_node && !strcmp(p.node->file, p.node->graph->file);
    p.flow = own ? p.node->graph->flow : p.flow;
    p.line = (int)args_int(args, "line", at_node ? p.node->line : 1);
    return p;
}

static Json source_at(const Session *session, const SourcePlace *p, int around, Error *err) {
    Json out = inspect_source(p->flow, p->file, p->line, around, err);
    if (json_is_none(out)) return out;
    bool here = p->node && json_string_is(json_object_get_c(out, "file"), p->node->file);
    Json marks = marks_of(session, p->flow, out);
    out = here ? out : json_object_remove(out, json_string_c("current"));
    return OBJECT_ADD(out, KEY("current", here ? json_int(p->node->line) : json_none()),
                      KEY("breakpoints", marks));
}

Json debug_source(Session *session, Json args, Error *err) {
    const Frame *f = args_frame(session, args, err);
    if (!f && args_has(args, "frame")) return json_none();
    if (err) error_clear(err);
    SourcePlace place = source_place(session, f, args, json_object_text(args, "file"));
    return source_at(session, &place, (int)args_int(args, "around", SOURCE_AROUND), err);
}

Json debug_nodes(Session *session, Json args, Error *err) {
    (void)args;
    (void)err;
    return inspect_nodes(run_flow(session_run(session)));
}

const char *const debug_graph_words[] = {"mermaid", "dot", "json", NULL};

Json debug_graph(Session *session, Json args, Error *err) {
    const char *format = debug_graph_words[args_word(args, "format", debug_graph_words, 0)];
    Buf text = BUF_INIT;
    (void)err;
    flow_draw(run_flow(session_run(session)), format, &text);
    Json out = debug_answer_with("text", json_string(text.data ? text.data : "", text.len));
    buf_clear(&text);
    return out;
}
