/* inject.c - nodes that the workflow does not have.
 *
 * A node that a debugger adds is a workflow of its own, of one node and of the same dialect, loaded and
 * checked as any other. It runs on a level above the node it belongs to, on that level's state (in the
 * variables of that task), and when it ends the frame goes on with the node (before), as if the node were
 * done (instead), or with what comes after it (after). Its text is in the image for as long as it waits or
 * runs, so a process that takes over has it too. */
#include "inject.h"

#include "advance.h"
#include "control.h"
#include "fail.h"
#include "image_read.h"
#include "injected.h"
#include "reduce.h"
#include "result.h"
#include "schedule.h"
#include "task_status.h"
#include "tasks.h"

/* ---- asking for one ---- */

static bool can_inject(const Frame *f, const Injection *injection, Error *err) {
    bool before = injection->where != INJECT_AFTER, element = f->is_element && f->nlevels == 1;
    HookPosition at = frame_position(f);
    if (f->status != FRAME_PARKED || !frame_top(f)->node) {
        return error_set(err, ERR_USAGE, "Frame %lld is not paused at a node.", (long long)f->id);
    }
    if (before && at != HOOK_BEFORE && at != HOOK_ON_ERROR) {
        return error_set(err, ERR_USAGE,
                         "`%s` has run, or is running: a node can be put after it, not before it.",
                         frame_top(f)->node->name);
    }
    if (injection->where == INJECT_INSTEAD && element) {
        return error_set(err, ERR_USAGE,
                         "The body of a map cannot be given another config for one element.");
    }
    if (!before && element) {
        return error_set(err, ERR_USAGE,
                         "An element ends with the body of its map: put the node before `%s`, or "
                         "after the map.",
                         frame_top(f)->node->name);
    }
    return json_kind(injection->node) == JSON_OBJECT ||
           error_set(err, ERR_USAGE, "A node is an object, as it would stand in the file.");
}

static bool inject(Frame *f, const Injection *injection, Error *err) {
    bool named = json_kind(injection->name) == JSON_STRING;
    Json node = json_ref(injection->node), id = json_object_get_c(node, "id");
    bool task = !strcmp(f->run->flow->dialect, "tasks"); /* whose `name` is its kind */
    if (task && named && json_is_none(id)) {
        node = json_object_with(node, "id", json_ref(injection->name));
        id = json_object_get_c(node, "id");
    }
    Json own = task && json_kind(id) == JSON_STRING ? id : json_object_get_c(node, "name");
    Json name = named                           ? json_ref(injection->name)
                : json_kind(own) == JSON_STRING ? json_ref(own)
                                                : json_string_c("injected");
    Flow *flow = injected_parse(f, name, node, err);
    if (!flow) {
        json_unref(name);
        json_unref(node);
        return false;
    }
    injected_append(f, injected_new(f, (Injected){.id = injection->id,
                                                  .where = injection->where,
                                                  .level = f->nlevels - 1,
                                                  .name = name,
                                                  .node = node,
                                                  .flow = flow}));
    frame_mark(f);
    return true;
}

bool frame_inject(Frame *f, const Injection *injection, Error *err) {
    return can_inject(f, injection, err) && inject(f, injection, err);
}

bool inject_config(Frame *f, Json config, Error *err) {
    const Node *node = frame_top(f)->node;
    Json written = json_ref(node->source), key, value;
    bool element = f->is_element && f->nlevels == 1;
    if (element || json_kind(written) != JSON_OBJECT) {
        json_unref(written);
        return error_set(err, ERR_USAGE, "`%s` cannot be given another config: %s.", node->name,
                         element ? "it is the body of a map" : "it is not written as an object");
    }
    for (size_t pos = 0; json_object_next(config, &pos, &key, &value);) {
        written = json_kind(value) == JSON_NULL
                      ? json_object_remove(written, key)
                      : json_object_set(written, json_ref(key), json_ref(value));
    }
    Injection injection = {1, INJECT_INSTEAD, json_null(), written};
    bool ok = inject(f, &injection, err);
    json_unref(written);
    return ok;
}

bool frame_drop_injection(Frame *f, int64_t id) {
    for (Injected **at = &f->injections; *at; at = &(*at)->next) {
        if ((*at)->id == id) {
            Injected *gone = *at;
            *at = gone->next;
            injected_free(f->run, gone);
            frame_mark(f);
            return true;
        }
    }
    return false;
}

/* The node at the top was injected, and ends with its error: what was put beside it then runs at its place. */
void inject_hand_down(Frame *f) {
    uint32_t level = f->nlevels - 1;
    for (Injected *i = f->injections; i; i = i->next) {
        if (i->level != level || i->where == INJECT_INSTEAD) continue;
        i->level = level - 1;
        i->where = frame_top(f)->injected->where;
        frame_mark(f);
    }
}

void inject_drop_level(Frame *f) {
    if (injected_drop(f, f->nlevels - 1)) frame_mark(f);
}

/* ---- running one ---- */

/* The first that is for that side of the node at the level that the frame is at, taken out of those that
 * wait. */
static Injected *take_next(Frame *f, InjectWhere where) {
    for (Injected **at = &f->injections; *at; at = &(*at)->next) {
        Injected *injected = *at;
        if (injected->level == f->nlevels - 1 && injected->where == where) {
            *at = injected->next;
            injected->next = NULL;
            return injected;
        }
    }
    return NULL;
}

static void enter(Frame *f, Injected *injected) {
    const Graph *graph = injected->flow->main;
    bool scoped = graph->scoped;
    Level *l = level_push(f, graph, scoped ? json_none() : json_ref(frame_top(f)->state), !scoped);
    l->injected = injected;
    frame_set_wait(f, json_null());
    if (graph->nnodes) frame_land(f, &graph->nodes[0], false);
}

bool inject_before(Frame *f, bool asks) {
    Injected *injected = take_next(f, INJECT_BEFORE);
    injected = injected || asks ? injected : take_next(f, INJECT_INSTEAD);
    const Node *node = frame_top(f)->node;
    if (!injected) return false;
    enter(f, injected);
    frame_record(f, node, "injected", json_none());
    return true;
}

bool inject_after(Frame *f) {
    Injected *injected = take_next(f, INJECT_AFTER);
    if (injected) enter(f, injected);
    return injected != NULL;
}

/* The task that it stood for is over with it. */
static void end_task(Frame *f, TaskResult result, Json error, StepResult came) {
    level_set_memo(f, frame_top(f), verdict_new(result, error));
    task_over(f, result, came);
}

/* Where the frame is come to on record again: what the node does next is then its own, and whoever goes
 * back over the node stands before it. */
static void go_on(Frame *f, InjectWhere where) {
    frame_set_wait(f, wait_of(where == INJECT_BEFORE ? WAIT_AGAIN : WAIT_FINISHED));
    if (where == INJECT_BEFORE) {
        frame_record(f, frame_top(f)->node, "resumed", json_none());
    } else {
        frame_schedule(f);
    }
}

static void task_done(Frame *f, InjectWhere where, StepResult came) {
    TaskResult result = (TaskResult)verdict_result(frame_top(f));
    Json error = json_ref(verdict_error(frame_top(f)));
    list_leave(f);
    if (where == INJECT_INSTEAD) {
        end_task(f, result, error, came);
    } else {
        result_clear(&came);
        go_on(f, where);
    }
    json_unref(error);
}

void inject_take_back(Frame *f) {
    Level *l = frame_top(f);
    bool begun = json_kind(f->wait) != JSON_NULL || l->attempt || !l->node;
    if (!inject_stands_in(f) || begun) return;
    Injected *injected = l->injected;
    l->injected = NULL;
    level_pop(f);
    injected->next = f->injections;
    f->injections = injected;
    bool asked = frame_top(f)->node->interrupt_before;
    frame_set_wait(f, asked ? wait_of(WAIT_GO) : json_null());
}

void inject_done(Frame *f, StepResult came) {
    Injected *injected = frame_top(f)->injected;
    InjectWhere where = injected->where;
    Error err = ERROR_INIT;
    if (frame_top(f)->graph->scoped) {
        task_done(f, where, came); /* frees it */
        return;
    }
    Json wrote = reduce_written(frame_top(f)->graph, frame_top(f)->writes);
    bool ok = level_leave_shared(f, &err);
    result_clear(&came);
    injected_free(f->run, injected);
    frame_set_wait(f, json_null());
    if (ok && where == INJECT_INSTEAD) {
        frame_finished(f, wrote);
        return;
    }
    json_unref(wrote);
    if (!ok) {
        frame_fail_with(f, "reduce", &err);
    } else {
        go_on(f, where);
    }
}
