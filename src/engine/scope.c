#include "scope.h"

#include "frame.h"
#include "image_read.h"
#include "task_status.h"

#include <string.h>

/* A level of a frame. */
typedef struct ScopeAt {
    const Frame *frame;
    uint32_t level;
} ScopeAt;

static const Level *level_at(ScopeAt at) {
    return &at.frame->levels[at.level];
}

/* What a kind from outside does sees nothing of what is around it; what cleans up for a test has all that the test had
 * in sight. */
static bool go_down(ScopeAt *at) {
    if (level_at(*at)->graph->outside || (!at->level && at->frame->is_cleanup)) return false;
    if (at->level) {
        at->level--;
    } else if (at->frame->parent) {
        at->frame = at->frame->parent;
        at->level = at->frame->nlevels - 1;
    } else {
        return false;
    }
    return true;
}

/* The level whose variables these are. The lowest of all has its own. */
static ScopeAt owner_of(ScopeAt at) {
    while (json_is_none(level_at(at)->state) && go_down(&at)) {}
    return at;
}

Json scope_over(Json view, Json own, Json defaults) {
    Json name, value;
    for (size_t pos = 0; json_object_next(defaults, &pos, &name, &value);) {
        if (json_is_none(json_object_get(view, name))) {
            view = json_object_set(view, json_ref(name), json_ref(value));
        }
    }
    for (size_t pos = 0; json_object_next(own, &pos, &name, &value);) {
        Json all = json_string_is(name, "tasks") && json_kind(value) == JSON_OBJECT
                       ? json_object_get(view, name)
                       : json_none(); /* those of the scopes around are in sight, too */
        view =
            json_object_set(view, json_ref(name),
                            json_kind(all) == JSON_OBJECT ? json_object_merge(json_ref(all), value)
                                                          : json_ref(value));
    }
    return view;
}

enum { CHAIN_MAX = 64 };

/* From the outermost scope inwards, a stretch of the chain at a time: there is no bound on its length
 * but that of nesting in the file. */
static Json view_at(ScopeAt at) {
    ScopeAt chain[CHAIN_MAX];
    size_t n = 0;
    for (at = owner_of(at); n < CHAIN_MAX; at = owner_of(at)) {
        chain[n++] = at;
        if (!go_down(&at)) break;
    }
    Json view = n == CHAIN_MAX ? view_at(at) : json_ref(level_at(chain[--n])->state);
    while (n) {
        const Level *l = level_at(chain[--n]);
        view = scope_over(view, l->state, l->graph->defaults);
    }
    return view;
}

Json scope_view(const Frame *f, uint32_t level) {
    return view_at((ScopeAt){f, level});
}

/* ---- what is not set, but seen ---- */

static Json folder_of(const Graph *graph) {
    const char *slash = strrchr(graph->file, '/');
    if (!slash) return json_string_c(".");
    return json_string(graph->file, slash == graph->file ? 1 : (size_t)(slash - graph->file));
}

static Json with_missing(Json view, const char *name, Json value) {
    if (json_is_none(json_object_get_c(view, name))) return json_object_with(view, name, value);
    json_unref(value);
    return view;
}

/* The task that made a scope, and where it stands. NULL: it is that of a test, or of what cleans up. */
static const Node *container_of(ScopeAt at, ScopeAt *holder) {
    *holder = at;
    const Level *l = level_at(at);
    if (l->graph->outside || l->injected || (!at.level && at.frame->is_cleanup)) return NULL;
    if (!go_down(holder)) return NULL;
    const Level *below = level_at(*holder);
    return below->graph->scoped && below->node && below->node->task ? below->node : NULL;
}

Json task_sees(const Frame *f) {
    Json view = frame_sees(f);
    if (!frame_top(f)->graph->scoped) return view;
    const Frame *root = f->run->first_frame;
    ScopeAt at = owner_of((ScopeAt){f, f->nlevels - 1}), holder;
    const Node *container = container_of(at, &holder);
    view = with_missing(view, "testBasePath", folder_of(root->levels[0].graph));
    view = with_missing(view, "taskBasePath", folder_of(frame_top(f)->graph));
    return container ? with_missing(view, "scopeOwner", json_int(container->id)) : view;
}

Json frame_sees_at(const Frame *f, uint32_t level) {
    const Level *l = &f->levels[level];
    return l->graph->scoped ? scope_view(f, level) : json_ref(l->state);
}

Json frame_sees(const Frame *f) {
    return frame_sees_at(f, f->nlevels - 1);
}

/* The level whose variables are about to be changed. */
static Level *owner_to_change(Frame *f, uint32_t level) {
    ScopeAt at = owner_of((ScopeAt){f, level});
    frame_mark((Frame *)at.frame);
    return &at.frame->levels[at.level];
}

/* The variables of a scope have changed: the output of the container that shows them has too, where it has one. That is a
 * change of the scope around it, and so on outwards. */
static void show_change(Frame *f, uint32_t level) {
    ScopeAt at = owner_of((ScopeAt){f, level}), holder;
    const Node *container = container_of(at, &holder);
    if (!container || !task_has_id(container)) return;
    Frame *around = (Frame *)(uintptr_t)holder.frame;
    int64_t number =
        at.level ? memo_int(&around->levels[holder.level], "ended") : (int64_t)at.frame->branch;
    task_note_scope(around, holder.level, number, level_at(at)->state);
}

void scope_set(Frame *f, uint32_t level, Json name, Json value) {
    Level *l = owner_to_change(f, level);
    l->state = json_object_set(l->state, name, value);
    show_change(f, level);
}

void scope_unset(Frame *f, uint32_t level, Json name) {
    Level *l = owner_to_change(f, level);
    l->state = json_object_remove(l->state, name);
    Json view = scope_view(f, level);
    if (!json_is_none(json_object_get(view, name))) {
        l->state = json_object_set(l->state, json_ref(name), json_null());
    }
    json_unref(view);
    show_change(f, level);
}

Json scope_task(const Frame *f, uint32_t level, Json id, const char *field) {
    Json tasks = json_object_get_c(level_at(owner_of((ScopeAt){f, level}))->state, "tasks");
    return json_object_get_c(json_object_get(tasks, id), field);
}

void scope_set_task(Frame *f, uint32_t level, Json id, const char *field, Json value) {
    Level *l = owner_to_change(f, level);
    Json key = json_string_c("tasks");
    Json tasks = json_object_lift(&l->state, key), task = json_object_lift(&tasks, id);
    task = json_object_with(task, field, value);
    tasks = json_object_set(tasks, json_ref(id), task);
    l->state = json_object_set(l->state, key, tasks);
    show_change(f, level);
}

void scope_set_tasks(Frame *f, uint32_t level, Json tasks) {
    Level *l = owner_to_change(f, level);
    Json key = json_string_c("tasks"), all = json_object_lift(&l->state, key);
    l->state = json_object_set(l->state, key, json_object_merge(all, tasks));
    show_change(f, level);
}
