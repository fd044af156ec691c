/* hooks.c - frames as a debugger sees them. */
#include "hooks.h"

#include "config.h"
#include "event.h"
#include "image_read.h"
#include "injected.h"
#include "mem.h"
#include "park.h"
#include "record.h"
#include "run_secrets.h"
#include "schedule.h"
#include "task_status.h"

/* ---- hooks ---- */

/* A run of one node is looked at before every node, whether anybody debugs it or not. */
void run_set_hooks(Run *run, const RunHooks *hooks, void *ctx) {
    for (Frame *f = run->first_frame; run->hooks && f; f = f->next) {
        if (run->hooks->frame_end) run->hooks->frame_end(run->hooks_ctx, f);
        f->data = NULL;
    }
    run->hooks = !hooks && run->only.frame ? &only_hooks : hooks;
    run->hooks_ctx = ctx;
    for (Frame *f = run->first_frame; hooks && f; f = f->next) {
        if (hooks->frame_new) hooks->frame_new(ctx, f);
        bool begins = f->status == FRAME_STARTING || f->waits == WAIT_SLEEP;
        if (run->fresh && begins && !f->step) { /* before anybody has looked: not yet */
            engine_drop_start(run->engine, f);
            frame_top(f)->deadline = 0;
            frame_set_wait(f, json_null());
            frame_schedule(f);
        }
    }
}

int64_t run_rest(const Run *run) {
    return run->rested ? run->rests : 0;
}

bool run_has_hooks(const Run *run) {
    return run->hooks && run->hooks != &only_hooks;
}

void run_hold(Run *run, bool held) {
    run_set_held(run, held);
    run->rested = false;
    run_settle_if_done(run);
    run_kick(run);
}

bool run_is_held(const Run *run) {
    return run->is_held;
}

void run_set_debug(Run *run, Json value) {
    json_put(&run->debug, value);
}

Json run_debug(const Run *run) {
    return run->debug;
}

void run_record_debug(Run *run) {
    bool ends = run->halting || run->settled || run_settling(run); /* its lease goes with it */
    if (!ends && run->first_frame) {
        run_record(run, run->first_frame, NULL, "debug", json_none());
        run_kick(run);
    }
}

void run_tell(Run *run, const Frame *f, Json data) {
    const Node *node = f ? frame_top(f)->node : NULL;
    engine_tell(run, f, (Event){.type = EVENT_DEBUG, .node = node ? node->name : "", .data = data});
    run_kick(run);
}

/* ---- which there are ---- */

Frame *run_next_frame(const Run *run, const Frame *after) {
    return after ? after->next : run->first_frame;
}

Frame *run_next_moving(const Run *run, const Frame *after) {
    return after ? after->moving_next : run->first_moving;
}

size_t run_parked_count(const Run *run) {
    return run->parked;
}

size_t run_waiting_count(const Run *run) {
    return run->waiting;
}

size_t run_frame_count(const Run *run) {
    return run->nframes;
}

int64_t run_last_frame_id(const Run *run) {
    return run->next_frame - 1;
}

Engine *run_engine(const Run *run) {
    return run->engine;
}

const Flow *run_flow(const Run *run) {
    return run->flow;
}

uv_loop_t *engine_loop(const Engine *e) {
    return e->options.loop;
}

Store *engine_store(const Engine *e) {
    return e->options.store;
}

/* ---- one of them ---- */

int64_t frame_id(const Frame *f) {
    return f->id;
}

Run *frame_run(const Frame *f) {
    return f->run;
}

const Frame *frame_parent(const Frame *f) {
    return f->parent;
}

void **frame_data(Frame *f) {
    return &f->data;
}

const char *frame_status(const Frame *f) {
    return frame_status_names[f->status];
}

bool frame_is_parked(const Frame *f) {
    return f->status == FRAME_PARKED;
}

bool frame_is_at_rest(const Frame *f) {
    return f->status >= FRAME_WAITING;
}

Json frame_waits(const Frame *f) {
    return f->wait;
}

int64_t frame_since(const Frame *f) {
    return f->since;
}

uint32_t frame_depth(const Frame *f) {
    return f->nlevels;
}

const Node *frame_node(const Frame *f, uint32_t level) {
    return f->levels[level].node;
}

const Graph *frame_graph(const Frame *f, uint32_t level) {
    return f->levels[level].graph;
}

bool frame_level_around(FrameLevel *at) {
    const Graph *graph = frame_graph(at->frame, at->level);
    do {
        if (at->level) {
            at->level--;
        } else if (frame_parent(at->frame)) {
            at->frame = frame_parent(at->frame);
            at->level = frame_depth(at->frame) - 1;
        } else {
            return false;
        }
    } while (frame_graph(at->frame, at->level) == graph);
    return true;
}

/* Names of one file are its author's to tell apart; those of another file stand behind who uses it. */
static bool is_of_another_file(const Graph *inside, const Graph *around) {
    return inside->outside || strcmp(around->file, inside->file) != 0;
}

static void add_holders(FrameLevel at, Buf *out) {
    const Graph *inside = frame_graph(at.frame, at.level);
    if (!frame_level_around(&at)) return;
    const Node *holder = frame_node(at.frame, at.level);
    add_holders(at, out);
    if (!holder || !is_of_another_file(inside, frame_graph(at.frame, at.level))) return;
    buf_adds(out, holder->name);
    buf_addc(out, '/');
}

void frame_add_path(const Frame *f, Buf *out) {
    const Node *node = frame_top(f)->node;
    add_holders((FrameLevel){f, frame_depth(f) - 1}, out);
    buf_adds(out, node ? node->name : "");
}

int32_t frame_attempt(const Frame *f) {
    return frame_top(f)->attempt;
}

bool frame_joins_at(const Frame *f, const Node **node) {
    for (const Frame *at = f->next; at; at = at->next) {
        if (at->parent == f && at->is_branch) {
            *node = at->join;
            return true;
        }
    }
    return false;
}

/* ---- the config of its node ---- */

typedef struct Resolving {
    Frame *frame;
    const Node *node;
    Json state;
    Error *err;
} Resolving;

static Json resolve_expr(const Resolving *r, const Expr *expr) {
    Json vars[FRAME_VARS_MAX];
    Json value = evaluator_run(r->frame->run->evaluator, expr, r->state,
                               frame_variables(r->frame, r->node, vars), r->err);
    if (json_is_none(value) && expr->takes_secrets) { /* which are not what it expects here */
        if (r->err) error_clear(r->err);
        value = json_string_c(MASK_TEXT);
    }
    return value;
}

/* Queries see the variables as they are. One that gives nothing leaves its key out. */
static Json resolve_queries(const Resolving *r, const Param *param) {
    Json out = json_object();
    for (size_t i = 0; i < param->nfields; i++) {
        Error why = ERROR_INIT;
        const Expr *expr = param->fields[i].expr;
        Json value = evaluator_query(r->frame->run->evaluator, expr, r->state, &why);
        if (why.code != ERR_NONE && expr->takes_secrets) {
            value = json_string_c(MASK_TEXT);
        } else if (why.code != ERR_NONE) {
            if (r->err) *r->err = why;
            json_unref(out);
            return json_none();
        }
        if (!json_is_none(value)) {
            out = json_object_set(out, json_ref(param->fields[i].name), value);
        }
    }
    return out;
}

static Json task_config(Frame *f, const Node *node, Json state, Error *err) {
    Param *params = mem_zalloc((node->kind->nparams + 1) * sizeof *params);
    ConfigSource source = {state, task_source, f};
    Resolving r = {f, node, state, err};
    Json out = json_none();
    if (config_resolve(node, &source, params, err)) {
        out = json_object();
        for (size_t i = 0; i < node->kind->nparams && !json_is_none(out); i++) {
            const ParamInfo *info = &node->kind->params[i];
            bool queries = info->type == PARAM_QUERIES && node->params[i].nfields;
            Json value =
                queries ? resolve_queries(&r, &node->params[i]) : json_ref(params[i].value);
            if (queries && json_is_none(value)) {
                json_clear(&out);
            } else {
                out = OBJECT_ADD(out, KEY(info->name, value));
            }
        }
        config_clear(node, params);
    }
    mem_free(params);
    return out;
}

/* An expression over more than the state (a reducer's, a filter's) stays as it is written. */
static Json resolve_param(const Resolving *r, const ParamInfo *info, const Param *param) {
    if (!param->nfields || info->vars) {
        bool runs = param->expr && !info->vars && r->node->kind->id != KIND_JQ;
        return runs ? resolve_expr(r, param->expr) : json_ref(param->value);
    }
    Json out = json_object();
    for (size_t i = 0; i < param->nfields; i++) {
        Json value = resolve_expr(r, param->fields[i].expr);
        if (json_is_none(value)) {
            json_unref(out);
            return value;
        }
        out = json_object_set(out, json_ref(param->fields[i].name), value);
    }
    return out;
}

static Json graph_config(Frame *f, const Node *node, Json state, Error *err) {
    Resolving r = {f, node, state, err};
    Json out = json_object();
    for (size_t i = 0; i < node->kind->nparams; i++) {
        Json value = resolve_param(&r, &node->kind->params[i], &node->params[i]);
        if (json_is_none(value) && !json_is_none(node->params[i].value)) {
            json_unref(out);
            return value;
        }
        out = OBJECT_ADD(out, KEY(node->kind->params[i].name, value));
    }
    return out;
}

/* Secrets stand there as "***". */
Json frame_config(Frame *f, Json state, Error *err) {
    const Node *node = inject_stand_in(f);
    node = node ? node : frame_top(f)->node;
    if (!node) {
        error_set(err, ERR_USAGE, "Frame %lld stands at no node.", (long long)f->id);
        return json_none();
    }
    run_secrets_show(f->run, true);
    Json config = node->task ? task_config(f, node, state, err) : graph_config(f, node, state, err);
    run_secrets_show(f->run, false);
    return config;
}
