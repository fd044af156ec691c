#include "mcp_tasks.h"

#include "mcp_watch.h"
#include "mem.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

enum { POLL_MS = 1000, LOOK_MS = 30000, TTL_MAX_MS = 86400000, ID_BYTES = 16, LISTED = 100 };

typedef enum TaskStatus { TASK_WORKING, TASK_COMPLETED, TASK_FAILED, TASK_CANCELLED } TaskStatus;
static const char *const status_names[] = {"working", "completed", "failed", "cancelled"};

typedef struct Waiter {
    struct Waiter *next;
    McpCall *call; /* held */
} Waiter;

struct McpTask {
    McpTasks *all;
    McpTask *next; /* the older one */
    char id[2 * ID_BYTES + 1];
    char owner[sizeof((Asker){0}.id)];
    McpEra era;
    McpCall *call; /* NULL: it is done */
    TaskStatus status;
    int64_t created, changed, ttl; /* ms; the first two since 1970 */
    Json result, error;
    Waiter *waiters;
};

struct McpTasks {
    Mcp *mcp;
    McpTask *first; /* the newest */
    size_t n;
    uv_timer_t *look;
};

#define META(name) "io.modelcontextprotocol/" name

static int64_t now_ms(void) {
    uv_timeval64_t t;
    uv_gettimeofday(&t);
    return t.tv_sec * 1000 + t.tv_usec / 1000;
}

/* ---- as JSON ---- */

static Json task_json(const McpTask *t) {
    Json out = OBJECT(KEY("taskId", (const char *)t->id), KEY("status", status_names[t->status]),
                      KEY("createdAt", json_time(t->created)),
                      KEY("lastUpdatedAt", json_time(t->changed)));
    if (t->status == TASK_WORKING) {
        out = OBJECT_ADD(out, KEY("statusMessage", "It waits until the run stands still."));
    }
    return t->era == MCP_MODERN
               ? OBJECT_ADD(out, KEY("ttlMs", t->ttl), KEY("pollIntervalMs", json_int(POLL_MS)))
               : OBJECT_ADD(out, KEY("ttl", t->ttl), KEY("pollInterval", json_int(POLL_MS)));
}

/* With what came of it. */
static Json detailed(const McpTask *t) {
    Json out = task_json(t);
    if (t->status == TASK_COMPLETED) out = OBJECT_ADD(out, KEY("result", json_ref(t->result)));
    if (t->status == TASK_FAILED) out = OBJECT_ADD(out, KEY("error", json_ref(t->error)));
    return out;
}

/* ---- their life ---- */

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static Json related(const McpTask *t) {
    return OBJECT(KEY(META("related-task"), OBJECT(KEY("taskId", (const char *)t->id))));
}

/* What tasks/result says of one that is done. */
static void say_result(McpCall *c, const McpTask *t) {
    Json code = json_object_get_c(t->error, "code");
    if (!json_is_none(t->result)) {
        mcp_answer(c, OBJECT_ADD(json_ref(t->result), KEY("_meta", related(t))));
    } else if (!json_is_none(t->error)) {
        mcp_refuse(c, json_tag(code) == JSON_TAG_INT ? (int)code.i : RPC_INTERNAL, json_none(),
                   "%s",
                   mcp_text(t->error, "message") ? mcp_text(t->error, "message") : "It failed.");
    } else {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "The task was cancelled.");
    }
}

static void tell_waiters(McpTask *t) {
    while (t->waiters) {
        Waiter *w = t->waiters;
        t->waiters = w->next;
        if (!w->call->answered) say_result(w->call, t);
        mcp_release(w->call);
        mem_free(w);
    }
}

static bool is_listed(Json ids, const char *id) {
    for (size_t i = 0, n = json_array_len(ids); i < n; i++) {
        if (json_string_is(json_array_get(ids, i), id)) return true;
    }
    return false;
}

static void tell_listeners(const McpTask *t) {
    for (McpCall *c = t->all->mcp->calls, *next; c; c = next) {
        next = c->next;
        if (c->answered || !is_listed(json_object_get_c(c->filter, "taskIds"), t->id)) continue;
        mcp_watch_note(c, "notifications/tasks", detailed(t));
    }
}

static void end(McpTask *t, TaskStatus status) {
    t->status = status;
    t->changed = now_ms();
    t->call = NULL;
    tell_waiters(t);
    tell_listeners(t);
}

void mcp_task_done(McpTask *t, Json result, Json error) {
    bool failed = t->era == MCP_LEGACY && json_truthy(json_object_get_c(result, "isError"));
    t->result = result;
    t->error = error;
    end(t, json_is_none(result) || failed ? TASK_FAILED : TASK_COMPLETED);
}

/* Its call waits no more. */
static void drop_call(McpTask *t) {
    McpCall *c = t->call;
    t->call = NULL;
    if (c) mcp_call_drop(c);
}

static void task_free(McpTask *t) {
    McpTask **at = &t->all->first;
    while (*at != t) at = &(*at)->next;
    *at = t->next;
    t->all->n--;
    drop_call(t);
    if (t->status == TASK_WORKING) t->status = TASK_CANCELLED;
    tell_waiters(t);
    json_unref(t->result);
    json_unref(t->error);
    mem_free(t);
}

static void on_look(uv_timer_t *timer) {
    McpTasks *all = timer->data;
    int64_t now = now_ms();
    for (McpTask *t = all->first, *next; t; t = next) {
        next = t->next;
        if (now - t->created > t->ttl) task_free(t);
    }
}

McpTasks *mcp_tasks_new(Mcp *m) {
    McpTasks *all = mem_zalloc(sizeof *all);
    all->mcp = m;
    all->look = mem_zalloc(sizeof *all->look);
    uv_timer_init(m->options.loop, all->look);
    uv_unref((uv_handle_t *)all->look);
    all->look->data = all;
    uv_timer_start(all->look, on_look, LOOK_MS, LOOK_MS);
    return all;
}

void mcp_tasks_free(McpTasks *all) {
    if (!all) return;
    while (all->first) task_free(all->first);
    uv_close((uv_handle_t *)all->look, free_handle);
    mem_free(all);
}

/* ---- beginning ---- */

/* The oldest that is done makes room. */
static bool has_room(McpTasks *all) {
    McpTask *oldest = NULL;
    if (all->n < MCP_TASKS_MAX) return true;
    for (McpTask *t = all->first; t; t = t->next) {
        if (!t->call) oldest = t;
    }
    if (oldest) task_free(oldest);
    return oldest != NULL;
}

static McpTask *task_new(McpCall *c, int64_t ttl) {
    McpTasks *all = c->mcp->tasks;
    unsigned char bytes[ID_BYTES];
    if (!has_room(all) || RAND_bytes(bytes, sizeof bytes) != 1) return NULL;
    McpTask *t = mem_zalloc(sizeof *t);
    *t = (McpTask){.all = all,
                   .next = all->first,
                   .era = c->era,
                   .call = c,
                   .created = now_ms(),
                   .ttl = ttl,
                   .result = json_none(),
                   .error = json_none()};
    t->changed = t->created;
    for (int i = 0; i < ID_BYTES; i++) snprintf(t->id + 2 * i, 3, "%02x", bytes[i]);
    snprintf(t->owner, sizeof t->owner, "%s", c->asker.id);
    all->first = t;
    all->n++;
    return t;
}

void mcp_task_begin(McpCall *c) {
    McpTask *t = c->task ? NULL : task_new(c, MCP_TASK_TTL_MS);
    if (!t) return;
    mcp_answer_first(c, OBJECT_ADD(task_json(t), KEY("resultType", "task")));
    c->task = t;
}

void mcp_task_begin_asked(McpCall *c, Json task) {
    Json asked = json_object_get_c(task, "ttl");
    double ttl = json_kind(asked) == JSON_NUMBER ? json_to_double(asked) : MCP_TASK_TTL_MS;
    if (!(ttl >= POLL_MS)) ttl = POLL_MS;
    McpTask *t = task_new(c, ttl > TTL_MAX_MS ? TTL_MAX_MS : (int64_t)ttl);
    if (!t) return;
    mcp_answer_first(c, OBJECT(KEY("task", task_json(t))));
    c->task = t;
}

/* ---- methods ---- */

static bool is_of(const McpTask *t, const McpCall *c) {
    return !strcmp(t->owner, c->asker.id);
}

static McpTask *find(const McpCall *c, const char *id) {
    for (McpTask *t = id ? c->mcp->tasks->first : NULL; t; t = t->next) {
        if (!strcmp(t->id, id) && is_of(t, c)) return t;
    }
    return NULL;
}

Json mcp_tasks_known(const McpCall *c, Json ids) {
    Json out = json_array();
    for (size_t i = 0, n = json_array_len(ids); i < n; i++) {
        Json id = json_array_get(ids, i);
        if (json_kind(id) == JSON_STRING && find(c, json_string_data(&id))) {
            out = json_array_push(out, json_ref(id));
        }
    }
    return out;
}

/* NULL after the call was refused. */
static McpTask *asked_for(McpCall *c, Json params) {
    if (c->era == MCP_MODERN && !c->tasks) {
        Json needed = OBJECT(KEY("extensions", OBJECT(KEY(META("tasks"), json_object()))));
        mcp_refuse(c, RPC_MISSING_CAPABILITY, OBJECT(KEY("requiredCapabilities", needed)),
                   "Missing required client capability: the extension %s.", META("tasks"));
        return NULL;
    }
    McpTask *t = find(c, mcp_text(params, "taskId"));
    if (!t) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "There is no task with this `taskId`; they are kept for an hour.");
    }
    return t;
}

void mcp_tasks_get(McpCall *c, Json params) {
    const McpTask *t = asked_for(c, params);
    if (t) mcp_answer(c, c->era == MCP_MODERN ? detailed(t) : task_json(t));
}

void mcp_tasks_cancel(McpCall *c, Json params) {
    McpTask *t = asked_for(c, params);
    if (!t) return;
    if (t->call) {
        drop_call(t);
        end(t, TASK_CANCELLED);
    } else if (c->era == MCP_LEGACY) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(), "The task is %s, so it cannot be cancelled.",
                   status_names[t->status]);
        return;
    }
    mcp_answer(c, c->era == MCP_MODERN ? json_object() : task_json(t));
}

/* Nothing is ever asked of whoever waits for a task. */
void mcp_tasks_update(McpCall *c, Json params) {
    if (asked_for(c, params)) mcp_answer(c, json_object());
}

void mcp_tasks_result(McpCall *c, Json params) {
    McpTask *t = asked_for(c, params);
    if (!t) return;
    if (!t->call) {
        say_result(c, t);
        return;
    }
    Waiter *w = mem_zalloc(sizeof *w);
    *w = (Waiter){.next = t->waiters, .call = c};
    t->waiters = w;
    mcp_hold(c);
}

void mcp_tasks_list(McpCall *c, Json params) {
    const char *after = mcp_text(params, "cursor"), *last = NULL;
    Json list = json_array();
    bool begun = !after, more = false;
    if (after && !find(c, after)) {
        mcp_refuse(c, RPC_INVALID_PARAMS, json_none(),
                   "`cursor` is what an answer before had as `nextCursor`.");
        json_unref(list);
        return;
    }
    for (const McpTask *t = c->mcp->tasks->first; t && !more; t = t->next) {
        if (begun && is_of(t, c)) {
            more = json_array_len(list) == LISTED;
            if (!more) {
                list = json_array_push(list, task_json(t));
                last = t->id;
            }
        }
        begun = begun || !strcmp(t->id, after);
    }
    mcp_answer(c, OBJECT(KEY("tasks", list), KEY("nextCursor", more ? last : NULL)));
}
