/* dap_running.c - going on: to the next stop, a step, back, elsewhere. */
#include "dap_inside.h"

#include "mem.h"

/* ---- on ---- */

static bool is_thread(DapCall *call, int64_t id) {
    if (dap_thread(call->dap, id)) return true;
    dap_fail_with(call, "There is no thread %lld.", (long long)id);
    return false;
}

static void on_gone_on(DapCall *call, Json answer) {
    dap_expect(call->dap, answer);
    json_unref(answer);
    dap_answer(call, json_none());
}

static void on_continued(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    bool all = !dap->non_stop && !dap_bool(call->args, "singleThread");
    dap_expect(dap, answer);
    json_unref(answer);
    dap_answer(call, OBJECT(KEY("allThreadsContinued", json_bool(all))));
}

void dap_continue(DapCall *call) {
    Dap *dap = call->dap;
    int64_t id = dap_int(call->args, "threadId", 0);
    bool one = dap->non_stop || dap_bool(call->args, "singleThread");
    if (dap->post_mortem) { /* there is nothing to go on with: that was all there is to see */
        dap_answer(call, OBJECT(KEY("allThreadsContinued", json_bool(true))));
        dap_end(dap, dap->failed);
        return;
    }
    if (one && !is_thread(call, id)) return;
    dap_ask(call, "continue", OBJECT(KEY("frame", one ? json_int(id) : json_string_c("all"))),
            on_continued);
}

/* A branch that the client chose: of what stops, that is told. */
static void take_target(DapCall *call) {
    Dap *dap = call->dap;
    int64_t target = dap_int(call->args, "targetId", 0);
    json_clear(&dap->wanted_node);
    if (target > 0 && target <= (int64_t)json_array_len(dap->targets)) {
        dap->wanted_node = json_ref(json_array_get(dap->targets, (size_t)target - 1));
    }
}

static void step(DapCall *call, const char *kind) {
    int64_t id = dap_int(call->args, "threadId", 0);
    if (!is_thread(call, id)) return;
    call->dap->focus = id;
    take_target(call);
    dap_ask(call, "step", OBJECT(KEY("kind", kind), KEY("frame", id)), on_gone_on);
}

void dap_next(DapCall *call) {
    step(call, "over");
}

void dap_step_in(DapCall *call) {
    step(call, "into");
}

void dap_step_out(DapCall *call) {
    step(call, "out");
}

/* ---- pausing ---- */

static void on_pausing(DapCall *call, Json answer) {
    json_unref(answer);
    dap_answer(call, json_none());
}

void dap_pause(DapCall *call) {
    Dap *dap = call->dap;
    int64_t id = dap_int(call->args, "threadId", 0);
    bool one = dap->non_stop && id;
    if (one && !is_thread(call, id)) return;
    dap_ask(call, "pause", OBJECT(KEY("frame", one ? json_int(id) : json_string_c("all"))),
            on_pausing);
}

/* ---- back ---- */

static void on_back(DapCall *call, Json answer) {
    dap_moved(call, answer, "step");
    json_unref(answer);
}

/* How it stopped there the session says. */
static void on_reversed(DapCall *call, Json answer) {
    dap_moved(call, answer, NULL);
    json_unref(answer);
}

/* A run that has ended stands at no frame: the session's own is meant. */
static Json frame_args(const Dap *dap, int64_t thread) {
    bool there = dap_thread((Dap *)dap, thread) != NULL;
    return OBJECT(KEY("frame", there ? json_int(thread) : json_none()));
}

static bool may_go_back(DapCall *call, int64_t thread) {
    return call->dap->post_mortem || is_thread(call, thread);
}

void dap_step_back(DapCall *call) {
    int64_t id = dap_int(call->args, "threadId", 0);
    if (may_go_back(call, id)) dap_ask(call, "back", frame_args(call->dap, id), on_back);
}

void dap_reverse_continue(DapCall *call) {
    int64_t id = dap_int(call->args, "threadId", 0);
    if (may_go_back(call, id)) {
        dap_ask(call, "reverse_continue", frame_args(call->dap, id), on_reversed);
    }
}

static void on_restarted(DapCall *call, Json answer) {
    dap_moved(call, answer, "restart");
    json_unref(answer);
}

/* The node of a level again, from where the run came to it. */
void dap_restart_frame(DapCall *call) {
    Dap *dap = call->dap;
    const Handle *found = handles_find(&dap->handles, dap_int(call->args, "frameId", 0));
    bool level = found && found->kind == HANDLE_LEVEL;
    if (!level) {
        dap_fail_with(call, "There is no such stack frame any more: its thread has gone on.");
    } else if (found->frame != found->thread) {
        dap_fail_with(call, "This level is of another thread, which is to be gone back in.");
    } else if (found->top && found->from) {
        int64_t thread = found->thread;
        dap_answer(call, json_none());
        dap_tell_again(dap, thread, "restart");
    } else {
        Json depth = found->top ? json_none() : json_int(found->depth);
        dap_ask(call, "back", OBJECT(KEY("frame", found->frame), KEY("depth", depth)),
                on_restarted);
    }
}

/* ---- elsewhere ---- */

/* As in a stack: "run_shell (run_shell): first". Given. */
static Json target_label(const SourceNode *node) {
    const char *name = json_string_data(&node->name), *kind = json_string_data(&node->kind);
    if (json_kind(node->title) != JSON_STRING) return json_string_fmt("%s (%s)", name, kind);
    return json_string_fmt("%s (%s): %s", name, kind, json_string_data(&node->title));
}

/* Nodes that begin at the line; else the last one that begins before it. */
void dap_goto_targets(DapCall *call) {
    Dap *dap = call->dap;
    Error err = ERROR_INIT;
    Json source = json_object_get_c(call->args, "source"), list = json_array();
    const char *file = sources_find(dap->sources, source, dap->client.uris, &err);
    int64_t line = dap_int(call->args, "line", 1) + dap->client.lines_at_0, best = 0;
    size_t number = file ? sources_number(dap->sources, file) : 0;
    if (!file) {
        json_unref(list);
        dap_fail(call, &err);
        return;
    }
    for (size_t i = 0; i < sources_count(dap->sources); i++) {
        const SourceNode *node = sources_node(dap->sources, i);
        if (node->file == number && node->line <= line && node->line > best) best = node->line;
    }
    for (size_t i = 0; i < sources_count(dap->sources); i++) {
        const SourceNode *node = sources_node(dap->sources, i);
        if (node->file != number || node->line != best) continue;
        int64_t column = sources_units(dap->sources, file, node->line, node->column);
        list = json_array_push(
            list, OBJECT(KEY("id", json_int((int64_t)i + 1)), KEY("label", target_label(node)),
                         KEY("line", json_int(node->line - dap->client.lines_at_0)),
                         KEY("column", json_int(column - dap->client.columns_at_0))));
    }
    dap_answer(call, OBJECT(KEY("targets", list)));
}

static void on_went(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    json_unref(answer);
    dap_goes(dap, dap->non_stop ? dap_int(call->args, "threadId", 0) : HANDLES_ALL);
    dap->stop_reason = "goto";
    dap_answer(call, json_none());
}

void dap_goto(DapCall *call) {
    Dap *dap = call->dap;
    int64_t id = dap_int(call->args, "threadId", 0), target = dap_int(call->args, "targetId", 0);
    if (!is_thread(call, id)) return;
    if (target < 1 || target > (int64_t)sources_count(dap->sources)) {
        dap_fail_with(call, "There is no target %lld: `gotoTargets` lists them.",
                      (long long)target);
        return;
    }
    Json node = json_ref(sources_node(dap->sources, (size_t)target - 1)->name);
    dap_ask(call, "goto", OBJECT(KEY("node", node), KEY("frame", id)), on_went);
}

/* ---- into one of several ---- */

/* What is inside the node, and the branches that begin behind it. */
static void on_node(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    Json inside = json_object_get_c(answer, "inside"), edges = json_object_get_c(answer, "edges");
    Json list = json_array(), names = json_array();
    for (size_t i = 0; json_kind(inside) == JSON_ARRAY && i < json_array_len(inside); i++) {
        names = json_array_push(names, json_ref(json_array_get(inside, i)));
    }
    for (size_t i = 0; i < json_array_len(edges); i++) {
        Json edge = json_array_get(edges, i);
        if (!dap_bool(edge, "parallel")) continue;
        names = json_array_push(names, json_ref(json_object_get_c(edge, "to")));
    }
    for (size_t i = 0; i < json_array_len(names); i++) {
        Json name = json_array_get(names, i);
        const SourceNode *node = sources_named(dap->sources, name);
        list = json_array_push(
            list, OBJECT(KEY("id", json_int((int64_t)i + 1)), KEY("label", json_ref(name)),
                         KEY("line",
                             node ? json_int(node->line - dap->client.lines_at_0) : json_none())));
    }
    json_put(&dap->targets, names);
    json_unref(answer);
    dap_answer(call, OBJECT(KEY("targets", list)));
}

void dap_step_in_targets(DapCall *call) {
    const Handle *found = handles_find(&call->dap->handles, dap_int(call->args, "frameId", 0));
    if (!found || found->kind != HANDLE_LEVEL) {
        dap_fail_with(call, "There is no such stack frame any more: its thread has gone on.");
    } else if (!found->top) {
        dap_answer(call, OBJECT(KEY("targets", json_array())));
    } else {
        dap_ask(call, "node", OBJECT(KEY("frame", found->frame)), on_node);
    }
}

/* ---- ending branches ---- */

static void end_next(DapCall *call);

static void on_ended(DapCall *call, Json answer) {
    json_unref(answer);
    call->at++;
    end_next(call);
}

/* The frame that made it stops where it goes on, if the client thinks that all stand still. */
static void on_held(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    json_unref(answer);
    dap_ask(call, "end",
            OBJECT(KEY("frame", call->number),
                   KEY("stops", dap->stopped ? json_bool(true) : json_none())),
            on_ended);
}

static void on_run_ended(DapCall *call, Json answer) {
    json_unref(answer);
    dap_answer(call, json_none());
}

/* Only what stands still can be ended: it is stopped first. */
static void end_next(DapCall *call) {
    Dap *dap = call->dap;
    Json ids = json_object_get_c(call->args, "threadIds");
    if (call->at >= json_array_len(ids)) {
        dap_answer(call, json_none());
        return;
    }
    call->number = (int64_t)json_to_double(json_array_get(ids, call->at));
    DapThread *thread = dap_thread(dap, call->number);
    if (!thread) {
        dap_fail_with(call, "There is no thread %lld.", (long long)call->number);
    } else if (thread->id == 1) { /* the run itself */
        dap_ask(call, "abort", json_none(), on_run_ended);
    } else {
        thread->ours = true;
        dap_ask(call, "pause", OBJECT(KEY("frame", call->number)), on_held);
    }
}

void dap_terminate_threads(DapCall *call) {
    call->at = 0;
    end_next(call);
}
