/* park.c - frames that a debugger stops, and how they go on.
 *
 * A parked frame waits for ["pause", inner, info, at, position]. Inner is what it waits for once it is let
 * go, so letting go is taking the pause away; where the hooks stopped it, inner says that they have looked
 * (wait.h has the words).
 */
#include "park.h"

#include "advance.h"
#include "change.h"
#include "event.h"
#include "fail.h"
#include "image_read.h"
#include "inject.h"
#include "mem.h"
#include "problems.h"
#include "record.h"
#include "reduce.h"
#include "result.h"
#include "schedule.h"
#include "suggest.h"
#include "task_status.h"
#include "tasks.h"
#include "work.h"

const char *const hook_positions[HOOK_POSITIONS] = {
    [HOOK_BEFORE] = "before",
    [HOOK_AFTER] = "after",
    [HOOK_ON_ERROR] = "on_error",
    [HOOK_DURING] = "during",
};

/* ---- parking ---- */

void frame_park_as(Frame *f, HookPosition position, Json inner, Json info) {
    frame_unqueue(f);
    engine_drop_start(f->run->engine, f);
    f->since = engine_time(f->run->engine);
    frame_set_wait(f, WAIT_FOR(WAIT_PAUSE, inner, json_is_none(info) ? json_object() : info,
                               json_int(f->since), json_int(position)));
    frame_set_status(f, FRAME_PARKED);
    frame_set_timer(f);
}

/* The same with a record and an event. */
static void park_at(Frame *f, HookPosition position, Json inner, Json info) {
    Run *run = f->run;
    const Node *node = frame_top(f)->node;
    frame_park_as(f, position, inner, info);
    run_record(run, f, node, "paused", json_none());
    engine_tell(run, f,
                (Event){.type = EVENT_PAUSED,
                        .node = node ? node->name : "",
                        .status = hook_positions[position],
                        .data = json_ref(frame_pause(f))});
    run_kick(run);
}

static HookVerdict ask(Frame *f, const HookPlace *place, Json *info) {
    *info = json_none();
    const RunHooks *hooks = f->run->hooks;
    return hooks->at ? hooks->at(f->run->hooks_ctx, place, info) : HOOK_GO;
}

/* ---- results from elsewhere ---- */

/* In place of the node's work: what is known to come of it (HOOK_TAKE). */
static void take(Frame *f, Json taken) {
    Error err = ERROR_INIT;
    Json error = json_object_get_c(taken, "error"), result = json_object_get_c(taken, "result");
    Json update = json_object_get_c(taken, "update"), set = json_object_get_c(taken, "set");
    Json outputs = json_object_get_c(taken, "outputs"), tasks = json_object_get_c(taken, "tasks");
    const Node *node = frame_top(f)->node;
    frame_set_wait(f, json_null());
    f->since = engine_time(f->run->engine);
    frame_tell_node(f, node);
    bool skipped = json_string_is(json_object_get_c(taken, "status"), "skipped");
    f->taken = true;
    if (node->task && !skipped) task_note_begun(f, true);
    if (node->task && json_kind(tasks) == JSON_OBJECT) scope_set_tasks(f, f->nlevels - 1, tasks);
    if (json_kind(set) == JSON_ARRAY && !frame_change(f, set, &err)) {
        frame_fail_with(f, "recorded", &err);
    } else if (json_kind(error) == JSON_OBJECT) {
        frame_top(f)->attempt = node->retry.attempts; /* they are all behind it */
        if (node->task && json_kind(outputs) == JSON_OBJECT) {
            task_note_outputs(f, f->nlevels - 1, outputs);
        }
        frame_fail(f, json_ref(error), FAIL_NODE);
    } else if (skipped) {
        frame_skip(f, outputs);
    } else if (node->task) {
        task_finish(f, json_is_none(outputs) ? json_null() : json_ref(outputs));
    } else if (!json_is_none(result)) {
        frame_finish(f, json_ref(result));
    } else if (json_kind(update) == JSON_OBJECT && !frame_merge(f, update, &err)) {
        frame_fail_with(f, "recorded", &err);
    } else {
        frame_finished(f, json_kind(update) == JSON_OBJECT ? json_ref(update) : json_object());
    }
}

/* What somebody changed at this place another time (HOOK_CHANGE), on record with what comes next. Consumes
 * it. */
static bool change(Frame *f, Json changes, bool after, Error *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < json_array_len(changes); i++) {
        Json one = json_array_get(changes, i);
        if (json_kind(one) == JSON_OBJECT) {
            ok = frame_top(f)->graph->scoped || frame_merge(f, one, err);
        } else {
            Json list = ARRAY(json_ref(one));
            ok = frame_change(f, list, err);
            json_unref(list);
        }
    }
    json_put(&f->run->by_hand, changes);
    f->run->by_hand_after = after;
    return ok;
}

/* ---- going elsewhere ---- */

/* From the level that runs outwards: the first whose graph has it. */
static const Node *find_node(const Frame *f, const char *name, uint32_t *level) {
    Json key = json_string_c(name);
    const Node *node = NULL;
    for (uint32_t i = f->nlevels; i && !node; i--) {
        node = graph_node(f->levels[i - 1].graph, key);
        *level = i - 1;
    }
    json_unref(key);
    return node;
}

/* Turns of a loop share the state of the level that the loop is in: what they wrote stays. */
static void keep_turns(Frame *f, uint32_t level) {
    for (uint32_t i = f->nlevels - 1; i > level; i--) {
        Level *inner = &f->levels[i], *l = &f->levels[i - 1];
        if (!l->graph->scoped && (l->count || inner->injected)) {
            Json ignored = json_ref(inner->state);
            if (!json_is_none(l->writes)) {
                reduce_writes(l->graph, f->run->evaluator, inner->writes, &ignored, &l->writes,
                              NULL);
            }
            json_unref(ignored);
            json_put(&l->state, json_ref(inner->state));
        }
    }
}

/* The first node of what it was made for is not its own, and neither is the one where it ends. */
static bool is_elsewhere(const Frame *f, const Node *node, uint32_t level) {
    return !level && (f->is_element || (f->is_branch && node == f->join));
}

static void stand_before(Frame *f, const Node *node, uint32_t level) {
    keep_turns(f, level);
    frame_unwind(f, level);
    Level *l = frame_top(f);
    if (l->graph->scoped) json_clear(&l->writes);
    inject_drop_level(f);
    f->taken = false;
    l->node = node;
    level_begin_node(l);
}

/* Where somebody sent it another time (HOOK_GOTO). False: there is no such node. Consumes the name. */
static bool jump(Frame *f, Json name) {
    uint32_t level;
    const Node *node = find_node(f, json_string_data(&name), &level);
    bool can = node && !is_elsewhere(f, node, level);
    json_unref(name);
    if (can) {
        stand_before(f, node, level);
        frame_set_wait(f, json_null());
    }
    return can;
}

/* ---- the three places ---- */

/* The run of one node ends with it. */
static void end_only(Frame *f, const Node *node, const char *word, StepResult result) {
    Run *run = f->run;
    frame_set_wait(f, wait_of(WAIT_FINISHED));
    run_status_change(&run->status, RUN_COMPLETES);
    run_record_result(run, f, node, word, result);
    run_halt(run);
}

/* Once more, now that what the first verdict asked for is changed. */
static HookVerdict ask_changed(Frame *f, HookPlace *place, Json *info) {
    place->changed = true;
    HookVerdict verdict = ask(f, place, info);
    if (verdict == HOOK_CHANGE) json_clear(info);
    return verdict == HOOK_CHANGE ? HOOK_GO : verdict;
}

bool park_before(Frame *f) {
    bool looked = f->waits == WAIT_LOOKED;
    if (looked && inject_waits_before(f)) return false;
    HookPlace place = {.run = f->run,
                       .frame = f,
                       .node = frame_top(f)->node,
                       .position = HOOK_BEFORE,
                       .again = f->waits == WAIT_AGAIN,
                       .looked = looked};
    Json info;
    const RunOnly *only = &f->run->only;
    bool inside = f->id != only->frame || f->nlevels > only->depth;
    if (only->frame && (!run_does(f) || (!inside && f->run->step > only->step))) {
        /* past the one node: an error edge led here */
        end_only(f, NULL, "ended", (StepResult){.update = json_none()});
        return true;
    }
    HookVerdict verdict = inject_stands_in(f) ? HOOK_GO : ask(f, &place, &info);
    if (verdict == HOOK_CHANGE) {
        Error err = ERROR_INIT;
        if (!change(f, info, false, &err)) {
            frame_fail_with(f, "recorded", &err);
            return true;
        }
        verdict = ask_changed(f, &place, &info);
    }
    if (verdict == HOOK_PARK) {
        park_at(f, HOOK_BEFORE, wait_of(WAIT_LOOKED), info);
    } else if (verdict == HOOK_TAKE) {
        take(f, info);
        json_unref(info);
    } else if (verdict == HOOK_GOTO) {
        verdict = jump(f, info) ? verdict : HOOK_GO;
        if (verdict == HOOK_GOTO) frame_record(f, frame_top(f)->node, "moved", json_none());
    }
    return verdict != HOOK_GO;
}

bool park_after(Frame *f, const Node *node, const char *word, StepResult result) {
    HookPlace place = {.run = f->run, .frame = f, .node = node, .position = HOOK_AFTER};
    Json info;
    if (f->run->only.frame == f->id && f->run->only.depth == f->nlevels) {
        end_only(f, node, word, result);
        return true;
    }
    HookVerdict verdict = inject_stands_in(f) ? HOOK_GO : ask(f, &place, &info);
    if (verdict == HOOK_CHANGE) {
        Error err = ERROR_INIT;
        if (!change(f, info, true, &err)) { /* it is done all the same */
            frame_set_wait(f, wait_of(WAIT_AFTER));
            run_record_result(f->run, f, node, word, result);
            frame_fail(f, fail_error(f, node, "recorded", &err, json_none()), FAIL_AFTER);
            return true;
        }
        verdict = ask_changed(f, &place, &info);
    }
    LevelAt at = {f->id, f->nlevels - 1};
    if (verdict == HOOK_GOTO && jump(f, info)) { /* as if an edge led there */
        result.at = at;
        frame_record_result(f, node, word, result);
        return true;
    }
    if (verdict != HOOK_PARK) return false;
    bool element = f->is_element && f->nlevels == 1;
    frame_set_wait(f, element ? WAIT_FOR(WAIT_ENDED, json_ref(f->result)) : wait_of(WAIT_FINISHED));
    run_record_result(f->run, f, node, word, result);
    park_at(f, HOOK_AFTER, json_ref(f->wait), info);
    return true;
}

bool park_asks(Frame *f, uint32_t level, Json error, bool caught, Json *info) {
    HookPlace place = {.run = f->run,
                       .frame = f,
                       .node = f->levels[level].node,
                       .position = HOOK_ON_ERROR,
                       .caught = caught,
                       .error = error};
    return place.node && ask(f, &place, info) == HOOK_PARK;
}

void park_failing(Frame *f, const Failing *failing, Json info) {
    Json inner =
        WAIT_FOR(WAIT_FAILING, json_ref(failing->error), json_int(failing->at), json_ref(f->wait));
    if (!json_is_none(failing->given)) inner = json_array_push(inner, json_ref(failing->given));
    park_at(f, HOOK_ON_ERROR, inner, info);
}

bool park_on_error(Frame *f, Json error, int at, bool caught) {
    Json info;
    if (!park_asks(f, f->nlevels - 1, error, caught, &info)) return false;
    frame_drop_params(f);
    park_failing(f, &(Failing){error, at, json_none()}, info);
    return true;
}

/* ---- a run of one node ---- */

const RunHooks only_hooks = {0};

bool run_does(const Frame *f) {
    int64_t only = f->run->only.frame;
    while (only && f && f->id != only) f = f->parent;
    return f != NULL;
}

/* ---- stopping a frame where it is ---- */

ParkResult frame_park(Frame *f, Json info) {
    bool ends = f->run->halting || f->run->cancelling;
    FrameStatus status = ends ? FRAME_DONE : f->status;
    bool ready = status == FRAME_READY || status == FRAME_STARTING;
    if (status == FRAME_TIMED || (status == FRAME_WORKING && work_freeze(f, true)) ||
        (ready && !f->children)) { /* else it is about to end them, who know what it waits for */
        HookPosition position = ready ? wait_rows[f->waits].position : HOOK_DURING;
        if (f->step && (f->step->go_on || f->step->unstarted)) { /* a part of it is behind it */
            position = HOOK_DURING;
            work_freeze(f, true);
        } else if (frame_goes_on(f)) { /* what its edges see may change */
            work_cancel(f);
        }
        park_at(f, position, json_ref(f->wait), info);
        return PARKED_NOW;
    }
    json_unref(info);
    return ready || status == FRAME_WORKING ? PARKED_LATER
           : status == FRAME_PARKED         ? PARKED_NOW
                                            : PARKED_NEVER;
}

void frame_set_pause(Frame *f, Json info) {
    f->wait = json_array_set(f->wait, WAIT_PAUSE_INFO, info);
    frame_mark(f);
}

/* ---- letting go ---- */

/* Nothing of the pause is left but what it waited for. */
static Json unparked(Frame *f) {
    Json inner = json_ref(json_array_get(f->wait, WAIT_PAUSED));
    int64_t paused = engine_time(f->run->engine) - image_int(f->wait, WAIT_PAUSE_AT);
    if (wait_is_timed(inner)) {
        inner = json_array_set(inner, WAIT_UNTIL, json_int(image_int(inner, WAIT_UNTIL) + paused));
    }
    frame_set_status(f, FRAME_READY);
    f->run->rested = false;
    return inner;
}

static void tell_resumed(Frame *f, const char *word) {
    const Node *node = frame_top(f)->node;
    engine_tell(f->run, f,
                (Event){.type = EVENT_RESUMED,
                        .node = node ? node->name : "",
                        .data = OBJECT(KEY("how", word ? word : "continue"))});
}

static void go(Frame *f, const LetGo *let) {
    const Node *node = frame_top(f)->node;
    HookPosition position = frame_position(f);
    Json inner = unparked(f);
    if (let->anew && wait_is(inner, WAIT_LOOKED)) json_put(&inner, json_null());
    frame_set_wait(f, inner);
    if (frame_goes_on(f) || (f->step && f->step->unstarted)) {
        work_freeze(f, false);
    } else if (f->step) { /* frozen, and still here */
        frame_set_status(f, FRAME_STARTING);
        frame_set_status(f, FRAME_WORKING);
        run_record(f->run, f, node, "resumed", json_none());
        tell_resumed(f, let->word);
        if (!work_deliver(f)) {
            work_freeze(f, false);
            frame_set_timer(f);
        }
        return;
    }
    f->thaw = position == HOOK_DURING && f->waits == WAIT_WORK;
    frame_record(f, node, "resumed", json_none());
    tell_resumed(f, let->word);
}

static void skip(Frame *f, const LetGo *let) {
    const Node *node = frame_top(f)->node;
    bool begun = frame_position(f) != HOOK_BEFORE;
    json_unref(unparked(f));
    frame_unwind(f, f->nlevels - 1);
    tell_resumed(f, let->word);
    if (node->task && !begun) frame_tell_skipped(f, node);
    frame_skip(f, let->output);
}

/* The node begins again as a new attempt would, with what it made and was told. */
static void again(Frame *f, const LetGo *let) {
    const Node *node = frame_top(f)->node;
    Json inner = unparked(f), before = inner, error = json_none();
    FailAt at = FAIL_NODE;
    bool failed = wait_is(inner, WAIT_FAILING);
    if (failed) {
        before = json_array_get(inner, WAIT_FAILING_BEFORE);
        error = json_ref(json_array_get(inner, WAIT_FAILING_ERROR));
        at = (FailAt)image_int(inner, WAIT_FAILING_AT);
    }
    before = json_ref(before);
    json_unref(inner);
    work_cancel(f);
    frame_drop_params(f);
    f->taken = false;
    level_begin_again(frame_top(f), error);
    if (work_goes_outside(f, before) && !f->injections) {
        frame_set_wait(f, work_again(f, before));
    } else {
        frame_set_wait(f, at == FAIL_JOIN    ? json_ref(before)
                          : at == FAIL_AFTER ? wait_of(WAIT_AFTER)
                                             : wait_of(WAIT_LOOKED));
    }
    json_unref(before);
    frame_record_result(f, node, failed && !f->failure_kept ? "failed" : "retrying",
                        (StepResult){.error = error});
    f->failure_kept = false;
    tell_resumed(f, let->word);
}

/* As if an edge led from here to where the branches meet. */
static void end(Frame *f, const LetGo *let) {
    const Node *node = frame_top(f)->node;
    json_unref(unparked(f));
    tell_resumed(f, let->word);
    keep_turns(f, 0);
    frame_unwind(f, 0);
    if (f->is_element) json_put(&f->result, json_null());
    frame_land(f, NULL, false);
    run_record(f->run, f, node, "ended", json_none());
}

/* ---- another node ---- */

static bool go_to(Frame *f, const LetGo *let, Error *err) {
    uint32_t level;
    const Node *node = find_node(f, let->node, &level);
    if (!node) {
        Suggestion nearest = suggestion_for(let->node, strlen(let->node));
        for (uint32_t i = 0; i < f->nlevels; i++) {
            for (size_t k = 0; k < f->levels[i].graph->nnodes; k++) {
                suggestion_offer(&nearest, f->levels[i].graph->nodes[k].name);
            }
        }
        return error_set(err, ERR_NOT_FOUND, "There is no node `%s` where frame %lld is%s",
                         let->node, (long long)f->id, did_you_mean_this(nearest.best));
    }
    if (is_elsewhere(f, node, level)) {
        return error_set(err, ERR_USAGE, "`%s` is not of frame %lld, but of the one that made it.",
                         node->name, (long long)f->id);
    }
    json_unref(unparked(f));
    stand_before(f, node, level);
    park_at(f, HOOK_BEFORE, wait_of(WAIT_LOOKED), json_ref(let->info));
    return true;
}

/* ---- the door ---- */

/* Everything that speaks against it, before anything is changed. A result that could not be merged is
 * refused while there still is somebody to say it to. */
static bool can_let_go(const Frame *f, const LetGo *let, Error *err) {
    const Node *node = frame_top(f)->node;
    HookPosition position = frame_position(f);
    JsonKind kind = json_kind(let->output);
    if (let->how == LET_RETRY && position != HOOK_ON_ERROR && position != HOOK_DURING) {
        return error_set(err, ERR_USAGE,
                         "Frame %lld is paused %s its node, and nothing of it has failed: "
                         "`continue` runs it.",
                         (long long)f->id, hook_positions[position]);
    }
    if (let->how == LET_SKIP && (position == HOOK_AFTER || !node)) {
        return error_set(err, ERR_USAGE, "`%s` is done: there is nothing to skip. Step first.",
                         node ? node->name : "The last node");
    }
    if (let->how == LET_END && (!f->parent || f->is_task)) {
        return error_set(err, ERR_USAGE,
                         f->parent ? "Frame %lld is a task, which ends with what it holds: `skip` "
                                     "passes over that."
                                   : "Frame %lld is the run itself, and no branch of it.",
                         (long long)f->id);
    }
    bool fits = let->how != LET_SKIP || json_is_none(let->output) || kind == JSON_OBJECT ||
                kind == JSON_NULL || (f->is_element && f->nlevels == 1) ||
                (!node->task && !json_is_none(node->output));
    return fits ||
           error_set(err, ERR_USAGE,
                     "`%s` gives back an object, so what it is to give back is one.", node->name);
}

/* What a person changed meanwhile; on record with what comes of letting it go. */
static bool apply_pending(Frame *f, Error *err) {
    Json changes = frame_pending(f), state = change_set(frame_sees(f), changes, err);
    bool ok = !json_is_none(state) && frame_change(f, changes, err);
    json_unref(state);
    if (!ok || !json_array_len(changes)) {
        json_clear(&changes);
    } else {
        json_put(&f->run->by_hand, changes);
    }
    return ok;
}

/* A frame that needs no more of its branches was only kept from going on (park_all). */
static bool is_kept(const Frame *f) {
    return f && f->status == FRAME_HOLDING && f->waits == WAIT_TASKS && task_children_decided(f);
}

static void let_go(Frame *f, const LetGo *let) {
    static void (*const rows[])(Frame *, const LetGo *) = {
        [LET_GO] = go, [LET_SKIP] = skip, [LET_RETRY] = again, [LET_END] = end};
    Run *run = f->run;
    int64_t kept = is_kept(f->parent) ? f->parent->id : 0;
    rows[let->how](f, let);
    Frame *parent = kept ? run_frame(run, kept) : NULL;
    if (is_kept(parent)) frame_schedule(parent);
}

bool frame_let_go(Frame *f, const LetGo *let, Error *err) {
    Run *run = f->run;
    if (run->settled || run_settling(run) || run->halting) { /* its lease has gone, or goes */
        return error_set(err, ERR_USAGE, "The run is %s: nothing of it goes on here.",
                         run_status_names[run->status]);
    }
    if (f->status != FRAME_PARKED) {
        return error_set(err, ERR_USAGE, "Frame %lld is not paused.", (long long)f->id);
    }
    if (!can_let_go(f, let, err) || (let->how != LET_GOTO && !apply_pending(f, err))) return false;
    bool ok = let->how != LET_GOTO || go_to(f, let, err);
    if (let->how != LET_GOTO) let_go(f, let);
    json_clear(&run->by_hand);
    run_settle_if_done(run);
    run_kick(run);
    return ok;
}

/* What was to be changed before a frame goes on is, where that can be. */
void park_none(Run *run) {
    size_t n = 0;
    int64_t *ids = mem_alloc((run->nframes + 1) * sizeof *ids);
    run->cancelling = true;
    run_set_held(run, false);
    for (const Frame *f = run->first_frame; f; f = f->next) {
        if (f->status == FRAME_PARKED) ids[n++] = f->id;
    }
    for (size_t i = 0; i < n; i++) { /* one that goes on may end others */
        Frame *f = run_frame(run, ids[i]);
        if (!f || f->status != FRAME_PARKED) continue;
        Error err = ERROR_INIT;
        apply_pending(f, &err);
        let_go(f, &(LetGo){.how = LET_GO});
        json_clear(&run->by_hand);
    }
    mem_free(ids);
    run_settle_if_done(run);
    run_kick(run);
}
