/* work.c - steps: one attempt at a node whose work is done in exec/. */
#include "work.h"

#include "advance.h"
#include "config.h"
#include "event.h"
#include "fail.h"
#include "folders.h"
#include "image_read.h"
#include "json_print.h"
#include "mem.h"
#include "run_secrets.h"
#include "schedule.h"
#include "steer.h"
#include "task_status.h"
#include "tasks.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what a frame waits for while its node works ---- */

/* Those of a wait on record from before there were any are none. Given. */
static Json answers_of(Json wait) {
    Json answers = work_part(wait, WORK_ANSWERS);
    return json_is_none(answers) ? json_array() : json_ref(answers);
}

static Json memo_of(Json wait) {
    Json memo = work_part(wait, WORK_MEMO);
    return json_is_none(memo) ? json_null() : json_ref(memo);
}

/* A wait for the next attempt names a place, whatever is attempted. */
bool work_goes_outside(const Frame *f, Json wait) {
    const Node *node = frame_top(f)->node;
    const NodeWork *work = node ? work_of(f, node) : NULL;
    return work && !work->pure && json_kind(work_part(wait, WORK_KEY)) == JSON_STRING;
}

Json work_again(const Frame *f, Json wait) {
    return WAIT_FOR(WAIT_WORK, frame_work_key(f), memo_of(wait), answers_of(wait));
}

bool frame_asks_for_work(const Frame *f) {
    return f->waits == WAIT_INTERRUPT && json_kind(work_part(f->wait, WORK_KEY)) == JSON_STRING;
}

Json work_answered(Json wait, Json answer) {
    return WAIT_FOR(WAIT_WORK, json_ref(work_part(wait, WORK_KEY)), memo_of(wait),
                    json_array_push(answers_of(wait), answer));
}

void work_free_data(Engine *e) {
    for (int i = 0; i < KIND_COUNT; i++) {
        if (e->kind_data[i] && e->work[i]->free_data) e->work[i]->free_data(e->kind_data[i]);
    }
}

/* ---- its log ---- */

/* offset: where the record has it, -1: nowhere. */
static void tell_log(Step *s, LogStream stream, int64_t offset, const char *bytes, size_t len) {
    if (!run_wants(s->run, EVENT_LOG)) return;
    bool recorded = offset >= 0;
    int64_t frame = s->frame ? s->frame->id : s->log->frame;
    Json execution =
        recorded ? json_string_fmt("%" PRId64 ".%" PRId64, s->log->execution, frame) : json_none();
    Json data = OBJECT(KEY("stream", log_stream_names[stream]),
                       KEY("text", json_string(bytes, len)), KEY("execution", execution),
                       KEY("offset", recorded ? json_int(offset) : json_none()),
                       KEY("progress", s->tells_progress ? json_bool(true) : json_none()),
                       KEY("percent", s->tells_progress ? json_number(s->percent) : json_none()));
    Event event = {.type = EVENT_LOG, .node = s->node->name, .data = data};
    if (s->frame) {
        engine_tell(s->run, s->frame, event);
    } else {
        event.frame = frame;
        event.depth = s->log->depth;
        engine_tell_of(s->run, s->log->frame_name, event);
    }
    run_kick(s->run);
}

/* Here the output of work enters, on its way to the log and to whoever listens. */
static void log_text(Step *s, LogStream stream, const char *bytes, size_t len) {
    if (!log_is_open(s)) return;
    int64_t offset = log_add(s, stream, bytes, len);
    tell_log(s, stream, offset, bytes, len);
}

static LogStream stream_of(const char *name) {
    LogStream stream = LOG_STDOUT;
    while (stream < LOG_NOTES && strcmp(log_stream_names[stream], name) != 0) stream++;
    return stream;
}

static MaskStream *mask_stream(Step *s, LogStream stream) {
    if (!s->masks) s->masks = mem_zalloc(LOG_STREAMS * sizeof *s->masks);
    return &s->masks[stream];
}

/* Whatever a log is made of comes through here, and no secret goes further. */
void step_log(Step *s, const char *name, const char *bytes, size_t len) {
    const Mask *mask = run_mask(s->run);
    LogStream stream = stream_of(name);
    if (!mask) {
        log_text(s, stream, bytes, len);
        return;
    }
    Buf text = BUF_INIT;
    mask_feed(mask, mask_stream(s, stream), bytes, len, &text);
    if (text.len) log_text(s, stream, text.data, text.len);
    buf_clear(&text);
}

static void cut_mask(Step *s, LogStream stream) {
    const Mask *mask = run_mask(s->run);
    MaskStream *held = mask ? mask_stream(s, stream) : NULL;
    if (!held || !held->held.len) return;
    Buf text = BUF_INIT;
    if (held->held.len >= MASK_MIN) {
        buf_adds(&text, MASK_TEXT);
        mask_stream_clear(held);
    } else {
        mask_end(mask, held, &text);
    }
    log_text(s, stream, text.data, text.len);
    buf_clear(&text);
}

/* The log says itself what it has not. */
void step_log_cut(Step *s, const char *name, uint64_t left_out) {
    LogStream stream = stream_of(name);
    cut_mask(s, stream);
    if (!left_out || !log_is_open(s)) return;
    log_lose(s, stream, (int64_t)left_out);
    Buf line = BUF_INIT;
    buf_printf(&line, LOG_LEFT_OUT, (int64_t)left_out, name);
    tell_log(s, LOG_NOTES, -1, line.data, line.len);
    buf_clear(&line);
}

/* What was held back may have been the beginning of a secret, and was none. */
static void end_log(Step *s) {
    for (int i = 0; s->masks && i < LOG_STREAMS; i++) {
        Buf text = BUF_INIT;
        mask_end(run_mask(s->run), &s->masks[i], &text);
        if (text.len) log_text(s, (LogStream)i, text.data, text.len);
        buf_clear(&text);
    }
    log_end(s);
}

bool step_has_secrets(const Step *s) {
    return run_mask(s->run) != NULL;
}

void step_write_mask(Step *s, Buf *out) {
    const Mask *mask = run_mask(s->run);
    if (mask) mask_write(mask, out);
}

Mask *step_copy_mask(Step *s) {
    const Mask *mask = run_mask(s->run);
    return mask ? mask_copy(mask) : NULL;
}

bool step_mask(Step *s, const char *text, size_t len, unsigned cut, Buf *out) {
    const Mask *mask = run_mask(s->run);
    return mask && mask_text(mask, text, len, cut, out);
}

/* ---- pure work ---- */

static void clear(Step *s) {
    for (int i = 0; s->masks && i < LOG_STREAMS; i++) mask_stream_clear(&s->masks[i]);
    mem_free(s->masks);
    jq_run_free(s->eval);
    foreign_free(s->foreign);
    long_texts_free(s->texts);
    if (s->replay) {
        replay_clear(s->replay);
        mem_free(s->replay);
    }
    if (s->params) {
        config_clear(s->node, s->params);
        mem_free(s->params);
    }
    json_unref(s->state);
    json_unref(s->result);
    json_unref(s->error);
    json_unref(s->instead);
    log_free(s->log);
    mem_free(s->place);
}

/* The turn is over: the rest is for a later one. The place of work that has just ended is of use until then. */
static void keep_slice(Frame *f, const Step *s) {
    Step *ended = f->run->engine->ended;
    f->step = mem_alloc(sizeof *f->step);
    *f->step = *s;
    f->step->sliced = true;
    if (ended && ended->frame == f && ended->place) {
        f->step->place = ended->place;
        f->step->place_of = ended->work;
        ended->place = NULL;
    }
    frame_queue_first(f);
}

static void end_pure(Frame *f, Step *s) {
    if (s->masks || s->log) end_log(s);
    json_clear(&s->state); /* nobody else holds it, then: it is changed in place */
    if (!json_is_none(s->error)) {
        frame_fail(f, json_take(&s->error), FAIL_NODE);
    } else if (s->deadline) { /* reducers have what is left of its time */
        Evaluator *m = s->run->evaluator;
        evaluator_set_deadline(m, s->deadline);
        frame_finish(f, json_take(&s->result));
        evaluator_set_deadline(m, 0);
    } else {
        frame_finish(f, json_take(&s->result));
    }
    clear(s);
}

static void go_on_pure(Frame *f) {
    Step *s = f->step;
    s->work->go_on(s);
    if (!s->finished) {
        frame_queue_first(f);
        return;
    }
    Step ended = *s;
    f->step = NULL;
    mem_free(s);
    end_pure(f, &ended);
}

void work_begin_pure(Frame *f, const Node *node) {
    const NodeWork *work = work_of(f, node);
    if (!work) {
        Error err = ERROR_INIT;
        error_set(&err, ERR_USAGE, "Nodes of the kind `%s` cannot be run here.", node->kind->name);
        frame_fail_with(f, "kind", &err);
        return;
    }
    Step s = {.run = f->run, .frame = f, .node = node, .work = work};
    s.state = json_ref(frame_top(f)->state);
    if (node->timeout_ms) s.deadline = uv_hrtime() + (uint64_t)node->timeout_ms * 1000000;
    work->start(&s);
    if (s.finished) {
        end_pure(f, &s);
    } else {
        s.go_on = go_on_pure;
        keep_slice(f, &s);
    }
}

/* ---- in slices ---- */

static void forget_after_commit(Step *s);

static const NodeWork evaluation = {.pure = true};

Json frame_eval_slice(Frame *f, const Sliced *what, Error *err) {
    Step *s = frame_goes_on(f) ? f->step : NULL;
    JqRun *under_way = s ? s->eval : NULL;
    ForeignEval *foreign = s ? s->foreign : NULL;
    Json out =
        evaluator_slice(f->run->evaluator, what->expr, what->input, what->vars,
                        &(Slicing){.under_way = &under_way, .foreign = &foreign, .who = f}, err);
    if (s) s->eval = under_way;
    if (s) s->foreign = foreign;
    if ((under_way || foreign) && s) {
        frame_queue_first(f);
    } else if (under_way || foreign) {
        keep_slice(f, &(Step){.run = f->run,
                              .frame = f,
                              .node = frame_top(f)->node,
                              .work = &evaluation,
                              .eval = under_way,
                              .foreign = foreign,
                              .edge = what->edge,
                              .go_on = what->again});
    } else if (s) {
        work_drop(f);
    }
    return out;
}

/* Of work that has ended: its result is in the state, or nobody wants it. */
static void forget_place_of(Step *s) {
    if (!s->place_of) return;
    s->work = s->place_of;
    forget_after_commit(s);
    s->work = &evaluation;
}

void frame_replay_begin(Frame *f, Replay *fresh) {
    Step *s = frame_goes_on(f) ? f->step : NULL;
    Replay *r = s ? s->replay : fresh;
    r->deadline = s ? s->deadline : evaluator_deadline(f->run->evaluator);
    r->who = f;
    evaluator_begin(f->run->evaluator, r);
}

bool frame_replay_end(Frame *f, Replay *fresh, void (*again)(Frame *f)) {
    Step *s = frame_goes_on(f) ? f->step : NULL;
    Replay *r = s ? s->replay : fresh;
    evaluator_end(f->run->evaluator);
    if (!r->is_later) {
        bool late = r->is_late;
        if (s) forget_place_of(s); /* the record follows */
        if (s) work_drop(f);
        replay_clear(fresh);
        fresh->is_late = late;
        return true;
    }
    if (s) {
        frame_queue_first(f);
        return false;
    }
    frame_unqueue(f);
    frame_set_status(f, FRAME_READY);
    r = mem_alloc(sizeof *r);
    *r = *fresh;
    keep_slice(f, &(Step){.run = f->run,
                          .frame = f,
                          .node = frame_top(f)->node,
                          .work = &evaluation,
                          .replay = r,
                          .deadline = r->deadline,
                          .go_on = again});
    return false;
}

/* ---- in other languages ---- */

/* The one who evaluates is given a step of its own, which is no attempt at the node. */
static void foreign_begin(void *ctx, ForeignEval *eval, Json input, const Json *vars) {
    Run *run = ctx;
    Frame *f = eval->who;
    Error err = ERROR_INIT;
    const Node *node = frame_top(f)->node;
    const NodeWork *work = run->engine->work[KIND_EDGE_AGENT];
    bool allowed =
        kind_is_allowed(&run->engine->options.bounds, &kinds[KIND_EDGE_AGENT], NULL, &err);
    if (!work || !work->evaluate || !node || !allowed) {
        if (allowed) error_set(&err, ERR_USAGE, "Expressions in Jinja cannot be evaluated here.");
        foreign_done(eval, json_none(), &err);
        return;
    }
    Step *s = mem_zalloc(sizeof *s);
    *s = (Step){.run = run, .frame = f, .node = node, .work = work, .for_eval = eval};
    s->state = json_ref(input);
    eval->work = s;
    f->awaits = true;
    run->evaluating++;
    s->unstarted = true;
    bool result = strcmp(eval->expr->foreign->how, FOREIGN_OUTPUTS) == 0;
    work->evaluate(s, eval->expr, result ? vars[0] : json_none());
    if (!eval->done) s->unstarted = false;
}

static void foreign_over(Step *s) {
    s->frame->awaits = false;
    s->run->evaluating--;
    clear(s);
    mem_free(s);
}

static void foreign_drop(void *ctx, ForeignEval *eval) {
    Step *s = eval->work;
    (void)ctx;
    s->work->drop(s);
    foreign_over(s);
}

const EvaluatorForeign work_foreign = {.begin = foreign_begin, .drop = foreign_drop};

void step_evaluated(Step *s, Json value, const Error *err) {
    Frame *f = s->frame;
    Error why = ERROR_INIT;
    if (!json_is_none(value) && !value_fits(s->run->engine, value, "The value", &why)) {
        json_clear(&value);
        err = &why;
    }
    bool later = !s->unstarted;
    foreign_done(s->for_eval, run_masked(s->run, value, 0), err);
    foreign_over(s);
    if (!later) return; /* who began it takes it at once */
    if (f->status == FRAME_READY && !f->queued) frame_queue_first(f);
    run_kick(f->run);
}

/* ---- work outside ---- */

static void free_step(Step *s) {
    s->run->engine->working -= s->work->heavy;
    s->run->engine->given -= s->given;
    clear(s);
    mem_free(s);
}

/* prepare() sees a step that does not start. */
Json work_wait(Frame *f, const Node *node, Error *err) {
    const NodeWork *work = work_of(f, node);
    Json memo = json_null();
    if (work && work->prepare) {
        Step s = {.run = f->run, .frame = f, .node = node, .work = work, .state = task_sees(f)};
        memo = work->prepare(&s, err);
        clear(&s);
    }
    return json_is_none(memo) ? memo : WAIT_FOR(WAIT_WORK, frame_work_key(f), memo, json_array());
}

/* The folder that the run was started in, maybe by another process, is one that runs may be in here. */
static bool is_inside(const Run *run, Error *err) {
    const EngineOptions *o = &run->engine->options;
    const char *folder = run->folder_path;
    if (!o->bounds.inside || !folder || (o->folder && !strcmp(folder, o->folder))) return true;
    char *there = safe_root_path(o->bounds.root, folder, NULL);
    bool inside = there != NULL;
    mem_free(there);
    return inside ||
           error_set(err, ERR_FORBIDDEN,
                     "The run was started in the folder %s, and here runs are confined to %s.",
                     folder, safe_root_name(o->bounds.root));
}

static void begin_work(Frame *f);

static void begin_again(Frame *f) {
    if (f->status != FRAME_STARTING) frame_set_status(f, FRAME_STARTING);
    frame_set_status(f, FRAME_WORKING);
    begin_work(f);
}

bool work_has_room(const Frame *f) {
    const Engine *e = f->run->engine;
    const Step *s = f->step;
    return !s || !s->crowded || !e->given || e->given + s->wanted <= e->options.max_given;
}

static void forget_texts(Step *s) {
    long_texts_free(s->texts);
    s->texts = NULL;
}

/* start() evaluates what it needs before it does anything. Where the turn is over first, its failure is none, and it is
 * called anew in a later one. The step may be gone when it returns. */
static void begin_work(Frame *f) {
    Step *s = f->step;
    Engine *e = s->run->engine;
    Evaluator *m = s->run->evaluator;
    Error err = ERROR_INIT;
    Replay fresh = {0}, *r = s->replay ? s->replay : &fresh;
    bool thaw = f->thaw;
    f->thaw = false;
    r->deadline = s->deadline;
    r->who = f;
    s->unstarted = true;
    s->crowded = false;
    e->given -= s->given;
    s->given = 0;
    s->go_on = NULL;
    e->beginning = s;
    evaluator_begin(m, r);
    if (s->node->task && !s->params && !f->params && !task_resolve(f, &err)) {
        step_fail_with(s, "config", &err);
    } else if (!work_is_allowed(f, s->node, &err) || !is_inside(s->run, &err)) {
        step_fail_with(s, "forbidden", &err);
    } else {
        if (f->params) s->params = f->params;
        f->params = NULL;
        s->work->start(s);
    }
    bool over = e->beginning != s;
    e->beginning = NULL;
    if (over) {
        replay_clear(&fresh);
        return;
    }
    evaluator_end(m);
    f->thaw = r->is_later && thaw;
    if (r->is_later && s->crowded) { /* what it has so far would only take room */
        replay_clear(r);
        forget_texts(s);
        e->given -= s->given;
        s->given = 0;
        frame_set_status(f, FRAME_READY);
        frame_set_status(f, FRAME_STARTING);
        frame_start_when_durable(f);
        return;
    }
    if (r->is_later) {
        if (!s->replay) {
            s->replay = mem_alloc(sizeof *s->replay);
            *s->replay = fresh;
        }
        s->go_on = begin_again;
        frame_set_status(f, FRAME_READY);
        frame_queue_first(f);
        return;
    }
    s->unstarted = false;
    replay_clear(&fresh);
    forget_texts(s);
    if (thaw && f->step == s && s->work->freeze) s->work->freeze(s, false);
}

/* Whether the end of a step is none, because it began where the turn was over. */
static bool begins_later(Step *s) {
    if (!s->unstarted) return false;
    if (evaluator_is_later(s->run->evaluator)) return true;
    s->unstarted = false;
    s->run->engine->beginning = NULL;
    evaluator_end(s->run->evaluator);
    return false;
}

/* After a crash the config of a task is made again: it may have been made from variables that others
 * have changed since, but never from ones that are not on record. */
void work_start(Frame *f) {
    Engine *e = f->run->engine;
    const Node *node = frame_top(f)->node;
    if (f->step) { /* that had to wait for room */
        begin_again(f);
        return;
    }
    Step *s = mem_zalloc(sizeof *s);
    *s = (Step){.run = f->run, .frame = f, .node = node, .work = e->work[node->kind->id]};
    s->state = task_sees(f);
    assert(!s->work->pure);
    f->step = s;
    e->working += s->work->heavy;
    f->since = engine_time(e);
    frame_set_status(f, FRAME_WORKING);
    if (!s->work->keeps_time && node->timeout_ms) {
        start_clock(f, node->timeout_ms);
        frame_set_timer(f);
    }
    if (!steering_of(node)->begin) frame_tell_node(f, node); /* which did so when it began */
    if (node->timeout_ms) s->deadline = uv_hrtime() + (uint64_t)node->timeout_ms * 1000000;
    begin_work(f);
}

static void forget_after_commit(Step *s) {
    Engine *e = s->run->engine;
    if (s->place && s->work->forget) {
        e->forgets = mem_grow(e->forgets, e->nforgets, &e->forgets_cap, sizeof *e->forgets);
        e->forgets[e->nforgets++] = (QueuedForget){s->work, s->place, engine_batch(e)};
        s->place = NULL;
    }
}

/* Its place is of no more use: what it did is lost or unwanted, and the node starts afresh if it
 * ever starts again. */
void work_cancel(Frame *f) {
    Step *s = f->step;
    if (s && s->sliced) {
        forget_place_of(s);
        work_drop(f);
        return;
    }
    f->step = NULL;
    if (s && (s->held_back || s->unstarted)) {
        step_place(s, NULL);
        forget_after_commit(s);
        free_step(s);
        return;
    }
    if (!s || s->finished) return;
    step_place(s, NULL); /* while the frame can still name it */
    if (s->node->task && f->run->status != RUN_STOPPED) log_leave(s);
    s->frame = NULL;
    s->next = f->run->orphans;
    if (s->next) s->next->prev = s;
    f->run->orphans = s;
    if (s->work->cancel) s->work->cancel(s);
}

static void disown(Step *s) {
    *(s->prev ? &s->prev->next : &s->run->orphans) = s->next;
    if (s->next) s->next->prev = s->prev;
}

static void drop(Step *s) {
    if (s->work->drop && !s->held_back && !s->unstarted) s->work->drop(s);
    free_step(s);
}

/* The engine ends: what is under way is left to be found again. */
void work_drop(Frame *f) {
    Step *s = f->step;
    f->step = NULL;
    if (s) drop(s);
}

void work_drop_orphans(Run *run) {
    while (run->orphans) {
        Step *s = run->orphans;
        disown(s);
        drop(s);
    }
}

/* What ended well all the same while the run was stopping keeps its place: when the node starts again,
 * it is found there. */
static void orphan_ended(Step *s, bool well) {
    Run *run = s->run;
    if (s->place && s->work->forget && !(well && run->halting)) s->work->forget(s->place);
    disown(s);
    free_step(s);
    run_settle_if_done(run);
    run_kick(run);
}

/* ---- its end ---- */

/* The step is over, but the node is not: the frame waits for an answer, or goes on with one. */
static void step_over(Step *s) {
    end_log(s);
    s->frame->step = NULL;
    free_step(s);
}

static void step_ended(Step *s, Json result, Json error) {
    Frame *f = s->frame;
    if (begins_later(s)) {
        json_unref(result);
        json_unref(error);
        return;
    }
    s->finished = true;
    if (s->work->pure) {
        s->result = result;
        s->error = error;
        return;
    }
    end_log(s);
    result = run_masked(s->run, result, 0);
    if (!f) {
        bool well = json_is_none(error);
        json_unref(result);
        json_unref(error);
        orphan_ended(s, well);
        return;
    }
    Run *run = f->run;
    if (f->status == FRAME_PARKED) { /* somebody else ended what we had frozen */
        s->result = result;
        s->error = error;
        s->held_back = true;
        return;
    }
    f->step = NULL;
    if (json_array_len(step_answers(s))) {
        step_place(s, NULL); /* an earlier start may have used it */
    }
    Json instead = json_take(&s->instead);
    Step *around = run->engine->ended;
    run->engine->ended = s;
    if (json_is_none(error)) {
        json_unref(instead);
        frame_finish(f, result);
    } else if (!json_is_none(instead)) {
        frame_forgive(f, error, instead);
    } else {
        frame_fail(f, error, FAIL_NODE);
    }
    run->engine->ended = around;
    forget_after_commit(s);
    free_step(s);
    run_settle_if_done(run);
    run_kick(run);
}

void step_enter(Step *s, Flow *flow) {
    Frame *f = s->frame;
    Run *run = s->run;
    s->finished = true;
    end_log(s);
    if (!f) {
        flow_unref(flow);
        orphan_ended(s, false);
        return;
    }
    f->step = NULL;
    steering_of(s->node)->enter(f, flow);
    free_step(s);
    run_settle_if_done(run);
    run_kick(run);
}

bool work_freeze(Frame *f, bool frozen) {
    Step *s = f->step;
    if (s && (s->sliced || s->unstarted)) {
        uint64_t now = s->deadline ? uv_hrtime() : 0;
        s->deadline += frozen ? -now : now;
        return true;
    }
    if (!s || !s->work->freeze) return false;
    if (!s->held_back) s->work->freeze(s, frozen);
    return true;
}

bool work_deliver(Frame *f) {
    Step *s = f->step;
    if (!s || !s->held_back) return false;
    s->held_back = false;
    step_ended(s, json_take(&s->result), json_take(&s->error));
    return true;
}

/* ---- what earlier processes left ---- */

typedef struct Wanted {
    const Run *run;
    bool (*keeps)(const Frame *f);
} Wanted;

/* The frame that waits for the work of that key; NULL: none does. */
static const Frame *frame_with_key(const Run *run, const char *key) {
    const Frame *f = run->first_frame;
    while (f && !json_string_is(work_part(f->wait, WORK_KEY), key)) f = f->next;
    return f;
}

static bool wants_key(void *ctx, const char *key) {
    const Wanted *wanted = ctx;
    const Frame *f = frame_with_key(wanted->run, key);
    return f && (!wanted->keeps || wanted->keeps(f));
}

void work_sweep(Run *run, bool (*keeps)(const Frame *f)) {
    Engine *e = run->engine;
    Wanted wanted = {run, keeps};
    WorkSweep sweep = {store_folder(e->options.store, NULL), run->row.run, wants_key, &wanted,
                       e->endings};
    for (int i = 0; sweep.folder && i < KIND_COUNT; i++) {
        void (*function)(const WorkSweep *) = e->work[i] ? e->work[i]->sweep : NULL;
        for (int k = 0; function && k < i; k++) {
            function = e->work[k] && e->work[k]->sweep == function ? NULL : function;
        }
        if (function) function(&sweep);
    }
}

/* ---- what the work sees: step.h ---- */

const Node *step_node(const Step *s) {
    return s->node;
}

const Param *step_param(const Step *s, int index) {
    return s->params ? &s->params[index] : &s->node->params[index];
}

Json step_state(const Step *s) {
    return s->state;
}

const char *step_thread(const Step *s) {
    return s->run->row.thread ? s->run->row.thread : "";
}

uv_loop_t *step_loop(const Step *s) {
    return s->run->engine->options.loop;
}

int64_t step_timeout_ms(const Step *s) {
    return s->node->timeout_ms;
}

/* The expressions of a node, one by one, may take as long as the node. */
static Evaluator *evaluator_in_time(const Step *s) {
    uint64_t ms = (uint64_t)s->node->timeout_ms;
    if (ms) evaluator_set_deadline(s->run->evaluator, uv_hrtime() + ms * 1000000);
    return s->run->evaluator;
}

/* What an expression gives is given to a command, a server or a script as text: it is no larger than a state. */
static Json evaluated(Step *s, Json value, Error *err) {
    if (s->node->timeout_ms) evaluator_set_deadline(s->run->evaluator, 0);
    if (!json_is_none(value) && !value_fits(s->run->engine, value, "The result", err))
        json_clear(&value);
    if (!json_is_none(value) && json_on_heap(value) && !step_reserve(s, json_size(value), err))
        json_clear(&value);
    return value;
}

bool step_reserve(Step *s, uint64_t bytes, Error *err) {
    Engine *e = s->run->engine;
    if (!s->unstarted) return true;
    uint64_t others = e->given - s->given;
    s->given += bytes;
    e->given += bytes;
    if (!others || e->given <= e->options.max_given) return true;
    s->crowded = true;
    s->wanted = s->given;
    evaluator_set_later(s->run->evaluator, err);
    return false;
}

Json step_eval(Step *s, const Expr *expr, Error *err) {
    Json vars[FRAME_VARS_MAX];
    return evaluated(s,
                     evaluator_run(evaluator_in_time(s), expr, s->state,
                                   frame_variables(s->frame, s->node, vars), err),
                     err);
}

bool step_eval_slice(Step *s, const Expr *expr, Json *out, Error *err) {
    Json vars[FRAME_VARS_MAX];
    *out =
        evaluator_slice(s->run->evaluator, expr, s->state, frame_variables(s->frame, s->node, vars),
                        &(Slicing){.under_way = &s->eval, .deadline = s->deadline}, err);
    return !s->eval;
}

uint64_t step_deadline(const Step *s) {
    return s->deadline;
}

uint64_t step_turn_end(const Step *s) {
    return s->run->engine->turn_time ? s->run->engine->turn_until : 0;
}

void step_took_long(Step *s) {
    engine_look(s->run->engine);
}

Json step_query(Step *s, const Expr *expr, Error *err) {
    return evaluated(s, evaluator_query(evaluator_in_time(s), expr, s->state, err), err);
}

Json step_eval_with(Step *s, const Expr *expr, const Json *more, size_t n, Error *err) {
    enum { MORE_MAX = 8 };
    Json vars[FRAME_VARS_MAX + MORE_MAX];
    assert(n <= MORE_MAX);
    frame_variables(s->frame, s->node, vars);
    for (size_t i = 0; i < n; i++) vars[s->node->nvars + i] = more[i];
    return evaluated(s, evaluator_run(evaluator_in_time(s), expr, s->state, vars, err), err);
}

Json step_var(const Step *s, size_t index) {
    Json all = s->frame->vars;
    return json_array_get(all, json_array_len(all) - s->node->nvars + index);
}

static void put_text(Json value, Buf *out) {
    if (json_kind(value) == JSON_STRING) {
        buf_add(out, json_string_data(&value), json_string_len(value));
    } else {
        json_print(value, NULL, out);
    }
    json_unref(value);
}

bool step_text(Step *s, const Expr *expr, Buf *out, Error *err) {
    Json text = step_eval(s, expr, err);
    if (json_is_none(text)) return false;
    put_text(text, out);
    return true;
}

/* Until the turn is over, if it has one. */
static bool write_text(Step *s, LongText *text, Error *err) {
    while (!long_text_is_whole(text)) {
        if (!long_text_write(text, err)) return false;
        if (!s->unstarted || long_text_is_whole(text)) continue;
        if (s->deadline && uv_hrtime() >= s->deadline) {
            return error_set(err, ERR_LIMIT, "Writing it took longer than its node may.");
        }
        if (engine_look(s->run->engine)) {
            evaluator_set_later(s->run->evaluator, err);
            return false;
        }
    }
    return true;
}

/* The expression is evaluated in any case: the evaluations of a step that begins are counted. */
bool step_long_text(Step *s, const Expr *expr, StepText *out, Error *err) {
    Json value = step_eval(s, expr, err);
    if (json_is_none(value)) return false;
    LongText *text = s->texts ? long_text_find(s->texts, expr) : NULL;
    if (!text && json_size(value) < LONG_TEXT) {
        put_text(value, &out->text);
        out->len = out->text.len;
        return true;
    }
    if (text) {
        json_unref(value);
    } else {
        text = long_text_add(&s->texts, expr, value, step_store_folder(s), err);
    }
    if (!text || !write_text(s, text, err)) return false;
    out->file = long_text_file(text, &out->len, err);
    out->is_file = out->file >= 0;
    return out->is_file;
}

void step_text_clear(StepText *text) {
    buf_clear(&text->text);
    if (text->is_file) close(text->file);
    *text = (StepText){0};
}

const char *step_folder(const Step *s) {
    return s->run->folder_path ? s->run->folder_path : ".";
}

/* Without a store a definition has no key. */
static Json definition_of(const Run *run) {
    if (json_kind(run->definition) == JSON_STRING) return json_ref(run->definition);
    const char *key = run->row.definition;
    return key && *key ? json_string_c(key)
                       : json_string_fmt("flow %llu", (unsigned long long)run->flow->serial);
}

Json step_realm(const Step *s) {
    const Run *run = s->run;
    const Flow *flow = s->node->graph->flow;
    Json realm = flow == run->flow
                     ? definition_of(run)
                     : json_string_fmt("injected %llu", (unsigned long long)flow->serial);
    if (!run->engine->options.bounds.apart) return realm;
    bool known = json_kind(run->starter) == JSON_STRING;
    Json whose = known         ? json_ref(run->starter)
                 : run->loaded ? json_string_fmt("run %lld", (long long)run->row.run)
                               : json_string_c("");
    Json all = json_string_fmt("%s %s %.*s", json_string_data(&realm), known ? "by" : "of",
                               (int)json_string_len(whose), json_string_data(&whose));
    json_unref(whose);
    json_unref(realm);
    return all;
}

const char *const *step_environment(const Step *s) {
    static const char *const none[] = {NULL};
    char *const *all = s->run->engine->options.environment;
    return all ? (const char *const *)all : none;
}

bool step_trace(const Step *s, TraceContext *out, const char **state) {
    *state = s->run->trace ? s->run->trace->state : NULL;
    return s->frame && frame_span(s->frame, out);
}

const Bounds *step_bounds(const Step *s) {
    return &s->run->engine->options.bounds;
}

const Graph *step_graph(const Step *s, size_t i) {
    for (const Frame *f = s->frame; f; f = f->parent) {
        if (i < f->nlevels) return f->levels[f->nlevels - 1 - i].graph;
        i -= f->nlevels;
    }
    return !s->frame && i == 0 ? s->node->graph : NULL;
}

const char *step_place(Step *s, Error *err) {
    if (s->place) return s->place;
    Engine *e = s->run->engine;
    if (!e->options.store || !s->frame) {
        error_set(err, ERR_USAGE, "Work outside the process needs a store.");
        return NULL;
    }
    const char *folder = engine_folder(e, err);
    Json key = work_part(s->frame->wait, WORK_KEY);
    if (!folder || json_kind(key) != JSON_STRING) return NULL;
    Buf place = BUF_INIT;
    buf_printf(&place, "%s/%lld-%.*s", folder, (long long)s->run->row.run,
               (int)json_string_len(key), json_string_data(&key));
    return s->place = buf_detach(&place);
}

const char *step_store_folder(Step *s) {
    Engine *e = s->run->engine;
    return e->options.store ? engine_folder(e, NULL) : NULL;
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

bool step_log_is_behind(const Step *s) {
    return s->run->engine->log.bytes.len > LOG_BEHIND;
}

bool step_is_interactive(const Step *s) {
    return json_string_is(s->run->mode, "interactive");
}

/* ---- asking ---- */

Json step_memo(const Step *s) {
    Json memo = s->frame ? work_part(s->frame->wait, WORK_MEMO) : json_none();
    return s->work->prepare ? memo : json_none();
}

Json step_answers(const Step *s) {
    return s->frame ? work_part(s->frame->wait, WORK_ANSWERS) : json_none();
}

/* Nobody waits for it any more: as if it had failed. */
static bool asks_in_vain(Step *s) {
    if (begins_later(s)) return true;
    if (s->frame) return false;
    s->finished = true;
    orphan_ended(s, false);
    return true;
}

void step_ask(Step *s, const char *reason, Json prompt, Json options) {
    if (asks_in_vain(s)) {
        json_unref(prompt);
        json_unref(options);
        return;
    }
    Frame *f = s->frame;
    Run *run = f->run;
    prompt = run_masked(run, prompt, 0);
    step_over(s);
    frame_top(f)->deadline = 0;
    frame_interrupt(
        f, reason, prompt, json_is_none(options) ? json_array() : options,
        ARRAY(json_ref(work_part(f->wait, WORK_KEY)), memo_of(f->wait), answers_of(f->wait)));
    run_settle_if_done(run);
    run_kick(run);
}

void step_answer(Step *s, Json answer) {
    if (asks_in_vain(s)) {
        json_unref(answer);
        return;
    }
    Frame *f = s->frame;
    const Node *node = s->node;
    Run *run = f->run;
    answer = run_masked(run, answer, 0);
    step_over(s);
    frame_set_wait(f, work_answered(f->wait, answer));
    frame_record(f, node, "answered", json_none());
    run_kick(run);
}

/* A run that is not in memory may come back. */
bool step_place_wanted(Step *s, const char *place) {
    Engine *e = s->run->engine;
    const char *folder = engine_folder(e, NULL);
    for (const Run *run = folder ? e->runs[RUNS_ALL].first : NULL; run;
         run = run->links[RUNS_ALL].next) {
        char prefix[32];
        int len = snprintf(prefix, sizeof prefix, "/%lld-", (long long)run->row.run);
        const char *rest = place + strlen(folder); /* step_place() made it */
        if (!run->settled && strncmp(rest, prefix, (size_t)len) == 0) {
            return frame_with_key(run, rest + len);
        }
    }
    return true;
}

/* ---- tasks ---- */

void step_set_var(Step *s, Json name, Json value) {
    if (!s->frame || !s->node->task || json_string_is(name, "tasks")) {
        json_unref(name);
        json_unref(value);
        return;
    }
    name = run_masked(s->run, name, 0);
    value = run_masked(s->run, value, 0);
    s->frame->set = json_object_set(json_take(&s->frame->set), json_ref(name), json_ref(value));
    scope_set(s->frame, s->frame->nlevels - 1, name, value);
}

void step_set_output(Step *s, Json name, Json value) {
    Json output = run_masked(s->run, json_object_set(json_object(), name, value), 0);
    if (s->frame && task_has_id(s->node)) {
        task_note_outputs(s->frame, s->frame->nlevels - 1, output);
    }
    json_unref(output);
}

void step_set_progress(Step *s, double percent, const char *message) {
    if (!s->frame || !task_has_id(s->node)) return;
    uint32_t level = s->frame->nlevels - 1;
    Json text = run_masked(s->run, json_string_c(message), 0);
    task_note(s->frame, level, "progress", json_number(percent));
    task_note(s->frame, level, "progressMessage", text);
}

void step_log_progress(Step *s, double percent, const char *message) {
    Buf line = BUF_INIT;
    step_set_progress(s, percent, message);
    buf_printf(&line, "%.0f%%%s%s\n", percent, *message ? ": " : "", message);
    s->tells_progress = true;
    s->percent = percent;
    step_log(s, log_stream_names[LOG_NOTES], line.data, line.len);
    s->tells_progress = false;
    buf_clear(&line);
}

void step_set_result(Step *s, TaskResult result) {
    if (s->frame && s->node->task) task_result_so_far(s->frame, result);
}

char *run_folder_path(const Run *run, const char *folder) {
    Buf path = BUF_INIT;
    buf_printf(&path, "%s/run-%lld", folder, (long long)run->row.run);
    return buf_detach(&path);
}

const char *step_run_folder(Step *s, Error *err) {
    Engine *e = s->run->engine;
    const char *folder = e->options.store ? engine_folder(e, err) : NULL;
    if (!folder) {
        error_set(err, ERR_USAGE, "Work outside the process needs a store.");
        return NULL;
    }
    if (!s->run->own_folder) s->run->own_folder = run_folder_path(s->run, folder);
    if (mkdir(s->run->own_folder, 0700) != 0 && errno != EEXIST) {
        error_set(err, ERR_IO, "The run's folder %s cannot be made: %s.", s->run->own_folder,
                  strerror(errno));
        return NULL;
    }
    return s->run->own_folder;
}

void step_errand(Step *s, Errand *errand) {
    errands_add(s->run->engine->errands, errand);
}

bool step_discard(Step *s, const char *path) {
    const char *beside = step_run_folder(s, NULL);
    return beside && errands_discard(s->run->engine->errands, path, beside);
}

const char *step_results_folder(Step *s, Error *err) {
    Engine *e = s->run->engine;
    const char *folder = e->options.store ? engine_folder(e, err) : NULL;
    if (folder && !s->run->results) s->run->results = store_results_folder(folder, s->run->row.run);
    return folder ? s->run->results : NULL;
}

void step_forgive(Step *s, Json result) {
    json_put(&s->instead, run_masked(s->run, result, 0));
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
