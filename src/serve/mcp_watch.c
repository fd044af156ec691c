#include "mcp_watch.h"

#include "json_print.h"
#include "mcp_resources.h"
#include "mem.h"

#include <string.h>

enum { FAST_MS = 1000, SLOW_MS = 3000, LOOKED = 200, WORKFLOW_LOOKS = 5 };

struct McpWatch {
    Mcp *mcp; /* NULL: it has gone */
    uv_timer_t *timer;
    bool running;   /* the timer */
    unsigned asked; /* answers that have not come */
    unsigned looks;
    bool seen;   /* there was a look before */
    Json runs;   /* {thread: what it looked like} */
    Json newest; /* `created` of the run that began last, as a text */
    char *workflows;
};

void mcp_watch_note(McpCall *c, const char *method, Json params) {
    Json meta = OBJECT(KEY("io.modelcontextprotocol/subscriptionId", json_ref(c->id)));
    mcp_note(c, method, OBJECT_ADD(params, KEY("_meta", meta)));
}

/* ---- who wants what ---- */

static bool hears(const McpPeer *p) {
    return p->version && p->ready && p->listens;
}

static bool listens_to_list(const McpCall *c) {
    return !c->answered && json_truthy(json_object_get_c(c->filter, "resourcesListChanged"));
}

static Json uris_of(const McpCall *c) {
    return c->answered ? json_none() : json_object_get_c(c->filter, "resourceSubscriptions");
}

/* 0: nobody wants anything. */
static uint64_t period(const Mcp *m) {
    uint64_t ms = 0;
    for (const McpPeer *p = m->peers; p; p = p->next) {
        if (!hears(p)) continue;
        ms = SLOW_MS;
        if (json_object_len(p->subscribed)) return FAST_MS;
    }
    for (const McpCall *c = m->calls; c; c = c->next) {
        if (json_array_len(uris_of(c))) return FAST_MS;
        if (listens_to_list(c)) ms = SLOW_MS;
    }
    return ms;
}

/* ---- telling ---- */

static void tell_list(Mcp *m) {
    static const char method[] = "notifications/resources/list_changed";
    for (McpPeer *p = m->peers, *next; p; p = next) {
        next = p->next;
        if (hears(p)) p->host.tell(p->host.ctx, rpc_notification(method, json_none()));
    }
    for (McpCall *c = m->calls, *next; c; c = next) {
        next = c->next;
        if (listens_to_list(c)) mcp_watch_note(c, method, json_object());
    }
}

static const char updated[] = "notifications/resources/updated";

static bool is_of(Json uri, const char *thread) {
    McpUri u = mcp_uri_read(json_string_data(&uri));
    bool is = mcp_uri_is_of_run(&u, thread);
    mcp_uri_clear(&u);
    return is;
}

static void tell_run(Mcp *m, const char *thread) {
    Json uri, yes;
    for (McpPeer *p = m->peers, *next; p; p = next) {
        next = p->next;
        for (size_t pos = 0; hears(p) && json_object_next(p->subscribed, &pos, &uri, &yes);) {
            if (!is_of(uri, thread)) continue;
            p->host.tell(p->host.ctx, rpc_notification(updated, OBJECT(KEY("uri", json_ref(uri)))));
        }
    }
    for (McpCall *c = m->calls, *next; c; c = next) {
        next = c->next;
        Json uris = uris_of(c);
        for (size_t i = 0, n = json_array_len(uris); i < n; i++) {
            Json one = json_array_get(uris, i);
            if (is_of(one, thread)) mcp_watch_note(c, updated, OBJECT(KEY("uri", json_ref(one))));
        }
    }
}

/* ---- looking ---- */

static void let_go(McpWatch *w) {
    if (w->mcp || w->asked) return;
    json_unref(w->runs);
    json_unref(w->newest);
    mem_free(w->workflows);
    mem_free(w);
}

static Json look_of(Json run) {
    Buf text = BUF_INIT;
    json_print(json_object_get_c(run, "status"), NULL, &text);
    json_print(json_object_get_c(run, "checkpoint"), NULL, &text);
    json_print(json_object_get_c(run, "updated"), NULL, &text);
    Json out = json_string(text.data, text.len);
    buf_clear(&text);
    return out;
}

/* What changed since the look before. A run that has come back into sight is none that has begun. */
static void compare(McpWatch *w, Json list) {
    Json now = json_object(), newest = json_ref(w->newest);
    bool begun = false;
    for (size_t i = 0, n = json_array_len(list); i < n && w->mcp; i++) {
        Json run = json_array_get(list, i), thread = json_object_get_c(run, "thread");
        Json look = look_of(run), created = json_object_get_c(run, "created");
        Json was = json_object_get(w->runs, thread);
        bool is_new = json_is_none(was) && json_string_compare(created, w->newest) > 0;
        if (json_string_compare(created, newest) > 0) json_put(&newest, json_ref(created));
        begun |= is_new;
        bool changed = w->seen && !json_equal(was, look) &&
                       (is_new || !json_is_none(was) || json_object_len(w->runs) >= LOOKED);
        now = json_object_set(now, json_ref(thread), look);
        if (changed) tell_run(w->mcp, json_string_data(&thread));
    }
    json_put(&w->runs, now);
    json_put(&w->newest, newest);
    if (w->seen && begun && w->mcp) tell_list(w->mcp);
    w->seen = true;
}

static void on_runs(void *ctx, Json answer, const Error *err) {
    McpWatch *w = ctx;
    w->asked--;
    if (w->mcp && !err) compare(w, json_object_get_c(answer, "runs"));
    json_unref(answer);
    let_go(w);
}

static void on_workflows(void *ctx, Json answer, const Error *err) {
    McpWatch *w = ctx;
    Json list = json_object_get_c(answer, "workflows");
    Buf names = BUF_INIT;
    w->asked--;
    for (size_t i = 0, n = json_array_len(list); i < n; i++) {
        const char *name = json_object_text(json_array_get(list, i), "name");
        buf_printf(&names, "%s\n", name ? name : "");
    }
    if (w->mcp && !err) {
        const char *text = names.data ? names.data : "";
        bool other = w->workflows && strcmp(w->workflows, text) != 0;
        mem_free(w->workflows);
        w->workflows = mem_strdup(text);
        if (other) tell_list(w->mcp);
    }
    buf_clear(&names);
    json_unref(answer);
    let_go(w);
}

static void ask(McpWatch *w, const char *operation, Json args, ClientAnswer done) {
    w->asked++;
    client_call(w->mcp->options.client, operation, args, done, w);
}

static void on_time(uv_timer_t *timer) {
    McpWatch *w = timer->data;
    if (!period(w->mcp)) {
        mcp_watch_wake(w);
        return;
    }
    if (w->asked) return;
    ask(w, "runs", OBJECT(KEY("limit", json_int(LOOKED))), on_runs);
    if (w->mcp && w->looks++ % WORKFLOW_LOOKS == 0)
        ask(w, "workflows", json_object(), on_workflows);
}

void mcp_watch_wake(McpWatch *w) {
    if (!w || !w->mcp) return;
    uint64_t ms = w->mcp->closing ? 0 : period(w->mcp);
    if (!ms) {
        if (w->running) uv_timer_stop(w->timer);
        w->running = w->seen = false;
    } else if (!w->running || uv_timer_get_repeat(w->timer) != ms) {
        uv_timer_start(w->timer, on_time, w->running ? ms : 0, ms);
        w->running = true;
    }
}

/* ---- life ---- */

McpWatch *mcp_watch_new(Mcp *m) {
    McpWatch *w = mem_zalloc(sizeof *w);
    *w = (McpWatch){.mcp = m,
                    .timer = mem_zalloc(sizeof *w->timer),
                    .runs = json_object(),
                    .newest = json_string_c("")};
    uv_timer_init(m->options.loop, w->timer);
    uv_unref((uv_handle_t *)w->timer);
    w->timer->data = w;
    return w;
}

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

void mcp_watch_free(McpWatch *w) {
    if (!w) return;
    uv_close((uv_handle_t *)w->timer, free_handle);
    w->mcp = NULL;
    let_go(w);
}
