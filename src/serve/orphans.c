/* orphans.c - runs whose process has died, or was stopped: they go on here.
 *
 * Their rows say that they are running, and nobody has their lease. All of the store is looked through when the server begins,
 * and the runs that changed last every two seconds after that; all of it again every five minutes, and when there were more than
 * are taken over at once. A run that comes to nothing three times is left alone: it may be
 * what kills its process. It is not where the store has failed, as on a full disk: then all of them are tried again. */
#include "server_inside.h"

#include "mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOK_MS = 2000,
    WHOLE_LOOKS = 150,
    REST_LOOKS = 3, /* after the store has failed */
    PAGE = 1000,
    TRIES = 3,
    TRIED_MAX = 4096,
    AT_ONCE = 64,
};

typedef struct Tried {
    int64_t run;
    int times;
} Tried;

struct Orphans {
    Server *server; /* NULL: it has gone */
    uv_timer_t *look;
    Tried *tried;
    size_t n, cap, oldest; /* oldest: which of them makes room once there are TRIED_MAX */
    size_t resuming;
    bool looking, whole;     /* whole: the store is still being looked through */
    bool left;               /* some were left for later */
    unsigned looks, resting; /* resting: looks that are left out */
};

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static void let_go(Orphans *o) {
    if (o->server || o->looking || o->resuming) return;
    mem_free(o->tried);
    mem_free(o);
}

/* Whether it may be tried once more. */
static bool may_try(Orphans *o, int64_t run) {
    for (size_t i = 0; i < o->n; i++) {
        if (o->tried[i].run == run) return o->tried[i].times++ < TRIES;
    }
    if (o->n == TRIED_MAX) {
        o->tried[o->oldest] = (Tried){run, 1};
        o->oldest = (o->oldest + 1) % TRIED_MAX;
        return true;
    }
    if (o->n == o->cap) {
        o->cap = o->cap ? o->cap * 2 : 16;
        o->tried = mem_realloc(o->tried, o->cap * sizeof *o->tried);
    }
    o->tried[o->n++] = (Tried){run, 1};
    return true;
}

static void ask(Orphans *o, Json after);

static void on_resumed(void *ctx, Json run, const Error *err) {
    Orphans *o = ctx;
    o->resuming--;
    if (o->server && !err) {
        server_log(o->server, LEVEL_INFO, "took over a run whose process has gone",
                   OBJECT(KEY("thread", json_ref(json_object_get_c(run, "thread")))));
    } else if (o->server && err) {
        server_log(o->server, LEVEL_WARN, "a run whose process has gone cannot go on",
                   OBJECT(KEY("error", err->msg)));
    }
    json_unref(run);
    if (o->server && !o->server->closing && o->left && !o->looking && !o->resuming) {
        o->left = false;
        o->whole = true;
        ask(o, json_none());
    }
    let_go(o);
}

static void on_runs(void *ctx, Json answer, const Error *err) {
    Orphans *o = ctx;
    o->looking = false;
    if (!o->server || err || o->server->closing) {
        json_unref(answer);
        let_go(o);
        return;
    }
    Json runs = json_object_get_c(answer, "runs"), next = json_object_get_c(answer, "next");
    for (size_t i = 0; i < json_array_len(runs); i++) {
        Json run = json_array_get(runs, i), number = json_object_get_c(run, "run");
        if (!json_truthy(json_object_get_c(run, "orphaned"))) continue;
        if (o->resuming >= AT_ONCE) {
            o->left = true;
            break;
        }
        if (!may_try(o, number.i)) continue;
        o->resuming++;
        client_call(o->server->options.client, "run_resume",
                    OBJECT(KEY("thread", json_ref(json_object_get_c(run, "thread")))), on_resumed,
                    o);
    }
    o->whole = o->whole && !o->left && json_kind(next) == JSON_STRING;
    if (o->whole) ask(o, json_ref(next));
    json_unref(answer);
}

static void ask(Orphans *o, Json after) {
    o->looking = true;
    operation_call(client_host(o->server->options.client), "runs",
                   OBJECT(KEY("limit", json_int(PAGE)), KEY("after", after)),
                   (Reply){.give = on_runs, .ctx = o});
}

static void on_look(uv_timer_t *timer) {
    Orphans *o = timer->data;
    if (o->looking || o->server->closing) return;
    if (o->resting) {
        o->resting--;
        return;
    }
    if (++o->looks % WHOLE_LOOKS == 0) o->whole = true;
    ask(o, json_none());
}

Orphans *orphans_new(Server *s) {
    Orphans *o = mem_zalloc(sizeof *o);
    o->server = s;
    o->whole = true;
    o->look = mem_zalloc(sizeof *o->look);
    uv_timer_init(s->options.loop, o->look);
    o->look->data = o;
    uv_timer_start(o->look, on_look, 0, LOOK_MS);
    uv_unref((uv_handle_t *)o->look);
    return o;
}

void orphans_store_failed(Orphans *o) {
    o->n = o->oldest = 0;
    o->resting = REST_LOOKS;
    o->whole = true;
}

void orphans_free(Orphans *o) {
    uv_close((uv_handle_t *)o->look, free_handle);
    o->server = NULL;
    let_go(o);
}
