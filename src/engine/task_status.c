#include "task_status.h"

#include "config.h"
#include "hooks.h"
#include "image_read.h"
#include "scope.h"

#include <stdio.h>

/* ---- verdicts ---- */

enum { VERDICT_RESULT, VERDICT_ERROR, VERDICT_CLEANING };

Json verdict_new(int result, Json error) {
    return ARRAY(json_int(result), json_is_none(error) ? json_null() : json_ref(error),
                 json_bool(false));
}

int verdict_result(const Level *l) {
    return (int)image_int(l->writes, VERDICT_RESULT); /* TASK_NONE when there is no verdict */
}

Json verdict_error(const Level *l) {
    Json error = json_array_get(l->writes, VERDICT_ERROR);
    return json_kind(error) == JSON_OBJECT ? error : json_none();
}

void level_set_memo(Frame *f, Level *l, Json writes) {
    json_put(&l->writes, writes);
    frame_mark(f);
}

bool verdict_cleaning(const Level *l) {
    return json_truthy(json_array_get(l->writes, VERDICT_CLEANING));
}

void verdict_clean(Frame *f, Level *l) {
    if (json_kind(l->writes) != JSON_ARRAY) { /* on record as something else */
        level_set_memo(f, l, verdict_new(TASK_NONE, json_none()));
    }
    l->writes = json_array_set(l->writes, VERDICT_CLEANING, json_bool(true));
    frame_mark(f);
}

Json task_error(const Frame *f, const char *kind, const char *message) {
    Error err = ERROR_INIT;
    error_set(&err, ERR_DATA, "%s", message);
    return fail_error(f, frame_top(f)->node, kind, &err, json_none());
}

/* ---- what tasks.ID says ---- */

bool task_has_id(const Node *node) {
    return node && node->task && !json_is_none(node->task->id);
}

void task_note(Frame *f, uint32_t level, const char *field, Json value) {
    scope_set_task(f, level, f->levels[level].node->task->id, field, value);
}

/* Of a task that has not ended: there is no result yet, and no timeout. */
static Json fresh(bool started, bool running) {
    return OBJECT(KEY("outputs", json_object()), KEY("started", json_bool(started)),
                  KEY("running", json_bool(running)), KEY("progress", json_int(0)),
                  KEY("progressMessage", ""));
}

static void note_all(Frame *f, uint32_t level, const Node *node, Json status) {
    Json tasks = json_object_set(json_object(), json_ref(node->task->id), status);
    scope_set_tasks(f, level, tasks);
    json_unref(tasks);
}

void task_note_made(Frame *f, uint32_t level, const Graph *graph) {
    Json tasks = json_none(), status = json_none();
    for (size_t i = 0; i < graph->nnodes; i++) {
        if (!task_has_id(&graph->nodes[i])) continue;
        if (json_is_none(status)) {
            status = fresh(false, false);
            tasks = json_object();
        }
        tasks = json_object_set(tasks, json_ref(graph->nodes[i].task->id), json_ref(status));
    }
    if (!json_is_none(status)) scope_set_tasks(f, level, tasks);
    json_unref(tasks);
    json_unref(status);
}

void task_note_one_made(Frame *f, const Node *node) {
    if (task_has_id(node)) note_all(f, f->nlevels - 1, node, fresh(false, false));
}

void task_note_begun(Frame *f, bool runs) {
    uint32_t level = f->nlevels - 1;
    if (task_has_id(f->levels[level].node)) {
        note_all(f, level, f->levels[level].node, fresh(true, runs));
    }
}

void task_note_outputs(Frame *f, uint32_t level, Json outputs) {
    Json all = json_ref(scope_task(f, level, f->levels[level].node->task->id, "outputs"));
    task_note(f, level, "outputs", json_object_merge(all, outputs));
}

void task_note_ended(Frame *f, TaskResult result) {
    uint32_t level = f->nlevels - 1;
    if (task_has_id(f->levels[level].node)) {
        task_note(f, level, "result", json_int(result));
        task_note(f, level, "running", json_bool(false));
        task_note(f, level, "progress", json_int(100));
    }
}

void task_note_progress(Frame *f, uint32_t level, size_t done, size_t all) {
    if (task_has_id(f->levels[level].node) && all) {
        task_note(f, level, "progress", json_int((int64_t)(100 * done / all)));
        task_note(f, level, "progressMessage", json_string_fmt("%zu of %zu tasks", done, all));
    }
}

/* What a container calls the scopes that it makes; NULL: it makes none. */
static const char *scope_name(KindId kind, int64_t number, bool *many) {
    *many = kind == KIND_RUN_TASKS_CONCURRENT || kind == KIND_RUN_TASK_MATRIX;
    switch (kind) {
    case KIND_RUN_TASKS_CONCURRENT:
    case KIND_RUN_TASK_MATRIX: return "childScopes";
    case KIND_RUN_TASK_BACKGROUND: return number ? "backgroundScope" : "foregroundScope";
    case KIND_RUN_TASKS:
    case KIND_RUN_TASK_OPTIONS:
    case KIND_RUN_EXTERNAL_TASKS: return "childScope";
    default: return NULL;
    }
}

void task_note_scope(Frame *f, uint32_t level, int64_t number, Json scope) {
    const Node *node = f->levels[level].node;
    bool many;
    if (!task_has_id(node) || json_kind(scope) != JSON_OBJECT) return;
    const char *name = scope_name(node->kind->id, number, &many);
    if (!name) return;
    Json shown = json_object_with(json_ref(scope), "scopeOwner", json_int(node->id));
    if (many) {
        char key[24];
        snprintf(key, sizeof key, "%lld", (long long)number);
        Json outputs = scope_task(f, level, node->task->id, "outputs");
        Json all = json_ref(json_object_get_c(outputs, name));
        shown = json_object_with(all, key, shown);
    }
    Json update = OBJECT(KEY(name, shown));
    task_note_outputs(f, level, update);
    json_unref(update);
}

/* ---- what a container remembers ---- */

/* The config as an object, for the time that the container runs, without what it contains. */
void memo_from_params(Frame *f) {
    const Kind *kind = frame_top(f)->node->kind;
    Json memo = json_object();
    for (size_t i = 0; i < kind->nparams; i++) {
        ParamType type = kind->params[i].type;
        bool inside = type == PARAM_TASK || type == PARAM_TASKS;
        if (!inside && !json_is_none(f->params[i].value)) {
            memo = json_object_with(memo, kind->params[i].name, json_ref(f->params[i].value));
        }
    }
    level_set_memo(f, frame_top(f), memo);
}

Json memo_get(const Level *l, const char *name) {
    return json_object_get_c(l->writes, name);
}

bool memo_is(const Level *l, const char *name) {
    return json_truthy(memo_get(l, name));
}

int64_t memo_int(const Level *l, const char *name) {
    Json v = memo_get(l, name);
    return json_tag(v) == JSON_TAG_INT ? v.i : 0;
}

void memo_set(Frame *f, uint32_t level, const char *name, Json value) {
    Level *l = &f->levels[level];
    if (json_kind(l->writes) != JSON_OBJECT) level_set_memo(f, l, json_object());
    l->writes = json_object_with(l->writes, name, value);
    frame_mark(f);
}

/* ---- config ---- */

Json task_source(void *ctx, const Expr *expr, Json vars, Error *err) {
    const Frame *f = ctx;
    return evaluator_query(f->run->evaluator, expr, vars, err);
}

Json frame_title(const Frame *f, const Node *node, Json vars) {
    Json written = node->task ? node->task->title : json_none();
    if (json_kind(written) != JSON_STRING) return json_none();
    ConfigSource source = {vars, task_source, (void *)f};
    Buf text = BUF_INIT;
    config_text(node, written, &source, &text);
    Json title = json_string(text.data ? text.data : "", text.len);
    buf_clear(&text);
    return title;
}

Json task_title(const Frame *f) {
    Json vars = task_sees(f), title = frame_title(f, frame_top(f)->node, vars);
    json_unref(vars);
    return title;
}
