#include "windows.h"

#include "host.h"
#include "json_build.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 15000, WINDOW_IDLE_MS = 300000 };

typedef struct Waiter {
    struct Waiter *next;
    WindowReady then;
    void *ctx;
} Waiter;

typedef struct Window {
    Windows *all;
    struct Window *next;
    char *thread;
    ClientEvents *events; /* NULL: the run is being taken */
    Waiter *waiters;
    uint64_t used; /* ms of the loop */
    size_t asked;  /* calls that were told of it, and are not answered */
    bool of_use;   /* one of them has done something, or it is kept */
    bool over;     /* to be freed when nothing is told any more */
} Window;

struct Windows {
    uv_loop_t *loop;
    Client *client;
    Window *first;
    size_t n;
    uv_timer_t *look;
    bool ending;
};

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static void window_free(Window *w) {
    Window **at = &w->all->first;
    while (*at != w) at = &(*at)->next;
    *at = w->next;
    w->all->n--;
    client_events_end(w->events);
    mem_free(w->thread);
    mem_free(w);
}

/* Those that are over are freed here, and not from inside of what they tell. */
static void on_look(uv_timer_t *timer) {
    Windows *all = timer->data;
    uint64_t now = uv_now(all->loop);
    for (Window *w = all->first, *next; w; w = next) {
        next = w->next;
        if (w->over || (w->events && now - w->used > WINDOW_IDLE_MS)) window_free(w);
    }
}

Windows *windows_new(uv_loop_t *loop, Client *client) {
    Windows *all = mem_zalloc(sizeof *all);
    all->loop = loop;
    all->client = client;
    all->look = mem_zalloc(sizeof *all->look);
    uv_timer_init(loop, all->look);
    all->look->data = all;
    uv_timer_start(all->look, on_look, LOOK_MS, LOOK_MS);
    uv_unref((uv_handle_t *)all->look);
    return all;
}

/* One of those that were told is done. */
static void window_done(Window *w) {
    if (!--w->asked && !w->of_use && !w->waiters && w->events) window_free(w);
}

/* Calls may be answered from here: the window stays until all are told. */
static void tell_waiters(Window *w, const Error *err) {
    w->asked++;
    while (w->waiters) {
        Waiter *one = w->waiters;
        w->waiters = one->next;
        w->asked += !err;
        one->then(one->ctx, err);
        mem_free(one);
    }
    window_done(w);
}

/* Windows that are still being taken stay until their answer has come: then they see that all has ended. */
void windows_free(Windows *all) {
    if (!all) return;
    all->ending = true;
    uv_close((uv_handle_t *)all->look, free_handle);
    bool waits = false;
    for (Window *w = all->first, *next; w; w = next) {
        next = w->next;
        if (w->events || w->over) {
            window_free(w);
        } else {
            waits = true;
        }
    }
    if (!waits) mem_free(all);
}

size_t windows_count(const Windows *all) {
    return all->n;
}

static void on_event(void *ctx, Json event) {
    (void)ctx;
    json_unref(event);
}

static void on_over(void *ctx, const Error *why) {
    Window *w = ctx;
    (void)why;
    w->over = true;
}

static Window *find(Windows *all, const char *thread) {
    for (Window *w = all->first; w; w = w->next) {
        if (!w->over && !strcmp(w->thread, thread)) return w;
    }
    return NULL;
}

static Window *add(Windows *all, const char *thread) {
    Window *w = mem_zalloc(sizeof *w);
    *w = (Window){
        .all = all, .next = all->first, .thread = mem_strdup(thread), .used = uv_now(all->loop)};
    all->first = w;
    all->n++;
    return w;
}

static void attach(Window *w) {
    w->events = client_events(w->all->client,
                              OBJECT(KEY("thread", w->thread), KEY("attach", json_bool(true))),
                              &(ClientListener){on_event, on_over, w});
}

static void on_opened(void *ctx, Json run, const Error *err) {
    Window *w = ctx;
    Windows *all = w->all;
    if (all->ending) {
        Error gone = ERROR_INIT;
        error_set(&gone, ERR_BUSY, "The server is stopping.");
        tell_waiters(w, &gone);
        window_free(w);
        if (!all->n) mem_free(all);
    } else if (err) {
        w->over = true;
        tell_waiters(w, err);
    } else {
        attach(w);
        tell_waiters(w, NULL);
    }
    json_unref(run);
}

void windows_want(Windows *all, const char *thread, WindowReady then, void *ctx) {
    if (!client_host(all->client)) { /* the server is the window */
        then(ctx, NULL);
        return;
    }
    Window *w = find(all, thread);
    if (w && w->events) {
        w->used = uv_now(all->loop);
        w->asked++;
        then(ctx, NULL);
        return;
    }
    bool begins = !w;
    if (begins) w = add(all, thread);
    Waiter *one = mem_zalloc(sizeof *one), **last = &w->waiters;
    *one = (Waiter){.then = then, .ctx = ctx};
    while (*last) last = &(*last)->next;
    *last = one;
    if (begins) client_call(all->client, "run_open", OBJECT(KEY("thread", thread)), on_opened, w);
}

void windows_touch(Windows *all, const char *thread) {
    Window *w = find(all, thread);
    if (w) w->used = uv_now(all->loop);
}

void windows_keep(Windows *all, const char *thread) {
    if (client_host(all->client) && !find(all, thread)) attach(add(all, thread));
    windows_touch(all, thread);
    Window *w = find(all, thread);
    if (w) w->of_use = true;
}

void windows_leave(Windows *all, const char *thread) {
    Window *w = find(all, thread);
    if (w && w->events && !w->asked && !w->waiters) window_free(w);
}

void windows_done(Windows *all, const char *thread, bool ok) {
    Window *w = find(all, thread);
    if (!w || !w->asked) return;
    w->of_use = w->of_use || ok;
    window_done(w);
}

/* ---- names ---- */

char *thread_of_id(const Host *host, const char *id, size_t len) {
    char *text = mem_strndup(id, len), *end;
    if (strncmp(text, "debug-", 6) != 0 || (host && host_find(host, text))) return text;
    long long run = strtoll(text + 6, &end, 10);
    if (run > 0 && *end == '-' && end[1] >= '0' && end[1] <= '9') {
        char *number = mem_alloc(24);
        snprintf(number, 24, "%lld", run);
        mem_free(text);
        return number;
    }
    return text;
}
