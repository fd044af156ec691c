/* resume.c - starting, answering, going on. */
#include "advance.h"
#include "change.h"
#include "control.h"
#include "event.h"
#include "fail.h"
#include "image_read.h"
#include "json_print.h"
#include "load.h"
#include "mem.h"
#include "park.h"
#include "record.h"
#include "reduce.h"
#include "run_secrets.h"
#include "schedule.h"
#include "tasks.h"
#include "work.h"

void run_tell_start(Run *run, bool resumed) {
    if (resumed) run_trace_resume(run);
    Json data = OBJECT(KEY("workflow", run->flow->name), KEY("resumed", resumed),
                       KEY("trace", run_trace_told(run)));
    run->engine->begun++;
    engine_tell(run, NULL, (Event){.type = EVENT_START, .data = data});
}

/* ---- starting ---- */

static bool may_start(const Engine *e, const RunStart *start, Error *err) {
    if (!json_is_none(start->input) && !is_input(start->input, err)) {
        err->code = ERR_USAGE;
        return false;
    }
    return engine_may_begin(e, err) && run_trace_valid(start, err) &&
           value_fits(e, start->input, "The input", err) &&
           (!start->thread || !e->storage || store_check_new_thread(start->thread, err));
}

/* The batch that makes it is committed, and with it what it has done so far. */
static void on_made(Request *q) {
    if (q->job.err.code != ERR_NONE) {
        run_free(q->run);
        request_fail(q);
        return;
    }
    if (q->run->asleep) {
        q->run->asleep = false;
        run_kick(q->run);
    }
    request_tell(q, q->run, NULL);
}

/* The definition is kept once: who starts many runs of one workflow names it by its key. */
void request_make(Request *q, Run *run, const char *workflow, const char *key) {
    Engine *e = q->engine;
    bool known = key || e->defined == run->flow;
    Json definition = known ? json_none() : flow_definition(run->flow);
    StoreCreate c = {.thread = q->new_thread,
                     .workflow = workflow,
                     .definition = definition,
                     .key = key ? key : e->defined_key,
                     .at = engine_time(e)};
    request_create(q, &c, on_made);
    json_unref(definition);
    q->run = run;
    run->row.run = c.stand_in;
}

static void begin(Run *run, const RunStart *start) {
    const Graph *main = run->flow->main;
    run->fresh = true;
    const char *folder = start->folder ? start->folder : run->engine->options.folder;
    if (folder) {
        run->folder = json_string_c(folder);
        run->folder_path = mem_strdup(folder);
    }
    const char *mode = start->mode ? start->mode : main->mode;
    if (mode) json_put(&run->mode, json_string_c(mode));
    if (main->timeout_ms) run->deadline = engine_time(run->engine) + main->timeout_ms;
    run_set_deadline(run);
    run_trace_begin(run, start);
    if (start->by) run->starter = json_string_c(start->by);
    run_set_by(run, start->by);
    run_tell_start(run, false);
    Frame *f = frame_new(run, NULL, 0);
    level_push(f, main, graph_initial_state(main, start->input), false);
    if (main->scoped) {
        test_begin(f);
    } else if (frame_go_on(f)) {
        frame_record(f, NULL, "started", json_ref(frame_top(f)->state));
    }
    run_leave_by(run);
    run_settle_if_done(run);
    run_kick(run);
}

Request *engine_start(Engine *e, Flow *flow, const RunStart *start, RunReady ready, void *ctx) {
    Request *q = request_for(request_new(e, NULL, 0), ready, NULL, ctx);
    const char *thread = start->thread ? start->thread : e->storage ? NULL : "run-1";
    if (flow->main->outside) {
        error_set(&q->job.err, ERR_USAGE,
                  "`%s` is a kind: it runs inside a workflow that uses it by its name.",
                  flow->main->outside->name);
    }
    if (q->job.err.code != ERR_NONE || !may_start(e, start, &q->job.err)) {
        request_later(q, request_fail);
        return q;
    }
    Run *run = run_new(e, flow);
    run->row = (RunRow){.run = 1, .thread = mem_strdup(thread ? thread : "")};
    if (e->storage) {
        q->new_thread = mem_strdup(thread);
        run->asleep = start->held;
        request_make(q, run, flow->name, NULL);
    }
    begin(run, start);
    if (!e->storage) request_tell(q, run, NULL);
    return q;
}

Run *engine_start_now(Engine *e, Flow *flow, const RunStart *how, Error *err) {
    Now now = {.err = err};
    return request_now(engine_start(e, flow, how, now_ready, &now), &now);
}

/* ---- answers ---- */

static bool is_open(const Frame *f) {
    return f->waits == WAIT_INTERRUPT;
}

static bool asks(const Frame *f) {
    return is_open(f) && (frame_asks_for_work(f) ||
                          json_string_is(json_array_get(f->wait, WAIT_REASON), "approval"));
}

/* The time to answer is up. */
static bool is_late(const Frame *f) {
    int64_t deadline = frame_top(f)->deadline;
    return asks(f) && deadline && deadline <= engine_time(f->run->engine);
}

static void list_open(const Run *run, Buf *out) {
    for (const Frame *f = run->first_frame; f; f = f->next) {
        Json id = is_open(f) ? json_array_get(f->wait, WAIT_ID) : json_none();
        if (!json_is_none(id)) {
            buf_printf(out, "%s%s (`%s`)", out->len ? ", " : "", json_string_data(&id),
                       frame_top(f)->node->name);
        }
    }
}

static bool no_such_interrupt(const Run *run, const char *id, Error *err) {
    Buf open = BUF_INIT;
    list_open(run, &open);
    if (open.len) {
        error_set(err, ERR_NOT_FOUND, "No interrupt `%s` is open; these are: %s.", id, open.data);
    } else {
        error_set(err, ERR_USAGE,
                  "No interrupt is open in this run, so there is nothing to answer.");
    }
    buf_clear(&open);
    return false;
}

static bool which_interrupt(const Run *run, Error *err) {
    Buf open = BUF_INIT;
    list_open(run, &open);
    error_set(err, ERR_ANSWER, "Several interrupts are open, and it is not said which one: %s.",
              open.data);
    error_fact(err, "thread", run->row.thread);
    error_fact(err, "interrupts", open.data);
    buf_clear(&open);
    return false;
}

/* The options of an approval with something between them; nothing when it has none. */
static void add_options(Buf *out, const Frame *f, const char *between) {
    Json options = json_array_get(f->wait, WAIT_OPTIONS);
    for (size_t i = 0; i < json_array_len(options); i++) {
        Json word = json_array_get(options, i);
        buf_printf(out, "%s%s", i ? between : "", json_string_data(&word));
    }
}

static bool answer_needed(const Frame *f, Error *err) {
    Json id = json_array_get(f->wait, WAIT_ID), prompt = json_array_get(f->wait, WAIT_PROMPT);
    bool prompts = json_kind(prompt) == JSON_STRING;
    char text[JSON_DESCRIBE_MAX];
    Buf options = BUF_INIT;
    add_options(&options, f, "|");
    error_set(err, ERR_ANSWER, "Interrupt %s at `%s` waits for an answer%s%s%s.",
              json_string_data(&id), frame_top(f)->node->name, prompts ? " (" : "",
              prompts ? json_excerpt(prompt, text) : "", prompts ? ")" : "");
    error_fact(err, "thread", f->run->row.thread);
    error_fact(err, "interrupt", json_string_data(&id));
    error_fact(err, "options", options.len ? options.data : NULL);
    buf_clear(&options);
    return false;
}

static Frame *failed_frame(Run *run) {
    for (Frame *f = run->first_frame; f; f = f->next) {
        if (f->waits == WAIT_FAILED) return f;
    }
    return NULL;
}

/* What a failed node was told, as the wait that had it; JSON_NONE: nothing. */
static Json told(const Frame *failed) {
    Json before = failed ? json_array_get(failed->wait, WAIT_FAILED_BEFORE) : json_none();
    Json answers = work_part(before, WORK_ANSWERS);
    return json_array_len(answers) ? before : json_none();
}

/* The frame that the answer is for: *found is NULL when nothing was answered. */
static bool find_answered(Run *run, const RunResume *r, Frame **found, Error *err) {
    bool answered = !json_is_none(r->value) || r->decision;
    size_t open = 0;
    *found = NULL;
    for (Frame *f = run->first_frame; f; f = f->next) {
        if (!is_open(f)) continue;
        open++;
        if (!r->interrupt || json_string_is(json_array_get(f->wait, WAIT_ID), r->interrupt)) {
            *found = f;
        }
    }
    if (r->interrupt) return *found || no_such_interrupt(run, r->interrupt, err);
    if (!answered) {
        *found = open == 1 && !asks(*found) ? *found : NULL;
        return true;
    }
    Frame *failed = open ? NULL : failed_frame(run);
    Json before = told(failed);
    if (!json_is_none(r->value) && !json_is_none(before)) { /* it failed on its last answer */
        Json answers = json_ref(work_part(before, WORK_ANSWERS));
        answers = json_array_set(answers, json_array_len(answers) - 1, json_ref(r->value));
        before = wait_with_answers(json_ref(before), answers);
        failed->wait = json_array_set(failed->wait, WAIT_FAILED_BEFORE, before);
        frame_mark(failed);
        return true;
    }
    return open == 1 || (open ? which_interrupt(run, err) : no_such_interrupt(run, "", err));
}

static bool decision_offered(const Frame *f, const char *decision, Error *err) {
    Json options = json_array_get(f->wait, WAIT_OPTIONS);
    size_t n = json_array_len(options);
    Buf words = BUF_INIT;
    bool found = !n;
    for (size_t i = 0; i < n && !found; i++) {
        found = json_string_is(json_array_get(options, i), decision);
    }
    if (!found) {
        add_options(&words, f, ", ");
        error_set(err, ERR_USAGE, "`%s` is not one of the options of `%s`: %s.", decision,
                  frame_top(f)->node->name, words.data);
    }
    buf_clear(&words);
    return found;
}

/* {decision, value?, at}. An object with a decision in it is taken as it is; a string that is one of
 * the options is the decision. */
static Json approval_result(const Frame *f, const RunResume *r, Error *err) {
    Json value = r->value, decision = json_null();
    bool whole = !r->decision && json_kind(json_object_get_c(value, "decision")) == JSON_STRING;
    Json out = whole ? json_ref(value) : json_object();
    if (whole) {
        decision = json_ref(json_object_get_c(value, "decision"));
    } else if (r->decision) {
        decision = json_string_c(r->decision);
    } else if (json_kind(value) == JSON_STRING) {
        decision = json_ref(value);
    }
    if (json_kind(decision) == JSON_STRING &&
        !decision_offered(f, json_string_data(&decision), err)) {
        json_unref(out);
        json_unref(decision);
        return json_none();
    }
    bool apart = !whole && (r->decision || json_kind(value) != JSON_STRING);
    return OBJECT_ADD(out, KEY("decision", decision),
                      KEY("value", apart ? json_ref(value) : json_none()),
                      KEY("at", engine_time(f->run->engine)));
}

/* Past an interrupt that only stopped: an object is merged into the state as a result would be. */
static bool pass(Frame *f, const RunResume *r, Error *err) {
    Level *l = frame_top(f);
    if (json_is_none(r->value)) return true;
    if (json_kind(r->value) != JSON_OBJECT) {
        return error_set(err, ERR_USAGE,
                         "`%s` asked nothing, it only stopped: give no answer, or an object to "
                         "merge into the state.",
                         l->node->name);
    }
    frame_mark(f);
    LevelKept kept = level_keep(l);
    bool ok = reduce_update(l->graph, f->run->evaluator, r->value, json_null(), &l->state,
                            &l->writes, err) &&
              level_fits(f->run, l, kept, err);
    return level_settle(l, kept, ok);
}

static void let_go(Frame *f) {
    const Node *node = frame_top(f)->node;
    if (json_string_is(json_array_get(f->wait, WAIT_REASON), "after")) {
        frame_go_on_after(f);
        return;
    }
    frame_arrive(f, true);
    frame_record(f, node, "resumed", json_none());
}

/* ---- going on ---- */

bool run_was_answered(const Run *run) {
    return !json_is_none(told(failed_frame((Run *)run)));
}

/* After a failure: the node begins again, with all its attempts, and a loop that has used up its rounds with all of
 * those. */
static void try_again(Frame *f) {
    Json error = json_array_get(f->wait, WAIT_FAILED_ERROR);
    bool after = json_truthy(json_array_get(f->wait, WAIT_FAILED_AFTER));
    Json before = json_array_get(f->wait, WAIT_FAILED_BEFORE);
    int64_t deadline = frame_top(f)->deadline;
    level_begin_again(frame_top(f), error);
    frame_top(f)->deadline = deadline;
    if (!json_is_none(work_part(before, WORK_KEY))) { /* with what it was told so far */
        frame_set_wait(f, work_again(f, before));
    } else if (json_kind(before) == JSON_ARRAY) {
        frame_set_wait(f, json_ref(before));
    } else if (after) {
        frame_set_wait(f, wait_of(WAIT_AFTER));
    } else {
        frame_arrive(f, true);
    }
}

static bool can_go_on(Run *run, Error *err) {
    RunStatus status = run->status;
    bool done = run->first_frame->waits == WAIT_DONE || status == RUN_COMPLETED;
    bool over = status == RUN_FAILED && test_is_over(run);
    if (!over && !done && (status != RUN_CANCELLED || run_is_forked(run))) return true;
    error_set(err, ERR_ENDED, "Thread `%s` %s: there is nothing to resume.", run->row.thread,
              over   ? "has failed, and its cleanup tasks have run"
              : done ? "has completed"
                     : "was cancelled");
    error_fact(err, "thread", run->row.thread);
    return error_fact(err, "status", run_status(run));
}

static bool has_secrets_of(Run *run, const Node *node, Error *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < node->kind->nparams; i++) {
        const Param *param = &node->params[i];
        ok = run_has_secrets(run, param->expr, err);
        for (size_t k = 0; ok && k < param->nfields; k++) {
            ok = run_has_secrets(run, param->fields[k].expr, err);
        }
    }
    const Task *task = node->task;
    for (size_t i = 0; ok && task && i < task->nvars; i++) {
        ok = run_has_secrets(run, task->vars[i].query, err);
    }
    for (size_t i = 0; ok && task && i < task->nplaceholders; i++) {
        ok = run_has_secrets(run, task->placeholders[i].query, err);
    }
    return ok;
}

/* A command that is still running has its secrets already, and is not to be ended because somebody forgot to give
 * them again. */
static bool work_has_secrets(Run *run, Error *err) {
    for (const Frame *f = run->first_frame; f; f = f->next) {
        const Node *node = frame_top(f)->node;
        if (node && wait_is(wait_unpaused(f->wait), WAIT_WORK) && !has_secrets_of(run, node, err)) {
            error_wrap(err,
                       "Node `%s` was under way, and goes on only with what it was started with",
                       node->name);
            return false;
        }
    }
    return true;
}

/* Without an answer the run must have something else to do than to wait for one. */
static bool has_something_to_do(Run *run, const Frame *answered, const RunResume *r, Error *err) {
    const Frame *asking = NULL;
    size_t nasking = 0;
    bool answers = !json_is_none(r->value) || r->decision;
    if (answered && is_late(answered)) {
        return error_set(err, ERR_USAGE,
                         "The time to answer `%s` is up: without an answer the run goes on.",
                         frame_top(answered)->node->name);
    }
    if (answered && asks(answered) && !answers) return answer_needed(answered, err);
    if (answered) return true;
    for (const Frame *f = run->first_frame; f; f = f->next) {
        if (asks(f) && !is_late(f)) {
            asking = f;
            nasking++;
        } else if (wait_rows[f->waits].status != FRAME_HOLDING) {
            return true;
        }
    }
    return !asking || (nasking == 1 ? answer_needed(asking, err) : which_interrupt(run, err));
}

/* On a new line of history work gets new places: what the old line did is not taken over. */
void run_fork_line(Run *run) {
    for (Frame *f = run->first_frame; f; f = f->next) {
        if (json_kind(work_part(f->wait, WORK_KEY)) == JSON_STRING) {
            f->wait = wait_with_key(f->wait, frame_work_key(f));
            frame_mark(f);
        }
    }
}

static void reopen(Run *run) {
    Frame *failed = failed_frame(run);
    bool ended = run->status != RUN_RUNNING, forked = run_is_forked(run);
    run->status = RUN_RUNNING;
    json_clear(&run->error);
    if (failed) try_again(failed);
    if (forked) run_fork_line(run);
    if (ended) run_renew_clocks(run);
    if (ended || forked) {
        run_record(run, run->first_frame, failed ? frame_top(failed)->node : NULL,
                   forked ? "forked" : "resumed", json_none());
    }
}

static bool only_stopped(const Frame *f) {
    return is_open(f) && !asks(f);
}

/* Does something to each frame that is of a sort, whatever that does to the others. */
static void each_frame(Run *run, bool (*is)(const Frame *f), void (*act)(Frame *f)) {
    size_t n = 0;
    int64_t *ids = mem_alloc((run->nframes + 1) * sizeof *ids);
    for (Frame *f = run->first_frame; f; f = f->next) {
        if (is(f)) ids[n++] = f->id;
    }
    for (size_t i = 0; i < n && !run->halting; i++) {
        Frame *f = run_frame(run, ids[i]);
        if (f && is(f)) act(f);
    }
    mem_free(ids);
}

void run_schedule_all(Run *run) {
    each_frame(run, run_does, frame_schedule);
}

/* Without an answer it is for the state that people see and for every branch that is under way, and for
 * the node that failed. */
static bool set_values(Run *run, Frame *answered, Json set, Error *err) {
    if (answered) return level_set(answered, answered->nlevels - 1, set, err);
    for (Frame *f = run->first_frame; f; f = f->next) {
        uint32_t shown = frame_shown_level(f), top = f->nlevels - 1;
        if (!level_set(f, shown, set, err) ||
            (f->waits == WAIT_FAILED && top != shown && !level_set(f, top, set, err))) {
            return false;
        }
    }
    return true;
}

/* What the frame is to go on with: JSON_NONE when it only stopped. */
static bool answer_result(Frame *f, const RunResume *r, Json *result, Error *err) {
    if (!asks(f)) return pass(f, r, err);
    if (!frame_asks_for_work(f)) {
        *result = approval_result(f, r, err);
    } else if (!r->decision || decision_offered(f, r->decision, err)) { /* as it is */
        *result = json_is_none(r->value) ? json_string_c(r->decision) : json_ref(r->value);
    }
    return !json_is_none(*result);
}

/* Consumes result. */
static void answer(Frame *f, Json result) {
    if (json_is_none(result)) {
        let_go(f);
    } else if (frame_asks_for_work(f)) {
        const Node *node = frame_top(f)->node;
        frame_set_wait(f, work_answered(f->wait, result));
        frame_record(f, node, "answered", json_none());
    } else {
        frame_finish(f, result);
    }
}

static bool is_parked(const Frame *f) {
    return f->waits == WAIT_PAUSE;
}

static void unpark(Frame *f) {
    frame_let_go(f, &(LetGo){.how = LET_GO}, NULL);
}

/* What a person sets, and gives a node that asked nothing, is said with the record that it comes with:
 * the next one, if there is one before anything goes on. */
static void begin_by_hand(Run *run, const RunResume *r, const Frame *answered, Json result) {
    Json changes = json_is_none(r->set) ? json_array() : json_ref(r->set);
    if (answered && json_is_none(result) && json_kind(r->value) == JSON_OBJECT) {
        changes = json_array_push(changes, json_ref(r->value));
    }
    if (!json_array_len(changes)) json_clear(&changes);
    run->by_hand = changes;
}

static void go_on(Request *q) {
    const RunResume *r = &q->resume;
    Error *err = &q->job.err;
    Frame *answered = NULL;
    Json result = json_none();
    Run *run = request_build(q);
    if (!run || !can_go_on(run, err) || !run_has_functions(run, err) ||
        !work_has_secrets(run, err) || !find_answered(run, r, &answered, err) ||
        !has_something_to_do(run, answered, r, err) || !set_values(run, answered, r->set, err) ||
        (answered && !answer_result(answered, r, &result, err))) {
        run_free(run);
        request_fail(q);
        return;
    }
    run_set_debug(run, json_null());
    begin_by_hand(run, r, answered, result);
    reopen(run);
    if (run->dirty && json_array_len(r->set)) { /* before all else */
        run_record(run, run->first_frame, NULL, "updated", json_none());
    }
    run_enter(run, RUNS_UNSAVED);
    run_set_deadline(run);
    run_tell_start(run, true);
    run_schedule_all(run);
    if (answered) {
        answer(answered, result);
    } else {
        each_frame(run, is_late, frame_timer_fired);
        each_frame(run, only_stopped, let_go);
        each_frame(run, is_parked, unpark);
    }
    json_clear(&run->by_hand);
    run_leave_by(run);
    run_settle_if_done(run);
    run_kick(run);
    request_tell(q, run, NULL);
}

Request *engine_resume(Engine *e, const RunResume *r, RunReady ready, void *ctx) {
    Request *q = request_for(request_new(e, r->thread, r->seq), ready, NULL, ctx);
    q->reload = r->reload ? flow_ref(r->reload) : NULL;
    q->resume = *r;
    q->by = mem_strdup(r->by);
    q->resume.interrupt = mem_strdup(r->interrupt);
    q->resume.decision = mem_strdup(r->decision);
    json_ref(r->value);
    json_ref(r->set);
    request_load(q, go_on);
    return q;
}

Run *engine_resume_now(Engine *e, const RunResume *r, Error *err) {
    Now now = {.err = err};
    return request_now(engine_resume(e, r, now_ready, &now), &now);
}

bool run_answer(Run *run, const RunResume *r, Error *err) {
    Frame *answered;
    Json result = json_none();
    if (!find_answered(run, r, &answered, err)) return false;
    if (!answered) return no_such_interrupt(run, r->interrupt ? r->interrupt : "", err);
    if (asks(answered) && json_is_none(r->value) && !r->decision) {
        return answer_needed(answered, err);
    }
    /* Nothing is changed when either cannot be: the run goes on otherwise. */
    bool sets = json_array_len(r->set);
    Json seen = frame_top(answered)->state;
    Json tried = change_set(json_ref(seen), r->set, err);
    bool fits = json_is_none(seen) || !json_is_none(tried);
    json_unref(tried);
    if (!fits || !answer_result(answered, r, &result, err)) return false;
    run->rested = false;
    run_set_by(run, r->by);
    begin_by_hand(run, r, answered, result);
    if (sets) {
        set_values(run, answered, r->set, NULL);
        run_record(run, run->first_frame, NULL, "updated", json_none());
    }
    answer(answered, result);
    json_clear(&run->by_hand);
    run_leave_by(run);
    run_settle_if_done(run);
    run_kick(run);
    return true;
}
