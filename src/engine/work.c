/* work.c - steps: one attempt at a node whose work is done in exec/. */
#include "runs.h"

#include "json_print.h"
#include "mem.h"
#include "process.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

bool work_exists(const Engine *e, const Node *node) {
    return e->work[node->kind->id] != NULL;
}

bool work_is_pure(const Engine *e, const Node *node) {
    const NodeWork *work = e->work[node->kind->id];
    return work && work->pure;
}

void work_free_data(Engine *e) {
    for (int i = 0; i < KIND_COUNT; i++) {
        if (e->kind_data[i] && e->work[i]->free_data) {
            e->work[i]->free_data(e->kind_data[i]);
        }
    }
}

/* ---- pure work ---- */

static void clear(Step *s) {
    json_unref(s->state);
    json_unref(s->result);
    json_unref(s->error);
    mem_free(s->place);
}

void work_begin_pure(Frame *f, const Node *node) {
    const NodeWork *work = f->run->engine->work[node->kind->id];
    if (!work) {
        Error err = ERROR_INIT;
        error_set(&err, ERR_USAGE, "Nodes of the kind `%s` cannot be run here.", node->kind->name);
        frame_fail_with(f, "kind", &err);
        return;
    }
    Step s = {.run = f->run, .frame = f, .node = node, .work = work};
    s.state = json_ref(frame_top(f)->state);
    work->start(&s);
    assert(s.finished);
    json_clear(&s.state); /* nobody else holds it, then: it is changed in place */
    if (!json_is_none(s.error)) {
        frame_fail(f, json_take(&s.error), FAIL_NODE);
    } else {
        frame_finish(f, json_take(&s.result));
    }
    clear(&s);
}

/* ---- work outside ---- */

static void free_step(Step *s) {
    s->run->engine->working--;
    clear(s);
    mem_free(s);
}

/* The key in the wait: of the first attempt, or of the retry that follows one. */
static Json work_key(const Frame *f) {
    return json_array_get(f->wait, wait_is(f->wait, "retry") ? WAIT_UNTIL + 1 : WAIT_KEY);
}

void work_start(Frame *f) {
    Engine *e = f->run->engine;
    const Node *node = frame_top(f)->node;
    Step *s = mem_zalloc(sizeof *s);
    *s = (Step){.run = f->run, .frame = f, .node = node, .work = e->work[node->kind->id]};
    s->state = json_ref(frame_top(f)->state);
    assert(!s->work->pure);
    f->step = s;
    e->working++;
    f->since = engine_now(e);
    frame_set_status(f, FRAME_WORKING);
    if (engine_listens(e)) {
        frame_tell_node(f, node);
    }
    s->work->start(s);
}

/* Its place is of no more use: what it did is lost or unwanted, and the node starts afresh if it
 * ever starts again. */
void work_cancel(Frame *f) {
    Step *s = f->step;
    f->step = NULL;
    if (!s || s->finished) {
        return;
    }
    step_place(s, NULL); /* while the frame can still name it */
    s->frame = NULL;
    s->next = f->run->orphans;
    if (s->next) {
        s->next->prev = s;
    }
    f->run->orphans = s;
    if (s->work->cancel) {
        s->work->cancel(s);
    }
}

static void disown(Step *s) {
    *(s->prev ? &s->prev->next : &s->run->orphans) = s->next;
    if (s->next) {
        s->next->prev = s->prev;
    }
}

static void drop(Step *s) {
    if (s->work->drop) {
        s->work->drop(s);
    }
    free_step(s);
}

/* The engine ends: what is under way is left to be found again. */
void work_drop(Frame *f) {
    Step *s = f->step;
    f->step = NULL;
    if (s) {
        drop(s);
    }
}

void work_drop_orphans(Run *run) {
    while (run->orphans) {
        Step *s = run->orphans;
        disown(s);
        drop(s);
    }
}

static void forget_after_commit(Step *s) {
    Engine *e = s->run->engine;
    if (s->place) {
        e->places = mem_grow(e->places, e->nplaces, &e->places_cap, sizeof *e->places);
        e->places[e->nplaces++] = (QueuedPlace){s->place, engine_batch(e)};
        s->place = NULL;
    }
}

/* What ended well all the same while the run was stopping keeps its place: when the node starts again,
 * it is found there. */
static void orphan_ended(Step *s, bool well) {
    Run *run = s->run;
    if (s->place && !(well && run->halting)) {
        process_forget(s->place);
    }
    disown(s);
    free_step(s);
    run_settle_if_done(run);
    engine_kick(run->engine);
}

static void step_ended(Step *s, Json result, Json error) {
    Frame *f = s->frame;
    s->finished = true;
    if (s->work->pure) {
        s->result = result;
        s->error = error;
        return;
    }
    if (!f) {
        bool well = json_is_none(error);
        json_unref(result);
        json_unref(error);
        orphan_ended(s, well);
        return;
    }
    Run *run = f->run;
    f->step = NULL;
    forget_after_commit(s);
    free_step(s);
    if (json_is_none(error)) {
        frame_finish(f, result);
    } else {
        frame_fail(f, error, FAIL_NODE);
    }
    run_settle_if_done(run);
    engine_kick(run->engine);
}

/* ---- what the work sees: step.h ---- */

const Node *step_node(const Step *s) {
    return s->node;
}

const Param *step_param(const Step *s, int index) {
    return &s->node->params[index];
}

Json step_state(const Step *s) {
    return s->state;
}

uv_loop_t *step_loop(const Step *s) {
    return s->run->engine->options.loop;
}

int64_t step_timeout_ms(const Step *s) {
    return s->node->timeout_ms;
}

Json step_eval(Step *s, const Expr *expr, Error *err) {
    Json vars[FRAME_VARS_MAX];
    return machines_eval(s->run->machines, expr, s->state, frame_vars(s->frame, s->node, vars),
                         err);
}

Json step_var(const Step *s, size_t index) {
    Json all = s->frame->vars;
    return json_array_get(all, json_array_len(all) - s->node->nvars + index);
}

bool step_text(Step *s, const Expr *expr, Buf *out, Error *err) {
    Json text = step_eval(s, expr, err);
    if (json_is_none(text)) {
        return false;
    }
    if (json_kind(text) == JSON_STRING) {
        buf_add(out, json_string_data(&text), json_string_len(text));
    } else {
        json_print(text, NULL, out);
    }
    json_unref(text);
    return true;
}

const char *step_folder(const Step *s) {
    return s->run->folder_path ? s->run->folder_path : ".";
}

const char *step_place(Step *s, Error *err) {
    if (s->place) {
        return s->place;
    }
    Engine *e = s->run->engine;
    if (!e->options.store || !s->frame) {
        error_set(err, ERR_USAGE, "Work outside the process needs a store.");
        return NULL;
    }
    const char *folder = engine_folder(e, err);
    Json key = work_key(s->frame);
    if (!folder || json_kind(key) != JSON_STRING) {
        return NULL;
    }
    Buf place = BUF_INIT;
    buf_printf(&place, "%s/%lld-%.*s", folder, (long long)s->run->row.run,
               (int)json_string_len(key), json_string_data(&key));
    return s->place = buf_detach(&place);
}

void step_set_data(Step *s, void *data) {
    s->data = data;
}

void *step_data(const Step *s) {
    return s->data;
}

void **step_kind_data(Step *s, KindId kind) {
    return &s->run->engine->kind_data[kind];
}

void step_log(Step *s, const char *stream, const char *bytes, size_t len) {
    if (!s->frame || !engine_listens(s->run->engine)) {
        return;
    }
    Json data = json_object_set(json_object(), json_string_c("stream"), json_string_c(stream));
    data = json_object_set(data, json_string_c("text"), json_string(bytes, len));
    engine_tell(s->run, s->frame, (Event){.type = EVENT_LOG, .node = s->node->name, .data = data});
    engine_kick(s->run->engine);
}

void step_succeed(Step *s, Json result) {
    step_ended(s, result, json_none());
}

void step_fail_with(Step *s, const char *kind, const Error *err) {
    step_ended(s, json_none(), fail_error(s->frame, s->node, kind, err, json_none()));
}

void step_fail(Step *s, const char *kind, Json details, const char *fmt, ...) {
    Error err = ERROR_INIT;
    va_list args;
    va_start(args, fmt);
    error_vset_at(&err, ERR_DATA, 0, 0, fmt, args);
    va_end(args);
    step_ended(s, json_none(), fail_error(s->frame, s->node, kind, &err, details));
}
